/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The steps of the low-pass filters on the device, in the order of
 * cuda/lifting/cpu/smooth.c. Included by smooth.cu and tests/emulation, which define
 * SMOOTH_START (kernel, task, threads of a row, rows, stream, error) and, for a kernel
 * with LWT_SMOOTH_SHARED bytes of shared memory of TYPE, SMOOTH_START_SHARED (kernel,
 * TYPE, task, blocks of a row, rows, stream, error). */
#pragma once

#include "cuda/lifting/cuda/smooth.cuh"
#include "cuda/lifting/cuda/smoothkernels.cuh"

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

/* --- tables --------------------------------------------------------------- */

/* A table and its place on the device; @padded: elements there, 0 beyond @n */
struct Table {
  const gdouble *values;
  gsize n, padded;
  gpointer *device;
};

#define N_TABLES 5

void
list_tables (LwtDeviceSmoother *s, guint which, guint axis, Table tables[])
{
  const LwtSmoothLine *line = &s->lines[which][axis];
  LwtSmoothTables *t = &s->tables[which][axis];
  const gsize near = 2 * (gsize) line->reach + 1;
  const gsize inverse = (gsize) MAX (line->levels, 1) * line->n;
  const gsize middle = 2 * (gsize) line->middle_reach + 1;
  const gsize far = (2 * (gsize) line->margin + 1) * line->period;

  t->n_near = (guint) ((near + LWT_SMOOTH_PERIOD - 1) / LWT_SMOOTH_PERIOD)
              * LWT_SMOOTH_PERIOD;
  tables[0] = { line->near, near, t->n_near, &t->near };
  tables[1] = { line->middle, middle, middle, &t->middle };
  tables[2] = { line->far, far, far, &t->far };
  tables[3] = { line->inverse, inverse, inverse, &t->inverse };
  tables[4] = { line->tap, line->n_taps, line->n_taps, &t->tap };
}

/* --- the filters ---------------------------------------------------------- */

guint
get_smooth_length (const LwtSmoothLine *line)
{
  return line->stride > 1 ? line->coarse : line->n;
}

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

/* @weights: of the points' weights instead of the samples */
template <typename T>
SmoothSource<T>
to_surface (const LwtDeviceSmoother *s, LwtPicture picture,
    const guint32 *missing, bool weights)
{
  return { to_elements<const T> (picture), missing,
    (s->plan->config.width + 31) / 32, weights };
}

/* Sums along an axis to a picture of @width x @height. */
template <typename T>
gboolean
run_sums (SmoothSource<T> from, LwtPicture to, gconstpointer weights,
    guint n_weights, guint axis, gint stride, gint first, guint n, guint width,
    guint height, bool parts, cudaStream_t stream, GError **error)
{
  const SmoothSums<T> task = { from, to_elements<T> (to), (const T *) weights,
    axis, (gint) n_weights, stride, first, (gint) n, (gint) width,
    (gint) height };

  return parts ? SMOOTH_START (smooth_sum_parts<T>, task,
             (gsize) width * LWT_SMOOTH_PERIOD, height, stream, error)
               : SMOOTH_START (
                   smooth_sum_rows<T>, task, width, height, stream, error);
}

/* The small picture @i of the samples (0) or of the weights (1). */
template <typename T>
gboolean
narrow_picture (LwtDeviceSmoother *s, guint which, guint i,
    SmoothSource<T> from, cudaStream_t stream, GError **error)
{
  const LwtSmoothLine *x = &s->lines[which][0], *y = &s->lines[which][1];
  const LwtSmoothTables *tx = &s->tables[which][0], *ty = &s->tables[which][1];
  const guint width = get_smooth_length (x), height = get_smooth_length (y);
  const gint first = -(gint) (x->margin * x->stride) - x->reach;

  if (x->stride == 1) {
    if (!run_sums<T> (from, s->rows[i], tx->near, 2 * (guint) x->reach + 1, 0,
            1, -x->reach, x->n, width, y->n, false, stream, error))
      return FALSE;
  } else if (!run_sums<T> (from, s->middle[i], tx->near, tx->n_near, 0,
                 (gint) x->stride, first, x->n, width, y->n, true, stream,
                 error)
             || !run_sums<T> (to_source<T> (s->middle[i]), s->rows[i],
                 tx->middle, 2 * (guint) x->middle_reach + 1, 0, 1,
                 -x->middle_reach, width, width, y->n, false, stream, error)) {
    return FALSE;
  }
  if (!run_sums<T> (to_source<T> (s->rows[i]), s->coarse[i], ty->near,
          2 * (guint) y->reach + 1, 1, (gint) y->stride,
          -(gint) (y->margin * y->stride) - y->reach, y->n, width, height,
          false, stream, error))
    return FALSE;
  return y->stride == 1
         || run_sums<T> (to_source<T> (s->coarse[i]), s->middle[i], ty->middle,
             2 * (guint) y->middle_reach + 1, 1, 1, -y->middle_reach, height,
             width, height, false, stream, error);
}

