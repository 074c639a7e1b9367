/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudamotionest, negotiation: accepted caps, the engine for them, and the answers
 * to queries. */
#include "gstmotionest-private.h"

#include "gst/common/gstcvispool.h"
#include "gst/common/gstcvisquery.h"

#define GST_CAT_DEFAULT gst_cuda_motion_est_debug

/* Frames in flight, beside those that wait for later ones: on the CPU one is
 * prepared while another is searched; on a device one is copied in, one searched,
 * one copied out. */
#define IN_FLIGHT_CPU 2
#define IN_FLIGHT_CUDA 3
/* --- caps ------------------------------------------------------------------ */

static gboolean
is_on_device (const GstCaps *caps)
{
  const GstCapsFeatures *features = gst_caps_get_features (caps, 0);

  return features != NULL
         && gst_caps_features_contains (features, GST_CVIS_CUDA_MEMORY_FEATURE);
}

static gboolean
is_known_format (GstVideoFormat format, gboolean on_device)
{
  switch (format) {
    case GST_VIDEO_FORMAT_GRAY8:
      return !on_device;
    case GST_VIDEO_FORMAT_I420:
    case GST_VIDEO_FORMAT_NV12:
    case GST_VIDEO_FORMAT_Y42B:
    case GST_VIDEO_FORMAT_Y444:
    case GST_VIDEO_FORMAT_P010_10LE:
    case GST_VIDEO_FORMAT_I420_10LE:
      return TRUE;
    default:
      return FALSE;
  }
}

/* Posts an error if the memory of @caps is not supported. */
static gboolean
check_memory (GstCudaMotionEst *self, GstCaps *caps)
{
  const GstCapsFeatures *features = gst_caps_get_features (caps, 0);
  CvisBackend wanted;

  GST_OBJECT_LOCK (self);
  wanted = self->filter.backend.wanted;
  GST_OBJECT_UNLOCK (self);
  if (gst_caps_features_is_any (features)
      || (!gst_caps_features_is_equal (
              features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)
          && !(is_on_device (caps) && gst_cvis_cuda_available (NULL)))) {
    const gchar *why_not = "";

    gst_cvis_cuda_available (&why_not);
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Unsupported caps: frames are accepted in system memory%s only. Put "
         "cudadownload before cudamotionest.",
            *why_not == '\0' ? " or in " GST_CVIS_CUDA_MEMORY_FEATURE : ""),
        ("caps: %" GST_PTR_FORMAT " %s", caps, why_not));
    return FALSE;
  }
  if (is_on_device (caps) && wanted == CVIS_BACKEND_CPU) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Cannot search frames in " GST_CVIS_CUDA_MEMORY_FEATURE
         " with backend=cpu. Put cudadownload before cudamotionest, or use "
         "backend=auto."),
        ("backend=cpu"));
    return FALSE;
  }
  return TRUE;
}

/* In a stream of mixed interlacing each frame has flags of its own. */
static gboolean
is_interlaced (const GstVideoInfo *info)
{
  return GST_VIDEO_INFO_IS_INTERLACED (info)
         && GST_VIDEO_INFO_INTERLACE_MODE (info)
                != GST_VIDEO_INTERLACE_MODE_MIXED;
}

/* Posts an error if @caps are not supported. */
static gboolean
parse_caps (GstCudaMotionEst *self, GstCaps *caps, GstVideoInfo *info)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *format = gst_structure_get_string (s, "format");
  gint width, height;

  if (!check_memory (self, caps))
    return FALSE;
  if (!gst_structure_has_name (s, "video/x-raw")
      || !is_known_format (
          gst_video_format_from_string (format), is_on_device (caps))) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Unsupported caps: format %s is none of %s. Put videoconvert before "
         "cudamotionest.",
            format != NULL ? format : "(none)",
            is_on_device (caps)
                ? GST_MOTION_EST_CUDA_FORMATS ", " GST_MOTION_EST_DEEP_FORMATS
                : GST_MOTION_EST_FORMATS ", " GST_MOTION_EST_DEEP_FORMATS),
        ("caps: %" GST_PTR_FORMAT "", caps));
    return FALSE;
  }
  if (!gst_video_info_from_caps (info, caps)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: not raw video. Put a decoder before "
         "cudamotionest."),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  width = GST_VIDEO_INFO_WIDTH (info);
  height = GST_VIDEO_INFO_HEIGHT (info);
  if (MIN (width, height) < 1
      || MAX (width, height) > GST_MOTION_EST_MAX_SIDE) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported frame size: %dx%d is not in 1x1 to %dx%d. Crop or scale "
         "the frames.",
            width, height, GST_MOTION_EST_MAX_SIDE, GST_MOTION_EST_MAX_SIDE),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (is_interlaced (info)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: interlaced frames (%s) have fields of two times. "
         "Put deinterlace before cudamotionest.",
            gst_video_interlace_mode_to_string (
                GST_VIDEO_INFO_INTERLACE_MODE (info))),
        ("caps: %" GST_PTR_FORMAT "", caps));
    return FALSE;
  }
  return TRUE;
}

