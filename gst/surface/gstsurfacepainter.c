/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstsurfacepainter.h"

#include <math.h>
#include <string.h>

#include "cuda/core/threadpool.h"
#include "cuda/surface/palette.h"
#include "gst/common/gstcvisfont.h"

#define N_COLOURS SURFACE_N_COLOURS
#define N_BINS 65536

struct _GstSurfacePainter {
  CvisPool *threads;
  GstSurfaceMap map;
  gboolean has_colours;
  guint32 colours[N_COLOURS + 1]; /* 0xRRGGBB; the last one: missing */
  gfloat *kept;                   /* (nullable): heights in a range */
  gsize n_kept;
  guint32 *canvas; /* (nullable): bars are drawn on it */
  gsize n_canvas;
};

GstSurfacePainter *
gst_surface_painter_new (void)
{
  GstSurfacePainter *painter = g_new0 (GstSurfacePainter, 1);

  painter->threads = cvis_pool_new (0);
  return painter;
}

void
gst_surface_painter_free (GstSurfacePainter *painter)
{
  cvis_pool_free (painter->threads);
  g_free (painter->kept);
  g_free (painter->canvas);
  g_free (painter);
}

/* --- colours ------------------------------------------------------------------- */

/* Colours at equal distances, interpolated linearly. Viridis and inferno are every
 * eighth of the 256 colours of S. van der Walt, N. Smith and E. Firing (public
 * domain, CC0). */
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

/* Percentiles are those of a histogram of 65536 bins from the least to the greatest
 * height. Filling all of it takes three times as long as the rest of the picture.
 * So a random sample of heights gives two ranges in which the percentiles probably
 * lie; one pass over all heights finds the extremes, counts the heights below each
 * range, and keeps those in them. Bins that lie wholly in a range are filled from
 * the kept heights. If a percentile is in none of these, the whole histogram is
 * made. */

#define BLOCK 65536      /* most heights that a thread reads at a time */
#define PIECE 4096       /* heights of a block that are neighbours */
#define N_DRAWN 4096     /* heights drawn at random */
#define ROOM (BLOCK / 8) /* most heights of a block that are kept in a range */

typedef struct {
  const GstSurfaceHeights *heights;
  const SurfacePalette *palette;
  gsize n;
  gfloat ranges[2][2];
  guint blocks;
  SurfaceSpan *spans; /* of the blocks */
} Look;

/* The height of rank @rank, by Hoare's selection: puts none greater before it and
 * none less behind it. */
static gfloat
select_height (gfloat *z, gint n, gint rank)
{
  gint first = 0, last = n - 1;

  while (first < last) {
    const gfloat pivot = z[rank];
    gint i = first, j = last;

    while (i <= j) {
      while (z[i] < pivot)
        i++;
      while (z[j] > pivot)
        j--;
      if (i <= j) {
        const gfloat other = z[i];

        z[i++] = z[j];
        z[j--] = other;
      }
    }
    if (j < rank)
      first = i;
    if (i > rank)
      last = j;
  }
  return z[rank];
}

/* The range of a percentile: five standard deviations of its rank in the random
 * sample to each side; unbounded where that is beyond the sample */
static void
guess_range (gfloat *drawn, gint n, gdouble percentile, gfloat range[2])
{
  const gdouble p = percentile / 100.0;
  const gdouble rank = p * n, wide = 5.0 * sqrt (n * p * (1.0 - p)) + 5.0;
  const gboolean has_first = rank >= wide, has_last = rank + wide <= n - 1.0;

  range[0] = range[1] = INFINITY; /* an empty one */
  if (has_first || has_last) {
    range[0] =
        has_first ? select_height (drawn, n, (gint) (rank - wide)) : -INFINITY;
    range[1] =
        has_last ? select_height (drawn, n, (gint) (rank + wide)) : INFINITY;
  }
}

