/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* filmgrainenc: entries and their times, formats, frames without a counterpart, and
 * errors. The arithmetic is tested in tests/unit/filmgrain. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <string.h>

#include "tests/check/common/busmessages.h"

#define FRAME_NS (40 * GST_MSECOND)
#define WIDTH 128
#define HEIGHT 96

/* A frame of grey with noise of -@noise, 0 or @noise levels in all components */
static GstBuffer *
frame_of (const gchar *format, guint number, gint noise)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;
  GRand *rand = g_rand_new_with_seed (number);

  gst_video_info_set_format (
      &info, gst_video_format_from_string (format), WIDTH, HEIGHT);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (buffer, 0, 0, info.size);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (&frame); p++) {
    const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (&frame, p);
    guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (&frame, p);
    const guint rows =
        p == 0 ? HEIGHT : GST_VIDEO_FRAME_COMP_HEIGHT (&frame, p);
    const guint depth = GST_VIDEO_INFO_COMP_DEPTH (&info, 0);
    const guint shift = GST_VIDEO_FORMAT_INFO_SHIFT (info.finfo, 0);

    for (guint y = 0; y < rows; y++)
      for (gint x = 0; x < stride / (depth > 8 ? 2 : 1); x++) {
        const gint level = 128 + noise * g_rand_int_range (rand, -1, 2);

        if (depth > 8)
          GST_WRITE_UINT16_LE (
              data + (gsize) y * stride + 2 * x, level << (depth - 8) << shift);
        else
          data[(gsize) y * stride + x] = (guint8) level;
      }
  }
  gst_video_frame_unmap (&frame);
  g_rand_free (rand);
  GST_BUFFER_PTS (buffer) = number * FRAME_NS;
  GST_BUFFER_DURATION (buffer) = FRAME_NS;
  return buffer;
}

typedef struct {
  GstElement *element;
  GstHarness *source, *denoised;
  GstBus *bus;
} Rig;

static void
set_caps (GstHarness *h, const gchar *format, guint width)
{
  gchar *caps = g_strdup_printf (
      "video/x-raw,format=%s,width=%u,height=%u,framerate=25/1", format, width,
      HEIGHT);

  gst_harness_set_src_caps_str (h, caps);
  g_free (caps);
}

static Rig
rig_new (const gchar *format, guint interval)
{
  Rig rig = { .element = gst_element_factory_make ("filmgrainenc", NULL),
    .bus = gst_bus_new () };

  gst_object_ref_sink (rig.element);
  g_object_set (rig.element, "interval", interval, NULL);
  gst_element_set_bus (rig.element, rig.bus);
  rig.source = gst_harness_new_with_element (rig.element, "sink", "src");
  rig.denoised =
      gst_harness_new_with_element (rig.element, "sink_denoised", NULL);
  set_caps (rig.source, format, WIDTH);
  set_caps (rig.denoised, format, WIDTH);
  return rig;
}

static void
rig_free (Rig *rig)
{
  gst_harness_teardown (rig->denoised);
  gst_harness_teardown (rig->source);
  gst_element_set_state (rig->element, GST_STATE_NULL);
  gst_element_set_bus (rig->element, NULL);
  gst_object_unref (rig->bus);
  gst_object_unref (rig->element);
}

/* Returns: the table; free with g_free() */
static gchar *
finish_stream (Rig *rig)
{
  GstBuffer *buffer;
  GstMapInfo map;
  gchar *text;

  gst_harness_push_event (rig->source, gst_event_new_eos ());
  gst_harness_push_event (rig->denoised, gst_event_new_eos ());
  buffer = gst_harness_pull (rig->source);
  fail_unless (buffer != NULL, "no table");
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  text = g_strndup ((const gchar *) map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  return text;
}

/* Number of frames and strength of the next message */
static void
expect_entry (Rig *rig, guint frames, gdouble least, gdouble most)
{
  GstMessage *message = gst_bus_timed_pop_filtered (
      rig->bus, 5 * GST_SECOND, GST_MESSAGE_ELEMENT);
  const GstStructure *s;
  guint count;
  gdouble strength;

  fail_unless (message != NULL, "no message");
  s = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (s, "filmgrainenc-entry"));
  fail_unless (gst_structure_get (s, "frames", G_TYPE_UINT, &count, "luma",
      G_TYPE_DOUBLE, &strength, NULL));
  fail_unless_equals_int (count, frames);
  fail_unless (strength >= least && strength <= most, "strength %g", strength);
  gst_message_unref (message);
}

static const gchar *const formats[] = { "I420", "NV12", "Y42B", "Y444", "GRAY8",
  "I420_10LE", "P010_10LE", "I422_10LE", "Y444_10LE" };

