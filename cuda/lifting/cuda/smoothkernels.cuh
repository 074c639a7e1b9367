/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Kernels of the Gaussian filter of order 0 and the undecimated wavelet; also compiled for
 * the CPU by tests/emulation. Sums run in the order of cuda/lifting/cpu/smoothlines.h, so
 * the bits are the same. Formulas: cuda/lifting/smooth.h.
 *
 * Pictures have rows of any stride. Row y of block row b is b, b + gridDim.y, ..; with
 * several rows a thread, groups of rows. */
#pragma once

#include "cuda/lifting/polynomial.h"
#include "cuda/lifting/smooth.h"

/* Threads of a block, side by side along x */
#define LWT_SMOOTH_THREADS 256

template <typename T> struct SmoothPicture {
  T *data;
  gsize pitch; /* elements from row to row */
};

template <typename T>
static __device__ __forceinline__ T &
smooth_at (const SmoothPicture<T> &picture, gint x, gint y)
{
  return picture.data[(gsize) y * picture.pitch + (gsize) x];
}

/* Four samples of a row, the first one at a multiple of four */
template <typename T> struct alignas (16) SmoothQuad {
  T v[4];
};

template <typename T>
static __device__ __forceinline__ SmoothQuad<T>
smooth_load_quad (const T *from)
{
  return *(const SmoothQuad<T> *) from;
}

template <typename T>
static __device__ __forceinline__ void
smooth_store_quad (T *to, const SmoothQuad<T> &quad)
{
  *(SmoothQuad<T> *) to = quad;
}

/* Copies four samples to shared memory, without waiting where the device can. */
template <typename T>
static __device__ __forceinline__ void
smooth_copy_quad (const T *from, T *to)
{
#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  for (guint i = 0; i < sizeof (SmoothQuad<T>); i += 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     (guint) __cvta_generic_to_shared (to) + i),
                 "l"((const guint8 *) from + i)
                 : "memory");
#else
  smooth_store_quad (to, smooth_load_quad (from));
#endif
}

/* Waits for the copies of this thread. */
static __device__ __forceinline__ void
smooth_wait_for_copies (void)
{
#if defined(__CUDACC__) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Whether a point is there. @missing: (nullable): a bit for each point, rows of @words */
static __device__ __forceinline__ bool
smooth_is_there (const guint32 *missing, guint words, gint x, gint y)
{
  return missing == NULL
         || (missing[(gsize) y * words + (guint) x / 32] >> (x & 31) & 1) == 0;
}

/* A sample of a picture, or with @weights instead its weight: 1, and 0 for missing points,
 * which are 0 themselves. */
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
  const bool there = smooth_is_there (from.missing, from.words, x, y);

  if (from.weights)
    return there ? 1 : 0;
  return there ? smooth_at (from.picture, x, y) : 0;
}

/* The same; without @HOLES no point is missing, and samples are wanted. */
template <bool HOLES, typename T>
static __device__ __forceinline__ T
smooth_fetch (const SmoothSource<T> &from, gint x, gint y)
{
  return HOLES ? smooth_read (from, x, y) : smooth_at (from.picture, x, y);
}

/* Without missing points, samples that are not finite are noted where they are read. */
template <typename T>
static __device__ __forceinline__ void
smooth_check (T value, guint32 *not_finite)
{
  if (!(value - value == 0) && not_finite != NULL)
    *not_finite = 1;
}

/* --- components ----------------------------------------------------------- */

/**
 * SmoothOutput: what is made of a low-pass; %NULL data: not wanted
 * @difference: @before, which is x, minus the low-pass
 * @next: the low-pass minus the one after it, @after
 * @form: the low-pass, plus P - p[0] if there is a @polynomial
 * @low: the low-pass
 */
template <typename T> struct SmoothOutput {
  SmoothPicture<const T> before, after;
  SmoothPicture<T> difference, next, form, low;
  const guint32 *missing;
  guint words;
  const gdouble *polynomial;
  gint width, height;
};

