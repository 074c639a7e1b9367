/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_PBF_RESULT_ENC (gst_pbf_result_enc_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPbfResultEnc, gst_pbf_result_enc, GST, PBF_RESULT_ENC, GstElement)

GST_ELEMENT_REGISTER_DECLARE (pbfresultenc);

G_END_DECLS
