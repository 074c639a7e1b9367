/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A tile of a level, for one type and one instruction set. See lwtcpu.h. */
#pragma once

#include "lwtcpu_simd.h"

/* Elements: the parts of a row in the ring are whole vectors, whatever vectors
 * there are. */
#define ALIGN_UP(n) (((gsize) (n) + 15) / 16 * 16)
#define VECTOR (LANES * sizeof (T))
/* Rows of fewer elements are not written past the caches. */
#define STREAM_MIN 64

/* --- a step --------------------------------------------------------------------- */

/* What becomes of @sample by what @sum of its weighted neighbours says. Floats:
 * the sum begins with the sample. */
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

/* A step on @n samples one after the other; source[i] points to what weight i
 * is for, of the first. */
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

/* All steps on a piece of a row, kind by kind; element 0 is pair piece->first. */
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

/* --- in and out ------------------------------------------------------------------- */

static gint
modulo (gint k, gint n)
{
  k %= n;
  return k < 0 ? k + n : k;
}

/* Samples of a kind that lie one after the other in its band.
 * @sample: (in): the first, which may lie beyond the line
 * Returns: how many up to @end; @entry: where in the band; -1: there are none */
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

/* What a sum of elements minus themselves is not 0 of */
LWT_ALWAYS gboolean
is_strange (V sum)
{
  T all[LANES];
  gboolean strange = FALSE;

  V_STORE (all, sum);
  for (guint i = 0; i < LANES; i++)
    strange |= all[i] != 0;
  return strange;
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

/* Pairs to even and odd samples. Returns: whether one is not finite. */
LWT_ALWAYS gboolean
split_pairs (const T *from, gsize pairs, T *even, T *odd, gboolean check)
{
  V strange = V_SET (0);
  gsize k;

  for (k = 0; k + LANES <= pairs; k += LANES)
    split_vector (from + 2 * k, even + k, odd + k, check, &strange);
  if (k < pairs) {
    T rest[2 * LANES] = { 0 };

    memcpy (rest, from + 2 * k, 2 * (pairs - k) * sizeof (T));
    split_vector (rest, even + k, odd + k, check, &strange);
  }
  return is_strange (strange);
}

/* The reverse. */
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

/* What a row of a band is multiplied by. */
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
  if (i < n)
    V_STORE_PART (to + i, scaled (V_LOAD (from + i), scale, scales), n - i);
}

/* Past the caches: whole vectors from the first address they divide. */
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

/* @from elements lie one after the other. */
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

/* A piece of a row of a band. */
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
  const LwtCpuPiece *columns, *rows;
  LwtCpuScratch *scratch;
  gsize high; /* element of a row at which its high band begins */
  gsize n;    /* elements of a row, whole vectors */
  /* what bands are multiplied by, or divided, along x and y; NULL: nothing */
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

/* All steps along y that can be done with the pairs of rows up to @loaded. */
static void
lift_rows (Tile *tile, gint loaded)
{
  const LwtCpuLift *lift = tile->task->pass->lift;
  const LwtCpuPiece *rows = tile->rows;
  gint done[LWT_MAX_STEPS];

  memcpy (done, tile->progress.done, rows->n_steps * sizeof *done);
  lwt_cpu_progress_go_on (&tile->progress, lift, rows, loaded);
  for (guint i = 0; i < rows->n_steps; i++)
    for (gint k = done[i]; k < tile->progress.done[i]; k++)
      lift_row (tile, &lift->steps[i], &rows->ranges[i], k);
}

/* Pairs of rows that are complete, up to the piece's end. */
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

/* The even sample that an odd length has last. */
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

