/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend: frames are copied as they come, and wait() filters, all rows of a
 * pass in parallel, since none depends on another. */
#include <string.h>

#include "cuda/core/error.h"
#include "cuda/core/threadpool.h"
#include "cuda/denoise/backend.h"
#include "cuda/denoise/cpu/cpu.h"
#include "cuda/denoise/staging.h"

/* Rows that a thread takes at once: of samples, of blocks and cells, of patches. Every
 * second strip of patches is filtered at a time: they touch different rows. */
#define SAMPLE_ROWS 32
#define BLOCK_ROWS 2
#define PATCH_ROWS 8

/* A frame at its place.
 * @in: its components in host memory; @staging: for those of a frame on a device
 * @half: component 0 at half the size, 8 bits, for the motion
 * @counted: squares whose noise counts
 * @noise: from the picture, 1/16 levels; @match_noise: from the matches; -1: none
 * @cut: by direction, whether the frame before or after shows another scene
 * @matches: in the frames before and after */
typedef struct {
  DenoiseCpuPlane planes[3];
  DenoisePlane in[3];
  DenoiseStaging staging;
  guint8 *half;
  gboolean prepared;
  guint8 *counted;
  gint32 noise[3], match_noise[3];
  gboolean cut[2];
  DenoiseMatch *matches[2];
  MotionJob motion;
} Picture;

struct _DenoiseBackend {
  DenoiseConfig config;
  const DenoiseCpuKernels *kernels;
  DenoiseShape shapes[3];
  guint n_components; /* that are denoised */
  gint32 cells_across, cells_down, squares_across, squares_down;
  gint32 half_width, half_height;
  CvisPool *pool;
  MotionEngine *motion;
  MotionConfig motion_config;
  Picture *pictures;
  guint n_pictures;
  guint64 next;       /* to be analysed */
  DenoiseTask *tasks; /* of each slot */
  /* --- of the frame that is filtered --- */
  DenoiseMatch *matches[2][DENOISE_MAX_RADIUS]; /* from distance 2 on */
  DenoiseCpuPlane mean[3], pilot, result;
  guint16 *left[3];
  gint32 *sums, *weights;
  gint32 *squares;
  DenoiseStaging out; /* for a frame on a device */
  /* --- with DENOISE_MODE_RECURSIVE: the result for the frame before --- */
  DenoiseCpuPlane recent[3];
  guint16 *recent_left[3];
  gint32 recent_noise[3];
};

/* A pass over rows */
typedef struct {
  DenoiseBackend *backend;
  Picture *picture;
  guint component;
  gint32 width, parity, rows;
  const DenoiseCpuPlane *from, *into;
  const DenoiseCpuSearch *search;
  const DenoiseCpuMean *mean;
  const DenoiseCpuSpatial *spatial;
  void (*patches) (const DenoiseCpuSpatial *spatial, gint32 first, gint32 n);
  DenoisePlane in, out;
  gint32 shift, bits, removed;
} Pass;

/* --- memory ---------------------------------------------------------------------- */

static gboolean
alloc_plane (
    DenoiseCpuPlane *plane, const DenoiseShape *shape, guint n, GError **error)
{
  const gsize stride =
      ((gsize) shape->width + 2 * DENOISE_BORDER + 31) / 32 * 32;
  const gsize size = stride * ((gsize) shape->height + 2 * DENOISE_BORDER) + 64;
  guint16 *memory = g_try_malloc0_n (size, n * sizeof *memory);

  if (memory == NULL) {
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for planes of %dx%d samples", shape->width, shape->height);
    return FALSE;
  }
  plane->memory = memory;
  plane->stride = (gssize) stride;
  for (guint i = 0; i < n; i++)
    plane->samples[i] =
        memory + i * size + DENOISE_BORDER * stride + DENOISE_BORDER;
  return TRUE;
}

static void
free_picture (Picture *picture)
{
  for (guint c = 0; c < 3; c++) {
    g_free (picture->planes[c].memory);
    g_free (picture->staging.components[c]);
  }
  for (guint d = 0; d < 2; d++) {
    g_free (picture->matches[d]);
    g_free (picture->motion.fields[d].vectors);
    g_free (picture->motion.fields[d].blocks);
  }
  g_free (picture->half);
  g_free (picture->counted);
}

static void
denoise_cpu_destroy (DenoiseBackend *backend)
{
  MotionJob *job;

  if (backend->motion != NULL) {
    motion_engine_end (backend->motion);
    do
      motion_engine_wait (backend->motion, &job, NULL);
    while (job != NULL);
    motion_engine_free (backend->motion);
  }
  cvis_pool_free (backend->pool);
  for (guint i = 0; i < backend->n_pictures; i++)
    free_picture (&backend->pictures[i]);
  for (guint d = 0; d < 2; d++)
    for (guint i = 0; i < DENOISE_MAX_RADIUS; i++)
      g_free (backend->matches[d][i]);
  for (guint c = 0; c < 3; c++) {
    g_free (backend->mean[c].memory);
    g_free (backend->recent[c].memory);
    g_free (backend->left[c]);
    g_free (backend->recent_left[c]);
    g_free (backend->out.components[c]);
  }
  g_free (backend->pilot.memory);
  g_free (backend->result.memory);
  g_free (backend->sums);
  g_free (backend->squares);
  g_free (backend->pictures);
  g_free (backend->tasks);
  g_free (backend);
}

