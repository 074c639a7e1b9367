/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The lifting engine's front end, and the reference implementation by truths
 * that need no reference implementation: what goes in comes back, parts add
 * up, constants and planes are form. */
#include <math.h>
#include <string.h>

#include "cuda/lifting/arithmetic.h"
#include "lwtreference.h"

static LwtStep
step (LwtStepKind kind, gint first, guint n, gdouble a, gdouble b)
{
  return (LwtStep){ .kind = kind, .first = first, .n = n, .c = { a, b } };
}

static const LwtWavelet *
cdf97 (void)
{
  static LwtWavelet wavelet = { .name = "9/7",
    .n_steps = 4,
    .scale_low = 1.149604398860241,
    .scale_high = -1.0 / 1.149604398860241,
    .length = 9 };
  const gdouble c[] = { -1.586134342059924, -0.052980118572961,
    0.882911075530934, 0.443506852043971 };

  for (guint i = 0; i < 4; i++)
    wavelet.steps[i] = step (i % 2 ? LWT_STEP_UPDATE : LWT_STEP_PREDICT,
        i % 2 ? -1 : 0, 2, c[i], c[i]);
  return &wavelet;
}

/* Three steps, one with distant neighbours, with a shift */
static const LwtWavelet *
db2 (void)
{
  static LwtWavelet wavelet = { .name = "db2",
    .n_steps = 3,
    .scale_low = 1.1153550716504106,
    .scale_high = 0.8965754721680536,
    .shift_low = 1,
    .shift_high = -1,
    .length = 4 };

  wavelet.steps[0] = step (LWT_STEP_PREDICT, 1, 1, -0.5773502691896257, 0.0);
  wavelet.steps[1] =
      step (LWT_STEP_UPDATE, -1, 2, 0.4330127018922193, 0.20096189432334202);
  wavelet.steps[2] = step (LWT_STEP_PREDICT, 0, 1, -0.3333333333333333, 0.0);
  return &wavelet;
}

static const LwtWavelet *
legall (void)
{
  static LwtWavelet wavelet = { .name = "5/3",
    .n_steps = 2,
    .scale_low = G_SQRT2,
    .scale_high = 1.0 / G_SQRT2,
    .reversible = TRUE,
    .length = 5 };

  wavelet.steps[0] = step (LWT_STEP_PREDICT, 0, 2, -0.5, -0.5);
  wavelet.steps[1] = step (LWT_STEP_UPDATE, -1, 2, 0.25, 0.25);
  for (guint i = 0; i < 2; i++) {
    wavelet.steps[i].num[0] = wavelet.steps[i].num[1] = i == 0 ? -1 : 1;
    wavelet.steps[i].shift = i + 1;
  }
  return &wavelet;
}

static const LwtWavelet *
wavelet_number (guint i)
{
  return i == 0 ? cdf97 () : i == 1 ? db2 () : legall ();
}

static void
run (const LwtConfig *config, LwtJob *job)
{
  GError *error = NULL;
  LwtEngine *engine =
      lwt_engine_new_on (&lwt_backend_reference, config, NULL, &error);
  LwtJob *done;

  g_assert_no_error (error);
  g_assert_true (lwt_engine_submit (engine, job, &error));
  g_assert_no_error (error);
  g_assert_true (lwt_engine_wait (engine, &done, &error));
  g_assert_no_error (error);
  g_assert_true (done == job);
  lwt_engine_free (engine);
}

/* --- round trips --------------------------------------------------------- */

