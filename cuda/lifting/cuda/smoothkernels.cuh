/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Kernels of the Gaussian filter of order 0 and the undecimated wavelet; also compiled for
 * the CPU by tests/emulation. A thread computes a result, in the order of
 * cuda/lifting/cpu/smoothlines.h, so the bits are the same. Formulas:
 * cuda/lifting/smooth.h.
 *
 * Pictures have rows of any stride; row y of block row b is b, b + gridDim.y, .. */
#pragma once

#include "cuda/lifting/smooth.h"

/* Threads of a block, side by side along x */
#define LWT_SMOOTH_THREADS 256

template <typename T> struct SmoothPicture {
  T *data;
  gsize pitch; /* elements from row to row */
};

/* A sample of a picture, or with @weights instead its weight: 1, and 0 for missing points,
 * which are 0 themselves. @missing: (nullable): a bit for each point, rows of @words. */
template <typename T> struct SmoothSource {
  SmoothPicture<const T> picture;
  const guint32 *missing;
  guint words;
  bool weights;
};

template <typename T>
static __device__ __forceinline__ T
smooth_read (const SmoothSource<T> &from, gint x, gint y)
{
  const bool there =
      from.missing == NULL
      || (from.missing[(gsize) y * from.words + (guint) x / 32] >> (x & 31) & 1)
             == 0;

  if (from.weights)
    return there ? 1 : 0;
  return there ? from.picture.data[(gsize) y * from.picture.pitch + x] : 0;
}

/* --- Gaussian: sums ------------------------------------------------------- */

/**
 * SmoothSums: sums of weighted samples along an axis, 0 beyond the ends
 * @axis: 0 along x
 * @n: samples along the axis
 * @width, @height: of the result
 * Result i is the sum over k of weights[k] times sample i * @stride + @first + k.
 */
template <typename T> struct SmoothSums {
  SmoothSource<T> from;
  SmoothPicture<T> to;
  const T *weights;
  guint axis;
  gint n_weights, stride, first, n;
  gint width, height;
};

template <typename T>
static __device__ __forceinline__ void
smooth_sum_rows (const SmoothSums<T> &task)
{
  const gint x = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x);

  for (gint y = (gint) blockIdx.y; x < task.width && y < task.height;
       y += (gint) gridDim.y) {
    const gint start = (task.axis == 0 ? x : y) * task.stride + task.first;
    const gint low = max (-start, 0);
    const gint high = min (task.n_weights, task.n - start);
    T sum = 0;

    for (gint k = low; k < high; k++)
      sum = fma (task.weights[k],
          task.axis == 0 ? smooth_read (task.from, start + k, y)
                         : smooth_read (task.from, x, start + k),
          sum);
    task.to.data[(gsize) y * task.to.pitch + x] = sum;
  }
}

/* Along x with many weights: 16 threads add the parts of a sum, LWT_SMOOTH_PERIOD, and
 * these as a tree. @task: n_weights is a multiple of LWT_SMOOTH_PERIOD */
template <typename T>
static __device__ __forceinline__ void
smooth_sum_parts (const SmoothSums<T> &task)
{
  const gint thread = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x);
  const gint x = thread / LWT_SMOOTH_PERIOD, part = thread % LWT_SMOOTH_PERIOD;

  for (gint y = (gint) blockIdx.y; y < task.height; y += (gint) gridDim.y) {
    T sum = 0;

    for (gint k = part; k < task.n_weights && x < task.width;
         k += LWT_SMOOTH_PERIOD) {
      const gint at = x * task.stride + task.first + k;

      if (at >= 0 && at < task.n)
        sum = fma (task.weights[k], smooth_read (task.from, at, y), sum);
    }
    for (gint half = LWT_SMOOTH_PERIOD / 2; half > 0; half /= 2)
      sum += __shfl_down_sync (0xffffffff, sum, half);
    if (part == 0 && x < task.width)
      task.to.data[(gsize) y * task.to.pitch + x] = sum;
  }
}

/* --- Gaussian: back to the surface ---------------------------------------- */

/**
 * SmoothWidening: coarse samples spread along an axis; with @by it ends the filter
 * @far, @stride, @period, @n_far: see LwtSmoothLine; @stride 1: samples are there
 * @coarse, @weights: of the samples, and (NULL data) of their weights
 * @inverse: [0] along x, [1] along y, to multiply with; %NULL: not the last step
 */
