/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Normal equations, preconditioned conjugate gradients and candidates. Loops
 * over segments, cameras, points or chunks of vectors run in any order; each
 * item writes its own results, which are summed in order. */
#include "cuda/bundle/cpu/priors.h"
#include "cuda/bundle/cpu/schur.h"

#include <string.h>

#include "cuda/core/cancel.h"

#define CAMERA_GRAIN 16

enum {
  SUM_GRADIENT = BUNDLE_TRIANGLE,
  SUM_COST = BUNDLE_SUM_COST,
  SUM_MODEL = 0
};

void
bundle_cpu_for_segments (BundleBackend *b, CvisPoolFunc func)
{
  cvis_pool_run (b->pool, b->n_segments, 1, func, b);
}

void
bundle_cpu_for_cameras (BundleBackend *b, CvisPoolFunc func)
{
  cvis_pool_run (b->pool, b->n_cameras, CAMERA_GRAIN, func, b);
}

static void
do_ranges (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (gsize i = first; i < (gsize) first + count; i++) {
    gdouble *sums = b->chunk + BUNDLE_CHUNK_SUMS * i;
    gsize begin = i * b->range_size;

    memset (sums, 0, BUNDLE_CHUNK_SUMS * sizeof *sums);
    b->range (b, begin, MIN (begin + b->range_size, b->range_n), sums);
  }
}

/* Calls @func for chunks of @size of 0..@n-1, and adds the sums of the
 * chunks in order. */
static void
for_ranges (BundleBackend *b, gsize n, gsize size, BundleRangeFunc func,
    gdouble sums[BUNDLE_CHUNK_SUMS])
{
  guint chunks = (guint) ((n + size - 1) / size);

  b->range = func;
  b->range_n = n;
  b->range_size = size;
  cvis_pool_run (b->pool, chunks, 4, do_ranges, b);
  memset (sums, 0, BUNDLE_CHUNK_SUMS * sizeof *sums);
  for (gsize i = 0; i < chunks; i++)
    for (guint k = 0; k < BUNDLE_CHUNK_SUMS; k++)
      sums[k] += b->chunk[BUNDLE_CHUNK_SUMS * i + k];
}

static void
for_points (
    BundleBackend *b, BundleRangeFunc func, gdouble sums[BUNDLE_CHUNK_SUMS])
{
  for_ranges (b, b->n_points, BUNDLE_CHUNK / BUNDLE_POINT, func, sums);
}

static void
for_elements (
    BundleBackend *b, BundleRangeFunc func, gdouble sums[BUNDLE_CHUNK_SUMS])
{
  for_ranges (b, b->n_vector, BUNDLE_CHUNK, func, sums);
}

/* Sums element @at of the segments' partial sums. */
static gdouble
sum_segments (const BundleBackend *b, guint at)
{
  gdouble sum = 0;

  for (gsize i = 0; i < b->n_segments; i++)
    sum += b->partial[b->n_sums * i + at];
  return sum;
}

void
bundle_cpu_sum_segments (const BundleBackend *b, guint first, guint end,
    guint at, guint n, gdouble *to)
{
  memset (to, 0, n * sizeof *to);
  for (gsize s = first; s < end; s++)
    for (guint i = 0; i < n; i++)
      to[i] += b->partial[b->n_sums * s + at + i];
}

void
bundle_cpu_sum_camera (
    const BundleBackend *b, guint camera, guint at, guint n, gdouble *to)
{
  bundle_cpu_sum_segments (
      b, b->camera_first[camera], b->camera_first[camera + 1], at, n, to);
}

/* Adds all cameras' intrinsics to those of camera 0. */
static void
share_intrinsics (const BundleBackend *b, gdouble *x)
{
  for (gsize c = 1; b->shared && c < b->n_cameras; c++)
    for (guint i = BUNDLE_CAMERA_FOCAL; i < 9; i++) {
      x[i] += x[9 * c + i];
      x[9 * c + i] = 0;
    }
}

/* Zeroes constant parameters. */
static void
mask_cameras (const BundleBackend *b, gdouble *x)
{
  for (gsize c = 0; c < b->n_cameras; c++)
    for (guint i = 0; b->camera_constant[c] && i < 9; i++)
      if (b->camera_constant[c] >> i & 1)
        x[9 * c + i] = 0;
}

