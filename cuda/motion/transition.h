/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Dissolves and fades of a stream, from the blocks of its frames; docs/design/motion.md,
 * Transitions. Called by cudamotionest and scenelist.c. One thread for each detector. */
#pragma once

#include "cuda/records/motionrecord.h"

G_BEGIN_DECLS

typedef enum {
  MOTION_DISSOLVE, /* one scene into another */
  MOTION_FADE_OUT, /* a scene into black, white or another colour */
  MOTION_FADE_IN,
} MotionTransitionKind;

/**
 * MotionTransition:
 * @start: number of the first frame that is mixed
 * @end: number of the first frame after it: of a dissolve and a fade-in, the first one
 *   that shows only the new scene
 * @start_pts, @end_pts: of these frames, ns; G_MAXUINT64: unknown
 */
typedef struct {
  MotionTransitionKind kind;
  guint64 start, end;
  guint64 start_pts, end_pts;
} MotionTransition;

typedef struct _MotionTransitionDetector MotionTransitionDetector;

MotionTransitionDetector *motion_transition_detector_new (void);
void motion_transition_detector_free (MotionTransitionDetector *detector);

/* Adds the next frame. A transition is known some frames after its end.
 * @blocks: (nullable): of any field of the packet; %NULL begins a stream
 * @pts: ns; G_MAXUINT64: unknown
 * Returns: whether @found is filled in */
gboolean motion_transition_detector_add (MotionTransitionDetector *detector,
    const CvisMotionPacket *packet, const CvisMotionBlock *blocks, guint64 pts,
    MotionTransition *found);

/* The same at the end of the stream; the next frame begins another one. */
gboolean motion_transition_detector_end (
    MotionTransitionDetector *detector, MotionTransition *found);

/* "dissolve", "fade-out" or "fade-in" */
const gchar *motion_transition_kind_get_name (MotionTransitionKind kind);

G_END_DECLS
