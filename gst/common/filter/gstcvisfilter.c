/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter, the class: properties, states, queries. */
#include "gstcvisfilter-private.h"

#include "gst/common/gstcvismessage.h"
#include "gst/common/gstcvisquery.h"
#include "gst/common/gstcvisreport.h"

GST_DEBUG_CATEGORY (gst_cvis_filter_debug);
#define GST_CAT_DEFAULT gst_cvis_filter_debug

enum { PROP_0, PROP_STATS, PROP_BACKEND };

#define gst_cvis_filter_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (
    GstCvisFilter, gst_cvis_filter, GST_TYPE_ELEMENT);

/* --- states ------------------------------------------------------------------ */

gboolean
gst_cvis_filter_start_backend (GstCvisFilter *filter)
{
  if (!gst_cvis_filter_start_devices (filter))
    return FALSE;
  return filter->devices != NULL || filter->context != NULL
         || gst_cvis_backend_start (
             &filter->backend, GST_ELEMENT (filter), &filter->context);
}

void
gst_cvis_filter_announce_kernels (GstCvisFilter *filter, const gchar *kernels)
{
  GstCvisFilterPrivate *priv = filter->priv;
  GstStructure *s;

  if (g_strcmp0 (kernels, priv->kernels) == 0)
    return;
  g_free (priv->kernels);
  priv->kernels = g_strdup (kernels);
  if (kernels == NULL)
    return;
  GST_INFO_OBJECT (filter, "CUDA kernels: %s", kernels);
  s = gst_cvis_message_structure (GST_ELEMENT (filter), "kernels");
  gst_structure_set (s, "kernels", G_TYPE_STRING, kernels, NULL);
  gst_element_post_message (
      GST_ELEMENT (filter), gst_message_new_element (GST_OBJECT (filter), s));
}

static void
filter_stop (GstCvisFilter *filter)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);

  gst_cvis_filter_discard (filter);
  if (klass->stop != NULL)
    klass->stop (filter);
  g_clear_pointer (&filter->context, cvis_context_unref);
  gst_cvis_filter_stop_devices (filter);
  gst_cvis_backend_stop (&filter->backend, GST_ELEMENT (filter));
  gst_clear_caps (&filter->priv->refused);
  g_clear_pointer (&filter->priv->kernels, g_free);
  filter->negotiated = filter->priv->streaming = FALSE;
  filter->number = 0;
  g_mutex_lock (&filter->stats_lock);
  GST_OBJECT_LOCK (filter);
  filter->priv->lateness = (GstCvisLateness){ 0 };
  GST_OBJECT_UNLOCK (filter);
  g_mutex_unlock (&filter->stats_lock);
  gst_cvis_latency_init (&filter->latency, GST_ELEMENT (filter));
}

/* Call with the stats lock held. */
static void
reset_counts (GstCvisFilter *filter)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);

  filter->rate = (GstCvisRate){ 0 };
  filter->staged = 0;
  filter->priv->lateness.total = 0;
  if (klass->reset_stats != NULL)
    klass->reset_stats (filter);
}

static void
gst_cvis_filter_reset_stats (GstCvisFilter *filter)
{
  g_mutex_lock (&filter->stats_lock);
  reset_counts (filter);
  g_mutex_unlock (&filter->stats_lock);
}

static gboolean
filter_start (GstCvisFilter *filter)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);

  gst_cvis_filter_reset_stats (filter);
  return klass->start == NULL || klass->start (filter);
}

static GstStateChangeReturn
gst_cvis_filter_change_state (GstElement *element, GstStateChange transition)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED
      && !filter_start (filter)) {
    filter_stop (filter);
    return GST_STATE_CHANGE_FAILURE;
  }
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY
      || (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          && ret == GST_STATE_CHANGE_FAILURE))
    filter_stop (filter);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL && filter->cuda != NULL)
    gst_cvis_cuda_stop (filter->cuda);
  return ret;
}

