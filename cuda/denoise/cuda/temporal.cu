/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The passes over time: blocks in other frames, a warp for each; the mean along the
 * motion, a warp for each cell. */
#include "cuda/denoise/cuda/passes.cuh"

namespace {

#define WARPS 4
#define THREADS (32 * WARPS)

/* --- blocks in other frames ------------------------------------------------------ */

/* Samples of a plane at a vector, for the sample (x, y) */
struct Position {
  const guint16 *first, *second;

  __device__ __forceinline__
  Position (
      const DenoiseDevicePlane *plane, gint32 x, gint32 y, gint32 vx, gint32 vy)
  {
    const DenoisePhase p = denoise_phase (vx, vy);
    const guint16 *at =
        plane->samples + (y + (vy >> 2)) * plane->stride + x + (vx >> 2);

    first = at + p.first * plane->apart + p.first_y * plane->stride + p.first_x;
    second =
        at + p.second * plane->apart + p.second_y * plane->stride + p.second_x;
  }

  __device__ __forceinline__ gint32
  get (gint32 at) const
  {
    return (first[at] + second[at] + 1) >> 1;
  }
};

/* The search of a block by a warp: lane l has sample l % 16 of rows l / 16, + 2, + 4, ... */
struct Block {
  const DenoiseDeviceSearch *search;
  gint32 x, y;                       /* first sample */
  gint32 own_x, own_y;               /* the lane's first sample, from there */
  gint32 samples[DENOISE_BLOCK / 2]; /* of the lane */
  gint32 best_x, best_y;             /* so far */
  gint64 cost;
  guint32 ssd;

  __device__ __forceinline__
  Block (const DenoiseDeviceSearch *s, gint32 column, gint32 row)
      : search (s), x ((column - 1) * DENOISE_CELL),
        y ((row - 1) * DENOISE_CELL), own_x ((gint32) motion_lane () & 15),
        own_y ((gint32) motion_lane () / 16), best_x (0), best_y (0),
        cost (G_MAXINT64 / 2), ssd (0)
  {
    const gint32 stride = s->current[0].stride;
    const guint16 *p = s->current[0].samples + (y + own_y) * stride + x + own_x;

#pragma unroll
    for (gint32 i = 0; i < DENOISE_BLOCK / 2; i++)
      samples[i] = p[2 * i * stride];
  }

  /* Of the lane's samples in the block's upper and lower half */
  __device__ __forceinline__ void
  sum_squares (gint32 vx, gint32 vy, guint32 sums[2]) const
  {
    const Position p (&search->reference[0], x + own_x, y + own_y, vx, vy);
    const gint32 step = 2 * search->reference[0].stride;
    const bool twice = p.first != p.second;

    sums[0] = sums[1] = 0;
#pragma unroll
    for (gint32 i = 0; i < DENOISE_BLOCK / 2; i++) {
      const gint32 first = p.first[i * step];
      const gint32 mean = twice ? (first + p.second[i * step] + 1) >> 1 : first;
      const gint32 d = samples[i] - mean;

      sums[i / 4] += (guint32) (d * d);
    }
  }

  __device__ __forceinline__ void
  try_vector (gint32 vx, gint32 vy, gint64 chance)
  {
    const DenoiseDeviceSearch *s = search;
    guint32 sums[2], sum;
    gint64 c;

    vx = denoise_limit (vx, x, s->shapes[0].width);
    vy = denoise_limit (vy, y, s->shapes[0].height);
    sum_squares (vx, vy, sums);
    sum = motion_warp_sum (sums[0] + sums[1]);
    c = (gint64) sum
        + (gint64) s->noise * s->noise * (64 - denoise_gain (vx, vy)) / 4;
    if (c + chance >= cost)
      return;
    cost = c;
    ssd = sum;
    best_x = vx;
    best_y = vy;
  }

  __device__ __forceinline__ gint32
  find_field_block (gint32 at_x, gint32 at_y) const
  {
    return denoise_clamp (at_y >> 4, 0, search->rows - 1) * search->columns
           + denoise_clamp (at_x >> 4, 0, search->columns - 1);
  }

