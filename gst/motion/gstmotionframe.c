/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstmotionframe.h"

#include <string.h>

GstMotionFrame *
gst_motion_frame_new (void)
{
  return g_new0 (GstMotionFrame, 1);
}

void
gst_motion_frame_free (GstMotionFrame *frame)
{
  gst_motion_frame_clear (frame);
  g_free (frame);
}

void
gst_motion_frame_unmap (GstMotionFrame *frame)
{
  if (frame->mapped)
    gst_video_frame_unmap (&frame->video);
  frame->mapped = FALSE;
}

static void
unmap_picture (GstMotionPicture *picture)
{
  if (picture->buffer != NULL)
    gst_buffer_unmap (picture->buffer, &picture->map);
}

void
gst_motion_frame_clear (gpointer data)
{
  GstMotionFrame *frame = data;

  gst_motion_frame_unmap (frame);
  unmap_picture (&frame->prediction);
  unmap_picture (&frame->residual);
  if (frame->packet != NULL)
    gst_buffer_unmap (frame->packet, &frame->packet_map);
  gst_clear_buffer (&frame->prediction.buffer);
  gst_clear_buffer (&frame->residual.buffer);
  gst_clear_buffer (&frame->packet);
  gst_clear_buffer (&frame->buffer);
  memset (&frame->job, 0, sizeof (frame->job));
}
