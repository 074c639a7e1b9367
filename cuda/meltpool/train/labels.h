/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Labels of frames from a table: which class the frames of a layer, a vector or a range of
 * frames have. The first row names the columns, any of
 *
 *   file    name of the data file, without its folder
 *   layer   number, or first-last
 *   vector  numbers or ranges of scan vectors within the layers
 *   frame   numbers or ranges of the frame counter
 *   class   a name; required
 *
 * A row labels the frames that match all its cells; an empty cell matches any. */
#pragma once

#include "cuda/core/error.h"

G_BEGIN_DECLS

typedef struct _PbfLabels PbfLabels;

/* @nominal: class of the nominal state, which the file must have
 * Returns: %NULL with CVIS_ERROR_FORMAT naming file, line and fault */
PbfLabels *pbf_labels_load (
    const gchar *filename, const gchar *nominal, GError **error);
/* The same from @size bytes; @filename: for errors */
PbfLabels *pbf_labels_parse (const gchar *filename, const gchar *bytes,
    gsize size, const gchar *nominal, GError **error);
void pbf_labels_free (PbfLabels *labels);

/* Names, ended by %NULL; the nominal one first, then as they occur. */
const gchar *const *pbf_labels_get_classes (const PbfLabels *labels);

#define PBF_LABEL_NONE -1
#define PBF_NO_VECTOR G_MAXUINT32 /* the vector is not known */

/* Finds the class of a frame; PBF_LABEL_NONE if no row matches.
 * Returns: FALSE with CVIS_ERROR_INVALID if two rows have different classes for it, or a
 * row asks for the vector of data that have none */
gboolean pbf_labels_find (PbfLabels *labels, const gchar *file, guint32 layer,
    guint32 vector, guint32 frame, gint *label, GError **error);

/* Whether each row has matched a frame so far; the error names the first that has not. */
gboolean pbf_labels_check_used (const PbfLabels *labels, GError **error);

G_END_DECLS
