/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-motionoverlay
 * @title: motionoverlay
 * @short_description: shows motion vectors on the video
 *
 * Draws the results that cudamotionest attached to the frames: arrows in the
 * direction of motion, the field of motion in colours, the residue of the prediction
 * as a heat map, the grid of blocks and the main numbers. Frames without motion
 * vectors pass unchanged.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! cudamotionest ! motionoverlay mode=arrows+text ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstmotionoverlay.h"

#include <gst/cudavision/gstmotionmeta.h>
#include <gst/video/video.h>

#include "gst/common/gstcvisnocaps.h"
#include "gst/common/gstcvissettings.h"
#include "gstmotionblend.h"
#include "gstmotionpainter.h"

GST_DEBUG_CATEGORY_STATIC (gst_motion_overlay_debug);
#define GST_CAT_DEFAULT gst_motion_overlay_debug

#define MAX_DISTANCE (CVIS_MOTION_MAX_FIELDS / 2)

typedef struct {
  GstMotionPaintSettings paint;
  gint distance;
} Settings;

struct _GstMotionOverlay {
  GstElement parent;

  GstPad *sinkpad;
  GstPad *srcpad;

  Settings settings; /* guarded by the object lock */

  /* of the streaming thread */
  GstVideoInfo info;
  GstMotionPainter *painter;
  guint64 frames;
  guint64 with_motion; /* of any distance */
  guint64 painted;
};

#define CAPS GST_VIDEO_CAPS_MAKE (GST_MOTION_BLEND_FORMATS)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static const GFlagsValue mode_values[] = {
  { GST_MOTION_PAINT_ARROWS, "Arrows in the direction of motion", "arrows" },
  { GST_MOTION_PAINT_FIELD, "Motion as colour: hue is the direction", "field" },
  { GST_MOTION_PAINT_RESIDUE, "Residue of the prediction, as a heat map",
      "residue" },
  { GST_MOTION_PAINT_GRID, "Edges of the blocks", "grid" },
  { GST_MOTION_PAINT_TEXT, "Numbers of the frame, cuts and duplicates",
      "text" },
  { 0, NULL, NULL },
};

#define FIELD(name) G_STRUCT_OFFSET (Settings, name)

static const GstCvisSetting settings_table[] = {
  { "mode", "Layers drawn on the video", GST_CVIS_SETTING_FLAGS,
      FIELD (paint.mode), TRUE, 0, 0, "GstMotionOverlayMode", NULL,
      mode_values },
  { "scale", "Length of an arrow, pixels for a pixel of motion",
      GST_CVIS_SETTING_DOUBLE, FIELD (paint.scale), TRUE, 0.1, 100 },
  { "opacity", "Opacity of field, residue and grid, 0 to 1",
      GST_CVIS_SETTING_DOUBLE, FIELD (paint.opacity), TRUE, 0, 1 },
  { "min-length", "Length of the shortest motion that is shown, pixels",
      GST_CVIS_SETTING_DOUBLE, FIELD (paint.min_length), TRUE, 0, 1000 },
  { "min-confidence",
      "Probability, 0 to 1, from which a vector is shown; vectors of search "
      "methods without a confidence are always shown",
      GST_CVIS_SETTING_DOUBLE, FIELD (paint.min_confidence), TRUE, 0, 1 },
  { "distance",
      "Distance of the reference in frames: -1 the previous frame, 1 the next "
      "one",
      GST_CVIS_SETTING_INT, FIELD (distance), TRUE, -MAX_DISTANCE,
      MAX_DISTANCE },
};

static const Settings default_settings = {
  .paint = { .mode = GST_MOTION_PAINT_ARROWS | GST_MOTION_PAINT_TEXT,
      .scale = 2.0,
      .opacity = 0.6,
      .min_length = 0.5,
      .min_confidence = 0.5 },
  .distance = -1,
};

#define gst_motion_overlay_parent_class parent_class
G_DEFINE_TYPE (GstMotionOverlay, gst_motion_overlay, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (
    motionoverlay, "motionoverlay", GST_RANK_NONE, GST_TYPE_MOTION_OVERLAY);

/* --- frames ---------------------------------------------------------------- */

static GstCvisMotionVectorMeta *
find_motion (
    GstMotionOverlay *self, GstBuffer *buffer, GstMotionPaintSettings *settings)
{
  GstCvisMotionVectorMeta *meta;
  gint distance;

  GST_OBJECT_LOCK (self);
  *settings = self->settings.paint;
  distance = self->settings.distance;
  GST_OBJECT_UNLOCK (self);

  meta = gst_cvis_buffer_get_motion_vector_meta (buffer, distance);
  self->frames++;
  self->with_motion +=
      gst_buffer_get_meta (buffer, GST_CVIS_MOTION_VECTOR_META_API_TYPE)
      != NULL;
  self->painted += meta != NULL;
  return settings->mode != 0 ? meta : NULL;
}

/* Returns: FALSE after posting an error. */
static gboolean
paint (GstMotionOverlay *self, GstBuffer *buffer,
    const GstCvisMotionVectorMeta *meta, const GstMotionPaintSettings *settings)
{
  GstVideoFrame frame;
  cairo_status_t status;

  if (!gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_READWRITE)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot draw on a frame: a buffer of %" G_GSIZE_FORMAT
         " bytes holds no writable frame of %dx%d. Check the caps.",
            gst_buffer_get_size (buffer), GST_VIDEO_INFO_WIDTH (&self->info),
            GST_VIDEO_INFO_HEIGHT (&self->info)),
        ("%" GST_PTR_FORMAT, buffer));
    return FALSE;
  }
  status = gst_motion_painter_paint (self->painter, &frame, meta, settings);
  gst_video_frame_unmap (&frame);
  if (status != CAIRO_STATUS_SUCCESS)
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
        ("Cannot draw on a frame: cairo reports: %s. Use smaller frames, or "
         "free memory.",
            cairo_status_to_string (status)),
        (NULL));
  return status == CAIRO_STATUS_SUCCESS;
}

