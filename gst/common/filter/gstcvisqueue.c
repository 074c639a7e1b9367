/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisqueue.h"

#include <gst/base/gstqueuearray.h>

#include "cuda/core/spin.h"

/* One of the two is set; neither: a mark.
 * @object: an event, or a frame that passes */
typedef struct {
  gpointer item;
  GstMiniObject *object;
} Entry;

struct _GstCvisQueue {
  GMutex lock;
  GCond changed;
  GstQueueArray *entries; /* of Entry */
  GPtrArray *spare;       /* of items */
  GstFlowReturn flow;
  gint64 deadline;   /* -1: none */
  gboolean busy;     /* the last entry popped is not done */
  gboolean ended;    /* at the output: downstream is at EOS */
  gboolean refusing; /* at the input: items are refused with EOS */
  guint spin_us;     /* how long pop() looks for changes before it sleeps */
  gint changes;      /* atomic; counts entries, deadlines and flows */
};

/* Call with the lock held. Wakes pop() and all who wait for it. */
static void
announce_change (GstCvisQueue *queue)
{
  g_atomic_int_inc (&queue->changes);
  g_cond_broadcast (&queue->changed);
}

/* The type of @object (nullable) if it is an event */
static GstEventType
get_event_type (GstMiniObject *object)
{
  return object != NULL && GST_IS_EVENT (object) ? GST_EVENT_TYPE (object)
                                                 : GST_EVENT_UNKNOWN;
}

/* Whether downstream accepts buffers after @object, an event, or is at EOS with it. */
static gboolean
is_turning_point (GstMiniObject *object)
{
  const GstEventType type = get_event_type (object);

  return type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT
         || type == GST_EVENT_EOS;
}

GstCvisQueue *
gst_cvis_queue_new (GDestroyNotify free_item)
{
  GstCvisQueue *queue = g_new0 (GstCvisQueue, 1);

  g_mutex_init (&queue->lock);
  g_cond_init (&queue->changed);
  queue->entries = gst_queue_array_new_for_struct (sizeof (Entry), 16);
  queue->spare = g_ptr_array_new_with_free_func (free_item);
  queue->flow = GST_FLOW_FLUSHING;
  queue->deadline = -1;
  return queue;
}

void
gst_cvis_queue_free (GstCvisQueue *queue)
{
  gst_cvis_queue_discard (queue, NULL);
  gst_queue_array_free (queue->entries);
  g_ptr_array_unref (queue->spare);
  g_cond_clear (&queue->changed);
  g_mutex_clear (&queue->lock);
  g_free (queue);
}

void
gst_cvis_queue_set_flow (GstCvisQueue *queue, GstFlowReturn flow)
{
  g_mutex_lock (&queue->lock);
  queue->flow = flow;
  queue->ended = queue->refusing = FALSE;
  announce_change (queue);
  g_mutex_unlock (&queue->lock);
}

/* call with the lock held */
static gboolean
replace_flow (GstCvisQueue *queue, GstFlowReturn from, GstFlowReturn to)
{
  if (queue->flow != from)
    return FALSE;
  queue->flow = to;
  announce_change (queue);
  return TRUE;
}

/* call with the lock held */
static gboolean
has_eos (GstCvisQueue *queue)
{
  for (guint i = 0; i < gst_queue_array_get_length (queue->entries); i++) {
    Entry *entry = gst_queue_array_peek_nth_struct (queue->entries, i);

    if (get_event_type (entry->object) == GST_EVENT_EOS)
      return TRUE;
  }
  return FALSE;
}

gboolean
gst_cvis_queue_fail (GstCvisQueue *queue, GstFlowReturn flow)
{
  gboolean through;

  g_mutex_lock (&queue->lock);
  replace_flow (queue, GST_FLOW_OK, flow);
  through = has_eos (queue);
  g_mutex_unlock (&queue->lock);
  return through;
}

