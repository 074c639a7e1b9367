/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Summary of melt-pool records. Called by monitor.c. */
#include "layersummary.h"

#include <math.h>
#include <string.h>

/* Bins of the course; their number of frames doubles when they are full. */
#define MAX_BINS 1600

const gchar *const layer_feature_names[LAYER_N_FEATURES] = {
  "pool area, pixels",
  "pool mean, grey levels",
  "pool width / length",
  "spatters",
  "spatter area, pixels",
};

static const CvisPbfFeature features[LAYER_N_FEATURES] = {
  CVIS_PBF_MP_AREA,
  CVIS_PBF_MP_MEAN,
  CVIS_PBF_MP_RATIO,
  CVIS_PBF_SPATTER_COUNT,
  CVIS_PBF_SPATTER_AREA,
};

typedef struct {
  guint64 lit;
  gdouble sums[LAYER_N_FEATURES];
} Bin;

LayerSummary *
layer_summary_new (void)
{
  LayerSummary *summary = g_new0 (LayerSummary, 1);

  summary->layers = g_array_new (FALSE, TRUE, sizeof (Layer));
  summary->bins = g_array_new (FALSE, TRUE, sizeof (Bin));
  summary->bin_frames = 1;
  return summary;
}

void
layer_summary_free (LayerSummary *summary)
{
  g_array_unref (summary->layers);
  g_array_unref (summary->bins);
  g_free (summary);
}

/* Joins neighbours, so that half of the bins are free. */
static void
halve_bins (LayerSummary *summary)
{
  GArray *bins = summary->bins;

  for (guint i = 0; i < bins->len / 2; i++) {
    Bin joined = g_array_index (bins, Bin, 2 * i);
    const Bin *next = &g_array_index (bins, Bin, 2 * i + 1);

    joined.lit += next->lit;
    for (guint f = 0; f < LAYER_N_FEATURES; f++)
      joined.sums[f] += next->sums[f];
    g_array_index (bins, Bin, i) = joined;
  }
  g_array_set_size (bins, bins->len / 2);
  summary->bin_frames *= 2;
}

static Bin *
find_bin (LayerSummary *summary)
{
  guint64 index = summary->frames / summary->bin_frames;

  if (index >= MAX_BINS) {
    halve_bins (summary);
    index = summary->frames / summary->bin_frames;
  }
  if (index >= summary->bins->len)
    g_array_set_size (summary->bins, index + 1);
  return &g_array_index (summary->bins, Bin, index);
}

static Layer *
find_layer (LayerSummary *summary, guint32 number)
{
  GArray *layers = summary->layers;

  if (layers->len == 0
      || g_array_index (layers, Layer, layers->len - 1).number != number) {
    const Layer layer = { number };

    g_array_append_val (layers, layer);
  }
  return &g_array_index (layers, Layer, layers->len - 1);
}

void
layer_summary_add (LayerSummary *summary, const CvisPbfResult *result)
{
  Layer *layer = find_layer (summary, result->layer);
  Bin *bin = find_bin (summary);
  const gboolean lit = (result->flags & CVIS_PBF_RESULT_EMPTY) == 0;

  layer->frames++;
  layer->lit += lit;
  layer->no_pool += (result->flags & CVIS_PBF_RESULT_NO_POOL) != 0;
  layer->lost += (result->flags & CVIS_PBF_RESULT_LOST_BEFORE) != 0;
  if (result->vote_n > 0 && result->class_index < CVIS_PBF_MAX_OUTPUTS
      && result->vote_class < CVIS_PBF_MAX_OUTPUTS) {
    layer->classes[result->class_index]++;
    layer->probabilities[result->class_index] += result->class_probability;
    layer->votes[result->vote_class]++;
  }
  bin->lit += lit;
  for (guint i = 0; lit && i < LAYER_N_FEATURES; i++) {
    layer->sums[i] += result->features[features[i]];
    bin->sums[i] += result->features[features[i]];
  }
  summary->frames++;
}

gsize
layer_summary_get_course (
    const LayerSummary *summary, guint i, gdouble **x, gdouble **y)
{
  const guint n = summary->bins->len;

  *x = g_new (gdouble, MAX (n, 1));
  *y = g_new (gdouble, MAX (n, 1));
  for (guint b = 0; b < n; b++) {
    const Bin *bin = &g_array_index (summary->bins, Bin, b);

    (*x)[b] = (b + 0.5) * summary->bin_frames;
    (*y)[b] = bin->lit > 0 ? bin->sums[i] / bin->lit : NAN;
  }
  return n;
}
