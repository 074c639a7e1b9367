/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* One or two levels back in one pass over memory (cuda/lifting/cuda/nearsynthesis.cuh), from
 * all bands or from the low one alone. */
#include "cuda/lifting/cuda/nearsynthesis.cuh"

#include <string.h>

namespace {

/* Warps for each multiprocessor: as many as run at once */
#define EACH 20

/* Rows go into the picture. */
struct Sink {
  static constexpr bool copies = false;

  const LwtPicture &picture;
  const LwtNearStrip &strip;

  __device__ __forceinline__ void
  put (gint y, bool writes, const float x[][2][LWT_NEAR_K], const float *)
  {
    float *row =
        (float *) ((guint8 *) picture.data + (gsize) y * picture.stride)
        + 2 * strip.pair;

#pragma unroll
    for (gint i = 0; i < LWT_NEAR_K; i += 2)
      lwt_near_store_if<false> (writes, row + 2 * i,
          make_float4 (x[0][0][i], x[0][1][i], x[0][0][i + 1], x[0][1][i + 1]));
  }
};

template <class Shape, int DEPTH, bool LOW>
__global__ void
__launch_bounds__ (LWT_NEAR_THREADS, EACH / LWT_NEAR_WARPS)
    near_inverse_kernel (LWT_PARAMETER (LwtNearSynthesisTask, task))
{
  const LwtNearTask &near = task.near;
  const LwtNearDuty duty =
      lwt_near_duty (near, near.levels[DEPTH - 1].pairs[1]);
  LwtNearStrip strip;
  Sink sink = { near.picture, strip };
  bool edge;

  lwt_wait_alone ();
  if (near.small)
    lwt_let_next_begin ();
  if (duty.from >= duty.to)
    return;
  strip = lwt_near_strip (near, duty.strip, &edge);
  lwt_near_synthesise<Shape, DEPTH, 1, LOW, true> (
      task, duty, strip, edge, sink);
  lwt_let_next_begin ();
}

template <class Shape, int DEPTH, bool LOW>
gboolean
inverse_kind (const LwtTransform *transform, const LwtLevelTask *levels,
    cudaStream_t stream, GError **error)
{
  const LwtBand *low = &levels[DEPTH - 1].bands[0][0];
  LwtNearSynthesisTask task;
  guint blocks;

  memset ((void *) &task, 0, sizeof task);
  blocks =
      lwt_near_synthesis_cut<Shape> (&task, transform, levels, DEPTH, EACH);
  task.low[0].data = low->data;
  task.low[0].stride = low->pitch;
  return lwt_launch (near_inverse_kernel<Shape, DEPTH, LOW>,
      "the near_inverse_kernel", dim3 (blocks), LWT_NEAR_THREADS,
      LwtNearSlot<DEPTH, 1, LOW, false>::shared, stream, task, error);
}

template <class Shape>
gboolean
inverse (const LwtTransform *transform, const LwtLevelTask *levels, guint depth,
    cudaStream_t stream, GError **error)
{
  const gboolean low = levels[0].bands[0][1].data == NULL;

  if (depth == 1)
    return low ? inverse_kind<Shape, 1, true> (transform, levels, stream, error)
               : inverse_kind<Shape, 1, false> (
                   transform, levels, stream, error);
  return low ? inverse_kind<Shape, 2, true> (transform, levels, stream, error)
             : inverse_kind<Shape, 2, false> (transform, levels, stream, error);
}

} // namespace

gboolean
lwt_near_inverse (const LwtTransform *transform, const LwtLevelTask *levels,
    guint depth, cudaStream_t stream, GError **error)
{
  return LWT_BY_SHAPE (
      transform->kernels, inverse, transform, levels, depth, stream, error);
}
