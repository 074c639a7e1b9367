/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudapbfmonitor
 * @title: cudapbfmonitor
 * @short_description: analyses the melt pool of a laser powder-bed printer
 *
 * Finds the melt pool and the spatters in every frame of a camera that looks
 * along the laser, and computes the 40 features of the specification
 * "pbf40-v1" from them, on the CPU or on a CUDA device, to the same bits. With
 * #GstCudaPbfMonitor:model-location a small network judges them.
 *
 * Frames pass through untouched, one by one or in buffer lists as they came,
 * and carry the results as #GstPbfMeta. The request pad "result" gives the same
 * records as a stream of their own, for files and other programs.
 *
 * Frames are computed in batches of #GstCudaPbfMonitor:batch-size; no frame
 * waits longer than #GstCudaPbfMonitor:max-latency for its batch to fill.
 * Nothing is dropped, unless #GstCudaPbfMonitor:empty-frames asks for it.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbftestsrc num-buffers=20000 ! cudapbfmonitor ! fakesink
 * ]|
 * |[
 * gst-launch-1.0 pbftestsrc num-buffers=2000 ! cudapbfmonitor name=m ! fakesink m.result ! queue ! pbfresultenc ! filesink location=features.csv
 * ]|
 *
 * Since: 0.1
 */
#include "gstpbfmonitor-private.h"

#include "gst/common/gstcvpool.h"
#include "gst/common/gstcvquery.h"
#include "gst/cudavision/cudavision.h"

GST_DEBUG_CATEGORY (gst_cuda_pbf_monitor_debug);
#define GST_CAT_DEFAULT gst_cuda_pbf_monitor_debug

/* reported for a batch in the engine until one takes longer */
#define FIRST_PROCESSING GST_MSECOND
/* frames that a pool is asked to allocate at once: no more than this */
#define POOL_BYTES (64 * 1024 * 1024)

#define VIDEO_CAPS                                                             \
  "video/x-raw, format = (string) GRAY8, "                                     \
  "width = (int) [ 40, 16384 ], height = (int) [ 40, 16384 ], "                \
  "framerate = (fraction) [ 0, max ]"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (VIDEO_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (VIDEO_CAPS));
static GstStaticPadTemplate result_template = GST_STATIC_PAD_TEMPLATE ("result",
    GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS (GST_PBF_RESULT_CAPS));

enum {
  PROP_0,
  PROP_STATS,
  PROP_BACKEND,
  PROP_FIRST_SETTING = PROP_BACKEND + 3
};

#define gst_cuda_pbf_monitor_parent_class parent_class
G_DEFINE_TYPE (GstCudaPbfMonitor, gst_cuda_pbf_monitor, GST_TYPE_ELEMENT);
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
        ("The network was trained with other settings:%s", text->str),
        ("model-location=%s", self->active.model_location));
  g_string_free (text, TRUE);
}

static gboolean
load_model (GstCudaPbfMonitor *self)
{
  const gchar *location = self->active.model_location;
  GError *error = NULL;

  if (location == NULL)
    return TRUE;
  self->model = pbf_model_load (location, &error);
  if (self->model == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Cannot load the network \"%s\": %s", location, error->message),
        ("a safetensors file of " PBF_FEATURE_SPEC " is expected"));
    g_error_free (error);
    return FALSE;
  }
  warn_about_model (self);
  return TRUE;
}

static void
free_engine (GstCudaPbfMonitor *self)
{
  g_clear_pointer (&self->engine, pbf_engine_free);
  gst_cv_pool_clear (&self->records_pool);
  gst_cv_queue_free_spare (self->queue);
}

