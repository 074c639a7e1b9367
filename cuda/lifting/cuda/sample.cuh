/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by the lifting engine's kernels. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/lifting/arithmetic.h"

#define LWT_ALL_LANES 0xffffffffu

static __device__ __forceinline__ float
lwt_fma (float a, float b, float c)
{
  return fmaf (a, b, c);
}

static __device__ __forceinline__ double
lwt_fma (double a, double b, double c)
{
  return fma (a, b, c);
}

template <typename T> constexpr bool lwt_is_integer = (T) 0.5 == 0;

/* The float or double with these bits */
template <typename T>
static __device__ __forceinline__ T
lwt_from_bits (guint32 of_float, guint64 of_double)
{
  if constexpr (sizeof (T) == sizeof (float))
    return __uint_as_float (of_float);
  else
    return __longlong_as_double ((long long) of_double);
}

/* A thread a sample, blocks of 32 x 8 */
static const dim3 lwt_block (32, 8);

static inline dim3
lwt_grid (guint width, guint height)
{
  return dim3 ((width + 31) / 32, MIN ((height + 7) / 8, 32768u));
}

/* Calls f (x, y) for a thread's samples of a picture. */
template <typename F>
static __device__ __forceinline__ void
lwt_each_sample (guint width, guint height, F f)
{
  const guint x = blockIdx.x * blockDim.x + threadIdx.x;

  for (guint y = blockIdx.y * blockDim.y + threadIdx.y; x < width && y < height;
       y += gridDim.y * blockDim.y)
    f (x, y);
}

/* Launches KERNEL for float or double samples. Returns: an error of the launch */
#define LWT_LAUNCH(lwt_type, KERNEL, grid, block, stream, ...)                 \
  ((lwt_type) == LWT_TYPE_F64                                                  \
          ? KERNEL<gdouble><<<grid, block, 0, stream>>> (__VA_ARGS__)          \
          : KERNEL<gfloat><<<grid, block, 0, stream>>> (__VA_ARGS__),          \
      cudaGetLastError ())

/* Calls RUN with the type of the samples that come in. */
#define LWT_BY_SAMPLE(sample, RUN, ...)                                        \
  ((sample) == LWT_SAMPLE_F32      ? RUN<gfloat> (__VA_ARGS__)                 \
      : (sample) == LWT_SAMPLE_F64 ? RUN<gdouble> (__VA_ARGS__)                \
      : (sample) == LWT_SAMPLE_I32 ? RUN<gint32> (__VA_ARGS__)                 \
      : (sample) == LWT_SAMPLE_U8  ? RUN<guint8> (__VA_ARGS__)                 \
                                   : RUN<guint16> (__VA_ARGS__))

/* --- missing points ------------------------------------------------------
 * A NaN with a bit pattern that device arithmetic does not produce. */
template <typename T>
static __device__ __forceinline__ T
lwt_gone (void)
{
  return lwt_from_bits<T> (0x7fc0dead, 0x7ff8dead0000deadull);
}

static __device__ __forceinline__ bool
lwt_is_gone (float x)
{
  return __float_as_int (x) == 0x7fc0dead;
}

static __device__ __forceinline__ bool
lwt_is_gone (double x)
{
  return __double_as_longlong (x) == 0x7ff8dead0000deadLL;
}

/* The NaN written to components. */
template <typename T>
static __device__ __forceinline__ T
lwt_nan (void)
{
  return lwt_from_bits<T> (0x7fc00000, 0x7ff8000000000000ull);
}

template <typename T>
static __device__ __forceinline__ bool
lwt_is_finite (T x)
{
  return true;
}

template <>
__device__ __forceinline__ bool
lwt_is_finite<float> (float x)
{
  return (__float_as_uint (x) & 0x7f800000u) != 0x7f800000u;
}

template <>
__device__ __forceinline__ bool
lwt_is_finite<double> (double x)
{
  return (__double2hiint (x) & 0x7ff00000) != 0x7ff00000;
}

/* Words of missing bits in a row */
static __host__ __device__ __forceinline__ guint
lwt_words (guint width)
{
  return (width + 31) / 32;
}

static __device__ __forceinline__ bool
lwt_is_missing (const guint32 *missing, guint words, guint x, guint y)
{
  return missing[(gsize) y * words + x / 32] >> (x % 32) & 1;
}

/* --- rows of pictures ------------------------------------------------------------ */

template <typename T>
static __device__ __forceinline__ T *
lwt_row (void *data, gsize stride, guint y)
{
  return (T *) ((guint8 *) data + (gsize) y * stride);
}

template <typename T>
static __device__ __forceinline__ const T *
lwt_row (const void *data, gsize stride, guint y)
{
  return (const T *) ((const guint8 *) data + (gsize) y * stride);
}

/* --- sums ------------------------------------------------------------------------ */

/* Sums the lanes in the order of lwt_sum_lanes(); the result is in lane 0. */
static __device__ __forceinline__ gdouble
lwt_sum_warp (gdouble sum)
{
#pragma unroll
  for (int half = LWT_LANES / 2; half > 0; half /= 2)
    sum += __shfl_down_sync (LWT_ALL_LANES, sum, half);
  return sum;
}

/* Rows that a lane loads before it adds the first one */
#define LWT_ROW_BATCH 16

/* Calls add (value, factor) for this lane's rows in order. Loads run ahead
 * of the additions, to hide latency. */
template <typename Add>
static __device__ __forceinline__ void
lwt_each_row (const gdouble *rows, const gdouble *factors, guint n, Add add)
{
  for (guint first = threadIdx.x; first < n; first += 32 * LWT_ROW_BATCH) {
    gdouble values[LWT_ROW_BATCH], by[LWT_ROW_BATCH];

#pragma unroll
    for (guint i = 0; i < LWT_ROW_BATCH; i++) {
      values[i] = rows[MIN (first + 32 * i, n - 1)];
      by[i] = factors[MIN (first + 32 * i, n - 1)];
    }
#pragma unroll
    for (guint i = 0; i < LWT_ROW_BATCH; i++)
      if (first + 32 * i < n)
        add (values[i], by[i]);
  }
}