static void
check_reconstruction (LwtConfig *config)
{
  const gsize bytes = lwt_type_get_size (config->type);
  const gdouble tolerance = config->type == LWT_TYPE_F64 ? 1e-11 : 1e-4;
  guint width, height;
  guint8 *picture, *bands, *back;
  LwtJob job = { 0 };

  lwt_config_get_bands_size (config, &width, &height);
  picture = g_malloc (bytes * config->width * config->height);
  back = g_malloc (bytes * config->width * config->height);
  bands = g_malloc (bytes * width * height);
  for (guint i = 0; i < config->width * config->height; i++) {
    const gint32 value = g_test_rand_int_range (-1000, 1000);

    if (config->type == LWT_TYPE_I32)
      ((gint32 *) picture)[i] = value;
    else if (config->type == LWT_TYPE_F64)
      ((gdouble *) picture)[i] = value * 0.001;
    else
      ((gfloat *) picture)[i] = (gfloat) value * 0.001f;
  }
  config->operation = LWT_OPERATION_FORWARD;
  config->parts = 1u << CVIS_SURFACE_PART_BANDS;
  job.data = picture;
  job.stride = bytes * config->width;
  job.parts[CVIS_SURFACE_PART_BANDS] =
      (LwtPlane){ .data = bands, .stride = bytes * width };
  run (config, &job);

  config->operation = LWT_OPERATION_INVERSE;
  config->parts = 1u << CVIS_SURFACE_PART_MEASURED;
  job = (LwtJob){ .data = bands, .stride = bytes * width };
  job.parts[CVIS_SURFACE_PART_MEASURED] =
      (LwtPlane){ .data = back, .stride = bytes * config->width };
  run (config, &job);
  for (guint i = 0; i < config->width * config->height; i++) {
    if (config->type == LWT_TYPE_I32)
      g_assert_cmpint (((gint32 *) back)[i], ==, ((gint32 *) picture)[i]);
    else if (config->type == LWT_TYPE_F64)
      g_assert_cmpfloat_with_epsilon (
          ((gdouble *) back)[i], ((gdouble *) picture)[i], tolerance);
    else
      g_assert_cmpfloat_with_epsilon (
          ((gfloat *) back)[i], ((gfloat *) picture)[i], tolerance);
  }
  g_free (picture);
  g_free (back);
  g_free (bands);
}

static void
test_reconstruction (void)
{
  static const LwtSample samples[] = { LWT_SAMPLE_F32, LWT_SAMPLE_F64,
    LWT_SAMPLE_I32 };

  for (guint i = 0; i < 1500; i++) {
    LwtConfig config;

    lwt_config_init (&config);
    config.width = (guint) g_test_rand_int_range (1, 40);
    config.height = (guint) g_test_rand_int_range (1, 40);
    config.type = (LwtType) (i % 3);
    config.sample = samples[i % 3];
    config.wavelet = wavelet_number (
        config.type == LWT_TYPE_I32 ? 2 : (guint) g_test_rand_int_range (0, 3));
    config.boundary = (LwtBoundary) (i / 3 % 6);
    if (config.type == LWT_TYPE_I32
        && config.boundary == LWT_BOUNDARY_PAD_SMOOTH)
      continue;
    config.layout = (LwtLayout) (i / 18 % 2);
    config.levels[0] = (guint) g_test_rand_int_range (0, 5);
    config.levels[1] = (guint) g_test_rand_int_range (0, 5);
    config.levels_roughness[0] = config.levels_roughness[1] = 0;
    check_reconstruction (&config);
  }
}

/* --- components ---------------------------------------------------------- */

#define W 61
#define H 47

typedef struct {
  gfloat in[H][W];
  gfloat parts[CVIS_SURFACE_N_PARTS][H][W];
  LwtJob job;
} Surface;

static void
run_parts (LwtConfig *config, Surface *surface)
{
  config->width = W;
  config->height = H;
  surface->job = (LwtJob){ .data = surface->in, .stride = W * sizeof (gfloat) };
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (config->parts & (1u << i))
      surface->job.parts[i] = (LwtPlane){ .data = surface->parts[i],
        .stride = W * sizeof (gfloat) };
  run (config, &surface->job);
}

static void
test_parts_add_up (void)
{
  Surface *surface = g_new0 (Surface, 1);

  for (guint i = 0; i < 60; i++) {
    LwtConfig config;

    lwt_config_init (&config);
    config.wavelet = wavelet_number (i % 3);
    config.boundary = (LwtBoundary) (i / 3 % 6);
    config.f_operation = (LwtFOperation) (i % 5);
    config.levels[0] = 4;
    config.levels[1] = 5;
    config.levels_roughness[0] = 3;
    config.levels_noise[1] = 1;
    config.z_scale = 2.0;
    config.z_offset = 0.5;
    config.parts = 0x1e; /* noise, roughness, waviness, form */
    for (guint y = 0; y < H; y++)
      for (guint x = 0; x < W; x++)
        surface->in[y][x] =
            (gfloat) (g_test_rand_double_range (-0.1, 0.1) + 0.01 * x);
    surface->in[7][9] = NAN;
    surface->in[H - 1][W - 1] = INFINITY;
    run_parts (&config, surface);
    g_assert_cmpuint (surface->job.missing, ==, 2);
    for (guint y = 0; y < H; y++)
      for (guint x = 0; x < W; x++) {
        gdouble sum = surface->job.offset;

        for (guint part = 1; part < CVIS_SURFACE_PART_BANDS; part++)
          sum += surface->parts[part][y][x];
        if (isfinite (surface->in[y][x]))
          g_assert_cmpfloat_with_epsilon (
              sum, 2.0 * surface->in[y][x] + 0.5, 2e-6);
        else
          g_assert_true (isnan (sum));
      }
  }
  g_free (surface);
}

