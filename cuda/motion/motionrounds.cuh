/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The searches that go in rounds: the points of a round are computed at once
 * and then taken in the order in which the definition visits them.
 *
 * A thread block does a tile of neighbouring blocks of the grid, which share
 * the window of the reference round them in shared memory; where the device has
 * too little of that, they read the plane itself. A block has a warp (one of 64
 * all of them, with the same state of the search), so that nothing waits for
 * anything but the lanes of a warp. A lane has a row of the block, in
 * registers, and sums up the differences of many points in its row of the
 * window; the lanes' sums are then exchanged so that each lane has the costs of
 * its own points. Rows of the window are an odd number of words apart, so the
 * lanes read from different banks. */
#pragma once

#include "motionwarp.cuh"


/* A candidate, by cost and then by what decides among equals. */
typedef unsigned long long MotionKey;
#define MOTION_NO_KEY (~0ull)

/* The two least keys of those seen. */
template <typename Key> struct MotionLeast {
  Key best, second;

  __device__ __forceinline__ void
  clear ()
  {
    best = second = (Key) ~(Key) 0;
  }

  __device__ __forceinline__ void
  add (const MotionLeast &other)
  {
    second = min (min (second, other.second), max (best, other.best));
    best = min (best, other.best);
  }

  __device__ __forceinline__ void
  add (Key key)
  {
    second = min (second, max (best, key));
    best = min (best, key);
  }
};

typedef MotionLeast<MotionKey> MotionPair;

/* Points of a round: cost << MOTION_POINT_BITS | number. A cost has 21 bits. */
typedef MotionLeast<guint32> MotionRoundPair;
#define MOTION_POINT_BITS 11
#define MOTION_ROUND_POINTS (1 << MOTION_POINT_BITS)

/* The two least of the warp's pairs, in all lanes. */
static __device__ __forceinline__ MotionRoundPair
motion_round_pair (const MotionRoundPair &pair)
{
  MotionRoundPair least;

  least.best = motion_warp_min (pair.best);
  least.second =
      motion_warp_min (pair.best == least.best ? pair.second : pair.best);
  return least;
}

/* Points that the lanes have, by lane. */
struct MotionLaneVectors {
  short2 own;

  __device__ __forceinline__ short2
  operator() (gint32 lane) const
  {
    gint32 d = __shfl_sync (MOTION_ALL_LANES,
        (gint32) ((guint32) (guint16) own.x | (guint32) (guint16) own.y << 16),
        lane);

    return make_short2 ((gint16) (d & 0xffff), (gint16) (d >> 16));
  }
};

/* Blocks of a tile, warps of a block. */
template <int SIZE> struct MotionTiling {
  static constexpr gint32 ACROSS = SIZE == 64 ? 1 : 4;
  static constexpr gint32 DOWN = SIZE == 64 ? 1 : 2;
  static constexpr gint32 BLOCKS = ACROSS * DOWN;
  static constexpr gint32 WARPS = SIZE == 64 ? 8 : 1;
  static constexpr gint32 THREADS = 32 * WARPS * BLOCKS;
};

/* words before and after the window that points beyond it may read */
#define MOTION_WINDOW_BEFORE 16
#define MOTION_WINDOW_AFTER 64

/* The window of a tile: from `range` rows above it and `lead` samples left of
 * it on. */
struct MotionWindowSize {
  gint32 lead, words, rows, pitch;

  static __host__ __device__ __forceinline__ MotionWindowSize
  make (guint32 range, gint32 tile_width, gint32 tile_height)
  {
    MotionWindowSize size;

    size.lead = (gint32) (range + 3) / 4 * 4;
    size.words = (size.lead + tile_width + (gint32) range + 3) / 4;
    size.rows = tile_height + 2 * (gint32) range;
    size.pitch = size.words | 1;
    return size;
  }

  __host__ __device__ __forceinline__ guint32
  bytes () const
  {
    return 4
           * (guint32) (MOTION_WINDOW_BEFORE + rows * pitch
                        + MOTION_WINDOW_AFTER);
  }
};

#define MOTION_BATCH 32 /* points whose SADs a warp's lanes have at once */