template <typename T> struct SmoothWidening {
  SmoothPicture<const T> coarse, weights;
  SmoothPicture<T> to;
  const T *far;
  const T *inverse[2];
  guint axis;
  gint stride, period, n_far;
  gint width, height;
};

template <typename T>
static __device__ __forceinline__ T
smooth_widen_one (const SmoothWidening<T> &task,
    const SmoothPicture<const T> &from, gint x, gint y)
{
  const gint i = task.axis == 0 ? x : y;
  const gsize step = task.axis == 0 ? 1 : from.pitch;
  const T *sample =
      from.data
      + (task.axis == 0 ? (gsize) y * from.pitch + (gsize) (i / task.stride)
                        : (gsize) (i / task.stride) * from.pitch + (gsize) x);
  const T *far = task.far + i % task.period;
  T sum = 0;

  if (task.stride == 1)
    return *sample;
  for (gint t = 0; t < task.n_far; t++)
    sum = fma (far[t * task.period], sample[t * step], sum);
  return sum;
}

template <typename T>
static __device__ __forceinline__ void
smooth_widen (const SmoothWidening<T> &task)
{
  const gint x = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x);

  for (gint y = (gint) blockIdx.y; x < task.width && y < task.height;
       y += (gint) gridDim.y) {
    T value = smooth_widen_one (task, task.coarse, x, y);

    if (task.weights.data != NULL) {
      const T weight = smooth_widen_one (task, task.weights, x, y);

      value = weight > 0 ? value / weight : 0;
    } else if (task.inverse[0] != NULL) {
      value = value * task.inverse[0][x] * task.inverse[1][y];
    }
    task.to.data[(gsize) y * task.to.pitch + x] = value;
  }
}

/* --- wavelet -------------------------------------------------------------- */

/**
 * SmoothLevel: a level of the undecimated wavelet along an axis
 * @distance: 2^level; @n: samples along the axis
 * @inverse: of this level; @blend: in the last level, else 0
 */
template <typename T> struct SmoothLevel {
  SmoothSource<T> from;
  SmoothPicture<T> to;
  const T *taps, *inverse;
  guint axis;
  gint n_taps, n;
  long long distance;
  T blend;
  bool last;
  gint width, height;
};

/* Sample @i, 0..n - 1, of the line through (x, y), or 0 beyond. */
template <typename T>
static __device__ __forceinline__ T
smooth_reach (const SmoothLevel<T> &task, const SmoothSource<T> &from,
    long long i, gint x, gint y)
{
  if (i < 0 || i >= task.n)
    return 0;
  return task.axis == 0 ? smooth_read (from, (gint) i, y)
                        : smooth_read (from, x, (gint) i);
}

template <typename T>
static __device__ __forceinline__ T
smooth_sum_pairs (
    const SmoothLevel<T> &task, const SmoothSource<T> &from, gint x, gint y)
{
  const long long i = task.axis == 0 ? x : y;
  T sum = (T) 0.5 * smooth_read (from, x, y);

  for (gint k = 0; k < task.n_taps; k++) {
    const long long d = (2 * k + 1) * task.distance;

    sum = fma (task.taps[k],
        smooth_reach (task, from, i - d, x, y)
            + smooth_reach (task, from, i + d, x, y),
        sum);
  }
  return sum;
}

template <typename T>
static __device__ __forceinline__ void
smooth_run_level (const SmoothLevel<T> &task)
{
  const gint x = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x);
  SmoothSource<T> weights = task.from;

  weights.weights = true;
  for (gint y = (gint) blockIdx.y; x < task.width && y < task.height;
       y += (gint) gridDim.y) {
    const T own = smooth_read (task.from, x, y);
    const T sum = smooth_sum_pairs (task, task.from, x, y);
    const T inverse = task.inverse[task.axis == 0 ? x : y];
    T value = inverse == 0 ? own : sum * inverse;

    if (task.from.missing != NULL) {
      const T weight = smooth_sum_pairs (task, weights, x, y);

      value = smooth_read (weights, x, y) == 0       ? 0
              : weight < (T) LWT_SMOOTH_LEAST_WEIGHT ? own
                                                     : sum / weight;
    }
    if (task.last)
      value = fma (task.blend, own - value, value);
    task.to.data[(gsize) y * task.to.pitch + x] = value;
  }
}

/* --- wavelet: several levels at once -------------------------------------- */

