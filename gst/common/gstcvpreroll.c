/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvpreroll.h"

/* how long the first push may take before it is remarked on */
#define PATIENCE (2 * GST_SECOND)

typedef struct {
  GstPad *pad, *next;
} Watch;

static void
watch_free (Watch *watch)
{
  gst_object_unref (watch->pad);
  gst_object_unref (watch->next);
  g_free (watch);
}

/* Whether the pipeline still waits for its sinks to get their first buffer. */
static gboolean
is_prerolling (GstElement *element)
{
  GstObject *top = gst_object_ref (GST_OBJECT (element)), *parent;
  gboolean waiting;

  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  GST_OBJECT_LOCK (top);
  waiting = GST_STATE_RETURN (top) == GST_STATE_CHANGE_ASYNC;
  GST_OBJECT_UNLOCK (top);
  gst_object_unref (top);
  return waiting;
}

static gboolean
remark (GstClock *clock, GstClockTime time, GstClockID id, gpointer user_data)
{
  Watch *watch = user_data;
  GstElement *element = gst_pad_get_parent_element (watch->pad);

  if (element == NULL)
    return TRUE;
  if (gst_pad_is_linked (watch->next) && is_prerolling (element))
    GST_ELEMENT_WARNING (element, CORE, STATE_CHANGE,
        ("The pipeline cannot start: what is behind the %s pad holds up the "
         "frames; put a queue behind it",
            GST_PAD_NAME (watch->pad)),
        ("all pads are pushed from one thread, and each sink waits for its "
         "first buffer until all have theirs"));
  gst_object_unref (element);
  return TRUE;
}

GstClockID
gst_cv_preroll_watch (GstPad *pad, GstPad *next)
{
  GstClock *clock = gst_system_clock_obtain ();
  GstClockID id = gst_clock_new_single_shot_id (
      clock, gst_clock_get_time (clock) + PATIENCE);
  Watch *watch = g_new (Watch, 1);

  *watch = (Watch){ gst_object_ref (pad), gst_object_ref (next) };
  gst_clock_id_wait_async (id, remark, watch, (GDestroyNotify) watch_free);
  gst_object_unref (clock);
  return id;
}

void
gst_cv_preroll_unwatch (GstClockID watch)
{
  gst_clock_id_unschedule (watch);
  gst_clock_id_unref (watch);
}
