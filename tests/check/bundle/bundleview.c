/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bundleview: caps, the rotation, the picture, states, flushes, errors, transforms.json. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "../common/tempfolder.h"

#define CAPS "video/x-raw,width=200,height=160,framerate=10/1"

static const gchar problem[] = "2 3 4\n0 0 1 2\n1 0 1 2\n0 1 3 4\n1 2 3 4\n"
                               "0 0 0 0 0 -10 500 0 0\n"
                               "0 0.1 0 0.5 0 -10 500 0 0\n"
                               "0 0 0 1 0 0 0 1 0\n";

static GstBuffer *
text_buffer (const gchar *text)
{
  return gst_buffer_new_memdup (text, strlen (text));
}

static GstHarness *
new_view (const gchar *line, const gchar *sink_caps)
{
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_sink_caps_str (h, sink_caps);
  gst_harness_set_src_caps_str (h, "application/x-bal");
  return h;
}

/* Frames of one turn; both formats show the same picture */
GST_START_TEST (test_frames)
{
  static const gchar *const formats[] = { "BGRx", "RGB" };
  guint8 *seen[2];

  for (guint f = 0; f < 2; f++) {
    gchar *caps = g_strdup_printf (CAPS ",format=%s", formats[f]);
    GstHarness *h = new_view ("bundleview period=1000000000 turns=1", caps);
    const guint step = f ? 3 : 4;
    guint n = 0;

    gst_harness_push (h, text_buffer (problem));
    gst_harness_push_event (h, gst_event_new_eos ());
    for (; n < 10; n++) {
      GstBuffer *buffer = gst_harness_pull (h);
      GstMapInfo map;

      fail_unless (buffer != NULL);
      fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * GST_SECOND / 10);
      fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), GST_SECOND / 10);
      fail_unless_equals_uint64 (
          gst_buffer_get_size (buffer), 200 * 160 * step);
      if (n == 3) {
        fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
        seen[f] = g_malloc (200 * 160 * 3);
        for (guint i = 0; i < 200 * 160; i++)
          for (guint k = 0; k < 3; k++)
            seen[f][3 * i + k] = map.data[step * i + (f ? k : 2 - k)];
        gst_buffer_unmap (buffer, &map);
      }
      gst_buffer_unref (buffer);
    }
    fail_unless (gst_harness_try_pull (h) == NULL);
    gst_harness_teardown (h);
    g_free (caps);
  }
  fail_unless (memcmp (seen[0], seen[1], 200 * 160 * 3) == 0);
  g_free (seen[0]);
  g_free (seen[1]);
}
GST_END_TEST;

/* A PLY with one point, and two edges whose bounding cube has it at its
 * centre: the point appears in the middle of the picture, with its colour */
GST_START_TEST (test_place)
{
  static const gchar header[] =
      "ply\nformat binary_little_endian 1.0\nelement vertex 3\n"
      "property float x\nproperty float y\nproperty float z\n"
      "property uchar red\nproperty uchar green\nproperty uchar blue\n"
      "element edge 0\nproperty int vertex1\nproperty int vertex2\n"
      "end_header\n";
  static const gfloat at[3][3] = { { 5, 6, 7 }, { 4, 5, 6 }, { 6, 7, 8 } };
  static const guint8 colours[3][3] = { { 250, 0, 0 }, { 0, 250, 0 },
    { 0, 0, 250 } };
  GByteArray *bytes = g_byte_array_new ();
  GstHarness *h =
      new_view ("bundleview turns=1 labels=false point-size=5 elevation=0",
          CAPS ",format=RGB");
  GstBuffer *buffer;
  GstMapInfo map;
  const guint8 *middle;

  g_byte_array_append (bytes, (const guint8 *) header, strlen (header));
  for (guint i = 0; i < 3; i++) {
    g_byte_array_append (bytes, (const guint8 *) at[i], 12);
    g_byte_array_append (bytes, colours[i], 3);
  }
  gst_harness_set_src_caps_str (h, "application/x-ply");
  gst_harness_push (h, gst_buffer_new_memdup (bytes->data, bytes->len));
  gst_harness_push_event (h, gst_event_new_eos ());
  buffer = gst_harness_pull (h);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  middle = map.data + GST_ROUND_UP_4 (200 * 3) * 80 + 3 * 100;
  fail_unless (middle[0] > 150);
  fail_unless_equals_int (middle[1], 0);
  fail_unless_equals_int (middle[2], 0);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  g_byte_array_unref (bytes);
}
GST_END_TEST;

