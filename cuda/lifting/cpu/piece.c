/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* For a segment of a line's bands: the input samples, the samples that each
 * step changes, and how far each step may advance as samples arrive. */
#include "cuda/lifting/cpu/cpu.h"

/* --- steps -------------------------------------------------------------------- */

static void
init_step (LwtCpuStep *to, const LwtStep *from, gboolean inverse)
{
  to->odd = from->kind == LWT_STEP_PREDICT;
  to->first = from->first;
  to->n = from->n;
  to->shift = from->shift;
  for (guint i = 0; i < from->n; i++) {
    to->c_f32[i] = inverse ? -(gfloat) from->c[i] : (gfloat) from->c[i];
    to->c_f64[i] = inverse ? -from->c[i] : from->c[i];
    to->c_i32[i] = from->num[i];
  }
}

/* Number of stages; see LwtCpuLift. */
static guint
count_stages (const LwtCpuLift *lift)
{
  for (guint i = 0; i < lift->n_steps; i++) {
    const LwtCpuStep *step = &lift->steps[i];

    if (step->n != 2 || step->first != (step->odd ? 0 : -1)
        || step->odd != (lift->inverse ? i % 2 == 1 : i % 2 == 0))
      return 0;
  }
  return lift->n_steps == 2 || lift->n_steps == 4 ? lift->n_steps / 2 : 0;
}

void
lwt_cpu_lift_init (LwtCpuLift *lift, const LwtWavelet *wavelet,
    LwtBoundary boundary, gboolean inverse)
{
  const gdouble scales[2] = { wavelet->scale_low, wavelet->scale_high };
  const guint n = wavelet->n_steps;

  *lift = (LwtCpuLift){ .inverse = inverse, .n_steps = n };
  lift->boundary = boundary == LWT_BOUNDARY_PAD_SYMMETRIC
                           || boundary == LWT_BOUNDARY_PAD_SMOOTH
                       ? LWT_BOUNDARY_SYMMETRIC
                       : boundary;
  for (guint i = 0; i < n; i++)
    init_step (
        &lift->steps[i], &wavelet->steps[inverse ? n - 1 - i : i], inverse);
  lift->stages = count_stages (lift);
  for (guint i = 0; i < 2; i++) {
    lift->scale_f64[i] = inverse ? 1.0 / scales[i] : scales[i];
    lift->scale_f32[i] = (gfloat) lift->scale_f64[i];
  }
  if (boundary == LWT_BOUNDARY_PERIODIC) {
    lift->turn[0] = wavelet->shift_low;
    lift->turn[1] = wavelet->shift_high;
  }
}

/* --- neighbours ---------------------------------------------------------------- */

