/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Choice between conjugate gradients and a direct solution, from the sizes of the
 * problem alone: the same on every machine and for every backend. */
#include "cuda/bundle/backend.h"

/* Limit of a direct step: multiplications and additions. Measured:
 * docs/design/bundle.md */
#define MAX_OPERATIONS 4e7
/* Each observation costs about as much as this many in other parts of the step. */
#define PER_OBSERVATION 300

/* @observations: of a point; @unknowns: of the cameras that observe it */
typedef struct {
  guint32 observations, unknowns;
} Point;

static guint
count_free (guint16 constant)
{
  guint n = 0;

  for (guint i = 0; i < 9; i++)
    n += !(constant >> i & 1);
  return n;
}

/* Operations of eliminating one side and factorising the @unknowns of the other,
 * where @products is the sum over the eliminated blocks of their unknowns times the
 * square of the unknowns that they share an observation with */
static gdouble
count_operations (gdouble unknowns, gdouble products)
{
  return unknowns * unknowns * unknowns / 3 + products;
}

BundleSolver
bundle_choose_solver (const BundleStart *start, const BundleConfig *config)
{
  const BundleProblem *problem = start->problem;
  const gsize n = problem->n_observations;
  g_autofree guint32 *seen = NULL; /* of a camera: its observations */
  g_autofree Point *of_point = NULL;
  gdouble cameras = 0, points = 0, of_cameras = 0, of_points = 0, best;

  if (config->solver != BUNDLE_SOLVER_AUTO)
    return config->solver;
  if (config->preconditioner != BUNDLE_PRECONDITIONER_SCHUR_JACOBI
      || start->shared || problem->lenses
      || (gdouble) n * PER_OBSERVATION > MAX_OPERATIONS)
    return BUNDLE_SOLVER_ITERATIVE;
  seen = g_try_new0 (guint32, problem->n_cameras);
  of_point = g_try_new0 (Point, problem->n_points);
  if (seen == NULL || of_point == NULL)
    return BUNDLE_SOLVER_ITERATIVE;
  for (gsize i = 0; i < n; i++) {
    guint32 camera = problem->camera_of[i];
    Point *point = &of_point[problem->point_of[i]];

    seen[camera]++;
    point->observations++;
    point->unknowns += count_free (start->camera_constant[camera]);
  }
  for (gsize c = 0; c < problem->n_cameras; c++) {
    gdouble unknowns = count_free (start->camera_constant[c]);

    if (seen[c] > 0) {
      cameras += unknowns;
      of_cameras += unknowns * 9 * seen[c] * seen[c];
    }
  }
  for (gsize p = 0; p < problem->n_points; p++)
    if (!(problem->point_constant && problem->point_constant[p])) {
      points += 3 * (of_point[p].observations > 0);
      of_points += 3. * of_point[p].unknowns * of_point[p].unknowns;
    }
  of_cameras = count_operations (points, of_cameras);
  of_points = count_operations (cameras, of_points);
  best = MIN (of_points, of_cameras);
  if (best + (gdouble) n * PER_OBSERVATION > MAX_OPERATIONS)
    return BUNDLE_SOLVER_ITERATIVE;
  return best < of_points ? BUNDLE_SOLVER_DIRECT_POINTS
                          : BUNDLE_SOLVER_DIRECT_CAMERAS;
}
