/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* pbfhdf5src on small files written by libhdf5 in the layout of RAISE-LPBF. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <hdf5.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "tests/check/common/busmessages.h"
#include "cuda/records/machinesignal.h"

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
  gdouble params[] = { 900, 215, 1000.5, 180, 0, 0 };
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
  const CvisPbfSignal *s =
      &gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal;
  guint flags = CVIS_PBF_SIGNAL_LASER_ON;

  if (f == 0)
    flags |= CVIS_PBF_SIGNAL_LAYER_START;
  if (f % FRAMES_PER_LINE == 0)
    flags |= CVIS_PBF_SIGNAL_VECTOR_START;
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
  static const guint power[] = { 215000, 180000, 0 };
  const CvisPbfSignal *s =
      &gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal;

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
        gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal.frame_counter, n);
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
                       "top=-20 bottom=-20 ! cudapbfmonitor "
                       "position-source=centroid ! fakesink",
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
  expect_error ("", "\": No such file or directory. Check");
  fail_unless (g_file_set_contents (path, "no HDF5", -1, NULL));
  expect_error ("", "it is no HDF5 file, or a damaged one: file signature");
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

/* --- names and links ------------------------------------------------------- */

/* Plays to the end. Returns: texts of the warnings, one a line */
static gchar *
play_to_end (const gchar *settings, guint *frames)
{
  gchar *line = g_strdup_printf (
      "pbfhdf5src location=%s %s ! fakesink name=x signal-handoffs=true", path,
      settings);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GString *warnings = g_string_new (NULL);
  gboolean more = TRUE;
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "x");
  GstStructure *stats;
  guint64 rendered = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (more) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND,
        GST_MESSAGE_WARNING | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    GError *error = NULL;

    fail_unless (message != NULL);
    fail_if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
    more = GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING;
    if (more) {
      gst_message_parse_warning (message, &error, NULL);
      g_string_append_printf (warnings, "%s\n", error->message);
      g_error_free (error);
    }
    gst_message_unref (message);
  }
  g_object_get (sink, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "rendered", &rendered));
  *frames = (guint) rendered;
  gst_structure_free (stats);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (line);
  return g_string_free (warnings, FALSE);
}

/* Layers 1 to 12 are read in the order of their numbers, and their records and a
 * group have these numbers. */
