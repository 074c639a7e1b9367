/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define GST_TYPE_SURFACE_TEST_SRC (gst_surface_test_src_get_type ())
G_DECLARE_FINAL_TYPE (
    GstSurfaceTestSrc, gst_surface_test_src, GST, SURFACE_TEST_SRC, GstPushSrc)

GST_ELEMENT_REGISTER_DECLARE (surfacetestsrc);

G_END_DECLS
