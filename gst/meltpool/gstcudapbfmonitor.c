/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudapbfmonitor
 * @title: cudapbfmonitor
 * @short_description: analyses the melt pool of a laser powder-bed printer
 *
 * Finds the melt pool and the spatters in every frame of a camera on the laser's
 * optical axis, and computes the 40 features of the specification "pbf40-v1", on the
 * CPU or on a CUDA device, with the same bits. A small neural network
 * (#GstCudaPbfMonitor:model-location) can evaluate the features.
 *
 * Frames pass unchanged, as buffers or buffer lists as they came, and carry the
 * results as #GstCvisPbfMeta. The request pad "src_result" gives the same records as a
 * stream, for files and other programs.
 *
 * Frames are computed in batches of #GstCudaPbfMonitor:batch-size; no frame
 * waits longer than #GstCudaPbfMonitor:max-latency for its batch to fill.
 * No frame is dropped, unless #GstCudaPbfMonitor:empty-frames is set to drop.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbftestsrc num-buffers=20000 ! cudapbfmonitor ! fakesink
 * ]|
 * |[
 * gst-launch-1.0 pbftestsrc num-buffers=2000 ! cudapbfmonitor name=m ! fakesink m.src_result ! pbfresultenc ! filesink location=features.csv
 * ]|
 *
 * Since: 0.1
 */
#define _GNU_SOURCE /* for the sets of processors in sched.h */
#include <errno.h>
#include <sched.h>

#include "gstpbfmonitor-private.h"

#include "gst/common/gstcvispool.h"
#include "gst/common/gstcvisquery.h"
#include "gst/cudavision/cudavision.h"

GST_DEBUG_CATEGORY (gst_cuda_pbf_monitor_debug);
#define GST_CAT_DEFAULT gst_cuda_pbf_monitor_debug

/* latency reported for a batch in the engine until one takes longer */
#define FIRST_PROCESSING GST_MSECOND
/* limit of the minimum size of a proposed pool */
#define POOL_BYTES (64 * 1024 * 1024)

#define VIDEO_CAPS                                                             \
  "video/x-raw, format = (string) " GST_PBF_GREY_FORMATS ", "                  \
  "width = (int) [ 40, 16384 ], height = (int) [ 40, 16384 ], "                \
  "framerate = (fraction) [ 0, max ]"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (VIDEO_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (VIDEO_CAPS));
static GstStaticPadTemplate result_template =
    GST_STATIC_PAD_TEMPLATE ("src_result", GST_PAD_SRC, GST_PAD_REQUEST,
        GST_STATIC_CAPS (GST_CVIS_PBF_RESULT_CAPS));

#define gst_cuda_pbf_monitor_parent_class parent_class
G_DEFINE_TYPE (GstCudaPbfMonitor, gst_cuda_pbf_monitor, GST_TYPE_CVIS_FILTER);
GST_ELEMENT_REGISTER_DEFINE (
    cudapbfmonitor, "cudapbfmonitor", GST_RANK_NONE, GST_TYPE_CUDA_PBF_MONITOR);

/* --- start and stop -------------------------------------------------------- */

static void
warn_about_model (GstCudaPbfMonitor *self)
{
  const PbfConfig *config = &self->active.config;
  const PbfModel *model = self->model;
  GString *text;

  text = g_string_new (NULL);
  if (model->threshold >= 0 && (guint) model->threshold != config->threshold)
    g_string_append_printf (
        text, " threshold=%d (here %u)", model->threshold, config->threshold);
  if (model->window >= 0 && (guint) model->window != config->window)
    g_string_append_printf (
        text, " temporal-window=%d (here %u)", model->window, config->window);
  if (text->len > 0)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("Outputs of the network may be wrong: it was trained with other "
         "settings:%s. Set those, or use a network trained with the present "
         "ones.",
            text->str),
        ("model-location=%s", self->active.model_location));
  g_string_free (text, TRUE);
  if (model->baseline == PBF_BASELINE_REQUIRED
      && self->active.learn_baseline == 0)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("Outputs of the network are wrong: it expects features relative to "
         "the "
         "machine's nominal frames, and has no baseline. Set learn-baseline, "
         "baseline-location and machine, or use a file that was stored so."),
        ("model-location=%s", self->active.model_location));
}

