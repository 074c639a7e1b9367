/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The regularised field on the CPU (method=field): what cpu/fieldsearch.c, which
 * keeps the order of the passes, and cpu/field.c, which computes them, share. */
#pragma once

#include "cuda/core/threadpool.h"
#include "cuda/motion/field.h"

G_BEGIN_DECLS

/* Rows of samples that are prepared at once; as many as a noise square has. */
#define MOTION_CPU_STRIP MOTION_FIELD_NOISE_BLOCK

/* A plane of 8-bit samples with its edge repeated round it.
 * @samples: sample (0, 0)
 * @border: samples beyond each edge that may be read */
typedef struct {
  guint8 *samples;
  gssize stride;
  gint32 width, height, border;
} MotionCpuPlane;

/* A picture as the field needs it.
 * @levels: of the pyramid; [0] is the picture's own plane
 * @halves: at the pixels, half a pixel right, half a pixel down, both; [0] is the
 *   picture's own plane, and all have its stride
 * @rows, @columns: least and largest sample of each
 * @strips: the same of the columns of each strip
 * @squares: noise of each square, 1/16 levels; -1: does not count
 * @noise: of the picture */
typedef struct {
  MotionCpuPlane levels[MOTION_FIELD_LEVELS];
  guint8 *halves[4];
  guint8 *row_least, *row_most, *column_least, *column_most;
  guint8 *strip_least, *strip_most;
  gint32 *squares;
  gint32 noise;
  gpointer memory[MOTION_FIELD_LEVELS + 3];
} MotionCpuFieldPicture;

/* Blocks of a level, and their vectors while it is searched: of this pass, of the
 * last pass, from the level above, and as blocks with texture suggest; whether this
 * pass and the last pass changed them. */
typedef struct {
  gint32 columns, rows, n;
  MotionFieldVector *vectors, *from, *inherited, *expected;
  gint32 *weights;
  guint8 *changed, *changed_before;
} MotionCpuGrid;

/* Data costs of a block that are known. Each pass asks for many of those
 * that the last one asked for.
 * @keys: the vectors; those not in use are MOTION_CPU_NO_KEY */
#define MOTION_CPU_KNOWN 32
#define MOTION_CPU_NO_KEY 0x80008000u
typedef struct {
  guint32 keys[MOTION_CPU_KNOWN];
  gint32 costs[MOTION_CPU_KNOWN];
} MotionCpuKnown;

/* The search of a field. One exists for each engine.
 * @lit: level 0 of the frame after the change of light: samples and stride
 * @costs: data costs of all vectors of the coarsest level
 * @level, @pass, @step: of the pass that is being made
 * @weighted: weights and expected vectors are valid
 * @repeated: the last pass had the same step, weights and expected vectors */
typedef struct {
  const MotionConfig *config;
  const MotionCpuFieldPicture *current, *reference;
  const guint8 *lit;
  gssize lit_stride;
  MotionFieldArea area;
  MotionCpuGrid grids[MOTION_FIELD_LEVELS];
  guint16 *costs;
  gint32 *ambiguities; /* of the blocks of MOTION_FIELD_AMBIGUITY_LEVEL */
  gint32 *gains; /* of the blocks of level 0, see motion_field_settles() */
  MotionFieldEvidence *evidence;
  MotionCpuKnown *known; /* of the blocks of the level */
  guint level, pass;
  gint32 step;
  gboolean weighted, repeated;
  MotionFieldVector dominant;
  guint8 *lit_memory;
} MotionCpuField;

/* The passes, compiled for each instruction set. Each computes rows @first to @first
 * + @n - 1 of blocks or samples, or strips, and writes nothing else. */
typedef struct {
  /* rows of level @level from the level below */
  void (*reduce) (
      MotionCpuFieldPicture *picture, guint level, gint32 first, gint32 n);
  /* rows of the half planes; row 0 is that of the upper border */
  void (*halves) (MotionCpuFieldPicture *picture, gint32 first, gint32 n);
  /* strips: rows, strips' columns, squares */
  void (*survey) (MotionCpuFieldPicture *picture, gint32 first, gint32 n);
  void (*light) (
      MotionCpuField *field, const guint8 *table, gint32 first, gint32 n);
  /* rows of blocks */
  void (*costs) (MotionCpuField *field, gint32 first, gint32 n);
  void (*coarsest) (MotionCpuField *field, gint32 first, gint32 n);
  void (*weigh) (MotionCpuField *field, gint32 first, gint32 n);
  void (*all) (MotionCpuField *field, gint32 first, gint32 n);
  void (*gains) (MotionCpuField *field, gint32 first, gint32 n);
  void (*settle) (MotionCpuField *field, gint32 first, gint32 n);
  void (*alone) (MotionCpuField *field, gint32 first, gint32 n);
  void (*sides) (MotionCpuField *field, gint32 first, gint32 n);
  void (*last) (MotionCpuField *field, gint32 first, gint32 n);
  void (*ambiguity) (MotionCpuField *field, gint32 first, gint32 n);
  void (*evidence) (MotionCpuField *field, gint32 first, gint32 n);
} MotionCpuFieldKernels;

extern const MotionCpuFieldKernels motion_cpu_field_generic;
extern const MotionCpuFieldKernels motion_cpu_field_v3;
extern const MotionCpuFieldKernels motion_cpu_field_v4;

/* Those for this processor. */
const MotionCpuFieldKernels *motion_cpu_field_kernels (void);

/* @luma: the picture's own plane, with at least range + 4 samples beyond each edge.
 * Returns: FALSE with CVIS_ERROR_MEMORY */
gboolean motion_cpu_field_picture_init (const MotionConfig *config,
    MotionCpuFieldPicture *picture, guint8 *luma, gsize stride,
    gsize plane_size, gsize origin, GError **error);
void motion_cpu_field_picture_clear (MotionCpuFieldPicture *picture);
/* Makes everything from the picture's own plane. */
void motion_cpu_field_picture_prepare (
    MotionCpuFieldPicture *picture, CvisPool *pool);

/* Returns: %NULL with CVIS_ERROR_MEMORY */
MotionCpuField *motion_cpu_field_new (
    const MotionConfig *config, GError **error);
void motion_cpu_field_free (MotionCpuField *field);
/* Searches @current in @reference. The vectors of grids[0] and the evidence are the
 * result until the next search. */
void motion_cpu_field_search (MotionCpuField *field,
    const MotionCpuFieldPicture *current,
    const MotionCpuFieldPicture *reference, CvisPool *pool);

G_END_DECLS
