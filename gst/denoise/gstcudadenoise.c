/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudadenoise
 * @title: cudadenoise
 * @short_description: removes noise from video
 *
 * Averages each frame of a video with its neighbours along the motion, as far as they
 * show the same, and then removes the noise that is left from the frame alone. The
 * strength follows the noise of the video. Frames leave in the format and size in which
 * they came, with their timestamps. No frame is dropped. The CPU and a CUDA device give
 * the same bits.
 *
 * With #GstCudaDenoise:mode wavelets, each frame is denoised alone with lifting wavelets.
 * This takes interlaced video, whose fields are denoised separately.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! decodebin ! videoconvert ! cudadenoise ! videoconvert ! x264enc ! matroskamux ! filesink location=clip.mkv
 * ]|
 *
 * Since: 0.2
 */
#include "gstcudadenoise.h"

#include <gst/base/gstqueuearray.h>

#include "cuda/lifting/plan.h"
#include "gst/common/gstcvispool.h"
#include "gst/common/gstcvisquery.h"
#include "gst/common/filter/gstcvisvideo.h"
#include "gstdenoisevideo.h"

GST_DEBUG_CATEGORY_STATIC (gst_cuda_denoise_debug);
#define GST_CAT_DEFAULT gst_cuda_denoise_debug

#define MAX_FRAMES 8 /* in flight */

/* An entry that waits until the frames before it have left: one of the two is set. */
typedef struct {
  GstDenoiseFrame *frame;
  GstEvent *event;
} Held;

struct _GstCudaDenoise {
  GstCvisFilter filter;

  /* --- under the object lock --- */
  GstDenoiseSettings settings;

  /* --- set in READY to PAUSED, before any thread runs --- */
  GstDenoiseSettings wanted;
  LwtWavelet *wavelet;

  /* --- set by the upstream thread while the task is idle --- */
  GstCaps *caps;
  GstVideoInfo layout; /* of the caps */
  gboolean on_device;
  GstDenoiseVideo *video;
  GstBufferPool *pool;

  /* --- of the upstream thread --- */
  gboolean key_wanted; /* by an event that came after the last frame */
  guint since_key;     /* frames from the last key frame on */

  /* --- of the source pad's task --- */
  GstQueueArray *held; /* of Held, in order */
  guint n_held;        /* frames among them */

  /* --- under the filter's stats lock --- */
  gdouble threshold; /* of the last frame's luma, levels of 8 bits */
  gdouble sigma;     /* the same */
};

/* 8-bit formats come first: a source that has deep formats too prefers those. */
#define COLOUR "NV12, I420, Y42B, Y444; P010_10LE, I420_10LE"

static const GstCvisVideoKind denoise_kind = {
  .formats = "GRAY8, " COLOUR ", I422_10LE, Y444_10LE, GRAY16_LE",
  .cuda_formats = COLOUR,
  .max_side = 16384,
};

#define gst_cuda_denoise_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstCudaDenoise, gst_cuda_denoise, GST_TYPE_CVIS_FILTER);
GST_ELEMENT_REGISTER_DEFINE (
    cudadenoise, "cudadenoise", GST_RANK_NONE, GST_TYPE_CUDA_DENOISE);

/* --- properties ------------------------------------------------------------ */

static const GEnumValue mode_values[] = {
  { GST_DENOISE_BOTH, "Over time, then in each frame", "both" },
  { GST_DENOISE_TEMPORAL, "Over time", "temporal" },
  { GST_DENOISE_SPATIAL, "Each frame alone", "spatial" },
  { GST_DENOISE_RECURSIVE,
      "Over time without later frames, for live video, then in each frame",
      "recursive" },
  { GST_DENOISE_WAVELETS, "Each frame alone with wavelets", "wavelets" },
  { 0, NULL, NULL },
};

static const GEnumValue preset_values[] = {
  { DENOISE_PRESET_NONE, "For viewers", "none" },
  { DENOISE_PRESET_ENCODER,
      "For encoders: over time, at half strength except in key frames and the "
      "first frame of a scene",
      "encoder" },
  { 0, NULL, NULL },
};

static const GEnumValue shrink_values[] = {
  { LWT_SHRINK_SOFT, "All reduced by the threshold", "soft" },
  { LWT_SHRINK_HARD, "Those below the threshold set to 0", "hard" },
  { LWT_SHRINK_GARROTE, "Between the two: w - t^2 / w", "garrote" },
  { 0, NULL, NULL },
};

