/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sums of a lens run over its cameras in their order, those of a camera over its
 * segments, so they do not depend on the number of threads. */
#include "cuda/bundle/cpu/factor.h"
#include "cuda/bundle/cpu/priors.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/bundle/lens/observation.h"
#include "cuda/core/memory.h"

void
bundle_lenses_free (BundleCpuLenses *lenses)
{
  if (lenses == NULL)
    return;
  free (lenses->now);
  free (lenses->next);
  free (lenses->lens);
  free (lenses->first_of);
  free (lenses->of_lens);
  free (lenses->rows_of);
  free (lenses->rows);
  bundle_schur_free (lenses->schur);
  bundle_factor_free (lenses->factor);
  free (lenses->arrows);
  free (lenses->inverses);
  g_free (lenses);
}

/* The columns of each lens, behind the elements of the cameras */
static void
count_columns (BundleBackend *b, const BundleProblem *problem)
{
  BundleCpuLenses *l = b->lenses;

  for (guint i = 0; i < l->n; i++) {
    BundleCpuLens *lens = &l->lens[i];

    lens->first = b->n_vector;
    for (guint k = 0; k < bundle_lens_size (problem->lenses[i].model); k++)
      if (!(problem->lenses[i].constant >> k & 1))
        lens->parameter[lens->n++] = (guint8) k;
    b->n_vector += lens->n;
  }
}

/* Lists the cameras of each lens. */
static void
list_cameras (BundleBackend *b)
{
  BundleCpuLenses *l = b->lenses;

  for (guint c = 0; c < b->n_cameras; c++)
    l->first_of[l->of[c] + 1]++;
  for (guint i = 0; i < l->n; i++)
    l->first_of[i + 1] += l->first_of[i];
  for (guint c = 0; c < b->n_cameras; c++)
    l->of_lens[l->first_of[l->of[c]]++] = c;
  memmove (l->first_of + 1, l->first_of, l->n * sizeof *l->first_of);
  l->first_of[0] = 0;
}

#define NEW_LENSES(to, n)                                                      \
  ((*(to) = cvis_memory_new (                                                  \
        MAX ((gsize) (n), 1) * sizeof **(to), TRUE, error))                    \
      != NULL)

gboolean
bundle_lenses_new (BundleBackend *b, GError **error)
{
  const BundleProblem *problem = b->problem;
  BundleCpuLenses *l = b->lenses = g_new0 (BundleCpuLenses, 1);
  gsize n_rows = 0;

  l->n = problem->n_lenses;
  l->of = problem->lens_of;
  if (!NEW_LENSES (&l->now, l->n) || !NEW_LENSES (&l->next, l->n)
      || !NEW_LENSES (&l->lens, l->n)
      || !NEW_LENSES (&l->first_of, (gsize) l->n + 1)
      || !NEW_LENSES (&l->of_lens, b->n_cameras)
      || !NEW_LENSES (&l->rows_of, b->n_segments)
      || !NEW_LENSES (&l->arrows, b->n_cameras)
      || !NEW_LENSES (
          &l->inverses, (gsize) l->n * BUNDLE_LENS_SIZE * BUNDLE_LENS_SIZE))
    return FALSE;
  memcpy (l->now, problem->lenses, l->n * sizeof *l->now);
  memcpy (l->next, problem->lenses, l->n * sizeof *l->next);
  count_columns (b, problem);
  list_cameras (b);
  for (guint i = 0; i < b->n_segments; i++) {
    const BundleSegment *s = &b->segments[i];

    l->rows_of[i] = n_rows;
    n_rows += (gsize) s->n * BUNDLE_LENS_ROWS (l->lens[l->of[s->camera]].n);
  }
  b->n_sums = BUNDLE_LENS_SUMS;
  l->rows = cvis_memory_new (n_rows * sizeof *l->rows, FALSE, error);
  return l->rows != NULL;
}

static const BundleCpuLens *
lens_of (const BundleBackend *b, guint camera)
{
  return &b->lenses->lens[b->lenses->of[camera]];
}

/* Adds @part of each camera, its elements from @at on, to the columns of its lens in
 * @x. */
static void
add_to_lenses (BundleBackend *b, guint at, gdouble sign, gdouble *x)
{
  const BundleCpuLenses *l = b->lenses;

  for (guint i = 0; i < l->n; i++) {
    const BundleCpuLens *lens = &l->lens[i];

    for (guint k = l->first_of[i]; k < l->first_of[i + 1]; k++)
      for (guint e = 0; e < lens->n; e++)
        x[lens->first + e] += sign * l->arrows[l->of_lens[k]].sum[at + e];
  }
}

