/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Answers to queries that several elements give alike. */
#pragma once

#include <gst/gst.h>
#include "cuda/core/device.h"

G_BEGIN_DECLS

/* Takes @caps. Returns: (transfer full): what is in @filter too, if that is not
 * %NULL, in its order */
GstCaps *gst_cv_caps_filter (GstCaps *caps, GstCaps *filter);
/* Returns: (transfer full): what the peer of @other takes or gives, for @pad,
 * which passes on what it gets */
GstCaps *gst_cv_caps_proxy (GstPad *pad, GstPad *other, GstCaps *filter);

/* For an ALLOCATION query that was answered: buffers come from gst_cv_allocator(),
 * unless downstream has another allocator. */
void gst_cv_query_use_allocator (GstQuery *query);

/* For an ALLOCATION query that has been answered as far as others can: @held
 * frames of @size bytes are held here beside theirs. */
void gst_cv_query_hold_frames (GstQuery *query, gsize size, guint held);
/* Likewise, but in the first place with a pool of page-locked memory for
 * @context; @video_meta: frames may have strides of their own. */
void gst_cv_query_propose_pool (GstQuery *query, CvisContext *context,
    GstCaps *caps, gsize size, guint held, gboolean video_meta);

G_END_DECLS
