/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfstats.h"

#include "gst/common/filter/gstcvisrate.h"
#include "gstpbfnames.h"
#include "gst/common/gstcvistime.h"

#include <string.h>

static void
begin_recent (GstPbfStats *stats)
{
  memset (&stats->recent, 0, sizeof (stats->recent));
  cvis_histogram_clear (&stats->recent_latency);
  stats->entered = stats->scored = 0;
  stats->outputs = 0;
  memset (stats->raw_sum, 0, sizeof (stats->raw_sum));
  memset (stats->output_sum, 0, sizeof (stats->output_sum));
  for (guint k = 0; k < CVIS_PBF_MAX_OUTPUTS; k++)
    stats->output_max[k] = -G_MAXFLOAT;
}

void
gst_pbf_stats_init (GstPbfStats *stats)
{
  memset (&stats->total, 0, sizeof (stats->total));
  memset (&stats->started, 0, sizeof (stats->started));
  cvis_histogram_clear (&stats->total_latency);
  stats->start = stats->end = stats->recent_start = stats->doubtful = 0;
  stats->timestamp = GST_CLOCK_TIME_NONE;
  stats->edge_run = stats->longest_edge_run = 0;
  begin_recent (stats);
}

void
gst_pbf_stats_reset_total (GstPbfStats *stats)
{
  memset (&stats->total, 0, sizeof (stats->total));
  cvis_histogram_clear (&stats->total_latency);
  stats->start = stats->end;
}

static void
count_flags (GstPbfCounts *counts, guint32 flags)
{
  counts->empty += (flags & CVIS_PBF_RESULT_EMPTY) != 0;
  counts->excluded += (flags & CVIS_PBF_RESULT_EXCLUDED) != 0;
  counts->late += (flags & CVIS_PBF_RESULT_LATE) != 0;
  counts->repeated += (flags & CVIS_PBF_RESULT_REPEATED) != 0;
  counts->corrupt += (flags & CVIS_PBF_RESULT_SIGNAL_CORRUPT) != 0;
  counts->no_signal += (flags & CVIS_PBF_RESULT_NO_SIGNAL) != 0;
  counts->no_pool += (flags & CVIS_PBF_RESULT_NO_POOL) != 0;
  counts->pool_at_edge += (flags & CVIS_PBF_RESULT_POOL_AT_EDGE) != 0;
  counts->position_unsure += (flags & CVIS_PBF_RESULT_POSITION_UNSURE) != 0;
  counts->position_fallback += (flags & CVIS_PBF_RESULT_POSITION_FALLBACK) != 0;
  /* an empty frame has features only with empty-frames=analyse */
  counts->analysed += (flags & CVIS_PBF_RESULT_EMPTY) == 0
                      || (flags & CVIS_PBF_RESULT_EXCLUDED) != 0;
}

static void
sum_features (GstPbfStats *stats, const CvisPbfResult *result)
{
  if (result->window_n == 0)
    return;
  stats->entered++;
  for (guint k = 0; k < G_N_ELEMENTS (stats->raw_sum); k++)
    stats->raw_sum[k] += result->raw[k];
  if (result->n_outputs == 0)
    return;
  stats->scored++;
  stats->outputs = MIN (result->n_outputs, CVIS_PBF_MAX_OUTPUTS);
  for (guint k = 0; k < stats->outputs; k++) {
    stats->output_sum[k] += result->outputs[k];
    stats->output_max[k] = MAX (stats->output_max[k], result->outputs[k]);
  }
}

/* Frames without a pool do not end a run. */
static void
follow_edge_run (GstPbfStats *stats, const CvisPbfResult *result)
{
  if (result->bbox_width == 0)
    return;
  if (result->flags & CVIS_PBF_RESULT_POOL_AT_EDGE)
    stats->edge_run++;
  else
    stats->edge_run = 0;
  stats->longest_edge_run = MAX (stats->longest_edge_run, stats->edge_run);
}

