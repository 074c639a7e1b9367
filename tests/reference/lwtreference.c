/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/lifting/arithmetic.h"
#include "lwtreference.h"

#define CONCAT(a, b) a##b

static gint
modulo (gint k, gint n)
{
  return ((k % n) + n) % n;
}

static gdouble
read_sample (LwtSample sample, const guint8 *row, guint x)
{
  switch (sample) {
    case LWT_SAMPLE_F32:
      return ((const gfloat *) row)[x];
    case LWT_SAMPLE_F64:
      return ((const gdouble *) row)[x];
    case LWT_SAMPLE_I32:
      return ((const gint32 *) row)[x];
    case LWT_SAMPLE_U8:
      return row[x];
    default:
      return row[2 * x] | row[2 * x + 1] << 8;
  }
}

/* Whether a surface's samples are in cells that have noise; their @number. */
static gboolean *
find_noise (const LwtPlan *plan, const LwtJob *job, guint64 *number)
{
  const gint width = (gint) plan->config.width;
  const gint height = (gint) plan->config.height;
  const gint cw = height == 1 ? 64 : 8, ch = width == 1 ? 64 : 8;
  const gint columns = (width + cw - 1) / cw, rows = (height + ch - 1) / ch;
  gboolean *differ = g_new0 (gboolean, columns * rows);
  gboolean *there = g_new0 (gboolean, columns * rows);
  gboolean *beside = g_new0 (gboolean, columns * rows);
  gdouble *value = g_new (gdouble, columns * rows);
  gboolean *result = g_new (gboolean, (gsize) width * height);
  guint64 n = 0, n_beside = 0;

  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      const gint cell = y / ch * columns + x / cw;
      const gdouble sample = read_sample (plan->config.sample,
          (const guint8 *) job->data + (gsize) y * job->stride, (guint) x);

      if (!isfinite (sample))
        continue;
      if (!there[cell])
        value[cell] = sample;
      there[cell] = TRUE;
      differ[cell] = differ[cell] || sample != value[cell];
    }
  for (gint y = 0; y < rows; y++)
    for (gint x = 0; x < columns; x++) {
      const gint cell = y * columns + x;

      for (gint k = 0; k < 9 && there[cell] && !differ[cell]; k++) {
        const gint i = x + k % 3 - 1, j = y + k / 3 - 1;

        if (i >= 0 && i < columns && j >= 0 && j < rows
            && differ[j * columns + i])
          beside[cell] = TRUE;
      }
    }
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      const gint cell = y / ch * columns + x / cw;

      n += differ[cell] != 0;
      n_beside += beside[cell] != 0;
    }
  *number = n + (2 * n_beside >= n ? n_beside : 0);
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      const gint cell = y / ch * columns + x / cw;

      result[(gsize) y * width + x] =
          differ[cell] || (beside[cell] && 2 * n_beside >= n);
    }
  g_free (differ);
  g_free (there);
  g_free (beside);
  g_free (value);
  return result;
}

#define T gfloat
#define N(name) CONCAT (name, _f32)
#define INTEGER 0
#define FMA fmaf
#define FABS fabsf
#define COPYSIGN copysignf
#include "lwtreference_type.h"
#undef T
#undef N
#undef FMA
#undef FABS
#undef COPYSIGN

#define T gdouble
#define N(name) CONCAT (name, _f64)
#define FMA fma
#define FABS fabs
#define COPYSIGN copysign
#include "lwtreference_type.h"
#undef T
#undef N
#undef INTEGER

#define T gint32
#define N(name) CONCAT (name, _i32)
#define INTEGER 1
#include "lwtreference_type.h"
#undef T
#undef N

/* --- transforms ---------------------------------------------------------------- */

#define BY_TYPE(name, ...)                                                     \
  switch (type) {                                                              \
    case LWT_TYPE_F32:                                                         \
      name##_f32 (wavelet, boundary, chain, __VA_ARGS__);                      \
      break;                                                                   \
    case LWT_TYPE_F64:                                                         \
      name##_f64 (wavelet, boundary, chain, __VA_ARGS__);                      \
      break;                                                                   \
    case LWT_TYPE_I32:                                                         \
      name##_i32 (wavelet, boundary, chain, __VA_ARGS__);                      \
      break;                                                                   \
  }

