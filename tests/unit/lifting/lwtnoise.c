/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The noise that denoise estimates, and what it removes, with parts of the
 * surface that carry no noise: known truth, known sigma. The CPU backend. */
#include <math.h>
#include <string.h>

#include "cuda/lifting/engine.h"
#include "cuda/wavelet/wavelet.h"

#define W 640
#define H 360
#define RIM 24 /* samples next to a constant part, where its step matters */

/* A surface of @width x @height in rows of @width samples */
typedef struct {
  guint width, height;
  gdouble *truth, *in, *out;
  gdouble threshold;
} Surface;

static Surface
new_surface (guint width, guint height)
{
  const gsize n = (gsize) width * height;

  return (Surface){ width, height, g_new0 (gdouble, n), g_new0 (gdouble, n),
    g_new0 (gdouble, n), 0.0 };
}

static void
clear_surface (Surface *s)
{
  g_free (s->truth);
  g_free (s->in);
  g_free (s->out);
}

static gdouble
normal (GRand *random)
{
  return sqrt (-2.0 * log (1.0 - g_rand_double (random)))
         * cos (2.0 * G_PI * g_rand_double (random));
}

/* Waves and blocks with noise; @whole: rounded to levels of 8 bits */
static Surface
new_noisy (gdouble sigma, gboolean whole)
{
  GRand *random = g_rand_new_with_seed (7);
  Surface s = new_surface (W, H);

  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < W; x++) {
      const gsize at = (gsize) y * W + x;
      const gdouble z = 120.0 + 35.0 * sin (x / 17.0) * cos (y / 23.0)
                        + 25.0 * ((x / 60 + y / 45) % 2);

      s.truth[at] = z;
      s.in[at] = z + sigma * normal (random);
      if (whole)
        s.in[at] = CLAMP (round (s.in[at]), 0.0, 255.0);
    }
  g_rand_free (random);
  return s;
}

/* The columns of @from from @first on. */
static Surface
crop (const Surface *from, guint first)
{
  Surface s = new_surface (from->width - first, from->height);

  for (guint y = 0; y < s.height; y++)
    for (guint x = 0; x < s.width; x++) {
      const gsize at = (gsize) y * from->width + first + x;

      s.truth[(gsize) y * s.width + x] = from->truth[at];
      s.in[(gsize) y * s.width + x] = from->in[at];
    }
  return s;
}

/* Denoises as video in colour is by default. */
static void
denoise (Surface *s, LwtBoundary boundary, LwtSample sample)
{
  const gsize size = lwt_sample_get_size (sample);
  guint8 *in = g_malloc (size * s->width * s->height);
  LwtConfig config;
  LwtJob job = { .data = in, .stride = size * s->width }, *done;
  GError *error = NULL;
  LwtEngine *engine;

  for (gsize i = 0; i < (gsize) s->width * s->height; i++)
    if (sample == LWT_SAMPLE_U8)
      in[i] = (guint8) s->in[i];
    else if (sample == LWT_SAMPLE_F32)
      ((gfloat *) (gpointer) in)[i] = (gfloat) s->in[i];
    else
      ((gdouble *) (gpointer) in)[i] = s->in[i];
  lwt_config_init (&config);
  config.operation = LWT_OPERATION_DENOISE;
  config.width = s->width;
  config.height = s->height;
  config.type = LWT_TYPE_F64;
  config.sample = sample;
  config.wavelet = lwt_wavelet_new ("9/7", NULL);
  config.boundary = boundary;
  config.levels[0] = config.levels[1] = 4;
  config.shrink = LWT_SHRINK_HARD;
  config.threshold_scale = 0.6;
  config.spins = 4;
  config.parts = 1u << CVIS_SURFACE_PART_MEASURED;
  job.parts[CVIS_SURFACE_PART_MEASURED].data = s->out;
  job.parts[CVIS_SURFACE_PART_MEASURED].stride = sizeof (gdouble) * s->width;
  engine = lwt_engine_new (&config, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (lwt_engine_submit (engine, &job, &error));
  g_assert_true (lwt_engine_wait (engine, &done, &error));
  g_assert_no_error (error);
  s->threshold = job.threshold;
  lwt_engine_free (engine);
  lwt_wavelet_free ((LwtWavelet *) config.wavelet);
  g_free (in);
}

/* PSNR in dB of a peak of 255, of the columns from @first on. */
static gdouble
measure (const Surface *s, guint first)
{
  gdouble sum = 0.0;

  for (guint y = 0; y < s->height; y++)
    for (guint x = first; x < s->width; x++) {
      const gsize at = (gsize) y * s->width + x;

      sum += (s->out[at] - s->truth[at]) * (s->out[at] - s->truth[at]);
    }
  return 10.0 * log10 (255.0 * 255.0 * s->height * (s->width - first) / sum);
}

/* The sigma estimated, of a picture with noise in @samples samples */
static gdouble
sigma_of (const Surface *s, gdouble samples)
{
  return s->threshold / (0.6 * sqrt (2.0 * log (samples)));
}

/* --- tests ---------------------------------------------------------------- */

/* A constant, or missing, part of the surface changes nothing elsewhere: as
 * good as without this part, and the same threshold. */
static void
check_part (gdouble share, gdouble sigma, gdouble fill, LwtSample sample)
{
  const guint first = (guint) (W * share) / 2 * 2;
  Surface s = new_noisy (sigma, sample == LWT_SAMPLE_U8);
  Surface alone = crop (&s, first);
  gdouble with, without;

  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < first; x++)
      s.in[y * W + x] = fill;
  denoise (&s, LWT_BOUNDARY_SYMMETRIC, sample);
  denoise (&alone, LWT_BOUNDARY_SYMMETRIC, sample);
  with = measure (&s, first + RIM);
  without = measure (&alone, RIM);
  g_test_message ("%g %% of %g, sigma %g: %.3f dB, alone %.3f dB; threshold "
                  "%.3f, alone %.3f",
      100.0 * share, fill, sigma, with, without, s.threshold, alone.threshold);
  g_assert_cmpfloat (fabs (with - without), <, 0.1);
  g_assert_cmpfloat (fabs (s.threshold / alone.threshold - 1.0), <, 0.03);
  clear_surface (&s);
  clear_surface (&alone);
}

