/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What is made of a whole picture: sums over squares at all positions, and the
 * plane reduced by four. Plain loops that the compiler vectorises. */
#include "motioncpu_search.h"

/* Columns that are worked on at once, in the cache. */
#define TILE 512

/* Rows of the plane with its borders, the one at (@left, @line) counted from the
 * top left corner. */
static inline const guint8 *
luma_at (const MotionCpuParams *params, const MotionCpuPicture *picture,
    gint32 left, gint32 line)
{
  return picture->luma + (gssize) params->stride * (line - params->border)
         + left - params->margin;
}

/* The smallest squares, from samples; @n columns from @left. */
static void
make_finest (const MotionCpuParams *params, MotionCpuPicture *picture,
    guint level, gint32 left, gint32 n, gint32 first, gint32 lines)
{
  const MotionCpuLevel *l = &params->levels[level];
  gint32 size = (gint32) l->size;
  gssize stride = (gssize) params->stride;
  guint16 column[TILE + 16], row[TILE + 16];
  gint32 wide = n + size;

  memset (column, 0, sizeof column);
  for (gint32 k = 0; k < size; k++) {
    const guint8 *p = luma_at (params, picture, left, first + k);

    for (gint32 x = 0; x < wide; x++)
      column[x] += p[x];
  }
  for (gint32 line = first; line < first + lines; line++) {
    const guint8 *p = luma_at (params, picture, left, line);
    const guint8 *q = p + stride * size;
    guint16 *to = picture->sums[level] + stride * (line - params->border) + left
                  - params->margin;

    memcpy (row, column, sizeof row);
    for (gint32 step = 1; step < size; step *= 2)
      for (gint32 x = 0; x < wide - step; x++)
        row[x] = (guint16) (row[x] + row[x + step]);
    for (gint32 x = 0; x < n; x++)
      to[x] = (guint16) (row[x] >> l->shift);
    if (line + 1 < first + lines)
      for (gint32 x = 0; x < wide; x++)
        column[x] = (guint16) (column[x] + q[x] - p[x]);
  }
}

/* Larger ones, from four of half the size. */
static void
make_coarser (const MotionCpuParams *params, MotionCpuPicture *picture,
    guint level, gint32 first, gint32 lines)
{
  const MotionCpuLevel *l = &params->levels[level];
  gssize stride = (gssize) params->stride;
  gint32 half = (gint32) l->size / 2;
  gint32 n = (gint32) params->stride - (gint32) l->size;

  for (gint32 line = first; line < first + lines; line++) {
    gssize place = stride * (line - params->border) - params->margin;
    guint16 *to = picture->sums[level] + place;
    const guint16 *a = picture->sums[level + 1] + place;
    const guint16 *b = a + stride * half;

    for (gint32 x = 0; x < n; x++)
      to[x] = (guint16) ((a[x] >> l->shift) + (a[x + half] >> l->shift)
                         + (b[x] >> l->shift) + (b[x + half] >> l->shift));
  }
}

void
MOTION_CPU (sums) (const MotionCpuParams *params, MotionCpuPicture *picture,
    guint level, gint32 first, gint32 n)
{
  gint32 size = (gint32) params->levels[level].size;
  gint32 lines = MIN (n, params->n_lines - size + 1 - first);
  gint32 columns = (gint32) params->stride - size;

  if (lines <= 0)
    return;
  if (level + 1 < params->n_levels) {
    make_coarser (params, picture, level, first, lines);
    return;
  }
  for (gint32 left = 0; left < columns; left += TILE)
    make_finest (
        params, picture, level, left, MIN (TILE, columns - left), first, lines);
}

/* --- the reduced plane ----------------------------------------------------------- */

/* The mean of the 4 x 4 samples from (4 x, 4 y). */
static guint8
mean_of_16 (const guint8 *p, gsize stride)
{
  guint32 sum = 8;

  for (guint y = 0; y < 4; y++, p += stride)
    sum += (guint32) p[0] + p[1] + p[2] + p[3];
  return (guint8) (sum >> 4);
}

void
MOTION_CPU (quarter) (const MotionCpuParams *params, MotionCpuPicture *picture,
    gint32 first, gint32 n)
{
  gint32 border = params->quarter_border;
  gint32 width = params->quarter_width;

  for (gint32 line = first; line < first + n; line++) {
    gint32 y = motion_clamp (line - border, 0, params->quarter_height - 1);
    const guint8 *from = picture->luma + (gssize) params->stride * 4 * y;
    guint8 *to =
        picture->quarter + (gssize) params->quarter_stride * (line - border);

    for (gint32 x = 0; x < width; x++)
      to[x] = mean_of_16 (from + 4 * x, params->stride);
    memset (to - border, to[0], (gsize) border);
    memset (to + width, to[width - 1], (gsize) border);
  }
}
