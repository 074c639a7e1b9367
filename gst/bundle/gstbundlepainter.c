/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstbundlepainter.h"

#include <cairo.h>
#include <math.h>
#include <string.h>
#include "gst/common/gstcvisfont.h"

#define BACKGROUND 0x14161c
#define FIELD_OF_VIEW (45 * G_PI / 180)
#define NEAREST                                                                \
  0.02 /* nearest depth, as a share of that of the scene's centre */
#define FRUSTUM_EDGES 8
#define MOST_ROOM 4.0 /* largest radius with cameras, in radii of the points */

struct _GstBundlePainter {
  BundleCloud *cloud;
  guint width, height, n_cameras;
  guint32 *pixels;
  gfloat *depths; /* of each pixel: 1 / distance; larger is nearer */
  gdouble centre[3], radius;
  gdouble mean_up[3];
};

/**
 * Projection: of a point P: (x, y) = focal * (right, down) . (P - eye) / depth
 * @axes: right, down, ahead
 */
typedef struct {
  gdouble eye[3], axes[3][3];
  gdouble focal, distance;
  gdouble middle[2];
} Projection;

/* The vertices of frusta come last. */
static guint
count_points (const GstBundlePainter *painter)
{
  return painter->cloud->n_vertices
         - 5 * MIN (painter->n_cameras, painter->cloud->n_vertices / 5);
}

/* Frusta as bundle_cloud_new() makes them: eight edges, the first four from the
 * apex a to a + 1 .. a + 4; the last two are the upper corners. */
static void
find_cameras (GstBundlePainter *painter)
{
  const BundleCloud *cloud = painter->cloud;

  for (gsize e = 0; e + FRUSTUM_EDGES <= cloud->n_edges; e += FRUSTUM_EDGES) {
    const guint32 *edge = cloud->edges + 2 * e;
    const guint32 a = edge[0];

    if ((guint64) a + 4 >= cloud->n_vertices)
      return;
    for (guint k = 0; k < 4; k++)
      if (edge[2 * k] != a || edge[2 * k + 1] != a + k + 1)
        return;
    for (guint k = 0; k < 3; k++) {
      const gfloat *p = cloud->positions + 3 * (gsize) a + k;

      painter->mean_up[k] += p[9] + p[12] - p[3] - p[6];
    }
    painter->n_cameras++;
  }
}

/* Finds centre and radius of the scene without outliers: of the points, and of
 * cameras that are not much farther apart than these. */
static void
find_middle (GstBundlePainter *painter)
{
  const BundleCloud *cloud = painter->cloud;
  const guint n_points = count_points (painter);
  const guint n_others = cloud->n_vertices - n_points;
  gfloat low[2][3], high[2][3];
  gdouble points = 0, all = 0;

  bundle_cloud_box (cloud->positions, n_points, 0.9, low[0], high[0]);
  if (n_others > 0)
    bundle_cloud_box (cloud->positions + 3 * (gsize) n_points, n_others, 0.95,
        low[1], high[1]);
  if (n_points == 0 && n_others > 0) {
    memcpy (low[0], low[1], sizeof low[0]);
    memcpy (high[0], high[1], sizeof high[0]);
  }
  for (guint k = 0; k < 3; k++) {
    const gdouble from = n_others > 0 ? MIN (low[0][k], low[1][k]) : low[0][k];
    const gdouble to = n_others > 0 ? MAX (high[0][k], high[1][k]) : high[0][k];

    points += pow (high[0][k] - low[0][k], 2) / 4;
    all += (to - from) * (to - from) / 4;
    painter->centre[k] = (from + to) / 2;
  }
  painter->radius = sqrt (all);
  if (all > MOST_ROOM * MOST_ROOM * points && points > 0) {
    painter->radius = sqrt (points);
    for (guint k = 0; k < 3; k++)
      painter->centre[k] = (low[0][k] + high[0][k]) / 2;
  }
  if (!(painter->radius > 0) || !isfinite (painter->radius))
    painter->radius = 1;
}

GstBundlePainter *
gst_bundle_painter_new (BundleCloud *cloud, guint width, guint height)
{
  GstBundlePainter *painter = g_new0 (GstBundlePainter, 1);

  painter->cloud = cloud;
  painter->width = width;
  painter->height = height;
  painter->pixels = g_try_new (guint32, (gsize) width * height);
  painter->depths = g_try_new (gfloat, (gsize) width * height);
  if (painter->pixels == NULL || painter->depths == NULL) {
    gst_bundle_painter_free (painter);
    return NULL;
  }
  find_cameras (painter);
  find_middle (painter);
  return painter;
}

void
gst_bundle_painter_free (GstBundlePainter *painter)
{
  if (painter == NULL)
    return;
  bundle_cloud_free (painter->cloud);
  g_free (painter->pixels);
  g_free (painter->depths);
  g_free (painter);
}

/* --- the viewpoint ------------------------------------------------------------------- */

