/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The passes of the denoiser on a device: what cuda/engine.cu, which keeps their order,
 * and the kernels share. cuda/denoise/cpu/cpu.h has the same for the CPU. */
#pragma once

#include "cuda/denoise/arithmetic.h"
#include "cuda/motion/cuda/warp.cuh"

#define DENOISE_BINS (DENOISE_NOISE_MAX + 1)

/* Samples of 10 bits with the edge repeated round them.
 * @samples: sample (0, 0) of the first plane of denoise_phase()
 * @stride: samples from row to row; @apart: from plane to plane */
typedef struct {
  guint16 *samples;
  gint32 stride, apart;
} DenoiseDevicePlane;

/* Sums over a frame.
 * @noise: squares by noise; @match: blocks by noise
 * @n, @bad: squares that count, and those whose block is no match */
typedef struct {
  guint32 noise[3][DENOISE_BINS];
  guint32 match[3][DENOISE_BINS];
  guint32 n[2], bad[2];
} DenoiseCounts;

/* Loads a component.
 * @plane: with @halves four planes, else one
 * @half: (nullable): receives component 0 at half the size, 8 bits
 * @counts: receives the noise; @counted: (nullable): which squares count */
typedef struct {
  DenoisePlane in;
  gint32 depth, shift, width, height;
  DenoiseDevicePlane plane;
  gboolean halves;
  guint8 *half;
  gint32 half_width, half_height;
  guint32 *counts;
  guint8 *counted;
} DenoiseLoad;

cudaError_t denoise_launch_load (const DenoiseLoad *load, cudaStream_t stream);
/* Copies the samples of @from to @to and repeats their edge; makes the planes between the
 * pixels. */
cudaError_t denoise_launch_keep (const DenoiseDevicePlane *from,
    const DenoiseDevicePlane *to, gint32 width, gint32 height,
    cudaStream_t stream);

/* See DenoiseCpuSearch. @current, @reference: of each component */
typedef struct {
  DenoiseShape shapes[3];
  DenoiseDevicePlane current[3], reference[3];
  const CvisMotionVector *vectors;
  const CvisMotionBlock *blocks;
  gint32 columns, rows;
  const DenoiseMatch *from;
  gint32 blocks_across, blocks_down, noise, n_components;
  DenoiseMatch *into;
} DenoiseDeviceSearch;

cudaError_t denoise_launch_search (
    const DenoiseDeviceSearch *search, cudaStream_t stream);
/* Adds the noise of the matches to @counts, in direction @direction.
 * @left: (nullable): of the reference, see DenoiseCpuReference */
cudaError_t denoise_launch_measure (const DenoiseDeviceSearch *search,
    const guint8 *counted, const guint16 *left, guint direction,
    DenoiseCounts *counts, cudaStream_t stream);

/* See DenoiseCpuMean. */
typedef struct {
  DenoiseDevicePlane plane;
  const DenoiseMatch *matches;
  const guint16 *left; /* (nullable) */
} DenoiseDeviceReference;

typedef struct {
  DenoiseShape shape; /* of the component */
  DenoiseDevicePlane current;
  DenoiseDeviceReference references[DENOISE_MAX_REFERENCES];
  gint32 n_references, component;
  gint32 cells_across, cells_down;
  gint32 noise[3], steady_noise[3];
  DenoiseDevicePlane into;
  guint16 *left;
} DenoiseDeviceMean;

cudaError_t denoise_launch_mean (
    const DenoiseDeviceMean *mean, cudaStream_t stream);

/* See DenoiseCpuSpatial.
 * @sums: of the samples; @weights: of the patches, at their first samples */
typedef struct {
  gint32 width, height, cell_x, cell_y, cells_across, cells_down;
  const guint16 *left;
  gfloat noise;
  DenoiseDevicePlane from, pilot;
  gint32 *sums, *weights;
  gint32 stride;
} DenoiseDeviceSpatial;

/* Transform shrinkage, to @into. */
cudaError_t denoise_launch_shrink (const DenoiseDeviceSpatial *spatial,
    const DenoiseDevicePlane *into, cudaStream_t stream);
/* The group filter, with @spatial->pilot, to @into. */
cudaError_t denoise_launch_group (const DenoiseDeviceSpatial *spatial,
    const DenoiseDevicePlane *into, cudaStream_t stream);

/* Writes a component.
 * @from: its samples are %NULL: the input is copied
 * @removed: see denoise_to_sample() */
typedef struct {
  DenoisePlane in, out;
  gint32 depth, shift, width, height, removed;
  DenoiseDevicePlane from;
} DenoiseStore;

cudaError_t denoise_launch_store (
    const DenoiseStore *store, cudaStream_t stream);

/* Thread blocks of @n threads for @count */
static inline guint
denoise_grid (gint64 count, guint n)
{
  return (guint) ((count + n - 1) / n);
}
