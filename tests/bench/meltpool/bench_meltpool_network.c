/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Accuracy of a melt-pool network on simulated machines whose settings and seeds were not
 * trained on: inside the ranges of the training (IN) and with one setting beyond them
 * (OUT), each with the baseline of its own nominal frames. Figures are means over
 * machines with a 95 % interval (1.96 standard errors; of the calibration error by
 * bootstrap over machines).
 *
 * An answer "unknown" is a wrong one. How well the output of unknown frames finds a state
 * that was not trained on is judged with networks that are trained here, each without one
 * of the states: the area under the curve of found against rejected frames (AUROC; 1/2:
 * chance).
 *
 *   bench_meltpool_network NETWORK.safetensors [--settings=150] [--rows=400]
 *     [--baseline=8000] [--seed=1000003] [--unknown=1200] [--threads=0] [--check]
 *     [--slack=0]
 *
 * --seed: of the machines that are tested
 * --unknown: machines to train on without a state; 0: no such training
 * --check: exit status 1 if a figure misses its limit by more than --slack (a fraction). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/meltpool/baseline.h"
#include "cuda/meltpool/train/evaluate.h"
#include "cuda/meltpool/train/random.h"
#include "cuda/meltpool/train/simulate.h"
#include "cuda/meltpool/train/trainer.h"

#define N_CLASSES 5
#define VOTE 100 /* consecutive frames */
#define RESAMPLES 1000

enum { NOMINAL, KEYHOLE, LACK_OF_FUSION, SPATTER, DRIFT };

static gint settings = 150, n_rows = 400, baseline = 8000, seed = 1000003,
            unknown = 1200, threads = 0;
static gboolean check;
static gdouble slack;
static gchar **files;

static const GOptionEntry entries[] = {
  { "settings", 0, 0, G_OPTION_ARG_INT, &settings, "machines of each kind",
      NULL },
  { "rows", 0, 0, G_OPTION_ARG_INT, &n_rows, "rows of a machine and class",
      NULL },
  { "baseline", 0, 0, G_OPTION_ARG_INT, &baseline, "frames of a baseline",
      NULL },
  { "seed", 0, 0, G_OPTION_ARG_INT, &seed, "of the machines", NULL },
  { "unknown", 0, 0, G_OPTION_ARG_INT, &unknown,
      "machines to train on without a state", NULL },
  { "threads", 0, 0, G_OPTION_ARG_INT, &threads, "0: one per processor", NULL },
  { "check", 0, 0, G_OPTION_ARG_NONE, &check, "fail below the limits", NULL },
  { "slack", 0, 0, G_OPTION_ARG_DOUBLE, &slack, "of the limits", NULL },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, NULL },
  { NULL },
};

/* --- figures of a machine -------------------------------------------------- */

/* Of one machine; false alarms are of nominal frames at the threshold that finds 99 % of
 * the class on all machines together. */
typedef struct {
  gdouble balanced, vote, rejected, recall[N_CLASSES];
  gdouble keyhole, lack_of_fusion; /* the output alone: class or any other */
  gdouble keyhole_alarms, lack_of_fusion_alarms;
  gdouble nominal_or_spatter;
  gdouble bins[PBF_RELIABILITY_BINS][2]; /* sums of confidence and right, */
  gdouble answered;                      /* of frames that are not rejected */
} Figures;

typedef struct {
  const gchar *name;
  const PbfNetwork *network;
  PbfDataset *dataset;
  gfloat *answers;  /* [rows][network->outputs] */
  Figures *figures; /* [machines] */
} Trial;

static gint
compare_floats (gconstpointer a, gconstpointer b)
{
  const gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return (x > y) - (x < y);
}

/* The probability of @class that 99 % of its rows reach. */
static gfloat
find_threshold (const Trial *trial, guint class)
{
  gfloat *found = g_new (gfloat, trial->dataset->n), threshold;
  gsize n = 0;

  for (gsize r = 0; r < trial->dataset->n; r++)
    if (trial->dataset->labels[r] == class)
      found[n++] = trial->answers[r * trial->network->outputs + class];
  qsort (found, n, sizeof *found, compare_floats);
  threshold = found[n / 100];
  g_free (found);
  return threshold;
}

