/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend: wait() computes, with rows and tiles in parallel. */
#include <stdlib.h>
#include <string.h>

#include "cuda/lifting/cpu/cpu.h"

#define MAX_DEPTH 8
#define N_CHAINS 3 /* to the low bands below noise, roughness, waviness */

struct _LwtBackend {
  const LwtPlan *plan;
  gsize size; /* of an element */
  LwtCpuThreads threads;
  LwtCpuSurface surface; /* floats only */
  LwtJob *jobs[MAX_DEPTH];

  LwtCpuTransform *forward, *inverse; /* of all bands */
  LwtCpuPlane picture; /* integers; output of the inverse if it is padded */
  /* filter: low bands, and their low-only synthesis; the levels since the
   * previous chain, and all levels */
  guint n_levels[N_CHAINS];
  LwtCpuTransform *reduce[N_CHAINS], *expand[N_CHAINS];
  LwtCpuPlane low[N_CHAINS], smooth[N_CHAINS];
  /* filters other than wavelet-decimated: from x to smooth */
  LwtCpuSmoother *smoother;
  /* denoise: a spin, its bands, its inverse, and the sum of the spins */
  LwtCpuPlane rotated, bands, back, sum;
  guint32 *counts; /* histogram of magnitudes, for each thread */
  LwtFinestAxis finest[2];
  guint8 *cells; /* that have noise */
};

/* --- create ---------------------------------------------------------------------- */

static void
lifting_cpu_destroy (LwtBackend *backend)
{
  lwt_cpu_surface_clear (&backend->surface);
  lwt_cpu_transform_free (backend->forward);
  lwt_cpu_transform_free (backend->inverse);
  lwt_cpu_smoother_free (backend->smoother);
  for (guint i = 0; i < N_CHAINS; i++) {
    lwt_cpu_transform_free (backend->reduce[i]);
    lwt_cpu_transform_free (backend->expand[i]);
    free (backend->low[i].data);
    free (backend->smooth[i].data);
  }
  free (backend->picture.data);
  free (backend->rotated.data);
  free (backend->bands.data);
  free (backend->back.data);
  free (backend->sum.data);
  free (backend->counts);
  free (backend->cells);
  lwt_cpu_threads_clear (&backend->threads);
  g_free (backend);
}

static LwtCpuTransform *
new_transform (LwtBackend *backend, const LwtChain *chain, gboolean inverse,
    gboolean low_only, guint first, guint n, GError **error)
{
  const LwtPlan *plan = backend->plan;
  const LwtLayout layout = plan->config.operation == LWT_OPERATION_DENOISE
                               ? LWT_LAYOUT_MALLAT
                               : plan->config.layout;

  return lwt_cpu_transform_new (&plan->wavelet, plan->config.type,
      plan->config.boundary, inverse, low_only, layout, chain, first, n,
      plan->width, plan->height, backend->threads.n_threads, error);
}

static gboolean
alloc_picture (LwtBackend *backend, LwtCpuPlane *plane, GError **error)
{
  return lwt_cpu_plane_alloc (
      plane, backend->plan->width, backend->plan->height, backend->size, error);
}

/* A chain of levels of the filter: the levels since the previous chain, and
 * the synthesis over all levels. */
static gboolean
create_chain (LwtBackend *backend, guint i, GError **error)
{
  const LwtChain *chain = &backend->plan->parts;
  const guint n = backend->n_levels[i];
  const guint first = i > 0 ? backend->n_levels[i - 1] : 0;

  if (n == first)
    return TRUE;
  return (backend->reduce[i] = new_transform (
              backend, chain, FALSE, TRUE, first, n - first, error))
         && (backend->expand[i] =
                 new_transform (backend, chain, TRUE, TRUE, 0, n, error))
         && lwt_cpu_plane_alloc (&backend->low[i],
             chain->levels[n - 1].low_width, chain->levels[n - 1].low_height,
             backend->size, error)
         && alloc_picture (backend, &backend->smooth[i], error);
}

