/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The plugin registers its elements on every machine and makes no CUDA call: an
 * element finds its backend when it starts. */
#include "config.h"

#include <gst/gst.h>
#include "gst/crop/gstcudaroicrop.h"
#include "gst/denoise/gstcudadenoise.h"
#include "gst/filmgrain/gstfilmgrainenc.h"
#include "gstcudamotionest.h"
#include "gstmotionoverlay.h"
#include "gstmotionvectorenc.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (cudadenoise, plugin);
  ok &= GST_ELEMENT_REGISTER (cudamotionest, plugin);
  ok &= GST_ELEMENT_REGISTER (cudaroicrop, plugin);
  ok &= GST_ELEMENT_REGISTER (filmgrainenc, plugin);
  ok &= GST_ELEMENT_REGISTER (motionoverlay, plugin);
  ok &= GST_ELEMENT_REGISTER (motionvectorenc, plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavisionmotion,
    "Motion of video: vectors, scenes, moving crops", plugin_init,
    PACKAGE_VERSION, "LGPL", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
