/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "gst/common/filter/gstcvisfilter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_DENOISE (gst_cuda_denoise_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCudaDenoise, gst_cuda_denoise, GST, CUDA_DENOISE, GstCvisFilter)

GST_ELEMENT_REGISTER_DECLARE (cudadenoise);

G_END_DECLS
