/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files that elements open by a property, for sources and sinks. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns: the descriptor of the regular file @path; -1 with a GFileError */
gint gst_cvis_file_open_for_reading (const gchar *path, GError **error);

/* Finds an element that has the open file @fd, of whatever name, as the property
 * location: a sink that writes to it would destroy what that element reads or
 * writes. Looks at all elements of the pipeline of @element.
 * Returns: (transfer full) (nullable): it */
GstElement *gst_cvis_file_find_other_user (GstElement *element, gint fd);

G_END_DECLS
