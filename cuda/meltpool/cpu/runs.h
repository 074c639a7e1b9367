/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Connected components of any rectangle of pixels by runs and union-find,
 * and the measures common to all components. Included by
 * cuda/meltpool/cpu/kernels.c, once for each instruction set. */
#pragma once

#include "cuda/meltpool/bits.h"
#include "cuda/meltpool/cpu/cpu.h"

static inline guint32
find_root (guint32 *parents, guint32 i)
{
  while (parents[i] != i) {
    parents[i] = parents[parents[i]];
    i = parents[i];
  }
  return i;
}

static inline void
unite (guint32 *parents, guint32 a, guint32 b)
{
  a = find_root (parents, a);
  b = find_root (parents, b);
  if (a < b)
    parents[b] = a;
  else
    parents[a] = b;
}

/* Joins the runs above..here with the runs here..end that they touch. Both
 * lists are sorted by column, so one pass over both finds all pairs. */
static void
unite_rows (
    PbfCpuScratch *scratch, guint above, guint here, guint end, gint diagonal)
{
  const PbfRun *runs = scratch->runs;
  guint a = above, b = here;

  while (a < here && b < end) {
    if (runs[a].first <= runs[b].last + diagonal
        && runs[b].first <= runs[a].last + diagonal)
      unite (scratch->parents, a, b);
    if (runs[a].last < runs[b].last)
      a++;
    else
      b++;
  }
}

/* Numbers the components in raster order of their first pixels; parents[i]
 * of a run becomes the number of its component. */
static gint
number_components (PbfCpuScratch *scratch, guint n_runs)
{
  gint n = 0;

  for (guint i = 0; i < n_runs; i++) {
    if (scratch->parents[i] == i) {
      memset (&scratch->components[n], 0, sizeof scratch->components[n]);
      scratch->parents[i] = n++;
    } else {
      /* a root comes before its runs and is numbered already; every parent
       * is an earlier run, whose entry already holds the number */
      scratch->parents[i] = scratch->parents[scratch->parents[i]];
    }
  }
  return n;
}

static void
component_add_run (PbfComponent *component, const PbfRun *run)
{
  guint n = run->last - run->first + 1;

  component->area += n;
  component->sx += (guint64) n * run->first + (guint64) n * (n - 1) / 2;
  component->sy += (guint64) n * run->y;
}

/* Grows the arrays to @n runs. */
static void
reserve_runs (PbfCpuScratch *scratch, gsize n)
{
  if (n <= scratch->max_runs)
    return;
  scratch->max_runs = MAX (n, 2 * scratch->max_runs);
  scratch->runs = g_renew (PbfRun, scratch->runs, scratch->max_runs);
  scratch->parents = g_renew (guint32, scratch->parents, scratch->max_runs);
  scratch->components =
      g_renew (PbfComponent, scratch->components, scratch->max_runs);
}

/* Whether a pixel of @row reaches @threshold: one vectorised loop. */
static inline gboolean
row_is_lit (const guint8 *row, gint width, gint threshold)
{
  guint8 top = 0;

  for (gint x = 0; x < width; x++)
    top = MAX (top, row[x]);
  return top >= threshold;
}

/* Labels @width x @height pixels; sets runs, parents (number of each run's
 * component) and components of @scratch. Returns: the number of components */
static gint
label_rectangle (const PbfParams *params, PbfCpuScratch *scratch,
    const guint8 *pixels, guint stride, gint width, gint height, guint *n_runs)
{
  gint diagonal = params->connectivity == 8, n;
  guint end = 0, above = 0;

  for (gint y = 0; y < height; y++) {
    const guint8 *row = pixels + (gsize) y * stride;
    guint here = end;

    reserve_runs (scratch, end + (width + 1) / 2);
    for (gint x = 0, lit = row_is_lit (row, width, params->threshold);
         lit && x < width; x++) {
      gint first = x;

      if (row[x] < params->threshold)
        continue;
      while (x + 1 < width && row[x + 1] >= params->threshold)
        x++;
      scratch->runs[end].y = y;
      scratch->runs[end].first = first;
      scratch->runs[end].last = x;
      scratch->parents[end] = end;
      end++;
    }
    unite_rows (scratch, above, here, end, diagonal);
    above = here;
  }
  n = number_components (scratch, end);
  for (guint i = 0; i < end; i++)
    component_add_run (
        &scratch->components[scratch->parents[i]], &scratch->runs[i]);
  *n_runs = end;
  return n;
}

/* Number of the component of pixel (x, y); -1 if it is background. */
static gint
component_at (const PbfCpuScratch *scratch, guint n_runs, gint x, gint y)
{
  for (guint i = 0; i < n_runs; i++)
    if (scratch->runs[i].y == y && scratch->runs[i].first <= x
        && x <= scratch->runs[i].last)
      return (gint) scratch->parents[i];
  return -1;
}

/* The melt pool among the components: the one with most pixels in the disc,
 * otherwise the largest; of equals the first in raster order. */
static gint
choose_pool (const PbfComponent *components, gint n)
{
  guint32 best = 0;
  gint pool = -1;

  for (gint i = 0; i < n; i++) {
    if (components[i].overlap > best) {
      best = components[i].overlap;
      pool = i;
    }
  }
  if (pool >= 0)
    return pool;
  for (gint i = 0; i < n; i++) {
    if (components[i].area > best) {
      best = components[i].area;
      pool = i;
    }
  }
  return pool;
}

/* All components except the pool; their sums are relative to (first_x,
 * first_y). */
static void
measure_spatters (const PbfParams *params, const PbfComponent *components,
    gint n, gint32 first_x, gint32 first_y, CvisPbfResult *result)
{
  const PbfComponent *best[CVIS_PBF_MAX_SPATTERS];
  guint64 area = 0, count = 0;
  guint listed = 0;

  for (gint i = 0; i < n; i++) {
    const PbfComponent *c = &components[i];
    guint at;

    if (c->pool || c->area < params->min_area)
      continue;
    area += c->area;
    count++;
    /* insert by area, behind equals */
    if (listed == CVIS_PBF_MAX_SPATTERS && c->area <= best[listed - 1]->area)
      continue;
    at = listed < CVIS_PBF_MAX_SPATTERS ? listed++ : listed - 1;
    for (; at > 0 && best[at - 1]->area < c->area; at--)
      best[at] = best[at - 1];
    best[at] = c;
  }
  result->raw[CVIS_PBF_SPATTER_AREA] = (gint32) MIN (area, PBF_AREA_MAX);
  result->raw[CVIS_PBF_SPATTER_COUNT] = (gint32) MIN (count, PBF_AREA_MAX);
  result->n_spatters = listed;
  if (count > CVIS_PBF_MAX_SPATTERS)
    result->flags |= CVIS_PBF_RESULT_SPATTERS_CUT;
  for (guint i = 0; i < listed; i++)
    pbf_describe_spatter (&result->spatters[i], best[i]->area, best[i]->sx,
        best[i]->sy, first_x, first_y, result->e_x_q8, result->e_y_q8);
}
