/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* One level of both axes in one pass over memory, for any wavelet, type,
 * boundary, layout and picture size; compiled for one wavelet, type and
 * boundary (cuda/lifting/cuda/tile.cu).
 * A thread block has a tile of the picture with its halo in shared memory:
 *
 *   forward: samples -> tile, lift each row, lift each column -> bands
 *   inverse: bands -> tile, lift each column, lift each row -> samples
 *
 * Lines are cut into runs (cuda/lifting/cuda/tileconstants.h). A thread
 * reads a run with its neighbours into registers, does all steps there and
 * writes the outputs back into the tile, in place: all threads read before
 * the first one writes. The 32 lanes of a warp have the same run of 32
 * adjacent lines, so a run's position is a compile-time constant and all
 * branches are uniform.
 *
 * Beyond the end of a line, the neighbours that the boundary asks for are
 * copied to their positions before each step. Other positions there hold
 * undefined values; no output that is kept depends on them.
 *
 * A row of the tile has an odd number of chunks of 16 bytes, so that neither a chunk of
 * each of 32 rows nor 32 samples of a row have bank conflicts. */
#pragma once

#include "cuda/lifting/cuda/tileconstants.h"
#include "cuda/lifting/polynomial.h"

#ifdef LWT_TILE_EMULATED /* on the CPU: tests/emulation */
#define LWT_KNOWN const
#define LWT_CONSTANT
#define LWT_IF_KNOWN if
#define LWT_NOINLINE
#define lwt_tile_warp() ((int) (threadIdx.x / 32))
#define lwt_tile_keep_branch()
#else
#define LWT_KNOWN constexpr
#define LWT_CONSTANT constexpr
#define LWT_IF_KNOWN if constexpr
#define LWT_NOINLINE __noinline__
extern __shared__ float4 lwt_tile_shared[];

/* Index of the warp; uniform for the compiler */
static __device__ __forceinline__ int
lwt_tile_warp (void)
{
  return __shfl_sync (0xffffffffu, (int) (threadIdx.x / 32), 0);
}

/* Keeps the compiler from turning the branch that this is in into selections. It
 * would mix several steps and reload their weights again and again. */
static __device__ __forceinline__ void
lwt_tile_keep_branch (void)
{
  asm volatile("");
}
#endif

/* The constants of an axis as functions */
template <class Tile, int AXIS> struct LwtAlong {
  /* runs of a thread, of a tile */
  static __device__ __forceinline__ LWT_CONSTANT int
  run ()
  {
    return Tile::plan.lines[AXIS].run;
  }
  static __device__ __forceinline__ LWT_CONSTANT int
  runs ()
  {
    return Tile::plan.lines[AXIS].runs;
  }
  static __device__ __forceinline__ LWT_CONSTANT int
  size ()
  {
    return Tile::plan.lines[AXIS].run * Tile::plan.lines[AXIS].runs;
  }
  /* of a kind: the first input; inputs of a run, of a tile; the first output */
  static __device__ __forceinline__ LWT_CONSTANT int
  from (int odd)
  {
    LWT_KNOWN int kinds[2] = { Tile::plan.lines[AXIS].in[0][0],
      Tile::plan.lines[AXIS].in[1][0] };

    return odd ? kinds[1] : kinds[0];
  }
  static __device__ __forceinline__ LWT_CONSTANT int
  inputs (int odd)
  {
    LWT_KNOWN int kinds[2] = { Tile::plan.lines[AXIS].in[0][1]
                                   - Tile::plan.lines[AXIS].in[0][0],
      Tile::plan.lines[AXIS].in[1][1] - Tile::plan.lines[AXIS].in[1][0] };

    return odd ? kinds[1] : kinds[0];
  }
  static __device__ __forceinline__ LWT_CONSTANT int
  all_inputs (int odd)
  {
    return inputs (odd) + size () - run ();
  }
  static __device__ __forceinline__ LWT_CONSTANT int
  out (int odd)
  {
    LWT_KNOWN int kinds[2] = { Tile::plan.lines[AXIS].out[0],
      Tile::plan.lines[AXIS].out[1] };

    return odd ? kinds[1] : kinds[0];
  }
};

template <typename T> struct alignas (16) LwtChunk {
  static constexpr int n = 16 / sizeof (T);
  T v[n];
};