/* The F-operation removes its polynomial exactly; without it a plane is
 * form, except at the edges. */
static void
test_planes_are_form (void)
{
  Surface *surface = g_new0 (Surface, 1);
  LwtConfig config;

  lwt_config_init (&config);
  config.wavelet = cdf97 ();
  config.parts = 0x1c; /* roughness, waviness, form */
  config.levels[0] = config.levels[1] = 2;
  config.levels_roughness[0] = config.levels_roughness[1] = 1;
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++)
      surface->in[y][x] = (gfloat) (3.0 + 0.25 * x - 0.125 * y);
  run_parts (&config, surface);
  for (guint y = 12; y < H - 12; y++)
    for (guint x = 12; x < W - 12; x++)
      g_assert_cmpfloat_with_epsilon (
          surface->parts[CVIS_SURFACE_PART_ROUGHNESS][y][x], 0.0, 1e-5);

  config.f_operation = LWT_F_PLANE;
  run_parts (&config, surface);
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++) {
      g_assert_cmpfloat_with_epsilon (
          surface->parts[CVIS_SURFACE_PART_ROUGHNESS][y][x], 0.0, 1e-12);
      g_assert_cmpfloat_with_epsilon (
          surface->parts[CVIS_SURFACE_PART_FORM][y][x] + surface->job.offset,
          surface->in[y][x], 1e-6);
    }
  g_free (surface);
}

/* Low-only synthesis halves the amplitude of a wave at the cut-off. */
static void
test_cutoff (void)
{
  for (guint levels = 1; levels <= 4; levels++) {
    const guint n = 1024;
    gfloat *line = g_new (gfloat, n), *form = g_new (gfloat, n);
    gdouble sum = 0.0, square = 0.0;
    LwtJob job = { .data = line, .stride = n * sizeof (gfloat) };
    LwtConfig config;

    lwt_config_init (&config);
    config.width = n;
    config.height = 1;
    config.wavelet = cdf97 ();
    config.boundary = LWT_BOUNDARY_PERIODIC;
    config.levels[0] = levels;
    config.levels[1] = 0;
    config.levels_roughness[0] = config.levels_roughness[1] = 0;
    config.parts = 1u << CVIS_SURFACE_PART_FORM;
    job.parts[CVIS_SURFACE_PART_FORM] =
        (LwtPlane){ .data = form, .stride = n * sizeof (gfloat) };
    /* averaged over all phases of the grid */
    for (guint phase = 0; phase < 64; phase++) {
      for (guint x = 0; x < n; x++)
        line[x] = (gfloat) sin (2.0 * G_PI * (x + phase / 4.0)
                                / lwt_cutoff_of_levels (levels, 1.0));
      run (&config, &job);
      for (guint x = 0; x < n; x++) {
        sum += (gdouble) form[x] * (gdouble) line[x];
        square += (gdouble) line[x] * (gdouble) line[x];
      }
    }
    g_assert_cmpfloat_with_epsilon (sum / square, 0.5, 0.01);
    g_assert_cmpuint (
        lwt_levels_for_cutoff (lwt_cutoff_of_levels (levels, 0.3), 0.3), ==,
        levels);
    g_free (line);
    g_free (form);
  }
}

/* Amplitude that low-only synthesis of @levels leaves of a wave with @cycles
 * in 2^15 samples, averaged over the phase of the grid. */
static gdouble
transmission (const LwtWavelet *wavelet, guint levels, guint cycles)
{
  const guint n = 32768;
  gfloat *line = g_new (gfloat, n), *form = g_new (gfloat, n);
  LwtJob job = { .data = line, .stride = n * sizeof (gfloat) };
  gdouble sum = 0.0, square = 0.0;
  LwtConfig config;

  lwt_config_init (&config);
  config.width = n;
  config.height = 1;
  config.wavelet = wavelet;
  config.boundary = LWT_BOUNDARY_PERIODIC;
  config.levels[0] = levels;
  config.levels[1] = 0;
  config.levels_roughness[0] = config.levels_roughness[1] = 0;
  config.parts = 1u << CVIS_SURFACE_PART_FORM;
  job.parts[CVIS_SURFACE_PART_FORM] =
      (LwtPlane){ .data = form, .stride = n * sizeof (gfloat) };
  for (guint x = 0; x < n; x++)
    line[x] = (gfloat) sin (2.0 * G_PI * ((guint64) x * cycles % n + 0.25) / n);
  run (&config, &job);
  for (guint x = 0; x < n; x++) {
    sum += (gdouble) form[x] * (gdouble) line[x];
    square += (gdouble) line[x] * (gdouble) line[x];
  }
  g_free (line);
  g_free (form);
  return sum / square;
}

