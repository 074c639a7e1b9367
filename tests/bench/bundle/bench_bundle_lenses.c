/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* bench_bundle_lenses [--cuda] [--threads N] [--runs N] [--history]
 * opencv:IMAGES:OBSERVATIONS|rig:SENSORS:FRAMES:OBSERVATIONS|FOLDER...: bundle adjustment of
 * simulated images of a vase that share one OPENCV camera, of a rig of such cameras, or of a
 * model of COLMAP, on the CPU or on a CUDA device.
 *
 * Rows: the default stop, and function-tolerance 1e-8. Columns: costs; iterations;
 * minimum time of the runs from the problem to the result in host memory, and without
 * setup and return (first to last report); processor time; device memory; checksum of the
 * result, "varies" if the runs differ. The line above has the time of a conjugate gradient
 * iteration. With --history, instead of all that, function-tolerance 1e-12 and its cost
 * against time, and against processor time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cuda/bundle/colmap/adjust.h"
#include "cuda/bundle/colmap/archive.h"
#include "lensscenes.h"

typedef struct {
  CvisContext *context;
  guint threads, runs;
} Bench;

typedef struct {
  GArray *seconds, *processor, *costs;
  gchar *bits;
  gdouble start, cpu;
} Record;

static gdouble
get_cpu_seconds (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (gdouble) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
         + 1e-6 * (gdouble) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static gboolean
add_report (const BundleIteration *iteration, gpointer user_data)
{
  Record *record = user_data;

  if (iteration) {
    const gdouble processor = get_cpu_seconds () - record->start;

    g_array_append_val (record->processor, processor);
    g_array_append_val (record->seconds, iteration->seconds);
    g_array_append_val (record->costs, iteration->cost);
  }
  return TRUE;
}

static void
record_clear (Record *record)
{
  g_clear_pointer (&record->seconds, g_array_unref);
  g_clear_pointer (&record->processor, g_array_unref);
  g_clear_pointer (&record->costs, g_array_unref);
  g_clear_pointer (&record->bits, g_free);
}

/* Seconds between the first and the last report */
static gdouble
get_solver_seconds (const Record *record)
{
  const GArray *s = record->seconds;

  return g_array_index (s, gdouble, s->len - 1) - g_array_index (s, gdouble, 0);
}

static void
solve_lenses (const Bench *bench, const BundleProblem *problem,
    BundleConfig *config, Record *record, BundleSummary *summary)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA1);
  g_autoptr (GError) error = NULL;
  g_autoptr (BundleProblem) copy = bundle_problem_copy (problem, &error);

  *record = (Record){ .seconds = g_array_new (FALSE, FALSE, sizeof (gdouble)),
    .processor = g_array_new (FALSE, FALSE, sizeof (gdouble)),
    .costs = g_array_new (FALSE, FALSE, sizeof (gdouble)) };
  config->threads = bench->threads;
  record->start = get_cpu_seconds ();
  if (copy == NULL
      || !bundle_solve (
          copy, config, bench->context, add_report, record, summary, &error)) {
    g_printerr ("%s\n", error->message);
    exit (1);
  }
  record->cpu = get_cpu_seconds () - record->start;
  bundle_summary_clear (summary);
  g_checksum_update (sum, (const guchar *) copy->cameras, copy->n_cameras * 72);
  g_checksum_update (sum, (const guchar *) copy->points, copy->n_points * 24);
  g_checksum_update (sum, (const guchar *) copy->lenses[0].parameters,
      sizeof copy->lenses[0].parameters);
  record->bits = g_strndup (g_checksum_get_string (sum), 8);
  g_checksum_free (sum);
}

/* Milliseconds of a conjugate gradient iteration: the difference of a step with up to 108
 * iterations and one with 8, minimum of the runs each */
static gdouble
time_lens_iteration (const Bench *bench, const BundleProblem *problem)
{
  const guint most[2] = { 8, 108 };
  guint n[2] = { 0 };
  gdouble seconds[2] = { G_MAXDOUBLE, G_MAXDOUBLE };
  BundleConfig config;

  bundle_config_init (&config);
  config.solver = BUNDLE_SOLVER_ITERATIVE;
  config.max_iterations = 1;
  config.eta = 1e-12;
  for (guint run = 0; run < 2 * bench->runs; run++) {
    BundleSummary summary;
    Record record;

    config.max_pcg_iterations = most[run % 2];
    solve_lenses (bench, problem, &config, &record, &summary);
    n[run % 2] = summary.pcg_iterations;
    seconds[run % 2] = MIN (seconds[run % 2], get_solver_seconds (&record));
    record_clear (&record);
  }
  return 1e3 * (seconds[1] - seconds[0]) / (n[1] - n[0]);
}

