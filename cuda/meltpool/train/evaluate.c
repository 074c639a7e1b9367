/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/meltpool/baseline.h"
#include "cuda/meltpool/cpu/cpu.h"
#include "cuda/meltpool/train/random.h"
#include "cuda/meltpool/vote.h"

#define N_FEATURES CVIS_PBF_N_FEATURES

guint
pbf_network_choose (const PbfNetwork *network, const gfloat *outputs)
{
  guint found;

  pbf_find_class (
      outputs, network->outputs, network->unknown, PBF_UNKNOWN_LIMIT, &found);
  return found;
}

/* --- answers --------------------------------------------------------------- */

/* The network as the element has it, for the machine of the row at hand. */
typedef struct {
  const PbfDataset *dataset;
  PbfNetwork folded; /* scaling only; the rest belongs to the caller's */
  PbfModel *model;
  PbfParams params;
  guint machine;
} Predictor;

static void
predictor_init (
    Predictor *self, const PbfNetwork *network, const PbfDataset *dataset)
{
  GBytes *bytes = pbf_network_to_bytes (network);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  GError *error = NULL;
  PbfConfig config;

  *self = (Predictor){ dataset, *network };
  self->machine = G_MAXUINT;
  self->model = pbf_model_parse (data, size, &error);
  g_assert_no_error (error); /* a network of training is a valid file */
  pbf_config_init (&config);
  config.activation = self->model->activation;
  pbf_params_init (&self->params, &config);
  g_bytes_unref (bytes);
}

static void
predictor_choose (Predictor *self, guint machine)
{
  if (machine == self->machine)
    return;
  self->machine = machine;
  pbf_network_fold (&self->folded,
      g_array_index (self->dataset->machine_stats, PbfMachineStats, machine)
          .mean);
  for (guint i = 0; i < N_FEATURES; i++) {
    self->model->mean[i] = self->folded.mean[i];
    self->model->inv_std[i] = 1.0f / self->folded.std[i];
  }
}

static void
predictor_ask (Predictor *self, const gfloat *features, gfloat *probabilities)
{
  CvisPbfResult result;

  memcpy (result.features, features, sizeof result.features);
  pbf_cpu_kernels ()->network (&self->params, self->model, &result);
  memcpy (probabilities, result.outputs,
      self->model->outputs * sizeof *probabilities);
}

gfloat *
pbf_predict (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n)
{
  gfloat *probabilities = g_new (gfloat, n * network->outputs + 1);
  Predictor predictor;

  predictor_init (&predictor, network, dataset);
  for (gsize r = 0; r < n; r++) {
    predictor_choose (&predictor, dataset->machines[rows[r]]);
    predictor_ask (&predictor, dataset->features + (gsize) rows[r] * N_FEATURES,
        probabilities + r * network->outputs);
  }
  pbf_model_unref (predictor.model);
  return probabilities;
}

/* --- figures --------------------------------------------------------------- */

/* Mean fraction recognised of the classes that occur; @recall: (nullable) */
static gdouble
balance (const guint64 (*confusion)[CVIS_PBF_MAX_OUTPUTS], guint n_classes,
    gdouble *recall)
{
  gdouble sum = 0;
  guint present = 0;

  for (guint c = 0; c < n_classes; c++) {
    guint64 rows = 0;

    for (guint o = 0; o < CVIS_PBF_MAX_OUTPUTS; o++)
      rows += confusion[c][o];
    if (recall != NULL)
      recall[c] = rows > 0 ? (gdouble) confusion[c][c] / (gdouble) rows : NAN;
    if (rows > 0) {
      sum += (gdouble) confusion[c][c] / (gdouble) rows;
      present++;
    }
  }
  return present > 0 ? sum / present : NAN;
}

typedef guint64 Confusion[CVIS_PBF_MAX_OUTPUTS][CVIS_PBF_MAX_OUTPUTS];

