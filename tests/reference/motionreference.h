/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The plain C reference implementation of the motion search:
 * docs/design/motion.md sentence by sentence, slow, without state, without
 * any trick of the backends. */
#pragma once

#include "cuda/motion/backend.h"
#include "cuda/motion/field.h"

/**
 * MotionPicture: luma as numbers
 * @full: samples in full depth, row by row without gaps
 * @search: the same with 8 bits, for the search
 */
typedef struct {
  guint width, height, depth;
  guint16 *full;
  guint16 *search;
} MotionPicture;

/* Converts the luma of @job: shifted, bits above the depth ignored. */
MotionPicture *motion_picture_new (
    const MotionConfig *config, const MotionJob *job);
void motion_picture_free (MotionPicture *picture);

/* Searches every block of @current in @reference.
 * @prior: (nullable): the prior field's vectors
 * @vectors, @blocks: (out): columns * rows of them */
void motion_reference_search (const MotionConfig *config,
    const MotionPicture *current, const MotionPicture *reference,
    const CvisMotionVector *prior, CvisMotionVector *vectors,
    CvisMotionBlock *blocks);

/* The vectors of method=field, quarter pixels, and what their confidence is made from:
 * columns * rows of them. */
void motion_reference_field (const MotionConfig *config,
    const MotionPicture *current, const MotionPicture *reference,
    MotionFieldVector *vectors, MotionFieldEvidence *evidence);

/* Noise of a picture, 1/16 levels of 8 bits. */
gint32 motion_reference_noise (const MotionPicture *picture);

/* The prediction of a frame from @n_fields fields and their references, and
 * the residual: width * height samples in full depth, not shifted, each. */
void motion_reference_predict (const MotionConfig *config,
    const MotionPicture *current, const MotionPicture *const *references,
    const MotionField *fields, guint n_fields, guint16 *prediction,
    guint16 *residual);

/* Writes width * height samples in the format of a job's prediction or
 * residual plane; nothing if @plane is %NULL. */
void motion_reference_store (const MotionConfig *config, const guint16 *samples,
    guint8 *plane, gsize stride);

/* A backend that calls the reference implementation, to try the engine's
 * front end with. */
extern const MotionBackendOps motion_backend_reference;
