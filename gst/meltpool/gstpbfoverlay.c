/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-pbfoverlay
 * @title: pbfoverlay
 * @short_description: draws melt-pool frames with their results
 *
 * Draws frames that cudapbfmonitor has analysed: enlarged, with the region of
 * interest, the melt pool's outline and long axis, the expected position and the
 * spatters, and the main numbers beside them. At most #GstPbfOverlay:fps pictures
 * are drawn for a second of the stream, each at the first frame that reaches the
 * next display tick; the other frames are dropped at once, so that a camera of
 * 20,000 frames per second can be watched.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbftestsrc num-buffers=20000 regime=spatter ! cudapbfmonitor ! pbfoverlay fps=100/1 ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
#include "gstpbfoverlay.h"

#include <gst/cudavision/gstpbfmeta.h>
#include <gst/video/video.h>

#include "gst/common/gstcvispool.h"
#include "gst/common/gstcvissettings.h"
#include "gstpbfgrey.h"
#include "gstpbfnames.h"
#include "gstpbfpainter.h"
#include "gstpbfsettings.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_overlay_debug);
#define GST_CAT_DEFAULT gst_pbf_overlay_debug

#define DEFAULT_FPS_N 25
#define DEFAULT_FPS_D 1

/* cairo's RGB24 is a native 32-bit word */
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define CAIRO_VIDEO_FORMAT "BGRx"
#else
#define CAIRO_VIDEO_FORMAT "xRGB"
#endif

typedef struct {
  GstPbfPainterConfig painter;
  gint shift;
} Settings;

struct _GstPbfOverlay {
  GstElement parent;

  GstPad *sinkpad;
  GstPad *srcpad;

  /* properties, guarded by the object lock */
  gint fps_n, fps_d;
  Settings settings;
  gchar *output_names;
  GstClockTime wait; /* longest time from a tick to its frame */

  /* of the streaming thread */
  gint active_fps_n, active_fps_d;
  GstVideoInfo in_info, out_info;
  GstPbfGrey grey;
  gchar **stream_names; /* of the outputs, by upstream; NULL: not known */
  guint8 *picture;      /* 8-bit copy of a frame with more bits */
  GstCaps *refused;     /* an error was posted for them, once */
  GstPbfPainter *painter;
  cairo_surface_t *canvas; /* if the output is not in cairo's own format */
  GstClockTime frame_duration;
  gboolean backwards; /* the segment's rate is negative */
  gboolean ticking;
  GstClockTime first_tick; /* tick 0 */
  guint64 last_tick;       /* number of the last tick drawn */
  GstClockTime expected;   /* time of the next frame, if it has no timestamp */
  gboolean discont;
};

enum {
  PROP_FPS = 1,
  PROP_OUTPUT_NAMES,
  PROP_SETTING,
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_PBF_GREY_FORMATS)));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (
            CAIRO_VIDEO_FORMAT) "; " GST_VIDEO_CAPS_MAKE ("RGB")));

static const GEnumValue colormap_values[] = {
  { GST_PBF_COLORMAP_INFERNO, "Black, violet, orange, pale yellow", "inferno" },
  { GST_PBF_COLORMAP_GREY, "Black to white", "grey" },
  { 0, NULL, NULL },
};

#define FIELD(name) G_STRUCT_OFFSET (Settings, name)

static const GstCvisSetting settings_table[] = {
  { "scale",
      "Picture pixels along a side of a frame pixel; 0: the largest that keeps "
      "the longer side of the frame within 768",
      GST_CVIS_SETTING_UINT, FIELD (painter.zoom), FALSE, 0, 64 },
  { "shift", GST_PBF_SHIFT_BLURB "; the same as cudapbfmonitor's",
      GST_CVIS_SETTING_INT, FIELD (shift), FALSE, GST_PBF_SHIFT_AUTO,
      GST_PBF_MAX_SHIFT },
  { "threshold",
      "Grey value from which a pixel belongs to the melt pool's outline; the "
      "same as cudapbfmonitor's",
      GST_CVIS_SETTING_UINT, FIELD (painter.threshold), FALSE, 1, 255 },
  { "connectivity",
      "Neighbourhood that connects pixels of the outline; the same as "
      "cudapbfmonitor's",
      GST_CVIS_SETTING_ENUM, FIELD (painter.connectivity), FALSE, 0, 0,
      GST_PBF_CONNECTIVITY_TYPE, gst_pbf_connectivity_values },
  { "colormap", "Colour map for the grey values of the frame",
      GST_CVIS_SETTING_ENUM, FIELD (painter.colormap), FALSE, 0, 0,
      "GstPbfOverlayColormap", colormap_values },
};

