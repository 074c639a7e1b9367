/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstlwtsurface.h"

#include <math.h>
#include <string.h>

#include "cuda/lifting/grey.h"
#include "cuda/lifting/plan.h"

/* defaults */
#define LEVELS_FORM 6
#define LEVELS_ROUGHNESS 3

/* --- caps ------------------------------------------------------------------ */

static gboolean
check_format (GstLwtLayout *layout, const GstCapsFeatures *features,
    const gchar *name, GError **error)
{
  if (!gst_caps_features_is_equal (
          features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) {
    g_set_error_literal (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "pictures are accepted in system memory only");
    return FALSE;
  }
  layout->sample = LWT_SAMPLE_U8;
  if (g_strcmp0 (name, "GRAY8") == 0)
    return TRUE;
  layout->sample = LWT_SAMPLE_U16;
  if (g_strcmp0 (name, "GRAY16_LE") == 0)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
      "pictures of format %s are not heights: convert them to GRAY8 or "
      "GRAY16_LE with videoconvert, or use cudadenoise to denoise video",
      name != NULL ? name : "(none)");
  return FALSE;
}

static gboolean
layout_of_video (GstLwtLayout *layout, const GstCaps *caps, GError **error)
{
  GstVideoInfo *info = &layout->picture;

  if (!check_format (layout, gst_caps_get_features (caps, 0),
          gst_structure_get_string (gst_caps_get_structure (caps, 0), "format"),
          error))
    return FALSE;
  if (!gst_video_info_from_caps (info, caps)
      || GST_VIDEO_INFO_WIDTH (info) > (gint) LWT_MAX_SIDE
      || GST_VIDEO_INFO_HEIGHT (info) > (gint) LWT_MAX_SIDE) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "the caps are not those of video of 1x1 to %ux%u pixels", LWT_MAX_SIDE,
        LWT_MAX_SIDE);
    return FALSE;
  }
  layout->video = TRUE;
  layout->width = (guint) GST_VIDEO_INFO_WIDTH (info);
  layout->height = (guint) GST_VIDEO_INFO_HEIGHT (info);
  layout->fps_n = GST_VIDEO_INFO_FPS_N (info);
  layout->fps_d = GST_VIDEO_INFO_FPS_D (info);
  layout->size = GST_VIDEO_INFO_SIZE (info);
  return TRUE;
}

gboolean
gst_lwt_layout_from_caps (
    GstLwtLayout *layout, const GstCaps *caps, GError **error)
{
  static const LwtSample samples[] = {
    [GST_CVIS_SURFACE_TYPE_FLOAT32] = LWT_SAMPLE_F32,
    [GST_CVIS_SURFACE_TYPE_FLOAT64] = LWT_SAMPLE_F64,
    [GST_CVIS_SURFACE_TYPE_INT32] = LWT_SAMPLE_I32,
  };

  memset (layout, 0, sizeof (*layout));
  if (gst_caps_is_fixed (caps)
      && gst_structure_has_name (
          gst_caps_get_structure (caps, 0), "video/x-raw"))
    return layout_of_video (layout, caps, error);
  if (!gst_cvis_surface_info_from_caps (&layout->tensor, caps, error))
    return FALSE;
  layout->width = layout->tensor.width;
  layout->height = layout->tensor.height;
  layout->fps_n = layout->tensor.fps_n;
  layout->fps_d = layout->tensor.fps_d;
  layout->sample = samples[layout->tensor.type];
  layout->size = gst_cvis_surface_info_get_size (&layout->tensor);
  return TRUE;
}

/* --- heights ----------------------------------------------------------------- */

gboolean
gst_lwt_settings_is_plain (const GstLwtSettings *settings)
{
  return settings->reversible || settings->operation == LWT_OPERATION_INVERSE;
}

static gboolean
is_integer (LwtSample sample)
{
  return sample != LWT_SAMPLE_F32 && sample != LWT_SAMPLE_F64;
}

