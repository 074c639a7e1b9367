/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Kernel of the undecimated wavelet along y: several levels in one pass over memory. A
 * thread walks down a column and keeps the samples that each level needs in registers.
 * The bits are those of the levels one by one, as in smoothkernels.cuh. */
#pragma once

#include "cuda/lifting/cuda/smoothkernels.cuh"

#define LWT_SMOOTH_COLUMN_THREADS 128
/* Samples that a thread takes at once; what it keeps moves on afterwards */
#define LWT_SMOOTH_BATCH 8
/* Results of a thread at most, a multiple of LWT_SMOOTH_BATCH: for 4096 rows of 4096
 * samples one wave of blocks on 132 multiprocessors */
#define LWT_SMOOTH_CHUNK 344

/* Levels at once, by what fits the registers */
template <typename T>
static constexpr gint
smooth_column_levels (gint taps)
{
  return sizeof (T) * (2 * taps - 1) <= 28   ? 3
         : sizeof (T) * (2 * taps - 1) <= 60 ? 2
                                             : 1;
}

/**
 * SmoothColumns: levels @first, @first + 1, .. along y. A line is every 2^@first-th sample
 * of a column.
 * @n: samples of a column
 * @chunk, @chunks: results of a thread, and threads that share a line
 * @to: where the results are the next levels' input; otherwise they end the low-pass:
 * @blend: see LwtSmoothLine
 * @output: what is made of the low-pass
 */
template <typename T> struct SmoothColumns {
  SmoothPicture<const T> from;
  const T *taps;
  gint n, first;
  gint chunk, chunks;
  SmoothPicture<T> to;
  T blend;
  SmoothOutput<T> output;
  gint width;
  guint32 *not_finite;
};

/* A thread's line: position p is row @row + p * @step of column @x, for p from 0 to
 * @high - 1. Results from @low on are wanted, to @end - 1. */
struct SmoothWalk {
  gint x, row, step;
  gint high, low, end;
};

/* A walk down a line of a picture, from position to position */
template <typename T> struct SmoothPath {
  T *at;
  gsize step;
};

template <typename T>
static __device__ __forceinline__ SmoothPath<T>
smooth_walk_begin (
    const SmoothPicture<T> &picture, const SmoothWalk &walk, gint p)
{
  const gsize step = walk.step * picture.pitch;

  return { picture.data + (gsize) walk.row * picture.pitch + (gsize) walk.x
               + (gssize) p * (gssize) step,
    step };
}

/* The samples that a thread keeps: for level j the 2 @REACH 2^j newest ones, older ones
 * first, and room for a batch of new ones */
template <typename T, gint TAPS, gint LEVELS> struct SmoothWindow {
  static constexpr gint REACH = 2 * TAPS - 1;
  /* positions between a sample and the results that it is the last neighbour of */
  static constexpr gint DELAY = REACH * ((1 << LEVELS) - 1);
  T v[2 * DELAY + LEVELS * LWT_SMOOTH_BATCH];

  static constexpr __device__ gint
  begin (gint level)
  {
    return 2 * REACH * ((1 << level) - 1) + level * LWT_SMOOTH_BATCH;
  }

  static constexpr __device__ gint
  keeps (gint level)
  {
    return 2 * REACH << level;
  }
};

/* Samples from @p on; beyond a column of @n they are mirrored. */
template <typename T>
static __device__ __forceinline__ void
smooth_walk_load (const SmoothPicture<const T> &from, const SmoothWalk &walk,
    gint n, gint p, T samples[LWT_SMOOTH_BATCH])
{
  SmoothPath<const T> path = smooth_walk_begin (from, walk, p);

  if (p >= 0 && p + LWT_SMOOTH_BATCH <= walk.high)
#pragma unroll
    for (gint b = 0; b < LWT_SMOOTH_BATCH; b++, path.at += path.step)
      samples[b] = *path.at;
  else
#pragma unroll
    for (gint b = 0; b < LWT_SMOOTH_BATCH; b++)
      samples[b] = smooth_at (from, walk.x,
          (gint) lwt_smooth_mirror (walk.row + (p + b) * walk.step, n));
}

/* Input and results of the last level, for a batch */
template <typename T> struct SmoothBatch {
  T own[LWT_SMOOTH_BATCH], values[LWT_SMOOTH_BATCH];
};

/* Level @LEVEL and later ones for the batch that the window got, whose first sample is at
 * position @p; the next batch is loaded meanwhile. */
template <typename T, gint TAPS, gint LEVELS, gint LEVEL>
static __device__ __forceinline__ void
smooth_walk_levels (const SmoothColumns<T> &task, const SmoothWalk &walk,
    gint p, const T taps[TAPS], SmoothWindow<T, TAPS, LEVELS> &window,
    SmoothBatch<T> *batch)
{
  typedef SmoothWindow<T, TAPS, LEVELS> Window;
  const gint reach = Window::REACH << LEVEL;
  T *const kept = window.v + Window::begin (LEVEL);
  const T *x = kept + reach;

#pragma unroll
  for (gint b = 0; b < LWT_SMOOTH_BATCH; b++) {
    T value = (T) 0.5 * x[b];

#pragma unroll
    for (gint k = 0; k < TAPS; k++)
      value = fma (taps[k],
          x[b - ((2 * k + 1) << LEVEL)] + x[b + ((2 * k + 1) << LEVEL)], value);
    if constexpr (LEVEL + 1 < LEVELS) {
      window.v[Window::begin (LEVEL + 1) + Window::keeps (LEVEL + 1) + b] =
          value;
    } else {
      batch->own[b] = x[b];
      batch->values[b] = value;
    }
  }
#pragma unroll
  for (gint i = 0; i < Window::keeps (LEVEL); i++)
    kept[i] = kept[i + LWT_SMOOTH_BATCH];
  if constexpr (LEVEL == 0)
    smooth_walk_load (task.from, walk, task.n, p + LWT_SMOOTH_BATCH,
        kept + Window::keeps (0));
  if constexpr (LEVEL + 1 < LEVELS)
    smooth_walk_levels<T, TAPS, LEVELS, LEVEL + 1> (
        task, walk, p - reach, taps, window, batch);
}

