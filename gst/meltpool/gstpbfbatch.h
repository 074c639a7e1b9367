/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A batch of frames on its way through the engine. */
#pragma once

#include <gst/video/video.h>
#include "gst/cudavision/cudavision.h"
#include "cuda/meltpool/engine.h"
#include "gstpbfgrey.h"

G_BEGIN_DECLS

/**
 * GstPbfItem: a buffer or a buffer list, which leaves as it came
 * @object: #GstBuffer or #GstBufferList, owned
 * @n: frames in it
 * @done: frames whose results are there
 * @dropped: (nullable) (element-type guint): those that do not leave, rising
 * @arrival: time of cvis_monotonic_ns() when it came
 */
typedef struct {
  GstMiniObject *object;
  guint n;
  guint done;
  GArray *dropped;
  guint64 arrival;
} GstPbfItem;

void gst_pbf_item_clear (GstPbfItem *item);

/**
 * GstPbfBatch:
 * @batch: what the engine sees; the arrays behind it belong to the batch
 * @capacity: frames that it has room for
 * @context: (nullable): that the engine computes in
 * @frames, @strides, @infos: of @batch
 * @buffers: of the frames, owned by the items
 * @metas: (nullable contents): on their buffers already, to be filled in
 * @maps: of the frames that had to be mapped, the first @mapped of them
 * @items: (element-type GstPbfItem): those that begin in this batch; the last
 *   may end in a later one, and the first frames may be of an earlier one
 * @records: buffer with room for @capacity results, mapped in @records_map
 * @grey: (nullable): 8-bit pictures of @capacity frames that have more than 8
 *   bits, mapped in @grey_map
 * @keep: (out): whether the frame leaves; set with the results
 * @lost: numbers that the frame counter skipped
 * @end_time: when it has to be submitted, of g_get_monotonic_time()
 * @partial: it was submitted before it was full
 */
typedef struct {
  PbfBatch batch;
  guint capacity;
  CvisContext *context;
  const guint8 **frames;
  guint *strides;
  PbfFrameInfo *infos;
  GstBuffer **buffers;
  GstPbfMeta **metas;
  GstMapInfo *maps;
  guint mapped;
  gboolean *keep;
  GArray *items;
  GstBuffer *records;
  GstMapInfo records_map;
  GstBuffer *grey;
  GstMapInfo grey_map;
  guint64 lost;
  gint64 end_time;
  gboolean partial;
} GstPbfBatch;

/* @context stays the caller's. */
GstPbfBatch *gst_pbf_batch_new (guint capacity, CvisContext *context);
void gst_pbf_batch_free (GstPbfBatch *batch);

/* Appends the pixels of @buffer, which has to stay valid until
 * gst_pbf_batch_unmap(). @layout is that of the caps, which @grey reads, and @meta
 * the buffer's own, if it has one. The infos and the meta of the frame are left to the caller.
 * Returns: FALSE with CVIS_ERROR_FORMAT in words that give the bytes expected
 * and found, or CVIS_ERROR_MEMORY where the buffer cannot be mapped. */
gboolean gst_pbf_batch_add (GstPbfBatch *batch, GstBuffer *buffer,
    const GstVideoInfo *layout, const GstPbfGrey *grey,
    const GstVideoMeta *meta, GError **error);

/* Adds to @buffer a result meta that is to be filled in. */
GstPbfMeta *gst_pbf_batch_add_meta (GstBuffer *buffer);

/* Takes a buffer for the results out of @records_pool, and one for 8-bit pictures
 * out of @grey_pool, which is %NULL where frames have 8 bits. The pools are of
 * page-locked memory where there is a context. */
GstFlowReturn gst_pbf_batch_acquire (
    GstPbfBatch *batch, GstBufferPool *records_pool, GstBufferPool *grey_pool);

/* The frames are done with. Their number stays for the caller to read until
 * gst_pbf_batch_clear(). */
void gst_pbf_batch_unmap (GstPbfBatch *batch);

/* Empties it, whatever it holds. */
void gst_pbf_batch_clear (GstPbfBatch *batch);

G_END_DECLS
