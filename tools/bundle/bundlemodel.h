/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* `cudavision bundle` from a folder with a model of COLMAP to another. */
#pragma once

#include "tools/command.h"
#include "colmapoptions.h"

G_BEGIN_DECLS

/**
 * BundleModelCall:
 * @common: for threads, output and report
 * @input, @output: folders, which may be the same
 * @constants: (nullable): file of what stays constant (colmap/names.h)
 * @priors, @database: (nullable): text (colmap/priors.h) or database of COLMAP with
 *   positions of images; @prior_std: where these have no deviation
 * @poses: (nullable): transforms.json whose poses replace those of the model
 * @transforms: (nullable): transforms.json that gets the adjusted poses, made if it does
 *   not exist
 * @binary: write binary files; otherwise the kind of files that was read
 */
typedef struct {
  const CommonOptions *common;
  const gchar *input, *output, *constants, *priors, *database, *poses,
      *transforms;
  gdouble prior_std;
  gboolean binary;
  const BundleModelSettings *settings;
  const BundleConfig *config;
} BundleModelCall;

/* Adjusts the model, writes it, and prints the result. An interruption writes the best
 * state so far. */
void bundle_model_adjust (const BundleModelCall *call, GError **error);

G_END_DECLS
