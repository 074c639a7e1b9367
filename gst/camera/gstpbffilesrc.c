/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-pbffilesrc
 * @title: pbffilesrc
 * @short_description: replays recorded melt-pool frames
 *
 * Reads recordings of pbffilesink: frames, timestamps and machine signals
 * (#GstCvisPbfSignalMeta) are the same as when they were recorded, and so are results of
 * cudapbfmonitor. Of a recording that is damaged, or whose writer was killed, the
 * intact frames are read; a warning names the place of the damage.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbffilesrc location=layer.pbf ! cudapbfmonitor ! fakesink
 * ]|
 *
 * Since: 0.1
 */
#include "gstpbffilesrc.h"

#include <gst/video/video.h>
#include <unistd.h>
#include "gst/common/gstcvisfile.h"
#include "gst/common/gstcvissegment.h"
#include "gst/common/gstcvissettings.h"
#include "gstpbfpacketframe.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_file_src_debug);
#define GST_CAT_DEFAULT gst_pbf_file_src_debug

#define MAX_FRAMES_PER_LIST 65536

typedef struct {
  gchar *location;
  guint frames_per_list;
  gchar *signal_layout;
} Settings;

struct _GstPbfFileSrc {
  GstPbfListSrc parent;

  Settings settings;

  /* of the streaming thread */
  const gchar *location; /* of the settings when it started */
  gint fd;
  gint unlocked; /* atomic */
  PbfRecording *recording;
  PbfRecordingHead head; /* width 0: none has been read */
  PbfPiece piece;        /* the last one read */
  PbfPacket packet;      /* its packet */
  gboolean unused;       /* the piece waits to be used */
  gboolean negotiated;   /* caps of head */
  GstVideoInfo info;
  gboolean sought; /* go to the segment's position first */
  guint64 frames_left;
  GstPbfSignalCount signals;
  PbfRecordingDamage posted; /* damage that warnings were posted about */
  gchar *first_damage;       /* (nullable): the first one since then */

  /* for queries and seeks of other threads; the first and the last frame */
  GMutex index_lock;
  PbfRecording *index; /* (nullable): no seeks */
  PbfRecordingFrame first, last;
};

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "video/x-raw, format = (string) GRAY8, width = (int) [ 1, 4096 ], "
            "height = (int) [ 1, 4096 ], framerate = (fraction) [ 0, max ]"));

static const Settings defaults = { .location = (gchar *) "",
  .signal_layout = (gchar *) "" };

#define OFFSET(field) G_STRUCT_OFFSET (Settings, field)

static const GstCvisSetting settings_table[] = {
  { "location", "File to read from", GST_CVIS_SETTING_STRING,
      OFFSET (location) },
  { "frames-per-list",
      "Frames in one buffer list; 0: 256, of at most 4 MiB in all",
      GST_CVIS_SETTING_UINT, OFFSET (frames_per_list), FALSE, 0,
      MAX_FRAMES_PER_LIST },
  { "signal-layout",
      "Fields of a machine's own signals, a vector of 16 int32, as in "
      "\"x_um=2,y_um=3,laser_on=0.1\"; empty: records of the camera link",
      GST_CVIS_SETTING_STRING, OFFSET (signal_layout) },
};

G_DEFINE_FINAL_TYPE (GstPbfFileSrc, gst_pbf_file_src, GST_TYPE_PBF_LIST_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    pbffilesrc, "pbffilesrc", GST_RANK_NONE, GST_TYPE_PBF_FILE_SRC);

/* --- frames ---------------------------------------------------------------- */

static GstFlowReturn
make_recorded_frame (
    GstPbfFileSrc *self, GstBufferPool *pool, GstBuffer **buffer)
{
  GstFlowReturn ret = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);

  if (ret != GST_FLOW_OK)
    return ret;
  if (gst_pbf_packet_fill (&self->packet, &self->info,
          gst_pbf_list_src_get_layout (GST_PBF_LIST_SRC (self)),
          pbf_recording_get_number (self->recording), *buffer)) {
    gst_pbf_packet_count (&self->signals, &self->packet);
    return GST_FLOW_OK;
  }
  GST_ELEMENT_ERROR (self, RESOURCE, WRITE, (NULL),
      ("Cannot write a frame: a buffer of the negotiated pool cannot be "
       "mapped, or is too small for %dx%d pixels. Put \"identity "
       "drop-allocation=true\" after pbffilesrc.",
          self->info.width, self->info.height));
  gst_clear_buffer (buffer);
  return GST_FLOW_ERROR;
}

