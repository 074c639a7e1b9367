/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The element bundleparse, which decodebin plugs. */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_BUNDLE_PARSE (gst_bundle_parse_get_type ())
G_DECLARE_FINAL_TYPE (
    GstBundleParse, gst_bundle_parse, GST, BUNDLE_PARSE, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE (bundleparse)

G_END_DECLS
