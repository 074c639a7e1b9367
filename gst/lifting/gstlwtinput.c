/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter, the upstream thread: surfaces and events into the engine and
 * the queue, in the order in which they came. */
#include "gstcudalwtfilter-private.h"

#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

/* --- frames ------------------------------------------------------------------ */

/* A surface that cannot be used: what came before it leaves, then the error. */
static GstFlowReturn
refuse_frame (GstCudaLwtFilter *self, GError *error)
{
  gst_cv_queue_wait_idle (self->queue);
  if (error->code == CVIS_ERROR_FORMAT)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Surface cannot be transformed: %s", error->message),
        ("buffers have to hold what the caps and their metas say"));
  else if (error->code == CVIS_ERROR_INVALID)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("Surface cannot be transformed: %s", error->message), (NULL));
  else if (error->code == CVIS_ERROR_MEMORY)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Surface cannot be transformed: %s", error->message), (NULL));
  else
    gst_lwt_engine_failed (self, g_error_copy (error));
  g_error_free (error);
  return GST_FLOW_ERROR;
}

/* An engine that fits @surface and gives what is asked for by now. */
static GstFlowReturn
prepare (
    GstCudaLwtFilter *self, GstBuffer *buffer, LwtParts *parts, guint *sides)
{
  const gboolean renegotiate = gst_pad_check_reconfigure (self->srcpad);
  GError *error = NULL;
  GstLwtSurface surface;
  LwtParts parameters;
  GstFlowReturn flow;

  if (!gst_lwt_frame_check_size (buffer, &self->layout, &error)
      || !gst_lwt_surface_init (&surface, &self->layout,
          gst_buffer_get_surface_meta (buffer), &self->wanted, &error))
    return refuse_frame (self, error);
  if (self->engine != NULL && self->surface.masked
      && !gst_lwt_settings_is_plain (&self->wanted))
    surface.masked = TRUE; /* one mask more or less is no other stream */
  *sides = gst_lwt_get_wanted (self, parts, &parameters);
  if (self->engine != NULL && self->config.type == LWT_TYPE_I32)
    parameters = 0;
  if (self->engine != NULL && !renegotiate
      && gst_lwt_surface_equal (&surface, &self->surface)
      && (*parts & ~self->config.parts) == 0
      && (parameters & ~self->config.parameters) == 0)
    return GST_FLOW_OK;
  flow = gst_cv_queue_wait_idle (self->queue);
  if (flow == GST_FLOW_OK
      && !gst_lwt_setup (self, &surface, *parts, parameters)) {
    flow = gst_cv_queue_get_flow (self->queue);
    if (flow == GST_FLOW_OK)
      flow = GST_FLOW_ERROR;
  }
  return flow;
}

static GstFlowReturn
acquire_parts (GstCudaLwtFilter *self, GstLwtFrame *frame, LwtParts parts)
{
  const LwtConfig *config = &self->config;

  for (guint i = 0; i < SURFACE_N_PARTS; i++) {
    GstBufferPool *pool;
    guint width = config->width, height;
    GstFlowReturn flow = GST_FLOW_ERROR;

    if ((parts & (1u << i)) == 0)
      continue;
    if (i == SURFACE_PART_BANDS)
      lwt_config_get_bands_size (config, &width, &height);
    pool = gst_lwt_get_pool (self, (SurfacePart) i);
    if (pool != NULL)
      flow = gst_lwt_frame_acquire (
          frame, (SurfacePart) i, pool, width, config->type, self->context);
    if (flow == GST_FLOW_ERROR)
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("No memory for the %s of a surface of %ux%u",
              gst_surface_part_name ((SurfacePart) i), config->width,
              config->height),
          ("buffers of 4 GiB and more are not made"));
    if (flow != GST_FLOW_OK)
      return flow;
  }
  return GST_FLOW_OK;
}

/* Takes @buffer into @frame and submits it. On failure @frame is not. */
static GstFlowReturn
submit (GstCudaLwtFilter *self, GstLwtFrame *frame, GstBuffer *buffer,
    LwtParts parts, GError **error)
{
  GstFlowReturn flow;

  frame->arrival = cvis_monotonic_ns ();
  frame->number = self->number;
  gst_cv_latency_note_frame (&self->latency, GST_BUFFER_PTS (buffer));
  if (!gst_lwt_frame_map (frame, buffer, &self->layout, &self->surface,
          &self->wanted, self->context, error))
    return GST_FLOW_ERROR;
  flow = acquire_parts (self, frame, parts);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!lwt_engine_submit (self->engine, &frame->job, error))
    return GST_FLOW_ERROR;
  self->number++;
  return GST_FLOW_OK;
}

/* Caps that cannot be have had their error. */
static GstFlowReturn
refuse_without_caps (GstCudaLwtFilter *self)
{
  if (!gst_pad_has_current_caps (self->sinkpad))
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Surfaces came without caps; tensors or grey pictures are expected"),
        (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

GstFlowReturn
gst_lwt_input_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (parent);
  GstFlowReturn flow = gst_cv_queue_get_flow (self->queue);
  GError *error = NULL;
  gpointer frame = NULL;
  LwtParts parts = 0;
  guint sides = 0;

  if (flow == GST_FLOW_OK && !self->negotiated)
    flow = refuse_without_caps (self);
  if (flow == GST_FLOW_OK)
    flow = prepare (self, buffer, &parts, &sides);
  if (flow == GST_FLOW_OK)
    flow = gst_cv_queue_take (self->queue, &frame);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  ((GstLwtFrame *) frame)->sides = sides;
  flow = submit (self, frame, buffer, parts, &error);
  if (flow != GST_FLOW_OK) {
    gst_lwt_frame_clear (frame);
    gst_cv_queue_give (self->queue, frame);
    return error != NULL ? refuse_frame (self, error) : flow;
  }
  /* if the queue refuses it, it stays with the engine until the discard */
  return gst_cv_queue_push_item (self->queue, frame);
}

/* --- events ------------------------------------------------------------------ */

void
gst_lwt_input_flush (GstElement *element)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (element);

  gst_lwt_output_discard (self);
  gst_cv_latency_break (&self->latency);
}

gboolean
gst_lwt_input_event (GstElement *element, GstEvent *event)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (element);
  const GstEventType type = GST_EVENT_TYPE (event);
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean ok = TRUE;
  GstCaps *caps;

  if (type == GST_EVENT_CAPS) {
    /* ours take its place */
    gst_event_parse_caps (event, &caps);
    ok = gst_lwt_negotiate (self, caps);
    gst_event_unref (event);
    return ok;
  }
  if (type == GST_EVENT_STREAM_START) {
    /* numbers begin anew with what comes now */
    flow = gst_cv_queue_wait_idle (self->queue);
    self->number = 0;
  }
  return gst_cv_worker_queue_event (self->worker, event, flow);
}