template <typename T>
static __device__ __forceinline__ T
smooth_add_form (const SmoothOutput<T> &to, gint x, gint y, T value)
{
  return to.polynomial == NULL
             ? value
             : (T) ((gdouble) value
                    + lwt_tail (to.polynomial,
                        lwt_centred ((guint) x, (guint) to.width),
                        lwt_centred ((guint) y, (guint) to.height)));
}

template <typename T>
static __device__ __forceinline__ void
smooth_put (const SmoothOutput<T> &to, gint x, gint y, T value)
{
  const bool there = smooth_is_there (to.missing, to.words, x, y);

  if (to.difference.data != NULL)
    smooth_at (to.difference, x, y) =
        there ? smooth_at (to.before, x, y) - value : (T) NAN;
  if (to.next.data != NULL)
    smooth_at (to.next, x, y) =
        there ? value - smooth_at (to.after, x, y) : (T) NAN;
  if (to.low.data != NULL)
    smooth_at (to.low, x, y) = value;
  if (to.form.data != NULL)
    smooth_at (to.form, x, y) =
        there ? smooth_add_form (to, x, y, value) : (T) NAN;
}

/* Samples of before and after */
template <typename T> struct SmoothBeside {
  SmoothQuad<T> before, after;
};

/* Reads early what smooth_put_quad() needs. */
template <typename T>
static __device__ __forceinline__ SmoothBeside<T>
smooth_load_beside (const SmoothOutput<T> &to, gint x, gint y)
{
  const bool whole = to.missing == NULL && x + 4 <= to.width;
  SmoothBeside<T> beside = { { { 0, 0, 0, 0 } }, { { 0, 0, 0, 0 } } };

  if (whole && to.difference.data != NULL)
    beside.before = smooth_load_quad (&smooth_at (to.before, x, y));
  if (whole && to.next.data != NULL)
    beside.after = smooth_load_quad (&smooth_at (to.after, x, y));
  return beside;
}

/* smooth_put() for four points, as many as there are. @beside: of smooth_load_beside() */
template <typename T>
static __device__ __forceinline__ void
smooth_put_quad (const SmoothOutput<T> &to, gint x, gint y, SmoothQuad<T> value,
    SmoothBeside<T> beside)
{
  if (to.missing != NULL || x + 4 > to.width) {
    for (gint j = 0; j < 4; j++)
      if (x + j < to.width)
        smooth_put (to, x + j, y, value.v[j]);
    return;
  }
  for (gint j = 0; j < 4; j++) {
    beside.before.v[j] -= value.v[j];
    beside.after.v[j] = value.v[j] - beside.after.v[j];
  }
  if (to.difference.data != NULL)
    smooth_store_quad (&smooth_at (to.difference, x, y), beside.before);
  if (to.next.data != NULL)
    smooth_store_quad (&smooth_at (to.next, x, y), beside.after);
  if (to.low.data != NULL)
    smooth_store_quad (&smooth_at (to.low, x, y), value);
  if (to.form.data == NULL)
    return;
  for (gint j = 0; j < 4; j++)
    value.v[j] = smooth_add_form (to, x + j, y, value.v[j]);
  smooth_store_quad (&smooth_at (to.form, x, y), value);
}

/* Components of a low-pass that is in memory. @weights: (NULL data): to divide it by */
template <typename T> struct SmoothCopy {
  SmoothPicture<const T> from, weights;
  SmoothOutput<T> to;
  guint32 *not_finite;
};

/* A low-pass of weighted samples divided by that of the weights. Where these add up to
 * little, the rest of the least weight is that of the point itself, @own. */
template <typename T>
static __device__ __forceinline__ T
smooth_settle (T value, T weight, T own)
{
  const T rest = (T) LWT_SMOOTH_LEAST_WEIGHT - weight;
  const T add = rest > 0 ? rest : 0;

  return fma (add, own, value) / (weight + add);
}

template <typename T>
static __device__ __forceinline__ void
smooth_copy (const SmoothCopy<T> &task)
{
  const gint x = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x);

  for (gint y = (gint) blockIdx.y; x < task.to.width && y < task.to.height;
       y += (gint) gridDim.y) {
    T value = smooth_at (task.from, x, y);

    if (task.weights.data != NULL)
      value = smooth_settle (value, smooth_at (task.weights, x, y),
          smooth_at (task.to.before, x, y));
    smooth_check (value, task.not_finite);
    smooth_put (task.to, x, y, value);
  }
}

