/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* From a field's vectors and blocks to its summary; the same code for every
 * backend. */
#pragma once

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/* Fills @field->summary. */
void motion_summarise (const MotionConfig *config, MotionField *field);

/* The global motion of @field: translation, zoom and rotation round the
 * frame's centre, by least squares over the blocks that agree with it. Part of
 * motion_summarise(). */
void motion_find_global (
    const MotionConfig *config, const MotionField *field, MotionSummary *into);

/* Cells across and down, at most, of the detector's map of a frame */
#define MOTION_SCENE_CELLS 16
/* Separates all cuts of the clips tried from everything else */
#define MOTION_SCENE_THRESHOLD 0.5

/**
 * MotionSceneDetector: finds the first frames of scenes
 * @threshold: of a frame's novelty, 0..1; 0: off. MOTION_SCENE_THRESHOLD; may be
 *   changed at any time
 * @previous: novelty of the frame before
 * @frames: that had one
 * @has_texture, @texture: how rough the last frame was in each cell that showed
 *   anything
 *
 * Novelty is the scene score times 1 - c^2, c the correlation (at least 0) of
 * how rough the frame and the one before are in which place. Motion explains a
 * frame of the same scene or, where light changes, the frame remains rough where
 * it was. A frame is the first of a scene if its novelty reaches the threshold
 * and is higher than that of the frame before by at least half the threshold, so
 * that noise, and motion too fast for the search, which last, are none. Nothing
 * is found in a stream's second frame, as it has nothing to stand out from.
 *
 * Zero all but @threshold for a new stream.
 */
typedef struct {
  gdouble threshold;
  gdouble previous;
  guint64 frames;
  gboolean has_texture;
  gdouble texture[MOTION_SCENE_CELLS][MOTION_SCENE_CELLS];
} MotionSceneDetector;

/* @backward: the frame's field of distance -1, with its summary; %NULL for a
 * frame without it, which begins a new stream. To be called for every frame.
 * Returns: whether the frame is the first of a scene. */
gboolean motion_scene_detect (MotionSceneDetector *detector,
    const MotionConfig *config, const MotionField *backward);

G_END_DECLS
