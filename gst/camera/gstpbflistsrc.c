/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbflistsrc.h"

#include <gst/video/gstvideometa.h>
#include <gst/video/gstvideopool.h>
#include "cuda/camera/packet.h"
#include "cuda/camera/signallayout.h"

typedef struct {
  GstBufferList *other_frames; /* (nullable): all frames but the first of the
                                * list that create() returns */
  gboolean has_layout;
  PbfSignalLayout layout;
} GstPbfListSrcPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (
    GstPbfListSrc, gst_pbf_list_src, GST_TYPE_BASE_SRC)

static GstPbfListSrcPrivate *
get_private (GstPbfListSrc *self)
{
  return gst_pbf_list_src_get_instance_private (self);
}

/* --- lists ----------------------------------------------------------------- */

void
gst_pbf_list_src_hand_out (
    GstPbfListSrc *self, GstBufferList *list, GstBuffer **buffer)
{
  *buffer = gst_buffer_ref (gst_buffer_list_get (list, 0));
  gst_buffer_list_remove (list, 0, 1);
  get_private (self)->other_frames = list;
}

void
gst_pbf_list_src_forget (GstPbfListSrc *self)
{
  gst_clear_buffer_list (&get_private (self)->other_frames);
}

/* The base class sees only the first frame of a list. */
static void
update_position (GstPbfListSrc *self, GstBuffer *last)
{
  GstSegment *segment = &GST_BASE_SRC (self)->segment;
  GstClockTime end = GST_BUFFER_PTS (last);

  if (!GST_CLOCK_TIME_IS_VALID (end))
    return;
  if (GST_BUFFER_DURATION_IS_VALID (last))
    end += GST_BUFFER_DURATION (last);
  GST_OBJECT_LOCK (self);
  segment->position = MIN (end, segment->stop);
  GST_OBJECT_UNLOCK (self);
}

/* Pushes a list in the place of its first frame. */
static GstPadProbeReturn
push_list (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstPbfListSrc *self = data;
  GstBufferList *list = g_steal_pointer (&get_private (self)->other_frames);

  if (list == NULL)
    return GST_PAD_PROBE_OK;
  gst_buffer_list_insert (list, 0, GST_PAD_PROBE_INFO_BUFFER (info));
  update_position (
      self, gst_buffer_list_get (list, gst_buffer_list_length (list) - 1));
  info->data = NULL;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = gst_pad_push_list (pad, list);
  return GST_PAD_PROBE_HANDLED;
}

/* --- memory ---------------------------------------------------------------- */

static gboolean
configure_pool (
    GstBufferPool *pool, GstQuery *query, guint size, guint min, guint max)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  if (gst_buffer_pool_has_option (pool, GST_BUFFER_POOL_OPTION_VIDEO_META)
      && gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_buffer_pool_config_add_option (
        config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config (pool, config))
    return TRUE;

  /* the pool changed the configuration: is it still enough? */
  config = gst_buffer_pool_get_config (pool);
  if (!gst_buffer_pool_config_validate_params (config, caps, size, min, max)) {
    gst_structure_free (config);
    return FALSE;
  }
  return gst_buffer_pool_set_config (pool, config);
}

gboolean
gst_pbf_list_src_decide_pool (
    GstPbfListSrc *self, GstQuery *query, guint size, guint needed)
{
  gboolean offered = gst_query_get_n_allocation_pools (query) > 0;
  guint min = 0, max = 0;
  GstBufferPool *pool = NULL;

  if (offered) {
    guint least;

    gst_query_parse_nth_allocation_pool (query, 0, &pool, &least, &min, &max);
    least = MAX (least, size);
    if (pool != NULL
        && ((max > 0 && max < needed)
            || !configure_pool (pool, query, least, MAX (min, needed), max))) {
      GST_INFO_OBJECT (self,
          "%" GST_PTR_FORMAT " cannot hold %u frames; using an own pool", pool,
          needed);
      gst_clear_object (&pool);
    }
    if (pool != NULL)
      size = least;
  }
  min = MAX (min, needed);
  if (pool == NULL) {
    max = 0;
    pool = gst_video_buffer_pool_new ();
    if (!configure_pool (pool, query, size, min, max)) {
      GstCaps *caps;

      gst_query_parse_allocation (query, &caps, NULL);
      GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, (NULL),
          ("Cannot set up a buffer pool for %" GST_PTR_FORMAT
           ". Use smaller frames or lists, or free memory.",
              caps));
      gst_object_unref (pool);
      return FALSE;
    }
  }
  if (offered)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  gst_object_unref (pool);
  return TRUE;
}