static const Settings default_settings = {
  .painter = { .threshold = 100,
      .connectivity = 4,
      .colormap = GST_PBF_COLORMAP_INFERNO },
  .shift = GST_PBF_SHIFT_AUTO,
};

#define gst_pbf_overlay_parent_class parent_class
G_DEFINE_TYPE (GstPbfOverlay, gst_pbf_overlay, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (
    pbfoverlay, "pbfoverlay", GST_RANK_NONE, GST_TYPE_PBF_OVERLAY);

/* --- negotiation ----------------------------------------------------------- */

static void
drop_canvas (GstPbfOverlay *self)
{
  g_clear_pointer (&self->painter, gst_pbf_painter_free);
  g_clear_pointer (&self->canvas, cairo_surface_destroy);
  g_clear_pointer (&self->picture, g_free);
}

/* Whether an error about @caps was posted: upstream sends refused caps again with
 * each push. */
static gboolean
is_refused (GstPbfOverlay *self, GstCaps *caps)
{
  return self->refused != NULL && gst_caps_is_equal (self->refused, caps)
         && !GST_PAD_NEEDS_RECONFIGURE (self->srcpad);
}

/* Remembers @caps, about which an error was posted. */
static gboolean
refuse_overlay_caps (GstPbfOverlay *self, GstCaps *caps)
{
  gst_caps_replace (&self->refused, caps);
  return FALSE;
}

static void
reject_memory (GstPbfOverlay *self, gsize size)
{
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
      ("No memory for a picture of %" G_GSIZE_FORMAT
       " bytes. Use a smaller scale.",
          size),
      (NULL));
}

/* The names of the property, else those of the stream. */
static void
name_outputs (GstPbfOverlay *self)
{
  gchar **own = NULL;

  GST_OBJECT_LOCK (self);
  if (self->output_names != NULL && *self->output_names)
    own = g_strsplit (self->output_names, ",", -1);
  GST_OBJECT_UNLOCK (self);
  gst_pbf_painter_name_outputs (
      self->painter, own != NULL ? own : self->stream_names);
  g_strfreev (own);
}

static gboolean
make_painter (GstPbfOverlay *self, GstCaps *in_caps)
{
  GstPbfPainterConfig config;

  drop_canvas (self);
  GST_OBJECT_LOCK (self);
  config = self->settings.painter;
  config.width = GST_VIDEO_INFO_WIDTH (&self->in_info);
  config.height = GST_VIDEO_INFO_HEIGHT (&self->in_info);
  GST_OBJECT_UNLOCK (self);

  self->painter = gst_pbf_painter_new (&config);
  if (self->painter == NULL) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot draw frames of %ux%u pixels: enlarged %u times, a side "
         "exceeds %d pixels. Use a smaller scale.",
            config.width, config.height, MAX (config.zoom, 1),
            GST_PBF_PAINTER_MAX_SIDE),
        (NULL));
    return refuse_overlay_caps (self, in_caps);
  }
  name_outputs (self);
  if (self->grey.wide) {
    self->picture = g_try_malloc ((gsize) config.width * config.height);
    if (self->picture == NULL) {
      reject_memory (self, (gsize) config.width * config.height);
      return refuse_overlay_caps (self, in_caps);
    }
  }
  return TRUE;
}

/* Sets the tick rate of this stream, and the longest time from a tick to its frame:
 * the first frame that reaches a tick is at most one frame period late. */
