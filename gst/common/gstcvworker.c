/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvworker.h"

struct _GstCvWorker {
  GstElement *element;
  GstPad *srcpad;
  GstCvQueue *queue;
  const GstCvWorkerFuncs *funcs;

  GMutex lock;
  gboolean active; /* the source pad is; under the lock */
};

static GstCvWorker *
get_worker (GstPad *pad)
{
  return gst_pad_get_element_private (pad);
}

/* --- the task -------------------------------------------------------------- */

/* Is it for a flow that upstream would learn from its next push, were there
 * one? */
static gboolean
is_unheard (GstFlowReturn flow)
{
  return flow == GST_FLOW_NOT_LINKED || flow == GST_FLOW_NOT_NEGOTIATED;
}

/* No more can be pushed: upstream learns it from its next push, or from the
 * error here if it has said that there will be none. */
static void
end_task (GstCvWorker *worker, GstFlowReturn flow)
{
  gboolean through;

  GST_DEBUG_OBJECT (worker->element, "stopping: %s", gst_flow_get_name (flow));
  gst_pad_pause_task (worker->srcpad);
  through = gst_cv_queue_fail (worker->queue, flow);
  if (flow == GST_FLOW_FLUSHING)
    return;
  if (through && is_unheard (flow))
    GST_ELEMENT_FLOW_ERROR (worker->element, flow);
  if (through || flow == GST_FLOW_ERROR)
    worker->funcs->push_event (worker->element, gst_event_new_eos ());
}

static void
loop (gpointer user_data)
{
  GstCvWorker *worker = user_data;
  const GstCvWorkerFuncs *funcs = worker->funcs;
  GstFlowReturn flow = GST_FLOW_OK;
  gpointer item;
  GstEvent *event;

  switch (gst_cv_queue_pop (worker->queue, &item, &event)) {
    case GST_CV_POP_ITEM:
      flow = funcs->complete (worker->element, item);
      break;
    case GST_CV_POP_EVENT:
      funcs->push_event (worker->element, event);
      break;
    case GST_CV_POP_MARK:
      if (funcs->mark != NULL)
        flow = funcs->mark (worker->element);
      break;
    case GST_CV_POP_DEADLINE:
      if (funcs->deadline != NULL)
        flow = funcs->deadline (worker->element);
      break;
    case GST_CV_POP_STOP:
      flow = gst_cv_queue_get_flow (worker->queue);
      break;
  }
  if (flow != GST_FLOW_OK)
    end_task (worker, flow);
}

/* call with the lock held and the flow OK */
static gboolean
start_task (GstCvWorker *worker)
{
  return gst_pad_start_task (worker->srcpad, loop, worker, NULL);
}

/* Whatever the flow was. */
static void
begin (GstCvWorker *worker)
{
  g_mutex_lock (&worker->lock);
  if (worker->active) {
    gst_cv_queue_set_flow (worker->queue, GST_FLOW_OK);
    start_task (worker);
  }
  g_mutex_unlock (&worker->lock);
}

/* Downstream was linked (anew): what did not flow may flow now. */
static void
resume (GstCvWorker *worker)
{
  g_mutex_lock (&worker->lock);
  if (worker->active && gst_cv_queue_relink (worker->queue))
    start_task (worker);
  g_mutex_unlock (&worker->lock);
}

/* --- activation ------------------------------------------------------------ */

static gboolean
sink_activate_mode (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstCvWorker *worker = get_worker (pad);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  if (!active) {
    gst_cv_queue_set_flow (worker->queue, GST_FLOW_FLUSHING);
    /* until the upstream thread has left */
    GST_PAD_STREAM_LOCK (pad);
    GST_PAD_STREAM_UNLOCK (pad);
  }
  return TRUE;
}

static gboolean
src_activate_mode (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstCvWorker *worker = get_worker (pad);
  gboolean started = FALSE;

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  g_mutex_lock (&worker->lock);
  worker->active = active;
  gst_cv_queue_set_flow (
      worker->queue, active ? GST_FLOW_OK : GST_FLOW_FLUSHING);
  if (active)
    started = start_task (worker);
  g_mutex_unlock (&worker->lock);
  return active ? started : gst_pad_stop_task (pad);
}

