/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What elements post, to be held against what they should. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Waits for a message of @type, an error or a warning, and checks that there is
 * no further one. Returns: (transfer full): its text */
gchar *bus_pop_text (GstBus *bus, GstMessageType type);
/* and that its text has @words in it. */
void bus_expect (GstBus *bus, GstMessageType type, const gchar *words);
void bus_expect_error (GstBus *bus, const gchar *words);

/* Runs the pipeline @line until it posts an error, a warning or EOS, which has
 * to be of @type; an error or a warning has @words in its text. */
void bus_expect_first (
    const gchar *line, GstMessageType type, const gchar *words);

G_END_DECLS