/* What a thread block shares, beside the window. */
template <int SIZE> struct MotionShared {
  typedef MotionTiling<SIZE> Tiling;

  guint32 sads[2][Tiling::BLOCKS][MOTION_BATCH];
  MotionRoundPair pairs[2][Tiling::WARPS];
  guint32 current[SIZE == 64 ? 64 * 17 : 1];
};

/* The best and the second best so far; where there is none, vectors that no
 * candidate has. */
struct MotionState {
  short2 best, second;
  guint32 best_cost, second_cost;

  __device__ __forceinline__ void
  clear ()
  {
    best = second = make_short2 (G_MAXINT16, G_MAXINT16);
    best_cost = second_cost = MOTION_NONE;
  }

  /* Visits the two best of a round; the others change nothing. @points (i): the
   * vector of number i. Returns: the number of the one that became the best, -1
   * if none did. */
  template <class Points>
  __device__ __forceinline__ gint32
  take (const MotionRoundPair &pair, const Points &points)
  {
    const gint32 numbers = MOTION_ROUND_POINTS - 1;
    gint32 first = (gint32) pair.best & numbers;
    gint32 next = (gint32) pair.second & numbers;
    guint32 one =
        pair.best == MOTION_NONE ? MOTION_NONE : pair.best >> MOTION_POINT_BITS;
    guint32 two = pair.second == MOTION_NONE ? MOTION_NONE
                                             : pair.second >> MOTION_POINT_BITS;

    if (one < best_cost) {
      if (two < best_cost) {
        second = points (next);
        second_cost = two;
      } else {
        second = best;
        second_cost = best_cost;
      }
      best = points (first);
      best_cost = one;
      return first;
    }
    if (one < second_cost) {
      second = points (first);
      second_cost = one;
    }
    return -1;
  }
};

/* The cost of point (@x, @y) of which the SAD is known; none where it is not among
 * @rect or @best itself. @plain: it is among @rect and @lambda is zero */
static __device__ __forceinline__ guint32
motion_point_cost (const MotionRect &rect, short2 best, guint32 lambda,
    short2 prior, guint32 sad, gint32 x, gint32 y, bool plain, bool valid)
{
  valid = valid & ((x != best.x) | (y != best.y));
  if (!plain) {
    valid = valid & (x >= rect.left) & (x <= rect.right) & (y >= rect.top)
            & (y <= rect.bottom);
    sad += motion_rate (lambda, x, y, prior);
  }
  return valid ? sad : MOTION_NONE;
}