#define AT(field) G_STRUCT_OFFSET (GstDenoiseSettings, field)
#define IS(kind) GST_CVIS_SETTING_##kind

static const GstCvisSetting settings_table[] = {
  { "mode", "Method: over time, in each frame, or both", IS (ENUM), AT (mode),
      FALSE, 0, 0, "GstDenoiseMode", mode_values },
  { "preset", "Settings for a purpose", IS (ENUM), AT (preset), FALSE, 0, 0,
      "GstDenoisePreset", preset_values },
  { "strength", "Factor of the noise that is assumed", IS (DOUBLE),
      AT (strength), FALSE, 0, 8, NULL, NULL },
  { "sigma",
      "Standard deviation of the noise in grey levels of 8 bits; 0 or -1: "
      "estimated",
      IS (DOUBLE), AT (sigma), FALSE, -1, 64, NULL, NULL },
  { "radius",
      "Frames before and after a frame (mode both and temporal), as many of "
      "latency; 0: 2, with preset=encoder 3",
      IS (UINT), AT (radius), FALSE, 0, DENOISE_MAX_RADIUS, NULL, NULL },
  { "gop-size",
      "Frames from one key frame of the encoder to the next (preset=encoder); "
      "0: those that GstForceKeyUnit asks for",
      IS (UINT), AT (gop_size), FALSE, 0, G_MAXINT, NULL, NULL },
  { "keep-grain", "Share of the noise that stays, 0 to 1", IS (DOUBLE),
      AT (keep_grain), FALSE, 0, 1, NULL, NULL },
  { "luma-only", "Copy the chroma", IS (BOOLEAN), AT (luma_only), FALSE, 0, 1,
      NULL, NULL },
  { "wavelet", "As of cudalwtfilter: a name, lifting steps or a filter bank",
      IS (STRING), AT (wavelet), FALSE, 0, 0, NULL, NULL },
  { "levels", "Levels of the transform", IS (UINT), AT (levels), FALSE, 1,
      LWT_MAX_LEVELS, NULL, NULL },
  { "shrink", "Shrinkage rule for coefficients", IS (ENUM), AT (shrink), FALSE,
      0, 0, "GstDenoiseShrink", shrink_values },
  { "threshold",
      "Threshold in grey levels of 8 bits; 0: sigma sqrt (2 ln N) "
      "threshold-scale, by the noise of each frame",
      IS (DOUBLE), AT (threshold), FALSE, 0, G_MAXDOUBLE, NULL, NULL },
  { "threshold-scale", "Factor of the automatic threshold", IS (DOUBLE),
      AT (threshold_scale), FALSE, 1e-3, 1000, NULL, NULL },
  { "spins", "Shifts of the grid over which the result is averaged", IS (UINT),
      AT (spins), FALSE, 1, 16, NULL, NULL },
  { "chroma", "Denoise the chroma too (mode wavelets)", IS (BOOLEAN),
      AT (chroma), FALSE, 0, 1, NULL, NULL },
  { "threads", "Threads that compute (backend cpu); 0: one per processor",
      IS (UINT), AT (threads), FALSE, 0, 1024, NULL, NULL },
  { "frames-in-flight", "Frames in flight; 0: 2 on the CPU, 3 with CUDA",
      IS (UINT), AT (frames_in_flight), FALSE, 0, MAX_FRAMES, NULL, NULL },
};

static const GstDenoiseSettings default_settings = { .strength = 1,
  .sigma = -1,
  .wavelet = (gchar *) "9/7",
  .levels = 4,
  .shrink = LWT_SHRINK_HARD,
  .threshold_scale = 0.6,
  .spins = 4 };

/* --- the engine ------------------------------------------------------------ */

static void
free_video (GstCudaDenoise *self)
{
  gst_cvis_filter_set_fleet (&self->filter, NULL);
  g_clear_pointer (&self->video, gst_denoise_video_free);
  gst_cvis_pool_clear (&self->pool);
  gst_cvis_filter_free_items (&self->filter);
}

/* The output pool; on a device downstream's, if that has the same context. */
static GstBufferPool *
new_output_pool (GstCudaDenoise *self, GstBuffer *like, GError **error)
{
  const gsize size = GST_VIDEO_INFO_SIZE (&self->layout);
  GstBufferPool *pool;
  GstQuery *query;

  if (!self->on_device) {
    pool = gst_cvis_pool_new_active (self->filter.context, self->caps, size, 0);
    if (pool == NULL)
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "no memory for buffers of %" G_GSIZE_FORMAT " bytes", size);
    return pool;
  }
  query = gst_query_new_allocation (self->caps, TRUE);
  gst_pad_peer_query (self->filter.srcpad, query);
  pool = gst_cvis_cuda_pool_new (
      self->filter.cuda, self->caps, query, like, error);
  gst_query_unref (query);
  return pool;
}

