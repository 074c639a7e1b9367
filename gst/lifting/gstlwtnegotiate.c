/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudalwtfilter, negotiation: accepted caps and the answers to queries. */
#include "gstcudalwtfilter-private.h"

#include <stdio.h>

#include "gst/common/gstcvisquery.h"

#define GST_CAT_DEFAULT gst_cuda_lwt_filter_debug

GstFlowReturn
gst_lwt_side_get_caps (
    GstCvisFilter *filter, guint kind, GstPad *pad, GstCaps **caps)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  LwtType type = self->config.type;
  GstLwtOut *out = &self->side_outs[kind];

  if (self->engine == NULL)
    return GST_FLOW_NOT_LINKED;
  gst_lwt_free_picture_pool (self, kind);
  if (!gst_lwt_choose_out (self, pad, gst_lwt_side_part (kind), &self->config,
          &self->surface, FALSE, out, &type))
    return GST_FLOW_NOT_NEGOTIATED;
  *caps = gst_caps_ref (out->caps);
  return GST_FLOW_OK;
}

/* --- new caps ------------------------------------------------------------------ */

/* Posts an error if @caps are not supported. */
static gboolean
parse_surface_caps (GstCudaLwtFilter *self, GstCaps *caps)
{
  GError *error = NULL;
  GstLwtLayout layout;

  if (!gst_lwt_layout_from_caps (&layout, caps, &error)) {
    if (error->code == GST_STREAM_ERROR_WRONG_TYPE)
      GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
          ("Unsupported caps: %s. \"gst-inspect-1.0 cudalwtfilter\" lists the "
           "supported caps.",
              error->message),
          ("caps: %" GST_PTR_FORMAT, caps));
    else
      GST_ELEMENT_ERROR (self, STREAM, FORMAT,
          ("Unsupported caps: %s. \"gst-inspect-1.0 cudalwtfilter\" lists the "
           "supported caps.",
              error->message),
          ("caps: %" GST_PTR_FORMAT, caps));
    g_error_free (error);
    return FALSE;
  }
  self->layout = layout;
  return TRUE;
}

/* Output caps depend on the first surface and its meta, but have to be pushed before
 * the segment: so those that follow from the input caps alone are pushed first. If
 * the input caps are incomplete, those of the input surface are taken. */
static GstFlowReturn
push_first_caps (GstCudaLwtFilter *self)
{
  GstLwtSurface surface;
  LwtConfig config;
  gboolean other;
  LwtType type;

  if (!gst_lwt_surface_init (
          &surface, &self->layout, NULL, &self->wanted, NULL)) {
    lwt_config_init (&config);
    config.width = self->layout.width;
    config.height = self->layout.height;
    type = LWT_TYPE_F32;
    other = TRUE;
  } else {
    type = gst_lwt_surface_get_type (&surface, &self->wanted, &other);
    gst_lwt_surface_configure (
        &surface, &self->wanted, self->wavelet, type, &config);
  }
  return gst_lwt_choose_out (self, self->filter.srcpad, self->part, &config,
             &surface, other, &self->out, &type)
             ? gst_lwt_push_caps (self)
             : GST_FLOW_NOT_NEGOTIATED;
}

GstFlowReturn
gst_lwt_negotiate (GstCvisFilter *filter, GstCaps *caps)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  GstFlowReturn flow = gst_cvis_filter_drain (filter);

  if (flow != GST_FLOW_OK)
    return flow;
  gst_lwt_free_engine (self);
  self->announce = TRUE;
  self->overflowed = self->offset_remarked = FALSE;
  self->clip_remarked = self->missing_remarked = FALSE;
  gst_caps_replace (&self->caps, caps);
  if (!parse_surface_caps (self, caps))
    return GST_FLOW_NOT_NEGOTIATED;
  flow = push_first_caps (self);
  if (flow != GST_FLOW_OK)
    return flow;
  gst_cvis_latency_break (&self->filter.latency);
  gst_cvis_latency_set_framerate (
      &self->filter.latency, self->layout.fps_n, self->layout.fps_d);
  return GST_FLOW_OK;
}

/* --- the caps query ---------------------------------------------------------------- */

/* Whether components have the size of the input. */
static gboolean
keeps_size (GstCudaLwtFilter *self)
{
  GstLwtSettings *settings = &self->settings;
  gboolean keeps;

  GST_OBJECT_LOCK (self);
  keeps = settings->operation == LWT_OPERATION_FILTER
              ? gst_lwt_settings_get_part (settings) != CVIS_SURFACE_PART_BANDS
              : settings->operation == LWT_OPERATION_DENOISE;
  keeps = keeps
          || (settings->boundary != LWT_BOUNDARY_PAD_SYMMETRIC
              && settings->boundary != LWT_BOUNDARY_PAD_SMOOTH
              && settings->operation != LWT_OPERATION_INVERSE);
  GST_OBJECT_UNLOCK (self);
  return keeps;
}

static void
copy_field (const GstStructure *from, GstStructure *to, const gchar *name)
{
  const GValue *value = gst_structure_get_value (from, name);

  if (value != NULL)
    gst_structure_set_value (to, name, value);
}