static gboolean
load_model (GstCudaPbfMonitor *self)
{
  const gchar *location = self->active.model_location;
  GError *error = NULL;

  if (location == NULL || *location == '\0')
    return TRUE;
  self->model = pbf_model_load (location, &error);
  if (self->model == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Cannot load the network \"%s\": %s. Check model-location.", location,
            error->message),
        ("a safetensors file of " CVIS_PBF_FEATURE_SPEC " is expected"));
    g_error_free (error);
    return FALSE;
  }
  if (self->active.learn_baseline == 0
      && !pbf_model_check_machine (self->model, self->active.machine, &error)) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Cannot use the network \"%s\": %s. Learn a baseline of this machine "
         "with learn-baseline, or correct machine.",
            location, error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  warn_about_model (self);
  return TRUE;
}

static void
make_vote (GstCudaPbfMonitor *self)
{
  PbfActivation *activation = &self->active.config.activation;
  const gboolean unknown = self->model != NULL && self->model->unknown;

  if (*activation == PBF_ACTIVATION_AUTO)
    *activation =
        self->model != NULL ? self->model->activation : PBF_ACTIVATION_NONE;
  /* softmax is over classes */
  if (unknown && *activation == PBF_ACTIVATION_SOFTMAX)
    *activation = PBF_ACTIVATION_SOFTMAX_UNKNOWN;
  self->vote = pbf_vote_new (self->active.vote_window, *activation, unknown);
}

static gboolean
open_result_link (GstCudaPbfMonitor *self)
{
  const gchar *host = self->active.result_host;
  guint port = self->active.result_port;
  GError *error = NULL;

  if (host == NULL || *host == '\0')
    return TRUE;
  self->result_link = gst_pbf_result_link_new (host, port, &error);
  if (self->result_link != NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
      ("Cannot send results to \"%s\", port %u: %s. Check result-host.", host,
          port, error->message),
      (NULL));
  g_error_free (error);
  return FALSE;
}

static void
free_engine (GstCudaPbfMonitor *self)
{
  gst_cvis_filter_set_fleet (&self->filter, NULL);
  g_clear_pointer (&self->engine, pbf_engine_free);
  self->warned_of_stall = FALSE;
  gst_cvis_pool_clear (&self->records_pool);
  gst_cvis_pool_clear (&self->grey_pool);
  gst_cvis_filter_free_items (&self->filter);
}

/* Resets the state of the stream (window, counters, gaps) while nothing is in
 * flight. */
static void
reset_stream (GstCudaPbfMonitor *self)
{
  if (self->engine != NULL)
    pbf_engine_reset (self->engine);
  if (self->track != NULL)
    pbf_track_reset (self->track);
  self->gap = FALSE;
  self->gap_frames = 0;
  self->first = TRUE;
  self->held_from = GST_CLOCK_TIME_NONE;
}

/* Forgets the records before, while the source pad's task is idle. */
static void
reset_records (GstCudaPbfMonitor *self)
{
  if (self->vote != NULL)
    pbf_vote_reset (self->vote);
  if (gst_pbf_learn_is_open (self))
    pbf_baseline_reset (self->baseline);
}

static void
gst_cuda_pbf_monitor_stop (GstCvisFilter *filter)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);

  free_engine (self);
  gst_pbf_learn_stop (self);
  g_clear_pointer (&self->track, pbf_track_free);
  g_clear_pointer (&self->model, pbf_model_unref);
  g_clear_pointer (&self->vote, pbf_vote_free);
  g_clear_pointer (&self->result_link, gst_pbf_result_link_free);
  GST_OBJECT_LOCK (self);
  self->batch_size = 0;
  self->frame_duration = 0;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_cuda_pbf_monitor_start (GstCvisFilter *filter)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  GError *error = NULL;

  GST_OBJECT_LOCK (self);
  gst_pbf_settings_copy (&self->active, &self->settings);
  self->processing = FIRST_PROCESSING;
  GST_OBJECT_UNLOCK (self);
  g_mutex_lock (&self->filter.stats_lock);
  gst_pbf_stats_init (&self->stats);
  self->warned_of_edge = self->warned_of_doubts = FALSE;
  g_mutex_unlock (&self->filter.stats_lock);
  self->slow_pushes = 0;
  gst_video_info_init (&self->layout);

  if (!gst_pbf_settings_check (&self->active, &error)) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Invalid settings: %s. \"gst-inspect-1.0 cudapbfmonitor\" describes "
         "the properties.",
            error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  if (!load_model (self) || !gst_pbf_learn_start (self)
      || !open_result_link (self) || !gst_cvis_filter_start_backend (filter))
    return FALSE;
  make_vote (self);
  self->track = pbf_track_new (&self->active.track);
  reset_stream (self);
  return TRUE;
}

