/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter, colour video: negotiation, and frames in both threads. */
#include "gstcudalwtfilter-private.h"

#include "gst/common/gstcvispool.h"

#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

/* --- negotiation --------------------------------------------------------------- */

/* Request pads: none gets anything. */
static guint
get_sides (GstCudaLwtFilter *self)
{
  return gst_lwt_get_sides (
      self, 0, "colour video has no components, convert to GRAY8");
}

/* Posts an error about settings that colour video does not support. */
static gboolean
check_settings (GstCudaLwtFilter *self)
{
  const GstLwtSettings *wanted = &self->wanted;
  const gchar *what = NULL;

  if (wanted->output != GST_LWT_OUTPUT_AUTO
      && wanted->output != GST_LWT_OUTPUT_MEASURED)
    what = "output: it gives the video alone";
  else if (wanted->lambda_f > 0.0)
    what = "lambda-f: it has no spacing in metres, set levels";
  else if (wanted->reversible)
    what = "reversible: denoise is not";
  if (what == NULL && get_sides (self) != 0)
    what = "request pads: convert to GRAY8 for these";
  if (what == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
      ("Invalid settings: colour video cannot be denoised with this %s. Use "
       "its default.",
          what),
      (NULL));
  return FALSE;
}

/* Chooses the backend: the context of frames on a device, else as the property
 * backend sets it. */
static gboolean
choose_backend (GstCudaLwtFilter *self)
{
  const gboolean on_device = self->layout.on_device;
  CvisBackend wanted;
  gint device_id;

  GST_OBJECT_LOCK (self);
  wanted = self->filter.backend.wanted;
  device_id = self->filter.backend.device_id;
  if (on_device ? wanted != CVIS_BACKEND_CPU : TRUE)
    self->filter.backend.active = on_device || self->filter.context != NULL
                                      ? CVIS_BACKEND_CUDA
                                      : CVIS_BACKEND_CPU;
  GST_OBJECT_UNLOCK (self);
  if (!on_device)
    return TRUE;
  if (wanted == CVIS_BACKEND_CPU) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Cannot denoise frames in " GST_CVIS_CUDA_MEMORY_FEATURE
         " with backend=cpu. Put cudadownload before cudalwtfilter, or use "
         "backend=auto."),
        ("backend=cpu"));
    return FALSE;
  }
  return gst_cvis_cuda_start (self->filter.cuda, GST_ELEMENT (self), device_id);
}

GstFlowReturn
gst_lwt_denoise_negotiate (GstCudaLwtFilter *self)
{
  LwtType type = LWT_TYPE_F32;
  GstLwtSurface surface = { 0 };
  LwtConfig config;

  lwt_config_init (&config);
  config.width = self->layout.width;
  config.height = self->layout.height;
  if (!check_settings (self) || !choose_backend (self)
      || !gst_lwt_choose_out (self, self->filter.srcpad, self->part, &config,
          &surface, FALSE, &self->out, &type))
    return GST_FLOW_NOT_NEGOTIATED;
  return gst_lwt_push_caps (self);
}

/* --- engines --------------------------------------------------------------------- */

void
gst_lwt_denoise_free (GstCudaLwtFilter *self)
{
  g_clear_pointer (&self->video, gst_lwt_video_free);
  gst_cvis_pool_clear (&self->video_pool);
  self->n_video_frames = 0;
}

static void
refuse_engine (GstCudaLwtFilter *self, GError *error)
{
  if (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_INVALID))
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("Cannot denoise video of %ux%u pixels: %s. Check the properties.",
            self->layout.width, self->layout.height, error->message),
        (NULL));
  else if (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_MEMORY))
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory to denoise video of %ux%u pixels: %s. Use smaller frames "
         "or fewer frames-in-flight.",
            self->layout.width, self->layout.height, error->message),
        (NULL));
  else
    GST_ELEMENT_ERROR (self, LIBRARY, INIT,
        ("Cannot set up the lifting engine for %ux%u pixels: %s. Try "
         "backend=cpu.",
            self->layout.width, self->layout.height, error->message),
        (NULL));
  g_error_free (error);
}

/* The output pool; on a device downstream's, if that has the same context. */
static GstBufferPool *
new_pool (GstCudaLwtFilter *self, GstBuffer *like, GError **error)
{
  GstCaps *caps = self->out.caps;
  GstBufferPool *pool;
  GstQuery *query;

  if (!self->layout.on_device) {
    pool = gst_cvis_pool_new_active (
        self->filter.context, caps, self->layout.size, 0);
    if (pool == NULL)
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "no memory for buffers of %" G_GSIZE_FORMAT " bytes",
          self->layout.size);
    return pool;
  }
  query = gst_query_new_allocation (caps, TRUE);
  gst_pad_peer_query (self->filter.srcpad, query);
  pool = gst_cvis_cuda_pool_new (self->filter.cuda, caps, query, like, error);
  gst_query_unref (query);
  return pool;
}

/* Makes the engines while nothing is in flight. @context: (nullable): the context to
 * compute in */
