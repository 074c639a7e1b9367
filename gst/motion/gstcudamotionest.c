/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudamotionest
 * @title: cudamotionest
 * @short_description: estimates the motion of video, block by block
 *
 * Finds for each block of a frame where it was in the frame before (or in
 * several before and after it): exactly, by a full search that leaves out only
 * what cannot win, or approximately by step or zonal search, on the CPU or on a
 * CUDA device, to the same bits.
 *
 * Frames pass on untouched and carry the vectors as #GstMotionVectorMeta, one
 * for each reference. The request pads give the same results as streams of
 * their own: "vectors" packets, "prediction" the luma that the vectors predict,
 * "residual" the difference from it. No frame is ever dropped; the first one
 * leaves without vectors.
 *
 * The first frames of scenes are found by the way: an element message says so,
 * and with #GstCudaMotionEst:force-key-units an encoder downstream begins a
 * group of pictures there. With #GstCudaMotionEst:roi encoders that read
 * regions of interest spend more on what moves.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball num-buffers=100 ! cudamotionest ! fakesink
 * ]|
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! decodebin ! cudamotionest force-key-units=true ! videoconvert ! x264enc ! matroskamux ! filesink location=clip.mkv
 * ]|
 *
 * Since: 0.1
 */
#include "gstmotionest-private.h"

GST_DEBUG_CATEGORY (gst_cuda_motion_est_debug);
#define GST_CAT_DEFAULT gst_cuda_motion_est_debug

#define SIZES ", width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ]"
#define SYSTEM_CAPS                                                            \
  "video/x-raw, format = (string) " GST_MOTION_EST_FORMATS SIZES
#define CUDA_CAPS                                                              \
  "video/x-raw(" GST_CV_CUDA_MEMORY_FEATURE                                    \
  "), format = (string) " GST_MOTION_EST_CUDA_FORMATS SIZES

enum {
  PROP_0,
  PROP_STATS,
  PROP_BACKEND,
  PROP_FIRST_SETTING = PROP_BACKEND + 3
};

#define gst_cuda_motion_est_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstCudaMotionEst, gst_cuda_motion_est, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (
    cudamotionest, "cudamotionest", GST_RANK_NONE, GST_TYPE_CUDA_MOTION_EST);

/* --- start and stop -------------------------------------------------------- */

static void
stop (GstCudaMotionEst *self)
{
  gst_motion_output_discard (self);
  gst_motion_free_engine (self);
  g_clear_pointer (&self->context, cvis_context_unref);
  gst_cv_backend_stop (&self->backend, GST_ELEMENT (self));
  gst_clear_caps (&self->refused);
  self->decided = self->negotiated = self->streaming = FALSE;
  gst_cv_latency_init (&self->latency, GST_ELEMENT (self));
}

/* backend=cuda has to be possible; for the rest caps decide on the backend. */
static gboolean
start (GstCudaMotionEst *self)
{
  CvisBackend wanted;

  GST_OBJECT_LOCK (self);
  self->wanted = self->settings.config;
  wanted = self->backend.wanted;
  GST_OBJECT_UNLOCK (self);
  gst_cv_sides_note_lacks (self->sides, GST_CV_LACKS_ALL);
  g_mutex_lock (&self->stats_lock);
  gst_motion_stats_init (&self->stats);
  g_mutex_unlock (&self->stats_lock);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  gst_segment_init (&self->in_segment, GST_FORMAT_UNDEFINED);
  self->number = 0;
  self->key_units = 0;
  self->on_device = FALSE;
  if (wanted == CVIS_BACKEND_CUDA)
    self->decided = gst_cv_backend_start (
        &self->backend, GST_ELEMENT (self), &self->context);
  return wanted != CVIS_BACKEND_CUDA || self->decided;
}

static GstStateChangeReturn
gst_cuda_motion_est_change_state (
    GstElement *element, GstStateChange transition)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    stop (self);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL && self->cuda != NULL)
    gst_cv_cuda_stop (self->cuda);
  return ret;
}

static void
gst_cuda_motion_est_set_context (GstElement *element, GstContext *context)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (element);
  gint device_id;

  GST_OBJECT_LOCK (self);
  device_id = self->backend.device_id;
  GST_OBJECT_UNLOCK (self);
  gst_cv_cuda_set_context (self->cuda, element, context, device_id);
  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

/* --- pads ------------------------------------------------------------------ */

static void
push_now (GstElement *element, GstEvent *event)
{
  gst_cv_sides_push_now (GST_CUDA_MOTION_EST (element)->sides, event);
}

static const GstCvWorkerFuncs worker_funcs = {
  .complete = gst_motion_output_complete,
  .mark = gst_motion_output_mark,
  .push_event = gst_motion_output_event,
  .push_now = push_now,
  .serialized_event = gst_motion_input_event,
  .flush = gst_motion_input_flush,
};

