/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* balview: caps, the rotation, the picture, states, flushes, errors. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

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
    GstHarness *h = new_view ("balview period=1000000000 turns=1", caps);
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
      new_view ("balview turns=1 labels=false point-size=5 elevation=0",
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
  GstHarness *h = new_view ("balview turns=0", CAPS ",format=RGB");

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

static void
check_error (const gchar *text, GQuark domain, gint code, const gchar *words)
{
  GstHarness *h = new_view ("balview", CAPS ",format=RGB");
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
  check_error ("2 3 4\n0 0 1 2\n1 0 1", GST_STREAM_ERROR,
      GST_STREAM_ERROR_DECODE, "line 3, end: the text ends");
}
GST_END_TEST;

static Suite *
balview_suite (void)
{
  Suite *s = suite_create ("balview");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_frames);
  tcase_add_test (tc, test_place);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_errors);
  return s;
}

GST_CHECK_MAIN (balview);
