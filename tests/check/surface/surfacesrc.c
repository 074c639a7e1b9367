/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* surfacesrc: files of every format, series of them, offsets, seeks, and
 * messages about missing or invalid files. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <malloc.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check/common/busmessages.h"
#include "tests/check/common/memorylimit.h"
#include "tests/check/common/pipelinestates.h"
#include "surfacetemp.h"

/* Playing, ready to pull buffers; GstCvisSurfaceMeta is supported. */
static GstHarness *
open_source (const gchar *folder, const gchar *name, const gchar *properties)
{
  gchar *line = g_strdup_printf (
      "surfacesrc location=%s/%s %s", folder, name, properties);
  GstHarness *h = gst_harness_new_parse (line);

  g_free (line);
  gst_harness_add_propose_allocation_meta (
      h, GST_CVIS_SURFACE_META_API_TYPE, NULL);
  gst_harness_play (h);
  return h;
}

static void
assert_info (GstHarness *h, guint width, guint height, GstCvisSurfaceType type)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  GstCvisSurfaceInfo info;

  fail_unless (gst_cvis_surface_info_from_caps (&info, caps, NULL));
  fail_unless_equals_int (info.width, width);
  fail_unless_equals_int (info.height, height);
  fail_unless_equals_int (info.type, type);
  gst_caps_unref (caps);
}

/* Sample plus offset is the height. */
static void
assert_heights (GstBuffer *buffer, guint seed, gdouble tolerance)
{
  GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (buffer);
  guint n = meta->width * meta->height, missing = 0;
  gboolean wide;
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  wide = map.size == 8 * n;
  fail_unless (wide || map.size == 4 * n);
  for (guint i = 0; i < n; i++) {
    gdouble z = wide ? ((gdouble *) map.data)[i] : ((gfloat *) map.data)[i];
    gdouble expected = surface_temp_height (seed, i);

    missing += isnan (z) != 0;
    fail_unless (isnan (z) == isnan (expected));
    if (!isnan (z))
      fail_unless (
          fabs (z * meta->z_scale + meta->offset - expected) <= tolerance);
  }
  gst_buffer_unmap (buffer, &map);
  fail_unless_equals_int (meta->missing, missing);
  fail_unless_equals_int (meta->part, CVIS_SURFACE_PART_MEASURED);
}

GST_START_TEST (test_formats)
{
  static const gchar *const names[] = { "a.x3p", "a.sdf", "a.sur", "a.gsf",
    "a.tiff", "a.npy" };
  gchar *folder = temp_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    SurfaceFileFormat format = surface_file_format_of_name (names[i]);
    gboolean spaced = format != SURFACE_FILE_NPY;
    GstCvisSurfaceMeta *meta;
    GstBuffer *buffer;
    GstHarness *h;

    if (!surface_file_supported (format))
      continue;
    surface_temp_write (folder, names[i], 33, 17, i);
    h = open_source (folder, names[i], "");
    buffer = gst_harness_pull (h);
    assert_info (h, 33, 17, GST_CVIS_SURFACE_TYPE_FLOAT32);
    assert_heights (buffer, i, format == SURFACE_FILE_GSF ? 5e-9 : 1e-13);
    meta = gst_cvis_buffer_get_surface_meta (buffer);
    fail_unless (fabs (meta->dx - (spaced ? 1e-6 : 0)) < 1e-12);
    fail_unless (fabs (meta->dy - (spaced ? 2e-6 : 0)) < 1e-12);
    fail_unless (fabs (meta->offset - 0.0763) < 1e-6);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_precision)
{
  gchar *folder = temp_folder_new ();
  GstBuffer *buffer;
  GstHarness *h;

  surface_temp_write (folder, "a.npy", 9, 7, 3);
  h = open_source (
      folder, "a.npy", "precision=float64 remove-offset=false dx=3e-6 dy=4e-6");
  buffer = gst_harness_pull (h);
  assert_info (h, 9, 7, GST_CVIS_SURFACE_TYPE_FLOAT64);
  assert_heights (buffer, 3, 0);
  fail_unless (gst_cvis_buffer_get_surface_meta (buffer)->offset == 0);
  fail_unless (gst_cvis_buffer_get_surface_meta (buffer)->dx == 3e-6);
  fail_unless (gst_cvis_buffer_get_surface_meta (buffer)->dy == 4e-6);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);

  /* the error of float32 at 76 mm */
  h = open_source (folder, "a.npy", "remove-offset=false");
  buffer = gst_harness_pull (h);
  assert_heights (buffer, 3, 4e-9);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  temp_folder_free (folder);
}
GST_END_TEST;

