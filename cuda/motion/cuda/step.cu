/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The step search: all iterations of all blocks in one launch. */
#include "cuda/motion/cuda/tile.cuh"

namespace {

/* Sums of the units of blocks of 64, for each lane. */
template <int SIZE, int SIDE> struct StepUnitSums {
  guint32 sums[SIZE == 64 ? MOTION_TILE_WARPS : 1][SIZE == 64 ? SIDE : 1][32];
};

/* Adds the four units of a block of 64, lane by lane. All threads of the
 * block's warps call it. */
template <int SIZE, int SIDE, int N>
__device__ __forceinline__ void
step_add_units (StepUnitSums<SIZE, SIDE> *units, guint32 (&sums)[N])
{
  constexpr gint32 COUNT = SIZE == 64 ? N : 0;
  const gint32 unit = (gint32) threadIdx.x / 32, first = unit & 2;
  const guint32 lane = motion_lane ();

#pragma unroll
  for (gint32 i = 0; i < COUNT; i++)
    units->sums[unit][i][lane] = sums[i];
  if (SIZE == 64)
    motion_barrier (1 + first / 2, 4 * 32);
#pragma unroll
  for (gint32 i = 0; i < COUNT; i++)
    sums[i] = units->sums[first][i][lane] + units->sums[first + 1][i][lane]
              + units->sums[first + 4][i][lane]
              + units->sums[first + 5][i][lane];
  if (SIZE == 64)
    motion_barrier (1 + first / 2, 4 * 32);
}

/* The search iterations of a block: a grid of SIDE x SIDE points around the
 * best, then a finer grid around the new best, until the spacing is 1.
 *
 * Input: a tile's window and samples (tile.cuh). Output:
 * task.fields[].found.
 *
 * Grids of 7x7 points and more with the spacings for a range of 64 go by
 * columns: lane l has the points of column l % LANES and every (32 /
 * LANES)-th slice of the unit, and the lanes of a column add their sums.
 * Other grids go by points, eight at once: lane l has point l / 4. */
template <int SIZE, int SIDE, bool STAGED>
__global__ void
__launch_bounds__ (MOTION_TILE_THREADS, 2)
    step_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  typedef MotionSearchTile<SIZE, STAGED> Tile;
  constexpr gint32 UNIT = Tile::UNIT, HALF = SIDE / 2;
  constexpr gint32 LANES = SIDE <= 8 ? 8 : 16;
  constexpr gint32 N_POINTS = SIDE * SIDE - 1; /* without the centre */
  __shared__ typename Tile::Samples samples;
  __shared__ StepUnitSums<SIZE, SIDE> unit_sums;
  const Tile tile (&task);
  const gint32 unit = (gint32) threadIdx.x / 32;
  const gint32 lane = (gint32) motion_lane (), row = lane % UNIT;
  const gint32 dx = min (lane % LANES, SIDE - 1); /* of the lane's column */
  const gint32 width = tile.unit_width (unit);
  const gint32 height = tile.unit_height (unit);
  const guint32 *window = tile.unit_window (unit);
  guint32 words[UNIT / 4], zero_sad[1];
  MotionBlockSearch search;

  tile.load_samples (&samples);
  tile.stage_window ();
  motion_copy_wait ();
  __syncthreads ();
  if (!tile.has_block (unit))
    return;
  search.begin (&task, tile.field, tile.block_place (unit));
#pragma unroll
  for (gint32 k = 0; k < UNIT / 4; k++)
    words[k] = samples.words[unit][row * Tile::PITCH + k];

