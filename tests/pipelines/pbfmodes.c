/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudapbfmonitor on the device: mode=auto selects batch or persistent, every mode and
 * every number of parallel frames gives the records of the CPU, and frames of pbfudpsrc
 * arrive in pinned memory. Needs a GPU. */
#include "cuda/core/device/device.h"
#include "sinksums.h"

#define SKIP 77
#define FRAMES 2000

static const struct {
  const gchar *mode;
  guint batch_size, roi_size;
  const gchar *used; /* "mode" of the property stats */
} modes[] = {
  { "auto", 1, 40, "persistent" },
  { "auto", 4, 40, "persistent" },
  { "auto", 5, 40, "batch" },
  { "auto", 0, 40, "batch" },
  { "auto", 1, 48, "batch" },
  { "batch", 1, 40, "batch" },
  { "batch", 64, 40, "batch" },
  { "persistent", 1, 40, "persistent" },
  { "persistent", 64, 40, "persistent" },
  { "persistent", 1, 48, "batch" },
};

static gchar *
used_mode (GstElement *monitor)
{
  GstStructure *stats;
  gchar *mode;

  g_object_get (monitor, "stats", &stats, NULL);
  mode = g_strdup (gst_structure_get_string (stats, "mode"));
  gst_structure_free (stats);
  return mode;
}

/* A pipeline that is run again with other settings, so that its CUDA context is made
 * once. */
static GstElement *
new_pipeline (const gchar *backend)
{
  gchar *line = g_strdup_printf (
      "pbftestsrc num-buffers=%d regime=mixed seed=5 ! cudapbfmonitor name=m "
      "backend=%s ! fakesink m.src_result ! fakesink name=records "
      "signal-handoffs=true async=false",
      FRAMES, backend);
  GstElement *pipeline = gst_parse_launch (line, NULL);

  g_assert_nonnull (pipeline);
  g_free (line);
  return pipeline;
}

/* Expects the mode @used. Returns: (transfer full): the sum of all records */
static gchar *
run_mode (GstElement *pipeline, const gchar *mode, guint batch_size,
    guint roi_size, guint parallel_frames, const gchar *used)
{
  GstElement *monitor = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "records");
  GChecksum *sum = sinks_watch (pipeline, "records", NULL);
  gchar *text;

  gst_util_set_object_arg (G_OBJECT (monitor), "mode", mode);
  g_object_set (monitor, "batch-size", batch_size, "roi-size", roi_size,
      "parallel-frames", parallel_frames, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sinks_wait_for_eos (pipeline, mode);
  text = used_mode (monitor);
  g_assert_cmpstr (text, ==, used);
  g_free (text);
  gst_element_set_state (pipeline, GST_STATE_READY);
  g_signal_handlers_disconnect_by_data (sink, sum);
  gst_object_unref (sink);
  gst_object_unref (monitor);
  return sinks_take_sum (sum);
}

static void
check_modes (GstElement *cpu, GstElement *cuda)
{
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    gchar *expected = run_mode (
        cpu, "auto", modes[i].batch_size, modes[i].roi_size, 8, "cpu");
    gchar *records = run_mode (cuda, modes[i].mode, modes[i].batch_size,
        modes[i].roi_size, 8, modes[i].used);

    g_print ("mode=%s batch-size=%u roi-size=%u: %s\n", modes[i].mode,
        modes[i].batch_size, modes[i].roi_size, modes[i].used);
    g_assert_cmpstr (records, ==, expected);
    g_free (expected);
    g_free (records);
  }
}

static void
check_parallel_frames (GstElement *cpu, GstElement *cuda)
{
  gchar *expected = run_mode (cpu, "auto", 0, 40, 8, "cpu");

  for (guint n = 1; n <= 64; n++) {
    gchar *records =
        run_mode (cuda, "persistent", 1 + n * 5 % 64, 40, n, "persistent");

    if (!g_str_equal (records, expected))
      g_error ("parallel-frames=%u: other records than on the CPU", n);
    g_free (records);
  }
  g_free (expected);
}

/* Frames from a camera over loopback need no further copy. */
static void
check_link (const gchar *mode)
{
  gchar *line = g_strdup_printf (
      "pbfudpsrc name=link address=127.0.0.1 port=0 num-buffers=300 ! "
      "cudapbfmonitor name=m backend=cuda mode=%s ! fakesink async=false",
      mode);
  GstElement *pipeline = gst_parse_launch (line, NULL), *camera;
  GstElement *link = gst_bin_get_by_name (GST_BIN (pipeline), "link");
  GstElement *monitor = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  GstStructure *stats;
  guint64 frames, staged;
  guint port;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_object_get (link, "port", &port, NULL);
  g_free (line);
  line = g_strdup_printf ("pbftestsrc is-live=true ! "
                          "video/x-raw,framerate=1000/1 ! "
                          "pbfudpsink host=127.0.0.1 port=%u mtu=65535",
      port);
  camera = gst_parse_launch (line, NULL);
  gst_element_set_state (camera, GST_STATE_PLAYING);
  sinks_wait_for_eos (pipeline, line);
  g_object_get (monitor, "stats", &stats, NULL);
  g_assert_true (gst_structure_get (stats, "frames", G_TYPE_UINT64, &frames,
      "staged-frames", G_TYPE_UINT64, &staged, NULL));
  g_assert_cmpuint (frames, ==, 300);
  g_assert_cmpuint (staged, ==, 0);
  gst_structure_free (stats);
  gst_element_set_state (camera, GST_STATE_NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (camera);
  gst_object_unref (link);
  gst_object_unref (monitor);
  gst_object_unref (pipeline);
  g_free (line);
}

int
main (int argc, char **argv)
{
  GstElement *cpu, *cuda;
  GError *error = NULL;

  gst_init (&argc, &argv);
  if (cvis_device_count (&error) == 0) {
    g_print ("skipped: %s\n", error->message);
    g_error_free (error);
    return SKIP;
  }
  cpu = new_pipeline ("cpu");
  cuda = new_pipeline ("cuda");
  check_modes (cpu, cuda);
  check_parallel_frames (cpu, cuda);
  gst_element_set_state (cpu, GST_STATE_NULL);
  gst_element_set_state (cuda, GST_STATE_NULL);
  gst_object_unref (cpu);
  gst_object_unref (cuda);
  check_link ("batch");
  check_link ("persistent");
  return 0;
}
