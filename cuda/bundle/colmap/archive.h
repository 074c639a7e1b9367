/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Models that are not folders: tar and zip archives of one, and files of a folder. */
#pragma once

#include "cuda/bundle/colmap/model.h"
#include "cuda/bundle/formats/cloud.h"

G_BEGIN_DECLS

/* Whether @data, the beginning of a file, is of a tar or zip archive whose first file has
 * the name of one of a model's, in any folder. */
gboolean bundle_model_is_archive (const gchar *data, gsize size);
/* Whether the name without its folder is that of a model's file */
gboolean bundle_model_is_file_name (const gchar *name);

/* Reads a tar archive. Folders and other files do not matter, but each name of a model's
 * files occurs once. Returns: %NULL with an error as bundle_model_parse() */
BundleModel *bundle_model_read_tar (
    const gchar *data, gsize size, GError **error);

/* --- open.c --- */

/* Reads a tar or zip archive. */
BundleModel *bundle_model_read_archive (
    const gchar *data, gsize size, GError **error);
/* Reads a folder, an archive, or the folder of the file @name if that has the name of a
 * model's file. */
BundleModel *bundle_model_open (const gchar *name, GError **error);

/* Points in their colours, and a frustum for each image
 * Returns: %NULL with CVIS_ERROR_INVALID or CVIS_ERROR_MEMORY */
BundleCloud *bundle_model_cloud (const BundleModel *model, GError **error);

/* --- archive.c, for open.c --- */

/* Number of the file in a model; BUNDLE_MODEL_FILES: none. @binary: (out) */
guint bundle_model_find_file (const gchar *name, gboolean *binary);
/* Parses the binary files if all three are there, otherwise the texts.
 * @parts: texts and binary files */
BundleModel *bundle_model_parse_members (
    const BundleModelFile parts[2][BUNDLE_MODEL_FILES], GError **error);
/* Adds a member. Returns: FALSE with CVIS_ERROR_FORMAT if it is there already */
gboolean bundle_model_add_member (BundleModelFile parts[2][BUNDLE_MODEL_FILES],
    const gchar *name, const gchar *data, gsize size, GError **error);

G_END_DECLS
