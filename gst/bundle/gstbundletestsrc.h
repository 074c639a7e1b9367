/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* See gstbundletestsrc.c. */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define GST_TYPE_BUNDLE_TEST_SRC (gst_bundle_test_src_get_type ())
G_DECLARE_FINAL_TYPE (
    GstBundleTestSrc, gst_bundle_test_src, GST, BUNDLE_TEST_SRC, GstPushSrc)
GST_ELEMENT_REGISTER_DECLARE (bundletestsrc)

G_END_DECLS
