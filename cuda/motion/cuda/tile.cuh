/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by the kernels of the step search and the zonal search.
 *
 * A thread block of eight warps searches a tile of 4 x 2 units, one for each
 * warp. A unit is a block of 8, 16 or 32 samples each way or a quarter, 32 x
 * 32, of a block of 64. Shared memory holds:
 *
 *   window   The search plane around the tile, from `range` rows above and `lead`
 *            samples left of its first sample. The pitch is an odd number of
 *            words, so that lanes that read a column have no bank conflicts.
 *            Kernels built with STAGED = false read the plane itself; they serve
 *            devices with too little shared memory.
 *   samples  The units' own samples, UNIT rows of UNIT / 4 + 1 words each; zero
 *            to the right of a partial block.
 *
 * Points of a search iteration are computed in any order. Each has a key
 * made of its cost and its number in the order of visits. The two smallest
 * keys give the same result as visits in order. */
#pragma once

#include "cuda/motion/cuda/least.cuh"

#define MOTION_TILE_WARPS 8
#define MOTION_TILE_THREADS (32 * MOTION_TILE_WARPS)
#define MOTION_UNITS_ACROSS 4
#define MOTION_UNITS_DOWN 2

/* --- keys and visits -------------------------------------------------------- */

/* cost << MOTION_POINT_BITS | number of the point. A cost has 21 bits. */
typedef MotionLeast<guint32> MotionPointPair;
#define MOTION_POINT_BITS 11

static __device__ __forceinline__ guint32
motion_point_key (guint32 cost, gint32 number)
{
  return cost == MOTION_NONE ? MOTION_NONE
                             : cost << MOTION_POINT_BITS | (guint32) number;
}

static __device__ __forceinline__ gint32
motion_point_number (guint32 key)
{
  return (gint32) (key & ((1u << MOTION_POINT_BITS) - 1));
}

/* The two smallest keys of the warp, in all lanes. Keys of different lanes
 * differ, except MOTION_NONE. */
static __device__ __forceinline__ MotionPointPair
motion_warp_point_pair (const MotionPointPair &pair)
{
  MotionPointPair least;

  least.best = motion_warp_min (pair.best);
  least.second =
      motion_warp_min (pair.best == least.best ? pair.second : pair.best);
  return least;
}

/* The vector in lane @lane. */
static __device__ __forceinline__ short2
motion_shuffle_vector (short2 v, gint32 lane)
{
  gint32 d = __shfl_sync (MOTION_ALL_LANES,
      (gint32) ((guint32) (guint16) v.x | (guint32) (guint16) v.y << 16), lane);

  return make_short2 ((gint16) (d & 0xffff), (gint16) (d >> 16));
}

static __device__ __forceinline__ short2
motion_moved (short2 from, gint32 x, gint32 y)
{
  return make_short2 ((gint16) (from.x + x), (gint16) (from.y + y));
}

/* The search of a block: its position, its best and second best so far
 * (initially vectors that no candidate has). The four warps of a block of 64
 * keep identical copies. */
struct MotionBlockSearch {
  MotionPlace place;
  guint32 lambda;
  short2 prior;
  short2 best, second;
  guint32 best_cost, second_cost;

  __device__ __forceinline__ void
  begin (const MotionDeviceTask *task, const MotionDeviceField *field,
      const MotionPlace &at)
  {
    place = at;
    lambda = task->config.lambda;
    prior = motion_prior (task, field, place.number);
    best = second = make_short2 (G_MAXINT16, G_MAXINT16);
    best_cost = second_cost = MOTION_NONE;
  }

  /* Cost of a vector with known SAD; MOTION_NONE if it is no candidate or
   * already the best. */
  __device__ __forceinline__ guint32
  cost_of (guint32 sad, gint32 x, gint32 y) const
  {
    if ((x == best.x && y == best.y) || !motion_contains (&place.rect, x, y))
      return MOTION_NONE;
    return sad + motion_rate (lambda, x, y, prior);
  }

