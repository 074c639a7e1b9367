/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter, its threads: upstream's, the source pad's task, and those that
 * start, stop and flush them. The rules are in gstcvisfilter.h. */
#include "gstcvisfilter-private.h"

#define GST_CAT_DEFAULT gst_cvis_filter_debug

/* --- the source pad's task ----------------------------------------------------- */

/* Whether upstream learns of @flow only from the result of its next push. */
static gboolean
is_unheard (GstFlowReturn flow)
{
  return flow == GST_FLOW_NOT_LINKED || flow == GST_FLOW_NOT_NEGOTIATED;
}

/* Nothing more can be pushed: upstream learns it from the result of its next push,
 * or, after EOS, from an error posted here. */
static void
end_task (GstCvisFilter *filter, GstFlowReturn flow)
{
  gboolean through;

  GST_DEBUG_OBJECT (filter, "stopping: %s", gst_flow_get_name (flow));
  gst_pad_pause_task (filter->srcpad);
  through = gst_cvis_queue_fail (filter->queue, flow);
  if (flow == GST_FLOW_FLUSHING)
    return;
  if (through && is_unheard (flow))
    GST_ELEMENT_FLOW_ERROR (filter, flow);
  if (through || flow == GST_FLOW_ERROR)
    GST_CVIS_FILTER_GET_CLASS (filter)->src_event (
        filter, gst_event_new_eos ());
}

static void
filter_loop (gpointer user_data)
{
  GstCvisFilter *filter = user_data;
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);
  GstFlowReturn flow = GST_FLOW_OK;
  GstMiniObject *object;
  gpointer item;
  guint64 begin;

  switch (gst_cvis_queue_pop (filter->queue, &item, &object)) {
    case GST_CVIS_POP_ITEM:
      GST_LOG_OBJECT (filter, "completing %p", item);
      begin = gst_cvis_filter_begin_trace ();
      flow = klass->complete (filter, item);
      gst_cvis_filter_end_trace (
          filter, "waited for the engine and pushed", begin);
      break;
    case GST_CVIS_POP_EVENT:
      flow = klass->src_event (filter, GST_EVENT_CAST (object));
      break;
    case GST_CVIS_POP_FRAME:
      flow = klass->pass (filter, object);
      break;
    case GST_CVIS_POP_MARK:
      if (klass->mark != NULL)
        flow = klass->mark (filter);
      gst_cvis_filter_repeat_eos (filter);
      break;
    case GST_CVIS_POP_DEADLINE:
      GST_DEBUG_OBJECT (filter, "a deadline has passed");
      if (klass->deadline != NULL)
        flow = klass->deadline (filter);
      break;
    case GST_CVIS_POP_STOP:
      flow = gst_cvis_queue_get_flow (filter->queue);
      break;
  }
  if (flow != GST_FLOW_OK)
    end_task (filter, flow);
}

/* Call with the lock held and the flow OK. */
static gboolean
start_source_task (GstCvisFilter *filter)
{
  return gst_pad_start_task (filter->srcpad, filter_loop, filter, NULL);
}

/* Starts the task, whatever the flow was. */
static void
begin_task (GstCvisFilter *filter)
{
  g_mutex_lock (&filter->priv->lock);
  if (filter->priv->active) {
    gst_cvis_queue_set_flow (filter->queue, GST_FLOW_OK);
    start_source_task (filter);
  }
  g_mutex_unlock (&filter->priv->lock);
}

/* Starts the task again if it ended as not linked: downstream is linked now. */
static void
resume_task (GstCvisFilter *filter)
{
  g_mutex_lock (&filter->priv->lock);
  if (filter->priv->active && gst_cvis_queue_relink (filter->queue)) {
    filter->priv->src_flow = GST_FLOW_OK;
    start_source_task (filter);
  }
  g_mutex_unlock (&filter->priv->lock);
}

/* --- activation ---------------------------------------------------------------- */

static gboolean
sink_activate_mode (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  if (!active) {
    gst_cvis_queue_set_flow (
        GST_CVIS_FILTER (parent)->queue, GST_FLOW_FLUSHING);
    /* wait until upstream's thread has left */
    GST_PAD_STREAM_LOCK (pad);
    GST_PAD_STREAM_UNLOCK (pad);
  }
  return TRUE;
}

static gboolean
src_activate_mode (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (parent);
  gboolean started = FALSE;

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  g_mutex_lock (&filter->priv->lock);
  filter->priv->active = active;
  gst_cvis_queue_set_flow (
      filter->queue, active ? GST_FLOW_OK : GST_FLOW_FLUSHING);
  if (active)
    started = start_source_task (filter);
  g_mutex_unlock (&filter->priv->lock);
  if (active)
    return started;
  gst_cvis_filter_flush_request_pads (filter, NULL);
  return gst_pad_stop_task (pad);
}

