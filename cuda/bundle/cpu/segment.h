/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Loops over the slots of a segment that both kinds of kernels share: those of cameras
 * of BAL and those of cameras with lenses. Included by files that are compiled for each
 * instruction set. */
#pragma once

#include "cuda/bundle/cpu/cpu.h"

G_BEGIN_DECLS

typedef gdouble V8
    __attribute__ ((vector_size (BUNDLE_LANES * 8), aligned (8), may_alias));

#define INLINE static inline __attribute__ ((always_inline))

/* A number of each slot */
typedef gdouble Column[BUNDLE_SEGMENT] __attribute__ ((aligned (64)));

INLINE V8
load (const gdouble *from)
{
  return *(const V8 *) from;
}

INLINE gdouble
sum_lanes (V8 a)
{
  return ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
}

INLINE gdouble
sum_column (const Column values, guint n)
{
  V8 sum = { 0 };

  for (guint i = 0; i < n; i += BUNDLE_LANES)
    sum += load (values + i);
  return sum_lanes (sum);
}

/* Loads three numbers of the points observed by the slots. */
INLINE void
gather_points (const BundleBackend *b, const BundleSegment *s,
    const gdouble *points, Column x, Column y, Column z)
{
  const guint32 *slot_point = b->slot_point + s->first;

  for (guint i = 0; i < s->n; i++) {
    const gdouble *p = points + (gsize) slot_point[i] * BUNDLE_POINT;

    x[i] = p[0];
    y[i] = p[1];
    z[i] = p[2];
  }
}

/* Stores three numbers of each slot to b->forward. */
INLINE void
put_forward (BundleBackend *b, const BundleSegment *s, const Column x,
    const Column y, const Column z)
{
  gdouble *to = b->forward + s->first * BUNDLE_POINT;

  for (guint i = 0; i < s->n; i++) {
    to[BUNDLE_POINT * i] = x[i];
    to[BUNDLE_POINT * i + 1] = y[i];
    to[BUNDLE_POINT * i + 2] = z[i];
    to[BUNDLE_POINT * i + 3] = 0;
  }
}

/* Replaces the squares by rho; padding slots get 0. */
INLINE void
get_weights (const BundleBackend *b, const BundleSegment *s, Column square,
    Column weight)
{
  gdouble scale = b->config.loss_scale;

  switch (b->config.loss) {
#define CASE(loss)                                                             \
  case loss:                                                                   \
    for (guint i = 0; i < s->n; i++)                                           \
      square[i] = bundle_loss (loss, scale, square[i], &weight[i]);            \
    break
    CASE (BUNDLE_LOSS_NONE);
    CASE (BUNDLE_LOSS_HUBER);
    CASE (BUNDLE_LOSS_CAUCHY);
    CASE (BUNDLE_LOSS_TUKEY);
    CASE (BUNDLE_LOSS_SOFT_L1);
#undef CASE
  }
  for (guint i = s->n_real; i < s->n; i++)
    square[i] = weight[i] = 0;
}

G_END_DECLS
