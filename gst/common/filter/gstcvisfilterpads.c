/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter, its request pads: one of each kind, with streams beside that of the
 * source pad. They can be requested and released at any time; before its first
 * buffer each gets the events that a stream begins with. The source pad's task
 * puts buffers and events into their queues. */
#include "gstcvisfilter-private.h"

#define GST_CAT_DEFAULT gst_cvis_filter_debug

/* --- requesting and releasing -------------------------------------------------- */

static guint
count_kinds (GstCvisFilter *filter)
{
  return GST_CVIS_FILTER_GET_CLASS (filter)->n_request_pads;
}

static guint
find_kind (GstCvisFilter *filter, GstPadTemplate *template)
{
  const GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);
  const gchar *name = GST_PAD_TEMPLATE_NAME_TEMPLATE (template);
  guint kind = 0;

  while (!g_str_equal (klass->request_pads[kind].name_template, name))
    kind++;
  return kind;
}

static gboolean
is_running (GstElement *element)
{
  return GST_STATE (element) > GST_STATE_READY
         || GST_STATE_NEXT (element) > GST_STATE_READY;
}

GstPad *
gst_cvis_filter_request_new_pad (GstElement *element, GstPadTemplate *template,
    const gchar *name, const GstCaps *caps)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (element);
  GstPad **place = &filter->priv->request_pads[find_kind (filter, template)];
  GstPad *pad = gst_cvis_request_pad_new (template);
  gboolean taken;

  gst_pad_set_query_function (pad, GST_PAD_QUERYFUNC (filter->srcpad));
  gst_pad_set_event_function (pad, gst_cvis_filter_src_event);
  gst_pad_use_fixed_caps (pad);
  gst_object_ref_sink (pad);
  /* before the source pad's task sees the pad: an inactive one would drop the
   * first buffers of its stream */
  if (is_running (element))
    gst_pad_set_active (pad, TRUE);
  GST_OBJECT_LOCK (filter);
  taken = *place != NULL;
  if (!taken)
    *place = gst_object_ref (pad);
  GST_OBJECT_UNLOCK (filter);
  if (taken) {
    GST_WARNING_OBJECT (filter,
        "pad \"%s\" is not added: it was requested before", GST_PAD_NAME (pad));
    gst_pad_set_active (pad, FALSE);
    gst_object_unref (pad);
    return NULL;
  }
  gst_element_add_pad (element, pad);
  gst_object_unref (pad);
  return pad;
}

/* Waits for the push in progress, as for every pad: stop a branch that blocks
 * before its pad is released. */
void
gst_cvis_filter_release_pad (GstElement *element, GstPad *pad)
{
  if (!gst_object_has_as_parent (GST_OBJECT (pad), GST_OBJECT (element)))
    return;
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
}

/* From now on another pad can have its name. */
void
gst_cvis_filter_pad_removed (GstElement *element, GstPad *pad)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (element);
  GstPad *ours = NULL;

  GST_OBJECT_LOCK (filter);
  for (guint i = 0; i < count_kinds (filter); i++)
    if (filter->priv->request_pads[i] == pad)
      ours = g_steal_pointer (&filter->priv->request_pads[i]);
  GST_OBJECT_UNLOCK (filter);
  gst_clear_object (&ours);
}

GstPad *
gst_cvis_filter_ref_request_pad (GstCvisFilter *filter, guint kind)
{
  GstPad *pad;

  GST_OBJECT_LOCK (filter);
  pad = filter->priv->request_pads[kind];
  if (pad != NULL)
    gst_object_ref (pad);
  GST_OBJECT_UNLOCK (filter);
  return pad;
}

gboolean
gst_cvis_filter_has_request_pad (GstCvisFilter *filter, guint kind)
{
  gboolean has;

  GST_OBJECT_LOCK (filter);
  has = filter->priv->request_pads[kind] != NULL;
  GST_OBJECT_UNLOCK (filter);
  return has;
}

/* Whether there is a pad of @kind; @pad: (out) (transfer full): that pad */
static gboolean
ref_pad (GstCvisFilter *filter, guint kind, GstCvisRequestPad **pad)
{
  *pad = (GstCvisRequestPad *) gst_cvis_filter_ref_request_pad (filter, kind);
  return *pad != NULL;
}

/* --- what comes before the first buffer ----------------------------------------- */

