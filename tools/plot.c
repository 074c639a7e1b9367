/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Plots as SVG. Called by the subcommands that write a report. */
#include "plot.h"

#include <math.h>

#define WIDTH 680
#define HEIGHT 280
#define LEFT 74
#define RIGHT 14
#define TOP 26
#define BOTTOM 46

/* Range of an axis, and the distance of its ticks */
typedef struct {
  gdouble low, high, tick;
  gboolean log;
} Axis;

/* 1, 2 or 5 times a power of ten, so that about @n of them fit into @range */
static gdouble
choose_tick (gdouble range, guint n)
{
  gdouble rough = range / n, power = pow (10, floor (log10 (rough)));

  if (rough <= 1.5 * power)
    return power;
  if (rough <= 3.5 * power)
    return 2 * power;
  return rough <= 7.5 * power ? 5 * power : 10 * power;
}

static Axis
make_axis (gdouble low, gdouble high, guint n, gboolean log, gboolean round)
{
  Axis axis = { low, high, 1, log };
  const gdouble size = MAX (fabs (low), fabs (high));

  /* values that differ by rounding only get a range of their own size */
  if (!(high - low > 1e-6 * size)) {
    axis.low = low - MAX (size * 0.1, 1e-12);
    axis.high = high + MAX (size * 0.1, 1e-12);
  }
  if (log) {
    axis.low = floor (log10 (axis.low));
    axis.high = ceil (log10 (axis.high));
    axis.tick = MAX (1, ceil ((axis.high - axis.low) / n));
    return axis;
  }
  axis.tick = choose_tick (axis.high - axis.low, n);
  if (round) {
    axis.low = floor (axis.low / axis.tick) * axis.tick;
    axis.high = ceil (axis.high / axis.tick) * axis.tick;
  }
  return axis;
}

static gdouble
place_x (const Axis *axis, gdouble x)
{
  return LEFT
         + (x - axis->low) / (axis->high - axis->low) * (WIDTH - LEFT - RIGHT);
}

static gdouble
place_y (const Axis *axis, gdouble y)
{
  if (axis->log)
    y = log10 (y);
  return HEIGHT - BOTTOM
         - (y - axis->low) / (axis->high - axis->low) * (HEIGHT - TOP - BOTTOM);
}

/* Numbers in SVG have a decimal point in every locale. */
static void
append_number (GString *svg, const gchar *before, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (text, sizeof text, "%.2f", value);
  g_string_append (svg, before);
  g_string_append (svg, text);
}

static void
append_tick_text (GString *svg, const Axis *axis, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  if (fabs (value) < axis->tick * 1e-6)
    value = 0;
  g_ascii_formatd (
      text, sizeof text, "%.6g", axis->log ? pow (10, value) : value);
  g_string_append (svg, text);
}

static void
append_text (GString *svg, const gchar *text)
{
  gchar *escaped = g_markup_escape_text (text, -1);

  g_string_append (svg, escaped);
  g_free (escaped);
}

