/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lifting steps of a bank: Euclid's algorithm on Laurent polynomials, with
 * all variants of the division (I. Daubechies, W. Sweldens, Factoring
 * wavelet transforms into lifting steps, 1998).
 *
 * A band is low[k] = E s + O d with polynomials E, O. If the first step is a
 * predict d1 = d + Q s, then low[k] = (E - O Q) s + O d1. Q is chosen to
 * shorten E; an update shortens O in the same way, in turn, until only a
 * shift of s is left. Then the high band gives the last predict and the
 * scale of d. With the bands exchanged the steps end in an update.
 *
 * If E has n - 1 terms more than O, Q has n terms, and i of them can be
 * chosen to eliminate the lowest terms of E, the others to eliminate the
 * highest: n + 1 variants, which differ widely in the growth of rounding
 * errors. A beam search follows the best of them, by the product of 1 +
 * |Q|_1 of the steps so far. candidates.c chooses among the factorisations
 * found.
 *
 * Only IEEE arithmetic is used, no functions of a mathematical library, and
 * ties go to the first one found, so the steps are the same on all machines. */
#include "cuda/wavelet/private.h"

#define WIDTH 64
/* A smaller weight in the last step is a rounding error. */
#define NO_TERM 1e-13

/* A row during the search: @own is reduced to a shift, @other to zero */
typedef struct {
  LwtPoly own, other;
  gdouble cost;
} State;

/* Parent of a state, with one step less, and the step between them */
typedef struct {
  guint parent;
  LwtStep step;
} Move;

/* A variant of the division: @low terms of the quotient from the low end,
 * @high from the high end */
typedef struct {
  guint parent;
  gboolean divide_own;
  guint low, high;
  gdouble cost;
  guint index;
} Choice;

typedef struct {
  const LwtRow *low, *high;
  gdouble rough;
  LwtStepKind own; /* update: the low row, whose own samples are even */
  State *states, *next;
  Move *moves; /* LWT_MAX_STEPS of WIDTH */
  GArray *choices;
  gdouble drift; /* cost of neighbours away from the centre */
  GArray *candidates;
} Search;

/* --- division ------------------------------------------------------------------------ */

/* Eliminates terms of @dividend; their quotients are the step's weights,
 * exact ones in @q. */
static void
eliminate (LwtPoly *dividend, const LwtPoly *divisor, guint at, LwtDd q)
{
  const LwtDd minus = lwt_dd_negate (q);

  for (guint i = 0; i < divisor->n; i++)
    dividend->c[at + i] = lwt_dd_add (
        dividend->c[at + i], lwt_dd_multiply (minus, divisor->c[i]));
}

/* Replaces @dividend by the remainder; sets @step except its kind. */
static gboolean
divide (LwtPoly *dividend, const LwtPoly *divisor, guint low, guint high,
    gdouble rough, LwtStep *step)
{
  const guint n = dividend->n - divisor->n + 1, end = dividend->n - 1;
  const gdouble least = rough * lwt_poly_max (dividend);
  const guint from = low > 0 ? 0 : n - high, to = high > 0 ? n : low;

  if (to - from > LWT_MAX_TAPS)
    return FALSE;
  step->first = dividend->first - divisor->first + (gint) from;
  step->n = to - from;
  memset (step->c, 0, sizeof (step->c));
  for (guint i = 0; i < low; i++) {
    const LwtDd q = lwt_dd_divide (dividend->c[i], divisor->c[0]);

    step->c[i - from] = q.hi;
    eliminate (dividend, divisor, i, q);
    dividend->c[i] = (LwtDd){ 0.0, 0.0 };
  }
  for (guint i = 0; i < high; i++) {
    const LwtDd q =
        lwt_dd_divide (dividend->c[end - i], divisor->c[divisor->n - 1]);

    step->c[n - 1 - i - from] = q.hi;
    eliminate (dividend, divisor, n - 1 - i, q);
    dividend->c[end - i] = (LwtDd){ 0.0, 0.0 };
  }
  lwt_poly_trim (dividend, least);
  return TRUE;
}

/* --- the search ------------------------------------------------------------------------ */

