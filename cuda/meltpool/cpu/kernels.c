/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Arithmetic of the CPU backend, compiled for each instruction set (PBF_CPU
 * is the name of its table): AVX-512, AVX2, and plain C. All give the bits
 * of the reference implementation. */
#include "cuda/meltpool/cpu/cpu.h"

#include "cuda/meltpool/bits.h"
#include "cuda/meltpool/cpu/runs.h"
#include "cuda/meltpool/cpu/simd.h"
#include "cuda/meltpool/cpu/wide.h"

#define SIDE CVIS_PBF_ROI_SIDE

/* --- expected position --------------------------------------------------- */

static gboolean
is_lit (const PbfParams *params, const guint8 *frame, guint stride)
{
  for (gint y = 0; y < params->height; y++)
    if (row_is_lit (
            frame + (gsize) y * stride, params->width, params->threshold))
      return TRUE;
  return FALSE;
}

/* Sum of a column's three pixels around row @y; pixels outside the frame are
 * 0. */
static inline guint
column_sum (
    const PbfParams *params, const guint8 *frame, guint stride, gint x, gint y)
{
  guint sum = frame[(gsize) y * stride + x];

  if (y > 0)
    sum += frame[(gsize) (y - 1) * stride + x];
  if (y + 1 < params->height)
    sum += frame[(gsize) (y + 1) * stride + x];
  return sum;
}

static inline guint
box_sum (
    const PbfParams *params, const guint8 *frame, guint stride, gint x, gint y)
{
  guint sum = column_sum (params, frame, stride, x, y);

  if (x > 0)
    sum += column_sum (params, frame, stride, x - 1, y);
  if (x + 1 < params->width)
    sum += column_sum (params, frame, stride, x + 1, y);
  return sum;
}

/* Largest box sum of row @y. The inner columns go in one vectorised loop. */
static guint
row_top (const PbfParams *params, const guint8 *frame, guint stride, gint y)
{
  const guint8 *mid = frame + (gsize) y * stride;
  const guint8 *up = mid - stride, *down = mid + stride;
  guint16 top = 0;

  if (y == 0 || y + 1 == params->height) {
    guint edge = 0;
    for (gint x = 0; x < params->width; x++)
      edge = MAX (edge, box_sum (params, frame, stride, x, y));
    return edge;
  }
  for (gint x = 1; x + 1 < params->width; x++) {
    guint16 sum = up[x - 1] + up[x] + up[x + 1] + mid[x - 1] + mid[x]
                  + mid[x + 1] + down[x - 1] + down[x] + down[x + 1];
    top = MAX (top, sum);
  }
  return MAX (top, MAX (box_sum (params, frame, stride, 0, y),
                       box_sum (params, frame, stride, params->width - 1, y)));
}

/* The first pixel in raster order with the largest box sum. */
static void
locate_brightest_pixel (const PbfParams *params, const guint8 *frame,
    guint stride, CvisPbfResult *result)
{
  guint best = 0;
  gint x = 0, y = 0;

  for (gint row = 0; row < params->height; row++) {
    guint top = row_top (params, frame, stride, row);

    if (top > best) {
      best = top;
      y = row;
    }
  }
  while (box_sum (params, frame, stride, x, y) != best)
    x++;
  result->e_x_q8 = 256 * x + 128;
  result->e_y_q8 = 256 * y + 128;
}

static guint
run_excess (const guint8 *row, const PbfRun *run, gint threshold)
{
  guint sum = 0;

  for (gint x = run->first; x <= run->last; x++)
    sum += row[x] - threshold + 1;
  return sum;
}

/* The component with the highest score, the first of equals; -1: there is none.
 * Sets the confidence and the flag of @result. */
static gint
choose_position (const PbfComponent *components, gint n, CvisPbfResult *result)
{
  guint64 best = 0, second = 0;
  gint chosen = -1;

  for (gint i = 0; i < n; i++) {
    guint64 score = pbf_pool_score (components[i].area, components[i].excess);

    if (score > best) {
      second = best;
      best = score;
      chosen = i;
    } else if (score > second) {
      second = score;
    }
  }
  if (chosen >= 0) {
    result->position_confidence = pbf_position_confidence (best, second);
    result->flags |= pbf_position_flag (best, second);
  }
  return chosen;
}

/* The first pixel with the largest box sum of the component that is most likely
 * the melt pool. */