/* Registers of a run: v[kind][position - in[kind][0]] */
template <typename T, class Tile, int AXIS> struct LwtRun {
#ifdef LWT_TILE_EMULATED
  static constexpr int most = LWT_TILE_MAX_INPUTS;
#else
  using Along = LwtAlong<Tile, AXIS>;
  static constexpr int most = Along::inputs (0) > Along::inputs (1)
                                  ? Along::inputs (0)
                                  : Along::inputs (1);
#endif
  T v[2][most];
};

/* --- steps -------------------------------------------------------------------------- */

static __device__ __forceinline__ float
lwt_tile_fma (float a, float b, float c)
{
  return fmaf (a, b, c);
}

static __device__ __forceinline__ double
lwt_tile_fma (double a, double b, double c)
{
  return fma (a, b, c);
}

/* @x after a step of @n weights; @y: the neighbours */
template <typename T>
static __device__ __forceinline__ T
lwt_tile_lift (
    T x, const T *y, const T *weights, int n, int shift, bool inverse)
{
#pragma unroll
  for (int i = 0; i < n; i++)
    x = lwt_tile_fma (weights[i], y[i], x);
  return x;
}

static __device__ __forceinline__ int
lwt_tile_lift (
    int x, const int *y, const int *weights, int n, int shift, bool inverse)
{
  unsigned sum = shift > 0 ? 1u << (shift - 1) : 0u;

#pragma unroll
  for (int i = 0; i < n; i++)
    sum += (unsigned) weights[i] * (unsigned) y[i];
  sum = (unsigned) ((int) sum >> shift);
  return (int) (inverse ? (unsigned) x - sum : (unsigned) x + sum);
}

/* Copies the samples that the boundary asks for to the positions beyond an
 * end that step I reads. */
template <typename T, class Tile, int AXIS, int I, int EDGE>
static __device__ __forceinline__ void
lwt_tile_set_neighbours (LwtRun<T, Tile, AXIS> &x)
{
  LWT_KNOWN LwtTileStep step = Tile::plan.lines[AXIS].steps[I];
  LWT_KNOWN int end = Tile::plan.lines[AXIS].end;
  LWT_KNOWN int boundary = Tile::plan.boundary, other = 1 - step.odd;
  LWT_KNOWN int origin = Tile::plan.lines[AXIS].in[other][0];
  LWT_KNOWN int from = lwt_tile_beyond_from (step, EDGE, end);
  LWT_KNOWN int to = lwt_tile_beyond_to (step, EDGE, end);

  lwt_tile_keep_branch ();
#pragma unroll
  for (int v = from; v < to; v++)
    x.v[other][v - origin] =
        boundary == 3
            ? T (0)
            : x.v[other]
                 [lwt_tile_source (boundary, EDGE, v, other, end) - origin];
}

/* All steps from I on. There is no second version without ends for inner runs:
 * warps would wait longer for their instructions. */
template <typename T, class Tile, int AXIS, int I = 0>
static __device__ __forceinline__ void
lwt_tile_lift_run (
    LwtRun<T, Tile, AXIS> &x, int edge, const T *weights, const int *shifts)
{
  LWT_IF_KNOWN (I < Tile::plan.n_steps)
  {
    LWT_KNOWN LwtTileStep step = Tile::plan.lines[AXIS].steps[I];
    LWT_KNOWN int odd = step.odd, other = 1 - odd;
    LWT_KNOWN int to = Tile::plan.lines[AXIS].in[odd][0];
    LWT_KNOWN int origin = Tile::plan.lines[AXIS].in[other][0];

    if (Tile::plan.boundary != 1 && edge != LWT_TILE_INNER) {
      if (edge == LWT_TILE_LEFT)
        lwt_tile_set_neighbours<T, Tile, AXIS, I, LWT_TILE_LEFT> (x);
      else if (edge == LWT_TILE_RIGHT_EVEN)
        lwt_tile_set_neighbours<T, Tile, AXIS, I, LWT_TILE_RIGHT_EVEN> (x);
      else
        lwt_tile_set_neighbours<T, Tile, AXIS, I, LWT_TILE_RIGHT_ODD> (x);
    }
#pragma unroll
    for (int u = step.from; u < step.to; u++)
      x.v[odd][u - to] =
          lwt_tile_lift (x.v[odd][u - to], &x.v[other][u + step.first - origin],
              weights + step.tap, step.n, shifts[I], Tile::plan.inverse);
    if constexpr (I + 1 < LWT_TILE_MAX_STEPS)
      lwt_tile_lift_run<T, Tile, AXIS, I + 1> (x, edge, weights, shifts);
  }
}

/* --- the tile in shared memory --------------------------------------------------------- */