static gboolean
check_mask (const GstLwtSurface *surface, const GstCvisSurfaceMeta *meta,
    GError **error)
{
  const gsize wanted = (gsize) surface->whole[0] * surface->whole[1];
  const gsize size = meta->mask != NULL ? gst_buffer_get_size (meta->mask) : 0;

  if (meta->mask == NULL || size == wanted)
    return TRUE;
  return cvis_refuse (error,
      "the mask of its GstCvisSurfaceMeta has %" G_GSIZE_FORMAT
      " bytes, %" G_GSIZE_FORMAT " expected",
      size, wanted);
}

/* The spacing of the meta, else of the caps, else of the property. */
static gdouble
first_length (gdouble a, gdouble b, gdouble c)
{
  return a > 0.0 ? a : b > 0.0 ? b : c;
}

static void
describe_heights (GstLwtSurface *surface, const GstLwtLayout *layout,
    const GstCvisSurfaceMeta *meta, const GstLwtSettings *settings)
{
  surface->dx = first_length (
      meta != NULL ? meta->dx : 0.0, layout->tensor.dx, settings->dx);
  surface->dy = first_length (
      meta != NULL ? meta->dy : 0.0, layout->tensor.dy, settings->dy);
  if (surface->dy == 0.0)
    surface->dy = surface->dx;
  surface->z_scale = 1.0;
  if (meta != NULL)
    surface->z_scale = meta->z_scale;
  else if (is_integer (surface->sample))
    surface->z_scale = settings->z_scale;
  if (meta == NULL && is_integer (surface->sample)
      && !gst_lwt_settings_is_plain (settings))
    surface->z_offset = settings->z_offset;
}

/* --- levels ------------------------------------------------------------------ */

static gint
given_levels (
    const GstLwtLevels *levels, guint axis, gdouble lambda, gdouble spacing)
{
  const gint one = axis == 0 ? levels->x : levels->y;

  if (lambda > 0.0)
    return (gint) lwt_levels_for_cutoff (lambda, spacing);
  return one >= 0 ? one : levels->both;
}

static void
describe_levels (
    GstLwtSurface *surface, const GstLwtSettings *settings, guint axis)
{
  const gdouble spacing = axis == 0 ? surface->dx : surface->dy;
  const gboolean filter = settings->operation == LWT_OPERATION_FILTER;
  gint form =
      given_levels (&settings->levels, axis, settings->lambda_f, spacing);
  gint roughness = 0, noise = 0;

  if (filter) {
    roughness = given_levels (
        &settings->roughness_levels, axis, settings->lambda_c, spacing);
    noise = given_levels (
        &settings->noise_levels, axis, settings->lambda_s, spacing);
    noise = MAX (noise, 0);
  }
  if (form < 0)
    form = MAX (LEVELS_FORM, MAX (roughness, noise));
  if (roughness < 0)
    roughness = MAX (MIN (LEVELS_ROUGHNESS, form), noise);
  surface->levels[axis] = (guint) form;
  surface->levels_roughness[axis] = (guint) roughness;
  surface->levels_noise[axis] = (guint) noise;
}

/* Cut-off in samples: of a length, or of levels; those that are not set reach no
 * further than the surface. */
static gdouble
get_cutoff (const GstLwtSurface *surface, const GstLwtLevels *given,
    guint levels, gdouble lambda, guint axis)
{
  const gdouble spacing = axis == 0 ? surface->dx : surface->dy;
  const gint set = given_levels (given, axis, 0.0, spacing);
  gdouble cutoff;

  if (lambda > 0.0)
    return lambda / spacing;
  if (levels == 0)
    return 0.0;
  cutoff = lwt_cutoff_of_levels (levels, 1.0);
  return set >= 0 ? cutoff : MIN (cutoff, MAX (surface->whole[axis], 2));
}

