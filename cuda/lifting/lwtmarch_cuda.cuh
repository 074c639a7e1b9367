/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A level in one pass over memory. A warp has a strip of 32 lanes, each with
 * LWT_K pairs of columns, and marches down a segment of it: rows are lifted in
 * registers, neighbours in other lanes by shuffles; columns in a sliding window of
 * rows in registers (lwtshape_cuda.cuh). There is no barrier: each lane copies
 * what it needs itself, some pairs of rows ahead, into its own shared memory.
 *
 * Strips overlap by what their outputs depend on, as do segments. At the left
 * and right edge virtual columns are set anew before each step (LwtSides).
 * Segments stay clear of the upper and lower edge; what depends on them is done
 * by thread blocks of their own, the rows of a strip in shared memory. */
#pragma once

#include "lwtcopy_cuda.cuh"
#include "lwtdevice_cuda.cuh"
#include "lwtlaunch_cuda.cuh"
#include "lwtshape_cuda.cuh"
#include "lwtwindow_cuda.cuh"

/* Pairs of samples of a lane; pairs of rows in flight, a power of two; those of a
 * turn of the loop; warps of a thread block */
#define LWT_K 2
#ifndef LWT_AHEAD
#define LWT_AHEAD 4
#endif
#ifndef LWT_UNROLL
#define LWT_UNROLL 2
#endif
#define LWT_WARPS 4
#define LWT_MARCH_THREADS (32 * LWT_WARPS)
#define LWT_STRIP (32 * LWT_K) /* pairs of a strip */

/* What a launch is: a level, its strips, segments and edges.
 * @taps: in the order they are run in, with their signs
 * @useful: outputs (pairs) of a strip, @halo pairs from its first
 * @from, @to: rows of pairs that segments of @segment are of
 * @edges: of those beyond: outputs @edge_from .. @edge_to - 1 out of the pairs
 *   @edge_start ..
 * @vector: whether low, high entries of a row may be moved by twos */
typedef struct {
  float taps[LWT_MAX_SHAPE_TAPS];
  float scale[2];
  LwtBoundary boundary;
  gint width, height;
  gint strips, useful, halo;
  gint from, to, segment;
  gint edges;
  gint edge_from[2], edge_to[2], edge_start[2], edge_pairs[2];
  LwtPicture picture;
  LwtBand bands[2][2];
  gint shift[2];
  bool vector[2];
} LwtMarchTask;

/* --- a strip -------------------------------------------------------------------------- */

/* @start: pair of lane 0; @pair: the lane's first; @writes: it is there for it */
typedef struct {
  gint start, pair;
  gint lane;
  bool edge; /* pairs of it are not all within the picture */
  bool writes;
} LwtStrip;

static __device__ __forceinline__ LwtStrip
lwt_strip (const LwtMarchTask &task, gint index, gint right)
{
  const gint pairs = lwt_count (task.width, 0);
  const gint last = (pairs + right + LWT_K - 1) / LWT_K * LWT_K - LWT_STRIP;
  const gint first = index * task.useful;
  LwtStrip strip;

  strip.lane = threadIdx.x & 31;
  /* the last one ends where the picture does: it mirrors what lies before */
  strip.start = max (min (first - task.halo, last), -task.halo);
  strip.pair = strip.start + strip.lane * LWT_K;
  strip.edge = strip.start < 0 || 2 * (strip.start + LWT_STRIP) > task.width;
  strip.writes =
      strip.pair >= first && strip.pair < min (first + task.useful, pairs);
  return strip;
}

/* Where the lane's columns get their values from at the sides.
 * @column: in memory, of sample i
 * @source: of columns that are not in the picture: pair of the strip; -1: +0 */
typedef struct {
  gint column[2 * LWT_K];
  gint source[2][LWT_K];
} LwtSides;

static __device__ __forceinline__ LwtSides
lwt_sides (const LwtMarchTask &task, const LwtStrip &strip)
{
  const gint period = lwt_count (task.width, 0);
  LwtSides sides;

#pragma unroll
  for (gint i = 0; i < 2 * LWT_K; i++) {
    const gint odd = i & 1, pair = strip.pair + i / 2;
    const gint j = task.boundary == LWT_BOUNDARY_PERIODIC
                       ? lwt_modulo (pair, period)
                       : max (pair, 0);
    const gint from = lwt_near_neighbour (task.boundary, pair, odd, task.width);
    const bool zero = from < 0 && task.boundary == LWT_BOUNDARY_ZERO;

    sides.column[i] = 2 * min (j, lwt_count (task.width, odd) - 1) + odd;
    sides.source[odd][i / 2] =
        zero ? -1 : min (max (from - strip.start, 0), LWT_STRIP - 1);
  }
  return sides;
}

