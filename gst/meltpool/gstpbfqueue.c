/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfqueue.h"

#include <gst/base/gstqueuearray.h>

/* exactly one of the two is set */
typedef struct {
  GstPbfBatch *batch;
  GstEvent *event;
} Entry;

struct _GstPbfQueue {
  GMutex lock;
  GCond changed;
  GstQueueArray *entries; /* of Entry */
  GPtrArray *spare;       /* of GstPbfBatch */
  GstFlowReturn flow;
  gint64 deadline; /* -1: none */
  gboolean busy;   /* what was popped last is not done */
};

GstPbfQueue *
gst_pbf_queue_new (void)
{
  GstPbfQueue *queue = g_new0 (GstPbfQueue, 1);

  g_mutex_init (&queue->lock);
  g_cond_init (&queue->changed);
  queue->entries = gst_queue_array_new_for_struct (sizeof (Entry), 16);
  queue->spare =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_pbf_batch_free);
  queue->flow = GST_FLOW_FLUSHING;
  queue->deadline = -1;
  return queue;
}

void
gst_pbf_queue_free (GstPbfQueue *queue)
{
  gst_pbf_queue_discard (queue, NULL);
  gst_queue_array_free (queue->entries);
  g_ptr_array_unref (queue->spare);
  g_cond_clear (&queue->changed);
  g_mutex_clear (&queue->lock);
  g_free (queue);
}

void
gst_pbf_queue_set_flow (GstPbfQueue *queue, GstFlowReturn flow)
{
  g_mutex_lock (&queue->lock);
  queue->flow = flow;
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}

GstFlowReturn
gst_pbf_queue_get_flow (GstPbfQueue *queue)
{
  GstFlowReturn flow;

  g_mutex_lock (&queue->lock);
  flow = queue->flow;
  g_mutex_unlock (&queue->lock);
  return flow;
}

void
gst_pbf_queue_give (GstPbfQueue *queue, GstPbfBatch *batch)
{
  g_mutex_lock (&queue->lock);
  g_ptr_array_add (queue->spare, batch);
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}

GstFlowReturn
gst_pbf_queue_take (GstPbfQueue *queue, GstPbfBatch **batch)
{
  GstFlowReturn flow;

  g_mutex_lock (&queue->lock);
  while (queue->spare->len == 0 && queue->flow == GST_FLOW_OK)
    g_cond_wait (&queue->changed, &queue->lock);
  flow = queue->flow;
  if (flow == GST_FLOW_OK)
    *batch = g_ptr_array_steal_index_fast (queue->spare, queue->spare->len - 1);
  g_mutex_unlock (&queue->lock);
  return flow;
}

void
gst_pbf_queue_free_spare (GstPbfQueue *queue)
{
  g_mutex_lock (&queue->lock);
  g_ptr_array_set_size (queue->spare, 0);
  g_mutex_unlock (&queue->lock);
}

static GstFlowReturn
push (GstPbfQueue *queue, GstPbfBatch *batch, GstEvent *event)
{
  Entry entry = { batch, event };
  GstFlowReturn flow;

  g_mutex_lock (&queue->lock);
  flow = queue->flow;
  if (flow == GST_FLOW_OK) {
    if (batch != NULL)
      queue->deadline = -1;
    gst_queue_array_push_tail_struct (queue->entries, &entry);
    g_cond_broadcast (&queue->changed);
  }
  g_mutex_unlock (&queue->lock);
  return flow;
}

GstFlowReturn
gst_pbf_queue_push_batch (GstPbfQueue *queue, GstPbfBatch *batch)
{
  return push (queue, batch, NULL);
}

GstFlowReturn
gst_pbf_queue_push_event (GstPbfQueue *queue, GstEvent *event)
{
  return push (queue, NULL, event);
}

void
gst_pbf_queue_set_deadline (GstPbfQueue *queue, gint64 end_time)
{
  g_mutex_lock (&queue->lock);
  queue->deadline = end_time;
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}

/* call with the lock held; FALSE when the deadline has passed */
static gboolean
wait_for_entry (GstPbfQueue *queue)
{
  while (
      queue->flow == GST_FLOW_OK && gst_queue_array_is_empty (queue->entries)) {
    if (queue->deadline < 0) {
      g_cond_wait (&queue->changed, &queue->lock);
    } else if (g_get_monotonic_time () >= queue->deadline) {
      queue->deadline = -1;
      return FALSE;
    } else {
      g_cond_wait_until (&queue->changed, &queue->lock, queue->deadline);
    }
  }
  return TRUE;
}

GstPbfPop
gst_pbf_queue_pop (GstPbfQueue *queue, GstPbfBatch **batch, GstEvent **event)
{
  GstPbfPop pop = GST_PBF_POP_DEADLINE;

  g_mutex_lock (&queue->lock);
  if (queue->busy) {
    queue->busy = FALSE;
    g_cond_broadcast (&queue->changed);
  }
  if (wait_for_entry (queue)) {
    if (queue->flow != GST_FLOW_OK) {
      pop = GST_PBF_POP_STOP;
    } else {
      Entry *entry = gst_queue_array_pop_head_struct (queue->entries);
      pop = entry->event != NULL ? GST_PBF_POP_EVENT : GST_PBF_POP_BATCH;
      *batch = entry->batch;
      *event = entry->event;
    }
  }
  queue->busy = pop != GST_PBF_POP_STOP;
  g_mutex_unlock (&queue->lock);
  return pop;
}

GstFlowReturn
gst_pbf_queue_wait_idle (GstPbfQueue *queue)
{
  GstFlowReturn flow;

  g_mutex_lock (&queue->lock);
  while (queue->flow == GST_FLOW_OK
         && (queue->busy || !gst_queue_array_is_empty (queue->entries)))
    g_cond_wait (&queue->changed, &queue->lock);
  flow = queue->flow;
  g_mutex_unlock (&queue->lock);
  return flow;
}

gboolean
gst_pbf_queue_has_eos (GstPbfQueue *queue)
{
  gboolean found = FALSE;

  g_mutex_lock (&queue->lock);
  for (guint i = 0; i < gst_queue_array_get_length (queue->entries); i++) {
    Entry *entry = gst_queue_array_peek_nth_struct (queue->entries, i);
    if (entry->event != NULL && GST_EVENT_TYPE (entry->event) == GST_EVENT_EOS)
      found = TRUE;
  }
  g_mutex_unlock (&queue->lock);
  return found;
}

void
gst_pbf_queue_discard (GstPbfQueue *queue, GstPad *pad)
{
  Entry *entry;

  g_mutex_lock (&queue->lock);
  while ((entry = gst_queue_array_pop_head_struct (queue->entries)) != NULL) {
    GstEvent *event = entry->event;

    if (event == NULL)
      continue;
    if (pad != NULL && GST_EVENT_IS_STICKY (event)
        && GST_EVENT_TYPE (event) != GST_EVENT_EOS
        && GST_EVENT_TYPE (event) != GST_EVENT_SEGMENT)
      gst_pad_store_sticky_event (pad, event);
    gst_event_unref (event);
  }
  queue->deadline = -1;
  queue->busy = FALSE;
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}
