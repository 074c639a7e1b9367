/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Training of a melt-pool network on simulated machines in one thread: seconds of
 * processor time and balanced accuracy on machines that were not trained on.
 * CUDAVISION_CPU=generic|v3|v4 chooses the instruction set.
 *
 *   bench_meltpool_training [machines, 1200] [FOLDER]
 *
 * FOLDER receives the standardised rows of the three parts, for meltpool_training.py:
 * float32 [rows][40] and a byte a row with its class. */
#include <stdlib.h>
#include <time.h>

#include "cuda/meltpool/train/evaluate.h"
#include "cuda/meltpool/train/simulate.h"
#include "cuda/meltpool/train/trainer.h"
#include "cuda/meltpool/vote.h"

static const gchar *const part_names[PBF_N_PARTS] = { "train", "stop", "test" };

static void
write_part_file (const gchar *folder, const gchar *part, const gchar *ending,
    gconstpointer data, gsize size)
{
  gchar *name = g_strdup_printf ("%s/%s.%s", folder, part, ending);
  GError *error = NULL;

  if (!g_file_set_contents (name, data, (gssize) size, &error))
    g_error ("%s", error->message);
  g_free (name);
}

static void
export_part (const gchar *folder, const PbfDataset *dataset,
    const PbfSplit *split, PbfPart part, PbfNetwork *network)
{
  const gsize n = split->n[part];
  gfloat *x = g_new (gfloat, n * CVIS_PBF_N_FEATURES);
  guint8 *labels = g_new (guint8, n);

  for (gsize r = 0; r < n; r++) {
    const guint32 row = split->rows[part][r];

    labels[r] = dataset->labels[row];
    pbf_network_fold (network, g_array_index (dataset->machine_stats,
                                   PbfMachineStats, dataset->machines[row])
                                   .mean);
    for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++)
      x[r * CVIS_PBF_N_FEATURES + i] =
          (dataset->features[(gsize) row * CVIS_PBF_N_FEATURES + i]
              - network->mean[i])
          / network->std[i];
  }
  write_part_file (
      folder, part_names[part], "f32", x, n * CVIS_PBF_N_FEATURES * sizeof *x);
  write_part_file (folder, part_names[part], "u8", labels, n);
  g_free (labels);
  g_free (x);
}

/* Balanced accuracy of the largest class, whatever the output of unknown frames is, as
 * other trainers have none. @outputs: of pbf_predict() */
static gdouble
balance_classes (
    const PbfDataset *dataset, const PbfSplit *split, const gfloat *outputs)
{
  const guint classes = dataset->n_classes, n_outputs = classes + 1;
  gdouble right[PBF_MAX_CLASSES] = { 0 }, rows[PBF_MAX_CLASSES] = { 0 };
  gdouble sum = 0;

  for (gsize r = 0; r < split->n[PBF_PART_TEST]; r++) {
    const guint label = dataset->labels[split->rows[PBF_PART_TEST][r]];
    guint found;

    pbf_find_class (outputs + r * n_outputs, classes, FALSE, 0, &found);
    right[label] += found == label;
    rows[label]++;
  }
  for (guint c = 0; c < classes; c++)
    sum += right[c] / rows[c] / classes;
  return sum;
}

static gdouble
processor_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (gdouble) now.tv_sec + (gdouble) now.tv_nsec * 1e-9;
}

int
main (int argc, char **argv)
{
  PbfDataset *dataset = pbf_dataset_new (pbf_simulation_classes);
  PbfEvaluation evaluation;
  PbfSimulation simulation;
  PbfTrainConfig config;
  PbfTraining training;
  PbfNetwork *network;
  PbfSplit split;
  GError *error = NULL;
  gfloat *answers;
  gdouble seconds;

  pbf_simulation_init (&simulation);
  if (argc > 1)
    simulation.settings = (guint) atoi (argv[1]);
  if (!pbf_simulate (&simulation, dataset, &error)
      || !pbf_dataset_split (dataset, 0.2, 1, &split, &error))
    g_error ("%s", error->message);
  pbf_train_config_init (&config);
  config.threads = 1;
  config.seed = 1;
  seconds = processor_seconds ();
  network = pbf_train (dataset, &split, &config, &training, &error);
  if (network == NULL)
    g_error ("%s", error->message);
  seconds = processor_seconds () - seconds;
  answers = pbf_predict (
      network, dataset, split.rows[PBF_PART_TEST], split.n[PBF_PART_TEST]);
  pbf_evaluate (network, dataset, split.rows[PBF_PART_TEST],
      split.n[PBF_PART_TEST], answers, &evaluation);
  g_print ("%" G_GSIZE_FORMAT
           " rows, %u epochs: %.2f s of one core, %.2f s per "
           "200,000 rows and 15 epochs\n",
      split.n[PBF_PART_TRAIN], training.epochs, seconds,
      seconds * 200000 / (gdouble) split.n[PBF_PART_TRAIN] * 15
          / training.epochs);
  g_print (
      "balanced accuracy %.2f %% on %" G_GSIZE_FORMAT
      " rows of other machines, %.2f %% with \"unknown\" as a wrong answer\n",
      100 * balance_classes (dataset, &split, answers), evaluation.n,
      100 * evaluation.balanced);
  if (argc > 2)
    for (guint p = 0; p < PBF_N_PARTS; p++)
      export_part (argv[2], dataset, &split, p, network);
  g_free (answers);
  pbf_evaluation_clear (&evaluation);
  pbf_network_free (network);
  pbf_split_clear (&split);
  pbf_dataset_free (dataset);
  return 0;
}
