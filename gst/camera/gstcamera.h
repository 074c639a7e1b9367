/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Sources and sinks of frames of a camera: simulator, camera link, recordings. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Registers the room's elements; called by the plugin. */
gboolean gst_camera_register (GstPlugin *plugin);

G_END_DECLS
