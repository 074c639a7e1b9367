/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The scenes of a stream, from the packets of its frames, as text for encoders.
 * One thread. */
#pragma once

#include "cuda/records/motionrecord.h"

G_BEGIN_DECLS

typedef enum {
  /* a table: scene, first frame, end (exclusive), both in seconds */
  MOTION_SCENES_CSV,
  /* scenes.json of Av1an: frames, scenes and split_scenes, end_frame exclusive */
  MOTION_SCENES_JSON,
  /* for --qpfile of x264 and x265: "FRAME I -1" for the first frame of each scene,
   * whose quantiser the encoder chooses */
  MOTION_SCENES_QPFILE,
  /* for --force-key-frames of SVT-AV1: "0f,120f", the first frames of the scenes */
  MOTION_SCENES_SVT_KEY_FRAMES,
  /* for --zones of x264 and x265: "0,119,b=1.00/120,239,b=1.00", a zone for each scene,
   * end inclusive, b the factor of its bit rate */
  MOTION_SCENES_ZONES,
  /* a table of dissolves and fades: kind, first frame, end (exclusive), both in seconds */
  MOTION_SCENES_TRANSITIONS,
  /* chapters of FFmpeg's metadata files, ;FFMETADATA1, times in ns */
  MOTION_SCENES_CHAPTERS,
} MotionScenesFormat;

typedef struct _MotionSceneList MotionSceneList;

MotionSceneList *motion_scene_list_new (void);
void motion_scene_list_free (MotionSceneList *list);

/* Adds the next frame; one with CVIS_MOTION_FRAME_SCENE_CUT begins a scene, as do the
 * first, the first one after a dissolve, and the first one of a fade-in after a fade-out.
 * @blocks: (nullable): of any field of the packet
 * @pts, @duration: ns; G_MAXUINT64: unknown */
void motion_scene_list_add (MotionSceneList *list,
    const CvisMotionPacket *packet, const CvisMotionBlock *blocks, guint64 pts,
    guint64 duration);
/* No frame follows. */
void motion_scene_list_end (MotionSceneList *list);
guint motion_scene_list_get_size (const MotionSceneList *list);

/* The list of the frames added so far. Fields of unknown times are empty, and
 * chapters without times are left out. Free with g_free(). */
gchar *motion_scene_list_format (
    const MotionSceneList *list, MotionScenesFormat format);

G_END_DECLS
