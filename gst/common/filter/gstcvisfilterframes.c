/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter, a frame's way: from upstream's thread into the engine, from there to
 * the pads, and the errors on it. */
#include "gstcvisfilter-private.h"

#include "cuda/core/histogram.h"
#include "gst/common/gstcvismessage.h"
#include "gst/common/gstcvisnocaps.h"
#include "gst/common/gstcvisreport.h"

#define GST_CAT_DEFAULT gst_cvis_filter_debug

/* @object is a buffer or a list.
 * Returns: (transfer none) (nullable): %NULL for an empty list */
static GstBuffer *
get_first_buffer (GstMiniObject *object)
{
  GstBufferList *list;

  if (!GST_IS_BUFFER_LIST (object))
    return GST_BUFFER_CAST (object);
  list = GST_BUFFER_LIST_CAST (object);
  return gst_buffer_list_length (list) > 0 ? gst_buffer_list_get (list, 0)
                                           : NULL;
}

/* 0 if nobody reads the times */
static guint64
begin_trace (void)
{
  return gst_debug_category_get_threshold (GST_CAT_DEFAULT) >= GST_LEVEL_TRACE
             ? cvis_monotonic_ns ()
             : 0;
}

static void
end_trace (GstCvisFilter *filter, const gchar *what, guint64 begin)
{
  if (begin != 0)
    GST_TRACE_OBJECT (filter, "%s: %.1f us", what,
        (gdouble) (cvis_monotonic_ns () - begin) / 1000.0);
}

static const GstCvisWords *
get_words (GstCvisFilter *filter)
{
  return &GST_CVIS_FILTER_GET_CLASS (filter)->words;
}

/* --- errors ------------------------------------------------------------------ */

void
gst_cvis_filter_post_failure (GstCvisFilter *filter, GError *error)
{
  GST_ELEMENT_ERROR (filter, LIBRARY, FAILED,
      ("The %s engine failed: %s. Try backend=cpu, or restart the program.",
          get_words (filter)->engine, error->message),
      (NULL));
  g_error_free (error);
}

void
gst_cvis_filter_post_frame_error (GstCvisFilter *filter, GError *error)
{
  const GstCvisWords *words = get_words (filter);
  gchar *what = g_strconcat (words->verb, " ", words->one, NULL);
  gchar *input =
      g_strdup_printf ("Check the caps and the %s of the element before %s.",
          words->metas, gst_cvis_element_name (GST_ELEMENT (filter)));
  gchar *smaller =
      g_strdup_printf ("Use smaller %s, or fewer in flight.", words->many);
  const GstCvisRemedies remedies = { GST_STREAM_ERROR_FORMAT, input,
    "Check the properties.", smaller, GST_LIBRARY_ERROR_FAILED,
    "Try backend=cpu, or restart the program." };

  gst_cvis_post_error (GST_ELEMENT (filter), what, &remedies, error);
  g_free (smaller);
  g_free (input);
  g_free (what);
}

void
gst_cvis_filter_post_setup_error (
    GstCvisFilter *filter, guint width, guint height, GError *error)
{
  const GstCvisWords *words = get_words (filter);
  gchar *what = g_strdup_printf ("%s %s of %ux%u %s", words->verb, words->many,
      width, height, words->unit);
  gchar *smaller =
      g_strdup_printf ("Use smaller %s, or fewer in flight.", words->many);
  const GstCvisRemedies remedies = { GST_STREAM_ERROR_FORMAT, "Check the caps.",
    "Check the properties.", smaller, GST_LIBRARY_ERROR_INIT,
    "Try backend=cpu." };

  gst_cvis_post_error (GST_ELEMENT (filter), what, &remedies, error);
  g_free (smaller);
  g_free (what);
}

/* --- items ------------------------------------------------------------------- */

void
gst_cvis_filter_add_item (GstCvisFilter *filter, gpointer item)
{
  g_ptr_array_add (filter->priv->items, item);
  gst_cvis_queue_give (filter->queue, item);
}

