/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Properties of lifting steps. */
#include "cuda/wavelet/private.h"

/* Largest shift of integer weights: sums of 16-bit samples do not wrap. */
#define MAX_SHIFT 14

/* Smaller terms of a filter, relative to the largest, count as zero. */
#define NO_TAP 1e-12

static void
set_constant (LwtPoly *poly, gdouble value)
{
  poly->first = 0;
  poly->n = value != 0.0;
  poly->c[0] = (LwtDd){ value, 0.0 };
}

static void
set_diagonal (LwtRow *low, LwtRow *high, gdouble even, gdouble odd)
{
  set_constant (&low->even, even);
  set_constant (&low->odd, 0.0);
  set_constant (&high->even, 0.0);
  set_constant (&high->odd, odd);
}

/* Rewrites the row for the samples before @step instead of after it; with
 * @sign -1, the reverse. */
static gboolean
row_through_step (LwtRow *row, const LwtStep *step, gdouble sign)
{
  return step->kind == LWT_STEP_PREDICT
             ? lwt_poly_add_product (&row->even, &row->odd, step, sign)
             : lwt_poly_add_product (&row->odd, &row->even, step, sign);
}

gboolean
lwt_steps_multiply (const LwtWavelet *wavelet, LwtRow *low, LwtRow *high)
{
  set_diagonal (low, high, wavelet->scale_low, wavelet->scale_high);
  low->even.first = wavelet->shift_low;
  high->odd.first = wavelet->shift_high;
  for (guint i = wavelet->n_steps; i-- > 0;)
    if (!row_through_step (low, wavelet->steps + i, 1.0)
        || !row_through_step (high, wavelet->steps + i, 1.0))
      return FALSE;
  return TRUE;
}

/* --- noise ------------------------------------------------------------------------ */

static gdouble
energy_of_poly (const LwtPoly *poly)
{
  gdouble sum = 0.0;

  for (guint i = 0; i < poly->n; i++)
    sum += poly->c[i].hi * poly->c[i].hi;
  return sum;
}

static gdouble
energy (const LwtRow *low, const LwtRow *high)
{
  return (energy_of_poly (&low->even) + energy_of_poly (&low->odd))
         + (energy_of_poly (&high->even) + energy_of_poly (&high->odd));
}

/* Propagates white noise in both kinds of samples after each step through
 * the rest of the transform, in both directions. */
gdouble
lwt_steps_noise_gain (const LwtWavelet *wavelet)
{
  LwtRow low, high;
  gdouble worst;

  set_diagonal (&low, &high, wavelet->scale_low, wavelet->scale_high);
  worst = energy (&low, &high);
  for (guint i = wavelet->n_steps; i-- > 1;) {
    if (!row_through_step (&low, wavelet->steps + i, 1.0)
        || !row_through_step (&high, wavelet->steps + i, 1.0))
      return G_MAXDOUBLE;
    worst = MAX (worst, energy (&low, &high));
  }
  set_diagonal (&low, &high, 1.0, 1.0);
  for (guint i = 0; i < wavelet->n_steps; i++) {
    if (!row_through_step (&low, wavelet->steps + i, -1.0)
        || !row_through_step (&high, wavelet->steps + i, -1.0))
      return G_MAXDOUBLE;
    worst = MAX (worst, energy (&low, &high));
  }
  return worst <= G_MAXDOUBLE ? sqrt (worst / 2.0) : G_MAXDOUBLE;
}

/* --- extent ------------------------------------------------------------------------ */

static guint
length_of_row (const LwtRow *row)
{
  const gdouble least =
      NO_TAP * MAX (lwt_poly_max (&row->even), lwt_poly_max (&row->odd));
  gint from = G_MAXINT, to = G_MININT;

  for (guint odd = 0; odd < 2; odd++) {
    const LwtPoly *poly = odd ? &row->odd : &row->even;

    for (gint i = 0; i < (gint) poly->n; i++)
      if (fabs (poly->c[i].hi) > least) {
        from = MIN (from, 2 * (poly->first + i) + (gint) odd);
        to = MAX (to, 2 * (poly->first + i) + (gint) odd);
      }
  }
  return from <= to ? (guint) (to - from) + 1 : 0;
}

guint
lwt_steps_length (const LwtRow *low, const LwtRow *high)
{
  return MAX (length_of_row (low), length_of_row (high));
}

gint
lwt_step_off_centre (const LwtStep *step)
{
  return ABS (2 * step->first + (gint) step->n
              - (step->kind == LWT_STEP_PREDICT ? 2 : 0));
}

/* Each state of the samples of a kind is computed as soon as its inputs have
 * arrived, and kept until nothing needs it. */
guint
lwt_steps_pending (const LwtWavelet *wavelet)
{
  gint made[2] = { 0, 0 }, needed[2] = { 0, 0 };
  guint pending = 0;

  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step = wavelet->steps + i;
    const guint to = step->kind == LWT_STEP_PREDICT ? 1 : 0, from = 1 - to;
    const gint last = step->first + (gint) step->n - 1;
    const gint at = MAX (made[to], made[from] + last);

    needed[from] = MAX (needed[from], at - step->first);
    needed[to] = MAX (needed[to], at);
    pending += (guint) (needed[to] - made[to]);
    made[to] = needed[to] = at;
  }
  for (guint kind = 0; kind < 2; kind++)
    pending += (guint) (needed[kind] - made[kind]);
  return pending;
}

/* --- integers ------------------------------------------------------------------------ */

static gboolean
set_step_reversible (LwtStep *step)
{
  for (guint shift = 0; shift <= MAX_SHIFT; shift++) {
    const gdouble scale = (gdouble) (1 << shift);
    gboolean whole = TRUE;

    for (guint i = 0; i < step->n; i++) {
      const gdouble value = step->c[i] * scale;

      if (fabs (value) > (1 << MAX_SHIFT))
        return FALSE;
      whole &= value == floor (value);
      step->num[i] = (gint32) value;
    }
    step->shift = shift;
    if (whole)
      return TRUE;
  }
  return FALSE;
}

void
lwt_steps_set_reversible (LwtWavelet *wavelet)
{
  wavelet->reversible = TRUE;
  for (guint i = 0; i < wavelet->n_steps; i++)
    wavelet->reversible &= set_step_reversible (wavelet->steps + i);
  for (guint i = 0; i < wavelet->n_steps && !wavelet->reversible; i++) {
    memset (wavelet->steps[i].num, 0, sizeof (wavelet->steps[i].num));
    wavelet->steps[i].shift = 0;
  }
}
