/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Starts and stops pipelines at arbitrary moments. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Takes the endless pipeline @line up and down 50 times: alternately to
 * PAUSED and PLAYING, every third time waiting for the state, and back to
 * READY or NULL. */
void pipeline_states (const gchar *line);

G_END_DECLS
