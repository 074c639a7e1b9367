/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bench_bundle_cuda [--runs N] [--copies K] [--gigabytes-per-second B]: bundle
 * adjustment on a CUDA device. Problems: the three BAL problems (bundle in
 * CUDAVISION_TEST_DATA); K shuffled copies of problem 16 (346 copies: 29 million
 * observations; 0: only the three problems); and a synthetic field of cameras with
 * the numbers of cameras, points and observations of Final-13682 of the BAL data,
 * whose results are not comparable with that problem.
 *
 * Rows: the default stop; up to 50 iterations of Levenberg-Marquardt with up to 100
 * conjugate gradient iterations each; a step with one.
 *
 * Columns: minimum time of the runs from the problem to the result in host
 * memory; the same without setup and return (first to last report);
 * iterations; device memory; checksum of the result, "varies" if the runs differ.
 * The line above has the time of a conjugate gradient iteration, and the share of it
 * that the minimum memory traffic takes at B (4300) GB/s. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bundledata.h"
#include "cuda/bundle/arithmetic.h"
#include "cuda/bundle/engine.h"
#include "cuda/core/histogram.h"

typedef struct {
  const gchar *name;
  guint max_iterations, max_pcg_iterations; /* 0: the default stop */
} Limits;

static const Limits limits[] = {
  { "default", 0, 0 },
  { "50 x 100", 50, 100 },
  { "1 x 1", 1, 1 },
};

typedef struct {
  gdouble first, last; /* times of the first and the last report, seconds */
  guint32 bits;        /* checksum of the result */
} Times;

static gboolean
take_times (const BundleIteration *iteration, gpointer user_data)
{
  Times *times = user_data;

  if (iteration == NULL)
    return TRUE;
  if (iteration->number == 0)
    times->first = iteration->seconds;
  times->last = iteration->seconds;
  return TRUE;
}

/* Minimum bytes read and written by an iteration that recomputes J: for each
 * observation the camera and point indices, and the point and its vector for
 * the camera; for each point its coordinates and vector, read and written,
 * and the inverse of its block. */
static gdouble
count_bytes (const BundleProblem *problem)
{
  return (gdouble) problem->n_observations * (8 + 48)
         + (gdouble) problem->n_points * 144;
}

/* The first 32 bits of the SHA-1 of cameras and points. */
static guint32
checksum (const BundleProblem *problem)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA1);
  guint8 digest[20];
  gsize n = sizeof digest;

  g_checksum_update (
      sum, (const guchar *) problem->cameras, problem->n_cameras * 72);
  g_checksum_update (
      sum, (const guchar *) problem->points, problem->n_points * 24);
  g_checksum_get_digest (sum, digest, &n);
  return (guint32) digest[0] << 24 | (guint32) digest[1] << 16
         | (guint32) digest[2] << 8 | digest[3];
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
  times->bits = checksum (copy);
  return TRUE;
}

/* Milliseconds of a conjugate gradient iteration: the difference of a step
 * with up to 200 iterations and one with 8, minimum of the runs each. */
static gdouble
time_iteration (const BundleProblem *problem, CvisContext *context, guint runs)
{
  const guint most[2] = { 8, 200 };
  guint n[2] = { 0 };
  gdouble seconds[2] = { G_MAXDOUBLE, G_MAXDOUBLE };
  BundleConfig config;

  bundle_config_init (&config);
  config.solver = BUNDLE_SOLVER_ITERATIVE;
  config.max_iterations = 1;
  config.eta = 1e-12;
  for (guint run = 0; run < 2 * runs; run++) {
    BundleSummary summary;
    Times times;

    config.max_pcg_iterations = most[run % 2];
    if (!solve (problem, &config, context, &times, &summary))
      return NAN;
    n[run % 2] = summary.pcg_iterations;
    seconds[run % 2] = MIN (seconds[run % 2], times.last - times.first);
  }
  return 1e3 * (seconds[1] - seconds[0]) / (n[1] - n[0]);
}

