/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Histogram of durations from 1 ns to hours with a resolution of 6 to 12.5 %:
 * latency percentiles without stored samples, cheap enough for every frame.
 * Not thread-safe. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* 8 buckets an octave, 48 octaves */
#define CVIS_HISTOGRAM_BUCKETS 384

typedef struct {
  guint64 count, max;
  guint64 bucket[CVIS_HISTOGRAM_BUCKETS];
} CvisHistogram;

void cvis_histogram_clear (CvisHistogram *histogram);
/* Adds @times samples of @ns each. */
void cvis_histogram_add (CvisHistogram *histogram, guint64 ns, guint64 times);
/* The duration that @fraction (0..1) of the samples do not exceed, ns: the
 * upper edge of a bucket, at most the maximum; 0 without samples. */
guint64 cvis_histogram_percentile (
    const CvisHistogram *histogram, gdouble fraction);

/* Nanoseconds of the monotonic clock. */
guint64 cvis_monotonic_ns (void);

G_END_DECLS
