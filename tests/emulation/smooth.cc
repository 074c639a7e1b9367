/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CUDA kernels of the low-pass filters of surfaces, run on the CPU, against the CPU
 * backend, to the bit: surfaces, components, cut-offs, wavelets and missing points at
 * random.
 *
 *   emulation-smooth [ROUNDS [SEED]] */
#include <cuda_runtime.h>

#define SMOOTH_START(kernel, task, threads, rows, stream, error)               \
  (emulation::start (get_smooth_grid ((gsize) (threads), (gint) (rows)),       \
       LWT_SMOOTH_THREADS, [&] { kernel (task); }),                            \
      TRUE)

#define SMOOTH_START_SHARED(                                                   \
    kernel, type, task, blocks, rows, bytes, stream, error)                    \
  (emulation::start (                                                          \
       dim3 ((guint) (blocks), (guint) (rows)), LWT_SMOOTH_THREADS,            \
       [&] { kernel (task, (type *) shared_memory); }, shared_memory,          \
       MIN ((bytes), sizeof shared_memory)),                                   \
      (bytes) <= sizeof shared_memory)

#define SMOOTH_START_COLUMNS(                                                  \
    kernel, type, task, columns, rows, stream, error)                          \
  (emulation::start (get_column_grid ((gint) (columns), (gint) (rows)),        \
       LWT_SMOOTH_COLUMN_THREADS, [&] { kernel (task); }),                     \
      TRUE)

static char shared_memory[57344] __attribute__ ((aligned (16)));

#include "cuda/lifting/cuda/smoothsteps.cuh"

#include <stdio.h>

#include "cuda/lifting/polynomial.h"
#include "tests/reference/lwtrandom.h"

/* --- memory of the device --------------------------------------------------- */

static GPtrArray *memory;

void *
cvis_arena_device (CvisArena *, gsize size, const gchar *, GError **)
{
  void *data = aligned_alloc (128, (size + 127) / 128 * 128);

  memset (data, 0xff, size); /* NaN */
  g_ptr_array_add (memory, data);
  return data;
}

extern "C" gboolean
lwt_take_picture (CvisArena *arena, LwtType type, guint width, guint height,
    const gchar *what, LwtPicture *picture, GError **error)
{
  picture->stride = (width * lwt_type_get_size (type) + 127) / 128 * 128;
  picture->data =
      cvis_arena_device (arena, picture->stride * height, what, error);
  return TRUE;
}

