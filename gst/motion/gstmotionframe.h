/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A frame on its way through the motion engine, with all that its results go
 * into. */
#pragma once

#include <gst/video/video.h>

#include "gst/common/gstcvcuda.h"
#include "gst/cudavision/cudavision.h"
#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/* A picture that the engine makes: prediction or residual. */
typedef struct {
  GstBuffer *buffer; /* NULL: not asked for */
  GstMapInfo map;
} GstMotionPicture;

/**
 * GstMotionFrame:
 * @job: what the engine sees, first so that its pointer is the frame's
 * @buffer: the frame as it came, writable, owned
 * @video, @mapped: how its luma is mapped
 * @packet, @packet_map: buffer of one memory that the results go into
 * @prediction, @residual: buffers of one memory with these pictures
 * @number: in the stream, from 0
 * @serial: since the engine was made
 * @arrival: time of cvis_monotonic_ns() when it came
 * @staged: the luma was copied once more, for not being in pinned memory
 */
typedef struct {
  MotionJob job;
  GstBuffer *buffer;
  GstVideoFrame video;
  gboolean mapped;
  GstBuffer *packet;
  GstMapInfo packet_map;
  GstMotionPicture prediction, residual;
  guint64 number;
  guint64 serial;
  guint64 arrival;
  gboolean staged;
} GstMotionFrame;

GstMotionFrame *gst_motion_frame_new (void);
void gst_motion_frame_free (GstMotionFrame *frame);
/* Empties it, whatever it holds. */
void gst_motion_frame_clear (GstMotionFrame *frame);

/* Takes @buffer, maps its luma as @info says and tells the job.
 * @context: (nullable): what is computed in
 * @on_device: @buffer is memory:CUDAMemory
 * Returns: FALSE with CVIS_ERROR_FORMAT in words that say what is wrong with
 * it; @buffer is taken all the same */
gboolean gst_motion_frame_map (GstMotionFrame *frame, GstBuffer *buffer,
    const GstVideoInfo *info, CvisContext *context, gboolean on_device,
    GError **error);

/* Takes a buffer for the results out of @pool. */
GstFlowReturn gst_motion_frame_acquire_packet (GstMotionFrame *frame,
    GstBufferPool *pool, const MotionConfig *config, CvisContext *context);
/* Takes a buffer for @picture out of @pool.
 * @plane, @stride: (out): what to tell the engine */
GstFlowReturn gst_motion_picture_acquire (GstMotionPicture *picture,
    GstBufferPool *pool, const GstVideoInfo *info, guint8 **plane,
    gsize *stride);

/* The results are there: the luma is done with. */
void gst_motion_frame_unmap (GstMotionFrame *frame);

/* The head of the packet, where flags can still be added. */
MotionPacket *gst_motion_frame_fill_packet (
    GstMotionFrame *frame, const MotionConfig *config);
/* The field's head in the packet. */
MotionPacketField *gst_motion_frame_get_field (
    GstMotionFrame *frame, const MotionConfig *config, guint index);
/* (transfer full): the packet as it leaves: of its size, with times. */
GstBuffer *gst_motion_frame_steal_packet (
    GstMotionFrame *frame, const MotionConfig *config);
/* (transfer full) (nullable): the prediction or the residual as it leaves. */
GstBuffer *gst_motion_frame_steal_picture (
    GstMotionFrame *frame, GstMotionPicture *picture);

G_END_DECLS