static gboolean
is_constant (const BundleBackend *b, gsize point)
{
  return b->point_constant != NULL && b->point_constant[point] != 0;
}

/* --- linearisation -------------------------------------------------------------- */

static void
linearize_segments (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++) {
    gdouble *partial = b->partial + (gsize) i * b->n_sums;

    partial[SUM_COST] = b->kernels->linearize (b, &b->segments[i], partial);
  }
}

static void
sum_normal_cameras (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++) {
    gdouble *u = b->u + (gsize) i * BUNDLE_TRIANGLE;

    bundle_cpu_sum_camera (b, i, 0, BUNDLE_TRIANGLE, u);
    bundle_cpu_sum_camera (
        b, i, SUM_GRADIENT, 9, b->gradient_c + 9 * (gsize) i);
    for (guint k = 0; k < 9; k++)
      b->diagonal[9 * (gsize) i + k] = u[bundle_cpu_at (k, k)];
  }
}

static void
sum_normal_points (BundleBackend *b, gsize first, gsize end, gdouble *sums)
{
  for (gsize i = first; i < end; i++) {
    gdouble sum[9] = { 0 };

    for (guint32 k = b->point_first[i]; k < b->point_first[i + 1]; k++)
      for (guint e = 0; e < 9; e++)
        sum[e] += b->forward[9 * (gsize) b->point_slot[k] + e];
    memcpy (b->v + 6 * i, sum, 6 * sizeof *sum);
    if (is_constant (b, i))
      memset (sum + 6, 0, 3 * sizeof *sum);
    memcpy (b->gradient_p + BUNDLE_POINT * i, sum + 6, 3 * sizeof *sum);
    sums[0] = MAX (
        sums[0], sqrt (sum[6] * sum[6] + sum[7] * sum[7] + sum[8] * sum[8]));
    if (!b->scaled)
      b->scale_p[i] = bundle_column_scale (bundle_mean_square (sum));
  }
}

gboolean
bundle_cpu_linearize (
    BundleBackend *b, gdouble *cost, gdouble *gradient, GError **error)
{
  gdouble sums[BUNDLE_CHUNK_SUMS], prior_cost;

  bundle_cpu_for_segments (b, linearize_segments);
  if (b->lenses)
    bundle_lenses_sum_normal (b);
  else
    bundle_cpu_for_cameras (b, sum_normal_cameras);
  prior_cost = b->priors ? bundle_priors_linearize (b) : 0;
  share_intrinsics (b, b->gradient_c);
  mask_cameras (b, b->gradient_c);
  share_intrinsics (b, b->diagonal);
  if (!b->scaled)
    for (gsize i = 0; i < b->n_vector; i++)
      b->scale_c[i] = bundle_column_scale (b->diagonal[i]);
  for_points (b, sum_normal_points, sums);
  b->scaled = TRUE;
  *cost = sum_segments (b, SUM_COST) + prior_cost;
  *gradient = 0;
  for (gsize i = 0; i < b->n_vector; i++)
    *gradient = MAX (*gradient, fabs (b->gradient_c[i]));
  for (gsize i = 0; i * b->range_size < b->n_points; i++)
    *gradient = MAX (*gradient, b->chunk[BUNDLE_CHUNK_SUMS * i]);
  return TRUE;
}

/* --- products with the matrix ----------------------------------------------------- */

static void
forward_segments (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++) {
    gdouble v[BUNDLE_STEP];

    bundle_lenses_expand (b, b->in, &b->segments[i], v);
    b->kernels->forward (b, &b->segments[i], v);
  }
}

/* W^T of the vector, which forward holds for each slot */
static void
sum_forward (const BundleBackend *b, gsize point, gdouble sum[3])
{
  gdouble all[BUNDLE_POINT] = { 0 };

  for (guint32 k = b->point_first[point]; k < b->point_first[point + 1]; k++)
    for (guint e = 0; e < BUNDLE_POINT; e++)
      all[e] += b->forward[BUNDLE_POINT * (gsize) b->point_slot[k] + e];
  memcpy (sum, all, 3 * sizeof *sum);
}

