/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bundlesolve small|genuine|matrix|all [cuda]: the bundle adjustment engine
 * on the CPU or a CUDA device (exit code 77 without one). small: generated
 * problems; genuine: BAL problems; matrix: these with every setting, without
 * the slow ones; all: also these, in a minute. Prints the final costs. */
#include "cuda/bundle/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bundledata.h"
#include "cuda/bundle/arithmetic.h"
#include "cuda/core/cancel.h"

static CvisContext *context; /* NULL: the CPU */

static void
assert_close (gdouble a, gdouble b, gdouble relative)
{
  if (!(fabs (a - b) <= relative * fabs (b)))
    g_error ("%.15g, expected %.15g within %g", a, b, relative);
}

/* The defaults with conjugate gradients: also for problems that are small enough for a
 * direct solution, which the tests /bundle/direct/ compare with them. */
static void
init_config (BundleConfig *config)
{
  bundle_config_init (config);
  config->solver = BUNDLE_SOLVER_ITERATIVE;
}

static void
solve (
    BundleProblem *problem, const BundleConfig *config, BundleSummary *summary)
{
  GError *error = NULL;

  bundle_solve (problem, config, context, NULL, NULL, summary, &error);
  g_assert_no_error (error);
}

/* NULL: the test is skipped */
static BundleProblem *
load_or_skip (const gchar *name)
{
  const gchar *why = NULL;
  BundleProblem *problem = bundle_data_load (name, &why);

  if (problem == NULL)
    g_test_skip (why);
  return problem;
}

/* The paper's preconditioner and limit of iterations */
static void
set_paper (BundleConfig *config)
{
  config->preconditioner = BUNDLE_PRECONDITIONER_JACOBI;
  config->eta = 1e-12;
  config->max_pcg_iterations = 100;
}

static const gchar *const preconditioners[] = { "jacobi", "schur-jacobi",
  "cluster" };

static void
check_oracle (const BundleOracle *oracle, const BundleProblem *problem,
    const BundleConfig *config)
{
  g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
  BundleSummary summary;

  solve (copy, config, &summary);
  assert_close (summary.initial_cost, oracle->initial, 1e-9);
  assert_close (bundle_data_cost (copy), summary.final_cost, 1e-9);
  g_assert_cmpfloat (
      summary.final_cost, <=, oracle->deep * (1 + oracle->tolerance));
  if (oracle->tolerance < 1e-5)
    g_assert_cmpfloat (
        summary.final_cost, >=, oracle->deep * (1 - oracle->tolerance));
  g_print ("# %s %s: %.12e -> %.12e, deep minimum %+.1e\n", oracle->name,
      preconditioners[config->preconditioner], summary.initial_cost,
      summary.final_cost, summary.final_cost / oracle->deep - 1);
  g_assert_cmpint (summary.stop, ==, BUNDLE_STOP_FUNCTION);
  g_assert_cmpuint (summary.n_deficient, ==, 0);
  g_assert_cmpint (summary.device_bytes > 0, ==, context != NULL);
  bundle_summary_clear (&summary);
}

static void
test_matrix (gconstpointer data)
{
  const BundleOracle *oracle = data;
  g_autoptr (BundleProblem) problem = load_or_skip (oracle->name);

  if (problem == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (preconditioners); i++) {
    BundleConfig config;

    init_config (&config);
    config.preconditioner = (BundlePreconditioner) i;
    check_oracle (oracle, problem, &config);
  }
}

static void
test_paper (gconstpointer data)
{
  const BundleOracle *oracle = data;
  g_autoptr (BundleProblem) problem = load_or_skip (oracle->name);
  BundleConfig config;

  init_config (&config);
  set_paper (&config);
  if (problem)
    check_oracle (oracle, problem, &config);
}

static void
test_default (gconstpointer data)
{
  const BundleOracle *oracle = data;
  g_autoptr (BundleProblem) problem = load_or_skip (oracle->name);
  BundleConfig config;

  init_config (&config);
  if (problem)
    check_oracle (oracle, problem, &config);
}

/* Gauss-Newton goes half of the way to the minimum of a Huber loss where its
 * slope falls, so the default stop is about 1e-5 above the minimum. */
static void
check_huber (
    const BundleOracle *oracle, gdouble function_tolerance, gdouble above)
{
  g_autoptr (BundleProblem) problem = load_or_skip (oracle->name);
  BundleConfig config;
  BundleSummary summary;

  if (problem == NULL)
    return;
  init_config (&config);
  config.loss = BUNDLE_LOSS_HUBER;
  if (function_tolerance > 0) {
    config.function_tolerance = function_tolerance;
    config.max_iterations = 300;
  }
  solve (problem, &config, &summary);
  assert_close (summary.initial_cost, oracle->huber_initial, 1e-9);
  g_test_message ("%.12e", summary.final_cost);
  g_assert_cmpfloat (summary.final_cost, <, oracle->huber * (1 + above));
  bundle_summary_clear (&summary);
}

static void
test_huber (gconstpointer data)
{
  check_huber (data, 0, 1e-4);
}

static void
test_huber_deep (gconstpointer data)
{
  const BundleOracle *oracle = data;

  check_huber (oracle, 1e-8, oracle->tolerance);
}

typedef struct {
  GArray *iterations;
  guint stop_after; /* iterations; 0: never */
  guint groups;     /* calls between groups of conjugate gradients */
  guint stop_group;
} History;

static gboolean
record (const BundleIteration *iteration, gpointer user_data)
{
  History *history = user_data;

  if (iteration == NULL)
    return ++history->groups != history->stop_group;
  g_array_append_val (history->iterations, *iteration);
  return history->iterations->len != history->stop_after;
}

/* Shuffled copies take the same steps as one problem: equal decisions, k
 * times the cost. */
static void
check_copies (const BundleProblem *problem, guint copies)
{
  g_autoptr (BundleProblem) one = bundle_problem_copy (problem, NULL);
  g_autoptr (BundleProblem) many = bundle_data_repeat (problem, copies, 7);
  History history[2] = { { 0 } };
  BundleConfig config;
  BundleSummary summary;

  init_config (&config);
  for (guint i = 0; i < 2; i++) {
    GError *error = NULL;

    history[i].iterations =
        g_array_new (FALSE, FALSE, sizeof (BundleIteration));
    bundle_solve (i ? many : one, &config, context, record, &history[i],
        &summary, &error);
    g_assert_no_error (error);
    bundle_summary_clear (&summary);
  }
  g_assert_cmpuint (history[0].iterations->len, ==, history[1].iterations->len);
  for (guint i = 0; i < history[0].iterations->len; i++) {
    const BundleIteration *a =
        &g_array_index (history[0].iterations, BundleIteration, i);
    const BundleIteration *b =
        &g_array_index (history[1].iterations, BundleIteration, i);

    g_assert_cmpint (a->accepted, ==, b->accepted);
    g_assert_cmpuint (a->pcg_iterations, ==, b->pcg_iterations);
    assert_close (b->cost, copies * a->cost, 1e-10);
    assert_close (b->radius, a->radius, 1e-6);
  }
  for (guint i = 0; i < 2; i++)
    g_array_unref (history[i].iterations);
}

/* The CUDA backend takes the CPU's steps. With shared intrinsics the problem
 * starts far from its solution and rounding errors grow, so only 20 steps
 * are compared. */
static void
test_backends (gconstpointer data)
{
  const BundleOracle *oracle = data;
  g_autoptr (BundleProblem) problem = load_or_skip (oracle->name);

  for (guint i = 0; problem && i < 4; i++) {
    History history[2] = { { 0 } };
    BundleConfig config;

    init_config (&config);
    config.max_iterations = 20;
    config.shared_intrinsics = i == 1;
    config.loss = i == 2 ? BUNDLE_LOSS_HUBER : BUNDLE_LOSS_NONE;
    if (i == 3)
      config.preconditioner = BUNDLE_PRECONDITIONER_CLUSTER;
    for (guint b = 0; b < 2; b++) {
      g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
      BundleSummary summary;
      GError *error = NULL;

      history[b].iterations =
          g_array_new (FALSE, FALSE, sizeof (BundleIteration));
      bundle_solve (copy, &config, b ? context : NULL, record, &history[b],
          &summary, &error);
      g_assert_no_error (error);
      bundle_summary_clear (&summary);
    }
    g_assert_cmpuint (
        history[0].iterations->len, ==, history[1].iterations->len);
    for (guint k = 0; k < history[0].iterations->len; k++) {
      const BundleIteration *a =
          &g_array_index (history[0].iterations, BundleIteration, k);
      const BundleIteration *b =
          &g_array_index (history[1].iterations, BundleIteration, k);

      g_assert_cmpint (a->accepted, ==, b->accepted);
      g_assert_cmpuint (a->pcg_iterations, ==, b->pcg_iterations);
      assert_close (b->cost, a->cost, 1e-8);
    }
    for (guint b = 0; b < 2; b++)
      g_array_unref (history[b].iterations);
  }
}

