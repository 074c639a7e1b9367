/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The low-pass filters of surfaces other than wavelet-decimated, on the CPU.
 *
 * The Gaussian filter of order 0 works on rows: they are narrowed to coarse rows, these are
 * combined to coarse rows along y, and the small picture is widened again. With missing
 * points, or weights, the weights take the same way, and the sums are divided by
 * theirs. The wavelet works on rows along x and on strips of LWT_CPU_STRIP lines along y,
 * and with missing points on their weights too. The other filters take strips, rows first,
 * with the weights of their points. */
#include <stdlib.h>
#include <string.h>

#include "cuda/lifting/cpu/cpu.h"

/* Pictures on the way: of the samples and, if weighted, of the weights. */
typedef struct {
  LwtCpuPlane rows;   /* narrowed along x */
  LwtCpuPlane coarse; /* and along y */
  LwtCpuPlane middle;
} Small;

struct _LwtCpuSmoother {
  const LwtPlan *plan;
  LwtCpuThreads *threads;
  const LwtCpuSmooths *smooths;
  const LwtCpuFloats *floats;
  gsize size;      /* of an element */
  gboolean strips; /* the filter takes strips */
  LwtSmoothLine lines[3][2];
  LwtCpuSmoothLine tables[3][2];
  Small small[2];
  LwtCpuPlane between[2]; /* rows filtered, columns not yet; and weights */
  LwtCpuPlane weights;    /* of the robust filter */
  guint32 *counts;        /* histogram for each thread */
};

/* --- tables --------------------------------------------------------------- */

/* Converts @n values to the type of the arithmetic, with zeros up to a multiple of
 * LWT_SMOOTH_PERIOD. */
static gboolean
convert_table (const LwtCpuSmoother *s, const gdouble *values, gsize n,
    gconstpointer *table, GError **error)
{
  const gsize padded = (n / LWT_SMOOTH_PERIOD + 1) * LWT_SMOOTH_PERIOD;
  gpointer memory;

  *table = NULL;
  if (values == NULL)
    return TRUE;
  if (!(*table = memory = cvis_memory_new (padded * s->size, TRUE, error)))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (s->size == sizeof (gfloat))
      ((gfloat *) memory)[i] = (gfloat) values[i];
    else
      ((gdouble *) memory)[i] = values[i];
  return TRUE;
}

static gboolean
convert_tables (LwtCpuSmoother *s, guint which, guint axis, GError **error)
{
  const LwtSmoothLine *line = &s->lines[which][axis];
  LwtCpuSmoothLine *t = &s->tables[which][axis];
  const guint near = 2 * (guint) line->reach + 1;

  t->line = line;
  t->n_near =
      (near + LWT_SMOOTH_PERIOD - 1) / LWT_SMOOTH_PERIOD * LWT_SMOOTH_PERIOD;
  t->pad = line->levels > 0 ? (2 * line->n_taps - 1) << (line->levels - 1)
                            : line->margin * line->stride + (guint) line->reach;
  return convert_table (s, line->near, near, &t->near, error)
         && convert_table (s, line->middle, 2 * (gsize) line->middle_reach + 1,
             &t->middle, error)
         && convert_table (s, line->far,
             (2 * (gsize) line->margin + 1) * line->period, &t->far, error)
         && convert_table (s, line->inverse, line->n, &t->inverse, error)
         && convert_table (s, line->tap, line->n_taps, &t->tap, error);
}

/* --- memory --------------------------------------------------------------- */

static guint
get_coarse (const LwtSmoothLine *line)
{
  return line->stride > 1 ? line->coarse : line->n;
}

static gboolean
alloc_small (LwtCpuSmoother *s, Small *small, GError **error)
{
  guint width = 0, height = 0;

  for (guint i = 0; i < 3; i++) {
    width = MAX (width, get_coarse (&s->lines[i][0]));
    height = MAX (height, get_coarse (&s->lines[i][1]));
  }
  return lwt_cpu_plane_alloc (
             &small->rows, width, s->plan->config.height, s->size, error)
         && lwt_cpu_plane_alloc (&small->coarse, width, height, s->size, error)
         && lwt_cpu_plane_alloc (&small->middle, width, height, s->size, error);
}