/* The devices to compute on; %NULL: one, or the CPU */
static const CvisDevices *
get_devices (GstCudaDenoise *self)
{
  const CvisDevices *devices = gst_cvis_filter_get_devices (&self->filter);

  if (devices == NULL || self->wanted.mode != GST_DENOISE_RECURSIVE)
    return devices;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("One GPU denoises, not all of cuda-device-ids: with mode=recursive a "
       "result starts from that of the frame before. Use another mode for "
       "several GPUs."),
      (NULL));
  return NULL;
}

/* Finds where to compute. Frames on a device are computed there, or on those that the user
 * named; then they are copied.
 * @other: (out): owned, for @place */
static gboolean
choose_place (GstCudaDenoise *self, CvisContext *context,
    GstDenoisePlace *place, CvisContext **other)
{
  *other = NULL;
  place->devices = get_devices (self);
  place->live =
      place->devices != NULL && gst_cvis_query_is_live (self->filter.sinkpad);
  place->context = self->filter.context;
  if (!self->on_device)
    return TRUE;
  place->frames = place->context = context;
  if (place->devices == NULL
      && !gst_cvis_filter_open_other_device (&self->filter, context, other))
    return FALSE;
  if (*other != NULL)
    place->context = *other;
  return TRUE;
}

/* Makes the engines while nothing is in flight. @context: of frames on a device */
static gboolean
make_video (GstCudaDenoise *self, GstBuffer *like, CvisContext *context)
{
  GError *error = NULL;
  guint n_frames;
  const CvisFleetOwner owner = gst_cvis_filter_get_fleet_owner (&self->filter);
  GstDenoisePlace place = { .owner = &owner };
  CvisContext *other;

  free_video (self);
  if (!choose_place (self, context, &place, &other))
    return FALSE;
  self->video = gst_denoise_video_new (
      &self->layout, &self->wanted, self->wavelet, &place, &error);
  g_clear_pointer (&other, cvis_context_unref);
  if (self->video != NULL)
    self->pool = new_output_pool (self, like, &error);
  if (self->pool == NULL) {
    gst_cvis_filter_post_setup_error (&self->filter,
        (guint) GST_VIDEO_INFO_WIDTH (&self->layout),
        (guint) GST_VIDEO_INFO_HEIGHT (&self->layout), error);
    free_video (self); /* has no frames */
    return FALSE;
  }
  gst_cvis_filter_set_fleet (
      &self->filter, gst_denoise_video_get_fleet (self->video));
  n_frames = gst_denoise_video_get_frames (self->video);
  gst_cvis_latency_set_frames (&self->filter.latency, n_frames);
  for (guint i = 0; i < n_frames; i++)
    gst_cvis_filter_add_item (&self->filter, gst_denoise_frame_new ());
  GST_INFO_OBJECT (self, "%dx%d, %u frames in flight",
      GST_VIDEO_INFO_WIDTH (&self->layout),
      GST_VIDEO_INFO_HEIGHT (&self->layout), n_frames);
  return TRUE;
}

/* --- new caps -------------------------------------------------------------- */

/* Posts an error if the mode does not support the layout. */
static gboolean
check_mode (GstCudaDenoise *self, GstCaps *caps)
{
  if (self->wanted.mode == GST_DENOISE_WAVELETS)
    return TRUE;
  if (GST_VIDEO_INFO_IS_INTERLACED (&self->layout)
      && GST_VIDEO_INFO_INTERLACE_MODE (&self->layout)
             != GST_VIDEO_INTERLACE_MODE_MIXED) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: interlaced frames (%s) have fields of two times. "
         "Put deinterlace before cudadenoise, or set mode=wavelets.",
            gst_video_interlace_mode_to_string (
                GST_VIDEO_INFO_INTERLACE_MODE (&self->layout))),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  return TRUE;
}

