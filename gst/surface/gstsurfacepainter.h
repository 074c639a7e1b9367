/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Paints heights in colours, with hill shading, a scale bar and a height bar. One
 * thread at a time. */
#pragma once

#include <cairo.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* Formats that can be painted */
#define GST_SURFACE_PAINT_FORMATS "{ RGB, BGR, RGBx, BGRx, RGBA, BGRA }"

typedef enum {
  GST_SURFACE_MAP_VIRIDIS,
  GST_SURFACE_MAP_INFERNO,
  GST_SURFACE_MAP_GREY,
  GST_SURFACE_MAP_TERRAIN,
} GstSurfaceMap;

typedef enum {
  GST_SURFACE_RANGE_PERCENTILE, /* of each picture's heights */
  GST_SURFACE_RANGE_FIXED,
} GstSurfaceRange;

/**
 * GstSurfacePaintSettings:
 * @low, @high: percentiles, 0..100, that get the first and last colour
 * @minimum, @maximum: ends of the fixed range, metres
 * @missing: 0xRRGGBB of missing points
 * @shade: 0..1, weight of light and shadow in the brightness
 * @azimuth: direction of the light, degrees clockwise from the upper edge
 * @altitude: elevation of the light, degrees
 * @bars: whether to draw a scale bar and a height bar
 */
typedef struct {
  GstSurfaceMap map;
  GstSurfaceRange range;
  gdouble low, high;
  gdouble minimum, maximum;
  guint missing;
  gdouble shade;
  gdouble azimuth, altitude;
  gboolean bars;
} GstSurfacePaintSettings;

/**
 * GstSurfaceHeights: the surface to paint
 * @z: width * height heights in metres, not finite for missing points
 * @dx, @dy: spacing of samples, metres; 0: not known, without a scale bar
 */
typedef struct {
  const gfloat *z;
  guint width, height;
  gdouble dx, dy;
} GstSurfaceHeights;

typedef struct _GstSurfacePainter GstSurfacePainter;

GstSurfacePainter *gst_surface_painter_new (void);
void gst_surface_painter_free (GstSurfacePainter *painter);

/* Paints @frame, of a format of %GST_SURFACE_PAINT_FORMATS and of @heights' size.
 * @from, @to: (out): the range used, metres; both 0 if all points are missing
 * Returns: cairo's status; after CAIRO_STATUS_NO_MEMORY the picture may be missing,
 *   after other errors the bars are */
cairo_status_t gst_surface_painter_paint (GstSurfacePainter *painter,
    GstVideoFrame *frame, const GstSurfaceHeights *heights,
    const GstSurfacePaintSettings *settings, gdouble *from, gdouble *to);

/* The percentiles @low and @high (0..100) of the heights, to 1/65536 of their range.
 * Returns: FALSE if all points are missing */
gboolean gst_surface_painter_percentiles (GstSurfacePainter *painter,
    const GstSurfaceHeights *heights, gdouble low, gdouble high, gdouble *from,
    gdouble *to);

G_END_DECLS
