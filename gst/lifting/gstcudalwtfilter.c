/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-cudalwtfilter
 * @title: cudalwtfilter
 * @short_description: splits surfaces into roughness, waviness and form
 *
 * Filters measured surfaces with lifting wavelets, on the CPU or on a CUDA device,
 * with the same bits. #GstCudaLwtFilter:operation chooses what it computes: noise,
 * roughness, waviness and form by wavelength, whose sum is the surface;
 * coefficients; the surface of coefficients; or the surface without small
 * coefficients (denoising). Areal parameters (Sa, Sq, ...) are
 * in #GstCvisSurfaceMeta and in messages.
 *
 * Surfaces are tensors of heights in metres, NaN for missing points, or grey
 * pictures. The source pad gives one component, #GstCudaLwtFilter:output; request
 * pads give further ones. No surface is dropped.
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


#define gst_cuda_lwt_filter_parent_class parent_class
G_DEFINE_FINAL_TYPE (
    GstCudaLwtFilter, gst_cuda_lwt_filter, GST_TYPE_CVIS_FILTER);
GST_ELEMENT_REGISTER_DEFINE (
    cudalwtfilter, "cudalwtfilter", GST_RANK_NONE, GST_TYPE_CUDA_LWT_FILTER);

#define SIDE(name, caps)                                                       \
  GST_STATIC_PAD_TEMPLATE (                                                    \
      name, GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS (caps))

static GstStaticPadTemplate side_templates[GST_LWT_SIDES] = {
  SIDE ("src_roughness", GST_LWT_SURFACE_CAPS),
  SIDE ("src_waviness", GST_LWT_SURFACE_CAPS),
  SIDE ("src_form", GST_LWT_SURFACE_CAPS),
  SIDE ("src_noise", GST_LWT_SURFACE_CAPS),
  SIDE ("src_bands", GST_CVIS_SURFACE_CAPS),
};

/* --- start and stop -------------------------------------------------------- */

static void
gst_cuda_lwt_filter_stop (GstCvisFilter *filter)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);

  gst_lwt_free_engine (self);
  g_clear_pointer (&self->wavelet, lwt_wavelet_free);
  g_clear_pointer (&self->wavelet_text, g_free);
  gst_clear_caps (&self->caps);
  gst_lwt_out_clear (&self->out);
  for (guint i = 0; i < GST_LWT_SIDES; i++)
    gst_lwt_out_clear (&self->side_outs[i]);
}

static void
gst_cuda_lwt_filter_reset_stats (GstCvisFilter *filter)
{
  GST_CUDA_LWT_FILTER (filter)->stats = (GstLwtStats){ 0 };
}

/* Filters without a CUDA form */
static gboolean
start_cpu (GstCudaLwtFilter *self)
{
  gchar *why_not = g_strdup_printf ("filter=%s%s is computed on the CPU only",
      gst_lwt_filter_name (self->wanted.filter),
      self->wanted.filter == LWT_FILTER_GAUSSIAN ? " filter-order=2" : "");
  const gboolean ok = gst_cvis_backend_start_cpu (
      &self->filter.backend, GST_ELEMENT (self), why_not);

  g_free (why_not);
  return ok;
}

static gboolean
gst_cuda_lwt_filter_start (GstCvisFilter *filter)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);

  GST_OBJECT_LOCK (self);
  gst_lwt_settings_copy (&self->wanted, &self->settings);
  GST_OBJECT_UNLOCK (self);
  self->part = gst_lwt_settings_get_part (&self->wanted);
  self->passes = self->wanted.output == GST_LWT_OUTPUT_NONE;
  memset (self->posted, 0, sizeof (self->posted));
  self->started = FALSE;
  self->ignored = 0;
  return gst_lwt_set_wavelet (self, self->wanted.wavelet)
         && (gst_lwt_settings_is_smoothing (&self->wanted)
                     && !lwt_filter_has_cuda (
                         self->wanted.filter, self->wanted.filter_order)
                 ? start_cpu (self)
                 : gst_cvis_filter_start_backend (filter));
}

/* --- object ---------------------------------------------------------------- */

static void
gst_cuda_lwt_filter_add_stats (GstCvisFilter *filter, GstStructure *stats)
{
  gst_lwt_stats_add (&GST_CUDA_LWT_FILTER (filter)->stats, stats);
}

static void
gst_cuda_lwt_filter_finalize (GObject *object)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (object);

  gst_lwt_settings_clear (&self->wanted);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_lwt_filter_class_init (GstCudaLwtFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCvisFilterClass *filter_class = GST_CVIS_FILTER_CLASS (klass);
  GstCaps *caps;

  GST_DEBUG_CATEGORY_INIT (gst_cuda_lwt_filter_debug, "cudalwtfilter", 0,
      "lifting wavelet filtration");
  object_class->finalize = gst_cuda_lwt_filter_finalize;

  filter_class->words = (GstCvisWords){ .engine = "lifting",
    .verb = "transform",
    .one = "a surface",
    .many = "surfaces",
    .unit = "samples",
    .metas = "metas" };
  filter_class->free_item = (GDestroyNotify) gst_lwt_frame_free;
  filter_class->clear_item = gst_lwt_frame_clear;
  filter_class->own_caps = TRUE;
  filter_class->start = gst_cuda_lwt_filter_start;
  filter_class->stop = gst_cuda_lwt_filter_stop;
  filter_class->set_caps = gst_lwt_negotiate;
  filter_class->prepare = gst_lwt_input_prepare;
  filter_class->begin = gst_lwt_input_begin;
  filter_class->complete = gst_lwt_output_complete;
  filter_class->get_request_caps = gst_lwt_side_get_caps;
  filter_class->drain = gst_lwt_output_drain;
  filter_class->get_caps = gst_lwt_get_caps;
  filter_class->accept_caps = gst_lwt_accept_caps;
  filter_class->propose_allocation = gst_lwt_propose_allocation;
  filter_class->add_stats = gst_cuda_lwt_filter_add_stats;
  filter_class->reset_stats = gst_cuda_lwt_filter_reset_stats;

  gst_lwt_settings_install (
      filter_class, G_STRUCT_OFFSET (GstCudaLwtFilter, settings));
  gst_cvis_filter_class_install_devices (filter_class);

  caps = gst_caps_from_string (GST_LWT_SURFACE_CAPS);
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_cvis_filter_class_add_request_pads (
      filter_class, side_templates, GST_LWT_SIDES);
  gst_element_class_set_static_metadata (element_class,
      "Lifting wavelet filter of surfaces", "Filter/Analyzer/Hardware",
      "Separates surfaces into roughness, waviness and form with lifting "
      "wavelets on the CPU or with CUDA, and computes areal parameters",
      "the gst-cudavision authors");
}

static void
gst_cuda_lwt_filter_init (GstCudaLwtFilter *self)
{
  gst_lwt_settings_init (&self->settings);
}
