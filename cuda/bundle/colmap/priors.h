/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Measured positions of a model's images, and the alignment of the model to them. A text
 * has lines
 *
 *   NAME X Y Z [SX SY SZ]
 *
 * with the standard deviations of the position in the same unit; # begins a comment, and
 * NAME is as in names.h. */
#pragma once

#include "cuda/bundle/colmap/model.h"

G_BEGIN_DECLS

/* Adds a prior to the model. @image: index of an image
 * @covariance: (nullable): elements xx, xy, xz, yy, yz, zz
 * @deviation: of the position, without @covariance
 * Returns: FALSE with CVIS_ERROR_INVALID if the image has one, a number is not finite or
 *   above 1e100, or the covariance is not positive definite */
gboolean bundle_model_add_prior (BundleModel *model, guint image,
    const gdouble position[3], const gdouble *covariance, gdouble deviation,
    GError **error);

/* @deviation: of lines without one
 * Returns: FALSE with CVIS_ERROR_FORMAT that has line and field */
gboolean bundle_model_read_priors (BundleModel *model, const gchar *data,
    gsize size, gdouble deviation, GError **error);

/* y = scale R(q) x + t; @q: w, x, y, z, of length 1 */
typedef struct {
  gdouble q[4], t[3], scale;
} BundleAlignment;

/* Finds what takes the @n positions @from to @to with the smallest sum of squared
 * distances.
 * Returns: FALSE with CVIS_ERROR_INVALID: fewer than three, or all on a line */
gboolean bundle_align_positions (const gdouble *from, const gdouble *to,
    guint n, BundleAlignment *found, GError **error);

/* Where the image is: -R^T t */
void bundle_model_image_position (
    const BundleModelImage *image, gdouble position[3]);

/* Turns, scales and moves the whole model, with the sensors of its rigs, so that the sum of
 * the squared distances of its images from their priors is the smallest.
 * Returns: FALSE with CVIS_ERROR_INVALID: fewer than three priors, or all on a line */
gboolean bundle_model_align (BundleModel *model, GError **error);

/* Root mean square distance of images and priors; 0 without priors */
gdouble bundle_model_prior_rms (const BundleModel *model);

G_END_DECLS
