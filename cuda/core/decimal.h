/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Decimal numbers in text files, several times as fast as strtod and printf.
 * Any thread, any locale. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * cvis_decimal_read:
 * @at: a number: sign, digits with an optional point, exponent; or "nan" and
 *   "inf" as strtod accepts them; without leading blanks
 * @end: end of the text; nothing from there on is read
 * @point: decimal sign, '.' or ','
 * @value: (out): the nearest double; of two the even one
 *
 * Returns: the end of the number; @at if there is none
 */
const gchar *cvis_decimal_read (
    const gchar *at, const gchar *end, gchar point, gdouble *value);

#define CVIS_DECIMAL_MAX 32 /* bytes */

/* Writes the finite @value to @to without a terminating NUL: with up to ten
 * decimals if they parse to the same double, otherwise with 17 digits, which
 * always do. Returns: the end of the text, at most %CVIS_DECIMAL_MAX bytes */
gchar *cvis_decimal_write (gchar *to, gdouble value);

G_END_DECLS
