/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Samples of a picture, at and between the pixels, for the reference
 * implementations of the motion search. */
#pragma once

#include "motionreference.h"

#include <stdlib.h>

#include "cuda/motion/arithmetic.h"

/* A plane of samples: full depth or search. */
typedef struct {
  const guint16 *samples;
  gint32 width, height;
  gint32 most; /* the largest possible sample */
} Plane;

static inline Plane
full_plane (const MotionPicture *p)
{
  return (Plane){ p->full, (gint32) p->width, (gint32) p->height,
    (1 << p->depth) - 1 };
}

static inline Plane
search_plane (const MotionPicture *p)
{
  return (Plane){ p->search, (gint32) p->width, (gint32) p->height, 255 };
}

static inline gint32
sample (const Plane *p, gint32 x, gint32 y)
{
  return p->samples[motion_clamp (y, 0, p->height - 1) * p->width
                    + motion_clamp (x, 0, p->width - 1)];
}

/* --- interpolated samples: H.264, 8.4.2.2.1, with its names -------------- */

static inline gint32
clip (const Plane *p, gint32 value)
{
  return motion_clamp (value, 0, p->most);
}

static inline gint32
tap_across (const Plane *p, gint32 x, gint32 y)
{
  return motion_tap6 (sample (p, x - 2, y), sample (p, x - 1, y),
      sample (p, x, y), sample (p, x + 1, y), sample (p, x + 2, y),
      sample (p, x + 3, y));
}

static inline gint32
tap_down (const Plane *p, gint32 x, gint32 y)
{
  return motion_tap6 (sample (p, x, y - 2), sample (p, x, y - 1),
      sample (p, x, y), sample (p, x, y + 1), sample (p, x, y + 2),
      sample (p, x, y + 3));
}

/* half a pixel right of (x, y) */
static inline gint32
half_b (const Plane *p, gint32 x, gint32 y)
{
  return clip (p, (tap_across (p, x, y) + 16) >> 5);
}

/* half a pixel below */
static inline gint32
half_h (const Plane *p, gint32 x, gint32 y)
{
  return clip (p, (tap_down (p, x, y) + 16) >> 5);
}

/* between four pixels */
static inline gint32
half_j (const Plane *p, gint32 x, gint32 y)
{
  gint32 sum = motion_tap6 (tap_across (p, x, y - 2), tap_across (p, x, y - 1),
      tap_across (p, x, y), tap_across (p, x, y + 1), tap_across (p, x, y + 2),
      tap_across (p, x, y + 3));

  return clip (p, (sum + 512) >> 10);
}

static inline gint32
mean (gint32 a, gint32 b)
{
  return (a + b + 1) >> 1;
}

/* The sample at (@qx, @qy) quarter pixels. */
static inline gint32
sample_between (const Plane *p, gint32 qx, gint32 qy)
{
  gint32 x = qx >> 2, y = qy >> 2;

  switch ((qy & 3) << 2 | (qx & 3)) {
    case 0 << 2 | 0:
      return sample (p, x, y);
    case 0 << 2 | 1: /* a */
      return mean (sample (p, x, y), half_b (p, x, y));
    case 0 << 2 | 2:
      return half_b (p, x, y);
    case 0 << 2 | 3: /* c */
      return mean (sample (p, x + 1, y), half_b (p, x, y));
    case 1 << 2 | 0: /* d */
      return mean (sample (p, x, y), half_h (p, x, y));
    case 1 << 2 | 1: /* e */
      return mean (half_b (p, x, y), half_h (p, x, y));
    case 1 << 2 | 2: /* f */
      return mean (half_b (p, x, y), half_j (p, x, y));
    case 1 << 2 | 3: /* g */
      return mean (half_b (p, x, y), half_h (p, x + 1, y));
    case 2 << 2 | 0:
      return half_h (p, x, y);
    case 2 << 2 | 1: /* i */
      return mean (half_h (p, x, y), half_j (p, x, y));
    case 2 << 2 | 2:
      return half_j (p, x, y);
    case 2 << 2 | 3: /* k */
      return mean (half_j (p, x, y), half_h (p, x + 1, y));
    case 3 << 2 | 0: /* n */
      return mean (sample (p, x, y + 1), half_h (p, x, y));
    case 3 << 2 | 1: /* p */
      return mean (half_h (p, x, y), half_b (p, x, y + 1));
    case 3 << 2 | 2: /* q */
      return mean (half_j (p, x, y), half_b (p, x, y + 1));
    default: /* r */
      return mean (half_h (p, x + 1, y), half_b (p, x, y + 1));
  }
}
