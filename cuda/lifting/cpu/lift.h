/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A tile of a level, for one type and one instruction set. See cuda/lifting/cpu/cpu.h. */
#pragma once

#include "cuda/lifting/cpu/simd.h"

/* Rounds up to whole vectors of any instruction set, in elements. */
#define ALIGN_UP(n)                                                            \
  (((gsize) (n) + LWT_CPU_ALIGN - 1) / LWT_CPU_ALIGN * LWT_CPU_ALIGN)
#define VECTOR (LANES * sizeof (T))
/* Elements between the two bands of a row, which may be overwritten */
#define GAP LWT_CPU_ALIGN
/* Prefetch distance in pairs of rows */
#define AHEAD 2
/* Shorter rows, in elements, are not written with non-temporal stores. */
#define STREAM_MIN 64

/* --- a step --------------------------------------------------------------------- */

/* @sample changed by the @sum of its weighted neighbours. Floats: the sum
 *   starts with the sample. */
#if defined(LWT_I32)
#define BEGIN(step, sample)                                                    \
  V_SET ((step)->shift > 0 ? 1 << ((step)->shift - 1) : 0)

LWT_ALWAYS V
finish (V sample, V sum, guint shift, gboolean inverse)
{
  V change = V_SHIFT (sum, shift);

  return inverse ? V_SUB (sample, change) : V_ADD (sample, change);
}

LWT_ALWAYS T
finish_one (T sample, T sum, guint shift, gboolean inverse)
{
  const guint32 change = (guint32) (sum >> shift);

  return (T) (inverse ? (guint32) sample - change : (guint32) sample + change);
}
#else
#define BEGIN(step, sample) (sample)
#define finish(sample, sum, shift, inverse) (sum)
#define finish_one(sample, sum, shift, inverse) (sum)
#endif

/* A step on @n adjacent samples; source[i] is the neighbour of weight i of
 * the first one. */
LWT_ALWAYS void
lift_taps (const LwtCpuStep *step, guint taps, gboolean inverse, T *target,
    const T *const *source, gsize n)
{
  gsize x;

  for (x = 0; x + LANES <= n; x += LANES) {
    const V sample = V_LOAD (target + x);
    V sum = BEGIN (step, sample);

    for (guint i = 0; i < taps; i++)
      sum = V_FMA (V_SET (step->WEIGHTS[i]), V_LOAD (source[i] + x), sum);
    V_STORE (target + x, finish (sample, sum, step->shift, inverse));
  }
  if (x < n) {
    const V sample = V_LOAD (target + x);
    V sum = BEGIN (step, sample);

    for (guint i = 0; i < taps; i++)
      sum = V_FMA (V_SET (step->WEIGHTS[i]), V_LOAD (source[i] + x), sum);
    V_STORE_PART (
        target + x, finish (sample, sum, step->shift, inverse), n - x);
  }
}

static void
run_lift (const LwtCpuStep *step, gboolean inverse, T *target,
    const T *const *source, gsize n)
{
  switch (step->n) {
    case 1:
      lift_taps (step, 1, inverse, target, source, n);
      break;
    case 2:
      lift_taps (step, 2, inverse, target, source, n);
      break;
    case 3:
      lift_taps (step, 3, inverse, target, source, n);
      break;
    case 4:
      lift_taps (step, 4, inverse, target, source, n);
      break;
    default:
      lift_taps (step, step->n, inverse, target, source, n);
      break;
  }
}

/* --- a row ------------------------------------------------------------------------- */

/* All steps on a segment of a row, kind by kind; element 0 is pair
 * piece->first. */
static void
lift_edge (const LwtCpuLift *lift, const LwtCpuStep *step,
    const LwtCpuEdge *edge, gint first, T *const line[2])
{
  const T *from = line[!step->odd];
  T *sample = &line[step->odd][edge->target - first];
#if defined(LWT_I32)
  T sum = step->shift > 0 ? 1 << (step->shift - 1) : 0;
#else
  T sum = *sample;
#endif

  for (guint i = 0; i < step->n; i++)
    sum = ONE_FMA (step->WEIGHTS[i],
        edge->source[i] == LWT_CPU_ZERO ? 0 : from[edge->source[i] - first],
        sum);
  *sample = finish_one (*sample, sum, step->shift, lift->inverse);
}

