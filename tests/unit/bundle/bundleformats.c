/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of reconstructions: round trips, axes, refused files. */
#include "cuda/bundle/cloud.h"
#include "cuda/bundle/formats.h"
#include "cuda/bundle/pose.h"
#include "cuda/core/cancel.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cameras around points at the origin, including rotations by 0 and pi.
 * @spread: of the points; every other camera sees each point. */
static BundleProblem *
make_problem (guint n_cameras, guint n_points)
{
  const guint each = (n_cameras + 1) / 2;
  GRand *rand = g_rand_new_with_seed (3);
  GError *error = NULL;
  BundleProblem *p =
      bundle_problem_new (n_cameras, n_points, (gsize) each * n_points, &error);

  g_assert_no_error (error);
  p->colours = malloc (3 * (gsize) n_points);
  p->views = calloc (n_cameras, sizeof (BundleView));
  for (guint i = 0; i < n_cameras; i++) {
    gdouble *c = p->cameras + i * BUNDLE_CAMERA_SIZE;

    for (guint k = 0; k < 3; k++)
      c[k] = i == 0 ? 0 : g_rand_double_range (rand, -1.5, 1.5);
    if (i == 1) /* half a turn, about z */
      c[0] = c[1] = 0, c[2] = G_PI;
    c[3] = g_rand_double_range (rand, -1, 1);
    c[4] = g_rand_double_range (rand, -1, 1);
    c[5] = -9;
    c[6] = 700 + i;
    c[7] = -1e-3 * (i + 1);
    c[8] = 3 * c[7] * c[7];
    p->views[i].name = g_strdup_printf ("picture %u.jpg", i);
    p->views[i].width = 640 + i;
    p->views[i].height = 480;
    p->views[i].centre[0] = 318.5;
    p->views[i].centre[1] = 242.25;
  }
  for (gsize i = 0; i < 3 * (gsize) n_points; i++) {
    p->points[i] = g_rand_double_range (rand, -2, 2);
    p->colours[i] = (guint8) g_rand_int_range (rand, 0, 256);
  }
  for (gsize i = 0; i < p->n_observations; i++) {
    const guint point = (guint) (i / each);

    p->point_of[i] = point;
    p->camera_of[i] =
        (guint) (2 * (i % each)) + (n_cameras % 2 ? 0 : point % 2);
    bundle_project (p->cameras + p->camera_of[i] * BUNDLE_CAMERA_SIZE,
        p->points + 3 * (gsize) point, p->observed + 2 * i);
  }
  g_rand_free (rand);
  return p;
}

static BundleProblem *
read_bytes (GBytes *bytes, BundleFormat format, guint threads)
{
  GError *error = NULL;
  gsize size;
  const gchar *data = g_bytes_get_data (bytes, &size);
  BundleFormat found;
  BundleProblem *p;

  g_assert_true (bundle_format_detect (data, size, &found));
  g_assert_cmpint (found, ==, format);
  p = bundle_read (data, size, format, threads, &error);
  g_assert_no_error (error);
  return p;
}

static GBytes *
write_bytes (const BundleProblem *p, BundleFormat format, const gdouble *errors)
{
  GError *error = NULL;
  GBytes *bytes = bundle_write (p, format, errors, 2, &error);

  g_assert_no_error (error);
  return bytes;
}

static void
assert_same_sizes (const BundleProblem *a, const BundleProblem *b)
{
  g_assert_cmpuint (a->n_cameras, ==, b->n_cameras);
  g_assert_cmpuint (a->n_points, ==, b->n_points);
  g_assert_cmpuint (a->n_observations, ==, b->n_observations);
  g_assert_cmpmem (
      a->camera_of, 4 * a->n_observations, b->camera_of, 4 * b->n_observations);
  g_assert_cmpmem (
      a->point_of, 4 * a->n_observations, b->point_of, 4 * b->n_observations);
}

static void
assert_same_bits (const BundleProblem *a, const BundleProblem *b)
{
  assert_same_sizes (a, b);
  g_assert_cmpmem (
      a->observed, 16 * a->n_observations, b->observed, 16 * b->n_observations);
  g_assert_cmpmem (a->cameras, 72 * (gsize) a->n_cameras, b->cameras,
      72 * (gsize) b->n_cameras);
  g_assert_cmpmem (
      a->points, 24 * (gsize) a->n_points, b->points, 24 * (gsize) b->n_points);
}

/* Compares the pictures, because a rotation has several forms. */
static void
assert_same_images (
    const BundleProblem *a, const BundleProblem *b, gdouble pixels)
{
  assert_same_sizes (a, b);
  g_assert_cmpmem (
      a->points, 24 * (gsize) a->n_points, b->points, 24 * (gsize) b->n_points);
  for (gsize i = 0; i < a->n_observations; i++) {
    gdouble image[2];

    bundle_project (b->cameras + b->camera_of[i] * BUNDLE_CAMERA_SIZE,
        b->points + 3 * (gsize) b->point_of[i], image);
    for (guint k = 0; k < 2; k++) {
      g_assert_cmpfloat_with_epsilon (
          a->observed[2 * i + k], b->observed[2 * i + k], 1e-11);
      g_assert_cmpfloat_with_epsilon (a->observed[2 * i + k], image[k], pixels);
    }
  }
}

/* --- round trips --------------------------------------------------------- */

