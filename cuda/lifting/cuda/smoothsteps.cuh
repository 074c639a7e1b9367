/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The steps of the low-pass filters on the device, in the order of
 * cuda/lifting/cpu/smooth.c. Included by smooth.cu and tests/emulation, which define
 * SMOOTH_START (kernel, task, threads of a row, rows, stream, error); for a kernel with
 * BYTES of shared memory of TYPE, SMOOTH_START_SHARED (kernel, TYPE, task, blocks of a row,
 * rows, BYTES, stream, error); and for smooth_run_columns, SMOOTH_START_COLUMNS (kernel,
 * TYPE, task, columns, rows, stream, error). */
#pragma once

#include "cuda/lifting/cuda/smooth.cuh"
#include "cuda/lifting/cuda/smoothcolumns.cuh"

void *cvis_arena_device (
    CvisArena *arena, gsize size, const gchar *what, GError **error);
extern "C" gboolean lwt_take_picture (CvisArena *arena, LwtType type,
    guint width, guint height, const gchar *what, LwtPicture *picture,
    GError **error);

namespace {

/* Rows of blocks at most; each takes several rows of larger pictures. */
#define MOST_BLOCK_ROWS 65535

/* @threads: of a row */
dim3
get_smooth_grid (gsize threads, gint rows)
{
  return dim3 (
      (guint) ((threads + LWT_SMOOTH_THREADS - 1) / LWT_SMOOTH_THREADS),
      (guint) MIN (rows, MOST_BLOCK_ROWS));
}

dim3
get_column_grid (gint columns, gint rows)
{
  return dim3 ((guint) ((columns - 1) / LWT_SMOOTH_COLUMN_THREADS + 1),
      (guint) MIN (rows, MOST_BLOCK_ROWS));
}

/* --- tables --------------------------------------------------------------- */

/* A table and its place on the device; @padded: elements there, 0 beyond @n */
struct Table {
  const gdouble *values;
  gsize n, padded;
  gpointer *device;
};

#define N_TABLES 5

/* Taps of the kernels in shared memory at most; weights of 0 are added up to theirs */
#define MOST_TILE_TAPS 8u

void
list_tables (LwtDeviceSmoother *s, guint which, guint axis, Table tables[])
{
  const LwtSmoothLine *line = &s->lines[which][axis];
  LwtSmoothTables *t = &s->tables[which][axis];
  const gsize near = 2 * (gsize) line->reach + 1;
  const gsize middle = 2 * (gsize) line->middle_reach + 1;
  const gsize far = (2 * (gsize) line->margin + 1) * line->period;

  t->n_near = (guint) ((near + LWT_SMOOTH_PERIOD - 1) / LWT_SMOOTH_PERIOD)
              * LWT_SMOOTH_PERIOD;
  tables[0] = { line->near, near, t->n_near, &t->near };
  tables[1] = { line->middle, middle, middle, &t->middle };
  tables[2] = { line->far, far, far, &t->far };
  tables[3] = { line->inverse, line->n, line->n, &t->inverse };
  tables[4] = { line->tap, line->n_taps, MAX (line->n_taps, MOST_TILE_TAPS),
    &t->tap };
}

/* --- a surface ------------------------------------------------------------ */

/* A surface on its way.
 * @runs: [k] the low-pass for cut-off k is needed
 * @outputs: what is made of it */
template <typename T> struct SmoothRun {
  LwtDeviceSmoother *s;
  const LwtPartsTask *task;
  guint32 *not_finite;
  bool runs[3];
  SmoothOutput<T> outputs[3];
  cudaStream_t stream;
  GError **error;
};

template <typename T>
SmoothPicture<T>
to_elements (LwtPicture picture)
{
  return { (T *) picture.data, picture.stride / sizeof (T) };
}

template <typename T>
SmoothSource<T>
to_source (LwtPicture picture)
{
  return { to_elements<const T> (picture), NULL, 0, false };
}

/* The surface, or with @weights the points' weights. */
template <typename T>
SmoothSource<T>
to_surface (const SmoothRun<T> &run, bool weights)
{
  return { to_elements<const T> (run.task->picture), run.task->missing,
    (run.task->width + 31) / 32, weights };
}

/* Where to note samples that are not finite, for a kernel that reads @from. */
template <typename T>
guint32 *
get_check (const SmoothRun<T> &run, LwtPicture from)
{
  return from.data == run.task->picture.data ? run.not_finite : NULL;
}

/* Components of a low-pass, or x, that is in memory. @weights: (NULL data): to divide by */
template <typename T>
gboolean
copy_low_pass (const SmoothRun<T> &run, LwtPicture low, LwtPicture weights,
    const SmoothOutput<T> &output)
{
  const SmoothCopy<T> task = { to_elements<const T> (low),
    to_elements<const T> (weights), output, get_check (run, low) };

  return SMOOTH_START (smooth_copy<T>, task, run.task->width, run.task->height,
      run.stream, run.error);
}

/* --- Gaussian ------------------------------------------------------------- */

guint
get_smooth_length (const LwtSmoothLine *line)
{
  return line->stride > 1 ? line->coarse : line->n;
}

/* Starts the kernel @parts or smooth_sum_rows. */
template <typename T>
gboolean
run_sums (const SmoothRun<T> &run, const SmoothSums<T> &task, bool parts)
{
  const bool holes = task.from.missing != NULL;

  if (parts) {
    const gsize threads = (gsize) task.width * LWT_SMOOTH_PERIOD;
    const gint rows = (task.height - 1) / LWT_SMOOTH_ROWS + 1;

    return holes ? SMOOTH_START ((smooth_sum_parts<T, true>), task, threads,
               rows, run.stream, run.error)
                 : SMOOTH_START ((smooth_sum_parts<T, false>), task, threads,
                     rows, run.stream, run.error);
  }
  return holes ? SMOOTH_START ((smooth_sum_rows<T, true>), task, task.width,
             task.height, run.stream, run.error)
               : SMOOTH_START ((smooth_sum_rows<T, false>), task, task.width,
                   task.height, run.stream, run.error);
}

/* The small picture @i of the samples (0) or of the weights (1). */
template <typename T>
gboolean
narrow_picture (const SmoothRun<T> &run, guint which, guint i)
{
  LwtDeviceSmoother *s = run.s;
  const LwtSmoothLine *x = &s->lines[which][0], *y = &s->lines[which][1];
  const LwtSmoothTables *tx = &s->tables[which][0], *ty = &s->tables[which][1];
  const gint width = (gint) get_smooth_length (x);
  const gint height = (gint) get_smooth_length (y);
  const bool narrows = x->stride > 1;
  SmoothSums<T> task = {};

  task.from = to_surface (run, i == 1);
  task.to = to_elements<T> (narrows ? s->middle[i] : s->rows[i]);
  task.weights = (const T *) tx->near;
  task.n_weights = narrows ? (gint) tx->n_near : 2 * x->reach + 1;
  task.stride = (gint) x->stride;
  task.first = -(gint) (x->margin * x->stride) - x->reach;
  task.n = (gint) x->n;
  task.width = width;
  task.height = (gint) y->n;
  task.not_finite = run.not_finite;
  if (!run_sums (run, task, narrows))
    return FALSE;
  task.not_finite = NULL;
  task.stride = 1;
  if (narrows) {
    task.from = to_source<T> (s->middle[i]);
    task.to = to_elements<T> (s->rows[i]);
    task.weights = (const T *) tx->middle;
    task.n_weights = 2 * x->middle_reach + 1;
    task.first = -x->middle_reach;
    task.n = width;
    if (!run_sums (run, task, false))
      return FALSE;
  }
  task.axis = 1;
  task.from = to_source<T> (s->rows[i]);
  task.to = to_elements<T> (s->coarse[i]);
  task.weights = (const T *) ty->near;
  task.n_weights = 2 * y->reach + 1;
  task.stride = (gint) y->stride;
  task.first = -(gint) (y->margin * y->stride) - y->reach;
  task.n = (gint) y->n;
  task.height = height;
  if (!run_sums (run, task, false) || y->stride == 1)
    return y->stride == 1;
  task.from = to_source<T> (s->coarse[i]);
  task.to = to_elements<T> (s->middle[i]);
  task.weights = (const T *) ty->middle;
  task.n_weights = 2 * y->middle_reach + 1;
  task.stride = 1;
  task.first = -y->middle_reach;
  task.n = height;
  return run_sums (run, task, false);
}

template <typename T>
void
set_far (SmoothWidening<T> *task, const LwtSmoothLine *line,
    const LwtSmoothTables *t)
{
  task->far = (const T *) t->far;
  task->stride_bits = (gint) g_bit_storage (line->stride) - 1;
  task->period = (gint) MAX (line->period, 1);
  task->n_far = (gint) (2 * line->margin + 1);
}

template <typename T>
gboolean
smooth_gaussian (const SmoothRun<T> &run, guint which)
{
  LwtDeviceSmoother *s = run.s;
  const LwtSmoothLine *x = &s->lines[which][0], *y = &s->lines[which][1];
  const LwtSmoothTables *tx = &s->tables[which][0], *ty = &s->tables[which][1];
  const guint n = run.task->missing != NULL ? 2 : 1;
  const LwtPicture *tall = y->stride > 1 ? s->tall : s->coarse;
  SmoothWidening<T> task = {};
  gsize threads;
  gint rows;

  for (guint i = 0; i < n; i++)
    if (!narrow_picture (run, which, i))
      return FALSE;
  task.width = (gint) get_smooth_length (x);
  task.height = (gint) y->n;
  set_far (&task, y, ty);
  for (guint i = 0; i < n && y->stride > 1; i++) {
    task.coarse = to_elements<const T> (s->middle[i]);
    task.to = to_elements<T> (s->tall[i]);
    if (!SMOOTH_START (smooth_widen_columns<T>, task, task.width, task.height,
            run.stream, run.error))
      return FALSE;
  }
  task.coarse = to_elements<const T> (tall[0]);
  if (n > 1)
    task.weights = to_elements<const T> (tall[1]);
  task.inverse[0] = (const T *) tx->inverse;
  task.inverse[1] = (const T *) ty->inverse;
  task.output = run.outputs[which];
  task.width = (gint) x->n;
  set_far (&task, x, tx);
  threads = ((gsize) task.width + 3) / 4;
  rows = (task.height - 1) / 8 + 1;
  return task.n_far > 11 ? SMOOTH_START ((smooth_widen_rows<T, LWT_SMOOTH_FAR>),
             task, threads, rows, run.stream, run.error)
                         : SMOOTH_START ((smooth_widen_rows<T, 11>), task,
                             threads, rows, run.stream, run.error);
}

/* --- wavelet -------------------------------------------------------------- */

/* Level by level, along x, then along y. Makes @output of low-pass @which of @low. */
template <typename T>
gboolean
run_levels (const SmoothRun<T> &run, guint which, LwtPicture low,
    const SmoothOutput<T> &output)
{
  LwtDeviceSmoother *s = run.s;
  const LwtPicture places[2] = { s->between[which], s->between[3] };
  guint turn = 0;

  for (guint axis = 0; axis < 2; axis++) {
    const LwtSmoothLine *line = &s->lines[which][axis];

    for (guint level = 0; level < line->levels; level++) {
      const LwtPicture to = places[turn++ & 1];
      SmoothLevel<T> task = {};

      task.from = to_elements<const T> (low);
      task.to = to_elements<T> (to);
      task.taps = (const T *) s->tables[which][axis].tap;
      task.axis = axis;
      task.n_taps = (gint) line->n_taps;
      task.n = (gint) line->n;
      task.distance = (gint64) 1 << level;
      task.blend = (T) line->blend;
      task.last = level + 1 == line->levels;
      task.width = (gint) run.task->width;
      task.height = (gint) run.task->height;
      task.not_finite = get_check (run, low);
      if (!SMOOTH_START (smooth_run_level<T>, task, task.width, task.height,
              run.stream, run.error))
        return FALSE;
      low = to;
    }
  }
  return copy_low_pass (run, low, LwtPicture{ NULL, 0 }, output);
}

/* Elements beyond two tiles that the runs at their ends read, by line */
gint
get_overrun (gint levels, gint taps)
{
  return (LWT_SMOOTH_RUN + 2 * taps - 1) << (levels - 1);
}

/* Plans as many levels as a tile takes with at least a third of its samples for results,
 * from task->first to @levels - 1. From the fourth level on there are enough samples side
 * by side. */
template <typename T>
gint
plan_cascade (SmoothCascade<T> *task, gint levels, gint taps, gint *bits)
{
  const gint line = (task->n - 1) / (1 << task->first) + 1;
  gint n, most, room;

  *bits = task->first == 0 ? 0 : LWT_SMOOTH_LANE_BITS;
  room = (gint) (LWT_SMOOTH_SHARED / sizeof (T)) >> *bits;
  n = MIN (levels - task->first, LWT_SMOOTH_LEVELS (*bits)) + 1;
  do {
    n--;
    most = ((room - get_overrun (n, taps)) / 2) & ~3;
    task->halo = ((2 * taps - 1) * ((1 << n) - 1) + 3) & ~3;
  } while (3 * task->halo > most);
  task->tiles = (line - 1) / (most - 2 * task->halo) + 1;
  task->inner = ((line - 1) / task->tiles + 4) & ~3;
  task->length = task->inner + 2 * task->halo;
  task->n_levels = n;
  return n;
}

template <typename T, gint TAPS>
gboolean
start_cascade (const SmoothRun<T> &run, const SmoothCascade<T> &task, gint bits)
{
  const gint blocks = task.tiles << (bits == 0 ? 0 : task.first - bits);
  const gint elements = (2 * task.length + get_overrun (task.n_levels, TAPS))
                        << bits;
  const gsize bytes = (gsize) elements * sizeof (T);

  return bits == 0 ? SMOOTH_START_SHARED ((smooth_run_cascade<T, TAPS, 0>), T,
             task, blocks, task.height, bytes, run.stream, run.error)
                   : SMOOTH_START_SHARED (
                       (smooth_run_cascade<T, TAPS, LWT_SMOOTH_LANE_BITS>), T,
                       task, blocks, task.height, bytes, run.stream, run.error);
}

/* Taps of a kernel that has at least as many as @line */
gint
get_kernel_taps (const LwtSmoothLine *line)
{
  return line->n_taps <= 1   ? 1
         : line->n_taps <= 2 ? 2
         : line->n_taps <= 4 ? 4
                             : 8;
}

/* All levels along x of the low-passes of @from that @takes. @longest: with most levels */
template <typename T>
gboolean
run_rows (const SmoothRun<T> &run, LwtPicture from, const bool takes[3],
    guint longest)
{
  LwtDeviceSmoother *s = run.s;
  const LwtSmoothLine *line = &s->lines[longest][0];
  const LwtSmoothTables *t = &s->tables[longest][0];
  const gint levels = (gint) line->levels;
  const gint taps = get_kernel_taps (line);
  SmoothCascade<T> task = {};
  guint launches = 0, launch = 0;
  gint bits;

  task.taps = (const T *) t->tap;
  task.n = (gint) line->n;
  task.height = (gint) run.task->height;
  for (task.first = 0; task.first < levels; task.first += task.n_levels) {
    plan_cascade (&task, levels, taps, &bits);
    launches++;
  }
  for (task.first = 0; task.first < levels; task.first += task.n_levels) {
    const gint last =
        task.first + plan_cascade (&task, levels, taps, &bits) - 1;

    task.from = to_elements<const T> (from);
    task.n_ends = 0;
    for (guint k = 0; k < 3; k++) {
      const gint end = (gint) s->lines[k][0].levels - 1;

      if (takes[k] && end >= task.first && end <= last)
        task.ends[task.n_ends++] = { to_elements<T> (s->between[k]),
          end - task.first, (T) s->lines[k][0].blend, false };
    }
    task.not_finite = get_check (run, from);
    /* no launch reads where it writes; the last one writes to between[longest] */
    launch++;
    if (last + 1 < levels) {
      from = s->between[(launches - launch) & 1 ? 3 : longest];
      task.ends[task.n_ends++] = { to_elements<T> (from), last - task.first,
        (T) 0, true };
    }
    if (!(taps == 1     ? start_cascade<T, 1> (run, task, bits)
            : taps == 2 ? start_cascade<T, 2> (run, task, bits)
            : taps == 4 ? start_cascade<T, 4> (run, task, bits)
                        : start_cascade<T, 8> (run, task, bits)))
      return FALSE;
  }
  return TRUE;
}

template <typename T, gint TAPS, gint LEVELS>
gboolean
start_columns (const SmoothRun<T> &run, const SmoothColumns<T> &task)
{
  return SMOOTH_START_COLUMNS ((smooth_run_columns<T, TAPS, LEVELS>), T, task,
      task.width, task.chunks << task.first, run.stream, run.error);
}

/* @n: levels */
template <typename T, gint TAPS>
gboolean
start_columns (const SmoothRun<T> &run, const SmoothColumns<T> &task, gint n)
{
  const gint most = smooth_column_levels<T> (TAPS);

  return n == 1   ? start_columns<T, TAPS, 1> (run, task)
         : n == 2 ? start_columns<T, TAPS, MIN (2, most)> (run, task)
                  : start_columns<T, TAPS, most> (run, task);
}

/* Cuts the lines into as many chunks as run at once, or smaller ones. A chunk reads some
 * hundred neighbours, so that in small pictures few results a thread are faster. */
template <typename T>
void
cut_columns (const LwtDeviceSmoother *s, SmoothColumns<T> *task)
{
  const gint line = ((task->n - 1) >> task->first) + 1;
  const gint columns = (task->width - 1) / LWT_SMOOTH_COLUMN_THREADS + 1;
  const gint chunks = MAX (s->column_blocks / (columns << task->first), 1);

  task->chunk = ((line - 1) / chunks / LWT_SMOOTH_BATCH + 1) * LWT_SMOOTH_BATCH;
  task->chunk = MIN (task->chunk, LWT_SMOOTH_CHUNK);
  task->chunks = (line - 1) / task->chunk + 1;
}

/* All levels along y of low-pass @which, whose rows are @from; makes @output of it. */
template <typename T>
gboolean
run_columns (const SmoothRun<T> &run, guint which, LwtPicture from,
    const SmoothOutput<T> &output)
{
  LwtDeviceSmoother *s = run.s;
  const LwtSmoothLine *line = &s->lines[which][1];
  const gint levels = (gint) line->levels;
  const gint taps = get_kernel_taps (line);
  const gint most = smooth_column_levels<T> (taps);
  SmoothColumns<T> task = {};
  guint launch = 0;
  gint n;

  if (levels == 0)
    return copy_low_pass (run, from, LwtPicture{ NULL, 0 }, output);
  task.taps = (const T *) s->tables[which][1].tap;
  task.n = (gint) line->n;
  task.width = (gint) run.task->width;
  task.blend = (T) line->blend;
  task.output = output;
  for (task.first = 0; task.first < levels; task.first += n) {
    n = MIN (levels - task.first, most);
    cut_columns (s, &task);
    task.from = to_elements<const T> (from);
    task.not_finite = get_check (run, from);
    /* no launch reads where it writes; the first one may read between[which] */
    from = s->between[++launch & 1 ? 3 : which];
    task.to = task.first + n < levels ? to_elements<T> (from)
                                      : SmoothPicture<T>{ NULL, 0 };
    if (!(taps == 1     ? start_columns<T, 1> (run, task, n)
            : taps == 2 ? start_columns<T, 2> (run, task, n)
            : taps == 4 ? start_columns<T, 4> (run, task, n)
                        : start_columns<T, 8> (run, task, n)))
      return FALSE;
  }
  return TRUE;
}

/* Whether the kernels of several levels have enough taps */
gboolean
has_few_taps (const LwtDeviceSmoother *s)
{
  guint n_taps = 0;

  for (guint k = 0; k < 6; k++)
    n_taps = MAX (n_taps, s->lines[k / 2][k % 2].n_taps);
  return n_taps <= MOST_TILE_TAPS;
}

/* Low-pass @which of @from by itself; makes @output of it. */
template <typename T>
gboolean
run_cascade (const SmoothRun<T> &run, guint which, LwtPicture from,
    const SmoothOutput<T> &output)
{
  const bool takes[3] = { which == 0, which == 1, which == 2 };

  if (!has_few_taps (run.s))
    return run_levels (run, which, from, output);
  if (run.s->lines[which][0].levels > 0) {
    if (!run_rows (run, from, takes, which))
      return FALSE;
    from = run.s->between[which];
  }
  return run_columns (run, which, from, output);
}

/* Low-pass @which with missing points: that of the points, which are 0 where they are
 * missing, divided by that of their weights. */
template <typename T>
gboolean
run_weighted_cascade (const SmoothRun<T> &run, guint which)
{
  const LwtPicture *weighted = run.s->weighted;
  const LwtPicture x = run.task->picture;
  SmoothWeights<T> weights = {};
  SmoothOutput<T> low = {};

  weights.picture = to_elements<T> (x);
  weights.weights = to_elements<T> (weighted[0]);
  weights.missing = run.task->missing;
  weights.words = run.outputs[which].words;
  low.width = weights.width = (gint) run.task->width;
  low.height = weights.height = (gint) run.task->height;
  if (!SMOOTH_START (smooth_weigh<T>, weights, weights.width, weights.height,
          run.stream, run.error))
    return FALSE;
  low.low = to_elements<T> (weighted[1]);
  if (!run_cascade (run, which, weighted[0], low))
    return FALSE;
  low.low = to_elements<T> (weighted[0]);
  return run_cascade (run, which, x, low)
         && copy_low_pass (run, weighted[0], weighted[1], run.outputs[which]);
}

/* All low-passes without missing points; along x together, because they have the first
 * levels in common. */
template <typename T>
gboolean
run_cascades (const SmoothRun<T> &run)
{
  LwtDeviceSmoother *s = run.s;
  bool takes[3];
  guint longest = 3;

  for (guint k = 0; k < 3; k++) {
    takes[k] = run.runs[k] && s->lines[k][0].levels > 0;
    if (takes[k]
        && (longest == 3
            || s->lines[k][0].levels > s->lines[longest][0].levels))
      longest = k;
  }
  if (longest < 3 && !run_rows (run, run.task->picture, takes, longest))
    return FALSE;
  for (guint k = 3; k-- > 0;)
    if (run.runs[k]
        && !run_columns (run, k, takes[k] ? s->between[k] : run.task->picture,
            run.outputs[k]))
      return FALSE;
  return TRUE;
}

/* --- all components ------------------------------------------------------- */

/* Whether the low-pass @i differs from the one before. */
gboolean
has_own_cutoff (const LwtConfig *config, guint i)
{
  const gdouble *own = config->cutoffs[i];
  const gdouble *before = config->cutoffs[MAX (i, 1) - 1];

  return i == 0 ? own[0] > 0.0 || own[1] > 0.0
                : own[0] != before[0] || own[1] != before[1];
}

/* The first low-pass that differs from the one before; 3: none */
guint
get_first_cutoff (const LwtDeviceSmoother *s)
{
  return s->own[0] ? 0 : s->own[1] ? 1 : s->own[2] ? 2 : 3;
}

template <typename T>
gboolean
run_filter (const SmoothRun<T> &run)
{
  const bool wavelet = run.s->plan->config.filter == LWT_FILTER_WAVELET;
  const bool holes = run.task->missing != NULL;

  if (wavelet && !holes && has_few_taps (run.s))
    return run_cascades (run);
  for (guint k = 3; k-- > 0;)
    if (run.runs[k]
        && !(!wavelet ? smooth_gaussian (run, k)
             : holes  ? run_weighted_cascade (run, k)
                     : run_cascade (run, k, run.task->picture, run.outputs[k])))
      return FALSE;
  return TRUE;
}

/* Decides what is made of each low-pass. Each is subtracted from the one before; the last
 * one is the form, and computed first, since then it need not be kept elsewhere. Where a
 * cut-off is that of the one before, the component is 0. */
template <typename T>
gboolean
smooth_surface (LwtDeviceSmoother *s, const LwtPartsTask *task,
    guint32 *not_finite, cudaStream_t stream, GError **error)
{
  const LwtPicture *parts = &task->parts[CVIS_SURFACE_PART_NOISE];
  LwtPicture after = { NULL, 0 };
  SmoothRun<T> run = {};
  SmoothOutput<T> output = {};
  guint next = 3;

  run.s = s;
  run.task = task;
  run.not_finite = task->missing == NULL ? not_finite : NULL;
  run.stream = stream;
  run.error = error;
  output.before = to_elements<const T> (task->picture);
  output.missing = task->missing;
  output.words = (task->width + 31) / 32;
  output.polynomial = task->polynomial;
  output.width = (gint) task->width;
  output.height = (gint) task->height;
  for (guint k = 3; k-- > 0;) {
    SmoothOutput<T> *own = &run.outputs[k];
    const bool first = k == get_first_cutoff (s);

    *own = output;
    if (!s->own[k] || first)
      own->difference = to_elements<T> (parts[k]);
    if (!s->own[k]) {
      /* x - x */
      if (parts[k].data != NULL
          && !copy_low_pass (run, task->picture, LwtPicture{ NULL, 0 }, *own))
        return FALSE;
      continue;
    }
    if (next == 3)
      own->form = to_elements<T> (parts[3]);
    else if (after.data != NULL)
      own->next = to_elements<T> (parts[next]);
    own->after = to_elements<const T> (after);
    after = LwtPicture{ NULL, 0 };
    if (!first && parts[k].data != NULL) {
      after = own->form.data != NULL && output.polynomial == NULL
                  ? parts[3]
                  : s->smooth[k];
      if (after.data != own->form.data)
        own->low = to_elements<T> (after);
    }
    run.runs[k] = own->difference.data != NULL || own->next.data != NULL
                  || own->form.data != NULL || own->low.data != NULL;
    next = k;
  }
  if (next < 3 || parts[3].data == NULL)
    return run_filter (run);
  /* no low-pass: x is the form */
  output.form = to_elements<T> (parts[3]);
  return copy_low_pass (run, task->picture, LwtPicture{ NULL, 0 }, output);
}

} // namespace

