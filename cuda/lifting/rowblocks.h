/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A picture in row blocks, each transformed as a picture of its own, to the same bits.
 *
 * The first row of such a picture is a multiple of 2^levels, so that its samples
 * are even and odd ones as they were on all levels. Its edges are those of the
 * whole where it reaches them; elsewhere it has rows more than it is asked for,
 * the halo, which take up all that is wrong near an edge where there is none: a
 * level spoils as many samples as its steps reach. With the boundary `periodic`
 * rows beyond the edge are those of the other end, which only lie in step with
 * the levels where the height is a multiple of 2^levels. */
#pragma once

#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

/**
 * LwtRowBlocks:
 * @grid: 2^levels along y
 * @halo: rows more than asked for on a side that is no edge
 * @rows: asked of each block but the last one
 */
typedef struct {
  const LwtPlan *plan;
  guint grid, halo, rows, n;
} LwtRowBlocks;

/* @first, @n: rows of the whole that come out; @top, @height: those that it is
 * made of, from -@halo on if the boundary is periodic */
typedef struct {
  guint first, n;
  gint top;
  guint height;
} LwtRowBlock;

/* Grid and halo of @plan's operation, without blocks yet.
 * Returns: FALSE with CVIS_ERROR_INVALID if it cannot be done in row blocks. */
gboolean lwt_row_blocks_init (
    LwtRowBlocks *blocks, const LwtPlan *plan, GError **error);
/* Blocks of @rows, a multiple of the grid. */
void lwt_row_blocks_cut (LwtRowBlocks *blocks, guint rows);
/* Rows of the largest picture. */
guint lwt_row_blocks_get_height (const LwtRowBlocks *blocks);
void lwt_row_blocks_get (
    const LwtRowBlocks *blocks, guint i, LwtRowBlock *block);
/* @whole, of the picture, for a block's @height. */
void lwt_row_blocks_chain (
    const LwtChain *whole, guint height, LwtChain *chain);

/* Pieces of a block's picture and of the whole that are the same: rows from @own
 * and @whole on, in @width columns from @column on */
typedef struct {
  guint own, whole, n;
  guint column, width;
} LwtRun;

/* The output of each level lies in two places, the last low band in a third; each
 * may go round the edge. */
#define LWT_MAX_RUNS (4 * (2 * LWT_MAX_LEVELS + 1))

/* @all: all rows of the block's picture, else those that come out.
 * @mallat: of coefficients in Mallat's layout; else of samples, or of coefficients
 * that lie among each other. Returns: how many runs. */
guint lwt_row_blocks_get_runs (const LwtRowBlocks *blocks,
    const LwtRowBlock *block, gboolean mallat, gboolean all,
    LwtRun runs[LWT_MAX_RUNS]);

G_END_DECLS
