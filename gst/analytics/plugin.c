/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A plugin of its own, as it needs GStreamer 1.24. */
#include "config.h"

#include <gst/gst.h>
#include "gstcudavisionanalytics.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER (cudavisionanalytics, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavisionanalytics,
    "Results as GStreamer's analytics metas", plugin_init, PACKAGE_VERSION,
    "LGPL", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
