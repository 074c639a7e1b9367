/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The step search: every round of every block on the device, in one launch. */
#include "motionrounds.cuh"

namespace {

/* The points round @centre, @spacing apart, @half on either side; SIDE: of them,
 * where it is known when compiled, else 0. */
template <int SIDE> struct Grid {
  short2 centre;
  gint32 half, spacing;

  __device__ __forceinline__ short2
  operator() (guint32 i, bool *valid) const
  {
    gint32 side = SIDE > 0 ? SIDE : 2 * half + 1;
    gint32 x = (gint32) i % side - half, y = (gint32) i / side - half;

    *valid = *valid && (x != 0 || y != 0);
    return make_short2 (
        (gint16) (centre.x + x * spacing), (gint16) (centre.y + y * spacing));
  }
};

struct Zero {
  __device__ __forceinline__ short2
  operator() (guint32, bool *) const
  {
    return make_short2 (0, 0);
  }
};

/* A round of a grid of up to POINTS across: the rows are shared among the
 * block's warps, and in them among the groups of lanes. */
template <int POINTS, int SPACING, int SIDE, class Search>
__device__ __forceinline__ void
visit_rows (Search *s, const Grid<SIDE> &grid)
{
  const gint32 slots = Search::WARPS * Search::GROUPS;
  gint32 side = 2 * grid.half + 1;
  MotionRoundPair pair;

  pair.clear ();
#pragma unroll 1
  for (gint32 first = 0; first < side; first += slots) {
    gint32 j = first + s->warp * Search::GROUPS + s->group;

    s->template collect_row<POINTS, SPACING> (
        grid.centre.x - grid.half * SPACING,
        grid.centre.y + (j - grid.half) * SPACING, j < side,
        (guint32) (j * side), side, &pair);
  }
  s->take (s->gather (pair), grid);
}

/* Some points of a grid. */
template <int SIDE> struct GridPart {
  Grid<SIDE> grid;
  gint32 first;

  __device__ __forceinline__ short2
  operator() (guint32 i, bool *valid) const
  {
    return grid (i + (guint32) first, valid);
  }
};

/* A round of any grid, point by point. */
template <int SIDE, class Search>
__device__ __forceinline__ void
visit_points (Search *s, const Grid<SIDE> &grid)
{
  gint32 side = 2 * grid.half + 1, n = side * side;

#pragma unroll 1
  for (gint32 first = 0; first < n; first += 32) {
    GridPart<SIDE> part = { grid, first };

    s->template compute<4> (min (n - first, 32), part);
    s->visit (0, min (n - first, 32), part);
  }
}

/* The rounds of ranges from 64 on, or those of them with most points, go row by
 * row. */
template <int POINTS, int SIDE, class Search>
__device__ __forceinline__ void
visit_grid (Search *s, const Grid<SIDE> &grid)
{
  if (POINTS > 3 && grid.spacing == 1)
    visit_rows<POINTS, 1> (s, grid);
  else if (POINTS == 7 && grid.spacing == 4)
    visit_rows<POINTS, 4> (s, grid);
  else if (POINTS == 7 && grid.spacing == 16)
    visit_rows<POINTS, 16> (s, grid);
  else if (POINTS == 15 && grid.spacing == 8)
    visit_rows<POINTS, 8> (s, grid);
  else
    visit_points (s, grid);
}

/* POINTS: across the grid, at most; 0 does any, point by point */
template <int POINTS> struct Steps {
  template <class Search>
  __device__ __forceinline__ void
  operator() (Search *s, const MotionDeviceTask *task,
      const MotionDeviceField *field) const
  {
    MotionGranularity granularity = task->config.granularity;
    gint32 half = motion_step_half (granularity);
    gint32 spacing = motion_step_first (granularity, task->config.range);

    s->template compute<4> (1, Zero ());
    s->visit (0, 1, Zero ());
    for (; spacing > 0; spacing = motion_step_next (granularity, spacing)) {
      Grid<POINTS == 15 ? 0 : POINTS> grid = { s->best, half, spacing };

      visit_grid<POINTS> (s, grid);
    }
    s->store (field->found);
  }
};

template <int SIZE, int POINTS, bool STAGED>
__global__ void
__launch_bounds__ (MOTION_ROUND_THREADS, 4)
    step_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  motion_search_tile<SIZE, STAGED> (task, Steps<POINTS> ());
}

template <int SIZE>
cudaError_t
launch (const MotionDeviceTask *task, cudaStream_t stream)
{
  switch (task->config.granularity) {
    case MOTION_GRANULARITY_1:
      return motion_launch_tiles<SIZE> (step_kernel<SIZE, 3, true>,
          step_kernel<SIZE, 0, false>, task, stream);
    case MOTION_GRANULARITY_2:
      return motion_launch_tiles<SIZE> (step_kernel<SIZE, 7, true>,
          step_kernel<SIZE, 0, false>, task, stream);
    default:
      return motion_launch_tiles<SIZE> (step_kernel<SIZE, 15, true>,
          step_kernel<SIZE, 0, false>, task, stream);
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
