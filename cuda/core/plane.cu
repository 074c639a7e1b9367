/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/plane.h"

#include "cuda/core/device/arena.cuh"
#include "cuda/core/device/sum.cuh"

#define THREADS 256
#define MAX_BLOCKS 1024

/* A block adds up what @value gives for the samples of every gridDim.x-th row. */
template <typename Sample, typename Value>
static __device__ void
add_rows (const CvisPlane &plane, unsigned long long *sum, Value value)
{
  unsigned long long mine = 0;

  for (guint y = blockIdx.x; y < plane.height; y += gridDim.x) {
    const Sample *row =
        (const Sample *) ((const guint8 *) plane.data + y * plane.stride);

    for (guint x = threadIdx.x; x < plane.width; x += THREADS)
      mine += value (row[x]);
  }
  cvis_block_add<THREADS> (mine, sum);
}

template <typename Sample>
__global__ void
__launch_bounds__ (THREADS) sum_rows (CvisPlane plane, unsigned long long *sum)
{
  add_rows<Sample> (plane, sum,
      [&] (Sample sample) { return (guint) (sample >> plane.shift); });
}

template <typename Sample>
__global__ void
__launch_bounds__ (THREADS)
    count_rows (CvisPlane plane, unsigned long long *sum)
{
  add_rows<Sample> (
      plane, sum, [] (Sample sample) { return (guint) (sample != sample); });
}

typedef void (*Kernel) (CvisPlane plane, unsigned long long *sum);

/* Runs @kernel, which adds to one sum. */
static gboolean
run_kernel (Kernel kernel, const CvisPlane *plane, CvisStage *stage,
    guint64 *sum, GError **error)
{
  cudaStream_t stream = (cudaStream_t) cvis_stage_get_stream (stage);
  const guint blocks = CLAMP (plane->height, 1, MAX_BLOCKS);
  const guint64 *results;
  unsigned long long *sums =
      (unsigned long long *) cvis_stage_begin (stage, 1, error);

  if (sums == NULL
      || !cvis_in_context (cvis_stage_get_context (stage), error, [&] {
           kernel<<<blocks, THREADS, 0, stream>>> (*plane, sums);
           return CVIS_CUDA (cudaGetLastError (), error);
         }))
    return FALSE;
  results = cvis_stage_end (stage, error);
  if (results == NULL)
    return FALSE;
  *sum = results[0];
  return TRUE;
}

gboolean
cvis_plane_sum_cuda (
    const CvisPlane *plane, CvisStage *stage, guint64 *sum, GError **error)
{
  return run_kernel (
      plane->sample_size == 1 ? sum_rows<guint8> : sum_rows<guint16>, plane,
      stage, sum, error);
}

gboolean
cvis_plane_count_missing_cuda (
    const CvisPlane *plane, CvisStage *stage, guint64 *n, GError **error)
{
  return run_kernel (
      plane->sample_size == 4 ? count_rows<gfloat> : count_rows<gdouble>, plane,
      stage, n, error);
}
