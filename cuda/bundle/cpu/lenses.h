/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Cameras with lenses (lens/lens.h) in the CPU backend. Private.
 *
 * A camera has its pose, 6 unknowns; a lens has those of its parameters and of the pose of
 * its sensor that are not constant, its columns. An image is of a camera and a lens. A
 * camera has one image, or with frames any number, and a lens has any number of images.
 * Vectors have 9 elements for each camera, the last three 0, and then the columns of all
 * lenses; those of the lenses of a rig lie together, as a group. solve.c calls these
 * functions in place of those for cameras of BAL. */
#pragma once

#include "cuda/bundle/cpu/cpu.h"

G_BEGIN_DECLS

#define BUNDLE_POSE 6
#define BUNDLE_LENS_UNKNOWNS (BUNDLE_POSE + BUNDLE_LENS_COLUMNS)

/* Sums of a segment after its linearisation: gradient and squares of the columns of
 * BUNDLE_STEP unknowns; BUNDLE_SUM_COST lies behind them. Those of the Schur complement
 * are the upper triangle of BUNDLE_POSE + columns. */
#define BUNDLE_LENS_GRADIENT 0
#define BUNDLE_LENS_SQUARES BUNDLE_STEP
#define BUNDLE_LENS_SUMS (BUNDLE_LENS_UNKNOWNS * (BUNDLE_LENS_UNKNOWNS + 1) / 2)

/* Rows of a slot, those of BUNDLE_LANES slots together: derivatives by P, weighted (6),
 * P (3), derivatives by the lens's columns, weighted (2 for each, those of x first) */
#define BUNDLE_LENS_ROWS(columns) (9 + 2 * (columns))

/**
 * BundleCpuLens:
 * @first: of its columns, in all vectors
 * @n: number of columns
 * @parameter: of each column; BUNDLE_LENS_SIZE + k: number k of the sensor's pose
 * @placed: the sensor is not the reference of its rig
 */
typedef struct {
  gsize first;
  guint n, group;
  guint8 parameter[BUNDLE_LENS_COLUMNS];
  gboolean placed;
} BundleCpuLens;

/* @segment: its segments begin there and end where those of the next image begin */
typedef struct {
  guint32 lens, segment;
} BundleCpuImage;

/* Columns of the lenses that share cameras. @inverse: of their block of the
 * preconditioner, n x n, in BundleCpuLenses */
typedef struct {
  gsize first, inverse;
  guint n;
} BundleCpuGroup;

/* Of an image
 * @coupling: W = Jpose^T Jlens; @solved: B^-1 W, for the block B of a pose; both 6 x n
 * @sum: the image's part of a lens's, n x n or 2 n */
typedef struct {
  gdouble *coupling, *solved, *sum;
} BundleCpuArrow;

/**
 * BundleCpuLenses:
 * @now, @next: the state and the candidate; @eval: what costs are computed of
 * @sensors, @next_sensors, @eval_sensors: (nullable): the same of the sensors' poses
 * @image: n_images, and one more that begins after the last segment; by camera
 * @first_image: n_cameras + 1: first image of each camera
 * @of_lens: n_images: the images of each lens, those of lens i from @first_of[i] on
 * @columns: of the lens that has most
 * @rows_of: n_segments: where the rows of each begin
 * @alone: the triangles are of U alone, without the Schur complement
 * @schur: (nullable): the Schur complement, after @tried; @ready: for this step. Where
 *   it is not, products are those with the observations
 * @last: conjugate gradient iterations of the last step
 * @arrows: memory of those of all images (bundle_lenses_arrow())
 * @poses: of each camera B^-1
 * @inverses: of all groups; @right: memory for the largest of them
 */
struct _BundleCpuLenses {
  guint n, n_images, n_groups, columns;
  BundleLens *now, *next;
  const BundleLens *eval;
  BundleSensor *sensors, *next_sensors;
  const BundleSensor *eval_sensors;
  BundleCpuLens *lens;
  BundleCpuImage *image;
  BundleCpuGroup *group;
  guint32 *first_image;
  guint32 *first_of, *of_lens;
  gsize *rows_of;
  gdouble *rows;
  gboolean alone;
  BundleCpuSchur *schur;
  BundleCpuFactor *factor;
  gboolean tried, ready;
  guint last;
  gdouble *arrows;
  gdouble (*poses)[BUNDLE_POSE * BUNDLE_POSE];
  gdouble *inverses, *right;
};

/* Sets b->lenses, b->n_vector and b->n_sums; b->segments are known. */
gboolean bundle_lenses_new (BundleBackend *b, GError **error);
void bundle_lenses_free (BundleCpuLenses *lenses);

static inline const BundleCpuLens *
bundle_lenses_of_image (const BundleCpuLenses *lenses, guint32 image)
{
  return &lenses->lens[lenses->image[image].lens];
}

/* Numbers of an arrow */
static inline gsize
bundle_lenses_arrow_size (const BundleCpuLenses *lenses)
{
  const gsize n = lenses->columns;

  return 2 * BUNDLE_POSE * n + MAX (n * n, 2 * n);
}

static inline BundleCpuArrow
bundle_lenses_arrow (const BundleCpuLenses *lenses, guint32 image)
{
  const gsize w = BUNDLE_POSE * (gsize) lenses->columns;
  gdouble *at = lenses->arrows + image * bundle_lenses_arrow_size (lenses);

  return (BundleCpuArrow){ at, at + w, at + 2 * w };
}

/* Sums @n elements from @at on of the segments of an image. */
static inline void
bundle_lenses_sum_image (
    const BundleBackend *b, guint32 image, guint at, guint n, gdouble *to)
{
  const BundleCpuImage *i = &b->lenses->image[image];

  bundle_cpu_sum_segments (b, i[0].segment, i[1].segment, at, n, to);
}

/* The triangle of an image, with its priors in a rig */
void bundle_lenses_sum_triangle (
    const BundleBackend *b, guint32 image, gdouble *triangle);

/* The camera of an image */
static inline guint32
bundle_lenses_camera_of (const BundleBackend *b, guint32 image)
{
  return bundle_cpu_pose_of (b, bundle_cpu_image_at (b, image));
}

/* @v: the 9 elements of the camera of @segment in @x, and the columns of its lens */
static inline void
bundle_lenses_expand (const BundleBackend *b, const gdouble *x,
    const BundleSegment *segment, gdouble v[BUNDLE_STEP])
{
  const BundleCpuLens *lens;

  bundle_cpu_expand (b, x, segment->camera, v);
  if (!b->lenses)
    return;
  lens = bundle_lenses_of_image (b->lenses, segment->image);
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
/* Whether there is a factorisation for x; makes its structure, the first time. */
gboolean bundle_lenses_have_factor (BundleBackend *b);
/* Computes the Schur complement when conjugate gradients take so many iterations that it
 * pays, and solves for x if it has a factorisation. @iteration: of this step, from 0
 * Returns: x is solved */
gboolean bundle_lenses_prepare (BundleBackend *b, guint iteration);
/* z = M r */
void bundle_lenses_precondition (
    BundleBackend *b, const gdouble *r, gdouble *z);
/* The candidates of the lenses and sensors; adds squares of step and state. */
void bundle_lenses_move (BundleBackend *b, gdouble sums[2]);
void bundle_lenses_accept (BundleCpuLenses *lenses);
/* Sets b->u to the blocks of the poses. */
void bundle_lenses_sum_blocks (BundleBackend *b);
gboolean bundle_lenses_read (BundleBackend *b, BundleLens *lenses,
    BundleSensor *sensors, GError **error);

G_END_DECLS
