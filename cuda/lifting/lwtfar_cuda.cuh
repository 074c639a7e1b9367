/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A level in one pass over memory, of wavelets whose steps drift apart (db4,
 * db10: P@-6 next to U@4), in float. A thread block has a strip of LWT_FAR_STRIP
 * pairs of columns and goes down a segment of it, LWT_FAR_PAIRS pairs of rows a
 * turn: a warp lifts a pair of rows in registers, a lane LWT_FAR_K pairs of
 * samples of it, and a thread a column, what the steps hold back in registers
 * from turn to turn. Between the two the rows lie in shared memory.
 *
 * Rows: the two kinds of samples move along the lanes as the steps ask for it.
 * A step that needs one neighbour more than the lane has gets it by a shuffle,
 * and what it keeps of the K + 1 is what the next step will need. So a lane ends
 * with low and high entries of different pairs, at an offset that is known when
 * compiling, and a strip loses no more pairs than a filter has (LwtOffsets).
 *
 * Columns: each step runs as soon as what it needs is there, each sample being
 * handed on as it is; what is held back is what a step has added up so far, or a
 * neighbour that comes too early (LwtFlow).
 *
 * Edges: along a line of 16 pairs, one a lane, a step's neighbours come by
 * shuffles from wherever lwt_neighbour() says (pieces). At the sides a warp does
 * that besides its rows; what depends on the upper or lower edge is done by
 * thread blocks of their own. */
#pragma once

#include "lwtdevice_cuda.cuh"
#include "lwtlaunch_cuda.cuh"
#include "lwtshape_cuda.cuh"

#define LWT_FAR_K 4
#define LWT_FAR_STRIP (32 * LWT_FAR_K)
#define LWT_FAR_PAIRS 8
#define LWT_FAR_WARPS LWT_FAR_PAIRS
#define LWT_FAR_THREADS (32 * LWT_FAR_WARPS)
/* Thread blocks of a multiprocessor */
#define LWT_FAR_BLOCKS 2
/* Pairs of a piece at an edge, one a lane: two lines a warp. No output that an
 * edge matters to depends on more (lwt_piece_suffices) */
#define LWT_FAR_PIECE 16
/* Rows of it for each warp */
#define LWT_FAR_EDGE_ROWS (2 * LWT_FAR_PIECE / LWT_FAR_WARPS)

/* Floats of a row of a strip: low entries, then high ones; of the rows of a turn
 * and those of the next; of the tables of neighbours, in front of them */
#define LWT_FAR_ROW (2 * LWT_FAR_STRIP)
#define LWT_FAR_TURN (2 * LWT_FAR_PAIRS * LWT_FAR_ROW)
#define LWT_FAR_TABLE (LWT_FAR_PIECE * LWT_MAX_SHAPE_TAPS / 4)
#define LWT_FAR_TABLES (3 * LWT_FAR_TABLE)

/* --- what depends on what ---------------------------------------------------- */

/* Sample k of a kind, when all is done, depends on samples k + low .. k + high of
 * each kind as they were: [kind][of kind]. */
struct LwtWindows {
  int low[2][2], high[2][2];
};

template <class Order>
__host__ __device__ constexpr LwtWindows
lwt_windows ()
{
  /* 1000: on none */
  LwtWindows w = { { { 0, 1000 }, { 1000, 0 } },
    { { 0, -1000 }, { -1000, 0 } } };

  for (int i = 0; i < Order::n; i++) {
    const int x = Order::odd (i), y = 1 - x;
    const int first = Order::first (i), last = first + Order::taps (i) - 1;

    for (int of = 0; of < 2; of++) {
      const int low = w.low[y][of] + first, high = w.high[y][of] + last;

      w.low[x][of] = low < w.low[x][of] ? low : w.low[x][of];
      w.high[x][of] = high > w.high[x][of] ? high : w.high[x][of];
    }
  }
  return w;
}

/* --- along a row ----------------------------------------------------------------- */