void
lwt_reference_forward (const LwtWavelet *wavelet, LwtBoundary boundary,
    LwtType type, const LwtChain *chain, LwtLayout layout,
    gconstpointer picture, gpointer bands)
{
  BY_TYPE (forward, layout, picture, bands, chain->levels[0].width,
      chain->levels[0].height)
}

void
lwt_reference_inverse (const LwtWavelet *wavelet, LwtBoundary boundary,
    LwtType type, const LwtChain *chain, LwtLayout layout, gconstpointer bands,
    gpointer picture)
{
  BY_TYPE (inverse, layout, bands, picture, chain->levels[0].width,
      chain->levels[0].height)
}

void
lwt_reference_reduce (const LwtWavelet *wavelet, LwtBoundary boundary,
    LwtType type, const LwtChain *chain, guint first, guint n,
    gconstpointer picture, gpointer low)
{
  BY_TYPE (reduce, first, n, picture, low)
}

void
lwt_reference_expand (const LwtWavelet *wavelet, LwtBoundary boundary,
    LwtType type, const LwtChain *chain, guint first, guint n,
    gconstpointer low, gpointer picture)
{
  BY_TYPE (expand, first, n, low, picture)
}

/* --- sums ------------------------------------------------------------------------ */

/* The sum of @n numbers @stride apart, in the order of cuda/lifting/arithmetic.h. */
static gdouble
sum (const gdouble *values, gsize stride, guint n)
{
  gdouble lanes[LWT_LANES] = { 0.0 };

  for (guint i = 0; i < n; i++)
    lanes[i % LWT_LANES] += values[i * stride];
  return lwt_sum_lanes (lanes);
}

/* --- the F-operation --------------------------------------------------------------- */

static LwtRowMoments
row_moments (const gdouble *z, const gboolean *there, guint width)
{
  LwtRowMoments result;
  gdouble *terms = g_new (gdouble, 8 * (gsize) width);

  for (guint x = 0; x < width; x++) {
    const gdouble u = lwt_centred (x, width), u2 = u * u;
    const gdouble all[8] = { 1.0, u, u2, u2 * u, u2 * u2, z[x], z[x] * u,
      z[x] * u2 };

    for (guint i = 0; i < 8; i++)
      terms[8 * x + i] = there[x] ? all[i] : 0.0;
  }
  for (guint i = 0; i < 5; i++)
    result.m[i] = sum (terms + i, 8, width);
  for (guint i = 0; i < 3; i++)
    result.t[i] = sum (terms + 5 + i, 8, width);
  g_free (terms);
  return result;
}

static LwtMoments
sum_moments (const LwtRowMoments *rows, guint height)
{
  LwtMoments result = { 0 };
  gdouble *terms = g_new (gdouble, height);

  for (guint a = 0; a < 5; a++)
    for (guint b = 0; a + b < 5; b++) {
      for (guint pass = 0; pass < (a + b < 3 ? 2 : 1); pass++) {
        for (guint y = 0; y < height; y++) {
          const gdouble v = lwt_centred (y, height), v2 = v * v;
          const gdouble powers[5] = { 1.0, v, v2, v2 * v, v2 * v2 };

          terms[y] = (pass ? rows[y].t[a] : rows[y].m[a]) * powers[b];
        }
        if (pass)
          result.t[a][b] = sum (terms, 1, height);
        else
          result.m[a][b] = sum (terms, 1, height);
      }
    }
  g_free (terms);
  return result;
}

static void
fit (const LwtConfig *config, LwtJob *job, const gdouble *z,
    const gboolean *there)
{
  LwtRowMoments *rows = g_new (LwtRowMoments, config->height);
  LwtMoments moments;

  for (guint y = 0; y < config->height; y++)
    rows[y] = row_moments (z + (gsize) y * config->width,
        there + (gsize) y * config->width, config->width);
  moments = sum_moments (rows, config->height);
  lwt_fit (&moments, config->f_operation, job->polynomial);
  job->offset = job->polynomial[0];
  g_free (rows);
}

/* --- parameters ---------------------------------------------------------------------- */

