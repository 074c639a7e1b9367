/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The camera link over loopback: a simulated camera sends 96x96 frames at a
 * rate, pbfudpsrc receives them, cudapbfmonitor analyses them. Prints for
 * each rate the link's counters, processor time for each frame (both ends)
 * and latencies of the results.
 *
 *   bench_link [--seconds=N] [--mtu=BYTES] [--list=N] [--buffer=MIB] [--plain]
 *              [--monitor=SETTINGS] [RATE...]
 *
 * RATE: frames/s, default 20000. --list: frames that the camera sends at
 * once, default 20. --buffer: socket buffer, default as large as
 * pbfudpsrc's. --plain: without cudapbfmonitor. --monitor: settings of
 * cudapbfmonitor, such as max-latency=0 for the lowest latency. For a soak
 * test use --seconds=600 --list=1 --monitor=max-latency=0 20000.
 * GST_PLUGIN_PATH has to name the plugin; scripts/bench does that. */
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static guint seconds = 5, mtu = 65535, list = 20, buffer_mib = 0;
static gboolean plain;
static const gchar *monitor = "";

static GstElement *
start_pipeline (gchar *line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);

  if (error != NULL) {
    fprintf (stderr, "%s: %s\n", line, error->message);
    exit (1);
  }
  g_free (line);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, 2 * GST_SECOND);
  return pipeline;
}

static GstStructure *
get_counts (GstElement *pipeline, const gchar *name, const gchar *property)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GstStructure *s = NULL;

  if (element != NULL) {
    g_object_get (element, property, &s, NULL);
    gst_object_unref (element);
  }
  return s;
}

static guint64
field (const GstStructure *s, const gchar *name)
{
  guint64 n = 0;

  if (s != NULL)
    gst_structure_get_uint64 (s, name, &n);
  return n;
}

static void
stop_pipeline (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

/* Processor time of both ends so far, microseconds. */
static gdouble
processor_time (void)
{
  struct rusage used;

  getrusage (RUSAGE_SELF, &used);
  return (gdouble) (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6
         + (gdouble) (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void
measure (guint rate)
{
  gdouble cpu;
  GstElement *receiver, *camera, *link;
  GstStructure *got, *results;
  guint port;

  receiver = start_pipeline (g_strdup_printf (
      "pbfudpsrc name=link address=127.0.0.1 port=0 buffer-size=%u ! "
      "video/x-raw,framerate=%u/1 %s%s ! fakesink async=false sync=false",
      buffer_mib << 20, rate, plain ? "" : "! cudapbfmonitor name=monitor ",
      plain ? "" : monitor));
  link = gst_bin_get_by_name (GST_BIN (receiver), "link");
  g_object_get (link, "port", &port, NULL);
  gst_object_unref (link);
  camera = start_pipeline (g_strdup_printf (
      "pbftestsrc is-live=true pre-render=4096 frames-per-list=%u ! "
      "video/x-raw,framerate=%u/1 ! "
      "pbfudpsink name=out sync=false port=%u mtu=%u",
      list, rate, port, mtu));
  cpu = processor_time ();
  g_usleep (seconds * G_USEC_PER_SEC);
  cpu = processor_time () - cpu;
  stop_pipeline (camera);
  g_usleep (G_USEC_PER_SEC / 5);
  got = get_counts (receiver, "link", "stats");
  results = get_counts (receiver, "monitor", "stats");
  printf ("%8u %6u %10" G_GUINT64_FORMAT " %8" G_GUINT64_FORMAT
          " %8" G_GUINT64_FORMAT " %6" G_GUINT64_FORMAT " %6" G_GUINT64_FORMAT
          " %6" G_GUINT64_FORMAT " %10.0f %7.2f %7.0f %7.0f %7.0f %8.0f\n",
      rate, seconds, field (got, "frames"), field (got, "lost"),
      field (got, "overflow"), field (got, "late"), field (got, "duplicate"),
      field (got, "crc-errors"),
      (gdouble) field (got, "frames") / MAX (seconds, 1),
      cpu / (gdouble) MAX (field (got, "frames"), 1),
      field (results, "latency-p50") / 1e3,
      field (results, "latency-p99") / 1e3,
      field (results, "latency-p999") / 1e3,
      field (results, "latency-max") / 1e3);
  fflush (stdout);
  stop_pipeline (receiver);
  g_clear_pointer (&got, gst_structure_free);
  g_clear_pointer (&results, gst_structure_free);
}

int
main (int argc, char **argv)
{
  guint measured = 0;

  gst_init (&argc, &argv);
  for (int i = 1; i < argc; i++) {
    if (g_str_has_prefix (argv[i], "--seconds="))
      seconds = (guint) atoi (argv[i] + 10);
    else if (g_str_has_prefix (argv[i], "--mtu="))
      mtu = (guint) atoi (argv[i] + 6);
    else if (g_str_has_prefix (argv[i], "--list="))
      list = (guint) atoi (argv[i] + 7);
    else if (g_str_has_prefix (argv[i], "--buffer="))
      buffer_mib = (guint) atoi (argv[i] + 9);
    else if (g_str_has_prefix (argv[i], "--monitor="))
      monitor = argv[i] + 10;
    else if (strcmp (argv[i], "--plain") == 0)
      plain = TRUE;
  }
  printf ("%8s %6s %10s %8s %8s %6s %6s %6s %10s %7s %7s %7s %7s %8s\n", "rate",
      "s", "frames", "lost", "overflow", "late", "dupl.", "CRC", "frames/s",
      "CPU us", "p50 us", "p99", "p99.9", "max us");
  for (int i = 1; i < argc; i++)
    if (atoi (argv[i]) > 0) {
      measure ((guint) atoi (argv[i]));
      measured++;
    }
  if (measured == 0)
    measure (20000);
  gst_deinit ();
  return 0;
}
