/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Media types and names of surface files. */
#pragma once

#include <gst/gst.h>
#include "cuda/surface/file.h"

G_BEGIN_DECLS

/* TIFF only with a frame rate: decodebin requires a superset of the caps that it
 * found, and so leaves TIFF pictures to image decoders. */
#define GST_SURFACE_FILE_CAPS                                                  \
  "application/x-surface-x3p; application/x-surface-sdf; "                     \
  "application/x-surface-sur; application/x-surface-gsf; "                     \
  "application/x-surface-npy; application/x-surface-al3d; "                    \
  "application/x-surface-bcrf; application/x-surface-plu; "                    \
  "application/x-surface-opd; application/x-surface-metropro; "                \
  "application/x-surface-text; "                                               \
  "image/tiff, framerate = (fraction) [ 0/1, max ]"

/* Registers typefinders of these types, except TIFF, which GStreamer has, and text,
 * which has no signature. */
gboolean gst_surface_types_register (GstPlugin *plugin);

/* Parses a property location: a path, a pattern of paths with one %d, such as
 * %05d, or a file: URI, which names one file.
 * @pattern: (out): whether it is a pattern
 * Returns: (transfer full): for gst_surface_location_at(); %NULL with @error if it
 * is none of these */
gchar *gst_surface_location_parse (
    const gchar *location, gboolean *pattern, GError **error);
/* The name with the number @index in place of %d, and %% as % */
gchar *gst_surface_location_at (const gchar *location, guint index);

G_END_DECLS
