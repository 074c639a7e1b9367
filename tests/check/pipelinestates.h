/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Pipelines that are started and stopped at any moment. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Takes the endless pipeline @line up and down 50 times: to PAUSED and PLAYING
 * by turns, every third time until it is there, and back to READY or NULL. */
void pipeline_states (const gchar *line);

G_END_DECLS
