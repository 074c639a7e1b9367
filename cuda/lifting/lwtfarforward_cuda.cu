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

/* Where rows come from, and where they go when they are lifted. */
template <class Shape, LwtFarKind KIND> struct Rows {
  using Far = LwtFar<Shape, false>;
  static constexpr bool SIDE = KIND == LWT_FAR_SIDE;
  static constexpr bool PERIOD = KIND == LWT_FAR_PERIOD;

  const LwtFarTask &task;
  const LwtFarStrip &strip;
  const guint8 *tables;
  gint lane;
  bool whole; /* SIDE: all pairs of a lane are in the picture, or none */
  gint pair;  /* the lane's first; SIDE: where none is, another lane's */
  gint column[LWT_FAR_K]; /* PERIOD: of the lane's pairs in memory */
  gint entry[2]; /* SIDE: what piece strip.which gives: position; -1: nothing */

  __device__ __forceinline__
  Rows (const LwtFarTask &task, const LwtFarStrip &strip, const guint8 *tables)
      : task (task), strip (strip), tables (tables), lane (threadIdx.x & 31),
        whole (task.x.n % (2 * LWT_FAR_K) == 0),
        pair (strip.start + lane * LWT_FAR_K)
  {
    if (SIDE && whole)
      pair = max (min (pair, task.x.n / 2 - LWT_FAR_K), 0);
#pragma unroll
    for (gint i = 0; PERIOD && i < LWT_FAR_K; i++)
      column[i] = 2 * lwt_modulo (pair + i, task.x.pairs);
#pragma unroll
    for (gint kind = 0; SIDE && kind < 2; kind++)
      entry[kind] = strip.any ? find_entry (strip.which, kind) : -1;
  }

  /* Position that piece @which gives the lane's entry of a kind of. */
  __device__ __forceinline__ gint
  find_entry (gint which, gint kind) const
  {
    const gint k = task.x.start[which] + lane % LWT_FAR_PIECE;
    const gint p = k - strip.start - Far::offset (kind);

    return lwt_far_gives (task.x, which, kind, k) && p < LWT_FAR_STRIP ? p : -1;
  }

  __device__ __forceinline__ const float *
  row (gint y) const
  {
    return (const float *) ((const guint8 *) task.picture.data
                            + (gsize) y * task.picture.stride);
  }

  __device__ __forceinline__ bool
  loads_single_pairs () const
  {
    return PERIOD || (SIDE && !whole);
  }

  /* The lane's samples of row @y, by kinds; any, where there are none, as what
   * depends on these is given by a piece. */
  __device__ __forceinline__ void
  load (float x[2][LWT_FAR_K], gint y) const
  {
    const float *from = row (y);

    if (loads_single_pairs ()) {
#pragma unroll
      for (gint i = 0; i < LWT_FAR_K; i++) {
        const gint inside = max (min (pair + i, task.x.n / 2 - 1), 0);
        const float2 v =
            *(const float2 *) (from + (PERIOD ? column[i] : 2 * inside));

        x[0][i] = v.x;
        x[1][i] = v.y;
      }
      return;
    }
#pragma unroll
    for (gint i = 0; i < LWT_FAR_K; i += 2) {
      const float4 v = *(const float4 *) (from + 2 * (pair + i));

      x[0][i] = v.x;
      x[1][i] = v.y;
      x[0][i + 1] = v.z;
      x[1][i + 1] = v.w;
    }
  }

  /* The lane's pair of piece @which of rows @y, the halves of the warp having
   * every other row. */
  template <int N>
  __device__ __forceinline__ void
  load_piece (float x[N / 2][2], gint which, const gint y[N]) const
  {
    const gint at = 2 * (task.x.start[which] + lane % LWT_FAR_PIECE);

#pragma unroll
    for (gint i = 0; i < N / 2; i++) {
      const float *from = row (lane < LWT_FAR_PIECE ? y[2 * i] : y[2 * i + 1]);

      x[i][0] = from[min (at, task.x.n - 1)];
      x[i][1] = from[min (at + 1, task.x.n - 1)];
    }
  }

  __device__ __forceinline__ LwtFarNeighbours
  neighbours (gint which) const
  {
    return lwt_far_neighbours (tables + which * LWT_FAR_TABLE * sizeof (float));
  }

  /* Puts what a piece gives over what is there. */
  template <int N>
  __device__ __forceinline__ void
  put_piece (const float x[N / 2][2], const gint entry[2], float *const to[2],
      gint pitch) const
  {
    __syncwarp ();
#pragma unroll
    for (gint kind = 0; kind < 2; kind++)
      if (to[kind] && entry[kind] >= 0)
#pragma unroll
        for (gint i = 0; i < N / 2; i++)
          to[kind][(2 * i + lane / LWT_FAR_PIECE) * pitch + entry[kind]] =
              x[i][kind] * task.scale[kind];
    __syncwarp ();
  }

  /* Lifts N rows and puts them where they go, @pitch floats apart: @to: position
   * 0 of the first one, by kind; NULL: not wanted. At a side a piece of them is
   * lifted meanwhile: @piece, as loaded for strip.which; @y: the rows. */
  template <int N, class Meanwhile>
  __device__ __forceinline__ void
  put (float x[N][2][LWT_FAR_K], float piece[N / 2][2], const gint y[N],
      float *const to[2], gint pitch, const Meanwhile &meanwhile) const
  {
    const LwtFarNeighbours of_piece =
        SIDE ? neighbours (strip.which) : LwtFarNeighbours ();

    lwt_far_lift_rows<Shape, false, N> (x, task, [&] (auto step) {
      meanwhile (step);
      if (SIDE)
        lwt_far_step_piece<typename Far::Order, N / 2, decltype (step)::value> (
            piece, of_piece, task);
    });
#pragma unroll
    for (gint kind = 0; kind < 2; kind++)
      if (to[kind])
#pragma unroll
        for (gint i = 0; i < N; i++) {
          const float *v = x[i][kind];
          const float scale = task.scale[kind];

          *(float4 *) (to[kind] + i * pitch + lane * LWT_FAR_K) = make_float4 (
              v[0] * scale, v[1] * scale, v[2] * scale, v[3] * scale);
        }
    if (SIDE)
      put_piece<N> (piece, entry, to, pitch);
    if (SIDE && strip.piece[0] && strip.piece[1]) {
      const gint second[2] = { find_entry (1, 0), find_entry (1, 1) };

      load_piece<N> (piece, 1, y);
      lwt_far_lift_piece<typename Far::Order, N / 2> (
          piece, neighbours (1), task);
      put_piece<N> (piece, second, to, pitch);
    }
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

template <class Shape, bool LOW, LwtFarKind KIND>
__device__ __forceinline__ void
march (const LwtFarTask &task, const LwtFarStrip &strip, const LwtFarDuty &duty,
    const guint8 *tables)
{
  using Far = LwtFar<Shape, false>;
  constexpr LwtFlow FLOW = Far::flow ();
  constexpr bool PERIOD = KIND == LWT_FAR_PERIOD;
  const Rows<Shape, KIND> rows (task, strip, tables);
  const gint warp = threadIdx.x / 32, kind = threadIdx.x / LWT_FAR_STRIP;
  const gint column = find_column<Shape, PERIOD> (
      task, strip, kind, threadIdx.x & (LWT_FAR_STRIP - 1));
  const guint writes = column >= 0 ? duty.to - duty.from : 0;
  float *turn = (float *) LWT_SHARED + LWT_FAR_TABLES;
  float *next = turn + LWT_FAR_TURN;
  LwtFarColumn<Shape, false> lifted;
  LwtFarEntry out[2];
  float ahead[2][2][LWT_FAR_K] = {}, ahead_piece[1][2] = {};
  gint t = duty.from - FLOW.warm;

  lifted.clear ();
#pragma unroll
  for (gint odd = 0; odd < 2; odd++)
    out[odd] =
        lwt_far_entry<PERIOD> (task.bands[odd][LOW ? 0 : kind], max (column, 0),
            t - FLOW.out[odd], task.shift[odd], lwt_count (task.y.n, odd));

  /* of the warp's pair of a turn, and meanwhile that of the next one */
  auto fetch = [&] (gint pair) {
    const gint first = 2 * (PERIOD ? lwt_modulo (pair, task.y.pairs) : pair);
    const gint y[2] = { first, first + 1 };

    if (pair >= duty.to)
      return;
#pragma unroll
    for (gint odd = 0; odd < 2; odd++)
      rows.load (ahead[odd], y[odd]);
    if (KIND == LWT_FAR_SIDE)
      rows.template load_piece<2> (ahead_piece, strip.which, y);
  };
  auto put_rows = [&] (float *to_turn, gint from, const auto &meanwhile) {
    float x[2][2][LWT_FAR_K], piece[1][2];
    const gint pair = min (from + warp, duty.to - 1);
    const gint y[2] = { 2 * pair, 2 * pair + 1 };
    float *const row = to_turn + 2 * warp * LWT_FAR_ROW;
    float *const to[2] = { row, LOW ? NULL : row + LWT_FAR_STRIP };

#pragma unroll
    for (gint i = 0; i < 4 * LWT_FAR_K; i++)
      x[i / (2 * LWT_FAR_K)][i / LWT_FAR_K % 2][i % LWT_FAR_K] =
          ahead[i / (2 * LWT_FAR_K)][i / LWT_FAR_K % 2][i % LWT_FAR_K];
    piece[0][0] = ahead_piece[0][0];
    piece[0][1] = ahead_piece[0][1];
    fetch (from + LWT_FAR_PAIRS + warp);
    rows.template put<2> (x, piece, y, to, LWT_FAR_ROW, meanwhile);
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
    lwt_far_next<PERIOD> (out[0]);
    if (!LOW)
      lwt_far_next<PERIOD> (out[1]);
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
template <class Shape, bool LOW, LwtFarKind KIND>
__device__ __forceinline__ void
run_edge (const LwtFarTask &task, const LwtFarStrip &strip,
    const LwtFarDuty &duty, const guint8 *tables)
{
  using Far = LwtFar<Shape, false>;
  constexpr gint N = LWT_FAR_EDGE_ROWS;
  const Rows<Shape, KIND> rows (task, strip, tables);
  const LwtFarNeighbours neighbours =
      lwt_far_neighbours (tables + 2 * LWT_FAR_TABLE * sizeof (float));
  const gint first = threadIdx.x / 32 * N;
  float *const tile = (float *) LWT_SHARED + LWT_FAR_TABLES;
  float *const row = tile + first * EDGE_ROW;
  float *const to[2] = { duty.part == 0 ? row : NULL,
    duty.part == 1 ? row : NULL };
  float x[N][2][LWT_FAR_K], piece[N / 2][2];
  gint y[N];

#pragma unroll
  for (gint i = 0; i < N; i++) {
    /* any row, where there is none */
    y[i] = min (2 * task.y.start[duty.edge] + first + i, task.y.n - 1);
    rows.load (x[i], y[i]);
  }
  if (KIND == LWT_FAR_SIDE)
    rows.template load_piece<N> (piece, strip.which, y);
  rows.template put<N> (x, piece, y, to, EDGE_ROW, LwtFarNothing ());
  __syncthreads ();
  lwt_far_lift_tile<typename Far::Order> (
      tile, EDGE_ROW, LWT_FAR_STRIP, neighbours, task);
  __syncthreads ();
  put_edge<Shape, LOW> (task, strip, duty, tile);
}

/* Of a picture that ends. */
template <class Shape, bool LOW, LwtFarKind KIND>
__device__ __forceinline__ void
run (const LwtFarTask &task, const LwtFarStrip &strip, const LwtFarDuty &duty,
    const guint8 *tables)
{
  if (duty.edge >= 0)
    run_edge<Shape, LOW, KIND> (task, strip, duty, tables);
  else
    march<Shape, LOW, KIND> (task, strip, duty, tables);
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
  if (strip.kind == LWT_FAR_PERIOD)
    march<Shape, LOW, LWT_FAR_PERIOD> (task, strip, duty, tables);
  else if (strip.kind == LWT_FAR_SIDE)
    run<Shape, LOW, LWT_FAR_SIDE> (task, strip, duty, tables);
  else
    run<Shape, LOW, LWT_FAR_INNER> (task, strip, duty, tables);
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
