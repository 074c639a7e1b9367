/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From a model of COLMAP to a problem for the solver, and back. */
#pragma once

#include "cuda/bundle/colmap/model.h"
#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

/**
 * BundleModelSettings:
 * @refine_focal, @refine_centre, @refine_extra, @refine_poses, @refine_points: which
 *   parameters change
 * @keep_behind: observations behind their cameras are used; otherwise they are
 *   deleted, and so are points that keep fewer than two observations
 */
typedef struct {
  gboolean refine_focal, refine_centre, refine_extra, refine_poses;
  gboolean refine_points;
  gboolean keep_behind;
} BundleModelSettings;

/**
 * BundleModelMap: how a problem was made
 * @image_of, @point_of: indices of the model's images and points, for each camera and
 *   point of the problem
 * @n_behind: deleted observations behind their cameras
 * @n_deleted: points that kept fewer than two observations, deleted
 * @n_short: points that had fewer than two from the start, which stay as they are
 * @n_idle: images without observations, which stay as they are
 */
typedef struct {
  guint32 *image_of, *point_of;
  gsize n_behind, n_deleted, n_short;
  guint n_idle;
} BundleModelMap;

/* Deletes from @model what @settings demand, and makes a problem of the rest. Lens i is
 * camera i of the model.
 * @map: (out): free with bundle_model_map_clear()
 * Returns: %NULL with CVIS_ERROR_INVALID that names file, record and id, or
 *   CVIS_ERROR_MEMORY */
BundleProblem *bundle_model_problem (BundleModel *model,
    const BundleModelSettings *settings, BundleModelMap *map, GError **error);

/* Takes over the parameters that differ from those of @model; then also the errors of
 * the points, their mean reprojection errors in pixels. @threads: 0: one per processor */
void bundle_model_update (BundleModel *model, const BundleProblem *problem,
    const BundleModelMap *map, guint threads);

void bundle_model_map_clear (BundleModelMap *map);

G_END_DECLS
