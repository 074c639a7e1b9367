/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstlwtsettings.h"

#include "cuda/lifting/plan.h"

/* --- the enumerations ------------------------------------------------------ */

static const GEnumValue operation_values[] = {
  { LWT_OPERATION_FILTER, "Split into noise, roughness, waviness and form",
      "filter" },
  { LWT_OPERATION_FORWARD, "Transform into coefficients", "forward" },
  { LWT_OPERATION_INVERSE, "Transform coefficients back", "inverse" },
  { LWT_OPERATION_DENOISE, "Shrink small coefficients", "denoise" },
  { 0, NULL, NULL },
};
static const GEnumValue filter_values[] = {
  { LWT_FILTER_WAVELET, "Undecimated lifting wavelet, any cut-off", "wavelet" },
  { LWT_FILTER_WAVELET_DECIMATED,
      "Levels of the lifting wavelet, cut-offs are powers of two",
      "wavelet-decimated" },
  { LWT_FILTER_GAUSSIAN, "Gaussian, as in ISO 16610-21 and -61", "gaussian" },
  { LWT_FILTER_ROBUST_GAUSSIAN, "Robust Gaussian, as in ISO 16610-31 and -71",
      "robust-gaussian" },
  { LWT_FILTER_SPLINE, "Smoothing spline, as in ISO 16610-22 and -62",
      "spline" },
  { 0, NULL, NULL },
};
static const GEnumValue output_values[] = {
  { GST_LWT_OUTPUT_AUTO,
      "Roughness of filter, bands of forward, the surface of inverse and "
      "denoise",
      "auto" },
  { GST_LWT_OUTPUT_ROUGHNESS, "Between lambda-s and lambda-c", "roughness" },
  { GST_LWT_OUTPUT_WAVINESS, "Between lambda-c and lambda-f", "waviness" },
  { GST_LWT_OUTPUT_FORM, "Longer than lambda-f", "form" },
  { GST_LWT_OUTPUT_NOISE, "Shorter than lambda-s, or removed by denoise",
      "noise" },
  { GST_LWT_OUTPUT_BANDS, "Coefficients", "bands" },
  { GST_LWT_OUTPUT_MEASURED, "The surface of inverse and denoise", "measured" },
  { GST_LWT_OUTPUT_NONE,
      "The input surfaces, with the parameters of all components", "none" },
  { 0, NULL, NULL },
};
static const GEnumValue boundary_values[] = {
  { LWT_BOUNDARY_SYMMETRIC, "Mirrored at the last sample", "symmetric" },
  { LWT_BOUNDARY_PERIODIC, "Repeated", "periodic" },
  { LWT_BOUNDARY_CLAMP, "The last sample of the same parity", "clamp" },
  { LWT_BOUNDARY_ZERO, "Nothing", "zero" },
  { LWT_BOUNDARY_PAD_SYMMETRIC, "Padded, mirrored after the last sample",
      "pad-symmetric" },
  { LWT_BOUNDARY_PAD_SMOOTH, "Padded, extrapolated linearly", "pad-smooth" },
  { 0, NULL, NULL },
};
static const GEnumValue layout_values[] = {
  { LWT_LAYOUT_MALLAT, "The low band in the upper left quarter, and so on",
      "mallat" },
  { LWT_LAYOUT_INTERLEAVED, "Each coefficient where its sample was",
      "interleaved" },
  { 0, NULL, NULL },
};
static const GEnumValue f_operation_values[] = {
  { LWT_F_NONE, "Nothing", "none" },
  { LWT_F_OFFSET, "The mean", "offset" },
  { LWT_F_LEVEL, "The tilt; the mean stays", "level" },
  { LWT_F_PLANE, "Mean and tilt", "plane" },
  { LWT_F_POLY2, "A polynomial of degree two", "poly2" },
  { 0, NULL, NULL },
};
static const GEnumValue precision_values[] = {
  { GST_LWT_PRECISION_AUTO,
      "As downstream requires, else float64 for float64 and float32 for all "
      "others",
      "auto" },
  { GST_LWT_PRECISION_FLOAT32, "24 bits", "float32" },
  { GST_LWT_PRECISION_FLOAT64, "53 bits", "float64" },
  { 0, NULL, NULL },
};
static const GEnumValue shrink_values[] = {
  { LWT_SHRINK_SOFT, "All reduced by the threshold", "soft" },
  { LWT_SHRINK_HARD, "Those below the threshold set to 0", "hard" },
  { LWT_SHRINK_GARROTE, "Between the two: w - t^2 / w", "garrote" },
  { 0, NULL, NULL },
};