static void
lift_line (const LwtCpuLift *lift, const LwtCpuPiece *piece, T *const line[2])
{
  for (guint i = 0; i < piece->n_steps; i++) {
    const LwtCpuStep *step = &lift->steps[i];
    const LwtCpuRange *range = &piece->ranges[i];

    if (range->plain < range->plain_end) {
      const gint at = range->plain - piece->first;
      const T *source[LWT_MAX_TAPS];

      for (guint j = 0; j < step->n; j++)
        source[j] = line[!step->odd] + at + step->first + (gint) j;
      run_lift (step, lift->inverse, line[step->odd] + at, source,
          (gsize) (range->plain_end - range->plain));
    }
    for (guint j = 0; j < range->n_edges; j++)
      lift_edge (lift, step, &range->edges[j], piece->first, line);
  }
}

/* --- a row in registers ------------------------------------------------------------- */

#if !defined(LWT_I32)
#define MAX_STAGES 2
/* Pairs before the first, in whole vectors, after which the start values no
 * longer matter */
#define BACK (LANES < 4 ? 4 : LANES)
#define SKIP (BACK / LANES)

/* State of a pair of steps: vectors of the previous columns, and the weights */
typedef struct {
  V even, odd, predicted;
  V c[4];
} Stage;

static void
init_stages (const LwtCpuLift *lift, Stage stages[MAX_STAGES])
{
  for (guint i = 0; i < lift->stages; i++) {
    stages[i].even = stages[i].odd = stages[i].predicted = V_SET (0);
    for (guint j = 0; j < 4; j++)
      stages[i].c[j] = V_SET (lift->steps[2 * i + j / 2].WEIGHTS[j % 2]);
  }
}

/* Predict, then update; the output lags by one vector. */
LWT_ALWAYS void
predict_update (Stage *stage, V *even, V *odd)
{
  const V *c = stage->c;
  const V predicted = V_FMA (
      c[1], v_next (stage->even, *even), V_FMA (c[0], stage->even, stage->odd));
  const V updated = V_FMA (c[3], predicted,
      V_FMA (c[2], v_last (stage->predicted, predicted), stage->even));

  stage->even = *even;
  stage->odd = *odd;
  stage->predicted = predicted;
  *even = updated;
  *odd = predicted;
}

/* The same for an update followed by a predict. */
LWT_ALWAYS void
update_predict (Stage *stage, V *even, V *odd)
{
  const V *c = stage->c;
  const V updated =
      V_FMA (c[1], *odd, V_FMA (c[0], v_last (stage->odd, *odd), *even));
  const V predicted = V_FMA (c[3], v_next (stage->even, updated),
      V_FMA (c[2], stage->even, stage->odd));

  *even = stage->even;
  stage->even = updated;
  stage->odd = *odd;
  *odd = predicted;
}

typedef struct {
  Stage stages[MAX_STAGES];
  V scale[2];
  V strange;     /* sum of each sample minus itself: 0, or NaN */
  T *low, *high; /* %NULL @high: not wanted */
} Splitter;

/* Vector @n of pairs; the first @skip outputs are not stored. */
LWT_ALWAYS void
split_next (Splitter *splitter, guint stages, gboolean check, gsize n,
    gsize skip, const T *from)
{
  const V a = V_LOAD (from), b = V_LOAD (from + LANES);
  V even, odd;

  if (check)
    splitter->strange =
        V_ADD (splitter->strange, V_ADD (V_SUB (a, a), V_SUB (b, b)));
  v_split (a, b, &even, &odd);
  for (guint i = 0; i < stages; i++)
    predict_update (&splitter->stages[i], &even, &odd);
  if (n < skip + stages)
    return;
  n = (n - skip - stages) * LANES;
  V_STORE (splitter->low + n, V_MUL (even, splitter->scale[0]));
  if (splitter->high)
    V_STORE (splitter->high + n, V_MUL (odd, splitter->scale[1]));
}

/* @from: @pairs pairs in up to @n vectors; missing ones are 0 */
LWT_ALWAYS void
split_stages (Splitter *splitter, guint stages, gboolean check, gsize n,
    gsize skip, const T *from, gsize pairs, gsize ahead)
{
  const gsize whole = MIN (pairs / LANES, n + stages);
  T rest[2 * LANES * (MAX_STAGES + 1)] = { 0 };

  for (gsize i = 0; i < whole; i++, from += 2 * LANES) {
    PREFETCH ((const guint8 *) from + ahead);
    PREFETCH ((const guint8 *) (from + LANES) + ahead);
    split_next (splitter, stages, check, i, skip, from);
  }
  if (whole == n + stages)
    return;
  memcpy (rest, from, 2 * (pairs % LANES) * sizeof (T));
  for (gsize i = whole; i < n + stages; i++)
    split_next (
        splitter, stages, check, i, skip, rest + (i - whole) * (2 * LANES));
}