/* A sweep: the wavelength at which half the amplitude passes is the
 * effective cut-off to 1 % for db4, 9/7 and longer filters; haar's is 13 %
 * longer, for many levels. */
static void
test_sweep (void)
{
  static const struct {
    const gchar *wavelet;
    guint levels;              /* minimum */
    gdouble shortest, longest; /* bounds of half amplitude, in cut-offs */
  } cases[] = {
    { "haar", 4, 1.12, 1.14 },
    { "9/7", 1, 0.99, 1.01 },
    { "db4", 1, 0.99, 1.01 },
    { "db6", 1, 0.99, 1.01 },
    { "db10", 1, 0.99, 1.01 },
    { "db20", 1, 0.99, 1.01 },
    { "sym8", 1, 0.99, 1.01 },
    { "coif3", 1, 0.99, 1.01 },
    { "bior6.8", 1, 0.99, 1.01 },
    { "rbio6.8", 1, 0.99, 1.01 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GError *error = NULL;
    LwtWavelet *wavelet = lwt_wavelet_new (cases[i].wavelet, &error);

    g_assert_no_error (error);
    for (guint levels = cases[i].levels; levels <= 5; levels++) {
      const gdouble cycles = 32768.0 / lwt_cutoff_of_levels (levels, 1.0);
      const gdouble below = transmission (
          wavelet, levels, (guint) floor (cycles / cases[i].shortest));
      const gdouble above = transmission (
          wavelet, levels, (guint) ceil (cycles / cases[i].longest));

      g_test_message ("%s, %u levels: %.4f at %.2f cut-offs, %.4f at %.2f",
          cases[i].wavelet, levels, below, cases[i].shortest, above,
          cases[i].longest);
      g_assert_cmpfloat (below, <, 0.5);
      g_assert_cmpfloat (above, >, 0.5);
    }
    lwt_wavelet_free (wavelet);
  }
}

/* --- parameters ----------------------------------------------------------- */

static void
test_parameters (void)
{
  Surface *surface = g_new0 (Surface, 1);
  CvisSurfaceParameters *p;
  LwtConfig config;

  lwt_config_init (&config);
  config.wavelet = cdf97 ();
  config.levels[0] = config.levels[1] = 0;
  config.levels_roughness[0] = config.levels_roughness[1] = 0;
  config.parts = config.parameters = 1u << CVIS_SURFACE_PART_FORM;
  config.dx = 0.5;
  config.dy = 2.0;
  /* a plane with slopes 3 and 4 */
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++)
      surface->in[y][x] = (gfloat) (1.5 * x + 8.0 * y);
  run_parts (&config, surface);
  p = &surface->job.parameters[CVIS_SURFACE_PART_FORM];
  g_assert_cmpuint (p->n, ==, W * H);
  g_assert_cmpfloat_with_epsilon (p->mean, 1.5 * 30 + 8.0 * 23, 1e-9);
  g_assert_cmpfloat_with_epsilon (p->sdq, 5.0, 1e-9);
  g_assert_cmpfloat_with_epsilon (p->sdr / (sqrt (26.0) - 1.0), 1.0, 1e-6);
  g_assert_cmpfloat_with_epsilon (p->sz, 1.5 * 60 + 8.0 * 46, 1e-9);
  g_assert_cmpfloat_with_epsilon (p->sp, p->sv, 1e-9);
  g_assert_cmpfloat_with_epsilon (p->ssk, 0.0, 1e-9);
  /* half of the points at 1, half at -1 */
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++)
      surface->in[y][x] = (x + y) % 2 ? 1.0f : -1.0f;
  surface->in[0][0] = NAN;
  run_parts (&config, surface);
  g_assert_cmpuint (p->n, ==, W * H - 1);
  g_assert_cmpfloat_with_epsilon (p->sa, 1.0, 1e-12);
  g_assert_cmpfloat_with_epsilon (p->sq, 1.0, 1e-12);
  g_assert_cmpfloat_with_epsilon (p->sku, 1.0, 1e-12);
  /* each edge of a cell rises by 2: slope 4 along x, 1 along y */
  g_assert_cmpfloat_with_epsilon (p->sdq, sqrt (17.0), 1e-12);
  g_assert_cmpfloat_with_epsilon (p->sdr / (sqrt (18.0) - 1.0), 1.0, 1e-6);
  /* a spacing that is not known */
  config.dx = config.dy = 0.0;
  run_parts (&config, surface);
  g_assert_cmpfloat_with_epsilon (p->sq, 1.0, 1e-12);
  g_assert_true (p->sdq == 0.0 && p->sdr == 0.0);
  g_free (surface);
}

