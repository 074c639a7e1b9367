/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Fractions as text, in the style of cuda/core/text.h: each function writes
 * at most %PBF_TEXT_MAX bytes. */
#pragma once

#include "cuda/core/text.h"

G_BEGIN_DECLS

#define PBF_TEXT_MAX 32

/* @value / 256, exactly: at most eight digits after the point, no trailing
 * zeros. */
gchar *pbf_text_q8 (gchar *to, gint32 value);

/* The shortest decimal that strtof() reads back as the same bits (of those the
 * closest to @value): "0.1", "-7", "1.5e-10", "inf", "-inf", "nan". Without
 * exponent for 1e-5 <= |value| < 1e21. */
gchar *pbf_text_float (gchar *to, gfloat value);

G_END_DECLS
