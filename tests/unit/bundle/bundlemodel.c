/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* COLMAP's models as data: what is read is written again with the same bytes, and
 * faults are named with file, record and id. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "cuda/bundle/colmap/adjust.h"
#include "cuda/bundle/colmap/number.h"
#include "cuda/bundle/engine.h"

/* --- files ---------------------------------------------------------------------- */

typedef struct {
  GByteArray *files[BUNDLE_MODEL_FILES];
} Files;

static void
add_bytes (GByteArray *to, gconstpointer bytes, gsize n)
{
  g_byte_array_append (to, bytes, (guint) n);
}

static void
add_32 (GByteArray *to, guint32 value)
{
  value = GUINT32_TO_LE (value);
  add_bytes (to, &value, sizeof value);
}

static void
add_64 (GByteArray *to, guint64 value)
{
  value = GUINT64_TO_LE (value);
  add_bytes (to, &value, sizeof value);
}

static void
add_doubles (GByteArray *to, const gdouble *values, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint64 bits;

    memcpy (&bits, &values[i], sizeof bits);
    add_64 (to, bits);
  }
}

static void
add_camera (GByteArray *to, guint32 id, guint32 model, guint n)
{
  static const gdouble parameters[BUNDLE_LENS_SIZE] = { 500, 510, 320, 240, 0.1,
    0.01, 0.001, -0.002 };

  add_32 (to, id);
  add_32 (to, model);
  add_64 (to, 640);
  add_64 (to, 480);
  add_doubles (to, parameters, n);
}

/* @points: n ids */
static void
add_image (GByteArray *to, guint32 id, guint32 camera, const gchar *name,
    const guint64 *points, guint n)
{
  static const gdouble pose[7] = { 0.5, 0.5, -0.5, 0.5, 0.1, 0.2, 3 };

  add_32 (to, id);
  add_doubles (to, pose, 7);
  add_32 (to, camera);
  add_bytes (to, name, strlen (name) + 1);
  add_64 (to, n);
  for (guint i = 0; i < n; i++) {
    const gdouble at[2] = { 10.5 + i, 20.25 };

    add_doubles (to, at, 2);
    add_64 (to, points[i]);
  }
}

/* @track: pairs */
static void
add_point (GByteArray *to, guint64 id, const guint32 *track, guint n)
{
  static const gdouble x[3] = { 1, -2, 1.0 / 3 }, error = 0.75;
  static const guint8 colour[3] = { 1, 128, 255 };

  add_64 (to, id);
  add_doubles (to, x, 3);
  add_bytes (to, colour, 3);
  add_doubles (to, &error, 1);
  add_64 (to, n);
  for (guint i = 0; i < 2 * n; i++)
    add_32 (to, track[i]);
}

/* Ids with gaps and not in order, names with blanks and beyond ASCII, an image without
 * features, two features of an image in a track, a point with one observation */
static Files
make_files (void)
{
  static const guint64 first[] = { 5, BUNDLE_MODEL_NO_POINT, 5 };
  static const guint64 second[] = { 5, 7000000000 };
  static const guint32 tracks[2][6] = { { 30, 0, 2, 0, 30, 2 }, { 2, 1 } };
  Files f;

  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
    f.files[i] = g_byte_array_new ();
  add_64 (f.files[0], 2);
  add_camera (f.files[0], 9, BUNDLE_LENS_OPENCV, 8);
  add_camera (f.files[0], 4, BUNDLE_LENS_PINHOLE, 4);
  add_64 (f.files[1], 3);
  add_image (f.files[1], 30, 9, "left/my photo (1).jpg", first, 3);
  add_image (f.files[1], 2, 4,
      "gr\xc3\xbc\xc3\x9f"
      "e.png",
      second, 2);
  add_image (f.files[1], 31, 4, "empty", NULL, 0);
  add_64 (f.files[2], 2);
  add_point (f.files[2], 7000000000, tracks[1], 1);
  add_point (f.files[2], 5, tracks[0], 3);
  return f;
}

static void
free_files (Files *f)
{
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
    g_byte_array_unref (f->files[i]);
}

static BundleModel *
parse_files (const Files *f, GError **error)
{
  BundleModelFile parts[BUNDLE_MODEL_FILES] = { 0 };

  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
    if (f->files[i]->len > 0)
      parts[i] = (BundleModelFile){ (const gchar *) f->files[i]->data,
        f->files[i]->len };
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++)
    if (!parts[i].data)
      parts[i].data = "";
  return bundle_model_parse (parts, TRUE, error);
}

/* --- tests ---------------------------------------------------------------------- */

