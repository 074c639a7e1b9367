/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_MOTION_VECTOR_ENC (gst_motion_vector_enc_get_type ())
G_DECLARE_FINAL_TYPE (GstMotionVectorEnc, gst_motion_vector_enc, GST,
    MOTION_VECTOR_ENC, GstElement)

GST_ELEMENT_REGISTER_DECLARE (motionvectorenc);

G_END_DECLS
