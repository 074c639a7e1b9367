/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-pbfudpsink
 * @title: pbfudpsink
 * @short_description: sends melt-pool frames over UDP
 *
 * Sends grey frames and their machine signals (#GstCvisPbfSignalMeta) in the packets
 * that pbfudpsrc receives: a camera for tests, and a bridge from any other camera.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbftestsrc is-live=true ! pbfudpsink host=192.0.2.1 port=5500 mtu=9000
 * ]|
 *
 * Since: 0.1
 */
#define _GNU_SOURCE /* sendmmsg */
#include "gstpbfudpsink.h"

#include <errno.h>
#include <gst/cudavision/gstpbfmeta.h>
#include <gst/video/video.h>
#include <string.h>
#include <unistd.h>
#include "gst/common/gstcvissettings.h"
#include "gstpbfsocket.h"
#include "cuda/camera/packet.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_udp_sink_debug);
#define GST_CAT_DEFAULT gst_pbf_udp_sink_debug

/* bytes of the headers of IPv6 and UDP; those of IPv4 are shorter */
#define IP_HEADERS 48
#define MIN_MTU (IP_HEADERS + PBF_PACKET_OVERHEAD + PBF_PACKET_MIN_FRAGMENT)
#define MAX_MTU 65535
#define MESSAGES 64 /* packets that one system call sends */

typedef struct {
  guint64 frames, packets, bytes, failed;
} Counts;

typedef struct {
  gchar *host;
  guint port;
  guint mtu;
  gchar *multicast_iface;
} Settings;

struct _GstPbfUdpSink {
  GstBaseSink parent;

  Settings settings;
  Counts counts; /* guarded by the object lock */

  /* of the streaming thread */
  const gchar *host; /* and port: of the settings when it started */
  guint port;
  GstVideoInfo info;
  gint fd;
  GstPoll *poll;
  GstPollFD poll_fd;
  struct sockaddr_storage address;
  socklen_t address_size;
  guint32 stream;
  guint32 frame_counter;
  guint32 fragment_size;
  gsize packet_room; /* bytes */
  guint8 *bytes;     /* of MESSAGES packets */
  struct mmsghdr messages[MESSAGES];
  struct iovec parts[MESSAGES];
  guint n_messages;
  Counts recent; /* not in counts yet */
  gboolean warned;
};

enum {
  PROP_SENT = 1,
  PROP_SETTING,
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "video/x-raw, format = (string) GRAY8, width = (int) [ 1, 4096 ], "
            "height = (int) [ 1, 4096 ], framerate = (fraction) [ 0, max ]"));

static const Settings defaults = {
  .host = (gchar *) "127.0.0.1",
  .port = GST_PBF_DEFAULT_PORT,
  .mtu = 1500,
  .multicast_iface = (gchar *) "",
};

#define OFFSET(field) G_STRUCT_OFFSET (Settings, field)

static const GstCvisSetting settings_table[] = {
  { "host", "Name or address of the receiving machine", GST_CVIS_SETTING_STRING,
      OFFSET (host) },
  { "port", "UDP port of the receiver", GST_CVIS_SETTING_UINT, OFFSET (port),
      FALSE, 1, 65535 },
  { "mtu",
      "Largest IP packet of the network, bytes; 9000 with jumbo frames, 65535 "
      "on loopback",
      GST_CVIS_SETTING_UINT, OFFSET (mtu), FALSE, MIN_MTU, MAX_MTU },
  { "multicast-iface",
      "Network interface, such as eth0, through which packets leave for a "
      "multicast group; empty: the system's choice",
      GST_CVIS_SETTING_STRING, OFFSET (multicast_iface) },
};

