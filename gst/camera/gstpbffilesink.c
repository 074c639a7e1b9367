/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-pbffilesink
 * @title: pbffilesink
 * @short_description: records melt-pool frames
 *
 * Writes grey frames and their machine signals (#GstCvisPbfSignalMeta) to one file,
 * which pbffilesrc replays. Every buffer or buffer list is written before the push
 * returns, so that the recording of a process that is killed has all of them.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbftestsrc num-buffers=20000 ! pbffilesink location=layer.pbf
 * ]|
 *
 * Since: 0.1
 */
#include "gstpbffilesink.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/cudavision/gstpbfmeta.h>
#include <gst/video/video.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "gst/common/gstcvisfile.h"
#include "gst/common/gstcvissettings.h"
#include "cuda/camera/recording.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_file_sink_debug);
#define GST_CAT_DEFAULT gst_pbf_file_sink_debug

#define WRITE_BYTES (1u << 20) /* of a list, written with one call; about */

typedef struct {
  gchar *location;
} Settings;

struct _GstPbfFileSink {
  GstBaseSink parent;

  Settings settings;

  /* of the streaming thread */
  const gchar *location; /* of the settings when it started */
  GstVideoInfo info;
  gint fd;
  gboolean created; /* the file, which is still empty */
  gboolean begun;   /* the old contents are replaced */
  guint32 stream;   /* of the first frame, if frame_counter > 0 */
  guint32 frame_counter;
  GByteArray *bytes; /* to be written */
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "video/x-raw, format = (string) GRAY8, width = (int) [ 1, 4096 ], "
            "height = (int) [ 1, 4096 ], framerate = (fraction) [ 0, max ]"));

static const Settings defaults = { .location = (gchar *) "" };

static const GstCvisSetting settings_table[] = {
  { "location",
      "File to write to; an existing file is replaced by the first frame",
      GST_CVIS_SETTING_STRING, G_STRUCT_OFFSET (Settings, location) },
};

G_DEFINE_FINAL_TYPE (GstPbfFileSink, gst_pbf_file_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE (
    pbffilesink, "pbffilesink", GST_RANK_NONE, GST_TYPE_PBF_FILE_SINK);

/* --- writing --------------------------------------------------------------- */

/* Replaces what is in the file, when the stream has shown that it has frames.
 * Devices have nothing to be replaced. */
static gboolean
begin_file (GstPbfFileSink *self)
{
  GstElement *other;
  struct stat about;
  gchar *name;

  if (self->begun)
    return TRUE;
  other = gst_cvis_file_find_other_user (GST_ELEMENT_CAST (self), self->fd);
  if (other != NULL) {
    name = gst_object_get_name (GST_OBJECT_CAST (other));
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Cannot write to \"%s\": element %s writes to it. Set another "
         "location.",
            self->location, name),
        (NULL));
    g_free (name);
    gst_object_unref (other);
    return FALSE;
  }
  if (fstat (self->fd, &about) == 0 && S_ISREG (about.st_mode)
      && ftruncate (self->fd, 0) != 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
        ("Cannot write to \"%s\": %s. Check the disk.", self->location,
            g_strerror (errno)),
        (NULL));
    return FALSE;
  }
  self->begun = TRUE;
  self->created = FALSE;
  return TRUE;
}

/* Writes all bytes to the file, and posts an error if that fails. */
static GstFlowReturn
write_file (GstPbfFileSink *self)
{
  gsize done = 0;

  if (!begin_file (self))
    return GST_FLOW_ERROR;
  while (done < self->bytes->len) {
    gssize n =
        write (self->fd, self->bytes->data + done, self->bytes->len - done);

    if (n >= 0) {
      done += (gsize) n;
    } else if (errno == ENOSPC) {
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
          ("Cannot write to \"%s\": the disk is full. Free space, or record to "
           "another disk; what was written is readable.",
              self->location),
          (NULL));
      return GST_FLOW_ERROR;
    } else if (errno != EINTR) {
      GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
          ("Cannot write to \"%s\": %s. Check the disk.", self->location,
              g_strerror (errno)),
          (NULL));
      return GST_FLOW_ERROR;
    }
  }
  return GST_FLOW_OK;
}

