/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The small network applied to the features, 40 -> hidden -> outputs, read
 * from a safetensors file (github.com/huggingface/safetensors, format of
 * version 0.4).
 *
 * Tensors, all F32: l1.weight [hidden, 40], l1.bias [hidden], l2.weight
 * [outputs, hidden], l2.bias [outputs], in.mean [40], in.std [40]; 1..512
 * hidden units, 1..8 outputs. Metadata (strings): feature_spec "pbf40-v1"
 * (required), threshold and window (used for the training features), outputs
 * (names, separated by commas), activation. docs/design/model-file.md
 * describes the file. */
#pragma once

#include "cuda/core/error.h"
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

#define PBF_MAX_HIDDEN 512

typedef enum {
  PBF_ACTIVATION_NONE,
  PBF_ACTIVATION_SIGMOID,
  PBF_ACTIVATION_SOFTMAX,
  PBF_ACTIVATION_AUTO,            /* the model's; not for an engine */
  PBF_ACTIVATION_SOFTMAX_UNKNOWN, /* softmax without the last output; that output is its
                                   * part of the softmax over all of them */
} PbfActivation;

typedef enum {
  PBF_BASELINE_NONE,     /* not relative to a machine */
  PBF_BASELINE_REQUIRED, /* trained relative to baselines, none is folded in yet */
  PBF_BASELINE_APPLIED, /* that of a machine is folded in */
} PbfBaselineState;

/**
 * PbfModel:
 * @hidden: 1..512
 * @outputs: 1..8
 * @threshold: used in training; -1 if the file does not specify it
 * @window: temporal window used in training, frames; -1 if the file does not
 *   specify it
 * @activation: of the outputs, by the file; NONE if it does not specify it
 * @unknown: the last output is no class: it says that a frame is of none of them
 * @mean: subtracted from each feature
 * @inv_std: factor after that: 1 / in.std, rounded once
 * @w1t: l1.weight transposed: [40][hidden_padded], rows padded with zeros to
 *   a multiple of 32
 * @b1: [hidden_padded]
 * @w2: [outputs][hidden_padded], padded with zeros
 * @b2: [outputs]
 * @names: of the outputs, NULL-terminated; "out_0".. if the file has none
 * @baseline: whether the network needs or has a machine's baseline
 * @sigma: unless PBF_BASELINE_NONE: base.sigma, the average standard deviation of each
 *   feature
 * @machine: (nullable): identity of the machine whose baseline is folded in
 */
typedef struct {
  guint hidden, hidden_padded, outputs;
  gint threshold, window;
  PbfActivation activation;
  gboolean unknown;
  gfloat mean[CVIS_PBF_N_FEATURES], inv_std[CVIS_PBF_N_FEATURES];
  gfloat *w1t, *b1, *w2, *b2;
  gchar **names;
  PbfBaselineState baseline;
  gfloat sigma[CVIS_PBF_N_FEATURES];
  gchar *machine;
  gatomicrefcount refs;
} PbfModel;

/* Returns: %NULL with CVIS_ERROR_FORMAT naming the wrong tensor or key and
 * the fault (CVIS_ERROR_INVALID if the file cannot be read). The file is
 * untrusted: header length, JSON, dtypes, shapes, offsets, overlaps, gaps,
 * values that are not finite and standard deviations that are not positive
 * are all refused. */
PbfModel *pbf_model_load (const gchar *filename, GError **error);
PbfModel *pbf_model_parse (const guint8 *bytes, gsize size, GError **error);
/* Reads the bytes of a model file, after checking its kind and size. */
gboolean pbf_model_read_file (
    const gchar *filename, gchar **bytes, gsize *size, GError **error);
/* Checks that a baseline in @model is that of @machine (nullable or empty: any).
 * Returns: FALSE with CVIS_ERROR_INVALID naming both */
gboolean pbf_model_check_machine (
    const PbfModel *model, const gchar *machine, GError **error);
PbfModel *pbf_model_ref (PbfModel *model);
void pbf_model_unref (PbfModel *model);

G_END_DECLS
