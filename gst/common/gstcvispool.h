/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A buffer pool of pinned memory in which buffers that are acquired one
 * after the other lie one after the other: a list of 256 frames is one span of
 * memory (gst_memory_is_span(), or equal distances between the mapped addresses)
 * and reaches the device as one copy.
 *
 * A slab holds 256 frames (fewer if frames are large, more if min-buffers is more);
 * a pool grows by slabs. A slab is freed with the last memory in it, also after
 * the pool is gone; a frame's place is used again only when its memory and every
 * share of it is freed.
 *
 * An element that wants its input in such memory proposes the pool in its
 * ALLOCATION query:
 *
 *   pool = gst_cvis_pool_new (context);
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
#include "cuda/core/device/device.h"

G_BEGIN_DECLS

#define GST_TYPE_CVIS_POOL (gst_cvis_pool_get_type ())
G_DECLARE_FINAL_TYPE (GstCvisPool, gst_cvis_pool, GST, CVIS_POOL, GstBufferPool)

/**
 * gst_cvis_pool_new:
 * @context: (nullable): the CUDA context for which memory is pinned, referenced; %NULL:
 *   ordinary memory, aligned to 4096 bytes
 *
 * Configured and used like any #GstBufferPool. Caps of raw video give buffers of
 * at least the size of the frame; with other caps, or none, the size is as
 * configured. Frames lie at multiples of the size, rounded up to 4 bytes, unless
 * the allocation parameters have alignment, prefix or padding. The options
 * VIDEO_META and VIDEO_ALIGNMENT are supported; a maximum of 0 means no limit. If
 * memory cannot be pinned, the pool logs a warning and uses ordinary memory.
 *
 * Metas that a user attached with %GST_META_FLAG_POOLED stay on the buffer when
 * it comes back, as in every pool.
 *
 * Returns: (transfer full): a new pool
 */
GstBufferPool *gst_cvis_pool_new (CvisContext *context);

/**
 * gst_cvis_pool_new_active:
 * @context: (nullable): as above
 * @caps: (nullable): caps of its buffers
 * @size: of a buffer, in bytes
 * @min: number of buffers at the start
 *
 * For an element's output: buffers begin at multiples of 64 bytes, so that threads
 * that write two of them share no cache line. Without @context it is a plain
 * GstBufferPool with gst_cvis_allocator(): its few buffers, used in turn, stay in the
 * CPU's caches.
 *
 * Returns: (transfer full) (nullable): an active pool; %NULL without memory
 */
GstBufferPool *gst_cvis_pool_new_active (
    CvisContext *context, GstCaps *caps, gsize size, guint min);
/* Deactivates and unrefs *@pool, if there is one, and sets it to %NULL. */
void gst_cvis_pool_clear (GstBufferPool **pool);

/**
 * gst_cvis_memory_is_pinned:
 * @memory: any memory
 * @context: (nullable): the context that would copy from it
 *
 * Returns: TRUE if @memory lies in pinned memory of such a pool, which is
 * pinned for every context of the process; FALSE without a context.
 */
gboolean gst_cvis_memory_is_pinned (GstMemory *memory, CvisContext *context);

/* For buffers whose size comes from outside. Without memory this allocator returns
 * %NULL, and so do gst_buffer_new_allocate() and pools with it; GStreamer's own
 * allocator ends the process. Memory is ordinary, in whole pages.
 * Returns: (transfer none): the allocator */
GstAllocator *gst_cvis_allocator (void);

/* The address of @memory's bytes if it comes from such a pool, else %NULL. They
 * can be read without a map while the caller holds a buffer with @memory: memory
 * shared by two buffers is not writable. A map costs six atomic operations. */
const guint8 *gst_cvis_memory_peek (GstMemory *memory);

G_END_DECLS
