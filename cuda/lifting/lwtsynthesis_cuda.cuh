/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Marching back (lwtmarch_cuda.cuh): columns, then rows, of all bands of a
 * picture, or of the low bands of up to three pictures at once. A sink takes the
 * rows:
 *
 *   struct Sink {
 *     static constexpr int copies;  rows that it wants copied ahead, of
 *                                   task.march.picture: 0 or 1 a row
 *     template <bool EDGE>
 *     void put (gint y, const float x[E][2][LWT_K], const float *copy);
 *   }; */
#pragma once

#include "lwtmarch_cuda.cuh"

#include <string.h>

/* @low: of as many pictures as are made; bands[0][0] for one */
typedef struct {
  LwtMarchTask march;
  LwtPicture low[3];
} LwtSynthesisTask;

/* Floats of a pair of rows on its way: of E pictures, with what the sink
 * copies. */
static __host__ __device__ constexpr gint
lwt_synthesis_pair (gint pictures, bool low, gint copies)
{
  return LWT_STRIP * (low ? pictures : 4) + copies * 4 * LWT_STRIP;
}

/* Floats of a row of all pictures at an edge */
static __host__ __device__ constexpr gint
lwt_synthesis_row (gint pictures, bool low)
{
  return LWT_STRIP * (low ? pictures : 2);
}

/* Where the lane's entries of low and high bands lie in a row. */
typedef struct {
  gint at[2][LWT_K];
  bool by_two[2];
} LwtEntries;

template <bool EDGE>
static __device__ __forceinline__ LwtEntries
lwt_entries (const LwtMarchTask &task, const LwtStrip &strip)
{
  LwtEntries entries;

#pragma unroll
  for (gint kind = 0; kind < 2; kind++) {
    const gint count = lwt_count (task.width, kind);

    entries.by_two[kind] = task.vector[kind] && !EDGE;
#pragma unroll
    for (gint i = 0; i < LWT_K; i++) {
      gint k = strip.pair + i;

      if (EDGE)
        k = task.boundary == LWT_BOUNDARY_PERIODIC
                ? lwt_modulo (k, lwt_count (task.width, 0))
                : max (k, 0);
      entries.at[kind][i] =
          lwt_entry (min (k, count - 1), task.shift[kind], count);
    }
  }
  return entries;
}

/* Starts copying the lane's entries of row @y of the low or high bands along
 * y: low ones along x to @to, and high ones behind LWT_STRIP; or low ones of all
 * E pictures. */
template <int E, bool LOW>
static __device__ __forceinline__ void
lwt_load_entries (const LwtSynthesisTask &task, const LwtEntries &entries,
    gint odd, gint y, float *to, gint pitch)
{
  const LwtMarchTask &march = task.march;

#pragma unroll
  for (gint i = 0; i < (LOW ? E : 2); i++) {
    const gint kind = LOW ? 0 : i;
    const float *row = LOW ? (const float *) ((const guint8 *) task.low[i].data
                                              + (gsize) y * task.low[i].stride)
                           : lwt_band_at<float> (march.bands[odd][kind], 0, y);

    const gsize step = LOW ? 1 : march.bands[odd][kind].step;

    if (entries.by_two[kind]) {
#pragma unroll
      for (gint c = 0; c < LWT_K; c += 2)
        lwt_copy_ahead<8> (to + i * pitch + c, row + entries.at[kind][c]);
    } else {
#pragma unroll
      for (gint c = 0; c < LWT_K; c++)
        lwt_copy_ahead<4> (
            to + i * pitch + c, row + entries.at[kind][c] * step);
    }
  }
}

/* Starts copying row @y of the picture, if it is there and wanted. */
template <bool EDGE>
static __device__ __forceinline__ void
lwt_load_picture (const LwtMarchTask &task, const LwtStrip &strip, gint y,
    const LwtSides &sides, float *to)
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

/* A row out of the columns' samples, @values low entries and high ones. */
template <class Order, bool LOW, bool EDGE>
static __device__ __forceinline__ void
lwt_join_row (float x[2][LWT_K], const float *values, const LwtMarchTask &task,
    const LwtSides &sides)
{
#pragma unroll
  for (gint i = 0; i < LWT_K; i++) {
    x[0][i] = values[i] * task.scale[0];
    x[1][i] = LOW ? 0.0f : values[LWT_K + i] * task.scale[1];
  }
  lwt_lift_row<Order, EDGE> (x, task, sides);
}

