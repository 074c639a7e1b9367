/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Reports that elements which compute have in common: errors of cuda/, statistics. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstCvisRemedies: what to do about an error, as sentences
 * @format: the input is wrong, an error STREAM of @format_code
 * @invalid: the settings do not suit it
 * @memory: there is not enough memory
 * @failed: the device or the engine failed, an error LIBRARY of @failed_code
 */
typedef struct {
  GstStreamError format_code;
  const gchar *format, *invalid, *memory;
  GstLibraryError failed_code;
  const gchar *failed;
} GstCvisRemedies;

/* Posts "Cannot @what: MESSAGE. REMEDY", as an error STREAM, LIBRARY or RESOURCE by the
 * code of @error, which is taken. Errors of memory begin with "No memory to @what". */
void gst_cvis_post_error (GstElement *element, const gchar *what,
    const GstCvisRemedies *remedies, GError *error);

/* Adds the property "stats", a structure, as @id, and the action signal "reset-stats".
 * @reset: takes the instance */
void gst_cvis_install_stats (
    GObjectClass *klass, guint id, const gchar *blurb, GCallback reset);

G_END_DECLS