  /* Visits the candidates with the two smallest keys of an iteration; the
   * others change nothing. @first, @next: their vectors. Returns: whether
   * the first became the best */
  __device__ __forceinline__ bool
  visit_pair (const MotionPointPair &pair, short2 first, short2 next)
  {
    const guint32 one =
        pair.best == MOTION_NONE ? MOTION_NONE : pair.best >> MOTION_POINT_BITS;
    const guint32 two = pair.second == MOTION_NONE
                            ? MOTION_NONE
                            : pair.second >> MOTION_POINT_BITS;

    if (one < best_cost) {
      second = two < best_cost ? next : best;
      second_cost = min (two, best_cost);
      best = first;
      best_cost = one;
      return true;
    }
    if (one < second_cost) {
      second = first;
      second_cost = one;
    }
    return false;
  }

  __device__ __forceinline__ void
  store_found (MotionFound *found) const
  {
    found[place.number] = MotionFound{ best.x, best.y, second.x, second.y,
      best_cost, second_cost };
  }
};

/* --- a tile ----------------------------------------------------------------- */

/* The window in shared memory; one word after it is readable. */
struct MotionTileWindow {
  gint32 lead, words, rows, pitch; /* in samples, words, rows, words */

  static __host__ __device__ __forceinline__ MotionTileWindow
  make (guint32 range, gint32 unit)
  {
    MotionTileWindow window;

    window.lead = (gint32) (range + 3) / 4 * 4;
    window.words =
        (window.lead + MOTION_UNITS_ACROSS * unit + (gint32) range + 3) / 4;
    window.rows = MOTION_UNITS_DOWN * unit + 2 * (gint32) range;
    window.pitch = window.words | 1;
    return window;
  }

  __host__ __device__ __forceinline__ guint32
  bytes () const
  {
    return 4 * (guint32) (rows * pitch + 1);
  }
};

