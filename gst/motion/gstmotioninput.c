/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudamotionest, the upstream thread: frames and events into the engine and the
 * queue, in the order in which they came. */
#include "gstmotionest-private.h"

#define GST_CAT_DEFAULT gst_cuda_motion_est_debug

/* --- one sequence after the other ------------------------------------------ */

/* Frames that wait for frames to come are complete without them, and the mark
 * has the other thread look at them. */
GstFlowReturn
gst_motion_input_end (GstCudaMotionEst *self)
{
  GstFlowReturn flow = gst_cv_queue_wait_idle (self->queue);

  if (self->engine == NULL || flow != GST_FLOW_OK)
    return flow;
  motion_engine_end (self->engine);
  flow = gst_cv_queue_push_mark (self->queue);
  return flow == GST_FLOW_OK ? gst_cv_queue_wait_idle (self->queue) : flow;
}

/* --- frames ---------------------------------------------------------------- */

/* A frame that cannot be used: what came before it leaves, then the error. */
static GstFlowReturn
refuse_frame (GstCudaMotionEst *self, GError *error)
{
  gst_motion_input_end (self);
  if (error->code == CVIS_ERROR_FORMAT || error->code == CVIS_ERROR_INVALID)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Frame cannot be searched: %s", error->message),
        ("buffers have to hold what the caps and their GstVideoMeta say"));
  else
    gst_motion_engine_failed (self, g_error_copy (error));
  g_error_free (error);
  return GST_FLOW_ERROR;
}

/* Frames on a device are searched in the context that they are of. */
static GstFlowReturn
follow_context (GstCudaMotionEst *self, GstBuffer *buffer)
{
  GError *error = NULL;
  CvisContext *context;
  GstFlowReturn flow;
  gboolean changed;
  gint device_id;

  GST_OBJECT_LOCK (self);
  device_id = self->backend.device_id;
  GST_OBJECT_UNLOCK (self);
  context =
      gst_cv_cuda_follow (self->cuda, buffer, device_id, &changed, &error);
  if (context == NULL)
    return refuse_frame (self, error);
  if (!changed && self->engine != NULL)
    return GST_FLOW_OK;
  flow = gst_motion_input_end (self);
  if (flow == GST_FLOW_OK && !gst_motion_setup_engine (self, context))
    flow = GST_FLOW_ERROR;
  return flow;
}

/* Takes buffers for a picture if somebody asked for it. */
static GstFlowReturn
acquire_picture (GstCudaMotionEst *self, GstMotionSideKind kind,
    GstMotionPicture *picture, guint8 **plane, gsize *stride)
{
  GstPad *pad = gst_cv_sides_ref (self->sides, kind);
  GstBufferPool *pool;

  if (pad == NULL)
    return GST_FLOW_OK;
  gst_object_unref (pad);
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
      frame, self->packets, &self->config, self->context);

  if (flow == GST_FLOW_OK)
    flow = acquire_picture (self, GST_MOTION_SIDE_PREDICTION,
        &frame->prediction, &job->prediction, &job->prediction_stride);
  if (flow == GST_FLOW_OK)
    flow = acquire_picture (self, GST_MOTION_SIDE_RESIDUAL, &frame->residual,
        &job->residual, &job->residual_stride);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for the results of a frame"), (NULL));
  return flow;
}

/* Takes @buffer into @frame and submits it. On failure @frame is not. */
static GstFlowReturn
submit (GstCudaMotionEst *self, GstMotionFrame *frame, GstBuffer *buffer,
    GError **error)
{
  GstFlowReturn flow;

  frame->arrival = cvis_monotonic_ns ();
  frame->number = self->number;
  frame->serial = self->serial;
  if (!gst_motion_frame_map (
          frame, buffer, &self->layout, self->context, self->on_device, error))
    return GST_FLOW_ERROR;
  flow = acquire_results (self, frame);
  if (flow != GST_FLOW_OK)
    return flow;
  gst_cv_latency_note_frame (&self->latency, GST_BUFFER_PTS (buffer));
  self->times[frame->serial % GST_MOTION_TIMES] = GST_BUFFER_PTS (buffer);
  if (!motion_engine_submit (self->engine, &frame->job, error))
    return GST_FLOW_ERROR;
  self->number++;
  self->serial++;
  return GST_FLOW_OK;
}

/* Caps that cannot be have had their error. */
static GstFlowReturn
refuse_without_caps (GstCudaMotionEst *self)
{
  if (!gst_pad_has_current_caps (self->sinkpad))
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Frames came without caps; raw video is expected"), (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

GstFlowReturn
gst_motion_input_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (parent);
  GstFlowReturn flow = gst_cv_queue_get_flow (self->queue);
  GError *error = NULL;
  gpointer frame = NULL;

  if (flow == GST_FLOW_OK && !self->negotiated)
    flow = refuse_without_caps (self);
  if (flow == GST_FLOW_OK && self->on_device)
    flow = follow_context (self, buffer);
  if (flow == GST_FLOW_OK)
    flow = gst_cv_queue_take (self->queue, &frame);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  flow = submit (self, frame, gst_buffer_make_writable (buffer), &error);
  if (flow != GST_FLOW_OK) {
    gst_motion_frame_clear (frame);
    gst_cv_queue_give (self->queue, frame);
    return error != NULL ? refuse_frame (self, error) : flow;
  }
  /* if the queue refuses it, it stays with the engine until the discard */
  return gst_cv_queue_push_item (self->queue, frame);
}

/* --- events ---------------------------------------------------------------- */

void
gst_motion_input_flush (GstElement *element)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (element);

  gst_motion_output_discard (self);
  gst_segment_init (&self->in_segment, GST_FORMAT_UNDEFINED);
  gst_cv_latency_break (&self->latency);
}

/* A segment that goes on where the last one is does not end what is compared.
 */
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

/* A second stream is not compared with the first. */
static GstFlowReturn
begin_stream (GstCudaMotionEst *self)
{
  GstFlowReturn flow = GST_FLOW_OK;

  if (self->streaming)
    flow = gst_motion_input_end (self);
  self->streaming = TRUE;
  self->number = 0;
  gst_cv_latency_break (&self->latency);
  return flow;
}

/* Has out, before @event gets into the queue, what may not come after it.
 * Returns: FALSE with the flow OK for caps that were refused. */
static gboolean
prepare_for_event (GstCudaMotionEst *self, GstEvent *event, GstFlowReturn *flow)
{
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      *flow = begin_stream (self);
      break;
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      return gst_motion_negotiate (self, caps);
    case GST_EVENT_SEGMENT:
      if (is_other_segment (self, event))
        *flow = gst_motion_input_end (self);
      break;
    case GST_EVENT_GAP:
      /* the frame to come, for which others wait, may be far off */
      if (self->wanted.bidirectional)
        *flow = gst_motion_input_end (self);
      break;
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT_DONE:
      *flow = gst_motion_input_end (self);
      break;
    default:
      break;
  }
  return TRUE;
}

gboolean
gst_motion_input_event (GstElement *element, GstEvent *event)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (element);
  GstFlowReturn flow = GST_FLOW_OK;

  if (prepare_for_event (self, event, &flow))
    return gst_cv_worker_queue_event (self->worker, event, flow);
  gst_event_unref (event);
  return FALSE;
}
