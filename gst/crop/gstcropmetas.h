/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Metas of a cropped frame. */
#pragma once

#include <gst/cudavision/cudavision.h>

G_BEGIN_DECLS

/**
 * GstCropGeometry: pixels
 * @x, @y: left column and top row of the crop in the frame
 * @width, @height: size of the crop
 * @frame_width, @frame_height: size of the frame
 * @position_x_q8, @position_y_q8: requested centre of the crop, in 1/256 pixels of
 *   the frame
 */
typedef struct {
  guint x, y;
  guint width, height;
  guint frame_width, frame_height;
  gint32 position_x_q8, position_y_q8;
} GstCropGeometry;

/* Copies metas from @from to @to: those without coordinates unchanged; GstCvisPbfMeta and
 * GstVideoRegionOfInterestMeta in coordinates of the crop (regions are clipped at
 * its edges, empty ones left out); GstCvisFrameCropMeta relative to the original frame.
 * Other metas about pixels are left out. */
void gst_crop_metas (
    GstBuffer *from, GstBuffer *to, const GstCropGeometry *geometry);

G_END_DECLS
