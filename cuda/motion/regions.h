/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Regions that move otherwise than the whole frame: rectangles round the blocks
 * whose vectors differ from the global motion. */
#pragma once

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

#define MOTION_MAX_REGIONS 16

/**
 * MotionRegion: a rectangle of the frame
 * @x, @y, @width, @height: pixels
 * @blocks: how many of its blocks move
 */
typedef struct {
  guint x, y, width, height;
  guint blocks;
} MotionRegion;

/* Holds the memory for grids of @config. Not locked. */
typedef struct _MotionRegionFinder MotionRegionFinder;
MotionRegionFinder *motion_region_finder_new (const MotionConfig *config);
void motion_region_finder_free (MotionRegionFinder *finder);

/* Blocks that touch, at a corner too, are one region; regions whose rectangles
 * overlap are joined. A block takes part whose vector is at least @min_motion
 * pixels from what the global motion of @field is there, unless its vector says
 * nothing: it is intra-like, or another one does about as well.
 * @regions: room for MOTION_MAX_REGIONS; those of most blocks, falling
 * Returns: how many there are. */
guint motion_find_regions (MotionRegionFinder *finder, const MotionField *field,
    gdouble min_motion, MotionRegion *regions);

G_END_DECLS
