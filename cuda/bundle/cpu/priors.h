/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Priors of the positions of cameras with lenses in the CPU backend. Private. All sums
 * run over the priors in their order, in one thread. */
#pragma once

#include "cuda/bundle/cpu/cpu.h"

G_BEGIN_DECLS

/**
 * BundleCpuPriors:
 * @list: n, in the frame of the engine
 * @block, @gradient: of each camera, 3 x 3 and 3, for the translation of its step; 0
 *   without a prior
 */
struct _BundleCpuPriors {
  guint n;
  const BundlePrior *list;
  gdouble (*block)[9], (*gradient)[3];
};

/* Sets b->priors. */
gboolean bundle_priors_new (BundleBackend *b, GError **error);
void bundle_priors_free (BundleCpuPriors *priors);

/* Computes blocks and gradients, adds them to gradient_c and diagonal.
 * Returns: the cost */
gdouble bundle_priors_linearize (BundleBackend *b);
gdouble bundle_priors_cost (
    const BundleBackend *b, const BundleConstants *constants);
/* Decrease of the quadratic model by step @x */
gdouble bundle_priors_model (const BundleBackend *b, const gdouble *x);

/* Adds the product of the camera's block and the 9 elements @in to @out. */
static inline void
bundle_priors_multiply (
    const BundleBackend *b, guint camera, const gdouble *in, gdouble *out)
{
  const gdouble *block = b->priors ? b->priors->block[camera] : NULL;

  for (guint i = 0; block && i < 9; i++)
    out[BUNDLE_CAMERA_TRANSLATION + i / 3] +=
        block[i] * in[BUNDLE_CAMERA_TRANSLATION + i % 3];
}

/* Element @i, @j of the camera's 6 x 6 block */
static inline gdouble
bundle_priors_at (const BundleBackend *b, guint camera, guint i, guint j)
{
  return b->priors && i >= BUNDLE_CAMERA_TRANSLATION
                 && j >= BUNDLE_CAMERA_TRANSLATION && i < BUNDLE_CAMERA_FOCAL
                 && j < BUNDLE_CAMERA_FOCAL
             ? b->priors->block[camera][3 * (i - BUNDLE_CAMERA_TRANSLATION) + j
                                        - BUNDLE_CAMERA_TRANSLATION]
             : 0;
}

G_END_DECLS
