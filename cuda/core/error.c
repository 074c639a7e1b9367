/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/error.h"

/* The hyphens are part of the name. */
/* clang-format off */
G_DEFINE_QUARK (cvis-error-quark, cvis_error)
/* clang-format on */

gboolean
cvis_refuse (GError **error, const gchar *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (CVIS_ERROR, CVIS_ERROR_INVALID, format, args);
  va_end (args);
  return FALSE;
}

gboolean
cvis_check_range (
    const gchar *what, gdouble value, gdouble low, gdouble high, GError **error)
{
  gchar texts[3][G_ASCII_DTOSTR_BUF_SIZE];

  if (value >= low && value <= high)
    return TRUE;
  return cvis_refuse (error, "%s is %s, must be %s to %s", what,
      g_ascii_dtostr (texts[0], sizeof texts[0], value),
      g_ascii_dtostr (texts[1], sizeof texts[1], low),
      g_ascii_dtostr (texts[2], sizeof texts[2], high));
}
