/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Cameras with lenses (lens/lens.h) in the CPU backend. Private.
 *
 * A camera has its pose, 6 unknowns; a lens has those of its parameters that are not
 * constant, its columns, and any number of cameras. Vectors have 9 elements for each
 * camera, the last three 0, and then the columns of all lenses. solve.c calls these
 * functions in place of those for cameras of BAL. */
#pragma once

#include "cuda/bundle/cpu/cpu.h"

G_BEGIN_DECLS

#define BUNDLE_POSE 6
#define BUNDLE_LENS_UNKNOWNS (BUNDLE_POSE + BUNDLE_LENS_SIZE)

/* Sums of a segment after its linearisation: gradient and squares of the columns of
 * BUNDLE_STEP unknowns; BUNDLE_SUM_COST lies behind them. Those of the Schur complement
 * are the upper triangle of BUNDLE_POSE + columns. */
#define BUNDLE_LENS_GRADIENT 0
#define BUNDLE_LENS_SQUARES BUNDLE_STEP
#define BUNDLE_LENS_SUMS (BUNDLE_LENS_UNKNOWNS * (BUNDLE_LENS_UNKNOWNS + 1) / 2)

/* Rows of a slot, those of a segment together: derivatives by P, weighted (6), P (3),
 * derivatives by the lens's columns, weighted (2 for each) */
#define BUNDLE_LENS_ROWS(columns) (9 + 2 * (columns))

/**
 * BundleCpuLens:
 * @first: of its columns, in all vectors
 * @n: number of columns
 * @parameter: of each column
 */
typedef struct {
  gsize first;
  guint n;
  guint8 parameter[BUNDLE_LENS_SIZE];
} BundleCpuLens;

/* @coupling: W = Jpose^T Jlens; @solved: B^-1 W, for the block B of a pose */
typedef struct {
  gdouble inverse[BUNDLE_POSE * BUNDLE_POSE];
  gdouble coupling[BUNDLE_POSE * BUNDLE_LENS_SIZE];
  gdouble solved[BUNDLE_POSE * BUNDLE_LENS_SIZE];
  gdouble sum[BUNDLE_LENS_SIZE
              * BUNDLE_LENS_SIZE]; /* the camera's part of a lens's */
} BundleCpuArrow;

/**
 * BundleCpuLenses:
 * @now, @next: the state and the candidate; @eval: what costs are computed of
 * @of: lens of each camera
 * @of_lens: n_cameras: the cameras of each lens, those of lens i from @first_of[i] on
 * @rows_of: n_segments: where the rows of each begin
 * @alone: the triangles are of U alone, without the Schur complement
 * @schur: (nullable): the Schur complement, after @tried; @ready: for this step. Where
 *   it is not, products are those with the observations
 * @last: conjugate gradient iterations of the last step
 * @arrows: of each camera
 * @inverses: of each lens, BUNDLE_LENS_SIZE^2
 */
struct _BundleCpuLenses {
  guint n;
  BundleLens *now, *next;
  const BundleLens *eval;
  const guint32 *of;
  BundleCpuLens *lens;
  guint32 *first_of, *of_lens;
  gsize *rows_of;
  gdouble *rows;
  gboolean alone;
  BundleCpuSchur *schur;
  BundleCpuFactor *factor;
  gboolean tried, ready;
  guint last;
  BundleCpuArrow *arrows;
  gdouble *inverses;
};

/* Sets b->lenses, b->n_vector and b->n_sums; b->segments are known. */
gboolean bundle_lenses_new (BundleBackend *b, GError **error);
void bundle_lenses_free (BundleCpuLenses *lenses);

/* @v: the 9 elements of @camera in @x, and the columns of its lens */
static inline void
bundle_lenses_expand (const BundleBackend *b, const gdouble *x, guint camera,
    gdouble v[BUNDLE_STEP])
{
  const BundleCpuLens *lens;

  bundle_cpu_expand (b, x, camera, v);
  if (!b->lenses)
    return;
  lens = &b->lenses->lens[b->lenses->of[camera]];
  for (guint i = 0; i < lens->n; i++)
    v[9 + i] = x[lens->first + i];
}

/* Gradient and squares of the columns, from the segments' sums */
void bundle_lenses_sum_normal (BundleBackend *b);
/* out = D in - sums of the segments, which are those of W V^-1 W^T in - U in */
void bundle_lenses_multiply (BundleBackend *b);
/* b += sums of the segments */
void bundle_lenses_add_right_side (BundleBackend *b);
/* Inverts the blocks of poses and lenses. */
void bundle_lenses_make_preconditioner (BundleBackend *b);
/* Computes the Schur complement when conjugate gradients take so many iterations that it
 * pays, and solves for x if it has a factorisation. @iteration: of this step, from 0
 * Returns: x is solved */
gboolean bundle_lenses_prepare (BundleBackend *b, guint iteration);
/* z = M r */
void bundle_lenses_precondition (
    BundleBackend *b, const gdouble *r, gdouble *z);
/* The candidates of the lenses; adds squares of step and state. */
void bundle_lenses_move (BundleBackend *b, gdouble sums[2]);
void bundle_lenses_accept (BundleCpuLenses *lenses);
/* Sets b->u to the blocks of the poses. */
void bundle_lenses_sum_blocks (BundleBackend *b);
gboolean bundle_lenses_read (
    BundleBackend *b, BundleLens *lenses, GError **error);

G_END_DECLS
