/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstsurfacepainter.h"

#include <math.h>
#include <string.h>

#include "common/gstcvfont.h"

#define N_COLOURS 256
#define N_BINS 65536

struct _GstSurfacePainter {
  GstSurfaceMap map;
  gboolean has_colours;
  guint32 colours[N_COLOURS + 1]; /* the last one: missing */
};

GstSurfacePainter *
gst_surface_painter_new (void)
{
  return g_new0 (GstSurfacePainter, 1);
}

void
gst_surface_painter_free (GstSurfacePainter *painter)
{
  g_free (painter);
}

/* --- colours ------------------------------------------------------------------- */

/* Colours at equal distances, straight lines between. Viridis and inferno are
 * those of S. van der Walt, N. Smith and E. Firing (public domain, CC0), every
 * eighth of their 256. */
static const guint32 viridis[] = { 0x440154, 0x470d60, 0x48186a, 0x482374,
  0x472d7b, 0x453781, 0x424086, 0x3e4989, 0x3b528b, 0x375b8d, 0x33638d,
  0x2f6b8e, 0x2c728e, 0x297a8e, 0x26828e, 0x23898e, 0x21918c, 0x1f988b,
  0x1fa088, 0x22a785, 0x28ae80, 0x32b67a, 0x3fbc73, 0x4ec36b, 0x5ec962,
  0x70cf57, 0x84d44b, 0x98d83e, 0xaddc30, 0xc2df23, 0xd8e219, 0xece51b,
  0xfde725 };
static const guint32 inferno[] = { 0x000004, 0x040312, 0x0b0724, 0x150b37,
  0x210c4a, 0x2f0a5b, 0x3d0965, 0x4a0c6b, 0x57106e, 0x64156e, 0x71196e,
  0x7d1e6d, 0x8a226a, 0x972766, 0xa32c61, 0xb0315b, 0xbc3754, 0xc73e4c,
  0xd24644, 0xdb503b, 0xe45a31, 0xeb6628, 0xf1731d, 0xf68013, 0xf98e09,
  0xfb9d07, 0xfcac11, 0xfbbc21, 0xf9cb35, 0xf5db4c, 0xf2ea69, 0xf3f68a,
  0xfcffa4 };
static const guint32 grey[] = { 0x000000, 0xffffff };
/* water, shore, meadow, rock, snow */
static const guint32 terrain[] = { 0x1b2f6b, 0x2c5c9e, 0x4f9bb8, 0xc9d8a0,
  0x76a653, 0x4c7d3a, 0x8f8350, 0xa3825b, 0xbfae9a, 0xffffff };

typedef struct {
  const guint32 *stops;
  guint n;
} Stops;

static Stops
stops_of (GstSurfaceMap map)
{
  switch (map) {
    case GST_SURFACE_MAP_INFERNO:
      return (Stops){ inferno, G_N_ELEMENTS (inferno) };
    case GST_SURFACE_MAP_GREY:
      return (Stops){ grey, G_N_ELEMENTS (grey) };
    case GST_SURFACE_MAP_TERRAIN:
      return (Stops){ terrain, G_N_ELEMENTS (terrain) };
    default:
      return (Stops){ viridis, G_N_ELEMENTS (viridis) };
  }
}

static guint32
colour_at (const Stops *stops, gdouble t)
{
  const gdouble at = t * (stops->n - 1);
  const guint left = MIN ((guint) at, stops->n - 2);
  const gdouble weight = at - left;
  guint32 result = 0;

  for (guint shift = 0; shift < 24; shift += 8) {
    const gdouble a = stops->stops[left] >> shift & 255;
    const gdouble b = stops->stops[left + 1] >> shift & 255;

    result |= (guint32) (a + (b - a) * weight + 0.5) << shift;
  }
  return result;
}

static void
choose_colours (
    GstSurfacePainter *painter, const GstSurfacePaintSettings *settings)
{
  const Stops stops = stops_of (settings->map);

  painter->colours[N_COLOURS] = settings->missing & 0xffffff;
  if (painter->has_colours && painter->map == settings->map)
    return;
  for (guint i = 0; i < N_COLOURS; i++)
    painter->colours[i] = colour_at (&stops, i / (N_COLOURS - 1.0));
  painter->map = settings->map;
  painter->has_colours = TRUE;
}

/* --- the range ------------------------------------------------------------------- */