/* --- memory --------------------------------------------------------------- */

extern "C" void
lwt_device_smoother_init (LwtDeviceSmoother *s, const LwtPlan *plan)
{
  s->plan = plan;
  for (guint which = 0; which < 3; which++) {
    s->own[which] = has_own_cutoff (&plan->config, which);
    for (guint axis = 0; axis < 2; axis++)
      lwt_smooth_line_init (&s->lines[which][axis], &plan->config, which, axis);
  }
}

extern "C" void
lwt_device_smoother_clear (LwtDeviceSmoother *s)
{
  if (s->plan == NULL)
    return;
  for (guint which = 0; which < 3; which++)
    for (guint axis = 0; axis < 2; axis++)
      lwt_smooth_line_clear (&s->lines[which][axis]);
}

namespace {

gboolean
take_tables (LwtDeviceSmoother *s, guint which, guint axis, CvisArena *arena,
    GError **error)
{
  const gsize size = lwt_type_get_size (s->plan->config.type);
  Table tables[N_TABLES];

  list_tables (s, which, axis, tables);
  for (guint i = 0; i < N_TABLES; i++)
    if (tables[i].values != NULL && tables[i].padded > 0
        && (*tables[i].device = cvis_arena_device (
                arena, tables[i].padded * size, "tables of a filter", error))
               == NULL)
      return FALSE;
  return TRUE;
}

/* A picture of the surface's size. */
gboolean
take_whole (
    LwtDeviceSmoother *s, CvisArena *arena, LwtPicture *picture, GError **error)
{
  const LwtConfig *config = &s->plan->config;

  return lwt_take_picture (arena, config->type, config->width, config->height,
      "a low-pass", picture, error);
}

/* The small pictures of the Gaussian filter. */
gboolean
take_small (LwtDeviceSmoother *s, CvisArena *arena, GError **error)
{
  const LwtConfig *config = &s->plan->config;
  guint width = 0, height = 0;

  for (guint k = 0; k < 3; k++) {
    width = MAX (width, get_smooth_length (&s->lines[k][0]));
    height = MAX (height, get_smooth_length (&s->lines[k][1]));
  }
  for (guint i = 0; i < 2; i++)
    if (!lwt_take_picture (arena, config->type, width, config->height,
            "a narrow picture", &s->rows[i], error)
        || !lwt_take_picture (arena, config->type, width, config->height,
            "a narrow picture", &s->tall[i], error)
        || !lwt_take_picture (arena, config->type, width, height,
            "a small picture", &s->coarse[i], error)
        || !lwt_take_picture (arena, config->type, width,
            MAX (height, config->height), "a small picture", &s->middle[i],
            error))
      return FALSE;
  return TRUE;
}

} // namespace

