/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Running and stream times; none if the segment's format is not time. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

static inline GstClockTime
gst_cvis_running_time (const GstSegment *segment, GstClockTime time)
{
  if (segment->format != GST_FORMAT_TIME)
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time (segment, GST_FORMAT_TIME, time);
}

static inline GstClockTime
gst_cvis_stream_time (const GstSegment *segment, GstClockTime time)
{
  if (segment->format != GST_FORMAT_TIME)
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_stream_time (segment, GST_FORMAT_TIME, time);
}

G_END_DECLS
