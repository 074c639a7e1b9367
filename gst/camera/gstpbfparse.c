/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-pbfparse
 * @title: pbfparse
 * @short_description: frames of a recording that arrives as bytes
 *
 * Turns the bytes of a recording of pbffilesink into its frames, with their timestamps
 * and machine signals (#GstCvisPbfSignalMeta). decodebin and playbin choose it by
 * themselves. pbffilesrc reads files, and seeks in them.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 filesrc location=layer.pbf ! decodebin ! cudapbfmonitor ! fakesink
 * ]|
 *
 * Since: 0.2
 */
#include "gstpbfparse.h"

#include "gst/common/gstcvissettings.h"
#include "gstpbfpacketframe.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_parse_debug);
#define GST_CAT_DEFAULT gst_pbf_parse_debug

/* Frames wait in a list for others no longer than this, by their timestamps. */
#define LIST_TIME (10 * GST_MSECOND)

typedef struct {
  gchar *signal_layout;
} Settings;

struct _GstPbfParse {
  GstElement parent;

  Settings settings;
  GstPad *sinkpad, *srcpad;

  /* of the streaming thread */
  gboolean has_layout;
  PbfSignalLayout layout;
  PbfRecording *recording;
  PbfRecordingHead head;
  GstVideoInfo info;
  GstBufferList *list;   /* (nullable): frames to push */
  GstClockTime list_end; /* of its first frame and LIST_TIME */
  GQueue waiting;        /* events that follow the segment */
  gboolean has_caps, has_segment;
  gboolean failed;     /* an error was posted */
  gchar *first_damage; /* (nullable) */
  GstPbfSignalCount signals;
  GstSegment segment; /* guarded by the object lock */
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (GST_PBF_RECORDING_MEDIA_TYPE));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "video/x-raw, format = (string) GRAY8, width = (int) [ 1, 4096 ], "
            "height = (int) [ 1, 4096 ], framerate = (fraction) [ 0, max ]"));

static const Settings defaults = { .signal_layout = (gchar *) "" };

static const GstCvisSetting settings_table[] = {
  { "signal-layout",
      "Fields of a machine's own signals, a vector of 16 int32, as in "
      "\"x_um=2,y_um=3,laser_on=0.1\"; empty: records of the camera link",
      GST_CVIS_SETTING_STRING, G_STRUCT_OFFSET (Settings, signal_layout) },
};

#define gst_pbf_parse_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstPbfParse, gst_pbf_parse, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE (
    pbfparse, "pbfparse", GST_RANK_PRIMARY, GST_TYPE_PBF_PARSE);

/* --- type ------------------------------------------------------------------ */

static void
find_recording (GstTypeFind *find, gpointer unused)
{
  const guint8 *bytes = gst_type_find_peek (find, 0, PBF_RECORDING_HEAD);
  PbfRecordingHead head;
  GstCaps *caps;

  if (bytes == NULL || !pbf_recording_read_head (bytes, &head))
    return;
  caps = gst_static_pad_template_get_caps (&sink_template);
  gst_type_find_suggest (find, GST_TYPE_FIND_MAXIMUM, caps);
  gst_caps_unref (caps);
}

gboolean
gst_pbf_parse_register_type (GstPlugin *plugin)
{
  GstCaps *caps = gst_static_pad_template_get_caps (&sink_template);
  /* ranked before those that find MPEG and H.263 in pixels */
  gboolean ok = gst_type_find_register (plugin, GST_PBF_RECORDING_MEDIA_TYPE,
      GST_RANK_PRIMARY + 1, find_recording, "pbf", caps, NULL, NULL);

  gst_caps_unref (caps);
  return ok;
}

/* --- output ---------------------------------------------------------------- */

static GstFlowReturn
push_list (GstPbfParse *self)
{
  GstBufferList *list = g_steal_pointer (&self->list);
  GstBuffer *last;

  if (list == NULL)
    return GST_FLOW_OK;
  last = gst_buffer_list_get (list, gst_buffer_list_length (list) - 1);
  if (GST_BUFFER_PTS_IS_VALID (last)) {
    GST_OBJECT_LOCK (self);
    self->segment.position = GST_BUFFER_PTS (last);
    GST_OBJECT_UNLOCK (self);
  }
  GST_LOG_OBJECT (self, "pushing %u frames", gst_buffer_list_length (list));
  return gst_pad_push_list (self->srcpad, list);
}

