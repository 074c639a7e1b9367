/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/meltpool/train/trainer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core/backend.h"
#include "cuda/core/cancel.h"
#include "cuda/core/threadpool.h"
#include "cuda/meltpool/arithmetic.h"
#include "cuda/meltpool/train/kernels.h"
#include "cuda/meltpool/train/outliers.h"
#include "cuda/meltpool/train/random.h"

#define N_FEATURES CVIS_PBF_N_FEATURES

void
pbf_train_config_init (PbfTrainConfig *config)
{
  *config = (PbfTrainConfig){
    .hidden = 164, .epochs = 15, .patience = 8, .batch = 256, .rate = 2e-3
  };
}

gboolean
pbf_train_config_check (const PbfTrainConfig *config, GError **error)
{
  return cvis_check_range (
             "hidden units", config->hidden, 1, PBF_MAX_HIDDEN, error)
         && cvis_check_range ("epochs", config->epochs, 1, 1000, error)
         && cvis_check_range ("patience", config->patience, 1, 1000, error)
         && cvis_check_range ("batch", config->batch, 1, 65536, error)
         && cvis_check_range ("learning rate", config->rate, 1e-9, 1, error);
}

void
pbf_train_softmax (const gfloat *logits, guint n, gfloat *probabilities)
{
  gfloat top = logits[0], sum = 0;

  for (guint o = 1; o < n; o++)
    top = MAX (top, logits[o]);
  for (guint o = 0; o < n; o++) {
    probabilities[o] = pbf_exp (logits[o] - top);
    sum += probabilities[o];
  }
  for (guint o = 0; o < n; o++)
    probabilities[o] /= sum;
}

/* --- the trainer ----------------------------------------------------------- */

/* Outliers of a part, and their weight in the loss, as fractions of its rows */
#define OUTLIERS 0.25
#define OUTLIER_WEIGHT 0.05
/* Fraction of rows that the output of unknown frames may reject */
#define REJECTED 0.005

/**
 * Trainer:
 * @n: rows of PBF_PART_TRAIN and PBF_PART_STOP, outliers included, which are the last ones
 * @x: [@n][40] standardised inputs
 * @labels: [@n] classes; that of outliers is the number of classes
 * @class_weights: of each class, 1 on average over the training rows; the last is that of
 *   outliers
 * @order: of the training rows in this epoch
 * @first, @second: moments of Adam; @best: weights of the best epoch
 * @gradients: [parts of a batch][shape.n]
 * @rows: one for each thread
 * @batch_at, @batch_n: rows of the current batch, in @order
 * @losses: [chunks] of PBF_PART_STOP
 * @logits: [rows][outputs] of PBF_PART_STOP
 */
typedef struct {
  const PbfTrainConfig *config;
  const PbfDataset *dataset;
  const PbfSplit *split;
  const PbfTrainKernels *kernels;
  CvisPool *pool;
  PbfTrainShape shape;
  gsize n[2];
  gfloat *x[2];
  guint8 *labels[2];
  gfloat class_weights[CVIS_PBF_MAX_OUTPUTS];
  guint32 *order;
  gfloat *weights, *best, *first, *second, *gradients;
  gsize batch_at;
  guint batch_n;
  gdouble *losses;
  gfloat *logits;
} Trainer;

static PbfTrainShape
make_shape (guint hidden, guint outputs)
{
  PbfTrainShape shape = { .outputs = outputs };

  shape.padded =
      (hidden + PBF_TRAIN_LANES - 1) / PBF_TRAIN_LANES * PBF_TRAIN_LANES;
  shape.b1 = N_FEATURES * shape.padded;
  shape.w2 = shape.b1 + shape.padded;
  shape.b2 = shape.w2 + shape.outputs * shape.padded;
  shape.n = shape.b2 + PBF_TRAIN_LANES;
  return shape;
}

static gboolean
check_finite (const PbfDataset *dataset, GError **error)
{
  for (gsize row = 0; row < dataset->n; row++)
    for (guint i = 0; i < N_FEATURES; i++) {
      const gfloat value = dataset->features[row * N_FEATURES + i];

      if (!isfinite (value))
        return cvis_refuse (error,
            "row %" G_GSIZE_FORMAT ": feature %u is %g, must be finite",
            row + 1, i, value);
    }
  return TRUE;
}

