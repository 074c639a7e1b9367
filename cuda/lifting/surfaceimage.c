/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "surfaceimage.h"

#include <math.h>

static gsize
n_samples (const SurfaceImage *image)
{
  return (gsize) image->width * image->height;
}

/* Of the differences from the first height, which keep their digits */
gdouble
surface_image_mean (const SurfaceImage *image, guint64 *missing)
{
  gdouble first = 0, sum = 0;
  gsize there = 0;

  for (gsize i = 0; i < n_samples (image); i++) {
    if (isnan (image->z[i]))
      continue;
    if (there++ == 0)
      first = image->z[i];
    sum += image->z[i] - first;
  }
  *missing = n_samples (image) - there;
  return there ? first + sum / (gdouble) there : 0;
}

void
surface_image_to_float32 (const SurfaceImage *image, gdouble offset, gfloat *to)
{
  for (gsize i = 0; i < n_samples (image); i++)
    to[i] = (gfloat) (image->z[i] - offset);
}

void
surface_image_to_float64 (
    const SurfaceImage *image, gdouble offset, gdouble *to)
{
  for (gsize i = 0; i < n_samples (image); i++)
    to[i] = image->z[i] - offset;
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
