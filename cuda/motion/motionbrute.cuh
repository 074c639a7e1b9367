/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Every candidate of a block, computed by a thread block at nearly the rate of
 * the instruction that does four absolute differences.
 *
 * A thread has one dx and 16 dy. It goes down a column of words: of each word of
 * the block and each of the reference that it reads from shared memory it makes
 * up to 16 uses, with the last 16 words of the reference in registers. Words of
 * the reference would have to be shifted together, as dx is any; instead the
 * window lies in shared memory shifted already, and is loaded four times, for
 * dx = 0, 1, 2, 3 modulo 4. */
#pragma once

#include "motiontop.cuh"

#define MOTION_BRUTE_WARPS 8
#define MOTION_BRUTE_THREADS (32 * MOTION_BRUTE_WARPS)
#define MOTION_BRUTE_ACROSS 128 /* dx of a tile, at most */
#define MOTION_BRUTE_DOWN 16    /* dy of a thread */

template <int SIZE, bool MASKED> struct MotionBrute {
  static constexpr int WORDS = SIZE / 4;
  /* odd, so that threads at other dy use other banks */
  static constexpr int PITCH = MOTION_BRUTE_ACROSS / 4 + WORDS - 1;
  static constexpr int STEPS = SIZE < 16 ? SIZE : 16;

  const MotionDeviceTask *task;
  const MotionPlace *place;
  const guint8 *reference; /* the block's first sample in it */
  guint32 pitch;
  short2 prior;
  guint32 *block;  /* shared: its words, column by column */
  guint32 *window; /* shared: rows of PITCH words */
  MotionPair pair;
  guint32 limit; /* what costs more cannot be among the two best */

  __device__ __forceinline__ void
  begin (const MotionDeviceTask *t, const MotionDeviceField *field,
      const MotionPlace *p, guint32 *memory)
  {
    gsize at = (gsize) p->y * t->layout.pitch + p->x;

    task = t;
    place = p;
    pitch = t->layout.pitch;
    reference = field->reference.search + at;
    prior = motion_prior (field, p->number);
    block = memory;
    window = memory + WORDS * SIZE;
    pair.clear ();
    limit = MOTION_COST_LIMIT;
    for (guint32 i = threadIdx.x; i < WORDS * SIZE; i += MOTION_BRUTE_THREADS) {
      guint32 j = i / SIZE, row = i % SIZE;
      guint32 word = *(const guint32 *) (t->current.search + at
                                         + (gsize) row * pitch + 4 * j);

      block[i] = MASKED ? word & motion_mask (p->w, 4 * (gint32) j) : word;
    }
  }

  /* @words words from (@x, @y) relative to the block, @rows rows of them */
  __device__ __forceinline__ void
  load_window (gint32 x, gint32 y, gint32 words, gint32 rows)
  {
    const guint8 *first = reference + (gssize) y * (gssize) pitch + x;
    guint32 shift = 8 * (guint32) ((guintptr) first & 3);
    const guint8 *aligned = (const guint8 *) ((guintptr) first & ~(guintptr) 3);

#pragma unroll 4
    for (gint32 row = (gint32) threadIdx.x / 32; row < rows;
         row += MOTION_BRUTE_WARPS) {
      const guint32 *from = (const guint32 *) (aligned + (guint32) row * pitch);

      for (gint32 i = (gint32) motion_lane (); i < words; i += 32)
        window[row * PITCH + i] = __funnelshift_r (from[i], from[i + 1], shift);
    }
  }

  /* SADs of 16 candidates below each other; @first: the window's word of the
   * upper one */
  __device__ __forceinline__ void
  sum_up (const guint32 *first, guint32 (&sums)[MOTION_BRUTE_DOWN]) const
  {
#pragma unroll
    for (int k = 0; k < MOTION_BRUTE_DOWN; k++)
      sums[k] = 0;
#pragma unroll 1
    for (int j = 0; j < WORDS; j++) {
      const guint32 mask = MASKED ? motion_mask (place->w, 4 * j) : ~0u;
      const guint32 *column = first + j, *words = block + j * SIZE;
      guint32 ring[MOTION_BRUTE_DOWN];

#pragma unroll
      for (int k = 0; k < MOTION_BRUTE_DOWN - 1; k++)
        ring[k] = column[k * PITCH] & mask;
#pragma unroll 1
      for (int row = 0; row < SIZE; row += STEPS) {
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
          if (MASKED && row + s >= place->h)
            break;
          ring[(s + MOTION_BRUTE_DOWN - 1) % MOTION_BRUTE_DOWN] =
              column[(row + s + MOTION_BRUTE_DOWN - 1) * PITCH] & mask;
#pragma unroll
          for (int k = 0; k < MOTION_BRUTE_DOWN; k++)
            sums[k] = motion_sad4 (
                ring[(s + k) % MOTION_BRUTE_DOWN], words[row + s], sums[k]);
        }
      }
    }
  }

  __device__ __forceinline__ void
  take (guint32 sad, gint32 x, gint32 y)
  {
    guint32 cost = sad;

    if (task->config.lambda != 0)
      cost += motion_rate (task->config.lambda, x, y, prior);
    if (cost > limit)
      return;
    pair.add (motion_candidate_key (task->config.tie, cost, x, y));
    limit = motion_candidate_cost (pair.second);
  }

  /* The candidates from (@left, @top), @across by @down of them. */
  __device__ __forceinline__ void
  tile (gint32 left, gint32 top, gint32 across, gint32 down)
  {
    gint32 columns = (across + 3) / 4;
    gint32 groups = (down + MOTION_BRUTE_DOWN - 1) / MOTION_BRUTE_DOWN;

    for (gint32 c = 0; c < 4 && c < across; c++) {
      __syncthreads (); /* the window before has been read */
      load_window (left + c, top, columns + WORDS - 1,
          groups * MOTION_BRUTE_DOWN + SIZE - 1);
      __syncthreads ();
      for (gint32 i = (gint32) threadIdx.x; i < columns * groups;
           i += MOTION_BRUTE_THREADS) {
        gint32 x = 4 * (i % columns) + c, y = i / columns * MOTION_BRUTE_DOWN;
        guint32 sums[MOTION_BRUTE_DOWN];

        sum_up (window + y * PITCH + i % columns, sums);
#pragma unroll
        for (int k = 0; k < MOTION_BRUTE_DOWN; k++)
          if (x < across && y + k < down)
            take (sums[k], left + x, top + y + k);
      }
    }
  }

  /* All candidates, in tiles of equal size. @rows: of a tile, at most */
  __device__ __forceinline__ void
  run (gint32 rows)
  {
    const MotionRect r = place->rect;
    gint32 n_x = r.right - r.left + 1, n_y = r.bottom - r.top + 1;
    gint32 tiles_x = (n_x + MOTION_BRUTE_ACROSS - 1) / MOTION_BRUTE_ACROSS;
    gint32 tiles_y = (n_y + rows - 1) / rows;
    gint32 step_x = (n_x + tiles_x - 1) / tiles_x;
    gint32 step_y = (n_y + tiles_y - 1) / tiles_y;

    for (gint32 y = 0; y < n_y; y += step_y)
      for (gint32 x = 0; x < n_x; x += step_x)
        tile (r.left + x, r.top + y, min (step_x, n_x - x),
            min (step_y, n_y - y));
  }

  /* The two best of the thread block's, stored by its first thread. */
  __device__ __forceinline__ void
  store (MotionFound *found)
  {
    MotionPair *pairs = (MotionPair *) window;

    pair = motion_warp_pair (pair);
    __syncthreads ();
    if (motion_lane () == 0)
      pairs[threadIdx.x / 32] = pair;
    __syncthreads ();
    if (threadIdx.x != 0)
      return;
    for (guint32 w = 1; w < MOTION_BRUTE_WARPS; w++) {
      pair.add (pairs[w].best);
      pair.add (pairs[w].second);
    }
    motion_store_pair (pair, &found[place->number]);
  }
};
