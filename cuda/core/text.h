/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Numbers as text, fast and independent of the locale, for tables of
 * results. The functions keep no state and allocate nothing; all may be
 * called from any thread. Each writes to @to, without a terminating NUL, and
 * returns the end of its text: at most %CVIS_TEXT_MAX bytes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define CVIS_TEXT_MAX 20

gchar *cvis_text_uint (gchar *to, guint64 value);
gchar *cvis_text_int (gchar *to, gint64 value);

G_END_DECLS
