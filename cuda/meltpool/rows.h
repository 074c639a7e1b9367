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

/* Enough bytes for any header or row, besides those for PbfRowNames.room */
#define PBF_CSV_ROW_MAX 2048
#define PBF_JSON_ROW_MAX 6144

/**
 * PbfRowNames: the names of the network's outputs
 * @csv: as cells of a table, quoted where that is needed
 * @json: as strings of JSON, with quotes
 * @room: the most bytes that the names add to a header or row
 */
typedef struct {
  gchar *csv[CVIS_PBF_MAX_OUTPUTS], *json[CVIS_PBF_MAX_OUTPUTS];
  gsize room;
} PbfRowNames;

/* @names: (nullable): @n names; missing ones, and those that are not valid UTF-8, are
 *   out_0, out_1 and so on */
PbfRowNames *pbf_row_names_new (const gchar *const *names, guint n);
void pbf_row_names_free (PbfRowNames *names);

/* Copies the record at @bytes, at any alignment, to @result and checks it.
 * Returns: FALSE with CVIS_ERROR_FORMAT naming the wrong field (magic, size,
 * version, n_outputs, n_spatters, class_index, vote_class) and its byte offset */
gboolean pbf_result_parse (
    gconstpointer bytes, CvisPbfResult *result, GError **error);

/* Writes the names of the columns: frame_counter, timestamp_ns, layer, x_um,
 * y_um, flags, pool_x_px, pool_y_px, the 40 features, the outputs; with two outputs
 * or more class, probability, vote, vote_share. Each of these functions writes a line
 * with its line feed to @to, without NUL, and returns its end. */
gchar *pbf_csv_header (gchar *to, guint n_outputs, const PbfRowNames *names);

/* @n_outputs: columns for outputs; missing outputs, a missing time, class and
 *   probability are left empty. Numbers that are not finite are written as inf, -inf
 *   and nan. */
gchar *pbf_csv_row (gchar *to, const CvisPbfResult *result, guint n_outputs,
    const PbfRowNames *names);

/* The same names as in CSV, outputs as an object, then the fields that CSV
 * leaves out. Numbers that are not finite and what is missing are null. */
gchar *pbf_json_row (
    gchar *to, const CvisPbfResult *result, const PbfRowNames *names);

G_END_DECLS