/* Which sample of a kind the first lane's first is, before forward step i (and
 * behind the last one), counted from its first pair. */
struct LwtOffsets {
  int at[LWT_MAX_SHAPE_STEPS + 1][2];
};

__host__ __device__ constexpr int
lwt_within (int x, int low, int high)
{
  return x < low ? low : x > high ? high : x;
}

template <class Shape>
__host__ __device__ constexpr LwtOffsets
lwt_offsets ()
{
  using Order = LwtOrder<Shape, false>;
  LwtOffsets o = {};

  for (int i = 0; i < Order::n; i++) {
    const int x = Order::odd (i), y = 1 - x, own = o.at[i][y];
    const int need = o.at[i][x] + Order::first (i);
    const int end = need + LWT_FAR_K + Order::taps (i) - 1;
    int to = own;

    /* the next step finds all its neighbours but one in the lane if they begin
     * with the lane's, or one before */
    if (i + 1 < Order::n && Order::odd (i + 1) == y) {
      const int most = o.at[i][x] - Order::first (i + 1);

      to = lwt_within (to, most - Order::taps (i + 1) + 1, most);
    }
    to = lwt_within (to, need < own ? need : own,
        (end > own + LWT_FAR_K ? end : own + LWT_FAR_K) - LWT_FAR_K);
    o.at[i + 1][x] = o.at[i][x];
    o.at[i + 1][y] = to;
  }
  return o;
}

/* --- down a column ------------------------------------------------------------------ */

/* At time t samples t - in[kind] come, and samples t - out[kind] are done. What is
 * held back by step i lies from hold[at[i]] on: @delay samples that it is to
 * change, and @lag neighbours before the newest; with @sum, what it has added up
 * of a sample with the neighbour before the newest. */
struct LwtFlow {
  int in[2], out[2];
  int delay[LWT_MAX_SHAPE_STEPS], lag[LWT_MAX_SHAPE_STEPS];
  bool sum[LWT_MAX_SHAPE_STEPS];
  int at[LWT_MAX_SHAPE_STEPS];
  int hold; /* all that is held back */
  int warm; /* outputs are right so long after the first samples came */
};

template <class Shape, bool INVERSE>
__host__ __device__ constexpr LwtFlow
lwt_flow ()
{
  using Order = LwtOrder<Shape, INVERSE>;
  const LwtOffsets offsets = lwt_offsets<Shape> ();
  const int *end = offsets.at[Order::n];
  const int most = end[0] > end[1] ? end[0] : end[1];
  const LwtWindows w = lwt_windows<Order> ();
  LwtFlow flow = {};
  int now[2] = {};

  for (int kind = 0; kind < 2; kind++)
    now[kind] = flow.in[kind] = INVERSE ? most - end[kind] : 0;
  for (int i = 0; i < Order::n; i++) {
    const int x = Order::odd (i), y = 1 - x;
    const int ready = now[y] + Order::first (i) + Order::taps (i) - 1;
    const int late = ready > now[x] ? ready - now[x] : 0;

    flow.at[i] = flow.hold;
    if (Order::taps (i) == 2 && late > 0) {
      flow.sum[i] = true;
      flow.delay[i] = late - 1;
    } else {
      flow.delay[i] = late;
      flow.lag[i] = now[x] + late - ready + Order::taps (i) - 1;
    }
    flow.hold += flow.delay[i] + flow.lag[i] + flow.sum[i];
    now[x] += late;
  }
  for (int kind = 0; kind < 2; kind++) {
    flow.out[kind] = now[kind];
    for (int of = 0; of < 2; of++) {
      const int warm = now[kind] - w.low[kind][of] - flow.in[of];

      flow.warm = warm > flow.warm ? warm : flow.warm;
    }
  }
  return flow;
}

/* --- a structure and a direction ------------------------------------------------------ */

