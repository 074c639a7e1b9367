/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Calibrations as text. */
#include "fuzz.h"
#include "cuda/crop/calibration.h"

#include <math.h>

static void
check_calibration (const PbfCalibration *c)
{
  static const gdouble at[] = { 0, 1, -1e3, 1e9, -1e300 };

  for (guint i = 0; i < G_N_ELEMENTS (at); i++)
    for (guint j = 0; j < G_N_ELEMENTS (at); j++) {
      gdouble x, y;
      if (pbf_calibration_apply (c, at[i], at[j], &x, &y))
        g_assert (isfinite (x) && isfinite (y));
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  gchar *text = g_strndup ((const gchar *) bytes, size);
  GError *error = NULL;
  PbfCalibration c;

  if (pbf_calibration_parse (text, &c, &error)) {
    check_calibration (&c);
  } else {
    g_assert (error->domain == CVIS_ERROR && error->code == CVIS_ERROR_INVALID);
    g_assert (*error->message);
    g_error_free (error);
  }
  g_free (text);
  return 0;
}
