/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Histogram of oriented gradients: the sums of one thread. */
#pragma once

#include "cuda/meltpool/cuda/engine.cuh"

/* Adds one gradient to the sums over angles >= 20 j degrees (folded into
 * 0..90), and to the sums over those of them that point left. A thread adds
 * at most 64 gradients of at most 361 * 65536, which fits 32 bits. */
static __device__ __forceinline__ void
pbf_add_gradient (gint32 gx, gint32 gy, guint32 all[5], guint32 left[5])
{
  guint32 length = pbf_gradient_q16 (gx, gy);
  guint32 to_left = gx * gy < 0 ? length : 0;
  gint32 ax = abs (gx), ay = abs (gy);

  all[0] += length;
  left[0] += to_left;
#define FROM(k, degrees)                                                       \
  if (ay * PBF_TAN##degrees##_Q >= ax * PBF_TAN##degrees##_P) {                \
    all[k] += length;                                                          \
    left[k] += to_left;                                                        \
  }
  FROM (1, 20)
  FROM (2, 40)
  FROM (3, 60)
  FROM (4, 80)
#undef FROM
}

__device__ __forceinline__ gint32
byte_of (guint32 word, gint k)
{
  return (word >> (8 * k)) & 255;
}
