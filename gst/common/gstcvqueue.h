/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Queue between the two threads of an element that computes on its own
 * source pad's task: items that were submitted and events, in the order they
 * have to leave in, and the spare items that work is collected in. An item is
 * whatever the element makes of it. The queue never waits for room: how much
 * can lie in it is bounded by the number of spare items. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstCvQueue GstCvQueue;

typedef enum {
  GST_CV_POP_ITEM,     /* an item, to be completed */
  GST_CV_POP_EVENT,    /* an event, to be pushed; the caller owns it */
  GST_CV_POP_MARK,     /* a mark: everything before it has been popped */
  GST_CV_POP_DEADLINE, /* nothing, but the deadline has passed (once) */
  GST_CV_POP_STOP,     /* the flow is not GST_FLOW_OK */
} GstCvPop;

/* A new queue is flushing. @free_item: for the spare items */
GstCvQueue *gst_cv_queue_new (GDestroyNotify free_item);
/* Frees the spare items and what is left in it. */
void gst_cv_queue_free (GstCvQueue *queue);

/* GST_FLOW_OK lets it run; anything else ends every wait with that result. */
void gst_cv_queue_set_flow (GstCvQueue *queue, GstFlowReturn flow);
/* Flow that the next item would get: GST_FLOW_EOS after gst_cv_queue_end(). */
GstFlowReturn gst_cv_queue_get_flow (GstCvQueue *queue);
/* For the thread that empties it: @flow, unless it is being flushed.
 * Returns: whether an EOS event waits in it: upstream is through, and no push of
 *   its will meet @flow */
gboolean gst_cv_queue_fail (GstCvQueue *queue, GstFlowReturn flow);
/* GST_FLOW_OK instead of GST_FLOW_NOT_LINKED.
 * Returns: whether that was the flow */
gboolean gst_cv_queue_relink (GstCvQueue *queue);

/* For the thread that empties it: downstream took the last one for the end
 * (GST_FLOW_EOS). No items are given from now on, but events go their way: the
 * next STREAM_START, SEGMENT or EOS undoes it, wherever it is by now. */
void gst_cv_queue_end (GstCvQueue *queue);
/* Whether what was popped is of no use to downstream. */
gboolean gst_cv_queue_has_ended (GstCvQueue *queue);

/* Puts @item among the spare ones. */
void gst_cv_queue_give (GstCvQueue *queue, gpointer item);
/* Waits for a spare item. */
GstFlowReturn gst_cv_queue_take (GstCvQueue *queue, gpointer *item);
/* Frees the spare items, before others of another size are given. */
void gst_cv_queue_free_spare (GstCvQueue *queue);

/* All fail, and leave the argument with the caller, when the flow is not OK.
 * An item ends the deadline: it was that of the item. */
GstFlowReturn gst_cv_queue_push_item (GstCvQueue *queue, gpointer item);
GstFlowReturn gst_cv_queue_push_event (GstCvQueue *queue, GstEvent *event);
GstFlowReturn gst_cv_queue_push_mark (GstCvQueue *queue);

/* @end_time: of g_get_monotonic_time(), when pop is to return although nothing
 * has come */
void gst_cv_queue_set_deadline (GstCvQueue *queue, gint64 end_time);

/* pop() looks for something to come for @us microseconds before it sleeps. */
void gst_cv_queue_set_spin (GstCvQueue *queue, guint us);

/* For the one thread that empties it. The result of the previous pop counts as
 * done when the next one is called. */
GstCvPop gst_cv_queue_pop (GstCvQueue *queue, gpointer *item, GstEvent **event);

/* Waits until all that was pushed is done. */
GstFlowReturn gst_cv_queue_wait_idle (GstCvQueue *queue);

/* Forgets items (they belong to whoever computes) and drops events likewise. */
void gst_cv_queue_discard (GstCvQueue *queue, GstPad *pad);
/* Drops @event, which will not be pushed, and takes it. A sticky one other than
 * EOS and SEGMENT is stored on @pad (if not %NULL), as a flush keeps it. */
void gst_cv_queue_drop_event (GstEvent *event, GstPad *pad);

G_END_DECLS
