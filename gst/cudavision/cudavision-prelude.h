/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

#ifdef BUILDING_GST_CUDAVISION
#define GST_CUDAVISION_API GST_API_EXPORT
#else
#define GST_CUDAVISION_API GST_API_IMPORT
#endif