static void
guess_ranges (Look *look, gdouble low, gdouble high)
{
  gfloat *drawn = g_new (gfloat, N_DRAWN);
  guint32 random = 1;
  gint n = 0;

  for (guint i = 0; i < N_DRAWN; i++) {
    gfloat z;

    random = random * 1664525 + 1013904223;
    z = look->heights->z[(gsize) ((guint64) random * look->n >> 32)];
    if (isfinite (z))
      drawn[n++] = z;
  }
  guess_range (drawn, n, low, look->ranges[0]);
  guess_range (drawn, n, high, look->ranges[1]);
  g_free (drawn);
}

/* The pieces of a block are spread over the picture: on a tilted surface a whole
 * block of neighbours could lie in one range. */
static void
look_at_blocks (guint first, guint count, gpointer user_data)
{
  Look *look = user_data;

  for (guint i = first; i < first + count; i++)
    for (gsize at = (gsize) i * PIECE; at < look->n;
         at += (gsize) look->blocks * PIECE)
      look->palette->span (look->heights->z + at, MIN (look->n - at, PIECE),
          (const gfloat (*)[2]) look->ranges, &look->spans[i]);
}

typedef struct {
  gdouble min, scale;
  guint32 *bins; /* N_BINS */
} Histogram;

static guint
bin_of (const Histogram *histogram, gdouble z)
{
  return MIN ((guint) ((z - histogram->min) * histogram->scale), N_BINS - 1);
}

/* Finds the height with @wanted heights below it in the bins @first to @last - 1,
 * with @below heights before these. Returns: FALSE if it is in none of these bins */
static gboolean
find_height (const Histogram *histogram, guint first, guint last, gdouble below,
    gdouble wanted, gdouble *height)
{
  const guint32 *bins = histogram->bins;
  const gdouble step = 1.0 / histogram->scale;

  for (guint i = first; i < last; i++) {
    if (bins[i] > 0 && below + bins[i] >= wanted) {
      *height = histogram->min
                + step * (i + CLAMP ((wanted - below) / bins[i], 0.0, 1.0));
      return TRUE;
    }
    below += bins[i];
  }
  return FALSE;
}

/* Finds a percentile from the kept heights. The bins at the ends of the range are
 * incomplete and left out. */
static gboolean
find_within (const Look *look, guint range, Histogram *histogram,
    gdouble wanted, gdouble *height)
{
  const gfloat *ends = look->ranges[range];
  guint first = 0, last = N_BINS;
  gdouble below = 0.0;

  if (!(ends[0] < ends[1]))
    return FALSE;
  memset (histogram->bins, 0, N_BINS * sizeof (*histogram->bins));
  for (guint i = 0; i < look->blocks; i++) {
    const SurfaceSpan *span = &look->spans[i];

    if (span->n_kept[range] > span->room)
      return FALSE;
    for (gsize k = 0; k < span->n_kept[range]; k++)
      histogram->bins[bin_of (histogram, span->kept[range][k])]++;
    below += (gdouble) span->below[range];
  }
  if (isfinite (ends[1]))
    last = bin_of (histogram, ends[1]);
  if (isfinite (ends[0])) {
    first = bin_of (histogram, ends[0]) + 1;
    below += histogram->bins[first - 1];
    if (below >= wanted)
      return FALSE;
  }
  return find_height (histogram, first, last, below, wanted, height);
}

static gdouble
find_in_all (const Look *look, Histogram *histogram, gdouble wanted)
{
  gdouble height = histogram->min + N_BINS / histogram->scale;

  memset (histogram->bins, 0, N_BINS * sizeof (*histogram->bins));
  for (gsize i = 0; i < look->n; i++)
    if (isfinite (look->heights->z[i]))
      histogram->bins[bin_of (histogram, look->heights->z[i])]++;
  find_height (histogram, 0, N_BINS, 0.0, wanted, &height);
  return height;
}

