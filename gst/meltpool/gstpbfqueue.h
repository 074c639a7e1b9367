/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What lies between the two threads of cudapbfmonitor: batches that were
 * submitted and events, in the order they have to leave in, and the spare
 * batches that frames are collected in. It never waits for room: how much can
 * lie in it is bounded by the number of spare batches. */
#pragma once

#include "gstpbfbatch.h"

G_BEGIN_DECLS

typedef struct _GstPbfQueue GstPbfQueue;

typedef enum {
  GST_PBF_POP_BATCH,    /* a batch, to be completed */
  GST_PBF_POP_EVENT,    /* an event, to be pushed; the caller owns it */
  GST_PBF_POP_DEADLINE, /* nothing, but the deadline has passed (once) */
  GST_PBF_POP_STOP,     /* the flow is not GST_FLOW_OK */
} GstPbfPop;

/* A new queue is flushing. */
GstPbfQueue *gst_pbf_queue_new (void);
/* Frees the spare batches and what is left in it. */
void gst_pbf_queue_free (GstPbfQueue *queue);

/* GST_FLOW_OK lets it run; anything else ends every wait with that result. */
void gst_pbf_queue_set_flow (GstPbfQueue *queue, GstFlowReturn flow);
GstFlowReturn gst_pbf_queue_get_flow (GstPbfQueue *queue);

/* Puts @batch among the spare ones. */
void gst_pbf_queue_give (GstPbfQueue *queue, GstPbfBatch *batch);
/* Waits for a spare batch. */
GstFlowReturn gst_pbf_queue_take (GstPbfQueue *queue, GstPbfBatch **batch);
/* Frees the spare batches, before others of another size are given. */
void gst_pbf_queue_free_spare (GstPbfQueue *queue);

/* Both fail, and leave the argument with the caller, when the flow is not OK.
 * A batch ends the deadline: it was that of the batch. */
GstFlowReturn gst_pbf_queue_push_batch (GstPbfQueue *queue, GstPbfBatch *batch);
GstFlowReturn gst_pbf_queue_push_event (GstPbfQueue *queue, GstEvent *event);

/* @end_time: of g_get_monotonic_time(), when pop is to return although nothing
 * has come */
void gst_pbf_queue_set_deadline (GstPbfQueue *queue, gint64 end_time);

/* For the one thread that empties it. What the pop before returned counts as
 * done when the next one is called. */
GstPbfPop gst_pbf_queue_pop (
    GstPbfQueue *queue, GstPbfBatch **batch, GstEvent **event);

/* Waits until all that was pushed is done. */
GstFlowReturn gst_pbf_queue_wait_idle (GstPbfQueue *queue);

/* Is an EOS event waiting in it? */
gboolean gst_pbf_queue_has_eos (GstPbfQueue *queue);

/* Forgets batches (they belong to the engine) and drops events. Sticky ones
 * except EOS and SEGMENT are stored on @pad, as a flush keeps them. */
void gst_pbf_queue_discard (GstPbfQueue *queue, GstPad *pad);

G_END_DECLS
