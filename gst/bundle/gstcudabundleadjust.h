/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* See gstcudabundleadjust.c. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_BUNDLE_ADJUST (gst_cuda_bundle_adjust_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaBundleAdjust, gst_cuda_bundle_adjust, GST,
    CUDA_BUNDLE_ADJUST, GstElement)
GST_ELEMENT_REGISTER_DECLARE (cudabundleadjust)

G_END_DECLS