G_DEFINE_FINAL_TYPE (GstPbfUdpSink, gst_pbf_udp_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE (
    pbfudpsink, "pbfudpsink", GST_RANK_NONE, GST_TYPE_PBF_UDP_SINK);

/* --- sending --------------------------------------------------------------- */

/* Packets that cannot be sent are dropped; the stream goes on. */
static void
note_failure (GstPbfUdpSink *self, guint n)
{
  gint code = errno;

  self->recent.failed += n;
  if (self->warned)
    return;
  self->warned = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
      ("Cannot send to %s, port %u: %s. Check the network; frames are lost "
       "until it works.",
          self->host, self->port, g_strerror (code)),
      (NULL));
}

/* Returns: FALSE if the element is flushing */
static gboolean
send_messages (GstPbfUdpSink *self)
{
  guint sent = 0;

  while (sent < self->n_messages) {
    gint n = sendmmsg (
        self->fd, self->messages + sent, self->n_messages - sent, MSG_DONTWAIT);

    if (n > 0) {
      for (gint i = 0; i < n; i++)
        self->recent.bytes += self->parts[sent + i].iov_len;
      self->recent.packets += n;
      sent += n;
    } else if (errno == EAGAIN) {
      if (gst_poll_wait (self->poll, GST_CLOCK_TIME_NONE) < 0
          && errno == EBUSY) {
        self->n_messages = 0;
        return FALSE;
      }
    } else if (errno != EINTR) {
      note_failure (self, 1);
      sent++;
    }
  }
  self->n_messages = 0;
  return TRUE;
}

static gboolean
send_packets (
    GstPbfUdpSink *self, PbfPacket *packet, const guint8 *pixels, gsize stride)
{
  const guint8 *signal = packet->signal;
  guint32 total = packet->width * packet->height;

  for (guint32 at = 0; at < total; at += packet->fragment_size) {
    guint8 *bytes = self->bytes + self->n_messages * self->packet_room;

    packet->offset = at;
    packet->signal = at == 0 ? signal : NULL;
    pbf_packet_write (packet, pixels, stride, bytes);
    self->parts[self->n_messages].iov_len = pbf_packet_bytes (packet);
    self->n_messages++;
    if (self->n_messages == MESSAGES && !send_messages (self))
      return FALSE;
  }
  return TRUE;
}

static guint32
short_duration (GstBuffer *buffer)
{
  GstClockTime duration = GST_BUFFER_DURATION (buffer);

  return duration <= G_MAXUINT32 ? (guint32) duration : 0;
}

static GstFlowReturn
send_frame (GstPbfUdpSink *self, GstBuffer *buffer)
{
  GstCvisPbfSignalMeta *meta = gst_cvis_buffer_get_pbf_signal_meta (buffer);
  guint8 signal[PBF_PACKET_SIGNAL];
  PbfPacket packet = { .frame_counter = self->frame_counter,
    .stream = self->stream,
    .width = self->info.width,
    .height = self->info.height,
    .fragment_size = self->fragment_size,
    .duration_ns = short_duration (buffer),
    .t_ns = GST_BUFFER_PTS (buffer) };
  GstVideoFrame frame;
  gboolean ok;

  if (!gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
        ("Cannot send a frame: a buffer of %" G_GSIZE_FORMAT
         " bytes holds less than %dx%d pixels. Check the source's caps.",
            gst_buffer_get_size (buffer), self->info.width, self->info.height),
        (NULL));
    return GST_FLOW_ERROR;
  }
  if (meta != NULL) {
    pbf_signal_write (&meta->signal, signal);
    packet.signal = signal;
  }
  ok = send_packets (self, &packet, GST_VIDEO_FRAME_PLANE_DATA (&frame, 0),
      GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
  gst_video_frame_unmap (&frame);
  self->frame_counter++;
  self->recent.frames++;
  return ok ? GST_FLOW_OK : GST_FLOW_FLUSHING;
}

static void
publish_counts (GstPbfUdpSink *self)
{
  GST_OBJECT_LOCK (self);
  self->counts.frames += self->recent.frames;
  self->counts.packets += self->recent.packets;
  self->counts.bytes += self->recent.bytes;
  self->counts.failed += self->recent.failed;
  GST_OBJECT_UNLOCK (self);
  memset (&self->recent, 0, sizeof self->recent);
}