static void
test_constant_part (void)
{
  static const gdouble shares[] = { 0.25, 0.5, 0.6, 0.75 };
  static const gdouble sigmas[] = { 1.0, 5.0, 20.0 };

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    for (guint j = 0; j < G_N_ELEMENTS (sigmas); j++) {
      check_part (shares[i], sigmas[j], 16.0, LWT_SAMPLE_U8);
      check_part (shares[i], sigmas[j], 120.5, LWT_SAMPLE_F32);
      check_part (shares[i], sigmas[j], NAN, LWT_SAMPLE_F64);
    }
}

/* The noise of a surface whose points at the left are constant (or missing,
 * @fill NaN), @sigma before it is rounded to whole levels. */
static void
check_estimate (gdouble share, gdouble sigma, gdouble fill, gboolean whole)
{
  const guint first = (guint) (W * share) / 2 * 2;
  const gdouble truth = whole ? sqrt (sigma * sigma + 1.0 / 12.0) : sigma;
  const LwtSample sample =
      isnan (fill) || !whole ? LWT_SAMPLE_F64 : LWT_SAMPLE_U8;
  Surface s = new_noisy (sigma, whole);
  gdouble estimate;

  for (guint y = 0; y < H; y++)
    for (guint x = 0; x < first; x++)
      s.in[y * W + x] = fill;
  denoise (&s, LWT_BOUNDARY_SYMMETRIC, sample);
  estimate = sigma_of (&s, (gdouble) (W - first) * H);
  g_test_message ("%s%g %% of %g, sigma %g: bias %+.1f %%",
      whole ? "whole levels, " : "", 100.0 * share, fill, sigma,
      100.0 * (estimate / truth - 1.0));
  g_assert_cmpfloat (fabs (estimate / truth - 1.0), <, 0.05);
  clear_surface (&s);
}

static void
test_known_sigma (void)
{
  static const gdouble shares[] = { 0.0, 0.25, 0.5, 0.6, 0.75, 0.9 };

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++) {
    check_estimate (shares[i], 10.0, 16.0, TRUE);
    check_estimate (shares[i], 2.0, NAN, FALSE);
    /* many samples are equal to their neighbours, and do have noise */
    check_estimate (shares[i], 0.5, 16.0, TRUE);
    check_estimate (shares[i], 1.0, 16.0, TRUE);
  }
}

/* Single missing points are filled from their neighbours and so carry less
 * noise. They are counted: 10 % of them cost a few per cent of sigma. */
