/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A bundle adjustment problem: cameras, points, and observations of points
 * by cameras.
 *
 * Source: S. Agarwal, N. Snavely, S. Seitz, R. Szeliski, Bundle Adjustment
 * in the Large (ECCV 2010), for camera model and axes. A point X is at P =
 * R(w) X + t in the camera's frame, which looks along -z with y up. Its
 * image is f (1 + k1 |p|^2 + k2 |p|^4) p with p = -(P.x, P.y) / P.z, in
 * pixels from the centre of the picture, x to the right, y up. */
#pragma once

#include "cuda/bundle/lens/lens.h"
#include "cuda/core/error.h"

G_BEGIN_DECLS

/* Parameters of a camera, in this order */
#define BUNDLE_CAMERA_SIZE 9
#define BUNDLE_CAMERA_ROTATION 0    /* 3: axis times angle, radians */
#define BUNDLE_CAMERA_TRANSLATION 3 /* 3: in the units of the points */
#define BUNDLE_CAMERA_FOCAL 6       /* pixels */
#define BUNDLE_CAMERA_K1 7
#define BUNDLE_CAMERA_K2 8

#define BUNDLE_CAMERA_ALL 0x1ff        /* bits of all parameters */
#define BUNDLE_CAMERA_INTRINSICS 0x1c0 /* of focal length, k1, k2 */

/**
 * BundleView: data of a camera in files besides its parameters
 * @name: (nullable): file name of the picture
 * @width, @height: of the picture, pixels; 0: unknown
 * @centre: principal point in pixels from the upper left corner, y down; 0,
 *   0 if unknown
 */
typedef struct {
  gchar *name;
  guint width, height;
  gdouble centre[2];
} BundleView;

/**
 * BundlePrior: where a camera is expected. It adds e^T A e / 2 to the cost, with e the
 * difference of the position -R^T t and @position
 * @information: A, the inverse of a covariance: elements xx, xy, xz, yy, yz, zz
 */
typedef struct {
  guint32 camera;
  gdouble position[3];
  gdouble information[6];
} BundlePrior;

/**
 * BundleSensor: where the cameras of a lens are in their rig
 * @pose: as the first six parameters of a camera, from the rig's axes to the camera's; the
 *   rest is 0. All 0: the reference, whose pose is that of the rig
 * @constant: the solver keeps it
 */
typedef struct {
  gdouble pose[BUNDLE_CAMERA_SIZE];
  gboolean constant;
} BundleSensor;

/**
 * BundleProblem:
 * @n_cameras, @n_points: each 1..2^31 - 1
 * @n_observations: 1..2^32 - 1
 * @cameras: n_cameras * BUNDLE_CAMERA_SIZE
 * @points: n_points * 3
 * @camera_of, @point_of: n_observations each: indices of camera and point
 * @observed: n_observations * 2: x, y in pixels
 * @camera_constant: (nullable): n_cameras bit masks of parameters that the
 *   solver keeps constant. A camera whose rotation may change, and whose
 *   translation is constant, keeps its position -R^T t; t follows the rotation
 * @point_constant: (nullable): n_points: not 0 if the solver keeps the point
 *   constant
 * @lenses: (nullable): n_lenses: interior orientations that replace focal length, k1
 *   and k2, which are then not used. Positions of observations are in pixels from the
 *   upper left corner, y down. Of the files of formats/ only COLMAP's hold
 *   lenses, and are read without them
 * @lens_of: n_cameras indices of lenses; %NULL without lenses
 * @priors: (nullable): n_priors, any number for a camera; only with lenses, and not
 *   stored by any format
 * @frames: (nullable): n_frames * BUNDLE_CAMERA_SIZE: poses of rigs, whose cameras move
 *   together: that of camera i is the product of @sensors[lens_of[i]] and
 *   @frames[frame_of[i]]. The first six parameters of each are used, and @cameras, which
 *   bundle_problem_place_cameras() computes, are results. Only with lenses, and not
 *   stored by any format
 * @frame_of: n_cameras; @frame_constant: n_frames masks, used instead of
 *   @camera_constant; @sensors: n_lenses; %NULL without frames
 * @colours: (nullable): n_points * 3: red, green, blue
 * @views: (nullable): n_cameras
 * @notes: (nullable): sentences about what the reader of a file skipped, guessed
 *   or replaced
 *
 * The arrays, including those added later, are freed with free(), the names
 * of the views and the notes with g_free().
 */
typedef struct {
  guint n_cameras;
  guint n_points;
  gsize n_observations;
  gdouble *cameras;
  gdouble *points;
  guint32 *camera_of;
  guint32 *point_of;
  gdouble *observed;
  guint16 *camera_constant;
  guint8 *point_constant;
  guint n_lenses;
  BundleLens *lenses;
  guint32 *lens_of;
  guint n_priors;
  BundlePrior *priors;
  guint n_frames;
  gdouble *frames;
  guint32 *frame_of;
  guint16 *frame_constant;
  BundleSensor *sensors;
  guint8 *colours;
  BundleView *views;
  gchar *notes;
} BundleProblem;

/* A problem with its required arrays, zeroed.
 * Returns: %NULL with CVIS_ERROR_MEMORY or CVIS_ERROR_INVALID */
BundleProblem *bundle_problem_new (
    guint n_cameras, guint n_points, gsize n_observations, GError **error);
/* The same without clearing the arrays, for a caller that writes all of
 * them. */
BundleProblem *bundle_problem_new_unset (
    guint n_cameras, guint n_points, gsize n_observations, GError **error);
void bundle_problem_free (BundleProblem *problem);
/* Returns: %NULL with CVIS_ERROR_MEMORY */
BundleProblem *bundle_problem_copy (
    const BundleProblem *problem, GError **error);
/* Sets the poses of @problem's cameras, which has frames. */
void bundle_problem_place_cameras (BundleProblem *problem);
/* Numbers groups of lenses in the order of their first lenses: those of a rig, which share
 * frames. @group: n_lenses. Returns: number of groups */
guint bundle_problem_group_lenses (
    const BundleProblem *problem, guint32 *group);
/* Whether every index is in its range and every number finite.
 * Returns: FALSE with CVIS_ERROR_INVALID that names the first fault */
gboolean bundle_problem_check (const BundleProblem *problem, GError **error);
/* The same of cameras, points and lenses, without the observations */
gboolean bundle_problem_check_state (
    const BundleProblem *problem, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BundleProblem, bundle_problem_free)

/* Projects @point by @camera to pixels, with the model above. */
void bundle_project (const gdouble camera[BUNDLE_CAMERA_SIZE],
    const gdouble point[3], gdouble image[2]);

G_END_DECLS