static void
test_contents (void)
{
  Files f = make_files ();
  GError *error = NULL;
  g_autoptr (BundleModel) m = parse_files (&f, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (m->n_cameras, ==, 2);
  g_assert_cmpuint (m->cameras[0].id, ==, 9);
  g_assert_cmpint (m->cameras[0].model, ==, BUNDLE_LENS_OPENCV);
  g_assert_cmpfloat (m->cameras[0].parameters[7], ==, -0.002);
  g_assert_cmpuint (m->n_images, ==, 3);
  g_assert_cmpstr (m->images[0].name, ==, "left/my photo (1).jpg");
  g_assert_cmpuint (m->images[1].camera, ==, 1);
  g_assert_cmpuint (m->images[2].n, ==, 0);
  g_assert_cmpuint (m->n_features, ==, 5);
  g_assert_true (m->features[1].point == BUNDLE_MODEL_NO_POINT);
  g_assert_cmpuint (m->n_points, ==, 2);
  g_assert_cmpuint (m->points[1].colour[1], ==, 128);
  g_assert_cmpuint (m->points[1].n, ==, 3);
  g_assert_cmpuint (m->elements[m->points[1].first].image, ==, 0);
  g_assert_cmpuint (m->n_lost + m->n_unnamed, ==, 0);
  free_files (&f);
}

static void
compare_folders (const gchar *a, const gchar *b, gboolean binary)
{
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    g_autofree gchar *name_a =
        g_build_filename (a, bundle_model_file_name (i, binary), NULL);
    g_autofree gchar *name_b =
        g_build_filename (b, bundle_model_file_name (i, binary), NULL);
    g_autofree gchar *data_a = NULL, *data_b = NULL;
    gsize size_a, size_b;

    if (!g_file_get_contents (name_a, &data_a, &size_a, NULL)) {
      g_assert_false (g_file_test (name_b, G_FILE_TEST_EXISTS));
      continue;
    }
    g_assert_true (g_file_get_contents (name_b, &data_b, &size_b, NULL));
    g_assert_cmpmem (data_a, size_a, data_b, size_b);
  }
}

static void
remove_folder (const gchar *folder)
{
  for (guint i = 0; i < 2 * BUNDLE_MODEL_FILES; i++) {
    g_autofree gchar *name =
        g_build_filename (folder, bundle_model_file_name (i / 2, i % 2), NULL);

    g_unlink (name);
  }
  g_assert_cmpint (g_rmdir (folder), ==, 0); /* no temporary files are left */
}

/* Reads, writes, and replaces a folder. */
static void
check_folder (const gchar *folder, gboolean binary)
{
  g_autofree gchar *other = g_build_filename (folder, "deep", "copy", NULL);
  g_autofree gchar *deep = g_build_filename (folder, "deep", NULL);
  GError *error = NULL;
  g_autoptr (BundleModel) m = bundle_model_read (folder, &error);

  g_assert_no_error (error);
  g_assert_cmpint (m->binary, ==, binary);
  g_assert_true (bundle_model_write (m, binary, other, &error));
  compare_folders (folder, other, binary);
  g_assert_true (bundle_model_write (m, binary, other, &error));
  compare_folders (folder, other, binary);
  remove_folder (other);
  g_rmdir (deep);
}

static void
write_file (const gchar *folder, guint file, gboolean binary, const gchar *data,
    gsize size)
{
  g_autofree gchar *name =
      g_build_filename (folder, bundle_model_file_name (file, binary), NULL);

  g_assert_true (g_file_set_contents (name, data, (gssize) size, NULL));
}

/* One rig with one sensor, and a frame for image 30 */
static void
add_rigs (Files *f, guint32 n_sensors)
{
  static const gdouble pose[7] = { 0.5, 0.5, -0.5, 0.5, 0.1, 0.2, 3 };
  static const guint32 rig[] = { 1, 0, 9 }, frame[] = { 1, 1 };

  add_64 (f->files[3], 1);
  add_32 (f->files[3], 8);
  add_32 (f->files[3], n_sensors);
  add_32 (f->files[3], 0);
  add_32 (f->files[3], 9);
  for (guint i = 1; i < n_sensors; i++) {
    add_32 (f->files[3], 0);
    add_32 (f->files[3], 4);
    add_bytes (f->files[3], "\1", 1);
    add_doubles (f->files[3], pose, 7);
  }
  add_64 (f->files[4], 1);
  add_32 (f->files[4], frame[0]);
  add_32 (f->files[4], 8);
  add_doubles (f->files[4], pose, 7);
  add_32 (f->files[4], rig[0]);
  add_32 (f->files[4], rig[1]);
  add_32 (f->files[4], rig[2]);
  add_64 (f->files[4], 30);
}

/* The bytes of printf(), for numbers of all sizes, with few digits, near powers of ten and
 * halfway between two of 17 digits */
static void
test_numbers (void)
{
  guint64 state = 7;
  gdouble special[] = { 0, -0., 1, -1, 0.1, 1e-4, 9.9999999999999991e-5, 1e16,
    9007199254740991, 9007199254740992, 9007199254740994, 1e17, 1e22, 1e23,
    0.30000000000000004, 1e-300, 5e-324, 1.7976931348623157e308, 0.5, 1234.5,
    123456789012.5, 99999999999999984, INFINITY, -INFINITY };

  for (guint i = 0; i < 2000000; i++) {
    gchar text[BUNDLE_MODEL_NUMBER_MAX + 1], wanted[64];
    gdouble value;

    state = state * 6364136223846793005u + 1442695040888963407u;
    if (i < G_N_ELEMENTS (special)) {
      value = special[i];
    } else if (i % 4 == 0) { /* any double */
      memcpy (&value, &state, sizeof value);
    } else if (i % 4 == 1) { /* few digits */
      value = (gdouble) (state >> 44) / pow (10, i % 7);
    } else if (i % 4 == 2) { /* beside a power of ten */
      value = pow (10, (gint) (state >> 60) - 5);
      for (guint k = i % 5; k > 0; k--)
        value = nextafter (value, state >> 40 & 1 ? INFINITY : 0);
    } else { /* of the usual size */
      value = ldexp ((gdouble) (gint64) state, -(gint) (10 + i % 70));
    }
    if (isnan (value))
      continue;
    *bundle_model_write_number (text, value) = '\0';
    g_snprintf (wanted, sizeof wanted, "%.17g", value);
    g_assert_cmpstr (text, ==, wanted);
  }
}