/* Sets the virtual ones among the columns of a kind. */
static __device__ __forceinline__ void
lwt_set_sides (float x[LWT_K], const gint source[LWT_K])
{
  float values[LWT_K];

#pragma unroll
  for (gint i = 0; i < LWT_K; i++) {
    values[i] = 0.0f;
#pragma unroll
    for (gint from = 0; from < LWT_K; from++) {
      const float value =
          __shfl_sync (LWT_LANES_ALL, x[from], (source[i] / LWT_K) & 31);

      if (source[i] >= 0 && source[i] % LWT_K == from)
        values[i] = value;
    }
  }
#pragma unroll
  for (gint i = 0; i < LWT_K; i++)
    x[i] = values[i];
}

/* --- lifting a row ---------------------------------------------------------------------- */

/* Step I on a row: x[0] the lane's even samples, x[1] the odd ones. */
template <class Order, bool EDGE, int I>
static __device__ __forceinline__ void
lwt_step_row (
    float x[2][LWT_K], const LwtMarchTask &task, const LwtSides &sides)
{
  constexpr int odd = Order::odd (I), first = Order::first (I);
  constexpr int n = Order::taps (I), tap = Order::tap (I);
  float values[LWT_K + n - 1];

  if (EDGE)
    lwt_set_sides (x[1 - odd], sides.source[1 - odd]);
#pragma unroll
  for (int i = 0; i < LWT_K + n - 1; i++) {
    const int from = first + i + 64 * LWT_K;
    const int lanes = from / LWT_K - 64;
    const float value = x[1 - odd][from % LWT_K];

    values[i] = lanes > 0   ? __shfl_down_sync (LWT_LANES_ALL, value, lanes)
                : lanes < 0 ? __shfl_up_sync (LWT_LANES_ALL, value, -lanes)
                            : value;
  }
#pragma unroll
  for (int k = 0; k < LWT_K; k++)
#pragma unroll
    for (int i = 0; i < n; i++)
      x[odd][k] = fmaf (task.taps[tap + i], values[k + i], x[odd][k]);
}

/* All steps on a row. (nvcc 11.2 takes no pragma in a branch that is left out,
 * here and below.) */
template <class Order, bool EDGE, int I = 0>
static __device__ __forceinline__ void
lwt_lift_row (
    float x[2][LWT_K], const LwtMarchTask &task, const LwtSides &sides)
{
  if constexpr (I < Order::n) {
    lwt_step_row<Order, EDGE, I> (x, task, sides);
    lwt_lift_row<Order, EDGE, I + 1> (x, task, sides);
  }
}

/* --- lifting columns ---------------------------------------------------------------------- */

/* Step I where it is when a pair has come. */
template <class Order, int C, int I>
static __device__ __forceinline__ void
lwt_step_columns (LwtWindow<Order, C> &window, const LwtMarchTask &task)
{
  constexpr int odd = Order::odd (I), first = Order::first (I);
  constexpr int n = Order::taps (I), tap = Order::tap (I);
  constexpr int delay = LwtMarch<Order>::delay (I);
  float *x = window.template row<odd> (delay);

#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int c = 0; c < C; c++)
      x[c] = fmaf (task.taps[tap + i],
          window.template row<1 - odd> (delay - first - i)[c], x[c]);
}

/* All steps, each where it is when a pair has come. */
template <class Order, int C, int I = 0>
static __device__ __forceinline__ void
lwt_lift_columns (LwtWindow<Order, C> &window, const LwtMarchTask &task)
{
  if constexpr (I < Order::n) {
    lwt_step_columns<Order, C, I> (window, task);
    lwt_lift_columns<Order, C, I + 1> (window, task);
  }
}

/* Sample @k of a thread's column of an edge after a step: all pairs of it lie in
 * shared memory, @pitch floats from row to row. Neighbours may be beyond the
 * picture. */
template <class Order, int I>
static __device__ __forceinline__ void
lwt_lift_at_edge (float *column, gint pitch, gint start, gint pairs, gint k,
    const LwtMarchTask &task)
{
  constexpr int odd = Order::odd (I), first = Order::first (I);
  constexpr int n = Order::taps (I), tap = Order::tap (I);
  float x = column[(2 * k + odd) * pitch];

#pragma unroll
  for (int i = 0; i < n; i++) {
    const gint j = lwt_near_neighbour (
        task.boundary, start + k + first + i, 1 - odd, task.height);
    const gint at = min (max (j - start, 0), pairs - 1);
    const bool zero = j < 0 && task.boundary == LWT_BOUNDARY_ZERO;

    x = fmaf (task.taps[tap + i],
        zero ? 0.0f : column[(2 * at + 1 - odd) * pitch], x);
  }
  column[(2 * k + odd) * pitch] = x;
}