namespace {

void
fill_tables (LwtDeviceSmoother *s, GRand *rand)
{
  const bool narrow = s->plan->config.type == LWT_TYPE_F32;
  Table tables[N_TABLES];

  s->column_blocks = g_rand_int_range (rand, 1, 20);
  for (guint which = 0; which < 3; which++)
    for (guint axis = 0; axis < 2; axis++) {
      list_tables (s, which, axis, tables);
      for (guint k = 0; k < N_TABLES; k++) {
        const Table *t = &tables[k];

        for (gsize i = 0; t->values != NULL && i < t->padded; i++) {
          const gdouble value = i < t->n ? t->values[i] : 0.0;

          if (narrow)
            ((gfloat *) *t->device)[i] = (gfloat) value;
          else
            ((gdouble *) *t->device)[i] = value;
        }
      }
    }
}

/* --- a case ----------------------------------------------------------------- */

/* A filter of a surface of any size, with any wavelet, components and sample type. */
void
choose_case (GRand *rand, guint round, LwtConfig *config)
{
  /* every fourth round filters */
  lwt_random_config (rand, 4 * round, round % 5 == 0 ? 300 : 100, config);
  config->filter =
      g_rand_boolean (rand) ? LWT_FILTER_WAVELET : LWT_FILTER_GAUSSIAN;
  /* more than a tile */
  if (round % 8 == 1) {
    config->width = (guint) g_rand_int_range (rand, 1, 40);
    config->height = (guint) g_rand_int_range (rand, 300, 1200);
  } else if (round % 16 == 2) {
    config->width = (guint) g_rand_int_range (rand, 6000, 14000);
    config->height = (guint) g_rand_int_range (rand, 1, 4);
  }
  config->parts = (LwtParts) g_rand_int_range (rand, 1, 16)
                  << CVIS_SURFACE_PART_NOISE;
  config->parameters = 0;
  config->threads = 1;
  for (guint axis = 0; axis < 2; axis++) {
    const guint side = axis == 0 ? config->width : config->height;
    gdouble cutoff = 0.0;

    /* the same as the one before, none, or longer */
    for (guint i = 0; i < 3; i++) {
      if (g_rand_int_range (rand, 0, 3) > 0)
        cutoff = MAX (cutoff, 2.0) * exp (g_rand_double_range (rand, 0.0, 2.5));
      config->cutoffs[i][axis] =
          cutoff > 0.0 ? MIN (cutoff, MAX (side, 2)) : 0.0;
    }
  }
}

gdouble
get_sample (const LwtConfig *config, gconstpointer samples, gsize i)
{
  switch (config->sample) {
    case LWT_SAMPLE_F32:
      return ((const gfloat *) samples)[i];
    case LWT_SAMPLE_F64:
      return ((const gdouble *) samples)[i];
    case LWT_SAMPLE_I32:
      return ((const gint32 *) samples)[i];
    case LWT_SAMPLE_U8:
      return ((const guint8 *) samples)[i];
    default:
      return ((const guint16 *) samples)[i];
  }
}

template <typename T>
T &
get_point (LwtPicture picture, guint x, guint y)
{
  return ((T *) ((guint8 *) picture.data + y * picture.stride))[x];
}

/* The picture that the device makes of samples. */
template <typename T>
void
load_picture (const LwtPlan *plan, const guint8 *samples, const LwtJob *done,
    LwtPicture to, guint32 *missing)
{
  const LwtConfig *config = &plan->config;
  const guint width = config->width, height = config->height;
  const gsize words = (width + 31) / 32;

  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++) {
      const gdouble sample =
          get_sample (config, samples, (gsize) y * width + x);
      gdouble z = sample * config->z_scale + config->z_offset;

      if (config->f_operation != LWT_F_NONE)
        z -= done->polynomial[0]
             + lwt_tail (done->polynomial, lwt_centred (x, width),
                 lwt_centred (y, height));
      get_point<T> (to, x, y) = isfinite (sample) ? (T) z : (T) NAN;
      if (!isfinite (sample))
        missing[y * words + x / 32] |= 1u << (x & 31);
    }
}

/* Returns: points whose bits differ */
template <typename T>
guint64
compare_parts (const LwtPartsTask *task, const LwtJob *expected)
{
  guint64 wrong = 0;

  for (guint i = 0; i < 4; i++) {
    const LwtPlane *plane = &expected->parts[CVIS_SURFACE_PART_NOISE + i];

    if (plane->data == NULL)
      continue;
    for (guint y = 0; y < task->height; y++)
      for (guint x = 0; x < task->width; x++) {
        const T a = get_point<T> ({ plane->data, plane->stride }, x, y);
        const T b = get_point<T> (
            task->parts[CVIS_SURFACE_PART_NOISE + i], x, y);

        wrong += memcmp (&a, &b, sizeof a) != 0 && !(isnan (a) && isnan (b));
      }
  }
  return wrong;
}

void
name_case (const LwtPlan *plan, guint round, guint64 missing, guint64 wrong)
{
  const LwtConfig *config = &plan->config;

  printf ("round %u: %s, type %d, sample %d, %u x %u, f-operation %d, parts "
          "0x%x, %" G_GUINT64_FORMAT " missing, cut-offs",
      round,
      config->filter == LWT_FILTER_WAVELET ? plan->wavelet.name : "gaussian",
      config->type, config->sample, config->width, config->height,
      config->f_operation, config->parts, missing);
  for (guint i = 0; i < 3; i++)
    printf (" %g x %g", config->cutoffs[i][0], config->cutoffs[i][1]);
  printf (": %" G_GUINT64_FORMAT " points differ\n", wrong);
}

