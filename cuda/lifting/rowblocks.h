/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A picture in bands of rows, each transformed as a picture of its own, to the
 * same bits.
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
 * LwtBands:
 * @grid: 2^levels along y
 * @halo: rows more than asked for on a side that is no edge
 * @rows: asked of each band but the last one
 */
typedef struct {
  const LwtPlan *plan;
  guint grid, halo, rows, n;
} LwtBands;

/* @first, @n: rows of the whole that come out; @top, @height: those that it is
 * made of, from -@halo on if the boundary is periodic */
typedef struct {
  guint first, n;
  gint top;
  guint height;
} LwtBandOfRows;

/* Grid and halo of @plan's operation, without bands yet.
 * Returns: FALSE with CVIS_ERROR_INVALID if it cannot be done in bands. */
gboolean lwt_bands_init (LwtBands *bands, const LwtPlan *plan, GError **error);
/* Bands of @rows, a multiple of the grid. */
void lwt_bands_cut (LwtBands *bands, guint rows);
/* Rows of the largest picture. */
guint lwt_bands_get_height (const LwtBands *bands);
void lwt_bands_get (const LwtBands *bands, guint i, LwtBandOfRows *band);
/* @whole, of the picture, for a band's @height. */
void lwt_bands_chain (const LwtChain *whole, guint height, LwtChain *chain);

/* Pieces of a band's picture and of the whole that are the same: rows from @own
 * and @whole on, in @width columns from @column on */
typedef struct {
  guint own, whole, n;
  guint column, width;
} LwtRun;

/* The output of each level lies in two places, the last low band in a third; each
 * may go round the edge. */
#define LWT_MAX_RUNS (4 * (2 * LWT_MAX_LEVELS + 1))

/* @all: all rows of the band's picture, else those that come out.
 * @mallat: of coefficients in Mallat's layout; else of samples, or of coefficients
 * that lie among each other. Returns: how many runs. */
guint lwt_bands_get_runs (const LwtBands *bands, const LwtBandOfRows *band,
    gboolean mallat, gboolean all, LwtRun runs[LWT_MAX_RUNS]);

G_END_DECLS
