/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Frames for the benchmarks of the melt-pool engine, 96x96 pixels each, with
 * their frame infos and memory for the records. */
#pragma once

#include "cuda/meltpool/engine.h"

G_BEGIN_DECLS

typedef struct {
  guint n;
  guint8 *pixels;
  const guint8 **frames;
  guint *strides;
  PbfFrameInfo *infos;
  CvisPbfResult *results;
} BenchRing;

BenchRing *bench_ring_new (guint n);
/* Copies the frames to other memory. */
BenchRing *bench_ring_copy (const BenchRing *ring);
void bench_ring_free (BenchRing *ring);

/* Sorts @values. Returns: the median */
gdouble bench_median (gdouble *values, guint n);

G_END_DECLS