/* Chunk @chunk of row @row */
template <class Tile, typename T>
static __device__ __forceinline__ LwtChunk<T> *
lwt_tile_row (T *tile, int row, int chunk)
{
  return (LwtChunk<T> *) (tile + row * Tile::plan.pitch) + chunk;
}

/* --- lines ------------------------------------------------------------------------------- */

/* First pair of a tile, and which ends of the line it contains
 * (LWT_TILE_LEFT ..) */
typedef struct {
  int pair, edge;
} LwtTilePlace;

template <class Tile, int AXIS>
static __device__ __forceinline__ LwtTilePlace
lwt_tile_place (const LwtTileAxis &axis, int tile)
{
  LWT_KNOWN bool periodic = Tile::plan.boundary == 1;
  LWT_KNOWN int size = Tile::plan.lines[AXIS].run * Tile::plan.lines[AXIS].runs;
  LwtTilePlace place = { tile * size, LWT_TILE_INNER };

  if (place.pair > axis.last)
    place.pair = axis.last;
  if (!periodic && tile == 0)
    place.edge = LWT_TILE_LEFT;
  if (!periodic && tile == axis.tiles - 1) {
    place.pair = axis.right;
    place.edge = axis.n % 2 ? LWT_TILE_RIGHT_ODD : LWT_TILE_RIGHT_EVEN;
  }
  return place;
}

/* Which end of the line run @run of a tile contains */
template <class Tile, int AXIS>
static __device__ __forceinline__ int
lwt_tile_edge (const LwtTilePlace &place, int run)
{
  const bool left = place.edge == LWT_TILE_LEFT;

  return run == (left ? 0 : Tile::plan.lines[AXIS].runs - 1) ? place.edge
                                                             : LWT_TILE_INNER;
}

/* Maps position @k to a sample of a line of @n. Returns: whether it exists */
template <class Tile>
static __device__ __forceinline__ bool
lwt_tile_find (int &k, int n)
{
  if (Tile::plan.boundary == 1)
    k = k < 0 ? k + n : k >= n ? k - n : k;
  return (unsigned) k < (unsigned) n;
}

/* Asynchronous copy of 4, 8 or 16 bytes to shared memory. SHARED: other warps of the thread
 * block copy the same bytes, so that 16 bytes stay in the L1 cache, too. */
template <int BYTES, bool SHARED = false>
static __device__ __forceinline__ void
lwt_tile_copy (void *to, const void *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned at = (unsigned) __cvta_generic_to_shared (to);

  if (BYTES == 16 && !SHARED)
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from)
        : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at),
                 "l"(from), "n"(BYTES)
                 : "memory");
#else
  for (int i = 0; i < BYTES / 4; i++)
    ((int *) to)[i] = ((const int *) from)[i];
#endif
}

