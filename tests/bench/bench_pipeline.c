/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What cudapbfmonitor costs beside the engine inside it: the same frames of the
 * simulator with the same signals, in lists of 256, through the library alone
 * (signals to frame infos, engine) and through
 * pbftestsrc ! queue ! cudapbfmonitor ! queue ! fakesink with frames rendered
 * beforehand; in turns, best of the rounds.
 *
 *   bench_pipeline [cpu|cuda] [threads] [frames in thousands] [batch] [model] */
#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#include "cvishistogram.h"
#include "pbfengine.h"
#include "pbfsim.h"

#define SIDE 96
#define LIST 256
#define LISTS 8 /* distinct ones, 19 MB of frames */
#define FRAMES (LIST * LISTS)
#define ROUNDS 5

typedef struct {
  const gchar *backend, *model_file;
  guint threads, batch;
  guint lists; /* in a round */
  CvisContext *context;
  PbfModel *model;
  guint8 *pixels;
  PbfSignal signals[FRAMES];
} Setup;

/* The frames that pbftestsrc seed=1 makes. */
static void
setup_init (Setup *setup)
{
  const gsize size = (gsize) FRAMES * SIDE * SIDE;
  PbfSimConfig config = { .width = SIDE,
    .height = SIDE,
    .fps_n = 20000,
    .fps_d = 1,
    .seed = 1,
    .regime = PBF_SIM_NOMINAL };
  CvisBackend active, wanted = strcmp (setup->backend, "cuda") == 0
                                   ? CVIS_BACKEND_CUDA
                                   : CVIS_BACKEND_CPU;
  GError *error = NULL;
  PbfSim *sim = pbf_sim_new (&config, &error);
  PbfSimTruth truth;

  if (!cvis_backend_choose (wanted, -1, &active, &setup->context, NULL, &error)
      || (setup->model_file != NULL
          && (setup->model = pbf_model_load (setup->model_file, &error))
                 == NULL))
    g_error ("%s", error->message);
  setup->pixels = setup->context
                      ? cvis_pinned_alloc (setup->context, size, &error)
                      : g_malloc (size);
  if (setup->pixels == NULL)
    g_error ("%s", error->message);
  for (guint i = 0; i < FRAMES; i++)
    pbf_sim_render (sim, i, setup->pixels + (gsize) i * SIDE * SIDE, SIDE,
        &setup->signals[i], &truth);
  pbf_sim_free (sim);
}

/* --- the library alone ----------------------------------------------------- */

#define DEPTH 4

typedef struct {
  PbfBatch batch;
  const guint8 **frames;
  PbfFrameInfo *infos;
} Slot;

static void
fill_slot (const Setup *setup, PbfTrack *track, Slot *slot, guint64 first)
{
  for (guint i = 0; i < setup->batch; i++) {
    PbfSignal signal = setup->signals[(first + i) % FRAMES];

    slot->frames[i] =
        setup->pixels + (gsize) ((first + i) % FRAMES) * SIDE * SIDE;
    signal.frame_counter = (guint32) (first + i);
    pbf_signal_seal (&signal);
    pbf_track_frame (
        track, &signal, 50000 * (first + i), 0, 0, &slot->infos[i]);
  }
}

static gdouble
time_engine (const Setup *setup)
{
  PbfTrackConfig track_config = { .source = PBF_POSITION_SOURCE_SIGNALS };
  PbfTrack *track;
  PbfConfig config;
  PbfEngine *engine;
  Slot slots[DEPTH];
  guint *strides = g_new (guint, setup->batch);
  guint batches = setup->lists * LIST / setup->batch;
  GError *error = NULL;
  PbfBatch *done;
  guint64 begin;

  pbf_calibration_parse (
      PBF_CALIBRATION_DEFAULT, &track_config.calibration, NULL);
  track = pbf_track_new (&track_config);
  pbf_config_init (&config);
  config.threads = setup->threads;
  config.max_batch = setup->batch;
  config.depth = DEPTH;
  engine = pbf_engine_new (&config, setup->model, setup->context, &error);
  if (engine == NULL)
    g_error ("%s", error->message);
  for (guint i = 0; i < setup->batch; i++)
    strides[i] = SIDE;
  for (guint k = 0; k < DEPTH; k++) {
    slots[k].frames = g_new (const guint8 *, setup->batch);
    slots[k].infos = g_new (PbfFrameInfo, setup->batch);
    slots[k].batch = (PbfBatch){ .n = setup->batch,
      .frames = slots[k].frames,
      .strides = strides,
      .pinned = setup->context != NULL,
      .infos = slots[k].infos,
      .results_pinned = setup->context != NULL,
      .results = setup->context ? cvis_pinned_alloc (
                     setup->context, setup->batch * sizeof (PbfResult), &error)
                                : g_new (PbfResult, setup->batch) };
  }

  begin = cvis_monotonic_ns ();
  for (guint b = 0; b < batches + DEPTH - 1; b++) {
    if (b >= DEPTH - 1 && !pbf_engine_wait (engine, &done, &error))
      g_error ("%s", error->message);
    if (b >= batches)
      continue;
    fill_slot (setup, track, &slots[b % DEPTH], (guint64) b * setup->batch);
    if (!pbf_engine_submit (engine, &slots[b % DEPTH].batch, &error))
      g_error ("%s", error->message);
  }
  begin = cvis_monotonic_ns () - begin;

  pbf_engine_free (engine);
  pbf_track_free (track);
  for (guint k = 0; k < DEPTH; k++) {
    if (setup->context)
      cvis_pinned_free (setup->context, slots[k].batch.results);
    else
      g_free (slots[k].batch.results);
    g_free (slots[k].frames);
    g_free (slots[k].infos);
  }
  g_free (strides);
  return (gdouble) begin / ((gdouble) batches * setup->batch);
}

