/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter, frames leave: items are given back, buffers pushed, flows combined. */
#include "gstcvisfilter-private.h"

#include "cuda/core/histogram.h"

#define GST_CAT_DEFAULT gst_cvis_filter_debug

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
gst_cvis_filter_give_back (GstCvisFilter *filter, gpointer data)
{
  GstCvisItem *item = data;

  item->busy = item->staged = FALSE;
  gst_cvis_queue_give (filter->queue, item);
}

void
gst_cvis_filter_release (GstCvisFilter *filter, gpointer item)
{
  GST_CVIS_FILTER_GET_CLASS (filter)->clear_item (item);
  gst_cvis_filter_give_back (filter, item);
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

/* --- pushing ----------------------------------------------------------------- */

/* Combines the flows of the source pad and of the existing request pads. */
static GstFlowReturn
combine_flows (GstCvisFilter *filter)
{
  const guint n = GST_CVIS_FILTER_GET_CLASS (filter)->n_request_pads;
  GstFlowReturn failed = GST_FLOW_OK;
  gboolean ok = FALSE, eos = FALSE;

  for (guint i = 0; i <= n; i++) {
    GstFlowReturn flow = filter->priv->src_flow;
    GstPad *pad;

    if (i > 0) {
      pad = gst_cvis_filter_ref_request_pad (filter, i - 1);
      if (pad == NULL)
        continue;
      flow = gst_cvis_request_pad_get_flow ((GstCvisRequestPad *) pad);
      gst_object_unref (pad);
    }
    if (failed == GST_FLOW_OK
        && (flow == GST_FLOW_FLUSHING || flow < GST_FLOW_EOS))
      failed = flow;
    ok |= flow == GST_FLOW_OK;
    eos |= flow == GST_FLOW_EOS;
  }
  if (failed != GST_FLOW_OK)
    return failed;
  return ok ? GST_FLOW_OK : eos ? GST_FLOW_EOS : GST_FLOW_NOT_LINKED;
}

GstFlowReturn
gst_cvis_filter_get_flow (GstCvisFilter *filter)
{
  GstFlowReturn flow;

  if (gst_cvis_queue_has_ended (filter->queue))
    return GST_FLOW_OK;
  flow = combine_flows (filter);
  if (flow != GST_FLOW_EOS)
    return flow;
  gst_cvis_queue_end (filter->queue);
  return GST_FLOW_OK;
}

static void
push_object (GstCvisFilter *filter, GstMiniObject *object)
{
  GstFlowReturn *flow = &filter->priv->src_flow;

  GST_LOG_OBJECT (filter, "pushing %" GST_PTR_FORMAT,
      gst_cvis_filter_get_first_buffer (object));
  gst_cvis_filter_note_leaving (filter, object);
  if (GST_IS_BUFFER_LIST (object))
    *flow = gst_pad_push_list (filter->srcpad, GST_BUFFER_LIST_CAST (object));
  else
    *flow = gst_pad_push (filter->srcpad, GST_BUFFER_CAST (object));
}

GstFlowReturn
gst_cvis_filter_push (GstCvisFilter *filter, GstMiniObject *object)
{
  if (object == NULL)
    filter->priv->src_flow = GST_FLOW_NOT_LINKED;
  else if (gst_cvis_queue_has_ended (filter->queue))
    gst_mini_object_unref (object);
  else
    push_object (filter, object);
  return gst_cvis_filter_get_flow (filter);
}

static GstFlowReturn
push_leaving (GstCvisFilter *filter, GstCvisLeaving *leaving)
{
  for (guint i = 0; i < GST_CVIS_MAX_REQUEST_PADS; i++)
    if (leaving->requests[i] != NULL)
      gst_cvis_filter_push_request (
          filter, i, GST_MINI_OBJECT_CAST (leaving->requests[i]));
  return gst_cvis_filter_push (filter, (GstMiniObject *) leaving->source);
}

/* --- complete frames ---------------------------------------------------------- */

static void
count_frame (GstCvisFilter *filter, const GstCvisItem *item)
{
  g_mutex_lock (&filter->stats_lock);
  gst_cvis_rate_add (&filter->rate, item->arrival);
  filter->staged += item->staged;
  g_mutex_unlock (&filter->stats_lock);
}

GstFlowReturn
gst_cvis_filter_deliver (
    GstCvisFilter *filter, gpointer item, GstCvisLeaving *leaving)
{
  count_frame (filter, item);
  gst_cvis_filter_give_back (filter, item);
  return push_leaving (filter, leaving);
}

GstFlowReturn
gst_cvis_filter_fail (GstCvisFilter *filter, gpointer item,
    GstCvisLeaving *leaving, GError *error)
{
  if (error != NULL)
    gst_cvis_filter_post_failure (filter, error);
  gst_cvis_filter_release (filter, item);
  if (leaving == NULL)
    return GST_FLOW_ERROR;
  for (guint i = 0; i < GST_CVIS_MAX_REQUEST_PADS; i++)
    gst_clear_buffer (&leaving->requests[i]);
  gst_clear_buffer (&leaving->source);
  return GST_FLOW_ERROR;
}
