/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Full search in the planes reduced by four; the zonal search starts from
 * its vectors. */
#include "cuda/motion/cuda/warp.cuh"

namespace {

#define PYRAMID_WARPS 4
#define PYRAMID_THREADS (32 * PYRAMID_WARPS)
#define PYRAMID_DOWN 11 /* candidates of a thread, in a column */

/* SADs of PART x PART samples with PYRAMID_DOWN candidates: a row of the
 * window is read and shifted once for all of them. @words: of the block, row
 * by row; @at: of the first candidate in the window, rows @pitch words apart */
template <int PART>
__device__ __forceinline__ void
pyramid_part_sads (const guint32 (*words)[PART / 4], const guint32 *at,
    guint32 shift, gint32 pitch, guint32 (&sums)[PYRAMID_DOWN])
{
  guint32 rows[PYRAMID_DOWN][PART / 4];

#pragma unroll
  for (gint32 i = 0; i < PYRAMID_DOWN; i++)
    sums[i] = 0;
#pragma unroll
  for (gint32 y = 0; y < PART + PYRAMID_DOWN - 1; y++, at += pitch) {
    guint32 before = at[0];

#pragma unroll
    for (gint32 k = 0; k < PART / 4; k++) {
      guint32 next = at[k + 1];

      rows[y % PYRAMID_DOWN][k] = __funnelshift_r (before, next, shift);
      before = next;
    }
    if (y < PYRAMID_DOWN - 1)
      continue;
#pragma unroll
    for (gint32 i = 0; i < PYRAMID_DOWN; i++)
#pragma unroll
      for (gint32 k = 0; k < PART / 4; k++)
        sums[i] = motion_sad4 (rows[(y + 1 + i) % PYRAMID_DOWN][k],
            words[y - (PYRAMID_DOWN - 1)][k], sums[i]);
  }
}

/* Minimum of sum << 13 | number over the thread block, and the total of all
 * sums, in all threads. */
__device__ __forceinline__ void
pyramid_reduce_block (guint32 *key, guint32 *total)
{
  __shared__ guint32 keys[PYRAMID_WARPS], totals[PYRAMID_WARPS];

  *key = motion_warp_min (*key);
  *total = motion_warp_sum (*total);
  if (motion_lane () == 0) {
    keys[threadIdx.x / 32] = *key;
    totals[threadIdx.x / 32] = *total;
  }
  __syncthreads ();
  *total = 0;
  for (guint32 w = 0; w < PYRAMID_WARPS; w++) {
    *key = min (*key, keys[w]);
    *total += totals[w];
  }
}

/* Whether the best of @n candidates is above 0.6 of the mean, as in noise.
 * 65 x 65 sums of 16 x 16 samples at most */
__device__ __forceinline__ void
pyramid_queue_alike (const MotionDeviceTask *task, guint32 number, guint32 best,
    guint32 total, guint32 n)
{
  bool alike = !task->config.eliminate_all && 5 * best * n > 3 * total;

  task->full_blocks[number].alike = alike;
  if (!alike)
    return;
  motion_queue (task, number);
  if (task->counters != NULL)
    atomicAdd (&task->counters[MOTION_COUNT_BRUTE], 1ull);
}

template <int PART>
__global__ void
__launch_bounds__ (PYRAMID_THREADS)
    pyramid_kernel (MOTION_PARAMETER (MotionDeviceTask, task))
{
  __shared__ guint32 words[PART][PART / 4];
  /* all candidates for a range of 128 and one part, from whole words on, and
   * those that the last threads compute beyond them */
  __shared__ guint32 window[(65 + PYRAMID_DOWN + PART) * ((68 + PART) / 4 + 2)];
  const MotionDeviceField *field = &task.fields[blockIdx.y];
  const MotionPlace place = motion_place (&task, blockIdx.x);
  guint32 pitch = task.layout.quarter_pitch;
  guint32 key = MOTION_NONE, total = 0;
  gsize at = (gsize) (place.y / 4) * pitch + place.x / 4;
  gint32 range = max ((gint32) task.config.range / 4, 1);
  gint32 side = 2 * range + 1, rows = side + PART - 1;
  gint32 groups = (side + PYRAMID_DOWN - 1) / PYRAMID_DOWN;
  /* the window's first sample, and the bytes of its word before it */
  const guint8 *first =
      field->reference.quarter + at - (gssize) range * (gssize) pitch - range;
  gint32 lead = (gint32) ((guintptr) first & 3);
  gint32 columns = (lead + side + PART + 2) / 4 + 1;
  gint32 wide = columns > 16 ? 32 : 16; /* threads in a row */

  for (gint32 y = (gint32) threadIdx.x / wide; y < rows;
       y += PYRAMID_THREADS / wide) {
    gint32 x = (gint32) threadIdx.x % wide;

    if (x < columns)
      window[y * columns + x] =
          ((const guint32 *) (first - lead + (gsize) y * pitch))[x];
  }
  if (threadIdx.x < PART * PART / 4) {
    guint32 y = threadIdx.x / (PART / 4), i = threadIdx.x % (PART / 4);

    /* blocks of 8 begin at every second sample: unaligned words */
    words[y][i] =
        motion_word (task.current.quarter + at + (gsize) y * pitch + 4 * i);
  }
  __syncthreads ();
  for (gint32 n = (gint32) threadIdx.x; n < side * groups;
       n += PYRAMID_THREADS) {
    gint32 x = n % side, y = n / side * PYRAMID_DOWN;
    guint32 sums[PYRAMID_DOWN];

    pyramid_part_sads<PART> (words, window + y * columns + (x + lead) / 4,
        8 * (guint32) (x + lead), columns, sums);
#pragma unroll
    for (gint32 i = 0; i < PYRAMID_DOWN; i++)
      if (y + i < side) {
        key = min (key, sums[i] << 13 | (guint32) ((y + i) * side + x));
        total += sums[i];
      }
  }
  pyramid_reduce_block (&key, &total);
  if (threadIdx.x == 0) {
    gint32 n = (gint32) (key & 0x1fff);

    field->predicted[place.number] =
        make_short2 ((gint16) motion_clamp (4 * (n % side - range),
                         place.rect.left, place.rect.right),
            (gint16) motion_clamp (
                4 * (n / side - range), place.rect.top, place.rect.bottom));
    if (task.config.method == MOTION_METHOD_FULL)
      pyramid_queue_alike (&task, blockIdx.y * task.n_blocks + place.number,
          key >> 13, total, (guint32) (side * side));
  }
}

} // namespace

cudaError_t
motion_launch_pyramid (const MotionDeviceTask *task, cudaStream_t stream)
{
  dim3 grid (task->n_blocks, task->n_fields);

  if (task->config.block_size <= 16)
    pyramid_kernel<4><<<grid, PYRAMID_THREADS, 0, stream>>> (*task);
  else if (task->config.block_size == 32)
    pyramid_kernel<8><<<grid, PYRAMID_THREADS, 0, stream>>> (*task);
  else
    pyramid_kernel<16><<<grid, PYRAMID_THREADS, 0, stream>>> (*task);
  return cudaGetLastError ();
}
