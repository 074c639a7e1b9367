/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Samples between the pixels: H.264's interpolation (8.4.2.2.1) of everything
 * round a vector at once, from which each quarter position is a mean of two. The
 * search has 8 bits; deeper samples are interpolated for the vector found only. */
#include "cuda/motion/cpu/search.h"

#define STRIDE 80 /* of the planes in the scratch memory */
/* Samples of a row that are computed at a time: what fills a vector as words.
 * What lies behind a row's last sample means nothing. */
#if defined(MOTION_SIMD_256)
#define CHUNK 16
#else
#define CHUNK 8
#endif
typedef gint16 Words __attribute__ ((vector_size (2 * CHUNK)));
typedef guint8 Bytes __attribute__ ((vector_size (CHUNK)));

/* Planes of samples: at the pixels, half a pixel right, half a pixel down, both.
 * Sample (0, 0) lies one left and above of where the block is. */
enum { PIXEL, RIGHT, DOWN, CENTRE };

/* Which two samples make the one at (@fx, @fy) quarters: [fy][fx]; the plane of
 * each, and whether it is the next one to the right or below. */
typedef struct {
  guint8 plane, right, down;
} Sample;

static const Sample samples[4][4][2] = {
  {
      { { PIXEL, 0, 0 }, { PIXEL, 0, 0 } },
      { { PIXEL, 0, 0 }, { RIGHT, 0, 0 } },
      { { RIGHT, 0, 0 }, { RIGHT, 0, 0 } },
      { { RIGHT, 0, 0 }, { PIXEL, 1, 0 } },
  },
  {
      { { PIXEL, 0, 0 }, { DOWN, 0, 0 } },
      { { RIGHT, 0, 0 }, { DOWN, 0, 0 } },
      { { RIGHT, 0, 0 }, { CENTRE, 0, 0 } },
      { { RIGHT, 0, 0 }, { DOWN, 1, 0 } },
  },
  {
      { { DOWN, 0, 0 }, { DOWN, 0, 0 } },
      { { DOWN, 0, 0 }, { CENTRE, 0, 0 } },
      { { CENTRE, 0, 0 }, { CENTRE, 0, 0 } },
      { { CENTRE, 0, 0 }, { DOWN, 1, 0 } },
  },
  {
      { { DOWN, 0, 0 }, { PIXEL, 0, 1 } },
      { { DOWN, 0, 0 }, { RIGHT, 0, 1 } },
      { { CENTRE, 0, 0 }, { RIGHT, 0, 1 } },
      { { DOWN, 1, 0 }, { RIGHT, 0, 1 } },
  },
};

/* --- planes of 8 bits ------------------------------------------------------------ */

static inline Words
subpel_load_8 (const guint8 *p)
{
  Bytes bytes;

  memcpy (&bytes, p, sizeof bytes);
  return __builtin_convertvector(bytes, Words);
}

static inline Words
subpel_load_16 (const gint16 *p)
{
  Words words;

  memcpy (&words, p, sizeof words);
  return words;
}

/* Stores the samples clipped to 0..255. */
static inline void
subpel_store (guint8 *to, Words words)
{
  Bytes bytes;

  words &= ~(words >> 15);
  words = (words | (words > 255)) & 255;
  bytes = __builtin_convertvector(words, Bytes);
  memcpy (to, &bytes, sizeof bytes);
}

/* The six taps on samples @step apart, before rounding: from -2550 to 10710. */
static inline Words
subpel_tap_8 (const guint8 *p, gssize step)
{
  Words a = subpel_load_8 (p - 2 * step) + subpel_load_8 (p + 3 * step);
  Words b = subpel_load_8 (p - step) + subpel_load_8 (p + 2 * step);
  Words c = subpel_load_8 (p) + subpel_load_8 (p + step);

  return a - 5 * b + 20 * c;
}

/* The six taps on taps, rounded: (a - 5 b + 20 c + 512) >> 10 as
 * (((((a - b) >> 2) - b + c) >> 2) + c + 32) >> 6, which is the same, with the sum
 * that does not fit into 16 bits halved on the way. */
static inline Words
subpel_tap_16 (const gint16 *t)
{
  Words a = subpel_load_16 (t) + subpel_load_16 (t + 5 * STRIDE);
  Words b = subpel_load_16 (t + STRIDE) + subpel_load_16 (t + 4 * STRIDE);
  Words c = subpel_load_16 (t + 2 * STRIDE) + subpel_load_16 (t + 3 * STRIDE);
  Words d = ((a - b) >> 2) - b;

  return ((((d & c) + ((d ^ c) >> 1)) >> 1) + c + 32) >> 6;
}

/* CHUNK samples of the planes. @p: the first in the reference; @t: the taps of the
 * row two above, in rows of STRIDE; @at: where in each plane they go */
static inline void
subpel_make_chunk (MotionCpuScratch *scratch, const guint8 *p, gssize stride,
    const gint16 *t, gssize at)
{
  memcpy (scratch->halves[PIXEL] + at, p, CHUNK);
  subpel_store (
      scratch->halves[RIGHT] + at, (subpel_load_16 (t + 2 * STRIDE) + 16) >> 5);
  subpel_store (
      scratch->halves[DOWN] + at, (subpel_tap_8 (p, stride) + 16) >> 5);
  subpel_store (scratch->halves[CENTRE] + at, subpel_tap_16 (t));
}