gboolean
gst_cvis_queue_relink (GstCvisQueue *queue)
{
  gboolean relinked;

  g_mutex_lock (&queue->lock);
  relinked = replace_flow (queue, GST_FLOW_NOT_LINKED, GST_FLOW_OK);
  g_mutex_unlock (&queue->lock);
  return relinked;
}

/* Call with the lock held. The flow that an item gets. */
static GstFlowReturn
item_flow (GstCvisQueue *queue)
{
  return queue->flow == GST_FLOW_OK && queue->refusing ? GST_FLOW_EOS
                                                       : queue->flow;
}

GstFlowReturn
gst_cvis_queue_get_flow (GstCvisQueue *queue)
{
  GstFlowReturn flow;

  g_mutex_lock (&queue->lock);
  flow = item_flow (queue);
  g_mutex_unlock (&queue->lock);
  return flow;
}

/* --- downstream is at EOS -------------------------------------------------- */

void
gst_cvis_queue_end (GstCvisQueue *queue)
{
  g_mutex_lock (&queue->lock);
  queue->ended = queue->refusing = TRUE;
  for (guint i = 0; i < gst_queue_array_get_length (queue->entries); i++) {
    Entry *entry = gst_queue_array_peek_nth_struct (queue->entries, i);

    if (is_turning_point (entry->object))
      queue->refusing = FALSE;
  }
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}

gboolean
gst_cvis_queue_has_ended (GstCvisQueue *queue)
{
  gboolean ended;

  g_mutex_lock (&queue->lock);
  ended = queue->ended;
  g_mutex_unlock (&queue->lock);
  return ended;
}

/* --- spare items ----------------------------------------------------------- */

void
gst_cvis_queue_give (GstCvisQueue *queue, gpointer item)
{
  g_mutex_lock (&queue->lock);
  g_ptr_array_add (queue->spare, item);
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}

GstFlowReturn
gst_cvis_queue_take (GstCvisQueue *queue, gpointer *item)
{
  GstFlowReturn flow;

  g_mutex_lock (&queue->lock);
  while (queue->spare->len == 0 && item_flow (queue) == GST_FLOW_OK)
    g_cond_wait (&queue->changed, &queue->lock);
  flow = item_flow (queue);
  if (flow == GST_FLOW_OK)
    *item = g_ptr_array_steal_index_fast (queue->spare, queue->spare->len - 1);
  g_mutex_unlock (&queue->lock);
  return flow;
}

void
gst_cvis_queue_free_spare (GstCvisQueue *queue)
{
  g_mutex_lock (&queue->lock);
  g_ptr_array_set_size (queue->spare, 0);
  g_mutex_unlock (&queue->lock);
}

/* --- in and out ------------------------------------------------------------ */

/* An item, which the engine has, keeps its place although nothing is linked: when something
 * is, the task goes on. */
static GstFlowReturn
push (GstCvisQueue *queue, gpointer item, GstMiniObject *object)
{
  Entry entry = { item, object };
  GstFlowReturn flow;

  g_mutex_lock (&queue->lock);
  flow = queue->flow;
  if (flow == GST_FLOW_OK || (item != NULL && flow == GST_FLOW_NOT_LINKED)) {
    if (item != NULL)
      queue->deadline = -1;
    if (is_turning_point (object))
      queue->refusing = FALSE;
    gst_queue_array_push_tail_struct (queue->entries, &entry);
    announce_change (queue);
  }
  g_mutex_unlock (&queue->lock);
  return flow;
}

GstFlowReturn
gst_cvis_queue_push_item (GstCvisQueue *queue, gpointer item)
{
  return push (queue, item, NULL);
}

GstFlowReturn
gst_cvis_queue_push_event (GstCvisQueue *queue, GstEvent *event)
{
  return push (queue, NULL, GST_MINI_OBJECT_CAST (event));
}

GstFlowReturn
gst_cvis_queue_push_frame (GstCvisQueue *queue, GstMiniObject *frame)
{
  return push (queue, NULL, frame);
}

GstFlowReturn
gst_cvis_queue_push_mark (GstCvisQueue *queue)
{
  return push (queue, NULL, NULL);
}