static void
locate_brightest (const PbfParams *params, PbfCpuScratch *scratch,
    const guint8 *frame, guint stride, CvisPbfResult *result)
{
  guint n_runs, best = 0;
  gint n = label_rectangle (
      params, scratch, frame, stride, params->width, params->height, &n_runs);
  gint chosen;

  for (guint i = 0; i < n_runs; i++) {
    const PbfRun *run = &scratch->runs[i];

    scratch->components[scratch->parents[i]].excess +=
        run_excess (frame + (gsize) run->y * stride, run, params->threshold);
  }
  chosen = choose_position (scratch->components, n, result);
  if (chosen < 0) {
    locate_brightest_pixel (params, frame, stride, result);
    return;
  }
  for (guint i = 0; i < n_runs; i++) {
    const PbfRun *run = &scratch->runs[i];

    if (scratch->parents[i] != (guint) chosen)
      continue;
    for (gint x = run->first; x <= run->last; x++) {
      guint sum = box_sum (params, frame, stride, x, run->y);

      if (sum > best) {
        best = sum;
        result->e_x_q8 = 256 * x + 128;
        result->e_y_q8 = 256 * run->y + 128;
      }
    }
  }
}

static void
locate_centroid (const PbfParams *params, const guint8 *frame, guint stride,
    CvisPbfResult *result)
{
  guint64 n = 0, sx = 0, sy = 0;

  for (gint y = 0; y < params->height; y++) {
    const guint8 *row = frame + (gsize) y * stride;
    guint32 count = 0, columns = 0;

    for (gint x = 0; x < params->width; x++) {
      guint32 lit = row[x] >= params->threshold;
      count += lit;
      columns += lit * (guint32) x;
    }
    n += count;
    sx += columns;
    sy += (guint64) count * y;
  }
  result->e_x_q8 = n ? pbf_centroid_q8 (sx, n, 0) : 128 * params->width;
  result->e_y_q8 = n ? pbf_centroid_q8 (sy, n, 0) : 128 * params->height;
}

/* --- the ROI --------------------------------------------------------------- */

/* Copies the ROI with its border and sets the mask of pixels >= threshold. */
static void
take_roi (
    PbfCpuScratch *scratch, const guint8 *roi, guint stride, gint threshold)
{
  for (gint y = 0; y < SIDE; y++)
    scratch->mask[y] = pbf_simd_take_row (
        roi + (gsize) y * stride, scratch->roi[y + 1], (guint8) threshold);
  memcpy (scratch->roi[0], scratch->roi[1], PBF_ROI_PITCH);
  memcpy (scratch->roi[SIDE + 1], scratch->roi[SIDE], PBF_ROI_PITCH);
}

/* --- labelling ------------------------------------------------------------- */

static gint
count_runs (const guint64 *mask)
{
  gint n = 0;

  for (gint y = 0; y < SIDE; y++)
    n += __builtin_popcountll (mask[y] & ~(mask[y] << 1));
  return n;
}

/* All runs of @mask that contain a bit of @seed. Adding the first bit of a
 * run to the mask carries through the run and clears it. */
static inline guint64
fill_row (guint64 seed, guint64 mask)
{
  guint64 starts = mask & ~(mask << 1), filled = 0;

  seed &= mask;
  while (seed) {
    guint64 low = seed & -seed;
    guint64 before = starts & (low | (low - 1));
    guint64 first = G_GUINT64_CONSTANT (1) << (63 - __builtin_clzll (before));
    guint64 run = mask & ~(mask + first);

    filled |= run;
    seed &= ~run;
  }
  return filled;
}

static inline guint64
reach (guint64 row, gint connectivity)
{
  return connectivity == 8 ? row | (row << 1) | (row >> 1) : row;
}

/* Moves the component of the pixels @seed in row @y from @mask to @out. Sets
 * rows *top..*bottom of @out, the others stay zero. */
