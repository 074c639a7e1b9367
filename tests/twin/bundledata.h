/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Bundle adjustment problems for tests and benchmarks. */
#pragma once

#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

/* The BAL problem bundle/@name.txt.bz2 in CUDAVISION_TEST_DATA, unpacked by
 * bzip2.
 * Returns: %NULL with a reason to skip a test (a literal) in @why */
BundleProblem *bundle_data_load (const gchar *name, const gchar **why);

/* Cameras on a ring around a cloud of points that all of them see, some noise.
 * The same @seed makes the same problem. */
BundleProblem *bundle_data_ring (guint n_cameras, guint n_points, guint32 seed);

/* @copies of @problem without connections between them, the numbers of cameras
 * and points shuffled. */
BundleProblem *bundle_data_repeat (
    const BundleProblem *problem, guint copies, guint32 seed);

/* 1/2 sum of |r|^2, after Rodrigues' formula and one after the other: another
 * way than the engine's. */
gdouble bundle_data_cost (const BundleProblem *problem);

G_END_DECLS