static void
gst_cvis_filter_set_context (GstElement *element, GstContext *context)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (element);
  gint device_id;

  GST_OBJECT_LOCK (filter);
  device_id = filter->backend.device_id;
  GST_OBJECT_UNLOCK (filter);
  if (filter->cuda != NULL)
    gst_cvis_cuda_set_context (filter->cuda, element, context, device_id);
  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

/* --- queries ----------------------------------------------------------------- */

static GstCaps *
filter_default_get_caps (
    GstCvisFilter *filter, GstPad *pad, GstPad *other, GstCaps *filter_caps)
{
  return gst_cvis_caps_proxy (pad, other, filter_caps);
}

static gboolean
filter_default_accept_caps (GstCvisFilter *filter, GstCaps *caps)
{
  GstCaps *template = gst_pad_get_pad_template_caps (filter->sinkpad);
  const gboolean ok = gst_caps_is_subset (caps, template)
                      && gst_pad_peer_query_accept_caps (filter->srcpad, caps);

  gst_caps_unref (template);
  return ok;
}

static GstClockTime
filter_default_get_latency (GstCvisFilter *filter)
{
  return gst_cvis_latency_get (&filter->latency);
}

static gboolean
answer_caps (GstCvisFilter *filter, GstPad *pad, GstQuery *query)
{
  GstPad *other = pad == filter->sinkpad ? filter->srcpad : filter->sinkpad;
  GstCaps *filter_caps, *caps;

  gst_query_parse_caps (query, &filter_caps);
  caps = GST_CVIS_FILTER_GET_CLASS (filter)->get_caps (
      filter, pad, other, filter_caps);
  GST_DEBUG_OBJECT (pad, "can have %" GST_PTR_FORMAT, caps);
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
  return TRUE;
}

gboolean
gst_cvis_filter_accept_video (GstCvisFilter *filter, GstCaps *caps)
{
  GstCaps *template = gst_pad_get_pad_template_caps (filter->sinkpad);
  gboolean ok = FALSE;

  if (gst_caps_is_subset (caps, template))
    ok = gst_pad_peer_query_accept_caps (filter->srcpad, caps);
  else if (gst_caps_get_size (caps) > 0)
    ok = gst_structure_has_name (
        gst_caps_get_structure (caps, 0), "video/x-raw");
  gst_caps_unref (template);
  return ok;
}

static gboolean
answer_accept_caps (GstCvisFilter *filter, GstQuery *query)
{
  GstCaps *caps;
  gboolean ok;

  gst_query_parse_accept_caps (query, &caps);
  ok = GST_CVIS_FILTER_GET_CLASS (filter)->accept_caps (filter, caps);
  GST_DEBUG_OBJECT (
      filter, "%s %" GST_PTR_FORMAT, ok ? "accepting" : "rejecting", caps);
  gst_query_set_accept_caps_result (query, ok);
  return TRUE;
}

static gboolean
answer_latency (GstCvisFilter *filter, GstQuery *query)
{
  GstCvisLateness *lateness = &filter->priv->lateness;
  GstClockTime more = GST_CVIS_FILTER_GET_CLASS (filter)->get_latency (filter);
  GstClockTime min, max;
  gboolean live;

  if (!gst_pad_peer_query (filter->sinkpad, query))
    return FALSE;
  gst_query_parse_latency (query, &live, &min, &max);
  GST_OBJECT_LOCK (filter);
  more += lateness->extra;
  lateness->live = live;
  lateness->answered = min + more;
  GST_OBJECT_UNLOCK (filter);
  if (max != GST_CLOCK_TIME_NONE)
    max += more;
  GST_DEBUG_OBJECT (filter, "latency %" GST_TIME_FORMAT " more than upstream",
      GST_TIME_ARGS (more));
  gst_query_set_latency (query, live, min + more, max);
  return TRUE;
}

