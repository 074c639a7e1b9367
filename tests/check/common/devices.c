/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Several devices, posed by CPU engines: the frames of one device, in order, for every
 * policy and unlike devices; lost devices; the list that a user gives; statistics. The
 * rules of streams are tested by contractflow. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <string.h>

#include "busmessages.h"

#define N_FRAMES 24

/* An element with its source, and what makes its results bytes */
static const struct {
  const gchar *line, *after;
  gboolean blocks; /* frames are cut */
  gboolean chunks; /* longer than a third of the frames */
} lines[] = {
  { "surfacetestsrc num-buffers=24 ! "
    "other/tensors,dimensions=(string)96:64:1:1 ! "
    "cudalwtfilter name=f threads=1 levels=3 roughness-levels=2",
      "" },
  /* surfaces in row blocks: because of their size, and of their memory */
  { "surfacetestsrc num-buffers=24 ! "
    "other/tensors,dimensions=(string)48:1280:1:1 ! "
    "cudalwtfilter name=f filter=wavelet-decimated threads=1 levels=3 "
    "roughness-levels=2 split-samples=1",
      "", TRUE },
  { "surfacetestsrc num-buffers=24 ! "
    "other/tensors,dimensions=(string)48:1280:1:1 ! "
    "cudalwtfilter name=f filter=wavelet-decimated threads=1 levels=3 "
    "roughness-levels=2 f-operation=plane wavelet=db2 cuda-memory-limit=800000",
      "", TRUE },
  { "videotestsrc num-buffers=24 pattern=snow ! "
    "video/x-raw,format=I420,width=64,height=48 ! "
    "cudadenoise mode=wavelets name=f threads=1 chroma=true",
      "" },
  { "videotestsrc num-buffers=24 pattern=zone-plate kx2=20 ky2=20 kt=1 ! "
    "video/x-raw,format=I420,width=64,height=48 ! "
    "cudadenoise name=f threads=1 sigma=8",
      "", FALSE, TRUE },
  { "videotestsrc num-buffers=24 pattern=zone-plate kx2=20 ky2=20 kt=1 ! "
    "video/x-raw,format=NV12,width=64,height=48 ! "
    "cudadenoise mode=temporal name=f threads=1 sigma=8 radius=1",
      "" },
  { "videotestsrc num-buffers=24 pattern=snow ! "
    "video/x-raw,format=NV12,width=64,height=48 ! "
    "cudadenoise mode=spatial name=f threads=1",
      "" },
  { "pbftestsrc num-buffers=24 ! cudapbfmonitor name=f threads=1 batch-size=2",
      "! pbfresultenc" },
  { "videotestsrc num-buffers=24 pattern=ball ! "
    "video/x-raw,format=GRAY8,width=96,height=64 ! "
    "cudamotionest name=f threads=1 method=full references=2 "
    "bidirectional=true",
      "! fakesink async=false f.src_vectors" },
  { "videotestsrc num-buffers=24 pattern=ball ! "
    "video/x-raw,format=GRAY8,width=96,height=64 ! "
    "cudamotionest name=f threads=1",
      "! fakesink async=false f.src_vectors" },
};

/* What a pipeline gave until EOS or an error */
typedef struct {
  GPtrArray *bytes; /* of GBytes, in order */
  GArray *times;    /* of GstClockTime */
  guint warnings;
  gchar *error;
  GstStructure *stats;
} Run;

static void
take_buffer (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Run *run = data;
  const GstClockTime pts = GST_BUFFER_PTS (buffer);
  gpointer bytes;
  gsize size;

  gst_buffer_extract_dup (buffer, 0, (gsize) -1, &bytes, &size);
  g_ptr_array_add (run->bytes, g_bytes_new_take (bytes, size));
  g_array_append_val (run->times, pts);
}

