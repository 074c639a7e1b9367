/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#pragma once

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

#define GST_TYPE_FILM_GRAIN_ENC (gst_film_grain_enc_get_type ())
G_DECLARE_FINAL_TYPE (
    GstFilmGrainEnc, gst_film_grain_enc, GST, FILM_GRAIN_ENC, GstAggregator)

GST_ELEMENT_REGISTER_DECLARE (filmgrainenc);

G_END_DECLS
