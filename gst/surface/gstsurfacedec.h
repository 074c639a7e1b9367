/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_SURFACE_DEC (gst_surface_dec_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSurfaceDec, gst_surface_dec, GST, SURFACE_DEC, GstElement)

GST_ELEMENT_REGISTER_DECLARE (surfacedec);

G_END_DECLS