/* Takes @text, a pipeline with the filter f and the sink s. */
static Run
run_text (gchar *text)
{
  Run run = { .bytes = g_ptr_array_new_with_free_func (
                  (GDestroyNotify) g_bytes_unref),
    .times = g_array_new (FALSE, FALSE, sizeof (GstClockTime)) };
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);
  GstElement *sink, *filter;
  GstBus *bus;
  gboolean ended = FALSE;

  g_assert_no_error (error);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  g_signal_connect (sink, "handoff", G_CALLBACK (take_buffer), &run);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!ended) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);

    fail_unless (message != NULL, "%s: neither EOS nor an error", text);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
      run.warnings++;
    } else {
      ended = TRUE;
      if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error (message, &error, NULL);
        run.error = g_strdup (error->message);
        g_clear_error (&error);
      }
    }
    gst_message_unref (message);
  }
  g_object_get (filter, "stats", &run.stats, NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (filter);
  gst_object_unref (pipeline);
  g_free (text);
  return run;
}

static Run
run_line (guint which, const gchar *settings)
{
  return run_text (
      g_strdup_printf ("%s %s %s ! fakesink name=s signal-handoffs=true",
          lines[which].line, settings, lines[which].after));
}

static void
run_clear (Run *run)
{
  g_ptr_array_unref (run->bytes);
  g_array_unref (run->times);
  g_free (run->error);
  gst_structure_free (run->stats);
}

/* @n frames of @run are the first ones of @expected. */
static void
compare (const Run *run, const Run *expected, guint n)
{
  fail_unless_equals_int ((gint) run->bytes->len, (gint) n);
  for (guint i = 0; i < n; i++) {
    fail_unless (
        g_bytes_equal (run->bytes->pdata[i], expected->bytes->pdata[i]),
        "frame %u differs", i);
    fail_unless_equals_uint64 (g_array_index (run->times, GstClockTime, i),
        g_array_index (expected->times, GstClockTime, i));
  }
}

static void
pose (const gchar *devices, const gchar *faults)
{
  g_setenv ("CUDAVISION_POSED_DEVICES", devices, TRUE);
  g_setenv ("CUDAVISION_FAULTS", faults, TRUE);
}

/* --- tests ------------------------------------------------------------------- */

GST_START_TEST (test_equal_bits)
{
  static const gchar *const posed[] = { "1", "2", "3", "3:1:1" };
  static const gchar *const policies[] = { "queue", "equal", "fuzzy" };
  Run expected = run_line ((guint) __i__, "backend=cpu");

  fail_unless (expected.bytes->len >= N_FRAMES / 2); /* by batches */
  for (guint i = 0; i < G_N_ELEMENTS (posed); i++)
    for (guint k = 0; k < G_N_ELEMENTS (policies); k++) {
      gchar *settings =
          g_strdup_printf ("cuda-device-ids=all balance=%s", policies[k]);
      Run run;

      pose (posed[i], "");
      run = run_line ((guint) __i__, settings);
      compare (&run, &expected, expected.bytes->len);
      fail_unless_equals_int ((gint) run.warnings, 0);
      run_clear (&run);
      g_free (settings);
    }
  run_clear (&expected);
}
GST_END_TEST;

/* One or two of three devices are lost, each with any of its jobs. */
GST_START_TEST (test_lost_devices)
{
  Run expected = run_line ((guint) __i__, "backend=cpu");
  GRand *random = g_rand_new_with_seed (33 + (guint32) __i__);

  for (guint round = 0; round < 100; round++) {
    const gint first = g_rand_int_range (random, 0, 3);
    const gint second = (first + g_rand_int_range (random, 0, 3)) % 3;
    gchar *faults =
        g_strdup_printf ("%d:%d,%d:%d", first, g_rand_int_range (random, 1, 9),
            second, g_rand_int_range (random, 1, 9));
    Run run;

    pose (round % 2 ? "3" : "2:1:1", faults);
    run = run_line ((guint) __i__, "cuda-device-ids=0,1,2 backend=cuda");
    compare (&run, &expected, expected.bytes->len);
    fail_unless (run.error == NULL, "%s", run.error);
    fail_unless (run.warnings <= 2, "%u warnings", run.warnings);
    run_clear (&run);
    g_free (faults);
  }
  g_rand_free (random);
  run_clear (&expected);
}
GST_END_TEST;