static gsize
count_blocks (const DenoiseBackend *backend)
{
  return ((gsize) backend->cells_across + 1)
         * ((gsize) backend->cells_down + 1);
}

static gboolean
make_picture (DenoiseBackend *backend, Picture *picture, GError **error)
{
  const guint n = backend->motion != NULL ? 4 : 1;

  for (guint c = 0; c < backend->n_components; c++)
    if (!alloc_plane (&picture->planes[c], &backend->shapes[c], n, error))
      return FALSE;
  picture->counted = g_new0 (guint8,
      (gsize) backend->squares_across * (gsize) backend->squares_down + 1);
  if (backend->motion == NULL)
    return TRUE;
  picture->half = g_new (
      guint8, (gsize) backend->half_width * (gsize) backend->half_height);
  for (guint d = 0; d < motion_config_get_n_fields (&backend->motion_config);
       d++) {
    const gsize blocks =
        (gsize) motion_config_get_columns (&backend->motion_config)
        * motion_config_get_rows (&backend->motion_config);

    picture->matches[d] = g_new0 (DenoiseMatch, count_blocks (backend));
    picture->motion.fields[d].vectors = g_new0 (CvisMotionVector, blocks);
    picture->motion.fields[d].blocks = g_new0 (CvisMotionBlock, blocks);
  }
  return TRUE;
}

static gboolean
make_motion (DenoiseBackend *backend, GError **error)
{
  MotionConfig *motion = &backend->motion_config;

  denoise_config_get_motion (&backend->config, motion);
  backend->motion = motion_engine_new (motion, NULL, error);
  return backend->motion != NULL;
}

/* Memory of the frame that is filtered */
static gboolean
make_scratch (DenoiseBackend *backend, GError **error)
{
  const gsize cells =
      (gsize) backend->cells_across * (gsize) backend->cells_down;
  const gboolean recursive = backend->config.mode == DENOISE_MODE_RECURSIVE;

  for (guint c = 0; c < backend->n_components; c++) {
    if (!alloc_plane (&backend->mean[c], &backend->shapes[c], 1, error)
        || (recursive
            && !alloc_plane (
                &backend->recent[c], &backend->shapes[c], 4, error)))
      return FALSE;
    backend->left[c] = g_new0 (guint16, cells);
    backend->recent_left[c] = g_new0 (guint16, cells);
  }
  for (guint d = 0; d < 2; d++)
    for (guint i = 2; i <= denoise_config_get_after (&backend->config); i++)
      backend->matches[d][i - 1] =
          g_new0 (DenoiseMatch, count_blocks (backend));
  if (!alloc_plane (&backend->pilot, &backend->shapes[0], 1, error)
      || !alloc_plane (&backend->result, &backend->shapes[0], 1, error))
    return FALSE;
  backend->sums = g_try_malloc_n (
      (gsize) backend->pilot.stride
          * ((gsize) MAX (backend->shapes[0].height, DENOISE_PATCH) + 16),
      2 * sizeof *backend->sums);
  if (backend->sums == NULL)
    g_set_error_literal (
        error, CVIS_ERROR, CVIS_ERROR_MEMORY, "no memory for sums");
  return backend->sums != NULL;
}

static DenoiseBackend *
denoise_cpu_create (
    const DenoiseConfig *config, CvisContext *context, GError **error)
{
  DenoiseBackend *backend = g_new0 (DenoiseBackend, 1);

  backend->config = *config;
  backend->kernels = CVIS_CPU_CHOOSE (denoise_cpu_kernels);
  backend->pool = cvis_pool_new (config->threads);
  backend->n_components = config->luma_only ? 1 : config->n_components;
  for (guint c = 0; c < 3; c++)
    backend->shapes[c] = denoise_shape (config, c);
  backend->cells_across = denoise_cells (config->width);
  backend->cells_down = denoise_cells (config->height);
  backend->squares_across = (gint32) config->width / DENOISE_SQUARE;
  backend->squares_down = (gint32) config->height / DENOISE_SQUARE;
  backend->squares = g_new (gint32,
      (gsize) backend->squares_across * (gsize) backend->squares_down + 1);
  backend->half_width = ((gint32) config->width + 1) / 2;
  backend->half_height = ((gint32) config->height + 1) / 2;
  backend->tasks = g_new0 (DenoiseTask, denoise_config_get_n_slots (config));
  backend->n_pictures = denoise_config_get_n_pictures (config);
  backend->pictures = g_new0 (Picture, backend->n_pictures);
  if ((config->mode != DENOISE_MODE_SPATIAL && !make_motion (backend, error))
      || !make_scratch (backend, error)) {
    denoise_cpu_destroy (backend);
    return NULL;
  }
  for (guint i = 0; i < backend->n_pictures; i++)
    if (!make_picture (backend, &backend->pictures[i], error)) {
      denoise_cpu_destroy (backend);
      return NULL;
    }
  return backend;
}

