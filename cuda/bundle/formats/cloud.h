/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A reconstruction for display: coloured points, and cameras as lines. */
#pragma once

#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

/**
 * BundleCloud:
 * @positions: n_vertices * 3
 * @colours: n_vertices * 3: red, green, blue, 0..255
 * @edges: n_edges * 2: indices of the vertices joined by each edge
 */
typedef struct {
  guint n_vertices, n_edges;
  gfloat *positions;
  guint8 *colours;
  guint32 *edges;
} BundleCloud;

/* Allocates a cloud with this capacity; n_vertices and n_edges are 0.
 * Returns: %NULL with CVIS_ERROR_MEMORY */
BundleCloud *bundle_cloud_allocate (
    guint64 n_vertices, guint64 n_edges, GError **error);
void bundle_cloud_free (BundleCloud *cloud);

/* The points of @problem, then a frustum of five vertices and eight edges for
 * each camera whose focal length is not 0.
 * @errors: (nullable): of the points, pixels: blue (0.125 and less), cyan, green
 *   (0.7), yellow, red (4 and more); without, the problem's colours or grey
 * Returns: %NULL with CVIS_ERROR_MEMORY */
BundleCloud *bundle_cloud_new (
    const BundleProblem *problem, const gdouble *errors, GError **error);

/* The smallest box that contains, along each axis, the middle @share (0..1)
 * of the @n @positions */
void bundle_cloud_box (const gfloat *positions, guint n, gdouble share,
    gfloat low[3], gfloat high[3]);

/* Writes binary little-endian PLY */
GBytes *bundle_cloud_write (const BundleCloud *cloud, GError **error);
/* Reads a PLY, ASCII or binary, with vertices and edges. Vertices have x, y, z (float
 * or double) and may have a colour: red, green, blue, also with "diffuse_" before, or
 * r, g, b; 0..255, 0..65535 (short and ushort) or 0..1 (float and double). Without they
 * are grey. Edges have vertex1, vertex2 (int or uint). Other properties of fixed size,
 * and elements after these, are ignored. A byte order mark of UTF-8 is skipped.
 * Returns: %NULL with CVIS_ERROR_FORMAT that names line and field,
 *   CVIS_ERROR_MEMORY or CVIS_ERROR_CANCELLED (cuda/core/cancel.h) */
BundleCloud *bundle_cloud_read (const gchar *data, gsize size, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BundleCloud, bundle_cloud_free)

G_END_DECLS
