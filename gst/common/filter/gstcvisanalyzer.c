/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisanalyzer.h"

#include "gst/common/gstcvismessage.h"
#include "gst/common/gstcvistime.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cvis_filter_debug);
#define GST_CAT_DEFAULT gst_cvis_filter_debug

#define N_ITEMS 2 /* one is computed, one waits */

/* A frame in flight */
typedef struct {
  GstCvisItem item;
  GstBuffer *buffer;
} Item;

struct _GstCvisAnalyzerPrivate {
  /* under the object lock */
  guint64 message_interval;

  /* of upstream's thread, while the task is idle */
  GstVideoInfo layout;
  gboolean on_device;

  /* of the source pad's task */
  CvisStage *stage; /* (nullable) */
  guint64 posted;   /* cvis_monotonic_ns() of the last message; 0: none yet */
};

enum { PROP_0, PROP_MESSAGE_INTERVAL };

#define gst_cvis_analyzer_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (
    GstCvisAnalyzer, gst_cvis_analyzer, GST_TYPE_CVIS_FILTER);

static void
clear_analyzer_item (gpointer data)
{
  gst_clear_buffer (&((Item *) data)->buffer);
}

static void
free_analyzer_item (gpointer data)
{
  clear_analyzer_item (data);
  g_free (data);
}

/* --- start and stop ---------------------------------------------------------- */

static gboolean
gst_cvis_analyzer_start (GstCvisFilter *filter)
{
  GST_CVIS_ANALYZER (filter)->priv->posted = 0;
  for (guint i = 0; i < N_ITEMS; i++)
    gst_cvis_filter_add_item (filter, g_new0 (Item, 1));
  gst_cvis_latency_set_frames (&filter->latency, N_ITEMS);
  return gst_cvis_filter_start_backend (filter);
}

static void
gst_cvis_analyzer_stop (GstCvisFilter *filter)
{
  g_clear_pointer (&GST_CVIS_ANALYZER (filter)->priv->stage, cvis_stage_free);
  gst_cvis_filter_free_items (filter);
}

/* --- upstream's thread ------------------------------------------------------- */

static GstFlowReturn
gst_cvis_analyzer_set_caps (GstCvisFilter *filter, GstCaps *caps)
{
  GstCvisAnalyzerPrivate *priv = GST_CVIS_ANALYZER (filter)->priv;
  GstFlowReturn flow = gst_cvis_filter_drain (filter);

  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_cvis_filter_parse_video (filter,
          GST_CVIS_ANALYZER_GET_CLASS (filter)->kind, caps, &priv->layout))
    return GST_FLOW_NOT_NEGOTIATED;
  priv->on_device = gst_cvis_caps_on_device (caps);
  if (!gst_cvis_filter_use_memory (filter, priv->on_device))
    return GST_FLOW_NOT_NEGOTIATED;
  gst_cvis_latency_break (&filter->latency);
  gst_cvis_latency_set_framerate (&filter->latency,
      GST_VIDEO_INFO_FPS_N (&priv->layout),
      GST_VIDEO_INFO_FPS_D (&priv->layout));
  return GST_FLOW_OK;
}

/* Frames pass unchanged: what downstream supports is proposed. */
static gboolean
gst_cvis_analyzer_propose_allocation (GstCvisFilter *filter, GstQuery *query)
{
  gst_pad_peer_query (filter->srcpad, query);
  return gst_cvis_filter_propose_video (filter, query);
}

/* The source pad's task computes. */
static GstFlowReturn
gst_cvis_analyzer_begin (
    GstCvisFilter *filter, gpointer data, GstBuffer *buffer, GError **error)
{
  Item *item = data;

  item->buffer = gst_buffer_make_writable (buffer);
  item->item.busy = TRUE;
  return GST_FLOW_OK;
}

/* --- the source pad's task --------------------------------------------------- */

/* Makes the stage of the context that the frame @buffer is computed in. */
static gboolean
prepare_stage (GstCvisAnalyzer *self, GstBuffer *buffer, GError **error)
{
  GstCvisAnalyzerPrivate *priv = self->priv;
  CvisContext *context = self->filter.context;

  if (priv->on_device) {
    context =
        gst_cvis_filter_follow_video (&self->filter, buffer, FALSE, error);
    if (context == NULL)
      return FALSE;
    gst_cvis_cuda_order (buffer, NULL);
  }
  if (priv->stage != NULL && cvis_stage_get_context (priv->stage) == context)
    return TRUE;
  g_clear_pointer (&priv->stage, cvis_stage_free);
  if (context != NULL)
    priv->stage = cvis_stage_new (context, error);
  return context == NULL || priv->stage != NULL;
}

