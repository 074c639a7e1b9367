/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The zonal search, one launch a frame: predictors, diamonds, raster, star. */
#include "motionrounds.cuh"

namespace {

#define RASTER 5

/* Where the search begins: the vectors of the frame before, zero, what the
 * pyramid says. One that was there already is not visited again. */
struct Starts {
  const MotionDeviceField *field;
  MotionPlace place;
  guint32 columns, n_blocks;

  static constexpr guint32 N = 7;

  __device__ __forceinline__ short2
  from_prior (guint32 number) const
  {
    const MotionVector v = field->prior[number];

    return make_short2 ((gint16) motion_clamp (motion_whole (v.x),
                            place.rect.left, place.rect.right),
        (gint16) motion_clamp (
            motion_whole (v.y), place.rect.top, place.rect.bottom));
  }

  __device__ __forceinline__ short2
  point (guint32 i, bool *valid) const
  {
    guint32 n = place.number, column = n % columns;

    if (i == 1)
      return make_short2 (0, 0);
    if (i == 6)
      return field->predicted[n];
    *valid = *valid && field->prior != NULL && (i != 2 || column > 0)
             && (i != 3 || column + 1 < columns) && (i != 4 || n >= columns)
             && (i != 5 || n + columns < n_blocks);
    if (!*valid)
      return make_short2 (0, 0);
    return from_prior (i == 2   ? n - 1
                       : i == 3 ? n + 1
                       : i == 4 ? n - columns
                       : i == 5 ? n + columns
                                : n);
  }

  __device__ __forceinline__ short2
  operator() (guint32 i, bool *valid) const
  {
    short2 d = point (i, valid);

    for (guint32 k = 0; k < i; k++) {
      bool other_valid = true;
      short2 other = point (k, &other_valid);

      if (other_valid && other.x == d.x && other.y == d.y)
        *valid = false;
    }
    return d;
  }
};

/* Of the points of a small diamond, in the order of visits: across, down, both
 * in halves of the distance; the point's number. */
__constant__ const gint8 small_diamond[8][3] = { { 0, -2, 2 }, { -1, -1, 1 },
  { 1, -1, 3 }, { -2, 0, 4 }, { 2, 0, 5 }, { -1, 1, 6 }, { 1, 1, 8 },
  { 0, 2, 7 } };

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

struct Diamond {
  short2 centre;
  gint32 distance;

  __device__ __forceinline__ guint32
  n () const
  {
    return distance == 1 ? 4 : distance <= 8 ? 8 : 16;
  }

  /* Where point @i stands in small_diamond; a distance of 1 has the four on the
   * axes only. */
  __device__ __forceinline__ const gint8 *
  small (guint32 i) const
  {
    return small_diamond[distance > 1 ? i : i == 0 ? 0 : i < 3 ? i + 2 : 7];
  }

  __device__ __forceinline__ short2
  large (guint32 i) const
  {
    gint32 q = (gint32) (i / 4) * distance / 4, rest = distance - q;

    if (i < 4)
      return moved (centre,
          i == 1   ? -distance
          : i == 2 ? distance
                   : 0,
          i == 0   ? -distance
          : i == 3 ? distance
                   : 0);
    return moved (centre, i & 1 ? q : -q, i & 2 ? rest : -rest);
  }

  __device__ __forceinline__ short2
  operator() (guint32 i, bool *) const
  {
    const gint8 *point;

    if (distance > 8)
      return large (i);
    point = small (i);
    return moved (centre, point[0] * distance / 2, point[1] * distance / 2);
  }
};

struct TwoPoints {
  short2 centre;
  gint32 number;

  __device__ __forceinline__ short2
  operator() (guint32 i, bool *) const
  {
    const gint8 *point = two_points[number - 1][i];

    return moved (centre, point[0], point[1]);
  }
};

/* From row @first on. */
struct Raster {
  gint32 range, across, first;

  __device__ __forceinline__ short2
  operator() (guint32 i, bool *) const
  {
    return make_short2 ((gint16) ((gint32) i % across * RASTER - range),
        (gint16) (((gint32) i / across + first) * RASTER - range));
  }
};

/* Diamonds round one centre that are computed together: of the distances
 * @first, 2 @first, ... */
struct Diamonds {
  short2 centre;
  gint32 first;