/* --- flushing -------------------------------------------------------------------- */

void
gst_cvis_filter_discard (GstCvisFilter *filter)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);
  GstEvent *before =
      gst_pad_get_sticky_event (filter->srcpad, GST_EVENT_STREAM_START, 0);
  GstEvent *after;

  gst_cvis_filter_release_all (filter);
  if (klass->flush != NULL)
    klass->flush (filter);
  /* the source pad keeps sticky events nevertheless */
  gst_cvis_queue_discard (filter->queue, filter->srcpad);
  after = gst_pad_get_sticky_event (filter->srcpad, GST_EVENT_STREAM_START, 0);
  gst_cvis_filter_note_lacks (
      filter, before == after ? GST_CVIS_LACKS_CAPS : GST_CVIS_LACKS_ALL);
  gst_clear_event (&before);
  gst_clear_event (&after);
  gst_segment_init (&filter->segment, GST_FORMAT_UNDEFINED);
  gst_cvis_latency_break (&filter->latency);
  gst_cvis_filter_note_eos (filter, NULL);
  filter->priv->src_flow = GST_FLOW_OK;
  filter->priv->request_refused = FALSE;
}

static void
flush_start (GstCvisFilter *filter, GstEvent *event)
{
  GST_DEBUG_OBJECT (filter, "flushing");
  gst_cvis_filter_flush_request_pads (filter, event);
  gst_pad_push_event (filter->srcpad, event);
  gst_cvis_queue_set_flow (filter->queue, GST_FLOW_FLUSHING);
}

/* A shutdown removes the task from the pad before it waits for it:
 * gst_pad_pause_task() then finds no task and does not wait. */
static void
wait_for_task (GstCvisFilter *filter)
{
  gst_pad_pause_task (filter->srcpad);
  GST_PAD_STREAM_LOCK (filter->srcpad);
  GST_PAD_STREAM_UNLOCK (filter->srcpad);
}

static void
flush_stop (GstCvisFilter *filter, GstEvent *event)
{
  /* FLUSH_STOP may come without a FLUSH_START */
  gst_cvis_queue_set_flow (filter->queue, GST_FLOW_FLUSHING);
  gst_cvis_filter_flush_request_pads (filter, NULL);
  wait_for_task (filter);
  gst_cvis_filter_discard (filter);
  gst_cvis_filter_unflush_request_pads (filter, event);
  gst_pad_push_event (filter->srcpad, event);
  GST_DEBUG_OBJECT (filter, "flushed");
  begin_task (filter);
}

/* --- upstream's thread ------------------------------------------------------------ */

GstFlowReturn
gst_cvis_filter_drain (GstCvisFilter *filter)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);
  GstFlowReturn flow = GST_FLOW_OK;

  GST_DEBUG_OBJECT (filter, "draining");
  if (klass->finish != NULL)
    flow = klass->finish (filter);
  return flow == GST_FLOW_OK ? gst_cvis_queue_wait_idle (filter->queue) : flow;
}

/* Upstream sends refused caps again with each push: the error is posted once. */
static GstFlowReturn
filter_set_caps (GstCvisFilter *filter, GstEvent *event)
{
  GstCaps **refused = &filter->priv->refused;
  GstFlowReturn flow;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (*refused != NULL && gst_caps_is_equal (*refused, caps))
    return GST_FLOW_NOT_NEGOTIATED;
  gst_clear_caps (refused);
  flow = GST_CVIS_FILTER_GET_CLASS (filter)->set_caps (filter, caps);
  filter->negotiated = flow == GST_FLOW_OK;
  GST_DEBUG_OBJECT (
      filter, "caps %" GST_PTR_FORMAT ": %s", caps, gst_flow_get_name (flow));
  if (flow == GST_FLOW_NOT_NEGOTIATED)
    gst_caps_replace (refused, caps);
  return flow;
}

static GstFlowReturn
prepare_for_event (GstCvisFilter *filter, GstEvent *event)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);
  GstFlowReturn flow = GST_FLOW_OK;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    return filter_set_caps (filter, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    /* a second stream does not continue the first */
    if (filter->priv->streaming)
      flow = gst_cvis_filter_drain (filter);
    filter->priv->streaming = TRUE;
    filter->number = 0;
    gst_cvis_latency_break (&filter->latency);
  }
  if (flow == GST_FLOW_OK && klass->sink_event != NULL)
    flow = klass->sink_event (filter, event);
  return flow;
}

