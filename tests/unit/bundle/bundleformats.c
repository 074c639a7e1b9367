/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of reconstructions: round trips, axes, refused files. */
#include "cuda/bundle/formats/cloud.h"
#include "cuda/bundle/engine.h"
#include "cuda/bundle/formats/formats.h"
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
    g_assert_cmpstr (read->views[i].name, ==, p->views[i].name);
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

static BundleCloud *
read_cloud (const gchar *header, gconstpointer bytes, gsize n)
{
  g_autoptr (GString) file = g_string_new (header);
  GError *error = NULL;
  BundleCloud *cloud;

  g_string_append_len (file, bytes, (gssize) n);
  cloud = bundle_cloud_read (file->str, file->len, &error);
  g_assert_no_error (error);
  return cloud;
}

#define PLY_POSITION "property float x\nproperty float y\nproperty float z\n"
#define PLY_ASCII "ply\nformat ascii 1.0\nelement vertex 2\n" PLY_POSITION

/* Other names and types of colours */
static void
test_ply_colours (void)
{
  static const struct {
    const gchar *type, *prefix, *vertices;
  } colours[] = {
    { "uchar", "diffuse_", "1 2 3 255 128 0\n4 5 6 1 2 3\n" },
    { "uchar", "", "1 2 3 255 128 0\n4 5 6 1 2 3\n" },
    { "ushort", "", "1 2 3 65535 32896 0\n4 5 6 257 514 771\n" },
    { "float", "diffuse_", "1 2 3 1 0.502 -1\n4 5 6 0.004 0.008 0.012\n" },
  };
  static const guint8 wanted[] = { 255, 128, 0, 1, 2, 3 };

  for (guint i = 0; i < G_N_ELEMENTS (colours); i++) {
    const gchar *type = colours[i].type, *prefix = colours[i].prefix;
    g_autofree gchar *header = g_strdup_printf (PLY_ASCII
        "property %s %sred\nproperty %s %sgreen\nproperty %s %sblue\n"
        "end_header\n",
        type, prefix, type, prefix, type, prefix);
    g_autoptr (BundleCloud) cloud =
        read_cloud (header, colours[i].vertices, strlen (colours[i].vertices));

    g_assert_cmpmem (cloud->colours, 6, wanted, 6);
    g_assert_cmpfloat (cloud->positions[5], ==, 6);
  }
}

