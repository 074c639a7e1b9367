/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums over squares round a tile at all positions, and the plane reduced by
 * four. Rows of sums are written in whole vectors: what is behind the last sum
 * of a row means nothing. */
#include "motioncpu_search.h"

#define WIDEST (MOTION_CPU_TILE + 2 * 128)

/* The smallest squares, from samples: @n sums in each of @lines rows. */
static void
make_finest (const MotionCpuParams *params, const MotionCpuLevel *level,
    const guint8 *from, guint16 *to, gint32 n, gint32 lines)
{
  gint32 size = (gint32) level->size, wide = n + size - 1;
  gssize stride = (gssize) params->stride;
  guint16 column[WIDEST + MOTION_WORDS], row[WIDEST + MOTION_WORDS];
  gint shift = (gint) level->shift;

  memset (column, 0, sizeof column);
  memset (row, 0, sizeof row);
  for (gint32 k = 0; k < size; k++)
    for (gint32 x = 0; x < wide; x++)
      column[x] = (guint16) (column[x] + from[stride * k + x]);
  for (gint32 line = 0; line < lines; line++) {
    for (gint32 x = 0; x < wide - 1; x++)
      row[x] = (guint16) (column[x] + column[x + 1]);
    for (gint32 step = 2; step < size; step *= 2)
      for (gint32 x = 0; x < wide + 1 - 2 * step; x++)
        row[x] = (guint16) (row[x] + row[x + step]);
    for (gint32 x = 0; x < n; x += MOTION_WORDS)
      WORDS_STORE (to + x, WORDS_SHIFT (WORDS_LOAD (row + x), shift));
    if (line + 1 < lines)
      for (gint32 x = 0; x < wide; x++)
        column[x] = (guint16) (column[x] + from[stride * size + x] - from[x]);
    from += stride;
    to += params->sums_stride;
  }
}

/* Larger ones, from four of half the size. */
static void
make_coarser (const MotionCpuParams *params, const MotionCpuLevel *level,
    const guint16 *from, guint16 *to, gint32 n, gint32 lines)
{
  gsize half = level->size / 2;
  gint shift = (gint) level->shift;

  for (gint32 line = 0; line < lines; line++) {
    const guint16 *below = from + params->sums_stride * half;

    for (gint32 x = 0; x < n; x += MOTION_WORDS) {
      MotionWords a = WORDS_SHIFT (WORDS_LOAD (from + x), shift);
      MotionWords b = WORDS_SHIFT (WORDS_LOAD (from + x + half), shift);
      MotionWords c = WORDS_SHIFT (WORDS_LOAD (below + x), shift);
      MotionWords d = WORDS_SHIFT (WORDS_LOAD (below + x + half), shift);

      WORDS_STORE (to + x, WORDS_ADD (WORDS_ADD (a, b), WORDS_ADD (c, d)));
    }
    from += params->sums_stride;
    to += params->sums_stride;
  }
}

void
MOTION_CPU (sums) (const MotionCpuParams *params, MotionCpuScratch *scratch,
    const MotionCpuPicture *reference, gint32 x, gint32 y, gint32 w, gint32 h)
{
  gint32 range = (gint32) params->config.range;
  guint last = params->n_levels - 1;

  for (guint i = last + 1; i-- > 0;) {
    const MotionCpuLevel *level = &params->levels[i];
    gint32 n = w + 2 * range - (gint32) level->size + 1;
    gint32 lines = h + 2 * range - (gint32) level->size + 1;

    if (n <= 0 || lines <= 0)
      return; /* nor are there larger ones */
    if (i == last)
      make_finest (params, level,
          reference->luma + (gssize) params->stride * (y - range) + x - range,
          scratch->sums[i], n, lines);
    else
      make_coarser (
          params, level, scratch->sums[i + 1], scratch->sums[i], n, lines);
  }
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
