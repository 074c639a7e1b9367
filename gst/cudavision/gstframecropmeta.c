/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:gstframecropmeta
 * @title: GstCvisFrameCropMeta
 * @short_description: position of a cropped buffer in its original frame
 */
#include "gstframecropmeta.h"

#include <gst/video/video.h>
#include <string.h>

GType
gst_cvis_frame_crop_meta_api_get_type (void)
{
  static GType type = 0;

  if (g_once_init_enter (&type)) {
    static const gchar *tags[] = { GST_META_TAG_VIDEO_STR,
      GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };
    GType registered = gst_meta_api_type_register ("GstFrameCropMetaAPI", tags);
    g_once_init_leave (&type, registered);
  }
  return type;
}

static gboolean
gst_frame_crop_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  memset ((guint8 *) meta + sizeof (GstMeta), 0,
      sizeof (GstCvisFrameCropMeta) - sizeof (GstMeta));
  return TRUE;
}

static gboolean
gst_frame_crop_meta_transform (GstBuffer *dest, GstMeta *meta,
    GstBuffer *buffer, GQuark type, gpointer data)
{
  GstCvisFrameCropMeta *from = (GstCvisFrameCropMeta *) meta, *to;

  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  to = gst_cvis_buffer_get_frame_crop_meta (dest);
  if (to == NULL)
    to = gst_cvis_buffer_add_frame_crop_meta (dest);
  if (to == NULL)
    return FALSE;
  to->x = from->x;
  to->y = from->y;
  to->frame_width = from->frame_width;
  to->frame_height = from->frame_height;
  to->center_x = from->center_x;
  to->center_y = from->center_y;
  return TRUE;
}

const GstMetaInfo *
gst_cvis_frame_crop_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter (&info)) {
    const GstMetaInfo *registered =
        gst_meta_register (GST_CVIS_FRAME_CROP_META_API_TYPE,
            "GstCvisFrameCropMeta", sizeof (GstCvisFrameCropMeta),
            gst_frame_crop_meta_init, NULL, gst_frame_crop_meta_transform);
    g_once_init_leave (&info, registered);
  }
  return info;
}

GstCvisFrameCropMeta *
gst_cvis_buffer_add_frame_crop_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstCvisFrameCropMeta *) gst_buffer_add_meta (
      buffer, GST_CVIS_FRAME_CROP_META_INFO, NULL);
}

GstCvisFrameCropMeta *
gst_cvis_buffer_get_frame_crop_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  return (GstCvisFrameCropMeta *) gst_buffer_get_meta (
      buffer, GST_CVIS_FRAME_CROP_META_API_TYPE);
}
