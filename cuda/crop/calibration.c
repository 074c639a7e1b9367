/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Parses the homography and applies it. */
#include "cuda/crop/calibration.h"

#include <math.h>
#include <string.h>

/* Pivot, after scaling rows and columns to about 1, below which a matrix
 * maps the plate to a line within double precision. */
#define SINGULAR_PIVOT 1e-10

static const gchar *
skip_space (const gchar *p)
{
  while (g_ascii_isspace (*p))
    p++;
  return p;
}

static gboolean
parse_number (const gchar *text, const gchar **p, guint index, gdouble *value,
    GError **error)
{
  gchar *end;

  *value = g_ascii_strtod (*p, &end);
  if (end == *p || (*end && !g_ascii_isspace (*end) && !strchr (",;", *end))) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "calibration: no number at character %u (number %u of 9): \"%.20s\"",
        (guint) (*p - text) + 1, index + 1, *p);
    return FALSE;
  }
  if (!isfinite (*value)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "calibration: number %u of 9, \"%.*s\", is not finite", index + 1,
        (int) MIN (end - *p, 20), *p);
    return FALSE;
  }
  *p = end;
  return TRUE;
}

/* Divides a row (@stride 3, @step 1) or a column by a power of two near its
 * largest entry. Returns: FALSE if it is all zeros */
static gboolean
scale_line (gdouble *line, guint step)
{
  gdouble largest = 0;
  int exponent;

  for (guint i = 0; i < 3; i++)
    largest = MAX (largest, fabs (line[i * step]));
  if (largest == 0)
    return FALSE;
  frexp (largest, &exponent);
  for (guint i = 0; i < 3; i++)
    line[i * step] = ldexp (line[i * step], -exponent);
  return TRUE;
}

/* Whether the matrix maps the plate to a line or a point within double
 * precision: Gaussian elimination with complete pivoting, after
 * equilibration. */
static gboolean
calibration_is_singular (const PbfCalibration *calibration)
{
  gdouble m[9];

  memcpy (m, calibration->h, sizeof m);
  for (guint round = 0; round < 4; round++)
    for (guint i = 0; i < 3; i++)
      if (!scale_line (m + 3 * i, 1) || !scale_line (m + i, 3))
        return TRUE;

  for (guint k = 0; k < 3; k++) {
    guint row = k, col = k;

    for (guint r = k; r < 3; r++)
      for (guint c = k; c < 3; c++)
        if (fabs (m[3 * r + c]) > fabs (m[3 * row + col]))
          row = r, col = c;
    if (fabs (m[3 * row + col]) < SINGULAR_PIVOT)
      return TRUE;
    for (guint i = 0; i < 3; i++) {
      gdouble t = m[3 * k + i];
      m[3 * k + i] = m[3 * row + i], m[3 * row + i] = t;
    }
    for (guint i = 0; i < 3; i++) {
      gdouble t = m[3 * i + k];
      m[3 * i + k] = m[3 * i + col], m[3 * i + col] = t;
    }
    for (guint r = k + 1; r < 3; r++) {
      gdouble f = m[3 * r + k] / m[3 * k + k];
      for (guint c = k; c < 3; c++)
        m[3 * r + c] -= f * m[3 * k + c];
    }
  }
  return FALSE;
}

gboolean
pbf_calibration_parse (
    const gchar *text, PbfCalibration *calibration, GError **error)
{
  PbfCalibration c;
  guint n = 0;
  const gchar *p;

  if (!text)
    text = "";
  p = skip_space (text);
  while (*p) {
    gdouble value;

    if (!parse_number (text, &p, n, &value, error))
      return FALSE;
    if (n == 9) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
          "calibration: more than 9 numbers; it is a 3x3 matrix");
      return FALSE;
    }
    c.h[n++] = value;
    p = skip_space (p);
    if (*p == ',' || *p == ';') {
      p = skip_space (p + 1);
      if (!*p) {
        g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
            "calibration: nothing follows the last separator (after number %u"
            " of 9)",
            n);
        return FALSE;
      }
    }
  }
  if (n != 9) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "calibration: %u numbers instead of 9; it is a 3x3 matrix", n);
    return FALSE;
  }
  if (calibration_is_singular (&c)) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "calibration: the matrix %.200s is singular; it maps the plate onto a "
        "line or a point",
        text);
    return FALSE;
  }
  *calibration = c;
  return TRUE;
}

gboolean
pbf_calibration_apply (const PbfCalibration *calibration, gdouble x_um,
    gdouble y_um, gdouble *x_px, gdouble *y_px)
{
  const gdouble *h = calibration->h;
  gdouble w = h[6] * x_um + h[7] * y_um + h[8];
  gdouble x = (h[0] * x_um + h[1] * y_um + h[2]) / w;
  gdouble y = (h[3] * x_um + h[4] * y_um + h[5]) / w;

  if (!isfinite (x) || !isfinite (y))
    return FALSE;
  *x_px = x;
  *y_px = y;
  return TRUE;
}