/* --- events ---------------------------------------------------------------- */

static void
flush_start (GstCvWorker *worker, GstEvent *event)
{
  worker->funcs->push_now (worker->element, event);
  gst_pad_push_event (worker->srcpad, event);
  gst_cv_queue_set_flow (worker->queue, GST_FLOW_FLUSHING);
}

static void
flush_stop (GstCvWorker *worker, GstEvent *event)
{
  /* it may come without a FLUSH_START */
  gst_cv_queue_set_flow (worker->queue, GST_FLOW_FLUSHING);
  gst_pad_pause_task (worker->srcpad);
  worker->funcs->flush (worker->element);
  worker->funcs->push_now (worker->element, event);
  gst_pad_push_event (worker->srcpad, event);
  begin (worker);
}

/* Takes @event. */
static gboolean
take_event (
    GstCvWorker *worker, GstPad *pad, GstObject *parent, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      flush_start (worker, event);
      return TRUE;
    case GST_EVENT_FLUSH_STOP:
      flush_stop (worker, event);
      return TRUE;
    case GST_EVENT_INSTANT_RATE_CHANGE:
      /* each sink is to change its rate, or they part */
      worker->funcs->push_now (worker->element, event);
      break;
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return worker->funcs->serialized_event (worker->element, event);
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* An event that the queue refuses because it flushes is no error: upstream would
 * post one, at each shutdown that comes between the two pads. */
static GstFlowReturn
sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstCvWorker *worker = get_worker (pad);
  const gboolean is_caps = GST_EVENT_TYPE (event) == GST_EVENT_CAPS;
  GstFlowReturn flow;

  if (take_event (worker, pad, parent, event))
    return GST_FLOW_OK;
  /* of NOT_LINKED, too, it would take no further notice: the event were lost */
  flow = gst_cv_queue_get_flow (worker->queue);
  if (flow == GST_FLOW_FLUSHING || flow == GST_FLOW_EOS)
    return flow;
  return is_caps ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_ERROR;
}

gboolean
gst_cv_worker_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_QOS:
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_RECONFIGURE:
      resume (get_worker (pad));
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

gboolean
gst_cv_worker_queue_event (
    GstCvWorker *worker, GstEvent *event, GstFlowReturn flow)
{
  if (flow == GST_FLOW_OK)
    flow = gst_cv_queue_push_event (worker->queue, event);
  if (flow == GST_FLOW_OK)
    return TRUE;
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS && is_unheard (flow))
    GST_ELEMENT_FLOW_ERROR (worker->element, flow);
  gst_event_unref (event);
  return FALSE;
}

/* --- pads ------------------------------------------------------------------ */

/* Events go to the first source pad; the others get theirs with it. */
static GstIterator *
sink_internal_links (GstPad *pad, GstObject *parent)
{
  GValue value = G_VALUE_INIT;
  GstIterator *links;

  g_value_init (&value, GST_TYPE_PAD);
  g_value_set_object (&value, get_worker (pad)->srcpad);
  links = gst_iterator_new_single (GST_TYPE_PAD, &value);
  g_value_unset (&value);
  return links;
}

GstCvWorker *
gst_cv_worker_new (GstElement *element, GstPad *sinkpad, GstPad *srcpad,
    GstCvQueue *queue, const GstCvWorkerFuncs *funcs)
{
  GstCvWorker *worker = g_new0 (GstCvWorker, 1);

  worker->element = element;
  worker->srcpad = srcpad;
  worker->queue = queue;
  worker->funcs = funcs;
  g_mutex_init (&worker->lock);
  gst_pad_set_element_private (sinkpad, worker);
  gst_pad_set_event_full_function (sinkpad, sink_event);
  gst_pad_set_activatemode_function (sinkpad, sink_activate_mode);
  gst_pad_set_iterate_internal_links_function (sinkpad, sink_internal_links);
  gst_pad_set_element_private (srcpad, worker);
  gst_pad_set_event_function (srcpad, gst_cv_worker_src_event);
  gst_pad_set_activatemode_function (srcpad, src_activate_mode);
  return worker;
}

void
gst_cv_worker_free (GstCvWorker *worker)
{
  g_mutex_clear (&worker->lock);
  g_free (worker);
}
