/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The parts, in float: the low bands' last two levels back, x less them and them
 * less each other, in one pass over memory (cuda/lifting/cuda/nearsynthesis.cuh). */
#include "cuda/lifting/cuda/nearsynthesis.cuh"
#include "cuda/lifting/cuda/parts.cuh"

#include <string.h>

namespace {

/* Warps for each multiprocessor: a few times what it holds. Memory is not equally
 * near to all of them, and x, which is most of what is read, is not read twice. */
#define EACH 48

/* @synthesis: low: those that are expanded, from the finest on
 * @less: [e]: what lies between the one before it, or x, and low band e
 * @form: the last one
 * @same: x less x
 * @stride: of all parts, of the kernel for parts that are moved by four, are
 *   nowhere missing and get no polynomial */
typedef struct {
  LwtNearSynthesisTask synthesis;
  LwtPicture less[3], form, same[2];
  gsize stride;
  LwtCrop crop;
} PartsTask;

/* PLAIN: the kernel that @stride is of. */
template <int E, bool PLAIN> struct Sink {
  static constexpr bool copies = true;
  static constexpr int N = 2 * LWT_NEAR_K;

  const PartsTask &task;
  gint column; /* of the parts, the lane's first */
  bool whole;  /* all of the lane's are theirs, and may be moved by four */

  __device__ __forceinline__
  Sink (const PartsTask &task, const LwtNearStrip &strip)
      : task (task), column (2 * strip.pair - task.crop.pad[0]),
        whole (lwt_parts_are_whole<N> (task.crop, column))
  {
  }

  /* All that row @y of the parts is made of lies in the lane's registers and, x, at
   * @copy. */
  __device__ __forceinline__ void
  put (gint picture_y, bool writes, const float x[][2][LWT_NEAR_K],
      const float *copy)
  {
    const gint y = picture_y - task.crop.pad[1];
    const bool there = writes && y >= 0 && y < task.crop.height;

    if (PLAIN)
      put_plain (y, there && whole, x, copy);
    else if (there)
      put_any (y, x, copy);
  }

  __device__ __forceinline__ void
  put_plain (gint y, bool writes, const float x[][2][LWT_NEAR_K],
      const float *copy) const
  {
    const gssize at =
        y * (gssize) task.stride + column * (gssize) sizeof (float);
    float before[N], value[N];

    load (before, copy);
#pragma unroll
    for (gint e = 0; e < E; e++) {
#pragma unroll
      for (gint c = 0; c < N; c++) {
        value[c] = before[c] - x[2 * e][c & 1][c / 2];
        before[c] = x[2 * e][c & 1][c / 2];
      }
      store (writes && task.less[e].data, task.less[e], at, value);
    }
    store (writes && task.form.data, task.form, at, before);
  }

  static __device__ __forceinline__ void
  load (float to[N], const float *copy)
  {
#pragma unroll
    for (gint c = 0; c < N; c += 4) {
      const float4 four = *(const float4 *) (copy + c);

      to[c] = four.x;
      to[c + 1] = four.y;
      to[c + 2] = four.z;
      to[c + 3] = four.w;
    }
  }

  static __device__ __forceinline__ void
  store (bool writes, const LwtPicture &part, gssize at, const float values[N])
  {
#pragma unroll
    for (gint c = 0; c < N; c += 4)
      lwt_near_store_if<true> (writes,
          (float *) ((guint8 *) part.data + at) + c,
          make_float4 (values[c], values[c + 1], values[c + 2], values[c + 3]));
  }

  __device__ __forceinline__ void
  put_any (gint y, const float x[][2][LWT_NEAR_K], const float *copy) const
  {
    const guint32 missing = lwt_parts_missing<N> (task.crop, column, whole, y);
    float before[N], value[N];

    load (before, copy);
#pragma unroll
    for (gint c = 0; c < N; c++)
      value[c] = before[c] - before[c];
#pragma unroll
    for (gint i = 0; i < 2; i++)
      put_part (task.same[i], y, value, missing);
#pragma unroll
    for (gint e = 0; e < E; e++) {
#pragma unroll
      for (gint c = 0; c < N; c++) {
        value[c] = before[c] - x[2 * e][c & 1][c / 2];
        before[c] = x[2 * e][c & 1][c / 2];
      }
      put_part (task.less[e], y, value, missing);
    }
    if (task.form.data && task.crop.polynomial)
      lwt_parts_add_tail<N> (before, task.crop, column, y);
    put_part (task.form, y, before, missing);
  }

  __device__ __forceinline__ void
  put_part (const LwtPicture &part, gint y, const float values[N],
      guint32 missing) const
  {
    if (part.data)
      lwt_parts_write<N> (task.crop, part, column, whole, y, values, missing);
  }
};

template <class Shape, int E, bool PLAIN>
__global__ void
__launch_bounds__ (LWT_NEAR_THREADS, PLAIN ? 4 : 1)
    near_parts_kernel (LWT_PARAMETER (PartsTask, task))
{
  const LwtNearTask &near = task.synthesis.near;
  const LwtNearDuty duty = lwt_near_duty (near, near.levels[1].pairs[1]);
  bool edge;
  const LwtNearStrip strip = lwt_near_strip (near, duty.strip, &edge);
  Sink<E, PLAIN> sink (task, strip);

  lwt_wait_alone ();
  if (duty.from >= duty.to)
    return;
  /* what is not plain takes the way of the edges, to hold the code once */
  lwt_near_synthesise<Shape, 2, E, true, PLAIN> (
      task.synthesis, duty, strip, edge, sink);
  lwt_let_next_begin ();
}

/* Low bands that are expanded, and where what they make goes: how many they are.
 * Others are x itself. */
gint
take_lows (PartsTask *parts, const LwtPartsTask *task)
{
  gint n = 0, same = 0;

  for (gint i = 0; i < 3; i++) {
    const LwtPicture *difference = &task->parts[SURFACE_PART_NOISE + i];

    if (!difference->data && !task->parts[SURFACE_PART_NOISE + i + 1].data)
      continue;
    if (!task->at_zero[i]) {
      parts->synthesis.low[n] = task->low[i];
      parts->less[n++] = *difference;
    } else if (difference->data) {
      parts->same[same++] = *difference;
    }
  }
  parts->form = task->parts[SURFACE_PART_FORM];
  return n;
}

/* Whether parts need nothing out of the ordinary; sets @parts->stride. */
bool
is_plain (PartsTask *parts, const LwtPartsTask *task)
{
  bool result = parts->crop.by_four && task->width % 4 == 0 && !task->missing
                && !task->polynomial && !parts->same[0].data;

  parts->stride = 0;
  for (gint i = 0; i < 4; i++) {
    const LwtPicture *part = &task->parts[SURFACE_PART_NOISE + i];

    if (!part->data)
      continue;
    result = result && (parts->stride == 0 || parts->stride == part->stride);
    parts->stride = part->stride;
  }
  return result;
}

template <class Shape>
gboolean
parts (const LwtTransform *transform, const LwtLevelTask *levels,
    const LwtPartsTask *task, cudaStream_t stream, GError **error)
{
  const gsize shared[3] = { LwtNearSlot<2, 1, true, true>::shared,
    LwtNearSlot<2, 2, true, true>::shared,
    LwtNearSlot<2, 3, true, true>::shared };
  void (*kernel) (PartsTask);
  PartsTask parts;
  bool plain;
  guint blocks;
  gint n;

  memset ((void *) &parts, 0, sizeof parts);
  blocks = lwt_near_synthesis_cut<Shape> (
      &parts.synthesis, transform, levels, 2, EACH);
  parts.crop = lwt_parts_crop (task);
  n = take_lows (&parts, task);
  plain = is_plain (&parts, task);
  if (n == 1 && !plain) /* the kernel for two does */
    parts.synthesis.low[n++] = parts.synthesis.low[0];
  if (n == 1)
    kernel = near_parts_kernel<Shape, 1, true>;
  else if (n == 2)
    kernel = plain ? near_parts_kernel<Shape, 2, true>
                   : near_parts_kernel<Shape, 2, false>;
  else
    kernel = plain ? near_parts_kernel<Shape, 3, true>
                   : near_parts_kernel<Shape, 3, false>;
  return lwt_launch (kernel, "the near_parts_kernel", dim3 (blocks),
      LWT_NEAR_THREADS, shared[n - 1], stream, parts, error);
}

} // namespace

gboolean
lwt_near_parts (const LwtTransform *transform, const LwtLevelTask *levels,
    const LwtPartsTask *task, cudaStream_t stream, GError **error)
{
  return LWT_BY_SHAPE (
      transform->kernels, parts, transform, levels, task, stream, error);
}
