/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A straightforward full search: a baseline for comparison. */
#pragma once

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/* Searches every candidate of every block of @current in @reference, planes
 * of 8 bits without padding, with config->tie = raster and lambda = 0; one
 * thread, sample by sample, without early termination.
 * @vectors: (out): whole-pixel vectors and SADs
 * Returns: the sum of the SADs */
guint64 motion_scalar_full (const MotionConfig *config, const guint8 *current,
    const guint8 *reference, CvisMotionVector *vectors);

G_END_DECLS
