/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Means of the main features of each layer, and their course over the frames, from
 * the records of cudapbfmonitor. One thread. */
#pragma once

#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

#define LAYER_N_FEATURES 5

/* Names with units, and their index in CvisPbfResult.features */
extern const gchar *const layer_feature_names[LAYER_N_FEATURES];

/**
 * Layer:
 * @frames: of the layer
 * @lit: of them with the laser on
 * @no_pool: of these without a melt pool
 * @lost: gaps of the frame counter before a frame of the layer
 * @sums: of the features over the lit frames
 * @classes: frames of each class, by the number of the output
 * @votes: frames with each vote
 * @probabilities: sums over the frames of each class
 */
typedef struct {
  guint32 number;
  guint64 frames, lit, no_pool, lost;
  gdouble sums[LAYER_N_FEATURES];
  guint64 classes[CVIS_PBF_MAX_OUTPUTS], votes[CVIS_PBF_MAX_OUTPUTS];
  gdouble probabilities[CVIS_PBF_MAX_OUTPUTS];
} Layer;

/**
 * LayerSummary:
 * @layers: (element-type Layer): in the order in which they came
 */
typedef struct {
  GArray *layers;
  GArray *bins; /* private: course of the features */
  guint64 bin_frames;
  guint64 frames;
} LayerSummary;

LayerSummary *layer_summary_new (void);
void layer_summary_free (LayerSummary *summary);
void layer_summary_add (LayerSummary *summary, const CvisPbfResult *result);

/* The course of feature @i: means of lit frames. @x, @y: (out): newly allocated
 * Returns: number of points; a point without a lit frame is NaN */
gsize layer_summary_get_course (
    const LayerSummary *summary, guint i, gdouble **x, gdouble **y);

G_END_DECLS
