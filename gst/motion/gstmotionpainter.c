/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstmotionpainter.h"

#include <math.h>
#include <string.h>

#include "gst/common/gstcvisfont.h"
#include "gstmotionblend.h"

#define N_HUES 96
#define N_HEATS 64
#define HEAT_FULL 24.0 /* mean difference, of 255, of the hottest colour */

#define RGB_ARROW 0xfff15c
#define RGB_DOUBT 0xff5a4f /* arrows of blocks that motion does not explain */
#define RGB_SEAM 0x000000
#define RGB_PANEL 0x0d1117
#define RGB_TEXT 0xf4f7fa
#define RGB_CUT 0xd6213a
#define RGB_DUPLICATE 0x9a6200

/* A raster of the frame's size. */
typedef struct {
  guint8 *data;
  gint left, top, right,
      bottom; /* bounds of the pixels that may not be 0; right, bottom exclusive */
} Mask;

struct _GstMotionPainter {
  GstMotionBlend blend;
  gint width, height;
  gint stride; /* of masks */
  Mask ink, doubt, seam;
  cairo_surface_t *surface; /* on ink */
  const gchar *font;
  gdouble font_size;
  gfloat line; /* half the width of an arrow's shaft */
  GstMotionColor hues[N_HUES];
  GstMotionColor heats[N_HEATS];
};

/* --- colours --------------------------------------------------------------- */

static guint
channel (gdouble hue)
{
  gdouble value = fabs (fmod (hue + 6, 6) - 3) - 1;

  return (guint) (CLAMP (value, 0, 1) * 255 + 0.5);
}

/* Hue of a direction: red right, yellow down, cyan left, violet up. */
static void
make_hues (GstMotionPainter *p)
{
  for (guint i = 0; i < N_HUES; i++) {
    gdouble hue = 6.0 * i / N_HUES;

    p->hues[i] = gst_motion_blend_color (&p->blend,
        channel (hue) << 16 | channel (hue - 2) << 8 | channel (hue - 4));
  }
}

static void
make_heats (GstMotionPainter *p)
{
  static const guint8 stops[5][3] = { { 40, 10, 110 }, { 160, 30, 130 },
    { 240, 70, 70 }, { 255, 170, 40 }, { 255, 255, 190 } };

  for (guint i = 0; i < N_HEATS; i++) {
    gdouble at = 4.0 * i / (N_HEATS - 1);
    guint stop = MIN ((guint) at, 3), rgb = 0;

    for (guint c = 0; c < 3; c++)
      rgb = rgb << 8
            | (guint) (stops[stop][c]
                       + (at - stop) * (stops[stop + 1][c] - stops[stop][c]));
    p->heats[i] = gst_motion_blend_color (&p->blend, rgb);
  }
}

static GstMotionColor
hue_of (const GstMotionPainter *p, gdouble x, gdouble y)
{
  gint turn = (gint) lround (atan2 (y, x) * N_HUES / (2 * G_PI));

  return p->hues[(turn + N_HUES) % N_HUES];
}

/* --- masks ----------------------------------------------------------------- */

static void
mask_empty (Mask *mask)
{
  mask->left = mask->top = G_MAXINT;
  mask->right = mask->bottom = 0;
}

static void
mask_touch (Mask *mask, gint left, gint top, gint right, gint bottom)
{
  mask->left = MIN (mask->left, left);
  mask->top = MIN (mask->top, top);
  mask->right = MAX (mask->right, right);
  mask->bottom = MAX (mask->bottom, bottom);
}

/* Blends @rgb over the frame with the opacities of the mask, and clears the mask. */
static void
mask_blend (GstMotionPainter *p, GstVideoFrame *frame, Mask *mask, guint32 rgb)
{
  GstVideoRectangle area = { mask->left, mask->top, mask->right - mask->left,
    mask->bottom - mask->top };

  if (area.w <= 0 || area.h <= 0)
    return;
  gst_motion_blend_mask (&p->blend, frame, mask->data, p->stride, &area,
      gst_motion_blend_color (&p->blend, rgb));
  for (gint y = mask->top; y < mask->bottom; y++)
    memset (mask->data + (gsize) y * p->stride + mask->left, 0, area.w);
  mask_empty (mask);
}

