/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudamotionest, negotiation: accepted caps, the engine for them, and the answers
 * to queries. */
#include "gstmotionest-private.h"

#include "gst/common/gstcvispool.h"

#define GST_CAT_DEFAULT gst_cuda_motion_est_debug

/* Frames in flight, beside those that wait for later ones: on the CPU one is
 * prepared while another is searched; on a device one is copied in, one searched,
 * one copied out. */
#define IN_FLIGHT_CPU 2
#define IN_FLIGHT_CUDA 3

/* --- caps ------------------------------------------------------------------ */

/* 8-bit formats come first: a source that has 8-bit and deep formats prefers those. No
 * GRAY8 in CUDA memory: libgstcuda does not support it. */
#define COLOUR "I420, NV12, Y42B, Y444; P010_10LE, I420_10LE"

const GstCvisVideoKind gst_motion_est_kind = {
  .formats = "GRAY8, " COLOUR,
  .cuda_formats = COLOUR,
  .max_side = 16384,
};

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
  if (!gst_cvis_filter_parse_video (
          &self->filter, &gst_motion_est_kind, caps, info))
    return FALSE;
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
         && !is_interlaced (&info)
         && gst_cvis_caps_on_device (caps) == self->on_device
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
  gst_cvis_filter_set_fleet (&self->filter, NULL);
  g_clear_pointer (&self->engine, motion_engine_free);
  g_clear_pointer (&self->regions, motion_region_finder_free);
  gst_cvis_pool_clear (&self->packets);
  for (guint i = 0; i < GST_MOTION_SIDES; i++)
    gst_cvis_pool_clear (&self->pictures[i]);
  gst_cvis_filter_free_items (&self->filter);
}

/* The devices to search on; %NULL: one. */
static const CvisDevices *
get_devices (GstCudaMotionEst *self)
{
  const CvisDevices *devices = gst_cvis_filter_get_devices (&self->filter);

  if (devices == NULL || !motion_config_needs_prior (&self->config))
    return devices;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("One GPU searches, not all of cuda-device-ids: with this method or "
       "lambda a field starts from that of the frame before. Use method=field, "
       "or full or step with lambda=0, for several GPUs."),
      (NULL));
  return NULL;
}

static gboolean
make_engine (GstCudaMotionEst *self)
{
  const CvisFleetOwner owner = gst_cvis_filter_get_fleet_owner (&self->filter);
  const CvisDevices *devices = get_devices (self);
  const MotionConfig *config = &self->config;
  GError *error = NULL;
  guint n_frames = 0;
  gsize size;

  self->engine = devices != NULL
                     ? motion_engine_new_over (config, devices, &owner, &error)
                     : motion_engine_new (config, self->filter.context, &error);
  if (self->engine != NULL) {
    n_frames = motion_engine_get_depth (self->engine);
    gst_cvis_filter_set_fleet (
        &self->filter, motion_engine_get_fleet (self->engine));
  }
  if (self->engine != NULL)
    self->regions = motion_region_finder_new (config, &error);
  if (self->regions == NULL) {
    gst_cvis_filter_post_setup_error (
        &self->filter, config->width, config->height, error);
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
  if (!make_engine (self))
    return FALSE;
  n_frames = motion_engine_get_depth (self->engine);
  gst_cvis_latency_set_frames (
      &self->filter.latency, n_frames * self->interval);

  gst_video_info_set_format (&self->picture,
      config->depth > 8 ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8,
      config->width, config->height);
  for (guint i = 0; i < n_frames; i++)
    gst_cvis_filter_add_item (&self->filter, gst_motion_frame_new ());
  self->serial = 0;
  self->skip = 0;
  GST_INFO_OBJECT (self, "%ux%u, %u bits, %u x %u blocks, %u frames in flight",
      config->width, config->height, config->depth,
      motion_config_get_columns (config), motion_config_get_rows (config),
      n_frames);
  return TRUE;
}

/* Frames on a device are searched there, or on the device that the user named; then
 * they are copied. */
gboolean
gst_motion_setup_frames (GstCudaMotionEst *self, CvisContext *context)
{
  CvisContext *former = self->frames;
  CvisContext *other = NULL;
  gboolean ok;

  self->frames = cvis_context_ref (context);
  g_clear_pointer (&former, cvis_context_unref);
  if (!gst_cvis_filter_open_other_device (&self->filter, context, &other))
    return FALSE;
  ok = gst_motion_setup_engine (self, other != NULL ? other : context);
  g_clear_pointer (&other, cvis_context_unref);
  return ok;
}

/* Chooses the backend; not for frames on a device, whose memory has a context. */
static gboolean
decide_backend (GstCudaMotionEst *self)
{
  if (self->on_device) {
    self->decided = FALSE;
    g_clear_pointer (&self->filter.context, cvis_context_unref);
    return gst_cvis_filter_use_memory (&self->filter, TRUE);
  }
  if (!self->decided)
    self->decided = gst_cvis_filter_start_backend (&self->filter);
  return self->decided;
}

/* --- new caps -------------------------------------------------------------- */

/* Called while nothing is in flight. */
static gboolean
begin_layout (GstCudaMotionEst *self, GstCaps *caps)
{
  GstVideoInfo info;
  gboolean on_device = gst_cvis_caps_on_device (caps);

  gst_motion_free_engine (self);
  g_clear_pointer (&self->frames, cvis_context_unref);
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
 * proposed. */
gboolean
gst_motion_propose_allocation (GstCvisFilter *filter, GstQuery *query)
{
  gst_pad_peer_query (filter->srcpad, query);
  return gst_cvis_filter_propose_video (filter, query);
}
