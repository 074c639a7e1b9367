/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "config.h"
#include "modelreport.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>

#include "cuda/bundle/formats/cloud.h"
#include "tools/json.h"
#include "tools/pipeline.h"
#include "tools/plot.h"

#define N_WORST 20
#define MOST_CAMERAS 100 /* rows of the page's table */

/* --- text ------------------------------------------------------------------------------ */

static gdouble
get_cost (const ModelRun *run, guint state)
{
  return state == MODEL_BEFORE ? run->summary.initial_cost
                               : run->summary.final_cost;
}

/* Without a loss the cost is half the sum of the squared errors. */
static gdouble
get_rms (const ModelRun *run, guint state)
{
  return run->errors.images ? error_sums_get_rms (&run->errors.all, state)
                            : sqrt (2 * get_cost (run, state)
                                    / (gdouble) run->problem->n_observations);
}

static const gchar *
get_backend_name (const ModelRun *run)
{
  return run->context ? "cuda" : "cpu";
}

void
print_costs (const gdouble cost[MODEL_STATES], const gdouble rms[MODEL_STATES])
{
  static const gchar *const names[] = { "before", "after" };

  g_print ("\n            cost            RMS error, pixels\n");
  for (guint i = 0; i < MODEL_STATES; i++)
    g_print ("%-6s  %12.6g            %8.4f\n", names[i], cost[i], rms[i]);
  g_print ("\n");
}

void
model_print_result (const ModelRun *run)
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
    g_print ("%" G_GSIZE_FORMAT " points with too few observations and "
             "%u images without observations stay as they are\n",
        map->n_short, map->n_idle);
  if (run->problem->n_priors > 0)
    g_print ("%u images with measured positions: RMS distance %.4g before, "
             "%.4g after\n",
        run->problem->n_priors, run->prior_rms[MODEL_BEFORE],
        run->prior_rms[MODEL_AFTER]);
  print_costs ((const gdouble[]){ get_cost (run, 0), get_cost (run, 1) },
      (const gdouble[]){ get_rms (run, 0), get_rms (run, 1) });
  g_print ("%u iterations in %.3f s, stopped by %s, %s\n", s->iterations,
      s->seconds, bundle_stop_name (s->stop), get_backend_name (run));
}

/* --- JSON ------------------------------------------------------------------------------ */

static void
add_sums (JsonBuilder *json, const ErrorSums *sums)
{
  json_add_int (json, "observations", (gint64) sums->n);
  json_add_double (json, "initial-cost", sums->cost[MODEL_BEFORE]);
  json_add_double (json, "final-cost", sums->cost[MODEL_AFTER]);
  json_add_double (
      json, "initial-rms-px", error_sums_get_rms (sums, MODEL_BEFORE));
  json_add_double (
      json, "final-rms-px", error_sums_get_rms (sums, MODEL_AFTER));
}

