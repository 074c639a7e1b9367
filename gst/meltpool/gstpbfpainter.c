/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfpainter.h"

#include <math.h>
#include <string.h>

#include "gst/common/gstcvisfont.h"
#include "cuda/meltpool/outline.h"

#define AUTO_SIDE 768   /* the longer side of the enlarged frame, about */
#define PANEL_WIDTH 432 /* of the numbers, to the right of the frame */
#define MIN_HEIGHT 720  /* height that the numbers need */
#define MARGIN 20
#define ROUND_UP_2(n) (((n) + 1u) & ~1u)
#define HISTORY 200      /* most displayed frames in the curves */
#define SHORT_HISTORY 50 /* with fewer frames the curves end before the edge */


typedef enum {
  COLOR_BACKGROUND = 0x0d1117,
  COLOR_CARD = 0x1a212b,
  COLOR_LINE = 0x323c4a,
  COLOR_TEXT = 0xe6edf3,
  COLOR_DIM = 0x8b98a9,
  COLOR_ROI = 0x58a6ff,
  COLOR_POOL = 0x3fe0a0,
  COLOR_EXPECTED = 0xff4d4d,
  COLOR_CENTROID = 0xff5fa8,
  COLOR_SPATTER = 0x4de1ff,
  COLOR_WARN = 0xf2b134,
  COLOR_POLAR = 0xf28c38,
  COLOR_HOG = 0xa58bff,
} Color;

typedef enum {
  ALIGN_LEFT,
  ALIGN_CENTER,
  ALIGN_RIGHT,
} Align;

struct _GstPbfPainter {
  GstPbfPainterConfig config;
  guint canvas_width, canvas_height;
  gint frame_x, frame_y; /* upper left corner of the enlarged frame */
  guint32 palette[256];
  guint32 *line; /* one enlarged row */
  const gchar *font;
  gboolean ascii; /* the font has ASCII only */
  GArray *edges;

  gchar **output_names; /* NULL: none are known */
  guint n_outputs;      /* most outputs so far: the panel keeps their rows */
  gfloat area_history[HISTORY];
  gfloat spatter_history[HISTORY];
  gfloat output_history[HISTORY];
  guint n_history; /* frames entered so far */
};

/* --- drawing in general ---------------------------------------------------- */

static void
set_color (cairo_t *cr, Color color, gdouble alpha)
{
  cairo_set_source_rgba (cr, ((color >> 16) & 255) / 255.0,
      ((color >> 8) & 255) / 255.0, (color & 255) / 255.0, alpha);
}

/* Strokes the path with a dark outline, so that it is visible on any picture. */
static void
stroke_seamed (cairo_t *cr, Color color, gdouble width)
{
  cairo_set_line_width (cr, width * 2 - 1);
  set_color (cr, COLOR_BACKGROUND, 0.75);
  cairo_stroke_preserve (cr);
  cairo_set_line_width (cr, width);
  set_color (cr, color, 1.0);
  cairo_stroke (cr);
}

static void
rounded (cairo_t *cr, gdouble x, gdouble y, gdouble w, gdouble h, gdouble r)
{
  cairo_new_sub_path (cr);
  cairo_arc (cr, x + w - r, y + r, r, -G_PI / 2, 0);
  cairo_arc (cr, x + w - r, y + h - r, r, 0, G_PI / 2);
  cairo_arc (cr, x + r, y + h - r, r, G_PI / 2, G_PI);
  cairo_arc (cr, x + r, y + r, r, G_PI, 3 * G_PI / 2);
  cairo_close_path (cr);
}

static void
card (cairo_t *cr, gdouble x, gdouble y, gdouble w, gdouble h)
{
  rounded (cr, x, y, w, h, 6);
  set_color (cr, COLOR_CARD, 1.0);
  cairo_fill (cr);
}

/* Returns: the width of the text. @y is its base line. */
static gdouble
text (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble size,
    Color color, Align align, const gchar *string)
{
  cairo_text_extents_t extents;

  cairo_select_font_face (cr, p->font, CAIRO_FONT_SLANT_NORMAL,
      size >= 18 ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cr, size);
  cairo_text_extents (cr, string, &extents);
  if (align == ALIGN_RIGHT)
    x -= extents.x_advance;
  else if (align == ALIGN_CENTER)
    x -= extents.x_advance / 2;
  set_color (cr, color, 1.0);
  cairo_move_to (cr, x, y);
  cairo_show_text (cr, string);
  return extents.x_advance;
}