/* Text with other properties and edges, and bytes in the other order */
static void
test_ply_codings (void)
{
  static const gchar text[] =
      "1 nan 2 3 9\r\n\r\n4 inf 5 6 9\r\n1 0\r\n3 0 1 1\r\n";
  static const guint8 bytes[] = { 0x3f, 0x80, 0, 0, 0x40, 0, 0, 0, 0xc0, 0x40,
    0, 0, 0xff, 0x80, 7 };
  g_autoptr (BundleCloud) ascii = read_cloud (
      "\xef\xbb\xbfply\r\nformat ascii 1.0\r\ncomment c\r\nelement vertex 2\r\n"
      "property double x\r\nproperty float nx\r\nproperty double y\r\n"
      "property double z\r\nproperty int label\r\nelement edge 1\r\n"
      "property int vertex1\r\nproperty uint vertex2\r\nelement face 1\r\n"
      "property list uchar int vertex_indices\r\nend_header\r\n",
      text, strlen (text));
  g_autoptr (BundleCloud) big = read_cloud (
      "ply\nformat binary_big_endian 1.0\nelement vertex 1\n" PLY_POSITION
      "property short red\nproperty uchar green\nend_header\n",
      bytes, sizeof (bytes));
  GError *error = NULL;
  static const struct {
    const gchar *vertices, *words;
  } wrong[] = {
    { "1 2 3\n1 nan 3\n", "line 9, y: \"nan\" is not a finite number" },
    { "1.25 2 3\n1 2\n", "line 9, z: the line has 2 of 3 fields" },
    { "1.25 2 3\n\n\n\n", "end: the file ends before vertex 1" },
    { "1 2 3\n", "end: the file ends within its elements" },
  };

  g_assert_cmpuint (ascii->n_vertices, ==, 2);
  g_assert_cmpfloat (ascii->positions[4], ==, 5);
  g_assert_cmpuint (ascii->edges[0], ==, 1);
  g_assert_cmpuint (ascii->colours[0], ==, 190);
  g_assert_cmpfloat (big->positions[0], ==, 1);
  g_assert_cmpfloat (big->positions[2], ==, -3);
  g_assert_cmpuint (big->colours[0], ==, 0); /* negative */
  g_assert_cmpuint (big->colours[1], ==, 7);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autofree gchar *file =
        g_strconcat (PLY_ASCII "end_header\n", wrong[i].vertices, NULL);

    g_assert_null (bundle_cloud_read (file, strlen (file), &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT);
    if (!strstr (error->message, wrong[i].words))
      g_error ("\"%s\", not \"%s\"", error->message, wrong[i].words);
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
      "line 3, camera: the line must have a name and 10 numbers" },
  { BUNDLE_FORMAT_NVM, "NVM_V3\n2\na b 500 1 0 0 0 0 0 0 0 0\n",
      "line 4, camera: the text ends before camera 1 of 2" },
  { BUNDLE_FORMAT_NVM,
      "NVM_V3\n1\na b 500 1 0 nan 0 0 0 0 0 0\n1\n1 2 3 1 2 3 1 0 0 1 1\n",
      "line 3, quaternion: \"nan\" is not a finite number" },
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
      "cameras.txt line 2, MODEL: camera model FISHEYE is not supported" },
  { BUNDLE_FORMAT_COLMAP,
      COLMAP_TEXT ("7 FOV 9 9 1 1 3 4 1\n", IMAGE, FEATURES, POINT),
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
      "points3D.txt line 3, observations: the file has none" },
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

/* Names longer than the 100 bytes of a header, as GNU tar and pax write them */
static void
test_colmap_long_names (void)
{
  g_autoptr (BundleProblem) p = make_problem (4, 10), read = NULL;
  g_autoptr (GBytes) bytes = write_bytes (p, BUNDLE_FORMAT_COLMAP, NULL);
  g_autofree gchar *folder = g_strnfill (120, 'f');
  const gchar *tar = g_bytes_get_data (bytes, NULL);

  read = read_bytes (bytes, BUNDLE_FORMAT_COLMAP, 0);
  for (guint kind = 0; kind < 2; kind++) {
    GString *with = g_string_new (NULL);
    g_autoptr (GBytes) archive = NULL;
    g_autoptr (BundleProblem) again = NULL;

    for (const gchar *at = tar; *at;) {
      const gsize n = strtoul (at + 124, NULL, 8);
      const gsize blocks = (n + 511) / 512 * 512;
      g_autofree gchar *name = g_strdup_printf ("%s/%s", folder, at);
      g_autofree gchar *record = NULL;
      gchar block[512] = { 0 };

      if (kind) {
        record =
            g_strdup_printf ("%u path=%s\n", (guint) strlen (name) + 10, name);
        g_assert_cmpuint (strtoul (record, NULL, 10), ==, strlen (record));
      } else {
        record = g_strdup (name);
      }
      g_strlcpy (block, record, sizeof (block));
      append_header (with, "././@LongLink", kind ? 'x' : 'L',
          (guint) strlen (record) + !kind);
      g_string_append_len (with, block, sizeof (block));
      append_header (with, name, '0', (guint) n);
      g_string_append_len (with, at + 512, (gssize) blocks);
      at += 512 + blocks;
    }
    archive = g_string_free_to_bytes (with);
    again = read_bytes (archive, BUNDLE_FORMAT_COLMAP, 0);
    assert_same_bits (read, again);
  }
}