/* Standardises rows with the baseline of each row's machine, and adds outliers. */
static void
standardise_part (Trainer *self, PbfNetwork *network, PbfPart part)
{
  const PbfDataset *dataset = self->dataset;
  const gsize n = self->split->n[part];
  PbfRandomState random = pbf_random_init (self->config->seed, 5 + part);
  gfloat *x;
  guint machine = G_MAXUINT;

  self->n[part] = n + (gsize) (OUTLIERS * (gdouble) n);
  self->x[part] = x = g_new (gfloat, self->n[part] * N_FEATURES);
  self->labels[part] = g_new (guint8, self->n[part]);
  memset (self->labels[part], (gint) dataset->n_classes, self->n[part]);
  for (gsize r = 0; r < n; r++) {
    const guint32 row = self->split->rows[part][r];
    const gfloat *features = dataset->features + (gsize) row * N_FEATURES;

    if (dataset->machines[row] != machine) {
      machine = dataset->machines[row];
      pbf_network_fold (network,
          g_array_index (dataset->machine_stats, PbfMachineStats, machine)
              .mean);
    }
    for (guint i = 0; i < N_FEATURES; i++)
      x[r * N_FEATURES + i] =
          (features[i] - network->mean[i]) / network->std[i];
    self->labels[part][r] = dataset->labels[row];
  }
  pbf_make_outliers ((const gfloat (*)[N_FEATURES]) x, n, &random,
      (gfloat (*)[N_FEATURES]) (x + n * N_FEATURES), self->n[part] - n);
}

static void
find_class_weights (Trainer *self)
{
  gsize counts[CVIS_PBF_MAX_OUTPUTS] = { 0 };
  const gsize n = self->split->n[PBF_PART_TRAIN];

  for (gsize r = 0; r < self->n[PBF_PART_TRAIN]; r++)
    counts[self->labels[PBF_PART_TRAIN][r]]++;
  for (guint c = 0; c < self->dataset->n_classes; c++)
    self->class_weights[c] =
        (gfloat) n / (gfloat) (self->dataset->n_classes * MAX (counts[c], 1));
  self->class_weights[self->dataset->n_classes] =
      (gfloat) (OUTLIER_WEIGHT * (gdouble) n)
      / (gfloat) MAX (counts[self->dataset->n_classes], 1);
}

/* He's uniform initialisation; biases are 0. */
static void
init_weights (Trainer *self)
{
  PbfRandomState random = pbf_random_init (self->config->seed, 2);
  const PbfTrainShape *shape = &self->shape;
  const gdouble limit1 = sqrt (6.0 / N_FEATURES),
                limit2 = sqrt (6.0 / self->config->hidden);

  for (guint j = 0; j < self->config->hidden; j++) {
    for (guint i = 0; i < N_FEATURES; i++)
      self->weights[i * shape->padded + j] =
          (gfloat) pbf_random_between (&random, -limit1, limit1);
    for (guint o = 0; o < shape->outputs; o++)
      self->weights[shape->w2 + o * shape->padded + j] =
          (gfloat) pbf_random_between (&random, -limit2, limit2);
  }
}

/* Work memory for a chunk of rows. */
static PbfTrainRows *
new_rows (const PbfTrainShape *shape)
{
  PbfTrainRows *rows = g_new0 (PbfTrainRows, 1);

  rows->hidden = g_new0 (gfloat, PBF_TRAIN_ROWS * shape->padded);
  rows->back = g_new0 (gfloat, PBF_TRAIN_ROWS * shape->padded);
  return rows;
}

static void
free_rows (PbfTrainRows *rows)
{
  g_free (rows->hidden);
  g_free (rows->back);
  g_free (rows);
}

/* --- training -------------------------------------------------------------- */

