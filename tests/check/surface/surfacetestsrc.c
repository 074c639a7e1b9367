/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* surfacetestsrc: caps, time, metas, the surfaces themselves, states, errors. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <gst/cudavision/gstsurfacemeta.h>
#include <math.h>
#include <string.h>

#include "tests/check/common/busmessages.h"

#define SEEK_CAPS                                                              \
  "other/tensors,dimensions=(string)20:10:1:1,framerate=(fraction)30/1"

static GstBuffer *
nth (const gchar *line, const gchar *caps, guint n)
{
  GstHarness *h = gst_harness_new_parse (line);
  GstBuffer *buffer = NULL;

  if (caps != NULL)
    gst_harness_set_sink_caps_str (h, caps);
  gst_harness_play (h);
  for (guint i = 0; i <= n; i++) {
    gst_clear_buffer (&buffer);
    buffer = gst_harness_pull (h);
    fail_unless (buffer != NULL);
  }
  gst_harness_teardown (h);
  return buffer;
}

static gdouble
deviation (GstBuffer *buffer)
{
  gdouble sum = 0.0, square = 0.0, n;
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  n = map.size / sizeof (gfloat);
  for (gsize i = 0; i < map.size / sizeof (gfloat); i++) {
    const gdouble z = ((const gfloat *) map.data)[i];

    sum += z;
    square += z * z;
  }
  gst_buffer_unmap (buffer, &map);
  return sqrt (square / n - sum / n * (sum / n));
}

GST_START_TEST (test_caps_and_metas)
{
  GstHarness *h = gst_harness_new_parse (
      "surfacetestsrc dx=2e-6 dy=3e-6 missing=0.1 num-buffers=4");
  GstCvisSurfaceInfo info;
  GstCaps *caps;

  gst_harness_set_sink_caps_str (
      h, GST_CVIS_SURFACE_CAPS ", dimensions=(string)61:47:1:1");
  gst_harness_play (h);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = gst_harness_pull (h);
    GstCvisSurfaceMeta *meta = gst_cvis_buffer_get_surface_meta (buffer);
    guint64 missing = 0;
    GstMapInfo map;

    fail_unless (meta != NULL);
    fail_unless_equals_float (meta->dx, 2e-6);
    fail_unless_equals_float (meta->dy, 3e-6);
    fail_unless_equals_float (meta->z_scale, 1.0);
    fail_unless_equals_int (meta->part, CVIS_SURFACE_PART_MEASURED);
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    fail_unless_equals_uint64 (map.size, 61 * 47 * sizeof (gfloat));
    for (guint j = 0; j < 61 * 47; j++)
      missing += isnan (((const gfloat *) map.data)[j]) != 0;
    gst_buffer_unmap (buffer, &map);
    fail_unless_equals_uint64 (meta->missing, missing);
    fail_unless (missing > 0);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), i);
    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (buffer), gst_util_uint64_scale (i, GST_SECOND, 30));
    gst_buffer_unref (buffer);
  }
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_cvis_surface_info_from_caps (&info, caps, NULL));
  fail_unless_equals_int (info.width, 61);
  fail_unless_equals_int (info.height, 47);
  fail_unless_equals_float (info.dx, 2e-6);
  fail_unless_equals_float (info.dy, 3e-6);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_events)
{
  const gchar *line = "surfacetestsrc parts=roughness event-period=3 "
                      "event-gain=4";
  GstBuffer *plain = nth (line, NULL, 1), *event = nth (line, NULL, 2);
  GstBuffer *next = nth (line, NULL, 3);

  fail_unless (fabs (deviation (plain) / 1e-7 - 1.0) < 0.1);
  fail_unless (fabs (deviation (event) / deviation (plain) - 4.0) < 1e-3);
  fail_unless (fabs (deviation (next) / deviation (plain) - 1.0) < 1e-6);
  gst_buffer_unref (plain);
  gst_buffer_unref (event);
  gst_buffer_unref (next);
}
GST_END_TEST;

/* The same settings give the same surface, another seed another one. */
GST_START_TEST (test_seed)
{
  GstBuffer *a = nth ("surfacetestsrc seed=5 velocity-x=1e-5", NULL, 2);
  GstBuffer *b = nth ("surfacetestsrc seed=5 velocity-x=1e-5", NULL, 2);
  GstBuffer *c = nth ("surfacetestsrc seed=6 velocity-x=1e-5", NULL, 2);
  GstMapInfo map;

  fail_unless (gst_buffer_map (a, &map, GST_MAP_READ));
  fail_unless_equals_int (gst_buffer_memcmp (b, 0, map.data, map.size), 0);
  fail_if (gst_buffer_memcmp (c, 0, map.data, map.size) == 0);
  gst_buffer_unmap (a, &map);
  gst_buffer_unref (a);
  gst_buffer_unref (b);
  gst_buffer_unref (c);
}
GST_END_TEST;