/* Times, caps that follow the size, tags, and the end after the last file */
GST_START_TEST (test_series)
{
  gchar *folder = temp_folder_new ();
  GstHarness *h;
  GstEvent *event;
  guint tags = 0, caps = 0;

  surface_temp_write (folder, "a-03.sur", 9, 7, 0);
  surface_temp_write (folder, "a-04.sur", 9, 7, 1);
  surface_temp_write (folder, "a-05.sur", 5, 6, 2);
  surface_temp_write (folder, "a-07.sur", 5, 6, 3);
  h = open_source (folder, "a-%02d.sur", "start-index=3 framerate=4/1");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_harness_pull (h);

    assert_heights (buffer, i, 1e-13);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * GST_SECOND / 4);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), GST_SECOND / 4);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), i);
    fail_unless_equals_int (
        GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT), i == 0);
    gst_buffer_unref (buffer);
  }
  assert_info (h, 5, 6, GST_CVIS_SURFACE_TYPE_FLOAT32);
  while ((event = gst_harness_pull_event (h))) {
    gboolean last = GST_EVENT_TYPE (event) == GST_EVENT_EOS;

    tags += GST_EVENT_TYPE (event) == GST_EVENT_TAG;
    caps += GST_EVENT_TYPE (event) == GST_EVENT_CAPS;
    gst_event_unref (event);
    if (last)
      break;
  }
  fail_unless_equals_int (tags, 3);
  fail_unless_equals_int (caps, 2);
  gst_harness_teardown (h);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_loop)
{
  gchar *folder = temp_folder_new ();
  GstHarness *h;

  surface_temp_write (folder, "a0.gsf", 3, 2, 0);
  surface_temp_write (folder, "a1.gsf", 3, 2, 1);
  surface_temp_write (folder, "a2.gsf", 3, 2, 2);
  h = open_source (folder, "a%d.gsf", "stop-index=1 loop=true num-buffers=5");
  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = gst_harness_pull (h);

    assert_heights (buffer, i % 2, 5e-9);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * GST_SECOND);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  temp_folder_free (folder);
}
GST_END_TEST;

/* A list of files, in its order, whatever location says */
GST_START_TEST (test_locations)
{
  static const guint order[] = { 2, 0, 2 };
  gchar *folder = temp_folder_new (), *text;
  GstElement *source;
  GstBuffer *buffer;
  GstHarness *h;

  surface_temp_write (folder, "a0.gsf", 3, 2, 0);
  surface_temp_write (folder, "a2.gsf", 4, 2, 2);
  text = g_strdup_printf (
      "locations=<%s/a2.gsf,%s/a0.gsf,%s/a2.gsf>", folder, folder, folder);
  h = open_source (folder, "none.gsf", text);
  g_free (text);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++) {
    buffer = gst_harness_pull (h);
    /* the caps may be those of the next file already */
    fail_unless_equals_int (gst_buffer_get_size (buffer),
        (order[i] == 0 ? 3 : 4) * 2 * sizeof (gfloat));
    assert_heights (buffer, order[i], 5e-9);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * GST_SECOND);
    gst_buffer_unref (buffer);
  }
  source = gst_harness_find_element (h, "surfacesrc");
  g_object_get (source, "location", &text, NULL);
  fail_unless (g_str_has_suffix (text, "none.gsf"));
  g_free (text);
  {
    GValue names = G_VALUE_INIT;

    g_value_init (&names, GST_TYPE_ARRAY);
    g_object_get_property (G_OBJECT (source), "locations", &names);
    fail_unless_equals_int (gst_value_array_get_size (&names), 3);
    g_value_unset (&names);
  }
  gst_object_unref (source);
  gst_harness_teardown (h);
  temp_folder_free (folder);
}
GST_END_TEST;

/* Whoever writes to a surface gets memory of his own. */
static void
clear_samples (GstBuffer **buffer)
{
  GstMapInfo map;

  *buffer = gst_buffer_make_writable (*buffer);
  fail_unless (gst_buffer_map (*buffer, &map, GST_MAP_WRITE));
  memset (map.data, 0, map.size);
  gst_buffer_unmap (*buffer, &map);
}

