/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Frames that a melt-pool engine must get right, made from a seed: pools,
 * spatters, noise, checkerboards, lines, constants, and what to be told about
 * them. For tests and benchmarks; not a simulation (that is pbfsim). */
#pragma once

#include "cuda/meltpool/engine.h"

G_BEGIN_DECLS

typedef struct {
  guint64 state;
} PbfRandom;

guint32 pbf_random (PbfRandom *random);
/* 0 <= number < n */
guint pbf_random_below (PbfRandom *random, guint n);
gdouble pbf_random_unit (PbfRandom *random);

/* Fills a frame of kind @kind % PBF_FRAME_KINDS. The bytes between width and
 * stride are set to 255, which nobody may read. */
#define PBF_FRAME_KINDS 10
void pbf_frame_fill (PbfRandom *random, guint kind, guint8 *frame, guint width,
    guint height, guint stride);

/* About a frame: any position, in or off the frame, any entry, some losses and
 * changes of vector and layer. */
void pbf_frame_info (PbfRandom *random, guint64 index, guint width,
    guint height, PbfFrameInfo *info);

/* A network of random weights. */
PbfModel *pbf_random_model (PbfRandom *random, guint hidden, guint outputs);

G_END_DECLS
