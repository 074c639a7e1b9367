/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_SURFACE_PARAM_ENC (gst_surface_param_enc_get_type ())
G_DECLARE_FINAL_TYPE (GstSurfaceParamEnc, gst_surface_param_enc, GST,
    SURFACE_PARAM_ENC, GstElement)

GST_ELEMENT_REGISTER_DECLARE (surfaceparamenc);

G_END_DECLS