static void
choose_rate (GstPbfOverlay *self)
{
  gint in_n = GST_VIDEO_INFO_FPS_N (&self->in_info);
  gint in_d = GST_VIDEO_INFO_FPS_D (&self->in_info);
  GstClockTime period = 0;
  gboolean changed;

  self->frame_duration =
      in_n > 0 ? gst_util_uint64_scale (GST_SECOND, in_d, in_n) : 0;
  GST_OBJECT_LOCK (self);
  self->active_fps_n = self->fps_n;
  self->active_fps_d = self->fps_d;
  if (self->fps_n > 0) {
    period = gst_util_uint64_scale (GST_SECOND, self->fps_d, self->fps_n);
    if (self->frame_duration > 0)
      period = MIN (period, self->frame_duration);
  }
  changed = self->wait != period;
  self->wait = period;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

static gboolean
negotiate_picture (GstPbfOverlay *self, GstCaps *in_caps)
{
  gboolean every = self->active_fps_n == 0;
  GstCaps *wanted =
      gst_caps_make_writable (gst_pad_get_pad_template_caps (self->srcpad));
  GstCaps *possible, *caps;
  gboolean ok;

  gst_caps_set_simple (wanted, "width", G_TYPE_INT,
      (gint) gst_pbf_painter_width (self->painter), "height", G_TYPE_INT,
      (gint) gst_pbf_painter_height (self->painter), "framerate",
      GST_TYPE_FRACTION,
      every ? GST_VIDEO_INFO_FPS_N (&self->in_info) : self->active_fps_n,
      every ? GST_VIDEO_INFO_FPS_D (&self->in_info) : self->active_fps_d,
      "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1, NULL);
  possible = gst_pad_peer_query_caps (self->srcpad, wanted);
  caps = gst_caps_intersect_full (wanted, possible, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (possible);
  if (gst_caps_is_empty (caps)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Downstream does not accept the pictures of %ux%u "
         "in " CAIRO_VIDEO_FORMAT
         " or RGB. Put videoconvert and videoscale after pbfoverlay.",
            gst_pbf_painter_width (self->painter),
            gst_pbf_painter_height (self->painter)),
        ("offered: %" GST_PTR_FORMAT, wanted));
    gst_caps_unref (wanted);
    gst_caps_unref (caps);
    return refuse_overlay_caps (self, in_caps);
  }
  gst_caps_unref (wanted);
  caps = gst_caps_fixate (caps);
  ok = gst_video_info_from_caps (&self->out_info, caps)
       && gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  GST_DEBUG_OBJECT (self, "pictures are %" GST_PTR_FORMAT, caps);
  gst_caps_unref (caps);
  return ok;
}

static gboolean
renegotiate (GstPbfOverlay *self)
{
  GstCaps *caps = gst_pad_get_current_caps (self->sinkpad);
  gboolean ok = caps != NULL && negotiate_picture (self, caps);

  gst_clear_caps (&caps);
  return ok;
}

static gboolean
set_picture_caps (GstPbfOverlay *self, GstCaps *caps)
{
  gint shift;

  if (is_refused (self, caps))
    return FALSE;
  gst_clear_caps (&self->refused);
  /* clears a RECONFIGURE, which this negotiation has handled */
  gst_pad_check_reconfigure (self->srcpad);
  GST_OBJECT_LOCK (self);
  shift = self->settings.shift;
  GST_OBJECT_UNLOCK (self);
  if (!gst_video_info_from_caps (&self->in_info, caps)
      || !gst_pbf_grey_init (&self->grey, &self->in_info, shift)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Unsupported caps: not grey video. Put videoconvert before "
         "pbfoverlay."),
        ("%" GST_PTR_FORMAT, caps));
    return refuse_overlay_caps (self, caps);
  }
  choose_rate (self);
  self->ticking = FALSE;
  return make_painter (self, caps) && negotiate_picture (self, caps);
}

/* --- display ticks --------------------------------------------------------- */