static void
apply (const Search *search, const Choice *choice, State *state, LwtStep *step,
    gboolean *ok)
{
  *state = search->states[choice->parent];
  memset (step, 0, sizeof (*step));
  if (choice->divide_own) {
    step->kind = 1 - search->own;
    *ok = divide (&state->own, &state->other, choice->low, choice->high,
        search->rough, step);
  } else {
    step->kind = search->own;
    *ok = divide (&state->other, &state->own, choice->low, choice->high,
        search->rough, step);
  }
  for (guint i = 0; i < step->n; i++)
    *ok &= fabs (step->c[i]) <= 1e12;
}

static gdouble
sum_of_magnitudes (const LwtStep *step)
{
  gdouble sum = 0.0;

  for (guint i = 0; i < step->n; i++)
    sum += fabs (step->c[i]);
  return sum;
}

/* A division that leaves no own samples of the row is not a choice. */
static void
add_choice (
    Search *search, guint parent, gboolean divide_own, guint low, guint high)
{
  Choice choice = { .parent = parent,
    .divide_own = divide_own,
    .low = low,
    .high = high,
    .index = search->choices->len };
  State state;
  LwtStep step;
  gboolean ok;

  apply (search, &choice, &state, &step, &ok);
  if (!ok || state.own.n == 0)
    return;
  choice.cost = state.cost * (1.0 + sum_of_magnitudes (&step))
                * (1.0 + search->drift * lwt_step_off_centre (&step));
  if (choice.cost <= 1e100)
    g_array_append_val (search->choices, choice);
}

static void
add_choices (Search *search, guint parent, gboolean divide_own)
{
  const State *state = search->states + parent;
  const LwtPoly *dividend = divide_own ? &state->own : &state->other;
  const LwtPoly *divisor = divide_own ? &state->other : &state->own;
  guint n;

  if (dividend->n < divisor->n)
    return;
  n = dividend->n - divisor->n + 1;
  for (guint low = 0; low <= n; low++)
    add_choice (search, parent, divide_own, low, n - low);
  if (divide_own && divisor->n == 1 && n > 1) { /* one term is left */
    add_choice (search, parent, divide_own, n - 1, 0);
    add_choice (search, parent, divide_own, 0, n - 1);
  }
}

static gint
compare_choices (gconstpointer a, gconstpointer b)
{
  const Choice *first = a, *second = b;

  if (first->cost != second->cost)
    return first->cost < second->cost ? -1 : 1;
  return first->index < second->index ? -1 : first->index > second->index;
}

/* --- the other row -------------------------------------------------------------------- */

/* The steps that lead to a state */
static void
collect_steps (
    const Search *search, guint depth, guint index, LwtWavelet *wavelet)
{
  wavelet->n_steps = depth;
  for (guint i = depth; i-- > 0;) {
    const Move *move = search->moves + i * WIDTH + index;

    wavelet->steps[i] = move->step;
    index = move->parent;
  }
}

static gboolean
row_behind_steps (LwtRow *row, const LwtWavelet *wavelet)
{
  for (guint i = 0; i < wavelet->n_steps; i++) {
    const LwtStep *step = wavelet->steps + i;

    if (!(step->kind == LWT_STEP_PREDICT
                ? lwt_poly_add_product (&row->even, &row->odd, step, -1.0)
                : lwt_poly_add_product (&row->odd, &row->even, step, -1.0)))
      return FALSE;
  }
  return TRUE;
}

static guint
largest_term (const LwtPoly *poly)
{
  guint at = 0;

  for (guint i = 1; i < poly->n; i++)
    if (fabs (poly->c[i].hi) > fabs (poly->c[at].hi))
      at = i;
  return at;
}

/* Checks that the rest of the other row is one term of its @own samples, at
 * @at, plus that term times the last step. */
static gboolean
add_last_step (const Search *search, LwtWavelet *wavelet, const LwtPoly *own,
    guint at, LwtPoly *other)
{
  LwtStep *step = wavelet->steps + wavelet->n_steps;

  lwt_poly_trim (other, MAX (search->rough, NO_TERM) * fabs (own->c[at].hi));
  if (other->n == 0)
    return TRUE;
  if (other->n > LWT_MAX_TAPS || wavelet->n_steps == LWT_MAX_STEPS)
    return FALSE;
  step->kind = 1 - search->own;
  step->first = other->first - (own->first + (gint) at);
  step->n = other->n;
  for (guint i = 0; i < other->n; i++)
    step->c[i] = lwt_dd_divide (other->c[i], own->c[at]).hi;
  wavelet->n_steps++;
  return TRUE;
}

