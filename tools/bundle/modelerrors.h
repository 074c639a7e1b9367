/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reprojection errors of a COLMAP model by camera, image and point, before and after an
 * adjustment. For the report and the JSON of `cudavision bundle`. */
#pragma once

#include "cuda/bundle/colmap/adjust.h"
#include "cuda/bundle/engine.h"

G_BEGIN_DECLS

enum { MODEL_BEFORE, MODEL_AFTER, MODEL_STATES };

/* @n: observations
 * @cost: half the sum of the loss of their squared errors
 * @squares: sum of the squared errors, pixels^2 */
typedef struct {
  gsize n;
  gdouble cost[MODEL_STATES], squares[MODEL_STATES];
} ErrorSums;

/**
 * ModelErrors:
 * @cameras: one for each lens of the problem, that is each camera of the model
 * @images: one for each camera of the problem, that is each image of its map
 * @points: for each point of the problem its mean error, pixels
 */
typedef struct {
  ErrorSums all;
  ErrorSums *cameras, *images;
  guint32 *n_of_point;
  gdouble *points[MODEL_STATES];
} ModelErrors;

/* Measures the errors of @problem in @state. @threads: 0: one per processor
 * Returns: FALSE with CVIS_ERROR_MEMORY */
gboolean model_errors_measure (ModelErrors *errors, guint state,
    const BundleProblem *problem, const BundleConfig *config, guint threads,
    GError **error);
void model_errors_clear (ModelErrors *errors);

/* Root mean square error, pixels; 0 without observations */
gdouble error_sums_get_rms (const ErrorSums *sums, guint state);

/* Indices of the @n images with the largest RMS error after the adjustment, or of the
 * points with the largest mean error, in that order. @n: (inout): at most
 * Free with g_free(). */
guint *model_errors_find_images (
    const ModelErrors *errors, const BundleProblem *problem, guint *n);
guint *model_errors_find_points (
    const ModelErrors *errors, const BundleProblem *problem, guint *n);

G_END_DECLS
