/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "gstcvsides.h"

#include "gstcvpreroll.h"

typedef struct {
  GstPad *pad; /* NULL: not requested */
  guint lacks;
  gboolean pushed; /* a push has come back */
  GstFlowReturn flow;
} Side;

struct _GstCvSides {
  GstElement *element;
  GstPad *srcpad;
  GstCvSidesCaps get_caps;
  guint n;
  Side sides[]; /* under the element's object lock */
};

GstCvSides *
gst_cv_sides_new (
    GstElement *element, GstPad *srcpad, guint n, GstCvSidesCaps get_caps)
{
  GstCvSides *sides = g_malloc0 (sizeof (GstCvSides) + n * sizeof (Side));

  sides->element = element;
  sides->srcpad = srcpad;
  sides->get_caps = get_caps;
  sides->n = n;
  return sides;
}

void
gst_cv_sides_free (GstCvSides *sides)
{
  for (guint i = 0; i < sides->n; i++)
    gst_clear_object (&sides->sides[i].pad);
  g_free (sides);
}

/* --- requesting and releasing ---------------------------------------------- */

GstPad *
gst_cv_sides_request (GstCvSides *sides, guint kind, GstPadTemplate *template)
{
  const gchar *name = GST_PAD_TEMPLATE_NAME_TEMPLATE (template);
  Side *side = &sides->sides[kind];
  gboolean taken;
  GstPad *pad = gst_pad_new_from_template (template, name);

  gst_pad_set_element_private (
      pad, gst_pad_get_element_private (sides->srcpad));
  gst_pad_set_query_function (pad, GST_PAD_QUERYFUNC (sides->srcpad));
  gst_pad_set_event_function (pad, GST_PAD_EVENTFUNC (sides->srcpad));
  gst_pad_use_fixed_caps (pad);
  gst_object_ref_sink (pad);
  GST_OBJECT_LOCK (sides->element);
  taken = side->pad != NULL;
  if (!taken)
    *side = (Side){ .pad = gst_object_ref (pad), .lacks = GST_CV_LACKS_ALL };
  GST_OBJECT_UNLOCK (sides->element);
  if (taken) {
    GST_WARNING_OBJECT (
        sides->element, "the pad \"%s\" has been requested already", name);
    gst_object_unref (pad);
    return NULL;
  }
  gst_pad_set_active (pad, TRUE);
  gst_element_add_pad (sides->element, pad);
  gst_object_unref (pad);
  return pad;
}

void
gst_cv_sides_release (GstCvSides *sides, GstPad *pad)
{
  GstPad *ours = NULL;

  GST_OBJECT_LOCK (sides->element);
  for (guint i = 0; i < sides->n; i++)
    if (sides->sides[i].pad == pad)
      ours = g_steal_pointer (&sides->sides[i].pad);
  GST_OBJECT_UNLOCK (sides->element);
  if (ours == NULL)
    return;
  gst_pad_set_active (ours, FALSE);
  gst_element_remove_pad (sides->element, ours);
  gst_object_unref (ours);
}

GstPad *
gst_cv_sides_ref (GstCvSides *sides, guint kind)
{
  GstPad *pad;

  GST_OBJECT_LOCK (sides->element);
  pad = sides->sides[kind].pad;
  if (pad != NULL)
    gst_object_ref (pad);
  GST_OBJECT_UNLOCK (sides->element);
  return pad;
}

/* --- what comes before the first buffer ------------------------------------ */

void
gst_cv_sides_note_lacks (GstCvSides *sides, GstCvLacks lacks)
{
  GST_OBJECT_LOCK (sides->element);
  for (guint i = 0; i < sides->n; i++)
    sides->sides[i].lacks |= lacks;
  GST_OBJECT_UNLOCK (sides->element);
}

void
gst_cv_sides_note_discard (GstCvSides *sides, GstEvent *start)
{
  GstEvent *now =
      gst_pad_get_sticky_event (sides->srcpad, GST_EVENT_STREAM_START, 0);

  gst_cv_sides_note_lacks (
      sides, now == start ? GST_CV_LACKS_CAPS : GST_CV_LACKS_ALL);
  gst_clear_event (&now);
  gst_clear_event (&start);
}

void
gst_cv_sides_renegotiate (GstCvSides *sides, guint kind)
{
  GST_OBJECT_LOCK (sides->element);
  sides->sides[kind].lacks |= GST_CV_LACKS_CAPS;
  GST_OBJECT_UNLOCK (sides->element);
}

static void
push_start (GstCvSides *sides, GstPad *pad)
{
  GstEvent *of_source =
      gst_pad_get_sticky_event (sides->srcpad, GST_EVENT_STREAM_START, 0);
  gchar *id =
      gst_pad_create_stream_id (pad, sides->element, GST_PAD_NAME (pad));
  GstEvent *event = gst_event_new_stream_start (id);
  guint group;

  if (of_source != NULL && gst_event_parse_group_id (of_source, &group))
    gst_event_set_group_id (event, group);
  gst_clear_event (&of_source);
  gst_pad_push_event (pad, event);
  g_free (id);
}

/* What @pad lacks, which is no longer noted.
 * Returns: FALSE if @pad has been released by now */
static gboolean
take_lacks (GstCvSides *sides, guint kind, GstPad *pad, guint *lacks)
{
  Side *side = &sides->sides[kind];
  gboolean ours;

  GST_OBJECT_LOCK (sides->element);
  ours = side->pad == pad;
  *lacks = side->lacks;
  if (ours)
    side->lacks = 0;
  GST_OBJECT_UNLOCK (sides->element);
  return ours;
}

/* Returns: FALSE if they cannot be known */
static gboolean
push_caps (GstCvSides *sides, guint kind, GstPad *pad)
{
  GstCaps *caps = sides->get_caps (sides->element, kind, pad);

  if (caps == NULL)
    return FALSE;
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  return TRUE;
}

