/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudamotionest, the upstream thread: frames and events into the engine and the
 * queue, in the order in which they came. */
#include "gstmotionest-private.h"

#include "gst/common/gstcvispool.h"

#define GST_CAT_DEFAULT gst_cuda_motion_est_debug

/* --- sequences ------------------------------------------------------------- */

/* Completes frames that wait for later frames without these; the mark has the
 * source pad's task push them. */
GstFlowReturn
gst_motion_input_finish (GstCvisFilter *filter)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  GstFlowReturn flow = gst_cvis_queue_wait_idle (filter->queue);

  self->skip = 0;
  if (self->engine == NULL || flow != GST_FLOW_OK)
    return flow;
  motion_engine_end (self->engine);
  return gst_cvis_queue_push_mark (filter->queue);
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

/* Takes @buffer, maps its luma and sets the job's input. Returns: FALSE with
 * CVIS_ERROR_FORMAT if @buffer does not fit the caps; it is taken nevertheless */
static gboolean
map_luma (GstCudaMotionEst *self, GstMotionFrame *frame, GstBuffer *buffer,
    GError **error)
{
  const GstVideoInfo *info = &self->layout;
  CvisContext *context = self->filter.context;
  const gboolean on_device = self->on_device;
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
    job->context = self->frames;
    job->stream = gst_cvis_cuda_stream (buffer);
    gst_cvis_cuda_order (buffer, job->stream);
  }
  return check_bytes (info, job, map, error);
}

/* --- buffers for results --------------------------------------------------- */

/* Acquires a buffer for the vectors. */
static GstFlowReturn
acquire_packet (GstCudaMotionEst *self, GstMotionFrame *frame)
{
  const MotionConfig *config = &self->config;
  const guint columns = motion_config_get_columns (config);
  const guint rows = motion_config_get_rows (config);
  GstFlowReturn flow =
      gst_buffer_pool_acquire_buffer (self->packets, &frame->packet, NULL);

  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_buffer_map (frame->packet, &frame->packet_map, GST_MAP_READWRITE)) {
    gst_clear_buffer (&frame->packet);
    return GST_FLOW_ERROR;
  }
  for (guint i = 0; i < motion_config_get_n_fields (config); i++) {
    const gsize offset = gst_cvis_motion_packet_get_size (columns, rows, i)
                         + sizeof (CvisMotionPacketField);
    MotionField *field = &frame->job.fields[i];

    field->vectors = (CvisMotionVector *) (frame->packet_map.data + offset);
    field->blocks =
        (CvisMotionBlock *) (field->vectors + (gsize) columns * rows);
  }
  frame->job.results_pinned = gst_cvis_memory_is_pinned (
      frame->packet_map.memory, self->filter.context);
  return GST_FLOW_OK;
}

/* Acquires a buffer for a picture if its request pad exists. */
static GstFlowReturn
acquire_picture (GstCudaMotionEst *self, GstMotionSideKind kind,
    GstMotionPicture *picture, guint8 **plane, gsize *stride)
{
  GstBufferPool *pool;
  GstFlowReturn flow;

  if (!gst_cvis_filter_has_request_pad (&self->filter, kind))
    return GST_FLOW_OK;
  pool = gst_motion_get_picture_pool (self, kind);
  if (pool == NULL)
    return GST_FLOW_ERROR;
  flow = gst_buffer_pool_acquire_buffer (pool, &picture->buffer, NULL);
  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_buffer_map (picture->buffer, &picture->map, GST_MAP_WRITE)) {
    gst_clear_buffer (&picture->buffer);
    return GST_FLOW_ERROR;
  }
  *plane = picture->map.data;
  *stride = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&self->picture, 0);
  return GST_FLOW_OK;
}

static GstFlowReturn
acquire_results (GstCudaMotionEst *self, GstMotionFrame *frame)
{
  MotionJob *job = &frame->job;
  GstFlowReturn flow = acquire_picture (self, GST_MOTION_SIDE_PREDICTION,
      &frame->prediction, &job->prediction, &job->prediction_stride);

  if (flow == GST_FLOW_OK)
    flow = acquire_picture (self, GST_MOTION_SIDE_RESIDUAL, &frame->residual,
        &job->residual, &job->residual_stride);
  if (flow == GST_FLOW_OK)
    flow = acquire_packet (self, frame);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for the results of a frame. Use a larger block-size or "
         "fewer references."),
        (NULL));
  return flow;
}

/* --- frames ---------------------------------------------------------------- */

/* Frames that the interval skips pass. */
GstFlowReturn
gst_motion_input_prepare (GstCvisFilter *filter, GstBuffer *buffer)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  GError *error = NULL;
  CvisContext *context;
  GstFlowReturn flow;

  if (self->skip > 0) {
    self->skip--;
    return GST_CVIS_FLOW_PASS;
  }
  if (!self->on_device)
    return GST_FLOW_OK;
  context = gst_cvis_filter_follow_video (filter, buffer, TRUE, &error);
  if (context == NULL)
    return gst_cvis_filter_reject_frame (filter, error);
  if (context == self->frames && self->engine != NULL)
    return GST_FLOW_OK;
  flow = gst_cvis_filter_drain (filter);
  if (flow == GST_FLOW_OK && !gst_motion_setup_frames (self, context))
    flow = GST_FLOW_ERROR;
  return flow;
}

GstFlowReturn
gst_motion_input_begin (
    GstCvisFilter *filter, gpointer item, GstBuffer *buffer, GError **error)
{
  GstCudaMotionEst *self = GST_CUDA_MOTION_EST (filter);
  GstMotionFrame *frame = item;
  GstFlowReturn flow;

  frame->serial = self->serial;
  if (!map_luma (self, frame, gst_buffer_make_writable (buffer), error))
    return GST_FLOW_ERROR;
  flow = acquire_results (self, frame);
  if (flow != GST_FLOW_OK)
    return flow;
  self->times[frame->serial % GST_MOTION_TIMES] =
      GST_BUFFER_PTS (frame->buffer);
  if (!motion_engine_submit (self->engine, &frame->job, error)) {
    /* only the memory of the frame can be invalid here */
    if (g_error_matches (*error, CVIS_ERROR, CVIS_ERROR_INVALID))
      (*error)->code = CVIS_ERROR_FORMAT;
    return GST_FLOW_ERROR;
  }
  frame->item.busy = TRUE;
  self->serial++;
  self->skip = self->interval - 1;
  return GST_FLOW_OK;
}

/* --- events ---------------------------------------------------------------- */

/* Whether @event changes the segment; one that only repeats it does not end a
 * sequence. */
static gboolean
is_other_segment (GstCudaMotionEst *self, GstEvent *event)
{
  GstSegment segment;
  gboolean other;

  gst_event_copy_segment (event, &segment);
  self->in_segment.position = segment.position;
  other = !gst_segment_is_equal (&segment, &self->in_segment);
  self->in_segment = segment;
  return other;
}

/* Whether frames after @event are not compared with those before it. */
static gboolean
ends_sequence (GstCudaMotionEst *self, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_SEGMENT:
      return is_other_segment (self, event);
    case GST_EVENT_GAP:
      /* the later frame, for which others wait, may come after a long time */
      return self->wanted.bidirectional;
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT_DONE:
      return TRUE;
    default:
      return FALSE;
  }
}

GstFlowReturn
gst_motion_input_event (GstCvisFilter *filter, GstEvent *event)
{
  return ends_sequence (GST_CUDA_MOTION_EST (filter), event)
             ? gst_cvis_filter_drain (filter)
             : GST_FLOW_OK;
}
