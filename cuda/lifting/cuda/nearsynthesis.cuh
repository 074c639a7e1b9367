/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* One or two levels back in one pass over memory (cuda/lifting/cuda/near.cuh), of all bands
 * of a picture or of the low bands of up to three pictures at once: columns, then
 * rows; a finished row of the smaller level is the low entries of one of the
 * larger level, which the same lane takes. A sink takes the rows:
 *
 *   struct Sink {
 *     static constexpr bool copies;  it wants the rows of near.picture
 *     void put (gint y, bool writes,  whether it is to be written by the lane
 *         const float x[][2][LWT_NEAR_K],  of picture e x[2 * e]
 *         const float *copy);
 *   }; */
#pragma once

#include "cuda/lifting/cuda/near.cuh"

/* @low: of as many pictures as are made
 * @nothing: what the first step adds to an even sample whose neighbours are +0 */
typedef struct {
  LwtNearTask near;
  LwtPicture low[3];
  gfloat nothing;
} LwtNearSynthesisTask;

/* Stores four samples if @writes, without a branch: what is computed for the next
 * row goes on beside it. STREAM: nobody reads them soon. */
template <bool STREAM>
static __device__ __forceinline__ void
lwt_near_store_if (bool writes, float *to, float4 v)
{
#ifdef __CUDA_ARCH__
  const gsize at = __cvta_generic_to_global (to);

  if (STREAM)
    asm volatile(
        "{ .reg .pred p; setp.ne.s32 p, %0, 0;\n\t"
        "@p st.global.cs.v4.f32 [%1], {%2, %3, %4, %5}; }" ::"r"((int) writes),
        "l"(at), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w));
  else
    asm volatile(
        "{ .reg .pred p; setp.ne.s32 p, %0, 0;\n\t"
        "@p st.global.v4.f32 [%1], {%2, %3, %4, %5}; }" ::"r"((int) writes),
        "l"(at), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w));
#else
  if (writes)
    *(float4 *) to = v;
#endif
}

/* Data that a warp fetches for a turn, in its shared memory: floats. The last level's
 * entries, of E low bands or of all four; those of the larger level's high bands, of
 * two rows of pairs; rows of the picture. */
template <int DEPTH, int E, bool LOW, bool COPIES> struct LwtNearSlot {
  static constexpr int ahead = LWT_NEAR_AHEAD >> (DEPTH - 1);   /* turns */
  static constexpr int last = 32 * (LWT_NEAR_K >> (DEPTH - 1)); /* a band */
  static constexpr int larger = last * (LOW ? E : 4);
  static constexpr int copies =
      larger + (DEPTH == 2 && !LOW ? 2 * 3 * LWT_NEAR_STRIP : 0);
  static constexpr int size = copies + COPIES * DEPTH * 4 * LWT_NEAR_STRIP;
  /* bytes of a thread block */
  static constexpr gsize shared =
      sizeof (float) * LWT_NEAR_WARPS * ahead * size;
};

/* In a turn a warp takes one row of pairs of the last level, and of the level
 * before it the two that become its finished rows. */
template <class Shape, int DEPTH, int E, bool LOW, bool EDGE, class Sink>
struct LwtNearSynthesis {
  using Order = LwtOrder<Shape, true>;
  using March = LwtMarch<Order>;
  using Slot = LwtNearSlot<DEPTH, E, LOW, Sink::copies>;
  static constexpr int LAST = DEPTH - 1;
  /* rows are done when so many pairs more have come */
  static constexpr int EVEN = March::low_out, ODD = March::high_out;
  static constexpr int LEFT = March::left;

  static_assert (lwt_is_near<Order> (), "steps reach too far");
  static_assert (Order::odd (0) == 0, "the first step changes even samples");
  static_assert (EVEN <= ODD && ODD <= EVEN + 1, "rows are done out of order");

