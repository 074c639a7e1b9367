/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisrequestpad.h"

#include <gst/base/gstqueuearray.h>

struct _GstCvisRequestPad {
  GstPad parent;

  GMutex lock; /* guards the fields below; held for short times only */
  GCond changed;
  GstQueueArray *queue; /* of GstMiniObject */
  guint n_buffers;      /* in the queue */
  gsize n_bytes;
  guint lacks;        /* GstCvisLacks */
  GstFlowReturn flow; /* of the last push that left the queue */
  gboolean unlinked;  /* the last push was dropped: the pad is not linked */
  gboolean known;     /* the flow was read since it changed */
  gboolean active;
};

G_DEFINE_FINAL_TYPE (GstCvisRequestPad, gst_cvis_request_pad, GST_TYPE_PAD);

/* --- the queue; call with the lock held ------------------------------------- */

static void
count_object (GstMiniObject *object, guint *n_buffers, gsize *n_bytes)
{
  *n_buffers = 0;
  *n_bytes = 0;
  if (GST_IS_BUFFER (object)) {
    *n_buffers = 1;
    *n_bytes = gst_buffer_get_size (GST_BUFFER_CAST (object));
  } else if (GST_IS_BUFFER_LIST (object)) {
    *n_buffers = gst_buffer_list_length (GST_BUFFER_LIST_CAST (object));
    *n_bytes = gst_buffer_list_calculate_size (GST_BUFFER_LIST_CAST (object));
  }
}

static void
queue_object (GstCvisRequestPad *pad, GstMiniObject *object)
{
  guint n_buffers;
  gsize n_bytes;

  count_object (object, &n_buffers, &n_bytes);
  pad->n_buffers += n_buffers;
  pad->n_bytes += n_bytes;
  gst_queue_array_push_tail (pad->queue, object);
  g_cond_broadcast (&pad->changed);
}

static GstMiniObject *
unqueue_object (GstCvisRequestPad *pad)
{
  GstMiniObject *object = gst_queue_array_pop_head (pad->queue);
  guint n_buffers;
  gsize n_bytes;

  if (object == NULL)
    return NULL;
  count_object (object, &n_buffers, &n_bytes);
  pad->n_buffers -= n_buffers;
  pad->n_bytes -= n_bytes;
  g_cond_broadcast (&pad->changed);
  return object;
}

static gboolean
is_full (GstCvisRequestPad *pad)
{
  return pad->n_buffers >= GST_CVIS_REQUEST_PAD_MAX_BUFFERS
         || pad->n_bytes >= GST_CVIS_REQUEST_PAD_MAX_BYTES;
}

static GstCvisLacks
get_lack (GstMiniObject *object)
{
  if (!GST_IS_EVENT (object))
    return 0;
  switch (GST_EVENT_TYPE (object)) {
    case GST_EVENT_STREAM_START:
      return GST_CVIS_LACKS_START;
    case GST_EVENT_CAPS:
      return GST_CVIS_LACKS_CAPS;
    case GST_EVENT_SEGMENT:
      return GST_CVIS_LACKS_SEGMENT;
    default:
      return 0;
  }
}

static void
drop_object (GstCvisRequestPad *pad, GstMiniObject *object)
{
  pad->lacks |= get_lack (object);
  gst_mini_object_unref (object);
}

static void
drop_all (GstCvisRequestPad *pad)
{
  GstMiniObject *object;

  while ((object = unqueue_object (pad)) != NULL)
    drop_object (pad, object);
}

static gboolean
has_event (GstCvisRequestPad *pad, GstEventType type)
{
  for (guint i = 0; i < gst_queue_array_get_length (pad->queue); i++) {
    GstMiniObject *object = gst_queue_array_peek_nth (pad->queue, i);

    if (GST_IS_EVENT (object) && GST_EVENT_TYPE (object) == type)
      return TRUE;
  }
  return FALSE;
}

/* --- flow; call with the lock held ------------------------------------------- */

/* Whether @flow ends pushing for good. */
static gboolean
is_fatal (GstFlowReturn flow)
{
  return flow == GST_FLOW_FLUSHING || flow < GST_FLOW_EOS;
}

/* Whether an error has to be posted here: after EOS nobody reads the flow, and
 * downstream posts all errors except those of caps that it refused. */
static gboolean
is_unheard (GstCvisRequestPad *pad)
{
  return pad->flow == GST_FLOW_NOT_NEGOTIATED && !pad->known;
}

