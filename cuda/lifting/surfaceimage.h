/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Heights of files as samples of a stream and back: what is common to all points
 * is taken off before they become float32, and added to them again, in FP64. */
#pragma once

#include "surfacefile.h"

G_BEGIN_DECLS

/* @missing: (out): points that are missing
 * Returns: the mean of the others; 0 without any */
gdouble surface_image_mean (const SurfaceImage *image, guint64 *missing);

/* height - @offset, NaN where a point is missing */
void surface_image_to_float32 (
    const SurfaceImage *image, gdouble offset, gfloat *to);
void surface_image_to_float64 (
    const SurfaceImage *image, gdouble offset, gdouble *to);

/* sample * @scale + @offset; what is not finite then is missing */
void surface_image_from_float32 (
    SurfaceImage *image, const gfloat *from, gdouble scale, gdouble offset);
void surface_image_from_float64 (
    SurfaceImage *image, const gdouble *from, gdouble scale, gdouble offset);
void surface_image_from_int32 (
    SurfaceImage *image, const gint32 *from, gdouble scale, gdouble offset);

G_END_DECLS
