/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Copies coefficients between Mallat's layout in work memory and an interleaved
 * picture, all levels at once. If each level wrote its own entries of every row,
 * most writes would cover parts of a memory sector only. */
#include "cuda/lifting/cuda/device.cuh"
#include "cuda/lifting/cuda/launch.cuh"
#include "cuda/lifting/cuda/sample.cuh"

namespace {

const guint THREADS = 256;
const guint EACH = 16;       /* samples of a thread, THREADS apart */
const guint MAX_SPLITS = 20; /* of LWT_MAX_SIDE samples */

/* @step: from row to row of the interleaved picture; @blocks: thread blocks of a row */
typedef struct {
  LwtPicture mallat, interleaved;
  guint width, step, blocks;
  guint n;
  LwtLevel levels[LWT_MAX_CHAIN];
} Task;

/* A row of the interleaved picture: entry x, which is divisible by 2^k, but not by
 * 2^(k+1), is entry x >> (k+1) at lines[k]; if k >= @splits, entry x >> splits at
 * lines[splits]. */
template <typename T> struct Row {
  guint splits;
  T *lines[MAX_SPLITS + 1];
};

template <typename T>
__device__ __forceinline__ void
set_row (Row<T> *row, const Task &task, guint y)
{
  guint splits = 0, high = 0;

  for (guint i = 0; i < task.n && !high; i++) {
    const LwtLevel &level = task.levels[i];
    T *line;

    high = y & level.y;
    y = (y >> level.y) + (high ? level.low_height : 0);
    line = lwt_row<T> (task.mallat.data, task.mallat.stride, y);
    if (level.x)
      row->lines[splits++] = line + level.low_width;
    row->lines[splits] = line;
  }
  row->splits = splits;
}

template <typename T>
__device__ __forceinline__ T &
find (const Row<T> &row, guint x)
{
  const guint k = MIN ((guint) __ffs ((gint) x) - 1, row.splits);

  return row.lines[k][x >> MIN (k + 1, row.splits)];
}

/* A thread reads all its samples, then writes them. Beyond the end of a row it copies
 * the last one again. */
template <typename T, bool INVERSE>
__global__ void
__launch_bounds__ (THREADS) interleave_kernel (LWT_PARAMETER (Task, task))
{
  const guint y = blockIdx.x / task.blocks * task.step;
  const guint first = blockIdx.x % task.blocks * (THREADS * EACH) + threadIdx.x;
  T *const line =
      lwt_row<T> (task.interleaved.data, task.interleaved.stride, y);
  __shared__ Row<T> row;
  T values[EACH];

  if (threadIdx.x == 0)
    set_row (&row, task, y);
  __syncthreads ();
  lwt_wait_for_previous ();
#pragma unroll
  for (guint i = 0; i < EACH; i++) {
    const guint x = MIN (first + i * THREADS, task.width - 1);

    values[i] = INVERSE ? line[x] : find (row, x);
  }
#pragma unroll
  for (guint i = 0; i < EACH; i++) {
    const guint x = MIN (first + i * THREADS, task.width - 1);

    (INVERSE ? find (row, x) : line[x]) = values[i];
  }
}

template <typename T>
gboolean
launch (const Task &task, guint rows, gboolean inverse, cudaStream_t stream,
    GError **error)
{
  return lwt_launch (
      inverse ? interleave_kernel<T, true> : interleave_kernel<T, false>,
      "interleave", dim3 (task.blocks * rows), THREADS, 0, stream, task, error);
}

} // namespace

gboolean
lwt_interleave (LwtType type, const LwtLevel *const *levels, guint n,
    LwtPicture mallat, LwtPicture interleaved, gboolean inverse,
    cudaStream_t stream, GError **error)
{
  Task task = { mallat, interleaved, levels[0]->width, levels[0]->y ? 2u : 1u };

  task.blocks = (task.width + THREADS * EACH - 1) / (THREADS * EACH);
  task.n = n;
  for (guint i = 0; i < n; i++)
    task.levels[i] = *levels[i];
  return LWT_BY_TYPE (
      type, launch, task, levels[0]->low_height, inverse, stream, error);
}