/* A single file is read once, and again after it has changed. */
GST_START_TEST (test_loop_of_one)
{
  gchar *folder = temp_folder_new ();
  GstBuffer *buffers[3];
  GstHarness *h;

  surface_temp_write (folder, "a.gsf", 3, 2, 0);
  h = open_source (folder, "a.gsf", "loop=true");
  for (guint i = 0; i < 2; i++) {
    buffers[i] = gst_harness_pull (h);
    assert_heights (buffers[i], 0, 5e-9);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffers[i]), i * GST_SECOND);
  }
  fail_unless (gst_buffer_peek_memory (buffers[0], 0)
               == gst_buffer_peek_memory (buffers[1], 0));
  clear_samples (&buffers[0]);
  assert_heights (buffers[1], 0, 5e-9);
  gst_buffer_unref (buffers[1]);
  buffers[1] = gst_harness_pull (h);
  assert_heights (buffers[1], 0, 5e-9);
  surface_temp_write (folder, "a.gsf", 5, 4, 2);
  do {
    buffers[2] = gst_harness_pull (h);
    if (gst_buffer_get_size (buffers[2]) == 80)
      break;
    gst_buffer_unref (buffers[2]);
  } while (TRUE);
  assert_heights (buffers[2], 2, 5e-9);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (buffers[i]);
  gst_harness_teardown (h);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_seek)
{
  gchar *folder = temp_folder_new ();
  gchar *line;
  GstElement *pipeline, *sink;
  GstBuffer *buffer;
  GstSample *sample;
  gint64 duration;

  for (guint i = 0; i < 6; i++) {
    gchar *name = g_strdup_printf ("%u.sur", i);
    surface_temp_write (folder, name, 5, 3, i);
    g_free (name);
  }
  line = g_strdup_printf ("surfacesrc location=%s/%%d.sur framerate=30/1 "
                          "remove-offset=true ! "
                          "appsink name=sink sync=false max-buffers=1",
      folder);
  pipeline = gst_parse_launch (line, NULL);
  g_free (line);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  fail_unless (
      gst_element_query_duration (pipeline, GST_FORMAT_TIME, &duration));
  fail_unless_equals_int64 (duration, GST_SECOND / 5);
  fail_unless (
      gst_element_query_duration (pipeline, GST_FORMAT_DEFAULT, &duration));
  fail_unless_equals_int64 (duration, 6);
  for (guint i = 5; i > 0; i -= 2) {
    fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
        GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, i * GST_SECOND / 30));
    gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
    g_signal_emit_by_name (sink, "pull-preroll", &sample);
    buffer = gst_sample_get_buffer (sample);
    assert_heights (buffer, i, 1e-13);
    fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
    gst_sample_unref (sample);
    if (i == 1)
      break;
  }
  fail_unless (gst_element_seek (pipeline, -1.0, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, GST_SECOND / 30,
      GST_SEEK_TYPE_SET, GST_SECOND / 10));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 2; i > 0; i--) {
    g_signal_emit_by_name (sink, "pull-sample", &sample);
    fail_unless (sample != NULL);
    assert_heights (gst_sample_get_buffer (sample), i, 1e-13);
    gst_sample_unref (sample);
  }
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_unless (sample == NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  temp_folder_free (folder);
}
GST_END_TEST;

static GstPadProbeReturn
drop_metas (GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  GstMeta *meta;

  if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM)
    return GST_QUERY_TYPE (info->data) == GST_QUERY_ALLOCATION
               ? GST_PAD_PROBE_DROP
               : GST_PAD_PROBE_OK;
  info->data = gst_buffer_make_writable (GST_BUFFER (info->data));
  while ((meta = (GstMeta *) gst_cvis_buffer_get_surface_meta (info->data)))
    gst_buffer_remove_meta (info->data, meta);
  return GST_PAD_PROBE_OK;
}

/* Runs a pipeline in which the pads named "drop" remove metas. Returns:
 * number of warnings */
static guint
run_and_count (const gchar *folder, const gchar *properties, const gchar *line)
{
  gchar *whole = g_strdup_printf ("surfacesrc location=%s/a.npy dx=1e-6 "
                                  "dy=1e-6 height-unit=m %s ! %s ! surfacesink "
                                  "location=%s/b.sdf format=sdf-binary",
      folder, properties, line, folder);
  GstElement *pipeline = gst_parse_launch (whole, NULL);
  GstElement *drop = gst_bin_get_by_name (GST_BIN (pipeline), "drop");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint warnings = 0;

  if (drop != NULL) {
    GstPad *pad = gst_element_get_static_pad (drop, "sink");

    gst_pad_add_probe (pad,
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
        drop_metas, NULL, NULL);
    gst_object_unref (pad);
    gst_object_unref (drop);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND,
              GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS))) {
    const GstMessageType type = GST_MESSAGE_TYPE (message);
    gboolean missing = FALSE;

    /* cudalwtfilter warns of missing points */
    if (type == GST_MESSAGE_WARNING) {
      GError *error = NULL;

      gst_message_parse_warning (message, &error, NULL);
      missing = strstr (error->message, "are missing") != NULL;
      g_error_free (error);
    }
    gst_message_unref (message);
    fail_unless (type != GST_MESSAGE_ERROR);
    if (type == GST_MESSAGE_EOS)
      break;
    warnings += !missing;
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (whole);
  return warnings;
}

