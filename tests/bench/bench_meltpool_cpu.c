/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The melt-pool engine on the CPU: nanoseconds a frame of the whole chain
 * (96x96 frames, 40x40 ROI, window 20, network 40-164-2), frames in cache, for
 * each instruction set and number of threads, beside the plain scalar C twin in
 * the same minute. Medians over rounds.
 *
 *   bench_meltpool_cpu [frames of the ring] [rounds] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cvishistogram.h"
#include "pbfcpu.h"
#include "pbfframes.h"
#include "pbftwin.h"

typedef struct {
  guint n;
  guint8 *pixels;
  const guint8 **frames;
  guint *strides;
  PbfFrameInfo *infos;
  PbfResult *results;
} Ring;

static Ring *
ring_new (guint n)
{
  PbfRandom random = { 1 };
  Ring *ring = g_new0 (Ring, 1);

  ring->n = n;
  ring->pixels = g_malloc ((gsize) n * 96 * 96);
  ring->frames = g_new0 (const guint8 *, n);
  ring->strides = g_new0 (guint, n);
  ring->infos = g_new0 (PbfFrameInfo, n);
  ring->results = g_new0 (PbfResult, n);
  for (guint i = 0; i < n; i++) {
    guint8 *frame = ring->pixels + (gsize) i * 96 * 96;

    /* a pool, now and then spatters, noise below 25 */
    pbf_frame_fill (&random, i % 4 ? 9 : 7, frame, 96, 96, 96);
    ring->frames[i] = frame;
    ring->strides[i] = 96;
    ring->infos[i].entry = PBF_ENTER;
    ring->infos[i].position = PBF_POSITION_GIVEN;
    {
      PbfFrameInfo info = { .entry = PBF_ENTER,
        .position = PBF_POSITION_BRIGHTEST };
      PbfConfig config;
      PbfTwin *twin;

      pbf_config_init (&config);
      twin = pbf_twin_new (&config, NULL);
      pbf_twin_frame (twin, frame, 96, &info, &ring->results[i]);
      pbf_twin_free (twin);
      ring->infos[i].e_x_q8 = ring->results[i].e_x_q8 + i % 256;
      ring->infos[i].e_y_q8 = ring->results[i].e_y_q8 + i * 7 % 256;
    }
  }
  return ring;
}

static int
by_value (const void *a, const void *b)
{
  gdouble d = *(const gdouble *) a - *(const gdouble *) b;

  return d < 0 ? -1 : d > 0;
}

static gdouble
median (gdouble *values, guint n)
{
  qsort (values, n, sizeof *values, by_value);
  return values[n / 2];
}

static gdouble
time_twin (Ring *ring, PbfModel *model, guint rounds)
{
  PbfConfig config;
  PbfTwin *twin;
  gdouble *ns = g_new (gdouble, rounds), result;

  pbf_config_init (&config);
  twin = pbf_twin_new (&config, model);
  for (guint r = 0; r < rounds; r++) {
    guint64 start = cvis_monotonic_ns ();

    for (guint i = 0; i < ring->n; i++)
      pbf_twin_frame (twin, ring->frames[i], ring->strides[i], &ring->infos[i],
          &ring->results[i]);
    ns[r] = (gdouble) (cvis_monotonic_ns () - start) / ring->n;
  }
  pbf_twin_free (twin);
  result = median (ns, rounds);
  g_free (ns);
  return result;
}

