/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Training: gradients against differences, equal bytes for all numbers of threads and
 * instruction sets, splits by group, files, baselines, bad input. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "cuda/core/backend.h"
#include "cuda/core/cancel.h"
#include "cuda/meltpool/engine.h"
#include "cuda/meltpool/train/evaluate.h"
#include "cuda/meltpool/train/kernels.h"
#include "cuda/meltpool/train/random.h"
#include "cuda/meltpool/train/simulate.h"
#include "cuda/meltpool/train/trainer.h"

#define N CVIS_PBF_N_FEATURES

static const gchar *const classes[] = { "good", "left", "right", NULL };

/* Three classes apart in the first two features, in groups of 30 rows of each; machine
 * m has all features multiplied by 1 + m. */
static PbfDataset *
make_dataset (guint groups, guint machines)
{
  PbfDataset *dataset = pbf_dataset_new (classes);
  PbfRandomState random = pbf_random_init (5, 0);

  for (guint m = 0; m < machines; m++)
    pbf_dataset_add_machine (dataset, m == 0 ? "first" : "second");
  for (guint g = 0; g < groups; g++) {
    pbf_dataset_add_group (dataset, "group");
    for (guint r = 0; r < 90; r++) {
      const guint label = r % 3;
      gfloat x[N];

      for (guint i = 0; i < N; i++)
        x[i] = (gfloat) pbf_random_between (&random, 9, 11);
      x[0] += label == 1 ? 3 : 0;
      x[1] += label == 2 ? 3 : 0;
      for (guint i = 0; i < N; i++)
        x[i] *= (gfloat) (1 + g % machines);
      pbf_dataset_add_row (dataset, g % machines, g, label, NAN, x);
    }
  }
  return dataset;
}

static PbfNetwork *
train (const PbfDataset *dataset, guint threads, guint epochs,
    PbfTraining *training)
{
  PbfTrainConfig config;
  PbfSplit split;
  PbfNetwork *network;
  GError *error = NULL;

  pbf_train_config_init (&config);
  config.hidden = 20;
  config.epochs = epochs;
  config.batch = 100;
  config.threads = threads;
  g_assert_true (pbf_dataset_split (dataset, 0.2, 1, &split, &error));
  network = pbf_train (dataset, &split, &config, training, &error);
  g_assert_no_error (error);
  pbf_split_clear (&split);
  return network;
}

/* --- arithmetic ------------------------------------------------------------ */

typedef struct {
  PbfTrainShape shape;
  PbfTrainRows rows;
  gfloat *weights;
} Problem;

static void
make_problem (Problem *p, guint n)
{
  PbfRandomState random = pbf_random_init (9, 0);

  p->shape = (PbfTrainShape){ 32, 3, N * 32, N * 32 + 32, N * 32 + 4 * 32,
    N * 32 + 4 * 32 + PBF_TRAIN_LANES };
  p->weights = g_new0 (gfloat, p->shape.n);
  for (guint k = 0; k < p->shape.b2 + 3; k++)
    p->weights[k] = (gfloat) pbf_random_between (&random, -0.3, 0.3);
  memset (&p->rows, 0, sizeof p->rows);
  p->rows.n = n;
  p->rows.hidden = g_new0 (gfloat, PBF_TRAIN_ROWS * 32);
  p->rows.back = g_new0 (gfloat, PBF_TRAIN_ROWS * 32);
  for (guint r = 0; r < n; r++) {
    for (guint i = 0; i < N; i++)
      p->rows.x[r][i] = (gfloat) pbf_random_between (&random, -2, 2);
    p->rows.labels[r] = r % 3;
    p->rows.weights[r] = 0.5f + (gfloat) (r % 2);
  }
}

static void
clear_problem (Problem *p)
{
  g_free (p->weights);
  g_free (p->rows.hidden);
  g_free (p->rows.back);
}