/* The first frame has the engines made: on a device it brings the context. */
static GstFlowReturn
gst_cuda_denoise_set_caps (GstCvisFilter *filter, GstCaps *caps)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);
  GstFlowReturn flow = gst_cvis_filter_drain (filter);

  if (flow != GST_FLOW_OK)
    return flow;
  free_video (self);
  gst_caps_replace (&self->caps, caps);
  if (!gst_cvis_filter_parse_video (filter, &denoise_kind, caps, &self->layout))
    return GST_FLOW_NOT_NEGOTIATED;
  if (!check_mode (self, caps))
    return GST_FLOW_NOT_NEGOTIATED;
  self->on_device = gst_cvis_caps_on_device (caps);
  if (!gst_cvis_filter_use_memory (filter, self->on_device))
    return GST_FLOW_NOT_NEGOTIATED;
  gst_cvis_latency_break (&filter->latency);
  gst_cvis_latency_set_framerate (&filter->latency,
      GST_VIDEO_INFO_FPS_N (&self->layout),
      GST_VIDEO_INFO_FPS_D (&self->layout));
  return GST_FLOW_OK;
}

static gboolean
gst_cuda_denoise_propose_allocation (GstCvisFilter *filter, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  return gst_cvis_filter_propose_video (filter, query);
}

/* --- the upstream thread --------------------------------------------------- */

/* Makes sure of engines and a pool for frames like @buffer. */
static GstFlowReturn
gst_cuda_denoise_prepare (GstCvisFilter *filter, GstBuffer *buffer)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);
  /* downstream may offer another pool */
  const gboolean renegotiate = gst_pad_check_reconfigure (self->filter.srcpad);
  CvisContext *context = self->filter.context;
  GError *error = NULL;
  GstFlowReturn flow;

  if (self->on_device) {
    context =
        gst_cvis_filter_follow_video (&self->filter, buffer, TRUE, &error);
    if (context == NULL)
      return gst_cvis_filter_reject_frame (filter, error);
  }
  if (self->video != NULL
      && (!renegotiate || self->wanted.mode != GST_DENOISE_WAVELETS)
      && context == gst_denoise_video_get_context (self->video))
    return GST_FLOW_OK;
  flow = gst_cvis_queue_wait_idle (self->filter.queue);
  if (flow != GST_FLOW_OK && renegotiate)
    gst_pad_mark_reconfigure (self->filter.srcpad);
  if (flow == GST_FLOW_OK && !make_video (self, buffer, context)) {
    flow = gst_cvis_queue_get_flow (self->filter.queue);
    flow = flow == GST_FLOW_OK ? GST_FLOW_ERROR : flow;
  }
  return flow;
}

/* Whether the encoder will make a key frame of the next frame, as far as is known */
static gboolean
take_key_frame (GstCudaDenoise *self)
{
  const gboolean key = self->key_wanted
                       || (self->wanted.gop_size > 0
                           && self->since_key >= self->wanted.gop_size);

  self->since_key = key ? 1 : self->since_key + 1;
  self->key_wanted = FALSE;
  return key;
}

static GstFlowReturn
gst_cuda_denoise_begin (
    GstCvisFilter *filter, gpointer item, GstBuffer *buffer, GError **error)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);
  GstDenoiseFrame *frame = item;
  GstBuffer *out = NULL;
  GstFlowReturn flow;

  if (self->wanted.mode != GST_DENOISE_WAVELETS
      && GST_BUFFER_FLAG_IS_SET (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED)
      && GST_VIDEO_INFO_IS_INTERLACED (&self->layout)) {
    gst_buffer_unref (buffer);
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "it is interlaced, with fields of two times. Put deinterlace before "
        "cudadenoise, or set mode=wavelets");
    return GST_FLOW_ERROR;
  }
  flow = gst_buffer_pool_acquire_buffer (self->pool, &out, NULL);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    if (flow == GST_FLOW_ERROR)
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "no memory for a frame of %" G_GSIZE_FORMAT " bytes",
          GST_VIDEO_INFO_SIZE (&self->layout));
    return flow;
  }
  frame->item.staged = filter->context != NULL && !self->on_device
                       && !gst_cvis_memory_is_pinned (
                           gst_buffer_peek_memory (buffer, 0), filter->context);
  frame->key_frame = take_key_frame (self);
  if (!gst_denoise_video_submit (self->video, frame, buffer, out, error))
    return GST_FLOW_ERROR;
  gst_cvis_filter_announce_kernels (
      filter, gst_denoise_video_describe (self->video));
  return GST_FLOW_OK;
}

/* --- the source pad's task ------------------------------------------------- */

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