static __device__ __forceinline__ void
lwt_tile_copies_end (void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Row @y of @band */
static __device__ __forceinline__ char *
lwt_tile_line (const LwtTileBand &band, int y)
{
  return (char *) band.data + (unsigned long long) (unsigned) y * band.pitch;
}

/* Loads @rows rows of @columns samples, rounded up to chunks, into the tile, from its row
 * @row0 and chunk @chunk0 on, out of @band of @width x @height, from its row @y and column
 * @x on. */
template <class Tile, typename T>
static __device__ __forceinline__ void
lwt_tile_load (T *tile, int row0, int rows, int chunk0, int columns,
    const LwtTileBand &band, int x, int y, int width, int height)
{
  constexpr int n = LwtChunk<T>::n;
  LWT_KNOWN int lanes = Tile::plan.inverse ? 8 : Tile::plan.threads / 8;
  LWT_KNOWN int together = Tile::plan.threads / lanes;
  const int chunks = (columns + n - 1) / n;
  const int lane = threadIdx.x % lanes, first = threadIdx.x / lanes;
  const bool inside =
      x >= 0 && x + chunks * n <= width && y >= 0 && y + rows <= height;
  const char *from = (const char *) band.data
                     + (long long) (y + first) * band.pitch
                     + (long long) (x + lane * n) * (int) sizeof (T);
  const bool aligned = band.step == 1 && band.pitch % 16 == 0
                       && (unsigned long long) from % 16 == 0;

  if (aligned
      && (inside || (Tile::plan.boundary != 1 && (width | x) % n == 0))) {
    /* each chunk exists or does not exist as a whole */
    LwtChunk<T> *const to =
        lwt_tile_row<Tile> (tile, row0 + first, chunk0 + lane);

    if (inside) {
#pragma unroll
      for (int row = 0; row < rows; row += together) {
        if (row + together <= rows || first < rows - row)
#pragma unroll
          for (int done = 0; done < chunks; done += lanes)
            if (done + lanes <= chunks || lane < chunks - done)
              lwt_tile_copy<16> (
                  to + row * Tile::plan.pitch / n + done, from + done * 16);
        from += (unsigned long long) together * band.pitch;
      }
      return;
    }
    for (int row = 0; row < rows; row += together) {
      if (first < rows - row
          && (unsigned) (y + first + row) < (unsigned) height)
        for (int done = 0; done < chunks; done += lanes)
          if (lane < chunks - done
              && (unsigned) (x + (done + lane) * n) < (unsigned) width)
            lwt_tile_copy<16> (
                to + row * Tile::plan.pitch / n + done, from + done * 16);
      from += (unsigned long long) together * band.pitch;
    }
    return;
  }
#pragma unroll 1
  for (int done = 0; done < chunks; done += lanes) {
    /* a thread loads a chunk, or samples with gaps between them, by turns */
    const bool gaps = band.step != 1;
    int columns[n], places[n];
    bool whole = !gaps, there[n];

#pragma unroll
    for (int k = 0; k < n; k++) {
      places[k] = done * n + (gaps ? lane + lanes * k : lane * n + k);
      columns[k] = x + places[k];
      there[k] =
          lwt_tile_find<Tile> (columns[k], width) && places[k] < chunks * n;
      whole = whole && there[k] && columns[k] == columns[0] + k;
    }
    whole =
        whole && band.pitch % 16 == 0
        && ((unsigned long long) band.data + columns[0] * sizeof (T)) % 16 == 0;
    for (int row = first; row < rows; row += together) {
      LwtChunk<T> *const to = lwt_tile_row<Tile> (tile, row0 + row, chunk0);
      int from = y + row;

      if (!lwt_tile_find<Tile> (from, height))
        continue;
      const T *const line = (const T *) lwt_tile_line (band, from);

      if (whole)
        lwt_tile_copy<16> (to + done + lane, line + columns[0]);
      else
#pragma unroll
        for (int k = 0; k < n; k++)
          if (there[k])
            lwt_tile_copy<sizeof (T)> (
                &to->v[0] + places[k], line + columns[k] * band.step);
    }
  }
}

/* --- kernels ---------------------------------------------------------------------------------- */

template <typename T> struct LwtTileParameters {
  LwtTileTask task;
  T weights[LWT_TILE_MAX_TAPS + 2];
};

/* Waits for the kernel before and allows the launch of the next one
 * (programmatic dependent launch). */
static __device__ __forceinline__ void
lwt_tile_begin (void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n\t"
               "griddepcontrol.wait;" ::
                   : "memory");
#endif
}

/* Delays the first thread blocks of a multiprocessor, each by the time that those before
 * it load, so that some compute while others load: otherwise all load, then all compute.
 * 32 bytes a nanosecond is a multiprocessor's share of the bandwidth of an H200. */
template <typename T, class Tile>
static __device__ __forceinline__ void
lwt_tile_stagger (const LwtTileTask &task)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  LWT_KNOWN int bytes = Tile::plan.rows * Tile::plan.pitch * (int) sizeof (T);
  const int place = blockIdx.x / task.multiprocessors;

  if (bytes >= 32768 && place > 0 && place < Tile::plan.blocks)
    __nanosleep (place * (bytes / 32));
#endif
}