/* Gradients of chunks of the batch, each in an array of its own. */
static void
train_chunks (guint first, guint count, gpointer data)
{
  Trainer *self = data;
  PbfTrainRows *rows = new_rows (&self->shape);

  for (guint chunk = first; chunk < first + count; chunk++) {
    const guint begin = chunk * PBF_TRAIN_ROWS;

    rows->n = MIN (PBF_TRAIN_ROWS, self->batch_n - begin);
    for (guint r = 0; r < rows->n; r++) {
      const guint32 at = self->order[self->batch_at + begin + r];

      memcpy (rows->x[r], self->x[PBF_PART_TRAIN] + (gsize) at * N_FEATURES,
          sizeof rows->x[r]);
      rows->labels[r] = self->labels[PBF_PART_TRAIN][at];
      rows->weights[r] =
          self->class_weights[rows->labels[r]] / (gfloat) self->batch_n;
    }
    self->kernels->forward (&self->shape, self->weights, rows);
    self->kernels->backward (&self->shape, self->weights, rows,
        self->gradients + (gsize) chunk * self->shape.n);
  }
  free_rows (rows);
}

/* The learning rate falls like a cosine, as (1 - p)^2 (1 + 2 p), which has the same bits
 * everywhere. @decay: (inout): powers of both betas. Returns: FALSE if cancelled */
static gboolean
train_epoch (
    Trainer *self, guint epoch, PbfRandomState *random, gdouble decay[2])
{
  const PbfTrainConfig *config = self->config;
  const gsize n = self->n[PBF_PART_TRAIN];
  const gsize batches = (n + config->batch - 1) / config->batch;

  pbf_random_shuffle (random, self->order, n);
  for (gsize batch = 0; batch < batches; batch++) {
    const gdouble progress =
        ((gdouble) epoch + (gdouble) batch / (gdouble) batches)
        / config->epochs;
    const gdouble rate =
        config->rate * (1 - progress) * (1 - progress) * (1 + 2 * progress);
    gdouble root;
    PbfAdam adam = { .beta1 = 0.9f, .beta2 = 0.999f };
    guint chunks;

    decay[0] *= 0.9;
    decay[1] *= 0.999;
    root = sqrt (1 - decay[1]);
    adam.rate = (gfloat) (rate * root / (1 - decay[0]));
    adam.epsilon = (gfloat) (1e-8 * root);
    self->batch_at = batch * config->batch;
    self->batch_n = (guint) MIN (config->batch, n - self->batch_at);
    chunks = (self->batch_n + PBF_TRAIN_ROWS - 1) / PBF_TRAIN_ROWS;
    cvis_pool_run (self->pool, chunks, 1, train_chunks, self);
    if (cvis_cancelled ())
      return FALSE;
    self->kernels->step (&self->shape, &adam, self->gradients, chunks,
        self->first, self->second, self->weights);
  }
  return TRUE;
}

/* --- end of training ------------------------------------------------------- */

static gdouble
cross_entropy (const gfloat *logits, guint n, guint label, gdouble scale)
{
  gdouble top = logits[0], sum = 0;

  for (guint o = 1; o < n; o++)
    top = MAX (top, logits[o]);
  for (guint o = 0; o < n; o++)
    sum += exp (scale * (logits[o] - top));
  return log (sum) - scale * (logits[label] - top);
}

static void
stop_chunks (guint first, guint count, gpointer data)
{
  Trainer *self = data;
  PbfTrainRows *rows = new_rows (&self->shape);
  const guint outputs = self->shape.outputs;

  for (guint chunk = first; chunk < first + count; chunk++) {
    const gsize begin = (gsize) chunk * PBF_TRAIN_ROWS;

    rows->n = (guint) MIN (PBF_TRAIN_ROWS, self->n[PBF_PART_STOP] - begin);
    memcpy (rows->x, self->x[PBF_PART_STOP] + begin * N_FEATURES,
        rows->n * sizeof rows->x[0]);
    self->kernels->forward (&self->shape, self->weights, rows);
    self->losses[chunk] = 0;
    for (guint r = 0; r < rows->n; r++) {
      const guint label = self->labels[PBF_PART_STOP][begin + r];

      memcpy (self->logits + (begin + r) * outputs, rows->logits[r],
          outputs * sizeof *self->logits);
      self->losses[chunk] +=
          self->class_weights[label]
          * cross_entropy (rows->logits[r], outputs, label, 1);
    }
  }
  free_rows (rows);
}