static const gchar *
nick_of (const GEnumValue *values, gint value)
{
  for (; values->value_nick != NULL; values++)
    if (values->value == value)
      return values->value_nick;
  return NULL;
}

const gchar *
gst_lwt_operation_name (LwtOperation operation)
{
  return nick_of (operation_values, (gint) operation);
}

const gchar *
gst_lwt_filter_name (LwtFilter filter)
{
  return nick_of (filter_values, (gint) filter);
}

const gchar *
gst_lwt_boundary_name (LwtBoundary boundary)
{
  return nick_of (boundary_values, (gint) boundary);
}

gboolean
gst_lwt_boundary_from_name (const gchar *name, LwtBoundary *boundary)
{
  for (const GEnumValue *v = boundary_values; v->value_nick != NULL; v++) {
    if (g_str_equal (v->value_nick, name)) {
      *boundary = (LwtBoundary) v->value;
      return TRUE;
    }
  }
  return FALSE;
}

/* --- the settings ---------------------------------------------------------- */

#define AT(field) G_STRUCT_OFFSET (GstLwtSettings, field)
#define IS(kind) GST_CVIS_SETTING_##kind
#define LEVELS(name, blurb, field)                                             \
  {                                                                            \
    name, blurb, IS (INT), AT (field), FALSE, -1, LWT_MAX_LEVELS, NULL, NULL   \
  }
#define LENGTH(name, blurb, field)                                             \
  {                                                                            \
    name, blurb, IS (DOUBLE), AT (field), FALSE, 0, G_MAXDOUBLE, NULL, NULL    \
  }