static void
test_binary_folder (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("bundlemodel-XXXXXX", NULL);
  GError *error = NULL;
  Files f = make_files ();
  g_autoptr (BundleModel) plain = NULL, rigs = NULL;

  for (guint with_rigs = 0; with_rigs < 2; with_rigs++) {
    if (with_rigs)
      add_rigs (&f, 1);
    for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
      if (f.files[i]->len > 0)
        write_file (
            folder, i, TRUE, (const gchar *) f.files[i]->data, f.files[i]->len);
    g_assert_true (bundle_model_is_folder (folder));
    check_folder (folder, TRUE);
    if (!with_rigs)
      plain = bundle_model_read (folder, NULL);
  }
  /* rigs that do not belong to it would be read with the model */
  g_assert_false (bundle_model_write (plain, TRUE, folder, &error));
  g_assert_nonnull (strstr (error->message, "contains rigs.bin"));
  g_clear_error (&error);
  /* their bytes are kept, so they cannot become texts */
  rigs = bundle_model_read (folder, NULL);
  g_assert_false (bundle_model_write (rigs, FALSE, folder, &error));
  g_assert_nonnull (strstr (error->message, "as binary files"));
  g_clear_error (&error);
  free_files (&f);
  remove_folder (folder);
  g_assert_false (bundle_model_is_folder (folder));
}

#define BLANK " " /* as COLMAP 4 writes it */
#define TEXT_CAMERAS                                                           \
  "# Camera list with one line of data per camera:\n"                          \
  "#   CAMERA_ID, MODEL, WIDTH, HEIGHT, PARAMS[]\n"                            \
  "7 SIMPLE_RADIAL 640 480 500.25 320 240 0.050000000000000003\n"
#define TEXT_IMAGES                                                            \
  "# Image list\n"                                                             \
  "4 0.5 -0.5 0.5 0.5 0 1.0000000000000001e-05 2 7 my photo.jpg\n"             \
  "1.5 2 5 3 4 -1 1.5 2.5 5" BLANK "\n"                                        \
  "2 1 0 0 0 0 0 1 7 b\n"                                                      \
  "\n"
#define TEXT_POINTS                                                            \
  "# 3D point list\n5 1 2 3 4 5 6 0.10000000000000001 4 0 4 2\n"

static void
test_text_folder (void)
{
  static const gchar *const texts[BUNDLE_MODEL_FILES] = { TEXT_CAMERAS,
    TEXT_IMAGES, TEXT_POINTS, "# Rig\n1 1 CAMERA 7\n",
    "# Frame\n3 1 0.5 -0.5 0.5 0.5 0 1.0000000000000001e-05 2 1 CAMERA 7 4\n" };
  g_autofree gchar *folder = g_dir_make_tmp ("bundlemodel-XXXXXX", NULL);

  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    write_file (folder, i, FALSE, texts[i], strlen (texts[i]));
    if (i >= BUNDLE_MODEL_POINTS && i != BUNDLE_MODEL_RIGS)
      check_folder (folder, FALSE);
  }
  remove_folder (folder);
}

/* The frame of an image that moved gets its pose. */
static void
test_frames (void)
{
  static const gdouble pose[7] = { 1, 0, 0, 0, 4, 5, 6 };
  Files f = make_files ();
  GBytes *files[BUNDLE_MODEL_FILES];
  g_autoptr (BundleModel) m = NULL;
  const guint8 *data;

  add_rigs (&f, 1);
  m = parse_files (&f, NULL);
  memcpy (m->images[0].q, pose, sizeof m->images[0].q);
  memcpy (m->images[0].t, pose + 4, sizeof m->images[0].t);
  m->images[0].moved = TRUE;
  g_assert_true (bundle_model_format (m, TRUE, files, NULL));
  data = g_bytes_get_data (files[BUNDLE_MODEL_FRAMES], NULL);
  g_assert_cmpmem (data, 16, f.files[BUNDLE_MODEL_FRAMES]->data, 16);
  g_assert_cmpmem (data + 16, sizeof pose, pose, sizeof pose);
  g_assert_cmpmem (data + 72, 20, f.files[BUNDLE_MODEL_FRAMES]->data + 72, 20);
  g_assert_null (m->rig);
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++)
    g_bytes_unref (files[i]);
  free_files (&f);

  f = make_files ();
  add_rigs (&f, 2);
  bundle_model_free (m);
  m = parse_files (&f, NULL);
  g_assert_cmpstr (m->rig, ==, "rig 8 has 2 sensors");
  free_files (&f);
}

static void
check_fault (const Files *f, const gchar *words)
{
  GError *error = NULL;
  BundleModel *m = parse_files (f, &error);

  if (m != NULL || strstr (error->message, words) == NULL)
    g_error ("\"%s\" is not in \"%s\"", words, m ? "" : error->message);
  g_error_free (error);
}

/* Every file that ends early is refused. */
static void
test_truncated (void)
{
  Files f = make_files ();

  add_rigs (&f, 2);
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    const guint size = f.files[i]->len;

    for (guint n = i < BUNDLE_MODEL_RIGS ? 0 : 1; n < size; n++) {
      f.files[i]->len = n;
      check_fault (&f, bundle_model_file_name (i, TRUE));
    }
    f.files[i]->len = size;
    add_bytes (f.files[i], "", 1);
    check_fault (&f, i < BUNDLE_MODEL_RIGS ? "1 bytes follow the last record"
                                           : "bytes follow the last record");
    f.files[i]->len = size;
  }
  free_files (&f);
}