/* Several chunks, distributed differently for each number of threads */
static void
test_bal (void)
{
  g_autoptr (BundleProblem) p = make_problem (21, 7000);
  g_autoptr (GBytes) bytes = write_bytes (p, BUNDLE_FORMAT_BAL, NULL);

  for (guint threads = 0; threads < 4; threads++) {
    g_autoptr (BundleProblem) read =
        read_bytes (bytes, BUNDLE_FORMAT_BAL, threads);

    assert_same_bits (p, read);
  }
}

/* Line breaks do not matter; -0 and extreme values keep their bits. */
static void
test_bal_values (void)
{
  static const gdouble values[] = { -0.0, 5e-324, 1.7976931348623157e308, 0.1,
    1e-9, -385.99, 1 / 3.0, 1e23 };
  g_autoptr (BundleProblem) p = make_problem (1, G_N_ELEMENTS (values));
  g_autoptr (BundleProblem) one_line = NULL, two = NULL;
  g_autoptr (GBytes) bytes = NULL, joined = NULL;
  gchar *text;

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    p->points[3 * i + i % 3] = p->observed[2 * i] = values[i];
  bytes = write_bytes (p, BUNDLE_FORMAT_BAL, NULL);
  two = read_bytes (bytes, BUNDLE_FORMAT_BAL, 1);
  assert_same_bits (p, two);
  text =
      g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes) - 1);
  for (gchar *c = strchr (text, '\n') + 1; *c; c++)
    if (*c == '\n')
      *c = '\t';
  joined = g_bytes_new_take (text, strlen (text));
  one_line = read_bytes (joined, BUNDLE_FORMAT_BAL, 2);
  assert_same_bits (p, one_line);
}

/* An index of any length, followed by much text and by little */
static void
test_bal_index (void)
{
  static const gchar *const zeros[] = { "0", "0000000", "00000000", "000000000",
    "00000000000000000000000000000000" };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (zeros); i++) {
    gchar *text = g_strdup_printf (
        "1 1 1\n%s %s 7 8%s\n1 2 3 4 5 6 7 8 9 10 11 12", zeros[i / 2],
        zeros[i / 2], i % 2 ? "                              " : "");
    g_autoptr (GBytes) bytes = g_bytes_new_take (text, strlen (text));
    g_autoptr (BundleProblem) p = read_bytes (bytes, BUNDLE_FORMAT_BAL, 1);

    g_assert_cmpuint (p->camera_of[0], ==, 0);
    g_assert_cmpuint (p->point_of[0], ==, 0);
    g_assert_cmpfloat (p->observed[1], ==, 8);
    g_assert_cmpfloat (p->points[2], ==, 12);
  }
}

static void
test_bundler (void)
{
  g_autoptr (BundleProblem) p = make_problem (9, 60);
  g_autoptr (BundleProblem) read = NULL;
  g_autoptr (GBytes) bytes = NULL;

  /* a camera that is not in the reconstruction and observes nothing */
  memset (p->cameras + 3 * BUNDLE_CAMERA_SIZE, 0, 72);
  bytes = write_bytes (p, BUNDLE_FORMAT_BUNDLER, NULL);
  read = read_bytes (bytes, BUNDLE_FORMAT_BUNDLER, 0);
  assert_same_images (p, read, 1e-8);
  g_assert_cmpmem (p->colours, 180, read->colours, 180);
  for (guint i = 0; i < 9; i++)
    g_assert_cmpuint (
        read->camera_constant[i], ==, i == 3 ? BUNDLE_CAMERA_ALL : 0);
  g_assert_cmpmem (p->cameras + 3 * BUNDLE_CAMERA_SIZE, 72,
      read->cameras + 3 * BUNDLE_CAMERA_SIZE, 72);
}

static void
test_nvm (void)
{
  g_autoptr (BundleProblem) p = make_problem (8, 60), read = NULL;
  g_autoptr (GBytes) bytes = write_bytes (p, BUNDLE_FORMAT_NVM, NULL);

  read = read_bytes (bytes, BUNDLE_FORMAT_NVM, 0);
  assert_same_images (p, read, 1e-8);
  g_assert_cmpmem (p->colours, 180, read->colours, 180);
  g_assert_cmpstr (read->views[7].name, ==, "picture 7.jpg");
  g_assert_null (read->camera_constant);
}

static void
assert_same_views (const BundleProblem *p, const BundleProblem *read)
{
  for (guint i = 0; i < p->n_cameras; i++) {
    g_autofree gchar *name =
        g_strdelimit (g_strdup (p->views[i].name), " ", '_');

    g_assert_cmpstr (read->views[i].name, ==, name);
    g_assert_cmpuint (read->views[i].width, ==, p->views[i].width);
    g_assert_cmpuint (read->views[i].height, ==, p->views[i].height);
    g_assert_cmpfloat (read->views[i].centre[0], ==, p->views[i].centre[0]);
    g_assert_cmpfloat (read->views[i].centre[1], ==, p->views[i].centre[1]);
  }
}

/* A header of tar for @size bytes of @type */
static void
append_header (GString *tar, const gchar *name, gchar type, guint size)
{
  gchar header[512] = { 0 };
  guint sum = 8 * ' ';

  g_strlcpy (header, name, 100);
  g_snprintf (header + 124, 12, "%011o", size);
  header[156] = type;
  memcpy (header + 257, "ustar", 6);
  for (guint i = 0; i < sizeof (header); i++)
    sum += (guchar) header[i];
  g_snprintf (header + 148, 8, "%06o", sum);
  header[155] = ' ';
  g_string_append_len (tar, header, sizeof (header));
}

/* Archives of other programs: with a folder, with attributes before the
 * files, with other contents */
