/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums over the grain of many frames. statistics.c fills them, model.c reads them. */
#pragma once

#include "cuda/filmgrain/filmgrain.h"

G_BEGIN_DECLS

/* Distances of two neighbours of the model: rows 0 to 3, columns -6 to 6 */
#define FILM_GRAIN_ROWS (FILM_GRAIN_LAG + 1)
#define FILM_GRAIN_REACH (2 * FILM_GRAIN_LAG)
#define FILM_GRAIN_COLUMNS (2 * FILM_GRAIN_REACH + 1)

/**
 * FilmGrainSums: of a component, in levels of the full depth
 * @samples, @level, @grain, @squares: by the level of the luma: number of samples, sums of
 *   their luma's 8-bit levels, of their grain and of its squares
 * @pairs, @products: number of pairs of samples at each distance, sum of their products;
 *   column FILM_GRAIN_REACH is distance 0
 * @luma_pairs, @luma_products: of chroma: of the luma's sum at a sample with the chroma at
 *   each neighbour, and at the sample itself
 * @luma_squares: of the luma's sums
 */
typedef struct {
  gint64 samples[FILM_GRAIN_POINTS], level[FILM_GRAIN_POINTS],
      grain[FILM_GRAIN_POINTS], squares[FILM_GRAIN_POINTS];
  gint64 pairs[FILM_GRAIN_ROWS][FILM_GRAIN_COLUMNS],
      products[FILM_GRAIN_ROWS][FILM_GRAIN_COLUMNS];
  gint64 luma_pairs[FILM_GRAIN_NEIGHBOURS + 1],
      luma_products[FILM_GRAIN_NEIGHBOURS + 1];
  gint64 luma_squares;
} FilmGrainSums;

/* Row and column of neighbour @i relative to the sample: -3, -3 to 0, -1; i =
 * FILM_GRAIN_NEIGHBOURS: 0, 0 */
static inline gint
film_grain_row (guint i)
{
  return (gint) (i / (FILM_GRAIN_REACH + 1)) - FILM_GRAIN_LAG;
}

static inline gint
film_grain_column (guint i)
{
  return (gint) (i % (FILM_GRAIN_REACH + 1)) - FILM_GRAIN_LAG;
}

/* Parameters from the sums of the components, model.c */
void film_grain_solve (const FilmGrainFormat *format,
    const FilmGrainSums sums[3], FilmGrainParameters *into);

G_END_DECLS
