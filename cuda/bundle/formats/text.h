/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Growing text output. A failed allocation is recorded and checked once at
 * the end. */
#pragma once

#include "cuda/bundle/problem.h"
#include "cuda/core/decimal.h"

G_BEGIN_DECLS

typedef struct {
  gchar *data;
  gsize n, allocated;
  gboolean failed;
} BundleText;

/* Returns: room for @n bytes at the end; %NULL if allocation failed. The
 * writer adds to text->n. */
gchar *bundle_text_reserve (BundleText *text, gsize n);
void bundle_text_bytes (BundleText *text, gconstpointer bytes, gsize n);
void bundle_text_string (BundleText *text, const gchar *string);
/* Appends; preceded by @before, if it is not 0. */
void bundle_text_integer (BundleText *text, gchar before, guint64 value);
void bundle_text_number (BundleText *text, gchar before, gdouble value);
void bundle_text_numbers (
    BundleText *text, gchar before, const gdouble *values, guint n);

/* Takes the memory of @text. Returns: %NULL with CVIS_ERROR_MEMORY if an
 * allocation has failed */
GBytes *bundle_text_finish (BundleText *text, GError **error);

G_END_DECLS
