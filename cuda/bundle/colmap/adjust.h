/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From a model of COLMAP to a problem for the solver, and back. */
#pragma once

#include "cuda/bundle/colmap/gauge.h"
#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

/**
 * BundleModelSettings:
 * @refine_focal, @refine_centre, @refine_extra, @refine_poses, @refine_points: which
 *   parameters change
 * @keep_behind: observations behind their cameras are used; otherwise they are
 *   deleted, and so are points that keep fewer than two observations
 * @keep_rotations: with @refine_poses, only positions change
 * @free_gauge: position, rotation and scale of the scene are left where the solver
 *   ends; otherwise they are held as gauge.h says, unless constant parameters or priors
 *   hold them
 * @min_track: points with fewer observations stay as they are; at least 2
 * @refine_sensors: poses of sensors in rigs change, but as in COLMAP not if the reference
 *   of their rig has no observation
 */
typedef struct {
  gboolean refine_focal, refine_centre, refine_extra, refine_poses;
  gboolean refine_points;
  gboolean keep_behind, keep_rotations, free_gauge;
  guint min_track;
  gboolean refine_sensors;
} BundleModelSettings;

/**
 * BundleModelMap: how a problem was made
 * @image_of, @point_of: indices of the model's images and points, for each camera and
 *   point of the problem
 * @frame_at: index of the model's frame for each frame of the problem, or
 *   BUNDLE_MODEL_NO_FRAME; %NULL without rigs
 * @n_behind: deleted observations behind their cameras
 * @n_deleted: points that kept fewer than two observations, deleted
 * @n_short: points that had too few from the start, which stay as they are
 * @n_idle: images without observations, which stay as they are
 * @gauge: of the model before the adjustment
 */
typedef struct {
  guint32 *image_of, *point_of, *frame_at;
  gsize n_behind, n_deleted, n_short;
  guint n_idle;
  BundleModelGauge gauge;
} BundleModelMap;

/* Deletes from @model what @settings demand, and makes a problem of the rest. Lens i is
 * camera i of the model. With rigs of several cameras, images whose poses are not those of
 * their frames and sensors get these.
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
