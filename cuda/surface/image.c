/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/surface/image.h"

#include <math.h>

static gsize
n_samples (const SurfaceImage *image)
{
  return (gsize) image->width * image->height;
}

static gdouble
height (gdouble sample, gdouble scale, gdouble offset)
{
  gdouble z = sample * scale + offset;

  return isfinite (z) ? z : NAN;
}

void
surface_image_from_float32 (
    SurfaceImage *image, const gfloat *from, gdouble scale, gdouble offset)
{
  for (gsize i = 0; i < n_samples (image); i++)
    image->z[i] = height (from[i], scale, offset);
}

void
surface_image_from_float64 (
    SurfaceImage *image, const gdouble *from, gdouble scale, gdouble offset)
{
  for (gsize i = 0; i < n_samples (image); i++)
    image->z[i] = height (from[i], scale, offset);
}

void
surface_image_from_int32 (
    SurfaceImage *image, const gint32 *from, gdouble scale, gdouble offset)
{
  for (gsize i = 0; i < n_samples (image); i++)
    image->z[i] = height (from[i], scale, offset);
}
