/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The denoising engine on rendered video with known noise: how much goes and how much of
 * the picture stays, cuts, moving objects, bars, still areas, equal bits for any number of
 * threads and any start of the stream, formats, sizes, settings. The limits are a little
 * worse than what was measured. */
#include <math.h>
#include <string.h>

#include "cuda/denoise/engine.h"
#include "cuda/core/error.h"

#define MAX_FRAMES 9

/* A stream, planar, its samples in 16 bits */
typedef struct {
  DenoiseConfig config;
  guint n;
  gsize sizes[3], bytes;
  guint8 *in[MAX_FRAMES], *out[MAX_FRAMES], *truth[MAX_FRAMES];
  DenoiseJob jobs[MAX_FRAMES];
} Stream;

/* --- rendered frames --------------------------------------------------------------- */

static guint32
scramble (guint32 seed, guint32 x, guint32 y)
{
  guint32 h = seed * 0x165667b1u ^ x * 0x9e3779b1u ^ y * 0x85ebca77u;

  h = (h ^ h >> 15) * 0x2c1b3c6du;
  h = (h ^ h >> 12) * 0x297a2d39u;
  return h ^ h >> 15;
}

/* Random squares of side @size, interpolated, -1 to 1 */
static gdouble
texture_at (guint32 seed, gdouble x, gdouble y, gdouble size)
{
  const gdouble u = x / size + 1000, v = y / size + 1000;
  const guint32 i = (guint32) u, j = (guint32) v;
  const gdouble a = u - i, b = v - j;
  gdouble corners[4];

  for (guint32 k = 0; k < 4; k++)
    corners[k] =
        (scramble (seed, i + (k & 1), j + (k >> 1)) & 0xffff) / 32767.5 - 1;
  return (corners[0] * (1 - a) + corners[1] * a) * (1 - b)
         + (corners[2] * (1 - a) + corners[3] * a) * b;
}

/* The scene @seed at time @t, levels of 8 bits: coarse and fine textures that move by
 * (1.5, -0.75) a frame; a quarter of it is flat. */
static gdouble
scene_at (guint32 seed, gdouble x, gdouble y, gdouble t)
{
  const gdouble u = x - 1.5 * t, v = y + 0.75 * t;
  gdouble level = 128 + 50 * texture_at (seed, u, v, 37);

  if (texture_at (seed + 1, u, v, 60) > -0.3)
    level += 25 * texture_at (seed + 2, u, v, 7)
             + 12 * texture_at (seed + 3, u, v, 3);
  return CLAMP (level, 20, 235);
}

static gdouble
gaussian (GRand *random)
{
  gdouble sum = -6;

  for (guint i = 0; i < 12; i++)
    sum += g_rand_double (random);
  return sum;
}

static guint
get_width (const DenoiseConfig *config, guint c)
{
  return c == 0 ? config->width
                : (config->width + config->sub_x) >> config->sub_x;
}

static guint
get_height (const DenoiseConfig *config, guint c)
{
  return c == 0 ? config->height
                : (config->height + config->sub_y) >> config->sub_y;
}

static void
put_level (const DenoiseConfig *config, guint8 *at, gsize i, gdouble level)
{
  const gdouble scaled = level * (1 << (config->depth - 8));
  const gint sample =
      CLAMP ((gint) floor (scaled + 0.5), 0, (1 << config->depth) - 1);

  if (config->depth == 8)
    at[i] = (guint8) sample;
  else
    ((guint16 *) (gpointer) at)[i] = (guint16) sample;
}

static gdouble
get_level (const DenoiseConfig *config, const guint8 *at, gsize i)
{
  return config->depth == 8 ? at[i]
                            : ((const guint16 *) (gconstpointer) at)[i]
                                  / (gdouble) (1 << (config->depth - 8));
}

/* What a frame shows at a place of component @c */
typedef gdouble (*Scene) (guint c, gdouble x, gdouble y, guint frame);

static gdouble
moving_scene (guint c, gdouble x, gdouble y, guint frame)
{
  return scene_at (1 + 10 * c, x, y, frame);
}