static guint
vote_of (const PbfNetwork *network, const gfloat *answers, guint n)
{
  guint votes[CVIS_PBF_MAX_OUTPUTS] = { 0 }, best = 0;

  for (guint r = 0; r < n; r++)
    votes[pbf_network_choose (network, answers + r * network->outputs)]++;
  for (guint c = 1; c < network->outputs; c++)
    if (votes[c] > votes[best])
      best = c;
  return best;
}

/* The rows of a machine are those of its classes, in order. */
static void
find_figures (const Trial *trial, guint machine, const gfloat thresholds[2])
{
  const PbfNetwork *network = trial->network;
  Figures *f = &trial->figures[machine];
  const guint rows = (guint) n_rows, votes = MAX (rows / VOTE, 1);
  const gsize first = (gsize) machine * rows * N_CLASSES;
  gdouble of_class[2][N_CLASSES] = { { 0 } }; /* p > 1/2: keyhole, fusion */
  gdouble two = 0;

  *f = (Figures){ 0 };
  for (guint c = 0; c < N_CLASSES; c++) {
    const gfloat *answers =
        trial->answers + (first + c * rows) * network->outputs;

    for (guint r = 0; r < rows; r++) {
      const gfloat *p = answers + r * network->outputs;
      const guint best = pbf_network_choose (network, p);
      const guint bin = MIN (
          (guint) (p[best] * PBF_RELIABILITY_BINS), PBF_RELIABILITY_BINS - 1);

      f->recall[c] += (gdouble) (best == c) / rows;
      of_class[0][c] += (gdouble) (p[KEYHOLE] > 0.5f) / rows;
      of_class[1][c] += (gdouble) (p[LACK_OF_FUSION] > 0.5f) / rows;
      if (best < N_CLASSES) {
        f->bins[bin][0] += p[best];
        f->bins[bin][1] += best == c;
        f->answered++;
      } else {
        f->rejected += 1.0 / rows / N_CLASSES;
      }
      if (c == NOMINAL) {
        f->keyhole_alarms += (gdouble) (p[KEYHOLE] >= thresholds[0]) / rows;
        f->lack_of_fusion_alarms +=
            (gdouble) (p[LACK_OF_FUSION] >= thresholds[1]) / rows;
      }
      if (c == NOMINAL || c == SPATTER)
        two += (gdouble) ((p[NOMINAL] >= p[SPATTER]) == (c == NOMINAL)) / rows;
    }
    f->balanced += f->recall[c] / N_CLASSES;
    for (guint v = 0; v < votes; v++)
      f->vote +=
          (gdouble) (vote_of (network, answers + v * VOTE * network->outputs,
                         MIN (VOTE, rows))
                     == c)
          / votes / N_CLASSES;
  }
  for (guint k = 0; k < 2; k++) {
    const guint class = k == 0 ? KEYHOLE : LACK_OF_FUSION;
    gdouble wrong = 0;

    for (guint c = 0; c < N_CLASSES; c++)
      wrong += c != class ? of_class[k][c] / (N_CLASSES - 1) : 0;
    *(k == 0 ? &f->keyhole : &f->lack_of_fusion) =
        (of_class[k][class] + 1 - wrong) / 2;
  }
  f->nominal_or_spatter = two / 2;
}

/* --- machines -------------------------------------------------------------- */

static PbfDataset *
simulate_machines (gboolean beyond, gdouble severity, guint n)
{
  PbfDataset *dataset = pbf_dataset_new (pbf_simulation_classes);
  PbfSimulation simulation;
  GError *error = NULL;

  pbf_simulation_init (&simulation);
  simulation.settings = n;
  simulation.rows = (guint) n_rows;
  simulation.run = VOTE;
  simulation.baseline = (guint) baseline;
  simulation.whole_layers = TRUE;
  simulation.beyond = beyond;
  simulation.least_severity = severity;
  simulation.seed = (guint64) seed + beyond;
  simulation.threads = (guint) threads;
  if (!pbf_simulate (&simulation, dataset, &error))
    g_error ("%s", error->message);
  return dataset;
}

static void
judge_trial (Trial *trial, const PbfNetwork *network)
{
  const guint machines = trial->dataset->machine_stats->len;
  guint32 *rows = g_new (guint32, trial->dataset->n);
  gfloat thresholds[2];

  for (gsize r = 0; r < trial->dataset->n; r++)
    rows[r] = (guint32) r;
  trial->network = network;
  trial->answers =
      pbf_predict (network, trial->dataset, rows, trial->dataset->n);
  trial->figures = g_new (Figures, machines);
  thresholds[0] = find_threshold (trial, KEYHOLE);
  thresholds[1] = find_threshold (trial, LACK_OF_FUSION);
  for (guint m = 0; m < machines; m++)
    find_figures (trial, m, thresholds);
  g_free (rows);
}