static void
append_frame (GString *svg, const Plot *plot, const Axis *x, const Axis *y)
{
  g_string_append_printf (svg,
      "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"",
      WIDTH, HEIGHT);
  append_text (svg, plot->label);
  g_string_append (svg, "\">");
  for (gdouble v = ceil (y->low / y->tick - 1e-9) * y->tick;
       v <= y->high + y->tick * 1e-6; v += y->tick) {
    gdouble at = place_y (y, y->log ? pow (10, v) : v);

    append_number (svg, "<line class=\"grid\" x1=\"74\" x2=\"666\" y1=\"", at);
    append_number (svg, "\" y2=\"", at);
    append_number (svg, "\"/><text class=\"y\" x=\"68\" y=\"", at + 4);
    g_string_append (svg, "\">");
    append_tick_text (svg, y, v);
    g_string_append (svg, "</text>");
  }
  for (gdouble v = ceil (x->low / x->tick - 1e-9) * x->tick;
       v <= x->high + x->tick * 1e-6; v += x->tick) {
    append_number (svg, "<text class=\"x\" x=\"", place_x (x, v));
    g_string_append_printf (svg, "\" y=\"%d\">", HEIGHT - BOTTOM + 17);
    append_tick_text (svg, x, v);
    g_string_append (svg, "</text>");
  }
  g_string_append_printf (svg, "<text class=\"x\" x=\"%d\" y=\"%d\">",
      (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
  append_text (svg, plot->x_label);
  g_string_append (svg, "</text><text class=\"label\" x=\"4\" y=\"14\">");
  append_text (svg, plot->y_label);
  g_string_append (svg, "</text>");
}

static void
append_legend (GString *svg, const PlotSeries *series, guint n)
{
  gdouble at = WIDTH - RIGHT;

  for (guint i = n; i-- > 0;) {
    if (series[i].name == NULL)
      continue;
    g_string_append_printf (svg, "<text class=\"key c%u\" ", i);
    append_number (svg, "x=\"", at);
    g_string_append (svg, "\" y=\"14\">");
    append_text (svg, series[i].name);
    g_string_append (svg, "</text>");
    at -= 9.0 * g_utf8_strlen (series[i].name, -1) + 14;
  }
}

static void
append_path (
    GString *svg, const PlotSeries *series, const Axis *x, const Axis *y)
{
  gboolean pen = FALSE;

  for (gsize i = 0; i < series->n; i++) {
    if (!isfinite (series->x[i]) || !isfinite (series->y[i])) {
      pen = FALSE;
      continue;
    }
    append_number (svg, pen ? "L" : "M", place_x (x, series->x[i]));
    append_number (svg, " ", place_y (y, series->y[i]));
    pen = TRUE;
  }
}

static void
widen_range (gdouble value, gdouble *low, gdouble *high)
{
  if (isfinite (value)) {
    *low = MIN (*low, value);
    *high = MAX (*high, value);
  }
}

void
plot_lines (
    GString *svg, const Plot *plot, const PlotSeries *series, guint n_series)
{
  gdouble x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
  Axis x, y;

  for (guint i = 0; i < n_series; i++)
    for (gsize j = 0; j < series[i].n; j++) {
      widen_range (series[i].x[j], &x0, &x1);
      widen_range (series[i].y[j], &y0, &y1);
    }
  if (x0 > x1 || y0 > y1)
    return;
  x = make_axis (x0, x1, 8, FALSE, FALSE);
  y = make_axis (y0, y1, 5, plot->log_y, TRUE);
  append_frame (svg, plot, &x, &y);
  append_legend (svg, series, n_series);
  for (guint i = 0; i < n_series; i++) {
    g_string_append_printf (svg, "<path class=\"c%u\" d=\"", i);
    append_path (svg, &series[i], &x, &y);
    g_string_append (svg, "\"/>");
  }
  g_string_append (svg, "</svg>");
}

void
plot_bars (GString *svg, const Plot *plot, gdouble first, gdouble width,
    const gdouble *values, guint n)
{
  gdouble highest = 0;
  Axis x, y;

  for (guint i = 0; i < n; i++)
    highest = MAX (highest, values[i]);
  if (n == 0 || highest <= 0)
    return;
  x = make_axis (first, first + n * width, 8, FALSE, FALSE);
  y = make_axis (0, highest, 5, FALSE, TRUE);
  append_frame (svg, plot, &x, &y);
  g_string_append (svg, "<g class=\"bars\">");
  for (guint i = 0; i < n; i++) {
    gdouble left = place_x (&x, first + i * width);
    gdouble right = place_x (&x, first + (i + 1) * width);
    gdouble top = place_y (&y, values[i]);

    if (values[i] <= 0)
      continue;
    append_number (svg, "<rect x=\"", left);
    append_number (svg, "\" y=\"", top);
    append_number (svg, "\" width=\"", MAX (right - left - 0.5, 0.5));
    append_number (svg, "\" height=\"", HEIGHT - BOTTOM - top);
    g_string_append (svg, "\"/>");
  }
  g_string_append (svg, "</g></svg>");
}