template <class Shape, bool INVERSE> struct LwtFar {
  using Order = LwtOrder<Shape, INVERSE>;

  __host__ __device__ static constexpr LwtFlow
  flow ()
  {
    return lwt_flow<Shape, INVERSE> ();
  }
  /* Of a kind, before running step i and behind it */
  __host__ __device__ static constexpr int
  before (int i, int kind)
  {
    return lwt_offsets<Shape> ().at[INVERSE ? Order::n - i : i][kind];
  }
  __host__ __device__ static constexpr int
  behind (int i, int kind)
  {
    return before (i + 1, kind);
  }
  /* Of bands' entries */
  __host__ __device__ static constexpr int
  offset (int kind)
  {
    return lwt_offsets<Shape> ().at[Order::n][kind];
  }
  /* Positions in a strip from @from to @to - 1 come out right. */
  __host__ __device__ static constexpr int
  from ()
  {
    const LwtWindows w = lwt_windows<Order> ();
    int from = 0;

    for (int kind = 0; kind < 2; kind++)
      for (int of = 0; of < 2; of++) {
        const int p =
            offset (INVERSE ? of : kind) * (INVERSE ? 1 : -1) - w.low[kind][of];

        from = p > from ? p : from;
      }
    return from;
  }
  __host__ __device__ static constexpr int
  to ()
  {
    const LwtWindows w = lwt_windows<Order> ();
    int to = LWT_FAR_STRIP;

    for (int kind = 0; kind < 2; kind++)
      for (int of = 0; of < 2; of++) {
        const int p = LWT_FAR_STRIP - w.high[kind][of]
                      + offset (INVERSE ? of : kind) * (INVERSE ? 1 : -1);

        to = p < to ? p : to;
      }
    return to;
  }
};

/* Whether what an end of a line of @n samples gives, of a kind the first to[kind],
 * or all but the first whole - from[kind] of its whole pairs, depends on nothing
 * beyond a piece. Mirrored neighbours are those that lie farthest in. */
template <class Order>
__host__ __device__ constexpr bool
lwt_piece_suffices (int n, bool end, const int to[2], const int from[2])
{
  const int pairs = (n + 1) / 2, start = end ? pairs - LWT_FAR_PIECE : 0;
  bool good[2][LWT_FAR_PIECE] = {};

  for (int i = 0; i < 2 * LWT_FAR_PIECE; i++)
    good[i & 1][i / 2] = 2 * start + i < n;
  for (int i = 0; i < Order::n; i++) {
    const int x = Order::odd (i), y = 1 - x;

    for (int k = 0; k < LWT_FAR_PIECE; k++)
      for (int tap = 0; tap < Order::taps (i); tap++) {
        int at = 2 * (start + k + Order::first (i) + tap) + y;

        at = at < 0 ? -at : at;
        at = (at < n ? at : 2 * (n - 1) - at) / 2 - start;
        good[x][k] = good[x][k] && at >= 0 && at < LWT_FAR_PIECE && good[y][at];
      }
  }
  for (int kind = 0; kind < 2; kind++)
    for (int k = end ? n / 2 - from[kind] : 0;
         k < (end ? (n + 1 - kind) / 2 : to[kind]); k++)
      if (!good[kind][k - start])
        return false;
  return true;
}

/* Those of both axes, of even and odd lines */
template <class Shape, bool INVERSE>
__host__ __device__ constexpr bool
lwt_pieces_suffice ()
{
  using Order = LwtOrder<Shape, INVERSE>;
  const LwtWindows w = lwt_windows<Order> ();
  const LwtFlow flow = lwt_flow<Shape, INVERSE> ();
  const int begin =
      flow.warm + (flow.in[0] > flow.in[1] ? flow.in[0] : flow.in[1]);
  int to[2][2] = {}, from[2][2] = {};
  bool result = true;

  for (int kind = 0; kind < 2; kind++) {
    const int *low = w.low[kind], *high = w.high[kind];

    to[0][kind] = -(low[0] < low[1] ? low[0] : low[1]);
    from[0][kind] = high[0] > high[1] ? high[0] : high[1];
    to[1][kind] = begin - flow.out[kind];
    from[1][kind] = flow.out[kind];
  }
  for (int n = 8 * LWT_FAR_PIECE; n < 8 * LWT_FAR_PIECE + 2; n++)
    for (int axis = 0; axis < 2; axis++)
      for (int end = 0; end < 2; end++)
        result =
            result
            && lwt_piece_suffices<Order> (n, end == 1, to[axis], from[axis]);
  return result;
}

