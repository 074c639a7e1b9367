/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU solver with lenses: RADIAL gives the results of BAL's cameras, shared or not;
 * every model recovers the truth of simulated observations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/engine.h"
#include "cuda/bundle/formats/formats.h"
#include "cuda/bundle/pose.h"
#include "cuda/bundle/sim.h"

static void
assert_close (gdouble a, gdouble b, gdouble relative)
{
  if (!(fabs (a - b) <= relative * fabs (b)))
    g_error ("%.15g, expected %.15g within %g", a, b, relative);
}

static BundleProblem *
make_scene (guint cameras, guint points)
{
  GError *error = NULL;
  BundleProblem *problem;
  BundleSim sim;

  bundle_sim_init (&sim);
  sim.cameras = cameras;
  sim.points = points;
  problem = bundle_sim_make (&sim, &error);
  g_assert_no_error (error);
  return problem;
}

/* Gives the cameras the @n lenses in turn. */
static void
add_lenses (BundleProblem *problem, const BundleLens *lenses, guint n)
{
  problem->n_lenses = n;
  problem->lenses = calloc (n, sizeof *problem->lenses);
  problem->lens_of = calloc (problem->n_cameras, sizeof *problem->lens_of);
  memcpy (problem->lenses, lenses, n * sizeof *lenses);
  for (guint i = 0; i < problem->n_cameras; i++)
    problem->lens_of[i] = i % n;
}

/* The same problem with RADIAL, whose principal point is constant; one lens for each
 * camera, or one for all */
static BundleProblem *
make_radial (const BundleProblem *problem, gboolean shared)
{
  BundleProblem *p = bundle_problem_copy (problem, NULL);
  const guint n = shared ? 1 : p->n_cameras;
  BundleLens *lenses = g_new0 (BundleLens, n);

  for (guint i = 0; i < n; i++) {
    const gdouble *camera = p->cameras + 9 * (gsize) i;

    lenses[i] = (BundleLens){ BUNDLE_LENS_RADIAL, 6,
      { camera[6], 800, 600, camera[7], camera[8] } };
  }
  /* the mean, as the solver of BAL's cameras takes it */
  for (guint k = 0; shared && k < 3; k++) {
    gdouble *mean = &lenses[0].parameters[k == 0 ? 0 : 2 + k];

    *mean = 0;
    for (guint c = 0; c < p->n_cameras; c++)
      *mean += p->cameras[9 * (gsize) c + 6 + k] / p->n_cameras;
  }
  for (gsize i = 0; i < p->n_observations; i++) {
    p->observed[2 * i] += 800;
    p->observed[2 * i + 1] = 600 - p->observed[2 * i + 1];
  }
  add_lenses (p, lenses, n);
  g_free (lenses);
  return p;
}

static BundleSummary
solve_lenses (BundleProblem *problem, const BundleConfig *config)
{
  GError *error = NULL;
  BundleSummary summary;

  bundle_solve (problem, config, NULL, NULL, NULL, &summary, &error);
  g_assert_no_error (error);
  return summary;
}

static void
init_tight (BundleConfig *config)
{
  bundle_config_init (config);
  config->max_iterations = 200;
  config->function_tolerance = 1e-13;
  config->parameter_tolerance = 0;
  config->solver = BUNDLE_SOLVER_ITERATIVE;
}

/* @user_data: number of cameras, negative if all share a lens. With 40 lenses, which have
 * more than 96 unknowns, the solver has no matrix of the Schur complement. */
static void
test_radial (gconstpointer user_data)
{
  const gint cameras = GPOINTER_TO_INT (user_data);
  const gboolean shared = cameras < 0;
  g_autoptr (BundleProblem) bal = make_scene ((guint) ABS (cameras), 300);
  g_autoptr (BundleProblem) radial = make_radial (bal, shared);
  BundleSummary of_bal, of_radial;
  BundleConfig config;

  init_tight (&config);
  of_radial = solve_lenses (radial, &config);
  config.shared_intrinsics = shared;
  of_bal = solve_lenses (bal, &config);
  assert_close (of_radial.initial_cost, of_bal.initial_cost, 1e-9);
  assert_close (of_radial.final_cost, of_bal.final_cost, 1e-9);
  g_assert_cmpuint (of_radial.n_behind, ==, of_bal.n_behind);
  g_assert_cmpuint (of_radial.n_deficient, ==, of_bal.n_deficient);
  for (guint i = 0; i < radial->n_lenses; i++) {
    const gdouble *p = radial->lenses[i].parameters;

    assert_close (p[0], bal->cameras[9 * (gsize) i + 6], 1e-4);
    g_assert_cmpfloat (p[1], ==, 800);
    g_assert_cmpfloat (p[2], ==, 600);
  }
  bundle_summary_clear (&of_bal);
  bundle_summary_clear (&of_radial);
}