/* Computes the output of @columns in registers. @from: the row; @ahead:
 * bytes to the row to prefetch. Returns: whether a sample is not finite */
static gboolean
split_plain (const LwtCpuLift *lift, const LwtCpuColumns *columns,
    gboolean check, const T *from, gsize ahead, T *low, T *high)
{
  const gint begin = columns->all.begin, back = begin > 0 ? BACK : 0;
  const gint pairs =
      MIN (columns->all.count[1], columns->plain_end + BACK) - (begin - back);
  const gsize skip = (gsize) back / LANES;
  const gsize n = (gsize) (columns->plain_end - begin) / LANES + skip;
  Splitter splitter = { .strange = V_SET (0), .low = low, .high = high };

  init_stages (lift, splitter.stages);
  splitter.scale[0] = V_SET (lift->SCALE[0]);
  splitter.scale[1] = V_SET (lift->SCALE[1]);
  from += 2 * (begin - back);
  if (lift->stages == 1)
    split_stages (&splitter, 1, TRUE, n, skip, from, (gsize) pairs, ahead);
  else if (check)
    split_stages (&splitter, 2, TRUE, n, skip, from, (gsize) pairs, ahead);
  else
    split_stages (&splitter, 2, FALSE, n, skip, from, (gsize) pairs, ahead);
  return V_IS_NAN (splitter.strange);
}

/* @even, @odd: from SKIP vectors before @to on; %NULL @odd: zeros */
LWT_ALWAYS void
join_stages (const LwtCpuLift *lift, guint n_stages, gsize n, const T *even,
    const T *odd, T *to, gboolean cold)
{
  const V low = V_SET (lift->SCALE[0]), high = V_SET (lift->SCALE[1]);
  Stage stages[MAX_STAGES];

  init_stages (lift, stages);
  for (gsize i = 0; i < n + SKIP + n_stages; i++) {
    V s = V_MUL (V_LOAD (even + i * LANES), low), a, b;
    V d = odd ? V_MUL (V_LOAD (odd + i * LANES), high) : V_SET (0);

    for (guint j = 0; j < n_stages; j++)
      update_predict (&stages[j], &s, &d);
    if (i < SKIP + n_stages)
      continue;
    v_join (s, d, &a, &b);
    if (cold) {
      V_STREAM (to, a);
      V_STREAM (to + LANES, b);
    } else {
      V_STORE (to, a);
      V_STORE (to + LANES, b);
    }
    to += 2 * LANES;
  }
}

/* @even, @odd: from pair columns->all.first on; @to: from pair
 *   columns->all.begin on */
static void
join_plain (const LwtCpuLift *lift, const LwtCpuColumns *columns, const T *even,
    const T *odd, T *to, gboolean cold)
{
  const gint from = columns->all.begin - BACK - columns->all.first;
  const gsize n = (gsize) (columns->plain_end - columns->all.begin) / LANES;

  even += from;
  if (odd)
    odd += from;
  cold = cold && GPOINTER_TO_SIZE (to) % VECTOR == 0;
  if (lift->stages == 1)
    join_stages (lift, 1, n, even, odd, to, cold);
  else
    join_stages (lift, 2, n, even, odd, to, cold);
}
#endif

/* --- load and store ------------------------------------------------------ */

static gint
modulo (gint k, gint n)
{
  k %= n;
  return k < 0 ? k + n : k;
}

/* Samples of a kind that are contiguous in its band.
 * @sample: (in): the first, which may be beyond the line
 * Returns: their number up to @end; @entry: index in the band; -1: zeros */
static gint
get_run (const LwtCpuPiece *piece, gint odd, gint sample, gint end, gint *entry)
{
  const gint count = piece->count[odd];
  gint n = end - sample;

  if (piece->period > 0) {
    sample = modulo (sample, piece->period);
    n = MIN (n, piece->period - sample);
  }
  if (sample >= count) {
    *entry = -1;
    return n;
  }
  *entry = modulo (sample - piece->turn[odd], count);
  return MIN (MIN (n, count - sample), count - *entry);
}

