/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Samples between the pixels: H.264's interpolation (8.4.2.2.1) of everything
 * round a vector at once, from which each quarter position is a mean of two. */
#include "cuda/motion/cpu/search.h"

#define STRIDE 72 /* of the planes in the scratch memory */
#define BEFORE 3  /* samples of the patch left and above of the block */

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

/* --- planes -------------------------------------------------------------------- */

/* Copies what is needed round the block at @at, moved by (@x, @y). */
static void
copy_patch (MotionCpuSearch *s, gboolean deep, gint32 x, gint32 y)
{
  gssize stride = (gssize) s->params->stride;
  gssize from = stride * (s->y + y - BEFORE) + s->x + x - BEFORE;
  gint32 w = s->w + 2 * BEFORE + 1, h = s->h + 2 * BEFORE + 1;

  for (gint32 j = 0; j < h; j++, from += stride) {
    guint16 *to = s->scratch->patch + STRIDE * j;

    if (deep)
      memcpy (to, s->reference->deep + from, (gsize) w * sizeof *to);
    else
      for (gint32 i = 0; i < w; i++)
        to[i] = s->reference->luma[from + i];
  }
}

static inline guint16
subpel_clip (gint32 value, gint32 top)
{
  return (guint16) (value < 0 ? 0 : value > top ? top : value);
}

/* Row @j of the planes, @n samples: patch and taps begin two rows above, the
 * patch two columns left of it. */
static void
subpel_make_row (MotionCpuScratch *scratch, gint32 j, gint32 n, gint32 top)
{
  const guint16 *p = scratch->patch + STRIDE * (j + 2);
  const gint32 *t = scratch->taps + STRIDE * j;
  guint16 *pixel = scratch->halves[PIXEL] + STRIDE * j;
  guint16 *right = scratch->halves[RIGHT] + STRIDE * j;
  guint16 *down = scratch->halves[DOWN] + STRIDE * j;
  guint16 *centre = scratch->halves[CENTRE] + STRIDE * j;

  memcpy (pixel, p + 2, (gsize) n * sizeof *pixel);
  for (gint32 i = 0; i < n; i++)
    right[i] = subpel_clip ((t[2 * STRIDE + i] + 16) >> 5, top);
  for (gint32 i = 0; i < n; i++) {
    const guint16 *v = p + 2 + i;
    gint32 sum = motion_tap6 (v[-2 * STRIDE], v[-STRIDE], v[0], v[STRIDE],
        v[2 * STRIDE], v[3 * STRIDE]);

    down[i] = subpel_clip ((sum + 16) >> 5, top);
  }
  for (gint32 i = 0; i < n; i++) {
    gint32 sum = motion_tap6 (t[i], t[STRIDE + i], t[2 * STRIDE + i],
        t[3 * STRIDE + i], t[4 * STRIDE + i], t[5 * STRIDE + i]);

    centre[i] = subpel_clip ((sum + 512) >> 10, top);
  }
}

/* All samples between those of the block moved by (@x, @y), and one more on
 * each side. */
static void
subpel_make_planes (MotionCpuSearch *s, gboolean deep, gint32 x, gint32 y)
{
  MotionCpuScratch *scratch = s->scratch;
  gint32 w = s->w + 2, h = s->h + 2;

  copy_patch (s, deep, x, y);
  for (gint32 j = 0; j < h + 5; j++) {
    const guint16 *p = scratch->patch + STRIDE * j;
    gint32 *t = scratch->taps + STRIDE * j;

    for (gint32 i = 0; i < w; i++)
      t[i] =
          motion_tap6 (p[i], p[i + 1], p[i + 2], p[i + 3], p[i + 4], p[i + 5]);
  }
  for (gint32 j = 0; j < h; j++)
    subpel_make_row (scratch, j, w, deep ? 1023 : 255);
}

/* The planes whose mean is the block at (@qx, @qy) quarters off the place that
 * the planes were made for. */