/* Characters beyond ASCII, and their replacements. */
static const gchar *
times (const GstPbfPainter *p)
{
  return p->ascii ? "x" : "\303\227";
}

static const gchar *
micro (const GstPbfPainter *p)
{
  return p->ascii ? "u" : "\302\265";
}

static const gchar *
degrees (const GstPbfPainter *p)
{
  return p->ascii ? "" : "\302\260";
}

/* Shown for missing values. */
static const gchar *
dash (const GstPbfPainter *p)
{
  return p->ascii ? "-" : "\342\200\223";
}

/* Formats one double with '.' in every locale. */
static const gchar *
number (gchar buffer[48], const gchar *format, gdouble value)
{
  return g_ascii_formatd (buffer, 48, format, value);
}

/* --- the frame ------------------------------------------------------------- */

static void
make_palette (GstPbfColormap colormap, guint32 palette[256])
{
  static const guint8 stops[9][3] = { { 4, 4, 12 }, { 32, 12, 74 },
    { 84, 16, 109 }, { 136, 34, 106 }, { 187, 55, 84 }, { 228, 88, 48 },
    { 249, 140, 10 }, { 249, 201, 50 }, { 252, 254, 190 } };
  guint i, c;

  for (i = 0; i < 256; i++) {
    guint at = i * 8 / 255, part = i * 8 % 255;

    palette[i] = 0;
    for (c = 0; c < 3; c++) {
      guint value = i;

      if (colormap == GST_PBF_COLORMAP_INFERNO)
        value = (stops[at][c] * (255 - part) + stops[MIN (at + 1, 8)][c] * part
                    + 127)
                / 255;
      palette[i] = palette[i] << 8 | value;
    }
  }
}

static void
enlarge (GstPbfPainter *p, cairo_surface_t *surface, const GstPbfPicture *pic)
{
  guint zoom = p->config.zoom, x, y, i;
  gsize row_bytes = (gsize) p->config.width * zoom * 4;
  gsize stride = cairo_image_surface_get_stride (surface);
  guint8 *to = cairo_image_surface_get_data (surface) + p->frame_y * stride
               + p->frame_x * 4;

  cairo_surface_flush (surface);
  for (y = 0; y < p->config.height; y++) {
    const guint8 *row = pic->pixels + y * pic->stride;
    guint32 *out = p->line;

    for (x = 0; x < p->config.width; x++) {
      guint32 color = p->palette[row[x]];

      for (i = 0; i < zoom; i++)
        *out++ = color;
    }
    for (i = 0; i < zoom; i++, to += stride)
      memcpy (to, p->line, row_bytes);
  }
  cairo_surface_mark_dirty (surface);
}

/* Whether the frame is empty and was not analysed. */
static gboolean
nothing_found (const CvisPbfResult *r)
{
  return (r->flags & CVIS_PBF_RESULT_EMPTY) && r->raw[CVIS_PBF_MP_AREA] == 0;
}

/* Converts a position in the analysed frame to the canvas. */
static gdouble
canvas_x (const GstPbfPainter *p, const GstPbfPicture *pic, gdouble x)
{
  return p->frame_x + (x * pic->scale_x + pic->offset_x) * p->config.zoom;
}

static gdouble
canvas_y (const GstPbfPainter *p, const GstPbfPicture *pic, gdouble y)
{
  return p->frame_y + (y * pic->scale_y + pic->offset_y) * p->config.zoom;
}

static gint
nearest (gdouble value)
{
  return (gint) lrint (CLAMP (value, -1e6, 1e6));
}

static PbfBox
map_box (const GstPbfPicture *pic, gint x, gint y, gint width, gint height)
{
  gint x0 = nearest (x * pic->scale_x + pic->offset_x);
  gint y0 = nearest (y * pic->scale_y + pic->offset_y);
  gint x1 = nearest (((gdouble) x + width) * pic->scale_x + pic->offset_x);
  gint y1 = nearest (((gdouble) y + height) * pic->scale_y + pic->offset_y);

  return (PbfBox){ x0, y0, x1 - x0, y1 - y0 };
}

static gboolean
clip_box (PbfBox *box, gint width, gint height)
{
  gint x1 = MIN (box->x + box->width, width);
  gint y1 = MIN (box->y + box->height, height);

  box->x = MAX (box->x, 0);
  box->y = MAX (box->y, 0);
  box->width = x1 - box->x;
  box->height = y1 - box->y;
  return box->width > 0 && box->height > 0;
}

/* Records of older versions have no such value. */
static gint
roi_side (const CvisPbfResult *result)
{
  return result->roi_size > 0 ? (gint) result->roi_size : CVIS_PBF_ROI_SIDE;
}

