/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudadenoise, the modes over time: no frame is lost, times stay, latency, sequences that
 * end, formats, errors. tests/unit/denoise judges the pictures. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include "tests/check/common/busmessages.h"

#define FRAME_NS (40 * GST_MSECOND)

static GstHarness *
harness_new (const gchar *settings, const gchar *format)
{
  gchar *line = g_strdup_printf ("cudadenoise backend=cpu %s", settings);
  gchar *caps = g_strdup_printf (
      "video/x-raw,format=%s,width=50,height=34,framerate=25/1", format);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, caps);
  g_free (line);
  g_free (caps);
  return h;
}

/* Frame @number, with random samples */
static GstBuffer *
make_noise (GstHarness *h, guint number)
{
  GstCaps *caps = gst_pad_get_current_caps (h->srcpad);
  GstBuffer *buffer;
  GstVideoInfo info;
  GstMapInfo map;

  gst_video_info_from_caps (&info, caps);
  gst_caps_unref (caps);
  buffer = gst_harness_create_buffer (h, GST_VIDEO_INFO_SIZE (&info));
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8) g_random_int_range (90, 130);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * FRAME_NS;
  GST_BUFFER_DURATION (buffer) = FRAME_NS;
  return buffer;
}

static GstFlowReturn
push_noise (GstHarness *h, guint number)
{
  return gst_harness_push (h, make_noise (h, number));
}

/* Takes frames @first to @last - 1. */
static void
pull_frames (GstHarness *h, guint first, guint last)
{
  for (guint i = first; i < last; i++) {
    GstBuffer *buffer = gst_harness_pull (h);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * FRAME_NS);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), FRAME_NS);
    gst_buffer_unref (buffer);
  }
}

