/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The coordinate frame in which the engine computes: the scene of the user,
 * shifted and scaled so that cameras lie round the origin and points at a
 * distance of about 1 from them. Private to the library. */
#pragma once

#include "cuda/bundle/problem.h"
#include "cuda/core/threadpool.h"

G_BEGIN_DECLS

/* X of the engine = (X of the user - @centre) / @scale */
typedef struct {
  gdouble centre[3];
  gdouble scale;
} BundleFrame;

/* Sets @centre to the mean position of the cameras and @scale to the geometric
 * mean of the distances between points and cameras, both over all observations, so
 * that they move, turn and scale with the scene. The same bits with any number of
 * threads.
 * Returns: FALSE with CVIS_ERROR_INVALID that names the first fault of
 *   bundle_problem_check(), or the first observation whose residual is not finite, for
 *   instance because the point lies in the plane of the camera. Checks the observations;
 *   bundle_problem_check_state() holds */
gboolean bundle_frame_init (BundleFrame *frame, const BundleProblem *problem,
    CvisPool *pool, GError **error);

/* Writes the cameras and points of @problem in the frame; not all points after a
 * cancellation. */
void bundle_frame_enter (const BundleFrame *frame, const BundleProblem *problem,
    CvisPool *pool, gdouble *cameras, gdouble *points);

/* Writes the sensors of @problem in the frame. */
void bundle_frame_enter_sensors (const BundleFrame *frame,
    const BundleProblem *problem, BundleSensor *sensors);

/* Writes the priors of @problem in the frame. */
void bundle_frame_enter_priors (const BundleFrame *frame,
    const BundleProblem *problem, BundlePrior *priors);

/* Turns cameras and points of the frame into those of the user. Numbers that still
 * are as bundle_frame_enter() wrote them get the bits of @problem. */
void bundle_frame_leave (const BundleFrame *frame, const BundleProblem *problem,
    gdouble *cameras, gdouble *points);
void bundle_frame_leave_sensors (const BundleFrame *frame,
    const BundleProblem *problem, BundleSensor *sensors);

G_END_DECLS
