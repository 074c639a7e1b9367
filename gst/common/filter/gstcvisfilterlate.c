/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisFilter, late frames: frames that leave, in live pipelines, after the time at
 * which sinks are to show them. They are counted; once a second, if most frames
 * were late, an element message is posted and the reported latency grows. */
#include "gstcvisfilter-private.h"

#include "gst/common/gstcvismessage.h"

#define WINDOW GST_SECOND
#define MOST_EXTRA GST_SECOND

/* How late a frame of @pts leaves; 0: in time.
 * Returns: FALSE if it has no time to be shown at */
static gboolean
get_lateness (GstCvisFilter *filter, GstClockTime pts, GstClockTime *now,
    GstClockTime *lateness)
{
  GstCvisLateness *l = &filter->priv->lateness;
  GstClockTime due, base = 0, shown;
  GstClock *clock = NULL;

  GST_OBJECT_LOCK (filter);
  due = MAX (l->answered, l->configured);
  if (l->live && GST_STATE (filter) == GST_STATE_PLAYING
      && GST_ELEMENT_CLOCK (filter) != NULL) {
    clock = gst_object_ref (GST_ELEMENT_CLOCK (filter));
    base = GST_ELEMENT (filter)->base_time;
  }
  GST_OBJECT_UNLOCK (filter);
  if (clock == NULL)
    return FALSE;
  *now = gst_clock_get_time (clock);
  gst_object_unref (clock);
  if (filter->segment.format != GST_FORMAT_TIME
      || !GST_CLOCK_TIME_IS_VALID (pts) || *now < base)
    return FALSE;
  *now -= base;
  shown = gst_segment_to_running_time (&filter->segment, GST_FORMAT_TIME, pts);
  if (!GST_CLOCK_TIME_IS_VALID (shown))
    return FALSE;
  *lateness = *now > shown + due ? *now - shown - due : 0;
  return TRUE;
}

static void
post_behind (GstCvisFilter *filter, GstClockTime now, GstClockTime lateness)
{
  GstCvisLateness *l = &filter->priv->lateness;
  GstStructure *s = gst_cvis_message_structure (GST_ELEMENT (filter), "behind");

  gst_structure_set (s, "behind", G_TYPE_BOOLEAN, l->behind, "frames",
      G_TYPE_UINT64, l->frames, "late-frames", G_TYPE_UINT64, l->late,
      "lateness", G_TYPE_UINT64, lateness, "frames-per-second", G_TYPE_DOUBLE,
      (gdouble) l->frames * GST_SECOND / (gdouble) (now - l->begin), NULL);
  gst_element_post_message (
      GST_ELEMENT (filter), gst_message_new_element (GST_OBJECT (filter), s));
}

/* With more latency sinks wait longer: frames late by up to that much are shown in
 * time. */
static void
grow_latency (GstCvisFilter *filter)
{
  GstCvisLateness *l = &filter->priv->lateness;
  gboolean grown;

  GST_OBJECT_LOCK (filter);
  grown = l->extra < MOST_EXTRA;
  l->extra = MIN (MAX (2 * l->extra, l->extra + l->least), MOST_EXTRA);
  GST_OBJECT_UNLOCK (filter);
  if (grown)
    gst_element_post_message (
        GST_ELEMENT (filter), gst_message_new_latency (GST_OBJECT (filter)));
}

void
gst_cvis_filter_note_leaving (GstCvisFilter *filter, GstMiniObject *object)
{
  GstCvisLateness *l = &filter->priv->lateness;
  GstBuffer *buffer = (GstBuffer *) object;
  GstClockTime now, lateness;
  gboolean was_behind = l->behind;
  guint n = 1;

  if (GST_IS_BUFFER_LIST (object)) {
    n = gst_buffer_list_length (GST_BUFFER_LIST_CAST (object));
    if (n == 0)
      return;
    buffer = gst_buffer_list_get (GST_BUFFER_LIST_CAST (object), 0);
  }
  if (!get_lateness (filter, GST_BUFFER_PTS (buffer), &now, &lateness))
    return;
  if (l->frames == 0 || now < l->begin) {
    l->begin = now;
    l->frames = l->late = 0;
    l->least = GST_CLOCK_TIME_NONE;
  }
  l->frames += n;
  if (lateness > 0) {
    l->late += n;
    l->least = MIN (l->least, lateness);
    g_mutex_lock (&filter->stats_lock);
    l->total += n;
    g_mutex_unlock (&filter->stats_lock);
  }
  if (now - l->begin < WINDOW)
    return;
  l->behind = 2 * l->late > l->frames;
  if (l->behind || was_behind)
    post_behind (filter, now, lateness);
  if (l->behind)
    grow_latency (filter);
  l->frames = 0;
}
