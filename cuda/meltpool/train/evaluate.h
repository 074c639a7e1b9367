/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Answers of a network on rows that it was not trained on, with the arithmetic of the
 * element and the baseline of each row's machine. */
#pragma once

#include "cuda/meltpool/train/network.h"

G_BEGIN_DECLS

#define PBF_RELIABILITY_BINS 10
#define PBF_COVERAGE_POINTS 20
#define PBF_SEVERITY_BINS 10

/* Outputs for @n @rows of @dataset. Free with g_free().
 * Returns: [@n][outputs] */
gfloat *pbf_predict (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n);

/* The class by the outputs for a row, as the element finds it. */
guint pbf_network_choose (const PbfNetwork *network, const gfloat *outputs);

/**
 * PbfMachineScore: rows of one machine
 * @balanced: mean over the classes that occur of the fraction recognised
 */
typedef struct {
  guint machine;
  gsize n;
  gdouble balanced;
} PbfMachineScore;

/**
 * PbfEvaluation:
 * @n_answers: the classes, and one more if the network has an output of unknown frames
 * @confusion: rows of each class (first index) by answer (second)
 * @rejected: rows that are answered as unknown, which is wrong for each of them
 * @recall: fraction of each class that is recognised; NaN without rows
 * @balanced: their mean
 * @machines: of #PbfMachineScore, in the order of their numbers
 * @worst: index of the lowest one in @machines
 * @bin_n, @bin_confidence, @bin_accuracy: rows by the probability of the answer: number,
 *   mean probability, fraction that is right; without rejected rows, as the next one
 * @calibration_error: expected calibration error: mean of |accuracy - confidence| over
 *   rows
 * @coverage_accuracy: fraction that is right of the (i + 1) / PBF_COVERAGE_POINTS of rows
 *   with the largest probabilities
 * @severity_n, @severity_accuracy: rows of defects, by severity; all 0 if it is not known
 */
typedef struct {
  guint n_classes, n_answers;
  gsize n, rejected;
  guint64 confusion[CVIS_PBF_MAX_OUTPUTS][CVIS_PBF_MAX_OUTPUTS];
  gdouble recall[CVIS_PBF_MAX_OUTPUTS];
  gdouble balanced;
  GArray *machines;
  guint worst;
  guint64 bin_n[PBF_RELIABILITY_BINS];
  gdouble bin_confidence[PBF_RELIABILITY_BINS];
  gdouble bin_accuracy[PBF_RELIABILITY_BINS];
  gdouble calibration_error;
  gdouble coverage_accuracy[PBF_COVERAGE_POINTS];
  guint64 severity_n[PBF_SEVERITY_BINS];
  gdouble severity_accuracy[PBF_SEVERITY_BINS];
} PbfEvaluation;

/* @outputs: of pbf_predict() */
void pbf_evaluate (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n, const gfloat *outputs,
    PbfEvaluation *evaluation);
void pbf_evaluation_clear (PbfEvaluation *evaluation);

/* Importance of a feature: by how much the balanced accuracy falls if each row gets the
 * feature's value of another row, relative to its machine's baseline. */
void pbf_importance (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n, guint64 seed,
    gdouble importance[CVIS_PBF_N_FEATURES]);

/* pbf_model_find_impurity() of the baseline of @n @rows, all of one machine */
guint pbf_find_impurity (const PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n, gdouble *fraction);

G_END_DECLS
