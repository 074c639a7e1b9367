/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/dataset.h"

#include <math.h>
#include <string.h>

#include "cuda/meltpool/train/random.h"

#define N_FEATURES CVIS_PBF_N_FEATURES

static void
clear_machine (gpointer data)
{
  g_free (((PbfMachineStats *) data)->name);
}

PbfDataset *
pbf_dataset_new (const gchar *const *classes)
{
  PbfDataset *dataset = g_new0 (PbfDataset, 1);

  dataset->classes = g_strdupv ((gchar **) classes);
  dataset->n_classes = g_strv_length (dataset->classes);
  dataset->machine_stats = g_array_new (FALSE, TRUE, sizeof (PbfMachineStats));
  g_array_set_clear_func (dataset->machine_stats, clear_machine);
  dataset->group_names = g_ptr_array_new_with_free_func (g_free);
  return dataset;
}

void
pbf_dataset_free (PbfDataset *dataset)
{
  if (dataset == NULL)
    return;
  g_strfreev (dataset->classes);
  g_free (dataset->features);
  g_free (dataset->labels);
  g_free (dataset->severity);
  g_free (dataset->machines);
  g_free (dataset->groups);
  g_array_unref (dataset->machine_stats);
  g_ptr_array_unref (dataset->group_names);
  g_free (dataset);
}

guint
pbf_dataset_add_machine (PbfDataset *dataset, const gchar *name)
{
  const PbfMachineStats stats = { .name = g_strdup (name) };

  g_array_append_val (dataset->machine_stats, stats);
  return dataset->machine_stats->len - 1;
}

guint
pbf_dataset_add_group (PbfDataset *dataset, const gchar *name)
{
  g_ptr_array_add (dataset->group_names, g_strdup (name));
  return dataset->group_names->len - 1;
}

void
pbf_dataset_add_row (PbfDataset *dataset, guint machine, guint group,
    guint label, gfloat severity, const gfloat features[N_FEATURES])
{
  const gsize row = dataset->n++;

  if (row == dataset->allocated) {
    const gsize n = dataset->allocated = MAX (1024, 2 * row);

    dataset->features = g_renew (gfloat, dataset->features, n * N_FEATURES);
    dataset->labels = g_renew (guint8, dataset->labels, n);
    dataset->severity = g_renew (gfloat, dataset->severity, n);
    dataset->machines = g_renew (guint32, dataset->machines, n);
    dataset->groups = g_renew (guint32, dataset->groups, n);
  }
  memcpy (dataset->features + row * N_FEATURES, features,
      N_FEATURES * sizeof *features);
  dataset->labels[row] = (guint8) label;
  dataset->severity[row] = severity;
  dataset->machines[row] = machine;
  dataset->groups[row] = group;
}

/* --- baselines ------------------------------------------------------------- */

/* mean and std hold the mean so far and the sum of squared deviations from it
 * (Welford, 1962). */
void
pbf_machine_stats_add (
    PbfMachineStats *stats, const gfloat features[N_FEATURES])
{
  stats->n++;
  for (guint i = 0; i < N_FEATURES; i++) {
    const gdouble before = features[i] - stats->mean[i];

    stats->mean[i] += before / (gdouble) stats->n;
    stats->std[i] += before * (features[i] - stats->mean[i]);
  }
}

gboolean
pbf_machine_stats_finish (PbfMachineStats *stats, GError **error)
{
  if (stats->n < PBF_BASELINE_MIN_ROWS)
    return cvis_refuse (error,
        "machine \"%s\" has %" G_GSIZE_FORMAT
        " nominal rows for its baseline, %d are needed; 2000 are better",
        stats->name, stats->n, PBF_BASELINE_MIN_ROWS);
  for (guint i = 0; i < N_FEATURES; i++)
    stats->std[i] = sqrt (stats->std[i] / (gdouble) stats->n);
  return TRUE;
}

gboolean
pbf_dataset_find_baselines (PbfDataset *dataset, GError **error)
{
  gboolean *known = g_new0 (gboolean, dataset->machine_stats->len);
  gboolean ok = TRUE;

#define STATS(i) (&g_array_index (dataset->machine_stats, PbfMachineStats, i))
  for (guint i = 0; i < dataset->machine_stats->len; i++)
    known[i] = STATS (i)->n > 0;
  for (gsize row = 0; row < dataset->n; row++)
    if (dataset->labels[row] == 0 && !known[dataset->machines[row]])
      pbf_machine_stats_add (
          STATS (dataset->machines[row]), dataset->features + row * N_FEATURES);
  for (guint i = 0; i < dataset->machine_stats->len && ok; i++)
    ok = known[i] || pbf_machine_stats_finish (STATS (i), error);
#undef STATS
  g_free (known);
  return ok;
}

/* --- split ----------------------------------------------------------------- */

/* Rows of each class in each group, [group][class] */
static guint32 *
count_rows (const PbfDataset *dataset)
{
  guint32 *counts =
      g_new0 (guint32, dataset->group_names->len * dataset->n_classes);

  for (gsize row = 0; row < dataset->n; row++)
    counts[dataset->groups[row] * dataset->n_classes + dataset->labels[row]]++;
  return counts;
}

