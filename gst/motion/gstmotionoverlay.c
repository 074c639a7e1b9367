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

#include "gstmotionblend.h"
#include "gstmotionpainter.h"

GST_DEBUG_CATEGORY_STATIC (gst_motion_overlay_debug);
#define GST_CAT_DEFAULT gst_motion_overlay_debug

#define GST_TYPE_MOTION_OVERLAY_MODE (gst_motion_overlay_mode_get_type ())

#define DEFAULT_MODE (GST_MOTION_PAINT_ARROWS | GST_MOTION_PAINT_TEXT)
#define DEFAULT_SCALE 2.0
#define DEFAULT_OPACITY 0.6
#define DEFAULT_MIN_LENGTH 0.5
#define DEFAULT_DISTANCE -1
#define MAX_DISTANCE (MOTION_MAX_FIELDS / 2)

struct _GstMotionOverlay {
  GstElement parent;

  GstPad *sinkpad;
  GstPad *srcpad;

  /* properties, guarded by the object lock */
  GstMotionPaintSettings settings;
  gint distance;

  /* of the streaming thread */
  GstVideoInfo info;
  GstMotionPainter *painter;
  guint64 frames;
  guint64 with_motion; /* of any distance */
  guint64 painted;
};

enum {
  PROP_0,
  PROP_MODE,
  PROP_SCALE,
  PROP_OPACITY,
  PROP_MIN_LENGTH,
  PROP_DISTANCE,
};

#define CAPS GST_VIDEO_CAPS_MAKE (GST_MOTION_BLEND_FORMATS)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

static GType
gst_motion_overlay_mode_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_MOTION_PAINT_ARROWS, "Arrows in the direction of motion", "arrows" },
    { GST_MOTION_PAINT_FIELD, "Motion as colour: hue is the direction",
        "field" },
    { GST_MOTION_PAINT_RESIDUE, "Residue of the prediction, as a heat map",
        "residue" },
    { GST_MOTION_PAINT_GRID, "Edges of the blocks", "grid" },
    { GST_MOTION_PAINT_TEXT, "Numbers of the frame, cuts and duplicates",
        "text" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (
        &type, g_flags_register_static ("GstMotionOverlayMode", values));
  return type;
}

#define gst_motion_overlay_parent_class parent_class
G_DEFINE_TYPE (GstMotionOverlay, gst_motion_overlay, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (
    motionoverlay, "motionoverlay", GST_RANK_NONE, GST_TYPE_MOTION_OVERLAY);

/* --- frames ---------------------------------------------------------------- */

static GstMotionVectorMeta *
find_motion (
    GstMotionOverlay *self, GstBuffer *buffer, GstMotionPaintSettings *settings)
{
  GstMotionVectorMeta *meta;
  gint distance;

  GST_OBJECT_LOCK (self);
  *settings = self->settings;
  distance = self->distance;
  GST_OBJECT_UNLOCK (self);

  meta = gst_buffer_get_motion_vector_meta (buffer, distance);
  self->frames++;
  self->with_motion +=
      gst_buffer_get_meta (buffer, GST_MOTION_VECTOR_META_API_TYPE) != NULL;
  self->painted += meta != NULL;
  return settings->mode != 0 ? meta : NULL;
}

/* Returns: FALSE after posting an error. */
static gboolean
paint (GstMotionOverlay *self, GstBuffer *buffer,
    const GstMotionVectorMeta *meta, const GstMotionPaintSettings *settings)
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
  GstMotionVectorMeta *meta;

  if (self->painter == NULL) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot draw on frames: they came without caps. Put a capsfilter "
         "before motionoverlay."),
        (NULL));
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  meta = find_motion (self, buffer, &settings);
  if (meta == NULL)
    return gst_pad_push (self->srcpad, buffer);

  if (!gst_buffer_is_writable (buffer)) {
    gint distance = meta->field->distance;

    buffer = gst_buffer_make_writable (buffer);
    meta = gst_buffer_get_motion_vector_meta (buffer, distance);
  }
  if (!paint (self, buffer, meta, &settings)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  return gst_pad_push (self->srcpad, buffer);
}

/* --- events ---------------------------------------------------------------- */

