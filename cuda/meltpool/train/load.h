/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rows of a dataset and baselines from files: tables of pbfresultenc, recordings and HDF5
 * files. */
#pragma once

#include "cuda/meltpool/train/dataset.h"
#include "cuda/meltpool/train/frames.h"
#include "cuda/meltpool/train/labels.h"

G_BEGIN_DECLS

/**
 * PbfFeatures: how features are computed
 * @threshold, @window: of features of recordings
 * @threads: 0: one per processor
 * @hdf5: (nullable): reads HDF5 files, which are refused without it
 */
typedef struct {
  guint threshold, window;
  guint threads;
  PbfAnalyseFunc hdf5;
} PbfFeatures;

/**
 * PbfLoading: counts of frames
 * @rows: added
 * @unlabelled: without a label
 * @unused: laser off, window not yet full, or late
 * @directions: frames of each class by direction of the scan, in eighths of a turn from x
 *   to y; all of a baseline are of class 0
 */
typedef struct {
  guint64 rows, unlabelled, unused;
  guint64 directions[PBF_MAX_CLASSES][8];
} PbfLoading;

/* Whether the frames of @class have been scanned in one direction only; FALSE too if the
 * directions are not known. */
gboolean pbf_loading_has_one_direction (const PbfLoading *loading, guint class);

/* Adds the labelled frames of @filename, a recording, a table or an HDF5 file, for machine @machine. A
 * file is one group, or one for each layer (@by_layer).
 * Returns: FALSE with an error that names file and place */
gboolean pbf_load_rows (const gchar *filename, const PbfFeatures *features,
    PbfLabels *labels, guint machine, gboolean by_layer, PbfDataset *dataset,
    PbfLoading *loading, GError **error);

/* Adds all frames of a file, which are nominal frames of one machine: a machine @name of
 * @dataset with its baseline, and its rows.
 * Returns: FALSE too if the scan has one direction only, or there are too few frames */
gboolean pbf_load_baseline (const gchar *filename, const gchar *name,
    const PbfFeatures *features, PbfDataset *dataset, PbfLoading *loading,
    GError **error);

G_END_DECLS
