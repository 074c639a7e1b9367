/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The page of `cudavision train --report`. */
#pragma once

#include "cuda/meltpool/train/evaluate.h"
#include "cuda/meltpool/train/load.h"
#include "cuda/meltpool/train/trainer.h"
#include "tools/report.h"

G_BEGIN_DECLS

/**
 * TrainSummary: a training and its result
 * @dataset, @network: (nullable)
 * @by_layer: files were split by layer
 * @losses: of gdouble, of each epoch
 * @baseline_n: frames of the baseline; 0: none
 */
typedef struct {
  PbfDataset *dataset;
  PbfSplit split;
  PbfNetwork *network;
  PbfTraining training;
  PbfEvaluation evaluation;
  PbfLoading loading;
  gboolean by_layer;
  GArray *losses;
  gsize baseline_n;
} TrainSummary;

void train_summary_init (TrainSummary *summary);
void train_summary_clear (TrainSummary *summary);

/* Confusion matrix, machines, reliability, coverage, severity, importance of features,
 * and gaps of the data. */
void train_report_fill (const TrainSummary *summary, Report *report);

G_END_DECLS