static void
flood (guint64 *mask, gint connectivity, gint y, guint64 seed, guint64 *out,
    gint *top, gint *bottom)
{
  gboolean changed = TRUE;
  gint t = y, b = y;

  out[y] = fill_row (seed, mask[y]);
  while (changed) {
    changed = FALSE;
    for (gint r = t; r < SIDE; r++) { /* downwards */
      guint64 from = r > t ? out[r - 1] : 0, grown;
      if (r > b && !(reach (from, connectivity) & mask[r]))
        break;
      grown = fill_row (out[r] | reach (from, connectivity), mask[r]);
      changed |= grown != out[r];
      out[r] = grown;
      b = MAX (b, r);
    }
    for (gint r = b; r >= 0; r--) { /* upwards */
      guint64 from = r < b ? out[r + 1] : 0, grown;
      if (r < t && !(reach (from, connectivity) & mask[r]))
        break;
      grown = fill_row (out[r] | reach (from, connectivity), mask[r]);
      changed |= grown != out[r];
      out[r] = grown;
      t = MIN (t, r);
    }
  }
  for (gint r = t; r <= b; r++)
    mask[r] &= ~out[r];
  *top = t;
  *bottom = b;
}

/* Sum of the indices of the set bits. */
static inline guint
sum_of_columns (guint64 bits)
{
  guint sum = 0;

  while (bits) { /* a run at a time */
    gint first = __builtin_ctzll (bits);
    gint n = __builtin_ctzll (~(bits >> first));
    sum += n * first + n * (n - 1) / 2;
    bits &= ~(((G_GUINT64_CONSTANT (1) << n) - 1) << first);
  }
  return sum;
}

static void
component_add_row (PbfComponent *component, gint y, guint64 bits, guint64 disc)
{
  guint n = __builtin_popcountll (bits);

  component->area += n;
  component->overlap += __builtin_popcountll (bits & disc);
  component->sx += sum_of_columns (bits);
  component->sy += (guint64) n * y;
}

/* Labels scratch->mask by flood fill, one component after the other in
 * raster order, and sets scratch->pool. Returns: the number of components */
static gint
label_by_flood (
    const PbfParams *params, PbfCpuScratch *scratch, gint32 ex, gint32 ey)
{
  guint64 left[SIDE], out[SIDE] = { 0 }, disc[SIDE] = { 0 };
  gint px = CLAMP (ex >> 8, 0, SIDE - 1), py = CLAMP (ey >> 8, 0, SIDE - 1);
  guint64 at = G_GUINT64_CONSTANT (1) << px;
  gboolean known = (scratch->mask[py] & at) != 0;
  gint n = 0, pool = -1, top, bottom;
  gint seed_y[PBF_ROI_MAX_RUNS];
  guint64 seed[PBF_ROI_MAX_RUNS];

  memcpy (left, scratch->mask, sizeof left);
  if (!known)
    for (gint y = 0; y < SIDE; y++)
      disc[y] = pbf_disc_row (y, ex, ey, params->radius2);

  for (gint y = 0; y < SIDE; y++) {
    while (left[y]) {
      PbfComponent *component = &scratch->components[n];

      memset (component, 0, sizeof *component);
      seed_y[n] = y;
      seed[n] = left[y] & -left[y];
      flood (left, params->connectivity, y, seed[n], out, &top, &bottom);
      if (known && py >= top && py <= bottom && (out[py] & at))
        pool = n;
      for (gint r = top; r <= bottom; r++) {
        component_add_row (component, r, out[r], disc[r]);
        if (pool == n)
          scratch->pool[r] = out[r];
        out[r] = 0;
      }
      n++;
    }
  }
  if (pool < 0 && n > 0) {
    pool = choose_pool (scratch->components, n);
    memcpy (left, scratch->mask, sizeof left);
    flood (left, params->connectivity, seed_y[pool], seed[pool], scratch->pool,
        &top, &bottom);
  }
  if (pool >= 0)
    scratch->components[pool].pool = TRUE;
  return n;
}

/* Labels scratch->mask by runs and union-find (after algorithm HA4 of A.
 * Hennequin, L. Lacassagne, A new Direct Connected Component Labeling and
 * Analysis Algorithms for GPUs, 2018, which also works on runs). */
