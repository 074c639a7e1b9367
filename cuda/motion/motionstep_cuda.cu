/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The step search: every round of every block on the device, in one launch. */
#include "motionrounds.cuh"

namespace {

/* SIDE x SIDE points round @centre, @spacing apart, by number; from number
 * @first on. */
template <int SIDE> struct Grid {
  short2 centre;
  gint32 spacing, first;

  __device__ __forceinline__ short2
  operator() (gint32 i) const
  {
    gint32 x = (first + i) % SIDE - SIDE / 2, y = (first + i) / SIDE - SIDE / 2;

    return make_short2 (
        (gint16) (centre.x + x * spacing), (gint16) (centre.y + y * spacing));
  }
};

/* A round line by line: as many lines at once as one exchange of sums has room
 * for. ALIGNED: the centre's x is a multiple of four */
template <int SIDE, int SPACING, bool ALIGNED, int SIZE>
__device__ __forceinline__ void
visit_lines (MotionSearch<SIZE> *s)
{
  typedef MotionSearch<SIZE> Search;
  constexpr gint32 EACH = (SIDE + Search::SLOTS - 1) / Search::SLOTS;
  constexpr gint32 ROOM = 16 / SIDE, LINES = EACH < ROOM ? EACH : ROOM;
  constexpr gint32 PHASE = ALIGNED ? -(SIDE / 2) * SPACING & 3 : -1;
  const Grid<SIDE> grid = { s->found.best, SPACING, 0 };
  MotionRoundPair pair;

  pair.clear ();
#pragma unroll 1
  for (gint32 turn = 0; turn < SIDE; turn += Search::SLOTS * LINES) {
    gint32 j = turn + s->slot * LINES;
    short2 first = grid (j * SIDE);

    s->template collect<SIDE, SPACING, PHASE, LINES> (
        first.x, first.y, (SIDE - j) * SIDE, (guint32) (j * SIDE), &pair);
  }
  s->found.take (s->gather (pair), grid);
}

/* A round of any spacing, point by point. */
template <int SIDE, int SIZE>
__device__ __forceinline__ void
visit_points (MotionSearch<SIZE> *s, gint32 spacing)
{
  Grid<SIDE> grid = { s->found.best, spacing, 0 };
  MotionRoundPair pair;

  pair.clear ();
#pragma unroll 1
  for (; grid.first < SIDE * SIDE; grid.first += MOTION_BATCH) {
    gint32 n = min (SIDE * SIDE - grid.first, MOTION_BATCH);
    gint32 lane = (gint32) motion_lane ();
    guint32 value = s->batch (grid (lane), lane < n, n);

    if (value != MOTION_NONE)
      pair.add (value << MOTION_POINT_BITS | (guint32) (grid.first + lane));
  }
  grid.first = 0;
  s->found.take (motion_round_pair (pair), grid);
}

/* The rounds of a range of 64, and most of others, go line by line. A centre is
 * a multiple of the spacing of the round before. */
template <int SIDE, int SIZE>
__device__ __forceinline__ void
visit_grid (MotionSearch<SIZE> *s, gint32 spacing)
{
  const bool aligned = s->found.best.x % 4 == 0;

  if (SIDE == 3 && spacing == 32)
    visit_lines<SIDE, 32, true> (s);
  else if ((SIDE == 3 || SIDE == 7) && spacing == 16)
    visit_lines<SIDE, 16, true> (s);
  else if (SIDE != 7 && spacing == 8)
    visit_lines<SIDE, 8, true> (s);
  else if (SIDE <= 7 && spacing == 4)
    visit_lines<SIDE, 4, true> (s);
  else if (SIDE == 3 && spacing == 2)
    visit_lines<SIDE, 2, true> (s);
  else if (SIDE == 3 && spacing == 1)
    visit_lines<SIDE, 1, false> (s);
  else if (SIDE > 3 && spacing == 1 && aligned)
    visit_lines<SIDE, 1, true> (s);
  else
    visit_points<SIDE> (s, spacing);
}

template <int SIZE, int SIDE, bool STAGED>
__global__ void
__launch_bounds__ (MOTION_ROUND_THREADS, 2)
    step_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ MotionShared<SIZE> shared;
  const MotionGranularity granularity = task.config.granularity;
  MotionTileSearch<SIZE, STAGED> tile;
  MotionSearch<SIZE> s;

  tile.begin (&task, &shared);
  if (tile.has (tile.own ()))
    tile.begin_search (tile.own (), &s);
  tile.wait ();
  if (!tile.has (tile.own ()))
    return;
  s.visit_zero ();
  for (gint32 spacing = motion_step_first (granularity, task.config.range);
       spacing > 0; spacing = motion_step_next (granularity, spacing))
    visit_grid<SIDE> (&s, spacing);
  s.store (tile.field->found);
}

template <int SIZE, int SIDE>
cudaError_t
launch_grid (const MotionDeviceTask *task, cudaStream_t stream)
{
  return motion_launch_tiles<SIZE, MotionShared<SIZE>> (
      step_kernel<SIZE, SIDE, true>, step_kernel<SIZE, SIDE, false>, task,
      stream);
}

template <int SIZE>
cudaError_t
launch (const MotionDeviceTask *task, cudaStream_t stream)
{
  switch (task->config.granularity) {
    case MOTION_GRANULARITY_1:
      return launch_grid<SIZE, 3> (task, stream);
    case MOTION_GRANULARITY_2:
      return launch_grid<SIZE, 7> (task, stream);
    case MOTION_GRANULARITY_PAPER_13:
      return launch_grid<SIZE, 13> (task, stream);
    default:
      return launch_grid<SIZE, 15> (task, stream);
  }
}

} // namespace

cudaError_t
motion_launch_step (const MotionDeviceTask *task, cudaStream_t stream)
{
  switch (task->config.block_size) {
    case 8:
      return launch<8> (task, stream);
    case 16:
      return launch<16> (task, stream);
    case 32:
      return launch<32> (task, stream);
    default:
      return launch<64> (task, stream);
  }
}
