/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Calls cuda/bundle; there is no pipeline, because a folder is no stream. */
#include "config.h"

#include <gio/gio.h>

#include "cuda/bundle/colmap/archive.h"
#include "cuda/bundle/colmap/names.h"
#include "cuda/bundle/colmap/priors.h"
#include "cuda/core/backend.h"
#include "cuda/core/cancel.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "bundlemodel.h"
#include "modelreport.h"
#include "priordatabase.h"

static gboolean
show_model_progress (const BundleIteration *iteration, gpointer user_data)
{
  ModelRun *run = user_data;

  if (iteration) {
    const gdouble number = iteration->number;

    g_array_append_val (run->numbers, number);
    g_array_append_val (run->costs, iteration->cost);
  }
  if (iteration && !run->common->quiet && progress_is_due (&run->progress))
    progress_show (&run->progress,
        (gdouble) iteration->number / MAX (run->config->max_iterations, 1),
        iteration->number);
  return !interrupted ();
}

/* Errors and picture before or after the adjustment, if they will be shown */
static gboolean
measure_model (ModelRun *run, guint state, GError **error)
{
  const CommonOptions *common = run->common;

  if (!common->json && !common->report && run->config->loss == BUNDLE_LOSS_NONE)
    return TRUE;
  return model_errors_measure (&run->errors, state, run->problem, run->config,
             (guint) common->threads, error)
         && (!common->report || model_take_picture (run, state, error));
}

/* Constants, or priors if @deviation is above 0 */
static gboolean
read_list (ModelRun *run, const gchar *name, gdouble deviation, GError **error)
{
  gchar *text;
  gsize size;
  gboolean ok = g_file_get_contents (name, &text, &size, error);

  if (ok) {
    ok = deviation > 0
             ? bundle_model_read_priors (
                 run->model, text, size, deviation, error)
             : bundle_model_read_constants (run->model, text, size, error);
    g_free (text);
    if (!ok)
      g_prefix_error (error, "%s: ", name);
  }
  return ok;
}

/* Reads the priors and moves the model to them. */
static gboolean
read_priors (ModelRun *run, const BundleModelCall *call, GError **error)
{
  const gchar *name = call->priors ? call->priors : call->database;

  if (name == NULL)
    return TRUE;
  if (!(call->priors
              ? read_list (run, name, call->prior_std, error)
              : prior_database_read (run->model, name, call->prior_std, error)))
    return FALSE;
  if (!bundle_model_align (run->model, error)) {
    g_prefix_error (error, "%s: ", name);
    return FALSE;
  }
  run->prior_rms[MODEL_BEFORE] = bundle_model_prior_rms (run->model);
  return TRUE;
}

/* @name: of a transforms.json that exists. Returns: %NULL with an error that has it */
static BundleTransforms *
read_transforms (const BundleModel *model, const gchar *name, GError **error)
{
  BundleTransforms *transforms;
  gchar *text;
  gsize size;

  if (!g_file_get_contents (name, &text, &size, error))
    return NULL;
  transforms = bundle_transforms_new (model, text, size, error);
  g_free (text);
  if (transforms == NULL)
    g_prefix_error (error, "%s: ", name);
  return transforms;
}

static void
warn_of_frames (
    const ModelRun *run, const gchar *name, const BundleTransforms *t)
{
  guint n_known;
  const guint n = bundle_transforms_count (t, &n_known);

  if (n_known < n && !run->common->quiet)
    g_printerr ("cudavision bundle: %s: %u of its %u frames are not in the "
                "model and stay as they are\n",
        name, n - n_known, n);
}

/* The PLY of a file that exists is written again if it has the model's points. */
static void
find_points (ModelRun *run, const gchar *name)
{
  g_autofree gchar *folder = g_path_get_dirname (name);
  g_autoptr (GError) error = NULL;

  run->ply = bundle_transforms_find_points (
      run->transforms, run->model, folder, &error);
  if (error && !run->common->quiet)
    g_printerr ("cudavision bundle: %s: its PLY is not adjusted: %s\n", name,
        error->message);
}

/* Reads the file to write, if it exists, and takes the poses of the other one. */
static gboolean
open_transforms (ModelRun *run, const BundleModelCall *call, GError **error)
{
  if (call->poses) {
    BundleTransforms *poses = read_transforms (run->model, call->poses, error);

    if (poses == NULL)
      return FALSE;
    warn_of_frames (run, call->poses, poses);
    bundle_transforms_take_poses (poses, run->model);
    bundle_transforms_free (poses);
  }
  if (call->transforms == NULL)
    return TRUE;
  run->transforms = g_file_test (call->transforms, G_FILE_TEST_EXISTS)
                        ? read_transforms (run->model, call->transforms, error)
                        : bundle_transforms_new (run->model, NULL, 0, error);
  if (run->transforms) {
    warn_of_frames (run, call->transforms, run->transforms);
    find_points (run, call->transforms);
  }
  return run->transforms != NULL;
}

