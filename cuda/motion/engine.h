/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The motion engine: frames in, fields of block motion vectors out, on the
 * CPU or on a CUDA device, with the same bits.
 *
 * Sources: J. Rodrigues, M. Bento, R. Coimbra, Accelerating a Video Encoder
 * through CUDA (full search, step search); the test zonal search of the HEVC
 * and VVC reference encoders; X. Q. Gao, C. J. Duanmu, C. R. Zou (IEEE
 * Trans. Image Processing 9, 2000) for the multilevel successive
 * elimination, which makes the full search fast without changing its result.
 * The definitions are in docs/design/motion.md. */
#pragma once

#include "cuda/core/backend.h"
#include "cuda/core/fleet/devices.h"
#include "cuda/records/motionrecord.h"

G_BEGIN_DECLS

typedef enum {
  MOTION_METHOD_FULL,       /* exact, with elimination */
  MOTION_METHOD_FULL_BRUTE, /* exact, computes every candidate */
  MOTION_METHOD_STEP,       /* coarse to fine grids */
  MOTION_METHOD_ZONAL,      /* predictors, diamonds, star refinement */
  MOTION_METHOD_FIELD,      /* regularised over neighbours: the true motion */
} MotionMethod;

/* Grids of the step search: points, and spacings for a range of 64 */
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
  MOTION_BORDER_PAD,    /* samples beyond the edge repeat the edge */
  MOTION_BORDER_INSIDE, /* only blocks entirely inside the reference */
} MotionBorder;

/* Which of several vectors of equal cost the full search selects */
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
 * @width, @height: of the searched pictures, pixels, 1..16384
 * @sampling: the middle sample of each square of this side of a frame is searched; a rest
 *   at the edge is ignored, 1..256
 * @depth: bits of a sample, 8 or 10
 * @block_size: side of a block, pixels: 8, 16, 32 or 64
 * @range: largest component of a vector, 1..128 pixels
 * @eliminate_all: for tests: the full search of the CUDA backend tries elimination on
 *   every block, of small pictures too; the result is the same
 * @lambda: cost of a bit of the vector in units of 8-bit samples, 0..255
 * @references: frames searched in each direction, 1..4
 * @bidirectional: also searches future frames
 * @threads: of the CPU backend; 0: one per processor
 * @depth_in_flight: frames that may be submitted and not waited for, 1..32,
 *   not counting those that wait for future frames
 * @chunk: largest number of consecutive frames between two calls of
 *   motion_engine_load(), for fleets (cuda/motion/fleet.h); 0: the engine gets all
 *   frames. With chunks the caller of motion_engine_wait() calls motion_finish()
 * @fields_only: nobody calls it: no constant blocks, summaries and duplicates
 */
typedef struct {
  guint width, height;
  guint sampling;
  guint depth;
  MotionMethod method;
  gboolean eliminate_all;
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
  guint chunk;
  gboolean fields_only;
} MotionConfig;

void motion_config_init (MotionConfig *config);
/* Returns: FALSE with CVIS_ERROR_INVALID naming the first field out of range. */
gboolean motion_config_check (const MotionConfig *config, GError **error);
/* Number of blocks across, and down. */
guint motion_config_get_columns (const MotionConfig *config);
guint motion_config_get_rows (const MotionConfig *config);
/* Largest number of fields of a frame. */
guint motion_config_get_n_fields (const MotionConfig *config);
/* Whether the vectors of a frame depend on those of the frame before. */
gboolean motion_config_needs_prior (const MotionConfig *config);

/**
 * MotionField: vectors of all blocks to one reference
 * @vectors, @blocks: memory for columns * rows entries each, raster order
 * @distance: (out): frames from this frame to the reference; -1: the frame
 *   before
 * @summary: (out): of the field
 */
typedef struct {
  CvisMotionVector *vectors;
  CvisMotionBlock *blocks;
  gint distance;
  CvisMotionSummary summary;
} MotionField;