/* Posts warnings about damage and missing signals since the last ones. */
static void
post_warnings (GstPbfFileSrc *self)
{
  PbfRecordingDamage damage = *pbf_recording_get_damage (self->recording);
  gchar *name = g_strdup_printf ("\"%s\"", self->location);

  damage.places -= self->posted.places;
  damage.frames -= self->posted.frames;
  damage.bytes -= self->posted.bytes;
  gst_pbf_packet_post_damage (
      GST_ELEMENT_CAST (self), name, &damage, self->first_damage);
  self->posted = *pbf_recording_get_damage (self->recording);
  g_clear_pointer (&self->first_damage, g_free);
  gst_pbf_packet_post_missing (GST_ELEMENT_CAST (self), name, &self->signals,
      gst_pbf_list_src_get_layout (GST_PBF_LIST_SRC (self)));
  g_free (name);
}

/* Reads a piece that can be used: a frame, a head, the end, or a read error. */
static GstFlowReturn
read_piece (GstPbfFileSrc *self)
{
  GError *error = NULL;

  while (!self->unused) {
    self->piece = pbf_recording_next (
        self->recording, &self->head, &self->packet, &error);
    self->unused = TRUE;
    if (self->piece == PBF_PIECE_HEAD) {
      self->negotiated = self->unused = FALSE;
    } else if (self->piece == PBF_PIECE_DAMAGE) {
      GST_WARNING_OBJECT (self, "%s", error->message);
      if (self->first_damage == NULL)
        self->first_damage = g_strdup (error->message);
      g_clear_error (&error);
      self->unused = FALSE;
    } else if (self->piece == PBF_PIECE_ERROR) {
      GST_ELEMENT_ERROR (self, RESOURCE, READ,
          ("Cannot read \"%s\": %s. Check the disk.", self->location,
              error->message),
          (NULL));
      g_clear_error (&error);
    }
  }
  return self->piece == PBF_PIECE_ERROR ? GST_FLOW_ERROR : GST_FLOW_OK;
}

static guint
choose_list_frames (GstPbfFileSrc *self)
{
  guint frames;

  GST_OBJECT_LOCK (self);
  frames = self->settings.frames_per_list;
  GST_OBJECT_UNLOCK (self);
  if (frames > 0 || self->info.size == 0)
    return MAX (frames, 1);
  return (guint) CLAMP (GST_PBF_LIST_BYTES / GST_VIDEO_INFO_SIZE (&self->info),
      1, GST_PBF_LIST_FRAMES);
}

/* Is the next frame beyond the segment? */
static gboolean
is_beyond_stop (GstPbfFileSrc *self)
{
  GstClockTime stop = GST_BASE_SRC (self)->segment.stop;

  return GST_CLOCK_TIME_IS_VALID (stop)
         && self->packet.t_ns != PBF_PACKET_NO_TIME
         && self->packet.t_ns >= stop;
}

/* Adds frames up to the next head. */
static GstFlowReturn
fill_list (GstPbfFileSrc *self, GstBufferPool *pool, GstBufferList *list)
{
  guint most = choose_list_frames (self);

  for (guint i = 0; i < most && self->frames_left > 0; i++) {
    GstFlowReturn ret = read_piece (self);
    GstBuffer *buffer;

    if (ret == GST_FLOW_OK && g_atomic_int_get (&self->unlocked))
      ret = GST_FLOW_FLUSHING;
    if (ret != GST_FLOW_OK)
      return ret;
    if (self->piece == PBF_PIECE_END || !self->negotiated
        || is_beyond_stop (self))
      return GST_FLOW_OK;
    ret = make_recorded_frame (self, pool, &buffer);
    if (ret != GST_FLOW_OK)
      return ret;
    gst_buffer_list_add (list, buffer);
    self->unused = FALSE;
    self->frames_left--;
  }
  return GST_FLOW_OK;
}

static GstFlowReturn
make_list (GstPbfFileSrc *self, GstBuffer **buffer)
{
  GstBufferPool *pool;
  GstBufferList *list;
  GstFlowReturn ret;

  pool = gst_base_src_get_buffer_pool (GST_BASE_SRC (self));
  if (pool == NULL)
    return GST_FLOW_NOT_NEGOTIATED;
  list = gst_buffer_list_new ();
  ret = fill_list (self, pool, list);
  gst_object_unref (pool);
  if (gst_buffer_list_length (list) > 0 && ret != GST_FLOW_FLUSHING) {
    gst_pbf_list_src_hand_out (GST_PBF_LIST_SRC (self), list, buffer);
    return GST_FLOW_OK; /* an error ends the next call */
  }
  gst_buffer_list_unref (list);
  return ret;
}

