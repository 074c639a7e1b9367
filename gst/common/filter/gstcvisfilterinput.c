/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter, frames come in: from the sink pad into the engine and the queue, and the
 * errors on this way. */
#include "gstcvisfilter-private.h"

#include "gst/common/gstcvismessage.h"
#include "gst/common/gstcvisnocaps.h"
#include "gst/common/gstcvisreport.h"

#define GST_CAT_DEFAULT gst_cvis_filter_debug

/* --- logs -------------------------------------------------------------------- */

GstBuffer *
gst_cvis_filter_get_first_buffer (GstMiniObject *object)
{
  GstBufferList *list;

  if (!GST_IS_BUFFER_LIST (object))
    return GST_BUFFER_CAST (object);
  list = GST_BUFFER_LIST_CAST (object);
  return gst_buffer_list_length (list) > 0 ? gst_buffer_list_get (list, 0)
                                           : NULL;
}

guint64
gst_cvis_filter_begin_trace (void)
{
  return gst_debug_category_get_threshold (GST_CAT_DEFAULT) >= GST_LEVEL_TRACE
             ? cvis_monotonic_ns ()
             : 0;
}

void
gst_cvis_filter_end_trace (
    GstCvisFilter *filter, const gchar *what, guint64 begin)
{
  if (begin != 0)
    GST_TRACE_OBJECT (filter, "%s: %.1f us", what,
        (gdouble) (cvis_monotonic_ns () - begin) / 1000.0);
}

/* --- errors ------------------------------------------------------------------ */

static const GstCvisWords *
get_words (GstCvisFilter *filter)
{
  return &GST_CVIS_FILTER_GET_CLASS (filter)->words;
}

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

/* --- from the sink pad to the queue ------------------------------------------ */

GstFlowReturn
gst_cvis_filter_reject_frame (GstCvisFilter *filter, GError *error)
{
  gst_cvis_filter_drain (filter);
  gst_cvis_filter_post_frame_error (filter, error);
  return GST_FLOW_ERROR;
}

/* A frame that passes keeps its place among the others. */
static GstFlowReturn
pass_frame (GstCvisFilter *filter, GstBuffer *buffer)
{
  const GstFlowReturn flow =
      gst_cvis_queue_push_frame (filter->queue, GST_MINI_OBJECT_CAST (buffer));

  filter->number++;
  if (flow != GST_FLOW_OK)
    gst_buffer_unref (buffer);
  return flow;
}

GstFlowReturn
gst_cvis_filter_submit_frame (GstCvisFilter *filter, GstMiniObject *object)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);
  GstBuffer *buffer = GST_BUFFER_CAST (object);
  GstFlowReturn flow = GST_FLOW_OK;
  GError *error = NULL;
  gpointer data = NULL;
  GstCvisItem *item;

  if (klass->prepare != NULL)
    flow = klass->prepare (filter, buffer);
  if (flow == GST_CVIS_FLOW_PASS)
    return pass_frame (filter, buffer);
  if (flow == GST_FLOW_OK)
    flow = gst_cvis_queue_take (filter->queue, &data);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  item = data;
  item->arrival = cvis_monotonic_ns ();
  item->number = filter->number;
  gst_cvis_latency_note_frame (&filter->latency, GST_BUFFER_PTS (buffer));
  flow = klass->begin (filter, item, buffer, &error);
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
    gst_cvis_post_no_caps (
        GST_ELEMENT (filter), gst_cvis_filter_get_first_buffer (object));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* Takes @object. */
static GstFlowReturn
filter_chain (GstCvisFilter *filter, GstMiniObject *object)
{
  GstFlowReturn flow = gst_cvis_queue_get_flow (filter->queue);
  guint64 begin;

  GST_LOG_OBJECT (filter, "submitting %" GST_PTR_FORMAT,
      gst_cvis_filter_get_first_buffer (object));
  if (flow == GST_FLOW_OK && !filter->negotiated)
    flow = refuse_without_caps (filter, object);
  if (flow != GST_FLOW_OK) {
    gst_mini_object_unref (object);
    return flow;
  }
  begin = gst_cvis_filter_begin_trace ();
  flow = GST_CVIS_FILTER_GET_CLASS (filter)->submit (filter, object);
  gst_cvis_filter_end_trace (filter, "waited for a place and submitted", begin);
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