/* --- normal equations ------------------------------------------------------------ */

static void
sum_normal (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint c = first; c < first + count; c++) {
    gdouble *sum = b->lenses->arrows[c].sum;
    gdouble all[2 * BUNDLE_STEP];

    bundle_cpu_sum_camera (b, c, BUNDLE_LENS_GRADIENT, 2 * BUNDLE_STEP, all);
    memcpy (b->gradient_c + 9 * (gsize) c, all, 9 * sizeof *all);
    memcpy (b->diagonal + 9 * (gsize) c, all + BUNDLE_STEP, 9 * sizeof *all);
    memcpy (sum, all + 9, BUNDLE_LENS_SIZE * sizeof *sum);
    memcpy (sum + BUNDLE_LENS_SIZE, all + BUNDLE_STEP + 9,
        BUNDLE_LENS_SIZE * sizeof *sum);
  }
}

void
bundle_lenses_sum_normal (BundleBackend *b)
{
  const gsize first = 9 * (gsize) b->n_cameras;
  const gsize bytes = (b->n_vector - first) * sizeof (gdouble);

  bundle_cpu_for_cameras (b, sum_normal);
  memset (b->gradient_c + first, 0, bytes);
  memset (b->diagonal + first, 0, bytes);
  add_to_lenses (b, 0, 1, b->gradient_c);
  add_to_lenses (b, BUNDLE_LENS_SIZE, 1, b->diagonal);
}

/* --- products --------------------------------------------------------------------- */

/* The matrix takes about as long as this many products. */
#define FEW_PRODUCTS 12

/* Without the memory they are not used. */
static void
make_schur (BundleBackend *b)
{
  BundleCpuLenses *l = b->lenses;

  l->tried = TRUE;
  if (!bundle_schur_new (b, &l->schur, NULL))
    g_clear_pointer (&l->schur, bundle_schur_free);
  else if (l->schur && b->config.solver == BUNDLE_SOLVER_AUTO
           && !bundle_factor_new (b, &l->factor, NULL))
    g_clear_pointer (&l->factor, bundle_factor_free);
}

gboolean
bundle_lenses_prepare (BundleBackend *b, guint iteration)
{
  BundleCpuLenses *l = b->lenses;

  const gboolean due =
      iteration >= (l->last > 2 * FEW_PRODUCTS ? 0 : FEW_PRODUCTS);

  if (iteration == 0)
    l->ready = FALSE;
  if (!l->tried && (due || b->config.solver == BUNDLE_SOLVER_AUTO))
    make_schur (b);
  if (l->schur == NULL || l->ready || (l->factor == NULL && !due))
    return FALSE;
  bundle_schur_update (b, l->schur);
  l->ready = TRUE;
  if (l->factor)
    bundle_factor_solve (b, l->factor);
  return l->factor != NULL;
}

static void
multiply_poses (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint c = first; c < first + count; c++) {
    const gsize at = 9 * (gsize) c;
    gdouble sum[BUNDLE_STEP];

    bundle_cpu_sum_camera (b, c, 0, BUNDLE_STEP, sum);
    for (guint i = 0; i < 9; i++)
      b->out[at + i] = b->damping_c[at + i] * b->in[at + i] - sum[i];
    bundle_priors_multiply (b, c, b->in + at, b->out + at);
    memcpy (b->lenses->arrows[c].sum, sum + 9, BUNDLE_LENS_SIZE * sizeof *sum);
  }
}

void
bundle_lenses_multiply (BundleBackend *b)
{
  bundle_cpu_for_cameras (b, multiply_poses);
  for (gsize i = 9 * (gsize) b->n_cameras; i < b->n_vector; i++)
    b->out[i] = b->damping_c[i] * b->in[i];
  add_to_lenses (b, 0, -1, b->out);
}

static void
add_pose_sides (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint c = first; c < first + count; c++) {
    const guint16 constant = b->camera_constant[c];
    gdouble sum[BUNDLE_STEP];

    bundle_cpu_sum_camera (b, c, 0, BUNDLE_STEP, sum);
    for (guint i = 0; i < 9; i++)
      b->b[9 * (gsize) c + i] += constant >> i & 1 ? 0 : sum[i];
    memcpy (b->lenses->arrows[c].sum, sum + 9, BUNDLE_LENS_SIZE * sizeof *sum);
  }
}

