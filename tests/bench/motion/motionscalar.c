/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Compiled with -O2 -fno-tree-vectorize, see meson.build. */
#include "motionscalar.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/motion/arithmetic.h"

typedef struct {
  const guint8 *current;
  gsize stride;
  const guint8 *reference; /* sample (0, 0) of the padded frame */
  gsize reference_stride;
} Planes;

/* Pads @plane by config->range samples on each side. */
static guint8 *
pad (const MotionConfig *config, const guint8 *plane, Planes *planes)
{
  gint range = (gint) config->range;
  gint width = (gint) config->width, height = (gint) config->height;
  gsize stride = config->width + 2 * config->range;
  guint8 *padded = g_malloc (stride * (config->height + 2 * config->range));
  guint8 *to = padded;

  for (gint y = -range; y < height + range; y++, to += stride) {
    const guint8 *row =
        plane + (gsize) motion_clamp (y, 0, height - 1) * config->width;

    memset (to, row[0], config->range);
    memcpy (to + range, row, config->width);
    memset (to + range + width, row[width - 1], config->range);
  }
  planes->reference = padded + stride * config->range + config->range;
  planes->reference_stride = stride;
  return padded;
}

static guint32
block_sad (
    const Planes *planes, gint x, gint y, gint w, gint h, gint dx, gint dy)
{
  guint32 sad = 0;

  for (gint j = 0; j < h; j++) {
    const guint8 *c = planes->current + (gsize) (y + j) * planes->stride + x;
    const guint8 *r =
        planes->reference
        + (gssize) (y + j + dy) * (gssize) planes->reference_stride + x + dx;

    for (gint i = 0; i < w; i++)
      sad += (guint32) abs (c[i] - r[i]);
  }
  return sad;
}

static void
search_block (const MotionConfig *config, const Planes *planes, gint x, gint y,
    CvisMotionVector *best)
{
  gint w = MIN ((gint) config->block_size, (gint) config->width - x);
  gint h = MIN ((gint) config->block_size, (gint) config->height - y);
  MotionRect rect = motion_candidates (config, x, y, w, h);

  best->cost = G_MAXUINT32;
  for (gint dy = rect.top; dy <= rect.bottom; dy++)
    for (gint dx = rect.left; dx <= rect.right; dx++) {
      guint32 sad = block_sad (planes, x, y, w, h, dx, dy);

      if (sad < best->cost) {
        best->cost = sad;
        best->x = (gint16) (4 * dx);
        best->y = (gint16) (4 * dy);
      }
    }
}

guint64
motion_scalar_full (const MotionConfig *config, const guint8 *current,
    const guint8 *reference, CvisMotionVector *vectors)
{
  Planes planes = { .current = current, .stride = config->width };
  guint8 *padded = pad (config, reference, &planes);
  guint64 residue = 0;

  for (gint y = 0; y < (gint) config->height; y += (gint) config->block_size)
    for (gint x = 0; x < (gint) config->width;
         x += (gint) config->block_size, vectors++) {
      search_block (config, &planes, x, y, vectors);
      residue += vectors->cost;
    }
  g_free (padded);
  return residue;
}
