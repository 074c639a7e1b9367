/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Runs pipelines to their end and computes checksums of the data at their
 * sinks. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Waits for EOS. An error, or neither within a minute, ends the test with
 * @line. */
void sinks_wait_for_eos (GstElement *pipeline, const gchar *line);
/* Checksum of all bytes at the sink @name, which has signal-handoffs=true;
 * or of what @add, a handler of that signal, adds. */
GChecksum *sinks_watch (GstElement *pipeline, const gchar *name, GCallback add);
/* Takes @sum. Returns: (transfer full): as text */
gchar *sinks_take_sum (GChecksum *sum);

G_END_DECLS
