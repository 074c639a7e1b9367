/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Counters of cudalwtfilter since its start. The caller locks. */
#pragma once

#include <gst/gst.h>

#include "cuda/records/surfacerecord.h"

G_BEGIN_DECLS

/**
 * GstLwtStats:
 * @missing: missing points in the frames that left
 * @outside: frames whose Sa was out of its limits
 * @threshold: of the last frame's denoise, metres
 * @known: components whose parameters were computed: 1 << CvisSurfacePart
 * @parameters: of the last frame, by CvisSurfacePart
 */
typedef struct {
  guint64 missing, outside;
  gdouble threshold;
  guint known;
  CvisSurfaceParameters parameters[CVIS_SURFACE_N_PARTS];
} GstLwtStats;

/* Adds the counters to @structure. */
void gst_lwt_stats_add (const GstLwtStats *stats, GstStructure *structure);
/* Appends the fields of @parameters. */
void gst_lwt_parameters_to_structure (
    const CvisSurfaceParameters *parameters, GstStructure *structure);

G_END_DECLS
