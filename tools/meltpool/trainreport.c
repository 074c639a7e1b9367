/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The page of a training. Called by train.c. */
#include "trainreport.h"

#include <math.h>
#include <string.h>

#include "cuda/meltpool/engine.h"
#include "tools/plot.h"

void
train_summary_init (TrainSummary *summary)
{
  *summary = (TrainSummary){ 0 };
  summary->losses = g_array_new (FALSE, FALSE, sizeof (gdouble));
}

void
train_summary_clear (TrainSummary *summary)
{
  pbf_evaluation_clear (&summary->evaluation);
  pbf_split_clear (&summary->split);
  g_clear_pointer (&summary->network, pbf_network_free);
  g_clear_pointer (&summary->dataset, pbf_dataset_free);
  g_array_unref (summary->losses);
}

static void
add_training_table (const TrainSummary *summary, Report *report)
{
  static const gchar *const head[] = { "part", "groups", "rows", NULL };
  static const gchar *const parts[] = { "training", "end of training", "test" };

  report_begin_table (report, head);
  for (guint p = 0; p < PBF_N_PARTS; p++) {
    gchar *groups = g_strdup_printf ("%u", summary->split.n_groups[p]);
    gchar *rows = g_strdup_printf ("%" G_GSIZE_FORMAT, summary->split.n[p]);
    const gchar *const cells[] = { parts[p], groups, rows, NULL };

    report_add_row (report, cells);
    g_free (groups);
    g_free (rows);
  }
  report_end_table (report);
}

static void
add_confusion (const TrainSummary *summary, Report *report)
{
  const PbfEvaluation *evaluation = &summary->evaluation;
  const guint n = evaluation->n_answers;
  const gchar *head[CVIS_PBF_MAX_OUTPUTS + 3] = { "true class" };

  for (guint o = 0; o < n; o++)
    head[1 + o] = summary->network->names[o];
  head[1 + n] = "recall, %";
  report_begin_table (report, head);
  for (guint c = 0; c < evaluation->n_classes; c++) {
    gchar *cells[CVIS_PBF_MAX_OUTPUTS + 3] = { g_strdup (
        summary->dataset->classes[c]) };

    for (guint o = 0; o < n; o++)
      cells[1 + o] =
          g_strdup_printf ("%" G_GUINT64_FORMAT, evaluation->confusion[c][o]);
    cells[1 + n] = g_strdup_printf ("%.2f", 100 * evaluation->recall[c]);
    report_add_row (report, (const gchar *const *) cells);
    for (guint i = 0; cells[i] != NULL; i++)
      g_free (cells[i]);
  }
  report_end_table (report);
}

/* --- machines -------------------------------------------------------------- */

static gint
compare_scores (gconstpointer a, gconstpointer b)
{
  const gdouble x = ((const PbfMachineScore *) a)->balanced,
                y = ((const PbfMachineScore *) b)->balanced;

  return (x > y) - (x < y);
}

#define WORST_MACHINES 8

static void
add_machines (const TrainSummary *summary, Report *report)
{
  static const gchar *const head[] = { "machine", "rows",
    "balanced accuracy, %", NULL };
  GArray *scores = g_array_copy (summary->evaluation.machines);

  g_array_sort (scores, compare_scores);
  report_begin_table (report, head);
  for (guint i = 0; i < MIN (scores->len, WORST_MACHINES); i++) {
    const PbfMachineScore *score = &g_array_index (scores, PbfMachineScore, i);
    gchar *rows = g_strdup_printf ("%" G_GSIZE_FORMAT, score->n);
    gchar *balanced = g_strdup_printf ("%.2f", 100 * score->balanced);
    const gchar *const cells[] = { g_array_index (
                                       summary->dataset->machine_stats,
                                       PbfMachineStats, score->machine)
                                       .name,
      rows, balanced, NULL };

    report_add_row (report, cells);
    g_free (rows);
    g_free (balanced);
  }
  report_end_table (report);
  g_array_unref (scores);
}

/* --- plots ----------------------------------------------------------------- */

static void
add_lines (Report *report, const gchar *caption, const gchar *x_label,
    const gchar *y_label, const PlotSeries *series, guint n)
{
  GString *svg = g_string_new (NULL);

  plot_lines (svg,
      &(Plot){ .label = caption, .x_label = x_label, .y_label = y_label },
      series, n);
  report_add_plot (report, svg->str, caption);
  g_string_free (svg, TRUE);
}

