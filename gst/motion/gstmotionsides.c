/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudamotionest, its request pads: the packets, the prediction and the
 * residual, as streams beside the video's. */
#include "gstmotionest-private.h"

#include "gst/common/gstcvpreroll.h"

#define GST_CAT_DEFAULT gst_cuda_motion_est_debug

#define PICTURE_CAPS GST_VIDEO_CAPS_MAKE ("{ GRAY8, GRAY16_LE }")

static GstStaticPadTemplate templates[GST_MOTION_SIDES] = {
  [GST_MOTION_SIDE_VECTORS] = GST_STATIC_PAD_TEMPLATE ("vectors", GST_PAD_SRC,
      GST_PAD_REQUEST, GST_STATIC_CAPS (GST_MOTION_VECTORS_CAPS)),
  [GST_MOTION_SIDE_PREDICTION] = GST_STATIC_PAD_TEMPLATE ("prediction",
      GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS (PICTURE_CAPS)),
  [GST_MOTION_SIDE_RESIDUAL] = GST_STATIC_PAD_TEMPLATE (
      "residual", GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS (PICTURE_CAPS)),
};

void
gst_motion_sides_add_templates (GstElementClass *klass)
{
  for (guint i = 0; i < GST_MOTION_SIDES; i++)
    gst_element_class_add_static_pad_template (klass, &templates[i]);
}

/* --- requesting and releasing ---------------------------------------------- */

GstPad *
gst_motion_sides_request (GstCudaMotionEst *self, GstPadTemplate *template,
    GstPadEventFunction event_function)
{
  const gchar *name = GST_PAD_TEMPLATE_NAME_TEMPLATE (template);
  GstMotionSide *side = NULL;
  gboolean taken;
  GstPad *pad;

  for (guint i = 0; i < GST_MOTION_SIDES; i++)
    if (g_str_equal (name, templates[i].name_template))
      side = &self->sides[i];
  g_return_val_if_fail (side != NULL, NULL);

  pad = gst_pad_new_from_template (template, name);
  gst_pad_set_query_function (pad, gst_motion_src_query);
  gst_pad_set_event_function (pad, event_function);
  gst_pad_use_fixed_caps (pad);
  gst_object_ref_sink (pad);
  GST_OBJECT_LOCK (self);
  taken = side->pad != NULL;
  if (!taken) {
    side->pad = gst_object_ref (pad);
    side->lacks = GST_MOTION_LACKS_ALL;
    side->pushed = FALSE;
    side->flow = GST_FLOW_OK;
  }
  GST_OBJECT_UNLOCK (self);
  if (taken) {
    GST_WARNING_OBJECT (
        self, "the pad \"%s\" has been requested already", name);
    gst_object_unref (pad);
    return NULL;
  }
  gst_pad_set_active (pad, TRUE);
  gst_element_add_pad (GST_ELEMENT (self), pad);
  gst_object_unref (pad);
  return pad;
}

void
gst_motion_sides_release (GstCudaMotionEst *self, GstPad *pad)
{
  GstPad *ours = NULL;

  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < GST_MOTION_SIDES; i++)
    if (self->sides[i].pad == pad)
      ours = g_steal_pointer (&self->sides[i].pad);
  GST_OBJECT_UNLOCK (self);
  if (ours == NULL)
    return;
  gst_pad_set_active (ours, FALSE);
  gst_element_remove_pad (GST_ELEMENT (self), ours);
  gst_object_unref (ours);
}

GstPad *
gst_motion_side_ref (GstCudaMotionEst *self, GstMotionSideKind kind)
{
  GstPad *pad;

  GST_OBJECT_LOCK (self);
  pad = self->sides[kind].pad;
  if (pad != NULL)
    gst_object_ref (pad);
  GST_OBJECT_UNLOCK (self);
  return pad;
}

/* --- what comes before the first buffer ------------------------------------ */

