/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Two levels in one pass over memory, for wavelets whose steps look no further than the
 * next pair (haar, 5/3, 9/7, db2 and others).
 *
 * A warp has a strip of 64 pairs of columns and slides down a segment of it. In a
 * turn it takes four rows: two pairs of rows of the first level, whose low rows are
 * a pair of the second one.
 *
 *   forward: samples -> each row lifted -> columns of the first level -> its high bands
 *        its low rows -> each lifted -> columns of the second level -> its bands
 *   inverse: bands -> columns of the second level -> each row lifted -> low rows
 *        with high bands -> columns of the first level -> each row lifted -> samples
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
            step.n, parameters.task.shift[I], Tile::plan.inverse);
    if constexpr (I + 1 < LWT_TILE_MAX_STEPS)
      lwt_window_lift_rows<T, Tile, SIDES, N, K, I + 1> (
          x, parameters, first, last);
  }
}

/* Lane of a strip: whether the strip has an end of the rows, and the lane has it */
typedef struct {
  bool sides, first, last;
} LwtWindowLane;

template <typename T, class Tile, int N, int K>
static __device__ __forceinline__ void
lwt_window_join_rows (T (&x)[N][2][K], const LwtTileParameters<T> &parameters,
    const LwtWindowLane &lane)
{
  if (lane.sides)
    lwt_window_lift_rows<T, Tile, true> (x, parameters, lane.first, lane.last);
  else
    lwt_window_lift_rows<T, Tile, false> (x, parameters, lane.first, lane.last);
}

/* Lifts N rows and scales their entries. */
template <typename T, class Tile, int N, int K>
static __device__ __forceinline__ void
lwt_window_split_rows (T (&x)[N][2][K], const LwtTileParameters<T> &parameters,
    const LwtWindowLane &lane)
{
  lwt_window_join_rows<T, Tile> (x, parameters, lane);
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
          step.n, parameters.task.shift[I], Tile::plan.inverse);
    if constexpr (I + 1 < LWT_TILE_MAX_STEPS)
      lwt_window_lift_columns<T, Tile, ENDS, C, I + 1> (
          x, parameters, top, bottom);
  }
}

/* Entries that a lane reads or writes at once */
template <typename T, int K> struct alignas (K * sizeof (T)) LwtWindowEntries {
  T v[K];
};

/* Columns of a level of a warp, of K pairs a lane. HIGH: with high bands, which forward
 * are wanted. */
template <typename T, class Tile, int K, bool HIGH> struct LwtWindowColumns {
  static constexpr int n = HIGH ? 2 * K : K;

  LwtRun<T, Tile, 1> columns[n]; /* low entries along x, then high ones */
  int pairs;                     /* of rows */

  __device__ __forceinline__ void
  begin (int n_pairs)
  {
    pairs = n_pairs;
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

  /* Row @y of the pair that is done: entry @k of kind @x */
  __device__ __forceinline__ T
  get (int y, int x, int k) const
  {
    LWT_KNOWN LwtTileLine line = Tile::plan.lines[1];

    return columns[x * K + k].v[y][line.out[y] - line.in[y][0]];
  }
};

/* Forward: a level and the bands that it writes */
template <typename T, class Tile, int K, bool HIGH>
struct LwtWindowLevel : LwtWindowColumns<T, Tile, K, HIGH> {
  char *to[2][2]; /* where the next row of each band goes */
  unsigned pitch[2][2];

  /* @row: of the bands, the first that is done; @column: the lane's */
  __device__ __forceinline__
  LwtWindowLevel (
      const LwtTileBand (&bands)[2][2], int pairs, int row, int column)
  {
    this->begin (pairs);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const LwtTileBand &band = bands[i / 2][i % 2];

      pitch[i / 2][i % 2] = band.pitch;
      to[i / 2][i % 2] = (char *) band.data + (long long) row * band.pitch
                         + (long long) column * (int) sizeof (T);
    }
  }

  /* Entry @k of the row that is done, of band [y][x] */
  __device__ __forceinline__ T
  entry (const LwtTileParameters<T> &parameters, int y, int x, int k) const
  {
    return this->get (y, x, k) * parameters.weights[LWT_TILE_MAX_TAPS + y];
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
        entries.v[k] = entry (parameters, y, x, k);
      if (writes)
        *(LwtWindowEntries<T, K> *) to[y][x] = entries;
      to[y][x] += pitch[y][x];
    }
  }
};