static void
add_cameras_json (JsonBuilder *json, const ModelRun *run)
{
  json_builder_set_member_name (json, "by-camera");
  json_builder_begin_array (json);
  for (guint i = 0; i < run->model->n_cameras; i++) {
    const BundleModelCamera *camera = &run->model->cameras[i];

    json_builder_begin_object (json);
    json_add_int (json, "camera-id", camera->id);
    json_add_string (json, "model", bundle_lens_info[camera->model].name);
    add_sums (json, &run->errors.cameras[i]);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
}

static void
add_image_json (JsonBuilder *json, const ModelRun *run, guint i)
{
  const BundleModelImage *image = &run->model->images[run->map.image_of[i]];

  json_builder_begin_object (json);
  json_add_int (json, "image-id", image->id);
  json_add_string (json, "name", image->name);
  json_add_int (json, "camera-id", run->model->cameras[image->camera].id);
  add_sums (json, &run->errors.images[i]);
  json_builder_end_object (json);
}

static void
add_point_json (JsonBuilder *json, const ModelRun *run, guint i)
{
  const BundleModelPoint *point = &run->model->points[run->map.point_of[i]];

  json_builder_begin_object (json);
  json_add_int (json, "point-id", (gint64) point->id);
  json_add_int (json, "observations", run->errors.n_of_point[i]);
  json_add_double (
      json, "initial-error-px", run->errors.points[MODEL_BEFORE][i]);
  json_add_double (json, "final-error-px", run->errors.points[MODEL_AFTER][i]);
  json_builder_end_object (json);
}

static void
add_images_and_points (JsonBuilder *json, const ModelRun *run)
{
  guint n = N_WORST;
  guint *worst = model_errors_find_points (&run->errors, run->problem, &n);

  json_builder_set_member_name (json, "by-image");
  json_builder_begin_array (json);
  for (guint i = 0; i < run->problem->n_cameras; i++)
    add_image_json (json, run, i);
  json_builder_end_array (json);
  json_builder_set_member_name (json, "worst-points");
  json_builder_begin_array (json);
  for (guint i = 0; i < n; i++)
    add_point_json (json, run, worst[i]);
  json_builder_end_array (json);
  g_free (worst);
}

void
model_print_json (const ModelRun *run)
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
  json_add_double (json, "initial-rms-px", get_rms (run, MODEL_BEFORE));
  json_add_double (json, "final-rms-px", get_rms (run, MODEL_AFTER));
  json_add_int (json, "priors", run->problem->n_priors);
  json_add_double (json, "initial-prior-rms", run->prior_rms[MODEL_BEFORE]);
  json_add_double (json, "final-prior-rms", run->prior_rms[MODEL_AFTER]);
  json_add_int (json, "iterations", s->iterations);
  json_add_int (json, "pcg-iterations", s->pcg_iterations);
  json_add_int (json, "behind-cameras", (gint64) s->n_behind);
  json_add_int (json, "deficient-images", s->n_deficient);
  json_add_string (json, "stop", bundle_stop_name (s->stop));
  json_add_double (json, "seconds", s->seconds);
  json_add_string (json, "backend", get_backend_name (run));
  add_cameras_json (json, run);
  add_images_and_points (json, run);
  json_builder_end_object (json);
  json_print (json);
}

/* --- pictures -------------------------------------------------------------------------- */

/* The problem with focal lengths and sizes of pictures, for the frusta */
static BundleProblem
view_problem (const ModelRun *run)
{
  const BundleProblem *problem = run->problem;
  BundleProblem view = *problem;

  view.cameras = g_memdup2 (problem->cameras,
      problem->n_cameras * BUNDLE_CAMERA_SIZE * sizeof *view.cameras);
  view.views = g_new0 (BundleView, problem->n_cameras);
  for (guint i = 0; i < problem->n_cameras; i++) {
    const guint lens = problem->lens_of[i];

    view.cameras[BUNDLE_CAMERA_SIZE * (gsize) i + BUNDLE_CAMERA_FOCAL] =
        problem->lenses[lens].parameters[0];
    view.views[i].width = (guint) run->model->cameras[lens].width;
    view.views[i].height = (guint) run->model->cameras[lens].height;
  }
  return view;
}

static void
keep_picture (GstElement *pipeline, gpointer data)
{
  *(GstSample **) data = element_get_sample (pipeline, "picture");
}

static gboolean
paint_cloud (
    ModelRun *run, guint state, const gchar *name, GBytes *ply, GError **error)
{
  GString *launch = g_string_new ("filesrc ");
  gsize size;
  const gchar *data = g_bytes_get_data (ply, &size);
  gboolean ok = g_file_set_contents (name, data, (gssize) size, error);

  launch_set (launch, "location", name);
  g_string_append (launch, "! bundleview turns=1 period=1 ! videoconvert ! "
                           "pngenc ! fakesink name=picture");
  ok = ok
       && pipeline_run (&(PipelineRun){ .launch = launch->str,
                            .finish = keep_picture,
                            .data = &run->pictures[state],
                            .quiet = TRUE },
           error);
  g_string_free (launch, TRUE);
  return ok;
}

gboolean
model_take_picture (ModelRun *run, guint state, GError **error)
{
  BundleProblem view = view_problem (run);
  BundleCloud *cloud =
      bundle_cloud_new (&view, run->errors.points[state], error);
  GBytes *ply = cloud ? bundle_cloud_write (cloud, error) : NULL;
  gchar *name = NULL;
  gint file =
      ply ? g_file_open_tmp ("cudavision-XXXXXX.ply", &name, error) : -1;
  gboolean ok = file >= 0;

  if (ok) {
    g_close (file, NULL);
    ok = paint_cloud (run, state, name, ply, error);
    g_unlink (name);
  }
  g_free (name);
  g_clear_pointer (&ply, g_bytes_unref);
  g_clear_pointer (&cloud, bundle_cloud_free);
  g_free (view.cameras);
  g_free (view.views);
  return ok;
}

