/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Two levels forward in one pass over memory, for wavelets whose steps look no
 * further than the next pair (haar, 5/3, 9/7, db2 and others).
 *
 * A warp has a strip of 64 pairs of columns and slides down a segment of it. In a
 * turn it takes four rows: two pairs of rows of the first level, whose low rows are
 * a pair of the second one.
 *
 *   samples -> each row lifted -> columns of the first level -> its high bands
 *        its low rows -> each lifted -> columns of the second level -> its bands
 *
 * A lane has two pairs of a row of the first level and one of the second; neighbours
 * in other lanes come by shuffles. Along y a lane keeps in registers the last rows of
 * its columns (LwtRun), partly lifted: position 0 is the newest pair, and each step
 * changes the position that all its neighbours have come for
 * (cuda/lifting/cuda/tileplan.c). There is no barrier: a lane copies what it needs
 * into shared memory itself, some turns ahead. Strips and segments overlap by what
 * their outputs depend on. */
#pragma once

#include "cuda/lifting/cuda/tile.cuh"

/* Ends a group of copies to shared memory and waits for all groups but the last
 * @LATER. */
template <int LATER>
static __device__ __forceinline__ void
lwt_window_wait (void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\n\t"
               "cp.async.wait_group %0;" ::"n"(LATER)
               : "memory");
#endif
}

/* Whether a step looks at the next pair: the one before it of an even sample, the one
 * behind it of an odd one. */
LWT_TILE_BOTH bool
lwt_window_looks_out (LwtTileStep step)
{
  return step.odd ? step.first + step.n > 1 : step.first < 0;
}

/* All steps from I on along N rows, x[row][kind][pair of the lane]. SIDES: the lane may
 * have the @first or @last pair of the rows. */
template <typename T, class Tile, bool SIDES, int N, int K, int I = 0>
static __device__ __forceinline__ void
lwt_window_lift_rows (T (&x)[N][2][K], const LwtTileParameters<T> &parameters,
    bool first, bool last)
{
  LWT_IF_KNOWN (I < Tile::plan.n_steps)
  {
    LWT_KNOWN LwtTileStep step = Tile::plan.lines[0].steps[I];
    LWT_KNOWN int odd = step.odd;
    LWT_KNOWN bool looks_out = lwt_window_looks_out (step);
    /* neighbours, from the pair before the lane's or its first pair on */
    T y[N][K + 1];

#pragma unroll
    for (int row = 0; row < N; row++) {
      const T *const own = x[row][1 - odd];

      y[row][odd ? K : 0] = T (0);
#pragma unroll
      for (int k = 0; k < K; k++)
        y[row][k + 1 - odd] = own[k];
      if (looks_out && odd)
        y[row][K] = __shfl_down_sync (0xffffffffu, own[0], 1);
      if (looks_out && !odd)
        y[row][0] = __shfl_up_sync (0xffffffffu, own[K - 1], 1);
      if (SIDES && looks_out && (odd ? last : first))
        y[row][odd ? K : 0] =
            Tile::plan.boundary == 3 ? T (0) : own[odd ? K - 1 : 0];
    }
#pragma unroll
    for (int row = 0; row < N; row++)
#pragma unroll
      for (int k = 0; k < K; k++)
        x[row][odd][k] = lwt_tile_lift (x[row][odd][k],
            &y[row][k + 1 - odd + step.first], parameters.weights + step.tap,
            step.n, parameters.task.shift[I], false);
    if constexpr (I + 1 < LWT_TILE_MAX_STEPS)
      lwt_window_lift_rows<T, Tile, SIDES, N, K, I + 1> (
          x, parameters, first, last);
  }
}

/* Lifts N rows and scales their entries. */
template <typename T, class Tile, int N, int K>
static __device__ __forceinline__ void
lwt_window_split_rows (T (&x)[N][2][K], const LwtTileParameters<T> &parameters,
    bool sides, bool first, bool last)
{
  if (sides)
    lwt_window_lift_rows<T, Tile, true> (x, parameters, first, last);
  else
    lwt_window_lift_rows<T, Tile, false> (x, parameters, first, last);
#pragma unroll
  for (int i = 0; i < N * 2 * K; i++)
    x[i / 2 / K][i % 2][i / 2 % K] =
        x[i / 2 / K][i % 2][i / 2 % K]
        * parameters.weights[LWT_TILE_MAX_TAPS + i % 2];
}

/* All steps from I on along C columns that begin at position @top and end with
 * @bottom. ENDS: that may matter. */