void
bundle_lenses_add_right_side (BundleBackend *b)
{
  bundle_cpu_for_cameras (b, add_pose_sides);
  add_to_lenses (b, 0, 1, b->b);
}

/* --- preconditioner ----------------------------------------------------------------
 *
 * The blocks of the Schur complement of one camera and its lens, [B W; W^T L] with L
 * summed over the lens's cameras. They form an arrow for each lens, which is inverted
 * exactly: T = L - sum of W^T B^-1 W. */

static void
invert_poses (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint c = first; c < first + count; c++) {
    BundleCpuArrow *arrow = &b->lenses->arrows[c];
    const guint n = lens_of (b, c)->n, size = BUNDLE_POSE + n;
    const guint16 constant = b->camera_constant[c];
    gdouble triangle[BUNDLE_LENS_SUMS];
    guint at = 0;

    bundle_cpu_sum_camera (b, c, 0, size * (size + 1) / 2, triangle);
    for (guint i = 0; i < size; i++)
      for (guint j = i; j < size; j++, at++) {
        const gboolean fixed = (i < BUNDLE_POSE && (constant >> i & 1))
                               || (j < BUNDLE_POSE && (constant >> j & 1));
        gdouble value =
            fixed ? 0 : triangle[at] + bundle_priors_at (b, c, i, j);

        if (i == j && i < BUNDLE_POSE && !fixed)
          value += b->damping_c[9 * (gsize) c + i];
        if (j < BUNDLE_POSE)
          arrow->inverse[BUNDLE_POSE * i + j] =
              arrow->inverse[BUNDLE_POSE * j + i] = value;
        else if (i < BUNDLE_POSE)
          arrow->coupling[n * i + j - BUNDLE_POSE] = value;
        else
          arrow->sum[n * (i - BUNDLE_POSE) + j - BUNDLE_POSE] = value;
      }
    bundle_cpu_invert (arrow->inverse, BUNDLE_POSE, BUNDLE_POSE);
    for (guint i = 0; i < BUNDLE_POSE; i++)
      for (guint j = 0; j < n; j++) {
        gdouble sum = 0;

        for (guint k = 0; k < BUNDLE_POSE; k++)
          sum +=
              arrow->inverse[BUNDLE_POSE * i + k] * arrow->coupling[n * k + j];
        arrow->solved[n * i + j] = sum;
      }
    for (guint i = 0; i < n; i++)
      for (guint j = i; j < n; j++)
        for (guint k = 0; k < BUNDLE_POSE; k++)
          arrow->sum[n * i + j] -=
              arrow->coupling[n * k + i] * arrow->solved[n * k + j];
  }
}

void
bundle_lenses_make_preconditioner (BundleBackend *b)
{
  const BundleCpuLenses *l = b->lenses;

  bundle_cpu_for_cameras (b, invert_poses);
  for (guint i = 0; i < l->n; i++) {
    const BundleCpuLens *lens = &l->lens[i];
    const guint n = lens->n;
    gdouble *to = l->inverses + (gsize) i * BUNDLE_LENS_SIZE * BUNDLE_LENS_SIZE;

    memset (to, 0, n * n * sizeof *to);
    for (guint k = l->first_of[i]; k < l->first_of[i + 1]; k++)
      for (guint r = 0; r < n; r++)
        for (guint c = r; c < n; c++)
          to[n * r + c] += l->arrows[l->of_lens[k]].sum[n * r + c];
    for (guint r = 0; r < n; r++) {
      to[n * r + r] += b->damping_c[lens->first + r];
      for (guint c = 0; c < r; c++)
        to[n * r + c] = to[n * c + r];
    }
    bundle_cpu_invert (to, n, n);
  }
}

/* z = B^-1 r of the poses; the camera's part of W^T z */
static void
precondition_poses (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint c = first; c < first + count; c++) {
    BundleCpuArrow *arrow = &b->lenses->arrows[c];
    const guint n = lens_of (b, c)->n;
    const gdouble *r = b->in + 9 * (gsize) c;
    gdouble *z = b->out + 9 * (gsize) c;

    for (guint i = 0; i < 9; i++)
      z[i] = 0;
    for (guint i = 0; i < BUNDLE_POSE; i++)
      for (guint k = 0; k < BUNDLE_POSE; k++)
        z[i] += arrow->inverse[BUNDLE_POSE * i + k] * r[k];
    for (guint j = 0; j < n; j++) {
      arrow->sum[j] = 0;
      for (guint k = 0; k < BUNDLE_POSE; k++)
        arrow->sum[j] += arrow->coupling[n * k + j] * z[k];
    }
  }
}

