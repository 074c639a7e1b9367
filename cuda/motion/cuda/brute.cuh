/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Computes every candidate of a block by several thread blocks, at nearly
 * the rate of the instruction that computes four absolute differences.
 *
 * A thread has one dx and 16 dy and goes down a column of words. It uses
 * each word of the block and each word of the reference read from shared
 * memory up to 16 times, with the last 16 words of the reference in
 * registers. For any dx, words of the reference would have to be shifted;
 * instead, shared memory holds the window already shifted, and each thread
 * block computes the dx that are equal modulo 4. The last thread block to
 * finish writes the result of all. */
#pragma once

#include "cuda/motion/cuda/least.cuh"

namespace {

#define BRUTE_WARPS 8
#define BRUTE_THREADS (32 * BRUTE_WARPS)
#define BRUTE_ACROSS 128 /* dx of a tile, at most */
#define BRUTE_DOWN 16    /* dy of a thread */
#define BRUTE_COLUMNS 4  /* parts of a block by dx; each may be split by dy */

/* Key of a candidate of a thread: cost << 10 | order among those of the same
 * dx. */
#define ORDER_BITS 10

__device__ __forceinline__ guint32
brute_order_of (bool shortest, gint32 y)
{
  return shortest ? (guint32) abs (y) << 1 | (y > 0) : (guint32) (y + 128);
}

__device__ __forceinline__ gint32
brute_order_to_y (bool shortest, guint32 order)
{
  return !shortest   ? (gint32) order - 128
         : order & 1 ? (gint32) (order >> 1)
                     : -(gint32) (order >> 1);
}

/* Work of a thread block: candidates of a block whose dx is `column` modulo
 * BRUTE_COLUMNS, and of their rows piece `cut` of 1 << `cut_bits`. */
struct BrutePart {
  gint32 column, cut, cut_bits;
};

template <int SIZE> struct Brute {
  static constexpr int WORDS = SIZE / 4;
  /* odd, so that threads with different dy use different banks */
  static constexpr int PITCH = BRUTE_ACROSS / 4 + WORDS - 1;
  static constexpr int STEPS = SIZE < 32 ? SIZE : 32;
  /* words of the block that each thread loads */
  static constexpr int OWN = (WORDS * SIZE + BRUTE_THREADS - 1) / BRUTE_THREADS;

  const MotionDeviceTask *task;
  MotionPlace place;
  const guint8 *reference; /* at the block's first sample */
  guint32 pitch;
  short2 prior;
  guint32 *block;  /* shared memory: the block's words, column by column */
  guint32 *window; /* shared memory: rows of PITCH words */
  guint32 own[OWN];
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
    prior = motion_prior (t, field, number);
    block = memory;
    window = memory + WORDS * SIZE;
    pair.clear ();
#pragma unroll
    for (guint32 k = 0; k < OWN; k++) {
      guint32 i = threadIdx.x + k * BRUTE_THREADS, j = i / SIZE;
      guint32 row = i % SIZE;

      own[k] = j < WORDS ? __ldg ((const guint32 *) (t->current.search + at
                                                     + (gsize) row * pitch)
                                  + j)
                         : 0;
    }
  }

  __device__ __forceinline__ void
  store_block ()
  {
#pragma unroll
    for (guint32 k = 0; k < OWN; k++) {
      guint32 i = threadIdx.x + k * BRUTE_THREADS, j = i / SIZE;

      if (j < WORDS)
        block[i] = own[k] & motion_mask (place.w, 4 * (gint32) j);
    }
  }

  /* Copies the word at @from and those of every STEP-th row below it, @rows
   * rows down, to @to. AT_ONCE loads are in flight before the first store. */
  template <int STEP, int AT_ONCE>
  __device__ __forceinline__ void
  load_words (const guint32 *from, guint32 *to, guint32 shift, gint32 rows)
  {
    const guint32 down = STEP * pitch / 4;

    for (; rows > 0; rows -= AT_ONCE * STEP) {
      guint32 low[AT_ONCE], high[AT_ONCE];

#pragma unroll
      for (gint32 k = 0; k < AT_ONCE; k++) {
        low[k] = k * STEP < rows ? __ldg (from + k * down) : 0;
        high[k] = k * STEP < rows ? __ldg (from + k * down + 1) : 0;
      }
#pragma unroll
      for (gint32 k = 0; k < AT_ONCE; k++)
        if (k * STEP < rows)
          to[k * STEP * PITCH] = __funnelshift_r (low[k], high[k], shift);
      from += AT_ONCE * down;
      to += AT_ONCE * STEP * PITCH;
    }
  }

  /* Copies @rows rows of @words words from (@x, @y) relative to the block: a
   * warp copies the first 32 words of a row, and the remaining words of
   * several rows */
  __device__ __forceinline__ void
  load_window (gint32 x, gint32 y, gint32 words, gint32 rows)
  {
    const guint8 *first = reference + (gssize) y * (gssize) pitch + x;
    const guint32 *aligned =
        (const guint32 *) ((guintptr) first & ~(guintptr) 3);
    const guint32 shift = 8 * (guint32) ((guintptr) first & 3);
    const gint32 thread = (gint32) threadIdx.x, far = 32 + thread % WORDS;
    gint32 row = thread / 32;

    if (thread % 32 < words)
      load_words<BRUTE_WARPS, 10> (
          aligned + (guint32) row * (pitch / 4) + thread % 32,
          window + row * PITCH + thread % 32, shift, rows - row);
    row = thread / WORDS;
    if (far < words)
      load_words<BRUTE_THREADS / WORDS, 5> (
          aligned + (guint32) row * (pitch / 4) + far,
          window + row * PITCH + far, shift, rows - row);
  }