  /* Pairs of a lane, columns of its window */
  template <int LEVEL> static constexpr int K = LWT_NEAR_K >> LEVEL;
  template <int LEVEL> static constexpr int C = LOW ? K<LEVEL> : 2 * K<LEVEL>;

  const LwtNearSynthesisTask &task;
  const LwtNearStrip &strip;
  Sink &sink;
  gint from, to; /* outputs, rows of pairs of level 0 */
  LwtWindow<Order, C<0>> window0[E];
  LwtWindow<Order, C<LAST>> window1[E]; /* of a second level */
  float *ring;                          /* of the warp */
  gint slot;                            /* of it, of this turn */
  /* the lane's entries of rows that are fetched next */
  const guint8 *low_row[E], *high_row[DEPTH][3];
  gint row[DEPTH];       /* at an edge: which that is */
  gint again;            /* turns before it take rows that are read again */
  LwtKeeping late, soon; /* of those, and of the others */

  __device__ __forceinline__
  LwtNearSynthesis (const LwtNearSynthesisTask &task, const LwtNearStrip &strip,
      Sink &sink, const LwtNearDuty &duty)
      : task (task), strip (strip), sink (sink), from (duty.from << LAST),
        to (duty.to << LAST),
        ring ((float *) LWT_SHARED
              + (threadIdx.x / 32) * (Slot::ahead * Slot::size)),
        slot (0)
  {
#pragma unroll
    for (gint e = 0; e < E; e++) {
      window0[e].clear ();
      window1[e].clear ();
    }
  }

  /* First pair that @LEVEL takes in turn @t: of level 0 it is the first of the two
   * rows that pair @t finishes, an odd row before the even one below it. */
  template <int LEVEL>
  static __host__ __device__ constexpr gint
  pair_of_turn (gint t)
  {
    return LEVEL == LAST ? t : 2 * (t - EVEN) - (ODD - EVEN);
  }

  template <int LEVEL>
  __device__ __forceinline__ auto &
  window ()
  {
    if constexpr (LEVEL == 0)
      return window0;
    else
      return window1;
  }

  __device__ __forceinline__ const LwtBand &
  high_band (gint level, gint i) const
  {
    return task.near.levels[level].bands[(i + 1) / 2][(i + 1) % 2];
  }

  /* --- fetching */

  /* Starts copying N of the lane's entries, or samples, to where a row of them is
   * to lie. Beside rows of the picture low bands are little. */
  template <int N>
  static __device__ __forceinline__ void
  fetch (float *to, const guint8 *from, LwtKeeping keeping)
  {
    to += (threadIdx.x & 31) * N;
    if (Sink::copies)
      lwt_copy_ahead<N * sizeof (float)> (to, from);
    else
      lwt_copy_kept<N * sizeof (float)> (to, from, keeping);
  }

  /* Which row of a level's bands is, or stands for, pair @t. */
  template <int LEVEL>
  __device__ __forceinline__ gint
  row_of (gint t) const
  {
    const gint pairs = task.near.levels[LEVEL].pairs[1];

    return task.near.periodic ? lwt_modulo (t, pairs)
                              : min (max (t, 0), pairs - 1);
  }

  /* The lane's entries of row @y of a band */
  template <int LEVEL>
  __device__ __forceinline__ const guint8 *
  entries (const void *data, gsize pitch, gint y) const
  {
    return (const guint8 *) data + y * (gssize) pitch
           + (strip.column >> (LEVEL + 1)) * (gssize) sizeof (float);
  }

  /* How many rows further that of pair @t + 1 is. */
  template <int LEVEL>
  __device__ __forceinline__ gint
  rows_to_next (gint t)
  {
    const gint pairs = task.near.levels[LEVEL].pairs[1], now = row[LEVEL];

    if (!EDGE)
      return 1;
    row[LEVEL] = !task.near.periodic ? min (max (t + 1, 0), pairs - 1)
                 : now + 1 == pairs  ? 0
                                     : now + 1;
    return row[LEVEL] - now;
  }