/* Changes the planes of @frame to copies on the stage's device. */
static gboolean
upload_frame (GstCvisAnalyzer *self, GstVideoFrame *frame, GError **error)
{
  gconstpointer planes[GST_VIDEO_MAX_PLANES];
  gsize sizes[GST_VIDEO_MAX_PLANES];
  gpointer copies[GST_VIDEO_MAX_PLANES];
  const guint n = GST_VIDEO_FRAME_N_PLANES (frame);

  for (guint i = 0; i < n; i++) {
    gint components[GST_VIDEO_MAX_COMPONENTS];

    gst_video_format_info_component (frame->info.finfo, i, components);
    planes[i] = GST_VIDEO_FRAME_PLANE_DATA (frame, i);
    sizes[i] = (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (frame, i)
               * GST_VIDEO_FRAME_COMP_HEIGHT (frame, components[0]);
  }
  if (!cvis_stage_upload (self->priv->stage, n, planes, sizes, copies, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    frame->data[i] = copies[i];
  return TRUE;
}

static gboolean
map_video (GstCvisAnalyzer *self, GstVideoFrame *frame, GstBuffer *buffer,
    GError **error)
{
  const GstMapFlags flags =
      (GstMapFlags) (GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
  const gboolean mapped =
      self->priv->on_device
          ? gst_cvis_cuda_frame_map (frame, &self->priv->layout, buffer, flags)
          : gst_video_frame_map (frame, &self->priv->layout, buffer, flags);

  if (!mapped)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "its %" G_GSIZE_FORMAT " bytes are not a frame of %dx%d pixels",
        gst_buffer_get_size (buffer),
        GST_VIDEO_INFO_WIDTH (&self->priv->layout),
        GST_VIDEO_INFO_HEIGHT (&self->priv->layout));
  return mapped;
}

static gboolean
compute_video (GstCvisAnalyzer *self, GstBuffer *buffer, CvisStage *stage,
    GstStructure *result, GError **error)
{
  GstVideoFrame frame, seen;
  gboolean ok;

  if (!map_video (self, &frame, buffer, error))
    return FALSE;
  seen = frame;
  ok = (self->priv->on_device || stage == NULL
           || upload_frame (self, &seen, error))
       && GST_CVIS_ANALYZER_GET_CLASS (self)->compute (
           self, &seen, stage, result, error);
  gst_video_frame_unmap (&frame);
  return ok;
}

/* Posts the result of the frame unless the last one was posted a short time ago. */
static void
post_result (
    GstCvisAnalyzer *self, const GstStructure *result, const Item *item)
{
  const GstClockTime pts = GST_BUFFER_PTS (item->buffer);
  GstCvisAnalyzerPrivate *priv = self->priv;
  const guint64 now = cvis_monotonic_ns ();
  GstStructure *s;
  guint64 interval;
  gchar *name;

  GST_OBJECT_LOCK (self);
  interval = priv->message_interval;
  GST_OBJECT_UNLOCK (self);
  if (interval == 0 || (priv->posted != 0 && now - priv->posted < interval))
    return;
  priv->posted = now;
  s = gst_structure_copy (result);
  name =
      g_strconcat (gst_cvis_element_name (GST_ELEMENT (self)), "-result", NULL);
  gst_structure_set_name (s, name);
  g_free (name);
  gst_structure_set (s, "frame", G_TYPE_UINT64, item->item.number, "pts",
      G_TYPE_UINT64, pts, "running-time", G_TYPE_UINT64,
      gst_cvis_running_time (&self->filter.segment, pts), NULL);
  gst_element_post_message (
      GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), s));
}

static GstFlowReturn
gst_cvis_analyzer_complete (GstCvisFilter *filter, gpointer data)
{
  GstCvisAnalyzer *self = GST_CVIS_ANALYZER (filter);
  GstCvisAnalyzerClass *klass = GST_CVIS_ANALYZER_GET_CLASS (self);
  Item *item = data;
  GstCvisLeaving leaving = { NULL };
  GstStructure *result =
      gst_custom_meta_get_structure (gst_buffer_add_custom_meta (
          item->buffer, g_type_name (klass->meta->type)));
  GError *error = NULL;

  if (!prepare_stage (self, item->buffer, &error)
      || !klass->compute_buffer (
          self, item->buffer, self->priv->stage, result, &error)) {
    /* there are no settings that a frame may not suit */
    if (g_error_matches (error, CVIS_ERROR, CVIS_ERROR_INVALID))
      error->code = CVIS_ERROR_FORMAT;
    gst_cvis_filter_post_frame_error (filter, error);
    return gst_cvis_filter_fail (filter, item, NULL, NULL);
  }
  post_result (self, result, item);
  leaving.source = g_steal_pointer (&item->buffer);
  return gst_cvis_filter_deliver (filter, item, &leaving);
}

CvisPlane
gst_cvis_frame_plane (const GstVideoFrame *frame, guint component)
{
  return (CvisPlane){
    .data = GST_VIDEO_FRAME_COMP_DATA (frame, component),
    .stride = (gsize) GST_VIDEO_FRAME_COMP_STRIDE (frame, component),
    .width = (guint) GST_VIDEO_FRAME_COMP_WIDTH (frame, component),
    .height = (guint) GST_VIDEO_FRAME_COMP_HEIGHT (frame, component),
    .sample_size = (guint) GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component),
    .shift = GST_VIDEO_FORMAT_INFO_SHIFT (frame->info.finfo, component),
  };
}

