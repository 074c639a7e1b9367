/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend of the lifting engine against the reference
 * implementation, to the bit: random wavelets, sizes, boundaries, types,
 * layouts and operations, with missing points, odd strides and poison round
 * what comes out. Run once for each instruction set: CUDAVISION_CPU says
 * which. */
#include <math.h>
#include <string.h>

#include "cuda/lifting/cpu/cpu.h"
#include "lwtrandom.h"
#include "lwtreference.h"

#define ROUNDS 700
#define POISON 0xa5

/* --- wavelets ------------------------------------------------------------- */

static LwtWavelet *
named_wavelet (GRand *random, gboolean reversible)
{
  static const gchar *const names[] = { "haar", "db2", "db3", "5/3", "9/7",
    "cdf7/5", "sym4", "coif1", "bior3.5", "rbio6.8", "db10", "dd13/7" };
  static const gchar *const whole[] = { "haar", "5/3", "dd9/7", "dd13/7" };
  const gchar *name =
      reversible ? whole[g_rand_int_range (random, 0, G_N_ELEMENTS (whole))]
                 : names[g_rand_int_range (random, 0, G_N_ELEMENTS (names))];
  GError *error = NULL;
  LwtWavelet *wavelet = lwt_wavelet_new (name, &error);

  g_assert_no_error (error);
  return wavelet;
}

/* Arbitrary but valid steps. */
static LwtWavelet *
odd_wavelet (GRand *random)
{
  LwtWavelet *wavelet = g_new0 (LwtWavelet, 1);

  g_strlcpy (wavelet->name, "odd", sizeof wavelet->name);
  wavelet->n_steps = (guint) g_rand_int_range (random, 1, 6);
  for (guint i = 0; i < wavelet->n_steps; i++) {
    LwtStep *step = &wavelet->steps[i];

    step->kind = (LwtStepKind) g_rand_int_range (random, 0, 2);
    step->n = (guint) g_rand_int_range (random, 1, 8);
    step->first = g_rand_int_range (random, -9, 5);
    step->shift = (guint) g_rand_int_range (random, 0, 5);
    for (guint j = 0; j < step->n; j++) {
      step->c[j] = g_rand_double_range (random, -0.5, 0.5);
      step->num[j] = g_rand_int_range (random, -9, 10);
    }
  }
  wavelet->scale_low = g_rand_double_range (random, 0.7, 1.5);
  wavelet->scale_high = g_rand_double_range (random, -1.5, -0.7);
  wavelet->shift_low = g_rand_int_range (random, -3, 4);
  wavelet->shift_high = g_rand_int_range (random, -3, 4);
  wavelet->reversible = TRUE;
  wavelet->length = (guint) g_rand_int_range (random, 2, 13);
  wavelet->noise_gain = 1.0;
  return wavelet;
}

/* --- configurations ------------------------------------------------------- */

static guint
random_side (GRand *random)
{
  const gint kind = g_rand_int_range (random, 0, 10);

  return (guint) (kind < 2   ? g_rand_int_range (random, 1, 8)
                  : kind < 7 ? g_rand_int_range (random, 1, 80)
                             : g_rand_int_range (random, 60, 210));
}

static void
random_levels (GRand *random, LwtConfig *config)
{
  const gboolean padded = config->boundary >= LWT_BOUNDARY_PAD_SYMMETRIC;
  const guint most = padded ? 3 : g_rand_int_range (random, 0, 5) == 0 ? 16 : 6;

  for (guint axis = 0; axis < 2; axis++) {
    guint *levels[3] = { &config->levels[axis], &config->levels_roughness[axis],
      &config->levels_noise[axis] };

    *levels[0] = (guint) g_rand_int_range (random, 0, (gint) most + 1);
    for (guint i = 1; i < 3; i++)
      *levels[i] =
          (guint) g_rand_int_range (random, 0, (gint) *levels[i - 1] + 1);
  }
}

static void
random_parts (GRand *random, LwtConfig *config)
{
  const LwtParts bands = 1u << CVIS_SURFACE_PART_BANDS;
  const LwtParts measured = 1u << CVIS_SURFACE_PART_MEASURED;
  const LwtParts noise = 1u << CVIS_SURFACE_PART_NOISE;

  switch (config->operation) {
    case LWT_OPERATION_FILTER:
      config->parts = (guint32) g_rand_int_range (random, 1, 32) << 1;
      if (config->levels_noise[0] + config->levels_noise[1] == 0)
        config->parts &= ~noise;
      if (config->parts == 0)
        config->parts = bands;
      break;
    case LWT_OPERATION_FORWARD:
      config->parts = bands;
      break;
    case LWT_OPERATION_INVERSE:
      config->parts = measured;
      break;
    case LWT_OPERATION_DENOISE:
      config->parts = (guint32) g_rand_int_range (random, 1, 4);
      break;
  }
  if (config->type != LWT_TYPE_I32 && g_rand_boolean (random))
    config->parameters = config->parts & ~bands;
}

