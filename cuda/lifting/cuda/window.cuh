/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The sliding window of rows that columns are lifted in (LwtDelays). */
#pragma once

#include "cuda/lifting/cuda/shape.cuh"

/* The rows that are kept of C columns, newest first. */
template <class Order, int C> struct LwtWindow {
  float low[LwtMarch<Order>::low_rows][C];
  float high[LwtMarch<Order>::high_rows][C];

  template <int ODD>
  __device__ __forceinline__ float *
  row (int i)
  {
    return ODD ? high[i] : low[i];
  }

  __device__ __forceinline__ void
  clear ()
  {
#pragma unroll
    for (int i = 0; i < LwtMarch<Order>::low_rows; i++)
#pragma unroll
      for (int c = 0; c < C; c++)
        low[i][c] = 0.0f;
#pragma unroll
    for (int i = 0; i < LwtMarch<Order>::high_rows; i++)
#pragma unroll
      for (int c = 0; c < C; c++)
        high[i][c] = 0.0f;
  }

  /* Makes room for the next pair, row 0 of each. */
  __device__ __forceinline__ void
  advance ()
  {
#pragma unroll
    for (int i = LwtMarch<Order>::low_rows - 1; i > 0; i--)
#pragma unroll
      for (int c = 0; c < C; c++)
        low[i][c] = low[i - 1][c];
#pragma unroll
    for (int i = LwtMarch<Order>::high_rows - 1; i > 0; i--)
#pragma unroll
      for (int c = 0; c < C; c++)
        high[i][c] = high[i - 1][c];
  }
};