/* Whether the low band @i differs from the one before. */
static gboolean
has_cutoff (const LwtBackend *backend, guint i)
{
  const LwtConfig *config = &backend->plan->config;
  const gdouble *own = config->cutoffs[i];
  const gdouble *before = config->cutoffs[MAX (i, 1) - 1];

  return i == 0 ? own[0] > 0.0 || own[1] > 0.0
                : own[0] != before[0] || own[1] != before[1];
}

static gboolean
create_smoother (LwtBackend *backend, GError **error)
{
  backend->smoother =
      lwt_cpu_smoother_new (backend->plan, &backend->threads, error);
  for (guint i = 0; i < N_CHAINS && backend->smoother != NULL; i++)
    if (has_cutoff (backend, i)
        && !alloc_picture (backend, &backend->smooth[i], error))
      return FALSE;
  return backend->smoother != NULL;
}

static gboolean
create_filter (LwtBackend *backend, GError **error)
{
  const LwtPlan *plan = backend->plan;

  if (lwt_config_is_smoothing (&plan->config))
    return create_smoother (backend, error);
  backend->n_levels[0] = plan->n_noise;
  backend->n_levels[1] = plan->n_roughness;
  backend->n_levels[2] = plan->parts.n;
  for (guint i = 0; i < N_CHAINS; i++)
    if (!create_chain (backend, i, error))
      return FALSE;
  return TRUE;
}

static gboolean
create_denoise (LwtBackend *backend, GError **error)
{
  lwt_finest_init (backend->finest, backend->plan);
  return (backend->inverse = new_transform (backend, &backend->plan->bands,
              TRUE, FALSE, 0, backend->plan->bands.n, error))
         && alloc_picture (backend, &backend->rotated, error)
         && alloc_picture (backend, &backend->bands, error)
         && alloc_picture (backend, &backend->back, error)
         && alloc_picture (backend, &backend->sum, error)
         && (backend->counts = cvis_memory_new (
                 backend->threads.n_threads * LWT_CPU_COUNTS * sizeof (guint32),
                 TRUE, error))
         && (backend->cells = cvis_memory_new (
                 lwt_finest_count_cells (backend->finest), FALSE, error));
}

static gboolean
create_operation (LwtBackend *backend, GError **error)
{
  const LwtPlan *plan = backend->plan;
  const LwtConfig *config = &plan->config;
  const gboolean inverse = config->operation == LWT_OPERATION_INVERSE;

  if (config->type != LWT_TYPE_I32
      && !lwt_cpu_surface_init (
          &backend->surface, plan, &backend->threads, error))
    return FALSE;
  if ((config->type == LWT_TYPE_I32
          || (inverse
              && (plan->pad[0] + plan->pad[1] > 0 || config->parameters != 0)))
      && !alloc_picture (backend, &backend->picture, error))
    return FALSE;
  if (inverse)
    return (backend->inverse = new_transform (
                backend, &plan->bands, TRUE, FALSE, 0, plan->bands.n, error))
           != NULL;
  if ((config->operation != LWT_OPERATION_FILTER
          || (config->parts & 1u << CVIS_SURFACE_PART_BANDS))
      && !(backend->forward = new_transform (
               backend, &plan->bands, FALSE, FALSE, 0, plan->bands.n, error)))
    return FALSE;
  if (config->operation == LWT_OPERATION_FILTER)
    return create_filter (backend, error);
  return config->operation != LWT_OPERATION_DENOISE
         || create_denoise (backend, error);
}

static gboolean
create_scratch (LwtBackend *backend, GError **error)
{
  const LwtCpuTransform *all[2 + 2 * N_CHAINS] = { backend->forward,
    backend->inverse };
  gsize pitch = 0, rows = 0;

  memcpy (all + 2, backend->reduce, sizeof backend->reduce);
  memcpy (all + 2 + N_CHAINS, backend->expand, sizeof backend->expand);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i])
      lwt_cpu_transform_get_scratch (all[i], &pitch, &rows);
  if (backend->smoother)
    lwt_cpu_smoother_get_scratch (backend->smoother, &pitch, &rows);
  return lwt_cpu_threads_alloc (
      &backend->threads, pitch, rows, backend->plan->config.width, error);
}

