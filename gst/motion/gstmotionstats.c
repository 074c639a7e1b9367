/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstmotionstats.h"

#include "cuda/motion/constant.h"
#include "gst/common/filter/gstcvisrate.h"
#include "gst/common/gstcvistime.h"

#include <math.h>

void
gst_motion_stats_init (GstMotionStats *stats)
{
  *stats = (GstMotionStats){ .pts = GST_CLOCK_TIME_NONE };
}

static const MotionField *
find_backward (const MotionJob *job)
{
  for (guint i = 0; i < job->n_fields; i++)
    if (job->fields[i].distance == -1)
      return &job->fields[i];
  return NULL;
}

static void
count_confidence (
    GstMotionCounts *to, const MotionConfig *config, const MotionField *field)
{
  const guint n =
      motion_config_get_columns (config) * motion_config_get_rows (config);

  for (guint i = 0; i < n; i++) {
    const CvisMotionBlock *block = &field->blocks[i];
    const gint confidence = cvis_motion_block_get_confidence (block);

    if (confidence < 0 || block->flags & CVIS_MOTION_BLOCK_CONSTANT)
      continue;
    to->rated++;
    to->confidence += confidence / 256.0;
  }
}

static void
count (GstMotionCounts *to, const MotionConfig *config,
    const GstMotionFrame *frame, const CvisMotionPacket *packet,
    gboolean key_unit)
{
  const MotionField *field = find_backward (&frame->job);
  const CvisMotionSummary *summary;
  gdouble levels = 1u << (packet->depth - 8);
  gdouble peak = (1u << packet->depth) - 1;
  guint64 samples;

  to->frames++;
  to->first += (packet->flags & CVIS_MOTION_FRAME_FIRST) != 0;
  to->duplicates += (packet->flags & CVIS_MOTION_FRAME_DUPLICATE) != 0;
  to->scene_cuts += (packet->flags & CVIS_MOTION_FRAME_SCENE_CUT) != 0;
  to->key_units += key_unit;
  if (field == NULL)
    return;
  summary = &field->summary;
  to->searched++;
  to->blocks += motion_count_used (config, field, &samples);
  to->static_blocks += summary->static_blocks;
  to->intra_blocks += summary->intra_blocks;
  to->residue += (gdouble) summary->residue / levels;
  to->zero_residue += (gdouble) summary->zero_residue / levels;
  to->squares += (gdouble) summary->sse / (peak * peak);
  to->samples += samples;
  to->speed += hypot (summary->global_x, summary->global_y);
  count_confidence (to, config, field);
  if (packet->flags & CVIS_MOTION_FRAME_NOISE) {
    to->noisy++;
    to->noise += cvis_motion_packet_get_noise (packet);
  }
}

void
gst_motion_stats_add (GstMotionStats *stats, const MotionConfig *config,
    const GstMotionFrame *frame, const CvisMotionPacket *packet,
    gboolean key_unit, guint64 now)
{
  count (&stats->total, config, frame, packet, key_unit);
  count (&stats->recent, config, frame, packet, key_unit);
  stats->recent_staged += frame->item.staged;
  cvis_histogram_add (&stats->recent_latency, now - frame->item.arrival, 1);
  if (stats->start == 0)
    stats->start = now;
  stats->end = now;
  stats->pts = packet->pts;
}

void
gst_motion_stats_add_skipped (GstMotionStats *stats)
{
  stats->total.frames++;
  stats->total.skipped++;
  stats->recent.frames++;
  stats->recent.skipped++;
}

static gdouble
mean (gdouble sum, guint64 n)
{
  return n == 0 ? 0.0 : sum / (gdouble) n;
}

/* Peak signal-to-noise ratio of all predictions together, dB; infinite if exact. */
static gdouble
get_psnr (const GstMotionCounts *counts)
{
  if (counts->samples == 0)
    return 0.0;
  if (counts->squares == 0.0)
    return INFINITY;
  return -10.0 * log10 (mean (counts->squares, counts->samples));
}

static void
add_counts (const GstMotionCounts *c, GstStructure *s)
{
  gst_structure_set (s, "frames", G_TYPE_UINT64, c->frames, "skipped-frames",
      G_TYPE_UINT64, c->skipped, "first-frames", G_TYPE_UINT64, c->first,
      "duplicates", G_TYPE_UINT64, c->duplicates, "scene-cuts", G_TYPE_UINT64,
      c->scene_cuts, "key-units", G_TYPE_UINT64, c->key_units, "static-share",
      G_TYPE_DOUBLE, mean ((gdouble) c->static_blocks, c->blocks),
      "intra-share", G_TYPE_DOUBLE, mean ((gdouble) c->intra_blocks, c->blocks),
      "mean-residue", G_TYPE_DOUBLE, mean (c->residue, c->samples),
      "mean-zero-residue", G_TYPE_DOUBLE, mean (c->zero_residue, c->samples),
      "psnr", G_TYPE_DOUBLE, get_psnr (c), "mean-global-motion", G_TYPE_DOUBLE,
      mean (c->speed, c->searched), "mean-confidence", G_TYPE_DOUBLE,
      c->rated > 0 ? c->confidence / (gdouble) c->rated : -1.0, "noise",
      G_TYPE_DOUBLE, c->noisy > 0 ? c->noise / (gdouble) c->noisy : -1.0, NULL);
}

void
gst_motion_stats_add_total (const GstMotionStats *stats,
    const GstCvisRate *rate, GstStructure *structure)
{
  add_counts (&stats->total, structure);
  /* frames that were not searched count too */
  gst_cvis_stats_add_latency (
      structure, stats->total.frames, rate->end - rate->start, &rate->latency);
}

GstStructure *
gst_motion_stats_take_recent (
    GstMotionStats *stats, guint64 interval, const GstSegment *segment)
{
  gboolean first = stats->recent_start == 0;
  GstStructure *s;

  if (!first && stats->end - stats->recent_start < interval)
    return NULL;
  s = gst_structure_new ("cudamotionest-stats", "staged-frames", G_TYPE_UINT64,
      stats->recent_staged, NULL);
  add_counts (&stats->recent, s);
  gst_cvis_stats_add_latency (s, stats->recent.frames,
      stats->end - (first ? stats->start : stats->recent_start),
      &stats->recent_latency);
  gst_structure_set (s, "pts", G_TYPE_UINT64, stats->pts, "running-time",
      G_TYPE_UINT64, gst_cvis_running_time (segment, stats->pts), NULL);
  stats->recent_start = stats->end;
  stats->recent = (GstMotionCounts){ 0 };
  stats->recent_staged = 0;
  stats->recent_latency = (CvisHistogram){ 0 };
  return s;
}
