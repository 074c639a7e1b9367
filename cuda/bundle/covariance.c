/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Covariances of cameras: the Schur complement without damping, dense, and
 * diagonal blocks of its inverse, in the unknowns and the frame of the engine, then
 * in the parameters of the problem. */
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/frame.h"
#include "cuda/core/cancel.h"
#include "cuda/core/memory.h"
#include "cuda/core/threadpool.h"

#define MAX_CAMERAS 2000
#define BLOCK 64
/* A pivot below this share of the diagonal element before the elimination of
 * the points is rounding noise. */
#define SINGULAR_PIVOT 1e-11

typedef struct {
  const BundleProblem *problem;
  const BundleConfig *config;
  BundleFrame frame;
  CvisPool *pool;
  gdouble *cameras, *points; /* in the frame */
  BundleConstants *constants;
  gint32 *unknown; /* 9 for each camera: its row, -1: constant */
  gsize n;         /* rows */
  gdouble *s;      /* n * n: the lower triangle, later its Cholesky factor */
  gdouble *u;      /* n: the diagonal before elimination */
  guint32 *first, *order; /* observations by point */
  gdouble squares;        /* sum of the squared weighted residuals */
  gsize block;            /* first column of the current block */
  gdouble variance;
  gdouble *covariances;
} Covariance;

/* An observation: 2 rows of 9, 2 of 3, weighted, and the rows of its camera */
typedef struct {
  gdouble jac[24];
  const gint32 *unknown;
} Seen;

static void
number_unknowns (Covariance *c)
{
  const BundleProblem *problem = c->problem;
  const BundleConfig *config = c->config;
  gboolean shared = config->shared_intrinsics && !config->fix_intrinsics;
  guint16 fixed = 0;

  for (gsize i = 0; problem->camera_constant && i < problem->n_cameras; i++)
    fixed |= problem->camera_constant[i] & BUNDLE_CAMERA_INTRINSICS;
  for (gsize i = 0; i < problem->n_cameras; i++) {
    guint16 constant =
        problem->camera_constant ? problem->camera_constant[i] : 0;

    if (shared)
      constant = (constant & ~BUNDLE_CAMERA_INTRINSICS) | fixed;
    if (config->fix_intrinsics)
      constant |= BUNDLE_CAMERA_INTRINSICS;
    if (config->fix_first_camera && i == 0)
      constant |= BUNDLE_CAMERA_ALL & ~BUNDLE_CAMERA_INTRINSICS;
    for (guint k = 0; k < 9; k++) {
      gint32 *to = &c->unknown[9 * i + k];

      if (constant >> k & 1)
        *to = -1;
      else if (shared && i > 0 && k >= BUNDLE_CAMERA_FOCAL)
        *to = c->unknown[k];
      else
        *to = (gint32) c->n++;
    }
  }
}

static void
sort_by_point (Covariance *c)
{
  const BundleProblem *problem = c->problem;
  guint32 sum = 0;

  for (gsize i = 0; i < problem->n_observations && !cvis_cancelled_at (i); i++)
    c->first[problem->point_of[i]]++;
  for (gsize i = 0; i <= problem->n_points; i++) {
    guint32 count = c->first[i];

    c->first[i] = sum;
    sum += count;
  }
  for (gsize i = 0; i < problem->n_observations && !cvis_cancelled_at (i); i++)
    c->order[c->first[problem->point_of[i]]++] = (guint32) i;
  memmove (c->first + 1, c->first, problem->n_points * sizeof *c->first);
  c->first[0] = 0;
}

static void
derive_observation (Covariance *c, gsize i, Seen *seen)
{
  const BundleProblem *problem = c->problem;
  guint32 camera = problem->camera_of[i];
  const BundleConstants *k = &c->constants[camera];
  const gdouble *x = c->points + 3 * (gsize) problem->point_of[i];
  BundleImage image = bundle_image (k, x[0], x[1], x[2]);
  gdouble rx, ry, weight;

  bundle_residual (k, &image, problem->observed[2 * i],
      problem->observed[2 * i + 1], &rx, &ry);
  bundle_loss (
      c->config->loss, c->config->loss_scale, rx * rx + ry * ry, &weight);
  c->squares += (rx * rx + ry * ry) * weight * weight;
  bundle_derivatives (k, &image, seen->jac, seen->jac + 18);
  for (guint e = 0; e < 24; e++)
    seen->jac[e] *= weight;
  seen->unknown = c->unknown + 9 * (gsize) camera;
}