static void
forget_ticks (GstPbfOverlay *self)
{
  self->ticking = FALSE;
  self->expected = GST_CLOCK_TIME_NONE;
  self->discont = TRUE;
}

/* Ticks go backwards from the first one if the segment does. */
static GstClockTime
tick_time (GstPbfOverlay *self, guint64 tick)
{
  GstClockTime since = gst_util_uint64_scale (
      tick, GST_SECOND * self->active_fps_d, self->active_fps_n);

  if (!self->backwards)
    return self->first_tick + since;
  return self->first_tick - MIN (since, self->first_tick);
}

/* Time from the first tick to @time in the direction of the segment, by which half a
 * frame early counts, so that rounded timestamps do not miss a tick of the same rate;
 * negative before it. */
static GstClockTimeDiff
since_first_tick (GstPbfOverlay *self, GstClockTime time)
{
  GstClockTimeDiff since = GST_CLOCK_DIFF (self->first_tick, time);

  return (self->backwards ? -since : since)
         + (GstClockTimeDiff) MAX (self->frame_duration / 2, 1);
}

/* Presentation time of @buffer; by the frame rate if it has no timestamp. */
static GstClockTime
frame_time (GstPbfOverlay *self, GstBuffer *buffer)
{
  GstClockTime time = GST_BUFFER_PTS (buffer);

  if (!GST_CLOCK_TIME_IS_VALID (time))
    time = self->expected;
  if (!GST_CLOCK_TIME_IS_VALID (time) && self->frame_duration > 0)
    time = 0;
  self->expected = GST_CLOCK_TIME_IS_VALID (time) && self->frame_duration > 0
                       ? time + self->frame_duration
                       : GST_CLOCK_TIME_NONE;
  return time;
}

/* Whether the frame of @time is the first to reach a tick. */
static gboolean
reaches_tick (GstPbfOverlay *self, GstClockTime time)
{
  GstClockTimeDiff since;
  guint64 tick;

  if (self->active_fps_n == 0 || !GST_CLOCK_TIME_IS_VALID (time))
    return TRUE;
  since = since_first_tick (self, time);
  if (self->ticking && since + (GstClockTimeDiff) self->frame_duration / 2 < 0)
    self->ticking = FALSE; /* time jumped back */
  if (!self->ticking) {
    self->ticking = TRUE;
    self->first_tick = time;
    self->last_tick = 0;
    return TRUE;
  }
  if (since < 0)
    return FALSE;
  tick = gst_util_uint64_scale (
      since, self->active_fps_n, GST_SECOND * self->active_fps_d);
  if (tick <= self->last_tick)
    return FALSE;
  self->last_tick = tick;
  return TRUE;
}

static void
set_times (GstPbfOverlay *self, GstBuffer *out, GstClockTime time)
{
  if (self->active_fps_n == 0 || !GST_CLOCK_TIME_IS_VALID (time)) {
    GST_BUFFER_PTS (out) = time;
    if (self->frame_duration > 0)
      GST_BUFFER_DURATION (out) = self->frame_duration;
    return;
  }
  GST_BUFFER_PTS (out) = tick_time (self, self->last_tick);
  GST_BUFFER_DURATION (out) = (GstClockTime) ABS (GST_CLOCK_DIFF (
      tick_time (self, self->last_tick + 1), GST_BUFFER_PTS (out)));
}

/* --- pictures -------------------------------------------------------------- */

static void
pack_rgb (cairo_surface_t *canvas, GstVideoFrame *frame)
{
  const guint8 *from = cairo_image_surface_get_data (canvas);
  guint8 *to = GST_VIDEO_FRAME_PLANE_DATA (frame, 0);
  gint x, y;

  for (y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y++) {
    const guint32 *pixels = (const guint32 *) from;

    for (x = 0; x < GST_VIDEO_FRAME_WIDTH (frame); x++) {
      to[3 * x] = (guint8) (pixels[x] >> 16);
      to[3 * x + 1] = (guint8) (pixels[x] >> 8);
      to[3 * x + 2] = (guint8) pixels[x];
    }
    from += cairo_image_surface_get_stride (canvas);
    to += GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
  }
}

