/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_PBF_OVERLAY (gst_pbf_overlay_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPbfOverlay, gst_pbf_overlay, GST, PBF_OVERLAY, GstElement)

GST_ELEMENT_REGISTER_DECLARE (pbfoverlay);

G_END_DECLS
