/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/lifting/finitecheck.h"

#include "cuda/lifting/arithmetic.h"

/* Length of a line that is tested instead of longer ones: between its ends
 * all samples are alike. */
#define ENOUGH 4096

/* One step backwards, from the low band: @seen are the samples that the
 * later steps depend on. */
static void
look_back (const LwtStep *step, LwtBoundary boundary, gboolean *seen, gint n)
{
  const gint odd = step->kind == LWT_STEP_PREDICT;

  for (gint k = 0; 2 * k + odd < n; k++) {
    if (!seen[2 * k + odd])
      continue;
    for (guint i = 0; i < step->n; i++) {
      const gint j =
          lwt_neighbour (boundary, k + step->first + (gint) i, !odd, n);

      if (j >= 0 && (gfloat) step->c[i] != 0.0f)
        seen[2 * j + !odd] = TRUE;
    }
  }
}

static gboolean
sees_line (const LwtWavelet *wavelet, LwtBoundary boundary, gint n)
{
  gboolean *seen = g_new0 (gboolean, n);
  gboolean all = TRUE;

  for (gint i = 0; i < n; i += 2)
    seen[i] = TRUE;
  for (guint i = wavelet->n_steps; i-- > 0;)
    look_back (&wavelet->steps[i], boundary, seen, n);
  for (gint i = 0; i < n; i++)
    all = all && seen[i];
  g_free (seen);
  return all;
}

gboolean
lwt_low_band_sees_all (
    const LwtWavelet *wavelet, LwtBoundary boundary, guint n, guint levels)
{
  for (guint i = 0; i < levels && n > 1; i++) {
    if (!sees_line (
            wavelet, boundary, (gint) (n > 2 * ENOUGH ? ENOUGH + n % 2 : n)))
      return FALSE;
    n = (n + 1) / 2;
  }
  return TRUE;
}