/* Inverse: takes pair @t of rows of the bands, entries[y][x][pair of the lane], and
 * makes the pair of rows that is done then, rows[y][kind][pair of the lane], still to be
 * lifted along x. */
template <typename T, class Tile, int K, bool HIGH>
static __device__ __forceinline__ void
lwt_window_join_columns (LwtWindowColumns<T, Tile, K, HIGH> &level,
    T (&entries)[2][2][K], T (*rows)[2][K],
    const LwtTileParameters<T> &parameters, int t)
{
  const T *const scale = parameters.weights + LWT_TILE_MAX_TAPS;

#pragma unroll
  for (int i = 0; i < 4 * K; i++)
    entries[i / 2 / K][i / K % 2][i % K] =
        HIGH || i / K == 0
            ? entries[i / 2 / K][i / K % 2][i % K] * scale[i / 2 / K]
            : T (0);
  level.take (entries, parameters, t);
#pragma unroll
  for (int i = 0; i < 4 * K; i++)
    rows[i / 2 / K][i / K % 2][i % K] =
        HIGH || i / K % 2 == 0
            ? level.get (i / 2 / K, i / K % 2, i % K) * scale[i / K % 2]
            : T (0);
}

/* Both levels of the inverse */
template <typename T, class Tile, bool HIGH> struct LwtWindowSynthesis {
  LwtWindowColumns<T, Tile, 1, HIGH> two;
  LwtWindowColumns<T, Tile, 2, HIGH> one;

  /* @height: of the picture */
  __device__ __forceinline__ void
  begin (int height)
  {
    two.begin (height / 4);
    one.begin (height / 2);
  }

  /* Turn @t: takes row t of the second level's bands, and of the high bands of the first
   * one, high[row], rows 2 (t - delay) and the next. Makes rows 4 t - 6 delay to
   * 4 t - 6 delay + 3 of the samples. */
  __device__ __forceinline__ void
  turn (T (&bands)[2][2][1], T (&high)[2][2][2][2], T (&samples)[4][2][2],
      const LwtTileParameters<T> &parameters, const LwtWindowLane &lane, int t)
  {
    LWT_KNOWN int delay = -Tile::plan.lines[1].out[0];
    T low[2][2][1];

    lwt_window_join_columns (two, bands, low, parameters, t);
    lwt_window_join_rows<T, Tile> (low, parameters, lane);
#pragma unroll
    for (int row = 0; row < 2; row++) {
#pragma unroll
      for (int k = 0; k < 2; k++)
        high[row][0][0][k] = low[row][k][0];
      lwt_window_join_columns (
          one, high[row], samples + 2 * row, parameters, 2 * (t - delay) + row);
    }
    lwt_window_join_rows<T, Tile> (samples, parameters, lane);
  }
};

/* Where a warp works: segment i / strips of strip i % strips
 * @pair: the lane's first pair of columns
 * @mine: whether the lane's samples and entries are outputs of the strip
 * @top, @bottom: rows of the second level's bands */
struct LwtWindowPlace : LwtWindowLane {
  int warp, pair, top, bottom;
  bool mine;

  template <class Tile>
  static __device__ __forceinline__ LwtWindowPlace
  find (const LwtTileTask &task)
  {
    LWT_KNOWN int outputs = Tile::plan.lines[0].run;
    LWT_KNOWN int halo = -Tile::plan.lines[0].in[0][0];
    const int pairs = task.axis[0].n / 2;
    LwtWindowPlace place;

    place.warp = lwt_tile_warp ();

    const int i = blockIdx.x * (Tile::plan.threads / 32) + place.warp;
    /* the last strip ends where the picture does */
    const int from = i % task.axis[0].tiles * outputs;
    const int start = max (min (from - halo, pairs - 64), 0);

    place.pair = start + 2 * (int) (threadIdx.x % 32);
    place.mine = place.pair >= from && place.pair < from + outputs;
    place.first = place.pair == 0;
    place.last = place.pair + 2 == pairs;
    place.sides = start == 0 || start + 64 == pairs;
    place.top = i / task.axis[0].tiles * task.segment;
    place.bottom = min (place.top + task.segment, task.axis[1].n / 4);
    return place;
  }
};