static const GstCvisSetting settings_table[] = {
  { "operation", "Operation on each surface", IS (ENUM), AT (operation), FALSE,
      0, 0, "GstLwtOperation", operation_values },
  { "filter", "Low-pass filter of operation=filter", IS (ENUM), AT (filter),
      FALSE, 0, 0, "GstLwtFilter", filter_values },
  { "filter-order",
      "Order of filter=gaussian at edges and missing points: 0 renormalises "
      "the weights, 2 keeps slope and curvature",
      IS (UINT), AT (filter_order), FALSE, 0, 2, NULL, NULL },
  { "tension", "Tension of filter=spline, 0 to 1: 0 is the cubic spline",
      IS (DOUBLE), AT (tension), FALSE, 0, 1, NULL, NULL },
  { "output", "Output of the source pad", IS (ENUM), AT (output), FALSE, 0, 0,
      "GstLwtOutput", output_values },
  { "wavelet",
      "A name (haar, db1..db20, sym2..sym20, coif1..coif5, bior1.1..bior6.8, "
      "rbio1.1..rbio6.8, 5/3, 9/7, cdf7/5, dd9/7, dd13/7), lifting steps "
      "(\"steps: ...\") or a filter bank (\"bank: ...\")",
      IS (STRING), AT (wavelet), FALSE, 0, 0, NULL, NULL },
  LEVELS ("levels",
      "Levels of the transform, beyond which the form begins; -1: 6 or "
      "roughness-levels, whichever is larger",
      levels.both),
  LEVELS (
      "levels-x", "Levels of the transform along x; -1: as levels", levels.x),
  LEVELS (
      "levels-y", "Levels of the transform along y; -1: as levels", levels.y),
  LEVELS ("roughness-levels",
      "Levels beyond which the waviness begins; -1: 3 or levels, whichever is "
      "smaller",
      roughness_levels.both),
  LEVELS ("roughness-levels-x",
      "Levels along x beyond which the waviness begins; -1: as "
      "roughness-levels",
      roughness_levels.x),
  LEVELS ("roughness-levels-y",
      "Levels along y beyond which the waviness begins; -1: as "
      "roughness-levels",
      roughness_levels.y),
  LEVELS ("noise-levels",
      "Levels beyond which the roughness begins; -1: none, no noise is "
      "separated",
      noise_levels.both),
  LEVELS ("noise-levels-x",
      "Levels along x beyond which the roughness begins; -1: as noise-levels",
      noise_levels.x),
  LEVELS ("noise-levels-y",
      "Levels along y beyond which the roughness begins; -1: as noise-levels",
      noise_levels.y),
  LENGTH ("lambda-s",
      "Wavelength between noise and roughness, metres; 0: noise-levels sets it",
      lambda_s),
  LENGTH ("lambda-c",
      "Wavelength between roughness and waviness, metres; 0: "
      "roughness-levels sets it",
      lambda_c),
  LENGTH ("lambda-f",
      "Wavelength between waviness and form, metres; 0: levels sets it",
      lambda_f),
  { "boundary", "Extension of the surface beyond its edges", IS (ENUM),
      AT (boundary), FALSE, 0, 0, "GstLwtBoundary", boundary_values },
  { "layout", "Order of coefficients in the tensor", IS (ENUM), AT (layout),
      FALSE, 0, 0, "GstLwtLayout", layout_values },
  { "f-operation",
      "Form subtracted before the transform, fitted by least squares",
      IS (ENUM), AT (f_operation), FALSE, 0, 0, "GstLwtFOperation",
      f_operation_values },
  LENGTH ("dx",
      "Sample spacing along x in metres, used if neither caps nor meta specify "
      "it; 0: unknown",
      dx),
  LENGTH ("dy",
      "Sample spacing along y in metres, used if neither caps nor meta specify "
      "it; 0: as dx",
      dy),
  { "z-scale",
      "Height in metres of a grey or integer level, used if no meta specifies "
      "it and for grey output",
      IS (DOUBLE), AT (z_scale), FALSE, -G_MAXDOUBLE, G_MAXDOUBLE, NULL, NULL },
  { "z-offset",
      "Height in metres of level 0, used if no meta specifies it and for grey "
      "output",
      IS (DOUBLE), AT (z_offset), FALSE, -G_MAXDOUBLE, G_MAXDOUBLE, NULL,
      NULL },
  { "reversible", "Transform integers into integers, and back without any loss",
      IS (BOOLEAN), AT (reversible), FALSE, 0, 1, NULL, NULL },
  { "precision", "Type of the arithmetic and of output tensors", IS (ENUM),
      AT (precision), FALSE, 0, 0, "GstLwtPrecision", precision_values },
  LENGTH ("threshold",
      "Threshold of denoise, metres; 0: sigma sqrt (2 ln N) for each surface",
      threshold),
  { "threshold-scale", "Factor of the automatic threshold of denoise",
      IS (DOUBLE), AT (threshold_scale), FALSE, 1e-3, 1000, NULL, NULL },
  { "shrink", "Shrinkage rule of denoise for coefficients", IS (ENUM),
      AT (shrink), FALSE, 0, 0, "GstLwtShrink", shrink_values },
  { "spins", "Shifts of the grid over which denoise averages", IS (UINT),
      AT (spins), FALSE, 1, 16, NULL, NULL },
  { "parameters",
      "Compute areal parameters (Sa, Sq, ...) of all output components",
      IS (BOOLEAN), AT (parameters), TRUE, 0, 1, NULL, NULL },
  { "sa-lower-limit",
      "Lower limit of Sa of the source pad's surface, metres; surfaces below "
      "it are reported",
      IS (DOUBLE), AT (sa_lower_limit), TRUE, 0, G_MAXDOUBLE, NULL, NULL },
  { "sa-upper-limit",
      "Upper limit of Sa of the source pad's surface, metres; surfaces above "
      "it are reported",
      IS (DOUBLE), AT (sa_upper_limit), TRUE, 0, G_MAXDOUBLE, NULL, NULL },
  { "message-interval",
      "Shortest time between two element messages with parameters of the same "
      "component, nanoseconds; 0: no messages",
      IS (TIME), AT (message_interval), TRUE, 0, 0, NULL, NULL },
  { "threads", "Threads that compute (backend cpu); 0: one per processor",
      IS (UINT), AT (threads), FALSE, 0, 1024, NULL, NULL },
  { "frames-in-flight", "Surfaces in flight; 0: 2 on the CPU, 3 with CUDA",
      IS (UINT), AT (frames_in_flight), FALSE, 0, 8, NULL, NULL },
  { "cuda-memory-limit",
      "Device memory to use on each GPU, bytes; larger surfaces are computed "
      "in row blocks; 0: all free memory",
      IS (TIME), AT (cuda_memory_limit), FALSE, 0, 0, NULL, NULL },
  { "split-samples",
      "Smallest number of samples of a surface that several GPUs share in row "
      "blocks; 0: 67108864 (8192 x 8192)",
      IS (TIME), AT (split_samples), FALSE, 0, 0, NULL, NULL },
};