static void
add_losses (const TrainSummary *summary, Report *report)
{
  const guint n = summary->losses->len;
  gdouble *epochs = g_new (gdouble, n);

  for (guint i = 0; i < n; i++)
    epochs[i] = i + 1;
  add_lines (report, "Loss on the rows that end the training", "epoch",
      "cross-entropy",
      &(PlotSeries){
          NULL, epochs, (const gdouble *) (gpointer) summary->losses->data, n },
      1);
  g_free (epochs);
}

static void
add_reliability (const PbfEvaluation *evaluation, Report *report)
{
  static const gdouble diagonal[] = { 0, 1 };
  gdouble x[PBF_RELIABILITY_BINS], y[PBF_RELIABILITY_BINS];
  guint n = 0;

  for (guint bin = 0; bin < PBF_RELIABILITY_BINS; bin++)
    if (evaluation->bin_n[bin] >= 10) {
      x[n] = evaluation->bin_confidence[bin];
      y[n++] = evaluation->bin_accuracy[bin];
    }
  add_lines (report,
      "Reliability: fraction of right answers by their probability, in bins of "
      "10 rows at least",
      "probability of the answer", "fraction right",
      (PlotSeries[]){
          { "network", x, y, n }, { "ideal", diagonal, diagonal, 2 } },
      2);
}

static void
add_coverage (const PbfEvaluation *evaluation, Report *report)
{
  gdouble x[PBF_COVERAGE_POINTS], y[PBF_COVERAGE_POINTS];

  for (guint i = 0; i < PBF_COVERAGE_POINTS; i++) {
    x[i] = 100.0 * (i + 1) / PBF_COVERAGE_POINTS;
    y[i] = 100 * evaluation->coverage_accuracy[i];
  }
  add_lines (report,
      "Coverage: accuracy of the rows with the most probable answers",
      "rows that are answered, %", "accuracy of these, %",
      &(PlotSeries){ NULL, x, y, PBF_COVERAGE_POINTS }, 1);
}

/* Returns: whether the severity of defects is known */
static gboolean
add_severity (const PbfEvaluation *evaluation, Report *report)
{
  gdouble x[PBF_SEVERITY_BINS], y[PBF_SEVERITY_BINS];
  guint n = 0;

  for (guint bin = 0; bin < PBF_SEVERITY_BINS; bin++)
    if (evaluation->severity_n[bin] > 0) {
      x[n] = (bin + 0.5) / PBF_SEVERITY_BINS;
      y[n++] = 100 * evaluation->severity_accuracy[bin];
    }
  if (n > 0)
    add_lines (report, "Defects that are recognised, by their severity",
        "severity", "recognised, %", &(PlotSeries){ NULL, x, y, n }, 1);
  return n > 0;
}

/* --- importance ------------------------------------------------------------ */

#define IMPORTANCE_ROWS 20000
#define IMPORTANT 12

static void
add_importance (const TrainSummary *summary, Report *report)
{
  static const gchar *const head[] = { "feature", "loss, percentage points",
    NULL };
  const PbfSplit *split = &summary->split;
  const gsize n = split->n[PBF_PART_TEST];
  const gsize stride = (n + IMPORTANCE_ROWS - 1) / IMPORTANCE_ROWS;
  guint32 *rows = g_new (guint32, n);
  gdouble importance[CVIS_PBF_N_FEATURES];
  gsize kept = 0;

  for (gsize r = 0; r < n; r += stride)
    rows[kept++] = split->rows[PBF_PART_TEST][r];
  pbf_importance (
      summary->network, summary->dataset, rows, kept, 1, importance);
  report_begin_table (report, head);
  for (guint i = 0; i < IMPORTANT; i++) {
    guint best = 0;
    gchar *loss;

    for (guint f = 1; f < CVIS_PBF_N_FEATURES; f++)
      if (importance[f] > importance[best])
        best = f;
    loss = g_strdup_printf ("%.2f", 100 * importance[best]);
    report_add_row (
        report, (const gchar *const[]){ pbf_feature_name (best), loss, NULL });
    importance[best] = -INFINITY;
    g_free (loss);
  }
  report_end_table (report);
  g_free (rows);
}