static guint
count_stop_chunks (const Trainer *self)
{
  return (
      guint) ((self->n[PBF_PART_STOP] + PBF_TRAIN_ROWS - 1) / PBF_TRAIN_ROWS);
}

static gdouble
stop_loss (Trainer *self)
{
  const guint chunks = count_stop_chunks (self);
  gdouble sum = 0;

  cvis_pool_run (self->pool, chunks, 8, stop_chunks, self);
  for (guint chunk = 0; chunk < chunks; chunk++)
    sum += self->losses[chunk];
  return sum / (gdouble) self->n[PBF_PART_STOP];
}

/* Golden-section search for the temperature with the least loss (Guo et al., On
 * Calibration of Modern Neural Networks, 2017). Classes count as they occur. */
static gdouble
find_temperature (Trainer *self)
{
  gdouble low = -1.4, high = 2.1; /* logarithms: 0.25..8 */
  const gdouble golden = 0.6180339887498949;

  stop_loss (self);
  while (high - low > 1e-4) {
    gdouble losses[2] = { 0 }, at[2];

    at[0] = high - golden * (high - low);
    at[1] = low + golden * (high - low);
    for (guint k = 0; k < 2; k++)
      for (gsize r = 0; r < self->split->n[PBF_PART_STOP]; r++)
        losses[k] += cross_entropy (self->logits + r * self->shape.outputs,
            self->dataset->n_classes, self->labels[PBF_PART_STOP][r],
            exp (-at[k]));
    if (losses[0] < losses[1])
      high = at[1];
    else
      low = at[0];
  }
  return pbf_exp ((gfloat) ((low + high) / 2));
}

static gint
compare_logits (gconstpointer a, gconstpointer b)
{
  const gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return (x > y) - (x < y);
}

/* The amount to take off the logit of unknown frames so that the fraction REJECTED of
 * the rows reaches PBF_UNKNOWN_LIMIT. After find_temperature(). */
static gfloat
find_unknown_bias (const Trainer *self, gdouble scale)
{
  const gsize n = self->split->n[PBF_PART_STOP];
  const guint classes = self->dataset->n_classes;
  gfloat *scores = g_new (gfloat, n), bias;

  for (gsize r = 0; r < n; r++) {
    const gfloat *logits = self->logits + r * self->shape.outputs;

    /* the logarithm of its odds against all classes */
    scores[r] = (gfloat) (scale * (logits[classes] - logits[0])
                          - cross_entropy (logits, classes, 0, scale));
  }
  qsort (scores, n, sizeof *scores, compare_logits);
  bias = scores[n - 1 - (gsize) (REJECTED * (gdouble) n)];
  g_free (scores);
  return bias;
}

static void
export_weights (const Trainer *self, gdouble temperature, PbfNetwork *network)
{
  const PbfTrainShape *shape = &self->shape;
  const gfloat scale = (gfloat) (1 / temperature);

  for (guint h = 0; h < network->hidden; h++) {
    for (guint i = 0; i < N_FEATURES; i++)
      network->w1[h * N_FEATURES + i] = self->weights[i * shape->padded + h];
    network->b1[h] = self->weights[shape->b1 + h];
    for (guint o = 0; o < shape->outputs; o++)
      network->w2[o * network->hidden + h] =
          self->weights[shape->w2 + o * shape->padded + h] * scale;
  }
  for (guint o = 0; o < shape->outputs; o++)
    network->b2[o] = self->weights[shape->b2 + o] * scale;
  network->b2[shape->outputs - 1] -= find_unknown_bias (self, scale);
}

/* --- a training ------------------------------------------------------------ */

static void
run_epochs (Trainer *self, PbfTraining *training)
{
  const PbfTrainConfig *config = self->config;
  PbfRandomState random = pbf_random_init (config->seed, 3);
  gdouble decay[2] = { 1, 1 };

  for (guint epoch = 0; epoch < config->epochs
                        && epoch < training->best_epoch + config->patience;
       epoch++) {
    PbfTrainEpoch done = { epoch + 1, config->epochs };

    training->cancelled = !train_epoch (self, epoch, &random, decay);
    if (training->cancelled)
      break;
    done.loss = stop_loss (self);
    training->cancelled = cvis_cancelled ();
    if (training->cancelled)
      break;
    done.best = training->best_epoch == 0 || done.loss < training->loss;
    if (done.best) {
      training->loss = done.loss;
      training->best_epoch = done.number;
      memcpy (self->best, self->weights, self->shape.n * sizeof *self->best);
    }
    training->epochs = done.number;
    if (config->epoch != NULL)
      config->epoch (&done, config->data);
  }
}