static void
bench_problem (const gchar *name, const BundleProblem *problem,
    CvisContext *context, guint runs, gdouble bandwidth)
{
  const gdouble iteration = time_iteration (problem, context, runs);

  g_print ("%s: %u cameras, %u points, %" G_GSIZE_FORMAT
           " observations, cost %.12e computed independently\n"
           "%.4f ms a conjugate gradient iteration, memory traffic %.0f%%\n",
      name, problem->n_cameras, problem->n_points, problem->n_observations,
      bundle_data_cost (problem), iteration,
      count_bytes (problem) / (bandwidth * 1e6) / iteration * 100);
  g_print ("%-10s %18s %18s %4s %5s %9s %9s %8s %8s\n", "LM x PCG",
      "initial cost", "final cost", "LM", "PCG", "all s", "solver s", "GiB",
      "bits");
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++) {
    BundleConfig config;
    BundleSummary best = { 0 };
    gchar bits[9] = "";
    gdouble solver = 0;

    bundle_config_init (&config);
    config.solver = BUNDLE_SOLVER_ITERATIVE;
    if (limits[i].max_pcg_iterations > 0) {
      config.eta = 1e-12;
      config.max_iterations = limits[i].max_iterations;
      config.max_pcg_iterations = limits[i].max_pcg_iterations;
    }
    for (guint run = 0; run < runs; run++) {
      BundleSummary summary;
      Times times;

      if (!solve (problem, &config, context, &times, &summary))
        return;
      if (run == 0)
        g_snprintf (bits, sizeof bits, "%08x", times.bits);
      else if (strtoul (bits, NULL, 16) != times.bits)
        strcpy (bits, "varies");
      if (run == 0 || summary.seconds < best.seconds) {
        best = summary;
        solver = times.last - times.first;
      }
    }
    g_print ("%-10s %18.11e %18.11e %4u %5u %9.4f %9.4f %8.3f %8s\n",
        limits[i].name, best.initial_cost, best.final_cost, best.iterations,
        best.pcg_iterations, best.seconds, solver,
        (gdouble) best.device_bytes / (1 << 30), bits);
  }
}

/* --- a field of cameras --------------------------------------------------- */

static guint64 state =
    88172645463325252u; /* G. Marsaglia, Xorshift RNGs, 2003 */