static void
test_colmap_archives (void)
{
  g_autoptr (BundleProblem) p = make_problem (4, 10);
  g_autoptr (GBytes) bytes = write_bytes (p, BUNDLE_FORMAT_COLMAP, NULL);
  g_autoptr (BundleProblem) read = NULL, again = NULL;
  g_autoptr (GBytes) archive = NULL;
  GString *tar = g_string_new (NULL), *other = g_string_new (NULL);
  const gchar attributes[512] = "18 mtime=12345.5\n";
  BundleFormat format;
  gsize size;
  const gchar *data = g_bytes_get_data (bytes, &size);

  append_header (tar, "model/", '5', 0);
  append_header (tar, "././@PaxHeader", 'x', 18);
  g_string_append_len (tar, attributes, sizeof (attributes));
  g_assert_true (bundle_format_detect (tar->str, tar->len, &format));
  g_string_append_len (other, tar->str, (gssize) tar->len);
  g_string_append_len (tar, data, (gssize) size);
  append_header (other, "model/words.txt", '0', 0);
  g_assert_false (bundle_format_detect (other->str, other->len, &format));
  g_string_free (other, TRUE);

  archive = g_string_free_to_bytes (tar);
  data = g_bytes_get_data (archive, &size);
  g_assert_true (bundle_format_detect (data, size, &format));
  g_assert_cmpint (format, ==, BUNDLE_FORMAT_COLMAP);
  read = read_bytes (bytes, BUNDLE_FORMAT_COLMAP, 0);
  again = read_bytes (archive, BUNDLE_FORMAT_COLMAP, 0);
  assert_same_bits (read, again);
}

/* A tar archive, the three files concatenated, and one camera for all
 * pictures */
static void
test_colmap (void)
{
  g_autoptr (BundleProblem) p = make_problem (8, 60);
  g_autoptr (BundleProblem) read = NULL, again = NULL, one = NULL;
  g_autoptr (GBytes) bytes = write_bytes (p, BUNDLE_FORMAT_COLMAP, NULL);
  g_autoptr (GBytes) texts = NULL, shared = NULL;
  GString *joined = g_string_new (NULL);
  const gchar *tar = g_bytes_get_data (bytes, NULL);

  read = read_bytes (bytes, BUNDLE_FORMAT_COLMAP, 0);
  assert_same_images (p, read, 1e-8);
  assert_same_views (p, read);
  g_assert_cmpmem (p->colours, 180, read->colours, 180);

  while (*tar) {
    const gsize n = strtoul (tar + 124, NULL, 8);

    g_string_append_len (joined, tar + 512, (gssize) n);
    tar += 512 + (n + 511) / 512 * 512;
  }
  texts = g_string_free_to_bytes (joined);
  again = read_bytes (texts, BUNDLE_FORMAT_COLMAP, 0);
  assert_same_bits (read, again);

  for (guint i = 0; i < 8; i++) {
    memcpy (p->cameras + 9 * i + 6, p->cameras + 6, 24);
    p->views[i].width = 640;
  }
  shared = write_bytes (p, BUNDLE_FORMAT_COLMAP, NULL);
  g_assert_null (strstr (
      (const gchar *) g_bytes_get_data (shared, NULL) + 512, "\n2 RADIAL"));
  one = read_bytes (shared, BUNDLE_FORMAT_COLMAP, 0);
  assert_same_views (p, one);
  for (guint i = 0; i < 8; i++)
    g_assert_cmpmem (p->cameras + 6, 24, one->cameras + 9 * i + 6, 24);
}

/* --- axes ----------------------------------------------------------------------- */

/* A camera at the origin of a file with axes x right, y down, z forward sees
 * a point ahead, to the right and below: here x is positive and y negative. */
static void
check_ahead (const BundleProblem *p)
{
  static const gdouble low[2] = { 100, -50 };
  gdouble image[2];

  bundle_project (p->cameras, p->points, image);
  for (guint k = 0; k < 2; k++) {
    g_assert_cmpfloat_with_epsilon (image[k], low[k], 1e-10);
    g_assert_cmpfloat_with_epsilon (p->observed[k], low[k], 1e-10);
  }
}

#define COLMAP_TEXT(camera, image, points, point)                              \
  "# Camera list\n" camera "# Image list\n" image points                       \
  "# 3D point list\n" point

static BundleProblem *
read_text (const gchar *text, BundleFormat format)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));

  return read_bytes (bytes, format, 0);
}

static void
test_axes (void)
{
  g_autoptr (BundleProblem) nvm = read_text (
      "NVM_V3 \n\n1\na\"b.jpg 500 1 0 0 0 0 0 0 0 0\n\n1\n2 1 10 1 2 3 1 0 7 "
      "100 50\n0\n",
      BUNDLE_FORMAT_NVM);
  g_autoptr (BundleProblem) fixed = read_text (
      "NVM_V3 FixedK 500 320 500 240\n1\na 500 0 1 0 0 0 0 0 0 0\n1\n2 -1 -10 "
      "1 2 3 1 0 7 100 50\n",
      BUNDLE_FORMAT_NVM);
  g_autoptr (BundleProblem) colmap =
      read_text (COLMAP_TEXT ("7 SIMPLE_PINHOLE 640 480 500 320 240\n",
                     "3 1 0 0 0 0 0 0 7 a.jpg\n", "9 9 -1 420 290 5\n",
                     "5 2 1 10 1 2 3 0.1 3 1\n"),
          BUNDLE_FORMAT_COLMAP);
  g_autoptr (BundleProblem) bundler = read_text (
      "# Bundle file v0.3\n1 1\n500 0 0\n1 0 0\n0 1 0\n0 0 1\n0 0 0\n2 -1 -10\n"
      "1 2 3\n1 0 7 100 -50\n",
      BUNDLE_FORMAT_BUNDLER);

  check_ahead (nvm);
  g_assert_cmpstr (nvm->views[0].name, ==, "a b.jpg");
  check_ahead (fixed);
  g_assert_cmpuint (fixed->camera_constant[0], ==, BUNDLE_CAMERA_INTRINSICS);
  check_ahead (colmap);
  check_ahead (bundler);
}