/* --- negotiation ----------------------------------------------------------- */

/* Sets the mode of an engine of @config. Warns if mode=persistent is replaced; with
 * it, threads poll the queue for spin-time. */
static void
settle_mode (GstCudaPbfMonitor *self, PbfConfig *config)
{
  PbfMode wanted = config->mode;

  config->mode = pbf_config_mode (config);
  if (wanted == PBF_MODE_PERSISTENT && self->filter.devices != NULL)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("mode=batch is used instead of mode=persistent, which needs one GPU. "
         "Leave cuda-device-ids empty, or set mode=batch."),
        (NULL));
  else if (wanted == PBF_MODE_PERSISTENT && config->mode != wanted
           && self->filter.context != NULL)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("mode=batch is used instead of mode=persistent, which supports only "
         "roi-size=%d and spatter-scope=roi. Set these, or mode=batch.",
            CVIS_PBF_ROI_SIDE),
        (NULL));
  gst_cvis_queue_set_spin (self->filter.queue,
      config->mode == PBF_MODE_PERSISTENT && self->filter.context != NULL
          ? config->spin_us
          : 0);
  g_mutex_lock (&self->filter.stats_lock);
  self->mode = config->mode;
  g_mutex_unlock (&self->filter.stats_lock);
}

/* Makes an engine for frames of @info, while nothing is in flight. */
static gboolean
setup_engine (GstCudaPbfMonitor *self, const GstVideoInfo *info)
{
  const CvisFleetOwner owner = gst_cvis_filter_get_fleet_owner (&self->filter);
  PbfModel *model = gst_pbf_learn_is_open (self) ? NULL : self->model;
  const CvisDevices *devices;
  PbfConfig config = self->active.config;
  guint depth = self->batching.depth;
  GError *error = NULL;

  gst_pbf_output_discard (self);
  free_engine (self);
  reset_records (self);
  devices = gst_cvis_filter_get_devices (&self->filter);
  config.width = GST_VIDEO_INFO_WIDTH (info);
  config.height = GST_VIDEO_INFO_HEIGHT (info);
  config.max_batch = self->batching.size;
  config.parallel_frames = self->batching.parallel_frames;
  config.independent = devices != NULL;
  settle_mode (self, &config);
  self->engine =
      devices != NULL
          ? pbf_engine_new_over (&config, model, devices, &owner, &error)
          : pbf_engine_new (&config, model, self->filter.context, &error);
  if (self->engine == NULL) {
    GST_ELEMENT_ERROR (self, LIBRARY, INIT,
        ("Cannot set up the melt-pool engine for %ux%u pixels: %s. Use a "
         "smaller batch-size or depth, or backend=cpu.",
            config.width, config.height, error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  if (devices != NULL)
    depth = pbf_engine_get_depth (self->engine);
  gst_cvis_filter_set_fleet (
      &self->filter, pbf_engine_get_fleet (self->engine));
  /* without a context a plain pool: its few buffers stay in the CPU's caches,
   * slabs would not */
  self->records_pool = gst_cvis_pool_new_active (self->filter.context, NULL,
      config.max_batch * sizeof (CvisPbfResult), depth + 1);
  if (self->records_pool == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for the results of batches of %u frames. Use a smaller "
         "batch-size or depth.",
            config.max_batch),
        (NULL));
    return FALSE;
  }
  if (self->grey.wide) {
    self->grey_pool = gst_cvis_pool_new_active (self->filter.context, NULL,
        (gsize) config.max_batch * config.width * config.height, depth + 1);
    if (self->grey_pool == NULL) {
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("No memory for batches of %u frames of %ux%u in 8 bits. Use a "
           "smaller batch-size or depth.",
              config.max_batch, config.width, config.height),
          (NULL));
      return FALSE;
    }
  }
  for (guint i = 0; i < depth; i++)
    gst_cvis_filter_add_item (&self->filter,
        gst_pbf_batch_new (config.max_batch, self->filter.context));
  GST_OBJECT_LOCK (self);
  self->batch_size = config.max_batch;
  GST_OBJECT_UNLOCK (self);
  GST_INFO_OBJECT (self,
      "%ux%u, batches of %u, %u with the one being filled, %u blocks if "
      "persistent",
      config.width, config.height, config.max_batch, depth,
      config.parallel_frames);
  return TRUE;
}

