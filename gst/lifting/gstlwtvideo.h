/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Colour video for cudalwtfilter operation=denoise: frames leave with less noise, in
 * the same format and kind of memory. */
#pragma once

#include <gst/video/video.h>

#include "gst/common/gstcviscuda.h"
#include "gstlwtsettings.h"

G_BEGIN_DECLS

/* in memory:CUDAMemory too */
#define GST_LWT_VIDEO_FORMATS "{ NV12, I420, Y42B, Y444, P010_10LE, I420_10LE }"

/* Three components of two fields */
#define GST_LWT_VIDEO_MAX_JOBS 6

typedef struct _GstLwtVideo GstLwtVideo;

/**
 * GstLwtVideoFrame: a frame in flight; each plane is a job
 * @jobs: those of the luma first
 * @n_submitted: how many of @n_jobs were submitted
 * @out: the output frame, owned
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

/* Releases everything that @frame holds except the staging; no job is in flight. */
void gst_lwt_video_frame_clear (GstLwtVideoFrame *frame);
void gst_lwt_video_frame_free (GstLwtVideoFrame *frame);

/* Whether video of @format can be denoised. */
gboolean gst_lwt_video_knows (GstVideoFormat format);

/**
 * gst_lwt_video_new:
 * @info: format and size of the frames
 * @settings: settings of the filter
 * @wavelet: the wavelet
 * @context: (nullable): the context to compute in
 * @on_device: whether frames lie on @context's device
 *
 * Returns: %NULL with CVIS_ERROR_INVALID about invalid settings, or
 *   CVIS_ERROR_MEMORY
 */
GstLwtVideo *gst_lwt_video_new (const GstVideoInfo *info,
    const GstLwtSettings *settings, const LwtWavelet *wavelet,
    CvisContext *context, gboolean on_device, GError **error);
/* Waits for the frames in flight. */
void gst_lwt_video_free (GstLwtVideo *video);
/* The configuration of the luma's engine. */
const LwtConfig *gst_lwt_video_get_config (const GstLwtVideo *video);
/* lwt_engine_describe() of the luma's engine. */
const gchar *gst_lwt_video_describe (const GstLwtVideo *video);
/* (nullable): the context it computes in. */
CvisContext *gst_lwt_video_get_context (const GstLwtVideo *video);
/* Frames that can be in flight. */
guint gst_lwt_video_get_frames (const GstLwtVideo *video);

/* Takes @in and @out, maps them and submits the jobs. After a failure jobs that were
 * submitted before it (frame->n_submitted) stay with the engines: keep @frame until
 * gst_lwt_video_drain().
 * Returns: FALSE with CVIS_ERROR_FORMAT if @in does not fit its caps, or another
 * error */
gboolean gst_lwt_video_submit (GstLwtVideo *video, GstLwtVideoFrame *frame,
    GstBuffer *in, GstBuffer *out, GError **error);
/* Waits for @frame, the first in flight; then its @out can be taken.
 * @threshold: (out): of the luma's first field, in levels of 8 bits */
gboolean gst_lwt_video_wait (GstLwtVideo *video, GstLwtVideoFrame *frame,
    gdouble *threshold, GError **error);
/* Waits for all frames in flight. */
void gst_lwt_video_drain (GstLwtVideo *video);

G_END_DECLS
