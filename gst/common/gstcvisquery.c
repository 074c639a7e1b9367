/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisquery.h"

#include <gst/video/video.h>

#include "gstcvispool.h"

GstCaps *
gst_cvis_caps_filter (GstCaps *caps, GstCaps *filter)
{
  GstCaps *filtered;

  if (filter == NULL)
    return caps;
  filtered = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);
  return filtered;
}

GstCaps *
gst_cvis_caps_proxy (GstPad *pad, GstPad *other, GstCaps *filter)
{
  GstCaps *template = gst_pad_get_pad_template_caps (pad);
  GstCaps *peer = gst_pad_peer_query_caps (other, template);
  GstCaps *caps =
      gst_caps_intersect_full (peer, template, GST_CAPS_INTERSECT_FIRST);

  gst_caps_unref (peer);
  gst_caps_unref (template);
  return gst_cvis_caps_filter (caps, filter);
}

gboolean
gst_cvis_query_is_live (GstPad *sinkpad)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (gst_pad_peer_query (sinkpad, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  gst_query_unref (query);
  return live;
}

void
gst_cvis_query_use_allocator (GstQuery *query)
{
  GstAllocator *allocator = NULL;
  GstAllocationParams params;

  if (gst_query_get_n_allocation_params (query) > 0) {
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
    if (allocator == NULL)
      gst_query_set_nth_allocation_param (
          query, 0, gst_cvis_allocator (), &params);
  } else {
    gst_allocation_params_init (&params);
    gst_query_add_allocation_param (query, gst_cvis_allocator (), &params);
  }
  gst_clear_object (&allocator);
}

void
gst_cvis_query_hold_frames (GstQuery *query, gsize size, guint held)
{
  const guint n = gst_query_get_n_allocation_pools (query);

  for (guint i = 0; i < n; i++) {
    GstBufferPool *pool;
    guint pool_size, min, max;

    gst_query_parse_nth_allocation_pool (
        query, i, &pool, &pool_size, &min, &max);
    gst_query_set_nth_allocation_pool (
        query, i, pool, pool_size, min + held, max == 0 ? 0 : max + held);
    gst_clear_object (&pool);
  }
  if (n == 0)
    gst_query_add_allocation_pool (query, NULL, (guint) size, held, 0);
}

void
gst_cvis_query_propose_pool (GstQuery *query, CvisContext *context,
    GstCaps *caps, gsize size, guint held, gboolean video_meta)
{
  GstBufferPool *pool = gst_cvis_pool_new (context);
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, (guint) size, held, 0);
  if (video_meta)
    gst_buffer_pool_config_add_option (
        config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config (pool, config))
    gst_cvis_query_hold_frames (query, size, held);
  else if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_set_nth_allocation_pool (query, 0, pool, (guint) size, held, 0);
  else
    gst_query_add_allocation_pool (query, pool, (guint) size, held, 0);
  gst_object_unref (pool);
}
