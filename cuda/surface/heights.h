/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Samples of files to heights, block by block: the loops over samples. Compiled
 * once for each instruction set; all give the same bits. */
#pragma once

#include "cuda/surface/bytes.h"

G_BEGIN_DECLS

/* samples of a block at most; sums of blocks are added in their order, so that
 * the mean does not depend on the threads that share the blocks */
#define SURFACE_BLOCK 8192

/**
 * SurfaceSum: of the heights of a block that are there
 * @sum: of their differences from a height in the middle of all, which keep
 *   their digits
 * @there: how many
 */
typedef struct {
  gdouble sum;
  gsize there;
} SurfaceSum;

/**
 * SurfaceKernels:
 * @sum: adds up @n samples at @raw; differences are those from @first
 * @to_f32, @to_f64: heights less @offset, NaN where a point is missing.
 *   Returns: how many are there
 */
typedef struct {
  SurfaceSum (*sum) (
      const SurfaceLayout *layout, const guint8 *raw, gsize n, gdouble first);
  gsize (*to_f32) (const SurfaceLayout *layout, const guint8 *raw, gsize n,
      gdouble offset, gpointer to);
  gsize (*to_f64) (const SurfaceLayout *layout, const guint8 *raw, gsize n,
      gdouble offset, gpointer to);
} SurfaceKernels;

extern const SurfaceKernels surface_kernels_generic;
extern const SurfaceKernels surface_kernels_v3;
extern const SurfaceKernels surface_kernels_v4;

/* Those of this processor. */
const SurfaceKernels *surface_kernels (void);

G_END_DECLS