static LwtBackend *
lifting_cpu_create (const LwtPlan *plan, CvisContext *context, GError **error)
{
  LwtBackend *backend = g_new0 (LwtBackend, 1);

  backend->plan = plan;
  backend->size = lwt_type_get_size (plan->config.type);
  lwt_cpu_threads_init (&backend->threads, plan->config.threads);
  if (create_operation (backend, error) && create_scratch (backend, error))
    return backend;
  lifting_cpu_destroy (backend);
  return NULL;
}

/* --- components ---------------------------------------------------------- */

/* A component is the first operand minus the second; %NULL second: the first
 * plus the polynomial without its mean. */
typedef struct {
  CvisSurfacePart part;
  const LwtCpuPlane *of[2];
} PartOf;

typedef struct {
  LwtBackend *backend;
  LwtJob *job;
  guint n;
  const PartOf *parts;
  LwtParts measured;
} PartWork;

/* Row @y of an operand, inside the padding */
static gconstpointer
operand_row (const PartWork *work, const PartOf *of, guint operand, guint y)
{
  const LwtPlan *plan = work->backend->plan;

  if (of->of[operand] == NULL)
    return NULL;
  return (const guint8 *) lwt_cpu_plane_row (of->of[operand], y + plan->pad[1])
         + plan->pad[0] * work->backend->size;
}

static void
make_part_row (const PartWork *work, const PartOf *of, guint y, gpointer to)
{
  const LwtBackend *backend = work->backend;
  const LwtConfig *config = &backend->plan->config;
  const LwtCpuFloats *floats = backend->surface.floats;

  floats->subtract_row (operand_row (work, of, 0, y),
      operand_row (work, of, 1, y), config->width, to);
  if (of->of[1] == NULL && config->f_operation != LWT_F_NONE)
    floats->tail_row (to, config->width, work->job->polynomial,
        lwt_centred (y, config->height));
  if (work->job->missing > 0)
    floats->blank_row (to, config->width,
        backend->surface.missing + y * backend->surface.words);
}

/* Uses @row as an intermediate buffer. */
static void
store_part_row (
    const PartWork *work, const PartOf *of, guint y, gpointer row, gpointer to)
{
  const LwtConfig *config = &work->backend->plan->config;

  make_part_row (work, of, y, row);
  work->backend->surface.floats->store_row (row, config->width,
      lwt_store_factor (config), lwt_store_max (config), config->store_shift,
      config->sample == LWT_SAMPLE_U16, to);
}

/* Row of a component without a plane: see LwtCpuMakeRow. @user_data: its
 * PartWork */
static gconstpointer
measured_row (
    gconstpointer user_data, CvisSurfacePart part, guint y, gpointer to)
{
  const PartWork *work = user_data;
  const PartOf *of = work->parts;

  while (of->part != part)
    of++;
  if (of->of[1] == NULL && work->job->missing == 0
      && work->backend->plan->config.f_operation == LWT_F_NONE)
    return operand_row (work, of, 0, y);
  make_part_row (work, of, y, to);
  return to;
}

static void
do_parts (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const PartWork *work = user_data;
  LwtBackend *backend = work->backend;

  for (guint y = first; y < first + count; y++)
    for (guint i = 0; i < work->n; i++) {
      const PartOf *of = &work->parts[i];
      const LwtPlane *part = &work->job->parts[of->part];
      const gboolean measured = (work->measured & (1u << of->part)) != 0;
      gpointer to = (guint8 *) part->data + y * part->stride;

      if (part->data == NULL && measured)
        lwt_cpu_surface_note_row (&backend->surface, of->part, y,
            measured_row (work, of->part, y, scratch->wide[2]), scratch);
      if (part->data == NULL)
        continue;
      if (of->part == CVIS_SURFACE_PART_MEASURED
          && backend->plan->config.store_bits > 0)
        store_part_row (work, of, y, scratch->wide[2], to);
      else
        make_part_row (work, of, y, to);
      if (measured)
        lwt_cpu_surface_note_row (&backend->surface, of->part, y, to, scratch);
    }
}

/* Computes and measures those of @n components that are wanted, row by row,
 * so that shared operands are read once. */