static gboolean
setup (GstCudaLwtFilter *self, GstBuffer *like, CvisContext *context)
{
  GError *error = NULL;

  gst_lwt_free_engine (self);
  if (!gst_lwt_set_wavelet (self, self->wanted.wavelet))
    return FALSE;
  self->video = gst_lwt_video_new (&self->layout.picture, &self->wanted,
      self->wavelet, context, self->layout.on_device, &error);
  if (self->video != NULL)
    self->video_pool = new_pool (self, like, &error);
  if (self->video_pool == NULL) {
    refuse_engine (self, error);
    return FALSE;
  }
  self->started = TRUE;
  self->config = *gst_lwt_video_get_config (self->video);
  self->surface = (GstLwtSurface){ 0 };
  self->n_video_frames = gst_lwt_video_get_frames (self->video);
  gst_cvis_latency_set_frames (&self->filter.latency, self->n_video_frames);
  for (guint i = 0; i < self->n_video_frames; i++) {
    self->video_frames[i] = gst_lwt_frame_new ();
    self->video_frames[i]->video = g_new0 (GstLwtVideoFrame, 1);
    gst_cvis_queue_give (self->filter.queue, self->video_frames[i]);
  }
  gst_lwt_announce (self);
  return TRUE;
}

GstFlowReturn
gst_lwt_denoise_prepare (GstCudaLwtFilter *self, GstBuffer *buffer)
{
  const gboolean renegotiate = gst_pad_check_reconfigure (self->filter.srcpad);
  CvisContext *context = self->filter.context;
  GError *error = NULL;
  GstFlowReturn flow;

  get_sides (self);
  if (self->layout.on_device) {
    gint device_id;

    GST_OBJECT_LOCK (self);
    device_id = self->filter.backend.device_id;
    GST_OBJECT_UNLOCK (self);
    context =
        gst_cvis_cuda_follow (self->filter.cuda, buffer, device_id, &error);
    if (context == NULL)
      return gst_lwt_input_refuse (self, error);
  }
  if (self->video != NULL && !renegotiate
      && context == gst_lwt_video_get_context (self->video))
    return GST_FLOW_OK;
  flow = gst_cvis_queue_wait_idle (self->filter.queue);
  if (flow != GST_FLOW_OK) {
    if (renegotiate)
      gst_pad_mark_reconfigure (self->filter.srcpad);
    return flow;
  }
  if (renegotiate && self->video != NULL) {
    flow = gst_lwt_denoise_negotiate (self);
    /* the pool is chosen after earlier frames have left */
    if (flow == GST_FLOW_OK)
      flow = gst_cvis_queue_wait_idle (self->filter.queue);
    if (flow != GST_FLOW_OK)
      return flow;
  }
  if (setup (self, buffer, context))
    return GST_FLOW_OK;
  flow = gst_cvis_queue_get_flow (self->filter.queue);
  return flow == GST_FLOW_OK ? GST_FLOW_ERROR : flow;
}

/* --- a frame in flight -------------------------------------------------------------- */

GstFlowReturn
gst_lwt_denoise_submit (GstCudaLwtFilter *self, GstLwtFrame *frame,
    GstBuffer *buffer, GError **error)
{
  GstBuffer *out = NULL;
  GstFlowReturn flow =
      gst_buffer_pool_acquire_buffer (self->video_pool, &out, NULL);

  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    if (flow == GST_FLOW_ERROR)
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "no memory for a frame of %" G_GSIZE_FORMAT " bytes",
          self->layout.size);
    return flow;
  }
  frame->staged = self->filter.context != NULL && !self->layout.on_device
                  && !gst_cvis_memory_is_pinned (
                      gst_buffer_peek_memory (buffer, 0), self->filter.context);
  frame->in_flight = TRUE;
  if (gst_lwt_video_submit (self->video, frame->video, buffer, out, error))
    return GST_FLOW_OK;
  frame->in_flight = frame->video->n_submitted > 0;
  return GST_FLOW_ERROR;
}

/* Whether to copy a meta: not those about the memory layout */
static gboolean
copy_meta (GstBuffer *from, GstMeta **meta, gpointer to)
{
  const GstMetaInfo *info = (*meta)->info;
  GstMetaTransformCopy copy = { FALSE, 0, (gsize) -1 };

  if (info->transform_func != NULL && info->api != GST_VIDEO_CROP_META_API_TYPE
      && !gst_meta_api_type_has_tag (
          info->api, g_quark_from_static_string (GST_META_TAG_MEMORY_STR)))
    info->transform_func (to, *meta, from, _gst_meta_transform_copy, &copy);
  return TRUE;
}

GstBuffer *
gst_lwt_denoise_take (GstCudaLwtFilter *self, GstLwtFrame *frame)
{
  GstLwtVideoFrame *video = frame->video;
  GstBuffer *out = g_steal_pointer (&video->out);

  gst_buffer_copy_into (out, video->in,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  gst_buffer_foreach_meta (video->in, copy_meta, out);
  return out;
}

gboolean
gst_lwt_denoise_wait (
    GstCudaLwtFilter *self, GstLwtFrame *frame, GError **error)
{
  frame->in_flight = FALSE;
  return gst_lwt_video_wait (
      self->video, frame->video, &frame->job.threshold, error);
}

void
gst_lwt_denoise_discard (GstCudaLwtFilter *self)
{
  if (self->video == NULL)
    return;
  gst_lwt_video_drain (self->video);
  for (guint i = 0; i < self->n_video_frames; i++) {
    GstLwtFrame *frame = self->video_frames[i];

    if (!frame->in_flight)
      continue;
    frame->in_flight = FALSE;
    gst_lwt_frame_clear (frame);
    gst_cvis_queue_give (self->filter.queue, frame);
  }
}
