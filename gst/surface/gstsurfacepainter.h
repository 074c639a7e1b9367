/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Heights as colours: the range they are spread over, the colours, light from a
 * side, bars of length and height. One thread at a time. */
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
 * @minimum, @maximum: metres, of the fixed range
 * @missing: 0xRRGGBB of points that are missing
 * @shade: 0..1, how much of the brightness is light and shadow
 * @azimuth: where the light comes from, degrees clockwise from above
 * @altitude: how high it stands, degrees
 * @bars: whether there is a bar of length and one of heights
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
 * GstSurfaceHeights: what is painted
 * @z: width * height metres, NaN (or infinite) where a point is missing
 * @dx, @dy: spacing, metres; 0: not known, there is no bar of length then
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
 * @from, @to: (out): the range that was used; both 0 if all points are missing
 * Returns: cairo's own status; CAIRO_STATUS_NO_MEMORY: there may be no picture,
 *   all other errors leave bars out */
cairo_status_t gst_surface_painter_paint (GstSurfacePainter *painter,
    GstVideoFrame *frame, const GstSurfaceHeights *heights,
    const GstSurfacePaintSettings *settings, gdouble *from, gdouble *to);

/* The percentiles @low and @high (0..100) of the heights there are, to 1/65536 of
 * their span. Returns: FALSE if there is none. */
gboolean gst_surface_painter_percentiles (GstSurfacePainter *painter,
    const GstSurfaceHeights *heights, gdouble low, gdouble high, gdouble *from,
    gdouble *to);

G_END_DECLS
