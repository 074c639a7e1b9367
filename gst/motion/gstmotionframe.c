/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstmotionframe.h"

#include <string.h>

#include "gst/common/gstcvispool.h"

GstMotionFrame *
gst_motion_frame_new (void)
{
  return g_new0 (GstMotionFrame, 1);
}

void
gst_motion_frame_free (GstMotionFrame *frame)
{
  gst_motion_frame_clear (frame);
  g_free (frame);
}

static void
unmap_picture (GstMotionPicture *picture)
{
  if (picture->buffer != NULL)
    gst_buffer_unmap (picture->buffer, &picture->map);
}

void
gst_motion_frame_clear (gpointer data)
{
  GstMotionFrame *frame = data;

  gst_motion_frame_unmap (frame);
  unmap_picture (&frame->prediction);
  unmap_picture (&frame->residual);
  if (frame->packet != NULL)
    gst_buffer_unmap (frame->packet, &frame->packet_map);
  gst_clear_buffer (&frame->prediction.buffer);
  gst_clear_buffer (&frame->residual.buffer);
  gst_clear_buffer (&frame->packet);
  gst_clear_buffer (&frame->buffer);
  memset (&frame->job, 0, sizeof (frame->job));
}

/* --- the luma -------------------------------------------------------------- */

static gboolean
reject_buffer (GError **error, const gchar *text)
{
  g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_FORMAT, text);
  return FALSE;
}

/* Whether the size of the buffer's GstVideoMeta is at least that of the caps. */
static gboolean
check_meta (GstBuffer *buffer, const GstVideoInfo *info, GError **error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  guint64 width = GST_VIDEO_INFO_WIDTH (info);
  guint64 height = GST_VIDEO_INFO_HEIGHT (info);

  if (meta == NULL)
    return TRUE;
  if (crop != NULL) {
    width += crop->x;
    height += crop->y;
  }
  if (meta->format == GST_VIDEO_INFO_FORMAT (info) && meta->width >= width
      && meta->height >= height)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "its GstVideoMeta has %s %ux%u, the caps have %s %dx%d",
      gst_video_format_to_string (meta->format), meta->width, meta->height,
      GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info));
  return FALSE;
}

/* Whether all rows lie in the mapped memory. */
static gboolean
check_bytes (const GstVideoInfo *info, const MotionJob *job,
    const GstMapInfo *map, GError **error)
{
  gint64 row = (gint64) GST_VIDEO_INFO_WIDTH (info)
               * GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
  gint64 offset = job->luma - map->data;
  gint64 need =
      offset + (gint64) job->stride * (GST_VIDEO_INFO_HEIGHT (info) - 1) + row;

  if ((gint64) job->stride >= row && offset >= 0 && need <= (gint64) map->size)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
      "%" G_GINT64_FORMAT " bytes expected for the luma of %dx%d pixels "
      "(stride %" G_GSIZE_FORMAT ", offset %" G_GINT64_FORMAT
      "), %" G_GSIZE_FORMAT " found",
      need, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
      job->stride, offset, map->size);
  return FALSE;
}

static gboolean
map_video (GstMotionFrame *frame, const GstVideoInfo *info, gboolean on_device,
    GError **error)
{
  const GstMapFlags flags =
      (GstMapFlags) (GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
  gsize size = gst_buffer_get_size (frame->buffer);

  if (gst_buffer_get_video_meta (frame->buffer) == NULL
      && size < GST_VIDEO_INFO_SIZE (info)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "%" G_GSIZE_FORMAT " bytes expected for %s %dx%d, %" G_GSIZE_FORMAT
        " found",
        GST_VIDEO_INFO_SIZE (info), GST_VIDEO_INFO_NAME (info),
        GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), size);
    return FALSE;
  }
  frame->mapped =
      on_device
          ? gst_cvis_cuda_frame_map (&frame->video, info, frame->buffer, flags)
          : gst_video_frame_map (&frame->video, info, frame->buffer, flags);
  return frame->mapped
         || reject_buffer (error, "its buffer cannot be mapped for reading");
}

gboolean
gst_motion_frame_map (GstMotionFrame *frame, GstBuffer *buffer,
    const GstVideoInfo *info, CvisContext *context, gboolean on_device,
    GError **error)
{
  MotionJob *job = &frame->job;
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  const GstMapInfo *map = &frame->video.map[0];

  frame->buffer = buffer;
  if (GST_VIDEO_INFO_IS_INTERLACED (info)
      && GST_BUFFER_FLAG_IS_SET (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED))
    return reject_buffer (error,
        "it is interlaced, with fields of two times. Put deinterlace before "
        "cudamotionest");
  if (!check_meta (buffer, info, error)
      || !map_video (frame, info, on_device, error))
    return FALSE;
  if (GST_VIDEO_FRAME_PLANE_STRIDE (&frame->video, 0) < 0)
    return reject_buffer (error, "its rows are upside down");
  job->luma = GST_VIDEO_FRAME_PLANE_DATA (&frame->video, 0);
  job->stride = (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame->video, 0);
  if (crop != NULL && gst_buffer_get_video_meta (buffer) != NULL)
    job->luma +=
        crop->y * job->stride
        + (gsize) crop->x * (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
  job->shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, 0);
  job->on_device = on_device;
  job->pinned = !on_device && gst_cvis_memory_is_pinned (map->memory, context);
  frame->item.staged = context != NULL && !on_device && !job->pinned;
  if (on_device) {
    job->stream = gst_cvis_cuda_stream (buffer);
    gst_cvis_cuda_order (buffer, job->stream);
  }
  return check_bytes (info, job, map, error);
}