static void
describe_cutoffs (
    GstLwtSurface *surface, const GstLwtSettings *settings, guint axis)
{
  gdouble cutoffs[3];

  cutoffs[0] = get_cutoff (surface, &settings->noise_levels,
      surface->levels_noise[axis], settings->lambda_s, axis);
  cutoffs[1] = get_cutoff (surface, &settings->roughness_levels,
      surface->levels_roughness[axis], settings->lambda_c, axis);
  cutoffs[2] = get_cutoff (surface, &settings->levels, surface->levels[axis],
      settings->lambda_f, axis);
  /* what is not set yields to what is */
  if (settings->lambda_c == 0.0 && settings->roughness_levels.both < 0)
    cutoffs[1] = MAX (cutoffs[1], cutoffs[0]);
  if (settings->lambda_f == 0.0 && settings->levels.both < 0)
    cutoffs[2] = MAX (cutoffs[2], cutoffs[1]);
  for (guint i = 0; i < 3; i++)
    surface->cutoffs[i][axis] = cutoffs[i];
  surface->levels[axis] = surface->levels_roughness[axis] = 0;
  surface->levels_noise[axis] = 0;
}

static gboolean
check_lengths (const GstLwtSurface *surface, const GstLwtSettings *settings,
    GError **error)
{
  const gboolean filter = settings->operation == LWT_OPERATION_FILTER;
  const gchar *name = settings->lambda_f > 0.0             ? "lambda-f"
                      : filter && settings->lambda_c > 0.0 ? "lambda-c"
                      : filter && settings->lambda_s > 0.0 ? "lambda-s"
                                                           : NULL;

  if (name == NULL || (surface->dx > 0.0 && surface->dy > 0.0))
    return TRUE;
  return cvis_refuse (error,
      "%s is a length, but the spacing of samples is not known: set dx (and "
      "dy) in metres, or use a source whose caps (surface-dx) or "
      "GstCvisSurfaceMeta have it",
      name);
}

/* Frames of video are not surfaces: their noise goes in cudadenoise. */
static gboolean
check_denoised (const GstLwtSurface *surface, const GstLwtLayout *layout,
    const GstLwtSettings *settings, GError **error)
{
  if (settings->operation != LWT_OPERATION_DENOISE || !layout->video
      || surface->dx > 0.0)
    return TRUE;
  return cvis_refuse (error,
      "operation=denoise accepts grey video as a surface only with a spacing: "
      "set dx, or use cudadenoise for video");
}

/* --- bands -------------------------------------------------------------------- */

static gboolean
refuse_other (
    const gchar *what, const gchar *ours, const gchar *theirs, GError **error)
{
  return cvis_refuse (error,
      "the bands are of the %s %s, but %s is set: leave it at its default",
      what, theirs, ours);
}

static gboolean
adopt_wavelet (GstLwtSurface *surface, const GstCvisSurfaceMeta *meta,
    const GstLwtSettings *settings, GError **error)
{
  GstLwtSettings defaults;
  gboolean left;

  if (meta->wavelet[0] == '\0')
    return TRUE;
  gst_lwt_settings_init (&defaults);
  left = g_str_equal (settings->wavelet, defaults.wavelet);
  gst_lwt_settings_clear (&defaults);
  if (g_str_equal (meta->wavelet, GST_LWT_UNNAMED)) {
    if (left)
      return cvis_refuse (error,
          "GstCvisSurfaceMeta does not name the wavelet of the bands, as its "
          "description is too long: set wavelet as it was for "
          "operation=forward");
    return TRUE;
  }
  if (!left && strcmp (settings->wavelet, meta->wavelet) != 0)
    return refuse_other ("wavelet", settings->wavelet, meta->wavelet, error);
  memcpy (surface->wavelet, meta->wavelet, sizeof (surface->wavelet));
  return TRUE;
}

static gboolean
adopt_boundary (
    GstLwtSurface *surface, const GstCvisSurfaceMeta *meta, GError **error)
{
  LwtBoundary boundary;

  if (meta->boundary[0] == '\0')
    return TRUE;
  if (!gst_lwt_boundary_from_name (meta->boundary, &boundary))
    return cvis_refuse (error,
        "the boundary of the bands, \"%s\", is not known", meta->boundary);
  if (surface->boundary != LWT_BOUNDARY_SYMMETRIC
      && surface->boundary != boundary)
    return refuse_other ("boundary", gst_lwt_boundary_name (surface->boundary),
        meta->boundary, error);
  surface->boundary = boundary;
  return TRUE;
}

