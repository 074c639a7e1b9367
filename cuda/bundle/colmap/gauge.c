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

/* The pose of an image, in itself or in its frame */
typedef struct {
  gdouble *q, *t;
  gboolean *moved;
} PoseHolder;

static PoseHolder
find_holder (const BundleModel *model, gboolean rigs, guint32 image)
{
  BundleModelImage *own = &model->images[image];
  BundleModelPlace *frame;

  if (!rigs || model->frame_of[image] == BUNDLE_MODEL_NO_FRAME)
    return (PoseHolder){ own->q, own->t, &own->moved };
  frame = &g_array_index (
      model->frame_list, BundleModelPlace, model->frame_of[image]);
  return (PoseHolder){ frame->q, frame->t, &frame->moved };
}

static BundleModelPose
get_pose (const BundleModel *model, gboolean rigs, guint32 image)
{
  const PoseHolder holder = find_holder (model, rigs, image);
  BundleModelPose pose;

  memcpy (pose.q, holder.q, sizeof pose.q);
  memcpy (pose.t, holder.t, sizeof pose.t);
  return pose;
}

/* Camera @i of the problem is at the pose of its frame, but for a constant. */
static gboolean
is_held_by_frame (const BundleProblem *problem, guint i)
{
  return !problem->frames || problem->sensors[problem->lens_of[i]].constant;
}

/* The image of the problem with the smallest id above that of @after (nullable) */
static const BundleModelImage *
find_next_image (const BundleModel *model, const BundleProblem *problem,
    const guint32 *image_of, const BundleModelImage *after)
{
  const BundleModelImage *found = NULL;

  for (guint i = 0; i < problem->n_cameras; i++) {
    const BundleModelImage *image = &model->images[image_of[i]];

    if ((!after || image->id > after->id) && (!found || image->id < found->id)
        && is_held_by_frame (problem, i))
      found = image;
  }
  return found;
}

/* Sets @first (nullable) to the image with the smallest id whose pose is constant.
 * Returns: FALSE if constants hold the coordinate frame */
static gboolean
find_constant (const BundleModel *model, const BundleProblem *problem,
    const guint32 *image_of, const BundleModelImage **first)
{
  guint32 of = 0, number;

  for (guint i = 0; i < problem->n_cameras; i++) {
    const BundleModelImage *image = &model->images[image_of[i]];
    guint16 constant;

    number = problem->frames ? problem->frame_of[i] : i;
    constant = problem->frames ? problem->frame_constant[number]
                               : problem->camera_constant[number];
    if (!(constant & POSITION))
      continue;
    if ((constant & ROTATION) != ROTATION || (*first && of != number))
      return FALSE;
    of = number;
    if (!*first || image->id < (*first)->id)
      *first = image;
  }
  return TRUE;
}

/* Whether a constant sensor away from its reference, and hence a length, is used */
static gboolean
has_length (const BundleProblem *problem)
{
  for (guint i = 0; problem->frames && i < problem->n_cameras; i++) {
    const BundleSensor *sensor = &problem->sensors[problem->lens_of[i]];

    for (guint k = BUNDLE_CAMERA_TRANSLATION; k < BUNDLE_CAMERA_FOCAL; k++)
      if (sensor->constant && sensor->pose[k] != 0)
        return TRUE;
  }
  return FALSE;
}

void
bundle_model_gauge_init (BundleModelGauge *gauge, const BundleModel *model,
    const BundleProblem *problem, const guint32 *image_of)
{
  const gboolean rigs = problem->frames != NULL;
  const BundleModelImage *first = NULL, *second = NULL;

  gauge->held = FALSE;
  gauge->keep_scale = has_length (problem);
  if (!find_constant (model, problem, image_of, &first))
    return;
  if (!first)
    first = find_next_image (model, problem, image_of, NULL);
  if (!first)
    return;
  gauge->image[0] = (guint32) (first - model->images);
  gauge->start[0] = get_pose (model, rigs, gauge->image[0]);
  while (!gauge->held
         && (second = find_next_image (model, problem, image_of, second))) {
    gdouble q[4], t[3];

    gauge->image[1] = (guint32) (second - model->images);
    gauge->start[1] = get_pose (model, rigs, gauge->image[1]);
    relate_poses (&gauge->start[1], &gauge->start[0], q, t);
    gauge->axis = 0;
    for (guint i = 1; i < 3; i++)
      if (fabs (t[i]) > fabs (t[gauge->axis]))
        gauge->axis = i;
    gauge->held = second != first && fabs (t[gauge->axis]) > NEAR;
  }
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

/* Moves a pose to the coordinate frame in which @now is at @start. */
static void
move_pose (const BundleModelPose *start, const BundleModelPose *now,
    gdouble scale, const PoseHolder *holder)
{
  BundleModelPose old;
  gdouble q[4], t[3], turned[3];

  memcpy (old.q, holder->q, sizeof old.q);
  memcpy (old.t, holder->t, sizeof old.t);
  relate_poses (now, &old, q, t);
  bundle_turn_vector (q, start->t, turned);
  bundle_turn_multiply (q, start->q, holder->q);
  bundle_turn_normalise (holder->q);
  for (guint k = 0; k < 3; k++)
    holder->t[k] = turned[k] + scale * t[k];
  *holder->moved = TRUE;
}

static void
scale_sensors (BundleModel *model, const BundleProblem *problem, gdouble scale)
{
  for (guint i = 0; scale != 1 && i < model->sensor_list->len; i++) {
    BundleModelPlace *sensor =
        &g_array_index (model->sensor_list, BundleModelPlace, i);

    if (problem->sensors[sensor->of].constant)
      continue;
    for (guint k = 0; k < 3; k++)
      sensor->t[k] *= scale;
    sensor->moved = TRUE;
  }
}

void
bundle_model_gauge_apply (const BundleModelGauge *gauge, BundleModel *model,
    const BundleProblem *problem, const guint32 *image_of,
    const guint32 *point_of)
{
  const gboolean rigs = problem->frames != NULL;
  const BundleModelPose *start = gauge->start;
  BundleModelPose now[2];
  PoseHolder first;
  gdouble inverse[4], scale;
  g_autofree guint8 *done = NULL; /* of frames */

  if (!gauge->held)
    return;
  done = g_new0 (guint8, problem->n_frames + 1);
  for (guint i = 0; i < 2; i++)
    now[i] = get_pose (model, rigs, gauge->image[i]);
  scale = gauge->keep_scale ? 1 : find_scale (gauge, now);
  bundle_turn_invert (start[0].q, inverse);
  for (guint i = 0; i < problem->n_cameras; i++) {
    const PoseHolder holder = find_holder (model, rigs, image_of[i]);

    if (!rigs || !done[problem->frame_of[i]]++)
      move_pose (&start[0], &now[0], scale, &holder);
  }
  if (rigs)
    scale_sensors (model, problem, scale);
  first = find_holder (model, rigs, gauge->image[0]);
  memcpy (first.q, start[0].q, sizeof start[0].q);
  memcpy (first.t, start[0].t, sizeof start[0].t);
  *first.moved = FALSE;
  for (guint i = 0; i < problem->n_points; i++) {
    gdouble *x = model->points[point_of[i]].x, p[3];

    bundle_turn_vector (now[0].q, x, p);
    for (guint k = 0; k < 3; k++)
      p[k] = scale * (p[k] + now[0].t[k]) - start[0].t[k];
    bundle_turn_vector (inverse, p, x);
  }
}