static void
test_copies (gconstpointer data)
{
  g_autoptr (BundleProblem) problem = load_or_skip (data);

  if (problem)
    check_copies (problem, 8);
}

static void
test_copies_ring (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (6, 200, 3);

  check_copies (problem, 8);
}

/* --- generated problems -------------------------------------------------- */

/* All preconditioners on a problem that needs no file. */
static void
test_ring (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (7, 300, 1);
  gdouble lowest = G_MAXDOUBLE, highest = 0;

  for (guint i = 0; i < G_N_ELEMENTS (preconditioners); i++) {
    g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
    BundleConfig config;
    BundleSummary summary;

    init_config (&config);
    config.preconditioner = (BundlePreconditioner) i;
    config.function_tolerance = 1e-12;
    solve (copy, &config, &summary);
    assert_close (summary.initial_cost, bundle_data_cost (problem), 1e-12);
    assert_close (summary.final_cost, bundle_data_cost (copy), 1e-12);
    lowest = MIN (lowest, summary.final_cost);
    highest = MAX (highest, summary.final_cost);
    bundle_summary_clear (&summary);
  }
  assert_close (highest, lowest, 1e-8);
  /* 2100 observations with uniform noise of variance 1/12 in x and y */
  assert_close (lowest, 2100. / 12, 0.3);
}

static void
assert_same_bits (const BundleProblem *a, const BundleProblem *b)
{
  g_assert_cmpmem (
      a->cameras, a->n_cameras * 72, b->cameras, b->n_cameras * 72);
  g_assert_cmpmem (a->points, a->n_points * 24, b->points, b->n_points * 24);
}

/* Two runs, any number of threads. */
static void
test_bits (void)
{
  static const guint threads[] = { 1, 1, 2, 3, 8 };
  g_autoptr (BundleProblem) problem = bundle_data_ring (19, 1500, 5);

  for (guint i = 0; i < 5; i++) {
    g_autoptr (BundleProblem) first = NULL;

    for (guint t = 0; t < G_N_ELEMENTS (threads); t++) {
      g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
      BundleConfig config;
      BundleSummary summary;

      init_config (&config);
      config.threads = threads[t];
      config.loss = i % 2 ? BUNDLE_LOSS_CAUCHY : BUNDLE_LOSS_NONE;
      config.preconditioner = i == 0   ? BUNDLE_PRECONDITIONER_CLUSTER
                              : i == 4 ? BUNDLE_PRECONDITIONER_JACOBI
                                       : BUNDLE_PRECONDITIONER_SCHUR_JACOBI;
      config.shared_intrinsics = i == 3;
      solve (copy, &config, &summary);
      bundle_summary_clear (&summary);
      if (first == NULL)
        first = g_steal_pointer (&copy);
      else
        assert_same_bits (copy, first);
    }
  }
}

/* With a cluster of all cameras the preconditioner is the inverse of the
 * whole Schur complement: the conjugate gradients converge at once. */
