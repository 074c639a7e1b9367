/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lifting steps of a bank: Euclid's algorithm on Laurent polynomials, with all
 * the ways in which their division can be done.
 *
 * A band is low[k] = E s + O d with polynomials E, O. If the first step is a
 * predict d1 = d + Q s, then low[k] = (E - O Q) s + O d1: Q is to make E
 * shorter, as an update is O, in turn, until only a shift of s is left; then
 * the last predict and the scale of d are read off what the high band has
 * become. The same with the bands exchanged ends in an update.
 *
 * Where E has n - 1 terms more than O, Q has n, and i of them can be chosen to
 * make the lowest terms of E vanish, the others the highest: n + 1 ways, that
 * differ wildly in how rounding errors grow. The best of them are followed at
 * once (a beam search), by the product of 1 + |Q|_1 of the steps so far. Of
 * what is found those are taken that make little of noise and little of edges;
 * of these symmetric steps first, then those that shift bands the least and
 * hold back the fewest samples.
 *
 * Everything is IEEE arithmetic without functions of a mathematical library,
 * and ties go to what was found first, so steps are the same everywhere. */
#include "lwtwavelet_private.h"

#define WIDTH 64
/* Steps that do not multiply out to the bank are no factorisation. */
#define MAX_RESIDUAL 1e-9
/* Up to such factors noise gains are as good as each other, and edges. */
#define NOISE_SLACK 1.5
#define EDGE_SLACK 1.3

/* A row as the search sees it: @own is to become a shift, @other nothing */
typedef struct {
  LwtPoly own, other;
  gdouble cost;
} State;

/* What a state is made of: that of one step less, and the step */
typedef struct {
  guint parent;
  LwtStep step;
} Move;

/* A way to divide: @low terms of the quotient from the low end, @high from the
 * high one */
typedef struct {
  guint parent;
  gboolean divide_own;
  guint low, high;
  gdouble cost;
  guint index;
} Choice;

/* A factorisation */
typedef struct {
  LwtWavelet wavelet;
  guint pending;
  gboolean symmetric;
  gdouble edge_gain; /* of those with little noise; others 0 */
} Found;

typedef struct {
  const LwtRow *low, *high;
  gdouble rough;
  LwtStepKind
      own; /* LWT_STEP_UPDATE: the low row, whose own samples are even */
  State *states, *next;
  Move *moves; /* LWT_MAX_STEPS of WIDTH */
  GArray *choices;
  gdouble drift; /* what neighbours away from the middle cost */
  GArray *found;
  gdouble least_gain; /* of what was found */
} Search;

/* --- division ------------------------------------------------------------------------ */

/* Takes terms off @dividend; their quotients are the step's weights, exact ones
 * in @q. */
static void
eliminate (LwtPoly *dividend, const LwtPoly *divisor, guint at, LwtDd q)
{
  const LwtDd minus = lwt_dd_negate (q);

  for (guint i = 0; i < divisor->n; i++)
    dividend->c[at + i] = lwt_dd_add (
        dividend->c[at + i], lwt_dd_multiply (minus, divisor->c[i]));
}

/* @dividend becomes the remainder. @step gets all but its kind. */
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

/* How far the middle of the neighbours is from the sample that they change, in
 * halves of k */
static gint
off_centre (const LwtStep *step)
{
  return ABS (2 * step->first + (gint) step->n
              - (step->kind == LWT_STEP_PREDICT ? 2 : 0));
}

/* The row may not lose its own samples: a division that would leave none is of
 * no use. */
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
                * (1.0 + search->drift * off_centre (&step));
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

/* --- what is found ------------------------------------------------------------------------ */