static void
test_scattered_missing (void)
{
  GRand *random = g_rand_new_with_seed (3);
  Surface s = new_noisy (10.0, FALSE);
  gdouble bias;

  for (guint i = 0; i < W * H; i++)
    if (g_rand_double (random) < 0.1)
      s.in[i] = NAN;
  denoise (&s, LWT_BOUNDARY_SYMMETRIC, LWT_SAMPLE_F64);
  bias = sigma_of (&s, (gdouble) W * H) / 10.0 - 1.0;
  g_test_message ("10 %% missing: bias %+.1f %%", 100.0 * bias);
  g_assert_cmpfloat (fabs (bias), <, 0.1);
  clear_surface (&s);
  g_rand_free (random);
}

/* The border of the padded boundaries is extrapolated and is not counted. */
static void
test_padding (void)
{
  static const LwtBoundary boundaries[] = { LWT_BOUNDARY_PAD_SMOOTH,
    LWT_BOUNDARY_PAD_SYMMETRIC };

  for (guint i = 0; i < G_N_ELEMENTS (boundaries); i++) {
    Surface whole = new_noisy (10.0, FALSE);
    Surface s = crop (&whole, W - 96);

    denoise (&s, boundaries[i], LWT_SAMPLE_F64);
    g_assert_cmpfloat (fabs (sigma_of (&s, 96.0 * H) / 10.0 - 1.0), <, 0.1);
    clear_surface (&s);
    clear_surface (&whole);
  }
}

/* A profile: cells are 64 x 1. */
static void
test_profile (void)
{
  GRand *random = g_rand_new_with_seed (9);
  Surface s = new_surface (8192, 1);

  for (guint x = 0; x < s.width; x++)
    s.in[x] = x < 5000 ? 40.0 : round (100.0 + 0.5 * normal (random));
  denoise (&s, LWT_BOUNDARY_SYMMETRIC, LWT_SAMPLE_U8);
  g_assert_cmpfloat (
      fabs (sigma_of (&s, 3192.0) / sqrt (0.25 + 1.0 / 12.0) - 1.0), <, 0.15);
  clear_surface (&s);
  g_rand_free (random);
}

/* Discs on a constant ground: constant cells next to content show that there
 * is no noise, so nothing changes. */
static void
test_drawing (void)
{
  GRand *random = g_rand_new_with_seed (5);
  Surface s = new_surface (W, H);

  for (guint i = 0; i < W * H; i++)
    s.in[i] = 40.0;
  for (guint i = 0; i < 40; i++) {
    const gdouble cx = g_rand_double_range (random, 0.0, W);
    const gdouble cy = g_rand_double_range (random, 0.0, H);
    const gdouble radius = g_rand_double_range (random, 5.0, 60.0);
    const gdouble level = g_rand_int_range (random, 0, 256);

    for (guint y = 0; y < H; y++)
      for (guint x = 0; x < W; x++) {
        const gdouble a =
            CLAMP (radius - hypot (x - cx, y - cy) + 0.5, 0.0, 1.0);

        s.in[y * W + x] = round (s.in[y * W + x] * (1.0 - a) + a * level);
      }
  }
  denoise (&s, LWT_BOUNDARY_SYMMETRIC, LWT_SAMPLE_U8);
  g_assert_cmpfloat (s.threshold, <, 0.01);
  for (guint i = 0; i < W * H; i++)
    g_assert_cmpfloat_with_epsilon (s.out[i], s.in[i], 0.05);
  clear_surface (&s);
  g_rand_free (random);
}

/* Surfaces without any noise: constant, all missing. */
static void
test_nothing (void)
{
  static const gdouble fills[] = { 3.5, NAN };

  for (guint i = 0; i < G_N_ELEMENTS (fills); i++) {
    Surface s = new_surface (40, 30);

    for (guint k = 0; k < 40 * 30; k++)
      s.in[k] = fills[i];
    denoise (&s, LWT_BOUNDARY_SYMMETRIC, LWT_SAMPLE_F64);
    g_assert_cmpfloat (s.threshold, ==, 0.0);
    for (guint k = 0; k < 40 * 30; k++)
      g_assert_true (isnan (fills[i]) ? isnan (s.out[k])
                                      : fabs (s.out[k] - fills[i]) < 1e-9);
    clear_surface (&s);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lwtnoise/constant-part", test_constant_part);
  g_test_add_func ("/lwtnoise/known-sigma", test_known_sigma);
  g_test_add_func ("/lwtnoise/scattered-missing", test_scattered_missing);
  g_test_add_func ("/lwtnoise/padding", test_padding);
  g_test_add_func ("/lwtnoise/profile", test_profile);
  g_test_add_func ("/lwtnoise/drawing", test_drawing);
  g_test_add_func ("/lwtnoise/nothing", test_nothing);
  return g_test_run ();
}