template <typename T>
gboolean
run_widening (
    const SmoothWidening<T> &task, cudaStream_t stream, GError **error)
{
  return SMOOTH_START (
      smooth_widen<T>, task, task.width, task.height, stream, error);
}

template <typename T>
gboolean
smooth_gaussian (LwtDeviceSmoother *s, guint which, LwtPicture picture,
    const guint32 *missing, cudaStream_t stream, GError **error)
{
  const LwtSmoothLine *x = &s->lines[which][0], *y = &s->lines[which][1];
  const LwtSmoothTables *tx = &s->tables[which][0], *ty = &s->tables[which][1];
  SmoothWidening<T> task = {};

  for (guint i = 0; i < (missing != NULL ? 2u : 1u); i++)
    if (!narrow_picture<T> (s, which, i,
            to_surface<T> (s, picture, missing, i == 1), stream, error))
      return FALSE;
  task.width = (gint) get_smooth_length (x);
  task.height = (gint) y->n;
  task.axis = 1;
  task.far = (const T *) ty->far;
  task.stride = (gint) y->stride;
  task.period = (gint) MAX (y->period, 1);
  task.n_far = (gint) (2 * y->margin + 1);
  for (guint i = 0; i < (missing != NULL ? 2u : 1u); i++) {
    task.coarse =
        to_elements<const T> (y->stride == 1 ? s->coarse[i] : s->middle[i]);
    task.to = to_elements<T> (s->tall[i]);
    if (!run_widening (task, stream, error))
      return FALSE;
  }
  task.coarse = to_elements<const T> (s->tall[0]);
  if (missing != NULL)
    task.weights = to_elements<const T> (s->tall[1]);
  task.inverse[0] = (const T *) tx->inverse;
  task.inverse[1] = (const T *) ty->inverse;
  task.to = to_elements<T> (s->smooth[which]);
  task.width = (gint) x->n;
  task.axis = 0;
  task.far = (const T *) tx->far;
  task.stride = (gint) x->stride;
  task.period = (gint) MAX (x->period, 1);
  task.n_far = (gint) (2 * x->margin + 1);
  return run_widening (task, stream, error);
}

/* As many levels from @first on as a tile takes with at least a third of its samples for
 * results; 0: none. Along x only the first levels, whose samples lie side by side. */
template <typename T>
guint
plan_cascade (
    const LwtSmoothLine *line, guint axis, guint first, SmoothCascade<T> *task)
{
  /* 128 bytes of a row along y */
  const guint bits = axis == 0 ? 0 : sizeof (T) == 4 ? 5 : 4;
  const guint length = LWT_SMOOTH_SHARED / 2 / sizeof (T) >> bits;
  guint n = 0;

  while ((axis == 1 || first == 0) && first + n < line->levels && n < 12
         && 3 * (2 * line->n_taps - 1) * ((2u << n) - 1) <= length)
    n++;
  task->lane_bits = (gint) bits;
  task->length = (gint) length;
  task->halo = (gint) ((2 * line->n_taps - 1) * ((1u << n) - 1));
  return n;
}

/* Levels from @first on along an axis, of @picture to @to. Returns: their number; 0 on an
 * error */
template <typename T>
guint
run_levels (LwtDeviceSmoother *s, guint which, guint axis, guint first,
    LwtPicture picture, const guint32 *missing, LwtPicture to,
    cudaStream_t stream, GError **error)
{
  const LwtSmoothLine *line = &s->lines[which][axis];
  const LwtSmoothTables *t = &s->tables[which][axis];
  const gint width = (gint) s->lines[which][0].n;
  const gint height = (gint) s->lines[which][1].n;
  const T *inverse = (const T *) t->inverse + (gsize) first * line->n;
  SmoothCascade<T> cascade = { to_elements<const T> (picture),
    to_elements<T> (to), (const T *) t->tap, inverse, axis, (gint) line->n_taps,
    (gint) line->n, (gint) first, 0, 0, 0, 0, (T) line->blend, false, width,
    height };
  const guint n = plan_cascade (line, axis, first, &cascade);
  const gint inner = cascade.length - 2 * cascade.halo;

  if (missing == NULL && n > 1) {
    const gint along = ((gint) line->n - 1) / (inner << first) + 1;

    cascade.n_levels = (gint) n;
    cascade.last = first + n == line->levels;
    return SMOOTH_START_SHARED (smooth_run_cascade<T>, T, cascade,
               axis == 0 ? along : ((width - 1) >> cascade.lane_bits) + 1,
               axis == 0 ? height : along << first, stream, error)
               ? n
               : 0;
  }
  const SmoothLevel<T> task = { to_surface<T> (s, picture, missing, false),
    to_elements<T> (to), (const T *) t->tap, inverse, axis, (gint) line->n_taps,
    (gint) line->n, 1ll << first, (T) line->blend, first + 1 == line->levels,
    width, height };

  return SMOOTH_START (smooth_run_level<T>, task, width, height, stream, error)
             ? 1
             : 0;
}