static void
random_numbers (GRand *random, LwtConfig *config)
{
  static const LwtSample same[] = { LWT_SAMPLE_F32, LWT_SAMPLE_F64,
    LWT_SAMPLE_I32 };
  static const LwtSample whole[] = { LWT_SAMPLE_I32, LWT_SAMPLE_U8,
    LWT_SAMPLE_U16 };

  config->sample = same[config->type];
  if (config->operation == LWT_OPERATION_INVERSE)
    return;
  if (config->type == LWT_TYPE_I32) {
    config->sample = whole[g_rand_int_range (random, 0, 3)];
    return;
  }
  if (g_rand_boolean (random))
    return;
  config->sample = (LwtSample) g_rand_int_range (random, 0, 5);
  config->z_scale = g_rand_boolean (random) ? 1.0 : 1e-3;
  config->z_offset = g_rand_boolean (random) ? 0.0 : 0.25;
  config->f_operation = (LwtFOperation) g_rand_int_range (random, 0, 5);
}

/* Sets a random configuration; free @config->wavelet. */
static void
random_config (GRand *random, guint round, LwtConfig *config)
{
  lwt_config_init (config);
  config->width = random_side (random);
  config->height = random_side (random);
  config->operation = (LwtOperation) (round % 4);
  config->type = (LwtType) (round / 4 % 3);
  if (config->type == LWT_TYPE_I32
      && config->operation != LWT_OPERATION_FORWARD)
    config->operation = LWT_OPERATION_INVERSE;
  config->boundary = (LwtBoundary) g_rand_int_range (random, 0, 6);
  if (config->type == LWT_TYPE_I32)
    config->boundary =
        (LwtBoundary) (config->boundary % LWT_BOUNDARY_PAD_SMOOTH);
  if (config->boundary >= LWT_BOUNDARY_PAD_SYMMETRIC) {
    config->width = MIN (config->width, 70);
    config->height = MIN (config->height, 70);
  }
  config->layout = (LwtLayout) g_rand_int_range (random, 0, 2);
  config->wavelet = g_rand_int_range (random, 0, 3) == 0
                        ? odd_wavelet (random)
                        : named_wavelet (random, config->type == LWT_TYPE_I32);
  random_levels (random, config);
  if (config->operation == LWT_OPERATION_DENOISE
      && config->levels[0] + config->levels[1] == 0)
    config->levels[0] = 1;
  config->shrink = (LwtShrink) g_rand_int_range (random, 0, 3);
  config->threshold =
      g_rand_boolean (random) ? 0.0 : g_rand_double_range (random, 0.0, 2.0);
  config->spins =
      (guint) (g_rand_boolean (random) ? 1 : g_rand_int_range (random, 1, 17));
  random_numbers (random, config);
  random_parts (random, config);
  config->threshold_scale = g_rand_double_range (random, 0.1, 1.5);
  lwt_random_store (random, config);
  if (g_rand_int_range (random, 0, 4) > 0) {
    config->dx = 0.5;
    config->dy = 0.75;
  } else {
    config->dx = config->dy = 0.0;
  }
}

/* --- surfaces ------------------------------------------------------------- */

typedef struct {
  guint8 *data;
  gsize stride, bytes;
} Buffer;

/* @pad: additional samples in each row */
static Buffer
new_buffer (guint width, guint height, gsize size, gsize pad)
{
  Buffer buffer = { .stride = (width + pad) * size };

  buffer.bytes = buffer.stride * height + 64;
  buffer.data = g_malloc (buffer.bytes);
  memset (buffer.data, POISON, buffer.bytes);
  return buffer;
}

static gdouble
random_sample (GRand *random, gint kind, guint x, guint y)
{
  if (kind == 0)
    return g_rand_double_range (random, -2.0, 2.0);
  if (kind == 1)
    return 0.01 * x - 0.02 * y + sin (0.3 * x) * cos (0.2 * y);
  return kind == 2 ? -0.0 : 3.5;
}