/* What is missing, and why */
static void
test_colmap_refused_archives (void)
{
  GString *tar = g_string_new (NULL);

  append_header (tar, "sparse/0/cameras.bin", '0', 0);
  check_refused (BUNDLE_FORMAT_COLMAP, tar->str, tar->len,
      "the archive does not contain points3D.bin");
  g_string_truncate (tar, 0);
  append_header (tar, "cameras.txt", '0', 0);
  append_header (tar, "images.txt", '0', 700);
  check_refused (BUNDLE_FORMAT_COLMAP, tar->str, tar->len,
      "tar header of images.txt at byte 512: the archive ends before");
  tar->str[600] ^= 1;
  check_refused (BUNDLE_FORMAT_COLMAP, tar->str, tar->len,
      "tar header at byte 512: its checksum is wrong");
  g_string_free (tar, TRUE);
}

/* --- pairs of formats ---------------------------------------------------- */

static gdouble
compute_cost (const BundleProblem *p)
{
  g_autofree gdouble *errors = g_new (gdouble, p->n_observations);
  gdouble cost = 0;

  bundle_reprojection_errors (p, 1, errors, NULL);
  for (gsize i = 0; i < p->n_observations; i++)
    cost += errors[i] * errors[i] / 2;
  return cost;
}

/* Moves the world by @shift along each axis. */
static void
shift_world (BundleProblem *p, gdouble shift)
{
  for (gsize i = 0; i < 3 * (gsize) p->n_points; i++)
    p->points[i] += shift;
  for (guint i = 0; i < p->n_cameras; i++) {
    gdouble *camera = p->cameras + i * BUNDLE_CAMERA_SIZE, r[9];

    bundle_rotation_to_matrix (camera, r);
    for (guint k = 0; k < 3; k++)
      camera[3 + k] -= shift * (r[3 * k] + r[3 * k + 1] + r[3 * k + 2]);
  }
}

/* Measurements with noise, and one that a camera has twice */
static BundleProblem *
make_measured (gboolean k2, gdouble shift)
{
  BundleProblem *p = make_problem (8, 60);
  GRand *rand = g_rand_new_with_seed (9);

  for (gsize i = 0; i < 2 * p->n_observations; i++)
    p->observed[i] += g_rand_double_range (rand, -2, 2);
  p->camera_of[1] = p->camera_of[0];
  p->observed[2] = p->observed[0] + 3;
  p->observed[3] = p->observed[1] - 2;
  for (guint i = 0; k2 && i < p->n_cameras; i++)
    p->cameras[9 * i + 8] = 0.05;
  shift_world (p, shift);
  g_rand_free (rand);
  return p;
}

/* Every reader accepts what every writer wrote, of a problem in which a camera sees a
 * point twice. Each pair of formats keeps the cost, or its loss is stated. */
static void
check_pairs (gboolean k2, gdouble shift)
{
  for (BundleFormat from = BUNDLE_FORMAT_BAL; from <= BUNDLE_FORMAT_COLMAP;
       from++)
    for (BundleFormat to = BUNDLE_FORMAT_BAL; to <= BUNDLE_FORMAT_COLMAP;
         to++) {
      g_autoptr (BundleProblem) p = make_measured (k2, shift);
      g_autoptr (GBytes) first = write_bytes (p, from, NULL);
      g_autoptr (BundleProblem) one = read_bytes (first, from, 0);
      g_autoptr (GBytes) second = write_bytes (one, to, NULL);
      g_autoptr (BundleProblem) two = read_bytes (second, to, 0);
      g_autofree gchar *losses = bundle_format_losses (one, to, 0);
      const gdouble before = compute_cost (one), after = compute_cost (two);
      const gboolean kept = fabs (after - before) <= 1e-9 * before;

      g_assert_cmpuint (two->n_observations, ==, p->n_observations);
      if (!kept) {
        g_autofree gchar *cost =
            g_strdup_printf ("The cost of the file is %.9g, ", after);

        g_assert_nonnull (losses);
        g_assert_nonnull (strstr (losses, cost));
      }
      if (shift == 0)
        g_assert_true (kept
                       || (k2 && to == BUNDLE_FORMAT_NVM
                           && strstr (losses, "k2 of 8 cameras")));
      g_assert_true (!kept || !losses || !strstr (losses, "cost"));
    }
}

