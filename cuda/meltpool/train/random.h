/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Random numbers of training and simulated settings: the same on every machine. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint64 state;
} PbfRandomState;

/* splitmix64 (Steele, Lea & Flood, 2014) */
static inline guint64
pbf_random_next (PbfRandomState *random)
{
  guint64 z = random->state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Another sequence for each @seed and @stream. */
static inline PbfRandomState
pbf_random_init (guint64 seed, guint64 stream)
{
  PbfRandomState random = { seed };

  random.state = pbf_random_next (&random) + stream;
  random.state = pbf_random_next (&random);
  return random;
}

/* Uniform in @from..@to */
static inline gdouble
pbf_random_between (PbfRandomState *random, gdouble from, gdouble to)
{
  return from
         + (to - from) * (gdouble) (pbf_random_next (random) >> 11) * 0x1p-53;
}

static inline void
pbf_random_shuffle (PbfRandomState *random, guint32 *order, gsize n)
{
  for (gsize i = n; i > 1; i--) {
    const gsize j = pbf_random_next (random) % i;
    const guint32 kept = order[i - 1];

    order[i - 1] = order[j];
    order[j] = kept;
  }
}

G_END_DECLS