static gboolean
alloc_pictures (LwtCpuSmoother *s, GError **error)
{
  const LwtConfig *config = &s->plan->config;

  if (s->strips)
    return lwt_cpu_plane_alloc (
               &s->between[0], config->width, config->height, s->size, error)
           && (config->filter != LWT_FILTER_WAVELET
               || lwt_cpu_plane_alloc (&s->between[1], config->width,
                   config->height, s->size, error));
  if (!alloc_small (s, &s->small[0], error)
      || !alloc_small (s, &s->small[1], error))
    return FALSE;
  return config->filter != LWT_FILTER_ROBUST_GAUSSIAN
         || (lwt_cpu_plane_alloc (
                 &s->weights, config->width, config->height, s->size, error)
             && (s->counts = cvis_memory_new (
                     s->threads->n_threads * LWT_CPU_COUNTS * sizeof (guint32),
                     TRUE, error)));
}

LwtCpuSmoother *
lwt_cpu_smoother_new (
    const LwtPlan *plan, LwtCpuThreads *threads, GError **error)
{
  LwtCpuSmoother *s = g_new0 (LwtCpuSmoother, 1);
  const LwtConfig *config = &plan->config;
  gboolean ok = TRUE;

  s->plan = plan;
  s->threads = threads;
  s->smooths = threads->kernels->smooths[config->type];
  s->floats = threads->kernels->floats[config->type];
  s->size = lwt_type_get_size (config->type);
  s->strips = config->filter == LWT_FILTER_WAVELET
              || config->filter == LWT_FILTER_SPLINE
              || (config->filter == LWT_FILTER_GAUSSIAN && config->order == 2);
  for (guint which = 0; which < 3; which++)
    for (guint axis = 0; axis < 2; axis++) {
      lwt_smooth_line_init (&s->lines[which][axis], config, which, axis);
      ok = ok && convert_tables (s, which, axis, error);
    }
  if (ok && alloc_pictures (s, error))
    return s;
  lwt_cpu_smoother_free (s);
  return NULL;
}

void
lwt_cpu_smoother_free (LwtCpuSmoother *s)
{
  if (s == NULL)
    return;
  for (guint which = 0; which < 3; which++)
    for (guint axis = 0; axis < 2; axis++) {
      LwtCpuSmoothLine *t = &s->tables[which][axis];

      free ((gpointer) t->near);
      free ((gpointer) t->middle);
      free ((gpointer) t->far);
      free ((gpointer) t->inverse);
      free ((gpointer) t->tap);
      lwt_smooth_line_clear (&s->lines[which][axis]);
    }
  for (guint i = 0; i < 2; i++) {
    free (s->small[i].rows.data);
    free (s->small[i].coarse.data);
    free (s->small[i].middle.data);
  }
  free (s->between[0].data);
  free (s->between[1].data);
  free (s->weights.data);
  free (s->counts);
  g_free (s);
}

void
lwt_cpu_smoother_get_scratch (
    const LwtCpuSmoother *s, gsize *pitch, gsize *rows)
{
  const LwtConfig *config = &s->plan->config;
  const gsize side = MAX (config->width, config->height);
  gsize longest = config->width;

  for (guint i = 0; i < 3; i++) {
    const LwtSmoothLine *line = &s->lines[i][0];

    longest = MAX (longest, config->width + 2 * (gsize) s->tables[i][0].pad
                                + (gsize) line->stride + LWT_SMOOTH_PERIOD);
    longest = MAX (longest, line->coarse + 2 * (gsize) line->middle_reach);
  }
  longest += 4 * LWT_SMOOTH_PERIOD;
  *pitch = MAX (*pitch, longest * s->size);
  if (s->strips) {
    /* the strip, its weights, and work memory: of the spline five strips of doubles */
    const gsize strip = side * LWT_CPU_STRIP;
    const gsize bytes =
        2 * strip * s->size
        + (config->filter == LWT_FILTER_SPLINE ? 4 * strip * sizeof (gdouble)
                                               : strip * s->size);

    *rows = MAX (*rows, bytes / *pitch + 1);
  }
  *rows = MAX (*rows, 4);
}

