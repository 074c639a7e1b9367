/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Priors of the positions of cameras with lenses (prior.h). */
#include "cuda/bundle/cpu/priors.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/prior.h"
#include "cuda/core/memory.h"

void
bundle_priors_free (BundleCpuPriors *priors)
{
  if (priors == NULL)
    return;
  free (priors->block);
  free (priors->gradient);
  g_free (priors);
}

gboolean
bundle_priors_new (BundleBackend *b, GError **error)
{
  BundleCpuPriors *p = b->priors = g_new0 (BundleCpuPriors, 1);

  p->n = b->problem->n_priors;
  p->list = b->problem->priors;
  p->block = cvis_memory_new (b->n_cameras * sizeof *p->block, TRUE, error);
  p->gradient = p->block ? cvis_memory_new (
                    b->n_cameras * sizeof *p->gradient, TRUE, error)
                         : NULL;
  return p->gradient != NULL;
}

gdouble
bundle_priors_linearize (BundleBackend *b)
{
  BundleCpuPriors *p = b->priors;
  gdouble cost = 0;

  memset (p->block, 0, b->n_cameras * sizeof *p->block);
  memset (p->gradient, 0, b->n_cameras * sizeof *p->gradient);
  for (guint i = 0; i < p->n; i++) {
    const guint32 camera = p->list[i].camera;
    const gsize at = 9 * (gsize) camera + BUNDLE_CAMERA_TRANSLATION;
    gdouble block[9] = { 0 }, gradient[3] = { 0 };

    cost += bundle_prior_linearize (
        &p->list[i], &b->constants[camera], block, gradient);
    for (guint k = 0; k < 9; k++)
      p->block[camera][k] += block[k];
    for (guint k = 0; k < 3; k++) {
      p->gradient[camera][k] += gradient[k];
      b->gradient_c[at + k] += gradient[k];
      b->diagonal[at + k] += block[4 * k];
    }
  }
  return cost;
}

gdouble
bundle_priors_cost (const BundleBackend *b, const BundleConstants *constants)
{
  const BundleCpuPriors *p = b->priors;
  gdouble cost = 0, weighted[3];

  for (guint i = 0; i < p->n; i++)
    cost += bundle_prior_cost (
        &p->list[i], &constants[p->list[i].camera], weighted);
  return cost;
}

gdouble
bundle_priors_model (const BundleBackend *b, const gdouble *x)
{
  const BundleCpuPriors *p = b->priors;
  gdouble decrease = 0;

  for (guint c = 0; c < b->n_cameras; c++) {
    const gdouble *v = x + 9 * (gsize) c + BUNDLE_CAMERA_TRANSLATION;
    gdouble product[9] = { 0 };

    bundle_priors_multiply (b, c, x + 9 * (gsize) c, product);
    for (guint k = 0; k < 3; k++)
      decrease -=
          v[k]
          * (p->gradient[c][k] + product[BUNDLE_CAMERA_TRANSLATION + k] / 2);
  }
  return decrease;
}