LWT_ALWAYS void
split_vector (const T *from, T *even, T *odd, gboolean check, V *strange)
{
  const V a = V_LOAD (from), b = V_LOAD (from + LANES);
  V s, d;

  if (check)
    *strange = V_ADD (*strange, V_ADD (V_SUB (a, a), V_SUB (b, b)));
  v_split (a, b, &s, &d);
  V_STORE (even, s);
  V_STORE (odd, d);
}

/* Splits pairs into even and odd samples. Returns: whether one is not finite */
LWT_ALWAYS gboolean
split_pairs (
    const T *from, gsize ahead, gsize pairs, T *even, T *odd, gboolean check)
{
  V strange = V_SET (0);
  gsize k;

  for (k = 0; k + LANES <= pairs; k += LANES) {
    PREFETCH ((const guint8 *) (from + 2 * k) + ahead);
    PREFETCH ((const guint8 *) (from + 2 * k + LANES) + ahead);
    split_vector (from + 2 * k, even + k, odd + k, check, &strange);
  }
  if (k < pairs) {
    T rest[2 * LANES] = { 0 };

    memcpy (rest, from + 2 * k, 2 * (pairs - k) * sizeof (T));
    split_vector (rest, even + k, odd + k, check, &strange);
  }
  return V_IS_NAN (strange);
}

/* Interleaves even and odd samples. */
LWT_ALWAYS void
join_pairs (const T *even, const T *odd, gsize pairs, T *to, gboolean cold)
{
  gsize k;

  cold = cold && GPOINTER_TO_SIZE (to) % VECTOR == 0;
  for (k = 0; k + LANES <= pairs; k += LANES) {
    V a, b;

    v_join (V_LOAD (even + k), V_LOAD (odd + k), &a, &b);
    if (cold) {
      V_STREAM (to + 2 * k, a);
      V_STREAM (to + 2 * k + LANES, b);
    } else {
      V_STORE (to + 2 * k, a);
      V_STORE (to + 2 * k + LANES, b);
    }
  }
  for (; k < pairs; k++) {
    to[2 * k] = even[k];
    to[2 * k + 1] = odd[k];
  }
}

/* Scale factor of a row of a band. */
LWT_ALWAYS V
scaled (V v, V scale, gboolean scales)
{
#if defined(LWT_I32)
  return v;
#else
  return scales ? V_MUL (v, scale) : v;
#endif
}

LWT_ALWAYS void
copy_scaled (const T *from, gsize n, T *to, V scale, gboolean scales)
{
  gsize i;

  for (i = 0; i + LANES <= n; i += LANES)
    V_STORE (to + i, scaled (V_LOAD (from + i), scale, scales));
  if (i < n) {
    /* bands are read in place: memory after the last one may not exist */
    T rest[LANES] = { 0 };

    memcpy (rest, from + i, (n - i) * sizeof (T));
    V_STORE_PART (to + i, scaled (V_LOAD (rest), scale, scales), n - i);
  }
}

/* Non-temporal stores: whole vectors from the first aligned address. */
LWT_ALWAYS void
stream_scaled (const T *from, gsize n, T *to, V scale, gboolean scales)
{
  const gsize head =
      (VECTOR - GPOINTER_TO_SIZE (to) % VECTOR) % VECTOR / sizeof (T);
  gsize i;

  copy_scaled (from, head, to, scale, scales);
  for (i = head; i + LANES <= n; i += LANES)
    V_STREAM (to + i, scaled (V_LOAD (from + i), scale, scales));
  copy_scaled (from + i, n - i, to + i, scale, scales);
}

/* The elements at @from are contiguous. */
static void
put (const T *from, gsize n, T *to, gsize step, gboolean cold, const T *scale)
{
  const V scales = V_SET (scale ? *scale : 1);

  if (step != 1)
    for (gsize i = 0; i < n; i++)
      to[i * step] = ONE_SCALE (from[i], scale);
  else if (cold && n >= STREAM_MIN && scale)
    stream_scaled (from, n, to, scales, TRUE);
  else if (cold && n >= STREAM_MIN)
    stream_scaled (from, n, to, scales, FALSE);
  else if (scale)
    copy_scaled (from, n, to, scales, TRUE);
  else
    copy_scaled (from, n, to, scales, FALSE);
}

static void
get (const T *from, gsize n, gsize step, T *to, const T *scale)
{
  if (step == 1)
    put (from, n, to, 1, FALSE, scale);
  else
    for (gsize i = 0; i < n; i++)
      to[i] = ONE_SCALE (from[i * step], scale);
}