/* Called when unlock() ended the wait for room in the socket. */
static GstFlowReturn
finish_sending (GstPbfUdpSink *self, GstFlowReturn ret)
{
  if (ret == GST_FLOW_OK && !send_messages (self))
    ret = GST_FLOW_FLUSHING;
  publish_counts (self);
  return ret == GST_FLOW_FLUSHING
             ? gst_base_sink_wait_preroll (GST_BASE_SINK (self))
             : ret;
}

static GstFlowReturn
gst_pbf_udp_sink_render (GstBaseSink *base, GstBuffer *buffer)
{
  GstPbfUdpSink *self = GST_PBF_UDP_SINK (base);

  return finish_sending (self, send_frame (self, buffer));
}

static GstFlowReturn
gst_pbf_udp_sink_render_list (GstBaseSink *base, GstBufferList *list)
{
  GstPbfUdpSink *self = GST_PBF_UDP_SINK (base);
  guint n = gst_buffer_list_length (list);
  GstFlowReturn ret = GST_FLOW_OK;

  for (guint i = 0; i < n && ret == GST_FLOW_OK; i++)
    ret = send_frame (self, gst_buffer_list_get (list, i));
  return finish_sending (self, ret);
}

/* --- life ------------------------------------------------------------------ */

static gboolean
gst_pbf_udp_sink_set_caps (GstBaseSink *base, GstCaps *caps)
{
  GstPbfUdpSink *self = GST_PBF_UDP_SINK (base);
  guint mtu;

  if (!gst_video_info_from_caps (&self->info, caps)) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Unsupported caps: not raw video. Put videoconvert before "
         "pbfudpsink."),
        ("caps: %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  mtu = self->settings.mtu;
  GST_OBJECT_UNLOCK (self);
  self->fragment_size = pbf_packet_split (self->info.width, self->info.height,
      mtu - IP_HEADERS - PBF_PACKET_OVERHEAD);
  self->packet_room = self->fragment_size + PBF_PACKET_OVERHEAD;
  g_free (self->bytes);
  self->bytes = g_malloc (MESSAGES * self->packet_room);
  memset (self->messages, 0, sizeof self->messages);
  for (guint i = 0; i < MESSAGES; i++) {
    self->parts[i].iov_base = self->bytes + i * self->packet_room;
    self->messages[i].msg_hdr.msg_name = &self->address;
    self->messages[i].msg_hdr.msg_namelen = self->address_size;
    self->messages[i].msg_hdr.msg_iov = &self->parts[i];
    self->messages[i].msg_hdr.msg_iovlen = 1;
  }
  return TRUE;
}

static gboolean
gst_pbf_udp_sink_propose_allocation (GstBaseSink *base, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static gboolean
open_socket (GstPbfUdpSink *self, GError **error)
{
  self->address_size =
      gst_pbf_socket_resolve (self->host, self->port, &self->address, error);
  if (self->address_size == 0
      || !gst_pbf_socket_check_interface (
          self->settings.multicast_iface, error))
    return FALSE;
  self->fd = gst_pbf_socket_new (&self->address, error);
  if (self->fd < 0)
    return FALSE;
  if (!gst_pbf_socket_is_multicast (&self->address)
      || gst_pbf_socket_send_through (
          self->fd, &self->address, self->settings.multicast_iface, error))
    return TRUE;
  close (self->fd);
  self->fd = -1;
  return FALSE;
}

static gboolean
gst_pbf_udp_sink_start (GstBaseSink *base)
{
  GstPbfUdpSink *self = GST_PBF_UDP_SINK (base);
  GError *error = NULL;

  self->host = gst_cvis_settings_get_string (self, &self->settings.host);
  self->port = self->settings.port;
  if (!open_socket (self, &error)) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
        ("Cannot send to \"%s\", port %u: %s.", self->host, self->port,
            error->message),
        (NULL));
    g_error_free (error);
    return FALSE;
  }
  gst_poll_fd_init (&self->poll_fd);
  self->poll_fd.fd = self->fd;
  gst_poll_add_fd (self->poll, &self->poll_fd);
  gst_poll_fd_ctl_write (self->poll, &self->poll_fd, TRUE);
  self->stream = g_random_int ();
  self->frame_counter = 0;
  self->n_messages = 0;
  self->warned = FALSE;
  GST_OBJECT_LOCK (self);
  memset (&self->counts, 0, sizeof self->counts);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_pbf_udp_sink_stop (GstBaseSink *base)
{
  GstPbfUdpSink *self = GST_PBF_UDP_SINK (base);

  if (self->fd >= 0) {
    gst_poll_remove_fd (self->poll, &self->poll_fd);
    close (self->fd);
  }
  self->fd = -1;
  g_clear_pointer (&self->bytes, g_free);
  return TRUE;
}