static cairo_status_t
paint_into (GstPbfOverlay *self, GstVideoFrame *out, const GstPbfPicture *pic)
{
  gint width = GST_VIDEO_FRAME_WIDTH (out);
  gint height = GST_VIDEO_FRAME_HEIGHT (out);
  cairo_surface_t *surface;
  cairo_status_t status;

  if (GST_VIDEO_FRAME_FORMAT (out) != GST_VIDEO_FORMAT_RGB) {
    surface = cairo_image_surface_create_for_data (
        GST_VIDEO_FRAME_PLANE_DATA (out, 0), CAIRO_FORMAT_RGB24, width, height,
        GST_VIDEO_FRAME_PLANE_STRIDE (out, 0));
    status = gst_pbf_painter_paint (self->painter, surface, pic);
    cairo_surface_destroy (surface);
    return status;
  }
  if (self->canvas == NULL)
    self->canvas =
        cairo_image_surface_create (CAIRO_FORMAT_RGB24, width, height);
  status = gst_pbf_painter_paint (self->painter, self->canvas, pic);
  if (status == CAIRO_STATUS_SUCCESS)
    pack_rgb (self->canvas, out);
  return status;
}

static void
describe (GstPbfOverlay *self, GstPbfPicture *pic, GstVideoFrame *in,
    GstClockTime time)
{
  GstCvisPbfMeta *meta = gst_cvis_buffer_get_pbf_meta (in->buffer);
  const guint8 *pixels = GST_VIDEO_FRAME_PLANE_DATA (in, 0);
  gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (in, 0);

  if (self->grey.wide) {
    pbf_grey_to_8 (self->grey.layout, self->grey.shift, pixels, (gsize) stride,
        GST_VIDEO_FRAME_WIDTH (in), GST_VIDEO_FRAME_HEIGHT (in), self->picture);
    pixels = self->picture;
    stride = GST_VIDEO_FRAME_WIDTH (in);
  }
  *pic = (GstPbfPicture){
    .pixels = pixels,
    .stride = stride,
    .scale_x = 1.0,
    .scale_y = 1.0,
    .time_ns = time,
    .latency_ns = GST_CLOCK_TIME_NONE,
  };
  if (meta == NULL)
    return;
  pic->result = meta->result;
  pic->offset_x = meta->offset_x;
  pic->offset_y = meta->offset_y;
  pic->scale_x = meta->scale_x;
  pic->scale_y = meta->scale_y;
  pic->latency_ns = meta->latency;
}

/* Returns: the picture of @buffer, or %NULL after posting an error. */
static GstBuffer *
draw_picture (GstPbfOverlay *self, GstBuffer *buffer, GstClockTime time)
{
  GstBuffer *out = gst_buffer_new_allocate (
      gst_cvis_allocator (), GST_VIDEO_INFO_SIZE (&self->out_info), NULL);
  GstVideoFrame in_frame, out_frame;
  GstPbfPicture picture;
  cairo_status_t status;

  if (out == NULL) {
    reject_memory (self, GST_VIDEO_INFO_SIZE (&self->out_info));
    return NULL;
  }
  if (!gst_video_frame_map (&in_frame, &self->in_info, buffer, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot read a frame: a buffer of %" G_GSIZE_FORMAT
         " bytes holds no frame of %dx%d. Check the caps.",
            gst_buffer_get_size (buffer), GST_VIDEO_INFO_WIDTH (&self->in_info),
            GST_VIDEO_INFO_HEIGHT (&self->in_info)),
        ("%" GST_PTR_FORMAT, buffer));
    gst_buffer_unref (out);
    return NULL;
  }
  if (!gst_video_frame_map (&out_frame, &self->out_info, out, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
        ("Cannot write the picture: the output buffer cannot be mapped. Put "
         "\"identity drop-allocation=true\" after pbfoverlay."),
        (NULL));
    gst_video_frame_unmap (&in_frame);
    gst_buffer_unref (out);
    return NULL;
  }
  describe (self, &picture, &in_frame, time);
  status = paint_into (self, &out_frame, &picture);
  gst_video_frame_unmap (&out_frame);
  gst_video_frame_unmap (&in_frame);
  if (status != CAIRO_STATUS_SUCCESS) {
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
        ("Cannot draw on the picture: cairo reports: %s. Use a smaller scale, "
         "or free memory.",
            cairo_status_to_string (status)),
        (NULL));
    gst_buffer_unref (out);
    return NULL;
  }
  return out;
}

