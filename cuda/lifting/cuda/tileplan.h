/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Computes the constants of the tile kernels. */
#pragma once

#include "cuda/lifting/cuda/tileconstants.h"
#include "cuda/lifting/engine.h"

G_BEGIN_DECLS

/* The kernels of a wavelet, a type and a boundary */
typedef enum {
  LWT_TILE_FORWARD,
  LWT_TILE_FORWARD_SMALL, /* of pictures that would not have enough tiles */
  LWT_TILE_INVERSE,
  LWT_TILE_INVERSE_SMALL,
  LWT_TILE_PARTS,
  LWT_TILE_KERNELS,
} LwtTileKernel;

extern const gchar *const lwt_tile_kernel_names[LWT_TILE_KERNELS];

/* FALSE: the steps reach too far, or are too many. */
gboolean lwt_tile_plan_init (LwtTilePlan *plan, LwtTileKernel kernel,
    const LwtWavelet *wavelet, LwtType type, LwtBoundary boundary);
/* Pairs of a kind that a tile needs along an axis */
gint lwt_tile_get_inputs (const LwtTileLine *line, gint kind);
/* Bytes of shared memory */
gsize lwt_tile_plan_get_shared (const LwtTilePlan *plan, LwtType type);

/* Axis @which of @n samples. FALSE: it is too short, or an odd period. */
gboolean lwt_tile_axis_init (LwtTileAxis *axis, const LwtTilePlan *plan,
    gint which, gint n, const gint shift[2]);

/* The source of kernel @name, which includes cuda/lifting/cuda/tile.cuh. */
void lwt_tile_plan_print (
    const LwtTilePlan *plan, LwtType type, const gchar *name, GString *text);

G_END_DECLS
