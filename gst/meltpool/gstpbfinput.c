/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudapbfmonitor, the upstream thread: maps frames, without a copy, and collects them
 * into a batch, which is submitted when it is full or due. */
#include "gstpbfmonitor-private.h"

#include "gst/common/gstcvispool.h"
#include "gst/cudavision/cudavision.h"

#define GST_CAT_DEFAULT gst_cuda_pbf_monitor_debug

/* The metas of a buffer that are used, found in one pass over its list. */
typedef struct {
  const GstVideoMeta *video;
  const GstCvisFrameCropMeta *crop;
  const GstCvisPbfSignalMeta *signal;
} Metas;

static Metas
find_metas (GstBuffer *buffer)
{
  const GType video = GST_VIDEO_META_API_TYPE;
  const GType crop = GST_CVIS_FRAME_CROP_META_API_TYPE;
  const GType signal = GST_CVIS_PBF_SIGNAL_META_API_TYPE;
  Metas found = { NULL, NULL, NULL };
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta (buffer, &state)) != NULL) {
    GType api = meta->info->api;

    if (api == video)
      found.video = (const GstVideoMeta *) meta;
    else if (api == crop)
      found.crop = (const GstCvisFrameCropMeta *) meta;
    else if (api == signal)
      found.signal = (const GstCvisPbfSignalMeta *) meta;
  }
  return found;
}

/* --- submitting ------------------------------------------------------------ */

/* Call with the fill lock held and frames in the batch. */
static GstFlowReturn
submit_batch (GstCudaPbfMonitor *self, gboolean partial, GError **error)
{
  GstPbfBatch *batch = self->filling;

  self->filling = NULL;
  batch->partial = partial;
  GST_LOG_OBJECT (self, "submitting %u frames", batch->batch.n);
  if (!pbf_engine_submit (self->engine, &batch->batch, error)) {
    gst_cvis_filter_release (&self->filter, batch);
    return GST_FLOW_ERROR;
  }
  batch->item.busy = TRUE;
  /* if the queue refuses it, it stays busy until the flush */
  return gst_cvis_queue_push_item (self->filter.queue, batch);
}

/* Posts the engine's error once earlier frames have left. */
static GstFlowReturn
report_engine_error (GstCudaPbfMonitor *self, GstFlowReturn flow, GError *error)
{
  if (error != NULL) {
    gst_cvis_queue_wait_idle (self->filter.queue);
    gst_cvis_filter_post_failure (&self->filter, error);
  }
  return flow;
}

GstFlowReturn
gst_pbf_input_flush_partial (GstCvisFilter *filter)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  GstFlowReturn flow = GST_FLOW_OK;
  GError *error = NULL;

  g_mutex_lock (&self->fill_lock);
  if (self->filling != NULL && self->filling->batch.n > 0)
    flow = submit_batch (self, TRUE, &error);
  g_mutex_unlock (&self->fill_lock);
  return report_engine_error (self, flow, error);
}

GstFlowReturn
gst_pbf_input_flush_due (GstCvisFilter *filter)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  GstFlowReturn flow = GST_FLOW_OK;
  GError *error = NULL;

  g_mutex_lock (&self->fill_lock);
  if (self->filling != NULL && self->filling->batch.n > 0
      && g_get_monotonic_time () >= self->filling->end_time)
    flow = submit_batch (self, TRUE, &error);
  g_mutex_unlock (&self->fill_lock);
  if (error != NULL)
    gst_cvis_filter_post_failure (filter, error);
  return flow;
}

/* --- collecting ------------------------------------------------------------ */

void
gst_pbf_input_note_gap (GstCudaPbfMonitor *self, GstEvent *event)
{
  GstClockTime duration, frame;
  guint64 frames = 1;

  gst_event_parse_gap (event, NULL, &duration);
  GST_OBJECT_LOCK (self);
  frame = self->frame_duration;
  GST_OBJECT_UNLOCK (self);
  if (GST_CLOCK_TIME_IS_VALID (duration) && frame > 0)
    frames = (duration + frame / 2) / frame;

  g_mutex_lock (&self->fill_lock);
  self->gap = TRUE;
  self->gap_frames =
      (guint) MIN (self->gap_frames + MIN (frames, G_MAXINT), G_MAXINT);
  g_mutex_unlock (&self->fill_lock);
}

