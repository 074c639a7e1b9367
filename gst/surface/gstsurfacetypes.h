/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of surfaces as media types, and their names. */
#pragma once

#include <gst/gst.h>
#include "cuda/surface/file.h"

G_BEGIN_DECLS

#define GST_SURFACE_FILE_CAPS                                                  \
  "application/x-surface-x3p; application/x-surface-sdf; "                     \
  "application/x-surface-sur; application/x-surface-gsf; "                     \
  "application/x-surface-npy; application/x-surface-al3d; "                    \
  "application/x-surface-bcrf; image/tiff"

/* Registers what tells these types from the first bytes of a file; TIFF is told
 * by GStreamer. */
gboolean gst_surface_types_register (GstPlugin *plugin);

/* Whether @location is a name, or a pattern with one %d, such as %05d.
 * @pattern: (out)
 * Returns: FALSE with @error if it is neither */
gboolean gst_surface_location_check (
    const gchar *location, gboolean *pattern, GError **error);
/* The name with the number @index in place of %d */
gchar *gst_surface_location_at (const gchar *location, guint index);

G_END_DECLS