template <typename T, class Tile>
static __device__ __forceinline__ void
lwt_tile_forward (const LwtTileParameters<T> &parameters, T *tile)
{
  using X = LwtAlong<Tile, 0>;
  using Y = LwtAlong<Tile, 1>;
  LWT_KNOWN int pitch = Tile::plan.pitch, half = Tile::plan.half;
  constexpr int n = LwtChunk<T>::n;
  const LwtTileTask &task = parameters.task;
  const T *const weights = parameters.weights;
  const T *const scale = weights + LWT_TILE_MAX_TAPS;
  const int warp = lwt_tile_warp (), lane = threadIdx.x % 32;
  const LwtTilePlace x =
      lwt_tile_place<Tile, 0> (task.axis[0], blockIdx.x % task.axis[0].tiles);
  const LwtTilePlace y =
      lwt_tile_place<Tile, 1> (task.axis[1], blockIdx.x / task.axis[0].tiles);

  lwt_tile_begin ();
  lwt_tile_stagger<T, Tile> (task);
  lwt_tile_load<Tile> (tile, 0, Tile::plan.rows, 0, 2 * X::all_inputs (0),
      task.picture, 2 * (x.pair + X::from (0)), 2 * (y.pair + Y::from (0)),
      task.axis[0].n, task.axis[1].n);
  lwt_tile_copies_end ();
  __syncthreads ();

  { /* rows: low entries go to columns 0 .., high ones to half .. */
    const int run = warp % X::runs (), row = warp / X::runs () * 32 + lane;
    LwtRun<T, Tile, 0> values;

    if (row < Tile::plan.rows) {
      const LwtChunk<T> *const from =
          lwt_tile_row<Tile> (tile, row, run * (2 * X::run () / n));

#pragma unroll
      for (int i = 0; i < 2 * X::inputs (0) / n; i++) {
        const LwtChunk<T> chunk = from[i];

#pragma unroll
        for (int k = 0; k < n; k++)
          values.v[k % 2][(i * n + k) / 2] = chunk.v[k];
      }
      lwt_tile_lift_run<T, Tile, 0> (
          values, lwt_tile_edge<Tile, 0> (x, run), weights, task.shift);
    }
    __syncthreads ();
    if (row < Tile::plan.rows) {
      LwtChunk<T> *const to =
          lwt_tile_row<Tile> (tile, row, run * (X::run () / n));

#pragma unroll
      for (int odd = 0; odd < 2; odd++)
#pragma unroll
        for (int i = 0; i < X::run () / n; i++) {
          LwtChunk<T> chunk;

#pragma unroll
          for (int k = 0; k < n; k++)
            chunk.v[k] = values.v[odd][i * n + k + X::out (odd) - X::from (odd)]
                         * scale[odd];
          to[odd * (half / n) + i] = chunk;
        }
    }
    __syncthreads ();
  }

  { /* columns, then out to the bands */
    const int run = warp % Y::runs (), column = warp / Y::runs () * 32 + lane;
    /* low entries, then high ones, or if bands are interleaved, by turns */
    const bool woven = task.bands[1][0].step > 1;
    const int kind = woven ? column % 2 : column >= half;
    const int turn = column / 2 + (kind ? X::out (0) - X::out (1) : 0);
    const int k = woven ? (turn + half) % half : column - kind * half;
    int at = x.pair + X::out (kind) + k - task.axis[0].shift[kind];
    LwtRun<T, Tile, 1> values;

    if (column >= 2 * half
        || !lwt_tile_find<Tile> (at, (task.axis[0].n + 1 - kind) / 2)
        || task.bands[0][kind].data == 0)
      return;
    const T *const from = tile + 2 * run * Y::run () * pitch + kind * half + k;

#pragma unroll
    for (int i = 0; i < 2 * Y::inputs (0); i++)
      values.v[i % 2][i / 2] = from[i * pitch];
    lwt_tile_lift_run<T, Tile, 1> (
        values, lwt_tile_edge<Tile, 1> (y, run), weights, task.shift);
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
      const LwtTileBand &band = task.bands[odd][kind];
      const int height = (task.axis[1].n + 1 - odd) / 2;
      const int k =
          y.pair + run * Y::run () + Y::out (odd) - task.axis[1].shift[odd];
      const LwtTileBand own = { (T *) band.data + at * band.step, band.pitch,
        1 };

      if (band.data == 0)
        continue;
      if (k >= 0 && k + Y::run () <= height) {
        char *const to = lwt_tile_line (own, k);

#pragma unroll
        for (int i = 0; i < Y::run (); i++)
          *(T *) (to + (unsigned long long) (unsigned) i * band.pitch) =
              values.v[odd][i + Y::out (odd) - Y::from (odd)] * scale[odd];
        continue;
      }
#pragma unroll
      for (int i = 0; i < Y::run (); i++) {
        int row = k + i;

        if (lwt_tile_find<Tile> (row, height))
          *(T *) lwt_tile_line (own, row) =
              values.v[odd][i + Y::out (odd) - Y::from (odd)] * scale[odd];
      }
    }
  }
}

/* Computes the samples of the tile from @bands. Without @all only low
 * entries are read; the others are +0 and not scaled. Ends with a barrier. */