/* With backend=auto the CPU goes on; else what was complete leaves before the error. */
GST_START_TEST (test_all_lost)
{
  Run expected = run_line ((guint) __i__, "backend=cpu");
  Run run;

  pose ("2", "0:2,1:4");
  run = run_line ((guint) __i__, "cuda-device-ids=all");
  compare (&run, &expected, expected.bytes->len);
  fail_unless (run.error == NULL, "%s", run.error);
  run_clear (&run);

  run = run_line ((guint) __i__, "cuda-device-ids=all backend=cuda");
  fail_unless (run.error != NULL && strstr (run.error, "device ") != NULL);
  fail_unless (run.bytes->len < expected.bytes->len);
  compare (&run, &expected, run.bytes->len);
  run_clear (&run);
  run_clear (&expected);
}
GST_END_TEST;

GST_START_TEST (test_lists)
{
  static const struct {
    const gchar *ids, *words;
  } bad[] = {
    { "0,7", "no CUDA device 7: this machine has 2" },
    { "0,0", "device 0 is twice in the list" },
    { "0,one", "\"one\" is no number of a device" },
    { "0,,1", "\"\" is no number of a device" },
  };

  pose ("2", "");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    gchar *line = g_strdup_printf (
        "%s cuda-device-ids=%s ! fakesink", lines[__i__].line, bad[i].ids);

    bus_expect_first (line, GST_MESSAGE_ERROR, bad[i].words);
    g_free (line);
  }
}
GST_END_TEST;

GST_START_TEST (test_stats)
{
  gdouble shares = 0.0;
  guint64 frames = 0;
  const GValue *devices;
  Run run;

  pose ("3", "");
  run = run_line ((guint) __i__, "cuda-device-ids=all balance=equal");
  devices = gst_structure_get_value (run.stats, "devices");
  fail_unless (devices != NULL);
  fail_unless_equals_int ((gint) gst_value_array_get_size (devices), 3);
  for (guint i = 0; i < 3; i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (devices, i));
    gdouble share, busy;
    gboolean lost;
    guint64 jobs;

    fail_unless (gst_structure_get_uint64 (s, "frames", &jobs));
    frames += jobs;
    fail_unless (gst_structure_get_double (s, "share", &share));
    fail_unless (gst_structure_get_double (s, "busy", &busy));
    fail_unless (gst_structure_get_boolean (s, "lost", &lost) && !lost);
    fail_unless (busy >= 0.0 && busy <= 1.0, "busy %g", busy);
    /* a chunk of motion has up to four frames, one of cudadenoise more */
    if (!lines[__i__].chunks)
      fail_unless (busy > 0.0 && share > 0.1 && share < 0.6, "share %g", share);
    shares += share;
  }
  fail_unless (ABS (shares - 1.0) < 1e-9);
  if (lines[__i__].blocks)
    fail_unless (frames >= 3 * N_FRAMES, "%" G_GUINT64_FORMAT, frames);
  else
    fail_unless (frames <= N_FRAMES, "%" G_GUINT64_FORMAT, frames);
  run_clear (&run);

  run = run_line ((guint) __i__, "backend=cpu");
  fail_if (gst_structure_has_field (run.stats, "devices"));
  run_clear (&run);
}
GST_END_TEST;

/* A source faster than the devices has no more in flight than they accept. */
GST_START_TEST (test_fast_sources)
{
  static const gchar *const fast[] = {
    "pbftestsrc pre-render=64 frames-per-list=64 num-buffers=4000 ! "
    "cudapbfmonitor batch-size=16",
    "videotestsrc num-buffers=100 ! "
    "video/x-raw,format=GRAY8,width=320,height=240 ! "
    "cudamotionest",
    "videotestsrc num-buffers=100 ! "
    "video/x-raw,format=GRAY8,width=320,height=240 ! cudadenoise mode=wavelets",
    "videotestsrc num-buffers=100 ! "
    "video/x-raw,format=GRAY8,width=160,height=120 ! cudadenoise",
    "surfacetestsrc num-buffers=60 ! "
    "other/tensors,dimensions=(string)256:256:1:1 ! cudalwtfilter",
  };
  gchar *line = g_strdup_printf (
      "%s threads=1 cuda-device-ids=all ! fakesink", fast[__i__]);

  pose ("2:2", "");
  bus_expect_first (line, GST_MESSAGE_EOS, NULL);
  g_free (line);
}
GST_END_TEST;