/* Sizes of 2^60 are refused without allocating them. */
static void
test_counts (void)
{
  /* of the records, and of the lists of the first record */
  static const struct {
    guint file;
    gsize at;
    const gchar *words;
  } counts[] = {
    { 0, 7, "cameras.bin: its header names 1152921504606846978 records" },
    { 1, 7, "images.bin: its header names 1152921504606846979 records" },
    { 2, 7, "points3D.bin: its header names 1152921504606846978 records" },
    { 1, 8 + 64 + 22 + 7,
        "images.bin record 1 (IMAGE_ID 30), POINTS2D: "
        "1152921504606846979 are more than the rest" },
    { 2, 8 + 43 + 7,
        "points3D.bin record 1 (POINT3D_ID 7000000000), TRACK: "
        "1152921504606846977 are more than the rest" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    Files f = make_files ();

    f.files[counts[i].file]->data[counts[i].at] = 0x10;
    check_fault (&f, counts[i].words);
    free_files (&f);
  }
}

static void
put_double (GByteArray *to, gsize at, gdouble value)
{
  memcpy (to->data + at, &value, sizeof value);
}

static void
test_faults (void)
{
  static const guint64 ids[] = { 5, 5 };
  static const guint32 one[] = { 30, 0 }, no_image[] = { 77, 0 };
  static const guint32 no_feature[] = { 30, 3 }, other[] = { 2, 1 };
  Files f = make_files ();

  add_camera (f.files[0], 9, BUNDLE_LENS_PINHOLE, 4);
  f.files[0]->data[0] = 3;
  check_fault (&f, "cameras.bin record 3 (CAMERA_ID 9), CAMERA_ID: duplicate");
  free_files (&f);

  f = make_files ();
  f.files[0]->data[12] = 15;
  check_fault (&f,
      "cameras.bin record 1 (CAMERA_ID 9), MODEL: camera model 15, "
      "FISHEYE is not supported");
  f.files[0]->data[12] = BUNDLE_LENS_OPENCV;
  f.files[0]->data[12 + 4 + 7] = 0x80;
  check_fault (&f, "cameras.bin record 1 (CAMERA_ID 9), WIDTH HEIGHT: ");
  f.files[0]->data[12 + 4 + 7] = 0;
  put_double (f.files[0], 32, NAN);
  check_fault (&f, "cameras.bin record 1 (CAMERA_ID 9), PARAMS: ");
  put_double (f.files[0], 32, 500);
  put_double (f.files[1], 12, INFINITY);
  check_fault (&f, "images.bin record 1 (IMAGE_ID 30), pose: ");
  for (guint i = 0; i < 4; i++)
    put_double (f.files[1], 12 + 8 * i, 0);
  check_fault (
      &f, "images.bin record 1 (IMAGE_ID 30), QW QX QY QZ: they are 0");
  free_files (&f);

  f = make_files ();
  put_double (f.files[1], 8 + 64 + 22 + 8, NAN);
  check_fault (&f, "images.bin record 1 (IMAGE_ID 30), POINTS2D: feature 0 ");
  free_files (&f);

  f = make_files ();
  add_image (f.files[1], 2, 9, "again", ids, 2);
  f.files[1]->data[0] = 4;
  check_fault (
      &f, "images.bin record 4 (IMAGE_ID 2), IMAGE_ID: duplicate id 2");
  free_files (&f);

  f = make_files ();
  add_image (f.files[1], 77, 8, "a\nb", ids, 2);
  f.files[1]->data[0] = 4;
  check_fault (
      &f, "images.bin record 4 (IMAGE_ID 77), NAME: it contains a line");
  free_files (&f);

  f = make_files ();
  add_image (f.files[1], 77, 8, "lost", ids, 2);
  f.files[1]->data[0] = 4;
  check_fault (&f,
      "images.bin record 4 (IMAGE_ID 77), CAMERA_ID: cameras.bin has "
      "no camera 8");
  free_files (&f);

  f = make_files ();
  put_double (f.files[2], 16, NAN);
  check_fault (
      &f, "points3D.bin record 1 (POINT3D_ID 7000000000), X Y Z: a number");
  free_files (&f);

#define CHECK_POINT(id, track, words)                                          \
  f = make_files ();                                                           \
  add_point (f.files[2], id, track, 1);                                        \
  f.files[2]->data[0] = 3;                                                     \
  check_fault (&f, "points3D.bin record 3 (POINT3D_ID " #id "), " words);      \
  free_files (&f)
  CHECK_POINT (5, one, "POINT3D_ID: duplicate id 5");
  CHECK_POINT (6, one,
      "POINT2D_IDX of a track: feature 0 of image 30 occurs in "
      "a second track");
  CHECK_POINT (6, no_image, "IMAGE_ID of a track: images.bin has no image 77");
  CHECK_POINT (
      6, no_feature, "POINT2D_IDX of a track: image 30 has 3 features, not 3");
#undef CHECK_POINT

  f = make_files ();
  f.files[2]->len = 0;
  add_64 (f.files[2], 1);
  add_point (f.files[2], 6, other, 1);
  check_fault (&f,
      "points3D.bin record 1 (POINT3D_ID 6), POINT2D_IDX of a track: "
      "images.bin names another point, 7000000000, for feature 1 of "
      "image 2");
  free_files (&f);

  f = make_files ();
  add_rigs (&f, 1);
  f.files[4]->data[f.files[4]->len - 8] = 99;
  check_fault (&f,
      "frames.bin record 1 (FRAME_ID 1), DATA_ID: images.bin has no image 99");
  f.files[4]->len = 0;
  check_fault (&f, "rigs.bin exists without frames.bin");
  free_files (&f);
}

/* --- adjusting ------------------------------------------------------------------ */

#define N_IMAGES 4
#define N_POINTS 40

/* Images along x that look along z at points between 4 and 6, without errors; one point
 * lies behind two images, one behind all but one, and one has one observation. */
static BundleModel *
make_model (void)
{
  BundleModel *m = g_new0 (BundleModel, 1);

  m->binary = TRUE;
  m->n_cameras = 2;
  m->n_images = N_IMAGES + 1;
  m->n_points = N_POINTS + 3;
  m->cameras = g_new0 (BundleModelCamera, m->n_cameras);
  m->images = g_new0 (BundleModelImage, m->n_images);
  m->points = g_new0 (BundleModelPoint, m->n_points);
  m->features = g_new0 (BundleModelFeature, m->n_images * m->n_points);
  m->elements = g_new0 (BundleModelElement, m->n_images * m->n_points);
  for (guint i = 0; i < 2; i++)
    m->cameras[i] = (BundleModelCamera){ 7 + i, BUNDLE_LENS_OPENCV, 640, 480,
      { 500, 505, 320, 240, 0.02, 0.01, 1e-3, 2e-3 } };
  for (guint i = 0; i < m->n_images; i++) {
    BundleModelImage *image = &m->images[i];

    *image = (BundleModelImage){ .id = 20 + i,
      .camera = i % 2,
      .q = { 2, 0, 0, 0 },
      .t = { -0.5 * i, 0.1 * i, 0 },
      .name = g_strdup_printf ("%u.jpg", i),
      .first = m->n_features };
    image->n = i < N_IMAGES ? m->n_points : 0;
    m->n_features += image->n;
  }
  for (guint p = 0; p < m->n_points; p++) {
    BundleModelPoint *point = &m->points[p];

    *point = (BundleModelPoint){ .id = 100 + p,
      .error = -1,
      .x = { sin (p * 1.7), cos (p * 2.3), 5 + sin ((gdouble) p) },
      .first = m->n_elements,
      .n = p == N_POINTS + 2 ? 1 : N_IMAGES };
    for (guint i = 0; i < point->n; i++) {
      const BundleModelImage *image = &m->images[i];
      BundleModelFeature *feature = &m->features[image->first + p];
      BundleLens lens = { BUNDLE_LENS_OPENCV };

      memcpy (lens.parameters, m->cameras[0].parameters, 96);
      bundle_lens_image (&lens,
          (const gdouble[3]){ point->x[0] + image->t[0],
              -point->x[1] - image->t[1], -point->x[2] },
          feature->at);
      feature->point = point->id;
      m->elements[m->n_elements++] = (BundleModelElement){ i, p };
    }
  }
  for (guint i = 0; i < N_IMAGES; i++)
    for (guint p = N_POINTS + 2; i > 0 && p < m->n_points; p++)
      m->features[m->images[i].first + p].point = BUNDLE_MODEL_NO_POINT;
  for (guint i = 0; i < 3; i++) { /* beyond these points */
    if (i < 2)
      m->images[i].t[2] = -3;
    m->points[N_POINTS + 1].x[2] = 2;
  }
  m->points[N_POINTS].x[2] = 2;
  m->images[2].t[2] = 0;
  return m;
}

static const BundleModelSettings refine_all = { TRUE, TRUE, TRUE, TRUE, TRUE,
  FALSE };

static void
test_problem (void)
{
  BundleModel *m = make_model ();
  const gsize n = m->n_points;
  g_autoptr (BundleProblem) p = NULL;
  GError *error = NULL;
  BundleModelMap map;

  p = bundle_model_problem (m, &refine_all, &map, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (p->n_cameras, ==, N_IMAGES);
  g_assert_cmpuint (p->n_lenses, ==, 2);
  g_assert_cmpuint (map.n_idle, ==, 1);
  g_assert_cmpuint (map.n_short, ==, 1);
  g_assert_cmpuint (map.n_behind, ==, 4);
  g_assert_cmpuint (map.n_deleted, ==, 0);
  g_assert_cmpuint (p->n_points, ==, N_POINTS + 2);
  g_assert_cmpuint (p->n_observations, ==, N_IMAGES * (N_POINTS + 2) - 4);
  g_assert_cmpuint (m->n_points, ==, n);
  g_assert_cmpuint (m->points[N_POINTS].n, ==, 2);
  g_assert_true (m->features[N_POINTS].point == BUNDLE_MODEL_NO_POINT);
  bundle_model_map_clear (&map);
  bundle_model_free (m);

  m = make_model ();
  m->images[2].t[2] = -3;
  bundle_problem_free (p);
  p = bundle_model_problem (m, &refine_all, &map, &error);
  g_assert_cmpuint (map.n_behind, ==, 6);
  g_assert_cmpuint (map.n_deleted, ==, 2);
  g_assert_cmpuint (m->n_points, ==, n - 2);
  g_assert_true (m->features[m->images[3].first + N_POINTS].point
                 == BUNDLE_MODEL_NO_POINT);
  bundle_model_map_clear (&map);
  bundle_model_free (m);

  m = make_model ();
  bundle_problem_free (p);
  p = bundle_model_problem (m,
      &(BundleModelSettings){ TRUE, FALSE, FALSE, FALSE, FALSE, TRUE }, &map,
      &error);
  g_assert_cmpuint (map.n_behind, ==, 0);
  g_assert_cmpuint (p->n_observations, ==, N_IMAGES * (N_POINTS + 2));
  g_assert_cmpuint (p->lenses[0].constant, ==, 0xfc);
  g_assert_cmpuint (p->camera_constant[1], ==, 0x3f);
  g_assert_cmpuint (p->point_constant[1], ==, 1);
  bundle_model_map_clear (&map);
  bundle_model_free (m);
}

static void
test_adjust (void)
{
  g_autoptr (BundleModel) m = make_model ();
  g_autoptr (BundleProblem) p = NULL;
  const gdouble start[4] = { 2, 0, 0, 0 };
  BundleModelMap map;
  BundleSummary summary;
  BundleConfig config;
  GError *error = NULL;

  m->images[0].t[2] = m->images[1].t[2] = 0;
  for (guint i = 0; i < 2; i++)
    m->points[N_POINTS + i].x[2] = 5 + sin ((gdouble) (N_POINTS + i));
  m->cameras[0].parameters[0] *= 1.01;
  m->images[1].t[0] += 0.01;
  p = bundle_model_problem (m, &refine_all, &map, &error);
  g_assert_no_error (error);
  /* nothing changes, also not the length of a quaternion */
  bundle_model_update (m, p, &map, 1);
  g_assert_cmpmem (m->images[1].q, 32, start, 32);
  g_assert_cmpfloat (m->points[0].error, ==, -1);
  g_assert_false (m->images[1].moved);

  bundle_config_init (&config);
  g_assert_true (bundle_solve (p, &config, NULL, NULL, NULL, &summary, &error));
  g_assert_cmpfloat (summary.final_cost, <, 1e-6 * summary.initial_cost);
  bundle_summary_clear (&summary);
  bundle_model_update (m, p, &map, 1);
  g_assert_true (m->images[1].moved);
  g_assert_false (m->images[N_IMAGES].moved);
  g_assert_cmpfloat (m->points[0].error, >=, 0);
  g_assert_cmpfloat (m->points[0].error, <, 0.01);
  g_assert_cmpfloat (m->points[N_POINTS + 2].error, ==, -1);
  g_assert_cmpmem (m->cameras[0].parameters, 96, p->lenses[0].parameters, 96);
  bundle_model_map_clear (&map);
}

/* The first image stays, the second keeps a coordinate, and the cost is the same as in
 * the solver's frame. With constant points or poses nothing is moved. */
static void
test_gauge (void)
{
  g_autoptr (BundleModel) m = make_model ();
  g_autoptr (BundleProblem) p = NULL, again = NULL;
  BundleModelImage start[2];
  BundleModelMap map;
  BundleSummary summary;
  BundleConfig config;
  GError *error = NULL;
  const gdouble noise = 0.01;
  gdouble cost;

  for (guint i = 0; i < 2; i++) {
    m->images[i].t[2] = 0;
    m->points[N_POINTS + i].x[2] = 5;
  }
  for (guint i = 0; i < N_IMAGES; i++) {
    m->images[i].t[0] += noise * sin (7. * i);
    m->images[i].q[1] += noise * cos (9. * i);
  }
  memcpy (start, m->images, sizeof start);
  p = bundle_model_problem (m, &refine_all, &map, &error);
  g_assert_no_error (error);
  g_assert_true (map.gauge.held);
  g_assert_cmpuint (map.gauge.image[0], ==, 0);
  g_assert_cmpuint (map.gauge.image[1], ==, 1);
  bundle_config_init (&config);
  g_assert_true (bundle_solve (p, &config, NULL, NULL, NULL, &summary, &error));
  bundle_model_update (m, p, &map, 1);
  g_assert_cmpmem (m->images[0].q, 32, start[0].q, 32);
  g_assert_cmpmem (m->images[0].t, 24, start[0].t, 24);
  g_assert_cmpfloat (
      fabs (m->images[1].t[map.gauge.axis] - start[1].t[map.gauge.axis]), <,
      1e-14);
  bundle_model_map_clear (&map);
  config.max_iterations = 0;
  again = bundle_model_problem (m, &refine_all, &map, &error);
  cost = summary.final_cost;
  g_assert_true (
      bundle_solve (again, &config, NULL, NULL, NULL, &summary, &error));
  g_assert_cmpfloat (fabs (summary.final_cost - cost), <, 1e-12);
  bundle_model_map_clear (&map);
  bundle_problem_free (again);
  again = bundle_model_problem (m,
      &(BundleModelSettings){ TRUE, FALSE, TRUE, TRUE, FALSE }, &map, &error);
  g_assert_false (map.gauge.held);
  bundle_model_map_clear (&map);
}

/* --- models read and written by several threads ----------------------------------- */

#define MANY 24
#define FEATURES_OF_IMAGE 5000

/* Each point is seen by five images. */
static BundleModel *
make_large (void)
{
  BundleModel *m = g_new0 (BundleModel, 1);
  const gsize n = MANY * FEATURES_OF_IMAGE;

  m->n_cameras = 1;
  m->cameras = g_new0 (BundleModelCamera, 1);
  m->cameras[0] = (BundleModelCamera){ 1, BUNDLE_LENS_PINHOLE, 640, 480,
    { 500, 500, 320, 240 } };
  m->n_images = MANY;
  m->images = g_new0 (BundleModelImage, MANY);
  m->n_features = m->n_elements = n;
  m->features = g_new0 (BundleModelFeature, n);
  m->n_points = n / 5;
  m->points = g_new0 (BundleModelPoint, m->n_points);
  m->elements = g_new0 (BundleModelElement, n);
  for (guint i = 0; i < MANY; i++)
    m->images[i] = (BundleModelImage){ .id = 3 * i + 1,
      .q = { 1, 0.1 * i },
      .t = { 0, 1. / (i + 1), 2 },
      .name = g_strdup_printf ("%u.jpg", i),
      .first = (gsize) i * FEATURES_OF_IMAGE,
      .n = FEATURES_OF_IMAGE };
  for (gsize i = 0; i < n; i++) {
    const guint image = (guint) (i % MANY), feature = (guint) (i / MANY);
    const gsize at = m->images[image].first + feature;

    m->features[at].at[0] = sqrt ((gdouble) i);
    m->features[at].at[1] = (gdouble) i / 7;
    m->features[at].point = i / 5 + 1;
    m->elements[i] = (BundleModelElement){ image, feature };
  }
  for (gsize i = 0; i < m->n_points; i++)
    m->points[i] = (BundleModelPoint){ .id = i + 1,
      .x = { sin ((gdouble) i), 2, 3 },
      .error = 0.25,
      .first = 5 * i,
      .n = 5 };
  return m;
}

static void
check_large (gboolean binary)
{
  g_autoptr (BundleModel) m = make_large ();
  GBytes *files[BUNDLE_MODEL_FILES], *again[BUNDLE_MODEL_FILES];
  BundleModelFile parts[BUNDLE_MODEL_FILES] = { 0 };
  GError *error = NULL;
  BundleModel *read;

  m->binary = binary;
  g_assert_true (bundle_model_format (m, binary, files, &error));
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++)
    parts[i].data = g_bytes_get_data (files[i], &parts[i].size);
  read = bundle_model_parse (parts, binary, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (read->n_lost + read->n_unnamed, ==, 0);
  g_assert_true (bundle_model_format (read, binary, again, &error));
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++) {
    g_assert_true (g_bytes_equal (files[i], again[i]));
    g_bytes_unref (again[i]);
    g_bytes_unref (files[i]);
  }
  bundle_model_free (read);

  /* of two faults the first one is named, whatever thread finds it */
  m->elements[5 * 20000 + 1].feature = 1 << 20;
  m->elements[5 * 1000 + 3].image = MANY - 1;
  m->elements[5 * 1000 + 3].feature = FEATURES_OF_IMAGE;
  g_assert_true (bundle_model_format (m, binary, files, &error));
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++)
    parts[i].data = g_bytes_get_data (files[i], &parts[i].size);
  g_assert_null (bundle_model_parse (parts, binary, &error));
  g_assert_nonnull (
      strstr (error->message, "image 70 has 5000 features, not 5000"));
  g_assert_nonnull (
      strstr (error->message, binary ? "record 1001 " : "line 1001,"));
  g_clear_error (&error);
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++)
    g_bytes_unref (files[i]);
}