static void
draw_outline (GstPbfPainter *p, cairo_t *cr, const GstPbfPicture *pic)
{
  const CvisPbfResult *r = pic->result;
  gint side = roi_side (r);
  PbfBox roi = map_box (pic, r->roi_x, r->roi_y, side, side);
  PbfBox wanted =
      map_box (pic, r->bbox_x, r->bbox_y, r->bbox_width, r->bbox_height);
  gdouble zoom = p->config.zoom;
  guint8 *mask;
  guint i;

  if (!clip_box (&roi, p->config.width, p->config.height))
    return;
  mask = g_malloc ((gsize) roi.width * roi.height);
  g_array_set_size (p->edges, 0);
  if (pbf_outline_find (pic->pixels, pic->stride, &roi, p->config.threshold,
          p->config.connectivity, &wanted, mask)
      > 0)
    pbf_outline_edges (mask, roi.width, roi.height, p->edges);
  g_free (mask);

  for (i = 0; i < p->edges->len; i++) {
    const PbfEdge *e = &g_array_index (p->edges, PbfEdge, i);

    cairo_move_to (cr, p->frame_x + (roi.x + e->x0) * zoom,
        p->frame_y + (roi.y + e->y0) * zoom);
    cairo_line_to (cr, p->frame_x + (roi.x + e->x1) * zoom,
        p->frame_y + (roi.y + e->y1) * zoom);
  }
  cairo_set_line_cap (cr, CAIRO_LINE_CAP_SQUARE);
  stroke_seamed (cr, COLOR_POOL, 2.0);
  cairo_set_line_cap (cr, CAIRO_LINE_CAP_BUTT);
}

static void
draw_roi (GstPbfPainter *p, cairo_t *cr, const GstPbfPicture *pic)
{
  const CvisPbfResult *r = pic->result;
  gdouble x0 = canvas_x (p, pic, r->roi_x);
  gdouble y0 = canvas_y (p, pic, r->roi_y);
  gdouble x1 = canvas_x (p, pic, r->roi_x + roi_side (r));
  gdouble y1 = canvas_y (p, pic, r->roi_y + roi_side (r));

  cairo_rectangle (cr, x0, y0, x1 - x0, y1 - y0);
  stroke_seamed (cr,
      r->flags & CVIS_PBF_RESULT_POOL_AT_EDGE ? COLOR_WARN : COLOR_ROI, 2.0);
}

static void
draw_cross (cairo_t *cr, gdouble x, gdouble y, Color color)
{
  static const gdouble arm = 15, gap = 5;

  cairo_move_to (cr, x - arm, y);
  cairo_line_to (cr, x - gap, y);
  cairo_move_to (cr, x + gap, y);
  cairo_line_to (cr, x + arm, y);
  cairo_move_to (cr, x, y - arm);
  cairo_line_to (cr, x, y - gap);
  cairo_move_to (cr, x, y + gap);
  cairo_line_to (cr, x, y + arm);
  stroke_seamed (cr, color, 3.5);
}

static void
draw_dot (cairo_t *cr, gdouble x, gdouble y, Color color)
{
  cairo_new_sub_path (cr);
  cairo_arc (cr, x, y, 4.5, 0, 2 * G_PI);
  set_color (cr, color, 1.0);
  cairo_fill_preserve (cr);
  set_color (cr, COLOR_BACKGROUND, 0.9);
  cairo_set_line_width (cr, 1.5);
  cairo_stroke (cr);
}

/* Draws the long axis of the ellipse with the pool's area and ratio, slightly
 * longer. */
static void
draw_axis (GstPbfPainter *p, cairo_t *cr, const GstPbfPicture *pic)
{
  const CvisPbfResult *r = pic->result;
  gdouble ratio = CLAMP (r->features[CVIS_PBF_MP_RATIO], 0.05, 1.0);
  gdouble half = sqrt (r->raw[CVIS_PBF_MP_AREA] / (G_PI * ratio)) * 1.25;
  gdouble dx = half * cos (r->orientation_deg * G_PI / 180);
  gdouble dy = half * sin (r->orientation_deg * G_PI / 180);
  gdouble x = r->centroid_x_q8 / 256.0, y = r->centroid_y_q8 / 256.0;
  static const gdouble dashes[] = { 6, 5 };

  cairo_move_to (cr, canvas_x (p, pic, x - dx), canvas_y (p, pic, y - dy));
  cairo_line_to (cr, canvas_x (p, pic, x + dx), canvas_y (p, pic, y + dy));
  cairo_set_dash (cr, dashes, G_N_ELEMENTS (dashes), 0);
  stroke_seamed (cr, COLOR_CENTROID, 2.0);
  cairo_set_dash (cr, NULL, 0, 0);
  draw_dot (cr, canvas_x (p, pic, x), canvas_y (p, pic, y), COLOR_CENTROID);
}