/* Weights of the points of a picture, whose missing ones become 0 */
template <typename T> struct SmoothWeights {
  SmoothPicture<T> picture, weights;
  const guint32 *missing;
  guint words;
  gint width, height;
};

template <typename T>
static __device__ __forceinline__ void
smooth_weigh (const SmoothWeights<T> &task)
{
  const gint x = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x);

  for (gint y = (gint) blockIdx.y; x < task.width && y < task.height;
       y += (gint) gridDim.y) {
    const bool there = smooth_is_there (task.missing, task.words, x, y);

    smooth_at (task.weights, x, y) = there ? 1 : 0;
    if (!there)
      smooth_at (task.picture, x, y) = 0;
  }
}

/* --- Gaussian: sums ------------------------------------------------------- */

/* Rows of a thread; they share the weights that it loads */
#define LWT_SMOOTH_ROWS 4

/**
 * SmoothSums: sums of weighted samples along an axis, 0 beyond the ends
 * @axis: 0 along x
 * @n: samples along the axis
 * @width, @height: of the result
 * @not_finite: (nullable): see smooth_check()
 * Result i is the sum over k of weights[k] times sample i * @stride + @first + k.
 */
template <typename T> struct SmoothSums {
  SmoothSource<T> from;
  SmoothPicture<T> to;
  const T *weights;
  guint axis;
  gint n_weights, stride, first, n;
  gint width, height;
  guint32 *not_finite;
};

template <typename T, bool HOLES>
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

#pragma unroll 8
    for (gint k = low; k < high; k++)
      sum = fma (task.weights[k],
          task.axis == 0 ? smooth_fetch<HOLES> (task.from, start + k, y)
                         : smooth_fetch<HOLES> (task.from, x, start + k),
          sum);
    smooth_check (sum, task.not_finite);
    smooth_at (task.to, x, y) = sum;
  }
}

/* Along x with many weights: 16 threads add the parts of a sum, LWT_SMOOTH_PERIOD, and
 * these as a tree. @task: n_weights is a multiple of LWT_SMOOTH_PERIOD */
template <typename T, bool HOLES>
static __device__ __forceinline__ void
smooth_sum_parts (const SmoothSums<T> &task)
{
  const gint thread = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x);
  const gint x = thread / LWT_SMOOTH_PERIOD, part = thread % LWT_SMOOTH_PERIOD;
  const gint start = x * task.stride + task.first + part;
  /* terms part + 16 i of the sum exist for i from low to high - 1 */
  const gint low = max (-start + LWT_SMOOTH_PERIOD - 1, 0) / LWT_SMOOTH_PERIOD;
  const gint high = x < task.width ? min (task.n_weights,
                                         task.n - start + LWT_SMOOTH_PERIOD - 1)
                                         / LWT_SMOOTH_PERIOD
                                   : 0;

  for (gint y = (gint) blockIdx.y * LWT_SMOOTH_ROWS; y < task.height;
       y += (gint) gridDim.y * LWT_SMOOTH_ROWS) {
    T sums[LWT_SMOOTH_ROWS] = { 0 };

#pragma unroll 2
    for (gint i = low; i < high; i++) {
      const gint k = i * LWT_SMOOTH_PERIOD;
      const T weight = task.weights[part + k];

#pragma unroll
      for (gint r = 0; r < LWT_SMOOTH_ROWS; r++)
        sums[r] = fma (weight,
            smooth_fetch<HOLES> (
                task.from, start + k, min (y + r, task.height - 1)),
            sums[r]);
    }
#pragma unroll
    for (gint r = 0; r < LWT_SMOOTH_ROWS; r++) {
      for (gint half = LWT_SMOOTH_PERIOD / 2; half > 0; half /= 2)
        sums[r] += __shfl_down_sync (0xffffffff, sums[r], half);
      if (part == 0 && x < task.width && y + r < task.height) {
        smooth_check (sums[r], task.not_finite);
        smooth_at (task.to, x, y + r) = sums[r];
      }
    }
  }
}

