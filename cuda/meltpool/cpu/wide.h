/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Measures of an ROI of any size, in plain C on the pixels in place:
 * components by runs, rows of discs and sectors as intervals of columns.
 * Included by cuda/meltpool/cpu/kernels.c, once for each instruction set. */
#pragma once

#include "cuda/meltpool/cpu/runs.h"
#include "cuda/meltpool/cpu/simd.h"

/* Columns first..end-1. */
typedef struct {
  gint first, end;
} PbfColumns;

/* Columns of row @y within the disc of @radius2 around (ex, ey), inside
 * @side. */
static inline PbfColumns
wide_disc (gint y, gint32 ex, gint32 ey, guint32 radius2, gint side)
{
  gint32 half = pbf_disc_half (y, ey, radius2);
  PbfColumns columns = { MAX (pbf_column_beyond (ex, -half - 1), 0),
    MIN (pbf_column_beyond (ex, half), side) };

  return columns;
}

static inline gint
wide_overlap (PbfColumns a, gint first, gint end)
{
  return MAX (MIN (a.end, end) - MAX (a.first, first), 0);
}

/* Number of the melt pool's component; -1 if there is none. */
static gint
wide_find_pool (const PbfParams *params, PbfCpuScratch *scratch, gint n,
    guint n_runs, gint32 ex, gint32 ey)
{
  gint side = params->side;
  gint pool = component_at (scratch, n_runs, CLAMP (ex >> 8, 0, side - 1),
      CLAMP (ey >> 8, 0, side - 1));

  if (pool >= 0)
    return pool;
  for (guint i = 0; i < n_runs; i++) {
    const PbfRun *run = &scratch->runs[i];

    scratch->components[scratch->parents[i]].overlap +=
        wide_overlap (wide_disc (run->y, ex, ey, params->radius2, side),
            run->first, run->last + 1);
  }
  return choose_pool (scratch->components, n);
}

static void
wide_measure_pool (PbfCpuScratch *scratch, const guint8 *roi, guint stride,
    guint n_runs, gint pool, CvisPbfResult *result)
{
  PbfMoments m = { 0 };
  guint32 sum = 0, saturated = 0;
  guint8 top = 0;
  gint left = PBF_MAX_ROI, right = 0, first_row = -1, last_row = 0;

  for (guint i = 0; i < n_runs; i++) {
    const PbfRun *run = &scratch->runs[i];
    const guint8 *row = roi + (gsize) run->y * stride;
    gint y = run->y, a = run->first, n = run->last - a + 1;
    gint triangle = n * (n - 1) / 2, sx = n * a + triangle;

    if ((gint) scratch->parents[i] != pool)
      continue;
    if (first_row < 0) {
      first_row = y;
      scratch->pool_x = result->roi_x + a;
      scratch->pool_y = result->roi_y + y;
    }
    last_row = y;
    left = MIN (left, a);
    right = MAX (right, run->last);
    m.n += n;
    m.sx += sx;
    m.sy += n * y;
    m.sxx += n * a * a + 2 * a * triangle + triangle * (2 * n - 1) / 3;
    m.syy += n * y * y;
    m.sxy += sx * y;
    for (gint x = a; x < a + n; x++) {
      sum += row[x];
      saturated += row[x] == 255;
      top = MAX (top, row[x]);
    }
  }
  if (m.n == 0) {
    result->flags |= CVIS_PBF_RESULT_NO_POOL;
    return;
  }
  result->raw[CVIS_PBF_MP_AREA] = m.n;
  result->raw[CVIS_PBF_MP_RATIO] = pbf_ratio_q16 (&m);
  result->raw[CVIS_PBF_MP_MEAN] = pbf_mean_q8 (sum, (guint32) m.n);
  result->max_intensity = top;
  result->saturated = (guint16) saturated;
  result->orientation_deg = pbf_orientation_deg (&m);
  result->centroid_x_q8 = pbf_centroid_q8 (m.sx, m.n, result->roi_x);
  result->centroid_y_q8 = pbf_centroid_q8 (m.sy, m.n, result->roi_y);
  result->bbox_x = result->roi_x + left;
  result->bbox_y = result->roi_y + first_row;
  result->bbox_width = right - left + 1;
  result->bbox_height = last_row - first_row + 1;
}

