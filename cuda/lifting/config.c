/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Checks of the settings, and values derived from them before the first
 * surface. */
#include <math.h>

#include "cuda/lifting/backend.h"

#define PART(part) (1u << CVIS_SURFACE_PART_##part)

void
lwt_config_init (LwtConfig *config)
{
  *config = (LwtConfig){
    .operation = LWT_OPERATION_FILTER,
    .sample = LWT_SAMPLE_F32,
    .type = LWT_TYPE_F32,
    .boundary = LWT_BOUNDARY_SYMMETRIC,
    .layout = LWT_LAYOUT_MALLAT,
    .filter = LWT_FILTER_WAVELET_DECIMATED,
    .levels = { 6, 6 },
    .levels_roughness = { 3, 3 },
    .f_operation = LWT_F_NONE,
    .z_scale = 1.0,
    .dx = 1.0,
    .dy = 1.0,
    .shrink = LWT_SHRINK_SOFT,
    .threshold_scale = 1.0,
    .spins = 1,
    .parts = PART (ROUGHNESS),
    .depth_in_flight = 2,
  };
}

static gboolean
check_length (const gchar *what, gdouble value, GError **error)
{
  if (value > 0.0 && isfinite (value))
    return TRUE;
  return cvis_refuse (
      error, "%s is %g m, must be above 0 and finite", what, value);
}

/* --- the wavelet ------------------------------------------------------------ */

static gboolean
check_step (const LwtStep *step, guint number, GError **error)
{
  if (!cvis_check_range (
          "kind of a lifting step", step->kind, 0, LWT_STEP_UPDATE, error)
      || !cvis_check_range ("number of weights of a lifting step", step->n, 1,
          LWT_MAX_TAPS, error)
      || !cvis_check_range ("first neighbour of a lifting step", step->first,
          -LWT_MAX_FILTER, LWT_MAX_FILTER, error)
      || !cvis_check_range (
          "shift of a lifting step", step->shift, 0, 30, error))
    return FALSE;
  for (guint i = 0; i < step->n; i++)
    if (!isfinite ((gfloat) step->c[i]))
      return cvis_refuse (error,
          "weight %u of lifting step %u is %g, must be finite", i, number,
          step->c[i]);
  return TRUE;
}

static gboolean
check_scale (const gchar *what, gdouble scale, GError **error)
{
  const gfloat there = (gfloat) scale, back = (gfloat) (1.0 / scale);

  if (isfinite (there) && isfinite (back) && there != 0.0f && back != 0.0f)
    return TRUE;
  return cvis_refuse (error,
      "the scale of the %s band is %g, must be finite and not 0", what, scale);
}

static gboolean
check_wavelet (const LwtConfig *config, GError **error)
{
  const LwtWavelet *wavelet = config->wavelet;

  if (wavelet == NULL)
    return cvis_refuse (error, "no wavelet is set");
  if (!cvis_check_range (
          "number of lifting steps", wavelet->n_steps, 0, LWT_MAX_STEPS, error)
      || !cvis_check_range ("length of the wavelet's filters", wavelet->length,
          1, LWT_MAX_FILTER, error)
      || !cvis_check_range ("shift of the low band", wavelet->shift_low,
          -LWT_MAX_FILTER, LWT_MAX_FILTER, error)
      || !cvis_check_range ("shift of the high band", wavelet->shift_high,
          -LWT_MAX_FILTER, LWT_MAX_FILTER, error)
      || !check_scale ("low", wavelet->scale_low, error)
      || !check_scale ("high", wavelet->scale_high, error))
    return FALSE;
  for (guint i = 0; i < wavelet->n_steps; i++)
    if (!check_step (&wavelet->steps[i], i, error))
      return FALSE;
  if (config->type == LWT_TYPE_I32 && !wavelet->reversible)
    return cvis_refuse (error,
        "wavelet %s has no reversible form in integers. Use haar, 5/3, cdf7/5, "
        "dd9/7 or dd13/7",
        wavelet->name);
  return TRUE;
}

