/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A plugin of its own, as libhdf5 needs libraries that no other element needs. */
#include "config.h"

#include <gst/gst.h>
#include "gstpbfhdf5src.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER (pbfhdf5src, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavisionhdf5,
    "Melt-pool frames from HDF5 files", plugin_init, PACKAGE_VERSION, "LGPL",
    GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