static gboolean
push_segment (GstCvSides *sides, GstPad *pad)
{
  GstEvent *segment =
      gst_pad_get_sticky_event (sides->srcpad, GST_EVENT_SEGMENT, 0);

  if (segment == NULL)
    return FALSE;
  gst_pad_push_event (pad, segment);
  return TRUE;
}

/* Pushes what the pad still lacks: it may have been requested in the middle of
 * the stream.
 * Returns: FALSE if it cannot have a buffer: it has been released, or the source
 * pad lacks the same, for being shut down */
static gboolean
start_side (GstCvSides *sides, guint kind, GstPad *pad)
{
  guint lacks;

  if (!take_lacks (sides, kind, pad, &lacks))
    return FALSE;
  if (lacks & GST_CV_LACKS_START)
    push_start (sides, pad);
  lacks &= ~(guint) GST_CV_LACKS_START;
  if ((lacks & GST_CV_LACKS_CAPS) && push_caps (sides, kind, pad))
    lacks &= ~(guint) GST_CV_LACKS_CAPS;
  if ((lacks & GST_CV_LACKS_SEGMENT) && push_segment (sides, pad))
    lacks &= ~(guint) GST_CV_LACKS_SEGMENT;
  GST_OBJECT_LOCK (sides->element);
  sides->sides[kind].lacks |= lacks;
  GST_OBJECT_UNLOCK (sides->element);
  return lacks == 0;
}

gboolean
gst_cv_sides_start (GstCvSides *sides, guint kind)
{
  GstPad *pad = gst_cv_sides_ref (sides, kind);
  gboolean started = pad != NULL && start_side (sides, kind, pad);

  gst_clear_object (&pad);
  return started;
}

/* --- pushing --------------------------------------------------------------- */

void
gst_cv_sides_push_now (GstCvSides *sides, GstEvent *event)
{
  for (guint i = 0; i < sides->n; i++) {
    GstPad *pad = gst_cv_sides_ref (sides, i);

    if (pad == NULL)
      continue;
    gst_pad_push_event (pad, gst_event_ref (event));
    gst_object_unref (pad);
  }
}

void
gst_cv_sides_push_event (GstCvSides *sides, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      gst_cv_sides_note_lacks (sides, GST_CV_LACKS_ALL);
      break;
    case GST_EVENT_CAPS:
      gst_cv_sides_note_lacks (sides, GST_CV_LACKS_CAPS);
      break;
    case GST_EVENT_SEGMENT:
      gst_cv_sides_note_lacks (sides, GST_CV_LACKS_SEGMENT);
      break;
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_GAP:
      for (guint i = 0; i < sides->n; i++) {
        GstPad *pad = gst_cv_sides_ref (sides, i);

        if (pad == NULL)
          continue;
        start_side (sides, i, pad);
        gst_pad_push_event (pad, gst_event_ref (event));
        gst_object_unref (pad);
      }
      break;
    default:
      break; /* about the source pad's stream */
  }
}

void
gst_cv_sides_reset_flow (GstCvSides *sides)
{
  GST_OBJECT_LOCK (sides->element);
  for (guint i = 0; i < sides->n; i++) {
    sides->sides[i].flow = GST_FLOW_OK;
    sides->sides[i].pushed = FALSE;
  }
  GST_OBJECT_UNLOCK (sides->element);
}

/* The pads are pushed one after the other, the source pad last. */
static GstFlowReturn
push_watched (GstCvSides *sides, GstPad *pad, GstBuffer *buffer)
{
  GstClockID watch = gst_cv_preroll_watch (pad, sides->srcpad);
  GstFlowReturn flow = gst_pad_push (pad, buffer);

  gst_cv_preroll_unwatch (watch);
  return flow;
}

void
gst_cv_sides_push (GstCvSides *sides, guint kind, GstBuffer *buffer)
{
  Side *side = &sides->sides[kind];
  GstPad *pad = gst_cv_sides_ref (sides, kind);
  GstFlowReturn flow;
  gboolean pushed;

  if (pad == NULL || !start_side (sides, kind, pad)) {
    gst_buffer_unref (buffer);
    gst_clear_object (&pad);
    return;
  }
  GST_OBJECT_LOCK (sides->element);
  pushed = side->pushed;
  GST_OBJECT_UNLOCK (sides->element);
  flow =
      pushed ? gst_pad_push (pad, buffer) : push_watched (sides, pad, buffer);
  GST_OBJECT_LOCK (sides->element);
  if (side->pad == pad) {
    side->pushed = TRUE;
    side->flow = flow;
  }
  GST_OBJECT_UNLOCK (sides->element);
  gst_object_unref (pad);
}

GstFlowReturn
gst_cv_sides_combine (GstCvSides *sides, GstFlowReturn flow)
{
  GstFlowReturn failed = GST_FLOW_OK;
  gboolean ok = FALSE, eos = FALSE;

  GST_OBJECT_LOCK (sides->element);
  for (guint i = 0; i <= sides->n; i++) {
    GstFlowReturn one = i == 0 ? flow : sides->sides[i - 1].flow;

    if (i > 0 && sides->sides[i - 1].pad == NULL)
      continue;
    if (failed == GST_FLOW_OK
        && (one == GST_FLOW_FLUSHING || one < GST_FLOW_EOS))
      failed = one;
    ok |= one == GST_FLOW_OK;
    eos |= one == GST_FLOW_EOS;
  }
  GST_OBJECT_UNLOCK (sides->element);
  if (failed != GST_FLOW_OK)
    return failed;
  return ok ? GST_FLOW_OK : eos ? GST_FLOW_EOS : GST_FLOW_NOT_LINKED;
}
