/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/bundle/frame.h"

#include "cuda/bundle/lens/observation.h"
#include "cuda/core/cancel.h"

#define GRAIN 8192 /* observations summed at once, or points */
/* A depth below this share of its terms is rounding error. */
#define DEPTH_ROUNDING (8 * DBL_EPSILON)

/* @position: -R^T t, where the camera is */
typedef struct {
  BundleConstants constants;
  gdouble position[3];
} Camera;

/* Sums over GRAIN observations */
typedef struct {
  gdouble position[3];
  gdouble log_square; /* logarithms of squared distances */
  gsize n_distances;
  gsize fault; /* first observation that is not finite; G_MAXSIZE: none */
} Part;

typedef struct {
  const BundleProblem *problem;
  Camera *cameras;
  Part *parts;
} Scan;

static void
place_camera (const gdouble *parameters, Camera *camera)
{
  const BundleConstants *c = &camera->constants;

  bundle_constants (parameters, &camera->constants);
  for (guint k = 0; k < 3; k++)
    camera->position[k] =
        -(c->r[k] * c->t[0] + c->r[3 + k] * c->t[1] + c->r[6 + k] * c->t[2]);
}

/* Whether the depth of @x is 0 but for rounding */
static gboolean
is_in_plane (const BundleConstants *c, const gdouble x[3], gdouble depth)
{
  return fabs (depth) <= DEPTH_ROUNDING
                             * (fabs (c->r[6] * x[0]) + fabs (c->r[7] * x[1])
                                 + fabs (c->r[8] * x[2]) + fabs (c->t[2]));
}

static gboolean
is_faulty (const BundleProblem *problem, const Camera *camera, gsize i,
    gboolean *in_plane)
{
  const BundleConstants *c = &camera->constants;
  const gdouble *x = problem->points + 3 * (gsize) problem->point_of[i];
  gdouble q[3], r[2];

  bundle_residual_of (problem, c, i, q, r);
  *in_plane = is_in_plane (c, x, q[2]);
  return *in_plane || !isfinite (r[0] * r[0] + r[1] * r[1]);
}

static void
scan_part (const Scan *scan, gsize number)
{
  const BundleProblem *problem = scan->problem;
  gsize end = MIN ((number + 1) * GRAIN, problem->n_observations);
  Part part = { .fault = G_MAXSIZE };

  for (gsize i = number * GRAIN; i < end; i++) {
    const guint32 c = problem->camera_of[i], p = problem->point_of[i];
    const Camera *camera = &scan->cameras[c];
    const gdouble *x = problem->points + 3 * (gsize) p;
    gdouble square = 0;
    gboolean in_plane;

    if (c >= problem->n_cameras || p >= problem->n_points) {
      part.fault = MIN (part.fault, i);
      break;
    }
    for (guint k = 0; k < 3; k++) {
      gdouble d = x[k] - camera->position[k];

      part.position[k] += camera->position[k];
      square += d * d;
    }
    if (square > 0 && isfinite (square)) {
      part.log_square += log (square);
      part.n_distances++;
    }
    if (part.fault == G_MAXSIZE && is_faulty (problem, camera, i, &in_plane))
      part.fault = i;
  }
  scan->parts[number] = part;
}

static void
scan_parts (guint first, guint count, gpointer user_data)
{
  for (gsize i = first; i < (gsize) first + count; i++)
    scan_part (user_data, i);
}

static gboolean
refuse_observation (const Scan *scan, gsize i, GError **error)
{
  const BundleProblem *problem = scan->problem;
  guint32 camera = problem->camera_of[i], point = problem->point_of[i];
  gboolean in_plane;

  is_faulty (problem, &scan->cameras[camera], i, &in_plane);
  return cvis_refuse (error,
      in_plane
          ? "observation %" G_GSIZE_FORMAT ": point %u lies in the plane of "
            "camera %u, so that its image is at infinity: remove the "
            "observation or correct the point"
          : "observation %" G_GSIZE_FORMAT ": the reprojection error of point "
            "%u by camera %u is not finite: correct their numbers",
      i, point, camera);
}

/* Adds the parts in their order. */
static gboolean
add_parts (const Scan *scan, guint n_parts, BundleFrame *frame, GError **error)
{
  gdouble n = (gdouble) scan->problem->n_observations;
  Part sum = { 0 };

  *frame = (BundleFrame){ .scale = 1 };
  for (gsize i = 0; i < n_parts; i++) {
    const Part *part = &scan->parts[i];

    if (part->fault != G_MAXSIZE)
      return bundle_problem_check (scan->problem, error)
             && refuse_observation (scan, part->fault, error);
    for (guint k = 0; k < 3; k++)
      sum.position[k] += part->position[k];
    sum.log_square += part->log_square;
    sum.n_distances += part->n_distances;
  }
  for (guint k = 0; k < 3; k++)
    if (!isfinite (sum.position[k]))
      return TRUE;
  for (guint k = 0; k < 3; k++)
    frame->centre[k] = sum.position[k] / n;
  if (sum.n_distances > 0)
    frame->scale = exp (0.5 * sum.log_square / (gdouble) sum.n_distances);
  return TRUE;
}