static void
post_unheard (GstCvisRequestPad *pad)
{
  GstElement *element = gst_pad_get_parent_element (GST_PAD (pad));

  if (element == NULL)
    return;
  GST_ELEMENT_FLOW_ERROR (element, GST_FLOW_NOT_NEGOTIATED);
  gst_object_unref (element);
}

/* Sets the flow of a push. GST_FLOW_EOS is ignored if the queue holds the beginning
 * of the next stream.
 * Returns: whether to post an error */
static gboolean
set_flow (GstCvisRequestPad *pad, GstFlowReturn flow)
{
  if (is_fatal (pad->flow)
      || (flow == GST_FLOW_EOS
          && (has_event (pad, GST_EVENT_STREAM_START)
              || has_event (pad, GST_EVENT_SEGMENT))))
    return FALSE;
  if (pad->flow != flow)
    pad->known = FALSE;
  pad->flow = flow;
  return is_unheard (pad) && has_event (pad, GST_EVENT_EOS);
}

/* --- the task ------------------------------------------------------------------ */

/* @drop: (out): whether not to push the object
 * Returns: (transfer full): the first object of the queue; %NULL if it flushes */
static GstMiniObject *
pop_object (GstCvisRequestPad *pad, gboolean *drop)
{
  GstMiniObject *object = NULL;

  g_mutex_lock (&pad->lock);
  while (
      pad->flow != GST_FLOW_FLUSHING && gst_queue_array_is_empty (pad->queue))
    g_cond_wait (&pad->changed, &pad->lock);
  if (pad->flow != GST_FLOW_FLUSHING)
    object = unqueue_object (pad);
  *drop = is_fatal (pad->flow);
  g_mutex_unlock (&pad->lock);
  return object;
}

static void
push_buffers (GstCvisRequestPad *pad, GstMiniObject *object)
{
  GstFlowReturn flow;
  gboolean post;

  if (GST_IS_BUFFER (object))
    flow = gst_pad_push (GST_PAD (pad), GST_BUFFER_CAST (object));
  else
    flow = gst_pad_push_list (GST_PAD (pad), GST_BUFFER_LIST_CAST (object));
  g_mutex_lock (&pad->lock);
  post = set_flow (pad, flow);
  g_mutex_unlock (&pad->lock);
  if (post)
    post_unheard (pad);
}

/* GStreamer never repeats EOS that was pushed on a pad without a peer. So it is not
 * pushed there; the filter repeats it when the pad is linked. */
static void
push_event (GstCvisRequestPad *pad, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS
      && !gst_pad_is_linked (GST_PAD (pad)))
    gst_event_unref (event);
  else
    gst_pad_push_event (GST_PAD (pad), event);
}

static void
request_pad_loop (gpointer user_data)
{
  GstCvisRequestPad *pad = user_data;
  gboolean drop;
  GstMiniObject *object = pop_object (pad, &drop);

  if (object == NULL)
    gst_pad_pause_task (GST_PAD (pad));
  else if (GST_IS_EVENT (object))
    push_event (pad, GST_EVENT_CAST (object));
  else if (drop)
    gst_mini_object_unref (object);
  else
    push_buffers (pad, object);
}

/* Call with the lock held: "the flow is OK and the task runs" is one step, and
 * only while the pad is active. */
static gboolean
start_task (GstCvisRequestPad *pad)
{
  pad->flow = GST_FLOW_OK;
  pad->unlinked = FALSE;
  return gst_pad_start_task (GST_PAD (pad), request_pad_loop, pad, NULL);
}

static gboolean
activate_mode (GstPad *gst_pad, GstObject *parent, GstPadMode mode, gboolean on)
{
  GstCvisRequestPad *pad = GST_CVIS_REQUEST_PAD (gst_pad);
  gboolean ok = TRUE;

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  g_mutex_lock (&pad->lock);
  pad->active = on;
  if (on)
    ok = start_task (pad);
  g_mutex_unlock (&pad->lock);
  if (on)
    return ok;
  gst_cvis_request_pad_set_flushing (pad);
  ok = gst_pad_stop_task (gst_pad);
  g_mutex_lock (&pad->lock);
  drop_all (pad);
  pad->lacks = GST_CVIS_LACKS_ALL;
  g_mutex_unlock (&pad->lock);
  return ok;
}

/* --- for the thread that pushes ------------------------------------------------ */

void
gst_cvis_request_pad_add_lacks (GstCvisRequestPad *pad, GstCvisLacks lacks)
{
  g_mutex_lock (&pad->lock);
  pad->lacks |= lacks;
  g_mutex_unlock (&pad->lock);
}

