/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A level back, of wavelets whose steps drift apart, from all bands or from the
 * low one alone: columns, then rows, in one pass over memory
 * (lwtfar_cuda.cuh). */
#include "lwtfar_cuda.cuh"

namespace {

/* Floats of a row at an edge; what is added keeps lanes, a row of pairs each, out
 * of one bank */
#define EDGE_ROW (LWT_FAR_ROW + 4)

#define SHARED                                                                 \
  ((LWT_FAR_TABLES + MAX (2 * LWT_FAR_TURN, 2 * LWT_FAR_PIECE * EDGE_ROW))     \
      * sizeof (float))

/* Whether what the piece at the end gives has the last whole pair. */
template <class Order>
constexpr bool
gives_last_pair ()
{
  const LwtWindows w = lwt_windows<Order> ();
  bool result = true;

  for (int kind = 0; kind < 2; kind++)
    result = result && (w.high[kind][0] > 0 || w.high[kind][1] > 0);
  return result;
}

/* Rows out of shared memory into the picture. */
template <class Shape, bool LOW, LwtFarKind KIND> struct Rows {
  using Far = LwtFar<Shape, true>;
  static constexpr bool SIDE = KIND == LWT_FAR_SIDE;

  static_assert (gives_last_pair<typename Far::Order> (),
      "pairs that a lane does not write two by two");

  const LwtFarTask &task;
  const LwtFarStrip &strip;
  const guint8 *tables;
  gint lane;
  gint from, to; /* pairs of the picture that the strip gives */

  __device__ __forceinline__
  Rows (const LwtFarTask &task, const LwtFarStrip &strip, const guint8 *tables)
      : task (task), strip (strip), tables (tables), lane (threadIdx.x & 31),
        from (max (strip.start + strip.from, 0)),
        to (min (strip.start + strip.to, task.x.n / 2))
  {
  }

  __device__ __forceinline__ float *
  row (gint y) const
  {
    return (float *) ((guint8 *) task.picture.data
                      + (gsize) y * task.picture.stride);
  }

  /* Writes the lane's pairs of row @y, -1: not wanted; also those that pieces are
   * to give. */
  __device__ __forceinline__ void
  write (const float x[2][LWT_FAR_K], gint y) const
  {
    const gint k = strip.start + lane * LWT_FAR_K;

    if (y < 0)
      return;
#pragma unroll
    for (gint i = 0; i < LWT_FAR_K; i += 2) {
      const bool first = k + i >= from && k + i < to;
      const bool second = k + i + 1 >= from && k + i + 1 < to;
      float *const at = row (y) + 2 * (k + i);

      if (first && second)
        *(float4 *) at =
            make_float4 (x[0][i], x[1][i], x[0][i + 1], x[1][i + 1]);
      else if (KIND == LWT_FAR_PERIOD && first)
        *(float2 *) at = make_float2 (x[0][i], x[1][i]);
      else if (KIND == LWT_FAR_PERIOD && second)
        *(float2 *) (at + 2) = make_float2 (x[0][i + 1], x[1][i + 1]);
    }
  }

  /* The lane's pair of piece @which of N rows, the halves of the warp having
   * every other one. */
  template <int N>
  __device__ __forceinline__ void
  load_piece (
      float x[N / 2][2], const float *rows, gint pitch, gint which) const
  {
    const gint k = task.x.start[which] + lane % LWT_FAR_PIECE;

#pragma unroll
    for (gint kind = 0; kind < 2; kind++) {
      const gint p = k - strip.start - Far::offset (kind);
      const gint at =
          kind * LWT_FAR_STRIP + min (max (p, 0), LWT_FAR_STRIP - 1);

#pragma unroll
      for (gint i = 0; i < N / 2; i++)
        x[i][kind] = LOW && kind
                         ? 0.0f
                         : rows[(2 * i + lane / LWT_FAR_PIECE) * pitch + at]
                               * task.scale[kind];
    }
  }

  __device__ __forceinline__ LwtFarNeighbours
  neighbours (gint which) const
  {
    return lwt_far_neighbours (tables + which * LWT_FAR_TABLE * sizeof (float));
  }

  /* Writes what a piece gives over what is there. */
  template <int N>
  __device__ __forceinline__ void
  write_piece (const float x[N / 2][2], gint which, const gint y[N]) const
  {
    const gint k = task.x.start[which] + lane % LWT_FAR_PIECE;

    __syncwarp ();
#pragma unroll
    for (gint odd = 0; odd < 2; odd++)
      if (lwt_far_gives (task.x, which, odd, k))
#pragma unroll
        for (gint i = 0; i < N / 2; i++) {
          const gint mine = lane < LWT_FAR_PIECE ? y[2 * i] : y[2 * i + 1];

          if (mine >= 0)
            row (mine)[2 * k + odd] = x[i][odd];
        }
  }

  /* N rows of entries, @rows, @pitch floats apart, become rows @y of the
   * picture. */
  template <int N, class Meanwhile>
  __device__ __forceinline__ void
  put (const float *rows, gint pitch, const gint y[N],
      const Meanwhile &meanwhile) const
  {
    LwtFarNeighbours of_piece = {};
    float x[N][2][LWT_FAR_K], piece[N / 2][2];

    if (SIDE) {
      of_piece = neighbours (strip.which);
      load_piece<N> (piece, rows, pitch, strip.which);
    }
#pragma unroll
    for (gint i = 0; i < N; i++)
#pragma unroll
      for (gint kind = 0; kind < 2; kind++) {
        const float scale = task.scale[kind];
        float4 v = make_float4 (0.0f, 0.0f, 0.0f, 0.0f);

        if (!LOW || kind == 0) {
          v = *(const float4 *) (rows + i * pitch + kind * LWT_FAR_STRIP
                                 + lane * LWT_FAR_K);
          v = make_float4 (v.x * scale, v.y * scale, v.z * scale, v.w * scale);
        }
        x[i][kind][0] = v.x;
        x[i][kind][1] = v.y;
        x[i][kind][2] = v.z;
        x[i][kind][3] = v.w;
      }
    lwt_far_lift_rows<Shape, true, N> (x, task, [&] (auto step) {
      meanwhile (step);
      if (SIDE)
        lwt_far_step_piece<typename Far::Order, N / 2, decltype (step)::value> (
            piece, of_piece, task);
    });
#pragma unroll
    for (gint i = 0; i < N; i++)
      write (x[i], y[i]);
    if (SIDE && strip.any)
      write_piece<N> (piece, strip.which, y);
    if (SIDE && strip.piece[0] && strip.piece[1]) {
      load_piece<N> (piece, rows, pitch, 1);
      lwt_far_lift_piece<typename Far::Order, N / 2> (
          piece, neighbours (1), task);
      write_piece<N> (piece, 1, y);
    }
  }
};

/* Entry of position @p of the bands of @kind along x; where there is none, any. */
template <class Shape, bool REPEATS>
__device__ __forceinline__ gint
find_column (
    const LwtFarTask &task, const LwtFarStrip &strip, gint kind, gint p)
{
  using Far = LwtFar<Shape, true>;
  const gint k = strip.start + p + (kind ? Far::offset (1) : Far::offset (0));
  const gint count = lwt_count (task.x.n, kind);

  return REPEATS ? lwt_entry (lwt_modulo (k, count), task.shift[kind], count)
                 : min (max (k, 0), count - 1);
}

template <class Shape, bool LOW, LwtFarKind KIND>
__device__ __forceinline__ void
march (const LwtFarTask &task, const LwtFarStrip &strip, const LwtFarDuty &duty,
    const guint8 *tables)
{
  using Far = LwtFar<Shape, true>;
  constexpr LwtFlow FLOW = Far::flow ();
  constexpr bool PERIOD = KIND == LWT_FAR_PERIOD;
  const Rows<Shape, LOW, KIND> rows (task, strip, tables);
  const gint warp = threadIdx.x / 32, kind = threadIdx.x / LWT_FAR_STRIP;
  const gint column = find_column<Shape, PERIOD> (
      task, strip, kind, threadIdx.x & (LWT_FAR_STRIP - 1));
  const bool reads = !LOW || kind == 0;
  float *turn = (float *) LWT_SHARED + LWT_FAR_TABLES;
  float *next = turn + LWT_FAR_TURN;
  LwtFarColumn<Shape, true> lifted;
  LwtFarEntry in[2];
  float ahead[LWT_FAR_PAIRS][2] = {};
  gint t = duty.from - FLOW.warm;

  lifted.clear ();
#pragma unroll
  for (gint odd = 0; odd < 2; odd++)
    in[odd] = lwt_far_entry<PERIOD> (task.bands[LOW ? 0 : odd][LOW ? 0 : kind],
        column, t - FLOW.in[odd], task.shift[odd], lwt_count (task.y.n, odd));

  /* pair @pair, the next one, as the @i-th of a turn */
  auto fetch = [&] (gint i, gint pair) {
#pragma unroll
    for (gint odd = 0; odd < (LOW ? 1 : 2); odd++) {
      if (reads && pair < duty.to)
        ahead[i][odd] = *(const float *) in[odd].at;
      lwt_far_next<PERIOD> (in[odd]);
    }
  };
  auto row_of = [&] (gint pair) {
    return 2 * (PERIOD ? lwt_modulo (pair, task.y.pairs) : pair);
  };
  /* pair @i of the turn that begins with @from, as it was fetched; that of the
   * next turn comes meanwhile */
  auto lift_column = [&] (float *to, gint from, gint i) {
    float x[2] = { ahead[i][0] * task.scale[0],
      LOW ? 0.0f : ahead[i][1] * task.scale[1] };

    fetch (i, from + LWT_FAR_PAIRS + i);
    if (!reads)
      return;
    lifted.lift (x, task);
    to[2 * i * LWT_FAR_ROW + threadIdx.x] = x[0];
    to[(2 * i + 1) * LWT_FAR_ROW + threadIdx.x] = x[1];
  };
  auto put_rows = [&] (const auto &meanwhile) {
    const gint now = t + warp;
    const bool wanted = now >= duty.from && now < duty.to;
    const gint y[2] = { wanted ? row_of (now - FLOW.out[0]) : -1,
      wanted ? row_of (now - FLOW.out[1]) + 1 : -1 };

    rows.template put<2> (
        turn + 2 * warp * LWT_FAR_ROW, LWT_FAR_ROW, y, meanwhile);
  };

#pragma unroll
  for (gint i = 0; i < LWT_FAR_PAIRS; i++)
    fetch (i, t + i);
#pragma unroll
  for (gint i = 0; i < LWT_FAR_PAIRS; i++)
    lift_column (turn, t, i);
  __syncthreads ();
  for (; t + LWT_FAR_PAIRS < duty.to; t += LWT_FAR_PAIRS) {
    float *const swap = turn;

    put_rows ([&] (auto step) {
      constexpr int I = decltype (step)::value, N = Far::Order::n;

#pragma unroll
      for (int i = I * LWT_FAR_PAIRS / N; i < (I + 1) * LWT_FAR_PAIRS / N; i++)
        lift_column (next, t + LWT_FAR_PAIRS, i);
    });
    __syncthreads ();
    turn = next;
    next = swap;
  }
  put_rows (LwtFarNothing ());
}

/* Loads all columns of a piece of rows at an edge, a column a thread, by kinds; there
 * is an edge: no period, so no shift either. */
template <class Shape, bool LOW>
__device__ __forceinline__ void
load_edge (
    const LwtFarTask &task, const LwtFarStrip &strip, gint start, float *tile)
{
  const gint kind = threadIdx.x / LWT_FAR_STRIP;
  const gint column = find_column<Shape, false> (
      task, strip, kind, threadIdx.x & (LWT_FAR_STRIP - 1));
  float values[LWT_FAR_PIECE][2];

  if (LOW && kind != 0)
    return;
#pragma unroll
  for (gint odd = 0; odd < 2; odd++) {
    const LwtBand &band = task.bands[LOW ? 0 : odd][LOW ? 0 : kind];
    const float *from = lwt_band_at<float> (band, column, start);
    const gint there = lwt_count (task.y.n, odd) - start;

#pragma unroll
    for (gint i = 0; i < LWT_FAR_PIECE; i++) {
      values[i][odd] = i < there && !(LOW && odd) ? *from : 0.0f;
      from = (const float *) ((const guint8 *) from + band.pitch);
    }
  }
#pragma unroll
  for (gint i = 0; i < 2 * LWT_FAR_PIECE; i++)
    tile[i * EDGE_ROW + threadIdx.x] = values[i / 2][i % 2] * task.scale[i % 2];
}

/* What depends on the upper or lower edge. */
template <class Shape, bool LOW, LwtFarKind KIND>
__device__ __forceinline__ void
run_edge (const LwtFarTask &task, const LwtFarStrip &strip,
    const LwtFarDuty &duty, const guint8 *tables)
{
  using Far = LwtFar<Shape, true>;
  constexpr gint N = LWT_FAR_EDGE_ROWS;
  const Rows<Shape, LOW, KIND> rows (task, strip, tables);
  const LwtFarNeighbours neighbours =
      lwt_far_neighbours (tables + 2 * LWT_FAR_TABLE * sizeof (float));
  const gint first = threadIdx.x / 32 * N, start = task.y.start[duty.edge];
  float *const tile = (float *) LWT_SHARED + LWT_FAR_TABLES;
  gint y[N];

  load_edge<Shape, LOW> (task, strip, start, tile);
  __syncthreads ();
  lwt_far_lift_tile<typename Far::Order> (
      tile, EDGE_ROW, LOW ? LWT_FAR_STRIP : LWT_FAR_ROW, neighbours, task);
  __syncthreads ();
#pragma unroll
  for (gint i = 0; i < N; i++) {
    const gint k = start + (first + i) / 2;

    y[i] = lwt_far_gives (task.y, duty.edge, i % 2, k) ? 2 * k + i % 2 : -1;
  }
  rows.template put<N> (tile + first * EDGE_ROW, EDGE_ROW, y, LwtFarNothing ());
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
    far_inverse_kernel (LWT_PARAMETER (LwtFarTask, task))
{
  const LwtFarDuty duty = lwt_far_duty (task, 1);
  const LwtFarStrip strip = lwt_far_strip<Shape, true> (task, duty.strip);
  const guint8 *tables = lwt_far_tables (task, strip, duty);

  lwt_wait_alone ();
  if (task.small)
    lwt_let_next_begin ();
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
inverse (const LwtTransform *transform, const LwtLevelTask *level,
    cudaStream_t stream, GError **error)
{
  const LwtFarFacts facts = lwt_far_facts<Shape, true> ();
  const gboolean low = level->bands[0][1].data == NULL;
  LwtFarTask task;
  guint blocks;

  blocks = lwt_far_cut (&task, transform, level, &facts, 1);
  return lwt_far_launch (
      low ? far_inverse_kernel<Shape, true> : far_inverse_kernel<Shape, false>,
      "the far_inverse_kernel", blocks, SHARED, stream, task, error);
}

} // namespace

gboolean
lwt_far_inverse (const LwtTransform *transform, const LwtLevelTask *task,
    cudaStream_t stream, GError **error)
{
  return LWT_BY_FAR_SHAPE (
      transform->kernels, inverse, transform, task, stream, error);
}
