/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* All levels of a small picture in one launch, any wavelet, type and boundary. One
 * thread block keeps the picture in shared memory and lifts it in place: samples of
 * a level are as far apart as it says, so its low band is the next level's picture
 * where it lies. A warp has whole lines, so only axes wait for each other. */
#include "lwtlaunch_cuda.cuh"
#include "lwtsteps_cuda.cuh"

#include <string.h>

namespace {

#define SMALL_BITS 9
#define SMALL_THREADS (1 << SMALL_BITS)

/* Samples of a picture that one thread block is done with sooner than two launches
 * a level are; with all weights they fit into 48 KiB */
#define SMALL_SAMPLES 2048

/* @x, @y: bit i: whether level i splits that axis. Other fields as in
 * LwtSmallWork */
template <typename T> struct SmallTask {
  LwtSteps<T> steps;
  LwtBoundary boundary;
  gint n;
  guint width, height;
  guint64 x, y;
  bool all;
  LwtLayout layout;
  guint before[2];
  LwtPicture picture, bands;
  LwtBand low;
};

/* The picture of a level, [0] along x: samples and their distances, which are
 * 1 << splits samples in the first level */
template <typename T> struct Level {
  T *samples;
  gint size[2];
  gint distance[2];
  bool split[2];
  guint splits[2];

  /* Of level @i; behind the last one: of its low band */
  __device__ __forceinline__
  Level (const SmallTask<T> &task, T *samples, gint i)
      : samples (samples)
  {
    const guint64 before = ((guint64) 1 << i) - 1;

    splits[0] = (guint) __popcll (task.x & before);
    splits[1] = (guint) __popcll (task.y & before);
    size[0] = ((task.width - 1) >> splits[0]) + 1;
    size[1] = ((task.height - 1) >> splits[1]) + 1;
    distance[0] = 1 << splits[0];
    distance[1] = (gint) (task.width | 1) << splits[1];
    split[0] = task.x >> i & 1;
    split[1] = task.y >> i & 1;
  }

  __device__ __forceinline__ T &
  at (gint x, gint y) const
  {
    return samples[y * distance[1] + x * distance[0]];
  }
};

/* Least number of bits that 0 .. n - 1 fit into */
__device__ __forceinline__ gint
bits_of (gint n)
{
  return 32 - __clz (n - 1);
}

/* Runs f (i, k) for all i < @n and k < @m; threads next to each other have the same
 * k where there are enough i. */
template <typename F>
__device__ __forceinline__ void
each (gint n, gint m, F f)
{
  const gint bits = min (bits_of (n), SMALL_BITS);

  for (gint k = threadIdx.x >> bits; k < m; k += SMALL_THREADS >> bits)
    for (gint i = threadIdx.x & ((1 << bits) - 1); i < n; i += 1 << bits)
      f (i, k);
}

/* lwt_neighbour(), sooner where @j is not farther beyond an end than the line is
 * long. */
__device__ __forceinline__ gint
find_neighbour (LwtBoundary boundary, gint j, gint odd, gint n)
{
  const gint count = lwt_count (n, odd);
  gint near = j;

  if (boundary == LWT_BOUNDARY_SYMMETRIC) {
    const gint position = abs (2 * j + odd);

    near = (position < n ? position : 2 * (n - 1) - position) >> 1;
  } else if (boundary == LWT_BOUNDARY_PERIODIC) {
    near = j < 0 ? j + lwt_count (n, 0) : j - lwt_count (n, 0);
  }
  return near >= 0 && near < count ? near : lwt_neighbour (boundary, j, odd, n);
}

/* An axis of a level: lines, each of some lanes of a warp.
 * @n: samples of a line, @distance apart; @lines of them, @next apart
 * @lane: the first of the lane's pairs, @step more to the next; @line, @stride:
 *   likewise of the lines
 * @idle: the warp has none */
template <typename T> struct Axis {
  T *samples;
  gint n, distance, lines, next;
  gint lane, step, line, stride;
  bool idle;

  __device__ __forceinline__
  Axis (const Level<T> &level, gint axis)
      : samples (level.samples), n (level.size[axis]),
        distance (level.distance[axis]), lines (level.size[1 - axis]),
        next (level.distance[1 - axis])
  {
    const gint bits = min (bits_of (lwt_count (n, 0)), 5);

    step = 1 << bits;
    lane = threadIdx.x & (step - 1);
    line = threadIdx.x >> bits;
    stride = SMALL_THREADS >> bits;
    idle = (gint) (threadIdx.x & ~31u) >> bits >= lines;
  }

  /* Runs f (line, k) for all the lane's lines and pairs k < @count. */
  template <typename F>
  __device__ __forceinline__ void
  each (gint count, F f) const
  {
    for (gint i = line; i < lines; i += stride)
      for (gint k = lane; k < count; k += step)
        f (samples + i * next, k);
    __syncwarp ();
  }
};

template <bool INVERSE, typename T>
__device__ __forceinline__ void
run_step (const SmallTask<T> &task, const Axis<T> &axis,
    const LwtStepHead &head, const T *taps)
{
  const gint odd = head.kind == LWT_STEP_PREDICT;
  const gint others = lwt_count (axis.n, 1 - odd);

  axis.each (lwt_count (axis.n, odd), [&] (T *line, gint k) {
    T &x = line[(2 * k + odd) * axis.distance];
    const gint first = k + head.first;
    const T *const from = line + (1 - odd) * axis.distance;

    if (first >= 0 && first + head.n <= others)
      x = lwt_lift<INVERSE> (x, head, taps,
          [&] (gint tap) { return from[(first + tap) * 2 * axis.distance]; });
    else
      x = lwt_lift<INVERSE> (x, head, taps, [&] (gint tap) {
        const gint j =
            find_neighbour (task.boundary, first + tap, 1 - odd, axis.n);

        return j < 0 ? T (0) : from[j * 2 * axis.distance];
      });
  });
}

/* Multiplies all samples by their kind's scale; with @high %FALSE odd ones are
 * +0. */
template <typename T>
__device__ __forceinline__ void
run_scale (const SmallTask<T> &task, const Axis<T> &axis, bool high)
{
  axis.each (lwt_count (axis.n, 0), [&] (T *line, gint k) {
    T *const x = line + 2 * k * axis.distance;

    x[0] = lwt_scaled (x[0], task.steps.scale[0]);
    if (2 * k + 1 < axis.n)
      x[axis.distance] =
          high ? lwt_scaled (x[axis.distance], task.steps.scale[1]) : T (0);
  });
}

template <bool INVERSE, typename T>
__device__ __forceinline__ void
lift_lines (const SmallTask<T> &task, const Axis<T> &axis, const T *taps)
{
  if (INVERSE)
    run_scale (task, axis, task.all);
  for (gint i = 0; i < task.steps.n; i++) {
    const LwtStepHead head =
        task.steps.heads[INVERSE ? task.steps.n - 1 - i : i];

    run_step<INVERSE> (task, axis, head, taps + head.tap);
  }
  if (!INVERSE)
    run_scale (task, axis, true);
}

template <bool INVERSE, typename T>
__device__ __forceinline__ void
lift_axis (
    const SmallTask<T> &task, const Level<T> &level, gint which, const T *taps)
{
  const Axis<T> axis (level, which);

  if (!axis.idle)
    lift_lines<INVERSE> (task, axis, taps);
  __syncthreads ();
}

/* Runs f (sample, entry of a high band) for all of a level. */
template <typename T, typename F>
__device__ __forceinline__ void
each_high (const SmallTask<T> &task, const Level<T> &level, F f)
{
  const guint before[2] = { task.before[0] + level.splits[0],
    task.before[1] + level.splits[1] };
  const guint low[2] = { (guint) (level.size[0] + level.split[0])
                             >> level.split[0],
    (guint) (level.size[1] + level.split[1]) >> level.split[1] };

  if ((gint) (threadIdx.x & ~31u) >= level.size[1] << bits_of (level.size[0]))
    return;
  for (gint b = 1; b < 4; b++) {
    const gint x = b & 1, y = b >> 1;
    LwtBand band;

    if (x > level.split[0] || y > level.split[1])
      continue;
    band = lwt_place_band (
        task.bands, task.layout, sizeof (T), before, level.split, low, x, y);
    each (level.split[0] ? lwt_count (level.size[0], x) : level.size[0],
        level.split[1] ? lwt_count (level.size[1], y) : level.size[1],
        [&] (gint i, gint k) {
          f (level.at (level.split[0] ? 2 * i + x : i,
                 level.split[1] ? 2 * k + y : k),
              lwt_band_at<T> (band, i, k));
        });
  }
}

/* Runs f (sample, where it is in @band) for all of a level. */
template <typename T, typename F>
__device__ __forceinline__ void
each_sample (const Level<T> &level, const LwtBand &band, F f)
{
  each (level.size[0], level.size[1], [&] (gint x, gint y) {
    f (level.at (x, y), lwt_band_at<T> (band, x, y));
  });
}

__device__ __forceinline__ LwtBand
band_of_picture (const LwtPicture &picture)
{
  return { picture.data, picture.stride, 1 };
}

template <typename T>
__global__ void
__launch_bounds__ (SMALL_THREADS)
    small_forward_kernel (LWT_PARAMETER (SmallTask<T>, task))
{
  T *const taps = (T *) LWT_SHARED;
  T *const samples = lwt_take_taps (task.steps, taps);

  lwt_wait_for_previous ();
  each_sample (Level<T> (task, samples, 0), band_of_picture (task.picture),
      [] (T &sample, const T *from) { sample = *from; });
  __syncthreads ();
  for (gint i = 0; i < task.n; i++) {
    const Level<T> level (task, samples, i);

    for (gint axis = 0; axis < 2; axis++)
      if (level.split[axis])
        lift_axis<false> (task, level, axis, taps);
    if (task.all)
      each_high (task, level, [] (T &sample, T *to) { *to = sample; });
  }
  each_sample (Level<T> (task, samples, task.n), task.low,
      [] (T &sample, T *to) { *to = sample; });
}

template <typename T>
__global__ void
__launch_bounds__ (SMALL_THREADS)
    small_inverse_kernel (LWT_PARAMETER (SmallTask<T>, task))
{
  T *const taps = (T *) LWT_SHARED;
  T *const samples = lwt_take_taps (task.steps, taps);
  const Level<T> first (task, samples, 0);

  lwt_wait_for_previous ();
  if (!task.all) {
    each (first.size[0], first.size[1],
        [&] (gint x, gint y) { first.at (x, y) = 0; });
    __syncthreads ();
  }
  each_sample (Level<T> (task, samples, task.n), task.low,
      [] (T &sample, const T *from) { sample = *from; });
  for (gint i = task.n - 1; i >= 0; i--) {
    const Level<T> level (task, samples, i);

    if (task.all)
      each_high (
          task, level, [] (T &sample, const T *from) { sample = *from; });
    __syncthreads ();
    for (gint axis = 1; axis >= 0; axis--)
      if (level.split[axis])
        lift_axis<true> (task, level, axis, taps);
  }
  each_sample (first, band_of_picture (task.picture),
      [] (T &sample, T *to) { *to = sample; });
}

gsize
get_shared_size (const LwtTransform *transform, guint width, guint height)
{
  return lwt_get_taps_size (transform)
         + (gsize) (width | 1) * height * lwt_type_get_size (transform->type);
}

template <typename T>
gboolean
launch (void (*kernel) (SmallTask<T>), const char *name, gboolean inverse,
    const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  const LwtLevelTask *first = &work->levels[0];
  SmallTask<T> task;

  memset ((void *) &task, 0, sizeof task);
  lwt_set_steps (&task.steps, transform, inverse, work->taps);
  task.boundary = transform->boundary;
  task.n = (gint) work->n;
  task.width = first->width;
  task.height = first->height;
  for (guint i = 0; i < work->n; i++) {
    task.x |= (guint64) (work->levels[i].x != FALSE) << i;
    task.y |= (guint64) (work->levels[i].y != FALSE) << i;
  }
  task.all = work->all;
  task.layout = work->layout;
  task.before[0] = work->before[0];
  task.before[1] = work->before[1];
  task.picture = first->picture;
  task.bands = work->bands;
  task.low = work->levels[work->n - 1].bands[0][0];
  return lwt_launch (kernel, name, dim3 (1), SMALL_THREADS,
      get_shared_size (transform, first->width, first->height), stream, task,
      error);
}

template <typename T>
gboolean
forward (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return launch<T> (small_forward_kernel<T>, "the small_forward_kernel", FALSE,
      transform, work, stream, error);
}

template <typename T>
gboolean
inverse (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return launch<T> (small_inverse_kernel<T>, "the small_inverse_kernel", TRUE,
      transform, work, stream, error);
}

} // namespace

gboolean
lwt_small_fits (const LwtTransform *transform, guint width, guint height)
{
  const LwtWavelet *wavelet = &transform->wavelet;

  /* bands that begin elsewhere than samples are no picture in place */
  if (transform->boundary == LWT_BOUNDARY_PERIODIC
      && (wavelet->shift_low != 0 || wavelet->shift_high != 0))
    return FALSE;
  return (guint64) width * height <= SMALL_SAMPLES;
}

gboolean
lwt_small_forward (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return LWT_BY_TYPE (transform->type, forward, transform, work, stream, error);
}

gboolean
lwt_small_inverse (const LwtTransform *transform, const LwtSmallWork *work,
    cudaStream_t stream, GError **error)
{
  return LWT_BY_TYPE (transform->type, inverse, transform, work, stream, error);
}