static gboolean
set_caps (GstMotionOverlay *self, GstCaps *caps)
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
  distance = self->distance;
  GST_OBJECT_UNLOCK (self);
  if (self->painted > 0 || self->frames < 2)
    return;
  if (self->with_motion == 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("None of %" G_GUINT64_FORMAT " frames carried motion vectors. Put "
         "cudamotionest before motionoverlay.",
            self->frames),
        ("no GstMotionVectorMeta"));
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
      if (!set_caps (self, caps)) {
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
gst_motion_overlay_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstMotionOverlay *self = GST_MOTION_OVERLAY (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_MODE:
      self->settings.mode = g_value_get_flags (value);
      break;
    case PROP_SCALE:
      self->settings.scale = g_value_get_double (value);
      break;
    case PROP_OPACITY:
      self->settings.opacity = g_value_get_double (value);
      break;
    case PROP_MIN_LENGTH:
      self->settings.min_length = g_value_get_double (value);
      break;
    case PROP_DISTANCE:
      self->distance = g_value_get_int (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_motion_overlay_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstMotionOverlay *self = GST_MOTION_OVERLAY (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_MODE:
      g_value_set_flags (value, self->settings.mode);
      break;
    case PROP_SCALE:
      g_value_set_double (value, self->settings.scale);
      break;
    case PROP_OPACITY:
      g_value_set_double (value, self->settings.opacity);
      break;
    case PROP_MIN_LENGTH:
      g_value_set_double (value, self->settings.min_length);
      break;
    case PROP_DISTANCE:
      g_value_set_int (value, self->distance);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_motion_overlay_finalize (GObject *object)
{
  g_clear_pointer (
      &GST_MOTION_OVERLAY (object)->painter, gst_motion_painter_free);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  /**
   * GstMotionOverlay:mode:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_MODE,
      g_param_spec_flags ("mode", "Mode", "Layers drawn on the video",
          GST_TYPE_MOTION_OVERLAY_MODE, DEFAULT_MODE, flags));
  /**
   * GstMotionOverlay:scale:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_SCALE,
      g_param_spec_double ("scale", "Scale",
          "Length of an arrow, pixels for a pixel of motion", 0.1, 100,
          DEFAULT_SCALE, flags));
  /**
   * GstMotionOverlay:opacity:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_OPACITY,
      g_param_spec_double ("opacity", "Opacity",
          "Opacity of field, residue and grid, 0 to 1", 0, 1, DEFAULT_OPACITY,
          flags));
  /**
   * GstMotionOverlay:min-length:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_MIN_LENGTH,
      g_param_spec_double ("min-length", "Least length",
          "Length of the shortest motion that is shown, pixels", 0, 1000,
          DEFAULT_MIN_LENGTH, flags));
  /**
   * GstMotionOverlay:distance:
   *
   * Since: 0.1
   */
  g_object_class_install_property (klass, PROP_DISTANCE,
      g_param_spec_int ("distance", "Distance",
          "Distance of the reference in frames: -1 the previous frame, 1 the "
          "next one",
          -MAX_DISTANCE, MAX_DISTANCE, DEFAULT_DISTANCE, flags));
}

static void
gst_motion_overlay_class_init (GstMotionOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_motion_overlay_debug, "motionoverlay", 0, "motion on the video");

  object_class->set_property = gst_motion_overlay_set_property;
  object_class->get_property = gst_motion_overlay_get_property;
  object_class->finalize = gst_motion_overlay_finalize;
  element_class->change_state = gst_motion_overlay_change_state;
  install_properties (object_class);

  gst_element_class_set_static_metadata (element_class, "Motion overlay",
      "Filter/Editor/Video/Visualization",
      "Draws the motion vectors of cudamotionest on the video",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_type_mark_as_plugin_api (GST_TYPE_MOTION_OVERLAY_MODE, 0);
}

static void
gst_motion_overlay_init (GstMotionOverlay *self)
{
  self->settings = (GstMotionPaintSettings){ DEFAULT_MODE, DEFAULT_SCALE,
    DEFAULT_OPACITY, DEFAULT_MIN_LENGTH };
  self->distance = DEFAULT_DISTANCE;

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