static void
draw_spatters (GstPbfPainter *p, cairo_t *cr, const GstPbfPicture *pic)
{
  const CvisPbfResult *r = pic->result;
  gdouble left = p->frame_x, top = p->frame_y;
  gdouble right = left + (gdouble) p->config.width * p->config.zoom;
  gdouble bottom = top + (gdouble) p->config.height * p->config.zoom;
  guint i;

  for (i = 0; i < MIN (r->n_spatters, CVIS_PBF_MAX_SPATTERS); i++) {
    const CvisPbfSpatter *s = &r->spatters[i];
    gdouble x = canvas_x (p, pic, s->x_q8 / 256.0);
    gdouble y = canvas_y (p, pic, s->y_q8 / 256.0);
    gdouble radius =
        MIN (sqrt (s->area / G_PI) * pic->scale_x * p->config.zoom, 1e4) + 7;
    gdouble side = x + radius + 20 < right ? 1 : -1;
    gdouble label_x = x + side * (radius * 0.75 + 4);
    gdouble label_y = CLAMP (y - radius * 0.75, top + 14, bottom - 4);
    Align align = side > 0 ? ALIGN_LEFT : ALIGN_RIGHT;
    gchar label[8];

    cairo_new_sub_path (cr);
    cairo_arc (cr, x, y, radius, 0, 2 * G_PI);
    stroke_seamed (cr, COLOR_SPATTER, 2.0);
    g_snprintf (label, sizeof (label), "%u", i + 1);
    text (p, cr, label_x + 1, label_y + 1, 14, COLOR_BACKGROUND, align, label);
    text (p, cr, label_x, label_y, 14, COLOR_SPATTER, align, label);
  }
}

/* Draws the sizes of the frame and of a grid square. */
static void
draw_size (GstPbfPainter *p, cairo_t *cr)
{
  gchar line[64];

  g_snprintf (line, sizeof (line), "%u %s %u pixels, %s %u", p->config.width,
      times (p), p->config.height, times (p), p->config.zoom);
  text (p, cr, p->frame_x + 10,
      p->frame_y + (gdouble) p->config.height * p->config.zoom - 10, 12,
      COLOR_DIM, ALIGN_LEFT, line);
}

static void
draw_frame (GstPbfPainter *p, cairo_t *cr, const GstPbfPicture *pic)
{
  const CvisPbfResult *r = pic->result;

  if (nothing_found (r))
    return;
  cairo_save (cr);
  cairo_rectangle (cr, p->frame_x, p->frame_y,
      (gdouble) p->config.width * p->config.zoom,
      (gdouble) p->config.height * p->config.zoom);
  cairo_clip (cr);
  draw_roi (p, cr, pic);
  if (r->raw[CVIS_PBF_MP_AREA] > 0) {
    draw_outline (p, cr, pic);
    draw_axis (p, cr, pic);
  }
  draw_cross (cr, canvas_x (p, pic, r->e_x_q8 / 256.0),
      canvas_y (p, pic, r->e_y_q8 / 256.0), COLOR_EXPECTED);
  draw_spatters (p, cr, pic);
  cairo_restore (cr);
}

/* --- the panel ------------------------------------------------------------- */

static void
draw_heading (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    const GstPbfPicture *pic)
{
  const CvisPbfResult *r = pic->result;
  gchar line[160], a[48], b[48];

  if (pic->time_ns != G_MAXUINT64) {
    g_snprintf (
        line, sizeof (line), "%s ms", number (a, "%.3f", pic->time_ns / 1e6));
    text (p, cr, x + w, y + 24, 15, COLOR_DIM, ALIGN_RIGHT, line);
  }
  if (r == NULL) {
    text (p, cr, x, y + 24, 24, COLOR_WARN, ALIGN_LEFT, "no result");
    text (p, cr, x, y + 48, 14, COLOR_DIM, ALIGN_LEFT,
        "the frame has no result: no cudapbfmonitor?");
    return;
  }
  g_snprintf (line, sizeof (line), "frame %u", r->frame_counter);
  text (p, cr, x, y + 24, 24, COLOR_TEXT, ALIGN_LEFT, line);
  if (r->flags & CVIS_PBF_RESULT_NO_SIGNAL)
    g_snprintf (line, sizeof (line), "no machine signals");
  else
    g_snprintf (line, sizeof (line),
        "layer %u    vector %u    x %s mm    y %s mm", r->layer, r->vector_id,
        number (a, "%.3f", r->x_um / 1e3), number (b, "%.3f", r->y_um / 1e3));
  text (p, cr, x, y + 48, 14, COLOR_DIM, ALIGN_LEFT, line);
}