static void
push_start (GstCudaMotionEst *self, GstPad *pad)
{
  GstEvent *of_video =
      gst_pad_get_sticky_event (self->srcpad, GST_EVENT_STREAM_START, 0);
  gchar *id =
      gst_pad_create_stream_id (pad, GST_ELEMENT (self), GST_PAD_NAME (pad));
  GstEvent *event = gst_event_new_stream_start (id);
  guint group;

  if (of_video != NULL && gst_event_parse_group_id (of_video, &group))
    gst_event_set_group_id (event, group);
  gst_clear_event (&of_video);
  gst_pad_push_event (pad, event);
  g_free (id);
}

/* A picture has the size and the times of the video. */
static GstCaps *
picture_caps (GstCudaMotionEst *self)
{
  GstCaps *video = gst_pad_get_current_caps (self->srcpad), *caps;
  GstVideoInfo info, picture;

  if (video == NULL || !gst_video_info_from_caps (&info, video)) {
    gst_clear_caps (&video);
    return NULL;
  }
  gst_video_info_set_format (&picture,
      GST_VIDEO_INFO_COMP_DEPTH (&info, 0) > 8 ? GST_VIDEO_FORMAT_GRAY16_LE
                                               : GST_VIDEO_FORMAT_GRAY8,
      (guint) GST_VIDEO_INFO_WIDTH (&info),
      (guint) GST_VIDEO_INFO_HEIGHT (&info));
  GST_VIDEO_INFO_FPS_N (&picture) = GST_VIDEO_INFO_FPS_N (&info);
  GST_VIDEO_INFO_FPS_D (&picture) = GST_VIDEO_INFO_FPS_D (&info);
  GST_VIDEO_INFO_PAR_N (&picture) = GST_VIDEO_INFO_PAR_N (&info);
  GST_VIDEO_INFO_PAR_D (&picture) = GST_VIDEO_INFO_PAR_D (&info);
  caps = gst_video_info_to_caps (&picture);
  gst_caps_unref (video);
  return caps;
}

void
gst_motion_sides_note_lacks (GstCudaMotionEst *self, guint lacks)
{
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < GST_MOTION_SIDES; i++)
    self->sides[i].lacks |= lacks;
  GST_OBJECT_UNLOCK (self);
}

static GstEvent *
make_caps_event (GstCudaMotionEst *self, GstMotionSideKind kind)
{
  GstCaps *caps = kind == GST_MOTION_SIDE_VECTORS
                      ? gst_caps_from_string (GST_MOTION_VECTORS_CAPS)
                      : picture_caps (self);
  GstEvent *event = caps != NULL ? gst_event_new_caps (caps) : NULL;

  gst_clear_caps (&caps);
  return event;
}

/* What @pad lacks, which is no longer noted.
 * Returns: FALSE if @pad has been released by now */
static gboolean
take_lacks (
    GstCudaMotionEst *self, GstMotionSideKind kind, GstPad *pad, guint *lacks)
{
  GstMotionSide *side = &self->sides[kind];
  gboolean ours;

  GST_OBJECT_LOCK (self);
  ours = side->pad == pad;
  *lacks = side->lacks;
  if (ours)
    side->lacks = 0;
  GST_OBJECT_UNLOCK (self);
  return ours;
}

/* Pushes what the pad still lacks: it may have been requested in the middle of
 * the stream.
 * Returns: FALSE if it cannot have a buffer: it has been released, or the source
 * pad lacks the same, for being shut down */
static gboolean
start_side (GstCudaMotionEst *self, GstMotionSideKind kind, GstPad *pad)
{
  GstEvent *caps = NULL, *segment = NULL;
  guint lacks;

  if (!take_lacks (self, kind, pad, &lacks))
    return FALSE;
  if (lacks & GST_MOTION_LACKS_START)
    push_start (self, pad);
  if (lacks & GST_MOTION_LACKS_CAPS)
    caps = make_caps_event (self, kind);
  if (lacks & GST_MOTION_LACKS_SEGMENT)
    segment = gst_pad_get_sticky_event (self->srcpad, GST_EVENT_SEGMENT, 0);
  lacks &= ~GST_MOTION_LACKS_START;
  if (caps != NULL) {
    gst_pad_push_event (pad, caps);
    lacks &= ~GST_MOTION_LACKS_CAPS;
  }
  if (segment != NULL) {
    gst_pad_push_event (pad, segment);
    lacks &= ~GST_MOTION_LACKS_SEGMENT;
  }
  if (lacks != 0)
    gst_motion_sides_note_lacks (self, lacks);
  return lacks == 0;
}

