/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Counters of cudamotionest, for its property "stats" (since the start) and its
 * element message (since the last one). The caller locks. */
#pragma once

#include "gstmotionframe.h"

G_BEGIN_DECLS

/**
 * GstMotionCounts:
 * @frames: frames that left
 * @skipped: those of them that were not searched
 * @first: frames without a reference
 * @searched: frames with a field against the previous frame; the fields below are
 *   about these
 * @residue, @zero_residue: sums, in levels of 8-bit samples
 * @squares: sum of squared differences, in units of the largest sample's square
 * @speed: sum of the lengths of the frames' global motion, pixels
 * @rated, @confidence: vectors that have a confidence, and its sum, 0 to 1 each; without
 *   constant blocks
 * @noise, @noisy: sum of the frames' noise levels, and frames that have one
 */
typedef struct {
  guint64 frames, skipped, first, duplicates, scene_cuts, key_units;
  guint64 searched, blocks, static_blocks, intra_blocks, samples;
  guint64 rated, noisy;
  gdouble residue, zero_residue, squares, speed, confidence, noise;
} GstMotionCounts;

/* Of @total the base class counts what is not in GstMotionCounts. */
typedef struct {
  GstMotionCounts total, recent;
  guint64 recent_staged;
  CvisHistogram recent_latency;
  guint64 start, end;   /* monotonic ns of the first and last frame */
  guint64 recent_start; /* of the last message */
  GstClockTime pts;     /* of the last frame */
} GstMotionStats;

void gst_motion_stats_init (GstMotionStats *stats);

/* Counts a frame whose @packet is filled in. @now: monotonic ns
 * @key_unit: an event asked for a key frame */
void gst_motion_stats_add (GstMotionStats *stats, const MotionConfig *config,
    const GstMotionFrame *frame, const CvisMotionPacket *packet,
    gboolean key_unit, guint64 now);

/* Counts a frame that leaves without a search. */
void gst_motion_stats_add_skipped (GstMotionStats *stats);

/* Adds the counters since the start to @structure; @rate: of the base class */
void gst_motion_stats_add_total (const GstMotionStats *stats,
    const GstCvisRate *rate, GstStructure *structure);

/* Returns: the message's structure, if @interval ns have passed since the last one
 * (or there was none), and restarts its counters; else %NULL */
GstStructure *gst_motion_stats_take_recent (
    GstMotionStats *stats, guint64 interval, const GstSegment *segment);

G_END_DECLS