static void
put_parts (LwtBackend *backend, LwtJob *job, const PartOf *parts, guint n)
{
  const LwtConfig *config = &backend->plan->config;
  PartWork work = { backend, job, n, parts, 0 };
  gboolean makes = FALSE;

  for (guint i = 0; i < n; i++) {
    makes |= lwt_job_makes (job, parts[i].part);
    if (lwt_job_measures (config, job, parts[i].part))
      work.measured |= 1u << parts[i].part;
  }
  if (makes)
    lwt_cpu_rows_run (
        &backend->threads, config->height, config->width, do_parts, &work);
  if (work.measured != 0)
    lwt_cpu_surface_measure (
        &backend->surface, job, work.measured, TRUE, measured_row, &work);
}

/* Whether the samples can be transformed in place. */
static gboolean
is_plain_plan (const LwtPlan *plan)
{
  static const LwtSample samples[] = { LWT_SAMPLE_F32, LWT_SAMPLE_F64,
    LWT_SAMPLE_I32 };
  const LwtConfig *config = &plan->config;

  return config->sample == samples[config->type]
         && config->f_operation == LWT_F_NONE && config->z_scale == 1.0
         && config->z_offset == 0.0 && plan->pad[0] == 0 && plan->pad[1] == 0;
}

static LwtCpuPlane
plane_of_job (const LwtJob *job)
{
  return (LwtCpuPlane){
    .data = (gpointer) job->data, .stride = job->stride, .step = 1
  };
}

static LwtCpuPlane
plane_of_part (LwtJob *job, CvisSurfacePart part)
{
  return (LwtCpuPlane){
    .data = job->parts[part].data, .stride = job->parts[part].stride, .step = 1
  };
}

static void
put_bands (LwtBackend *backend, LwtJob *job, const LwtCpuPlane *x)
{
  const LwtCpuPlane bands = plane_of_part (job, CVIS_SURFACE_PART_BANDS);

  if (bands.data)
    lwt_cpu_transform_run (
        backend->forward, &backend->threads, x, &bands, NULL);
}

/* --- filter ---------------------------------------------------------------------------- */

/* Whether the synthesis of low band @i is needed; it also serves the later
 * chains that have no further levels. */
static gboolean
is_needed (const LwtBackend *backend, const gboolean needs[N_CHAINS], guint i)
{
  gboolean needed = needs[i];

  if (backend->expand[i] == NULL)
    return FALSE;
  while (++i < N_CHAINS && backend->expand[i] == NULL)
    needed |= needs[i];
  return needed;
}

/* All low bands needed, of @x. @strange: see LwtCpuTask */
static void
reduce (LwtBackend *backend, const gboolean reduces[N_CHAINS],
    const LwtCpuPlane *x, gint *strange)
{
  for (guint i = 0; i < N_CHAINS; i++) {
    if (backend->reduce[i] == NULL || !reduces[i])
      continue;
    lwt_cpu_transform_run (
        backend->reduce[i], &backend->threads, x, &backend->low[i], strange);
    if (strange && *strange)
      return;
    x = &backend->low[i];
    strange = NULL;
  }
}

/* Computes the low bands, directly from the samples if none is missing.
 * Returns: x */
static LwtCpuPlane
load_and_reduce (
    LwtBackend *backend, LwtJob *job, const gboolean reduces[N_CHAINS])
{
  LwtCpuSurface *surface = &backend->surface;
  const LwtCpuPlane x = plane_of_job (job);
  gint strange = TRUE;

  if (is_plain_plan (backend->plan)) {
    for (guint i = 0; i < N_CHAINS; i++)
      if (backend->reduce[i] && reduces[i])
        strange = FALSE;
    if (!strange)
      reduce (backend, reduces, &x, &strange);
  }
  if (!strange) {
    memset (surface->missing, 0,
        surface->words * backend->plan->config.height * sizeof (guint32));
    return x;
  }
  lwt_cpu_surface_load (surface, job);
  reduce (backend, reduces, &surface->x, NULL);
  return surface->x;
}

