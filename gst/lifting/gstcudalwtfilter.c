/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudalwtfilter
 * @title: cudalwtfilter
 * @short_description: splits surfaces into roughness, waviness and form
 *
 * Splits measured surfaces by lifting wavelets, on the CPU or on a CUDA device,
 * to the same bits: into noise, roughness, waviness and form by wavelength, whose
 * heights add up to the surface's; or into coefficients and back; or takes away
 * what is below a threshold. Areal parameters (Sa, Sq, ..) come along as
 * #GstSurfaceMeta and messages.
 *
 * Surfaces are tensors of heights in metres, NaN where a point is missing, or
 * grey pictures. The source pad gives one part, #GstCudaLwtFilter:output;
 * request pads give further ones. No surface is ever dropped.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 -m videotestsrc pattern=smpte num-buffers=10 ! video/x-raw,format=GRAY8 ! cudalwtfilter z-scale=1e-6 dx=1e-6 lambda-c=16e-6 parameters=true ! fakesink
 * ]|
 *
 * Since: 0.1
 */
#include "gstcudalwtfilter-private.h"

#include <string.h>

GST_DEBUG_CATEGORY (gst_cuda_lwt_filter_debug);
#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

#define PICTURE_CAPS                                                           \
  "video/x-raw, format = (string) { GRAY8, GRAY16_LE }, "                      \
  "width = (int) [ 1, 1048576 ], height = (int) [ 1, 1048576 ]"
#define ALL_CAPS GST_SURFACE_CAPS "; " PICTURE_CAPS

enum {
  PROP_0,
  PROP_STATS,
  PROP_CUTOFF,
  PROP_BACKEND = PROP_CUTOFF + 6,
  PROP_FIRST_SETTING = PROP_BACKEND + 3
};

#define gst_cuda_lwt_filter_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstCudaLwtFilter, gst_cuda_lwt_filter, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (
    cudalwtfilter, "cudalwtfilter", GST_RANK_NONE, GST_TYPE_CUDA_LWT_FILTER);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (ALL_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (ALL_CAPS));

#define SIDE(name, caps)                                                       \
  GST_STATIC_PAD_TEMPLATE (                                                    \
      name, GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS (caps))

static GstStaticPadTemplate side_templates[GST_LWT_SIDES] = {
  SIDE ("src_roughness", ALL_CAPS),
  SIDE ("src_waviness", ALL_CAPS),
  SIDE ("src_form", ALL_CAPS),
  SIDE ("src_noise", ALL_CAPS),
  SIDE ("src_bands", GST_SURFACE_CAPS),
};

SurfacePart
gst_lwt_side_part (guint kind)
{
  static const SurfacePart parts[GST_LWT_SIDES] = { SURFACE_PART_ROUGHNESS,
    SURFACE_PART_WAVINESS, SURFACE_PART_FORM, SURFACE_PART_NOISE,
    SURFACE_PART_BANDS };

  return parts[kind];
}

/* --- start and stop -------------------------------------------------------- */

static void
stop (GstCudaLwtFilter *self)
{
  gst_lwt_output_discard (self);
  gst_lwt_free_engine (self);
  g_clear_pointer (&self->wavelet, lwt_wavelet_free);
  g_clear_pointer (&self->wavelet_text, g_free);
  g_clear_pointer (&self->context, cvis_context_unref);
  gst_cv_backend_stop (&self->backend, GST_ELEMENT (self));
  gst_clear_caps (&self->refused);
  gst_lwt_out_clear (&self->out);
  for (guint i = 0; i < GST_LWT_SIDES; i++)
    gst_lwt_out_clear (&self->side_outs[i]);
  self->negotiated = FALSE;
  gst_cv_latency_init (&self->latency, GST_ELEMENT (self));
}

static void
reset_stats (GstCudaLwtFilter *self)
{
  g_mutex_lock (&self->stats_lock);
  memset (&self->stats, 0, sizeof (self->stats));
  g_mutex_unlock (&self->stats_lock);
  memset (self->posted, 0, sizeof (self->posted));
}

static gboolean
start (GstCudaLwtFilter *self)
{
  GST_OBJECT_LOCK (self);
  gst_lwt_settings_copy (&self->wanted, &self->settings);
  memset (self->cutoffs, 0, sizeof (self->cutoffs));
  GST_OBJECT_UNLOCK (self);
  gst_cv_sides_note_lacks (self->sides, GST_CV_LACKS_ALL);
  self->part = gst_lwt_settings_get_part (&self->wanted);
  reset_stats (self);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  self->number = 0;
  return gst_lwt_set_wavelet (self, self->wanted.wavelet)
         && gst_cv_backend_start (
             &self->backend, GST_ELEMENT (self), &self->context);
}

static GstStateChangeReturn
gst_cuda_lwt_filter_change_state (
    GstElement *element, GstStateChange transition)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self)) {
    stop (self);
    return GST_STATE_CHANGE_FAILURE;
  }
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    stop (self);
  return ret;
}

/* --- pads ------------------------------------------------------------------ */

static void
push_now (GstElement *element, GstEvent *event)
{
  gst_cv_sides_push_now (GST_CUDA_LWT_FILTER (element)->sides, event);
}

static const GstCvWorkerFuncs worker_funcs = {
  .complete = gst_lwt_output_complete,
  .push_event = gst_lwt_output_event,
  .push_now = push_now,
  .serialized_event = gst_lwt_input_event,
  .flush = gst_lwt_input_flush,
};

