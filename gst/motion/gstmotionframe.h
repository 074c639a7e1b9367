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

/* Unmaps the luma, once the results are complete. */
void gst_motion_frame_unmap (GstMotionFrame *frame);

/* The header of a field in the packet: its vectors follow it. */
static inline CvisMotionPacketField *
gst_motion_frame_get_field (const GstMotionFrame *frame, guint index)
{
  return (CvisMotionPacketField *) (gpointer) frame->job.fields[index].vectors
         - 1;
}
G_END_DECLS
