/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcamera.h"

#include "gstpbffilesink.h"
#include "gstpbffilesrc.h"
#include "gstpbfparse.h"
#include "gstpbftestsrc.h"
#include "gstpbfudpsink.h"
#include "gstpbfudpsrc.h"

gboolean
gst_camera_register (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (pbffilesink, plugin);
  ok &= GST_ELEMENT_REGISTER (pbffilesrc, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfparse, plugin);
  ok &= gst_pbf_parse_register_type (plugin);
  ok &= GST_ELEMENT_REGISTER (pbftestsrc, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfudpsink, plugin);
  ok &= GST_ELEMENT_REGISTER (pbfudpsrc, plugin);
  return ok;
}