/* s += Ja^T E Jb for a 2 x 2 matrix, the lower triangle */
static void
add_pair (Covariance *c, const Seen *a, const Seen *b, gdouble e[2][2])
{
  for (guint i = 0; i < 9; i++)
    for (guint j = 0; j < 9; j++) {
      gint32 row = a->unknown[i], column = b->unknown[j];

      if (row >= 0 && column >= 0 && column <= row)
        c->s[(gsize) row * c->n + (gsize) column] +=
            a->jac[i] * (e[0][0] * b->jac[j] + e[0][1] * b->jac[9 + j])
            + a->jac[9 + i] * (e[1][0] * b->jac[j] + e[1][1] * b->jac[9 + j]);
    }
}

static void
add_point (Covariance *c, gsize point, Seen *seen)
{
  const BundleProblem *problem = c->problem;
  guint32 n = c->first[point + 1] - c->first[point];
  gdouble v[6] = { 0 }, inverse[6] = { 0 };

  for (guint32 k = 0; k < n; k++) {
    const gdouble *jp = seen[k].jac + 18;

    derive_observation (c, c->order[c->first[point] + k], &seen[k]);
    for (guint i = 0, at = 0; i < 3; i++)
      for (guint j = i; j < 3; j++, at++)
        v[at] += jp[i] * jp[j] + jp[3 + i] * jp[3 + j];
    for (guint i = 0; i < 9; i++)
      if (seen[k].unknown[i] >= 0)
        c->u[seen[k].unknown[i]] += seen[k].jac[i] * seen[k].jac[i]
                                    + seen[k].jac[9 + i] * seen[k].jac[9 + i];
  }
  if (!(problem->point_constant && problem->point_constant[point]))
    bundle_invert_3 (v, inverse);
  for (guint32 k = 0; k < n; k++)
    for (guint32 l = 0; l < n; l++) {
      const gdouble *p = seen[k].jac + 18, *q = seen[l].jac + 18;
      gdouble e[2][2];

      for (guint j = 0; j < 2; j++) {
        gdouble t[3];

        bundle_multiply_3 (inverse, q[3 * j], q[3 * j + 1], q[3 * j + 2], t);
        for (guint i = 0; i < 2; i++)
          e[i][j] = (k == l && i == j) - p[3 * i] * t[0] - p[3 * i + 1] * t[1]
                    - p[3 * i + 2] * t[2];
      }
      add_pair (c, &seen[k], &seen[l], e);
    }
}

/* --- Cholesky factorisation, BLOCK columns at a time ------------------------------ */

/* Rows below the block: solves for the block's columns, then subtracts their
 * products from the trailing matrix */
static void
solve_rows (guint first, guint count, gpointer data)
{
  Covariance *c = data;
  gsize begin = c->block, end = MIN (begin + BLOCK, c->n);

  for (gsize i = end + first; i < end + first + count; i++)
    for (gsize j = begin; j < end; j++) {
      gdouble *row = c->s + i * c->n, *other = c->s + j * c->n;
      gdouble sum = row[j];

      for (gsize k = begin; k < j; k++)
        sum -= row[k] * other[k];
      row[j] = sum / other[j];
    }
}

static void
update_rows (guint first, guint count, gpointer data)
{
  Covariance *c = data;
  gsize begin = c->block, end = MIN (begin + BLOCK, c->n);

  for (gsize i = end + first; i < end + first + count; i++)
    for (gsize j = end; j <= i; j++) {
      const gdouble *row = c->s + i * c->n, *other = c->s + j * c->n;
      gdouble sum = 0;

      for (gsize k = begin; k < end; k++)
        sum += row[k] * other[k];
      c->s[i * c->n + j] -= sum;
    }
}

