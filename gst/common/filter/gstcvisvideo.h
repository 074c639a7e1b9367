/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Caps of elements that compute video: pad templates, checks that post errors, the
 * backend for the memory of the frames, and the answer to ALLOCATION queries. */
#pragma once

#include <gst/video/video.h>

#include "gstcvisfilter.h"

G_BEGIN_DECLS

/**
 * GstCvisVideoKind: video that an element takes
 * @formats: of frames in system memory, "I420, NV12". Those after a semicolon are in
 *   structures of their own: a source that has both prefers the first ones.
 * @cuda_formats: of frames in memory:CUDAMemory, which has no grey
 * @max_side: most columns and rows
 */
typedef struct {
  const gchar *formats, *cuda_formats;
  gint max_side;
} GstCvisVideoKind;

/* Adds the templates "sink" and "src" of @kind; CUDA memory comes first if it is
 * @preferred. */
void gst_cvis_filter_class_add_video_pads (GstCvisFilterClass *klass,
    const GstCvisVideoKind *kind, gboolean preferred);

/* Whether frames of @caps are in memory:CUDAMemory. */
gboolean gst_cvis_caps_on_device (const GstCaps *caps);

/* The layout of @caps.
 * Returns: FALSE after posting an error, if they are not of @kind, or are in CUDA memory
 *   and backend=cpu */
gboolean gst_cvis_filter_parse_video (GstCvisFilter *filter,
    const GstCvisVideoKind *kind, const GstCaps *caps, GstVideoInfo *info);

/* The context of @buffer, which is in CUDA memory; see gst_cvis_cuda_follow().
 * @any_device: also if the user named another device */
CvisContext *gst_cvis_filter_follow_video (GstCvisFilter *filter,
    GstBuffer *buffer, gboolean any_device, GError **error);
/* Opens the device that the user named, if it is not that of the context @frames.
 * @other: (out) (transfer full) (nullable): its context; %NULL: compute in @frames
 * Returns: FALSE after posting an error */
gboolean gst_cvis_filter_open_other_device (
    GstCvisFilter *filter, CvisContext *frames, CvisContext **other);
/* The backend for frames of new caps: CUDA for those @on_device, whose context
 * gst_cvis_filter_follow_video() gives, else the one that was chosen at the start.
 * Returns: FALSE after posting an error */
gboolean gst_cvis_filter_use_memory (GstCvisFilter *filter, gboolean on_device);

/* Adds to an ALLOCATION query that the element holds the frames in flight and one more,
 * with a pool of pinned memory if a device copies them.
 * Returns: FALSE if its caps are not those of video */
gboolean gst_cvis_filter_propose_video (GstCvisFilter *filter, GstQuery *query);

G_END_DECLS