/* Draws the names of the flags that are set, as far as there is room. */
static void
draw_flags (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    const CvisPbfResult *r)
{
  static const gchar *const words[] = { "empty", "warm-up", "no pool",
    "no signals", "signals corrupt", "frames lost", "late", "repeated",
    "window reset", "position fallback", "spatters cut", "excluded",
    "ROI clamped", "gap", "pool at ROI edge" };
  gdouble at = x;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (words) || r->flags == 0; i++) {
    const gchar *word = r->flags == 0 ? "valid" : words[i];
    Color color = r->flags == 0 ? COLOR_POOL : COLOR_WARN;
    cairo_text_extents_t extents;

    if (r->flags != 0 && !(r->flags & (1u << i)))
      continue;
    cairo_select_font_face (
        cr, p->font, CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size (cr, 13);
    cairo_text_extents (cr, word, &extents);
    if (at + extents.x_advance + 18 > x + w - 14) {
      text (p, cr, at, y + 16, 13, color, ALIGN_LEFT, "+");
      return;
    }
    rounded (cr, at + 0.5, y + 0.5, extents.x_advance + 17, 22, 11);
    set_color (cr, color, 0.16);
    cairo_fill_preserve (cr);
    set_color (cr, color, 0.8);
    cairo_set_line_width (cr, 1);
    cairo_stroke (cr);
    text (p, cr, at + 9, y + 16, 13, color, ALIGN_LEFT, word);
    at += extents.x_advance + 26;
    if (r->flags == 0)
      return;
  }
}

static void
draw_tile (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    const gchar *label, const gchar *value, const gchar *unit)
{
  gdouble advance;

  card (cr, x, y, w, 56);
  text (p, cr, x + 10, y + 19, 12, COLOR_DIM, ALIGN_LEFT, label);
  advance = text (p, cr, x + 10, y + 46, 22, COLOR_TEXT, ALIGN_LEFT, value);
  text (p, cr, x + 15 + advance, y + 46, 13, COLOR_DIM, ALIGN_LEFT, unit);
}

static void
draw_tiles (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    const CvisPbfResult *r)
{
  gboolean known = !nothing_found (r);
  const struct {
    const gchar *label, *format, *unit;
    gdouble value;
  } tiles[6] = {
    { "melt-pool area", "%.0f", "px", r->features[CVIS_PBF_MP_AREA] },
    { "width / length", "%.3f", "", r->features[CVIS_PBF_MP_RATIO] },
    { "mean intensity", "%.1f", "", r->features[CVIS_PBF_MP_MEAN] },
    { "spatters", "%.0f", "", r->features[CVIS_PBF_SPATTER_COUNT] },
    { "spatter area", "%.0f", "px", r->features[CVIS_PBF_SPATTER_AREA] },
    { "saturated", "%.0f", "px", r->saturated },
  };
  gdouble tile = (w - 2 * 8) / 3;
  gchar value[48];
  guint i;

  for (i = 0; i < 6; i++)
    draw_tile (p, cr, x + (i % 3) * (tile + 8), y + (i / 3) * 64, tile,
        tiles[i].label,
        known ? number (value, tiles[i].format, tiles[i].value) : dash (p),
        known ? tiles[i].unit : "");
}

static void
draw_rose (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    gdouble h, const CvisPbfResult *r)
{
  gdouble cx = x + w / 2, cy = y + 26 + (h - 32) / 2;
  gdouble radius = (h - 32) / 2 - 14, largest = 1;
  guint k;

  card (cr, x, y, w, h);
  text (p, cr, x + 10, y + 19, 12, COLOR_DIM, ALIGN_LEFT, "light by direction");
  for (k = 0; k < 6; k++)
    largest = MAX (largest, r->features[CVIS_PBF_POLAR_0 + k]);
  for (k = 0; k < 6; k++) {
    gdouble from = k * G_PI / 3, middle = from + G_PI / 6;
    gdouble share = sqrt (MAX (r->features[CVIS_PBF_POLAR_0 + k], 0) / largest);
    gchar label[4];

    cairo_move_to (cr, cx, cy);
    cairo_arc (cr, cx, cy, radius, from, from + G_PI / 3);
    cairo_close_path (cr);
    set_color (cr, COLOR_LINE, 1.0);
    cairo_set_line_width (cr, 1);
    cairo_stroke (cr);
    cairo_move_to (cr, cx, cy);
    cairo_arc (cr, cx, cy, radius * share, from, from + G_PI / 3);
    cairo_close_path (cr);
    set_color (cr, COLOR_POLAR, 0.85);
    cairo_fill (cr);
    g_snprintf (label, sizeof (label), "%u", k);
    text (p, cr, cx + (radius + 9) * cos (middle),
        cy + (radius + 9) * sin (middle) + 4, 11, COLOR_DIM, ALIGN_CENTER,
        label);
  }
}

