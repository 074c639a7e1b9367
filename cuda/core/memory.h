/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Memory for planes and pictures. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Allocates @bytes, aligned to a cache line and zeroed if @clear; free with
 * free(). Large blocks use large pages if available: access along columns
 * touches another small page in each row. Returns: %NULL with
 * CVIS_ERROR_MEMORY */
gpointer cvis_memory_new (gsize bytes, gboolean clear, GError **error);

/* Copies @n rows of @bytes; strides are bytes from row to row. */
void cvis_memory_copy_rows (gpointer to, gsize to_stride, gconstpointer from,
    gsize from_stride, gsize bytes, guint n);

G_END_DECLS