static void
test_large (void)
{
  check_large (TRUE);
  check_large (FALSE);
}

/* The error of the model after it was written */
static void
check_large_fault (
    const BundleModel *m, gboolean binary, const gchar *const words[2])
{
  GBytes *files[BUNDLE_MODEL_FILES];
  BundleModelFile parts[BUNDLE_MODEL_FILES] = { 0 };
  GError *error = NULL;

  g_assert_true (bundle_model_format (m, binary, files, &error));
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++)
    parts[i].data = g_bytes_get_data (files[i], &parts[i].size);
  g_assert_null (bundle_model_parse (parts, binary, &error));
  for (guint i = 0; i < 2; i++)
    if (!strstr (error->message, words[i]))
      g_error ("\"%s\" is not in \"%s\"", words[i], error->message);
  g_error_free (error);
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++)
    g_bytes_unref (files[i]);
}

/* Ids of points and features of tracks that occur twice, in the records of different
 * threads: the second one is named. Ids may have any order and size. */
static void
test_large_twice (void)
{
  g_autoptr (BundleModel) m = make_large ();

  for (guint binary = 0; binary < 2; binary++) {
    for (guint order = 0; order < 3; order++) {
      const guint64 factor = order == 2 ? 1000000007 : 1;

      for (gsize i = 0; i < m->n_points; i++)
        m->points[i].id = (order == 0 ? i + 1 : m->n_points - i) * factor;
      for (gsize i = 0; i < m->n_features; i++)
        m->features[i].point = BUNDLE_MODEL_NO_POINT;
      m->points[22000].id = m->points[17].id;
      check_large_fault (m, binary != 0,
          (const gchar *[]){
              binary ? "record 22001 " : "line 22001,", "duplicate id" });
    }
    m->points[22000].id = 1;
    m->points[m->n_points - 1].id = 2;
    m->elements[5 * 21000 + 2] = m->elements[5 * 3 + 1];
    m->elements[5 * 21001 + 2] = m->elements[5 * 3 + 1];
    check_large_fault (m, binary != 0,
        (const gchar *[]){ binary ? "record 21001 " : "line 21001,",
            "feature 0 of image 49 occurs in a second track" });
    m->elements[5 * 21000 + 2] = (BundleModelElement){ 9, 4376 };
    m->elements[5 * 21001 + 2] = (BundleModelElement){ 14, 4376 };
  }
}