template <typename T, class Tile>
static __device__ __forceinline__ void
lwt_tile_synthesise (const LwtTileParameters<T> &parameters, T *tile,
    const LwtTileBand bands[2][2], bool all, const LwtTilePlace &x,
    const LwtTilePlace &y)
{
  using X = LwtAlong<Tile, 0>;
  using Y = LwtAlong<Tile, 1>;
  LWT_KNOWN int pitch = Tile::plan.pitch, half = Tile::plan.half;
  LWT_KNOWN int half_rows = Tile::plan.half_rows;
  constexpr int n = LwtChunk<T>::n;
  const LwtTileTask &task = parameters.task;
  const T *const weights = parameters.weights;
  const T *const scale = weights + LWT_TILE_MAX_TAPS;
  const int warp = lwt_tile_warp (), lane = threadIdx.x % 32;

  for (int i = 0; i < (all ? 4 : 1); i++) {
    const int odd_y = i / 2, odd_x = i % 2;

    lwt_tile_load<Tile> (tile, odd_y * half_rows, half_rows, odd_x * (half / n),
        half, bands[odd_y][odd_x],
        x.pair + X::from (odd_x) - task.axis[0].shift[odd_x],
        y.pair + Y::from (odd_y) - task.axis[1].shift[odd_y],
        (task.axis[0].n + 1 - odd_x) / 2, (task.axis[1].n + 1 - odd_y) / 2);
  }
  lwt_tile_copies_end ();
  __syncthreads ();

  { /* columns: entries become rows 0, 1, .. of entries along x */
    const int run = warp % Y::runs (), column = warp / Y::runs () * 32 + lane;
    const bool mine = column < (all ? 2 : 1) * half;
    LwtRun<T, Tile, 1> values;

    if (mine) {
      const T *const from = tile + run * Y::run () * pitch + column;

#pragma unroll
      for (int odd = 0; odd < 2; odd++)
#pragma unroll
        for (int i = 0; i < LwtRun<T, Tile, 1>::most; i++)
          if (i < Y::inputs (odd))
            values.v[odd][i] =
                odd && !all ? T (0)
                            : from[(odd * half_rows + i) * pitch] * scale[odd];
      lwt_tile_lift_run<T, Tile, 1> (
          values, lwt_tile_edge<Tile, 1> (y, run), weights, task.shift);
    }
    __syncthreads ();
    if (mine) {
      T *const to = tile + 2 * run * Y::run () * pitch + column;

#pragma unroll
      for (int i = 0; i < 2 * Y::run (); i++)
        to[i * pitch] = values.v[i % 2][i / 2 - Y::from (i % 2)];
    }
    __syncthreads ();
  }

  { /* rows: entries become samples */
    const int run = warp % X::runs (), row = warp / X::runs () * 32 + lane;
    LwtRun<T, Tile, 0> values;

    if (row < 2 * Y::size ()) {
      const LwtChunk<T> *const from =
          lwt_tile_row<Tile> (tile, row, run * (X::run () / n));

#pragma unroll
      for (int odd = 0; odd < 2; odd++)
#pragma unroll
        for (int i = 0; i < LwtRun<T, Tile, 0>::most / n; i++)
          if (i < X::inputs (odd) / n) {
            LwtChunk<T> chunk = {};

            if (all || !odd)
              chunk = from[odd * (half / n) + i];
#pragma unroll
            for (int k = 0; k < n; k++)
              values.v[odd][i * n + k] =
                  odd && !all ? T (0) : chunk.v[k] * scale[odd];
          }
      lwt_tile_lift_run<T, Tile, 0> (
          values, lwt_tile_edge<Tile, 0> (x, run), weights, task.shift);
    }
    __syncthreads ();
    if (row < 2 * Y::size ()) {
      LwtChunk<T> *const to =
          lwt_tile_row<Tile> (tile, row, run * (2 * X::run () / n));

#pragma unroll
      for (int i = 0; i < 2 * X::run () / n; i++) {
        LwtChunk<T> chunk;

#pragma unroll
        for (int k = 0; k < n; k++)
          chunk.v[k] = values.v[k % 2][(i * n + k) / 2 - X::from (k % 2)];
        to[i] = chunk;
      }
    }
    __syncthreads ();
  }
}