static Picture *
get_picture (DenoiseBackend *backend, guint64 number)
{
  return &backend->pictures[number % backend->n_pictures];
}

/* --- a frame arrives --------------------------------------------------------------- */

static inline guint32
get_input (
    const DenoisePlane *plane, gint32 shift, gint32 bits, gint32 x, gint32 y)
{
  const guint8 *row = plane->data + (gsize) y * plane->stride;

  return bits == 8 ? row[(gsize) x * plane->step]
                   : (guint32) ((const guint16 *) (gconstpointer)
                             row)[(gsize) x * plane->step]
                         >> shift;
}

/* Repeats the edge of @plane round it. */
static void
extend_plane (const DenoiseCpuPlane *plane, const DenoiseShape *shape)
{
  const gsize row_bytes = (gsize) plane->stride * sizeof (guint16);
  guint16 *first = plane->samples[0] - DENOISE_BORDER;
  guint16 *last = first + (gssize) (shape->height - 1) * plane->stride;

  for (gint32 y = 0; y < shape->height; y++) {
    guint16 *row = plane->samples[0] + y * plane->stride;
    const gssize end = plane->stride - DENOISE_BORDER;

    for (gssize x = -DENOISE_BORDER; x < 0; x++)
      row[x] = row[0];
    for (gssize x = shape->width; x < end; x++)
      row[x] = row[shape->width - 1];
  }
  for (gint32 i = 1; i <= DENOISE_BORDER; i++) {
    memcpy (first - i * plane->stride, first, row_bytes);
    memcpy (last + i * plane->stride, last, row_bytes);
  }
}

static void
load_component (DenoiseBackend *backend, Picture *picture,
    const DenoiseJob *job, guint component)
{
  const DenoiseShape *shape = &backend->shapes[component];
  const DenoiseCpuPlane *plane = &picture->planes[component];
  const gint32 bits = (gint32) backend->config.depth;

  for (gint32 y = 0; y < shape->height; y++) {
    guint16 *row = plane->samples[0] + y * plane->stride;

    for (gint32 x = 0; x < shape->width; x++)
      row[x] = (guint16) denoise_from_sample (
          get_input (&picture->in[component], (gint32) job->shift, bits, x, y),
          bits);
  }
  extend_plane (plane, shape);
}

/* Component 0 at half the size */
static void
reduce_luma (const DenoiseBackend *backend, const Picture *picture)
{
  const gssize stride = picture->planes[0].stride;

  for (gint32 y = 0; y < backend->half_height; y++) {
    const guint16 *p = picture->planes[0].samples[0] + 2 * y * stride;
    guint8 *half = picture->half + (gsize) y * (gsize) backend->half_width;

    for (gint32 x = 0; x < backend->half_width; x++)
      half[x] = (guint8) MIN ((p[2 * x] + p[2 * x + 1] + p[2 * x + stride]
                                  + p[2 * x + 1 + stride] + 8)
                                  >> 4,
          255);
  }
}

static gboolean
make_staging (
    const DenoiseConfig *config, DenoiseStaging *staging, GError **error)
{
  for (guint c = 0; c < config->n_components; c++) {
    const gsize size = denoise_staging_get_size (config, c);

    staging->pitch[c] = denoise_staging_get_pitch (config, c);
    if (staging->components[c] == NULL)
      staging->components[c] = g_try_malloc (size);
    if (staging->components[c] == NULL) {
      g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
          "no memory for a copy of %" G_GSIZE_FORMAT " bytes", size);
      return FALSE;
    }
  }
  return TRUE;
}

/* Finds the components of @job's frame in host memory. A frame of a device, which another
 * engine did not denoise because its device is lost, is copied. */
static gboolean
find_input (DenoiseBackend *backend, Picture *picture, const DenoiseJob *job,
    GError **error)
{
  const DenoiseConfig *config = &backend->config;

  if (job->on_device && job->context == NULL)
    return cvis_refuse (error, "the frame is on a device, and the engine is "
                               "not: its context is needed");
  if (job->on_device
      && (!make_staging (config, &picture->staging, error)
          || !denoise_staging_copy_in (
              &picture->staging, config, NULL, job, error)))
    return FALSE;
  for (guint c = 0; c < config->n_components; c++)
    picture->in[c] = job->on_device ? denoise_staging_get_plane (
                         &picture->staging, job->in, c)
                                    : job->in[c];
  return TRUE;
}

static gboolean
denoise_cpu_load (
    DenoiseBackend *backend, guint64 number, DenoiseJob *job, GError **error)
{
  Picture *picture = get_picture (backend, number);

  if (!find_input (backend, picture, job, error))
    return FALSE;
  for (guint c = 0; c < backend->n_components; c++)
    load_component (backend, picture, job, c);
  picture->prepared = FALSE;
  if (backend->motion != NULL)
    reduce_luma (backend, picture);
  return TRUE;
}

