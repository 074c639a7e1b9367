/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Priors of the positions of cameras with lenses in the CPU backend. Private. All sums
 * run over the priors in their order, in one thread. */
#pragma once

#include "cuda/bundle/cpu/lenses.h"

G_BEGIN_DECLS

/**
 * BundleCpuPriors:
 * @list: n, in the frame of the engine; @image_of: of each its image
 * @block, @gradient: of each image, 3 x 3 and 3, for the translation of the step of its
 *   camera; 0 without a prior
 * @by: (nullable): of each image whose sensor is placed in its rig: 3 x 6, by the step of
 *   the rig's pose
 */
struct _BundleCpuPriors {
  guint n;
  const BundlePrior *list;
  guint32 *image_of;
  gdouble (*block)[9], (*gradient)[3], (*by)[3 * BUNDLE_POSE];
};

/* Sets b->priors; b->lenses are known. */
gboolean bundle_priors_new (BundleBackend *b, GError **error);
void bundle_priors_free (BundleCpuPriors *priors);

/* Computes blocks and gradients, adds them to gradient_c and diagonal.
 * Returns: the cost */
gdouble bundle_priors_linearize (BundleBackend *b);
/* Cost of the candidate */
gdouble bundle_priors_cost (const BundleBackend *b);
/* Decrease of the quadratic model by step @x */
gdouble bundle_priors_model (const BundleBackend *b, const gdouble *x);

/* Adds the product of the blocks of a camera's images and b->in to b->out, and subtracts
 * it from the images' parts of their lenses. */
void bundle_priors_multiply (BundleBackend *b, guint camera);
/* Adds the block of an image whose sensor is placed in its rig to its triangle, of pose
 * and lens. */
void bundle_priors_add_triangle (
    const BundleBackend *b, guint32 image, gdouble *triangle);
/* Element @i, @j of the camera's 6 x 6 block, of its other images */
gdouble bundle_priors_at (
    const BundleBackend *b, guint camera, guint i, guint j);

G_END_DECLS
