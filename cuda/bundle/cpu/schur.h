/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The Schur complement of cameras with lenses as a sparse matrix, which takes less time
 * than products with all observations where tracks are short and lenses are few.
 * Private. */
#pragma once

#include "cuda/bundle/cpu/lenses.h"

G_BEGIN_DECLS

typedef struct _BundleSchurKernels BundleSchurKernels;

/**
 * BundleCpuSchur:
 * @own: a lens of one image lies in the block of its camera
 * @d: rows and columns of a block: those of a pose and of the largest such lens;
 *   @lanes: apart
 * @k: number of columns of the other lenses; @k_lanes: apart in @chunk; @at: of these in
 *   a vector
 * @place: of each of these lenses, its first column among @k
 * @row: n_cameras + 1: first block of each camera
 * @column: of each block, ascending in a row
 * @mirror: of each block left of the diagonal: the block it is the transpose of
 * @pair_first: of each camera, into @pair
 * @pair: block of each pair of slots, the second of a camera that is not before the
 *   first's, in the order of the sums
 * @columns: of a lens, the most of all; @lens_w: 3 times these
 * @pass: columns whose products are in b->forward at a time, from @pass_first on
 * @entry_first: n_points + 1: the lenses that observe each point, but for those in blocks
 * @entry_lens, @entry: their indices, and sums of those of slots
 * @entry_of: of a slot; BUNDLE_SCHUR_NONE
 * @blocks: P; of each the @d columns. @c: of each camera the K columns of C, the same
 * @l: L
 * @x: @d elements of each camera: operand or solution
 * @chunk: K x K for each chunk of points, on and right of the diagonal
 */
struct _BundleCpuSchur {
  const BundleSchurKernels *kernels;
  gboolean own;
  guint d, lanes, k, k_lanes, columns, lens_w, pass, pass_first;
  gsize *at;
  guint32 *place;
  gsize *row, *mirror;
  guint32 *column;
  gsize *pair_first;
  guint32 *pair;
  gdouble *blocks, *entry, *c, *l, *chunk, *x;
  gsize *entry_first;
  guint32 *entry_lens, *entry_of;
};

#define BUNDLE_SCHUR_COLUMNS 96 /* of lenses, the most in L */
#define BUNDLE_SCHUR_PASS 6     /* columns of a lens, the most */
#define BUNDLE_SCHUR_NONE G_MAXUINT32
#define BUNDLE_SCHUR_LANES                                                     \
  ((BUNDLE_LENS_UNKNOWNS + BUNDLE_LANES - 1) / BUNDLE_LANES * BUNDLE_LANES)

struct _BundleSchurKernels {
  /* Subtracts the products of the slots of @camera from its blocks right of the
   * diagonal, and from its columns of the lenses. */
  void (*subtract_slots) (BundleBackend *b, guint camera);
  /* Adds the columns of a pass to the entries of points @first..@end-1. */
  void (*add_entries) (BundleBackend *b, gsize first, gsize end);
  /* Sets @to, a chunk, to minus the sum of the products of the entries. */
  void (*sum_points) (BundleBackend *b, gsize first, gsize end, gdouble *to);
  /* out = the row of @camera times x and the columns of b->in; lanes elements */
  void (*multiply_row) (const BundleBackend *b, guint camera, gdouble *out);
};

extern const BundleSchurKernels bundle_schur_generic, bundle_schur_v3,
    bundle_schur_v4;

/* A lens of one image lies in the block of its camera. */
static inline gboolean
bundle_schur_has_own (const BundleBackend *b)
{
  return b->n_vector - 9 * (gsize) b->n_cameras > BUNDLE_SCHUR_COLUMNS;
}

/* Numbers of a slot in b->forward, for blocks of @d rows: q, g and l of these. Row k of
 * W^T, 3 x d, is (q x g_k, g_k, l_k) with the rows q and A of lenses.h, g = Jp^T A and
 * l = Jp^T Jlens. */
static inline guint
bundle_schur_width (guint d)
{
  return 12 + 3 * (d - BUNDLE_POSE);
}

/* First slot of camera @c */
static inline gsize
bundle_schur_first_slot (const BundleBackend *b, guint c)
{
  return b->camera_first[c] < b->n_segments
             ? b->segments[b->camera_first[c]].first
             : b->n_slots;
}

/* The lens in the block of camera @c, or %NULL */
static inline const BundleCpuLens *
bundle_schur_own_lens (const BundleBackend *b, guint c)
{
  const BundleCpuLenses *l = b->lenses;
  const guint32 image = l->first_image[c];
  const guint32 lens = l->image[image].lens;

  return l->schur->own && l->first_image[c + 1] == image + 1
                 && l->first_of[lens + 1] == l->first_of[lens] + 1
             ? &l->lens[lens]
             : NULL;
}

/* Where element @i of camera @c lies in a vector; @i: not more than those of a pose and
 * of @own (nullable) */
static inline gsize
bundle_schur_place (const BundleCpuLens *own, guint c, guint i)
{
  return i < BUNDLE_POSE ? 9 * (gsize) c + i : own->first + i - BUNDLE_POSE;
}

/* Sets *@schur, or leaves it %NULL where products with the observations are better.
 * Returns: FALSE with CVIS_ERROR_MEMORY or _CANCELLED */
gboolean bundle_schur_new (
    BundleBackend *b, BundleCpuSchur **schur, GError **error);
void bundle_schur_free (BundleCpuSchur *schur);
/* Computes the matrix for the linearisation and the damping. */
void bundle_schur_update (BundleBackend *b, BundleCpuSchur *schur);
/* out = S in */
void bundle_schur_multiply (BundleBackend *b, BundleCpuSchur *schur);

G_END_DECLS
