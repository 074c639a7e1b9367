/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums of integers over the threads of a kernel; see cuda/core/device/stage.h. */
#pragma once

/* Adds the @mine of the THREADS threads of a block to @sum, with one atomic addition. */
template <int THREADS>
static __device__ void
cvis_block_add (unsigned long long mine, unsigned long long *sum)
{
  __shared__ unsigned long long warps[THREADS / 32];

  for (int other = 16; other > 0; other /= 2)
    mine += __shfl_down_sync (0xffffffff, mine, other);
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = mine;
  __syncthreads ();
  if (threadIdx.x != 0)
    return;
  for (int i = 1; i < THREADS / 32; i++)
    mine += warps[i];
  atomicAdd (sum, mine);
}
