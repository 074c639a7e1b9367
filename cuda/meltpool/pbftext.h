/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Numbers as text, fast and the same in every locale: what tables of results
 * are made of. Nothing here allocates or knows of state; all functions may be
 * called from any thread. Each writes at @to, without a terminating NUL, and
 * returns the end of what it wrote: at most %PBF_TEXT_MAX bytes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define PBF_TEXT_MAX 32

gchar *pbf_text_uint (gchar *to, guint64 value);
gchar *pbf_text_int (gchar *to, gint64 value);

/* @value / 256, exactly: at most eight digits after the point, no trailing
 * zeros. */
gchar *pbf_text_q8 (gchar *to, gint32 value);

/* The shortest decimal that strtof() reads back as the same bits (of those the
 * closest to @value): "0.1", "-7", "1.5e-10", "inf", "-inf", "nan". Without
 * exponent for 1e-5 <= |value| < 1e21. */
gchar *pbf_text_float (gchar *to, gfloat value);

G_END_DECLS