static void
score_machines (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n, const gfloat *outputs,
    PbfEvaluation *evaluation)
{
  const guint classes = dataset->n_classes;
  Confusion *confusions = g_new0 (Confusion, dataset->machine_stats->len);

  for (gsize r = 0; r < n; r++)
    confusions[dataset->machines[rows[r]]][dataset->labels[rows[r]]]
              [pbf_network_choose (network, outputs + r * network->outputs)]++;
  evaluation->machines = g_array_new (FALSE, FALSE, sizeof (PbfMachineScore));
  for (guint m = 0; m < dataset->machine_stats->len; m++) {
    PbfMachineScore score = { .machine = m };

    for (guint c = 0; c < classes; c++)
      for (guint o = 0; o < network->outputs; o++)
        score.n += confusions[m][c][o];
    if (score.n == 0)
      continue;
    score.balanced = balance (
        (const guint64 (*)[CVIS_PBF_MAX_OUTPUTS]) confusions[m], classes, NULL);
    if (evaluation->machines->len == 0
        || score.balanced < g_array_index (
               evaluation->machines, PbfMachineScore, evaluation->worst)
                                .balanced)
      evaluation->worst = evaluation->machines->len;
    g_array_append_val (evaluation->machines, score);
  }
  g_free (confusions);
}

static void
score_row (const PbfNetwork *network, const PbfDataset *dataset, guint32 row,
    const gfloat *outputs, PbfEvaluation *evaluation)
{
  const guint label = dataset->labels[row];
  const guint answer = pbf_network_choose (network, outputs);
  const gfloat confidence = outputs[answer];
  const gfloat severity = dataset->severity[row];
  const guint bin = MIN (
      (guint) (confidence * PBF_RELIABILITY_BINS), PBF_RELIABILITY_BINS - 1);

  evaluation->confusion[label][answer]++;
  if (answer >= dataset->n_classes) {
    evaluation->rejected++;
  } else {
    evaluation->bin_n[bin]++;
    evaluation->bin_confidence[bin] += confidence;
    evaluation->bin_accuracy[bin] += answer == label;
  }
  if (label > 0 && !isnan (severity)) {
    const guint at =
        MIN ((guint) (severity * PBF_SEVERITY_BINS), PBF_SEVERITY_BINS - 1);

    evaluation->severity_n[at]++;
    evaluation->severity_accuracy[at] += answer == label;
  }
}

/* Confidence and whether the answer is right, for the coverage curve. */
typedef struct {
  gfloat confidence;
  gboolean right;
} Answer;

static gint
compare_answers (gconstpointer a, gconstpointer b)
{
  const gfloat x = ((const Answer *) a)->confidence,
               y = ((const Answer *) b)->confidence;

  return (x < y) - (x > y);
}

static void
find_coverage (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n, const gfloat *outputs,
    PbfEvaluation *evaluation)
{
  Answer *answers = g_new (Answer, n);
  gsize right = 0;
  guint point = 0;

  for (gsize r = 0; r < n; r++) {
    const gfloat *of_row = outputs + r * network->outputs;
    const guint answer = pbf_network_choose (network, of_row);

    /* unknown rows are answered last */
    answers[r] = (Answer){ answer < dataset->n_classes ? of_row[answer]
                                                       : -of_row[answer],
      answer == dataset->labels[rows[r]] };
  }
  qsort (answers, n, sizeof *answers, compare_answers);
  for (gsize r = 0; r < n; r++) {
    right += answers[r].right;
    while (point < PBF_COVERAGE_POINTS
           && (r + 1) * PBF_COVERAGE_POINTS >= (point + 1) * n)
      evaluation->coverage_accuracy[point++] =
          (gdouble) right / (gdouble) (r + 1);
  }
  g_free (answers);
}