#define SMALL_IMAGES 20000

/* Images of three features or none, with long names: parts of the texts begin between the
 * two lines of an image. */
static BundleModel *
make_small_images (void)
{
  BundleModel *m = g_new0 (BundleModel, 1);

  m->n_cameras = 1;
  m->cameras = g_new0 (BundleModelCamera, 1);
  m->cameras[0] = (BundleModelCamera){ 1, BUNDLE_LENS_PINHOLE, 640, 480,
    { 500, 500, 320, 240 } };
  m->n_images = SMALL_IMAGES;
  m->images = g_new0 (BundleModelImage, SMALL_IMAGES);
  m->features = g_new0 (BundleModelFeature, 3 * SMALL_IMAGES);
  m->n_points = SMALL_IMAGES;
  m->points = g_new0 (BundleModelPoint, SMALL_IMAGES);
  m->elements = g_new0 (BundleModelElement, 3 * SMALL_IMAGES);
  for (guint i = 0; i < SMALL_IMAGES; i++) {
    const guint n = i % 5 == 0 ? 0 : 3;

    m->images[i] = (BundleModelImage){ .id = i + 1,
      .q = { 1, sqrt ((gdouble) i) },
      .t = { 0, 1. / (i + 1), 2 },
      .name = g_strdup_printf ("%0200u.jpg", i),
      .first = m->n_features,
      .n = n };
    m->points[i] = (BundleModelPoint){ .id = i + 1,
      .x = { sin ((gdouble) i), cos ((gdouble) i), tan ((gdouble) i) },
      .first = m->n_elements,
      .n = n };
    for (guint k = 0; k < n; k++) {
      m->features[m->n_features++] =
          (BundleModelFeature){ { sqrt ((gdouble) i + k), (gdouble) i / 7 },
            i + 1 };
      m->elements[m->n_elements++] = (BundleModelElement){ i, k };
    }
  }
  return m;
}