static gint
label_by_runs (
    const PbfParams *params, PbfCpuScratch *scratch, gint32 ex, gint32 ey)
{
  gint px = CLAMP (ex >> 8, 0, SIDE - 1), py = CLAMP (ey >> 8, 0, SIDE - 1);
  gint diagonal = params->connectivity == 8, n, pool = -1;
  guint n_runs = 0, above = 0;

  for (gint y = 0; y < SIDE; y++) {
    guint64 bits = scratch->mask[y];
    guint here = n_runs;

    while (bits) {
      gint first = __builtin_ctzll (bits);
      gint count = __builtin_ctzll (~(bits >> first));

      scratch->runs[n_runs].y = y;
      scratch->runs[n_runs].first = first;
      scratch->runs[n_runs].last = first + count - 1;
      scratch->parents[n_runs] = n_runs;
      n_runs++;
      bits &= ~(((G_GUINT64_CONSTANT (1) << count) - 1) << first);
    }
    unite_rows (scratch, above, here, n_runs, diagonal);
    above = here;
  }
  n = number_components (scratch, n_runs);

  for (guint i = 0; i < n_runs; i++) {
    const PbfRun *run = &scratch->runs[i];

    component_add_run (&scratch->components[scratch->parents[i]], run);
    if (run->y == py && run->first <= px && px <= run->last)
      pool = scratch->parents[i];
  }
  if (pool < 0 && n > 0) {
    for (guint i = 0; i < n_runs; i++) {
      const PbfRun *run = &scratch->runs[i];
      guint64 bits = pbf_bits_between (run->first, run->last);

      scratch->components[scratch->parents[i]].overlap += __builtin_popcountll (
          bits & pbf_disc_row (run->y, ex, ey, params->radius2));
    }
    pool = choose_pool (scratch->components, n);
  }
  if (pool < 0)
    return n;
  scratch->components[pool].pool = TRUE;
  for (guint i = 0; i < n_runs; i++)
    if (scratch->parents[i] == (guint32) pool)
      scratch->pool[scratch->runs[i].y] |=
          pbf_bits_between (scratch->runs[i].first, scratch->runs[i].last);
  return n;
}

/* --- measures --------------------------------------------------------------- */

/* The pool's pixels: moments, intensities, bounding box. */
static void
measure_pool (PbfCpuScratch *scratch, CvisPbfResult *result)
{
  PbfMoments m = { 0 };
  PbfSimdSum sum = PBF_SIMD_SUM_ZERO;
  guint32 top = 0, saturated = 0;
  guint64 columns = 0;
  gint first_row = SIDE, last_row = -1;

  for (gint y = 0; y < SIDE; y++) {
    guint64 bits = scratch->pool[y];
    gint row_n = 0, row_sx = 0;

    if (bits == 0)
      continue;
    columns |= bits;
    first_row = MIN (first_row, y);
    last_row = y;
    sum = pbf_simd_add (sum, scratch->roi[y + 1], bits);
    pbf_simd_extremes (scratch->roi[y + 1], bits, &top, &saturated);
    while (bits) { /* run by run, in closed form */
      gint a = __builtin_ctzll (bits);
      gint n = __builtin_ctzll (~(bits >> a));
      gint triangle = n * (n - 1) / 2;

      row_n += n;
      row_sx += n * a + triangle;
      m.sxx += n * a * a + 2 * a * triangle + triangle * (2 * n - 1) / 3;
      bits &= ~(((G_GUINT64_CONSTANT (1) << n) - 1) << a);
    }
    m.n += row_n;
    m.sx += row_sx;
    m.sy += row_n * y;
    m.syy += row_n * y * y;
    m.sxy += row_sx * y;
  }
  if (m.n == 0) {
    result->flags |= CVIS_PBF_RESULT_NO_POOL;
    return;
  }
  result->raw[CVIS_PBF_MP_AREA] = m.n;
  result->raw[CVIS_PBF_MP_RATIO] = pbf_ratio_q16 (&m);
  result->raw[CVIS_PBF_MP_MEAN] =
      pbf_mean_q8 ((guint32) pbf_simd_sum_total (sum), (guint32) m.n);
  result->max_intensity = top;
  result->saturated = saturated;
  result->orientation_deg = pbf_orientation_deg (&m);
  result->centroid_x_q8 = pbf_centroid_q8 (m.sx, m.n, result->roi_x);
  result->centroid_y_q8 = pbf_centroid_q8 (m.sy, m.n, result->roi_y);
  result->bbox_x = result->roi_x + __builtin_ctzll (columns);
  result->bbox_y = result->roi_y + first_row;
  result->bbox_width =
      64 - __builtin_clzll (columns) - __builtin_ctzll (columns);
  result->bbox_height = last_row - first_row + 1;
  scratch->pool_x = result->roi_x + __builtin_ctzll (scratch->pool[first_row]);
  scratch->pool_y = result->bbox_y;
}

/* For each row the columns whose centres are more than @d to the right of
 * @e. */
static inline void
columns_beyond (gint32 e, const gint32 *d, guint64 *columns)
{
  for (gint y = 0; y < SIDE; y++)
    columns[y] = pbf_bits_from (pbf_column_beyond (e, d[y]));
}

