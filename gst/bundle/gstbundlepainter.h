/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Paints a point cloud from a viewpoint around it. One thread at a time. */
#pragma once

#include <glib.h>
#include "cuda/bundle/formats/cloud.h"

G_BEGIN_DECLS

/* The direction that is up in the picture */
typedef enum {
  GST_BUNDLE_UP_AUTO, /* the mean of the cameras'; z without cameras */
  GST_BUNDLE_UP_X,
  GST_BUNDLE_UP_Y,
  GST_BUNDLE_UP_Z,
  GST_BUNDLE_UP_MINUS_X,
  GST_BUNDLE_UP_MINUS_Y,
  GST_BUNDLE_UP_MINUS_Z,
} GstBundleUp;

/**
 * GstBundleViewpoint:
 * @azimuth, @elevation: of the viewpoint, degrees
 * @zoom: 1: the scene fills the picture
 * @point_size: side of a point's square, pixels
 * @labels: whether to draw axes, a scale bar and numbers
 */
typedef struct {
  gint up;
  gdouble azimuth, elevation, zoom;
  guint point_size;
  gboolean labels;
} GstBundleViewpoint;

typedef struct _GstBundlePainter GstBundlePainter;

/* Takes @cloud.
 * Returns: %NULL without memory */
GstBundlePainter *gst_bundle_painter_new (
    BundleCloud *cloud, guint width, guint height);
void gst_bundle_painter_free (GstBundlePainter *painter);

/* Returns: (transfer none): height rows of width pixels 0x00RRGGBB */
const guint32 *gst_bundle_painter_paint (
    GstBundlePainter *painter, const GstBundleViewpoint *view);

G_END_DECLS
