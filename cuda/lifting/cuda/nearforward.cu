/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* One or two levels forward in one pass over memory (cuda/lifting/cuda/near.cuh). */
#include "cuda/lifting/cuda/near.cuh"

namespace {

/* Warps for each multiprocessor, so few that all of them run at once */
#define EACH 12

/* In a turn a warp takes one pair of rows of the last level, and of the level
 * before it the two pairs whose low rows those are. SIDES: the strip may have an
 * edge of the picture. */
template <class Shape, int DEPTH, bool HIGH, bool SIDES> struct NearMarch {
  using Order = LwtOrder<Shape, false>;
  /* An output is done when so many pairs more have come. */
  static constexpr int OUT = LwtMarch<Order>::low_out;
  static constexpr int LAST = DEPTH - 1;
  static constexpr int PAIRS = 1 << LAST;              /* of level 0, a turn */
  static constexpr int AHEAD = LWT_NEAR_AHEAD >> LAST; /* turns */

  /* Of 9/7 neighbouring strips share a fifth of what they read. */
  static constexpr bool SHARED =
      HIGH && DEPTH == 2 && LwtMarch<Order>::left + LwtMarch<Order>::right > 3;

  static_assert (lwt_is_near<Order> (), "steps reach too far");
  static_assert (OUT == LwtMarch<Order>::high_out, "rows are done one by one");

  /* Pairs of a lane, columns of its window */
  static __host__ __device__ constexpr int
  K (int level)
  {
    return LWT_NEAR_K >> level;
  }
  static __host__ __device__ constexpr int
  C (int level)
  {
    return HIGH ? 2 * K (level) : K (level);
  }
  /* First pair that a level takes in turn @t. */
  static __host__ __device__ constexpr gint
  pair_of_turn (int level, gint t)
  {
    return level == LAST ? t : 2 * t + OUT;
  }

  const LwtNearTask &task;
  const LwtNearStrip &strip;
  LwtWindow<Order, C (0)> first;
  LwtWindow<Order, C (1)> second; /* of a second level */
  float4 *ring; /* the lane's samples of the turns that are fetched ahead */
  gint slot;    /* of the ring, of this turn */
  gint next;    /* pair of rows that is fetched next, and where it is */
  const guint8 *from;
  gint again;              /* turns before it take rows that are read again */
  LwtKeeping late, soon;   /* of those, and of the others */
  guint8 *to[DEPTH][2][2]; /* where the turn's next rows of bands go */

  __device__ __forceinline__
  NearMarch (const LwtNearTask &task, const LwtNearStrip &strip)
      : task (task), strip (strip)
  {
  }

  __device__ __forceinline__ LwtWindow<Order, C (0)> &
  window (LwtNearTag<0>)
  {
    return first;
  }
  __device__ __forceinline__ LwtWindow<Order, C (1)> &
  window (LwtNearTag<1>)
  {
    return second;
  }

  /* Address of four of the lane's samples of row @i of a turn. */
  __device__ __forceinline__ float4 *
  at (gint of_slot, gint i, gint k) const
  {
    return ring + ((of_slot * 2 * PAIRS + i) * (LWT_NEAR_K / 2) + k) * 32;
  }

  /* Begins to fetch the rows of turn @t, if it is to come; pairs beyond the
   * picture are not there. */
  __device__ __forceinline__ void
  fetch (gint t, gint stop, gint to_slot)
  {
    if (t < stop)
#pragma unroll
      for (gint pair = 0; pair < PAIRS; pair++) {
        if (next >= 0 && next < task.levels[0].pairs[1])
#pragma unroll
          for (gint i = 0; i < 2 * (LWT_NEAR_K / 2); i++)
            lwt_copy_kept<16, SHARED> (at (to_slot, 2 * pair + i % 2, i / 2),
                (const float4 *) (from + i % 2 * task.picture.stride) + i / 2,
                t < again ? late : soon);
        from += 2 * task.picture.stride;
        next++;
        if (task.periodic && next == task.levels[0].pairs[1])
          go_to (0);
      }
    lwt_copies_end ();
  }

  /* Fetches pair @pair next. */
  __device__ __forceinline__ void
  go_to (gint pair)
  {
    next = pair;
    from = (const guint8 *) task.picture.data
           + 2 * pair * (gssize) task.picture.stride
           + strip.column * (gssize) sizeof (float);
  }

  /* Writes the lane's entries of the next row of a band. The next pass reads the
   * low band, nobody the others so soon. */
  template <int LEVEL>
  __device__ __forceinline__ void
  put (bool writes, gint odd, gint kind, const float *values)
  {
    guint8 *&row = to[LEVEL][odd][kind];
    float v[K (LEVEL)];

#pragma unroll
    for (gint i = 0; i < K (LEVEL); i++)
      v[i] = values[i] * task.scale[odd];
    if (writes)
      store<K (LEVEL)> (row, v, odd == 0 && kind == 0);
    row += task.levels[LEVEL].bands[odd][kind].pitch;
  }

  template <int N>
  static __device__ __forceinline__ void
  store (guint8 *row, const float v[N], bool soon)
  {
    if (N == 1 && soon)
      lwt_near_store<false> ((float *) row, v[0]);
    else if (N == 1)
      lwt_near_store<true> ((float *) row, v[0]);
    else if (soon)
      lwt_near_store<false> ((float2 *) row, make_float2 (v[0], v[N - 1]));
    else
      lwt_near_store<true> ((float2 *) row, make_float2 (v[0], v[N - 1]));
  }

  /* Splits R rows, [row][even, odd sample]. */
  template <int LEVEL, int R>
  __device__ __forceinline__ void
  split (float x[R][2][K (LEVEL)])
  {
    lwt_near_lift_rows<Order, R, K (LEVEL), SIDES> (x, task, strip);
#pragma unroll
    for (gint i = 0; i < R * 2 * K (LEVEL); i++)
      x[i / 2 / K (LEVEL)][i % 2][i / 2 % K (LEVEL)] *= task.scale[i % 2];
  }

  /* Takes pair @t of the level's rows; writes the high bands' rows that are done.
   * ENDS: the first or last pair may be on its way. */
  template <int LEVEL, bool ENDS>
  __device__ __forceinline__ void
  take (const float x[2][2][K (LEVEL)], gint t, bool writes)
  {
    auto &w = window (LwtNearTag<LEVEL> ());

    w.advance ();
#pragma unroll
    for (gint c = 0; c < C (LEVEL); c++) {
      w.low[0][c] = x[0][c / K (LEVEL)][c % K (LEVEL)];
      w.high[0][c] = x[1][c / K (LEVEL)][c % K (LEVEL)];
    }
    lwt_near_lift_columns<Order, C (LEVEL), ENDS> (
        w, t, task.levels[LEVEL].pairs[1], task);
    if constexpr (HIGH) {
      put<LEVEL> (writes, 0, 1, w.low[OUT] + K (LEVEL));
      put<LEVEL> (writes, 1, 0, w.high[OUT]);
      put<LEVEL> (writes, 1, 1, w.high[OUT] + K (LEVEL));
    }
  }

  /* @writes: whether what each level has done is an output. */
  template <bool ENDS>
  __device__ __forceinline__ void
  turn (gint t, gint stop, const bool writes[DEPTH])
  {
    float x[2 * PAIRS][2][LWT_NEAR_K], y[2][2][K (1)];

    fetch (t + AHEAD - 1, stop, slot == 0 ? AHEAD - 1 : slot - 1);
    lwt_copies_wait<AHEAD - 1> ();
#pragma unroll
    for (gint i = 0; i < 2 * PAIRS; i++)
#pragma unroll
      for (gint k = 0; k < LWT_NEAR_K; k += 2) {
        const float4 four = *at (slot, i, k / 2);

        x[i][0][k] = four.x;
        x[i][1][k] = four.y;
        x[i][0][k + 1] = four.z;
        x[i][1][k + 1] = four.w;
      }
    slot = slot == AHEAD - 1 ? 0 : slot + 1;
    split<0, 2 * PAIRS> (x);
#pragma unroll
    for (gint pair = 0; pair < PAIRS; pair++) {
      take<0, ENDS> (x + 2 * pair, pair_of_turn (0, t) + pair, writes[0]);
#pragma unroll
      for (gint i = 0; i < LWT_NEAR_K; i++)
        y[pair][i % 2][i / 2] = first.low[OUT][i] * task.scale[0];
    }
    if constexpr (DEPTH > 1) {
      split<1, 2> (y);
      take<1, ENDS> (y, t, writes[LAST]);
    }
    put<LAST> (writes[LAST], 0, 0, window (LwtNearTag<LAST> ()).low[OUT]);
  }

  template <int LEVEL>
  __device__ __forceinline__ void
  start (gint t)
  {
    const LwtNearLevel &level = task.levels[LEVEL];

    window (LwtNearTag<LEVEL> ()).clear ();
#pragma unroll
    for (gint i = 0; i < 4; i++)
      to[LEVEL][i / 2][i % 2] =
          (guint8 *) level.bands[i / 2][i % 2].data
          + (pair_of_turn (LEVEL, t) - OUT)
                * (gssize) level.bands[i / 2][i % 2].pitch
          + (strip.pair >> LEVEL) * (gssize) sizeof (float);
  }

  /* Turns @begin .. @stop - 1. */
  __device__ __forceinline__ void
  run (const LwtNearDuty &duty, gint begin, gint stop)
  {
    /* turns in which the first or last pair of a level is on its way */
    const gint first_ends = task.periodic ? begin : OUT + 1;
    const gint last_ends =
        task.periodic ? stop : task.levels[LAST].pairs[1] - 1 - (OUT + 1) / 2;

    start<0> (begin);
    if constexpr (DEPTH > 1)
      start<LAST> (begin);
    go_to (task.periodic
               ? lwt_modulo (pair_of_turn (0, begin), task.levels[0].pairs[1])
               : pair_of_turn (0, begin));
    ring = LWT_SHARED + threadIdx.x / 32 * lwt_near_ring () + threadIdx.x % 32;
    slot = 0;
    again = begin + task.again;
    late = lwt_keeping (true);
    soon = lwt_keeping (false);
#pragma unroll
    for (gint i = 0; i < AHEAD - 1; i++)
      fetch (begin + i, stop, i);
#pragma unroll 1
    for (gint t = begin; t < stop; t++) {
      bool writes[DEPTH];

      writes[LAST] = strip.writes && t - OUT >= duty.from && t - OUT < duty.to;
      if (DEPTH > 1)
        writes[0] = strip.writes && t >= duty.from && t < duty.to;
      if (t < first_ends || t >= last_ends)
        turn<true> (t, stop, writes);
      else
        turn<false> (t, stop, writes);
    }
  }
};

template <class Shape, int DEPTH, bool HIGH>
__global__ void
__launch_bounds__ (LWT_NEAR_THREADS)
    near_forward_kernel (LWT_PARAMETER (LwtNearTask, task))
{
  using March = LwtMarch<LwtOrder<Shape, false>>;
  constexpr int LEFT = March::left, OUT = March::out;
  /* turns before that of the first output's pair; there is nothing above row 0 */
  constexpr int BEFORE = DEPTH == 1 ? LEFT : LEFT + (LEFT + OUT + 1) / 2;
  constexpr int TOP = DEPTH == 1 ? 0 : -((OUT + 1) / 2);
  const LwtNearDuty duty =
      lwt_near_duty (task, task.levels[DEPTH - 1].pairs[1]);
  const gint stop = duty.to + OUT;
  gint begin = duty.from - BEFORE;
  LwtNearStrip strip;
  bool edge;

  lwt_wait_alone ();
  if (task.small)
    lwt_let_next_begin ();
  if (duty.from >= duty.to)
    return;
  strip = lwt_near_strip (task, duty.strip, &edge);
  if (!task.periodic)
    begin = max (begin, TOP);
  if (edge)
    NearMarch<Shape, DEPTH, HIGH, true> (task, strip).run (duty, begin, stop);
  else
    NearMarch<Shape, DEPTH, HIGH, false> (task, strip).run (duty, begin, stop);
  lwt_let_next_begin ();
}

template <class Shape>
gboolean
forward (const LwtTransform *transform, const LwtLevelTask *levels, guint depth,
    cudaStream_t stream, GError **error)
{
  using March = LwtMarch<LwtOrder<Shape, false>>;
  const LwtReach reach = { March::left, March::right };
  const gboolean high = levels[0].bands[0][1].data != NULL;
  void (*kernel) (LwtNearTask);
  LwtNearTask task;
  guint blocks;

  blocks = lwt_near_cut (&task, transform, levels, depth, FALSE, reach, EACH);
  if (depth == 1)
    kernel = high ? near_forward_kernel<Shape, 1, true>
                  : near_forward_kernel<Shape, 1, false>;
  else
    kernel = high ? near_forward_kernel<Shape, 2, true>
                  : near_forward_kernel<Shape, 2, false>;
  return lwt_launch (kernel, "the near_forward_kernel", dim3 (blocks),
      LWT_NEAR_THREADS, LWT_NEAR_WARPS * lwt_near_ring () * sizeof (float4),
      stream, task, error);
}

} // namespace

gboolean
lwt_near_forward (const LwtTransform *transform, const LwtLevelTask *levels,
    guint depth, cudaStream_t stream, GError **error)
{
  gboolean done;

  if (!lwt_near_pieces (transform, levels, depth, &done, stream, error))
    return FALSE;
  return done ? TRUE
              : LWT_BY_SHAPE (transform->kernels, forward, transform, levels,
                  depth, stream, error);
}