/* Sum of the pixels of @row in @ring but not in @hole, which is inside
 * @ring, from column @first to @end - 1. */
static inline gint32
wide_sum_row (
    const guint8 *row, PbfColumns ring, PbfColumns hole, gint first, gint end)
{
  gint32 sum = 0;

  for (gint x = MAX (ring.first, first); x < MIN (ring.end, end); x++)
    sum += row[x];
  for (gint x = MAX (hole.first, first); x < MIN (hole.end, end); x++)
    sum -= row[x];
  return sum;
}

/* The three sectors of the row's half plane, split like pbf_polar_row(). */
static void
wide_measure_polar (const PbfParams *params, const guint8 *roi, guint stride,
    gint32 ex, gint32 ey, CvisPbfResult *result)
{
  gint side = params->side;
  gint32 *polar = &result->raw[CVIS_PBF_POLAR_0];

  for (gint y = 0; y < side; y++) {
    const guint8 *row = roi + (gsize) y * stride;
    gint32 dy = 256 * y + 128 - ey, narrow = pbf_sector_half (y, ey);
    PbfColumns ring = wide_disc (y, ex, ey, params->outer2, side);
    PbfColumns hole = { 0, 0 };
    gint left_end = pbf_column_beyond (ex, -narrow - 1);
    gint right = dy == 0 ? left_end : pbf_column_beyond (ex, narrow);

    if (ring.first >= ring.end)
      continue;
    if (params->inner2 > 0)
      hole = wide_disc (y, ex, ey, params->inner2 - 1, side);
    polar[dy >= 0 ? 0 : 5] += wide_sum_row (row, ring, hole, right, side);
    polar[dy > 0 ? 1 : 4] += wide_sum_row (row, ring, hole, left_end, right);
    polar[dy > 0 ? 2 : 3] += wide_sum_row (row, ring, hole, 0, left_end);
  }
}

static void
wide_measure_hog (
    const guint8 *roi, guint stride, gint side, CvisPbfResult *result)
{
  gint64 all[5] = { 0 }, left[5] = { 0 }, sums[9];

  for (gint y = 0; y < side; y++) {
    const guint8 *row = roi + (gsize) y * stride;
    const guint8 *up = y > 0 ? row - stride : row;
    const guint8 *down = y + 1 < side ? row + stride : row;
    gint32 pairs[PBF_MAX_ROI];
    gint end = side - 1;

    pairs[0] = pbf_gradient_pair (row[1] - row[0], down[0] - up[0]);
    for (gint x = 1; x < end; x++)
      pairs[x] = pbf_gradient_pair (row[x + 1] - row[x - 1], down[x] - up[x]);
    pairs[end] =
        pbf_gradient_pair (row[end] - row[end - 1], down[end] - up[end]);
    pbf_hog_row (pairs, side, all, left);
  }
  pbf_hog_unfold (all, left, sums);
  pbf_hog_normalise (sums, &result->raw[CVIS_PBF_HOG_0]);
}

/* Features of an ROI of params->side x params->side pixels; its corner is
 * already set. */
static void
wide_measure_roi (const PbfParams *params, PbfCpuScratch *scratch,
    const guint8 *roi, guint stride, gint32 ex, gint32 ey,
    CvisPbfResult *result)
{
  guint n_runs;
  gint n = label_rectangle (
      params, scratch, roi, stride, params->side, params->side, &n_runs);
  gint pool = wide_find_pool (params, scratch, n, n_runs, ex, ey);

  wide_measure_pool (scratch, roi, stride, n_runs, pool, result);
  if (pool >= 0)
    scratch->components[pool].pool = TRUE;
  if (!params->frame_scope)
    measure_spatters (
        params, scratch->components, n, result->roi_x, result->roi_y, result);
  wide_measure_polar (params, roi, stride, ex, ey, result);
  wide_measure_hog (roi, stride, params->side, result);
}