/* Sets the engine's infos of frame @i of @batch. */
static void
fill_info (GstCudaPbfMonitor *self, GstPbfBatch *batch, guint i,
    GstBuffer *buffer, const Metas *metas)
{
  PbfFrameInfo *info = &batch->infos[i];
  gboolean discont = GST_BUFFER_IS_DISCONT (buffer) && !self->first;

  pbf_track_frame (self->track,
      metas->signal != NULL ? &metas->signal->signal : NULL,
      GST_BUFFER_PTS (buffer), metas->crop != NULL ? metas->crop->x : 0,
      metas->crop != NULL ? metas->crop->y : 0, info);
  if (info->flags & CVIS_PBF_RESULT_LOST_BEFORE)
    batch->lost += info->lost_before;
  if (self->gap || discont)
    info->flags |= CVIS_PBF_RESULT_GAP;
  /* frames missing by the counter may be those of the gap: not counted twice */
  info->lost_before = MAX (info->lost_before, self->gap_frames);
  self->gap = self->first = FALSE;
  self->gap_frames = 0;
}

static GstFlowReturn
acquire_mapped (GstBufferPool *pool, GstBuffer **buffer, GstMapInfo *map)
{
  GstFlowReturn flow = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);

  if (flow == GST_FLOW_OK
      && !gst_buffer_map (*buffer, map, GST_MAP_READWRITE)) {
    gst_clear_buffer (buffer);
    flow = GST_FLOW_ERROR;
  }
  return flow;
}

/* Acquires a buffer for the results, and one for 8-bit pictures if frames have more than
 * 8 bits; in pinned memory if there is a context. */
static GstFlowReturn
acquire_results (GstCudaPbfMonitor *self, GstPbfBatch *batch)
{
  GstFlowReturn flow =
      acquire_mapped (self->records_pool, &batch->records, &batch->records_map);

  if (flow != GST_FLOW_OK)
    return flow;
  batch->batch.results = (CvisPbfResult *) batch->records_map.data;
  batch->batch.results_pinned =
      gst_cvis_memory_is_pinned (batch->records_map.memory, batch->context);
  if (self->grey_pool == NULL)
    return GST_FLOW_OK;
  flow = acquire_mapped (self->grey_pool, &batch->grey, &batch->grey_map);
  if (flow != GST_FLOW_OK)
    gst_pbf_batch_clear (batch);
  else if (batch->context != NULL)
    batch->batch.pinned =
        gst_cvis_memory_is_pinned (batch->grey_map.memory, batch->context);
  return flow;
}

/* Waits for a spare batch to fill, without the fill lock, as the source pad's task may
 * need it. Only this thread takes batches, and the task leaves an empty one. */
static GstFlowReturn
begin_batch (GstCudaPbfMonitor *self)
{
  gpointer batch;
  GstFlowReturn flow = gst_cvis_queue_take (self->filter.queue, &batch);

  if (flow != GST_FLOW_OK)
    return flow;
  flow = acquire_results (self, batch);
  if (flow != GST_FLOW_OK) {
    gst_cvis_filter_release (&self->filter, batch);
    return flow;
  }
  g_mutex_lock (&self->fill_lock);
  self->filling = batch;
  g_mutex_unlock (&self->fill_lock);
  return GST_FLOW_OK;
}

/* Finds the bytes of @buffer and maps them if that is necessary. */
static gboolean
map_bytes (GstPbfBatch *batch, GstBuffer *buffer, const guint8 **bytes,
    gsize *size, GError **error)
{
  GstMapInfo *map = &batch->maps[batch->mapped];
  GstMemory *memory = gst_buffer_n_memory (buffer) == 1
                          ? gst_buffer_peek_memory (buffer, 0)
                          : NULL;

  *bytes = memory != NULL ? gst_cvis_memory_peek (memory) : NULL;
  if (*bytes != NULL) {
    *size = memory->size;
  } else if (gst_buffer_map (buffer, map, GST_MAP_READ)) {
    batch->mapped++;
    memory = map->memory;
    *bytes = map->data;
    *size = map->size;
  } else {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "a buffer of %" G_GSIZE_FORMAT " bytes cannot be mapped for reading",
        gst_buffer_get_size (buffer));
    return FALSE;
  }
  if (batch->context != NULL && batch->grey == NULL
      && !gst_cvis_memory_is_pinned (memory, batch->context))
    batch->batch.pinned = FALSE;
  return TRUE;
}

