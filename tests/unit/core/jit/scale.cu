/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Source compiled at run time by unit-cvisjit and kernels-jit. The options
 * define FACTOR. */
#include "tests/unit/core/jit/multiply.cuh"
#include "tests/unit/core/jit/shared.cuh"

/* data[i] = FACTOR * data[i] + 1 in place; one thread for each element */
extern "C" __global__ void
scale (float *data, unsigned n)
{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

  wait_for_previous ();
  if (i < n)
    data[i] = multiply_and_add (data[i]);
}

/* Reverses the thread block's part of data[] through shared memory, with
 * four floats for each thread. */
extern "C" __global__ void
reverse (float *data)
{
  float *mine = data + (unsigned long long) blockIdx.x * blockDim.x;

  dynamic_shared[4 * threadIdx.x] = mine[threadIdx.x];
  __syncthreads ();
  mine[threadIdx.x] = dynamic_shared[4 * (blockDim.x - 1 - threadIdx.x)];
}