/* --- blocks ---------------------------------------------------------------- */

/* Direction of motion: the vector to an earlier reference, negated. */
static gdouble
direction (const GstCvisMotionVectorMeta *meta)
{
  return meta->field->distance < 0 ? -1 : 1;
}

static const CvisMotionBlock *
get_block (const GstCvisMotionVectorMeta *meta, guint column, guint row,
    GstVideoRectangle *rectangle, gdouble *x, gdouble *y)
{
  const CvisMotionBlock *block = gst_cvis_motion_vector_meta_get_block (
      meta, column, row, rectangle, x, y);

  *x *= direction (meta);
  *y *= direction (meta);
  return block;
}

/* Opacity of a block's vector, 0 to 1: its confidence, or 1 if it has none; 0 if it is
 * not shown. */
static gdouble
get_trust (const CvisMotionBlock *block, const GstMotionPaintSettings *settings)
{
  const gint confidence = cvis_motion_block_get_confidence (block);

  if (block->flags & CVIS_MOTION_BLOCK_CONSTANT)
    return 0;
  if (confidence < 0)
    return 1;
  return confidence >= 256 * settings->min_confidence ? confidence / 255.0 : 0;
}

/* The length of motion that has the full colour. */
static gdouble
full_length (const GstMotionPainter *p)
{
  return MAX (p->width / 48.0, 8);
}

static void
paint_field (GstMotionPainter *p, GstVideoFrame *frame,
    const GstCvisMotionVectorMeta *meta, const GstMotionPaintSettings *settings)
{
  for (guint row = 0; row < meta->packet->rows; row++) {
    for (guint column = 0; column < meta->packet->columns; column++) {
      GstVideoRectangle rectangle;
      gdouble x, y, length, trust;

      trust = get_trust (
          get_block (meta, column, row, &rectangle, &x, &y), settings);
      length = hypot (x, y);
      if (length < settings->min_length || length == 0 || trust == 0)
        continue;
      gst_motion_blend_rectangle (&p->blend, frame, &rectangle,
          hue_of (p, x, y),
          settings->opacity * trust * sqrt (MIN (length / full_length (p), 1)));
    }
  }
}

/* Mean difference of a sample, in levels of 8-bit samples. */
static gdouble
mean_difference (const CvisMotionPacket *packet, const CvisMotionBlock *block,
    guint column, guint row)
{
  guint bs = packet->block_size;
  guint w = MIN (bs, packet->width - column * bs);
  guint h = MIN (bs, packet->height - row * bs);

  return block->sad / ((gdouble) w * h * (1u << (packet->depth - 8)));
}

static void
paint_residue (GstMotionPainter *p, GstVideoFrame *frame,
    const GstCvisMotionVectorMeta *meta, const GstMotionPaintSettings *settings)
{
  for (guint row = 0; row < meta->packet->rows; row++) {
    for (guint column = 0; column < meta->packet->columns; column++) {
      GstVideoRectangle rectangle;
      gdouble x, y, heat;
      const CvisMotionBlock *block =
          get_block (meta, column, row, &rectangle, &x, &y);

      heat = mean_difference (meta->packet, block, column, row) / HEAT_FULL;
      heat = MIN (heat, 1);
      gst_motion_blend_rectangle (&p->blend, frame, &rectangle,
          p->heats[(guint) (heat * (N_HEATS - 1))],
          settings->opacity * MIN (4 * heat, 1));
    }
  }
}

