/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/plane.h"

#include "cuda/core/arena.cuh"
#include "cuda/core/sum.cuh"

#define THREADS 256
#define MAX_BLOCKS 1024

/* A block sums every gridDim.x-th row. */
template <typename Sample>
__global__ void
__launch_bounds__ (THREADS) sum_rows (CvisPlane plane, unsigned long long *sum)
{
  unsigned long long mine = 0;

  for (guint y = blockIdx.x; y < plane.height; y += gridDim.x) {
    const Sample *row =
        (const Sample *) ((const guint8 *) plane.data + y * plane.stride);

    for (guint x = threadIdx.x; x < plane.width; x += THREADS)
      mine += (guint) (row[x] >> plane.shift);
  }
  cvis_block_add<THREADS> (mine, sum);
}

gboolean
cvis_plane_sum_cuda (
    const CvisPlane *plane, CvisStage *stage, guint64 *sum, GError **error)
{
  cudaStream_t stream = (cudaStream_t) cvis_stage_get_stream (stage);
  const guint blocks = CLAMP (plane->height, 1, MAX_BLOCKS);
  const guint64 *results;
  unsigned long long *sums =
      (unsigned long long *) cvis_stage_begin (stage, 1, error);

  if (sums == NULL
      || !cvis_in_context (cvis_stage_get_context (stage), error, [&] {
           if (plane->sample_size == 1)
             sum_rows<guint8><<<blocks, THREADS, 0, stream>>> (*plane, sums);
           else
             sum_rows<guint16><<<blocks, THREADS, 0, stream>>> (*plane, sums);
           return CVIS_CUDA (cudaGetLastError (), error);
         }))
    return FALSE;
  results = cvis_stage_end (stage, error);
  if (results == NULL)
    return FALSE;
  *sum = results[0];
  return TRUE;
}