/* Step I on such a column. */
template <class Order, int I>
static __device__ __forceinline__ void
lwt_step_edge (
    float *column, gint pitch, gint start, gint pairs, const LwtMarchTask &task)
{
  constexpr int odd = Order::odd (I), first = Order::first (I);
  constexpr int n = Order::taps (I), tap = Order::tap (I);
  const gint there = min (pairs, lwt_count (task.height, 1 - odd) - start);
  /* from @plain to @end - 1 all neighbours are in the picture */
  const gint plain = max (0, -first);
  const gint end = task.boundary == LWT_BOUNDARY_PERIODIC
                       ? plain
                       : max (min (pairs, there - first - n + 1), plain);

  for (gint k = 0; k < min (plain, pairs); k++)
    lwt_lift_at_edge<Order, I> (column, pitch, start, pairs, k, task);
#pragma unroll 4
  for (gint k = plain; k < end; k++) {
    float x = column[(2 * k + odd) * pitch];

#pragma unroll
    for (int i = 0; i < n; i++)
      x = fmaf (task.taps[tap + i],
          column[(2 * (k + first + i) + 1 - odd) * pitch], x);
    column[(2 * k + odd) * pitch] = x;
  }
  for (gint k = end; k < pairs; k++)
    lwt_lift_at_edge<Order, I> (column, pitch, start, pairs, k, task);
}

/* All steps on such a column. */
template <class Order, int I = 0>
static __device__ __forceinline__ void
lwt_lift_edge (
    float *column, gint pitch, gint start, gint pairs, const LwtMarchTask &task)
{
  if constexpr (I < Order::n) {
    lwt_step_edge<Order, I> (column, pitch, start, pairs, task);
    lwt_lift_edge<Order, I + 1> (column, pitch, start, pairs, task);
  }
}

/* --- rows ------------------------------------------------------------------------------- */

/* The next row, or entry along y, of @n that repeat themselves. */
static __device__ __forceinline__ void
lwt_next (gint &y, gint by, gint n)
{
  y += by;
  if (y >= n)
    y = 0;
}

/* What a thread block or warp is there for. */
typedef struct {
  gint strip;
  gint edge;     /* -1: a segment */
  gint from, to; /* outputs */
} LwtDuty;

/* Edges come first, a thread block for each strip of them; then segments, a warp
 * for each. @to <= @from: nothing to do. */
static __device__ __forceinline__ LwtDuty
lwt_duty (const LwtMarchTask &task)
{
  const gint edges = task.edges * task.strips;
  LwtDuty duty;

  if ((gint) blockIdx.x < edges) {
    duty.strip = blockIdx.x % task.strips;
    duty.edge = blockIdx.x / task.strips;
    duty.from = task.edge_from[duty.edge];
    duty.to = task.edge_to[duty.edge];
  } else {
    /* from one lane, so that the compiler knows that all have the same */
    const gint warp = __shfl_sync (LWT_LANES_ALL, threadIdx.x / 32, 0);
    const gint i = (blockIdx.x - edges) * LWT_WARPS + warp;

    duty.strip = i % task.strips;
    duty.edge = -1;
    duty.from = task.from + i / task.strips * task.segment;
    duty.to = min (duty.from + task.segment, task.to);
  }
  return duty;
}

/* --- launches ----------------------------------------------------------------------------- */

typedef struct {
  guint blocks;
  gsize shared;
} LwtMarchLaunch;

/* Cuts @level into strips, segments and edges. @ring: floats of shared memory a
 * warp, @row: those of a row of a strip at an edge */
LwtMarchLaunch lwt_march_cut (LwtMarchTask *task, const LwtTransform *transform,
    const LwtLevelTask *level, gboolean inverse, LwtReach reach, gint out,
    gint ring, gint row);

template <class Order>
static inline LwtMarchLaunch
lwt_march_init (LwtMarchTask *task, const LwtTransform *transform,
    const LwtLevelTask *level, gboolean inverse, gint ring, gint row)
{
  const LwtReach reach = { LwtMarch<Order>::left, LwtMarch<Order>::right };

  return lwt_march_cut (
      task, transform, level, inverse, reach, LwtMarch<Order>::out, ring, row);
}

template <typename Task>
static inline gboolean
lwt_march_launch (void (*kernel) (Task), const char *name,
    const LwtMarchLaunch *launch, cudaStream_t stream, const Task &task,
    GError **error)
{
  /* at small pictures with far-reaching steps only */
  if (launch->shared > 48 * 1024
      && !CVIS_CUDA (cudaFuncSetAttribute ((const void *) kernel,
                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                         (int) launch->shared),
          error))
    return FALSE;
  return lwt_launch (kernel, name, dim3 (launch->blocks), LWT_MARCH_THREADS,
      launch->shared, stream, task, error);
}