/* Writes results from position @p on, if they are wanted. */
template <typename T>
static __device__ __forceinline__ void
smooth_walk_write (const SmoothPicture<T> &to, const SmoothWalk &walk, gint p,
    const T values[LWT_SMOOTH_BATCH])
{
  SmoothPath<T> path = smooth_walk_begin (to, walk, p);

  if (to.data == NULL)
    return;
#pragma unroll
  for (gint b = 0; b < LWT_SMOOTH_BATCH; b++, path.at += path.step)
    if (p + b < walk.end)
      *path.at = values[b];
}

/* Samples of before and after of a batch */
template <typename T> struct SmoothBatchBeside {
  T before[LWT_SMOOTH_BATCH], after[LWT_SMOOTH_BATCH];
};

/* Ends the last level. */
template <typename T>
static __device__ __forceinline__ void
smooth_walk_store (const SmoothColumns<T> &task, const SmoothWalk &walk, gint p,
    SmoothBatch<T> &batch, SmoothBatchBeside<T> &beside)
{
  T check = 0; /* stays 0 unless a result is not finite */

#pragma unroll
  for (gint b = 0; b < LWT_SMOOTH_BATCH; b++)
    if (task.to.data == NULL)
      batch.values[b] =
          fma (task.blend, batch.own[b] - batch.values[b], batch.values[b]);
  if (task.not_finite != NULL)
#pragma unroll
    for (gint b = 0; b < LWT_SMOOTH_BATCH; b++)
      check += batch.values[b] - batch.values[b];
  smooth_check (check, task.not_finite);
  smooth_walk_write (task.to, walk, p, batch.values);
  if (task.to.data != NULL)
    return;
#pragma unroll
  for (gint b = 0; b < LWT_SMOOTH_BATCH; b++) {
    beside.before[b] -= batch.values[b];
    beside.after[b] = batch.values[b] - beside.after[b];
  }
  smooth_walk_write (task.output.difference, walk, p, beside.before);
  smooth_walk_write (task.output.next, walk, p, beside.after);
  smooth_walk_write (task.output.low, walk, p, batch.values);
  if (task.output.form.data != NULL && task.output.polynomial != NULL)
#pragma unroll
    for (gint b = 0; b < LWT_SMOOTH_BATCH; b++)
      batch.values[b] = smooth_add_form (
          task.output, walk.x, walk.row + (p + b) * walk.step, batch.values[b]);
  smooth_walk_write (task.output.form, walk, p, batch.values);
}

template <typename T, gint TAPS, gint LEVELS>
static __device__ __forceinline__ void
smooth_walk (
    const SmoothColumns<T> &task, const SmoothWalk &walk, const T taps[TAPS])
{
  typedef SmoothWindow<T, TAPS, LEVELS> Window;
  const gint delay = Window::DELAY, n = LWT_SMOOTH_BATCH;
  const bool ends = task.to.data == NULL;
  /* the first batch of results ends what is loaded for it */
  gint p = walk.low + delay - (2 * delay + n - 1) / n * n;
  Window window;

#pragma unroll
  for (gint i = 0; i < (gint) G_N_ELEMENTS (window.v); i++)
    window.v[i] = 0;
  smooth_walk_load (task.from, walk, task.n, p, window.v + Window::keeps (0));
  for (; p < walk.end + delay; p += n) {
    SmoothBatch<T> batch;
    SmoothBatchBeside<T> beside;

    if (ends && task.output.difference.data != NULL && p - delay >= walk.low)
      smooth_walk_load (
          task.output.before, walk, task.n, p - delay, beside.before);
    if (ends && task.output.next.data != NULL && p - delay >= walk.low)
      smooth_walk_load (
          task.output.after, walk, task.n, p - delay, beside.after);
    smooth_walk_levels<T, TAPS, LEVELS, 0> (
        task, walk, p, taps, window, &batch);
    if (p - delay >= walk.low)
      smooth_walk_store (task, walk, p - delay, batch, beside);
  }
}

/* @task: with taps of 0 up to TAPS */
template <typename T, gint TAPS, gint LEVELS>
static __device__ __forceinline__ void
smooth_run_columns (const SmoothColumns<T> &task)
{
  const gint rows = task.chunks << task.first;
  SmoothWalk walk;
  T taps[TAPS];

  walk.x = (gint) (blockIdx.x * LWT_SMOOTH_COLUMN_THREADS + threadIdx.x);
  walk.step = 1 << task.first;
  if (walk.x >= task.width)
    return;
  for (gint k = 0; k < TAPS; k++)
    taps[k] = task.taps[k];
  for (gint row = (gint) blockIdx.y; row < rows; row += (gint) gridDim.y) {
    walk.row = row & (walk.step - 1);
    walk.low = (row >> task.first) * task.chunk;
    walk.high = (task.n - walk.row + walk.step - 1) >> task.first;
    walk.end = min (walk.low + task.chunk, walk.high);
    smooth_walk<T, TAPS, LEVELS> (task, walk, taps);
  }
}
