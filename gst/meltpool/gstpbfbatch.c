/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfbatch.h"

#include "gst/common/gstcvispool.h"

void
gst_pbf_item_clear (GstPbfItem *item)
{
  gst_clear_mini_object (&item->object);
  g_clear_pointer (&item->dropped, g_array_unref);
}

GstPbfBatch *
gst_pbf_batch_new (guint capacity, CvisContext *context)
{
  GstPbfBatch *batch = g_new0 (GstPbfBatch, 1);

  batch->capacity = capacity;
  batch->context = context;
  batch->frames = g_new0 (const guint8 *, capacity);
  batch->strides = g_new0 (guint, capacity);
  batch->infos = g_new0 (PbfFrameInfo, capacity);
  batch->buffers = g_new0 (GstBuffer *, capacity);
  batch->metas = g_new0 (GstCvisPbfMeta *, capacity);
  batch->maps = g_new0 (GstMapInfo, capacity);
  batch->keep = g_new0 (gboolean, capacity);
  batch->items = g_array_new (FALSE, FALSE, sizeof (GstPbfItem));
  g_array_set_clear_func (batch->items, (GDestroyNotify) gst_pbf_item_clear);
  batch->batch.frames = batch->frames;
  batch->batch.strides = batch->strides;
  batch->batch.infos = batch->infos;
  gst_pbf_batch_clear (batch);
  return batch;
}

void
gst_pbf_batch_free (GstPbfBatch *batch)
{
  gst_pbf_batch_clear (batch);
  g_array_unref (batch->items);
  g_free (batch->keep);
  g_free (batch->maps);
  g_free (batch->metas);
  g_free (batch->buffers);
  g_free (batch->infos);
  g_free (batch->strides);
  g_free (batch->frames);
  g_free (batch);
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

gboolean
gst_pbf_batch_add (GstPbfBatch *batch, GstBuffer *buffer,
    const GstVideoInfo *layout, const GstPbfGrey *grey,
    const GstVideoMeta *meta, GError **error)
{
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
gst_pbf_batch_add_meta (GstBuffer *buffer)
{
  GstCvisPbfMeta *meta = (GstCvisPbfMeta *) gst_buffer_add_meta (
      buffer, GST_CVIS_PBF_META_INFO, NULL);

  meta->scale_x = meta->scale_y = 1.0;
  return meta;
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

GstFlowReturn
gst_pbf_batch_acquire (
    GstPbfBatch *batch, GstBufferPool *records_pool, GstBufferPool *grey_pool)
{
  GstFlowReturn flow =
      acquire_mapped (records_pool, &batch->records, &batch->records_map);

  if (flow != GST_FLOW_OK)
    return flow;
  batch->batch.results = (CvisPbfResult *) batch->records_map.data;
  batch->batch.results_pinned =
      gst_cvis_memory_is_pinned (batch->records_map.memory, batch->context);
  if (grey_pool == NULL)
    return GST_FLOW_OK;
  flow = acquire_mapped (grey_pool, &batch->grey, &batch->grey_map);
  if (flow != GST_FLOW_OK)
    gst_pbf_batch_clear (batch);
  else if (batch->context != NULL)
    batch->batch.pinned =
        gst_cvis_memory_is_pinned (batch->grey_map.memory, batch->context);
  return flow;
}

void
gst_pbf_batch_unmap (GstPbfBatch *batch)
{
  /* what gst_buffer_unmap() does, without the buffer */
  for (guint i = 0; i < batch->mapped; i++) {
    gst_memory_unmap (batch->maps[i].memory, &batch->maps[i]);
    gst_memory_unref (batch->maps[i].memory);
  }
  batch->mapped = 0;
}

void
gst_pbf_batch_clear (gpointer data)
{
  GstPbfBatch *batch = data;

  gst_pbf_batch_unmap (batch);
  if (batch->batch.results != NULL)
    gst_buffer_unmap (batch->records, &batch->records_map);
  batch->batch.results = NULL;
  gst_clear_buffer (&batch->records);
  if (batch->grey != NULL)
    gst_buffer_unmap (batch->grey, &batch->grey_map);
  gst_clear_buffer (&batch->grey);
  g_array_set_size (batch->items, 0);
  batch->batch.n = 0;
  batch->batch.pinned = TRUE;
  batch->lost = 0;
  batch->end_time = -1;
  batch->partial = FALSE;
}