static void
add_counts (GstPbfCounts *to, const GstPbfCounts *from)
{
  /* all of its fields are counters */
  const guint64 *f = (const guint64 *) from;
  guint64 *t = (guint64 *) to;

  for (guint i = 0; i < sizeof (*to) / sizeof (*t); i++)
    t[i] += f[i];
}

void
gst_pbf_stats_add_sent (GstPbfStats *stats, guint64 sent, guint64 unsent)
{
  const GstPbfCounts counts = { .sent = sent, .unsent = unsent };

  add_counts (&stats->total, &counts);
  add_counts (&stats->recent, &counts);
  add_counts (&stats->started, &counts);
}

static gboolean
has_doubts (const GstPbfCounts *c)
{
  return c->position_fallback + c->position_unsure + c->corrupt + c->lost
             + c->late + c->repeated + c->unsent
         > 0;
}

static void
append_doubt (GString *text, guint64 n, const gchar *what)
{
  if (n > 0)
    g_string_append_printf (
        text, "%s%" G_GUINT64_FORMAT " %s", text->len > 0 ? ", " : "", n, what);
}

gchar *
gst_pbf_stats_describe_doubts (const GstPbfStats *stats)
{
  const GstPbfCounts *c = &stats->started;
  GString *text = g_string_new (NULL);

  append_doubt (text, c->position_fallback,
      "without a position in machine signals (the brightest spot is used)");
  append_doubt (text, c->position_unsure,
      "with another spot that is nearly as likely to be the melt pool");
  append_doubt (text, c->corrupt, "with corrupt signals (not used)");
  append_doubt (text, c->lost, "lost before this element");
  append_doubt (
      text, c->late + c->repeated, "late or repeated (not in the window)");
  append_doubt (text, c->unsent, "whose results the network did not accept");
  return g_string_free (text, FALSE);
}

void
gst_pbf_stats_add_batch (
    GstPbfStats *stats, const GstPbfBatch *batch, gboolean staged, guint64 now)
{
  GstPbfCounts counts = { 0 };
  guint n = batch->batch.n;

  for (guint i = 0; i < n; i++) {
    count_flags (&counts, batch->batch.results[i].flags);
    sum_features (stats, &batch->batch.results[i]);
    follow_edge_run (stats, &batch->batch.results[i]);
  }
  counts.frames = n;
  counts.lost = batch->lost;
  counts.batches = 1;
  counts.partial_batches = batch->partial ? 1 : 0;
  counts.staged_frames = staged ? n : 0;
  add_counts (&stats->total, &counts);
  add_counts (&stats->recent, &counts);
  add_counts (&stats->started, &counts);
  if (stats->doubtful == 0 && has_doubts (&stats->started))
    stats->doubtful = now;

  if (stats->start == 0)
    stats->start = now;
  stats->end = now;
  stats->timestamp = batch->infos[n - 1].timestamp_ns;
}

void
gst_pbf_stats_add_latency (GstPbfStats *stats, guint64 ns, guint frames)
{
  cvis_histogram_add (&stats->total_latency, ns, frames);
  cvis_histogram_add (&stats->recent_latency, ns, frames);
}