template <int SIZE> struct MotionSearch {
  typedef MotionTiling<SIZE> Tiling;
  typedef MotionShared<SIZE> Shared;
  static constexpr gint32 WARPS = Tiling::WARPS;
  static constexpr gint32 ROWS = SIZE < 32 ? SIZE : 32; /* lanes of a point */
  static constexpr gint32 GROUPS = 32 / ROWS;           /* points at once */
  static constexpr gint32 SLOTS = WARPS * GROUPS;
  static constexpr gint32 WORDS = ROWS / 4;
  static constexpr gint32 PARTS = SIZE / ROWS; /* each way; of 32 x 32 */

  MotionPlace place;
  Shared *shared;
  const guint32 *window; /* the lane's first row where the vector is zero */
  gint32 pitch;          /* words */
  guint32 words[WORDS];  /* of the block; not with parts */
  bool cut;    /* words of the block are masked, not only rows left out */
  bool inside; /* the lane's row is one of the block */
  guint32 lambda;
  short2 prior;
  gint32 row, slot, block; /* of the lane, in the block, in the tile */
  guint32 parity;

  MotionState found;

  /* The bytes of the lane's word @k that count, of the part; without parts
   * lines() leaves rows out. */
  __device__ __forceinline__ guint32
  mask (gint32 k, gint32 part) const
  {
    gint32 y = row + part / PARTS * 32, x = 4 * k + part % PARTS * 32;

    return PARTS == 1 || y < place.h ? motion_mask (place.w, x) : 0;
  }

  __device__ __forceinline__ void
  load_block (const guint8 *plane, guint32 bytes)
  {
    const guint8 *from = plane + (gsize) place.y * bytes + place.x;

    if (PARTS > 1) {
      for (gint32 i = (gint32) threadIdx.x; i < SIZE * SIZE / 4;
           i += Tiling::THREADS)
        shared->current[i / 16 * 17 + i % 16] =
            ((const guint32 *) (from + (gsize) (i / 16) * bytes))[i % 16];
    } else {
#pragma unroll
      for (gint32 k = 0; k < WORDS; k += 2) {
        const uint2 two = *(const uint2 *) (from + (gsize) row * bytes + 4 * k);

        words[k] = two.x;
        words[k + 1] = two.y;
      }
    }
  }

  /* What begin() has loaded is there. */
  __device__ __forceinline__ void
  mask_words ()
  {
#pragma unroll
    for (gint32 k = 0; k < WORDS; k++)
      if (PARTS == 1 && cut)
        words[k] &= mask (k, 0);
  }

  /* All threads of a thread block whose blocks are of 64 must have passed a
   * barrier before the first point.
   * @origin: the tile's first sample in the window */
  __device__ __forceinline__ void
  begin (const MotionDeviceTask *task, const MotionDeviceField *field,
      const MotionPlace &at, gint32 number, const guint32 *origin,
      gint32 window_pitch, Shared *memory)
  {
    place = at;
    shared = memory;
    block = number;
    row = (gint32) motion_lane () % ROWS;
    slot = (gint32) (threadIdx.x / 32 % WARPS) * GROUPS
           + (gint32) motion_lane () / ROWS;
    cut = place.w < SIZE || (PARTS > 1 && place.h < SIZE);
    inside = PARTS > 1 || row < place.h;
    pitch = window_pitch;
    window = origin + (block / Tiling::ACROSS * SIZE + row) * pitch
             + block % Tiling::ACROSS * (SIZE / 4);
    lambda = task->config.lambda;
    prior = motion_prior (task, field, place.number);
    parity = 0;
    found.clear ();
    load_block (task->current.search, task->layout.pitch);
  }

  /* All threads of the block. */
  __device__ __forceinline__ void
  barrier ()
  {
    if (WARPS == 1)
      __syncwarp ();
    else
      __syncthreads ();
  }

  /* From now on differences are those of another block of @w x @h samples, whose
   * words the caller sets. @first: its first sample in the window */
  __device__ __forceinline__ void
  look (gint32 w, gint32 h, const guint32 *first)
  {
    place.w = w;
    place.h = h;
    cut = w < SIZE;
    inside = row < h;
    window = first + row * pitch;
  }

  /* --- sums over the lanes of a point --------------------------------------- */

  /* Of 2 HALF values the lane keeps the upper or the lower ones, and adds those
   * of the lane @distance away, which keeps the same of the others. */
  template <int HALF, int N>
  __device__ __forceinline__ void
  keep_half (guint32 (&v)[N], bool upper, int distance) const
  {
#pragma unroll
    for (gint32 i = 0; i < HALF; i++) {
      guint32 keep = upper ? v[i + HALF] : v[i];
      guint32 give = upper ? v[i] : v[i + HALF];

      v[i] = keep + __shfl_xor_sync (MOTION_ALL_LANES, give, distance);
    }
  }

  /* Halves LEFT values, half the lanes the lower and half the upper ones, until
   * one value is left, or a lane. (nvcc 11.2 takes no pragma in a branch that is
   * left out.) */
  template <int LEFT, int LANES, int N>
  __device__ __forceinline__ void
  halve (guint32 (&v)[N]) const
  {
    if constexpr (LEFT > 1 && LANES > 1) {
      keep_half<LEFT / 2> (v, (row & LANES / 2) != 0, LANES / 2);
      halve<LEFT / 2, LANES / 2> (v);
    }
  }

  /* The sum over LANES neighbours, in all of them. */
  template <int LANES>
  __device__ __forceinline__ guint32
  add_up (guint32 v) const
  {
#pragma unroll
    for (gint32 d = LANES / 2; d > 0; d /= 2)
      v += __shfl_xor_sync (MOTION_ALL_LANES, v, d);
    return v;
  }

  /* Sums up @v over the lanes of a point. On return v[0], or with more values
   * than lanes the first N / ROWS, are the sums of the lane's own: those of
   * number own() and on. Two sums over eight lanes, of 8160 each at most, go in
   * a word. */
  template <int N>
  __device__ __forceinline__ void
  exchange (guint32 (&v)[N]) const
  {
    static_assert (N >= 4 && N <= 16, "two values a word, at most eight lanes");
    if constexpr (PARTS == 1) {
      guint32 two[N / 2];

#pragma unroll
      for (gint32 i = 0; i < N / 2; i++)
        two[i] = v[2 * i] + (v[2 * i + 1] << 16);
      halve<N / 2, ROWS> (two);
      v[0] = two[0] & 0xffff;
      v[1] = two[0] >> 16;
      halve<2, 2 * ROWS / N> (v);
    } else {
      halve<N, ROWS> (v);
    }
    v[0] = add_up<ROWS / N> (v[0]);
  }

  template <int N>
  __device__ __forceinline__ gint32
  own () const
  {
    return N >= ROWS ? row * (N / ROWS) : row / (ROWS / N);
  }

  /* Whether the lane is the one, of several with the same sum, that counts. */
  template <int N>
  __device__ __forceinline__ bool
  counts () const
  {
    return N >= ROWS || row % (ROWS / N) == 0;
  }

  /* --- differences ----------------------------------------------------------- */

  __device__ __forceinline__ void
  part_words (gint32 part, guint32 (&own_words)[WORDS]) const
  {
#pragma unroll
    for (gint32 k = 0; k < WORDS; k++)
      if (PARTS > 1) {
        own_words[k] = shared->current[(row + part / PARTS * 32) * 17
                                       + part % PARTS * 8 + k];
        if (cut)
          own_words[k] &= mask (k, part);
      } else {
        own_words[k] = words[k];
      }
  }

  /* Word @j of a line, by @shift bits after those of @from where it does not
   * begin with one of them. */
  template <bool SHIFTED>
  static __device__ __forceinline__ guint32
  word (const guint32 *from, gint32 j, guint32 shift)
  {
    return SHIFTED ? __funnelshift_r (from[j], from[j + 1], shift) : from[j];
  }

  /* The four bytes @bytes, 0..3, after its word @j. */
  template <bool SHIFTED>
  static __device__ __forceinline__ guint32
  bytes_after (const guint32 *from, gint32 j, gint32 bytes, guint32 shift)
  {
    guint32 here = word<SHIFTED> (from, j, shift);

    return bytes == 0 ? here
                      : __funnelshift_r (
                          here, word<SHIFTED> (from, j + 1, shift), 8 * bytes);
  }

  /* Adds the lane's differences at COUNT lines of POINTS points to @sums: each
   * line's first at @at samples from the zero vector's, the others SPACING apart
   * to its right. A word of the row is read once for a line, shifted as often as
   * points need it and compared with the words of the block. PHASE: @at modulo
   * 4, where that is known when compiled, else -1 */
  template <int COUNT, int POINTS, int SPACING, int PHASE, bool CUT>
  __device__ __forceinline__ void
  lines (const gint32 (&at)[COUNT], guint32 *sums) const
  {
    constexpr gint32 LEAD = PHASE < 0 ? 0 : PHASE;
    constexpr gint32 WIDTH = (LEAD + (POINTS - 1) * SPACING) / 4 + WORDS;

#pragma unroll 1
    for (gint32 part = 0; part < PARTS * PARTS; part++) {
      guint32 own_words[WORDS];

      part_words (part, own_words);
#pragma unroll
      for (gint32 i = 0; i < COUNT; i++) {
        const guint32 *from =
            (const guint32 *) ((const guint8 *) window + (at[i] & ~3))
            + part / PARTS * 32 * pitch + part % PARTS * 8;
        guint32 shift = 8 * (guint32) at[i]; /* the lower five bits count */

#pragma unroll
        for (gint32 j = 0; j < WIDTH; j++)
#pragma unroll
          for (gint32 p = 0; p < POINTS; p++) {
            const gint32 offset = LEAD + p * SPACING, k = j - offset / 4;

            if (k >= 0 && k < WORDS) {
              guint32 v = bytes_after<(PHASE < 0)> (from, j, offset % 4, shift);

              if (CUT)
                v &= mask (k, part);
              sums[i * POINTS + p] =
                  motion_sad4 (v, own_words[k], sums[i * POINTS + p]);
            }
          }
      }
    }
  }

  template <int COUNT, int POINTS, int SPACING, int PHASE>
  __device__ __forceinline__ void
  any_lines (const gint32 (&at)[COUNT], guint32 *sums) const
  {
    if (!inside)
      return;
    if (cut)
      lines<COUNT, POINTS, SPACING, PHASE, true> (at, sums);
    else
      lines<COUNT, POINTS, SPACING, PHASE, false> (at, sums);
  }

  /* --- costs ----------------------------------------------------------------- */

  /* Samples from the zero vector's first to that of (@x, @y), 0 where that is
   * not to be looked at. */
  __device__ __forceinline__ gint32
  offset_of (gint32 x, gint32 y, bool valid) const
  {
    return valid && y >= place.rect.top && y <= place.rect.bottom
               ? 4 * y * pitch + x
               : 0;
  }

  /* Whether the cost of all points from (@left, @top) to (@right, @bottom) is
   * their SAD. */
  __device__ __forceinline__ bool
  is_plain (gint32 left, gint32 top, gint32 right, gint32 bottom) const
  {
    return lambda == 0 && left >= place.rect.left && right <= place.rect.right
           && top >= place.rect.top && bottom <= place.rect.bottom;
  }

  /* The cost of a point of which the SAD is known; none where the point is no
   * candidate or the best already. */
  __device__ __forceinline__ guint32
  cost (guint32 sad, gint32 x, gint32 y, bool plain, bool valid) const
  {
    return motion_point_cost (
        place.rect, found.best, lambda, prior, sad, x, y, plain, valid);
  }

  /* The first visit. */
  __device__ __forceinline__ void
  visit_zero ()
  {
    const gint32 at[1] = { 0 };
    guint32 sum = 0;

    any_lines<1, 1, 4, 0> (at, &sum);
    found.best = make_short2 (0, 0);
    found.best_cost = add_up<ROWS> (sum) + motion_rate (lambda, 0, 0, prior);
  }

  /* Costs of up to MOTION_BATCH points: each lane has a point, and whether it is
   * to be visited; @n: the first lane without. COUNT: points that a slot does at
   * once. Returns: the lane's cost. */
  template <int COUNT>
  __device__ __forceinline__ guint32
  batch (short2 d, bool valid, gint32 n)
  {
    guint32 *sads = shared->sads[parity ^= 1][block];
    gint32 own_at = offset_of (
        d.x, d.y, valid && d.x >= place.rect.left && d.x <= place.rect.right);

#pragma unroll 1
    for (gint32 turn = 0; turn < n; turn += COUNT * SLOTS) {
      gint32 first = turn + COUNT * slot, at[COUNT];
      guint32 sums[COUNT];

#pragma unroll
      for (gint32 i = 0; i < COUNT; i++) {
        at[i] = __shfl_sync (MOTION_ALL_LANES, own_at, first + i);
        sums[i] = 0;
      }
      any_lines<COUNT, 1, 4, -1> (at, sums);
      exchange (sums);
      if (counts<COUNT> () && first + own<COUNT> () < n)
        sads[first + own<COUNT> ()] = sums[0];
    }
    barrier ();
    return cost (sads[motion_lane ()], d.x, d.y, false, valid);
  }

  /* The first NEAR points of the diamonds round a centre, those of 1, 2 and 4,
   * by the lines that they lie in. */
  static constexpr gint32 NEAR = 20;
  struct NearSums {
    guint32 up[1], above[3], over[3], odd[2], even[5], under[3], below[3],
        down[1];
  };

  template <bool CUT>
  __device__ __forceinline__ void
  near_lines (short2 centre, NearSums *sums) const
  {
    const gint32 x = centre.x, y = centre.y;
    const gint32 up[1] = { offset_of (x, y - 4, true) };
    const gint32 above[1] = { offset_of (x - 2, y - 2, true) };
    const gint32 over[1] = { offset_of (x - 1, y - 1, true) };
    const gint32 odd[1] = { offset_of (x - 1, y, true) };
    const gint32 even[1] = { offset_of (x - 4, y, true) };
    const gint32 under[1] = { offset_of (x - 1, y + 1, true) };
    const gint32 below[1] = { offset_of (x - 2, y + 2, true) };
    const gint32 down[1] = { offset_of (x, y + 4, true) };

    lines<1, 1, 4, -1, CUT> (up, sums->up);
    lines<1, 3, 2, -1, CUT> (above, sums->above);
    lines<1, 3, 1, -1, CUT> (over, sums->over);
    lines<1, 2, 2, -1, CUT> (odd, sums->odd);
    lines<1, 5, 2, -1, CUT> (even, sums->even);
    lines<1, 3, 1, -1, CUT> (under, sums->under);
    lines<1, 3, 2, -1, CUT> (below, sums->below);
    lines<1, 1, 4, -1, CUT> (down, sums->down);
  }

  /* From the lines' sums to those of the points, in the order of visits. */
  __device__ __forceinline__ void
  exchange_near (const NearSums &n, guint32 *sads) const
  {
    guint32 first[16] = { n.over[1], n.odd[0], n.odd[1], n.under[1], n.above[1],
      n.over[0], n.over[2], n.even[1], n.even[3], n.under[0], n.under[2],
      n.below[1], n.up[0], n.above[0], n.above[2], n.even[0] };
    guint32 last[4] = { n.even[4], n.below[0], n.below[2], n.down[0] };

    exchange (first);
    exchange (last);
#pragma unroll
    for (gint32 k = 0; k < (ROWS < 16 ? 16 / ROWS : 1); k++)
      if (counts<16> ())
        sads[own<16> () + k] = first[k];
    if (counts<4> ())
      sads[16 + own<4> ()] = last[0];
  }

  /* As batch(), of the points of NearSums, each word of whose lines is read
   * once. */
  __device__ __forceinline__ guint32
  near_batch (short2 centre, short2 d, bool valid)
  {
    guint32 *sads = shared->sads[parity ^= 1][block];
    NearSums n = {};

    if (inside && cut)
      near_lines<true> (centre, &n);
    else if (inside)
      near_lines<false> (centre, &n);
    exchange_near (n, sads);
    barrier ();
    return cost (sads[motion_lane ()], d.x, d.y, false, valid);
  }

  /* Adds the costs of the first @n points of LINES lines of POINTS points, all
   * SPACING apart, to @pair. The first point is number @number in the round.
   * @plain: is_plain() of all of them */
  template <int LINES, int POINTS, int SPACING, int PHASE>
  __device__ __forceinline__ void
  collect (gint32 x, gint32 y, gint32 n, bool plain, guint32 number,
      MotionRoundPair *pair) const
  {
    constexpr gint32 ALL = LINES * POINTS, N = ALL > 8 ? 16 : ALL > 4 ? 8 : 4;
    constexpr gint32 OWN = N > ROWS ? N / ROWS : 1;
    guint32 sums[N];
    gint32 at[LINES];

#pragma unroll
    for (gint32 i = 0; i < N; i++)
      sums[i] = 0;
#pragma unroll
    for (gint32 i = 0; i < LINES; i++)
      at[i] = offset_of (x, y + i * SPACING, i * POINTS < n);
    any_lines<LINES, POINTS, SPACING, PHASE> (at, sums);
    exchange (sums);
#pragma unroll
    for (gint32 k = 0; k < OWN; k++) {
      gint32 i = own<N> () + k;
      guint32 value = cost (sums[k], x + i % POINTS * SPACING,
          y + i / POINTS * SPACING, plain, i < min (n, ALL) && counts<N> ());

      pair->add (value == MOTION_NONE
                     ? MOTION_NONE
                     : value << MOTION_POINT_BITS | (number + (guint32) i));
    }
  }

  /* --- visits ---------------------------------------------------------------- */

  /* The two least of the block's lanes, in all of them. */
  __device__ __forceinline__ MotionRoundPair
  gather (const MotionRoundPair &pair)
  {
    MotionRoundPair *pairs = shared->pairs[parity ^= 1];
    MotionRoundPair least = motion_round_pair (pair);

    if (WARPS == 1)
      return least;
    if (motion_lane () == 0)
      pairs[slot / GROUPS] = least;
    barrier ();
    least.clear ();
    for (gint32 i = 0; i < WARPS; i++)
      least.add (pairs[i]);
    return least;
  }

  /* Visits the points of the lanes @first..@first+@n-1, of which the lanes have
   * vectors and costs. Returns: the lane whose point became the best, or -1. */
  __device__ __forceinline__ gint32
  visit (short2 d, guint32 value, gint32 first, gint32 n)
  {
    gint32 lane = (gint32) motion_lane ();
    MotionRoundPair pair;

    pair.clear ();
    if (value != MOTION_NONE && lane >= first && lane < first + n)
      pair.best = value << MOTION_POINT_BITS | (guint32) lane;
    return found.take (motion_round_pair (pair), MotionLaneVectors{ d });
  }

  /* Whether the lane is the one that stores what was found. */
  __device__ __forceinline__ bool
  stores () const
  {
    return slot == 0 && motion_lane () == 0;
  }

  __device__ __forceinline__ void
  store (MotionFound *to) const
  {
    MotionFound f = { found.best.x, found.best.y, found.second.x,
      found.second.y, found.best_cost, found.second_cost };

    if (stores ())
      to[place.number] = f;
  }
};

