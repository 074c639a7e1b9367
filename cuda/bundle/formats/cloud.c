/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/formats/cloud.h"

#include <math.h>
#include <string.h>
#include "cuda/bundle/formats/codecs.h"
#include "cuda/bundle/pose.h"
#include "cuda/core/cancel.h"

#define FRUSTUM_VERTICES 5
#define FRUSTUM_EDGES 8
#define FRUSTUM_DEPTH 0.02 /* of the extent of points and cameras */
#define MOST_SAMPLES 100000

void
bundle_cloud_free (BundleCloud *cloud)
{
  g_free (cloud->positions);
  g_free (cloud->colours);
  g_free (cloud->edges);
  g_free (cloud);
}

static gint
compare_floats (gconstpointer a, gconstpointer b)
{
  const gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return (x > y) - (x < y);
}

void
bundle_cloud_box (const gfloat *positions, guint n, gdouble share,
    gfloat low[3], gfloat high[3])
{
  const guint step = n / MOST_SAMPLES + 1, count = (n + step - 1) / step;
  const guint cut = (guint) rint (count * (1 - share) / 2);
  gfloat *values = g_new (gfloat, count + 1);

  for (guint k = 0; k < 3; k++) {
    low[k] = high[k] = 0;
    if (n == 0)
      continue;
    for (guint i = 0; i < count; i++)
      values[i] = positions[3 * (gsize) i * step + k];
    qsort (values, count, sizeof (gfloat), compare_floats);
    low[k] = values[MIN (cut, count - 1)];
    high[k] = values[count - 1 - MIN (cut, count - 1)];
  }
  g_free (values);
}

/* Blue, cyan, green, yellow, red for @t of 0..1 */
static void
choose_colour (gdouble t, guint8 *colour)
{
  static const gfloat stops[5][3] = { { 40, 80, 255 }, { 0, 200, 230 },
    { 60, 210, 60 }, { 250, 220, 30 }, { 240, 40, 30 } };
  const gdouble at = CLAMP (t, 0, 1) * 4;
  const guint i = MIN ((guint) at, 3);

  for (guint k = 0; k < 3; k++)
    colour[k] = (guint8) rint (
        stops[i][k] + (at - i) * (gdouble) (stops[i + 1][k] - stops[i][k]));
}

static void
add_points (
    BundleCloud *cloud, const BundleProblem *problem, const gdouble *errors)
{
  const gsize n = problem->n_points;

  for (gsize i = 0; i < 3 * n; i++)
    cloud->positions[i] = (gfloat) problem->points[i];
  if (!errors && problem->colours)
    memcpy (cloud->colours, problem->colours, 3 * n);
  else if (!errors)
    memset (cloud->colours, 190, 3 * n);
  for (gsize i = 0; errors && i < n && !cvis_cancelled_at (i); i++)
    choose_colour (errors[i] > 0 ? log2 (errors[i] / 0.125) / 5 : 0,
        cloud->colours + 3 * i);
}

/* The apex, then the corners of the picture at @depth */
static void
add_frustum (BundleCloud *cloud, const gdouble *camera,
    const BundlePicture *picture, gdouble depth)
{
  static const guint8 joined[FRUSTUM_EDGES][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 },
    { 0, 4 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 4, 1 } };
  static const gint corners[FRUSTUM_VERTICES][3] = { { 0, 0, 0 },
    { -1, -1, -1 }, { 1, -1, -1 }, { 1, 1, -1 }, { -1, 1, -1 } };
  static const guint8 colour[3] = { 230, 0, 230 };
  const gdouble f = 2 * fabs (camera[BUNDLE_CAMERA_FOCAL]);
  const gdouble size[3] = { depth * MIN (picture->width / f, 2),
    depth * MIN (picture->height / f, 2), depth };
  const guint first = cloud->n_vertices;
  gdouble r[9], centre[3];

  bundle_rotation_to_matrix (camera + BUNDLE_CAMERA_ROTATION, r);
  bundle_pose_centre (camera, centre);
  for (guint i = 0; i < FRUSTUM_VERTICES; i++, cloud->n_vertices++) {
    gfloat *to = cloud->positions + 3 * (gsize) cloud->n_vertices;

    for (guint k = 0; k < 3; k++)
      to[k] = (gfloat) (centre[k] + r[k] * size[0] * corners[i][0]
                        + r[3 + k] * size[1] * corners[i][1]
                        + r[6 + k] * size[2] * corners[i][2]);
    memcpy (cloud->colours + 3 * (gsize) cloud->n_vertices, colour, 3);
  }
  for (guint i = 0; i < FRUSTUM_EDGES; i++, cloud->n_edges++)
    for (guint k = 0; k < 2; k++)
      cloud->edges[2 * (gsize) cloud->n_edges + k] = first + joined[i][k];
}

/* Extent of the box that contains most points and cameras */
static gdouble
measure_extent (const BundleCloud *cloud, const BundleProblem *problem)
{
  gfloat *centres = g_new (gfloat, 3 * (gsize) problem->n_cameras);
  gfloat low[3], high[3];
  gdouble extent = 0;

  for (guint i = 0; i < problem->n_cameras; i++) {
    gdouble centre[3];

    bundle_pose_centre (
        problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE, centre);
    for (guint k = 0; k < 3; k++)
      centres[3 * (gsize) i + k] = (gfloat) centre[k];
  }
  bundle_cloud_box (cloud->positions, problem->n_points, 0.8, low, high);
  for (guint k = 0; k < 3; k++)
    extent = MAX (extent, high[k] - low[k]);
  bundle_cloud_box (centres, problem->n_cameras, 0.9, low, high);
  for (guint k = 0; k < 3; k++)
    extent = MAX (extent, high[k] - low[k]);
  g_free (centres);
  return extent > 0 ? extent : 1;
}

BundleCloud *
bundle_cloud_allocate (guint64 n_vertices, guint64 n_edges, GError **error)
{
  BundleCloud *cloud = g_new0 (BundleCloud, 1);

  cloud->positions = g_try_new (gfloat, 3 * n_vertices + 1);
  cloud->colours = g_try_new (guint8, 3 * n_vertices + 1);
  cloud->edges = g_try_new (guint32, 2 * n_edges + 1);
  if (n_vertices <= G_MAXUINT32 && n_edges <= G_MAXUINT32 && cloud->positions
      && cloud->colours && cloud->edges)
    return cloud;
  bundle_cloud_free (cloud);
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "Not enough memory for a cloud of %" G_GUINT64_FORMAT " vertices",
      n_vertices);
  return NULL;
}

BundleCloud *
bundle_cloud_new (
    const BundleProblem *problem, const gdouble *errors, GError **error)
{
  BundlePicture *pictures = bundle_pictures (problem, error);
  BundleCloud *cloud;
  gdouble depth;

  if (!pictures)
    return NULL;
  cloud = bundle_cloud_allocate (
      (guint64) problem->n_points
          + (guint64) problem->n_cameras * FRUSTUM_VERTICES,
      (guint64) problem->n_cameras * FRUSTUM_EDGES, error);
  if (cloud) {
    add_points (cloud, problem, errors);
    cloud->n_vertices = problem->n_points;
    depth = FRUSTUM_DEPTH * measure_extent (cloud, problem);
    for (guint i = 0; i < problem->n_cameras; i++) {
      const gdouble *camera = problem->cameras + (gsize) i * BUNDLE_CAMERA_SIZE;

      if (camera[BUNDLE_CAMERA_FOCAL] != 0)
        add_frustum (cloud, camera, &pictures[i], depth);
    }
  }
  g_free (pictures);
  return cloud;
}
