/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The configuration of the denoising engine: defaults, ranges, and how many frames a
 * result depends on. */
#include "cuda/denoise/engine.h"

#include "cuda/core/error.h"

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
          DENOISE_MAX_DEPTH, error))
    return FALSE;
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
