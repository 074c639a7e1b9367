/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Checks of the messages that elements post. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Waits for a message of @type, an error or a warning, and checks that no
 * other follows. Returns: (transfer full): its text */
gchar *bus_pop_text (GstBus *bus, GstMessageType type);
/* The same, and checks that the text contains @words. */
void bus_expect (GstBus *bus, GstMessageType type, const gchar *words);
void bus_expect_error (GstBus *bus, const gchar *words);

/* Runs the pipeline @line until it posts an error, a warning or EOS, and
 * checks that it is of @type; the text of an error or a warning contains
 * @words. */
void bus_expect_first (
    const gchar *line, GstMessageType type, const gchar *words);

G_END_DECLS