static gint
floor_div (gint a, gint b)
{
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* An odd periodic length has one odd sample less than pairs. */
static gboolean
lacks_one (const LwtCpuPiece *piece, gint odd)
{
  return piece->period > 0 && odd && piece->count[1] < piece->period;
}

/* Whether all neighbours @low to @high of kind @odd are inside the line. */
static gboolean
lies_in_piece (const LwtCpuPiece *piece, gint low, gint high, gint odd)
{
  if (piece->period == 0)
    return low >= 0 && high < piece->count[odd];
  return !lacks_one (piece, odd)
         || floor_div (low, piece->period)
                == floor_div (high + 1, piece->period);
}

static gint
find_neighbour (
    const LwtCpuPiece *piece, LwtBoundary boundary, gint j, gint odd)
{
  gint found;

  if (piece->period > 0)
    return lacks_one (piece, odd)
                   && j - floor_div (j, piece->period) * piece->period
                          == piece->period - 1
               ? j - 1
               : j;
  found = lwt_neighbour (boundary, j, odd, piece->n);
  return found < 0 ? LWT_CPU_ZERO : found;
}

/* --- a segment ----------------------------------------------------------- */

typedef struct {
  gint first, end;
} Span;

static void
include (Span *span, gint first, gint end)
{
  if (first >= end)
    return;
  if (span->first >= span->end) {
    *span = (Span){ first, end };
    return;
  }
  span->first = MIN (span->first, first);
  span->end = MAX (span->end, end);
}

/* The longest run of samples whose neighbours are all inside the line. */
static void
find_plain (
    const LwtCpuPiece *piece, const LwtCpuStep *step, LwtCpuRange *range)
{
  gint begin = range->first;

  range->plain = range->plain_end = range->first;
  for (gint k = range->first; k <= range->end; k++) {
    const gint low = k + step->first;

    if (k < range->end
        && lies_in_piece (piece, low, low + (gint) step->n - 1, !step->odd))
      continue;
    if (k - begin > range->plain_end - range->plain) {
      range->plain = begin;
      range->plain_end = k;
    }
    begin = k + 1;
  }
}

static void
add_edge (const LwtCpuPiece *piece, LwtBoundary boundary,
    const LwtCpuStep *step, LwtCpuRange *range, gint target, Span *sources)
{
  LwtCpuEdge *edge = &range->edges[range->n_edges++];
  const gint low = target + step->first;
  Span found = { 0, 0 };

  edge->target = target;
  for (guint i = 0; i < step->n; i++) {
    const gint j = find_neighbour (piece, boundary, low + (gint) i, !step->odd);

    edge->source[i] = j;
    if (j != LWT_CPU_ZERO)
      include (&found, j, j + 1);
  }
  include (sources, found.first, found.end);
  if (piece->period > 0 || found.first >= found.end)
    return;
  if (low < 0)
    range->high = MAX (range->high, found.end);
  if (low + (gint) step->n > piece->count[!step->odd])
    range->low = MIN (range->low, found.first);
}

/* @targets: needed samples of the kind that the step changes. Returns:
 *   needed samples of the other kind */
static Span
init_range (const LwtCpuPiece *piece, LwtBoundary boundary,
    const LwtCpuStep *step, LwtCpuRange *range, Span targets)
{
  Span sources = { 0, 0 };

  *range = (LwtCpuRange){ .low = G_MAXINT, .high = G_MININT };
  if (targets.first >= targets.end)
    return sources;
  range->first = targets.first;
  range->end = targets.end;
  find_plain (piece, step, range);
  if (range->plain < range->plain_end)
    include (&sources, range->plain + step->first,
        range->plain_end + step->first + (gint) step->n - 1);
  range->edges = g_new (LwtCpuEdge,
      range->end - range->first - (range->plain_end - range->plain));
  for (gint k = range->first; k < range->end; k++)
    if (k < range->plain || k >= range->plain_end)
      add_edge (piece, boundary, step, range, k, &sources);
  range->source_end = sources.first < sources.end ? sources.end : G_MININT;
  return sources;
}

/* Number of rows in flight, found by simulation. */
static void
count_rows (
    LwtCpuPiece *piece, const LwtCpuLift *lift, gboolean low, gboolean high)
{
  LwtCpuProgress progress;
  gint out = piece->begin;

  lwt_cpu_progress_init (&progress, lift, piece);
  piece->rows = 1;
  for (gint loaded = piece->first + 1; loaded <= piece->last; loaded++) {
    const gint kept = MIN (progress.kept, out);

    piece->rows = MAX (piece->rows, (guint) (loaded - MIN (kept, loaded - 1)));
    lwt_cpu_progress_go_on (&progress, lift, piece, loaded);
    out = MIN (low ? progress.ready[0] : G_MAXINT,
        high ? progress.ready[1] : G_MAXINT);
    out = CLAMP (out, piece->begin, piece->end);
  }
}

/* All but @rows. The ranges have room for many steps: only those used are set. */
static void
init_segment (LwtCpuPiece *piece, const LwtCpuLift *lift, gint n,
    gboolean split, gint begin, gint end, gboolean low, gboolean high)
{
  Span need[2], all = { 0, 0 };

  memset (piece, 0, G_STRUCT_OFFSET (LwtCpuPiece, ranges));
  piece->n = n;
  piece->begin = begin;
  piece->end = end;
  piece->count[0] = split ? (n + 1) / 2 : n;
  piece->count[1] = split ? n / 2 : 0;
  if (split) {
    piece->n_steps = lift->n_steps;
    piece->turn[0] = lift->turn[0];
    piece->turn[1] = lift->turn[1];
    if (lift->boundary == LWT_BOUNDARY_PERIODIC)
      piece->period = piece->count[0];
  }
  need[0] = (Span){ begin, low ? end : begin };
  need[1] = (Span){ begin, high ? MIN (end, piece->count[1]) : begin };
  for (guint i = piece->n_steps; i-- > 0;) {
    const LwtCpuStep *step = &lift->steps[i];
    const Span sources = init_range (
        piece, lift->boundary, step, &piece->ranges[i], need[step->odd]);

    include (&need[!step->odd], sources.first, sources.end);
  }
  include (&all, need[0].first, need[0].end);
  include (&all, need[1].first, need[1].end);
  piece->first = all.first;
  piece->last = all.end;
}

void
lwt_cpu_piece_init (LwtCpuPiece *piece, const LwtCpuLift *lift, gint n,
    gboolean split, gint begin, gint end, gboolean low, gboolean high)
{
  init_segment (piece, lift, n, split, begin, end, low, high);
  count_rows (piece, lift, low, high);
}

void
lwt_cpu_piece_clear (LwtCpuPiece *piece)
{
  for (guint i = 0; i < piece->n_steps; i++)
    g_free (piece->ranges[i].edges);
}

/* --- columns ------------------------------------------------------------------- */

static gboolean
has_edges (const LwtCpuPiece *piece)
{
  for (guint i = 0; i < piece->n_steps; i++)
    if (piece->ranges[i].n_edges > 0)
      return TRUE;
  return piece->first < 0 || piece->last > piece->count[1];
}

/* Whether the output from @begin to @end is independent of the edges. */
static gboolean
is_inside (const LwtCpuLift *lift, gint n, gint begin, gint end)
{
  LwtCpuPiece piece;
  gboolean inside;

  init_segment (&piece, lift, n, TRUE, begin, end, TRUE, TRUE);
  inside = !has_edges (&piece);
  lwt_cpu_piece_clear (&piece);
  return inside;
}

void
lwt_cpu_columns_init (LwtCpuColumns *columns, const LwtCpuLift *lift, gint n,
    gboolean split, gint begin, gint end, gboolean high)
{
  const gint width = LWT_CPU_ALIGN;
  gint plain = begin, plain_end = begin + (end - begin) / width * width;

  columns->plain_end = begin;
  columns->n_edges = 0;
  init_segment (&columns->all, lift, n, split, begin, end, TRUE, high);
  if (!split || lift->stages == 0)
    return;
  if (!is_inside (lift, n, begin, begin + 1))
    plain += width;
  while (plain_end > plain && !is_inside (lift, n, plain_end - 1, plain_end))
    plain_end -= width;
  if (plain_end < plain + 2 * width)
    return;
  columns->plain_end = plain_end;
  if (plain > begin)
    init_segment (&columns->edges[columns->n_edges++], lift, n, TRUE, begin,
        plain, TRUE, high);
  if (plain_end < end)
    init_segment (&columns->edges[columns->n_edges++], lift, n, TRUE, plain_end,
        end, TRUE, high);
}

void
lwt_cpu_columns_clear (LwtCpuColumns *columns)
{
  lwt_cpu_piece_clear (&columns->all);
  for (guint i = 0; i < columns->n_edges; i++)
    lwt_cpu_piece_clear (&columns->edges[i]);
}

/* --- progress -------------------------------------------------------------------- */

void
lwt_cpu_progress_init (
    LwtCpuProgress *progress, const LwtCpuLift *lift, const LwtCpuPiece *piece)
{
  for (guint i = 0; i < piece->n_steps; i++)
    progress->done[i] = piece->ranges[i].first;
  progress->ready[0] = progress->ready[1] = progress->kept = piece->first;
}

/* How far a step gets if its own samples have arrived up to @targets, the
 * others up to @sources. */
static gint
get_reach (const LwtCpuStep *step, const LwtCpuRange *range, gint done,
    gint targets, gint sources)
{
  gint reach = MIN (range->end, targets);

  if (sources < range->source_end) {
    if (sources < range->high)
      return done;
    reach = MIN (reach, sources - step->first - (gint) step->n + 1);
  }
  return MAX (reach, done);
}

void
lwt_cpu_progress_go_on (LwtCpuProgress *progress, const LwtCpuLift *lift,
    const LwtCpuPiece *piece, gint loaded)
{
  /* ends of the samples that no pending step still has to read */
  gint free_to[2] = { G_MAXINT, G_MAXINT };

  progress->ready[0] = progress->ready[1] = loaded;
  progress->kept = G_MAXINT;
  for (guint i = 0; i < piece->n_steps; i++) {
    const LwtCpuStep *step = &lift->steps[i];
    const LwtCpuRange *range = &piece->ranges[i];
    gint *done = &progress->done[i];

    if (range->first == range->end)
      continue;
    *done = get_reach (step, range, *done,
        MIN (progress->ready[step->odd], free_to[step->odd]),
        progress->ready[!step->odd]);
    progress->ready[step->odd] = *done;
    if (*done < range->end) {
      const gint low =
          MIN (*done + step->first - (lacks_one (piece, !step->odd) ? 1 : 0),
              range->low);

      free_to[!step->odd] = MIN (free_to[!step->odd], low);
      progress->kept = MIN (progress->kept, MIN (low, *done));
    }
  }
}