/* --- every model ------------------------------------------------------------------- */

static const gdouble extra[BUNDLE_N_LENS_MODELS][8] = {
  [BUNDLE_LENS_SIMPLE_RADIAL] = { 0.04 },
  [BUNDLE_LENS_RADIAL] = { 0.04, -0.02 },
  [BUNDLE_LENS_OPENCV] = { 0.04, -0.02, 1e-3, -2e-3 },
  [BUNDLE_LENS_OPENCV_FISHEYE] = { 0.04, -0.02, 0.01, -0.01 },
  [BUNDLE_LENS_FULL_OPENCV] = { 0.04, -0.02, 1e-3, -2e-3, 0.01, 0.02, -0.01,
      0.01 },
  [BUNDLE_LENS_FOV] = { 0.6 },
  [BUNDLE_LENS_SIMPLE_RADIAL_FISHEYE] = { 0.04 },
  [BUNDLE_LENS_RADIAL_FISHEYE] = { 0.04, -0.02 },
  [BUNDLE_LENS_THIN_PRISM_FISHEYE] = { 0.04, -0.02, 1e-3, -2e-3, 0.01, -0.01,
      1e-3, 2e-3 },
};

static BundleLens
make_lens (guint model)
{
  const guint n = bundle_lens_info[model].n_focal;
  BundleLens lens = { (BundleLensModel) model, 0, { 1200, 1190 } };

  lens.parameters[n] = 810;
  lens.parameters[n + 1] = 590;
  memcpy (lens.parameters + n + 2, extra[model],
      bundle_lens_info[model].n_extra * sizeof (gdouble));
  return lens;
}

/* Observations through @lenses without noise; then the start differs from the truth. */
static BundleProblem *
make_true (const BundleLens *lenses, guint n)
{
  BundleProblem *p = make_scene (16, 400);

  add_lenses (p, lenses, n);
  for (gsize i = 0; i < p->n_observations; i++) {
    const gdouble *camera = p->cameras + 9 * (gsize) p->camera_of[i];
    const gdouble *x = p->points + 3 * (gsize) p->point_of[i];
    BundleConstants c;
    BundleImage at;

    bundle_constants (camera, &c);
    at = bundle_image (&c, x[0], x[1], x[2]);
    bundle_lens_image (
        &lenses[p->lens_of[p->camera_of[i]]], at.q, p->observed + 2 * i);
  }
  for (gsize i = 0; i < 3 * (gsize) p->n_points; i++)
    p->points[i] += 0.01 * sin ((gdouble) i);
  for (gsize i = 0; i < p->n_cameras; i++)
    for (guint k = 0; k < 6; k++)
      p->cameras[9 * i + k] +=
          (k < 3 ? 1e-3 : 1e-2) * cos ((gdouble) (6 * i + k));
  for (guint i = 0; i < n; i++) {
    const guint focal = bundle_lens_info[lenses[i].model].n_focal;

    for (guint k = 0; k < focal; k++)
      if (!(lenses[i].constant >> k & 1))
        p->lenses[i].parameters[k] *= 1.01;
    for (guint k = focal + 2; k < bundle_lens_size (lenses[i].model); k++)
      if (!(lenses[i].constant >> k & 1))
        p->lenses[i].parameters[k] *= 0.7;
  }
  return p;
}

/* The error of exact observations becomes 0, so the derivatives are right. */
static void
test_models (void)
{
  for (guint m = 0; m < BUNDLE_N_LENS_MODELS; m++) {
    const BundleLens lens = make_lens (m);
    g_autoptr (BundleProblem) p = make_true (&lens, 1);
    BundleConfig config;
    BundleSummary summary;

    init_tight (&config);
    config.eta = 1e-3;
    config.max_pcg_iterations = 2000;
    config.function_tolerance = 1e-6;
    summary = solve_lenses (p, &config);
    if (!(summary.final_cost < 1e-9 * summary.initial_cost))
      g_error ("%s: cost %g of %g", bundle_lens_info[m].name,
          summary.final_cost, summary.initial_cost);
    assert_close (p->lenses[0].parameters[0], lens.parameters[0], 1e-3);
    bundle_summary_clear (&summary);
  }
}

/* All models in one problem; constant parameters, poses and points keep their bits; any
 * number of threads gives the same bits. */
