/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The element balparse, which decodebin plugs. */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_BAL_PARSE (gst_bal_parse_get_type ())
G_DECLARE_FINAL_TYPE (
    GstBalParse, gst_bal_parse, GST, BAL_PARSE, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE (balparse)

G_END_DECLS