/* A step that is its own mirror image round the sample that it changes */
static gboolean
step_is_symmetric (const LwtStep *step)
{
  if (off_centre (step) != 0)
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

/* Relative to the largest tap of each filter */
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

/* TRUE if @a is to be taken rather than @b; both are as good in numbers. */
static gboolean
better (const Found *a, const Found *b)
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

/* The same steps are found in many ways. */
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

/* Notes @wavelet down if its steps are new and those of the bank. */
static void
judge (Search *search, LwtWavelet *wavelet)
{
  Found found = { .edge_gain = 0.0 };

  for (guint i = 0; i < search->found->len; i++)
    if (same_steps (wavelet, &g_array_index (search->found, Found, i).wavelet))
      return;
  wavelet->residual = residual_of (wavelet, search->low, search->high);
  if (!(wavelet->residual <= MAX_RESIDUAL))
    return;
  wavelet->noise_gain = lwt_steps_noise_gain (wavelet);
  found.wavelet = *wavelet;
  found.pending = lwt_steps_pending (wavelet);
  found.symmetric = wavelet_is_symmetric (wavelet);
  search->least_gain = MIN (search->least_gain, wavelet->noise_gain);
  g_array_append_val (search->found, found);
}

/* NULL: none */
static const LwtWavelet *
best_of (Search *search)
{
  const gdouble most =
      MIN (NOISE_SLACK * search->least_gain, LWT_MAX_NOISE_GAIN);
  gdouble least_edge = G_MAXDOUBLE;
  const Found *best = NULL;

  for (guint i = 0; i < search->found->len; i++) {
    Found *found = &g_array_index (search->found, Found, i);

    if (found->wavelet.noise_gain > most)
      continue;
    found->edge_gain = lwt_steps_edge_gain (&found->wavelet);
    least_edge = MIN (least_edge, found->edge_gain);
  }
  for (guint i = 0; i < search->found->len; i++) {
    const Found *found = &g_array_index (search->found, Found, i);

    if (found->wavelet.noise_gain <= most
        && found->edge_gain <= EDGE_SLACK * least_edge
        && (!best || better (found, best)))
      best = found;
  }
  return best ? &best->wavelet : NULL;
}

/* The row that was not searched, behind all steps: the last step and the
 * scales. */
static void
finish (Search *search, guint depth, guint index)
{
  const gboolean is_low = search->own == LWT_STEP_UPDATE;
  const State *state = search->states + index;
  LwtRow row = is_low ? *search->high : *search->low;
  LwtPoly *own = is_low ? &row.odd : &row.even;
  LwtPoly *other = is_low ? &row.even : &row.odd;
  LwtWavelet wavelet = { .n_steps = depth };
  gdouble largest = 0.0;
  guint at = 0;
  LwtDd scale;

  for (guint i = depth; i-- > 0;
       index = search->moves[i * WIDTH + index].parent)
    wavelet.steps[i] = search->moves[i * WIDTH + index].step;
  for (guint i = 0; i < depth; i++) {
    const LwtStep *step = wavelet.steps + i;

    if (!(step->kind == LWT_STEP_PREDICT
                ? lwt_poly_add_product (&row.even, &row.odd, step, -1.0)
                : lwt_poly_add_product (&row.odd, &row.even, step, -1.0)))
      return;
  }
  for (guint i = 0; i < own->n; i++)
    if (fabs (own->c[i].hi) > largest) {
      largest = fabs (own->c[i].hi);
      at = i;
    }
  if (largest == 0.0)
    return;
  scale = own->c[at];
  lwt_poly_trim (other, MAX (search->rough, 1e-13) * largest);
  if (other->n > 0) {
    LwtStep *step = wavelet.steps + wavelet.n_steps;

    if (other->n > LWT_MAX_TAPS || wavelet.n_steps == LWT_MAX_STEPS)
      return;
    step->kind = 1 - search->own;
    step->first = other->first - (own->first + (gint) at);
    step->n = other->n;
    for (guint i = 0; i < other->n; i++)
      step->c[i] = lwt_dd_divide (other->c[i], scale).hi;
    wavelet.n_steps++;
  }
  wavelet.scale_low = is_low ? state->own.c[0].hi : scale.hi;
  wavelet.scale_high = is_low ? scale.hi : state->own.c[0].hi;
  wavelet.shift_low = is_low ? state->own.first : own->first + (gint) at;
  wavelet.shift_high = is_low ? own->first + (gint) at : state->own.first;
  judge (search, &wavelet);
}

/* Goes on from the choices that are best so far; returns how many there are. */
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

/* The beam is narrow: what is cheap and what stays near the middle are looked
 * for one after the other. */
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
    .found = g_array_new (FALSE, FALSE, sizeof (Found)),
    .least_gain = G_MAXDOUBLE };
  const LwtWavelet *best;

  search_all (&search);
  best = best_of (&search);
  if (best)
    *wavelet = *best;
  else if (search.found->len > 0)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "no lifting steps of these filters amplify noise less than %g times: "
        "the best of %u that were found do so %.3g times",
        LWT_MAX_NOISE_GAIN, search.found->len, search.least_gain);
  else
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "no more than %u lifting steps of at most %u weights were found that "
        "are these filters",
        LWT_MAX_STEPS, LWT_MAX_TAPS);
  g_free (search.states);
  g_free (search.next);
  g_free (search.moves);
  g_array_free (search.choices, TRUE);
  g_array_free (search.found, TRUE);
  return best != NULL;
}
