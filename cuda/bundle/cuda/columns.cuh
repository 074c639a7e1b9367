/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums and maxima of columns, for the kernels of both kinds of cameras. */
#pragma once

#include "cuda/bundle/cuda/engine.cuh"

#ifdef __CUDACC__

/* tests/emulation has its own */
#ifndef BUNDLE_START
#define BUNDLE_START(kernel, grid, threads, stream, ...)                       \
  kernel<<<grid, threads, 0, stream>>> (__VA_ARGS__)
#endif

static inline guint
bundle_blocks_for (gsize n, guint each)
{
  return (guint) ((n + each - 1) / each);
}

namespace {

/* Sums, or maxima, of each of @K columns of @n rows. */
template <int K, bool GREATEST>
__global__ void
reduce_columns (const double *rows, guint32 n, double *out)
{
  const guint32 step = gridDim.x * blockDim.x;
  double values[K] = {};

  for (guint32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
#pragma unroll
    for (int e = 0; e < K; e++) {
      const double value = rows[(gsize) i * K + e];

      values[e] = GREATEST ? fmax (values[e], value) : values[e] + value;
    }
  if constexpr (GREATEST) {
    __shared__ double all[1024];

    all[threadIdx.x] = values[0];
    __syncthreads ();
    if (threadIdx.x == 0) {
      for (int i = 1; i < (int) blockDim.x; i++)
        values[0] = fmax (values[0], all[i]);
      out[blockIdx.x] = values[0];
    }
  } else {
    bundle_block_sum (values);
    if (threadIdx.x == 0)
      for (int e = 0; e < K; e++)
        out[blockIdx.x * K + e] = values[e];
  }
}

template <int K, bool GREATEST>
void
launch_columns (const BundleDevice &d, const double *rows, guint32 n,
    double *out, cudaStream_t stream)
{
  const guint blocks = MIN (BUNDLE_COLUMN_BLOCKS, bundle_blocks_for (n, 256));

  if (blocks == 1) {
    BUNDLE_START ((reduce_columns<K, GREATEST>), 1, 256, stream, rows, n, out);
    return;
  }
  BUNDLE_START ((reduce_columns<K, GREATEST>), blocks, 256, stream, rows, n,
      d.column_sums);
  BUNDLE_START (
      (reduce_columns<K, GREATEST>), 1, 64, stream, d.column_sums, blocks, out);
}

} // namespace

#endif
