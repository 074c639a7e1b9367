/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Wavelets defined by their lifting steps, with PyWavelets' scale and sign.
 *
 * 5/3 and 9/7 are those of JPEG 2000 (ISO/IEC 15444-1); cdf7/5 is CDF(4,2)
 * of A. Cohen, I. Daubechies, J.-C. Feauveau, Biorthogonal bases of
 * compactly supported wavelets (1992); dd9/7 and dd13/7 predict by the
 * interpolation of G. Deslauriers and S. Dubuc (W. Sweldens, The lifting
 * scheme, 1996). */
#include "cuda/wavelet/private.h"

#define MAX_STEPS 4

/* sqrt (2), the scale of 9/7, and its inverse */
#define ROOT2 1.4142135623730951
#define K97 1.1496043988602412

static const struct {
  const gchar *name;
  guint n_steps;
  LwtStep steps[MAX_STEPS];
  gdouble scale_low, scale_high;
} classics[] = {
  { "haar", 2,
      { { LWT_STEP_PREDICT, 0, 1, { -1.0 } },
          { LWT_STEP_UPDATE, 0, 1, { 0.5 } } },
      ROOT2, -1.0 / ROOT2 },
  { "5/3", 2,
      { { LWT_STEP_PREDICT, 0, 2, { -0.5, -0.5 } },
          { LWT_STEP_UPDATE, -1, 2, { 0.25, 0.25 } } },
      ROOT2, -1.0 / ROOT2 },
  { "9/7", 4,
      { { LWT_STEP_PREDICT, 0, 2,
            { -1.5861343420599236, -1.5861343420599236 } },
          { LWT_STEP_UPDATE, -1, 2,
              { -0.052980118572961415, -0.052980118572961415 } },
          { LWT_STEP_PREDICT, 0, 2,
              { 0.8829110755309333, 0.8829110755309333 } },
          { LWT_STEP_UPDATE, -1, 2,
              { 0.44350685204397115, 0.44350685204397115 } } },
      K97, -1.0 / K97 },
  { "cdf7/5", 3,
      { { LWT_STEP_UPDATE, -1, 2, { -0.25, -0.25 } },
          { LWT_STEP_PREDICT, 0, 2, { -1.0, -1.0 } },
          { LWT_STEP_UPDATE, -1, 2, { 0.1875, 0.1875 } } },
      2.0 * ROOT2, -0.5 / ROOT2 },
  { "dd9/7", 2,
      { { LWT_STEP_PREDICT, -1, 4, { 0.0625, -0.5625, -0.5625, 0.0625 } },
          { LWT_STEP_UPDATE, -1, 2, { 0.25, 0.25 } } },
      ROOT2, -1.0 / ROOT2 },
  { "dd13/7", 2,
      { { LWT_STEP_PREDICT, -1, 4, { 0.0625, -0.5625, -0.5625, 0.0625 } },
          { LWT_STEP_UPDATE, -2, 4,
              { -0.03125, 0.28125, 0.28125, -0.03125 } } },
      ROOT2, -1.0 / ROOT2 },
};

gboolean
lwt_classic_find (const gchar *name, LwtWavelet *wavelet)
{
  for (guint i = 0; i < G_N_ELEMENTS (classics); i++) {
    if (strcmp (name, classics[i].name) != 0)
      continue;
    wavelet->n_steps = classics[i].n_steps;
    memcpy (wavelet->steps, classics[i].steps, sizeof (classics[i].steps));
    wavelet->scale_low = classics[i].scale_low;
    wavelet->scale_high = classics[i].scale_high;
    return TRUE;
  }
  return FALSE;
}
