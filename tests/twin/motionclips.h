/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Real video for tests and benches of motion estimation: the clips that
 * scripts/fetch-clips puts into $CUDAVISION_CLIPS. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * MotionClip: luma of the first frames of a clip
 * @name: of the file, without its ending
 * @width, @height, @depth: of the frames
 * @stride: bytes from row to row: no padding
 * @n: frames
 * @luma: of each frame; a byte a sample, or two with a depth of 10
 */
typedef struct {
  gchar *name;
  guint width, height, depth;
  gsize stride;
  guint n;
  guint8 **luma;
} MotionClip;

/* Reads at most @max_frames of the 4:2:0 or grey y4m @path. */
MotionClip *motion_clip_load (
    const gchar *path, guint max_frames, GError **error);
void motion_clip_free (MotionClip *clip);

/* The paths of the clips in $CUDAVISION_CLIPS, by name; none if there are
 * none. Free with g_strfreev(). */
gchar **motion_clips_list (void);

G_END_DECLS