  __device__ __forceinline__ CvisMotionVector
  get_vector (gint32 at_x, gint32 at_y) const
  {
    return search->vectors[find_field_block (at_x, at_y)];
  }

  /* As on the CPU: lanes that differ in their last two bits have the four blocks. */
  __device__ __forceinline__ gint32
  find_confidence (gint32 index) const
  {
    const gint32 i = (gint32) motion_lane ();
    const DenoiseMatch *from =
        search->from != NULL ? &search->from[index] : NULL;
    const gint32 mx = from != NULL ? from->x : 0;
    const gint32 my = from != NULL ? from->y : 0;
    const gint32 at =
        find_field_block (x + DENOISE_CELL + (mx >> 2) + (i & 1 ? 4 : -4),
            y + DENOISE_CELL + (my >> 2) + (i & 2 ? 4 : -4));
    const CvisMotionVector v = search->vectors[at];
    gint32 best = denoise_support (
        search->blocks[at].flags, mx + 2 * v.x - best_x, my + 2 * v.y - best_y);

    for (gint32 by = 1; by < 4; by *= 2)
      best = max (best, __shfl_xor_sync (MOTION_ALL_LANES, best, by));
    return from != NULL ? min (best, from->confidence) : best;
  }

  __device__ __forceinline__ void
  try_candidates (gint32 index, gint64 chance)
  {
    const gint32 cx = x + DENOISE_CELL, cy = y + DENOISE_CELL;

    if (search->from != NULL) {
      const gint32 mx = search->from[index].x, my = search->from[index].y;
      const CvisMotionVector v = get_vector (cx + (mx >> 2), cy + (my >> 2));

      try_vector (mx + 2 * v.x, my + 2 * v.y, 0);
      try_vector (2 * mx, 2 * my, chance);
    } else {
      for (gint32 i = 0; i < 4; i++) {
        const CvisMotionVector v =
            get_vector (cx + (i & 1 ? 4 : -4), cy + (i & 2 ? 4 : -4));

        if (i == 0 || 2 * v.x != best_x || 2 * v.y != best_y)
          try_vector (2 * v.x, 2 * v.y, i == 0 ? 0 : chance);
      }
    }
    if (best_x != 0 || best_y != 0)
      try_vector (0, 0, chance);
  }

  __device__ __forceinline__ guint32
  sum_chroma (gint32 c) const
  {
    const DenoiseShape *shape = &search->shapes[c];
    const DenoiseDevicePlane *plane = &search->current[c];
    const gint32 px = x >> shape->sub_x, py = y >> shape->sub_y;
    const gint32 w = DENOISE_BLOCK >> shape->sub_x;
    const gint32 n = w * (DENOISE_BLOCK >> shape->sub_y);
    const Position p (&search->reference[c], px, py,
        denoise_subsample (best_x, shape->sub_x),
        denoise_subsample (best_y, shape->sub_y));
    gint32 sum = 0;

    for (gint32 i = (gint32) motion_lane (); i < n; i += 32) {
      const gint32 row = i / w, column = i % w;
      const gint32 d = plane->samples[(py + row) * plane->stride + px + column]
                       - p.get (row * search->reference[c].stride + column);

      sum += d * d;
    }
    return motion_warp_sum ((guint32) sum);
  }