/* point = V^-1 W^T p */
static void
eliminate_points (BundleBackend *b, gsize first, gsize end, gdouble *sums)
{
  for (gsize i = first; i < end; i++) {
    gdouble t[3];

    sum_forward (b, i, t);
    bundle_multiply_3 (
        b->inverse_v + 6 * i, t[0], t[1], t[2], b->point + BUNDLE_POINT * i);
  }
}

static void
backward_segments (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++)
    b->kernels->backward (
        b, &b->segments[i], b->partial + (gsize) i * b->n_sums);
}

/* q = (U + D) p - W point */
static void
multiply_cameras (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++) {
    gsize at = 9 * (gsize) i;
    gdouble v[9], w[9], product[9];

    bundle_cpu_expand (b, b->in, i, v);
    bundle_cpu_multiply_9 (b->u + (gsize) i * BUNDLE_TRIANGLE, v, product);
    bundle_cpu_sum_camera (b, i, 0, 9, w);
    for (guint k = 0; k < 9; k++)
      b->out[at + k] = product[k] - w[k] + b->damping_c[at + k] * b->in[at + k];
  }
}

static void
multiply (BundleBackend *b, const gdouble *p, gdouble *q)
{
  gdouble sums[BUNDLE_CHUNK_SUMS];

  b->in = p;
  b->out = q;
  if (b->lenses && b->lenses->ready) {
    bundle_schur_multiply (b, b->lenses->schur);
    mask_cameras (b, q);
    return;
  }
  bundle_cpu_for_segments (b, forward_segments);
  for_points (b, eliminate_points, sums);
  bundle_cpu_for_segments (b, backward_segments);
  if (b->lenses)
    bundle_lenses_multiply (b);
  else
    bundle_cpu_for_cameras (b, multiply_cameras);
  share_intrinsics (b, q);
  mask_cameras (b, q);
}

/* --- damping, right-hand side, preconditioner ---------------------------- */

static void
damp_points (BundleBackend *b, gsize first, gsize end, gdouble *sums)
{
  for (gsize i = first; i < end; i++) {
    const gdouble *v = b->v + 6 * i, *g = b->gradient_p + BUNDLE_POINT * i;
    gdouble damping =
        bundle_damping (bundle_mean_square (v), b->scale_p[i], b->radius);
    gdouble a[6];

    b->damping_p[i] = damping;
    memcpy (a, v, sizeof a);
    a[0] += damping;
    a[3] += damping;
    a[5] += damping;
    if (is_constant (b, i))
      memset (a, 0, sizeof a);
    bundle_invert_3 (a, b->inverse_v + 6 * i);
    bundle_multiply_3 (
        b->inverse_v + 6 * i, g[0], g[1], g[2], b->point + BUNDLE_POINT * i);
  }
}

/* b = -g + W V^-1 g */
static void
make_right_side (BundleBackend *b)
{
  for (gsize i = 0; i < b->n_vector; i++)
    b->b[i] = -b->gradient_c[i];
  if (b->lenses) { /* the products contain those with b->in */
    memset (b->x, 0, b->n_vector * sizeof *b->x);
    b->in = b->x;
    bundle_cpu_for_segments (b, backward_segments);
    bundle_lenses_add_right_side (b);
    return;
  }
  bundle_cpu_for_segments (b, backward_segments);
  for (guint i = 0; i < b->n_cameras; i++) {
    gdouble w[9];

    bundle_cpu_sum_camera (b, i, 0, 9, w);
    for (guint k = 0; k < 9; k++)
      b->b[9 * (gsize) i + k] += w[k];
  }
  share_intrinsics (b, b->b);
  mask_cameras (b, b->b);
}

static void
schur_segments (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++)
    b->kernels->schur (b, &b->segments[i], b->partial + (gsize) i * b->n_sums);
}

static void
invert_cameras (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++)
    bundle_cpu_invert_block (b, i, b->schur + (gsize) i * BUNDLE_TRIANGLE);
}

