/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Copying from global to shared memory while the thread goes on. */
#pragma once

#include "cviscuda.cuh"

/* Copies @BYTES to shared memory while the thread goes on. SHARED: other warps of
 * the multiprocessor read them too, so they go through its cache. */
template <int BYTES, bool SHARED = false>
static __device__ __forceinline__ void
lwt_copy_ahead (void *to, const void *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const guint32 at = (guint32) __cvta_generic_to_shared (to);

  if (BYTES == 16 && !SHARED)
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from)
        : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at),
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