typedef struct {
  const Look *look;
  gdouble min, scale; /* of the histogram */
  gdouble wanted[2];  /* heights below each */
  gdouble *heights[2];
} Percentiles;

static void
find_percentiles (guint first, guint count, gpointer user_data)
{
  const Percentiles *p = user_data;
  Histogram histogram = {
    .min = p->min, .scale = p->scale, .bins = g_new (guint32, N_BINS)
  };

  for (guint r = first; r < first + count; r++)
    if (!find_within (p->look, r, &histogram, p->wanted[r], p->heights[r]))
      *p->heights[r] = find_in_all (p->look, &histogram, p->wanted[r]);
  g_free (histogram.bins);
}

/* Allocates room for the kept heights of each block. */
static void
give_room (GstSurfacePainter *painter, Look *look)
{
  const gsize needed = (gsize) look->blocks * 2 * ROOM;

  if (painter->n_kept < needed) {
    g_free (painter->kept);
    painter->kept = g_try_new (gfloat, needed);
    painter->n_kept = painter->kept != NULL ? needed : 0;
  }
  for (guint i = 0; i < look->blocks; i++) {
    look->spans[i].min = INFINITY;
    look->spans[i].max = -INFINITY;
    look->spans[i].room = painter->kept != NULL ? ROOM : 0;
    for (guint r = 0; r < 2; r++)
      look->spans[i].kept[r] = painter->kept + ((gsize) i * 2 + r) * ROOM;
  }
}

gboolean
gst_surface_painter_percentiles (GstSurfacePainter *painter,
    const GstSurfaceHeights *heights, gdouble low, gdouble high, gdouble *from,
    gdouble *to)
{
  Look look = { .heights = heights,
    .palette = surface_palette (),
    .n = (gsize) heights->width * heights->height };
  Percentiles percentiles = { .look = &look, .heights = { from, to } };
  gfloat min = INFINITY, max = -INFINITY;
  gdouble count = 0.0;

  look.blocks = (guint) ((look.n + BLOCK - 1) / BLOCK);
  look.spans = g_new0 (SurfaceSpan, look.blocks);
  give_room (painter, &look);
  guess_ranges (&look, low, high);
  cvis_pool_run (painter->threads, look.blocks, 1, look_at_blocks, &look);
  for (guint i = 0; i < look.blocks; i++) {
    min = MIN (min, look.spans[i].min);
    max = MAX (max, look.spans[i].max);
    count += (gdouble) look.spans[i].count;
  }
  *from = min <= max ? min : 0.0;
  *to = min <= max ? max : 0.0;
  if (max > min && (low > 0.0 || high < 100.0)) {
    percentiles.min = min;
    percentiles.scale = N_BINS / ((gdouble) max - (gdouble) min);
    percentiles.wanted[0] = count * low / 100.0;
    percentiles.wanted[1] = count * high / 100.0;
    cvis_pool_run (painter->threads, 2, 1, find_percentiles, &percentiles);
  }
  g_free (look.spans);
  return min <= max;
}

static void
choose_range (GstSurfacePainter *painter, const GstSurfaceHeights *heights,
    const GstSurfacePaintSettings *settings, gdouble *from, gdouble *to)
{
  if (settings->range == GST_SURFACE_RANGE_FIXED) {
    *from = settings->minimum;
    *to = settings->maximum;
  } else {
    gst_surface_painter_percentiles (
        painter, heights, settings->low, settings->high, from, to);
  }
}

/* --- light ------------------------------------------------------------------------ */

/* Shade of a point; slopes are scaled to a root mean square of 1/2 for each
 * surface. */
typedef struct {
  gfloat x, y, z; /* direction to the light */
  gfloat sx, sy;  /* factors from a difference over two points to a slope */
  gfloat shade;
} Light;

/* The difference between the neighbours before and after, as far as they exist. */
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

#define ROWS 16 /* rows that a thread paints at a time */