/* --- cut-offs ---------------------------------------------------------------- */

static const gchar *const cutoff_names[3] = { "lambda-s", "lambda-c",
  "lambda-f" };

static guint
get_side (const LwtConfig *config, guint axis)
{
  return axis == 0 ? config->width : config->height;
}

static gboolean
check_cutoff (const LwtConfig *config, guint which, guint axis, GError **error)
{
  const gdouble cutoff = config->cutoffs[which][axis];
  const gchar *along = axis == 0 ? "x" : "y";

  if (cutoff == 0.0 || get_side (config, axis) == 1)
    return TRUE;
  if (!(cutoff >= 2.0) || !isfinite (cutoff))
    return cvis_refuse (error,
        "%s is %g samples along %s, must be at least 2: use a longer cut-off",
        cutoff_names[which], cutoff, along);
  for (guint before = 0; before < which; before++)
    if (config->cutoffs[before][axis] > cutoff)
      return cvis_refuse (error,
          "%s is %g samples along %s, shorter than %s of %g samples",
          cutoff_names[which], cutoff, along, cutoff_names[before],
          config->cutoffs[before][axis]);
  return TRUE;
}

/* A cut-off may be longer than one side, but not than both. */
static gboolean
check_reach (const LwtConfig *config, guint which, GError **error)
{
  const gdouble *cutoff = config->cutoffs[which];
  const gboolean x = cutoff[0] == 0.0 || cutoff[0] <= config->width;
  const gboolean y = cutoff[1] == 0.0 || cutoff[1] <= config->height;

  if ((x && config->width > 1) || (y && config->height > 1)
      || (config->width == 1 && config->height == 1))
    return TRUE;
  return cvis_refuse (error,
      "%s is %g x %g samples, longer than the surface of %u x %u: use a "
      "shorter cut-off, or remove the form with f-operation",
      cutoff_names[which], cutoff[0], cutoff[1], config->width, config->height);
}

static gboolean
check_filter (const LwtConfig *config, GError **error)
{
  const gboolean filter = config->operation == LWT_OPERATION_FILTER;

  if (!cvis_check_range ("filter", config->filter, 0, LWT_FILTER_SPLINE, error))
    return FALSE;
  if (!filter || config->filter == LWT_FILTER_WAVELET_DECIMATED)
    return TRUE;
  if (config->order != 0 && config->order != 2)
    return cvis_refuse (
        error, "filter-order is %u, must be 0 or 2", config->order);
  if (!(config->tension >= 0.0 && config->tension <= 1.0))
    return cvis_refuse (
        error, "tension is %g, must be 0 to 1", config->tension);
  if (config->parts & 1u << CVIS_SURFACE_PART_BANDS)
    return cvis_refuse (error,
        "only the filter wavelet-decimated has bands: set "
        "filter=wavelet-decimated, or use operation=forward");
  for (guint which = 0; which < 3; which++)
    if (!check_cutoff (config, which, 0, error)
        || !check_cutoff (config, which, 1, error)
        || !check_reach (config, which, error))
      return FALSE;
  return TRUE;
}

gboolean
lwt_filter_has_cuda (LwtFilter filter, guint order)
{
  return filter == LWT_FILTER_WAVELET || filter == LWT_FILTER_WAVELET_DECIMATED
         || (filter == LWT_FILTER_GAUSSIAN && order == 0);
}

gboolean
lwt_config_is_smoothing (const LwtConfig *config)
{
  return config->operation == LWT_OPERATION_FILTER
         && config->filter != LWT_FILTER_WAVELET_DECIMATED;
}

/* --- levels ------------------------------------------------------------------ */