static void
init_trainer (Trainer *self)
{
  const gsize n = self->n[PBF_PART_TRAIN];
  const gsize parts =
      (self->config->batch + PBF_TRAIN_ROWS - 1) / PBF_TRAIN_ROWS;

  self->kernels = CVIS_CPU_CHOOSE (pbf_train);
  self->weights = g_new0 (gfloat, self->shape.n);
  self->best = g_new0 (gfloat, self->shape.n);
  self->first = g_new0 (gfloat, self->shape.n);
  self->second = g_new0 (gfloat, self->shape.n);
  self->gradients = g_new0 (gfloat, parts * self->shape.n);
  self->losses = g_new0 (gdouble, count_stop_chunks (self));
  self->logits = g_new0 (gfloat, self->n[PBF_PART_STOP] * self->shape.outputs);
  self->order = g_new (guint32, n);
  for (gsize r = 0; r < n; r++)
    self->order[r] = (guint32) r;
  self->pool = cvis_pool_new (self->config->threads);
}

static void
clear_trainer (Trainer *self)
{
  cvis_pool_free (self->pool);
  g_free (self->x[PBF_PART_TRAIN]);
  g_free (self->x[PBF_PART_STOP]);
  g_free (self->labels[PBF_PART_TRAIN]);
  g_free (self->labels[PBF_PART_STOP]);
  g_free (self->order);
  g_free (self->weights);
  g_free (self->best);
  g_free (self->first);
  g_free (self->second);
  g_free (self->gradients);
  g_free (self->losses);
  g_free (self->logits);
}

/* Until a machine's baseline is known, the average of the training's. */
static void
fold_average (const PbfDataset *dataset, PbfNetwork *network)
{
  const GArray *machines = dataset->machine_stats;
  gdouble means[N_FEATURES] = { 0 };

  for (guint i = 0; i < N_FEATURES; i++)
    for (guint m = 0; m < machines->len; m++)
      means[i] +=
          g_array_index (machines, PbfMachineStats, m).mean[i] / machines->len;
  pbf_network_fold (network, means);
}

/* The temperature is found in spite of the flag: it takes milliseconds. */
static void
finish_training (Trainer *self, PbfTraining *training, PbfNetwork *network)
{
  const gint *flag = cvis_cancel_get_watched ();

  memcpy (self->weights, self->best, self->shape.n * sizeof *self->weights);
  cvis_cancel_watch (NULL);
  cvis_pool_free (self->pool);
  self->pool = cvis_pool_new (1);
  training->temperature = find_temperature (self);
  cvis_cancel_watch (flag);
  export_weights (self, training->temperature, network);
  fold_average (self->dataset, network);
}

PbfNetwork *
pbf_train (const PbfDataset *dataset, const PbfSplit *split,
    const PbfTrainConfig *config, PbfTraining *training, GError **error)
{
  Trainer self = { config, dataset, split };
  PbfNetwork *network;

  *training = (PbfTraining){ 0 };
  if (!pbf_train_config_check (config, error) || !check_finite (dataset, error))
    return NULL;
  network = pbf_network_new (
      config->hidden, (const gchar *const *) dataset->classes, TRUE);
  pbf_network_standardise (
      network, dataset, split->rows[PBF_PART_TRAIN], split->n[PBF_PART_TRAIN]);
  self.shape = make_shape (config->hidden, dataset->n_classes + 1);
  standardise_part (&self, network, PBF_PART_TRAIN);
  standardise_part (&self, network, PBF_PART_STOP);
  init_trainer (&self);
  find_class_weights (&self);
  init_weights (&self);
  run_epochs (&self, training);
  if (training->best_epoch > 0)
    finish_training (&self, training, network);
  else
    cvis_refuse_cancelled (error);
  if (training->best_epoch == 0)
    g_clear_pointer (&network, pbf_network_free);
  clear_trainer (&self);
  return network;
}