static void
paint_grid (GstMotionPainter *p, GstVideoFrame *frame,
    const GstCvisMotionVectorMeta *meta, const GstMotionPaintSettings *settings)
{
  GstMotionColor color = gst_motion_blend_color (&p->blend, RGB_TEXT);
  gint line = MAX (p->height / 720, 1);
  GstVideoRectangle r;

  for (guint row = 1; row < meta->packet->rows; row++) {
    gst_cvis_motion_vector_meta_get_block (meta, 0, row, &r, NULL, NULL);
    r = (GstVideoRectangle){ 0, r.y, p->width, line };
    gst_motion_blend_rectangle (
        &p->blend, frame, &r, color, settings->opacity / 2);
  }
  for (guint column = 1; column < meta->packet->columns; column++) {
    gst_cvis_motion_vector_meta_get_block (meta, column, 0, &r, NULL, NULL);
    r = (GstVideoRectangle){ r.x, 0, line, p->height };
    gst_motion_blend_rectangle (
        &p->blend, frame, &r, color, settings->opacity / 2);
  }
}

/* Draws the legend of the directions' colours in the lower right corner. */
static void
paint_wheel (GstMotionPainter *p, GstVideoFrame *frame)
{
  gint radius = MIN (p->width, p->height) / 12;
  gint x0 = p->width - radius - radius / 4;
  gint y0 = p->height - radius - radius / 4;
  GstVideoRectangle r = { x0 - radius, y0 - radius, 2 * radius, 2 * radius };

  if (radius < 8)
    return;
  gst_motion_blend_rectangle (
      &p->blend, frame, &r, gst_motion_blend_color (&p->blend, RGB_PANEL), 0.6);
  for (gint y = -radius; y < radius; y += 2) {
    for (gint x = -radius; x < radius; x += 2) {
      gdouble length = hypot (x + 1, y + 1) / radius;

      if (length > 1)
        continue;
      r = (GstVideoRectangle){ x0 + x, y0 + y, 2, 2 };
      gst_motion_blend_rectangle (
          &p->blend, frame, &r, hue_of (p, x + 1, y + 1), sqrt (length));
    }
  }
}

/* --- arrows ---------------------------------------------------------------- */

/* @x, @y: the tail; @ux, @uy: the direction, of length 1. Motion too short for a
 * head is a dot, whose head is 0. */
typedef struct {
  gfloat x, y, ux, uy;
  gfloat length, head;     /* pixels along it */
  gfloat half, head_half;  /* of the shaft's and the head's width */
  gfloat slope_x, slope_y; /* normal of the head's slope, of length 1 */
  gfloat seam;
  gfloat opacity; /* 0 to 255 */
} Arrow;

/* Distance from the centre of the pixel to the arrow's edge: negative inside. */
static inline gfloat
arrow_distance (const Arrow *a, gint px, gint py)
{
  gfloat dx = px + 0.5f - a->x, dy = py + 0.5f - a->y;
  gfloat along = dx * a->ux + dy * a->uy;
  gfloat across = fabsf (dy * a->ux - dx * a->uy);
  gfloat neck = along - (a->length - a->head);
  gfloat shaft = MAX (MAX (-along, neck), across - a->half);
  gfloat slope = neck * a->slope_x + (across - a->head_half) * a->slope_y;

  return MIN (shaft, MAX (-neck, slope));
}

static inline gfloat
dot_distance (const Arrow *a, gint px, gint py)
{
  gfloat dx = px + 0.5f - a->x, dy = py + 0.5f - a->y;

  return sqrtf (dx * dx + dy * dy) - a->half;
}

static inline guint8
cover (guint8 pixel, gfloat distance, gfloat opacity)
{
  gint covered = (gint) (CLAMP (0.5f - distance, 0, 1) * opacity);

  return (guint8) MAX (covered, pixel);
}

/* The arrow is passed by value: through a pointer the written bytes could alias it,
 * and compilers would not vectorise the loops. */