/* --- the page -------------------------------------------------------------------------- */

/* A row: @first, @second (nullable), observations, and costs and errors of both states.
 * @rms: of both states, pixels */
static void
add_error_row (Report *report, const gchar *first, const gchar *second, gsize n,
    const gdouble *cost, const gdouble rms[MODEL_STATES])
{
  gchar *cells[8] = { NULL };
  guint i = 0;

  cells[i++] = g_strdup (first);
  if (second)
    cells[i++] = g_utf8_make_valid (second, -1);
  cells[i++] = g_strdup_printf ("%" G_GSIZE_FORMAT, n);
  for (guint k = 0; cost && k < MODEL_STATES; k++)
    cells[i++] = g_strdup_printf ("%.6g", cost[k]);
  for (guint k = 0; k < MODEL_STATES; k++)
    cells[i++] = g_strdup_printf ("%.4f", rms[k]);
  report_add_row (report, (const gchar *const *) cells);
  for (i = 0; cells[i]; i++)
    g_free (cells[i]);
}

static void
add_sums_row (
    Report *report, guint64 id, const gchar *name, const ErrorSums *sums)
{
  const gdouble rms[] = { error_sums_get_rms (sums, MODEL_BEFORE),
    error_sums_get_rms (sums, MODEL_AFTER) };
  gchar *text = g_strdup_printf ("%" G_GUINT64_FORMAT, id);

  add_error_row (report, text, name, sums->n, sums->cost, rms);
  g_free (text);
}

static void
add_camera_rows (const ModelRun *run, Report *report)
{
  static const gchar *const head[] = { "camera", "model", "observations",
    "cost before", "cost after", "RMS error before, px", "after, px", NULL };
  const guint n = MIN (run->model->n_cameras, MOST_CAMERAS);

  report_add_heading (report, "Cameras");
  report_begin_table (report, head);
  for (guint i = 0; i < n; i++) {
    const BundleModelCamera *camera = &run->model->cameras[i];

    add_sums_row (report, camera->id, bundle_lens_info[camera->model].name,
        &run->errors.cameras[i]);
  }
  report_end_table (report);
  if (n < run->model->n_cameras)
    report_add_paragraph (report,
        "These are the first %u of %u cameras; --json lists all of them.", n,
        run->model->n_cameras);
}

static void
add_image_rows (const ModelRun *run, Report *report)
{
  static const gchar *const head[] = { "image", "name", "observations",
    "cost before", "cost after", "RMS error before, px", "after, px", NULL };
  guint n = N_WORST;
  guint *worst = model_errors_find_images (&run->errors, run->problem, &n);

  report_add_heading (report, "Worst images");
  report_begin_table (report, head);
  for (guint i = 0; i < n; i++) {
    const BundleModelImage *image =
        &run->model->images[run->map.image_of[worst[i]]];

    add_sums_row (
        report, image->id, image->name, &run->errors.images[worst[i]]);
  }
  report_end_table (report);
  g_free (worst);
}

static void
add_point_rows (const ModelRun *run, Report *report)
{
  static const gchar *const head[] = { "point", "observations",
    "mean error before, px", "after, px", NULL };
  guint n = N_WORST;
  guint *worst = model_errors_find_points (&run->errors, run->problem, &n);

  report_add_heading (report, "Worst points");
  report_begin_table (report, head);
  for (guint i = 0; i < n; i++) {
    const gdouble means[] = { run->errors.points[MODEL_BEFORE][worst[i]],
      run->errors.points[MODEL_AFTER][worst[i]] };
    gchar *id = g_strdup_printf ("%" G_GUINT64_FORMAT,
        run->model->points[run->map.point_of[worst[i]]].id);

    add_error_row (
        report, id, NULL, run->errors.n_of_point[worst[i]], NULL, means);
    g_free (id);
  }
  report_end_table (report);
  g_free (worst);
}

