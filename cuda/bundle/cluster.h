/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Clusters of cameras for the preconditioner. Private to the library. */
#pragma once

#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

#define BUNDLE_CLUSTER 8 /* largest number of cameras in a cluster */
#define BUNDLE_CLUSTER_SIDE (9 * BUNDLE_CLUSTER)

typedef struct {
  guint32 n;
  guint32 cameras[BUNDLE_CLUSTER];
} BundleMembers;

/**
 * BundleClusters: every camera belongs to one cluster
 * @cluster_of: of a camera
 * @place: of a camera: its index in the cluster
 */
typedef struct {
  guint32 n;
  BundleMembers *members;
  guint32 *cluster_of, *place;
} BundleClusters;

/* A cluster starts with the first unassigned camera and adds the unassigned
 * cameras that share most points with it. The order of the observations does
 * not matter.
 * Returns: FALSE with CVIS_ERROR_MEMORY */
gboolean bundle_clusters_init (
    BundleClusters *clusters, const BundleProblem *problem, GError **error);
void bundle_clusters_clear (BundleClusters *clusters);

G_END_DECLS