/* Layout of a pixel's bytes. @rest: place of the fourth one; -1: there is none */
typedef struct {
  guint8 *data;
  gsize stride;
  gint step, r, g, b, rest;
} Pixels;

static Pixels
get_pixels (GstVideoFrame *frame)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  Pixels pixels = { .data = GST_VIDEO_FRAME_PLANE_DATA (frame, 0),
    .stride = (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0),
    .step = GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 0),
    .r = GST_VIDEO_FORMAT_INFO_POFFSET (format, 0),
    .g = GST_VIDEO_FORMAT_INFO_POFFSET (format, 1),
    .b = GST_VIDEO_FORMAT_INFO_POFFSET (format, 2) };

  pixels.rest = pixels.step == 4 ? 6 - pixels.r - pixels.g - pixels.b : -1;
  return pixels;
}

static inline guint8 *
pixel_at (const Pixels *pixels, gint x, gint y)
{
  return pixels->data + (gsize) y * pixels->stride
         + (gsize) x * (gsize) pixels->step;
}

/* 0xRRGGBB as the bytes of a pixel; three or four of them are used */
static inline guint32
get_bytes (const Pixels *pixels, guint32 colour)
{
  const guint32 result = (colour >> 16 & 255) << 8 * pixels->r
                         | (colour >> 8 & 255) << 8 * pixels->g
                         | (colour & 255) << 8 * pixels->b
                         | (pixels->rest >= 0 ? 255u << 8 * pixels->rest : 0);

  return GUINT32_TO_LE (result);
}

typedef struct {
  const GstSurfacePainter *painter;
  const SurfacePalette *palette;
  const GstSurfaceHeights *heights;
  Light light;
  gdouble from, scale, first;
} Painting;

static void
put_lit (const Painting *painting, const Pixels *pixels, const guint16 *numbers,
    gint x0, gint y, gint n)
{
  guint8 *to = pixel_at (pixels, x0, y);

  for (gint i = 0; i < n; i++, to += pixels->step) {
    const guint x = (guint) (x0 + i);
    guint32 colour = painting->painter->colours[numbers[i]], bytes;

    if (numbers[i] < N_COLOURS)
      colour = lit (colour, &painting->light,
          slope_x (painting->heights, x, (guint) y),
          slope_y (painting->heights, x, (guint) y));
    bytes = get_bytes (pixels, colour);
    memcpy (to, &bytes, (gsize) pixels->step);
  }
}

static void
paint_area (const Painting *painting, const Pixels *pixels,
    const cairo_rectangle_int_t *area)
{
  guint32 bytes[N_COLOURS + 1]; /* of the colours */
  guint16 numbers[1024];
  gint n;

  for (guint i = 0; i <= N_COLOURS; i++)
    bytes[i] = get_bytes (pixels, painting->painter->colours[i]);
  for (gint y = area->y; y < area->y + area->height; y++)
    for (gint x = area->x; x < area->x + area->width; x += n) {
      n = MIN (area->x + area->width - x, (gint) G_N_ELEMENTS (numbers));
      painting->palette->number (
          painting->heights->z + (gsize) y * painting->heights->width + x,
          (gsize) n, painting->from, painting->scale, painting->first, numbers);
      if (painting->light.shade > 0.0f)
        put_lit (painting, pixels, numbers, x, y, n);
      else
        painting->palette->put (numbers, (gsize) n, bytes, (guint) pixels->step,
            pixel_at (pixels, x, y));
    }
}

/* --- bars ------------------------------------------------------------------------------ */

/* A length with its unit: "50 µm". */
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

