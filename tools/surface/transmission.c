/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The curve is the response of the sampled filter along x, far from edges and missing
 * points. */
#include "transmission.h"

#include <math.h>

#include "cuda/lifting/smooth.h"
#include "tools/length.h"
#include "tools/pipeline.h"
#include "tools/plot.h"

#define POINTS 121

static const struct {
  const gchar *name;
  LwtFilter filter;
} filters[] = {
  { "wavelet", LWT_FILTER_WAVELET },
  { "gaussian", LWT_FILTER_GAUSSIAN },
  { "robust-gaussian", LWT_FILTER_ROBUST_GAUSSIAN },
  { "spline", LWT_FILTER_SPLINE },
};

/* Amplitudes for wavelengths from a quarter of the cut-off, but at least two samples,
 * to eight times it; x: logarithm of wavelength / cut-off to the base 2. */
static void
compute_curve (const LwtConfig *config, gdouble *x, gdouble *y)
{
  const gdouble cutoff = config->cutoffs[1][0];
  LwtSmoothLine line;

  lwt_smooth_line_init (&line, config, 1, 0);
  for (guint i = 0; i < POINTS; i++) {
    const gdouble wavelength = cutoff * exp2 (5.0 * i / (POINTS - 1) - 2.0);

    x[i] = log2 (wavelength / cutoff);
    y[i] = wavelength < 2.0 ? NAN
                            : lwt_smooth_line_get_transmission (
                                &line, config->filter, wavelength);
  }
  lwt_smooth_line_clear (&line);
}

void
transmission_report (
    const GstStructure *filter, const gchar *name, Report *report)
{
  const gdouble dx = filter ? structure_get_double (filter, "dx") : 0.0;
  const gdouble lambda_c =
      filter ? structure_get_double (filter, "lambda-c-x") : 0.0;
  gdouble x[POINTS], y[POINTS];
  LwtWavelet *wavelet;
  LwtConfig config;
  GString *svg;
  gchar *length, *caption;

  lwt_config_init (&config);
  config.filter = LWT_FILTER_WAVELET_DECIMATED;
  for (guint i = 0; i < G_N_ELEMENTS (filters); i++)
    if (g_str_equal (filters[i].name, name))
      config.filter = filters[i].filter;
  if (!(dx > 0.0) || !(lambda_c > 0.0))
    return;
  if (config.filter == LWT_FILTER_WAVELET_DECIMATED) {
    report_add_paragraph (report,
        "The filter wavelet-decimated passes half of the amplitude at the "
        "cut-off on average; a single wave passes with 0 to 1 of it, by its "
        "position on the surface. The filter wavelet has no such scatter.");
    return;
  }
  wavelet =
      lwt_wavelet_new (gst_structure_get_string (filter, "wavelet"), NULL);
  if (wavelet == NULL)
    return;
  config.wavelet = wavelet;
  config.width = config.height = 2;
  config.cutoffs[1][0] = lambda_c / dx;
  compute_curve (&config, x, y);
  length = length_format (lambda_c);
  caption = g_strdup_printf (
      "Transmission of the filter %s along x, cut-off %s%s: amplitude of the "
      "waviness far from edges",
      name, length,
      config.filter == LWT_FILTER_ROBUST_GAUSSIAN
          ? " (of the linear Gaussian filter; the robust one passes less, "
            "0.475 at the cut-off)"
          : "");
  svg = g_string_new (NULL);
  plot_lines (svg,
      &(Plot){ .label = caption,
          .x_label = "wavelength: octaves above the cut-off",
          .y_label = "amplitude that passes" },
      &(PlotSeries){ NULL, x, y, POINTS }, 1);
  report_add_plot (report, svg->str, caption);
  g_string_free (svg, TRUE);
  g_free (caption);
  g_free (length);
  lwt_wavelet_free (wavelet);
}