/* The text with comments and empty lines before some of its records of @lines */
static GString *
add_comments (GBytes *text, guint lines)
{
  static const gchar *const added[] = { "", "# 1 2 3\n", "", "\n \r\n", "",
    " # x\n\n", "" };
  GString *result = g_string_new (NULL);
  gsize n;
  const gchar *at = g_bytes_get_data (text, &n), *end = at + n;

  for (guint i = 0; at < end; i++) {
    const gchar *next = (const gchar *) memchr (at, '\n', end - at) + 1;

    if (i % lines == 0)
      g_string_append (result, added[i / lines % G_N_ELEMENTS (added)]);
    g_string_append_len (result, at, next - at);
    at = next;
  }
  return result;
}

static void
test_parts (void)
{
  g_autoptr (BundleModel) m = make_small_images (), read = NULL;
  GBytes *files[BUNDLE_MODEL_FILES], *again[BUNDLE_MODEL_FILES];
  BundleModelFile parts[BUNDLE_MODEL_FILES] = { 0 };
  GString *texts[BUNDLE_MODEL_POINTS + 1];
  GError *error = NULL;

  g_assert_true (bundle_model_format (m, FALSE, files, &error));
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++) {
    texts[i] = add_comments (files[i], i == BUNDLE_MODEL_IMAGES ? 2 : 1);
    parts[i] = (BundleModelFile){ texts[i]->str, texts[i]->len };
  }
  read = bundle_model_parse (parts, FALSE, &error);
  g_assert_no_error (error);
  g_assert_true (bundle_model_format (read, FALSE, again, &error));
  for (guint i = 0; i <= BUNDLE_MODEL_POINTS; i++) {
    g_assert_true (g_bytes_equal (files[i], again[i]));
    g_bytes_unref (again[i]);
    g_bytes_unref (files[i]);
    g_string_free (texts[i], TRUE);
  }
}