void
gst_cvis_queue_set_deadline (GstCvisQueue *queue, gint64 end_time)
{
  g_mutex_lock (&queue->lock);
  queue->deadline = end_time;
  announce_change (queue);
  g_mutex_unlock (&queue->lock);
}

void
gst_cvis_queue_set_spin (GstCvisQueue *queue, guint us)
{
  g_mutex_lock (&queue->lock);
  queue->spin_us = us;
  g_mutex_unlock (&queue->lock);
}

/* The entry popped last is done.
 * @changes: (out): those so far
 * Returns: for how long to look for changes before sleeping, us */
static guint
end_entry (GstCvisQueue *queue, gint *changes)
{
  guint spin_us = 0;

  g_mutex_lock (&queue->lock);
  if (queue->busy) {
    queue->busy = FALSE;
    g_cond_broadcast (&queue->changed);
  }
  if (queue->flow == GST_FLOW_OK && gst_queue_array_is_empty (queue->entries)
      && queue->deadline < 0)
    spin_us = queue->spin_us;
  *changes = g_atomic_int_get (&queue->changes);
  g_mutex_unlock (&queue->lock);
  return spin_us;
}

/* Looks for changes after those @before for @spin_us microseconds. */
static void
spin_for_change (GstCvisQueue *queue, gint before, guint spin_us)
{
  const gint64 end = g_get_monotonic_time () + spin_us;

  while (g_atomic_int_get (&queue->changes) == before
         && g_get_monotonic_time () < end)
    cvis_cpu_pause ();
}

/* Call with the lock held. Returns: FALSE when the deadline has passed. */
static gboolean
wait_for_entry (GstCvisQueue *queue)
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

static GstCvisPop
get_pop (const Entry *entry)
{
  if (entry->item != NULL)
    return GST_CVIS_POP_ITEM;
  if (entry->object == NULL)
    return GST_CVIS_POP_MARK;
  return GST_IS_EVENT (entry->object) ? GST_CVIS_POP_EVENT : GST_CVIS_POP_FRAME;
}

GstCvisPop
gst_cvis_queue_pop (GstCvisQueue *queue, gpointer *item, GstMiniObject **object)
{
  GstCvisPop pop = GST_CVIS_POP_DEADLINE;
  gint changes;
  const guint spin_us = end_entry (queue, &changes);

  if (spin_us > 0)
    spin_for_change (queue, changes, spin_us);
  g_mutex_lock (&queue->lock);
  if (wait_for_entry (queue)) {
    if (queue->flow != GST_FLOW_OK) {
      pop = GST_CVIS_POP_STOP;
    } else {
      Entry *entry = gst_queue_array_pop_head_struct (queue->entries);
      pop = get_pop (entry);
      *item = entry->item;
      *object = entry->object;
      if (is_turning_point (entry->object))
        queue->ended = FALSE;
    }
  }
  queue->busy = pop != GST_CVIS_POP_STOP;
  g_mutex_unlock (&queue->lock);
  return pop;
}

GstFlowReturn
gst_cvis_queue_wait_idle (GstCvisQueue *queue)
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

void
gst_cvis_queue_drop (GstMiniObject *object, GstPad *pad)
{
  const GstEventType type = get_event_type (object);

  if (pad != NULL && type & GST_EVENT_TYPE_STICKY && type != GST_EVENT_EOS
      && type != GST_EVENT_SEGMENT)
    gst_pad_store_sticky_event (pad, GST_EVENT_CAST (object));
  gst_mini_object_unref (object);
}

void
gst_cvis_queue_discard (GstCvisQueue *queue, GstPad *pad)
{
  Entry *entry;

  g_mutex_lock (&queue->lock);
  while ((entry = gst_queue_array_pop_head_struct (queue->entries)) != NULL) {
    if (entry->object != NULL)
      gst_cvis_queue_drop (entry->object, pad);
  }
  queue->deadline = -1;
  queue->busy = FALSE;
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}
