/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The plugin registers all elements on every machine and makes no CUDA call: an
 * element finds its backend when it starts. */
#include "config.h"

#include <gst/gst.h>
#if HAVE_ANALYTICS
#include "gst/analytics/gstcudavisionanalytics.h"
#endif
#include "gst/bundle/gstbundle.h"
#include "gst/camera/gstcamera.h"
#include "gst/lifting/gstlifting.h"
#include "gst/meltpool/gstmeltpool.h"
#include "gst/motion/gstmotion.h"
#include "gst/surface/gstsurface.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = TRUE;

#if HAVE_ANALYTICS
  ok &= GST_ELEMENT_REGISTER (cudavisionanalytics, plugin);
#endif
  ok &= gst_bundle_register (plugin);
  ok &= gst_camera_register (plugin);
  ok &= gst_lifting_register (plugin);
  ok &= gst_meltpool_register (plugin);
  ok &= gst_motion_register (plugin);
  ok &= gst_surface_register (plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavision,
    "GPU vision: melt-pool monitoring, moving crops, block motion estimation, "
    "surface filtration, bundle adjustment",
    plugin_init, PACKAGE_VERSION, "LGPL", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