/* The loss in double arithmetic, written anew. */
static gdouble
plain_loss (const Problem *p)
{
  const guint padded = p->shape.padded;
  gdouble loss = 0;

  for (guint r = 0; r < p->rows.n; r++) {
    gdouble out[3], sum = 0;

    for (guint o = 0; o < 3; o++)
      out[o] = p->weights[p->shape.b2 + o];
    for (guint j = 0; j < padded; j++) {
      gdouble h = p->weights[p->shape.b1 + j];

      for (guint i = 0; i < N; i++)
        h += (gdouble) p->weights[i * padded + j] * p->rows.x[r][i];
      for (guint o = 0; o < 3; o++)
        out[o] += MAX (h, 0) * p->weights[p->shape.w2 + o * padded + j];
    }
    for (guint o = 0; o < 3; o++)
      sum += exp (out[o]);
    loss += p->rows.weights[r] * (log (sum) - out[p->rows.labels[r]]);
  }
  return loss;
}

static void
test_gradient (void)
{
  Problem p;
  gfloat *gradient;
  guint checked = 0;

  make_problem (&p, 30);
  gradient = g_new (gfloat, p.shape.n);
  pbf_train_generic.forward (&p.shape, p.weights, &p.rows);
  pbf_train_generic.backward (&p.shape, p.weights, &p.rows, gradient);
  for (guint k = 0; k < p.shape.b2 + 3; k += k < p.shape.b1 ? 7 : 1) {
    const gfloat kept = p.weights[k];
    gdouble losses[2], expected;

    p.weights[k] = kept + 1e-3f;
    losses[1] = plain_loss (&p);
    p.weights[k] = kept - 1e-3f;
    losses[0] = plain_loss (&p);
    p.weights[k] = kept;
    expected = (losses[1] - losses[0]) / 2e-3;
    /* a hidden unit may pass 0 in between */
    checked += fabs (gradient[k] - expected) < 2e-2 + 1e-2 * fabs (expected);
  }
  g_assert_cmpuint (checked, >=, (p.shape.b1 / 7 + 32 * 4) * 99 / 100);
  g_free (gradient);
  clear_problem (&p);
}

/* Every instruction set of the processor, batches of any size. */
static void
test_levels (void)
{
  const PbfTrainKernels *tables[] = {
    &pbf_train_generic,
#if defined(__x86_64__)
    cvis_cpu_level () >= CVIS_CPU_V3 ? &pbf_train_v3 : &pbf_train_generic,
    cvis_cpu_level () >= CVIS_CPU_V4 ? &pbf_train_v4 : &pbf_train_generic,
#endif
  };

  for (guint n = 1; n <= PBF_TRAIN_ROWS; n++) {
    gfloat *kept = NULL;

    for (guint t = 0; t < G_N_ELEMENTS (tables); t++) {
      const PbfAdam adam = { 1e-3f, 0.9f, 0.999f, 1e-8f };
      gfloat *gradient, *moments;
      Problem p;

      make_problem (&p, n);
      gradient = g_new (gfloat, 2 * p.shape.n);
      moments = g_new0 (gfloat, 2 * p.shape.n);
      tables[t]->forward (&p.shape, p.weights, &p.rows);
      tables[t]->backward (&p.shape, p.weights, &p.rows, gradient);
      memcpy (gradient + p.shape.n, gradient, p.shape.n * sizeof *gradient);
      tables[t]->step (&p.shape, &adam, gradient, 2, moments,
          moments + p.shape.n, p.weights);
      if (kept == NULL)
        kept = g_memdup2 (p.weights, p.shape.n * sizeof *kept);
      g_assert_cmpmem (
          kept, p.shape.n * sizeof *kept, p.weights, p.shape.n * sizeof *kept);
      g_free (gradient);
      g_free (moments);
      clear_problem (&p);
    }
    g_free (kept);
  }
}

/* --- training -------------------------------------------------------------- */