/* The strength is that of the noise, 3 sqrt (2/3) levels. */
GST_START_TEST (test_formats)
{
  const gchar *format = formats[__i__];
  Rig rig = rig_new (format, 0);
  gchar *table;

  for (guint i = 0; i < 4; i++) {
    gst_harness_push (rig.source, frame_of (format, i, 3));
    gst_harness_push (rig.denoised, frame_of (format, i, 0));
  }
  table = finish_stream (&rig);
  fail_unless (g_str_has_prefix (
      table, "filmgrn1\nE 0 9223372036854775807 1 7391 1\n\tp 3 "));
  expect_entry (&rig, 4, 2.3, 2.6);
  g_free (table);
  rig_free (&rig);
}
GST_END_TEST;

GST_START_TEST (test_interval)
{
  Rig rig = rig_new ("I420", 2);
  gchar *table;

  for (guint i = 5; i < 10; i++) { /* times count from the first frame */
    gst_harness_push (rig.source, frame_of ("I420", i, i < 7 ? 2 : 6));
    gst_harness_push (rig.denoised, frame_of ("I420", i, 0));
  }
  table = finish_stream (&rig);
  fail_unless (strstr (table, "filmgrn1\nE 0 800000 1 ") != NULL, table);
  fail_unless (strstr (table, "\nE 800000 1600000 1 ") != NULL, table);
  fail_unless (
      strstr (table, "\nE 1600000 9223372036854775807 1 ") != NULL, table);
  expect_entry (&rig, 2, 1.5, 1.8);
  expect_entry (&rig, 2, 4.6, 5.2);
  expect_entry (&rig, 1, 4.6, 5.2);
  g_free (table);
  rig_free (&rig);
}
GST_END_TEST;

/* Frames are paired by their time. */
GST_START_TEST (test_unpaired)
{
  Rig rig = rig_new ("I420", 0);
  gchar *table;

  for (guint i = 0; i < 5; i++) {
    if (i != 1)
      gst_harness_push (rig.source, frame_of ("I420", i, 3));
    if (i != 2 && i != 4)
      gst_harness_push (rig.denoised, frame_of ("I420", i, 0));
  }
  table = finish_stream (&rig);
  expect_entry (&rig, 2, 2.3, 2.6);
  bus_expect (rig.bus, GST_MESSAGE_WARNING, "3 frames of one video");
  g_free (table);
  rig_free (&rig);
}
GST_END_TEST;

/* A stream without frames gives a table without entries. */
GST_START_TEST (test_empty_table)
{
  Rig rig = rig_new ("I420", 0);
  gchar *table = finish_stream (&rig);

  fail_unless_equals_string (table, "filmgrn1\n");
  g_free (table);
  rig_free (&rig);
}
GST_END_TEST;

GST_START_TEST (test_other_size)
{
  Rig rig = rig_new ("I420", 0);

  set_caps (rig.denoised, "I420", WIDTH / 2);
  gst_harness_push (rig.source, frame_of ("I420", 0, 3));
  gst_harness_push (rig.denoised, frame_of ("I420", 0, 0));
  bus_expect (rig.bus, GST_MESSAGE_ERROR, "sink_denoised has I420, 64x96");
  rig_free (&rig);
}
GST_END_TEST;

/* Another size begins another entry. */
GST_START_TEST (test_size_change)
{
  Rig rig = rig_new ("I420", 0);
  gchar *table;

  gst_harness_push (rig.source, frame_of ("I420", 0, 3));
  gst_harness_push (rig.denoised, frame_of ("I420", 0, 0));
  set_caps (rig.source, "NV12", WIDTH);
  set_caps (rig.denoised, "NV12", WIDTH);
  gst_harness_push (rig.source, frame_of ("NV12", 1, 3));
  gst_harness_push (rig.denoised, frame_of ("NV12", 1, 0));
  table = finish_stream (&rig);
  expect_entry (&rig, 1, 2.2, 2.7);
  expect_entry (&rig, 1, 2.2, 2.7);
  fail_unless (strstr (table, "filmgrn1\nE 0 400000 1 ") != NULL, table);
  g_free (table);
  rig_free (&rig);
}
GST_END_TEST;

GST_START_TEST (test_short_buffer)
{
  Rig rig = rig_new ("I420", 0);
  GstBuffer *buffer = frame_of ("I420", 0, 3);

  gst_buffer_set_size (buffer, 100);
  gst_harness_push (rig.source, buffer);
  gst_harness_push (rig.denoised, frame_of ("I420", 0, 0));
  bus_expect (rig.bus, GST_MESSAGE_ERROR, "Cannot read a frame of sink:");
  rig_free (&rig);
}
GST_END_TEST;

static Suite *
filmgrainenc_suite (void)
{
  Suite *s = suite_create ("filmgrainenc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_formats, 0, G_N_ELEMENTS (formats));
  tcase_add_test (tc, test_interval);
  tcase_add_test (tc, test_unpaired);
  tcase_add_test (tc, test_empty_table);
  tcase_add_test (tc, test_other_size);
  tcase_add_test (tc, test_size_change);
  tcase_add_test (tc, test_short_buffer);
  return s;
}

GST_CHECK_MAIN (filmgrainenc);
