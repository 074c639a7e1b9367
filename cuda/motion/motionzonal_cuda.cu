/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The zonal search, one launch a frame: predictors, diamonds, raster, star. */
#include "motionrounds.cuh"

namespace {

#define RASTER 5

/* Where the search begins: the vectors of the frame before, zero, what the
 * pyramid says; a lane has one of them. */
struct Starts {
  short2 own; /* of a prior field: in quarters */
  bool prior, other;

  static constexpr gint32 N = 7;

  /* Loads what point() needs. @n, @column: of the block */
  __device__ __forceinline__ void
  begin (const MotionDeviceField *field, guint32 n, guint32 column,
      guint32 columns, guint32 n_blocks)
  {
    guint32 lane = motion_lane ();

    other = lane == 1 || lane == 6;
    prior = field->prior != NULL && !other && lane < 6
            && (lane != 2 || column > 0) && (lane != 3 || column + 1 < columns)
            && (lane != 4 || n >= columns)
            && (lane != 5 || n + columns < n_blocks);
    own = make_short2 (0, 0);
    if (lane == 6)
      own = field->predicted[n];
    if (prior) {
      const MotionVector *v = &field->prior[lane == 2   ? n - 1
                                            : lane == 3 ? n + 1
                                            : lane == 4 ? n - columns
                                            : lane == 5 ? n + columns
                                                        : n];

      own = *(const short2 *) v;
    }
  }

  /* The lane's point. A lane whose point one before it has says that it is not
   * valid, and so it is not visited again. */
  __device__ __forceinline__ short2
  point (const MotionRect &rect, bool *valid) const
  {
    short2 d = own;
    gint32 bits;

    if (prior) {
      d.x = (gint16) motion_clamp (motion_whole (d.x), rect.left, rect.right);
      d.y = (gint16) motion_clamp (motion_whole (d.y), rect.top, rect.bottom);
    }
    *valid = prior || other;
    bits = (gint32) ((guint32) (guint16) d.x | (guint32) (guint16) d.y << 16);
#pragma unroll
    for (gint32 i = 0; i < N - 1; i++) {
      bool before = __shfl_sync (MOTION_ALL_LANES, (gint32) *valid, i) != 0;
      bool same = __shfl_sync (MOTION_ALL_LANES, bits, i) == bits;

      if (before && same && (gint32) motion_lane () > i)
        *valid = false;
    }
    return d;
  }
};

/* By point number less 1: across and down of two neighbours. */
__constant__ const gint8 two_points[8][2][2] = { { { -1, 0 }, { 0, -1 } },
  { { -1, -1 }, { 1, -1 } }, { { 0, -1 }, { 1, 0 } }, { { -1, 1 }, { -1, -1 } },
  { { 1, -1 }, { 1, 1 } }, { { -1, 0 }, { 0, 1 } }, { { -1, 1 }, { 1, 1 } },
  { { 1, 0 }, { 0, 1 } } };

__device__ __forceinline__ short2
moved (short2 from, gint32 x, gint32 y)
{
  return make_short2 ((gint16) (from.x + x), (gint16) (from.y + y));
}

/* Of the raster; from number @first on. */
struct Raster {
  gint32 range, across, first;

  __device__ __forceinline__ short2
  operator() (gint32 i) const
  {
    return make_short2 ((gint16) ((first + i) % across * RASTER - range),
        (gint16) ((first + i) / across * RASTER - range));
  }
};

/* As all diamonds of a zone have one centre, a group of them is computed at once,
 * whether the search ends before the last or not. */
#define N_GROUPS 4       /* 1 to 4, 8 and 16, 32 and 64, 128 */
#define GROUP_DIAMONDS 3 /* at most */

/* The distance of its first diamond. */
__device__ __forceinline__ gint32
group_first (gint32 group)
{
  return group == 0 ? 1 : 2 << 2 * group;
}

__device__ __forceinline__ gint32
group_last (gint32 group)
{
  return 4 << 2 * group;
}

/* A lane's point of a group, in a word: across and down from the centre, number,
 * the binary logarithms of the diamond's distance and of the one that a best
 * there has. */
struct Spot {
  guint32 bits;

