/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Lists that name images, cameras and points of a model: what stays constant, and where
 * images were measured to be. Lines are
 *
 *   image NAME PARAMETERS      pose, rotation, position
 *   camera ID PARAMETERS       all, focal, centre, extra; pose: in its rig
 *   point ID
 *
 * for constants. # begins a comment. NAME is the name of an image or its id; one with
 * blanks is written in quotes ("). */
#pragma once

#include "cuda/bundle/colmap/model.h"
#include "cuda/bundle/formats/scanner.h"

G_BEGIN_DECLS

/* Images by name and id */
typedef struct _BundleModelNames BundleModelNames;

BundleModelNames *bundle_model_names_new (const BundleModel *model);
void bundle_model_names_free (BundleModelNames *names);
/* Reads a NAME. @image: (out): index
 * Returns: FALSE with CVIS_ERROR_FORMAT */
gboolean bundle_model_names_scan (const BundleModelNames *names,
    BundleScanner *s, guint *image, GError **error);

/* Marks images, cameras and points of @model as constant. @data: lines as above
 * Returns: FALSE with CVIS_ERROR_FORMAT that has line and field, or _MEMORY */
gboolean bundle_model_read_constants (
    BundleModel *model, const gchar *data, gsize size, GError **error);

G_END_DECLS
