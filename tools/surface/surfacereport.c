/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Pictures and plots of a surface. Called by roughness.c. */
#include "surfacereport.h"

#include <gst/cudavision/gstsurfacemeta.h>
#include <math.h>

#include "tools/length.h"
#include "tools/pipeline.h"
#include "tools/plot.h"

static const gchar *const names[SURFACE_N_PICTURES] = { "measured", "roughness",
  "waviness", "form" };

/* Pictures have at most this many pixels a side. */
#define PICTURE_SIDE 900
#define PROFILE_POINTS 2000
#define BINS 80

/* --- pipeline -------------------------------------------------------------- */

void
surface_pictures_append (GString *launch, gboolean measured_only)
{
  for (guint i = 0; i < (measured_only ? 1 : SURFACE_N_PICTURES); i++) {
    if (i > 0)
      g_string_append_printf (
          launch, " filter.src_%s ! tee name=%s", names[i], names[i]);
    g_string_append_printf (launch,
        " %s. ! queue ! fakesink name=heights-%s"
        " %s. ! queue ! surfacecolor ! videoscale"
        " ! video/x-raw,width=[1,%d],height=[1,%d]"
        " ! videoconvert ! pngenc ! fakesink name=picture-%s",
        names[i], names[i], names[i], PICTURE_SIDE, PICTURE_SIDE, names[i]);
  }
}

void
surface_pictures_take (SurfacePictures *self, GstElement *pipeline)
{
  for (guint i = 0; i < SURFACE_N_PICTURES; i++) {
    gchar *heights = g_strconcat ("heights-", names[i], NULL);
    gchar *picture = g_strconcat ("picture-", names[i], NULL);

    self->heights[i] = element_get_sample (pipeline, heights);
    self->pictures[i] = element_get_sample (pipeline, picture);
    g_free (heights);
    g_free (picture);
  }
}

void
surface_pictures_clear (SurfacePictures *self)
{
  for (guint i = 0; i < SURFACE_N_PICTURES; i++) {
    g_clear_pointer (&self->heights[i], gst_sample_unref);
    g_clear_pointer (&self->pictures[i], gst_sample_unref);
  }
}

/* --- heights --------------------------------------------------------------- */

/* Heights of a sample while it is mapped */
typedef struct {
  GstCvisSurfaceInfo info;
  GstMapInfo map;
  GstBuffer *buffer;
  gdouble scale;
} Heights;

static gboolean
map_heights (GstSample *sample, Heights *heights)
{
  const GstCvisSurfaceMeta *meta;

  if (sample == NULL)
    return FALSE;
  heights->buffer = gst_sample_get_buffer (sample);
  meta = gst_cvis_buffer_get_surface_meta (heights->buffer);
  heights->scale = meta != NULL ? meta->z_scale : 1;
  return gst_cvis_surface_info_from_caps (
             &heights->info, gst_sample_get_caps (sample), NULL)
         && gst_buffer_map (heights->buffer, &heights->map, GST_MAP_READ);
}

static gdouble
get_height (const Heights *h, guint x, guint y)
{
  const gsize at = (gsize) y * h->info.width + x;

  switch (h->info.type) {
    case GST_CVIS_SURFACE_TYPE_FLOAT32:
      return ((const gfloat *) h->map.data)[at] * h->scale;
    case GST_CVIS_SURFACE_TYPE_FLOAT64:
      return ((const gdouble *) h->map.data)[at] * h->scale;
    default:
      return ((const gint32 *) h->map.data)[at] * h->scale;
  }
}

/* --- plots ----------------------------------------------------------------- */

