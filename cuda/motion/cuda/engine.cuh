/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Structures and launch functions that the motion kernels and the host side of
 * the CUDA backend share. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/motion/layout.h"
#include "cuda/motion/arithmetic.h"

/* The result of a block's search, in whole pixels and costs of 8-bit samples. */
typedef struct {
  gint16 x, y;               /* the best */
  gint16 second_x, second_y; /* the second best */
  guint32 cost;              /* of the best */
  guint32 second;            /* of the second; G_MAXUINT32: there is none */
} MotionFound;

/* The full search's state of a block; an array of them for all fields, one after
 * the other. motion_clear_full() sets all bits before the first search.
 * Of a block that several thread blocks compute by brute force; all bits are set
 * before and after a search:
 * @best, @second: the least keys of candidates
 * @parts: parts that are done, less 1
 * @alike: 1: the pyramid says that most candidates look like the best, so
 *   elimination cannot help and the block is in the queue already
 * Of element i of the array, not of block i:
 * @queued: the i-th block in the queue for the brute force; all bits are set
 *   before and after
 * @order: the i-th block to be eliminated; one search reads an order and writes
 *   the other for the next */
typedef struct {
  unsigned long long best, second;
  guint32 parts, alike;
  guint32 queued, order[2];
} MotionFullBlock;

/* The progress of a full search. Zero before the first search; the members up to
 * @ended are zero after each.
 * @begun: blocks taken for elimination
 * @done: blocks that are eliminated or in the queue
 * @queued: blocks in the queue
 * @taken: parts taken by thread blocks; with the brute force alone, those beyond
 *   the first of each thread block
 * @waiting: thread blocks that have found nothing to do
 * @slow, @quick: blocks that the next search does first and last
 * @ended: thread blocks that have ended
 * @ordered: length of the order
 * @parity: index of the order that is read */
typedef struct {
  guint32 begun, done, queued, taken, waiting, slow, quick, ended;
  guint32 ordered, parity;
} MotionFullProgress;

/* A field to be searched.
 * @prior: vectors of the same field of the frame before, without their costs;
 *   NULL if it has none. If they decide nothing, any vectors of the field to
 *   begin with
 * @predicted: for each block the vector that the pyramid says, whole pixels
 * @vectors, @kept: where the final vectors go: to the host, and for the next
 *   frame's prior */
typedef struct {
  MotionDevicePicture reference;
  const MotionVector *prior;
  short2 *predicted;
  MotionFound *found;
  MotionVector *vectors;
  MotionVector *kept;
  MotionBlock *blocks;
} MotionDeviceField;

/* A frame's searches, a kernel's only parameter. */
typedef struct {
  MotionConfig config;
  MotionLayout layout;
  guint32 columns, n_blocks, n_fields;
  MotionDevicePicture current;
  MotionDeviceField fields[MOTION_MAX_FIELDS];
  guint8 *prediction, *residual; /* nullable; rows of staged_pitch bytes */
  MotionFullBlock
      *full_blocks; /* of all blocks of all fields; for the full search */
  MotionFullProgress *progress; /* likewise */
  guint32 try_all; /* no block is queued before its elimination is tried */
  unsigned long long *counters; /* nullable; see MotionCounter */
} MotionDeviceTask;

/* Candidates that elimination leaves, summed over the blocks, for benches. */
typedef enum {
  MOTION_COUNT_CANDIDATES,
  MOTION_COUNT_COARSE, /* candidates that the coarsest sums leave */
  MOTION_COUNT_MIDDLE,
  MOTION_COUNT_FINE,
  MOTION_COUNT_BRUTE, /* blocks searched by every candidate */
  MOTION_N_COUNTERS,
} MotionCounter;

/* Makes a picture of a staged frame: planes with their borders; quarter and
 * sums only where they are given. */
cudaError_t motion_launch_load (const MotionConfig *config,
    const MotionLayout *layout, const guint8 *staged, guint shift,
    const MotionDevicePicture *picture, cudaStream_t stream);

/* Fills the sums of a picture whose search plane is there. */
cudaError_t motion_launch_sums (const MotionLayout *layout,
    const MotionDevicePicture *picture, cudaStream_t stream);

/* Fills predicted of all fields; for the full search queues blocks that are alike
 * everywhere. */
cudaError_t motion_launch_pyramid (
    const MotionDeviceTask *task, cudaStream_t stream);

/* Fill found of all fields. */
cudaError_t motion_launch_step (
    const MotionDeviceTask *task, cudaStream_t stream);
/* @kept_there: (nullable): there once kept is filled; on some devices before, but
 * not for the next zonal search, which waits for it itself */
cudaError_t motion_launch_zonal (
    const MotionDeviceTask *task, cudaEvent_t kept_there, cudaStream_t stream);

/* The brute force's tiles of a block's candidates, for the shared
 * memory that the device has. */
typedef struct {
  guint32 rows;     /* candidates down, at most */
  guint32 bytes;    /* shared memory of a thread block */
  guint32 resident; /* thread blocks that the device holds at once */
} MotionTile;

/* To be called once for a device, before the next; fails where the device has
 * too little shared memory. */
cudaError_t motion_prepare_full (const MotionConfig *config, MotionTile *tile);
/* Whether a search by elimination, prepared as @tile, is worth it for pictures
 * as small as @config's. */
gboolean motion_can_eliminate (
    const MotionConfig *config, const MotionTile *tile);
/* Sets the full search's state of @n blocks before the first search. */
cudaError_t motion_clear_full (MotionFullBlock *full_blocks,
    MotionFullProgress *progress, gsize n, cudaStream_t stream);
/* The full search, by elimination if that is the method. */
cudaError_t motion_launch_full (
    const MotionDeviceTask *task, const MotionTile *tile, cudaStream_t stream);

/* From found to vectors, kept and blocks: between the pixels, measures. */
cudaError_t motion_launch_finish (
    const MotionDeviceTask *task, cudaStream_t stream);
/* Whether the prior fields are part of what is computed. */
gboolean motion_needs_prior (const MotionConfig *config);
/* Whether the search itself fills kept, so that the next one need not wait for
 * what follows on it. (With a price what follows reads the prior field, which the
 * search after the next one overwrites.) */
MOTION_FN gboolean
motion_keeps_early (const MotionConfig *config)
{
  return config->method == MOTION_METHOD_ZONAL && config->lambda == 0
         && config->subpel == MOTION_SUBPEL_NONE;
}

/* Whether motion_launch_pyramid() is called before motion_launch_search(), in a
 * stream where it waits for nothing but the pictures. (For the full search that
 * calls it, as it queues blocks among those of the search before.) */
MOTION_FN gboolean
motion_predicts_ahead (const MotionConfig *config)
{
  return config->method == MOTION_METHOD_ZONAL;
}

/* All kernels of the searches of a frame whose pictures are there, and predicted,
 * where it is filled ahead.
 * @tile: of the full search
 * @prior_there: what is waited for where the prior fields are needed
 * @kept_there: recorded once kept is filled */
cudaError_t motion_launch_search (const MotionDeviceTask *task,
    const MotionTile *tile, cudaEvent_t prior_there, cudaEvent_t kept_there,
    cudaStream_t stream);
/* From vectors and blocks to prediction and residual. */
cudaError_t motion_launch_predict (
    const MotionDeviceTask *task, cudaStream_t stream);
