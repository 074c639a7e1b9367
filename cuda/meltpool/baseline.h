/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* PbfBaseline: a machine's baseline. A network that was trained relative to baselines
 * expects features relative to the means of the machine's own nominal frames. These
 * means are computed from the first records of a stream, checked, and folded into the
 * network's file. cudapbfmonitor calls it.
 *
 * With the mean M of a feature over the nominal frames and s = |M| + 0.1 base.sigma,
 * in.mean = M + base.mean s and in.std = base.std s (docs/design/model-file.md). */
#pragma once

#include <math.h>

#include "cuda/meltpool/model.h"

G_BEGIN_DECLS

/* The unit of a feature relative to a baseline: @mean of the feature over the nominal
 * frames, @sigma: base.sigma. A feature that never changes keeps a scale. */
static inline gdouble
pbf_baseline_scale (gdouble mean, gdouble sigma)
{
  return MAX (fabs (mean) + 0.1 * sigma, 1e-6);
}

#define PBF_BASELINE_MIN_FRAMES 2000
#define PBF_BASELINE_MAX_FRAMES 1000000

/* A baseline with frames of another state than the nominal one: by the network, with that
 * baseline, more than this fraction of its frames is of one other state. */
#define PBF_BASELINE_IMPURE 0.04

/* The most frequent state but the first one, the nominal, among @n frames with these
 * @features, by @model with their baseline. @fraction: (out): of the frames, 0 without a
 * softmax, as the outputs are no states then. Returns: the number of its output */
guint pbf_model_find_impurity (const PbfModel *model,
    const gfloat (*features)[CVIS_PBF_N_FEATURES], guint n, gdouble *fraction);

/**
 * PbfBaselineReport:
 * @frames: in the means
 * @known_directions: of them with a known direction of scanning
 * @backward: fraction of those that move against the main direction
 * @other: the most frequent state but the nominal one, by the network
 * @other_fraction: of the frames that are of it
 * @contaminated: that is more than PBF_BASELINE_IMPURE: frames of another regime seem to
 *   be among them
 */
typedef struct {
  guint frames, known_directions;
  gdouble backward;
  guint other;
  gdouble other_fraction;
  gboolean contaminated;
} PbfBaselineReport;

typedef struct _PbfBaseline PbfBaseline;

/* @filename: of a network that was trained relative to baselines
 * @n_frames: PBF_BASELINE_MIN_FRAMES to PBF_BASELINE_MAX_FRAMES
 * @machine: identity of the machine, 1 to 128 bytes of printable UTF-8
 * Returns: %NULL with CVIS_ERROR_INVALID or CVIS_ERROR_FORMAT and the remedy */
PbfBaseline *pbf_baseline_new (const gchar *filename, guint n_frames,
    const gchar *machine, GError **error);
/* @baseline: (nullable) */
void pbf_baseline_free (PbfBaseline *baseline);
/* Forgets the frames so far. */
void pbf_baseline_reset (PbfBaseline *baseline);

/* Adds the next @n records of the stream. Those outside the window, and those with an
 * incomplete window, are skipped. Returns: whether all frames have been collected */
gboolean pbf_baseline_add (
    PbfBaseline *baseline, const CvisPbfResult *results, guint n);
guint pbf_baseline_get_count (const PbfBaseline *baseline);

/* Checks the frames and makes the network's file with the baseline folded in.
 * Returns: %NULL with CVIS_ERROR_INVALID and the remedy, if the frames have one
 * direction of scanning only or a feature is not finite */
GBytes *pbf_baseline_finish (
    PbfBaseline *baseline, PbfBaselineReport *report, GError **error);
/* The name of the network's output @index */
const gchar *pbf_baseline_get_name (const PbfBaseline *baseline, guint index);

G_END_DECLS