/* Goes to the frame that is exposed at the segment's position. */
static void
go_to_recorded_frame (GstPbfFileSrc *self)
{
  const GstClockTime position = GST_BASE_SRC (self)->segment.position;
  const gboolean at_first = position == self->first.t_ns;
  PbfRecordingFrame frame;

  self->sought = FALSE;
  if (self->index == NULL || (at_first && self->head.width == 0))
    return; /* nothing has been read */
  if (at_first)
    pbf_recording_seek (self->recording, PBF_SEEK_NUMBER, 0, NULL);
  else if (pbf_recording_seek (self->recording, PBF_SEEK_TIME, position, &frame)
           && frame.duration_ns > 0
           && frame.t_ns + frame.duration_ns <= position)
    pbf_recording_seek (
        self->recording, PBF_SEEK_NUMBER, frame.number + 1, NULL);
  self->unused = self->negotiated = FALSE;
}

static GstFlowReturn
gst_pbf_file_src_create (
    GstBaseSrc *base, guint64 offset, guint size, GstBuffer **buffer)
{
  GstPbfFileSrc *self = GST_PBF_FILE_SRC (base);
  GstFlowReturn ret;

  gst_pbf_list_src_forget (GST_PBF_LIST_SRC (self));
  if (self->sought)
    go_to_recorded_frame (self);
  ret = self->frames_left > 0 ? read_piece (self) : GST_FLOW_EOS;
  if (ret == GST_FLOW_OK
      && (self->piece == PBF_PIECE_END || is_beyond_stop (self)))
    ret = GST_FLOW_EOS;
  if (ret == GST_FLOW_EOS)
    post_warnings (self);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!self->negotiated && !gst_base_src_negotiate (base))
    return GST_FLOW_NOT_NEGOTIATED;
  return make_list (self, buffer);
}

static gboolean
gst_pbf_file_src_unlock (GstBaseSrc *base)
{
  g_atomic_int_set (&GST_PBF_FILE_SRC (base)->unlocked, TRUE);
  return TRUE;
}

static gboolean
gst_pbf_file_src_unlock_stop (GstBaseSrc *base)
{
  g_atomic_int_set (&GST_PBF_FILE_SRC (base)->unlocked, FALSE);
  return TRUE;
}

/* --- negotiation ----------------------------------------------------------- */

/* Negotiates the caps of the recording's head. */
static gboolean
gst_pbf_file_src_negotiate (GstBaseSrc *base)
{
  GstPbfFileSrc *self = GST_PBF_FILE_SRC (base);
  GstCaps *caps;
  gboolean ok;

  if (self->head.width == 0)
    return TRUE;
  caps = gst_pbf_packet_caps (&self->head);
  ok = gst_pad_peer_query_accept_caps (base->srcpad, caps)
       && gst_base_src_set_caps (base, caps);
  self->negotiated = ok;
  if (!ok && !GST_PAD_IS_FLUSHING (base->srcpad))
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Unsupported caps: \"%s\" holds GRAY8 of %ux%u pixels at %u/%u, which "
         "downstream does not accept. Put videoconvert, videoscale or "
         "videorate after pbffilesrc.",
            self->location, self->head.width, self->head.height,
            self->head.fps_n, self->head.fps_d),
        (NULL));
  gst_caps_unref (caps);
  return ok;
}

static gboolean
gst_pbf_file_src_set_caps (GstBaseSrc *base, GstCaps *caps)
{
  return gst_video_info_from_caps (&GST_PBF_FILE_SRC (base)->info, caps);
}

static gboolean
gst_pbf_file_src_decide_allocation (GstBaseSrc *base, GstQuery *query)
{
  GstPbfFileSrc *self = GST_PBF_FILE_SRC (base);

  if (self->head.width == 0)
    return TRUE; /* before the first head */
  return gst_pbf_list_src_decide_pool (GST_PBF_LIST_SRC (self), query,
      GST_VIDEO_INFO_SIZE (&self->info), choose_list_frames (self) + 1);
}

/* --- seeks and queries ----------------------------------------------------- */

