/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Converts samples of files to heights, block by block. Compiled once for
 * each instruction set; all give the same bits. */
#pragma once

#include "cuda/surface/bytes.h"

G_BEGIN_DECLS

/* largest number of samples of a block; sums of blocks are added in order,
 * so the mean does not depend on the threads */
#define SURFACE_BLOCK 8192

/**
 * SurfaceSum: over the valid heights of a block
 * @sum: of their differences from a reference height, which keeps precision
 * @there: number of valid heights
 */
typedef struct {
  gdouble sum;
  gsize there;
} SurfaceSum;

/**
 * SurfaceKernels:
 * @sum: sums @n samples at @raw as differences from @first
 * @to_f32, @to_f64: heights minus @offset, NaN for missing points. Return:
 *   the number of valid ones
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

/* The functions for this processor. */
const SurfaceKernels *surface_kernels (void);

G_END_DECLS
