/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Video in colour through cudalwtfilter operation=denoise: the frames that come
 * in leave with less noise, in the same format and memory. */
#pragma once

#include <gst/video/video.h>

#include "gst/common/gstcvcuda.h"
#include "gstlwtsettings.h"

G_BEGIN_DECLS

#define GST_LWT_VIDEO_FORMATS "{ NV12, I420, Y42B, Y444, P010_10LE, I420_10LE }"
/* those that libgstcuda knows */
#define GST_LWT_VIDEO_CUDA_FORMATS "{ NV12, P010_10LE, I420, Y444 }"

/* Three components of two fields */
#define GST_LWT_VIDEO_MAX_JOBS 6

typedef struct _GstLwtVideo GstLwtVideo;

/**
 * GstLwtVideoFrame: a frame in flight; each plane is a job
 * @jobs: those of the luma first
 * @n_submitted: of @n_jobs
 * @out: the frame that leaves, owned
 * @staging: components of interleaved chroma in system memory, before and after
 */
typedef struct {
  LwtJob jobs[GST_LWT_VIDEO_MAX_JOBS];
  guint n_jobs, n_submitted;
  GstVideoFrame from, to;
  gboolean from_mapped, to_mapped;
  GstBuffer *in, *out;
  guint8 *staging;
  gsize staging_size;
} GstLwtVideoFrame;

/* Empties it, but for the staging. Nothing of it is in flight. */
void gst_lwt_video_frame_clear (GstLwtVideoFrame *frame);
void gst_lwt_video_frame_free (GstLwtVideoFrame *frame);

/* Whether such video can be denoised. */
gboolean gst_lwt_video_knows (GstVideoFormat format, gboolean on_device);

/**
 * gst_lwt_video_new:
 * @info: of the frames
 * @settings: of the filter
 * @wavelet: that is used
 * @context: (nullable): what is computed in
 * @on_device: frames lie on @context's device
 *
 * Returns: %NULL with CVIS_ERROR_INVALID about settings that cannot be, or
 *   CVIS_ERROR_MEMORY
 */
GstLwtVideo *gst_lwt_video_new (const GstVideoInfo *info,
    const GstLwtSettings *settings, const LwtWavelet *wavelet,
    CvisContext *context, gboolean on_device, GError **error);
/* Waits for what is in flight. */
void gst_lwt_video_free (GstLwtVideo *video);
/* Of the luma. */
const LwtConfig *gst_lwt_video_get_config (const GstLwtVideo *video);
/* Frames that can be in flight. */
guint gst_lwt_video_get_frames (const GstLwtVideo *video);

/* Takes @in and @out, maps them and submits the jobs. Jobs submitted before
 * it failed (frame->n_submitted) stays with the engines: @frame is to be kept
 * until gst_lwt_video_drain() then.
 * Returns: FALSE with CVIS_ERROR_FORMAT in words about @in, or another error */
gboolean gst_lwt_video_submit (GstLwtVideo *video, GstLwtVideoFrame *frame,
    GstBuffer *in, GstBuffer *out, GError **error);
/* Waits for @frame, the first in flight; then its @out can be taken. @threshold:
 * (out): of the luma's first field, in levels of 8 bits */
gboolean gst_lwt_video_wait (GstLwtVideo *video, GstLwtVideoFrame *frame,
    gdouble *threshold, GError **error);
/* Waits for all that is in flight. */
void gst_lwt_video_drain (GstLwtVideo *video);

G_END_DECLS
