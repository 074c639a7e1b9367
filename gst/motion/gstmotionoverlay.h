/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_MOTION_OVERLAY (gst_motion_overlay_get_type ())
G_DECLARE_FINAL_TYPE (
    GstMotionOverlay, gst_motion_overlay, GST, MOTION_OVERLAY, GstElement)

GST_ELEMENT_REGISTER_DECLARE (motionoverlay);

G_END_DECLS
