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

struct Raster {
  gint32 range, across;

  __device__ __forceinline__ short2
  operator() (guint32 i, bool *) const
  {
    return make_short2 ((gint16) ((gint32) i % across * RASTER - range),
        (gint16) ((gint32) i / across * RASTER - range));
  }
};

/* What became the best, and how long ago. */
struct State {
  gint32 number, distance, rounds;
};

template <class Search>
__device__ __forceinline__ void
visit_diamond (Search *s, State *state, short2 centre, gint32 distance)
{
  Diamond diamond = { centre, distance };
  gint32 i;

  state->rounds++;
  i = s->visit (diamond.n (), diamond);
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

template <class Search>
__device__ __forceinline__ void
visit_diamonds (Search *s, State *state, gint32 range, gint32 patience)
{
  short2 centre = s->best;

  for (gint32 d = 1; d <= range; d *= 2) {
    visit_diamond (s, state, centre, d);
    if (state->rounds >= patience)
      break;
  }
}

template <class Search>
__device__ __forceinline__ void
visit_two (Search *s, State *state)
{
  TwoPoints two = { s->best, state->number };

  if (s->visit (2, two) >= 0) {
    state->rounds = 0;
    state->number = 0;
    state->distance = 2;
  }
}

template <class Search>
__device__ __forceinline__ void
visit_raster (Search *s, State *state, gint32 range)
{
  Raster raster = { range, 2 * range / RASTER + 1 };

  state->distance = RASTER;
  if (s->visit ((guint32) (raster.across * raster.across), raster) >= 0) {
    state->rounds = 0;
    state->number = 0;
  }
}

template <int SIZE, bool FOR_SEEDS, bool MASKED>
__device__ void
search (const MotionDeviceTask *task, const MotionDeviceField *field,
    const MotionPlace &place, MotionShared *shared)
{
  MotionSearch<SIZE, MASKED> s;
  Starts starts = { field, place, task->columns, task->n_blocks };
  State state = { 0, 0, 0 };
  gint32 range = (gint32) task->config.range;

  s.begin (task, field, place, shared);
  s.visit (Starts::N, starts);
  visit_diamonds (&s, &state, range, 3);
  if (state.distance == 1) {
    state.distance = 0;
    visit_two (&s, &state);
  }
  if (state.distance >= RASTER && !FOR_SEEDS)
    visit_raster (&s, &state, range);
  while (state.distance > 0) {
    state.distance = 0;
    state.number = 0;
    visit_diamonds (&s, &state, range, 2);
    if (state.distance == 1) {
      state.distance = 0;
      if (state.number != 0)
        visit_two (&s, &state);
    }
  }
  s.store (FOR_SEEDS ? field->seeds : field->found);
}

template <int SIZE, bool FOR_SEEDS>
__global__ void
__launch_bounds__ (MOTION_ROUND_THREADS)
    zonal_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ MotionShared shared;
  const MotionDeviceField *field = &task.fields[blockIdx.y];
  MotionPlace place = motion_place (&task, blockIdx.x);

  if (SIZE > 8 && place.w == SIZE && place.h == SIZE)
    search<SIZE, FOR_SEEDS, SIZE == 8> (&task, field, place, &shared);
  else
    search<SIZE, FOR_SEEDS, true> (&task, field, place, &shared);
}

#define SEEDS(SIZE) zonal_kernel<SIZE, true>
#define ZONAL(SIZE) zonal_kernel<SIZE, false>

} // namespace

cudaError_t
motion_launch_zonal (
    const MotionDeviceTask *task, gboolean seeds, cudaStream_t stream)
{
  dim3 grid (task->n_blocks, task->n_fields);

  if (seeds)
    MOTION_LAUNCH_SIZE (SEEDS, grid, MOTION_ROUND_THREADS, stream, *task);
  else
    MOTION_LAUNCH_SIZE (ZONAL, grid, MOTION_ROUND_THREADS, stream, *task);
  return cudaGetLastError ();
}
