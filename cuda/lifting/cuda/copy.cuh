/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Copying from global to shared memory while the thread goes on. */
#pragma once

#include "cuda/core/cuda.cuh"

/* Hints of copies to the L2 cache, for compilers that know them */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && CUDART_VERSION >= 11040
#define LWT_HAS_KEEPING 1
#define LWT_WHOLE_LINES ".L2::128B"
#else
#define LWT_HAS_KEEPING 0
#define LWT_WHOLE_LINES ""
#endif

/* Copies @BYTES to shared memory while the thread goes on. The L2 cache reads
 * whole lines: what the warp leaves of them its neighbours need. */
template <int BYTES>
static __device__ __forceinline__ void
lwt_copy_ahead (void *to, const void *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const guint32 at = (guint32) __cvta_generic_to_shared (to);

  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global" LWT_WHOLE_LINES
                 " [%0], [%1], 16;" ::"r"(at),
                 "l"(from)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global" LWT_WHOLE_LINES
                 " [%0], [%1], %2;" ::"r"(at),
                 "l"(from), "n"(BYTES)
                 : "memory");
#else
  if (BYTES == 16)
    *(float4 *) to = *(const float4 *) from;
  else if (BYTES == 8)
    *(float2 *) to = *(const float2 *) from;
  else
    *(float *) to = *(const float *) from;
#endif
}

/* How long the L2 cache is to keep something: the device's code for it */
typedef guint64 LwtKeeping;

/* @late: until others, who come late, have read it too */
static __device__ __forceinline__ LwtKeeping
lwt_keeping (bool late)
{
  LwtKeeping keeping = 0;

#if LWT_HAS_KEEPING
  if (late)
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keeping));
  else
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;"
        : "=l"(keeping));
#endif
  return keeping;
}

/* lwt_copy_ahead() of data that the L2 cache is to keep so long. SHARED: other warps
 * of the multiprocessor read it too, so it goes through its cache. */
template <int BYTES, bool SHARED = false>
static __device__ __forceinline__ void
lwt_copy_kept (void *to, const void *from, LwtKeeping keeping)
{
#if LWT_HAS_KEEPING
  const guint32 at = (guint32) __cvta_generic_to_shared (to);

  if (BYTES == 16 && !SHARED)
    asm volatile("cp.async.cg.shared.global.L2::cache_hint" LWT_WHOLE_LINES
                 " [%0], [%1], 16, %2;" ::"r"(at),
                 "l"(from), "l"(keeping)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global.L2::cache_hint" LWT_WHOLE_LINES
                 " [%0], [%1], %2, %3;" ::"r"(at),
                 "l"(from), "n"(BYTES), "l"(keeping)
                 : "memory");
#else
  lwt_copy_ahead<BYTES> (to, from);
#endif
}

static __device__ __forceinline__ void
lwt_copies_end (void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* All but the last @LATER groups of copies are there. */
template <int LATER>
static __device__ __forceinline__ void
lwt_copies_wait (void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}
