/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Queries, and answers to them, that several elements share. */
#pragma once

#include <gst/gst.h>
#include "cuda/core/device/device.h"

G_BEGIN_DECLS

/* Takes @caps. Returns: (transfer full): their intersection with @filter, in the
 * order of @filter, or @caps if it is %NULL */
GstCaps *gst_cvis_caps_filter (GstCaps *caps, GstCaps *filter);
/* Returns: (transfer full): the caps of @pad of an element that passes caps on
 * unchanged: those of the peer of @other */
GstCaps *gst_cvis_caps_proxy (GstPad *pad, GstPad *other, GstCaps *filter);

/* Returns: whether what comes to @sinkpad is live, by a LATENCY query upstream */
gboolean gst_cvis_query_is_live (GstPad *sinkpad);

/* For an answered ALLOCATION query: proposes gst_cvis_allocator() unless downstream
 * has proposed an allocator. */
void gst_cvis_query_use_allocator (GstQuery *query);

/* For an ALLOCATION query that downstream has answered: adds @held frames of @size
 * bytes, which this element holds, to the minimum of buffers. */
void gst_cvis_query_hold_frames (GstQuery *query, gsize size, guint held);
/* The same, and proposes first a pool of pinned memory for @context;
 * @video_meta: frames may have other strides. */
void gst_cvis_query_propose_pool (GstQuery *query, CvisContext *context,
    GstCaps *caps, gsize size, guint held, gboolean video_meta);

G_END_DECLS
