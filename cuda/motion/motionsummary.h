/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From a field's vectors and blocks to its summary; the same code for every
 * backend. */
#pragma once

#include "motionengine.h"

G_BEGIN_DECLS

/* Fills @field->summary. */
void motion_summarise (const MotionConfig *config, MotionField *field);

/* The global motion of @field: translation, zoom and rotation round the
 * frame's centre, by least squares over the blocks that agree with it. Part of
 * motion_summarise(). */
void motion_find_global (
    const MotionConfig *config, const MotionField *field, MotionSummary *into);

/**
 * MotionSceneDetector: finds the first frames of scenes
 * @threshold: of the scene score, 0..1; 0: off
 *
 * A frame is one when its score reaches the threshold and stands out from the
 * frame before, so that noise, flicker and fast motion, which last, are none.
 * Zero the rest for a new stream.
 */
typedef struct {
  gdouble threshold;
  gdouble previous;
  guint64 frames;
} MotionSceneDetector;

/* @backward: the summary of the field of distance -1; %NULL for a frame without
 * it. Returns: whether the frame is the first of a scene. */
gboolean motion_scene_detect (
    MotionSceneDetector *detector, const MotionSummary *backward);

G_END_DECLS