/* Takes @buffer. */
static GstFlowReturn
push_picture (GstPbfOverlay *self, GstBuffer *buffer)
{
  GstClockTime time;
  GstBuffer *out;

  if (self->painter == NULL) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot draw frames: they came without caps. Put a capsfilter before "
         "pbfoverlay."),
        (NULL));
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (GST_BUFFER_IS_DISCONT (buffer))
    self->discont = TRUE;
  time = frame_time (self, buffer);
  if (!reaches_tick (self, time))
    return GST_FLOW_OK;

  if (gst_pad_check_reconfigure (self->srcpad) && !renegotiate (self)) {
    gst_pad_mark_reconfigure (self->srcpad);
    return GST_PAD_IS_FLUSHING (self->srcpad) ? GST_FLOW_FLUSHING
                                              : GST_FLOW_NOT_NEGOTIATED;
  }
  out = draw_picture (self, buffer, time);
  if (out == NULL)
    return GST_FLOW_ERROR;
  set_times (self, out, time);
  if (self->discont)
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_DISCONT);
  self->discont = FALSE;
  return gst_pad_push (self->srcpad, out);
}

static GstFlowReturn
gst_pbf_overlay_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstFlowReturn ret = push_picture (GST_PBF_OVERLAY (parent), buffer);

  gst_buffer_unref (buffer);
  return ret;
}

static GstFlowReturn
gst_pbf_overlay_chain_list (GstPad *pad, GstObject *parent, GstBufferList *list)
{
  GstPbfOverlay *self = GST_PBF_OVERLAY (parent);
  GstFlowReturn ret = GST_FLOW_OK;
  guint i, n = gst_buffer_list_length (list);

  for (i = 0; i < n && ret == GST_FLOW_OK; i++)
    ret = push_picture (self, gst_buffer_list_get (list, i));
  gst_buffer_list_unref (list);
  return ret;
}

/* --- events and queries ---------------------------------------------------- */

static gboolean
gst_pbf_overlay_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstPbfOverlay *self = GST_PBF_OVERLAY (parent);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS: {
      GstCaps *caps;
      gboolean ok;

      gst_event_parse_caps (event, &caps);
      ok = set_picture_caps (self, caps);
      gst_event_unref (event);
      return ok;
    }
    case GST_EVENT_SEGMENT: {
      const GstSegment *segment;

      gst_event_parse_segment (event, &segment);
      self->backwards = segment->rate < 0;
      forget_ticks (self);
      break;
    }
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
      if (!gst_event_has_name (event, GST_PBF_NAMES_EVENT))
        break;
      g_strfreev (self->stream_names);
      self->stream_names = gst_pbf_names_get (gst_event_get_structure (event));
      if (self->painter != NULL)
        name_outputs (self);
      break;
    case GST_EVENT_FLUSH_STOP:
      forget_ticks (self);
      if (self->painter != NULL)
        gst_pbf_painter_reset (self->painter);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* QOS events are dropped: for a slow display no element upstream shall drop frames
 * before they are analysed. */
static gboolean
gst_pbf_overlay_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS) {
    gst_event_unref (event);
    return TRUE;
  }
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
gst_pbf_overlay_sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION) {
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
    return TRUE;
  }
  return gst_pad_query_default (pad, parent, query);
}