static void
clear_trial (Trial *trial)
{
  pbf_dataset_free (trial->dataset);
  g_free (trial->answers);
  g_free (trial->figures);
}

/* The same machines with the baseline of the simulator's default machine: the network as
 * it is in the file. */
static void
forget_baselines (PbfDataset *dataset)
{
  PbfDataset *neutral = pbf_dataset_new (pbf_simulation_classes);
  PbfSimulation simulation;

  pbf_simulation_init (&simulation);
  simulation.settings = 1;
  simulation.neutral = TRUE;
  simulation.rows = 1;
  g_assert (pbf_simulate (&simulation, neutral, NULL));
  for (guint m = 0; m < dataset->machine_stats->len; m++)
    memcpy (g_array_index (dataset->machine_stats, PbfMachineStats, m).mean,
        g_array_index (neutral->machine_stats, PbfMachineStats, 0).mean,
        sizeof (gdouble) * CVIS_PBF_N_FEATURES);
  pbf_dataset_free (neutral);
}

/* --- impure baselines ------------------------------------------------------ */

/* Machines whose baseline is their nominal rows, a tenth of which are rows of class
 * @other, and would be reported. */
static gdouble
find_impure (const PbfDataset *dataset, const PbfNetwork *network, guint other)
{
  const guint machines = dataset->machine_stats->len;
  PbfDataset *mixed = pbf_dataset_new (pbf_simulation_classes);
  const guint rows = (guint) n_rows;
  guint32 *own = g_new (guint32, rows);
  guint reported = 0;

  for (guint m = 0; m < machines; m++) {
    const guint machine = pbf_dataset_add_machine (mixed, "mixed");

    for (guint r = 0; r < rows; r++) {
      const guint c = r % 10 == 0 ? other : NOMINAL;
      const gsize from = ((gsize) m * N_CLASSES + c) * rows + r;

      pbf_dataset_add_row (mixed, machine, 0, NOMINAL, 0,
          dataset->features + from * CVIS_PBF_N_FEATURES);
    }
  }
  g_assert (pbf_dataset_find_baselines (mixed, NULL));
  for (guint m = 0; m < machines; m++) {
    gdouble fraction;

    for (guint r = 0; r < rows; r++)
      own[r] = m * rows + r;
    pbf_find_impurity (network, mixed, own, rows, &fraction);
    reported += fraction > PBF_BASELINE_IMPURE;
  }
  g_free (own);
  pbf_dataset_free (mixed);
  return (gdouble) reported / machines;
}

/* --- printing -------------------------------------------------------------- */

static guint missed;

/* @limit: NaN: none. @at_most: the figure may not exceed it */
static void
print_figure (const gchar *trial, const gchar *name, gdouble value,
    gdouble interval, gdouble limit, gboolean at_most)
{
  const gboolean ok =
      isnan (limit)
      || (at_most ? value <= limit + slack : value >= limit - slack);

  g_print ("%-26s %-44s %8.3f", trial, name, 100 * value);
  if (isnan (interval))
    g_print ("         ");
  else
    g_print (" +- %5.3f", 100 * interval);
  if (!isnan (limit))
    g_print ("  %s %7.3f  %s", at_most ? "<=" : ">=", 100 * limit,
        ok ? "reached" : "MISSED");
  g_print ("\n");
  missed += !ok;
}

static void
print_mean (const Trial *trial, const gchar *name, gsize field, gdouble limit,
    gboolean at_most)
{
  const guint n = trial->dataset->machine_stats->len;
  gdouble sum = 0, squares = 0;

  for (guint m = 0; m < n; m++)
    sum += G_STRUCT_MEMBER (gdouble, &trial->figures[m], field);
  for (guint m = 0; m < n; m++) {
    const gdouble off =
        G_STRUCT_MEMBER (gdouble, &trial->figures[m], field) - sum / n;

    squares += off * off;
  }
  print_figure (trial->name, name, sum / n,
      1.96 * sqrt (squares / MAX (n - 1, 1) / n), limit, at_most);
}