/* --- the Gaussian filter of order 0 --------------------------------------- */

/* @weights: %NULL data: 1, or with @weighted 0 for missing points */
typedef struct {
  LwtCpuSmoother *s;
  const LwtCpuSmoothLine *x, *y;
  const LwtCpuSurface *surface;
  gboolean weighted, holes;
  LwtCpuPlane from, weights, to;
  gdouble scale;
  guint shift;
  guint64 prefix;
} SmoothWork;

/* Row @i of the work memory of a thread. */
static gpointer
get_work_row (const LwtCpuScratch *scratch, guint i)
{
  return (guint8 *) scratch->ring + i * scratch->pitch;
}

static gpointer
clear_padded_row (const SmoothWork *work, gpointer row)
{
  const gsize size = work->s->size, pad = work->x->pad * size;
  const gsize length = work->x->line->n * size;

  memset (row, 0, pad);
  memset ((guint8 *) row + pad + length, 0,
      pad + (work->x->line->stride + LWT_SMOOTH_PERIOD) * size);
  return (guint8 *) row + pad;
}

static void
narrow_rows (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;
  const LwtCpuSmoother *s = work->s;
  const guint n = work->x->line->n;
  gpointer padded[2] = { get_work_row (scratch, 0), get_work_row (scratch, 1) };
  gpointer x = clear_padded_row (work, padded[0]);
  gpointer w = clear_padded_row (work, padded[1]);

  for (guint y = first; y < first + count; y++) {
    gconstpointer from = lwt_cpu_plane_row (&work->from, y);

    if (work->weighted)
      s->smooths->weigh_row (from,
          work->weights.data ? lwt_cpu_plane_row (&work->weights, y) : NULL,
          work->surface->missing + y * work->surface->words, n, x, w);
    else
      memcpy (x, from, n * s->size);
    for (guint i = 0; i <= (guint) work->weighted; i++)
      s->smooths->narrow_row (work->x, padded[i], get_work_row (scratch, 2),
          lwt_cpu_plane_row (&s->small[i].rows, y));
  }
}

/* @weights times rows @first to @first + @n - 1 of @from, those that exist. */
static void
combine_plane (const SmoothWork *work, gconstpointer weights, gint first,
    gint n, const LwtCpuPlane *from, gint height, gpointer to)
{
  const gsize size = work->s->size;
  const gint low = MAX (first, 0), high = MIN (first + n, height);

  work->s->smooths->combine_rows (
      (const guint8 *) weights + (gsize) (low - first) * size,
      (guint) MAX (high - low, 0), lwt_cpu_plane_row (from, (guint) low),
      from->stride / size, get_coarse (work->x->line), to);
}

static void
narrow_columns (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;
  const LwtSmoothLine *line = work->y->line;
  const gint stride = (gint) line->stride, margin = (gint) line->margin;

  for (guint i = 0; i <= (guint) work->weighted; i++)
    for (guint j = first; j < first + count; j++) {
      Small *small = &work->s->small[i];

      combine_plane (work, work->y->near,
          ((gint) j - margin) * stride - line->reach, 2 * line->reach + 1,
          &small->rows, (gint) line->n, lwt_cpu_plane_row (&small->coarse, j));
    }
}

static void
smooth_coarse (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;
  const LwtSmoothLine *line = work->y->line;

  for (guint i = 0; i <= (guint) work->weighted; i++)
    for (guint j = first; j < first + count; j++) {
      Small *small = &work->s->small[i];

      combine_plane (work, work->y->middle, (gint) j - line->middle_reach,
          2 * line->middle_reach + 1, &small->coarse, (gint) line->coarse,
          lwt_cpu_plane_row (&small->middle, j));
    }
}

