/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter, a frame's way: from upstream's thread into the engine, from there to
 * the pads, and the errors on it. */
#include "gstcvisfilter-private.h"

#include "gst/common/gstcvismessage.h"
#include "gst/common/gstcvisreport.h"

#define GST_CAT_DEFAULT gst_cvis_filter_debug

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
  const GstCvisRemedies remedies = { input, "Check the properties.", smaller,
    "Try backend=cpu, or restart the program." };

  gst_cvis_post_error (
      GST_ELEMENT (filter), what, GST_STREAM_ERROR_FORMAT, &remedies, error);
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
  const GstCvisRemedies remedies = { "Check the caps.", "Check the properties.",
    smaller, "Try backend=cpu." };

  gst_cvis_post_error (
      GST_ELEMENT (filter), what, GST_STREAM_ERROR_FORMAT, &remedies, error);
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

/* --- the source pad's task --------------------------------------------------- */

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