static void
stop (GstCudaPbfMonitor *self)
{
  gst_pbf_output_discard (self);
  free_engine (self);
  g_clear_pointer (&self->track, pbf_track_free);
  g_clear_pointer (&self->model, pbf_model_unref);
  g_clear_pointer (&self->context, cvis_context_unref);
  gst_cv_backend_stop (&self->backend, GST_ELEMENT (self));
  gst_clear_caps (&self->refused);
  self->streaming = FALSE;
  GST_OBJECT_LOCK (self);
  self->batch_size = 0;
  self->frame_duration = 0;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
start (GstCudaPbfMonitor *self)
{
  GError *error = NULL;

  GST_OBJECT_LOCK (self);
  gst_pbf_settings_copy (&self->active, &self->settings);
  self->processing = FIRST_PROCESSING;
  GST_OBJECT_UNLOCK (self);
  gst_cv_sides_note_lacks (self->sides, GST_CV_LACKS_ALL);
  g_mutex_lock (&self->stats_lock);
  gst_pbf_stats_init (&self->stats);
  g_mutex_unlock (&self->stats_lock);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  gst_video_info_init (&self->layout);
  self->gap = FALSE;
  self->gap_frames = 0;
  self->first = TRUE;

  if (!gst_pbf_settings_check (&self->active, &error)) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Settings that cannot be: %s", error->message), (NULL));
    g_error_free (error);
    return FALSE;
  }
  if (!load_model (self)
      || !gst_cv_backend_start (
          &self->backend, GST_ELEMENT (self), &self->context)) {
    stop (self);
    return FALSE;
  }
  self->track = pbf_track_new (&self->active.track);
  return TRUE;
}

static GstStateChangeReturn
gst_cuda_pbf_monitor_change_state (
    GstElement *element, GstStateChange transition)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    stop (self);
  return ret;
}

/* --- negotiation ----------------------------------------------------------- */

/* A new engine for frames as @info says. Nothing is in flight. */
static gboolean
setup_engine (GstCudaPbfMonitor *self, const GstVideoInfo *info)
{
  PbfConfig config = self->active.config;
  GError *error = NULL;

  gst_pbf_output_discard (self);
  free_engine (self);
  config.width = GST_VIDEO_INFO_WIDTH (info);
  config.height = GST_VIDEO_INFO_HEIGHT (info);
  config.max_batch =
      gst_pbf_settings_batch_size (&self->active, GST_VIDEO_INFO_SIZE (info));
  self->engine = pbf_engine_new (&config, self->model, self->context, &error);
  if (self->engine == NULL) {
    GST_ELEMENT_ERROR (self, LIBRARY, INIT,
        ("The melt-pool engine cannot be set up for %ux%u: %s", config.width,
            config.height, error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  /* on the CPU the slabs of the other pool, which is all for neighbours in
   * memory, would not stay in the cache */
  self->records_pool = gst_cv_pool_new_active (self->context, NULL,
      config.max_batch * sizeof (PbfResult), self->active.config.depth + 1);
  if (self->records_pool == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for the results of batches of %u frames", config.max_batch),
        (NULL));
    return FALSE;
  }
  for (guint i = 0; i < config.depth; i++)
    gst_cv_queue_give (self->queue, gst_pbf_batch_new (config.max_batch));
  GST_OBJECT_LOCK (self);
  self->batch_size = config.max_batch;
  GST_OBJECT_UNLOCK (self);
  GST_INFO_OBJECT (self, "%ux%u, batches of %u, %u in flight", config.width,
      config.height, config.max_batch, config.depth - 1);
  return TRUE;
}

/* Posts the one clear error about caps that cannot be. */
static gboolean
parse_caps (GstCudaPbfMonitor *self, GstCaps *caps, GstVideoInfo *info)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  gint width, height;

  if (!gst_video_info_from_caps (info, caps)
      || GST_VIDEO_INFO_FORMAT (info) != GST_VIDEO_FORMAT_GRAY8) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Frames have to be video/x-raw, format=GRAY8"),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (!gst_structure_has_field_typed (s, "framerate", GST_TYPE_FRACTION)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("The caps have no framerate (0/1 stands for a variable one)"),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  width = GST_VIDEO_INFO_WIDTH (info);
  height = GST_VIDEO_INFO_HEIGHT (info);
  if (MIN (width, height) < GST_PBF_MONITOR_MIN_SIDE
      || MAX (width, height) > GST_PBF_MONITOR_MAX_SIDE) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Frames of %dx%d pixels cannot be analysed: %dx%d to %dx%d can", width,
            height, GST_PBF_MONITOR_MIN_SIDE, GST_PBF_MONITOR_MIN_SIDE,
            GST_PBF_MONITOR_MAX_SIDE, GST_PBF_MONITOR_MAX_SIDE),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  return TRUE;
}