static guint64
draw (void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* Uniform in [0, 1) */
static gdouble
draw_share (void)
{
  return (gdouble) (draw () >> 11) * 0x1p-53;
}

/* mean 0, variance 1 */
static gdouble
draw_noise (void)
{
  return 2 * (draw_share () + draw_share () + draw_share () - 1.5);
}

/* Number of observations of a point, >= 2: on average @left / @points, many
 * with few and few with many. */
static guint
draw_length (gsize left, guint points)
{
  gdouble more = (gdouble) left / points - 2;
  gdouble length = 2.5 + more / 0.818 * (pow (draw_share (), -0.45) - 1);

  if (points == 1)
    return (guint) left;
  return (guint) MIN (
      MIN (length, 400), (gdouble) (left - 2 * (gsize) (points - 1)));
}

/* Sets a camera's translation from its rotation and @centre. */
static void
place_camera (gdouble camera[9], const gdouble centre[3])
{
  BundleConstants c;

  bundle_constants (camera, &c);
  for (guint k = 0; k < 3; k++)
    camera[3 + k] = -c.r[3 * k] * centre[0] - c.r[3 * k + 1] * centre[1]
                    - c.r[3 * k + 2] * centre[2];
}

/* Cameras 1 m apart in a square field look down at points below them.
 * Cameras that see a point are neighbours, and points seen by more cameras
 * are deeper. Half a pixel of noise, and a perturbed start. */
static BundleProblem *
make_field (guint n_cameras, guint n_points, gsize n)
{
  BundleProblem *field = bundle_problem_new (n_cameras, n_points, n, NULL);
  g_autofree gdouble *centres = g_new (gdouble, 3 * (gsize) n_cameras);
  guint columns = (guint) ceil (sqrt (n_cameras));
  guint rows = (n_cameras + columns - 1) / columns;
  gsize at = 0;

  for (gsize c = 0; c < n_cameras; c++) {
    gdouble *camera = field->cameras + 9 * c, *centre = centres + 3 * c;

    for (guint k = 0; k < 3; k++) {
      camera[k] = 0.03 * draw_noise ();
      centre[k] = 0.1 * draw_noise ();
    }
    centre[0] += (gdouble) (c % columns);
    centre[1] += (gdouble) (c / columns);
    place_camera (camera, centre);
    camera[6] = 800 + 200 * draw_share ();
    camera[7] = -0.05 * draw_share ();
    camera[8] = 0.01 * draw_share ();
  }
  for (guint p = 0; p < n_points; p++) {
    guint length = draw_length (n - at, n_points - p);
    /* a square window with more cameras than needed; the last row may be
     * incomplete */
    guint side = MIN ((guint) ceil (sqrt (1.5 * length + 4)) + 1, rows);
    guint column = (guint) (draw () % (columns - side + 1));
    guint row = (guint) (draw () % (rows - side + 1));
    guint cells = 0;
    gdouble *x = field->points + 3 * (gsize) p;

    for (guint i = 0; i < side * side; i++)
      cells += (row + i / side) * columns + column + i % side < n_cameras;
    x[0] = column + 0.5 * side + draw_noise ();
    x[1] = row + 0.5 * side + draw_noise ();
    x[2] = -(5 + 5 * draw_share ()) * (1 + 0.1 * side);
    for (guint i = 0; i < side * side; i++) {
      guint c = (row + i / side) * columns + column + i % side;

      if (c >= n_cameras || draw () % cells-- >= length)
        continue;
      field->camera_of[at] = c;
      field->point_of[at] = p;
      bundle_project (
          field->cameras + 9 * (gsize) c, x, field->observed + 2 * at);
      field->observed[2 * at] += 0.5 * draw_noise ();
      field->observed[2 * at + 1] += 0.5 * draw_noise ();
      at++;
      length--;
    }
  }
  g_assert_cmpuint (at, ==, n);
  for (gsize c = 0; c < n_cameras; c++) {
    for (guint k = 0; k < 3; k++) {
      field->cameras[9 * c + k] += 0.002 * draw_noise ();
      centres[3 * c + k] += 0.02 * draw_noise ();
    }
    place_camera (field->cameras + 9 * c, centres + 3 * c);
    field->cameras[9 * c + 6] += 5 * draw_noise ();
  }
  for (gsize i = 0; i < 3 * (gsize) n_points; i++)
    field->points[i] += 0.05 * draw_noise ();
  return field;
}

int
main (int argc, char **argv)
{
  gint runs = 3, copies = 346;
  gdouble bandwidth = 4300;
  const GOptionEntry entries[] = {
    { "runs", 'n', 0, G_OPTION_ARG_INT, &runs,
        "report the minimum time of N runs (3)", "N" },
    { "copies", 'k', 0, G_OPTION_ARG_INT, &copies, "of problem 16 (346)", "K" },
    { "gigabytes-per-second", 'b', 0, G_OPTION_ARG_DOUBLE, &bandwidth,
        "device memory bandwidth, GB/s (4300)", "B" },
    { NULL },
  };
  static const gchar *const names[] = { "problem-16-22106-pre",
    "problem-21-11315-pre", "problem-49-7776-pre" };
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (BundleProblem) one = NULL;
  CvisContext *context;

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error) || copies < 0
      || runs < 1 || !(bandwidth > 0)) {
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
    bench_problem (names[i], problem, context, (guint) runs, bandwidth);
    if (i == 0)
      one = g_steal_pointer (&problem);
  }
  if (one && copies > 0) {
    g_autoptr (BundleProblem) many =
        bundle_data_repeat (one, (guint) copies, 1);

    bench_problem ("shuffled copies of problem 16", many, context, (guint) runs,
        bandwidth);
  }
  if (copies > 0) {
    g_autoptr (BundleProblem) field = make_field (13682, 4456117, 28987644);

    bench_problem ("synthetic field", field, context, (guint) runs, bandwidth);
  }
  cvis_context_unref (context);
  return 0;
}