static void
test_pairs (void)
{
  check_pairs (FALSE, 0);
  check_pairs (TRUE, 0);
  check_pairs (TRUE, 1e7);
}

/* Guessed names and sizes are stated with their number. */
static void
test_guesses (void)
{
  g_autoptr (BundleProblem) p = make_problem (4, 10);
  g_autofree gchar *known = bundle_format_losses (p, BUNDLE_FORMAT_COLMAP, 0);
  g_autofree gchar *guessed = NULL, *names = NULL, *none = NULL;

  g_assert_null (known);
  p->views[2].width = 0;
  g_clear_pointer (&p->views[1].name, g_free);
  guessed = bundle_format_losses (p, BUNDLE_FORMAT_COLMAP, 0);
  g_assert_nonnull (strstr (guessed, "names of 1 pictures are unknown"));
  g_assert_nonnull (strstr (guessed, "sizes of 1 pictures are unknown"));
  names = bundle_format_losses (p, BUNDLE_FORMAT_NVM, 0);
  g_assert_null (strstr (names, "sizes"));
  none = bundle_format_losses (p, BUNDLE_FORMAT_BAL, 0);
  g_assert_null (none);
}

/* What the other readers refuse is not written. */
static void
test_unwritable (void)
{
  static const BundleFormat formats[] = { BUNDLE_FORMAT_BUNDLER,
    BUNDLE_FORMAT_NVM, BUNDLE_FORMAT_COLMAP };
  g_autoptr (BundleProblem) p = make_problem (4, 10);

  p->points[7] = 1e120;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GError *error = NULL;

    g_assert_null (bundle_write (p, formats[i], NULL, 0, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message, "point 2 has the number 1e+120"));
    g_clear_error (&error);
  }
}

/* Observations of one camera that are equal in everything: the solver takes both. */
static void
test_repeated_solved (void)
{
  static const BundlePreconditioner kinds[] = { BUNDLE_PRECONDITIONER_JACOBI,
    BUNDLE_PRECONDITIONER_SCHUR_JACOBI, BUNDLE_PRECONDITIONER_CLUSTER };
  gdouble cost[G_N_ELEMENTS (kinds)];

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autoptr (BundleProblem) p = make_measured (FALSE, 0);
    BundleSummary summary = { 0 };
    GError *error = NULL;
    BundleConfig config;

    bundle_config_init (&config);
    config.preconditioner = kinds[i];
    config.function_tolerance = 1e-12;
    config.threads = 1;
    g_assert_true (
        bundle_solve (p, &config, NULL, NULL, NULL, &summary, &error));
    g_assert_no_error (error);
    cost[i] = summary.final_cost;
    bundle_summary_clear (&summary);
    g_assert_cmpfloat_with_epsilon (cost[i], cost[0], 1e-6 * cost[0]);
  }
}

/* --- other programs' texts ------------------------------------------------------- */

