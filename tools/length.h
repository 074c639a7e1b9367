/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lengths with units, as people type and read them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Reads "80um", "0.8 mm", "250 nm" or "2.5e-6" (metres), at least 0.
 * @option: named by the error, "--lambda-c" */
gboolean length_parse (
    const gchar *text, const gchar *option, gdouble *metres, GError **error);

/* "12.3 nm", with four digits and the unit that leaves one to three digits before
 * the point; "0 m" for 0. Free with g_free(). */
gchar *length_format (gdouble metres);

/**
 * LengthUnit:
 * @name: "um"
 * @label: as a person writes it, UTF-8
 * @metres: of one unit
 */
typedef struct {
  const gchar *name, *label;
  gdouble metres;
} LengthUnit;

/* The unit in which @metres has one to three digits before the point. */
const LengthUnit *length_unit (gdouble metres);

G_END_DECLS
