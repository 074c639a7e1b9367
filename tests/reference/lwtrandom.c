/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "lwtrandom.h"

#include <math.h>

#define PART(part) (1u << CVIS_SURFACE_PART_##part)

/* Tiny, a power of two or next to one, or any size. */
static guint
random_side (GRand *random, guint max)
{
  const guint bits = (guint) g_rand_int_range (random, 0, 10);
  gint side;

  switch (g_rand_int_range (random, 0, 3)) {
    case 0:
      side = g_rand_int_range (random, 1, 24);
      break;
    case 1:
      side = (1 << bits) + g_rand_int_range (random, -1, 2);
      break;
    default:
      side = g_rand_int_range (random, 1, (gint) max + 1);
      break;
  }
  return (guint) CLAMP (side, 1, (gint) max);
}

/* Steps that only use later neighbours, so that some, or all, samples do not
 * reach the low band. */
static LwtWavelet *
new_blind_wavelet (GRand *random)
{
  return lwt_wavelet_new (g_rand_boolean (random)
                              ? "steps: P@0 -0.5; U@-1 0.25; K 1.25 0.75"
                              : "steps: P@-1 -0.5 0.125 -0.25; K 2 1",
      NULL);
}

static LwtWavelet *
new_random_wavelet (GRand *random, gboolean reversible)
{
  static const gchar *const integers[] = { "haar", "5/3", "cdf7/5", "dd9/7",
    "dd13/7" };
  static const gchar *const usual[] = { "haar", "db2", "5/3", "9/7", "db4",
    "dd13/7" };
  const gchar *const *names = lwt_wavelet_names ();
  const guint choice = (guint) g_rand_int_range (random, 0, 8);

  if (reversible)
    return lwt_wavelet_new (
        integers[g_rand_int_range (random, 0, G_N_ELEMENTS (integers))], NULL);
  if (choice == 0)
    return new_blind_wavelet (random);
  if (choice < 5)
    return lwt_wavelet_new (
        usual[g_rand_int_range (random, 0, G_N_ELEMENTS (usual))], NULL);
  return lwt_wavelet_new (names[g_rand_int_range (random, 0,
                              (gint) g_strv_length ((gchar **) names))],
      NULL);
}

static void
random_levels (GRand *random, LwtConfig *config)
{
  for (guint axis = 0; axis < 2; axis++) {
    config->levels[axis] = (guint) g_rand_int_range (random, 0, 7);
    config->levels_roughness[axis] =
        (guint) g_rand_int_range (random, 0, (gint) config->levels[axis] + 1);
    config->levels_noise[axis] = (guint) g_rand_int_range (
        random, 0, (gint) config->levels_roughness[axis] + 1);
  }
  if (config->operation == LWT_OPERATION_DENOISE
      && config->levels[0] + config->levels[1] == 0)
    config->levels[0] = 2;
}

static void
random_parts (GRand *random, LwtConfig *config)
{
  static const LwtParts all[] = { PART (NOISE) | PART (ROUGHNESS)
                                      | PART (WAVINESS) | PART (FORM)
                                      | PART (BANDS),
    PART (BANDS), PART (MEASURED), PART (MEASURED) | PART (NOISE) };

  do {
    config->parts = all[config->operation] & g_rand_int (random);
    if (config->operation == LWT_OPERATION_FILTER
        && config->levels_noise[0] + config->levels_noise[1] == 0)
      config->parts &= ~PART (NOISE);
  } while (config->parts == 0);
  if (config->type != LWT_TYPE_I32)
    config->parameters = config->parts & ~PART (BANDS) & g_rand_int (random);
}

/* Conversion of samples to heights; not for integers and coefficients. */
static void
random_heights (GRand *random, LwtConfig *config)
{
  config->sample = (LwtSample) g_rand_int_range (random, 0, 5);
  if (g_rand_boolean (random)) {
    config->sample =
        config->type == LWT_TYPE_F64 ? LWT_SAMPLE_F64 : LWT_SAMPLE_F32;
  } else {
    config->z_scale = g_rand_double_range (random, -1e-6, 1e-5);
    config->z_offset =
        g_rand_boolean (random) ? g_rand_double_range (random, -0.1, 0.1) : 0.0;
  }
  if (g_rand_boolean (random))
    config->f_operation = (LwtFOperation) g_rand_int_range (random, 0, 5);
}

void
lwt_random_store (GRand *random, LwtConfig *config)
{
  const gboolean deep = g_rand_boolean (random);

  if (config->operation != LWT_OPERATION_DENOISE
      || g_rand_int_range (random, 0, 3) > 0)
    return;
  config->sample = deep ? LWT_SAMPLE_U16 : LWT_SAMPLE_U8;
  config->store_bits = (guint) g_rand_int_range (random, 1, deep ? 17 : 9);
  config->store_shift = (guint) g_rand_int_range (
      random, 0, (deep ? 17 : 9) - (gint) config->store_bits);
  config->z_scale = g_rand_boolean (random)
                        ? 1.0 / (1 << g_rand_int_range (random, 0, 9))
                        : g_rand_double_range (random, 0.01, 3.0);
  config->z_offset = 0.0;
  config->f_operation = LWT_F_NONE;
  config->parameters &= ~(1u << CVIS_SURFACE_PART_MEASURED);
}

