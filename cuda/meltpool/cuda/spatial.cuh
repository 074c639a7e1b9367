/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Spatial features of a frame with an ROI of 40 x 40 pixels, by one warp.
 *
 * Shared memory holds the ROI as 40 rows of 10 words with a pitch of 11, so
 * that 32 lanes that read a column of rows have no bank conflicts. Lane l
 * owns row l, lanes 0..7 also rows 32..39, as masks of 40 bits: labelling
 * and the melt pool use these. Gradients distribute the 400 words evenly.
 * The warp adds integers in any order; every lane computes the few
 * floating-point results from the complete sums, as the CPU does. */
#pragma once

#include "cuda/meltpool/cuda/begin.cuh"
#include "cuda/meltpool/cuda/gradient.cuh"
#include "cuda/meltpool/cuda/union.cuh"

#define SIDE CVIS_PBF_ROI_SIDE
#define PITCH 11 /* words from row to row in shared memory */
#define WORDS (SIDE / 4)
#define NEAR_RUNS PBF_FLOOD_MAX_RUNS

namespace {

/* Shared memory of a warp. */
struct Shared {
  guint32 roi[SIDE * PITCH];
  unsigned long long components[NEAR_RUNS];
  guint32 parents[NEAR_RUNS];
  alignas (16) CvisPbfResult result;
};

/* The two rows of a lane: l and 32 + l (lanes 8 and up: 0). */
struct Rows {
  guint64 low, high;
};

/* A component's sums share one 64-bit word, updated by one atomic operation
 * for each run: pixels, pixels in the disc, sums of the columns and of the
 * rows in the ROI. */
__device__ __forceinline__ unsigned long long
pack (guint32 area, guint32 overlap, guint32 sx, guint32 sy)
{
  return (unsigned long long) area | (unsigned long long) overlap << 11
         | (unsigned long long) sx << 22 | (unsigned long long) sy << 39;
}

__device__ __forceinline__ guint32
area_of (unsigned long long component)
{
  return (guint32) component & 0x7ff;
}

__device__ __forceinline__ guint32
overlap_of (unsigned long long component)
{
  return (guint32) (component >> 11) & 0x7ff;
}

__device__ __forceinline__ guint32
sx_of (unsigned long long component)
{
  return (guint32) (component >> 22) & 0x1ffff;
}

__device__ __forceinline__ guint32
sy_of (unsigned long long component)
{
  return (guint32) (component >> 39);
}

/* --- the ROI ---------------------------------------------------------------- */

/* Copies the ROI, at any byte address, to words of shared memory: two
 * aligned loads for each word, combined by a funnel shift. */
__device__ __forceinline__ void
load_roi (const PbfDeviceFrame &f, gint x0, gint y0, guint32 *roi, guint thread,
    guint threads)
{
  const guint8 *start = f.frame + (gsize) y0 * f.stride + (x0 & ~3);
  guint shift = (x0 & 3) * 8;

#pragma unroll
  for (gint i = thread; i < SIDE * WORDS; i += threads) {
    gint y = i / WORDS, c = i % WORDS;
    const guint32 *at =
        (const guint32 *) (start + (gsize) y * f.stride + 4 * c);
    guint32 low = at[0], high = shift ? at[1] : 0;

    roi[y * PITCH + c] = __funnelshift_r (low, high, shift);
  }
}

__device__ __forceinline__ guint64
threshold_row (const guint32 *row, guint32 threshold)
{
  guint64 bits = 0;

#pragma unroll
  for (gint c = 0; c < WORDS; c++)
    bits |= (guint64) pbf_reaches (row[c], threshold) << (4 * c);
  return bits;
}

/* --- labelling ---------------------------------------------------------------- */

__device__ __forceinline__ guint64
row_of (const Rows &rows, gint y)
{
  guint64 low = __shfl_sync (PBF_ALL_LANES, rows.low, y & 31);
  guint64 high = __shfl_sync (PBF_ALL_LANES, rows.high, y & 31);

  return y < 32 ? low : high;
}

/* The rows above and below each of the lane's rows. */
__device__ __forceinline__ void
neighbours (const Rows &rows, Rows *above, Rows *below)
{
  guint lane = pbf_lane ();
  guint64 last = __shfl_sync (PBF_ALL_LANES, rows.low, 31);
  guint64 first = __shfl_sync (PBF_ALL_LANES, rows.high, 0);

  above->low = __shfl_up_sync (PBF_ALL_LANES, rows.low, 1);
  above->high = __shfl_up_sync (PBF_ALL_LANES, rows.high, 1);
  below->low = __shfl_down_sync (PBF_ALL_LANES, rows.low, 1);
  below->high = __shfl_down_sync (PBF_ALL_LANES, rows.high, 1);
  if (lane == 0) {
    above->low = 0;
    above->high = last;
  }
  if (lane == 31) {
    below->low = first;
    below->high = 0;
  }
  if (lane >= 7) /* row 39 is the last */
    below->high = 0;
}

__device__ __forceinline__ guint64
reach (guint64 row, gint connectivity)
{
  return connectivity == 8 ? row | (row << 1) | (row >> 1) : row;
}

/* All runs of @mask that contain a bit of @seed: the carry of an addition
 * fills from a seed to the end of its run, and the same on the reversed word
 * to the start. */
__device__ __forceinline__ guint64
fill_row (guint64 seed, guint64 mask)
{
  seed &= mask;
  guint64 up = (mask & ~(mask + seed)) | seed;
  guint64 m = __brevll (mask) >> (64 - SIDE), s = __brevll (up) >> (64 - SIDE);
  guint64 down = (m & ~(m + s)) | s;

  return __brevll (down) >> (64 - SIDE);
}

/* The component of @mask that contains the pixels @seed. */
__device__ Rows
flood (const Rows &mask, Rows seed, gint connectivity)
{
  Rows filled = { fill_row (seed.low, mask.low),
    fill_row (seed.high, mask.high) };

  for (;;) {
    Rows above, below, grown;

    neighbours (filled, &above, &below);
    grown.low = fill_row (
        filled.low | reach (above.low | below.low, connectivity), mask.low);
    grown.high = fill_row (
        filled.high | reach (above.high | below.high, connectivity), mask.high);
    bool changed = grown.low != filled.low || grown.high != filled.high;
    filled = grown;
    if (!__any_sync (PBF_ALL_LANES, changed))
      return filled;
  }
}

/* Sum of the indices of the set bits. */
__device__ __forceinline__ guint32
sum_of_columns (guint64 bits)
{
  return __popcll (bits & 0xaaaaaaaaaaull)
         + 2 * __popcll (bits & 0xccccccccccull)
         + 4 * __popcll (bits & 0xf0f0f0f0f0ull)
         + 8 * __popcll (bits & 0xff00ff00ull)
         + 16 * __popcll (bits & 0x00ffff0000ull)
         + 32 * __popcll (bits & 0xff00000000ull);
}

/* First row with a set bit; -1 without one. */
__device__ __forceinline__ gint
first_row (const Rows &rows)
{
  guint32 low = __ballot_sync (PBF_ALL_LANES, rows.low != 0);
  guint32 high = __ballot_sync (PBF_ALL_LANES, rows.high != 0);

  return low ? __ffs (low) - 1 : high ? 32 + __ffs (high) - 1 : -1;
}

/* The mask of the single pixel (x, y). */
__device__ __forceinline__ Rows
pixel (gint x, gint y)
{
  guint64 bit = 1ull << x;

  return Rows{ y == (gint) pbf_lane () ? bit : 0,
    y == 32 + (gint) pbf_lane () ? bit : 0 };
}

/* Component with the largest key (overlap with the disc, otherwise area),
 * the first of equals; -1: none. */
__device__ gint
choose_pool (const volatile unsigned long long *components, guint n)
{
  guint32 overlap = 0, area = 0;

  for (guint i = pbf_lane (); i < n; i += 32) {
    unsigned long long c = components[i];
    overlap = max (overlap, overlap_of (c) << 12 | (0xfff - i));
    area = max (area, area_of (c) << 12 | (0xfff - i));
  }
  overlap = pbf_warp_max (overlap);
  area = pbf_warp_max (area);
  if (overlap >> 12)
    return 0xfff - (overlap & 0xfff);
  return area >> 12 ? (gint) (0xfff - (area & 0xfff)) : -1;
}

/* Labels by flood fill, one component after the other in raster order.
 * Returns: the number of components */
__device__ guint
label_by_flood (const PbfParams &p, const Rows &mask, gint32 ex, gint32 ey,
    unsigned long long *components, guint32 *firsts, gint *pool_number,
    Rows *pool)
{
  guint lane = pbf_lane (), n = 0;
  gint px = min (max (ex >> 8, 0), SIDE - 1);
  gint py = min (max (ey >> 8, 0), SIDE - 1), y;
  bool known = (row_of (mask, py) >> px) & 1;
  Rows left = mask, disc = { 0, 0 };

  *pool_number = -1;
  *pool = Rows{ 0, 0 };
  if (!known) {
    disc.low = pbf_disc_row (lane, ex, ey, p.radius2);
    disc.high = lane < 8 ? pbf_disc_row (32 + lane, ex, ey, p.radius2) : 0;
  }
  while ((y = first_row (left)) >= 0) {
    gint x = __ffsll ((long long) row_of (left, y)) - 1;
    Rows filled = flood (left, pixel (x, y), p.connectivity);
    guint32 low = __popcll (filled.low), high = __popcll (filled.high);
    guint32 area = pbf_warp_sum (low + high);
    guint32 overlap = known
                          ? 0
                          : pbf_warp_sum (__popcll (filled.low & disc.low)
                                          + __popcll (filled.high & disc.high));
    guint32 sx = pbf_warp_sum (
        sum_of_columns (filled.low) + sum_of_columns (filled.high));
    guint32 sy = pbf_warp_sum (low * lane + high * (32 + lane));

    if (lane == 0) {
      components[n] = pack (area, overlap, sx, sy);
      firsts[n] = y * SIDE + x;
    }
    if (known && ((row_of (filled, py) >> px) & 1)) {
      *pool_number = n;
      *pool = filled;
    }
    left.low &= ~filled.low;
    left.high &= ~filled.high;
    n++;
  }
  __syncwarp ();
  if (!known && n > 0) {
    *pool_number = choose_pool (components, n);
    guint32 first = firsts[*pool_number];
    *pool = flood (mask, pixel (first % SIDE, first / SIDE), p.connectivity);
  }
  return n;
}

/* Removes the first run from @bits; @first, @end: its columns. */
__device__ __forceinline__ void
take_run (guint64 *bits, gint *first, gint *last)
{
  *first = __ffsll ((long long) *bits) - 1;
  *last = *first + __ffsll ((long long) ~(*bits >> *first)) - 2;
  *bits &= ~pbf_bits_between (*first, *last);
}

/* Joins the runs of a row (the first has index @here) with the runs of the
 * row above (index @above) that they touch, in one pass over both. */
__device__ void
unite_rows (guint32 *parents, guint64 row_above, guint32 above, guint64 row,
    guint32 here, gint diagonal)
{
  gint a0, a1, b0, b1;

  if (row_above == 0 || row == 0)
    return;
  take_run (&row_above, &a0, &a1);
  take_run (&row, &b0, &b1);
  for (;;) {
    if (a0 <= b1 + diagonal && b0 <= a1 + diagonal)
      pbf_unite (parents, above, here);
    if (a1 < b1) {
      if (row_above == 0)
        return;
      take_run (&row_above, &a0, &a1);
      above++;
    } else {
      if (row == 0)
        return;
      take_run (&row, &b0, &b1);
      here++;
    }
  }
}

/* Adds the runs of row @y to the sums of their components. */
__device__ void
add_runs (const PbfParams &p, guint64 row, guint32 number, gint y, gint32 ex,
    gint32 ey, bool known, guint32 *parents, unsigned long long *components)
{
  guint64 disc = known || row == 0 ? 0 : pbf_disc_row (y, ex, ey, p.radius2);

  while (row) {
    gint first, last;
    take_run (&row, &first, &last);
    guint32 n = last - first + 1;
    guint32 root = pbf_find (parents, number++);

    atomicAdd (&components[root],
        pack (n, __popcll (pbf_bits_between (first, last) & disc),
            n * first + n * (n - 1) / 2, n * y));
  }
}

/* The runs of a row that belong to component @root. */
__device__ guint64
runs_of (guint64 row, guint32 number, guint32 *parents, guint32 root)
{
  guint64 bits = 0;

  while (row) {
    gint first, last;
    take_run (&row, &first, &last);
    if (pbf_find (parents, number++) == root)
      bits |= pbf_bits_between (first, last);
  }
  return bits;
}

__device__ __forceinline__ guint32
count_runs (guint64 row)
{
  return __popcll (row & ~(row << 1));
}

/* Labels by runs and union-find. A component has the index of its first run;
 * entries of other runs stay 0. Returns: the number of runs */
__device__ guint
label_by_runs (const PbfParams &p, const Rows &mask, gint32 ex, gint32 ey,
    unsigned long long *components, guint32 *parents, gint *pool_number,
    Rows *pool)
{
  guint lane = pbf_lane ();
  gint px = min (max (ex >> 8, 0), SIDE - 1);
  gint py = min (max (ey >> 8, 0), SIDE - 1);
  guint64 at = row_of (mask, py);
  bool known = (at >> px) & 1;
  guint32 low_runs = count_runs (mask.low), high_runs = count_runs (mask.high);
  guint32 low_number = pbf_warp_sum_before (low_runs);
  guint32 before = pbf_warp_sum (low_runs);
  guint32 high_number = before + pbf_warp_sum_before (high_runs);
  guint32 n = before + pbf_warp_sum (high_runs);
  Rows above, below;
  gint diagonal = p.connectivity == 8;

  *pool = Rows{ 0, 0 };
  for (guint32 i = lane; i < n; i += 32) {
    parents[i] = i;
    components[i] = 0;
  }
  __syncwarp ();
  neighbours (mask, &above, &below);
  unite_rows (parents, above.low, low_number - count_runs (above.low), mask.low,
      low_number, diagonal);
  unite_rows (parents, above.high, high_number - count_runs (above.high),
      mask.high, high_number, diagonal);
  __syncwarp ();
  add_runs (p, mask.low, low_number, lane, ex, ey, known, parents, components);
  add_runs (
      p, mask.high, high_number, 32 + lane, ex, ey, known, parents, components);
  __syncwarp ();
  if (known) {
    guint32 row_number = __shfl_sync (
        PBF_ALL_LANES, py < 32 ? low_number : high_number, py & 31);
    guint64 up_to = at & ((2ull << px) - 1);

    *pool_number = pbf_find (parents, row_number + count_runs (up_to) - 1);
  } else {
    *pool_number = choose_pool (components, n);
  }
  if (*pool_number >= 0) {
    pool->low = runs_of (mask.low, low_number, parents, *pool_number);
    pool->high = runs_of (mask.high, high_number, parents, *pool_number);
  }
  return n;
}

/* --- measures ------------------------------------------------------------------ */

/* Expands 4 bits to 4 bytes of 0 or 255. */
__device__ __forceinline__ guint32
spread (guint32 bits)
{
  return ((bits & 15) * 0x00204081u & 0x01010101u) * 255u;
}

/* Sum of the pixels of a row whose bits are set. */
__device__ __forceinline__ guint32
sum_row (const guint32 *row, guint64 bits)
{
  guint32 sum = 0;

#pragma unroll
  for (gint c = 0; c < WORDS; c++)
    sum = __dp4a (
        row[c] & spread ((guint32) (bits >> (4 * c))), 0x01010101u, sum);
  return sum;
}

/* Contribution of one row to the melt pool's sums. */
__device__ __forceinline__ void
add_pool_row (const guint32 *row, guint64 bits, gint y, PbfMoments *m,
    guint32 *sum, guint32 *top, guint32 *saturated)
{
  if (bits == 0)
    return;
#pragma unroll
  for (gint c = 0; c < WORDS; c++) {
    guint32 word = row[c] & spread ((guint32) (bits >> (4 * c)));

    *sum = __dp4a (word, 0x01010101u, *sum);
    *top = __vmaxu4 (*top, word);
    *saturated += __popc (__vcmpeq4 (word, 0xffffffffu)) / 8;
  }
  gint32 n = __popcll (bits), sx = 0, sxx = 0;
  for (guint64 rest = bits; rest;) {
    gint a, last;
    take_run (&rest, &a, &last);
    gint count = last - a + 1, triangle = count * (count - 1) / 2;

    sx += count * a + triangle;
    sxx += count * a * a + 2 * a * triangle + triangle * (2 * count - 1) / 3;
  }
  m->n += n;
  m->sx += sx;
  m->sxx += sxx;
  m->sy += n * y;
  m->syy += n * y * y;
  m->sxy += sx * y;
}

__device__ void
measure_pool (const guint32 *roi, const Rows &pool, CvisPbfResult *result)
{
  guint lane = pbf_lane ();
  PbfMoments m = { 0, 0, 0, 0, 0, 0 };
  guint32 sum = 0, top = 0, saturated = 0;

  add_pool_row (roi + lane * PITCH, pool.low, lane, &m, &sum, &top, &saturated);
  if (lane < 8)
    add_pool_row (roi + (32 + lane) * PITCH, pool.high, 32 + lane, &m, &sum,
        &top, &saturated);
  m.n = pbf_warp_sum (m.n);
  if (m.n == 0) {
    if (lane == 0)
      result->flags |= CVIS_PBF_RESULT_NO_POOL;
    return;
  }
  m.sx = pbf_warp_sum (m.sx);
  m.sy = pbf_warp_sum (m.sy);
  m.sxx = pbf_warp_sum (m.sxx);
  m.syy = pbf_warp_sum (m.syy);
  m.sxy = pbf_warp_sum (m.sxy);
  sum = pbf_warp_sum (sum);
  saturated = pbf_warp_sum (saturated);
  top = max (
      max (top & 255, (top >> 8) & 255), max ((top >> 16) & 255, top >> 24));
  top = pbf_warp_max (top);

  guint64 columns = pool.low | pool.high;
  columns = (guint64) pbf_warp_or ((guint32) (columns >> 32)) << 32
            | pbf_warp_or ((guint32) columns);
  guint32 rows_low = __ballot_sync (PBF_ALL_LANES, pool.low != 0);
  guint32 rows_high = __ballot_sync (PBF_ALL_LANES, pool.high != 0);
  guint64 rows = (guint64) rows_high << 32 | rows_low;
  gint left = __ffsll ((long long) columns) - 1;
  gint upper = __ffsll ((long long) rows) - 1;

  if (lane == 0) {
    result->raw[CVIS_PBF_MP_AREA] = m.n;
    result->raw[CVIS_PBF_MP_RATIO] = pbf_ratio_q16 (&m);
    result->raw[CVIS_PBF_MP_MEAN] = pbf_mean_q8 (sum, m.n);
    result->max_intensity = (guint16) top;
    result->saturated = (guint16) saturated;
    result->orientation_deg = pbf_orientation_deg (&m);
    result->centroid_x_q8 = pbf_centroid_q8 (m.sx, m.n, result->roi_x);
    result->centroid_y_q8 = pbf_centroid_q8 (m.sy, m.n, result->roi_y);
    result->bbox_x = (guint16) (result->roi_x + left);
    result->bbox_y = (guint16) (result->roi_y + upper);
    result->bbox_width = (guint16) (64 - __clzll (columns) - left);
    result->bbox_height = (guint16) (64 - __clzll (rows) - upper);
    if (pbf_box_at_edge (result, SIDE))
      result->flags |= CVIS_PBF_RESULT_POOL_AT_EDGE;
  }
}

/* All components except the melt pool. The largest are selected one by one;
 * lane k keeps and describes the k-th. */
__device__ void
measure_spatters (const PbfParams &p, unsigned long long *components, guint n,
    gint pool_number, CvisPbfResult *result)
{
  guint lane = pbf_lane ();
  guint32 area = 0, count = 0, listed;
  unsigned long long mine = 0;

  for (guint i = lane; i < n; i += 32) {
    guint32 a = area_of (components[i]);

    if ((gint) i == pool_number || a < p.min_area || a == 0) {
      components[i] = 0;
      continue;
    }
    area += a;
    count++;
  }
  area = pbf_warp_sum (area);
  count = pbf_warp_sum (count);
  listed = min (count, (guint32) CVIS_PBF_MAX_SPATTERS);
  __syncwarp ();
  for (guint32 k = 0; k < listed; k++) {
    guint32 best = 0;

    for (guint i = lane; i < n; i += 32)
      best = max (best, area_of (components[i]) << 12 | (0xfff - i));
    best = 0xfff - (pbf_warp_max (best) & 0xfff);
    if (lane == k)
      mine = components[best];
    __syncwarp ();
    if (lane == k)
      components[best] = 0;
    __syncwarp ();
  }
  if (lane < listed)
    pbf_describe_spatter (&result->spatters[lane], area_of (mine), sx_of (mine),
        sy_of (mine), result->roi_x, result->roi_y, result->e_x_q8,
        result->e_y_q8);
  if (lane == 0) {
    result->raw[CVIS_PBF_SPATTER_AREA] = area;
    result->raw[CVIS_PBF_SPATTER_COUNT] = count;
    result->n_spatters = listed;
    if (count > CVIS_PBF_MAX_SPATTERS)
      result->flags |= CVIS_PBF_RESULT_SPATTERS_CUT;
  }
}

/* Splits a lane's rows into sectors; the six sums. */
__device__ void
measure_polar (const PbfParams &p, const guint32 *roi, gint32 ex, gint32 ey,
    CvisPbfResult *result)
{
  guint lane = pbf_lane ();
  guint32 sums[6] = { 0, 0, 0, 0, 0, 0 };

  for (gint y = lane; y < SIDE; y += 32) {
    guint64 right, middle, left;
    gint32 dy = 256 * y + 128 - ey;

    pbf_polar_row (y, ex, ey, p.inner2, p.outer2, &right, &middle, &left);
    guint32 r = sum_row (roi + y * PITCH, right);
    guint32 m = sum_row (roi + y * PITCH, middle);
    guint32 l = sum_row (roi + y * PITCH, left);
    sums[0] += dy >= 0 ? r : 0;
    sums[5] += dy >= 0 ? 0 : r;
    sums[1] += dy > 0 ? m : 0;
    sums[4] += dy > 0 ? 0 : m;
    sums[2] += dy > 0 ? l : 0;
    sums[3] += dy > 0 ? 0 : l;
  }
#pragma unroll
  for (gint k = 0; k < 6; k++) {
    guint32 sum = pbf_warp_sum (sums[k]);
    if (lane == 0)
      result->raw[CVIS_PBF_POLAR_0 + k] = sum;
  }
}

/* The gradients of a thread: every @threads-th word of the ROI. */
__device__ __forceinline__ void
add_gradients (const guint32 *roi, guint thread, guint threads, guint32 all[5],
    guint32 left[5])
{
  for (gint i = thread; i < SIDE * WORDS; i += threads) {
    gint y = i / WORDS, c = i % WORDS;
    const guint32 *at = roi + y * PITCH + c;
    guint32 word = at[0];
    guint32 up = y > 0 ? at[-PITCH] : word;
    guint32 down = y < SIDE - 1 ? at[PITCH] : word;
    guint32 before = c > 0 ? at[-1] >> 24 : word & 255;
    guint32 after = c < WORDS - 1 ? at[1] & 255 : word >> 24;
    guint32 to_left = word << 8 | before, to_right = word >> 8 | after << 24;

#pragma unroll
    for (gint k = 0; k < 4; k++)
      pbf_add_gradient (byte_of (to_right, k) - byte_of (to_left, k),
          byte_of (down, k) - byte_of (up, k), all, left);
  }
}

__device__ void
measure_hog (const guint32 *roi, CvisPbfResult *result)
{
  guint lane = pbf_lane ();
  guint32 all[5] = { 0, 0, 0, 0, 0 }, left[5] = { 0, 0, 0, 0, 0 };
  gint64 a[5], l[5], sums[9];
  gint32 normalised[9];

  add_gradients (roi, lane, 32, all, left);
#pragma unroll
  for (gint k = 0; k < 5; k++) {
    a[k] = pbf_warp_sum_wide (all[k]);
    l[k] = pbf_warp_sum_wide (left[k]);
  }
  pbf_hog_unfold (a, l, sums);
  pbf_hog_normalise (sums, normalised);
#pragma unroll
  for (gint k = 0; k < 9; k++)
    if (lane == (guint) k)
      result->raw[CVIS_PBF_HOG_0 + k] = normalised[k];
}

/* --- the frame -------------------------------------------------------------------- */

/* Melt pool and spatters of the ROI in shared memory. @pool_pixel (only for
 * frame scope): receives the index of the pool's first pixel in the frame,
 * or -1. */
__device__ void
measure_components (const PbfParams &p, Shared &shared, gint32 ex, gint32 ey,
    PbfDeviceScratch *scratch, gint32 *pool_pixel)
{
  CvisPbfResult *result = &shared.result;
  guint lane = pbf_lane (), n;
  guint32 threshold = (guint32) p.threshold * 0x01010101u;
  gint pool_number;
  Rows mask, pool;

  mask.low = threshold_row (shared.roi + lane * PITCH, threshold);
  mask.high = lane < 8
                  ? threshold_row (shared.roi + (32 + lane) * PITCH, threshold)
                  : 0;

  guint32 runs = pbf_warp_sum (count_runs (mask.low) + count_runs (mask.high));
  unsigned long long *components = shared.components;
  guint32 *parents = shared.parents;
  if (runs > NEAR_RUNS) {
    components = scratch->components;
    parents = scratch->parents;
  }
  bool by_flood =
      p.labelling == PBF_LABELLING_FLOOD
      || (p.labelling == PBF_LABELLING_AUTO && runs < PBF_FLOOD_MAX_RUNS);
  if (by_flood)
    n = label_by_flood (
        p, mask, ex, ey, components, parents, &pool_number, &pool);
  else
    n = label_by_runs (
        p, mask, ex, ey, components, parents, &pool_number, &pool);
  measure_pool (shared.roi, pool, result);
  __syncwarp ();
  if (pool_pixel) {
    gint y = first_row (pool);
    gint x = y < 0 ? 0 : __ffsll ((long long) row_of (pool, y)) - 1;

    if (lane == 0)
      *pool_pixel =
          y < 0 ? -1 : (result->roi_y + y) * p.width + result->roi_x + x;
  } else {
    measure_spatters (p, components, n, pool_number, result);
  }
}

__device__ void
measure_roi (const PbfParams &p, const PbfDeviceFrame &f, Shared &shared,
    PbfDeviceScratch *scratch, gint32 *pool_pixel)
{
  CvisPbfResult *result = &shared.result;
  guint lane = pbf_lane ();
  gint32 ex =
      pbf_clamp_reach ((gint64) result->e_x_q8 - 256 * result->roi_x, SIDE);
  gint32 ey =
      pbf_clamp_reach ((gint64) result->e_y_q8 - 256 * result->roi_y, SIDE);

  load_roi (f, result->roi_x, result->roi_y, shared.roi, lane, 32);
  __syncwarp ();
  measure_components (p, shared, ex, ey, scratch, pool_pixel);
  measure_polar (p, shared.roi, ex, ey, result);
  measure_hog (shared.roi, result);
  __syncwarp ();
  if (lane < CVIS_PBF_N_SPATIAL)
    result->features[lane] = (gfloat) result->raw[lane] / pbf_scale (lane);
}

} // namespace
