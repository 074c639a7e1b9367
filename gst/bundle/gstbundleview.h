/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* See gstbundleview.c. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_BUNDLE_VIEW (gst_bundle_view_get_type ())
G_DECLARE_FINAL_TYPE (
    GstBundleView, gst_bundle_view, GST, BUNDLE_VIEW, GstElement)
GST_ELEMENT_REGISTER_DECLARE (bundleview)

G_END_DECLS
