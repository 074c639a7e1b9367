/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisrate.h"

void
gst_cvis_rate_add (GstCvisRate *rate, guint64 arrival)
{
  rate->end = cvis_monotonic_ns ();
  if (rate->frames++ == 0)
    rate->start = rate->end;
  cvis_histogram_add (&rate->latency, rate->end - arrival, 1);
}

void
gst_cvis_stats_add_latency (GstStructure *stats, guint64 frames,
    guint64 elapsed, const CvisHistogram *latency)
{
  gst_structure_set (stats, "frames-per-second", G_TYPE_DOUBLE,
      elapsed == 0 ? 0.0 : (gdouble) frames * 1e9 / (gdouble) elapsed,
      "latency-p50", G_TYPE_UINT64, cvis_histogram_percentile (latency, 0.5),
      "latency-p90", G_TYPE_UINT64, cvis_histogram_percentile (latency, 0.9),
      "latency-p99", G_TYPE_UINT64, cvis_histogram_percentile (latency, 0.99),
      "latency-p999", G_TYPE_UINT64, cvis_histogram_percentile (latency, 0.999),
      "latency-max", G_TYPE_UINT64, latency->max, NULL);
}

void
gst_cvis_stats_add_rate (GstStructure *stats, const GstCvisRate *rate)
{
  gst_cvis_stats_add_latency (
      stats, rate->frames, rate->end - rate->start, &rate->latency);
}