static GstFlowReturn
deliver_frame (GstCudaDenoise *self, GstDenoiseFrame *frame)
{
  GstCvisFilter *filter = &self->filter;
  GstCvisLeaving leaving = { NULL };

  gst_buffer_copy_into (frame->out, frame->in,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  gst_buffer_foreach_meta (frame->in, copy_meta, frame->out);
  leaving.source = g_steal_pointer (&frame->out);
  g_mutex_lock (&filter->stats_lock);
  self->threshold = frame->threshold;
  self->sigma = frame->job.sigma[0];
  g_mutex_unlock (&filter->stats_lock);
  gst_denoise_frame_clear (frame);
  return gst_cvis_filter_deliver (filter, frame, &leaving);
}

/* Pushes the events between the frame that left, with @flow, and the next one. */
static GstFlowReturn
push_held_events (GstCudaDenoise *self, GstFlowReturn flow)
{
  Held *head;

  while ((head = gst_queue_array_peek_head_struct (self->held)) != NULL
         && head->event != NULL) {
    GstEvent *event = head->event;
    GstFlowReturn pushed;

    gst_queue_array_pop_head_struct (self->held);
    pushed = gst_cvis_filter_push_event (&self->filter, event);
    flow = flow == GST_FLOW_OK ? pushed : flow;
  }
  return flow;
}

/* Completes frames, in order, until none is left or the next one waits for later
 * frames. */
static GstFlowReturn
complete_held_frames (GstCudaDenoise *self)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && self->n_held > 0) {
    const Held *head = gst_queue_array_peek_head_struct (self->held);
    GstDenoiseFrame *frame = head->frame;
    GError *error = NULL;
    gboolean ready;
    const gboolean ok =
        gst_denoise_video_wait (self->video, frame, &ready, &error);

    if (!ready)
      break;
    gst_queue_array_pop_head_struct (self->held);
    self->n_held--;
    if (!ok)
      return gst_cvis_filter_fail (&self->filter, frame, NULL, error);
    flow = push_held_events (self, deliver_frame (self, frame));
  }
  return flow;
}

static GstFlowReturn
gst_cuda_denoise_complete (GstCvisFilter *filter, gpointer item)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);

  gst_queue_array_push_tail_struct (self->held, &(Held){ .frame = item });
  self->n_held++;
  return complete_held_frames (self);
}

/* Frames that waited for later ones are complete without them. */
static GstFlowReturn
gst_cuda_denoise_mark (GstCvisFilter *filter)
{
  const GstFlowReturn flow = complete_held_frames (GST_CUDA_DENOISE (filter));

  return flow == GST_FLOW_OK ? gst_cvis_filter_get_flow (filter) : flow;
}

static GstFlowReturn
gst_cuda_denoise_src_event (GstCvisFilter *filter, GstEvent *event)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);

  /* EOS overtakes frames only after an error: they will not leave */
  if (self->n_held == 0 || GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    return gst_cvis_filter_push_event (filter, event);
  gst_queue_array_push_tail_struct (self->held, &(Held){ .event = event });
  return GST_FLOW_OK;
}

/* --- sequences -------------------------------------------------------------- */

/* Completes frames that wait for later ones without these; the mark has the source
 * pad's task push them. */
static GstFlowReturn
gst_cuda_denoise_finish (GstCvisFilter *filter)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);
  const GstFlowReturn flow = gst_cvis_queue_wait_idle (filter->queue);

  if (self->video == NULL || flow != GST_FLOW_OK)
    return flow;
  gst_denoise_video_end (self->video);
  return gst_cvis_queue_push_mark (filter->queue);
}

/* Frames after the events that end a sequence, or leave a gap, are not averaged with
 * those before them. */
static GstFlowReturn
gst_cuda_denoise_sink_event (GstCvisFilter *filter, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_GAP:
    case GST_EVENT_EOS:
      return gst_cvis_filter_drain (filter);
    case GST_EVENT_CUSTOM_DOWNSTREAM:
      if (gst_video_event_is_force_key_unit (event))
        GST_CUDA_DENOISE (filter)->key_wanted = TRUE;
      return GST_FLOW_OK;
    default:
      return GST_FLOW_OK;
  }
}

/* --- start and stop -------------------------------------------------------- */

static void
gst_cuda_denoise_drain (GstCvisFilter *filter)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);

  if (self->video != NULL)
    gst_denoise_video_drain (self->video);
}