template <typename T, class Tile, bool HIGH>
static __device__ __forceinline__ void
lwt_window_split (const LwtTileParameters<T> &parameters, T *shared)
{
  const LwtTileTask &task = parameters.task;
  constexpr int turns = LWT_WINDOW_TURNS;
  LWT_KNOWN int delay = -Tile::plan.lines[1].out[0], lead = Tile::plan.lead;
  const int height = task.axis[1].n;
  const LwtWindowPlace place = LwtWindowPlace::find<Tile> (task);
  /* The first level is ahead: turn t makes its rows 2 t and 2 t + 1, and row t - delay
   * of the second one. */
  const int top = place.top, bottom = place.bottom;
  const int begin = max (top - lead, -(delay + 1) / 2), stop = bottom + delay;
  LwtWindowLevel<T, Tile, 2, HIGH> one (
      task.bands, height / 2, 2 * begin, place.pair);
  LwtWindowLevel<T, Tile, 1, HIGH> two (
      task.second, height / 4, begin - delay, place.pair / 2);
  LwtChunk<T> *const ring =
      (LwtChunk<T> *) shared + place.warp * turns * 4 * 32 + threadIdx.x % 32;
  const auto fetch = [&] (int t) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int row = 4 * t + 2 * delay + k;

      if (t < stop && (unsigned) row < (unsigned) height)
        lwt_tile_copy<16, true> (ring + ((unsigned) t % turns * 4 + k) * 32,
            lwt_tile_line (task.picture, row) + 2 * place.pair * sizeof (T));
    }
    lwt_window_wait<turns - 1> ();
  };

  if (top >= bottom)
    return;
  for (int k = 0; k < turns - 1; k++)
    fetch (begin + k);
#pragma unroll 1
  for (int t = begin; t < stop; t++) {
    const bool writes = place.mine && t >= top && t < bottom;
    const bool writes_second =
        place.mine && t - delay >= top && t - delay < bottom;
    T x[4][2][2], low[2][2][1];

    fetch (t + turns - 1);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const LwtChunk<T> chunk = ring[((unsigned) t % turns * 4 + k) * 32];

#pragma unroll
      for (int v = 0; v < 4; v++)
        x[k][v % 2][v / 2] = chunk.v[v];
    }
    lwt_window_split_rows<T, Tile> (x, parameters, place);
#pragma unroll
    for (int row = 0; row < 2; row++) {
      one.take (x + 2 * row, parameters, 2 * t + delay + row);
      one.template put<1> (parameters, writes);
      low[row][0][0] = one.entry (parameters, 0, 0, 0);
      low[row][1][0] = one.entry (parameters, 0, 0, 1);
    }
    lwt_window_split_rows<T, Tile> (low, parameters, place);
    two.take (low, parameters, t);
    two.template put<0> (parameters, writes_second);
  }
}

/* Turns of the inverse: the first one, and the end */
typedef struct {
  int begin, stop;
} LwtWindowTurns;

template <class Tile>
static __device__ __forceinline__ LwtWindowTurns
lwt_window_inverse_turns (const LwtWindowPlace &place)
{
  LWT_KNOWN int delay = -Tile::plan.lines[1].out[0], lead = Tile::plan.lead;

  return { max (place.top - lead, 0), place.bottom + (3 * delay + 1) / 2 };
}

/* Copies entries of row @row of @band, if it is one of @from .. @end - 1, from column
 * @column on, to a lane's place in shared memory. */
template <class Entries>
static __device__ __forceinline__ void
lwt_window_fetch (Entries *to, const LwtTileBand &band, int row, int from,
    int end, int column)
{
  if (row >= from && row < end)
    lwt_tile_copy<sizeof (Entries)> (
        to, lwt_tile_line (band, row) + column * sizeof to->v[0]);
}

