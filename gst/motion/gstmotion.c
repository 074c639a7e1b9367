/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstmotion.h"

#include "gstcudamotionest.h"
#include "gstmotionoverlay.h"
#include "gstmotionvectorenc.h"

gboolean
gst_motion_register (GstPlugin *plugin)
{
  gboolean ok = TRUE;

  ok &= GST_ELEMENT_REGISTER (cudamotionest, plugin);
  ok &= GST_ELEMENT_REGISTER (motionoverlay, plugin);
  ok &= GST_ELEMENT_REGISTER (motionvectorenc, plugin);
  return ok;
}