static gboolean
adopt_levels (GstLwtSurface *surface, const GstCvisSurfaceMeta *meta,
    const GstLwtSettings *settings, GError **error)
{
  for (guint axis = 0; axis < 2; axis++) {
    const gdouble spacing = axis == 0 ? surface->dx : surface->dy;
    const gint given =
        given_levels (&settings->levels, axis, settings->lambda_f, spacing);

    if (given >= 0 && (guint) given != meta->levels[axis])
      return cvis_refuse (error,
          "the bands are of %u levels along %s, but %d are set: leave levels "
          "at their default",
          meta->levels[axis], axis == 0 ? "x" : "y", given);
    surface->levels[axis] = meta->levels[axis];
  }
  return TRUE;
}

/* The inverse follows the meta of the bands. */
static gboolean
adopt_bands (GstLwtSurface *surface, const GstCvisSurfaceMeta *meta,
    const GstLwtSettings *settings, GError **error)
{
  const LwtLayout layout =
      meta->interleaved ? LWT_LAYOUT_INTERLEAVED : LWT_LAYOUT_MALLAT;

  if (meta->part != CVIS_SURFACE_PART_BANDS)
    return cvis_refuse (error,
        "operation=inverse needs bands, but the input is %s",
        gst_cvis_surface_part_name (meta->part));
  if (settings->layout != LWT_LAYOUT_MALLAT && settings->layout != layout)
    return refuse_other ("layout", "interleaved", "mallat", error);
  surface->layout = layout;
  if (meta->width > 0 && meta->height > 0) {
    surface->whole[0] = meta->width;
    surface->whole[1] = meta->height;
  }
  return adopt_wavelet (surface, meta, settings, error)
         && adopt_boundary (surface, meta, error)
         && adopt_levels (surface, meta, settings, error);
}

/* --- the surface ---------------------------------------------------------------- */

gboolean
gst_lwt_surface_init (GstLwtSurface *surface, const GstLwtLayout *layout,
    const GstCvisSurfaceMeta *meta, const GstLwtSettings *settings,
    GError **error)
{
  const gboolean inverse = settings->operation == LWT_OPERATION_INVERSE;

  memset (surface, 0, sizeof (*surface));
  surface->width = surface->whole[0] = layout->width;
  surface->height = surface->whole[1] = layout->height;
  surface->sample = layout->sample;
  surface->boundary = settings->boundary;
  surface->layout = settings->layout;
  surface->masked = meta != NULL && meta->mask != NULL
                    && !gst_lwt_settings_is_plain (settings);
  describe_heights (surface, layout, meta, settings);
  if (!check_lengths (surface, settings, error)
      || !check_denoised (surface, layout, settings, error))
    return FALSE;
  describe_levels (surface, settings, 0);
  describe_levels (surface, settings, 1);
  for (guint axis = 0; gst_lwt_settings_is_smoothing (settings) && axis < 2;
       axis++)
    describe_cutoffs (surface, settings, axis);
  if (meta == NULL)
    return TRUE;
  if (!inverse && meta->part == CVIS_SURFACE_PART_BANDS)
    return cvis_refuse (error,
        "the samples are bands: use operation=inverse to get the surface");
  return (!inverse || adopt_bands (surface, meta, settings, error))
         && check_mask (surface, meta, error);
}

static gboolean
equal_sides (const guint a[2], const guint b[2])
{
  return a[0] == b[0] && a[1] == b[1];
}

gboolean
gst_lwt_surface_equal (const GstLwtSurface *a, const GstLwtSurface *b)
{
  return a->width == b->width && a->height == b->height
         && a->sample == b->sample && a->masked == b->masked && a->dx == b->dx
         && a->dy == b->dy && a->z_scale == b->z_scale
         && a->z_offset == b->z_offset && equal_sides (a->whole, b->whole)
         && g_str_equal (a->wavelet, b->wavelet)
         && equal_sides (a->levels, b->levels)
         && equal_sides (a->levels_roughness, b->levels_roughness)
         && equal_sides (a->levels_noise, b->levels_noise)
         && memcmp (a->cutoffs, b->cutoffs, sizeof (a->cutoffs)) == 0
         && a->boundary == b->boundary && a->layout == b->layout;
}