static void
draw_arrow_row (GstMotionPainter *p, Mask *ink, const Arrow arrow, gint y,
    gint left, gint right)
{
  guint8 *restrict inks = ink->data + (gsize) y * p->stride;
  guint8 *restrict seams = p->seam.data + (gsize) y * p->stride;

  if (arrow.head > 0)
    for (gint x = left; x < right; x++) {
      const gfloat distance = arrow_distance (&arrow, x, y);

      inks[x] = cover (inks[x], distance, arrow.opacity);
      seams[x] = cover (seams[x], distance - arrow.seam, arrow.opacity);
    }
  else
    for (gint x = left; x < right; x++) {
      const gfloat distance = dot_distance (&arrow, x, y);

      inks[x] = cover (inks[x], distance, arrow.opacity);
      seams[x] = cover (seams[x], distance - arrow.seam, arrow.opacity);
    }
}

/* Limits @at to a frame's side, so that it fits an integer. */
static gint
clip (gfloat at, gint end)
{
  return (gint) CLAMP (at, 0, end);
}

/* Draws the part of the arrow between two of its points, and @reach pixels around. */
static void
draw_part (GstMotionPainter *p, Mask *ink, const Arrow *a, gfloat from,
    gfloat to, gfloat reach)
{
  gfloat x0 = a->x + a->ux * from, y0 = a->y + a->uy * from;
  gfloat x1 = a->x + a->ux * to, y1 = a->y + a->uy * to;
  gint left = clip (MIN (x0, x1) - reach, p->width);
  gint right = clip (MAX (x0, x1) + reach + 1, p->width);
  gint top = clip (MIN (y0, y1) - reach, p->height);
  gint bottom = clip (MAX (y0, y1) + reach + 1, p->height);
  /* shift of the arrow's axis from row to row, and its half width in a row */
  gfloat slope = fabsf (a->uy) > 0.05f ? a->ux / a->uy : 0;
  gfloat wide = fabsf (a->uy) > 0.05f ? reach / fabsf (a->uy) : p->width;

  if (left >= right || top >= bottom)
    return;
  for (gint y = top; y < bottom; y++) {
    gfloat middle = a->x + (y + 0.5f - a->y) * slope;

    draw_arrow_row (p, ink, *a, y, MAX (left, clip (middle - wide, p->width)),
        MIN (right, clip (middle + wide + 1, p->width)));
  }
  mask_touch (ink, left, top, right, bottom);
  mask_touch (&p->seam, left, top, right, bottom);
}

static void
draw_arrow (GstMotionPainter *p, Mask *ink, const Arrow *a)
{
  gfloat neck = a->length - a->head;

  draw_part (p, ink, a, 0, neck, a->half + a->seam + 1);
  if (a->head > 0)
    draw_part (p, ink, a, neck, a->length, a->head_half + a->seam + 1);
}

/* Neighbouring blocks that share an arrow, where blocks are small. Those that are not
 * shown do not count. */
typedef struct {
  GstVideoRectangle area;
  gdouble x, y; /* mean motion */
  gdouble trust;
  gboolean doubt;
} Group;

static Group
get_group (const GstCvisMotionVectorMeta *meta, guint column, guint row,
    guint size, const GstMotionPaintSettings *settings)
{
  guint end_column = MIN (column + size, meta->packet->columns);
  guint end_row = MIN (row + size, meta->packet->rows);
  gdouble sums[2][3] = {
    { 0 }
  }; /* of blocks that motion explains, of others */
  guint counts[2] = { 0 };
  GstVideoRectangle r;
  Group group;

  get_block (meta, column, row, &group.area, &group.x, &group.y);
  for (guint j = row; j < end_row; j++) {
    for (guint i = column; i < end_column; i++) {
      gdouble x, y;
      const CvisMotionBlock *block = get_block (meta, i, j, &r, &x, &y);
      guint doubt = block->flags & CVIS_MOTION_BLOCK_INTRA_LIKE ? 1 : 0;
      gdouble trust = get_trust (block, settings);

      if (trust == 0)
        continue;
      sums[doubt][0] += x;
      sums[doubt][1] += y;
      sums[doubt][2] += trust;
      counts[doubt]++;
    }
  }
  group.area.w = r.x + r.w - group.area.x;
  group.area.h = r.y + r.h - group.area.y;
  group.doubt = counts[1] > counts[0];
  group.x = sums[group.doubt][0] / MAX (counts[group.doubt], 1);
  group.y = sums[group.doubt][1] / MAX (counts[group.doubt], 1);
  group.trust = sums[group.doubt][2] / MAX (counts[group.doubt], 1);
  return group;
}