static void
draw_hog (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    gdouble h, const CvisPbfResult *r)
{
  gdouble step = (w - 20) / 9, base = y + h - 22, room = h - 54;
  guint k;

  card (cr, x, y, w, h);
  text (p, cr, x + 10, y + 19, 12, COLOR_DIM, ALIGN_LEFT,
      "gradients by angle (HOG)");
  for (k = 0; k < 9; k++) {
    gdouble value = CLAMP (r->features[CVIS_PBF_HOG_0 + k], 0, 1);
    gchar label[8];

    cairo_rectangle (cr, x + 11 + k * step, base - room, step - 3, room);
    set_color (cr, COLOR_LINE, 0.45);
    cairo_fill (cr);
    cairo_rectangle (
        cr, x + 11 + k * step, base - room * value, step - 3, room * value);
    set_color (cr, COLOR_HOG, 1.0);
    cairo_fill (cr);
    g_snprintf (label, sizeof (label), "%u%s", k * 20, degrees (p));
    if (k % 2 == 0)
      text (p, cr, x + 11 + (k + 0.5) * step - 1.5, base + 15, 11, COLOR_DIM,
          ALIGN_CENTER, label);
  }
}

/* Rows of the outputs, and one for class and vote of two outputs or more */
static gdouble
outputs_height (const GstPbfPainter *p)
{
  guint rows = p->n_outputs + (p->n_outputs >= 2 ? 1 : 0);

  return rows > 0 ? 16 + rows * 21 + 8 : 0;
}

static void
output_name (const GstPbfPainter *p, guint index, gchar *name, gsize size)
{
  if (p->output_names != NULL && index < g_strv_length (p->output_names))
    g_strlcpy (name, p->output_names[index], size);
  else
    g_snprintf (name, size, "out_%u", index);
}

/* Class and probability on the left, the vote on the right. */
static void
draw_class (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    const CvisPbfResult *r)
{
  gchar name[48], value[48], line[128];

  if (r->vote_n == 0) {
    text (p, cr, x + 10, y + 15, 13, COLOR_DIM, ALIGN_LEFT, "no class");
    return;
  }
  output_name (p, r->class_index, name, sizeof (name));
  if (r->class_probability > 0)
    g_snprintf (line, sizeof (line), "%s  %s", name,
        number (value, "%.3f", r->class_probability));
  else
    g_snprintf (line, sizeof (line), "%s", name);
  text (p, cr, x + 10, y + 15, 13, COLOR_POOL, ALIGN_LEFT, line);
  output_name (p, r->vote_class, name, sizeof (name));
  g_snprintf (line, sizeof (line), "vote: %s  %u of %u", name, r->vote_count,
      r->vote_n);
  text (p, cr, x + w - 10, y + 15, 13, COLOR_TEXT, ALIGN_RIGHT, line);
}

static void
draw_outputs (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    const CvisPbfResult *r)
{
  gdouble bar_x = x + 150, bar_w = w - 150 - 80;
  guint i;

  card (cr, x, y, w, outputs_height (p) - 8);
  for (i = 0; i < p->n_outputs; i++) {
    gdouble at = y + 8 + i * 21;
    gboolean known = i < r->n_outputs;
    gdouble share = known ? CLAMP (r->outputs[i], 0, 1) : 0;
    gchar name[48], value[48];

    output_name (p, i, name, sizeof (name));
    cairo_save (cr);
    cairo_rectangle (cr, x, at, bar_x - x - 8, 21);
    cairo_clip (cr);
    text (p, cr, x + 10, at + 15, 13, COLOR_TEXT, ALIGN_LEFT, name);
    cairo_restore (cr);
    rounded (cr, bar_x, at + 5, bar_w, 11, 3);
    set_color (cr, COLOR_LINE, 0.45);
    cairo_fill (cr);
    if (share * bar_w >= 1) {
      cairo_rectangle (cr, bar_x, at + 5, share * bar_w, 11);
      set_color (cr, share > 0.5 ? COLOR_WARN : COLOR_ROI, 1.0);
      cairo_fill (cr);
    }
    text (p, cr, x + w - 10, at + 15, 13, COLOR_TEXT, ALIGN_RIGHT,
        known ? number (value, "%.3f", r->outputs[i]) : dash (p));
  }
  if (p->n_outputs >= 2)
    draw_class (p, cr, x, y + 8 + p->n_outputs * 21, w, r);
}

