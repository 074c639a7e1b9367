/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The two best candidates, in any order of visits: each candidate has a key,
 * and the full search prefers the smaller key. */
#pragma once

#include "cuda/motion/cuda/warp.cuh"

/* A candidate's key: cost, then rank among equal costs. */
typedef unsigned long long MotionKey;
#define MOTION_NO_KEY (~0ull)

/* The two smallest keys seen. */
template <typename Key> struct MotionLeast {
  Key best, second;

  __device__ __forceinline__ void
  clear ()
  {
    best = second = (Key) ~(Key) 0;
  }

  __device__ __forceinline__ void
  add (const MotionLeast &other)
  {
    second = min (min (second, other.second), max (best, other.best));
    best = min (best, other.best);
  }

  __device__ __forceinline__ void
  add (Key key)
  {
    second = min (second, max (best, key));
    best = min (best, key);
  }
};

typedef MotionLeast<MotionKey> MotionPair;

/* cost << 43 | rank among equals << 17 | (dy + 128) * 257 + dx + 128. The rank is
 * zero where raster order decides, else (dx^2 + dy^2) << 10 | (dy + 128) << 1 |
 * (dx > 0). Costs have 21 bits. */
#define MOTION_COST_SHIFT 43
#define MOTION_COST_LIMIT 0x1fffffu

static __device__ __forceinline__ MotionKey
motion_candidate_key (MotionTie tie, guint32 cost, gint32 x, gint32 y)
{
  guint32 rank = 0;

  if (tie == MOTION_TIE_SHORT)
    rank = (guint32) (x * x + y * y) << 10 | (guint32) (y + 128) << 1 | (x > 0);
  return (MotionKey) cost << MOTION_COST_SHIFT | (MotionKey) rank << 17
         | (guint32) ((y + 128) * 257 + x + 128);
}

static __device__ __forceinline__ short2
motion_candidate_vector (MotionKey key)
{
  gint32 n = (gint32) (key & 0x1ffff);

  return make_short2 ((gint16) (n % 257 - 128), (gint16) (n / 257 - 128));
}

/* MOTION_COST_LIMIT if there is no candidate. */
static __device__ __forceinline__ guint32
motion_candidate_cost (MotionKey key)
{
  return (guint32) (key >> MOTION_COST_SHIFT);
}

static __device__ __forceinline__ void
motion_store_pair (const MotionPair &pair, MotionFound *found)
{
  short2 best = motion_candidate_vector (pair.best);
  MotionFound f = { best.x, best.y, 0, 0, motion_candidate_cost (pair.best),
    MOTION_NONE };

  if (pair.second != MOTION_NO_KEY) {
    short2 second = motion_candidate_vector (pair.second);

    f.second_x = second.x;
    f.second_y = second.y;
    f.second = motion_candidate_cost (pair.second);
  }
  *found = f;
}

/* Atomically adds a key to the two smallest, shared with other threads: the
 * larger of key and smallest may become the second. Returns: the second,
 * possibly out of date */
static __device__ __forceinline__ MotionKey
motion_take_key (MotionKey *best, MotionKey *second, MotionKey key)
{
  MotionKey other = max (atomicMin (best, key), key);

  return min (atomicMin (second, other), other);
}

/* The smallest key of the warp, in all lanes. */
static __device__ __forceinline__ MotionKey
motion_warp_key (MotionKey key)
{
  guint32 high = motion_warp_min ((guint32) (key >> 32));
  guint32 low = motion_warp_min (
      (guint32) (key >> 32) == high ? (guint32) key : MOTION_NONE);

  return (MotionKey) high << 32 | low;
}

/* The two smallest keys of the warp's pairs, in all lanes. Keys of different
 * lanes differ, except for empty pairs. */
static __device__ __forceinline__ MotionPair
motion_warp_pair (MotionPair pair)
{
  MotionPair least;

  least.best = motion_warp_key (pair.best);
  least.second =
      motion_warp_key (pair.best == least.best ? pair.second : pair.best);
  return least;
}
