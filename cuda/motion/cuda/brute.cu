/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The full search without elimination. */
#include "cuda/motion/cuda/brute.cuh"

namespace {

/* Each thread block computes the part with its own index, then the next part
 * that no other block has taken, until none is left. Parts of partial blocks
 * take longest and come first. */
template <int SIZE>
__global__ void
__launch_bounds__ (BRUTE_THREADS, 4) brute_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), guint32 rows, guint32 parts)
{
  extern __shared__ uint4 dynamic[];
  __shared__ MotionPair pairs[BRUTE_WARPS];
  __shared__ guint32 next;

  for (guint32 i = blockIdx.x; i < parts; i = next) {
    const guint32 whole = (parts - 1 - i) / BRUTE_COLUMNS;
    guint32 number = whole;
    const MotionDeviceField *field =
        &task.fields[motion_field_of (&task, &number)];
    Brute<SIZE> brute;

    brute.begin (&task, field, number, (guint32 *) dynamic);
    brute.compute_part (
        (gint32) rows, BrutePart{ (gint32) (i % BRUTE_COLUMNS), 0, 0 });
    /* taken late: a thread block that finishes early takes the next part */
    if (threadIdx.x == 0)
      next = gridDim.x + atomicAdd (&task.progress->taken, 1u);
    brute.store_best (
        &task.full_blocks[whole], pairs, BRUTE_COLUMNS, field->found);
  }
  if (threadIdx.x == 0 && motion_is_last (&task.progress->ended, gridDim.x))
    task.progress->taken = 0;
}

typedef void (*BruteKernel) (const MotionDeviceTask, guint32, guint32);

BruteKernel
brute_choose_kernel (const MotionConfig *config)
{
  return config->block_size == 8    ? brute_kernel<8>
         : config->block_size == 16 ? brute_kernel<16>
         : config->block_size == 32 ? brute_kernel<32>
                                    : brute_kernel<64>;
}

/* Bytes of shared memory for the block and a tile of @rows rows of
 * candidates. */
gsize
brute_tile_bytes (const MotionConfig *config, guint rows)
{
  gsize words = config->block_size / 4;

  return 4
         * (words * config->block_size
             + (BRUTE_ACROSS / 4 + words - 1)
                   * (rows + config->block_size - 1));
}

} // namespace

cudaError_t
motion_prepare_tile (const void *kernel, gsize least,
    const MotionConfig *config, MotionTile *tile)
{
  cudaFuncAttributes attributes;
  int device = 0, most = 0, processors = 0, resident = 0;
  cudaError_t code = cudaGetDevice (&device);

  if (code == cudaSuccess)
    code = cudaDeviceGetAttribute (
        &most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (code == cudaSuccess)
    code = cudaDeviceGetAttribute (
        &processors, cudaDevAttrMultiProcessorCount, device);
  if (code == cudaSuccess)
    code = cudaFuncGetAttributes (&attributes, kernel);
  if (code != cudaSuccess)
    return code;
  /* not more rows than there are candidates, in whole groups */
  tile->rows =
      MIN (128, (2 * config->range + 1 + BRUTE_DOWN - 1) & ~(BRUTE_DOWN - 1));
  while (tile->rows > BRUTE_DOWN
         && brute_tile_bytes (config, tile->rows) + attributes.sharedSizeBytes
                > (gsize) most)
    tile->rows -= BRUTE_DOWN;
  tile->bytes = (guint32) MAX (brute_tile_bytes (config, tile->rows), least);
  code = cudaFuncSetAttribute (
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) tile->bytes);
  if (code == cudaSuccess)
    code = cudaOccupancyMaxActiveBlocksPerMultiprocessor (
        &resident, kernel, BRUTE_THREADS, tile->bytes);
  tile->resident = (guint32) (processors * MAX (resident, 1));
  return code;
}

cudaError_t
motion_prepare_brute (const MotionConfig *config, MotionTile *tile)
{
  return motion_prepare_tile (
      (const void *) brute_choose_kernel (config), 0, config, tile);
}

cudaError_t
motion_launch_brute (
    const MotionDeviceTask *task, const MotionTile *tile, cudaStream_t stream)
{
  guint32 parts = BRUTE_COLUMNS * task->n_blocks * task->n_fields;

  brute_choose_kernel (&task->config)<<<MIN (tile->resident, parts),
      BRUTE_THREADS, tile->bytes, stream>>> (*task, tile->rows, parts);
  return cudaGetLastError ();
}