/* A byte order mark before every text, also before each of COLMAP's three */
static void
test_byte_order_mark (void)
{
  static const BundleFormat formats[] = { BUNDLE_FORMAT_BAL,
    BUNDLE_FORMAT_BUNDLER, BUNDLE_FORMAT_NVM };
  g_autoptr (BundleProblem) p = make_problem (4, 10);
  g_autoptr (BundleProblem) colmap = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_autoptr (GBytes) bytes = write_bytes (p, formats[i], NULL);
    g_autoptr (BundleProblem) plain = read_bytes (bytes, formats[i], 0);
    g_autoptr (GBytes) marked = NULL;
    g_autoptr (BundleProblem) read = NULL;
    gsize size;
    const gchar *data = g_bytes_get_data (bytes, &size);
    GString *text = g_string_new ("\xef\xbb\xbf");

    g_string_append_len (text, data, (gssize) size);
    marked = g_string_free_to_bytes (text);
    read = read_bytes (marked, formats[i], 0);
    assert_same_bits (plain, read);
  }
  colmap = read_text ("\xef\xbb\xbf# Camera list\r\n" CAMERA
                      "\xef\xbb\xbf# Image list\r\n" IMAGE FEATURES
                      "\xef\xbb\xbf# 3D point list\r\n" POINT,
      BUNDLE_FORMAT_COLMAP);
  check_ahead (colmap);
  check_refused (BUNDLE_FORMAT_BAL, "\xef\xbb\xbf", 3, "empty");
}

static void
test_names_with_spaces (void)
{
  g_autoptr (BundleProblem) colmap = read_text (
      COLMAP_TEXT (
          CAMERA, "3 1 0 0 0 0 0 0 7 my  photo (4).jpg \r\n", FEATURES, POINT),
      BUNDLE_FORMAT_COLMAP);
  g_autoptr (BundleProblem) nvm =
      read_text ("NVM_V3\n2\nmy 2 nd photo.jpg\t500 1 0 0 0 0 0 0 0 0\r\n"
                 "#2.jpg 500 1 0 0 0 0 0 0 0 0\n1\n2 1 10 1 2 3 1 0 7 100 50\n",
          BUNDLE_FORMAT_NVM);
  g_autoptr (GBytes) written = NULL;
  g_autoptr (BundleProblem) again = NULL;

  check_ahead (colmap);
  g_assert_cmpstr (colmap->views[0].name, ==, "my  photo (4).jpg");
  check_ahead (nvm);
  g_assert_cmpstr (nvm->views[0].name, ==, "my 2 nd photo.jpg");
  g_assert_cmpstr (nvm->views[1].name, ==, "#2.jpg");
  written = write_bytes (nvm, BUNDLE_FORMAT_NVM, NULL);
  again = read_bytes (written, BUNDLE_FORMAT_NVM, 0);
  g_assert_cmpstr (again->views[0].name, ==, "my 2 nd photo.jpg");
  g_assert_cmpstr (again->views[1].name, ==, "#2.jpg");
}

/* Features of points that were deleted; tracks of features without a point; images
 * without features, the last without a line for them; numbers with three
 * digits of exponent; features without a point as the largest 64-bit number */
static void
test_colmap_of_others (void)
{
  g_autoptr (BundleProblem) p = read_text (
      COLMAP_TEXT (CAMERA, "1 1.0e+000 0 0 0 0 0 0 7 empty.jpg\n\n" IMAGE,
          "9 9 18446744073709551615 420 290 5\n"
          "8 1 0 0 0 0 0 0 7 last.jpg\n",
          POINT),
      BUNDLE_FORMAT_COLMAP);

  g_autoptr (BundleProblem) lost =
      read_text (COLMAP_TEXT (CAMERA, IMAGE, "9 9 77 420 290 5\n", POINT),
          BUNDLE_FORMAT_COLMAP);
  g_autoptr (BundleProblem) unnamed =
      read_text (COLMAP_TEXT (CAMERA, IMAGE, "9 9 -1 420 290 -1\n", POINT),
          BUNDLE_FORMAT_COLMAP);

  check_ahead (lost);
  g_assert_nonnull (
      strstr (lost->notes, "1 features of images.txt name points"));
  check_ahead (unnamed);
  g_assert_nonnull (strstr (unnamed->notes, "contain 1 features for which"));
  g_assert_null (p->notes);
  g_assert_cmpuint (p->n_cameras, ==, 3);
  g_assert_cmpuint (p->n_observations, ==, 1);
  g_assert_cmpuint (p->camera_of[0], ==, 1);
  g_assert_cmpfloat (p->observed[1], ==, -50);
}

