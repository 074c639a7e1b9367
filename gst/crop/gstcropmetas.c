/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcropmetas.h"

#include <gst/video/video.h>
#include <string.h>

typedef struct {
  GstBuffer *to;
  const GstCropGeometry *geometry;
} Move;

/* Whether a meta is about the picture as a whole ("video", "colorspace") or not about
 * it at all, and neither about positions of pixels nor about the memory. */
static gboolean
holds_for_crop (const GstMetaInfo *info)
{
  const gchar *const *tag = gst_meta_api_type_get_tags (info->api);

  for (; tag != NULL && *tag != NULL; tag++)
    if (strcmp (*tag, GST_META_TAG_VIDEO_STR) != 0
        && strcmp (*tag, GST_META_TAG_VIDEO_COLORSPACE_STR) != 0)
      return FALSE;
  /* these two are about memory, but have no tag for it */
  return info->api != GST_VIDEO_CROP_META_API_TYPE
         && info->api != GST_PARENT_BUFFER_META_API_TYPE;
}

static void
move_result (GstCvisPbfMeta *meta, const Move *move)
{
  GstCvisPbfMeta *moved = gst_cvis_buffer_add_pbf_meta (
      move->to, meta->records, meta->result, meta->latency);

  moved->scale_x = meta->scale_x;
  moved->scale_y = meta->scale_y;
  moved->offset_x = meta->offset_x - (gint) move->geometry->x;
  moved->offset_y = meta->offset_y - (gint) move->geometry->y;
}

/* Blocks outside the crop stay in the field, with positions outside the buffer. */
static void
move_motion (GstBuffer *from, GstCvisMotionVectorMeta *meta, const Move *move)
{
  GstMetaTransformCopy copy = { FALSE, 0, (gsize) -1 };
  GstCvisMotionVectorMeta *moved;

  if (!GST_CVIS_MOTION_VECTOR_META_INFO->transform_func (
          move->to, (GstMeta *) meta, from, _gst_meta_transform_copy, &copy))
    return;
  moved =
      gst_cvis_buffer_get_motion_vector_meta (move->to, meta->field->distance);
  moved->offset_x = meta->offset_x - (gint) move->geometry->x;
  moved->offset_y = meta->offset_y - (gint) move->geometry->y;
}

static gpointer
copy_param (gconstpointer structure, gpointer unused)
{
  return gst_structure_copy (structure);
}

static void
move_region (GstVideoRegionOfInterestMeta *meta, const Move *move)
{
  const GstCropGeometry *g = move->geometry;
  gint64 x = (gint64) meta->x - g->x, y = (gint64) meta->y - g->y;
  gint64 left = MAX (x, 0), right = MIN (x + meta->w, g->width);
  gint64 top = MAX (y, 0), bottom = MIN (y + meta->h, g->height);
  GstVideoRegionOfInterestMeta *moved;

  if (left >= right || top >= bottom)
    return;
  moved = gst_buffer_add_video_region_of_interest_meta_id (
      move->to, meta->roi_type, left, top, right - left, bottom - top);
  moved->id = meta->id;
  moved->parent_id = meta->parent_id;
  moved->params = g_list_copy_deep (meta->params, copy_param, NULL);
}

static gboolean
move_meta (GstBuffer *from, GstMeta **meta, gpointer user_data)
{
  const Move *move = user_data;
  const GstMetaInfo *info = (*meta)->info;
  GstMetaTransformCopy copy = { FALSE, 0, (gsize) -1 };

  if (info->api == GST_CVIS_PBF_META_API_TYPE)
    move_result ((GstCvisPbfMeta *) *meta, move);
  else if (info->api == GST_CVIS_MOTION_VECTOR_META_API_TYPE)
    move_motion (from, (GstCvisMotionVectorMeta *) *meta, move);
  else if (info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    move_region ((GstVideoRegionOfInterestMeta *) *meta, move);
  else if (info->transform_func != NULL && holds_for_crop (info))
    info->transform_func (
        move->to, *meta, from, _gst_meta_transform_copy, &copy);
  return TRUE;
}

static void
add_crop (GstBuffer *from, const Move *move)
{
  GstCvisFrameCropMeta *before = gst_cvis_buffer_get_frame_crop_meta (from);
  GstCvisFrameCropMeta *crop = gst_cvis_buffer_add_frame_crop_meta (move->to);
  const GstCropGeometry *g = move->geometry;

  crop->x = (gint) g->x + (before ? before->x : 0);
  crop->y = (gint) g->y + (before ? before->y : 0);
  crop->frame_width = before ? before->frame_width : g->frame_width;
  crop->frame_height = before ? before->frame_height : g->frame_height;
  crop->center_x = g->position_x_q8 / 256.0 + (before ? before->x : 0);
  crop->center_y = g->position_y_q8 / 256.0 + (before ? before->y : 0);
}

void
gst_crop_metas (GstBuffer *from, GstBuffer *to, const GstCropGeometry *geometry)
{
  Move move = { to, geometry };

  gst_buffer_foreach_meta (from, move_meta, &move);
  add_crop (from, &move);
}