/* The relative error of cells that are level, or have a slope from 1e-18 to 1e18, is at
 * most the one stated in cuda/lifting/arithmetic.h. */
static void
test_slopes (void)
{
  for (gint power = -60; power <= 60; power++) {
    for (guint step = 0; step < 64; step++) {
      const gdouble slope = power < -59 ? 0.0 : exp2 (power + step / 64.0);
      const gfloat half = lwt_half_square (0.0, slope, 1.0f);
      const gdouble root = sqrt (1.0 + slope * slope);
      gfloat gradient;
      const gfloat area = lwt_cell (half, half, 0.0f, 0.0f, &gradient);

      g_assert_cmpfloat_with_epsilon (
          2.0 * lwt_half_root (half) / (1.0 + root), 1.0, 1e-6);
      g_assert_true (fabs (gradient - slope * slope) <= 3e-7 * slope * slope);
      g_assert_true (
          fabs (area * (1.0 + root) - slope * slope) <= 1e-6 * slope * slope);
    }
  }
}

/* Adds the area and the squared gradient of the triangle through three
 * points of @surface, each {x, y}, by the cross product of two edges. */
static void
add_triangle (const Surface *surface, const guint a[2], const guint b[2],
    const guint c[2], gdouble dx, gdouble dy, gdouble *area, gdouble *gradient)
{
  const gdouble origin = surface->parts[CVIS_SURFACE_PART_FORM][a[1]][a[0]];
  const gdouble u[3] = { dx * ((gdouble) b[0] - a[0]),
    dy * ((gdouble) b[1] - a[1]),
    surface->parts[CVIS_SURFACE_PART_FORM][b[1]][b[0]] - origin };
  const gdouble v[3] = { dx * ((gdouble) c[0] - a[0]),
    dy * ((gdouble) c[1] - a[1]),
    surface->parts[CVIS_SURFACE_PART_FORM][c[1]][c[0]] - origin };
  const gdouble n[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
    u[0] * v[1] - u[1] * v[0] };

  *area += sqrt (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2.0;
  *gradient += (n[0] * n[0] + n[1] * n[1]) / (n[2] * n[2]);
}

/* Compares Sdr and Sdq with the triangles of both diagonals, over the cells
 * without a missing corner. */
static void
test_triangles (void)
{
  const gdouble dx = 0.5, dy = 2.0;
  Surface *surface = g_new0 (Surface, 1);
  GRand *random = g_rand_new_with_seed (25178);
  gdouble area = 0.0, gradient = 0.0;
  guint cells = 0;
  LwtConfig config;

  lwt_config_init (&config);
  config.wavelet = cdf97 ();
  config.levels[0] = config.levels[1] = 0;
  config.levels_roughness[0] = config.levels_roughness[1] = 0;
  config.parts = config.parameters = 1u << CVIS_SURFACE_PART_FORM;
  config.dx = dx;
  config.dy = dy;
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++)
      surface->in[y][x] = (gfloat) g_rand_double_range (random, -3.0, 3.0);
  surface->in[7][33] = surface->in[H - 1][0] = NAN;
  run_parts (&config, surface);
  for (guint y = 0; y + 1 < H; y++)
    for (guint x = 0; x + 1 < W; x++) {
      const guint a[2] = { x, y }, b[2] = { x + 1, y };
      const guint c[2] = { x, y + 1 }, d[2] = { x + 1, y + 1 };

      if (!isfinite (surface->in[y][x] + surface->in[y][x + 1]
                     + surface->in[y + 1][x] + surface->in[y + 1][x + 1]))
        continue;
      add_triangle (surface, a, b, c, dx, dy, &area, &gradient);
      add_triangle (surface, d, b, c, dx, dy, &area, &gradient);
      add_triangle (surface, b, a, d, dx, dy, &area, &gradient);
      add_triangle (surface, c, a, d, dx, dy, &area, &gradient);
      cells++;
    }
  g_assert_cmpuint (cells, ==, (W - 1) * (H - 1) - 5);
  area /= 2.0 * cells * dx * dy;
  gradient /= 4.0 * cells;
  g_assert_cmpfloat_with_epsilon (
      surface->job.parameters[CVIS_SURFACE_PART_FORM].sdr / (area - 1.0), 1.0,
      1e-6);
  g_assert_cmpfloat_with_epsilon (
      surface->job.parameters[CVIS_SURFACE_PART_FORM].sdq / sqrt (gradient),
      1.0, 1e-7);
  g_rand_free (random);
  g_free (surface);
}

