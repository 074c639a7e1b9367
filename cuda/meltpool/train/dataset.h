/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rows of features with their classes, and where they come from: a machine, and a
 * group (a machine's setting, a build or a layer) that is never split between training
 * and test. Filled by simulate.h and table.h, read by trainer.h and evaluate.h. */
#pragma once

#include "cuda/core/error.h"
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

/* One output is that of unknown frames. */
#define PBF_MAX_CLASSES (CVIS_PBF_MAX_OUTPUTS - 1)
/* Rows of a class that training and test need at least. */
#define PBF_DATASET_MIN_ROWS 50
/* Nominal rows of a machine that are a baseline at least. */
#define PBF_BASELINE_MIN_ROWS 50

/**
 * PbfMachineStats: nominal rows of a machine
 * @n: number of rows
 * @mean, @std: of each feature over them
 */
typedef struct {
  gchar *name;
  gsize n;
  gdouble mean[CVIS_PBF_N_FEATURES], std[CVIS_PBF_N_FEATURES];
} PbfMachineStats;

/**
 * PbfDataset:
 * @classes: (array zero-terminated=1): names, the first is the nominal state
 * @n_classes: 2..7
 * @n: rows
 * @features: [@n][40]
 * @labels: [@n] class
 * @severity: [@n] of the defect, 0..1; NaN: not known
 * @machines, @groups: [@n] index in the arrays below
 * @machine_stats: of #PbfMachineStats
 * @group_names: of gchar *
 */
typedef struct {
  gchar **classes;
  guint n_classes;
  gsize n, allocated;
  gfloat *features;
  guint8 *labels;
  gfloat *severity;
  guint32 *machines, *groups;
  GArray *machine_stats;
  GPtrArray *group_names;
} PbfDataset;

/* @classes: 2..7 names */
PbfDataset *pbf_dataset_new (const gchar *const *classes);
void pbf_dataset_free (PbfDataset *dataset);

/* Return: the index of the new machine or group. @name: copied */
guint pbf_dataset_add_machine (PbfDataset *dataset, const gchar *name);
guint pbf_dataset_add_group (PbfDataset *dataset, const gchar *name);
void pbf_dataset_add_row (PbfDataset *dataset, guint machine, guint group,
    guint label, gfloat severity, const gfloat features[CVIS_PBF_N_FEATURES]);

/* Adds a nominal row to the statistics, from which pbf_machine_stats_finish() computes
 * mean and standard deviation. */
void pbf_machine_stats_add (
    PbfMachineStats *stats, const gfloat features[CVIS_PBF_N_FEATURES]);
/* Returns: FALSE with CVIS_ERROR_INVALID if there are less than
 * PBF_BASELINE_MIN_ROWS rows */
gboolean pbf_machine_stats_finish (PbfMachineStats *stats, GError **error);

/* Computes the statistics of all machines that have none from their nominal rows of
 * the dataset. */
gboolean pbf_dataset_find_baselines (PbfDataset *dataset, GError **error);

typedef enum {
  PBF_PART_TRAIN, /* weights */
  PBF_PART_STOP,  /* end of training, temperature */
  PBF_PART_TEST,  /* figures */
  PBF_N_PARTS,
} PbfPart;

/**
 * PbfSplit:
 * @rows: indices of the rows of each part
 * @n: their numbers
 * @n_groups: groups of each part
 */
typedef struct {
  guint32 *rows[PBF_N_PARTS];
  gsize n[PBF_N_PARTS];
  guint n_groups[PBF_N_PARTS];
} PbfSplit;

/* Splits by group: @test of them (at least one) are for tests and half as many for the
 * end of training, chosen by @seed so that each part has all classes.
 * Returns: FALSE with CVIS_ERROR_INVALID: less than 3 groups, a class that is
 * missing, or has too few rows or groups */
gboolean pbf_dataset_split (const PbfDataset *dataset, gdouble test,
    guint64 seed, PbfSplit *split, GError **error);
void pbf_split_clear (PbfSplit *split);

G_END_DECLS