/* --- gaps of the data ------------------------------------------------------ */

static void
add_class_gaps (const TrainSummary *summary, Report *report)
{
  static const gchar *const head[] = { "class", "rows", "groups", "machines",
    NULL };
  const PbfDataset *dataset = summary->dataset;

  report_begin_table (report, head);
  for (guint c = 0; c < dataset->n_classes; c++) {
    gboolean *groups = g_new0 (gboolean, dataset->group_names->len);
    gboolean *machines = g_new0 (gboolean, dataset->machine_stats->len);
    guint n_groups = 0, n_machines = 0;
    gsize rows = 0;
    gchar *cells[5] = { g_strdup (dataset->classes[c]) };

    for (gsize r = 0; r < dataset->n; r++)
      if (dataset->labels[r] == c) {
        rows++;
        n_groups += !groups[dataset->groups[r]];
        n_machines += !machines[dataset->machines[r]];
        groups[dataset->groups[r]] = machines[dataset->machines[r]] = TRUE;
      }
    cells[1] = g_strdup_printf ("%" G_GSIZE_FORMAT, rows);
    cells[2] = g_strdup_printf ("%u", n_groups);
    cells[3] = g_strdup_printf ("%u", n_machines);
    report_add_row (report, (const gchar *const *) cells);
    for (guint i = 0; i < 4; i++)
      g_free (cells[i]);
    g_free (groups);
    g_free (machines);
  }
  report_end_table (report);
}

static void
add_gaps (const TrainSummary *summary, gboolean severity, Report *report)
{
  const PbfLoading *loading = &summary->loading;

  add_class_gaps (summary, report);
  report_add_paragraph (report,
      "Frames of a state that is not in this table are answered \"unknown\" if "
      "their features are unlike those of all classes, and otherwise with one "
      "of "
      "the classes, often with a high probability: a state that resembles a "
      "class is taken for it.");
  if (summary->dataset->machine_stats->len == 1)
    report_add_paragraph (report,
        "All rows are of one machine. Nothing is known about other machines, "
        "and "
        "nothing about this one after a change of camera, optics or material.");
  if (summary->by_layer)
    report_add_paragraph (report,
        "Training and test are layers of the same files. The figures are those "
        "of "
        "these builds; in another build they are lower.");
  if (!severity)
    report_add_paragraph (
        report, "The severity of the defects is not known to this page.");
  if (loading->rows > 0)
    report_add_paragraph (report,
        "%" G_GUINT64_FORMAT " frames have no label, %" G_GUINT64_FORMAT
        " were not used (laser off, window not full, late).",
        loading->unlabelled, loading->unused);
  if (summary->baseline_n > 0)
    report_add_paragraph (report,
        "The inputs are scaled for a baseline of %" G_GSIZE_FORMAT " frames.",
        summary->baseline_n);
}

void
train_report_fill (const TrainSummary *summary, Report *report)
{
  const PbfEvaluation *evaluation = &summary->evaluation;
  gboolean severity;

  report_add_paragraph (report,
      "Balanced accuracy %.2f %% on rows that were not trained on, %.2f %% on "
      "the "
      "worst machine. Expected calibration error %.2f %%. %.2f %% of the rows "
      "are "
      "answered \"unknown\", which counts as wrong. Trained on %s.",
      100 * evaluation->balanced,
      100
          * g_array_index (
              evaluation->machines, PbfMachineScore, evaluation->worst)
                .balanced,
      100 * evaluation->calibration_error,
      100 * (gdouble) evaluation->rejected / (gdouble) evaluation->n,
      summary->network->about);
  add_training_table (summary, report);
  report_add_heading (report, "Answers by class");
  add_confusion (summary, report);
  report_add_heading (report, "Machines with the lowest accuracy");
  add_machines (summary, report);
  report_add_heading (report, "Probabilities");
  add_reliability (evaluation, report);
  add_coverage (evaluation, report);
  severity = add_severity (evaluation, report);
  report_add_heading (report, "Importance of features");
  report_add_paragraph (report,
      "Balanced accuracy that is lost if each row gets the feature of another "
      "row. Features that resemble each other share their importance.");
  add_importance (summary, report);
  report_add_heading (report, "Course of the training");
  add_losses (summary, report);
  report_add_heading (report, "Limits of the data");
  add_gaps (summary, severity, report);
}
