/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvissegment.h"

void
gst_cvis_push_missing_segment (GstPad *srcpad)
{
  GstEvent *event = gst_pad_get_sticky_event (srcpad, GST_EVENT_SEGMENT, 0);
  GstSegment segment;

  if (event == NULL) {
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_pad_push_event (srcpad, gst_event_new_segment (&segment));
  }
  gst_clear_event (&event);
}

gboolean
gst_cvis_event_seeks_backwards (GstEvent *event)
{
  gdouble rate = 1.0;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK)
    gst_event_parse_seek (event, &rate, NULL, NULL, NULL, NULL, NULL, NULL);
  return rate < 0.0;
}