/* @columns: of the disc of @radius2, in loops that the compiler vectorises. */
static void
find_disc (gint32 ex, gint32 ey, guint32 radius2, guint64 *columns)
{
  gint32 half[SIDE], minus[SIDE];
  guint64 beyond[SIDE];

  for (gint y = 0; y < SIDE; y++) {
    half[y] = pbf_disc_half (y, ey, radius2);
    minus[y] = -half[y] - 1;
  }
  columns_beyond (ex, minus, columns);
  columns_beyond (ex, half, beyond);
  for (gint y = 0; y < SIDE; y++)
    columns[y] &= ~beyond[y];
}

/* pbf_polar_row() for every row. */
static void
find_sectors (const PbfParams *params, gint32 ex, gint32 ey, guint64 *right,
    guint64 *middle, guint64 *left)
{
  gint32 narrow[SIDE], minus[SIDE];
  guint64 ring[SIDE], hole[SIDE];
  gint32 level =
      ey - 128; /* 256 times the index of the row with dy = 0, if any */

  find_disc (ex, ey, params->outer2, ring);
  if (params->inner2 > 0) {
    find_disc (ex, ey, params->inner2 - 1, hole);
    for (gint y = 0; y < SIDE; y++)
      ring[y] &= ~hole[y];
  }
  for (gint y = 0; y < SIDE; y++) {
    narrow[y] = pbf_sector_half (y, ey);
    minus[y] = -narrow[y] - 1;
  }
  columns_beyond (ex, narrow, right);
  columns_beyond (ex, minus, left);
  for (gint y = 0; y < SIDE; y++) {
    right[y] &= ring[y];
    middle[y] = ring[y] & left[y] & ~right[y];
    left[y] = ring[y] & ~left[y];
  }
  if (level >= 0 && level % 256 == 0 && level / 256 < SIDE) {
    right[level / 256] |= middle[level / 256];
    middle[level / 256] = 0;
  }
}

/* Sums over the six sectors of a ring. In each row, the sectors of one half
 * plane are three intervals of columns. */
static void
measure_polar (const PbfParams *params, const PbfCpuScratch *scratch, gint32 ex,
    gint32 ey, CvisPbfResult *result)
{
  guint64 right[SIDE], middle[SIDE], left[SIDE];
  gint32 *polar = &result->raw[CVIS_PBF_POLAR_0];
  gint y = 0;

  find_sectors (params, ex, ey, right, middle, left);
  for (gint above = 1; above >= 0; above--) { /* the half planes */
    PbfSimdSum sums[3] = { PBF_SIMD_SUM_ZERO, PBF_SIMD_SUM_ZERO,
      PBF_SIMD_SUM_ZERO };

    for (; y < SIDE && (!above || 256 * y + 128 < ey); y++) {
      const guint8 *row = scratch->roi[y + 1];

      if (256 * y + 128 == ey) { /* 180 degrees: the upper half plane */
        polar[3] +=
            pbf_simd_sum_total (pbf_simd_add (PBF_SIMD_SUM_ZERO, row, left[y]));
        left[y] = 0;
      }
      sums[0] = pbf_simd_add (sums[0], row, right[y]);
      sums[1] = pbf_simd_add (sums[1], row, middle[y]);
      sums[2] = pbf_simd_add (sums[2], row, left[y]);
    }
    polar[above ? 5 : 0] += pbf_simd_sum_total (sums[0]);
    polar[above ? 4 : 1] += pbf_simd_sum_total (sums[1]);
    polar[above ? 3 : 2] += pbf_simd_sum_total (sums[2]);
  }
}

static void
measure_hog (PbfCpuScratch *scratch, CvisPbfResult *result)
{
  gint64 sums[9];

  pbf_simd_gradients (scratch->roi, scratch->gradient);
  pbf_simd_hog (scratch->gradient, sums);
  pbf_hog_normalise (sums, &result->raw[CVIS_PBF_HOG_0]);
}