/* An NVM file of @p whose measurements are from the upper left corner */
static GBytes *
write_pixels (const BundleProblem *p, const gchar *first_line)
{
  g_autoptr (BundleProblem) moved = bundle_problem_copy (p, NULL);
  g_autoptr (GBytes) bytes = NULL;
  GString *text = g_string_new (first_line);
  const gchar *data;

  for (gsize i = 0; i < p->n_observations; i++) {
    moved->observed[2 * i] += 800;
    moved->observed[2 * i + 1] -= 600;
  }
  bytes = write_bytes (moved, BUNDLE_FORMAT_NVM, NULL);
  data = g_bytes_get_data (bytes, NULL);
  g_string_append_len (text, data + strlen ("NVM_V3"),
      (gssize) (g_bytes_get_size (bytes) - strlen ("NVM_V3")));
  return g_string_free_to_bytes (text);
}

/* As COLMAP's converter writes them */
static void
test_nvm_pixels (void)
{
  static const gchar *const lines[] = { "NVM_V3",
    "NVM_V3 FixedK 700 800 700 600" };
  static const gchar *const words[] = { "(800, 600), estimated",
    "(800, 600), which the first line gives, was subtracted from all 240" };
  g_autoptr (BundleProblem) p = make_problem (8, 60);
  g_autoptr (BundleProblem) positive = make_problem (8, 60);
  g_autoptr (BundleProblem) centred = NULL;
  g_autoptr (GBytes) none = NULL, few = NULL;
  GRand *rand = g_rand_new_with_seed (2);
  gsize size;
  const gchar *data;

  for (gsize i = 0; i < 2 * p->n_observations; i++)
    p->observed[i] += g_rand_double_range (rand, -2, 2);
  g_rand_free (rand);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GBytes) bytes = write_pixels (p, lines[i]);
    g_autoptr (BundleProblem) read = read_bytes (bytes, BUNDLE_FORMAT_NVM, 0);

    g_assert_nonnull (strstr (read->notes, words[i]));
    g_assert_cmpfloat_with_epsilon (
        compute_cost (read), compute_cost (p), 1e-9 * compute_cost (p));
  }

  /* measurements that happen to be positive */
  for (gsize i = 0; i < positive->n_observations; i++) {
    gdouble *c = positive->cameras + 9 * positive->camera_of[i];

    memset (c, 0, 3 * sizeof (gdouble));
    c[3] = 3;
    c[4] = -3;
    bundle_project (c, positive->points + 3 * (gsize) positive->point_of[i],
        positive->observed + 2 * i);
  }
  none = write_bytes (positive, BUNDLE_FORMAT_NVM, NULL);
  centred = read_bytes (none, BUNDLE_FORMAT_NVM, 0);
  g_assert_null (centred->notes);
  g_assert_cmpfloat_with_epsilon (
      compute_cost (centred), compute_cost (positive), 1e-12);

  /* positive, but without a principal point */
  for (gsize i = 0; i < 2 * p->n_observations; i++)
    positive->observed[i] = (i % 2 ? -1.0 : 1.0) * (gdouble) (i * 37 % 1000);
  few = write_bytes (positive, BUNDLE_FORMAT_NVM, NULL);
  data = g_bytes_get_data (few, &size);
  check_refused (BUNDLE_FORMAT_NVM, data, size,
      "line 14, measurement: none of the 240 in the file is negative");
}