static gboolean
denoise_cpu_follow (DenoiseBackend *backend, guint64 number,
    gboolean as_reference, GError **error)
{
  MotionJob *motion = &get_picture (backend, number)->motion;

  if (backend->motion == NULL)
    return TRUE;
  motion->luma = get_picture (backend, number)->half;
  motion->stride = (gsize) backend->half_width;
  return as_reference ? motion_engine_load (backend->motion, motion, error)
                      : motion_engine_submit (backend->motion, motion, error);
}

static void
denoise_cpu_end (DenoiseBackend *backend)
{
  if (backend->motion != NULL)
    motion_engine_end (backend->motion);
}

/* --- a frame alone: samples between the pixels, noise ------------------------------- */

static void
do_halves (guint first, guint count, gpointer user_data)
{
  const Pass *pass = user_data;

  pass->backend->kernels->halves (
      pass->from, pass->width, (gint32) first, (gint32) count);
}

static void
prepare_halves (DenoiseBackend *backend, const DenoiseCpuPlane planes[3])
{
  for (guint c = 0; c < backend->n_components; c++) {
    Pass pass = {
      .backend = backend, .from = &planes[c], .width = backend->shapes[c].width
    };

    cvis_pool_run (backend->pool,
        (guint) backend->shapes[c].height + 2 * (DENOISE_REACH + 4),
        SAMPLE_ROWS, do_halves, &pass);
  }
}

/* Noise of a square of @plane, -1 if it does not count: it has clipped samples, or is
 * constant. */
static gint32
measure_square (const DenoiseCpuPlane *plane, gint32 x, gint32 y, gint32 white)
{
  const gssize s = plane->stride;
  const guint16 *p = plane->samples[0] + y * s + x;
  gint32 least = DENOISE_MAX_SAMPLE, most = 0, sum = 0;

  for (gint32 j = 0; j < DENOISE_SQUARE; j++)
    for (gint32 i = 0; i < DENOISE_SQUARE; i++) {
      least = MIN (least, p[j * s + i]);
      most = MAX (most, p[j * s + i]);
    }
  if (least == most || least == 0 || most >= white)
    return -1;
  for (gint32 j = 1; j < DENOISE_SQUARE - 1; j++)
    for (gint32 i = 1; i < DENOISE_SQUARE - 1; i++) {
      const guint16 *q = p + j * s + i;

      sum += ABS (q[-s - 1] - 2 * q[-s] + q[-s + 1] - 2 * q[-1] + 4 * q[0]
                  - 2 * q[1] + q[s - 1] - 2 * q[s] + q[s + 1]);
    }
  return denoise_noise_of_square (sum);
}

static void
do_squares (guint first, guint count, gpointer user_data)
{
  const Pass *pass = user_data;
  DenoiseBackend *backend = pass->backend;
  const DenoiseShape *shape = &backend->shapes[pass->component];
  const gint32 across = shape->width / DENOISE_SQUARE;
  const gint32 white = backend->config.depth == 8 ? 1020 : DENOISE_MAX_SAMPLE;

  for (gint32 row = (gint32) first; row < (gint32) (first + count); row++)
    for (gint32 column = 0; column < across; column++)
      backend->squares[row * across + column] = measure_square (
          pass->from, column * DENOISE_SQUARE, row * DENOISE_SQUARE, white);
}

static void
measure_noise (DenoiseBackend *backend, Picture *picture, guint component)
{
  const DenoiseShape *shape = &backend->shapes[component];
  const gint32 n =
      shape->width / DENOISE_SQUARE * (shape->height / DENOISE_SQUARE);
  guint32 counts[DENOISE_NOISE_MAX + 1] = { 0 };
  Pass pass = { .backend = backend,
    .component = component,
    .from = &picture->planes[component] };

  cvis_pool_run (backend->pool, (guint) (shape->height / DENOISE_SQUARE), 2,
      do_squares, &pass);
  for (gint32 i = 0; i < n; i++) {
    if (backend->squares[i] >= 0)
      counts[backend->squares[i]]++;
    if (component == 0)
      picture->counted[i] = backend->squares[i] >= 0;
  }
  picture->noise[component] = denoise_noise_of_counts (counts, TRUE);
}

static void
prepare_picture (DenoiseBackend *backend, Picture *picture)
{
  if (picture->prepared)
    return;
  picture->prepared = TRUE;
  for (guint c = 0; c < backend->n_components; c++)
    measure_noise (backend, picture, c);
  if (backend->motion != NULL && backend->config.mode != DENOISE_MODE_RECURSIVE)
    prepare_halves (backend, picture->planes);
}

/* --- a frame and its neighbours ------------------------------------------------------ */

static void
do_search (guint first, guint count, gpointer user_data)
{
  const Pass *pass = user_data;

  pass->backend->kernels->search (pass->search, (gint32) first, (gint32) count);
}

