/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include "gstpbflistsrc.h"

G_BEGIN_DECLS

#define GST_TYPE_PBF_FILE_SRC (gst_pbf_file_src_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPbfFileSrc, gst_pbf_file_src, GST, PBF_FILE_SRC, GstPbfListSrc)

GST_ELEMENT_REGISTER_DECLARE (pbffilesrc);

G_END_DECLS
