/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* One or two levels in one pass over memory, of wavelets whose steps take only the
 * neighbours next to a sample ("near": haar, 5/3, 9/7, db2), of pictures whose
 * sides can be halved so often without rest.
 *
 * A warp has a strip of columns, LWT_NEAR_K pairs a lane, and moves a sliding window down
 * a segment of it. Rows are lifted in registers, neighbours in other lanes by
 * shuffles; columns in a sliding window of rows in registers. The low rows of a
 * level go on to the next one, which each lane holds half as many pairs of,
 * without leaving the registers. There is no barrier: each lane copies what it
 * needs itself, some pairs of rows ahead, into its own shared memory. Strips and
 * segments overlap by what their outputs depend on. Small pictures, whose segments
 * would be mostly that, go forward by pieces instead (cuda/lifting/cuda/nearpieces.cu).
 *
 * Beyond the edge a near step needs one neighbour at most: the odd sample before
 * the first one, which by `symmetric` and `clamp` is the first one, or the even
 * sample behind the last one, likewise. So all it takes is to select the lane's
 * own. A periodic picture has no edge, only other addresses; `zero` is left to the
 * tile kernels (cuda/lifting/cuda/tile.cuh). */
#pragma once

#include "cuda/lifting/cuda/copy.cuh"
#include "cuda/lifting/cuda/device.cuh"
#include "cuda/lifting/cuda/launch.cuh"
#include "cuda/lifting/cuda/shape.cuh"
#include "cuda/lifting/cuda/window.cuh"

/* Pairs of samples of a lane: as many as make 16 bytes; pairs of rows in flight, a
 * power of two; warps of a thread block; levels in a pass */
#define LWT_NEAR_K 2
#define LWT_NEAR_AHEAD 4
#define LWT_NEAR_WARPS 4
#define LWT_NEAR_THREADS (32 * LWT_NEAR_WARPS)
#define LWT_NEAR_STRIP (32 * LWT_NEAR_K) /* pairs of a strip */
#define LWT_NEAR_DEPTH 2

/* A level of a pass, the largest one 0.
 * @pairs: of columns and of rows
 * @bands: [high along y][high along x]; the low one of the last level only */
typedef struct {
  gint pairs[2];
  LwtBand bands[2][2];
} LwtNearLevel;

/* Parameters of a launch.
 * @taps: in the order they are run in, with their signs
 * @useful: outputs (pairs of level 0) of a strip, @halo pairs from its first
 * @segment: rows of pairs of the last level
 * @again: forward, with so many a segment begins that the one above it ends with;
 *   0 if there are more of them than the L2 cache is to keep till then
 * @small: each multiprocessor has one thread block at most */
typedef struct {
  float taps[LWT_MAX_SHAPE_TAPS];
  float scale[2];
  bool periodic;
  gint strips, useful, halo;
  gint segment, again;
  bool small;
  LwtPicture picture;
  LwtNearLevel levels[LWT_NEAR_DEPTH];
} LwtNearTask;

/* Says which level is meant where types differ. */
template <int LEVEL> struct LwtNearTag {
};

/* --- structures ------------------------------------------------------------------- */

template <class Order>
__host__ __device__ constexpr bool
lwt_is_near ()
{
  for (int i = 0; i < Order::n; i++) {
    const int least = Order::odd (i) ? 0 : -1;

    if (Order::first (i) < least
        || Order::first (i) + Order::taps (i) - 1 > least + 1)
      return false;
  }
  return true;
}

/* How many pairs of the first of @depth levels an output needs to a side. */
static __host__ __device__ constexpr int
lwt_near_halo (int reach, int depth)
{
  int halo = 0;

  for (int i = 0; i < depth; i++)
    halo = 2 * halo + reach;
  return halo;
}

/* Vectors of four samples that a warp has in shared memory: LWT_NEAR_AHEAD pairs of
 * rows of its strip. */
static __host__ __device__ constexpr int
lwt_near_ring (void)
{
  return LWT_NEAR_AHEAD * 2 * LWT_NEAR_STRIP * 2 / 4;
}

/* --- a strip ------------------------------------------------------------------------ */

/* @from: first output of the strip
 * @pair: the lane's first, @column: where that is in memory; of level 0
 * @first, @last: whether the lane has the first pair of the picture, the last
 *   one, and there is an edge
 * @writes: it is there for its pairs */
typedef struct {
  gint from, pair, column;
  bool first, last;
  bool writes;
} LwtNearStrip;

/* Whether pair @pair of level 0 is an output of the strip. */
static __device__ __forceinline__ bool
lwt_near_writes (const LwtNearTask &task, const LwtNearStrip &strip, gint pair)
{
  return pair >= strip.from
         && pair < min (strip.from + task.useful, task.levels[0].pairs[0]);
}

/* @edge: set to whether the strip has an edge of the picture */
static __device__ __forceinline__ LwtNearStrip
lwt_near_strip (const LwtNearTask &task, gint index, bool *edge)
{
  const gint pairs = task.levels[0].pairs[0], lane = threadIdx.x & 31;
  const gint from = index * task.useful;
  gint start = from - task.halo;
  LwtNearStrip strip;

  /* the last one ends where the picture does */
  if (!task.periodic)
    start = max (min (start, pairs - LWT_NEAR_STRIP), 0);
  strip.pair = start + lane * LWT_NEAR_K;
  strip.column = 2
                 * (task.periodic ? lwt_modulo (strip.pair, pairs)
                                  : min (strip.pair, pairs - LWT_NEAR_K));
  strip.first = !task.periodic && strip.pair == 0;
  strip.last = !task.periodic && strip.pair + LWT_NEAR_K == pairs;
  strip.from = from;
  strip.writes = lwt_near_writes (task, strip, strip.pair);
  *edge = !task.periodic && (start == 0 || start + LWT_NEAR_STRIP >= pairs);
  return strip;
}

