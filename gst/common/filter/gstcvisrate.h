/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* How many frames an element computes and how long each takes, for its statistics. */
#pragma once

#include <gst/gst.h>

#include "cuda/core/histogram.h"

G_BEGIN_DECLS

/**
 * GstCvisRate: guarded by the lock of the statistics
 * @frames: that have left
 * @start, @end: cvis_monotonic_ns() when the first and the last left
 * @latency: from the arrival of a frame until it leaves
 */
typedef struct {
  guint64 frames, start, end;
  CvisHistogram latency;
} GstCvisRate;

/* A frame that arrived at @arrival, cvis_monotonic_ns(), leaves now. */
void gst_cvis_rate_add (GstCvisRate *rate, guint64 arrival);

/* Adds frames-per-second, latency-p50, -p90, -p99, -p999 and -max to @stats.
 * @elapsed: ns in which @frames were computed; 0: not known */
void gst_cvis_stats_add_latency (GstStructure *stats, guint64 frames,
    guint64 elapsed, const CvisHistogram *latency);
/* The same of @rate. */
void gst_cvis_stats_add_rate (GstStructure *stats, const GstCvisRate *rate);

G_END_DECLS
