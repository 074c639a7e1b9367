/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Pipelines run to their end, and sums of what comes to their sinks. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* An error, or none of both within a minute, ends the test; @line is named. */
void sinks_wait_for_eos (GstElement *pipeline, const gchar *line);
/* Of all bytes that come to the sink @name, which has signal-handoffs=true; or of
 * what @add, the handler of that signal, makes of them. */
GChecksum *sinks_watch (GstElement *pipeline, const gchar *name, GCallback add);
/* Takes @sum. Returns: (transfer full): as text */
gchar *sinks_take_sum (GChecksum *sum);

G_END_DECLS