/* Low bands of filters other than wavelet-decimated. Returns: x */
static LwtCpuPlane
load_and_smooth (LwtBackend *backend, LwtJob *job, gboolean needs[N_CHAINS],
    const LwtCpuPlane *smooth[N_CHAINS])
{
  LwtCpuSurface *surface = &backend->surface;

  /* a low band also serves as the next one if their cut-offs are equal */
  for (guint i = N_CHAINS - 1; i > 0; i--)
    if (backend->smooth[i].data == NULL)
      needs[i - 1] |= needs[i];
  lwt_cpu_surface_load (surface, job);
  for (guint i = 0; i < N_CHAINS; i++) {
    smooth[i] = i > 0 ? smooth[i - 1] : &surface->x;
    if (backend->smooth[i].data == NULL)
      continue;
    smooth[i] = &backend->smooth[i];
    if (needs[i])
      lwt_cpu_smoother_run (backend->smoother, i, surface, job->missing,
          &surface->x, &backend->smooth[i]);
  }
  return surface->x;
}

static LwtCpuPlane
load_and_separate (LwtBackend *backend, LwtJob *job,
    const gboolean needs[N_CHAINS], const gboolean reduces[N_CHAINS],
    const LwtCpuPlane *smooth[N_CHAINS], const LwtCpuPlane *plane)
{
  const LwtCpuPlane x = load_and_reduce (backend, job, reduces);

  for (guint i = 0; i < N_CHAINS; i++) {
    smooth[i] = i > 0 ? smooth[i - 1] : plane;
    if (backend->expand[i])
      smooth[i] = &backend->smooth[i];
    if (is_needed (backend, needs, i))
      lwt_cpu_transform_run (backend->expand[i], &backend->threads,
          &backend->low[i], &backend->smooth[i], NULL);
  }
  return x;
}

static void
run_filter (LwtBackend *backend, LwtJob *job)
{
  const gboolean noise = lwt_job_makes (job, CVIS_SURFACE_PART_NOISE);
  const gboolean roughness = lwt_job_makes (job, CVIS_SURFACE_PART_ROUGHNESS);
  const gboolean waviness = lwt_job_makes (job, CVIS_SURFACE_PART_WAVINESS);
  const gboolean form = lwt_job_makes (job, CVIS_SURFACE_PART_FORM);
  gboolean needs[N_CHAINS] = { noise || roughness, roughness || waviness,
    waviness || form };
  const gboolean reduces[N_CHAINS] = { noise || roughness || waviness || form,
    roughness || waviness || form, waviness || form };
  const LwtCpuPlane *smooth[N_CHAINS];
  LwtCpuPlane x;

  if (backend->smoother)
    x = load_and_smooth (backend, job, needs, smooth);
  else
    x = load_and_separate (backend, job, needs, reduces, smooth, &x);
  if (reduces[0]) {
    const PartOf parts[] = {
      { CVIS_SURFACE_PART_NOISE, { &x, smooth[0] } },
      { CVIS_SURFACE_PART_ROUGHNESS, { smooth[0], smooth[1] } },
      { CVIS_SURFACE_PART_WAVINESS, { smooth[1], smooth[2] } },
      { CVIS_SURFACE_PART_FORM, { smooth[2], NULL } },
    };

    put_parts (backend, job, parts, G_N_ELEMENTS (parts));
  }
  put_bands (backend, job, &x);
}

/* --- denoise --------------------------------------------------------------------------- */

typedef struct {
  LwtBackend *backend;
  guint sx, sy;
  guint width, height; /* of the low band */
  gdouble threshold;
  guint spin;
  guint shift;
  guint64 prefix;
} SpinWork;

static void
do_rotate (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SpinWork *work = user_data;
  const LwtBackend *backend = work->backend;
  const LwtPlan *plan = backend->plan;
  const gsize sx = work->sx % plan->width, size = backend->size;

  for (guint y = first; y < first + count; y++) {
    const guint8 *from =
        lwt_cpu_plane_row (&backend->surface.x, (y + work->sy) % plan->height);
    guint8 *to = lwt_cpu_plane_row (&backend->rotated, y);

    memcpy (to, from + sx * size, (plan->width - sx) * size);
    memcpy (to + (plan->width - sx) * size, from, sx * size);
  }
}

