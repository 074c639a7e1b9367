/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstlifting.h"

#include "gstsurfacecolor.h"
#include "gstsurfacetestsrc.h"

gboolean
gst_lifting_register (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (surfacecolor, plugin);
  ok &= GST_ELEMENT_REGISTER (surfacetestsrc, plugin);
  return ok;
}