static GstClockTime
end_of (const PbfRecordingFrame *frame)
{
  return frame->t_ns + frame->duration_ns;
}

static gboolean
gst_pbf_file_src_is_seekable (GstBaseSrc *base)
{
  return GST_PBF_FILE_SRC (base)->index != NULL;
}

/* Refuses a seek backwards before the flush: after a failed do_seek() the base class
 * would go on without a segment. */
static gboolean
gst_pbf_file_src_event (GstBaseSrc *base, GstEvent *event)
{
  if (gst_cvis_event_seeks_backwards (event))
    return FALSE;
  return GST_BASE_SRC_CLASS (gst_pbf_file_src_parent_class)
      ->event (base, event);
}

/* Running time begins with the first frame. The streaming thread goes to the
 * position. */
static gboolean
gst_pbf_file_src_do_seek (GstBaseSrc *base, GstSegment *segment)
{
  GstPbfFileSrc *self = GST_PBF_FILE_SRC (base);

  if (segment->rate < 0)
    return FALSE;
  if (GST_CLOCK_TIME_IS_VALID (self->first.t_ns)
      && segment->start < self->first.t_ns)
    segment->start = segment->time = segment->position = self->first.t_ns;
  segment->duration =
      self->index != NULL ? end_of (&self->last) : GST_CLOCK_TIME_NONE;
  self->sought = TRUE;
  return TRUE;
}

/* Converts between the time and the number of a frame. */
static gboolean
convert_position (GstPbfFileSrc *self, GstQuery *query)
{
  PbfRecordingFrame frame;
  GstFormat from, to;
  gint64 value;
  gboolean ok;

  gst_query_parse_convert (query, &from, &value, &to, NULL);
  g_mutex_lock (&self->index_lock);
  ok = self->index != NULL && value >= 0;
  if (ok && from == GST_FORMAT_DEFAULT && to == GST_FORMAT_TIME) {
    ok = pbf_recording_seek (
             self->index, PBF_SEEK_NUMBER, (guint64) value, &frame)
         || value > (gint64) self->last.number;
    value = (gint64) (value > (gint64) self->last.number ? end_of (&self->last)
                                                         : frame.t_ns);
  } else if (ok && from == GST_FORMAT_TIME && to == GST_FORMAT_DEFAULT) {
    ok = pbf_recording_seek (
        self->index, PBF_SEEK_TIME, (guint64) value, &frame);
    value = (gint64) frame.number
            + (frame.number == self->last.number
                && (guint64) value >= end_of (&self->last));
  } else {
    ok = ok && from == to;
  }
  g_mutex_unlock (&self->index_lock);
  if (ok)
    gst_query_set_convert (query, from, value, to, value);
  return ok;
}

static gboolean
gst_pbf_file_src_query (GstBaseSrc *base, GstQuery *query)
{
  GstPbfFileSrc *self = GST_PBF_FILE_SRC (base);
  GstFormat format;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CONVERT:
      return convert_position (self, query);
    case GST_QUERY_DURATION:
      gst_query_parse_duration (query, &format, NULL);
      if (format != GST_FORMAT_DEFAULT || self->index == NULL)
        break;
      gst_query_set_duration (query, format, (gint64) self->last.number + 1);
      return TRUE;
    default:
      break;
  }
  return GST_BASE_SRC_CLASS (gst_pbf_file_src_parent_class)
      ->query (base, query);
}

/* --- life ------------------------------------------------------------------ */

/* Finds the first and the last frame. */
static void
open_index (GstPbfFileSrc *self)
{
  PbfRecording *index = pbf_recording_new (self->fd, NULL);

  self->first.t_ns = self->last.t_ns = GST_CLOCK_TIME_NONE;
  if (index != NULL
      && pbf_recording_find_span (index, &self->first, &self->last)
      && GST_CLOCK_TIME_IS_VALID (self->first.t_ns)
      && GST_CLOCK_TIME_IS_VALID (self->last.t_ns)
      && self->first.t_ns <= self->last.t_ns) {
    self->index = index;
    return;
  }
  GST_INFO_OBJECT (self, "no seeks and no duration");
  pbf_recording_free (index);
}