/* Finds the blocks of @picture in @reference. @field: the frame and index of the field
 * that leads there */
static void
search_picture (DenoiseBackend *backend, const Picture *picture,
    const DenoiseCpuPlane *reference, const Picture *field, guint index,
    const DenoiseMatch *from, DenoiseMatch *into)
{
  const DenoiseCpuSearch search = {
    .shapes = backend->shapes,
    .current = picture->planes,
    .reference = reference,
    .vectors = field->motion.fields[index].vectors,
    .blocks = field->motion.fields[index].blocks,
    .columns = (gint32) motion_config_get_columns (&backend->motion_config),
    .rows = (gint32) motion_config_get_rows (&backend->motion_config),
    .from = from,
    .blocks_across = backend->cells_across + 1,
    .noise = picture->noise[0],
    .n_components = (gint32) backend->n_components,
    .into = into,
  };
  Pass pass = { .backend = backend, .search = &search };

  cvis_pool_run (backend->pool, (guint) backend->cells_down + 1, BLOCK_ROWS,
      do_search, &pass);
}

/* The field of the frame's job that leads to the frame before (0) or after (1). */
static gint
find_field_of (const Picture *picture, guint direction)
{
  for (guint i = 0; i < picture->motion.n_fields; i++)
    if (picture->motion.fields[i].distance == (direction == 0 ? -1 : 1))
      return (gint) i;
  return -1;
}

/* The match of the block that is the square (@column, @row). */
static const DenoiseMatch *
get_square_match (const DenoiseBackend *backend, const DenoiseMatch *matches,
    gint32 column, gint32 row)
{
  return &matches[(2 * row + 1) * (backend->cells_across + 1) + 2 * column + 1];
}

/* Variance of the noise of a reference where it matches a square, 1/256. @left: (nullable) */
static gint32
get_square_left (const DenoiseBackend *backend, const guint16 *left,
    gint32 column, gint32 row, const DenoiseMatch *m)
{
  const gint32 half = DENOISE_SQUARE / 2;
  const gint32 x = denoise_cell_at (
      column * DENOISE_SQUARE + half, m->x, backend->cells_across);
  const gint32 y =
      denoise_cell_at (row * DENOISE_SQUARE + half, m->y, backend->cells_down);

  return left != NULL ? left[y * backend->cells_across + x] : 256;
}

/* Counts the noise of the matches in one direction, and whether they are matches. Equal
 * samples are those of a repeated frame, and say nothing about noise.
 * @left: (nullable): of the reference */
static void
measure_matches (DenoiseBackend *backend, Picture *picture, guint direction,
    const guint16 *left, guint32 counts[3][DENOISE_NOISE_MAX + 1])
{
  guint32 n = 0, bad = 0;

  for (gint32 row = 0; row < backend->squares_down; row++)
    for (gint32 column = 0; column < backend->squares_across; column++) {
      const DenoiseMatch *m =
          get_square_match (backend, picture->matches[direction], column, row);
      const guint32 ssd = m->cells[0] + m->cells[1] + m->cells[2] + m->cells[3];

      if (!picture->counted[row * backend->squares_across + column])
        continue;
      n++;
      bad += ssd / 16 > denoise_no_match (picture->noise[0],
                 get_square_left (backend, left, column, row, m));
      if (ssd > 0)
        counts[0][denoise_noise_of_match (
            ssd, 256, denoise_gain (m->x & 3, m->y & 3))]++;
      for (guint c = 1; c < backend->n_components; c++) {
        const DenoiseShape *s = &backend->shapes[c];

        if (m->chroma[c - 1] > 0)
          counts[c][denoise_noise_of_match (m->chroma[c - 1],
              256 >> (s->sub_x + s->sub_y),
              denoise_gain (denoise_subsample (m->x, s->sub_x) & 3,
                  denoise_subsample (m->y, s->sub_y) & 3))]++;
      }
    }
  picture->cut[direction] = denoise_is_cut (n, bad);
}

/* Finds the blocks of frame @number in its neighbours, which gives its noise and whether
 * they show the same scene. */
static void
analyse_picture (DenoiseBackend *backend, guint64 number)
{
  Picture *picture = get_picture (backend, number);
  guint32 counts[3][DENOISE_NOISE_MAX + 1] = { { 0 } };

  prepare_picture (backend, picture);
  for (guint d = 0; d < 2; d++) {
    Picture *other = get_picture (backend, d == 0 ? number - 1 : number + 1);
    const gint field = find_field_of (picture, d);

    picture->cut[d] = FALSE;
    if (field < 0)
      continue;
    prepare_picture (backend, other);
    search_picture (backend, picture, other->planes, picture, (guint) field,
        NULL, picture->matches[d]);
    measure_matches (backend, picture, d, NULL, counts);
  }
  for (guint c = 0; c < backend->n_components; c++) {
    guint32 n = 0;

    for (gint32 i = 0; i <= DENOISE_NOISE_MAX; i++)
      n += counts[c][i];
    picture->match_noise[c] =
        n > 0 ? denoise_noise_of_counts (counts[c], FALSE) : -1;
  }
}

