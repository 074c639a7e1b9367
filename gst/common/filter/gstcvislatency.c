/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvislatency.h"

/* time between frames until it is measured, if the caps have no framerate */
#define FIRST_DISTANCE (GST_SECOND / 30)
/* upper limit of the measured one */
#define LONGEST_DISTANCE GST_SECOND

void
gst_cvis_latency_init (GstCvisLatency *latency, GstElement *element)
{
  GST_OBJECT_LOCK (element);
  *latency =
      (GstCvisLatency){ .element = element, .last = GST_CLOCK_TIME_NONE };
  GST_OBJECT_UNLOCK (element);
}

void
gst_cvis_latency_set_frames (GstCvisLatency *latency, guint n_frames)
{
  GST_OBJECT_LOCK (latency->element);
  latency->n_frames = n_frames;
  GST_OBJECT_UNLOCK (latency->element);
}

guint
gst_cvis_latency_get_frames (GstCvisLatency *latency)
{
  guint n_frames;

  GST_OBJECT_LOCK (latency->element);
  n_frames = latency->n_frames;
  GST_OBJECT_UNLOCK (latency->element);
  return n_frames;
}

static void
post (GstCvisLatency *latency)
{
  gst_element_post_message (latency->element,
      gst_message_new_latency (GST_OBJECT (latency->element)));
}

void
gst_cvis_latency_set_framerate (GstCvisLatency *latency, gint fps_n, gint fps_d)
{
  GstClockTime distance = FIRST_DISTANCE;

  latency->fixed = fps_n > 0;
  if (latency->fixed)
    distance = gst_util_uint64_scale (GST_SECOND, (guint) fps_d, (guint) fps_n);
  GST_OBJECT_LOCK (latency->element);
  latency->distance = distance;
  GST_OBJECT_UNLOCK (latency->element);
  post (latency);
}

void
gst_cvis_latency_note_frame (GstCvisLatency *latency, GstClockTime pts)
{
  GstClockTime distance = 0;
  gboolean grown = FALSE;

  if (GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (latency->last)
      && pts > latency->last)
    distance = MIN (pts - latency->last, LONGEST_DISTANCE);
  latency->last = pts;
  if (latency->fixed)
    return;
  GST_OBJECT_LOCK (latency->element);
  while (latency->distance < distance) {
    latency->distance = MIN (2 * latency->distance, LONGEST_DISTANCE);
    grown = TRUE;
  }
  GST_OBJECT_UNLOCK (latency->element);
  if (grown)
    post (latency);
}

void
gst_cvis_latency_break (GstCvisLatency *latency)
{
  latency->last = GST_CLOCK_TIME_NONE;
}

GstClockTime
gst_cvis_latency_get (GstCvisLatency *latency)
{
  GstClockTime more;

  GST_OBJECT_LOCK (latency->element);
  more = latency->n_frames * latency->distance;
  GST_OBJECT_UNLOCK (latency->element);
  return more;
}
