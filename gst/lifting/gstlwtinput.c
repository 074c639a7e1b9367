/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter, the upstream thread: surfaces and events into the engine and
 * the queue, in the order in which they came. */
#include "gstcudalwtfilter-private.h"

#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

/* Makes sure of an engine that fits the surface and gives the requested results. */
GstFlowReturn
gst_lwt_input_prepare (GstCvisFilter *filter, GstBuffer *buffer)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  GstLwtWanted *wanted = &self->next;
  GError *error = NULL;
  GstLwtSurface surface;
  GstFlowReturn flow;
  gboolean renegotiate;

  renegotiate = gst_pad_check_reconfigure (filter->srcpad);
  if (!gst_lwt_frame_check_size (buffer, &self->layout, &error)
      || !gst_lwt_surface_init (&surface, &self->layout,
          gst_cvis_buffer_get_surface_meta (buffer), &self->wanted, &error))
    return gst_cvis_filter_reject_frame (filter, error);
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
  flow = gst_cvis_queue_wait_idle (filter->queue);
  if (flow == GST_FLOW_OK && !gst_lwt_setup (self, &surface, wanted)) {
    flow = gst_cvis_queue_get_flow (filter->queue);
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

GstFlowReturn
gst_lwt_input_begin (
    GstCvisFilter *filter, gpointer item, GstBuffer *buffer, GError **error)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  GstLwtFrame *frame = item;
  GstFlowReturn flow;

  if (!gst_lwt_frame_map (frame, buffer, &self->layout, &self->surface,
          &self->wanted, filter->context, error))
    return GST_FLOW_ERROR;
  frame->sides = self->next.sides;
  frame->job.measured = self->next.parameters & ~self->next.parts;
  flow = acquire_parts (self, frame, self->next.parts);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!lwt_engine_submit (self->engine, &frame->job, error))
    return GST_FLOW_ERROR;
  frame->item.busy = TRUE;
  gst_cvis_filter_announce_kernels (filter, lwt_engine_describe (self->engine));
  return GST_FLOW_OK;
}
