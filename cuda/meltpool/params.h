/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Settings in the form that the backends use: plain numbers, radii squared
 * and rounded once, the same for CPU and GPU. Private to the library. */
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

/* Largest number of runs of foreground pixels in the ROI for which flood
 * fill is used; above it union-find over runs. */
#define PBF_FLOOD_MAX_RUNS 64

/* A row of the temporal window: the data of a valid frame that later frames
 * need. */
typedef struct {
  gint32 raw[CVIS_PBF_N_SPATIAL];
  guint32 layer, vector_id;
  guint64 position; /* frames of the stream before it, including lost ones */
} PbfRow;

/* Whether the window restarts with @row, whose predecessor is @last. */
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

/* Initialises a record with what is known before any computation. */
static inline void
pbf_result_begin (CvisPbfResult *result, const PbfFrameInfo *info)
{
  memset (result, 0, sizeof *result);
  result->magic = CVIS_PBF_RESULT_MAGIC;
  result->size = sizeof (CvisPbfResult);
  result->version = CVIS_PBF_RESULT_VERSION;
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