/* Returns: FALSE if the matrix is singular */
static gboolean
factorise (Covariance *c)
{
  for (c->block = 0; c->block < c->n && !cvis_cancelled (); c->block += BLOCK) {
    gsize end = MIN (c->block + BLOCK, c->n);

    for (gsize i = c->block; i < end; i++)
      for (gsize j = c->block; j <= i; j++) {
        gdouble *row = c->s + i * c->n, *other = c->s + j * c->n;
        gdouble sum = row[j];

        for (gsize k = c->block; k < j; k++)
          sum -= row[k] * other[k];
        if (j < i)
          row[j] = sum / other[j];
        else if (!(sum > SINGULAR_PIVOT * c->u[i]))
          return FALSE;
        else
          row[i] = sqrt (sum);
      }
    cvis_pool_run (c->pool, (guint) (c->n - end), 8, solve_rows, c);
    cvis_pool_run (c->pool, (guint) (c->n - end), 8, update_rows, c);
  }
  return TRUE;
}

/* Inverse of a 3 x 3 matrix by its cofactors */
static void
invert_3 (const gdouble a[9], gdouble inverse[9])
{
  gdouble determinant = 0;

  for (guint i = 0; i < 3; i++)
    for (guint j = 0; j < 3; j++) {
      guint i1 = (i + 1) % 3, i2 = (i + 2) % 3;
      guint j1 = (j + 1) % 3, j2 = (j + 2) % 3;

      inverse[3 * j + i] =
          a[3 * i1 + j1] * a[3 * i2 + j2] - a[3 * i1 + j2] * a[3 * i2 + j1];
      if (i == 0)
        determinant += a[j] * inverse[3 * j];
    }
  for (guint i = 0; i < 9; i++)
    inverse[i] /= determinant;
}

/* Derivatives of a camera's parameters by its unknowns: a turn changes w by L^-1 of
 * it and t by turn x t, a move changes t by the frame's scale times it. */
static void
derive_parameters (
    const BundleFrame *frame, const gdouble *camera, gdouble to[9][9])
{
  const gdouble *t = camera + BUNDLE_CAMERA_TRANSLATION;
  gdouble left[9], inverse[9];

  memset (to, 0, 81 * sizeof (gdouble));
  bundle_left_jacobian (camera, left);
  invert_3 (left, inverse);
  for (guint i = 0; i < 3; i++) {
    guint j = (i + 1) % 3, k = (i + 2) % 3;

    memcpy (to[i], inverse + 3 * i, 3 * sizeof (gdouble));
    to[3 + i][j] = t[k];
    to[3 + i][k] = -t[j];
    to[3 + i][3 + i] = frame->scale;
    to[6 + i][6 + i] = 1;
  }
}

/* @block = D @block D^T */
static void
transform_block (gdouble d[9][9], gdouble *block)
{
  gdouble half[9][9];

  for (guint i = 0; i < 9; i++)
    for (guint j = 0; j < 9; j++) {
      half[i][j] = 0;
      for (guint k = 0; k < 9; k++)
        half[i][j] += d[i][k] * block[9 * k + j];
    }
  for (guint i = 0; i < 9; i++)
    for (guint j = 0; j < 9; j++) {
      block[9 * i + j] = 0;
      for (guint k = 0; k < 9; k++)
        block[9 * i + j] += half[i][k] * d[j][k];
    }
}

/* Blocks of cameras: Y^T Y with L Y = the camera's columns of the unit matrix */
static void
invert_cameras (guint first, guint count, gpointer data)
{
  Covariance *c = data;
  gdouble (*y)[9] = g_malloc_n (c->n, sizeof *y);

  for (gsize camera = first; camera < (gsize) first + count; camera++) {
    const gint32 *unknown = c->unknown + 9 * camera;
    gdouble *to = c->covariances + 81 * camera, parameters[9][9];

    memset (y, 0, c->n * sizeof *y);
    for (guint e = 0; e < 9; e++)
      if (unknown[e] >= 0)
        y[unknown[e]][e] = 1;
    for (gsize i = 0; i < c->n && !cvis_cancelled (); i++) {
      const gdouble *row = c->s + i * c->n;

      for (gsize k = 0; k < i; k++)
        for (guint e = 0; e < 9; e++)
          y[i][e] -= row[k] * y[k][e];
      for (guint e = 0; e < 9; e++)
        y[i][e] /= row[i];
    }
    memset (to, 0, 81 * sizeof *to);
    for (gsize k = 0; k < c->n; k++)
      for (guint i = 0; i < 9; i++)
        for (guint j = 0; j < 9; j++)
          to[9 * i + j] += c->variance * y[k][i] * y[k][j];
    derive_parameters (&c->frame,
        c->problem->cameras + BUNDLE_CAMERA_SIZE * camera, parameters);
    transform_block (parameters, to);
  }
  g_free (y);
}