/* Frames of one size and then of another */
static Run
run_changing (const gchar *element, const gchar *settings)
{
  return run_text (g_strdup_printf (
      "concat name=c ! %s name=f threads=1 %s ! "
      "fakesink name=s signal-handoffs=true "
      "videotestsrc num-buffers=24 ! "
      "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1 ! c. "
      "videotestsrc num-buffers=24 ! "
      "video/x-raw,format=GRAY8,width=96,height=80,framerate=30/1 ! c.",
      element, settings));
}

/* A lost device is not asked again when the caps change. */
GST_START_TEST (test_caps_after_loss)
{
  static const gchar *const elements[] = {
    "cudalwtfilter levels=2 roughness-levels=1",
    "cudadenoise mode=wavelets levels=2",
    "cudadenoise",
    "cudapbfmonitor batch-size=2",
    "cudamotionest",
  };
  const gchar *element = elements[__i__];
  Run expected = run_changing (element, "backend=cpu"), run;
  const GValue *devices;

  pose ("3", "1:1");
  run = run_changing (element, "cuda-device-ids=all balance=equal");
  compare (&run, &expected, expected.bytes->len);
  fail_unless (run.error == NULL, "%s", run.error);
  devices = gst_structure_get_value (run.stats, "devices");
  fail_unless_equals_int ((gint) gst_value_array_get_size (devices), 2);
  run_clear (&run);

  /* the CPU goes on alone */
  pose ("2", "0:1,1:1");
  run = run_changing (element, "cuda-device-ids=all balance=equal");
  compare (&run, &expected, expected.bytes->len);
  fail_unless (run.error == NULL, "%s", run.error);
  fail_if (gst_structure_has_field (run.stats, "devices"));
  run_clear (&run);
  run_clear (&expected);
}
GST_END_TEST;

/* A result that starts from the one before stays on one device. */
GST_START_TEST (test_sequential)
{
  pose ("2", "");
  bus_expect_first (
      "videotestsrc num-buffers=2 ! video/x-raw,width=64,height=48 ! "
      "cudadenoise mode=recursive cuda-device-ids=all ! fakesink",
      GST_MESSAGE_WARNING, "with mode=recursive");
}
GST_END_TEST;

/* From a live source, such as a harness, chunks of 4 frames with radius=1: 5 and the
 * frame after them for two devices */
GST_START_TEST (test_live_chunks)
{
  const GstClockTime frame = 40 * GST_MSECOND;
  GstHarness *h;

  pose ("2", "");
  h = gst_harness_new_parse (
      "cudadenoise radius=1 threads=1 cuda-device-ids=all");
  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1");
  fail_unless_equals_int (
      gst_harness_push (h, gst_harness_create_buffer (h, 64 * 48)),
      GST_FLOW_OK);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 21 * frame);
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
devices_suite (void)
{
  Suite *suite = suite_create ("devices");
  TCase *tests = tcase_create ("general");
  const gint n = G_N_ELEMENTS (lines);

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 200);
  tcase_add_loop_test (tests, test_equal_bits, 0, n);
  tcase_add_loop_test (tests, test_lost_devices, 0, n);
  tcase_add_loop_test (tests, test_all_lost, 0, n);
  tcase_add_loop_test (tests, test_lists, 0, n);
  tcase_add_loop_test (tests, test_stats, 0, n);
  tcase_add_loop_test (tests, test_fast_sources, 0, 5);
  tcase_add_loop_test (tests, test_caps_after_loss, 0, 5);
  tcase_add_test (tests, test_sequential);
  tcase_add_test (tests, test_live_chunks);
  return suite;
}

GST_CHECK_MAIN (devices);
