/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The beginning of a regularised field: the part between bars, and the coarsest
 * level. */
#include "cuda/motion/cuda/field.cuh"

namespace {

#define AREA_THREADS 256
#define COARSEST MOTION_FIELD_COARSEST
/* Vectors of the coarsest level with the largest range */
#define COARSEST_VECTORS (33 * 33)

/* --- bars ------------------------------------------------------------------- */

/* The lines from the first to the last that is not a bar, of @n. @lines, @other: of both
 * pictures; @shared: two words */
__device__ __forceinline__ void
area_find_span (const guint32 *lines, const guint32 *other, gint32 n,
    gint32 *shared, gint32 *first, gint32 *end)
{
  __syncthreads ();
  if (threadIdx.x == 0) {
    shared[0] = n;
    shared[1] = 0;
  }
  __syncthreads ();
  for (gint32 i = (gint32) threadIdx.x; i < n; i += AREA_THREADS) {
    gint32 most = (gint32) max (lines[2 * i], other[2 * i]);
    gint32 least = 255 - (gint32) max (lines[2 * i + 1], other[2 * i + 1]);

    if (most - least > MOTION_FIELD_BAR) {
      atomicMin (&shared[0], i);
      atomicMax (&shared[1], i + 1);
    }
  }
  __syncthreads ();
  *first = min (shared[0], n / 2);
  *end = max (shared[1], n / 2);
}

/* One thread block a field. */
__global__ void
__launch_bounds__ (AREA_THREADS)
    field_area_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ gint32 shared[2];
  const FieldView view (&task);
  const gint32 w = (gint32) task.config.width, h = (gint32) task.config.height;
  const guint32 *lines = task.current.lines;
  const guint32 *other = view.field->reference.lines;
  MotionFieldState *state = view.state ();
  MotionFieldArea a;

  area_find_span (lines, other, h, shared, &a.top, &a.bottom);
  area_find_span (lines + 2 * (gsize) h, other + 2 * (gsize) h, w, shared,
      &a.left, &a.right);
  if (a.left >= w / 2 || a.top >= h / 2)
    a = MotionFieldArea{ 0, 0, w, h };
  if (threadIdx.x != 0)
    return;
  state->area = a;
  state->queued = state->remaining = 0;
  state->lit = FALSE;
}

/* --- the coarsest level -------------------------------------------------------- */

__device__ __forceinline__ gint32
coarsest_side (const MotionDeviceTask *task)
{
  return 2 * motion_field_range (&task->config, COARSEST) + 1;
}

/* Vector @k of the raster. */
__device__ __forceinline__ MotionFieldVector
coarsest_vector (gint32 k, gint32 side)
{
  return MotionFieldVector{ k % side - side / 2, k / side - side / 2 };
}

/* Orders vectors of equal cost: the shortest, then the first in raster order. */
__device__ __forceinline__ guint32
coarsest_order (MotionFieldVector v, gint32 k)
{
  return (guint32) (v.x * v.x + v.y * v.y) << 11 | (guint32) k;
}

/* The vector with which the field begins, from the sums over all blocks, which become
 * zero. */
__device__ __forceinline__ void
coarsest_find_cheapest (const FieldView &view, gint32 side)
{
  __shared__ unsigned long long costs[FIELD_THREADS];
  __shared__ guint32 orders[FIELD_THREADS];
  unsigned long long *sums = view.own (view.task->memory.sums);
  unsigned long long least = ~0ull, zero = __ldcg (&sums[side * side / 2]);
  guint32 order = MOTION_NONE;

  for (gint32 k = (gint32) threadIdx.x; k < side * side; k += FIELD_THREADS) {
    unsigned long long sum = __ldcg (&sums[k]);
    guint32 own = coarsest_order (coarsest_vector (k, side), k);

    if (sum < least || (sum == least && own < order)) {
      least = sum;
      order = own;
    }
  }
  costs[threadIdx.x] = least;
  orders[threadIdx.x] = order;
  __syncthreads ();
  for (gint32 k = (gint32) threadIdx.x; k < side * side; k += FIELD_THREADS)
    sums[k] = 0;
  if (threadIdx.x != 0)
    return;
  for (gint32 i = 1; i < FIELD_THREADS; i++)
    if (costs[i] < least || (costs[i] == least && orders[i] < order)) {
      least = costs[i];
      order = orders[i];
    }
  view.state ()->dominant =
      motion_field_keeps_zero (
          (gint64) zero, (gint64) least, view.grid (COARSEST)->n)
          ? MotionFieldVector{ 0, 0 }
          : coarsest_vector ((gint32) (order & 2047), side);
}

/* The data costs of all vectors: a warp a block, a lane a vector. The last thread
 * block of a field finds the vector that the field begins with. */
