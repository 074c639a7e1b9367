/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Decimal numbers of text files: several times as fast as strtod and printf. Any
 * thread, any locale. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * cvis_decimal_read:
 * @at: a number: sign, digits with a point among them, exponent; or "nan" and
 *   "inf" as strtod takes them; no blanks before it
 * @end: of the text; nothing from there on is looked at
 * @point: '.' or ','
 * @value: (out): the double that is nearest; of two, the even one
 *
 * Returns: what follows the number; @at if there is none
 */
const gchar *cvis_decimal_read (
    const gchar *at, const gchar *end, gchar point, gdouble *value);

#define CVIS_DECIMAL_MAX 32 /* bytes */

/* Writes @value, which is finite, at @to without a terminating NUL: with up to
 * ten decimals if these give the same double when read, else with 17 digits,
 * which do.
 * Returns: the end of what it wrote, at most %CVIS_DECIMAL_MAX bytes */
gchar *cvis_decimal_write (gchar *to, gdouble value);

G_END_DECLS
