/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A batch of frames in flight in the engine. */
#pragma once

#include <gst/video/video.h>
#include "gst/common/filter/gstcvisfilter.h"
#include "gst/cudavision/cudavision.h"
#include "cuda/meltpool/engine.h"
#include "gstpbfgrey.h"

G_BEGIN_DECLS

/**
 * GstPbfItem: a buffer or a buffer list, which leaves as it came
 * @object: #GstBuffer or #GstBufferList, owned
 * @n: frames in it
 * @done: frames with results
 * @dropped: (nullable) (element-type guint): frames to drop, ascending
 * @arrival: cvis_monotonic_ns() when it arrived
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
 * @item: of the base class
 * @batch: the engine's part; its arrays belong to the batch
 * @capacity: most frames
 * @context: (nullable): context that the engine computes in
 * @frames, @strides, @infos: of @batch
 * @buffers: of the frames, owned by the items
 * @metas: (nullable contents): result metas of the buffers, to be filled in
 * @maps: maps of the frames that had to be mapped, the first @mapped of them
 * @items: (element-type GstPbfItem): those that begin in this batch; the last
 *   may end in a later one, and the first frames may be of an earlier one
 * @records: buffer with room for @capacity results, mapped in @records_map
 * @grey: (nullable): 8-bit pictures of @capacity frames that have more than 8
 *   bits, mapped in @grey_map
 * @keep: (out): whether the frame leaves; set with the results
 * @lost: numbers that the frame counter skipped
 * @end_time: time (g_get_monotonic_time()) at which it has to be submitted
 * @partial: it was submitted before it was full
 */
typedef struct {
  GstCvisItem item;
  PbfBatch batch;
  guint capacity;
  CvisContext *context;
  const guint8 **frames;
  guint *strides;
  PbfFrameInfo *infos;
  GstBuffer **buffers;
  GstCvisPbfMeta **metas;
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

/* @context: (transfer none) (nullable): outlives the batch */
GstPbfBatch *gst_pbf_batch_new (guint capacity, CvisContext *context);
void gst_pbf_batch_free (GstPbfBatch *batch);

/* Unmaps the frames, once their results are complete. Their number stays valid until
 * gst_pbf_batch_clear(). */
void gst_pbf_batch_unmap (GstPbfBatch *batch);

/* Releases everything that the batch holds. */
void gst_pbf_batch_clear (gpointer batch);

G_END_DECLS
