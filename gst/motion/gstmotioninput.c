/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudamotionest, the upstream thread: frames and events into the engine and the
 * queue, in the order in which they came. */
#include "gstmotionest-private.h"

#define GST_CAT_DEFAULT gst_cuda_motion_est_debug

/* --- sequences ------------------------------------------------------------- */

/* Completes frames that wait for later frames without these; the mark has the
 * source pad's task push them. */
GstFlowReturn
gst_motion_input_finish (GstCvisFilter *filter)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  GstFlowReturn flow = gst_cvis_queue_wait_idle (filter->queue);

  self->skip = 0;
  if (self->engine == NULL || flow != GST_FLOW_OK)
    return flow;
  motion_engine_end (self->engine);
  return gst_cvis_queue_push_mark (filter->queue);
}

/* --- frames ---------------------------------------------------------------- */

/* Frames on a device are searched in their own context. */
GstFlowReturn
gst_motion_input_prepare (GstCvisFilter *filter, GstBuffer *buffer)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  GError *error = NULL;
  CvisContext *context;
  GstFlowReturn flow;

  if (!self->on_device)
    return GST_FLOW_OK;
  context = gst_cvis_filter_follow_video (filter, buffer, &error);
  if (context == NULL)
    return gst_cvis_filter_reject_frame (filter, error);
  if (context == filter->context && self->engine != NULL)
    return GST_FLOW_OK;
  flow = gst_cvis_filter_drain (filter);
  if (flow == GST_FLOW_OK && !gst_motion_setup_engine (self, context))
    flow = GST_FLOW_ERROR;
  return flow;
}

/* Acquires a buffer for a picture if its request pad exists. */
static GstFlowReturn
acquire_picture (GstCudaMotionEst *self, GstMotionSideKind kind,
    GstMotionPicture *picture, guint8 **plane, gsize *stride)
{
  GstBufferPool *pool;

  if (!gst_cvis_filter_has_request_pad (&self->filter, kind))
    return GST_FLOW_OK;
  pool = gst_motion_get_picture_pool (self, kind);
  if (pool == NULL)
    return GST_FLOW_ERROR;
  return gst_motion_picture_acquire (
      picture, pool, &self->picture, plane, stride);
}

static GstFlowReturn
acquire_results (GstCudaMotionEst *self, GstMotionFrame *frame)
{
  MotionJob *job = &frame->job;
  GstFlowReturn flow = gst_motion_frame_acquire_packet (
      frame, self->packets, &self->config, self->filter.context);

  if (flow == GST_FLOW_OK)
    flow = acquire_picture (self, GST_MOTION_SIDE_PREDICTION,
        &frame->prediction, &job->prediction, &job->prediction_stride);
  if (flow == GST_FLOW_OK)
    flow = acquire_picture (self, GST_MOTION_SIDE_RESIDUAL, &frame->residual,
        &job->residual, &job->residual_stride);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for the results of a frame. Use a larger block-size or "
         "fewer references."),
        (NULL));
  return flow;
}

GstFlowReturn
gst_motion_input_begin (
    GstCvisFilter *filter, gpointer item, GstBuffer *buffer, GError **error)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  GstMotionFrame *frame = item;
  GstFlowReturn flow;

  frame->serial = self->serial;
  if (!gst_motion_frame_map (frame, gst_buffer_make_writable (buffer),
          &self->layout, filter->context, self->on_device, error))
    return GST_FLOW_ERROR;
  flow = acquire_results (self, frame);
  if (flow != GST_FLOW_OK)
    return flow;
  self->times[frame->serial % GST_MOTION_TIMES] =
      GST_BUFFER_PTS (frame->buffer);
  if (!motion_engine_submit (self->engine, &frame->job, error)) {
    /* only the memory of the frame can be invalid here */
    if (g_error_matches (*error, CVIS_ERROR, CVIS_ERROR_INVALID))
      (*error)->code = CVIS_ERROR_FORMAT;
    return GST_FLOW_ERROR;
  }
  frame->item.busy = TRUE;
  self->serial++;
  self->skip = self->interval - 1;
  return GST_FLOW_OK;
}

GstFlowReturn
gst_motion_input_submit (GstCvisFilter *filter, GstMiniObject *object)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  GstFlowReturn flow;

  if (self->skip == 0)
    return gst_cvis_filter_submit_frame (filter, object);
  flow = gst_cvis_queue_push_frame (filter->queue, object);
  self->skip--;
  filter->number++;
  if (flow != GST_FLOW_OK)
    gst_mini_object_unref (object);
  return flow;
}

/* --- events ---------------------------------------------------------------- */

/* Whether @event changes the segment; one that only repeats it does not end a
 * sequence. */
static gboolean
is_other_segment (GstCudaMotionEst *self, GstEvent *event)
{
  GstSegment segment;
  gboolean other;

  gst_event_copy_segment (event, &segment);
  self->in_segment.position = segment.position;
  other = !gst_segment_is_equal (&segment, &self->in_segment);
  self->in_segment = segment;
  return other;
}

/* Whether frames after @event are not compared with those before it. */
static gboolean
ends_sequence (GstCudaMotionEst *self, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
      return is_other_segment (self, event);
    case GST_EVENT_GAP:
      /* the later frame, for which others wait, may come after a long time */
      return self->wanted.bidirectional;
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT_DONE:
      return TRUE;
    default:
      return FALSE;
  }
}

GstFlowReturn
gst_motion_input_event (GstCvisFilter *filter, GstEvent *event)
{
  return ends_sequence (GST_CUDA_MOTION_EST (filter), event)
             ? gst_cvis_filter_drain (filter)
             : GST_FLOW_OK;
}