/* Posts an error if @caps are not supported. */
static gboolean
parse_camera_caps (GstCudaPbfMonitor *self, GstCaps *caps, GstVideoInfo *info,
    GstPbfGrey *grey)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  gint width, height;
  gint least = MAX (GST_PBF_MONITOR_MIN_SIDE, self->active.config.roi_size);

  if (!gst_video_info_from_caps (info, caps)
      || !gst_pbf_grey_init (grey, info, self->active.shift)) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Unsupported caps: not video/x-raw, format=" GST_PBF_GREY_FORMATS
         ". Put videoconvert before cudapbfmonitor."),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (!gst_structure_has_field_typed (s, "framerate", GST_TYPE_FRACTION)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: no framerate. Set one in a capsfilter (0/1 is a "
         "variable rate)."),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  width = GST_VIDEO_INFO_WIDTH (info);
  height = GST_VIDEO_INFO_HEIGHT (info);
  if (MIN (width, height) < least
      || MAX (width, height) > GST_PBF_MONITOR_MAX_SIDE) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported frame size: %dx%d is not in %dx%d to %dx%d. Crop or "
         "scale the frames%s.",
            width, height, least, least, GST_PBF_MONITOR_MAX_SIDE,
            GST_PBF_MONITOR_MAX_SIDE,
            least > GST_PBF_MONITOR_MIN_SIDE ? ", or lower roi-size" : ""),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  return TRUE;
}

/* Reads max-latency, which may have changed since the start. */
static GstPbfBatching
choose_batching (GstCudaPbfMonitor *self, const GstVideoInfo *info)
{
  GstPbfSettings settings = self->active;

  GST_OBJECT_LOCK (self);
  settings.max_latency = self->settings.max_latency;
  GST_OBJECT_UNLOCK (self);
  self->held_time = settings.batch_size == 0 && GST_VIDEO_INFO_FPS_N (info) == 0
                        ? gst_pbf_settings_held_time (&settings)
                        : 0;
  self->held_from = GST_CLOCK_TIME_NONE;
  return gst_pbf_settings_batching (&settings, info);
}

/* Whether the engine is the resident kernel, whose blocks are counted. */
static gboolean
runs_resident (GstCudaPbfMonitor *self)
{
  gboolean resident;

  g_mutex_lock (&self->filter.stats_lock);
  resident = self->mode == PBF_MODE_PERSISTENT && self->filter.context != NULL;
  g_mutex_unlock (&self->filter.stats_lock);
  return resident;
}