static void
assert_written (const gchar *folder, gdouble tolerance)
{
  SurfaceImage *image = surface_temp_read (folder, "b.sdf");

  fail_unless (surface_temp_difference (image, 3) <= tolerance);
  surface_image_free (image);
}

static void
write_text (const gchar *folder, const gchar *name, const gchar *text)
{
  gchar *path = surface_temp_path (folder, name);

  fail_unless (g_file_set_contents (path, text, -1, NULL));
  g_free (path);
}

/* One warning for a series of files without units */
GST_START_TEST (test_guessed_unit_warns_once)
{
  gchar *folder = temp_folder_new ();
  GstBuffer *buffer;
  GstMapInfo map;
  GstHarness *h;

  for (guint i = 0; i < 4; i++) {
    gchar *name = g_strdup_printf ("a%u.npy", i);

    surface_temp_write (folder, name, 9, 7, i);
    g_free (name);
  }
  fail_unless_equals_int (
      surface_temp_count_warnings (folder,
          "surfacesrc location=%s/a%d.npy remove-offset=true ! fakesink", ""),
      1);
  fail_unless_equals_int (
      surface_temp_count_warnings (folder,
          "surfacesrc location=%s/a%d.npy remove-offset=true ! fakesink",
          "gives no unit of heights: they are taken as metres (set the "
          "property "
          "height-unit)."),
      1);
  fail_unless_equals_int (surface_temp_count_warnings (folder,
                              "filesrc location=%s/a0.npy ! surfacedec "
                              "remove-offset=true ! fakesink",
                              "Surface: the file gives no unit of heights"),
      1);
  fail_unless_equals_int (
      surface_temp_count_warnings (folder,
          "surfacesrc location=%s/a%d.npy remove-offset=true height-unit=m ! "
          "fakesink",
          ""),
      0);

  write_text (folder, "p.txt", "0 0 1\n2 0 2\n0 3 3\n2 3 4\n0 6 5\n2 6 6\n");
  h = open_source (
      folder, "p.txt", "remove-offset=false precision=float64 height-unit=um");
  buffer = gst_harness_pull (h);
  fail_unless (gst_cvis_buffer_get_surface_meta (buffer)->dx == 2e-6);
  fail_unless (gst_cvis_buffer_get_surface_meta (buffer)->dy == 3e-6);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless (((gdouble *) map.data)[5] == 6e-6);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  temp_folder_free (folder);
}
GST_END_TEST;

/* A profile is one row, whose spacing along y is that along x. */
GST_START_TEST (test_profile)
{
  gchar *folder = temp_folder_new ();
  GstBuffer *buffer;
  GstHarness *h;

  write_text (folder, "p.txt", "0 1\n0.5 2\n1 4\n1.5 3\n2 1\n");
  fail_unless_equals_int (
      surface_temp_count_warnings (folder,
          "surfacesrc location=%s/p.txt ! fakesink",
          "p.txt\": its 5 lines of two columns are read as the positions and "
          "heights of a profile; the file gives no unit of heights and "
          "positions"),
      1);
  h = open_source (folder, "p.txt", "height-unit=um");
  buffer = gst_harness_pull (h);
  assert_info (h, 5, 1, GST_CVIS_SURFACE_TYPE_FLOAT32);
  fail_unless (gst_cvis_buffer_get_surface_meta (buffer)->dx == 0.5e-6);
  fail_unless (gst_cvis_buffer_get_surface_meta (buffer)->dy == 0.5e-6);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  temp_folder_free (folder);
}
GST_END_TEST;

/* Files behind a gap in a series */
GST_START_TEST (test_gap_warns)
{
  static const gchar *const names[] = { "a-08.sdf", "a-09.sdf", "a-10.sdf",
    "a-12.sdf", "a-100.sdf", "a-7.sdf", "b-13.sdf", "a-13.sdf.txt" };
  gchar *folder = temp_folder_new ();

  surface_temp_write (folder, "new.sdf", 3, 2, 0);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gchar *to = surface_temp_path (folder, names[i]);
    gchar *from = surface_temp_path (folder, "new.sdf"), *data;
    gsize n;

    fail_unless (g_file_get_contents (from, &data, &n, NULL));
    fail_unless (g_file_set_contents (to, data, (gssize) n, NULL));
    g_free (data);
    g_free (from);
    g_free (to);
  }
  fail_unless_equals_int (
      surface_temp_count_warnings (folder,
          "surfacesrc location=%s/a-%02d.sdf start-index=8 ! fakesink",
          "a-11.sdf\" is missing: 2 files with higher numbers are not read"),
      1);
  fail_unless_equals_int (
      surface_temp_count_warnings (folder,
          "surfacesrc location=%s/a-%02d.sdf start-index=8 stop-index=10 ! "
          "fakesink",
          "is missing"),
      0);
  temp_folder_free (folder);
}
GST_END_TEST;

