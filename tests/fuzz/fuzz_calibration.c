/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Calibrations: text, or (first byte 'F') pairs of points for the fit. */
#include "fuzz.h"
#include "pbfcalibration.h"

#include <math.h>
#include <string.h>

#define MAX_PAIRS 24

static void
check_calibration (const PbfCalibration *c)
{
  static const gdouble at[] = { 0, 1, -1e3, 1e9, -1e300 };
  PbfCalibration back;
  gchar *text = pbf_calibration_format (c);

  g_assert (pbf_calibration_parse (text, &back, NULL));
  for (guint i = 0; i < 9; i++)
    g_assert (back.h[i] == c->h[i]);
  g_free (text);
  for (guint i = 0; i < G_N_ELEMENTS (at); i++)
    for (guint j = 0; j < G_N_ELEMENTS (at); j++) {
      gdouble x, y;
      if (pbf_calibration_apply (c, at[i], at[j], &x, &y))
        g_assert (isfinite (x) && isfinite (y));
    }
}

static void
check_error (GError *error)
{
  g_assert (error->domain == CVIS_ERROR && error->code == CVIS_ERROR_INVALID);
  g_assert (*error->message);
  g_error_free (error);
}

static void
fuzz_text (const uint8_t *bytes, size_t size)
{
  gchar *text = g_strndup ((const gchar *) bytes, size);
  GError *error = NULL;
  PbfCalibration c;

  if (pbf_calibration_parse (text, &c, &error))
    check_calibration (&c);
  else
    check_error (error);
  g_free (text);
}

/* Byte 1: the tolerance; 8 bytes a pair. */
static void
fuzz_fit (const uint8_t *bytes, size_t size)
{
  gdouble um[MAX_PAIRS][2], px[MAX_PAIRS][2], residual;
  guint n = MIN ((size - 2) / 8, MAX_PAIRS), inliers;
  GError *error = NULL;
  PbfCalibration c;

  for (guint i = 0; i < n; i++) {
    gint16 v[4];
    memcpy (v, bytes + 2 + 8 * i, 8);
    um[i][0] = v[0] * 100.0;
    um[i][1] = v[1] * 100.0;
    px[i][0] = v[2] / 16.0;
    px[i][1] = v[3] / 16.0;
  }
  if (pbf_calibration_fit (
          um, px, n, bytes[1] * 0.25, &c, &residual, &inliers, &error)) {
    check_calibration (&c);
    g_assert (inliers >= 4 && inliers <= n);
    g_assert (residual >= 0 && residual <= bytes[1] * 0.25);
  } else {
    check_error (error);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  if (size >= 2 && bytes[0] == 'F')
    fuzz_fit (bytes, size);
  else
    fuzz_text (bytes, size);
  return 0;
}
