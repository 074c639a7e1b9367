/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter, the upstream thread: surfaces and events into the engine and
 * the queue, in the order in which they came. */
#include "gstcudalwtfilter-private.h"

#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

/* --- frames ------------------------------------------------------------------ */

/* A surface that cannot be used: earlier ones are pushed, then the error is
 * posted. */
static GstFlowReturn
reject_surface (GstCudaLwtFilter *self, GError *error)
{
  gst_cvis_queue_wait_idle (self->filter.queue);
  if (error->code == CVIS_ERROR_FORMAT)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot transform a surface: %s. Check the caps and metas of the "
         "element before cudalwtfilter.",
            error->message),
        ("the buffer does not match its caps and metas"));
  else if (error->code == CVIS_ERROR_INVALID)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("Cannot transform a surface: %s. Check the properties.",
            error->message),
        (NULL));
  else if (error->code == CVIS_ERROR_MEMORY)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Cannot transform a surface: %s. Use smaller surfaces or fewer "
         "frames-in-flight.",
            error->message),
        (NULL));
  else
    gst_lwt_engine_failed (self, g_error_copy (error));
  g_error_free (error);
  return GST_FLOW_ERROR;
}

/* Makes sure of an engine that fits @surface and gives the requested results. */
static GstFlowReturn
prepare_surface (
    GstCudaLwtFilter *self, GstBuffer *buffer, GstLwtWanted *wanted)
{
  GError *error = NULL;
  GstLwtSurface surface;
  GstFlowReturn flow;
  gboolean renegotiate;

  renegotiate = gst_pad_check_reconfigure (self->filter.srcpad);
  if (!gst_lwt_frame_check_size (buffer, &self->layout, &error)
      || !gst_lwt_surface_init (&surface, &self->layout,
          gst_cvis_buffer_get_surface_meta (buffer), &self->wanted, &error))
    return reject_surface (self, error);
  if (self->engine != NULL && self->surface.masked
      && !gst_lwt_settings_is_plain (&self->wanted))
    surface.masked = TRUE; /* no new engine if only some surfaces have a mask */
  *wanted = gst_lwt_get_wanted (self, &surface);
  if (self->engine != NULL && self->config.type == LWT_TYPE_I32)
    wanted->parameters = 0;
  if (self->engine != NULL && !renegotiate
      && gst_lwt_surface_equal (&surface, &self->surface)
      && (wanted->parts & ~self->config.parts) == 0
      && (wanted->parameters & ~self->config.parameters) == 0)
    return GST_FLOW_OK;
  flow = gst_cvis_queue_wait_idle (self->filter.queue);
  if (flow == GST_FLOW_OK && !gst_lwt_setup (self, &surface, wanted)) {
    flow = gst_cvis_queue_get_flow (self->filter.queue);
    if (flow == GST_FLOW_OK)
      flow = GST_FLOW_ERROR;
  }
  /* integers have no parameters; the engine's type is known only now */
  wanted->parameters &= self->config.parameters;
  return flow;
}

static GstFlowReturn
acquire_parts (GstCudaLwtFilter *self, GstLwtFrame *frame, LwtParts parts)
{
  const LwtConfig *config = &self->config;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    GstBufferPool *pool;
    guint width = config->width, height;
    GstFlowReturn flow = GST_FLOW_ERROR;

    if ((parts & (1u << i)) == 0)
      continue;
    if (i == CVIS_SURFACE_PART_BANDS)
      lwt_config_get_bands_size (config, &width, &height);
    pool = gst_lwt_get_pool (self, (CvisSurfacePart) i);
    if (pool != NULL)
      flow = gst_lwt_frame_acquire (frame, (CvisSurfacePart) i, pool, width,
          config->type, self->filter.context);
    if (flow == GST_FLOW_ERROR)
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("No memory for the %s of a surface of %ux%u samples. Use smaller "
           "surfaces or fewer frames-in-flight.",
              gst_cvis_surface_part_name ((CvisSurfacePart) i), config->width,
              config->height),
          ("a buffer has to be smaller than 4 GiB"));
    if (flow != GST_FLOW_OK)
      return flow;
  }
  return GST_FLOW_OK;
}

/* Moves @buffer into @frame and submits the frame, except on failure. */
static GstFlowReturn
submit (GstCudaLwtFilter *self, GstLwtFrame *frame, GstBuffer *buffer,
    const GstLwtWanted *wanted, GError **error)
{
  GstFlowReturn flow;

  frame->arrival = cvis_monotonic_ns ();
  frame->number = self->number;
  gst_cvis_latency_note_frame (&self->filter.latency, GST_BUFFER_PTS (buffer));
  if (!gst_lwt_frame_map (frame, buffer, &self->layout, &self->surface,
          &self->wanted, self->filter.context, error))
    return GST_FLOW_ERROR;
  frame->sides = wanted->sides;
  frame->job.measured = wanted->parameters & ~wanted->parts;
  flow = acquire_parts (self, frame, wanted->parts);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!lwt_engine_submit (self->engine, &frame->job, error))
    return GST_FLOW_ERROR;
  self->number++;
  gst_cvis_filter_announce_kernels (
      &self->filter, lwt_engine_describe (self->engine));
  return GST_FLOW_OK;
}

GstFlowReturn
gst_lwt_input_submit (GstCvisFilter *filter, GstMiniObject *object)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  GstBuffer *buffer = GST_BUFFER_CAST (object);
  GstFlowReturn flow;
  GError *error = NULL;
  gpointer frame = NULL;
  GstLwtWanted wanted = { 0 };

  flow = prepare_surface (self, buffer, &wanted);
  if (flow == GST_FLOW_OK)
    flow = gst_cvis_queue_take (self->filter.queue, &frame);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  flow = submit (self, frame, buffer, &wanted, &error);
  if (flow != GST_FLOW_OK) {
    gst_lwt_frame_clear (frame);
    gst_cvis_queue_give (self->filter.queue, frame);
    return error != NULL ? reject_surface (self, error) : flow;
  }
  /* if the queue refuses it, it stays with the engine until the flush */
  return gst_cvis_queue_push_item (self->filter.queue, frame);
}