static gboolean
filter_sink_query (GstCvisFilter *filter, GstQuery *query)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);
  GstFlowReturn flow = GST_FLOW_OK;

  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    return answer_accept_caps (filter, query);
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN)
    flow = gst_cvis_filter_drain (filter);
  else if (GST_QUERY_IS_SERIALIZED (query))
    flow = gst_cvis_queue_wait_idle (filter->queue);
  if (flow != GST_FLOW_OK)
    return FALSE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION) {
    const gboolean ok = klass->propose_allocation != NULL
                        && klass->propose_allocation (filter, query);

    GST_DEBUG_OBJECT (filter, "proposing %s%" GST_PTR_FORMAT,
        ok ? "" : "nothing for ", query);
    return ok;
  }
  return gst_pad_query_default (filter->sinkpad, GST_OBJECT (filter), query);
}

static gboolean
pad_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (parent);
  const gboolean always = pad == filter->sinkpad || pad == filter->srcpad;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS && always)
    return answer_caps (filter, pad, query);
  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT && filter->cuda != NULL
      && gst_cvis_cuda_query_context (
          filter->cuda, GST_ELEMENT (filter), query))
    return TRUE;
  if (pad == filter->sinkpad)
    return filter_sink_query (filter, query);
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return answer_latency (filter, query);
  return gst_pad_query_default (pad, parent, query);
}

/* --- properties -------------------------------------------------------------- */

static void
gst_cvis_filter_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (object);

  if (id >= GST_CVIS_FILTER_PROP_SETTING) {
    gst_cvis_settings_set_property (object, id, value, pspec);
    return;
  }
  gst_cvis_warn_if_late (object, pspec);
  if (!gst_cvis_filter_set_device_property (filter, value, pspec)
      && !gst_cvis_backend_set_property (
          &filter->backend, object, value, pspec))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
get_stats_property (GstCvisFilter *filter, GValue *value)
{
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);
  GstStructure *stats =
      gst_cvis_message_structure (GST_ELEMENT (filter), "stats");

  g_mutex_lock (&filter->stats_lock);
  gst_structure_set (stats, "frames", G_TYPE_UINT64, filter->rate.frames,
      "staged-frames", G_TYPE_UINT64, filter->staged, NULL);
  gst_cvis_stats_add_rate (stats, &filter->rate);
  if (klass->add_stats != NULL)
    klass->add_stats (filter, stats);
  gst_cvis_filter_add_device_stats (filter, stats);
  gst_structure_set (
      stats, "late-frames", G_TYPE_UINT64, filter->priv->lateness.total, NULL);
  g_value_take_boxed (value, stats);
  g_mutex_unlock (&filter->stats_lock);
}

static void
gst_cvis_filter_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (object);

  if (id >= GST_CVIS_FILTER_PROP_SETTING)
    gst_cvis_settings_get_property (object, id, value, pspec);
  else if (id == PROP_STATS)
    get_stats_property (filter, value);
  else if (!gst_cvis_filter_get_device_property (filter, value, pspec)
           && !gst_cvis_backend_get_property (
               &filter->backend, object, value, pspec))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

void
gst_cvis_filter_class_install_settings (GstCvisFilterClass *klass,
    const GstCvisSetting *table, guint n, gsize offset, gconstpointer defaults)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GObjectClass own = *object_class;

  gst_cvis_settings_bind (
      object_class, GST_CVIS_FILTER_PROP_SETTING, table, n, offset, defaults);
  /* GObject lets no class inherit them */
  object_class->set_property = own.set_property != NULL
                                   ? own.set_property
                                   : gst_cvis_filter_set_property;
  object_class->get_property = own.get_property != NULL
                                   ? own.get_property
                                   : gst_cvis_filter_get_property;
}

void
gst_cvis_filter_class_add_request_pads (
    GstCvisFilterClass *klass, GstStaticPadTemplate *templates, guint n)
{
  klass->request_pads = templates;
  klass->n_request_pads = n;
  for (guint i = 0; i < n; i++)
    gst_element_class_add_static_pad_template (
        GST_ELEMENT_CLASS (klass), &templates[i]);
}

/* --- object ------------------------------------------------------------------ */

static GstPad *
add_pad (GstCvisFilter *filter, const gchar *name)
{
  GstElementClass *klass = GST_ELEMENT_GET_CLASS (filter);
  GstPad *pad = gst_pad_new_from_template (
      gst_element_class_get_pad_template (klass, name), name);

  gst_pad_set_query_function (pad, pad_query);
  return pad;
}