static GstFlowReturn
gst_motion_overlay_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstMotionOverlay *self = GST_MOTION_OVERLAY (parent);
  GstMotionPaintSettings settings;
  GstCvisMotionVectorMeta *meta;

  if (self->painter == NULL) {
    gst_cvis_post_no_caps (GST_ELEMENT (self), buffer);
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  meta = find_motion (self, buffer, &settings);
  if (meta == NULL)
    return gst_pad_push (self->srcpad, buffer);

  if (!gst_buffer_is_writable (buffer)) {
    gint distance = meta->field->distance;

    buffer = gst_buffer_make_writable (buffer);
    meta = gst_cvis_buffer_get_motion_vector_meta (buffer, distance);
  }
  if (!paint (self, buffer, meta, &settings)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  return gst_pad_push (self->srcpad, buffer);
}

/* --- events ---------------------------------------------------------------- */

static gboolean
set_overlay_caps (GstMotionOverlay *self, GstCaps *caps)
{
  g_clear_pointer (&self->painter, gst_motion_painter_free);
  if (!gst_video_info_from_caps (&self->info, caps)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: not raw video. Put a decoder before "
         "motionoverlay."),
        ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  self->painter = gst_motion_painter_new (&self->info);
  return TRUE;
}

/* Warns if nothing was drawn on the stream. */
static void
warn_of_nothing (GstMotionOverlay *self)
{
  gint distance;

  GST_OBJECT_LOCK (self);
  distance = self->settings.distance;
  GST_OBJECT_UNLOCK (self);
  if (self->painted > 0 || self->frames < 2)
    return;
  if (self->with_motion == 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("None of %" G_GUINT64_FORMAT " frames carried motion vectors. Put "
         "cudamotionest before motionoverlay.",
            self->frames),
        ("no GstCvisMotionVectorMeta"));
  else
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("None of %" G_GUINT64_FORMAT
         " frames with motion vectors had them for distance %d. Set distance, "
         "or references and bidirectional of cudamotionest.",
            self->with_motion, distance),
        (NULL));
  self->frames = 0;
}

static gboolean
gst_motion_overlay_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstMotionOverlay *self = GST_MOTION_OVERLAY (parent);
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      if (!set_overlay_caps (self, caps)) {
        gst_event_unref (event);
        return FALSE;
      }
      break;
    case GST_EVENT_EOS:
      warn_of_nothing (self);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* --- object ---------------------------------------------------------------- */

static GstStateChangeReturn
gst_motion_overlay_change_state (GstElement *element, GstStateChange transition)
{
  GstMotionOverlay *self = GST_MOTION_OVERLAY (element);
  GstStateChangeReturn ret =
      GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    g_clear_pointer (&self->painter, gst_motion_painter_free);
    self->frames = self->with_motion = self->painted = 0;
  }
  return ret;
}

static void
gst_motion_overlay_finalize (GObject *object)
{
  g_clear_pointer (
      &GST_MOTION_OVERLAY (object)->painter, gst_motion_painter_free);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_motion_overlay_class_init (GstMotionOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_motion_overlay_debug, "motionoverlay", 0, "motion on the video");

  object_class->finalize = gst_motion_overlay_finalize;
  element_class->change_state = gst_motion_overlay_change_state;
  gst_cvis_settings_bind (object_class, 1, settings_table,
      G_N_ELEMENTS (settings_table),
      G_STRUCT_OFFSET (GstMotionOverlay, settings), &default_settings);

  gst_element_class_set_static_metadata (element_class, "Motion overlay",
      "Filter/Editor/Video/Visualization",
      "Draws the motion vectors of cudamotionest on the video",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
}

static void
gst_motion_overlay_init (GstMotionOverlay *self)
{
  gst_cvis_settings_init (self);

  /* frames pass in place: caps and memory are those of the neighbours */
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_motion_overlay_chain);
  gst_pad_set_event_function (self->sinkpad, gst_motion_overlay_sink_event);
  GST_PAD_SET_PROXY_CAPS (self->sinkpad);
  GST_PAD_SET_PROXY_ALLOCATION (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  GST_PAD_SET_PROXY_CAPS (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
