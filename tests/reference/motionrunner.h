/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Runs a motion engine repeatedly through a clip and times it, with one
 * reference, the frame before. Shared by tests on clips and benchmarks. */
#pragma once

#include "motionclips.h"
#include "cuda/motion/engine.h"

G_BEGIN_DECLS

typedef struct _MotionRunner MotionRunner;

/* @config: with the size of @clip, which outlives the runner. @context:
 *   (nullable): for CUDA; frames and results are then in pinned memory */
MotionRunner *motion_runner_new (const MotionConfig *config,
    CvisContext *context, const MotionClip *clip, GError **error);
void motion_runner_free (MotionRunner *runner);

/* Runs through the clip once as a stream of its own; each frame is submitted
 * after the one before is complete, so its time runs from host memory to
 * host memory. Keeps each frame's minimum over the rounds. */
gboolean motion_runner_round (MotionRunner *runner, GError **error);
/* Milliseconds a frame, without the first one: mean of the frames' minimum
 * times. */
gdouble motion_runner_get_ms (const MotionRunner *runner);

/* Runs @times through the clip as one stream, with as many frames in flight
 * as configured. @ms: (out): milliseconds a frame */
gboolean motion_runner_flow (
    MotionRunner *runner, guint times, gdouble *ms, GError **error);

/* Result of the last motion_runner_round() for frame 1..n-1. */
const MotionField *motion_runner_get_field (
    const MotionRunner *runner, guint frame);
/* Sum of its residues over all frames. */
guint64 motion_runner_get_residue (const MotionRunner *runner);

/* Whether both have found the same vectors and measures; if not, @why says
 * where. */
gboolean motion_runner_equal (
    const MotionRunner *a, const MotionRunner *b, gchar **why);

G_END_DECLS
