/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Settings as the backends use them: plain numbers, thresholds squared and
 * rounded once, for both the CPU and the GPU. Private to the library. */
#pragma once

#include "cuda/meltpool/engine.h"
#include "cuda/meltpool/arithmetic.h"

G_BEGIN_DECLS

typedef struct {
  gint32 width, height;
  gint32 side; /* of the ROI */
  gint32 threshold;
  gint32 connectivity;
  gint32 align;
  gint32 frame_scope; /* spatters of the whole frame */
  gint32 analyse_empty;
  guint32 radius2; /* search radius squared, Q16 */
  guint32 inner2;  /* polar radii squared, Q16: inner2 <= r2 <= outer2 */
  guint32 outer2;
  guint32 min_area;
  gint32 window;
  gint32 window_reset; /* PbfWindowReset */
  guint32 max_gap;
  gint32 activation; /* PbfActivation */
  gint32 labelling;  /* PbfLabelling */
} PbfParams;

void pbf_params_init (PbfParams *params, const PbfConfig *config);

/* From this many runs of foreground pixels in the ROI on, union-find over runs
 * is chosen instead of flood fills. */
#define PBF_FLOOD_MAX_RUNS 64

/* A row of the temporal window: what later frames need of a valid one. */
typedef struct {
  gint32 raw[PBF_N_SPATIAL];
  guint32 layer, vector_id;
  guint64 position; /* frames of the stream before it, lost ones counted */
} PbfRow;

/* Does the window restart with @row, whose predecessor is @last? */
PBF_INLINE gboolean
pbf_window_restarts (
    const PbfParams *params, const PbfRow *last, const PbfRow *row)
{
  switch (params->window_reset) {
    case PBF_WINDOW_RESET_GAP:
      return row->position - last->position - 1 > params->max_gap;
    case PBF_WINDOW_RESET_VECTOR:
      return row->vector_id != last->vector_id || row->layer != last->layer;
    case PBF_WINDOW_RESET_LAYER:
      return row->layer != last->layer;
    default:
      return FALSE;
  }
}

/* A record before anything was computed: what is known of the frame. */
static inline void
pbf_result_begin (PbfResult *result, const PbfFrameInfo *info)
{
  memset (result, 0, sizeof *result);
  result->magic = PBF_RESULT_MAGIC;
  result->size = sizeof (PbfResult);
  result->version = PBF_RESULT_VERSION;
  result->timestamp_ns = info->timestamp_ns;
  result->frame_index = info->frame_index;
  result->frame_counter = info->frame_counter;
  result->flags = info->flags;
  result->layer = info->layer;
  result->vector_id = info->vector_id;
  result->x_um = info->x_um;
  result->y_um = info->y_um;
  result->signal_flags = info->signal_flags;
}

G_END_DECLS
