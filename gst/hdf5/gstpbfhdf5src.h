/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define GST_TYPE_PBF_HDF5_SRC (gst_pbf_hdf5_src_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPbfHdf5Src, gst_pbf_hdf5_src, GST, PBF_HDF5_SRC, GstPushSrc)
GST_ELEMENT_REGISTER_DECLARE (pbfhdf5src);

G_END_DECLS
