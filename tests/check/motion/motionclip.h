/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Clips for tests of the motion element, with the engine's results. */
#pragma once

#include <gst/cudavision/gstmotionmeta.h>
#include <gst/video/video.h>

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

#define MOTION_CLIP_FRAME_NS 40000000 /* 25 frames a second */

typedef enum {
  MOTION_CLIP_MOVES, /* the texture moves on */
  MOTION_CLIP_SAME,  /* repeats the frame before */
  MOTION_CLIP_CUT,   /* another texture */
} MotionClipStep;

/**
 * MotionClip:
 * @config: of the engine
 * @format, @info: of the video
 * @n: frames
 * @video: of each frame, all planes laid out as in @info
 * @packets: of each frame, as expected from the element
 * @predictions, @residuals: luma, one or two bytes a sample, without gaps
 */
typedef struct {
  MotionConfig config;
  GstVideoInfo info;
  guint n;
  GBytes **video;
  GBytes **packets;
  GBytes **predictions;
  GBytes **residuals;
} MotionClip;

/* @config: its width, height and all settings except the depth are used
 * @steps: (nullable): how each of the @n frames follows from the one before;
 *   %NULL: all move */
MotionClip *motion_clip_new (GstVideoFormat format, const MotionConfig *config,
    const MotionClipStep *steps, guint n);
/* Computes the expected results of frames @first to @end - 1 as a sequence
 * of their own. motion_clip_new() has computed them for all frames as one
 * sequence. */
void motion_clip_expect (MotionClip *clip, guint first, guint end);
void motion_clip_free (MotionClip *clip);

/* Frame @i with its timestamp; @pad > 0: this many bytes before each plane
 * and additionally in each row, which needs a GstVideoMeta. */
GstBuffer *motion_clip_buffer (const MotionClip *clip, guint i, guint pad);

/* Aborts unless @buffer is the packet of frame @i, with number @number in
 * its stream. */
void motion_clip_check_packet (
    const MotionClip *clip, guint i, guint64 number, GstBuffer *buffer);
/* Aborts unless @buffer has the metas of frame @i. */
void motion_clip_check_metas (
    const MotionClip *clip, guint i, GstBuffer *buffer);
/* Aborts unless @buffer has the rows of @expected. */
void motion_clip_check_picture (
    const MotionClip *clip, GBytes *expected, GstBuffer *buffer);

G_END_DECLS
