/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums for the areal parameters, in the order of cuda/lifting/arithmetic.h:
 * one warp a row, one block for the rows of a surface; heights first, then
 * the shape about their mean. One launch covers all surfaces. Integer counts
 * are added in any order. */
#include "cuda/lifting/cuda/sample.cuh"
#include "cuda/lifting/cuda/engine.cuh"

namespace {

const guint WARPS = 8; /* in a block that sums rows */

/* Sums of a surface's rows: number @which of 6 for each row. */
__device__ __forceinline__ gdouble *
rows_of (const LwtMeasureTask &t, guint surface, guint which)
{
  return t.rows + ((gsize) surface * 6 + which) * t.height;
}

template <typename T> struct Surface {
  const LwtMeasureTask &t;
  const LwtPicture &picture;
  guint words;

  __device__
  Surface (const LwtMeasureTask &task, guint number)
      : t (task), picture (task.surface[number]), words (lwt_words (task.width))
  {
  }

  __device__ __forceinline__ T
  at (guint x, guint y) const
  {
    return lwt_row<T> (picture.data, picture.stride, y)[x];
  }

  /* Whether the point is not missing; its height in @z. */
  __device__ __forceinline__ bool
  has (guint x, guint y, T z) const
  {
    if (t.missing != NULL)
      return !lwt_is_missing (t.missing, words, x, y);
    return !t.finite || lwt_is_finite (z);
  }
};

__device__ __forceinline__ guint
count_warp (guint n)
{
  for (int half = 16; half > 0; half /= 2)
    n += __shfl_down_sync (LWT_ALL_LANES, n, half);
  return n;
}

__device__ __forceinline__ gdouble
least (gdouble a, gdouble b)
{
  return a < b ? a : b;
}

__device__ __forceinline__ gdouble
greatest (gdouble a, gdouble b)
{
  return a > b ? a : b;
}

template <typename T>
__global__ void __launch_bounds__ (32 * WARPS) heights_kernel (LwtMeasureTask t)
{
  const guint number = blockIdx.y;
  const guint y = blockIdx.x * WARPS + threadIdx.y;
  const Surface<T> surface (t, number);
  gdouble sum = 0.0, low = INFINITY, high = -INFINITY;
  guint n = 0;

  if (y >= t.height)
    return;
#pragma unroll 4
  for (guint x = threadIdx.x; x < t.width; x += 32) {
    const T z = surface.at (x, y);

    if (surface.has (x, y, z)) {
      sum += (gdouble) z;
      low = least (low, (gdouble) z);
      high = greatest (high, (gdouble) z);
      n++;
    }
  }
  sum = lwt_sum_warp (sum);
  for (int half = 16; half > 0; half /= 2) {
    low = least (low, __shfl_down_sync (LWT_ALL_LANES, low, half));
    high = greatest (high, __shfl_down_sync (LWT_ALL_LANES, high, half));
  }
  n = count_warp (n);
  if (threadIdx.x > 0)
    return;
  rows_of (t, number, 0)[y] = sum;
  rows_of (t, number, 1)[y] = low;
  rows_of (t, number, 2)[y] = high;
  atomicAdd ((unsigned long long *) &t.findings->heights[t.part[number]].n,
      (unsigned long long) n);
}

__device__ gdouble
sum_rows (const gdouble *rows, guint n)
{
  gdouble sum = 0.0;

  lwt_each_row (rows, rows, n, [&] (gdouble value, gdouble) { sum += value; });
  return lwt_sum_warp (sum);
}

/* One block a surface; its warps compute the sum, the minimum and the
 * maximum. */
__global__ void __launch_bounds__ (96, 1)
    finish_heights_kernel (LwtMeasureTask t)
{
  LwtHeights *heights = &t.findings->heights[t.part[blockIdx.x]];
  const gdouble *rows = rows_of (t, blockIdx.x, threadIdx.y);
  const bool low = threadIdx.y == 1;
  gdouble end = low ? INFINITY : -INFINITY;

  if (threadIdx.y == 0) {
    const gdouble sum = sum_rows (rows, t.height);

    if (threadIdx.x == 0)
      heights->sum = sum;
    return;
  }
  lwt_each_row (rows, rows, t.height, [&] (gdouble value, gdouble) {
    end = low ? least (end, value) : greatest (end, value);
  });
  for (int half = 16; half > 0; half /= 2) {
    const gdouble other = __shfl_down_sync (LWT_ALL_LANES, end, half);

    end = low ? least (end, other) : greatest (end, other);
  }
  if (threadIdx.x == 0)
    *(low ? &heights->min : &heights->max) = end;
}

template <typename T>
__global__ void __launch_bounds__ (32 * WARPS) shape_kernel (LwtMeasureTask t)
{
  const guint number = blockIdx.y;
  const guint y = blockIdx.x * WARPS + threadIdx.y;
  const Surface<T> surface (t, number);
  const LwtHeights &heights = t.findings->heights[t.part[number]];
  const gdouble mean = heights.n > 0 ? heights.sum / (gdouble) heights.n : 0.0;
  const gfloat by_x = (gfloat) (1.0 / t.dx), by_y = (gfloat) (1.0 / t.dy);
  const bool slopes = t.dx > 0.0 && y + 1 < t.height;
  gdouble sums[6] = { 0.0 };
  guint cells = 0;

  if (y >= t.height)
    return;
  for (guint x = threadIdx.x; x < t.width; x += 32) {
    const T z = surface.at (x, y);
    const gdouble h = (gdouble) z - mean, h2 = h * h;

    if (!surface.has (x, y, z))
      continue;
    sums[0] += fabs (h);
    sums[1] += h2;
    sums[2] += h2 * h;
    sums[3] += h2 * h2;
    if (slopes && x + 1 < t.width) {
      const T right = surface.at (x + 1, y), below = surface.at (x, y + 1);
      const T across = surface.at (x + 1, y + 1);

      if (surface.has (x + 1, y, right) && surface.has (x, y + 1, below)
          && surface.has (x + 1, y + 1, across)) {
        gfloat gradient;

        sums[5] +=
            lwt_cell (lwt_half_square ((gdouble) z, (gdouble) right, by_x),
                lwt_half_square ((gdouble) below, (gdouble) across, by_x),
                lwt_half_square ((gdouble) z, (gdouble) below, by_y),
                lwt_half_square ((gdouble) right, (gdouble) across, by_y),
                &gradient);
        sums[4] += gradient;
        cells++;
      }
    }
  }
#pragma unroll
  for (guint i = 0; i < 6; i++) {
    const gdouble sum = lwt_sum_warp (sums[i]);

    if (threadIdx.x == 0)
      rows_of (t, number, i)[y] = sum;
  }
  cells = count_warp (cells);
  if (threadIdx.x == 0)
    atomicAdd ((unsigned long long *) &t.findings->shapes[t.part[number]].cells,
        (unsigned long long) cells);
}

/* One block a surface, one warp a sum. */
__global__ void __launch_bounds__ (192, 1)
    finish_shape_kernel (LwtMeasureTask t)
{
  LwtShape *shape = &t.findings->shapes[t.part[blockIdx.x]];
  gdouble *const to[6] = { &shape->h1, &shape->h2, &shape->h3, &shape->h4,
    &shape->gradient, &shape->area };
  const gdouble sum = sum_rows (rows_of (t, blockIdx.x, threadIdx.y), t.height);

  if (threadIdx.x == 0)
    *to[threadIdx.y] = sum;
}

template <typename T>
void
launch_measure (const LwtMeasureTask &t, cudaStream_t stream)
{
  const dim3 grid ((t.height + WARPS - 1) / WARPS, t.n), block (32, WARPS);

  heights_kernel<T><<<grid, block, 0, stream>>> (t);
  finish_heights_kernel<<<t.n, dim3 (32, 3), 0, stream>>> (t);
  shape_kernel<T><<<grid, block, 0, stream>>> (t);
  finish_shape_kernel<<<t.n, dim3 (32, 6), 0, stream>>> (t);
}

} // namespace

extern "C" cudaError_t
lwt_launch_measure (const LwtMeasureTask *task, cudaStream_t stream)
{
  if (task->type == LWT_TYPE_F64)
    launch_measure<gdouble> (*task, stream);
  else
    launch_measure<gfloat> (*task, stream);
  return cudaGetLastError ();
}
