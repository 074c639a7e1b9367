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
 * (#GstPbfSignalMeta) are the same as when they were recorded, and so are results of
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

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/video/video.h>
#include <unistd.h>
#include "gst/common/gstcvsettings.h"
#include "cuda/camera/recording.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_file_src_debug);
#define GST_CAT_DEFAULT gst_pbf_file_src_debug

#define MAX_FRAMES_PER_LIST 65536
/* Limits of a list for frames-per-list=0: frames, and bytes of frames */
#define AUTO_LIST_FRAMES 256
#define AUTO_LIST_BYTES (4u << 20)

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
  guint64 frame; /* number of the next one */
  guint64 frames_left;
};

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "video/x-raw, format = (string) GRAY8, width = (int) [ 1, 4096 ], "
            "height = (int) [ 1, 4096 ], framerate = (fraction) [ 0, max ]"));

static const Settings defaults = { .location = (gchar *) "",
  .signal_layout = (gchar *) "" };

#define OFFSET(field) G_STRUCT_OFFSET (Settings, field)

static const GstCvSetting settings_table[] = {
  { "location", "File to read from", GST_CV_SETTING_STRING, OFFSET (location) },
  { "frames-per-list",
      "Frames in one buffer list; 0: 256, of at most 4 MiB in all",
      GST_CV_SETTING_UINT, OFFSET (frames_per_list), FALSE, 0,
      MAX_FRAMES_PER_LIST },
  { "signal-layout",
      "Fields of a machine's own signals, a vector of 16 int32, as in "
      "\"x_um=2,y_um=3,laser_on=0.1\"; empty: records of the camera link",
      GST_CV_SETTING_STRING, OFFSET (signal_layout) },
};

G_DEFINE_FINAL_TYPE (GstPbfFileSrc, gst_pbf_file_src, GST_TYPE_PBF_LIST_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    pbffilesrc, "pbffilesrc", GST_RANK_NONE, GST_TYPE_PBF_FILE_SRC);

/* --- frames ---------------------------------------------------------------- */