static gdouble
part_sample (const LwtPlan *plan, const LwtPlane *plane, guint x, guint y)
{
  const guint8 *row = (const guint8 *) plane->data + y * plane->stride;

  return plan->config.type == LWT_TYPE_F64
             ? ((const gdouble *) row)[x]
             : (gdouble) ((const gfloat *) row)[x];
}

/* Of the edge from a point to the next one along x or y */
static gfloat
half_square (const LwtPlan *plan, const LwtPlane *plane, guint x, guint y,
    guint along_x, guint along_y)
{
  return lwt_half_square (part_sample (plan, plane, x, y),
      part_sample (plan, plane, x + along_x, y + along_y),
      (gfloat) (1.0 / (along_x ? plan->config.dx : plan->config.dy)));
}

static void
measure (const LwtPlan *plan, const LwtPlane *plane, const gboolean *there,
    CvisSurfaceParameters *parameters)
{
  const guint width = plan->config.width, height = plan->config.height;
  LwtHeights heights = { .min = INFINITY, .max = -INFINITY };
  LwtShape shape = { 0 };
  gdouble *terms = g_new0 (gdouble, 6 * (gsize) width);
  gdouble *rows = g_new0 (gdouble, 6 * (gsize) height);
  gdouble mean, sums[6];

  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++) {
      const gdouble z = part_sample (plan, plane, x, y);
      const gboolean is = there[(gsize) y * width + x];

      terms[x] = is ? z : 0.0;
      heights.n += is != 0;
      heights.min = is ? MIN (heights.min, z) : heights.min;
      heights.max = is ? MAX (heights.max, z) : heights.max;
    }
    rows[y] = sum (terms, 1, width);
  }
  heights.sum = sum (rows, 1, height);
  mean = heights.n > 0 ? heights.sum / (gdouble) heights.n : 0.0;

  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++) {
      gdouble *term = &terms[6 * x];
      const gboolean *is = &there[(gsize) y * width + x];
      const gdouble h = part_sample (plan, plane, x, y) - mean, h2 = h * h;
      const gdouble all[4] = { fabs (h), h2, h2 * h, h2 * h2 };
      gfloat gradient;

      for (guint i = 0; i < 6; i++)
        term[i] = i < 4 && is[0] ? all[i] : 0.0;
      if (plan->config.dx == 0.0 || x + 1 == width || y + 1 == height || !is[0]
          || !is[1] || !is[width] || !is[width + 1])
        continue;
      term[5] = lwt_cell (half_square (plan, plane, x, y, 1, 0),
          half_square (plan, plane, x, y + 1, 1, 0),
          half_square (plan, plane, x, y, 0, 1),
          half_square (plan, plane, x + 1, y, 0, 1), &gradient);
      term[4] = gradient;
      shape.cells++;
    }
    for (guint i = 0; i < 6; i++)
      rows[6 * y + i] = sum (terms + i, 6, width);
  }
  for (guint i = 0; i < 6; i++)
    sums[i] = sum (rows + i, 6, height);
  shape.h1 = sums[0];
  shape.h2 = sums[1];
  shape.h3 = sums[2];
  shape.h4 = sums[3];
  shape.gradient = sums[4];
  shape.area = sums[5];
  lwt_parameters (&heights, &shape, parameters);
  g_free (terms);
  g_free (rows);
}

/* --- the operations ----------------------------------------------------------------- */

static void
run_surface (const LwtPlan *plan, LwtJob *job)
{
  const LwtConfig *config = &plan->config;
  const gsize n = (gsize) config->width * config->height;
  gdouble *z = g_new (gdouble, n);
  gboolean *there = g_new (gboolean, n);

  for (gsize i = 0; i < n; i++) {
    const gdouble sample = read_sample (config->sample,
        (const guint8 *) job->data + i / config->width * job->stride,
        (guint) (i % config->width));

    there[i] = isfinite (sample) != 0;
    z[i] = there[i] ? sample * config->z_scale + config->z_offset : 0.0;
    job->missing += !there[i];
  }
  if (config->f_operation != LWT_F_NONE)
    fit (config, job, z, there);
  if (config->type == LWT_TYPE_F64)
    run_f64 (plan, job, z, there);
  else
    run_f32 (plan, job, z, there);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if ((config->parameters & (1u << i)) && job->parts[i].data)
      measure (plan, &job->parts[i], there, &job->parameters[i]);
  g_free (z);
  g_free (there);
}