static void
draw_group (GstMotionPainter *p, const Group *group,
    const GstMotionPaintSettings *settings)
{
  gfloat motion = (gfloat) hypot (group->x, group->y), side;
  Arrow a = { .x = group->area.x + group->area.w / 2.0f,
    .y = group->area.y + group->area.h / 2.0f };

  if (motion < settings->min_length || motion == 0)
    return;
  a.ux = (gfloat) group->x / motion;
  a.uy = (gfloat) group->y / motion;
  a.length = motion * (gfloat) settings->scale;
  a.half = p->line;
  a.head = MIN (p->line * 8, a.length * 0.7f);
  a.head_half = MAX (a.head * 0.45f, a.half);
  side = hypotf (a.head, a.head_half);
  a.slope_x = a.head_half / side;
  a.slope_y = a.head / side;
  a.seam = MAX (p->line, 0.9f);
  a.opacity = (gfloat) (255 * group->trust);
  if (a.length < 4 * p->line) {
    a.head = a.length = 0;
    a.head_half = a.half;
  }
  draw_arrow (p, group->doubt ? &p->doubt : &p->ink, &a);
}

static void
paint_arrows (GstMotionPainter *p, GstVideoFrame *frame,
    const GstCvisMotionVectorMeta *meta, const GstMotionPaintSettings *settings)
{
  gdouble spacing = MAX (p->width / 64.0, 14);
  gdouble block = meta->packet->block_size * MIN (meta->scale_x, meta->scale_y);
  guint size = (guint) CLAMP (ceil (spacing / block - 0.01), 1, 2048);

  for (guint row = 0; row < meta->packet->rows; row += size) {
    for (guint column = 0; column < meta->packet->columns; column += size) {
      Group group = get_group (meta, column, row, size, settings);

      draw_group (p, &group, settings);
    }
  }
  mask_blend (p, frame, &p->seam, RGB_SEAM);
  mask_blend (p, frame, &p->ink, RGB_ARROW);
  mask_blend (p, frame, &p->doubt, RGB_DOUBT);
}

/* --- text ------------------------------------------------------------------ */

#define N_LINES 6 /* at most */

/* Formats one double with '.' in every locale, and without "-0.0". */
static const gchar *
number (gchar buffer[32], const gchar *format, gdouble value)
{
  g_ascii_formatd (buffer, 32, format, value);
  if (buffer[0] == '-' && strpbrk (buffer, "123456789") == NULL)
    buffer[0] = '+';
  return buffer;
}

/* The global motion, in the direction of the arrows. */
static void
describe_global (const GstCvisMotionVectorMeta *meta, gchar **lines)
{
  const CvisMotionSummary *s = &meta->field->summary;
  gboolean back = meta->field->distance < 0;
  gdouble sign = direction (meta);
  gchar a[32], b[32], c[32];

  lines[0] = g_strdup_printf ("moves %s %s px, %s %% of blocks",
      number (a, "%+.1f", sign * s->global_x * meta->scale_x),
      number (b, "%+.1f", sign * s->global_y * meta->scale_y),
      number (c, "%.0f", 100 * s->global_share));
  lines[1] = g_strdup_printf ("zoom %s   turn %s deg",
      number (a, "%.3f",
          back && s->global_zoom != 0 ? 1 / s->global_zoom : s->global_zoom),
      number (b, "%+.1f", sign * s->global_rotation * 180 / G_PI));
}

/* Number of blocks that the summary counts, at least 1. */
static gdouble
count_histogram (const CvisMotionSummary *s)
{
  gdouble n = 0;

  for (guint i = 0; i < CVIS_MOTION_HISTOGRAM_BINS; i++)
    n += s->histogram[i];
  return MAX (n, 1);
}

