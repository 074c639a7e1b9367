/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Factorisations of a bank, and the choice among them: low noise gain and
 * low edge gain first; of these symmetric steps first, then the smallest
 * shift of the bands and the shortest delay. */
#include "cuda/wavelet/private.h"

/* Largest deviation from the bank of the steps multiplied out. */
#define MAX_RESIDUAL 1e-9
/* Noise gains, and edge gains, within these factors of the best count as
 * equal. */
#define NOISE_SLACK 1.5
#define EDGE_SLACK 1.3

typedef struct {
  LwtWavelet wavelet;
  guint pending;
  gboolean symmetric;
  gdouble edge_gain; /* of candidates with low noise gain; others 0 */
} Candidate;

GArray *
lwt_candidates_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Candidate));
}

/* --- properties of a candidate ------------------------------------------- */

/* Whether a step is symmetric around the sample that it changes */
static gboolean
step_is_symmetric (const LwtStep *step)
{
  if (lwt_step_off_centre (step) != 0)
    return FALSE;
  for (guint i = 0; i < step->n; i++)
    if (fabs (step->c[i] - step->c[step->n - 1 - i]) > 1e-9 * fabs (step->c[i]))
      return FALSE;
  return TRUE;
}

static gboolean
wavelet_is_symmetric (const LwtWavelet *wavelet)
{
  for (guint i = 0; i < wavelet->n_steps; i++)
    if (!step_is_symmetric (wavelet->steps + i))
      return FALSE;
  return TRUE;
}

static gdouble
difference (const LwtPoly *a, const LwtPoly *b)
{
  const gint from =
      MIN (a->n ? a->first : b->first, b->n ? b->first : a->first);
  const gint to = MAX (a->first + (gint) a->n, b->first + (gint) b->n);
  gdouble max = 0.0;

  for (gint i = from; i < to; i++) {
    const gboolean in_a = i >= a->first && i < a->first + (gint) a->n;
    const gboolean in_b = i >= b->first && i < b->first + (gint) b->n;
    const LwtDd none = { 0.0, 0.0 };
    const LwtDd d = lwt_dd_add (in_a ? a->c[i - a->first] : none,
        lwt_dd_negate (in_b ? b->c[i - b->first] : none));

    max = MAX (max, fabs (d.hi));
  }
  return max;
}

static gdouble
max_of_row (const LwtRow *row)
{
  return MAX (lwt_poly_max (&row->even), lwt_poly_max (&row->odd));
}

/* Largest deviation, relative to the largest tap of each filter */
static gdouble
residual_of (const LwtWavelet *wavelet, const LwtRow *low, const LwtRow *high)
{
  LwtRow steps_low, steps_high;
  gdouble of_low, of_high;

  if (!lwt_steps_multiply (wavelet, &steps_low, &steps_high))
    return G_MAXDOUBLE;
  of_low = MAX (difference (&steps_low.even, &low->even),
      difference (&steps_low.odd, &low->odd));
  of_high = MAX (difference (&steps_high.even, &high->even),
      difference (&steps_high.odd, &high->odd));
  return MAX (of_low / max_of_row (low), of_high / max_of_row (high));
}

/* Whether the same steps were found before. */
static gboolean
same_steps (const LwtWavelet *a, const LwtWavelet *b)
{
  if (a->n_steps != b->n_steps)
    return FALSE;
  for (guint i = 0; i < a->n_steps; i++) {
    const LwtStep *p = a->steps + i, *q = b->steps + i;

    if (p->kind != q->kind || p->first != q->first || p->n != q->n)
      return FALSE;
    for (guint j = 0; j < p->n; j++)
      if (fabs (p->c[j] - q->c[j]) > 1e-9 * fabs (p->c[j]))
        return FALSE;
  }
  return TRUE;
}

static gboolean
is_known (GArray *candidates, const LwtWavelet *wavelet)
{
  for (guint i = 0; i < candidates->len; i++)
    if (same_steps (wavelet, &g_array_index (candidates, Candidate, i).wavelet))
      return TRUE;
  return FALSE;
}

void
lwt_candidates_add (GArray *candidates, const LwtRow *low, const LwtRow *high,
    const LwtWavelet *wavelet)
{
  Candidate candidate = { .wavelet = *wavelet };

  if (is_known (candidates, wavelet))
    return;
  candidate.wavelet.residual = residual_of (wavelet, low, high);
  if (!(candidate.wavelet.residual <= MAX_RESIDUAL))
    return;
  candidate.wavelet.noise_gain = lwt_steps_noise_gain (wavelet);
  candidate.pending = lwt_steps_pending (wavelet);
  candidate.symmetric = wavelet_is_symmetric (wavelet);
  g_array_append_val (candidates, candidate);
}

/* --- the choice ------------------------------------------------------------------------------ */

/* Returns: TRUE if @a is preferred to @b; their gains count as equal */
static gboolean
better (const Candidate *a, const Candidate *b)
{
  const gint shift_a = ABS (a->wavelet.shift_low);
  const gint shift_b = ABS (b->wavelet.shift_low);

  if (a->symmetric != b->symmetric)
    return a->symmetric;
  if (shift_a != shift_b)
    return shift_a < shift_b;
  if (a->pending != b->pending)
    return a->pending < b->pending;
  if (a->wavelet.n_steps != b->wavelet.n_steps)
    return a->wavelet.n_steps < b->wavelet.n_steps;
  return a->wavelet.noise_gain < b->wavelet.noise_gain;
}

static gdouble
least_noise (GArray *candidates)
{
  gdouble least = G_MAXDOUBLE;

  for (guint i = 0; i < candidates->len; i++)
    least = MIN (
        least, g_array_index (candidates, Candidate, i).wavelet.noise_gain);
  return least;
}

/* Computes the edge gains of the candidates with noise gains up to @most.
 * Returns: the smallest edge gain */
static gdouble
least_edge (GArray *candidates, gdouble most)
{
  gdouble least = G_MAXDOUBLE;

  for (guint i = 0; i < candidates->len; i++) {
    Candidate *candidate = &g_array_index (candidates, Candidate, i);

    if (candidate->wavelet.noise_gain > most)
      continue;
    candidate->edge_gain = lwt_steps_edge_gain (&candidate->wavelet);
    least = MIN (least, candidate->edge_gain);
  }
  return least;
}

static void
set_none (GArray *candidates, gdouble noise, GError **error)
{
  if (candidates->len > 0)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "every factorisation into lifting steps amplifies noise more than %g "
        "times: the best of %u found amplifies it %.3g times",
        LWT_MAX_NOISE_GAIN, candidates->len, noise);
  else
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "no factorisation into at most %d lifting steps of at most %d weights "
        "reproduces these filters",
        LWT_MAX_STEPS, LWT_MAX_TAPS);
}

gboolean
lwt_candidates_best (GArray *candidates, LwtWavelet *wavelet, GError **error)
{
  const gdouble noise = least_noise (candidates);
  const gdouble most = MIN (NOISE_SLACK * noise, LWT_MAX_NOISE_GAIN);
  const gdouble edge = EDGE_SLACK * least_edge (candidates, most);
  const Candidate *best = NULL;

  for (guint i = 0; i < candidates->len; i++) {
    const Candidate *candidate = &g_array_index (candidates, Candidate, i);

    if (candidate->wavelet.noise_gain <= most && candidate->edge_gain <= edge
        && (!best || better (candidate, best)))
      best = candidate;
  }
  if (best)
    *wavelet = best->wavelet;
  else
    set_none (candidates, noise, error);
  return best != NULL;
}
