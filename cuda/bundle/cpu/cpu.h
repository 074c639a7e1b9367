/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend of the bundle adjustment. Private.
 *
 * Observations lie in slots, sorted by camera and, within a camera, as in
 * the problem, or by point with lenses. A segment is up to BUNDLE_SEGMENT of
 * them, of one camera; it begins at a multiple of BUNDLE_LANES and is padded
 * with copies of its last observation with weight 0. A segment is the unit of
 * work. Sums run first over the lanes of a segment, then over the segments of
 * a camera, in order, so they do not depend on the number of threads.
 *
 * Where the problem has frames, these are the cameras here, and its cameras are their
 * images; the slots of a frame are sorted by image. */
#pragma once

#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/backend.h"
#include "cuda/core/threadpool.h"

G_BEGIN_DECLS

#define BUNDLE_SEGMENT 256
#define BUNDLE_LANES 8
#define BUNDLE_TRIANGLE 45 /* elements of a symmetric 9 x 9 matrix */
#define BUNDLE_SUMS 55     /* of a segment: triangle, gradient, cost */
#define BUNDLE_SUM_COST 54
/* Columns of a lens: those of its parameters and of the pose of its sensor */
#define BUNDLE_LENS_COLUMNS (BUNDLE_LENS_SIZE + 6)
#define BUNDLE_STEP (9 + BUNDLE_LENS_COLUMNS) /* of a camera and its lens */
#define BUNDLE_POINT 4    /* doubles for each point, the last one 0 */
#define BUNDLE_CHUNK 2048 /* elements of a vector summed together */
#define BUNDLE_CHUNK_SUMS 2
#define BUNDLE_MARGIN 16 /* columns behind those of a dense matrix */

/* @n: number of slots, a multiple of BUNDLE_LANES; the first @n_real are
 *   observations
 * @image: with lenses: index into the images of BundleCpuLenses */
typedef struct {
  gsize first;
  guint32 n, n_real;
  guint32 camera, image;
} BundleSegment;

typedef struct _BundleCluster BundleCluster;
typedef struct _BundleDirect BundleDirect;
typedef struct _BundleCpuLenses BundleCpuLenses;
typedef struct _BundleCpuPriors BundleCpuPriors;
typedef struct _BundleCpuSchur BundleCpuSchur;
typedef struct _BundleCpuFactor BundleCpuFactor;

/* Processes elements or points first..end-1, a chunk; adds to sums, which
 * are 0 before */
typedef void (*BundleRangeFunc) (
    BundleBackend *b, gsize first, gsize end, gdouble sums[BUNDLE_CHUNK_SUMS]);

struct _BundleBackend {
  BundleConfig config;
  const BundleProblem *problem;
  gboolean shared;
  guint n_cameras, n_points;
  guint32 *image_at; /* the problem's cameras by frame; NULL: without frames */
  guint16 *camera_constant;
  guint32 *point_at;      /* of the problem's points; NULL: at their indices */
  guint8 *point_constant; /* nullable */
  CvisPool *pool;
  const struct _BundleCpuKernels *kernels;

  /* observations by camera, and the slots of each point */
  guint n_segments;
  gsize n_slots;
  BundleSegment *segments;
  guint32 *camera_first; /* n_cameras + 1: first segment of each */
  guint32 *slot_point;
  gdouble *observed_x, *observed_y;
  guint32 *point_first; /* n_points + 1: into point_slot */
  guint32 *point_slot;

  /* the state and the candidate */
  gdouble *cameras, *new_cameras;
  gdouble *points, *new_points; /* BUNDLE_POINT apart */
  BundleConstants *constants, *new_constants;

  /* the linearisation */
  gboolean scaled;
  gdouble *weight;                  /* of a slot: sqrt (rho'); 0: padding */
  gdouble *residual_x, *residual_y; /* weighted */
  gdouble *derivatives;             /* 24 for each slot; NULL without direct */
  guint32 *derivative_of;           /* of a slot: its place in derivatives */
  gdouble *u;                       /* 45 for each camera */
  gdouble *v;                       /* 6 for each point */
  gdouble *diagonal;   /* 9 for each camera: of U, summed if shared */
  gdouble *gradient_c; /* 9 for each camera */
  gdouble *gradient_p; /* BUNDLE_POINT */
  gdouble *scale_c;    /* 9 for each camera */
  gdouble *scale_p;    /* of a point */