/**
 * MotionJob: a frame. It belongs to the engine from motion_engine_submit()
 * until motion_engine_wait() returns it, and so does the memory it points to
 * @luma: first sample; one byte each with a depth of 8, otherwise two bytes,
 *   little endian
 * @stride: bytes from row to row
 * @shift: the value is the sample shifted right by this many bits (P010: 6):
 *   with a depth of 10 from 0 to 6, otherwise 0; bits above the depth are
 *   ignored
 * @on_device: @luma is a device pointer (CUDA only). It is read before
 *   motion_engine_submit() returns, after the work on the CUDA stream
 *   @stream (a CUstream; %NULL: the legacy default stream)
 * @context: (nullable): with @on_device, the context of @luma and @stream; %NULL:
 *   the engine's. From another context, also of another device, the frame is
 *   copied; an engine over several devices needs it
 * @pinned: @luma is in memory of cvis_pinned_alloc(): copied directly,
 *   otherwise through pinned memory
 * @results_pinned: all vectors and blocks are in memory of
 *   cvis_pinned_alloc() or, with @fields_only of the config, of the device
 * @prediction: (nullable): receives the luma predicted from the vectors,
 *   each block from the reference with the least cost (the first of @fields
 *   if equal); one byte each, or with a depth of 10 two bytes, the value
 *   shifted left by 6
 * @residual: (nullable): receives frame - prediction + the middle of the
 *   range (128, 512), clipped, in the same format
 * @prediction_stride, @residual_stride: bytes from row to row
 * @n_fields: (out): number of fields, fewer than possible at either end of a
 *   stream. A frame without fields (the first one, if no future frame is
 *   searched) is predicted as 128 (512) everywhere
 * @fields: the caller sets @vectors and @blocks of all possible fields; in
 *   the order of distances -1, +1, -2, +2, ... without missing ones
 * @flags: (out): CVIS_MOTION_FRAME_FIRST, CVIS_MOTION_FRAME_DUPLICATE; with
 *   MOTION_METHOD_FIELD, CVIS_MOTION_FRAME_NOISE and the noise level
 */
typedef struct {
  const guint8 *luma;
  gsize stride;
  guint shift;
  gboolean on_device;
  gpointer stream;
  CvisContext *context;
  gboolean pinned;
  gboolean results_pinned;
  guint8 *prediction;
  gsize prediction_stride;
  guint8 *residual;
  gsize residual_stride;
  guint n_fields;
  MotionField fields[CVIS_MOTION_MAX_FIELDS];
  guint32 flags;
} MotionJob;

typedef struct _MotionEngine MotionEngine;

/* Consecutive frames that a device of several searches */
#define MOTION_CHUNK 4

/* Allocates all memory. @context: (nullable): the CUDA context to compute
 * in; %NULL: the CPU. Returns: %NULL with CVIS_ERROR_INVALID, _MEMORY or
 * _CUDA */
MotionEngine *motion_engine_new (
    const MotionConfig *config, CvisContext *context, GError **error);
/* The same over several devices, with the bits of one: each searches chunks of
 * MOTION_CHUNK frames. The luma, in system memory, is copied. @config: without
 * motion_config_needs_prior(); depth_in_flight is that of each device */
MotionEngine *motion_engine_new_over (const MotionConfig *config,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error);
/* Frames in flight at most, also those that wait for future frames. */
guint motion_engine_get_depth (MotionEngine *engine);
/* Returns: (nullable): the fleet of an engine over several devices */
CvisFleet *motion_engine_get_fleet (MotionEngine *engine);
/* Waits for frames in flight and frees the engine. */
void motion_engine_free (MotionEngine *engine);

/* Reports the error of @job that motion_engine_submit() would; for any thread. */
gboolean motion_engine_check (
    MotionEngine *engine, const MotionJob *job, GError **error);

/* Submits the next frame. CUDA starts at once, the CPU searches in
 * motion_engine_wait(). More frames than allowed in flight are an error. On
 * FALSE the caller keeps the frame and the stream continues without it.
 * submit and end may run in one thread while wait runs in another. */
gboolean motion_engine_submit (
    MotionEngine *engine, MotionJob *job, GError **error);

/* Stores the next frame as a reference and does not search it; with chunks.
 * The results are not written. The frames before a chunk are loaded after
 * motion_engine_end(), then at most `chunk` frames are submitted and those after the
 * chunk loaded. @job belongs to the engine until all frames of that chunk have been waited
 * for. At most two chunks may have frames in flight. For the thread that submits. */
gboolean motion_engine_load (
    MotionEngine *engine, MotionJob *job, GError **error);

/* Completes the oldest frame in flight and returns it in @job: %NULL if
 * there is none or it waits for future frames. On FALSE the frame is
 * returned too, but its results are not valid: its search did not start or
 * failed. */
gboolean motion_engine_wait (
    MotionEngine *engine, MotionJob **job, GError **error);

/* Ends the stream: frames in flight do not wait for future frames, and the
 * next frame submitted is the first of a new stream. */
void motion_engine_end (MotionEngine *engine);

G_END_DECLS