/* All samples between those of the block at the best whole-pixel vector, and one
 * more on each side. */
static void
subpel_make_planes (MotionCpuSearch *s)
{
  MotionCpuScratch *scratch = s->scratch;
  gssize stride = (gssize) s->params->stride;
  const guint8 *p = s->at + stride * (s->best.y - 1) + s->best.x - 1;
  gint32 n = s->w + 2;

  for (gint32 j = -2; j < s->h + 5; j++) {
    for (gint32 i = 0; i < n; i += CHUNK) {
      Words taps = subpel_tap_8 (p + stride * j + i, 1);

      memcpy (scratch->taps + STRIDE * (j + 2) + i, &taps, sizeof taps);
    }
  }
  for (gint32 j = 0; j < s->h + 2; j++, p += stride)
    for (gint32 i = 0; i < n; i += CHUNK)
      subpel_make_chunk (scratch, p + i, stride, scratch->taps + STRIDE * j + i,
          STRIDE * j + i);
}

/* --- samples of all bits --------------------------------------------------------- */

static inline gint32
subpel_tap (const guint16 *p, gssize step)
{
  return motion_tap6 (
      p[-2 * step], p[-step], p[0], p[step], p[2 * step], p[3 * step]);
}

static inline gint32
subpel_clip_deep (gint32 value)
{
  return motion_clamp (value, 0, 1023);
}

/* The sample of @plane that belongs to the pixel @p. */
static inline __attribute__ ((always_inline)) gint32
subpel_deep_sample (guint plane, const guint16 *p, gssize stride)
{
  gint32 sum;

  if (plane == PIXEL)
    return *p;
  if (plane != CENTRE)
    return subpel_clip_deep (
        (subpel_tap (p, plane == RIGHT ? 1 : stride) + 16) >> 5);
  sum = motion_tap6 (subpel_tap (p - 2 * stride, 1), subpel_tap (p - stride, 1),
      subpel_tap (p, 1), subpel_tap (p + stride, 1),
      subpel_tap (p + 2 * stride, 1), subpel_tap (p + 3 * stride, 1));
  return subpel_clip_deep ((sum + 512) >> 10);
}

static inline __attribute__ ((always_inline)) void
subpel_deep_block_of (
    guint plane, const MotionCpuSearch *s, const guint16 *from, guint16 *to)
{
  gssize stride = (gssize) s->params->stride;

  for (gint32 j = 0; j < s->h; j++, from += stride, to += MOTION_CPU_MAX_BLOCK)
    for (gint32 i = 0; i < s->w; i++)
      to[i] = (guint16) subpel_deep_sample (plane, from + i, stride);
}

/* The block of @plane from the pixel (@x, @y) off the block's place on. */
static void
subpel_deep_block (
    const MotionCpuSearch *s, guint plane, gint32 x, gint32 y, guint16 *to)
{
  gssize stride = (gssize) s->params->stride;
  const guint16 *from = s->reference->deep + stride * (s->y + y) + s->x + x;

  switch (plane) {
    case PIXEL:
      subpel_deep_block_of (PIXEL, s, from, to);
      break;
    case RIGHT:
      subpel_deep_block_of (RIGHT, s, from, to);
      break;
    case DOWN:
      subpel_deep_block_of (DOWN, s, from, to);
      break;
    default:
      subpel_deep_block_of (CENTRE, s, from, to);
      break;
  }
}

/* --- the mean of two planes ------------------------------------------------------- */

/* The two whose mean is the block at (@qx, @qy) quarters. */
static inline const Sample *
find_samples (gint32 qx, gint32 qy)
{
  return samples[qy & 3][qx & 3];
}

/* The first sample of the block in the planes, (@qx, @qy) quarters off the place
 * that they were made for. */
static const guint8 *
find_in_planes (
    const MotionCpuScratch *scratch, const Sample *sample, gint32 qx, gint32 qy)
{
  gint32 x = 1 + (qx >> 2) + sample->right;
  gint32 y = 1 + (qy >> 2) + sample->down;

  return scratch->halves[sample->plane] + STRIDE * y + x;
}

static inline __attribute__ ((always_inline)) void
mean_of_planes (const guint8 *restrict a, const guint8 *restrict b, gsize from,
    guint8 *restrict to, gsize stride, gint32 w, gint32 h)
{
  for (gint32 y = 0; y < h; y++, a += from, b += from, to += stride)
    for (gint32 x = 0; x < w; x++)
      to[x] = (guint8) ((a[x] + b[x] + 1) >> 1);
}

/* The block at (@qx, @qy) quarters off the best whole-pixel vector, from the
 * planes.
 * @stride: (out): of its rows */
