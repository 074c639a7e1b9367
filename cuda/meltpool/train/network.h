/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A network as training makes it, and its file (docs/design/model-file.md). Besides the
 * element's tensors the file has what is needed to fold the baseline of a machine into
 * mean and standard deviation of the inputs. */
#pragma once

#include "cuda/meltpool/model.h"
#include "cuda/meltpool/train/dataset.h"

G_BEGIN_DECLS

/**
 * PbfNetwork:
 * @hidden: 1..512
 * @outputs: 2..8: the classes, and if @unknown one more, which says that a frame is of none
 *   of them
 * @names: of the outputs
 * @threshold, @window: of the features
 * @w1: [@hidden][40], @b1: [@hidden], @w2: [@outputs][@hidden], @b2: [@outputs]
 * @mean, @std: of the inputs, with the baseline of @machine
 * @base_mean, @base_std: mean and standard deviation over the training rows of
 *   (feature - M) / (|M| + 0.1 @base_sigma), where M is the feature's
 *   mean over the nominal rows of the row's machine
 * @base_sigma: the feature's standard deviation over nominal rows, averaged over
 *   machines
 * @machine: (nullable): name of the machine whose baseline is in the file; %NULL: of
 *   none in particular
 * @about: (nullable): one line on the training data
 */
typedef struct {
  guint hidden, outputs;
  gboolean unknown;
  gchar **names;
  guint threshold, window;
  gfloat *w1, *b1, *w2, *b2;
  gfloat mean[CVIS_PBF_N_FEATURES], std[CVIS_PBF_N_FEATURES];
  gfloat base_mean[CVIS_PBF_N_FEATURES], base_std[CVIS_PBF_N_FEATURES];
  gfloat base_sigma[CVIS_PBF_N_FEATURES];
  gchar *machine;
  gchar *about;
} PbfNetwork;

#define PBF_UNKNOWN_NAME "unknown"

/* Weights of zero, threshold 100, window 20. @classes: names, copied
 * @unknown: with one more output, PBF_UNKNOWN_NAME */
PbfNetwork *pbf_network_new (
    guint hidden, const gchar *const *classes, gboolean unknown);
void pbf_network_free (PbfNetwork *network);

/* Finds base_sigma, base_mean and base_std from @n @rows of @dataset, whose machines
 * have baselines. */
void pbf_network_standardise (PbfNetwork *network, const PbfDataset *dataset,
    const guint32 *rows, gsize n);
/* Sets mean and std for a machine with these means of the features over its nominal
 * rows: mean = M + base_mean * s, std = base_std * s, s = pbf_baseline_scale(). */
void pbf_network_fold (
    PbfNetwork *network, const gdouble means[CVIS_PBF_N_FEATURES]);

/* The bytes of the file. */
GBytes *pbf_network_to_bytes (const PbfNetwork *network);
/* Returns: %NULL with CVIS_ERROR_FORMAT or INVALID as pbf_model_load(), or if the file
 * has no tensors of a baseline */
PbfNetwork *pbf_network_load (const gchar *filename, GError **error);

/* Whether the baseline of @machine (nullable: without a name) may go into @network.
 * Returns: FALSE with CVIS_ERROR_INVALID if the file has the baseline of another
 * machine, by name */
gboolean pbf_network_check_machine (
    const PbfNetwork *network, const gchar *machine, GError **error);

G_END_DECLS