template <typename T, class Tile, bool HIGH>
static __device__ __forceinline__ void
lwt_window_join (const LwtTileParameters<T> &parameters, T *shared)
{
  const LwtTileTask &task = parameters.task;
  constexpr int turns = LWT_WINDOW_TURNS;
  LWT_KNOWN int delay = -Tile::plan.lines[1].out[0], lead = Tile::plan.lead;
  const int height = task.axis[1].n, lane = threadIdx.x % 32;
  const LwtWindowPlace place = LwtWindowPlace::find<Tile> (task);
  const LwtWindowTurns to_do = lwt_window_inverse_turns<Tile> (place);
  /* rows of the first level's high bands that outputs depend on: fewer than those of the
   * second level */
  const int from = max (2 * place.top - lead, 0);
  const int end = min (2 * place.bottom + delay, height / 2);
  LwtWindowSynthesis<T, Tile, HIGH> levels;
  /* of a turn: the second level's bands, then two rows of three bands */
  T *const ring = shared + place.warp * turns * 16 * 32;
  const auto at_two = [&] (int t, int band) {
    return (LwtWindowEntries<T, 1> *) (ring + (unsigned) t % turns * 16 * 32)
           + band * 32 + lane;
  };
  const auto at_one = [&] (int t, int row, int band) {
    return (LwtWindowEntries<T, 2> *) (ring + (unsigned) t % turns * 16 * 32
                                       + 4 * 32)
           + (row * 3 + band - 1) * 32 + lane;
  };
  const auto fetch = [&] (int t) {
    if (t < to_do.stop)
#pragma unroll
      for (int i = 0; i < (HIGH ? 4 : 1); i++) {
        lwt_window_fetch (at_two (t, i), task.second[i / 2][i % 2], t, 0,
            height / 4, place.pair / 2);
#pragma unroll
        for (int row = 0; row < 2 && i > 0; row++)
          lwt_window_fetch (at_one (t, row, i), task.bands[i / 2][i % 2],
              2 * (t - delay) + row, from, end, place.pair);
      }
    lwt_window_wait<turns - 1> ();
  };

  if (place.top >= place.bottom)
    return;
  levels.begin (height);
  for (int k = 0; k < turns - 1; k++)
    fetch (to_do.begin + k);
#pragma unroll 1
  for (int t = to_do.begin; t < to_do.stop; t++) {
    T bands[2][2][1], high[2][2][2][2], samples[4][2][2];

    fetch (t + turns - 1);
#pragma unroll
    for (int i = 0; i < (HIGH ? 4 : 1); i++) {
      bands[i / 2][i % 2][0] = at_two (t, i)->v[0];
#pragma unroll
      for (int k = 0; k < 4 && i > 0; k++)
        high[k / 2][i / 2][i % 2][k % 2] = at_one (t, k / 2, i)->v[k % 2];
    }
    levels.turn (bands, high, samples, parameters, place, t);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int row = 4 * t - 6 * delay + k;
      LwtChunk<T> chunk;

#pragma unroll
      for (int v = 0; v < 4; v++)
        chunk.v[v] = samples[k][v % 2][v / 2];
      if (place.mine && row >= 4 * place.top && row < 4 * place.bottom)
        *(LwtChunk<T> *) (lwt_tile_line (task.picture, row)
                          + 2 * place.pair * sizeof (T)) = chunk;
    }
  }
}

/* Stores a chunk of a component; not inlined: it is the rare way. */
template <typename T>
static __device__ LWT_NOINLINE void
lwt_window_write_any (const LwtTileParts &parts, int part, int x, int y,
    LwtChunk<T> chunk, bool form)
{
  if (y >= 0 && y < parts.size[1])
    lwt_tile_write_part<T> (parts, part, x, y, chunk, form);
}

/* Components: the low bands at the input of level 2 are expanded to samples and
 * subtracted from their predecessors, as by lwt_tile_parts(). LOW: the first one that is
 * needed, 1 or 2; END: behind the last one, 2 or 3. */