template <typename T, class Tile, bool ENDS, int C, int I = 0>
static __device__ __forceinline__ void
lwt_window_lift_columns (LwtRun<T, Tile, 1> (&x)[C],
    const LwtTileParameters<T> &parameters, int top, int bottom)
{
  LWT_IF_KNOWN (I < Tile::plan.n_steps)
  {
    LWT_KNOWN LwtTileStep step = Tile::plan.lines[1].steps[I];
    LWT_KNOWN int odd = step.odd, other = 1 - odd;
    LWT_KNOWN int at = step.from - Tile::plan.lines[1].in[odd][0];
    LWT_KNOWN int same = step.from - Tile::plan.lines[1].in[other][0];
    LWT_KNOWN bool looks_out = lwt_window_looks_out (step);

    if (ENDS && looks_out && step.from == (odd ? bottom : top))
#pragma unroll
      for (int c = 0; c < C; c++)
        x[c].v[other][odd ? same + 1 : same - 1] =
            Tile::plan.boundary == 3 ? T (0) : x[c].v[other][same];
#pragma unroll
    for (int c = 0; c < C; c++)
      x[c].v[odd][at] = lwt_tile_lift (x[c].v[odd][at],
          &x[c].v[other][same + step.first], parameters.weights + step.tap,
          step.n, parameters.task.shift[I], false);
    if constexpr (I + 1 < LWT_TILE_MAX_STEPS)
      lwt_window_lift_columns<T, Tile, ENDS, C, I + 1> (
          x, parameters, top, bottom);
  }
}

/* Entries that a lane writes at once */
template <typename T, int K> struct alignas (K * sizeof (T)) LwtWindowEntries {
  T v[K];
};

/* A level of a warp, of K pairs a lane. HIGH: high bands are wanted. */
template <typename T, class Tile, int K, bool HIGH> struct LwtWindowLevel {
  static constexpr int n = HIGH ? 2 * K : K;

  LwtRun<T, Tile, 1> columns[n]; /* low entries along x, then high ones */
  int pairs;                     /* of rows */
  char *to[2][2];                /* where the next row of each band goes */
  unsigned pitch[2][2];

  /* @row: of the bands, the first that is done; @column: the lane's */
  __device__ __forceinline__
  LwtWindowLevel (
      const LwtTileBand (&bands)[2][2], int pairs, int row, int column)
      : pairs (pairs)
  {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const LwtTileBand &band = bands[i / 2][i % 2];

      pitch[i / 2][i % 2] = band.pitch;
      to[i / 2][i % 2] = (char *) band.data + (long long) row * band.pitch
                         + (long long) column * (int) sizeof (T);
    }
#pragma unroll
    for (int c = 0; c < n; c++)
#pragma unroll
      for (int i = 0; i < 2 * LwtRun<T, Tile, 1>::most; i++)
        columns[c].v[i % 2][i / 2] = T (0);
  }

  /* Takes pair @t of rows, x[row][kind][pair of the lane]. */
  __device__ __forceinline__ void
  take (const T (*x)[2][K], const LwtTileParameters<T> &parameters, int t)
  {
    LWT_KNOWN int kept = -Tile::plan.lines[1].in[0][0];
    LWT_KNOWN int delay = -Tile::plan.lines[1].out[0];

#pragma unroll
    for (int odd = 0; odd < 2; odd++)
#pragma unroll
      for (int c = 0; c < n; c++) {
#pragma unroll
        for (int i = 0; i < kept; i++)
          columns[c].v[odd][i] = columns[c].v[odd][i + 1];
        columns[c].v[odd][kept] = x[odd][c / K][c % K];
      }
    if (t <= delay || t >= pairs - 1)
      lwt_window_lift_columns<T, Tile, true> (
          columns, parameters, -t, pairs - 1 - t);
    else
      lwt_window_lift_columns<T, Tile, false> (columns, parameters, 0, 0);
  }

  /* Entry @k of the row that is done, of band [y][x] */
  __device__ __forceinline__ T
  get (const LwtTileParameters<T> &parameters, int y, int x, int k) const
  {
    LWT_KNOWN LwtTileLine line = Tile::plan.lines[1];

    return columns[x * K + k].v[y][line.out[y] - line.in[y][0]]
           * parameters.weights[LWT_TILE_MAX_TAPS + y];
  }

  /* Writes that row of band FIRST = 2 y + x and of those behind it, if @writes. */
  template <int FIRST>
  __device__ __forceinline__ void
  put (const LwtTileParameters<T> &parameters, bool writes)
  {
#pragma unroll
    for (int band = FIRST; band < (HIGH ? 4 : 1); band++) {
      const int y = band / 2, x = band % 2;
      LwtWindowEntries<T, K> entries;

#pragma unroll
      for (int k = 0; k < K; k++)
        entries.v[k] = get (parameters, y, x, k);
      if (writes)
        *(LwtWindowEntries<T, K> *) to[y][x] = entries;
      to[y][x] += pitch[y][x];
    }
  }
};

