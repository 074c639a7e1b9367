/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Files of melt-pool results. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Registers the media type of recorded results, with their number of network
 * outputs where it shows in the first of them. */
gboolean gst_pbf_types_register (GstPlugin *plugin);

G_END_DECLS
