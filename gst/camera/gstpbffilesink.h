/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define GST_TYPE_PBF_FILE_SINK (gst_pbf_file_sink_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPbfFileSink, gst_pbf_file_sink, GST, PBF_FILE_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE (pbffilesink);

G_END_DECLS
