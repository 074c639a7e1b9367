/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Converts samples of a stream to heights of files: the offset subtracted
 * before the conversion to float32 is added again, in FP64. */
#pragma once

#include "cuda/surface/file.h"

G_BEGIN_DECLS

/* sample * @scale + @offset; missing if that is not finite */
void surface_image_from_float32 (
    SurfaceImage *image, const gfloat *from, gdouble scale, gdouble offset);
void surface_image_from_float64 (
    SurfaceImage *image, const gdouble *from, gdouble scale, gdouble offset);
void surface_image_from_int32 (
    SurfaceImage *image, const gint32 *from, gdouble scale, gdouble offset);

G_END_DECLS