/* Pictures with the size and rate of @from, a tensor or a picture. */
static GstStructure *
picture_like (const GstStructure *from, gboolean size)
{
  GstStructure *to = gst_structure_from_string (
      "video/x-raw, format = (string) { GRAY8, GRAY16_LE }", NULL);
  const gchar *dimensions = gst_structure_get_string (from, "dimensions");
  guint width, height;

  copy_field (from, to, "framerate");
  if (!size)
    return to;
  copy_field (from, to, "width");
  copy_field (from, to, "height");
  if (dimensions != NULL && sscanf (dimensions, "%u:%u", &width, &height) == 2)
    gst_structure_set (
        to, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  return to;
}

/* Tensors with the size and rate of @from. */
static GstStructure *
tensor_like (const GstStructure *from, gboolean size)
{
  GstStructure *to = gst_structure_from_string (GST_CVIS_SURFACE_CAPS, NULL);
  gint width, height;

  copy_field (from, to, "framerate");
  if (!size)
    return to;
  copy_field (from, to, "dimensions");
  if (gst_structure_get_int (from, "width", &width)
      && gst_structure_get_int (from, "height", &height)) {
    gchar *dimensions = g_strdup_printf ("%d:%d:1:1", width, height);

    gst_structure_set (to, "dimensions", G_TYPE_STRING, dimensions, NULL);
    g_free (dimensions);
  }
  return to;
}

/* Caps of one pad for the caps @peer of the other: tensors and pictures become both,
 * the same kind first. Structures are not simplified: that would merge frame rates
 * 5/1 and [ 0/1, max ] into a list, which GStreamer does not accept as a subset of
 * the range. */
static GstCaps *
either_kind (GstCudaLwtFilter *self, const GstCaps *peer)
{
  const gboolean size = keeps_size (self);
  GstCaps *first = gst_caps_new_empty (), *second = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (peer); i++) {
    const GstStructure *s = gst_caps_get_structure (peer, i);
    const gboolean video = gst_structure_has_name (s, "video/x-raw");

    first = gst_caps_merge_structure (
        first, video ? picture_like (s, size) : tensor_like (s, size));
    second = gst_caps_merge_structure (
        second, video ? tensor_like (s, size) : picture_like (s, size));
  }
  return gst_caps_merge (first, second);
}

static gboolean
passes (GstCudaLwtFilter *self)
{
  gboolean passes;

  GST_OBJECT_LOCK (self);
  passes = self->settings.output == GST_LWT_OUTPUT_NONE;
  GST_OBJECT_UNLOCK (self);
  return passes;
}

/* Caps of one pad for the caps @peer of the other: surfaces of both kinds */
static GstCaps *
transform_caps (GstCudaLwtFilter *self, GstCaps *peer)
{
  GstCaps *surfaces = gst_caps_from_string (GST_LWT_SURFACE_CAPS);
  GstCaps *known =
      gst_caps_intersect_full (peer, surfaces, GST_CAPS_INTERSECT_FIRST);
  GstCaps *either = either_kind (self, known);
  GstCaps *result =
      gst_caps_intersect_full (either, surfaces, GST_CAPS_INTERSECT_FIRST);

  gst_caps_unref (surfaces);
  gst_caps_unref (known);
  gst_caps_unref (either);
  return result;
}

/* Caps of the peer of @other, for @pad. */
GstCaps *
gst_lwt_get_caps (
    GstCvisFilter *filter, GstPad *pad, GstPad *other, GstCaps *filter_caps)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  GstCaps *caps;

  if (passes (self)) {
    caps = gst_cvis_caps_proxy (pad, other, filter_caps);
  } else {
    GstCaps *there = gst_pad_get_pad_template_caps (other);
    GstCaps *peer = gst_pad_peer_query_caps (other, there);

    caps = gst_cvis_caps_filter (transform_caps (self, peer), filter_caps);
    gst_caps_unref (peer);
    gst_caps_unref (there);
  }
  return caps;
}

/* Accepts caps of these kinds, for parse_surface_caps() to post an error that says what is
 * wrong: if refused here, upstream would report not-negotiated alone. */
gboolean
gst_lwt_accept_caps (GstCvisFilter *filter, GstCaps *caps)
{
  const GstStructure *s;

  if (gst_caps_get_size (caps) == 0)
    return FALSE;
  s = gst_caps_get_structure (caps, 0);
  return gst_structure_has_name (s, "video/x-raw")
         || gst_structure_has_name (s, "other/tensors");
}

/* --- allocation -------------------------------------------------------------------- */

/* Proposes pinned memory for surfaces that a device copies. */
gboolean
gst_lwt_propose_allocation (GstCvisFilter *filter, GstQuery *query)
{
  GstCudaLwtFilter *self = GST_CUDA_LWT_FILTER (filter);
  GstLwtLayout layout;
  gboolean need_pool;
  GstCaps *caps;
  guint held;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (caps == NULL || !gst_lwt_layout_from_caps (&layout, caps, NULL)
      || layout.size > G_MAXUINT)
    return FALSE;
  held = gst_cvis_latency_get_frames (&self->filter.latency) + 1;
  if (layout.video)
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_CVIS_SURFACE_META_API_TYPE, NULL);
  if (self->filter.context != NULL && need_pool)
    gst_cvis_query_propose_pool (
        query, self->filter.context, caps, layout.size, held, layout.video);
  else
    gst_cvis_query_hold_frames (query, layout.size, held);
  return TRUE;
}
