/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The melt-pool engine on a CUDA device: frames a second for the whole chain
 * (96x96 frames, 40x40 ROI, window 20, network 40-164-2), results copied to
 * pinned host memory, for frames in device memory, and for frames in
 * pinned host memory that are copied or mapped; the time of each
 * kernel; the bus limit measured in the same run. Medians over rounds.
 *
 *   bench_meltpool_cuda [device [smallest batch]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "cuda/core/histogram.h"
#include "pbfframes.h"
#include "cuda/camera/sim.h"

#define RING 65536 /* frames of 96x96: 604 MB, larger than any cache */
#define SIDE 96

static void
check (gboolean ok, GError **error)
{
  if (ok)
    return;
  fprintf (stderr, "%s\n", *error ? (*error)->message : "failed");
  exit (*error && (*error)->code == CVIS_ERROR_NO_DEVICE ? 77 : 1);
}

typedef struct {
  guint8 *host, *device;
  PbfFrameInfo *infos;
  CvisPbfResult *results;
  const guint8 **frames;
  guint *strides;
} Ring;

/* Frames of the simulator: a few thousand different ones, repeated. */
static void
fill_ring (Ring *ring, CvisContext *context, PbfSimRegime regime)
{
  PbfSimConfig config = {
    .width = SIDE, .height = SIDE, .fps_n = 20000, .fps_d = 1, .seed = 1
  };
  PbfSim *sim;
  GError *error = NULL;
  gsize bytes = (gsize) RING * SIDE * SIDE;
  guint distinct = 4096;

  if (ring->host == NULL) {
    ring->host = cvis_pinned_alloc (context, bytes, &error);
    check (ring->host != NULL, &error);
    ring->results =
        cvis_pinned_alloc (context, RING * sizeof (CvisPbfResult), &error);
    check (ring->results != NULL, &error);
    cudaMalloc ((void **) &ring->device, bytes);
    ring->infos = g_new0 (PbfFrameInfo, RING);
    ring->frames = g_new0 (const guint8 *, RING);
    ring->strides = g_new0 (guint, RING);
  }
  config.regime = regime;
  sim = pbf_sim_new (&config, &error);
  check (sim != NULL, &error);
  for (guint i = 0; i < RING; i++) {
    guint8 *frame = ring->host + (gsize) i * SIDE * SIDE;
    PbfFrameInfo *info = &ring->infos[i];

    if (i < distinct) {
      CvisPbfSignal signal;
      PbfSimTruth truth;

      pbf_sim_render (sim, i, frame, SIDE, &signal, &truth);
      memset (info, 0, sizeof *info);
      info->entry = PBF_ENTER; /* frames with the laser off are analysed too */
      info->e_x_q8 = (gint32) (signal.x_um * 256.0 / 200.0 + 0.5);
      info->e_y_q8 = (gint32) (signal.y_um * 256.0 / 200.0 + 0.5);
    } else {
      memcpy (frame, frame - (gsize) distinct * SIDE * SIDE, SIDE * SIDE);
      *info = ring->infos[i - distinct];
    }
    info->frame_index = i;
    ring->strides[i] = SIDE;
  }
  pbf_sim_free (sim);
  cudaMemcpy (ring->device, ring->host, bytes, cudaMemcpyHostToDevice);
}

static int
by_value (const void *a, const void *b)
{
  gdouble d = *(const gdouble *) a - *(const gdouble *) b;

  return d < 0 ? -1 : d > 0;
}

/* Frames a second through the engine, `depth` batches in flight. */
static gdouble
time_engine (Ring *ring, CvisContext *context, PbfModel *model,
    guint batch_size, gboolean on_device, PbfTransfer transfer,
    PbfLabelling labelling)
{
  PbfConfig config;
  PbfEngine *engine;
  PbfBatch *batches, *done;
  GError *error = NULL;
  guint ring_batches = RING / batch_size, rounds = 9;
  guint n_batches = CLAMP (ring_batches, 32, 4096);
  gdouble rates[9];

  pbf_config_init (&config);
  config.max_batch = batch_size;
  config.depth = 4;
  config.transfer = transfer;
  config.labelling = labelling;
  engine = pbf_engine_new (&config, model, context, &error);
  check (engine != NULL, &error);
  batches = g_new0 (PbfBatch, n_batches);
  for (guint b = 0; b < n_batches; b++) {
    guint first = b % ring_batches * batch_size;

    for (guint i = first; i < first + batch_size; i++)
      ring->frames[i] =
          (on_device ? ring->device : ring->host) + (gsize) i * SIDE * SIDE;
    batches[b] = (PbfBatch){ .n = batch_size,
      .frames = ring->frames + first,
      .strides = ring->strides + first,
      .pinned = !on_device,
      .on_device = on_device,
      .infos = ring->infos + first,
      .results = ring->results + first,
      .results_pinned = TRUE };
  }
  for (guint r = 0; r < rounds; r++) {
    guint64 start = cvis_monotonic_ns ();

    for (guint b = 0; b < n_batches + config.depth; b++) {
      if (b >= config.depth)
        check (pbf_engine_wait (engine, &done, &error), &error);
      if (b < n_batches)
        check (pbf_engine_submit (engine, &batches[b], &error), &error);
    }
    rates[r] = (gdouble) n_batches * batch_size * 1e9
               / (gdouble) (cvis_monotonic_ns () - start);
  }
  pbf_engine_free (engine);
  g_free (batches);
  qsort (rates, rounds, sizeof *rates, by_value);
  return rates[rounds / 2];
}

/* Bytes a second of plain copies between pinned and device memory. */
static gdouble
time_copy (Ring *ring, enum cudaMemcpyKind kind)
{
  gsize bytes = (gsize) RING * SIDE * SIDE;
  gdouble best = 0;

  for (guint r = 0; r < 5; r++) {
    guint64 start;

    cudaDeviceSynchronize ();
    start = cvis_monotonic_ns ();
    if (kind == cudaMemcpyHostToDevice)
      cudaMemcpyAsync (ring->device, ring->host, bytes, kind, 0);
    else
      cudaMemcpyAsync (ring->host, ring->device, bytes, kind, 0);
    cudaDeviceSynchronize ();
    best = MAX (
        best, (gdouble) bytes * 1e9 / (gdouble) (cvis_monotonic_ns () - start));
  }
  return best;
}

int
main (int argc, char **argv)
{
  gint device = argc > 1 ? atoi (argv[1]) : 0;
  guint smallest = argc > 2 ? (guint) atoi (argv[2]) : 1;
  static const guint sizes[] = { 1, 32, 256, 1024, 4096, 16384, 65536 };
  static const gchar *const regimes[] = { "nominal", "keyhole",
    "lack-of-fusion", "spatter", "drift" };
  CvisDeviceInfo info;
  CvisContext *context;
  PbfRandom random = { 2 };
  PbfModel *model = pbf_random_model (&random, 164, 2);
  Ring ring = { 0 };
  GError *error = NULL;
  gdouble bus;

  context = cvis_context_new (device, &error);
  check (context != NULL, &error);
  check (cvis_device_info (device, &info, &error), &error);
  check (cvis_context_push (context, &error), &error);
  fill_ring (&ring, context, PBF_SIM_NOMINAL);
  bus = time_copy (&ring, cudaMemcpyHostToDevice);
  printf ("melt-pool engine on %s, %d multiprocessors: 96x96 frames, 40x40 "
          "ROI, window 20, network 40-164-2, nominal regime\n",
      info.name, info.multiprocessors);
  printf ("bus: %.1f GB/s to the device, %.1f GB/s back: %.2f M whole frames "
          "a second at most\n",
      bus / 1e9, time_copy (&ring, cudaMemcpyDeviceToHost) / 1e9,
      bus / (SIDE * SIDE) / 1e6);
  printf ("%8s %18s %26s %18s   M frames/s\n", "batch", "in device memory",
      "pinned, copied (of bus)", "pinned, mapped");
  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
    if (sizes[k] < smallest)
      continue;
    gdouble d = time_engine (&ring, context, model, sizes[k], TRUE,
        PBF_TRANSFER_COPY, PBF_LABELLING_AUTO);
    gdouble c = time_engine (&ring, context, model, sizes[k], FALSE,
        PBF_TRANSFER_COPY, PBF_LABELLING_AUTO);
    gdouble m = time_engine (&ring, context, model, sizes[k], FALSE,
        PBF_TRANSFER_MAP, PBF_LABELLING_AUTO);

    printf ("%8u %18.3f %18.3f (%3.0f %%) %18.3f\n", sizes[k], d / 1e6, c / 1e6,
        100.0 * c * SIDE * SIDE / bus, m / 1e6);
  }
  printf ("%16s %12s %12s %12s   M frames/s in device memory, batches of "
          "16384\n",
      "regime", "auto", "flood", "runs");
  for (guint r = 0; r < G_N_ELEMENTS (regimes); r++) {
    fill_ring (&ring, context, (PbfSimRegime) r);
    printf ("%16s", regimes[r]);
    for (gint l = PBF_LABELLING_AUTO; l <= PBF_LABELLING_RUNS; l++)
      printf (" %12.2f", time_engine (&ring, context, model, 16384, TRUE,
                             PBF_TRANSFER_COPY, (PbfLabelling) l)
                             / 1e6);
    printf ("\n");
  }
  cvis_context_pop (context);
  return 0;
}