static void
draw_curve (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    gdouble h, const gchar *label, const gfloat *history, Color color)
{
  guint n = MIN (p->n_history, HISTORY), i;
  gdouble step = (w - 24) / (MAX (n, SHORT_HISTORY) - 1);
  gdouble largest = 0, top = y + 28, room = h - 38;
  gboolean pen_down = FALSE;
  gchar line[64], value[48];

  card (cr, x, y, w, h);
  text (p, cr, x + 10, y + 19, 12, COLOR_DIM, ALIGN_LEFT, label);
  for (i = 0; i < n; i++) {
    if (isfinite (history[i]))
      largest = MAX (largest, history[i]);
  }
  g_snprintf (
      line, sizeof (line), "highest %s", number (value, "%.4g", largest));
  text (p, cr, x + w - 10, y + 19, 12, COLOR_DIM, ALIGN_RIGHT, line);

  cairo_move_to (cr, x + 10, top + room + 0.5);
  cairo_line_to (cr, x + w - 10, top + room + 0.5);
  set_color (cr, COLOR_LINE, 1.0);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  for (i = 0; i < n; i++) { /* the oldest first, the newest at the right */
    gfloat v = history[(p->n_history - n + i) % HISTORY];
    gdouble at = x + w - 12 - (n - 1 - i) * step;
    gdouble up = largest > 0 ? MAX (v, 0) / largest : 0;

    if (!isfinite (v)) {
      pen_down = FALSE;
      continue;
    }
    if (!pen_down)
      cairo_move_to (cr, at - 0.8, top + room * (1 - up));
    cairo_line_to (cr, at, top + room * (1 - up));
    pen_down = TRUE;
  }
  set_color (cr, color, 1.0);
  cairo_set_line_width (cr, 1.6);
  cairo_stroke (cr);
}

static void
draw_history (
    GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w, gdouble h)
{
  gboolean both = h >= 136;
  gdouble each = both ? (h - 8) / 2 : h;
  gchar name[48];

  draw_curve (p, cr, x, y, w, each, "melt-pool area, displayed frames",
      p->area_history, COLOR_POOL);
  if (!both)
    return;
  y += each + 8;
  if (p->n_outputs == 0) {
    draw_curve (p, cr, x, y, w, each, "spatters, displayed frames",
        p->spatter_history, COLOR_SPATTER);
    return;
  }
  output_name (p, 0, name, sizeof (name));
  draw_curve (p, cr, x, y, w, each, name, p->output_history, COLOR_ROI);
}

/* Draws the legend of the marks in the picture, and the latency on the right. */
static void
draw_legend (GstPbfPainter *p, cairo_t *cr, gdouble x, gdouble y, gdouble w,
    const GstPbfPicture *pic)
{
  static const struct {
    const gchar *word;
    Color color;
  } marks[] = { { "ROI", COLOR_ROI }, { "pool", COLOR_POOL },
    { "expected", COLOR_EXPECTED }, { "axis", COLOR_CENTROID },
    { "spatter", COLOR_SPATTER } };
  gdouble right = x + w;
  gchar line[64], value[48];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (marks); i++) {
    rounded (cr, x, y + 3, 10, 10, 2);
    set_color (cr, marks[i].color, 1.0);
    cairo_fill (cr);
    x += 14;
    x += text (p, cr, x, y + 13, 12, COLOR_DIM, ALIGN_LEFT, marks[i].word) + 10;
  }
  if (pic->latency_ns == G_MAXUINT64)
    return;
  if (pic->latency_ns < 1000000)
    g_snprintf (line, sizeof (line), "latency %s %ss",
        number (value, "%.3g", pic->latency_ns / 1e3), micro (p));
  else if (pic->latency_ns < 1000000000)
    g_snprintf (line, sizeof (line), "latency %s ms",
        number (value, "%.3g", pic->latency_ns / 1e6));
  else
    g_snprintf (line, sizeof (line), "latency %s s",
        number (value, "%.3g", pic->latency_ns / 1e9));
  text (p, cr, right, y + 13, 12, COLOR_TEXT, ALIGN_RIGHT, line);
}

