/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "gst/common/filter/gstcvisfilter.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_PBF_MONITOR (gst_cuda_pbf_monitor_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaPbfMonitor, gst_cuda_pbf_monitor, GST,
    CUDA_PBF_MONITOR, GstCvisFilter)

GST_ELEMENT_REGISTER_DECLARE (cudapbfmonitor);

G_END_DECLS
