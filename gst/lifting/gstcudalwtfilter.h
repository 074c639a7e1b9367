/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "gst/common/filter/gstcvisfilter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_LWT_FILTER (gst_cuda_lwt_filter_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCudaLwtFilter, gst_cuda_lwt_filter, GST, CUDA_LWT_FILTER, GstCvisFilter)

GST_ELEMENT_REGISTER_DECLARE (cudalwtfilter);

G_END_DECLS