static void
test_threads (void)
{
  PbfDataset *dataset = make_dataset (20, 2);
  static const guint threads[] = { 1, 2, 7 };
  GBytes *first = NULL;

  g_assert_true (pbf_dataset_find_baselines (dataset, NULL));
  for (guint t = 0; t < G_N_ELEMENTS (threads); t++) {
    PbfTraining training;
    PbfNetwork *network = train (dataset, threads[t], 3, &training);
    GBytes *bytes = pbf_network_to_bytes (network);

    if (first == NULL)
      first = g_bytes_ref (bytes);
    g_assert_true (g_bytes_equal (first, bytes));
    g_bytes_unref (bytes);
    pbf_network_free (network);
  }
  g_bytes_unref (first);
  pbf_dataset_free (dataset);
}

/* Of every tenth row, moved far from all classes, those that are answered as unknown */
static guint
count_far_unknown (const PbfNetwork *network, const PbfDataset *dataset)
{
  PbfDataset *moved = pbf_dataset_new (classes);
  guint32 rows[1000];
  gfloat *outputs;
  guint n = 0;

  for (guint m = 0; m < dataset->machine_stats->len; m++) {
    PbfMachineStats *stats;

    pbf_dataset_add_machine (moved, "moved");
    stats = &g_array_index (moved->machine_stats, PbfMachineStats, m);
    memcpy (stats->mean,
        g_array_index (dataset->machine_stats, PbfMachineStats, m).mean,
        sizeof stats->mean);
  }
  for (gsize r = 0; r < dataset->n && moved->n < 1000; r += 10) {
    gfloat x[N];

    for (guint i = 0; i < N; i++)
      x[i] = dataset->features[r * N + i] * (i % 2 ? 0.6f : 1.6f);
    rows[moved->n] = (guint32) moved->n;
    pbf_dataset_add_row (moved, dataset->machines[r], 0, 0, NAN, x);
  }
  outputs = pbf_predict (network, moved, rows, moved->n);
  for (gsize r = 0; r < moved->n; r++)
    n += pbf_network_choose (network, outputs + r * network->outputs) == 3;
  g_free (outputs);
  pbf_dataset_free (moved);
  return n;
}

/* Rows of machines with other gains, which baselines make equal. */
static void
test_learns (void)
{
  PbfDataset *dataset = make_dataset (60, 2);
  gdouble importance[N];
  PbfEvaluation evaluation;
  PbfTraining training;
  PbfNetwork *network;
  PbfSplit split;
  gfloat *answers;

  g_assert_true (pbf_dataset_find_baselines (dataset, NULL));
  network = train (dataset, 2, 40, &training);
  g_assert_cmpuint (training.epochs, >=, training.best_epoch);
  g_assert_cmpfloat (training.temperature, >, 0.2);
  g_assert_true (pbf_dataset_split (dataset, 0.2, 1, &split, NULL));
  answers = pbf_predict (
      network, dataset, split.rows[PBF_PART_TEST], split.n[PBF_PART_TEST]);
  pbf_evaluate (network, dataset, split.rows[PBF_PART_TEST],
      split.n[PBF_PART_TEST], answers, &evaluation);
  g_assert_cmpfloat (evaluation.balanced, >, 0.98);
  g_assert_cmpfloat (evaluation.calibration_error, <, 0.05);
  g_assert_cmpuint (evaluation.machines->len, ==, 2);
  g_assert_cmpuint (evaluation.n_answers, ==, 4);
  g_assert_cmpuint (evaluation.rejected, <, evaluation.n / 20);
  g_assert_cmpuint (count_far_unknown (network, dataset), >, dataset->n / 50);
  g_assert_cmpfloat (evaluation.coverage_accuracy[PBF_COVERAGE_POINTS / 2], >=,
      evaluation.coverage_accuracy[PBF_COVERAGE_POINTS - 1]);
  pbf_importance (network, dataset, split.rows[PBF_PART_TEST],
      split.n[PBF_PART_TEST], 1, importance);
  g_assert_cmpfloat (importance[0], >, 0.2);
  g_assert_cmpfloat (importance[1], >, 0.2);
  g_assert_cmpfloat (fabs (importance[7]), <, 0.05);
  pbf_evaluation_clear (&evaluation);
  g_free (answers);
  pbf_split_clear (&split);
  pbf_network_free (network);
  pbf_dataset_free (dataset);
}