static gboolean
find_extremes (const GstSurfaceHeights *heights, gfloat *min, gfloat *max)
{
  const gsize n = (gsize) heights->width * heights->height;

  *min = INFINITY;
  *max = -INFINITY;
  for (gsize i = 0; i < n; i++) {
    const gfloat z = heights->z[i];

    if (!isfinite (z))
      continue;
    *min = MIN (*min, z);
    *max = MAX (*max, z);
  }
  return *min <= *max;
}

/* The height below which @wanted of those in the bins lie. */
static gdouble
height_of (const guint32 *bins, gdouble wanted, gdouble min, gdouble step)
{
  gdouble below = 0.0;

  for (guint i = 0; i < N_BINS; i++) {
    if (bins[i] > 0 && below + bins[i] >= wanted)
      return min + step * (i + CLAMP ((wanted - below) / bins[i], 0.0, 1.0));
    below += bins[i];
  }
  return min + step * N_BINS;
}

gboolean
gst_surface_percentiles (const GstSurfaceHeights *heights, gdouble low,
    gdouble high, gdouble *from, gdouble *to)
{
  const gsize n = (gsize) heights->width * heights->height;
  gfloat min, max;
  guint32 *bins;
  gdouble scale, count = 0.0;

  *from = *to = 0.0;
  if (!find_extremes (heights, &min, &max))
    return FALSE;
  *from = min;
  *to = max;
  if (!(max > min) || (low <= 0.0 && high >= 100.0))
    return TRUE;
  bins = g_new0 (guint32, N_BINS);
  scale = N_BINS / ((gdouble) max - (gdouble) min);
  for (gsize i = 0; i < n; i++) {
    const gfloat z = heights->z[i];

    if (!isfinite (z))
      continue;
    bins[MIN ((guint) (((gdouble) z - (gdouble) min) * scale), N_BINS - 1)]++;
    count += 1.0;
  }
  *from = height_of (bins, count * low / 100.0, min, 1.0 / scale);
  *to = height_of (bins, count * high / 100.0, min, 1.0 / scale);
  g_free (bins);
  return TRUE;
}

static void
choose_range (const GstSurfaceHeights *heights,
    const GstSurfacePaintSettings *settings, gdouble *from, gdouble *to)
{
  if (settings->range == GST_SURFACE_RANGE_FIXED) {
    *from = settings->minimum;
    *to = settings->maximum;
  } else {
    gst_surface_percentiles (heights, settings->low, settings->high, from, to);
  }
}

/* --- light ------------------------------------------------------------------------ */

/* What light does to a point; slopes are exaggerated so that their root mean
 * square is 1/2, whatever the surface. */
typedef struct {
  gfloat x, y, z; /* towards the light */
  gfloat sx, sy;  /* of a difference of neighbours two apart */
  gfloat shade;
} Light;

/* A difference to the neighbour before and after, where they are there. */
static inline gfloat
difference (gfloat before, gfloat here, gfloat after)
{
  if (!isfinite (before))
    before = here;
  if (!isfinite (after))
    after = here;
  return after - before;
}

static gfloat
slope_x (const GstSurfaceHeights *heights, guint x, guint y)
{
  const gfloat *row = heights->z + (gsize) y * heights->width;

  return difference (
      row[x > 0 ? x - 1 : x], row[x], row[x + 1 < heights->width ? x + 1 : x]);
}

static gfloat
slope_y (const GstSurfaceHeights *heights, guint x, guint y)
{
  const gfloat *at = heights->z + (gsize) y * heights->width + x;

  return difference (y > 0 ? at[-(gssize) heights->width] : *at, *at,
      y + 1 < heights->height ? at[heights->width] : *at);
}

static Light
set_light (
    const GstSurfaceHeights *heights, const GstSurfacePaintSettings *settings)
{
  const gdouble azimuth = settings->azimuth * G_PI / 180.0;
  const gdouble altitude = settings->altitude * G_PI / 180.0;
  const gdouble ratio =
      heights->dx > 0.0 && heights->dy > 0.0 ? heights->dx / heights->dy : 1.0;
  Light light = { .shade = (gfloat) settings->shade };
  gdouble square = 0.0, n = 0.0, scale;

  for (guint y = 0; y < heights->height; y += 2)
    for (guint x = 0; x < heights->width; x += 2) {
      const gdouble gx = slope_x (heights, x, y);
      const gdouble gy = slope_y (heights, x, y) * ratio;

      if (!isfinite (gx + gy))
        continue;
      square += gx * gx + gy * gy;
      n += 1.0;
    }
  scale = square > 0.0 ? 0.5 / sqrt (square / n) : 0.0;
  light.sx = (gfloat) scale;
  light.sy = (gfloat) (scale * ratio);
  light.x = (gfloat) (sin (azimuth) * cos (altitude));
  light.y = (gfloat) (-cos (azimuth) * cos (altitude));
  light.z = (gfloat) sin (altitude);
  return light;
}

