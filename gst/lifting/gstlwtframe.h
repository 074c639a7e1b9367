/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A surface on its way through the lifting engine, with the parts that come of
 * it. */
#pragma once

#include "gstlwtsurface.h"
#include "gstlwtvideo.h"
#include "cuda/lifting/grey.h"

G_BEGIN_DECLS

/**
 * GstLwtFrame:
 * @job: what the engine sees, first so that its pointer is the frame's
 * @buffer: the surface as it came, owned
 * @picture, @map: how it is mapped: one of the two
 * @staging: what the engine reads instead, where samples have to be changed or
 *   moved; kept for the next frame
 * @mask: (nullable): as it came, or of the coefficients of floats, owned
 * @offset, @polynomial: of the meta that came: what was taken off by then
 * @missing: points missing as the meta says, where the engine does not look
 * @sides: request pads that give some of it: 1 << kind
 * @number: in the stream, from 0
 * @arrival: time of cvis_monotonic_ns() when it came
 * @staged: copied once more, for not being in pinned memory
 * @video: (nullable): of video in colour, for which all of the above but @job's
 *   threshold, @number, @arrival and @staged is not used; owned
 * @in_flight: of video: with the engines
 */
typedef struct {
  LwtJob job;
  GstBuffer *buffer;
  GstVideoFrame picture;
  GstMapInfo map;
  gboolean picture_mapped, mapped;
  gpointer staging;
  gsize staging_size;
  GstBuffer *parts[SURFACE_N_PARTS];
  GstMapInfo part_maps[SURFACE_N_PARTS];
  GstBuffer *mask;
  gdouble offset;
  gdouble polynomial[6];
  guint64 missing;
  guint sides;
  guint64 number;
  guint64 arrival;
  gboolean staged;
  GstLwtVideoFrame *video;
  gboolean in_flight;
} GstLwtFrame;

/**
 * GstLwtOut: what a pad gives
 * @part: of the surface
 * @caps: of the pad, owned
 * @video: grey pictures, of @picture; else tensors
 */
typedef struct {
  SurfacePart part;
  GstCaps *caps;
  gboolean video;
  GstVideoInfo picture;
} GstLwtOut;

GstLwtFrame *gst_lwt_frame_new (void);
void gst_lwt_frame_free (GstLwtFrame *frame);
/* Empties it, whatever it holds, but for the staging. */
void gst_lwt_frame_clear (GstLwtFrame *frame);

/* Returns: FALSE with CVIS_ERROR_FORMAT if @buffer is too small for @layout, so
 * that no engine needs to be made for it */
gboolean gst_lwt_frame_check_size (
    GstBuffer *buffer, const GstLwtLayout *layout, GError **error);

/* Takes @buffer, maps it as @layout says and tells the job.
 * @context: (nullable): what is computed in
 * Returns: FALSE with CVIS_ERROR_FORMAT in words that say what is wrong with
 *   it, or CVIS_ERROR_MEMORY; @buffer is taken all the same */
gboolean gst_lwt_frame_map (GstLwtFrame *frame, GstBuffer *buffer,
    const GstLwtLayout *layout, const GstLwtSurface *surface,
    const GstLwtSettings *settings, CvisContext *context, GError **error);
/* The parts are there: what came is done with, and they may be read. */
void gst_lwt_frame_unmap (GstLwtFrame *frame);

/* Takes a buffer for @part out of @pool, rows of @width samples of @type. */
GstFlowReturn gst_lwt_frame_acquire (GstLwtFrame *frame, SurfacePart part,
    GstBufferPool *pool, guint width, LwtType type, CvisContext *context);

/* Whether parameters of @part are there, of @config's engine. */
gboolean gst_lwt_frame_has_parameters (
    const GstLwtFrame *frame, const LwtConfig *config, SurfacePart part);

/* Takes the surface that came out of @frame, and adds a GstSurfaceMeta for each
 * part with parameters, after one that is about its samples. */
GstBuffer *gst_lwt_frame_pass (GstLwtFrame *frame,
    const GstLwtSettings *settings, const GstLwtSurface *surface,
    const LwtConfig *config);

/**
 * gst_lwt_frame_make:
 * @frame: whose job is done
 * @out: the pad
 * @pool: (nullable): for its pictures
 * @settings: for grey of tensors
 * @surface, @config: as the engine was made for
 *
 * Returns: (transfer full) (nullable): what the pad gives: a tensor's buffer is
 *   that of the part, with a reference; %NULL without memory
 */
GstBuffer *gst_lwt_frame_make (GstLwtFrame *frame, const GstLwtOut *out,
    GstBufferPool *pool, const GstLwtSettings *settings,
    const GstLwtSurface *surface, const LwtConfig *config);

G_END_DECLS