static gboolean
check_levels (const LwtConfig *config, GError **error)
{
  static const gchar *const axes[2] = { "x", "y" };
  const gboolean filter = config->operation == LWT_OPERATION_FILTER;

  for (guint axis = 0; axis < 2; axis++) {
    const guint form = config->levels[axis];
    const guint roughness = config->levels_roughness[axis];
    const guint noise = config->levels_noise[axis];

    if (form > LWT_MAX_LEVELS)
      return cvis_refuse (error, "levels along %s are %u, must be 0 to %u",
          axes[axis], form, LWT_MAX_LEVELS);
    if (filter && roughness > form)
      return cvis_refuse (error,
          "waviness begins at %u levels along %s, beyond the form at %u",
          roughness, axes[axis], form);
    if (filter && noise > roughness)
      return cvis_refuse (error,
          "roughness begins at %u levels along %s, beyond the waviness at %u",
          noise, axes[axis], roughness);
  }
  return TRUE;
}

static gboolean
is_padded (const LwtConfig *config)
{
  return config->boundary == LWT_BOUNDARY_PAD_SYMMETRIC
         || config->boundary == LWT_BOUNDARY_PAD_SMOOTH;
}

static guint64
get_pad (const LwtConfig *config, guint axis)
{
  return is_padded (config) && !lwt_config_is_smoothing (config)
             ? lwt_pad (config->wavelet->length, config->levels[axis])
             : 0;
}

static gboolean
check_pad (const LwtConfig *config, GError **error)
{
  for (guint axis = 0; axis < 2; axis++) {
    const guint64 side = axis == 0 ? config->width : config->height;
    const guint64 pad = get_pad (config, axis);

    if (side + 2 * pad > LWT_MAX_SIDE)
      return cvis_refuse (error,
          "%u levels of %s pad %" G_GUINT64_FORMAT
          " samples on each side of %" G_GUINT64_FORMAT
          ", together more than %u; the boundary symmetric "
          "needs none",
          config->levels[axis], config->wavelet->name, pad, side, LWT_MAX_SIDE);
  }
  return TRUE;
}

/* --- parts -------------------------------------------------------------------- */

static const gchar *const operation_names[] = { "filter", "forward", "inverse",
  "denoise" };

static const LwtParts operation_parts[] = {
  PART (NOISE) | PART (ROUGHNESS) | PART (WAVINESS) | PART (FORM)
      | PART (BANDS),
  PART (BANDS),
  PART (MEASURED),
  PART (MEASURED) | PART (NOISE),
};

static gboolean
check_parts (const LwtConfig *config, GError **error)
{
  const gchar *name = operation_names[config->operation];

  if (config->parts == 0)
    return cvis_refuse (error, "no component is requested");
  if (config->parts & ~operation_parts[config->operation])
    return cvis_refuse (error,
        "operation %s does not compute all requested components (0x%x)", name,
        config->parts);
  if (config->parameters & (~config->parts | PART (BANDS)))
    return cvis_refuse (error,
        "parameters are requested of bands, or of components (0x%x) that are "
        "not requested",
        config->parameters);
  if (config->operation == LWT_OPERATION_FILTER
      && (config->parts & PART (NOISE)) != 0 && config->levels_noise[0] == 0
      && config->levels_noise[1] == 0 && config->cutoffs[0][0] == 0.0
      && config->cutoffs[0][1] == 0.0)
    return cvis_refuse (
        error, "noise is requested, but lambda-s and noise-levels are 0");
  return TRUE;
}

/* --- numbers --------------------------------------------------------------------- */

static gboolean
check_integers (const LwtConfig *config, GError **error)
{
  const gboolean inverse = config->operation == LWT_OPERATION_INVERSE;
  const LwtSample sample = config->sample;

  if (config->operation != LWT_OPERATION_FORWARD && !inverse)
    return cvis_refuse (error, "operation %s does not support integers",
        operation_names[config->operation]);
  if (sample != LWT_SAMPLE_I32 && sample != LWT_SAMPLE_U8
      && sample != LWT_SAMPLE_U16)
    return cvis_refuse (
        error, "a transform in integers does not accept floats");
  if (config->parameters != 0)
    return cvis_refuse (
        error, "parameters are not supported for transforms in integers");
  if (config->boundary == LWT_BOUNDARY_PAD_SMOOTH)
    return cvis_refuse (
        error, "a transform in integers has no boundary pad-smooth");
  return TRUE;
}