/* --- launches ----------------------------------------------------------------------------- */

/* The pieces at the ends of an axis: none (a period), one of all pairs, two.
 * @start: their first pairs
 * @to, @from: the first one gives samples k < to[kind] of a kind, the second one
 *   k >= from[kind]; what is between does not depend on the ends */
typedef struct {
  gint n, pairs;
  gint pieces;
  gint start[2];
  gint to[2], from[2];
} LwtFarAxis;

/* @taps: in the order they are run in, with their signs
 * @neighbour: of each, from the sample that it is for; bit of @odd: it is an odd
 *   one
 * @first, @last: pairs that the first strip and the last begin with; @useful
 *   pairs lie between strips
 * @from, @to: times (LwtFlow) that @segments of @segment are of; those of the
 * first and last strip, which have more to do, are shorter: [1]
 * @small: each multiprocessor has one thread block at most */
typedef struct {
  float taps[LWT_MAX_SHAPE_TAPS];
  float scale[2];
  gint8 neighbour[LWT_MAX_SHAPE_TAPS];
  guint32 odd;
  gint n_taps;
  LwtBoundary boundary;
  LwtFarAxis x, y;
  gint strips, useful, first, last;
  gint from, to, segment[2], segments[2];
  bool small;
  LwtPicture picture;
  LwtBand bands[2][2];
  gint shift[2];
} LwtFarTask;

/* What there is to know of a structure and a direction beyond its steps. */
typedef struct {
  gboolean inverse;
  LwtWindows windows;
  LwtFlow flow;
  gint offset[2];
  gint from, to;
} LwtFarFacts;

template <class Shape, bool INVERSE>
static inline LwtFarFacts
lwt_far_facts ()
{
  using Far = LwtFar<Shape, INVERSE>;
  LwtFarFacts facts;

  static_assert (lwt_pieces_suffice<Shape, INVERSE> (), "larger pieces");

  facts.inverse = INVERSE;
  facts.windows = lwt_windows<typename Far::Order> ();
  facts.flow = Far::flow ();
  facts.offset[0] = Far::offset (0);
  facts.offset[1] = Far::offset (1);
  facts.from = (Far::from () + 1) / 2 * 2;
  facts.to = Far::to ();
  return facts;
}

/* Sets up the level's task. @edge_blocks: thread blocks of a strip at an edge.
 * Returns: thread blocks of all */
guint lwt_far_cut (LwtFarTask *task, const LwtTransform *transform,
    const LwtLevelTask *level, const LwtFarFacts *facts, gint edge_blocks);

template <typename Task>
static inline gboolean
lwt_far_launch (void (*kernel) (Task), const char *name, guint blocks,
    gsize shared, cudaStream_t stream, const Task &task, GError **error)
{
  if (shared > 48 * 1024
      && !CVIS_CUDA (
          cudaFuncSetAttribute ((const void *) kernel,
              cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared),
          error))
    return FALSE;
  return lwt_launch (kernel, name, dim3 (blocks), LWT_FAR_THREADS, shared,
      stream, task, error);
}

/* --- strips ---------------------------------------------------------------------------------- */

/* With neighbours to both sides; at a side of the picture; of one that repeats
 * itself */
typedef enum {
  LWT_FAR_INNER,
  LWT_FAR_SIDE,
  LWT_FAR_PERIOD,
} LwtFarKind;

/* @start: its first pair; @from, @to: positions whose outputs are its own
 * @piece: which pieces along x are its; @any: whether one is, @which then */
