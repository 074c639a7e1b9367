/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Two kernels that label whole frames of any size, one block a frame: the
 * spatters, and the position of the melt pool among several saturated spots. */
#include "cuda/meltpool/cuda/begin.cuh"
#include "cuda/meltpool/cuda/runs.cuh"

namespace {

__device__ Rectangle
whole_frame (const PbfParams &p, const PbfDeviceFrame &f)
{
  return Rectangle{ f.frame, f.stride, p.width, p.height };
}

__global__ void
__launch_bounds__ (THREADS) spatters_kernel (const PbfParams p,
    const PbfDeviceFrame *frames, guint n, PbfResult *results,
    const gint32 *pool_pixels, guint8 *scratch, gsize size)
{
  Scratch s = lay_out (p.width, p.height, scratch + blockIdx.x * size);

  for (guint i = blockIdx.x; i < n; i += gridDim.x) {
    guint32 flags = results[i].flags, pool = NO_COMPONENT;

    if ((flags & PBF_RESULT_EMPTY) && !(flags & PBF_RESULT_EXCLUDED))
      continue;
    guint32 runs = find_runs (p, whole_frame (p, frames[i]), s);
    add_runs (s, runs);
    if (pool_pixels[i] >= 0)
      pool =
          component_at (s, pool_pixels[i] % p.width, pool_pixels[i] / p.width);
    list_spatters (p, s, runs, pool, 0, 0, &results[i]);
    __syncthreads ();
  }
}

/* Of the pixels whose 3x3 sum is @top, the first in the largest component
 * that contains one; @first if all of them are background. */
__device__ guint32
locate_in_components (const PbfParams &p, const PbfDeviceFrame &f,
    const Scratch &s, guint32 top, guint32 first)
{
  guint32 runs = find_runs (p, whole_frame (p, f), s);
  guint64 best = 0;

  add_runs (s, runs);
  for (guint32 i = threadIdx.x; i < runs; i += THREADS) {
    gint y = s.runs[i].y, x = s.runs[i].first, last = s.runs[i].last;

    while (x <= last && pbf_box_sum (p, f, x, y) != top)
      x++;
    if (x <= last) /* the first pixel has the largest complement */
      atomicMax (&s.components[pbf_find (s.parents, i)].mark,
          ~(guint32) (y * p.width + x));
  }
  __syncthreads ();
  for (guint32 i = threadIdx.x; i < runs; i += THREADS) {
    guint64 key = (guint64) s.components[i].area << 32 | (0xffffffffu - i);

    if (s.components[i].mark && key > best)
      best = key;
  }
  best = block_max (best);
  return best ? ~s.components[0xffffffffu - (guint32) best].mark : first;
}

/* Sets the position of the frames that ask for the brightest spot. */
__global__ void
__launch_bounds__ (THREADS) brightest_kernel (const PbfParams p,
    PbfDeviceFrame *frames, guint n, guint8 *scratch, gsize size)
{
  Scratch s = lay_out (p.width, p.height, scratch + blockIdx.x * size);

  for (guint i = blockIdx.x; i < n; i += gridDim.x) {
    PbfDeviceFrame &f = frames[i];
    guint32 sum = 0, at = 0, count = 0;

    if (f.info.position != PBF_POSITION_BRIGHTEST
        || (f.info.entry == PBF_EMPTY && !p.analyse_empty))
      continue;
    for (gint k = threadIdx.x; k < p.width * p.height; k += THREADS) {
      guint32 here = pbf_box_sum (p, f, k % p.width, k / p.width);

      if (here > sum || count == 0) {
        sum = here;
        at = k;
        count = 1;
      } else if (here == sum) {
        count++;
      }
    }
    guint64 best = block_max ((guint64) sum << 32 | (0xffffffffu - at));
    guint32 top = (guint32) (best >> 32);
    at = 0xffffffffu - (guint32) best;
    block_sum_before (sum == top ? count : 0, &count);
    if (count > 1)
      at = locate_in_components (p, f, s, top, at);
    __syncthreads ();
    if (threadIdx.x == 0) {
      f.info.e_x_q8 = 256 * (gint32) (at % p.width) + 128;
      f.info.e_y_q8 = 256 * (gint32) (at / p.width) + 128;
      f.info.position = PBF_POSITION_GIVEN;
    }
    __syncthreads ();
  }
}

} // namespace

gsize
pbf_frame_scratch_size (const PbfParams *params)
{
  return scratch_size (params->width, params->height);
}

cudaError_t
pbf_launch_brightest (const PbfParams *params, PbfDeviceFrame *frames, guint n,
    guint8 *scratch, guint blocks, cudaStream_t stream)
{
  brightest_kernel<<<MIN (blocks, n), THREADS, 0, stream>>> (
      *params, frames, n, scratch, pbf_frame_scratch_size (params));
  return cudaGetLastError ();
}

cudaError_t
pbf_launch_frame_spatters (const PbfParams *params,
    const PbfDeviceFrame *frames, guint n, PbfResult *results,
    const gint32 *pool_pixels, guint8 *scratch, guint blocks,
    cudaStream_t stream)
{
  spatters_kernel<<<MIN (blocks, n), THREADS, 0, stream>>> (*params, frames, n,
      results, pool_pixels, scratch, pbf_frame_scratch_size (params));
  return cudaGetLastError ();
}
