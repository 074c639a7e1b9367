/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Bundle adjustment problems for tests and benchmarks. */
#pragma once

#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

/* Loads the BAL problem bundle/@name.txt.bz2 in CUDAVISION_TEST_DATA,
 * unpacked by bzip2. Returns: %NULL, with a reason to skip the test (a
 * literal) in @why */
BundleProblem *bundle_data_load (const gchar *name, const gchar **why);

/**
 * BundleOracle: costs of a BAL problem, computed by the Ceres Solver 2.1.0
 * @initial, @huber_initial: without a loss, and with a Huber loss of scale 1
 * @deep: the minimum with function_tolerance 1e-14
 * @huber: the minimum with Ceres's defaults
 * @tolerance: relative distance above @deep that is allowed
 */
typedef struct {
  const gchar *name;
  gdouble initial, deep, huber_initial, huber;
  gdouble tolerance;
} BundleOracle;

#define BUNDLE_ORACLES 3
extern const BundleOracle bundle_oracles[BUNDLE_ORACLES];

/* Cameras on a ring around a cloud of points seen by all of them, with some
 * noise. The same @seed gives the same problem. */
BundleProblem *bundle_data_ring (guint n_cameras, guint n_points, guint32 seed);

/* @copies of @problem without connections between them, with shuffled
 *   indices of cameras and points. */
BundleProblem *bundle_data_repeat (
    const BundleProblem *problem, guint copies, guint32 seed);

/* 1/2 sum of |r|^2 with Rodrigues' formula and a plain sum: independent of
 * the engine's implementation. */
gdouble bundle_data_cost (const BundleProblem *problem);

/* Prints rows of docs/images/plots.csv without their source: seconds,
 * and the relative distance of @costs from the deep minimum, for a problem
 * of bundle_oracles. */
void bundle_data_print_history (const gchar *problem, const gchar *series,
    const gdouble *seconds, const gdouble *costs, gsize n);

G_END_DECLS