static gboolean
gst_pbf_udp_sink_unlock (GstBaseSink *base)
{
  gst_poll_set_flushing (GST_PBF_UDP_SINK (base)->poll, TRUE);
  return TRUE;
}

static gboolean
gst_pbf_udp_sink_unlock_stop (GstBaseSink *base)
{
  gst_poll_set_flushing (GST_PBF_UDP_SINK (base)->poll, FALSE);
  return TRUE;
}

/* --- object ---------------------------------------------------------------- */

static GstStructure *
make_sent (GstPbfUdpSink *self)
{
  return gst_structure_new ("pbfudpsink-sent", "frames", G_TYPE_UINT64,
      self->counts.frames, "packets", G_TYPE_UINT64, self->counts.packets,
      "bytes", G_TYPE_UINT64, self->counts.bytes, "failed", G_TYPE_UINT64,
      self->counts.failed, NULL);
}

static void
gst_pbf_udp_sink_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id != PROP_SENT) {
    gst_cvis_settings_get_property (object, id, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (object);
  g_value_take_boxed (value, make_sent (GST_PBF_UDP_SINK (object)));
  GST_OBJECT_UNLOCK (object);
}

static void
gst_pbf_udp_sink_finalize (GObject *object)
{
  gst_poll_free (GST_PBF_UDP_SINK (object)->poll);
  G_OBJECT_CLASS (gst_pbf_udp_sink_parent_class)->finalize (object);
}

static void
gst_pbf_udp_sink_class_init (GstPbfUdpSinkClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *base_class = GST_BASE_SINK_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_udp_sink_debug, "pbfudpsink", 0, "sender of the camera link");

  object_class->finalize = gst_pbf_udp_sink_finalize;
  gst_cvis_settings_bind (object_class, PROP_SETTING, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfUdpSink, settings),
      &defaults);
  object_class->get_property = gst_pbf_udp_sink_get_property;
  g_object_class_install_property (object_class, PROP_SENT,
      g_param_spec_boxed ("sent", "Sent",
          "Frames, packets and bytes sent since the start, and packets that "
          "could not be sent",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (element_class,
      "UDP sender of melt-pool frames", "Sink/Network",
      "Sends grey frames with machine signals to pbfudpsrc",
      "the gst-cudavision authors");

  base_class->start = gst_pbf_udp_sink_start;
  base_class->stop = gst_pbf_udp_sink_stop;
  base_class->unlock = gst_pbf_udp_sink_unlock;
  base_class->unlock_stop = gst_pbf_udp_sink_unlock_stop;
  base_class->set_caps = gst_pbf_udp_sink_set_caps;
  base_class->propose_allocation = gst_pbf_udp_sink_propose_allocation;
  base_class->render = gst_pbf_udp_sink_render;
  base_class->render_list = gst_pbf_udp_sink_render_list;
}

static void
gst_pbf_udp_sink_init (GstPbfUdpSink *self)
{
  gst_cvis_settings_init (self);
  self->fd = -1;
  /* for unlock(), which may be called in every state */
  self->poll = gst_poll_new (TRUE);
}
