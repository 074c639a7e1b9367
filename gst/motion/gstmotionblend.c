/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstmotionblend.h"

#include <string.h>

void
gst_motion_blend_init (GstMotionBlend *blend, const GstVideoInfo *info)
{
  blend->info = *info;
  if (!gst_video_color_matrix_get_Kr_Kb (
          info->colorimetry.matrix, &blend->kr, &blend->kb)) {
    blend->kr = 0.2126;
    blend->kb = 0.0722;
  }
  gst_video_color_range_offsets (
      info->colorimetry.range, info->finfo, blend->offset, blend->scale);
  blend->sums = g_new (guint16, GST_VIDEO_INFO_WIDTH (info) + 1);
  blend->row = g_new (guint8, GST_VIDEO_INFO_WIDTH (info));
}

void
gst_motion_blend_clear (GstMotionBlend *blend)
{
  g_clear_pointer (&blend->sums, g_free);
  g_clear_pointer (&blend->row, g_free);
}

GstMotionColor
gst_motion_blend_color (const GstMotionBlend *blend, guint32 rgb)
{
  gdouble r = (rgb >> 16 & 255) / 255.0, g = (rgb >> 8 & 255) / 255.0;
  gdouble b = (rgb & 255) / 255.0, kr = blend->kr, kb = blend->kb;
  gdouble y = kr * r + (1 - kr - kb) * g + kb * b;
  gdouble values[3] = { r, g, b };
  GstMotionColor color;

  if (!GST_VIDEO_INFO_IS_RGB (&blend->info)) {
    values[0] = y;
    values[1] = (b - y) / (2 * (1 - kb));
    values[2] = (r - y) / (2 * (1 - kr));
  }
  for (guint c = 0; c < 3; c++) {
    gdouble value = blend->offset[c] + blend->scale[c] * values[c] + 0.5;

    color.component[c] = (guint8) CLAMP (value, 0, 255);
  }
  return color;
}

/* Number of components that have colour: not alpha; one for grey. */
static guint
n_components (const GstVideoFrame *frame)
{
  return MIN (GST_VIDEO_FRAME_N_COMPONENTS (frame), 3);
}

/* Subsampling: a sample of the component for 1 << n pixels, across and down. */
typedef struct {
  guint8 *data;
  gint stride, step;
  gint width, height;
  guint sub_x, sub_y;
} Component;

static Component
get_component (GstVideoFrame *frame, guint c)
{
  return (Component){ GST_VIDEO_FRAME_COMP_DATA (frame, c),
    GST_VIDEO_FRAME_COMP_STRIDE (frame, c),
    GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c),
    GST_VIDEO_FRAME_COMP_WIDTH (frame, c),
    GST_VIDEO_FRAME_COMP_HEIGHT (frame, c),
    GST_VIDEO_FORMAT_INFO_W_SUB (frame->info.finfo, c),
    GST_VIDEO_FORMAT_INFO_H_SUB (frame->info.finfo, c) };
}

/* @weight: 0..256 */
static inline guint8
mix (guint8 from, guint8 to, guint weight)
{
  return (guint8) ((from * (256 - weight) + to * weight + 128) >> 8);
}

/* --- rectangles ------------------------------------------------------------ */

static void
mix_row (guint8 *to, gint step, gint n, guint8 value, guint weight)
{
  if (step == 1) { /* the compiler vectorises this loop */
    for (gint x = 0; x < n; x++)
      to[x] = mix (to[x], value, weight);
  } else {
    for (gint x = 0; x < n; x++, to += step)
      *to = mix (*to, value, weight);
  }
}

/* The first sample that does not lie before the pixel @at. */
static gint
first_sample (gint at, guint sub, gint end)
{
  return CLAMP ((at + (1 << sub) - 1) >> sub, 0, end);
}

void
gst_motion_blend_rectangle (GstMotionBlend *blend, GstVideoFrame *frame,
    const GstVideoRectangle *rectangle, GstMotionColor color, gdouble opacity)
{
  guint weight = (guint) (CLAMP (opacity, 0, 1) * 256 + 0.5);
  gint left = CLAMP (rectangle->x, 0, GST_VIDEO_FRAME_WIDTH (frame));
  gint top = CLAMP (rectangle->y, 0, GST_VIDEO_FRAME_HEIGHT (frame));
  gint right =
      MIN ((gint64) rectangle->x + rectangle->w, GST_VIDEO_FRAME_WIDTH (frame));
  gint bottom = MIN (
      (gint64) rectangle->y + rectangle->h, GST_VIDEO_FRAME_HEIGHT (frame));

  if (weight == 0)
    return;
  for (guint c = 0; c < n_components (frame); c++) {
    Component to = get_component (frame, c);
    gint x = first_sample (left, to.sub_x, to.width);
    gint n = first_sample (right, to.sub_x, to.width) - x;
    gint end = first_sample (bottom, to.sub_y, to.height);

    for (gint y = first_sample (top, to.sub_y, to.height); y < end; y++)
      mix_row (to.data + (gsize) y * to.stride + x * to.step, to.step, n,
          color.component[c], weight);
  }
}

