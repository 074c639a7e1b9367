/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Structures and launch functions shared by the motion kernels and the host
 * side of the CUDA backend. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/motion/layout.h"
#include "cuda/motion/arithmetic.h"

/* Result of a block's search: whole pixels, costs of 8-bit samples. With
 * MOTION_METHOD_FIELD x and y are quarter pixels, and cost is the confidence. */
typedef struct {
  gint16 x, y;               /* best vector */
  gint16 second_x, second_y; /* second best vector */
  guint32 cost;              /* of the best */
  guint32 second;            /* of the second best; G_MAXUINT32: none */
} MotionFound;

/* State of the full search for each block, in one array over all fields.
 * motion_clear_full() sets all bits before the first search.
 * Of a block that several thread blocks compute by brute force; all bits are
 * set before and after a search:
 * @best, @second: the smallest keys of the candidates
 * @parts: parts that are finished, minus 1
 * @alike: 1: by the pyramid most candidates are as good as the best, so
 *   elimination cannot help, and the block is already queued
 * Of entry i of the array, not of block i:
 * @queued: block at position i of the queue for brute force; all bits are
 *   set before and after a search
 * @order: block to eliminate at position i; a search reads one order and
 *   writes the other for the next search */
typedef struct {
  unsigned long long best, second;
  guint32 parts, alike;
  guint32 queued, order[2];
} MotionFullBlock;

/* Progress of a full search. Zero before the first search; the members up to
 * @ended are zero after each search.
 * @begun: blocks taken for elimination
 * @done: blocks that are eliminated or queued
 * @queued: blocks in the queue
 * @taken: parts taken by thread blocks; with brute force only, those after
 *   the first of each thread block
 * @waiting: thread blocks that have found no work
 * @slow, @quick: blocks that the next search does first and last
 * @ended: thread blocks that have ended
 * @ordered: length of the order
 * @parity: index of the order to read */
typedef struct {
  guint32 begun, done, queued, taken, waiting, slow, quick, ended;
  guint32 ordered, parity;
} MotionFullProgress;

/* Blocks of a level of a regularised field.
 * @vectors: of three passes in turn */
typedef struct {
  gint32 columns, rows, n;
  short2 *vectors[3];
  short2 *inherited, *expected;
  gint32 *weights;
} MotionFieldGrid;

#define MOTION_FIELD_BINS (2 * 4 * 129 + 1)

/* Numbers that the kernels of a regularised field pass on. All zero before the
 * first search.
 * @counts: blocks with each x and y, from -4 * 129 on; zero after each use
 * @ended: thread blocks that have ended; zero after each use
 * @dominant: candidate of all blocks of the level
 * @queued: blocks that search on their own; @remaining: those of the last search
 * @lit: samples of level 0 of the frame are compared as @light */
typedef struct {
  guint32 counts[2][MOTION_FIELD_BINS];
  guint32 ended, queued, remaining;
  MotionFieldArea area;
  MotionFieldVector dominant;
  gboolean lit;
  guint8 light[256];
} MotionFieldState;

/* Memory of the regularised fields of a search. The pointers are those of the first
 * field; @stride is the number of bytes from there to the next.
 * @costs, @sums: of all vectors of the coarsest level: of each block, of all blocks;
 *   the sums are zero after each use
 * @cells: of the squares of 2 x 2 blocks, of 4 x 4, ...
 * @means: of the blocks of level 1; see field_means_kernel()
 * @queue: blocks that search on their own, then those of the last search */
typedef struct {
  gsize stride;
  MotionFieldGrid grids[MOTION_FIELD_LEVELS];
  MotionFieldState *state;
  guint16 *costs;
  unsigned long long *sums;
  MotionFieldCell *cells;
  int2 *means;
  gint32 *ambiguities;
  gint32 *gains; /* see motion_field_settles() */
  guint32 *queue;
} MotionFieldMemory;

/* A field to search.
 * @prior: vectors of the same field of the frame before, without their
 *   costs; NULL: none. If priors do not affect the result, any earlier
 *   vectors of the field
 * @predicted: the pyramid's vector of each block, whole pixels
 * @vectors, @kept: destinations of the final vectors: for the host, and as
 *   prior of the next frame */
typedef struct {
  MotionDevicePicture reference;
  const CvisMotionVector *prior;
  short2 *predicted;
  MotionFound *found;
  CvisMotionVector *vectors;
  CvisMotionVector *kept;
  CvisMotionBlock *blocks;
} MotionDeviceField;

/* The searches of a frame, the only parameter of a kernel. */
typedef struct {
  MotionConfig config;
  MotionLayout layout;
  guint32 columns, n_blocks, n_fields;
  MotionDevicePicture current;
  MotionDeviceField fields[CVIS_MOTION_MAX_FIELDS];
  guint8 *prediction, *residual; /* nullable; rows of staged_pitch bytes */
  MotionFullBlock
      *full_blocks; /* of all blocks of all fields; for the full search */
  MotionFullProgress *progress; /* one for each search */
  MotionFieldMemory memory;     /* for method=field */
  unsigned long long *counters; /* nullable; see MotionCounter */
} MotionDeviceTask;

/* Counters of candidates left by each level, summed over the blocks; for
 * benchmarks. */
typedef enum {
  MOTION_COUNT_CANDIDATES,
  MOTION_COUNT_COARSE, /* candidates left by the coarsest sums */
  MOTION_COUNT_MIDDLE,
  MOTION_COUNT_FINE,
  MOTION_COUNT_BRUTE, /* blocks computed by brute force */
  MOTION_N_COUNTERS,
} MotionCounter;

/* Copies every config->sampling-th sample from @luma, the first one, to @staged. */
cudaError_t motion_launch_sample (const MotionConfig *config,
    const MotionLayout *layout, const guint8 *luma, gsize stride,
    guint8 *staged, cudaStream_t stream);

