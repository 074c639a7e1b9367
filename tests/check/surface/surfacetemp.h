/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of surfaces in a temporary folder, and pipelines that run to their
 * end. */
#pragma once

#include <gst/gst.h>
#include "../common/tempfolder.h"
#include "cuda/surface/file.h"

G_BEGIN_DECLS

gchar *surface_temp_path (const gchar *folder, const gchar *name);
guint surface_temp_count (const gchar *folder);

/* height of point @i of surface @seed: 76 mm and some um; every 11th is
 * missing */
gdouble surface_temp_height (guint seed, guint i);
/* Writes such a surface, with points 1 um x 2 um apart, in the format of
 * @name's extension. */
void surface_temp_write (const gchar *folder, const gchar *name, guint width,
    guint height, guint seed);
SurfaceImage *surface_temp_read (const gchar *folder, const gchar *name);
/* Largest difference of heights; infinite if a point is missing in only one
 * of them */
gdouble surface_temp_difference (const SurfaceImage *image, guint seed);

#if HAVE_X3P
/* Replaces the X3P file's md5checksum.hex by that of another main.xml. */
void surface_temp_break_checksum (const gchar *folder, const gchar *name);
#endif

/* Runs a pipeline in which %s is @folder. Returns: (transfer full): the
 * first error's text; %NULL at the end of the stream */
gchar *surface_temp_run (const gchar *folder, const gchar *line);
/* Runs a pipeline without error. Returns: number of its warnings that contain
 * @words */
guint surface_temp_count_warnings (
    const gchar *folder, const gchar *line, const gchar *words);
void surface_temp_run_ok (const gchar *folder, const gchar *line);
void surface_temp_run_error (
    const gchar *folder, const gchar *line, const gchar *words);

G_END_DECLS
