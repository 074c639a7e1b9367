/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Keeps the frame of a model as COLMAP does: the pose of the image with the smallest id,
 * or of the one constant image, and a coordinate of the translation of the next image.
 * Private. */
#pragma once

#include "cuda/bundle/colmap/model.h"

G_BEGIN_DECLS

/* @q: w, x, y, z; @q and @t: world to camera */
typedef struct {
  gdouble q[4], t[3];
} BundleModelPose;

/**
 * BundleModelGauge:
 * @held: otherwise nothing is moved
 * @image: indices of both images
 * @axis: of the coordinate, the one along which the images are farthest apart
 * @start: poses before the adjustment
 */
typedef struct {
  gboolean held;
  guint32 image[2];
  guint axis;
  BundleModelPose start[2];
} BundleModelGauge;

/* Chooses the images. @image_of: @n indices of the images that are adjusted
 * @constant: of each of them the bits of its pose that stay, as in BundleProblem. Two or
 *   more constant images hold the frame by themselves, and so does a constant position
 *   with a free rotation */
void bundle_model_gauge_init (BundleModelGauge *gauge, const BundleModel *model,
    const guint32 *image_of, guint n, const guint16 *constant);
/* Moves the adjusted images and points. */
void bundle_model_gauge_apply (const BundleModelGauge *gauge,
    BundleModel *model, const guint32 *image_of, guint n_images,
    const guint32 *point_of, guint n_points);

G_END_DECLS
