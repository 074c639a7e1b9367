/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision train`: a network for cudapbfmonitor from labelled tables, recordings or
 * simulated machines, and the baseline of a machine. Calls cuda/meltpool/train; there is
 * no pipeline. */
#include "config.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/meltpool/baseline.h"
#include "cuda/meltpool/train/load.h"
#ifdef HAVE_HDF5
#include "cuda/meltpool/train/hdf5.h"
#endif
#include "cuda/meltpool/train/simulate.h"
#include "tools/command.h"
#include "tools/inputs.h"
#include "tools/json.h"
#include "tools/output.h"
#include "tools/pipeline.h"
#include "tools/progress.h"
#include "trainreport.h"

static struct {
  gchar *output, *labels, *nominal, *split, *baseline, *machine, *network;
  gint simulate, rows, hidden, epochs, seed, threshold, window, threads;
  gboolean machines;
} options;

static const GOptionEntry entries[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Network to write", "FILE.safetensors" },
  { "labels", 'l', 0, G_OPTION_ARG_FILENAME, &options.labels,
      "Classes of layers, vectors or frames: a table", "FILE.csv" },
  { "nominal", 0, 0, G_OPTION_ARG_STRING, &options.nominal,
      "Class of the nominal state; default: nominal", "NAME" },
  { "machines", 0, 0, G_OPTION_ARG_NONE, &options.machines,
      "Each file is of another machine", NULL },
  { "split", 0, 0, G_OPTION_ARG_STRING, &options.split,
      "Test on whole: file (default from three files on) or layer", "NAME" },
  { "simulate", 0, 0, G_OPTION_ARG_INT, &options.simulate,
      "Train on this many simulated machines instead of files", "N" },
  { "rows", 0, 0, G_OPTION_ARG_INT, &options.rows,
      "Rows of each simulated machine and class; default: 35", "N" },
  { "baseline", 'b', 0, G_OPTION_ARG_FILENAME, &options.baseline,
      "Nominal frames of the machine: a table or recording", "FILE" },
  { "machine", 0, 0, G_OPTION_ARG_STRING, &options.machine,
      "Name of the machine, stored in the network", "NAME" },
  { "network", 'n', 0, G_OPTION_ARG_FILENAME, &options.network,
      "Only give this network the baseline", "FILE.safetensors" },
  { "threshold", 0, 0, G_OPTION_ARG_INT, &options.threshold,
      "Of the features, 1 to 255; default: 100", "LEVEL" },
  { "window", 0, 0, G_OPTION_ARG_INT, &options.window,
      "Of the features, 1 to 1024; default: 20", "FRAMES" },
  { "hidden", 0, 0, G_OPTION_ARG_INT, &options.hidden,
      "Hidden units, 1 to 512; default: 164", "N" },
  { "epochs", 0, 0, G_OPTION_ARG_INT, &options.epochs,
      "Most epochs, 1 to 1000; default: 15", "N" },
  { "seed", 0, 0, G_OPTION_ARG_INT, &options.seed,
      "Of all random numbers; default: 1", "N" },
  { "threads", 0, 0, G_OPTION_ARG_INT, &options.threads,
      "Threads; 0 (default): one per processor", "N" },
  { NULL },
};

#define TEST_FRACTION 0.2

typedef struct {
  const CommonOptions *common;
  TrainSummary summary;
  Progress progress;
  GMutex lock; /* of progress */
} TrainRun;

/* --- data ------------------------------------------------------------------ */

static void
show_fraction (gdouble fraction, gpointer data)
{
  TrainRun *self = data;

  g_mutex_lock (&self->lock);
  if (!self->common->quiet && progress_is_due (&self->progress))
    progress_show (&self->progress, fraction,
        (guint64) (fraction * options.simulate + 0.5));
  g_mutex_unlock (&self->lock);
}

static gboolean
simulate_rows (TrainRun *self, GError **error)
{
  PbfSimulation simulation;
  gboolean ok;

  pbf_simulation_init (&simulation);
  simulation.settings = (guint) options.simulate;
  simulation.rows = (guint) options.rows;
  simulation.neutral = TRUE;
  simulation.full_half = TRUE;
  simulation.seed = (guint64) options.seed;
  simulation.threads = (guint) options.threads;
  simulation.progress = show_fraction;
  simulation.data = self;
  self->summary.dataset = pbf_dataset_new (pbf_simulation_classes);
  progress_start (&self->progress, "simulated machines", "machines");
  ok = pbf_simulate (&simulation, self->summary.dataset, error);
  progress_clear (&self->progress);
  return ok;
}

/* Splits by layer if there are too few files, which says less about other builds. */
static gboolean
splits_by_layer (const CommonOptions *common)
{
  if (options.split != NULL)
    return strcmp (options.split, "layer") == 0;
  return g_strv_length (common->inputs) < PBF_N_PARTS;
}

static const PbfFeatures *
get_features (void)
{
  static PbfFeatures features;

  features = (PbfFeatures){ (guint) options.threshold, (guint) options.window,
    (guint) options.threads };
#ifdef HAVE_HDF5
  features.hdf5 = pbf_analyse_hdf5;
#endif
  return &features;
}

static gboolean
load_files (TrainRun *self, PbfLabels *labels, GError **error)
{
  PbfDataset *dataset = self->summary.dataset;
  guint machine = 0;

  for (gchar **name = self->common->inputs; *name != NULL; name++) {
    if (options.machines || name == self->common->inputs)
      machine = pbf_dataset_add_machine (dataset,
          options.machines || options.machine == NULL ? *name
                                                      : options.machine);
    if (!pbf_load_rows (*name, get_features (), labels, machine,
            splits_by_layer (self->common), dataset, &self->summary.loading,
            error))
      return FALSE;
  }
  return pbf_labels_check_used (labels, error);
}

/* A pool looks different from the other side, which must not tell classes apart. */
static void
warn_about_directions (const TrainSummary *summary)
{
  for (guint c = 0; c < summary->dataset->n_classes; c++)
    if (pbf_loading_has_one_direction (&summary->loading, c))
      print_error ("train",
          "warning: the frames of class \"%s\" are scanned in one direction "
          "only; label lines in both, or the direction is taken for the class",
          summary->dataset->classes[c]);
}

static gboolean
load_labelled (TrainRun *self, GError **error)
{
  PbfLabels *labels = pbf_labels_load (options.labels,
      options.nominal != NULL ? options.nominal : "nominal", error);
  gboolean ok;

  if (labels == NULL)
    return FALSE;
  self->summary.dataset = pbf_dataset_new (pbf_labels_get_classes (labels));
  self->summary.by_layer = splits_by_layer (self->common);
  ok = load_files (self, labels, error)
       && pbf_dataset_find_baselines (self->summary.dataset, error);
  pbf_labels_free (labels);
  return ok;
}

/* --- baseline -------------------------------------------------------------- */

#define GOOD_BASELINE 2000

/* Warns of a baseline that is short, or not of nominal frames alone. */
static void
check_baseline (const PbfNetwork *network, const PbfDataset *dataset)
{
  guint32 *rows = g_new (guint32, dataset->n);
  gdouble fraction;
  guint class;

  for (gsize r = 0; r < dataset->n; r++)
    rows[r] = (guint32) r;
  if (dataset->n < GOOD_BASELINE)
    print_error ("train",
        "warning: the baseline has %" G_GSIZE_FORMAT
        " frames; %d give a better network",
        dataset->n, GOOD_BASELINE);
  class = pbf_find_impurity (network, dataset, rows, dataset->n, &fraction);
  if (fraction > PBF_BASELINE_IMPURE)
    print_error ("train",
        "warning: by the network %.1f %% of the baseline's frames are of the "
        "state %s; a baseline has nominal frames only",
        100 * fraction, network->names[class]);
  g_free (rows);
}

static gboolean
fold_baseline (TrainRun *self, GError **error)
{
  PbfNetwork *network = self->summary.network;
  PbfDataset *dataset = pbf_dataset_new ((const gchar *const *) network->names);
  PbfLoading loading = { 0 };
  const gboolean ok =
      pbf_network_check_machine (network, options.machine, error)
      && pbf_load_baseline (options.baseline,
          options.machine != NULL ? options.machine : options.baseline,
          get_features (), dataset, &loading, error);

  if (ok) {
    if (!self->common->quiet)
      check_baseline (network, dataset);
    pbf_network_fold (network,
        g_array_index (dataset->machine_stats, PbfMachineStats, 0).mean);
    self->summary.baseline_n = dataset->n;
  }
  pbf_dataset_free (dataset);
  return ok;
}

/* The inputs are scaled for the baseline's machine, for the simulator's default machine,
 * for the one machine of all files, or for the average of several. */
static gboolean
scale_inputs (TrainRun *self, GError **error)
{
  PbfNetwork *network = self->summary.network;

  if (options.baseline != NULL && !fold_baseline (self, error))
    return FALSE;
  if (options.baseline == NULL && options.simulate > 0)
    pbf_network_fold (network,
        g_array_index (self->summary.dataset->machine_stats, PbfMachineStats, 0)
            .mean);
  if (options.machine != NULL) {
    g_free (network->machine);
    network->machine = g_strdup (options.machine);
  }
  return TRUE;
}

/* --- training -------------------------------------------------------------- */

static void
show_epoch (const PbfTrainEpoch *epoch, gpointer data)
{
  TrainRun *self = data;

  g_array_append_val (self->summary.losses, epoch->loss);
  if (!self->common->quiet && progress_is_due (&self->progress))
    progress_show (
        &self->progress, (gdouble) epoch->number / epoch->of, epoch->number);
}

static gchar *
describe_data (const TrainRun *self)
{
  if (options.simulate > 0)
    return g_strdup_printf (
        "simulated frames of %d machine settings, seed %d; nothing is claimed "
        "about pores; needs the baseline of its machine, 2000 nominal frames "
        "at "
        "least",
        options.simulate, options.seed);
  return g_strdup_printf ("%" G_GSIZE_FORMAT " labelled frames of %u files",
      self->summary.dataset->n, g_strv_length (self->common->inputs));
}

static gboolean
train_network (TrainRun *self, GError **error)
{
  TrainSummary *summary = &self->summary;
  PbfTrainConfig config;

  if (!pbf_dataset_split (summary->dataset, TEST_FRACTION,
          (guint64) options.seed, &summary->split, error))
    return FALSE;
  if (options.simulate == 0 && !self->common->quiet)
    warn_about_directions (summary);
  pbf_train_config_init (&config);
  config.hidden = (guint) options.hidden;
  config.epochs = (guint) options.epochs;
  config.seed = (guint64) options.seed;
  config.threads = (guint) options.threads;
  config.epoch = show_epoch;
  config.data = self;
  progress_start (&self->progress, "training", "epochs");
  summary->network = pbf_train (
      summary->dataset, &summary->split, &config, &summary->training, error);
  progress_clear (&self->progress);
  if (summary->network == NULL)
    return FALSE;
  summary->network->threshold = (guint) options.threshold;
  summary->network->window = (guint) options.window;
  summary->network->about = describe_data (self);
  return TRUE;
}

/* Writes under a temporary name: the file is always a whole network, before an
 * interruption and after it. */
static gboolean
write_network (const TrainRun *self, GError **error)
{
  const gchar *const inputs[] = { options.labels, options.baseline, NULL };
  GBytes *bytes = pbf_network_to_bytes (self->summary.network);
  Output *output = output_new (options.output, inputs, error);
  gboolean ok = output != NULL;

  if (ok) {
    ok = g_file_set_contents (output_get_temporary_name (output),
        g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes),
        error);
    ok = output_close (output, ok, error);
  }
  g_bytes_unref (bytes);
  return ok;
}

static void
judge_network (TrainRun *self)
{
  TrainSummary *summary = &self->summary;
  const guint32 *rows = summary->split.rows[PBF_PART_TEST];
  const gsize n = summary->split.n[PBF_PART_TEST];
  gfloat *answers = pbf_predict (summary->network, summary->dataset, rows, n);

  pbf_evaluate (summary->network, summary->dataset, rows, n, answers,
      &summary->evaluation);
  g_free (answers);
}

/* --- results --------------------------------------------------------------- */

static void
print_training (const TrainSummary *summary)
{
  const PbfEvaluation *evaluation = &summary->evaluation;
  gchar **names = summary->network->names;

  g_print ("%-16s", "true \\ answer");
  for (guint o = 0; o < evaluation->n_answers; o++)
    g_print (" %14.14s", names[o]);
  g_print ("   recall\n");
  for (guint c = 0; c < evaluation->n_classes; c++) {
    g_print ("%-16.16s", names[c]);
    for (guint o = 0; o < evaluation->n_answers; o++)
      g_print (" %14" G_GUINT64_FORMAT, evaluation->confusion[c][o]);
    g_print (" %6.2f %%\n", 100 * evaluation->recall[c]);
  }
  g_print ("\nbalanced accuracy %.2f %% on %" G_GSIZE_FORMAT
           " rows of %u groups that were not trained on\n",
      100 * evaluation->balanced, evaluation->n,
      summary->split.n_groups[PBF_PART_TEST]);
  g_print ("%.2f %% of these rows are answered \"" PBF_UNKNOWN_NAME "\"\n",
      100 * (gdouble) evaluation->rejected / (gdouble) evaluation->n);
  g_print ("calibration error %.2f %%, %u epochs, best %u\n",
      100 * evaluation->calibration_error, summary->training.epochs,
      summary->training.best_epoch);
}

static void
print_training_json (const TrainSummary *summary)
{
  const PbfEvaluation *evaluation = &summary->evaluation;
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_add_string (json, "version", PACKAGE_VERSION);
  json_add_string (json, "network", options.output);
  if (summary->dataset != NULL) {
    json_add_int (json, "rows", (gint64) summary->dataset->n);
    json_add_int (
        json, "rows-trained", (gint64) summary->split.n[PBF_PART_TRAIN]);
    json_add_int (json, "rows-tested", (gint64) evaluation->n);
    json_add_int (json, "epochs", summary->training.epochs);
    json_add_int (json, "best-epoch", summary->training.best_epoch);
    json_add_double (json, "temperature", summary->training.temperature);
    json_add_double (json, "balanced-accuracy", evaluation->balanced);
    json_add_double (json, "worst-machine",
        g_array_index (evaluation->machines, PbfMachineScore, evaluation->worst)
            .balanced);
    json_add_double (json, "calibration-error", evaluation->calibration_error);
    json_add_double (json, "rejected",
        (gdouble) evaluation->rejected / (gdouble) evaluation->n);
    json_builder_set_member_name (json, "recall");
    json_builder_begin_object (json);
    for (guint c = 0; c < evaluation->n_classes; c++)
      json_add_double (
          json, summary->dataset->classes[c], evaluation->recall[c]);
    json_builder_end_object (json);
  }
  if (options.baseline != NULL)
    json_add_int (json, "baseline-frames", (gint64) summary->baseline_n);
  json_builder_end_object (json);
  json_print (json);
}

static void
print_results (const TrainRun *self)
{
  const TrainSummary *summary = &self->summary;

  if (self->common->json)
    print_training_json (summary);
  if (self->common->json || self->common->quiet)
    return;
  if (summary->dataset != NULL)
    print_training (summary);
  if (summary->by_layer)
    print_error ("train",
        "warning: training and test are layers of the same files, so the "
        "figures "
        "are those of these builds; bring three files or more for others");
  if (options.baseline != NULL)
    g_print ("baseline of %" G_GSIZE_FORMAT " frames\n", summary->baseline_n);
  g_print ("wrote %s\n", options.output);
}

static gboolean
write_training_report (TrainRun *self, GError **error)
{
  const CommonOptions *common = self->common;
  Report *report = report_new ("Training of a melt-pool network");
  gboolean ok;

  train_report_fill (&self->summary, report);
  for (gchar **name = common->inputs; *name != NULL; name++)
    report_add_input (report, *name);
  if (options.labels != NULL)
    report_add_input (report, options.labels);
  if (options.baseline != NULL)
    report_add_input (report, options.baseline);
  report_add_setting (report, "network", "%s", options.output);
  report_add_setting (report, "seed", "%d", options.seed);
  report_add_setting (report, "hidden units", "%d", options.hidden);
  report_add_setting (report, "threshold", "%d", options.threshold);
  report_add_setting (report, "window", "%d", options.window);
  ok = report_write (
      report, common->report, (const gchar *const *) common->inputs, error);
  report_free (report);
  return ok;
}

/* --- command --------------------------------------------------------------- */

static gboolean
reject_train_option (GError **error, const gchar *text)
{
  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, text);
  return FALSE;
}

static gboolean
check_train_sources (const CommonOptions *common, GError **error)
{
  const gboolean files = common->inputs[0] != NULL;

  if (options.network != NULL
      && (files || options.simulate > 0 || options.baseline == NULL
          || common->report != NULL))
    return reject_train_option (error, "--network takes --baseline, and "
                                       "neither data nor --report: the network "
                                       "is not trained");
  if (options.network == NULL && files == (options.simulate > 0))
    return reject_train_option (error,
        files ? "--simulate takes no files"
              : "no data: name tables or recordings, or use --simulate N");
  if (files && options.labels == NULL)
    return reject_train_option (
        error, "the classes of the frames are missing: use --labels FILE.csv");
  if (!files && (options.labels != NULL || options.nominal != NULL))
    return reject_train_option (error, "--labels and --nominal need files");
  return TRUE;
}

static gboolean
check_train_options (const CommonOptions *common, GError **error)
{
  const struct {
    const gchar *name;
    gint value, min, max;
  } numbers[] = {
    { "--simulate", options.simulate, 0, 60000 },
    { "--rows", options.rows, 1, 60000 },
    { "--hidden", options.hidden, 1, 512 },
    { "--epochs", options.epochs, 1, 1000 },
    { "--seed", options.seed, 0, G_MAXINT },
    { "--threshold", options.threshold, 1, 255 },
    { "--window", options.window, 1, 1024 },
    { "--threads", options.threads, 0, 1024 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (numbers[i].value < numbers[i].min
        || numbers[i].value > numbers[i].max) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
          "%s %d is not in %d to %d", numbers[i].name, numbers[i].value,
          numbers[i].min, numbers[i].max);
      return FALSE;
    }
  if (options.output == NULL)
    return reject_train_option (error, "no output: use -o FILE.safetensors");
  if (options.split != NULL && strcmp (options.split, "file") != 0
      && strcmp (options.split, "layer") != 0)
    return reject_train_option (error, "--split is none of file and layer");
  if (options.simulate > 0
      && (options.threshold != 100 || options.window != 20))
    return reject_train_option (
        error, "--simulate has threshold 100 and window 20");
  return check_train_sources (common, error);
}

static gboolean
check_train_files (const CommonOptions *common, GError **error)
{
  const gchar *const outputs[] = { common->report, options.output };
  GStrvBuilder *builder = g_strv_builder_new ();
  gchar **inputs;
  gboolean ok = TRUE;

  g_strv_builder_addv (builder, (const gchar **) common->inputs);
  if (options.labels != NULL)
    g_strv_builder_add (builder, options.labels);
  if (options.baseline != NULL)
    g_strv_builder_add (builder, options.baseline);
  if (options.network != NULL)
    g_strv_builder_add (builder, options.network);
  inputs = g_strv_builder_end (builder);
  for (gchar **name = inputs; ok && *name != NULL; name++)
    ok = input_check (*name, INPUT_UNKNOWN, error);
  ok = ok
       && output_check (outputs, G_N_ELEMENTS (outputs),
           (const gchar *const *) inputs, error);
  g_strfreev (inputs);
  g_strv_builder_unref (builder);
  return ok;
}

static gboolean
make_network (TrainRun *self, GError **error)
{
  if (options.network != NULL)
    self->summary.network = pbf_network_load (options.network, error);
  else if (options.simulate > 0 ? simulate_rows (self, error)
                                : load_labelled (self, error))
    train_network (self, error);
  if (self->summary.network == NULL || !scale_inputs (self, error))
    return FALSE;
  if (self->summary.dataset != NULL)
    judge_network (self);
  return write_network (self, error);
}

static ExitStatus
end_training (TrainRun *self, GError *error)
{
  const PbfTraining *training = &self->summary.training;

  if (error == NULL && training->cancelled) {
    print_error ("train",
        "interrupted after epoch %u; wrote the network of epoch %u",
        training->epochs, training->best_epoch);
    return EXIT_STATUS_INTERRUPTED;
  }
  return command_end ("train", error);
}

static ExitStatus
run_train (gint argc, gchar **argv)
{
  CommonOptions common;
  TrainRun self = { &common };
  ExitStatus status;
  GError *error = NULL;

  options.rows = 35;
  options.hidden = 164;
  options.epochs = 15;
  options.seed = 1;
  options.threshold = 100;
  options.window = 20;
  if (!options_parse (&command_train, entries, OPTIONS_REPORT, argc, argv,
          &common, &status))
    return status;
  g_mutex_init (&self.lock);
  train_summary_init (&self.summary);
  cvis_cancel_watch (interrupt_get_flag ());
  if (check_train_options (&common, &error)
      && check_train_files (&common, &error) && make_network (&self, &error)) {
    if (common.report != NULL)
      write_training_report (&self, &error);
    if (error == NULL)
      print_results (&self);
  }
  cvis_cancel_watch (NULL);
  status = end_training (&self, error);
  train_summary_clear (&self.summary);
  g_mutex_clear (&self.lock);
  options_clear (&common);
  return status;
}

const Command command_train = {
  .name = "train",
  .arguments = "[DATA...] - a network for cudapbfmonitor",
  .summary = "melt-pool network from labelled tables, recordings, simulation",
  .examples =
      "Examples:\n"
      "  cudavision train a.csv b.csv c.csv --labels labels.csv -o "
      "net.safetensors\n"
      "  cudavision train --network net.safetensors --baseline layer.pbf -o "
      "mine.safetensors\n\n"
      "DATA are tables of features (`cudavision monitor`) or recordings "
      "(.pbf).",
  .run = run_train,
};