typedef struct {
  LwtFarKind kind;
  gint start;
  gint from, to;
  bool piece[2], any;
  gint which;
} LwtFarStrip;

template <class Shape, bool INVERSE>
static __device__ __forceinline__ LwtFarStrip
lwt_far_strip (const LwtFarTask &task, gint index)
{
  constexpr int FROM = (LwtFar<Shape, INVERSE>::from () + 1) / 2 * 2;
  constexpr int TO = LwtFar<Shape, INVERSE>::to ();
  const bool last = index == task.strips - 1;
  const gint first = task.first + index * task.useful;
  LwtFarStrip strip;

  strip.start = last ? task.last : first;
  strip.from = FROM + first - strip.start;
  strip.to = last ? TO : FROM + task.useful;
  strip.piece[0] = index == 0 && task.x.pieces > 0;
  strip.piece[1] = last && task.x.pieces > 1;
  strip.any = strip.piece[0] || strip.piece[1];
  strip.which = strip.piece[0] ? 0 : 1;
  if (strip.piece[0])
    strip.from = 0;
  if (last && task.x.pieces > 0)
    strip.to = LWT_FAR_STRIP;
  strip.kind = LWT_FAR_INNER;
  if (task.x.pieces == 0)
    strip.kind = LWT_FAR_PERIOD;
  else if (strip.start < 0 || 2 * (strip.start + LWT_FAR_STRIP) > task.x.n)
    strip.kind = LWT_FAR_SIDE;
  return strip;
}

/* --- lifting rows ------------------------------------------------------------------------------ */

/* A number that the compiler knows */
template <int I> struct LwtInt {
  static constexpr int value = I;
};

/* Nothing to do between the steps */
struct LwtFarNothing {
  template <class Int>
  __device__ __forceinline__ void
  operator() (Int) const
  {
  }
};

/* Step I on N rows: x[][0] the lane's even samples, x[][1] the odd ones. */
template <class Shape, bool INVERSE, int N, int I>
static __device__ __forceinline__ void
lwt_far_step_rows (float x[N][2][LWT_FAR_K], const LwtFarTask &task)
{
  using Far = LwtFar<Shape, INVERSE>;
  using Order = typename Far::Order;
  constexpr int K = LWT_FAR_K;
  constexpr int odd = Order::odd (I), n = Order::taps (I);
  constexpr int tap = Order::tap (I);
  constexpr int own = Far::before (I, 1 - odd), to = Far::behind (I, 1 - odd);
  constexpr int need = Far::before (I, odd) + Order::first (I);
  constexpr int low = need < to ? need : to;
  constexpr int end = (need + n - 1 > to ? need + n - 1 : to) + K;
  float v[N][end - low];

#pragma unroll
  for (int i = 0; i < end - low; i++) {
    const int from = low + i - own + 64 * K, lanes = from / K - 64;

#pragma unroll
    for (int r = 0; r < N; r++) {
      const float value = x[r][1 - odd][from % K];

      v[r][i] = lanes > 0   ? __shfl_down_sync (LWT_LANES_ALL, value, lanes)
                : lanes < 0 ? __shfl_up_sync (LWT_LANES_ALL, value, -lanes)
                            : value;
    }
  }
#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
      for (int r = 0; r < N; r++)
        x[r][odd][k] =
            fmaf (task.taps[tap + i], v[r][need - low + k + i], x[r][odd][k]);
#pragma unroll
  for (int k = 0; k < K; k++)
#pragma unroll
    for (int r = 0; r < N; r++)
      x[r][1 - odd][k] = v[r][to - low + k];
}

/* All steps. Each waits for what comes from the next lane: @meanwhile
 * (LwtInt<step>) is called behind each for something else to do. (nvcc 11.2 takes
 * no pragma in a branch that is left out, here and below.) */
