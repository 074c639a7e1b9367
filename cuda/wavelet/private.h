/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Private to cuda/wavelet. */
#pragma once

#include <math.h>
#include <string.h>

#include "cuda/wavelet/wavelet.h"

G_BEGIN_DECLS

/* Largest |k - neighbour| of a step. */
#define LWT_MAX_FIRST 256

/* --- double-double arithmetic --------------------------------------------
 * Sums of two doubles, the second at most half a unit in the last place of
 * the first. Only IEEE arithmetic, so the bits are the same everywhere. T.
 * J. Dekker, A floating-point technique for extending the available
 * precision (Numerische Mathematik 18, 1971). */
typedef struct {
  gdouble hi, lo;
} LwtDd;

static inline LwtDd
lwt_dd_join (gdouble hi, gdouble lo)
{
  const gdouble sum = hi + lo;

  return (LwtDd){ sum, lo - (sum - hi) };
}

static inline LwtDd
lwt_dd_add (LwtDd a, LwtDd b)
{
  const gdouble sum = a.hi + b.hi, part = sum - a.hi;
  const gdouble rest = (a.hi - (sum - part)) + (b.hi - part);
  const gdouble low = a.lo + b.lo, low_part = low - a.lo;
  const gdouble low_rest = (a.lo - (low - low_part)) + (b.lo - low_part);
  const LwtDd first = lwt_dd_join (sum, rest + low);

  return lwt_dd_join (first.hi, first.lo + low_rest);
}

static inline LwtDd
lwt_dd_negate (LwtDd a)
{
  return (LwtDd){ -a.hi, -a.lo };
}

static inline LwtDd
lwt_dd_multiply (LwtDd a, LwtDd b)
{
  const gdouble product = a.hi * b.hi;
  const gdouble rest = fma (a.hi, b.hi, -product);

  return lwt_dd_join (product, rest + (a.hi * b.lo + a.lo * b.hi));
}

static inline LwtDd
lwt_dd_divide (LwtDd a, LwtDd b)
{
  LwtDd quotient = { a.hi / b.hi, 0.0 };

  for (guint i = 0; i < 2; i++) {
    const LwtDd left =
        lwt_dd_add (a, lwt_dd_negate (lwt_dd_multiply (quotient, b)));

    quotient = lwt_dd_add (quotient, (LwtDd){ left.hi / b.hi, 0.0 });
  }
  return quotient;
}

/* --- banks ----------------------------------------------------------------------- */

/* The two low-pass filters define the bank: the high-pass filters are dec[j]
 * = (-1)^(j + 1) rec_low[j], rec[j] = (-1)^j dec_low[j]. */
typedef struct {
  guint length;
  LwtDd dec_low[LWT_MAX_FILTER];
  LwtDd rec_low[LWT_MAX_FILTER];
} LwtBank;

/* Finds a bank of cuda/wavelet/banks.c */
gboolean lwt_bank_find (const gchar *name, LwtBank *bank);

/* --- Laurent polynomials ---------------------------------------------------------
 * c[0] S^first + .. + c[n - 1] S^(first + n - 1), (S x)[k] = x[k + 1]. */
#define LWT_MAX_TERMS 256

typedef struct {
  gint first;
  guint n;
  LwtDd c[LWT_MAX_TERMS];
} LwtPoly;

/* Removes terms of magnitude <= @least from both ends. */
void lwt_poly_trim (LwtPoly *poly, gdouble least);
gdouble lwt_poly_max (const LwtPoly *poly);
/* @poly += @sign * @factor * @step's weights. FALSE: too long. */
gboolean lwt_poly_add_product (
    LwtPoly *poly, const LwtPoly *factor, const LwtStep *step, gdouble sign);

/* Polyphase components of a band: for the even and the odd samples */
typedef struct {
  LwtPoly even, odd;
} LwtRow;

/* One of the two rows of an analysis bank, in PyWavelets' alignment */
void lwt_row_from_filter (LwtRow *row, const LwtDd *taps, guint length);

/* --- properties of steps --------------------------------------------------------- */

/* Multiplies the steps out. FALSE: too long. */
gboolean lwt_steps_multiply (
    const LwtWavelet *wavelet, LwtRow *low, LwtRow *high);
/* LwtWavelet's noise_gain */
gdouble lwt_steps_noise_gain (const LwtWavelet *wavelet);
/* Largest gain of white noise in a sample of a band, or of the picture, next
 * to a symmetric edge */
gdouble lwt_steps_edge_gain (const LwtWavelet *wavelet);
/* Number of taps of the longest filter */
guint lwt_steps_length (const LwtRow *low, const LwtRow *high);
/* Delay, in samples, of a transform with a sliding window along the signal */
guint lwt_steps_pending (const LwtWavelet *wavelet);
/* Sets @num, @shift of all steps and @reversible if the weights allow it. */
void lwt_steps_set_reversible (LwtWavelet *wavelet);

/* Distance from the centre of a step's neighbours to the sample that it
 * changes, in halves of k */
gint lwt_step_off_centre (const LwtStep *step);

/* --- factorisations of a bank ---------------------------------------------------- */

GArray *lwt_candidates_new (void);
/* Adds @wavelet if its steps are new and multiply out to the rows. */
void lwt_candidates_add (GArray *candidates, const LwtRow *low,
    const LwtRow *high, const LwtWavelet *wavelet);
/* Chooses the best one. Returns: FALSE if there is none with acceptable
 * gains */
gboolean lwt_candidates_best (
    GArray *candidates, LwtWavelet *wavelet, GError **error);

/* --- sources of wavelets ------------------------------------------------- */

/* Factorises the rows of the analysis bank; @rough: relative size of terms
 * that are rounding errors. */
gboolean lwt_factorise (LwtWavelet *wavelet, const LwtRow *low,
    const LwtRow *high, gdouble rough, GError **error);
/* Finds haar, 5/3 and the other wavelets defined by steps */
gboolean lwt_classic_find (const gchar *name, LwtWavelet *wavelet);
/* The canonical name of steps or a bank; NULL with @error: unknown */
const gchar *lwt_name_resolve (const gchar *name, GError **error);
LwtWavelet *lwt_text_parse_steps (const gchar *text, GError **error);
LwtWavelet *lwt_text_parse_bank (const gchar *text, GError **error);

G_END_DECLS