static void
test_cluster (void)
{
  g_autoptr (BundleProblem) ring = bundle_data_ring (8, 300, 31);
  g_autoptr (BundleProblem) problem =
      bundle_problem_new (8, 300, ring->n_observations + 40, NULL);
  gsize n = ring->n_observations;

  memcpy (problem->cameras, ring->cameras, 8 * 72);
  memcpy (problem->points, ring->points, 300 * 24);
  memcpy (problem->camera_of, ring->camera_of, n * 4);
  memcpy (problem->point_of, ring->point_of, n * 4);
  memcpy (problem->observed, ring->observed, n * 16);
  for (gsize i = 0; i < 40; i++) { /* observed twice by the same camera */
    problem->camera_of[n + i] = ring->camera_of[7 * i];
    problem->point_of[n + i] = ring->point_of[7 * i];
    problem->observed[2 * (n + i)] = ring->observed[14 * i] + 1;
    problem->observed[2 * (n + i) + 1] = ring->observed[14 * i + 1] - 1;
  }
  for (guint i = 0; i < 3; i++) {
    g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
    History history = { g_array_new (FALSE, FALSE, sizeof (BundleIteration)) };
    BundleConfig config;
    BundleSummary summary;
    GError *error = NULL;

    init_config (&config);
    config.preconditioner = BUNDLE_PRECONDITIONER_CLUSTER;
    config.loss = i == 1 ? BUNDLE_LOSS_HUBER : BUNDLE_LOSS_NONE;
    config.fix_first_camera = i == 2;
    config.eta = 1e-12;
    bundle_solve (copy, &config, context, record, &history, &summary, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (history.iterations->len, >=, 4);
    for (guint k = 1; k < history.iterations->len; k++)
      g_assert_cmpuint (
          g_array_index (history.iterations, BundleIteration, k).pcg_iterations,
          <=, 2);
    g_array_unref (history.iterations);
    bundle_summary_clear (&summary);
  }
}

static void
test_losses (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (6, 200, 9);
  static const BundleLoss losses[] = { BUNDLE_LOSS_HUBER, BUNDLE_LOSS_CAUCHY,
    BUNDLE_LOSS_TUKEY, BUNDLE_LOSS_SOFT_L1 };
  g_autofree gdouble *errors = NULL;
  gsize n = problem->n_observations;

  /* every 50th observation is an outlier; the solution hardly changes */
  for (gsize i = 0; i < n; i += 50)
    problem->observed[2 * i] += 40;
  errors = g_new (gdouble, n);
  for (guint l = 0; l < G_N_ELEMENTS (losses); l++) {
    g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
    BundleConfig config;
    BundleSummary summary;
    gdouble sum = 0;

    init_config (&config);
    config.loss = losses[l];
    /* Tukey's loss is flat beyond its scale: start within it */
    config.loss_scale = losses[l] == BUNDLE_LOSS_TUKEY ? 30 : 1;
    config.function_tolerance = 1e-10;
    solve (copy, &config, &summary);
    g_assert_cmpfloat (summary.final_cost, <, summary.initial_cost);
    bundle_reprojection_errors (copy, 0, errors, NULL);
    for (gsize i = 0; i < n; i++) {
      if (i % 50 == 0)
        g_assert_cmpfloat (errors[i], >, 20);
      else
        sum += errors[i];
    }
    g_assert_cmpfloat (sum / (gdouble) n, <, 0.5);
    bundle_summary_clear (&summary);
  }
}

static void
test_constants (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (6, 100, 11);

  problem->camera_constant = calloc (6, sizeof *problem->camera_constant);
  problem->camera_constant[3] = BUNDLE_CAMERA_ALL;
  problem->camera_constant[4] = 1 << BUNDLE_CAMERA_K1;
  problem->point_constant = calloc (100, 1);
  problem->point_constant[5] = 1;
  for (guint i = 0; i < 8; i++) {
    g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
    BundleConfig config;
    BundleSummary summary;

    init_config (&config);
    config.fix_intrinsics = i & 1;
    config.fix_first_camera = i >> 1 & 1;
    if (i & 4)
      config.preconditioner = BUNDLE_PRECONDITIONER_JACOBI;
    solve (copy, &config, &summary);
    g_assert_cmpfloat (summary.final_cost, <, 0.5 * summary.initial_cost);
    g_assert_cmpuint (summary.n_deficient, ==, 0);
    for (guint c = 0; c < 6; c++)
      for (guint k = 0; k < 9; k++) {
        gboolean constant = c == 3 || (c == 4 && k == BUNDLE_CAMERA_K1)
                            || (config.fix_intrinsics && k >= 6)
                            || (config.fix_first_camera && c == 0 && k < 6);
        gboolean same = problem->cameras[9 * c + k] == copy->cameras[9 * c + k];

        g_assert_cmpint (same, ==, constant);
      }
    g_assert_cmpmem (problem->points + 15, 24, copy->points + 15, 24);
    g_assert_true (problem->points[18] != copy->points[18]);
    bundle_summary_clear (&summary);
  }
}

/* Shared intrinsics minimise the cost along a common change of all cameras,
 * and are equal. */
static void
test_shared (void)
{
  for (guint i = 0; i < 4; i++) {
    g_autoptr (BundleProblem) problem = bundle_data_ring (8, 150, 13);
    BundleConfig config;
    BundleSummary summary;
    gdouble mean = 0, cost;

    for (guint c = 0; c < 8; c++)
      mean += problem->cameras[9 * c + BUNDLE_CAMERA_FOCAL] / 8;
    init_config (&config);
    config.shared_intrinsics = TRUE;
    config.function_tolerance = 1e-14;
    config.max_iterations = i == 3 ? 0 : 100;
    if (i == 2)
      config.preconditioner = BUNDLE_PRECONDITIONER_JACOBI;
    else if (i == 1)
      config.preconditioner = BUNDLE_PRECONDITIONER_CLUSTER;
    solve (problem, &config, &summary);
    for (guint c = 1; c < 8; c++)
      g_assert_cmpmem (
          problem->cameras + 6, 24, problem->cameras + 9 * c + 6, 24);
    if (i == 3) {
      g_assert_cmpint (summary.stop, ==, BUNDLE_STOP_ITERATIONS);
      assert_close (problem->cameras[6], mean, 1e-14);
      bundle_summary_clear (&summary);
      continue;
    }
    cost = bundle_data_cost (problem);
    assert_close (cost, summary.final_cost, 1e-12);
    for (guint k = 6; k < 9; k++)
      for (gint side = -1; side <= 1; side += 2) {
        g_autoptr (BundleProblem) moved = bundle_problem_copy (problem, NULL);

        for (guint c = 0; c < 8; c++)
          moved->cameras[9 * c + k] += side * (k == 6 ? 0.05 : 1e-3);
        g_assert_cmpfloat (bundle_data_cost (moved), >, cost);
      }
    assert_close (problem->cameras[6], 500, 0.02);
    bundle_summary_clear (&summary);
  }
}

static void
test_cancel (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (12, 400, 15);
  BundleConfig config;
  BundleSummary summary;

  init_config (&config);
  config.eta = 1e-6;
  config.function_tolerance = 0;
  for (guint k = 0; k < 9; k++) {
    g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
    History history = { g_array_new (FALSE, FALSE, sizeof (BundleIteration)) };
    guint i = k % 3;
    GError *error = NULL;
    const BundleIteration *last;

    config.solver = (BundleSolver) (BUNDLE_SOLVER_ITERATIVE + k / 3);
    history.stop_after = i == 0 ? 1 : i == 1 ? 3 : 0;
    history.stop_group = i == 2 ? 4 : 0;
    bundle_solve (copy, &config, context, record, &history, &summary, &error);
    g_assert_no_error (error);
    g_assert_cmpint (summary.stop, ==, BUNDLE_STOP_CANCELLED);
    last = &g_array_index (
        history.iterations, BundleIteration, history.iterations->len - 1);
    assert_close (summary.final_cost, last->cost, 1e-15);
    assert_close (bundle_data_cost (copy), last->cost, 1e-12);
    if (i == 0)
      assert_same_bits (copy, problem);
    g_array_unref (history.iterations);
    bundle_summary_clear (&summary);
  }
}

typedef struct {
  gint flag;
  gulong delay; /* microseconds */
  gint64 set;   /* when it was */
} Canceller;

static gpointer
set_later (gpointer data)
{
  Canceller *c = data;

  g_usleep (c->delay);
  c->set = g_get_monotonic_time ();
  g_atomic_int_set (&c->flag, TRUE);
  return NULL;
}

#define PROMPT (10 * G_USEC_PER_SEC) /* hundred times what it takes */

/* The flag that the thread watches, set before and while it solves */
static void
test_cancel_flag (void)
{
  static const gulong delays[] = { 0, 300, 3000, 30000 };
  g_autoptr (BundleProblem) problem = bundle_data_ring (30, 4000, 15);
  BundleConfig config;
  BundleSummary summary;

  init_config (&config);
  config.function_tolerance = config.parameter_tolerance = 0;
  config.gradient_tolerance = 0;
  config.max_iterations = 10000;
  for (guint i = 0; i < 2 * G_N_ELEMENTS (delays); i++) {
    g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
    Canceller c = { .delay = delays[i / 2] };
    GThread *thread = NULL;

    config.threads = 1 + i % 2;
    config.preconditioner = i % 2 ? BUNDLE_PRECONDITIONER_CLUSTER
                                  : BUNDLE_PRECONDITIONER_SCHUR_JACOBI;
    if (c.delay)
      thread = g_thread_new ("cancel", set_later, &c);
    else
      set_later (&c);
    cvis_cancel_watch (&c.flag);
    solve (copy, &config, &summary);
    if (thread)
      g_thread_join (thread);
    else /* a fast device may converge before a later one */
      g_assert_cmpint (summary.stop, ==, BUNDLE_STOP_CANCELLED);
    g_assert_cmpint (g_get_monotonic_time () - c.set, <, PROMPT);
    cvis_cancel_watch (NULL);
    if (summary.iterations == 0)
      assert_same_bits (copy, problem);
    if (summary.final_cost > 0)
      assert_close (bundle_data_cost (copy), summary.final_cost, 1e-12);
    bundle_summary_clear (&summary);
  }
}

/* These take minutes: many observations of each point, many cameras. */
static void
test_cancel_covariance (void)
{
  static const struct {
    guint n_cameras, n_points;
    gulong delay;
  } cases[] = { { 150, 12, 0 }, { 150, 12, 20000 }, { 150, 12, 200000 },
    { 400, 1000, 20000 }, { 700, 10, 50000 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (BundleProblem) problem =
        bundle_data_ring (cases[i].n_cameras, cases[i].n_points, 27);
    g_autofree gdouble *covariances = g_new (gdouble, 81 * problem->n_cameras);
    Canceller c = { .delay = cases[i].delay };
    GThread *thread = g_thread_new ("cancel", set_later, &c);
    GError *error = NULL;
    BundleConfig config;

    init_config (&config);
    config.threads = 1 + i % 2;
    config.fix_first_camera = TRUE;
    problem->point_constant = calloc (cases[i].n_points, 1);
    problem->point_constant[7] = 1; /* the scale */
    if (!c.delay)
      g_thread_join (thread);
    cvis_cancel_watch (&c.flag);
    /* of the small ones some are ready before it */
    if (!bundle_covariances (problem, &config, covariances, &error))
      g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CANCELLED);
    else
      g_assert_cmpuint (i, <, 3);
    if (c.delay)
      g_thread_join (thread);
    g_assert_cmpint (g_get_monotonic_time () - c.set, <, PROMPT);
    cvis_cancel_watch (NULL);
    g_clear_error (&error);
  }
}

static void
assert_refused (BundleProblem *problem, const BundleConfig *config)
{
  g_autoptr (BundleProblem) before = bundle_problem_copy (problem, NULL);
  GError *error = NULL;
  BundleSummary summary;

  g_assert_false (
      bundle_solve (problem, config, context, NULL, NULL, &summary, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_cmpmem (before->cameras, problem->n_cameras * 72, problem->cameras,
      problem->n_cameras * 72);
}

static void
test_refused (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (3, 20, 17);
  BundleConfig config;
  gdouble value;

  init_config (&config);
  value = problem->points[4];
  problem->points[4] = NAN;
  assert_refused (problem, &config);
  problem->points[4] = value;
  value = problem->observed[4];
  problem->observed[4] = INFINITY;
  assert_refused (problem, &config);
  problem->observed[4] = value;
  config.eta = 0;
  assert_refused (problem, &config);
  init_config (&config);
  /* a point in its camera's plane */
  memset (problem->cameras, 0, 72);
  memset (problem->points, 0, 24);
  assert_refused (problem, &config);
}

/* One observation: a cost of 0 is reached and reported, and the camera is
 * rank-deficient. */
static void
test_one_observation (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (1, 1, 19);
  BundleConfig config;
  BundleSummary summary;

  init_config (&config);
  problem->observed[0] += 20;
  solve (problem, &config, &summary);
  g_assert_cmpfloat (summary.final_cost, <, 1e-6 * summary.initial_cost);
  g_assert_cmpuint (summary.n_deficient, ==, 1);
  g_assert_cmpuint (summary.deficient[0], ==, 0);
  bundle_summary_clear (&summary);
}

/* A camera with few points, one without any, a point seen by one camera and
 * one seen by none: the rest converges as without them. */
static void
test_deficient (void)
{
  g_autoptr (BundleProblem) ring = bundle_data_ring (6, 100, 21);
  g_autoptr (BundleProblem) problem =
      bundle_problem_new (8, 102, ring->n_observations + 4, NULL);
  gsize n = ring->n_observations;

  memcpy (problem->cameras, ring->cameras, 6 * 72);
  memcpy (problem->cameras + 54, ring->cameras, 72);
  memcpy (problem->cameras + 63, ring->cameras, 72);
  problem->cameras[54] += 0.01;
  memcpy (problem->points, ring->points, 300 * 8);
  problem->points[300] = 0.3;
  problem->points[303] = 0.4;
  memcpy (problem->camera_of, ring->camera_of, n * 4);
  memcpy (problem->point_of, ring->point_of, n * 4);
  memcpy (problem->observed, ring->observed, n * 16);
  for (guint i = 0; i < 3; i++) { /* camera 6: 6 residuals for 9 unknowns */
    problem->camera_of[n + i] = 6;
    problem->point_of[n + i] = i;
    memcpy (problem->observed + 2 * (n + i), ring->observed + 12 * i, 16);
  }
  problem->camera_of[n + 3] = 2;
  problem->point_of[n + 3] = 100;
  for (guint i = 0; i < 3; i++) {
    g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
    g_autoptr (BundleProblem) alone = bundle_problem_copy (ring, NULL);
    BundleConfig config;
    BundleSummary summary, ring_summary;

    init_config (&config);
    config.function_tolerance = 1e-10;
    if (i == 1)
      config.preconditioner = BUNDLE_PRECONDITIONER_JACOBI;
    else if (i == 2)
      config.preconditioner = BUNDLE_PRECONDITIONER_CLUSTER;
    solve (copy, &config, &summary);
    solve (alone, &config, &ring_summary);
    g_assert_cmpuint (summary.n_deficient, ==, 2);
    g_assert_cmpuint (summary.deficient[0], ==, 6);
    g_assert_cmpuint (summary.deficient[1], ==, 7);
    assert_close (summary.final_cost, ring_summary.final_cost, 1e-3);
    /* unobserved cameras and points do not move */
    g_assert_cmpmem (copy->cameras + 63, 72, problem->cameras + 63, 72);
    g_assert_cmpmem (copy->points + 303, 24, problem->points + 303, 24);
    bundle_summary_clear (&summary);
    bundle_summary_clear (&ring_summary);
  }
}

/* X' = scale Q X + shift: R' = R Q^T, t' = scale t - R' shift. @turn: of Q, axis
 * times angle */
static void
move_scene (BundleProblem *problem, gdouble scale, const gdouble turn[3],
    const gdouble shift[3])
{
  BundleConstants q, r;

  bundle_constants (
      (gdouble[9]){ turn[0], turn[1], turn[2], 0, 0, 0, 1, 0, 0 }, &q);
  for (gsize i = 0; i < problem->n_points; i++) {
    gdouble *x = problem->points + 3 * i, old[3] = { x[0], x[1], x[2] };

    for (guint k = 0; k < 3; k++)
      x[k] = scale
                 * (q.r[3 * k] * old[0] + q.r[3 * k + 1] * old[1]
                     + q.r[3 * k + 2] * old[2])
             + shift[k];
  }
  for (gsize i = 0; i < problem->n_cameras; i++) {
    gdouble *camera = problem->cameras + 9 * i, step[9] = { 0 }, moved[9];

    /* R Q^T = exp(-[R turn]x) R */
    bundle_constants (camera, &r);
    for (guint k = 0; k < 3; k++)
      step[k] = -(r.r[3 * k] * turn[0] + r.r[3 * k + 1] * turn[1]
                  + r.r[3 * k + 2] * turn[2]);
    bundle_move_camera (camera, step, moved);
    memcpy (camera, moved, 3 * sizeof *camera);
    bundle_constants (camera, &r);
    for (guint k = 0; k < 3; k++)
      camera[3 + k] = scale * camera[3 + k]
                      - (r.r[3 * k] * shift[0] + r.r[3 * k + 1] * shift[1]
                          + r.r[3 * k + 2] * shift[2]);
  }
}

/* Positions, rotations and units of a scene */
static const struct {
  gdouble scale, turn[3], shift[3];
} frames[] = {
  { 1, { 0 }, { 300000, 4000000, 50 } },
  { 1, { 0 }, { -1e7, 1e7, 1e7 } },
  { 1e-6, { 0 }, { 0 } },
  { 1e-3, { 0 }, { 0 } },
  { 1e6, { 0 }, { 0 } },
  { 1, { 0.3, -0.8, 0.5 }, { 0 } },
  { 1, { 0, 0, G_PI }, { 0 } },
  { 1e3, { -1.5, 0.2, 2 }, { 1e7, -2e6, 4e4 } },
};

static const struct {
  BundleLoss loss;
  gboolean fix_intrinsics, shared_intrinsics, fix_first_camera;
} frame_settings[] = {
  { BUNDLE_LOSS_NONE, FALSE, FALSE, FALSE },
  { BUNDLE_LOSS_NONE, TRUE, FALSE, FALSE },
  { BUNDLE_LOSS_NONE, FALSE, TRUE, TRUE },
  { BUNDLE_LOSS_HUBER, FALSE, FALSE, FALSE },
  { BUNDLE_LOSS_CAUCHY, TRUE, FALSE, FALSE },
  { BUNDLE_LOSS_TUKEY, FALSE, FALSE, FALSE },
  { BUNDLE_LOSS_SOFT_L1, FALSE, FALSE, FALSE },
};

/* Neither the final cost nor the way to it depends on position, rotation and unit of
 * the scene. */
static void
test_frame (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (6, 150, 23);

  for (guint i = 0; i < 4 * G_N_ELEMENTS (frame_settings); i++) {
    BundleConfig config;
    gdouble cost = 0;
    guint iterations = 0;

    init_config (&config);
    config.loss = frame_settings[i / 4].loss;
    config.loss_scale = config.loss == BUNDLE_LOSS_TUKEY ? 30 : 1;
    config.fix_intrinsics = frame_settings[i / 4].fix_intrinsics;
    config.shared_intrinsics = frame_settings[i / 4].shared_intrinsics;
    config.fix_first_camera = frame_settings[i / 4].fix_first_camera;
    if (i % 4 == 1)
      config.preconditioner = BUNDLE_PRECONDITIONER_JACOBI;
    else if (i % 4 == 2)
      config.solver = BUNDLE_SOLVER_DIRECT_CAMERAS;
    else if (i % 4 == 3 && !config.shared_intrinsics)
      config.solver = BUNDLE_SOLVER_DIRECT_POINTS;
    for (guint k = 0; k <= G_N_ELEMENTS (frames); k++) {
      g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
      BundleSummary summary;

      if (k > 0)
        move_scene (
            copy, frames[k - 1].scale, frames[k - 1].turn, frames[k - 1].shift);
      solve (copy, &config, &summary);
      if (k > 0) {
        assert_close (summary.final_cost, cost, 1e-9);
        g_assert_cmpuint (summary.iterations, ==, iterations);
      }
      cost = k > 0 ? cost : summary.final_cost;
      iterations = k > 0 ? iterations : summary.iterations;
      bundle_summary_clear (&summary);
    }
  }
}

/* The covariances of a moved scene are those of the scene, with the units and the
 * axes of its parameters: compared where these are simple, with a scale and a shift
 * along the axis of the cameras' rotations. */
static void
test_frame_covariance (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (4, 40, 27);
  g_autoptr (BundleProblem) moved = NULL;
  g_autofree gdouble *a = g_new (gdouble, 4 * 81);
  g_autofree gdouble *b = g_new (gdouble, 4 * 81);
  BundleConfig config;
  BundleSummary summary;
  GError *error = NULL;

  init_config (&config);
  config.fix_first_camera = TRUE;
  problem->point_constant = calloc (40, 1);
  problem->point_constant[7] = 1; /* the scale */
  solve (problem, &config, &summary);
  bundle_summary_clear (&summary);
  moved = bundle_problem_copy (problem, NULL);
  move_scene (moved, 1000, (gdouble[3]){ 0 }, (gdouble[3]){ 0, 4e6, 0 });
  bundle_covariances (problem, &config, a, &error);
  g_assert_no_error (error);
  bundle_covariances (moved, &config, b, &error);
  g_assert_no_error (error);
  for (guint c = 1; c < 4; c++)
    for (guint i = 0; i < 9; i++)
      for (guint j = 0; j < 9; j++) {
        gdouble scale[9] = { 1, 1, 1, 1000, 1000, 1000, 1, 1, 1 };
        const gdouble *from = a + 81 * c, *to = b + 81 * c;

        /* t depends on the rotation by the shift, which is large */
        if ((i >= 3 && i < 6) || (j >= 3 && j < 6))
          continue;
        g_assert_cmpfloat (fabs (to[9 * i + j] - from[9 * i + j]), <,
            1e-6 * sqrt (from[10 * i] * from[10 * j]) * scale[i] * scale[j]);
      }
  bundle_problem_free (moved);
  moved = bundle_problem_copy (problem, NULL);
  move_scene (moved, 1000, (gdouble[3]){ 0 }, (gdouble[3]){ 0 });
  bundle_covariances (moved, &config, b, &error);
  g_assert_no_error (error);
  for (guint c = 1; c < 4; c++)
    for (guint i = 0; i < 9; i++)
      for (guint j = 0; j < 9; j++) {
        gdouble unit = (i / 3 == 1 ? 1000. : 1.) * (j / 3 == 1 ? 1000. : 1.);
        const gdouble *from = a + 81 * c, *to = b + 81 * c;

        g_assert_cmpfloat (fabs (to[9 * i + j] / unit - from[9 * i + j]), <,
            1e-6 * sqrt (from[10 * i] * from[10 * j]));
      }
}

/* A camera with a constant translation and a free rotation keeps its position, with
 * a free position its rotation. */
static void
test_constant_position (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (6, 100, 11);
  g_autoptr (BundleProblem) start = NULL;
  BundleConfig config;
  BundleSummary summary;

  problem->camera_constant = calloc (6, sizeof *problem->camera_constant);
  problem->camera_constant[2] = 0x038;
  problem->camera_constant[3] = 0x007;
  start = bundle_problem_copy (problem, NULL);
  init_config (&config);
  solve (problem, &config, &summary);
  bundle_summary_clear (&summary);
  g_assert_cmpmem (problem->cameras + 27, 24, start->cameras + 27, 24);
  g_assert_true (problem->cameras[30] != start->cameras[30]);
  for (guint k = 0; k < 3; k++) {
    gdouble position[2];

    for (guint i = 0; i < 2; i++) {
      const gdouble *camera = (i ? problem : start)->cameras + 18;
      BundleConstants c;

      bundle_constants (camera, &c);
      position[i] =
          -(c.r[k] * c.t[0] + c.r[3 + k] * c.t[1] + c.r[6 + k] * c.t[2]);
    }
    g_assert_cmpfloat (fabs (position[1] - position[0]), <, 1e-12);
  }
  g_assert_true (problem->cameras[18] != start->cameras[18]);
}

/* The error names observation, point and camera, wherever the scene is. */
static void
test_point_in_plane (void)
{
  for (guint i = 0; i <= G_N_ELEMENTS (frames); i++) {
    g_autoptr (BundleProblem) problem = bundle_data_ring (3, 20, 17);
    GError *error = NULL;
    BundleConfig config;
    BundleSummary summary;
    gdouble *camera = problem->cameras + 9;
    BundleConstants c;

    if (i > 0)
      move_scene (problem, frames[i - 1].scale, frames[i - 1].turn,
          frames[i - 1].shift);
    /* the camera goes to point 7 */
    bundle_constants (camera, &c);
    for (guint k = 0; k < 3; k++)
      camera[3 + k] = -(c.r[3 * k] * problem->points[21]
                        + c.r[3 * k + 1] * problem->points[22]
                        + c.r[3 * k + 2] * problem->points[23]);
    init_config (&config);
    g_assert_false (
        bundle_solve (problem, &config, context, NULL, NULL, &summary, &error));
    g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
    g_assert_nonnull (strstr (error->message,
        "observation 22: point 7 lies in the plane of camera 1"));
    g_clear_error (&error);
  }
}

/* The summary counts points behind their cameras and observations that the loss
 * rejects. */
static void
test_doubtful (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (5, 100, 41);
  BundleConfig config;
  BundleSummary summary;
  gsize n = problem->n_observations;

  init_config (&config);
  config.max_iterations = 0;
  solve (problem, &config, &summary);
  g_assert_cmpuint (summary.n_behind, ==, 0);
  g_assert_cmpuint (summary.n_rejected, ==, 0);
  g_assert_cmpint (summary.stop, ==, BUNDLE_STOP_ITERATIONS);
  bundle_summary_clear (&summary);
  /* all points are within 2 of the origin, camera 0 at (0, 0, 5) */
  problem->points[3 * 30 + 2] += 10;
  problem->points[3 * 80 + 2] += 10;
  config.loss = BUNDLE_LOSS_TUKEY;
  config.loss_scale = 1e-3;
  solve (problem, &config, &summary);
  g_assert_cmpuint (summary.n_behind, >=, 2);
  g_assert_cmpuint (summary.first_behind, ==, 5 * 30);
  g_assert_cmpuint (summary.n_rejected, >, n / 2);
  g_assert_cmpuint (summary.n_rejected, <=, n);
  bundle_summary_clear (&summary);
  config.loss = BUNDLE_LOSS_CAUCHY;
  config.loss_scale = 1e9;
  solve (problem, &config, &summary);
  g_assert_cmpuint (summary.n_rejected, ==, 0);
  bundle_summary_clear (&summary);
  /* looking along +z with a negative focal length */
  for (guint i = 0; i < 5; i++)
    problem->cameras[9 * i + 6] *= -1;
  solve (problem, &config, &summary);
  g_assert_cmpuint (summary.n_behind, >, n - 20);
  bundle_summary_clear (&summary);
}

static void
test_errors (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (3, 10, 25);
  gdouble of_observations[30], of_points[10], sum = 0;

  problem->n_points = 9; /* removes the last point and its observations */
  problem->n_observations = 27;
  bundle_reprojection_errors (problem, 2, of_observations, of_points);
  for (guint i = 0; i < 27; i++)
    sum += 0.5 * of_observations[i] * of_observations[i];
  assert_close (sum, bundle_data_cost (problem), 1e-12);
  for (guint p = 0; p < 9; p++)
    assert_close (of_points[p],
        (of_observations[3 * p] + of_observations[3 * p + 1]
            + of_observations[3 * p + 2])
            / 3,
        1e-12);
  bundle_reprojection_errors (problem, 0, NULL, NULL);
}

/* More observations than a thread takes at a time */
static void
test_errors_threads (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (30, 700, 26);
  g_autofree gdouble *first = NULL;

  for (guint threads = 1; threads < 5; threads++) {
    gdouble *all = g_new (gdouble, 21000 + 700), sum = 0;

    bundle_reprojection_errors (problem, threads, all, all + 21000);
    if (first == NULL) {
      for (guint i = 0; i < 21000; i++)
        sum += 0.5 * all[i] * all[i];
      assert_close (sum, bundle_data_cost (problem), 1e-12);
      first = g_memdup2 (all, 21700 * sizeof *all);
    }
    g_assert_cmpmem (all, 21700 * sizeof *all, first, 21700 * sizeof *all);
    bundle_reprojection_errors (problem, threads, NULL, all);
    g_assert_cmpmem (all, 700 * sizeof *all, first + 21000, 700 * sizeof *all);
    g_free (all);
  }
}

/* Inverse of a symmetric positive definite matrix, by Gauss-Jordan
 * elimination. */
static void
invert (gdouble *a, guint n)
{
  for (guint k = 0; k < n; k++) {
    gdouble pivot = a[k * n + k];

    g_assert_cmpfloat (pivot, >, 0);
    a[k * n + k] = 1;
    for (guint j = 0; j < n; j++)
      a[k * n + j] /= pivot;
    for (guint i = 0; i < n; i++) {
      gdouble factor = a[i * n + k];

      if (i == k)
        continue;
      a[i * n + k] = 0;
      for (guint j = 0; j < n; j++)
        a[i * n + j] -= factor * a[k * n + j];
    }
  }
}

/* Compares with the inverse of the whole matrix from numerical derivatives. */
static void
test_covariance (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (4, 20, 27);
  g_autofree gdouble *h = NULL, *j = NULL;
  gdouble covariances[4 * 81], variance;
  guint map[36 + 60], n = 0, free_unknowns[36 + 60];
  BundleConfig config;
  BundleSummary summary;
  GError *error = NULL;

  init_config (&config);
  config.fix_first_camera = TRUE;
  config.function_tolerance = 1e-12;
  problem->point_constant = calloc (20, 1);
  problem->point_constant[7] = 1; /* fixes the scale */
  solve (problem, &config, &summary);
  g_assert_true (bundle_covariances (problem, &config, covariances, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < 96; i++) {
    gboolean constant = i < 6 || (i >= 36 && (i - 36) / 3 == 7);

    map[i] = constant ? G_MAXUINT : n;
    if (!constant)
      free_unknowns[n++] = i;
  }
  j = g_new0 (gdouble, 2 * 80 * n);
  h = g_new0 (gdouble, n * n);
  for (guint k = 0; k < n; k++) {
    guint i = free_unknowns[k];
    gdouble *x = i < 36 ? problem->cameras + i : problem->points + i - 36;
    gdouble old = *x, step = i < 36 && i % 9 == 6 ? 1e-2 : 1e-5;

    for (gint side = -1; side <= 1; side += 2) {
      *x = old + side * step;
      for (guint o = 0; o < 80; o++) {
        gdouble image[2];

        bundle_project (problem->cameras + 9 * problem->camera_of[o],
            problem->points + 3 * problem->point_of[o], image);
        for (guint e = 0; e < 2; e++)
          j[(2 * o + e) * n + k] += side * image[e] / (2 * step);
      }
    }
    *x = old;
  }
  for (guint o = 0; o < 160; o++)
    for (guint a = 0; a < n; a++)
      for (guint b = 0; b < n; b++)
        h[a * n + b] += j[o * n + a] * j[o * n + b];
  invert (h, n);
  variance = 2 * summary.final_cost / (160. - n);
  for (guint c = 0; c < 4; c++)
    for (guint a = 0; a < 9; a++)
      for (guint b = 0; b < 9; b++) {
        guint row = map[9 * c + a], column = map[9 * c + b];
        gdouble value = covariances[81 * c + 9 * a + b];

        if (row == G_MAXUINT || column == G_MAXUINT)
          g_assert_cmpfloat (value, ==, 0);
        else
          g_assert_cmpfloat (fabs (value - variance * h[row * n + column]), <,
              1e-4 * variance
                  * sqrt (h[row * n + row] * h[column * n + column]));
      }
  bundle_summary_clear (&summary);

  /* free to translate, rotate and scale */
  config.fix_first_camera = FALSE;
  g_assert_false (bundle_covariances (problem, &config, covariances, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
}

/* Most points are unobserved: the rest takes the steps of a problem without
 * them. */
static void
test_unseen (void)
{
  g_autoptr (BundleProblem) ring = bundle_data_ring (5, 60, 27);
  g_autoptr (BundleProblem) sparse =
      bundle_problem_new (5, 6000, ring->n_observations, NULL);
  BundleConfig config;
  BundleSummary a, b;

  memcpy (sparse->cameras, ring->cameras, 5 * 72);
  memcpy (sparse->observed, ring->observed, ring->n_observations * 16);
  memcpy (sparse->camera_of, ring->camera_of, ring->n_observations * 4);
  for (gsize i = 0; i < ring->n_observations; i++)
    sparse->point_of[i] = 100 * ring->point_of[i] + 7;
  for (gsize i = 0; i < 60; i++)
    memcpy (sparse->points + 3 * (100 * i + 7), ring->points + 3 * i, 24);
  init_config (&config);
  solve (ring, &config, &a);
  solve (sparse, &config, &b);
  g_assert_cmpuint (a.pcg_iterations, ==, b.pcg_iterations);
  assert_close (b.final_cost, a.final_cost, 1e-12);
  assert_close (bundle_data_cost (sparse), a.final_cost, 1e-12);
  for (gsize i = 0; i < 18000; i++)
    if (i / 3 % 100 != 7)
      g_assert_cmpfloat (sparse->points[i], ==, 0);
  bundle_summary_clear (&a);
  bundle_summary_clear (&b);
}

/* Points with more observations than a warp has lanes. */
static void
test_long (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (300, 40, 29);
  BundleConfig config;
  BundleSummary summary;

  init_config (&config);
  solve (problem, &config, &summary);
  assert_close (bundle_data_cost (problem), summary.final_cost, 1e-12);
  /* 12000 observations with uniform noise of variance 1/12 in x and y */
  g_assert_cmpfloat (summary.final_cost, <, 12000. / 12);
  bundle_summary_clear (&summary);
}

/* --- direct solution ----------------------------------------------------- */

enum {
  DIRECT_FREE,
  DIRECT_FIX_INTRINSICS,
  DIRECT_FIX_FIRST,
  DIRECT_SHARED,
  DIRECT_CONSTANTS,        /* of every kind */
  DIRECT_CONSTANT_POINTS,  /* all */
  DIRECT_CONSTANT_CAMERAS, /* all */
  DIRECT_SHARED_CONSTANTS, /* k1 too */
  DIRECT_TWICE,            /* a camera sees a point twice */
  DIRECT_SPARSE,           /* two thirds of the observations are missing */
  DIRECT_HUBER,
  DIRECT_CAUCHY,
  DIRECT_TUKEY,
  DIRECT_SETTINGS
};

/* Keeps those observations of @ring that @seed selects, so that some cameras and
 * points may be unobserved. */
static BundleProblem *
thin_out (const BundleProblem *ring, guint32 seed)
{
  GRand *rand = g_rand_new_with_seed (seed);
  g_autoptr (BundleProblem) copy = bundle_problem_copy (ring, NULL);
  BundleProblem *sparse;
  gsize n = 0;

  for (gsize i = 0; i < ring->n_observations; i++)
    if (i == 0 || g_rand_int_range (rand, 0, 3) == 0) {
      copy->camera_of[n] = ring->camera_of[i];
      copy->point_of[n] = ring->point_of[i];
      memcpy (copy->observed + 2 * n++, ring->observed + 2 * i, 16);
    }
  g_rand_free (rand);
  sparse = bundle_problem_new (ring->n_cameras, ring->n_points, n, NULL);
  memcpy (sparse->cameras, ring->cameras, ring->n_cameras * 72);
  memcpy (sparse->points, ring->points, ring->n_points * 24);
  memcpy (sparse->camera_of, copy->camera_of, n * 4);
  memcpy (sparse->point_of, copy->point_of, n * 4);
  memcpy (sparse->observed, copy->observed, n * 16);
  return sparse;
}

static BundleProblem *
make_direct (guint n_cameras, guint n_points, guint setting, guint32 seed,
    BundleConfig *config)
{
  BundleProblem *problem = bundle_data_ring (n_cameras, n_points, seed);

  init_config (config);
  config->fix_intrinsics = setting == DIRECT_FIX_INTRINSICS;
  config->fix_first_camera = setting == DIRECT_FIX_FIRST;
  config->shared_intrinsics =
      setting == DIRECT_SHARED || setting == DIRECT_SHARED_CONSTANTS;
  config->loss = setting == DIRECT_HUBER    ? BUNDLE_LOSS_HUBER
                 : setting == DIRECT_CAUCHY ? BUNDLE_LOSS_CAUCHY
                 : setting == DIRECT_TUKEY  ? BUNDLE_LOSS_TUKEY
                                            : BUNDLE_LOSS_NONE;
  config->loss_scale = 10;
  problem->camera_constant = calloc (n_cameras, 2);
  problem->point_constant = calloc (n_points, 1);
  for (guint c = 0; c < n_cameras; c++) {
    static const guint16 masks[] = { 1 << BUNDLE_CAMERA_K1, 1 << 1 | 1 << 4,
      7 << BUNDLE_CAMERA_TRANSLATION, BUNDLE_CAMERA_ALL, 0,
      BUNDLE_CAMERA_INTRINSICS };

    if (setting == DIRECT_CONSTANTS)
      problem->camera_constant[c] = masks[c % G_N_ELEMENTS (masks)];
    else if (setting == DIRECT_CONSTANT_CAMERAS)
      problem->camera_constant[c] = BUNDLE_CAMERA_ALL;
    else if (setting == DIRECT_SHARED_CONSTANTS)
      problem->camera_constant[c] = c % 2 << BUNDLE_CAMERA_K1;
  }
  for (guint p = 0; p < n_points; p++)
    problem->point_constant[p] = setting == DIRECT_CONSTANT_POINTS
                                 || (setting == DIRECT_CONSTANTS && p % 5 == 1);
  if (setting == DIRECT_TWICE && problem->n_observations > 2)
    for (gsize i = 2; i < problem->n_observations; i += 3) {
      problem->camera_of[i] = problem->camera_of[i - 2];
      problem->point_of[i] = problem->point_of[i - 2];
      problem->observed[2 * i] = problem->observed[2 * i - 4] + 0.5;
      problem->observed[2 * i + 1] = problem->observed[2 * i - 3];
    }
  if (setting == DIRECT_SPARSE) {
    BundleProblem *sparse = thin_out (problem, seed);

    bundle_problem_free (problem);
    return sparse;
  }
  return problem;
}

/* Cameras and points: one of each, few or many of either, systems of several panels
 * of the factorisation */
static const guint direct_sizes[][2] = { { 1, 1 }, { 1, 9 }, { 5, 1 },
  { 6, 40 }, { 8, 3 }, { 3, 250 }, { 40, 7 }, { 25, 60 } };

/* Length of the difference of the results of steps from @start, relative to the
 * step */
static gdouble
compare_steps (
    const BundleProblem *start, const BundleProblem *a, const BundleProblem *b)
{
  gdouble step = 0, difference = 0;

  for (gsize i = 0; i < 9 * (gsize) start->n_cameras; i++) {
    /* focal lengths are relative */
    gdouble unit = i % 9 == BUNDLE_CAMERA_FOCAL ? 500 : 1;
    gdouble d = (a->cameras[i] - b->cameras[i]) / unit;
    gdouble s = (a->cameras[i] - start->cameras[i]) / unit;

    difference += d * d;
    step += s * s;
  }
  for (gsize i = 0; i < 3 * (gsize) start->n_points; i++) {
    gdouble d = a->points[i] - b->points[i],
            s = a->points[i] - start->points[i];

    difference += d * d;
    step += s * s;
  }
  return sqrt (difference / MAX (step, 1e-300));
}

/* A direct step is that of conjugate gradients run to the end, with every setting, for
 * both sides, and every number of threads has the same bits. */
static void
test_direct_steps (void)
{
  gdouble largest = 0;

  for (guint i = 0; i < DIRECT_SETTINGS * G_N_ELEMENTS (direct_sizes); i++) {
    guint setting = i % DIRECT_SETTINGS;
    const guint *size = direct_sizes[i / DIRECT_SETTINGS];
    BundleConfig config;
    g_autoptr (BundleProblem) problem =
        make_direct (size[0], size[1], setting, 41 + i, &config);
    g_autoptr (BundleProblem) reference = bundle_problem_copy (problem, NULL);
    g_autoptr (BundleProblem) other = NULL;
    BundleSummary summary;
    gdouble cost;

    config.max_iterations = 1;
    /* with less damping the conjugate gradients reach fewer digits */
    config.initial_radius = i % 2 ? 100 : 1;
    config.eta = 1e-16;
    config.max_pcg_iterations = 1000;
    if (size[0] <= 8)
      config.preconditioner = BUNDLE_PRECONDITIONER_CLUSTER;
    solve (reference, &config, &summary);
    cost = summary.final_cost;
    bundle_summary_clear (&summary);
    for (guint k = 0; k < 2; k++) {
      g_autoptr (BundleProblem) first = NULL;

      config.solver = (BundleSolver) (BUNDLE_SOLVER_DIRECT_CAMERAS + k);
      if (config.shared_intrinsics
          && config.solver == BUNDLE_SOLVER_DIRECT_POINTS)
        continue;
      for (guint t = 1; t <= 3; t++) {
        g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);

        config.threads = t;
        solve (copy, &config, &summary);
        g_assert_cmpint (summary.solver, ==, config.solver);
        g_assert_cmpuint (summary.pcg_iterations, ==, 0);
        g_assert_cmpuint (summary.device_bytes, ==, 0);
        if (t > 1) {
          assert_same_bits (copy, first);
        } else {
          gdouble error = compare_steps (problem, reference, copy);

          g_test_message ("%u x %u, setting %u, solver %d: %g", size[0],
              size[1], setting, (gint) config.solver, error);
          largest = MAX (largest, error);
          /* without an exact preconditioner, the conjugate gradients stop at the
           * square root of the rounding error */
          g_assert_cmpfloat (error, <, size[0] <= 8 ? 1e-8 : 1e-7);
          if (other != NULL)
            g_assert_cmpfloat (compare_steps (problem, other, copy), <, 1e-9);
          assert_close (summary.final_cost + 1e-6, cost + 1e-6, 1e-8);
          first = g_steal_pointer (&copy);
        }
        bundle_summary_clear (&summary);
      }
      if (other == NULL)
        other = g_steal_pointer (&first);
    }
  }
  g_print ("# largest relative difference of a step: %.1e\n", largest);
}

/* Whole adjustments end at the minimum of the conjugate gradients. */
static void
test_direct_minimum (void)
{
  static const guint settings[] = { DIRECT_FREE, DIRECT_FIX_INTRINSICS,
    DIRECT_FIX_FIRST, DIRECT_CONSTANT_POINTS, DIRECT_SHARED, DIRECT_CAUCHY };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    gdouble cost = 0;

    for (guint k = 0; k < 3; k++) {
      BundleConfig config;
      g_autoptr (BundleProblem) problem =
          make_direct (12, 60, settings[i], 43, &config);
      BundleSummary summary;

      config.solver = (BundleSolver) (BUNDLE_SOLVER_ITERATIVE + k);
      if (config.shared_intrinsics
          && config.solver == BUNDLE_SOLVER_DIRECT_POINTS)
        continue;
      config.function_tolerance = 1e-13;
      config.max_iterations = 200;
      solve (problem, &config, &summary);
      if (k == 0)
        cost = summary.final_cost;
      assert_close (summary.final_cost, cost, 1e-8);
      bundle_summary_clear (&summary);
    }
  }
}

/* Systems of several bands and panels: the same bits with any number of threads, and
 * with a device. */
static void
test_direct_bits (void)
{
  static const guint threads[] = { 1, 1, 2, 3, 8 };

  for (guint k = 0; k < 2; k++) {
    g_autoptr (BundleProblem) problem =
        k ? bundle_data_ring (150, 90, 45) : bundle_data_ring (30, 400, 45);
    g_autoptr (BundleProblem) first = NULL;

    for (guint t = 0; t < G_N_ELEMENTS (threads); t++) {
      g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
      BundleConfig config;
      BundleSummary summary;
      GError *error = NULL;

      init_config (&config);
      config.solver = (BundleSolver) (BUNDLE_SOLVER_DIRECT_CAMERAS + k);
      config.threads = threads[t];
      config.max_iterations = 4;
      bundle_solve (
          copy, &config, t == 0 ? NULL : context, NULL, NULL, &summary, &error);
      g_assert_no_error (error);
      g_assert_cmpfloat (summary.final_cost, <, 0.01 * summary.initial_cost);
      bundle_summary_clear (&summary);
      if (first == NULL)
        first = g_steal_pointer (&copy);
      else
        assert_same_bits (copy, first);
    }
  }
}

/* Without damping the system is singular: the scene may move, turn and grow, and
 * cameras or points have more unknowns than residuals. Nothing becomes NaN and the
 * cost does not rise. */
static void
test_direct_singular (void)
{
  for (guint i = 0; i < 2 * G_N_ELEMENTS (direct_sizes); i++) {
    const guint *size = direct_sizes[i / 2];

    for (guint setting = 0; setting < DIRECT_SETTINGS; setting++) {
      BundleConfig config;
      g_autoptr (BundleProblem) problem =
          make_direct (size[0], size[1], setting, 47 + i, &config);
      BundleSummary summary;

      config.solver = (BundleSolver) (BUNDLE_SOLVER_DIRECT_CAMERAS + i % 2);
      if (config.shared_intrinsics
          && config.solver == BUNDLE_SOLVER_DIRECT_POINTS)
        continue;
      config.initial_radius = 1e16;
      config.function_tolerance = 0;
      config.max_iterations = 20;
      solve (problem, &config, &summary);
      g_assert_true (isfinite (summary.final_cost));
      g_assert_cmpfloat (summary.final_cost, <=, summary.initial_cost);
      for (gsize k = 0; k < 9 * (gsize) size[0]; k++)
        g_assert_true (isfinite (problem->cameras[k]));
      for (gsize k = 0; k < 3 * (gsize) size[1]; k++)
        g_assert_true (isfinite (problem->points[k]));
      bundle_summary_clear (&summary);
    }
  }
}

/* Small problems are solved directly by default, with the smaller side left; other
 * settings and larger problems have conjugate gradients. */
static void
test_direct_choice (void)
{
  static const struct {
    guint n_cameras, n_points;
    BundleSolver solver;
  } cases[] = {
    { 6, 40, BUNDLE_SOLVER_DIRECT_CAMERAS },
    { 100, 10, BUNDLE_SOLVER_DIRECT_POINTS },
    { 19, 1500, BUNDLE_SOLVER_ITERATIVE },
    { 2, 70000, BUNDLE_SOLVER_ITERATIVE },
  };
  BundleConfig config;
  BundleSummary summary;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (BundleProblem) problem =
        bundle_data_ring (cases[i].n_cameras, cases[i].n_points, 49);

    bundle_config_init (&config);
    config.max_iterations = 1;
    solve (problem, &config, &summary);
    g_assert_cmpint (summary.solver, ==, cases[i].solver);
    g_assert_cmpint (summary.pcg_iterations > 0, ==,
        cases[i].solver == BUNDLE_SOLVER_ITERATIVE);
    bundle_summary_clear (&summary);
  }
  for (guint i = 0; i < 3; i++) {
    g_autoptr (BundleProblem) problem = bundle_data_ring (6, 40, 51);

    bundle_config_init (&config);
    config.shared_intrinsics = i == 2;
    if (i < 2)
      config.preconditioner =
          i == 0 ? BUNDLE_PRECONDITIONER_CLUSTER : BUNDLE_PRECONDITIONER_JACOBI;
    solve (problem, &config, &summary);
    g_assert_cmpint (summary.solver, ==, BUNDLE_SOLVER_ITERATIVE);
    bundle_summary_clear (&summary);
  }
}

/* With the CPU and with a device */
static void
test_direct_refused (void)
{
  g_autoptr (BundleProblem) problem = bundle_data_ring (3, 20, 53);
  g_autoptr (GError) error = NULL;
  BundleConfig config;
  BundleSummary summary;

  bundle_config_init (&config);
  config.solver = BUNDLE_SOLVER_DIRECT_POINTS;
  config.shared_intrinsics = TRUE;
  g_assert_false (
      bundle_solve (problem, &config, context, NULL, NULL, &summary, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
}

typedef struct {
  guint copies, number;
} KernelCase;

/* A step of configuration @number of 8, so small that compute-sanitizer ends: losses,
 * shared intrinsics and the other preconditioners. 2100 copies are a large problem for
 * the CUDA backend. */
static void
test_kernels (gconstpointer data)
{
  const KernelCase *c = data;
  guint i = c->number;
  g_autoptr (BundleProblem) ring = bundle_data_ring (4, 6, 33);
  g_autoptr (BundleProblem) problem = bundle_data_repeat (ring, c->copies, 3);
  gdouble initial = bundle_data_cost (problem);
  BundleConfig config;
  BundleSummary summary;

  init_config (&config);
  config.max_iterations = 1;
  config.max_pcg_iterations = 3;
  config.eta = 1e-12;
  config.loss_scale = 30;
  config.loss = i < 4 ? (BundleLoss) i : BUNDLE_LOSS_HUBER;
  config.shared_intrinsics = i == 4 || i == 5;
  config.preconditioner = i == 4 || i == 7 ? BUNDLE_PRECONDITIONER_JACOBI
                          : i == 6         ? BUNDLE_PRECONDITIONER_CLUSTER
                                           : BUNDLE_PRECONDITIONER_SCHUR_JACOBI;
  solve (problem, &config, &summary);
  if (config.loss == BUNDLE_LOSS_NONE)
    assert_close (summary.initial_cost, initial, 1e-12);
  g_assert_cmpfloat (summary.final_cost, <, summary.initial_cost);
  g_assert_cmpuint (summary.pcg_iterations, >=, 2);
  bundle_summary_clear (&summary);
}

static void
add_kernel_tests (const gchar *name, guint copies)
{
  for (guint i = 0; i < 8; i++) {
    g_autofree gchar *path = g_strdup_printf ("/bundle/kernels/%s/%u", name, i);
    KernelCase *c = g_new (KernelCase, 1);

    *c = (KernelCase){ copies, i };
    g_test_add_data_func_full (path, c, test_kernels, g_free);
  }
}

int
main (int argc, char **argv)
{
  const gchar *group;
  gboolean all;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >=, 2);
  group = argv[1];
  if (argc > 2 && g_str_equal (argv[2], "cuda")) {
    g_autoptr (GError) error = NULL;

    context = cvis_context_new (-1, &error);
    if (context == NULL) {
      g_print ("%s\n", error->message);
      return 77;
    }
  }
  all = g_str_equal (group, "all");
  if (all || g_str_equal (group, "matrix")) {
    for (guint i = 0; i < BUNDLE_ORACLES; i++) {
      g_autofree gchar *matrix =
          g_strdup_printf ("/bundle/matrix/%s", bundle_oracles[i].name);
      g_autofree gchar *paper =
          g_strdup_printf ("/bundle/paper/%s", bundle_oracles[i].name);

      g_test_add_data_func (matrix, &bundle_oracles[i], test_matrix);
      /* the CPU needs minutes for the others */
      if (all || context != NULL || i == 1)
        g_test_add_data_func (paper, &bundle_oracles[i], test_paper);
    }
  } else if (g_str_equal (group, "genuine")) {
    for (guint i = 0; i < BUNDLE_ORACLES; i++) {
      g_autofree gchar *path =
          g_strdup_printf ("/bundle/default/%s", bundle_oracles[i].name);
      g_autofree gchar *huber =
          g_strdup_printf ("/bundle/huber/%s", bundle_oracles[i].name);
      g_autofree gchar *deep =
          g_strdup_printf ("/bundle/huber-deep/%s", bundle_oracles[i].name);

      g_test_add_data_func (path, &bundle_oracles[i], test_default);
      g_test_add_data_func (huber, &bundle_oracles[i], test_huber);
      if (context != NULL || i == 1)
        g_test_add_data_func (deep, &bundle_oracles[i], test_huber_deep);
    }
    g_test_add_data_func (
        "/bundle/copies", "problem-21-11315-pre", test_copies);
    if (context != NULL)
      g_test_add_data_func (
          "/bundle/backends", &bundle_oracles[1], test_backends);
  } else {
    g_assert_cmpstr (group, ==, "small");
    g_test_add_func ("/bundle/copies/ring", test_copies_ring);
    g_test_add_func ("/bundle/ring", test_ring);
    g_test_add_func ("/bundle/bits", test_bits);
    g_test_add_func ("/bundle/cluster", test_cluster);
    g_test_add_func ("/bundle/losses", test_losses);
    g_test_add_func ("/bundle/constants", test_constants);
    g_test_add_func ("/bundle/shared", test_shared);
    g_test_add_func ("/bundle/cancel", test_cancel);
    g_test_add_func ("/bundle/cancel-flag", test_cancel_flag);
    g_test_add_func ("/bundle/cancel-covariance", test_cancel_covariance);
    g_test_add_func ("/bundle/refused", test_refused);
    g_test_add_func ("/bundle/one-observation", test_one_observation);
    g_test_add_func ("/bundle/deficient", test_deficient);
    g_test_add_func ("/bundle/frame", test_frame);
    g_test_add_func ("/bundle/frame-covariance", test_frame_covariance);
    g_test_add_func ("/bundle/constant-position", test_constant_position);
    g_test_add_func ("/bundle/point-in-plane", test_point_in_plane);
    g_test_add_func ("/bundle/doubtful", test_doubtful);
    g_test_add_func ("/bundle/unseen", test_unseen);
    g_test_add_func ("/bundle/long", test_long);
    g_test_add_func ("/bundle/direct/steps", test_direct_steps);
    g_test_add_func ("/bundle/direct/minimum", test_direct_minimum);
    g_test_add_func ("/bundle/direct/bits", test_direct_bits);
    g_test_add_func ("/bundle/direct/singular", test_direct_singular);
    g_test_add_func ("/bundle/direct/choice", test_direct_choice);
    g_test_add_func ("/bundle/direct/refused", test_direct_refused);
    add_kernel_tests ("small", 3);
    if (context != NULL)
      add_kernel_tests ("large", 2100);
    g_test_add_func ("/bundle/errors", test_errors);
    g_test_add_func ("/bundle/errors-threads", test_errors_threads);
    g_test_add_func ("/bundle/covariance", test_covariance);
  }
  return g_test_run ();
}