/* Input that is transformed unchanged: integers and coefficients. */
static gboolean
check_plain (const LwtConfig *config, GError **error)
{
  static const LwtSample samples[] = { LWT_SAMPLE_F32, LWT_SAMPLE_F64,
    LWT_SAMPLE_I32 };

  if (config->operation == LWT_OPERATION_INVERSE
      && config->sample != samples[config->type])
    return cvis_refuse (error, "bands do not have the type of the arithmetic");
  if (config->f_operation != LWT_F_NONE)
    return cvis_refuse (error, "f-operation is not supported for %s",
        config->type == LWT_TYPE_I32 ? "integers" : "bands");
  if (config->z_scale != 1.0 || config->z_offset != 0.0)
    return cvis_refuse (error, "z-scale and z-offset are not supported for %s",
        config->type == LWT_TYPE_I32 ? "integers" : "bands");
  return TRUE;
}

static gboolean
check_denoise (const LwtConfig *config, GError **error)
{
  if (!cvis_check_range ("shrink", config->shrink, 0, LWT_SHRINK_GARROTE, error)
      || !cvis_check_range ("spins", config->spins, 1, 16, error))
    return FALSE;
  if (!(config->threshold >= 0.0) || !isfinite (config->threshold))
    return cvis_refuse (
        error, "threshold is %g m, must be 0 or above", config->threshold);
  if (!(config->threshold_scale > 0.0) || !isfinite (config->threshold_scale))
    return cvis_refuse (error, "threshold-scale is %g, must be above 0",
        config->threshold_scale);
  if (config->levels[0] + config->levels[1] == 0)
    return cvis_refuse (error, "denoise needs levels of at least 1");
  return TRUE;
}

/* Stored integers: the samples minus their noise. */
static gboolean
check_store (const LwtConfig *config, GError **error)
{
  const guint max = config->sample == LWT_SAMPLE_U8 ? 8 : 16;

  if (config->store_bits == 0)
    return TRUE;
  if (config->operation != LWT_OPERATION_DENOISE
      || (config->sample != LWT_SAMPLE_U8 && config->sample != LWT_SAMPLE_U16))
    return cvis_refuse (
        error, "only denoise of integer samples stores integers");
  if (config->store_bits + config->store_shift > max)
    return cvis_refuse (error, "samples of %u bits cannot hold %u bits << %u",
        max, config->store_bits, config->store_shift);
  if (config->z_offset != 0.0 || config->f_operation != LWT_F_NONE)
    return cvis_refuse (
        error, "stored integers have no z-offset and no f-operation");
  if (config->parameters & PART (MEASURED))
    return cvis_refuse (
        error, "parameters are not supported for stored integers");
  return TRUE;
}

static gboolean
check_numbers (const LwtConfig *config, GError **error)
{
  if (config->z_scale == 0.0 || !isfinite (config->z_scale))
    return cvis_refuse (
        error, "z-scale is %g, must be finite and not 0", config->z_scale);
  if (!isfinite (config->z_offset))
    return cvis_refuse (
        error, "z-offset is %g, must be finite", config->z_offset);
  if (config->type == LWT_TYPE_I32 && !check_integers (config, error))
    return FALSE;
  if ((config->type == LWT_TYPE_I32
          || config->operation == LWT_OPERATION_INVERSE)
      && !check_plain (config, error))
    return FALSE;
  return check_store (config, error)
         && (config->operation != LWT_OPERATION_DENOISE
             || check_denoise (config, error));
}