/* A coarse row at row @y of the surface. */
static gconstpointer
widen_column (const SmoothWork *work, const Small *small, guint y, gpointer to)
{
  const LwtSmoothLine *line = work->y->line;
  const guint n = 2 * line->margin + 1;
  const gsize size = work->s->size;
  guint8 weights[64 * sizeof (gdouble)];

  if (line->stride == 1)
    return lwt_cpu_plane_row (&small->coarse, y);
  for (guint t = 0; t < n; t++)
    memcpy (weights + t * size,
        (const guint8 *) work->y->far
            + (t * line->period + y % line->stride) * size,
        size);
  combine_plane (work, weights, (gint) (y / line->stride), (gint) n,
      &small->middle, (gint) line->coarse, to);
  return to;
}

static void
widen_rows (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;
  const LwtCpuSmoother *s = work->s;
  const guint n = work->x->line->n;
  gpointer rows[2] = { get_work_row (scratch, 0), get_work_row (scratch, 1) };

  for (guint y = first; y < first + count; y++) {
    gpointer to = lwt_cpu_plane_row (&work->to, y);

    for (guint i = 0; i <= (guint) work->weighted; i++)
      s->smooths->widen_row (work->x,
          widen_column (work, &s->small[i], y, get_work_row (scratch, 2)),
          get_work_row (scratch, 3), rows[i]);
    if (work->weighted)
      s->smooths->divide_row (rows[0], n, rows[1]);
    else
      s->smooths->normalise_row (
          rows[0], n, work->x->inverse, work->y->line->inverse[y]);
    memcpy (to, rows[0], n * s->size);
  }
}

static void
run_gaussian (SmoothWork *work)
{
  const LwtCpuSmoother *s = work->s;
  const LwtSmoothLine *x = work->x->line, *y = work->y->line;

  lwt_cpu_rows_run (s->threads, y->n, x->n, narrow_rows, work);
  lwt_cpu_rows_run (
      s->threads, get_coarse (y), 8 * get_coarse (x), narrow_columns, work);
  if (y->stride > 1)
    lwt_cpu_rows_run (
        s->threads, y->coarse, get_coarse (x), smooth_coarse, work);
  lwt_cpu_rows_run (s->threads, y->n, x->n, widen_rows, work);
}

/* --- the robust Gaussian filter ------------------------------------------- */

static void
find_distances (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;
  const LwtCpuSurface *surface = work->surface;

  for (guint y = first; y < first + count; y++)
    work->s->smooths->deviate_row (lwt_cpu_plane_row (&work->from, y),
        lwt_cpu_plane_row (&work->to, y),
        work->holes ? surface->missing + y * surface->words : NULL,
        work->x->line->n, lwt_cpu_plane_row (&work->s->weights, y));
}

static void
judge_distances (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;

  for (guint y = first; y < first + count; y++)
    work->s->smooths->judge_row (lwt_cpu_plane_row (&work->s->weights, y),
        work->x->line->n, work->scale);
}

/* An equal share of the rows for each thread. */
static void
count_distances (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;
  const LwtCpuSmoother *s = work->s;
  const guint64 rows = work->y->line->n;
  const guint n = s->threads->n_threads;

  for (guint i = first; i < first + count; i++) {
    guint32 *counts = s->counts + (gsize) i * LWT_CPU_COUNTS;

    memset (counts, 0, LWT_CPU_COUNTS * sizeof *counts);
    for (guint y = (guint) (rows * i / n); y < rows * (i + 1) / n; y++)
      s->floats->count_row (lwt_cpu_plane_row (&s->weights, y),
          work->x->line->n, work->shift, work->prefix, counts);
  }
}