template <class Shape, bool INVERSE, int N, class Meanwhile, int I = 0>
static __device__ __forceinline__ void
lwt_far_lift_rows (float x[N][2][LWT_FAR_K], const LwtFarTask &task,
    const Meanwhile &meanwhile)
{
  if constexpr (I < LwtFar<Shape, INVERSE>::Order::n) {
    lwt_far_step_rows<Shape, INVERSE, N, I> (x, task);
    meanwhile (LwtInt<I> ());
    lwt_far_lift_rows<Shape, INVERSE, N, Meanwhile, I + 1> (x, task, meanwhile);
  }
}

/* --- lifting columns ------------------------------------------------------------------------------ */

/* A column on its way: what its steps hold back. */
template <class Shape, bool INVERSE> struct LwtFarColumn {
  using Order = LwtOrder<Shape, INVERSE>;

  __host__ __device__ static constexpr LwtFlow
  flow ()
  {
    return lwt_flow<Shape, INVERSE> ();
  }

  float hold[lwt_flow<Shape, INVERSE> ().hold];

  __device__ __forceinline__ void
  clear ()
  {
#pragma unroll
    for (int i = 0; i < flow ().hold; i++)
      hold[i] = 0.0f;
  }

  /* The value of @N before, @value being the newest. */
  template <int AT, int N>
  __device__ __forceinline__ float
  push (float value)
  {
    const float result = N > 0 ? hold[AT + (N > 0 ? N - 1 : 0)] : value;

#pragma unroll
    for (int i = N - 1; i > 0; i--)
      hold[AT + i] = hold[AT + i - 1];
    if (N > 0)
      hold[AT] = value;
    return result;
  }

  /* Step I, x[kind] being the newest of the kind. */
  template <int I>
  __device__ __forceinline__ void
  step (float x[2], const LwtFarTask &task)
  {
    constexpr int odd = Order::odd (I), n = Order::taps (I);
    constexpr int tap = Order::tap (I), last = tap + n - 1;
    constexpr int delay = flow ().delay[I], lag = flow ().lag[I];
    constexpr int at = flow ().at[I], behind = at + delay;
    constexpr bool sum = flow ().sum[I];
    const float y = x[1 - odd];

    static_assert (n <= 2, "steps of one or two weights");
    x[odd] = push<at, delay> (x[odd]);
    if (sum) {
      const float done = fmaf (task.taps[last], y, hold[behind]);

      hold[behind] = fmaf (task.taps[tap], y, x[odd]);
      x[odd] = done;
    } else {
      const float newer = lag > 1 ? hold[behind + (lag > 1 ? lag - 2 : 0)] : y;
      const float oldest = push<behind, lag> (y);

      x[odd] = fmaf (task.taps[tap], oldest, x[odd]);
      if (n > 1)
        x[odd] = fmaf (task.taps[last], newer, x[odd]);
    }
  }

  /* x[kind]: comes as sample t - in, goes as sample t - out. */
  template <int I = 0>
  __device__ __forceinline__ void
  lift (float x[2], const LwtFarTask &task)
  {
    if constexpr (I < Order::n) {
      step<I> (x, task);
      lift<I + 1> (x, task);
    }
  }
};

/* --- pieces --------------------------------------------------------------------------------------- */

/* Neighbour @j of a piece at one of two ends: beyond the end, but not so far that
 * it would come back from the other one. */
static __device__ __forceinline__ gint
lwt_far_neighbour (LwtBoundary boundary, gint j, gint odd, gint n)
{
  const gint count = lwt_count (n, odd);
  const gint position = abs (2 * j + odd);

  if (j >= 0 && j < count)
    return j;
  if (boundary == LWT_BOUNDARY_ZERO)
    return -1;
  if (boundary == LWT_BOUNDARY_CLAMP)
    return j < 0 ? 0 : count - 1;
  return (position < n ? position : 2 * (n - 1) - position) / 2;
}

/* Writes the table of a piece that begins with pair @start of @axis: a byte for
 * each lane and weight, the lane of the neighbour, or 0x80 where it is +0. All
 * threads of the block. */
