/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstpbfgrey.h"

gboolean
gst_pbf_grey_init (GstPbfGrey *grey, const GstVideoInfo *info, gint shift)
{
  *grey = (GstPbfGrey){ .wide = TRUE };
  switch (GST_VIDEO_INFO_FORMAT (info)) {
    case GST_VIDEO_FORMAT_GRAY8:
      grey->wide = FALSE;
      return TRUE;
    case GST_VIDEO_FORMAT_GRAY16_LE:
#if GST_CHECK_VERSION(1, 26, 0)
    case GST_VIDEO_FORMAT_GRAY10_LE16:
#endif
      grey->layout = PBF_GREY_16_LE;
      break;
    case GST_VIDEO_FORMAT_GRAY16_BE:
      grey->layout = PBF_GREY_16_BE;
      break;
    case GST_VIDEO_FORMAT_GRAY10_LE32:
      grey->layout = PBF_GREY_10_LE32;
      break;
    default:
      return FALSE;
  }
  grey->shift = shift == GST_PBF_SHIFT_AUTO
                    ? GST_VIDEO_INFO_COMP_DEPTH (info, 0) - 8
                    : (guint) shift;
  return TRUE;
}

gsize
gst_pbf_grey_row_bytes (const GstPbfGrey *grey, guint width)
{
  return grey->wide ? pbf_grey_row_bytes (grey->layout, width) : width;
}