/* Whether frames of @caps can be compared with earlier ones, in the same engine. */
static gboolean
is_same_stream (GstCudaMotionEst *self, GstCaps *caps)
{
  const GstVideoInfo *old = &self->layout;
  GstVideoInfo info;

  return self->filter.negotiated && gst_video_info_from_caps (&info, caps)
         && !is_interlaced (&info) && is_on_device (caps) == self->on_device
         && GST_VIDEO_INFO_FORMAT (&info) == GST_VIDEO_INFO_FORMAT (old)
         && GST_VIDEO_INFO_WIDTH (&info) == GST_VIDEO_INFO_WIDTH (old)
         && GST_VIDEO_INFO_HEIGHT (&info) == GST_VIDEO_INFO_HEIGHT (old);
}

/* --- the engine ------------------------------------------------------------ */

GstBufferPool *
gst_motion_get_picture_pool (GstCudaMotionEst *self, GstMotionSideKind kind)
{
  GstBufferPool **pool = &self->pictures[kind];
  GstCaps *caps;

  if (*pool == NULL) {
    caps = gst_video_info_to_caps (&self->picture);
    *pool = gst_cvis_pool_new_active (
        self->filter.context, caps, GST_VIDEO_INFO_SIZE (&self->picture), 0);
    gst_caps_unref (caps);
  }
  return *pool;
}

void
gst_motion_free_engine (GstCudaMotionEst *self)
{
  g_clear_pointer (&self->engine, motion_engine_free);
  g_clear_pointer (&self->regions, motion_region_finder_free);
  gst_cvis_pool_clear (&self->packets);
  for (guint i = 0; i < GST_MOTION_SIDES; i++)
    gst_cvis_pool_clear (&self->pictures[i]);
  gst_cvis_queue_free_spare (self->filter.queue);
}

