/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The motion engine: frames in, fields of block motion vectors out, on the CPU
 * or on a CUDA device, to the same bits.
 *
 * Source: M. Rodrigues, J. Bento, P. Coimbra, Accelerating a Video Encoder
 * through CUDA (full search, step search); the test zonal search is that of the
 * HEVC and VVC reference encoders; the multilevel successive elimination that
 * makes the full search fast without changing its result is that of X. Q. Gao,
 * C. J. Duanmu, C. R. Zou (IEEE Trans. Image Processing 9, 2000). The
 * definitions are in docs/design/motion.md. */
#pragma once

#include "cuda/core/backend.h"
#include "cuda/records/motionrecord.h"

G_BEGIN_DECLS

typedef enum {
  MOTION_METHOD_FULL,       /* exact, with elimination */
  MOTION_METHOD_FULL_BRUTE, /* exact, every candidate computed */
  MOTION_METHOD_STEP,       /* coarse to fine grids */
  MOTION_METHOD_ZONAL,      /* predictors, diamonds, star refinement */
} MotionMethod;

/* Grids of the step search; spacings for a range of 64 */
typedef enum {
  MOTION_GRANULARITY_1,        /* 3x3 points: 32, 16, 8, 4, 2, 1 */
  MOTION_GRANULARITY_2,        /* 7x7: 16, 4, 1 */
  MOTION_GRANULARITY_3,        /* 15x15: 8, 1 */
  MOTION_GRANULARITY_PAPER_13, /* 13x13: 8, 1; reaches 54 of 64 */
} MotionGranularity;

typedef enum {
  MOTION_WINDOW_HALF_OPEN, /* -range .. range - 1 */
  MOTION_WINDOW_INCLUSIVE, /* -range .. range */
} MotionWindow;

typedef enum {
  MOTION_BORDER_PAD,    /* beyond the edge lies the edge's sample */
  MOTION_BORDER_INSIDE, /* only blocks wholly inside the reference */
} MotionBorder;

/* Which of several vectors of equal cost the full search takes */
typedef enum {
  MOTION_TIE_RASTER, /* the first in raster order of (y, x) */
  MOTION_TIE_SHORT,  /* the shortest (x^2 + y^2), then in raster order */
} MotionTie;

typedef enum {
  MOTION_SUBPEL_NONE,
  MOTION_SUBPEL_HALF,
  MOTION_SUBPEL_QUARTER,
} MotionSubpel;

/**
 * MotionConfig: set up with motion_config_init(), then changed
 * @width, @height: of the frames, 1..16384
 * @depth: bits of a sample, 8 or 10
 * @block_size: 8, 16, 32 or 64
 * @range: 1..128 pixels
 * @lambda: cost of a bit of the vector in units of 8-bit samples, 0..255
 * @references: frames searched in each direction, 1..4
 * @bidirectional: frames to come are searched too
 * @threads: of the CPU backend; 0: one per processor
 * @depth_in_flight: frames that may be submitted and not waited for, 1..8,
 *   beside those that wait for frames to come
 */
typedef struct {
  guint width, height;
  guint depth;
  MotionMethod method;
  MotionGranularity granularity;
  guint block_size;
  guint range;
  MotionWindow window;
  MotionBorder border;
  MotionTie tie;
  guint lambda;
  MotionSubpel subpel;
  guint references;
  gboolean bidirectional;
  guint threads;
  guint depth_in_flight;
} MotionConfig;

void motion_config_init (MotionConfig *config);
/* Returns: FALSE with CVIS_ERROR_INVALID naming the first field out of range. */
gboolean motion_config_check (const MotionConfig *config, GError **error);
/* Blocks across and down. */
guint motion_config_get_columns (const MotionConfig *config);
guint motion_config_get_rows (const MotionConfig *config);
/* The most fields a frame can have. */
guint motion_config_get_n_fields (const MotionConfig *config);

/**
 * MotionField:
 * @vectors, @blocks: where columns * rows of them go
 * @distance: (out): the reference is the frame that much later; -1 the one
 *   before
 * @summary: (out): of the field
 */
typedef struct {
  MotionVector *vectors;
  MotionBlock *blocks;
  gint distance;
  MotionSummary summary;
} MotionField;

/**
 * MotionJob: a frame. Belongs to the engine from motion_engine_submit() until
 *   motion_engine_wait() returns it, as does the memory behind it
 * @luma: the first sample; a byte each with a depth of 8, else 2 bytes, little
 *   endian
 * @stride: bytes from row to row
 * @shift: the sample is the value shifted right by it (P010: 6), with a depth
 *   of 10 from 0 to 6, else 0; bits above the depth are ignored
 * @on_device: @luma is a device pointer (CUDA only); it is read before
 *   motion_engine_submit() returns, which waits for the work that the CUDA
 *   stream @stream (a CUstream; %NULL: the legacy default stream) holds
 * @pinned: @luma lies in memory of cvis_pinned_alloc(): copied from where it
 *   is, else staged first
 * @results_pinned: all vectors and blocks lie in memory of cvis_pinned_alloc()
 * @prediction: (nullable): where the luma goes that the vectors predict, a
 *   block from the reference of least cost (the first of @fields if equal); in
 *   bytes, or with a depth of 10 in 2 bytes, the value shifted left by 6
 * @residual: (nullable): likewise the middle (128, 512) + frame - prediction,
 *   clipped
 * @prediction_stride, @residual_stride: bytes from row to row
 * @n_fields: (out): how many there are: less than possible at either end of a
 *   stream. A frame without (the first, where nothing to come is searched) is
 *   predicted as 128 (512) everywhere
 * @fields: @vectors and @blocks of the possible ones; in the order of the
 *   distances -1, +1, -2, +2, ... without missing ones
 * @flags: (out): MOTION_FRAME_FIRST, MOTION_FRAME_DUPLICATE
 */
typedef struct {
  const guint8 *luma;
  gsize stride;
  guint shift;
  gboolean on_device;
  gpointer stream;
  gboolean pinned;
  gboolean results_pinned;
  guint8 *prediction;
  gsize prediction_stride;
  guint8 *residual;
  gsize residual_stride;
  guint n_fields;
  MotionField fields[MOTION_MAX_FIELDS];
  guint32 flags;
} MotionJob;

typedef struct _MotionEngine MotionEngine;

/* @context: (nullable): the CUDA context to compute in; %NULL for the CPU.
 * All memory is allocated here. */
MotionEngine *motion_engine_new (
    const MotionConfig *config, CvisContext *context, GError **error);
/* Waits for what is in flight. */
void motion_engine_free (MotionEngine *engine);

/* Hands the next frame over; CUDA starts on it, the CPU searches in
 * motion_engine_wait(). Submitting more than are allowed in flight is an
 * error. On FALSE the frame stays the caller's, and the stream goes on without
 * it. submit and end may run in one thread while wait runs in another. */
gboolean motion_engine_submit (
    MotionEngine *engine, MotionJob *job, GError **error);

/* Completes the frame that was submitted first and is still in flight, and
 * returns it in @job: %NULL if there is none, or it waits for frames to come.
 * On FALSE the frame is returned too, its results are not valid: its search
 * could not be started or did not end well. */
gboolean motion_engine_wait (
    MotionEngine *engine, MotionJob **job, GError **error);

/* Ends the stream: frames in flight wait for none to come, the next one
 * submitted is a first one. */
void motion_engine_end (MotionEngine *engine);

G_END_DECLS
