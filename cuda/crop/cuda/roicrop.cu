/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Crops within device memory. A crop is tens of kilobytes, so what a copy call
 * costs would dwarf the copying: one launch does the planes of many frames,
 * whose descriptions travel as kernel arguments and need no memory of their
 * own. */
#include "cuda/crop/roicrop.h"

#include "cuda/core/device/arena.cuh"

namespace {
/* kernel arguments are limited to 4 KiB: 64 planes of 48 bytes */
const guint PLANES_A_LAUNCH = 64;
const guint THREADS_X = 64, THREADS_Y = 4;
const guint MAX_BLOCKS_Y = 64;

struct Planes {
  CvisCropPlane plane[PLANES_A_LAUNCH];
};

struct State {
  CvisContext *context;
  cudaStream_t stream;
};

/* Copies rows y, y + step, .. of a plane, a row to the threads of one y, in
 * words of T: both ends of every row start on a multiple of sizeof (T). The
 * rest of a row after the last whole word is copied by bytes. */
template <typename T>
__device__ void
copy_rows (const CvisCropPlane &p, guint y, guint step)
{
  const guint words = p.row_bytes / sizeof (T);

  for (; y < p.rows; y += step) {
    const guint8 *src = p.src + (gssize) y * p.src_stride;
    guint8 *dst = p.dst + (gssize) y * p.dst_stride;

    for (guint i = threadIdx.x; i < words; i += THREADS_X)
      ((T *) dst)[i] = ((const T *) src)[i];
    for (guint i = words * sizeof (T) + threadIdx.x; i < p.row_bytes;
         i += THREADS_X)
      dst[i] = src[i];
  }
}

/* A plane a blockIdx.x, its rows dealt out over blockIdx.y and threadIdx.y.
 * The widest word that both addresses and strides allow is used: a start that
 * is a multiple of 16 bytes moves 16 bytes a thread. */
__global__ void
crop_planes (const Planes planes)
{
  const CvisCropPlane &p = planes.plane[blockIdx.x];
  const guint y = blockIdx.y * THREADS_Y + threadIdx.y;
  const guint step = gridDim.y * THREADS_Y;
  const gsize odd = (gsize) p.src | (gsize) p.dst | (gsize) p.src_stride
                    | (gsize) p.dst_stride;

  if (odd % 16 == 0)
    copy_rows<uint4> (p, y, step);
  else if (odd % 4 == 0)
    copy_rows<guint32> (p, y, step);
  else if (odd % 2 == 0)
    copy_rows<guint16> (p, y, step);
  else
    copy_rows<guint8> (p, y, step);
}

gboolean
launch (
    const CvisCropPlane *planes, guint n, cudaStream_t stream, GError **error)
{
  Planes arguments;
  guint p, rows = 1;

  for (p = 0; p < n; p++) {
    arguments.plane[p] = planes[p];
    rows = MAX (rows, planes[p].rows);
  }
  crop_planes<<<dim3 (
                    n, MIN ((rows + THREADS_Y - 1) / THREADS_Y, MAX_BLOCKS_Y)),
      dim3 (THREADS_X, THREADS_Y), 0, stream>>> (arguments);
  return CVIS_LAUNCHED ("crop_planes", error);
}

gpointer
cuda_open (CvisContext *context, GError **error)
{
  State *state;
  cudaStream_t stream;

  /* Not cudaStreamNonBlocking: frames come from others, and those that know no
   * streams fill them by copies on the NULL stream that may still be under way
   * when they hand them on. A blocking stream comes after those. */
  if (!cvis_in_context (context, error,
          [&] { return CVIS_CUDA (cudaStreamCreate (&stream), error); }))
    return NULL;
  state = g_new0 (State, 1);
  state->context = cvis_context_ref (context);
  state->stream = stream;
  return state;
}

void
cuda_close (gpointer data)
{
  State *state = (State *) data;

  if (cvis_context_push (state->context, NULL)) {
    cudaStreamSynchronize (state->stream);
    cudaStreamDestroy (state->stream);
    cvis_context_pop (state->context);
  }
  cvis_context_unref (state->context);
  g_free (state);
}

cudaStream_t
choose_stream (State *state, gpointer stream)
{
  return stream != NULL ? (cudaStream_t) stream : state->stream;
}

gboolean
cuda_copy (gpointer data, const CvisCropPlane *planes, guint n, gpointer stream,
    GError **error)
{
  State *state = (State *) data;

  return cvis_in_context (state->context, error, [&] {
    gboolean ok = TRUE;

    for (guint done = 0; ok && done < n; done += PLANES_A_LAUNCH)
      ok = launch (planes + done, MIN (n - done, PLANES_A_LAUNCH),
          choose_stream (state, stream), error);
    return ok;
  });
}

gboolean
cuda_wait (gpointer data, gpointer stream, GError **error)
{
  State *state = (State *) data;

  return cvis_in_context (state->context, error, [&] {
    return CVIS_CUDA (
        cudaStreamSynchronize (choose_stream (state, stream)), error);
  });
}
} // namespace

extern "C" const CvisCropBackend cvis_crop_backend_cuda = {
  "cuda",
  cuda_open,
  cuda_close,
  cuda_copy,
  cuda_wait,
};