static gboolean
open_recording (GstPbfFileSrc *self)
{
  GError *error = NULL;

  if (*self->location == '\0') {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("No file name to read from. Set location."), (NULL));
    return FALSE;
  }
  self->fd = gst_cvis_file_open_for_reading (self->location, &error);
  if (self->fd < 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Cannot open \"%s\": %s. Check location.", self->location,
            error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  self->recording = pbf_recording_new (self->fd, &error);
  if (self->recording == NULL) {
    GST_ELEMENT_ERROR (self, STREAM, WRONG_TYPE,
        ("Cannot read \"%s\": %s. Check location; recordings are made by "
         "pbffilesink.",
            self->location, error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  open_index (self);
  return TRUE;
}

static void
close_recording (GstPbfFileSrc *self)
{
  gst_pbf_list_src_forget (GST_PBF_LIST_SRC (self));
  if (self->recording != NULL)
    post_warnings (self);
  g_clear_pointer (&self->recording, pbf_recording_free);
  g_mutex_lock (&self->index_lock);
  g_clear_pointer (&self->index, pbf_recording_free);
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  g_mutex_unlock (&self->index_lock);
}

static gboolean
start_recording (GstPbfFileSrc *self)
{
  GstBaseSrc *base = GST_BASE_SRC (self);

  if (!gst_pbf_list_src_set_layout (GST_PBF_LIST_SRC (self),
          gst_cvis_settings_get_string (self, &self->settings.signal_layout)))
    return FALSE;
  self->location =
      gst_cvis_settings_get_string (self, &self->settings.location);
  self->head.width = 0;
  self->unused = self->negotiated = self->sought = FALSE;
  self->posted = (PbfRecordingDamage){ 0 };
  self->signals = (GstPbfSignalCount){ 0 };
  gst_video_info_init (&self->info);
  /* num-buffers counts frames; the base class would count lists */
  self->frames_left =
      base->num_buffers < 0 ? G_MAXUINT64 : (guint64) base->num_buffers;
  return open_recording (self);
}

/* Opens the file before the base class starts, which would add an error of its own
 * to that of start(). */
static GstStateChangeReturn
gst_pbf_file_src_change_state (GstElement *element, GstStateChange change)
{
  GstPbfFileSrc *self = GST_PBF_FILE_SRC (element);
  GstStateChangeReturn ret;

  if (change == GST_STATE_CHANGE_READY_TO_PAUSED && !start_recording (self)) {
    close_recording (self);
    return GST_STATE_CHANGE_FAILURE;
  }
  ret = GST_ELEMENT_CLASS (gst_pbf_file_src_parent_class)
            ->change_state (element, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY
      || ret == GST_STATE_CHANGE_FAILURE)
    close_recording (self);
  return ret;
}

static gboolean
gst_pbf_file_src_start (GstBaseSrc *base)
{
  base->num_buffers_left = -1;
  return TRUE;
}

static void
gst_pbf_file_src_finalize (GObject *object)
{
  g_mutex_clear (&GST_PBF_FILE_SRC (object)->index_lock);
  G_OBJECT_CLASS (gst_pbf_file_src_parent_class)->finalize (object);
}

/* --- object ---------------------------------------------------------------- */

static void
gst_pbf_file_src_class_init (GstPbfFileSrcClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_file_src_debug, "pbffilesrc", 0, "reader of recordings");

  G_OBJECT_CLASS (klass)->finalize = gst_pbf_file_src_finalize;
  gst_cvis_settings_bind (G_OBJECT_CLASS (klass), 1, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfFileSrc, settings),
      &defaults);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Melt-pool replay",
      "Source/File",
      "Reads grey frames and machine signals from a file of pbffilesink",
      "the gst-cudavision authors");

  base_class->start = gst_pbf_file_src_start;
  element_class->change_state = gst_pbf_file_src_change_state;
  base_class->is_seekable = gst_pbf_file_src_is_seekable;
  base_class->event = gst_pbf_file_src_event;
  base_class->do_seek = gst_pbf_file_src_do_seek;
  base_class->query = gst_pbf_file_src_query;
  base_class->unlock = gst_pbf_file_src_unlock;
  base_class->unlock_stop = gst_pbf_file_src_unlock_stop;
  base_class->negotiate = gst_pbf_file_src_negotiate;
  base_class->set_caps = gst_pbf_file_src_set_caps;
  base_class->decide_allocation = gst_pbf_file_src_decide_allocation;
  base_class->create = gst_pbf_file_src_create;
}

static void
gst_pbf_file_src_init (GstPbfFileSrc *self)
{
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_cvis_settings_init (self);
  g_mutex_init (&self->index_lock);
  self->fd = -1;
  gst_video_info_init (&self->info);
}