static void
test_mixture (void)
{
  BundleLens lenses[BUNDLE_N_LENS_MODELS];
  g_autoptr (BundleProblem) start = NULL, other = NULL;
  BundleConfig config;

  for (guint m = 0; m < BUNDLE_N_LENS_MODELS; m++) {
    lenses[m] = make_lens (m);
    lenses[m].constant = m == 3 ? 0xfff : 6;
  }
  start = make_true (lenses, BUNDLE_N_LENS_MODELS);
  start->camera_constant = calloc (start->n_cameras, sizeof (guint16));
  start->point_constant = calloc (start->n_points, 1);
  start->camera_constant[2] = BUNDLE_CAMERA_ALL;
  start->point_constant[7] = 1;
  bundle_config_init (&config);
  config.max_iterations = 5;
  for (guint threads = 1; threads <= 4; threads++) {
    g_autoptr (BundleProblem) p = bundle_problem_copy (start, NULL);
    BundleSummary summary;

    config.threads = threads;
    summary = solve_lenses (p, &config);
    g_assert_cmpfloat (summary.final_cost, <, summary.initial_cost);
    bundle_summary_clear (&summary);
    g_assert_cmpmem (p->cameras + 18, 72, start->cameras + 18, 72);
    g_assert_cmpmem (p->points + 21, 24, start->points + 21, 24);
    g_assert_cmpmem (
        &p->lenses[3], sizeof lenses[3], &start->lenses[3], sizeof lenses[3]);
    g_assert_cmpfloat (p->lenses[1].parameters[2], ==, 810);
    if (threads > 1) {
      g_assert_cmpmem (p->cameras, 72 * (gsize) p->n_cameras, other->cameras,
          72 * (gsize) p->n_cameras);
      g_assert_cmpmem (p->points, 24 * (gsize) p->n_points, other->points,
          24 * (gsize) p->n_points);
      g_assert_cmpmem (p->lenses, sizeof lenses, other->lenses, sizeof lenses);
    }
    g_clear_pointer (&other, bundle_problem_free);
    other = bundle_problem_copy (p, NULL);
  }
}

/* --- priors ------------------------------------------------------------------------- */

static gdouble
cost_of_priors (const BundleProblem *p)
{
  gdouble cost = 0;

  for (guint i = 0; i < p->n_priors; i++) {
    const BundlePrior *prior = &p->priors[i];
    const gdouble *a = prior->information;
    gdouble e[3];

    bundle_pose_centre (p->cameras + 9 * (gsize) prior->camera, e);
    for (guint k = 0; k < 3; k++)
      e[k] -= prior->position[k];
    cost += (a[0] * e[0] * e[0] + a[3] * e[1] * e[1] + a[5] * e[2] * e[2]) / 2
            + a[1] * e[0] * e[1] + a[2] * e[0] * e[2] + a[4] * e[1] * e[2];
  }
  return cost;
}

static gdouble
total_cost (const BundleProblem *p)
{
  g_autofree gdouble *errors = g_new (gdouble, p->n_observations);
  gdouble cost = cost_of_priors (p);

  bundle_reprojection_errors (p, 1, errors, NULL);
  for (gsize i = 0; i < p->n_observations; i++)
    cost += errors[i] * errors[i] / 2;
  return cost;
}

/* Moves a camera along @axis of its own. */
static gdouble
cost_of_moved (const BundleProblem *p, guint camera, guint axis, gdouble by)
{
  gdouble *t = p->cameras + 9 * (gsize) camera + BUNDLE_CAMERA_TRANSLATION;
  const gdouble start = t[axis];
  gdouble cost;

  t[axis] += by;
  cost = total_cost (p);
  t[axis] = start;
  return cost;
}

/* Priors that differ from the scene, with covariances that are not diagonal */
static void
add_priors (BundleProblem *p, guint n)
{
  p->priors = calloc (n, sizeof *p->priors);
  p->n_priors = n;
  for (guint i = 0; i < n; i++) {
    BundlePrior *prior = &p->priors[i];
    static const gdouble information[6] = { 400, 50, -30, 300, 20, 900 };

    prior->camera = (3 * i + 1) % p->n_cameras;
    bundle_pose_centre (
        p->cameras + 9 * (gsize) prior->camera, prior->position);
    for (guint k = 0; k < 3; k++)
      prior->position[k] += 0.3 * sin (3. * i + k);
    memcpy (prior->information, information, sizeof information);
  }
}

/* With @user_data lenses, as in test_radial(): costs are those of the formula, the
 * solution is a minimum of it, and any number of threads gives the same bits. */
