/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Counters of cudalwtfilter since its start. The caller locks. */
#pragma once

#include <gst/gst.h>

#include "cuda/core/histogram.h"
#include "cuda/records/surfacerecord.h"

G_BEGIN_DECLS

/**
 * GstLwtStats:
 * @frames: frames that left
 * @missing: missing points in them
 * @outside: frames whose Sa was out of its limits
 * @staged: frames copied once more, as they were not in pinned memory
 * @threshold: of the last frame's denoise, metres
 * @known: components whose parameters were computed: 1 << CvisSurfacePart
 * @parameters: of the last frame, by CvisSurfacePart
 * @start, @end: monotonic ns of the first and the last frame
 */
typedef struct {
  guint64 frames, missing, outside, staged;
  gdouble threshold;
  guint known;
  CvisSurfaceParameters parameters[CVIS_SURFACE_N_PARTS];
  guint64 start, end;
  CvisHistogram latency;
} GstLwtStats;

GstStructure *gst_lwt_stats_to_structure (const GstLwtStats *stats);
/* Appends the fields of @parameters. */
void gst_lwt_parameters_to_structure (
    const CvisSurfaceParameters *parameters, GstStructure *structure);

G_END_DECLS