/* Row @y of the picture to its two bands at @to. */
static void
split_row (const Tile *tile, gint y, T *to)
{
  const LwtCpuPiece *piece = tile->columns;
  const LwtCpuTask *task = tile->task;
  T *const line[2] = { tile->scratch->line[0], tile->scratch->line[1] };
  const T *from =
      (const T *) (gconstpointer) ((const guint8 *) task->whole.data
                                   + (gsize) y * task->whole.stride);
  const gint high = MIN (piece->end, piece->count[1]) - piece->begin;
  const gint skip = piece->begin - piece->first;
  gboolean strange = FALSE;
  gint n;

  if (!task->pass->level.x) {
    copy_row (from + piece->begin, (gsize) (piece->end - piece->begin), to,
        task->strange);
    return;
  }
  for (gint k = piece->first; k < piece->last; k += n) {
    const gint at = piece->period > 0 ? modulo (k, piece->period) : k;
    const gint pairs = MIN (piece->last - k, piece->count[1] - at);
    T *s = line[0] + (k - piece->first), *d = line[1] + (k - piece->first);

    n = MIN (piece->last - k, piece->count[0] - at);
    if (task->strange)
      strange |= split_pairs (from + 2 * at, (gsize) pairs, s, d, TRUE);
    else
      split_pairs (from + 2 * at, (gsize) pairs, s, d, FALSE);
    if (pairs < n)
      strange |= split_last (from + 2 * (at + pairs), s + pairs, d + pairs);
  }
  if (strange && task->strange)
    g_atomic_int_set (task->strange, TRUE);
  lift_line (task->pass->lift, piece, line);
  put (line[0] + skip, (gsize) (piece->end - piece->begin), to, 1, FALSE,
      tile->scale[0][0]);
  if (high > 0 && !task->pass->low_only)
    put (line[1] + skip, (gsize) high, to + tile->high, 1, FALSE,
        tile->scale[0][1]);
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
  put_band (tile->columns, 0, row, &band[0], entry, tile->scale[1][odd]);
  put_band (
      tile->columns, 1, row + tile->high, &band[1], entry, tile->scale[1][odd]);
}

static void
forward_tile (
    const LwtCpuTask *task, LwtCpuScratch *scratch, guint column, guint row)
{
  const gboolean low_only = task->pass->low_only;
  Tile tile;
  gint out;

  tile_init (&tile, task, scratch, column, row);
  tile.high = ALIGN_UP (tile.columns->end - tile.columns->begin);
  tile.n = task->pass->level.x && !low_only ? 2 * tile.high : tile.high;
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
  get_band (tile->columns, 0, &band[0], entry, row, tile->scale[1][odd]);
  if (task->pass->level.x && !task->pass->low_only)
    get_band (tile->columns, 1, &band[1], entry, row + tile->high,
        tile->scale[1][odd]);
}

/* Row @k of a kind of the ring to the picture. */
static void
join_row (const Tile *tile, gint k, gint odd)
{
  const LwtCpuPiece *piece = tile->columns;
  const LwtCpuTask *task = tile->task;
  const gsize n = (gsize) (piece->last - piece->first);
  const gint y = task->pass->level.y ? 2 * k + odd : k;
  const gint skip = piece->begin - piece->first;
  const gint pairs = MIN (piece->end, piece->count[1]) - piece->begin;
  T *const line[2] = { tile->scratch->line[0], tile->scratch->line[1] };
  const T *row = get_row (tile, k, odd);
  T *to = (T *) (gpointer) ((guint8 *) task->whole.data
                            + (gsize) y * task->whole.stride);

  if (!task->pass->level.x) {
    put (row, n, to + piece->begin, 1, task->whole.cold, NULL);
    return;
  }
  put (row, n, line[0], 1, FALSE, tile->scale[0][0]);
  if (task->pass->low_only)
    memset (line[1], 0, n * sizeof (T));
  else
    put (row + tile->high, n, line[1], 1, FALSE, tile->scale[0][1]);
  lift_line (task->pass->lift, piece, line);
  to += 2 * piece->begin;
  if (pairs > 0)
    join_pairs (
        line[0] + skip, line[1] + skip, (gsize) pairs, to, task->whole.cold);
  if (piece->end > piece->count[1])
    to[2 * pairs] = line[0][skip + pairs];
}

static void
inverse_tile (
    const LwtCpuTask *task, LwtCpuScratch *scratch, guint column, guint row)
{
  Tile tile;
  gint out;

  tile_init (&tile, task, scratch, column, row);
  tile.high = ALIGN_UP (tile.columns->last - tile.columns->first);
  tile.n =
      task->pass->level.x && !task->pass->low_only ? 2 * tile.high : tile.high;
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