GST_START_TEST (test_live)
{
  GstHarness *h = gst_harness_new_parse ("surfacetestsrc is-live=true");
  GstBuffer *buffer;

  gst_harness_use_testclock (h);
  gst_harness_play (h);
  for (guint i = 1; i <= 3; i++) {
    fail_unless (gst_harness_wait_for_clock_id_waits (h, 1, 10));
    fail_unless (gst_harness_crank_single_clock_wait (h));
    buffer = gst_harness_pull (h);
    fail_unless (buffer != NULL);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A live pipeline has a latency of one surface, and its sink tolerates it. */
GST_START_TEST (test_latency)
{
  GstHarness *h = gst_harness_new_parse ("surfacetestsrc is-live=true");
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min, max;
  gboolean live;

  gst_harness_use_systemclock (h);
  gst_harness_set_sink_caps_str (
      h, GST_CVIS_SURFACE_CAPS ", framerate=(fraction)50/1");
  gst_harness_play (h);
  gst_buffer_unref (gst_harness_pull (h));
  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless_equals_uint64 (min, GST_SECOND / 50);
  fail_unless_equals_uint64 (max, GST_CLOCK_TIME_NONE);
  gst_query_unref (query);
  gst_harness_teardown (h);

  bus_expect_first ("surfacetestsrc is-live=true num-buffers=3 ! "
                    "other/tensors,framerate=100/1 ! fakesink sync=true",
      GST_MESSAGE_EOS, NULL);
}
GST_END_TEST;

/* The surface shown at a time does not depend on how the time was reached. */
static void
expect_surface (GstElement *sink, const gchar *signal, guint64 frame)
{
  GstBuffer *plain =
      nth ("surfacetestsrc velocity-x=1e-6", SEEK_CAPS, (guint) frame);
  GstSample *sample;
  GstBuffer *buffer;
  GstMapInfo map;

  g_signal_emit_by_name (sink, signal, &sample);
  fail_unless (sample != NULL);
  buffer = gst_sample_get_buffer (sample);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), frame);
  fail_unless_equals_uint64 (
      GST_BUFFER_PTS (buffer), gst_util_uint64_scale (frame, GST_SECOND, 30));
  fail_unless (gst_buffer_map (plain, &map, GST_MAP_READ));
  fail_unless_equals_int (gst_buffer_memcmp (buffer, 0, map.data, map.size), 0);
  gst_buffer_unmap (plain, &map);
  gst_buffer_unref (plain);
  gst_sample_unref (sample);
}

GST_START_TEST (test_seek)
{
  GstElement *pipeline =
      gst_parse_launch ("surfacetestsrc velocity-x=1e-6 ! " SEEK_CAPS " ! "
                        "appsink name=sink sync=false max-buffers=1",
          NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  static const guint64 frames[] = { 25, 7, 0 };
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    /* within its duration, and exactly at its start */
    for (guint within = 0; within < 2; within++) {
      fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
          GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
          (gint64) gst_util_uint64_scale (frames[i], GST_SECOND, 30)
              + 1000 * within));
      gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
      expect_surface (sink, "pull-preroll", frames[i]);
    }
  }
  fail_unless (
      gst_element_seek (pipeline, -1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
          GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, GST_SECOND / 10));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 3; i-- > 0;)
    expect_surface (sink, "pull-sample", i);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  fail_unless (sample == NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  GstElement *pipeline = gst_parse_launch ("surfacetestsrc ! fakesink", NULL);

  for (guint i = 0; i < 50; i++) {
    fail_unless (gst_element_set_state (
                     pipeline, i % 2 ? GST_STATE_PAUSED : GST_STATE_PLAYING)
                 != GST_STATE_CHANGE_FAILURE);
    gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* The error message itself says what is not supported. */
GST_START_TEST (test_bad_size)
{
  static const struct {
    const gchar *dimensions, *text;
  } cases[] = {
    { "0:5", "dimensions is \"0:5\"" },
    { "1048577:1", "dimensions is \"1048577:1\"" },
    { "32768:32768", "surfaces of 32768x32768 points have 4294967296 bytes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *line = g_strdup_printf (
        "surfacetestsrc ! other/tensors,dimensions=(string)%s ! fakesink",
        cases[i].dimensions);
    GstElement *pipeline = gst_parse_launch (line, NULL);
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessage *message;
    GError *error;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message =
        gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
    fail_unless (message != NULL);
    gst_message_parse_error (message, &error, NULL);
    fail_unless (
        g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION));
    fail_unless (
        strstr (error->message, cases[i].text) != NULL, "%s", error->message);
    g_error_free (error);
    gst_message_unref (message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (pipeline);
    g_free (line);
  }
}
GST_END_TEST;

/* A controller doubles the roughness within a second of stream time. */
GST_START_TEST (test_controller)
{
  GstHarness *h = gst_harness_new_parse ("surfacetestsrc parts=roughness");
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstElement *element = gst_harness_find_element (h, "surfacetestsrc");
  gdouble first = 0.0;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (
      GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, 1e-7);
  gst_timed_value_control_source_set (
      GST_TIMED_VALUE_CONTROL_SOURCE (source), GST_SECOND, 2e-7);
  fail_unless (gst_object_add_control_binding (
      GST_OBJECT (element), gst_direct_control_binding_new_absolute (
                                GST_OBJECT (element), "roughness", source)));
  gst_harness_set_sink_caps_str (
      h, GST_CVIS_SURFACE_CAPS ", framerate=(fraction)2/1");
  gst_harness_play (h);
  for (guint i = 0; i <= 2; i++) {
    GstBuffer *buffer = gst_harness_pull (h);

    if (i == 0)
      first = deviation (buffer);
    fail_unless (fabs (deviation (buffer) / first - (1.0 + i / 2.0)) < 1e-3);
    gst_buffer_unref (buffer);
  }
  gst_object_unref (source);
  gst_object_unref (element);
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
surfacetestsrc_suite (void)
{
  Suite *s = suite_create ("surfacetestsrc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_caps_and_metas);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_seed);
  tcase_add_test (tc, test_live);
  tcase_add_test (tc, test_latency);
  tcase_add_test (tc, test_seek);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_bad_size);
  tcase_add_test (tc, test_controller);
  return s;
}

GST_CHECK_MAIN (surfacetestsrc);
