/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The searches that go in rounds: the points of a round are computed at once by
 * the warps of a thread block, a warp a point, and then taken in the order in
 * which the definition visits them. A thread block does a block of the grid; all
 * its threads hold the same state of the search. */
#pragma once

#include "motionwarp.cuh"

#define MOTION_ROUND_WARPS 4
#define MOTION_ROUND_THREADS (32 * MOTION_ROUND_WARPS)

/* A point of a round, by cost and then by its number in the round. */
typedef unsigned long long MotionKey;
#define MOTION_NO_KEY (~0ull)

/* The two least keys of those seen. */
struct MotionPair {
  MotionKey best, second;

  __device__ __forceinline__ void
  clear ()
  {
    best = second = MOTION_NO_KEY;
  }

  __device__ __forceinline__ void
  add (MotionKey key)
  {
    second = min (second, max (best, key));
    best = min (best, key);
  }
};

struct MotionShared {
  MotionPair pairs[2][MOTION_ROUND_WARPS];
};

static __device__ __forceinline__ guint32
motion_key_cost (MotionKey key)
{
  return (guint32) (key >> 32);
}

template <int SIZE, bool MASKED> struct MotionSearch {
  MotionLanes<SIZE, MASKED> lanes;
  MotionPlace place;
  const guint8 *reference; /* the block's first sample in it */
  guint32 pitch, lambda;
  short2 prior;
  MotionShared *shared;
  guint32 parity;

  short2 best, second;
  guint32 best_cost, second_cost;

  __device__ __forceinline__ void
  begin (const MotionDeviceTask *task, const MotionDeviceField *field,
      const MotionPlace &at, MotionShared *memory)
  {
    place = at;
    pitch = task->layout.pitch;
    lambda = task->config.lambda;
    lanes.load (task->current.search, pitch, place);
    reference = field->reference.search + (gsize) place.y * pitch + place.x;
    prior = motion_prior (field, place.number);
    shared = memory;
    parity = 0;
    best = second = make_short2 (0, 0);
    best_cost = second_cost = MOTION_NONE;
  }

  __device__ __forceinline__ guint32
  share (short2 d) const
  {
    return lanes.share (reference + (gssize) d.y * (gssize) pitch + d.x);
  }

  /* Costs of the points of the lanes in @todo, each lane's own. */
  __device__ __forceinline__ guint32
  costs (guint32 todo, short2 own) const
  {
    guint32 cost = MOTION_NONE, lane = motion_lane ();
    gint32 packed =
        (gint32) ((guint32) (guint16) own.x | (guint32) (guint16) own.y << 16);

    while (todo != 0) {
      guint32 from[4], sum[4];
      gint32 n = min (4, __popc (todo));

#pragma unroll
      for (gint32 i = 0; i < 4; i++) {
        from[i] = (guint32) __ffs ((gint32) todo) - 1;
        sum[i] = 0;
        if (i < n) {
          guint32 d = (guint32) __shfl_sync (
              MOTION_ALL_LANES, packed, (gint32) from[i]);

          sum[i] =
              share (make_short2 ((gint16) (d & 0xffff), (gint16) (d >> 16)));
          todo &= todo - 1;
        }
      }
#pragma unroll
      for (gint32 i = 0; i < 4; i++)
        if (i < n) {
          guint32 whole = motion_warp_sum (sum[i]);

          if (lane == from[i])
            cost = whole;
        }
    }
    if (cost != MOTION_NONE)
      cost += motion_rate (lambda, own.x, own.y, prior);
    return cost;
  }

  /* Adds the two best of the lanes' points; their numbers rise with the lanes.
   */
  __device__ __forceinline__ void
  collect (MotionPair *pair, guint32 cost, guint32 number) const
  {
    for (gint32 k = 0; k < 2; k++) {
      guint32 least = motion_warp_min (cost), lane;

      if (least == MOTION_NONE)
        break;
      lane = (guint32) __ffs (
                 (gint32) __ballot_sync (MOTION_ALL_LANES, cost == least))
             - 1;
      pair->add ((MotionKey) least << 32
                 | __shfl_sync (MOTION_ALL_LANES, number, (gint32) lane));
      if (motion_lane () == lane)
        cost = MOTION_NONE;
    }
  }

  /* The two least of the block's warps. */
  __device__ __forceinline__ MotionPair
  gather (MotionPair pair)
  {
    parity ^= 1;
    if (motion_lane () == 0)
      shared->pairs[parity][threadIdx.x / 32] = pair;
    __syncthreads ();
    pair.clear ();
    for (guint32 w = 0; w < MOTION_ROUND_WARPS; w++) {
      pair.add (shared->pairs[parity][w].best);
      pair.add (shared->pairs[parity][w].second);
    }
    return pair;
  }

  /* Visits the points 0..@n-1 in this order. @points(i, &valid) says where
   * point i is and whether it is visited at all.
   * Returns: the number of the one that became the best; -1 if none did. */
  template <class Points>
  __device__ __forceinline__ gint32
  visit (guint32 n, const Points &points)
  {
    MotionPair pair;
    guint32 one, two;

    pair.clear ();
    for (guint32 first = threadIdx.x / 32; first < n;
         first += MOTION_ROUND_THREADS) {
      guint32 i = first + motion_lane () * MOTION_ROUND_WARPS;
      bool valid = i < n;
      short2 d = points (valid ? i : 0, &valid);

      valid = valid && motion_contains (&place.rect, d.x, d.y)
              && !(best_cost != MOTION_NONE && d.x == best.x && d.y == best.y);
      collect (&pair, costs (__ballot_sync (MOTION_ALL_LANES, valid), d), i);
    }
    pair = gather (pair);
    one = motion_key_cost (pair.best);
    two = motion_key_cost (pair.second);
    return take ((guint32) pair.best, one, (guint32) pair.second, two, points);
  }

  template <class Points>
  __device__ __forceinline__ gint32
  take (guint32 first, guint32 one, guint32 next, guint32 two,
      const Points &points)
  {
    bool valid = true;

    if (one < best_cost) {
      if (two < best_cost) {
        second = points (next, &valid);
        second_cost = two;
      } else {
        second = best;
        second_cost = best_cost;
      }
      best = points (first, &valid);
      best_cost = one;
      return (gint32) first;
    }
    if (one < second_cost) {
      second = points (first, &valid);
      second_cost = one;
    }
    return -1;
  }

  __device__ __forceinline__ void
  store (MotionFound *found) const
  {
    MotionFound f = { best.x, best.y, second.x, second.y, best_cost,
      second_cost };

    if (threadIdx.x == 0)
      found[place.number] = f;
  }
};
