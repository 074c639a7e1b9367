/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* See gstbaltestsrc.c. */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define GST_TYPE_BAL_TEST_SRC (gst_bal_test_src_get_type ())
G_DECLARE_FINAL_TYPE (
    GstBalTestSrc, gst_bal_test_src, GST, BAL_TEST_SRC, GstPushSrc)
GST_ELEMENT_REGISTER_DECLARE (baltestsrc)

G_END_DECLS