/* --- a tile ------------------------------------------------------------------ */

/* Copies the window to shared memory, a warp a row at a time. */
template <int THREADS>
static __device__ __forceinline__ void
motion_stage (const guint8 *from, guint32 bytes, const MotionWindowSize &size,
    gint32 words, gint32 rows, guint32 *window)
{
  gint32 first = (gint32) threadIdx.x / 32;

  for (gint32 x = (gint32) motion_lane (); x < words; x += 32) {
    const guint8 *row = from + (gsize) first * bytes + 4 * x;
    guint32 *to = window + first * size.pitch + x;

#pragma unroll 4
    for (gint32 y = first; y < rows; y += THREADS / 32) {
      motion_copy_word (to, (const guint32 *) row);
      row += THREADS / 32 * bytes;
      to += THREADS / 32 * size.pitch;
    }
  }
}

/* The blocks that a thread block does. */
template <int SIZE, bool STAGED> struct MotionTileSearch {
  typedef MotionSearch<SIZE> Search;
  typedef MotionTiling<SIZE> Tiling;
  static constexpr gint32 WIDTH = Tiling::ACROSS * SIZE;
  static constexpr gint32 HEIGHT = Tiling::DOWN * SIZE;
  static constexpr bool IN_SHARED = STAGED;

  const MotionDeviceTask *task;
  const MotionDeviceField *field;
  typename Search::Shared *shared;
  gint32 column, row;    /* of the first block */
  const guint32 *origin; /* the tile's first sample in the reference */
  gint32 pitch;          /* words */

  __device__ __forceinline__ void
  begin (const MotionDeviceTask *from, typename Search::Shared *memory)
  {
    extern __shared__ guint32 motion_window[];
    const MotionWindowSize size =
        MotionWindowSize::make (from->config.range, WIDTH, HEIGHT);

    task = from;
    field = &task->fields[blockIdx.z];
    shared = memory;
    column = (gint32) blockIdx.x * Tiling::ACROSS;
    row = (gint32) blockIdx.y * Tiling::DOWN;
    if (STAGED) {
      origin = motion_window + MOTION_WINDOW_BEFORE
               + (gint32) task->config.range * size.pitch + size.lead / 4;
      pitch = size.pitch;
    } else {
      origin = (const guint32 *) plane ();
      pitch = (gint32) task->layout.pitch / 4;
    }
  }

  /* The tile's first sample in the reference. */
  __device__ __forceinline__ const guint8 *
  plane () const
  {
    return field->reference.search + (gsize) row * SIZE * task->layout.pitch
           + column * SIZE;
  }

  /* Begins to copy the window; wait() completes it. What blocks beyond the grid
   * would need may not be there. */
  __device__ __forceinline__ void
  stage () const
  {
    extern __shared__ guint32 motion_window[];
    const gint32 range = (gint32) task->config.range;
    const gint32 across = min ((gint32) task->columns - column, Tiling::ACROSS);
    const gint32 down =
        min ((gint32) (task->n_blocks / task->columns) - row, Tiling::DOWN);
    const MotionWindowSize size =
        MotionWindowSize::make (task->config.range, WIDTH, HEIGHT);

    if (STAGED)
      motion_stage<Tiling::THREADS> (
          plane () - (gssize) range * (gssize) task->layout.pitch - size.lead,
          task->layout.pitch, size,
          size.words - (Tiling::ACROSS - across) * (SIZE / 4),
          size.rows - (Tiling::DOWN - down) * SIZE,
          motion_window + MOTION_WINDOW_BEFORE);
  }

  static __device__ __forceinline__ void
  wait ()
  {
    motion_copy_wait ();
    __syncthreads ();
  }

  /* The number in the tile of the warp's own block. */
  static __device__ __forceinline__ gint32
  own ()
  {
    return (gint32) threadIdx.x / (32 * Tiling::WARPS);
  }

  /* Whether the grid has block @number of the tile. */
  __device__ __forceinline__ bool
  has (gint32 number) const
  {
    return column + number % Tiling::ACROSS < (gint32) task->columns
           && (row + number / Tiling::ACROSS) * (gint32) task->columns
                  < (gint32) task->n_blocks;
  }

  /* Where block @number of the tile is in the grid. */
  __device__ __forceinline__ gint32
  column_of (gint32 number) const
  {
    return column + number % Tiling::ACROSS;
  }

  __device__ __forceinline__ gint32
  row_of (gint32 number) const
  {
    return row + number / Tiling::ACROSS;
  }

  /* The samples that it has each way; may be none where there is no block. */
  __device__ __forceinline__ gint32
  width_of (gint32 number) const
  {
    return min (SIZE, (gint32) task->config.width - column_of (number) * SIZE);
  }

  __device__ __forceinline__ gint32
  height_of (gint32 number) const
  {
    return min (SIZE, (gint32) task->config.height - row_of (number) * SIZE);
  }

  /* The word of its first sample in the reference. */
  __device__ __forceinline__ const guint32 *
  first_of (gint32 number) const
  {
    return origin + number / Tiling::ACROSS * SIZE * pitch
           + number % Tiling::ACROSS * (SIZE / 4);
  }

  __device__ __forceinline__ void
  begin_search (gint32 number, Search *s) const
  {
    s->begin (task, field,
        motion_place_at (task, column_of (number), row_of (number)), number,
        origin, pitch, shared);
  }
};

