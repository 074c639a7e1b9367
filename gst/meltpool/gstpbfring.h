/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A ring of frames that are shown again and again, each in a buffer of its own.
 *
 * Showing a frame takes a buffer that shares the frame's memory and carries its
 * metas. Such a shell belongs to its frame for ever: when the last reference is
 * dropped, in whatever thread, it goes back to the frame, and the next round
 * finds it there with memory and metas on it. Nothing is allocated or freed
 * unless more shells of a frame are in flight than ever before.
 *
 * Why this is not a GstBufferPool: a pool counts its buffers in flight, in
 * itself, with every buffer that goes and comes. At millions of buffers a second
 * that counter travels between the core of the source and the core of the sink
 * all the time. Here the two meet in the lines of the frame at hand only.
 *
 * All functions are for one thread at a time; shells may be dropped anywhere, at
 * any time, also when the ring has gone. */
#pragma once

#include <gst/gst.h>
#include "pbfrecord.h"

G_BEGIN_DECLS

typedef struct _GstPbfRing GstPbfRing;

/* An empty ring with room for @capacity frames (1..). */
GstPbfRing *gst_pbf_ring_new (guint capacity);

/* Drops the frames and the shells that are there; those in flight stay valid
 * and are freed with their last reference. */
void gst_pbf_ring_free (GstPbfRing *ring);

/**
 * gst_pbf_ring_add:
 * @ring: with room for another frame
 * @frame: (transfer full): of one memory, with #GstPbfSignalMeta and
 *   #GstPbfTruthMeta; nobody writes to it from now on
 */
void gst_pbf_ring_add (GstPbfRing *ring, GstBuffer *frame);

/* Frames in the ring. */
guint gst_pbf_ring_get_length (const GstPbfRing *ring);

/**
 * gst_pbf_ring_show:
 * @ring: a ring
 * @i: 0..length-1; fastest in the order 0, 1, 2 ... and round again
 * @signal: (out): the record in the meta of the buffer, as it was added
 *
 * Returns: (transfer full) (nullable): a writable buffer without flags, times
 *   and offsets, with the frame's memory (whoever maps it for writing gets a
 *   copy) and its metas, whatever was done to the shell in the round before;
 *   %NULL if the memory can neither be shared nor copied
 */
GstBuffer *gst_pbf_ring_show (GstPbfRing *ring, guint i, PbfSignal **signal);

/* Shells allocated so far, those in flight included. */
guint gst_pbf_ring_get_n_shells (const GstPbfRing *ring);

G_END_DECLS
