/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfbatch.h"

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
