/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Frames for the benchmarks of the melt-pool engine, 96x96 pixels each, with
 * what an engine has to know of them and room for its records. */
#pragma once

#include "cuda/meltpool/engine.h"

G_BEGIN_DECLS

typedef struct {
  guint n;
  guint8 *pixels;
  const guint8 **frames;
  guint *strides;
  PbfFrameInfo *infos;
  PbfResult *results;
} BenchRing;

BenchRing *bench_ring_new (guint n);
/* The same frames elsewhere. */
BenchRing *bench_ring_copy (const BenchRing *ring);
void bench_ring_free (BenchRing *ring);

/* Sorts @values. */
gdouble bench_median (gdouble *values, guint n);

G_END_DECLS
