/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Draws the contents of a GstCvisMotionVectorMeta on its frame, with lines and text in
 * proportion to the frame's size. One thread at a time. */
#pragma once

#include <cairo.h>
#include <gst/cudavision/gstmotionmeta.h>

G_BEGIN_DECLS

typedef enum {
  GST_MOTION_PAINT_ARROWS = 1 << 0,
  GST_MOTION_PAINT_FIELD = 1 << 1,
  GST_MOTION_PAINT_RESIDUE = 1 << 2,
  GST_MOTION_PAINT_GRID = 1 << 3,
  GST_MOTION_PAINT_TEXT = 1 << 4,
} GstMotionPaintMode;

/**
 * GstMotionPaintSettings:
 * @mode: of GstMotionPaintMode
 * @scale: length of an arrow in pixels for a pixel of motion
 * @opacity: 0..1, of field, residue and grid
 * @min_length: pixels; shorter motion is shown as none
 * @min_confidence: 0..1; less reliable vectors are not shown, vectors without a
 *   confidence are
 */
typedef struct {
  guint mode;
  gdouble scale;
  gdouble opacity;
  gdouble min_length;
  gdouble min_confidence;
} GstMotionPaintSettings;

typedef struct _GstMotionPainter GstMotionPainter;

/* @info: of a format of %GST_MOTION_BLEND_FORMATS */
GstMotionPainter *gst_motion_painter_new (const GstVideoInfo *info);
void gst_motion_painter_free (GstMotionPainter *painter);

/* Paints on @frame, mapped for reading and writing.
 * Returns: cairo's status; the picture is unfinished unless it is
 * CAIRO_STATUS_SUCCESS */
cairo_status_t gst_motion_painter_paint (GstMotionPainter *painter,
    GstVideoFrame *frame, const GstCvisMotionVectorMeta *meta,
    const GstMotionPaintSettings *settings);

G_END_DECLS