/* The samples contain 76 mm if the meta that would hold them is dropped; the
 * resulting rounding of float32 is reported once. */
GST_START_TEST (test_dropped_metas)
{
  static const gchar *const lines[] = { "identity name=drop",
    "queue ! tee name=t ! queue ! identity name=drop ! fakesink t. ! queue",
    "gdppay ! gdpdepay" };
  GstElementFactory *gdp = gst_element_factory_find ("gdppay");
  gchar *folder = temp_folder_new ();

  surface_temp_write (folder, "a.npy", 40, 30, 3);
  for (guint i = 0; i < (gdp != NULL ? 3 : 2); i++) {
    fail_unless_equals_int (run_and_count (folder, "", lines[i]), 1);
    assert_written (folder, 4e-9);
    fail_unless_equals_int (
        run_and_count (folder, "precision=float64", lines[i]), 0);
    assert_written (folder, 0);
    fail_unless_equals_int (
        run_and_count (folder, "remove-offset=false", lines[i]), 0);
    assert_written (folder, 4e-9);
  }
  /* the filter keeps the precision of its roughness and warns about its form */
  fail_unless_equals_int (
      run_and_count (folder, "", "cudalwtfilter ! identity name=drop"), 0);
  fail_unless_equals_int (run_and_count (folder, "",
                              "cudalwtfilter output=form ! identity name=drop"),
      1);
  fail_unless_equals_int (
      run_and_count (folder, "", "queue ! cudalwtfilter output=none ! queue"),
      0);
  assert_written (folder, 1e-13);
  g_clear_object (&gdp);
  temp_folder_free (folder);
}
GST_END_TEST;

/* A file that begins with @text, followed by zeros. */
static void
write_bytes (
    const gchar *folder, const gchar *name, const gchar *text, goffset size)
{
  gchar *path = surface_temp_path (folder, name);

  fail_unless (g_file_set_contents (path, text, -1, NULL));
  fail_unless_equals_int (truncate (path, size), 0);
  g_free (path);
}

/* A file without its last byte. */
static void
cut_file (const gchar *folder, const gchar *from, const gchar *to)
{
  gchar *path = surface_temp_path (folder, from), *data;
  gsize size;

  fail_unless (g_file_get_contents (path, &data, &size, NULL));
  g_free (path);
  path = surface_temp_path (folder, to);
  fail_unless (g_file_set_contents (path, data, (gssize) size - 1, NULL));
  g_free (path);
  g_free (data);
}

/* A pipe without a writer */
static void
make_pipe (const gchar *folder, const gchar *name)
{
  gchar *path = surface_temp_path (folder, name);

  fail_unless_equals_int (mkfifo (path, 0600), 0);
  g_free (path);
}

