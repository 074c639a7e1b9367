/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Segments of elements that write text, where streams may end without one, and seeks
 * of sources that play forwards only. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Pushes a segment in TIME if @srcpad has none, before the first data. Streaming
 * thread. */
void gst_cvis_push_missing_segment (GstPad *srcpad);

/* Is @event a seek with a negative rate? */
gboolean gst_cvis_event_seeks_backwards (GstEvent *event);

G_END_DECLS
