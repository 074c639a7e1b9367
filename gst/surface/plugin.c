/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The plugin registers its elements on every machine and makes no CUDA call: an
 * element finds its backend when it starts. */
#include "config.h"

#include <gst/gst.h>
#include "gst/lifting/gstcudalwtfilter.h"
#include "gstsurfacecolor.h"
#include "gstsurfacedec.h"
#include "gstsurfaceparamenc.h"
#include "gstsurfacesink.h"
#include "gstsurfacesrc.h"
#include "gstsurfacetestsrc.h"
#include "gstsurfacetypes.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (cudalwtfilter, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacecolor, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacedec, plugin);
  ok &= GST_ELEMENT_REGISTER (surfaceparamenc, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacesink, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacesrc, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacetestsrc, plugin);
  ok &= gst_surface_types_register (plugin);
  return ok;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudavisionsurface,
    "Measured surfaces: files, wavelet filters, parameters, pictures",
    plugin_init, PACKAGE_VERSION, "LGPL", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
