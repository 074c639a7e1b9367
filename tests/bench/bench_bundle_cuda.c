/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bench_bundle_cuda [--runs N] [--copies K] [--configurations N]
 * [--gigabytes-per-second B]: bundle adjustment on a CUDA device. The three BAL
 * problems (bundle in CUDAVISION_TEST_DATA), K shuffled copies of problem 16 (346:
 * 29 million observations), and a simulated street with the numbers of cameras and
 * points of Final-13682 of the BAL data; the street is synthetic, its figures are
 * not those of the genuine problem.
 *
 * A row: the least time of the runs with everything from the problem in host
 * memory to the result there; the same without setup and return (from the first
 * report to the last); iterations; the mean time of a conjugate gradient
 * iteration and its share of the time that its fewest bytes take at B (4300). */
#include <math.h>
#include <string.h>

#include "bundledata.h"
#include "cuda/bundle/engine.h"
#include "cuda/bundle/sim.h"
#include "cuda/core/histogram.h"

typedef struct {
  const gchar *name;
  BundleWStorage w;
  BundleLayout layout;
  BundlePrecision precision;
} Configuration;

static const Configuration configurations[] = {
  { "recompute", BUNDLE_W_RECOMPUTE, BUNDLE_LAYOUT_ELEMENT,
      BUNDLE_PRECISION_DOUBLE },
  { "implicit element", BUNDLE_W_IMPLICIT, BUNDLE_LAYOUT_ELEMENT,
      BUNDLE_PRECISION_DOUBLE },
  { "implicit element mixed", BUNDLE_W_IMPLICIT, BUNDLE_LAYOUT_ELEMENT,
      BUNDLE_PRECISION_MIXED },
  { "implicit block", BUNDLE_W_IMPLICIT, BUNDLE_LAYOUT_BLOCK,
      BUNDLE_PRECISION_DOUBLE },
  { "explicit element", BUNDLE_W_EXPLICIT, BUNDLE_LAYOUT_ELEMENT,
      BUNDLE_PRECISION_DOUBLE },
  { "explicit block", BUNDLE_W_EXPLICIT, BUNDLE_LAYOUT_BLOCK,
      BUNDLE_PRECISION_DOUBLE },
};

typedef struct {
  gdouble first, last;   /* seconds of the first and the last report */
  guint64 mark;          /* when a group of iterations began; 0: not yet */
  gdouble group_seconds; /* in groups */
  guint groups;
} Times;

/* Groups after the first of a step are nothing but conjugate gradients. */
static gboolean
take_times (const BundleIteration *iteration, gpointer user_data)
{
  Times *times = user_data;
  guint64 now = cvis_monotonic_ns ();

  if (iteration != NULL) {
    if (iteration->number == 0)
      times->first = iteration->seconds;
    times->last = iteration->seconds;
    times->mark = 0;
    return TRUE;
  }
  if (times->mark > 0) {
    times->group_seconds += (gdouble) (now - times->mark) * 1e-9;
    times->groups++;
  }
  times->mark = now;
  return TRUE;
}

/* Bytes that an iteration reads and writes at least where J is recomputed: the
 * numbers of camera and point of an observation, the point and its vector for
 * the camera; of a point its place and vector, read and written, and the inverse
 * of its block. */
static gdouble
count_bytes (const BundleProblem *problem, const Configuration *c)
{
  gdouble element = c->precision == BUNDLE_PRECISION_MIXED ? 4 : 8;
  gdouble stored = c->w == BUNDLE_W_IMPLICIT   ? 2 * 24 * element
                   : c->w == BUNDLE_W_EXPLICIT ? 2 * 27 * element
                                               : 0;

  return (gdouble) problem->n_observations * (8 + 48 + stored)
         + (gdouble) problem->n_points * 144;
}

static gboolean
solve (const BundleProblem *problem, const BundleConfig *config,
    CvisContext *context, Times *times, BundleSummary *summary)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, &error);

  memset (times, 0, sizeof *times);
  if (copy == NULL
      || !bundle_solve (
          copy, config, context, take_times, times, summary, &error)) {
    g_print ("%s\n", error->message);
    return FALSE;
  }
  bundle_summary_clear (summary);
  return TRUE;
}

