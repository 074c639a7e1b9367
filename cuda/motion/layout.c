/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/motion/layout.h"

static guint32
round_up (guint n, guint to)
{
  return (n + to - 1) / to * to;
}

/* Vectors reach one sample beyond the range; whole blocks are read, and a word more. */
static MotionPlaneLayout
lay_out_level (const MotionConfig *config, guint level)
{
  guint border = (guint) motion_field_range (config, level) + 2;
  guint beyond = border + MOTION_FIELD_COARSE_BLOCK + 8;
  guint left = round_up (border, 16);

  return (MotionPlaneLayout){
    .left = left,
    .top = border,
    .pitch = round_up (
        left + (guint) motion_field_size (config->width, level) + beyond, 128),
    .rows = border + (guint) motion_field_size (config->height, level) + beyond,
  };
}

/* Border width: the range and the interpolation taps; on the right and below
 * one more block, because partial blocks and groups of candidates are read
 * whole. */
void
motion_layout_init (MotionLayout *layout, const MotionConfig *config)
{
  guint range = config->range, reduced = MAX (range / 4, 1);
  guint beyond = range + config->block_size + 32;
  guint quarter_beyond = reduced + MAX (config->block_size / 4, 4) + 8;

  *layout = (MotionLayout){
    .left = round_up (range + 8, 16),
    .top = range + 8,
    .rows = range + 8 + config->height + beyond,
    .quarter_width = (config->width + 3) / 4,
    .quarter_height = (config->height + 3) / 4,
    .quarter_left = round_up (reduced, 16),
    .quarter_top = reduced,
    .quarter_rows = reduced + (config->height + 3) / 4 + quarter_beyond,
    .staged_pitch = round_up (config->width * (config->depth > 8 ? 2 : 1), 16),
  };
  layout->pitch = round_up (layout->left + config->width + beyond, 128);
  layout->quarter_pitch = round_up (
      layout->quarter_left + layout->quarter_width + quarter_beyond, 128);
  for (guint i = 1; i < MOTION_FIELD_LEVELS; i++)
    layout->levels[i] = lay_out_level (config, i);
}

/* The next @size bytes of @memory; %NULL if it is %NULL. */
static guint8 *
cut_plane (guint8 *memory, gsize *at, gsize size)
{
  guint8 *piece = memory ? memory + *at : NULL;

  *at += size;
  return piece;
}

/* The planes and arrays of method=field; see cut_plane(). */
static void
cut_field (const MotionConfig *config, const MotionLayout *layout,
    guint8 *memory, gsize *size, MotionDevicePicture *p)
{
  gsize samples = (gsize) layout->pitch * layout->rows;
  gsize first = (gsize) layout->top * layout->pitch + layout->left;

  p->levels[0] = p->search;
  for (guint i = 1; i < MOTION_FIELD_LEVELS; i++) {
    const MotionPlaneLayout *level = &layout->levels[i];

    p->levels[i] = cut_plane (memory, size, (gsize) level->pitch * level->rows);
    if (memory)
      p->levels[i] += (gsize) level->top * level->pitch + level->left;
  }
  for (guint i = 0; i < 3; i++) {
    p->halves[i] = cut_plane (memory, size, samples);
    if (memory)
      p->halves[i] += first;
  }
  /* one after the other: motion_launch_field_picture() clears them together */
  p->survey = (MotionSurvey *) cut_plane (memory, size, sizeof *p->survey);
  p->lines = (guint32 *) cut_plane (memory, size,
      2 * (gsize) (config->width + config->height) * sizeof *p->lines);
}

gsize
motion_picture_cut (const MotionConfig *config, const MotionLayout *layout,
    guint8 *memory, MotionDevicePicture *picture)
{
  gsize samples = (gsize) layout->pitch * layout->rows, size = 0;
  gsize first = (gsize) layout->top * layout->pitch + layout->left;
  MotionDevicePicture p = { .search = cut_plane (memory, &size, samples) };

  if (config->depth > 8)
    p.full = (guint16 *) cut_plane (memory, &size, 2 * samples);
  for (guint i = 0; i < 3 && config->method == MOTION_METHOD_FULL; i++)
    p.sums[i] = (guint16 *) cut_plane (memory, &size, 2 * samples);
  if (config->method == MOTION_METHOD_FULL
      || config->method == MOTION_METHOD_ZONAL)
    p.quarter = cut_plane (
        memory, &size, (gsize) layout->quarter_pitch * layout->quarter_rows);
  if (memory)
    p.search += first;
  if (config->method == MOTION_METHOD_FIELD)
    cut_field (config, layout, memory, &size, &p);
  if (memory == NULL)
    return size;
  p.full = p.full ? p.full + first : NULL;
  for (guint i = 0; i < 3; i++)
    p.sums[i] = p.sums[i] ? p.sums[i] + first : NULL;
  if (p.quarter)
    p.quarter += (gsize) layout->quarter_top * layout->quarter_pitch
                 + layout->quarter_left;
  *picture = p;
  return size;
}