/* --- the engine ------------------------------------------------------------------ */

const gchar *
gst_lwt_surface_get_wavelet (
    const GstLwtSurface *surface, const GstLwtSettings *settings)
{
  return surface->wavelet[0] != '\0' ? surface->wavelet : settings->wavelet;
}

LwtType
gst_lwt_surface_get_type (const GstLwtSurface *surface,
    const GstLwtSettings *settings, gboolean *other)
{
  *other = FALSE;
  if (settings->reversible)
    return LWT_TYPE_I32;
  if (settings->operation == LWT_OPERATION_INVERSE
      && surface->sample == LWT_SAMPLE_I32)
    return LWT_TYPE_I32;
  if (settings->precision != GST_LWT_PRECISION_AUTO)
    return settings->precision == GST_LWT_PRECISION_FLOAT64 ? LWT_TYPE_F64
                                                            : LWT_TYPE_F32;
  /* bands have the type of the arithmetic */
  *other = settings->operation != LWT_OPERATION_INVERSE;
  return surface->sample == LWT_SAMPLE_F64 ? LWT_TYPE_F64 : LWT_TYPE_F32;
}

void
gst_lwt_surface_configure (const GstLwtSurface *surface,
    const GstLwtSettings *settings, const LwtWavelet *wavelet, LwtType type,
    LwtConfig *config)
{
  const gboolean plain =
      settings->operation == LWT_OPERATION_INVERSE || type == LWT_TYPE_I32;

  lwt_config_init (config);
  config->width = surface->whole[0];
  config->height = surface->whole[1];
  config->operation = settings->operation;
  config->sample = surface->masked ? lwt_sample_with_mask (surface->sample)
                                   : surface->sample;
  config->type = type;
  config->wavelet = wavelet;
  config->boundary = surface->boundary;
  config->layout = surface->layout;
  for (guint axis = 0; axis < 2; axis++) {
    config->levels[axis] = surface->levels[axis];
    config->levels_roughness[axis] = surface->levels_roughness[axis];
    config->levels_noise[axis] = surface->levels_noise[axis];
  }
  if (config->operation == LWT_OPERATION_FILTER)
    config->filter = settings->filter;
  config->order = settings->filter_order;
  config->tension = settings->tension;
  memcpy (config->cutoffs, surface->cutoffs, sizeof (config->cutoffs));
  config->f_operation = settings->f_operation;
  config->z_scale = plain ? 1.0 : surface->z_scale;
  config->z_offset = plain ? 0.0 : surface->z_offset;
  config->dx = surface->dx;
  config->dy = surface->dx > 0.0 ? surface->dy : 0.0;
  config->shrink = settings->shrink;
  config->threshold = settings->threshold;
  config->threshold_scale = settings->threshold_scale;
  config->spins = settings->spins;
}

static gdouble
cutoff (guint levels, gdouble spacing)
{
  return levels > 0 && spacing > 0.0 ? lwt_cutoff_of_levels (levels, spacing)
                                     : 0.0;
}

void
gst_lwt_get_cutoffs (const LwtConfig *config, guint axis, gdouble spacing,
    gdouble *lambda_s, gdouble *lambda_c, gdouble *lambda_f)
{
  if (config->filter != LWT_FILTER_WAVELET_DECIMATED) {
    *lambda_s = config->cutoffs[0][axis] * spacing;
    *lambda_c = config->cutoffs[1][axis] * spacing;
    *lambda_f = config->cutoffs[2][axis] * spacing;
    return;
  }
  *lambda_s = cutoff (config->levels_noise[axis], spacing);
  *lambda_c = cutoff (config->levels_roughness[axis], spacing);
  *lambda_f = cutoff (config->levels[axis], spacing);
}