GstCvisLacks
gst_cvis_request_pad_take_lacks (GstCvisRequestPad *pad)
{
  GstCvisLacks lacks;

  g_mutex_lock (&pad->lock);
  lacks = pad->lacks;
  pad->lacks = 0;
  g_mutex_unlock (&pad->lock);
  return lacks;
}

void
gst_cvis_request_pad_push_event (GstCvisRequestPad *pad, GstEvent *event)
{
  const GstEventType type = GST_EVENT_TYPE (event);
  gboolean post = FALSE;

  g_mutex_lock (&pad->lock);
  if (pad->flow == GST_FLOW_FLUSHING) {
    drop_object (pad, GST_MINI_OBJECT_CAST (event));
  } else {
    if (pad->flow == GST_FLOW_EOS
        && (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT))
      pad->flow = GST_FLOW_OK;
    post = type == GST_EVENT_EOS && is_unheard (pad);
    queue_object (pad, GST_MINI_OBJECT_CAST (event));
  }
  g_mutex_unlock (&pad->lock);
  if (post)
    post_unheard (pad);
}

void
gst_cvis_request_pad_push (GstCvisRequestPad *pad, GstMiniObject *object)
{
  const gboolean linked = gst_pad_is_linked (GST_PAD (pad));

  g_mutex_lock (&pad->lock);
  pad->unlinked = !linked;
  while (linked && pad->flow != GST_FLOW_FLUSHING && is_full (pad))
    g_cond_wait (&pad->changed, &pad->lock);
  if (linked && pad->flow != GST_FLOW_FLUSHING)
    queue_object (pad, object);
  else
    drop_object (pad, object);
  g_mutex_unlock (&pad->lock);
}

GstFlowReturn
gst_cvis_request_pad_get_flow (GstCvisRequestPad *pad)
{
  GstFlowReturn flow;

  g_mutex_lock (&pad->lock);
  flow = pad->flow;
  /* a pad that flushes as it is being requested or released is no failure */
  if (!pad->active || !gst_pad_is_active (GST_PAD (pad))
      || (pad->unlinked && !is_fatal (flow)))
    flow = GST_FLOW_NOT_LINKED;
  pad->known = TRUE;
  g_mutex_unlock (&pad->lock);
  return flow;
}

/* --- flushing -------------------------------------------------------------------- */

void
gst_cvis_request_pad_set_flushing (GstCvisRequestPad *pad)
{
  g_mutex_lock (&pad->lock);
  pad->flow = GST_FLOW_FLUSHING;
  g_cond_broadcast (&pad->changed);
  g_mutex_unlock (&pad->lock);
}

void
gst_cvis_request_pad_stop_flushing (GstCvisRequestPad *pad, GstEvent *event)
{
  gst_cvis_request_pad_set_flushing (pad);
  gst_pad_pause_task (GST_PAD (pad));
  g_mutex_lock (&pad->lock);
  drop_all (pad);
  g_mutex_unlock (&pad->lock);
  if (event != NULL)
    gst_pad_push_event (GST_PAD (pad), gst_event_ref (event));
  g_mutex_lock (&pad->lock);
  if (pad->active)
    start_task (pad);
  g_mutex_unlock (&pad->lock);
}

/* --- object ------------------------------------------------------------------------ */

static void
gst_cvis_request_pad_finalize (GObject *object)
{
  GstCvisRequestPad *pad = GST_CVIS_REQUEST_PAD (object);

  drop_all (pad);
  gst_queue_array_free (pad->queue);
  g_cond_clear (&pad->changed);
  g_mutex_clear (&pad->lock);
  G_OBJECT_CLASS (gst_cvis_request_pad_parent_class)->finalize (object);
}

static void
gst_cvis_request_pad_class_init (GstCvisRequestPadClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_cvis_request_pad_finalize;
}

static void
gst_cvis_request_pad_init (GstCvisRequestPad *pad)
{
  g_mutex_init (&pad->lock);
  g_cond_init (&pad->changed);
  pad->queue = gst_queue_array_new (16);
  pad->lacks = GST_CVIS_LACKS_ALL;
  pad->flow = GST_FLOW_FLUSHING;
  gst_pad_set_activatemode_function (GST_PAD (pad), activate_mode);
}

GstPad *
gst_cvis_request_pad_new (GstPadTemplate *template)
{
  return g_object_new (GST_TYPE_CVIS_REQUEST_PAD, "name",
      GST_PAD_TEMPLATE_NAME_TEMPLATE (template), "direction",
      GST_PAD_TEMPLATE_DIRECTION (template), "template", template, NULL);
}