  __device__ __forceinline__ short2
  operator() (guint32 i, bool *valid) const
  {
    Diamond diamond = { centre, first };

    while (i >= diamond.n ()) {
      i -= diamond.n ();
      diamond.distance *= 2;
    }
    return diamond (i, valid);
  }
};

/* What became the best, and how long ago. */
struct State {
  gint32 number, distance, rounds;
};

/* @first: the number of the diamond's first point in @all */
template <class Search>
__device__ __forceinline__ void
visit_diamond (
    Search *s, State *state, const Diamonds &all, gint32 first, gint32 distance)
{
  Diamond diamond = { all.centre, distance };
  gint32 i;

  state->rounds++;
  i = s->visit (first, (gint32) diamond.n (), all);
  if (i < 0)
    return;
  state->rounds = 0;
  state->number = 0;
  state->distance = distance;
  if (distance <= 8) {
    const gint8 *point = diamond.small ((guint32) i);

    state->number = point[2];
    if (point[0] != 0 && point[1] != 0)
      state->distance = distance / 2;
  }
}

/* As all diamonds have one centre, some are computed together, whether the
 * search ends before the last of them or not: 1 to 4, 8 and 16, and the rest. */
template <class Search>
__device__ __forceinline__ void
visit_diamonds (Search *s, State *state, gint32 range, gint32 patience)
{
  Diamonds all = { s->best, 1 };

  while (all.first <= range) {
    gint32 last = min (all.first == 1 ? 4 : all.first == 8 ? 16 : 128, range);
    gint32 n = 0;

    for (gint32 d = all.first; d <= last; d *= 2)
      n += (gint32) Diamond{ all.centre, d }.n ();
    s->template compute<4> (n, all);
    n = 0;
    for (gint32 d = all.first; d <= last; d *= 2) {
      visit_diamond (s, state, all, n, d);
      if (state->rounds >= patience)
        return;
      n += (gint32) Diamond{ all.centre, d }.n ();
    }
    all.first = all.first == 1 ? 8 : all.first == 8 ? 32 : 256;
  }
}

template <class Search>
__device__ __forceinline__ void
visit_two (Search *s, State *state)
{
  TwoPoints two = { s->best, state->number };

  s->template compute<4> (2, two);
  if (s->visit (0, 2, two) >= 0) {
    state->rounds = 0;
    state->number = 0;
    state->distance = 2;
  }
}

#define RASTER_POINTS 13 /* of a row that are summed up together */

/* Some rows of the raster, no more points than a round may have: from @first to
 * before @end.
 * Returns: whether one became the best. */
template <class Search>
__device__ __forceinline__ bool
visit_raster_rows (Search *s, const Raster &raster, gint32 first, gint32 end)
{
  const gint32 slots = Search::WARPS * Search::GROUPS;
  gint32 pieces = (raster.across + RASTER_POINTS - 1) / RASTER_POINTS;
  Raster part = { raster.range, raster.across, first };
  MotionRoundPair pair;

  pair.clear ();
#pragma unroll 1
  for (gint32 i = 0; i < (end - first) * pieces; i += slots) {
    gint32 piece = i + s->warp * Search::GROUPS + s->group;
    gint32 row = piece / pieces, column = piece % pieces * RASTER_POINTS;

    s->template collect_row<RASTER_POINTS, RASTER> (
        column * RASTER - raster.range, (first + row) * RASTER - raster.range,
        first + row < end, (guint32) (row * raster.across + column),
        min (raster.across - column, RASTER_POINTS), &pair);
  }
  return s->take (s->gather (pair), part) >= 0;
}

template <class Search>
__device__ __forceinline__ void
visit_raster (Search *s, State *state, gint32 range)
{
  Raster raster = { range, 2 * range / RASTER + 1, 0 };
  gint32 rows = MOTION_ROUND_POINTS / raster.across;

  state->distance = RASTER;
  for (gint32 first = 0; first < raster.across; first += rows)
    if (visit_raster_rows (
            s, raster, first, min (first + rows, raster.across))) {
      state->rounds = 0;
      state->number = 0;
    }
}

struct Zones {
  template <class Search>
  __device__ __forceinline__ void
  operator() (Search *s, const MotionDeviceTask *task,
      const MotionDeviceField *field) const
  {
    Starts starts = { field, s->place, task->columns, task->n_blocks };
    State state = { 0, 0, 0 };
    gint32 range = (gint32) task->config.range;

    s->template compute<4> (Starts::N, starts);
    s->visit (0, Starts::N, starts);
    /* the first search and then the star refinement */
    for (gint32 patience = 3;; patience = 2) {
      visit_diamonds (s, &state, range, patience);
      if (state.distance == 1) {
        state.distance = 0;
        if (state.number != 0)
          visit_two (s, &state);
      }
      if (patience == 3 && state.distance >= RASTER)
        visit_raster (s, &state, range);
      if (state.distance == 0)
        break;
      state.distance = 0;
      state.number = 0;
    }
    s->store (field->found);
  }
};

template <int SIZE, bool STAGED>
__global__ void
__launch_bounds__ (MOTION_ROUND_THREADS, 4)
    zonal_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  motion_search_tile<SIZE, STAGED> (task, Zones{});
}

} // namespace

cudaError_t
motion_launch_zonal (const MotionDeviceTask *task, cudaStream_t stream)
{
  switch (task->config.block_size) {
    case 8:
      return motion_launch_tiles<8> (
          zonal_kernel<8, true>, zonal_kernel<8, false>, task, stream);
    case 16:
      return motion_launch_tiles<16> (
          zonal_kernel<16, true>, zonal_kernel<16, false>, task, stream);
    case 32:
      return motion_launch_tiles<32> (
          zonal_kernel<32, true>, zonal_kernel<32, false>, task, stream);
    default:
      return motion_launch_tiles<64> (
          zonal_kernel<64, true>, zonal_kernel<64, false>, task, stream);
  }
}
