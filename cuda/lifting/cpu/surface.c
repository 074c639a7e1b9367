/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Prepares a surface for its transform: subtracts the F-operation, fills
 * missing points, pads. Computes the parameters of components. Rows are
 * computed in parallel. */
#include <stdlib.h>
#include <string.h>

#include "cuda/lifting/cpu/cpu.h"

/* Samples that a thread takes at a time */
#define GRAIN (1 << 16)

void
lwt_cpu_rows_run (LwtCpuThreads *threads, guint n, guint width,
    LwtCpuRowsFunc func, gpointer user_data)
{
  lwt_cpu_threads_run (threads, n, MAX (GRAIN / width, 1), func, user_data);
}

/* --- memory ---------------------------------------------------------------------- */

static gboolean
alloc_bits (guint32 **bits, guint width, guint height, GError **error)
{
  const gsize words = ((gsize) width + 31) / 32;

  return (*bits = cvis_memory_new (
              words * height * sizeof (guint32), FALSE, error))
         != NULL;
}

static gboolean
alloc_means (LwtCpuSurface *surface, GError **error)
{
  guint width = surface->plan->config.width;
  guint height = surface->plan->config.height;

  while (width > 1 || height > 1) {
    const guint i = surface->n_means;

    width = (width + 1) / 2;
    height = (height + 1) / 2;
    if (!lwt_cpu_plane_alloc (
            &surface->means[i], width, height, surface->size, error))
      return FALSE;
    surface->n_means++;
    if (!alloc_bits (&surface->means_missing[i], width, height, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lwt_cpu_surface_init (LwtCpuSurface *surface, const LwtPlan *plan,
    LwtCpuThreads *threads, GError **error)
{
  const LwtConfig *config = &plan->config;

  *surface = (LwtCpuSurface){ .plan = plan, .threads = threads };
  surface->floats = threads->kernels->floats[config->type];
  surface->size = lwt_type_get_size (config->type);
  surface->words = ((gsize) config->width + 31) / 32;
  surface->n_missing = g_new0 (guint, config->height);
  surface->moments = g_new0 (LwtRowMoments, config->height);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (config->parameters & (1u << i)) {
      surface->heights[i] = g_new0 (LwtHeights, config->height);
      surface->shapes[i] = g_new0 (LwtShape, config->height);
    }
  return lwt_cpu_plane_alloc (
             &surface->x, plan->width, plan->height, surface->size, error)
         && alloc_bits (&surface->missing, config->width, config->height, error)
         && alloc_means (surface, error);
}

void
lwt_cpu_surface_clear (LwtCpuSurface *surface)
{
  free (surface->x.data);
  free (surface->missing);
  for (guint i = 0; i < surface->n_means; i++) {
    free (surface->means[i].data);
    free (surface->means_missing[i]);
  }
  g_free (surface->n_missing);
  g_free (surface->moments);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    g_free (surface->heights[i]);
    g_free (surface->shapes[i]);
  }
}

/* --- samples --------------------------------------------------------------------- */

typedef struct {
  LwtCpuSurface *surface;
  LwtJob *job;
  const gdouble *polynomial;
  LwtParts parts; /* that are measured */
  LwtCpuMakeRow make_row;
  gconstpointer user_data;
  gdouble means[CVIS_SURFACE_N_PARTS];
  guint level; /* of the pyramid; its source, or target, is the one before */
} Work;

static LwtCpuPlane
get_inside (const LwtCpuSurface *surface)
{
  return lwt_cpu_plane_at (
      &surface->x, surface->size, surface->plan->pad[0], surface->plan->pad[1]);
}

static guint
read_row (const Work *work, guint y, gdouble *z)
{
  const LwtCpuSurface *surface = work->surface;
  const LwtConfig *config = &surface->plan->config;

  return surface->threads->kernels->sums->read_row (
      (const guint8 *) work->job->data + y * work->job->stride, config->width,
      config->sample, config->z_scale, config->z_offset, z,
      surface->missing + y * surface->words);
}

static void
do_moments (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Work *work = user_data;
  const LwtCpuSurface *surface = work->surface;

  for (guint y = first; y < first + count; y++) {
    read_row (work, y, scratch->wide[0]);
    surface->threads->kernels->sums->moments_row (scratch->wide[0],
        surface->missing + y * surface->words, surface->plan->config.width,
        &surface->moments[y]);
  }
}

static void
do_load (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Work *work = user_data;
  LwtCpuSurface *surface = work->surface;
  const LwtConfig *config = &surface->plan->config;
  const LwtCpuPlane inside = get_inside (surface);

  for (guint y = first; y < first + count; y++) {
    surface->n_missing[y] = read_row (work, y, scratch->wide[0]);
    surface->floats->round_row (scratch->wide[0], config->width,
        work->polynomial, lwt_centred (y, config->height),
        lwt_cpu_plane_row (&inside, y));
  }
}

/* Sums over the rows, in the same order as within a row. */
static void
sum_moments (const LwtCpuSurface *surface, LwtMoments *moments)
{
  const guint height = surface->plan->config.height;
  gdouble m[5][5][LWT_LANES] = { { { 0.0 } } };
  gdouble t[3][3][LWT_LANES] = { { { 0.0 } } };

  for (guint y = 0; y < height; y++) {
    const LwtRowMoments *row = &surface->moments[y];
    const gdouble v = lwt_centred (y, height), v2 = v * v;
    const gdouble powers[5] = { 1.0, v, v2, v2 * v, v2 * v2 };

    for (guint a = 0; a < 5; a++)
      for (guint b = 0; a + b < 5; b++)
        m[a][b][y % LWT_LANES] += row->m[a] * powers[b];
    for (guint a = 0; a < 3; a++)
      for (guint b = 0; a + b < 3; b++)
        t[a][b][y % LWT_LANES] += row->t[a] * powers[b];
  }
  *moments = (LwtMoments){ 0 };
  for (guint a = 0; a < 5; a++)
    for (guint b = 0; a + b < 5; b++)
      moments->m[a][b] = lwt_sum_lanes (m[a][b]);
  for (guint a = 0; a < 3; a++)
    for (guint b = 0; a + b < 3; b++)
      moments->t[a][b] = lwt_sum_lanes (t[a][b]);
}

/* --- missing points ---------------------------------------------------------------- */

static void
get_level (const LwtCpuSurface *surface, guint level, LwtCpuPlane *plane,
    guint32 **missing, guint *width, guint *height)
{
  const LwtConfig *config = &surface->plan->config;

  *width = config->width;
  *height = config->height;
  for (guint i = 0; i < level; i++) {
    *width = (*width + 1) / 2;
    *height = (*height + 1) / 2;
  }
  *plane = level == 0 ? get_inside (surface) : surface->means[level - 1];
  *missing = level == 0 ? surface->missing : surface->means_missing[level - 1];
}

static void
do_means (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Work *work = user_data;
  LwtCpuPlane from, to;
  guint32 *missing, *to_missing;
  guint width, height, to_width, to_height;
  gsize words, to_words;

  get_level (work->surface, work->level - 1, &from, &missing, &width, &height);
  get_level (
      work->surface, work->level, &to, &to_missing, &to_width, &to_height);
  words = ((gsize) width + 31) / 32;
  to_words = ((gsize) to_width + 31) / 32;
  for (guint y = first; y < first + count; y++) {
    const gboolean both = 2 * y + 1 < height;
    const gconstpointer rows[2] = { lwt_cpu_plane_row (&from, 2 * y),
      both ? lwt_cpu_plane_row (&from, 2 * y + 1) : NULL };
    const guint32 *const bits[2] = { missing + 2 * y * words,
      both ? missing + (2 * y + 1) * words : NULL };

    work->surface->floats->mean_row (rows, bits, width,
        lwt_cpu_plane_row (&to, y), to_missing + y * to_words);
  }
}

static void
do_fill (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Work *work = user_data;
  LwtCpuPlane to, from;
  guint32 *missing, *from_missing;
  guint width, height, from_width, from_height;
  gsize words;

  get_level (work->surface, work->level - 1, &to, &missing, &width, &height);
  get_level (work->surface, work->level, &from, &from_missing, &from_width,
      &from_height);
  words = ((gsize) width + 31) / 32;
  for (guint y = first; y < first + count; y++) {
    const gint own = (gint) y / 2;
    const gint other =
        CLAMP (y % 2 ? own + 1 : own - 1, 0, (gint) from_height - 1);

    work->surface->floats->fill_row (lwt_cpu_plane_row (&to, y), width,
        missing + y * words, lwt_cpu_plane_row (&from, (guint) own),
        lwt_cpu_plane_row (&from, (guint) other));
  }
}

static void
fill (Work *work)
{
  const LwtCpuSurface *surface = work->surface;
  const guint n = surface->n_means;

  /* a surface of one point is already 0 */
  for (guint i = 1; i <= n; i++) {
    work->level = i;
    lwt_cpu_rows_run (surface->threads,
        (surface->plan->config.height + (1u << i) - 1) >> i,
        MAX (surface->plan->config.width >> i, 1), do_means, work);
  }
  for (guint i = n; i > 0; i--) {
    work->level = i;
    lwt_cpu_rows_run (surface->threads,
        (surface->plan->config.height + (1u << (i - 1)) - 1) >> (i - 1),
        MAX (surface->plan->config.width >> (i - 1), 1), do_fill, work);
  }
}

/* --- padding ------------------------------------------------------------------------- */

static gboolean
is_smooth (const LwtCpuSurface *surface)
{
  return surface->plan->config.boundary == LWT_BOUNDARY_PAD_SMOOTH;
}

static void
do_pad_rows (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Work *work = user_data;
  const LwtCpuSurface *surface = work->surface;
  const LwtPlan *plan = surface->plan;

  for (guint y = first; y < first + count; y++) {
    guint8 *row = lwt_cpu_plane_row (&surface->x, plan->pad[1] + y);

    surface->floats->pad_row (row + plan->pad[0] * surface->size,
        plan->config.width, plan->pad[0], is_smooth (surface), row);
  }
}

/* Rows of the padding above and below; @index counts these rows. */
static void
do_pad_columns (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Work *work = user_data;
  const LwtCpuSurface *surface = work->surface;
  const LwtPlan *plan = surface->plan;
  const gint pad = (gint) plan->pad[1], height = (gint) plan->config.height;

#define ROW(i) lwt_cpu_plane_row (&surface->x, (guint) ((i) + pad))
  for (gint n = (gint) first; n < (gint) (first + count); n++) {
    const gint i = n < pad ? n - pad : n - pad + height;

    if (!is_smooth (surface) || height == 1)
      memcpy (ROW (i), ROW (lwt_pad_index (i, height)),
          plan->width * surface->size);
    else if (i < 0)
      surface->floats->extend_row (
          ROW (0), ROW (1), ROW (0), plan->width, i, ROW (i));
    else
      surface->floats->extend_row (ROW (height - 1), ROW (height - 1),
          ROW (height - 2), plan->width, i - (height - 1), ROW (i));
  }
#undef ROW
}

/* --- a surface ------------------------------------------------------------------------- */

void
lwt_cpu_surface_load (LwtCpuSurface *surface, LwtJob *job)
{
  const LwtPlan *plan = surface->plan;
  const LwtConfig *config = &plan->config;
  LwtMoments moments;
  Work work = { .surface = surface, .job = job };

  if (config->f_operation != LWT_F_NONE) {
    lwt_cpu_rows_run (
        surface->threads, config->height, config->width, do_moments, &work);
    sum_moments (surface, &moments);
    lwt_fit (&moments, config->f_operation, job->polynomial);
    job->offset = job->polynomial[0];
    work.polynomial = job->polynomial;
  }
  lwt_cpu_rows_run (
      surface->threads, config->height, config->width, do_load, &work);
  job->missing = 0;
  for (guint y = 0; y < config->height; y++)
    job->missing += surface->n_missing[y];
  if (job->missing > 0 && !lwt_config_is_smoothing (config))
    fill (&work);
  if (plan->pad[0] > 0)
    lwt_cpu_rows_run (
        surface->threads, config->height, plan->width, do_pad_rows, &work);
  if (plan->pad[1] > 0)
    lwt_cpu_rows_run (
        surface->threads, 2 * plan->pad[1], plan->width, do_pad_columns, &work);
}

/* --- integers ----------------------------------------------------------------------------- */

typedef struct {
  LwtCpuThreads *threads;
  const LwtPlan *plan;
  const LwtJob *job;
  const LwtCpuPlane *to;
} IntegerWork;

static void
do_integers (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const IntegerWork *work = user_data;
  const LwtPlan *plan = work->plan;
  const gint width = (gint) plan->config.width, pad = (gint) plan->pad[0];

  for (guint y = first; y < first + count; y++) {
    const gsize from = (gsize) lwt_pad_index (
        (gint) y - (gint) plan->pad[1], (gint) plan->config.height);
    gint32 *row = lwt_cpu_plane_row (work->to, y);

    work->threads->kernels->sums->read_integers (
        (const guint8 *) work->job->data + from * work->job->stride,
        plan->config.width, plan->config.sample, row + pad);
    for (gint x = 1; x <= pad; x++) {
      row[pad - x] = row[pad + lwt_pad_index (-x, width)];
      row[pad + width - 1 + x] =
          row[pad + lwt_pad_index (width - 1 + x, width)];
    }
  }
}

void
lwt_cpu_load_integers (LwtCpuThreads *threads, const LwtPlan *plan,
    const LwtJob *job, const LwtCpuPlane *to)
{
  IntegerWork work = { threads, plan, job, to };

  lwt_cpu_rows_run (threads, plan->height, plan->width, do_integers, &work);
}

/* --- parameters -------------------------------------------------------------------------- */

static gconstpointer
get_part_row (
    const Work *work, CvisSurfacePart part, guint y, LwtCpuScratch *scratch)
{
  const LwtPlane *plane = &work->job->parts[part];

  if (plane->data != NULL)
    return (const guint8 *) plane->data + y * plane->stride;
  return work->make_row (work->user_data, part, y, scratch->wide[2]);
}

void
lwt_cpu_surface_note_row (LwtCpuSurface *surface, CvisSurfacePart part, guint y,
    gconstpointer row, LwtCpuScratch *scratch)
{
  const LwtConfig *config = &surface->plan->config;
  const LwtCpuSums *sums = surface->threads->kernels->sums;
  guint32 *missing = surface->missing + y * surface->words;

  surface->floats->widen_row (row, config->width, scratch->wide[0]);
  if (config->operation == LWT_OPERATION_INVERSE)
    sums->find_missing (scratch->wide[0], config->width, missing);
  sums->heights_row (
      scratch->wide[0], missing, config->width, &surface->heights[part][y]);
}

static void
do_heights (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Work *work = user_data;

  for (guint y = first; y < first + count; y++)
    for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
      if (work->parts & (1u << i))
        lwt_cpu_surface_note_row (work->surface, (CvisSurfacePart) i, y,
            get_part_row (work, (CvisSurfacePart) i, y, scratch), scratch);
}

static void
find_shapes (const Work *work, CvisSurfacePart part, guint first, guint count,
    LwtCpuScratch *scratch)
{
  const LwtCpuSurface *surface = work->surface;
  const LwtConfig *config = &surface->plan->config;
  const LwtCpuFloats *floats = surface->floats;

  floats->widen_row (get_part_row (work, part, first, scratch), config->width,
      scratch->wide[first % 2]);
  for (guint y = first; y < first + count; y++) {
    const gboolean below =
        y + 1 < config->height && (config->dx > 0.0 || y + 1 < first + count);
    const gboolean cells = below && config->dx > 0.0;
    const gdouble *const rows[2] = { scratch->wide[y % 2],
      cells ? scratch->wide[(y + 1) % 2] : NULL };
    const guint32 *own = surface->missing + y * surface->words;
    const guint32 *const missing[2] = { own,
      cells ? own + surface->words : NULL };

    if (below)
      floats->widen_row (get_part_row (work, part, y + 1, scratch),
          config->width, scratch->wide[(y + 1) % 2]);
    surface->threads->kernels->sums->shape_row (rows, missing, config->width,
        config->dx, config->dy, work->means[part], &surface->shapes[part][y]);
  }
}

/* One component after the other: operands that they share stay in the L2 cache. */
static void
do_shapes (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const Work *work = user_data;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (work->parts & (1u << i))
      find_shapes (work, (CvisSurfacePart) i, first, count, scratch);
}

static void
sum_heights (const LwtHeights *rows, guint height, LwtHeights *all)
{
  gdouble sum[LWT_LANES] = { 0.0 };

  *all = (LwtHeights){ .min = INFINITY, .max = -INFINITY };
  for (guint y = 0; y < height; y++) {
    sum[y % LWT_LANES] += rows[y].sum;
    all->n += rows[y].n;
    all->min = MIN (all->min, rows[y].min);
    all->max = MAX (all->max, rows[y].max);
  }
  all->sum = lwt_sum_lanes (sum);
}

static void
sum_shapes (const LwtShape *rows, guint height, LwtShape *all)
{
  gdouble sums[6][LWT_LANES] = { { 0.0 } };

  *all = (LwtShape){ 0 };
  for (guint y = 0; y < height; y++) {
    const gdouble terms[6] = { rows[y].h1, rows[y].h2, rows[y].h3, rows[y].h4,
      rows[y].gradient, rows[y].area };

    for (guint i = 0; i < 6; i++)
      sums[i][y % LWT_LANES] += terms[i];
    all->cells += rows[y].cells;
  }
  all->h1 = lwt_sum_lanes (sums[0]);
  all->h2 = lwt_sum_lanes (sums[1]);
  all->h3 = lwt_sum_lanes (sums[2]);
  all->h4 = lwt_sum_lanes (sums[3]);
  all->gradient = lwt_sum_lanes (sums[4]);
  all->area = lwt_sum_lanes (sums[5]);
}

void
lwt_cpu_surface_measure (LwtCpuSurface *surface, LwtJob *job, LwtParts parts,
    gboolean noted, LwtCpuMakeRow make_row, gconstpointer user_data)
{
  const LwtConfig *config = &surface->plan->config;
  Work work = { .surface = surface,
    .job = job,
    .parts = parts,
    .make_row = make_row,
    .user_data = user_data };
  LwtHeights heights[CVIS_SURFACE_N_PARTS];

  if (!noted)
    lwt_cpu_rows_run (
        surface->threads, config->height, config->width, do_heights, &work);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (parts & (1u << i)) {
      sum_heights (surface->heights[i], config->height, &heights[i]);
      work.means[i] =
          heights[i].n > 0 ? heights[i].sum / (gdouble) heights[i].n : 0.0;
    }
  lwt_cpu_rows_run (
      surface->threads, config->height, config->width, do_shapes, &work);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (parts & (1u << i)) {
      LwtShape shape;

      sum_shapes (surface->shapes[i], config->height, &shape);
      lwt_parameters (&heights[i], &shape, &job->parameters[i]);
    }
}

/* --- components that another backend has transformed --------------------------------------- */

typedef struct {
  const LwtCpuSurface *surface;
  const LwtJob *job;
  const LwtPlane *result;
  gboolean tail; /* P - p0 is added */
  LwtCpuPlane first, second;
} FinishWork;

static void
finish_rows (
    guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const FinishWork *work = user_data;
  const LwtCpuSurface *surface = work->surface;
  const LwtConfig *config = &surface->plan->config;

  for (guint y = first; y < first + count; y++) {
    guint8 *row = (guint8 *) work->result->data + y * work->result->stride;

    if (work->first.data != NULL)
      surface->floats->subtract_row (lwt_cpu_plane_row (&work->first, y),
          work->second.data ? lwt_cpu_plane_row (&work->second, y) : NULL,
          config->width, row);
    if (work->tail)
      surface->floats->tail_row (row, config->width, work->job->polynomial,
          lwt_centred (y, config->height));
    if (work->job->missing > 0)
      surface->floats->blank_row (
          row, config->width, surface->missing + y * surface->words);
  }
}

void
lwt_cpu_surface_finish (LwtCpuSurface *surface, LwtJob *job,
    CvisSurfacePart part, const LwtPlane *result, const LwtCpuPlane *first,
    const LwtCpuPlane *second)
{
  const LwtPlan *plan = surface->plan;
  const LwtConfig *config = &plan->config;
  FinishWork work = { .surface = surface, .job = job, .result = result };
  LwtJob copy = *job;

  if (result->data == NULL || part == CVIS_SURFACE_PART_BANDS)
    return;
  work.tail =
      config->f_operation != LWT_F_NONE
      && (part == CVIS_SURFACE_PART_FORM || part == CVIS_SURFACE_PART_MEASURED);
  if (first != NULL)
    work.first =
        lwt_cpu_plane_at (first, surface->size, plan->pad[0], plan->pad[1]);
  if (second != NULL)
    work.second =
        lwt_cpu_plane_at (second, surface->size, plan->pad[0], plan->pad[1]);
  if (work.tail || job->missing > 0 || first != NULL)
    lwt_cpu_rows_run (
        surface->threads, config->height, config->width, finish_rows, &work);
  if (!lwt_job_measures (config, job, part))
    return;
  copy.parts[part] = *result;
  lwt_cpu_surface_measure (surface, &copy, 1u << part, FALSE, NULL, NULL);
  job->parameters[part] = copy.parameters[part];
}