  __device__ __forceinline__ gint32
  x () const
  {
    return (gint32) (bits << 22) >> 22;
  }

  __device__ __forceinline__ gint32
  y () const
  {
    return (gint32) (bits << 12) >> 22;
  }

  __device__ __forceinline__ gint32
  number () const
  {
    return (gint32) (bits >> 20 & 15);
  }

  __device__ __forceinline__ gint32
  diamond () const
  {
    return 1 << (bits >> 24 & 15);
  }

  __device__ __forceinline__ gint32
  distance () const
  {
    return 1 << (bits >> 28);
  }
};

/* The points of all groups in the order of visits; lanes that have none a diamond
 * beyond every range. */
struct Spots {
  guint32 bits[N_GROUPS][32];

  constexpr void
  add (gint32 group, gint32 *n, gint32 x, gint32 y, gint32 number, gint32 log,
      gint32 log_of_best)
  {
    bits[group][(*n)++] = ((guint32) x & 1023) | ((guint32) y & 1023) << 10
                          | (guint32) number << 20 | (guint32) log << 24
                          | (guint32) log_of_best << 28;
  }

  /* The corners of a diamond half as far are halfway on its edges. */
  constexpr void
  add_small (gint32 group, gint32 *n, gint32 log)
  {
    const gint32 d = 1 << log, e = d / 2;

    add (group, n, 0, -d, 2, log, log);
    if (d > 1) {
      add (group, n, -e, -e, 1, log, log - 1);
      add (group, n, e, -e, 3, log, log - 1);
    }
    add (group, n, -d, 0, 4, log, log);
    add (group, n, d, 0, 5, log, log);
    if (d > 1) {
      add (group, n, -e, e, 6, log, log - 1);
      add (group, n, e, e, 8, log, log - 1);
    }
    add (group, n, 0, d, 7, log, log);
  }

  constexpr void
  add_large (gint32 group, gint32 *n, gint32 log)
  {
    const gint32 d = 1 << log;

    add (group, n, 0, -d, 0, log, log);
    add (group, n, -d, 0, 0, log, log);
    add (group, n, d, 0, 0, log, log);
    add (group, n, 0, d, 0, log, log);
    for (gint32 q = d / 4; q < d; q += d / 4) {
      add (group, n, -q, q - d, 0, log, log);
      add (group, n, q, q - d, 0, log, log);
      add (group, n, -q, d - q, 0, log, log);
      add (group, n, q, d - q, 0, log, log);
    }
  }

  constexpr Spots () : bits ()
  {
    for (gint32 group = 0, log = 0; group < N_GROUPS; group++) {
      gint32 n = 0;

      for (; log <= 7 && 1 << log <= 4 << 2 * group; log++)
        if (log <= 3)
          add_small (group, &n, log);
        else
          add_large (group, &n, log);
      while (n < 32)
        add (group, &n, 0, 0, 0, 15, 0);
    }
  }
};

__device__ const Spots all_spots;

/* What became the best, and how long ago. */
struct State {
  gint32 number, distance, rounds;
};

/* --- the course of a search ---------------------------------------------------- */

/* What is to be visited next. */
typedef enum {
  WANT_NOTHING,
  WANT_DIAMONDS,
  WANT_TWO, /* neighbours of a best next to the centre */
  WANT_RASTER,
} Want;

/* Where the search of a block has come to. */
struct Course {
  State state;
  Want want;
  gint32 range, patience;
  short2 centre;
  gint32 group;
  Spot spots[N_GROUPS]; /* the lane's */