/* An endless view; a flush starts a new file */
GST_START_TEST (test_flush)
{
  GstHarness *h = new_view ("bundleview turns=0", CAPS ",format=RGB");

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer;
    GstSegment segment;

    gst_harness_push (h, text_buffer (problem));
    gst_harness_push_event (h, gst_event_new_eos ());
    buffer = gst_harness_pull (h);
    fail_unless (buffer != NULL);
    gst_buffer_unref (buffer);
    fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
    fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
    gst_segment_init (&segment, GST_FORMAT_BYTES);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    while ((buffer = gst_harness_try_pull (h)) != NULL)
      gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* An EOS event of the application ends an endless view, as gst-launch-1.0 -e does it:
 * the pipeline passes it to its sources. */
GST_START_TEST (test_end)
{
  GstElement *pipeline = gst_parse_launch (
      "appsrc name=from ! application/x-bal ! bundleview turns=0 ! " CAPS
      " ! fakesink name=end",
      NULL);
  GstElement *from = gst_bin_get_by_name (GST_BIN (pipeline), "from");
  GstBus *bus = GST_ELEMENT_BUS (pipeline);
  GstFlowReturn ret;
  GstBuffer *buffer = text_buffer (problem);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (from, "push-buffer", buffer, &ret);
  g_signal_emit_by_name (from, "end-of-stream", &ret);
  message = gst_bus_timed_pop_filtered (bus, GST_SECOND, GST_MESSAGE_EOS);
  fail_unless (message == NULL);
  fail_unless (gst_element_send_event (pipeline, gst_event_new_eos ()));
  message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_buffer_unref (buffer);
  gst_object_unref (from);
  gst_object_unref (pipeline);
}
GST_END_TEST;

static GstBuffer *
pull_pts (GstHarness *h, GstClockTime pts)
{
  GstBuffer *buffer = gst_harness_pull (h);

  fail_unless (buffer != NULL);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), pts);
  return buffer;
}

static void
seek (GstHarness *h, gdouble rate, GstSeekFlags flags, guint64 start,
    guint64 stop)
{
  fail_unless (gst_harness_push_upstream_event (
      h, gst_event_new_seek (rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET,
             (gint64) start, GST_SEEK_TYPE_SET, (gint64) stop)));
}

static void
wait_for_event (GstHarness *h, GstEventType type)
{
  gboolean seen = FALSE;

  while (!seen) {
    GstEvent *event = gst_harness_pull_event (h);

    fail_unless (event != NULL);
    seen = GST_EVENT_TYPE (event) == type;
    gst_event_unref (event);
  }
}

/* Two turns of one second have a duration; a seek gives the frames at its times, also
 * backwards; frames are those of playing from the start. */
GST_START_TEST (test_seek)
{
  GstHarness *h =
      new_view ("bundleview period=1000000000 turns=2", CAPS ",format=RGB");
  GstPad *pad = gst_element_get_static_pad (h->element, "src");
  GstQuery *query = gst_query_new_seeking (GST_FORMAT_TIME);
  GstBuffer *first[20];
  gboolean seekable;
  gint64 duration;

  fail_if (gst_harness_push_upstream_event (
      h, gst_event_new_seek (1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
             GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1)));
  gst_harness_push (h, text_buffer (problem));
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint i = 0; i < 20; i++)
    first[i] = pull_pts (h, i * GST_SECOND / 10);
  wait_for_event (h, GST_EVENT_EOS);
  fail_unless (gst_pad_query_duration (pad, GST_FORMAT_TIME, &duration));
  fail_unless_equals_int64 (duration, 2 * GST_SECOND);
  fail_if (gst_pad_query_duration (pad, GST_FORMAT_BYTES, &duration));
  fail_unless (gst_pad_query (pad, query));
  gst_query_parse_seeking (query, NULL, &seekable, NULL, &duration);
  fail_unless (seekable);
  fail_unless_equals_int64 (duration, 2 * GST_SECOND);
  gst_query_unref (query);

  for (guint k = 0; k < 3; k++) {
    const gboolean back = k == 1;

    seek (h, back ? -1 : 1,
        k < 2 ? GST_SEEK_FLAG_FLUSH
              : GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_SEGMENT,
        450 * GST_MSECOND, 1100 * GST_MSECOND);
    for (guint i = 4; i < 11; i++) {
      const guint frame = back ? 14 - i : i;
      GstBuffer *buffer = pull_pts (h, frame * GST_SECOND / 10);
      GstMapInfo map;

      gst_buffer_map (buffer, &map, GST_MAP_READ);
      fail_unless (
          gst_buffer_memcmp (first[frame], 0, map.data, map.size) == 0);
      gst_buffer_unmap (buffer, &map);
      gst_buffer_unref (buffer);
    }
    wait_for_event (h, k < 2 ? GST_EVENT_EOS : GST_EVENT_SEGMENT_DONE);
    fail_unless (gst_harness_try_pull (h) == NULL);
  }
  for (guint i = 0; i < 20; i++)
    gst_buffer_unref (first[i]);
  gst_object_unref (pad);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Seeks of an endless view while it runs */