static void
check_no_problem (
    BundleModel *m, const BundleModelSettings *settings, const gchar *words)
{
  GError *error = NULL;
  BundleModelMap map;

  g_assert_null (bundle_model_problem (m, settings, &map, &error));
  if (!strstr (error->message, words))
    g_error ("\"%s\" is not in \"%s\"", words, error->message);
  g_error_free (error);
}

static void
test_no_problem (void)
{
  g_autoptr (BundleModel) m = make_model ();

  m->cameras[1].parameters[1] = 0;
  check_no_problem (m, &refine_all,
      "cameras.bin record 2 (CAMERA_ID 8), focal "
      "length: 0 is not above 0");
  m->cameras[1].parameters[1] = 500;
  m->cameras[1].parameters[3] = -1e5;
  check_no_problem (m, &refine_all,
      "cameras.bin record 2 (CAMERA_ID 8), principal "
      "point: -100000 is far outside the picture");
  m->cameras[1].parameters[3] = 240;
  for (guint i = 0; i < m->n_points; i++)
    m->points[i].x[2] = -1;
  check_no_problem (m, &refine_all, "no point of the model has 2 observations");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bundlemodel/contents", test_contents);
  g_test_add_func ("/bundlemodel/numbers", test_numbers);
  g_test_add_func ("/bundlemodel/binary-folder", test_binary_folder);
  g_test_add_func ("/bundlemodel/text-folder", test_text_folder);
  g_test_add_func ("/bundlemodel/frames", test_frames);
  g_test_add_func ("/bundlemodel/truncated", test_truncated);
  g_test_add_func ("/bundlemodel/counts", test_counts);
  g_test_add_func ("/bundlemodel/faults", test_faults);
  g_test_add_func ("/bundlemodel/problem", test_problem);
  g_test_add_func ("/bundlemodel/adjust", test_adjust);
  g_test_add_func ("/bundlemodel/large", test_large);
  g_test_add_func ("/bundlemodel/large/twice", test_large_twice);
  g_test_add_func ("/bundlemodel/parts", test_parts);
  g_test_add_func ("/bundlemodel/gauge", test_gauge);
  g_test_add_func ("/bundlemodel/no-problem", test_no_problem);
  return g_test_run ();
}
