/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The elements that read, write, draw and simulate surfaces. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Registers the domain's elements; called by the plugin. */
gboolean gst_surface_register (GstPlugin *plugin);

G_END_DECLS
