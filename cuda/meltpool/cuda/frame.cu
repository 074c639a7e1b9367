/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Two kernels that label whole frames of any size, one block a frame: the
 * spatters, and the position of the component that is most likely the melt pool. */
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
    const PbfDeviceFrame *frames, guint n, CvisPbfResult *results,
    const gint32 *pool_pixels, guint8 *scratch, gsize size)
{
  Scratch s = lay_out (p.width, p.height, scratch + blockIdx.x * size);

  for (guint i = blockIdx.x; i < n; i += gridDim.x) {
    guint32 flags = results[i].flags, pool = NO_COMPONENT;

    if ((flags & CVIS_PBF_RESULT_EMPTY) && !(flags & CVIS_PBF_RESULT_EXCLUDED))
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

/* Key of pixel @at with the 3x3 sum @sum: the largest one is that of the largest
 * sum, of the first pixel with it. */
__device__ guint64
spot_key (guint32 sum, guint32 at)
{
  return (guint64) sum << 32 | (0xffffffffu - at);
}

/* Adds area and excess (into sx) of the runs to their components. */
__device__ void
add_excess (
    const PbfParams &p, const PbfDeviceFrame &f, const Scratch &s, guint32 runs)
{
  for (guint32 i = threadIdx.x; i < runs; i += THREADS) {
    Run run = s.runs[i];
    Component *c = &s.components[pbf_find (s.parents, i)];
    unsigned long long excess = 0;

    for (gint x = run.first; x <= run.last; x++)
      excess += f.frame[(gsize) run.y * f.stride + x] - p.threshold + 1;
    atomicAdd (&c->area, (guint32) (run.last - run.first + 1));
    atomicAdd (&c->sx, excess);
  }
  __syncthreads ();
}

/* The largest score of the components, except number @without. */
__device__ guint64
best_score (const Scratch &s, guint32 runs, guint32 without)
{
  guint64 best = 0;

  for (guint32 i = threadIdx.x; i < runs; i += THREADS) {
    guint64 score = pbf_pool_score (s.components[i].area, s.components[i].sx);

    if (i != without && score > best)
      best = score;
  }
  return block_max (best);
}

/* The first component with the score @score. */
__device__ guint32
first_with_score (const Scratch &s, guint32 runs, guint64 score)
{
  guint64 first = 0;

  for (guint32 i = threadIdx.x; i < runs; i += THREADS) {
    guint64 key = 0xffffffffu - i;

    if (pbf_pool_score (s.components[i].area, s.components[i].sx) == score
        && key > first)
      first = key;
  }
  return 0xffffffffu - (guint32) block_max (first);
}

/* Sets the position of the frames that ask for the brightest spot: the largest 3x3
 * sum in the component with the highest score, or in the frame if it has no
 * component. */
__global__ void
__launch_bounds__ (THREADS) brightest_kernel (const PbfParams p,
    PbfDeviceFrame *frames, guint n, guint8 *scratch, gsize size)
{
  Scratch s = lay_out (p.width, p.height, scratch + blockIdx.x * size);

  for (guint i = blockIdx.x; i < n; i += gridDim.x) {
    PbfDeviceFrame &f = frames[i];
    guint32 runs, chosen, at;
    guint64 score, second = 0, spot = 0;

    if (f.info.position != PBF_POSITION_BRIGHTEST
        || (f.info.entry == PBF_EMPTY && !p.analyse_empty))
      continue;
    runs = find_runs (p, whole_frame (p, f), s);
    add_excess (p, f, s, runs);
    score = best_score (s, runs, NO_COMPONENT);
    if (score > 0) {
      chosen = first_with_score (s, runs, score);
      second = best_score (s, runs, chosen);
      for (guint32 k = threadIdx.x; k < runs; k += THREADS) {
        Run run = s.runs[k];

        if (pbf_find (s.parents, k) != chosen)
          continue;
        for (gint x = run.first; x <= run.last; x++)
          spot = max (spot, spot_key (pbf_box_sum (p, f, x, run.y),
                                (guint32) (run.y * p.width + x)));
      }
    } else {
      for (gint k = threadIdx.x; k < p.width * p.height; k += THREADS)
        spot = max (
            spot, spot_key (pbf_box_sum (p, f, k % p.width, k / p.width), k));
    }
    at = 0xffffffffu - (guint32) block_max (spot);
    if (threadIdx.x == 0) {
      f.info.e_x_q8 = 256 * (gint32) (at % p.width) + 128;
      f.info.e_y_q8 = 256 * (gint32) (at / p.width) + 128;
      f.info.position = PBF_POSITION_GIVEN;
      if (score > 0) {
        f.info.flags |= pbf_position_flag (score, second);
        f.confidence = pbf_position_confidence (score, second);
      }
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
    const PbfDeviceFrame *frames, guint n, CvisPbfResult *results,
    const gint32 *pool_pixels, guint8 *scratch, guint blocks,
    cudaStream_t stream)
{
  spatters_kernel<<<MIN (blocks, n), THREADS, 0, stream>>> (*params, frames, n,
      results, pool_pixels, scratch, pbf_frame_scratch_size (params));
  return cudaGetLastError ();
}
