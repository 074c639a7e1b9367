/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Warp-wide sums, maxima and searches: all 32 lanes call them, all get the
 * result. */
#pragma once

#include <cuda_runtime.h>
#include <glib.h>

#define PBF_ALL_LANES 0xffffffffu

static __device__ __forceinline__ guint
pbf_lane (void)
{
  return threadIdx.x & 31;
}

static __device__ __forceinline__ guint32
pbf_warp_sum (guint32 v)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync (PBF_ALL_LANES, v);
#else
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync (PBF_ALL_LANES, v, d);
  return v;
#endif
}

static __device__ __forceinline__ guint32
pbf_warp_max (guint32 v)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync (PBF_ALL_LANES, v);
#else
  for (int d = 16; d > 0; d /= 2)
    v = max (v, __shfl_xor_sync (PBF_ALL_LANES, v, d));
  return v;
#endif
}

static __device__ __forceinline__ guint32
pbf_warp_or (guint32 v)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync (PBF_ALL_LANES, v);
#else
  for (int d = 16; d > 0; d /= 2)
    v |= __shfl_xor_sync (PBF_ALL_LANES, v, d);
  return v;
#endif
}

/* Sum with a 64-bit result. */
static __device__ __forceinline__ guint64
pbf_warp_sum_wide (guint32 v)
{
  return ((guint64) pbf_warp_sum (v >> 16) << 16) + pbf_warp_sum (v & 0xffff);
}

/* Sum of the lanes before this one. */
static __device__ __forceinline__ guint32
pbf_warp_sum_before (guint32 v)
{
  guint32 sum = v;

  for (int d = 1; d < 32; d *= 2) {
    guint32 other = __shfl_up_sync (PBF_ALL_LANES, sum, d);
    if (pbf_lane () >= (guint) d)
      sum += other;
  }
  return sum - v;
}