GST_START_TEST (test_errors)
{
  static const gchar *const cases[][2] = {
    { "surfacesrc ! fakesink", "location names no file" },
    { "surfacesrc location=%s/none.x3p ! fakesink", "none.x3p\"" },
    { "surfacesrc location=%s/a0.npy locations=<none.x3p> ! fakesink",
        "Cannot open \"none.x3p\"" },
    { "surfacesrc location=%s/a0.npy locations=<\"\"> ! fakesink",
        "Cannot open \"\"" },
    { "surfacesrc location=%s ! fakesink", "\": Is a directory" },
    { "surfacesrc location=%s/pipe ! fakesink", "Not a regular file" },
    { "surfacesrc location=/dev/zero ! fakesink", "Not a regular file" },
    { "surfacesrc location=%s/empty.x3p ! fakesink", "The file is empty" },
    { "surfacesrc location=%s/cut.npy ! fakesink",
        "cut.npy\" as a surface: The NPY file is cut off" },
    { "surfacesrc location=%s/terabyte.sdf ! fakesink", "Unknown file format" },
    { "surfacesrc location=%s/a-%d.x3p start-index=9 ! fakesink",
        "with the number 9. Check start-index" },
    { "surfacesrc location=%s/a-%d-%d.x3p ! fakesink",
        "neither a name nor a pattern" },
    { "surfacesrc location=%s/a-%x.x3p ! fakesink", "neither a name" },
    { "surfacesrc location=http://localhost/a.x3p ! fakesink",
        "\"http://localhost/a.x3p\" names no file" },
    { "surfacesrc location=file://%s/a-%05d.x3p ! fakesink",
        "holds a control character" },
    { "surfacesrc location=file:relative.x3p ! fakesink",
        "Cannot open \"file:relative.x3p\"" },
    { "surfacesrc location=file://%s/none.x3p ! fakesink", "none.x3p\"" },
    { "surfacesrc location=%s/a-%99999999999999999999999d.x3p ! fakesink",
        "neither a name" },
    { "surfacesrc location=%s/a-%d.npy start-index=3 stop-index=2 ! fakesink",
        "stop-index (2) is below start-index (3)" },
    { "surfacesrc location=%s/a%d.npy stop-index=2 ! fakesink", "a1.npy\"" },
    { "surfacesrc location=%s/text.x3p ! fakesink",
        "text.x3p\" as a surface: Unknown file format" },
    { "surfacesrc location=%s/a0.npy ! "
      "other/tensors,types=(string)float64 ! fakesink",
        "Downstream does not accept the surface" },
  };
  gchar *folder = temp_folder_new ();

  surface_temp_write (folder, "a0.npy", 3, 2, 0);
  write_bytes (folder, "text.x3p", "hello, this is no surface", 25);
  write_bytes (folder, "empty.x3p", "", 0);
  write_bytes (folder, "terabyte.sdf", "", (goffset) 1 << 40);
  cut_file (folder, "a0.npy", "cut.npy");
  make_pipe (folder, "pipe");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    surface_temp_run_error (folder, cases[i][0], cases[i][1]);
  temp_folder_free (folder);
}
GST_END_TEST;

/* The error comes when the element starts, not after the first state PAUSED. The base
 * class posts a second, general one. */
GST_START_TEST (test_wrong_location_fails_to_start)
{
  static const gchar *const locations[] = { "", "/nonexistent/a.npy", "/" };

  for (guint i = 0; i < G_N_ELEMENTS (locations); i++) {
    GstElement *element = gst_element_factory_make ("surfacesrc", NULL);
    GstBus *bus = gst_bus_new ();
    GstMessage *message;
    GError *error;

    gst_element_set_bus (element, bus);
    g_object_set (element, "location", locations[i], NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
        GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL);
    gst_message_parse_error (message, &error, NULL);
    fail_unless (error->domain == GST_RESOURCE_ERROR, "%s", error->message);
    g_error_free (error);
    gst_message_unref (message);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}
GST_END_TEST;

#if HAVE_X3P
/* An edited main.xml: the file is read with a warning, or refused. */
GST_START_TEST (test_strict)
{
  static const gchar words[] =
      "x.x3p\": The X3P file's main.xml has the MD5 checksum ";
  static const gchar *const lines[][2] = {
    { "surfacesrc location=%s/x.x3p ! fakesink",
        "surfacesrc location=%s/x.x3p strict=true ! fakesink" },
    { "filesrc location=%s/x.x3p ! surfacedec ! fakesink",
        "filesrc location=%s/x.x3p ! surfacedec strict=true ! fakesink" },
  };
  gchar *folder = temp_folder_new ();

  surface_temp_write (folder, "x.x3p", 9, 7, 0);
  surface_temp_break_checksum (folder, "x.x3p");
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    gchar *line = g_strdup_printf (lines[i][0], folder);

    bus_expect_first (line, GST_MESSAGE_WARNING,
        i == 0 ? words : "The X3P file's main.xml has the MD5 checksum ");
    surface_temp_run_ok (folder, lines[i][0]);
    surface_temp_run_error (folder, lines[i][1], "says \"d41d8cd98f00b204");
    g_free (line);
  }
  temp_folder_free (folder);
}
GST_END_TEST;
#endif

/* Surfaces are refused by their headers, in every format. */
GST_START_TEST (test_max_size)
{
  static const gchar *const names[] = { "a.x3p", "a.sdf", "a.sur", "a.gsf",
    "a.tiff", "a.npy" };
  gchar *folder = temp_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    static const gchar *const lines[] = {
      "surfacesrc location=%%s/%s max-size=%u precision=%s ! fakesink",
      "filesrc location=%%s/%s ! surfacedec max-size=%u precision=%s ! "
      "fakesink",
    };

    if (!surface_file_supported (surface_file_format_of_name (names[i])))
      continue;
    surface_temp_write (folder, names[i], 33, 17, i);
    for (guint k = 0; k < G_N_ELEMENTS (lines); k++) {
      gchar *fits =
          g_strdup_printf (lines[k], names[i], 33 * 17 * 8, "float64");
      gchar *large =
          g_strdup_printf (lines[k], names[i], 33 * 17 * 4 - 1, "float32");

      surface_temp_run_ok (folder, fits);
      surface_temp_run_error (
          folder, large, "33 x 17 samples; at most 560 are allowed (max-size)");
      g_free (fits);
      g_free (large);
    }
  }
  temp_folder_free (folder);
}
GST_END_TEST;

