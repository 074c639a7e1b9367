/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A frame in flight in the motion engine, with the buffers for its results. */
#pragma once

#include <gst/video/video.h>

#include "gst/common/filter/gstcvisfilter.h"
#include "gst/cudavision/cudavision.h"
#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/* A picture that the engine makes: prediction or residual. */
typedef struct {
  GstBuffer *buffer; /* NULL: not requested */
  GstMapInfo map;
} GstMotionPicture;

/**
 * GstMotionFrame:
 * @item: of the base class
 * @job: the engine's part
 * @buffer: the input frame, writable, owned
 * @video, @mapped: the mapping of its luma
 * @packet, @packet_map: buffer of one memory for the results
 * @prediction, @residual: buffers of one memory with these pictures
 * @serial: since the engine was made
 */
typedef struct {
  GstCvisItem item;
  MotionJob job;
  GstBuffer *buffer;
  GstVideoFrame video;
  gboolean mapped;
  GstBuffer *packet;
  GstMapInfo packet_map;
  GstMotionPicture prediction, residual;
  guint64 serial;
} GstMotionFrame;

/* The frame of @job */
static inline GstMotionFrame *
gst_motion_frame_of_job (MotionJob *job)
{
  return (
      GstMotionFrame *) (gpointer) ((guint8 *) job
                                    - G_STRUCT_OFFSET (GstMotionFrame, job));
}

GstMotionFrame *gst_motion_frame_new (void);
void gst_motion_frame_free (GstMotionFrame *frame);
/* Releases everything that @frame holds. */
void gst_motion_frame_clear (gpointer frame);

/* Takes @buffer, maps its luma by @info and sets the job's input.
 * @context: (nullable): the context to compute in
 * @on_device: @buffer is memory:CUDAMemory
 * Returns: FALSE with CVIS_ERROR_FORMAT if @buffer does not fit @info; it is taken
 * nevertheless */
gboolean gst_motion_frame_map (GstMotionFrame *frame, GstBuffer *buffer,
    const GstVideoInfo *info, CvisContext *context, gboolean on_device,
    GError **error);

/* Acquires a buffer for the results from @pool. */
GstFlowReturn gst_motion_frame_acquire_packet (GstMotionFrame *frame,
    GstBufferPool *pool, const MotionConfig *config, CvisContext *context);
/* Acquires a buffer for @picture from @pool.
 * @plane, @stride: (out): address and row size for the engine */
GstFlowReturn gst_motion_picture_acquire (GstMotionPicture *picture,
    GstBufferPool *pool, const GstVideoInfo *info, guint8 **plane,
    gsize *stride);

/* Unmaps the luma, once the results are complete. */
void gst_motion_frame_unmap (GstMotionFrame *frame);

/* Fills in the packet's header.
 * Returns: the header, to which flags can be added */
CvisMotionPacket *gst_motion_frame_fill_packet (
    GstMotionFrame *frame, const MotionConfig *config);
/* The header of a field in the packet. */
CvisMotionPacketField *gst_motion_frame_get_field (
    GstMotionFrame *frame, const MotionConfig *config, guint index);
/* Returns: (transfer full): the packet, with its size and timestamps set */
GstBuffer *gst_motion_frame_steal_packet (
    GstMotionFrame *frame, const MotionConfig *config);
/* Returns: (transfer full) (nullable): the prediction or the residual, with
 * timestamps */
GstBuffer *gst_motion_frame_steal_picture (
    GstMotionFrame *frame, GstMotionPicture *picture);

G_END_DECLS
