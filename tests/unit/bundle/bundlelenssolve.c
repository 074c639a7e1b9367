/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bundlelenssolve [cuda]: the solver with lenses, on the CPU or on a CUDA device. RADIAL
 * gives the results of BAL's cameras, shared or not; every model recovers the truth of
 * simulated observations; backends and numbers of threads take the same steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/bundle/engine.h"
#include "cuda/bundle/formats/formats.h"
#include "lensscenes.h"

#define FIRST_RADIUS 100 /* of engine.c */

static CvisContext *context; /* NULL: the CPU */

static void
assert_close (gdouble a, gdouble b, gdouble relative)
{
  if (!(fabs (a - b) <= relative * fabs (b)))
    g_error ("%.15g, expected %.15g within %g", a, b, relative);
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
  bundle_lens_add (p, lenses, n);
  g_free (lenses);
  return p;
}

static BundleSummary
solve_lenses (BundleProblem *problem, const BundleConfig *config)
{
  GError *error = NULL;
  BundleSummary summary;

  bundle_solve (problem, config, context, NULL, NULL, &summary, &error);
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
 * more than 96 unknowns, these lie in the blocks of their cameras. */
static void
test_radial (gconstpointer user_data)
{
  const gint cameras = GPOINTER_TO_INT (user_data);
  const gboolean shared = cameras < 0;
  g_autoptr (BundleProblem) bal =
      bundle_lens_scene ((guint) ABS (cameras), 300);
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

/* The error of exact observations becomes 0, so the derivatives are right. */
static void
test_models (void)
{
  for (guint m = 0; m < BUNDLE_N_LENS_MODELS; m++) {
    const BundleLens lens = bundle_lens_example (m);
    g_autoptr (BundleProblem) p = bundle_lens_true (&lens, 1);
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
    lenses[m] = bundle_lens_example (m);
    lenses[m].constant = m == 3 ? 0xfff : 6;
  }
  start = bundle_lens_true (lenses, BUNDLE_N_LENS_MODELS);
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
total_cost (const BundleProblem *p)
{
  g_autofree gdouble *errors = g_new (gdouble, p->n_observations);
  gdouble cost = bundle_lens_prior_cost (p);

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

/* With @user_data lenses, as in test_radial(): costs are those of the formula, the
 * solution is a minimum of it, and any number of threads gives the same bits. */
static void
test_priors (gconstpointer user_data)
{
  const guint n = GPOINTER_TO_UINT (user_data);
  g_autoptr (BundleProblem) bal = bundle_lens_scene (n, 300);
  g_autoptr (BundleProblem) start = make_radial (bal, FALSE);
  g_autoptr (BundleProblem) p = NULL, other = NULL;
  BundleConfig config;
  BundleSummary summary;
  gdouble cost;

  bundle_lens_add_priors (start, n - 3);
  p = bundle_problem_copy (start, NULL);
  other = bundle_problem_copy (start, NULL);
  init_tight (&config);
  config.eta = 1e-6;
  config.max_pcg_iterations = 2000;
  cost = total_cost (p);
  g_assert_cmpfloat (bundle_lens_prior_cost (p), >, 1e-3 * cost);
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

/* --- backends ------------------------------------------------------------------------ */

static gboolean
record_lens_step (const BundleIteration *iteration, gpointer user_data)
{
  if (iteration)
    g_array_append_val (user_data, *iteration);
  return TRUE;
}

static GArray *
solve_case (BundleProblem *problem, const BundleConfig *config,
    CvisContext *device, BundleSummary *summary)
{
  GArray *steps = g_array_new (FALSE, FALSE, sizeof (BundleIteration));
  GError *error = NULL;

  bundle_solve (
      problem, config, device, record_lens_step, steps, summary, &error);
  g_assert_no_error (error);
  bundle_summary_clear (summary);
  return steps;
}

/* Three threads of the CPU give the bits of one; a device gives the same bits twice, and
 * takes the steps of the CPU within rounding. */
static void
test_backends (gconstpointer user_data)
{
  const guint number = GPOINTER_TO_UINT (user_data);
  const gchar *name;
  BundleConfig config;
  g_autoptr (BundleProblem) start = bundle_lens_case (number, &config, &name);
  g_autoptr (BundleProblem) p = NULL, q = NULL, r = NULL;
  g_autoptr (GArray) of_cpu = NULL, of_other = NULL, again = NULL;
  BundleSummary one, other;

  config.max_iterations = 6;
  config.threads = 1;
  p = bundle_problem_copy (start, NULL);
  q = bundle_problem_copy (start, NULL);
  r = bundle_problem_copy (start, NULL);
  of_cpu = solve_case (p, &config, NULL, &one);
  config.threads = 3;
  of_other = solve_case (q, &config, context, &other);
  again = solve_case (r, &config, context, &other);
  g_assert_cmpmem (q->cameras, 72 * (gsize) q->n_cameras, r->cameras,
      72 * (gsize) q->n_cameras);
  g_assert_cmpmem (
      q->points, 24 * (gsize) q->n_points, r->points, 24 * (gsize) q->n_points);
  g_assert_cmpmem (q->lenses, q->n_lenses * sizeof *q->lenses, r->lenses,
      q->n_lenses * sizeof *q->lenses);
  g_assert_cmpmem (
      q->frames, 72 * (gsize) q->n_frames, r->frames, 72 * (gsize) r->n_frames);
  for (guint i = 0; q->sensors && i < q->n_lenses; i++) {
    g_assert_cmpmem (q->sensors[i].pose, 72, r->sensors[i].pose, 72);
    if (q->sensors[i].constant)
      g_assert_cmpmem (q->sensors[i].pose, 72, start->sensors[i].pose, 72);
  }
  g_assert_cmpint (other.device_bytes > 0, ==, context != NULL);
  g_assert_cmpuint (other.n_behind, ==, one.n_behind);
  g_assert_cmpuint (other.n_deficient, ==, one.n_deficient);
  g_assert_cmpfloat (one.final_cost, <, one.initial_cost);
  g_assert_cmpuint (of_cpu->len, ==, of_other->len);
  for (guint i = 0; i < of_cpu->len; i++) {
    const BundleIteration *a = &g_array_index (of_cpu, BundleIteration, i);
    const BundleIteration *b = &g_array_index (of_other, BundleIteration, i);

    g_test_message ("%s, step %u: %u and %u iterations, cost %.15g and %.15g",
        name, i, a->pcg_iterations, b->pcg_iterations, a->cost, b->cost);
    g_assert_cmpint (a->accepted, ==, b->accepted);
    g_assert_cmpuint (a->pcg_iterations, ==, b->pcg_iterations);
    assert_close (b->cost, a->cost, context ? 1e-8 : 0);
  }
}

/* The processors factorise the Schur complement: any number of threads gives the same
 * bits, and the cost of a single model is not above that of conjugate gradients. */
static void
test_factor (void)
{
  const gchar *name;
  BundleConfig config;
  guint n_direct = 0;

  for (guint number = 0;; number++) {
    g_autoptr (BundleProblem) start = bundle_lens_case (number, &config, &name);
    g_autoptr (BundleProblem) p = NULL, q = NULL, r = NULL;
    BundleSummary one, three, iterative;

    if (start == NULL)
      break;
    config.max_iterations = 60;
    config.function_tolerance = 1e-9;
    p = bundle_problem_copy (start, NULL);
    q = bundle_problem_copy (start, NULL);
    r = bundle_problem_copy (start, NULL);
    g_array_unref (solve_case (r, &config, NULL, &iterative));
    config.solver = BUNDLE_SOLVER_AUTO;
    config.threads = 1;
    g_array_unref (solve_case (p, &config, NULL, &one));
    config.threads = 3;
    g_array_unref (solve_case (q, &config, NULL, &three));
    g_test_message ("%s: %u steps, %u iterations, cost %.12g and %.12g", name,
        one.iterations, one.pcg_iterations, one.final_cost,
        iterative.final_cost);
    n_direct += one.pcg_iterations == 0;
    g_assert_cmpmem (p->cameras, 72 * (gsize) p->n_cameras, q->cameras,
        72 * (gsize) q->n_cameras);
    g_assert_cmpmem (p->points, 24 * (gsize) p->n_points, q->points,
        24 * (gsize) q->n_points);
    g_assert_cmpfloat (one.final_cost, <, one.initial_cost);
    /* mixtures and losses have several minima */
    if (number < BUNDLE_N_LENS_MODELS)
      g_assert_cmpfloat (one.final_cost, <=, iterative.final_cost * (1 + 1e-6));
  }
  g_assert_cmpuint (n_direct, >=, BUNDLE_N_LENS_MODELS);
}

/* A factorised step is that of converged conjugate gradients, also where the lenses of
 * many cameras lie in their blocks. */
static void
test_factor_step (void)
{
  const gchar *name;
  BundleConfig config;

  for (guint number = 0;; number++) {
    g_autoptr (BundleProblem) p = bundle_lens_case (number, &config, &name);
    g_autoptr (BundleProblem) q = NULL;
    g_autoptr (GArray) steps = NULL;
    BundleSummary exact, iterative;
    const BundleIteration *taken;

    if (p == NULL)
      break;
    config.max_iterations = 2;
    config.eta = 1e-16;
    config.max_pcg_iterations = 10000;
    config.initial_radius = 100;
    config.solver = BUNDLE_SOLVER_AUTO;
    q = bundle_problem_copy (p, NULL);
    steps = solve_case (p, &config, NULL, &exact);
    taken = &g_array_index (steps, BundleIteration, 1);
    if (!taken->accepted)
      taken++;
    else if (taken->pcg_iterations == 0)
      config.initial_radius *= FIRST_RADIUS;
    config.max_iterations = 1;
    config.solver = BUNDLE_SOLVER_ITERATIVE;
    g_array_unref (solve_case (q, &config, NULL, &iterative));
    g_test_message ("%s: %u iterations", name, iterative.pcg_iterations);
    assert_close (taken->cost, iterative.final_cost, 1e-6);
  }
}

/* The first factorised step has a larger radius, and is taken only where the model tells
 * its decrease; conjugate gradients have the initial radius. @rough: the start */
static void
check_first_step (gboolean rough, BundleSolver solver)
{
  const BundleLens lens = bundle_lens_example (BUNDLE_LENS_OPENCV);
  g_autoptr (BundleProblem) p = bundle_lens_true (&lens, 1);
  g_autoptr (GArray) steps = NULL;
  const BundleIteration *first;
  BundleSummary summary;
  BundleConfig config;

  bundle_config_init (&config);
  config.solver = solver;
  for (gsize i = 0; rough && i < 3 * (gsize) p->n_points; i++)
    p->points[i] *= i % 2 ? 1.3 : 0.8;
  steps = solve_case (p, &config, NULL, &summary);
  first = &g_array_index (steps, BundleIteration, 1);
  g_test_message ("rho %g, radius %g, %u steps, cost %g", first->rho,
      first->radius, summary.iterations, summary.final_cost);
  g_assert_cmpint (
      first->accepted, ==, !(rough && solver == BUNDLE_SOLVER_AUTO));
  if (solver == BUNDLE_SOLVER_ITERATIVE)
    g_assert_cmpfloat (first->radius, <=, 3.001 * config.initial_radius);
  else if (rough)
    g_assert_cmpfloat (first->radius, ==, config.initial_radius);
  else
    g_assert_cmpfloat (first->radius, >=, FIRST_RADIUS * config.initial_radius);
  g_assert_cmpfloat (summary.final_cost, <, 1e-3 * summary.initial_cost);
}

static void
test_first_step (void)
{
  for (guint rough = 0; rough < 2; rough++) {
    check_first_step (rough, BUNDLE_SOLVER_AUTO);
    check_first_step (rough, BUNDLE_SOLVER_ITERATIVE);
  }
}

/* --- refusals ----------------------------------------------------------------------- */

static void
check_refused_lenses (
    BundleProblem *problem, const BundleConfig *config, const gchar *words)
{
  GError *error = NULL;
  BundleSummary summary;

  g_assert_false (
      bundle_solve (problem, config, context, NULL, NULL, &summary, &error));
  g_assert_nonnull (strstr (error->message, words));
  g_error_free (error);
}

static void
test_refused (void)
{
  const BundleLens lens = bundle_lens_example (BUNDLE_LENS_FOV);
  g_autoptr (BundleProblem) p = bundle_lens_true (&lens, 1);
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
    if (f == BUNDLE_FORMAT_COLMAP)
      continue; /* bundlesim tests it */
    g_assert_null (bundle_write (p, f, NULL, 1, &error));
    g_assert_nonnull (strstr (error->message, "do not hold camera models"));
    g_clear_error (&error);
  }
  bundle_lens_add_priors (p, 2);
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
  p->lenses[0].parameters[4] = 0.6;
  p->observed[2 * p->n_observations - 1] = NAN;
  check_refused_lenses (p, &config, "is not a number, must be finite");
  p->point_of[p->n_observations - 1] = p->n_points;
  check_refused_lenses (p, &config, "is of point 400, must be 0 to 399");
  p->camera_of[p->n_observations - 2] = 16;
  check_refused_lenses (p, &config, "is of camera 16, must be 0 to 15");
}

int
main (int argc, char **argv)
{
  guint n_cases, first_rig;
  int result;

  g_test_init (&argc, &argv, NULL);
  if (argc > 1 && g_str_equal (argv[1], "cuda")) {
    GError *error = NULL;

    context = cvis_context_new (-1, &error);
    if (context == NULL) {
      g_printerr ("%s\n", error->message);
      return 77;
    }
  }
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
  n_cases = bundle_lens_count_cases (&first_rig);
  for (guint i = 0; i < n_cases; i++) {
    g_autofree gchar *path = g_strdup_printf (
        "/bundlelenssolve/%s/%u", i < first_rig ? "backends" : "rigs", i);

    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_backends);
  }
  if (context == NULL) {
    g_test_add_func ("/bundlelenssolve/factor", test_factor);
    g_test_add_func ("/bundlelenssolve/factor-step", test_factor_step);
    g_test_add_func ("/bundlelenssolve/first-step", test_first_step);
  }
  g_test_add_func ("/bundlelenssolve/refused", test_refused);
  result = g_test_run ();
  if (context)
    cvis_context_unref (context);
  return result;
}