/* Parts that go nowhere have the parameters that they have when they do;
 * nothing of them is stored. On the CPU backend: the reference
 * implementation stores them. */
static void
test_measured (void)
{
  Surface *surface = g_new0 (Surface, 1);
  GError *error = NULL;
  CvisSurfaceParameters stored[CVIS_SURFACE_N_PARTS];
  LwtConfig config;
  LwtEngine *engine;
  LwtJob *done;

  lwt_config_init (&config);
  config.wavelet = cdf97 ();
  config.parts = config.parameters = 0x1c; /* roughness, waviness, form */
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++)
      surface->in[y][x] = (gfloat) (sin (x * 0.2) * cos (y * 0.15)
                                    + g_test_rand_double_range (-0.1, 0.1));
  surface->in[5][6] = NAN;
  run_parts (&config, surface);
  memcpy (stored, surface->job.parameters, sizeof stored);
  g_assert_cmpuint (stored[CVIS_SURFACE_PART_ROUGHNESS].n, ==, W * H - 1);

  engine = lwt_engine_new (&config, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    surface->job.parts[i].data = NULL;
  surface->job.measured = 1u << CVIS_SURFACE_PART_NOISE;
  g_assert_false (lwt_engine_submit (engine, &surface->job, &error));
  g_assert_nonnull (g_strrstr (error->message, "measure"));
  g_clear_error (&error);
  /* all components, then one */
  for (guint i = 0; i < 2; i++) {
    surface->job.measured =
        i == 0 ? config.parts : 1u << CVIS_SURFACE_PART_WAVINESS;
    g_assert_true (lwt_engine_submit (engine, &surface->job, &error));
    g_assert_true (lwt_engine_wait (engine, &done, &error));
    g_assert_no_error (error);
    for (guint part = 0; part < CVIS_SURFACE_N_PARTS; part++)
      if (surface->job.measured & (1u << part))
        g_assert_cmpmem (&done->parameters[part], sizeof stored[0],
            &stored[part], sizeof stored[0]);
      else
        g_assert_cmpuint (done->parameters[part].n, ==, 0);
  }
  lwt_engine_free (engine);
  g_free (surface);
}

/* --- denoise -------------------------------------------------------------- */

static void
test_denoise (void)
{
  Surface *surface = g_new0 (Surface, 1);
  gdouble before = 0.0, after = 0.0;
  LwtConfig config;

  lwt_config_init (&config);
  config.operation = LWT_OPERATION_DENOISE;
  config.wavelet = cdf97 ();
  config.levels[0] = config.levels[1] = 3;
  config.parts =
      (1u << CVIS_SURFACE_PART_MEASURED) | (1u << CVIS_SURFACE_PART_NOISE);
  config.spins = 4;
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++)
      surface->in[y][x] = (gfloat) (sin (x * 0.2) * cos (y * 0.15)
                                    + g_test_rand_double_range (-0.1, 0.1));
  run_parts (&config, surface);
  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++) {
      const gdouble truth = sin (x * 0.2) * cos (y * 0.15);
      const gdouble in = surface->in[y][x];
      const gdouble out = surface->parts[CVIS_SURFACE_PART_MEASURED][y][x];

      before += (in - truth) * (in - truth);
      after += (out - truth) * (out - truth);
      g_assert_cmpfloat_with_epsilon (
          out + surface->parts[CVIS_SURFACE_PART_NOISE][y][x], in, 1e-6);
    }
  g_assert_cmpfloat (surface->job.threshold, >, 0.1);
  g_assert_cmpfloat (after, <, 0.5 * before);
  g_free (surface);
}

