/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A picture in row blocks, each transformed as a picture of its own, with
 * the same bits.
 *
 * The first row of a block's picture is a multiple of 2^levels, so that its
 * samples keep their parity on all levels. Its edges are the whole picture's
 * edges where it reaches them. Elsewhere it has additional rows, the halo,
 * which absorb the errors from the artificial edge: each level spoils as
 * many samples as its steps reach. With the boundary `periodic`, rows beyond
 * the edge come from the other end, which keeps the parity only if the
 * height is a multiple of 2^levels. */
#pragma once

#include "cuda/lifting/backend.h"

G_BEGIN_DECLS

/**
 * LwtRowBlocks:
 * @grid: 2^levels along y
 * @halo: additional rows on a side that is no edge
 * @rows: output rows of each block except the last; with @height also except the first
 * @height: rows of each block's picture; 0: as few as possible
 */
typedef struct {
  const LwtPlan *plan;
  guint grid, halo, rows, n;
  guint height;
} LwtRowBlocks;

/* @first, @n: output rows in the whole picture; @top, @height: input rows,
 *   from -@halo on if the boundary is periodic */
typedef struct {
  guint first, n;
  gint top;
  guint height;
} LwtRowBlock;

/* Computes grid and halo for @plan's operation; lwt_row_blocks_cut() comes
 * next.
 * Returns: FALSE with CVIS_ERROR_INVALID if row blocks cannot give the same
 * bits. */
gboolean lwt_row_blocks_init (
    LwtRowBlocks *blocks, const LwtPlan *plan, GError **error);
/* Cuts into blocks of @rows, a multiple of the grid. */
void lwt_row_blocks_cut (LwtRowBlocks *blocks, guint rows);
/* Cuts into @n blocks, or fewer, whose pictures all have the same height: one engine
 * computes all of them. Blocks at an edge have one halo and therefore more output rows.
 * Returns: FALSE if the halos leave no room for so many */
gboolean lwt_row_blocks_cut_even (LwtRowBlocks *blocks, guint n);
/* Rows of the largest block's picture, with its halo. */
guint lwt_row_blocks_get_height (const LwtRowBlocks *blocks);
void lwt_row_blocks_get (
    const LwtRowBlocks *blocks, guint i, LwtRowBlock *block);
/* The chain @whole of the picture, for a block's @height. */
void lwt_row_blocks_chain (
    const LwtChain *whole, guint height, LwtChain *chain);

/* The output of each level is in two places, the last low band in a third;
 * each may wrap around the edge. */
#define LWT_MAX_RUNS (4 * (2 * LWT_MAX_LEVELS + 1))

/* @all: all rows of the block's picture, otherwise the output rows. @mallat:
 *   coefficients in Mallat's layout; otherwise samples, or interleaved
 *   coefficients. Returns: the number of runs */
guint lwt_row_blocks_get_runs (const LwtRowBlocks *blocks,
    const LwtRowBlock *block, gboolean mallat, gboolean all,
    LwtRect runs[LWT_MAX_RUNS]);
/* Output rows and columns of a block without the padding; @whole is a row of the
 * unpadded picture. There may be none. */
LwtRect lwt_row_blocks_get_cropped (
    const LwtRowBlocks *blocks, const LwtRowBlock *block);

G_END_DECLS
