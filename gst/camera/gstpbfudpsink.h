/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define GST_TYPE_PBF_UDP_SINK (gst_pbf_udp_sink_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPbfUdpSink, gst_pbf_udp_sink, GST, PBF_UDP_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE (pbfudpsink);

G_END_DECLS