void
lwt_random_config (
    GRand *random, guint round, guint max_side, LwtConfig *config)
{
  static const LwtSample samples[] = { LWT_SAMPLE_F32, LWT_SAMPLE_F64,
    LWT_SAMPLE_I32 };
  gboolean fits;

  do {
    lwt_config_init (config);
    config->operation = (LwtOperation) (round % 4);
    config->boundary = (LwtBoundary) (round / 4 % 6);
    config->type = (LwtType) (round / 24 % 3);
    if (config->type == LWT_TYPE_I32
        && (config->operation == LWT_OPERATION_FILTER
            || config->operation == LWT_OPERATION_DENOISE))
      config->type = LWT_TYPE_F32;
    if (config->type == LWT_TYPE_I32
        && config->boundary == LWT_BOUNDARY_PAD_SMOOTH)
      config->boundary = LWT_BOUNDARY_CLAMP;
    config->width = random_side (random, max_side);
    config->height = random_side (random, max_side);
    config->layout = (LwtLayout) g_rand_int_range (random, 0, 2);
    config->wavelet = new_random_wavelet (random, config->type == LWT_TYPE_I32);
    random_levels (random, config);
    random_parts (random, config);
    config->sample = samples[config->type];
    if (config->type == LWT_TYPE_I32
        && config->operation == LWT_OPERATION_FORWARD)
      config->sample = (LwtSample) g_rand_int_range (
          random, LWT_SAMPLE_I32, LWT_SAMPLE_U16 + 1);
    else if (config->operation != LWT_OPERATION_INVERSE)
      random_heights (random, config);
    config->dx = g_rand_double_range (random, 1e-7, 1e-5);
    config->dy = g_rand_double_range (random, 1e-7, 1e-5);
    config->shrink = (LwtShrink) g_rand_int_range (random, 0, 3);
    config->threshold =
        g_rand_boolean (random) ? 0.0 : g_rand_double_range (random, 0.0, 2.0);
    config->spins = (guint) g_rand_int_range (random, 1, 7);
    config->spins = config->spins > 3 ? 1 : config->spins;
    config->threshold_scale = g_rand_double_range (random, 0.1, 1.5);
    lwt_random_store (random, config);
    config->threads = 2;
    config->depth_in_flight = (guint) g_rand_int_range (random, 1, 5);
    /* long filters may pad beyond the limits, or beyond what a test can wait
     * for */
    fits = lwt_config_check (config, NULL);
    if (fits) {
      guint width, height;

      lwt_config_get_bands_size (config, &width, &height);
      fits = (guint64) width * height <= 4 * (guint64) max_side * max_side;
    }
    if (!fits)
      lwt_wavelet_free ((LwtWavelet *) config->wavelet);
  } while (!fits);
}

void
lwt_random_size (const LwtConfig *config, guint *width, guint *height)
{
  *width = config->width;
  *height = config->height;
  if (config->operation == LWT_OPERATION_INVERSE)
    lwt_config_get_bands_size (config, width, height);
}

/* --- surfaces ------------------------------------------------------------------ */

typedef enum { HEIGHTS, NOISE, ZEROS, N_KINDS } Kind;

static gdouble
random_height (GRand *random, Kind kind, guint x, guint y)
{
  switch (kind) {
    case HEIGHTS:
      return 20.0 + 3.0 * sin (x * 0.13) + 2.0 * cos (y * 0.07) + 0.01 * x
             + g_rand_double_range (random, -0.5, 0.5);
    case NOISE:
      return g_rand_double_range (random, -1000.0, 1000.0);
    default:
      return g_rand_boolean (random) ? -0.0 : 0.0;
  }
}

static void
put_sample (LwtSample sample, guint8 *row, guint x, gdouble value)
{
  switch (sample) {
    case LWT_SAMPLE_F32:
      ((gfloat *) row)[x] = (gfloat) value;
      break;
    case LWT_SAMPLE_F64:
      ((gdouble *) row)[x] = value;
      break;
    case LWT_SAMPLE_I32:
      ((gint32 *) row)[x] = isfinite (value) ? (gint32) (value * 1e5) : 0;
      break;
    case LWT_SAMPLE_U8:
      row[x] = isfinite (value) ? (guint8) (gint) value : 0;
      break;
    default:
      ((guint16 *) row)[x] = isfinite (value) ? (guint16) (gint) value : 0;
      break;
  }
}

void
lwt_random_surface (
    GRand *random, const LwtConfig *config, gpointer samples, gsize stride)
{
  static const gdouble shares[] = { 0.0, 0.0, 0.0, 0.001, 0.3, 1.0 };
  static const gdouble gone[] = { NAN, INFINITY, -INFINITY };
  const Kind kind = (Kind) g_rand_int_range (random, 0, N_KINDS);
  const gboolean plain = config->operation == LWT_OPERATION_INVERSE;
  const gdouble share =
      plain ? 0.0 : shares[g_rand_int_range (random, 0, G_N_ELEMENTS (shares))];
  guint width, height, still = 0;

  lwt_random_size (config, &width, &height);
  /* columns at the left that are constant */
  if (g_rand_int_range (random, 0, 3) == 0)
    still = (guint) g_rand_int_range (random, 0, (gint) width + 1);
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      put_sample (config->sample, (guint8 *) samples + y * stride, x,
          g_rand_double (random) < share
              ? gone[g_rand_int_range (random, 0, G_N_ELEMENTS (gone))]
          : x < still ? 21.0
                      : random_height (random, kind, x, y));
  /* a single missing point, often at an end of a row */
  if (!plain && g_rand_int_range (random, 0, 4) == 0)
    put_sample (config->sample,
        (guint8 *) samples
            + (gsize) g_rand_int_range (random, 0, (gint) height) * stride,
        g_rand_boolean (random)
            ? width - 1
            : (guint) g_rand_int_range (random, 0, (gint) width),
        NAN);
}