/* --- Gaussian: back to the surface ---------------------------------------- */

/* Weights of a sample at most: 5.3 deviations of 0.985 coarse samples on both sides */
#define LWT_SMOOTH_FAR 13

/**
 * SmoothWidening: coarse samples spread along an axis
 * @far, @period, @n_far: see LwtSmoothLine; its stride is 2^@stride_bits, 1: samples are
 *   there
 * @coarse, @weights: of the samples, and (NULL data) of their weights
 * @inverse: [0] along x, [1] along y, to multiply with if there are no weights
 * @to: along y;  @output: along x, which ends the filter
 */
template <typename T> struct SmoothWidening {
  SmoothPicture<const T> coarse, weights;
  SmoothPicture<T> to;
  SmoothOutput<T> output;
  const T *far;
  const T *inverse[2];
  gint stride_bits, period, n_far;
  gint width, height;
};

template <typename T>
static __device__ __forceinline__ void
smooth_widen_columns (const SmoothWidening<T> &task)
{
  const gint x = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x);

  for (gint y = (gint) blockIdx.y; x < task.width && y < task.height;
       y += (gint) gridDim.y) {
    const T *coarse = &smooth_at (task.coarse, x, y >> task.stride_bits);
    const T *far = task.far + (y & (task.period - 1));
    T sum = 0;

#pragma unroll
    for (gint t = 0; t < LWT_SMOOTH_FAR; t++)
      if (t < task.n_far)
        sum = fma (
            far[t * task.period], coarse[(gsize) t * task.coarse.pitch], sum);
    smooth_at (task.to, x, y) = sum;
  }
}

/* Four samples from @x on, which have the same coarse samples. @far: their weights */
template <typename T, gint FAR>
static __device__ __forceinline__ SmoothQuad<T>
smooth_widen_quad (const SmoothPicture<const T> &coarse, gint x, gint y,
    gint stride_bits, const SmoothQuad<T> far[FAR])
{
  const T *from = &smooth_at (coarse, x >> stride_bits, y);
  SmoothQuad<T> sum = { { 0, 0, 0, 0 } };

  if (stride_bits == 0)
    return smooth_load_quad (from);
#pragma unroll
  for (gint t = 0; t < FAR; t++)
    for (gint j = 0; j < 4; j++)
      sum.v[j] = fma (far[t].v[j], from[t], sum.v[j]);
  return sum;
}

/* A thread takes the rows of four columns. @FAR: n_far, except with a stride of 1 */
template <typename T, gint FAR>
static __device__ __forceinline__ void
smooth_widen_rows (const SmoothWidening<T> &task)
{
  const gint x = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x) * 4;
  SmoothQuad<T> far[FAR], inverse;

  if (x >= task.width)
    return;
#pragma unroll
  for (gint t = 0; t < FAR; t++)
    for (gint j = 0; j < 4; j++)
      far[t].v[j] =
          task.stride_bits == 0
              ? 0
              : task.far[t * task.period + ((x + j) & (task.period - 1))];
  for (gint j = 0; j < 4; j++)
    inverse.v[j] = task.inverse[0][min (x + j, task.width - 1)];
  for (gint y = (gint) blockIdx.y; y < task.height; y += (gint) gridDim.y) {
    const T along_y = task.inverse[1][y];
    const SmoothBeside<T> beside = smooth_load_beside (task.output, x, y);
    SmoothQuad<T> value =
        smooth_widen_quad<T, FAR> (task.coarse, x, y, task.stride_bits, far);

    if (task.weights.data != NULL) {
      const SmoothQuad<T> weight =
          smooth_widen_quad<T, FAR> (task.weights, x, y, task.stride_bits, far);

      for (gint j = 0; j < 4; j++)
        value.v[j] = weight.v[j] > 0 ? value.v[j] / weight.v[j] : 0;
    } else {
      for (gint j = 0; j < 4; j++)
        value.v[j] = value.v[j] * inverse.v[j] * along_y;
    }
    smooth_put_quad (task.output, x, y, value, beside);
  }
}