/* --- object ------------------------------------------------------------------ */

static void
gst_cvis_analyzer_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  GST_CVIS_ANALYZER (object)->priv->message_interval =
      g_value_get_uint64 (value);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_cvis_analyzer_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  g_value_set_uint64 (
      value, GST_CVIS_ANALYZER (object)->priv->message_interval);
  GST_OBJECT_UNLOCK (object);
}

void
gst_cvis_analyzer_class_install (
    GstCvisAnalyzerClass *klass, const GstCvisVideoKind *kind)
{
  static const gchar *no_tags[] = { NULL };
  gchar *name = g_strconcat (G_OBJECT_CLASS_NAME (klass), "Meta", NULL);

  klass->kind = kind;
  klass->meta = gst_meta_get_info (name);
  if (klass->meta == NULL)
    klass->meta = gst_meta_register_custom (name, no_tags, NULL, NULL, NULL);
  if (kind != NULL)
    gst_cvis_filter_class_add_video_pads (
        GST_CVIS_FILTER_CLASS (klass), kind, FALSE);
  g_free (name);
}

static void
gst_cvis_analyzer_class_init (GstCvisAnalyzerClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstCvisFilterClass *filter_class = GST_CVIS_FILTER_CLASS (klass);

  klass->compute_buffer = compute_video;
  object_class->set_property = gst_cvis_analyzer_set_property;
  object_class->get_property = gst_cvis_analyzer_get_property;
  filter_class->words.engine = "analysis";
  filter_class->words.verb = "analyse";
  filter_class->free_item = free_analyzer_item;
  filter_class->clear_item = clear_analyzer_item;
  filter_class->cuda_memory = TRUE;
  filter_class->start = gst_cvis_analyzer_start;
  filter_class->stop = gst_cvis_analyzer_stop;
  filter_class->set_caps = gst_cvis_analyzer_set_caps;
  filter_class->begin = gst_cvis_analyzer_begin;
  filter_class->complete = gst_cvis_analyzer_complete;
  filter_class->accept_caps = gst_cvis_filter_accept_video;
  filter_class->propose_allocation = gst_cvis_analyzer_propose_allocation;
  g_object_class_install_property (object_class, PROP_MESSAGE_INTERVAL,
      g_param_spec_uint64 ("message-interval", "message-interval",
          "Shortest time between two messages with a result, nanoseconds; 0: "
          "none, 1: of every frame",
          0, G_MAXUINT64, GST_SECOND,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
              | GST_PARAM_MUTABLE_PLAYING));
  gst_type_mark_as_plugin_api (GST_TYPE_CVIS_ANALYZER, 0);
}

static void
gst_cvis_analyzer_init (GstCvisAnalyzer *self)
{
  self->priv = gst_cvis_analyzer_get_instance_private (self);
  self->priv->message_interval = GST_SECOND;
}
