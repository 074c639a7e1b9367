/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* pbfhdf5src on small files written by libhdf5 in the layout of RAISE-LPBF. */
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <hdf5.h>
#include "tests/check/common/busmessages.h"
#include "cuda/camera/machinesignal.h"

#define FRAMES 25 /* of a layer */
#define WIDTH 30
#define HEIGHT 20
#define FRAMES_PER_LINE 10

static gchar *folder, *path;

static void
make_folder (void)
{
  folder = g_dir_make_tmp ("pbfhdf5-XXXXXX", NULL);
  path = g_build_filename (folder, "a.hdf5", NULL);
}

static void
remove_folder (void)
{
  g_unlink (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
}

/* --- files --------------------------------------------------------------- */

static guint8
pixel_of (guint layer, guint frame, guint place)
{
  return (guint8) (layer * 50 + frame * 3 + place);
}

static void
add_set (hid_t group, const gchar *name, hid_t type, gint rank,
    const hsize_t *dims, const hsize_t *chunk, const void *values)
{
  hid_t space = H5Screate_simple (rank, dims, NULL);
  hid_t list = H5Pcreate (H5P_DATASET_CREATE), set;

  if (chunk != NULL) {
    H5Pset_chunk (list, rank, chunk);
    H5Pset_deflate (list, 6);
  }
  set = H5Dcreate2 (group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  fail_unless (set >= 0);
  fail_unless (
      H5Dwrite (set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose (set);
  H5Pclose (list);
  H5Sclose (space);
}

/* A layer whose pixels encode its number. @chunk: (nullable): chunk size of
 * its frames */
static void
add_layer (hid_t parent, const gchar *name, guint number, guint width,
    const hsize_t *chunk, gboolean with_params)
{
  hid_t group =
      H5Gcreate2 (parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  hsize_t frames[] = { FRAMES, HEIGHT, width }, lines[] = { 3, 2 };
  gsize size = HEIGHT * width;
  guint8 *pixels = g_malloc (FRAMES * size);
  gdouble params[] = { 900, 215, 1000.5, 180, 0, -1 };
  gint32 index[FRAMES];

  for (guint f = 0; f < FRAMES; f++) {
    index[f] = (gint32) (f / FRAMES_PER_LINE);
    for (guint i = 0; i < size; i++)
      pixels[f * size + i] = pixel_of (number, f, i);
  }
  add_set (group, "frame", H5T_NATIVE_UINT8, 3, frames, chunk, pixels);
  add_set (group, "scan_line_index", H5T_NATIVE_INT32, 1, frames, NULL, index);
  if (with_params)
    add_set (group, "laser_params", H5T_NATIVE_DOUBLE, 2, lines, NULL, params);
  g_free (pixels);
  H5Gclose (group);
}

static hid_t
begin_file (void)
{
  hid_t file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);

  fail_unless (file >= 0);
  return file;
}

static void
write_objects (const hsize_t *chunk, gboolean with_params)
{
  static const gchar *const objects[] = { "C1", "C2" };
  hid_t file = begin_file ();

  for (guint i = 0; i < 2; i++) {
    hid_t object =
        H5Gcreate2 (file, objects[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    add_layer (object, "L0", 2 * i, WIDTH, chunk, with_params);
    add_layer (object, "L1", 2 * i + 1, WIDTH, chunk, with_params);
    H5Gclose (object);
  }
  H5Fclose (file);
}

/* --- output -------------------------------------------------------------- */

static GstHarness *
play (const gchar *settings)
{
  gchar *line = g_strdup_printf ("pbfhdf5src location=%s %s", path, settings);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_play (h);
  g_free (line);
  return h;
}

static void
expect_pixels (GstBuffer *buffer, guint layer, guint frame, guint width)
{
  GstVideoInfo info;
  GstVideoFrame video;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, width, HEIGHT);
  fail_unless (gst_video_frame_map (&video, &info, buffer, GST_MAP_READ));
  for (guint y = 0; y < HEIGHT; y++) {
    guint8 row[WIDTH + 2];

    for (guint x = 0; x < width; x++)
      row[x] = pixel_of (layer, frame, y * width + x);
    fail_unless (memcmp (row,
                     (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&video, 0)
                         + y * GST_VIDEO_FRAME_PLANE_STRIDE (&video, 0),
                     width)
                 == 0);
  }
  gst_video_frame_unmap (&video);
}

static void
expect_signal (GstBuffer *buffer, guint layer_in_object, guint f)
{
  const PbfSignal *s = &gst_buffer_get_pbf_signal_meta (buffer)->signal;
  guint flags = PBF_SIGNAL_LASER_ON;

  if (f == 0)
    flags |= PBF_SIGNAL_LAYER_START;
  if (f % FRAMES_PER_LINE == 0)
    flags |= PBF_SIGNAL_VECTOR_START;
  fail_unless (pbf_signal_is_intact (s));
  fail_unless_equals_int (s->layer, layer_in_object);
  fail_unless_equals_int (s->vector_id, f / FRAMES_PER_LINE);
  fail_unless_equals_int (s->flags, flags);
  fail_unless_equals_uint64 (s->t_ns, GST_BUFFER_PTS (buffer));
}

static void
expect_params (GstBuffer *buffer, guint line)
{
  static const guint speed[] = { 900000, 1000500, 0 };
  static const guint power[] = { 215000, 180000, 0 }; /* -1 is none */
  const PbfSignal *s = &gst_buffer_get_pbf_signal_meta (buffer)->signal;

  fail_unless_equals_int (s->speed_um_s, speed[line]);
  fail_unless_equals_int (s->power_mW, power[line]);
}

static const hsize_t chunks[][3] = {
  { FRAMES, HEIGHT, WIDTH }, { 1, HEIGHT, WIDTH },
  { 7, 9, 8 }, /* chosen by h5py: not related to frames */
};

GST_START_TEST (test_objects)
{
  const hsize_t *chunk =
      __i__ < (gint) G_N_ELEMENTS (chunks) ? chunks[__i__] : NULL;
  GstHarness *h;

  write_objects (chunk, TRUE);
  h = play ("");
  for (guint n = 0; n < 4 * FRAMES; n++) {
    GstBuffer *buffer = gst_harness_pull (h);
    guint layer = n / FRAMES, f = n % FRAMES;

    fail_unless (buffer != NULL);
    expect_pixels (buffer, layer, f, WIDTH);
    expect_signal (buffer, layer % 2, f);
    expect_params (buffer, f / FRAMES_PER_LINE);
    fail_unless_equals_int (
        gst_buffer_get_pbf_signal_meta (buffer)->signal.frame_counter, n);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * 50000);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 50000);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), n);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_group)
{
  static const struct {
    const gchar *group;
    guint first, n;
  } cases[] = { { "C2", 2, 2 }, { "/C1/L1", 1, 1 }, { "C1", 0, 2 } };

  write_objects (NULL, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *line = g_strdup_printf (
        "group=%s num-buffers=%u", cases[i].group, cases[i].n * FRAMES);
    GstHarness *h = play (line);

    for (guint n = 0; n < cases[i].n * FRAMES; n++) {
      GstBuffer *buffer = gst_harness_pull (h);

      expect_pixels (buffer, cases[i].first + n / FRAMES, n % FRAMES, WIDTH);
      gst_buffer_unref (buffer);
    }
    gst_harness_teardown (h);
    g_free (line);
  }
}
GST_END_TEST;

/* Files of one object have their layers at the root. Their frames differ in
 * size. */
GST_START_TEST (test_layers_at_root)
{
  hid_t file = begin_file ();
  GstHarness *h;

  add_layer (file, "0001", 0, WIDTH, chunks[0], FALSE);
  add_layer (file, "0002", 1, WIDTH + 2, NULL, FALSE);
  H5Fclose (file);
  h = play ("");
  for (guint n = 0; n < 2 * FRAMES; n++) {
    guint layer = n / FRAMES, f = n % FRAMES;
    GstBuffer *buffer = gst_harness_pull (h);

    expect_pixels (buffer, layer, f, WIDTH + 2 * layer);
    expect_signal (buffer, layer, f);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* The framerate is the data set's unless a caps filter sets another one. */
GST_START_TEST (test_framerate)
{
  GstHarness *h;
  GstBuffer *buffer;

  write_objects (NULL, FALSE);
  h = play ("! capsfilter caps=video/x-raw,framerate=1000/1");
  gst_buffer_unref (gst_harness_pull (h));
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), GST_MSECOND);
  expect_signal (buffer, 0, 1);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_monitor)
{
  gchar *line;

  write_objects (chunks[0], TRUE);
  line =
      g_strdup_printf ("pbfhdf5src location=%s ! videobox left=-10 right=-10 "
                       "top=-20 bottom=-20 ! cudapbfmonitor ! fakesink",
          path);
  bus_expect_first (line, GST_MESSAGE_EOS, NULL);
  g_free (line);
}
GST_END_TEST;

/* --- faults -------------------------------------------------------------- */

static void
expect_error (const gchar *settings, const gchar *words)
{
  gchar *line =
      g_strdup_printf ("pbfhdf5src location=%s %s ! fakesink", path, settings);

  bus_expect_first (line, GST_MESSAGE_ERROR, words);
  g_free (line);
}

GST_START_TEST (test_refused_files)
{
  gchar *bytes;
  gsize size;

  bus_expect_first ("pbfhdf5src ! fakesink", GST_MESSAGE_ERROR, "Set location");
  expect_error ("", "no HDF5 file: ");
  fail_unless (g_file_set_contents (path, "no HDF5", -1, NULL));
  expect_error ("", "no HDF5 file: ");
  write_objects (chunks[0], TRUE);
  expect_error ("group=C3", "no object or layer \"C3\"");
  expect_error ("group=C", "no object or layer \"C\"");
  expect_error ("! video/x-raw,width=64", "holds GRAY8 of 30x20 pixels");
  fail_unless (g_file_get_contents (path, &bytes, &size, NULL));
  fail_unless (g_file_set_contents (path, bytes, size / 2, NULL));
  expect_error ("", "truncated file");
  g_free (bytes);
}
GST_END_TEST;

/* Flips bits of compressed frames. */
GST_START_TEST (test_damaged)
{
  hsize_t offset[3], chunk_bytes;
  hid_t file, set, space;
  haddr_t place;
  unsigned mask;
  gchar *bytes;
  gsize size;

  write_objects (chunks[0], TRUE);
  file = H5Fopen (path, H5F_ACC_RDONLY, H5P_DEFAULT);
  set = H5Dopen2 (file, "C1/L1/frame", H5P_DEFAULT);
  space = H5Dget_space (set);
  fail_unless (
      H5Dget_chunk_info (set, space, 0, offset, &mask, &place, &chunk_bytes)
      >= 0);
  H5Sclose (space);
  H5Dclose (set);
  H5Fclose (file);
  fail_unless (g_file_get_contents (path, &bytes, &size, NULL));
  memset (bytes + place, 0xff, 16);
  fail_unless (g_file_set_contents (path, bytes, size, NULL));
  g_free (bytes);
  expect_error ("", "cannot read frames of C1/L1: ");
}
GST_END_TEST;

typedef enum {
  NO_FRAME,
  FLOATS,
  FLAT,
  HUGE_SIDE,
  NO_INDEX,
  SHORT_INDEX,
  OTHER_FILE,
  ONE_COLUMN,
  NO_FRAMES
} Fault;

static const struct {
  Fault fault;
  const gchar *words;
} faults[] = {
  { NO_FRAME, "no group /object/layer has a data set" },
  { FLOATS, "L/frame does not hold integers of 8 bits" },
  { FLAT, "L/frame does not have three dimensions" },
  { HUGE_SIDE, "L/frame does not have frames of 1x1 to 4096x4096" },
  { NO_INDEX, "cannot open L/scan_line_index: " },
  { SHORT_INDEX, "L/scan_line_index does not hold a number for each frame" },
  { OTHER_FILE, "L/frame has its values in another file" },
  { ONE_COLUMN, "L/laser_params is not a table" },
  { NO_FRAMES, "it has no frames" },
};

GST_START_TEST (test_other_layouts)
{
  Fault fault = faults[__i__].fault;
  hsize_t dims[] = { fault == NO_FRAMES ? 0 : 2, 4,
    fault == HUGE_SIDE ? 5000 : 4 };
  hsize_t lines[] = { 2, 1 };
  gint32 *zeros = g_malloc0 (2 * 4 * 5000 * 4);
  hid_t file = begin_file (), group;

  group = H5Gcreate2 (file, "L", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (fault == OTHER_FILE) {
    hid_t space = H5Screate_simple (3, dims, NULL);
    hid_t list = H5Pcreate (H5P_DATASET_CREATE);

    H5Pset_external (list, "/etc/hostname", 0, 32);
    H5Dclose (H5Dcreate2 (group, "frame", H5T_NATIVE_UINT8, space, H5P_DEFAULT,
        list, H5P_DEFAULT));
    H5Pclose (list);
    H5Sclose (space);
  } else if (fault != NO_FRAME) {
    add_set (group, "frame",
        fault == FLOATS ? H5T_NATIVE_FLOAT : H5T_NATIVE_UINT8,
        fault == FLAT ? 2 : 3, dims, NULL, zeros);
  }
  if (fault == SHORT_INDEX)
    add_set (
        group, "scan_line_index", H5T_NATIVE_INT32, 1, lines + 1, NULL, zeros);
  else if (fault != NO_INDEX)
    add_set (group, "scan_line_index", H5T_NATIVE_INT32, 1, dims, NULL, zeros);
  if (fault == ONE_COLUMN)
    add_set (group, "laser_params", H5T_NATIVE_FLOAT, 2, lines, NULL, zeros);
  H5Gclose (group);
  H5Fclose (file);
  expect_error ("", faults[__i__].words);
  g_free (zeros);
}
GST_END_TEST;

static Suite *
pbfhdf5_suite (void)
{
  Suite *s = suite_create ("pbfhdf5");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_loop_test (tc, test_objects, 0, G_N_ELEMENTS (chunks) + 1);
  tcase_add_test (tc, test_group);
  tcase_add_test (tc, test_layers_at_root);
  tcase_add_test (tc, test_framerate);
  tcase_add_test (tc, test_monitor);
  tcase_add_test (tc, test_refused_files);
  tcase_add_test (tc, test_damaged);
  tcase_add_loop_test (tc, test_other_layouts, 0, G_N_ELEMENTS (faults));
  return s;
}

GST_CHECK_MAIN (pbfhdf5);
