/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files named on the command line: folders and patterns become lists of files, and
 * the kind of a file is found by its first bytes. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  INPUT_UNKNOWN,
  INPUT_SURFACE,
  INPUT_VIDEO,
  INPUT_RECONSTRUCTION,
  INPUT_RECORDING,
} InputKind;

/* The files of @inputs in their order; those of a folder in natural order (2 before
 * 10), only those whose ending is one of @kind.
 * Returns: (element-type filename): %NULL with @error if there is none */
GPtrArray *inputs_expand (gchar **inputs, InputKind kind, GError **error);

/* The kind of a file by its first bytes; INPUT_UNKNOWN also if it cannot be read. */
InputKind input_kind (const gchar *name);
/* "a video", if the file is of a known kind other than @kind; else %NULL. Free with
 * g_free(). */
gchar *input_describe_other (const gchar *name, InputKind kind);

/* Checks that the file exists and is of no other kind that is known. */
gboolean input_check (const gchar *name, InputKind kind, GError **error);

G_END_DECLS
