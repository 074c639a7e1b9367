/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Regions with their own motion: rectangles around the blocks whose vectors
 * differ from the global motion. */
#pragma once

#include "cuda/motion/engine.h"

G_BEGIN_DECLS

#define MOTION_MAX_REGIONS 16

/**
 * MotionRegion: a rectangle of the frame
 * @x, @y, @width, @height: pixels
 * @blocks: number of moving blocks in it
 */
typedef struct {
  guint x, y, width, height;
  guint blocks;
} MotionRegion;

/* Memory for grids of @config. Not thread-safe. */
typedef struct _MotionRegionFinder MotionRegionFinder;
/* Returns: %NULL with CVIS_ERROR_MEMORY */
MotionRegionFinder *motion_region_finder_new (
    const MotionConfig *config, GError **error);
void motion_region_finder_free (MotionRegionFinder *finder);

/* Finds regions. Blocks that touch, also at a corner, form one region;
 * regions with overlapping rectangles are joined. A block moves if its
 * vector is at least @min_motion pixels from the global motion of @field at
 * its centre and is reliable: the block is not intra-like, and no other
 * vector fits about as well.
 * @regions: memory for MOTION_MAX_REGIONS entries; filled by falling number
 *   of blocks
 * @left_out: (out) (nullable): number of smaller regions for which there was
 *   no entry
 * Returns: number of regions */
guint motion_find_regions (MotionRegionFinder *finder, const MotionField *field,
    gdouble min_motion, MotionRegion *regions, guint *left_out);

G_END_DECLS