static const guint8 *
predict_from_planes (MotionCpuSearch *s, gint32 qx, gint32 qy, gsize *stride)
{
  const Sample *pair = find_samples (qx, qy);
  const guint8 *a = find_in_planes (s->scratch, &pair[0], qx, qy);
  const guint8 *b = find_in_planes (s->scratch, &pair[1], qx, qy);
  guint8 *mean = s->scratch->mean;

  *stride = a == b ? STRIDE : MOTION_CPU_MAX_BLOCK;
  if (a == b)
    return a;
  if (s->w == 16)
    mean_of_planes (a, b, STRIDE, mean, *stride, 16, s->h);
  else if (s->w == 32)
    mean_of_planes (a, b, STRIDE, mean, *stride, 32, s->h);
  else
    mean_of_planes (a, b, STRIDE, mean, *stride, s->w, s->h);
  return mean;
}

/* --- refinement ------------------------------------------------------------------ */

/* The eight neighbours of @vector at @spacing quarters. */
static void
subpel_refine (MotionCpuSearch *s, CvisMotionVector *vector, gint32 spacing)
{
  gint32 centre_x = vector->x, centre_y = vector->y;
  MotionRect r = s->rect;

  for (gint32 i = 0; i < 9; i++) {
    gint32 x = centre_x + (i % 3 - 1) * spacing;
    gint32 y = centre_y + (i / 3 - 1) * spacing;
    const guint8 *other;
    gsize stride;
    guint32 cost;

    if (i == 4 || x < 4 * r.left || x > 4 * r.right || y < 4 * r.top
        || y > 4 * r.bottom)
      continue;
    other =
        predict_from_planes (s, x - 4 * s->best.x, y - 4 * s->best.y, &stride);
    cost = motion_sad (s->block, s->block_stride, other, stride, s->w, s->h)
           + s->params->bits[x - s->prior.x] + s->params->bits[y - s->prior.y];
    if (cost < vector->cost)
      *vector = (CvisMotionVector){ (gint16) x, (gint16) y, cost };
  }
}

void
MOTION_CPU (subpel) (MotionCpuSearch *s, CvisMotionVector *vector)
{
  subpel_make_planes (s);
  subpel_refine (s, vector, 2);
  if (s->params->config.subpel == MOTION_SUBPEL_QUARTER)
    subpel_refine (s, vector, 1);
}

/* --- prediction -------------------------------------------------------------------- */

static gboolean
is_whole_pixel (const CvisMotionVector *vector)
{
  return ((vector->x | vector->y) & 3) == 0;
}

/* The same from planes of half pixels of the whole picture, which method=field makes. */
static const guint8 *
predict_from_halves (
    MotionCpuSearch *s, const CvisMotionVector *vector, gsize *stride)
{
  const Sample *pair = find_samples (vector->x, vector->y);
  guint8 *const *halves = s->reference->field->halves;
  gssize line = (gssize) s->params->stride;
  gssize at = line * (s->y + (vector->y >> 2)) + s->x + (vector->x >> 2);
  const guint8 *a =
      halves[pair[0].plane] + at + pair[0].right + line * pair[0].down;
  const guint8 *b =
      halves[pair[1].plane] + at + pair[1].right + line * pair[1].down;

  *stride = MOTION_CPU_MAX_BLOCK;
  mean_of_planes (
      a, b, s->params->stride, s->scratch->mean, *stride, s->w, s->h);
  return s->scratch->mean;
}

const guint8 *
MOTION_CPU (predict_8) (
    MotionCpuSearch *s, const CvisMotionVector *vector, gsize *stride)
{
  if (!is_whole_pixel (vector) && s->found)
    return predict_from_halves (s, vector, stride);
  if (!is_whole_pixel (vector))
    return predict_from_planes (
        s, vector->x - 4 * s->best.x, vector->y - 4 * s->best.y, stride);
  *stride = s->params->stride;
  return s->at + (gssize) *stride * (vector->y / 4) + vector->x / 4;
}

static void
predict_deep (MotionCpuSearch *s, const CvisMotionVector *vector, guint16 *to)
{
  const Sample *pair = find_samples (vector->x, vector->y);
  gint32 x = vector->x >> 2, y = vector->y >> 2;
  guint16 *other = s->scratch->deep;

  subpel_deep_block (s, pair[0].plane, x + pair[0].right, y + pair[0].down, to);
  if (is_whole_pixel (vector))
    return;
  subpel_deep_block (
      s, pair[1].plane, x + pair[1].right, y + pair[1].down, other);
  for (gint32 j = 0; j < s->h; j++, to += MOTION_CPU_MAX_BLOCK) {
    for (gint32 i = 0; i < s->w; i++)
      to[i] = (guint16) ((to[i] + other[i] + 1) >> 1);
    other += MOTION_CPU_MAX_BLOCK;
  }
}

void
MOTION_CPU (predict) (
    MotionCpuSearch *s, const CvisMotionVector *vector, guint16 *to)
{
  const guint8 *from;
  gsize stride;

  if (s->reference->deep) {
    predict_deep (s, vector, to);
    return;
  }
  from = MOTION_CPU (predict_8) (s, vector, &stride);
  for (gint32 j = 0; j < s->h; j++, from += stride, to += MOTION_CPU_MAX_BLOCK)
    for (gint32 i = 0; i < s->w; i++)
      to[i] = from[i];
}