/* NVM's radius as defined for PBA's measurement distortion: the measured m,
 * times 1 + r |m / f|^2, is the undistorted image. */
static void
test_nvm_distortion (void)
{
  g_autoptr (BundleProblem) p = read_text (
      "NVM_V3\n1\na 500 1 0 0 0 0 0 0 0.02 0\n1\n2 1 10 1 2 3 1 0 7 100 50\n",
      BUNDLE_FORMAT_NVM);
  gdouble image[2], n2;

  bundle_project (p->cameras, p->points, image);
  n2 = (image[0] * image[0] + image[1] * image[1]) / (500 * 500);
  g_assert_cmpfloat_with_epsilon (image[0] * (1 + 0.02 * n2), 100, 2e-6);
  g_assert_cmpfloat_with_epsilon (-image[1] * (1 + 0.02 * n2), 50, 2e-6);
}

static void
test_rotations (void)
{
  GRand *rand = g_rand_new_with_seed (5);

  for (guint i = 0; i < 20000; i++) {
    static const gdouble angles[] = { 0, 1e-160, 1e-9, 1e-5, 0.1, 3,
      G_PI - 1e-9, G_PI - 1e-5, G_PI };
    const gdouble angle = angles[i % G_N_ELEMENTS (angles)];
    gdouble w[3], r[9], q[4], back[3], again[9], length = 0, error = 0;

    for (guint k = 0; k < 3; k++) {
      w[k] = g_rand_double_range (rand, -1, 1) * (g_rand_int (rand) % 4 != 0);
      length += w[k] * w[k];
    }
    for (guint k = 0; k < 3 && length > 0; k++)
      w[k] *= angle / sqrt (length);
    bundle_rotation_to_matrix (w, r);
    g_assert_true (bundle_rotation_from_matrix (r, back));
    bundle_rotation_to_matrix (back, again);
    for (guint k = 0; k < 9; k++)
      error = MAX (error, fabs (again[k] - r[k]));
    bundle_rotation_to_quaternion (w, q);
    g_assert_true (bundle_rotation_from_quaternion (q, back));
    bundle_rotation_to_matrix (back, again);
    for (guint k = 0; k < 9; k++)
      error = MAX (error, fabs (again[k] - r[k]));
    for (guint k = 0; k < 3 && angle < 3.1; k++)
      error = MAX (error, fabs (back[k] - w[k]) / MAX (angle, 1e-200));
    g_assert_cmpfloat (error, <, 1e-14);
  }
  g_rand_free (rand);
}

/* --- formats that are only written --------------------------------------- */

/* Each line maps the point from the camera's frame to the world. */
static void
test_tum (void)
{
  g_autoptr (BundleProblem) p = make_problem (5, 10);
  g_autoptr (GBytes) bytes = write_bytes (p, BUNDLE_FORMAT_TUM, NULL);
  g_autofree gchar *text =
      g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  gchar **lines = g_strsplit (text, "\n", 0);

  for (guint i = 0; i < 5; i++) {
    gchar **words = g_strsplit (lines[1 + i], " ", 0);
    gdouble v[8], q[4], w[3], r[9], image[2], camera[3], depth;

    g_assert_cmpuint (g_strv_length (words), ==, 8);
    for (guint k = 0; k < 8; k++)
      v[k] = g_ascii_strtod (words[k], NULL);
    g_assert_cmpfloat (v[0], ==, i);
    q[0] = v[7];
    memcpy (q + 1, v + 4, 24);
    g_assert_true (bundle_rotation_from_quaternion (q, w));
    bundle_rotation_to_matrix (w, r);
    /* a point one unit ahead, 0.1 to the right and 0.2 down */
    depth = 1;
    for (guint k = 0; k < 3; k++)
      camera[k] =
          v[1 + k] + 0.1 * r[3 * k] + 0.2 * r[3 * k + 1] + depth * r[3 * k + 2];
    p->cameras[9 * i + 7] = p->cameras[9 * i + 8] = 0;
    bundle_project (p->cameras + 9 * i, camera, image);
    g_assert_cmpfloat_with_epsilon (image[0], 0.1 * (700 + i), 1e-9);
    g_assert_cmpfloat_with_epsilon (image[1], -0.2 * (700 + i), 1e-9);
    g_strfreev (words);
  }
  g_assert_cmpstr (lines[6], ==, "");
  g_strfreev (lines);
}