static GstPad *
gst_cuda_motion_est_request_new_pad (GstElement *element,
    GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  return gst_motion_sides_request (GST_CUDA_MOTION_EST (element), template);
}

static void
gst_cuda_motion_est_release_pad (GstElement *element, GstPad *pad)
{
  gst_cv_sides_release (GST_CUDA_MOTION_EST (element)->sides, pad);
}

/* --- object ---------------------------------------------------------------- */

static void
gst_cuda_motion_est_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (object);
  gboolean ours;

  if (gst_cv_backend_set_property (&self->backend, object, value, pspec))
    return;
  GST_OBJECT_LOCK (self);
  ours =
      gst_motion_settings_set (&self->settings, id - PROP_FIRST_SETTING, value);
  GST_OBJECT_UNLOCK (self);
  if (!ours)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_cuda_motion_est_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (object);
  gboolean ours;

  if (gst_cv_backend_get_property (&self->backend, object, value, pspec))
    return;
  if (id == PROP_STATS) {
    g_mutex_lock (&self->stats_lock);
    g_value_take_boxed (value, gst_motion_stats_to_structure (&self->stats));
    g_mutex_unlock (&self->stats_lock);
    return;
  }
  GST_OBJECT_LOCK (self);
  ours =
      gst_motion_settings_get (&self->settings, id - PROP_FIRST_SETTING, value);
  GST_OBJECT_UNLOCK (self);
  if (!ours)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_cuda_motion_est_finalize (GObject *object)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (object);

  gst_cv_sides_free (self->sides);
  gst_cv_worker_free (self->worker);
  gst_cv_queue_free (self->queue);
  gst_queue_array_free (self->held);
  gst_cv_cuda_free (self->cuda);
  g_mutex_clear (&self->stats_lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
add_pad_templates (GstElementClass *klass)
{
  GstCaps *caps = gst_caps_from_string (SYSTEM_CAPS);

  if (gst_cv_cuda_available (NULL))
    gst_caps_append (caps, gst_caps_from_string (CUDA_CAPS));
  gst_element_class_add_pad_template (
      klass, gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (
      klass, gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_motion_sides_add_templates (klass);
}

static void
gst_cuda_motion_est_class_init (GstCudaMotionEstClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_cuda_motion_est_debug, "cudamotionest", 0, "motion estimation");
  object_class->set_property = gst_cuda_motion_est_set_property;
  object_class->get_property = gst_cuda_motion_est_get_property;
  object_class->finalize = gst_cuda_motion_est_finalize;
  element_class->change_state = gst_cuda_motion_est_change_state;
  element_class->set_context = gst_cuda_motion_est_set_context;
  element_class->request_new_pad = gst_cuda_motion_est_request_new_pad;
  element_class->release_pad = gst_cuda_motion_est_release_pad;

  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Counts of frames, means of what was found about them, rate and "
          "latency since the start; times in nanoseconds",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_cv_backend_install_properties (object_class, PROP_BACKEND);
  gst_motion_settings_install (object_class, PROP_FIRST_SETTING);

  add_pad_templates (element_class);
  gst_element_class_set_static_metadata (element_class, "Motion estimation",
      "Filter/Analyzer/Video/Hardware",
      "Estimates the motion of video block by block, on the CPU or on CUDA, "
      "and finds scene cuts",
      "the gst-cudavision authors");
  gst_type_mark_as_plugin_api (GST_TYPE_CV_BACKEND, 0);
}

static void
gst_cuda_motion_est_init (GstCudaMotionEst *self)
{
  GstElementClass *klass = GST_ELEMENT_GET_CLASS (self);

  g_mutex_init (&self->stats_lock);
  gst_motion_stats_init (&self->stats);
  gst_motion_settings_init (&self->settings);
  gst_cv_backend_init (&self->backend);
  gst_cv_latency_init (&self->latency, GST_ELEMENT (self));
  self->queue = gst_cv_queue_new ((GDestroyNotify) gst_motion_frame_free);
  self->held =
      gst_queue_array_new_for_struct (sizeof (GstMotionHeld), GST_MOTION_TIMES);
  self->cuda = gst_cv_cuda_new ();

  self->sinkpad = gst_pad_new_from_template (
      gst_element_class_get_pad_template (klass, "sink"), "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_motion_input_chain);
  gst_pad_set_query_function (self->sinkpad, gst_motion_sink_query);

  self->srcpad = gst_pad_new_from_template (
      gst_element_class_get_pad_template (klass, "src"), "src");
  gst_pad_set_query_function (self->srcpad, gst_motion_src_query);

  self->worker = gst_cv_worker_new (GST_ELEMENT (self), self->sinkpad,
      self->srcpad, self->queue, &worker_funcs);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
  self->sides = gst_cv_sides_new (GST_ELEMENT (self), self->srcpad,
      GST_MOTION_SIDES, gst_motion_side_get_caps);
}