/* RMS error of the images, in their order in the file */
static void
add_image_plot (const ModelRun *run, Report *report)
{
  const guint n = run->problem->n_cameras;
  gdouble *numbers = g_new (gdouble, n), *rms[MODEL_STATES];
  PlotSeries series[MODEL_STATES] = { { "before", numbers, NULL, n },
    { "after", numbers, NULL, n } };
  GString *svg = g_string_new (NULL);

  for (guint k = 0; k < MODEL_STATES; k++) {
    series[k].y = rms[k] = g_new (gdouble, n);
    for (guint i = 0; i < n; i++) {
      numbers[i] = i + 1;
      /* 1e-4: the axis is logarithmic */
      rms[k][i] = MAX (error_sums_get_rms (&run->errors.images[i], k), 1e-4);
    }
  }
  plot_lines (svg,
      &(Plot){ .label = "RMS error of each image",
          .x_label = "image, in the order of the file",
          .y_label = "RMS error, pixels",
          .log_y = TRUE },
      series, MODEL_STATES);
  report_add_plot (
      report, svg->str, "RMS error of each image before and after");
  g_string_free (svg, TRUE);
  for (guint k = 0; k < MODEL_STATES; k++)
    g_free (rms[k]);
  g_free (numbers);
}

void
report_add_costs (Report *report, const GArray *numbers, const GArray *costs)
{
  GString *svg = g_string_new (NULL);
  const PlotSeries series = { NULL, (gdouble *) numbers->data,
    (gdouble *) costs->data, costs->len };

  plot_lines (svg,
      &(Plot){ .label = "Cost of each iteration",
          .x_label = "iteration",
          .y_label = "cost, pixels squared",
          .log_y = TRUE },
      &series, 1);
  report_add_plot (report, svg->str, "Cost of each iteration");
  g_string_free (svg, TRUE);
}

static void
add_totals (const ModelRun *run, Report *report)
{
  static const gchar *const head[] = { "", "observations", "cost before",
    "cost after", "RMS error before, px", "after, px", NULL };
  const BundleModelMap *map = &run->map;
  const gdouble costs[] = { run->summary.initial_cost,
    run->summary.final_cost };
  const gdouble rms[] = { get_rms (run, MODEL_BEFORE),
    get_rms (run, MODEL_AFTER) };

  report_add_paragraph (report,
      "%u images, %u cameras, %" G_GSIZE_FORMAT " points. %u iterations in "
      "%.3f s; stopped by %s.",
      run->model->n_images, run->model->n_cameras, run->model->n_points,
      run->summary.iterations, run->summary.seconds,
      bundle_stop_name (run->summary.stop));
  report_begin_table (report, head);
  add_error_row (report, "all", NULL, run->errors.all.n, costs, rms);
  report_end_table (report);
  report_add_paragraph (report,
      "Left out: %" G_GSIZE_FORMAT " observations behind their cameras and "
      "%" G_GSIZE_FORMAT " points that kept too few others, deleted; "
      "%" G_GSIZE_FORMAT " points with too few observations and %u images "
      "without observations, unchanged.",
      map->n_behind, map->n_deleted, map->n_short, map->n_idle);
}

void
model_begin_report (ModelRun *run)
{
  gchar *title = g_strdup_printf ("Bundle adjustment of %s", run->input);

  run->report = report_new (title);
  if (g_file_test (run->input, G_FILE_TEST_IS_REGULAR))
    report_add_input (run->report, run->input);
  for (guint i = 0; i < BUNDLE_MODEL_FILES; i++) {
    gchar *name = g_build_filename (
        run->input, bundle_model_file_name (i, run->model->binary), NULL);

    report_add_input (run->report, name);
    g_free (name);
  }
  g_free (title);
}

gboolean
model_write_report (const ModelRun *run, GError **error)
{
  const gchar *const inputs[] = { run->input, NULL };
  Report *report = run->report;

  add_totals (run, report);
  report_begin_pictures (report);
  report_add_picture (report, run->pictures[MODEL_BEFORE],
      "Before. The colour of a point is its mean reprojection error, from blue "
      "(0.125 pixels) to red (4 pixels); cameras are magenta.");
  report_add_picture (report, run->pictures[MODEL_AFTER], "After.");
  report_end_pictures (report);
  report_add_costs (report, run->numbers, run->costs);
  add_image_plot (run, report);
  add_camera_rows (run, report);
  add_image_rows (run, report);
  add_point_rows (run, report);
  report_add_setting (report, "output", "%s", run->output);
  report_add_setting (
      report, "most iterations", "%u", run->config->max_iterations);
  report_add_setting (report, "backend", "%s", get_backend_name (run));
  return report_write (report, run->common->report, inputs, error);
}