/* Features of an ROI of SIDE x SIDE pixels; its corner is already set. */
static void
measure_roi (const PbfParams *params, PbfCpuScratch *scratch, const guint8 *roi,
    guint stride, gint32 ex, gint32 ey, CvisPbfResult *result)
{
  gint n;
  gboolean by_flood;

  take_roi (scratch, roi, stride, params->threshold);
  memset (scratch->pool, 0, sizeof scratch->pool);
  by_flood = params->labelling == PBF_LABELLING_FLOOD
             || (params->labelling == PBF_LABELLING_AUTO
                 && count_runs (scratch->mask) < PBF_FLOOD_MAX_RUNS);
  n = by_flood ? label_by_flood (params, scratch, ex, ey)
               : label_by_runs (params, scratch, ex, ey);
  measure_pool (scratch, result);
  if (!params->frame_scope)
    measure_spatters (
        params, scratch->components, n, result->roi_x, result->roi_y, result);
  measure_polar (params, scratch, ex, ey, result);
  measure_hog (scratch, result);
}

/* Spatters of the whole frame: all components except the one that contains
 * the ROI's melt pool. */
static void
measure_frame_spatters (const PbfParams *params, PbfCpuScratch *scratch,
    const guint8 *frame, guint stride, CvisPbfResult *result)
{
  guint n_runs;
  gint n = label_rectangle (
      params, scratch, frame, stride, params->width, params->height, &n_runs);
  gint pool = result->bbox_width > 0 ? component_at (
                  scratch, n_runs, scratch->pool_x, scratch->pool_y)
                                     : -1;

  if (pool >= 0)
    scratch->components[pool].pool = TRUE;
  measure_spatters (params, scratch->components, n, 0, 0, result);
}

static void
measure_frame (const PbfParams *params, PbfCpuScratch *scratch,
    const guint8 *frame, guint stride, CvisPbfResult *result)
{
  gint side = params->side;
  const guint8 *roi;
  gint32 ex, ey;

  result->roi_size = side;
  result->roi_x =
      pbf_roi_start (result->e_x_q8, params->width, side, params->align);
  result->roi_y = pbf_roi_start (result->e_y_q8, params->height, side, 1);
  if (pbf_roi_clamped (result->e_x_q8, params->width, side)
      || pbf_roi_clamped (result->e_y_q8, params->height, side))
    result->flags |= CVIS_PBF_RESULT_ROI_CLAMPED;
  ex = pbf_clamp_reach ((gint64) result->e_x_q8 - 256 * result->roi_x, side);
  ey = pbf_clamp_reach ((gint64) result->e_y_q8 - 256 * result->roi_y, side);
  roi = frame + (gsize) result->roi_y * stride + result->roi_x;

  if (side == SIDE)
    measure_roi (params, scratch, roi, stride, ex, ey, result);
  else
    wide_measure_roi (params, scratch, roi, stride, ex, ey, result);
  if (result->bbox_width > 0 && pbf_box_at_edge (result, side))
    result->flags |= CVIS_PBF_RESULT_POOL_AT_EDGE;
  if (params->frame_scope)
    measure_frame_spatters (params, scratch, frame, stride, result);
  for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++)
    result->features[f] = (gfloat) result->raw[f] / pbf_scale (f);
}

static void
spatial (const PbfParams *params, PbfCpuScratch *scratch, const guint8 *frame,
    guint stride, const PbfFrameInfo *info, CvisPbfResult *result)
{
  guint entry = info->entry;

  pbf_result_begin (result, info);
  if (entry == PBF_ENTER_IF_LIT)
    entry = is_lit (params, frame, stride) ? PBF_ENTER : PBF_EMPTY;
  if (entry == PBF_EMPTY) {
    result->flags |= CVIS_PBF_RESULT_EMPTY;
    if (!params->analyse_empty)
      return;
    entry = PBF_EXCLUDE;
  }
  if (entry == PBF_EXCLUDE)
    result->flags |= CVIS_PBF_RESULT_EXCLUDED;

  if (info->position == PBF_POSITION_BRIGHTEST) {
    locate_brightest (params, scratch, frame, stride, result);
  } else if (info->position == PBF_POSITION_BRIGHTEST_PIXEL) {
    locate_brightest_pixel (params, frame, stride, result);
  } else if (info->position == PBF_POSITION_CENTROID) {
    locate_centroid (params, frame, stride, result);
  } else {
    result->e_x_q8 = info->e_x_q8;
    result->e_y_q8 = info->e_y_q8;
  }
  measure_frame (params, scratch, frame, stride, result);
}

/* --- the window -------------------------------------------------------------- */

