/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The parts, in float: the low bands' last level back, x less them and them less
 * each other, in one pass over memory (lwtsynthesis_cuda.cuh). */
#include "lwtsynthesis_cuda.cuh"

namespace {

/* @synthesis: march.picture is x; low: those that are expanded, the first ones
 *   of as many as the kernel is for
 * @source: of low band i: number of the expanded one, or -1: @whole[i] */
typedef struct {
  LwtSynthesisTask synthesis;
  gint source[3];
  LwtPicture whole[3];
  const guint32 *missing;
  const gdouble *polynomial;
  gint pad[2];
  gint width, height;
  LwtPicture parts[4];
  bool by_four; /* parts' columns of a lane, where they are there */
} PartsTask;

/* Adds what the F-operation took off but for the mean. A call, as its divisions
 * are long and there are many places that would hold them. */
__device__ __noinline__ float4
with_tail (float4 form, const gdouble *polynomial, gint column, gint y,
    gint width, gint height)
{
  const gdouble v = lwt_centred ((guint) y, (guint) height);
  float values[4] = { form.x, form.y, form.z, form.w };

#pragma unroll
  for (gint i = 0; i < 4; i++)
    values[i] =
        (float) ((gdouble) values[i]
                 + lwt_tail (polynomial,
                     lwt_centred ((guint) (column + i), (guint) width), v));
  return make_float4 (values[0], values[1], values[2], values[3]);
}

__device__ __forceinline__ void
add_tail (float form[2 * LWT_K], const gdouble *polynomial, gint column, gint y,
    gint width, gint height)
{
#pragma unroll
  for (gint i = 0; i < 2 * LWT_K; i += 4) {
    const float4 sum =
        with_tail (make_float4 (form[i], form[i + 1], form[i + 2], form[i + 3]),
            polynomial, column + i, y, width, height);

    form[i] = sum.x;
    form[i + 1] = sum.y;
    form[i + 2] = sum.z;
    form[i + 3] = sum.w;
  }
}

template <int E> struct Sink {
  static constexpr int copies = 1;

  const PartsTask &task;
  const LwtStrip &strip;
  gint column; /* of the parts, the lane's first */
  bool whole;  /* all of the lane's are theirs, and may be moved by four */

  __device__ __forceinline__
  Sink (const PartsTask &task, const LwtStrip &strip)
      : task (task), strip (strip), column (2 * strip.pair - task.pad[0]),
        whole (task.by_four && column >= 0 && column + 2 * LWT_K <= task.width)
  {
  }

  /* Bits of what is missing of the lane's columns. */
  __device__ __forceinline__ guint32
  missing_of (gint y) const
  {
    const guint32 *words = task.missing + (gsize) y * ((task.width + 31) / 32);
    guint32 bits = 0;

    if (task.missing == NULL)
      return 0;
    if (whole)
      return words[column / 32] >> (column & 31);
#pragma unroll
    for (gint i = 0; i < 2 * LWT_K; i++)
      if (column + i >= 0 && column + i < task.width)
        bits |= (words[(column + i) / 32] >> ((column + i) & 31) & 1) << i;
    return bits;
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
        if (column + c >= 0 && column + c < task.width)
          to[c] = row[2 * strip.pair + c];
    }
  }

  __device__ __forceinline__ void
  write (
      gint part, gint y, const float values[2 * LWT_K], guint32 missing) const
  {
    float *row = (float *) ((guint8 *) task.parts[part].data
                            + (gsize) y * task.parts[part].stride)
                 + column;
    float v[2 * LWT_K];

#pragma unroll
    for (gint c = 0; c < 2 * LWT_K; c++)
      v[c] = missing >> c & 1 ? NAN : values[c];
    if (whole) {
#pragma unroll
      for (gint c = 0; c < 2 * LWT_K; c += 4)
        __stcs ((float4 *) (row + c),
            make_float4 (v[c], v[c + 1], v[c + 2], v[c + 3]));
    } else {
#pragma unroll
      for (gint c = 0; c < 2 * LWT_K; c++)
        if (column + c >= 0 && column + c < task.width)
          row[c] = v[c];
    }
  }

  template <bool EDGE>
  __device__ __forceinline__ void
  put (gint picture_y, const float x[E][2][LWT_K], const float *copy)
  {
    const gint y = picture_y - task.pad[1];
    float before[2 * LWT_K], next[2 * LWT_K] = {}, value[2 * LWT_K];
    guint32 missing;

    if (!strip.writes || y < 0 || y >= task.height)
      return;
    missing = missing_of (y);
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
        write (i, y, value, missing);
    }
    if (task.parts[3].data == NULL)
      return;
    if (task.polynomial)
      add_tail (before, task.polynomial, column, y, task.width, task.height);
    write (3, y, before, missing);
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

bool
can_by_four (const LwtPartsTask *task)
{
  bool result = task->pad[0] % 4 == 0;

  for (gint i = 0; i < 4; i++) {
    const LwtPicture *part = &task->parts[SURFACE_PART_NOISE + i];

    if (part->data)
      result = result && ((gsize) part->data | part->stride) % 16 == 0;
  }
  return result;
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
  parts.missing = task->missing;
  parts.polynomial = task->polynomial;
  parts.width = (gint) task->width;
  parts.height = (gint) task->height;
  for (gint i = 0; i < 2; i++)
    parts.pad[i] = (gint) task->pad[i];
  for (gint i = 0; i < 4; i++)
    parts.parts[i] = task->parts[SURFACE_PART_NOISE + i];
  parts.by_four = can_by_four (task);
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
