/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_ROI_CROP (gst_cuda_roi_crop_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCudaRoiCrop, gst_cuda_roi_crop, GST, CUDA_ROI_CROP, GstElement)

GST_ELEMENT_REGISTER_DECLARE (cudaroicrop);

G_END_DECLS
