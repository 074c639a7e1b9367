/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Labels an ROI with up to 64 runs of foreground pixels by one warp, and
 * measures the components, a warp for each measure.
 *
 * Lane l has runs l and 32 + l, numbered in raster order. The parent of a
 * run is the first run of the row above that it touches. Six steps of
 * pointer jumping lead each run to the root of its tree (40 rows: no path is
 * longer than 64). Runs that touch a second run above join two trees by
 * union-find, which is rare. The time does not depend on the number of
 * components. */
#pragma once

#include "cuda/meltpool/cuda/spatial.cuh"

#define FEW_RUNS 64

namespace {

/* In shared memory. Sums belong to the component that begins with the run;
 * they are 0 for other runs, and for the melt pool if it is known from the
 * start. */
struct FewRuns {
  guint64 rows[SIDE + 1];  /* of the mask, after a row of zeros */
  guint32 begin[SIDE + 1]; /* index of the row's first run */
  guint8 first[FEW_RUNS], last[FEW_RUNS], y[FEW_RUNS], root[FEW_RUNS];
  guint32 parents[FEW_RUNS];
  guint32 area[FEW_RUNS], overlap[FEW_RUNS], sx[FEW_RUNS], sy[FEW_RUNS];
  guint32 pool_bits[SIDE][2];
  guint32 n;
  gint32 pool; /* its first run; -1: no melt pool */
  bool summed; /* whether label_few_runs() has computed the sums */
  PbfMoments moments;
  guint32 left, right, top,
      bottom; /* of the pool: columns and rows left..right-1 */
};

struct Run {
  gint first, last, y;
  guint32 root;
};

__device__ __forceinline__ guint64
starts_of (guint64 row)
{
  return row & ~(row << 1);
}

/* Sets the parent of run @i to its root. Returns: first columns of the other
 * runs above that it touches */
__device__ guint64
find_parent (const FewRuns &runs, guint32 i, gint connectivity, Run *run)
{
  gint first = runs.first[i], y = runs.y[i];
  guint64 row = runs.rows[y + 1], above = runs.rows[y];
  gint beyond = first + __ffsll ((long long) ~(row >> first)) - 1;
  guint64 touched =
      above & reach ((1ull << beyond) - (1ull << first), connectivity);
  guint64 up_to_first = touched ^ (touched - 1), starts = starts_of (above);

  run->first = first;
  run->last = beyond - 1;
  run->y = y;
  run->root = touched ? runs.begin[y] + __popcll (starts & up_to_first) - 1 : i;
  return touched ? starts & touched & ~up_to_first : 0;
}

/* Root of each of the lane's two runs. */
__device__ __forceinline__ void
find_roots (guint32 n, guint32 *low, guint32 *high)
{
#pragma unroll 1
  for (gint round = 0; round < 6; round++) {
    guint32 a = __shfl_sync (PBF_ALL_LANES, *low, *low & 31);

    if (n > 32) {
      guint32 b = __shfl_sync (PBF_ALL_LANES, *high, *low & 31);
      guint32 c = __shfl_sync (PBF_ALL_LANES, *low, *high & 31);
      guint32 d = __shfl_sync (PBF_ALL_LANES, *high, *high & 31);

      a = *low < 32 ? a : b;
      *high = *high < 32 ? c : d;
    }
    *low = a;
  }
}

/* Joins the tree of run @i with those of the runs above that begin at
 * columns @others. */
__device__ void
join_run (FewRuns &runs, guint32 i, guint64 others)
{
  if (others == 0)
    return;
  gint y = runs.y[i];
  guint64 starts = starts_of (runs.rows[y]);

  for (; others; others &= others - 1) {
    guint64 bit = others & -others;

    pbf_unite (runs.parents, i,
        runs.begin[y] + __popcll (starts & (bit | (bit - 1))) - 1);
  }
}

/* Adds a run to its component. */
__device__ void
add_run (FewRuns &runs, const Run &run, const guint64 *disc)
{
  guint32 n = run.last - run.first + 1;

  atomicAdd (&runs.area[run.root], n);
  atomicAdd (&runs.sx[run.root], n * run.first + n * (n - 1) / 2);
  atomicAdd (&runs.sy[run.root], n * run.y);
  if (disc)
    atomicAdd (&runs.overlap[run.root],
        __popcll (pbf_bits_between (run.first, run.last) & disc[run.y]));
}

/* First run of the component with the largest overlap with the disc,
 * otherwise of the largest component; the first of equals. */
__device__ gint32
choose_pool_of_few (const FewRuns &runs)
{
  guint lane = pbf_lane ();
  guint32 overlap = 0, area = 0;

  for (guint i = lane; i < runs.n; i += 32) {
    overlap = max (overlap, runs.overlap[i] << 12 | (0xfff - i));
    area = max (area, runs.area[i] << 12 | (0xfff - i));
  }
  overlap = pbf_warp_max (overlap);
  area = pbf_warp_max (area);
  if (overlap >> 12)
    return 0xfff - (overlap & 0xfff);
  return area >> 12 ? (gint32) (0xfff - (area & 0xfff)) : -1;
}

/* Adds a run to the melt pool's mask. */
__device__ __forceinline__ void
add_to_mask (FewRuns &runs, const Run &run)
{
  guint64 bits = (2ull << run.last) - (1ull << run.first);

  atomicOr (&runs.pool_bits[run.y][0], (guint32) bits);
  atomicOr (&runs.pool_bits[run.y][1], (guint32) (bits >> 32));
}

/* By threads 0..63: prepares @runs for a frame. */
__device__ __forceinline__ void
clear_runs (FewRuns &runs, guint thread)
{
  runs.area[thread] = runs.overlap[thread] = 0;
  runs.sx[thread] = runs.sy[thread] = 0;
  if (thread < SIDE)
    runs.pool_bits[thread][0] = runs.pool_bits[thread][1] = 0;
  if (thread == 0)
    runs.rows[0] = 0;
}

/* Adds the lane's runs to their components, but for those of component
 * @pool. */
__device__ void
add_runs_but_pool (FewRuns &runs, gint32 pool, const guint64 *disc)
{
  for (guint i = pbf_lane (); i < runs.n; i += 32) {
    Run run = { runs.first[i], runs.last[i], runs.y[i], runs.root[i] };

    if ((gint32) run.root != pool)
      add_run (runs, run, disc);
  }
  __syncwarp ();
}

/* Labels the @n runs of @mask; the runs of the lane's rows begin with
 * indices @low and @high. (@px, @py): pixel of the expected position; @disc:
 * rows of the disc around it. Afterwards the runs' roots and the melt pool's
 * mask are known. */
__device__ __forceinline__ void
label_few_runs (FewRuns &runs, const Rows &mask, guint32 low, guint32 high,
    guint32 n, gint px, gint py, gint connectivity, const guint64 *disc)
{
  guint lane = pbf_lane ();
  Run a = { 0, -1, 0, lane }, b = { 0, -1, 0, 32 + lane };
  guint64 others_a = 0, others_b = 0;

  for (guint y = lane; y < SIDE; y += 32) {
    guint64 row = y < 32 ? mask.low : mask.high;
    guint32 i = y < 32 ? low : high;

    runs.rows[y + 1] = row;
    runs.begin[y + 1] = i;
    for (guint64 starts = starts_of (row); starts; starts &= starts - 1) {
      runs.first[i] = __ffsll ((long long) starts) - 1;
      runs.y[i++] = y;
    }
  }
  __syncwarp ();
  if (lane < n)
    others_a = find_parent (runs, lane, connectivity, &a);
  if (n > 32 && 32 + lane < n)
    others_b = find_parent (runs, 32 + lane, connectivity, &b);
  find_roots (n, &a.root, &b.root);
  if (__any_sync (PBF_ALL_LANES, (others_a | others_b) != 0)) {
    runs.parents[lane] = a.root;
    runs.parents[32 + lane] = b.root;
    __syncwarp ();
    join_run (runs, lane, others_a);
    join_run (runs, 32 + lane, others_b);
    __syncwarp ();
    a.root = pbf_find (runs.parents, lane);
    b.root = pbf_find (runs.parents, 32 + lane);
  }
  runs.last[lane] = a.last;
  runs.root[lane] = a.root;
  runs.last[32 + lane] = b.last;
  runs.root[32 + lane] = b.root;
  guint64 row = runs.rows[py + 1];
  bool known = (row >> px) & 1;
  gint32 pool;
  if (lane == 0) {
    runs.n = n;
    runs.summed = !known;
  }
  __syncwarp ();
  if (known) {
    pool = runs.root[runs.begin[py + 1]
                     + __popcll (starts_of (row) & ((2ull << px) - 1)) - 1];
  } else {
    add_runs_but_pool (runs, -1, disc);
    pool = choose_pool_of_few (runs);
  }
  if (lane == 0)
    runs.pool = pool;
  if (lane < n && (gint32) a.root == pool)
    add_to_mask (runs, a);
  if (32 + lane < n && (gint32) b.root == pool)
    add_to_mask (runs, b);
}

/* --- measures ------------------------------------------------------------------ */

/* By one warp: sums over the melt pool, and its box. Returns: the sums */
__device__ __forceinline__ PbfMoments
measure_few_runs (FewRuns &runs)
{
  PbfMoments m = { 0, 0, 0, 0, 0, 0 };
  guint32 box[4] = { 0, 0, 0, 0 };

#pragma unroll
  for (guint i = pbf_lane (); i < FEW_RUNS; i += 32) {
    gint first = runs.first[i], y = runs.y[i];
    gint n = runs.last[i] - first + 1, triangle = n * (n - 1) / 2;
    gint sx = n * first + triangle;

    if (i >= runs.n || runs.root[i] != runs.pool)
      continue;
    m.n += n;
    m.sx += sx;
    m.sy += n * y;
    m.sxx +=
        n * first * first + 2 * first * triangle + triangle * (2 * n - 1) / 3;
    m.syy += n * y * y;
    m.sxy += sx * y;
    box[0] = max (box[0], SIDE - first);
    box[1] = max (box[1], first + n);
    box[2] = max (box[2], SIDE - y);
    box[3] = max (box[3], y + 1);
  }
  m.n = pbf_warp_sum (m.n);
  m.sx = pbf_warp_sum (m.sx);
  m.sy = pbf_warp_sum (m.sy);
  m.sxx = pbf_warp_sum (m.sxx);
  m.syy = pbf_warp_sum (m.syy);
  m.sxy = pbf_warp_sum (m.sxy);
#pragma unroll
  for (gint k = 0; k < 4; k++)
    box[k] = pbf_warp_max (box[k]);
  if (pbf_lane () == 0) {
    runs.moments = m;
    runs.left = SIDE - box[0];
    runs.right = box[1];
    runs.top = SIDE - box[2];
    runs.bottom = box[3];
  }
  return m;
}

/* Position of the melt pool, by one lane. */
__device__ void
place_pool (const FewRuns &runs, CvisPbfResult *result)
{
  const PbfMoments *m = &runs.moments;

  result->orientation_deg = pbf_orientation_deg (m);
  /* sums of an ROI fit 32 bits; the formula of pbf_centroid_q8() */
  result->centroid_x_q8 = pbf_mean_q8 (m->sx, m->n) + 128 + 256 * result->roi_x;
  result->centroid_y_q8 = pbf_mean_q8 (m->sy, m->n) + 128 + 256 * result->roi_y;
  result->bbox_x = (guint16) (result->roi_x + runs.left);
  result->bbox_y = (guint16) (result->roi_y + runs.top);
  result->bbox_width = (guint16) (runs.right - runs.left);
  result->bbox_height = (guint16) (runs.bottom - runs.top);
  if (pbf_box_at_edge (result, SIDE))
    atomicOr (&result->flags, (guint32) CVIS_PBF_RESULT_POOL_AT_EDGE);
}

/* By one warp: pixels of the melt pool in word @i of the ROI; @active: whether
 * the lane has such a word. Returns: their sum over the warp (low 16 bits), their
 * number (8 bits), and how many are saturated (8 bits). *top: the brightest */
__device__ __forceinline__ guint32
sum_pool_pixels (
    const FewRuns &runs, const guint32 *roi, guint i, bool active, guint32 *top)
{
  guint y = i / WORDS, c = i % WORDS;
  guint32 bits = active ? runs.pool_bits[y][c / 8] >> (c % 8 * 4) & 15 : 0;
  guint32 word = active ? roi[y * PITCH + c] & spread (bits) : 0;
  guint32 full = __popc (__vcmpeq4 (word, 0xffffffffu)) / 8;

  *top = pbf_warp_max (max (
      max (word & 255, word >> 8 & 255), max (word >> 16 & 255, word >> 24)));
  return pbf_warp_sum (
      __dp4a (word, 0x01010101u, (guint32) __popc (bits) << 16 | full << 24));
}

/* All components except the melt pool. @keys: of each of the lane's two
 * runs, the larger the earlier in the list, 0: none; @area, @count: their
 * sum and number. */
__device__ __forceinline__ void
count_few_spatters (const PbfParams &p, const FewRuns &runs, guint32 keys[2],
    guint32 *area, guint32 *count)
{
  *area = *count = 0;
#pragma unroll
  for (guint k = 0; k < 2; k++) {
    guint32 i = 32 * k + pbf_lane (), a = i < runs.n ? runs.area[i] : 0;
    bool spatter = a > 0 && a >= p.min_area && (gint32) i != runs.pool;

    keys[k] = spatter ? a << 12 | (0xfff - i) : 0;
    *area += spatter ? a : 0;
    *count += spatter;
  }
  *area = pbf_warp_sum (*area);
  *count = pbf_warp_sum (*count);
}

/* Selects the largest keys one by one; lane k describes the k-th spatter. */
__device__ void
list_few_spatters (
    const FewRuns &runs, guint32 keys[2], guint32 count, CvisPbfResult *result)
{
  guint lane = pbf_lane ();
  guint32 listed = min (count, (guint32) CVIS_PBF_MAX_SPATTERS), mine = 0;

#pragma unroll 1
  for (guint32 k = 0; k < listed; k++) {
    guint32 best = pbf_warp_max (max (keys[0], keys[1]));

    keys[0] = keys[0] == best ? 0 : keys[0];
    keys[1] = keys[1] == best ? 0 : keys[1];
    mine = lane == k ? 0xfff - (best & 0xfff) : mine;
  }
  if (lane < listed)
    pbf_place_spatter (&result->spatters[lane], runs.area[mine],
        pbf_mean_q8 (runs.sx[mine], runs.area[mine]) + 128
            + 256 * result->roi_x,
        pbf_mean_q8 (runs.sy[mine], runs.area[mine]) + 128
            + 256 * result->roi_y,
        result->e_x_q8, result->e_y_q8);
  if (lane == 0) {
    result->n_spatters = listed;
    if (count > CVIS_PBF_MAX_SPATTERS)
      atomicOr (&result->flags, (guint32) CVIS_PBF_RESULT_SPATTERS_CUT);
  }
}

} // namespace
