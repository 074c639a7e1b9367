/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_SURFACE_COLOR (gst_surface_color_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSurfaceColor, gst_surface_color, GST, SURFACE_COLOR, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (surfacecolor);

G_END_DECLS
