/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstlifting.h"

#include "gstcudalwtfilter.h"

gboolean
gst_lifting_register (GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER (cudalwtfilter, plugin);
}