/* Frames leave when the later ones are there, the rest at EOS. */
GST_START_TEST (test_look_ahead)
{
  GstHarness *h = harness_new ("radius=3", "I420");

  for (guint i = 0; i < 8; i++)
    fail_unless_equals_int (push_noise (h, i), GST_FLOW_OK);
  pull_frames (h, 0, 5);
  g_usleep (50000);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  pull_frames (h, 5, 8);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_recursive_has_no_look_ahead)
{
  GstHarness *h = harness_new ("mode=recursive", "NV12");

  for (guint i = 0; i < 4; i++) {
    fail_unless_equals_int (push_noise (h, i), GST_FLOW_OK);
    pull_frames (h, i, i + 1);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

static GstClockTime
query_latency (const gchar *settings)
{
  GstHarness *h = harness_new (settings, "GRAY8");
  GstClockTime latency;

  push_noise (h, 0);
  latency = gst_harness_query_latency (h);
  gst_harness_teardown (h);
  return latency;
}

GST_START_TEST (test_latency)
{
  fail_unless_equals_uint64 (
      query_latency ("radius=1 frames-in-flight=1"), 2 * FRAME_NS);
  fail_unless_equals_uint64 (
      query_latency ("frames-in-flight=1"), 3 * FRAME_NS);
  fail_unless_equals_uint64 (
      query_latency ("preset=encoder frames-in-flight=1"), 4 * FRAME_NS);
  fail_unless_equals_uint64 (
      query_latency ("radius=6 frames-in-flight=1"), 7 * FRAME_NS);
  fail_unless_equals_uint64 (
      query_latency ("mode=recursive frames-in-flight=1"), FRAME_NS);
  fail_unless_equals_uint64 (
      query_latency ("mode=spatial frames-in-flight=1"), FRAME_NS);
}
GST_END_TEST;

/* New caps, a gap and a flush end a sequence; the flush drops what waits. */
GST_START_TEST (test_sequences)
{
  GstHarness *h = harness_new ("radius=2", "I420");
  GstSegment segment;

  for (guint i = 0; i < 3; i++)
    push_noise (h, i);
  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=Y444,width=20,height=70,framerate=25/1");
  pull_frames (h, 0, 3);
  push_noise (h, 3);
  gst_harness_push_event (h, gst_event_new_gap (4 * FRAME_NS, FRAME_NS));
  pull_frames (h, 3, 4);
  push_noise (h, 5);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  push_noise (h, 6);
  gst_harness_push_event (h, gst_event_new_eos ());
  pull_frames (h, 6, 7);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  gst_harness_teardown (h);
}
GST_END_TEST;

#define N_CHANGED 12

/* How much each frame of a stream of noise is changed; a key frame is wanted of frame
 * @forced. */
static void
measure_changes (const gchar *settings, guint forced, guint changes[N_CHANGED])
{
  gchar *line =
      g_strdup_printf ("preset=encoder sigma=12 radius=1 %s", settings);
  GstHarness *h = harness_new (line, "GRAY8");
  GstBuffer *frames[N_CHANGED];

  g_random_set_seed (1);
  for (guint i = 0; i < N_CHANGED; i++) {
    if (i == forced)
      fail_unless (gst_harness_push_event (
          h, gst_video_event_new_downstream_force_key_unit (i * FRAME_NS,
                 GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE, FALSE, 0)));
    frames[i] = make_noise (h, i);
    fail_unless_equals_int (
        gst_harness_push (h, gst_buffer_copy_deep (frames[i])), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint i = 0; i < N_CHANGED; i++) {
    GstBuffer *out = gst_harness_pull (h);
    GstMapInfo a, b;

    gst_buffer_map (frames[i], &a, GST_MAP_READ);
    gst_buffer_map (out, &b, GST_MAP_READ);
    changes[i] = 0;
    for (gsize k = 0; k < a.size; k++)
      if (k % 52 < 50) /* not the padding of rows */
        changes[i] += (guint) ABS (a.data[k] - b.data[k]);
    gst_buffer_unmap (frames[i], &a);
    gst_buffer_unmap (out, &b);
    gst_buffer_unref (frames[i]);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
  g_free (line);
}

/* Frames of which the encoder makes a key frame are changed by more than the half. */
GST_START_TEST (test_key_frames)
{
  guint none[N_CHANGED], forced[N_CHANGED], regular[N_CHANGED];

  measure_changes ("", N_CHANGED, none);
  measure_changes ("", 5, forced);
  measure_changes ("gop-size=5", N_CHANGED, regular);
  for (guint i = 0; i < N_CHANGED; i++) {
    fail_unless (
        forced[i] == none[i] || (i == 5 && 2 * forced[i] > 3 * none[i]),
        "frame %u: %u, without %u", i, forced[i], none[i]);
    fail_unless ((regular[i] == none[i]) == (i != 5 && i != 10),
        "frame %u: %u, without %u", i, regular[i], none[i]);
  }
  fail_unless (2 * forced[5] > 3 * none[5]);
  fail_unless_equals_int (regular[5], forced[5]);
  /* of an interval that an event begins */
  measure_changes ("gop-size=5", 3, regular);
  fail_unless (2 * regular[3] > 3 * none[3]);
  fail_unless_equals_int (regular[5], none[5]);
  fail_unless (2 * regular[8] > 3 * none[8]);
}
GST_END_TEST;

GST_START_TEST (test_formats)
{
  static const gchar *const formats[] = { "GRAY8", "GRAY16_LE", "I420", "NV12",
    "Y42B", "Y444", "P010_10LE", "I420_10LE", "I422_10LE", "Y444_10LE" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstHarness *h = harness_new ("radius=1", formats[i]);

    for (guint k = 0; k < 3; k++)
      fail_unless_equals_int (push_noise (h, k), GST_FLOW_OK);
    gst_harness_push_event (h, gst_event_new_eos ());
    pull_frames (h, 0, 3);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

GST_START_TEST (test_interlaced)
{
  GstHarness *h = gst_harness_new_parse ("cudadenoise backend=cpu");
  GstElement *element = gst_harness_find_element (h, "cudadenoise");
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  gst_harness_set_src_caps_str (h,
      "video/x-raw,format=I420,width=50,height=34,framerate=25/1,"
      "interlace-mode=interleaved");
  bus_expect_error (bus, "Put deinterlace before cudadenoise");
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
denoisemodes_suite (void)
{
  Suite *suite = suite_create ("denoisemodes");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_look_ahead);
  tcase_add_test (tests, test_recursive_has_no_look_ahead);
  tcase_add_test (tests, test_latency);
  tcase_add_test (tests, test_sequences);
  tcase_add_test (tests, test_key_frames);
  tcase_add_test (tests, test_formats);
  tcase_add_test (tests, test_interlaced);
  return suite;
}

GST_CHECK_MAIN (denoisemodes);