static void
cross (const gdouble a[3], const gdouble b[3], gdouble c[3])
{
  for (guint k = 0; k < 3; k++)
    c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static gboolean
normalise (gdouble v[3])
{
  const gdouble length = sqrt (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);

  for (guint k = 0; k < 3 && length > 0; k++)
    v[k] /= length;
  return length > 0 && isfinite (length);
}

static void
choose_up (const GstBundlePainter *painter, gint wanted, gdouble up[3])
{
  memcpy (up, painter->mean_up, 3 * sizeof (gdouble));
  if (wanted == GST_BUNDLE_UP_AUTO && normalise (up))
    return;
  if (wanted == GST_BUNDLE_UP_AUTO)
    wanted = GST_BUNDLE_UP_Z;
  for (guint k = 0; k < 3; k++)
    up[k] = wanted == (gint) (GST_BUNDLE_UP_X + k)         ? 1
            : wanted == (gint) (GST_BUNDLE_UP_MINUS_X + k) ? -1
                                                           : 0;
}

static void
project_from (const GstBundlePainter *painter, const GstBundleViewpoint *view,
    Projection *p)
{
  const gdouble azimuth = view->azimuth * G_PI / 180;
  const gdouble elevation = CLAMP (view->elevation, -89, 89) * G_PI / 180;
  const gdouble side = MIN (painter->width, painter->height);
  gdouble up[3], first[3] = { 0 }, second[3];
  guint least = 0;

  choose_up (painter, view->up, up);
  for (guint k = 1; k < 3; k++)
    if (fabs (up[k]) < fabs (up[least]))
      least = k;
  first[least] = 1;
  cross (up, first, second);
  normalise (second);
  cross (second, up, first);
  p->focal = side / 2 / tan (FIELD_OF_VIEW / 2);
  p->distance = 1.05 * painter->radius / tan (FIELD_OF_VIEW / 2) / view->zoom;
  for (guint k = 0; k < 3; k++) {
    const gdouble out =
        cos (elevation) * (cos (azimuth) * first[k] + sin (azimuth) * second[k])
        + sin (elevation) * up[k];

    p->eye[k] = painter->centre[k] + p->distance * out;
    p->axes[2][k] = -out;
  }
  cross (p->axes[2], up, p->axes[0]);
  normalise (p->axes[0]);
  cross (p->axes[2], p->axes[0], p->axes[1]);
  p->middle[0] = painter->width / 2.0;
  p->middle[1] = painter->height / 2.0;
}

/* Projects a point to pixels and depth. Returns: FALSE if it is not in front */
static gboolean
project (const Projection *p, const gfloat *position, gdouble at[3])
{
  gdouble seen[3] = { 0 };

  for (guint i = 0; i < 3; i++)
    for (guint k = 0; k < 3; k++)
      seen[i] += p->axes[i][k] * (position[k] - p->eye[k]);
  if (!(seen[2] > NEAREST * p->distance))
    return FALSE;
  at[0] = p->middle[0] + p->focal * seen[0] / seen[2];
  at[1] = p->middle[1] + p->focal * seen[1] / seen[2];
  at[2] = seen[2];
  return TRUE;
}

/* --- points and lines -------------------------------------------------------------------- */

/* Makes a colour darker with depth. */
static guint32
shade (const Projection *p, const guint8 *colour, gdouble depth)
{
  const gdouble light = CLAMP (1.35 - 0.4 * depth / p->distance, 0.25, 1);
  guint32 pixel = 0;

  for (guint k = 0; k < 3; k++)
    pixel = pixel << 8 | (guint32) (colour[k] * light);
  return pixel;
}

static inline void
set_pixel (
    GstBundlePainter *painter, gint x, gint y, gfloat near, guint32 pixel)
{
  const gsize i = (gsize) y * painter->width + (gsize) x;

  if (x < 0 || y < 0 || x >= (gint) painter->width
      || y >= (gint) painter->height || painter->depths[i] >= near)
    return;
  painter->depths[i] = near;
  painter->pixels[i] = pixel;
}

static gboolean
is_near_picture (const GstBundlePainter *painter, const gdouble at[3])
{
  const gdouble margin = 4.0 * (painter->width + painter->height);

  return at[0] > -margin && at[1] > -margin && at[0] < painter->width + margin
         && at[1] < painter->height + margin;
}

static void
paint_points (
    GstBundlePainter *painter, const Projection *p, guint n, guint size)
{
  const BundleCloud *cloud = painter->cloud;

  for (gsize i = 0; i < n; i++) {
    gdouble at[3];
    gint x, y;
    guint32 pixel;

    if (!project (p, cloud->positions + 3 * i, at)
        || !is_near_picture (painter, at))
      continue;
    x = (gint) floor (at[0]) - (gint) size / 2;
    y = (gint) floor (at[1]) - (gint) size / 2;
    pixel = shade (p, cloud->colours + 3 * i, at[2]);
    for (gint dy = 0; dy < (gint) size; dy++)
      for (gint dx = 0; dx < (gint) size; dx++)
        set_pixel (painter, x + dx, y + dy, (gfloat) (1 / at[2]), pixel);
  }
}

static void
paint_edges (GstBundlePainter *painter, const Projection *p)
{
  const BundleCloud *cloud = painter->cloud;

  for (gsize i = 0; i < cloud->n_edges; i++) {
    const gsize a = cloud->edges[2 * i], b = cloud->edges[2 * i + 1];
    gdouble from[3], to[3];
    guint steps;

    if (!project (p, cloud->positions + 3 * a, from)
        || !project (p, cloud->positions + 3 * b, to)
        || !is_near_picture (painter, from) || !is_near_picture (painter, to))
      continue;
    steps = 1 + (guint) MAX (fabs (to[0] - from[0]), fabs (to[1] - from[1]));
    for (guint k = 0; k <= steps; k++) {
      const gdouble t = (gdouble) k / steps;
      const gdouble near = (1 - t) / from[2] + t / to[2];

      set_pixel (painter, (gint) floor (from[0] + t * (to[0] - from[0])),
          (gint) floor (from[1] + t * (to[1] - from[1])), (gfloat) near,
          shade (p, cloud->colours + 3 * a, 1 / near));
    }
  }
}

/* --- labels ------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, not above @most */
static gdouble
round_length (gdouble most)
{
  const gdouble power = pow (10, floor (log10 (most)));

  return power * (most / power >= 5 ? 5 : most / power >= 2 ? 2 : 1);
}

static void
write_text (cairo_t *cr, gdouble x, gdouble y, const gchar *text)
{
  cairo_move_to (cr, x, y);
  cairo_show_text (cr, text);
}

/* Draws the directions of the world's axes. */
static void
paint_axes (
    cairo_t *cr, const Projection *p, gdouble x, gdouble y, gdouble size)
{
  static const gdouble colours[3][3] = { { 1, 0.35, 0.3 }, { 0.4, 0.9, 0.4 },
    { 0.4, 0.6, 1 } };
  static const gchar *const names[] = { "x", "y", "z" };

  for (guint k = 0; k < 3; k++) {
    const gdouble right = size * p->axes[0][k], down = size * p->axes[1][k];

    cairo_set_source_rgb (cr, colours[k][0], colours[k][1], colours[k][2]);
    cairo_move_to (cr, x, y);
    cairo_line_to (cr, x + right, y + down);
    cairo_stroke (cr);
    write_text (cr, x + 1.25 * right - size / 12, y + 1.25 * down + size / 12,
        names[k]);
  }
}

/* Draws a scale bar for the depth of the scene's centre. */
static void
paint_bar (cairo_t *cr, const GstBundlePainter *painter, const Projection *p,
    gdouble x, gdouble y)
{
  const gdouble pixels = p->focal / p->distance;
  const gdouble length = round_length (painter->width / 5.0 / pixels);
  gchar text[48];

  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_move_to (cr, x - length * pixels, y - 4);
  cairo_line_to (cr, x - length * pixels, y);
  cairo_line_to (cr, x, y);
  cairo_line_to (cr, x, y - 4);
  cairo_stroke (cr);
  g_snprintf (
      text, sizeof (text), length == 1 ? "%g unit" : "%g units", length);
  write_text (cr, x - length * pixels, y - 8, text);
}

static void
paint_labels (GstBundlePainter *painter, const Projection *p)
{
  cairo_surface_t *surface = cairo_image_surface_create_for_data (
      (guint8 *) painter->pixels, CAIRO_FORMAT_RGB24, (gint) painter->width,
      (gint) painter->height, (gint) painter->width * 4);
  cairo_t *cr = cairo_create (surface);
  const gdouble size = CLAMP (painter->height / 9.0, 24, 80);
  const guint n_points = count_points (painter);
  gchar *text =
      g_strdup_printf ("%u points, %u cameras", n_points, painter->n_cameras);
  gboolean ascii;

  cairo_select_font_face (cr, gst_cvis_font (&ascii), CAIRO_FONT_SLANT_NORMAL,
      CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cr, CLAMP (painter->height / 32.0, 9, 22));
  cairo_set_line_width (cr, 2);
  paint_axes (cr, p, 1.6 * size, painter->height - 1.6 * size, size);
  paint_bar (cr, painter, p, painter->width - 16.0, painter->height - 16.0);
  cairo_set_source_rgb (cr, 1, 1, 1);
  write_text (cr, 12, CLAMP (painter->height / 32.0, 9, 22) + 8, text);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  g_free (text);
}

const guint32 *
gst_bundle_painter_paint (
    GstBundlePainter *painter, const GstBundleViewpoint *view)
{
  const gsize n = (gsize) painter->width * painter->height;
  Projection p;

  for (gsize i = 0; i < n; i++)
    painter->pixels[i] = BACKGROUND;
  memset (painter->depths, 0, n * sizeof (gfloat));
  project_from (painter, view, &p);
  paint_points (painter, &p, count_points (painter), view->point_size);
  paint_edges (painter, &p);
  if (view->labels)
    paint_labels (painter, &p);
  return painter->pixels;
}
