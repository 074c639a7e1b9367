/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Marks the blocks that carry nothing: bars, logos, tickers, a still picture
 * around the moving one. The same code for every backend; the definition is in
 * docs/design/motion.md, Constant parts. */
#pragma once

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

typedef struct _MotionConstant MotionConstant;

/* Returns: %NULL with CVIS_ERROR_MEMORY */
MotionConstant *motion_constant_new (
    const MotionConfig *config, GError **error);
void motion_constant_free (MotionConstant *constant);
/* Forgets the frames so far: the next one is the first of a stream. */
void motion_constant_restart (MotionConstant *constant);

/* Sets CVIS_MOTION_BLOCK_CONSTANT in all @n_fields fields of a frame, from the
 * first of them, which has the distance -1 except at the beginning of a
 * stream. At least one block of a field stays unmarked. Call it once for
 * each frame, in the order of the stream. */
void motion_constant_mark (
    MotionConstant *constant, MotionField *fields, guint n_fields);
/* Number of blocks of @field without CVIS_MOTION_BLOCK_CONSTANT, and of their
 * samples in @samples. */
guint motion_count_used (
    const MotionConfig *config, const MotionField *field, guint64 *samples);

G_END_DECLS