  /* The last level's pair @t, the one after that of the last call */
  __device__ __forceinline__ void
  fetch_last (float *to, gint t, LwtKeeping keeping)
  {
    const gint rows = rows_to_next<LAST> (t);

#pragma unroll
    for (gint e = 0; e < E; e++) {
      fetch<K<LAST>> (to + e * Slot::last, low_row[e], keeping);
      low_row[e] += rows * (gssize) task.low[e].stride;
    }
    if constexpr (!LOW)
      fetch_high<LAST> (to + Slot::last, rows, keeping);
  }

  template <int LEVEL>
  __device__ __forceinline__ void
  fetch_high (float *to, gint rows, LwtKeeping keeping)
  {
    const gssize step = rows * (gssize) high_band (LEVEL, 0).pitch;

#pragma unroll
    for (gint i = 0; i < 3; i++) {
      fetch<K<LEVEL>> (to + i * 32 * K<LEVEL>, high_row[LEVEL][i], keeping);
      high_row[LEVEL][i] += step;
    }
  }

  /* Rows of the picture that are done with pair @t of level 0 */
  __device__ __forceinline__ void
  fetch_copies (float *to, gint t) const
  {
    const LwtPicture &picture = task.near.picture;

#pragma unroll
    for (gint odd = 0; odd < 2; odd++) {
      const gint pair = t - (odd ? ODD : EVEN);

      if (strip.writes && pair >= from && pair < this->to)
        fetch<2 * K<0>> (to + odd * 2 * LWT_NEAR_STRIP,
            (const guint8 *) picture.data
                + (2 * pair + odd) * (gssize) picture.stride
                + strip.column * (gssize) sizeof (float),
            soon);
    }
  }

  /* Fetches the data of turn @t, if it is to come; with level 0 of two if it @goes_on. */
  __device__ __forceinline__ void
  fetch_turn (gint of_slot, gint t, gint stop, bool goes_on)
  {
    const LwtKeeping keeping = t < again ? late : soon;
    float *to = ring + of_slot * Slot::size;

    if (t < stop) {
      fetch_last (to, t, keeping);
      if (goes_on)
#pragma unroll
        for (gint i = 0; i < DEPTH; i++) {
          const gint pair = pair_of_turn<0> (t) + i;

          if constexpr (DEPTH == 2 && !LOW)
            fetch_high<0> (to + Slot::larger + i * 3 * LWT_NEAR_STRIP,
                rows_to_next<0> (pair), keeping);
          if constexpr (Sink::copies)
            fetch_copies (to + Slot::copies + i * 4 * LWT_NEAR_STRIP, pair);
        }
    }
    lwt_copies_end ();
  }

  /* --- steps */

  /* The rows that a level's windows @w have done, of each picture the even one, then
   * the odd one: columns' samples are low entries, then high ones. */
  template <int LEVEL>
  __device__ __forceinline__ void
  join_rows (float x[2 * E][2][K<LEVEL>], LwtWindow<Order, C<LEVEL>> w[E]) const
  {
#pragma unroll
    for (gint r = 0; r < 2 * E; r++) {
      const float *values = r & 1 ? w[r / 2].high[ODD] : w[r / 2].low[EVEN];

#pragma unroll
      for (gint i = 0; i < K<LEVEL>; i++) {
        x[r][0][i] = values[i] * task.near.scale[0];
        x[r][1][i] = 0.0f;
        if constexpr (LOW)
          x[r][0][i] += task.nothing;
        else
          x[r][1][i] = values[K<LEVEL> + i] * task.near.scale[1];
      }
    }
    lwt_near_lift_rows<Order, 2 * E, K<LEVEL>, EDGE, LOW ? 1 : 0> (
        x, task.near, strip);
  }