/* Integers are stored exactly: with a threshold of 0 all of them, with bits
 * below the level cleared; noise around white and black is clamped. */
static void
test_stored (void)
{
  static const struct {
    LwtSample sample;
    guint bits, shift;
  } kinds[] = { { LWT_SAMPLE_U8, 8, 0 }, { LWT_SAMPLE_U16, 16, 0 },
    { LWT_SAMPLE_U16, 10, 6 }, { LWT_SAMPLE_U16, 10, 0 } };
  guint8 in8[H][W], out8[H][W];
  guint16 in16[H][W], out16[H][W];

  for (guint i = 0; i < 2 * G_N_ELEMENTS (kinds); i++) {
    const guint bits = kinds[i / 2].bits, shift = kinds[i / 2].shift;
    const guint max = (1u << bits) - 1;
    const gboolean deep = kinds[i / 2].sample == LWT_SAMPLE_U16;
    const gboolean keep = i % 2 == 0;
    LwtConfig config;
    LwtJob job = { 0 };
    guint ends = 0;

    lwt_config_init (&config);
    config.operation = LWT_OPERATION_DENOISE;
    config.wavelet = cdf97 ();
    config.width = W;
    config.height = H;
    config.levels[0] = config.levels[1] = 3;
    config.parts = 1u << CVIS_SURFACE_PART_MEASURED;
    config.sample = kinds[i / 2].sample;
    config.z_scale = 1.0 / (1u << (bits + shift - 8));
    config.store_bits = bits;
    config.store_shift = shift;
    config.threshold = keep ? 1e-6 : 30.0;
    for (guint y = 0; y < H; y++)
      for (guint x = 0; x < W; x++) {
        const guint range = x < W / 3 || x > 2 * W / 3 ? 5 : max + 1;
        const guint drawn = (guint) g_test_rand_int_range (0, (gint) range);
        const guint level = x > 2 * W / 3 ? max - drawn : drawn;

        in8[y][x] = (guint8) level;
        in16[y][x] = (guint16) (level << shift);
      }
    job.data = deep ? (gpointer) in16 : in8;
    job.stride = deep ? sizeof in16[0] : sizeof in8[0];
    job.parts[CVIS_SURFACE_PART_MEASURED].data = deep ? (gpointer) out16 : out8;
    job.parts[CVIS_SURFACE_PART_MEASURED].stride = job.stride;
    run (&config, &job);
    for (guint y = 0; y < H; y++)
      for (guint x = 0; x < W; x++) {
        const guint in = deep ? in16[y][x] : in8[y][x];
        const guint out = deep ? out16[y][x] : out8[y][x];

        g_assert_cmpuint (out % (1u << shift), ==, 0);
        g_assert_cmpuint (out >> shift, <=, max);
        if (keep)
          g_assert_cmpuint (out, ==, in);
        ends += out == 0 || out >> shift == max;
      }
    g_assert_cmpuint (ends, >, 0);
  }
}

/* --- refused settings and jobs ------------------------------------------- */

