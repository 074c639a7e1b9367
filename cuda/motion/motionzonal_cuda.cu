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

/* As all diamonds of a zone have one centre, a group of them may be computed at
 * once, whether the search ends before the last or not. Beside them the eight
 * points a knight's move from the centre: whichever of its neighbours becomes the
 * best, two of them are the neighbours of that one which are left out (the two
 * points), and follow in this order. The first two groups have them in the last
 * lanes. */
#define N_GROUPS 4       /* 1 to 4, 8 and 16, 32 and 64, 128 */
#define GROUP_DIAMONDS 3 /* at most */
#define KNIGHTS 0xff000000u

/* By the binary logarithm of a diamond's distance: its group; the first of a
 * group. */
__device__ __forceinline__ gint32
group_of (gint32 log)
{
  return log < 3 ? 0 : (log - 1) / 2;
}

__device__ __forceinline__ gint32
group_first (gint32 group)
{
  return group == 0 ? 0 : 2 * group + 1;
}

/* A lane's point of a group, in a word: across and down from the centre, number,
 * the binary logarithms of the diamond's distance and of the one that a best
 * there has. Of a knight's move instead of number and the latter the numbers of
 * the two points whose neighbour it is. */
struct Spot {
  guint32 bits;

  static constexpr gint32 KNIGHT = 14, NONE = 15; /* instead of a logarithm */

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
  log () const
  {
    return (gint32) (bits >> 24 & 15);
  }

  __device__ __forceinline__ gint32
  distance () const
  {
    return 1 << (bits >> 28);
  }

  /* Whether it is one of the two neighbours of the best, point @best. */
  __device__ __forceinline__ bool
  is_beside (gint32 best) const
  {
    return log () == KNIGHT
           && (number () == best || (gint32) (bits >> 28) == best);
  }
};

/* The points of all groups in the order of visits. */
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

  constexpr void
  add_knights (gint32 group, gint32 *n)
  {
    add (group, n, -2, 1, 4, Spot::KNIGHT, 6);
    add (group, n, -2, -1, 1, Spot::KNIGHT, 4);
    add (group, n, -1, -2, 1, Spot::KNIGHT, 2);
    add (group, n, 1, -2, 2, Spot::KNIGHT, 3);
    add (group, n, 2, -1, 3, Spot::KNIGHT, 5);
    add (group, n, 2, 1, 5, Spot::KNIGHT, 8);
    add (group, n, -1, 2, 6, Spot::KNIGHT, 7);
    add (group, n, 1, 2, 7, Spot::KNIGHT, 8);
  }

  constexpr Spots () : bits ()
  {
    for (gint32 group = 0, log = 0; group < N_GROUPS; group++) {
      gint32 n = 0;

      for (; log <= 7 && log <= 2 * group + 2; log++)
        if (log <= 3)
          add_small (group, &n, log);
        else
          add_large (group, &n, log);
      while (n < (group < 2 ? 24 : 32))
        add (group, &n, 0, 0, 0, Spot::NONE, 0);
      if (group < 2)
        add_knights (group, &n);
    }
  }
};

__device__ const Spots all_spots;

/* The lanes of a group up to those of diamond @log. */
__device__ __forceinline__ guint32
lanes_to (gint32 log)
{
  return log == 0   ? 0xfu
         : log == 1 ? 0xfffu
         : log == 2 ? 0xfffffu
         : log == 3 ? 0xffu
         : log == 4 ? 0xffffffu
         : log == 6 ? 0xffffffffu
                    : 0xffffu;
}

__device__ __forceinline__ guint32
lanes_before (gint32 log)
{
  return log == group_first (group_of (log)) ? 0 : lanes_to (log - 1);
}

/* What became the best, and how long ago. */
struct State {
  gint32 number, distance, rounds;
};

/* --- the course of a search ---------------------------------------------------- */

/* What is to be visited next. */
typedef enum {
  WANT_NOTHING,
  WANT_DIAMONDS,
  WANT_RASTER,
} Want;

/* The lanes whose points are wanted in a turn, a bit each: those that will be
 * visited whatever the others bring, and all that may be. */
struct Lanes {
  guint32 sure, all;

  static __device__ __forceinline__ bool
  has (guint32 lanes)
  {
    return (lanes >> motion_lane () & 1) != 0;
  }
};

/* Where the search of a block has come to. */
struct Course {
  State state;
  Want want;
  gint32 range, patience;
  short2 centre;
  gint32 next;          /* diamond of the zone, binary logarithm */
  gint32 last;          /* diamond of all, likewise */
  bool has_knights;     /* of this zone */
  guint32 knight;       /* key of the lane's, if they have been computed */
  Spot spots[N_GROUPS]; /* the lane's */