static void
make_preconditioner (BundleBackend *b)
{
  gboolean schur = b->config.preconditioner != BUNDLE_PRECONDITIONER_JACOBI;

  if (schur)
    bundle_cpu_for_segments (b, schur_segments);
  if (b->lenses) {
    bundle_lenses_make_preconditioner (b);
    return;
  }
  for (gsize c = 0; c < b->n_cameras; c++) {
    const gdouble *u = b->u + BUNDLE_TRIANGLE * c;
    gdouble *to = b->schur + BUNDLE_TRIANGLE * c;
    gdouble eliminated[BUNDLE_TRIANGLE] = { 0 };

    if (schur)
      bundle_cpu_sum_camera (b, (guint) c, 0, BUNDLE_TRIANGLE, eliminated);
    for (guint i = 0; i < BUNDLE_TRIANGLE; i++)
      to[i] = u[i] - eliminated[i];
    for (guint i = BUNDLE_CAMERA_FOCAL; b->shared && c > 0 && i < 9; i++)
      for (guint j = i; j < 9; j++)
        b->schur[bundle_cpu_at (i, j)] += to[bundle_cpu_at (i, j)];
  }
  for (gsize c = 0; c < b->n_cameras; c++)
    for (guint i = 0; i < 9; i++)
      b->schur[BUNDLE_TRIANGLE * c + bundle_cpu_at (i, i)] +=
          b->damping_c[9 * c + i];
  if (b->cluster)
    bundle_cluster_update (b);
  else
    bundle_cpu_for_cameras (b, invert_cameras);
}

static void
precondition_cameras (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (gsize i = first; i < (gsize) first + count; i++)
    bundle_cpu_multiply_9 (
        b->inverse_u + BUNDLE_TRIANGLE * i, b->r + 9 * i, b->z + 9 * i);
}

static void
precondition (BundleBackend *b)
{
  if (b->lenses)
    bundle_lenses_precondition (b, b->r, b->z);
  else if (b->cluster)
    bundle_cluster_apply (b, b->r, b->z);
  else
    bundle_cpu_for_cameras (b, precondition_cameras);
}

/* --- vectors ----------------------------------------------------------------------------- */

static void
dot_r_z (BundleBackend *b, gsize first, gsize end, gdouble *sums)
{
  for (gsize i = first; i < end; i++)
    sums[0] += b->r[i] * b->z[i];
}

static void
dot_p_q (BundleBackend *b, gsize first, gsize end, gdouble *sums)
{
  for (gsize i = first; i < end; i++)
    sums[0] += b->p[i] * b->q[i];
}

static void
update_direction (BundleBackend *b, gsize first, gsize end, gdouble *sums)
{
  for (gsize i = first; i < end; i++)
    b->p[i] = b->z[i] + b->beta * b->p[i];
}

/* x += alpha p, r -= alpha q; sum: x (b + r) */
static void
update_solution (BundleBackend *b, gsize first, gsize end, gdouble *sums)
{
  for (gsize i = first; i < end; i++) {
    b->x[i] += b->alpha * b->p[i];
    b->r[i] -= b->alpha * b->q[i];
    sums[0] += b->x[i] * (b->b[i] + b->r[i]);
  }
}

/* Solves for x from b. Stops like Ceres: when the quadratic model x (b + r)
 * gains less than eta of its mean gain for each iteration.
 * Returns: FALSE if cancelled */
static gboolean
solve_pcg (BundleBackend *b, BundleProgress progress, gpointer user_data,
    guint *iterations)
{
  gsize bytes = b->n_vector * sizeof *b->x;
  gdouble rho = 1, model = 0, sums[BUNDLE_CHUNK_SUMS];

  *iterations = 0;
  memset (b->x, 0, bytes);
  memset (b->p, 0, bytes);
  memset (b->z, 0, bytes);
  memcpy (b->r, b->b, bytes);
  while (*iterations < b->config.max_pcg_iterations) {
    gdouble last = rho, last_model = model, curvature;

    if (progress && !progress (NULL, user_data))
      return FALSE;
    precondition (b);
    for_elements (b, dot_r_z, sums);
    rho = sums[0];
    if (!(rho > 0) || !isfinite (rho))
      break;
    b->beta = *iterations == 0 ? 0 : rho / last;
    for_elements (b, update_direction, sums);
    if (b->lenses && *iterations > 0 && bundle_lenses_prepare (b, *iterations))
      return TRUE;
    multiply (b, b->p, b->q);
    for_elements (b, dot_p_q, sums);
    curvature = sums[0];
    if (!(curvature > 0) || !isfinite (curvature))
      break;
    b->alpha = rho / curvature;
    for_elements (b, update_solution, sums);
    ++*iterations;
    model = sums[0];
    if (*iterations * (model - last_model) < b->config.eta * model)
      break;
  }
  if (b->lenses)
    b->lenses->last = *iterations;
  return TRUE;
}