/* Bytes of shared memory of a block: two tiles */
#define LWT_SMOOTH_SHARED 49152

/**
 * SmoothCascade: levels @first to @first + @n_levels - 1 along an axis, without missing
 * points, in a tile in shared memory
 * @lane_bits: columns of a tile: 2^lane_bits; 0 along x
 * @length: samples of a tile along the axis, 2^first apart. @halo samples at each end are
 *   only neighbours: halo = (2 n_taps - 1) (2^n_levels - 1)
 * @inverse: of level @first
 * Block rows along y: tile, and in it the residue of y modulo 2^first; along x: y.
 */
template <typename T> struct SmoothCascade {
  SmoothPicture<const T> from;
  SmoothPicture<T> to;
  const T *taps, *inverse;
  guint axis;
  gint n_taps, n;
  gint first, n_levels;
  gint lane_bits, length, halo;
  T blend;
  bool last; /* the last of these levels is the filter's last */
  gint width, height;
};

/* A level of the tile @a to @b, of the samples that still have all neighbours. @origin:
 * sample of the line at tile position 0; @step: samples from one position to the next */
template <typename T>
static __device__ __forceinline__ void
smooth_tile_level (const SmoothCascade<T> &task, gint level, gint origin,
    gint step, const T *a, T *b)
{
  const gint bits = task.lane_bits, distance = 1 << level;
  const gint edge = (2 * task.n_taps - 1) * (2 * distance - 1);
  const T *inverses = task.inverse + (gsize) level * (gsize) task.n;
  const bool blends = task.last && level + 1 == task.n_levels;

  for (gint e = (edge << bits) + (gint) threadIdx.x;
       e < (task.length - edge) << bits; e += LWT_SMOOTH_THREADS) {
    const gint i = origin + (e >> bits) * step;
    T value = 0;

    if (i >= 0 && i < task.n) {
      const T own = a[e], inverse = inverses[i];
      T sum = (T) 0.5 * own;

      for (gint k = 0; k < task.n_taps; k++) {
        const gint d = (2 * k + 1) * distance << bits;

        sum = fma (task.taps[k], a[e - d] + a[e + d], sum);
      }
      value = inverse == 0 ? own : sum * inverse;
      if (blends)
        value = fma (task.blend, own - value, value);
    }
    b[e] = value;
  }
}

template <typename T>
static __device__ __forceinline__ void
smooth_run_cascade (const SmoothCascade<T> &task, T *shared)
{
  const gint bits = task.lane_bits, inner = task.length - 2 * task.halo;
  const gint step = 1 << task.first;
  const gint tiles = (task.n + inner * step - 1) / (inner * step);
  const gint rows = task.axis == 0 ? task.height : tiles * step;
  const gint size = task.length << bits, mask = (1 << bits) - 1;

  for (gint row = (gint) blockIdx.y; row < rows; row += (gint) gridDim.y) {
    const gint column = task.axis == 0 ? 0 : (gint) blockIdx.x << bits;
    const gint residue = task.axis == 0 ? 0 : row % step;
    const gint tile = task.axis == 0 ? (gint) blockIdx.x : row / step;
    const gint origin = residue + (tile * inner - task.halo) * step;
    T *a = shared, *b = shared + size;

    for (gint e = (gint) threadIdx.x; e < size; e += LWT_SMOOTH_THREADS) {
      const gint i = origin + (e >> bits) * step, x = column + (e & mask);

      a[e] = i < 0 || i >= task.n || (task.axis == 1 && x >= task.width) ? (T) 0
             : task.axis == 0
                 ? task.from.data[(gsize) row * task.from.pitch + i]
                 : task.from.data[(gsize) i * task.from.pitch + x];
    }
    __syncthreads ();
    for (gint level = 0; level < task.n_levels; level++) {
      T *other = a;

      smooth_tile_level (task, level, origin, step, a, b);
      __syncthreads ();
      a = b;
      b = other;
    }
    for (gint e = (task.halo << bits) + (gint) threadIdx.x;
         e < (task.length - task.halo) << bits; e += LWT_SMOOTH_THREADS) {
      const gint i = origin + (e >> bits) * step, x = column + (e & mask);

      if (i < task.n && (task.axis == 0 || x < task.width))
        task.to.data[task.axis == 0 ? (gsize) row * task.to.pitch + i
                                    : (gsize) i * task.to.pitch + x] = a[e];
    }
    __syncthreads ();
  }
}