/* Bytes that cannot be written are not tried again, at EOS. */
static GstFlowReturn
write_bytes (GstPbfFileSink *self)
{
  GstFlowReturn ret = write_file (self);

  g_byte_array_set_size (self->bytes, 0);
  return ret;
}

/* The number of the stream is the CRC of its first frame: recordings of the same
 * frames are the same bytes. */
static void
write_packet (GstPbfFileSink *self, PbfPacket *packet,
    const GstVideoFrame *frame, guint8 *bytes)
{
  const guint8 *pixels = GST_VIDEO_FRAME_PLANE_DATA (frame, 0);
  const gsize stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);

  if (packet->frame_counter == 0) {
    packet->stream = 0;
    pbf_packet_write (packet, pixels, stride, bytes);
    memcpy (&self->stream, bytes + pbf_packet_bytes (packet) - 4, 4);
    self->stream = GUINT32_FROM_LE (self->stream);
    packet->stream = self->stream;
  }
  pbf_packet_write (packet, pixels, stride, bytes);
}

/* Adds a frame to the bytes to write. */
static GstFlowReturn
append_frame (GstPbfFileSink *self, GstBuffer *buffer)
{
  GstCvisPbfSignalMeta *meta = gst_cvis_buffer_get_pbf_signal_meta (buffer);
  GstClockTime duration = GST_BUFFER_DURATION (buffer);
  guint old = self->bytes->len;
  guint8 signal[PBF_PACKET_SIGNAL];
  PbfPacket packet = { .frame_counter = self->frame_counter,
    .stream = self->stream,
    .width = self->info.width,
    .height = self->info.height,
    .fragment_size = self->info.width * self->info.height,
    .duration_ns = duration <= G_MAXUINT32 ? (guint32) duration : 0,
    .t_ns = GST_BUFFER_PTS (buffer) };
  GstVideoFrame frame;

  if (!gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot record a frame: a buffer of %" G_GSIZE_FORMAT
         " bytes holds less than %dx%d pixels. Check the source's caps.",
            gst_buffer_get_size (buffer), self->info.width, self->info.height),
        (NULL));
    return GST_FLOW_ERROR;
  }
  if (meta != NULL) {
    pbf_signal_write (&meta->signal, signal);
    packet.signal = signal;
  }
  g_byte_array_set_size (self->bytes, old + pbf_packet_bytes (&packet));
  write_packet (self, &packet, &frame, self->bytes->data + old);
  gst_video_frame_unmap (&frame);
  self->frame_counter++;
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_pbf_file_sink_render (GstBaseSink *base, GstBuffer *buffer)
{
  GstPbfFileSink *self = GST_PBF_FILE_SINK (base);
  GstFlowReturn ret = append_frame (self, buffer);

  return ret == GST_FLOW_OK ? write_bytes (self) : ret;
}

static GstFlowReturn
gst_pbf_file_sink_render_list (GstBaseSink *base, GstBufferList *list)
{
  GstPbfFileSink *self = GST_PBF_FILE_SINK (base);
  guint n = gst_buffer_list_length (list);
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++) {
    ret = append_frame (self, gst_buffer_list_get (list, i));
    /* an unusable frame does not lose those before it */
    if ((ret != GST_FLOW_OK || i == n - 1 || self->bytes->len >= WRITE_BYTES)
        && write_bytes (self) != GST_FLOW_OK)
      return GST_FLOW_ERROR;
  }
  return ret;
}

/* --- life ------------------------------------------------------------------ */

static gboolean
open_recording (GstPbfFileSink *self)
{
  if (*self->location == '\0') {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("No file name to write to. Set location."), (NULL));
    return FALSE;
  }
  self->fd =
      g_open (self->location, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  self->created = self->fd >= 0;
  if (self->fd < 0) /* the contents stay until there are frames */
    self->fd = g_open (self->location, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (self->fd < 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Cannot open \"%s\" for writing: %s. Check location.", self->location,
            g_strerror (errno)),
        (NULL));
    return FALSE;
  }
  return TRUE;
}