/* z -= B^-1 W times the lens's */
static void
correct_poses (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint c = first; c < first + count; c++) {
    const BundleCpuLens *lens = lens_of (b, c);

    for (guint i = 0; i < BUNDLE_POSE; i++)
      for (guint j = 0; j < lens->n; j++)
        b->out[9 * (gsize) c + i] -=
            b->lenses->arrows[c].solved[lens->n * i + j]
            * b->out[lens->first + j];
  }
}

void
bundle_lenses_precondition (BundleBackend *b, const gdouble *r, gdouble *z)
{
  const BundleCpuLenses *l = b->lenses;

  b->in = r;
  b->out = z;
  bundle_cpu_for_cameras (b, precondition_poses);
  for (gsize i = 9 * (gsize) b->n_cameras; i < b->n_vector; i++)
    z[i] = r[i];
  add_to_lenses (b, 0, -1, z);
  for (guint i = 0; i < l->n; i++) {
    const BundleCpuLens *lens = &l->lens[i];
    const gdouble *inverse =
        l->inverses + (gsize) i * BUNDLE_LENS_SIZE * BUNDLE_LENS_SIZE;
    gdouble right[BUNDLE_LENS_SIZE];

    memcpy (right, z + lens->first, lens->n * sizeof *right);
    for (guint e = 0; e < lens->n; e++) {
      z[lens->first + e] = 0;
      for (guint k = 0; k < lens->n; k++)
        z[lens->first + e] += inverse[lens->n * e + k] * right[k];
    }
  }
  bundle_cpu_for_cameras (b, correct_poses);
}

/* --- steps --------------------------------------------------------------------------- */

void
bundle_lenses_move (BundleBackend *b, gdouble sums[2])
{
  BundleCpuLenses *l = b->lenses;

  for (guint i = 0; i < l->n; i++) {
    const BundleCpuLens *lens = &l->lens[i];
    const int n_focal = (int) bundle_lens_info[l->now[i].model].n_focal;

    for (guint e = 0; e < lens->n; e++) {
      const int p = lens->parameter[e];
      const gdouble unit = bundle_lens_unit (n_focal, l->now[i].parameters, p);
      const gdouble step = b->x[lens->first + e] / unit;
      const gdouble state = l->now[i].parameters[p] / unit;

      l->next[i].parameters[p] =
          l->now[i].parameters[p] + b->x[lens->first + e];
      sums[0] += step * step;
      sums[1] += state * state;
    }
  }
  l->eval = l->next;
}

void
bundle_lenses_accept (BundleCpuLenses *lenses)
{
  BundleLens *now = lenses->now;

  lenses->now = lenses->next;
  lenses->next = now;
}

static void
triangle_segments (guint first, guint count, gpointer data)
{
  BundleBackend *b = data;

  for (guint i = first; i < first + count; i++)
    b->kernels->schur (b, &b->segments[i], b->partial + (gsize) i * b->n_sums);
}

void
bundle_lenses_sum_blocks (BundleBackend *b)
{
  b->lenses->alone = TRUE;
  bundle_cpu_for_segments (b, triangle_segments);
  b->lenses->alone = FALSE;
  for (guint c = 0; c < b->n_cameras; c++) {
    const guint size = BUNDLE_POSE + lens_of (b, c)->n;
    gdouble triangle[BUNDLE_LENS_SUMS];
    guint at = 0;

    bundle_cpu_sum_camera (b, c, 0, size * (size + 1) / 2, triangle);
    for (guint i = 0; i < BUNDLE_POSE; i++)
      for (guint j = i; j < size; j++, at++)
        if (j < BUNDLE_POSE)
          b->u[BUNDLE_TRIANGLE * (gsize) c + bundle_cpu_at (i, j)] =
              triangle[at] + bundle_priors_at (b, c, i, j);
  }
}

gboolean
bundle_lenses_read (BundleBackend *b, BundleLens *lenses, GError **error)
{
  for (guint i = 0; i < b->lenses->n; i++)
    memcpy (lenses[i].parameters, b->lenses->now[i].parameters,
        sizeof lenses[i].parameters);
  return TRUE;
}
