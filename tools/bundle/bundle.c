/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision bundle`: adjusts a reconstruction; writes the model, a video of it and a
 * report. From folder to folder bundlemodel.c does it. */
#include "config.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "tools/command.h"
#include "tools/inputs.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "tools/report.h"
#include "tools/video.h"
#include "bundlemodel.h"
#include "modelreport.h"

#define DEFAULT_ITERATIONS 50

static struct {
  gchar *output, *format, *video, *loss, *constants, *gauge, *priors, *poses,
      *transforms;
  gdouble loss_scale, prior_std;
  gint iterations;
  gboolean fix_intrinsics, shared_intrinsics, keep_behind;
} options;

static const GOptionEntry entries[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Adjusted model; the format by the ending: .txt (BAL), .out (Bundler), "
      ".nvm, .tar (COLMAP), .ply, .json (transforms), .tum",
      "FILE" },
  { "format", 0, 0, G_OPTION_ARG_STRING, &options.format,
      "Format of the model: bal, bundler, nvm, colmap, ply, transforms or tum",
      "NAME" },
  { "video", 0, 0, G_OPTION_ARG_FILENAME, &options.video,
      "Video of an orbit around the adjusted model: .webm, .mp4 or .avi",
      "FILE" },
  { "loss", 0, 0, G_OPTION_ARG_STRING, &options.loss,
      "Cost of an error: none or trivial (default), soft_l1, huber, cauchy or "
      "tukey",
      "NAME" },
  { "loss-scale", 0, 0, G_OPTION_ARG_DOUBLE, &options.loss_scale,
      "Scale of the loss; default: 1", "PIXELS" },
  { "fix-intrinsics", 0, 0, G_OPTION_ARG_NONE, &options.fix_intrinsics,
      "Keep focal lengths and distortion", NULL },
  { "shared-intrinsics", 0, 0, G_OPTION_ARG_NONE, &options.shared_intrinsics,
      "One focal length and distortion for all cameras", NULL },
  { "keep-behind", 0, 0, G_OPTION_ARG_NONE, &options.keep_behind,
      "From folder to folder: use observations behind their cameras instead of "
      "deleting them",
      NULL },
  { "gauge", 0, 0, G_OPTION_ARG_STRING, &options.gauge,
      "From folder to folder: two-cameras (default, as COLMAP) or free",
      "NAME" },
  { "priors", 0, 0, G_OPTION_ARG_FILENAME, &options.priors,
      "From folder to folder: measured positions of images, NAME X Y Z [SX SY "
      "SZ]",
      "FILE" },
  { "poses", 0, 0, G_OPTION_ARG_FILENAME, &options.poses,
      "From folder to folder: transforms.json with other poses to start from",
      "FILE" },
  { "transforms", 0, 0, G_OPTION_ARG_FILENAME, &options.transforms,
      "From folder to folder: transforms.json that gets the adjusted poses",
      "FILE" },
  { "prior-std", 0, 0, G_OPTION_ARG_DOUBLE, &options.prior_std,
      "Standard deviation of positions without one; default: 1", "UNITS" },
  { "constants", 0, 0, G_OPTION_ARG_FILENAME, &options.constants,
      "File of parameters to keep", "FILE" },
  { "max-iterations", 0, 0, G_OPTION_ARG_INT, &options.iterations,
      "Most iterations; default: 50, from folder to folder 100", "N" },
  { NULL },
};

static const struct {
  const gchar *ending, *format;
} formats[] = {
  { ".txt", "bal" },
  { ".bal", "bal" },
  { ".out", "bundler" },
  { ".nvm", "nvm" },
  { ".tar", "colmap" },
  { ".ply", "ply" },
  { ".json", "transforms" },
  { ".tum", "tum" },
};

/**
 * Adjustment:
 * @model, @video: (nullable): outputs
 * @numbers, @costs: of the iterations
 * @stats: (nullable): of the element
 */
typedef struct {
  const CommonOptions *common;
  const gchar *name;
  Output *model, *video;
  GArray *numbers, *costs;
  GstStructure *stats;
  gchar *backend;
  GstSample *picture;
} Adjustment;

/* --- pipeline -------------------------------------------------------------- */

/* COLMAP's names, and those of cudabundleadjust */
static const struct {
  const gchar *name, *nick;
  BundleLoss loss;
} losses[] = {
  { "none", "none", BUNDLE_LOSS_NONE },
  { "trivial", "none", BUNDLE_LOSS_NONE },
  { "soft_l1", "soft-l1", BUNDLE_LOSS_SOFT_L1 },
  { "soft-l1", "soft-l1", BUNDLE_LOSS_SOFT_L1 },
  { "huber", "huber", BUNDLE_LOSS_HUBER },
  { "cauchy", "cauchy", BUNDLE_LOSS_CAUCHY },
  { "tukey", "tukey", BUNDLE_LOSS_TUKEY },
};

/* Index of --loss; its length: unknown */
static guint
find_loss (void)
{
  guint i = 0;

  while (options.loss && i < G_N_ELEMENTS (losses)
         && strcmp (losses[i].name, options.loss) != 0)
    i++;
  return i;
}

static const gchar *
find_format (void)
{
  if (options.format != NULL)
    return options.format;
  for (guint i = 0; options.output != NULL && i < G_N_ELEMENTS (formats); i++)
    if (g_str_has_suffix (options.output, formats[i].ending))
      return formats[i].format;
  return options.output != NULL ? NULL : "bal";
}

/* cudabundleadjust finds the folder of a COLMAP model by one of its files. */
static void
append_source (GString *launch, const gchar *name)
{
  gchar *part = NULL;

  if (bundle_model_is_folder (name)) {
    part = g_build_filename (name, "cameras.bin", NULL);
    if (!g_file_test (part, G_FILE_TEST_EXISTS))
      memcpy (strrchr (part, '.'), ".txt", 4);
  }
  g_string_append (launch, "filesrc ");
  launch_set (launch, "location", part ? part : name);
  if (g_str_has_suffix (name, ".bz2"))
    g_string_append (launch, "! bz2dec ");
  g_free (part);
}

static void
append_adjustment (GString *launch, const Adjustment *self)
{
  const CommonOptions *common = self->common;

  g_string_append (launch, "! cudabundleadjust name=adjust ");
  launch_set (launch, "output-format", find_format ());
  if (options.loss != NULL)
    launch_set (launch, "loss", losses[find_loss ()].nick);
  if (options.loss_scale != 1)
    launch_set_double (launch, "loss-scale", options.loss_scale);
  if (options.fix_intrinsics)
    g_string_append (launch, "fix-intrinsics=true ");
  if (options.shared_intrinsics)
    g_string_append (launch, "shared-intrinsics=true ");
  if (options.constants != NULL)
    launch_set (launch, "constants", options.constants);
  if (options.iterations != DEFAULT_ITERATIONS)
    launch_set_int (launch, "max-iterations", options.iterations);
  if (common->backend != NULL)
    launch_set (launch, "backend", common->backend);
  if (common->device >= 0)
    launch_set_int (launch, "cuda-device-id", common->device);
  if (common->threads > 0)
    launch_set_int (launch, "threads", common->threads);
}

static const gchar *
choose_name (const Output *output, const gchar *name, gboolean temporary)
{
  return temporary ? output_get_temporary_name (output) : name;
}

static gchar *
make_bundle_launch (const Adjustment *self, gboolean temporary)
{
  const gboolean picture = temporary && self->common->report != NULL;
  GString *launch = g_string_new (NULL);

  append_source (launch, self->name);
  append_adjustment (launch, self);
  if (options.output != NULL) {
    g_string_append (launch, "! filesink ");
    launch_set (launch, "location",
        choose_name (self->model, options.output, temporary));
  } else {
    g_string_append (launch, "! fakesink ");
  }
  if (options.video == NULL && !picture)
    return g_string_free (launch, FALSE);
  g_string_append (launch, "adjust.src_cloud ! tee name=cloud ");
  if (options.video != NULL) {
    g_string_append_printf (launch,
        "cloud. ! queue ! bundleview ! videoconvert ! %s ! filesink ",
        video_encoder (options.video));
    launch_set (launch, "location",
        choose_name (self->video, options.video, temporary));
  }
  if (picture)
    g_string_append (launch, "cloud. ! queue ! bundleview turns=1 period=1 ! "
                             "videoconvert ! pngenc ! fakesink name=picture");
  return g_string_free (launch, FALSE);
}

/* --- running --------------------------------------------------------------- */

static void
take_message (const GstStructure *s, gpointer data)
{
  Adjustment *self = data;
  gdouble cost, position;
  guint number;

  if (!gst_structure_has_name (s, "cudabundleadjust-iteration")
      || !gst_structure_get_double (s, "cost", &cost)
      || !gst_structure_get_uint (s, "number", &number))
    return;
  position = number;
  g_array_append_val (self->numbers, position);
  g_array_append_val (self->costs, cost);
}

static void
take_bundle_results (GstElement *pipeline, gpointer data)
{
  Adjustment *self = data;
  GstElement *adjust = gst_bin_get_by_name (GST_BIN (pipeline), "adjust");

  g_object_get (adjust, "stats", &self->stats, NULL);
  gst_object_unref (adjust);
  self->backend = element_get_nick (pipeline, "adjust", "active-backend");
  self->picture = element_get_sample (pipeline, "picture");
}

static gboolean
open_bundle_outputs (Adjustment *self, GError **error)
{
  const gchar *const *inputs = (const gchar *const *) self->common->inputs;

  if (options.output != NULL) {
    self->model = output_new (options.output, inputs, error);
    if (self->model == NULL)
      return FALSE;
  }
  if (options.video != NULL) {
    self->video = output_new (options.video, inputs, error);
    if (self->video == NULL)
      return FALSE;
  }
  return TRUE;
}

/* For the bar: an adjustment that converges ends earlier. */
static gdouble
measure_iterations (gpointer data, guint64 *done)
{
  const Adjustment *self = data;

  *done = self->numbers->len;
  return *done > 0 ? (gdouble) *done / MAX (options.iterations, 1) : -1;
}

static gboolean
adjust_model (Adjustment *self, GError **error)
{
  gboolean ok = open_bundle_outputs (self, error);

  if (ok) {
    gchar *launch = make_bundle_launch (self, TRUE);

    ok = pipeline_run (&(PipelineRun){ .launch = launch,
                           .label = self->name,
                           .message = take_message,
                           .finish = take_bundle_results,
                           .data = self,
                           .progress = !self->common->quiet,
                           .measure = measure_iterations,
                           .unit = "iterations",
                           .quiet = self->common->quiet },
        error);
    g_free (launch);
  }
  ok = output_close (self->model, ok, error);
  return output_close (self->video, ok, error);
}

/* --- results --------------------------------------------------------------- */

/* Root mean square of the reprojection errors: the cost is half their sum of
 * squares, both coordinates counted. */
static gdouble
rms_error (const Adjustment *self, const gchar *cost)
{
  return sqrt (2 * structure_get_double (self->stats, cost)
               / MAX (structure_get_count (self->stats, "observations"), 1));
}

static const gchar *
get_stop (const Adjustment *self)
{
  const gchar *stop = self->stats != NULL
                          ? gst_structure_get_string (self->stats, "stop")
                          : NULL;

  return stop != NULL ? stop : "unknown";
}

static void
print_result (const Adjustment *self)
{
  g_print ("%s: %" G_GUINT64_FORMAT " cameras, %" G_GUINT64_FORMAT
           " points, %" G_GUINT64_FORMAT " observations\n",
      self->name, structure_get_count (self->stats, "cameras"),
      structure_get_count (self->stats, "points"),
      structure_get_count (self->stats, "observations"));
  print_costs (
      (const gdouble[]){ structure_get_double (self->stats, "initial-cost"),
          structure_get_double (self->stats, "final-cost") },
      (const gdouble[]){
          rms_error (self, "initial-cost"), rms_error (self, "final-cost") });
  g_print ("%" G_GUINT64_FORMAT " iterations in %.3f s, stopped by %s, %s\n",
      structure_get_count (self->stats, "iterations"),
      structure_get_double (self->stats, "seconds"), get_stop (self),
      self->backend);
}

static void
print_bundle_json (const Adjustment *self)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_add_string (json, "file", self->name);
  json_add_int (json, "cameras", structure_get_count (self->stats, "cameras"));
  json_add_int (json, "points", structure_get_count (self->stats, "points"));
  json_add_int (
      json, "observations", structure_get_count (self->stats, "observations"));
  json_add_double (
      json, "initial-cost", structure_get_double (self->stats, "initial-cost"));
  json_add_double (
      json, "final-cost", structure_get_double (self->stats, "final-cost"));
  json_add_int (
      json, "iterations", structure_get_count (self->stats, "iterations"));
  json_add_string (json, "stop", get_stop (self));
  json_add_double (
      json, "seconds", structure_get_double (self->stats, "seconds"));
  json_add_string (json, "backend", self->backend);
  json_builder_end_object (json);
  json_print (json);
}

static void
add_table (const Adjustment *self, Report *report)
{
  static const gchar *const head[] = { "", "cost", "RMS error, pixels", NULL };
  static const gchar *const names[] = { "initial-cost", "final-cost" };
  static const gchar *const titles[] = { "before", "after" };

  report_begin_table (report, head);
  for (guint i = 0; i < 2; i++) {
    gchar *cost =
        g_strdup_printf ("%.6g", structure_get_double (self->stats, names[i]));
    gchar *rms = g_strdup_printf ("%.4f", rms_error (self, names[i]));

    report_add_row (
        report, (const gchar *const[]){ titles[i], cost, rms, NULL });
    g_free (cost);
    g_free (rms);
  }
  report_end_table (report);
}

static void
write_bundle_report (const Adjustment *self, GError **error)
{
  gchar *title = g_strdup_printf ("Bundle adjustment of %s", self->name);
  Report *report = report_new (title);

  report_add_paragraph (report,
      "%" G_GUINT64_FORMAT " cameras, %" G_GUINT64_FORMAT
      " points, %" G_GUINT64_FORMAT " observations. %" G_GUINT64_FORMAT
      " iterations in %.3f s; stopped by %s.",
      structure_get_count (self->stats, "cameras"),
      structure_get_count (self->stats, "points"),
      structure_get_count (self->stats, "observations"),
      structure_get_count (self->stats, "iterations"),
      structure_get_double (self->stats, "seconds"), get_stop (self));
  add_table (self, report);
  report_add_picture (report, self->picture,
      "The adjusted model. The colour of a point is its mean reprojection "
      "error, "
      "from blue (0.125 pixels) to red (4 pixels); cameras are magenta.");
  report_add_costs (report, self->numbers, self->costs);
  report_add_input (report, self->name);
  report_add_setting (
      report, "loss", "%s", options.loss != NULL ? options.loss : "none");
  report_add_setting (report, "loss scale", "%g pixels", options.loss_scale);
  report_add_setting (report, "intrinsics", "%s",
      options.fix_intrinsics      ? "fixed"
      : options.shared_intrinsics ? "shared"
                                  : "adjusted for each camera");
  report_add_setting (report, "iterations", "at most %d", options.iterations);
  report_add_setting (report, "backend", "%s", self->backend);
  report_write (report, self->common->report,
      (const gchar *const *) self->common->inputs, error);
  report_free (report);
  g_free (title);
}

/* --- command --------------------------------------------------------------- */

static gboolean
set_usage (GError **error, const gchar *format, const gchar *value)
{
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, format, value);
  return FALSE;
}

static gboolean
check_bundle_options (GError **error)
{
  static const gchar *const names[] = { "bal", "bundler", "nvm", "colmap",
    "ply", "transforms", "tum", NULL };

  if (find_loss () == G_N_ELEMENTS (losses))
    return set_usage (error,
        "--loss %s is none of none, trivial, soft_l1, huber, cauchy and tukey",
        options.loss);
  if (options.gauge != NULL && strcmp (options.gauge, "free") != 0
      && strcmp (options.gauge, "two-cameras") != 0)
    return set_usage (
        error, "--gauge %s is none of two-cameras and free", options.gauge);
  if (options.format != NULL && !g_strv_contains (names, options.format))
    return set_usage (error,
        "--format %s is none of bal, bundler, nvm, colmap, ply, transforms and "
        "tum",
        options.format);
  if (find_format () == NULL)
    return set_usage (error,
        "the ending of %s is none of .txt, .bal, .out, .nvm, .tar, .ply, .json "
        "and .tum; give --format",
        options.output);
  if (options.video != NULL && video_encoder (options.video) == NULL)
    return set_usage (error, "the ending of %s is none of .webm, .mp4 and .avi",
        options.video);
  if (!(options.loss_scale > 0))
    return set_usage (error, "--loss-scale is not above 0%s", "");
  if (!(options.prior_std > 0) || options.prior_std > 1e100)
    return set_usage (error, "--prior-std is not above 0%s", "");
  if (options.iterations < -1 || options.iterations > 10000)
    return set_usage (error, "--max-iterations is not in 0 to 10000%s", "");
  return TRUE;
}

/* A transforms.json has no observations. */
static gboolean
check_no_transforms (const gchar *name, GError **error)
{
  if (!g_str_has_suffix (name, ".json")
      || g_file_test (name, G_FILE_TEST_IS_DIR))
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
      "%s contains poses, but no observations to adjust them by: give the "
      "folder of its COLMAP model, and %s by --poses or --transforms",
      name, name);
  return FALSE;
}

static gboolean
check_input (const gchar *name, GError **error)
{
  if (!check_no_transforms (name, error))
    return FALSE;
  if (!g_file_test (name, G_FILE_TEST_IS_DIR))
    return input_check (name, INPUT_RECONSTRUCTION, error);
  if (bundle_model_is_folder (name))
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
      "the folder %s contains no COLMAP model (cameras, images and points3D, "
      ".bin or .txt)",
      name);
  return FALSE;
}

static void
run_adjustment (Adjustment *self, GError **error)
{
  const gchar *const names[] = { self->common->report, options.output,
    options.video };
  const gchar *const inputs[] = { self->name, options.constants, NULL };

  if (!check_input (self->name, error)
      || !output_check (names, G_N_ELEMENTS (names), inputs, error)
      || !adjust_model (self, error))
    return;
  if (self->common->report != NULL)
    write_bundle_report (self, error);
  if (self->common->json)
    print_bundle_json (self);
  else if (!self->common->quiet)
    print_result (self);
}

static void
clear_adjustment (Adjustment *self)
{
  g_array_unref (self->numbers);
  g_array_unref (self->costs);
  g_clear_pointer (&self->stats, gst_structure_free);
  g_clear_pointer (&self->picture, gst_sample_unref);
  g_free (self->backend);
}

/* --- from folder to folder --------------------------------------------------- */

/* Options of pipelines, which folders do not have */
static gboolean
check_folder_options (const CommonOptions *common, GError **error)
{
  const struct {
    const gchar *name;
    gboolean given;
  } others[] = {
    { "--output", options.output != NULL },
    { "--format", options.format != NULL },
    { "--video", options.video != NULL },
    { "--shared-intrinsics", options.shared_intrinsics },
    { "--show", common->show },
  };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].given)
      return set_usage (error,
          "from folder to folder there is no pipeline, so %s is not possible",
          others[i].name);
  return TRUE;
}

static void
take_own_options (const ColmapOptions *colmap, BundleModelSettings *settings,
    BundleConfig *config)
{
  *settings = colmap->settings;
  *config = colmap->config;
  if (options.fix_intrinsics)
    settings->refine_focal = settings->refine_extra = settings->refine_centre =
        FALSE;
  settings->keep_behind = options.keep_behind;
  settings->free_gauge = g_strcmp0 (options.gauge, "free") == 0;
  config->loss = losses[find_loss ()].loss;
  config->loss_scale = options.loss_scale;
  if (options.iterations >= 0)
    config->max_iterations = (guint) options.iterations;
}

static void
adjust_folder (
    const CommonOptions *common, const ColmapOptions *colmap, GError **error)
{
  const guint n = g_strv_length (common->inputs);
  const gchar *input = n == 2 ? common->inputs[0] : colmap->input;
  const gchar *output = n == 2 ? common->inputs[1] : colmap->output;
  BundleModelSettings settings;
  BundleConfig config;

  if (n != 0 && (n != 2 || colmap->input || colmap->output)) {
    set_usage (error, "%s must be MODEL_IN MODEL_OUT, or options for both",
        "the folders");
    return;
  }
  if (input == NULL || output == NULL) {
    set_usage (error, "%s is missing",
        input == NULL ? "--input_path" : "--output_path");
    return;
  }
  if (!check_bundle_options (error) || !check_folder_options (common, error))
    return;
  if (!check_no_transforms (input, error))
    return;
  if (options.priors && colmap->database) {
    set_usage (error, "%s and --database_path exclude each other", "--priors");
    return;
  }
  take_own_options (colmap, &settings, &config);
  for (guint i = 0; i < colmap->ignored->len && !common->quiet; i++)
    g_printerr ("cudavision bundle: --%s has no meaning here\n",
        (const gchar *) colmap->ignored->pdata[i]);
  bundle_model_adjust (&(BundleModelCall){ .common = common,
                           .input = input,
                           .output = output,
                           .constants = options.constants,
                           .priors = options.priors,
                           .database = colmap->database,
                           .poses = options.poses,
                           .transforms = options.transforms,
                           .prior_std = options.prior_std,
                           .binary = colmap->used,
                           .settings = &settings,
                           .config = &config },
      error);
}

/* --- start --------------------------------------------------------------------- */

static void
run_pipeline (const CommonOptions *common, GError **error)
{
  Adjustment self = { common };

  if (options.keep_behind || options.gauge || options.priors || options.poses
      || options.transforms) {
    set_usage (error, "%s is for MODEL_IN MODEL_OUT",
        options.keep_behind ? "--keep-behind"
        : options.gauge     ? "--gauge"
        : options.priors    ? "--priors"
        : options.poses     ? "--poses"
                            : "--transforms");
    return;
  }
  if (options.iterations < 0)
    options.iterations = DEFAULT_ITERATIONS;
  self.name = common->inputs[0];
  self.numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
  self.costs = g_array_new (FALSE, FALSE, sizeof (gdouble));
  if (check_bundle_options (error)) {
    if (common->show)
      launch_print (make_bundle_launch (&self, FALSE));
    else
      run_adjustment (&self, error);
  }
  clear_adjustment (&self);
}

static ExitStatus
run_bundle (gint argc, gchar **argv)
{
  CommonOptions common;
  ColmapOptions colmap;
  ExitStatus status;
  GError *error = NULL;

  options.loss_scale = options.prior_std = 1;
  options.iterations = -1; /* not given */
  colmap_options_init (&colmap);
  if (!colmap_options_take (&colmap, &argc, argv, &error)) {
    status = command_end ("bundle", error);
  } else if (options_parse (&command_bundle, entries,
                 OPTIONS_COMPUTE | OPTIONS_REPORT
                     | (colmap.used ? OPTIONS_PLAIN : OPTIONS_INPUTS),
                 argc, argv, &common, &status)) {
    if (colmap.used || common.inputs[1] != NULL)
      adjust_folder (&common, &colmap, &error);
    else
      run_pipeline (&common, &error);
    status = command_end ("bundle", error);
    options_clear (&common);
  }
  colmap_options_clear (&colmap);
  return status;
}

const Command command_bundle = {
  .name = "bundle",
  .arguments = "MODEL [MODEL_OUT] - bundle adjustment of a reconstruction",
  .summary = "bundle adjustment: BAL, Bundler, NVM or COLMAP in and out",
  .examples =
      "Examples:\n"
      "  cudavision bundle problem.txt -o adjusted.ply --report ba.html\n"
      "  cudavision bundle sparse/0/ sparse/adjusted/\n\n"
      "From a folder with a COLMAP model, binary or text, to another, with all "
      "camera models, on the CPU. The options of colmap bundle_adjuster do the "
      "same: input_path, output_path, project_path and those that begin with "
      "BundleAdjustment.",
  .run = run_bundle,
};