/* Has the motion of all frames from @first up to @last, and with a window their
 * neighbours. */
static gboolean
analyse_until (
    DenoiseBackend *backend, guint64 first, guint64 last, GError **error)
{
  backend->next = MAX (backend->next, first);
  for (; backend->next <= last; backend->next++) {
    MotionJob *job;

    if (!motion_engine_wait (backend->motion, &job, error)) {
      backend->next++;
      return FALSE;
    }
    if (backend->config.mode != DENOISE_MODE_RECURSIVE)
      analyse_picture (backend, backend->next);
  }
  return TRUE;
}

/* --- the mean over time --------------------------------------------------------------- */

static void
do_mean (guint first, guint count, gpointer user_data)
{
  const Pass *pass = user_data;

  pass->backend->kernels->mean (pass->mean, (gint32) first, (gint32) count);
}

/* @mean: with the references; makes the mean of each component. */
static void
average_picture (DenoiseBackend *backend, const Picture *picture,
    const gint32 noise[3], DenoiseCpuMean *mean)
{
  for (guint c = 0; c < 3; c++) {
    mean->noise[c] = denoise_config_scale_noise (&backend->config, noise[c]);
    mean->steady_noise[c] =
        denoise_config_scale_steady_noise (&backend->config, noise[c]);
  }
  mean->shapes = backend->shapes;
  mean->current = picture->planes;
  mean->cells_across = backend->cells_across;
  mean->cells_down = backend->cells_down;
  for (guint c = 0; c < backend->n_components; c++) {
    Pass pass = { .backend = backend, .mean = mean };

    mean->component = c;
    mean->into = backend->mean[c];
    mean->left = backend->left[c];
    cvis_pool_run (
        backend->pool, (guint) backend->cells_down, BLOCK_ROWS, do_mean, &pass);
  }
}

/* Frames before or after frame @number, of at most @n, that show the same scene. */
static guint
count_references (
    DenoiseBackend *backend, guint64 number, guint direction, guint n)
{
  for (guint i = 0; i < n; i++) {
    const guint64 at = direction == 0 ? number - i : number + i;

    if (get_picture (backend, at)->cut[direction])
      return i;
  }
  return n;
}

/* The noise of frame @number: the mean of the estimates of the frames that it is
 * averaged with, @before and @after; from the pictures or from the matches, whichever
 * is less. */
static void
find_noise (DenoiseBackend *backend, guint64 number, guint before, guint after,
    gint32 noise[3])
{
  const gint64 radius = backend->config.radius;

  for (guint c = 0; c < backend->n_components; c++) {
    gint32 sum = 0, n = 0, match_sum = 0, matches = 0;

    for (gint64 i = -(gint64) before; i <= (gint64) after; i++) {
      const Picture *picture = get_picture (backend, number + (guint64) i);

      sum += picture->noise[c];
      n++;
      /* its neighbours are among the frames that a result may depend on */
      if ((i == 0 || (i > -radius && i < radius))
          && picture->match_noise[c] >= 0) {
        match_sum += picture->match_noise[c];
        matches++;
      }
    }
    noise[c] = (sum + n / 2) / n;
    if (matches > 0)
      noise[c] = MIN (noise[c], (match_sum + matches / 2) / matches);
  }
}

/* Sets @noise to that of the configuration, if it has one. */
static void
override_noise (const DenoiseConfig *config, gint32 noise[3])
{
  if (config->sigma > 0)
    for (guint c = 0; c < 3; c++)
      noise[c] = (gint32) (config->sigma * 16.0 + 0.5);
}

/* The mean of the frames within the radius. */
static void
average_window (
    DenoiseBackend *backend, const DenoiseTask *task, gint32 noise[3])
{
  const guint64 number = task->number;
  Picture *picture = get_picture (backend, number);
  const guint counts[2] = {
    count_references (backend, number, 0, task->before),
    count_references (backend, number, 1, task->after),
  };
  DenoiseCpuMean mean = { .n_references = 0 };

  find_noise (backend, number, counts[0], counts[1], noise);
  override_noise (&backend->config, noise);
  for (guint d = 0; d < 2; d++) {
    const DenoiseMatch *from = picture->matches[d];

    for (guint i = 1; i <= counts[d]; i++) {
      const guint64 at = d == 0 ? number - i : number + i;
      Picture *other = get_picture (backend, at);

      if (i > 1) {
        Picture *chain = get_picture (backend, d == 0 ? at + 1 : at - 1);

        prepare_picture (backend, other);
        search_picture (backend, picture, other->planes, chain,
            (guint) find_field_of (chain, d), from, backend->matches[d][i - 1]);
        from = backend->matches[d][i - 1];
      }
      mean.references[mean.n_references++] =
          (DenoiseCpuReference){ .planes = other->planes, .matches = from };
    }
  }
  average_picture (backend, picture, noise, &mean);
  task->job->starts_scene = counts[0] == 0;
}

