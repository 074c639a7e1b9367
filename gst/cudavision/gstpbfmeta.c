/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:gstpbfmeta
 * @title: GstCvisPbfMeta, GstCvisPbfSignalMeta, GstCvisPbfTruthMeta
 * @short_description: results, machine signals and ground truth of a frame
 */
#include "gstpbfmeta.h"

#include "metascale.h"

#include <string.h>

/* Pixel coordinates: elements that change the picture transform the meta. */
static const gchar *pixel_tags[] = { GST_META_TAG_VIDEO_STR,
  GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };
static const gchar *no_tags[] = { NULL };

static GType
register_api (GType *type, const gchar *name, const gchar **tags)
{
  if (g_once_init_enter (type))
    g_once_init_leave (type, gst_meta_api_type_register (name, tags));
  return *type;
}

static const GstMetaInfo *
register_meta (const GstMetaInfo **info, GType api, const gchar *name,
    gsize size, GstMetaInitFunction init, GstMetaFreeFunction free_func,
    GstMetaTransformFunction transform)
{
  if (g_once_init_enter (info))
    g_once_init_leave (
        info, gst_meta_register (api, name, size, init, free_func, transform));
  return *info;
}

static gboolean
clear_meta (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  memset ((guint8 *) meta + sizeof (GstMeta), 0,
      meta->info->size - sizeof (GstMeta));
  return TRUE;
}

/* --- signals --------------------------------------------------------------- */

GType
gst_cvis_pbf_signal_meta_api_get_type (void)
{
  static GType type = 0;

  return register_api (&type, "GstPbfSignalMetaAPI", no_tags);
}

static gboolean
gst_pbf_signal_meta_transform (GstBuffer *dest, GstMeta *meta,
    GstBuffer *buffer, GQuark type, gpointer data)
{
  /* signals belong to the time of the frame, not to its pixels */
  return gst_cvis_buffer_add_pbf_signal_meta (
             dest, &((GstCvisPbfSignalMeta *) meta)->signal)
         != NULL;
}

const GstMetaInfo *
gst_cvis_pbf_signal_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  return register_meta (&info, GST_CVIS_PBF_SIGNAL_META_API_TYPE,
      "GstCvisPbfSignalMeta", sizeof (GstCvisPbfSignalMeta), clear_meta, NULL,
      gst_pbf_signal_meta_transform);
}

GstCvisPbfSignalMeta *
gst_cvis_buffer_add_pbf_signal_meta (
    GstBuffer *buffer, const CvisPbfSignal *signal)
{
  GstCvisPbfSignalMeta *meta;

  g_return_val_if_fail (GST_IS_BUFFER (buffer) && signal != NULL, NULL);

  meta = (GstCvisPbfSignalMeta *) gst_buffer_add_meta (
      buffer, GST_CVIS_PBF_SIGNAL_META_INFO, NULL);
  if (meta != NULL)
    meta->signal = *signal;
  return meta;
}

GstCvisPbfSignalMeta *
gst_cvis_buffer_get_pbf_signal_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstCvisPbfSignalMeta *) gst_buffer_get_meta (
      buffer, GST_CVIS_PBF_SIGNAL_META_API_TYPE);
}

/* --- ground truth ---------------------------------------------------------- */

GType
gst_cvis_pbf_truth_meta_api_get_type (void)
{
  static GType type = 0;

  return register_api (&type, "GstPbfTruthMetaAPI", pixel_tags);
}

static gboolean
gst_pbf_truth_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer,
    GQuark type, gpointer data)
{
  GstCvisPbfTruthMeta *to;

  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  to = gst_cvis_buffer_add_pbf_truth_meta (dest);
  if (to == NULL)
    return FALSE;
  memcpy ((guint8 *) to + sizeof (GstMeta), (guint8 *) meta + sizeof (GstMeta),
      sizeof (GstCvisPbfTruthMeta) - sizeof (GstMeta));
  return TRUE;
}

const GstMetaInfo *
gst_cvis_pbf_truth_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  return register_meta (&info, GST_CVIS_PBF_TRUTH_META_API_TYPE,
      "GstCvisPbfTruthMeta", sizeof (GstCvisPbfTruthMeta), clear_meta, NULL,
      gst_pbf_truth_meta_transform);
}

GstCvisPbfTruthMeta *
gst_cvis_buffer_add_pbf_truth_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstCvisPbfTruthMeta *) gst_buffer_add_meta (
      buffer, GST_CVIS_PBF_TRUTH_META_INFO, NULL);
}

GstCvisPbfTruthMeta *
gst_cvis_buffer_get_pbf_truth_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstCvisPbfTruthMeta *) gst_buffer_get_meta (
      buffer, GST_CVIS_PBF_TRUTH_META_API_TYPE);
}

/* --- results --------------------------------------------------------------- */

GType
gst_cvis_pbf_meta_api_get_type (void)
{
  static GType type = 0;

  return register_api (&type, "GstPbfMetaAPI", pixel_tags);
}

static void
gst_pbf_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  GstCvisPbfMeta *self = (GstCvisPbfMeta *) meta;

  gst_clear_buffer (&self->records);
  self->result = NULL;
}

static gboolean
gst_pbf_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer,
    GQuark type, gpointer data)
{
  GstCvisPbfMeta *from = (GstCvisPbfMeta *) meta, *to;
  gdouble sx, sy;

  if (!gst_meta_scale_factors (type, data, &sx, &sy))
    return FALSE;
  to = gst_cvis_buffer_add_pbf_meta (
      dest, from->records, from->result, from->latency);
  if (to == NULL)
    return FALSE;
  to->scale_x = from->scale_x * sx;
  to->scale_y = from->scale_y * sy;
  to->offset_x = from->offset_x * sx;
  to->offset_y = from->offset_y * sy;
  return TRUE;
}

const GstMetaInfo *
gst_cvis_pbf_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  return register_meta (&info, GST_CVIS_PBF_META_API_TYPE, "GstCvisPbfMeta",
      sizeof (GstCvisPbfMeta), clear_meta, gst_pbf_meta_free,
      gst_pbf_meta_transform);
}

GstCvisPbfMeta *
gst_cvis_buffer_add_pbf_meta (GstBuffer *buffer, GstBuffer *records,
    const CvisPbfResult *result, GstClockTime latency)
{
  GstCvisPbfMeta *meta;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (GST_IS_BUFFER (records) && result != NULL, NULL);

  meta = (GstCvisPbfMeta *) gst_buffer_add_meta (
      buffer, GST_CVIS_PBF_META_INFO, NULL);
  if (meta == NULL)
    return NULL;
  meta->result = result;
  meta->records = gst_buffer_ref (records);
  meta->latency = latency;
  meta->scale_x = meta->scale_y = 1.0;
  return meta;
}

GstCvisPbfMeta *
gst_cvis_buffer_get_pbf_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstCvisPbfMeta *) gst_buffer_get_meta (
      buffer, GST_CVIS_PBF_META_API_TYPE);
}

GBytes *
gst_cvis_pbf_meta_get_result_bytes (const GstCvisPbfMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return g_bytes_new_with_free_func (meta->result, sizeof *meta->result,
      (GDestroyNotify) gst_buffer_unref, gst_buffer_ref (meta->records));
}
