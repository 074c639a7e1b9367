/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of surfaces in a folder of their own, and pipelines that run to their
 * end. */
#pragma once

#include <gst/gst.h>
#include "cuda/surface/file.h"

G_BEGIN_DECLS

/* A new, empty folder; free with surface_temp_free(), which deletes it. */
gchar *surface_temp_new (void);
void surface_temp_free (gchar *folder);
gchar *surface_temp_path (const gchar *folder, const gchar *name);
guint surface_temp_count (const gchar *folder);

/* height of point @i of the surface @seed: 76 mm and some um, every 11th missing */
gdouble surface_temp_height (guint seed, guint i);
/* Writes such a surface, of 1 um x 2 um points, as the ending of @name says. */
void surface_temp_write (const gchar *folder, const gchar *name, guint width,
    guint height, guint seed);
SurfaceImage *surface_temp_read (const gchar *folder, const gchar *name);
/* The greatest difference of heights; infinite where one alone is missing */
gdouble surface_temp_difference (const SurfaceImage *image, guint seed);

#if HAVE_X3P
/* Makes the X3P file's md5checksum.hex one of another main.xml. */
void surface_temp_break_checksum (const gchar *folder, const gchar *name);
#endif

/* Runs a pipeline in which %s is @folder.
 * Returns: (transfer full): the first error's text; %NULL if it came to its end */
gchar *surface_temp_run (const gchar *folder, const gchar *line);
void surface_temp_run_ok (const gchar *folder, const gchar *line);
void surface_temp_run_error (
    const gchar *folder, const gchar *line, const gchar *words);

G_END_DECLS