/* Loads a segment of a row of a band. */
static void
put_band (const LwtCpuPiece *piece, gint odd, const T *from,
    const LwtCpuPlane *band, gint row, const T *scale)
{
  const gint end = MIN (piece->end, piece->count[odd]);
  T *to = (T *) (gpointer) ((guint8 *) band->data + (gsize) row * band->stride);
  gint entry, n;

  if (band->data == NULL)
    return;
  for (gint k = piece->begin; k < end; k += n) {
    n = get_run (piece, odd, k, end, &entry);
    put (from + (k - piece->begin), (gsize) n, to + (gsize) entry * band->step,
        band->step, band->cold, scale);
  }
}

static void
get_band (const LwtCpuPiece *piece, gint odd, const LwtCpuPlane *band, gint row,
    T *to, const T *scale)
{
  const T *from = (const T *) (gconstpointer) ((const guint8 *) band->data
                                               + (gsize) row * band->stride);
  gint entry, n;

  for (gint k = piece->first; k < piece->last; k += n) {
    n = get_run (piece, odd, k, piece->last, &entry);
    if (entry < 0)
      memset (to + (k - piece->first), 0, (gsize) n * sizeof (T));
    else
      get (from + (gsize) entry * band->step, (gsize) n, band->step,
          to + (k - piece->first), scale);
  }
}

/* --- a ring of rows ------------------------------------------------------------------ */

typedef struct {
  const LwtCpuTask *task;
  const LwtCpuColumns *columns;
  const LwtCpuPiece *rows;
  LwtCpuScratch *scratch;
  gsize high; /* first element of a row's high band */
  gsize n;    /* elements of a row, in whole vectors */
  /* factors of the bands along x and y, or in the inverse divisors; NULL:
   * none */
  const T *scale[2][2];
  LwtCpuProgress progress;
} Tile;

static void
tile_init (Tile *tile, const LwtCpuTask *task, LwtCpuScratch *scratch,
    guint column, guint row)
{
  const LwtCpuPass *pass = task->pass;

  tile->task = task;
  tile->columns = &pass->columns[column];
  tile->rows = &pass->rows[row];
  tile->scratch = scratch;
  lwt_cpu_progress_init (&tile->progress, pass->lift, tile->rows);
  for (guint i = 0; i < 2; i++) {
#if defined(LWT_I32)
    tile->scale[0][i] = tile->scale[1][i] = NULL;
#else
    tile->scale[0][i] = pass->level.x ? &pass->lift->SCALE[i] : NULL;
    tile->scale[1][i] = pass->level.y ? &pass->lift->SCALE[i] : NULL;
#endif
  }
}

/* Columns of each band in a row of the ring. */
static void
set_width (Tile *tile, gint columns)
{
  const LwtCpuPass *pass = tile->task->pass;
  const gsize width = ALIGN_UP (columns);

  tile->high = width + GAP;
  tile->n = pass->level.x && !pass->low_only ? tile->high + width : width;
}

/* Row @k of a kind. */
static T *
get_row (const Tile *tile, gint k, gint odd)
{
  const gsize slot =
      2 * ((gsize) (k - tile->rows->first) % tile->rows->rows) + (gsize) odd;

  return (T *) (gpointer) ((guint8 *) tile->scratch->ring
                           + slot * tile->scratch->pitch);
}

static void
lift_row (
    const Tile *tile, const LwtCpuStep *step, const LwtCpuRange *range, gint k)
{
  const LwtCpuEdge *edge = NULL;
  const T *source[LWT_MAX_TAPS];

  if (k < range->plain)
    edge = &range->edges[k - range->first];
  else if (k >= range->plain_end)
    edge = &range->edges[k - range->first - (range->plain_end - range->plain)];
  for (guint i = 0; i < step->n; i++) {
    const gint from = edge ? edge->source[i] : k + step->first + (gint) i;

    source[i] = from == LWT_CPU_ZERO ? tile->scratch->zeros
                                     : get_row (tile, from, !step->odd);
  }
  run_lift (step, tile->task->pass->lift->inverse, get_row (tile, k, step->odd),
      source, tile->n);
}

#if !defined(LWT_I32)
/* Whether each step of the stages, on the row after its last one, continues
 * where the step before has its other neighbour. */
