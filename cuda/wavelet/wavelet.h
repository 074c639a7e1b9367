/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Wavelets as lifting steps.
 *
 * A signal x is split into its even samples s[k] = x[2k] and its odd ones
 * d[k] = x[2k + 1]; the steps change one from the other in turn, in place:
 *   predict: d[k] += c[0] s[k + first] + .. + c[n - 1] s[k + first + n - 1]
 *   update:  s[k] += c[0] d[k + first] + .. + c[n - 1] d[k + first + n - 1]
 * and then s[k] *= scale_low, d[k] *= scale_high. The inverse undoes that in
 * reverse order. The exact definition is in docs/design/lifting.md.
 *
 * Source: Y. Xu, C. Zhang et al., A generic parallel computational framework of
 * lifting wavelet transform for online engineering surface filtration (Signal
 * Processing 165, 2019), with the sign and K of CDF 9/7 corrected; I.
 * Daubechies, W. Sweldens, Factoring wavelet transforms into lifting steps (J.
 * Fourier Anal. Appl. 4, 1998). */
#pragma once

#include "cuda/core/error.h"

G_BEGIN_DECLS

#define LWT_MAX_STEPS 32
#define LWT_MAX_TAPS 32
/* Largest number of taps of a bank's filter. */
#define LWT_MAX_FILTER 128
/* Factorisations with a larger noise gain are refused. */
#define LWT_MAX_NOISE_GAIN 50.0

typedef enum {
  LWT_STEP_PREDICT, /* changes the odd samples */
  LWT_STEP_UPDATE,  /* changes the even samples */
} LwtStepKind;

/**
 * LwtStep:
 * @first: index, relative to k, of the neighbour with weight c[0]
 * @n: number of neighbours, 1..LWT_MAX_TAPS
 * @c: their weights
 * @num, @shift: for a reversible wavelet: the weights are num[i] / 2^shift,
 *   and the integer added is (num[0] s[..] + .. + 2^(shift - 1)) >> shift
 *   (with a shift of 0 the sum itself), an arithmetic shift
 */
typedef struct {
  LwtStepKind kind;
  gint first;
  guint n;
  gdouble c[LWT_MAX_TAPS];
  gint32 num[LWT_MAX_TAPS];
  guint shift;
} LwtStep;

/**
 * LwtWavelet:
 * @name: as requested
 * @scale_low, @scale_high: PyWavelets' scale and sign: the low band of a
 *   constant z is sqrt(2) z. 1, and unused, in integers
 * @shift_low, @shift_high: only with the boundary `periodic`: entry k of a
 *   band is s[(k + shift_low) mod n], d[(k + shift_high) mod n], which makes
 *   the bands equal to PyWavelets'. Factorisations of long filters leave
 *   such shifts; with other boundaries the bands are not shifted
 * @reversible: the integer form exists: @num and @shift of all steps are set
 * @length: taps of the longest of its four filters
 * @noise_gain: amplification of white noise in its steps, the worse of both
 *   directions; 1 is ideal
 * @residual: largest relative deviation of the steps, multiplied out, from
 *   the filters they were factorised from; 0 for given steps
 */
typedef struct {
  gchar name[64];
  guint n_steps;
  LwtStep steps[LWT_MAX_STEPS];
  gdouble scale_low, scale_high;
  gint shift_low, shift_high;
  gboolean reversible;
  guint length;
  gdouble noise_gain;
  gdouble residual;
} LwtWavelet;

/**
 * lwt_wavelet_new:
 * @description: one of
 *   - a name: those of PyWavelets (haar, db1..db20, sym2..sym20, coif1..coif5,
 *     bior1.1..bior6.8, rbio1.1..rbio6.8), 5/3 (bior2.2), 9/7 (bior4.4),
 *     cdf7/5 (CDF(4,2)), dd9/7, dd13/7 (Deslauriers-Dubuc)
 *   - steps: "steps: P@0 -0.5 -0.5; U@-1 0.25 0.25; K 1.414 0.707": P or U,
 *     @ and `first`, the weights; K the two scales (1 1 if left out). A weight
 *     may be a fraction, -1/16; if all are such with powers of two below, up
 *     to 2^14, the wavelet is reversible. `first` is -256..256, weights are
 *     -1e6..1e6
 *   - a filter bank: "bank: LO ..; HI ..; RLO ..; RHI ..": the four filters of
 *     PyWavelets' `filter_bank` (decomposition low, high, reconstruction low,
 *     high), which are factorised; or only "bank: LO .." of an orthogonal one
 *
 * Returns: (transfer full): the wavelet, or %NULL with CVIS_ERROR_INVALID in
 *   words that name what is wrong: an unknown name, the place in the text, a
 *   bank that does not reconstruct, no factorisation with a noise gain below
 *   %LWT_MAX_NOISE_GAIN. Factorising takes up to 50 ms; it is the same on every
 *   machine
 */
LwtWavelet *lwt_wavelet_new (const gchar *description, GError **error);

/* Makes a wavelet from four filters of @length taps each (zeros added to
 * shorter ones), in the order and alignment of PyWavelets' `filter_bank`. */
LwtWavelet *lwt_wavelet_new_from_bank (const gchar *name,
    const gdouble *dec_low, const gdouble *dec_high, const gdouble *rec_low,
    const gdouble *rec_high, guint length, GError **error);

void lwt_wavelet_free (LwtWavelet *wavelet);

/* All names, %NULL-terminated, static. */
const gchar *const *lwt_wavelet_names (void);

G_END_DECLS