  /* first visit: the zero vector */
  {
    const gint32 at[1] = { 0 };

    zero_sad[0] = motion_point_sads<UNIT, 1> (
        words, width, row < height, window + row * tile.pitch, at);
    step_add_units<SIZE, SIDE> (&unit_sums, zero_sad);
    search.best_cost = search.cost_of (zero_sad[0], 0, 0);
    search.best = make_short2 (0, 0);
  }

#pragma unroll 1
  for (gint32 spacing =
           motion_step_first (task.config.granularity, task.config.range);
       spacing > 0;
       spacing = motion_step_next (task.config.granularity, spacing)) {
    const short2 centre = search.best;
    const gint32 reach = HALF * spacing;
    const gint32 left = centre.x - reach, top = centre.y - reach;
    /* the whole grid is inside the window */
    const bool fits = max (abs (centre.x), abs (centre.y)) + reach
                      <= (gint32) task.config.range;
    MotionPointPair pair;
    gint32 first, next;

    pair.clear ();
    if (SIDE > 3 && fits
        && (spacing == 1 || (SIDE == 7 && (spacing == 4 || spacing == 16))
            || (SIDE > 7 && spacing == 8))) {
      const gint32 x = left + dx * spacing;
      const guint32 *from = window + top * tile.pitch + (x >> 2);
      const guint32 *own = samples.words[unit];
      guint32 sums[SIDE] = {};

      /* centres are multiples of the previous spacing, hence of four except
       * in the last iteration */
      if (spacing == 1)
        motion_column_sads<UNIT, 1, SIDE, false> (own, width, height, from,
            tile.pitch, 8 * (guint32) x, lane / LANES, 32 / LANES, SIDE, sums);
      else if (SIDE > 7)
        motion_column_sads<UNIT, 8, SIDE, true> (own, width, height, from,
            tile.pitch, 0, lane / LANES, 32 / LANES, SIDE, sums);
      else if (spacing == 4)
        motion_column_sads<UNIT, 4, SIDE, true> (own, width, height, from,
            tile.pitch, 0, lane / LANES, 32 / LANES, SIDE, sums);
      else
        motion_column_sads<UNIT, 16, SIDE, true> (own, width, height, from,
            tile.pitch, 0, lane / LANES, 32 / LANES, SIDE, sums);
      __syncwarp ();
#pragma unroll
      for (gint32 distance = 16; distance >= LANES; distance /= 2)
#pragma unroll
        for (gint32 y = 0; y < SIDE; y++)
          sums[y] += __shfl_xor_sync (MOTION_ALL_LANES, sums[y], distance);
      step_add_units<SIZE, SIDE> (&unit_sums, sums);
#pragma unroll
      for (gint32 y = 0; y < SIDE; y++)
        if (lane < SIDE)
          pair.add (motion_point_key (
              search.cost_of (sums[y], x, top + y * spacing), y * SIDE + dx));
    } else {
#pragma unroll 1
      for (gint32 batch = 0; batch < N_POINTS; batch += 8) {
        const gint32 point = batch + lane / 4;
        const gint32 number = point + (point >= N_POINTS / 2);
        const short2 d = motion_moved (centre, (number % SIDE - HALF) * spacing,
            (number / SIDE - HALF) * spacing);
        const bool valid =
            point < N_POINTS && motion_contains (&search.place.rect, d.x, d.y);
        const gint32 own_at = valid ? tile.window_offset (d) : 0;
        gint32 at[UNIT / 4];
        guint32 sad[1];

#pragma unroll
        for (gint32 i = 0; i < UNIT / 4; i++)
          at[i] = __shfl_sync (
              MOTION_ALL_LANES, own_at, lane / UNIT * UNIT + 4 * i);
        sad[0] = motion_point_sads<UNIT, UNIT / 4> (
            words, width, row < height, window + row * tile.pitch, at);
        step_add_units<SIZE, SIDE> (&unit_sums, sad);
        if (valid && lane % 4 == 0)
          pair.add (
              motion_point_key (search.cost_of (sad[0], d.x, d.y), number));
      }
    }
    pair = motion_warp_point_pair (pair);
    first = motion_point_number (pair.best);
    next = motion_point_number (pair.second);
    search.visit_pair (pair,
        make_short2 ((gint16) (left + first % SIDE * spacing),
            (gint16) (top + first / SIDE * spacing)),
        make_short2 ((gint16) (left + next % SIDE * spacing),
            (gint16) (top + next / SIDE * spacing)));
  }
  if (lane == 0 && unit == Tile::first_unit (unit))
    search.store_found (tile.field->found);
}

template <int SIZE, int SIDE>
cudaError_t
step_launch_grid (const MotionDeviceTask *task, cudaStream_t stream)
{
  typedef MotionSearchTile<SIZE, true> Tile;

  return motion_launch_tiles (step_kernel<SIZE, SIDE, true>,
      step_kernel<SIZE, SIDE, false>, Tile::UNIT,
      sizeof (typename Tile::Samples) + sizeof (StepUnitSums<SIZE, SIDE>), task,
      NULL, stream);
}

template <int SIZE>
cudaError_t
step_launch_size (const MotionDeviceTask *task, cudaStream_t stream)
{
  switch (task->config.granularity) {
    case MOTION_GRANULARITY_1:
      return step_launch_grid<SIZE, 3> (task, stream);
    case MOTION_GRANULARITY_2:
      return step_launch_grid<SIZE, 7> (task, stream);
    case MOTION_GRANULARITY_PAPER_13:
      return step_launch_grid<SIZE, 13> (task, stream);
    default:
      return step_launch_grid<SIZE, 15> (task, stream);
  }
}

} // namespace

cudaError_t
motion_launch_step (const MotionDeviceTask *task, cudaStream_t stream)
{
  switch (task->config.block_size) {
    case 8:
      return step_launch_size<8> (task, stream);
    case 16:
      return step_launch_size<16> (task, stream);
    case 32:
      return step_launch_size<32> (task, stream);
    default:
      return step_launch_size<64> (task, stream);
  }
}