static void
test_priors (gconstpointer user_data)
{
  const guint n = GPOINTER_TO_UINT (user_data);
  g_autoptr (BundleProblem) bal = make_scene (n, 300);
  g_autoptr (BundleProblem) start = make_radial (bal, FALSE);
  g_autoptr (BundleProblem) p = NULL, other = NULL;
  BundleConfig config;
  BundleSummary summary;
  gdouble cost;

  add_priors (start, n - 3);
  p = bundle_problem_copy (start, NULL);
  other = bundle_problem_copy (start, NULL);
  init_tight (&config);
  config.eta = 1e-6;
  config.max_pcg_iterations = 2000;
  cost = total_cost (p);
  g_assert_cmpfloat (cost_of_priors (p), >, 1e-3 * cost);
  summary = solve_lenses (p, &config);
  assert_close (summary.initial_cost, cost, 1e-9);
  assert_close (summary.final_cost, total_cost (p), 1e-9);
  for (guint c = 0; c < n; c++)
    for (guint k = 0; k < 3; k++) {
      const gdouble h = 1e-4, middle = total_cost (p);
      const gdouble up = cost_of_moved (p, c, k, h) - middle;
      const gdouble down = cost_of_moved (p, c, k, -h) - middle;

      /* the slope is small beside the curvature: the minimum is at hand */
      g_assert_cmpfloat (fabs (up - down), <, 0.02 * (up + down));
    }
  bundle_summary_clear (&summary);
  config.threads = 3;
  summary = solve_lenses (other, &config);
  g_assert_cmpmem (p->cameras, 72 * (gsize) n, other->cameras, 72 * (gsize) n);
  bundle_summary_clear (&summary);
}

/* --- refusals ----------------------------------------------------------------------- */

static void
check_refused_lenses (
    BundleProblem *problem, const BundleConfig *config, const gchar *words)
{
  GError *error = NULL;
  BundleSummary summary;

  g_assert_false (
      bundle_solve (problem, config, NULL, NULL, NULL, &summary, &error));
  g_assert_nonnull (strstr (error->message, words));
  g_error_free (error);
}

static void
test_refused (void)
{
  const BundleLens lens = make_lens (BUNDLE_LENS_FOV);
  g_autoptr (BundleProblem) p = make_true (&lens, 1);
  g_autofree gdouble *room = g_new (gdouble, 81 * (gsize) p->n_cameras);
  GError *error = NULL;
  BundleConfig config;

  bundle_config_init (&config);
  config.shared_intrinsics = TRUE;
  check_refused_lenses (p, &config, "shared-intrinsics is for cameras of BAL");
  config.shared_intrinsics = FALSE;
  config.solver = BUNDLE_SOLVER_DIRECT_CAMERAS;
  check_refused_lenses (p, &config, "need the solver iterative");
  bundle_config_init (&config);
  g_assert_false (bundle_covariances (p, &config, room, &error));
  g_assert_nonnull (strstr (error->message, "cameras of BAL"));
  g_clear_error (&error);
  for (BundleFormat f = BUNDLE_FORMAT_BAL; f <= BUNDLE_FORMAT_TUM; f++) {
    g_assert_null (bundle_write (p, f, NULL, 1, &error));
    g_assert_nonnull (strstr (error->message, "do not hold camera models"));
    g_clear_error (&error);
  }
  add_priors (p, 2);
  p->priors[1].camera = 99;
  check_refused_lenses (p, &config, "prior 1 is of camera 99, must be 0 to 15");
  p->priors[1].camera = 3;
  p->priors[1].information[5] = NAN;
  check_refused_lenses (p, &config, "a number of prior 1 is not finite");
  p->n_priors = 0;
  p->lens_of[3] = 1;
  check_refused_lenses (p, &config, "camera 3 has lens 1, must be 0 to 0");
  p->lens_of[3] = 0;
  p->lenses[0].parameters[4] = NAN;
  check_refused_lenses (p, &config, "number 4 of lens 0 is not finite");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func (
      "/bundlelenssolve/radial", GINT_TO_POINTER (14), test_radial);
  g_test_add_data_func (
      "/bundlelenssolve/many-lenses", GINT_TO_POINTER (40), test_radial);
  g_test_add_data_func (
      "/bundlelenssolve/shared", GINT_TO_POINTER (-14), test_radial);
  g_test_add_func ("/bundlelenssolve/models", test_models);
  g_test_add_func ("/bundlelenssolve/mixture", test_mixture);
  g_test_add_data_func (
      "/bundlelenssolve/priors", GUINT_TO_POINTER (14), test_priors);
  g_test_add_data_func ("/bundlelenssolve/priors-many-lenses",
      GUINT_TO_POINTER (40), test_priors);
  g_test_add_func ("/bundlelenssolve/refused", test_refused);
  return g_test_run ();
}
