/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "gst/common/filter/gstcvisfilter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_MOTION_EST (gst_cuda_motion_est_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCudaMotionEst, gst_cuda_motion_est, GST, CUDA_MOTION_EST, GstCvisFilter)

GST_ELEMENT_REGISTER_DECLARE (cudamotionest);

G_END_DECLS
