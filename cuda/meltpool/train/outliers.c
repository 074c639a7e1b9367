/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/outliers.h"

#include <string.h>

#include "cuda/meltpool/arithmetic.h"

#define N_FEATURES CVIS_PBF_N_FEATURES

typedef const gfloat (*Rows)[N_FEATURES];

static const gfloat *
draw_row (Rows x, gsize n, PbfRandomState *random)
{
  return x[pbf_random_next (random) % n];
}

/* Log-uniform in 0.3..3 */
static gfloat
draw_scale (PbfRandomState *random)
{
  return pbf_exp ((gfloat) pbf_random_between (random, -1.2, 1.1));
}

/* Nearly normal, of variance 1: a sum of four uniform numbers */
static gfloat
draw_normal (PbfRandomState *random)
{
  gdouble sum = 0;

  for (guint i = 0; i < 4; i++)
    sum += pbf_random_between (random, -1, 1);
  return (gfloat) (sum * 0.8660254037844386);
}

/* row += @times (row - from) */
static void
move_away (gfloat *row, const gfloat *from, gfloat times)
{
  for (guint i = 0; i < N_FEATURES; i++)
    row[i] += times * (row[i] - from[i]);
}

/* row += @scale times independent numbers */
static void
shake (gfloat *row, gfloat scale, PbfRandomState *random)
{
  for (guint i = 0; i < N_FEATURES; i++)
    row[i] += scale * draw_normal (random);
}

void
pbf_make_outliers (Rows x, gsize n, PbfRandomState *random,
    gfloat (*out)[N_FEATURES], gsize n_out)
{
  for (gsize r = 0; r < n_out; r++) {
    memcpy (out[r], draw_row (x, n, random), sizeof out[r]);
    if (r % 2 == 0)
      move_away (out[r], draw_row (x, n, random),
          (gfloat) pbf_random_between (random, 0.3, 1.5));
    else
      shake (out[r], draw_scale (random), random);
  }
}