static gboolean
is_lattice (const LwtCpuLift *lift, const LwtCpuPiece *rows, const gint *from,
    const gint *to)
{
  if (lift->stages == 0 || rows->n_steps == 0)
    return FALSE;
  for (guint i = 0; i < rows->n_steps; i++)
    if (to[i] != from[i] + 1 || from[i] < rows->ranges[i].plain
        || from[i] >= rows->ranges[i].plain_end
        || (i > 0 && from[i] != from[i - 1] + lift->steps[i - 1].first))
      return FALSE;
  return TRUE;
}

/* These steps in registers. row[0] is the later neighbour of the first step,
 * row[i + 1] is what step i changes, row[steps + 1] the earlier neighbour of
 * the last step. */
LWT_ALWAYS void
lift_stages (const LwtCpuLift *lift, guint steps,
    T *const row[2 * MAX_STAGES + 2], gsize n)
{
  V c[2 * MAX_STAGES][2];

  for (guint i = 0; i < steps; i++)
    for (guint j = 0; j < 2; j++)
      c[i][j] = V_SET (lift->steps[i].WEIGHTS[j]);
  for (gsize x = 0; x < n; x += LANES) {
    V later = V_LOAD (row[0] + x), sample = V_LOAD (row[1] + x);

    for (guint i = 0; i < steps; i++) {
      const V earlier = V_LOAD (row[i + 2] + x);

      later = V_FMA (c[i][1], later, V_FMA (c[i][0], earlier, sample));
      V_STORE (row[i + 1] + x, later);
      sample = earlier;
    }
  }
}

static void
lift_lattice (const Tile *tile, const gint *k)
{
  const LwtCpuLift *lift = tile->task->pass->lift;
  const LwtCpuStep *last = &lift->steps[lift->n_steps - 1];
  T *row[2 * MAX_STAGES + 2];

  row[0] = get_row (tile, k[0] + lift->steps[0].first + 1, !lift->steps[0].odd);
  for (guint i = 0; i < lift->n_steps; i++)
    row[i + 1] = get_row (tile, k[i], lift->steps[i].odd);
  row[lift->n_steps + 1] =
      get_row (tile, k[lift->n_steps - 1] + last->first, !last->odd);
  if (lift->stages == 1)
    lift_stages (lift, 2, row, tile->n);
  else
    lift_stages (lift, 4, row, tile->n);
}
#endif

/* Runs all steps along y that the pairs of rows up to @loaded allow. */
static void
lift_rows (Tile *tile, gint loaded)
{
  const LwtCpuLift *lift = tile->task->pass->lift;
  const LwtCpuPiece *rows = tile->rows;
  const gint *to = tile->progress.done;
  gint from[LWT_MAX_STEPS];

  memcpy (from, to, rows->n_steps * sizeof *from);
  lwt_cpu_progress_go_on (&tile->progress, lift, rows, loaded);
#if !defined(LWT_I32)
  if (is_lattice (lift, rows, from, to)) {
    lift_lattice (tile, from);
    return;
  }
#endif
  for (guint i = 0; i < rows->n_steps; i++)
    for (gint k = from[i]; k < to[i]; k++)
      lift_row (tile, &lift->steps[i], &rows->ranges[i], k);
}

/* Pairs of rows that are complete, up to the segment's end. */
static gint
get_complete (const Tile *tile, gboolean both)
{
  const LwtCpuPiece *rows = tile->rows;
  gint ready = tile->progress.ready[0];

  if (both && tile->progress.ready[1] < MIN (rows->end, rows->count[1]))
    ready = MIN (ready, tile->progress.ready[1]);
  return MIN (ready, rows->end);
}

/* --- forward --------------------------------------------------------------------------- */

/* The last even sample of an odd length. */
static gboolean
split_last (const T *from, T *even, T *odd)
{
  *even = *from;
  *odd = 0;
  return *from - *from != 0;
}

/* A row that is not split. */
static void
copy_row (const T *from, gsize n, T *to, gint *strange)
{
  gboolean is = FALSE;

  memcpy (to, from, n * sizeof (T));
  for (gsize i = 0; i < n && strange; i++)
    is |= from[i] - from[i] != 0;
  if (is)
    g_atomic_int_set (strange, TRUE);
}