GST_START_TEST (test_seek_endless)
{
  GstHarness *h = new_view ("bundleview turns=0", CAPS ",format=RGB");
  GstPad *pad = gst_element_get_static_pad (h->element, "src");
  gint64 duration;

  gst_harness_push (h, text_buffer (problem));
  gst_harness_push_event (h, gst_event_new_eos ());
  gst_buffer_unref (pull_pts (h, 0));
  fail_if (gst_pad_query_duration (pad, GST_FORMAT_TIME, &duration));
  for (guint i = 1; i < 20; i++) {
    GstBuffer *buffer;
    gboolean found = FALSE;

    seek (h, 1, GST_SEEK_FLAG_FLUSH, i * 100 * GST_SECOND, GST_CLOCK_TIME_NONE);
    while (!found) {
      buffer = gst_harness_pull (h);
      fail_unless (buffer != NULL);
      found = GST_BUFFER_PTS (buffer) == i * 100 * GST_SECOND;
      gst_buffer_unref (buffer);
    }
  }
  gst_object_unref (pad);
  gst_harness_teardown (h);
}
GST_END_TEST;

static void
check_error (const gchar *text, GQuark domain, gint code, const gchar *words)
{
  GstHarness *h = new_view ("bundleview", CAPS ",format=RGB");
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (h->element, bus);
  if (*text)
    gst_harness_push (h, text_buffer (text));
  gst_harness_push_event (h, gst_event_new_eos ());
  message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, domain, code), "%s", error->message);
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_START_TEST (test_errors)
{
  check_error ("", GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "first byte");
  check_error ("hello", GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "begins like none of");
  check_error (
      "PK\3\4", GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE, "zip archive");
  check_error ("2 3 4\n0 0 1 2\n1 0 1", GST_STREAM_ERROR,
      GST_STREAM_ERROR_DECODE, "line 3, end: the text ends");
}
GST_END_TEST;

/* A transforms.json has cameras, and names a file with points: the one that has this
 * @path is shown, and others are a warning with @words. */
static void
check_transforms (const gchar *path, const gchar *words)
{
  static const gchar ply[] =
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n"
      "property float y\nproperty float z\nproperty uint8 red\n"
      "property uint8 green\nproperty uint8 blue\nend_header\n0 0 0 0 255 0\n";
  gchar *folder = temp_folder_new ();
  gchar *name = g_build_filename (folder, "transforms.json", NULL);
  gchar *points = g_build_filename (folder, "points.ply", NULL);
  gchar *text = g_strdup_printf (
      "{\"camera_angle_x\": 0.8, \"ply_file_path\": \"%s\", \"frames\": ["
      "{\"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,2],[0,0,0,1]]},"
      "{\"transform_matrix\": [[-1,0,0,0],[0,1,0,0],[0,0,-1,-2],[0,0,0,1]]}]}",
      path);
  gchar *line =
      g_strdup_printf ("filesrc location=%s ! bundleview turns=1 "
                       "period=1 labels=false point-size=5 ! "
                       "video/x-raw,format=RGB,width=200,height=160 ! "
                       "fakesink name=sink enable-last-sample=true",
          name);
  GstElement *pipeline, *sink;
  GstSample *sample;
  GstMessage *message;
  GError *error = NULL;
  GstMapInfo map;
  const guint8 *middle;

  fail_unless (g_file_set_contents (name, text, -1, NULL));
  fail_unless (g_file_set_contents (points, ply, -1, NULL));
  pipeline = gst_parse_launch (line, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
      GST_CLOCK_TIME_NONE,
      GST_MESSAGE_WARNING | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (words) {
    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING);
    gst_message_parse_warning (message, &error, NULL);
    fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
    g_error_free (error);
    gst_message_unref (message);
    message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline),
        GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  }
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_get (sink, "last-sample", &sample, NULL);
  fail_unless (
      gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ));
  middle = map.data + GST_ROUND_UP_4 (200 * 3) * 80 + 3 * 100;
  fail_unless_equals_int (middle[1] > 150, words == NULL);
  gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
  gst_sample_unref (sample);
  gst_object_unref (sink);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  g_free (line);
  g_free (text);
  g_free (points);
  g_free (name);
  temp_folder_free (folder);
}

GST_START_TEST (test_transforms)
{
  check_transforms ("points.ply", NULL);
  check_transforms ("missing.ply", "missing.ply");
  check_transforms ("../points.ply", "not below the folder");
  check_error ("{\"frames\": []}", GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "no frames");
  check_error ("{\"frames\": [{\"transform_matrix\": [[1]]}]}",
      GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "transform_matrix of frame 0 is no rotation");
  check_error ("{\"fl_x\": 3}", GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
      "no list \"frames\"");
}
GST_END_TEST;

static Suite *
bundleview_suite (void)
{
  Suite *s = suite_create ("bundleview");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_frames);
  tcase_add_test (tc, test_place);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_end);
  tcase_add_test (tc, test_seek);
  tcase_add_test (tc, test_seek_endless);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_transforms);
  return s;
}

GST_CHECK_MAIN (bundleview);