static void
find_samples (const MotionCpuScratch *scratch, gint32 qx, gint32 qy,
    const guint16 *planes[2])
{
  for (guint i = 0; i < 2; i++) {
    const Sample *sample = &samples[qy & 3][qx & 3][i];
    gint32 x = 1 + (qx >> 2) + sample->right;
    gint32 y = 1 + (qy >> 2) + sample->down;

    planes[i] = scratch->halves[sample->plane] + STRIDE * y + x;
  }
}

/* --- refinement ------------------------------------------------------------------ */

static guint32
sad_of_mean (const MotionCpuSearch *s, const guint16 *planes[2])
{
  const guint8 *c = s->block;
  const guint16 *a = planes[0], *b = planes[1];
  guint32 sum = 0;

  for (gint32 y = 0; y < s->h; y++) {
    for (gint32 x = 0; x < s->w; x++)
      sum += (guint32) ABS ((gint32) c[x] - ((a[x] + b[x] + 1) >> 1));
    c += s->block_stride;
    a += STRIDE;
    b += STRIDE;
  }
  return sum;
}

/* The eight neighbours of @vector at @spacing quarters. */
static void
subpel_refine (MotionCpuSearch *s, MotionVector *vector, gint32 spacing)
{
  gint32 centre_x = vector->x, centre_y = vector->y;
  MotionRect r = s->rect;

  for (gint32 i = 0; i < 9; i++) {
    gint32 x = centre_x + (i % 3 - 1) * spacing;
    gint32 y = centre_y + (i / 3 - 1) * spacing;
    const guint16 *planes[2];
    guint32 cost;

    if (i == 4 || x < 4 * r.left || x > 4 * r.right || y < 4 * r.top
        || y > 4 * r.bottom)
      continue;
    find_samples (s->scratch, x - 4 * s->best.x, y - 4 * s->best.y, planes);
    cost = sad_of_mean (s, planes) + s->params->bits[x - s->prior.x]
           + s->params->bits[y - s->prior.y];
    if (cost < vector->cost)
      *vector = (MotionVector){ (gint16) x, (gint16) y, cost };
  }
}

void
MOTION_CPU (subpel) (MotionCpuSearch *s, MotionVector *vector)
{
  subpel_make_planes (s, FALSE, s->best.x, s->best.y);
  subpel_refine (s, vector, 2);
  if (s->params->config.subpel == MOTION_SUBPEL_QUARTER)
    subpel_refine (s, vector, 1);
}

/* --- prediction -------------------------------------------------------------------- */

static void
predict_whole (const MotionCpuSearch *s, gint32 x, gint32 y, guint16 *to)
{
  gssize stride = (gssize) s->params->stride;
  gssize from = stride * (s->y + y) + s->x + x;

  for (gint32 j = 0; j < s->h; j++, from += stride) {
    guint16 *row = to + MOTION_CPU_MAX_BLOCK * j;

    if (s->reference->deep)
      memcpy (row, s->reference->deep + from, (gsize) s->w * sizeof *row);
    else
      for (gint32 i = 0; i < s->w; i++)
        row[i] = s->reference->luma[from + i];
  }
}

void
MOTION_CPU (predict) (
    MotionCpuSearch *s, const MotionVector *vector, guint16 *to)
{
  const guint16 *planes[2];

  if (((vector->x | vector->y) & 3) == 0) {
    predict_whole (s, vector->x / 4, vector->y / 4, to);
    return;
  }
  if (s->reference->deep)
    subpel_make_planes (s, TRUE, s->best.x, s->best.y);
  find_samples (
      s->scratch, vector->x - 4 * s->best.x, vector->y - 4 * s->best.y, planes);
  for (gint32 j = 0; j < s->h; j++)
    for (gint32 i = 0; i < s->w; i++)
      to[MOTION_CPU_MAX_BLOCK * j + i] =
          (guint16) ((planes[0][STRIDE * j + i] + planes[1][STRIDE * j + i] + 1)
                     >> 1);
}