/* All levels along x, then along y. */
template <typename T>
gboolean
smooth_wavelet (LwtDeviceSmoother *s, guint which, LwtPicture picture,
    const guint32 *missing, cudaStream_t stream, GError **error)
{
  guint turn = 0;

  /* nothing to filter: a copy */
  if (s->lines[which][0].levels + s->lines[which][1].levels == 0)
    return run_sums<T> (to_surface<T> (s, picture, missing, false),
        s->smooth[which], s->tables[which][0].near, 1, 0, 1, 0,
        s->lines[which][0].n, s->lines[which][0].n, s->lines[which][1].n, false,
        stream, error);
  for (guint axis = 0; axis < 2; axis++)
    for (guint level = 0; level < s->lines[which][axis].levels;) {
      const LwtPicture to = s->between[turn++ & 1];
      const guint n = run_levels<T> (
          s, which, axis, level, picture, missing, to, stream, error);

      if (n == 0)
        return FALSE;
      level += n;
      picture = to;
    }
  /* the picture of the last levels is the result */
  s->between[(turn - 1) & 1] = s->smooth[which];
  s->smooth[which] = picture;
  return TRUE;
}

/* Whether the low-pass @i differs from the one before. */
gboolean
has_own_cutoff (const LwtConfig *config, guint i)
{
  const gdouble *own = config->cutoffs[i];
  const gdouble *before = config->cutoffs[MAX (i, 1) - 1];

  return i == 0 ? own[0] > 0.0 || own[1] > 0.0
                : own[0] != before[0] || own[1] != before[1];
}

} // namespace

/* --- memory --------------------------------------------------------------- */

extern "C" void
lwt_device_smoother_init (LwtDeviceSmoother *s, const LwtPlan *plan)
{
  s->plan = plan;
  for (guint which = 0; which < 3; which++)
    for (guint axis = 0; axis < 2; axis++)
      lwt_smooth_line_init (&s->lines[which][axis], &plan->config, which, axis);
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

extern "C" gboolean
lwt_device_smoother_take (
    LwtDeviceSmoother *s, CvisArena *arena, GError **error)
{
  const LwtConfig *config = &s->plan->config;
  const gsize size = lwt_type_get_size (config->type);
  guint width = 0, height = 0;
  Table tables[N_TABLES];

  for (guint which = 0; which < 3; which++) {
    for (guint axis = 0; axis < 2; axis++) {
      list_tables (s, which, axis, tables);
      for (guint i = 0; i < N_TABLES; i++)
        if (tables[i].values != NULL && tables[i].padded > 0
            && (*tables[i].device = cvis_arena_device (arena,
                    tables[i].padded * size, "tables of a filter", error))
                   == NULL)
          return FALSE;
    }
    width = MAX (width, get_smooth_length (&s->lines[which][0]));
    height = MAX (height, get_smooth_length (&s->lines[which][1]));
    if (has_own_cutoff (config, which)
        && !lwt_take_picture (arena, config->type, config->width,
            config->height, "a low-pass", &s->smooth[which], error))
      return FALSE;
  }
  if (config->filter == LWT_FILTER_WAVELET)
    return lwt_take_picture (arena, config->type, config->width, config->height,
               "a low-pass", &s->between[0], error)
           && lwt_take_picture (arena, config->type, config->width,
               config->height, "a low-pass", &s->between[1], error);
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

namespace {

/* Low-pass of @x for the cut-off @which to s->smooth[which]. */
gboolean
run_low_pass (LwtDeviceSmoother *s, guint which, LwtPicture x,
    const guint32 *missing, cudaStream_t stream, GError **error)
{
  const gboolean wavelet = s->plan->config.filter == LWT_FILTER_WAVELET;

  if (s->plan->config.type == LWT_TYPE_F64)
    return wavelet
               ? smooth_wavelet<gdouble> (s, which, x, missing, stream, error)
               : smooth_gaussian<gdouble> (s, which, x, missing, stream, error);
  return wavelet
             ? smooth_wavelet<gfloat> (s, which, x, missing, stream, error)
             : smooth_gaussian<gfloat> (s, which, x, missing, stream, error);
}

} // namespace

extern "C" gboolean
lwt_device_smoother_run (LwtDeviceSmoother *s, LwtPartsTask *task,
    cudaStream_t stream, GError **error)
{
  const LwtPicture *parts = &task->parts[CVIS_SURFACE_PART_NOISE];
  gboolean needs[3];

  for (guint k = 0; k < 3; k++)
    needs[k] = parts[k].data != NULL || parts[k + 1].data != NULL;
  /* a low-pass also serves as the next one if their cut-offs are equal */
  for (guint k = 2; k > 0; k--)
    if (s->smooth[k].data == NULL)
      needs[k - 1] = needs[k - 1] || needs[k];
  for (guint k = 0; k < 3; k++) {
    const gboolean own = s->smooth[k].data != NULL;

    if (own && needs[k]
        && !run_low_pass (s, k, task->picture, task->missing, stream, error))
      return FALSE;
    /* only now: the filter may have exchanged its pictures */
    task->low[k] = own     ? s->smooth[k]
                   : k > 0 ? task->low[k - 1]
                           : task->picture;
    task->at_zero[k] = TRUE;
  }
  return TRUE;
}
