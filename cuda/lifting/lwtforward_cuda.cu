/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A level forward, in float, of the near structures of lwtshape_cuda.cuh: a row's
 * bands, then the columns', in one pass over memory (lwtmarch_cuda.cuh). */
#include "lwtmarch_cuda.cuh"

namespace {

/* Floats of a row of a strip */
#define ROW (2 * LWT_STRIP)

/* Starts copying the lane's samples of row @y. */
template <bool EDGE>
__device__ __forceinline__ void
load_row (const LwtMarchTask &task, const LwtStrip &strip,
    const LwtSides &sides, gint y, float *to)
{
  const float *row = (const float *) ((const guint8 *) task.picture.data
                                      + (gsize) y * task.picture.stride);

  if (EDGE) {
#pragma unroll
    for (gint i = 0; i < 2 * LWT_K; i++)
      lwt_copy_ahead<4> (to + i, row + sides.column[i]);
  } else {
#pragma unroll
    for (gint i = 0; i < 2 * LWT_K; i += 4)
      lwt_copy_ahead<16> (to + i, row + 2 * strip.pair + i);
  }
}

/* Splits a row: x[0] the lane's low entries, x[1] its high ones. */
template <class Order, bool EDGE>
__device__ __forceinline__ void
split_row (float x[2][LWT_K], const float *samples, const LwtMarchTask &task,
    const LwtSides &sides)
{
#pragma unroll
  for (gint i = 0; i < 2 * LWT_K; i++)
    x[i & 1][i / 2] = samples[i];
  lwt_lift_row<Order, EDGE> (x, task, sides);
#pragma unroll
  for (gint i = 0; i < 2 * LWT_K; i++)
    x[i & 1][i / 2] *= task.scale[i & 1];
}

/* Scales and writes the lane's entries of row @y of the low or high bands along
 * y: @values low along x, then high. */
template <bool LOW, bool EDGE>
__device__ __forceinline__ void
put_row (const LwtMarchTask &task, const LwtStrip &strip, gint odd, gint y,
    const float *values)
{
  if (!strip.writes)
    return;
#pragma unroll
  for (gint kind = 0; kind < (LOW ? 1 : 2); kind++) {
    const LwtBand &band = task.bands[odd][kind];
    const gint count = lwt_count (task.width, kind);
    const float *v = values + kind * LWT_K;
    float *row = lwt_band_at<float> (band, 0, y);

    if (task.vector[kind] && (!EDGE || strip.pair + LWT_K <= count)) {
#pragma unroll
      for (gint i = 0; i < LWT_K; i += 2) {
        const float2 pair =
            make_float2 (v[i] * task.scale[odd], v[i + 1] * task.scale[odd]);

        /* the next level reads the low band, nobody the others so soon */
        if (kind == 0 && odd == 0)
          *(float2 *) (row + strip.pair + i) = pair;
        else
          __stcs ((float2 *) (row + strip.pair + i), pair);
      }
    } else {
#pragma unroll
      for (gint i = 0; i < LWT_K; i++)
        if (strip.pair + i < count)
          row[lwt_entry (strip.pair + i, task.shift[kind], count) * band.step] =
              v[i] * task.scale[odd];
    }
  }
}

/* Entry of sample @k along y. */
__device__ __forceinline__ gint
entry_of_row (const LwtMarchTask &task, gint odd, gint k)
{
  return lwt_entry (k, task.shift[odd], lwt_count (task.height, odd));
}

template <class Shape, bool LOW, bool EDGE>
__device__ __forceinline__ void
march (const LwtMarchTask &task, const LwtStrip &strip, const LwtDuty &duty)
{
  using Order = LwtOrder<Shape, false>;
  using March = LwtMarch<Order>;
  constexpr int TURN = EDGE || Shape::n > 8 ? 1 : LWT_UNROLL;
  constexpr int C = LOW ? LWT_K : 2 * LWT_K;
  float *ring = (float *) LWT_SHARED + threadIdx.x / 32 * (LWT_AHEAD * 2 * ROW)
                + strip.lane * 2 * LWT_K;
  const gint begin = duty.from - March::left, end = duty.to + March::out;
  gint next = begin, next_y = lwt_modulo (2 * begin, task.height);
  gint low_y = entry_of_row (task, 0, duty.from);
  gint high_y = entry_of_row (task, 1, duty.from);
  LwtWindow<Order, C> window;
  LwtSides sides;

  if (EDGE)
    sides = lwt_sides (task, strip);
  window.clear ();

  auto load = [&] () {
    float *to = ring + (next & (LWT_AHEAD - 1)) * 2 * ROW;

    if (next < end)
#pragma unroll
      for (gint odd = 0; odd < 2; odd++)
        load_row<EDGE> (task, strip, sides, next_y + odd, to + odd * ROW);
    lwt_copies_end ();
    lwt_next (next_y, 2, task.height);
    next++;
  };

  for (gint i = 0; i < LWT_AHEAD - 1; i++)
    load ();
#pragma unroll TURN
  for (gint t = begin; t < end; t++) {
    const float *rows = ring + (t & (LWT_AHEAD - 1)) * 2 * ROW;
    const gint low = t - March::low_out, high = t - March::high_out;
    float x[2][2][LWT_K];

    load ();
    lwt_copies_wait<LWT_AHEAD - 1> ();
#pragma unroll
    for (gint odd = 0; odd < 2; odd++)
      split_row<Order, EDGE> (x[odd], rows + odd * ROW, task, sides);
    window.advance ();
#pragma unroll
    for (gint c = 0; c < C; c++) {
      window.low[0][c] = x[0][c / LWT_K][c % LWT_K];
      window.high[0][c] = x[1][c / LWT_K][c % LWT_K];
    }
    lwt_lift_columns (window, task);
    if (low >= duty.from && low < duty.to) {
      put_row<LOW, EDGE> (task, strip, 0, low_y, window.low[March::low_out]);
      lwt_next (low_y, 1, lwt_count (task.height, 0));
    }
    if (!LOW && high >= duty.from && high < duty.to) {
      put_row<LOW, EDGE> (task, strip, 1, high_y, window.high[March::high_out]);
      lwt_next (high_y, 1, lwt_count (task.height, 1));
    }
  }
}

/* What depends on the upper or lower edge, by a thread block. */
template <class Shape, bool LOW, bool EDGE>
__device__ __forceinline__ void
run_edge (const LwtMarchTask &task, const LwtStrip &strip, const LwtDuty &duty)
{
  using Order = LwtOrder<Shape, false>;
  const gint start = task.edge_start[duty.edge];
  const gint pairs = task.edge_pairs[duty.edge], warp = threadIdx.x / 32;
  LwtSides sides;
  float *tile = (float *) LWT_SHARED;
  float *lane = tile + strip.lane * 2 * LWT_K;

  if (EDGE)
    sides = lwt_sides (task, strip);
  for (gint i = warp; i < 2 * pairs; i += LWT_WARPS) {
    const gint k = lwt_modulo (start + i / 2, lwt_count (task.height, 0));

    if (2 * k + (i & 1) < task.height)
      load_row<EDGE> (task, strip, sides, 2 * k + (i & 1), lane + i * ROW);
    else
      for (gint c = 0; c < 2 * LWT_K; c++)
        lane[i * ROW + c] = 0.0f;
  }
  lwt_copies_end ();
  lwt_copies_wait<0> ();
  for (gint i = warp; i < 2 * pairs; i += LWT_WARPS) {
    float x[2][LWT_K];

    split_row<Order, EDGE> (x, lane + i * ROW, task, sides);
#pragma unroll
    for (gint c = 0; c < 2 * LWT_K; c++)
      lane[i * ROW + c] = x[c / LWT_K][c % LWT_K];
  }
  __syncthreads ();
  for (gint c = threadIdx.x; c < ROW; c += LWT_MARCH_THREADS)
    lwt_lift_edge<Order> (tile + c, ROW, start, pairs, task);
  __syncthreads ();
  for (gint k = duty.from + warp; k < duty.to; k += LWT_WARPS) {
    put_row<LOW, EDGE> (task, strip, 0, entry_of_row (task, 0, k),
        lane + 2 * (k - start) * ROW);
    if (!LOW && 2 * k + 1 < task.height)
      put_row<LOW, EDGE> (task, strip, 1, entry_of_row (task, 1, k),
          lane + (2 * (k - start) + 1) * ROW);
  }
}

template <class Shape, bool LOW>
__global__ void
__launch_bounds__ (LWT_MARCH_THREADS)
    forward_kernel (LWT_PARAMETER (LwtMarchTask, task))
{
  const LwtDuty duty = lwt_duty (task);
  const LwtStrip strip =
      lwt_strip (task, duty.strip, LwtMarch<LwtOrder<Shape, false>>::right);

  lwt_wait_for_previous ();
  if (duty.edge >= 0 && strip.edge)
    run_edge<Shape, LOW, true> (task, strip, duty);
  else if (duty.edge >= 0)
    run_edge<Shape, LOW, false> (task, strip, duty);
  else if (duty.from >= duty.to)
    return;
  else if (strip.edge)
    march<Shape, LOW, true> (task, strip, duty);
  else
    march<Shape, LOW, false> (task, strip, duty);
}

template <class Shape>
gboolean
forward (const LwtTransform *transform, const LwtLevelTask *level,
    cudaStream_t stream, GError **error)
{
  const gboolean low = level->bands[0][1].data == NULL;
  LwtMarchTask task;
  LwtMarchLaunch launch;

  launch = lwt_march_init<LwtOrder<Shape, false>> (
      &task, transform, level, FALSE, LWT_AHEAD * 2 * ROW, ROW);
  return lwt_march_launch (
      low ? forward_kernel<Shape, true> : forward_kernel<Shape, false>,
      "the forward_kernel", &launch, stream, task, error);
}

} // namespace

gboolean
lwt_fast_forward (const LwtTransform *transform, const LwtLevelTask *task,
    cudaStream_t stream, GError **error)
{
  return LWT_BY_NEAR_SHAPE (
      transform->kernels, forward, transform, task, stream, error);
}