GST_START_TEST (test_natural_order)
{
  hid_t file = begin_file ();
  hid_t object = H5Gcreate2 (file, "C", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  GstHarness *h;

  for (guint i = 0; i < 12; i++) {
    gchar *name = g_strdup_printf ("%u", i + 1);

    add_layer (object, name, i, WIDTH, NULL, TRUE);
    g_free (name);
  }
  H5Gclose (object);
  H5Fclose (file);
  h = play ("");
  for (guint n = 0; n < 12 * FRAMES; n++) {
    GstBuffer *buffer = gst_harness_pull (h);

    expect_pixels (buffer, n / FRAMES, n % FRAMES, WIDTH);
    expect_signal (buffer, n / FRAMES, n % FRAMES);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  h = play ("group=C/10");
  for (guint n = 0; n < FRAMES; n++) {
    GstBuffer *buffer = gst_harness_pull (h);

    expect_pixels (buffer, 9, n, WIDTH);
    expect_signal (buffer, 9, n);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A soft link to a layer elsewhere is a layer; a second name of a layer is not read
 * again; a link that leads to nothing is counted. */
GST_START_TEST (test_soft_links)
{
  hid_t file = begin_file (), raw, object;
  gchar *warnings;
  GstHarness *h;
  guint n;

  raw = H5Gcreate2 (file, "store", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose (H5Gcreate2 (raw, "raw", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Gclose (raw);
  raw = H5Gopen2 (file, "store/raw", H5P_DEFAULT);
  add_layer (raw, "second", 1, WIDTH, NULL, TRUE);
  H5Gclose (raw);
  object = H5Gcreate2 (file, "C", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  add_layer (object, "L1", 0, WIDTH, NULL, TRUE);
  H5Lcreate_soft ("/store/raw/second", object, "L2", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft ("L1", object, "A", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose (object);
  H5Fclose (file);
  h = play ("");
  for (n = 0; n < 2 * FRAMES; n++) {
    GstBuffer *buffer = gst_harness_pull (h);

    expect_pixels (buffer, n / FRAMES, n % FRAMES, WIDTH);
    expect_signal (buffer, n / FRAMES, n % FRAMES);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  warnings = play_to_end ("", &n);
  fail_unless_equals_int (n, 2 * FRAMES);
  fail_unless_equals_string (warnings, "");
  g_free (warnings);

  file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);
  H5Lcreate_soft ("/nowhere", file, "C/L3", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft ("/nowhere", file, "C/L4", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external ("other.h5", "/L", file, "C/L5", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose (
      H5Gcreate2 (file, "C/notes", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fclose (file);
  warnings = play_to_end ("", &n);
  fail_unless_equals_int (n, 2 * FRAMES);
  fail_unless (strchr (warnings, '\n')[1] == '\0', "not one: %s", warnings);
  fail_unless (strstr (warnings, "not followed: 1 (first: C/L5)") != NULL);
  fail_unless (strstr (warnings, "to nothing: 2 (first: C/L3)") != NULL);
  fail_unless (strstr (warnings, "set frame: 1 (first: C/notes)") != NULL);
  g_free (warnings);
}
GST_END_TEST;

GST_START_TEST (test_external_links)
{
  hid_t file = begin_file (), object;

  object = H5Gcreate2 (file, "C", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external ("other.h5", "/L", object, "L1", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose (file);
  expect_error ("", "links to other files: 1 (first: C/L1). Read those files");
  file = H5Fopen (path, H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete (object, "L1", H5P_DEFAULT);
  H5Gclose (object);
  H5Gclose (H5Gcreate2 (file, "C/L", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Lcreate_external (
      "other.h5", "/f", file, "C/L/frame", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose (file);
  expect_error ("", "C/L/frame is a link to another file");
}
GST_END_TEST;

/* --- values ---------------------------------------------------------------- */

/* Writes one layer L with pixels and indices of the types given. */
static void
write_values (
    hid_t pixel_type, gint pixel, hid_t index_type, const gdouble *index)
{
  const hsize_t dims[] = { 4, 4, 4 };
  hid_t file = begin_file (), group, set, space;
  gint8 pixels[64];

  group = H5Gcreate2 (file, "L", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  memset (pixels, 1, sizeof pixels);
  pixels[2 * 16 + 5] = (gint8) pixel;
  add_set (group, "frame", pixel_type, 3, dims, NULL, pixels);
  space = H5Screate_simple (1, dims, NULL);
  set = H5Dcreate2 (group, "scan_line_index", index_type, space, H5P_DEFAULT,
      H5P_DEFAULT, H5P_DEFAULT);
  fail_unless (
      H5Dwrite (set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, index)
      >= 0);
  H5Dclose (set);
  H5Sclose (space);
  H5Gclose (group);
  H5Fclose (file);
}

GST_START_TEST (test_values_that_cannot_be)
{
  static const struct {
    gint pixel;
    gdouble line;
    const gchar *words;
  } cases[] = {
    { -3, 0, "L/frame: row 2 has the negative pixel -3" },
    { 1, 0.5, "L/scan_line_index: row 3 is 0.5" },
    { 1, -0.5, "L/scan_line_index: row 3 is -0.5" },
    { 1, NAN, "L/scan_line_index: row 3 is nan" },
    { 1, -INFINITY, "L/scan_line_index: row 3 is -inf" },
    { 1, 4294967296., "L/scan_line_index: row 3 is 4294967296" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const gdouble index[] = { 0, 0, 1, cases[i].line };

    write_values (H5T_NATIVE_INT8, cases[i].pixel, H5T_NATIVE_DOUBLE, index);
    expect_error ("", cases[i].words);
  }
}
GST_END_TEST;

/* Integers of another byte order and size (h5py issue 1738), and int8 pixels that
 * are not negative. */
GST_START_TEST (test_big_endian)
{
  const gdouble index[] = { 4294967295., 66306, -1, 16777216 };
  const guint lines[] = { G_MAXUINT32, 66306, 0, 16777216 };
  const hid_t types[] = { H5T_STD_I64BE, H5T_IEEE_F64BE, H5T_STD_I64LE };

  for (guint k = 0; k < G_N_ELEMENTS (types); k++) {
    GstHarness *h;

    write_values (H5T_NATIVE_INT8, 127, types[k], index);
    h = play ("");
    for (guint i = 0; i < 4; i++) {
      GstBuffer *buffer = gst_harness_pull (h);
      const CvisPbfSignal *s =
          &gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal;

      fail_unless_equals_uint64 (s->vector_id, lines[i]);
      fail_unless_equals_int (
          (s->flags & CVIS_PBF_SIGNAL_LASER_ON) != 0, index[i] >= 0);
      gst_buffer_unref (buffer);
    }
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

/* Layers without frames are passed over (h5py issue 281), frames that were never
 * written and parameters that are missing are counted: one warning. */
GST_START_TEST (test_missing_values)
{
  const hsize_t dims[] = { 0, 4, 4 }, some[] = { 10, 4, 4 };
  const hsize_t chunk[] = { 2, 2, 4 }, lines[] = { 2, 2 };
  const gint32 index[] = { -1, 0, 0, 0, 1, 1, 1, 2, 2, 2 };
  const gdouble params[] = { 1, -1, NAN, 5e6 };
  hid_t file = begin_file (), group, space, list;
  gchar *warnings;
  guint n;

  group = H5Gcreate2 (file, "1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  add_set (group, "frame", H5T_NATIVE_UINT8, 3, dims, NULL, "");
  H5Gclose (group);
  group = H5Gcreate2 (file, "2", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  space = H5Screate_simple (3, some, NULL);
  list = H5Pcreate (H5P_DATASET_CREATE);
  H5Pset_chunk (list, 3, chunk);
  H5Dclose (H5Dcreate2 (
      group, "frame", H5T_NATIVE_UINT8, space, H5P_DEFAULT, list, H5P_DEFAULT));
  H5Pclose (list);
  H5Sclose (space);
  add_set (group, "scan_line_index", H5T_NATIVE_INT32, 1, some, NULL, index);
  add_set (group, "laser_params", H5T_NATIVE_DOUBLE, 2, lines, NULL, params);
  H5Gclose (group);
  H5Fclose (file);
  warnings = play_to_end ("", &n);
  fail_unless_equals_int (n, 10);
  fail_unless (strchr (warnings, '\n')[1] == '\0', "not one: %s", warnings);
  fail_unless (strstr (warnings, "without frames: 1 (first: 1)") != NULL);
  fail_unless (
      strstr (warnings, "never written and hold the fill value: 10 ("));
  fail_unless (strstr (warnings, "speed and power are 0: 3 (") != NULL);
  fail_unless (strstr (warnings, "replaced by 0: 3 (") != NULL);
  g_free (warnings);
}
GST_END_TEST;

/* --- libhdf5 --------------------------------------------------------------- */

static size_t
copy_chunk (unsigned flags, size_t n_values, const unsigned values[],
    size_t bytes, size_t *size, void **buffer)
{
  return bytes;
}

/* A file of a filter that this libhdf5 does not have. */
GST_START_TEST (test_missing_filter)
{
  const H5Z_class2_t filter = { H5Z_CLASS_T_VERS, 32008, 1, 1, "b", NULL, NULL,
    copy_chunk };
  const hsize_t dims[] = { 2, 4, 4 };
  hid_t file = begin_file (), group, list, space, set;
  const gint32 zeros[32] = { 0 };

  fail_unless (H5Zregister (&filter) >= 0);
  group = H5Gcreate2 (file, "L", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  list = H5Pcreate (H5P_DATASET_CREATE);
  H5Pset_chunk (list, 3, dims);
  H5Pset_filter (list, 32008, H5Z_FLAG_OPTIONAL, 0, NULL);
  space = H5Screate_simple (3, dims, NULL);
  set = H5Dcreate2 (
      group, "frame", H5T_NATIVE_UINT8, space, H5P_DEFAULT, list, H5P_DEFAULT);
  H5Dwrite (set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros);
  H5Dclose (set);
  H5Sclose (space);
  H5Pclose (list);
  add_set (group, "scan_line_index", H5T_NATIVE_INT32, 1, dims, NULL, zeros);
  H5Gclose (group);
  H5Fclose (file);
  H5Zunregister (32008);
  expect_error ("", "does not have the filter 32008 (bitshuffle). Install its "
                    "plugin and set the environment variable HDF5_PLUGIN_PATH");
}
GST_END_TEST;

/* A file that another program writes: with its lock (h5py issue 1722), in SWMR mode
 * (h5py issue 2289), and after it was killed. */
GST_START_TEST (test_file_of_a_writer)
{
  hid_t access = H5Pcreate (H5P_FILE_ACCESS), file;
  gchar *bytes, *warnings;
  gsize size;
  guint n;
  gint fd;

  write_objects (NULL, TRUE);
  fd = open (path, O_RDWR | O_CLOEXEC);
  fail_unless (flock (fd, LOCK_EX) == 0);
  expect_error ("", "another program has it open for writing");
  close (fd);

  for (guint swmr = 0; swmr < 2; swmr++) {
    H5Pset_libver_bounds (access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    file = H5Fcreate (path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    add_layer (file, "L", 0, WIDTH, chunks[1], TRUE);
    H5Fflush (file, H5F_SCOPE_GLOBAL);
    if (swmr == 1)
      fail_unless (H5Fstart_swmr_write (file) >= 0);
    fail_unless (g_file_get_contents (path, &bytes, &size, NULL));
    H5Fclose (file);
    fail_unless (g_file_set_contents (path, bytes, size, NULL));
    g_free (bytes);
    if (swmr == 1) {
      warnings = play_to_end ("", &n);
      fail_unless_equals_int (n, FRAMES);
      g_free (warnings);
    } else {
      expect_error ("", "if no program has it open, run h5clear -s");
    }
  }
  H5Pclose (access);
}
GST_END_TEST;

/* A virtual data set whose source cannot be found reads as zeros (h5py issue 1546): it
 * is refused. */
GST_START_TEST (test_virtual_set)
{
  const hsize_t dims[] = { 2, 4, 4 };
  hid_t file = begin_file (), group, list, space;
  const gint32 zeros[2] = { 0 };

  group = H5Gcreate2 (file, "L", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  list = H5Pcreate (H5P_DATASET_CREATE);
  space = H5Screate_simple (3, dims, NULL);
  H5Pset_virtual (list, space, "moved.h5", "/f", space);
  H5Dclose (H5Dcreate2 (
      group, "frame", H5T_NATIVE_UINT8, space, H5P_DEFAULT, list, H5P_DEFAULT));
  H5Sclose (space);
  H5Pclose (list);
  add_set (group, "scan_line_index", H5T_NATIVE_INT32, 1, dims, NULL, zeros);
  H5Gclose (group);
  H5Fclose (file);
  expect_error ("", "L/frame is a virtual data set, with its values in other");
}
GST_END_TEST;

/* Events before a stream raise no critical message. */
GST_START_TEST (test_events_before_start)
{
  GstElement *element = gst_element_factory_make ("pbfhdf5src", NULL);

  gst_element_set_state (element, GST_STATE_READY);
  gst_element_send_event (element, gst_event_new_eos ());
  gst_element_send_event (element, gst_event_new_flush_start ());
  gst_element_send_event (element, gst_event_new_flush_stop (TRUE));
  gst_element_query_duration (element, GST_FORMAT_DEFAULT, NULL);
  gst_element_query_position (element, GST_FORMAT_DEFAULT, NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}
GST_END_TEST;

/* --- positions ------------------------------------------------------------- */

/* Frame @n is the first one after a seek, with the record that it has without. */
static void
expect_seek (GstHarness *h, GstFormat format, gint64 start, guint n)
{
  GstBuffer *buffer;

  fail_unless (gst_element_seek (h->element, 2.0, format, GST_SEEK_FLAG_FLUSH,
      GST_SEEK_TYPE_SET, start, GST_SEEK_TYPE_NONE, -1));
  /* those of before the flush may still be there */
  do {
    buffer = gst_harness_pull (h);
    fail_unless (buffer != NULL);
    if (GST_BUFFER_OFFSET (buffer) == n)
      break;
    gst_buffer_unref (buffer);
  } while (TRUE);
  expect_pixels (buffer, n / FRAMES, n % FRAMES, WIDTH);
  expect_signal (buffer, n / FRAMES % 2, n % FRAMES);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * 50000);
  fail_unless_equals_int (
      gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal.frame_counter, n);
  gst_buffer_unref (buffer);
}

GST_START_TEST (test_seeks_and_duration)
{
  GstHarness *h;
  gint64 value;

  write_objects (chunks[2], TRUE);
  h = play ("");
  gst_buffer_unref (gst_harness_pull (h));
  fail_unless (
      gst_element_query_duration (h->element, GST_FORMAT_TIME, &value));
  fail_unless_equals_int64 (value, 4 * FRAMES * 50000);
  fail_unless (
      gst_element_query_duration (h->element, GST_FORMAT_DEFAULT, &value));
  fail_unless_equals_int64 (value, 4 * FRAMES);
  fail_unless (
      gst_element_query_position (h->element, GST_FORMAT_DEFAULT, &value));
  expect_seek (h, GST_FORMAT_DEFAULT, 37, 37);
  expect_seek (h, GST_FORMAT_TIME, 3 * FRAMES * 50000, 3 * FRAMES);
  expect_seek (h, GST_FORMAT_TIME, 50000 * 15 + 49999, 15);
  fail_if (gst_element_seek (h->element, -1.0, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1));
  gst_buffer_unref (gst_harness_pull (h)); /* the stream goes on */
  expect_seek (h, GST_FORMAT_DEFAULT, 99, 99);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A wrong location ends the change of state with one error. */
GST_START_TEST (test_wrong_location_fails_to_start)
{
  static const gchar *const locations[] = { "", "/nonexistent/a.h5", "/" };

  for (guint i = 0; i < G_N_ELEMENTS (locations); i++) {
    GstElement *element = gst_element_factory_make ("pbfhdf5src", NULL);
    GstBus *bus = gst_bus_new ();
    gchar *text;

    gst_element_set_bus (element, bus);
    g_object_set (element, "location", locations[i], NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
        GST_STATE_CHANGE_FAILURE);
    text = bus_pop_text (bus, GST_MESSAGE_ERROR);
    fail_if (strstr (text, "errno") != NULL, text);
    g_free (text);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
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
  tcase_add_test (tc, test_natural_order);
  tcase_add_test (tc, test_soft_links);
  tcase_add_test (tc, test_external_links);
  tcase_add_test (tc, test_values_that_cannot_be);
  tcase_add_test (tc, test_big_endian);
  tcase_add_test (tc, test_missing_values);
  tcase_add_test (tc, test_missing_filter);
  tcase_add_test (tc, test_file_of_a_writer);
  tcase_add_test (tc, test_virtual_set);
  tcase_add_test (tc, test_events_before_start);
  tcase_add_test (tc, test_seeks_and_duration);
  tcase_add_test (tc, test_wrong_location_fails_to_start);
  return s;
}

GST_CHECK_MAIN (pbfhdf5);