/* The mean with the result for the frame before. */
static void
average_recursively (
    DenoiseBackend *backend, const DenoiseTask *task, gint32 noise[3])
{
  Picture *picture = get_picture (backend, task->number);
  const gint field = find_field_of (picture, 0);
  DenoiseCpuMean mean = { .n_references = 0 };
  gboolean linked = task->before > 0 && field >= 0;

  prepare_picture (backend, picture);
  if (linked) {
    guint32 counts[3][DENOISE_NOISE_MAX + 1] = { { 0 } };

    search_picture (backend, picture, backend->recent, picture, (guint) field,
        NULL, picture->matches[0]);
    measure_matches (backend, picture, 0, backend->recent_left[0], counts);
    linked = !picture->cut[0];
  }
  for (guint c = 0; c < backend->n_components; c++) {
    noise[c] = linked
                   ? (3 * backend->recent_noise[c] + picture->noise[c] + 2) / 4
                   : picture->noise[c];
    backend->recent_noise[c] = noise[c];
  }
  override_noise (&backend->config, noise);
  if (linked)
    mean.references[mean.n_references++] = (DenoiseCpuReference){
      .planes = backend->recent,
      .matches = picture->matches[0],
      .left = { backend->recent_left[0], backend->recent_left[1],
          backend->recent_left[2] },
    };
  average_picture (backend, picture, noise, &mean);
  task->job->starts_scene = !linked;
}

/* Keeps the mean as the reference for the next frame. */
static void
keep_recent (DenoiseBackend *backend)
{
  const gsize cells =
      (gsize) backend->cells_across * (gsize) backend->cells_down;

  for (guint c = 0; c < backend->n_components; c++) {
    const DenoiseShape *shape = &backend->shapes[c];

    for (gint32 y = 0; y < shape->height; y++)
      memcpy (backend->recent[c].samples[0] + y * backend->recent[c].stride,
          backend->mean[c].samples[0] + y * backend->mean[c].stride,
          (gsize) shape->width * sizeof (guint16));
    extend_plane (&backend->recent[c], shape);
    memcpy (
        backend->recent_left[c], backend->left[c], cells * sizeof (guint16));
  }
  prepare_halves (backend, backend->recent);
}

/* --- the spatial filter ---------------------------------------------------------------- */

/* Every second strip of patch rows */
static void
do_patches (guint first, guint count, gpointer user_data)
{
  const Pass *pass = user_data;

  for (guint i = first; i < first + count; i++) {
    const gint32 row = (2 * (gint32) i + pass->parity) * PATCH_ROWS;

    if (row < pass->rows)
      pass->patches (pass->spatial, row, MIN (PATCH_ROWS, pass->rows - row));
  }
}

static void
do_quotients (guint first, guint count, gpointer user_data)
{
  const Pass *pass = user_data;
  const DenoiseCpuSpatial *s = pass->spatial;

  for (gint32 y = (gint32) first; y < (gint32) (first + count); y++) {
    guint16 *row = pass->into->samples[0] + y * pass->into->stride;

    for (gint32 x = 0; x < s->width; x++)
      row[x] = (guint16) denoise_quotient (s->sums[y * s->stride + x],
          s->weights[y * s->stride + x], pass->bits);
  }
}

static void
run_patches (DenoiseBackend *backend, const DenoiseCpuSpatial *spatial,
    void (*patches) (const DenoiseCpuSpatial *, gint32, gint32), gint32 bits,
    const DenoiseCpuPlane *into)
{
  const gint32 rows = denoise_patches (spatial->height, DENOISE_STEP);
  Pass pass = { .spatial = spatial,
    .patches = patches,
    .rows = rows,
    .bits = bits,
    .into = into };

  memset (spatial->sums, 0,
      (gsize) spatial->stride * ((gsize) spatial->height + 16) * 2
          * sizeof (gint32));
  for (pass.parity = 0; pass.parity < 2; pass.parity++)
    cvis_pool_run (backend->pool,
        (guint) (rows + 2 * PATCH_ROWS - 1) / (2 * PATCH_ROWS), 1, do_patches,
        &pass);
  cvis_pool_run (
      backend->pool, (guint) spatial->height, SAMPLE_ROWS, do_quotients, &pass);
}

/* Filters component @component of @from into the result. Components 1 and 2, which have
 * less texture, do without groups, and so does the mode for live video. */