/* @painter: (nullable): %NULL leaves the colours out of the box */
static void
draw_height_bar (cairo_t *cr, const GstSurfacePainter *painter,
    const GstSurfaceHeights *heights, gdouble size)
{
  const gdouble height = heights->height * 0.4, width = size * 0.75;
  const gdouble x = heights->width - size - width, y = size * 1.75;
  gdouble end;

  draw_box (cr, x, y, width, height);
  /* rows of one colour at a time */
  for (gdouble row = 0; painter != NULL && row < height; row = end) {
    const guint index = (guint) ((1.0 - row / height) * (N_COLOURS - 1));
    const guint32 colour = painter->colours[index];

    end = row + 1.0;
    while (end < height
           && (guint) ((1.0 - end / height) * (N_COLOURS - 1)) == index)
      end += 1.0;
    cairo_rectangle (cr, x, y + row, width, MIN (end, height) - row);
    cairo_set_source_rgb (cr, (colour >> 16) / 255.0,
        (colour >> 8 & 255) / 255.0, (colour & 255) / 255.0);
    cairo_fill (cr);
  }
}

static void
draw_height_text (cairo_t *cr, const GstSurfaceHeights *heights, gdouble size,
    gdouble value, gdouble y, gboolean ascii)
{
  cairo_text_extents_t extents;
  gchar text[32];

  print_length (text, sizeof (text), value, ascii);
  cairo_text_extents (cr, text, &extents);
  draw_text (cr, heights->width - size / 2 - extents.x_advance, y, text);
}

typedef enum { LENGTH_BAR, HEIGHT_BAR, HIGHEST_TEXT, LOWEST_TEXT, N_BARS } Bar;

/* The size of letters is 1/28 of the shorter side. */
static cairo_status_t
draw_bar (cairo_surface_t *surface, Bar bar, const GstSurfacePainter *painter,
    const GstSurfaceHeights *heights, gdouble from, gdouble to)
{
  const gdouble size = MAX (9.0, MIN (heights->width, heights->height) / 28.0);
  cairo_t *cr = cairo_create (surface);
  cairo_status_t status;
  gboolean ascii;

  cairo_select_font_face (cr, gst_cvis_font (&ascii), CAIRO_FONT_SLANT_NORMAL,
      CAIRO_FONT_WEIGHT_BOLD);
  cairo_set_font_size (cr, size);
  switch (bar) {
    case LENGTH_BAR:
      draw_length_bar (cr, heights, size, ascii);
      break;
    case HEIGHT_BAR:
      draw_height_bar (cr, painter, heights, size);
      break;
    case HIGHEST_TEXT:
      draw_height_text (cr, heights, size, to, size * 1.25, ascii);
      break;
    case LOWEST_TEXT:
      draw_height_text (cr, heights, size, from,
          size * 1.75 + heights->height * 0.4 + size * 1.25, ascii);
      break;
    default:
      break;
  }
  status = cairo_status (cr);
  cairo_destroy (cr);
  return status;
}

/* Rectangle of a bar with a margin of some pixels: hinting of letters may differ in
 * the picture. */
static gboolean
find_bar (Bar bar, const GstSurfaceHeights *heights, gdouble from, gdouble to,
    cairo_rectangle_int_t *area)
{
  cairo_surface_t *surface =
      cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, NULL);
  gdouble x, y, width, height;
  gboolean ok =
      draw_bar (surface, bar, NULL, heights, from, to) == CAIRO_STATUS_SUCCESS;

  cairo_recording_surface_ink_extents (surface, &x, &y, &width, &height);
  cairo_surface_destroy (surface);
  area->x = (gint) CLAMP (x - 8.0, 0.0, heights->width);
  area->y = (gint) CLAMP (y - 8.0, 0.0, heights->height);
  area->width =
      (gint) CLAMP (x + width + 8.0, area->x, heights->width) - area->x;
  area->height =
      (gint) CLAMP (y + height + 8.0, area->y, heights->height) - area->y;
  return ok && area->width > 0 && area->height > 0;
}

/* Bars are drawn on a canvas whose areas are painted like the picture's, so that
 * one thread draws while others paint rows, and copied to the picture then. */
