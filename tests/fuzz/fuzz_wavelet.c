/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Wavelets as text: names, steps, banks; accepted ones are within their
 * limits. */
#include "fuzz.h"
#include "cuda/wavelet/wavelet.h"

#include <math.h>
#include <string.h>

static void
check_step (const LwtWavelet *wavelet, const LwtStep *step)
{
  g_assert (step->kind == LWT_STEP_PREDICT || step->kind == LWT_STEP_UPDATE);
  g_assert (step->n >= 1 && step->n <= LWT_MAX_TAPS);
  g_assert (ABS (step->first) <= 1024 && step->shift <= 31);
  for (guint i = 0; i < step->n; i++) {
    g_assert (isfinite (step->c[i]));
    if (wavelet->reversible)
      g_assert (ldexp (step->num[i], -(gint) step->shift) == step->c[i]);
  }
}

static void
check_wavelet (const LwtWavelet *wavelet)
{
  g_assert (memchr (wavelet->name, '\0', sizeof (wavelet->name)));
  g_assert (g_utf8_validate (wavelet->name, -1, NULL));
  g_assert (wavelet->n_steps <= LWT_MAX_STEPS);
  for (guint i = 0; i < wavelet->n_steps; i++)
    check_step (wavelet, wavelet->steps + i);
  g_assert (isfinite (wavelet->scale_low) && wavelet->scale_low != 0);
  g_assert (isfinite (wavelet->scale_high) && wavelet->scale_high != 0);
  g_assert (
      isfinite (1 / wavelet->scale_low) && isfinite (1 / wavelet->scale_high));
  g_assert (isfinite (wavelet->noise_gain) && wavelet->noise_gain >= 0);
  g_assert (wavelet->residual >= 0 && wavelet->residual <= 1e-9);
  g_assert (wavelet->length >= 1 && wavelet->length <= 1024);
}

int
LLVMFuzzerTestOneInput (const uint8_t *bytes, size_t size)
{
  gchar *text = g_strndup ((const gchar *) bytes, size);
  GError *error = NULL;
  LwtWavelet *wavelet = lwt_wavelet_new (text, &error);

  g_assert ((wavelet == NULL) == (error != NULL));
  if (wavelet) {
    check_wavelet (wavelet);
    lwt_wavelet_free (wavelet);
  } else {
    g_assert (error->domain == CVIS_ERROR && error->code == CVIS_ERROR_INVALID);
    g_assert (*error->message && g_utf8_validate (error->message, -1, NULL));
    g_error_free (error);
  }
  g_free (text);
  return 0;
}