/* The middle row: every point, or the mean of neighbours of long rows */
static void
plot_profile (Report *report, const Heights *h, const gchar *name)
{
  const guint n = MIN (h->info.width, PROFILE_POINTS);
  const gboolean spaced = h->info.dx > 0;
  const LengthUnit *x_unit =
      length_unit (spaced ? h->info.dx * h->info.width : 1);
  gdouble *x = g_new (gdouble, n), *y = g_new (gdouble, n), most = 0;
  const LengthUnit *z_unit;
  GString *svg = g_string_new (NULL);
  gchar *x_label, *y_label, *caption;

  for (guint i = 0; i < n; i++) {
    const guint from = (guint64) i * h->info.width / n;
    const guint to = (guint64) (i + 1) * h->info.width / n;
    gdouble sum = 0;

    for (guint j = from; j < to; j++)
      sum += get_height (h, j, h->info.height / 2);
    x[i] = (from + to - 1) / 2.0 * (spaced ? h->info.dx / x_unit->metres : 1);
    y[i] = sum / (to - from);
    if (isfinite (y[i]))
      most = MAX (most, fabs (y[i]));
  }
  z_unit = length_unit (most);
  for (guint i = 0; i < n; i++)
    y[i] /= z_unit->metres;
  x_label = spaced ? g_strdup_printf ("position along x, %s", x_unit->label)
                   : g_strdup ("position along x, points");
  y_label = g_strdup_printf ("height, %s", z_unit->label);
  caption = g_strdup_printf ("Profile of the %s: row %u of %u", name,
      h->info.height / 2, h->info.height);
  plot_lines (svg,
      &(Plot){ .label = caption, .x_label = x_label, .y_label = y_label },
      &(PlotSeries){ NULL, x, y, n }, 1);
  report_add_plot (report, svg->str, caption);
  g_string_free (svg, TRUE);
  g_free (x_label);
  g_free (y_label);
  g_free (caption);
  g_free (x);
  g_free (y);
}

static void
find_range (const Heights *h, gdouble *low, gdouble *high)
{
  *low = INFINITY;
  *high = -INFINITY;
  for (guint y = 0; y < h->info.height; y++)
    for (guint x = 0; x < h->info.width; x++) {
      const gdouble z = get_height (h, x, y);

      if (isfinite (z)) {
        *low = MIN (*low, z);
        *high = MAX (*high, z);
      }
    }
}

static void
plot_histogram (Report *report, const Heights *h, const gchar *name)
{
  gdouble low, high, counts[BINS] = { 0 }, all = 0;
  const LengthUnit *unit;
  GString *svg;
  gchar *x_label, *caption;

  find_range (h, &low, &high);
  if (!(high > low))
    return;
  for (guint y = 0; y < h->info.height; y++)
    for (guint x = 0; x < h->info.width; x++) {
      const gdouble z = get_height (h, x, y);

      if (isfinite (z)) {
        counts[MIN ((guint) ((z - low) / (high - low) * BINS), BINS - 1)]++;
        all++;
      }
    }
  for (guint i = 0; i < BINS; i++)
    counts[i] *= 100 / all;
  unit = length_unit (MAX (fabs (low), fabs (high)));
  svg = g_string_new (NULL);
  x_label = g_strdup_printf ("height, %s", unit->label);
  caption = g_strdup_printf ("Histogram of the heights of the %s", name);
  plot_bars (svg,
      &(Plot){ .label = caption,
          .x_label = x_label,
          .y_label = "share of the points, %" },
      low / unit->metres, (high - low) / BINS / unit->metres, counts, BINS);
  report_add_plot (report, svg->str, caption);
  g_string_free (svg, TRUE);
  g_free (x_label);
  g_free (caption);
}

void
surface_pictures_report (const SurfacePictures *self, Report *report)
{
  const guint plotted = self->heights[1] != NULL ? 1 : 0;
  Heights heights;

  report_begin_pictures (report);
  for (guint i = 0; i < SURFACE_N_PICTURES; i++) {
    gchar *caption = g_strdup_printf (
        "%c%s: heights by colour", g_ascii_toupper (names[i][0]), names[i] + 1);

    report_add_picture (report, self->pictures[i], caption);
    g_free (caption);
  }
  report_end_pictures (report);
  if (map_heights (self->heights[plotted], &heights)) {
    const gchar *name = plotted ? names[plotted] : "measured surface";

    plot_profile (report, &heights, name);
    plot_histogram (report, &heights, name);
    gst_buffer_unmap (heights.buffer, &heights.map);
  }
}