  /* What needs no search yet. */
  __device__ __forceinline__ void
  prepare (gint32 all)
  {
    state = State{ 0, 0, 0 };
    want = WANT_NOTHING;
    range = all;
    patience = group = 0;
    centre = make_short2 (0, 0);
#pragma unroll
    for (gint32 i = 0; i < N_GROUPS; i++)
      spots[i].bits = all_spots.bits[i][motion_lane ()];
  }

  /* Diamonds round the best. */
  __device__ __forceinline__ void
  begin_zone (short2 best, gint32 rounds)
  {
    patience = rounds;
    centre = best;
    group = 0;
    want = WANT_DIAMONDS;
  }

  __device__ __forceinline__ void
  begin (short2 best)
  {
    begin_zone (best, 3);
  }

  __device__ __forceinline__ Spot
  spot () const
  {
    return group == 0   ? spots[0]
           : group == 1 ? spots[1]
           : group == 2 ? spots[2]
                        : spots[3];
  }

  /* The lane's point, if a point is wanted of it; those lanes are the first. */
  __device__ __forceinline__ short2
  point (short2 best, bool *wanted) const
  {
    const gint8 *two;

    if (want == WANT_TWO) {
      two = two_points[state.number - 1][motion_lane () & 1];
      *wanted = motion_lane () < 2;
      return moved (best, two[0], two[1]);
    }
    *wanted = want == WANT_DIAMONDS
              && spot ().diamond () <= min (group_last (group), range);
    return moved (centre, spot ().x (), spot ().y ());
  }

  __device__ __forceinline__ void
  begin_star (short2 best)
  {
    if (state.distance == 0) {
      want = WANT_NOTHING;
      return;
    }
    state.distance = 0;
    state.number = 0;
    begin_zone (best, 2);
  }

  /* What follows on a zone and its two points. */
  __device__ __forceinline__ void
  leave_zone (short2 best)
  {
    if (patience == 3 && state.distance >= RASTER) {
      state.distance = RASTER;
      want = WANT_RASTER;
    } else {
      begin_star (best);
    }
  }

  __device__ __forceinline__ void
  end_diamonds (short2 best)
  {
    if (state.distance != 1) {
      leave_zone (best);
      return;
    }
    state.distance = 0;
    if (state.number != 0)
      want = WANT_TWO;
    else
      leave_zone (best);
  }

  /* Visits the diamonds of a group, of whose points the lanes have vectors and
   * costs. */
  template <class Search>
  __device__ __forceinline__ void
  visit_diamonds (Search *s, short2 d, guint32 cost)
  {
    const gint32 first = group_first (group);
    const gint32 last = min (group_last (group), range);
    const guint32 key =
        cost == MOTION_NONE ? cost : cost << MOTION_POINT_BITS | motion_lane ();
    MotionRoundPair pairs[GROUP_DIAMONDS];

#pragma unroll
    for (gint32 k = 0; k < GROUP_DIAMONDS; k++) {
      pairs[k].best = spot ().diamond () == first << k ? key : MOTION_NONE;
      pairs[k].second = MOTION_NONE;
      pairs[k] = motion_round_pair (pairs[k]);
    }
#pragma unroll
    for (gint32 k = 0; k < GROUP_DIAMONDS; k++)
      if (first << k <= last) {
        gint32 i = s->found.take (pairs[k], MotionLaneVectors{ d });

        state.rounds++;
        if (i >= 0) {
          Spot won = { __shfl_sync (MOTION_ALL_LANES, spot ().bits, i) };

          state = State{ won.number (), won.distance (), 0 };
        }
        if (state.rounds >= patience) {
          end_diamonds (s->found.best);
          return;
        }
      }
    group++;
    if (group_first (group) > range)
      end_diamonds (s->found.best);
  }

  /* Visits the points that were wanted. */
  template <class Search>
  __device__ __forceinline__ void
  visit (Search *s, short2 d, guint32 cost)
  {
    if (want == WANT_DIAMONDS) {
      visit_diamonds (s, d, cost);
      return;
    }
    if (s->visit (d, cost, 0, 2) >= 0)
      state = State{ 0, 2, 0 };
    leave_zone (s->found.best);
  }

