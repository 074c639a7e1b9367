/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define GST_TYPE_SURFACE_SINK (gst_surface_sink_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSurfaceSink, gst_surface_sink, GST, SURFACE_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE (surfacesink);

G_END_DECLS
