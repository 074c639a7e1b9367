/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "modelerrors.h"

#include <math.h>

#include "cuda/bundle/arithmetic.h"

static void
add_error (ErrorSums *sums, guint state, gdouble cost, gdouble square)
{
  sums->cost[state] += cost;
  sums->squares[state] += square;
}

/* Sums over the observations in their order, so that they have the same bits with any
 * number of threads */
static void
sum_errors (ModelErrors *errors, guint state, const BundleProblem *problem,
    const BundleConfig *config, const gdouble *lengths)
{
  for (gsize i = 0; i < problem->n_observations; i++) {
    const guint32 image = problem->camera_of[i];
    const gdouble square = lengths[i] * lengths[i];
    gdouble weight;
    const gdouble cost =
        bundle_loss (config->loss, config->loss_scale, square, &weight) / 2;
    ErrorSums *const sums[] = { &errors->all, &errors->images[image],
      &errors->cameras[problem->lens_of[image]] };

    for (guint k = 0; k < G_N_ELEMENTS (sums); k++)
      add_error (sums[k], state, cost, square);
  }
}

static void
count_errors (ModelErrors *errors, const BundleProblem *problem)
{
  errors->cameras = g_new0 (ErrorSums, problem->n_lenses);
  errors->images = g_new0 (ErrorSums, problem->n_cameras);
  errors->n_of_point = g_new0 (guint32, problem->n_points);
  errors->all.n = problem->n_observations;
  for (gsize i = 0; i < problem->n_observations; i++) {
    const guint32 image = problem->camera_of[i];

    errors->images[image].n++;
    errors->cameras[problem->lens_of[image]].n++;
    errors->n_of_point[problem->point_of[i]]++;
  }
}

gboolean
model_errors_measure (ModelErrors *errors, guint state,
    const BundleProblem *problem, const BundleConfig *config, guint threads,
    GError **error)
{
  gdouble *lengths = g_try_new (gdouble, problem->n_observations);

  errors->points[state] = g_try_new (gdouble, problem->n_points);
  if (lengths == NULL || errors->points[state] == NULL) {
    g_free (lengths);
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "Not enough memory for the errors of %" G_GSIZE_FORMAT " observations",
        problem->n_observations);
    return FALSE;
  }
  if (errors->images == NULL)
    count_errors (errors, problem);
  bundle_reprojection_errors (problem, threads, lengths, errors->points[state]);
  sum_errors (errors, state, problem, config, lengths);
  g_free (lengths);
  return TRUE;
}

void
model_errors_clear (ModelErrors *errors)
{
  g_free (errors->cameras);
  g_free (errors->images);
  g_free (errors->n_of_point);
  for (guint i = 0; i < MODEL_STATES; i++)
    g_free (errors->points[i]);
}

gdouble
error_sums_get_rms (const ErrorSums *sums, guint state)
{
  return sums->n > 0 ? sqrt (sums->squares[state] / (gdouble) sums->n) : 0;
}

/* --- the worst ones ------------------------------------------------------------------- */

/* The @n largest of @count values, by insertion: @n is small. The first of equal ones
 * comes first. */
static guint *
find_largest (const gdouble *values, guint count, guint *n)
{
  guint *found = g_new (guint, *n + 1), n_found = 0;

  for (guint i = 0; i < count; i++) {
    guint at = n_found;

    while (at > 0 && values[i] > values[found[at - 1]])
      at--;
    if (at == *n)
      continue;
    for (guint k = MIN (n_found, *n - 1); k > at; k--)
      found[k] = found[k - 1];
    found[at] = i;
    n_found = MIN (n_found + 1, *n);
  }
  *n = n_found;
  return found;
}

guint *
model_errors_find_images (
    const ModelErrors *errors, const BundleProblem *problem, guint *n)
{
  gdouble *rms = g_new (gdouble, problem->n_cameras);
  guint *found;

  for (guint i = 0; i < problem->n_cameras; i++)
    rms[i] = error_sums_get_rms (&errors->images[i], MODEL_AFTER);
  found = find_largest (rms, problem->n_cameras, n);
  g_free (rms);
  return found;
}

guint *
model_errors_find_points (
    const ModelErrors *errors, const BundleProblem *problem, guint *n)
{
  return find_largest (errors->points[MODEL_AFTER], problem->n_points, n);
}
