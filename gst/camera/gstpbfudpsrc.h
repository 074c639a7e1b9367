/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "gstpbflistsrc.h"

G_BEGIN_DECLS

#define GST_TYPE_PBF_UDP_SRC (gst_pbf_udp_src_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPbfUdpSrc, gst_pbf_udp_src, GST, PBF_UDP_SRC, GstPbfListSrc)

GST_ELEMENT_REGISTER_DECLARE (pbfudpsrc);

G_END_DECLS