void
gst_lwt_settings_init (GstLwtSettings *settings)
{
  static const GstLwtLevels not_given = { -1, -1, -1 };

  *settings = (GstLwtSettings){
    .filter = LWT_FILTER_WAVELET,
    .wavelet = g_strdup ("9/7"),
    .levels = not_given,
    .roughness_levels = not_given,
    .noise_levels = not_given,
    .z_scale = 1.0,
    .threshold_scale = 1.0,
    .shrink = LWT_SHRINK_SOFT,
    .spins = 1,
    .sa_upper_limit = G_MAXDOUBLE,
    .message_interval = GST_SECOND,
  };
}

void
gst_lwt_settings_copy (GstLwtSettings *to, const GstLwtSettings *from)
{
  gst_lwt_settings_clear (to);
  *to = *from;
  to->wavelet = g_strdup (from->wavelet);
}

void
gst_lwt_settings_clear (GstLwtSettings *settings)
{
  g_clear_pointer (&settings->wavelet, g_free);
}

gboolean
gst_lwt_settings_is_smoothing (const GstLwtSettings *settings)
{
  return settings->operation == LWT_OPERATION_FILTER
         && settings->filter != LWT_FILTER_WAVELET_DECIMATED;
}

CvisSurfacePart
gst_lwt_settings_get_part (const GstLwtSettings *settings)
{
  static const CvisSurfacePart first[] = {
    [LWT_OPERATION_FILTER] = CVIS_SURFACE_PART_ROUGHNESS,
    [LWT_OPERATION_FORWARD] = CVIS_SURFACE_PART_BANDS,
    [LWT_OPERATION_INVERSE] = CVIS_SURFACE_PART_MEASURED,
    [LWT_OPERATION_DENOISE] = CVIS_SURFACE_PART_MEASURED,
  };

  return settings->output == GST_LWT_OUTPUT_AUTO
                 || settings->output == GST_LWT_OUTPUT_NONE
             ? first[settings->operation]
             : (CvisSurfacePart) (settings->output - 1);
}

void
gst_lwt_settings_install (GstCvisFilterClass *klass, gsize offset)
{
  GstLwtSettings defaults;

  gst_lwt_settings_init (&defaults);
  gst_cvis_filter_class_install_settings (
      klass, settings_table, G_N_ELEMENTS (settings_table), offset, &defaults);
  gst_lwt_settings_clear (&defaults);
}
