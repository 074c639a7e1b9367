/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The formulas of the motion search, inline for host and device.
 * docs/design/motion.md has the definitions. */
#pragma once

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

#ifdef __CUDACC__
#define MOTION_FN static __host__ __device__ __forceinline__
#else
#define MOTION_FN static inline
#endif

/* --- candidates ------------------------------------------------------------ */

/* Whole-pixel vectors allowed for a block, both ends included; zero is
 * always among them. */
typedef struct {
  gint32 left, right, top, bottom;
} MotionRect;

/* @x, @y, @w, @h: the block, pixels */
MOTION_FN MotionRect
motion_candidates (
    const MotionConfig *config, gint32 x, gint32 y, gint32 w, gint32 h)
{
  gint32 range = (gint32) config->range;
  gint32 last = config->window == MOTION_WINDOW_HALF_OPEN ? range - 1 : range;
  MotionRect r = { -range, last, -range, last };

  if (config->border == MOTION_BORDER_INSIDE) {
    gint32 right = (gint32) config->width - w - x;
    gint32 bottom = (gint32) config->height - h - y;

    r.left = r.left < -x ? -x : r.left;
    r.top = r.top < -y ? -y : r.top;
    r.right = r.right > right ? right : r.right;
    r.bottom = r.bottom > bottom ? bottom : r.bottom;
  }
  return r;
}

MOTION_FN gint32
motion_clamp (gint32 value, gint32 low, gint32 high)
{
  return value < low ? low : value > high ? high : value;
}

/* Bits of the signed Exp-Golomb code of @value (H.264, 9.1). */
MOTION_FN guint32
motion_bits (gint32 value)
{
  guint32 code = value > 0 ? 2u * (guint32) value : 1u - 2u * (guint32) value;
  guint32 bits = 1;

  while (code >>= 1)
    bits += 2;
  return bits;
}

/* Rounds quarter pixels to the nearest whole pixel. */
MOTION_FN gint32
motion_whole (gint32 quarter)
{
  return (quarter + 2) >> 2;
}

/* --- step search ----------------------------------------------------------- */

/* Number of points on each side of the centre. */
MOTION_FN gint32
motion_step_half (MotionGranularity granularity)
{
  return granularity == MOTION_GRANULARITY_1          ? 1
         : granularity == MOTION_GRANULARITY_2        ? 3
         : granularity == MOTION_GRANULARITY_PAPER_13 ? 6
                                                      : 7;
}

MOTION_FN gint32
motion_step_shift (MotionGranularity granularity)
{
  return granularity == MOTION_GRANULARITY_1   ? 1
         : granularity == MOTION_GRANULARITY_2 ? 2
                                               : 3;
}

/* Spacing of the points in the first iteration, in pixels: the largest power
 * of two <= range, divided by 2^shift; at least 1. */
MOTION_FN gint32
motion_step_first (MotionGranularity granularity, guint32 range)
{
  gint32 spacing = 1;

  while ((guint32) spacing * 2 <= range)
    spacing *= 2;
  spacing >>= motion_step_shift (granularity);
  return spacing > 0 ? spacing : 1;
}

/* Spacing in the next iteration; 0 after the iteration with a spacing of 1,
 * which is always made. */
MOTION_FN gint32
motion_step_next (MotionGranularity granularity, gint32 spacing)
{
  gint32 next = spacing >> motion_step_shift (granularity);

  return spacing == 1 ? 0 : next > 0 ? next : 1;
}

/* --- samples between the pixels (H.264, 8.4.2.2.1) ------------------------- */

MOTION_FN gint32
motion_tap6 (gint32 a, gint32 b, gint32 c, gint32 d, gint32 e, gint32 f)
{
  return a - 5 * b + 20 * c + 20 * d - 5 * e + f;
}

/* --- measures of a block ---------------------------------------------------- */

MOTION_FN guint32
motion_block_flags (const MotionConfig *config, guint32 w, guint32 h,
    const CvisMotionVector *vector, const CvisMotionBlock *block)
{
  guint32 flags = 0;

  if (w < config->block_size || h < config->block_size)
    flags |= CVIS_MOTION_BLOCK_PARTIAL;
  if (vector->x == 0 && vector->y == 0
      && block->sad <= (w * h) << (config->depth - 8))
    flags |= CVIS_MOTION_BLOCK_STATIC;
  if (block->sad > block->intra)
    flags |= CVIS_MOTION_BLOCK_INTRA_LIKE;
  return flags;
}

G_END_DECLS