/* The CPU's components of a surface at random. */
void
compute_expected (const LwtConfig *config, gconstpointer samples, LwtJob *job)
{
  GError *error = NULL;
  LwtEngine *engine =
      lwt_engine_new_on (&lwt_backend_cpu, config, NULL, &error);
  LwtJob *done;

  g_assert_no_error (error);
  job->data = samples;
  job->stride = config->width * lwt_sample_get_size (config->sample);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if ((config->parts & (1u << i)) != 0) {
      job->parts[i].stride = config->width * lwt_type_get_size (config->type);
      job->parts[i].data = g_malloc (job->parts[i].stride * config->height);
    }
  g_assert_true (lwt_engine_submit (engine, job, &error));
  g_assert_true (lwt_engine_wait (engine, &done, &error));
  lwt_engine_free (engine);
}

/* Returns: whether the bits agree */
bool
run_case (GRand *rand, guint round, const LwtConfig *config)
{
  const guint width = config->width, height = config->height;
  const gsize row = width * lwt_sample_get_size (config->sample);
  guint8 *samples = (guint8 *) g_malloc (row * height);
  guint32 *missing = g_new0 (guint32, (gsize) ((width + 31) / 32) * height);
  const bool narrow = config->type == LWT_TYPE_F32;
  GError *error = NULL;
  LwtDeviceSmoother s = {};
  LwtPartsTask task = {};
  LwtPlan plan;
  LwtJob job = {};
  guint32 not_finite = 0;
  guint64 wrong;

  memory = g_ptr_array_new_with_free_func (free);
  g_assert_true (lwt_plan_init (&plan, config, &error));
  lwt_random_surface (rand, config, samples, row);
  compute_expected (config, samples, &job);
  lwt_take_picture (NULL, config->type, width, height, "x", &task.picture, NULL);
  if (narrow)
    load_picture<gfloat> (&plan, samples, &job, task.picture, missing);
  else
    load_picture<gdouble> (&plan, samples, &job, task.picture, missing);
  task.missing = job.missing > 0 ? missing : NULL;
  task.polynomial = config->f_operation != LWT_F_NONE ? job.polynomial : NULL;
  task.width = width;
  task.height = height;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if ((config->parts & (1u << i)) != 0)
      lwt_take_picture (
          NULL, config->type, width, height, "a part", &task.parts[i], NULL);
  lwt_device_smoother_init (&s, &plan);
  lwt_device_smoother_take (&s, NULL, NULL);
  fill_tables (&s, rand);
  g_assert_true (
      lwt_device_smoother_run (&s, &task, &not_finite, NULL, NULL));
  wrong = narrow ? compare_parts<gfloat> (&task, &job)
                 : compare_parts<gdouble> (&task, &job);
  if (wrong > 0)
    name_case (&plan, round, job.missing, wrong);
  lwt_device_smoother_clear (&s);
  g_ptr_array_unref (memory);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    g_free (job.parts[i].data);
  g_free (samples);
  g_free (missing);
  return wrong == 0;
}

} // namespace

int
main (int argc, char **argv)
{
  const guint rounds = argc > 1 ? (guint) atoi (argv[1]) : 80;
  const guint seed = argc > 2 ? (guint) atoi (argv[2]) : 1;
  guint failed = 0;

  for (guint i = 0; i < rounds; i++) {
    GRand *rand = g_rand_new_with_seed (seed * 100000 + i);
    LwtConfig config;

    choose_case (rand, i, &config);
    failed += lwt_config_check (&config, NULL) && !run_case (rand, i, &config);
    lwt_wavelet_free ((LwtWavelet *) config.wavelet);
    g_rand_free (rand);
  }
  printf ("%u of %u cases differ\n", failed, rounds);
  return failed > 0;
}
