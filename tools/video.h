/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The beginning of the pipelines that read a video, and pictures of it. */
#pragma once

#include "command.h"
#include "pipeline.h"

G_BEGIN_DECLS

/* Appends a decoder of the video file @name. @common: (nullable): with --backend cpu
 * its frames are in system memory */
void video_append_source (
    GString *launch, const gchar *name, const CommonOptions *common);
/* Appends `backend=...` and the like for cudamotionest. */
void video_append_backend (GString *launch, const CommonOptions *common);

/* A picture of the video at @time (ns) as JPEG, at most @side pixels a side, through
 * the element @filter (nullable: none).
 * Returns: (nullable): NULL if it cannot be decoded */
GstSample *video_take_picture (
    const gchar *name, guint64 time, guint side, const gchar *filter);

/* The luma of the frame at @time (ns), GRAY8; sets @time to that of the first frame if the
 * file cannot seek.
 * Returns: (nullable): NULL if it cannot be decoded */
GstSample *video_take_luma (const gchar *name, guint64 *time);

/* Encoder and muxer for the ending of @name: .webm, .mp4 or .avi; NULL for others */
const gchar *video_encoder (const gchar *name);

/* "0:01:02.345" */
gchar *video_format_time (guint64 ns);

G_END_DECLS
