/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The plugin: registers every element, whatever the machine has, and makes no
 * CUDA call: which backend can be used is found out when an element starts. */
#include "config.h"

#include <gst/gst.h>
#include "meltpool/gstmeltpool.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return gst_meltpool_register (plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavision,
    "GPU vision: melt-pool monitoring and cropping of moving regions",
    plugin_init, PACKAGE_VERSION, "LGPL", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
