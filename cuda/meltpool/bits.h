/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Columns of a row of the ROI that lie within a disc, or in a sector of a
 * half plane. For ROIs of 40 x 40 pixels these are words of 40 bits, bit x
 * for column x. For the CPU and the GPU. */
#pragma once

#include "cuda/meltpool/arithmetic.h"

#define PBF_ROI_BITS ((G_GUINT64_CONSTANT (1) << CVIS_PBF_ROI_SIDE) - 1)

/* Columns @x and up. */
PBF_INLINE guint64
pbf_bits_from (gint x)
{
  gint shift = x < 0 ? 0 : x > CVIS_PBF_ROI_SIDE ? CVIS_PBF_ROI_SIDE : x;

  return (PBF_ROI_BITS << shift) & PBF_ROI_BITS;
}

/* Columns @first to @last. */
PBF_INLINE guint64
pbf_bits_between (gint first, gint last)
{
  return pbf_bits_from (first) & ~pbf_bits_from (last + 1);
}

/* floor (sqrt (v)) for 0 <= v < 2^30 */
PBF_INLINE gint32
pbf_root (gint32 v)
{
  gint32 r = (gint32) sqrtf ((gfloat) v);

  r -= r * r > v;
  r += (r + 1) * (r + 1) <= v;
  return r;
}

/* First column whose centre lies more than @d to the right of @e, Q8. */
PBF_INLINE gint32
pbf_column_beyond (gint32 e, gint32 d)
{
  return ((d - 128 + e) >> 8) + 1;
}

/* Half width of the disc of @radius2 (Q16) around (ex, ey) in row @y, Q8,
 * for positions clamped by pbf_clamp_reach(); -1: the row misses the disc. */
PBF_INLINE gint32
pbf_disc_half (gint y, gint32 ey, guint32 radius2)
{
  gint32 dy = 256 * y + 128 - ey;
  guint32 square = (guint32) dy * (guint32) dy;
  gboolean met = square <= radius2;
  gint32 half = pbf_root (met ? (gint32) (radius2 - square) : 0);

  return met ? half : -1;
}

/* Half width in row @y of the sectors that contain the vertical: |dy| / tan
 * 60 degrees, Q8. */
PBF_INLINE gint32
pbf_sector_half (gint y, gint32 ey)
{
  gint32 dy = 256 * y + 128 - ey;

  return pbf_root ((gint32) ((guint32) dy * (guint32) dy / 3));
}

/* Columns of row @y with centres inside the disc of @radius2 around (ex,
 * ey). */
PBF_INLINE guint64
pbf_disc_row (gint y, gint32 ex, gint32 ey, guint32 radius2)
{
  gint32 half = pbf_disc_half (y, ey, radius2);

  return pbf_bits_from (pbf_column_beyond (ex, -half - 1))
         & ~pbf_bits_from (pbf_column_beyond (ex, half));
}

/* Splits row @y of the ring of the polar features into the three sectors of
 * its half plane: right (0 or 5), middle (1 or 4) and left (2 or 3) of @ex;
 * the first number of each pair for rows at or below @ey. */
PBF_INLINE void
pbf_polar_row (gint y, gint32 ex, gint32 ey, guint32 inner2, guint32 outer2,
    guint64 *right, guint64 *middle, guint64 *left)
{
  gint32 dy = 256 * y + 128 - ey;
  gint32 narrow = pbf_sector_half (y, ey);
  guint64 ring = pbf_disc_row (y, ex, ey, outer2);

  if (inner2 > 0)
    ring &= ~pbf_disc_row (y, ex, ey, inner2 - 1);
  *right = ring & pbf_bits_from (pbf_column_beyond (ex, narrow));
  *left = ring & ~pbf_bits_from (pbf_column_beyond (ex, -narrow - 1));
  if (dy == 0)
    *right = ring & ~*left; /* the centre belongs to sector 0 */
  *middle = ring & ~*right & ~*left;
}
