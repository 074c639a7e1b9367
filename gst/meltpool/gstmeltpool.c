/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstmeltpool.h"

#include "gstcudapbfmonitor.h"
#include "gstcudaroicrop.h"
#include "gstpbfoverlay.h"
#include "gstpbfresultenc.h"
#include "gstpbftypes.h"

gboolean
gst_meltpool_register (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (cudapbfmonitor, plugin);
  ok &= GST_ELEMENT_REGISTER (cudaroicrop, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfoverlay, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfresultenc, plugin);
  ok &= gst_pbf_types_register (plugin);
  return ok;
}
