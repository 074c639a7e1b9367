/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Every candidate of a block, computed by several thread blocks at nearly the
 * rate of the instruction that does four absolute differences.
 *
 * A thread has one dx and 16 dy. It goes down a column of words: of each word of
 * the block and each of the reference that it reads from shared memory it makes
 * up to 16 uses, with the last 16 words of the reference in registers. Words of
 * the reference would have to be shifted together, as dx is any; instead the
 * window lies in shared memory shifted already, and each thread block does the
 * dx that are equal modulo 4. The last of them to be done writes what all have
 * found. */
#include "motiontop.cuh"

namespace {

#define BRUTE_WARPS 8
#define BRUTE_THREADS (32 * BRUTE_WARPS)
#define BRUTE_ACROSS 128 /* dx of a tile, at most */
#define BRUTE_DOWN 16    /* dy of a thread */
#define BRUTE_PARTS 4    /* thread blocks of a block, or twice as many */

/* Candidates of a thread by cost and then by their order among those of the same
 * dx: cost << 10 | order. */
#define ORDER_BITS 10

__device__ __forceinline__ guint32
order_of (bool shortest, gint32 y)
{
  return shortest ? (guint32) abs (y) << 1 | (y > 0) : (guint32) (y + 128);
}

__device__ __forceinline__ gint32
order_to_y (bool shortest, guint32 order)
{
  return !shortest   ? (gint32) order - 128
         : order & 1 ? (gint32) (order >> 1)
                     : -(gint32) (order >> 1);
}

template <int SIZE> struct Brute {
  static constexpr int WORDS = SIZE / 4;
  /* odd, so that threads at other dy use other banks */
  static constexpr int PITCH = BRUTE_ACROSS / 4 + WORDS - 1;
  static constexpr int STEPS = SIZE < 16 ? SIZE : 16;

  const MotionDeviceTask *task;
  MotionPlace place;
  const guint8 *reference; /* the block's first sample in it */
  guint32 pitch;
  short2 prior;
  guint32 *block;  /* shared: its words, column by column */
  guint32 *window; /* shared: rows of PITCH words */
  MotionPair pair;

  __device__ __forceinline__ void
  begin (const MotionDeviceTask *t, const MotionDeviceField *field,
      guint32 number, guint32 *memory)
  {
    gsize at;

    task = t;
    place = motion_place (t, number);
    pitch = t->layout.pitch;
    at = (gsize) place.y * pitch + place.x;
    reference = field->reference.search + at;
    prior = motion_prior (field, number);
    block = memory;
    window = memory + WORDS * SIZE;
    pair.clear ();
    for (guint32 i = threadIdx.x; i < WORDS * SIZE; i += BRUTE_THREADS) {
      guint32 j = i / SIZE, row = i % SIZE;
      guint32 word = *(const guint32 *) (t->current.search + at
                                         + (gsize) row * pitch + 4 * j);

      block[i] = word & motion_mask (place.w, 4 * (gint32) j);
    }
  }

  /* Words of a row of the window from @word on, @step rows apart */
  __device__ __forceinline__ void
  load_words (const guint8 *aligned, guint32 shift, gint32 word, gint32 words,
      gint32 row, gint32 step, gint32 rows)
  {
    const guint32 *from =
        (const guint32 *) (aligned + (guint32) row * pitch) + word;
    guint32 *to = window + row * PITCH + word;
    guint32 words_down = (guint32) step * pitch / 4;

    if (word >= words)
      return;
#pragma unroll 5
    for (; row < rows; row += step, from += words_down, to += step * PITCH)
      *to = __funnelshift_r (from[0], from[1], shift);
  }

  /* @words words from (@x, @y) relative to the block, @rows rows of them: the
   * first 32 of a row by a warp, the others of several rows */
  __device__ __forceinline__ void
  load_window (gint32 x, gint32 y, gint32 words, gint32 rows)
  {
    const guint8 *first = reference + (gssize) y * (gssize) pitch + x;
    guint32 shift = 8 * (guint32) ((guintptr) first & 3);
    const guint8 *aligned = (const guint8 *) ((guintptr) first & ~(guintptr) 3);
    gint32 thread = (gint32) threadIdx.x;

    load_words (
        aligned, shift, thread % 32, words, thread / 32, BRUTE_WARPS, rows);
    if (thread % WORDS < WORDS - 1)
      load_words (aligned, shift, 32 + thread % WORDS, words, thread / WORDS,
          BRUTE_THREADS / WORDS, rows);
  }

  /* SADs of 16 candidates below each other; @first: the window's word of the
   * upper one */
  template <bool MASKED>
  __device__ __forceinline__ void
  sum_up (const guint32 *first, guint32 (&sums)[BRUTE_DOWN]) const
  {
#pragma unroll
    for (int k = 0; k < BRUTE_DOWN; k++)
      sums[k] = 0;
#pragma unroll 1
    for (int j = 0; j < WORDS; j++) {
      const guint32 mask = MASKED ? motion_mask (place.w, 4 * j) : ~0u;
      const guint32 *column = first + j;
      const uint4 *words = (const uint4 *) (block + j * SIZE);
      guint32 ring[BRUTE_DOWN];

#pragma unroll
      for (int k = 0; k < BRUTE_DOWN - 1; k++)
        ring[k] = column[k * PITCH] & mask;
#pragma unroll 1
      for (int row = 0; row < SIZE; row += STEPS) {
        uint4 four = { 0, 0, 0, 0 };

#pragma unroll
        for (int s = 0; s < STEPS; s++) {
          if (MASKED && row + s >= place.h)
            break;
          if (s % 4 == 0)
            four = words[(row + s) / 4];
          ring[(s + BRUTE_DOWN - 1) % BRUTE_DOWN] =
              column[(row + s + BRUTE_DOWN - 1) * PITCH] & mask;
#pragma unroll
          for (int k = 0; k < BRUTE_DOWN; k++)
            sums[k] = motion_sad4 (ring[(s + k) % BRUTE_DOWN],
                s % 4 == 0   ? four.x
                : s % 4 == 1 ? four.y
                : s % 4 == 2 ? four.z
                             : four.w,
                sums[k]);
        }
      }
    }
  }

  /* Candidates at (@x, @y) and below it, @n of them. */
  __device__ __forceinline__ void
  take (guint32 (&sums)[BRUTE_DOWN], gint32 x, gint32 y, gint32 n)
  {
    const bool shortest = task->config.tie == MOTION_TIE_SHORT;
    const guint32 lambda = task->config.lambda;
    guint32 best = MOTION_NONE, second = MOTION_NONE;

#pragma unroll
    for (int k = 0; k < BRUTE_DOWN; k++)
      sums[k] = sums[k] << ORDER_BITS | order_of (shortest, y + k);
    if (lambda != 0)
#pragma unroll 1
      for (int k = 0; k < BRUTE_DOWN; k++) {
        guint32 bits = motion_rate (lambda, x, y + k, prior) << ORDER_BITS;

#pragma unroll
        for (int i = 0; i < BRUTE_DOWN; i++)
          sums[i] += i == k ? bits : 0;
      }
    if (n < BRUTE_DOWN)
#pragma unroll
      for (int k = 0; k < BRUTE_DOWN; k++)
        sums[k] = k < n ? sums[k] : MOTION_NONE;
#pragma unroll
    for (int k = 0; k < BRUTE_DOWN; k++) {
      second = min (second, max (best, sums[k]));
      best = min (best, sums[k]);
    }
    add (best, x);
    add (second, x);
  }

  __device__ __forceinline__ void
  add (guint32 key, gint32 x)
  {
    const MotionTie tie = task->config.tie;
    gint32 y =
        order_to_y (tie == MOTION_TIE_SHORT, key & ((1u << ORDER_BITS) - 1));

    if (key != MOTION_NONE)
      pair.add (motion_candidate_key (tie, key >> ORDER_BITS, x, y));
  }

  /* Every fourth column of candidates from (@left + @part, @top), of @across by
   * @down. */
  __device__ __forceinline__ void
  tile (gint32 left, gint32 top, gint32 across, gint32 down, gint32 part)
  {
    gint32 columns = (across - part + 3) / 4;
    gint32 groups = (down + BRUTE_DOWN - 1) / BRUTE_DOWN;
    bool whole = place.w == SIZE && place.h == SIZE;

    if (columns <= 0)
      return;
    load_window (
        left + part, top, columns + WORDS - 1, groups * BRUTE_DOWN + SIZE - 1);
    __syncthreads ();
    for (gint32 i = (gint32) threadIdx.x; i < columns * groups;
         i += BRUTE_THREADS) {
      gint32 x = i % columns, y = i / columns * BRUTE_DOWN;
      guint32 sums[BRUTE_DOWN];

      if (whole)
        sum_up<false> (window + y * PITCH + x, sums);
      else
        sum_up<true> (window + y * PITCH + x, sums);
      take (sums, left + part + 4 * x, top + y, down - y);
    }
    __syncthreads (); /* the window has been read */
  }

  /* A fourth of the candidates, or of these the @half-th of @halves, in tiles of
   * equal size. @rows: of a tile, at most */
  __device__ __forceinline__ void
  run (gint32 rows, gint32 part, gint32 half, gint32 halves)
  {
    const MotionRect r = place.rect;
    gint32 n_x = r.right - r.left + 1, all_y = r.bottom - r.top + 1;
    gint32 first_y = all_y * half / halves;
    gint32 end_y = all_y * (half + 1) / halves;
    gint32 tiles_x = (n_x + BRUTE_ACROSS - 1) / BRUTE_ACROSS;
    gint32 tiles_y = (end_y - first_y + rows - 1) / rows;
    gint32 step_x = (n_x + tiles_x - 1) / tiles_x;
    gint32 step_y = (end_y - first_y + tiles_y - 1) / max (tiles_y, 1);

    for (gint32 y = first_y; y < end_y; y += step_y)
      for (gint32 x = 0; x < n_x; x += step_x)
        tile (r.left + x, r.top + y, min (step_x, n_x - x),
            min (step_y, end_y - y), part);
  }

  /* Adds the two best of the thread block's to those of the block; the last of
   * @parts stores them. */
  __device__ __forceinline__ void
  store (
      MotionWhole *whole, MotionPair *pairs, guint32 parts, MotionFound *found)
  {
    pair = motion_warp_pair (pair);
    if (motion_lane () == 0)
      pairs[threadIdx.x / 32] = pair;
    __syncthreads ();
    if (threadIdx.x != 0)
      return;
    for (guint32 w = 1; w < BRUTE_WARPS; w++) {
      pair.add (pairs[w].best);
      pair.add (pairs[w].second);
    }
    motion_take_key (&whole->best, &whole->second, pair.best);
    atomicMin (&whole->second, pair.second);
    __threadfence ();
    if (atomicAdd (&whole->parts, 1u) != parts - 2)
      return;
    __threadfence ();
    pair.best = atomicMin (&whole->best, MOTION_NO_KEY);
    pair.second = atomicMin (&whole->second, MOTION_NO_KEY);
    motion_store_pair (pair, &found[place.number]);
  }
};

/* A thread block takes the part of its number, which spreads few of them over
 * all multiprocessors, then the next that none has taken; partial blocks, which
 * take longest, first. @queued: the blocks that the elimination has given up,
 * else all */
template <int SIZE>
__global__ void
__launch_bounds__ (BRUTE_THREADS, 4) brute_kernel (
    MOTION_PARAMETER (MotionDeviceTask, task), guint32 rows, guint32 queued)
{
  extern __shared__ uint4 dynamic[];
  __shared__ MotionPair pairs[BRUTE_WARPS];
  __shared__ guint32 unit;
  const guint32 all = task.n_blocks * task.n_fields;
  const guint32 n = queued ? task.wholes[all].parts + 1 : all;
  /* where few blocks have the device to themselves, they are halved again: a
   * thread block is done sooner with four warps than with eight */
  const guint32 halves = 2 * BRUTE_PARTS * n <= gridDim.x ? 2 : 1;
  const guint32 parts = BRUTE_PARTS * halves;

  for (guint32 next = blockIdx.x; next / parts < n; next = unit) {
    guint32 i = next / parts;
    guint32 number = queued ? task.wholes[i].queued : all - 1 - i;
    MotionWhole *whole = &task.wholes[number];
    guint32 f = number / task.n_blocks;
    const MotionDeviceField *field = &task.fields[f];
    Brute<SIZE> brute;

    number -= f * task.n_blocks;
    brute.begin (&task, field, number, (guint32 *) dynamic);
    brute.run ((gint32) rows, (gint32) (next % BRUTE_PARTS),
        (gint32) (next % parts / BRUTE_PARTS), (gint32) halves);
    brute.store (whole, pairs, parts, field->found);
    if (threadIdx.x == 0)
      unit = gridDim.x + atomicAdd (&task.wholes[all].queued, 1u) + 1;
    __syncthreads ();
  }
}

typedef void (*BruteKernel) (const MotionDeviceTask, guint32, guint32);

BruteKernel
choose_kernel (const MotionConfig *config)
{
  return config->block_size == 8    ? brute_kernel<8>
         : config->block_size == 16 ? brute_kernel<16>
         : config->block_size == 32 ? brute_kernel<32>
                                    : brute_kernel<64>;
}

/* Bytes of shared memory for a tile of @rows: the block and its window. */
gsize
tile_bytes (const MotionConfig *config, guint rows)
{
  gsize words = config->block_size / 4;

  return 4
         * (words * config->block_size
             + (BRUTE_ACROSS / 4 + words - 1)
                   * (rows + config->block_size - 1));
}

} // namespace