/* A warp: segment i / strips of strip i % strips. */
template <typename T, class Tile, bool HIGH>
static __device__ __forceinline__ void
lwt_window_slide (const LwtTileParameters<T> &parameters, T *shared)
{
  const LwtTileTask &task = parameters.task;
  constexpr int turns = LWT_WINDOW_TURNS;
  LWT_KNOWN int delay = -Tile::plan.lines[1].out[0], lead = Tile::plan.lead;
  LWT_KNOWN int outputs = Tile::plan.lines[0].run;
  LWT_KNOWN int halo = -Tile::plan.lines[0].in[0][0];
  const int pairs = task.axis[0].n / 2, height = task.axis[1].n;
  const int warp = lwt_tile_warp (), lane = threadIdx.x % 32;
  const int i = blockIdx.x * (Tile::plan.threads / 32) + warp;
  /* columns: outputs of the strip, its first pair, the lane's; the last strip ends
   * where the picture does */
  const int from = i % task.axis[0].tiles * outputs;
  const int start = max (min (from - halo, pairs - 64), 0);
  const int pair = start + 2 * lane;
  const bool mine = pair >= from && pair < from + outputs;
  const bool first = pair == 0, last = pair + 2 == pairs;
  const bool sides = start == 0 || start + 64 == pairs;
  /* Rows of the second level's bands that are outputs. The first level is ahead: turn
   * t makes its rows 2 t and 2 t + 1, and row t - delay of the second one. */
  const int top = i / task.axis[0].tiles * task.segment;
  const int bottom = min (top + task.segment, height / 4);
  const int begin = max (top - lead, -(delay + 1) / 2), stop = bottom + delay;
  LwtWindowLevel<T, Tile, 2, HIGH> one (
      task.bands, height / 2, 2 * begin, pair);
  LwtWindowLevel<T, Tile, 1, HIGH> two (
      task.second, height / 4, begin - delay, pair / 2);
  LwtChunk<T> *const ring =
      (LwtChunk<T> *) shared + warp * turns * 4 * 32 + lane;
  const auto fetch = [&] (int t) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int row = 4 * t + 2 * delay + k;

      if (t < stop && (unsigned) row < (unsigned) height)
        lwt_tile_copy<16> (ring + ((unsigned) t % turns * 4 + k) * 32,
            lwt_tile_line (task.picture, row) + 2 * pair * sizeof (T));
    }
    lwt_window_wait<turns - 1> ();
  };

  if (top >= bottom)
    return;
  for (int k = 0; k < turns - 1; k++)
    fetch (begin + k);
#pragma unroll 1
  for (int t = begin; t < stop; t++) {
    const bool writes = mine && t >= top && t < bottom;
    const bool writes_second = mine && t - delay >= top && t - delay < bottom;
    T x[4][2][2], low[2][2][1];

    fetch (t + turns - 1);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const LwtChunk<T> chunk = ring[((unsigned) t % turns * 4 + k) * 32];

#pragma unroll
      for (int v = 0; v < 4; v++)
        x[k][v % 2][v / 2] = chunk.v[v];
    }
    lwt_window_split_rows<T, Tile> (x, parameters, sides, first, last);
#pragma unroll
    for (int row = 0; row < 2; row++) {
      one.take (x + 2 * row, parameters, 2 * t + delay + row);
      one.template put<1> (parameters, writes);
      low[row][0][0] = one.get (parameters, 0, 0, 0);
      low[row][1][0] = one.get (parameters, 0, 0, 1);
    }
    lwt_window_split_rows<T, Tile> (low, parameters, sides, first, last);
    two.take (low, parameters, t);
    two.template put<0> (parameters, writes_second);
  }
}

template <typename T, class Tile>
static __device__ __forceinline__ void
lwt_tile_two_levels (const LwtTileParameters<T> &parameters, T *shared)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  /* the next kernel is let in when thread blocks end: earlier, its thread blocks
   * would not spread over all multiprocessors */
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  if (parameters.task.bands[0][1].data)
    lwt_window_slide<T, Tile, true> (parameters, shared);
  else
    lwt_window_slide<T, Tile, false> (parameters, shared);
}