static void
cancel_after_two (const PbfTrainEpoch *epoch, gpointer data)
{
  if (epoch->number == 2)
    g_atomic_int_set ((gint *) data, 1);
}

/* A cancelled training gives the best network so far, or none. */
static void
test_cancelled (void)
{
  PbfDataset *dataset = make_dataset (20, 1);
  PbfTrainConfig config;
  PbfTraining training;
  PbfNetwork *network;
  GError *error = NULL;
  PbfSplit split;
  gint flag = 0;

  g_assert_true (pbf_dataset_find_baselines (dataset, NULL));
  g_assert_true (pbf_dataset_split (dataset, 0.2, 1, &split, NULL));
  pbf_train_config_init (&config);
  config.epoch = cancel_after_two;
  config.data = &flag;
  cvis_cancel_watch (&flag);
  network = pbf_train (dataset, &split, &config, &training, &error);
  g_assert_no_error (error);
  g_assert_true (training.cancelled);
  g_assert_cmpuint (training.epochs, ==, 2);
  pbf_network_free (network);
  network = pbf_train (dataset, &split, &config, &training, &error);
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_CANCELLED);
  g_assert_null (network);
  g_clear_error (&error);
  cvis_cancel_watch (NULL);
  pbf_split_clear (&split);
  pbf_dataset_free (dataset);
}

/* --- splits and bad input -------------------------------------------------- */

static void
test_split (void)
{
  PbfDataset *dataset = make_dataset (20, 1);
  guint8 parts[20];
  PbfSplit split;
  gsize n = 0;

  g_assert_true (pbf_dataset_split (dataset, 0.2, 7, &split, NULL));
  memset (parts, 0xff, sizeof parts);
  for (guint p = 0; p < PBF_N_PARTS; p++) {
    n += split.n[p];
    for (gsize r = 0; r < split.n[p]; r++) {
      const guint group = dataset->groups[split.rows[p][r]];

      g_assert_true (parts[group] == 0xff || parts[group] == p);
      parts[group] = p;
    }
  }
  g_assert_cmpuint (n, ==, dataset->n);
  g_assert_cmpuint (split.n_groups[PBF_PART_TEST], ==, 4);
  g_assert_cmpuint (split.n_groups[PBF_PART_STOP], ==, 2);
  pbf_split_clear (&split);
  pbf_dataset_free (dataset);
}

