/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstsurfaceanalyzer.h"

#include "gst/common/gstcvismessage.h"
#include "gst/common/gstcvisquery.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cvis_filter_debug);
#define GST_CAT_DEFAULT gst_cvis_filter_debug

G_DEFINE_ABSTRACT_TYPE (
    GstSurfaceAnalyzer, gst_surface_analyzer, GST_TYPE_CVIS_ANALYZER);

static GstFlowReturn
gst_surface_analyzer_set_caps (GstCvisFilter *filter, GstCaps *caps)
{
  GstSurfaceAnalyzer *self = GST_SURFACE_ANALYZER (filter);
  GstFlowReturn flow = gst_cvis_filter_drain (filter);
  GError *error = NULL;

  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_cvis_surface_info_from_caps (&self->info, caps, &error)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: %s. Put surfacesrc or surfacedec before %s.",
            error->message, gst_cvis_element_name (GST_ELEMENT (filter))),
        ("caps: %" GST_PTR_FORMAT, caps));
    g_error_free (error);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  gst_cvis_filter_use_memory (filter, FALSE);
  gst_cvis_latency_break (&filter->latency);
  gst_cvis_latency_set_framerate (
      &filter->latency, self->info.fps_n, self->info.fps_d);
  return GST_FLOW_OK;
}

/* Surfaces pass unchanged: what downstream supports is proposed. */
static gboolean
gst_surface_analyzer_propose_allocation (GstCvisFilter *filter, GstQuery *query)
{
  const guint held = gst_cvis_latency_get_frames (&filter->latency) + 1;
  GstCvisSurfaceInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (caps == NULL || !gst_cvis_surface_info_from_caps (&info, caps, NULL))
    return FALSE;
  gst_pad_peer_query (filter->srcpad, query);
  if (!gst_query_find_allocation_meta (
          query, GST_CVIS_SURFACE_META_API_TYPE, NULL))
    gst_query_add_allocation_meta (query, GST_CVIS_SURFACE_META_API_TYPE, NULL);
  gst_cvis_query_hold_frames (
      query, gst_cvis_surface_info_get_size (&info), held);
  return TRUE;
}

/* Computes the result of the @size bytes at @data, in a copy if samples are not aligned
 * or are needed on a device. */
static gboolean
compute_samples (GstSurfaceAnalyzer *self, GstSurfaceView *view,
    gconstpointer data, gsize size, CvisStage *stage, GstStructure *result,
    GError **error)
{
  const guint sample = view->info.type == GST_CVIS_SURFACE_TYPE_FLOAT64 ? 8 : 4;
  gpointer aligned =
      GPOINTER_TO_SIZE (data) % sample != 0 ? g_memdup2 (data, size) : NULL;
  gpointer uploaded;
  gboolean ok = TRUE;

  view->data = aligned != NULL ? aligned : data;
  if (stage != NULL) {
    ok = cvis_stage_upload (stage, 1, &view->data, &size, &uploaded, error);
    view->data = uploaded;
  }
  ok = ok
       && GST_SURFACE_ANALYZER_GET_CLASS (self)->compute (
           self, view, stage, result, error);
  g_free (aligned);
  return ok;
}

static gboolean
compute_surface (GstCvisAnalyzer *analyzer, GstBuffer *buffer, CvisStage *stage,
    GstStructure *result, GError **error)
{
  GstSurfaceAnalyzer *self = GST_SURFACE_ANALYZER (analyzer);
  const gsize size = gst_cvis_surface_info_get_size (&self->info);
  GstSurfaceView view = { .info = self->info,
    .meta = gst_cvis_buffer_get_surface_meta (buffer) };
  GstMapInfo map;
  gboolean ok;

  if (gst_buffer_get_size (buffer) < size) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "its %" G_GSIZE_FORMAT " bytes are not a surface of %ux%u samples",
        gst_buffer_get_size (buffer), self->info.width, self->info.height);
    return FALSE;
  }
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "its buffer cannot be mapped for reading");
    return FALSE;
  }
  ok = compute_samples (self, &view, map.data, size, stage, result, error);
  gst_buffer_unmap (buffer, &map);
  return ok;
}

void
gst_surface_analyzer_class_install (GstSurfaceAnalyzerClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCaps *caps = gst_caps_from_string (GST_CVIS_SURFACE_CAPS);

  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);
  gst_cvis_analyzer_class_install (GST_CVIS_ANALYZER_CLASS (klass), NULL);
}

static void
gst_surface_analyzer_class_init (GstSurfaceAnalyzerClass *klass)
{
  GstCvisFilterClass *filter_class = GST_CVIS_FILTER_CLASS (klass);
  GstCvisFilterClass *filter_defaults =
      GST_CVIS_FILTER_CLASS (g_type_class_peek (GST_TYPE_CVIS_FILTER));

  filter_class->words.one = "a surface";
  filter_class->words.many = "surfaces";
  filter_class->words.unit = "samples";
  filter_class->words.metas = "metas";
  filter_class->cuda_memory = FALSE;
  filter_class->set_caps = gst_surface_analyzer_set_caps;
  filter_class->accept_caps = filter_defaults->accept_caps;
  filter_class->propose_allocation = gst_surface_analyzer_propose_allocation;
  GST_CVIS_ANALYZER_CLASS (klass)->compute_buffer = compute_surface;
  gst_type_mark_as_plugin_api (GST_TYPE_SURFACE_ANALYZER, 0);
}

static void
gst_surface_analyzer_init (GstSurfaceAnalyzer *self)
{
}