template <typename T, class Tile>
static __device__ __forceinline__ void
lwt_tile_inverse (const LwtTileParameters<T> &parameters, T *tile)
{
  using X = LwtAlong<Tile, 0>;
  using Y = LwtAlong<Tile, 1>;
  constexpr int n = LwtChunk<T>::n, lanes = 32;
  const LwtTileTask &task = parameters.task;
  const LwtTilePlace x =
      lwt_tile_place<Tile, 0> (task.axis[0], blockIdx.x % task.axis[0].tiles);
  const LwtTilePlace y =
      lwt_tile_place<Tile, 1> (task.axis[1], blockIdx.x / task.axis[0].tiles);

  lwt_tile_begin ();
  lwt_tile_stagger<T, Tile> (task);
  lwt_tile_synthesise<T, Tile> (
      parameters, tile, task.bands, task.bands[0][1].data != 0, x, y);
  for (int chunk = threadIdx.x % lanes; chunk < 2 * X::size () / n;
       chunk += lanes) {
    const int at_x = 2 * x.pair + chunk * n;
    const bool whole = at_x + n <= task.axis[0].n && at_x % n == 0;

#pragma unroll 4
    for (int row = threadIdx.x / lanes; row < 2 * Y::size ();
         row += Tile::plan.threads / lanes) {
      const LwtChunk<T> values = *lwt_tile_row<Tile> (tile, row, chunk);
      const int at_y = 2 * y.pair + row;
      T *const to = (T *) lwt_tile_line (task.picture, at_y) + at_x;

      if (at_y >= task.axis[1].n)
        continue;
      if (whole)
        *(LwtChunk<T> *) to = values;
      else
#pragma unroll
        for (int k = 0; k < n; k++)
          if (at_x + k < task.axis[0].n)
            to[k] = values.v[k];
    }
  }
}

/* --- components ------------------------------------------------------------------------- */

/* The NaN of missing points */
template <typename T>
static __device__ __forceinline__ T
lwt_tile_nan (void)
{
  const unsigned long long bits =
      sizeof (T) == 4 ? 0x7fc00000ull : 0x7ff8000000000000ull;
  T result;

  memcpy (&result, &bits, sizeof result);
  return result;
}

/* Loads a chunk of a row, up to @width. */
template <typename T>
static __device__ __forceinline__ LwtChunk<T>
lwt_tile_read (const LwtTileBand &band, int x, int y, int width)
{
  constexpr int n = LwtChunk<T>::n;
  const T *const from = (const T *) lwt_tile_line (band, y) + x;
  LwtChunk<T> chunk = {};

  if ((unsigned long long) from % 16 == 0 && x + n <= width)
    return *(const LwtChunk<T> *) from;
#pragma unroll
  for (int k = 0; k < n; k++)
    if (x + k < width)
      chunk.v[k] = from[k];
  return chunk;
}

/* Asynchronous copy of a chunk of a row, up to @width, to shared memory. */
template <typename T>
static __device__ __forceinline__ void
lwt_tile_fetch (
    LwtChunk<T> *to, const LwtTileBand &band, int x, int y, int width)
{
  constexpr int n = LwtChunk<T>::n;
  const T *const from = (const T *) lwt_tile_line (band, y) + x;

  if ((unsigned long long) from % 16 == 0 && x + n <= width)
    lwt_tile_copy<16> (to, from);
  else
#pragma unroll
    for (int k = 0; k < n; k++)
      if (x + k < width)
        lwt_tile_copy<sizeof (T)> (&to->v[k], from + k);
}

/* Stores a chunk of a row, up to @width. */
template <typename T>
static __device__ __forceinline__ void
lwt_tile_write (
    const LwtTileBand &band, int x, int y, int width, const LwtChunk<T> &chunk)
{
  constexpr int n = LwtChunk<T>::n;
  T *const to = (T *) lwt_tile_line (band, y) + x;

  if ((unsigned long long) to % 16 == 0 && x >= 0 && x + n <= width) {
    *(LwtChunk<T> *) to = chunk;
    return;
  }
#pragma unroll
  for (int k = 0; k < n; k++)
    if (x + k >= 0 && x + k < width)
      to[k] = chunk.v[k];
}

/* A sample of the form with P - p0; not inlined because of its divisions. */
template <typename T>
static __device__ LWT_NOINLINE T
lwt_tile_add_tail (
    T form, const double *polynomial, int x, int y, int width, int height)
{
  return (T) ((double) form
              + lwt_tail (
                  polynomial, lwt_centred (x, width), lwt_centred (y, height)));
}

/* Stores a chunk of a component; @x, @y: position in the component. @form:
 * adds the polynomial. */