#define MEAN(trial, name, field, limit, at_most)                               \
  print_mean (trial, name, G_STRUCT_OFFSET (Figures, field), limit, at_most)

static void
print_worst (const Trial *trial, gdouble limit)
{
  gdouble worst = 1;

  for (guint m = 0; m < trial->dataset->machine_stats->len; m++)
    worst = MIN (worst, trial->figures[m].balanced);
  print_figure (trial->name, "worst machine", worst, NAN, limit, FALSE);
}

static gdouble
calibration_error (const Trial *trial, PbfRandomState *random)
{
  const guint n = trial->dataset->machine_stats->len;
  gdouble bins[PBF_RELIABILITY_BINS][2] = { { 0 } }, error = 0, answered = 0;

  for (guint k = 0; k < n; k++) {
    const guint m = random != NULL ? pbf_random_next (random) % n : k;

    answered += trial->figures[m].answered;
    for (guint bin = 0; bin < PBF_RELIABILITY_BINS; bin++)
      for (guint i = 0; i < 2; i++)
        bins[bin][i] += trial->figures[m].bins[bin][i];
  }
  for (guint bin = 0; bin < PBF_RELIABILITY_BINS; bin++)
    error += fabs (bins[bin][0] - bins[bin][1]);
  return error / answered;
}

static void
print_calibration (const Trial *trial, gdouble limit)
{
  PbfRandomState random = pbf_random_init (1, 5);
  gdouble sum = 0, squares = 0;

  for (guint i = 0; i < RESAMPLES; i++) {
    const gdouble error = calibration_error (trial, &random);

    sum += error;
    squares += error * error;
  }
  sum /= RESAMPLES;
  print_figure (trial->name, "expected calibration error",
      calibration_error (trial, NULL),
      1.96 * sqrt (MAX (squares / RESAMPLES - sum * sum, 0)), limit, TRUE);
}

/* Too few for the threshold that 99 % reach, and for baselines: no limits */
static gboolean
has_few_rows (const Trial *trial)
{
  return trial->dataset->n < 100000;
}

static void
print_full (const Trial *trial, gboolean out)
{
  const gdouble alarms = has_few_rows (trial) ? NAN : out ? 0.003 : 0.0005;

  MEAN (trial, "balanced accuracy", balanced, out ? 0.965 : 0.975, FALSE);
  print_worst (trial, out ? 0.82 : 0.88);
  for (guint c = 0; c < N_CLASSES; c++) {
    gchar *name = g_strdup_printf ("recall of %s", pbf_simulation_classes[c]);

    MEAN (trial, name, recall[c], NAN, FALSE);
    g_free (name);
  }
  MEAN (trial, "vote of 100 frames", vote, out ? 0.98 : 0.99, FALSE);
  MEAN (trial, "output lack-of-fusion", lack_of_fusion, out ? 0.985 : 0.995,
      FALSE);
  MEAN (trial, "output keyhole", keyhole, out ? 0.985 : 0.995, FALSE);
  MEAN (trial, "false alarms of lack-of-fusion", lack_of_fusion_alarms, alarms,
      TRUE);
  MEAN (trial, "false alarms of keyhole", keyhole_alarms, alarms, TRUE);
  MEAN (trial, "nominal or spatter", nominal_or_spatter, NAN, FALSE);
  MEAN (trial, "known frames rejected", rejected, 0.015, TRUE);
  print_calibration (trial, 0.01);
}

/* --- states that were not trained on --------------------------------------- */

/* The rows of @from without class @left_out, with its machines and groups. */
static PbfDataset *
leave_out (const PbfDataset *from, guint left_out)
{
  const gchar *classes[N_CLASSES] = { 0 };
  PbfDataset *dataset;
  guint n = 0;

  for (guint c = 0; c < N_CLASSES; c++)
    if (c != left_out)
      classes[n++] = pbf_simulation_classes[c];
  dataset = pbf_dataset_new (classes);
  for (guint m = 0; m < from->machine_stats->len; m++) {
    const PbfMachineStats *stats =
        &g_array_index (from->machine_stats, PbfMachineStats, m);
    PbfMachineStats *copy;

    pbf_dataset_add_machine (dataset, stats->name);
    pbf_dataset_add_group (dataset, stats->name);
    copy = &g_array_index (dataset->machine_stats, PbfMachineStats, m);
    copy->n = stats->n;
    memcpy (copy->mean, stats->mean, sizeof copy->mean);
    memcpy (copy->std, stats->std, sizeof copy->std);
  }
  for (gsize r = 0; r < from->n; r++)
    if (from->labels[r] != left_out)
      pbf_dataset_add_row (dataset, from->machines[r], from->groups[r],
          from->labels[r] - (from->labels[r] > left_out), from->severity[r],
          from->features + r * CVIS_PBF_N_FEATURES);
  return dataset;
}

