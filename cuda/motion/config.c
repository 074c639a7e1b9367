/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/motion/backend.h"

void
motion_config_init (MotionConfig *config)
{
  *config = (MotionConfig){
    .sampling = 1,
    .depth = 8,
    .method = MOTION_METHOD_FULL,
    .granularity = MOTION_GRANULARITY_3,
    .block_size = 32,
    .range = 64,
    .window = MOTION_WINDOW_HALF_OPEN,
    .border = MOTION_BORDER_PAD,
    .tie = MOTION_TIE_SHORT,
    .subpel = MOTION_SUBPEL_NONE,
    .references = 1,
    .depth_in_flight = 2,
  };
}

/* A chunk does not begin with the field of the frame before. */
static gboolean
check_chunk (const MotionConfig *config, GError **error)
{
  if (!cvis_check_range ("chunk", config->chunk, 0, 256, error))
    return FALSE;
  return config->chunk == 0 || !motion_config_needs_prior (config)
         || cvis_refuse (error,
             "a zonal search, and lambda above 0, start from the vectors of "
             "the "
             "frame before, so frames are not computed in chunks");
}

gboolean
motion_config_check (const MotionConfig *config, GError **error)
{
  guint size = config->block_size;

  if (config->depth != 8 && config->depth != 10)
    return cvis_refuse (error, "depth is %u, must be 8 or 10", config->depth);
  if (size != 8 && size != 16 && size != 32 && size != 64)
    return cvis_refuse (
        error, "block-size is %u, must be 8, 16, 32 or 64", size);
  return cvis_check_range ("width", config->width, 1, 16384, error)
         && cvis_check_range ("height", config->height, 1, 16384, error)
         && cvis_check_range ("sampling", config->sampling, 1, 256, error)
         && cvis_check_range (
             "method", config->method, 0, MOTION_METHOD_FIELD, error)
         && cvis_check_range ("granularity", config->granularity, 0,
             MOTION_GRANULARITY_PAPER_13, error)
         && cvis_check_range ("search-range", config->range, 1, 128, error)
         && cvis_check_range (
             "window", config->window, 0, MOTION_WINDOW_INCLUSIVE, error)
         && cvis_check_range (
             "border", config->border, 0, MOTION_BORDER_INSIDE, error)
         && cvis_check_range ("tie", config->tie, 0, MOTION_TIE_SHORT, error)
         && cvis_check_range ("lambda", config->lambda, 0, 255, error)
         && cvis_check_range (
             "subpel", config->subpel, 0, MOTION_SUBPEL_QUARTER, error)
         && cvis_check_range ("references", config->references, 1, 4, error)
         && cvis_check_range (
             "frames in flight", config->depth_in_flight, 1, 32, error)
         && check_chunk (config, error);
}

guint
motion_config_get_columns (const MotionConfig *config)
{
  return (config->width + config->block_size - 1) / config->block_size;
}

guint
motion_config_get_rows (const MotionConfig *config)
{
  return (config->height + config->block_size - 1) / config->block_size;
}

guint
motion_config_get_n_fields (const MotionConfig *config)
{
  return config->references * (config->bidirectional ? 2 : 1);
}

guint
motion_config_get_n_slots (const MotionConfig *config)
{
  return config->depth_in_flight
         + (config->bidirectional ? config->references : 0);
}

/* The frames in flight, and the references of the oldest of them; with chunks the frames
 * that two chunks load. */
guint
motion_config_get_n_pictures (const MotionConfig *config)
{
  const guint slots = motion_config_get_n_slots (config);

  if (config->chunk == 0)
    return slots + config->references;
  return slots + 2 * motion_config_get_n_fields (config);
}

gboolean
motion_config_needs_prior (const MotionConfig *config)
{
  switch (config->method) {
    case MOTION_METHOD_ZONAL:
      return TRUE;
    case MOTION_METHOD_FIELD:
      return FALSE;
    default:
      return config->lambda != 0;
  }
}