static void
test_notes (void)
{
  g_autoptr (BundleProblem) models = read_text (
      "NVM_V3\n1\na 500 1 0 0 0 0 0 0 0 0\n1\n2 1 10 1 2 3 1 0 7 100 50\n\n"
      "1\na 500 1 0 0 0 0 0 0 0 0\n0\n",
      BUNDLE_FORMAT_NVM);
  g_autoptr (BundleProblem) one = read_text (
      "NVM_V3\n1\na 500 1 0 0 0 0 0 0 0 0\n1\n2 1 10 1 2 3 1 0 7 100 50\n\n"
      "0\n#the last part\n0\n",
      BUNDLE_FORMAT_NVM);
  g_autoptr (BundleProblem) wide = read_text (
      "NVM_V3\n1\na 500 1 0 0 0 0 0 0 0.2 0\n1\n2 1 10 1 2 3 1 0 7 500 50\n",
      BUNDLE_FORMAT_NVM);

  g_assert_nonnull (strstr (models->notes, "Only the first model"));
  g_assert_null (one->notes);
  g_assert_nonnull (strstr (wide->notes, "differs from it by up to 80 pixels"));
}

static const gchar *
hint_of (const gchar *text)
{
  return bundle_format_hint (text, strlen (text));
}

static void
test_hints (void)
{
  g_assert_nonnull (strstr (hint_of ("\x1f\x8b\b"), "gunzip"));
  g_assert_nonnull (strstr (hint_of ("PK\3\4"), "zip archive"));
  g_assert_nonnull (strstr (hint_of ("\xff\xfe\x31"), "UTF-16"));
  g_assert_nonnull (strstr (hint_of ("# Bundle file v0.4\n"), "only v0.3"));
  g_assert_nonnull (strstr (hint_of ("hello"), "none of BAL"));
  g_assert_nonnull (strstr (hint_of (""), "none of BAL"));
}

/* A typefinder must not take other texts for BAL. */
static void
test_certain (void)
{
  static const gchar *const others[] = { "1 2 3\n4 5 6 7\n8 9 10 11\n",
    "3 4 5\n0 1 2 3\n0 9 1 1\n", "3 4 5\n0 1 2 3\n0 1 a b\n",
    "3 4 5\n0 1 2 inf\n", "3 4 5\n0 1 2 3 4\n0 1 2 3 4\n" };
  static const gchar *const bal[] = { "3 4 5\n0 1 2.5 -3e2\n2 3 .5 1\n1 0 +1",
    "3 4 1\n2 1 1 1 7.5",
    /* a byte order mark; octal, as hexadecimal digits would go on */
    "\357\273\2773 4 5\n0 1 2.5 3\t0\t2 1 1\n" };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_assert_false (bundle_format_is_certain (
        others[i], strlen (others[i]), BUNDLE_FORMAT_BAL));
  for (guint i = 0; i < G_N_ELEMENTS (bal); i++)
    g_assert_true (
        bundle_format_is_certain (bal[i], strlen (bal[i]), BUNDLE_FORMAT_BAL));
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
  g_test_add_func ("/bundleformats/colmap-long-names", test_colmap_long_names);
  g_test_add_func (
      "/bundleformats/colmap-refused-archives", test_colmap_refused_archives);
  g_test_add_func ("/bundleformats/colmap-of-others", test_colmap_of_others);
  g_test_add_func ("/bundleformats/pairs", test_pairs);
  g_test_add_func ("/bundleformats/guesses", test_guesses);
  g_test_add_func ("/bundleformats/unwritable", test_unwritable);
  g_test_add_func ("/bundleformats/repeated-solved", test_repeated_solved);
  g_test_add_func ("/bundleformats/byte-order-mark", test_byte_order_mark);
  g_test_add_func ("/bundleformats/names-with-spaces", test_names_with_spaces);
  g_test_add_func ("/bundleformats/nvm-pixels", test_nvm_pixels);
  g_test_add_func ("/bundleformats/notes", test_notes);
  g_test_add_func ("/bundleformats/hints", test_hints);
  g_test_add_func ("/bundleformats/certain", test_certain);
  g_test_add_func ("/bundleformats/ply-colours", test_ply_colours);
  g_test_add_func ("/bundleformats/ply-codings", test_ply_codings);
  g_test_add_func ("/bundleformats/cancelled", test_cancelled);
  g_test_add_func ("/bundleformats/parts", test_parts);
  g_test_add_func ("/bundleformats/detect", test_detect);
  return g_test_run ();
}