/* As `cudavision train --simulate` */
static PbfNetwork *
train_without (const PbfDataset *all, guint left_out)
{
  PbfDataset *dataset = leave_out (all, left_out);
  PbfTrainConfig config;
  PbfTraining training;
  PbfNetwork *network;
  GError *error = NULL;
  PbfSplit split;

  pbf_train_config_init (&config);
  config.seed = 1;
  config.threads = (guint) threads;
  if (!pbf_dataset_split (dataset, 0.2, 1, &split, &error))
    g_error ("%s", error->message);
  network = pbf_train (dataset, &split, &config, &training, &error);
  if (network == NULL)
    g_error ("%s", error->message);
  pbf_split_clear (&split);
  pbf_dataset_free (dataset);
  return network;
}

#define RANKS 1000

/* Rows of a machine by the rank of the output of unknown frames: known rows, and those of
 * the class that was left out */
typedef guint32 Ranks[2][RANKS];

static gdouble
find_auroc (const Ranks *machines, guint n, PbfRandomState *random)
{
  gdouble sums[2][RANKS] = { { 0 } }, below = 0, all = 0, area = 0;

  for (guint k = 0; k < n; k++) {
    const guint m = random != NULL ? pbf_random_next (random) % n : k;

    for (guint i = 0; i < 2; i++)
      for (guint rank = 0; rank < RANKS; rank++)
        sums[i][rank] += machines[m][i][rank];
  }
  for (guint rank = 0; rank < RANKS; rank++) {
    area += sums[1][rank] * (below + sums[0][rank] / 2);
    below += sums[0][rank];
    all += sums[1][rank];
  }
  return area / below / all;
}

static Ranks *
rank_rows (const PbfDataset *dataset, const gfloat *scores, guint left_out)
{
  Ranks *machines = g_new0 (Ranks, dataset->machine_stats->len);
  gfloat *sorted = g_memdup2 (scores, dataset->n * sizeof *scores);
  gfloat limits[RANKS];

  qsort (sorted, dataset->n, sizeof *sorted, compare_floats);
  for (guint rank = 0; rank < RANKS; rank++)
    limits[rank] = sorted[(gsize) rank * dataset->n / RANKS];
  for (gsize r = 0; r < dataset->n; r++) {
    guint from = 0, to = RANKS;

    while (to - from > 1) {
      const guint middle = (from + to) / 2;

      if (scores[r] < limits[middle])
        to = middle;
      else
        from = middle;
    }
    machines[dataset->machines[r]][dataset->labels[r] == left_out][from]++;
  }
  g_free (sorted);
  return machines;
}

static void
judge_unknown (const Trial *trial, const PbfNetwork *without, guint left_out)
{
  static const gdouble limits[N_CLASSES] = { NAN, 0.85, 0.97, NAN, 0.97 };
  const PbfDataset *dataset = trial->dataset;
  const guint n = dataset->machine_stats->len;
  guint32 *rows = g_new (guint32, dataset->n);
  gfloat *outputs, *scores = g_new (gfloat, dataset->n);
  gdouble sum = 0, squares = 0, found = 0;
  PbfRandomState random = pbf_random_init (1, 6);
  gchar *name;
  Ranks *machines;

  for (gsize r = 0; r < dataset->n; r++)
    rows[r] = (guint32) r;
  outputs = pbf_predict (without, dataset, rows, dataset->n);
  for (gsize r = 0; r < dataset->n; r++) {
    const gfloat *of_row = outputs + r * without->outputs;

    scores[r] = of_row[without->outputs - 1];
    if (dataset->labels[r] == left_out)
      found += (gdouble) (pbf_network_choose (without, of_row)
                          == without->outputs - 1)
               / n / n_rows;
  }
  machines = rank_rows (dataset, scores, left_out);
  for (guint i = 0; i < RESAMPLES; i++) {
    const gdouble area = find_auroc ((const Ranks *) machines, n, &random);

    sum += area / RESAMPLES;
    squares += area * area / RESAMPLES;
  }
  name =
      g_strdup_printf ("AUROC of unknown %s", pbf_simulation_classes[left_out]);
  print_figure (trial->name, name,
      find_auroc ((const Ranks *) machines, n, NULL),
      1.96 * sqrt (MAX (squares - sum * sum, 0)), limits[left_out], FALSE);
  g_free (name);
  name = g_strdup_printf (
      "unknown %s answered so", pbf_simulation_classes[left_out]);
  print_figure (trial->name, name, found, NAN, NAN, FALSE);
  g_free (name);
  g_free (machines);
  g_free (outputs);
  g_free (scores);
  g_free (rows);
}

