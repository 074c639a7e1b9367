/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Spatial features of a batch with ROIs of 40 x 40 pixels, one warp a frame. */
#include "cuda/meltpool/cuda/spatial.cuh"

namespace {

__global__ void __launch_bounds__ (32 * PBF_SPATIAL_WARPS)
    spatial_kernel (const PbfParams p, const PbfDeviceFrame *frames, guint n,
        CvisPbfResult *results, guint8 *entered, gint32 *pool_pixels,
        PbfDeviceScratch *scratch)
{
  __shared__ Shared shared[PBF_SPATIAL_WARPS];
  guint warp = threadIdx.x / 32;
  guint first = blockIdx.x * PBF_SPATIAL_WARPS + warp;

  for (guint i = first; i < n; i += gridDim.x * PBF_SPATIAL_WARPS) {
    const PbfDeviceFrame &f = frames[i];
    guint entry = pbf_begin_frame (p, f, SIDE, &shared[warp].result);

    if (entry != PBF_EMPTY)
      measure_roi (p, f, shared[warp], scratch + first,
          pool_pixels ? pool_pixels + i : NULL);
    __syncwarp ();
    for (guint k = pbf_lane (); k < sizeof (CvisPbfResult) / 16; k += 32)
      ((uint4 *) &results[i])[k] = ((uint4 *) &shared[warp].result)[k];
    if (pbf_lane () == 0)
      entered[i] = entry == PBF_ENTER;
    __syncwarp ();
  }
}

} // namespace

cudaError_t
pbf_launch_spatial (const PbfParams *params, const PbfDeviceFrame *frames,
    guint n, CvisPbfResult *results, guint8 *entered, gint32 *pool_pixels,
    PbfDeviceScratch *scratch, guint blocks, cudaStream_t stream)
{
  blocks = MIN (blocks, (n + PBF_SPATIAL_WARPS - 1) / PBF_SPATIAL_WARPS);
  spatial_kernel<<<blocks, 32 * PBF_SPATIAL_WARPS, 0, stream>>> (
      *params, frames, n, results, entered, pool_pixels, scratch);
  return cudaGetLastError ();
}