/* The row that was not searched, after all steps, gives the last step and
 * the scales. */
static void
finish (Search *search, guint depth, guint index)
{
  const gboolean is_low = search->own == LWT_STEP_UPDATE;
  const LwtPoly *searched = &search->states[index].own;
  LwtRow row = is_low ? *search->high : *search->low;
  LwtPoly *own = is_low ? &row.odd : &row.even;
  LwtWavelet wavelet = { .n_steps = 0 };
  guint at;

  collect_steps (search, depth, index, &wavelet);
  if (!row_behind_steps (&row, &wavelet) || own->n == 0)
    return;
  at = largest_term (own);
  if (own->c[at].hi == 0.0
      || !add_last_step (
          search, &wavelet, own, at, is_low ? &row.even : &row.odd))
    return;
  wavelet.scale_low = is_low ? searched->c[0].hi : own->c[at].hi;
  wavelet.scale_high = is_low ? own->c[at].hi : searched->c[0].hi;
  wavelet.shift_low = is_low ? searched->first : own->first + (gint) at;
  wavelet.shift_high = is_low ? own->first + (gint) at : searched->first;
  lwt_candidates_add (search->candidates, search->low, search->high, &wavelet);
}

/* --- the whole search ---------------------------------------------------- */

/* Continues from the best choices. Returns: their number */
static guint
follow_choices (Search *search, guint depth)
{
  State *states = search->states;
  guint n;

  g_array_sort (search->choices, compare_choices);
  n = MIN (search->choices->len, WIDTH);
  for (guint i = 0; i < n; i++) {
    const Choice *choice = &g_array_index (search->choices, Choice, i);
    Move *move = search->moves + depth * WIDTH + i;
    gboolean ok;

    apply (search, choice, search->next + i, &move->step, &ok);
    move->parent = choice->parent;
    search->next[i].cost = choice->cost;
  }
  search->states = search->next;
  search->next = states;
  return n;
}

static void
search_row (Search *search, LwtStepKind own)
{
  const LwtRow *row = own == LWT_STEP_UPDATE ? search->low : search->high;
  guint n = 1;

  search->own = own;
  search->states[0].own = own == LWT_STEP_UPDATE ? row->even : row->odd;
  search->states[0].other = own == LWT_STEP_UPDATE ? row->odd : row->even;
  search->states[0].cost = 1.0;
  if (search->states[0].own.n == 0) /* nothing to divide by */
    return;
  for (guint depth = 0; n > 0; depth++) {
    g_array_set_size (search->choices, 0);
    for (guint i = 0; i < n; i++) {
      const State *state = search->states + i;

      if (state->other.n > 0) {
        add_choices (search, i, TRUE);
        add_choices (search, i, FALSE);
      } else if (state->own.n == 1) {
        finish (search, depth, i);
      }
    }
    if (depth == LWT_MAX_STEPS)
      return;
    n = follow_choices (search, depth);
  }
}

/* The beam is narrow, so separate searches favour a low cost and neighbours
 * near the centre. */
static void
search_all (Search *search)
{
  static const gdouble drifts[] = { 0.0, 1.0 / 32.0 };

  for (guint i = 0; i < G_N_ELEMENTS (drifts); i++) {
    search->drift = drifts[i];
    search_row (search, LWT_STEP_UPDATE);
    search_row (search, LWT_STEP_PREDICT);
  }
}

gboolean
lwt_factorise (LwtWavelet *wavelet, const LwtRow *low, const LwtRow *high,
    gdouble rough, GError **error)
{
  Search search = { .low = low,
    .high = high,
    .rough = rough,
    .states = g_new0 (State, WIDTH),
    .next = g_new0 (State, WIDTH),
    .moves = g_new0 (Move, WIDTH * LWT_MAX_STEPS),
    .choices = g_array_new (FALSE, FALSE, sizeof (Choice)),
    .candidates = lwt_candidates_new () };
  gboolean found;

  search_all (&search);
  found = lwt_candidates_best (search.candidates, wavelet, error);
  g_free (search.states);
  g_free (search.next);
  g_free (search.moves);
  g_array_free (search.choices, TRUE);
  g_array_free (search.candidates, TRUE);
  return found;
}
