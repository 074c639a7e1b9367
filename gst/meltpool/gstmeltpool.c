/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstmeltpool.h"

#include "gstcudapbfmonitor.h"
#include "gstcudaroicrop.h"
#include "gstpbffilesink.h"
#include "gstpbffilesrc.h"
#include "gstpbfoverlay.h"
#include "gstpbfresultenc.h"
#include "gstpbftestsrc.h"
#include "gstpbftypes.h"
#include "gstpbfudpsink.h"
#include "gstpbfudpsrc.h"

gboolean
gst_meltpool_register (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (cudapbfmonitor, plugin);
  ok &= GST_ELEMENT_REGISTER (cudaroicrop, plugin);
  ok &= GST_ELEMENT_REGISTER (pbffilesink, plugin);
  ok &= GST_ELEMENT_REGISTER (pbffilesrc, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfoverlay, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfresultenc, plugin);
  ok &= GST_ELEMENT_REGISTER (pbftestsrc, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfudpsink, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfudpsrc, plugin);
  ok &= gst_pbf_types_register (plugin);
  return ok;
}