/* Prepares a picture from a staged frame: planes with borders; quarter and
 * sums only if their pointers are set. */
cudaError_t motion_launch_load (const MotionConfig *config,
    const MotionLayout *layout, const guint8 *staged, guint shift,
    const MotionDevicePicture *picture, cudaStream_t stream);

/* Computes the sums of a picture from its search plane. */
cudaError_t motion_launch_sums (const MotionLayout *layout,
    const MotionDevicePicture *picture, cudaStream_t stream);

/* Computes predicted of all fields; for the full search also queues the
 * blocks that look alike everywhere. */
cudaError_t motion_launch_pyramid (
    const MotionDeviceTask *task, cudaStream_t stream);

/* Computes found of all fields. */
cudaError_t motion_launch_step (
    const MotionDeviceTask *task, cudaStream_t stream);
/* @kept_there: (nullable): recorded once kept is written, or on devices with
 *   programmatic launch earlier; the next zonal search then waits for kept
 *   itself */
cudaError_t motion_launch_zonal (
    const MotionDeviceTask *task, cudaEvent_t kept_there, cudaStream_t stream);

/* Tile of candidates that fits the device's shared memory, for brute force. */
typedef struct {
  guint32 rows;     /* rows of candidates, at most */
  guint32 bytes;    /* shared memory of a thread block */
  guint32 resident; /* thread blocks that the device runs at once */
} MotionTile;

/* Call once for a device, before motion_can_eliminate(). Fails if the device
 * has too little shared memory. */
cudaError_t motion_prepare_full (const MotionConfig *config, MotionTile *tile);
/* Whether elimination is faster than brute force for pictures of @config's
 * size; @tile comes from motion_prepare_full(). */
gboolean motion_can_eliminate (
    const MotionConfig *config, const MotionTile *tile);
/* Initialises the full search's state of @n blocks before the first search. */
cudaError_t motion_clear_full (MotionFullBlock *full_blocks,
    MotionFullProgress *progress, gsize n, cudaStream_t stream);
/* The full search, with elimination if the method is MOTION_METHOD_FULL. */
cudaError_t motion_launch_full (
    const MotionDeviceTask *task, const MotionTile *tile, cudaStream_t stream);

/* Places what a field's search needs in @memory, as for motion_picture_cut().
 * Returns: bytes of memory for a field */
gsize motion_field_memory_cut (
    const MotionConfig *config, guint8 *memory, MotionFieldMemory *result);
/* Makes levels, halves, lines and survey of a picture from its search plane. */
cudaError_t motion_launch_field_picture (const MotionConfig *config,
    const MotionLayout *layout, const MotionDevicePicture *picture,
    cudaStream_t stream);
/* The regularised fields: computes vectors and blocks, or found with a depth of
 * 10. */
cudaError_t motion_launch_field (
    const MotionDeviceTask *task, cudaStream_t stream);
/* Its steps, called by motion_launch_field(): the levels above 0, then level 0, then
 * what follows the passes. @vectors: index of the final vectors of the level */
cudaError_t motion_launch_field_above (
    const MotionDeviceTask *task, guint *vectors, cudaStream_t stream);
cudaError_t motion_launch_field_finish (
    const MotionDeviceTask *task, guint vectors, cudaStream_t stream);
/* Their steps. */
cudaError_t motion_launch_field_coarsest (
    const MotionDeviceTask *task, cudaStream_t stream);
/* @above: the final vectors of the level above
 * Returns: @result: index of the final vectors */
cudaError_t motion_launch_field_level (const MotionDeviceTask *task,
    guint level, guint above, guint *result, cudaStream_t stream);
/* Computes weights and expected vectors from vectors[@from]. */
cudaError_t motion_launch_field_expected (
    const MotionDeviceTask *task, guint level, guint from, cudaStream_t stream);
/* Finds the change of light from the vectors of level 1. */
cudaError_t motion_launch_field_light (
    const MotionDeviceTask *task, guint vectors, cudaStream_t stream);
cudaError_t motion_launch_field_ambiguity (
    const MotionDeviceTask *task, guint vectors, cudaStream_t stream);

/* Computes vectors, kept and blocks from found: subpixel refinement and
 * measures. */
cudaError_t motion_launch_finish (
    const MotionDeviceTask *task, cudaStream_t stream);
/* Whether the search itself writes kept, so that the next search does not
 * wait for the kernels after it. (With lambda > 0 these kernels read the
 * prior field, which the search after the next overwrites.) */
MOTION_FN gboolean
motion_keeps_early (const MotionConfig *config)
{
  return config->method == MOTION_METHOD_ZONAL && config->lambda == 0
         && config->subpel == MOTION_SUBPEL_NONE;
}

/* Whether motion_launch_pyramid() is called before motion_launch_search(),
 * on a stream that waits for the pictures only. (The full search calls it
 * itself, because it queues blocks.) */
MOTION_FN gboolean
motion_predicts_ahead (const MotionConfig *config)
{
  return config->method == MOTION_METHOD_ZONAL;
}

/* Launches all kernels of a frame's searches. Its pictures are prepared, and
 * so is predicted if motion_launch_pyramid() is called ahead.
 * @tile: of the full search
 * @prior_there: event to wait for before the prior fields are read
 * @kept_there: recorded once kept is written */
cudaError_t motion_launch_search (const MotionDeviceTask *task,
    const MotionTile *tile, cudaEvent_t prior_there, cudaEvent_t kept_there,
    cudaStream_t stream);
/* Computes prediction and residual from vectors and blocks. */
cudaError_t motion_launch_predict (
    const MotionDeviceTask *task, cudaStream_t stream);