/* A file that was made for a stream without frames is removed. */
static void
close_file (GstPbfFileSink *self)
{
  if (self->fd >= 0)
    close (self->fd);
  if (self->created)
    g_unlink (self->location);
  self->fd = -1;
  self->created = FALSE;
  g_clear_pointer (&self->bytes, g_byte_array_unref);
}

static gboolean
gst_pbf_file_sink_set_caps (GstBaseSink *base, GstCaps *caps)
{
  GstPbfFileSink *self = GST_PBF_FILE_SINK (base);
  PbfRecordingHead head;
  guint8 bytes[PBF_RECORDING_HEAD];

  if (!gst_video_info_from_caps (&self->info, caps)) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Unsupported caps: not raw video. Put videoconvert before "
         "pbffilesink."),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  head = (PbfRecordingHead){ self->info.width, self->info.height,
    self->info.fps_n, self->info.fps_d };
  pbf_recording_write_head (&head, bytes);
  /* written with the first frame, or at the end */
  g_byte_array_append (self->bytes, bytes, sizeof bytes);
  return TRUE;
}

/* A stream without frames is a recording, too. */
static gboolean
gst_pbf_file_sink_event (GstBaseSink *base, GstEvent *event)
{
  GstPbfFileSink *self = GST_PBF_FILE_SINK (base);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS && self->bytes != NULL
      && self->bytes->len > 0 && write_bytes (self) != GST_FLOW_OK) {
    gst_event_unref (event);
    return FALSE;
  }
  return GST_BASE_SINK_CLASS (gst_pbf_file_sink_parent_class)
      ->event (base, event);
}

static gboolean
gst_pbf_file_sink_propose_allocation (GstBaseSink *base, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* Opens the file before the base class starts, which would add errors of its own to
 * that of start(). */
static GstStateChangeReturn
gst_pbf_file_sink_change_state (GstElement *element, GstStateChange change)
{
  GstPbfFileSink *self = GST_PBF_FILE_SINK (element);
  GstStateChangeReturn ret;

  if (change == GST_STATE_CHANGE_READY_TO_PAUSED) {
    self->location =
        gst_cvis_settings_get_string (self, &self->settings.location);
    self->bytes = g_byte_array_new ();
    self->frame_counter = 0;
    self->begun = FALSE;
    if (!open_recording (self)) {
      close_file (self);
      return GST_STATE_CHANGE_FAILURE;
    }
  }
  ret = GST_ELEMENT_CLASS (gst_pbf_file_sink_parent_class)
            ->change_state (element, change);
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY
      || ret == GST_STATE_CHANGE_FAILURE)
    close_file (self);
  return ret;
}

/* --- object ---------------------------------------------------------------- */

static void
gst_pbf_file_sink_class_init (GstPbfFileSinkClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *base_class = GST_BASE_SINK_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_file_sink_debug, "pbffilesink", 0, "writer of recordings");

  gst_cvis_settings_bind (G_OBJECT_CLASS (klass), 1, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfFileSink, settings),
      &defaults);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class, "Melt-pool recorder",
      "Sink/File",
      "Writes grey frames and machine signals to a file for pbffilesrc",
      "the gst-cudavision authors");

  element_class->change_state = gst_pbf_file_sink_change_state;
  base_class->event = gst_pbf_file_sink_event;
  base_class->set_caps = gst_pbf_file_sink_set_caps;
  base_class->propose_allocation = gst_pbf_file_sink_propose_allocation;
  base_class->render = gst_pbf_file_sink_render;
  base_class->render_list = gst_pbf_file_sink_render_list;
}

static void
gst_pbf_file_sink_init (GstPbfFileSink *self)
{
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_cvis_settings_init (self);
  self->fd = -1;
}