/* Nanoseconds a frame of one table's three steps. */
static void
time_table (Ring *ring, const PbfCpuKernels *table, PbfModel *model,
    guint rounds, gdouble steps[3])
{
  PbfConfig config;
  PbfParams params;
  PbfCpuScratch *scratch;
  PbfHistory history;
  PbfRows rows = { .params = &params,
    .history = &history,
    .results = ring->results,
    .frames = g_new (gint32, ring->n),
    .starts = g_new (gint32, ring->n) };
  PbfSums sums;
  gdouble *ns[3];

  pbf_config_init (&config);
  pbf_params_init (&params, &config);
  scratch = pbf_cpu_scratch_new (&config);
  pbf_history_init (&history, config.window);
  for (guint k = 0; k < 3; k++)
    ns[k] = g_new (gdouble, rounds);
  for (guint r = 0; r < rounds; r++) {
    guint64 t[4];

    t[0] = cvis_monotonic_ns ();
    for (guint i = 0; i < ring->n; i++)
      table->spatial (&params, scratch, ring->frames[i], ring->strides[i],
          &ring->infos[i], &ring->results[i]);
    t[1] = cvis_monotonic_ns ();
    pbf_rows_find (&rows, ring->infos, ring->n, r * ring->n);
    pbf_rows_sum (&rows, 0, &sums);
    table->temporal (&rows, 0, rows.n, &sums);
    pbf_rows_keep (&rows, &sums, &history);
    t[2] = cvis_monotonic_ns ();
    for (guint i = 0; i < ring->n; i++)
      table->network (&params, model, &ring->results[i]);
    t[3] = cvis_monotonic_ns ();
    for (guint k = 0; k < 3; k++)
      ns[k][r] = (gdouble) (t[k + 1] - t[k]) / ring->n;
  }
  for (guint k = 0; k < 3; k++) {
    steps[k] = median (ns[k], rounds);
    g_free (ns[k]);
  }
  pbf_history_clear (&history);
  g_free (rows.frames);
  g_free (rows.starts);
  pbf_cpu_scratch_free (scratch);
}

static gdouble
time_engine (Ring *ring, PbfModel *model, guint threads, guint rounds)
{
  PbfConfig config;
  PbfEngine *engine;
  PbfBatch batch = { .n = ring->n,
    .frames = ring->frames,
    .strides = ring->strides,
    .infos = ring->infos,
    .results = ring->results };
  PbfBatch *done;
  gdouble *ns = g_new (gdouble, rounds), result;

  pbf_config_init (&config);
  config.threads = threads;
  config.max_batch = ring->n;
  engine = pbf_engine_new (&config, model, NULL, NULL);
  for (guint r = 0; r < rounds; r++) {
    guint64 start = cvis_monotonic_ns ();

    pbf_engine_submit (engine, &batch, NULL);
    pbf_engine_wait (engine, &done, NULL);
    ns[r] = (gdouble) (cvis_monotonic_ns () - start) / ring->n;
  }
  pbf_engine_free (engine);
  result = median (ns, rounds);
  g_free (ns);
  return result;
}

int
main (int argc, char **argv)
{
  guint n = argc > 1 ? (guint) atoi (argv[1]) : 64;
  guint rounds = argc > 2 ? (guint) atoi (argv[2]) : 401;
  PbfRandom random = { 2 };
  PbfModel *model = pbf_random_model (&random, 164, 2);
  const PbfCpuKernels *tables[] = { &pbf_cpu_generic, &pbf_cpu_v3,
    &pbf_cpu_v4 };
  Ring *ring = ring_new (n);
  gdouble one = 0, scalar = time_twin (ring, model, MAX (rounds / 10, 5));

  printf ("melt-pool engine, CPU, 96x96 frames, 40x40 ROI, window 20, network "
          "40-164-2\nring of %u frames, median of %u rounds\n",
      n, rounds);
  printf ("%-28s %8.0f ns a frame\n", "plain scalar C (the twin)", scalar);
  for (guint t = 0; t <= (guint) cvis_cpu_level (); t++) {
    gdouble s[3];

    time_table (ring, tables[t], model, rounds, s);
    printf ("%-28s %8.0f ns a frame = %.0f spatial + %.0f window + %.0f "
            "network; %.1f x the twin's speed\n",
        tables[t]->name, s[0] + s[1] + s[2], s[0], s[1], s[2],
        scalar / (s[0] + s[1] + s[2]));
  }
  for (guint threads = 1; threads <= g_get_num_processors (); threads *= 2) {
    gdouble ns = time_engine (ring, model, threads, rounds);

    if (threads == 1)
      one = ns;
    printf ("engine, %2u thread%s          %8.0f ns a frame, %.2f M frames/s, "
            "%.2f of linear\n",
        threads, threads == 1 ? " " : "s", ns, 1e3 / ns, one / ns / threads);
  }
  return 0;
}
