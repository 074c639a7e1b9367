/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The plugin registers its elements on every machine and makes no CUDA call: an
 * element finds its backend when it starts. */
#include "config.h"

#include <gst/gst.h>
#include "gstbundleparse.h"
#include "gstbundletestsrc.h"
#include "gstbundleview.h"
#include "gstbundletypes.h"
#include "gstcudabundleadjust.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (bundleparse, plugin);
  ok &= GST_ELEMENT_REGISTER (bundletestsrc, plugin);
  ok &= GST_ELEMENT_REGISTER (bundleview, plugin);
  ok &= GST_ELEMENT_REGISTER (cudabundleadjust, plugin);
  ok &= gst_bundle_types_register (plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavisionbundle,
    "Bundle adjustment of 3-D reconstructions, their files and views",
    plugin_init, PACKAGE_VERSION, "LGPL", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
