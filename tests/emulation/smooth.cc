/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CUDA kernels of the low-pass filters of surfaces, run on the CPU, against the CPU
 * backend, to the bit: surfaces, cut-offs, wavelets and missing points at random.
 *
 *   emulation-smooth [ROUNDS [SEED]] */
#include <cuda_runtime.h>

#define SMOOTH_START(kernel, task, threads, rows, stream, error)               \
  (emulation::start (get_smooth_grid ((gsize) (threads), (gint) (rows)),       \
       LWT_SMOOTH_THREADS, [&] { kernel (task); }),                            \
      TRUE)

#define SMOOTH_START_SHARED(kernel, type, task, blocks, rows, stream, error)   \
  (emulation::start (dim3 ((guint) (blocks), (guint) (rows)),                  \
       LWT_SMOOTH_THREADS, [&] { kernel (task, (type *) shared_memory); }),    \
      TRUE)

static char shared_memory[49152] __attribute__ ((aligned (16)));

#include "cuda/lifting/cuda/smoothsteps.cuh"

#include <stdio.h>

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
fill_tables (LwtDeviceSmoother *s)
{
  const bool narrow = s->plan->config.type == LWT_TYPE_F32;
  Table tables[N_TABLES];

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

const gchar *const wavelets[] = { "9/7", "haar", "db4", "sym8", "5/3" };

void
choose_case (GRand *rand, LwtConfig *config)
{
  lwt_config_init (config);
  config->filter = g_rand_boolean (rand) ? LWT_FILTER_WAVELET : LWT_FILTER_GAUSSIAN;
  config->sample = LWT_SAMPLE_F64;
  config->type = g_rand_boolean (rand) ? LWT_TYPE_F32 : LWT_TYPE_F64;
  config->width = (guint) g_rand_int_range (rand, 1, 140);
  config->height = (guint) g_rand_int_range (rand, 1, 90);
  /* more than a tile */
  if (g_rand_int_range (rand, 0, 8) == 0) {
    config->width = (guint) g_rand_int_range (rand, 1, 40);
    config->height = (guint) g_rand_int_range (rand, 300, 1200);
  } else if (g_rand_int_range (rand, 0, 16) == 0) {
    config->width = (guint) g_rand_int_range (rand, 6000, 14000);
    config->height = (guint) g_rand_int_range (rand, 1, 4);
  }
  config->parts = 1u << CVIS_SURFACE_PART_FORM;
  config->threads = 1;
  for (guint axis = 0; axis < 2; axis++)
    config->cutoffs[2][axis] =
        g_rand_int_range (rand, 0, 6) == 0 ? 0.0
                                           : 2.0 * exp (g_rand_double (rand) * 4.5);
  for (guint axis = 0; axis < 2; axis++)
    config->cutoffs[2][axis] = MIN (config->cutoffs[2][axis],
        MAX (axis == 0 ? config->width : config->height, 2));
}

gdouble
get_sample (gconstpointer row, guint x, LwtType type)
{
  return type == LWT_TYPE_F32 ? (gdouble) ((const gfloat *) row)[x]
                              : ((const gdouble *) row)[x];
}

/* @holes: a tenth of the points may be missing. Returns: whether the bits agree */
bool
run_case (GRand *rand, const LwtConfig *config, bool holes)
{
  const guint width = config->width, height = config->height;
  const gsize n = (gsize) width * height, words = (width + 31) / 32;
  const gsize size = lwt_type_get_size (config->type);
  gdouble *z = g_new (gdouble, n), *expected = g_new (gdouble, n);
  guint32 *missing = g_new0 (guint32, words * height);
  GError *error = NULL;
  LwtDeviceSmoother s = {};
  LwtPlan plan;
  LwtPicture x;
  LwtEngine *engine;
  LwtJob job = {}, *done;
  guint64 wrong = 0;

  memory = g_ptr_array_new_with_free_func (free);
  g_assert_true (lwt_plan_init (&plan, config, &error));
  lwt_take_picture (NULL, config->type, width, height, "x", &x, NULL);
  for (guint i = 0; i < n; i++) {
    guint8 *to = (guint8 *) x.data + i / width * x.stride + i % width * size;

    z[i] = (gdouble) (gfloat) g_rand_double_range (rand, -1.0, 1.0);
    if (holes && g_rand_int_range (rand, 0, 10) == 0) {
      z[i] = NAN;
      missing[i / width * words + i % width / 32] |= 1u << (i % width & 31);
    }
    if (config->type == LWT_TYPE_F32)
      *(gfloat *) to = (gfloat) z[i];
    else
      *(gdouble *) to = z[i];
  }
  holes = false;
  for (guint i = 0; i < n; i++)
    holes = holes || isnan (z[i]);
  lwt_device_smoother_init (&s, &plan);
  lwt_device_smoother_take (&s, NULL, NULL);
  fill_tables (&s);
  if (s.smooth[2].data != NULL)
    lwt_device_smoother_run (&s, 2, x, holes ? missing : NULL, NULL, NULL);
  else
    s.smooth[2] = x;

  engine = lwt_engine_new_on (&lwt_backend_cpu, config, NULL, &error);
  g_assert_no_error (error);
  job.data = z;
  job.stride = width * sizeof (gdouble);
  job.parts[CVIS_SURFACE_PART_FORM].data = expected;
  job.parts[CVIS_SURFACE_PART_FORM].stride = width * size;
  g_assert_true (lwt_engine_submit (engine, &job, &error));
  g_assert_true (lwt_engine_wait (engine, &done, &error));
  for (guint i = 0; i < n; i++) {
    const gdouble a = get_sample (expected, i, config->type);
    const gdouble b = get_sample (
        (guint8 *) s.smooth[2].data + i / width * s.smooth[2].stride, i % width,
        config->type);

    if (!isnan (z[i]) && a != b)
      wrong++;
  }
  if (wrong > 0)
    printf ("%s, %s, %u x %u, cut-offs %g x %g%s: %" G_GUINT64_FORMAT
            " points differ\n",
        config->filter == LWT_FILTER_WAVELET ? plan.wavelet.name : "gaussian",
        size == 4 ? "float32" : "float64", width, height, config->cutoffs[2][0],
        config->cutoffs[2][1], holes ? ", holes" : "", wrong);
  lwt_engine_free (engine);
  lwt_device_smoother_clear (&s);
  g_ptr_array_unref (memory);
  g_free (z);
  g_free (expected);
  g_free (missing);
  return wrong == 0;
}

} // namespace

int
main (int argc, char **argv)
{
  const guint rounds = argc > 1 ? (guint) atoi (argv[1]) : 60;
  GRand *rand = g_rand_new_with_seed (argc > 2 ? (guint) atoi (argv[2]) : 1);
  guint failed = 0;

  for (guint i = 0; i < rounds; i++) {
    LwtConfig config;
    LwtWavelet *wavelet = lwt_wavelet_new (
        wavelets[g_rand_int_range (rand, 0, G_N_ELEMENTS (wavelets))], NULL);

    choose_case (rand, &config);
    config.wavelet = wavelet;
    failed += !run_case (rand, &config, g_rand_boolean (rand));
    lwt_wavelet_free (wavelet);
  }
  printf ("%u of %u cases differ\n", failed, rounds);
  g_rand_free (rand);
  return failed > 0;
}