static gboolean
set_caps (GstCudaPbfMonitor *self, GstCaps *caps)
{
  GstVideoInfo info;
  GstClockTime duration = 0;
  gboolean resized, changed;

  /* refused caps come again with each further push: the error is posted once */
  if (self->refused != NULL && gst_caps_is_equal (self->refused, caps))
    return FALSE;
  if (gst_pbf_input_drain (self) != GST_FLOW_OK)
    return FALSE;
  gst_clear_caps (&self->refused);
  if (!parse_caps (self, caps, &info)) {
    gst_caps_replace (&self->refused, caps);
    return FALSE;
  }
  resized =
      GST_VIDEO_INFO_WIDTH (&info) != GST_VIDEO_INFO_WIDTH (&self->layout)
      || GST_VIDEO_INFO_HEIGHT (&info) != GST_VIDEO_INFO_HEIGHT (&self->layout);
  if ((resized || self->engine == NULL) && !setup_engine (self, &info))
    return FALSE;
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
  return TRUE;
}

/* Grey video is let in whatever its size, for parse_caps() to say what is wrong
 * with it: refused in a query, upstream would report no more than
 * not-negotiated. */
static GstStaticCaps grey_caps =
    GST_STATIC_CAPS ("video/x-raw, format = (string) GRAY8");

/* @caps, which can be analysed, and any grey video where nothing that @filter
 * holds can be. */
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

static void
answer_caps (GstPad *pad, GstPad *other, GstQuery *query)
{
  GstCaps *filter, *caps;

  gst_query_parse_caps (query, &filter);
  caps = add_refusable (pad, gst_cv_caps_proxy (pad, other, filter), filter);
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
}

static void
answer_accept_caps (GstCudaPbfMonitor *self, GstQuery *query)
{
  GstCaps *caps, *known = gst_static_caps_get (&grey_caps);
  GstCaps *template = gst_pad_get_pad_template_caps (self->sinkpad);
  gboolean ok;

  gst_query_parse_accept_caps (query, &caps);
  ok = gst_caps_is_subset (caps, known);
  if (ok && gst_caps_is_subset (caps, template))
    ok = gst_pad_peer_query_accept_caps (self->srcpad, caps);
  gst_query_set_accept_caps_result (query, ok);
  gst_caps_unref (template);
  gst_caps_unref (known);
}

/* --- queries --------------------------------------------------------------- */

/* The frames pass on as they are, so that the layouts and metas downstream
 * understands are those that can be offered. For CUDA the memory is ours. */
static gboolean
answer_allocation (GstCudaPbfMonitor *self, GstQuery *query)
{
  GstCaps *caps;
  GstVideoInfo info;
  gboolean need_pool, video_meta;
  guint batches = self->active.config.depth + 2, held;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  held = batches
         * gst_pbf_settings_batch_size (
             &self->active, GST_VIDEO_INFO_SIZE (&info));
  held = (guint) CLAMP (POOL_BYTES / GST_VIDEO_INFO_SIZE (&info), 1, held);

  gst_pad_peer_query (self->srcpad, query);
  video_meta =
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (!need_pool)
    return TRUE;
  if (self->context == NULL && gst_query_get_n_allocation_pools (query) > 0)
    gst_cv_query_hold_frames (query, GST_VIDEO_INFO_SIZE (&info), held);
  else
    gst_cv_query_propose_pool (query, self->context, caps,
        GST_VIDEO_INFO_SIZE (&info), held, video_meta);
  return TRUE;
}