template <typename T>
static __device__ __forceinline__ void
lwt_tile_write_part (const LwtTileParts &parts, int part, int x, int y,
    LwtChunk<T> chunk, bool form)
{
  constexpr int n = LwtChunk<T>::n;
  const int width = parts.size[0], words = (width + 31) / 32;

  if (form && parts.polynomial)
    for (int k = 0; k < n; k++)
      chunk.v[k] = lwt_tile_add_tail (
          chunk.v[k], parts.polynomial, x + k, y, width, parts.size[1]);
  if (parts.missing) {
    const unsigned *const bits = parts.missing + (unsigned long long) y * words;

    for (int k = 0; k < n; k++)
      if (x + k >= 0 && x + k < width
          && (bits[(x + k) / 32] >> (x + k) % 32 & 1) != 0)
        chunk.v[k] = lwt_tile_nan<T> ();
  }
  lwt_tile_write (parts.parts[part], x, y, width, chunk);
}

/* Calls f (chunk of the tile, row, column in chunks, x, y in the picture)
 * for those chunks of the thread that lie in the components, always the same
 * ones. */
template <typename T, class Tile, typename F>
static __device__ __forceinline__ void
lwt_tile_each_chunk (
    const LwtTileTask &task, const LwtTilePlace &x, const LwtTilePlace &y, F f)
{
  constexpr int n = LwtChunk<T>::n;
  LWT_KNOWN int chunks = 2 * LwtAlong<Tile, 0>::size () / n;
  LWT_KNOWN int rows = 2 * LwtAlong<Tile, 1>::size ();

#pragma unroll 2
  for (int at = threadIdx.x; at < rows * chunks; at += Tile::plan.threads) {
    const int row = at / chunks, column = at % chunks;
    const int at_x = 2 * x.pair + column * n, at_y = 2 * y.pair + row;
    const int part_y = at_y - task.parts.pad[1];

    if (part_y >= 0 && part_y < task.parts.size[1] && at_y < task.axis[1].n
        && at_x < task.axis[0].n)
      f (at, row, column, at_x, at_y);
  }
}

/* Components: each low band is expanded in the tile to the input of level 1
 * and subtracted from its predecessor: the picture, then the low bands one
 * after the other. The last low band is the form. A thread keeps the
 * predecessors of its chunks in @before, behind the tile in shared memory. */
template <typename T, class Tile>
static __device__ __forceinline__ void
lwt_tile_parts (const LwtTileParameters<T> &parameters, T *tile)
{
  const LwtTileTask &task = parameters.task;
  const LwtTileParts &parts = task.parts;
  const int *const pad = parts.pad;
  const int width = task.axis[0].n;
  const LwtTilePlace x =
      lwt_tile_place<Tile, 0> (task.axis[0], blockIdx.x % task.axis[0].tiles);
  const LwtTilePlace y =
      lwt_tile_place<Tile, 1> (task.axis[1], blockIdx.x / task.axis[0].tiles);
  LwtChunk<T> *const before =
      (LwtChunk<T> *) (tile + Tile::plan.rows * Tile::plan.pitch);
  const bool noise = parts.parts[0].data != 0;
  /* without noise levels, a low band of no levels is the first predecessor */
  const bool skips = !noise && parts.at_zero[0];

  lwt_tile_begin ();
  if (noise || skips)
    lwt_tile_each_chunk<T, Tile> (
        task, x, y, [&] (int at, int, int, int at_x, int at_y) {
          lwt_tile_fetch (&before[at], noise ? task.picture : parts.low[0],
              at_x, at_y, width);
        });
  for (int i = skips ? 1 : 0; i < 3; i++) {
    const LwtTileBand bands[2][2] = { { parts.low[i] } };

    if (parts.low[i].data == 0)
      continue;
    if (parts.at_zero[i])
      lwt_tile_copies_end ();
    else
      lwt_tile_synthesise<T, Tile> (parameters, tile, bands, false, x, y);
    lwt_tile_each_chunk<T, Tile> (
        task, x, y, [&] (int at, int row, int column, int at_x, int at_y) {
          LwtChunk<T> part = before[at];
          const LwtChunk<T> low =
              parts.at_zero[i]
                  ? lwt_tile_read<T> (parts.low[i], at_x, at_y, width)
                  : *lwt_tile_row<Tile> (tile, row, column);

          before[at] = low;
#pragma unroll
          for (int k = 0; k < LwtChunk<T>::n; k++)
            part.v[k] = part.v[k] - low.v[k];
          if (parts.parts[i].data)
            lwt_tile_write_part<T> (
                parts, i, at_x - pad[0], at_y - pad[1], part, false);
        });
    __syncthreads ();
  }
  if (parts.parts[3].data)
    lwt_tile_each_chunk<T, Tile> (
        task, x, y, [&] (int at, int, int, int at_x, int at_y) {
          lwt_tile_write_part<T> (
              parts, 3, at_x - pad[0], at_y - pad[1], before[at], true);
        });
}
