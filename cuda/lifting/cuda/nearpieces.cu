/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* One or two levels of a small picture forward in one pass over memory.
 *
 * Small pictures give few warps with sliding windows, whose turns, most of them
 * overlap, come one after the other. So here a thread block has a piece of a strip
 * (cuda/lifting/cuda/near.cuh) in shared memory: each warp lifts some of its rows; then each
 * thread a part of a column, all of it in registers; then the same with the low
 * rows of the low columns, for the next level.
 *
 * Pieces and parts of columns are all of the same length, so that it is known when
 * compiling where the outermost pair may be; the last ones end where the picture
 * does, and leave to others what those have done. */
#include "cuda/lifting/cuda/near.cuh"

namespace {

#define WARPS 8
#define THREADS (32 * WARPS)
/* Rows of pairs of the last of two levels in a piece; of one alone twice as many */
#define LENGTH 12
/* Pieces for each multiprocessor, so few that all are worked on at once */
#define EACH 2
/* Rows that a warp lifts together at most, so that shuffles overlap */
#define TOGETHER 4

/* An entry of a band, and how far the one below it is */
typedef struct {
  guint8 *at;
  gssize pitch;
} Output;

template <class Shape, int DEPTH, bool HIGH> struct Piece {
  using Order = LwtOrder<Shape, false>;
  using March = LwtMarch<Order>;
  static constexpr int LEFT = March::left, RIGHT = March::right;
  static constexpr int LAST = DEPTH - 1;
  /* rows of pairs of the last level */
  static constexpr int OUTPUTS = LENGTH * 2 / DEPTH;

  static_assert (lwt_is_near<Order> (), "steps reach too far");

  /* Of a level: pairs of a lane; samples of a row; pairs of rows that are made, the
   * whose low ones are the next level's rows; those they depend on */
  static __host__ __device__ constexpr int
  K (int level)
  {
    return LWT_NEAR_K >> level;
  }
  static __host__ __device__ constexpr int
  ROW (int level)
  {
    return 2 * LWT_NEAR_STRIP >> level;
  }
  static __host__ __device__ constexpr int
  made (int level)
  {
    return level == LAST ? OUTPUTS : 2 * needed (level + 1);
  }
  static __host__ __device__ constexpr int
  needed (int level)
  {
    return LEFT + made (level) + RIGHT;
  }
  static __host__ __device__ constexpr int
  size (int level)
  {
    return 2 * needed (level) * ROW (level);
  }
  static constexpr int SHARED =
      sizeof (float) * (size (0) + (DEPTH > 1 ? size (LAST) : 0));

  static_assert (SHARED <= 48 * 1024, "more than a kernel has unasked");

  const LwtNearTask &task;
  const LwtNearStrip &strip;
  gint lane, warp;

  __device__ __forceinline__
  Piece (const LwtNearTask &task, const LwtNearStrip &strip)
      : task (task), strip (strip), lane (threadIdx.x % 32),
        warp (threadIdx.x / 32)
  {
  }

  /* Copies the picture's rows from pair @from on, inside the picture, to where
   * their lanes will lift them. */
  __device__ __forceinline__ void
  fetch (float *rows, gint from) const
  {
    const gint height = 2 * task.levels[0].pairs[1];

    for (gint i = warp; i < 2 * needed (0); i += WARPS) {
      gint y = 2 * from + i;

      if (task.periodic)
        y = lwt_modulo (y, height);
      if (y >= 0 && y < height)
        lwt_copy_ahead<16> (rows + i * ROW (0) + lane * 4,
            (const guint8 *) task.picture.data
                + y * (gssize) task.picture.stride
                + strip.column * (gssize) sizeof (float));
    }
    lwt_copies_end ();
    lwt_copies_wait<0> ();
  }

  /* The lane's samples of a row, and where its entries go: low ones, then high
   * ones. */
  static __device__ __forceinline__ void
  load (float x[2][2], const float *row)
  {
    const float4 four = *(const float4 *) row;

    x[0][0] = four.x;
    x[1][0] = four.y;
    x[0][1] = four.z;
    x[1][1] = four.w;
  }
  static __device__ __forceinline__ void
  load (float x[2][1], const float *row)
  {
    const float2 two = *(const float2 *) row;

    x[0][0] = two.x;
    x[1][0] = two.y;
  }
  template <int N>
  static __device__ __forceinline__ void
  store (float *row, const float x[N], float scale)
  {
    if (N == 1)
      *row = x[0] * scale;
    else
      *(float2 *) row = make_float2 (x[0] * scale, x[N - 1] * scale);
  }

  /* Splits the rows of a level in place. */
  template <int LEVEL>
  __device__ __forceinline__ void
  split (float *rows) const
  {
    constexpr int N = 2 * needed (LEVEL), EACH_WARP = (N + WARPS - 1) / WARPS;
    constexpr int TURNS = (EACH_WARP + TOGETHER - 1) / TOGETHER;
    constexpr int R = (EACH_WARP + TURNS - 1) / TURNS;

    for (gint y = warp; y < N; y += R * WARPS) {
      float x[R][2][K (LEVEL)];

#pragma unroll
      for (gint r = 0; r < R; r++)
        if (y + r * WARPS < N)
          load (x[r],
              rows + (y + r * WARPS) * ROW (LEVEL) + lane * 2 * K (LEVEL));
      __syncwarp ();
      lwt_near_lift_rows<Order, R, K (LEVEL), true> (x, task, strip);
#pragma unroll
      for (gint r = 0; r < R; r++)
        if (y + r * WARPS < N)
#pragma unroll
          for (gint kind = 0; kind < 2; kind++)
            store<K (LEVEL)> (rows + (y + r * WARPS) * ROW (LEVEL)
                                  + kind * (ROW (LEVEL) / 2) + lane * K (LEVEL),
                x[r][kind], task.scale[kind]);
    }
  }

  /* All steps on N pairs of a column, the picture's first one and its last one
   * being number @top and @bottom, if they are there. */
  template <int N, int I = 0>
  __device__ __forceinline__ void
  lift (float x[2][N], gint top, gint bottom) const
  {
    if constexpr (I < Order::n) {
      constexpr int odd = Order::odd (I), first = Order::first (I);
      constexpr int tap = Order::tap (I);

#pragma unroll
      for (gint k = 0; k < N; k++)
#pragma unroll
        for (gint i = 0; i < Order::taps (I); i++) {
          const gint to = k + first + i;
          float value = x[1 - odd][to < 0 || to >= N ? k : to];

          if (to < k && k <= LEFT && k == top)
            value = x[1 - odd][k];
          if (to > k && k >= N - 1 - RIGHT && k == bottom)
            value = x[1 - odd][k];
          x[odd][k] = fmaf (task.taps[tap + i], value, x[odd][k]);
        }
      lift<N, I + 1> (x, top, bottom);
    }
  }

  /* Lifts columns of split rows; the first pair that is made is @from;
   * those of high entries only if they are wanted. */
  template <int LEVEL>
  __device__ __forceinline__ void
  lift_columns (
      const float *rows, gint from, gint begin, gint end, float *low_rows) const
  {
    constexpr int COLUMNS = HIGH ? ROW (LEVEL) : ROW (LEVEL) / 2;
    constexpr int PARTS = THREADS / COLUMNS;
    constexpr int PART = (made (LEVEL) + PARTS - 1) / PARTS;
    constexpr int N = LEFT + PART + RIGHT;
    const gint column = threadIdx.x % COLUMNS;
    const gint part = from + (gint) threadIdx.x / COLUMNS * PART;
    const gint start = start_of<LEVEL, PART> (part, from);
    /* a periodic picture has no outermost pair */
    const gint top = task.periodic ? -1 : LEFT - start;
    const gint bottom =
        task.periodic ? -1 : top + task.levels[LEVEL].pairs[1] - 1;
    float x[2][N];

    rows += 2 * (start - from) * ROW (LEVEL) + column;
#pragma unroll
    for (gint i = 0; i < 2 * N; i++)
      x[i % 2][i / 2] = rows[i * ROW (LEVEL)];
    lift<N> (x, top, bottom);
    write<LEVEL, PART> (x, column, start, part, max (begin, part),
        min (end, part + PART), low_rows + (start - from) * (ROW (LEVEL) / 2));
  }

  /* Writes a part of a column, which is pairs @part .., of what has been made from
   * pair @start on. Of pairs @begin .. @end - 1 entries go to bands, low ones for the
   * next level to @low_rows. */
  template <int LEVEL, int PART>
  __device__ __forceinline__ void
  write (const float x[2][LEFT + PART + RIGHT], gint column, gint start,
      gint part, gint begin, gint end, float *low_rows) const
  {
    constexpr int HALF = ROW (LEVEL) / 2;
    const gint kind = column / HALF, pair = column % HALF;
    const bool goes_on = LEVEL < LAST && kind == 0;
    Output outputs[2];

    if (!writes<LEVEL> (pair) || end < begin)
      end = begin;
#pragma unroll
    for (gint odd = 0; odd < 2; odd++)
      outputs[odd] =
          output<LEVEL> (task.levels[LEVEL].bands[odd][kind], pair, start);
#pragma unroll
    for (gint i = 0; i < PART; i++) {
      const bool inside = (guint) (start + i - begin) < (guint) (end - begin);
      const float low = x[0][LEFT + i] * task.scale[0];

      if (goes_on && (guint) (start + i - part) < (guint) PART)
        low_rows[i * HALF + column] = low;
      if (inside && !goes_on)
        *(float *) outputs[0].at = low;
      if (HIGH && inside)
        *(float *) outputs[1].at = x[1][LEFT + i] * task.scale[1];
#pragma unroll
      for (gint odd = 0; odd < 2; odd++)
        outputs[odd].at += outputs[odd].pitch;
    }
  }

  /* First pair that a thread makes for @part: the last parts end where the level's
   * pairs, or those that are made, do. */
  template <int LEVEL, int PART>
  __device__ __forceinline__ gint
  start_of (gint part, gint from) const
  {
    const gint start = min (part, from + made (LEVEL) - PART);

    return task.periodic
               ? start
               : max (min (start, task.levels[LEVEL].pairs[1] - PART), 0);
  }

  /* Whether entries of pair @x of a level's strip are outputs. */
  template <int LEVEL>
  __device__ __forceinline__ bool
  writes (gint x) const
  {
    return lwt_near_writes (
        task, strip, strip.pair - lane * LWT_NEAR_K + (x << LEVEL));
  }

  /* Offset in a band of entry @y of pair @x of the strip. */
  template <int LEVEL>
  __device__ __forceinline__ Output
  output (const LwtBand &band, gint x, gint y) const
  {
    const gint pair = strip.pair - lane * LWT_NEAR_K + (x << LEVEL);
    Output output;

    output.pitch = band.pitch;
    output.at = (guint8 *) band.data + y * output.pitch
                + (pair >> LEVEL) * (gssize) sizeof (float);
    return output;
  }

  /* Makes pairs @from .. of the last level; those before @begin are
   * written by others. */
  __device__ __forceinline__ void
  run (gint from, gint begin) const
  {
    const gint first = DEPTH > 1 ? 2 * (from - LEFT) : from;
    float *rows = (float *) LWT_SHARED, *low_rows = rows + size (0);

    fetch (rows, first - LEFT);
    split<0> (rows);
    __syncthreads ();
    lift_columns<0> (
        rows, first, begin << LAST, (from + OUTPUTS) << LAST, low_rows);
    if constexpr (DEPTH > 1) {
      __syncthreads ();
      split<LAST> (low_rows);
      __syncthreads ();
      lift_columns<LAST> (low_rows, from, begin, from + OUTPUTS, low_rows);
    }
  }
};

template <class Shape, int DEPTH, bool HIGH>
__global__ void
__launch_bounds__ (THREADS)
    near_pieces_kernel (LWT_PARAMETER (LwtNearTask, task))
{
  const gint begin = (gint) blockIdx.x / task.strips * task.segment;
  /* the last one ends where the picture does */
  const gint from = min (begin, task.levels[DEPTH - 1].pairs[1] - task.segment);
  bool edge;
  const LwtNearStrip strip =
      lwt_near_strip (task, (gint) blockIdx.x % task.strips, &edge);

  lwt_wait_alone ();
  if (task.small)
    lwt_let_next_begin ();
  Piece<Shape, DEPTH, HIGH> (task, strip).run (from, begin);
}

template <class Shape, int DEPTH, bool HIGH>
gboolean
pieces_kind (const LwtTransform *transform, const LwtLevelTask *levels,
    gboolean *done, cudaStream_t stream, GError **error)
{
  using ThisPiece = Piece<Shape, DEPTH, HIGH>;
  const LwtReach reach = { ThisPiece::LEFT, ThisPiece::RIGHT };
  LwtNearTask task;
  guint blocks;

  blocks = lwt_near_cut_pieces (
      &task, transform, levels, DEPTH, reach, ThisPiece::OUTPUTS, EACH);
  *done = blocks > 0;
  if (blocks == 0)
    return TRUE;
  return lwt_launch (near_pieces_kernel<Shape, DEPTH, HIGH>,
      "the near_pieces_kernel", dim3 (blocks), THREADS, ThisPiece::SHARED,
      stream, task, error);
}

template <class Shape>
gboolean
pieces (const LwtTransform *transform, const LwtLevelTask *levels, guint depth,
    gboolean *done, cudaStream_t stream, GError **error)
{
  const gboolean high = levels[0].bands[0][1].data != NULL;

  if (depth == 1)
    return high ? pieces_kind<Shape, 1, true> (
               transform, levels, done, stream, error)
                : pieces_kind<Shape, 1, false> (
                    transform, levels, done, stream, error);
  return high ? pieces_kind<Shape, 2, true> (
             transform, levels, done, stream, error)
              : pieces_kind<Shape, 2, false> (
                  transform, levels, done, stream, error);
}

} // namespace

gboolean
lwt_near_pieces (const LwtTransform *transform, const LwtLevelTask *levels,
    guint depth, gboolean *done, cudaStream_t stream, GError **error)
{
  return LWT_BY_SHAPE (transform->kernels, pieces, transform, levels, depth,
      done, stream, error);
}
