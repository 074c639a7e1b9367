/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Tables of pbfresultenc: frames with their features. Called by load.c. */
#pragma once

#include "cuda/meltpool/train/frames.h"
#include "cuda/meltpool/train/labels.h"

G_BEGIN_DECLS

/* Reads the @size bytes of a table; @filename: for errors. The vector of its frames is
 * PBF_NO_VECTOR.
 * Returns: FALSE with CVIS_ERROR_FORMAT naming line and column, or the error of @func */
gboolean pbf_read_table (const gchar *filename, const gchar *bytes, gsize size,
    PbfResultFunc func, gpointer data, GError **error);

G_END_DECLS
