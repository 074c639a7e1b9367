/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvisfont.h"

/* On a machine without fonts "sans" is an error; cairo's own font of strokes, which
 * has ASCII only, has to be selected by its name. */
const gchar *
gst_cvis_font (gboolean *ascii)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, 8, 8);
  cairo_t *cr = cairo_create (surface);
  cairo_text_extents_t extents = { 0 };
  const gchar *font = "sans";

  cairo_select_font_face (
      cr, font, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_text_extents (cr, "0", &extents);
  if (cairo_status (cr) != CAIRO_STATUS_SUCCESS || extents.width <= 0) {
    font = "@cairo:";
    *ascii = TRUE;
  } else {
    *ascii = cairo_scaled_font_get_type (cairo_get_scaled_font (cr))
             == CAIRO_FONT_TYPE_USER;
  }
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  return font;
}