  /* Pair @t of a level comes: @low entries; those of the high bands lie at @high. */
  template <int LEVEL>
  __device__ __forceinline__ void
  lift_columns (LwtWindow<Order, C<LEVEL>> &window, gint t, const float *low,
      const float *high)
  {
    constexpr int ROW = 32 * K<LEVEL>;
    const float *scale = task.near.scale;

    window.advance ();
#pragma unroll
    for (gint i = 0; i < K<LEVEL>; i++) {
      window.low[0][i] = low[i] * scale[0];
      window.high[0][i] = 0.0f;
      if constexpr (LOW) {
        window.low[0][i] += task.nothing;
      } else {
        window.low[0][K<LEVEL> + i] = high[i] * scale[0];
        window.high[0][i] = high[ROW + i] * scale[1];
        window.high[0][K<LEVEL> + i] = high[2 * ROW + i] * scale[1];
      }
    }
    /* a periodic picture has no outermost pair */
    lwt_near_lift_columns<Order, C<LEVEL>, EDGE, LOW ? 1 : 0> (window,
        task.near.periodic ? G_MININT / 2 : t, task.near.levels[LEVEL].pairs[1],
        task.near);
  }

  /* The rows of the picture that are done with pair @t go to the sink. */
  __device__ __forceinline__ void
  put (gint t, const float *copies)
  {
    float x[2 * E][2][K<0>];

    join_rows<0> (x, window0);
#pragma unroll
    for (gint odd = 0; odd < 2; odd++) {
      const gint pair = t - (odd ? ODD : EVEN);

      sink.put (2 * pair + odd, strip.writes && pair >= from && pair < to,
          x + odd, copies + odd * 2 * LWT_NEAR_STRIP);
    }
  }

  /* Two levels: rows of level 1 that are done are the low entries of level 0. */
  __device__ __forceinline__ void
  go_on (gint t, const float *from)
  {
    const gint lane = threadIdx.x & 31, pair = pair_of_turn<0> (t);
    float x[2 * E][2][K<LAST>];

    join_rows<LAST> (x, window1);
#pragma unroll
    for (gint i = 0; i < 2; i++) {
      const gint odd = (i == 0) != (EVEN == ODD);

#pragma unroll
      for (gint e = 0; e < E; e++) {
        float entries[K<0>];

#pragma unroll
        for (gint c = 0; c < K<0>; c++)
          entries[c] = x[2 * e + odd][c & 1][c / 2];
        lift_columns<0> (window0[e], pair + i, entries,
            from + Slot::larger + i * 3 * LWT_NEAR_STRIP + lane * K<0>);
      }
      put (pair + i,
          from + Slot::copies + i * 4 * LWT_NEAR_STRIP + lane * 2 * K<0>);
    }
  }

  /* Turn @t's part of the last level; returns where what it takes lies. @goes_on:
   * so does the turn that is fetched. */
  __device__ __forceinline__ const float *
  take_last (gint t, gint stop, bool goes_on)
  {
    constexpr int AHEAD = Slot::ahead;
    const float *here = ring + slot * Slot::size;

    fetch_turn ((slot + AHEAD - 1) % AHEAD, t + AHEAD - 1, stop, goes_on);
    lwt_copies_wait<AHEAD - 1> ();
    slot = (slot + 1) % AHEAD;
#pragma unroll
    for (gint e = 0; e < E; e++) {
      const float *entries =
          here + e * Slot::last + (threadIdx.x & 31) * K<LAST>;
      float low[K<LAST>];

#pragma unroll
      for (gint i = 0; i < K<LAST>; i++)
        low[i] = entries[i];
      lift_columns<LAST> (window<LAST> ()[e], t, low, entries + Slot::last);
    }
    return here;
  }