/* A segment of a row of the picture to its bands at @low and @high. */
static void
split_piece (const Tile *tile, const LwtCpuPiece *piece, const T *from,
    gsize ahead, T *low, T *high)
{
  const LwtCpuTask *task = tile->task;
  T *const line[2] = { tile->scratch->line[0], tile->scratch->line[1] };
  const gint highs = MIN (piece->end, piece->count[1]) - piece->begin;
  const gint skip = piece->begin - piece->first;
  gboolean strange = FALSE;
  gint n;

  for (gint k = piece->first; k < piece->last; k += n) {
    const gint at = piece->period > 0 ? modulo (k, piece->period) : k;
    const gint pairs = MIN (piece->last - k, piece->count[1] - at);
    T *s = line[0] + (k - piece->first), *d = line[1] + (k - piece->first);

    n = MIN (piece->last - k, piece->count[0] - at);
    if (task->strange)
      strange |= split_pairs (from + 2 * at, ahead, (gsize) pairs, s, d, TRUE);
    else
      split_pairs (from + 2 * at, ahead, (gsize) pairs, s, d, FALSE);
    if (pairs < n)
      strange |= split_last (from + 2 * (at + pairs), s + pairs, d + pairs);
  }
  if (strange && task->strange)
    g_atomic_int_set (task->strange, TRUE);
  lift_line (task->pass->lift, piece, line);
  put (line[0] + skip, (gsize) (piece->end - piece->begin), low, 1, FALSE,
      tile->scale[0][0]);
  if (highs > 0 && high)
    put (line[1] + skip, (gsize) highs, high, 1, FALSE, tile->scale[0][1]);
}

/* Row @y of the picture to its two bands at @to. */
static void
split_row (const Tile *tile, gint y, T *to)
{
  const LwtCpuColumns *columns = tile->columns;
  const LwtCpuPiece *all = &columns->all;
  const LwtCpuTask *task = tile->task;
  const T *from =
      (const T *) (gconstpointer) ((const guint8 *) task->whole.data
                                   + (gsize) y * task->whole.stride);
  const gsize ahead =
      y + 2 * AHEAD < tile->rows->n ? 2 * AHEAD * task->whole.stride : 0;
  T *high = task->pass->low_only ? NULL : to + tile->high;

  if (!task->pass->level.x) {
    copy_row (
        from + all->begin, (gsize) (all->end - all->begin), to, task->strange);
    return;
  }
#if !defined(LWT_I32)
  if (columns->plain_end > all->begin) {
    if (split_plain (task->pass->lift, columns, task->strange != NULL, from,
            ahead, to, high)
        && task->strange)
      g_atomic_int_set (task->strange, TRUE);
    for (guint i = 0; i < columns->n_edges; i++) {
      const gint at = columns->edges[i].begin - all->begin;

      split_piece (tile, &columns->edges[i], from, ahead, to + at,
          high ? high + at : NULL);
    }
    return;
  }
#endif
  split_piece (tile, all, from, ahead, to, high);
}

/* Pair @k of rows into the ring. */
static void
load_rows (const Tile *tile, gint k)
{
  const LwtCpuPiece *rows = tile->rows;
  const gint at = rows->period > 0 ? modulo (k, rows->period) : k;

  if (!tile->task->pass->level.y) {
    split_row (tile, k, get_row (tile, k, 0));
    return;
  }
  split_row (tile, 2 * at, get_row (tile, k, 0));
  if (at < rows->count[1])
    split_row (tile, 2 * at + 1, get_row (tile, k, 1));
}

static void
put_row (const Tile *tile, gint k, gint odd)
{
  const LwtCpuPlane *band = tile->task->band[odd];
  const T *row = get_row (tile, k, odd);
  gint entry;

  get_run (tile->rows, odd, k, k + 1, &entry);
  put_band (&tile->columns->all, 0, row, &band[0], entry, tile->scale[1][odd]);
  put_band (&tile->columns->all, 1, row + tile->high, &band[1], entry,
      tile->scale[1][odd]);
}

static void
forward_tile (
    const LwtCpuTask *task, LwtCpuScratch *scratch, guint column, guint row)
{
  const gboolean low_only = task->pass->low_only;
  Tile tile;
  gint out;

  tile_init (&tile, task, scratch, column, row);
  set_width (&tile, tile.columns->all.end - tile.columns->all.begin);
  out = tile.rows->begin;
  for (gint k = tile.rows->first; k < tile.rows->last; k++) {
    gint complete;

    load_rows (&tile, k);
    lift_rows (&tile, k + 1);
    complete = get_complete (&tile, !low_only);
    for (; out < complete; out++) {
      put_row (&tile, out, 0);
      if (out < tile.rows->count[1] && !low_only)
        put_row (&tile, out, 1);
    }
  }
  FENCE ();
}

