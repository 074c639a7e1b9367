/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Laurent polynomials, and rows of them for banks. */
#include "cuda/wavelet/private.h"

gdouble
lwt_poly_max (const LwtPoly *poly)
{
  gdouble max = 0.0;

  for (guint i = 0; i < poly->n; i++)
    max = MAX (max, fabs (poly->c[i].hi));
  return max;
}

void
lwt_poly_trim (LwtPoly *poly, gdouble least)
{
  guint from = 0;

  while (poly->n > 0 && fabs (poly->c[poly->n - 1].hi) <= least)
    poly->n--;
  while (from < poly->n && fabs (poly->c[from].hi) <= least)
    from++;
  poly->n -= from;
  poly->first += (gint) from;
  memmove (poly->c, poly->c + from, poly->n * sizeof (poly->c[0]));
}

/* Extends the polynomial to terms @first .. @end - 1. */
static gboolean
grow (LwtPoly *poly, gint first, gint end)
{
  guint before;

  if (poly->n == 0)
    poly->first = first;
  end = MAX (end, poly->first + (gint) poly->n);
  first = MIN (first, poly->first);
  if (end - first > LWT_MAX_TERMS)
    return FALSE;
  before = (guint) (poly->first - first);
  memmove (poly->c + before, poly->c, poly->n * sizeof (poly->c[0]));
  memset (poly->c, 0, before * sizeof (poly->c[0]));
  memset (poly->c + before + poly->n, 0,
      ((guint) (end - first) - before - poly->n) * sizeof (poly->c[0]));
  poly->first = first;
  poly->n = (guint) (end - first);
  return TRUE;
}

gboolean
lwt_poly_add_product (
    LwtPoly *poly, const LwtPoly *factor, const LwtStep *step, gdouble sign)
{
  const gint first = factor->first + step->first;

  if (factor->n == 0)
    return TRUE;
  if (!grow (poly, first, first + (gint) (factor->n + step->n) - 1))
    return FALSE;
  for (guint i = 0; i < step->n; i++) {
    const LwtDd weight = { sign * step->c[i], 0.0 };
    LwtDd *sum = poly->c + (first + (gint) i - poly->first);

    for (guint j = 0; j < factor->n; j++)
      sum[j] = lwt_dd_add (sum[j], lwt_dd_multiply (weight, factor->c[j]));
  }
  return TRUE;
}

void
lwt_row_from_filter (LwtRow *row, const LwtDd *taps, guint length)
{
  const gint half = (gint) length / 2;

  memset (row, 0, sizeof (*row));
  /* tap j weighs x[2k + m], m = half - j; of both kinds from the least m */
  for (gint j = (gint) length - 1; j >= 0; j--) {
    const gint m = half - j;
    LwtPoly *poly = m & 1 ? &row->odd : &row->even;

    if (poly->n == 0)
      poly->first = m >= 0 ? m / 2 : -((1 - m) / 2);
    poly->c[poly->n++] = taps[j];
  }
  lwt_poly_trim (&row->even, 0.0);
  lwt_poly_trim (&row->odd, 0.0);
}
