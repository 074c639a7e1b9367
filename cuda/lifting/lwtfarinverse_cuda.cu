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

/* Rows out of shared memory into the picture. */
template <class Shape, bool LOW, bool SIDE> struct Rows {
  using Far = LwtFar<Shape, true>;

  const LwtFarTask &task;
  const LwtFarStrip &strip;
  const guint8 *tables;
  gint lane;
  /* SIDE: the pair that the strip gives a sample of first, but for pieces, and of
   * how many; whether it gives all of the lane's */
  gint first[2];
  guint number[2];
  bool whole;

  __device__ __forceinline__
  Rows (const LwtFarTask &task, const LwtFarStrip &strip, const guint8 *tables)
      : task (task), strip (strip), tables (tables), lane (threadIdx.x & 31),
        whole (true)
  {
    const gint k = strip.start + lane * LWT_FAR_K;

#pragma unroll
    for (gint odd = 0; odd < 2; odd++) {
      const gint end = min (strip.start + strip.to, task.x.from[odd]);

      first[odd] = max (strip.start + strip.from, task.x.to[odd]);
      number[odd] = (guint) max (end - first[odd], 0);
      whole = whole && k >= first[odd] && k + LWT_FAR_K <= end;
    }
  }

  __device__ __forceinline__ float *
  row (gint y) const
  {
    return (float *) ((guint8 *) task.picture.data
                      + (gsize) y * task.picture.stride);
  }

  /* Writes the lane's pairs, but for those of pieces; @y: -1: not wanted. */
  __device__ __forceinline__ void
  write (const float x[2][LWT_FAR_K], gint y) const
  {
    const gint p = lane * LWT_FAR_K, k = strip.start + p;

    if (y < 0)
      return;
#pragma unroll
    for (gint i = 0; i < LWT_FAR_K; i += 2)
      if (SIDE ? whole : p + i >= strip.from && p + i < strip.to)
        *(float4 *) (row (y) + 2 * (k + i)) =
            make_float4 (x[0][i], x[1][i], x[0][i + 1], x[1][i + 1]);
#pragma unroll
    for (gint i = 0; SIDE && i < 2 * LWT_FAR_K; i++)
      if (!whole && (guint) (k + i / 2 - first[i & 1]) < number[i & 1])
        row (y)[2 * k + i] = x[i & 1][i / 2];
  }

  /* Lifts and writes piece @which of two rows, one a half of the warp: @rows,
   * @pitch floats apart. */
  __device__ __forceinline__ void
  put_piece (const float *rows, gint pitch, const gint y[2], gint which) const
  {
    const LwtFarNeighbours neighbours =
        lwt_far_neighbours (tables + which * LWT_FAR_TABLE * sizeof (float));
    const gint k = task.x.start[which] + lane % LWT_FAR_PIECE;
    const gint half = lane / LWT_FAR_PIECE, mine = half ? y[1] : y[0];
    float x[1][2];

#pragma unroll
    for (gint kind = 0; kind < 2; kind++) {
      const gint p = k - strip.start - Far::offset (kind);
      const gint at = min (max (p, 0), LWT_FAR_STRIP - 1);

      x[0][kind] = LOW && kind ? 0.0f
                               : rows[half * pitch + kind * LWT_FAR_STRIP + at]
                                     * task.scale[kind];
    }
    lwt_far_lift_piece<typename Far::Order, 1> (x, neighbours, task);
#pragma unroll
    for (gint odd = 0; odd < 2; odd++)
      if (mine >= 0 && lwt_far_gives (task.x, which, odd, k))
        row (mine)[2 * k + odd] = x[0][odd];
  }

  /* Two rows of entries, @rows, @pitch floats apart, become rows @y of the
   * picture. */
  template <class Meanwhile>
  __device__ __forceinline__ void
  put (const float *rows, gint pitch, const gint y[2],
      const Meanwhile &meanwhile) const
  {
    float x[2][2][LWT_FAR_K];

#pragma unroll
    for (gint i = 0; i < 2; i++)
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
    lwt_far_lift_rows<Shape, true, 2> (x, task, meanwhile);
#pragma unroll
    for (gint i = 0; i < 2; i++)
      write (x[i], y[i]);
#pragma unroll
    for (gint which = 0; SIDE && which < 2; which++)
      if (strip.piece[which])
        put_piece (rows, pitch, y, which);
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

  return REPEATS && task.x.pieces == 0
             ? lwt_entry (lwt_modulo (k, count), task.shift[kind], count)
             : min (max (k, 0), count - 1);
}

template <class Shape, bool LOW, bool SIDE>
__device__ __forceinline__ void
march (const LwtFarTask &task, const LwtFarStrip &strip, const LwtFarDuty &duty,
    const guint8 *tables)
{
  using Far = LwtFar<Shape, true>;
  constexpr LwtFlow FLOW = Far::flow ();
  const Rows<Shape, LOW, SIDE> rows (task, strip, tables);
  const gint warp = threadIdx.x / 32, kind = threadIdx.x / LWT_FAR_STRIP;
  const gint column = find_column<Shape, SIDE> (
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
    in[odd] = lwt_far_entry<SIDE> (task.bands[LOW ? 0 : odd][LOW ? 0 : kind],
        column, t - FLOW.in[odd], task.shift[odd], lwt_count (task.y.n, odd));

  /* pair @pair, the next one, as the @i-th of a turn */
  auto fetch = [&] (gint i, gint pair) {
#pragma unroll
    for (gint odd = 0; odd < (LOW ? 1 : 2); odd++) {
      if (reads && pair < duty.to)
        ahead[i][odd] = *(const float *) in[odd].at;
      lwt_far_next<SIDE> (in[odd]);
    }
  };
  auto row_of = [&] (gint pair) {
    return 2
           * (SIDE && task.y.pieces == 0 ? lwt_modulo (pair, task.y.pairs)
                                         : pair);
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

    rows.put (turn + 2 * warp * LWT_FAR_ROW, LWT_FAR_ROW, y, meanwhile);
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

/* What depends on the upper or lower edge. */
template <class Shape, bool LOW, bool SIDE>
__device__ __forceinline__ void
run_edge (const LwtFarTask &task, const LwtFarStrip &strip,
    const LwtFarDuty &duty, const guint8 *tables)
{
  using Far = LwtFar<Shape, true>;
  constexpr gint COLUMNS = LOW ? LWT_FAR_STRIP : LWT_FAR_ROW;
  const Rows<Shape, LOW, SIDE> rows (task, strip, tables);
  const LwtFarNeighbours neighbours =
      lwt_far_neighbours (tables + 2 * LWT_FAR_TABLE * sizeof (float));
  const gint warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  const gint start = task.y.start[duty.edge];
  const gint pairs = min (task.y.pairs, LWT_FAR_PIECE);
  float *tile = (float *) LWT_SHARED + LWT_FAR_TABLES;

  if (threadIdx.x < COLUMNS) {
    const gint kind = threadIdx.x / LWT_FAR_STRIP;
    const gint column = find_column<Shape, false> (
        task, strip, kind, threadIdx.x & (LWT_FAR_STRIP - 1));

    /* there is an edge: no period, so no shift either */
#pragma unroll
    for (gint odd = 0; odd < 2; odd++) {
      const LwtBand &band = task.bands[LOW ? 0 : odd][LOW ? 0 : kind];
      const float *from = lwt_band_at<float> (band, column, start);
      const gint there = lwt_count (task.y.n, odd) - start;

#pragma unroll 8
      for (gint i = 0; i < pairs; i++) {
        float value = 0.0f;

        if (i < there && !(LOW && odd))
          value = *(const float *) ((const guint8 *) from + i * band.pitch)
                  * task.scale[odd];
        tile[(2 * i + odd) * EDGE_ROW + threadIdx.x] = value;
      }
    }
  }
  __syncthreads ();
  for (gint c = 8 * warp; c < COLUMNS; c += 8 * LWT_FAR_WARPS) {
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
  for (gint i = warp; i < pairs; i += LWT_FAR_WARPS) {
    gint y[2];

#pragma unroll
    for (gint odd = 0; odd < 2; odd++)
      y[odd] = lwt_far_gives (task.y, duty.edge, odd, start + i)
                   ? 2 * (start + i) + odd
                   : -1;
    if (y[0] >= 0 || y[1] >= 0)
      rows.put (tile + 2 * i * EDGE_ROW, EDGE_ROW, y, LwtFarNothing ());
  }
}

template <class Shape, bool LOW>
__global__ void
__launch_bounds__ (LWT_FAR_THREADS, LWT_FAR_BLOCKS)
    far_inverse_kernel (LWT_PARAMETER (LwtFarTask, task))
{
  const LwtFarDuty duty = lwt_far_duty (task, 1);
  const LwtFarStrip strip = lwt_far_strip<Shape, true> (task, duty.strip);
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
