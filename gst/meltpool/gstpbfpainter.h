/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Draws a melt-pool frame and its results with cairo: the enlarged picture on the
 * left, a panel of numbers on the right. One thread at a time. */
#pragma once

#include <cairo.h>
#include <glib.h>
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

#define GST_PBF_PAINTER_MAX_SIDE 16384 /* of the canvas, pixels */

typedef enum {
  GST_PBF_COLORMAP_INFERNO, /* black, violet, orange, pale yellow */
  GST_PBF_COLORMAP_GREY,
} GstPbfColormap;

/**
 * GstPbfPainterConfig:
 * @width, @height: of the frames, pixels
 * @zoom: canvas pixels for one of the frame; 0: the largest that keeps the
 *   longer side within 768
 * @threshold: 1..255, pixels of this value and more are foreground
 * @connectivity: 4 or 8
 * @colormap: colours of the grey values
 */
typedef struct {
  guint width, height;
  guint zoom;
  guint threshold;
  guint connectivity;
  GstPbfColormap colormap;
} GstPbfPainterConfig;

/**
 * GstPbfPicture:
 * @pixels, @stride: the frame, GRAY8
 * @result: (nullable): its results
 * @offset_x, @offset_y, @scale_x, @scale_y: a point (x, y) of the analysed
 *   frame is (x * scale_x + offset_x, y * scale_y + offset_y) of this one
 * @time_ns: presentation time; all ones if none
 * @latency_ns: of the analysis; all ones if not known
 */
typedef struct {
  const guint8 *pixels;
  gsize stride;
  const CvisPbfResult *result;
  gdouble offset_x, offset_y;
  gdouble scale_x, scale_y;
  guint64 time_ns;
  guint64 latency_ns;
} GstPbfPicture;

typedef struct _GstPbfPainter GstPbfPainter;

/* Returns: %NULL if the canvas would be larger than
 * %GST_PBF_PAINTER_MAX_SIDE. */
GstPbfPainter *gst_pbf_painter_new (const GstPbfPainterConfig *config);
void gst_pbf_painter_free (GstPbfPainter *painter);

/* @names: (nullable): of the network's outputs, ended by %NULL; those without a name
 *   are out_0, out_1 and so on */
void gst_pbf_painter_name_outputs (GstPbfPainter *painter, gchar **names);

/* Forgets the history. */
void gst_pbf_painter_reset (GstPbfPainter *painter);

guint gst_pbf_painter_width (const GstPbfPainter *painter);
guint gst_pbf_painter_height (const GstPbfPainter *painter);

/* Paints all of @surface, CAIRO_FORMAT_RGB24 of the painter's size, and enters
 * the frame into the history.
 * Returns: cairo's status; the picture is unfinished unless it is
 * CAIRO_STATUS_SUCCESS */
cairo_status_t gst_pbf_painter_paint (GstPbfPainter *painter,
    cairo_surface_t *surface, const GstPbfPicture *picture);

G_END_DECLS
