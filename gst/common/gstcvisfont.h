/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The font that cairo draws with on this machine. */
#pragma once

#include <cairo.h>
#include <glib.h>

G_BEGIN_DECLS

/* @ascii: (out): whether it has ASCII only
 * Returns: the family for cairo_select_font_face() */
const gchar *gst_cvis_font (gboolean *ascii);

G_END_DECLS