  /* Visits the best two of the raster's rows from @row on. */
  template <class Search>
  __device__ __forceinline__ void
  visit_raster (Search *s, const MotionRoundPair &pair, gint32 row)
  {
    const gint32 across = 2 * range / RASTER + 1;

    if (s->found.take (pair, Raster{ range, across, row * across }) >= 0) {
      state.rounds = 0;
      state.number = 0;
    }
  }
};

/* --- a tile's turns -------------------------------------------------------------
 *
 * After the first diamonds, which every block has, few blocks of a tile go on,
 * one long after the others. So what they want is computed by all warps, turn by
 * turn. */

#define RASTER_ACROSS 32 /* points of a raster that are summed up at once */
#define RASTER_DOWN 26

/* What the blocks of a tile want in a turn. */
struct Wants {
  guint32 rasters;  /* a bit for each block */
  guint32 n_pieces; /* of points: eight, with small blocks more */
  guint8 blocks[32], pieces[32];
};

/* Also: the wants of this turn, zero those of the next; the points that a block
 * wants, as samples from those of the zero vector; its samples, row by row, where
 * a warp's registers do not have them; what each warp has summed up of a raster's
 * points, and the sums. */
template <int SIZE> struct ZonalShared {
  typedef MotionTiling<SIZE> Tiling;
  static constexpr gint32 WARPS = Tiling::THREADS / 32;
  static constexpr gint32 PITCH = SIZE / 4 + 1; /* words */
  static constexpr bool HAS_WORDS = MotionSearch<SIZE>::PARTS == 1;

  int4 at[Tiling::BLOCKS][MOTION_BATCH / 4];
  Wants wants[2];
  MotionShared<SIZE> search;
  guint32 words[Tiling::BLOCKS][HAS_WORDS ? SIZE * PITCH : 1];
  guint32 shares[WARPS][RASTER_DOWN * RASTER_ACROSS];
  guint32 sums[RASTER_DOWN * RASTER_ACROSS];

  __device__ __forceinline__ const guint32 *
  block (gint32 i) const
  {
    return HAS_WORDS ? words[i] : search.current;
  }
};

/* All that takes part in the turns of a tile. */
template <class Tile, class Shared> struct Turns {
  typedef typename Tile::Search Search;
  typedef typename Tile::Tiling Tiling;
  static constexpr gint32 SIZE = Tile::HEIGHT / Tiling::DOWN;
  static constexpr gint32 AT_ONCE = 8;
  static constexpr gint32 EACH =
      AT_ONCE * Search::GROUPS; /* points of a piece */

  const Tile &tile;
  Shared *shared;
  Search *s; /* the own block's, but for what differences are computed of */
  gint32 warp;

  __device__ __forceinline__
  Turns (const Tile &of, Shared *memory, Search *search)
      : tile (of), shared (memory), s (search), warp ((gint32) threadIdx.x / 32)
  {
  }

  /* Before the first turn, and a barrier. */
  __device__ __forceinline__ void
  begin () const
  {
    guint32 *to = shared->words[Shared::HAS_WORDS ? tile.own () : 0];

#pragma unroll
    for (gint32 k = 0; k < Search::WORDS; k++)
      if (Shared::HAS_WORDS && (gint32) motion_lane () < Search::ROWS)
        to[s->row * Shared::PITCH + k] = s->words[k];
    if (threadIdx.x < 2)
      shared->wants[threadIdx.x].rasters = shared->wants[threadIdx.x].n_pieces =
          0;
  }

  /* Lets differences be those of block @i. */
  __device__ __forceinline__ void
  turn_to (gint32 i) const
  {
    if (Shared::HAS_WORDS)
      s->look (tile.width_of (i), tile.height_of (i), tile.first_of (i));
#pragma unroll
    for (gint32 k = 0; k < Search::WORDS; k++)
      if (Shared::HAS_WORDS)
        s->words[k] = shared->block (i)[s->row * Shared::PITCH + k];
  }

  /* Says what the own block wants. */
  __device__ __forceinline__ void
  post (Want want, short2 d, bool wanted, Wants *wants) const
  {
    const MotionRect &rect = s->place.rect;
    const guint32 lane = motion_lane ();
    guint32 n = (guint32) __popc (__ballot_sync (MOTION_ALL_LANES, wanted));
    guint32 first = 0;

    if (warp % Tiling::WARPS != 0)
      return;
    if (want == WANT_RASTER && lane == 0)
      atomicOr (&wants->rasters, 1u << tile.own ());
    if (n == 0)
      return;
    n = (n + EACH - 1) / EACH;
    ((gint32 *) shared->at[tile.own ()])[lane] = s->offset_of (
        d.x, d.y, wanted && d.x >= rect.left && d.x <= rect.right);
    if (lane == 0)
      first = atomicAdd (&wants->n_pieces, n);
    first = __shfl_sync (MOTION_ALL_LANES, first, 0);
    if (lane < n) {
      wants->blocks[first + lane] = (guint8) tile.own ();
      wants->pieces[first + lane] = (guint8) lane;
    }
  }

  /* SADs of the points that the blocks want. */
  __device__ __forceinline__ void
  compute_points (const Wants *wants) const
  {
#pragma unroll 1
    for (guint32 piece = (guint32) warp; piece < wants->n_pieces;
         piece += Shared::WARPS) {
      const gint32 i = wants->blocks[piece];
      const gint32 first = wants->pieces[piece] * EACH
                           + (gint32) motion_lane () / Search::ROWS * AT_ONCE;
      const int4 low = shared->at[i][first / 4];
      const int4 high = shared->at[i][first / 4 + 1];
      const gint32 at[AT_ONCE] = { low.x, low.y, low.z, low.w, high.x, high.y,
        high.z, high.w };
      guint32 sums[AT_ONCE] = {};

      turn_to (i);
      s->template any_lines<AT_ONCE, 1, 4, -1> (at, sums);
      s->exchange (sums);
      if (s->template counts<AT_ONCE> ())
        shared->search.sads[0][i][first + s->template own<AT_ONCE> ()] =
            sums[0];
    }
  }

  /* Adds up the differences of points of a raster, RASTER apart: a lane has one
   * dx, a warp every eighth of the block's columns of words. Rows that are equal
   * modulo RASTER belong to the same rows of the block, one further up for each
   * point. @x, @y: the first point; @across, @down: how many. WHOLE: RASTER_DOWN
   * down, of a whole block */
  template <bool WHOLE>
  __device__ __forceinline__ void
  add_columns (gint32 i, gint32 x, gint32 y, gint32 across, gint32 down) const
  {
    constexpr gint32 COLUMNS = SIZE / 4, DEEP = (SIZE + RASTER - 1) / RASTER;
    const gint32 dx = x + min ((gint32) motion_lane (), across - 1) * RASTER;
    const gint32 width = tile.width_of (i), height = tile.height_of (i);
    const guint32 shift = 8 * (guint32) dx; /* the lower five bits count */
    const guint32 *from =
        (const guint32 *) ((const guint8 *) (tile.first_of (i) + y * tile.pitch)
                           + (dx & ~3));
    guint32 sums[RASTER_DOWN] = {};

#pragma unroll 1
    for (gint32 slice = warp; slice < COLUMNS * RASTER;
         slice += Shared::WARPS) {
      const gint32 column = slice % COLUMNS, row = slice / COLUMNS;
      const guint32 *own = shared->block (i) + row * Shared::PITCH + column;
      const guint32 *at = from + row * tile.pitch + column;
      const guint32 mask = motion_mask (width, 4 * column);
      /* no row beyond the last point's is read */
      const gint32 rows =
          (WHOLE ? RASTER_DOWN : down) - 1 + (SIZE - row + RASTER - 1) / RASTER;
      const gint32 deep = (height - row + RASTER - 1) / RASTER;
      guint32 words[DEEP];

#pragma unroll
      for (gint32 k = 0; k < DEEP; k++)
        words[k] = row + k * RASTER < SIZE
                       ? own[k * RASTER * Shared::PITCH] & (WHOLE ? ~0u : mask)
                       : 0;
#pragma unroll
      for (gint32 m = 0; m < RASTER_DOWN + DEEP - 1; m++) {
        guint32 word;

        if ((!WHOLE || m == RASTER_DOWN + DEEP - 2) && m >= rows)
          break;
        word = __funnelshift_r (at[0], at[1], shift);
        if (!WHOLE)
          word &= mask;
        at += RASTER * tile.pitch;
#pragma unroll
        for (gint32 k = 0; k < DEEP; k++)
          if (m - k >= 0 && m - k < RASTER_DOWN
              && ((WHOLE && k < SIZE / RASTER) || k < deep))
            sums[m - k] = motion_sad4 (word, words[k], sums[m - k]);
      }
    }
#pragma unroll
    for (gint32 j = 0; j < RASTER_DOWN; j++)
      shared->shares[warp][j * RASTER_ACROSS + motion_lane ()] = sums[j];
  }

  /* From the warps' shares to sums. */
  __device__ __forceinline__ void
  add_shares () const
  {
    for (guint32 i = threadIdx.x; i < RASTER_DOWN * RASTER_ACROSS;
         i += Tiling::THREADS) {
      guint32 sum = 0;

#pragma unroll
      for (gint32 k = 0; k < Shared::WARPS; k++)
        sum += shared->shares[k][i];
      shared->sums[i] = sum;
    }
  }

  /* Adds the costs of the points that were summed up to @pair; in the block's
   * warps. @number: of the first point; @all: points of a row */
  __device__ __forceinline__ void
  collect (gint32 x, gint32 y, gint32 across, gint32 down, gint32 number,
      gint32 all, MotionRoundPair *pair) const
  {
    const gint32 lane = (gint32) motion_lane ();
    const bool plain =
        s->is_plain (x, y, x + (across - 1) * RASTER, y + (down - 1) * RASTER);

#pragma unroll 4
    for (gint32 j = warp % Tiling::WARPS; j < down; j += Tiling::WARPS) {
      guint32 value = s->cost (shared->sums[j * RASTER_ACROSS + lane],
          x + lane * RASTER, y + j * RASTER, plain, lane < across);

      pair->add (value == MOTION_NONE
                     ? MOTION_NONE
                     : value << MOTION_POINT_BITS
                           | (guint32) (number + j * all + lane));
    }
  }

  /* The raster of block @i, by all warps; visited by those of the block while the
   * others go on. */
  __device__ __forceinline__ void
  compute_raster (gint32 i, Course *course) const
  {
    const gint32 range = (gint32) tile.task->config.range;
    const gint32 all = 2 * range / RASTER + 1;
    const bool whole = tile.width_of (i) == SIZE && tile.height_of (i) == SIZE;
    const bool own = i == tile.own ();

#pragma unroll 1
    for (gint32 row = 0; row < all; row += RASTER_DOWN) {
      const gint32 down = min (all - row, RASTER_DOWN);
      const gint32 y = row * RASTER - range;
      MotionRoundPair pair;

      pair.clear ();
#pragma unroll 1
      for (gint32 column = 0; column < all; column += RASTER_ACROSS) {
        const gint32 across = min (all - column, RASTER_ACROSS);
        const gint32 x = column * RASTER - range;

        if (whole && down == RASTER_DOWN)
          add_columns<true> (i, x, y, across, down);
        else
          add_columns<false> (i, x, y, across, down);
        __syncthreads ();
        add_shares ();
        __syncthreads ();
        if (own)
          collect (x, y, across, down, column, all, &pair);
      }
      if (own)
        course->visit_raster (s, s->gather (pair), row);
    }
    if (own)
      course->begin_star (s->found.best);
  }

  /* Until no block wants anything. */
  __device__ __forceinline__ void
  run (Course *course) const
  {
#pragma unroll 1
    for (guint32 parity = 0;; parity ^= 1) {
      Wants *wants = &shared->wants[parity], *next = &shared->wants[parity ^ 1];
      const Want want = course->want;
      bool wanted;
      const short2 d = course->point (s->found.best, &wanted);

      post (want, d, wanted, wants);
      __syncthreads ();
      if (wants->rasters == 0 && wants->n_pieces == 0)
        break;
      if (threadIdx.x == 0)
        next->rasters = next->n_pieces = 0;
      compute_points (wants);
#pragma unroll 1
      for (guint32 left = wants->rasters; left != 0; left &= left - 1)
        compute_raster (__ffs ((gint32) left) - 1, course);
      __syncthreads ();
      if (want == WANT_DIAMONDS || want == WANT_TWO)
        course->visit (s, d,
            s->cost (shared->search.sads[0][tile.own ()][motion_lane ()], d.x,
                d.y, false, wanted));
    }
  }
};

/* --- the kernel ---------------------------------------------------------------- */

template <int SIZE, bool STAGED>
__global__ void
__launch_bounds__ (MotionTiling<SIZE>::THREADS, 2)
    zonal_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ ZonalShared<SIZE> shared;
  typedef MotionTileSearch<SIZE, STAGED> Tile;
  Tile tile;
  MotionSearch<SIZE> s;
  Turns<Tile, ZonalShared<SIZE>> turns (tile, &shared, &s);
  Course course;
  Starts starts;
  short2 start; /* the lane's */
  bool exists, valid, wanted;
  gint32 own;

