/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* See gstbalview.c. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_BAL_VIEW (gst_bal_view_get_type ())
G_DECLARE_FINAL_TYPE (GstBalView, gst_bal_view, GST, BAL_VIEW, GstElement)
GST_ELEMENT_REGISTER_DECLARE (balview)

G_END_DECLS
