/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Video through the engine of cudadenoise: that of cuda/denoise, or with mode=wavelets
 * those of cuda/lifting, plane by plane. Frames leave with less noise, in the same format
 * and kind of memory. Grey is luma. */
#pragma once

#include <gst/video/video.h>

#include "cuda/denoise/engine.h"
#include "cuda/lifting/engine.h"
#include "gst/common/filter/gstcvisfilter.h"

G_BEGIN_DECLS

/* Three components of two fields */
#define GST_DENOISE_MAX_JOBS 6

/* Values of the property mode: those of DenoiseMode, and the wavelets */
typedef enum {
  GST_DENOISE_BOTH = DENOISE_MODE_BOTH,
  GST_DENOISE_TEMPORAL = DENOISE_MODE_TEMPORAL,
  GST_DENOISE_SPATIAL = DENOISE_MODE_SPATIAL,
  GST_DENOISE_RECURSIVE = DENOISE_MODE_RECURSIVE,
  GST_DENOISE_WAVELETS,
} GstDenoiseMode;

/**
 * GstDenoiseSettings: see the properties of these names
 * @wavelet: owned
 * @threshold: levels of 8 bits
 */
typedef struct {
  GstDenoiseMode mode;
  DenoisePreset preset;
  gdouble strength, sigma, keep_grain;
  guint radius, gop_size;
  gboolean luma_only;
  gchar *wavelet;
  guint levels;
  LwtShrink shrink;
  gdouble threshold, threshold_scale;
  guint spins;
  gboolean chroma;
  guint threads, frames_in_flight;
} GstDenoiseSettings;

typedef struct _GstDenoiseVideo GstDenoiseVideo;

/**
 * GstDenoiseFrame: a frame in flight; each plane is a job
 * @item: of the base class; busy from the first job that was submitted on
 * @jobs: those of the luma first
 * @out: the output frame, owned
 * @key_frame: see DenoiseJob
 * @staging: components of interleaved chroma in system memory, before and after
 * @threshold: of the luma's first field, in levels of 8 bits
 * @job: instead of @jobs, except with mode=wavelets
 */
typedef struct {
  GstCvisItem item;
  LwtJob jobs[GST_DENOISE_MAX_JOBS];
  guint n_jobs;
  GstVideoFrame from, to;
  gboolean from_mapped, to_mapped;
  GstBuffer *in, *out;
  gboolean key_frame;
  guint8 *staging;
  gsize staging_size;
  gdouble threshold;
  DenoiseJob job;
} GstDenoiseFrame;

GstDenoiseFrame *gst_denoise_frame_new (void);
/* Releases everything that @frame holds except the staging; no job is in flight. */
void gst_denoise_frame_clear (gpointer frame);
void gst_denoise_frame_free (GstDenoiseFrame *frame);

/**
 * GstDenoisePlace: where frames are, and where they are computed
 * @frames: (nullable): the context of frames in CUDA memory; %NULL: system memory
 * @context: (nullable): the context to compute in
 * @devices: (nullable): several devices to compute on, which outlive the video, for
 *   @owner
 * @live: frames come in real time: several devices do not wait for many
 */
typedef struct {
  CvisContext *frames, *context;
  const CvisDevices *devices;
  const CvisFleetOwner *owner;
  gboolean live;
} GstDenoisePlace;

/**
 * gst_denoise_video_new:
 * @info: format and size of the frames
 *
 * Returns: %NULL with CVIS_ERROR_INVALID about invalid settings, or
 *   CVIS_ERROR_MEMORY
 */
GstDenoiseVideo *gst_denoise_video_new (const GstVideoInfo *info,
    const GstDenoiseSettings *settings, const LwtWavelet *wavelet,
    const GstDenoisePlace *place, GError **error);
/* Waits for the frames in flight. */
void gst_denoise_video_free (GstDenoiseVideo *video);
/* (nullable): the fleet, of the luma with mode=wavelets, if there are several devices */
CvisFleet *gst_denoise_video_get_fleet (const GstDenoiseVideo *video);
/* (nullable): lwt_engine_describe() of the luma's engine. */
const gchar *gst_denoise_video_describe (const GstDenoiseVideo *video);
/* (nullable): the context of the frames, or for system memory that it computes in. */
CvisContext *gst_denoise_video_get_context (const GstDenoiseVideo *video);
/* Frames that can be in flight. */
guint gst_denoise_video_get_frames (const GstDenoiseVideo *video);

/* Takes @in and @out, maps them and submits the jobs. After a failure jobs that were
 * submitted before it stay with the engines, and @frame stays busy until
 * gst_denoise_video_drain().
 * Returns: FALSE with CVIS_ERROR_FORMAT if @in does not fit its caps, or another
 * error */
gboolean gst_denoise_video_submit (GstDenoiseVideo *video,
    GstDenoiseFrame *frame, GstBuffer *in, GstBuffer *out, GError **error);
/* Waits for @frame, the first in flight; then its @out can be taken.
 * @ready: (out): FALSE: it waits for later frames
 * Returns: FALSE with @error */
gboolean gst_denoise_video_wait (GstDenoiseVideo *video, GstDenoiseFrame *frame,
    gboolean *ready, GError **error);
/* Frames in flight do not wait for later ones. */
void gst_denoise_video_end (GstDenoiseVideo *video);
/* Waits for all frames in flight. */
void gst_denoise_video_drain (GstDenoiseVideo *video);

G_END_DECLS