/* --- API ----------------------------------------------------------------- */

static gboolean
compute (Covariance *c, GError **error)
{
  const BundleProblem *problem = c->problem;
  guint32 longest = 1;
  gsize free_points = 0;
  Seen *seen;
  gboolean done;

  for (gsize i = 0; i < problem->n_cameras; i++)
    bundle_constants (c->cameras + BUNDLE_CAMERA_SIZE * i, &c->constants[i]);
  sort_by_point (c);
  for (gsize i = 0; i < c->n && !cvis_cancelled (); i++)
    memset (c->s + i * c->n, 0, c->n * sizeof *c->s);
  for (gsize i = 0; i < problem->n_points; i++) {
    longest = MAX (longest, c->first[i + 1] - c->first[i]);
    free_points += c->first[i + 1] > c->first[i]
                   && !(problem->point_constant && problem->point_constant[i]);
  }
  if (2 * problem->n_observations <= c->n + 3 * free_points)
    return cvis_refuse (error,
        "covariances need more than %" G_GSIZE_FORMAT
        " observations for %" G_GSIZE_FORMAT
        " unknowns: fix parameters or add observations",
        problem->n_observations, c->n + 3 * free_points);
  seen = g_new (Seen, longest);
  for (gsize i = 0; i < problem->n_points && !cvis_cancelled (); i++)
    add_point (c, i, seen);
  g_free (seen);
  c->variance =
      c->squares
      / (gdouble) (2 * problem->n_observations - c->n - 3 * free_points);
  done = factorise (c);
  if (done)
    cvis_pool_run (c->pool, problem->n_cameras, 1, invert_cameras, c);
  else
    cvis_refuse (error,
        "the problem has no unique solution and hence no covariances: "
        "fix the first camera and a distance, and cameras with few points");
  return done;
}

#define NEW(to, n)                                                             \
  ((*(to) = cvis_memory_new (                                                  \
        MAX ((gsize) (n), 1) * sizeof **(to), TRUE, error))                    \
      != NULL)

gboolean
bundle_covariances (const BundleProblem *problem, const BundleConfig *config,
    gdouble *covariances, GError **error)
{
  Covariance c = { problem, config };
  gboolean done = FALSE;

  if (!bundle_config_check (config, error)
      || !bundle_problem_check (problem, error))
    return FALSE;
  if (problem->lenses)
    return cvis_refuse (
        error, "covariances are computed for cameras of BAL only");
  if (problem->n_cameras > MAX_CAMERAS)
    return cvis_refuse (error,
        "covariances of %u cameras need too much memory: at most %u cameras",
        problem->n_cameras, MAX_CAMERAS);
  c.covariances = covariances;
  c.pool = cvis_pool_new (config->threads);
  if (bundle_frame_init (&c.frame, problem, c.pool, error)
      && NEW (&c.cameras, 9 * (gsize) problem->n_cameras)
      && NEW (&c.points, 3 * (gsize) problem->n_points)
      && NEW (&c.unknown, 9 * (gsize) problem->n_cameras)
      && NEW (&c.constants, problem->n_cameras)
      && NEW (&c.first, (gsize) problem->n_points + 1)
      && NEW (&c.order, problem->n_observations)) {
    number_unknowns (&c);
    bundle_frame_enter (&c.frame, problem, c.pool, c.cameras, c.points);
    done = (c.s = cvis_memory_new (
                MAX (c.n, 1) * MAX (c.n, 1) * sizeof *c.s, FALSE, error))
           && NEW (&c.u, c.n) && compute (&c, error);
  }
  if (cvis_cancelled ())
    done = cvis_refuse_cancelled (error);
  cvis_pool_free (c.pool);
  free (c.cameras);
  free (c.points);
  free (c.unknown);
  free (c.constants);
  free (c.first);
  free (c.order);
  free (c.s);
  free (c.u);
  return done;
}