/* The samples of @job, contiguous, padded unless they are coefficients; as
 * integers if @integers. */
static gpointer
gather (const LwtPlan *plan, const LwtJob *job, gboolean integers)
{
  const LwtConfig *config = &plan->config;
  const gboolean inverse = config->operation == LWT_OPERATION_INVERSE;
  const gsize bytes = lwt_type_get_size (config->type);
  guint8 *result = g_malloc (bytes * plan->width * plan->height);

  for (guint y = 0; y < plan->height; y++)
    for (guint x = 0; x < plan->width; x++) {
      const guint sx =
          inverse ? x
                  : (guint) lwt_pad_index (
                      (gint) x - (gint) plan->pad[0], (gint) config->width);
      const guint sy =
          inverse ? y
                  : (guint) lwt_pad_index (
                      (gint) y - (gint) plan->pad[1], (gint) config->height);
      const guint8 *row = (const guint8 *) job->data + sy * job->stride;
      guint8 *to = result + bytes * ((gsize) y * plan->width + x);

      if (integers)
        *(gint32 *) to = (gint32) read_sample (config->sample, row, sx);
      else
        memcpy (to, row + bytes * sx, bytes);
    }
  return result;
}

static void
run_job (const LwtPlan *plan, LwtJob *job)
{
  const LwtType type = plan->config.type;
  gpointer data;

  if (plan->config.operation != LWT_OPERATION_INVERSE && type != LWT_TYPE_I32) {
    run_surface (plan, job);
    return;
  }
  data = gather (plan, job, type == LWT_TYPE_I32);
  if (type == LWT_TYPE_F32)
    run_plain_f32 (plan, job, data);
  else if (type == LWT_TYPE_F64)
    run_plain_f64 (plan, job, data);
  else
    run_plain_i32 (plan, job, data);
  g_free (data);
  if ((plan->config.parameters & (1u << CVIS_SURFACE_PART_MEASURED))
      && job->parts[CVIS_SURFACE_PART_MEASURED].data) {
    const gsize n = (gsize) plan->config.width * plan->config.height;
    gboolean *there = g_new (gboolean, n);

    for (gsize i = 0; i < n; i++)
      there[i] = isfinite (part_sample (plan,
          &job->parts[CVIS_SURFACE_PART_MEASURED],
          (guint) (i % plan->config.width), (guint) (i / plan->config.width)));
    measure (plan, &job->parts[CVIS_SURFACE_PART_MEASURED], there,
        &job->parameters[CVIS_SURFACE_PART_MEASURED]);
    g_free (there);
  }
}

/* --- the backend ------------------------------------------------------------------ */

struct _LwtBackend {
  const LwtPlan *plan;
  LwtJob *jobs[8];
};

static LwtBackend *
reference_create (const LwtPlan *plan, CvisContext *context, GError **error)
{
  LwtBackend *backend = g_new0 (LwtBackend, 1);

  backend->plan = plan;
  return backend;
}

static void
reference_destroy (LwtBackend *backend)
{
  g_free (backend);
}

static gboolean
reference_submit (LwtBackend *backend, guint slot, LwtJob *job, GError **error)
{
  g_assert_null (backend->jobs[slot]);
  backend->jobs[slot] = job;
  return TRUE;
}

/* Components that are only measured are stored temporarily. */
static gboolean
reference_wait (LwtBackend *backend, guint slot, GError **error)
{
  const LwtConfig *config = &backend->plan->config;
  LwtJob *job = backend->jobs[slot];
  const gsize row = config->width * lwt_type_get_size (config->type);
  LwtParts stored = 0;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (job->parts[i].data == NULL && (job->measured & (1u << i)) != 0) {
      job->parts[i].data = g_malloc (row * config->height);
      job->parts[i].stride = row;
      stored |= 1u << i;
    }
  run_job (backend->plan, job);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (stored & (1u << i))
      g_clear_pointer (&job->parts[i].data, g_free);
  backend->jobs[slot] = NULL;
  return TRUE;
}

const LwtBackendOps lwt_backend_reference = {
  .name = "reference",
  .create = reference_create,
  .destroy = reference_destroy,
  .submit = reference_submit,
  .wait = reference_wait,
};