static gboolean
check_classes (const PbfDataset *dataset, const guint32 *counts, GError **error)
{
  if (dataset->group_names->len < PBF_N_PARTS)
    return cvis_refuse (error,
        "%u group%s of rows cannot be split into training, end of training and "
        "test; bring %d machine settings, builds or layers at least",
        dataset->group_names->len, dataset->group_names->len == 1 ? "" : "s",
        PBF_N_PARTS);
  for (guint c = 0; c < dataset->n_classes; c++) {
    guint groups = 0, rows = 0;

    for (guint g = 0; g < dataset->group_names->len; g++) {
      rows += counts[g * dataset->n_classes + c];
      groups += counts[g * dataset->n_classes + c] > 0;
    }
    if (rows == 0)
      return cvis_refuse (error,
          "class \"%s\" has no rows; label some frames with it, or leave it "
          "out",
          dataset->classes[c]);
    if (groups < PBF_N_PARTS)
      return cvis_refuse (error,
          "class \"%s\" occurs in %u of %u groups, %d are needed to train, to "
          "end the training and to test; label it in more builds or layers",
          dataset->classes[c], groups, dataset->group_names->len, PBF_N_PARTS);
    if (rows < PBF_N_PARTS * PBF_DATASET_MIN_ROWS)
      return cvis_refuse (error,
          "class \"%s\" has %u rows, %d are needed; label more frames",
          dataset->classes[c], rows, PBF_N_PARTS * PBF_DATASET_MIN_ROWS);
  }
  return TRUE;
}

/* The class that has too few rows in a part; n_classes if all have enough. */
static guint
find_poor_class (
    const PbfDataset *dataset, const guint32 *counts, const guint8 *parts)
{
  for (guint c = 0; c < dataset->n_classes; c++)
    for (guint p = 0; p < PBF_N_PARTS; p++) {
      guint rows = 0;

      for (guint g = 0; g < dataset->group_names->len; g++)
        if (parts[g] == p)
          rows += counts[g * dataset->n_classes + c];
      if (rows < PBF_DATASET_MIN_ROWS)
        return c;
    }
  return dataset->n_classes;
}

static void
choose_parts (guint8 *parts, guint n, gdouble test, PbfRandomState *random)
{
  const guint for_test = MAX (1, (guint) (test * n + 0.5));
  const guint to_stop = MAX (1, for_test / 2);
  guint32 *order = g_new (guint32, n);

  for (guint g = 0; g < n; g++)
    order[g] = g;
  pbf_random_shuffle (random, order, n);
  for (guint i = 0; i < n; i++)
    parts[order[i]] = i < for_test             ? PBF_PART_TEST
                      : i < for_test + to_stop ? PBF_PART_STOP
                                               : PBF_PART_TRAIN;
  g_free (order);
}

static void
list_rows (const PbfDataset *dataset, const guint8 *parts, PbfSplit *split)
{
  memset (split, 0, sizeof *split);
  for (gsize row = 0; row < dataset->n; row++)
    split->n[parts[dataset->groups[row]]]++;
  for (guint p = 0; p < PBF_N_PARTS; p++) {
    split->rows[p] = g_new (guint32, split->n[p]);
    split->n[p] = 0;
  }
  for (gsize row = 0; row < dataset->n; row++) {
    const guint p = parts[dataset->groups[row]];

    split->rows[p][split->n[p]++] = (guint32) row;
  }
  for (guint g = 0; g < dataset->group_names->len; g++)
    split->n_groups[parts[g]]++;
}

#define ATTEMPTS 1000

gboolean
pbf_dataset_split (const PbfDataset *dataset, gdouble test, guint64 seed,
    PbfSplit *split, GError **error)
{
  guint32 *counts = count_rows (dataset);
  guint8 *parts = g_new (guint8, dataset->group_names->len);
  PbfRandomState random = pbf_random_init (seed, 1);
  gboolean ok = check_classes (dataset, counts, error);
  guint poor = dataset->n_classes;

  for (guint attempt = 0; ok && attempt < ATTEMPTS; attempt++) {
    choose_parts (parts, dataset->group_names->len, test, &random);
    poor = find_poor_class (dataset, counts, parts);
    if (poor == dataset->n_classes)
      break;
  }
  if (ok && poor < dataset->n_classes)
    ok = cvis_refuse (error,
        "no split by groups leaves %d rows of class \"%s\" to each of "
        "training, "
        "end of training and test; label it in more builds or layers",
        PBF_DATASET_MIN_ROWS, dataset->classes[poor]);
  if (ok)
    list_rows (dataset, parts, split);
  g_free (parts);
  g_free (counts);
  return ok;
}

void
pbf_split_clear (PbfSplit *split)
{
  for (guint p = 0; p < PBF_N_PARTS; p++)
    g_clear_pointer (&split->rows[p], g_free);
}
