/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The media type of recorded melt-pool results. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Registers a typefinder for recorded results, whose caps have the number of network
 * outputs of the first records. */
gboolean gst_pbf_types_register (GstPlugin *plugin);

G_END_DECLS