/* Appends the pixels of @buffer, which stays valid until gst_pbf_batch_unmap(). @meta:
 * (nullable): the buffer's own layout. Returns: FALSE with CVIS_ERROR_FORMAT if the buffer
 * is too small, or CVIS_ERROR_MEMORY if it cannot be mapped */
static gboolean
add_pixels (GstCudaPbfMonitor *self, GstPbfBatch *batch, GstBuffer *buffer,
    const GstVideoMeta *meta, GError **error)
{
  const GstVideoInfo *layout = &self->layout;
  const GstPbfGrey *grey = &self->grey;
  guint width = GST_VIDEO_INFO_WIDTH (layout);
  guint height = GST_VIDEO_INFO_HEIGHT (layout);
  gint stride =
      meta != NULL ? meta->stride[0] : GST_VIDEO_INFO_PLANE_STRIDE (layout, 0);
  gsize offset =
      meta != NULL ? meta->offset[0] : GST_VIDEO_INFO_PLANE_OFFSET (layout, 0);
  gsize row = gst_pbf_grey_row_bytes (grey, width);
  const guint8 *bytes;
  guint8 *picture;
  gsize need, size;

  if (stride < (gint) row) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "the stride is %d bytes, less than the %" G_GSIZE_FORMAT
        " bytes of a row",
        stride, row);
    return FALSE;
  }
  if (!map_bytes (batch, buffer, &bytes, &size, error))
    return FALSE;
  need = offset + (gsize) stride * (height - 1) + row;
  if (size < need) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_FORMAT,
        "%" G_GSIZE_FORMAT " bytes expected for %ux%u pixels (stride %d, "
        "offset %" G_GSIZE_FORMAT "), %" G_GSIZE_FORMAT " found",
        need, width, height, stride, offset, size);
    return FALSE;
  }
  if (grey->wide) {
    picture = batch->grey_map.data + (gsize) batch->batch.n * width * height;
    pbf_grey_to_8 (grey->layout, grey->shift, bytes + offset, (gsize) stride,
        width, height, picture);
    batch->frames[batch->batch.n] = picture;
    batch->strides[batch->batch.n] = width;
  } else {
    batch->frames[batch->batch.n] = bytes + offset;
    batch->strides[batch->batch.n] = stride;
  }
  batch->buffers[batch->batch.n] = buffer;
  batch->batch.n++;
  return TRUE;
}

GstCvisPbfMeta *
gst_pbf_input_add_meta (GstBuffer *buffer)
{
  GstCvisPbfMeta *meta = (GstCvisPbfMeta *) gst_buffer_add_meta (
      buffer, GST_CVIS_PBF_META_INFO, NULL);

  meta->scale_x = meta->scale_y = 1.0;
  return meta;
}

/* Call with the fill lock held; @buffer is writable. */
static GstFlowReturn
add_frame (GstCudaPbfMonitor *self, GstBuffer *buffer, GError **error)
{
  GstPbfBatch *batch = self->filling;
  Metas metas = find_metas (buffer);
  guint i = batch->batch.n;

  if (!add_pixels (self, batch, buffer, metas.video, error))
    return GST_FLOW_ERROR;
  fill_info (self, batch, i, buffer, &metas);
  /* the meta is added in this thread, which has less work: the other one computes
   * if the backend is the CPU */
  batch->metas[i] =
      self->filter.context == NULL ? gst_pbf_input_add_meta (buffer) : NULL;
  return GST_FLOW_OK;
}

/* Call with the fill lock held: a batch with frames is due when its oldest frame has waited
 * for max-latency. */
static GstFlowReturn
arm_deadline (GstCudaPbfMonitor *self, guint64 arrival, GError **error)
{
  GstPbfBatch *batch = self->filling;
  GstClockTime wait;

  if (batch == NULL || batch->end_time >= 0)
    return GST_FLOW_OK;
  GST_OBJECT_LOCK (self);
  wait = self->settings.max_latency;
  GST_OBJECT_UNLOCK (self);
  if (wait == 0)
    return submit_batch (self, TRUE, error);
  batch->end_time = (gint64) ((arrival + wait + 999) / 1000);
  gst_cvis_queue_set_deadline (self->filter.queue, batch->end_time);
  return GST_FLOW_OK;
}

