/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Which pixels are the melt pool, for drawing: a result record says where the
 * pool is and how large, not which pixels it has; labelling a few of the frames
 * once more is cheaper than carrying a mask with each. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Pixels: columns x..x + width - 1, rows y..y + height - 1 */
typedef struct {
  gint x, y;
  gint width, height;
} PbfBox;

/* The part of an outline between two pixel corners, along a row or a column:
 * x0 == x1 and y0 < y1, or y0 == y1 and x0 < x1 */
typedef struct {
  gint x0, y0;
  gint x1, y1;
} PbfEdge;

/* Looks in @area of the frame at @pixels for the component of pixels >=
 * @threshold whose bounding box differs least from @wanted (sum over the four
 * sides; the first in raster order of equal ones): the very box where threshold
 * and connectivity are the monitor's, the nearest otherwise.
 * @area: inside the frame, not empty
 * @connectivity: 4 or 8
 * @mask: (out): area->width * area->height bytes: 1 for its pixels, 0 elsewhere
 * Returns: its pixels, 0 if no pixel of @area reaches the threshold. */
guint pbf_outline_find (const guint8 *pixels, gsize stride, const PbfBox *area,
    guint threshold, guint connectivity, const PbfBox *wanted, guint8 *mask);

/* Appends to @edges (of #PbfEdge) what separates the pixels of @mask from the
 * others, holes included, as long straight pieces; mask pixel (x, y) has its
 * corners at (x, y) and (x + 1, y + 1). */
void pbf_outline_edges (
    const guint8 *mask, guint width, guint height, GArray *edges);

G_END_DECLS
