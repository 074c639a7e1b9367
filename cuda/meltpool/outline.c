/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/outline.h"

#include <string.h>

/* Labels of the mask during the search */
#define BACKGROUND 0
#define POOL 1 /* the best component so far */
#define UNSEEN 2
#define SEEN 3
#define CURRENT 4

typedef struct {
  guint8 *mask;
  gint width, height;
  guint connectivity;
  gint *stack; /* pixels whose neighbours are not visited yet */
} Fill;

static void
mark_foreground (const guint8 *pixels, gsize stride, const PbfBox *area,
    guint threshold, guint8 *mask)
{
  gint x, y;

  for (y = 0; y < area->height; y++) {
    const guint8 *row = pixels + (area->y + y) * stride + area->x;

    for (x = 0; x < area->width; x++)
      *mask++ = row[x] >= threshold ? UNSEEN : BACKGROUND;
  }
}

/* Labels the component of pixel @start with CURRENT. @box: (out): its
 * bounding box in the mask. Returns: its number of pixels */
static guint
fill_component (Fill *f, gint start, PbfBox *box)
{
  gint x0 = f->width, y0 = f->height, x1 = -1, y1 = -1;
  guint n = 0, top = 0;

  f->stack[top++] = start;
  f->mask[start] = CURRENT;
  while (top > 0) {
    gint at = f->stack[--top], x = at % f->width, y = at / f->width;
    gint dx, dy;

    n++;
    x0 = MIN (x0, x);
    x1 = MAX (x1, x);
    y0 = MIN (y0, y);
    y1 = MAX (y1, y);
    for (dy = -1; dy <= 1; dy++) {
      for (dx = -1; dx <= 1; dx++) {
        gint to = at + dy * f->width + dx;

        if (f->connectivity == 4 && dx != 0 && dy != 0)
          continue;
        if (x + dx < 0 || x + dx >= f->width || y + dy < 0
            || y + dy >= f->height || f->mask[to] != UNSEEN)
          continue;
        f->mask[to] = CURRENT;
        f->stack[top++] = to;
      }
    }
  }
  *box = (PbfBox){ x0, y0, x1 - x0 + 1, y1 - y0 + 1 };
  return n;
}

static guint
box_difference (const PbfBox *a, const PbfBox *b)
{
  return ABS (a->x - b->x) + ABS (a->y - b->y)
         + ABS (a->x + a->width - b->x - b->width)
         + ABS (a->y + a->height - b->y - b->height);
}

static void
relabel (Fill *f, guint8 from, guint8 to)
{
  gint i;

  for (i = 0; i < f->width * f->height; i++) {
    if (f->mask[i] == from)
      f->mask[i] = to;
  }
}

guint
pbf_outline_find (const guint8 *pixels, gsize stride, const PbfBox *area,
    guint threshold, guint connectivity, const PbfBox *wanted, guint8 *mask)
{
  Fill fill = { mask, area->width, area->height, connectivity, NULL };
  PbfBox relative = *wanted;
  guint best_difference = G_MAXUINT, best_size = 0;
  gint i, n = area->width * area->height;

  relative.x -= area->x;
  relative.y -= area->y;
  fill.stack = g_new (gint, n);
  mark_foreground (pixels, stride, area, threshold, mask);
  for (i = 0; i < n; i++) {
    PbfBox box;
    guint size, difference;

    if (mask[i] != UNSEEN)
      continue;
    size = fill_component (&fill, i, &box);
    difference = box_difference (&box, &relative);
    if (difference < best_difference) {
      relabel (&fill, POOL, SEEN);
      relabel (&fill, CURRENT, POOL);
      best_difference = difference;
      best_size = size;
    } else {
      relabel (&fill, CURRENT, SEEN);
    }
  }
  relabel (&fill, SEEN, BACKGROUND);
  g_free (fill.stack);
  return best_size;
}

static gboolean
inside (const guint8 *mask, gint width, gint height, gint x, gint y)
{
  return x >= 0 && x < width && y >= 0 && y < height && mask[y * width + x];
}

void
pbf_outline_edges (const guint8 *mask, guint width, guint height, GArray *edges)
{
  gint w = (gint) width, h = (gint) height, x, y, from;

  for (y = 0; y <= h; y++) {
    for (x = 0, from = -1; x <= w; x++) {
      gboolean edge =
          inside (mask, w, h, x, y - 1) != inside (mask, w, h, x, y);

      if (edge && from < 0)
        from = x;
      if (!edge && from >= 0) {
        g_array_append_vals (edges, &(PbfEdge){ from, y, x, y }, 1);
        from = -1;
      }
    }
  }
  for (x = 0; x <= w; x++) {
    for (y = 0, from = -1; y <= h; y++) {
      gboolean edge =
          inside (mask, w, h, x - 1, y) != inside (mask, w, h, x, y);

      if (edge && from < 0)
        from = y;
      if (!edge && from >= 0) {
        g_array_append_vals (edges, &(PbfEdge){ x, from, x, y }, 1);
        from = -1;
      }
    }
  }
}