static gdouble
still_scene (guint c, gdouble x, gdouble y, guint frame)
{
  return scene_at (1 + 10 * c, x, y, 0);
}

/* The scene that does not move, seen by a lens that zooms in by 15 % a frame */
static gdouble
growing_scene (guint c, gdouble x, gdouble y, guint frame)
{
  const gdouble zoom = pow (1.15, frame);

  return scene_at (1 + 10 * c, x / zoom, y / zoom, 0);
}

/* Another scene from frame 4 on */
static gdouble
cut_scene (guint c, gdouble x, gdouble y, guint frame)
{
  return scene_at (frame < 4 ? 1 : 50, x, y, frame);
}

/* A bright square of 20 crosses a still scene, 24 pixels a frame. */
static gdouble
crossed_scene (guint c, gdouble x, gdouble y, guint frame)
{
  const gdouble left = 10 + 24.0 * frame;

  return x >= left && x < left + 20 && y >= 40 && y < 60
             ? 230
             : scene_at (1, x, y, 0) * 0.5;
}

static Stream *
stream_new (const DenoiseConfig *config, Scene scene, guint n, gdouble sigma)
{
  Stream *s = g_new0 (Stream, 1);
  GRand *random = g_rand_new_with_seed (5);

  s->config = *config;
  s->n = n;
  for (guint c = 0; c < config->n_components; c++)
    s->sizes[c] = (gsize) get_width (config, c) * get_height (config, c);
  s->bytes = s->sizes[0] + s->sizes[1] + s->sizes[2];
  for (guint f = 0; f < n; f++) {
    gsize at = 0;

    s->in[f] = g_malloc (2 * s->bytes);
    s->out[f] = g_malloc0 (2 * s->bytes);
    s->truth[f] = g_malloc (2 * s->bytes);
    for (guint c = 0; c < config->n_components; c++)
      for (gsize i = 0; i < s->sizes[c]; i++, at++) {
        const gdouble level = scene (c, (gdouble) (i % get_width (config, c)),
            (gdouble) (i / get_width (config, c)), f);

        put_level (config, s->truth[f], at, level);
        put_level (config, s->in[f], at, level + sigma * gaussian (random));
      }
  }
  g_rand_free (random);
  return s;
}

static void
stream_free (Stream *s)
{
  for (guint f = 0; f < s->n; f++) {
    g_free (s->in[f]);
    g_free (s->out[f]);
    g_free (s->truth[f]);
  }
  g_free (s);
}

/* Denoises the frames from @first on, with the stream's configuration. */
static void
run_engine (Stream *s, guint first)
{
  GError *error = NULL;
  DenoiseEngine *engine = denoise_engine_new (&s->config, NULL, &error);
  guint done = first;
  DenoiseJob *job;

  g_assert_no_error (error);
  for (guint f = first; f < s->n; f++) {
    gsize at = 0, bytes = s->config.depth > 8 ? 2 : 1;

    for (guint c = 0; c < s->config.n_components; c++) {
      const gsize stride = get_width (&s->config, c) * bytes;

      s->jobs[f].in[c] = (DenoisePlane){ s->in[f] + at, stride, 1 };
      s->jobs[f].out[c] = (DenoisePlane){ s->out[f] + at, stride, 1 };
      at += s->sizes[c] * bytes;
    }
    while (f - done >= denoise_engine_get_depth (engine)) {
      g_assert_true (denoise_engine_wait (engine, &job, &error));
      g_assert_true (job == &s->jobs[done++]);
    }
    denoise_engine_submit (engine, &s->jobs[f], &error);
    g_assert_no_error (error);
  }
  denoise_engine_end (engine);
  for (; done < s->n; done++) {
    g_assert_true (denoise_engine_wait (engine, &job, &error));
    g_assert_true (job == &s->jobs[done]);
  }
  g_assert_true (denoise_engine_wait (engine, &job, &error));
  g_assert_null (job);
  denoise_engine_free (engine);
}