/* Rotates a spin back and adds it to the sum. */
static void
do_add (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SpinWork *work = user_data;
  const LwtBackend *backend = work->backend;
  const LwtPlan *plan = backend->plan;
  const LwtCpuFloats *floats = backend->surface.floats;
  const guint sx = work->sx % plan->width, rest = plan->width - sx;

  for (guint y = first; y < first + count; y++) {
    const guint8 *from = lwt_cpu_plane_row (&backend->back, y);
    guint8 *to =
        lwt_cpu_plane_row (&backend->sum, (y + work->sy) % plan->height);

    if (work->spin == 0) {
      memcpy (to, from, plan->width * backend->size);
      continue;
    }
    floats->add_row (
        to + sx * backend->size, from, rest, to + sx * backend->size);
    floats->add_row (to, from + rest * backend->size, sx, to);
    if (work->spin + 1 == plan->config.spins)
      floats->scale_row (to, plan->width, 1.0 / plan->config.spins);
  }
}

static void
do_shrink (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SpinWork *work = user_data;
  const LwtBackend *backend = work->backend;
  const LwtPlan *plan = backend->plan;

  for (guint y = first; y < first + count; y++) {
    const guint low = y < work->height ? work->width : 0;
    guint8 *row = lwt_cpu_plane_row (&backend->bands, y);

    backend->surface.floats->shrink_row (row + low * backend->size,
        plan->width - low, plan->config.shrink, work->threshold);
  }
}

/* Whether entry @x of the finest band is in a used cell of the row @cells. */
static gboolean
is_used (const LwtFinestAxis *axis, const guint8 *cells, guint x)
{
  const gint cell = lwt_finest_cell (axis, x);

  return cell >= 0 && cells[cell] == LWT_CELL_NOISE;
}

/* Counts the entries of row @y of the finest band that are in used cells. */
static void
count_used_samples (const SpinWork *work, guint y, guint32 *counts)
{
  const LwtBackend *backend = work->backend;
  const LwtFinestAxis *ax = &backend->finest[0], *ay = &backend->finest[1];
  const guint8 *row = lwt_cpu_plane_row (&backend->bands, ay->first + y);
  const gint cell = lwt_finest_cell (ay, y);
  const guint8 *cells = backend->cells + (gsize) MAX (cell, 0) * ax->cells;
  guint x = 0;

  while (cell >= 0 && x < ax->n) {
    guint end = x;

    while (end < ax->n && is_used (ax, cells, end))
      end++;
    backend->surface.floats->count_row (row + (ax->first + x) * backend->size,
        end - x, work->shift, work->prefix, counts);
    for (x = end; x < ax->n && !is_used (ax, cells, x);)
      x++;
  }
}

/* An equal share of the rows for each thread. */
static void
do_count (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const SpinWork *work = user_data;
  const LwtBackend *backend = work->backend;
  const guint64 rows = backend->finest[1].n;
  const guint n = backend->threads.n_threads;

  for (guint i = first; i < first + count; i++) {
    guint32 *counts = backend->counts + (gsize) i * LWT_CPU_COUNTS;

    memset (counts, 0, LWT_CPU_COUNTS * sizeof *counts);
    for (guint y = (guint) (rows * i / n); y < rows * (i + 1) / n; y++)
      count_used_samples (work, y, counts);
  }
}

guint
lwt_cpu_select_digit (const guint32 *counts, guint n, guint64 *rank)
{
  for (guint digit = 0; digit < LWT_CPU_COUNTS; digit++) {
    guint64 count = 0;

    for (guint i = 0; i < n; i++)
      count += counts[(gsize) i * LWT_CPU_COUNTS + digit];
    if (*rank < count)
      return digit;
    *rank -= count;
  }
  g_return_val_if_reached (0);
}

static guint64
sum_counts (const LwtBackend *backend)
{
  guint64 n = 0;

  for (gsize i = 0; i < (gsize) backend->threads.n_threads * LWT_CPU_COUNTS;
       i++)
    n += backend->counts[i];
  return n;
}

/* Magnitudes sort like their bit patterns: the median is found 16 bits at a
 * time. Returns: 0 if no entry is used */
