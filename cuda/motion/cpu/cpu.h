/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend of the motion engine: pictures as it keeps them, and its
 * arithmetic, compiled once for each instruction set. */
#pragma once

#include "cuda/motion/arithmetic.h"
#include "cuda/motion/cpu/field.h"

G_BEGIN_DECLS

#define MOTION_CPU_MAX_BLOCK 64
#define MOTION_CPU_LEVELS 3
#define MOTION_CPU_MAX_SUMS 16 /* of a block, on the finest level */
#define MOTION_CPU_TILE 256    /* most pixels of a tile each way */

/* Sums over squares of samples, one for each position: what a candidate can be
 * ruled out by without looking at its samples.
 *
 * A sum s is kept as m, with s = m * 2^unit + a remainder of 0 to
 * slack * 2^unit; so |s - t| >= (|m - n| - slack) * 2^unit. */
typedef struct {
  guint size;
  guint unit, slack;
  guint shift; /* each of the four sums of half the size is shifted by it */
} MotionCpuLevel;

/* Parameters that all pictures of an engine share. Planes have rows of @stride
 * elements; sample (0, 0) is @border rows below and @margin elements right of
 * the first. Beyond the frame lie the edge's samples.
 *
 * Blocks are searched tile by tile; a tile's sums are made in the memory of the
 * thread that searches it, so that they stay in its cache. */
typedef struct {
  MotionConfig config;
  gint32 columns, rows;           /* of blocks */
  gint32 tile_columns, tile_rows; /* of blocks in a tile, and how many tiles */
  gint32 tiles_across, tiles_down;
  gsize stride;
  gint32 border, margin;
  gint32 n_lines; /* rows of a plane with its borders */
  gsize sums_stride;
  /* of the plane reduced by four each way */
  gsize quarter_stride;
  gint32 quarter_border, quarter_width, quarter_height, quarter_range;
  guint n_levels;
  MotionCpuLevel levels[MOTION_CPU_LEVELS]; /* largest squares first */
  gboolean has_sums, has_quarter;
  /* lambda * bits of a component of the vector, less the predictor's; points
   * to that of 0 */
  const guint16 *bits;
  guint16 *bits_memory;
} MotionCpuParams;

typedef struct {
  guint8 *luma;  /* sample (0, 0) of the upper 8 bits */
  guint16 *deep; /* of all bits; %NULL with a depth of 8 */
  guint8 *quarter;
  gboolean prepared;            /* quarter and field are those of luma */
  MotionCpuFieldPicture *field; /* %NULL with another method */
  gpointer memory[3];
} MotionCpuPicture;

/* Working memory of a thread. */
typedef struct {
  guint8 block[MOTION_CPU_MAX_BLOCK * MOTION_CPU_MAX_BLOCK]
      __attribute__ ((aligned (64)));
  guint16 block_deep[MOTION_CPU_MAX_BLOCK * MOTION_CPU_MAX_BLOCK];
  guint16 prediction[MOTION_CPU_MAX_BLOCK * MOTION_CPU_MAX_BLOCK];
  guint32 sads[64] __attribute__ ((aligned (64)));
  guint16 bits_x[512] __attribute__ ((aligned (64)));
  /* samples between the pixels: see cuda/motion/cpu/subpel.c */
  gint16 taps[80 * 72];
  guint8 halves[4][80 * 72];
  guint8 mean[MOTION_CPU_MAX_BLOCK * MOTION_CPU_MAX_BLOCK];
  guint16 deep[MOTION_CPU_MAX_BLOCK * MOTION_CPU_MAX_BLOCK];
  /* sums of the tile's reference; the first is that of the square whose first
   * sample lies range pixels left of and above the tile */
  guint16 *sums[MOTION_CPU_LEVELS];
  gpointer sums_memory;
} MotionCpuScratch;

/* A frame. */
typedef struct {
  const MotionJob *job;
  const MotionCpuPicture *current;
  const MotionCpuPicture *references[CVIS_MOTION_MAX_FIELDS];
  const CvisMotionVector *priors[CVIS_MOTION_MAX_FIELDS]; /* %NULL: none */
  /* of method=field: the blocks' vectors and their confidence */
  MotionFieldVector *found[CVIS_MOTION_MAX_FIELDS];
  guint8 *confidences[CVIS_MOTION_MAX_FIELDS];
} MotionCpuFrame;

typedef struct {
  const gchar *name;
  /* Makes @n rows of the plane reduced by four, from row @first on (counted
   * from the top of its border). */
  void (*quarter) (const MotionCpuParams *params, MotionCpuPicture *picture,
      gint32 first, gint32 n);
  /* All fields of the blocks of tile @tile: vectors, measures, prediction and
   * residual. */
  void (*search) (const MotionCpuParams *params, MotionCpuScratch *scratch,
      const MotionCpuFrame *frame, gint32 tile);
} MotionCpuKernels;

extern const MotionCpuKernels motion_cpu_generic;
extern const MotionCpuKernels motion_cpu_v3;
extern const MotionCpuKernels motion_cpu_v4;

/* Those for this processor (cvis_cpu_level()). */
const MotionCpuKernels *motion_cpu_kernels (void);

/* @threads: that tiles are to be shared by */
void motion_cpu_params_init (
    MotionCpuParams *params, const MotionConfig *config, guint threads);
void motion_cpu_params_clear (MotionCpuParams *params);

/* Returns: FALSE with CVIS_ERROR_MEMORY. */
gboolean motion_cpu_picture_init (
    const MotionCpuParams *params, MotionCpuPicture *picture, GError **error);
void motion_cpu_picture_clear (MotionCpuPicture *picture);
/* Copies the luma of @job. */
void motion_cpu_picture_load (const MotionCpuParams *params,
    MotionCpuPicture *picture, const MotionJob *job);

/* Returns: %NULL with CVIS_ERROR_MEMORY. */
MotionCpuScratch *motion_cpu_scratch_new (
    const MotionCpuParams *params, GError **error);
void motion_cpu_scratch_free (MotionCpuScratch *scratch);

G_END_DECLS