/* --- wavelet: a level of any number of taps --------------------------------- */

/**
 * SmoothLevel: a level of the undecimated wavelet along an axis
 * @distance: 2^level; @n: samples along the axis
 * @blend: in the last level
 */
template <typename T> struct SmoothLevel {
  SmoothPicture<const T> from;
  SmoothPicture<T> to;
  const T *taps;
  guint axis;
  gint n_taps, n;
  gint64 distance;
  T blend;
  bool last;
  gint width, height;
  guint32 *not_finite;
};

/* Sample @i of the line through (x, y) */
template <typename T>
static __device__ __forceinline__ T
smooth_reach (const SmoothLevel<T> &task, gint64 i, gint x, gint y)
{
  const gint at = (gint) lwt_smooth_mirror (i, task.n);

  return task.axis == 0 ? smooth_at (task.from, at, y)
                        : smooth_at (task.from, x, at);
}

template <typename T>
static __device__ __forceinline__ void
smooth_run_level (const SmoothLevel<T> &task)
{
  const gint x = (gint) (blockIdx.x * LWT_SMOOTH_THREADS + threadIdx.x);

  for (gint y = (gint) blockIdx.y; x < task.width && y < task.height;
       y += (gint) gridDim.y) {
    const gint64 i = task.axis == 0 ? x : y;
    const T own = smooth_at (task.from, x, y);
    T value = (T) 0.5 * own;

    for (gint k = 0; k < task.n_taps; k++) {
      const gint64 d = (2 * k + 1) * task.distance;

      value = fma (task.taps[k],
          smooth_reach (task, i - d, x, y) + smooth_reach (task, i + d, x, y),
          value);
    }
    smooth_check (own, task.not_finite);
    if (task.last)
      value = fma (task.blend, own - value, value);
    smooth_at (task.to, x, y) = value;
  }
}

/* --- wavelet: several levels along x in shared memory --------------------- */

/* Bytes of shared memory of a block at most: two tiles */
#define LWT_SMOOTH_SHARED 57344
/* Levels at once, by LANE_BITS */
#define LWT_SMOOTH_LEVELS(bits) ((bits) == 0 ? 6 : 3)
/* Results in a row of a thread, 2^level samples apart. An odd number, so that the threads
 * of a warp read different banks. */
#define LWT_SMOOTH_RUN 7
#define LWT_SMOOTH_LANE_BITS 3

/* A low-pass that ends with @level of these levels, or with raw = true their input for the
 * next ones. @blend: see LwtSmoothLine */
template <typename T> struct SmoothEnd {
  SmoothPicture<T> to;
  gint level;
  T blend;
  bool raw;
};

/**
 * SmoothCascade: levels @first to @first + @n_levels - 1 along x.
 * A tile has 2^LANE_BITS lines, with LANE_BITS 0 a single one. A line is every
 * 2^@first-th sample of a row; the lines of a tile begin at adjacent samples.
 * @n: samples of a row
 * @length: samples of a tile's line, @inner results and @halo neighbours at each end, all
 *   multiples of four; beyond the row samples are mirrored
 * @tiles: of a row
 */
template <typename T> struct SmoothCascade {
  SmoothPicture<const T> from;
  const T *taps;
  gint n;
  gint first, n_levels;
  gint length, inner, halo, tiles;
  guint n_ends;
  SmoothEnd<T> ends[4];
  gint height;
  guint32 *not_finite;
};

/* Lines of a tile: sample p is sample origin + p * step of row @y. It exists for p from
 * low to high - 1. */
struct SmoothLines {
  gint y;
  gint origin, step;
  gint low, high;
};

