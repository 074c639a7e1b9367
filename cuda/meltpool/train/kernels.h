/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The arithmetic of training, compiled once for each instruction set: forward and
 * backward passes over a few rows, and the step of the optimiser. Each sum has one order,
 * the same in all of them. Called by trainer.c. */
#pragma once

#include <glib.h>

#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

/* Hidden units are padded to a multiple of this; a multiple of all vectors' lanes. */
#define PBF_TRAIN_LANES 16
/* Rows of one call; gradients of more are added up by the caller. */
#define PBF_TRAIN_ROWS 32

/**
 * PbfTrainShape: layout of weights and of their gradients in one array
 * @padded: hidden units, padded; the weights of the padding are and stay 0
 * @b1, @w2, @b2: offsets of these, w1 is at 0: w1 [40][padded], b1 [padded],
 *   w2 [outputs][padded], b2 [outputs]
 * @n: values in all, a multiple of PBF_TRAIN_LANES
 */
typedef struct {
  guint padded, outputs;
  guint b1, w2, b2, n;
} PbfTrainShape;

/**
 * PbfTrainRows: input and work memory of one call
 * @x: standardised inputs
 * @labels: the class of each row
 * @weights: of each row in the loss
 * @logits: (out): outputs before softmax
 * @hidden, @back: [PBF_TRAIN_ROWS][padded]
 */
typedef struct {
  guint n;
  gfloat x[PBF_TRAIN_ROWS][CVIS_PBF_N_FEATURES];
  guint8 labels[PBF_TRAIN_ROWS];
  gfloat weights[PBF_TRAIN_ROWS];
  gfloat logits[PBF_TRAIN_ROWS][CVIS_PBF_MAX_OUTPUTS];
  gfloat *hidden, *back;
} PbfTrainRows;

/**
 * PbfAdam: one step of Adam (Kingma & Ba, 2015)
 * @rate: learning rate with both bias corrections
 * @epsilon: with that of the second moment
 */
typedef struct {
  gfloat rate, beta1, beta2, epsilon;
} PbfAdam;

typedef struct {
  /* Logits of the rows, n rounded up to 4 with any values in the others. */
  void (*forward) (
      const PbfTrainShape *shape, const gfloat *weights, PbfTrainRows *rows);
  /* After forward: the gradient of the sum of @weights times cross-entropy. */
  void (*backward) (const PbfTrainShape *shape, const gfloat *weights,
      PbfTrainRows *rows, gfloat *gradient);
  /* @gradient: adds @n_parts arrays of @shape->n values to the first, in order */
  void (*step) (const PbfTrainShape *shape, const PbfAdam *adam,
      gfloat *gradient, guint n_parts, gfloat *first, gfloat *second,
      gfloat *weights);
} PbfTrainKernels;

extern const PbfTrainKernels pbf_train_generic;
extern const PbfTrainKernels pbf_train_v3;
extern const PbfTrainKernels pbf_train_v4;

/* Probabilities from logits; arithmetic.h's exp. */
void pbf_train_softmax (const gfloat *logits, guint n, gfloat *probabilities);

G_END_DECLS
