/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Warp primitives of the motion kernels: four absolute differences in one
 * instruction, loads of unaligned words, sums and minima over 32 lanes. */
#pragma once

#include "cuda/motion/cuda/engine.cuh"

#define MOTION_ALL_LANES 0xffffffffu

/* A kernel parameter that is read in place, without a local copy. */
#if CUDART_VERSION >= 11070
#define MOTION_PARAMETER(type, name) const __grid_constant__ type name
#else
#define MOTION_PARAMETER(type, name) const type name
#endif

#define MOTION_NONE 0xffffffffu /* no cost */

/* Starts a kernel; tests/emulation defines it otherwise. */
#ifndef MOTION_START
#define MOTION_START(kernel, grid, threads, stream, ...)                       \
  kernel<<<grid, threads, 0, stream>>> (__VA_ARGS__)
#endif

/* Launches KERNEL (block size) with the parameters, the task first; KERNEL is a macro
 * that names the kernel for a size. */
#define MOTION_LAUNCH_SIZE(KERNEL, grid, threads, stream, task, ...)           \
  do {                                                                         \
    switch ((task).config.block_size) {                                        \
      case 8:                                                                  \
        MOTION_START (KERNEL (8), grid, threads, stream, task, ##__VA_ARGS__); \
        break;                                                                 \
      case 16:                                                                 \
        MOTION_START (                                                         \
            KERNEL (16), grid, threads, stream, task, ##__VA_ARGS__);          \
        break;                                                                 \
      case 32:                                                                 \
        MOTION_START (                                                         \
            KERNEL (32), grid, threads, stream, task, ##__VA_ARGS__);          \
        break;                                                                 \
      default:                                                                 \
        MOTION_START (                                                         \
            KERNEL (64), grid, threads, stream, task, ##__VA_ARGS__);          \
        break;                                                                 \
    }                                                                          \
  } while (0)

static __device__ __forceinline__ guint32
motion_lane (void)
{
  return threadIdx.x & 31;
}

/* @sum + the absolute differences of the four bytes. Only the PTX
 *   instruction adds in the same instruction. */
static __device__ __forceinline__ guint32
motion_sad4 (guint32 a, guint32 b, guint32 sum)
{
#ifdef MOTION_EMULATED
  return sum + __vsadu4 (a, b);
#else
  guint32 result;

  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;"
      : "=r"(result)
      : "r"(a), "r"(b), "r"(sum));
  return result;
#endif
}

/* @sum + |@a - @b| */
static __device__ __forceinline__ guint32
motion_sad1 (guint32 a, guint32 b, guint32 sum)
{
  return __usad (a, b, sum);
}

/* The four bytes from @bytes on. Reads the whole words that contain them and
 * always one word more. */
static __device__ __forceinline__ guint32
motion_word (const guint8 *bytes)
{
  const guint32 *words = (const guint32 *) ((guintptr) bytes & ~(guintptr) 3);

  return __funnelshift_r (
      words[0], words[1], 8 * (guint32) ((guintptr) bytes & 3));
}

static __device__ __forceinline__ guint32
motion_warp_sum (guint32 v)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync (MOTION_ALL_LANES, v);
#else
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync (MOTION_ALL_LANES, v, d);
  return v;
#endif
}

static __device__ __forceinline__ guint32
motion_warp_min (guint32 v)
{
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync (MOTION_ALL_LANES, v);
#else
  for (int d = 16; d > 0; d /= 2)
    v = min (v, __shfl_xor_sync (MOTION_ALL_LANES, v, d));
  return v;
#endif
}

/* Lanes with the same @key. */
static __device__ __forceinline__ guint32
motion_warp_match (guint32 key)
{
#if __CUDA_ARCH__ >= 700
  return __match_any_sync (MOTION_ALL_LANES, key);
#else
  guint32 lanes = 0;

  for (int i = 0; i < 32; i++)
    lanes |= (guint32) (__shfl_sync (MOTION_ALL_LANES, key, i) == key) << i;
  return lanes;
#endif
}

/* A barrier for @threads of the thread block, with a number of its own,
 * 1..15; 0 is __syncthreads(). */
static __device__ __forceinline__ void
motion_barrier (gint32 number, gint32 threads)
{
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* Sleeps for about @ns. */
static __device__ __forceinline__ void
motion_nap (guint32 ns)
{
#if __CUDA_ARCH__ >= 700
  __nanosleep (ns);
#endif
}

/* Waits for the kernels that this one was launched before the end of, and
 * for their writes. */
static __device__ __forceinline__ void
motion_await_kernels (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Called by one thread of each of @blocks thread blocks when the block has
 * finished. @ended: zero before and after. Returns: whether this is the last
 * block */
static __device__ __forceinline__ bool
motion_is_last (guint32 *ended, guint32 blocks)
{
  __threadfence ();
  return atomicInc (ended, blocks - 1) == blocks - 1;
}

/* Copies a word to shared memory, asynchronously where the device supports
 * it; motion_copy_wait() completes the thread's copies. */
static __device__ __forceinline__ void
motion_copy_word (guint32 *to, const guint32 *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                   (guint32) __cvta_generic_to_shared (to)),
               "l"(from)
               : "memory");
#else
  *to = *from;
#endif
}

static __device__ __forceinline__ void
motion_copy_wait (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Mask of the bytes of a row's word at byte @at that are among the first @n
 * of the row. */
static __device__ __forceinline__ guint32
motion_mask (gint32 n, gint32 at)
{
  return n - at >= 4 ? 0xffffffffu : n > at ? (1u << (8 * (n - at))) - 1 : 0;
}

/* --- a block of the grid ---------------------------------------------------- */

/* Field of block @number among the blocks of all fields; @number becomes the
 * block's index in the field. */
static __device__ __forceinline__ guint32
motion_field_of (const MotionDeviceTask *task, guint32 *number)
{
  guint32 field = 0;

  for (; *number >= task->n_blocks; field++)
    *number -= task->n_blocks;
  return field;
}

typedef struct {
  guint32 number;
  gint32 x, y, w, h;
  MotionRect rect; /* candidates */
} MotionPlace;

static __device__ __forceinline__ MotionPlace
motion_place_at (const MotionDeviceTask *task, gint32 column, gint32 row)
{
  const MotionConfig *config = &task->config;
  gint32 size = (gint32) config->block_size;
  MotionPlace p;

  p.number = (guint32) row * task->columns + (guint32) column;
  p.x = column * size;
  p.y = row * size;
  p.w = min (size, (gint32) config->width - p.x);
  p.h = min (size, (gint32) config->height - p.y);
  p.rect = motion_candidates (config, p.x, p.y, p.w, p.h);
  return p;
}

static __device__ __forceinline__ MotionPlace
motion_place (const MotionDeviceTask *task, guint32 number)
{
  return motion_place_at (task, (gint32) (number % task->columns),
      (gint32) (number / task->columns));
}

/* One thread: queues block @number, among the blocks of all fields, for
 * brute force. */
static __device__ __forceinline__ void
motion_queue (const MotionDeviceTask *task, guint32 number)
{
  MotionFullProgress *progress = task->progress;

  *(volatile guint32 *) &task->full_blocks[atomicAdd (&progress->queued, 1u)]
       .queued = number;
  __threadfence ();
  atomicAdd (&progress->done, 1u);
}

static __device__ __forceinline__ gboolean
motion_contains (const MotionRect *rect, gint32 x, gint32 y)
{
  return x >= rect->left && x <= rect->right && y >= rect->top
         && y <= rect->bottom;
}

/* Prior vector of a block, predictor for the cost of its vectors: zero
 * without a prior field or if lambda is 0. */
static __device__ __forceinline__ short2
motion_prior (const MotionDeviceTask *task, const MotionDeviceField *field,
    guint32 number)
{
  short2 prior = { 0, 0 };

  if (task->config.lambda != 0 && field->prior != NULL) {
    prior.x = field->prior[number].x;
    prior.y = field->prior[number].y;
  }
  return prior;
}

/* motion_bits() without a loop. */
static __device__ __forceinline__ guint32
motion_code_bits (gint32 value)
{
  guint32 code = value > 0 ? 2u * (guint32) value : 1u - 2u * (guint32) value;

  return 63 - 2 * (guint32) __clz ((gint32) code);
}

/* lambda * bits of a whole-pixel vector. */
static __device__ __forceinline__ guint32
motion_rate (guint32 lambda, gint32 x, gint32 y, short2 prior)
{
  return lambda == 0 ? 0
                     : lambda
                           * (motion_code_bits (4 * x - prior.x)
                               + motion_code_bits (4 * y - prior.y));
}

/* --- the samples of a block in the registers of a warp ---------------------- */

/* Lane l has word l % WORDS of the rows l / WORDS, + STEP, + 2 STEP, ...
 * Lanes that have no word of blocks of 8, and words and rows outside a
 * partial block, are masked. */
template <int SIZE, bool MASKED> struct MotionLanes {
  static constexpr int WORDS = SIZE / 4;
  static constexpr int STEP = 32 / WORDS;
  static constexpr int ROWS = SIZE <= STEP ? 1 : SIZE / STEP;

  guint32 words[ROWS];
  guint32 mask;      /* of the column */
  gint32 row, h;     /* first row of the lane; height of the block */
  guint32 offset;    /* of the lane's first word from the block's first */
  guint32 row_pitch; /* bytes from row to row of the lane */

  __device__ __forceinline__ guint32
  masked (guint32 word, int i) const
  {
    return MASKED ? row + i * STEP < h ? word & mask : 0 : word;
  }

  /* @plane: of the frame */
  __device__ __forceinline__ void
  load (const guint8 *plane, guint32 pitch, const MotionPlace &place)
  {
    gint32 column = (gint32) (motion_lane () % WORDS);
    const guint8 *bytes;

    row = (gint32) (motion_lane () / WORDS);
    h = place.h;
    mask = motion_mask (place.w, 4 * column);
    offset = (guint32) min (row, SIZE - 1) * pitch + 4 * (guint32) column;
    row_pitch = STEP * pitch;
    bytes = plane + (gsize) place.y * pitch + place.x + offset;
    for (int i = 0; i < ROWS; i++, bytes += row_pitch)
      words[i] = masked (*(const guint32 *) bytes, i);
  }

  /* The lane's part of the SAD; @at: the block's position in the reference. */
  __device__ __forceinline__ guint32
  share (const guint8 *at) const
  {
    const guint8 *bytes = at + offset;
    const guint32 *first = (const guint32 *) ((guintptr) bytes & ~(guintptr) 3);
    guint32 shift = 8 * (guint32) ((guintptr) bytes & 3), sum = 0;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      const guint32 *word =
          (const guint32 *) ((const guint8 *) first + i * row_pitch);

      sum = motion_sad4 (
          masked (__funnelshift_r (word[0], word[1], shift), i), words[i], sum);
    }
    return sum;
  }
};