static gboolean
make_engine (GstCudaMotionEst *self, guint n_frames)
{
  const MotionConfig *config = &self->config;
  GError *error = NULL;
  gsize size;

  self->engine = motion_engine_new (config, self->filter.context, &error);
  if (self->engine != NULL)
    self->regions = motion_region_finder_new (config, &error);
  if (self->regions == NULL) {
    GST_ELEMENT_ERROR (self, LIBRARY, INIT,
        ("Cannot set up the motion engine for %ux%u pixels: %s. Change the "
         "settings or the frame size, or use backend=cpu.",
            config->width, config->height, error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  size = gst_cvis_motion_packet_get_size (motion_config_get_columns (config),
      motion_config_get_rows (config), motion_config_get_n_fields (config));
  self->packets = size <= G_MAXUINT ? gst_cvis_pool_new_active (
                      self->filter.context, NULL, size, n_frames + 1)
                                    : NULL;
  if (self->packets == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for results of %" G_GSIZE_FORMAT
         " bytes per frame. Use a larger block-size or fewer references.",
            size),
        ("%u fields of %u x %u blocks", motion_config_get_n_fields (config),
            motion_config_get_columns (config),
            motion_config_get_rows (config)));
    return FALSE;
  }
  return TRUE;
}

/* 1 if frames are not larger than search-size */
static guint
get_sampling (const GstCudaMotionEst *self)
{
  const guint side = (guint) MAX (GST_VIDEO_INFO_WIDTH (&self->layout),
      GST_VIDEO_INFO_HEIGHT (&self->layout));
  const guint size = self->search_size;
  guint sampling = size > 0 ? (side + size - 1) / size : 1;

  /* a side shorter than that has one sample */
  sampling = MIN (sampling, (guint) MIN (GST_VIDEO_INFO_WIDTH (&self->layout),
                                GST_VIDEO_INFO_HEIGHT (&self->layout)));
  return CLAMP (sampling, 1, 256);
}

gboolean
gst_motion_setup_engine (GstCudaMotionEst *self, CvisContext *context)
{
  MotionConfig *config = &self->config;
  const GstVideoInfo *info = &self->layout;
  CvisContext *former = self->filter.context;
  guint n_frames;

  gst_motion_free_engine (self);
  self->filter.context = context != NULL ? cvis_context_ref (context) : NULL;
  g_clear_pointer (&former, cvis_context_unref);
  *config = self->wanted;
  config->sampling = get_sampling (self);
  config->width = MAX (GST_VIDEO_INFO_WIDTH (info) / config->sampling, 1);
  config->height = MAX (GST_VIDEO_INFO_HEIGHT (info) / config->sampling, 1);
  config->depth = GST_VIDEO_INFO_COMP_DEPTH (info, 0);
  config->depth_in_flight = context != NULL ? IN_FLIGHT_CUDA : IN_FLIGHT_CPU;
  n_frames = config->depth_in_flight
             + (config->bidirectional ? config->references : 0);
  gst_cvis_latency_set_frames (
      &self->filter.latency, n_frames * self->interval);
  if (!make_engine (self, n_frames))
    return FALSE;

  gst_video_info_set_format (&self->picture,
      config->depth > 8 ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8,
      config->width, config->height);
  for (guint i = 0; i < n_frames; i++)
    gst_cvis_queue_give (self->filter.queue, gst_motion_frame_new ());
  self->serial = 0;
  self->skip = 0;
  GST_INFO_OBJECT (self, "%ux%u, %u bits, %u x %u blocks, %u frames in flight",
      config->width, config->height, config->depth,
      motion_config_get_columns (config), motion_config_get_rows (config),
      n_frames);
  return TRUE;
}

/* Chooses the backend; not for frames on a device, whose memory has a context. */
static gboolean
decide_backend (GstCudaMotionEst *self)
{
  gint device_id;

  if (!self->on_device) {
    if (self->decided)
      return TRUE;
    self->decided = gst_cvis_filter_start_backend (&self->filter);
    return self->decided;
  }
  GST_OBJECT_LOCK (self);
  device_id = self->filter.backend.device_id;
  self->filter.backend.active = CVIS_BACKEND_CUDA;
  GST_OBJECT_UNLOCK (self);
  self->decided = FALSE;
  g_clear_pointer (&self->filter.context, cvis_context_unref);
  return gst_cvis_cuda_start (self->filter.cuda, GST_ELEMENT (self), device_id);
}

/* --- new caps -------------------------------------------------------------- */

/* Called while nothing is in flight. */
static gboolean
begin_layout (GstCudaMotionEst *self, GstCaps *caps)
{
  GstVideoInfo info;
  gboolean on_device = is_on_device (caps);

  gst_motion_free_engine (self);
  if (!parse_caps (self, caps, &info))
    return FALSE;
  self->layout = info;
  if (on_device != self->on_device)
    g_clear_pointer (&self->filter.context, cvis_context_unref);
  self->on_device = on_device;
  /* on a device the first frame brings the context for the engine */
  return decide_backend (self)
         && (on_device || gst_motion_setup_engine (self, self->filter.context));
}

GstFlowReturn
gst_motion_negotiate (GstCvisFilter *filter, GstCaps *caps)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  GstFlowReturn flow;

  if (is_same_stream (self, caps)) {
    gst_video_info_from_caps (&self->layout, caps);
  } else {
    flow = gst_cvis_filter_drain (filter);
    if (flow != GST_FLOW_OK)
      return flow;
    if (!begin_layout (self, caps))
      return GST_FLOW_NOT_NEGOTIATED;
  }
  gst_cvis_latency_set_framerate (&filter->latency,
      GST_VIDEO_INFO_FPS_N (&self->layout),
      GST_VIDEO_INFO_FPS_D (&self->layout));
  return GST_FLOW_OK;
}

/* --- queries --------------------------------------------------------------- */

/* Frames pass unchanged, so that the layouts and metas that downstream supports are
 * proposed. For frames that a device has to copy the memory is pinned. */
gboolean
gst_motion_propose_allocation (GstCvisFilter *filter, GstQuery *query)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  GstVideoInfo info;
  gboolean need_pool;
  GstCaps *caps;
  guint held;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  held = gst_cvis_latency_get_frames (&self->filter.latency) + 1;
  gst_pad_peer_query (self->filter.srcpad, query);
  if (self->filter.context != NULL && !is_on_device (caps) && need_pool)
    gst_cvis_query_propose_pool (query, self->filter.context, caps,
        GST_VIDEO_INFO_SIZE (&info), held,
        gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  else
    gst_cvis_query_hold_frames (query, GST_VIDEO_INFO_SIZE (&info), held);
  return TRUE;
}
