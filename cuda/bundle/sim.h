/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reconstructions with known ground truth, for bundletestsrc. The same settings
 * give the same bits on every machine with the same libm. */
#pragma once

#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

typedef enum {
  BUNDLE_SCENE_STREET,    /* two laps of an oval street between facades */
  BUNDLE_SCENE_CITY,      /* two laps through rows of buildings */
  BUNDLE_SCENE_TURNTABLE, /* two circles round a vase */
} BundleScene;

/**
 * BundleSim: metres, z up; set up with bundle_sim_init(), then changed
 * @cameras: 2..10^7
 * @points: 1..10^9; each is observed by at least two cameras, most in both
 *   laps
 * @noise: standard deviation of observations, pixels
 * @outliers: share of observations at random positions in the picture, 0..1
 * @start_error: error of the initial cameras and points, >= 0: 1 gives
 *   standard deviations of 2 mrad, 5 cm, and 5 cm for points, and 1 % of the
 *   focal length. Observations do not depend on it
 * @lens: camera model of COLMAP; BUNDLE_N_LENS_MODELS: cameras of BAL
 * @lenses: number of different ones of @lens, which the cameras have in turn, at most
 *   @cameras; 0: one each
 */
typedef struct {
  BundleScene scene;
  guint cameras, points;
  gdouble noise, outliers, start_error;
  guint seed;
  BundleLensModel lens;
  guint lenses;
} BundleSim;

void bundle_sim_init (BundleSim *sim);

/* Simulates views of 1600x1200 pixels. Returns: %NULL with
 * CVIS_ERROR_INVALID, CVIS_ERROR_MEMORY or CVIS_ERROR_CANCELLED
 * (cuda/core/cancel.h) */
BundleProblem *bundle_sim_make (const BundleSim *sim, GError **error);

/* Makes @copies of @problem that share nothing, with shuffled indices of
 * cameras and points; observations are sorted by point, then by camera.
 * Returns: %NULL with CVIS_ERROR_INVALID, CVIS_ERROR_MEMORY or
 * CVIS_ERROR_CANCELLED */
BundleProblem *bundle_sim_copy (
    const BundleProblem *problem, guint copies, guint64 seed, GError **error);

G_END_DECLS