gboolean
lwt_config_check (const LwtConfig *config, GError **error)
{
  return cvis_check_range ("width", config->width, 1, LWT_MAX_SIDE, error)
         && cvis_check_range ("height", config->height, 1, LWT_MAX_SIDE, error)
         && cvis_check_range (
             "operation", config->operation, 0, LWT_OPERATION_DENOISE, error)
         && cvis_check_range (
             "sample", config->sample, 0, LWT_SAMPLE_U16, error)
         && cvis_check_range ("type", config->type, 0, LWT_TYPE_I32, error)
         && cvis_check_range (
             "boundary", config->boundary, 0, LWT_BOUNDARY_PAD_SMOOTH, error)
         && cvis_check_range (
             "layout", config->layout, 0, LWT_LAYOUT_INTERLEAVED, error)
         && cvis_check_range (
             "f-operation", config->f_operation, 0, LWT_F_POLY2, error)
         && cvis_check_range ("threads", config->threads, 0, 1024, error)
         && cvis_check_range (
             "frames in flight", config->depth_in_flight, 1, 8, error)
         && ((config->dx == 0.0 && config->dy == 0.0)
             || (check_length ("dx", config->dx, error)
                 && check_length ("dy", config->dy, error)))
         && check_wavelet (config, error) && check_levels (config, error)
         && check_filter (config, error) && check_pad (config, error)
         && check_parts (config, error) && check_numbers (config, error);
}

void
lwt_config_get_bands_size (const LwtConfig *config, guint *width, guint *height)
{
  *width = config->width + 2 * (guint) get_pad (config, 0);
  *height = config->height + 2 * (guint) get_pad (config, 1);
}

gsize
lwt_sample_get_size (LwtSample sample)
{
  static const gsize sizes[] = { 4, 8, 4, 1, 2 };

  return sizes[sample];
}

gsize
lwt_type_get_size (LwtType type)
{
  return type == LWT_TYPE_F64 ? 8 : 4;
}

gsize
lwt_config_get_part_size (const LwtConfig *config, CvisSurfacePart part)
{
  return config->store_bits > 0 && part == CVIS_SURFACE_PART_MEASURED
             ? lwt_sample_get_size (config->sample)
             : lwt_type_get_size (config->type);
}

guint
lwt_levels_for_cutoff (gdouble lambda, gdouble spacing)
{
  const gdouble levels = round (log2 (lambda / (2.0 * spacing)));

  return levels > 0.0 ? (guint) MIN (levels, LWT_MAX_LEVELS) : 0;
}

gdouble
lwt_cutoff_of_levels (guint levels, gdouble spacing)
{
  return ldexp (spacing, (gint) levels + 1);
}

/* --- the plan ---------------------------------------------------------------- */

gboolean
lwt_plan_init (LwtPlan *plan, const LwtConfig *config, GError **error)
{
  guint sides[3][2];

  if (!lwt_config_check (config, error))
    return FALSE;
  plan->config = *config;
  plan->wavelet = *config->wavelet;
  plan->config.wavelet = &plan->wavelet;
  /* -0 added to a sample of -0 gives -0, so floats are not changed */
  if (plan->config.z_offset == 0.0)
    plan->config.z_offset = -0.0;
  for (guint axis = 0; axis < 2; axis++) {
    plan->pad[axis] = (guint) get_pad (config, axis);
    sides[0][axis] = config->levels_noise[axis];
    sides[1][axis] = config->levels_roughness[axis] - sides[0][axis];
    sides[2][axis] = config->levels[axis] - config->levels_roughness[axis];
  }
  lwt_config_get_bands_size (config, &plan->width, &plan->height);

  lwt_chain_init (&plan->bands);
  lwt_chain_append (&plan->bands, plan->width, plan->height, config->levels[0],
      config->levels[1]);
  lwt_chain_init (&plan->parts);
  plan->n_noise = plan->n_roughness = 0;
  if (config->operation != LWT_OPERATION_FILTER
      || lwt_config_is_smoothing (config))
    return TRUE;
  lwt_chain_append (
      &plan->parts, plan->width, plan->height, sides[0][0], sides[0][1]);
  plan->n_noise = plan->parts.n;
  lwt_chain_append (
      &plan->parts, plan->width, plan->height, sides[1][0], sides[1][1]);
  plan->n_roughness = plan->parts.n;
  lwt_chain_append (
      &plan->parts, plan->width, plan->height, sides[2][0], sides[2][1]);
  return TRUE;
}