static __device__ __forceinline__ void
lwt_far_find_neighbours (
    guint8 *table, const LwtFarTask &task, const LwtFarAxis &axis, gint start)
{
  for (gint i = threadIdx.x; i < LWT_FAR_PIECE * task.n_taps;
       i += LWT_FAR_THREADS) {
    const gint lane = i % LWT_FAR_PIECE, tap = i / LWT_FAR_PIECE;
    const gint odd = task.odd >> tap & 1,
               j = start + lane + task.neighbour[tap];
    const gint at = axis.pieces > 1
                        ? lwt_far_neighbour (task.boundary, j, odd, axis.n)
                        : lwt_neighbour (task.boundary, j, odd, axis.n);

    table[lane * LWT_MAX_SHAPE_TAPS + tap] =
        at < 0 ? 0x80 : (guint8) min (max (at - start, 0), LWT_FAR_PIECE - 1);
  }
}

/* A lane's row of it */
typedef struct {
  guint32 words[LWT_MAX_SHAPE_TAPS / 4];
} LwtFarNeighbours;

static __device__ __forceinline__ LwtFarNeighbours
lwt_far_neighbours (const guint8 *table)
{
  const guint32 *from =
      (const guint32 *) (table
                         + threadIdx.x % LWT_FAR_PIECE * LWT_MAX_SHAPE_TAPS);
  LwtFarNeighbours result;

#pragma unroll
  for (gint i = 0; i < LWT_MAX_SHAPE_TAPS / 4; i++)
    result.words[i] = from[i];
  return result;
}

/* Step I on a piece of N lines of each half of a warp, a pair a lane: x[][0] its
 * even sample. */
template <class Order, int N, int I>
static __device__ __forceinline__ void
lwt_far_step_piece (
    float x[N][2], const LwtFarNeighbours &neighbours, const LwtFarTask &task)
{
  constexpr int odd = Order::odd (I), n = Order::taps (I);
  constexpr int tap = Order::tap (I);

#pragma unroll
  for (int i = 0; i < n; i++) {
    const guint32 from =
        neighbours.words[(tap + i) / 4] >> ((tap + i) % 4 * 8) & 0xff;

#pragma unroll
    for (int r = 0; r < N; r++) {
      const float y =
          __shfl_sync (LWT_LANES_ALL, x[r][1 - odd], from, LWT_FAR_PIECE);

      x[r][odd] = fmaf (task.taps[tap + i], from & 0x80 ? 0.0f : y, x[r][odd]);
    }
  }
}

/* All steps. */
template <class Order, int N, int I = 0>
static __device__ __forceinline__ void
lwt_far_lift_piece (
    float x[N][2], const LwtFarNeighbours &neighbours, const LwtFarTask &task)
{
  if constexpr (I < Order::n) {
    lwt_far_step_piece<Order, N, I> (x, neighbours, task);
    lwt_far_lift_piece<Order, N, I + 1> (x, neighbours, task);
  }
}

/* Lifts @columns columns of a tile, which has a piece's rows @pitch floats
 * apart. */
template <class Order>
static __device__ __forceinline__ void
lwt_far_lift_tile (float *tile, gint pitch, gint columns,
    const LwtFarNeighbours &neighbours, const LwtFarTask &task)
{
  constexpr gint N = 8; /* columns of a half of a warp */
  const gint lane = threadIdx.x % LWT_FAR_PIECE;
  const gint half = threadIdx.x / LWT_FAR_PIECE;

  for (gint c = N * half; c < columns; c += 2 * N * LWT_FAR_WARPS) {
    float x[N][2];

#pragma unroll
    for (gint i = 0; i < N / 2; i++) {
      const float4 v =
          *(const float4 *) (tile + (2 * lane + i % 2) * pitch + c + i / 2 * 4);

      x[i / 2 * 4][i % 2] = v.x;
      x[i / 2 * 4 + 1][i % 2] = v.y;
      x[i / 2 * 4 + 2][i % 2] = v.z;
      x[i / 2 * 4 + 3][i % 2] = v.w;
    }
    lwt_far_lift_piece<Order, N> (x, neighbours, task);
#pragma unroll
    for (gint i = 0; i < N / 2; i++)
      *(float4 *) (tile + (2 * lane + i % 2) * pitch + c + i / 2 * 4) =
          make_float4 (x[i / 2 * 4][i % 2], x[i / 2 * 4 + 1][i % 2],
              x[i / 2 * 4 + 2][i % 2], x[i / 2 * 4 + 3][i % 2]);
  }
}

