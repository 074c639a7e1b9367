/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A request pad with a queue and a task of its own, as if a queue element were
 * behind it: a branch that blocks, as every sink does in preroll, does not block
 * the other branches. Buffers and serialized events leave in the order in which
 * they were pushed.
 *
 * The queue takes buffers until it holds %GST_CV_REQUEST_PAD_MAX_BUFFERS of them
 * (members of lists count) or %GST_CV_REQUEST_PAD_MAX_BYTES bytes; whoever
 * pushes then waits. One push is taken whole, whatever its size. Events are
 * always taken.
 *
 * One thread pushes. Flushing may come from any thread; it ends every wait.
 * While the pad is active, its task runs; it ends itself when the pad flushes
 * or downstream does. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* limits of the queue */
#define GST_CV_REQUEST_PAD_MAX_BUFFERS 200
#define GST_CV_REQUEST_PAD_MAX_BYTES (10 * 1024 * 1024)

#define GST_TYPE_CV_REQUEST_PAD (gst_cv_request_pad_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCvRequestPad, gst_cv_request_pad, GST, CV_REQUEST_PAD, GstPad)

/* Events that have to be pushed before the next buffer. */
typedef enum {
  GST_CV_LACKS_START = 1 << 0,
  GST_CV_LACKS_CAPS = 1 << 1,
  GST_CV_LACKS_SEGMENT = 1 << 2,
  GST_CV_LACKS_ALL = 7,
} GstCvLacks;

/* (transfer floating): a pad named as its template, which lacks all */
GstPad *gst_cv_request_pad_new (GstPadTemplate *template);

/* From now on the pad lacks @lacks too. Events that are dropped from the queue,
 * by a flush or when the pad is deactivated, are added by the pad itself. */
void gst_cv_request_pad_add_lacks (GstCvRequestPad *pad, GstCvLacks lacks);
/* Returns: what the pad lacks, which is then forgotten */
GstCvLacks gst_cv_request_pad_take_lacks (GstCvRequestPad *pad);

/* Takes @event, which is serialized. */
void gst_cv_request_pad_push_event (GstCvRequestPad *pad, GstEvent *event);
/* Takes @object, a #GstBuffer or a #GstBufferList, and waits for room. It is
 * dropped where the pad is not linked, or flushes. */
void gst_cv_request_pad_push (GstCvRequestPad *pad, GstMiniObject *object);
/* Flow of the last push that left the queue; of one that never entered
 * it, GST_FLOW_NOT_LINKED or GST_FLOW_FLUSHING. Of a pad that is not active,
 * GST_FLOW_NOT_LINKED: it takes no part. A failure that nobody asked for until
 * EOS is posted as an error. */
GstFlowReturn gst_cv_request_pad_get_flow (GstCvRequestPad *pad);

/* Ends all waits. From now on pushes are dropped. */
void gst_cv_request_pad_set_flushing (GstCvRequestPad *pad);
/* Waits for the task, drops what is in the queue, pushes @event (nullable, not
 * taken), a FLUSH_STOP, and lets the task run again if the pad is active. */
void gst_cv_request_pad_stop_flushing (GstCvRequestPad *pad, GstEvent *event);

G_END_DECLS