static void
test_transforms (void)
{
  g_autoptr (BundleProblem) p = make_problem (3, 10);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  GError *error = NULL;
  JsonArray *frames;
  gsize size;
  const gchar *text;

  g_free (p->views[1].name);
  p->views[1].name = g_strdup ("a \"b\"\\c\n.jpg");
  bytes = write_bytes (p, BUNDLE_FORMAT_TRANSFORMS, NULL);
  text = g_bytes_get_data (bytes, &size);
  json_parser_load_from_data (parser, text, (gssize) size, &error);
  g_assert_no_error (error);
  frames = json_object_get_array_member (
      json_node_get_object (json_parser_get_root (parser)), "frames");
  g_assert_cmpuint (json_array_get_length (frames), ==, 3);
  for (guint i = 0; i < 3; i++) {
    JsonObject *frame = json_array_get_object_element (frames, i);
    JsonArray *matrix =
        json_object_get_array_member (frame, "transform_matrix");
    gdouble point[3], image[2];

    g_assert_cmpstr (json_object_get_string_member (frame, "file_path"), ==,
        p->views[i].name);
    g_assert_cmpfloat (
        json_object_get_double_member (frame, "fl_x"), ==, 700 + i);
    g_assert_cmpfloat (json_object_get_double_member (frame, "cy"), ==, 242.25);
    /* one unit ahead, along -z, 0.1 to the right and 0.2 up */
    for (guint k = 0; k < 3; k++) {
      JsonArray *row = json_array_get_array_element (matrix, k);

      point[k] = 0.1 * json_array_get_double_element (row, 0)
                 + 0.2 * json_array_get_double_element (row, 1)
                 - json_array_get_double_element (row, 2)
                 + json_array_get_double_element (row, 3);
    }
    p->cameras[9 * i + 7] = p->cameras[9 * i + 8] = 0;
    bundle_project (p->cameras + 9 * i, point, image);
    g_assert_cmpfloat_with_epsilon (image[0], 0.1 * (700 + i), 1e-9);
    g_assert_cmpfloat_with_epsilon (image[1], 0.2 * (700 + i), 1e-9);
  }
}