void
gst_motion_frame_unmap (GstMotionFrame *frame)
{
  if (frame->mapped)
    gst_video_frame_unmap (&frame->video);
  frame->mapped = FALSE;
}

/* --- buffers for results --------------------------------------------------- */

CvisMotionPacketField *
gst_motion_frame_get_field (
    GstMotionFrame *frame, const MotionConfig *config, guint index)
{
  gsize offset =
      gst_cvis_motion_packet_get_size (motion_config_get_columns (config),
          motion_config_get_rows (config), index);

  return (CvisMotionPacketField *) (frame->packet_map.data + offset);
}

GstFlowReturn
gst_motion_frame_acquire_packet (GstMotionFrame *frame, GstBufferPool *pool,
    const MotionConfig *config, CvisContext *context)
{
  gsize blocks = (gsize) motion_config_get_columns (config)
                 * motion_config_get_rows (config);
  GstFlowReturn flow =
      gst_buffer_pool_acquire_buffer (pool, &frame->packet, NULL);

  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_buffer_map (frame->packet, &frame->packet_map, GST_MAP_READWRITE)) {
    gst_clear_buffer (&frame->packet);
    return GST_FLOW_ERROR;
  }
  for (guint i = 0; i < motion_config_get_n_fields (config); i++) {
    CvisMotionPacketField *head = gst_motion_frame_get_field (frame, config, i);
    MotionField *field = &frame->job.fields[i];

    field->vectors = (CvisMotionVector *) (head + 1);
    field->blocks = (CvisMotionBlock *) (field->vectors + blocks);
  }
  frame->job.results_pinned =
      gst_cvis_memory_is_pinned (frame->packet_map.memory, context);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_motion_picture_acquire (GstMotionPicture *picture, GstBufferPool *pool,
    const GstVideoInfo *info, guint8 **plane, gsize *stride)
{
  GstFlowReturn flow =
      gst_buffer_pool_acquire_buffer (pool, &picture->buffer, NULL);

  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_buffer_map (picture->buffer, &picture->map, GST_MAP_WRITE)) {
    gst_clear_buffer (&picture->buffer);
    return GST_FLOW_ERROR;
  }
  *plane = picture->map.data;
  *stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  return GST_FLOW_OK;
}

/* --- results --------------------------------------------------------------- */

CvisMotionPacket *
gst_motion_frame_fill_packet (GstMotionFrame *frame, const MotionConfig *config)
{
  CvisMotionPacket *packet = (CvisMotionPacket *) frame->packet_map.data;
  const MotionJob *job = &frame->job;
  guint columns = motion_config_get_columns (config);
  guint rows = motion_config_get_rows (config);

  *packet = (CvisMotionPacket){
    .magic = { 'M', 'O', 'T', 'V' },
    .version = CVIS_MOTION_PACKET_VERSION,
    .size = gst_cvis_motion_packet_get_size (columns, rows, job->n_fields),
    .frame = frame->item.number,
    .pts = GST_BUFFER_PTS (frame->buffer),
    .width = config->width,
    .height = config->height,
    .depth = config->depth,
    .block_size = config->block_size,
    .columns = columns,
    .rows = rows,
    .flags = job->flags,
    .n_fields = job->n_fields,
  };
  for (guint i = 0; i < job->n_fields; i++)
    *gst_motion_frame_get_field (frame, config, i) = (CvisMotionPacketField){
      .distance = job->fields[i].distance,
      .reference_time = G_MININT64,
      .summary = job->fields[i].summary,
    };
  return packet;
}

/* Copies the timestamps of the frame, and its number as offset. */
static void
copy_times (GstBuffer *to, const GstMotionFrame *frame)
{
  GST_BUFFER_PTS (to) = GST_BUFFER_PTS (frame->buffer);
  GST_BUFFER_DTS (to) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (to) = GST_BUFFER_DURATION (frame->buffer);
  GST_BUFFER_OFFSET (to) = frame->item.number;
  GST_BUFFER_OFFSET_END (to) = frame->item.number + 1;
  if (GST_BUFFER_IS_DISCONT (frame->buffer))
    GST_BUFFER_FLAG_SET (to, GST_BUFFER_FLAG_DISCONT);
}

GstBuffer *
gst_motion_frame_steal_packet (
    GstMotionFrame *frame, const MotionConfig *config)
{
  GstBuffer *packet = g_steal_pointer (&frame->packet);
  gsize size =
      gst_cvis_motion_packet_get_size (motion_config_get_columns (config),
          motion_config_get_rows (config), frame->job.n_fields);

  gst_buffer_unmap (packet, &frame->packet_map);
  gst_buffer_set_size (packet, (gssize) size);
  copy_times (packet, frame);
  return packet;
}

GstBuffer *
gst_motion_frame_steal_picture (
    GstMotionFrame *frame, GstMotionPicture *picture)
{
  GstBuffer *buffer = g_steal_pointer (&picture->buffer);

  if (buffer == NULL)
    return NULL;
  gst_buffer_unmap (buffer, &picture->map);
  copy_times (buffer, frame);
  return buffer;
}
