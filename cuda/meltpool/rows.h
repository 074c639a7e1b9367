/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Result records as rows of text: CSV with the columns of "pbf40-v1", or one
 * JSON object a line. The functions keep no state and may be called from any
 * thread. */
#pragma once

#include "cuda/core/error.h"
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

/* Enough bytes for any header or row */
#define PBF_CSV_ROW_MAX 2048
#define PBF_JSON_ROW_MAX 6144

/* Copies the record at @bytes, at any alignment, to @result and checks it.
 * Returns: FALSE with CVIS_ERROR_FORMAT naming the wrong field (magic, size,
 * version, n_outputs, n_spatters) and its byte offset */
gboolean pbf_result_parse (
    gconstpointer bytes, CvisPbfResult *result, GError **error);

/* Writes the names of the columns: frame_counter, timestamp_ns, layer, x_um,
 * y_um, flags, pool_x_px, pool_y_px, the 40 features, out_0 to
 * out_(@n_outputs - 1). Each of these functions writes a line with its line
 * feed to @to, without NUL, and returns its end. */
gchar *pbf_csv_header (gchar *to, guint n_outputs);

/* @n_outputs: columns for outputs; missing outputs and a missing time are
 *   left empty. Numbers that are not finite are written as inf, -inf and
 *   nan. */
gchar *pbf_csv_row (gchar *to, const CvisPbfResult *result, guint n_outputs);

/* The same names as in CSV, outputs as an array, then the fields that CSV
 * leaves out. Numbers that are not finite and a missing time are null. */
gchar *pbf_json_row (gchar *to, const CvisPbfResult *result);

G_END_DECLS
