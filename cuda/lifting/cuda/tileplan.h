/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Computes the constants of the tile kernels. */
#pragma once

#include "cuda/lifting/cuda/tileconstants.h"
#include "cuda/lifting/engine.h"

G_BEGIN_DECLS

/* The kernels of a wavelet, type and boundary */
typedef enum {
  LWT_TILE_FORWARD,
  LWT_TILE_FORWARD_SMALL, /* for pictures with too few large tiles */
  LWT_TILE_INVERSE,
  LWT_TILE_INVERSE_SMALL,
  LWT_TILE_PARTS,
  LWT_TILE_TWO_LEVELS, /* cuda/lifting/cuda/window.cuh */
  LWT_TILE_TWO_LEVELS_INVERSE,
  LWT_TILE_TWO_LEVELS_PARTS,
  LWT_TILE_KERNELS,
} LwtTileKernel;

extern const gchar *const lwt_tile_kernel_names[LWT_TILE_KERNELS];

/* FALSE: the steps reach too far, or there are too many. */
gboolean lwt_tile_plan_init (LwtTilePlan *plan, LwtTileKernel kernel,
    const LwtWavelet *wavelet, LwtType type, LwtBoundary boundary);
/* Pairs of a kind that a tile reads along an axis */
gint lwt_tile_get_inputs (const LwtTileLine *line, gint kind);
/* Bytes of shared memory */
gsize lwt_tile_plan_get_shared (const LwtTilePlan *plan, LwtType type);

/* Axis @which of @n samples. FALSE: it is too short, or its period is odd. */
gboolean lwt_tile_axis_init (LwtTileAxis *axis, const LwtTilePlan *plan,
    gint which, gint n, const gint shift[2]);

/* Prints the source of kernel @name, which includes
 * cuda/lifting/cuda/tile.cuh. */
void lwt_tile_plan_print (
    const LwtTilePlan *plan, LwtType type, const gchar *name, GString *text);

/* A kernel that is compiled with the project, and the constants that it is compiled
 * with; float. precompile.c writes the list, which ends with a plan of NULL. */
typedef struct {
  int kernel; /* LwtTileKernel */
  const LwtTilePlan *plan;
  const void *function;
} LwtPrecompiled;

extern const LwtPrecompiled lwt_precompiled[];

G_END_DECLS
