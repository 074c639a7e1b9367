/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Chooses the CPU backend's functions for the processor; allocates work
 * memory. */
#include "cuda/meltpool/cpu/cpu.h"

#include <stdlib.h>

const PbfCpuKernels *
pbf_cpu_kernels (void)
{
  return CVIS_CPU_CHOOSE (pbf_cpu);
}

/* Initial capacity for runs: enough for any frame of up to 362 x 362 pixels. */
#define FIRST_RUNS 65536

PbfCpuScratch *
pbf_cpu_scratch_new (void)
{
  PbfCpuScratch *scratch = NULL;

  if (posix_memalign ((void **) &scratch, 64, sizeof *scratch) != 0)
    g_error ("out of memory");
  memset (scratch, 0, sizeof *scratch);
  scratch->max_runs = FIRST_RUNS;
  scratch->runs = g_new (PbfRun, FIRST_RUNS);
  scratch->parents = g_new (guint32, FIRST_RUNS);
  scratch->components = g_new (PbfComponent, FIRST_RUNS);
  return scratch;
}

void
pbf_cpu_scratch_free (PbfCpuScratch *scratch)
{
  g_free (scratch->runs);
  g_free (scratch->parents);
  g_free (scratch->components);
  free (scratch);
}

void
pbf_history_init (PbfHistory *history, guint window)
{
  memset (history, 0, sizeof *history);
  history->rows = g_malloc0_n (MAX (window, 2) - 1, sizeof *history->rows);
}

void
pbf_history_clear (PbfHistory *history)
{
  g_free (history->rows);
}

void
pbf_history_reset (PbfHistory *history)
{
  gint32 (*rows)[CVIS_PBF_N_SPATIAL] = history->rows;

  memset (history, 0, sizeof *history);
  history->rows = rows;
}

/* Prefetch distance in results: they are in the caches of the threads that
 * wrote them, or in none. */
#define RESULTS_AHEAD 16

void
pbf_rows_find (
    PbfRows *rows, const PbfFrameInfo *infos, guint n, guint64 position)
{
  const PbfHistory *history = rows->history;
  PbfRow last = history->last;
  gint32 start = -history->n;

  rows->n = 0;
  for (guint i = 0; i < n; i++) {
    CvisPbfResult *result = &rows->results[i];
    PbfRow row = { .layer = result->layer, .vector_id = result->vector_id };

    if (i + RESULTS_AHEAD < n)
      __builtin_prefetch (result + RESULTS_AHEAD, 1);
    position += infos[i].lost_before;
    row.position = position++;
    if (result->flags & (CVIS_PBF_RESULT_EMPTY | CVIS_PBF_RESULT_EXCLUDED))
      continue;
    if ((history->started || rows->n > 0)
        && pbf_window_restarts (rows->params, &last, &row)) {
      start = rows->n;
      result->flags |= CVIS_PBF_RESULT_WINDOW_RESET;
    }
    last = row;
    rows->frames[rows->n] = (gint32) i;
    rows->starts[rows->n] = MAX (start, rows->n - rows->params->window + 1);
    rows->n++;
  }
  rows->last = last;
}

void
pbf_rows_sum (const PbfRows *rows, gint32 first, PbfSums *sums)
{
  memset (sums, 0, sizeof *sums);
  if (first == 0) {
    sums->low = -rows->history->n;
    memcpy (sums->s1, rows->history->s1, sizeof sums->s1);
    memcpy (sums->s2, rows->history->s2, sizeof sums->s2);
    return;
  }
  sums->low = rows->starts[first];
  for (gint32 r = sums->low; r < first; r++) {
    const gint32 *raw = pbf_rows_raw (rows, r);

    for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++) {
      sums->s1[f] += raw[f];
      sums->s2[f] += (gint64) raw[f] * raw[f];
    }
  }
}

#define ROWS_GRAIN 32

guint
pbf_rows_grain (const PbfParams *params)
{
  return MAX (ROWS_GRAIN, (guint) params->window);
}

void
pbf_rows_compute (const PbfRows *rows, const PbfModel *model, gint32 first,
    gint32 end, PbfSums *sums)
{
  const PbfCpuKernels *kernels = pbf_cpu_kernels ();

  pbf_rows_sum (rows, first, sums);
  kernels->temporal (rows, first, end, sums);
  for (gint32 r = first; model != NULL && r < end; r++)
    kernels->network (rows->params, model, &rows->results[rows->frames[r]]);
}

void
pbf_rows_keep (const PbfRows *rows, const PbfSums *sums, PbfHistory *history)
{
  gint32 low, keep, to = 0;

  if (rows->n == 0)
    return;
  low = MAX (sums->low, rows->n - rows->params->window + 1);
  keep = rows->n - low;
  memcpy (history->s1, sums->s1, sizeof history->s1);
  memcpy (history->s2, sums->s2, sizeof history->s2);
  for (gint32 r = sums->low; r < low; r++) {
    const gint32 *raw = pbf_rows_raw (rows, r);

    for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++) {
      history->s1[f] -= raw[f];
      history->s2[f] -= (gint64) raw[f] * raw[f];
    }
  }
  if (low < 0) { /* the rows kept from the history move to its front */
    memmove (history->rows, history->rows + history->n + low,
        (gsize) -low * sizeof *history->rows);
    to = -low;
    low = 0;
  }
  for (; low < rows->n; low++)
    memcpy (
        history->rows[to++], pbf_rows_raw (rows, low), sizeof *history->rows);
  history->n = keep;
  history->last = rows->last;
  history->started = TRUE;
}