void
gst_pbf_list_src_keep_meta (GstBuffer *buffer, GstMeta *meta)
{
  if (buffer->pool != NULL)
    GST_META_FLAG_SET (meta, GST_META_FLAG_POOLED);
}

GstCvisPbfSignalMeta *
gst_pbf_list_src_signal_meta (GstBuffer *buffer)
{
  static const CvisPbfSignal none = { 0 };
  GstCvisPbfSignalMeta *meta = gst_cvis_buffer_get_pbf_signal_meta (buffer);

  if (meta == NULL) {
    meta = gst_cvis_buffer_add_pbf_signal_meta (buffer, &none);
    gst_pbf_list_src_keep_meta (buffer, &meta->meta);
  }
  return meta;
}

gboolean
gst_pbf_list_src_set_layout (GstPbfListSrc *self, const gchar *text)
{
  GstPbfListSrcPrivate *priv = get_private (self);
  GError *error = NULL;

  priv->has_layout = *text != '\0';
  if (!priv->has_layout
      || pbf_signal_layout_parse (text, &priv->layout, &error))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
      ("Invalid setting: %s. Correct signal-layout.", error->message), (NULL));
  g_error_free (error);
  return FALSE;
}

void
gst_pbf_list_src_read_signal (const PbfSignalLayout *layout, GstBuffer *buffer,
    const guint8 *bytes, const CvisPbfSignal *frame)
{
  GstCvisPbfSignalMeta *meta;

  if (bytes != NULL && layout != NULL) {
    meta = gst_pbf_list_src_signal_meta (buffer);
    meta->signal = *frame;
    pbf_signal_layout_read (layout, bytes, &meta->signal);
  } else if (bytes != NULL) {
    meta = gst_pbf_list_src_signal_meta (buffer);
    pbf_packet_read_signal (bytes, &meta->signal);
  } else if ((meta = gst_cvis_buffer_get_pbf_signal_meta (buffer)) != NULL) {
    gst_buffer_remove_meta (
        buffer, &meta->meta); /* of the buffer's last frame */
  }
}

const PbfSignalLayout *
gst_pbf_list_src_get_layout (GstPbfListSrc *self)
{
  GstPbfListSrcPrivate *priv = get_private (self);

  return priv->has_layout ? &priv->layout : NULL;
}

void
gst_pbf_list_src_set_signal (GstPbfListSrc *self, GstBuffer *buffer,
    const guint8 *bytes, const CvisPbfSignal *frame)
{
  gst_pbf_list_src_read_signal (
      gst_pbf_list_src_get_layout (self), buffer, bytes, frame);
}

/* --- class ----------------------------------------------------------------- */

static void
gst_pbf_list_src_dispose (GObject *object)
{
  gst_pbf_list_src_forget (GST_PBF_LIST_SRC (object));
  G_OBJECT_CLASS (gst_pbf_list_src_parent_class)->dispose (object);
}

static void
gst_pbf_list_src_class_init (GstPbfListSrcClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gst_pbf_list_src_dispose;
  gst_type_mark_as_plugin_api (GST_TYPE_PBF_LIST_SRC, 0);
}

static void
gst_pbf_list_src_init (GstPbfListSrc *self)
{
  gst_pad_add_probe (GST_BASE_SRC_PAD (self), GST_PAD_PROBE_TYPE_BUFFER,
      push_list, self, NULL);
}
