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
template <int SIDE, int SPACING, bool ALIGNED, class Search>
__device__ __forceinline__ void
visit_lines (Search *s)
{
  constexpr gint32 EACH = (SIDE + Search::SLOTS - 1) / Search::SLOTS;
  constexpr gint32 ROOM = 16 / SIDE, LINES = EACH < ROOM ? EACH : ROOM;
  constexpr gint32 PHASE = ALIGNED ? -(SIDE / 2) * SPACING & 3 : -1;
  const Grid<SIDE> grid = { s->found.best, SPACING, 0 };
  const short2 begin = grid (0), end = grid (SIDE * SIDE - 1);
  const bool plain = s->is_plain (begin.x, begin.y, end.x, end.y);
  MotionRoundPair pair;

  pair.clear ();
#pragma unroll 1
  for (gint32 turn = 0; turn < SIDE; turn += Search::SLOTS * LINES) {
    gint32 j = turn + s->slot * LINES;
    short2 first = grid (j * SIDE);

    s->template collect<LINES, SIDE, SPACING, PHASE> (first.x, first.y,
        (SIDE - j) * SIDE, plain, (guint32) (j * SIDE), &pair);
  }
  s->found.take (s->gather (pair), grid);
}

/* A round of any spacing, point by point. */
template <int SIDE, class Search>
__device__ __forceinline__ void
visit_points (Search *s, gint32 spacing)
{
  Grid<SIDE> grid = { s->found.best, spacing, 0 };
  MotionRoundPair pair;

  pair.clear ();
#pragma unroll 1
  for (; grid.first < SIDE * SIDE; grid.first += MOTION_BATCH) {
    gint32 n = min (SIDE * SIDE - grid.first, MOTION_BATCH);
    gint32 lane = (gint32) motion_lane ();
    guint32 value = s->template batch<8> (grid (lane), lane < n, n);

    if (value != MOTION_NONE)
      pair.add (value << MOTION_POINT_BITS | (guint32) (grid.first + lane));
  }
  grid.first = 0;
  s->found.take (motion_round_pair (pair), grid);
}

/* The eight points round the best: one turn of a warp, whatever the spacing. */
template <class Search>
__device__ __forceinline__ void
visit_ring (Search *s, gint32 spacing)
{
  const Grid<3> grid = { s->found.best, spacing, 0 };
  gint32 lane = (gint32) motion_lane ();
  short2 d = grid (lane < 4 ? lane : lane + 1);

  s->visit (
      d, s->template batch<(Search::SLOTS > 1 ? 4 : 8)> (d, lane < 8, 8), 0, 8);
}

/* The rounds of a range of 64, and most of others, go line by line. A centre is
 * a multiple of the spacing of the round before. */
template <int SIDE, class Search>
__device__ __forceinline__ void
visit_grid (Search *s, gint32 spacing)
{
  if (SIDE == 3)
    visit_ring (s, spacing);
  else if (SIDE == 7 && spacing == 16)
    visit_lines<SIDE, 16, true> (s);
  else if (SIDE > 7 && spacing == 8)
    visit_lines<SIDE, 8, true> (s);
  else if (SIDE == 7 && spacing == 4)
    visit_lines<SIDE, 4, true> (s);
  else if (spacing == 1 && s->found.best.x % 4 == 0)
    visit_lines<SIDE, 1, true> (s);
  else
    visit_points<SIDE> (s, spacing);
}

template <class Tile, int SIDE>
__global__ void
__launch_bounds__ (Tile::Tiling::THREADS, 2)
    step_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ typename Tile::Search::Shared shared;
  const MotionGranularity granularity = task.config.granularity;
  Tile tile;
  typename Tile::Search s;

  tile.begin (&task, &shared);
  if (tile.has (tile.own ()))
    tile.begin_search (tile.own (), &s);
  tile.wait ();
  if (!tile.has (tile.own ()))
    return;
  s.visit_zero ();
#pragma unroll 1
  for (gint32 spacing = motion_step_first (granularity, task.config.range);
       spacing > 0; spacing = motion_step_next (granularity, spacing))
    visit_grid<SIDE> (&s, spacing);
  s.store (tile.field->found);
}

template <int SIZE, int SIDE>
cudaError_t
launch_grid (const MotionDeviceTask *task, cudaStream_t stream)
{
  typedef MotionTileSearch<SIZE, true> Staged;
  typedef MotionTileSearch<SIZE, false> Direct;

  return motion_launch_tiles<Staged, typename Staged::Search::Shared> (
      step_kernel<Staged, SIDE>, step_kernel<Direct, SIDE>, task, stream);
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
