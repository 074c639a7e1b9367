/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Keeps the coordinate frame of a model as COLMAP does: the pose of the image with the
 * smallest id, or of the one constant image, and a coordinate of the translation of the
 * next image. With rigs these are the poses of the images' frames. Private. */
#pragma once

#include "cuda/bundle/colmap/model.h"
#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

/* @q: w, x, y, z; @q and @t: world to camera */
typedef struct {
  gdouble q[4], t[3];
} BundleModelPose;

/**
 * BundleModelGauge:
 * @held: otherwise nothing is moved
 * @keep_scale: constant sensors determine it
 * @image: indices of both images
 * @axis: of the coordinate, the one along which the images are farthest apart
 * @start: poses before the adjustment
 */
typedef struct {
  gboolean held, keep_scale;
  guint32 image[2];
  guint axis;
  BundleModelPose start[2];
} BundleModelGauge;

/* Chooses the images. @image_of: of each camera of @problem. Two or more constant poses
 * hold the coordinate frame by themselves, and so does a constant position with a free
 * rotation. In a rig, images by the reference or by constant sensors are chosen. */
void bundle_model_gauge_init (BundleModelGauge *gauge, const BundleModel *model,
    const BundleProblem *problem, const guint32 *image_of);
/* Moves the adjusted images, or the frames and sensors of rigs, and points. */
void bundle_model_gauge_apply (const BundleModelGauge *gauge,
    BundleModel *model, const BundleProblem *problem, const guint32 *image_of,
    const guint32 *point_of);

G_END_DECLS