static gdouble
find_median (LwtBackend *backend, SpinWork *work)
{
  guint64 rank = 0;

  work->prefix = 0;
  for (gint shift = (gint) (8 * backend->size) - 16; shift >= 0; shift -= 16) {
    work->shift = (guint) shift;
    lwt_cpu_threads_run (
        &backend->threads, backend->threads.n_threads, 1, do_count, work);
    if (shift == (gint) (8 * backend->size) - 16) {
      const guint64 n = sum_counts (backend);

      if (n == 0)
        return 0.0;
      rank = (n - 1) / 2;
    }
    work->prefix = work->prefix << 16
                   | lwt_cpu_select_digit (
                       backend->counts, backend->threads.n_threads, &rank);
  }
  return backend->surface.floats->from_magnitude (work->prefix);
}

/* sigma, the estimate of the noise, is median |w| / 0.6745 of the finest coefficients. */
static gdouble
find_threshold (LwtBackend *backend, const LwtJob *job, SpinWork *work)
{
  const LwtPlan *plan = backend->plan;
  const LwtConfig *config = &plan->config;
  const LwtLevel *level = &plan->bands.levels[0];
  guint64 samples;

  if (config->threshold > 0.0)
    return config->threshold;
  if (!level->x && !level->y)
    return 0.0;
  samples = lwt_cpu_find_cells (
      &backend->surface, job, backend->finest, backend->cells);
  return find_median (backend, work) / 0.6745
         * lwt_universal_factor (samples, config->threshold_scale);
}

static void
run_spin (LwtBackend *backend, LwtJob *job, guint spin)
{
  const LwtPlan *plan = backend->plan;
  const LwtLevel *lowest = &plan->bands.levels[plan->bands.n - 1];
  const LwtCpuPlane *x = &backend->surface.x;
  SpinWork work = { .backend = backend, .spin = spin };

  work.sx = (spin & 1) | (spin >> 1 & 2);
  work.sy = (spin >> 1 & 1) | (spin >> 2 & 2);
  work.width = lowest->low_width;
  work.height = lowest->low_height;
  if (spin > 0) {
    lwt_cpu_rows_run (
        &backend->threads, plan->height, plan->width, do_rotate, &work);
    x = &backend->rotated;
  }
  lwt_cpu_transform_run (
      backend->forward, &backend->threads, x, &backend->bands, NULL);
  if (spin == 0)
    job->threshold = find_threshold (backend, job, &work);
  work.threshold = job->threshold;
  lwt_cpu_rows_run (
      &backend->threads, plan->height, plan->width, do_shrink, &work);
  if (plan->config.spins == 1) {
    lwt_cpu_transform_run (backend->inverse, &backend->threads, &backend->bands,
        &backend->sum, NULL);
    return;
  }
  lwt_cpu_transform_run (backend->inverse, &backend->threads, &backend->bands,
      &backend->back, NULL);
  lwt_cpu_rows_run (
      &backend->threads, plan->height, plan->width, do_add, &work);
}

static void
run_denoise (LwtBackend *backend, LwtJob *job)
{
  const LwtCpuPlane *sum = &backend->sum;
  const PartOf parts[] = {
    { CVIS_SURFACE_PART_NOISE, { &backend->surface.x, sum } },
    { CVIS_SURFACE_PART_MEASURED, { sum, NULL } },
  };

  lwt_cpu_surface_load (&backend->surface, job);
  for (guint i = 0; i < backend->plan->config.spins; i++)
    run_spin (backend, job, i);
  put_parts (backend, job, parts, G_N_ELEMENTS (parts));
}

/* --- forward and inverse ------------------------------------------------------------------ */

typedef struct {
  LwtBackend *backend;
  LwtJob *job;
} JobWork;

static void
run_forward (LwtBackend *backend, LwtJob *job)
{
  const LwtPlan *plan = backend->plan;
  const LwtCpuPlane bands = plane_of_part (job, CVIS_SURFACE_PART_BANDS);

  if (is_plain_plan (plan) && bands.data) {
    const LwtCpuPlane plane = plane_of_job (job);
    gint strange = FALSE;

    lwt_cpu_transform_run (
        backend->forward, &backend->threads, &plane, &bands, &strange);
    if (!strange)
      return;
  }
  if (plan->config.type == LWT_TYPE_I32) {
    lwt_cpu_load_integers (&backend->threads, plan, job, &backend->picture);
    put_bands (backend, job, &backend->picture);
    return;
  }
  lwt_cpu_surface_load (&backend->surface, job);
  put_bands (backend, job, &backend->surface.x);
}