void
gst_cvis_filter_free_items (GstCvisFilter *filter)
{
  gst_cvis_filter_release_all (filter); /* those that the queue refused */
  g_ptr_array_set_size (filter->priv->items, 0);
  gst_cvis_queue_free_spare (filter->queue);
}

void
gst_cvis_filter_release (GstCvisFilter *filter, gpointer data)
{
  GstCvisItem *item = data;

  GST_CVIS_FILTER_GET_CLASS (filter)->clear_item (item);
  item->busy = item->staged = FALSE;
  gst_cvis_queue_give (filter->queue, item);
}

void
gst_cvis_filter_release_all (GstCvisFilter *filter)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);

  if (klass->drain != NULL)
    klass->drain (filter);
  for (guint i = 0; i < filter->priv->items->len; i++) {
    GstCvisItem *item = filter->priv->items->pdata[i];

    if (item->busy)
      gst_cvis_filter_release (filter, item);
  }
}

/* --- upstream's thread ------------------------------------------------------- */

/* An item for @buffer, once there is an engine for it. */
static GstFlowReturn
take_item (GstCvisFilter *filter, GstBuffer *buffer, GstCvisItem **item)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);
  GstFlowReturn flow = GST_FLOW_OK;
  gpointer taken = NULL;

  if (klass->prepare != NULL)
    flow = klass->prepare (filter, buffer);
  if (flow == GST_FLOW_OK)
    flow = gst_cvis_queue_take (filter->queue, &taken);
  *item = taken;
  return flow;
}

GstFlowReturn
gst_cvis_filter_reject_frame (GstCvisFilter *filter, GError *error)
{
  gst_cvis_filter_drain (filter);
  gst_cvis_filter_post_frame_error (filter, error);
  return GST_FLOW_ERROR;
}

GstFlowReturn
gst_cvis_filter_submit_frame (GstCvisFilter *filter, GstMiniObject *object)
{
  GstBuffer *buffer = GST_BUFFER_CAST (object);
  GstCvisItem *item;
  GstFlowReturn flow = take_item (filter, buffer, &item);
  GError *error = NULL;

  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  item->arrival = cvis_monotonic_ns ();
  item->number = filter->number;
  gst_cvis_latency_note_frame (&filter->latency, GST_BUFFER_PTS (buffer));
  flow =
      GST_CVIS_FILTER_GET_CLASS (filter)->begin (filter, item, buffer, &error);
  if (flow == GST_FLOW_OK) {
    filter->number++;
    /* if the queue refuses it, it stays busy until the flush */
    return gst_cvis_queue_push_item (filter->queue, item);
  }
  if (!item->busy)
    gst_cvis_filter_release (filter, item);
  return error != NULL ? gst_cvis_filter_reject_frame (filter, error) : flow;
}

/* The error of caps that were refused has been posted. */
static GstFlowReturn
refuse_without_caps (GstCvisFilter *filter, GstMiniObject *object)
{
  if (!gst_pad_has_current_caps (filter->sinkpad))
    gst_cvis_post_no_caps (GST_ELEMENT (filter), get_first_buffer (object));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* Takes @object. */
static GstFlowReturn
filter_chain (GstCvisFilter *filter, GstMiniObject *object)
{
  GstFlowReturn flow = gst_cvis_queue_get_flow (filter->queue);
  guint64 begin;

  GST_LOG_OBJECT (
      filter, "submitting %" GST_PTR_FORMAT, get_first_buffer (object));
  if (flow == GST_FLOW_OK && !filter->negotiated)
    flow = refuse_without_caps (filter, object);
  if (flow != GST_FLOW_OK) {
    gst_mini_object_unref (object);
    return flow;
  }
  begin = begin_trace ();
  flow = GST_CVIS_FILTER_GET_CLASS (filter)->submit (filter, object);
  end_trace (filter, "waited for a place and submitted", begin);
  return flow;
}

GstFlowReturn
gst_cvis_filter_sink_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  return filter_chain (GST_CVIS_FILTER (parent), GST_MINI_OBJECT_CAST (buffer));
}

