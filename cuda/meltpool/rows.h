/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Result records as rows of text: CSV with the columns of "pbf40-v1", or a JSON
 * object a line. Functions keep no state and may be called from any thread. */
#pragma once

#include "cuda/core/error.h"
#include "cuda/records/pbfrecord.h"

G_BEGIN_DECLS

/* Enough bytes for any header or row */
#define PBF_CSV_ROW_MAX 2048
#define PBF_JSON_ROW_MAX 6144

/* Reads the record at @bytes, which may have any alignment, into @result.
 * Returns: FALSE with CVIS_ERROR_FORMAT naming the field that is wrong (magic,
 * size, version, n_outputs, n_spatters) and its byte offset in the record. */
gboolean pbf_result_parse (
    gconstpointer bytes, PbfResult *result, GError **error);

/* The names of the columns: frame_counter, timestamp_ns, layer, x_um, y_um,
 * flags, pool_x_px, pool_y_px, the 40 features, out_0 to out_(@n_outputs - 1).
 * Each writes at @to a line with its line feed, no NUL, and returns its end. */
gchar *pbf_csv_header (gchar *to, guint n_outputs);

/* @n_outputs: columns for outputs; those the record does not have stay empty,
 * as does the time of a frame that had none. Numbers that are not finite are
 * inf, -inf and nan. */
gchar *pbf_csv_row (gchar *to, const PbfResult *result, guint n_outputs);

/* The same names as in CSV, outputs as an array, then what CSV has no room for.
 * Numbers that are not finite, and the time of a frame that had none, are
 * null. */
gchar *pbf_json_row (gchar *to, const PbfResult *result);

G_END_DECLS