static gboolean
answer_latency (GstCudaPbfMonitor *self, GstQuery *query)
{
  gboolean live;
  GstClockTime min, max, wait, more;

  if (!gst_pad_peer_query (self->sinkpad, query))
    return FALSE;
  gst_query_parse_latency (query, &live, &min, &max);
  GST_OBJECT_LOCK (self);
  wait = self->settings.max_latency;
  if (self->frame_duration > 0 && self->batch_size > 0)
    wait = MIN (wait, self->frame_duration * (self->batch_size - 1));
  more = wait + self->processing;
  GST_OBJECT_UNLOCK (self);
  if (max != GST_CLOCK_TIME_NONE)
    max += more;
  GST_DEBUG_OBJECT (self, "latency %" GST_TIME_FORMAT " more than upstream",
      GST_TIME_ARGS (more));
  gst_query_set_latency (query, live, min + more, max);
  return TRUE;
}

static gboolean
sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (parent);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      answer_caps (pad, self->srcpad, query);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      answer_accept_caps (self, query);
      return TRUE;
    default:
      break;
  }
  if (GST_QUERY_IS_SERIALIZED (query)
      && gst_pbf_input_drain (self) != GST_FLOW_OK)
    return FALSE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION)
    return answer_allocation (self, query);
  return gst_pad_query_default (pad, parent, query);
}

static gboolean
src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (parent);

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      if (pad != self->srcpad)
        break;
      answer_caps (pad, self->sinkpad, query);
      return TRUE;
    case GST_QUERY_LATENCY:
      return answer_latency (self, query);
    default:
      break;
  }
  return gst_pad_query_default (pad, parent, query);
}

/* --- events ---------------------------------------------------------------- */

/* Forgets the stream: window, counters, gaps. Nothing is in flight. */
static void
reset_stream (GstCudaPbfMonitor *self)
{
  if (self->engine != NULL)
    pbf_engine_reset (self->engine);
  pbf_track_reset (self->track);
  self->gap = FALSE;
  self->gap_frames = 0;
  self->first = TRUE;
}

/* See GstCvWorkerFuncs. */
static void
flush (GstElement *element)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (element);

  gst_pbf_output_discard (self);
  reset_stream (self);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
}

static void
push_now (GstElement *element, GstEvent *event)
{
  gst_cv_sides_push_now (GST_CUDA_PBF_MONITOR (element)->sides, event);
}

/* A second stream does not go on with the window of the first. */
static gboolean
begin_stream (GstCudaPbfMonitor *self)
{
  if (self->streaming) {
    if (gst_pbf_input_drain (self) != GST_FLOW_OK)
      return FALSE;
    reset_stream (self);
  }
  self->streaming = TRUE;
  return TRUE;
}

/* An event that has to stay in order with the frames. */
static gboolean
serialized_event (GstElement *element, GstEvent *event)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (element);
  GstFlowReturn flow = gst_pbf_input_flush_partial (self);
  gboolean ok = TRUE;
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      ok = begin_stream (self);
      break;
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      ok = set_caps (self, caps);
      break;
    case GST_EVENT_GAP:
      gst_pbf_input_note_gap (self, event);
      break;
    default:
      break;
  }
  if (ok)
    return gst_cv_worker_queue_event (self->worker, event, flow);
  gst_event_unref (event);
  return FALSE;
}

static const GstCvWorkerFuncs worker_funcs = {
  .complete = gst_pbf_output_complete,
  .deadline = gst_pbf_input_flush_due,
  .push_event = gst_pbf_output_event,
  .push_now = push_now,
  .serialized_event = serialized_event,
  .flush = flush,
};

/* --- pads ------------------------------------------------------------------ */

static GstPad *
gst_cuda_pbf_monitor_request_new_pad (GstElement *element,
    GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  return gst_cv_sides_request (
      GST_CUDA_PBF_MONITOR (element)->sides, 0, template);
}

static void
gst_cuda_pbf_monitor_release_pad (GstElement *element, GstPad *pad)
{
  gst_cv_sides_release (GST_CUDA_PBF_MONITOR (element)->sides, pad);
}

/* --- object ---------------------------------------------------------------- */