/* Milliseconds of a conjugate gradient iteration: 200 of a single step. */
static gdouble
time_iteration (
    const BundleProblem *problem, BundleConfig config, CvisContext *context)
{
  BundleSummary summary;
  Times times;

  config.max_iterations = 1;
  config.max_pcg_iterations = 200;
  config.eta = 1e-12;
  if (!solve (problem, &config, context, &times, &summary) || times.groups == 0)
    return NAN;
  return 1e3 * times.group_seconds * (times.groups + 1)
         / (times.groups * (gdouble) summary.pcg_iterations);
}

static void
bench_problem (const gchar *name, const BundleProblem *problem, guint n,
    CvisContext *context, guint runs, gdouble bandwidth)
{
  g_print ("%s: %u cameras, %u points, %" G_GSIZE_FORMAT
           " observations, cost %.12e computed independently\n",
      name, problem->n_cameras, problem->n_points, problem->n_observations,
      bundle_data_cost (problem));
  g_print ("%-23s %18s %18s %4s %5s %9s %9s %10s %6s %8s\n", "configuration",
      "initial cost", "final cost", "LM", "PCG", "all s", "solver s",
      "ms an iter", "share", "GiB");
  for (guint i = 0; i < n; i++) {
    const Configuration *c = &configurations[i];
    BundleConfig config;
    BundleSummary best = { 0 };
    gdouble solver = 0, iteration;

    bundle_config_init (&config);
    config.w_storage = c->w;
    config.layout = c->layout;
    config.precision = c->precision;
    for (guint run = 0; run < runs; run++) {
      BundleSummary summary;
      Times times;

      if (!solve (problem, &config, context, &times, &summary))
        return;
      if (run == 0 || summary.seconds < best.seconds) {
        best = summary;
        solver = times.last - times.first;
      }
    }
    iteration = time_iteration (problem, config, context);
    g_print ("%-23s %18.11e %18.11e %4u %5u %9.4f %9.4f %10.4f %5.0f%% %8.3f\n",
        c->name, best.initial_cost, best.final_cost, best.iterations,
        best.pcg_iterations, best.seconds, solver, iteration,
        count_bytes (problem, c) / (bandwidth * 1e6) / iteration * 100,
        (gdouble) best.device_bytes / (1 << 30));
  }
}

int
main (int argc, char **argv)
{
  gint runs = 3, copies = 346, n = G_N_ELEMENTS (configurations);
  gdouble bandwidth = 4300;
  const GOptionEntry entries[] = {
    { "runs", 'n', 0, G_OPTION_ARG_INT, &runs, "the least time of N (3)", "N" },
    { "copies", 'k', 0, G_OPTION_ARG_INT, &copies, "of problem 16 (346)", "K" },
    { "configurations", 'c', 0, G_OPTION_ARG_INT, &n,
        "the first N of the table (all)", "N" },
    { "gigabytes-per-second", 'b', 0, G_OPTION_ARG_DOUBLE, &bandwidth,
        "of device memory (4300)", "B" },
    { NULL },
  };
  static const gchar *const names[] = { "problem-16-22106-pre",
    "problem-21-11315-pre", "problem-49-7776-pre" };
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (BundleProblem) one = NULL;
  CvisContext *context;
  BundleSim sim;

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error) || copies < 1
      || runs < 1 || n < 1 || n > (gint) G_N_ELEMENTS (configurations)
      || !(bandwidth > 0)) {
    g_printerr ("%s\n", error ? error->message : "numbers out of range");
    return 2;
  }
  context = cvis_context_new (-1, &error);
  if (context == NULL) {
    g_printerr ("%s\n", error->message);
    return 77;
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *why = NULL;
    g_autoptr (BundleProblem) problem = bundle_data_load (names[i], &why);

    if (problem == NULL) {
      g_print ("%s: skipped: %s\n", names[i], why);
      continue;
    }
    bench_problem (names[i], problem, G_N_ELEMENTS (configurations), context,
        (guint) runs, bandwidth);
    if (i == 0)
      one = g_steal_pointer (&problem);
  }
  if (one) {
    g_autoptr (BundleProblem) many =
        bundle_data_repeat (one, (guint) copies, 1);

    bench_problem ("shuffled copies of problem 16", many, (guint) n, context,
        (guint) runs, bandwidth);
  }
  bundle_sim_init (&sim);
  sim.cameras = 13682;
  sim.points = 4456117;
  {
    g_autoptr (BundleProblem) street = bundle_sim_make (&sim, &error);

    if (street == NULL)
      g_printerr ("%s\n", error->message);
    else
      bench_problem ("synthetic street", street, G_N_ELEMENTS (configurations),
          context, (guint) runs, bandwidth);
  }
  cvis_context_unref (context);
  return 0;
}