/* Share of the blocks that the summary counts whose vectors are shown */
static gdouble
get_trusted_share (
    const GstCvisMotionVectorMeta *meta, const GstMotionPaintSettings *settings)
{
  const guint n = meta->packet->columns * meta->packet->rows;
  guint used = 0, trusted = 0;

  for (guint i = 0; i < n; i++) {
    used += !(meta->blocks[i].flags & CVIS_MOTION_BLOCK_CONSTANT);
    trusted += get_trust (&meta->blocks[i], settings) > 0;
  }
  return (gdouble) trusted / MAX (used, 1);
}

/* Returns: the number of lines */
static guint
describe (const GstCvisMotionVectorMeta *meta,
    const GstMotionPaintSettings *settings, gchar *lines[N_LINES])
{
  const CvisMotionPacket *packet = meta->packet;
  const CvisMotionSummary *s = &meta->field->summary;
  gdouble n = count_histogram (s);
  gchar a[32], b[32];

  lines[0] =
      g_strdup_printf ("frame %" G_GUINT64_FORMAT " against %" G_GUINT64_FORMAT,
          packet->frame, packet->frame + meta->field->distance);
  lines[1] = g_strdup_printf ("PSNR %s dB   scene %s",
      isinf (s->psnr) ? "infinite" : number (a, "%.1f", s->psnr),
      number (b, "%.2f", s->scene_score));
  describe_global (meta, lines + 2);
  lines[4] = g_strdup_printf ("still %s %%   intra-like %s %%",
      number (a, "%.0f", 100 * s->static_blocks / n),
      number (b, "%.0f", 100 * s->intra_blocks / n));
  if (!(packet->flags & CVIS_MOTION_FRAME_NOISE))
    return 5;
  lines[5] = g_strdup_printf ("noise %s   trusted %s %%",
      number (a, "%.1f", cvis_motion_packet_get_noise (packet)),
      number (b, "%.0f", 100 * get_trusted_share (meta, settings)));
  return 6;
}

static cairo_t *
begin_text (GstMotionPainter *p, cairo_font_weight_t weight)
{
  cairo_t *cr = cairo_create (p->surface);

  cairo_select_font_face (cr, p->font, CAIRO_FONT_SLANT_NORMAL, weight);
  cairo_set_font_size (cr, p->font_size);
  return cr;
}

static gdouble
text_width (cairo_t *cr, const gchar *text)
{
  cairo_text_extents_t extents = { 0 };

  cairo_text_extents (cr, text, &extents);
  return extents.x_advance;
}

/* Draws lines of text in a box whose upper left or, if @at_right, upper right corner
 * is at @x, @y. */
