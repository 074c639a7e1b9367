/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A motion engine that goes through a clip again and again against the clock,
 * one reference, the frame before. What tests on clips and benches share. */
#pragma once

#include "motionclips.h"
#include "cuda/motion/engine.h"

G_BEGIN_DECLS

typedef struct _MotionRunner MotionRunner;

/* @config: with the sizes of @clip, which outlives the runner
 * @context: (nullable): for CUDA; the frames and results then lie in
 *   page-locked memory */
MotionRunner *motion_runner_new (const MotionConfig *config,
    CvisContext *context, const MotionClip *clip, GError **error);
void motion_runner_free (MotionRunner *runner);

/* Once through the clip as a stream of its own, each frame submitted when the
 * one before is complete, so that its time is from host memory to host memory.
 * Keeps the least time of each frame over the rounds. */
gboolean motion_runner_round (MotionRunner *runner, GError **error);
/* Milliseconds a frame, the first excepted: mean of the frames' least times. */
gdouble motion_runner_get_ms (const MotionRunner *runner);

/* @times through the clip as one stream, as many frames in flight as the
 * configuration has.
 * @ms: (out): milliseconds a frame */
gboolean motion_runner_flow (
    MotionRunner *runner, guint times, gdouble *ms, GError **error);

/* What the last motion_runner_round() found for frame 1..n-1. */
const MotionField *motion_runner_get_field (
    const MotionRunner *runner, guint frame);
/* Its residue, all frames together. */
guint64 motion_runner_get_residue (const MotionRunner *runner);

/* Whether both found the same vectors and measures; if not, @why says where. */
gboolean motion_runner_equal (
    const MotionRunner *a, const MotionRunner *b, gchar **why);

G_END_DECLS
