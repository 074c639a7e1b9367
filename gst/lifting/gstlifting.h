/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The lifting wavelet filter. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Registers the domain's elements; called by the plugin. */
gboolean gst_lifting_register (GstPlugin *plugin);

G_END_DECLS