static GstFlowReturn
make_frame (GstPbfFileSrc *self, GstBufferPool *pool, GstBuffer **buffer)
{
  GstFlowReturn ret = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
  GstVideoFrame frame;

  if (ret != GST_FLOW_OK)
    return ret;
  if (!gst_video_frame_map (&frame, &self->info, *buffer, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, (NULL),
        ("Cannot write a frame: a buffer of the negotiated pool cannot be "
         "mapped, or is too small for %dx%d pixels. Put \"identity "
         "drop-allocation=true\" after pbffilesrc.",
            self->info.width, self->info.height));
    gst_clear_buffer (buffer);
    return GST_FLOW_ERROR;
  }
  pbf_packet_read_pixels (&self->packet, GST_VIDEO_FRAME_PLANE_DATA (&frame, 0),
      GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
  gst_video_frame_unmap (&frame);
  gst_pbf_list_src_set_signal (GST_PBF_LIST_SRC (self), *buffer,
      self->packet.signal,
      &(PbfSignal){ .frame_counter = self->packet.frame_counter,
          .t_ns =
              self->packet.t_ns != PBF_PACKET_NO_TIME ? self->packet.t_ns : 0,
          .width = self->packet.width,
          .height = self->packet.height });
  GST_BUFFER_PTS (*buffer) = self->packet.t_ns;
  GST_BUFFER_DTS (*buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (*buffer) = self->packet.duration_ns > 0
                                      ? self->packet.duration_ns
                                      : GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET (*buffer) = self->frame;
  GST_BUFFER_OFFSET_END (*buffer) = ++self->frame;
  return GST_FLOW_OK;
}

/* Running time begins with the first frame. */
static void
begin_segment (GstPbfFileSrc *self)
{
  GstSegment segment;

  if (self->packet.t_ns == PBF_PACKET_NO_TIME)
    return;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.position = segment.time = self->packet.t_ns;
  gst_base_src_new_segment (GST_BASE_SRC (self), &segment);
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
      GST_ELEMENT_WARNING (self, STREAM, DECODE,
          ("Cannot read all frames of \"%s\": %s. The other frames are played.",
              self->location, error->message),
          (NULL));
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

static gboolean
open_recording (GstPbfFileSrc *self)
{
  GError *error = NULL;

  if (*self->location == '\0') {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("No file name to read from. Set location."), (NULL));
    return FALSE;
  }
  self->fd = g_open (self->location, O_RDONLY | O_CLOEXEC, 0);
  if (self->fd < 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Cannot open \"%s\": %s. Check location.", self->location,
            g_strerror (errno)),
        (NULL));
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
  return TRUE;
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
  return (guint) CLAMP (
      AUTO_LIST_BYTES / GST_VIDEO_INFO_SIZE (&self->info), 1, AUTO_LIST_FRAMES);
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
    if (self->piece == PBF_PIECE_END || !self->negotiated)
      return GST_FLOW_OK;
    ret = make_frame (self, pool, &buffer);
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

static GstFlowReturn
gst_pbf_file_src_create (
    GstBaseSrc *base, guint64 offset, guint size, GstBuffer **buffer)
{
  GstPbfFileSrc *self = GST_PBF_FILE_SRC (base);
  GstFlowReturn ret;

  gst_pbf_list_src_forget (GST_PBF_LIST_SRC (self));
  if (self->recording == NULL && !open_recording (self))
    return GST_FLOW_ERROR;
  ret = self->frames_left > 0 ? read_piece (self) : GST_FLOW_EOS;
  if (ret != GST_FLOW_OK)
    return ret;
  if (self->piece == PBF_PIECE_END)
    return GST_FLOW_EOS;
  if (self->frame == 0)
    begin_segment (self);
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
  caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8",
      "width", G_TYPE_INT, self->head.width, "height", G_TYPE_INT,
      self->head.height, "framerate", GST_TYPE_FRACTION, self->head.fps_n,
      self->head.fps_d, NULL);
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

/* --- life ------------------------------------------------------------------ */

static gboolean
gst_pbf_file_src_start (GstBaseSrc *base)
{
  GstPbfFileSrc *self = GST_PBF_FILE_SRC (base);

  if (!gst_pbf_list_src_set_layout (
          GST_PBF_LIST_SRC (self), self->settings.signal_layout))
    return FALSE;
  self->location = gst_cv_settings_get_string (self, &self->settings.location);
  self->head.width = 0;
  self->unused = self->negotiated = FALSE;
  self->frame = 0;
  gst_video_info_init (&self->info);
  /* num-buffers counts frames; the base class would count lists */
  self->frames_left =
      base->num_buffers < 0 ? G_MAXUINT64 : (guint64) base->num_buffers;
  base->num_buffers_left = -1;
  return TRUE;
}

static gboolean
gst_pbf_file_src_stop (GstBaseSrc *base)
{
  GstPbfFileSrc *self = GST_PBF_FILE_SRC (base);

  gst_pbf_list_src_forget (GST_PBF_LIST_SRC (self));
  g_clear_pointer (&self->recording, pbf_recording_free);
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  return TRUE;
}

static gboolean
gst_pbf_file_src_is_seekable (GstBaseSrc *base)
{
  return FALSE;
}

/* --- object ---------------------------------------------------------------- */

static void
gst_pbf_file_src_class_init (GstPbfFileSrcClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_file_src_debug, "pbffilesrc", 0, "reader of recordings");

  gst_cv_settings_bind (G_OBJECT_CLASS (klass), 1, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfFileSrc, settings),
      &defaults);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Melt-pool replay",
      "Source/File",
      "Reads grey frames and machine signals from a file of pbffilesink",
      "the gst-cudavision authors");

  base_class->start = gst_pbf_file_src_start;
  base_class->stop = gst_pbf_file_src_stop;
  base_class->is_seekable = gst_pbf_file_src_is_seekable;
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
  gst_cv_settings_init (self);
  self->fd = -1;
  gst_video_info_init (&self->info);
}
