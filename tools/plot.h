/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Plots as SVG for the pages of report.h: axes with names and units, colours that
 * do not need red and green to be told apart. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * PlotSeries:
 * @name: (nullable): in the legend
 * @x, @y: (array length=n): points; a point that is not finite breaks the line
 */
typedef struct {
  const gchar *name;
  const gdouble *x, *y;
  gsize n;
} PlotSeries;

/**
 * Plot:
 * @label: what the plot shows, for people who cannot see it
 * @x_label, @y_label: name and unit
 * @log_y: logarithmic axis; values are above 0
 */
typedef struct {
  const gchar *label;
  const gchar *x_label, *y_label;
  gboolean log_y;
} Plot;

/* Both append an <svg> element to @svg. At most four series. */
void plot_lines (
    GString *svg, const Plot *plot, const PlotSeries *series, guint n_series);
/* Bar i spans @first + i * @width to @first + (i + 1) * @width. */
void plot_bars (GString *svg, const Plot *plot, gdouble first, gdouble width,
    const gdouble *values, guint n);

G_END_DECLS