/* The line of lane @lane in tile @column of block row @row. */
template <gint BITS, typename T>
static __device__ __forceinline__ SmoothLines
smooth_find_lines (
    const SmoothCascade<T> &task, gint column, gint row, gint lane)
{
  const gint step = 1 << task.first;
  const gint residue = BITS == 0 ? 0 : (column << BITS & (step - 1)) + lane;
  const gint tile =
      (BITS == 0 ? column : (column << BITS) >> task.first) * task.inner
      - task.halo;

  return { row, residue + tile * step, step, max (-tile, 0),
    min (((task.n - residue + step - 1) >> task.first) - tile, task.length) };
}

/* LWT_SMOOTH_RUN results from p on, D = 2^level positions apart. Reads beyond the tile for
 * those from @high on, which are not wanted. */
template <typename T, gint TAPS, gint BITS, gint D>
static __device__ __forceinline__ void
smooth_tile_run (
    const T taps[TAPS], gint p, gint lane, gint high, const T *a, T *b)
{
  const gint reach = 2 * TAPS - 1;
  const bool whole = p + (LWT_SMOOTH_RUN - 1) * D < high;
  T x[LWT_SMOOTH_RUN + 2 * reach];

  a += (p << BITS) + lane;
  b += (p << BITS) + lane;
#pragma unroll
  for (gint k = 0; k < LWT_SMOOTH_RUN + 2 * reach; k++)
    x[k] = a[(k - reach) * D * (1 << BITS)];
#pragma unroll
  for (gint j = 0; j < LWT_SMOOTH_RUN; j++) {
    T sum = (T) 0.5 * x[j + reach];

#pragma unroll
    for (gint k = 0; k < TAPS; k++)
      sum = fma (
          taps[k], x[j + reach - 2 * k - 1] + x[j + reach + 2 * k + 1], sum);
    if (whole || p + j * D < high)
      b[j * D << BITS] = sum;
  }
}

/* A level of the tile @a to @b. */
template <typename T, gint TAPS, gint BITS, gint D>
static __device__ __forceinline__ void
smooth_tile_level (
    const SmoothCascade<T> &task, const T taps[TAPS], const T *a, T *b)
{
  /* the samples from here to the other end have all neighbours in the tile */
  const gint edge = (2 * TAPS - 1) * (2 * D - 1);
  const gint high = task.length - edge;
  const gint lane = (gint) threadIdx.x & ((1 << BITS) - 1);
  const gint run = (gint) threadIdx.x >> BITS;

  for (gint p = edge + run % D + run / D * (D * LWT_SMOOTH_RUN); p < high;
       p += (LWT_SMOOTH_THREADS >> BITS) * LWT_SMOOTH_RUN)
    smooth_tile_run<T, TAPS, BITS, D> (taps, p, lane, high, a, b);
}

/* Four samples of a row that are side by side in a tile: the @k-th that the thread takes
 * from position @low on, a multiple of four along a row
 * @p: position of the first; @e: element of the tile */
struct SmoothSpot {
  gint p, e, x;
};

/* @lines: of the first of the four */
template <gint BITS, typename T>
static __device__ __forceinline__ SmoothSpot
smooth_find_spot (
    const SmoothCascade<T> &task, const SmoothLines &lines, gint low, gint k)
{
  const gint lane = (gint) threadIdx.x * 4 & ((1 << BITS) - 1);
  const gint p =
      low + (((gint) threadIdx.x + k * LWT_SMOOTH_THREADS) * 4 >> BITS);

  return { p, (p << BITS) + lane, lines.origin + p * lines.step };
}

/* Reads a tile. */
template <gint BITS, typename T>
static __device__ __forceinline__ void
smooth_load_tile (const SmoothCascade<T> &task, const SmoothLines &lines, T *a)
{
#pragma unroll 4
  for (gint k = 0;; k++) {
    const SmoothSpot spot = smooth_find_spot<BITS> (task, lines, lines.low, k);
    const T *from = &smooth_at (task.from, spot.x, lines.y);

    if (spot.p >= lines.high)
      break;
    if (spot.x + 4 <= task.n)
      smooth_copy_quad (from, a + spot.e);
    else
      for (gint j = 0; j < task.n - spot.x; j++)
        a[spot.e + j] = from[j];
  }
  smooth_wait_for_copies ();
}