cudaError_t
motion_prepare_brute (const MotionConfig *config, MotionTile *tile)
{
  BruteKernel kernel = choose_kernel (config);
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
    code = cudaFuncGetAttributes (&attributes, (const void *) kernel);
  if (code != cudaSuccess)
    return code;
  /* no more rows than there are candidates, in whole groups */
  tile->rows =
      MIN (128, (2 * config->range + 1 + BRUTE_DOWN - 1) & ~(BRUTE_DOWN - 1));
  while (tile->rows > BRUTE_DOWN
         && tile_bytes (config, tile->rows) + attributes.sharedSizeBytes
                > (gsize) most)
    tile->rows -= BRUTE_DOWN;
  tile->bytes = (guint32) tile_bytes (config, tile->rows);
  code = cudaFuncSetAttribute ((const void *) kernel,
      cudaFuncAttributeMaxDynamicSharedMemorySize, (int) tile->bytes);
  if (code == cudaSuccess)
    code = cudaOccupancyMaxActiveBlocksPerMultiprocessor (
        &resident, (const void *) kernel, BRUTE_THREADS, tile->bytes);
  tile->resident = (guint32) (processors * MAX (resident, 1));
  return code;
}

cudaError_t
motion_launch_brute (const MotionDeviceTask *task, const MotionTile *tile,
    gboolean queued, cudaStream_t stream)
{
  guint32 units =
      BRUTE_PARTS * task->n_blocks * task->n_fields * (queued ? 2 : 1);
  guint32 grid = MIN (tile->resident, units);

  choose_kernel (&task->config)<<<grid, BRUTE_THREADS, tile->bytes, stream>>> (
      *task, tile->rows, (guint32) queued);
  return cudaGetLastError ();
}