static void
draw (GRand *random, const LwtConfig *config, guint width, guint height,
    Buffer *to)
{
  const gint kind = MIN (g_rand_int_range (random, 0, 8) / 2, 3);
  const gint holes = g_rand_int_range (random, 0, 4);
  const gboolean floats = config->sample <= LWT_SAMPLE_F64;
  const gboolean inverse = config->operation == LWT_OPERATION_INVERSE;
  const guint still = g_rand_int_range (random, 0, 3) == 0
                          ? (guint) g_rand_int_range (random, 0, (gint) width)
                          : 0;

  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++) {
      guint8 *at =
          to->data + y * to->stride + x * lwt_sample_get_size (config->sample);
      gdouble z = random_sample (random, x < still ? 3 : kind, x, y);

      if (floats && !inverse
          && ((holes == 1 && g_rand_int_range (random, 0, 10) == 0)
              || (holes == 2 && x / 5 % 2 && y / 7 % 2)))
        z = g_rand_boolean (random) ? NAN : -INFINITY;
      if (config->sample == LWT_SAMPLE_F32)
        *(gfloat *) (gpointer) at = (gfloat) z;
      else if (config->sample == LWT_SAMPLE_F64)
        *(gdouble *) (gpointer) at = z;
      else if (config->sample == LWT_SAMPLE_I32)
        *(gint32 *) (gpointer) at =
            kind == 0 ? (gint32) g_rand_int (random) : (gint32) (z * 100.0);
      else if (config->sample == LWT_SAMPLE_U8)
        *at = (guint8) (gint) (z * 30.0);
      else
        *(guint16 *) (gpointer) at = (guint16) (gint) (z * 3000.0);
    }
}

/* --- a run ---------------------------------------------------------------- */

typedef struct {
  LwtJob job;
  Buffer parts[CVIS_SURFACE_N_PARTS];
} Result;

static void
run (const LwtBackendOps *ops, const LwtConfig *config, const Buffer *in,
    LwtParts wanted, gsize pad, guint times, Result *result)
{
  GError *error = NULL;
  LwtEngine *engine = lwt_engine_new_on (ops, config, NULL, &error);

  g_assert_no_error (error);
  memset (result, 0, sizeof *result);
  result->job.data = in->data;
  result->job.stride = in->stride;
  result->job.measured = config->parameters & ~wanted;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    guint width = config->width, height = config->height;

    if ((config->parts & wanted & 1u << i) == 0)
      continue;
    if (i == CVIS_SURFACE_PART_BANDS)
      lwt_config_get_bands_size (config, &width, &height);
    result->parts[i] = new_buffer (width, height,
        lwt_config_get_part_size (config, (CvisSurfacePart) i), pad);
    result->job.parts[i] = (LwtPlane){ .data = result->parts[i].data,
      .stride = result->parts[i].stride };
  }
  /* several times: no state of the previous surface may remain */
  while (times-- > 0) {
    LwtJob *done;

    g_assert_true (lwt_engine_submit (engine, &result->job, &error));
    g_assert_no_error (error);
    g_assert_true (lwt_engine_wait (engine, &done, &error));
    g_assert_no_error (error);
    g_assert_true (done == &result->job);
  }
  lwt_engine_free (engine);
}

static void
clear_result (Result *result)
{
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    g_free (result->parts[i].data);
}

static gchar *
describe (const LwtConfig *config)
{
  return g_strdup_printf (
      "%ux%u, operation %d, type %d, sample %d, wavelet %s, boundary %d, "
      "layout %d, levels %u,%u %u,%u %u,%u, f %d, spins %u, shrink %d, "
      "threshold %g, parts 0x%x, threads %u",
      config->width, config->height, config->operation, config->type,
      config->sample, config->wavelet->name, config->boundary, config->layout,
      config->levels[0], config->levels[1], config->levels_roughness[0],
      config->levels_roughness[1], config->levels_noise[0],
      config->levels_noise[1], config->f_operation, config->spins,
      config->shrink, config->threshold, config->parts, config->threads);
}

static void
compare (const LwtConfig *config, const Result *reference, const Result *cpu)
{
  gchar *what = describe (config);

  if (reference->job.missing != cpu->job.missing
      || memcmp (&reference->job.offset, &cpu->job.offset, sizeof (gdouble))
             != 0
      || memcmp (reference->job.polynomial, cpu->job.polynomial,
             sizeof reference->job.polynomial)
             != 0)
    g_error ("missing, offset or polynomial: %s", what);
  if (memcmp (&reference->job.threshold, &cpu->job.threshold, sizeof (gdouble))
      != 0)
    g_error ("threshold %g, not %g: %s", cpu->job.threshold,
        reference->job.threshold, what);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const Buffer *l = &reference->parts[i], *r = &cpu->parts[i];

    for (gsize at = 0; at < l->bytes; at++)
      if (l->data[at] != r->data[at])
        g_error ("part %u, row %" G_GSIZE_FORMAT ", byte %" G_GSIZE_FORMAT
                 " of it: %s",
            i, at / l->stride, at % l->stride, what);
    if (memcmp (&reference->job.parameters[i], &cpu->job.parameters[i],
            sizeof (CvisSurfaceParameters))
        != 0)
      g_error ("parameters of part %u: %s", i, what);
  }
  g_free (what);
}