  tile.begin (&task, &shared.search);
  exists = tile.has (tile.own ());
  /* a warp without a block computes for the others */
  own = exists ? tile.own () : 0;
  tile.begin_search (own, &s);
  course.prepare ((gint32) task.config.range);
  tile.stage ();
  motion_await_kernels (); /* the search before, whose vectors are read now */
  starts.begin (tile.field, s.place.number, tile.column_of (own), task.columns,
      task.n_blocks);
  s.mask_words ();
  start = starts.point (s.place.rect, &valid);
  turns.begin ();
  tile.wait ();
  if (exists) {
    s.visit (
        start, s.template batch<8> (start, valid, Starts::N), 0, Starts::N);
    course.begin (s.found.best);
    if (MotionSearch<SIZE>::WARPS == 1 && task.config.range >= 4) {
      short2 d = course.point (s.found.best, &wanted);

      course.visit (&s, d, s.near_batch (course.centre, d, wanted));
    }
  }
  turns.run (&course);
  if (exists)
    s.store (tile.field->found);
  if (exists && s.stores () && motion_keeps_early (&task.config))
    tile.field->kept[s.place.number] =
        MotionVector{ (gint16) (4 * s.found.best.x),
          (gint16) (4 * s.found.best.y), s.found.best_cost };
}

template <int SIZE>
cudaError_t
launch (
    const MotionDeviceTask *task, cudaEvent_t kept_there, cudaStream_t stream)
{
  return motion_launch_tiles<MotionTileSearch<SIZE, true>, ZonalShared<SIZE>> (
      zonal_kernel<SIZE, true>, zonal_kernel<SIZE, false>, task, kept_there,
      stream);
}

} // namespace

cudaError_t
motion_launch_zonal (
    const MotionDeviceTask *task, cudaEvent_t kept_there, cudaStream_t stream)
{
  switch (task->config.block_size) {
    case 8:
      return launch<8> (task, kept_there, stream);
    case 16:
      return launch<16> (task, kept_there, stream);
    case 32:
      return launch<32> (task, kept_there, stream);
    default:
      return launch<64> (task, kept_there, stream);
  }
}
