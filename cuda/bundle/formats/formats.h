/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of reconstructions. Axes and units are converted to those of
 * cuda/bundle/problem.h; the formats and their conventions are in
 * docs/design/bundle-formats.md. */
#pragma once

#include "cuda/bundle/colmap/model.h"
#include "cuda/bundle/problem.h"

G_BEGIN_DECLS

typedef enum {
  BUNDLE_FORMAT_BAL,     /* Bundle Adjustment in the Large, text */
  BUNDLE_FORMAT_BUNDLER, /* Bundler .out, version 0.3 */
  BUNDLE_FORMAT_NVM,     /* VisualSFM, NVM_V3 */
  BUNDLE_FORMAT_COLMAP, /* COLMAP text: cameras, images, points3D in one stream */
  BUNDLE_FORMAT_PLY,    /* written only */
  BUNDLE_FORMAT_TRANSFORMS, /* nerfstudio's transforms.json, written only */
  BUNDLE_FORMAT_TUM,        /* TUM trajectory, written only */
} BundleFormat;

/* Detects the format by the beginning of @data. Returns: FALSE if no
 * supported format matches */
gboolean bundle_format_detect (
    const gchar *data, gsize size, BundleFormat *format);

/* Whether more than the first numbers of @data, which is detected as @format, is
 * like that format: other texts begin with numbers too. */
gboolean bundle_format_is_certain (
    const gchar *data, gsize size, BundleFormat format);

/* Whether @data begins like a transforms.json (cuda/bundle/colmap/transforms.h) */
gboolean bundle_format_is_transforms (const gchar *data, gsize size);

/* Why @data, the beginning of a file, is not supported, and what to do. For a tar
 * archive at least 512 bytes are needed. */
const gchar *bundle_format_hint (const gchar *data, gsize size);

/* Describes the data of @problem that a file of @format does not hold or has to guess,
 * and the effect on the cost (half the sum of squared reprojection errors, pixels^2), in
 * sentences. A cost that changes by less than 1e-9 of itself is kept.
 * @threads: 0: one per processor
 * Returns: (nullable): %NULL: nothing, or cancelled. g_free() */
gchar *bundle_format_losses (
    const BundleProblem *problem, BundleFormat format, guint threads);

/* Reads a file. A byte order mark of UTF-8 is skipped. @threads: 0: one per processor
 * Returns: %NULL with CVIS_ERROR_FORMAT that names line and field,
 * CVIS_ERROR_MEMORY or CVIS_ERROR_CANCELLED (cuda/core/cancel.h) */
BundleProblem *bundle_read (const gchar *data, gsize size, BundleFormat format,
    guint threads, GError **error);

/* Takes the next bytes of a file. Memory of @part is reused after it is freed.
 * Returns: FALSE to cancel */
typedef gboolean (*BundleSink) (GBytes *part, gpointer user_data);

/* Writes a file. Numbers are written so that reading them gives the same
 * bits. The reader of the format accepts what is written.
 * @errors: (nullable): of the points, pixels, for BUNDLE_FORMAT_PLY's
 *   colours and COLMAP's field ERROR
 * @sink: called in the calling thread, for many parts of BAL while the next
 *   ones are formatted, for one part of other formats
 * Returns: FALSE with CVIS_ERROR_INVALID if the format cannot hold the
 * problem, CVIS_ERROR_MEMORY or CVIS_ERROR_CANCELLED */
gboolean bundle_write_parts (const BundleProblem *problem, BundleFormat format,
    const gdouble *errors, guint threads, BundleSink sink, gpointer user_data,
    GError **error);

/* Writes a file in one piece. Returns: %NULL with an error as above */
GBytes *bundle_write (const BundleProblem *problem, BundleFormat format,
    const gdouble *errors, guint threads, GError **error);

/* A problem of a COLMAP model whose cameras BAL can express; each image is a camera.
 * @model: loses the names of its images
 * Returns: %NULL with CVIS_ERROR_FORMAT or CVIS_ERROR_MEMORY */
BundleProblem *bundle_colmap_convert (BundleModel *model, GError **error);

G_END_DECLS
