/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A level back, in float, of the near structures of lwtshape_cuda.cuh: from all
 * bands or from the low one alone, in one pass over memory
 * (lwtsynthesis_cuda.cuh). */
#include "lwtsynthesis_cuda.cuh"

namespace {

/* Rows go into the picture. */
struct Sink {
  static constexpr int copies = 0; /* rows of the picture that are read */

  const LwtMarchTask &task;
  const LwtStrip &strip;

  template <bool EDGE>
  __device__ __forceinline__ void
  put (gint y, const float x[1][2][LWT_K], const float *)
  {
    float *row = (float *) ((guint8 *) task.picture.data
                            + (gsize) y * task.picture.stride)
                 + 2 * strip.pair;

    if (!strip.writes)
      return;
    if (!EDGE || 2 * (strip.pair + LWT_K) <= task.width) {
#pragma unroll
      for (gint i = 0; i < LWT_K; i += 2)
        *(float4 *) (row + 2 * i) = make_float4 (
            x[0][0][i], x[0][1][i], x[0][0][i + 1], x[0][1][i + 1]);
    } else {
#pragma unroll
      for (gint i = 0; i < 2 * LWT_K; i++)
        if (2 * strip.pair + i < task.width)
          row[i] = x[0][i & 1][i / 2];
    }
  }
};

template <class Shape, bool LOW>
__global__ void
__launch_bounds__ (LWT_MARCH_THREADS)
    inverse_kernel (LWT_PARAMETER (LwtSynthesisTask, task))
{
  const LwtDuty duty = lwt_duty (task.march);
  const LwtStrip strip = lwt_strip (
      task.march, duty.strip, LwtMarch<LwtOrder<Shape, true>>::right);
  Sink sink = { task.march, strip };

  lwt_wait_for_previous ();
  lwt_synthesise<Shape, 1, LOW> (task, strip, duty, sink);
}

template <class Shape>
gboolean
inverse (const LwtTransform *transform, const LwtLevelTask *level,
    cudaStream_t stream, GError **error)
{
  const gboolean low = level->bands[0][1].data == NULL;
  LwtSynthesisTask task;
  LwtMarchLaunch launch;

  memset (&task, 0, sizeof task);
  launch = lwt_march_init<LwtOrder<Shape, true>> (&task.march, transform, level,
      TRUE, LWT_AHEAD * lwt_synthesis_pair (1, low, 0),
      lwt_synthesis_row (1, low));
  task.low[0].data = level->bands[0][0].data;
  task.low[0].stride = level->bands[0][0].pitch;
  return lwt_march_launch (
      low ? inverse_kernel<Shape, true> : inverse_kernel<Shape, false>,
      "the inverse_kernel", &launch, stream, task, error);
}

} // namespace

gboolean
lwt_fast_inverse (const LwtTransform *transform, const LwtLevelTask *task,
    cudaStream_t stream, GError **error)
{
  return LWT_BY_NEAR_SHAPE (
      transform->kernels, inverse, transform, task, stream, error);
}