/* Networks without one state each; the first is %NULL */
static void
train_left_out (PbfNetwork *networks[N_CLASSES])
{
  PbfDataset *all = pbf_dataset_new (pbf_simulation_classes);
  PbfSimulation simulation;
  GError *error = NULL;

  pbf_simulation_init (&simulation);
  simulation.settings = (guint) unknown;
  simulation.rows = 70;
  simulation.neutral = simulation.full_half = TRUE;
  simulation.threads = (guint) threads;
  if (!pbf_simulate (&simulation, all, &error))
    g_error ("%s", error->message);
  for (guint c = 1; c < N_CLASSES; c++)
    networks[c] = train_without (all, c);
  pbf_dataset_free (all);
}

/* --- all figures ----------------------------------------------------------- */

static void
run_kind (const PbfNetwork *network, PbfNetwork *const *without, gboolean out)
{
  Trial full = { out ? "OUT, severity 1" : "IN, severity 1", network,
    simulate_machines (out, 1, (guint) settings) };
  Trial part = { out ? "OUT, severity 0.5 to 1" : "IN, severity 0.5 to 1",
    network, simulate_machines (out, 0.5, (guint) settings) };

  judge_trial (&full, network);
  print_full (&full, out);
  for (guint c = 0; c < N_CLASSES; c++) {
    gchar *name =
        g_strdup_printf (c == NOMINAL ? "pure baselines reported"
                                      : "baselines with 10 %% %s reported",
            pbf_simulation_classes[c]);

    print_figure (full.name, name, find_impure (full.dataset, network, c), NAN,
        c == NOMINAL || has_few_rows (&full) ? NAN : 0.9, FALSE);
    g_free (name);
  }
  for (guint c = 1; c < N_CLASSES; c++)
    if (without[c] != NULL)
      judge_unknown (&full, without[c], c);
  judge_trial (&part, network);
  MEAN (&part, "balanced accuracy", balanced, out ? 0.945 : 0.955, FALSE);
  MEAN (&part, "vote of 100 frames", vote, NAN, FALSE);
  print_calibration (&part, NAN);
  g_free (full.answers);
  g_free (full.figures);
  full.name = out ? "OUT, without baseline" : "IN, without baseline";
  forget_baselines (full.dataset);
  judge_trial (&full, network);
  MEAN (&full, "balanced accuracy", balanced, NAN, FALSE);
  print_worst (&full, NAN);
  print_calibration (&full, NAN);
  clear_trial (&full);
  clear_trial (&part);
}

int
main (int argc, char **argv)
{
  GOptionContext *context = g_option_context_new ("NETWORK.safetensors");
  PbfNetwork *network, *without[N_CLASSES] = { NULL };
  GError *error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error))
    g_error ("%s", error->message);
  g_option_context_free (context);
  if (files == NULL)
    g_error ("name a network");
  network = pbf_network_load (files[0], &error);
  if (network == NULL)
    g_error ("%s", error->message);
  if (network->outputs - network->unknown != N_CLASSES)
    g_error ("%s has %u classes, not %d", files[0],
        network->outputs - network->unknown, N_CLASSES);
  if (unknown > 0)
    train_left_out (without);
  g_print ("%d machines, %d frames of each class, baselines of %d frames; per "
           "cent, 95 %% interval over machines\n",
      settings, n_rows, baseline);
  run_kind (network, without, FALSE);
  run_kind (network, without, TRUE);
  pbf_network_free (network);
  for (guint c = 0; c < N_CLASSES; c++)
    pbf_network_free (without[c]);
  g_strfreev (files);
  return check && missed > 0;
}
