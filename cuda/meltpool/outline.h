/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Pixels of the melt pool, for drawing. A result record has the pool's
 * position and size but not its pixels; labelling the few displayed frames
 * again is cheaper than a mask for each frame. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Pixels: columns x..x + width - 1, rows y..y + height - 1 */
typedef struct {
  gint x, y;
  gint width, height;
} PbfBox;

/* A straight segment of an outline between pixel corners: x0 == x1 and y0 <
 * y1, or y0 == y1 and x0 < x1 */
typedef struct {
  gint x0, y0;
  gint x1, y1;
} PbfEdge;

/* Searches @area of the frame at @pixels for the component of pixels >=
 * @threshold whose bounding box differs least from @wanted (sum over the
 * four edges; of equals the first in raster order). With the monitor's
 * threshold and connectivity the box is equal to @wanted.
 * @area: inside the frame, not empty
 * @connectivity: 4 or 8
 * @mask: (out): area->width * area->height bytes: 1 for its pixels, 0
 *   elsewhere
 * Returns: its number of pixels, 0 if no pixel of @area reaches the
 * threshold */
guint pbf_outline_find (const guint8 *pixels, gsize stride, const PbfBox *area,
    guint threshold, guint connectivity, const PbfBox *wanted, guint8 *mask);

/* Appends to @edges (of #PbfEdge) the boundaries between pixels of @mask and
 * the others, including holes, as maximal straight segments; mask pixel (x,
 * y) has its corners at (x, y) and (x + 1, y + 1). */
void pbf_outline_edges (
    const guint8 *mask, guint width, guint height, GArray *edges);

G_END_DECLS
