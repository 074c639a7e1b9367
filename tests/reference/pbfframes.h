/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Difficult frames for a melt-pool engine, made from a seed: melt pools,
 * spatters, noise, checkerboards, lines, constants, and their frame infos.
 * For tests and benchmarks; pbfsim is the simulator. */
#pragma once

#include "cuda/meltpool/engine.h"

G_BEGIN_DECLS

typedef struct {
  guint64 state;
} PbfRandom;

/* 0 <= number < n */
guint pbf_random_below (PbfRandom *random, guint n);
gdouble pbf_random_unit (PbfRandom *random);

/* Fills a frame of kind @kind % PBF_FRAME_KINDS. The bytes between width and
 * stride are 255 and must not be used. */
#define PBF_FRAME_KINDS 10
void pbf_frame_fill (PbfRandom *random, guint kind, guint8 *frame, guint width,
    guint height, guint stride);

/* A random frame info: any position, inside or outside the frame, any entry,
 * some losses and changes of vector and layer. */
void pbf_frame_info (PbfRandom *random, guint64 index, guint width,
    guint height, PbfFrameInfo *info);

/* A network with random weights. */
PbfModel *pbf_random_model (PbfRandom *random, guint hidden, guint outputs);

G_END_DECLS