static void
gst_cuda_denoise_flush (GstCvisFilter *filter)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);
  Held *held;

  while ((held = gst_queue_array_pop_head_struct (self->held)) != NULL)
    if (held->event != NULL)
      gst_cvis_queue_drop (GST_MINI_OBJECT_CAST (held->event), filter->srcpad);
  self->n_held = 0;
}

static void
gst_cuda_denoise_stop (GstCvisFilter *filter)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);

  free_video (self);
  g_clear_pointer (&self->wavelet, lwt_wavelet_free);
  gst_clear_caps (&self->caps);
}

static void
gst_cuda_denoise_reset_stats (GstCvisFilter *filter)
{
  GST_CUDA_DENOISE (filter)->threshold = 0.0;
  GST_CUDA_DENOISE (filter)->sigma = 0.0;
}

static gboolean
gst_cuda_denoise_start (GstCvisFilter *filter)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (filter);
  GError *error = NULL;

  GST_OBJECT_LOCK (self);
  g_free (self->wanted.wavelet);
  self->wanted = self->settings;
  self->wanted.wavelet = g_strdup (self->settings.wavelet);
  GST_OBJECT_UNLOCK (self);
  self->key_wanted = FALSE;
  self->since_key = 0;
  self->wavelet = lwt_wavelet_new (self->wanted.wavelet, &error);
  if (self->wavelet == NULL) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("Cannot use the wavelet \"%s\": %s. Set wavelet to a name such as "
         "9/7.",
            self->wanted.wavelet, error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  return gst_cvis_filter_start_backend (filter);
}

/* --- object ---------------------------------------------------------------- */

static void
gst_cuda_denoise_add_stats (GstCvisFilter *filter, GstStructure *stats)
{
  gst_structure_set (stats, "threshold", G_TYPE_DOUBLE,
      GST_CUDA_DENOISE (filter)->threshold, "sigma", G_TYPE_DOUBLE,
      GST_CUDA_DENOISE (filter)->sigma, NULL);
}

static void
gst_cuda_denoise_finalize (GObject *object)
{
  GstCudaDenoise *self = GST_CUDA_DENOISE (object);

  g_free (self->wanted.wavelet);
  gst_queue_array_free (self->held);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_denoise_class_init (GstCudaDenoiseClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCvisFilterClass *filter_class = GST_CVIS_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_cuda_denoise_debug, "cudadenoise", 0, "denoising of video");
  object_class->finalize = gst_cuda_denoise_finalize;
  filter_class->words.engine = "denoising";
  filter_class->words.verb = "denoise";
  filter_class->free_item = (GDestroyNotify) gst_denoise_frame_free;
  filter_class->clear_item = gst_denoise_frame_clear;
  filter_class->cuda_memory = TRUE;
  filter_class->start = gst_cuda_denoise_start;
  filter_class->stop = gst_cuda_denoise_stop;
  filter_class->set_caps = gst_cuda_denoise_set_caps;
  filter_class->prepare = gst_cuda_denoise_prepare;
  filter_class->begin = gst_cuda_denoise_begin;
  filter_class->sink_event = gst_cuda_denoise_sink_event;
  filter_class->finish = gst_cuda_denoise_finish;
  filter_class->complete = gst_cuda_denoise_complete;
  filter_class->mark = gst_cuda_denoise_mark;
  filter_class->src_event = gst_cuda_denoise_src_event;
  filter_class->drain = gst_cuda_denoise_drain;
  filter_class->flush = gst_cuda_denoise_flush;
  filter_class->accept_caps = gst_cvis_filter_accept_video;
  filter_class->propose_allocation = gst_cuda_denoise_propose_allocation;
  filter_class->add_stats = gst_cuda_denoise_add_stats;
  filter_class->reset_stats = gst_cuda_denoise_reset_stats;
  gst_cvis_filter_class_install_settings (filter_class, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstCudaDenoise, settings),
      &default_settings);
  gst_cvis_filter_class_install_devices (filter_class);
  gst_cvis_filter_class_add_video_pads (filter_class, &denoise_kind, TRUE);
  gst_element_class_set_static_metadata (element_class, "Video denoiser",
      "Filter/Effect/Video/Hardware",
      "Removes noise from video along its motion on the CPU or with CUDA",
      "the gst-cudavision authors");
}

static void
gst_cuda_denoise_init (GstCudaDenoise *self)
{
  gst_cvis_settings_init (self);
  self->held = gst_queue_array_new_for_struct (sizeof (Held), 16);
}
