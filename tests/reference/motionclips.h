/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Real video for tests and benchmarks of motion estimation: the clips of
 * scripts/fetch-clips in $CUDAVISION_CLIPS. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * MotionClip: luma of the first frames of a clip
 * @name: of the file, without extension
 * @width, @height, @depth: of the frames
 * @stride: bytes from row to row, without padding
 * @n: number of frames
 * @luma: of each frame; one byte a sample, or two with a depth of 10
 */
typedef struct {
  gchar *name;
  guint width, height, depth;
  gsize stride;
  guint n;
  guint8 **luma;
} MotionClip;

/* Reads at most @max_frames of the 4:2:0 or grey y4m file @path. */
MotionClip *motion_clip_load (
    const gchar *path, guint max_frames, GError **error);
void motion_clip_free (MotionClip *clip);

/* Paths of the clips in $CUDAVISION_CLIPS, sorted by name; possibly none.
 * Free with g_strfreev(). */
gchar **motion_clips_list (void);

G_END_DECLS