  __device__ __forceinline__ void
  store (gint32 index) const
  {
    guint32 own[2], chroma[2] = { 0, 0 };
    DenoiseMatch *m = &search->into[index];
    const gint32 confidence = find_confidence (index);

    /* over the lanes of a cell, which have the same bit 3 */
    sum_squares (best_x, best_y, own);
    for (gint32 by = 1; by < 32; by = by == 4 ? 16 : 2 * by)
      for (gint32 i = 0; i < 2; i++)
        own[i] += __shfl_xor_sync (MOTION_ALL_LANES, own[i], by);
    for (gint32 c = 1; c < search->n_components; c++)
      chroma[c - 1] = sum_chroma (c);
    if ((motion_lane () & ~8) == 0) {
      m->cells[motion_lane () / 8] = own[0];
      m->cells[2 + motion_lane () / 8] = own[1];
    }
    if (motion_lane () == 0) {
      m->x = (gint16) best_x;
      m->y = (gint16) best_y;
      m->chroma[0] = chroma[0];
      m->chroma[1] = chroma[1];
      m->confidence = confidence;
    }
  }
};

__global__ void
__launch_bounds__ (THREADS)
    search_kernel (MOTION_PARAMETER (DenoiseDeviceSearch, p))
{
  const gint32 index = (gint32) (blockIdx.x * THREADS + threadIdx.x) / 32;
  const gint64 chance = (gint64) p.noise * p.noise * 3 / 2 + 256;
  const guint32 enough = (guint32) (p.noise * p.noise) * 28;

  if (index >= p.blocks_across * p.blocks_down)
    return;
  Block b (&p, index % p.blocks_across, index / p.blocks_across);

  b.try_candidates (index, chance);
  for (gint32 step = 2; step > 0 && b.ssd > enough; step--) {
    const gint32 x = b.best_x, y = b.best_y;

    for (gint32 i = 0; i < 9; i++)
      if (i != 4)
        b.try_vector (x + (i % 3 - 1) * step, y + (i / 3 - 1) * step, chance);
  }
  b.store (index);
}

/* --- what the matches tell ----------------------------------------------------------- */

/* A thread for each square of component 0 */
__global__ void
__launch_bounds__ (THREADS) measure_kernel (
    MOTION_PARAMETER (DenoiseDeviceSearch, p), const guint8 *counted,
    const guint16 *left, guint32 direction, DenoiseCounts *counts)
{
  const gint32 across = p.shapes[0].width / DENOISE_SQUARE;
  const gint32 i = (gint32) (blockIdx.x * THREADS + threadIdx.x);
  const gint32 half = DENOISE_SQUARE / 2;
  gint32 var = 256;
  guint32 ssd;

  if (i >= across * (p.shapes[0].height / DENOISE_SQUARE) || !counted[i])
    return;
  const DenoiseMatch m =
      p.into[(2 * (i / across) + 1) * p.blocks_across + 2 * (i % across) + 1];
  ssd = m.cells[0] + m.cells[1] + m.cells[2] + m.cells[3];
  if (left != NULL)
    var = left[denoise_cell_at (
                   i / across * DENOISE_SQUARE + half, m.y, p.blocks_down - 1)
                   * (p.blocks_across - 1)
               + denoise_cell_at (i % across * DENOISE_SQUARE + half, m.x,
                   p.blocks_across - 1)];
  atomicAdd (&counts->n[direction], 1u);
  if (ssd / 16 > denoise_no_match (p.noise, var))
    atomicAdd (&counts->bad[direction], 1u);
  if (ssd > 0)
    atomicAdd (&counts->match[0][denoise_noise_of_match (
                   ssd, 256, denoise_gain (m.x & 3, m.y & 3))],
        1u);
  for (gint32 c = 1; c < p.n_components; c++) {
    const DenoiseShape s = p.shapes[c];
    const gint32 gain = denoise_gain (denoise_subsample (m.x, s.sub_x) & 3,
        denoise_subsample (m.y, s.sub_y) & 3);

    if (m.chroma[c - 1] > 0)
      atomicAdd (&counts->match[c][denoise_noise_of_match (
                     m.chroma[c - 1], 256 >> (s.sub_x + s.sub_y), gain)],
          1u);
  }
}

/* --- the mean along the motion ---------------------------------------------------------- */

/* Weight of reference @k in the block of cell @cell that lies at @m, 1/256. */
__device__ __forceinline__ gint32
weigh_reference (const DenoiseDeviceMean *p, bool steady, const DenoiseMatch &m,
    gint32 cell, gint32 var)
{
  const gint32 gain = denoise_gain (m.x & 3, m.y & 3) * var >> 8;
  const guint32 expected =
      denoise_expect (steady ? p->steady_noise[0] : p->noise[0], gain);
  const guint32 sum = m.cells[0] + m.cells[1] + m.cells[2] + m.cells[3];
  const guint32 block = denoise_ratio (sum, 8, expected, 0);
  const guint32 own = denoise_ratio (cell == 0   ? m.cells[0]
                                     : cell == 1 ? m.cells[1]
                                     : cell == 2 ? m.cells[2]
                                                 : m.cells[3],
      6, expected, DENOISE_SLACK);
  const gint32 w = denoise_weight_of_ratio (
      denoise_ratio_of_match (max (block, own), m.confidence));

  /* the same noise too, as in a repeated frame: nothing to gain */
  if (p->component == 0)
    return sum == 0 ? 0 : w;
  const guint32 chroma = p->component == 1 ? m.chroma[0] : m.chroma[1];
  const DenoiseShape s = p->shape;

  if (chroma == 0)
    return 0;
  const gint32 chroma_gain = denoise_gain (denoise_subsample (m.x, s.sub_x) & 3,
                                 denoise_subsample (m.y, s.sub_y) & 3)
                                 * var
                             >> 8;
  const guint32 ratio = denoise_ratio (chroma, 8 - s.sub_x - s.sub_y,
      denoise_expect (p->component == 1
                          ? (steady ? p->steady_noise[1] : p->noise[1])
                          : (steady ? p->steady_noise[2] : p->noise[2]),
          chroma_gain),
      DENOISE_SLACK);

  return w * denoise_weight_of_ratio (ratio) >> 8;
}

/* Variance of the noise of a reference round cell (@x, @y) at @m, 1/256. */
__device__ __forceinline__ gint32
get_left (const DenoiseDeviceMean *p, const guint16 *left, gint32 x, gint32 y,
    const DenoiseMatch &m)
{
  const gint32 column = denoise_cell_at (x * 8 + 4, m.x, p->cells_across);
  const gint32 row = denoise_cell_at (y * 8 + 4, m.y, p->cells_down);

  return left != NULL ? left[row * p->cells_across + column] : 256;
}

/* The blocks that cover a cell in each reference: share of the mean, vector */
struct Coverings {
  gint32 part[4][DENOISE_MAX_REFERENCES];
  gint16 x[4][DENOISE_MAX_REFERENCES], y[4][DENOISE_MAX_REFERENCES];
};

/* Bit k: whether the motion of reference k is smooth round a cell. All lanes call it. */
__device__ __forceinline__ guint32
find_steady (const DenoiseDeviceMean *p, gint32 column, gint32 row, gint32 lane)
{
  const gint32 own = row * (p->cells_across + 1) + column;
  const gint32 other = denoise_round_cell (row, lane >> 2 & 3, p->cells_down)
                           * (p->cells_across + 1)
                       + denoise_round_cell (column, lane & 3, p->cells_across);
  guint32 steady = 0;

  for (gint32 k = 0; k < p->n_references; k++) {
    const DenoiseMatch *matches = p->references[k].matches;

    if (!__any_sync (
            0xffffffffu, !denoise_is_steady (&matches[own], &matches[other])))
      steady |= 1u << k;
  }
  return steady;
}

/* Lane i < 4 weighs the references in block i. Returns: the variance that is left */
__device__ __forceinline__ gint32
weigh_block (const DenoiseDeviceMean *p, guint32 steady, gint32 column,
    gint32 row, gint32 i, Coverings *c)
{
  const gint32 index =
      (row + (i >> 1)) * (p->cells_across + 1) + column + (i & 1);
  gint32 sum = 256, own = DENOISE_PARTS, variance = 0;

  for (gint32 k = 0; k < p->n_references; k++) {
    const DenoiseMatch m = p->references[k].matches[index];
    const gint32 var = get_left (p, p->references[k].left, column, row, m);

    c->part[i][k] = weigh_reference (p, steady >> k & 1, m, 3 - i, var) * 256
                    / (var > 16 ? var : 16);
    sum += c->part[i][k];
    c->x[i][k] = m.x;
    c->y[i][k] = m.y;
  }
  for (gint32 k = 0; k < p->n_references; k++) {
    const DenoiseMatch m = p->references[k].matches[index];
    const gint32 var = get_left (p, p->references[k].left, column, row, m);
    const gint32 part = denoise_part (c->part[i][k], sum);

    c->part[i][k] = part;
    own -= part;
    variance += part * part * var >> 8;
  }
  return (variance + own * own) >> 8;
}

__global__ void
__launch_bounds__ (THREADS)
    mean_kernel (MOTION_PARAMETER (DenoiseDeviceMean, p))
{
  __shared__ Coverings coverings[WARPS];
  Coverings *c = &coverings[threadIdx.x / 32];
  const gint32 cell = (gint32) (blockIdx.x * THREADS + threadIdx.x) / 32;
  const gint32 lane = (gint32) motion_lane ();
  const bool exists = cell < p.cells_across * p.cells_down;
  const gint32 column = cell % p.cells_across, row = cell / p.cells_across;
  const gint32 w = 1 << p.shape.cell_x, n = w << p.shape.cell_y;
  const guint32 steady =
      exists && denoise_knows_steady (p.noise, p.steady_noise)
          ? find_steady (&p, column, row, lane)
          : 0;
  gint32 left = 0;

  if (exists && lane < 4)
    left = weigh_block (&p, steady, column, row, lane, c);
  left = (gint32) motion_warp_sum ((guint32) left);
  __syncthreads ();
  if (!exists)
    return;
  if (lane == 0)
    p.left[cell] = (guint16) ((left + 2) >> 2);
  for (gint32 s = lane; s < n; s += 32) {
    const gint32 in_x = s & (w - 1), in_y = s >> p.shape.cell_x;
    const gint32 x = column * w + in_x;
    const gint32 y = (row << p.shape.cell_y) + in_y;
    const gint32 current = p.current.samples[y * p.current.stride + x];
    const gint32 right = denoise_window (in_x, p.shape.sub_x);
    const gint32 below = denoise_window (in_y, p.shape.sub_y);
    gint32 sum = 0;

    for (gint32 i = 0; i < 4; i++) {
      gint32 total = DENOISE_PARTS * current;

      for (gint32 k = 0; k < p.n_references; k++) {
        const gint32 part = c->part[i][k];

        if (part == 0)
          continue;
        const Position at (&p.references[k].plane, x, y,
            denoise_subsample (c->x[i][k], p.shape.sub_x),
            denoise_subsample (c->y[i][k], p.shape.sub_y));
        const gint32 first = *at.first;

        total +=
            part
            * ((at.first != at.second ? (first + *at.second + 1) >> 1 : first)
                - current);
      }
      sum +=
          (i & 1 ? 16 - right : right) * (i & 2 ? 16 - below : below) * total;
    }
    p.into.samples[y * p.into.stride + x] = (guint16) ((sum + 32768) >> 16);
  }
}

} // namespace

cudaError_t
denoise_launch_search (const DenoiseDeviceSearch *search, cudaStream_t stream)
{
  const gint64 blocks = (gint64) search->blocks_across * search->blocks_down;

  MOTION_START (search_kernel, denoise_grid (32 * blocks, THREADS), THREADS,
      stream, *search);
  return cudaGetLastError ();
}

cudaError_t
denoise_launch_measure (const DenoiseDeviceSearch *search,
    const guint8 *counted, const guint16 *left, guint direction,
    DenoiseCounts *counts, cudaStream_t stream)
{
  const gint32 n = search->shapes[0].width / DENOISE_SQUARE
                   * (search->shapes[0].height / DENOISE_SQUARE);

  if (n > 0)
    MOTION_START (measure_kernel, denoise_grid (n, THREADS), THREADS, stream,
        *search, counted, left, direction, counts);
  return cudaGetLastError ();
}

cudaError_t
denoise_launch_mean (const DenoiseDeviceMean *mean, cudaStream_t stream)
{
  const gint64 cells = (gint64) mean->cells_across * mean->cells_down;

  MOTION_START (
      mean_kernel, denoise_grid (32 * cells, THREADS), THREADS, stream, *mean);
  return cudaGetLastError ();
}
