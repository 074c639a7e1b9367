/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The configuration of the denoising engine: defaults, ranges, how many frames a result
 * depends on, and what follows from that. */
#include "cuda/core/error.h"
#include "cuda/denoise/arithmetic.h"
#include "cuda/denoise/backend.h"

/* The least noise that the preset for encoders assumes where the motion is smooth, 1/16
 * levels; half as much recursively, where a fault would last */
#define STEADY_NOISE 96

void
denoise_config_init (DenoiseConfig *config)
{
  *config = (DenoiseConfig){ .depth = 8,
    .n_components = 1,
    .strength = 1.0,
    .radius = 2,
    .depth_in_flight = 2 };
}

static gboolean
check_range (
    const gchar *name, gdouble value, gdouble low, gdouble high, GError **error)
{
  if (value >= low && value <= high)
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "%s is %g, but must be from %g to %g", name, value, low, high);
  return FALSE;
}

gboolean
denoise_config_check (const DenoiseConfig *config, GError **error)
{
  if (!check_range ("width", config->width, 1, 16384, error)
      || !check_range ("height", config->height, 1, 16384, error)
      || !check_range ("sub_x", config->sub_x, 0, 1, error)
      || !check_range ("sub_y", config->sub_y, 0, 1, error)
      || !check_range ("strength", config->strength, 0, 8, error)
      || !check_range ("sigma", config->sigma, -1, 64, error)
      || !check_range ("keep_grain", config->keep_grain, 0, 1, error)
      || !check_range ("radius", config->radius, 1, DENOISE_MAX_RADIUS, error)
      || !check_range ("depth_in_flight", config->depth_in_flight, 1,
          DENOISE_MAX_DEPTH, error)
      || !check_range ("chunk", config->chunk, 0, DENOISE_MAX_CHUNK, error))
    return FALSE;
  if (config->chunk > 0 && config->mode == DENOISE_MODE_RECURSIVE)
    return cvis_refuse (error, "a recursive result starts from that of the "
                               "frame before, so frames are not computed in "
                               "chunks");
  if ((config->depth == 8 || config->depth == 10 || config->depth == 16)
      && (config->n_components == 1 || config->n_components == 3))
    return TRUE;
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_INVALID,
      "%u components of %u bits: must be 1 or 3 of 8, 10 or 16",
      config->n_components, config->depth);
  return FALSE;
}

static gboolean
uses_window (const DenoiseConfig *config)
{
  return config->mode == DENOISE_MODE_BOTH
         || config->mode == DENOISE_MODE_TEMPORAL;
}

guint
denoise_config_get_before (const DenoiseConfig *config)
{
  return uses_window (config)                     ? config->radius
         : config->mode == DENOISE_MODE_RECURSIVE ? 1
                                                  : 0;
}

guint
denoise_config_get_after (const DenoiseConfig *config)
{
  return uses_window (config) ? config->radius : 0;
}

/* Beside its frames a device loads the radius on either side, and searches the motion of
 * all of these but the outermost, which takes less than the work for radius - 1 frames. */
guint
denoise_config_get_chunk (const DenoiseConfig *config, gboolean live)
{
  if (!uses_window (config))
    return 1;
  return live ? 4 * config->radius : 8 + 16 * (config->radius - 1);
}

gint32
denoise_config_scale_noise (const DenoiseConfig *config, gint32 noise)
{
  return MIN ((gint32) (noise * config->strength + 0.5), DENOISE_NOISE_MAX);
}

gint32
denoise_config_scale_steady_noise (const DenoiseConfig *config, gint32 noise)
{
  if (config->preset == DENOISE_PRESET_ENCODER && config->sigma <= 0)
    noise =
        MAX (noise, config->mode == DENOISE_MODE_RECURSIVE ? STEADY_NOISE / 2
                                                           : STEADY_NOISE);
  return denoise_config_scale_noise (config, noise);
}

guint
denoise_config_get_n_slots (const DenoiseConfig *config)
{
  return config->depth_in_flight + denoise_config_get_after (config);
}

/* While the last frame in flight is loaded, the oldest one may still be filtered. With
 * chunks also those after the oldest chunk in flight, and those round the next. */
guint
denoise_config_get_n_pictures (const DenoiseConfig *config)
{
  const guint before = denoise_config_get_before (config);
  const guint n = denoise_config_get_n_slots (config) + before + 1;

  return config->chunk > 0 ? n + before + 2 * denoise_config_get_after (config)
                           : n;
}

void
denoise_config_get_motion (const DenoiseConfig *config, MotionConfig *motion)
{
  /* searched before and after a chunk; two chunks may be in flight */
  const guint around = config->chunk > 0 ? 2 * (config->radius - 1) : 0;

  motion_config_init (motion);
  motion->width = (config->width + 1) / 2;
  motion->height = (config->height + 1) / 2;
  motion->method = MOTION_METHOD_FIELD;
  motion->block_size = 8;
  motion->range = 64;
  motion->subpel = MOTION_SUBPEL_QUARTER;
  motion->references = 1;
  motion->bidirectional = denoise_config_get_after (config) > 0;
  motion->threads = config->threads;
  motion->depth_in_flight = denoise_config_get_n_slots (config) + 2 * around;
  motion->chunk = config->chunk > 0 ? config->chunk + around : 0;
  motion->fields_only = TRUE;
}
