/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The constants that the tile kernels (cuda/lifting/cuda/tile.cuh) are compiled
 * with, and their parameters. Read by the host, which computes the constants
 * (cuda/lifting/cuda/tileplan.c), and by NVRTC, which has no other headers.
 *
 * A line is cut into runs. Positions in a run are counted in pairs (s[k], d[k])
 * from the run's first pair: position u of a run that begins at pair K is pair
 * K + u. A run computes outputs out[kind] .. out[kind] + run - 1 of each kind from
 * inputs in[kind][0] .. in[kind][1] - 1. */
#pragma once

/* Wavelets of more steps or weights go by the generic kernels. */
#define LWT_TILE_MAX_STEPS 32
#define LWT_TILE_MAX_TAPS 64
/* Inputs of a kind that a run may have */
#define LWT_TILE_MAX_INPUTS 96

/* Samples beyond the ends of a run */
enum {
  LWT_TILE_INNER,      /* more of the line */
  LWT_TILE_LEFT,       /* the line begins at position 0 */
  LWT_TILE_RIGHT_EVEN, /* it ends behind the pair at `end` - 1 */
  LWT_TILE_RIGHT_ODD,  /* as before, but that pair has no odd sample */
};

/* A step: positions from .. to - 1 of the kind @odd change by @n neighbours, the
 * first at distance @first; @tap: number of its first weight */
typedef struct {
  int odd, first, n, tap;
  int from, to;
} LwtTileStep;

/* Along an axis. A thread computes a run, a tile has @runs. */
typedef struct {
  int run, runs;
  int end; /* of the line, in the last run at a right end */
  int out[2];
  int in[2][2];
  LwtTileStep steps[LWT_TILE_MAX_STEPS];
} LwtTileLine;

/**
 * LwtTilePlan: constants of a kernel
 * @boundary: LwtBoundary: 0 symmetric, 1 periodic, 2 clamp, 3 zero
 * @lines: along x, along y
 * @rows, @pitch: of the tile in shared memory; pitch in samples
 * @half: forward: columns of a kind of the lifted rows; inverse: of the bands
 * @half_rows: inverse: rows of a kind of the bands
 * @blocks: thread blocks that a multiprocessor is to hold
 * @parts: the kernel of components
 */
typedef struct {
  int inverse, boundary;
  int n_steps;
  LwtTileLine lines[2];
  int threads, blocks;
  int rows, pitch, half, half_rows;
  int parts;
} LwtTilePlan;

/* --- beyond the ends of a line ----------------------------------------------------- */

#ifdef __CUDACC__
#define LWT_TILE_BOTH static __host__ __device__ constexpr
#elif defined(__cplusplus)
#define LWT_TILE_BOTH static constexpr
#else
#define LWT_TILE_BOTH static inline
#endif

/* Samples of the kind @odd in a line that ends at @end, as @edge says. */
LWT_TILE_BOTH int
lwt_tile_count (int edge, int odd, int end)
{
  return edge == LWT_TILE_RIGHT_ODD ? end - odd : end;
}

/* Positions beyond an end that @step looks at, of the kind that it does not
 * change */
LWT_TILE_BOTH int
lwt_tile_beyond_from (LwtTileStep step, int edge, int end)
{
  return edge != LWT_TILE_LEFT ? lwt_tile_count (edge, 1 - step.odd, end)
         : step.from > 0       ? step.from + step.first
                               : step.first;
}

LWT_TILE_BOTH int
lwt_tile_beyond_to (LwtTileStep step, int edge, int end)
{
  const int count = lwt_tile_count (edge, step.odd, end);

  return edge == LWT_TILE_LEFT
             ? 0
             : (count < step.to ? count : step.to) + step.first + step.n - 1;
}

/* Position of the sample that stands for one of the kind @odd at @v beyond an end.
 * (docs/design/lifting.md, "A line") */
LWT_TILE_BOTH int
lwt_tile_source (int boundary, int edge, int v, int odd, int end)
{
  const int n = edge == LWT_TILE_RIGHT_ODD ? 2 * end - 1 : 2 * end;

  if (boundary == 2)
    return edge == LWT_TILE_LEFT ? 0 : lwt_tile_count (edge, odd, end) - 1;
  return edge == LWT_TILE_LEFT ? (-(2 * v + odd) - odd) / 2
                               : (2 * (n - 1) - (2 * v + odd) - odd) / 2;
}

/* --- parameters of a launch --------------------------------------------------------- */

/* An axis of @n samples. Tile t begins at pair t * run * runs, but not behind
 * @last; the last one at a right end at @right.
 * @shift: of entries of a band (periodic) */
typedef struct {
  int n, tiles, last, right;
  int shift[2];
} LwtTileAxis;

/* @pitch: bytes from row to row, @step: samples from column to column; no data:
 * not wanted, or +0 */
typedef struct {
  void *data;
  unsigned pitch, step;
} LwtTileBand;

/**
 * LwtTileParts: components of a picture; LwtPartsTask (cuda/lifting/cuda/transform.cuh)
 * says what each field is
 * @low: what level 1 of the chain splits, or, with @at_zero, level 0; no data: not
 *   needed
 * @parts: noise, roughness, waviness, form; no data: not wanted
 */
typedef struct {
  LwtTileBand low[3];
  int at_zero[3];
  LwtTileBand parts[4];
  const unsigned *missing;
  const double *polynomial;
  int pad[2];
  int size[2]; /* of the components */
} LwtTileParts;

/* @shift: of the steps of integers. In a kernel's parameters the weights follow, of
 * the type of the samples, in the order that steps are run in, with their signs;
 * from LWT_TILE_MAX_TAPS on scale_low, scale_high */
typedef struct {
  LwtTileAxis axis[2];              /* x, y */
  LwtTileBand picture, bands[2][2]; /* [high along y][high along x] */
  int shift[LWT_TILE_MAX_STEPS];
  LwtTileParts parts;
} LwtTileTask;