/* --- the whole pipeline ---------------------------------------------------- */

/* The element as gst-launch takes it. */
static gchar *
monitor_line (const Setup *setup)
{
  return g_strdup_printf (
      "cudapbfmonitor backend=%s threads=%u batch-size=%u message-interval=0 "
      "%s%s",
      setup->backend, setup->threads, setup->batch,
      setup->model_file ? "model-location=" : "",
      setup->model_file ? setup->model_file : "");
}

static gdouble
time_pipeline (const Setup *setup)
{
  gchar *monitor = monitor_line (setup);
  gchar *line = g_strdup_printf (
      "pbftestsrc seed=1 pre-render=%d num-buffers=%u frames-per-list=%u ! "
      "queue max-size-buffers=0 max-size-bytes=0 max-size-time=20000000 ! %s "
      "! queue max-size-buffers=0 max-size-bytes=0 max-size-time=20000000 ! "
      "fakesink sync=false enable-last-sample=false",
      FRAMES, setup->lists * LIST, LIST, monitor);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);
  GstBus *bus;
  GstMessage *message;
  guint64 begin;

  if (pipeline == NULL)
    g_error ("%s", error->message);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  begin = cvis_monotonic_ns ();
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  begin = cvis_monotonic_ns () - begin;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    g_error ("the pipeline failed");
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (line);
  g_free (monitor);
  return (gdouble) begin / ((gdouble) setup->lists * LIST);
}

int
main (int argc, char **argv)
{
  static gdouble (*const timers[]) (
      const Setup *) = { time_engine, time_pipeline };
  static const gchar *const names[] = { "engine alone",
    "src ! queue ! cudapbfmonitor ! queue ! sink" };
  gdouble best[G_N_ELEMENTS (timers)];
  Setup *setup = g_new0 (Setup, 1);

  gst_init (&argc, &argv);
  setup->backend = argc > 1 ? argv[1] : "cpu";
  setup->threads = argc > 2 ? (guint) atoi (argv[2]) : 1;
  setup->lists = (argc > 3 ? (guint) atoi (argv[3]) : 50) * 1000 / LIST;
  setup->lists = MAX (16, setup->lists / 16 * 16);
  setup->batch = argc > 4 ? (guint) atoi (argv[4]) : LIST;
  setup->model_file = argc > 5 ? argv[5] : NULL;
  setup_init (setup);

  for (guint t = 0; t < G_N_ELEMENTS (timers); t++)
    best[t] = G_MAXDOUBLE;
  for (guint round = 0; round < ROUNDS; round++)
    for (guint t = 0; t < G_N_ELEMENTS (timers); t++) {
      gdouble ns = timers[t](setup);

      best[t] = MIN (best[t], ns);
    }

  g_print ("backend %s, %u threads, %u frames of %dx%d in lists of %d, batches "
           "of %u, %s network\n",
      setup->backend, setup->threads, setup->lists * LIST, SIDE, SIDE, LIST,
      setup->batch, setup->model ? "with" : "without");
  for (guint t = 0; t < G_N_ELEMENTS (timers); t++)
    g_print ("%-40s %8.1f ns/frame  %7.3f M frames/s  %6.1f %% of the engine "
             "alone\n",
        names[t], best[t], 1e3 / best[t], 100 * best[0] / best[t]);
  return 0;
}