typedef struct {
  const Painting *painting;
  Pixels picture, canvas;
  gdouble from, to;
  guint n;
  Bar bars[N_BARS];
  cairo_rectangle_int_t areas[N_BARS];
  cairo_status_t status[N_BARS];
} Drawing;

static void
find_bars (guint first, guint count, gpointer user_data)
{
  Drawing *drawing = user_data;

  for (guint i = first; i < first + count; i++)
    if (!find_bar (drawing->bars[i], drawing->painting->heights, drawing->from,
            drawing->to, &drawing->areas[i]))
      drawing->status[i] = CAIRO_STATUS_NO_MEMORY;
}

static gboolean
is_overlap (const Drawing *drawing)
{
  for (guint i = 1; i < drawing->n; i++)
    for (guint k = 0; k < i; k++) {
      const cairo_rectangle_int_t *a = &drawing->areas[i];
      const cairo_rectangle_int_t *b = &drawing->areas[k];

      if (a->x < b->x + b->width && b->x < a->x + a->width
          && a->y < b->y + b->height && b->y < a->y + a->height)
        return TRUE;
    }
  return FALSE;
}

/* A canvas of the picture's size, as cairo's rounding depends on the position. Only
 * pages with bars are touched. Rows begin in different sets of a cache.
 * Returns: FALSE if there is no memory */
static gboolean
give_canvas (GstSurfacePainter *painter, Drawing *drawing)
{
  const gboolean little = G_BYTE_ORDER == G_LITTLE_ENDIAN;
  const GstSurfaceHeights *heights = drawing->painting->heights;
  const gsize width = heights->width + 16, n = width * heights->height;

  if (painter->n_canvas < n) {
    g_free (painter->canvas);
    painter->canvas = g_try_new (guint32, n);
    painter->n_canvas = painter->canvas != NULL ? n : 0;
  }
  /* 0xRRGGBB */
  drawing->canvas = (Pixels){ .data = (guint8 *) painter->canvas,
    .stride = width * sizeof (*painter->canvas),
    .step = sizeof (*painter->canvas),
    .r = little ? 2 : 1,
    .g = little ? 1 : 2,
    .b = little ? 0 : 3,
    .rest = -1 };
  return painter->canvas != NULL;
}

static cairo_status_t
choose_bars (GstSurfacePainter *painter, Drawing *drawing)
{
  guint n = 0;

  if (!give_canvas (painter, drawing))
    return CAIRO_STATUS_NO_MEMORY;
  if (drawing->painting->heights->dx > 0.0)
    drawing->bars[n++] = LENGTH_BAR;
  for (Bar bar = HEIGHT_BAR; bar <= LOWEST_TEXT && drawing->to > drawing->from;
       bar++)
    drawing->bars[n++] = bar;
  drawing->n = n;
  cvis_pool_run (painter->threads, n, 1, find_bars, drawing);
  return CAIRO_STATUS_SUCCESS;
}

static void
draw_bars (Drawing *drawing, guint first, guint count)
{
  const GstSurfaceHeights *heights = drawing->painting->heights;

  for (guint i = first; i < first + count; i++)
    if (drawing->status[i] == CAIRO_STATUS_SUCCESS)
      paint_area (drawing->painting, &drawing->canvas, &drawing->areas[i]);
  for (guint i = first; i < first + count; i++) {
    cairo_surface_t *surface;

    if (drawing->status[i] != CAIRO_STATUS_SUCCESS)
      continue;
    surface = cairo_image_surface_create_for_data (drawing->canvas.data,
        CAIRO_FORMAT_RGB24, (gint) heights->width, (gint) heights->height,
        (gint) drawing->canvas.stride);
    drawing->status[i] = draw_bar (surface, drawing->bars[i],
        drawing->painting->painter, heights, drawing->from, drawing->to);
    cairo_surface_destroy (surface);
  }
}

typedef struct {
  Drawing *drawing;
  guint n_bars; /* parts that are bars; before the rows, as they take longer */
} Parts;