/* Whether piece @which of @axis gives sample @k of a kind. */
static __device__ __forceinline__ bool
lwt_far_gives (const LwtFarAxis &axis, gint which, gint kind, gint k)
{
  return which == 0 ? k < axis.to[kind]
                    : k >= axis.from[kind] && k < lwt_count (axis.n, kind);
}

/* --- duties ------------------------------------------------------------------------------------------ */

/* What a thread block is there for: segments come first, then what takes less
 * time, edges. */
typedef struct {
  gint strip;
  gint edge; /* -1: a segment */
  gint part; /* of an edge's blocks of a strip */
  gint from, to;
} LwtFarDuty;

static __device__ __forceinline__ LwtFarDuty
lwt_far_duty (const LwtFarTask &task, gint edge_blocks)
{
  const gint ends = min (task.strips, 2), inner = task.strips - ends;
  const gint sides = ends * task.segments[1];
  const gint segments = sides + inner * task.segments[0];
  gint i = blockIdx.x;
  LwtFarDuty duty = {};

  duty.edge = -1;
  if (i < sides) {
    duty.strip = i % ends * (task.strips - 1);
    duty.from = task.from + i / ends * task.segment[1];
    duty.to = min (duty.from + task.segment[1], task.to);
  } else if (i < segments) {
    i -= sides;
    duty.strip = 1 + i % inner;
    duty.from = task.from + i / inner * task.segment[0];
    duty.to = min (duty.from + task.segment[0], task.to);
  } else {
    i -= segments;
    duty.strip = i % task.strips;
    i /= task.strips;
    duty.edge = i / edge_blocks;
    duty.part = i % edge_blocks;
  }
  return duty;
}

/* The tables that the block needs: of the pieces along x, then of the edge. */
static __device__ __forceinline__ guint8 *
lwt_far_tables (
    const LwtFarTask &task, const LwtFarStrip &strip, const LwtFarDuty &duty)
{
  guint8 *tables = (guint8 *) LWT_SHARED;

  for (gint i = 0; i < 2; i++)
    if (strip.kind == LWT_FAR_SIDE && (strip.piece[i] || i == strip.which))
      lwt_far_find_neighbours (tables + i * LWT_FAR_TABLE * sizeof (float),
          task, task.x, task.x.start[i]);
  if (duty.edge >= 0)
    lwt_far_find_neighbours (tables + 2 * LWT_FAR_TABLE * sizeof (float), task,
        task.y, task.y.start[duty.edge]);
  return tables;
}

/* A column's entry of a band of @n rows, row by row. */
typedef struct {
  guint8 *at;
  gint y, n;
  gsize pitch;
} LwtFarEntry;

/* That of sample @k along y, which may be in front of the band unless it repeats
 * itself. */
template <bool REPEATS>
static __device__ __forceinline__ LwtFarEntry
lwt_far_entry (const LwtBand &band, gint x, gint k, gint shift, gint n)
{
  LwtFarEntry entry = { (guint8 *) band.data,
    REPEATS ? lwt_modulo (k - shift, n) : k, n, band.pitch };

  entry.at +=
      x * band.step * sizeof (float) + (gssize) entry.y * (gssize) band.pitch;
  return entry;
}

template <bool REPEATS>
static __device__ __forceinline__ void
lwt_far_next (LwtFarEntry &entry)
{
  entry.at += entry.pitch;
  if (REPEATS && ++entry.y == entry.n) {
    entry.y = 0;
    entry.at -= entry.n * entry.pitch;
  }
}