void
gst_cvis_filter_note_lacks (GstCvisFilter *filter, GstCvisLacks lacks)
{
  GstCvisRequestPad *pad;

  for (guint i = 0; i < count_kinds (filter); i++)
    if (ref_pad (filter, i, &pad)) {
      gst_cvis_request_pad_add_lacks (pad, lacks);
      gst_object_unref (pad);
    }
}

void
gst_cvis_filter_renegotiate_request_pads (GstCvisFilter *filter)
{
  gst_cvis_filter_note_lacks (filter, GST_CVIS_LACKS_CAPS);
}

static void
push_start (GstCvisFilter *filter, GstCvisRequestPad *pad)
{
  GstEvent *of_source =
      gst_pad_get_sticky_event (filter->srcpad, GST_EVENT_STREAM_START, 0);
  gchar *id = gst_pad_create_stream_id (
      GST_PAD (pad), GST_ELEMENT (filter), GST_PAD_NAME (pad));
  GstEvent *event = gst_event_new_stream_start (id);
  guint group;

  if (of_source != NULL && gst_event_parse_group_id (of_source, &group))
    gst_event_set_group_id (event, group);
  gst_clear_event (&of_source);
  gst_cvis_request_pad_push_event (pad, event);
  g_free (id);
}

/* Returns: the flow of @get_request_caps */
static GstFlowReturn
push_caps (GstCvisFilter *filter, guint kind, GstCvisRequestPad *pad)
{
  GstCaps *caps;
  GstFlowReturn flow = GST_CVIS_FILTER_GET_CLASS (filter)->get_request_caps (
      filter, kind, GST_PAD (pad), &caps);

  if (flow != GST_FLOW_OK)
    return flow;
  gst_cvis_request_pad_push_event (pad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  return GST_FLOW_OK;
}

static gboolean
push_segment (GstCvisFilter *filter, GstCvisRequestPad *pad)
{
  GstEvent *segment =
      gst_pad_get_sticky_event (filter->srcpad, GST_EVENT_SEGMENT, 0);

  if (segment == NULL)
    return FALSE;
  gst_cvis_request_pad_push_event (pad, segment);
  return TRUE;
}

/* Pushes the events that the pad needs before a buffer: it may have been requested
 * in the middle of the stream, or downstream of it may have changed.
 * Returns: GST_FLOW_NOT_LINKED if no buffer can be pushed: the source pad lacks the same
 * events, as it is shut down, or there are no caps */
static GstFlowReturn
start_pad (GstCvisFilter *filter, guint kind, GstCvisRequestPad *pad)
{
  guint lacks = gst_cvis_request_pad_take_lacks (pad);
  GstFlowReturn flow = GST_FLOW_OK;

  if (gst_pad_check_reconfigure (GST_PAD (pad)))
    lacks |= GST_CVIS_LACKS_CAPS;
  if (lacks == 0)
    return flow;
  if (lacks & GST_CVIS_LACKS_START)
    push_start (filter, pad);
  lacks &= ~(guint) GST_CVIS_LACKS_START;
  /* after an error caps would be refused again, with another one */
  if (lacks & GST_CVIS_LACKS_CAPS)
    flow = filter->priv->request_refused ? GST_FLOW_ERROR
                                         : push_caps (filter, kind, pad);
  if (flow == GST_FLOW_NOT_NEGOTIATED)
    filter->priv->request_refused = TRUE;
  if (flow == GST_FLOW_OK)
    lacks &= ~(guint) GST_CVIS_LACKS_CAPS;
  if ((lacks & GST_CVIS_LACKS_SEGMENT) && push_segment (filter, pad))
    lacks &= ~(guint) GST_CVIS_LACKS_SEGMENT;
  gst_cvis_request_pad_add_lacks (pad, lacks);
  return flow == GST_FLOW_OK && lacks != 0 ? GST_FLOW_NOT_LINKED : flow;
}

GstFlowReturn
gst_cvis_filter_start_request_pad (GstCvisFilter *filter, guint kind)
{
  GstCvisRequestPad *pad;
  GstFlowReturn flow;

  if (!ref_pad (filter, kind, &pad))
    return GST_FLOW_NOT_LINKED;
  flow = start_pad (filter, kind, pad);
  gst_object_unref (pad);
  return flow;
}

/* --- pushing --------------------------------------------------------------------- */

void
gst_cvis_filter_push_request (
    GstCvisFilter *filter, guint kind, GstMiniObject *object)
{
  GstCvisRequestPad *pad;

  if (gst_cvis_queue_has_ended (filter->queue)
      || !ref_pad (filter, kind, &pad)) {
    gst_mini_object_unref (object);
    return;
  }
  if (start_pad (filter, kind, pad) == GST_FLOW_OK)
    gst_cvis_request_pad_push (pad, object);
  else
    gst_mini_object_unref (object);
  gst_object_unref (pad);
}

/* --- events ------------------------------------------------------------------------ */

/* Returns: GST_FLOW_ERROR after an error about caps was posted */
static GstFlowReturn
push_on_request_pads (GstCvisFilter *filter, GstEvent *event)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstCvisRequestPad *pad;

  for (guint i = 0; i < count_kinds (filter); i++)
    if (ref_pad (filter, i, &pad)) {
      const GstFlowReturn started = start_pad (filter, i, pad);

      if (started != GST_FLOW_OK && started != GST_FLOW_NOT_LINKED)
        flow = GST_FLOW_ERROR;
      gst_cvis_request_pad_push_event (pad, gst_event_ref (event));
      gst_object_unref (pad);
    }
  return flow;
}

