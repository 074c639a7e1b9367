/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* What `cudavision bundle` from folder to folder tells about its result: text, JSON and
 * the page of --report. */
#pragma once

#include <gst/gst.h>

#include "cuda/bundle/colmap/transforms.h"
#include "cuda/core/backend.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "modelerrors.h"

G_BEGIN_DECLS

/**
 * ModelRun: an adjustment
 * @errors: measured for JSON, report and robust losses; otherwise without images
 * @numbers, @costs: of the iterations
 * @prior_rms: RMS distance of images and priors
 * @pictures: (nullable): of the cloud, for the report
 * @transforms: (nullable): the file to write; @ply: (nullable): of its points
 * @report: (nullable): the page, from model_begin_report()
 */
typedef struct {
  const CommonOptions *common;
  const gchar *input, *output;
  const BundleConfig *config;
  CvisContext *context; /* NULL: the CPU */
  BundleModel *model;
  BundleProblem *problem;
  BundleModelMap map;
  BundleSummary summary;
  Progress progress;
  ModelErrors errors;
  GArray *numbers, *costs;
  gdouble prior_rms[MODEL_STATES];
  GstSample *pictures[MODEL_STATES];
  BundleTransforms *transforms;
  gchar *ply;
  Report *report;
} ModelRun;

/* Both states as a table on the terminal. @rms: pixels */
void print_costs (
    const gdouble cost[MODEL_STATES], const gdouble rms[MODEL_STATES]);
/* A plot of the cost of each iteration */
void report_add_costs (
    Report *report, const GArray *numbers, const GArray *costs);

void model_print_result (const ModelRun *run);
void model_print_json (const ModelRun *run);

/* Paints points, coloured by their errors, and cameras of the problem. */
gboolean model_take_picture (ModelRun *run, guint state, GError **error);
/* Begins the page with the checksums of the files, which may be replaced later. */
void model_begin_report (ModelRun *run);
gboolean model_write_report (const ModelRun *run, GError **error);

G_END_DECLS