template <int SIZE, bool STAGED> struct MotionSearchTile {
  static constexpr gint32 UNIT = SIZE < 32 ? SIZE : 32;
  static constexpr gint32 WORDS = UNIT / 4;  /* in a row of a unit */
  static constexpr gint32 PITCH = WORDS + 1; /* of the samples */
  static constexpr gint32 UNITS_PER_BLOCK = SIZE == 64 ? 4 : 1;

  struct Samples {
    guint32 words[MOTION_TILE_WARPS][UNIT * PITCH];
  };

  const MotionDeviceTask *task;
  const MotionDeviceField *field;
  gint32 x, y;           /* position of the tile's first sample in the frame */
  const guint32 *origin; /* the same sample in the window of the reference */
  gint32 pitch;          /* of the window, words */

  __device__ __forceinline__
  MotionSearchTile (const MotionDeviceTask *all)
      : task (all), field (&all->fields[blockIdx.z]),
        x ((gint32) blockIdx.x * MOTION_UNITS_ACROSS * UNIT),
        y ((gint32) blockIdx.y * MOTION_UNITS_DOWN * UNIT)
  {
    extern __shared__ guint32 motion_window[];
    const MotionTileWindow window =
        MotionTileWindow::make (task->config.range, UNIT);

    origin = STAGED ? motion_window + (gint32) task->config.range * window.pitch
                          + window.lead / 4
                    : (const guint32 *) plane_at (&field->reference);
    pitch = STAGED ? window.pitch : (gint32) task->layout.pitch / 4;
  }

  /* Address of the tile's first sample in a picture. */
  __device__ __forceinline__ const guint8 *
  plane_at (const MotionDevicePicture *picture) const
  {
    return picture->search + (gsize) y * task->layout.pitch + x;
  }

  __device__ __forceinline__ gint32
  unit_x (gint32 unit) const
  {
    return x + unit % MOTION_UNITS_ACROSS * UNIT;
  }

  __device__ __forceinline__ gint32
  unit_y (gint32 unit) const
  {
    return y + unit / MOTION_UNITS_ACROSS * UNIT;
  }

  /* Width, or height, of the unit inside the frame; 0 or less: outside. */
  __device__ __forceinline__ gint32
  unit_width (gint32 unit) const
  {
    return min (UNIT, (gint32) task->config.width - unit_x (unit));
  }

  __device__ __forceinline__ gint32
  unit_height (gint32 unit) const
  {
    return min (UNIT, (gint32) task->config.height - unit_y (unit));
  }

  /* The unit's position in the window for the zero vector. */
  __device__ __forceinline__ const guint32 *
  unit_window (gint32 unit) const
  {
    return origin + unit / MOTION_UNITS_ACROSS * UNIT * pitch
           + unit % MOTION_UNITS_ACROSS * WORDS;
  }

  /* First unit of a unit's block. A block of 64 has that one, the next and
   * the two below. */
  static __device__ __forceinline__ gint32
  first_unit (gint32 unit)
  {
    return SIZE == 64 ? unit & 2 : unit;
  }

  /* Whether a unit's block belongs to the grid. */
  __device__ __forceinline__ bool
  has_block (gint32 unit) const
  {
    const gint32 first = first_unit (unit);

    return unit_width (first) > 0 && unit_height (first) > 0;
  }

  __device__ __forceinline__ MotionPlace
  block_place (gint32 unit) const
  {
    const gint32 first = first_unit (unit);

    return motion_place_at (task, unit_x (first) / SIZE, unit_y (first) / SIZE);
  }

  /* Offset in samples of vector (@x, @y) from the zero vector. */
  __device__ __forceinline__ gint32
  window_offset (short2 v) const
  {
    return 4 * v.y * pitch + v.x;
  }

  /* With STAGED, starts the asynchronous copy of the window, one row a warp
   * at a time; motion_copy_wait() and a barrier complete it. The plane
   * extends one block beyond the last block of the grid. */
  __device__ __forceinline__ void
  stage_window () const
  {
    extern __shared__ guint32 motion_window[];
    const gint32 range = (gint32) task->config.range;
    const MotionTileWindow window =
        MotionTileWindow::make (task->config.range, UNIT);
    const gint32 right = (gint32) task->columns * SIZE - x;
    const gint32 bottom = (gint32) (task->n_blocks / task->columns) * SIZE - y;
    const gint32 words =
        window.words - max (MOTION_UNITS_ACROSS * UNIT - right, 0) / 4;
    const gint32 rows =
        window.rows - max (MOTION_UNITS_DOWN * UNIT - bottom, 0);
    const guint32 bytes = task->layout.pitch;
    const guint8 *plane = plane_at (&field->reference)
                          - (gssize) range * (gssize) bytes - window.lead;
    const gint32 first = (gint32) threadIdx.x / 32;

    for (gint32 i = (gint32) motion_lane (); STAGED && i < words; i += 32) {
      const guint8 *from = plane + (gsize) first * bytes + 4 * i;
      guint32 *to = motion_window + first * window.pitch + i;

#pragma unroll 4
      for (gint32 row = first; row < rows; row += MOTION_TILE_WARPS) {
        motion_copy_word (to, (const guint32 *) from);
        from += MOTION_TILE_WARPS * bytes;
        to += MOTION_TILE_WARPS * window.pitch;
      }
    }
  }

  /* Copies the samples of the warp's unit. */
  __device__ __forceinline__ void
  load_samples (Samples *samples) const
  {
    const gint32 unit = (gint32) threadIdx.x / 32;
    const gint32 width = unit_width (unit);
    const guint32 bytes = task->layout.pitch;
    const guint8 *plane =
        task->current.search + (gsize) unit_y (unit) * bytes + unit_x (unit);

    if (!has_block (unit))
      return;
#pragma unroll
    for (gint32 i = (gint32) motion_lane (); i < UNIT * WORDS; i += 32) {
      const gint32 row = i / WORDS, column = i % WORDS;

      samples->words[unit][row * PITCH + column] =
          *(const guint32 *) (plane + (gsize) row * bytes + 4 * column)
          & motion_mask (width, 4 * column);
    }
  }
};

/* --- SADs of points ----------------------------------------------------------- */