gboolean
bundle_frame_init (BundleFrame *frame, const BundleProblem *problem,
    CvisPool *pool, GError **error)
{
  guint n_parts = (guint) ((problem->n_observations + GRAIN - 1) / GRAIN);
  Scan scan = { problem, g_new (Camera, problem->n_cameras),
    g_new (Part, n_parts) };
  gboolean done;

  for (gsize i = 0; i < problem->n_cameras; i++)
    place_camera (problem->cameras + BUNDLE_CAMERA_SIZE * i, &scan.cameras[i]);
  cvis_pool_run (pool, n_parts, 1, scan_parts, &scan);
  done = cvis_cancelled () ? cvis_refuse_cancelled (error)
                           : add_parts (&scan, n_parts, frame, error);
  g_free (scan.cameras);
  g_free (scan.parts);
  return done;
}

/* Points on their way into the frame */
typedef struct {
  const BundleFrame *frame;
  const gdouble *from;
  gdouble *to;
} Entry;

/* --- there and back --------------------------------------------------------- */

/* R @centre */
static void
turn_centre (const BundleFrame *frame, const gdouble *camera, gdouble turned[3])
{
  BundleConstants c;

  bundle_constants (camera, &c);
  for (guint k = 0; k < 3; k++)
    turned[k] = c.r[3 * k] * frame->centre[0]
                + c.r[3 * k + 1] * frame->centre[1]
                + c.r[3 * k + 2] * frame->centre[2];
}

static void
enter_camera (const BundleFrame *frame, const gdouble *from, gdouble *to)
{
  gdouble turned[3];

  turn_centre (frame, from, turned);
  for (guint k = 0; k < BUNDLE_CAMERA_SIZE; k++)
    to[k] = from[k];
  for (guint k = 0; k < 3; k++)
    to[BUNDLE_CAMERA_TRANSLATION + k] =
        (from[BUNDLE_CAMERA_TRANSLATION + k] + turned[k]) / frame->scale;
}

static gdouble
enter_coordinate (const BundleFrame *frame, guint k, gdouble x)
{
  return (x - frame->centre[k]) / frame->scale;
}

void
bundle_frame_enter_priors (
    const BundleFrame *frame, const BundleProblem *problem, BundlePrior *priors)
{
  for (guint i = 0; i < problem->n_priors; i++) {
    const BundlePrior *from = &problem->priors[i];

    priors[i].camera = from->camera;
    for (guint k = 0; k < 3; k++)
      priors[i].position[k] = enter_coordinate (frame, k, from->position[k]);
    for (guint k = 0; k < 6; k++)
      priors[i].information[k] =
          from->information[k] * frame->scale * frame->scale;
  }
}

void
bundle_frame_enter_sensors (const BundleFrame *frame,
    const BundleProblem *problem, BundleSensor *sensors)
{
  for (guint i = 0; i < problem->n_lenses; i++) {
    sensors[i] = problem->sensors[i];
    for (guint k = 0; k < 3; k++)
      sensors[i].pose[BUNDLE_CAMERA_TRANSLATION + k] /= frame->scale;
  }
}

void
bundle_frame_leave_sensors (const BundleFrame *frame,
    const BundleProblem *problem, BundleSensor *sensors)
{
  for (guint i = 0; i < problem->n_lenses; i++) {
    const gdouble *start = problem->sensors[i].pose;

    for (guint k = BUNDLE_CAMERA_TRANSLATION; k < BUNDLE_CAMERA_FOCAL; k++)
      sensors[i].pose[k] = sensors[i].pose[k] == start[k] / frame->scale
                               ? start[k]
                               : frame->scale * sensors[i].pose[k];
  }
}

static void
leave_camera (const BundleFrame *frame, const gdouble *start, gdouble *camera)
{
  gdouble turned[3], entered[BUNDLE_CAMERA_SIZE];
  gdouble *t = camera + BUNDLE_CAMERA_TRANSLATION;
  gboolean turns = FALSE;

  enter_camera (frame, start, entered);
  turn_centre (frame, camera, turned);
  for (guint k = 0; k < 3; k++)
    turns |= camera[k] != start[k];
  for (guint k = 0; k < 3; k++)
    t[k] = turns || t[k] != entered[BUNDLE_CAMERA_TRANSLATION + k]
               ? frame->scale * t[k] - turned[k]
               : start[BUNDLE_CAMERA_TRANSLATION + k];
}

static void
enter_points (guint first, guint count, gpointer user_data)
{
  const Entry *entry = user_data;

  for (gsize i = first; i < (gsize) first + count; i++)
    for (guint k = 0; k < 3; k++)
      entry->to[3 * i + k] =
          enter_coordinate (entry->frame, k, entry->from[3 * i + k]);
}

void
bundle_frame_enter (const BundleFrame *frame, const BundleProblem *problem,
    CvisPool *pool, gdouble *cameras, gdouble *points)
{
  Entry entry = { frame, problem->points, points };

  for (gsize i = 0; i < problem->n_cameras; i++)
    enter_camera (frame, problem->cameras + BUNDLE_CAMERA_SIZE * i,
        cameras + BUNDLE_CAMERA_SIZE * i);
  cvis_pool_run (pool, problem->n_points, GRAIN, enter_points, &entry);
}

void
bundle_frame_leave (const BundleFrame *frame, const BundleProblem *problem,
    gdouble *cameras, gdouble *points)
{
  for (gsize i = 0; i < problem->n_cameras; i++)
    leave_camera (frame, problem->cameras + BUNDLE_CAMERA_SIZE * i,
        cameras + BUNDLE_CAMERA_SIZE * i);
  for (gsize i = 0; i < problem->n_points; i++)
    for (guint k = 0; k < 3; k++) {
      gdouble start = problem->points[3 * i + k];
      gdouble *x = &points[3 * i + k];

      *x = *x == enter_coordinate (frame, k, start)
               ? start
               : frame->scale * *x + frame->centre[k];
    }
}
