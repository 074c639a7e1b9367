/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Least-squares fit of the F-operation, with the sums in the order of
 * cuda/lifting/arithmetic.h: one warp sums a row, one block sums the rows,
 * one thread solves for P.
 * The sums of powers of u are the same for all rows without missing points.
 * They are precomputed, and computed only for other rows. */
#include "cuda/lifting/cuda/sample.cuh"
#include "cuda/lifting/cuda/engine.cuh"

namespace {

const guint BATCH = 8;
const guint WARPS = 8;        /* in a block that sums rows */
const guint MOMENTS = 15 + 6; /* M[a][b], T[a][b]: one warp each */

/* Sums of z u^k, k = 0 .. ORDER. A batch of samples is loaded before the
 * first one is added, to hide latency. */
template <typename S, int ORDER>
__device__ __forceinline__ bool
sum_heights (const LwtSurfaceTask &t, const S *row, gdouble sums[3])
{
  bool gone = false;

  for (guint first = threadIdx.x; first < t.width; first += 32 * BATCH) {
    S samples[BATCH];
    gdouble u[BATCH];

#pragma unroll
    for (guint i = 0; i < BATCH; i++) {
      const guint x = MIN (first + 32 * i, t.width - 1);

      samples[i] = row[x];
      u[i] = ORDER > 0 ? t.tables.u[x] : 0.0;
    }
#pragma unroll
    for (guint i = 0; i < BATCH; i++) {
      const bool there = lwt_is_finite (samples[i]);
      const bool inside = first + 32 * i < t.width;
      const gdouble z = (gdouble) samples[i] * t.z_scale + t.z_offset;

      gone = gone || (inside && !there);
      if (inside && there) {
        sums[0] += z;
        if (ORDER > 0)
          sums[1] += z * u[i];
        if (ORDER > 1)
          sums[2] += z * (u[i] * u[i]);
      }
    }
  }
  return gone;
}

/* Sums of u^k over the points that are not missing, k = 0 .. 2 ORDER. */
template <typename S, int ORDER>
__device__ __forceinline__ void
sum_powers (const LwtSurfaceTask &t, const S *row, gdouble sums[5])
{
  for (guint x = threadIdx.x; x < t.width; x += 32) {
    const gdouble u = ORDER > 0 ? t.tables.u[x] : 0.0, u2 = u * u;

    if (!lwt_is_finite (row[x]))
      continue;
    sums[0] += 1.0;
    if (ORDER > 0) {
      sums[1] += u;
      sums[2] += u2;
    }
    if (ORDER > 1) {
      sums[3] += u2 * u;
      sums[4] += u2 * u2;
    }
  }
}

template <typename S, int ORDER>
__global__ void __launch_bounds__ (32 * WARPS) rows_kernel (LwtSurfaceTask t)
{
  const guint y = blockIdx.x * WARPS + threadIdx.y;
  gdouble m[5] = { 0.0 }, heights[3] = { 0.0 };
  const S *row;
  bool gone;

  if (y >= t.height)
    return;
  row = lwt_row<S> (t.from, t.stride, y);
  gone = sum_heights<S, ORDER> (t, row, heights);
  gone = __any_sync (LWT_ALL_LANES, gone);
  if (gone)
    sum_powers<S, ORDER> (t, row, m);
#pragma unroll
  for (guint k = 0; k <= 2 * ORDER; k++) {
    const gdouble sum = gone ? lwt_sum_warp (m[k]) : t.tables.full[k];

    if (threadIdx.x == 0)
      t.rows[(gsize) k * t.height + y] = sum;
  }
#pragma unroll
  for (guint k = 0; k <= ORDER; k++) {
    const gdouble sum = lwt_sum_warp (heights[k]);

    if (threadIdx.x == 0)
      t.rows[(gsize) (5 + k) * t.height + y] = sum;
  }
}

/* Sum over the rows of a moment times v^power. */
__device__ gdouble
sum_rows (const LwtSurfaceTask &t, const gdouble *rows, guint power)
{
  gdouble sum = 0.0;

  lwt_each_row (rows, t.tables.v, t.height, [&] (gdouble value, gdouble v) {
    const gdouble v2 = v * v;
    const gdouble w = power == 0   ? 1.0
                      : power == 1 ? v
                      : power == 2 ? v2
                      : power == 3 ? v2 * v
                                   : v2 * v2;

    sum += value * w;
  });
  return lwt_sum_warp (sum);
}

/* One block; each warp sums one M[a][b], a + b <= 4, or T[a][b], a + b <= 2. */
__global__ void __launch_bounds__ (32 * MOMENTS)
    fit_kernel (LwtSurfaceTask t, guint order)
{
  __shared__ LwtMoments moments;
  guint a = 0, b = threadIdx.y;
  const bool heights = b >= 15;
  const guint most = heights ? 2 : 4;

  b -= heights ? 15 : 0;
  while (a + b > most) {
    b -= most + 1 - a;
    a++;
  }
  if (a + b <= (heights ? order : 2 * order)) {
    const gdouble sum =
        sum_rows (t, t.rows + (gsize) (heights ? 5 + a : a) * t.height, b);

    if (threadIdx.x == 0)
      *(heights ? &moments.t[a][b] : &moments.m[a][b]) = sum;
  }
  __syncthreads ();
  if (threadIdx.x == 0 && threadIdx.y == 0)
    lwt_fit (&moments, t.operation, t.findings->polynomial);
}

template <typename S>
void
launch_rows (const LwtSurfaceTask *t, guint order, cudaStream_t stream)
{
  const auto kernel = order == 0   ? rows_kernel<S, 0>
                      : order == 1 ? rows_kernel<S, 1>
                                   : rows_kernel<S, 2>;

  kernel<<<(t->height + WARPS - 1) / WARPS, dim3 (32, WARPS), 0, stream>>> (*t);
}

} // namespace

extern "C" cudaError_t
lwt_launch_fit (const LwtSurfaceTask *task, cudaStream_t stream)
{
  const guint order = task->operation == LWT_F_OFFSET  ? 0
                      : task->operation == LWT_F_POLY2 ? 2
                                                       : 1;
  cudaError_t code;

  LWT_BY_SAMPLE (task->sample, launch_rows, task, order, stream);
  code = cudaGetLastError ();
  if (code != cudaSuccess)
    return code;
  fit_kernel<<<1, dim3 (32, MOMENTS), 0, stream>>> (*task, order);
  return cudaGetLastError ();
}