/* --- pushing --------------------------------------------------------------- */

void
gst_motion_sides_push_now (GstCudaMotionEst *self, GstEvent *event)
{
  for (guint i = 0; i < GST_MOTION_SIDES; i++) {
    GstPad *pad = gst_motion_side_ref (self, (GstMotionSideKind) i);

    if (pad == NULL)
      continue;
    gst_pad_push_event (pad, gst_event_ref (event));
    gst_object_unref (pad);
  }
}

void
gst_motion_sides_push_event (GstCudaMotionEst *self, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      gst_motion_sides_note_lacks (self, GST_MOTION_LACKS_ALL);
      break;
    case GST_EVENT_CAPS:
      gst_motion_sides_note_lacks (self, GST_MOTION_LACKS_CAPS);
      break;
    case GST_EVENT_SEGMENT:
      gst_motion_sides_note_lacks (self, GST_MOTION_LACKS_SEGMENT);
      break;
    case GST_EVENT_EOS:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_GAP:
      for (guint i = 0; i < GST_MOTION_SIDES; i++) {
        GstPad *pad = gst_motion_side_ref (self, (GstMotionSideKind) i);

        if (pad == NULL)
          continue;
        start_side (self, (GstMotionSideKind) i, pad);
        gst_pad_push_event (pad, gst_event_ref (event));
        gst_object_unref (pad);
      }
      break;
    default:
      break; /* about the video */
  }
}

void
gst_motion_sides_reset_flow (GstCudaMotionEst *self)
{
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < GST_MOTION_SIDES; i++) {
    self->sides[i].flow = GST_FLOW_OK;
    self->sides[i].pushed = FALSE;
  }
  GST_OBJECT_UNLOCK (self);
}

/* The pads are pushed one after the other, the source pad last. */
static GstFlowReturn
push_watched (GstCudaMotionEst *self, GstPad *pad, GstBuffer *buffer)
{
  GstClockID watch = gst_cv_preroll_watch (pad, self->srcpad);
  GstFlowReturn flow = gst_pad_push (pad, buffer);

  gst_cv_preroll_unwatch (watch);
  return flow;
}

void
gst_motion_side_push (
    GstCudaMotionEst *self, GstMotionSideKind kind, GstBuffer *buffer)
{
  GstMotionSide *side = &self->sides[kind];
  GstPad *pad = gst_motion_side_ref (self, kind);
  GstFlowReturn flow;
  gboolean pushed;

  if (pad == NULL || !start_side (self, kind, pad)) {
    gst_buffer_unref (buffer);
    gst_clear_object (&pad);
    return;
  }
  GST_OBJECT_LOCK (self);
  pushed = side->pushed;
  GST_OBJECT_UNLOCK (self);
  flow = pushed ? gst_pad_push (pad, buffer) : push_watched (self, pad, buffer);
  GST_OBJECT_LOCK (self);
  if (side->pad == pad) {
    side->pushed = TRUE;
    side->flow = flow;
  }
  GST_OBJECT_UNLOCK (self);
  gst_object_unref (pad);
}

GstFlowReturn
gst_motion_sides_combine (GstCudaMotionEst *self, GstFlowReturn flow)
{
  GstFlowReturn all[GST_MOTION_SIDES + 1] = { flow };
  guint n = 1;
  gboolean ok = FALSE, eos = FALSE;

  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < GST_MOTION_SIDES; i++)
    if (self->sides[i].pad != NULL)
      all[n++] = self->sides[i].flow;
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; i < n; i++) {
    if (all[i] == GST_FLOW_FLUSHING || all[i] < GST_FLOW_EOS)
      return all[i];
    ok |= all[i] == GST_FLOW_OK;
    eos |= all[i] == GST_FLOW_EOS;
  }
  return ok ? GST_FLOW_OK : eos ? GST_FLOW_EOS : GST_FLOW_NOT_LINKED;
}