#ifdef MEMORY_LIMIT_WORKS

static struct rlimit before;

/* Threads exist already; only the memory of a surface is allocated after
 * this. */
static GstPadProbeReturn
limit_memory (GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  if (GST_EVENT_TYPE (info->data) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  before = memory_limit_begin (20 << 20);
  return GST_PAD_PROBE_REMOVE;
}

static void
expect_no_memory (const gchar *line)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "e");
  GstPad *pad = gst_element_get_static_pad (element, "src");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *error;

  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, limit_memory, NULL, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 50 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  memory_limit_end (&before);
  fail_unless (message != NULL, "%s", line);
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR, "%s", line);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (
                   error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT),
      "%s: %s", line, error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

/* Buffers whose size comes from outside; malloc reserves up to 64 MiB for
 * each thread. */
GST_START_TEST (test_no_memory)
{
  static const gchar *const lines[] = {
    "surfacesrc name=e location=%s/a.npy ! fakesink",
    "filesrc location=%s/a.npy ! surfacedec name=e ! fakesink",
    "surfacetestsrc name=e parts=0 num-buffers=1 ! "
    "other/tensors,dimensions=(string)5000:5000:1:1 ! fakesink",
    "surfacetestsrc parts=0 num-buffers=1 ! "
    "other/tensors,dimensions=(string)5000:5000:1:1 ! surfacecolor name=e ! "
    "video/x-raw,format=RGB ! videoconvert ! video/x-raw,format=BGR ! fakesink",
    "surfacetestsrc parts=0 num-buffers=1 ! "
    "other/tensors,dimensions=(string)5000:5000:1:1 ! surfacecolor name=e ! "
    "video/x-raw,format=RGB ! fakesink",
  };
  gchar head[129], *folder = temp_folder_new (), *path;

  g_snprintf (head, sizeof (head), "\x93NUMPY\x01%c%c%c%-117s\n", 1, 118, 1,
      "{'descr': '|u1', 'fortran_order': False, 'shape': (5000, 5000), }");
  head[7] = head[9] = 0;
  path = surface_temp_path (folder, "a.npy");
  fail_unless (g_file_set_contents (path, head, 128, NULL));
  fail_unless_equals_int (truncate (path, 128 + 5000 * 5000), 0);
  g_free (path);
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    gchar **parts = g_strsplit (lines[i], "%s", 2);
    gchar *line = g_strjoinv (folder, parts);

    expect_no_memory (line);
    g_free (line);
    g_strfreev (parts);
  }
  temp_folder_free (folder);
}
GST_END_TEST;

#endif

#ifdef MEMORY_LIMIT_WORKS

typedef struct {
  guint buffers;
  glong resident, most_resident; /* bytes: at the caps, most with a buffer */
  glong faults;                  /* so far, at the buffer WARM */
} Usage;

#define WARM 6
#define MEASURED 20