static guint32
lit (guint32 colour, const Light *light, gfloat gx, gfloat gy)
{
  const gfloat nx = -gx * light->sx, ny = -gy * light->sy;
  const gfloat lambert = (nx * light->x + ny * light->y + light->z)
                         / sqrtf (nx * nx + ny * ny + 1.0f);
  /* a level point keeps its colour */
  const gfloat factor =
      1.0f - light->shade
      + light->shade * MAX (lambert, 0.0f) / MAX (light->z, 0.1f);
  guint32 result = 0;

  for (guint shift = 0; shift < 24; shift += 8) {
    const gfloat value = (gfloat) (colour >> shift & 255) * factor + 0.5f;

    result |= (guint32) MIN (value, 255.0f) << shift;
  }
  return result;
}

/* --- the picture -------------------------------------------------------------------- */

static void
put_row (GstVideoFrame *frame, guint y, const guint32 *colours, guint width)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const gint step = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 0);
  const gint r = GST_VIDEO_FORMAT_INFO_POFFSET (format, 0);
  const gint g = GST_VIDEO_FORMAT_INFO_POFFSET (format, 1);
  const gint b = GST_VIDEO_FORMAT_INFO_POFFSET (format, 2);
  const gint rest = step == 4 ? 6 - r - g - b : -1;
  guint8 *to = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0)
               + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);

  for (guint x = 0; x < width; x++, to += step) {
    to[r] = (guint8) (colours[x] >> 16);
    to[g] = (guint8) (colours[x] >> 8);
    to[b] = (guint8) colours[x];
    if (rest >= 0)
      to[rest] = 255;
  }
}

static void
colour_row (const GstSurfacePainter *painter, const GstSurfaceHeights *heights,
    const Light *light, guint y, gdouble from, gdouble to, guint32 *row)
{
  const gfloat *z = heights->z + (gsize) y * heights->width;
  const gdouble scale = to > from ? (N_COLOURS - 1) / (to - from) : 0.0;

  for (guint x = 0; x < heights->width; x++) {
    gdouble at = (z[x] - from) * scale + 0.5;

    if (!isfinite (z[x])) {
      row[x] = painter->colours[N_COLOURS];
      continue;
    }
    if (!(to > from))
      at = N_COLOURS / 2;
    row[x] = painter->colours[(guint) CLAMP (at, 0.0, N_COLOURS - 1.0)];
    if (light->shade > 0.0f)
      row[x] =
          lit (row[x], light, slope_x (heights, x, y), slope_y (heights, x, y));
  }
}

/* --- bars ------------------------------------------------------------------------------ */

/* A length in words: "50 µm". */
static void
print_length (gchar *text, gsize size, gdouble metres, gboolean ascii)
{
  static const struct {
    gdouble unit;
    const gchar *name, *ascii;
  } units[] = { { 1.0, "m", "m" }, { 1e-3, "mm", "mm" },
    { 1e-6, "\302\265m", "um" }, { 1e-9, "nm", "nm" }, { 1e-12, "pm", "pm" } };
  const gdouble length = fabs (metres);
  guint i = 0;

  while (i + 1 < G_N_ELEMENTS (units) && length < 0.9995 * units[i].unit)
    i++;
  if (length == 0.0)
    i = 0;
  g_snprintf (text, size, "%.3g %s", metres / units[i].unit,
      ascii ? units[i].ascii : units[i].name);
}

/* 1, 2 or 5 times a power of ten, at most @length. */
static gdouble
round_length (gdouble length)
{
  const gdouble power = pow (10.0, floor (log10 (length)));

  return length >= 5.0 * power   ? 5.0 * power
         : length >= 2.0 * power ? 2.0 * power
                                 : power;
}

static void
draw_text (cairo_t *cr, gdouble x, gdouble y, const gchar *text)
{
  cairo_move_to (cr, x, y);
  cairo_text_path (cr, text);
  cairo_set_source_rgb (cr, 0, 0, 0);
  cairo_set_line_width (cr, 3.0);
  cairo_stroke_preserve (cr);
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_fill (cr);
}

static void
draw_box (cairo_t *cr, gdouble x, gdouble y, gdouble width, gdouble height)
{
  cairo_rectangle (cr, x - 1.5, y - 1.5, width + 3, height + 3);
  cairo_set_source_rgb (cr, 0, 0, 0);
  cairo_fill (cr);
}

