/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Tar archives in memory, which hold the files of COLMAP models: ustar, with the
 * long names of GNU tar and pax. Called by colmap.c and formats.c. */
#pragma once

#include "cuda/bundle/formats/text.h"

G_BEGIN_DECLS

/**
 * BundleTar: an archive, or its beginning
 * @data, @size: of the archive
 * @at: start of the next header
 * @name: of the current file without its folders, %NULL for other entries;
 *   valid until the next call
 * @start, @n: contents of the current file; may go beyond the end of the archive
 */
typedef struct {
  const gchar *data;
  gsize size, at;
  gchar *name;
  const gchar *start;
  guint64 n;
} BundleTar;

/* Moves to the next entry. Returns: FALSE at the end, or with
 * CVIS_ERROR_FORMAT that names the byte. Then @tar holds no memory. */
gboolean bundle_tar_next (BundleTar *tar, GError **error);
void bundle_tar_clear (BundleTar *tar);

/* Appends a file. Returns: FALSE with CVIS_ERROR_INVALID if it is too large */
gboolean bundle_tar_write (
    BundleText *tar, const gchar *name, const BundleText *text, GError **error);
/* Appends the end of the archive. */
void bundle_tar_finish (BundleText *tar);

G_END_DECLS