/* --- inverse --------------------------------------------------------------------------- */

/* Row @k of both bands of a kind into the ring. */
static void
get_row_of_bands (const Tile *tile, gint k, gint odd)
{
  const LwtCpuTask *task = tile->task;
  const LwtCpuPlane *band = task->band[odd];
  T *row = get_row (tile, k, odd);
  gint entry;

  get_run (tile->rows, odd, k, k + 1, &entry);
  if (entry < 0 || (odd && task->pass->low_only)) {
    memset (row, 0, tile->n * sizeof (T));
    return;
  }
  get_band (&tile->columns->all, 0, &band[0], entry, row, tile->scale[1][odd]);
  if (task->pass->level.x && !task->pass->low_only)
    get_band (&tile->columns->all, 1, &band[1], entry, row + tile->high,
        tile->scale[1][odd]);
}

/* A segment of a row of the ring to the picture: @even and @odd from its
 * first input pair, @to from its first output pair. */
static void
join_piece (const Tile *tile, const LwtCpuPiece *piece, const T *even,
    const T *odd, T *to)
{
  const LwtCpuTask *task = tile->task;
  const gsize n = (gsize) (piece->last - piece->first);
  const gint skip = piece->begin - piece->first;
  const gint pairs = MIN (piece->end, piece->count[1]) - piece->begin;
  T *const line[2] = { tile->scratch->line[0], tile->scratch->line[1] };

  put (even, n, line[0], 1, FALSE, tile->scale[0][0]);
  if (odd)
    put (odd, n, line[1], 1, FALSE, tile->scale[0][1]);
  else
    memset (line[1], 0, n * sizeof (T));
  lift_line (task->pass->lift, piece, line);
  if (pairs > 0)
    join_pairs (
        line[0] + skip, line[1] + skip, (gsize) pairs, to, task->whole.cold);
  if (piece->end > piece->count[1])
    to[2 * pairs] = line[0][skip + pairs];
}

/* Row @k of a kind of the ring to the picture. */
static void
join_row (const Tile *tile, gint k, gint odd)
{
  const LwtCpuColumns *columns = tile->columns;
  const LwtCpuPiece *all = &columns->all;
  const LwtCpuTask *task = tile->task;
  const gint y = task->pass->level.y ? 2 * k + odd : k;
  const T *low = get_row (tile, k, odd);
  const T *high = task->pass->low_only ? NULL : low + tile->high;
  T *to = (T *) (gpointer) ((guint8 *) task->whole.data
                            + (gsize) y * task->whole.stride);

  if (!task->pass->level.x) {
    put (low, (gsize) (all->last - all->first), to + all->begin, 1,
        task->whole.cold, NULL);
    return;
  }
  to += 2 * all->begin;
#if !defined(LWT_I32)
  if (columns->plain_end > all->begin) {
    join_plain (task->pass->lift, columns, low, high, to, task->whole.cold);
    for (guint i = 0; i < columns->n_edges; i++) {
      const LwtCpuPiece *edge = &columns->edges[i];
      const gint at = edge->first - all->first;

      join_piece (tile, edge, low + at, high ? high + at : NULL,
          to + 2 * (edge->begin - all->begin));
    }
    return;
  }
#endif
  join_piece (tile, all, low, high, to);
}

static void
inverse_tile (
    const LwtCpuTask *task, LwtCpuScratch *scratch, guint column, guint row)
{
  Tile tile;
  gint out;

  tile_init (&tile, task, scratch, column, row);
  set_width (&tile, tile.columns->all.last - tile.columns->all.first);
  out = tile.rows->begin;
  for (gint k = tile.rows->first; k < tile.rows->last; k++) {
    gint complete;

    get_row_of_bands (&tile, k, 0);
    if (task->pass->level.y)
      get_row_of_bands (&tile, k, 1);
    lift_rows (&tile, k + 1);
    complete = get_complete (&tile, task->pass->level.y);
    for (; out < complete; out++) {
      join_row (&tile, out, 0);
      if (out < tile.rows->count[1])
        join_row (&tile, out, 1);
    }
  }
  FENCE ();
}

const LwtCpuLifter LWT_CPU (
    lifter) = { sizeof (T), forward_tile, inverse_tile };
