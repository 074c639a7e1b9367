/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The elements that adjust, show and simulate reconstructions. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Registers the domain's elements; called by the plugin. */
gboolean gst_bundle_register (GstPlugin *plugin);

G_END_DECLS
