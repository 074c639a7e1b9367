/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Formulas of the priors of cameras' positions, inline for host and device. Used by both
 * backends for cameras with lenses.
 *
 * A step (w, v) of a camera moves its position c to c - R^T exp(-w) v
 * (bundle_move_camera()). So the derivative of c by v is -R^T, and that by w is 0. With
 * the information A of a prior p, its cost (c - p)^T A (c - p) / 2 adds R A R^T to the
 * block of v and -R A (c - p) to the gradient. */
#pragma once

#include "cuda/bundle/arithmetic.h"

G_BEGIN_DECLS

/* e = c - p. Returns: e^T A e / 2; @weighted: A e */
BUNDLE_FN gdouble
bundle_prior_cost (
    const BundlePrior *prior, const BundleConstants *c, gdouble weighted[3])
{
  gdouble e[3], cost = 0;

  for (int k = 0; k < 3; k++)
    e[k] = -(c->r[k] * c->t[0] + c->r[3 + k] * c->t[1] + c->r[6 + k] * c->t[2])
           - prior->position[k];
  bundle_multiply_3 (prior->information, e[0], e[1], e[2], weighted);
  for (int k = 0; k < 3; k++)
    cost += e[k] * weighted[k] / 2;
  return cost;
}

/* Adds R A R^T to @block and -R A e to @gradient. Returns: the cost */
BUNDLE_FN gdouble
bundle_prior_linearize (const BundlePrior *prior, const BundleConstants *c,
    gdouble block[9], gdouble gradient[3])
{
  gdouble weighted[3];
  const gdouble cost = bundle_prior_cost (prior, c, weighted);

  for (int r = 0; r < 3; r++) {
    const gdouble *row = c->r + 3 * r;
    gdouble turned[3];

    gradient[r] -=
        row[0] * weighted[0] + row[1] * weighted[1] + row[2] * weighted[2];
    bundle_multiply_3 (prior->information, row[0], row[1], row[2], turned);
    for (int s = 0; s < 3; s++)
      block[3 * r + s] += turned[0] * c->r[3 * s] + turned[1] * c->r[3 * s + 1]
                          + turned[2] * c->r[3 * s + 2];
  }
  return cost;
}

G_END_DECLS
