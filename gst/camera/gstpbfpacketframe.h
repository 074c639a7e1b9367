/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Frames of recordings as buffers, for pbffilesrc and pbfparse. */
#pragma once

#include <gst/video/video.h>
#include "cuda/camera/recording.h"
#include "cuda/camera/signallayout.h"

G_BEGIN_DECLS

#define GST_PBF_RECORDING_MEDIA_TYPE "application/x-pbf-recording"

/* Limits of a list of frames: number, and bytes of all */
#define GST_PBF_LIST_FRAMES 256
#define GST_PBF_LIST_BYTES (4u << 20)

/* Returns: (transfer full): the caps of the frames after @head */
GstCaps *gst_pbf_packet_caps (const PbfRecordingHead *head);

/* Sets pixels, meta, times and offset of @buffer, which is of @info.
 * @layout: (nullable): of the signals; %NULL: records of the camera link
 * @number: of the frame
 * Returns: FALSE if @buffer cannot be mapped, or is too small */
gboolean gst_pbf_packet_fill (const PbfPacket *packet, const GstVideoInfo *info,
    const PbfSignalLayout *layout, guint64 number, GstBuffer *buffer);

/* Frames, and those of them without signals. */
typedef struct {
  guint64 frames, without;
} GstPbfSignalCount;

void gst_pbf_packet_count (GstPbfSignalCount *count, const PbfPacket *packet);

/* Posts one warning if frames have no signals although others have, or a @layout is
 * set, and begins to count again. */
void gst_pbf_packet_post_missing (GstElement *element, const gchar *name,
    GstPbfSignalCount *count, const PbfSignalLayout *layout);

/* Posts one warning about what was skipped, if anything was.
 * @first: (nullable): the first fault */
void gst_pbf_packet_post_damage (GstElement *element, const gchar *name,
    const PbfRecordingDamage *damage, const gchar *first);

G_END_DECLS