static void
do_crop (guint first, guint count, LwtCpuScratch *scratch, gpointer user_data)
{
  const JobWork *work = user_data;
  const LwtBackend *backend = work->backend;
  const LwtPlan *plan = backend->plan;
  const LwtPlane *part = &work->job->parts[CVIS_SURFACE_PART_MEASURED];
  const LwtCpuPlane inside = lwt_cpu_plane_at (
      &backend->picture, backend->size, plan->pad[0], plan->pad[1]);

  for (guint y = first; y < first + count; y++)
    memcpy ((guint8 *) part->data + y * part->stride,
        lwt_cpu_plane_row (&inside, y), plan->config.width * backend->size);
}

/* See LwtCpuMakeRow. @user_data: the plane inside the padding */
static gconstpointer
inverse_row (
    gconstpointer user_data, CvisSurfacePart part, guint y, gpointer to)
{
  return lwt_cpu_plane_row (user_data, y);
}

static void
run_inverse (LwtBackend *backend, LwtJob *job)
{
  const LwtPlan *plan = backend->plan;
  const LwtConfig *config = &plan->config;
  const LwtCpuPlane bands = plane_of_job (job);
  LwtCpuPlane to = plane_of_part (job, CVIS_SURFACE_PART_MEASURED);
  const gboolean leaves = to.data != NULL;
  const gboolean direct = leaves && plan->pad[0] + plan->pad[1] == 0;
  JobWork work = { backend, job };

  if (!lwt_job_makes (job, CVIS_SURFACE_PART_MEASURED))
    return;
  if (!direct)
    to = backend->picture;
  lwt_cpu_transform_run (
      backend->inverse, &backend->threads, &bands, &to, NULL);
  if (leaves && !direct)
    lwt_cpu_rows_run (
        &backend->threads, config->height, config->width, do_crop, &work);
  to = lwt_cpu_plane_at (&to, backend->size, plan->pad[0], plan->pad[1]);
  if (lwt_job_measures (config, job, CVIS_SURFACE_PART_MEASURED))
    lwt_cpu_surface_measure (&backend->surface, job,
        1u << CVIS_SURFACE_PART_MEASURED, FALSE, inverse_row, &to);
}

/* --- the backend ------------------------------------------------------------------------- */

static gboolean
cpu_submit (LwtBackend *backend, guint slot, LwtJob *job, GError **error)
{
  backend->jobs[slot] = job;
  return TRUE;
}

static gboolean
lifting_cpu_wait (LwtBackend *backend, guint slot, GError **error)
{
  static void (*const runs[]) (LwtBackend *, LwtJob *) = { run_filter,
    run_forward, run_inverse, run_denoise };

  runs[backend->plan->config.operation](backend, backend->jobs[slot]);
  return TRUE;
}

/* For a CPU that poses as a device: the input and the components of jobs in flight, and four
 * pictures to compute in. */
static gboolean
estimate_memory (const LwtPlan *plan, CvisContext *context, gsize *needed,
    gsize *limit, GError **error)
{
  const LwtConfig *config = &plan->config;
  const gsize samples = (gsize) plan->width * plan->height;
  const gsize size = lwt_type_get_size (config->type);
  gsize job = lwt_sample_get_size (config->sample);

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    job += config->parts & (1u << i) ? size : 0;
  *needed = samples * (config->depth_in_flight * job + 4 * size);
  *limit = config->device_memory > 0 ? config->device_memory : G_MAXSIZE;
  return TRUE;
}

const LwtBackendOps lwt_backend_cpu = { .name = "cpu",
  .create = lifting_cpu_create,
  .destroy = lifting_cpu_destroy,
  .submit = cpu_submit,
  .wait = lifting_cpu_wait,
  .get_memory = estimate_memory };