static void
draw_length_bar (
    cairo_t *cr, const GstSurfaceHeights *heights, gdouble size, gboolean ascii)
{
  const gdouble length = round_length (heights->width * heights->dx * 0.3);
  const gdouble width = length / heights->dx;
  const gdouble x = size, y = heights->height - size;
  gchar text[32];

  draw_box (cr, x, y - size / 3, width, size / 3);
  cairo_rectangle (cr, x, y - size / 3, width, size / 3);
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_fill (cr);
  print_length (text, sizeof (text), length, ascii);
  draw_text (cr, x, y - size * 0.75, text);
}

static void
draw_height_bar (cairo_t *cr, const GstSurfacePainter *painter,
    const GstSurfaceHeights *heights, gdouble size, gdouble from, gdouble to,
    gboolean ascii)
{
  const gdouble height = heights->height * 0.4, width = size * 0.75;
  const gdouble x = heights->width - size - width, y = size * 1.75;
  const gdouble values[2] = { to, from };
  cairo_text_extents_t extents;
  gchar text[32];

  draw_box (cr, x, y, width, height);
  for (gdouble row = 0; row < height; row++) {
    const guint32 colour =
        painter->colours[(guint) ((1.0 - row / height) * (N_COLOURS - 1))];

    cairo_rectangle (cr, x, y + row, width, MIN (1.0, height - row));
    cairo_set_source_rgb (cr, (colour >> 16) / 255.0,
        (colour >> 8 & 255) / 255.0, (colour & 255) / 255.0);
    cairo_fill (cr);
  }
  for (guint i = 0; i < 2; i++) {
    print_length (text, sizeof (text), values[i], ascii);
    cairo_text_extents (cr, text, &extents);
    draw_text (cr, heights->width - size / 2 - extents.x_advance,
        i == 0 ? size * 1.25 : y + height + size * 1.25, text);
  }
}

/* Letters of 1/28 of the smaller side. */
static cairo_status_t
draw_bars (const GstSurfacePainter *painter, guint32 *pixels,
    const GstSurfaceHeights *heights, gdouble from, gdouble to)
{
  const gdouble size = MAX (9.0, MIN (heights->width, heights->height) / 28.0);
  cairo_surface_t *surface = cairo_image_surface_create_for_data (
      (guchar *) pixels, CAIRO_FORMAT_RGB24, (gint) heights->width,
      (gint) heights->height, (gint) heights->width * 4);
  cairo_t *cr = cairo_create (surface);
  gboolean ascii;
  cairo_status_t status;

  cairo_select_font_face (cr, gst_cv_font (&ascii), CAIRO_FONT_SLANT_NORMAL,
      CAIRO_FONT_WEIGHT_BOLD);
  cairo_set_font_size (cr, size);
  if (heights->dx > 0.0)
    draw_length_bar (cr, heights, size, ascii);
  if (to > from)
    draw_height_bar (cr, painter, heights, size, from, to, ascii);
  status = cairo_status (cr);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  return status;
}

/* Smaller pictures have no room for them; cairo draws on no larger ones. */
#define LEAST_FOR_BARS 96
#define MOST_FOR_BARS 32767

static gboolean
has_room_for_bars (const GstSurfaceHeights *heights)
{
  return MIN (heights->width, heights->height) >= LEAST_FOR_BARS
         && MAX (heights->width, heights->height) <= MOST_FOR_BARS;
}

cairo_status_t
gst_surface_painter_paint (GstSurfacePainter *painter, GstVideoFrame *frame,
    const GstSurfaceHeights *heights, const GstSurfacePaintSettings *settings,
    gdouble *from, gdouble *to)
{
  const gboolean bars = settings->bars && has_room_for_bars (heights);
  const guint width = heights->width, height = heights->height;
  guint32 *pixels = g_try_new (guint32, (gsize) width * height);
  cairo_status_t status = CAIRO_STATUS_SUCCESS;
  Light light = { 0 };

  *from = *to = 0.0;
  if (pixels == NULL)
    return CAIRO_STATUS_NO_MEMORY;
  choose_colours (painter, settings);
  choose_range (heights, settings, from, to);
  if (settings->shade > 0.0)
    light = set_light (heights, settings);
  for (guint y = 0; y < height; y++)
    colour_row (
        painter, heights, &light, y, *from, *to, pixels + (gsize) y * width);
  if (bars)
    status = draw_bars (painter, pixels, heights, *from, *to);
  for (guint y = 0; y < height; y++)
    put_row (frame, y, pixels + (gsize) y * width, width);
  g_free (pixels);
  return status;
}
