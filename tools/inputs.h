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
  INPUT_HDF5,
} InputKind;

/* Replaces folders and patterns of @inputs by their files; those of a folder in
 * natural order (2 before 10), only those whose ending is one of @kind. One without
 * files stays, and input_check() says so. */
void inputs_expand (gchar ***inputs, InputKind kind);

/* The kind of a file by its first bytes; INPUT_UNKNOWN also if it cannot be read. */
InputKind input_kind (const gchar *name);
/* Checks that the file can be read, is not empty and of no other kind that is
 * known; INPUT_UNKNOWN: of any kind. */
gboolean input_check (const gchar *name, InputKind kind, GError **error);

G_END_DECLS
