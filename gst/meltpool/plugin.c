/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The plugin registers its elements on every machine and makes no CUDA call: an
 * element finds its backend when it starts. */
#include "config.h"

#include <gst/gst.h>
#include "gst/camera/gstpbffilesink.h"
#include "gst/camera/gstpbffilesrc.h"
#include "gst/camera/gstpbfparse.h"
#include "gst/camera/gstpbftestsrc.h"
#include "gst/camera/gstpbfudpsink.h"
#include "gst/camera/gstpbfudpsrc.h"
#include "gstcudapbfmonitor.h"
#include "gstpbfoverlay.h"
#include "gstpbfresultenc.h"
#include "gstpbftypes.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (cudapbfmonitor, plugin);
  ok &= GST_ELEMENT_REGISTER (pbffilesink, plugin);
  ok &= GST_ELEMENT_REGISTER (pbffilesrc, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfoverlay, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfparse, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfresultenc, plugin);
  ok &= GST_ELEMENT_REGISTER (pbftestsrc, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfudpsink, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfudpsrc, plugin);
  ok &= gst_pbf_parse_register_type (plugin);
  ok &= gst_pbf_types_register (plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavisionmeltpool,
    "Melt pools of metal 3-D printers: camera link, recordings, features, "
    "results",
    plugin_init, PACKAGE_VERSION, "LGPL", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
