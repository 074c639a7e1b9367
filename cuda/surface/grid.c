/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Converts a list of points to an image if they lie on a regular grid, in any
 * order. Along each axis, sorted positions are split into groups at gaps above a
 * threshold; a threshold whose groups are evenly spaced gives a candidate grid.
 * The grid is the coarsest one that has a place for every point. */
#include "cuda/surface/bytes.h"

#include <math.h>
#include <stdlib.h>

#define SAME 1e-8     /* of the range: positions count as equal */
#define TOLERANCE 0.1 /* of a step: point to its place */
#define NOTED 0.01    /* of a step: shifts above it are noted */
#define MAX_SPARSE 4  /* grid positions for each point, at most */
#define MAX_CANDIDATES 32
#define DEGREES (180 / G_PI)

/* Places of a grid along x or y
 * @n: their number */
typedef struct {
  gdouble first, step;
  gdouble n;
} Axis;

typedef struct {
  Axis axes[MAX_CANDIDATES];
  guint n;
} Candidates;

/* Positions from @low to @high that belong to one place */
typedef struct {
  gdouble low, high;
} Group;

static int
compare_positions (const void *a, const void *b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
centre_of (const Group *group)
{
  return group->low / 2 + group->high / 2;
}

/* Splits sorted positions at gaps above @threshold. Returns: number of groups */
static gsize
split_positions (
    const gdouble *sorted, gsize n, gdouble threshold, Group *groups)
{
  gsize n_groups = 1;

  groups[0] = (Group){ sorted[0], sorted[0] };
  for (gsize i = 1; i < n; i++)
    if (sorted[i] - sorted[i - 1] > threshold)
      groups[n_groups++] = (Group){ sorted[i], sorted[i] };
    else
      groups[n_groups - 1].high = sorted[i];
  return n_groups;
}

/* The step is the range of the groups divided by the number of steps; gaps are
 * multiples of the median gap. Returns: FALSE if a position is too far from its
 * place */
static gboolean
fit_axis (const Group *groups, gsize n, gdouble *gaps, Axis *axis)
{
  const gdouble first = centre_of (&groups[0]);
  gdouble median, steps = 0, at = 0;

  for (gsize i = 1; i < n; i++)
    gaps[i - 1] = centre_of (&groups[i]) - centre_of (&groups[i - 1]);
  qsort (gaps, n - 1, sizeof (gdouble), compare_positions);
  median = gaps[(n - 1) / 2];
  for (gsize i = 1; i < n; i++)
    steps += MAX (1, round (gaps[i - 1] / median));
  *axis =
      (Axis){ first, (centre_of (&groups[n - 1]) - first) / steps, steps + 1 };
  for (gsize i = 0; i < n; i++) {
    const gdouble place = round ((centre_of (&groups[i]) - first) / axis->step);
    const gdouble position = first + place * axis->step;
    const gdouble shift =
        MAX (fabs (groups[i].low - position), fabs (groups[i].high - position));

    if ((i > 0 && place == at) || !(shift <= TOLERANCE * axis->step))
      return FALSE;
    at = place;
  }
  return TRUE;
}

/* Candidates from coarse to fine. @positions: sorted here. @groups, @gaps: room
 * for @n */
static void
find_candidates (gdouble *positions, gsize n, Group *groups, gdouble *gaps,
    Candidates *found)
{
  gdouble range, widest = 0;

  qsort (positions, n, sizeof (gdouble), compare_positions);
  range = positions[n - 1] - positions[0];
  for (gsize i = 1; i < n; i++)
    widest = MAX (widest, positions[i] - positions[i - 1]);
  *found = (Candidates){ .n = 0 };
  if (widest <= 0) {
    found->axes[found->n++] = (Axis){ positions[0], 0, 1 };
    return;
  }
  for (gdouble t = widest / 2;
       found->n < MAX_CANDIDATES && t >= range * SAME && isfinite (range);
       t /= 2) {
    Axis *axis = &found->axes[found->n];
    const gsize m = split_positions (positions, n, t, groups);

    if (fit_axis (groups, m, gaps, axis)
        && (found->n == 0 || axis->n > axis[-1].n))
      found->n++;
  }
}

/* Both axes. Returns: FALSE without memory */
static gboolean
find_axes (const SurfacePoint *points, gsize n, Candidates found[2])
{
  gdouble *positions = g_try_new (gdouble, n), *gaps = g_try_new (gdouble, n);
  Group *groups = g_try_new (Group, n);
  const gboolean ok = positions && gaps && groups;

  for (guint k = 0; ok && k < 2; k++) {
    for (gsize i = 0; i < n; i++)
      positions[i] = k ? points[i].y : points[i].x;
    find_candidates (positions, n, groups, gaps, &found[k]);
  }
  g_free (positions);
  g_free (gaps);
  g_free (groups);
  return ok;
}

/* The coarsest grid with a place for each of @n points, otherwise the finest of
 * the smaller ones. Returns: FALSE if there is none */
static gboolean
choose_grid (const Candidates found[2], gsize n, Axis axes[2])
{
  gdouble chosen = 0;

  for (guint i = 0; i < found[0].n; i++)
    for (guint k = 0; k < found[1].n; k++) {
      const gdouble places = found[0].axes[i].n * found[1].axes[k].n;
      const gboolean better = chosen < (gdouble) n
                                  ? places > chosen
                                  : places >= (gdouble) n && places < chosen;

      if (better && places <= (gdouble) n * MAX_SPARSE) {
        chosen = places;
        axes[0] = found[0].axes[i];
        axes[1] = found[1].axes[k];
      }
    }
  return chosen > 0;
}

/* --- errors -------------------------------------------------------------------- */

/* Direction of the point that is next to the first one, as an angle to the
 * nearest axis. @distance: (out): to that point */
static gdouble
find_angle (const SurfacePoint *points, gsize n, gdouble *distance)
{
  gdouble nearest = INFINITY, angle = 0;

  for (gsize i = 1; i < n; i++) {
    const gdouble x = points[i].x - points[0].x, y = points[i].y - points[0].y;
    const gdouble square = x * x + y * y;

    if (square > 0 && square < nearest) {
      nearest = square;
      angle = atan2 (y, x);
    }
  }
  *distance = sqrt (nearest);
  return angle - G_PI / 2 * round (angle / (G_PI / 2));
}

/* Whether the points form a grid after a turn by -@angle about the first one.
 * @step: about the smaller step */
static gboolean
is_turned_grid (
    const SurfacePoint *points, gsize n, gdouble angle, gdouble step)
{
  SurfacePoint *turned = g_try_new (SurfacePoint, n);
  const gdouble c = cos (angle), s = sin (angle);
  Candidates found[2] = { 0 };
  Axis axes[2] = { 0 };
  gboolean ok = turned != NULL;

  for (gsize i = 0; ok && i < n; i++) {
    const gdouble x = points[i].x - points[0].x, y = points[i].y - points[0].y;

    turned[i] = (SurfacePoint){ c * x + s * y, c * y - s * x, 0 };
  }
  ok = ok && find_axes (turned, n, found) && choose_grid (found, n, axes)
       && axes[0].step > step / 2 && axes[1].step > step / 2
       && axes[0].n * axes[1].n >= (gdouble) n;
  g_free (turned);
  return ok;
}

static gboolean
refuse_points (const SurfacePoint *points, gsize n, GError **error)
{
  gdouble step;
  const gdouble angle = find_angle (points, n, &step);

  if (angle != 0 && is_turned_grid (points, n, angle, step))
    return surface_error (error,
        "has %" G_GSIZE_FORMAT " points x, y, z of a grid that is turned by "
        "%.3g degrees. Turn them by %.3g degrees: points may lie beside their "
        "places by at most %g of the spacing",
        n, angle * DEGREES, -angle * DEGREES, TOLERANCE);
  return surface_error (error,
      "has %" G_GSIZE_FORMAT " points x, y, z that form no regular grid: x or "
      "y is not evenly spaced within %g of the spacing, or more than %d of %d "
      "places are empty",
      n, TOLERANCE, MAX_SPARSE - 1, MAX_SPARSE);
}

/* --- points -------------------------------------------------------------------- */

/* @shift: (inout): the largest one, of a step */
static gsize
find_place (const Axis *axis, gdouble position, gdouble *shift)
{
  const gdouble steps =
      axis->step > 0 ? (position - axis->first) / axis->step : 0;

  *shift = MAX (*shift, fabs (steps - round (steps)));
  return (gsize) MAX (round (steps), 0);
}

/* @index: of the second point in a place */
static gboolean
refuse_pair (const SurfacePoint *points, gsize n, gsize index,
    const Axis axes[2], GError **error)
{
  const SurfacePoint *p = &points[index];

  for (gsize i = 0; i < index; i++)
    if (fabs (points[i].x - p->x) <= SAME * axes[0].step
        && fabs (points[i].y - p->y) <= SAME * axes[1].step)
      return surface_error (error,
          "has two points at x %g, y %g. Only points of a grid are read", p->x,
          p->y);
  return refuse_points (points, n, error);
}

static gboolean
place_points (SurfaceImage *image, const SurfacePoint *points, gsize n,
    const Axis axes[2], GError **error)
{
  const gsize places = (gsize) image->width * image->height;
  gdouble shift = 0;

  for (gsize i = 0; i < places; i++)
    image->z[i] = NAN;
  for (gsize i = 0; i < n; i++) {
    const gsize x = find_place (&axes[0], points[i].x, &shift);
    const gsize y = find_place (&axes[1], points[i].y, &shift);
    gdouble *z = &image->z[y * image->width + x];

    if (!isnan (*z))
      return refuse_pair (points, n, i, axes, error);
    *z = points[i].z;
  }
  surface_grid_note_shift (image, shift);
  return TRUE;
}

void
surface_grid_note_shift (SurfaceImage *image, gdouble most)
{
  if (most > NOTED)
    surface_image_add_note (image,
        "points lie up to %.2g %% of the spacing beside the places of their "
        "grid, to which they are moved",
        most * 100);
}

SurfaceImage *
surface_grid_new (const SurfacePoint *points, gsize n, GError **error)
{
  SurfaceImage *image = NULL;
  Candidates found[2] = { 0 };
  Axis axes[2] = { 0 };

  if (n == 0) {
    surface_error (error, "has no valid point");
    return NULL;
  }
  if (!find_axes (points, n, found)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for %" G_GSIZE_FORMAT " points", n);
    return NULL;
  }
  if (!choose_grid (found, n, axes)) {
    refuse_points (points, n, error);
    return NULL;
  }
  if (surface_check_size ((guint64) axes[0].n, (guint64) axes[1].n, error))
    image = surface_image_new ((guint) axes[0].n, (guint) axes[1].n, error);
  if (image && !place_points (image, points, n, axes, error))
    g_clear_pointer (&image, surface_image_free);
  if (image) {
    image->dx = axes[0].step > 0 ? axes[0].step : axes[1].step;
    image->dy = axes[1].step > 0 ? axes[1].step : axes[0].step;
  }
  return image;
}