static GstFlowReturn
push_caps (GstPbfParse *self)
{
  GstFlowReturn ret = push_list (self);
  GstCaps *caps;
  gboolean ok;

  if (ret != GST_FLOW_OK)
    return ret;
  caps = gst_pbf_packet_caps (&self->head);
  GST_DEBUG_OBJECT (self, "caps %" GST_PTR_FORMAT, caps);
  ok = gst_video_info_from_caps (&self->info, caps)
       && gst_pad_push_event (self->srcpad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  self->has_caps = TRUE;
  if (!ok && GST_PAD_IS_FLUSHING (self->srcpad))
    return GST_FLOW_FLUSHING;
  return ok ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

/* Running time begins with the first frame, at @start. */
static void
push_segment (GstPbfParse *self, GstClockTime start)
{
  GstEvent *event;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (GST_CLOCK_TIME_IS_VALID (start))
    segment.start = segment.position = segment.time = start;
  GST_OBJECT_LOCK (self);
  self->segment = segment;
  GST_OBJECT_UNLOCK (self);
  gst_pad_push_event (self->srcpad, gst_event_new_segment (&segment));
  self->has_segment = TRUE;
  while ((event = g_queue_pop_head (&self->waiting)) != NULL)
    gst_pad_push_event (self->srcpad, event);
}

static GstFlowReturn
add_frame (GstPbfParse *self, const PbfPacket *packet)
{
  GstBuffer *buffer =
      gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&self->info), NULL);
  guint most =
      (guint) CLAMP (GST_PBF_LIST_BYTES / GST_VIDEO_INFO_SIZE (&self->info), 1,
          GST_PBF_LIST_FRAMES);

  if (!gst_pbf_packet_fill (packet, &self->info,
          self->has_layout ? &self->layout : NULL,
          pbf_recording_get_number (self->recording), buffer)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, (NULL),
        ("Cannot write a frame: a new buffer cannot be mapped."));
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  gst_pbf_packet_count (&self->signals, packet);
  if (!self->has_segment)
    push_segment (self, packet->t_ns);
  if (self->list == NULL) {
    self->list = gst_buffer_list_new ();
    self->list_end = packet->t_ns != PBF_PACKET_NO_TIME
                             && packet->t_ns < G_MAXUINT64 - LIST_TIME
                         ? packet->t_ns + LIST_TIME
                         : 0;
  }
  gst_buffer_list_add (self->list, buffer);
  /* the next frame would come too late */
  if (gst_buffer_list_length (self->list) >= most
      || packet->t_ns == PBF_PACKET_NO_TIME
      || packet->t_ns + packet->duration_ns >= self->list_end)
    return push_list (self);
  return GST_FLOW_OK;
}

/* Pushes what the bytes so far hold. */
static GstFlowReturn
read_pieces (GstPbfParse *self)
{
  GstFlowReturn ret = GST_FLOW_OK;
  PbfPiece piece = PBF_PIECE_HEAD;
  GError *error = NULL;
  PbfPacket packet;

  while (ret == GST_FLOW_OK && piece < PBF_PIECE_MORE) {
    piece = pbf_recording_next (self->recording, &self->head, &packet, &error);
    if (piece == PBF_PIECE_HEAD) {
      ret = push_caps (self);
    } else if (piece == PBF_PIECE_FRAME) {
      ret = add_frame (self, &packet);
    } else if (piece == PBF_PIECE_DAMAGE) {
      GST_WARNING_OBJECT (self, "%s", error->message);
      if (self->first_damage == NULL)
        self->first_damage = g_strdup (error->message);
    } else if (piece == PBF_PIECE_ERROR) {
      GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
          ("Cannot read the stream: %s. Check the element before pbfparse; "
           "recordings are made by pbffilesink.",
              error->message),
          (NULL));
      self->failed = TRUE;
      ret = GST_FLOW_ERROR;
    }
    g_clear_error (&error);
  }
  return ret;
}

/* --- input ----------------------------------------------------------------- */

static GstFlowReturn
gst_pbf_parse_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstPbfParse *self = GST_PBF_PARSE (parent);
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("Cannot read a buffer: it cannot be mapped. Check the element before "
         "pbfparse."),
        (NULL));
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  pbf_recording_push (self->recording, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  return read_pieces (self);
}

static void
post_warnings (GstPbfParse *self)
{
  gst_pbf_packet_post_damage (GST_ELEMENT_CAST (self), "the recording",
      pbf_recording_get_damage (self->recording), self->first_damage);
  g_clear_pointer (&self->first_damage, g_free);
  gst_pbf_packet_post_missing (GST_ELEMENT_CAST (self), "the recording",
      &self->signals, self->has_layout ? &self->layout : NULL);
}

static void
begin_recording (GstPbfParse *self)
{
  g_clear_pointer (&self->recording, pbf_recording_free);
  g_clear_pointer (&self->first_damage, g_free);
  gst_clear_buffer_list (&self->list);
  self->recording = pbf_recording_new_stream ();
  self->signals = (GstPbfSignalCount){ 0 };
  self->has_segment = self->has_caps = self->failed = FALSE;
  GST_OBJECT_LOCK (self);
  gst_segment_init (&self->segment, GST_FORMAT_TIME);
  GST_OBJECT_UNLOCK (self);
}

