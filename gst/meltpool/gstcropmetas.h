/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Metas of a frame that a rectangle is cut out of. */
#pragma once

#include <gst/cudavision/cudavision.h>

G_BEGIN_DECLS

/**
 * GstCropGeometry: pixels
 * @x, @y: left column and top row of the crop in the frame
 * @width, @height: of the crop
 * @frame_width, @frame_height: of the frame
 * @position_x_q8, @position_y_q8: that the crop was asked to be round, Q8
 *   pixels of the frame
 */
typedef struct {
  guint x, y;
  guint width, height;
  guint frame_width, frame_height;
  gint32 position_x_q8, position_y_q8;
} GstCropGeometry;

/* Gives @to the metas of @from: those without coordinates as they are,
 * GstPbfMeta and GstVideoRegionOfInterestMeta moved into the crop (regions are
 * cut at its edges and left out where nothing remains), GstFrameCropMeta added
 * up; others that speak of pixels are left out. */
void gst_crop_metas (
    GstBuffer *from, GstBuffer *to, const GstCropGeometry *geometry);

G_END_DECLS
