/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A level forward, of wavelets whose steps drift apart: rows, then columns, in
 * one pass over memory (lwtfar_cuda.cuh). */
#include "lwtfar_cuda.cuh"

namespace {

/* Thread blocks of a strip at an edge: a kind of columns for each. Floats of a
 * row there; what is added keeps lanes, a row of pairs each, out of one bank */
#define EDGE_ROW (LWT_FAR_STRIP + 4)

#define SHARED                                                                 \
  ((LWT_FAR_TABLES + MAX (2 * LWT_FAR_TURN, 2 * LWT_FAR_PIECE * EDGE_ROW))     \
      * sizeof (float))

/* Where rows come from, and where they go when they are lifted.
 * @column: SIDE: of the lane's pairs in memory; -1: not in the picture
 * @pitch: floats from row to row
 * @to: position 0 of the first row, by kind; NULL: not wanted */
template <class Shape, bool SIDE> struct Rows {
  using Far = LwtFar<Shape, false>;

  const LwtFarTask &task;
  const LwtFarStrip &strip;
  const guint8 *tables;
  gint lane;
  gint column[LWT_FAR_K];

  __device__ __forceinline__
  Rows (const LwtFarTask &task, const LwtFarStrip &strip, const guint8 *tables)
      : task (task), strip (strip), tables (tables), lane (threadIdx.x & 31)
  {
#pragma unroll
    for (gint i = 0; SIDE && i < LWT_FAR_K; i++) {
      const gint k = strip.start + lane * LWT_FAR_K + i;

      column[i] = task.x.pieces == 0 ? 2 * lwt_modulo (k, task.x.pairs)
                  : k >= 0 && 2 * k + 1 < task.x.n ? 2 * k
                                                   : -1;
    }
  }

  __device__ __forceinline__ const float *
  row (gint y) const
  {
    return (const float *) ((const guint8 *) task.picture.data
                            + (gsize) y * task.picture.stride);
  }

  /* The lane's samples of row @y, by kinds. */
  __device__ __forceinline__ void
  load (float x[2][LWT_FAR_K], gint y) const
  {
#pragma unroll
    for (gint i = 0; i < LWT_FAR_K; i += 2) {
      float4 v = make_float4 (0.0f, 0.0f, 0.0f, 0.0f);

      if (SIDE) {
        if (column[i] >= 0) {
          const float2 pair = *(const float2 *) (row (y) + column[i]);

          v.x = pair.x;
          v.y = pair.y;
        }
        if (column[i + 1] >= 0) {
          const float2 pair = *(const float2 *) (row (y) + column[i + 1]);

          v.z = pair.x;
          v.w = pair.y;
        }
      } else {
        v = *(const float4 *) (row (y)
                               + 2 * (strip.start + lane * LWT_FAR_K + i));
      }
      x[0][i] = v.x;
      x[1][i] = v.y;
      x[0][i + 1] = v.z;
      x[1][i + 1] = v.w;
    }
  }

  /* Pieces of two rows, one a half of the warp: the lane's pair of piece
   * @which. @y: -1: none. */
  __device__ __forceinline__ void
  load_piece (float x[1][2], gint which, const gint y[2]) const
  {
    const gint mine = lane < LWT_FAR_PIECE ? y[0] : y[1];

#pragma unroll
    for (gint odd = 0; odd < 2; odd++) {
      const gint at = 2 * (task.x.start[which] + lane % LWT_FAR_PIECE) + odd;

      x[0][odd] = mine >= 0 && at < task.x.n ? row (mine)[at] : 0.0f;
    }
  }

  /* Lifts them and puts what they give over what is there. */
  __device__ __forceinline__ void
  put_piece (float x[1][2], gint which, float *const to[2], gint pitch) const
  {
    const LwtFarNeighbours neighbours =
        lwt_far_neighbours (tables + which * LWT_FAR_TABLE * sizeof (float));
    const gint k = task.x.start[which] + lane % LWT_FAR_PIECE;

    lwt_far_lift_piece<typename Far::Order, 1> (x, neighbours, task);
    __syncwarp ();
#pragma unroll
    for (gint kind = 0; kind < 2; kind++) {
      const gint p = k - strip.start - Far::offset (kind);

      if (to[kind] && lwt_far_gives (task.x, which, kind, k) && p >= 0
          && p < LWT_FAR_STRIP)
        to[kind][lane / LWT_FAR_PIECE * pitch + p] =
            x[0][kind] * task.scale[kind];
    }
    __syncwarp ();
  }

  /* Lifts two rows, @y of the picture for the pieces, and puts them where they
   * go. */
  template <class Meanwhile>
  __device__ __forceinline__ void
  put (float x[2][2][LWT_FAR_K], const gint y[2], float *const to[2],
      gint pitch, const Meanwhile &meanwhile) const
  {
    float pieces[2][1][2];

#pragma unroll
    for (gint which = 0; SIDE && which < 2; which++)
      if (strip.piece[which])
        load_piece (pieces[which], which, y);
    lwt_far_lift_rows<Shape, false, 2> (x, task, meanwhile);
#pragma unroll
    for (gint kind = 0; kind < 2; kind++)
      if (to[kind])
#pragma unroll
        for (gint odd = 0; odd < 2; odd++) {
          const float *v = x[odd][kind];
          const float scale = task.scale[kind];

          *(float4 *) (to[kind] + odd * pitch + lane * LWT_FAR_K) =
              make_float4 (
                  v[0] * scale, v[1] * scale, v[2] * scale, v[3] * scale);
        }
#pragma unroll
    for (gint which = 0; SIDE && which < 2; which++)
      if (strip.piece[which])
        put_piece (pieces[which], which, to, pitch);
  }
};

/* Entry of position @p of the bands of @kind along x, if it is there and the
 * strip's own; else -1. */
template <class Shape, bool REPEATS>
__device__ __forceinline__ gint
find_column (
    const LwtFarTask &task, const LwtFarStrip &strip, gint kind, gint p)
{
  using Far = LwtFar<Shape, false>;
  const gint k = strip.start + p + (kind ? Far::offset (1) : Far::offset (0));
  const gint count = lwt_count (task.x.n, kind);

  if (p < strip.from || p >= strip.to || k < 0 || k >= count)
    return -1;
  return REPEATS ? lwt_entry (k, task.shift[kind], count) : k;
}

template <class Shape, bool LOW, bool SIDE>
__device__ __forceinline__ void
march (const LwtFarTask &task, const LwtFarStrip &strip, const LwtFarDuty &duty,
    const guint8 *tables)
{
  using Far = LwtFar<Shape, false>;
  constexpr LwtFlow FLOW = Far::flow ();
  const Rows<Shape, SIDE> rows (task, strip, tables);
  const gint warp = threadIdx.x / 32, kind = threadIdx.x / LWT_FAR_STRIP;
  const gint column = find_column<Shape, SIDE> (
      task, strip, kind, threadIdx.x & (LWT_FAR_STRIP - 1));
  const guint writes = column >= 0 ? duty.to - duty.from : 0;
  float *turn = (float *) LWT_SHARED + LWT_FAR_TABLES;
  float *next = turn + LWT_FAR_TURN;
  LwtFarColumn<Shape, false> lifted;
  LwtFarEntry out[2];
  float ahead[2][2][LWT_FAR_K] = {};
  gint t = duty.from - FLOW.warm;

  lifted.clear ();
#pragma unroll
  for (gint odd = 0; odd < 2; odd++)
    out[odd] =
        lwt_far_entry<SIDE> (task.bands[odd][LOW ? 0 : kind], max (column, 0),
            t - FLOW.out[odd], task.shift[odd], lwt_count (task.y.n, odd));

  auto row_of = [&] (gint pair) {
    return 2
           * (SIDE && task.y.pieces == 0 ? lwt_modulo (pair, task.y.pairs)
                                         : pair);
  };
  auto fetch = [&] (gint pair) {
    if (pair < duty.to)
#pragma unroll
      for (gint odd = 0; odd < 2; odd++)
        rows.load (ahead[odd], row_of (pair) + odd);
  };
  /* what was fetched, of the warp's pair of the turn that begins with @from; that
   * of the next one comes meanwhile */
  auto put_rows = [&] (float *to_turn, gint from, const auto &meanwhile) {
    float x[2][2][LWT_FAR_K];
    const gint pair = row_of (min (from + warp, duty.to - 1));
    const gint y[2] = { pair, pair + 1 };
    float *const row = to_turn + 2 * warp * LWT_FAR_ROW;
    float *const to[2] = { row, LOW ? NULL : row + LWT_FAR_STRIP };

#pragma unroll
    for (gint i = 0; i < 4 * LWT_FAR_K; i++)
      x[i / (2 * LWT_FAR_K)][i / LWT_FAR_K % 2][i % LWT_FAR_K] =
          ahead[i / (2 * LWT_FAR_K)][i / LWT_FAR_K % 2][i % LWT_FAR_K];
    fetch (from + LWT_FAR_PAIRS + warp);
    rows.put (x, y, to, LWT_FAR_ROW, meanwhile);
  };
  auto lift_column = [&] (gint i) {
    float x[2] = { turn[2 * i * LWT_FAR_ROW + threadIdx.x],
      turn[(2 * i + 1) * LWT_FAR_ROW + threadIdx.x] };

    if (LOW && kind != 0)
      return;
    lifted.lift (x, task);
    if ((guint) (t + i - duty.from) < writes) {
      /* the next level reads the low band, nobody the others so soon */
      *(float *) out[0].at = x[0] * task.scale[0];
      if (!LOW)
        __stcs ((float *) out[1].at, x[1] * task.scale[1]);
    }
    lwt_far_next<SIDE> (out[0]);
    if (!LOW)
      lwt_far_next<SIDE> (out[1]);
  };

  fetch (t + warp);
  put_rows (turn, t, LwtFarNothing ());
  __syncthreads ();
  for (; t + LWT_FAR_PAIRS < duty.to; t += LWT_FAR_PAIRS) {
    float *const swap = turn;

    put_rows (next, t + LWT_FAR_PAIRS, [&] (auto step) {
      constexpr int I = decltype (step)::value, N = Far::Order::n;

#pragma unroll
      for (int i = I * LWT_FAR_PAIRS / N; i < (I + 1) * LWT_FAR_PAIRS / N; i++)
        lift_column (i);
    });
    __syncthreads ();
    turn = next;
    next = swap;
  }
#pragma unroll
  for (gint i = 0; i < LWT_FAR_PAIRS; i++)
    lift_column (i);
}

/* Writes what an edge gives of the columns of a kind: two threads a column. There
 * is an edge: no period, so no shift either. */
template <class Shape, bool LOW>
__device__ __forceinline__ void
put_edge (const LwtFarTask &task, const LwtFarStrip &strip,
    const LwtFarDuty &duty, const float *tile)
{
  const gint p = threadIdx.x % LWT_FAR_STRIP, start = task.y.start[duty.edge];
  const gint column = find_column<Shape, false> (task, strip, duty.part, p);

  if (column < 0)
    return;
#pragma unroll
  for (gint odd = 0; odd < (LOW ? 1 : 2); odd++) {
    const gint end =
        duty.edge == 0 ? task.y.to[odd] : lwt_count (task.y.n, odd);

    for (gint k = (duty.edge == 0 ? 0 : task.y.from[odd])
                  + (gint) threadIdx.x / LWT_FAR_STRIP;
         k < end; k += LWT_FAR_THREADS / LWT_FAR_STRIP)
      *lwt_band_at<float> (task.bands[odd][duty.part], column, k) =
          tile[(2 * (k - start) + odd) * EDGE_ROW + p] * task.scale[odd];
  }
}

/* What of the columns of a kind depends on the upper or lower edge. */
template <class Shape, bool LOW, bool SIDE>
__device__ __forceinline__ void
run_edge (const LwtFarTask &task, const LwtFarStrip &strip,
    const LwtFarDuty &duty, const guint8 *tables)
{
  using Far = LwtFar<Shape, false>;
  const Rows<Shape, SIDE> rows (task, strip, tables);
  const LwtFarNeighbours neighbours =
      lwt_far_neighbours (tables + 2 * LWT_FAR_TABLE * sizeof (float));
  const gint warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  const gint start = task.y.start[duty.edge];
  const gint pairs = min (task.y.pairs, LWT_FAR_PIECE);
  float *tile = (float *) LWT_SHARED + LWT_FAR_TABLES;

  for (gint i = warp; i < pairs; i += LWT_FAR_WARPS) {
    float *row = tile + 2 * i * EDGE_ROW;
    float *const to[2] = { duty.part == 0 ? row : NULL,
      duty.part == 1 ? row : NULL };
    float x[2][2][LWT_FAR_K] = {};
    gint y[2];

#pragma unroll
    for (gint odd = 0; odd < 2; odd++) {
      y[odd] = 2 * (start + i) + odd;
      if (y[odd] >= task.y.n)
        y[odd] = -1;
      else
        rows.load (x[odd], y[odd]);
    }
    rows.put (x, y, to, EDGE_ROW, LwtFarNothing ());
  }
  __syncthreads ();
  for (gint c = 8 * warp; c < LWT_FAR_STRIP; c += 8 * LWT_FAR_WARPS) {
    float *const pair = tile + 2 * (lane % LWT_FAR_PIECE) * EDGE_ROW + c
                        + lane / LWT_FAR_PIECE * 4;
    float x[4][2];

#pragma unroll
    for (gint odd = 0; odd < 2; odd++) {
      const float4 v = *(const float4 *) (pair + odd * EDGE_ROW);

      x[0][odd] = v.x;
      x[1][odd] = v.y;
      x[2][odd] = v.z;
      x[3][odd] = v.w;
    }
    lwt_far_lift_piece<typename Far::Order, 4> (x, neighbours, task);
#pragma unroll
    for (gint odd = 0; odd < 2; odd++)
      *(float4 *) (pair + odd * EDGE_ROW) =
          make_float4 (x[0][odd], x[1][odd], x[2][odd], x[3][odd]);
  }
  __syncthreads ();
  put_edge<Shape, LOW> (task, strip, duty, tile);
}

template <class Shape, bool LOW>
__global__ void
__launch_bounds__ (LWT_FAR_THREADS, LWT_FAR_BLOCKS)
    far_forward_kernel (LWT_PARAMETER (LwtFarTask, task))
{
  const LwtFarDuty duty = lwt_far_duty (task, LOW ? 1 : 2);
  const LwtFarStrip strip = lwt_far_strip<Shape, false> (task, duty.strip);
  const guint8 *tables = lwt_far_tables (task, strip, duty);

  lwt_wait_for_previous ();
  __syncthreads ();
  if (duty.edge >= 0 && strip.side)
    run_edge<Shape, LOW, true> (task, strip, duty, tables);
  else if (duty.edge >= 0)
    run_edge<Shape, LOW, false> (task, strip, duty, tables);
  else if (strip.side)
    march<Shape, LOW, true> (task, strip, duty, tables);
  else
    march<Shape, LOW, false> (task, strip, duty, tables);
}

template <class Shape>
gboolean
forward (const LwtTransform *transform, const LwtLevelTask *level,
    cudaStream_t stream, GError **error)
{
  const LwtFarFacts facts = lwt_far_facts<Shape, false> ();
  const gboolean low = level->bands[0][1].data == NULL;
  LwtFarTask task;
  guint blocks;

  blocks = lwt_far_cut (&task, transform, level, &facts, low ? 1 : 2);
  return lwt_far_launch (
      low ? far_forward_kernel<Shape, true> : far_forward_kernel<Shape, false>,
      "the far_forward_kernel", blocks, SHARED, stream, task, error);
}

} // namespace

gboolean
lwt_far_forward (const LwtTransform *transform, const LwtLevelTask *task,
    cudaStream_t stream, GError **error)
{
  return LWT_BY_FAR_SHAPE (
      transform->kernels, forward, transform, task, stream, error);
}