static void
drain (GstPbfParse *self)
{
  pbf_recording_finish (self->recording);
  if (!self->failed && read_pieces (self) == GST_FLOW_OK)
    push_list (self);
  post_warnings (self);
  if (self->has_caps && !self->has_segment)
    push_segment (self, GST_CLOCK_TIME_NONE);
}

static gboolean
gst_pbf_parse_sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstPbfParse *self = GST_PBF_PARSE (parent);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS: /* those of the frames are in the recording */
    case GST_EVENT_SEGMENT:
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_FLUSH_START:
      break;
    case GST_EVENT_FLUSH_STOP:
      begin_recording (self);
      break;
    case GST_EVENT_EOS:
      drain (self);
      break;
    default:
      if (GST_EVENT_IS_SERIALIZED (event) && !self->has_segment) {
        g_queue_push_tail (&self->waiting, event);
        return TRUE;
      }
      if (GST_EVENT_IS_SERIALIZED (event))
        push_list (self);
  }
  return gst_pad_event_default (pad, parent, event);
}

/* --- queries --------------------------------------------------------------- */

/* The bytes arrive in order; pbffilesrc seeks. */
static gboolean
gst_pbf_parse_src_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK) {
    GST_DEBUG_OBJECT (parent, "refusing a seek");
    gst_event_unref (event);
    return FALSE;
  }
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
gst_pbf_parse_src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstPbfParse *self = GST_PBF_PARSE (parent);
  GstFormat format;
  guint64 position;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_SEEKING:
      gst_query_parse_seeking (query, &format, NULL, NULL, NULL);
      gst_query_set_seeking (query, format, FALSE, 0, -1);
      return TRUE;
    case GST_QUERY_DURATION: /* upstream has bytes */
    case GST_QUERY_CONVERT:
      return FALSE;
    case GST_QUERY_POSITION:
      gst_query_parse_position (query, &format, NULL);
      if (format != GST_FORMAT_TIME)
        return FALSE;
      GST_OBJECT_LOCK (self);
      position = gst_segment_to_stream_time (
          &self->segment, GST_FORMAT_TIME, self->segment.position);
      GST_OBJECT_UNLOCK (self);
      gst_query_set_position (query, format, (gint64) position);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

/* --- life ------------------------------------------------------------------ */

static gboolean
start (GstPbfParse *self)
{
  const gchar *text =
      gst_cvis_settings_get_string (self, &self->settings.signal_layout);
  GError *error = NULL;

  self->has_layout = *text != '\0';
  if (self->has_layout
      && !pbf_signal_layout_parse (text, &self->layout, &error)) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("Invalid setting: %s. Correct signal-layout.", error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  begin_recording (self);
  return TRUE;
}

static void
stop (GstPbfParse *self)
{
  if (self->recording != NULL && self->first_damage != NULL)
    post_warnings (self);
  g_clear_pointer (&self->recording, pbf_recording_free);
  g_clear_pointer (&self->first_damage, g_free);
  gst_clear_buffer_list (&self->list);
  g_queue_clear_full (&self->waiting, (GDestroyNotify) gst_event_unref);
}

static GstStateChangeReturn
gst_pbf_parse_change_state (GstElement *element, GstStateChange change)
{
  GstPbfParse *self = GST_PBF_PARSE (element);
  GstStateChangeReturn ret;

  if (change == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (parent_class)->change_state (element, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY
      || ret == GST_STATE_CHANGE_FAILURE)
    stop (self);
  return ret;
}

/* --- object ---------------------------------------------------------------- */

static void
gst_pbf_parse_class_init (GstPbfParseClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_parse_debug, "pbfparse", 0, "parser of recordings");

  gst_cvis_settings_bind (G_OBJECT_CLASS (klass), 1, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfParse, settings),
      &defaults);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Parser of melt-pool recordings", "Codec/Demuxer/Video",
      "Reads grey frames and machine signals from the bytes of a recording",
      "the gst-cudavision authors");
  element_class->change_state = gst_pbf_parse_change_state;
}

static void
gst_pbf_parse_init (GstPbfParse *self)
{
  gst_cvis_settings_init (self);
  g_queue_init (&self->waiting);
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_pbf_parse_chain);
  gst_pad_set_event_function (self->sinkpad, gst_pbf_parse_sink_event);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_event_function (self->srcpad, gst_pbf_parse_src_event);
  gst_pad_set_query_function (self->srcpad, gst_pbf_parse_src_query);
  gst_pad_use_fixed_caps (self->srcpad);
  gst_element_add_pad (GST_ELEMENT_CAST (self), self->srcpad);
}
