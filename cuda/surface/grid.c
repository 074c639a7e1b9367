/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Converts a list of points to an image if they lie on a regular grid. The
 * step of an axis is the range of its positions divided by the number of
 * steps; gaps are multiples of the most frequent gap. */
#include "cuda/surface/bytes.h"

#include <math.h>
#include <stdlib.h>

#define SAME 1e-8     /* of the range: positions count as equal */
#define TOLERANCE 0.1 /* of a step: rounding of positions in files */
#define MAX_SPARSE 4  /* grid positions for each point, at most */

typedef struct {
  gdouble first, step;
  gdouble n; /* number of grid positions */
} Axis;

static int
compare_numbers (const void *a, const void *b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* @positions: changed. @gaps: memory for @n */
static void
find_axis (gdouble *positions, gdouble *gaps, gsize n, Axis *axis)
{
  gdouble range, median, last, steps = 0;
  gsize n_gaps = 0;

  qsort (positions, n, sizeof (gdouble), compare_numbers);
  range = positions[n - 1] - positions[0];
  last = positions[0];
  for (gsize i = 1; i < n; i++)
    if (positions[i] - last > range * SAME) {
      gaps[n_gaps++] = positions[i] - last;
      last = positions[i];
    }
  *axis = (Axis){ positions[0], 0, 1 };
  if (n_gaps == 0)
    return;
  qsort (gaps, n_gaps, sizeof (gdouble), compare_numbers);
  median = gaps[n_gaps / 2];
  for (gsize i = 0; i < n_gaps; i++)
    steps += MAX (1, round (gaps[i] / median));
  axis->step = range / steps;
  axis->n = steps + 1;
}

static gboolean
find_place (const Axis *axis, const gchar *name, gdouble position, gsize number,
    gsize *place, GError **error)
{
  const gdouble steps =
      axis->step > 0 ? (position - axis->first) / axis->step : 0;

  if (fabs (steps - round (steps)) > TOLERANCE)
    return surface_error (error,
        "has points that form no regular grid: %s of point %" G_GSIZE_FORMAT
        ", %g, lies between two places of the grid. Only points of a grid are "
        "read",
        name, number, position);
  *place = (gsize) round (steps);
  return TRUE;
}

static gboolean
place_points (SurfaceImage *image, const SurfacePoint *points, gsize n,
    const Axis axes[2], GError **error)
{
  const gsize places = (gsize) image->width * image->height;
  gsize x = 0, y = 0;

  for (gsize i = 0; i < places; i++)
    image->z[i] = NAN;
  for (gsize i = 0; i < n; i++) {
    if (!find_place (&axes[0], "x", points[i].x, i, &x, error)
        || !find_place (&axes[1], "y", points[i].y, i, &y, error))
      return FALSE;
    if (x >= image->width || y >= image->height)
      return surface_error (error, "has points that form no regular grid");
    if (!isnan (image->z[y * image->width + x]))
      return surface_error (error,
          "has two points at x %g, y %g. Only points of a grid are read",
          points[i].x, points[i].y);
    image->z[y * image->width + x] = points[i].z;
  }
  return TRUE;
}

SurfaceImage *
surface_grid_new (const SurfacePoint *points, gsize n, GError **error)
{
  gdouble *positions = g_try_new (gdouble, n), *gaps = g_try_new (gdouble, n);
  SurfaceImage *image = NULL;
  Axis axes[2];

  if (n == 0)
    surface_error (error, "has no valid point");
  else if (!positions || !gaps)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %" G_GSIZE_FORMAT " points", n);
  if (n > 0 && positions && gaps) {
    for (gsize i = 0; i < n; i++)
      positions[i] = points[i].x;
    find_axis (positions, gaps, n, &axes[0]);
    for (gsize i = 0; i < n; i++)
      positions[i] = points[i].y;
    find_axis (positions, gaps, n, &axes[1]);
    if (axes[0].n * axes[1].n > (gdouble) n * MAX_SPARSE)
      surface_error (error,
          "has %" G_GSIZE_FORMAT " points that form no regular grid: it would "
          "have %.0f x %.0f places. Only points of a grid are read",
          n, axes[0].n, axes[1].n);
    else if (surface_check_size (
                 (guint64) axes[0].n, (guint64) axes[1].n, error))
      image = surface_image_new ((guint) axes[0].n, (guint) axes[1].n, error);
  }
  g_free (positions);
  g_free (gaps);
  if (image && !place_points (image, points, n, axes, error))
    g_clear_pointer (&image, surface_image_free);
  if (image) {
    image->dx = axes[0].step > 0 ? axes[0].step : axes[1].step;
    image->dy = axes[1].step > 0 ? axes[1].step : axes[0].step;
  }
  return image;
}