static void
assert_refused (const LwtConfig *config, const gchar *words)
{
  GError *error = NULL;

  g_assert_false (lwt_config_check (config, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  if (!g_strrstr (error->message, words))
    g_error ("\"%s\" does not say \"%s\"", error->message, words);
  g_clear_error (&error);
}

static void
test_refused (void)
{
  LwtConfig good, config;
  LwtWavelet broken = *cdf97 ();

  lwt_config_init (&good);
  good.width = 100;
  good.height = 80;
  good.wavelet = cdf97 ();
  g_assert_true (lwt_config_check (&good, NULL));
#define REFUSED(words, ...)                                                    \
  config = good;                                                               \
  __VA_ARGS__;                                                                 \
  assert_refused (&config, words)
  REFUSED ("width is 0", config.width = 0);
  REFUSED ("height is 4000000", config.height = 4000000);
  REFUSED ("no wavelet", config.wavelet = NULL);
  REFUSED ("levels along y are 17", config.levels[1] = 17);
  REFUSED ("waviness begins at 7 levels", config.levels_roughness[0] = 7);
  REFUSED ("roughness begins at 4 levels", config.levels_noise[1] = 4);
  REFUSED ("dx is 0", config.dx = 0.0);
  REFUSED ("dy is nan", config.dy = NAN);
  REFUSED ("z-scale", config.z_scale = 0.0);
  REFUSED ("no component", config.parts = 0);
  REFUSED ("noise is requested", config.parts = 1u << CVIS_SURFACE_PART_NOISE);
  REFUSED ("does not compute", config.parts = 1u << CVIS_SURFACE_PART_MEASURED);
  REFUSED ("parameters", config.parameters = 1u << CVIS_SURFACE_PART_FORM);
  REFUSED ("reversible", config.type = LWT_TYPE_I32);
  REFUSED ("integers", config.type = LWT_TYPE_I32, config.wavelet = legall ());
  REFUSED ("frames in flight is 9", config.depth_in_flight = 9);
  REFUSED ("pad", config.boundary = LWT_BOUNDARY_PAD_SMOOTH,
      config.levels[0] = 16, config.width = 1u << 20);
  broken.steps[2].c[1] = NAN;
  REFUSED ("weight 1 of lifting step 2", config.wavelet = &broken);
  REFUSED ("only denoise of integer", config.store_bits = 8);
  good.operation = LWT_OPERATION_DENOISE;
  good.parts = 1u << CVIS_SURFACE_PART_MEASURED;
  good.sample = LWT_SAMPLE_U8;
  g_assert_true (lwt_config_check (&good, NULL));
  REFUSED ("threshold-scale", config.threshold_scale = 0.0);
  REFUSED ("samples of 8 bits cannot hold 10", config.store_bits = 10);
  REFUSED ("no z-offset", config.store_bits = 8, config.z_offset = 1.0);
  REFUSED ("not supported for stored integers", config.store_bits = 8,
      config.parameters = config.parts);
  broken = *cdf97 ();
  broken.scale_high = 0.0;
  REFUSED ("scale of the high band", config.wavelet = &broken);
}

static void
test_jobs_refused (void)
{
  gfloat data[16] = { 0 };
  LwtConfig config;
  LwtEngine *engine;
  LwtJob job = { .data = data, .stride = 12 }, *done;
  GError *error = NULL;

  lwt_config_init (&config);
  config.width = config.height = 4;
  config.wavelet = cdf97 ();
  config.depth_in_flight = 1;
  engine = lwt_engine_new_on (&lwt_backend_reference, &config, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (lwt_engine_submit (engine, &job, &error));
  g_assert_nonnull (g_strrstr (error->message, "stride of the surface is 12"));
  g_clear_error (&error);
  job.stride = 16;
  job.on_device = TRUE;
  g_assert_false (lwt_engine_submit (engine, &job, &error));
  g_assert_nonnull (g_strrstr (error->message, "on a device"));
  g_clear_error (&error);
  job.on_device = FALSE;
  job.parts[CVIS_SURFACE_PART_FORM] = (LwtPlane){ .data = data, .stride = 16 };
  g_assert_false (lwt_engine_submit (engine, &job, &error));
  g_assert_nonnull (
      g_strrstr (error->message, "not configured to compute the form"));
  g_clear_error (&error);
  job.parts[CVIS_SURFACE_PART_FORM].data = NULL;
  g_assert_true (lwt_engine_submit (engine, &job, &error));
  g_assert_false (lwt_engine_submit (engine, &job, &error));
  g_assert_nonnull (g_strrstr (error->message, "in flight"));
  g_clear_error (&error);
  g_assert_true (lwt_engine_wait (engine, &done, NULL));
  g_assert_true (done == &job);
  g_assert_true (lwt_engine_wait (engine, &done, NULL));
  g_assert_null (done);
  lwt_engine_free (engine);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lwtengine/reconstruction", test_reconstruction);
  g_test_add_func ("/lwtengine/parts-add-up", test_parts_add_up);
  g_test_add_func ("/lwtengine/planes-are-form", test_planes_are_form);
  g_test_add_func ("/lwtengine/cutoff", test_cutoff);
  g_test_add_func ("/lwtengine/sweep", test_sweep);
  g_test_add_func ("/lwtengine/parameters", test_parameters);
  g_test_add_func ("/lwtengine/slopes", test_slopes);
  g_test_add_func ("/lwtengine/triangles", test_triangles);
  g_test_add_func ("/lwtengine/measured", test_measured);
  g_test_add_func ("/lwtengine/denoise", test_denoise);
  g_test_add_func ("/lwtengine/stored", test_stored);
  g_test_add_func ("/lwtengine/refused", test_refused);
  g_test_add_func ("/lwtengine/jobs-refused", test_jobs_refused);
  return g_test_run ();
}