template <typename T, class Tile, int LOW, int END>
static __device__ __forceinline__ void
lwt_window_join_parts (const LwtTileParameters<T> &parameters, T *shared)
{
  const LwtTileTask &task = parameters.task;
  const LwtTileParts &parts = task.parts;
  constexpr int turns = LWT_WINDOW_TURNS, n = END - LOW;
  LWT_KNOWN int delay = -Tile::plan.lines[1].out[0];
  const int height = task.axis[1].n, lane = threadIdx.x % 32;
  const LwtWindowPlace place = LwtWindowPlace::find<Tile> (task);
  const LwtWindowTurns to_do = lwt_window_inverse_turns<Tile> (place);
  LwtWindowSynthesis<T, Tile, false> levels[n];
  /* of a turn: four rows of the picture, then a row of each low band */
  T *const ring = shared + place.warp * turns * 5 * 128;
  const auto at_x = [&] (int t, int k) {
    return (LwtChunk<T> *) (ring + (unsigned) t % turns * 5 * 128) + k * 32
           + lane;
  };
  const auto at_low = [&] (int t, int i) {
    return (LwtWindowEntries<T, 1> *) (ring
                                       + ((unsigned) t % turns * 5 + 4) * 128)
           + i * 32 + lane;
  };
  const auto is_output = [&] (int row) {
    return place.mine && row >= 4 * place.top && row < 4 * place.bottom;
  };
  const auto fetch = [&] (int t) {
    if (t < to_do.stop) {
#pragma unroll
      for (int k = 0; k < 4; k++)
        if (parts.low[0].data && is_output (4 * t - 6 * delay + k))
          lwt_window_fetch (at_x (t, k), parts.low[0], 4 * t - 6 * delay + k, 0,
              height, 2 * place.pair);
#pragma unroll
      for (int i = 0; i < n; i++)
        lwt_window_fetch (at_low (t, i), parts.low[LOW + i], t, 0, height / 4,
            place.pair / 2);
    }
    lwt_window_wait<turns - 1> ();
  };

  if (place.top >= place.bottom)
    return;
#pragma unroll
  for (int i = 0; i < n; i++)
    levels[i].begin (height);
  for (int k = 0; k < turns - 1; k++)
    fetch (to_do.begin + k);
#pragma unroll 1
  for (int t = to_do.begin; t < to_do.stop; t++) {
    T samples[n][4][2][2];

    fetch (t + turns - 1);
#pragma unroll
    for (int i = 0; i < n; i++) {
      T bands[2][2][1], high[2][2][2][2];

      bands[0][0][0] = at_low (t, i)->v[0];
      levels[i].turn (bands, high, samples[i], parameters, place, t);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int row = 4 * t - 6 * delay + k;
      const int x = 2 * place.pair - parts.pad[0], y = row - parts.pad[1];
      const auto store = [&] (int part, const LwtChunk<T> &chunk) {
        if (!parts.parts[part].data)
          return;
        if (!parts.plain || (part == 3 && parts.polynomial))
          lwt_window_write_any<T> (parts, part, x, y, chunk, part == 3);
        else if (x >= 0 && x < parts.size[0] && y >= 0 && y < parts.size[1])
          *(LwtChunk<T> *) (lwt_tile_line (parts.parts[part], y)
                            + x * sizeof (T)) = chunk;
      };
      LwtChunk<T> before = *at_x (t, k);

      if (!is_output (row))
        continue;
#pragma unroll
      for (int i = 0; i < n; i++) {
        LwtChunk<T> part, low;

#pragma unroll
        for (int v = 0; v < 4; v++) {
          low.v[v] = samples[i][k][v % 2][v / 2];
          part.v[v] = before.v[v] - low.v[v];
        }
        store (LOW + i, part);
        before = low;
      }
      if (END == 3)
        store (3, before);
    }
  }
}

/* The next kernel is let in when thread blocks end: earlier, its thread blocks would not
 * spread over all multiprocessors. */
static __device__ __forceinline__ void
lwt_window_begin (void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <typename T, class Tile>
static __device__ __forceinline__ void
lwt_window_forward (const LwtTileParameters<T> &parameters, T *shared)
{
  lwt_window_begin ();
  if (parameters.task.bands[0][1].data)
    lwt_window_split<T, Tile, true> (parameters, shared);
  else
    lwt_window_split<T, Tile, false> (parameters, shared);
}

template <typename T, class Tile>
static __device__ __forceinline__ void
lwt_window_inverse (const LwtTileParameters<T> &parameters, T *shared)
{
  lwt_window_begin ();
  if (parameters.task.bands[0][1].data)
    lwt_window_join<T, Tile, true> (parameters, shared);
  else
    lwt_window_join<T, Tile, false> (parameters, shared);
}

template <typename T, class Tile>
static __device__ __forceinline__ void
lwt_window_parts (const LwtTileParameters<T> &parameters, T *shared)
{
  const LwtTileParts &parts = parameters.task.parts;

  lwt_window_begin ();
  if (!parts.low[2].data)
    lwt_window_join_parts<T, Tile, 1, 2> (parameters, shared);
  else if (!parts.low[1].data)
    lwt_window_join_parts<T, Tile, 2, 3> (parameters, shared);
  else
    lwt_window_join_parts<T, Tile, 1, 3> (parameters, shared);
}