/* --- masks ----------------------------------------------------------------- */

/* The mean of the mask's pixels for each of @n samples of a row; in each format a
 * sample covers at most two pixels across. @width, @rows: size of the mask */
static const guint8 *
shrink_row (GstMotionBlend *blend, const guint8 *mask, gsize stride, gint width,
    gint rows, const Component *to, gint n)
{
  guint shift = to->sub_x + to->sub_y, half = 1u << shift >> 1;
  guint16 *sums = blend->sums;

  width = MIN (n << to->sub_x, width);
  for (gint x = 0; x < width; x++)
    sums[x] = mask[x];
  for (gint y = 1; y < rows; y++)
    for (gint x = 0; x < width; x++)
      sums[x] += mask[y * stride + x];
  sums[width] = 0; /* the last sample may lie half beyond the edge */
  if (to->sub_x)
    for (gint i = 0; i < n; i++)
      blend->row[i] =
          (guint8) ((sums[2 * i] + sums[2 * i + 1] + half) >> shift);
  else
    for (gint i = 0; i < n; i++)
      blend->row[i] = (guint8) ((sums[i] + half) >> shift);
  return blend->row;
}

#define CHUNK 16 /* pixels of a mask that are tested together */

static gboolean
is_empty (const guint8 *at)
{
  guint64 words[CHUNK / 8];

  memcpy (words, at, sizeof (words));
  return (words[0] | words[1]) == 0;
}

static inline void
mix_pixels (guint8 *to, gint step, const guint8 *mask, gint n, guint8 value)
{
  for (gint x = 0; x < n; x++)
    to[x * step] = mix (to[x * step], value, mask[x] + (mask[x] >> 7));
}

/* Blends one row; skips the empty parts of the mask, which are most of it. */
static void
mix_masked_row (guint8 *to, gint step, const guint8 *mask, gint n, guint8 value)
{
  gint x = 0;

  for (; x + CHUNK <= n; x += CHUNK) {
    if (is_empty (mask + x))
      continue;
    if (step == 1)
      mix_pixels (to + x, 1, mask + x, CHUNK, value);
    else
      mix_pixels (to + x * step, step, mask + x, CHUNK, value);
  }
  mix_pixels (to + x * step, step, mask + x, n - x, value);
}

/* @n_to components of the same size and subsampling */
static void
mix_masked (GstMotionBlend *blend, const Component *to, guint n_to,
    const guint8 *mask, gsize stride, const GstVideoRectangle *area,
    const guint8 *values)
{
  gint width = GST_VIDEO_INFO_WIDTH (&blend->info);
  gint height = GST_VIDEO_INFO_HEIGHT (&blend->info);
  gint left = area->x >> to->sub_x, right = area->x + area->w;
  gint n = MIN ((right + (1 << to->sub_x) - 1) >> to->sub_x, to->width) - left;
  gint y = area->y >> to->sub_y;

  for (; y < to->height && y << to->sub_y < area->y + area->h; y++) {
    gint x0 = left << to->sub_x, y0 = y << to->sub_y;
    const guint8 *from = mask + y0 * stride + x0;

    if (to->sub_x || to->sub_y)
      from = shrink_row (blend, from, stride, width - x0,
          MIN (1 << to->sub_y, height - y0), to, n);
    for (guint c = 0; c < n_to; c++)
      mix_masked_row (to[c].data + (gsize) y * to[c].stride + left * to[c].step,
          to[c].step, from, n, values[c]);
  }
}

void
gst_motion_blend_mask (GstMotionBlend *blend, GstVideoFrame *frame,
    const guint8 *mask, gsize stride, const GstVideoRectangle *area,
    GstMotionColor color)
{
  Component to[3] = { get_component (frame, 0) };
  guint n = n_components (frame);

  for (guint c = 1; c < n; c++)
    to[c] = get_component (frame, c);
  mix_masked (blend, to, 1, mask, stride, area, color.component);
  if (n > 1)
    mix_masked (blend, to + 1, n - 1, mask, stride, area, color.component + 1);
}