static void
print_solve (const Bench *bench, const BundleProblem *problem,
    gdouble function_tolerance, gboolean history)
{
  BundleConfig config;
  BundleSummary best = { 0 };
  Record of_best = { 0 };
  gboolean varies = FALSE;

  bundle_config_init (&config);
  if (function_tolerance > 0) {
    config.function_tolerance = function_tolerance;
    config.max_iterations = 200;
  }
  for (guint run = 0; run < bench->runs; run++) {
    BundleSummary summary;
    Record record;

    solve_lenses (bench, problem, &config, &record, &summary);
    varies = varies || (run > 0 && strcmp (of_best.bits, record.bits) != 0);
    if (run > 0 && summary.seconds >= best.seconds) {
      record_clear (&record);
      continue;
    }
    record_clear (&of_best);
    of_best = record;
    best = summary;
  }
  g_print ("%-9g %18.11e %18.11e %4u %5u %9.4f %9.4f %9.2f %8.3f %8s\n",
      config.function_tolerance, best.initial_cost, best.final_cost,
      best.iterations, best.pcg_iterations, best.seconds,
      get_solver_seconds (&of_best), of_best.cpu,
      (gdouble) best.device_bytes / (1 << 30),
      varies ? "varies" : of_best.bits);
  for (guint i = 0; history && i < of_best.costs->len; i++) {
    const gdouble cost = g_array_index (of_best.costs, gdouble, i);

    g_print ("history %s %.6f %.15e\n", bench->context ? "CUDA" : "CPU",
        g_array_index (of_best.seconds, gdouble, i), cost);
    if (bench->context == NULL)
      g_print ("history CPU-processor-time %.6f %.15e\n",
          g_array_index (of_best.processor, gdouble, i), cost);
  }
  record_clear (&of_best);
}

/* All parameters but the principal point change, as in COLMAP. */
static BundleProblem *
open_problem (const gchar *name)
{
  const BundleModelSettings settings = { .refine_focal = TRUE,
    .refine_extra = TRUE,
    .refine_poses = TRUE,
    .refine_points = TRUE,
    .refine_sensors = TRUE,
    .min_track = 2 };
  g_autoptr (GError) error = NULL;
  BundleModelMap map;
  g_autoptr (BundleModel) model = NULL;
  BundleProblem *problem;

  if (!g_file_test (name, G_FILE_TEST_IS_DIR))
    return bundle_lens_simulate (name);
  model = bundle_model_open (name, &error);
  problem =
      model ? bundle_model_problem (model, &settings, &map, &error) : NULL;
  if (problem == NULL)
    g_printerr ("%s\n", error->message);
  else
    bundle_model_map_clear (&map);
  return problem;
}

int
main (int argc, char **argv)
{
  gint threads = 0, runs = 3;
  gboolean cuda = FALSE, history = FALSE;
  g_auto (GStrv) names = NULL;
  const GOptionEntry entries[] = {
    { "cuda", 0, 0, G_OPTION_ARG_NONE, &cuda, "on a CUDA device", NULL },
    { "threads", 't', 0, G_OPTION_ARG_INT, &threads,
        "CPU threads (0: one per processor)", "N" },
    { "runs", 'n', 0, G_OPTION_ARG_INT, &runs,
        "report the minimum time of N runs (3)", "N" },
    { "history", 0, 0, G_OPTION_ARG_NONE, &history, "print cost against time",
        NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &names, NULL,
        "opencv:IMAGES:OBSERVATIONS|FOLDER..." },
    { NULL },
  };
  g_autoptr (GOptionContext) options = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;
  Bench bench = { 0 };

  g_option_context_add_main_entries (options, entries, NULL);
  if (!g_option_context_parse (options, &argc, &argv, &error) || threads < 0
      || runs < 1 || names == NULL) {
    g_printerr ("%s\n",
        error ? error->message : "opencv:IMAGES:OBSERVATIONS is missing");
    return 2;
  }
  bench.threads = (guint) threads;
  bench.runs = (guint) runs;
  bench.context = cuda ? cvis_context_new (-1, &error) : NULL;
  if (error) {
    g_printerr ("%s\n", error->message);
    return 77;
  }
  for (gchar **name = names; *name; name++) {
    g_autoptr (BundleProblem) problem = open_problem (*name);

    if (problem == NULL) {
      g_printerr ("%s: not opencv:IMAGES:OBSERVATIONS or a model\n", *name);
      return 2;
    }
    g_print ("%s, %s: %u images, %u points, %" G_GSIZE_FORMAT
             " observations, cost %.12e computed independently\n",
        *name, cuda ? "CUDA" : "CPU", problem->n_cameras, problem->n_points,
        problem->n_observations, bundle_lens_cost (problem));
    if (!history)
      g_print ("%.4f ms a conjugate gradient iteration\n",
          time_lens_iteration (&bench, problem));
    g_print ("%-9s %18s %18s %4s %5s %9s %9s %9s %8s %8s\n", "tolerance",
        "initial cost", "final cost", "LM", "PCG", "all s", "solver s", "CPU s",
        "GiB", "bits");
    if (!history)
      print_solve (&bench, problem, 0, FALSE);
    print_solve (&bench, problem, history ? 1e-12 : 1e-8, history);
  }
  if (bench.context)
    cvis_context_unref (bench.context);
  return 0;
}