  /* What needs no search yet. */
  __device__ __forceinline__ void
  prepare (gint32 all)
  {
    state = State{ 0, 0, 0 };
    want = WANT_NOTHING;
    range = all;
    patience = next = 0;
    last = 31 - __clz (all);
    centre = make_short2 (0, 0);
    has_knights = false;
    knight = MOTION_NONE;
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
    next = 0;
    has_knights = false;
    want = WANT_DIAMONDS;
  }

  __device__ __forceinline__ void
  begin (short2 best)
  {
    begin_zone (best, 3);
  }

  __device__ __forceinline__ Spot
  spot (gint32 group) const
  {
    return group == 0   ? spots[0]
           : group == 1 ? spots[1]
           : group == 2 ? spots[2]
                        : spots[3];
  }

  /* The last diamond of the group of the next one that the search has. */
  __device__ __forceinline__ gint32
  last_of_group () const
  {
    return min (last, 2 * group_of (next) + 2);
  }

  /* What is wanted, and the lane's point; with the raster, the star that follows if
   * that brings nothing. Each diamond that brings nothing uses up patience, so as
   * many are sure as are left of it. The two points follow no earlier than on the
   * last diamond of the first group, or, in the first search, whose first group
   * comes without them, on the next one's first. */
  __device__ __forceinline__ Lanes
  wanted (short2 *d) const
  {
    const gint32 group = group_of (next), end = last_of_group ();
    const gint32 left =
        want == WANT_RASTER ? 1 : max (patience - state.rounds, 1);
    const gint32 sure = min (next + left - 1, end);
    const Spot own = spot (group);
    Lanes lanes = { lanes_to (sure), lanes_to (end) };

    *d = moved (centre, own.x (), own.y ());
    if (group == 0) {
      lanes.all |= KNIGHTS;
      if (sure == end)
        lanes.sure |= KNIGHTS;
    } else if (group == 1 && state.distance == 1 && !has_knights) {
      lanes.all |= KNIGHTS;
      lanes.sure |= KNIGHTS;
    }
    lanes.sure &= ~lanes_before (next);
    lanes.all &= ~lanes_before (next);
    return lanes;
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

  /* Visits the two points beside a best next to the centre, then what follows on
   * a zone. */
  template <class Search>
  __device__ __forceinline__ void
  end_zone (Search *s)
  {
    if (state.distance == 1) {
      const Spot own = spots[0];
      MotionRoundPair pair = {
        own.is_beside (state.number) ? knight : MOTION_NONE, MOTION_NONE
      };
      short2 d = moved (centre, own.x (), own.y ());

      state.distance = 0;
      if (s->found.take (motion_round_pair (pair), MotionLaneVectors{ d }) >= 0)
        state = State{ 0, 2, 0 };
    }
    if (patience == 3 && state.distance >= RASTER) {
      state.distance = RASTER;
      want = WANT_RASTER;
      centre = s->found.best;
      next = 0;
    } else {
      begin_star (s->found.best);
    }
  }

  /* Visits the diamonds of which all lanes are among @lanes, which have points @d
   * and costs. */
  template <class Search>
  __device__ __forceinline__ void
  visit_diamonds (Search *s, short2 d, guint32 cost, guint32 lanes)
  {
    const gint32 group = group_of (next), first = group_first (group);
    const gint32 end = last_of_group ();
    const Spot own = spot (group);
    const guint32 key =
        cost == MOTION_NONE ? cost : cost << MOTION_POINT_BITS | motion_lane ();
    MotionRoundPair pairs[GROUP_DIAMONDS];
    bool over = false;

    if (group < 2 && (lanes & KNIGHTS) != 0) {
      knight = key;
      has_knights = true;
    }
#pragma unroll
    for (gint32 k = 0; k < GROUP_DIAMONDS; k++) {
      pairs[k].best = own.log () == first + k ? key : MOTION_NONE;
      pairs[k].second = MOTION_NONE;
      pairs[k] = motion_round_pair (pairs[k]);
    }
#pragma unroll
    for (gint32 k = 0; k < GROUP_DIAMONDS; k++)
      if (!over && first + k == next && next <= end
          && (lanes_to (next) & ~lanes_before (next) & ~lanes) == 0) {
        gint32 i = s->found.take (pairs[k], MotionLaneVectors{ d });

        next++;
        state.rounds++;
        if (i >= 0) {
          Spot won = { __shfl_sync (MOTION_ALL_LANES, own.bits, i) };

          state = State{ won.number (), won.distance (), 0 };
        }
        over = state.rounds >= patience;
      }
    if (over || next > last)
      end_zone (s);
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

#define MAX_PIECES 32 /* of all blocks of a tile together */

/* What the blocks of a tile want in a turn: pieces of points, eight each, with
 * small blocks more. Those that are sure come first in the list, those that may
 * be wanted are the last ones, backwards. */
struct Wants {
  guint32 rasters; /* a bit for each block */
  guint32 n_sure, n_more;
  guint8 blocks[MAX_PIECES], pieces[MAX_PIECES];
};

/* What the costs of a block's points depend on. */
struct Costs {
  MotionRect rect;
  short2 prior, best;
};

/* Also: the wants of this turn, zero those of the next; the points that a block
 * wants, as samples from those of the zero vector; its samples, row by row, where
 * a warp's registers do not have them; what each warp has summed up of a raster's
 * points, and the best two of those that it has added up. */
template <int SIZE> struct ZonalShared {
  typedef MotionTiling<SIZE> Tiling;
  static constexpr gint32 WARPS = Tiling::THREADS / 32;
  static constexpr gint32 PITCH = SIZE / 4 + 1; /* words */
  static constexpr bool HAS_WORDS = MotionSearch<SIZE>::PARTS == 1;

  int4 at[Tiling::BLOCKS][MOTION_BATCH / 4];
  Wants wants[2];
  Costs costs[Tiling::BLOCKS];
  MotionShared<SIZE> search;
  guint32 words[Tiling::BLOCKS][HAS_WORDS ? SIZE * PITCH : 1];
  guint32 shares[WARPS][RASTER_DOWN * RASTER_ACROSS];
  MotionRoundPair pairs[WARPS];

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
  /* rows of a block that are equal modulo RASTER: at most, and the fewest for
   * which there is a loop of their own */
  static constexpr gint32 DEEPEST = (SIZE + RASTER - 1) / RASTER;
  static constexpr gint32 SHALLOW = SIZE > 32 ? DEEPEST - 1 : 1;

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
    if (s->stores ())
      shared->costs[tile.own ()] =
          Costs{ s->place.rect, s->prior, make_short2 (0, 0) };
    if (threadIdx.x < 2)
      clear (&shared->wants[threadIdx.x]);
  }

  static __device__ __forceinline__ void
  clear (Wants *wants)
  {
    wants->rasters = wants->n_sure = wants->n_more = 0;
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

  /* Notes that the own block wants its raster. */
  __device__ __forceinline__ void
  post_raster (Wants *wants) const
  {
    if (!s->stores ())
      return;
    shared->costs[tile.own ()].best = s->found.best;
    atomicOr (&wants->rasters, 1u << tile.own ());
  }

  /* Notes the pieces that have @lanes of the own block, whose points are @d.
   * Returns: how many of those that are not sure there are up to the block's
   * last */
  __device__ __forceinline__ guint32
  post_points (const Lanes &lanes, short2 d, Wants *wants) const
  {
    const MotionRect &rect = s->place.rect;
    const guint32 lane = motion_lane (), before = (1u << lane) - 1;
    const guint32 sure = pieces_of (lanes.sure);
    const guint32 more = pieces_of (lanes.all) & ~sure;
    guint32 at = 0, first;

    if (warp % Tiling::WARPS != 0) /* whose block is the only one */
      return (guint32) __popc (more);
    ((gint32 *) shared->at[tile.own ()])[lane] = s->offset_of (d.x, d.y,
        Lanes::has (lanes.all) && d.x >= rect.left && d.x <= rect.right);
    if (lane < 2)
      at = atomicAdd (lane == 0 ? &wants->n_sure : &wants->n_more,
          (guint32) __popc (lane == 0 ? sure : more));
    first = __shfl_sync (MOTION_ALL_LANES, at, 0);
    at = __shfl_sync (MOTION_ALL_LANES, at, 1);
    if (((sure | more) >> lane & 1) != 0) {
      first = (sure >> lane & 1) != 0
                  ? first + (guint32) __popc (sure & before)
                  : MAX_PIECES - 1 - at - (guint32) __popc (more & before);
      wants->blocks[first] = (guint8) tile.own ();
      wants->pieces[first] = (guint8) lane;
    }
    return at + (guint32) __popc (more);
  }

  /* The pieces that have any of @lanes, a bit each. */
  static __device__ __forceinline__ guint32
  pieces_of (guint32 lanes)
  {
    guint32 pieces = 0;

#pragma unroll
    for (gint32 i = 0; i < MOTION_BATCH / EACH; i++)
      if ((lanes >> i * EACH & (guint32) ((1ull << EACH) - 1)) != 0)
        pieces |= 1u << i;
    return pieces;
  }

  /* Pieces for which there are warps beside those that have sure ones. */
  static __device__ __forceinline__ guint32
  room_of (const Wants *wants)
  {
    return (0 - wants->n_sure) % Shared::WARPS;
  }

  /* SADs of the points that the blocks want. */
  __device__ __forceinline__ void
  compute_points (const Wants *wants) const
  {
    const guint32 sure = wants->n_sure;
    const guint32 n = sure + min (wants->n_more, room_of (wants));

#pragma unroll 1
    for (guint32 k = (guint32) warp; k < n; k += Shared::WARPS) {
      const guint32 piece = k < sure ? k : MAX_PIECES - 1 - (k - sure);
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

  /* Adds the differences of a column of words to those of RASTER_DOWN points
   * below each other. @own: DEEP words of the block, RASTER rows apart; @at: where
   * the first point has the first of them in the window, by @shift bits after that
   * word */
  template <int DEEP>
  __device__ __forceinline__ void
  add_column (const guint32 *own, const guint32 *at, guint32 shift,
      guint32 (&sums)[RASTER_DOWN]) const
  {
    guint32 words[DEEP];

#pragma unroll
    for (gint32 k = 0; k < DEEP; k++)
      words[k] = own[k * RASTER * Shared::PITCH];
#pragma unroll
    for (gint32 m = 0; m < RASTER_DOWN + DEEP - 1; m++) {
      const guint32 word = __funnelshift_r (at[0], at[1], shift);

      at += RASTER * tile.pitch;
#pragma unroll
      for (gint32 k = 0; k < DEEP; k++)
        if (m - k >= 0 && m - k < RASTER_DOWN)
          sums[m - k] = motion_sad4 (word, words[k], sums[m - k]);
    }
  }

  /* The same with as many words as the block has, @deep, DEEP at most. */
  template <int DEEP>
  __device__ __forceinline__ void
  add_deep (gint32 deep, const guint32 *own, const guint32 *at, guint32 shift,
      guint32 (&sums)[RASTER_DOWN]) const
  {
    if (deep == DEEP)
      add_column<DEEP> (own, at, shift, sums);
    else if constexpr (DEEP > SHALLOW)
      add_deep<DEEP - 1> (deep, own, at, shift, sums);
  }

  /* The same of a block that is cut on the right, or for @down points. */
  __device__ __forceinline__ void
  add_masked (gint32 deep, gint32 down, guint32 mask, const guint32 *own,
      const guint32 *at, guint32 shift, guint32 (&sums)[RASTER_DOWN]) const
  {
    guint32 words[DEEPEST];

#pragma unroll
    for (gint32 k = 0; k < DEEPEST; k++)
      words[k] = k < deep ? own[k * RASTER * Shared::PITCH] & mask : 0;
#pragma unroll
    for (gint32 m = 0; m < RASTER_DOWN + DEEPEST - 1; m++) {
      guint32 word;

      if (m >= down + deep - 1)
        break;
      word = __funnelshift_r (at[0], at[1], shift) & mask;
      at += RASTER * tile.pitch;
#pragma unroll
      for (gint32 k = 0; k < DEEPEST; k++)
        if (m - k >= 0 && m - k < RASTER_DOWN && k < deep)
          sums[m - k] = motion_sad4 (word, words[k], sums[m - k]);
    }
  }

  /* Adds up the differences of points of a raster, RASTER apart: a lane has one
   * dx, a warp every eighth of the block's columns of words. Rows that are equal
   * modulo RASTER belong to the same rows of the block, one further up for each
   * point. @x, @y: the first point; @across, @down: how many */
  __device__ __forceinline__ void
  add_columns (gint32 i, gint32 x, gint32 y, gint32 across, gint32 down) const
  {
    constexpr gint32 COLUMNS = SIZE / 4;
    const gint32 dx = x + min ((gint32) motion_lane (), across - 1) * RASTER;
    const gint32 width = tile.width_of (i), height = tile.height_of (i);
    const bool plain = down == RASTER_DOWN && width == SIZE
                       && (SHALLOW == 1 || height == SIZE);
    const guint32 shift = 8 * (guint32) dx; /* the lower five bits count */
    const guint32 *from =
        (const guint32 *) ((const guint8 *) (tile.first_of (i) + y * tile.pitch)
                           + (dx & ~3));
    guint32 sums[RASTER_DOWN] = {};

#pragma unroll 1
    for (gint32 slice = warp; slice < COLUMNS * RASTER;
         slice += Shared::WARPS) {
      const gint32 column = slice % COLUMNS, row = slice / COLUMNS;
      const gint32 deep = (height - row + RASTER - 1) / RASTER;
      const guint32 *own = shared->block (i) + row * Shared::PITCH + column;
      const guint32 *at = from + row * tile.pitch + column;

      if (plain)
        add_deep<DEEPEST> (deep, own, at, shift, sums);
      else
        add_masked (
            deep, down, motion_mask (width, 4 * column), own, at, shift, sums);
    }
#pragma unroll
    for (gint32 j = 0; j < RASTER_DOWN; j++)
      shared->shares[warp][j * RASTER_ACROSS + motion_lane ()] = sums[j];
  }

  /* Adds up the warps' shares in the points of every eighth row, and adds the
   * costs of those to @pair. @number: of the first point of all; @all: points of a
   * row */
  __device__ __forceinline__ void
  add_shares (gint32 i, gint32 x, gint32 y, gint32 across, gint32 down,
      gint32 number, gint32 all, MotionRoundPair *pair) const
  {
    const Costs costs = shared->costs[i];
    const gint32 lane = (gint32) motion_lane ();

#pragma unroll 1
    for (gint32 j = warp; j < down; j += Shared::WARPS) {
      guint32 sum = 0;

#pragma unroll
      for (gint32 k = 0; k < Shared::WARPS; k++)
        sum += shared->shares[k][j * RASTER_ACROSS + lane];
      sum = motion_point_cost (costs.rect, costs.best, s->lambda, costs.prior,
          sum, x + lane * RASTER, y + j * RASTER, false, lane < across);
      pair->add (
          sum == MOTION_NONE
              ? MOTION_NONE
              : sum << MOTION_POINT_BITS | (guint32) (number + j * all + lane));
    }
  }

  /* The raster of block @i, by all warps; visited by those of the block while the
   * others go on. */
  __device__ __forceinline__ void
  compute_raster (gint32 i, Course *course) const
  {
    const gint32 range = (gint32) tile.task->config.range;
    const gint32 all = 2 * range / RASTER + 1;
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

        if (column > 0)
          __syncthreads ();
        add_columns (i, x, y, across, down);
        __syncthreads ();
        add_shares (i, x, y, across, down, column, all, &pair);
      }
      pair = motion_round_pair (pair);
      if (motion_lane () == 0)
        shared->pairs[warp] = pair;
      __syncthreads ();
      if (own)
        course->visit_raster (s, best_pair (), row);
    }
    if (own)
      course->begin_star (s->found.best);
  }

  /* The best two of all warps. */
  __device__ __forceinline__ MotionRoundPair
  best_pair () const
  {
    MotionRoundPair pair;

    pair.clear ();
    if (motion_lane () < Shared::WARPS)
      pair = shared->pairs[motion_lane ()];
    return motion_round_pair (pair);
  }

  /* Until no block wants anything. */
  __device__ __forceinline__ void
  run (Course *course) const
  {
#pragma unroll 1
    for (guint32 parity = 0;; parity ^= 1) {
      Wants *wants = &shared->wants[parity];
      const bool rasters = course->want == WANT_RASTER;
      Lanes lanes = { 0, 0 };
      short2 d = make_short2 (0, 0);
      guint32 more = 0;

      if (rasters)
        post_raster (wants);
      if (course->want != WANT_NOTHING) {
        lanes = course->wanted (&d);
        more = post_points (lanes, d, wants);
      }
      __syncthreads ();
      if (wants->n_sure == 0)
        break;
      if (threadIdx.x == 0)
        clear (&shared->wants[parity ^ 1]);
      if (more > room_of (wants))
        lanes.all = lanes.sure;
      compute_points (wants);
#pragma unroll 1
      for (guint32 left = wants->rasters; left != 0; left &= left - 1)
        compute_raster (__ffs ((gint32) left) - 1, course);
      __syncthreads ();
      /* with a raster: if it has brought nothing */
      if (lanes.all != 0 && !(rasters && course->state.rounds == 0))
        course->visit_diamonds (s, d,
            s->cost (shared->search.sads[0][tile.own ()][motion_lane ()], d.x,
                d.y, false, Lanes::has (lanes.all)),
            lanes.all);
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
  bool exists, valid;
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
    if (MotionSearch<SIZE>::WARPS == 1 && task.config.range >= 8) {
      const guint32 lanes = lanes_to (2);
      short2 d;

      course.wanted (&d);
      course.visit_diamonds (
          &s, d, s.near_batch (course.centre, d, Lanes::has (lanes)), lanes);
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