static glong
get_resident (void)
{
  gchar *text;
  glong pages;

  fail_unless (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  fail_unless_equals_int (sscanf (text, "%*d %ld", &pages), 1);
  g_free (text);
  return pages * sysconf (_SC_PAGESIZE);
}

static glong
count_faults (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static GstPadProbeReturn
note_usage (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Usage *usage = data;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
    usage->most_resident = MAX (usage->most_resident, get_resident ());
    if (++usage->buffers == WARM)
      usage->faults = count_faults ();
    else if (usage->buffers == WARM + MEASURED)
      usage->faults = count_faults () - usage->faults;
  } else if (GST_EVENT_TYPE (info->data) == GST_EVENT_CAPS) {
    usage->resident = get_resident ();
  }
  return GST_PAD_PROBE_OK;
}

/* Binary files: a surface is converted into a buffer that is used again,
 * without much other memory. */
GST_START_TEST (test_memory)
{
  static const gchar *const formats[] = { "npy", "gsf", "sdf-binary", "sur",
    "tiff" };
  const glong size = 1536 * 1024 * sizeof (gfloat);
  gchar *folder = temp_folder_new ();

  /* freed surfaces go back to the system and do not hide new ones */
  mallopt (M_MMAP_THRESHOLD, 1 << 20);
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *line = g_strdup_printf (
        "surfacetestsrc num-buffers=2 parts=roughness ! other/tensors,"
        "types=float32,dimensions=(string)1536:1024:1:1 ! surfacesink "
        "format=%s location=%%s/%s-%%d",
        formats[i], formats[i]);
    GstElement *pipeline, *source;
    GstBus *bus;
    GstMessage *message;
    GstPad *pad;
    Usage usage = { 0 };

    if (strcmp (formats[i], "tiff") == 0
        && !surface_file_supported (SURFACE_FILE_TIFF)) {
      g_free (line);
      continue;
    }
    surface_temp_run_ok (folder, line);
    g_free (line);
    line =
        g_strdup_printf ("surfacesrc name=e location=%s/%s-%%d loop=true "
                         "num-buffers=%d ! fakesink enable-last-sample=false",
            folder, formats[i], WARM + MEASURED);
    pipeline = gst_parse_launch (line, NULL);
    source = gst_bin_get_by_name (GST_BIN (pipeline), "e");
    pad = gst_element_get_static_pad (source, "src");
    gst_pad_add_probe (pad,
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        note_usage, &usage, NULL);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    bus = gst_element_get_bus (pipeline);
    message = gst_bus_timed_pop_filtered (
        bus, 50 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    fail_unless (
        message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s",
        line);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    fail_unless_equals_int (usage.buffers, WARM + MEASURED);
    fail_unless (usage.most_resident - usage.resident < size * 5 / 2,
        "%s: %ld bytes", formats[i], usage.most_resident - usage.resident);
    /* one new buffer has more pages than this */
    fail_unless (usage.faults < size / sysconf (_SC_PAGESIZE) / 2,
        "%s: %ld page faults", formats[i], usage.faults);
    GST_INFO ("%s: %ld bytes, %ld page faults", formats[i],
        usage.most_resident - usage.resident, usage.faults);
    gst_message_unref (message);
    gst_object_unref (pad);
    gst_object_unref (source);
    gst_object_unref (bus);
    gst_object_unref (pipeline);
    g_free (line);
  }
  temp_folder_free (folder);
}
GST_END_TEST;

#endif

GST_START_TEST (test_states)
{
  gchar *folder = temp_folder_new ();
  gchar *line;

  surface_temp_write (folder, "a.sdf", 9, 7, 0);
  line = g_strdup_printf (
      "surfacesrc location=%s/a.sdf loop=true ! fakesink", folder);
  pipeline_states (line);
  g_free (line);
  temp_folder_free (folder);
}
GST_END_TEST;

GST_START_TEST (test_properties)
{
  GstElement *source = gst_element_factory_make ("surfacesrc", NULL);
  gchar *location;
  gint n, d, stop;
  guint start;
  gboolean loop;
  gint remove;

  g_object_set (source, "location", "x", "framerate", 30000, 1001,
      "start-index", 4, "stop-index", 9, "loop", TRUE, "remove-offset", FALSE,
      NULL);
  g_object_get (source, "location", &location, "start-index", &start,
      "stop-index", &stop, "loop", &loop, "remove-offset", &remove, NULL);
  fail_unless_equals_string (location, "x");
  fail_unless (start == 4 && stop == 9 && loop && !remove);
  {
    GValue rate = G_VALUE_INIT;

    g_value_init (&rate, GST_TYPE_FRACTION);
    g_object_get_property (G_OBJECT (source), "framerate", &rate);
    n = gst_value_get_fraction_numerator (&rate);
    d = gst_value_get_fraction_denominator (&rate);
    fail_unless (n == 30000 && d == 1001);
    g_value_unset (&rate);
  }
  g_object_set (source, "location", NULL, NULL);
  g_free (location);
  gst_object_unref (source);
}
GST_END_TEST;

static Suite *
surfacesrc_suite (void)
{
  Suite *s = suite_create ("surfacesrc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_precision);
  tcase_add_test (tc, test_series);
  tcase_add_test (tc, test_loop);
  tcase_add_test (tc, test_locations);
  tcase_add_test (tc, test_loop_of_one);
  tcase_add_test (tc, test_seek);
  tcase_add_test (tc, test_guessed_unit_warns_once);
  tcase_add_test (tc, test_profile);
  tcase_add_test (tc, test_gap_warns);
  tcase_add_test (tc, test_dropped_metas);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_wrong_location_fails_to_start);
#if HAVE_X3P
  tcase_add_test (tc, test_strict);
#endif
  tcase_add_test (tc, test_max_size);
#ifdef MEMORY_LIMIT_WORKS
  tcase_add_test (tc, test_no_memory);
  tcase_add_test (tc, test_memory);
#endif
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_properties);
  return s;
}

GST_CHECK_MAIN (surfacesrc);
