/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Constants that the tile kernels (cuda/lifting/cuda/tile.cuh) are compiled
 * with, and their parameters. Included by the host, which computes the
 * constants (cuda/lifting/cuda/tileplan.c), and by NVRTC, which has no other
 * headers.
 * A line is cut into runs. Positions in a run are counted in pairs (s[k],
 * d[k]) from the run's first pair: position u of a run that begins at pair K
 * is pair K + u. A run computes outputs out[kind] .. out[kind] + run - 1 of
 * each kind from inputs in[kind][0] .. in[kind][1] - 1. */
#pragma once

/* Wavelets with more steps or weights use the generic kernels. */
#define LWT_TILE_MAX_STEPS 32
#define LWT_TILE_MAX_TAPS 64
/* Largest number of inputs of a kind in a run */
#define LWT_TILE_MAX_INPUTS 96

/* Turns of the sliding window in flight, including the current one; a power of
 * two */
#define LWT_WINDOW_TURNS 2

/* Contents of the positions beyond the ends of a run */
enum {
  LWT_TILE_INNER,      /* more of the line */
  LWT_TILE_LEFT,       /* the line begins at position 0 */
  LWT_TILE_RIGHT_EVEN, /* it ends after pair `end` - 1 */
  LWT_TILE_RIGHT_ODD,  /* the same, but the last pair has no odd sample */
};

/* A step: samples from .. to - 1 of kind @odd change by @n neighbours, the
 * first at distance @first; @tap: index of its first weight */
typedef struct {
  int odd, first, n, tap;
  int from, to;
} LwtTileStep;

/* An axis. A thread computes a run; a tile has @runs runs. */
typedef struct {
  int run, runs;
  int end; /* end of the line, in the last run at a right end */
  int out[2];
  int in[2][2];
  LwtTileStep steps[LWT_TILE_MAX_STEPS];
} LwtTileLine;

/**
 * LwtTilePlan: constants of a kernel
 * @boundary: LwtBoundary: 0 symmetric, 1 periodic, 2 clamp, 3 zero
 * @lines: along x, along y
 * @rows, @pitch: of the tile in shared memory; pitch in samples
 * @half: forward: columns of a kind of the lifted rows; inverse: of the
 *   bands
 * @half_rows: inverse: rows of a kind of the bands
 * @blocks: minimum number of thread blocks on a multiprocessor (launch
 *   bounds)
 * @parts: the kernel computes components
 * @two: two levels at once (cuda/lifting/cuda/window.cuh): lines[0] is a
 *   strip, lines[1] the rows that are kept of a column, @lead the turns before
 *   the first output
 */
typedef struct {
  int inverse, boundary;
  int n_steps;
  LwtTileLine lines[2];
  int threads, blocks;
  int rows, pitch, half, half_rows;
  int parts, two, lead;
} LwtTilePlan;

/* --- beyond the ends of a line ----------------------------------------------------- */

#ifdef __CUDACC__
#define LWT_TILE_BOTH static __host__ __device__ constexpr
#elif defined(__cplusplus)
#define LWT_TILE_BOTH static constexpr
#else
#define LWT_TILE_BOTH static inline
#endif

/* Number of samples of kind @odd in a line that ends at @end, by @edge. */
LWT_TILE_BOTH int
lwt_tile_count (int edge, int odd, int end)
{
  return edge == LWT_TILE_RIGHT_ODD ? end - odd : end;
}

/* Range of positions beyond an end that @step reads, of the kind that it
 * does not change */
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

/* Position of the sample used for one of kind @odd at @v beyond an end
 * (docs/design/lifting.md, "A line"). */
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

/* An axis of @n samples. Tile t begins at pair min (t * run * runs, @last);
 * the last tile at a right end begins at @right.
 * @shift: rotation of the entries of each band (periodic) */
typedef struct {
  int n, tiles, last, right;
  int shift[2];
} LwtTileAxis;

/* @pitch: bytes from row to row, @step: samples from column to column; no
 *   data: not wanted as output, +0 as input */
typedef struct {
  void *data;
  unsigned pitch, step;
} LwtTileBand;

/**
 * LwtTileParts: components of a picture; the fields are described at
 * LwtPartsTask (cuda/lifting/cuda/transform.cuh)
 * @low: input of level @levels of the chain, or with @at_zero of level 0; no data:
 *   not needed
 * @parts: noise, roughness, waviness, form; no data: not wanted
 * @plain: two levels: no point is missing, and samples are stored four at a time
 */
typedef struct {
  LwtTileBand low[3];
  int at_zero[3];
  LwtTileBand parts[4];
  const unsigned *missing;
  const double *polynomial;
  int pad[2];
  int size[2]; /* width and height of the components */
  int plain;
} LwtTileParts;

/* Parameters of a launch. @shift: of the steps, integers only. In a kernel's
 * parameters the weights follow, with the type of the samples, in the order
 * of execution and with their signs; scale_low and scale_high are at
 * LWT_TILE_MAX_TAPS. */
typedef struct {
  LwtTileAxis axis[2];              /* x, y */
  LwtTileBand picture, bands[2][2]; /* [high along y][high along x] */
  LwtTileBand second[2][2];         /* of two levels at once */
  int segment;                      /* the same: rows of second[][] of a warp */
  int multiprocessors;              /* of the device */
  int shift[LWT_TILE_MAX_STEPS];
  LwtTileParts parts;
} LwtTileTask;