static void
gst_cuda_pbf_monitor_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (object);
  GstClockTime before;
  gboolean ours, latency;

  if (gst_cv_backend_set_property (&self->backend, object, value, pspec))
    return;
  GST_OBJECT_LOCK (self);
  before = self->settings.max_latency;
  ours = gst_pbf_settings_set (&self->settings, id - PROP_FIRST_SETTING, value);
  latency = self->settings.max_latency != before;
  GST_OBJECT_UNLOCK (self);
  if (!ours)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  if (latency)
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

static void
gst_cuda_pbf_monitor_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (object);
  gboolean ours;

  if (gst_cv_backend_get_property (&self->backend, object, value, pspec))
    return;
  if (id == PROP_STATS) {
    g_mutex_lock (&self->stats_lock);
    g_value_take_boxed (value, gst_pbf_stats_to_structure (&self->stats));
    g_mutex_unlock (&self->stats_lock);
    return;
  }
  GST_OBJECT_LOCK (self);
  ours = gst_pbf_settings_get (&self->settings, id - PROP_FIRST_SETTING, value);
  GST_OBJECT_UNLOCK (self);
  if (!ours)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_cuda_pbf_monitor_finalize (GObject *object)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (object);

  gst_cv_sides_free (self->sides);
  gst_cv_worker_free (self->worker);
  gst_cv_queue_free (self->queue);
  gst_queue_array_free (self->pending);
  gst_buffer_list_unref (self->held);
  gst_pbf_settings_clear (&self->settings);
  gst_pbf_settings_clear (&self->active);
  g_mutex_clear (&self->fill_lock);
  g_mutex_clear (&self->stats_lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_pbf_monitor_class_init (GstCudaPbfMonitorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_cuda_pbf_monitor_debug, "cudapbfmonitor", 0, "melt-pool monitoring");
  object_class->set_property = gst_cuda_pbf_monitor_set_property;
  object_class->get_property = gst_cuda_pbf_monitor_get_property;
  object_class->finalize = gst_cuda_pbf_monitor_finalize;
  element_class->change_state = gst_cuda_pbf_monitor_change_state;
  element_class->request_new_pad = gst_cuda_pbf_monitor_request_new_pad;
  element_class->release_pad = gst_cuda_pbf_monitor_release_pad;

  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Counts of frames by what was found about them, rate and latency "
          "since the start; times in nanoseconds",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_cv_backend_install_properties (object_class, PROP_BACKEND);
  gst_pbf_settings_install (object_class, PROP_FIRST_SETTING);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_add_static_pad_template (element_class, &result_template);
  gst_element_class_set_static_metadata (element_class,
      "Melt-pool monitor for powder-bed fusion",
      "Filter/Analyzer/Video/Hardware",
      "Finds melt pool and spatters in every frame and computes the features "
      "of " PBF_FEATURE_SPEC ", on the CPU or on CUDA",
      "the gst-cudavision authors");
}

static void
gst_cuda_pbf_monitor_init (GstCudaPbfMonitor *self)
{
  g_mutex_init (&self->fill_lock);
  g_mutex_init (&self->stats_lock);
  gst_pbf_stats_init (&self->stats);
  gst_pbf_settings_init (&self->settings);
  gst_cv_backend_init (&self->backend);
  self->queue = gst_cv_queue_new ((GDestroyNotify) gst_pbf_batch_free);
  self->pending = gst_queue_array_new_for_struct (sizeof (GstPbfItem), 16);
  self->held = gst_buffer_list_new ();
  self->processing = FIRST_PROCESSING;

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_pbf_input_chain);
  gst_pad_set_chain_list_function (self->sinkpad, gst_pbf_input_chain_list);
  gst_pad_set_query_function (self->sinkpad, sink_query);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_query_function (self->srcpad, src_query);

  self->worker = gst_cv_worker_new (GST_ELEMENT (self), self->sinkpad,
      self->srcpad, self->queue, &worker_funcs);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
  self->sides = gst_cv_sides_new (
      GST_ELEMENT (self), self->srcpad, 1, gst_pbf_output_get_result_caps);
}