static GstPad *
gst_cuda_lwt_filter_request_new_pad (GstElement *element,
    GstPadTemplate *template, const gchar *name, const GstCaps *caps)
{
  const gchar *wanted = GST_PAD_TEMPLATE_NAME_TEMPLATE (template);

  for (guint i = 0; i < GST_LWT_SIDES; i++)
    if (g_str_equal (wanted, side_templates[i].name_template))
      return gst_cv_sides_request (
          GST_CUDA_LWT_FILTER (element)->sides, i, template);
  g_return_val_if_reached (NULL);
}

static void
gst_cuda_lwt_filter_release_pad (GstElement *element, GstPad *pad)
{
  gst_cv_sides_release (GST_CUDA_LWT_FILTER (element)->sides, pad);
}

/* --- object ---------------------------------------------------------------- */

static void
gst_cuda_lwt_filter_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (object);
  gboolean ours;

  if (gst_cv_backend_set_property (&self->backend, object, value, pspec))
    return;
  GST_OBJECT_LOCK (self);
  ours = gst_lwt_settings_set (&self->settings, id - PROP_FIRST_SETTING, value);
  GST_OBJECT_UNLOCK (self);
  if (!ours)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_cuda_lwt_filter_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (object);
  gboolean ours;

  if (gst_cv_backend_get_property (&self->backend, object, value, pspec))
    return;
  if (id == PROP_STATS) {
    g_mutex_lock (&self->stats_lock);
    g_value_take_boxed (value, gst_lwt_stats_to_structure (&self->stats));
    g_mutex_unlock (&self->stats_lock);
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id >= PROP_CUTOFF && id < PROP_CUTOFF + 6) {
    g_value_set_double (
        value, self->cutoffs[(id - PROP_CUTOFF) / 2][(id - PROP_CUTOFF) % 2]);
    ours = TRUE;
  } else {
    ours =
        gst_lwt_settings_get (&self->settings, id - PROP_FIRST_SETTING, value);
  }
  GST_OBJECT_UNLOCK (self);
  if (!ours)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_cuda_lwt_filter_finalize (GObject *object)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (object);

  gst_cv_sides_free (self->sides);
  gst_cv_worker_free (self->worker);
  gst_cv_queue_free (self->queue);
  gst_lwt_settings_clear (&self->settings);
  gst_lwt_settings_clear (&self->wanted);
  g_mutex_clear (&self->stats_lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_cutoffs (GObjectClass *klass)
{
  static const gchar *const names[6] = { "cutoff-s-x", "cutoff-s-y",
    "cutoff-c-x", "cutoff-c-y", "cutoff-f-x", "cutoff-f-y" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_object_class_install_property (klass, PROP_CUTOFF + i,
        g_param_spec_double (names[i], names[i],
            "Wavelength of which half the amplitude passes, metres; 0: not "
            "used, not known yet, or no spacing is known",
            0, G_MAXDOUBLE, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_cuda_lwt_filter_class_init (GstCudaLwtFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_cuda_lwt_filter_debug, "cudalwtfilter", 0,
      "lifting wavelet filtration");
  object_class->set_property = gst_cuda_lwt_filter_set_property;
  object_class->get_property = gst_cuda_lwt_filter_get_property;
  object_class->finalize = gst_cuda_lwt_filter_finalize;
  element_class->change_state = gst_cuda_lwt_filter_change_state;
  element_class->request_new_pad = gst_cuda_lwt_filter_request_new_pad;
  element_class->release_pad = gst_cuda_lwt_filter_release_pad;

  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Counts of surfaces, of missing points and of those beyond their "
          "limits, the last parameters, rate and latency since the start; "
          "times in nanoseconds",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  install_cutoffs (object_class);
  gst_cv_backend_install_properties (object_class, PROP_BACKEND);
  gst_lwt_settings_install (object_class, PROP_FIRST_SETTING);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  for (guint i = 0; i < GST_LWT_SIDES; i++)
    gst_element_class_add_static_pad_template (
        element_class, &side_templates[i]);
  gst_element_class_set_static_metadata (element_class,
      "Lifting wavelet filter of surfaces", "Filter/Analyzer/Hardware",
      "Splits surfaces into roughness, waviness and form by lifting wavelets, "
      "on the CPU or on CUDA, and computes areal parameters",
      "the gst-cudavision authors");
  gst_type_mark_as_plugin_api (GST_TYPE_CV_BACKEND, 0);
}

static void
gst_cuda_lwt_filter_init (GstCudaLwtFilter *self)
{
  g_mutex_init (&self->stats_lock);
  gst_lwt_settings_init (&self->settings);
  gst_cv_backend_init (&self->backend);
  gst_cv_latency_init (&self->latency, GST_ELEMENT (self));
  self->queue = gst_cv_queue_new ((GDestroyNotify) gst_lwt_frame_free);

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_lwt_input_chain);
  gst_pad_set_query_function (self->sinkpad, gst_lwt_sink_query);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_query_function (self->srcpad, gst_lwt_src_query);

  self->worker = gst_cv_worker_new (GST_ELEMENT (self), self->sinkpad,
      self->srcpad, self->queue, &worker_funcs);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
  self->sides = gst_cv_sides_new (
      GST_ELEMENT (self), self->srcpad, GST_LWT_SIDES, gst_lwt_side_get_caps);
}