static void
paint_parts (guint first, guint count, gpointer user_data)
{
  const Parts *parts = user_data;
  Drawing *drawing = parts->drawing;
  const GstSurfaceHeights *heights = drawing->painting->heights;

  for (guint i = first; i < first + count; i++)
    if (i >= parts->n_bars) {
      const guint y = (i - parts->n_bars) * ROWS;

      paint_area (drawing->painting, &drawing->picture,
          &(cairo_rectangle_int_t){ 0, (gint) y, (gint) heights->width,
              (gint) MIN (heights->height - y, ROWS) });
    } else if (parts->n_bars == drawing->n) {
      draw_bars (drawing, i, 1);
    } else {
      draw_bars (drawing, 0, drawing->n);
    }
}

/* Copies four bytes for each pixel but the last; of three-byte pixels the fourth
 * is overwritten by the next one. */
static inline void
copy_drawn_row (const Pixels *pixels, guint8 *at, const guint32 *colour, gint n)
{
  const gsize step = (gsize) pixels->step;
  guint32 bytes;

  for (gint x = 1; x < n; x++, at += step) {
    bytes = get_bytes (pixels, *colour++);
    memcpy (at, &bytes, sizeof (bytes));
  }
  bytes = get_bytes (pixels, *colour);
  memcpy (at, &bytes, step);
}

/* Copies bars in rows of the picture. Constant shifts take a third of the time of
 * variable ones. */
static void
copy_bars (guint first, guint count, gpointer user_data)
{
  static const Pixels rgb = { .step = 3, .r = 0, .g = 1, .b = 2, .rest = -1 };
  const Drawing *drawing = user_data;
  const Pixels *picture = &drawing->picture;

  for (guint i = 0; i < drawing->n; i++) {
    const cairo_rectangle_int_t *area = &drawing->areas[i];
    const gint last = MIN ((gint) (first + count), area->y + area->height);

    if (drawing->status[i] != CAIRO_STATUS_SUCCESS)
      continue;
    for (gint y = MAX ((gint) first, area->y); y < last; y++) {
      const guint32 *row =
          (const guint32 *) pixel_at (&drawing->canvas, area->x, y);
      guint8 *to = pixel_at (picture, area->x, y);

      if (picture->step == 3 && picture->r == 0)
        copy_drawn_row (&rgb, to, row, area->width);
      else
        copy_drawn_row (picture, to, row, area->width);
    }
  }
}

/* Limits for bars: smaller pictures have no room, cairo draws on no larger ones. */
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
  Painting painting = {
    .painter = painter, .palette = surface_palette (), .heights = heights
  };
  Drawing drawing = { .painting = &painting, .picture = get_pixels (frame) };
  Parts parts = { .drawing = &drawing };
  cairo_status_t status = CAIRO_STATUS_SUCCESS;

  *from = *to = 0.0;
  choose_colours (painter, settings);
  choose_range (painter, heights, settings, from, to);
  if (settings->shade > 0.0)
    painting.light = set_light (heights, settings);
  painting.from = drawing.from = *from;
  drawing.to = *to;
  painting.scale = *to > *from ? (N_COLOURS - 1) / (*to - *from) : 0.0;
  /* without a range all points have the middle colour */
  painting.first = *to > *from ? 0.5 : N_COLOURS / 2;
  if (settings->bars && has_room_for_bars (heights))
    status = choose_bars (painter, &drawing);
  parts.n_bars = is_overlap (&drawing) ? 1 : drawing.n;
  cvis_pool_run (painter->threads,
      parts.n_bars + (heights->height + ROWS - 1) / ROWS, 1, paint_parts,
      &parts);
  if (drawing.n > 0)
    cvis_pool_run (
        painter->threads, heights->height, 4 * ROWS, copy_bars, &drawing);
  for (guint i = 0; i < drawing.n && status == CAIRO_STATUS_SUCCESS; i++)
    status = drawing.status[i];
  return status;
}
