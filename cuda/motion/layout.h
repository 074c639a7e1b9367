/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Layout of the CUDA backend's pictures in device memory. Makes no CUDA
 * calls. */
#pragma once

#include "cuda/motion/field.h"

G_BEGIN_DECLS

/* Numbers of a picture that method=field needs.
 * @counts: squares of each noise level
 * @ended: thread blocks that have ended
 * @noise: of the picture, 1/16 levels */
typedef struct {
  guint32 counts[MOTION_FIELD_NOISE_MAX + 1];
  guint32 ended;
  gint32 noise;
} MotionSurvey;

/* Each pointer is at the frame's first sample; rows have `pitch` samples.
 * The samples of the frame's edges are repeated around it, so kernels never
 * clamp coordinates.
 * The others are for method=field:
 * @levels: of the pyramid; [0] is search
 * @halves: samples half a pixel right, half a pixel down, and both; they have the
 *   layout of search
 * @lines: of each row, then of each column: its largest sample, and 255 minus its
 *   least */
typedef struct {
  guint8 *search;   /* the samples; depth 10: their upper 8 bits */
  guint16 *full;    /* depth 10 only: the samples */
  guint8 *quarter;  /* the search plane reduced by four each way */
  guint16 *sums[3]; /* of the 4x4, 8x8, 16x16 samples of the search plane from
                       this one on */
  guint8 *levels[MOTION_FIELD_LEVELS];
  guint8 *halves[3];
  guint32 *lines;
  MotionSurvey *survey;
} MotionDevicePicture;

/* @left, @top: samples before the first one of a row, rows before the first
 *   one
 * @pitch, @rows: of the plane */
typedef struct {
  guint32 left, top, pitch, rows;
} MotionPlaneLayout;

/* Offsets and pitches of the planes, the same for all pictures of an engine.
 * @left, @top: samples before the first one of a row, rows before the first
 *   one
 * @pitch, @rows: of search, full and sums
 * @quarter_*: of the quarter plane
 * @levels: of the pyramid of method=field, from level 1 on
 * @staged_pitch: bytes from row to row of a frame as received */
typedef struct {
  guint32 left, top, pitch, rows;
  guint32 quarter_width, quarter_height;
  guint32 quarter_left, quarter_top, quarter_pitch, quarter_rows;
  MotionPlaneLayout levels[MOTION_FIELD_LEVELS];
  guint32 staged_pitch;
} MotionLayout;

void motion_layout_init (MotionLayout *layout, const MotionConfig *config);

/* Places the planes that @config needs in @memory.
 * @memory: (nullable): device memory, aligned to 16 bytes
 * @picture: (out) (nullable): set only with @memory
 * Returns: bytes of memory for a picture */
gsize motion_picture_cut (const MotionConfig *config,
    const MotionLayout *layout, guint8 *memory, MotionDevicePicture *picture);

G_END_DECLS