/* Adds the frames of @item from @i on to the batch, if there is one, until it is full: the
 * caller begins another for the rest.
 * @i: (inout): the next frame */
static GstFlowReturn
add_frames (GstCudaPbfMonitor *self, GstPbfItem *item, GstBufferList *list,
    guint *i, GError **error)
{
  GstFlowReturn flow = GST_FLOW_OK;

  g_mutex_lock (&self->fill_lock);
  for (; self->filling != NULL && *i < item->n; (*i)++) {
    GstBuffer *buffer = list != NULL ? gst_buffer_list_get_writable (list, *i)
                                     : GST_BUFFER_CAST (item->object);

    flow = add_frame (self, buffer, error);
    if (flow != GST_FLOW_OK)
      break;
    if (*i == 0) {
      g_array_append_vals (self->filling->items, item, 1);
      item->object = NULL; /* the batch owns it now */
    }
    if (self->filling->batch.n == self->filling->capacity)
      flow = submit_batch (self, FALSE, error);
    if (flow != GST_FLOW_OK)
      break;
  }
  if (flow == GST_FLOW_OK && *i == item->n)
    flow = arm_deadline (self, item->arrival, error);
  g_mutex_unlock (&self->fill_lock);
  return flow;
}

static GstFlowReturn
add_item (GstCudaPbfMonitor *self, GstPbfItem *item, GstBufferList *list,
    GError **error)
{
  guint i = 0;
  GstFlowReturn flow = add_frames (self, item, list, &i, error);

  while (flow == GST_FLOW_OK && i < item->n) {
    flow = begin_batch (self);
    if (flow == GST_FLOW_OK)
      flow = add_frames (self, item, list, &i, error);
  }
  return flow;
}

/* At a variable frame rate the caps do not limit the frames held by their duration:
 * waits until the element holds none before they would last longer than held_time. */
static GstFlowReturn
limit_held_time (GstCudaPbfMonitor *self, GstBuffer *first)
{
  GstClockTime pts =
      first != NULL ? GST_BUFFER_PTS (first) : GST_CLOCK_TIME_NONE;
  GstFlowReturn flow = GST_FLOW_OK;

  if (self->held_time == 0 || !GST_CLOCK_TIME_IS_VALID (pts))
    return flow;
  if (GST_CLOCK_TIME_IS_VALID (self->held_from) && pts >= self->held_from
      && pts - self->held_from < self->held_time)
    return flow;
  if (GST_CLOCK_TIME_IS_VALID (self->held_from))
    flow = gst_cvis_filter_drain (&self->filter);
  self->held_from = pts;
  return flow;
}

GstFlowReturn
gst_pbf_input_submit (GstCvisFilter *filter, GstMiniObject *object)
{
  GstCudaPbfMonitor *self = GST_CUDA_PBF_MONITOR (filter);
  GstPbfItem item = { .n = 1, .arrival = cvis_monotonic_ns () };
  GstBufferList *list = NULL;
  GError *error = NULL;
  GstFlowReturn flow;

  item.object = gst_mini_object_make_writable (object);
  if (GST_IS_BUFFER_LIST (item.object)) {
    list = GST_BUFFER_LIST_CAST (item.object);
    item.n = gst_buffer_list_length (list);
  }
  flow = g_atomic_pointer_get (&self->learned) != NULL
             ? gst_pbf_monitor_load_learned (self)
             : GST_FLOW_OK;
  if (flow == GST_FLOW_OK)
    flow = limit_held_time (self, list == NULL ? GST_BUFFER_CAST (item.object)
                                  : item.n > 0 ? gst_buffer_list_get (list, 0)
                                               : NULL);
  if (flow != GST_FLOW_OK) {
    gst_mini_object_unref (item.object);
    return flow;
  }
  flow = add_item (self, &item, list, &error);
  gst_clear_mini_object (&item.object);
  if (error != NULL && error->code == CVIS_ERROR_FORMAT)
    return gst_cvis_filter_reject_frame (filter, error);
  return report_engine_error (self, flow, error);
}