/* Points, then five vertices and eight edges of each camera */
static void
test_ply (void)
{
  g_autoptr (BundleProblem) p = make_problem (4, 10);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (BundleCloud) cloud = NULL;
  gdouble errors[10] = { 0, 0.1, 100 };
  GError *error = NULL;
  gsize size;
  const gchar *data;

  p->cameras[9 * 2 + BUNDLE_CAMERA_FOCAL] = 0; /* not in the reconstruction */
  bytes = write_bytes (p, BUNDLE_FORMAT_PLY, errors);
  data = g_bytes_get_data (bytes, &size);
  cloud = bundle_cloud_read (data, size, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (cloud->n_vertices, ==, 10 + 3 * 5);
  g_assert_cmpuint (cloud->n_edges, ==, 3 * 8);
  for (guint i = 0; i < 30; i++)
    g_assert_cmpfloat (cloud->positions[i], ==, (gfloat) p->points[i]);
  g_assert_cmpuint (cloud->colours[2], ==, 255); /* blue */
  g_assert_cmpuint (cloud->colours[6], ==, 240); /* red */
  for (guint i = 0; i < 3; i++) {
    gdouble centre[3];

    bundle_pose_centre (p->cameras + 9 * (i < 2 ? i : 3), centre);
    for (guint k = 0; k < 3; k++)
      g_assert_cmpfloat (
          cloud->positions[3 * (10 + 5 * i) + k], ==, (gfloat) centre[k]);
  }
  /* every cut is refused */
  for (gsize n = 0; n < size; n++) {
    g_assert_null (bundle_cloud_read (data, n, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
    g_clear_error (&error);
  }
}

static void
test_box (void)
{
  gfloat positions[300], low[3], high[3];

  for (guint i = 0; i < 300; i++)
    positions[i] = (gfloat) (i / 3);
  bundle_cloud_box (positions, 100, 0.9, low, high);
  g_assert_cmpfloat (low[1], ==, 5);
  g_assert_cmpfloat (high[2], ==, 94);
  bundle_cloud_box (positions, 1, 0.5, low, high);
  g_assert_cmpfloat (high[0], ==, 0);
}

/* --- refused files ------------------------------------------------------- */

#define BUNDLER "# Bundle file v0.3\n"
#define BUNDLER_CAMERA "500 0 0\n1 0 0\n0 1 0\n0 0 1\n0 0 0\n"
#define CAMERA "7 SIMPLE_PINHOLE 640 480 500 320 240\n"
#define IMAGE "3 1 0 0 0 0 0 0 7 a.jpg\n"
#define POINT "5 2 1 10 1 2 3 0.1 3 1\n"
#define FEATURES "9 9 -1 420 290 5\n"

static const struct {
  BundleFormat format;
  const gchar *text, *words;
} refused[] = {
  { BUNDLE_FORMAT_BAL, "", "empty" },
  { BUNDLE_FORMAT_BAL, "1 1", "line 1, number of observations: the text ends" },
  { BUNDLE_FORMAT_BAL, "x 1 1\n", "line 1, number of cameras: \"x\"" },
  { BUNDLE_FORMAT_BAL, "0 1 1\n", "line 1, number of cameras: 0 is outside" },
  { BUNDLE_FORMAT_BAL, "1 4294967296 1\n0 0 1 1\n",
      "line 1, number of points: 4294967296 is outside" },
  { BUNDLE_FORMAT_BAL, "1 1 4294967295\n0 0 1 1\n",
      "line 3, end: the text ends after 4 of the 17179869192 numbers" },
  { BUNDLE_FORMAT_BAL, "1 1 1\n0 0 1 2\n1 2 3 4 5 6 7 8 9\n1 2",
      "line 4, end: the text ends after 15 of the 16" },
  { BUNDLE_FORMAT_BAL, "1 1 1\n0 0 1 2\n1 2 3 4 5 6 7 8 9\n1 2 3\n4",
      "line 5, end: text follows" },
  { BUNDLE_FORMAT_BAL, "1 1 1\n1 0 1 2\n1 2 3 4 5 6 7 8 9\n1 2 3",
      "line 2, camera of an observation: 1 is outside 0..0" },
  { BUNDLE_FORMAT_BAL, "1 1 1\n0 -1 1 2\n1 2 3 4 5 6 7 8 9\n1 2 3",
      "line 2, point of an observation: \"-1\" is not an integer" },
  { BUNDLE_FORMAT_BAL, "1 1 1\n0 0 1 2x\n1 2 3 4 5 6 7 8 9\n1 2 3",
      "line 2, observation y: \"2x\" is not a number" },
  { BUNDLE_FORMAT_BAL, "1 1 1\n0 0 inf 2\n1 2 3 4 5 6 7 8 9\n1 2 3",
      "line 2, observation x: \"inf\" is not a finite" },
  { BUNDLE_FORMAT_BAL, "1 1 1\n0 0 1 2\n1 2 3 4 5 6 nan 8 9\n1 2 3",
      "line 3, focal length of a camera: \"nan\" is not a finite" },
  { BUNDLE_FORMAT_BAL, "1 1 1\n0 0 1 2\n1 2 3 4 5 6 7 8 9\n1 2 1e999",
      "line 4, coordinate of a point: \"1e999\" is not a finite" },
  { BUNDLE_FORMAT_BAL,
      "2 1 3\n0 0 1 2\n1 0 1 2\n0 0 1 3\n1 2 3 4 5 6 7 8 9 1 2 3 "
      "4 5 6 7 8 9 1 2 3",
      "line 4, observation: camera 0 sees point 0 a second time" },
  { BUNDLE_FORMAT_BUNDLER, "# Bundle file v0.2\n", "line 1, start" },
  { BUNDLE_FORMAT_BUNDLER, BUNDLER "1 999999999\n",
      "line 2, number of points: 999999999 is outside" },
  { BUNDLE_FORMAT_BUNDLER, BUNDLER "1 1\n500 0 0\n1 0 0\n0 2 0\n0 0 1\n0 0 0\n",
      "line 4, rotation: the matrix of camera 0 is not a rotation" },
  { BUNDLE_FORMAT_BUNDLER, BUNDLER "1 1\n" BUNDLER_CAMERA "1 2 3\n1 2 256\n",
      "line 9, colour: 256 is outside 0..255" },
  { BUNDLE_FORMAT_BUNDLER,
      BUNDLER "1 1\n" BUNDLER_CAMERA "1 2 3\n1 2 3\n1 1 0 1 1\n",
      "line 10, camera of a view: 1 is outside 0..0" },
  { BUNDLE_FORMAT_BUNDLER,
      BUNDLER "2 1\n" BUNDLER_CAMERA BUNDLER_CAMERA
              "1 2 3\n1 2 3\n2 1 0 1 1 1 0 1 1\n",
      "line 15, camera of a view: camera 1 sees point 0 a second time" },
  { BUNDLE_FORMAT_BUNDLER, BUNDLER "1 1\n" BUNDLER_CAMERA "1 2 3\n1 2 3\n0\n",
      "line 11, observations: the file has none" },
  { BUNDLE_FORMAT_BUNDLER,
      BUNDLER "1 1\n" BUNDLER_CAMERA "1 2 3\n1 2 3\n1 0 0 1\n",
      "line 11, position in a view: the text ends" },
  { BUNDLE_FORMAT_BUNDLER,
      BUNDLER "1 1\n" BUNDLER_CAMERA "1 2 3\n1 2 3\n1 0 0 1 1\n5\n",
      "line 11, end: text follows" },
  { BUNDLE_FORMAT_NVM, "NVM_V3_R9T\n", "line 1, start" },
  { BUNDLE_FORMAT_NVM, "NVM_V3 Fixed\n", "line 1, first line: FixedK" },
  { BUNDLE_FORMAT_NVM, "NVM_V3 FixedK 1 2 3 4\n",
      "line 1, FixedK: focal lengths" },
  { BUNDLE_FORMAT_NVM, "NVM_V3\n1\na 500 0 0 0 0 0 0 0 0 0\n1\n",
      "line 3, quaternion: it is 0" },
  { BUNDLE_FORMAT_NVM, "NVM_V3\n1\na 500 1 0 0 0 0 0 0 1e200 0\n1\n",
      "\"1e200\" is larger than 1e100" },
  { BUNDLE_FORMAT_NVM, "NVM_V3\n1\na 500 1 0 0",
      "line 3, camera: the text ends within camera 0 of 1" },
  { BUNDLE_FORMAT_NVM,
      "NVM_V3\n1\na 500 1 0 0 0 0 0 0 0 0\n1\n1 2 3 1 2 3 1 2 0 1 1\n",
      "line 5, camera of a measurement: 2 is outside 0..0" },
  { BUNDLE_FORMAT_NVM,
      "NVM_V3\n1\na\xff 500 1 0 0 0 0 0 0 0 0\n1\n1 2 3 1 2 3 1 2 0 1 1\n",
      "line 3, name: \"a\\377\" is not UTF-8" },
  { BUNDLE_FORMAT_COLMAP, "# Camera list\n",
      "No line begins with \"# Image list\"" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT ("7 FISHEYE 1 1 1\n", IMAGE, FEATURES, POINT),
      "cameras.txt line 2, MODEL: it must be" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT ("7 PINHOLE 1 1 1 2 3 4\n", IMAGE, FEATURES, POINT),
      "cameras.txt line 2, focal length: focal lengths in x and y differ" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT ("7 OPENCV 1 1 1 1 3 4 0 0 0 1\n", IMAGE, FEATURES, POINT),
      "cameras.txt line 2, distortion: tangential" },
  { BUNDLE_FORMAT_COLMAP, COLMAP_TEXT (CAMERA CAMERA, IMAGE, FEATURES, POINT),
      "cameras.txt line 3, CAMERA_ID: duplicate id 7" },
  { BUNDLE_FORMAT_COLMAP, COLMAP_TEXT ("", IMAGE, FEATURES, POINT),
      "images.txt line 2, CAMERA_ID: cameras.txt has no camera 7" },
  { BUNDLE_FORMAT_COLMAP, COLMAP_TEXT (CAMERA, "", "", POINT),
      "images.txt line 2, images: 0 is outside" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT (CAMERA, IMAGE, "9 9 -1 420 x 5\n", POINT),
      "images.txt line 3, POINTS2D: \"x\" is not a number" },
  { BUNDLE_FORMAT_COLMAP, COLMAP_TEXT (CAMERA, IMAGE, "9 9 -12\n", POINT),
      "images.txt line 3, POINT3D_ID: it must be an integer >= -1" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT (CAMERA, "3 1 0 0 0 0 0 7 a.jpg\n", FEATURES, POINT),
      "images.txt line 2, CAMERA_ID: \"a.jpg\" is not an integer" },
  { BUNDLE_FORMAT_COLMAP, COLMAP_TEXT (CAMERA, IMAGE, FEATURES, POINT POINT),
      "points3D.txt line 3, POINT3D_ID: duplicate id 5" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT (CAMERA, IMAGE, FEATURES, "5 2 1 10 1 2 3 0.1 3 1 3 1\n"),
      "points3D.txt line 2, POINT2D_IDX of a track: feature 1 of image 3 "
      "occurs in a second track" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT (CAMERA, IMAGE, FEATURES, "5 2 1 10 1 2 3 0.1 3 2\n"),
      "points3D.txt line 2, POINT2D_IDX of a track: image 3 has 2 features" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT (CAMERA, IMAGE, FEATURES, "6 2 1 10 1 2 3 0.1 3 1\n"),
      "points3D.txt line 2, POINT2D_IDX of a track: images.txt names another" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT (CAMERA, IMAGE, FEATURES, "6 2 1 10 1 2 3 0.1 4 1\n"),
      "points3D.txt line 2, IMAGE_ID of a track: images.txt has no image 4" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT (CAMERA, IMAGE, FEATURES, "5 2 1 10 1 2 3 0.1\n"),
      "points3D.txt line 3, end: no track contains feature 1 of all images" },
  { BUNDLE_FORMAT_PLY, "ply\n", "PLY is only written" },
};

static void
check_refused (
    BundleFormat format, const gchar *text, gsize size, const gchar *words)
{
  GError *error = NULL;
  gchar *exact = g_memdup2 (text, size); /* exact size, for sanitizers */

  g_assert_null (bundle_read (exact, size, format, 2, &error));
  g_assert_nonnull (error);
  g_assert_true (error->domain == CVIS_ERROR);
  if (!strstr (error->message, words))
    g_error ("\"%s\" gives \"%s\", not \"%s\"", text, error->message, words);
  g_error_free (error);
  g_free (exact);
}

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    check_refused (refused[i].format, refused[i].text, strlen (refused[i].text),
        refused[i].words);
}

/* Any truncation is refused, with an error that names the position. */
static void
test_truncated (void)
{
  static const BundleFormat formats[] = { BUNDLE_FORMAT_BAL,
    BUNDLE_FORMAT_BUNDLER, BUNDLE_FORMAT_NVM, BUNDLE_FORMAT_COLMAP };
  g_autoptr (BundleProblem) p = make_problem (2, 3);

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    g_autoptr (GBytes) bytes = write_bytes (p, formats[f], NULL);
    gsize size;
    const gchar *data = g_bytes_get_data (bytes, &size);

    /* truncating the last number, or the last zeros of an archive, may go
     * unnoticed */
    size -= formats[f] == BUNDLE_FORMAT_COLMAP ? 1536 : 32;
    for (gsize n = 1; n < size; n++)
      check_refused (formats[f], data, n, "");
  }
}

/* A fault in the second chunk, parsed by another thread */
static void
test_far_fault (void)
{
  g_autoptr (BundleProblem) p = make_problem (21, 7000);
  g_autoptr (GBytes) bytes = write_bytes (p, BUNDLE_FORMAT_BAL, NULL);
  gsize size;
  gchar *text = g_bytes_unref_to_data (g_steal_pointer (&bytes), &size);
  gchar *line = text, *word;
  g_autofree gchar *words = NULL;

  for (guint i = 0; i < 60000; i++)
    line = strchr (line, '\n') + 1;
  *strchr (line, '.') = 'o';
  words = g_strdup ("line 60001, observation ");
  check_refused (BUNDLE_FORMAT_BAL, text, size, words);
  /* an earlier fault is reported first */
  word = strchr (strchr (text, '\n'), '.');
  *word = ',';
  check_refused (BUNDLE_FORMAT_BAL, text, size, "line 2, observation ");
  g_free (text);
}

typedef struct {
  gint flag;
  gulong delay; /* microseconds */
} Canceller;

static gpointer
set_later (gpointer data)
{
  Canceller *c = data;

  g_usleep (c->delay);
  g_atomic_int_set (&c->flag, TRUE);
  return NULL;
}

/* Set before, and at many times while files are read and written: there is a whole
 * result or that error. */
static void
test_cancelled (void)
{
  g_autoptr (BundleProblem) p = make_problem (21, 7000);

  for (BundleFormat f = BUNDLE_FORMAT_BAL; f <= BUNDLE_FORMAT_TUM; f++) {
    g_autoptr (GBytes) bytes = write_bytes (p, f, NULL);
    gsize size;
    const gchar *data = g_bytes_get_data (bytes, &size);

    for (gulong delay = 0; delay < 60000; delay = delay * 3 / 2 + 100) {
      Canceller c = { .delay = delay };
      GThread *thread = g_thread_new ("cancel", set_later, &c);
      GError *error = NULL;
      BundleProblem *read = NULL;
      GBytes *written;

      if (delay == 0)
        g_thread_join (thread);
      cvis_cancel_watch (&c.flag);
      if (f <= BUNDLE_FORMAT_COLMAP)
        read = bundle_read (data, size, f, 1 + delay % 3, &error);
      if (f <= BUNDLE_FORMAT_COLMAP && !read)
        g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CANCELLED);
      g_clear_error (&error);
      written = bundle_write (p, f, NULL, 1 + delay % 3, &error);
      if (written)
        g_assert_true (g_bytes_equal (written, bytes));
      else
        g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CANCELLED);
      if (delay == 0)
        g_assert_true (!read && !written);
      else
        g_thread_join (thread);
      cvis_cancel_watch (NULL);
      g_clear_error (&error);
      g_clear_pointer (&read, bundle_problem_free);
      g_clear_pointer (&written, g_bytes_unref);
    }
  }
}

