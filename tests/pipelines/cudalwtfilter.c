/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter in whole pipelines: with backend=cuda and pinned memory
 * the components of surfaces with missing points, and of grey pictures,
 * equal the CPU's, to the bit, with their parameters. Needs a GPU. */
#include <gst/gst.h>
#include <string.h>
#include "cuda/core/device/device.h"
#include "sinksums.h"

#define SKIP 77
#define FRAMES 12
#define SINKS 4

static const gchar *const sinks[SINKS] = { "output", "waviness", "form",
  "bands" };

typedef struct {
  gchar *sums[SINKS];
  GstStructure *parameters; /* of the last frame */
  guint64 staged;
} Result;

static void
take_stats (GstElement *element, Result *result)
{
  GstStructure *stats = NULL;
  guint64 frames = 0;

  g_object_get (element, "stats", &stats, NULL);
  gst_structure_get (stats, "frames", G_TYPE_UINT64, &frames, "staged-frames",
      G_TYPE_UINT64, &result->staged, NULL);
  g_assert_cmpuint (frames, ==, FRAMES);
  gst_structure_get (
      stats, "form", GST_TYPE_STRUCTURE, &result->parameters, NULL);
  gst_structure_free (stats);
}

/* Runs @source ! cudalwtfilter @settings; "active-backend" must be @backend
 * (1: cpu, 2: cuda). */
static Result
run (const gchar *source, const gchar *settings, gint backend)
{
  gchar *line = g_strdup_printf (
      "%s ! cudalwtfilter name=f filter=wavelet-decimated parameters=true "
      "message-interval=0 noise-levels=1 output=roughness %s ! queue ! "
      "other/tensors ! fakesink "
      "name=output signal-handoffs=true "
      "f.src_waviness ! queue ! other/tensors ! fakesink name=waviness "
      "signal-handoffs=true "
      "f.src_form ! queue ! other/tensors ! fakesink name=form "
      "signal-handoffs=true "
      "f.src_bands ! queue ! fakesink name=bands signal-handoffs=true",
      source, settings);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error), *element;
  GChecksum *sums[SINKS];
  Result result = { { NULL } };
  gint active = 0;

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  for (guint i = 0; i < SINKS; i++)
    sums[i] = sinks_watch (pipeline, sinks[i], NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sinks_wait_for_eos (pipeline, line);
  g_object_get (element, "active-backend", &active, NULL);
  g_assert_cmpint (active, ==, backend);
  take_stats (element, &result);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  for (guint i = 0; i < SINKS; i++)
    result.sums[i] = sinks_take_sum (sums[i]);
  gst_object_unref (element);
  gst_object_unref (pipeline);
  g_free (line);
  return result;
}

static void
result_clear (Result *result)
{
  for (guint i = 0; i < SINKS; i++)
    g_free (result->sums[i]);
  gst_structure_free (result->parameters);
}

static void
compare (const gchar *source, const gchar *settings)
{
  gchar *cpu = g_strdup_printf ("backend=cpu %s", settings);
  gchar *cuda = g_strdup_printf ("backend=cuda %s", settings);
  Result on_cpu = run (source, cpu, 1), on_device = run (source, cuda, 2);

  g_assert_cmpuint (on_device.staged, ==, 0);
  for (guint i = 0; i < SINKS; i++)
    if (strcmp (on_cpu.sums[i], on_device.sums[i]) != 0)
      g_error (
          "%s: the device's %s differs from the CPU's", settings, sinks[i]);
  g_assert_true (
      gst_structure_is_equal (on_cpu.parameters, on_device.parameters));
  g_print ("%s: %d frames equal\n", *settings != '\0' ? settings : "defaults",
      FRAMES);
  result_clear (&on_cpu);
  result_clear (&on_device);
  g_free (cpu);
  g_free (cuda);
}

int
main (int argc, char **argv)
{
  static const gchar *const settings[] = { "", "wavelet=db20 levels=3",
    "wavelet=5/3 boundary=periodic f-operation=plane",
    "boundary=pad-smooth levels=3 wavelet=sym4 precision=float64",
    "layout=interleaved f-operation=poly2 frames-in-flight=1",
    "levels-x=5 levels-y=3 boundary=clamp frames-in-flight=8",
    "dx=1e-6 lambda-c=2e-5 lambda-f=1e-4 f-operation=offset" };
  GError *error = NULL;

  gst_init (&argc, &argv);
  if (cvis_device_count (&error) == 0) {
    g_print ("skipped: %s\n", error->message);
    g_error_free (error);
    return SKIP;
  }
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    compare ("surfacetestsrc missing=0.02 offset=0.076 num-buffers=12 ! "
             "other/tensors,types=float32,dimensions=(string)323:241:1:1",
        settings[i]);
    compare ("videotestsrc num-buffers=12 pattern=zone-plate kx2=20 ky2=20 "
             "kt=1 ! video/x-raw,format=GRAY16_LE,width=333,height=127 ! "
             "identity",
        settings[i]);
  }
  return 0;
}