  /* SADs of 16 candidates in a column; @first: the window's word of the
   * upper one */
  template <bool MASKED>
  __device__ __forceinline__ void
  add_differences (const guint32 *first, guint32 (&sums)[BRUTE_DOWN]) const
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

  /* The @n candidates at (@x, @y) and below. */
  __device__ __forceinline__ void
  keep_two_best (guint32 (&sums)[BRUTE_DOWN], gint32 x, gint32 y, gint32 n)
  {
    const bool shortest = task->config.tie == MOTION_TIE_SHORT;
    const guint32 lambda = task->config.lambda;
    guint32 best = MOTION_NONE, second = MOTION_NONE;

#pragma unroll
    for (int k = 0; k < BRUTE_DOWN; k++)
      sums[k] = sums[k] << ORDER_BITS | brute_order_of (shortest, y + k);
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
    add_candidate (best, x);
    add_candidate (second, x);
  }

  __device__ __forceinline__ void
  add_candidate (guint32 key, gint32 x)
  {
    const MotionTie tie = task->config.tie;
    gint32 y = brute_order_to_y (
        tie == MOTION_TIE_SHORT, key & ((1u << ORDER_BITS) - 1));

    if (key != MOTION_NONE)
      pair.add (motion_candidate_key (tie, key >> ORDER_BITS, x, y));
  }

  /* Every fourth column of candidates from (@left + @part, @top), of a tile
   * of @across x @down. */
  __device__ __forceinline__ void
  compute_tile (
      gint32 left, gint32 top, gint32 across, gint32 down, gint32 part)
  {
    gint32 columns = (across - part + 3) / 4;
    gint32 groups = (down + BRUTE_DOWN - 1) / BRUTE_DOWN;
    bool whole = place.w == SIZE && place.h == SIZE;

    if (columns > 0)
      load_window (left + part, top, columns + WORDS - 1,
          groups * BRUTE_DOWN + SIZE - 1);
    store_block ();
    __syncthreads ();
    for (gint32 i = (gint32) threadIdx.x; i < columns * groups;
         i += BRUTE_THREADS) {
      gint32 row = (gint32) ((guint32) i / (guint32) max (columns, 1));
      gint32 x = i - row * columns, y = row * BRUTE_DOWN;
      guint32 sums[BRUTE_DOWN];

      if (whole)
        add_differences<false> (window + y * PITCH + x, sums);
      else
        add_differences<true> (window + y * PITCH + x, sums);
      keep_two_best (sums, left + part + 4 * x, top + y, down - y);
    }
    __syncthreads (); /* the window has been read */
  }

  /* Size of the pieces if @n is cut into equal pieces of at most @most. */
  static __device__ __forceinline__ gint32
  equal_piece (gint32 n, gint32 most)
  {
    gint32 pieces = 1;

    if (n <= most) /* usual case, without a division */
      return n;
    pieces = (n + most - 1) / most;
    return (n + pieces - 1) / pieces;
  }

  /* All candidates of a part, in tiles of equal size. @rows: of a tile, at
   * most. Contains at least one barrier. */
  __device__ __forceinline__ void
  compute_part (gint32 rows, const BrutePart &part)
  {
    const MotionRect r = place.rect;
    gint32 n_x = r.right - r.left + 1, all_y = r.bottom - r.top + 1;
    gint32 first_y = all_y * part.cut >> part.cut_bits;
    gint32 end_y = all_y * (part.cut + 1) >> part.cut_bits;
    gint32 step_x = equal_piece (n_x, BRUTE_ACROSS);
    gint32 step_y = equal_piece (end_y - first_y, rows);

    if (end_y == first_y)
      __syncthreads ();
    for (gint32 y = first_y; y < end_y; y += step_y)
      for (gint32 x = 0; x < n_x; x += step_x)
        compute_tile (r.left + x, r.top + y, min (step_x, n_x - x),
            min (step_y, end_y - y), part.column);
  }

  /* Merges the thread block's two best candidates into those of the block.
   * The last part of the block stores them and resets @whole. Only the first
   * thread does so; the others may go on, but must not write to @pairs
   * before the next barrier. */
  __device__ __forceinline__ void
  store_best (MotionFullBlock *whole, MotionPair *pairs, guint32 parts,
      MotionFound *found)
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
    pair.best = atomicExch (&whole->best, MOTION_NO_KEY);
    pair.second = atomicExch (&whole->second, MOTION_NO_KEY);
    whole->parts = MOTION_NONE;
    motion_store_pair (pair, &found[place.number]);
  }
};

} // namespace

/* Finds the largest tile for @kernel, and how many thread blocks of
 * BRUTE_THREADS the device holds at once. @least: bytes of shared memory
 * besides the tile */
cudaError_t motion_prepare_tile (const void *kernel, gsize least,
    const MotionConfig *config, MotionTile *tile);
/* The same for full searches that compute every candidate. */
cudaError_t motion_prepare_brute (const MotionConfig *config, MotionTile *tile);
cudaError_t motion_launch_brute (
    const MotionDeviceTask *task, const MotionTile *tile, cudaStream_t stream);