template <class Shape, int E, bool LOW, bool EDGE, class Sink>
static __device__ __forceinline__ void
lwt_synthesise_segment (const LwtSynthesisTask &task, const LwtStrip &strip,
    const LwtDuty &duty, Sink &sink)
{
  using Order = LwtOrder<Shape, true>;
  using March = LwtMarch<Order>;
  constexpr int C = LOW ? LWT_K : 2 * LWT_K;
  constexpr int TURN = EDGE || Shape::n > 8 ? 1 : LWT_UNROLL;
  constexpr int PAIR = lwt_synthesis_pair (E, LOW, Sink::copies);
  constexpr int COPY = lwt_synthesis_pair (E, LOW, 0); /* where they begin */
  const LwtMarchTask &march = task.march;
  float *ring = (float *) LWT_SHARED + threadIdx.x / 32 * (LWT_AHEAD * PAIR);
  const gint end = duty.to + March::out;
  const LwtEntries entries = lwt_entries<EDGE> (march, strip);
  gint next = duty.from - March::left;
  gint next_y[2];
  LwtWindow<Order, C> windows[E];
  LwtSides sides;

  if (EDGE)
    sides = lwt_sides (march, strip);
#pragma unroll
  for (gint e = 0; e < E; e++)
    windows[e].clear ();
#pragma unroll
  for (gint odd = 0; odd < 2; odd++)
    next_y[odd] =
        lwt_entry (next, march.shift[odd], lwt_count (march.height, odd));

  /* a pair of rows, and those of the picture that are done when it is there */
  auto load = [&] () {
    float *to = ring + (next & (LWT_AHEAD - 1)) * PAIR;

    if (next < end) {
#pragma unroll
      for (gint odd = 0; odd < (LOW ? 1 : 2); odd++)
        lwt_load_entries<E, LOW> (task, entries, odd, next_y[odd],
            to + odd * 2 * LWT_STRIP + strip.lane * LWT_K, LWT_STRIP);
      if (Sink::copies > 0) {
        const gint rows[2] = { 2 * (next - March::low_out),
          2 * (next - March::high_out) + 1 };

#pragma unroll
        for (gint odd = 0; odd < 2; odd++)
          if (rows[odd] >= 2 * duty.from && rows[odd] < 2 * duty.to)
            lwt_load_picture<EDGE> (march, strip, rows[odd], sides,
                to + COPY + odd * 2 * LWT_STRIP + strip.lane * 2 * LWT_K);
      }
    }
    lwt_copies_end ();
#pragma unroll
    for (gint odd = 0; odd < 2; odd++)
      lwt_next (next_y[odd], 1, lwt_count (march.height, odd));
    next++;
  };

  for (gint i = 0; i < LWT_AHEAD - 1; i++)
    load ();
#pragma unroll TURN
  for (gint t = duty.from - March::left; t < end; t++) {
    const float *pair = ring + (t & (LWT_AHEAD - 1)) * PAIR;
    const float *values = pair + strip.lane * LWT_K;
    const float *copy = pair + COPY + strip.lane * 2 * LWT_K;
    const gint low = t - March::low_out, high = t - March::high_out;
    float x[E][2][LWT_K];

    load ();
    lwt_copies_wait<LWT_AHEAD - 1> ();
#pragma unroll
    for (gint e = 0; e < E; e++) {
      windows[e].advance ();
#pragma unroll
      for (gint c = 0; c < C; c++) {
        const float *v = values + (LOW ? e : c / LWT_K) * LWT_STRIP;

        windows[e].low[0][c] = v[c % LWT_K] * march.scale[0];
        windows[e].high[0][c] =
            LOW ? 0.0f : v[2 * LWT_STRIP + c % LWT_K] * march.scale[1];
      }
      lwt_lift_columns (windows[e], march);
    }
    if (low >= duty.from && low < duty.to) {
#pragma unroll
      for (gint e = 0; e < E; e++)
        lwt_join_row<Order, LOW, EDGE> (
            x[e], windows[e].low[March::low_out], march, sides);
      sink.template put<EDGE> (2 * low, x, copy);
    }
    if (high >= duty.from && high < duty.to) {
#pragma unroll
      for (gint e = 0; e < E; e++)
        lwt_join_row<Order, LOW, EDGE> (
            x[e], windows[e].high[March::high_out], march, sides);
      sink.template put<EDGE> (2 * high + 1, x, copy + 2 * LWT_STRIP);
    }
  }
}