/* Entry @rank of the sorted distances. */
static gdouble
find_distance (SmoothWork *work, guint64 rank)
{
  const LwtCpuSmoother *s = work->s;

  work->prefix = 0;
  for (gint shift = (gint) (8 * s->size) - 16; shift >= 0; shift -= 16) {
    work->shift = (guint) shift;
    lwt_cpu_threads_run (
        s->threads, s->threads->n_threads, 1, count_distances, work);
    work->prefix =
        work->prefix << 16
        | lwt_cpu_select_digit (s->counts, s->threads->n_threads, &rank);
  }
  return s->floats->from_magnitude (work->prefix);
}

static void
run_robust (SmoothWork *work, guint64 missing)
{
  const LwtCpuSmoother *s = work->s;
  const guint width = work->x->line->n, height = work->y->line->n;
  const guint64 points = (guint64) width * height - missing;

  run_gaussian (work);
  for (guint i = 0; i < LWT_SMOOTH_ITERATIONS && points > 0; i++) {
    lwt_cpu_rows_run (s->threads, height, width, find_distances, work);
    work->scale = LWT_SMOOTH_TUKEY * find_distance (work, (points - 1) / 2);
    if (!(work->scale > 0.0))
      return; /* half of the points are on the curve */
    lwt_cpu_rows_run (s->threads, height, width, judge_distances, work);
    work->weighted = TRUE;
    work->weights = s->weights;
    run_gaussian (work);
  }
}

/* --- filters of strips ---------------------------------------------------- */

/* Weights of a strip's points from the bits of missing ones, which become 0. */
static void
gather_weights (const SmoothWork *work, guint axis, guint first, guint lanes,
    gpointer strip, gpointer to)
{
  const LwtCpuSurface *surface = work->surface;
  const guint n = axis == 0 ? work->x->line->n : work->y->line->n;

  for (guint i = 0; i < n; i++)
    for (guint l = 0; l < LWT_CPU_STRIP; l++) {
      const guint x = axis == 0 ? i : first + l, y = axis == 0 ? first + l : i;
      const gsize at = (gsize) i * LWT_CPU_STRIP + l;
      const gboolean there =
          l < lanes
          && !(surface->missing[y * surface->words + x / 32] >> x % 32 & 1);

      if (work->s->size == sizeof (gfloat))
        ((gfloat *) to)[at] = (gfloat) there;
      else
        ((gdouble *) to)[at] = there;
      if (!there)
        memset ((guint8 *) strip + at * work->s->size, 0, work->s->size);
    }
}

static void
smooth_line_strips (const SmoothWork *work, guint axis, guint item,
    LwtCpuScratch *scratch, const LwtCpuPlane *from, const LwtCpuPlane *to)
{
  const LwtCpuSmoother *s = work->s;
  const LwtCpuSmoothLine *line = axis == 0 ? work->x : work->y;
  const guint n = line->line->n, first = item * LWT_CPU_STRIP;
  const guint others = axis == 0 ? work->y->line->n : work->x->line->n;
  const guint lanes = MIN (LWT_CPU_STRIP, others - first);
  const gsize strip = (gsize) n * LWT_CPU_STRIP * s->size;
  guint8 *x = scratch->ring;
  gpointer weights = work->weighted ? x + strip : NULL;
  const gsize in = from->stride / s->size, out = to->stride / s->size;
  const guint column = axis == 0 ? 0 : first, row = axis == 0 ? first : 0;

  s->smooths->gather_strip (
      (guint8 *) lwt_cpu_plane_row (from, row) + column * s->size,
      axis == 0 ? 1 : in, axis == 0 ? in : 1, n, lanes, x);
  if (weights != NULL)
    gather_weights (work, axis, first, lanes, x, weights);
  s->smooths->scatter_strip (
      line->line->cutoff == 0.0
          ? x
          : s->smooths->smooth_strip (
              line, s->plan->config.filter, x, weights, x + 2 * strip),
      axis == 0 ? 1 : out, axis == 0 ? out : 1, n, lanes,
      (guint8 *) lwt_cpu_plane_row (to, row) + column * s->size);
}