typedef struct {
  GBytes *kept[4];
  guint n, most;
  gsize size;
} Parts;

static gboolean
take_part (GBytes *part, gpointer user_data)
{
  Parts *parts = user_data;

  parts->size += g_bytes_get_size (part);
  if (parts->n < G_N_ELEMENTS (parts->kept))
    parts->kept[parts->n] = part;
  else
    g_bytes_unref (part);
  return ++parts->n < parts->most;
}

/* Parts outlive the writer; one that is refused is the last. */
static void
test_parts (void)
{
  g_autoptr (BundleProblem) p = make_problem (21, 7000);
  g_autoptr (GBytes) whole = write_bytes (p, BUNDLE_FORMAT_BAL, NULL);
  const gchar *text = g_bytes_get_data (whole, NULL);

  for (guint i = 0; i < 6; i++) {
    Parts parts = { .most = i < 3 ? i + 1 : 1000 };
    GError *error = NULL;
    const gboolean done = bundle_write_parts (
        p, BUNDLE_FORMAT_BAL, NULL, 1 + i % 3, take_part, &parts, &error);

    if (i < 3) {
      g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CANCELLED);
      g_assert_false (done);
      g_assert_cmpuint (parts.n, ==, i + 1);
    } else {
      g_assert_no_error (error);
      g_assert_true (done);
      g_assert_cmpuint (parts.n, >, 4);
      g_assert_cmpuint (parts.size, ==, g_bytes_get_size (whole));
    }
    for (gsize k = 0, at = 0; k < MIN (parts.n, 4); k++) {
      gsize n;
      gconstpointer bytes = g_bytes_get_data (parts.kept[k], &n);

      g_assert_cmpmem (bytes, n, text + at, n);
      at += n;
      g_bytes_unref (parts.kept[k]);
    }
    g_clear_error (&error);
  }
}

