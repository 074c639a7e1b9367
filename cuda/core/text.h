/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Numbers as text, fast and the same in every locale: what tables of results
 * are made of. Nothing here allocates or knows of state; all functions may be
 * called from any thread. Each writes at @to, without a terminating NUL, and
 * returns the end of what it wrote: at most %CVIS_TEXT_MAX bytes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define CVIS_TEXT_MAX 20

gchar *cvis_text_uint (gchar *to, guint64 value);
gchar *cvis_text_int (gchar *to, gint64 value);

G_END_DECLS