void
gst_cvis_filter_note_eos (GstCvisFilter *filter, GstEvent *eos)
{
  GST_OBJECT_LOCK (filter);
  gst_event_replace (&filter->priv->eos, eos);
  GST_OBJECT_UNLOCK (filter);
}

void
gst_cvis_filter_ask_for_eos (GstCvisFilter *filter)
{
  /* one step: upstream's thread, if it waits for the events of the next stream to
   * leave, waits for the mark too (rule 5) */
  GST_OBJECT_LOCK (filter);
  if (filter->priv->eos != NULL)
    gst_cvis_queue_push_mark (filter->queue);
  GST_OBJECT_UNLOCK (filter);
}

void
gst_cvis_filter_repeat_eos (GstCvisFilter *filter)
{
  /* no lock: no other thread changes it while this one runs */
  if (filter->priv->eos != NULL)
    push_on_request_pads (filter, filter->priv->eos);
}

GstFlowReturn
gst_cvis_filter_push_event (GstCvisFilter *filter, GstEvent *event)
{
  GstFlowReturn flow = GST_FLOW_OK;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      filter->priv->src_flow = GST_FLOW_OK;
      gst_cvis_filter_note_eos (filter, NULL);
      gst_cvis_filter_note_lacks (filter, GST_CVIS_LACKS_ALL);
      break;
    case GST_EVENT_CAPS:
      gst_cvis_filter_note_lacks (filter, GST_CVIS_LACKS_CAPS);
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &filter->segment);
      filter->priv->src_flow = GST_FLOW_OK;
      gst_cvis_filter_note_lacks (filter, GST_CVIS_LACKS_SEGMENT);
      break;
    case GST_EVENT_EOS:
      /* before any pad gets EOS: a pad that is linked too late asks for it */
      gst_cvis_filter_note_eos (filter, event);
      flow = push_on_request_pads (filter, event);
      break;
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_GAP:
      flow = push_on_request_pads (filter, event);
      break;
    default:
      break; /* concerns the source pad's stream alone */
  }
  gst_pad_push_event (filter->srcpad, event);
  return flow;
}

void
gst_cvis_filter_push_now (GstCvisFilter *filter, GstEvent *event)
{
  GstCvisRequestPad *pad;

  for (guint i = 0; i < count_kinds (filter); i++)
    if (ref_pad (filter, i, &pad)) {
      gst_pad_push_event (GST_PAD (pad), gst_event_ref (event));
      gst_object_unref (pad);
    }
}

/* --- flushing ------------------------------------------------------------------------ */

void
gst_cvis_filter_flush_request_pads (GstCvisFilter *filter, GstEvent *event)
{
  GstCvisRequestPad *pad;

  for (guint i = 0; i < count_kinds (filter); i++)
    if (ref_pad (filter, i, &pad)) {
      gst_cvis_request_pad_set_flushing (pad);
      if (event != NULL)
        gst_pad_push_event (GST_PAD (pad), gst_event_ref (event));
      gst_object_unref (pad);
    }
}

void
gst_cvis_filter_unflush_request_pads (GstCvisFilter *filter, GstEvent *event)
{
  GstCvisRequestPad *pad;

  for (guint i = 0; i < count_kinds (filter); i++)
    if (ref_pad (filter, i, &pad)) {
      gst_cvis_request_pad_stop_flushing (pad, event);
      gst_object_unref (pad);
    }
}
