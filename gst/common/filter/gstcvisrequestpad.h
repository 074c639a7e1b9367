/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A request pad with a queue and a task of its own, as if a queue element were
 * behind it: a branch that blocks, as every sink does in preroll, does not block
 * the other branches. Buffers and serialized events leave in the order in which
 * they were pushed.
 *
 * When the queue holds %GST_CVIS_REQUEST_PAD_MAX_BUFFERS buffers (those in lists
 * count) or %GST_CVIS_REQUEST_PAD_MAX_BYTES bytes, pushing buffers waits. A push is
 * queued whole, whatever its size. Events never wait.
 *
 * One thread pushes. Flushing may come from any thread; it ends every wait.
 * While the pad is active, its task runs; the task ends itself when the pad or
 * downstream flushes. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* limits of the queue */
#define GST_CVIS_REQUEST_PAD_MAX_BUFFERS 200
#define GST_CVIS_REQUEST_PAD_MAX_BYTES (10 * 1024 * 1024)

#define GST_TYPE_CVIS_REQUEST_PAD (gst_cvis_request_pad_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCvisRequestPad, gst_cvis_request_pad, GST, CVIS_REQUEST_PAD, GstPad)

/* Events that have to be pushed before the next buffer. */
typedef enum {
  GST_CVIS_LACKS_START = 1 << 0,
  GST_CVIS_LACKS_CAPS = 1 << 1,
  GST_CVIS_LACKS_SEGMENT = 1 << 2,
  GST_CVIS_LACKS_ALL = 7,
} GstCvisLacks;

/* Returns: (transfer floating): a pad with its template's name, which lacks all
 * events */
GstPad *gst_cvis_request_pad_new (GstPadTemplate *template);

/* Adds @lacks to the events that the pad lacks. The pad itself adds events that are
 * dropped from its queue, by a flush or when it is deactivated. */
void gst_cvis_request_pad_add_lacks (
    GstCvisRequestPad *pad, GstCvisLacks lacks);
/* Returns: the events that the pad lacks, and clears them */
GstCvisLacks gst_cvis_request_pad_take_lacks (GstCvisRequestPad *pad);

/* Takes @event, which is serialized. */
void gst_cvis_request_pad_push_event (GstCvisRequestPad *pad, GstEvent *event);
/* Takes @object, a #GstBuffer or a #GstBufferList, and waits for room. It is
 * dropped if the pad is not linked, or flushes. */
void gst_cvis_request_pad_push (GstCvisRequestPad *pad, GstMiniObject *object);
/* Flow of the last push that left the queue; GST_FLOW_NOT_LINKED or
 * GST_FLOW_FLUSHING if the last one did not enter it; GST_FLOW_NOT_LINKED if the
 * pad is not active. A failure that was not read before EOS is posted as an
 * error. */
GstFlowReturn gst_cvis_request_pad_get_flow (GstCvisRequestPad *pad);

/* Ends all waits. From now on pushes are dropped. */
void gst_cvis_request_pad_set_flushing (GstCvisRequestPad *pad);
/* Waits for the task, empties the queue, pushes @event, and starts the task again
 * if the pad is active. @event: (nullable) (transfer none): a FLUSH_STOP */
void gst_cvis_request_pad_stop_flushing (
    GstCvisRequestPad *pad, GstEvent *event);

G_END_DECLS