static void
gst_cvis_filter_constructed (GObject *object)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (object);
  GstCvisFilterClass *klass = GST_CVIS_FILTER_GET_CLASS (filter);

  filter->queue = gst_cvis_queue_new (klass->free_item);
  filter->priv->items = g_ptr_array_new ();
  if (klass->cuda_memory)
    filter->cuda = gst_cvis_cuda_new ();
  filter->priv->request_pads = g_new0 (GstPad *, klass->n_request_pads);
  filter->sinkpad = add_pad (filter, "sink");
  filter->srcpad = add_pad (filter, "src");
  gst_cvis_filter_setup_pads (filter);
  gst_element_add_pad (GST_ELEMENT (filter), filter->sinkpad);
  gst_element_add_pad (GST_ELEMENT (filter), filter->srcpad);
  G_OBJECT_CLASS (parent_class)->constructed (object);
}

static void
gst_cvis_filter_finalize (GObject *object)
{
  GstCvisFilter *filter = GST_CVIS_FILTER (object);
  GstCvisFilterPrivate *priv = filter->priv;

  for (guint i = 0; i < GST_CVIS_FILTER_GET_CLASS (filter)->n_request_pads; i++)
    gst_clear_object (&priv->request_pads[i]);
  g_free (priv->request_pads);
  g_free (priv->device_ids);
  gst_clear_event (&priv->eos);
  gst_cvis_queue_free (filter->queue);
  g_ptr_array_unref (priv->items);
  if (filter->cuda != NULL)
    gst_cvis_cuda_free (filter->cuda);
  g_mutex_clear (&priv->lock);
  g_mutex_clear (&filter->stats_lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cvis_filter_class_init (GstCvisFilterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_cvis_filter_debug, "cvisfilter", 0,
      "base class of the elements that compute");
  object_class->set_property = gst_cvis_filter_set_property;
  object_class->get_property = gst_cvis_filter_get_property;
  object_class->constructed = gst_cvis_filter_constructed;
  object_class->finalize = gst_cvis_filter_finalize;
  element_class->change_state = gst_cvis_filter_change_state;
  element_class->set_context = gst_cvis_filter_set_context;
  element_class->request_new_pad = gst_cvis_filter_request_new_pad;
  element_class->release_pad = gst_cvis_filter_release_pad;
  element_class->pad_removed = gst_cvis_filter_pad_removed;
  klass->words.one = "a frame";
  klass->words.many = "frames";
  klass->words.unit = "pixels";
  klass->words.metas = "GstVideoMeta";
  klass->submit = gst_cvis_filter_submit_frame;
  klass->pass = gst_cvis_filter_push;
  klass->src_event = gst_cvis_filter_push_event;
  klass->get_caps = filter_default_get_caps;
  klass->accept_caps = filter_default_accept_caps;
  klass->get_latency = filter_default_get_latency;

  /**
   * GstCvisFilter::reset-stats:
   *
   * Sets the counts and latencies of #GstCvisFilter:stats to 0, for windows of any
   * length.
   */
  gst_cvis_install_stats (object_class, PROP_STATS,
      "Counts, rate and latency since the start; times in nanoseconds",
      G_CALLBACK (gst_cvis_filter_reset_stats));
  gst_cvis_backend_install_properties (object_class, PROP_BACKEND);
  gst_type_mark_as_plugin_api (GST_TYPE_CVIS_BACKEND, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CVIS_FILTER, 0);
}

static void
gst_cvis_filter_init (GstCvisFilter *filter)
{
  filter->priv = gst_cvis_filter_get_instance_private (filter);
  g_mutex_init (&filter->priv->lock);
  g_mutex_init (&filter->stats_lock);
  gst_cvis_backend_init (&filter->backend);
  gst_cvis_latency_init (&filter->latency, GST_ELEMENT (filter));
  gst_segment_init (&filter->segment, GST_FORMAT_UNDEFINED);
}
