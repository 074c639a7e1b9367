/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The frame of an adjusted model. The solver leaves position, rotation and scale of the
 * scene free; COLMAP holds the first image and a coordinate of the second. The cost does
 * not depend on the frame, so the adjusted scene is moved to where COLMAP's would be.
 * Called by adjust.c. */
#include "cuda/bundle/colmap/gauge.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "cuda/bundle/turn.h"

#define ROTATION 0x07
#define POSITION 0x38
#define NEAR 1e-9 /* as in COLMAP: images at the same position */
/* A scale beyond is due to the coordinate, which turned away from the baseline. */
#define LEAST_SCALE 0.5
#define GREATEST_SCALE 2

/* @b seen from @a: the rotation of b a^-1, and its translation */
static void
relate_poses (const BundleModelPose *a, const BundleModelPose *b, gdouble q[4],
    gdouble t[3])
{
  gdouble inverse[4];

  bundle_turn_invert (a->q, inverse);
  bundle_turn_multiply (b->q, inverse, q);
  bundle_turn_vector (q, a->t, t);
  for (guint i = 0; i < 3; i++)
    t[i] = b->t[i] - t[i];
}

static BundleModelPose
pose_of (const BundleModelImage *image)
{
  BundleModelPose pose;

  memcpy (pose.q, image->q, sizeof pose.q);
  memcpy (pose.t, image->t, sizeof pose.t);
  return pose;
}

/* The image of the problem with the smallest id above that of @after (nullable) */
static const BundleModelImage *
find_next_image (const BundleModel *model, const guint32 *image_of, guint n,
    const BundleModelImage *after)
{
  const BundleModelImage *found = NULL;

  for (guint i = 0; i < n; i++) {
    const BundleModelImage *image = &model->images[image_of[i]];

    if ((!after || image->id > after->id) && (!found || image->id < found->id))
      found = image;
  }
  return found;
}

void
bundle_model_gauge_init (BundleModelGauge *gauge, const BundleModel *model,
    const guint32 *image_of, guint n, const guint16 *constant)
{
  const BundleModelImage *first = NULL, *second = NULL;
  guint n_constant = 0;

  gauge->held = FALSE;
  for (guint i = 0; i < n; i++) {
    const BundleModelImage *image = &model->images[image_of[i]];

    if (!(constant[i] & POSITION))
      continue;
    if ((constant[i] & ROTATION) != ROTATION)
      return;
    n_constant++;
    if (!first || image->id < first->id)
      first = image;
  }
  if (n_constant > 1)
    return;
  if (!first)
    first = find_next_image (model, image_of, n, NULL);
  gauge->start[0] = pose_of (first);
  while (
      !gauge->held && (second = find_next_image (model, image_of, n, second))) {
    gdouble q[4], t[3];

    gauge->start[1] = pose_of (second);
    relate_poses (&gauge->start[1], &gauge->start[0], q, t);
    gauge->axis = 0;
    for (guint i = 1; i < 3; i++)
      if (fabs (t[i]) > fabs (t[gauge->axis]))
        gauge->axis = i;
    gauge->held = second != first && fabs (t[gauge->axis]) > NEAR;
  }
  gauge->image[0] = (guint32) (first - model->images);
  gauge->image[1] = second ? (guint32) (second - model->images) : 0;
}

static gdouble
length (const gdouble x[3])
{
  return sqrt (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* The scale that gives the second image its coordinate; if that is far from 1, the one
 * that keeps the distance of both images */
static gdouble
find_scale (const BundleModelGauge *gauge, const BundleModelPose now[2])
{
  gdouble q[4], t[3], start[3], turned[3], scale;

  relate_poses (&gauge->start[0], &gauge->start[1], q, start);
  relate_poses (&now[0], &now[1], q, t);
  bundle_turn_vector (q, gauge->start[0].t, turned);
  scale =
      (gauge->start[1].t[gauge->axis] - turned[gauge->axis]) / t[gauge->axis];
  if (!(scale > LEAST_SCALE && scale < GREATEST_SCALE))
    scale = length (start) / length (t);
  return scale > DBL_MIN && scale < G_MAXDOUBLE ? scale : 1;
}

void
bundle_model_gauge_apply (const BundleModelGauge *gauge, BundleModel *model,
    const guint32 *image_of, guint n_images, const guint32 *point_of,
    guint n_points)
{
  BundleModelPose now[2];
  const BundleModelPose *start = gauge->start;
  gdouble inverse[4], scale;

  if (!gauge->held)
    return;
  for (guint i = 0; i < 2; i++)
    now[i] = pose_of (&model->images[gauge->image[i]]);
  scale = find_scale (gauge, now);
  bundle_turn_invert (start[0].q, inverse);
  for (guint i = 0; i < n_images; i++) {
    BundleModelImage *image = &model->images[image_of[i]];
    const BundleModelPose old = pose_of (image);
    gdouble q[4], t[3], turned[3];

    relate_poses (&now[0], &old, q, t);
    bundle_turn_vector (q, start[0].t, turned);
    bundle_turn_multiply (q, start[0].q, image->q);
    bundle_turn_normalise (image->q);
    for (guint k = 0; k < 3; k++)
      image->t[k] = turned[k] + scale * t[k];
    image->moved = TRUE;
  }
  memcpy (model->images[gauge->image[0]].q, start[0].q, sizeof start[0].q);
  memcpy (model->images[gauge->image[0]].t, start[0].t, sizeof start[0].t);
  model->images[gauge->image[0]].moved = FALSE;
  for (guint i = 0; i < n_points; i++) {
    gdouble *x = model->points[point_of[i]].x, p[3];

    bundle_turn_vector (now[0].q, x, p);
    for (guint k = 0; k < 3; k++)
      p[k] = scale * (p[k] + now[0].t[k]) - start[0].t[k];
    bundle_turn_vector (inverse, p, x);
  }
}