static void
smooth_row_strips (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;

  for (guint i = first; i < first + count; i++)
    smooth_line_strips (work, 0, i, scratch, &work->from, &work->s->between[0]);
}

static void
smooth_column_strips (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;

  for (guint i = first; i < first + count; i++)
    smooth_line_strips (work, 1, i, scratch, &work->s->between[0], &work->to);
}

static void
run_strips (const SmoothWork *work, guint n, LwtCpuRowsFunc strips)
{
  lwt_cpu_threads_run (work->s->threads,
      (n + LWT_CPU_STRIP - 1) / LWT_CPU_STRIP, 1, strips, (gpointer) work);
}

/* --- the wavelet filter --------------------------------------------------- */

static void
cascade_rows (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;
  const LwtCpuSmoother *s = work->s;
  const guint n = work->x->line->n;
  gpointer padded[2] = { get_work_row (scratch, 0), get_work_row (scratch, 1) };
  gpointer x = clear_padded_row (work, padded[0]);
  gpointer w = clear_padded_row (work, padded[1]);

  for (guint y = first; y < first + count; y++) {
    gconstpointer from = lwt_cpu_plane_row (&work->from, y);

    if (work->weighted)
      s->smooths->weigh_row (from, NULL,
          work->surface->missing + y * work->surface->words, n, x, w);
    else
      memcpy (x, from, n * s->size);
    for (guint i = 0; i <= (guint) work->weighted; i++)
      memcpy (lwt_cpu_plane_row (&s->between[i], y),
          s->smooths->cascade_row (
              work->x, padded[i], get_work_row (scratch, 2)),
          n * s->size);
  }
}

/* Columns of the samples and of the weights. */
static void
cascade_columns (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;
  const LwtCpuPlane *between = work->s->between;
  SmoothWork columns = *work;

  columns.weighted = FALSE;
  for (guint i = first; i < first + count; i++) {
    smooth_line_strips (&columns, 1, i, scratch, &between[0], &work->to);
    if (work->weighted)
      smooth_line_strips (&columns, 1, i, scratch, &between[1], &between[1]);
  }
}

static void
settle_rows (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SmoothWork *work = user_data;

  for (guint y = first; y < first + count; y++)
    work->s->smooths->settle_row (lwt_cpu_plane_row (&work->to, y),
        work->x->line->n, lwt_cpu_plane_row (&work->s->between[1], y),
        lwt_cpu_plane_row (&work->from, y));
}

static void
run_wavelet (SmoothWork *work)
{
  const LwtCpuSmoother *s = work->s;
  const guint width = work->x->line->n, height = work->y->line->n;

  lwt_cpu_rows_run (s->threads, height, width, cascade_rows, work);
  run_strips (work, width, cascade_columns);
  if (work->weighted)
    lwt_cpu_rows_run (s->threads, height, width, settle_rows, work);
}

/* --- a surface ------------------------------------------------------------ */

void
lwt_cpu_smoother_run (LwtCpuSmoother *s, guint which,
    const LwtCpuSurface *surface, guint64 missing, const LwtCpuPlane *x,
    const LwtCpuPlane *to)
{
  SmoothWork work = { .s = s,
    .x = &s->tables[which][0],
    .y = &s->tables[which][1],
    .surface = surface,
    .weighted = missing > 0,
    .holes = missing > 0,
    .from = *x,
    .to = *to };

  if (s->plan->config.filter == LWT_FILTER_WAVELET) {
    run_wavelet (&work);
  } else if (s->strips) {
    run_strips (&work, work.y->line->n, smooth_row_strips);
    run_strips (&work, work.x->line->n, smooth_column_strips);
  } else if (s->plan->config.filter == LWT_FILTER_ROBUST_GAUSSIAN) {
    run_robust (&work, missing);
  } else {
    run_gaussian (&work);
  }
}