__global__ void
__launch_bounds__ (FIELD_THREADS)
    field_costs_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ guint32 sums[COARSEST_VECTORS];
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (COARSEST);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);
  const gint32 side = coarsest_side (&task), n = side * side;

  for (gint32 k = (gint32) threadIdx.x; k < n; k += FIELD_THREADS)
    sums[k] = 0;
  __syncthreads ();
  if (i < grid->n) {
    const FieldBlock block (
        view, COARSEST, i % grid->columns, i / grid->columns);
    guint16 *costs = view.own (task.memory.costs) + (gsize) i * (gsize) n;

    for (gint32 k = (gint32) motion_lane (); k < n; k += 32) {
      gint32 cost = block.cost (coarsest_vector (k, side));

      costs[k] = (guint16) cost;
      atomicAdd (&sums[k], (guint32) cost);
    }
  }
  __syncthreads ();
  for (gint32 k = (gint32) threadIdx.x; k < n; k += FIELD_THREADS)
    atomicAdd (&view.own (task.memory.sums)[k], (unsigned long long) sums[k]);
  if (field_is_last (&view.state ()->ended))
    coarsest_find_cheapest (view, side);
}

/* Sum of the distances of @v from the neighbours' vectors. @near: those, packed */
__device__ __forceinline__ gint32
coarsest_distances (
    const guint32 (&near)[8], guint32 exists, MotionFieldVector v)
{
  gint32 sum = 0;

#pragma unroll
  for (gint32 k = 0; k < 8; k++)
    if (exists >> k & 1)
      sum +=
          motion_field_distance (v, field_unpack (near[k]), MOTION_FIELD_REACH);
  return sum;
}

/* A pass: a warp a block, a lane every 32nd vector. @from: the vectors of the pass
 * before; -1: all are the dominant one */
__global__ void
__launch_bounds__ (FIELD_THREADS) field_coarsest_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), gint32 from, gint32 to)
{
  const FieldView view (&task);
  const MotionFieldGrid *grid = view.grid (COARSEST);
  const gint32 i = (gint32) (blockIdx.x * FIELD_WARPS + threadIdx.x / 32);
  const gint32 side = coarsest_side (&task), n = side * side;
  const gint32 lambda =
      motion_field_lambda (&task.config, COARSEST, view.noise ());
  const MotionFieldVector dominant = view.state ()->dominant;
  const gint32 column = i % grid->columns, row = i / grid->columns;
  const guint16 *costs = view.own (task.memory.costs) + (gsize) i * (gsize) n;
  guint32 near[8], exists = 0, least = MOTION_NONE, order = MOTION_NONE, best;
  gint32 n_near;

  if (i >= grid->n)
    return;
#pragma unroll
  for (gint32 k = 0; k < 8; k++) {
    const MotionFieldVector d = field_neighbour (k);
    const gint32 x = column + d.x, y = row + d.y;

    near[k] = field_pack (dominant);
    if (x < 0 || y < 0 || x >= grid->columns || y >= grid->rows)
      continue;
    exists |= 1u << k;
    if (from >= 0)
      near[k] = field_pack (
          field_vector (view.own (grid->vectors[from])[y * grid->columns + x]));
  }
  n_near = __popc (exists);
  for (gint32 k = (gint32) motion_lane (); k < n; k += 32) {
    const MotionFieldVector v = coarsest_vector (k, side);
    const gint32 sum = coarsest_distances (near, exists, v);
    const gint32 rough =
        (n_near > 0 ? sum * 8 / n_near : 0)
        + MOTION_FIELD_EXPECTED
              * motion_field_distance (v, dominant, MOTION_FIELD_REACH);
    const guint32 cost = (guint32) (8 * costs[k] + lambda * rough
                                    + lambda * MOTION_FIELD_SHORT
                                          * (abs (v.x) + abs (v.y)) / 64);
    const guint32 own = coarsest_order (v, k);

    if (cost < least || (cost == least && own < order)) {
      least = cost;
      order = own;
    }
  }
  best = motion_warp_min (least);
  order = motion_warp_min (least == best ? order : MOTION_NONE);
  if (motion_lane () == 0)
    view.own (grid->vectors[to])[i] =
        field_short (coarsest_vector ((gint32) (order & 2047), side));
}

} // namespace

/* The final vectors are vectors[(MOTION_FIELD_COARSEST_PASSES - 1) % 2]. */
cudaError_t
motion_launch_field_coarsest (const MotionDeviceTask *task, cudaStream_t stream)
{
  const guint n = (guint) task->memory.grids[COARSEST].n;
  const dim3 grid ((n + FIELD_WARPS - 1) / FIELD_WARPS, task->n_fields);
  const dim3 one (1, task->n_fields);

  MOTION_START (field_area_kernel, one, AREA_THREADS, stream, *task);
  MOTION_START (field_costs_kernel, grid, FIELD_THREADS, stream, *task);
  for (gint32 i = 0; i < MOTION_FIELD_COARSEST_PASSES; i++)
    MOTION_START (field_coarsest_kernel, grid, FIELD_THREADS, stream, *task,
        i == 0 ? -1 : (i + 1) % 2, i % 2);
  return cudaGetLastError ();
}