/* Reads the samples of a tile that are beyond the row. @lines: of lane @lane */
template <gint BITS, typename T>
static __device__ __forceinline__ void
smooth_mirror_margins (
    const SmoothCascade<T> &task, const SmoothLines &lines, gint lane, T *tile)
{
  const gint step = LWT_SMOOTH_THREADS >> BITS;
  const gint high = max (lines.high, 0);

  for (gint p = (gint) threadIdx.x >> BITS; p < task.length; p += step)
    if (p < lines.low || p >= high)
      tile[(p << BITS) + lane] = smooth_at (task.from,
          (gint) lwt_smooth_mirror (lines.origin + p * lines.step, task.n),
          lines.y);
}

/* Writes the results of a level from @a to @b. A sample that is not finite makes the
 * results at its place so. */
template <gint BITS, typename T>
static __device__ __forceinline__ void
smooth_store_tile (const SmoothCascade<T> &task, const SmoothEnd<T> &end,
    const SmoothLines &lines, const T *a, const T *b)
{
  const gint high = min (lines.high, task.halo + task.inner);
  T check = 0; /* stays 0 unless a result is not finite */

#pragma unroll 2
  for (gint k = 0;; k++) {
    const SmoothSpot spot = smooth_find_spot<BITS> (task, lines, task.halo, k);
    SmoothQuad<T> own, value;

    if (spot.p >= high)
      break;
    own = smooth_load_quad (a + spot.e);
    value = smooth_load_quad (b + spot.e);
    for (gint j = 0; j < 4; j++) {
      if (!end.raw)
        value.v[j] = fma (end.blend, own.v[j] - value.v[j], value.v[j]);
      check += spot.x + j < task.n ? value.v[j] - value.v[j] : (T) 0;
    }
    /* rows of work memory are longer than they are wide */
    smooth_store_quad (&smooth_at (end.to, spot.x, lines.y), value);
  }
  smooth_check (check, task.not_finite);
}

/* @task: taps of 0 follow the line's up to TAPS */
template <typename T, gint TAPS, gint BITS>
static __device__ __forceinline__ void
smooth_run_cascade (const SmoothCascade<T> &task, T *shared)
{
  const gint lane = (gint) threadIdx.x & ((1 << BITS) - 1);
  T taps[TAPS];

  for (gint k = 0; k < TAPS; k++)
    taps[k] = task.taps[k];
  for (gint row = (gint) blockIdx.y; row < task.height;
       row += (gint) gridDim.y) {
    const SmoothLines lines =
        smooth_find_lines<BITS> (task, (gint) blockIdx.x, row, lane);
    const SmoothLines quads = smooth_find_lines<BITS> (task, (gint) blockIdx.x,
        row, (gint) threadIdx.x * 4 & ((1 << BITS) - 1));
    T *a = shared, *b = shared + ((gsize) task.length << BITS);

    smooth_load_tile<BITS> (task, quads, a);
    smooth_mirror_margins<BITS> (task, lines, lane, a);
    __syncthreads ();
    for (gint level = 0; level < task.n_levels; level++) {
      T *other = a;
      bool ends = false;

      if (level == 0)
        smooth_tile_level<T, TAPS, BITS, 1> (task, taps, a, b);
      else if (level == 1)
        smooth_tile_level<T, TAPS, BITS, 2> (task, taps, a, b);
      else if (level == 2)
        smooth_tile_level<T, TAPS, BITS, 4> (task, taps, a, b);
      else if (BITS == 0 && level == 3)
        smooth_tile_level<T, TAPS, BITS, 8> (task, taps, a, b);
      else if (BITS == 0 && level == 4)
        smooth_tile_level<T, TAPS, BITS, 16> (task, taps, a, b);
      else if (BITS == 0)
        smooth_tile_level<T, TAPS, BITS, 32> (task, taps, a, b);
      __syncthreads ();
      for (guint i = 0; i < task.n_ends; i++)
        if (task.ends[i].level == level) {
          smooth_store_tile<BITS> (task, task.ends[i], quads, a, b);
          ends = true;
        }
      if (ends)
        __syncthreads ();
      a = b;
      b = other;
    }
  }
}