/* Adds a lane's differences in one row of the unit at COUNT points. */
template <int UNIT, int COUNT, bool MASKED>
static __device__ __forceinline__ void
motion_row_differences (const guint32 (&words)[UNIT / 4], gint32 width,
    const guint32 *window, const gint32 (&at)[COUNT], guint32 (&sums)[COUNT])
{
#pragma unroll
  for (gint32 i = 0; i < COUNT; i++) {
    const guint32 *from =
        (const guint32 *) ((const guint8 *) window + (at[i] & ~3));
    const guint32 shift = 8 * (guint32) at[i]; /* modulo 32 */

#pragma unroll
    for (gint32 k = 0; k < UNIT / 4; k++) {
      guint32 word = __funnelshift_r (from[k], from[k + 1], shift);

      if (MASKED)
        word &= motion_mask (width, 4 * k);
      sums[i] = motion_sad4 (word, words[k], sums[i]);
    }
  }
}

/* SADs of a unit at COUNT points for each of the warp's 32 / UNIT groups of
 * lanes. Each lane computes one row of the unit, then the lanes exchange
 * sums.
 * @words: the lane's row of the samples
 * @width, @inside: samples of the row inside the frame; whether the row is
 *   inside
 * @window: the same row for the zero vector
 * @at: the points of the lane's group, in samples from @window
 * Returns: the SAD of point lane / (UNIT / COUNT) of the warp's points */
template <int UNIT, int COUNT>
static __device__ __forceinline__ guint32
motion_point_sads (const guint32 (&words)[UNIT / 4], gint32 width, bool inside,
    const guint32 *window, const gint32 (&at)[COUNT])
{
  guint32 sums[COUNT] = {};

  if (inside && width >= UNIT)
    motion_row_differences<UNIT, COUNT, false> (words, width, window, at, sums);
  else if (inside)
    motion_row_differences<UNIT, COUNT, true> (words, width, window, at, sums);
  __syncwarp ();
  /* Of 2 n sums a lane keeps the lower or the upper n, and adds those passed
   * on by the lane `distance` away; from one sum on it adds that lane's sum. */
#pragma unroll
  for (gint32 distance = UNIT / 2, n = COUNT / 2; distance > 0;
       distance /= 2, n /= 2) {
    const bool upper = (motion_lane () & (guint32) distance) != 0;

    if (n == 0)
      sums[0] += __shfl_xor_sync (MOTION_ALL_LANES, sums[0], distance);
#pragma unroll
    for (gint32 i = 0; i < n; i++) {
      const guint32 keep = upper ? sums[i + n] : sums[i];
      const guint32 give = upper ? sums[i] : sums[i + n];

      sums[i] = keep + __shfl_xor_sync (MOTION_ALL_LANES, give, distance);
    }
  }
  return sums[0];
}

/* Adds the differences of the lane's slices to the SADs of a column of N
 * points; see motion_column_sads(). WHOLE: the unit is complete */
template <int UNIT, int SPACING, int N, bool ALIGNED, bool WHOLE>
static __device__ __forceinline__ void
motion_column_differences (const guint32 *samples, gint32 width, gint32 height,
    const guint32 *window, gint32 pitch, guint32 shift, gint32 first,
    gint32 step, gint32 n, guint32 (&sums)[N])
{
  constexpr gint32 WORDS = UNIT / 4, PITCH = WORDS + 1;
  constexpr gint32 ROWS = (UNIT + SPACING - 1) / SPACING; /* of a slice */
  constexpr gint32 SLICES = WORDS * (SPACING < UNIT ? SPACING : UNIT);
  const gint32 end = (n - 1) * SPACING + height;

#pragma unroll 1
  for (gint32 slice = first; slice < SLICES; slice += step) {
    const gint32 column = slice % WORDS, row = slice / WORDS;
    const guint32 mask = WHOLE ? ~0u : motion_mask (width, 4 * column);
    const guint32 *own = samples + row * PITCH + column;
    const guint32 *from = window + row * pitch + column;
    guint32 words[N + ROWS - 1];

#pragma unroll
    for (gint32 m = 0; m < N + ROWS - 1; m++) {
      const gint32 k =
          m - (N - 1); /* the row that meets word m in point N - 1 */

      /* with WHOLE all slices have the first UNIT / SPACING rows */
      if (k >= (WHOLE ? UNIT / SPACING : 0) && row + k * SPACING >= height)
        break;
      words[m] = ALIGNED ? from[0] & mask
                         : __funnelshift_r (from[0], from[1], shift) & mask;
      if (n == N || row + (m + 1) * SPACING < end)
        from += SPACING * pitch;
#pragma unroll
      for (gint32 j = 0; j < N; j++)
        if (k >= 0)
          sums[j] =
              motion_sad4 (words[k + j], own[k * SPACING * PITCH], sums[j]);
    }
  }
}