  /* Address of the data fetched next: of the last level for turn @begin, of level 0
   * of two for turn @first. */
  __device__ __forceinline__ void
  start (gint begin, gint first)
  {
    row[0] = row_of<0> (pair_of_turn<0> (first));
    row[LAST] = row_of<LAST> (begin);
#pragma unroll
    for (gint e = 0; e < E; e++)
      low_row[e] =
          entries<LAST> (task.low[e].data, task.low[e].stride, row[LAST]);
    if constexpr (!LOW)
#pragma unroll
      for (gint i = 0; i < 3; i++) {
        const LwtBand &larger = high_band (0, i), &last = high_band (LAST, i);

        high_row[0][i] = entries<0> (larger.data, larger.pitch, row[0]);
        high_row[LAST][i] = entries<LAST> (last.data, last.pitch, row[LAST]);
      }
  }

  /* Turns @begin .. @stop - 1; level 0 of two is needed from turn @first on. */
  __device__ __forceinline__ void
  run (gint begin, gint first, gint stop)
  {
    gint t = begin;

    again = begin + task.near.again;
    late = lwt_keeping (true);
    soon = lwt_keeping (false);
    start (begin, first);
    for (gint i = 0; i < Slot::ahead - 1; i++)
      fetch_turn (i, t + i, stop, DEPTH == 1 || t + i >= first);
    if constexpr (DEPTH == 2)
      for (; t < first; t++)
        take_last (t, stop, t + Slot::ahead - 1 >= first);
    for (; t < stop; t++) {
      const float *here = take_last (t, stop, true);

      if constexpr (DEPTH == 2)
        go_on (t, here);
      else
        put (t, here + Slot::copies + (threadIdx.x & 31) * 2 * K<0>);
    }
  }
};

/* The work of a warp. INNER: code is made for what has no edge, too. */
template <class Shape, int DEPTH, int E, bool LOW, bool INNER, class Sink>
static __device__ __forceinline__ void
lwt_near_synthesise (const LwtNearSynthesisTask &task, const LwtNearDuty &duty,
    const LwtNearStrip &strip, bool edge, Sink &sink)
{
  using March = LwtMarch<LwtOrder<Shape, true>>;
  constexpr int LEFT = March::left, OUT = March::out;
  constexpr int EVEN = March::low_out, ODD = March::high_out;
  constexpr bool TWO = DEPTH == 2;
  const gint first =
      duty.from + (TWO ? EVEN - (LEFT + 1 - (ODD - EVEN)) / 2 : -LEFT);
  const gint stop = duty.to + OUT + (TWO ? (EVEN + 1) / 2 : 0);
  const gint begin = duty.from - LEFT - (TWO ? (LEFT + 1) / 2 : 0);

  edge = edge || !INNER || begin < 0
         || stop > task.near.levels[DEPTH - 1].pairs[1];
  if (edge)
    LwtNearSynthesis<Shape, DEPTH, E, LOW, true, Sink> (task, strip, sink, duty)
        .run (task.near.periodic ? begin : max (begin, 0),
            task.near.periodic ? first : max (first, 0), stop);
  else if constexpr (INNER)
    LwtNearSynthesis<Shape, DEPTH, E, LOW, false, Sink> (
        task, strip, sink, duty)
        .run (begin, first, stop);
}

/* Fills in @task, but for the low bands, for @depth levels back; @each: warps for
 * each multiprocessor. Returns the number of thread blocks. */
template <class Shape>
static inline guint
lwt_near_synthesis_cut (LwtNearSynthesisTask *task,
    const LwtTransform *transform, const LwtLevelTask *levels, guint depth,
    gint each)
{
  using Order = LwtOrder<Shape, true>;
  const LwtReach reach = { LwtMarch<Order>::left, LwtMarch<Order>::right };
  const guint blocks =
      lwt_near_cut (&task->near, transform, levels, depth, TRUE, reach, each);

  /* any other sample is not changed by it */
  task->nothing = -0.0f;
  for (gint i = 0; i < Order::taps (0); i++)
    task->nothing += task->near.taps[i] * 0.0f;
  return blocks;
}