/* PSNR of component @c of frame @f in @frames, dB; 99: equal */
static gdouble
psnr_of (const Stream *s, guint8 *const *frames, guint f, guint c)
{
  gsize at = 0;
  gdouble sum = 0;

  for (guint k = 0; k < c; k++)
    at += s->sizes[k];
  for (gsize i = at; i < at + s->sizes[c]; i++) {
    const gdouble d = get_level (&s->config, frames[f], i)
                      - get_level (&s->config, s->truth[f], i);

    sum += d * d;
  }
  return sum > 0 ? 10 * log10 (255.0 * 255.0 * (gdouble) s->sizes[c] / sum)
                 : 99;
}

static DenoiseConfig
config_of (DenoiseMode mode, guint width, guint height)
{
  DenoiseConfig config;

  denoise_config_init (&config);
  config.mode = mode;
  config.width = width;
  config.height = height;
  config.threads = 2;
  return config;
}

/* The gain in PSNR over the noisy frame @f, dB */
static gdouble
measure_gain (DenoiseMode mode, Scene scene, gdouble sigma, guint f)
{
  const DenoiseConfig config = config_of (mode, 240, 176);
  Stream *s = stream_new (&config, scene, 7, sigma);
  gdouble gain;

  run_engine (s, 0);
  gain = psnr_of (s, s->out, f, 0) - psnr_of (s, s->in, f, 0);
  g_test_message ("mode %d, sigma %g: %.2f dB, estimated %.2f", mode, sigma,
      gain, s->jobs[f].sigma[0]);
  if (sigma > 0)
    g_assert_cmpfloat (fabs (s->jobs[f].sigma[0] / sigma - 1), <, 0.15);
  stream_free (s);
  return gain;
}

/* --- tests --------------------------------------------------------------------------- */