/* Launches a kernel, and lets @begun (nullable) be there at its end or, where
 * the device can, once all its thread blocks have begun: a kernel that waits for
 * it has to call motion_await_kernels(). */
template <class Kernel>
static cudaError_t
motion_launch_begun (Kernel *kernel, dim3 grid, guint threads, gsize bytes,
    const MotionDeviceTask *task, int device, cudaEvent_t begun,
    cudaStream_t stream)
{
#if CUDART_VERSION >= 12030
  int major;
  cudaError_t code = cudaDeviceGetAttribute (
      &major, cudaDevAttrComputeCapabilityMajor, device);

  if (code != cudaSuccess)
    return code;
  if (begun != NULL && major >= 9) {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = begun;
    attribute.val.programmaticEvent.triggerAtBlockStart = 1;
    config.gridDim = grid;
    config.blockDim = dim3 (threads);
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx (&config, kernel, *task);
  }
#endif
  kernel<<<grid, threads, bytes, stream>>> (*task);
  return begun != NULL ? cudaEventRecord (begun, stream) : cudaGetLastError ();
}

/* Launches a thread block a Tile. @staged, @direct: the kernel that has the
 * window in shared memory, beside a Shared, and the one for devices that have
 * too little. @begun: see above */
template <class Tile, class Shared, class Kernel>
static cudaError_t
motion_launch_tiles (Kernel *staged, Kernel *direct,
    const MotionDeviceTask *task, cudaEvent_t begun, cudaStream_t stream)
{
  typedef typename Tile::Tiling Tiling;
  guint rows = task->n_blocks / task->columns;
  dim3 grid ((task->columns + Tiling::ACROSS - 1) / Tiling::ACROSS,
      (rows + Tiling::DOWN - 1) / Tiling::DOWN, task->n_fields);
  Kernel *kernel = staged;
  guint32 bytes =
      MotionWindowSize::make (task->config.range, Tile::WIDTH, Tile::HEIGHT)
          .bytes ();
  int device, limit;
  cudaError_t code;

  if ((code = cudaGetDevice (&device)) != cudaSuccess
      || (code = cudaDeviceGetAttribute (
              &limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device))
             != cudaSuccess)
    return code;
  if (bytes + sizeof (Shared) > (guint32) limit) {
    kernel = direct;
    bytes = 0;
  } else if ((code = cudaFuncSetAttribute ((const void *) kernel,
                  cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bytes))
             != cudaSuccess) {
    return code;
  }
  return motion_launch_begun (
      kernel, grid, Tiling::THREADS, bytes, task, device, begun, stream);
}