/* --- steps ------------------------------------------------------------------------- */

/* Step I on R rows; a lane has K pairs of each: [0] the even samples, [1] the odd
 * ones. EDGE: the strip may have an edge of the picture. */
template <class Order, int R, int K, bool EDGE, int I>
static __device__ __forceinline__ void
lwt_near_step_rows (
    float x[R][2][K], const LwtNearTask &task, const LwtNearStrip &strip)
{
  constexpr int odd = Order::odd (I), first = Order::first (I);
  constexpr int n = Order::taps (I), tap = Order::tap (I);
  float values[R][K + 2]; /* pairs -1 .. K */

#pragma unroll
  for (int r = 0; r < R; r++) {
    const float *from = x[r][1 - odd];

    if (first < 0) {
      values[r][0] = __shfl_up_sync (LWT_LANES_ALL, from[K - 1], 1);
      if (EDGE && strip.first)
        values[r][0] = from[0];
    }
#pragma unroll
    for (int i = 0; i < K; i++)
      values[r][1 + i] = from[i];
    if (first + n - 1 > 0) {
      values[r][K + 1] = __shfl_down_sync (LWT_LANES_ALL, from[0], 1);
      if (EDGE && strip.last)
        values[r][K + 1] = from[K - 1];
    }
  }
#pragma unroll
  for (int r = 0; r < R; r++)
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
      for (int i = 0; i < n; i++)
        x[r][odd][k] = fmaf (
            task.taps[tap + i], values[r][1 + k + first + i], x[r][odd][k]);
}

/* All steps on rows. (nvcc 11.2 takes no pragma in a branch that is left out, here
 * and below.) */
template <class Order, int R, int K, bool EDGE, int I = 0>
static __device__ __forceinline__ void
lwt_near_lift_rows (
    float x[R][2][K], const LwtNearTask &task, const LwtNearStrip &strip)
{
  if constexpr (I < Order::n) {
    lwt_near_step_rows<Order, R, K, EDGE, I> (x, task, strip);
    lwt_near_lift_rows<Order, R, K, EDGE, I + 1> (x, task, strip);
  }
}

/* Step I on columns of @pairs where it is when pair @t has come. EDGE: the first
 * or last pair may be among them. */
template <class Order, int C, bool EDGE, int I>
static __device__ __forceinline__ void
lwt_near_step_columns (
    LwtWindow<Order, C> &window, gint t, gint pairs, const LwtNearTask &task)
{
  constexpr int odd = Order::odd (I), first = Order::first (I);
  constexpr int n = Order::taps (I), tap = Order::tap (I);
  constexpr int delay = LwtMarch<Order>::delay (I);
  const bool outermost = EDGE && t - delay == (odd ? pairs - 1 : 0);
  float *x = window.template row<odd> (delay);

#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int c = 0; c < C; c++) {
      float value = window.template row<1 - odd> (delay - first - i)[c];

      if (first + i != 0 && outermost)
        value = window.template row<1 - odd> (delay)[c];
      x[c] = fmaf (task.taps[tap + i], value, x[c]);
    }
}

/* All steps on columns. */
template <class Order, int C, bool EDGE, int I = 0>
static __device__ __forceinline__ void
lwt_near_lift_columns (
    LwtWindow<Order, C> &window, gint t, gint pairs, const LwtNearTask &task)
{
  if constexpr (I < Order::n) {
    lwt_near_step_columns<Order, C, EDGE, I> (window, t, pairs, task);
    lwt_near_lift_columns<Order, C, EDGE, I + 1> (window, t, pairs, task);
  }
}

/* STREAM: nobody reads it soon. */
template <bool STREAM, typename T>
static __device__ __forceinline__ void
lwt_near_store (T *to, T value)
{
  if (STREAM)
    __stcs (to, value);
  else
    *to = value;
}

/* --- launches ----------------------------------------------------------------------- */

/* Which strip a warp is in, and which rows of pairs of the last level are its
 * outputs. @to <= @from: none. */
typedef struct {
  gint strip;
  gint from, to;
} LwtNearDuty;

static __device__ __forceinline__ LwtNearDuty
lwt_near_duty (const LwtNearTask &task, gint rows)
{
  /* from one lane, so that the compiler knows that all have the same */
  const gint warp = __shfl_sync (LWT_LANES_ALL, threadIdx.x / 32, 0);
  const gint i = blockIdx.x * LWT_NEAR_WARPS + warp;
  LwtNearDuty duty;

  duty.strip = i % task.strips;
  duty.from = i / task.strips * task.segment;
  duty.to = min (duty.from + task.segment, rows);
  return duty;
}

/* Fills in all of @task for @depth levels, the largest one first; returns the
 * number of thread blocks. @reach: of the wavelet that way; @each: warps for each
 * multiprocessor */
guint lwt_near_cut (LwtNearTask *task, const LwtTransform *transform,
    const LwtLevelTask *levels, guint depth, gboolean inverse, LwtReach reach,
    gint each);

/* The same, of pieces of strips, each @length rows of pairs of the last level, at
 * most @each of them for each multiprocessor; 0: that is no way for the picture. */
guint lwt_near_cut_pieces (LwtNearTask *task, const LwtTransform *transform,
    const LwtLevelTask *levels, guint depth, LwtReach reach, gint length,
    gint each);

/* lwt_near_forward() by pieces; @done: whether the picture is one for them */
gboolean lwt_near_pieces (const LwtTransform *transform,
    const LwtLevelTask *levels, guint depth, gboolean *done,
    cudaStream_t stream, GError **error);