static void
test_gain (void)
{
  static const struct {
    DenoiseMode mode;
    gdouble sigma, gain;
  } cases[] = {
    { DENOISE_MODE_BOTH, 5, 6.8 },
    { DENOISE_MODE_BOTH, 10, 8.8 },
    { DENOISE_MODE_BOTH, 20, 10.5 },
    { DENOISE_MODE_TEMPORAL, 10, 5.0 },
    { DENOISE_MODE_SPATIAL, 10, 5.0 },
    { DENOISE_MODE_RECURSIVE, 10, 6.0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpfloat (
        measure_gain (cases[i].mode, moving_scene, cases[i].sigma, 4), >,
        cases[i].gain);
}

/* Frames without noise stay, and so does texture. */
static void
test_clean (void)
{
  for (guint mode = 0; mode <= DENOISE_MODE_RECURSIVE; mode++) {
    const DenoiseConfig config = config_of ((DenoiseMode) mode, 240, 176);
    Stream *s = stream_new (&config, moving_scene, 5, 0);

    run_engine (s, 0);
    for (guint f = 0; f < s->n; f++)
      g_assert_cmpfloat (psnr_of (s, s->out, f, 0), >, 48);
    stream_free (s);
  }
}

/* No frame takes from another scene, whose first frame is reported. */
static void
test_cut (void)
{
  for (guint mode = 0; mode <= DENOISE_MODE_RECURSIVE; mode++) {
    const DenoiseConfig config = config_of ((DenoiseMode) mode, 240, 176);
    Stream *s = stream_new (&config, cut_scene, 8, 10);

    run_engine (s, 0);
    for (guint f = 0; f < s->n; f++) {
      if (mode != DENOISE_MODE_SPATIAL)
        g_assert_cmpint (s->jobs[f].starts_scene, ==, (f == 0 || f == 4));
      g_assert_cmpfloat (psnr_of (s, s->out, f, 0), >,
          psnr_of (s, s->in, f, 0) + (mode == DENOISE_MODE_TEMPORAL ? 2 : 4));
    }
    stream_free (s);
  }
}

/* Where the object is, was or will be, the error is not larger than that of the noise. */
static void
test_ghost (void)
{
  for (guint preset = 0; preset <= DENOISE_PRESET_ENCODER; preset++) {
    DenoiseConfig config = config_of (DENOISE_MODE_TEMPORAL, 240, 112);
    Stream *s;

    config.preset = (DenoisePreset) preset;
    s = stream_new (&config, crossed_scene, 7, 8);
    run_engine (s, 0);
    for (guint f = 1; f < 6; f++)
      for (guint k = f - 1; k <= f + 1; k++) {
        gdouble sum = 0, noise = 0;

        for (guint y = 36; y < 64; y++)
          for (guint x = 6 + 24 * k; x < 34 + 24 * k; x++) {
            const gsize i = y * 240 + x;
            const gdouble truth = s->truth[f][i];

            sum += (s->out[f][i] - truth) * (s->out[f][i] - truth);
            noise += (s->in[f][i] - truth) * (s->in[f][i] - truth);
          }
        g_assert_cmpfloat (sum, <, 1.05 * noise);
      }
    stream_free (s);
  }
}

/* Black bars change neither the noise that is found nor, a little away from them, the
 * result. */
static gdouble
barred_scene (guint c, gdouble x, gdouble y, guint frame)
{
  return y < 32 || y >= 144 ? -1000 : moving_scene (c, x, y - 32, frame);
}

static void
test_bars (void)
{
  const DenoiseConfig boxed = config_of (DENOISE_MODE_BOTH, 240, 176);
  const DenoiseConfig cropped = config_of (DENOISE_MODE_BOTH, 240, 112);
  Stream *a = stream_new (&boxed, barred_scene, 5, 10);
  Stream *b = stream_new (&cropped, moving_scene, 5, 10);
  gdouble sums[2] = { 0, 0 };

  for (guint f = 0; f < 5; f++)
    memcpy (a->in[f] + 32 * 240, b->in[f], 112 * 240);
  run_engine (a, 0);
  run_engine (b, 0);
  g_assert_cmpfloat (fabs (a->jobs[2].sigma[0] - b->jobs[2].sigma[0]), <, 0.3);
  for (gsize i = 8 * 240; i < 104 * 240; i++) {
    const gdouble truth = b->truth[2][i];

    sums[0] +=
        (a->out[2][i + 32 * 240] - truth) * (a->out[2][i + 32 * 240] - truth);
    sums[1] += (b->out[2][i] - truth) * (b->out[2][i] - truth);
  }
  g_assert_cmpfloat (fabs (10 * log10 (sums[0] / sums[1])), <, 0.3);
  for (gsize i = 0; i < 24 * 240; i++)
    g_assert_cmpint (a->out[2][i], ==, 0);
  stream_free (a);
  stream_free (b);
}

/* Repeated frames, with the same noise, are denoised like others. */
static void
test_duplicates (void)
{
  const DenoiseConfig config = config_of (DENOISE_MODE_BOTH, 240, 176);
  Stream *s = stream_new (&config, still_scene, 8, 10);

  for (guint f = 0; f < s->n; f++)
    memcpy (s->in[f], s->in[f / 4 * 4 + f % 4 / 2], s->bytes);
  run_engine (s, 0);
  for (guint f = 2; f < 6; f++) {
    g_assert_cmpfloat (fabs (s->jobs[f].sigma[0] / 10 - 1), <, 0.15);
    g_assert_cmpfloat (
        psnr_of (s, s->out, f, 0) - psnr_of (s, s->in, f, 0), >, 8);
  }
  stream_free (s);
}

/* A still scene flickers less, by the factor by which its noise is reduced. */
static void
test_flicker (void)
{
  const DenoiseConfig config = config_of (DENOISE_MODE_BOTH, 240, 176);
  Stream *s = stream_new (&config, still_scene, 9, 10);
  gdouble flicker[2] = { 0, 0 }, error[2] = { 0, 0 };

  run_engine (s, 0);
  for (guint f = 3; f < 6; f++)
    for (gsize i = 0; i < s->sizes[0]; i++) {
      guint8 *const *frames[2] = { s->in, s->out };

      for (guint k = 0; k < 2; k++) {
        const gdouble d = frames[k][f][i] - (gdouble) frames[k][f + 1][i];
        const gdouble e = frames[k][f][i] - (gdouble) s->truth[f][i];

        flicker[k] += d * d;
        error[k] += e * e;
      }
    }
  g_test_message ("flicker: %.1f dB less, error: %.1f dB less",
      10 * log10 (flicker[0] / flicker[1]), 10 * log10 (error[0] / error[1]));
  g_assert_cmpfloat (flicker[1] / flicker[0], <, error[1] / error[0]);
  stream_free (s);
}

/* The same bits with any number of threads, and for a frame whatever came before
 * those that it depends on. */
static void
test_repeats (void)
{
  for (guint mode = 0; mode <= DENOISE_MODE_RECURSIVE; mode++) {
    DenoiseConfig config = config_of ((DenoiseMode) mode, 131, 97);
    Stream *a, *b;

    config.n_components = 3;
    config.sub_x = config.sub_y = 1;
    a = stream_new (&config, moving_scene, 8, 10);
    config.threads = 5;
    b = stream_new (&config, moving_scene, 8, 10);
    run_engine (a, 0);
    run_engine (b, 0);
    for (guint f = 0; f < a->n; f++)
      g_assert_cmpmem (a->out[f], a->bytes, b->out[f], b->bytes);
    memset (b->out[5], 0, b->bytes);
    run_engine (b, 3);
    if (mode != DENOISE_MODE_RECURSIVE)
      g_assert_cmpmem (a->out[5], a->bytes, b->out[5], b->bytes);
    stream_free (a);
    stream_free (b);
  }
}

/* All depths remove as much noise; all sizes and subsamplings work. */
static void
test_formats (void)
{
  static const guint depths[] = { 8, 10, 16 };
  static const guint sizes[][2] = { { 1, 1 }, { 7, 5 }, { 9, 33 }, { 17, 8 },
    { 64, 1 }, { 1, 40 }, { 61, 43 } };

  for (guint i = 0; i < 3; i++) {
    DenoiseConfig config = config_of (DENOISE_MODE_BOTH, 160, 112);
    Stream *s;

    config.depth = depths[i];
    config.n_components = depths[i] == 16 ? 1 : 3;
    s = stream_new (&config, moving_scene, 5, 10);
    run_engine (s, 0);
    for (guint c = 0; c < config.n_components; c++)
      g_assert_cmpfloat (
          psnr_of (s, s->out, 2, c), >, psnr_of (s, s->in, 2, c) + 7);
    stream_free (s);
  }
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint k = 0; k < 8; k++) {
      DenoiseConfig config =
          config_of ((DenoiseMode) (k & 3), sizes[i][0], sizes[i][1]);
      Stream *s;

      config.n_components = 3;
      config.sub_x = k >> 1 & 1;
      config.sub_y = k >> 2;
      config.sigma = 8;
      s = stream_new (&config, moving_scene, 4, 8);
      run_engine (s, 0);
      g_assert_cmpfloat (psnr_of (s, s->out, 1, 0), >, 20);
      stream_free (s);
    }
}

/* Whether frame 2 of a stream of noise is changed. */
static gboolean
changes_frame (const DenoiseConfig *config, gsize from, gsize to)
{
  Stream *s = stream_new (config, moving_scene, 4, 10);
  gboolean changed;

  run_engine (s, 0);
  changed = memcmp (s->out[2] + from, s->in[2] + from, to - from) != 0;
  stream_free (s);
  return changed;
}

static void
test_settings (void)
{
  DenoiseConfig config = config_of (DENOISE_MODE_BOTH, 96, 80);
  const gsize luma = 96 * 80, all = luma * 3 / 2;
  gdouble kept[2], change[2] = { 0, 0 };

  config.n_components = 3;
  config.sub_x = config.sub_y = 1;
  g_assert_true (changes_frame (&config, 0, luma));
  g_assert_true (changes_frame (&config, luma, all));
  config.luma_only = TRUE;
  g_assert_true (changes_frame (&config, 0, luma));
  g_assert_false (changes_frame (&config, luma, all));
  config.luma_only = FALSE;
  config.keep_grain = 1;
  g_assert_false (changes_frame (&config, 0, all));
  config.keep_grain = 0;
  config.strength = 0;
  g_assert_false (changes_frame (&config, 0, all));
  config.strength = 1;
  config.preset = DENOISE_PRESET_ENCODER;
  for (guint f = 0; f < 2; f++) {
    Stream *s = stream_new (&config, still_scene, 4, 10);

    run_engine (s, 0);
    kept[f] = psnr_of (s, s->out, f, 0) - psnr_of (s, s->in, f, 0);
    for (gsize i = 0; i < luma; i++)
      change[f] += (gdouble) s->out[f][i] - s->in[f][i];
    stream_free (s);
  }
  /* the first frame, which has fewer neighbours, is filtered more */
  g_assert_cmpfloat (kept[0], >, kept[1]);
  g_assert_cmpfloat (kept[1], >, 1.5);
  /* half of a change is not rounded up: the frame is as bright as before */
  for (guint f = 0; f < 2; f++)
    g_assert_cmpfloat (fabs (change[f]), <, 0.08 * (gdouble) luma);
}

/* The preset for encoders averages over weak noise where the estimate is less, as in a
 * picture of which half has none; not where the motion is not smooth, in a frame alone, nor
 * with a sigma that is told. */
static void
test_encoder_noise (void)
{
  static const struct {
    DenoiseMode mode;
    DenoisePreset preset;
    gdouble sigma;
    Scene scene;
    gboolean gains;
  } cases[] = {
    { DENOISE_MODE_BOTH, DENOISE_PRESET_NONE, 0, still_scene, FALSE },
    { DENOISE_MODE_BOTH, DENOISE_PRESET_ENCODER, 0, still_scene, TRUE },
    { DENOISE_MODE_BOTH, DENOISE_PRESET_ENCODER, 0, moving_scene, TRUE },
    { DENOISE_MODE_BOTH, DENOISE_PRESET_ENCODER, 0, growing_scene, FALSE },
    { DENOISE_MODE_RECURSIVE, DENOISE_PRESET_ENCODER, 0, still_scene, TRUE },
    { DENOISE_MODE_SPATIAL, DENOISE_PRESET_ENCODER, 0, still_scene, FALSE },
    { DENOISE_MODE_BOTH, DENOISE_PRESET_ENCODER, 0.25, still_scene, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    DenoiseConfig config = config_of (cases[i].mode, 240, 176);
    Stream *s;
    gdouble gain;

    config.preset = cases[i].preset;
    config.sigma = cases[i].sigma;
    s = stream_new (&config, cases[i].scene, 5, 2);
    for (guint f = 0; f < s->n; f++)
      for (guint y = 0; y < 176; y++)
        memcpy (s->in[f] + 240 * y, s->truth[f] + 240 * y, 120);
    run_engine (s, 0);
    gain = psnr_of (s, s->out, 2, 0) - psnr_of (s, s->in, 2, 0);
    g_test_message (
        "case %u: noise %.2f, gain %.2f dB", i, s->jobs[2].sigma[0], gain);
    if (cases[i].gains)
      g_assert_cmpfloat (gain, >, 0.3);
    else
      g_assert_cmpfloat (gain, <, 0.1);
    stream_free (s);
  }
}

static void
test_errors (void)
{
  DenoiseConfig config = config_of (DENOISE_MODE_BOTH, 32, 32);
  GError *error = NULL;

  config.radius = 7;
  g_assert_null (denoise_engine_new (&config, NULL, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "radius is 7"));
  g_clear_error (&error);
  config.radius = 2;
  config.depth = 12;
  g_assert_null (denoise_engine_new (&config, NULL, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/denoise/gain", test_gain);
  g_test_add_func ("/denoise/clean", test_clean);
  g_test_add_func ("/denoise/cut", test_cut);
  g_test_add_func ("/denoise/ghost", test_ghost);
  g_test_add_func ("/denoise/bars", test_bars);
  g_test_add_func ("/denoise/duplicates", test_duplicates);
  g_test_add_func ("/denoise/flicker", test_flicker);
  g_test_add_func ("/denoise/repeats", test_repeats);
  g_test_add_func ("/denoise/formats", test_formats);
  g_test_add_func ("/denoise/settings", test_settings);
  g_test_add_func ("/denoise/encoder-noise", test_encoder_noise);
  g_test_add_func ("/denoise/errors", test_errors);
  return g_test_run ();
}