static void
test_reference (void)
{
  GRand *random = g_rand_new_with_seed (g_test_rand_int ());
  const guint rounds = g_test_slow () ? 30 * ROUNDS : ROUNDS;

  for (guint round = 0; round < rounds; round++) {
    LwtConfig config;
    Result reference, cpu;
    LwtParts wanted;
    Buffer in;
    guint width, height;

    random_config (random, round, &config);
    width = config.width;
    height = config.height;
    if (config.operation == LWT_OPERATION_INVERSE)
      lwt_config_get_bands_size (&config, &width, &height);
    in = new_buffer (width, height, lwt_sample_get_size (config.sample),
        (gsize) g_rand_int_range (random, 0, 4));
    draw (random, &config, width, height, &in);
    wanted = g_rand_int_range (random, 0, 4) == 0
                 ? (LwtParts) g_rand_int_range (random, 0, 64)
                 : 0x3f;
    config.threads = 1 + round % 4;
    run (
        &lwt_backend_reference, &config, &in, wanted, round % 3, 1, &reference);
    run (
        &lwt_backend_cpu, &config, &in, wanted, round % 3, 1 + round % 2, &cpu);
    compare (&config, &reference, &cpu);
    clear_result (&reference);
    clear_result (&cpu);
    g_free (in.data);
    lwt_wavelet_free ((LwtWavelet *) config.wavelet);
  }
  g_rand_free (random);
}

/* --- many tiles ----------------------------------------------------------- */

/* Large enough for several strips and row blocks. */
static void
test_tiles (void)
{
  static const guint sizes[][2] = { { 1531, 1187 }, { 2048, 260 }, { 70, 3001 },
    { 9001, 3 }, { 2, 5000 } };
  static const gchar *const names[] = { "9/7", "db10", "haar", "sym4" };
  GRand *random = g_rand_new_with_seed (g_test_rand_int ());

  for (guint round = 0; round < 15; round++) {
    LwtConfig config;
    Result reference, cpu;
    Buffer in;

    lwt_config_init (&config);
    config.width = sizes[round % 5][0];
    config.height = sizes[round % 5][1];
    config.type = (LwtType) (round % 2);
    config.sample = (LwtSample) (round % 2);
    config.boundary = (LwtBoundary) (round % 4);
    config.operation = (LwtOperation) (round % 3);
    config.layout = (LwtLayout) (round / 2 % 2);
    config.wavelet = lwt_wavelet_new (names[round % 4], NULL);
    config.levels[0] = config.levels[1] = 4;
    config.parts = config.operation == LWT_OPERATION_FILTER
                       ? 1u << CVIS_SURFACE_PART_ROUGHNESS
                   : config.operation == LWT_OPERATION_FORWARD
                       ? 1u << CVIS_SURFACE_PART_BANDS
                       : 1u << CVIS_SURFACE_PART_MEASURED;
    config.threads = 1 + round % 3;
    in = new_buffer (
        config.width, config.height, lwt_sample_get_size (config.sample), 1);
    draw (random, &config, config.width, config.height, &in);
    run (&lwt_backend_reference, &config, &in, 0x3f, 1, 1, &reference);
    run (&lwt_backend_cpu, &config, &in, 0x3f, 1, 1, &cpu);
    compare (&config, &reference, &cpu);
    clear_result (&reference);
    clear_result (&cpu);
    g_free (in.data);
    lwt_wavelet_free ((LwtWavelet *) config.wavelet);
  }
  g_rand_free (random);
}

static void
test_level (void)
{
  const gchar *wanted = g_getenv ("CUDAVISION_CPU");
  const gchar *name = lwt_cpu_kernels ()->name;

  if (wanted != NULL && strcmp (wanted, name) != 0)
    g_test_skip ("this processor does not support the instruction set");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lwtcpu/level", test_level);
  g_test_add_func ("/lwtcpu/reference", test_reference);
  g_test_add_func ("/lwtcpu/tiles", test_tiles);
  return g_test_run ();
}
