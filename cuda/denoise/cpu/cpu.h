/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The denoiser on the CPU: what cpu/engine.c, which keeps the order of the passes, and
 * cpu/temporal.c and cpu/spatial.c, which compute them, share. */
#pragma once

#include "cuda/denoise/arithmetic.h"
#include "cuda/motion/engine.h"

G_BEGIN_DECLS

/* Samples of 10 bits with the edge repeated round them.
 * @samples: sample (0, 0) of the planes of denoise_phase(); a plane without halves has
 *   only the first */
typedef struct {
  guint16 *samples[4];
  gssize stride;
  gpointer memory;
} DenoiseCpuPlane;

/* A block search: the block of each place of @current in @reference.
 * @vectors, @blocks: of the field that leads to @reference, half samples
 * @columns, @rows: of the field
 * @from: (nullable): the matches in the frame from which the field starts; %NULL: that is
 *   @current
 * @noise: of @current, 1/16 levels
 * @n_components: those that are compared */
typedef struct {
  const DenoiseShape *shapes;
  const DenoiseCpuPlane *current, *reference;
  const CvisMotionVector *vectors;
  const CvisMotionBlock *blocks;
  gint32 columns, rows;
  const DenoiseMatch *from;
  gint32 blocks_across, noise, n_components;
  DenoiseMatch *into;
} DenoiseCpuSearch;

/* A frame that the mean takes samples of.
 * @left: (nullable): of each component, variance of each cell's noise, 1/256; %NULL: 256 */
typedef struct {
  const DenoiseCpuPlane *planes;
  const DenoiseMatch *matches;
  const guint16 *left[3];
} DenoiseCpuReference;

/* The mean over time of component @component.
 * @noise: 1/16 levels, times the strength; @steady_noise: where denoise_is_steady()
 * @left: (out): variance of each cell's noise that is left, 1/256 */
typedef struct {
  const DenoiseShape *shapes;
  const DenoiseCpuPlane *current;
  DenoiseCpuReference references[DENOISE_MAX_REFERENCES];
  guint n_references, component;
  gint32 cells_across, cells_down;
  gint32 noise[3], steady_noise[3];
  DenoiseCpuPlane into;
  guint16 *left;
} DenoiseCpuMean;

/* The spatial filter of a plane.
 * @width, @height: at least a patch
 * @pilot: with the group filter, the result of the transform filter
 * @sums, @weights: of the size of the plane, with a border */
typedef struct {
  gint32 width, height, cell_x, cell_y, cells_across, cells_down;
  const guint16 *left; /* (nullable) */
  gfloat noise;
  DenoiseCpuPlane from, pilot;
  gint32 *sums, *weights;
  gssize stride;
} DenoiseCpuSpatial;

/* Compiled for each instruction set; each computes rows @first to @first + @n - 1 */
typedef struct {
  /* of samples: the planes between the pixels; row 0 is -REACH - 4 */
  void (*halves) (
      const DenoiseCpuPlane *plane, gint32 width, gint32 first, gint32 n);
  /* of blocks */
  void (*search) (const DenoiseCpuSearch *search, gint32 first, gint32 n);
  /* of cells */
  void (*mean) (const DenoiseCpuMean *mean, gint32 first, gint32 n);
  /* of patches: adds to the sums and weights of their samples, and of SEARCH samples
   * above and below */
  void (*shrink) (const DenoiseCpuSpatial *spatial, gint32 first, gint32 n);
  void (*group) (const DenoiseCpuSpatial *spatial, gint32 first, gint32 n);
} DenoiseCpuKernels;

extern const DenoiseCpuKernels denoise_cpu_kernels_generic;
extern const DenoiseCpuKernels denoise_cpu_kernels_v3;
extern const DenoiseCpuKernels denoise_cpu_kernels_v4;

/* The spatial half of the table, in cpu/spatial.c */
#define DENOISE_CPU_PASTE(name, level) name##_##level
#define DENOISE_CPU_NAME(name, level) DENOISE_CPU_PASTE (name, level)
#ifdef DENOISE_CPU_LEVEL
void DENOISE_CPU_NAME (denoise_cpu_shrink, DENOISE_CPU_LEVEL) (
    const DenoiseCpuSpatial *spatial, gint32 first, gint32 n);
void DENOISE_CPU_NAME (denoise_cpu_group, DENOISE_CPU_LEVEL) (
    const DenoiseCpuSpatial *spatial, gint32 first, gint32 n);
#endif

G_END_DECLS
