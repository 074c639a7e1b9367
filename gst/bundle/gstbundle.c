/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstbundle.h"

#include "gstbalparse.h"
#include "gstbaltestsrc.h"
#include "gstbalview.h"
#include "gstbundletypes.h"
#include "gstcudabundleadjust.h"

gboolean
gst_bundle_register (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (balparse, plugin);
  ok &= GST_ELEMENT_REGISTER (baltestsrc, plugin);
  ok &= GST_ELEMENT_REGISTER (balview, plugin);
  ok &= GST_ELEMENT_REGISTER (cudabundleadjust, plugin);
  ok &= gst_bundle_types_register (plugin);
  return ok;
}