/* SADs of a column of N points of a unit, SPACING rows apart. The words of
 * the unit are cut into slices: one column of words, and the rows that are
 * equal modulo SPACING. Row r + m SPACING of the window meets row r + k
 * SPACING of the unit at point m - k, so each word of the window serves as
 * many points as the slice has rows.
 * ALIGNED: the points' x is a multiple of four
 * @samples, @width, @height: of the unit
 * @window: the unit's window at the uppermost point
 * @shift: bits from the first word there to the point's first sample
 * @first, @step: the lane's slices
 * @n: points wanted, at most N; rows of the window below theirs are not read */
template <int UNIT, int SPACING, int N, bool ALIGNED>
static __device__ __forceinline__ void
motion_column_sads (const guint32 *samples, gint32 width, gint32 height,
    const guint32 *window, gint32 pitch, guint32 shift, gint32 first,
    gint32 step, gint32 n, guint32 (&sums)[N])
{
  if (width >= UNIT && height >= UNIT)
    motion_column_differences<UNIT, SPACING, N, ALIGNED, true> (
        samples, UNIT, UNIT, window, pitch, shift, first, step, n, sums);
  else
    motion_column_differences<UNIT, SPACING, N, ALIGNED, false> (
        samples, width, height, window, pitch, shift, first, step, n, sums);
}

/* --- launch ------------------------------------------------------------------- */

/* Launches a kernel and records @begun (nullable) at its end, or on devices
 * that support it once all its thread blocks have started: a kernel that
 * waits for the event has to call motion_await_kernels(). */
template <class Kernel>
static cudaError_t
motion_launch_begun (Kernel *kernel, dim3 grid, guint threads, gsize bytes,
    const MotionDeviceTask *task, int device, cudaEvent_t begun,
    cudaStream_t stream)
{
#if CUDART_VERSION >= 12030
  int major;
  cudaError_t code = cudaDeviceGetAttribute (
      &major, cudaDevAttrComputeCapabilityMajor, device);

  if (code != cudaSuccess)
    return code;
  if (begun != NULL && major >= 9) {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = begun;
    attribute.val.programmaticEvent.triggerAtBlockStart = 1;
    config.gridDim = grid;
    config.blockDim = dim3 (threads);
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx (&config, kernel, *task);
  }
#endif
  kernel<<<grid, threads, bytes, stream>>> (*task);
  return begun != NULL ? cudaEventRecord (begun, stream) : cudaGetLastError ();
}

/* Launches a thread block for each tile of each field. @staged: the kernel
 * with the window in shared memory, besides @bytes of its own; @direct: the
 * kernel that reads the plane. @begun: as above */
template <class Kernel>
static cudaError_t
motion_launch_tiles (Kernel *staged, Kernel *direct, gint32 unit, gsize own,
    const MotionDeviceTask *task, cudaEvent_t begun, cudaStream_t stream)
{
  const guint across = MOTION_UNITS_ACROSS * (guint) unit;
  const guint down = MOTION_UNITS_DOWN * (guint) unit;
  const dim3 grid ((task->config.width + across - 1) / across,
      (task->config.height + down - 1) / down, task->n_fields);
  guint32 bytes = MotionTileWindow::make (task->config.range, unit).bytes ();
  Kernel *kernel = staged;
  int device, limit;
  cudaError_t code;

  if ((code = cudaGetDevice (&device)) != cudaSuccess
      || (code = cudaDeviceGetAttribute (
              &limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device))
             != cudaSuccess)
    return code;
  if (bytes + own > (gsize) limit) {
    kernel = direct;
    bytes = 0;
  } else if ((code = cudaFuncSetAttribute ((const void *) kernel,
                  cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes))
             != cudaSuccess) {
    return code;
  }
  return motion_launch_begun (
      kernel, grid, MOTION_TILE_THREADS, bytes, task, device, begun, stream);
}
