/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The formulas of an observation by a camera with a lens (lens.h), inline, as
 * arithmetic.h has them for cameras of BAL. The camera's frame is that of BAL, which
 * looks along -z with y up. */
#pragma once

#include "cuda/bundle/lens/warp.h"

G_BEGIN_DECLS

/**
 * BundleSight: a point as seen through a lens
 * @q: P = R X + t
 * @x, @y: its image, in pixels from the upper left corner
 * @a: derivatives of x and y by P
 * @by: derivatives of x and y by the lens's parameters
 */
typedef struct {
  gdouble q[3];
  gdouble x, y;
  gdouble a[6];
  gdouble by[2][BUNDLE_LENS_SIZE];
} BundleSight;

/* @model, @n_focal: constant after inlining, so that loops over observations are compiled
 * for each model */
BUNDLE_FN void
bundle_sight (BundleLensModel model, int n_focal, const gdouble *lens,
    const BundleConstants *c, gdouble x, gdouble y, gdouble z,
    BundleSight *sight)
{
  gdouble fx = lens[0], fy = lens[n_focal - 1], inverse, u, v;
  BundleWarp warp = { 0 };

  sight->q[0] = c->r[0] * x + c->r[1] * y + c->r[2] * z + c->t[0];
  sight->q[1] = c->r[3] * x + c->r[4] * y + c->r[5] * z + c->t[1];
  sight->q[2] = c->r[6] * x + c->r[7] * y + c->r[8] * z + c->t[2];
  inverse = -1 / sight->q[2];
  u = sight->q[0] * inverse;
  v = -sight->q[1] * inverse;
  bundle_warp (model, lens + n_focal + 2, u, v, &warp);
  sight->x = fx * warp.x + lens[n_focal];
  sight->y = fy * warp.y + lens[n_focal + 1];
  /* (u, v) by P: inverse times the rows (1, 0, u) and (0, -1, v) */
  sight->a[0] = fx * warp.xu * inverse;
  sight->a[1] = -fx * warp.xv * inverse;
  sight->a[2] = sight->a[0] * u - sight->a[1] * v;
  sight->a[3] = fy * warp.yu * inverse;
  sight->a[4] = -fy * warp.yv * inverse;
  sight->a[5] = sight->a[3] * u - sight->a[4] * v;
  for (int i = 0; i < BUNDLE_LENS_SIZE; i++)
    sight->by[0][i] = sight->by[1][i] = 0;
  sight->by[0][0] = warp.x;
  sight->by[1][n_focal - 1] = warp.y;
  sight->by[0][n_focal] = sight->by[1][n_focal + 1] = 1;
  for (int i = 0; i < BUNDLE_LENS_EXTRA && n_focal + 2 + i < BUNDLE_LENS_SIZE;
       i++) {
    sight->by[0][n_focal + 2 + i] = fx * warp.ex[i];
    sight->by[1][n_focal + 2 + i] = fy * warp.ey[i];
  }
}

/* The unit in which a step of parameter @p is measured: focal lengths and principal point
 * count in units of the focal length */
BUNDLE_FN gdouble
bundle_lens_unit (int n_focal, const gdouble *parameters, int p)
{
  gdouble focal = fabs (parameters[0]);

  return p < n_focal + 2 && focal > 0 ? focal : 1;
}

/* The residual of observation @i by a camera with @c, and the point in the camera's
 * frame. Returns: whether the point lies behind the camera */
static inline gboolean
bundle_residual_of (const BundleProblem *problem, const BundleConstants *c,
    gsize i, gdouble q[3], gdouble r[2])
{
  const gdouble *x = problem->points + 3 * (gsize) problem->point_of[i];
  const gdouble *observed = problem->observed + 2 * i;

  if (problem->lenses) {
    const BundleLens *lens =
        &problem->lenses[problem->lens_of[problem->camera_of[i]]];

    for (guint k = 0; k < 3; k++)
      q[k] = c->r[3 * k] * x[0] + c->r[3 * k + 1] * x[1]
             + c->r[3 * k + 2] * x[2] + c->t[k];
    bundle_lens_image (lens, q, r);
    r[0] -= observed[0];
    r[1] -= observed[1];
    return q[2] > 0;
  } else {
    const BundleImage image = bundle_image (c, x[0], x[1], x[2]);

    bundle_residual (c, &image, observed[0], observed[1], &r[0], &r[1]);
    for (guint k = 0; k < 3; k++)
      q[k] = image.q[k];
    return image.q[2] * c->focal > 0;
  }
}

G_END_DECLS
