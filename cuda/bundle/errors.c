/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <string.h>

#include "cuda/bundle/arithmetic.h"

void
bundle_reprojection_errors (
    const BundleProblem *problem, gdouble *of_observations, gdouble *of_points)
{
  BundleConstants *constants = g_new (BundleConstants, problem->n_cameras);
  guint32 *counts = g_new0 (guint32, problem->n_points);

  for (gsize i = 0; i < problem->n_cameras; i++)
    bundle_constants (problem->cameras + BUNDLE_CAMERA_SIZE * i, &constants[i]);
  if (of_points)
    memset (of_points, 0, problem->n_points * sizeof *of_points);
  for (gsize i = 0; i < problem->n_observations; i++) {
    const BundleConstants *c = &constants[problem->camera_of[i]];
    guint32 point = problem->point_of[i];
    const gdouble *x = problem->points + 3 * (gsize) point;
    BundleImage image = bundle_image (c, x[0], x[1], x[2]);
    gdouble rx, ry, length;

    bundle_residual (c, &image, problem->observed[2 * i],
        problem->observed[2 * i + 1], &rx, &ry);
    length = sqrt (rx * rx + ry * ry);
    if (of_observations)
      of_observations[i] = length;
    if (of_points)
      of_points[point] += length;
    counts[point]++;
  }
  for (gsize i = 0; of_points && i < problem->n_points; i++)
    of_points[i] /= MAX (counts[i], 1);
  g_free (counts);
  g_free (constants);
}