extern "C" gboolean
lwt_device_smoother_take (
    LwtDeviceSmoother *s, CvisArena *arena, GError **error)
{
  const bool wavelet = s->plan->config.filter == LWT_FILTER_WAVELET;

  for (guint k = 0; k < 3; k++) {
    const bool kept = k > get_first_cutoff (s);

    if (!take_tables (s, k, 0, arena, error)
        || !take_tables (s, k, 1, arena, error)
        || (s->own[k] && kept && !take_whole (s, arena, &s->smooth[k], error))
        || (s->own[k] && wavelet
            && !take_whole (s, arena, &s->between[k], error)))
      return FALSE;
  }
  return wavelet ? take_whole (s, arena, &s->between[3], error)
                       && take_whole (s, arena, &s->weighted[0], error)
                       && take_whole (s, arena, &s->weighted[1], error)
                 : take_small (s, arena, error);
}

extern "C" gboolean
lwt_device_smoother_run (LwtDeviceSmoother *s, const LwtPartsTask *task,
    guint32 *not_finite, cudaStream_t stream, GError **error)
{
  return s->plan->config.type == LWT_TYPE_F64
             ? smooth_surface<gdouble> (s, task, not_finite, stream, error)
             : smooth_surface<gfloat> (s, task, not_finite, stream, error);
}