static void
temporal (const PbfRows *rows, gint32 first, gint32 end, PbfSums *sums)
{
  for (gint32 r = first; r < end; r++) {
    CvisPbfResult *result = &rows->results[rows->frames[r]];
    gint64 n = r - rows->starts[r] + 1;

    for (; sums->low < rows->starts[r]; sums->low++) {
      const gint32 *raw = pbf_rows_raw (rows, sums->low);

      for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++) {
        sums->s1[f] -= raw[f];
        sums->s2[f] -= (gint64) raw[f] * raw[f];
      }
    }
    for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++) {
      sums->s1[f] += result->raw[f];
      sums->s2[f] += (gint64) result->raw[f] * result->raw[f];
      result->var_num[f] = n * sums->s2[f] - sums->s1[f] * sums->s1[f];
    }
    for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++)
      result->features[CVIS_PBF_N_SPATIAL + f] =
          pbf_variance (result->var_num[f], n, pbf_scale (f));
    result->window_n = (guint32) n;
    if (n < rows->params->window)
      result->flags |= CVIS_PBF_RESULT_WARMUP;
  }
}

/* --- the network --------------------------------------------------------------- */

/* Each hidden unit adds its 40 products in order. Each output adds the
 * hidden units' products in 32 partial sums (unit j to sum j mod 32, in
 * order), which are then added pairwise: l and l + 16, l + 8, and so on. The
 * GPU uses the same order. */
static void
network (const PbfParams *params, const PbfModel *model, CvisPbfResult *result)
{
  gfloat x[CVIS_PBF_N_FEATURES];
  gfloat hidden[PBF_MAX_HIDDEN] __attribute__ ((aligned (64)));
  guint padded = model->hidden_padded;

  for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++)
    x[i] = (result->features[i] - model->mean[i]) * model->inv_std[i];
  pbf_simd_hidden (model->w1t, model->b1, x, hidden, padded);
  for (guint k = 0; k < model->outputs; k++)
    result->outputs[k] =
        model->b2[k]
        + pbf_simd_dot (model->w2 + (gsize) k * padded, hidden, padded);
  result->n_outputs = model->outputs;
  pbf_activate (result->outputs, model->outputs, params->activation);
}

/* --- grey samples of more than 8 bits -------------------------------------- */

static inline guint8
to_8_bits (guint16 sample, guint shift)
{
  guint16 shifted = (guint16) (sample >> shift);

  return (guint8) (shifted < 255 ? shifted : 255);
}

static inline guint16
load_16 (const guint8 *from)
{
  guint16 sample;

  memcpy (&sample, from, sizeof sample);
  return sample;
}

static inline guint32
load_32 (const guint8 *from)
{
  guint32 word;

  memcpy (&word, from, sizeof word);
  return word;
}

/* Sample @k of a word of PBF_GREY_10_LE32. */
static inline guint8
sample_10 (guint32 word, guint k, guint shift)
{
  return to_8_bits ((guint16) (word >> 10 * k & 1023), shift);
}

static void
grey_row_10 (
    guint shift, const guint8 *restrict from, gsize width, guint8 *restrict to)
{
  gsize words = width / 3;

  for (gsize i = 0; i < words; i++) {
    guint32 word = GUINT32_FROM_LE (load_32 (from + 4 * i));

    to[3 * i] = sample_10 (word, 0, shift);
    to[3 * i + 1] = sample_10 (word, 1, shift);
    to[3 * i + 2] = sample_10 (word, 2, shift);
  }
  for (gsize x = 3 * words; x < width; x++)
    to[x] = sample_10 (GUINT32_FROM_LE (load_32 (from + 4 * words)),
        (guint) (x - 3 * words), shift);
}

static void
grey_row (PbfGreyLayout layout, guint shift, const guint8 *restrict from,
    gsize width, guint8 *restrict to)
{
  switch (layout) {
    case PBF_GREY_16_LE:
      for (gsize x = 0; x < width; x++)
        to[x] = to_8_bits (GUINT16_FROM_LE (load_16 (from + 2 * x)), shift);
      break;
    case PBF_GREY_16_BE:
      for (gsize x = 0; x < width; x++)
        to[x] = to_8_bits (GUINT16_FROM_BE (load_16 (from + 2 * x)), shift);
      break;
    case PBF_GREY_10_LE32:
      grey_row_10 (shift, from, width, to);
      break;
  }
}

const PbfCpuKernels PBF_CPU = { G_STRINGIFY (PBF_CPU), spatial, temporal,
  network, grey_row };