static GstFlowReturn
gst_cuda_pbf_monitor_set_caps (GstCvisFilter *filter, GstCaps *caps)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  GstVideoInfo info;
  GstPbfGrey grey;
  GstClockTime duration = 0;
  GstPbfBatching batching;
  gboolean resized, changed;
  GstFlowReturn flow;

  flow = gst_cvis_filter_drain (filter);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!parse_camera_caps (self, caps, &info, &grey))
    return GST_FLOW_NOT_NEGOTIATED;
  batching = choose_batching (self, &info);
  resized =
      batching.size != self->batching.size
      || batching.depth != self->batching.depth
      || (batching.parallel_frames != self->batching.parallel_frames
          && runs_resident (self))
      || GST_VIDEO_INFO_WIDTH (&info) != GST_VIDEO_INFO_WIDTH (&self->layout)
      || GST_VIDEO_INFO_HEIGHT (&info) != GST_VIDEO_INFO_HEIGHT (&self->layout)
      || grey.wide != self->grey.wide;
  self->grey = grey;
  self->batching = batching;
  if ((resized || self->engine == NULL) && !setup_engine (self, &info)) {
    free_engine (self);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  self->layout = info;

  if (GST_VIDEO_INFO_FPS_N (&info) > 0)
    duration = gst_util_uint64_scale (
        GST_SECOND, GST_VIDEO_INFO_FPS_D (&info), GST_VIDEO_INFO_FPS_N (&info));
  GST_OBJECT_LOCK (self);
  changed = resized || duration != self->frame_duration;
  self->frame_duration = duration;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
  return GST_FLOW_OK;
}

GstFlowReturn
gst_pbf_monitor_load_learned (GstCudaPbfMonitor *self)
{
  GstFlowReturn flow = gst_cvis_filter_drain (&self->filter);

  if (flow != GST_FLOW_OK)
    return flow;
  pbf_model_unref (self->model);
  self->model = g_steal_pointer (&self->learned);
  g_clear_pointer (&self->baseline, pbf_baseline_free);
  if (setup_engine (self, &self->layout))
    return GST_FLOW_OK;
  free_engine (self);
  return GST_FLOW_ERROR;
}

/* Accepts grey video of any size, for parse_camera_caps() to post an error that says what is
 * wrong: if refused in a query, upstream would report not-negotiated alone. */
static GstStaticCaps grey_caps =
    GST_STATIC_CAPS ("video/x-raw, format = (string) " GST_PBF_GREY_FORMATS);

/* @caps, which can be analysed; any grey video if @filter has none of these. */
static GstCaps *
add_refusable (GstPad *pad, GstCaps *caps, GstCaps *filter)
{
  GstCaps *template = gst_pad_get_pad_template_caps (pad);
  GstCaps *grey = gst_static_caps_get (&grey_caps);

  if (filter == NULL)
    caps = gst_caps_merge (caps, gst_caps_ref (grey));
  else if (!gst_caps_can_intersect (filter, template))
    caps = gst_caps_merge (
        caps, gst_caps_intersect_full (filter, grey, GST_CAPS_INTERSECT_FIRST));
  gst_caps_unref (grey);
  gst_caps_unref (template);
  return caps;
}

static GstCaps *
gst_cuda_pbf_monitor_get_caps (
    GstCvisFilter *filter, GstPad *pad, GstPad *other, GstCaps *filter_caps)
{
  GstCaps *all = gst_cvis_caps_proxy (pad, other, NULL), *caps;

  if (filter_caps == NULL)
    return add_refusable (pad, all, NULL);
  /* in the order of the template, whose first format needs no conversion, also if a
   * source prefers 16 bits */
  caps = gst_caps_intersect_full (all, filter_caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (all);
  return add_refusable (pad, caps, filter_caps);
}

static gboolean
gst_cuda_pbf_monitor_accept_caps (GstCvisFilter *filter, GstCaps *caps)
{
  GstCaps *known = gst_static_caps_get (&grey_caps);
  GstCaps *template = gst_pad_get_pad_template_caps (filter->sinkpad);
  gboolean ok = gst_caps_is_subset (caps, known);

  if (ok && gst_caps_is_subset (caps, template))
    ok = gst_pad_peer_query_accept_caps (filter->srcpad, caps);
  gst_caps_unref (template);
  gst_caps_unref (known);
  return ok;
}

/* --- queries --------------------------------------------------------------- */

/* Frames pass unchanged, so that the layouts and metas that downstream supports are
 * proposed. For CUDA pinned memory is proposed, except for formats that are
 * converted to 8 bits first. */
static gboolean
gst_cuda_pbf_monitor_propose_allocation (GstCvisFilter *filter, GstQuery *query)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  GstCaps *caps;
  GstVideoInfo info;
  CvisContext *context;
  GstPbfBatching batching;
  gboolean need_pool, video_meta;
  guint held;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  batching = gst_pbf_settings_batching (&self->active, &info);
  held = (batching.depth + 2) * batching.size;
  held = (guint) CLAMP (POOL_BYTES / GST_VIDEO_INFO_SIZE (&info), 1, held);

  gst_pad_peer_query (filter->srcpad, query);
  video_meta =
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (!need_pool)
    return TRUE;
  context = GST_VIDEO_INFO_FORMAT (&info) == GST_VIDEO_FORMAT_GRAY8
                ? self->filter.context
                : NULL;
  if (context == NULL && gst_query_get_n_allocation_pools (query) > 0)
    gst_cvis_query_hold_frames (query, GST_VIDEO_INFO_SIZE (&info), held);
  else
    gst_cvis_query_propose_pool (
        query, context, caps, GST_VIDEO_INFO_SIZE (&info), held, video_meta);
  return TRUE;
}

