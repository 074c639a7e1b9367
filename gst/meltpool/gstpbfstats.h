/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Counters of cudapbfmonitor, for its property "stats" (since the start) and its
 * element message (since the last one). The caller locks. */
#pragma once

#include "cuda/core/histogram.h"
#include "gstpbfbatch.h"

G_BEGIN_DECLS

/**
 * GstPbfCounts: counts of frames, unless noted
 */
typedef struct {
  guint64 frames;
  guint64 empty;
  guint64 analysed; /* features were computed */
  guint64 excluded;
  guint64 lost; /* numbers that the frame counter skipped */
  guint64 late;
  guint64 repeated;
  guint64 corrupt;
  guint64 no_signal;
  guint64 no_pool;
  guint64 pool_at_edge;
  guint64 position_unsure;
  guint64 position_fallback;
  guint64 dropped_empty;
  guint64 sent;   /* records, by UDP */
  guint64 unsent; /* records that the network did not accept */
  guint64 batches;
  guint64 partial_batches;
  guint64
      staged_frames; /* copied once more, as they are not in pinned memory */
} GstPbfCounts;

/**
 * GstPbfStats:
 * @total: since the start or the last gst_pbf_stats_reset_total()
 * @recent: since the last message
 * @started: since the start
 * @doubtful: monotonic ns of the first batch with a frame of
 *   gst_pbf_stats_describe_doubts(); 0: none yet
 * @entered: frames in the sums below
 * @edge_run: length of the present run of melt pools that touch the ROI's edge
 * @longest_edge_run: length of the longest run
 * @raw_sum: of #CvisPbfFeature 0..4, over the frames in the window
 * @output_sum, @output_max, @outputs: of the network
 */
typedef struct {
  GstPbfCounts total, recent, started;
  CvisHistogram total_latency, recent_latency;
  guint64 start, end;   /* monotonic ns of the first and last batch */
  guint64 recent_start; /* of the last message */
  guint64 doubtful;
  GstClockTime timestamp; /* of the last frame */
  guint64 edge_run, longest_edge_run;
  guint64 entered, scored;
  gint64 raw_sum[CVIS_PBF_MP_MEAN + 1];
  guint outputs;
  gdouble output_sum[CVIS_PBF_MAX_OUTPUTS];
  gfloat output_max[CVIS_PBF_MAX_OUTPUTS];
} GstPbfStats;

void gst_pbf_stats_init (GstPbfStats *stats);
/* Resets the counters of gst_pbf_stats_add_total(). */
void gst_pbf_stats_reset_total (GstPbfStats *stats);

/* Counts records that have been sent by UDP, and those that could not be. */
void gst_pbf_stats_add_sent (GstPbfStats *stats, guint64 sent, guint64 unsent);

/* Describes the frames guessed, left out or lost since the start, with counts.
 * Returns: (transfer full): empty if nothing was */
gchar *gst_pbf_stats_describe_doubts (const GstPbfStats *stats);

/* Counts a completed batch. @now: monotonic ns */
void gst_pbf_stats_add_batch (
    GstPbfStats *stats, const GstPbfBatch *batch, gboolean staged, guint64 now);
void gst_pbf_stats_add_latency (GstPbfStats *stats, guint64 ns, guint frames);

/* Adds the counters since the start or the last reset to @structure. */
void gst_pbf_stats_add_total (
    const GstPbfStats *stats, GstStructure *structure);

/* @model: (nullable): for the names of the outputs
 * Returns: the message's structure, if @interval ns have passed since the last one
 * (or there was none), and resets its counters; else %NULL */
GstStructure *gst_pbf_stats_take_recent (GstPbfStats *stats, guint64 interval,
    const GstSegment *segment, const PbfModel *model);

G_END_DECLS
