/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A step (w, v) of a camera moves its position c to c - R^T exp(-w) v
 * (bundle_move_camera()). So the derivative of c by v is -R^T, and that by w is 0. With
 * the information A of a prior p, its cost (c - p)^T A (c - p) / 2 adds R A R^T to the
 * block of v and -R A (c - p) to the gradient. */
#include "cuda/bundle/cpu/priors.h"

#include <stdlib.h>
#include <string.h>

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

/* e = c - p. Returns: e^T A e / 2; @weighted: A e */
static gdouble
weigh_position (
    const BundlePrior *prior, const BundleConstants *c, gdouble weighted[3])
{
  gdouble e[3], cost = 0;

  for (guint k = 0; k < 3; k++)
    e[k] = -(c->r[k] * c->t[0] + c->r[3 + k] * c->t[1] + c->r[6 + k] * c->t[2])
           - prior->position[k];
  bundle_multiply_3 (prior->information, e[0], e[1], e[2], weighted);
  for (guint k = 0; k < 3; k++)
    cost += e[k] * weighted[k] / 2;
  return cost;
}

/* R A R^T, and -R A e of @weighted */
static void
turn_prior (const BundlePrior *prior, const BundleConstants *c,
    const gdouble weighted[3], gdouble block[9], gdouble gradient[3])
{
  for (guint r = 0; r < 3; r++) {
    const gdouble *row = c->r + 3 * r;
    gdouble turned[3];

    gradient[r] =
        -(row[0] * weighted[0] + row[1] * weighted[1] + row[2] * weighted[2]);
    bundle_multiply_3 (prior->information, row[0], row[1], row[2], turned);
    for (guint s = 0; s < 3; s++)
      block[3 * r + s] = turned[0] * c->r[3 * s] + turned[1] * c->r[3 * s + 1]
                         + turned[2] * c->r[3 * s + 2];
  }
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
    const BundleConstants *c = &b->constants[camera];
    const gsize at = 9 * (gsize) camera + BUNDLE_CAMERA_TRANSLATION;
    gdouble weighted[3], block[9], gradient[3];

    cost += weigh_position (&p->list[i], c, weighted);
    turn_prior (&p->list[i], c, weighted, block, gradient);
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
    cost +=
        weigh_position (&p->list[i], &constants[p->list[i].camera], weighted);
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
