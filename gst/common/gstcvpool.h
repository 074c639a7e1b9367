/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A buffer pool of page-locked memory in which buffers that are acquired one
 * after the other lie one after the other: a list of 256 frames is one span of
 * memory (gst_memory_is_span(), or simply equal distances between the mapped
 * addresses) and reaches the device as one copy.
 *
 * Frames are pieces of slabs of 256 (fewer where frames are large, more where
 * min-buffers asks for more); a pool grows by slabs. A slab is freed when the
 * last memory that lies in it is gone, whatever became of the pool; a frame's
 * place is used again only when its memory and every share of it is gone.
 *
 * An element that wants its input in such memory proposes the pool in its
 * ALLOCATION query:
 *
 *   pool = gst_cv_pool_new (context);
 *   config = gst_buffer_pool_get_config (pool);
 *   gst_buffer_pool_config_set_params (config, caps, info.size, 0, 0);
 *   gst_buffer_pool_config_add_option (
 *       config, GST_BUFFER_POOL_OPTION_VIDEO_META);
 *   gst_buffer_pool_set_config (pool, config);
 *   gst_query_add_allocation_pool (query, pool, info.size, 0, 0);
 *   gst_object_unref (pool);
 */
#pragma once

#include <gst/gst.h>
#include "cuda/core/device.h"

G_BEGIN_DECLS

#define GST_TYPE_CV_POOL (gst_cv_pool_get_type ())
G_DECLARE_FINAL_TYPE (GstCvPool, gst_cv_pool, GST, CV_POOL, GstBufferPool)

/**
 * gst_cv_pool_new:
 * @context: (nullable): the CUDA context to lock pages for, referenced; %NULL:
 *   ordinary memory, aligned to 4096 bytes
 *
 * Configured and used like any #GstBufferPool. Caps of raw video give buffers
 * of at least the size of the frame (rounded up to 4 bytes, which is what lies
 * between two frames unless the allocation parameters ask for alignment,
 * prefix or padding); with other caps, or none, the size is taken as it is
 * (rounded up to 4). The options VIDEO_META and VIDEO_ALIGNMENT are
 * understood; a maximum of 0 means no limit. If pages cannot be locked, the
 * pool warns and goes on with ordinary memory.
 *
 * Metas that a user attached with %GST_META_FLAG_POOLED stay on the buffer when
 * it comes back, as in every pool.
 *
 * Returns: (transfer full): a new pool
 */
GstBufferPool *gst_cv_pool_new (CvisContext *context);

/**
 * gst_cv_pool_new_active:
 * @context: (nullable): as above
 * @caps: (nullable): what is in its buffers
 * @size: of a buffer, bytes
 * @min: how many it has from the first
 *
 * For what an element makes itself and many lanes write: buffers begin at
 * multiples of 64 bytes. Without @context it is a plain pool, whose few buffers
 * stay in the cache, with the allocator below.
 *
 * Returns: (transfer full) (nullable): a pool, active; %NULL without memory
 */
GstBufferPool *gst_cv_pool_new_active (
    CvisContext *context, GstCaps *caps, gsize size, guint min);
/* Deactivates *@pool and forgets it, if there is one. */
void gst_cv_pool_clear (GstBufferPool **pool);

/**
 * gst_cv_memory_is_pinned:
 * @memory: any memory
 * @context: (nullable): the context that would copy from it
 *
 * Returns: TRUE if @memory lies in page-locked memory of such a pool, which is
 * page-locked for every context of the process; FALSE without a context.
 */
gboolean gst_cv_memory_is_pinned (GstMemory *memory, CvisContext *context);

/* Returns: (transfer none): ordinary memory, of whole pages. Where there is none, it
 * returns %NULL, and so do gst_buffer_new_allocate() and pools that have it: for
 * buffers whose size comes from outside, as GStreamer's own allocator ends the
 * process. */
GstAllocator *gst_cv_allocator (void);

/* The first of @memory's bytes (as many as its size) if it comes from such a
 * pool, else NULL. They can be read without a map for as long as the caller holds
 * a buffer with it: a memory that two buffers have is not writable. A map costs
 * six atomic operations. */
const guint8 *gst_cv_memory_peek (GstMemory *memory);

G_END_DECLS