static GstClockTime
gst_cuda_pbf_monitor_get_latency (GstCvisFilter *filter)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  GstClockTime wait, more;

  GST_OBJECT_LOCK (self);
  wait = self->settings.max_latency;
  if (self->frame_duration > 0 && self->batch_size > 0)
    wait = MIN (wait, self->frame_duration * (self->batch_size - 1));
  more = wait + self->processing;
  GST_OBJECT_UNLOCK (self);
  return more;
}

/* --- events ---------------------------------------------------------------- */

static void
gst_cuda_pbf_monitor_flush (GstCvisFilter *filter)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);

  gst_pbf_output_discard (self);
  reset_stream (self);
  reset_records (self);
}

static GstFlowReturn
gst_cuda_pbf_monitor_sink_event (GstCvisFilter *filter, GstEvent *event)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  GstFlowReturn flow = gst_pbf_input_flush_partial (filter);

  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    reset_stream (self); /* nothing is in flight */
  else if (GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    gst_pbf_input_note_gap (self, event);
  return flow;
}

/* --- the thread that waits for results --------------------------------------- */

#ifdef __linux__
/* Called by the source pad's task. */
static void
bind_thread (GstCudaPbfMonitor *self)
{
  gint core = self->active.poll_core;
  cpu_set_t only;

  if (core < 0)
    return;
  self->affinity = g_new (cpu_set_t, 1);
  CPU_ZERO (&only);
  CPU_SET (core, &only);
  if (sched_getaffinity (0, sizeof (cpu_set_t), self->affinity) == 0
      && sched_setaffinity (0, sizeof only, &only) == 0)
    return;
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
      ("Cannot bind the thread that waits for results to processor %d: %s. "
       "Set poll-core to one that the process may use.",
          core, g_strerror (errno)),
      (NULL));
  g_clear_pointer (&self->affinity, g_free);
}

/* Restores the thread's affinity: it returns to GStreamer's pool of threads. */
static void
unbind_thread (GstCudaPbfMonitor *self)
{
  if (self->affinity != NULL)
    sched_setaffinity (0, sizeof (cpu_set_t), self->affinity);
  g_clear_pointer (&self->affinity, g_free);
}
#else
static void
bind_thread (GstCudaPbfMonitor *self)
{
}

static void
unbind_thread (GstCudaPbfMonitor *self)
{
}
#endif

/* A pad's task posts a STREAM_STATUS message in its thread when it begins and before
 * it ends. */
static gboolean
gst_cuda_pbf_monitor_post_message (GstElement *element, GstMessage *message)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (element);

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_STREAM_STATUS
      && GST_MESSAGE_SRC (message) == GST_OBJECT (self->filter.srcpad)) {
    GstStreamStatusType type;

    gst_message_parse_stream_status (message, &type, NULL);
    if (type == GST_STREAM_STATUS_TYPE_ENTER)
      bind_thread (self);
    else if (type == GST_STREAM_STATUS_TYPE_LEAVE)
      unbind_thread (self);
  }
  return GST_ELEMENT_CLASS (parent_class)->post_message (element, message);
}

/* --- object ---------------------------------------------------------------- */

