/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Coefficients that count for the estimate of noise; shared by host and
 * device. See docs/design/lifting.md, Denoise. Private to the library.
 * The surface is divided into cells, from its corner. A coefficient belongs
 * to the cell of its sample, and counts if this cell has noise. */
#pragma once

#include "cuda/lifting/arithmetic.h"
#include "cuda/lifting/backend.h"

/* log2 of the samples along a cell's sides: 8 x 8, in a profile 64 */
#define LWT_CELL_SHIFT 3
#define LWT_PROFILE_SHIFT 6

typedef enum {
  LWT_CELL_MISSING,  /* all samples are missing */
  LWT_CELL_CONSTANT, /* all samples that are not missing are equal */
  LWT_CELL_BESIDE,   /* constant, and one of its 8 neighbours has noise */
  LWT_CELL_NOISE,    /* samples differ */
} LwtCell;

/* Samples in cells of two of the states */
typedef struct {
  guint64 noise, beside;
} LwtCellCounts;

/* Pictures without noise have constant cells in the middle of their content
 * (drawings, text); these show the absence of noise. Noise has them at its
 * rim only, where it ends at a constant part. */
LWT_INLINE gboolean
lwt_cell_is_used (guint8 cell, LwtCellCounts counts)
{
  return cell == LWT_CELL_NOISE
         || (cell == LWT_CELL_BESIDE && 2 * counts.beside >= counts.noise);
}

/* Number of samples in used cells. */
LWT_INLINE guint64
lwt_cell_count_used (LwtCellCounts counts)
{
  return counts.noise
         + (lwt_cell_is_used (LWT_CELL_BESIDE, counts) ? counts.beside : 0);
}

/**
 * LwtFinestAxis: an axis of the finest band that is high along all axes of
 * the first level
 * @first, @n: its entries in the picture of bands (Mallat's layout)
 * @split: entry k is sample 2 ((k + turn) mod n) + 1; otherwise sample k
 * @pad: samples of padding before the surface
 * @size: samples of the surface
 * @shift, @cells: size and number of cells
 */
typedef struct {
  guint first, n;
  gboolean split;
  guint turn;
  guint pad, size;
  guint shift, cells;
} LwtFinestAxis;

LWT_INLINE void
lwt_finest_init (LwtFinestAxis axes[2], const LwtPlan *plan)
{
  const LwtLevel *level = &plan->bands.levels[0];
  const guint all[2] = { level->width, level->height };
  const guint low[2] = { level->low_width, level->low_height };
  const guint size[2] = { plan->config.width, plan->config.height };
  const gboolean split[2] = { level->x, level->y };

  for (guint i = 0; i < 2; i++) {
    LwtFinestAxis *axis = &axes[i];

    axis->first = split[i] ? low[i] : 0;
    axis->n = all[i] - axis->first;
    axis->split = split[i];
    axis->turn = 0;
    if (split[i] && plan->config.boundary == LWT_BOUNDARY_PERIODIC) {
      const gint n = (gint) axis->n;

      axis->turn = (guint) ((plan->wavelet.shift_high % n + n) % n);
    }
    axis->pad = plan->pad[i];
    axis->size = size[i];
    axis->shift = size[!i] == 1 ? LWT_PROFILE_SHIFT : LWT_CELL_SHIFT;
    axis->cells = (axis->size + (1u << axis->shift) - 1) >> axis->shift;
  }
}

/* Cell of entry @k along an axis. Returns: -1 for entries in the padding */
LWT_INLINE gint
lwt_finest_cell (const LwtFinestAxis *axis, guint k)
{
  guint sample = k;

  if (axis->split) {
    k += axis->turn;
    sample = 2 * (k < axis->n ? k : k - axis->n) + 1;
  }
  return sample >= axis->pad && sample - axis->pad < axis->size
             ? (gint) ((sample - axis->pad) >> axis->shift)
             : -1;
}

/* Samples of a cell. */
LWT_INLINE guint
lwt_finest_cell_area (const LwtFinestAxis axes[2], guint x, guint y)
{
  const guint side = 1u << axes[0].shift, other = 1u << axes[1].shift;

  return MIN (side, axes[0].size - (x << axes[0].shift))
         * MIN (other, axes[1].size - (y << axes[1].shift));
}

/* Number of cells of a surface. */
LWT_INLINE gsize
lwt_finest_count_cells (const LwtFinestAxis axes[2])
{
  return (gsize) axes[0].cells * axes[1].cells;
}
