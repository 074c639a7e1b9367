/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files that a subcommand writes: under a temporary name in the same folder,
 * renamed when they are complete. Devices and pipes are written in place. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _Output Output;

/* Checks before the work begins that each of the @n @names (nullable) can be written,
 * is none of @inputs, and differs from the others. */
gboolean output_check (const gchar *const *names, guint n,
    const gchar *const *inputs, GError **error);

/* @inputs: files that may not be overwritten
 * Returns: %NULL with @error if @name is one of @inputs, or cannot be written */
Output *output_new (
    const gchar *name, const gchar *const *inputs, GError **error);
const gchar *output_get_name (const Output *output);
/* Where to write until output_commit() */
const gchar *output_get_temporary_name (const Output *output);
/* Gives the complete file its name, and frees @output. */
gboolean output_commit (Output *output, GError **error);
/* Deletes what was written, and frees @output. */
void output_discard (Output *output);

/* Commits if @ok, else discards. @output: (nullable)
 * Returns: FALSE if not @ok, or with @error if the file cannot get its name */
gboolean output_close (Output *output, gboolean ok, GError **error);

/* Writes @text in the same way. */
gboolean output_write (const gchar *name, const gchar *const *inputs,
    const gchar *text, GError **error);

/* @text with the names of outputs instead of their temporary names. Free with
 * g_free(). */
gchar *output_restore_names (const gchar *text);
/* Deletes the temporary files. Async-signal-safe. */
void output_delete_pending (void);

G_END_DECLS