/* What depends on the upper or lower edge, by a thread block. */
template <class Shape, int E, bool LOW, bool EDGE, class Sink>
static __device__ __forceinline__ void
lwt_synthesise_edge (const LwtSynthesisTask &task, const LwtStrip &strip,
    const LwtDuty &duty, Sink &sink)
{
  using Order = LwtOrder<Shape, true>;
  constexpr int C = LOW ? LWT_K : 2 * LWT_K;
  constexpr int PARTS = LOW ? E : 2; /* of a row, LWT_STRIP each */
  constexpr int ROW = PARTS * LWT_STRIP;
  const LwtMarchTask &march = task.march;
  const gint start = march.edge_start[duty.edge];
  const gint pairs = march.edge_pairs[duty.edge], warp = threadIdx.x / 32;
  const LwtEntries entries = lwt_entries<EDGE> (march, strip);
  LwtSides sides;
  float *tile = (float *) LWT_SHARED;
  float *lane = tile + strip.lane * LWT_K;

  if (EDGE)
    sides = lwt_sides (march, strip);
  for (gint i = warp; i < 2 * pairs; i += LWT_WARPS) {
    const gint k = lwt_modulo (start + i / 2, lwt_count (march.height, 0));

    if (2 * k + (i & 1) < march.height && !(LOW && (i & 1)))
      lwt_load_entries<E, LOW> (task, entries, i & 1,
          lwt_entry (k, march.shift[i & 1], lwt_count (march.height, i & 1)),
          lane + i * ROW, LWT_STRIP);
    else
      for (gint c = 0; c < PARTS * LWT_K; c++)
        lane[i * ROW + c / LWT_K * LWT_STRIP + c % LWT_K] = 0.0f;
  }
  lwt_copies_end ();
  lwt_copies_wait<0> ();
  __syncthreads ();
  for (gint c = threadIdx.x; c < ROW; c += LWT_MARCH_THREADS) {
    for (gint i = 0; i < 2 * pairs; i += LOW ? 2 : 1)
      tile[i * ROW + c] *= march.scale[i & 1];
    lwt_lift_edge<Order> (tile + c, ROW, start, pairs, march);
  }
  __syncthreads ();
  for (gint y = 2 * duty.from + warp; y < min (2 * duty.to, march.height);
       y += LWT_WARPS) {
    const float *row = lane + (y - 2 * start) * ROW;
    float x[E][2][LWT_K], copy[2 * LWT_K];

#pragma unroll
    for (gint e = 0; e < E; e++) {
      float values[C];

#pragma unroll
      for (gint c = 0; c < C; c++)
        values[c] = row[(LOW ? e : c / LWT_K) * LWT_STRIP + c % LWT_K];
      lwt_join_row<Order, LOW, EDGE> (x[e], values, march, sides);
    }
    if (Sink::copies > 0) {
      const float *from = (const float *) ((const guint8 *) march.picture.data
                                           + (gsize) y * march.picture.stride);

#pragma unroll
      for (gint i = 0; i < 2 * LWT_K; i++)
        copy[i] = from[EDGE ? sides.column[i] : 2 * strip.pair + i];
    }
    sink.template put<EDGE> (y, x, copy);
  }
}

/* What the thread block or warp is there for. */
template <class Shape, int E, bool LOW, class Sink>
static __device__ __forceinline__ void
lwt_synthesise (const LwtSynthesisTask &task, const LwtStrip &strip,
    const LwtDuty &duty, Sink &sink)
{
  if (duty.edge >= 0 && strip.edge)
    lwt_synthesise_edge<Shape, E, LOW, true> (task, strip, duty, sink);
  else if (duty.edge >= 0)
    lwt_synthesise_edge<Shape, E, LOW, false> (task, strip, duty, sink);
  else if (duty.from >= duty.to)
    return;
  else if (strip.edge)
    lwt_synthesise_segment<Shape, E, LOW, true> (task, strip, duty, sink);
  else
    lwt_synthesise_segment<Shape, E, LOW, false> (task, strip, duty, sink);
}