static void
draw_panel (GstPbfPainter *p, cairo_t *cr, const GstPbfPicture *pic)
{
  gdouble x = p->canvas_width - PANEL_WIDTH + MARGIN;
  gdouble w = PANEL_WIDTH - 2 * MARGIN, y = MARGIN, bottom;
  const CvisPbfResult *r = pic->result;

  draw_heading (p, cr, x, y, w, pic);
  if (r == NULL)
    return;
  y += 62;
  draw_flags (p, cr, x, y, w, r);
  y += 34;
  draw_tiles (p, cr, x, y, w, r);
  y += 128;
  draw_rose (p, cr, x, y, 168, 168, r);
  draw_hog (p, cr, x + 176, y, w - 176, 168, r);
  y += 176;
  if (p->n_outputs > 0)
    draw_outputs (p, cr, x, y, w, r);
  y += outputs_height (p);
  bottom = p->canvas_height - MARGIN - 16;
  draw_history (p, cr, x, y, w, bottom - 8 - y);
  draw_legend (p, cr, x, bottom, w, pic);
}

/* --- the painter ----------------------------------------------------------- */

static void
remember (GstPbfPainter *p, const CvisPbfResult *r)
{
  guint at = p->n_history % HISTORY;
  gboolean known = r != NULL && !nothing_found (r);

  p->area_history[at] = known ? r->features[CVIS_PBF_MP_AREA] : NAN;
  p->spatter_history[at] = known ? r->features[CVIS_PBF_SPATTER_COUNT] : NAN;
  p->output_history[at] = known && r->n_outputs > 0 ? r->outputs[0] : NAN;
  p->n_history++;
  if (r != NULL)
    p->n_outputs = MAX (p->n_outputs, MIN (r->n_outputs, CVIS_PBF_MAX_OUTPUTS));
}

GstPbfPainter *
gst_pbf_painter_new (const GstPbfPainterConfig *config)
{
  GstPbfPainter *p;
  guint longer = MAX (config->width, config->height);
  guint zoom = config->zoom != 0 ? config->zoom : MAX (AUTO_SIDE / longer, 1);

  if (config->width == 0 || config->height == 0
      || (guint64) longer * zoom > GST_PBF_PAINTER_MAX_SIDE - PANEL_WIDTH)
    return NULL;

  p = g_new0 (GstPbfPainter, 1);
  p->config = *config;
  p->config.zoom = zoom;
  /* even, for encoders that subsample colours */
  p->canvas_width = ROUND_UP_2 (config->width * zoom + PANEL_WIDTH);
  p->canvas_height = ROUND_UP_2 (MAX (config->height * zoom, MIN_HEIGHT));
  p->frame_y = (p->canvas_height - config->height * zoom) / 2;
  p->line = g_new (guint32, (gsize) config->width * zoom);
  p->edges = g_array_new (FALSE, FALSE, sizeof (PbfEdge));
  p->font = gst_cvis_font (&p->ascii);
  make_palette (config->colormap, p->palette);
  return p;
}

void
gst_pbf_painter_free (GstPbfPainter *p)
{
  g_strfreev (p->output_names);
  g_array_unref (p->edges);
  g_free (p->line);
  g_free (p);
}

void
gst_pbf_painter_name_outputs (GstPbfPainter *p, gchar **names)
{
  g_strfreev (p->output_names);
  p->output_names = g_strdupv (names);
}

void
gst_pbf_painter_reset (GstPbfPainter *p)
{
  p->n_history = 0;
  p->n_outputs = 0;
}

guint
gst_pbf_painter_width (const GstPbfPainter *p)
{
  return p->canvas_width;
}

guint
gst_pbf_painter_height (const GstPbfPainter *p)
{
  return p->canvas_height;
}

cairo_status_t
gst_pbf_painter_paint (
    GstPbfPainter *p, cairo_surface_t *surface, const GstPbfPicture *picture)
{
  cairo_t *cr = cairo_create (surface);
  cairo_status_t status;

  remember (p, picture->result);
  set_color (cr, COLOR_BACKGROUND, 1.0);
  cairo_paint (cr);
  enlarge (p, surface, picture);
  draw_size (p, cr);
  if (picture->result != NULL)
    draw_frame (p, cr, picture);
  draw_panel (p, cr, picture);
  status = cairo_status (cr);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return status;
}
