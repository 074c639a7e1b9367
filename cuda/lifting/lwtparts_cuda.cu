/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The parts, in float: the low bands' last level back, x less them and them less
 * each other, in one pass over memory (lwtsynthesis_cuda.cuh). */
#include "lwtparts_cuda.cuh"
#include "lwtsynthesis_cuda.cuh"

namespace {

/* @synthesis: march.picture is x; low: those that are expanded, the first ones
 *   of as many as the kernel is for
 * @source: of low band i: number of the expanded one, or -1: @whole[i] */
typedef struct {
  LwtSynthesisTask synthesis;
  gint source[3];
  LwtPicture whole[3];
  LwtPicture parts[4];
  LwtCrop crop;
} PartsTask;

template <int E> struct Sink {
  static constexpr int copies = 1;

  const PartsTask &task;
  const LwtStrip &strip;
  gint column; /* of the parts, the lane's first */
  bool whole;  /* all of the lane's are theirs, and may be moved by four */

  __device__ __forceinline__
  Sink (const PartsTask &task, const LwtStrip &strip)
      : task (task), strip (strip), column (2 * strip.pair - task.crop.pad[0]),
        whole (lwt_parts_are_whole<2 * LWT_K> (task.crop, column))
  {
  }

  /* Low band @i at row @y of the picture. */
  __device__ __forceinline__ void
  take (float to[2 * LWT_K], gint i, gint y, const float x[E][2][LWT_K],
      const float *copy) const
  {
    const gint source = task.source[i];
    const float *row = (const float *) ((const guint8 *) task.whole[i].data
                                        + (gsize) y * task.whole[i].stride);

    if (source >= 0) {
#pragma unroll
      for (gint c = 0; c < 2 * LWT_K; c++) {
        to[c] = x[0][c & 1][c / 2];
#pragma unroll
        for (gint e = 1; e < E; e++)
          if (source == e)
            to[c] = x[e][c & 1][c / 2];
      }
    } else if (task.whole[i].data == task.synthesis.march.picture.data) {
#pragma unroll
      for (gint c = 0; c < 2 * LWT_K; c++)
        to[c] = copy[c];
    } else if (task.whole[i].data != NULL) {
#pragma unroll
      for (gint c = 0; c < 2 * LWT_K; c++)
        if (column + c >= 0 && column + c < task.crop.width)
          to[c] = row[2 * strip.pair + c];
    }
  }

  template <bool EDGE>
  __device__ __forceinline__ void
  put (gint picture_y, const float x[E][2][LWT_K], const float *copy)
  {
    const gint y = picture_y - task.crop.pad[1];
    float before[2 * LWT_K], next[2 * LWT_K] = {}, value[2 * LWT_K];
    guint32 missing;

    if (!strip.writes || y < 0 || y >= task.crop.height)
      return;
    missing = lwt_parts_missing<2 * LWT_K> (task.crop, column, whole, y);
#pragma unroll
    for (gint c = 0; c < 2 * LWT_K; c++)
      before[c] = copy[c];
#pragma unroll
    for (gint i = 0; i < 3; i++) {
      take (next, i, picture_y, x, copy);
#pragma unroll
      for (gint c = 0; c < 2 * LWT_K; c++) {
        value[c] = before[c] - next[c];
        before[c] = next[c];
      }
      if (task.parts[i].data)
        lwt_parts_write<2 * LWT_K> (
            task.crop, task.parts[i], column, whole, y, value, missing);
    }
    if (task.parts[3].data == NULL)
      return;
    if (task.crop.polynomial)
      lwt_parts_add_tail<2 * LWT_K> (before, task.crop, column, y);
    lwt_parts_write<2 * LWT_K> (
        task.crop, task.parts[3], column, whole, y, before, missing);
  }
};

template <class Shape, int E>
__global__ void
__launch_bounds__ (LWT_MARCH_THREADS)
    parts_kernel (LWT_PARAMETER (PartsTask, task))
{
  const LwtDuty duty = lwt_duty (task.synthesis.march);
  const LwtStrip strip = lwt_strip (
      task.synthesis.march, duty.strip, LwtMarch<LwtOrder<Shape, true>>::right);
  Sink<E> sink (task, strip);

  lwt_wait_for_previous ();
  lwt_synthesise<Shape, E, true> (task.synthesis, strip, duty, sink);
}

/* Which low bands are asked for, and which of them are expanded: how many. */
gint
take_lows (PartsTask *parts, const LwtPartsTask *task)
{
  gint n = 0;

  for (gint i = 0; i < 3; i++) {
    parts->source[i] = -1;
    if (!task->parts[SURFACE_PART_NOISE + i].data
        && !task->parts[SURFACE_PART_NOISE + i + 1].data)
      continue;
    if (task->at_zero[i]) {
      parts->whole[i] = task->low[i];
    } else {
      parts->synthesis.low[n] = task->low[i];
      parts->source[i] = n++;
    }
  }
  return n;
}

template <class Shape>
gboolean
parts (const LwtTransform *transform, const LwtLevel *level,
    const LwtPartsTask *task, cudaStream_t stream, GError **error)
{
  LwtLevelTask picture;
  LwtMarchLaunch launch;
  PartsTask parts;
  gint n;

  memset ((void *) &parts, 0, sizeof parts);
  n = take_lows (&parts, task);
  if (n == 1) /* the kernel for two does */
    parts.synthesis.low[n++] = parts.synthesis.low[0];
  memset (&picture, 0, sizeof picture);
  picture.width = level->width;
  picture.height = level->height;
  picture.picture = task->picture;
  picture.bands[0][0].data = parts.synthesis.low[0].data;
  picture.bands[0][0].pitch = parts.synthesis.low[0].stride;
  picture.bands[0][0].step = 1;
  launch = lwt_march_init<LwtOrder<Shape, true>> (&parts.synthesis.march,
      transform, &picture, TRUE, LWT_AHEAD * lwt_synthesis_pair (n, true, 1),
      lwt_synthesis_row (n, true));
  for (gint i = 0; i < n; i++)
    if (((gsize) parts.synthesis.low[i].data | parts.synthesis.low[i].stride)
        % 8)
      parts.synthesis.march.vector[0] = false;
  parts.crop = lwt_parts_crop (task);
  for (gint i = 0; i < 4; i++)
    parts.parts[i] = task->parts[SURFACE_PART_NOISE + i];
  return lwt_march_launch (
      n == 2 ? parts_kernel<Shape, 2> : parts_kernel<Shape, 3>,
      "the parts_kernel", &launch, stream, parts, error);
}

} // namespace

gboolean
lwt_fast_parts (const LwtTransform *transform, const LwtLevel *level,
    const LwtPartsTask *task, cudaStream_t stream, GError **error)
{
  return LWT_BY_SHAPE (
      transform->kernels, parts, transform, level, task, stream, error);
}
