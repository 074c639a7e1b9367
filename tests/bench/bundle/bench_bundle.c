/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bench_bundle [--threads N] [--copies K] [--runs N] [--history]
 * [PROBLEM...]: bundle adjustment of BAL problems (bundle/PROBLEM.txt.bz2 in
 * CUDAVISION_TEST_DATA) by conjugate gradients: with each preconditioner and the
 * default stop, then a fixed amount of work, "50 x 100" for up to 50 iterations of
 * Levenberg-Marquardt with up to 100 conjugate gradient iterations each. Prints costs,
 * iterations and the minimum time of the runs; with --history the cost over time of
 * the defaults. */
#include "bundledata.h"
#include "cuda/bundle/engine.h"

typedef struct {
  const gchar *name;
  BundlePreconditioner preconditioner;
  guint max_iterations, max_pcg_iterations; /* 0: the default stop */
} Configuration;

static const Configuration configurations[] = {
  { "schur-jacobi", BUNDLE_PRECONDITIONER_SCHUR_JACOBI, 0, 0 },
  { "cluster", BUNDLE_PRECONDITIONER_CLUSTER, 0, 0 },
  { "jacobi", BUNDLE_PRECONDITIONER_JACOBI, 0, 0 },
  { "schur-jacobi, 50 x 100", BUNDLE_PRECONDITIONER_SCHUR_JACOBI, 50, 100 },
  { "schur-jacobi, 1 x 1", BUNDLE_PRECONDITIONER_SCHUR_JACOBI, 1, 1 },
};

typedef struct {
  gdouble seconds[64], costs[64];
  gsize n;
} History;

static gboolean
add_iteration (const BundleIteration *iteration, gpointer user_data)
{
  History *history = user_data;

  if (iteration && history->n < G_N_ELEMENTS (history->costs)) {
    history->seconds[history->n] = iteration->seconds;
    history->costs[history->n++] = iteration->cost;
  }
  return TRUE;
}

/* @history: (nullable): name of the problem; prints its history instead of a
 *   row */
static void
run_configuration (const BundleProblem *problem, const Configuration *c,
    guint threads, guint runs, const gchar *history)
{
  BundleConfig config;
  BundleSummary best = { 0 };
  History best_history = { 0 };

  bundle_config_init (&config);
  config.solver = BUNDLE_SOLVER_ITERATIVE;
  config.preconditioner = c->preconditioner;
  config.threads = threads;
  if (c->max_pcg_iterations > 0) {
    config.eta = 1e-12;
    config.max_iterations = c->max_iterations;
    config.max_pcg_iterations = c->max_pcg_iterations;
  }
  for (guint run = 0; run < runs; run++) {
    g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, NULL);
    g_autoptr (GError) error = NULL;
    BundleSummary summary;
    History all = { 0 };

    if (!bundle_solve (
            copy, &config, NULL, add_iteration, &all, &summary, &error)) {
      g_print ("%s: %s\n", c->name, error->message);
      return;
    }
    bundle_summary_clear (&summary);
    if (run == 0 || summary.seconds < best.seconds) {
      best = summary;
      best_history = all;
    }
  }
  if (history) {
    bundle_data_print_history (history, c->name, best_history.seconds,
        best_history.costs, best_history.n);
    return;
  }
  g_print ("%-29s %18.11e %18.11e %4u %6u %9.4f\n", c->name, best.initial_cost,
      best.final_cost, best.iterations, best.pcg_iterations, best.seconds);
}

int
main (int argc, char **argv)
{
  gint threads = 0, copies = 1, runs = 5;
  gboolean history = FALSE;
  g_auto (GStrv) names = NULL;
  const GOptionEntry entries[] = {
    { "threads", 't', 0, G_OPTION_ARG_INT, &threads,
        "CPU threads (0: one per processor)", "N" },
    { "copies", 'k', 0, G_OPTION_ARG_INT, &copies,
        "shuffled copies of each problem (1)", "K" },
    { "runs", 'n', 0, G_OPTION_ARG_INT, &runs,
        "report the minimum time of N runs (5)", "N" },
    { "history", 0, 0, G_OPTION_ARG_NONE, &history,
        "print cost against time, rows of plots.csv", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &names, NULL,
        "PROBLEM..." },
    { NULL },
  };
  static const gchar *const all[] = { "problem-16-22106-pre",
    "problem-21-11315-pre", "problem-49-7776-pre", NULL };
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error) || threads < 0
      || copies < 1 || runs < 1) {
    g_printerr ("%s\n", error ? error->message : "numbers out of range");
    return 2;
  }
  for (const gchar *const *name = names ? (const gchar *const *) names : all;
       *name; name++) {
    const gchar *why = NULL;
    g_autoptr (BundleProblem) problem = bundle_data_load (*name, &why);

    if (problem == NULL) {
      g_print ("%s: skipped: %s\n", *name, why);
      continue;
    }
    if (copies > 1) {
      BundleProblem *many = bundle_data_repeat (problem, (guint) copies, 1);

      bundle_problem_free (problem);
      problem = many;
    }
    if (history) {
      run_configuration (
          problem, &configurations[0], (guint) threads, (guint) runs, *name);
      continue;
    }
    g_print ("%s x %d: %u cameras, %u points, %" G_GSIZE_FORMAT
             " observations, cost %.12e computed independently\n",
        *name, copies, problem->n_cameras, problem->n_points,
        problem->n_observations, bundle_data_cost (problem));
    g_print ("%-29s %18s %18s %4s %6s %9s\n", "configuration", "initial cost",
        "final cost", "LM", "PCG", "seconds");
    for (guint i = 0; i < G_N_ELEMENTS (configurations); i++)
      run_configuration (
          problem, &configurations[i], (guint) threads, (guint) runs, NULL);
  }
  return 0;
}