static void
expect_refused (PbfDataset *dataset, const gchar *words)
{
  GError *error = NULL;
  PbfSplit split;

  g_assert_false (pbf_dataset_split (dataset, 0.2, 1, &split, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  if (strstr (error->message, words) == NULL)
    g_error ("\"%s\" is not in: %s", words, error->message);
  g_clear_error (&error);
  pbf_dataset_free (dataset);
}

static void
test_refused (void)
{
  PbfDataset *dataset = make_dataset (2, 1);
  PbfTrainConfig config;
  PbfTraining training;
  GError *error = NULL;
  PbfSplit split;

  expect_refused (dataset, "2 groups of rows cannot be split");
  dataset = make_dataset (5, 1);
  for (gsize r = 0; r < dataset->n; r++)
    dataset->labels[r] = dataset->labels[r] == 2 ? 0 : dataset->labels[r];
  expect_refused (dataset, "class \"right\" has no rows");
  dataset = make_dataset (5, 1);
  for (gsize r = 0; r < dataset->n; r++)
    if (dataset->groups[r] > 1 && dataset->labels[r] == 1)
      dataset->labels[r] = 0;
  expect_refused (dataset, "class \"left\" occurs in 2 of 5 groups");
  dataset = make_dataset (4, 1);
  expect_refused (dataset, "class \"good\" has 120 rows, 150 are needed");

  dataset = make_dataset (20, 1);
  g_assert_true (pbf_dataset_find_baselines (dataset, NULL));
  g_assert_true (pbf_dataset_split (dataset, 0.2, 1, &split, NULL));
  pbf_train_config_init (&config);
  config.rate = 0;
  g_assert_null (pbf_train (dataset, &split, &config, &training, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_clear_error (&error);
  pbf_train_config_init (&config);
  dataset->features[(gsize) split.rows[PBF_PART_TRAIN][3] * N + 5] = NAN;
  g_assert_null (pbf_train (dataset, &split, &config, &training, &error));
  g_assert_error (error, CVIS_ERROR, CVIS_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "feature 5 is nan"));
  g_clear_error (&error);
  pbf_split_clear (&split);
  pbf_dataset_free (dataset);

  dataset = make_dataset (20, 1);
  pbf_dataset_add_machine (dataset, "third");
  g_assert_false (pbf_dataset_find_baselines (dataset, &error));
  g_assert_nonnull (
      strstr (error->message, "machine \"third\" has 0 nominal rows"));
  g_clear_error (&error);
  pbf_dataset_free (dataset);
}

/* --- files ----------------------------------------------------------------- */

/* The element reads the file; its scaling is that of the machine. */
static void
test_file (void)
{
  PbfDataset *dataset = make_dataset (20, 2);
  gchar *folder = g_dir_make_tmp ("pbftrain-XXXXXX", NULL);
  gchar *name = g_build_filename (folder, "net.safetensors", NULL);
  gdouble means[N];
  PbfTraining training;
  PbfNetwork *network, *read;
  GError *error = NULL;
  GBytes *bytes, *again;
  PbfModel *model;

  g_assert_true (pbf_dataset_find_baselines (dataset, NULL));
  network = train (dataset, 1, 2, &training);
  for (guint i = 0; i < N; i++)
    means[i] = 20 + i;
  network->threshold = 90;
  network->window = 30;
  network->machine = g_strdup ("EOS \"4\"");
  pbf_network_fold (network, means);
  bytes = pbf_network_to_bytes (network);
  g_assert_true (g_file_set_contents (name, g_bytes_get_data (bytes, NULL),
      (gssize) g_bytes_get_size (bytes), NULL));
  model = pbf_model_load (name, &error);
  g_assert_no_error (error);
  g_assert_cmpint (model->threshold, ==, 90);
  g_assert_cmpint (model->window, ==, 30);
  g_assert_cmpstr (model->names[2], ==, "right");
  g_assert_cmpstr (model->names[3], ==, "unknown");
  g_assert_true (model->unknown);
  for (guint i = 0; i < N; i++) {
    const gdouble s = means[i] + 0.1 * network->base_sigma[i];

    g_assert_cmpfloat (
        fabs (model->mean[i] - (means[i] + network->base_mean[i] * s)), <,
        1e-3);
    g_assert_cmpfloat (
        fabs (model->inv_std[i] * network->base_std[i] * s - 1), <, 1e-5);
  }
  read = pbf_network_load (name, &error);
  g_assert_no_error (error);
  again = pbf_network_to_bytes (read);
  g_assert_true (g_bytes_equal (bytes, again));
  g_assert_true (pbf_network_check_machine (read, "EOS \"4\"", NULL));
  g_assert_false (pbf_network_check_machine (read, "SLM 1", &error));
  g_assert_nonnull (strstr (error->message, "of machine \"SLM 1\""));
  g_clear_error (&error);
  g_assert_false (pbf_network_check_machine (read, NULL, NULL));
  pbf_model_unref (model);
  pbf_network_free (read);
  pbf_network_free (network);
  g_bytes_unref (bytes);
  g_bytes_unref (again);
  pbf_dataset_free (dataset);
  g_remove (name);
  g_rmdir (folder);
  g_free (name);
  g_free (folder);
}

/* --- simulated machines ---------------------------------------------------- */

static gchar *
digest_simulation (const PbfSimulation *simulation)
{
  PbfDataset *dataset = pbf_dataset_new (pbf_simulation_classes);
  GError *error = NULL;
  gchar *sum;

  g_assert_true (pbf_simulate (simulation, dataset, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (
      dataset->n, ==, 5 * simulation->settings * simulation->rows);
  sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256,
      (const guchar *) dataset->features, dataset->n * N * sizeof (gfloat));
  for (gsize r = 0; r < dataset->n; r++) {
    g_assert_cmpuint (dataset->labels[r], ==, r / simulation->rows % 5);
    g_assert_cmpuint (dataset->machines[r], ==, r / simulation->rows / 5);
    if (dataset->labels[r] == 0)
      g_assert_cmpfloat (dataset->severity[r], ==, 0);
    else
      g_assert_cmpfloat (
          dataset->severity[r], >=, simulation->least_severity - 0.005);
  }
  pbf_dataset_free (dataset);
  return sum;
}

static void
test_simulation (void)
{
  PbfSimulation simulation;
  gchar *sums[4];

  pbf_simulation_init (&simulation);
  simulation.settings = 3;
  simulation.rows = 20;
  simulation.baseline = 100;
  for (guint i = 0; i < 4; i++) {
    simulation.threads = i == 1 ? 3 : 1;
    simulation.seed = i == 2 ? 2 : 1;
    simulation.beyond = i == 3;
    sums[i] = digest_simulation (&simulation);
  }
  g_assert_cmpstr (sums[0], ==, sums[1]);
  g_assert_cmpstr (sums[0], !=, sums[2]);
  g_assert_cmpstr (sums[0], !=, sums[3]);
  for (guint i = 0; i < 4; i++)
    g_free (sums[i]);
}

/* Inside the ranges, or outside of one of them. */
static void
test_settings (void)
{
  const gsize fields[PBF_N_FACTORS] = { G_STRUCT_OFFSET (PbfSimMachine, gain),
    G_STRUCT_OFFSET (PbfSimMachine, noise),
    G_STRUCT_OFFSET (PbfSimMachine, blur),
    G_STRUCT_OFFSET (PbfSimMachine, background),
    G_STRUCT_OFFSET (PbfSimMachine, full_scale),
    G_STRUCT_OFFSET (PbfSimMachine, pool_size),
    G_STRUCT_OFFSET (PbfSimMachine, elongation),
    G_STRUCT_OFFSET (PbfSimMachine, scan_speed),
    G_STRUCT_OFFSET (PbfSimMachine, spatter_rate),
    G_STRUCT_OFFSET (PbfSimMachine, offset_x) };

  for (guint index = 0; index < 400; index++) {
    PbfSimulation simulation;
    PbfSimMachine machine;
    guint outside = 0;

    pbf_simulation_init (&simulation);
    simulation.beyond = index % 2;
    pbf_simulate_machine (&simulation, index, &machine);
    for (guint f = 0; f < PBF_N_FACTORS; f++) {
      const gdouble value = G_STRUCT_MEMBER (gdouble, &machine, fields[f]);
      gdouble from, to;

      g_assert_nonnull (pbf_simulation_factor (f, &from, &to));
      outside += value < from || value > to;
    }
    g_assert_cmpuint (outside, ==, index % 2);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pbftrain/gradient", test_gradient);
  g_test_add_func ("/pbftrain/levels", test_levels);
  g_test_add_func ("/pbftrain/threads", test_threads);
  g_test_add_func ("/pbftrain/learns", test_learns);
  g_test_add_func ("/pbftrain/cancelled", test_cancelled);
  g_test_add_func ("/pbftrain/split", test_split);
  g_test_add_func ("/pbftrain/refused", test_refused);
  g_test_add_func ("/pbftrain/file", test_file);
  g_test_add_func ("/pbftrain/simulation", test_simulation);
  g_test_add_func ("/pbftrain/settings", test_settings);
  return g_test_run ();
}
