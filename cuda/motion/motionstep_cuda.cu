/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The step search: every round of every block on the device, in one launch. */
#include "motionrounds.cuh"

namespace {

/* The points round @centre, @spacing apart, @half on either side. */
struct Grid {
  short2 centre;
  gint32 half, spacing;

  __device__ __forceinline__ short2
  operator() (guint32 i, bool *valid) const
  {
    gint32 side = 2 * half + 1;
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

template <int SIZE, bool MASKED>
__device__ void
search (const MotionDeviceTask *task, const MotionDeviceField *field,
    const MotionPlace &place, MotionShared *shared)
{
  MotionSearch<SIZE, MASKED> s;
  MotionGranularity granularity = task->config.granularity;
  gint32 half = motion_step_half (granularity);
  guint32 side = 2 * (guint32) half + 1;

  s.begin (task, field, place, shared);
  s.visit (1, Zero ());
  for (gint32 spacing = motion_step_first (granularity, task->config.range);
       spacing > 0; spacing = motion_step_next (granularity, spacing)) {
    Grid grid = { s.best, half, spacing };

    s.visit (side * side, grid);
  }
  s.store (field->found);
}

template <int SIZE>
__global__ void
__launch_bounds__ (MOTION_ROUND_THREADS)
    step_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ MotionShared shared;
  const MotionDeviceField *field = &task.fields[blockIdx.y];
  MotionPlace place = motion_place (&task, blockIdx.x);

  if (SIZE > 8 && place.w == SIZE && place.h == SIZE)
    search<SIZE, SIZE == 8> (&task, field, place, &shared);
  else
    search<SIZE, true> (&task, field, place, &shared);
}

#define STEP(SIZE) step_kernel<SIZE>

} // namespace

cudaError_t
motion_launch_step (const MotionDeviceTask *task, cudaStream_t stream)
{
  dim3 grid (task->n_blocks, task->n_fields);

  MOTION_LAUNCH_SIZE (STEP, grid, MOTION_ROUND_THREADS, stream, *task);
  return cudaGetLastError ();
}
