/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums over squares round a tile at all positions, and the plane reduced by
 * four. Rows of sums are written in whole vectors: what is behind the last sum
 * of a row means nothing. */
#include "cuda/motion/cpu/search.h"

#define WIDEST (MOTION_CPU_TILE + 2 * 128)

#define LARGEST 16 /* of the smallest squares */

/* Sums of @size samples side by side, 4, 8 or 16, from each of the first @n of
 * a row on. */
#if defined(MOTION_SIMD_512)
static inline void
sum_along_row (const guint8 *from, guint16 *to, gint32 n, gint32 size)
{
  const __m512i here = _mm512_setr_epi64 (0, 1, 1, 2, 2, 3, 3, 4);
  const __m512i behind = _mm512_setr_epi64 (1, 2, 2, 3, 3, 4, 4, 5);
  const __m512i zero = _mm512_setzero_si512 ();

  for (gint32 x = 0; x < n; x += MOTION_WORDS) {
    __m512i samples = _mm512_loadu_si512 (from + x);
    __m512i part = _mm512_permutexvar_epi64 (here, samples);
    __m512i sum = _mm512_dbsad_epu8 (zero, part, MOTION_DBSAD_FIRST);

    if (size > 4)
      sum = _mm512_add_epi16 (
          sum, _mm512_dbsad_epu8 (zero, part, MOTION_DBSAD_NEXT));
    if (size > 8) {
      part = _mm512_permutexvar_epi64 (behind, samples);
      sum = _mm512_add_epi16 (
          sum, _mm512_dbsad_epu8 (zero, part, MOTION_DBSAD_FIRST));
      sum = _mm512_add_epi16 (
          sum, _mm512_dbsad_epu8 (zero, part, MOTION_DBSAD_NEXT));
    }
    _mm512_storeu_si512 (to + x, sum);
  }
}
#else
static inline void
sum_along_row (const guint8 *from, guint16 *to, gint32 n, gint32 size)
{
  gint32 wide = n + size - 1;

  for (gint32 x = 0; x < wide - 1; x++)
    to[x] = (guint16) (from[x] + from[x + 1]);
  for (gint32 step = 2; step < size; step *= 2)
    for (gint32 x = 0; x < wide + 1 - 2 * step; x++)
      to[x] = (guint16) (to[x] + to[x + step]);
}
#endif

/* The smallest squares, from samples: @n sums in each of @lines rows. */
static void
make_finest (const MotionCpuParams *params, const MotionCpuLevel *level,
    const guint8 *from, guint16 *to, gint32 n, gint32 lines)
{
  gint32 size = (gint32) level->size;
  gssize stride = (gssize) params->stride;
  guint16 rows[LARGEST][WIDEST + MOTION_WORDS]; /* the last @size sums */
  guint16 column[WIDEST + MOTION_WORDS];        /* of all but the last row's */
  gint shift = (gint) level->shift;

  memset (rows, 0, sizeof rows);
  memset (column, 0, sizeof column);
  for (gint32 y = 0; y < size - 1; y++, from += stride) {
    sum_along_row (from, rows[y], n, size);
    for (gint32 x = 0; x < n; x += MOTION_WORDS)
      WORDS_STORE (column + x,
          WORDS_ADD (WORDS_LOAD (column + x), WORDS_LOAD (rows[y] + x)));
  }
  for (gint32 y = 0; y < lines; y++, from += stride) {
    const guint16 *oldest = rows[y % size];
    guint16 *newest = rows[(y + size - 1) % size];

    sum_along_row (from, newest, n, size);
    for (gint32 x = 0; x < n; x += MOTION_WORDS) {
      MotionWords sum =
          WORDS_ADD (WORDS_LOAD (column + x), WORDS_LOAD (newest + x));

      WORDS_STORE (to + x, WORDS_SHIFT (sum, shift));
      WORDS_STORE (column + x, WORDS_SUB (sum, WORDS_LOAD (oldest + x)));
    }
    to += params->sums_stride;
  }
}

/* Larger ones, from four of half the size. */
static inline __attribute__ ((always_inline)) void
make_coarser_by (const MotionCpuParams *params, gsize half, gint shift,
    const guint16 *from, guint16 *to, gint32 n, gint32 lines)
{
  gsize stride = params->sums_stride;

  for (gint32 line = 0; line < lines; line++) {
    const guint16 *below = from + stride * half;

    for (gint32 x = 0; x < n; x += MOTION_WORDS) {
      MotionWords a = WORDS_LOAD (from + x), b = WORDS_LOAD (from + x + half);
      MotionWords c = WORDS_LOAD (below + x), d = WORDS_LOAD (below + x + half);

      if (shift > 0) {
        a = WORDS_SHIFT (a, shift);
        b = WORDS_SHIFT (b, shift);
        c = WORDS_SHIFT (c, shift);
        d = WORDS_SHIFT (d, shift);
      }
      WORDS_STORE (to + x, WORDS_ADD (WORDS_ADD (a, b), WORDS_ADD (c, d)));
    }
    from += stride;
    to += stride;
  }
}

static void
make_coarser (const MotionCpuParams *params, const MotionCpuLevel *level,
    const guint16 *from, guint16 *to, gint32 n, gint32 lines)
{
  if (level->shift > 0)
    make_coarser_by (
        params, level->size / 2, (gint) level->shift, from, to, n, lines);
  else
    make_coarser_by (params, level->size / 2, 0, from, to, n, lines);
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

/* The means of 4 x 4 samples side by side, @n of them. */
static void
mean_of_16 (
    const guint8 *restrict p, gsize stride, guint8 *restrict to, gint32 n)
{
  guint16 sums[256];

  for (gint32 x = 0; x < n; x += 64, p += 256, to += 64) {
    gint32 left = MIN (n - x, 64);

    for (gint32 i = 0; i < 4 * left; i++)
      sums[i] = (guint16) (p[i] + p[stride + i] + p[2 * stride + i]
                           + p[3 * stride + i]);
    for (gint32 i = 0; i < left; i++)
      to[i] = (guint8) ((sums[4 * i] + sums[4 * i + 1] + sums[4 * i + 2]
                            + sums[4 * i + 3] + 8)
                        >> 4);
  }
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

    mean_of_16 (from, params->stride, to, width);
    memset (to - border, to[0], (gsize) border);
    memset (to + width, to[width - 1], (gsize) border);
  }
}