static void
filter_spatially (DenoiseBackend *backend, guint component,
    const DenoiseCpuPlane *from, const guint16 *left, gint32 noise)
{
  const DenoiseShape *shape = &backend->shapes[component];
  const gboolean grouped =
      component == 0 && backend->config.mode != DENOISE_MODE_RECURSIVE;
  DenoiseCpuSpatial s = {
    .width = MAX (shape->width, DENOISE_PATCH),
    .height = MAX (shape->height, DENOISE_PATCH),
    .cell_x = shape->cell_x,
    .cell_y = shape->cell_y,
    .cells_across = backend->cells_across,
    .cells_down = backend->cells_down,
    .left = left,
    .noise = (gfloat) noise,
    .from = *from,
    .pilot = backend->pilot,
    .stride = backend->pilot.stride,
    .sums = backend->sums,
  };

  s.weights = s.sums + (gsize) s.stride * ((gsize) s.height + 16);
  run_patches (backend, &s, backend->kernels->shrink, DENOISE_DCT_BITS,
      grouped ? &backend->pilot : &backend->result);
  if (grouped)
    run_patches (backend, &s, backend->kernels->group, DENOISE_GROUP_BITS,
        &backend->result);
}

/* --- a frame leaves ---------------------------------------------------------------------- */

static void
do_store (guint first, guint count, gpointer user_data)
{
  const Pass *pass = user_data;
  const DenoisePlane *out = &pass->out;
  const gint32 bits = (gint32) pass->backend->config.depth;

  for (gint32 y = (gint32) first; y < (gint32) (first + count); y++) {
    guint8 *row = out->data + (gsize) y * out->stride;
    const guint16 *value = pass->from != NULL
                               ? pass->from->samples[0] + y * pass->from->stride
                               : NULL;

    for (gint32 x = 0; x < pass->width; x++) {
      guint32 sample = get_input (&pass->in, pass->shift, bits, x, y);

      if (value != NULL)
        sample = denoise_to_sample (sample, value[x], bits, pass->removed);
      if (bits == 8)
        row[(gsize) x * out->step] = (guint8) sample;
      else
        ((guint16 *) (gpointer) row)[(gsize) x * out->step] =
            (guint16) (sample << pass->shift);
    }
  }
}

/* @from: (nullable): %NULL: the samples are copied */
static void
store_component (DenoiseBackend *backend, const Picture *picture,
    const DenoiseJob *job, guint component, const DenoiseCpuPlane *from)
{
  Pass pass = { .backend = backend,
    .in = picture->in[component],
    .out = job->on_device
               ? denoise_staging_get_plane (&backend->out, job->out, component)
               : job->out[component],
    .shift = (gint32) job->shift,
    .from = from,
    .width = backend->shapes[component].width,
    .removed = denoise_removed (&backend->config, job) };

  cvis_pool_run (backend->pool, (guint) backend->shapes[component].height,
      SAMPLE_ROWS, do_store, &pass);
}

static gboolean
denoise_cpu_filter (DenoiseBackend *backend, guint slot,
    const DenoiseTask *task, GError **error)
{
  backend->tasks[slot] = *task;
  return TRUE;
}

/* The last frame whose neighbours the noise of @task's frame depends on. */
static guint64
get_last_analysed (const DenoiseConfig *config, const DenoiseTask *task)
{
  return task->number + MIN (task->after, config->radius - 1);
}

static gboolean
denoise_cpu_wait (DenoiseBackend *backend, guint slot, GError **error)
{
  const DenoiseConfig *config = &backend->config;
  const DenoiseTask *task = &backend->tasks[slot];
  const gboolean alone = config->mode == DENOISE_MODE_SPATIAL;
  Picture *picture = get_picture (backend, task->number);
  DenoiseJob *job = task->job;
  gint32 noise[3] = { 0 };

  if (job->on_device && !make_staging (config, &backend->out, error))
    return FALSE;
  if (alone) {
    prepare_picture (backend, picture);
    memcpy (noise, picture->noise, sizeof noise);
    override_noise (config, noise);
    job->starts_scene = FALSE;
  } else if (config->mode == DENOISE_MODE_RECURSIVE) {
    if (!analyse_until (backend, task->first, task->number, error))
      return FALSE;
    average_recursively (backend, task, noise);
    keep_recent (backend);
  } else {
    if (!analyse_until (
            backend, task->first, get_last_analysed (config, task), error))
      return FALSE;
    average_window (backend, task, noise);
  }
  for (guint c = 0; c < config->n_components; c++) {
    const gboolean denoised = c < backend->n_components;
    const DenoiseCpuPlane *from =
        denoised ? (alone ? &picture->planes[c] : &backend->mean[c]) : NULL;
    const gint32 assumed = denoise_config_scale_noise (config, noise[c]);

    job->sigma[c] = denoised ? noise[c] / 16.0 : 0;
    if (denoised && config->mode != DENOISE_MODE_TEMPORAL
        && (alone || config->preset == DENOISE_PRESET_NONE) && assumed > 0) {
      filter_spatially (
          backend, c, from, alone ? NULL : backend->left[c], assumed);
      from = &backend->result;
    }
    store_component (backend, picture, job, c, from);
  }
  return !job->on_device
         || denoise_staging_copy_out (
             &backend->out, config, NULL, NULL, job, error);
}

const DenoiseBackendOps denoise_backend_cpu = { "cpu", denoise_cpu_create,
  denoise_cpu_destroy, denoise_cpu_load, denoise_cpu_follow, denoise_cpu_end,
  denoise_cpu_filter, denoise_cpu_wait };
