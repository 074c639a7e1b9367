/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rendered frames that are sent repeatedly, in buffer lists that are used again.
 *
 * Each buffer of a list shares the memory of its frame and has copies of its
 * metas. When the last reference to a list is dropped, in any thread, the whole
 * list goes back to the replay, and the next list of the same frames is that one:
 * its buffers are restored and not allocated.
 *
 * A GstBufferPool would cost two atomic operations and a lock for each buffer, and
 * the list would still have to be built: at millions of frames a second most of
 * the time of a source.
 *
 * All functions are for one thread; lists may be dropped in any thread, also when
 * the replay has been freed. */
#pragma once

#include <gst/gst.h>
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

typedef struct _GstPbfReplay GstPbfReplay;

/* Room for @capacity frames (1..). */
GstPbfReplay *gst_pbf_replay_new (guint capacity);

/* Frees the frames and idle lists; lists in use stay valid. No list is open. */
void gst_pbf_replay_free (GstPbfReplay *replay);

/**
 * gst_pbf_replay_add:
 * @replay: with room for another frame
 * @frame: (transfer full): of one memory, with #GstCvisPbfSignalMeta and
 *   #GstCvisPbfTruthMeta; nobody writes to it from now on
 */
void gst_pbf_replay_add (GstPbfReplay *replay, GstBuffer *frame);

guint gst_pbf_replay_get_length (const GstPbfReplay *replay);

/**
 * gst_pbf_replay_new_buffer:
 * @frame: 0..length-1
 * @signal: (out): the record in the meta of the buffer
 *
 * Returns: (transfer full) (nullable): a new buffer without flags and times, with
 *   the frame's memory, which is copied before it is written to, and its metas;
 *   %NULL if the memory can neither be shared nor copied
 */
GstBuffer *gst_pbf_replay_new_buffer (
    GstPbfReplay *replay, guint frame, CvisPbfSignal **signal);

/* Opens a list of the frames @first to @first + @n - 1, all below the length.
 * Lists with the same @first and @n are used again. */
void gst_pbf_replay_open_list (GstPbfReplay *replay, guint first, guint n);

/* The next of the @n buffers of the open list, owned by the list, and in the state
 * that gst_pbf_replay_new_buffer() returns it in. */
GstBuffer *gst_pbf_replay_next (GstPbfReplay *replay, CvisPbfSignal **signal);

/* Closes the list.
 * Returns: (transfer full): the list, with the buffers so far */
GstBufferList *gst_pbf_replay_close_list (GstPbfReplay *replay);

G_END_DECLS
