/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstsurface.h"

#include "gstsurfacecolor.h"
#include "gstsurfacedec.h"
#include "gstsurfaceparamenc.h"
#include "gstsurfacesink.h"
#include "gstsurfacesrc.h"
#include "gstsurfacetestsrc.h"
#include "gstsurfacetypes.h"

gboolean
gst_surface_register (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (surfacecolor, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacedec, plugin);
  ok &= GST_ELEMENT_REGISTER (surfaceparamenc, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacesink, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacesrc, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacetestsrc, plugin);
  ok &= gst_surface_types_register (plugin);
  return ok;
}
