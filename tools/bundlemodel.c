/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Calls cuda/bundle; there is no pipeline, because a folder is no stream. */
#include "config.h"

#include <gio/gio.h>
#include <math.h>

#include "bundlemodel.h"
#include "cuda/core/backend.h"
#include "json.h"
#include "pipeline.h"
#include "progress.h"

typedef struct {
  const CommonOptions *common;
  const gchar *input, *output;
  const BundleConfig *config;
  CvisContext *context; /* NULL: the CPU */
  BundleModel *model;
  BundleProblem *problem;
  BundleModelMap map;
  BundleSummary summary;
  Progress progress;
} ModelRun;

static gboolean
show_model_progress (const BundleIteration *iteration, gpointer user_data)
{
  ModelRun *run = user_data;

  if (iteration && !run->common->quiet && progress_is_due (&run->progress))
    progress_show (&run->progress,
        (gdouble) iteration->number / MAX (run->config->max_iterations, 1),
        iteration->number);
  return !interrupted ();
}

static gdouble
measure_rms (const ModelRun *run, gdouble cost)
{
  return sqrt (2 * cost / (gdouble) run->problem->n_observations);
}

static const gchar *
get_backend_name (const ModelRun *run)
{
  return run->context ? "cuda" : "cpu";
}

static void
print_model_result (const ModelRun *run)
{
  const BundleSummary *s = &run->summary;
  const BundleModelMap *map = &run->map;

  g_print ("%s: %u images, %u cameras, %" G_GSIZE_FORMAT
           " points, %" G_GSIZE_FORMAT " observations\n",
      run->input, run->model->n_images, run->model->n_cameras,
      run->model->n_points, run->problem->n_observations);
  if (map->n_behind > 0)
    g_print ("%" G_GSIZE_FORMAT " observations behind their cameras deleted, "
             "and %" G_GSIZE_FORMAT " points with them\n",
        map->n_behind, map->n_deleted);
  if (map->n_short > 0 || map->n_idle > 0)
    g_print ("%" G_GSIZE_FORMAT " points with fewer than two observations and "
             "%u images without observations stay as they are\n",
        map->n_short, map->n_idle);
  g_print ("\n            cost            RMS error, pixels\n");
  g_print ("before  %12.6g            %8.4f\n", s->initial_cost,
      measure_rms (run, s->initial_cost));
  g_print ("after   %12.6g            %8.4f\n\n", s->final_cost,
      measure_rms (run, s->final_cost));
  g_print ("%u iterations in %.3f s, stopped by %s, %s\n", s->iterations,
      s->seconds, bundle_stop_name (s->stop), get_backend_name (run));
}

static void
print_model_json (const ModelRun *run)
{
  const BundleSummary *s = &run->summary;
  const BundleModelMap *map = &run->map;
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_add_string (json, "file", run->input);
  json_add_string (json, "output", run->output);
  json_add_int (json, "cameras", run->model->n_cameras);
  json_add_int (json, "images", run->model->n_images);
  json_add_int (json, "points", (gint64) run->model->n_points);
  json_add_int (json, "observations", (gint64) run->problem->n_observations);
  json_add_int (json, "deleted-observations", (gint64) map->n_behind);
  json_add_int (json, "deleted-points", (gint64) map->n_deleted);
  json_add_int (json, "short-points", (gint64) map->n_short);
  json_add_int (json, "idle-images", map->n_idle);
  json_add_double (json, "initial-cost", s->initial_cost);
  json_add_double (json, "final-cost", s->final_cost);
  json_add_double (json, "initial-rms-px", measure_rms (run, s->initial_cost));
  json_add_double (json, "final-rms-px", measure_rms (run, s->final_cost));
  json_add_int (json, "iterations", s->iterations);
  json_add_int (json, "pcg-iterations", s->pcg_iterations);
  json_add_int (json, "behind-cameras", (gint64) s->n_behind);
  json_add_int (json, "deficient-images", s->n_deficient);
  json_add_string (json, "stop", bundle_stop_name (s->stop));
  json_add_double (json, "seconds", s->seconds);
  json_add_string (json, "backend", get_backend_name (run));
  json_builder_end_object (json);
  json_print (json);
}

/* A device is used only if --backend asks for one: it takes longer to start than the
 * processors to adjust a small model. */
static gboolean
choose_model_backend (ModelRun *run, GError **error)
{
  const CommonOptions *common = run->common;
  CvisBackend active;
  g_autofree gchar *why_not = NULL;

  if (common->backend == NULL || g_str_equal (common->backend, "cpu"))
    return TRUE;
  if (!cvis_backend_choose (g_str_equal (common->backend, "cuda")
                                ? CVIS_BACKEND_CUDA
                                : CVIS_BACKEND_AUTO,
          common->device, &active, &run->context, &why_not, error))
    return FALSE;
  if (why_not && !common->quiet)
    g_printerr ("cudavision bundle: %s: on the CPU\n", why_not);
  return TRUE;
}

static gboolean
solve_model (ModelRun *run, const BundleModelSettings *settings, GError **error)
{
  gboolean ok;

  if (!choose_model_backend (run, error))
    return FALSE;
  run->model = bundle_model_read (run->input, error);
  if (run->model == NULL) {
    g_prefix_error (error, "%s: ", run->input);
    return FALSE;
  }
  run->problem = bundle_model_problem (run->model, settings, &run->map, error);
  if (run->problem == NULL) {
    g_prefix_error (error, "%s: ", run->input);
    return FALSE;
  }
  progress_start (&run->progress, run->input, "iterations");
  ok = bundle_solve (run->problem, run->config, run->context,
      show_model_progress, run, &run->summary, error);
  progress_clear (&run->progress);
  if (!ok)
    g_prefix_error (error, "%s: ", run->input);
  return ok;
}

void
bundle_model_adjust (const CommonOptions *common, const gchar *input,
    const gchar *output, gboolean binary, const BundleModelSettings *settings,
    const BundleConfig *config, GError **error)
{
  BundleConfig own = *config;
  ModelRun run = { common, input, output, &own };

  own.threads = (guint) common->threads;
  if (solve_model (&run, settings, error)) {
    bundle_model_update (
        run.model, run.problem, &run.map, (guint) common->threads);
    if (bundle_model_write (
            run.model, binary || run.model->binary, output, error)) {
      if (run.summary.stop == BUNDLE_STOP_CANCELLED)
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
      if (common->json)
        print_model_json (&run);
      else if (!common->quiet)
        print_model_result (&run);
    }
  }
  bundle_summary_clear (&run.summary);
  bundle_model_map_clear (&run.map);
  if (run.problem)
    bundle_problem_free (run.problem);
  bundle_model_free (run.model);
  if (run.context)
    cvis_context_unref (run.context);
}