static void
add_fields (GstStructure *s, const GstPbfCounts *counts)
{
  gst_structure_set (s, "frames", G_TYPE_UINT64, counts->frames, "empty",
      G_TYPE_UINT64, counts->empty, "analysed", G_TYPE_UINT64, counts->analysed,
      "excluded", G_TYPE_UINT64, counts->excluded, "lost", G_TYPE_UINT64,
      counts->lost, "late", G_TYPE_UINT64, counts->late, "repeated",
      G_TYPE_UINT64, counts->repeated, "corrupt", G_TYPE_UINT64,
      counts->corrupt, "no-signal", G_TYPE_UINT64, counts->no_signal, "no-pool",
      G_TYPE_UINT64, counts->no_pool, "pool-at-edge", G_TYPE_UINT64,
      counts->pool_at_edge, "position-unsure", G_TYPE_UINT64,
      counts->position_unsure, "position-fallback", G_TYPE_UINT64,
      counts->position_fallback, "dropped-empty", G_TYPE_UINT64,
      counts->dropped_empty, "batches", G_TYPE_UINT64, counts->batches,
      "partial-batches", G_TYPE_UINT64, counts->partial_batches,
      "staged-frames", G_TYPE_UINT64, counts->staged_frames, "results-sent",
      G_TYPE_UINT64, counts->sent, "results-unsent", G_TYPE_UINT64,
      counts->unsent, NULL);
}

void
gst_pbf_stats_add_total (const GstPbfStats *stats, GstStructure *structure)
{
  add_fields (structure, &stats->total);
  gst_cvis_stats_add_latency (structure, stats->total.frames,
      stats->end - stats->start, &stats->total_latency);
}

static gdouble
mean (gint64 sum, guint64 n, guint scale)
{
  return n == 0 ? 0.0 : (gdouble) sum / (gdouble) n / scale;
}

static void
append_double (GValue *array, gdouble number)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_DOUBLE);
  g_value_set_double (&value, number);
  gst_value_array_append_and_take_value (array, &value);
}

/* Adds the names, means and maxima of the outputs as three arrays. */
static void
add_outputs (GstStructure *s, const GstPbfStats *stats, const PbfModel *model)
{
  GValue means = G_VALUE_INIT, maxima = G_VALUE_INIT;

  g_value_init (&means, GST_TYPE_ARRAY);
  g_value_init (&maxima, GST_TYPE_ARRAY);
  for (guint k = 0; k < stats->outputs; k++) {
    append_double (&means, stats->output_sum[k] / (gdouble) stats->scored);
    append_double (&maxima, stats->output_max[k]);
  }
  gst_pbf_names_set (s, model->names, stats->outputs);
  gst_structure_take_value (s, "output-mean", &means);
  gst_structure_take_value (s, "output-max", &maxima);
}

GstStructure *
gst_pbf_stats_take_recent (GstPbfStats *stats, guint64 interval,
    const GstSegment *segment, const PbfModel *model)
{
  GstStructure *s;
  gboolean first = stats->recent_start == 0;

  if (!first && stats->end - stats->recent_start < interval)
    return NULL;

  s = gst_structure_new_empty ("cudapbfmonitor-stats");
  add_fields (s, &stats->recent);
  gst_structure_set (s, "pts", G_TYPE_UINT64, stats->timestamp, "running-time",
      G_TYPE_UINT64, gst_cvis_running_time (segment, stats->timestamp),
      "mp-area", G_TYPE_DOUBLE,
      mean (stats->raw_sum[CVIS_PBF_MP_AREA], stats->entered, 1),
      "spatter-area", G_TYPE_DOUBLE,
      mean (stats->raw_sum[CVIS_PBF_SPATTER_AREA], stats->entered, 1),
      "spatter-count", G_TYPE_DOUBLE,
      mean (stats->raw_sum[CVIS_PBF_SPATTER_COUNT], stats->entered, 1),
      "mp-ratio", G_TYPE_DOUBLE,
      mean (stats->raw_sum[CVIS_PBF_MP_RATIO], stats->entered, 65536),
      "mp-mean", G_TYPE_DOUBLE,
      mean (stats->raw_sum[CVIS_PBF_MP_MEAN], stats->entered, 256), NULL);
  gst_cvis_stats_add_latency (s, stats->recent.frames,
      stats->end - (first ? stats->start : stats->recent_start),
      &stats->recent_latency);
  if (model != NULL && stats->scored > 0)
    add_outputs (s, stats, model);
  stats->recent_start = stats->end;
  begin_recent (stats);
  return s;
}