GstFlowReturn
gst_cvis_filter_sink_chain_list (
    GstPad *pad, GstObject *parent, GstBufferList *list)
{
  return filter_chain (GST_CVIS_FILTER (parent), GST_MINI_OBJECT_CAST (list));
}

/* --- the source pad's task --------------------------------------------------- */

GstFlowReturn
gst_cvis_filter_complete (GstCvisFilter *filter, gpointer item)
{
  const guint64 begin = begin_trace ();
  GstFlowReturn flow;

  GST_LOG_OBJECT (filter, "completing %p", item);
  flow = GST_CVIS_FILTER_GET_CLASS (filter)->complete (filter, item);
  end_trace (filter, "waited for the engine and pushed", begin);
  return flow;
}

static void
count_frame (GstCvisFilter *filter, const GstCvisItem *item)
{
  g_mutex_lock (&filter->stats_lock);
  gst_cvis_rate_add (&filter->rate, item->arrival);
  filter->staged += item->staged;
  g_mutex_unlock (&filter->stats_lock);
}

static GstFlowReturn
push_leaving (GstCvisFilter *filter, const GstCvisLeaving *leaving)
{
  for (guint i = 0; i < GST_CVIS_MAX_REQUEST_PADS; i++)
    if (leaving->requests[i] != NULL)
      gst_cvis_filter_push_request (
          filter, i, GST_MINI_OBJECT_CAST (leaving->requests[i]));
  gst_cvis_filter_push (filter, (GstMiniObject *) leaving->source);
  return gst_cvis_filter_get_flow (filter);
}

static void
drop_leaving (GstCvisLeaving *leaving)
{
  for (guint i = 0; i < GST_CVIS_MAX_REQUEST_PADS; i++)
    gst_clear_buffer (&leaving->requests[i]);
  gst_clear_buffer (&leaving->source);
}

GstFlowReturn
gst_cvis_filter_deliver (GstCvisFilter *filter, gpointer item, GError *error)
{
  GstCvisLeaving leaving = { NULL };
  gboolean ok = FALSE;

  if (error != NULL)
    gst_cvis_filter_post_failure (filter, error);
  else
    ok = GST_CVIS_FILTER_GET_CLASS (filter)->result (filter, item, &leaving);
  if (ok)
    count_frame (filter, item);
  gst_cvis_filter_release (filter, item);
  if (ok)
    return push_leaving (filter, &leaving);
  drop_leaving (&leaving);
  return GST_FLOW_ERROR;
}

static GstFlowReturn
push_object (GstCvisFilter *filter, GstMiniObject *object)
{
  GST_LOG_OBJECT (
      filter, "pushing %" GST_PTR_FORMAT, get_first_buffer (object));
  gst_cvis_filter_note_leaving (filter, object);
  if (GST_IS_BUFFER_LIST (object))
    return gst_pad_push_list (filter->srcpad, GST_BUFFER_LIST_CAST (object));
  return gst_pad_push (filter->srcpad, GST_BUFFER_CAST (object));
}

void
gst_cvis_filter_push (GstCvisFilter *filter, GstMiniObject *object)
{
  GstFlowReturn *flow = &filter->priv->src_flow;

  if (object == NULL)
    *flow = GST_FLOW_NOT_LINKED;
  else if (gst_cvis_queue_has_ended (filter->queue))
    gst_mini_object_unref (object);
  else
    *flow = push_object (filter, object);
}

GstFlowReturn
gst_cvis_filter_pass (GstCvisFilter *filter, GstMiniObject *frame)
{
  gst_cvis_filter_push (filter, frame);
  return gst_cvis_filter_get_flow (filter);
}
