/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDAVISION_ANALYTICS (gst_cudavision_analytics_get_type ())
G_DECLARE_FINAL_TYPE (GstCudavisionAnalytics, gst_cudavision_analytics, GST,
    CUDAVISION_ANALYTICS, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (cudavisionanalytics);

G_END_DECLS