static cairo_status_t
paint_box (GstMotionPainter *p, GstVideoFrame *frame, gchar *const *lines,
    guint n, gint x, gint y, gboolean at_right, guint32 rgb, gdouble opacity)
{
  cairo_t *cr = begin_text (
      p, at_right ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  gdouble pad = p->font_size * 0.5, pitch = p->font_size * 1.3, width = 0;
  GstVideoRectangle box = { x, y };
  cairo_status_t status;

  for (guint i = 0; i < n; i++)
    width = MAX (width, text_width (cr, lines[i]));
  box.w = (gint) ceil (width + 2 * pad);
  box.h = (gint) ceil (n * pitch + pad);
  if (at_right)
    box.x -= box.w;
  gst_motion_blend_rectangle (
      &p->blend, frame, &box, gst_motion_blend_color (&p->blend, rgb), opacity);
  for (guint i = 0; i < n; i++) {
    cairo_move_to (
        cr, box.x + pad, box.y + pad * 0.5 + pitch * i + p->font_size);
    cairo_show_text (cr, lines[i]);
  }
  status = cairo_status (cr);
  cairo_destroy (cr);
  cairo_surface_flush (p->surface);
  mask_touch (&p->ink, CLAMP (box.x, 0, p->width), CLAMP (box.y, 0, p->height),
      MIN (box.x + box.w, p->width), MIN (box.y + box.h, p->height));
  mask_blend (p, frame, &p->ink, RGB_TEXT);
  cairo_surface_mark_dirty (p->surface);
  return status;
}

static cairo_status_t
paint_text (GstMotionPainter *p, GstVideoFrame *frame,
    const GstCvisMotionVectorMeta *meta, const GstMotionPaintSettings *settings)
{
  static const struct {
    guint32 flag;
    gchar *word;
    guint32 rgb;
  } badges[] = {
    { CVIS_MOTION_FRAME_SCENE_CUT, "SCENE CUT", RGB_CUT },
    { CVIS_MOTION_FRAME_DUPLICATE, "DUPLICATE", RGB_DUPLICATE },
  };
  gint margin = (gint) (p->font_size * 0.5), y = margin;
  cairo_status_t status;
  gchar *lines[N_LINES];
  const guint n = describe (meta, settings, lines);

  status =
      paint_box (p, frame, lines, n, margin, margin, FALSE, RGB_PANEL, 0.75);
  for (guint i = 0; i < n; i++)
    g_free (lines[i]);
  for (guint i = 0; i < G_N_ELEMENTS (badges); i++) {
    gchar *word = badges[i].word;

    if (status != CAIRO_STATUS_SUCCESS)
      return status;
    if (!(meta->packet->flags & badges[i].flag))
      continue;
    status = paint_box (
        p, frame, &word, 1, p->width - margin, y, TRUE, badges[i].rgb, 0.9);
    y += (gint) (p->font_size * 2.2);
  }
  return status;
}

/* --- painter --------------------------------------------------------------- */

GstMotionPainter *
gst_motion_painter_new (const GstVideoInfo *info)
{
  GstMotionPainter *p = g_new0 (GstMotionPainter, 1);
  Mask *masks[] = { &p->ink, &p->doubt, &p->seam };
  gboolean ascii;

  p->width = GST_VIDEO_INFO_WIDTH (info);
  p->height = GST_VIDEO_INFO_HEIGHT (info);
  p->stride = cairo_format_stride_for_width (CAIRO_FORMAT_A8, p->width);
  gst_motion_blend_init (&p->blend, info);
  for (guint i = 0; i < G_N_ELEMENTS (masks); i++) {
    masks[i]->data = g_malloc0 ((gsize) p->stride * p->height);
    mask_empty (masks[i]);
  }
  p->surface = cairo_image_surface_create_for_data (
      p->ink.data, CAIRO_FORMAT_A8, p->width, p->height, p->stride);
  p->font = gst_cvis_font (&ascii);
  p->font_size = CLAMP (p->height / 45.0, 11, 72);
  p->line = CLAMP (p->height / 800.0f, 0.7f, 4);
  make_hues (p);
  make_heats (p);
  return p;
}

void
gst_motion_painter_free (GstMotionPainter *p)
{
  cairo_surface_destroy (p->surface);
  g_free (p->ink.data);
  g_free (p->doubt.data);
  g_free (p->seam.data);
  gst_motion_blend_clear (&p->blend);
  g_free (p);
}

cairo_status_t
gst_motion_painter_paint (GstMotionPainter *p, GstVideoFrame *frame,
    const GstCvisMotionVectorMeta *meta, const GstMotionPaintSettings *settings)
{
  if (settings->mode & GST_MOTION_PAINT_RESIDUE)
    paint_residue (p, frame, meta, settings);
  if (settings->mode & GST_MOTION_PAINT_FIELD)
    paint_field (p, frame, meta, settings);
  if (settings->mode & GST_MOTION_PAINT_GRID)
    paint_grid (p, frame, meta, settings);
  if (settings->mode & GST_MOTION_PAINT_ARROWS)
    paint_arrows (p, frame, meta, settings);
  if (settings->mode & GST_MOTION_PAINT_FIELD)
    paint_wheel (p, frame);
  return settings->mode & GST_MOTION_PAINT_TEXT
             ? paint_text (p, frame, meta, settings)
             : CAIRO_STATUS_SUCCESS;
}