/* Prepares the element for @event and puts it into the queue. At EOS upstream does
 * not learn of a failure, so that the error is posted.
 * Returns: FALSE if the event was refused */
static gboolean
take_serialized_event (GstCvisFilter *filter, GstEvent *event)
{
  GstFlowReturn flow = prepare_for_event (filter, event);

  if (flow == GST_FLOW_OK && GST_EVENT_TYPE (event) == GST_EVENT_CAPS
      && GST_CVIS_FILTER_GET_CLASS (filter)->own_caps) {
    gst_event_unref (event);
    return TRUE;
  }
  if (flow == GST_FLOW_OK)
    flow = gst_cvis_queue_push_event (filter->queue, event);
  if (flow == GST_FLOW_OK)
    return TRUE;
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS && is_unheard (flow))
    GST_ELEMENT_FLOW_ERROR (filter, flow);
  gst_event_unref (event);
  return FALSE;
}

/* Takes @event. */
static gboolean
take_event (GstCvisFilter *filter, GstPad *pad, GstEvent *event)
{
  GST_DEBUG_OBJECT (pad, "%" GST_PTR_FORMAT, event);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      flush_start (filter, event);
      return TRUE;
    case GST_EVENT_FLUSH_STOP:
      flush_stop (filter, event);
      return TRUE;
    case GST_EVENT_INSTANT_RATE_CHANGE:
      /* for all sinks: they stay at one rate */
      gst_cvis_filter_push_now (filter, event);
      break;
    default:
      if (GST_EVENT_IS_SERIALIZED (event))
        return take_serialized_event (filter, event);
      break;
  }
  return gst_pad_event_default (pad, GST_OBJECT (filter), event);
}

/* An event that the queue refuses because it flushes is no error: upstream would
 * post one if a shutdown comes between the deactivation of the two pads. */
static GstFlowReturn
sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (parent);
  const gboolean is_caps = GST_EVENT_TYPE (event) == GST_EVENT_CAPS;
  GstFlowReturn flow;

  if (take_event (filter, pad, event))
    return GST_FLOW_OK;
  /* not NOT_LINKED: upstream would ignore that, and the event would be lost */
  flow = gst_cvis_queue_get_flow (filter->queue);
  if (flow == GST_FLOW_FLUSHING || flow == GST_FLOW_EOS)
    return flow;
  return is_caps ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_ERROR;
}

static void
note_latency_event (GstCvisFilter *filter, GstEvent *event)
{
  GstClockTime latency;

  gst_event_parse_latency (event, &latency);
  GST_OBJECT_LOCK (filter);
  filter->priv->lateness.configured = latency;
  GST_OBJECT_UNLOCK (filter);
}

gboolean
gst_cvis_filter_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_QOS:
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_RECONFIGURE:
      resume_task (GST_CVIS_FILTER (parent));
      gst_cvis_filter_ask_for_eos (GST_CVIS_FILTER (parent));
      break;
    case GST_EVENT_LATENCY:
      note_latency_event (GST_CVIS_FILTER (parent), event);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* --- pads ------------------------------------------------------------------------- */

/* Events go to the source pad; the request pads get theirs with it. */
static GstIterator *
sink_internal_links (GstPad *pad, GstObject *parent)
{
  GValue value = G_VALUE_INIT;
  GstIterator *links;

  g_value_init (&value, GST_TYPE_PAD);
  g_value_set_object (&value, GST_CVIS_FILTER (parent)->srcpad);
  links = gst_iterator_new_single (GST_TYPE_PAD, &value);
  g_value_unset (&value);
  return links;
}

void
gst_cvis_filter_setup_pads (GstCvisFilter *filter)
{
  GstPad *sinkpad = filter->sinkpad, *srcpad = filter->srcpad;

  gst_pad_set_chain_function (sinkpad, gst_cvis_filter_sink_chain);
  if (GST_CVIS_FILTER_GET_CLASS (filter)->takes_lists)
    gst_pad_set_chain_list_function (sinkpad, gst_cvis_filter_sink_chain_list);
  gst_pad_set_event_full_function (sinkpad, sink_event);
  gst_pad_set_activatemode_function (sinkpad, sink_activate_mode);
  gst_pad_set_iterate_internal_links_function (sinkpad, sink_internal_links);
  gst_pad_set_event_function (srcpad, gst_cvis_filter_src_event);
  gst_pad_set_activatemode_function (srcpad, src_activate_mode);
}