/* Checked before the work begins, because a camera may not fit. */
static gboolean
write_transforms (
    const ModelRun *run, const gchar *name, gboolean check, GError **error)
{
  const gchar *const inputs[] = { NULL };
  gchar *text;
  gboolean ok;

  if (run->transforms == NULL)
    return TRUE;
  text = bundle_transforms_format (run->transforms, run->model, error);
  if (text == NULL)
    g_prefix_error (error, "%s: ", name);
  ok = text && (check || output_write (name, inputs, text, error));
  g_free (text);
  if (check || !ok || !run->ply)
    return ok;
  text = bundle_transforms_format_points (run->transforms, run->model);
  ok = output_write (run->ply, inputs, text, error);
  g_free (text);
  return ok;
}

/* A device is used only if --backend asks for one: it takes longer to start than the
 * processors to adjust a small model. */
static gboolean
choose_model_backend (
    ModelRun *run, const BundleModelCall *call, GError **error)
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

/* With COLMAP's options the files are binary. */
static gboolean
is_binary (const ModelRun *run, const BundleModelCall *call)
{
  return call->binary || run->model->binary;
}

/* An adjustment that was cancelled before its first step changes no file. */
static gboolean
improved (const ModelRun *run)
{
  return run->summary.stop != BUNDLE_STOP_CANCELLED
         || run->summary.final_cost < run->summary.initial_cost;
}

static gboolean
solve_model (ModelRun *run, const BundleModelCall *call, GError **error)
{
  gboolean ok;

  if (!choose_model_backend (run, call, error))
    return FALSE;
  cvis_cancel_watch (interrupt_get_flag ());
  run->model = bundle_model_open (run->input, error);
  if (run->model == NULL) {
    g_prefix_error (error, "%s: ", run->input);
    return FALSE;
  }
  if (!bundle_model_check_folder (
          run->model, is_binary (run, call), call->output, error)
      || (call->constants && !read_list (run, call->constants, 0, error))
      || !open_transforms (run, call, error)
      || !write_transforms (run, call->transforms, TRUE, error)
      || !read_priors (run, call, error))
    return FALSE;
  run->problem =
      bundle_model_problem (run->model, call->settings, &run->map, error);
  if (run->problem == NULL) {
    g_prefix_error (error, "%s: ", run->input);
    return FALSE;
  }
  if (!measure_model (run, MODEL_BEFORE, error))
    return FALSE;
  if (run->common->report)
    model_begin_report (run);
  progress_start (&run->progress, run->input, "iterations");
  interrupt_wait ();
  ok = bundle_solve (run->problem, run->config, run->context,
      show_model_progress, run, &run->summary, error);
  cvis_cancel_watch (NULL);
  progress_clear (&run->progress);
  if (!ok)
    g_prefix_error (error, "%s: ", run->input);
  return ok && (improved (run) || cvis_refuse_cancelled (error));
}

/* Results of a model that was written */
static void
show_model (ModelRun *run, GError **error)
{
  if (run->summary.stop == BUNDLE_STOP_CANCELLED) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "interrupted");
    return;
  }
  if (!measure_model (run, MODEL_AFTER, error)
      || (run->common->report && !model_write_report (run, error)))
    return;
  if (run->common->json)
    model_print_json (run);
  else if (!run->common->quiet)
    model_print_result (run);
}

void
bundle_model_adjust (const BundleModelCall *call, GError **error)
{
  const CommonOptions *common = call->common;
  const gchar *const names[] = { common->report, call->transforms };
  const gchar *const inputs[] = { call->constants ? call->constants
                                  : call->priors  ? call->priors
                                                  : call->database,
    NULL };
  BundleConfig own = *call->config;
  ModelRun run = { common, call->input, call->output, &own };

  own.threads = (guint) common->threads;
  run.numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
  run.costs = g_array_new (FALSE, FALSE, sizeof (gdouble));
  if (output_check (names, 2, inputs, error)
      && solve_model (&run, call, error)) {
    bundle_model_update (
        run.model, run.problem, &run.map, (guint) common->threads);
    run.prior_rms[MODEL_AFTER] = bundle_model_prior_rms (run.model);
    if (bundle_model_write (
            run.model, is_binary (&run, call), call->output, error)
        && write_transforms (&run, call->transforms, FALSE, error))
      show_model (&run, error);
  }
  for (guint i = 0; i < MODEL_STATES; i++)
    g_clear_pointer (&run.pictures[i], gst_sample_unref);
  bundle_transforms_free (run.transforms);
  g_free (run.ply);
  g_clear_pointer (&run.report, report_free);
  g_array_unref (run.numbers);
  g_array_unref (run.costs);
  model_errors_clear (&run.errors);
  bundle_summary_clear (&run.summary);
  bundle_model_map_clear (&run.map);
  if (run.problem)
    bundle_problem_free (run.problem);
  bundle_model_free (run.model);
  if (run.context)
    cvis_context_unref (run.context);
}
