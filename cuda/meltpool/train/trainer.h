/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Trains a network: 40 inputs, one hidden layer with ReLU, softmax. Adam on weighted
 * cross-entropy in batches, a learning rate that falls to 0; the weights of the epoch with
 * the least loss on rows that are not trained on; then a temperature that calibrates the
 * probabilities. One seed gives the same bytes with any number of threads and on any
 * processor. No framework, no GPU. */
#pragma once

#include "cuda/meltpool/train/network.h"

G_BEGIN_DECLS

/**
 * PbfTrainEpoch: one epoch, for progress
 * @loss: mean weighted cross-entropy on the rows that end the training
 * @best: whether that is the least so far
 */
typedef struct {
  guint number, of;
  gdouble loss;
  gboolean best;
} PbfTrainEpoch;

/**
 * PbfTrainConfig: set up with pbf_train_config_init(), then changed
 * @hidden: units, 1..512
 * @epochs: at most, 1..1000
 * @patience: epochs without a smaller loss that end the training, 1..1000
 * @batch: rows in a step, 1..65536
 * @rate: learning rate of the first step, above 0 and up to 1
 * @seed: of first weights and the order of rows
 * @threads: 0: one per processor
 * @epoch: (nullable): called after each epoch
 */
typedef struct {
  guint hidden;
  guint epochs, patience;
  guint batch;
  gdouble rate;
  guint64 seed;
  guint threads;
  void (*epoch) (const PbfTrainEpoch *epoch, gpointer data);
  gpointer data;
} PbfTrainConfig;

void pbf_train_config_init (PbfTrainConfig *config);
gboolean pbf_train_config_check (const PbfTrainConfig *config, GError **error);

/**
 * PbfTraining: what a training was like
 * @epochs: done; fewer than wanted if the loss grew, or if it was cancelled
 * @best_epoch: whose weights the network has, from 1
 * @loss: of that epoch
 * @temperature: by which the outputs were divided
 * @cancelled: the thread's flag (cuda/core/cancel.h) ended the training; the network is
 *   complete all the same
 */
typedef struct {
  guint epochs, best_epoch;
  gdouble loss;
  gdouble temperature;
  gboolean cancelled;
} PbfTraining;

/* Trains on part PBF_PART_TRAIN of @split. All machines of @dataset have baselines;
 * the network gets the average of them.
 * Returns: %NULL with CVIS_ERROR_INVALID (settings, a feature that is not finite) or
 * CVIS_ERROR_CANCELLED if no epoch was complete */
PbfNetwork *pbf_train (const PbfDataset *dataset, const PbfSplit *split,
    const PbfTrainConfig *config, PbfTraining *training, GError **error);

G_END_DECLS