void
pbf_evaluate (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n, const gfloat *outputs,
    PbfEvaluation *evaluation)
{
  *evaluation = (PbfEvaluation){
    .n_classes = dataset->n_classes, .n_answers = network->outputs, .n = n
  };
  for (gsize r = 0; r < n; r++)
    score_row (
        network, dataset, rows[r], outputs + r * network->outputs, evaluation);
  for (guint bin = 0; bin < PBF_RELIABILITY_BINS; bin++) {
    const gdouble in_bin = (gdouble) MAX (evaluation->bin_n[bin], 1);

    evaluation->calibration_error +=
        fabs (evaluation->bin_confidence[bin] - evaluation->bin_accuracy[bin])
        / (gdouble) MAX (n - evaluation->rejected, 1);
    evaluation->bin_confidence[bin] /= in_bin;
    evaluation->bin_accuracy[bin] /= in_bin;
  }
  for (guint bin = 0; bin < PBF_SEVERITY_BINS; bin++)
    evaluation->severity_accuracy[bin] /=
        (gdouble) MAX (evaluation->severity_n[bin], 1);
  evaluation->balanced =
      balance ((const guint64 (*)[CVIS_PBF_MAX_OUTPUTS]) evaluation->confusion,
          dataset->n_classes, evaluation->recall);
  score_machines (network, dataset, rows, n, outputs, evaluation);
  find_coverage (network, dataset, rows, n, outputs, evaluation);
}

void
pbf_evaluation_clear (PbfEvaluation *evaluation)
{
  g_clear_pointer (&evaluation->machines, g_array_unref);
}

/* --- importance ------------------------------------------------------------ */

static gdouble
balance_permuted (Predictor *predictor, const guint32 *rows, gsize n,
    guint feature, const gfloat *inputs)
{
  const PbfDataset *dataset = predictor->dataset;
  Confusion confusion = { { 0 } };

  for (gsize r = 0; r < n; r++) {
    gfloat features[N_FEATURES], probabilities[CVIS_PBF_MAX_OUTPUTS];

    memcpy (features, dataset->features + (gsize) rows[r] * N_FEATURES,
        sizeof features);
    predictor_choose (predictor, dataset->machines[rows[r]]);
    if (inputs != NULL)
      features[feature] = predictor->folded.mean[feature]
                          + predictor->folded.std[feature] * inputs[r];
    predictor_ask (predictor, features, probabilities);
    confusion[dataset->labels[rows[r]]]
             [pbf_network_choose (&predictor->folded, probabilities)]++;
  }
  return balance ((const guint64 (*)[CVIS_PBF_MAX_OUTPUTS]) confusion,
      dataset->n_classes, NULL);
}

void
pbf_importance (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n, guint64 seed, gdouble importance[N_FEATURES])
{
  PbfRandomState random = pbf_random_init (seed, 4);
  guint32 *order = g_new (guint32, n);
  gfloat *inputs = g_new (gfloat, n);
  Predictor predictor;
  gdouble whole;

  predictor_init (&predictor, network, dataset);
  whole = balance_permuted (&predictor, rows, n, 0, NULL);
  for (gsize r = 0; r < n; r++)
    order[r] = (guint32) r;
  pbf_random_shuffle (&random, order, n);
  for (guint f = 0; f < N_FEATURES; f++) {
    for (gsize r = 0; r < n; r++) {
      const guint32 other = rows[order[r]];

      predictor_choose (&predictor, dataset->machines[other]);
      inputs[r] = (dataset->features[(gsize) other * N_FEATURES + f]
                      - predictor.folded.mean[f])
                  / predictor.folded.std[f];
    }
    importance[f] = whole - balance_permuted (&predictor, rows, n, f, inputs);
  }
  pbf_model_unref (predictor.model);
  g_free (inputs);
  g_free (order);
}

/* --- baselines ------------------------------------------------------------- */

guint
pbf_find_impurity (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n, gdouble *fraction)
{
  gfloat (*features)[N_FEATURES] = g_malloc_n (n, sizeof *features);
  Predictor predictor;
  guint other;

  predictor_init (&predictor, network, dataset);
  predictor_choose (&predictor, dataset->machines[rows[0]]);
  for (gsize r = 0; r < n; r++)
    memcpy (features[r], dataset->features + (gsize) rows[r] * N_FEATURES,
        sizeof features[r]);
  other = pbf_model_find_impurity (predictor.model,
      (const gfloat (*)[N_FEATURES]) features, (guint) n, fraction);
  pbf_model_unref (predictor.model);
  g_free (features);
  return other;
}
