/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Summary of a field from its vectors and blocks; the same code for every
 * backend. */
#pragma once

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/* Confidence from which a rated vector counts for global motion and regions */
#define MOTION_CONFIDENT 128

/* Fills @field->summary. */
void motion_summarise (const MotionConfig *config, MotionField *field);

/* Global motion of @field: translation, zoom and rotation around the frame's
 * centre, by least squares over the blocks that agree with it. Part of
 * motion_summarise(). */
void motion_find_global (const MotionConfig *config, const MotionField *field,
    CvisMotionSummary *into);

/* Largest number of cells across and down in the detector's texture map */
#define MOTION_SCENE_CELLS 16
/* Separates all cuts of the test clips from everything else */
#define MOTION_SCENE_THRESHOLD 0.5

/**
 * MotionSceneDetector: finds the first frames of scenes
 * @threshold: on a frame's novelty, 0..1; 0: off; default
 *   MOTION_SCENE_THRESHOLD. May be changed at any time
 * @previous: novelty of the frame before
 * @frames: number of frames with a novelty
 * @used, @unexplained, @intra: of the cells of the frame before: whether
 *   they were compared; sums over their blocks
 * @has_texture, @texture: texture map of the last frame with content
 *
 * Novelty is the scene score times 1 - c^2, with c >= 0 the correlation of
 * the texture maps of the frame and the one before. Blocks with the flag
 * CVIS_MOTION_BLOCK_CONSTANT are left out of both. Within a scene, motion
 * explains the frame, or, if the light changes, the texture stays in place.
 * A frame is the first of a scene if its novelty reaches the threshold and
 * exceeds that of the frame before by at least half the threshold. So noise,
 * and motion too fast for the search, which persist, are not detected. The
 * second frame of a stream is never detected, because it has no frame to
 * compare its novelty with.
 *
 * For a new stream zero everything except @threshold.
 */
typedef struct {
  gdouble threshold;
  gdouble previous;
  guint64 frames;
  gboolean has_texture;
  gdouble texture[MOTION_SCENE_CELLS * MOTION_SCENE_CELLS];
  gboolean used[MOTION_SCENE_CELLS * MOTION_SCENE_CELLS];
  gdouble unexplained[MOTION_SCENE_CELLS * MOTION_SCENE_CELLS];
  gdouble intra[MOTION_SCENE_CELLS * MOTION_SCENE_CELLS];
} MotionSceneDetector;

/* @backward: the frame's field of distance -1, with its summary; %NULL for
 *   the first frame of a stream. Call it for every frame. Returns: whether
 *   the frame is the first of a scene */
gboolean motion_scene_detect (MotionSceneDetector *detector,
    const MotionConfig *config, const MotionField *backward);

G_END_DECLS