  /* for the current radius */
  gdouble *damping_c; /* 9 for each camera */
  gdouble *damping_p; /* of a point */
  gdouble *inverse_v; /* 6 for each point; 0: constant */
  gdouble *schur;     /* 45 for each camera: blocks to invert */
  gdouble *inverse_u; /* 45 for each camera: preconditioner */
  BundleCluster *cluster;
  BundleDirect *direct;    /* NULL: conjugate gradients */
  BundleCpuLenses *lenses; /* NULL: cameras of BAL */
  BundleCpuPriors *priors; /* nullable; only with lenses */

  /* vectors: 9 for each camera, then the columns of the lenses */
  gsize n_vector;
  gdouble *b, *x, *r, *z, *p, *q;
  /* of a slot, BUNDLE_POINT apart: W^T p; 9 apart: sums of points; or products
   * of the Schur complement, see bundle_schur_width() */
  gdouble *forward;
  gdouble *point; /* BUNDLE_POINT: what W is multiplied by */
  guint n_sums;
  gdouble
      *partial; /* n_sums for each segment: BUNDLE_SUMS, or more with lenses */
  gdouble *chunk; /* BUNDLE_CHUNK_SUMS for each chunk */

  /* operands of a parallel loop */
  const gdouble *in;
  gdouble *out;
  gdouble alpha, beta, radius;
  BundleRangeFunc range;
  gsize range_n, range_size;
  const gdouble *eval_points;
  const BundleConstants *eval_constants;
};

/* The loops over a segment, for cameras of BAL and for those with lenses, compiled for
 * each instruction set, with the same bits. */
typedef struct _BundleCpuKernels {
  /* Residual and weight of the state to residual_* and weight; partial: U, g;
   * forward, 9 apart: V, g of the point. Returns: the cost */
  gdouble (*linearize) (
      BundleBackend *b, const BundleSegment *segment, gdouble *partial);
  /* Returns: the cost with eval_points, eval_constants */
  gdouble (*cost) (BundleBackend *b, const BundleSegment *segment);
  /* forward = Jp^T Jc v, @v: the camera's 9 */
  void (*forward) (
      BundleBackend *b, const BundleSegment *segment, const gdouble v[9]);
  /* partial = sum of Jc^T Jp point */
  void (*backward) (
      BundleBackend *b, const BundleSegment *segment, gdouble partial[9]);
  /* partial = sum of Jc^T Jp inverse_v Jp^T Jc */
  void (*schur) (BundleBackend *b, const BundleSegment *segment,
      gdouble partial[BUNDLE_TRIANGLE]);
  /* Returns: the sum of -J d (r + J d / 2), d: @v and point */
  gdouble (*model) (
      BundleBackend *b, const BundleSegment *segment, const gdouble v[9]);

  /* With lenses: schur(), and to b->forward Jp^T Jc of each slot, with the lens if
   * it lies in the block of its camera */
  void (*products) (const BundleBackend *b, const BundleSegment *segment,
      BundleCpuSchur *schur, gdouble *partial);
  /* b->forward = Jp^T Jlens of a pass of the columns of the other lenses */
  void (*lens_products) (const BundleBackend *b, const BundleSegment *segment,
      BundleCpuSchur *schur);

  /* Dense matrices, with rows @stride apart. A symmetric matrix is its upper
   * triangle; R is upper triangular, with R^T R the matrix. BUNDLE_MARGIN columns
   * behind the last one may be read and written. */
  /* to += a^T b; @a: 2 rows of @rows numbers; @b: of @columns */
  void (*add_products) (gdouble *to, gsize stride, const gdouble *a,
      guint a_apart, guint rows, const gdouble *b, guint b_apart,
      guint columns);
  /* R in place, without its diagonal; @inverse: of the diagonal, or 0 with a row of
   * zeros where the pivot is rounding noise of @diagonal, or not finite */
  void (*factorise) (gdouble *a, gsize stride, guint n, const gdouble *diagonal,
      gdouble *inverse);
  /* to = R^-T to */
  void (*substitute) (const gdouble *a, gsize stride, guint n,
      const gdouble *inverse, gdouble *to, gsize to_stride, guint columns);
  /* Subtracts rows @first..@end-1 of y^T y; y: @depth rows of @columns. Row and
   * column i is place[i] of @to, ascending. */
  void (*subtract_products) (gdouble *to, gsize stride, const guint32 *place,
      const gdouble *y, gsize y_stride, guint depth, guint first, guint end,
      guint columns);
  gdouble (*dot) (const gdouble *a, const gdouble *x, guint n);
} BundleCpuKernels;

