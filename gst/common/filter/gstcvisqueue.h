/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Queue between upstream's thread and the source pad's task: submitted items, events and
 * frames that pass, in the order in which they leave, and the spare items. An item is a
 * struct of the element. Pushing never waits: the number of items bounds the
 * length of the queue. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstCvisQueue GstCvisQueue;

typedef enum {
  GST_CVIS_POP_ITEM,     /* an item, to be completed */
  GST_CVIS_POP_EVENT,    /* an event, to be pushed; the caller owns it */
  GST_CVIS_POP_FRAME,    /* a frame that passes, to be pushed; the same */
  GST_CVIS_POP_MARK,     /* a mark: everything before it has been popped */
  GST_CVIS_POP_DEADLINE, /* the deadline has passed (reported once) */
  GST_CVIS_POP_STOP,     /* the flow is not GST_FLOW_OK */
} GstCvisPop;

/* A new queue is flushing. @free_item: for the spare items */
GstCvisQueue *gst_cvis_queue_new (GDestroyNotify free_item);
/* Frees the spare items and what is left in it. */
void gst_cvis_queue_free (GstCvisQueue *queue);

/* Any flow other than GST_FLOW_OK ends every wait with that result. */
void gst_cvis_queue_set_flow (GstCvisQueue *queue, GstFlowReturn flow);
/* Flow that the next item would get: GST_FLOW_EOS after gst_cvis_queue_end(). */
GstFlowReturn gst_cvis_queue_get_flow (GstCvisQueue *queue);
/* For the thread that empties it: sets @flow unless the queue is flushing.
 * Returns: whether an EOS event waits in the queue: then upstream pushes no more
 *   and never gets @flow */
gboolean gst_cvis_queue_fail (GstCvisQueue *queue, GstFlowReturn flow);
/* Sets the flow to GST_FLOW_OK if it is GST_FLOW_NOT_LINKED.
 * Returns: whether it was */
gboolean gst_cvis_queue_relink (GstCvisQueue *queue);

/* For the thread that empties it: downstream returned GST_FLOW_EOS. From now on
 * items are refused; events pass, and the next STREAM_START, SEGMENT or EOS, also
 * one that waits in the queue, lets items in again. */
void gst_cvis_queue_end (GstCvisQueue *queue);
/* Whether downstream is at EOS for the item popped last. */
gboolean gst_cvis_queue_has_ended (GstCvisQueue *queue);

/* Puts @item among the spare ones. */
void gst_cvis_queue_give (GstCvisQueue *queue, gpointer item);
/* Waits for a spare item. */
GstFlowReturn gst_cvis_queue_take (GstCvisQueue *queue, gpointer *item);
/* Frees the spare items, before items of another size are given. */
void gst_cvis_queue_free_spare (GstCvisQueue *queue);

/* These fail when the flow is not OK; the caller then keeps the argument, but not an item
 * with GST_FLOW_NOT_LINKED, after which the queue may go on (gst_cvis_queue_relink()).
 * Pushing an item clears the deadline, which was set for that item. */
GstFlowReturn gst_cvis_queue_push_item (GstCvisQueue *queue, gpointer item);
GstFlowReturn gst_cvis_queue_push_event (GstCvisQueue *queue, GstEvent *event);
GstFlowReturn gst_cvis_queue_push_mark (GstCvisQueue *queue);
/* @frame: a buffer or list that the element leaves as it is */
GstFlowReturn gst_cvis_queue_push_frame (
    GstCvisQueue *queue, GstMiniObject *frame);

/* @end_time: time (g_get_monotonic_time()) at which pop() returns even if the queue
 * is empty */
void gst_cvis_queue_set_deadline (GstCvisQueue *queue, gint64 end_time);

/* pop() polls for @us microseconds before it sleeps. */
void gst_cvis_queue_set_spin (GstCvisQueue *queue, guint us);

/* For the one thread that empties it. The result of the previous pop counts as
 * done when the next one is called. */
GstCvisPop gst_cvis_queue_pop (
    GstCvisQueue *queue, gpointer *item, GstMiniObject **object);

/* Waits until all that was pushed is done. */
GstFlowReturn gst_cvis_queue_wait_idle (GstCvisQueue *queue);

/* Removes all entries: forgets the items, which the caller owns, and drops the
 * events and frames as gst_cvis_queue_drop() does. */
void gst_cvis_queue_discard (GstCvisQueue *queue, GstPad *pad);
/* Takes @object, which is not pushed. A sticky event other than EOS and SEGMENT is
 * stored on @pad (if not %NULL), as a flush keeps it. */
void gst_cvis_queue_drop (GstMiniObject *object, GstPad *pad);

G_END_DECLS