/* --- a step -------------------------------------------------------------------------------- */

/* The points' step and their candidate; sums: squares of step and state. */
static void
move_points (BundleBackend *b, gsize first, gsize end, gdouble *sums)
{
  for (gsize i = first; i < end; i++) {
    const gdouble *g = b->gradient_p + BUNDLE_POINT * i;
    gdouble *d = b->point + BUNDLE_POINT * i;
    gdouble t[3];

    sum_forward (b, i, t);
    bundle_multiply_3 (
        b->inverse_v + 6 * i, -g[0] - t[0], -g[1] - t[1], -g[2] - t[2], d);
    for (guint k = 0; k < 3; k++) {
      gdouble old = b->points[BUNDLE_POINT * i + k];

      b->new_points[BUNDLE_POINT * i + k] = old + d[k];
      sums[0] += d[k] * d[k];
      sums[1] += old * old;
    }
  }
}

static void
evaluate_segments (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++) {
    gdouble *partial = b->partial + (gsize) i * b->n_sums, v[BUNDLE_STEP];

    bundle_lenses_expand (b, b->x, &b->segments[i], v);
    partial[SUM_MODEL] = b->kernels->model (b, &b->segments[i], v);
    partial[SUM_COST] = b->kernels->cost (b, &b->segments[i]);
  }
}

/* Computes the candidate and the fields of BundleStep. */
static void
make_candidate (BundleBackend *b, BundleStep *step)
{
  gdouble sums[BUNDLE_CHUNK_SUMS];

  b->in = b->x;
  bundle_cpu_for_segments (b, forward_segments);
  for_points (b, move_points, sums);
  for (guint c = 0; c < b->n_cameras; c++) {
    gdouble v[9];

    bundle_cpu_expand (b, b->x, c, v);
    bundle_move_camera (
        b->cameras + 9 * (gsize) c, v, b->new_cameras + 9 * (gsize) c);
    bundle_add_squares (b->cameras + 9 * (gsize) c, v, 9, sums);
    bundle_constants (b->new_cameras + 9 * (gsize) c, &b->new_constants[c]);
  }
  if (b->lenses)
    bundle_lenses_move (b, sums);
  b->eval_points = b->new_points;
  b->eval_constants = b->new_constants;
  bundle_cpu_for_segments (b, evaluate_segments);
  step->model_decrease = sum_segments (b, SUM_MODEL);
  step->cost = sum_segments (b, SUM_COST);
  if (b->priors) {
    step->model_decrease += bundle_priors_model (b, b->x);
    step->cost += bundle_priors_cost (b);
  }
  step->step_norm = sqrt (sums[0]);
  step->state_norm = sqrt (sums[1]);
}

gboolean
bundle_cpu_step (BundleBackend *b, gdouble radius, BundleProgress progress,
    gpointer user_data, BundleStep *step, GError **error)
{
  gdouble sums[BUNDLE_CHUNK_SUMS];

  *step = (BundleStep){ 0 };
  b->radius = radius;
  for (gsize i = 0; i < b->n_vector; i++)
    b->damping_c[i] = bundle_damping (b->diagonal[i], b->scale_c[i], radius);
  for_points (b, damp_points, sums);
  if (b->direct) {
    step->cancelled = progress && !progress (NULL, user_data);
    if (!step->cancelled)
      bundle_direct_solve (b);
  } else {
    make_right_side (b);
    if (!b->lenses || !bundle_lenses_prepare (b, 0)) {
      make_preconditioner (b);
      step->cancelled =
          !solve_pcg (b, progress, user_data, &step->pcg_iterations);
    }
  }
  if (!step->cancelled)
    make_candidate (b, step);
  step->cancelled |= cvis_cancelled ();
  return TRUE;
}