extern const BundleCpuKernels bundle_cpu_generic, bundle_cpu_v3, bundle_cpu_v4;
/* Without those of the direct solver. @v has the lens's columns behind the camera's 9.
 * linearize() puts gradient and squares of the columns into partial (lenses.h);
 * backward() adds - Jc^T Jc of b->in */
extern const BundleCpuKernels bundle_lens_generic, bundle_lens_v3,
    bundle_lens_v4;

/* Chunks of the longer vector, of cameras or of points. */
static inline gsize
bundle_cpu_n_chunks (const BundleBackend *b)
{
  return MAX (b->n_vector, (gsize) b->n_points * BUNDLE_POINT) / BUNDLE_CHUNK
         + 1;
}

/* --- a camera's part of a vector --- */

/* @v: the 9 elements of @camera in @x, with shared intrinsics */
static inline void
bundle_cpu_expand (
    const BundleBackend *b, const gdouble *x, guint camera, gdouble v[9])
{
  for (guint i = 0; i < 9; i++)
    v[i] = x[9 * (gsize) camera + i];
  if (b->shared)
    for (guint i = BUNDLE_CAMERA_FOCAL; i < 9; i++)
      v[i] = x[i];
}

/* The problem's camera at place @i of the order of slots, and where its pose is */
static inline guint32
bundle_cpu_image_at (const BundleBackend *b, guint i)
{
  return b->image_at ? b->image_at[i] : i;
}

static inline guint32
bundle_cpu_pose_of (const BundleBackend *b, guint32 camera)
{
  return b->image_at ? b->problem->frame_of[camera] : camera;
}

/* Index of element i, j (i <= j) of a symmetric 9 x 9 matrix. */
static inline guint
bundle_cpu_at (guint i, guint j)
{
  return i * (17 - i) / 2 + j;
}

/* --- solve.c --- */

void bundle_cpu_for_segments (BundleBackend *b, CvisPoolFunc func);
void bundle_cpu_for_cameras (BundleBackend *b, CvisPoolFunc func);
/* Sums @n elements from @at on of segments @first..@end-1, or of those of a camera. */
void bundle_cpu_sum_segments (const BundleBackend *b, guint first, guint end,
    guint at, guint n, gdouble *to);
void bundle_cpu_sum_camera (
    const BundleBackend *b, guint camera, guint at, guint n, gdouble *to);
gboolean bundle_cpu_linearize (
    BundleBackend *b, gdouble *cost, gdouble *gradient, GError **error);
gboolean bundle_cpu_step (BundleBackend *b, gdouble radius,
    BundleProgress progress, gpointer user_data, BundleStep *step,
    GError **error);

/* --- blocks.c --- */

/* Inverts a symmetric positive definite matrix of @n rows of @stride in
 * place, both triangles. Rows whose pivot is rounding noise are left out. */
void bundle_cpu_invert (gdouble *a, guint n, guint stride);
/* Sets b->inverse_u of @camera to the inverse of @block. */
void bundle_cpu_invert_block (
    BundleBackend *b, guint camera, const gdouble block[BUNDLE_TRIANGLE]);
/* to = A v for a symmetric @a. */
static inline void
bundle_cpu_multiply_9 (
    const gdouble a[BUNDLE_TRIANGLE], const gdouble v[9], gdouble to[9])
{
  for (guint i = 0; i < 9; i++)
    to[i] = 0;
  for (guint i = 0, at = 0; i < 9; i++)
    for (guint j = i; j < 9; j++, at++) {
      to[i] += a[at] * v[j];
      if (j != i)
        to[j] += a[at] * v[i];
    }
}

/* --- direct.c --- */

/* @solver: a direct one */
BundleDirect *bundle_direct_new (
    BundleBackend *b, BundleSolver solver, GError **error);
void bundle_direct_free (BundleDirect *direct);
/* Sets x, the cameras' step, from the linearisation, the damping and inverse_v. */
void bundle_direct_solve (BundleBackend *b);

/* --- cluster.c --- */

BundleCluster *bundle_cluster_new (BundleBackend *b, GError **error);
void bundle_cluster_free (BundleCluster *cluster);
/* Computes the blocks for the current linearisation and radius; b->schur has
 * the diagonal ones. */
void bundle_cluster_update (BundleBackend *b);
/* z = M r */
void bundle_cluster_apply (BundleBackend *b, const gdouble *r, gdouble *z);

G_END_DECLS
