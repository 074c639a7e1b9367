/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The melt-pool engine on the CPU: nanoseconds a frame for the whole chain
 * (96x96 frames, 40x40 ROI, window 20, network 40-164-2), frames in cache,
 * for each instruction set, in one thread, compared with the plain scalar C
 * reference implementation in the same minute; and for converting frames of
 * more than 8 bits. Medians over rounds.
 *
 *   bench_meltpool_cpu [frames of the ring] [rounds] */
#include <stdio.h>
#include <stdlib.h>

#include "benchring.h"
#include "cuda/core/histogram.h"
#include "cuda/meltpool/cpu/cpu.h"
#include "pbfframes.h"
#include "pbfreference.h"

static gdouble
time_reference (BenchRing *ring, PbfModel *model, guint rounds)
{
  PbfConfig config;
  PbfReference *ref;
  gdouble *ns = g_new (gdouble, rounds), result;

  pbf_config_init (&config);
  ref = pbf_reference_new (&config, model);
  for (guint r = 0; r < rounds; r++) {
    guint64 start = cvis_monotonic_ns ();

    for (guint i = 0; i < ring->n; i++)
      pbf_reference_frame (ref, ring->frames[i], ring->strides[i],
          &ring->infos[i], &ring->results[i]);
    ns[r] = (gdouble) (cvis_monotonic_ns () - start) / ring->n;
  }
  pbf_reference_free (ref);
  result = bench_median (ns, rounds);
  g_free (ns);
  return result;
}

/* Nanoseconds a frame for the three steps of one instruction set. */
static void
time_table (BenchRing *ring, const PbfCpuKernels *table, PbfModel *model,
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
  scratch = pbf_cpu_scratch_new ();
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
    steps[k] = bench_median (ns[k], rounds);
    g_free (ns[k]);
  }
  pbf_history_clear (&history);
  g_free (rows.frames);
  g_free (rows.starts);
  pbf_cpu_scratch_free (scratch);
}

/* Nanoseconds to convert a 96x96 frame of 16-bit samples to 8 bits. */
static gdouble
time_grey (const PbfCpuKernels *table, PbfGreyLayout layout, guint rounds)
{
  const guint side = 96, frames = 16;
  gsize bytes = pbf_grey_row_bytes (layout, side);
  guint8 *from = g_malloc (bytes * side * frames);
  guint8 *to = g_malloc (side * side * frames);
  gdouble *ns = g_new (gdouble, rounds), result;

  for (gsize i = 0; i < bytes * side * frames; i++)
    from[i] = (guint8) i;
  for (guint r = 0; r < rounds; r++) {
    guint64 start = cvis_monotonic_ns ();

    for (guint y = 0; y < side * frames; y++)
      table->grey_row (layout, 2, from + y * bytes, side, to + y * side);
    ns[r] = (gdouble) (cvis_monotonic_ns () - start) / frames;
  }
  result = bench_median (ns, rounds);
  g_free (ns);
  g_free (to);
  g_free (from);
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
  BenchRing *ring = bench_ring_new (n);
  gdouble scalar = time_reference (ring, model, MAX (rounds / 10, 5));

  printf ("melt-pool engine, CPU, 96x96 frames, 40x40 ROI, window 20, network "
          "40-164-2\nring of %u frames, median of %u rounds\n",
      n, rounds);
  printf ("%-28s %8.0f ns a frame\n", "scalar C reference", scalar);
  for (guint t = 0; t <= (guint) cvis_cpu_level (); t++) {
    gdouble s[3];

    time_table (ring, tables[t], model, rounds, s);
    printf ("%-28s %8.0f ns a frame = %.0f spatial + %.0f window + %.0f "
            "network; %.1f x the reference's speed\n",
        tables[t]->name, s[0] + s[1] + s[2], s[0], s[1], s[2],
        scalar / (s[0] + s[1] + s[2]));
    printf ("%-28s %8.0f ns a frame of 16 bits to 8, %.0f of GRAY10_LE32\n", "",
        time_grey (tables[t], PBF_GREY_16_LE, rounds),
        time_grey (tables[t], PBF_GREY_10_LE32, rounds));
  }
  bench_ring_free (ring);
  pbf_model_unref (model);
  return 0;
}