static gboolean
gst_pbf_overlay_src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstPbfOverlay *self = GST_PBF_OVERLAY (parent);
  GstClockTime min, max, wait;
  gboolean live;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  if (!gst_pad_peer_query (self->sinkpad, query))
    return FALSE;

  GST_OBJECT_LOCK (self);
  wait = self->wait;
  GST_OBJECT_UNLOCK (self);
  gst_query_parse_latency (query, &live, &min, &max);
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += wait;
  gst_query_set_latency (query, live, min + wait, max);
  return TRUE;
}

/* --- object ---------------------------------------------------------------- */

static GstStateChangeReturn
gst_pbf_overlay_change_state (GstElement *element, GstStateChange transition)
{
  GstPbfOverlay *self = GST_PBF_OVERLAY (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    forget_ticks (self);
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    drop_canvas (self);
    g_clear_pointer (&self->stream_names, g_strfreev);
    gst_clear_caps (&self->refused);
  }
  return ret;
}

static void
gst_pbf_overlay_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstPbfOverlay *self = GST_PBF_OVERLAY (object);

  if (id >= PROP_SETTING) {
    gst_cvis_settings_set_property (object, id, value, pspec);
    return;
  }
  gst_cvis_warn_if_late (object, pspec);
  GST_OBJECT_LOCK (self);
  if (id == PROP_FPS) {
    self->fps_n = gst_value_get_fraction_numerator (value);
    self->fps_d = gst_value_get_fraction_denominator (value);
  } else {
    g_free (self->output_names);
    self->output_names = g_value_dup_string (value);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_pbf_overlay_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstPbfOverlay *self = GST_PBF_OVERLAY (object);

  if (id >= PROP_SETTING) {
    gst_cvis_settings_get_property (object, id, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id == PROP_FPS)
    gst_value_set_fraction (value, self->fps_n, self->fps_d);
  else
    g_value_set_string (value, self->output_names);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_pbf_overlay_finalize (GObject *object)
{
  GstPbfOverlay *self = GST_PBF_OVERLAY (object);

  drop_canvas (self);
  g_free (self->output_names);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_pbf_overlay_class_init (GstPbfOverlayClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_overlay_debug, "pbfoverlay", 0, "pictures of melt pools");

  object_class->finalize = gst_pbf_overlay_finalize;
  gst_cvis_settings_bind (object_class, PROP_SETTING, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfOverlay, settings),
      &default_settings);
  object_class->set_property = gst_pbf_overlay_set_property;
  object_class->get_property = gst_pbf_overlay_get_property;
  element_class->change_state = gst_pbf_overlay_change_state;
  g_object_class_install_property (object_class, PROP_FPS,
      gst_param_spec_fraction ("fps", "fps",
          "Most pictures per second of the stream; 0/1: one for each frame", 0,
          1, G_MAXINT, 1, DEFAULT_FPS_N, DEFAULT_FPS_D, flags));
  g_object_class_install_property (object_class, PROP_OUTPUT_NAMES,
      g_param_spec_string ("output-names", "output-names",
          "Names of the network's outputs, separated by commas; unset: those "
          "of "
          "the network's file",
          NULL, flags));

  gst_element_class_set_static_metadata (element_class, "Melt-pool overlay",
      "Filter/Editor/Video/Visualization",
      "Draws melt-pool frames enlarged, with the results of cudapbfmonitor",
      "the gst-cudavision authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
}

static void
gst_pbf_overlay_init (GstPbfOverlay *self)
{
  self->fps_n = DEFAULT_FPS_N;
  self->fps_d = DEFAULT_FPS_D;
  gst_cvis_settings_init (self);

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_pbf_overlay_chain);
  gst_pad_set_chain_list_function (self->sinkpad, gst_pbf_overlay_chain_list);
  gst_pad_set_event_function (self->sinkpad, gst_pbf_overlay_sink_event);
  gst_pad_set_query_function (self->sinkpad, gst_pbf_overlay_sink_query);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_event_function (self->srcpad, gst_pbf_overlay_src_event);
  gst_pad_set_query_function (self->srcpad, gst_pbf_overlay_src_query);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
