/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Clips to try the motion element on, and what the engine makes of them. */
#pragma once

#include <gst/cudavision/gstmotionmeta.h>
#include <gst/video/video.h>

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

#define MOTION_CLIP_FRAME_NS 40000000 /* 25 frames a second */

typedef enum {
  MOTION_CLIP_MOVES, /* the texture, further on */
  MOTION_CLIP_SAME,  /* the frame before once more */
  MOTION_CLIP_CUT,   /* another texture */
} MotionClipStep;

/**
 * MotionClip:
 * @config: what the engine was made with
 * @format, @info: of the video
 * @n: frames
 * @video: of each frame, all planes as @info has them
 * @packets: of each frame, as the element is to make them
 * @predictions, @residuals: luma, a byte or two a sample, without gaps
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

/* @config: width, height and all but the depth are taken
 * @steps: (nullable): how each of the @n frames follows from the one before;
 *   %NULL: all move */
MotionClip *motion_clip_new (GstVideoFormat format, const MotionConfig *config,
    const MotionClipStep *steps, guint n);
/* Computes what is expected of frames @first to @end - 1 as a sequence of their
 * own. motion_clip_new() has done so for all of them as one. */
void motion_clip_expect (MotionClip *clip, guint first, guint end);
void motion_clip_free (MotionClip *clip);

/* Frame @i with its time; @pad > 0: that many bytes before each plane and more
 * in each row, which needs a GstVideoMeta. */
GstBuffer *motion_clip_buffer (const MotionClip *clip, guint i, guint pad);

/* Aborts unless @buffer is the packet of frame @i, as number @number of its
 * stream. */
void motion_clip_check_packet (
    const MotionClip *clip, guint i, guint64 number, GstBuffer *buffer);
/* Aborts unless @buffer has the metas of frame @i. */
void motion_clip_check_metas (
    const MotionClip *clip, guint i, GstBuffer *buffer);
/* Aborts unless @buffer holds the rows of @expected. */
void motion_clip_check_picture (
    const MotionClip *clip, GBytes *expected, GstBuffer *buffer);

G_END_DECLS