static void
test_detect (void)
{
  static const gchar *const others[] = { "", "1 2 3", "1 2 3\n",
    "1 2 3 4\n1 2 3", "P5\n1 2 3\n", "1 2\n3 0 0 1", "# Bundle", "NVM_V",
    "NVM_V3_R9T\n", "a b c\n", "-1 2 3\n0 0 1 1\n", "1 2 3\n0 0.5 1 1\n" };
  BundleFormat format;

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_assert_false (
        bundle_format_detect (others[i], strlen (others[i]), &format));
  g_assert_true (bundle_format_detect ("1 2 3\r\n0 0 -", 12, &format));
  g_assert_cmpint (format, ==, BUNDLE_FORMAT_BAL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bundleformats/bal", test_bal);
  g_test_add_func ("/bundleformats/bal-values", test_bal_values);
  g_test_add_func ("/bundleformats/bal-index", test_bal_index);
  g_test_add_func ("/bundleformats/bundler", test_bundler);
  g_test_add_func ("/bundleformats/nvm", test_nvm);
  g_test_add_func ("/bundleformats/colmap", test_colmap);
  g_test_add_func ("/bundleformats/colmap-archives", test_colmap_archives);
  g_test_add_func ("/bundleformats/axes", test_axes);
  g_test_add_func ("/bundleformats/nvm-distortion", test_nvm_distortion);
  g_test_add_func ("/bundleformats/rotations", test_rotations);
  g_test_add_func ("/bundleformats/tum", test_tum);
  g_test_add_func ("/bundleformats/transforms", test_transforms);
  g_test_add_func ("/bundleformats/ply", test_ply);
  g_test_add_func ("/bundleformats/box", test_box);
  g_test_add_func ("/bundleformats/refused", test_refused);
  g_test_add_func ("/bundleformats/truncated", test_truncated);
  g_test_add_func ("/bundleformats/far-fault", test_far_fault);
  g_test_add_func ("/bundleformats/cancelled", test_cancelled);
  g_test_add_func ("/bundleformats/parts", test_parts);
  g_test_add_func ("/bundleformats/detect", test_detect);
  return g_test_run ();
}