static void
gst_cuda_pbf_monitor_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  G_OBJECT_CLASS (parent_class)->set_property (object, id, value, pspec);
  if (g_str_equal (pspec->name, "max-latency"))
    gst_element_post_message (
        GST_ELEMENT (object), gst_message_new_latency (GST_OBJECT (object)));
}

static void
gst_cuda_pbf_monitor_add_stats (GstCvisFilter *filter, GstStructure *stats)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);

  gst_pbf_stats_add_total (&self->stats, stats);
  gst_pbf_output_add_way (self, stats);
}

static void
gst_cuda_pbf_monitor_reset_stats (GstCvisFilter *filter)
{
  gst_pbf_stats_reset_total (&GST_CUDA_PBF_MONITOR (filter)->stats);
}

static void
gst_cuda_pbf_monitor_finalize (GObject *object)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (object);

  gst_queue_array_free (self->pending);
  gst_buffer_list_unref (self->held);
  gst_pbf_settings_clear (&self->active);
  g_mutex_clear (&self->fill_lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_pbf_monitor_class_init (GstCudaPbfMonitorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCvisFilterClass *filter_class = GST_CVIS_FILTER_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_cuda_pbf_monitor_debug, "cudapbfmonitor", 0, "melt-pool monitoring");
  object_class->set_property = gst_cuda_pbf_monitor_set_property;
  object_class->finalize = gst_cuda_pbf_monitor_finalize;
  element_class->post_message = gst_cuda_pbf_monitor_post_message;
  filter_class->words.engine = "melt-pool";
  filter_class->words.verb = "analyse";
  filter_class->free_item = (GDestroyNotify) gst_pbf_batch_free;
  filter_class->clear_item = gst_pbf_batch_clear;
  filter_class->takes_lists = TRUE;
  filter_class->start = gst_cuda_pbf_monitor_start;
  filter_class->stop = gst_cuda_pbf_monitor_stop;
  filter_class->set_caps = gst_cuda_pbf_monitor_set_caps;
  filter_class->sink_event = gst_cuda_pbf_monitor_sink_event;
  filter_class->submit = gst_pbf_input_submit;
  filter_class->finish = gst_pbf_input_flush_partial;
  filter_class->complete = gst_pbf_output_complete;
  filter_class->src_event = gst_pbf_output_src_event;
  filter_class->deadline = gst_pbf_input_flush_due;
  filter_class->get_request_caps = gst_pbf_output_get_result_caps;
  filter_class->drain = gst_pbf_output_drain;
  filter_class->flush = gst_cuda_pbf_monitor_flush;
  filter_class->get_caps = gst_cuda_pbf_monitor_get_caps;
  filter_class->accept_caps = gst_cuda_pbf_monitor_accept_caps;
  filter_class->propose_allocation = gst_cuda_pbf_monitor_propose_allocation;
  filter_class->get_latency = gst_cuda_pbf_monitor_get_latency;
  filter_class->add_stats = gst_cuda_pbf_monitor_add_stats;
  filter_class->reset_stats = gst_cuda_pbf_monitor_reset_stats;
  gst_pbf_settings_install (
      filter_class, G_STRUCT_OFFSET (GstCudaPbfMonitor, settings));
  gst_cvis_filter_class_install_devices (filter_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_cvis_filter_class_add_request_pads (filter_class, &result_template, 1);
  gst_element_class_set_static_metadata (element_class,
      "Melt-pool monitor for powder-bed fusion",
      "Filter/Analyzer/Video/Hardware",
      "Finds melt pool and spatters in each frame and computes the features "
      "of " CVIS_PBF_FEATURE_SPEC ", on the CPU or on CUDA",
      "the gst-cudavision authors");
}

static void
gst_cuda_pbf_monitor_init (GstCudaPbfMonitor *self)
{
  g_mutex_init (&self->fill_lock);
  gst_pbf_stats_init (&self->stats);
  gst_pbf_settings_init (&self->settings);
  self->pending = gst_queue_array_new_for_struct (sizeof (GstPbfItem), 16);
  self->held = gst_buffer_list_new ();
  self->processing = FIRST_PROCESSING;
}
