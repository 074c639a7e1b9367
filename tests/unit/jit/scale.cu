/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What unit-cvisjit and kernels-jit compile at run time. FACTOR comes from the
 * options. */
#include "tests/unit/jit/multiply.cuh"
#include "tests/unit/jit/shared.cuh"

/* out[i] = FACTOR * in[i] + 1 in the place of in[]; one thread for each element */
extern "C" __global__ void
scale (float *data, unsigned n)
{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

  wait_for_previous ();
  if (i < n)
    data[i] = multiply_and_add (data[i]);
}

/* Reverses the thread block's part of data[], by way of shared memory: with four
 * floats of it for each thread. */
extern "C" __global__ void
reverse (float *data)
{
  float *mine = data + (unsigned long long) blockIdx.x * blockDim.x;

  dynamic_shared[4 * threadIdx.x] = mine[threadIdx.x];
  __syncthreads ();
  mine[threadIdx.x] = dynamic_shared[4 * (blockDim.x - 1 - threadIdx.x)];
}
