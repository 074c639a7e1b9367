/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Simulated bundle adjustment problems whose cameras have lenses, for tests. */
#pragma once

#include "cuda/bundle/engine.h"

G_BEGIN_DECLS

/* A simulated scene with cameras of BAL */
BundleProblem *bundle_lens_scene (guint cameras, guint points);

/* Gives the cameras the @n lenses in turn. */
void bundle_lens_add (
    BundleProblem *problem, const BundleLens *lenses, guint n);

/* Priors that differ from the scene, with covariances that are not diagonal */
void bundle_lens_add_priors (BundleProblem *problem, guint n);

/* A lens with distortion, of each of BundleLensModel */
BundleLens bundle_lens_example (guint model);

/* 16 cameras with @lenses in turn, observations without noise; the start differs from
 * the truth. */
BundleProblem *bundle_lens_true (const BundleLens *lenses, guint n);

/* Frames of a rig with a sensor for each of the @n lenses, on a ring, observations without
 * noise. A point is seen from six frames in a row. @gaps: images that frames lack, some of
 * the reference, sensor 0. The start is the truth. */
BundleProblem *bundle_lens_rig (const BundleLens *lenses, guint n, guint frames,
    guint points, gboolean gaps);
/* Moves frames, sensors, points and focal lengths that are not constant from it. */
void bundle_lens_disturb (BundleProblem *problem);

/* Problems for comparisons of backends, numbered from 0: each model, mixtures, shared
 * lenses and one for each camera, constant parameters, losses, points behind cameras,
 * long tracks, priors; then rigs. Returns: %NULL after the last */
BundleProblem *bundle_lens_case (
    guint number, BundleConfig *config, const gchar **name);

/* Number of these problems; @first_rig: (out) */
guint bundle_lens_count_cases (guint *first_rig);

/* For benchmarks, with half a pixel of noise and about that many observations:
 * "opencv:IMAGES:OBSERVATIONS", simulated images of a vase that share one OPENCV lens, or
 * "rig:SENSORS:FRAMES:OBSERVATIONS", a rig with an OPENCV lens for each sensor, without
 * some of its images. Returns: %NULL if @name is not of these forms */
BundleProblem *bundle_lens_simulate (const gchar *name);

/* 1/2 sum of |r|^2, a plain sum */
gdouble bundle_lens_cost (const BundleProblem *problem);
/* 1/2 sum of e^T information e of the priors, at the cameras as they are */
gdouble bundle_lens_prior_cost (const BundleProblem *problem);

G_END_DECLS
