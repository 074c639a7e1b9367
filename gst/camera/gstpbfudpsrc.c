/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/**
 * SECTION:element-pbfudpsrc
 * @title: pbfudpsrc
 * @short_description: receives melt-pool frames over UDP
 *
 * Receives grey frames and their machine signals in packets from pbfudpsink or from
 * the interface board of a camera. Frames are pushed in their order, each once;
 * lost, repeated, late, damaged and foreign packets are counted.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 pbfudpsrc port=5500 ! video/x-raw,framerate=20000/1 ! cudapbfmonitor ! fakesink
 * ]|
 *
 * Since: 0.1
 */
#define _GNU_SOURCE /* recvmmsg */
#include "gstpbfudpsrc.h"

#include <errno.h>
#include <gst/video/video.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "gst/common/gstcvisquery.h"
#include "gst/common/gstcvissettings.h"
#include "gstpbfsocket.h"
#include "cuda/core/histogram.h"
#include "cuda/camera/packet.h"

GST_DEBUG_CATEGORY_STATIC (gst_pbf_udp_src_debug);
#define GST_CAT_DEFAULT gst_pbf_udp_src_debug

#define AUTO_BUFFER_SIZE (64 << 20)
#define MESSAGES 64     /* packets that one system call receives */
#define MESSAGE 65536   /* bytes: more than any UDP packet has */
#define CONTROL 128     /* bytes for SCM_TIMESTAMPNS and SO_RXQ_OVFL */
#define SPARE_FRAMES 16 /* of the pool, beside those of the window */
/* from the first loss to its report, which has the number of them */
#define REPORT_INTERVAL GST_SECOND
#define WARNING_INTERVAL (10 * GST_SECOND)
#define CLOCK_JUMP GST_SECOND

typedef enum {
  GST_PBF_TIMESTAMPS_ARRIVAL,
  GST_PBF_TIMESTAMPS_KERNEL,
  GST_PBF_TIMESTAMPS_SENDER,
} GstPbfTimestamps;

/* A frame in the window. */
typedef struct {
  GstBuffer *buffer;
  GstMapInfo map;
  GstClockTime time; /* running time of its first packet */
} OpenFrame;

typedef struct {
  gchar *address;
  guint port;
  guint buffer_size;
  guint reorder_window;
  guint64 timeout;
  gint timestamps; /* GstPbfTimestamps */
  gchar *signal_layout;
  gchar *multicast_iface;
} Settings;

struct _GstPbfUdpSrc {
  GstPbfListSrc parent;

  Settings settings;

  /* read by other threads, guarded by the object lock */
  guint bound_port;    /* 0: no socket */
  guint width, height; /* of the frames; 0: not known */
  GstClockTime frame_duration;
  PbfLinkCounts counts;
  guint overflow;             /* packets dropped as the socket was full */
  PbfLinkCounts reset_counts; /* those at the last "reset-stats" */
  guint reset_overflow;
  guint socket_buffer_size; /* bytes */

  /* of the streaming thread */
  gint fd;
  GstPoll *poll;
  GstPollFD poll_fd;
  gint unlocked; /* atomic */
  PbfAssembler *assembler;
  GstVideoInfo info;
  GstBufferPool *pool;  /* (nullable): the negotiated one, during create() */
  GstFlowReturn failed; /* flow of a failure to get a buffer */
  gboolean resized;     /* caps have to be negotiated */
  guint64 frames_left;
  guint8 *bytes;
  guint8 *control;
  struct mmsghdr messages[MESSAGES];
  struct iovec parts[MESSAGES];
  guint n_messages, message;  /* received, and the index of the next one */
  GstClockTime now, now_real; /* running and real time of their reception */
  GstClockTime packet_time;   /* running time of the current packet */
  guint packet_overflow;      /* overflow when it was received */
  GstClockTime last_pts;
  guint64 sender_time, sender_base; /* of a frame: its time and running time */
  GstClockTime sender_arrived;      /* running time of its first packet */
  gboolean warned_of_jump;
  guint64 last_good;             /* monotonic ns of the last packet */
  PbfLinkCounts reported_counts; /* those in the reports of losses */
  guint reported_overflow;
  guint64 loss_begin; /* monotonic ns of the first loss to report; 0: none */
  guint64 warned;     /* monotonic ns of the last warning; 0: none */
  gboolean silent;
  GstBufferList *list; /* (nullable): frames to hand out */
};

enum {
  PROP_STATS = 1,
  PROP_SETTING,
};

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
        GST_STATIC_CAPS (
            "video/x-raw, format = (string) GRAY8, width = (int) [ 1, 4096 ], "
            "height = (int) [ 1, 4096 ], framerate = (fraction) [ 0, max ]"));

static const GEnumValue timestamps_values[] = {
  { GST_PBF_TIMESTAMPS_ARRIVAL,
      "Running time at which the element received "
      "the frame's first packet",
      "arrival" },
  { GST_PBF_TIMESTAMPS_KERNEL,
      "Running time at which the kernel received the "
      "frame's first packet",
      "kernel" },
  { GST_PBF_TIMESTAMPS_SENDER,
      "The sender's timestamps, from the running time "
      "of the first frame on",
      "sender" },
  { 0, NULL, NULL },
};

static const Settings defaults = {
  .address = (gchar *) "0.0.0.0",
  .port = GST_PBF_DEFAULT_PORT,
  .reorder_window = 16,
  .timeout = GST_SECOND,
  .timestamps = GST_PBF_TIMESTAMPS_ARRIVAL,
  .signal_layout = (gchar *) "",
  .multicast_iface = (gchar *) "",
};

#define OFFSET(field) G_STRUCT_OFFSET (Settings, field)

static const GstCvisSetting settings_table[] = {
  { "address",
      "Local address or name of the interface to receive at; 0.0.0.0 and :: "
      "are all interfaces, 224.0.0.0 to 239.255.255.255 and ff00::/8 are "
      "multicast groups",
      GST_CVIS_SETTING_STRING, OFFSET (address) },
  { "port",
      "UDP port to receive at; 0: a free one, which the property then reports",
      GST_CVIS_SETTING_UINT, OFFSET (port), FALSE, 0, 65535 },
  { "buffer-size",
      "Size of the socket's buffer, bytes; 0: 64 MiB, or less where the system "
      "does not allow that",
      GST_CVIS_SETTING_UINT, OFFSET (buffer_size), FALSE, 0, G_MAXINT / 2 },
  { "reorder-window",
      "Frames: an incomplete frame counts as lost when the frame this many "
      "later begins",
      GST_CVIS_SETTING_UINT, OFFSET (reorder_window), FALSE, 1, 1024 },
  { "timeout",
      "Time without a packet after which an element message is posted and "
      "frames no longer wait for missing ones, nanoseconds; 0: never",
      GST_CVIS_SETTING_TIME, OFFSET (timeout), TRUE },
  { "timestamps", "Source of the timestamps of frames", GST_CVIS_SETTING_ENUM,
      OFFSET (timestamps), FALSE, 0, 0, "GstPbfUdpSrcTimestamps",
      timestamps_values },
  { "signal-layout",
      "Fields of a machine's own signals, a vector of 16 int32, as in "
      "\"x_um=2,y_um=3,laser_on=0.1\"; empty: records of the camera link",
      GST_CVIS_SETTING_STRING, OFFSET (signal_layout) },
  { "multicast-iface",
      "Network interface, such as eth0, at which a multicast group is "
      "received; "
      "empty: the system's choice",
      GST_CVIS_SETTING_STRING, OFFSET (multicast_iface) },
};

#define gst_pbf_udp_src_parent_class parent_class
G_DEFINE_FINAL_TYPE (GstPbfUdpSrc, gst_pbf_udp_src, GST_TYPE_PBF_LIST_SRC)
GST_ELEMENT_REGISTER_DEFINE (
    pbfudpsrc, "pbfudpsrc", GST_RANK_NONE, GST_TYPE_PBF_UDP_SRC);

/* --- frames (see PbfFrameFuncs) -------------------------------------------- */

static void
free_open_frame (OpenFrame *frame)
{
  gst_buffer_unmap (frame->buffer, &frame->map);
  gst_buffer_unref (frame->buffer);
  g_free (frame);
}

static gboolean
map_frame (GstPbfUdpSrc *self, OpenFrame *frame, gsize *offset, gsize *stride)
{
  GstVideoMeta *layout = gst_buffer_get_video_meta (frame->buffer);
  gint row = layout != NULL ? layout->stride[0] : self->info.stride[0];

  *offset = layout != NULL ? layout->offset[0] : 0;
  if (!gst_buffer_map (frame->buffer, &frame->map, GST_MAP_WRITE))
    return FALSE;
  *stride = row;
  if (row >= self->info.width
      && frame->map.size
             >= *offset + self->info.width + *stride * (self->info.height - 1))
    return TRUE;
  gst_buffer_unmap (frame->buffer, &frame->map);
  return FALSE;
}

static guint8 *
open_frame (gpointer user, gpointer *handle, gsize *stride)
{
  GstPbfUdpSrc *self = user;
  OpenFrame *frame = g_new (OpenFrame, 1);
  gsize offset;

  self->failed =
      gst_buffer_pool_acquire_buffer (self->pool, &frame->buffer, NULL);
  if (self->failed != GST_FLOW_OK) {
    g_free (frame);
    return NULL;
  }
  if (!map_frame (self, frame, &offset, stride)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, (NULL),
        ("Cannot write a frame: a buffer of the negotiated pool cannot be "
         "mapped, or is too small for %dx%d pixels. Put \"identity "
         "drop-allocation=true\" after pbfudpsrc.",
            self->info.width, self->info.height));
    gst_buffer_unref (frame->buffer);
    g_free (frame);
    self->failed = GST_FLOW_ERROR;
    return NULL;
  }
  frame->time = self->packet_time;
  *handle = frame;
  return frame->map.data + offset;
}

static void
drop_frame (gpointer user, gpointer handle)
{
  free_open_frame (handle);
}

/* Whether the sender's time @t_ns continues that of the frame before: it neither
 * decreases nor increases by CLOCK_JUMP more than time has passed, as after the
 * synchronisation of the sender's clock. Warns once. */
static gboolean
has_clock_jumped (GstPbfUdpSrc *self, GstClockTime arrived, guint64 t_ns)
{
  guint64 passed =
      GST_CLOCK_TIME_IS_VALID (arrived) && arrived > self->sender_arrived
          ? arrived - self->sender_arrived
          : 0;

  if (t_ns >= self->sender_time
      && t_ns - self->sender_time <= passed + CLOCK_JUMP)
    return FALSE;
  if (!self->warned_of_jump)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("The sender's clock jumped by %.3f s. Timestamps go on from the time "
         "of arrival. Synchronise the sender's clock before the stream begins, "
         "or use timestamps=kernel.",
            ((gdouble) t_ns - (gdouble) self->sender_time) * 1e-9),
        (NULL));
  self->warned_of_jump = TRUE;
  return TRUE;
}

/* Timestamps never decrease, although arrival times of first packets may. */
static GstClockTime
choose_pts (GstPbfUdpSrc *self, GstClockTime arrived, const PbfFrameHead *head)
{
  GstClockTime pts = arrived;

  if (self->settings.timestamps == GST_PBF_TIMESTAMPS_SENDER
      && head->t_ns != PBF_PACKET_NO_TIME) {
    if (self->sender_time == PBF_PACKET_NO_TIME
        || has_clock_jumped (self, arrived, head->t_ns)) {
      self->sender_base = arrived;
      self->sender_time = head->t_ns;
    }
    pts = self->sender_base + (head->t_ns - self->sender_time);
    self->sender_base = pts;
    self->sender_time = head->t_ns;
    self->sender_arrived = arrived;
  }
  if (GST_CLOCK_TIME_IS_VALID (self->last_pts) && GST_CLOCK_TIME_IS_VALID (pts))
    pts = MAX (pts, self->last_pts);
  return self->last_pts = pts;
}

static void
stamp_received_frame (
    GstPbfUdpSrc *self, OpenFrame *frame, const PbfFrameHead *head)
{
  GstBuffer *buffer = frame->buffer;

  GST_BUFFER_PTS (buffer) = choose_pts (self, frame->time, head);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  if (self->frame_duration > 0)
    GST_BUFFER_DURATION (buffer) = self->frame_duration;
  else
    GST_BUFFER_DURATION (buffer) =
        head->duration_ns > 0 ? head->duration_ns : GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET (buffer) = head->number;
  GST_BUFFER_OFFSET_END (buffer) = head->number + 1;
  if (head->lost_before > 0)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  else
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_DISCONT);
}

static void
frame_done (gpointer user, gpointer handle, const PbfFrameHead *head)
{
  GstPbfUdpSrc *self = user;
  OpenFrame *frame = handle;

  if (self->frames_left == 0) {
    free_open_frame (frame);
    return;
  }
  self->frames_left--;
  gst_buffer_unmap (frame->buffer, &frame->map);
  gst_pbf_list_src_set_signal (GST_PBF_LIST_SRC (self), frame->buffer,
      head->signal,
      &(CvisPbfSignal){ .frame_counter = head->frame_counter,
          .t_ns = head->t_ns != PBF_PACKET_NO_TIME ? head->t_ns : 0,
          .width = self->info.width,
          .height = self->info.height });
  stamp_received_frame (self, frame, head);
  if (self->list == NULL)
    self->list = gst_buffer_list_new_sized (MESSAGES);
  gst_buffer_list_add (self->list, frame->buffer);
  g_free (frame);
}

/* --- packets --------------------------------------------------------------- */

static GstClockTime
running_time (GstPbfUdpSrc *self)
{
  GstClockTime now = GST_CLOCK_TIME_NONE, base;
  GstClock *clock;

  GST_OBJECT_LOCK (self);
  clock = GST_ELEMENT_CLOCK (self);
  base = GST_ELEMENT_CAST (self)->base_time;
  if (clock != NULL)
    gst_object_ref (clock);
  GST_OBJECT_UNLOCK (self);
  if (clock == NULL)
    return now;
  now = gst_clock_get_time (clock);
  gst_object_unref (clock);
  return now > base ? now - base : 0;
}

static void
note_control (GstPbfUdpSrc *self, struct msghdr *header)
{
  self->packet_time = self->now;
  for (struct cmsghdr *c = CMSG_FIRSTHDR (header); c != NULL;
       c = CMSG_NXTHDR (header, c)) {
    if (c->cmsg_level != SOL_SOCKET)
      continue;
    if (c->cmsg_type == SO_RXQ_OVFL) {
      guint32 n;

      memcpy (&n, CMSG_DATA (c), sizeof n);
      self->packet_overflow = n;
    } else if (c->cmsg_type == SCM_TIMESTAMPNS
               && GST_CLOCK_TIME_IS_VALID (self->now)) {
      struct timespec t;
      GstClockTime age;

      memcpy (&t, CMSG_DATA (c), sizeof t);
      age = self->now_real - MIN (GST_TIMESPEC_TO_TIME (t), self->now_real);
      self->packet_time = self->now - MIN (age, self->now);
    }
  }
}

static gboolean
negotiate_size (GstPbfUdpSrc *self)
{
  self->resized = FALSE;
  gst_clear_object (&self->pool);
  if (!gst_base_src_negotiate (GST_BASE_SRC (self)))
    return FALSE;
  self->pool = gst_base_src_get_buffer_pool (GST_BASE_SRC (self));
  return self->pool != NULL;
}

static void
begin_size (GstPbfUdpSrc *self, const PbfPacket *packet)
{
  pbf_assembler_set_size (self->assembler, packet->width, packet->height);
  GST_OBJECT_LOCK (self);
  self->width = packet->width;
  self->height = packet->height;
  GST_OBJECT_UNLOCK (self);
  self->resized = TRUE;
}

/* Uses the received packets, until there are none, or until frames have to be pushed
 * first: before frames of another size, and before the list and the window hold all
 * buffers of a pool with an upper limit. */
static GstFlowReturn
use_packets (GstPbfUdpSrc *self)
{
  while (self->message < self->n_messages) {
    struct mmsghdr *message = &self->messages[self->message];
    PbfPacket packet;

    if (self->list != NULL
        && gst_buffer_list_length (self->list) >= SPARE_FRAMES)
      return GST_FLOW_OK;
    if (self->resized) {
      if (self->list != NULL)
        return GST_FLOW_OK;
      if (!negotiate_size (self))
        return GST_FLOW_NOT_NEGOTIATED;
      if (pbf_packet_parse (
              message->msg_hdr.msg_iov->iov_base, message->msg_len, &packet)
          != PBF_PACKET_OK)
        g_return_val_if_reached (GST_FLOW_ERROR);
    } else {
      note_control (self, &message->msg_hdr);
      if (!pbf_assembler_parse (self->assembler,
              message->msg_hdr.msg_iov->iov_base, message->msg_len, &packet)) {
        self->message++;
        continue;
      }
      self->last_good = cvis_monotonic_ns ();
      self->silent = FALSE;
    }
    switch (pbf_assembler_add (self->assembler, &packet)) {
      case PBF_ADD_OK:
        self->message++;
        break;
      case PBF_ADD_NEW_SIZE:
        begin_size (self, &packet);
        break;
      case PBF_ADD_NO_MEMORY:
        return self->failed;
    }
  }
  return GST_FLOW_OK;
}

/* The camera is silent: frames no longer wait for missing ones. */
static void
note_silence (GstPbfUdpSrc *self, GstClockTime timeout)
{
  guint64 frames;

  pbf_assembler_pause (self->assembler);
  self->silent = TRUE;
  frames = pbf_assembler_get_counts (self->assembler)->frames;
  GST_INFO_OBJECT (self,
      "no packet for %" GST_TIME_FORMAT " after %" G_GUINT64_FORMAT " frames",
      GST_TIME_ARGS (timeout), frames);
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self),
          gst_structure_new ("pbfudpsrc-timeout", "timeout", G_TYPE_UINT64,
              timeout, "frames", G_TYPE_UINT64, frames, NULL)));
}

/* Time left until the timeout; 0: it has passed; NONE: no timeout. */
static GstClockTime
time_to_silence (GstPbfUdpSrc *self, GstClockTime timeout)
{
  guint64 quiet;

  if (timeout == 0 || self->silent)
    return GST_CLOCK_TIME_NONE;
  quiet = cvis_monotonic_ns () - self->last_good;
  return quiet < timeout ? timeout - quiet : 0;
}

/* Restores the lengths, which recvmmsg() has changed. */
static void
prepare_messages (GstPbfUdpSrc *self)
{
  for (guint i = 0; i < self->n_messages; i++)
    self->messages[i].msg_hdr.msg_controllen = CONTROL;
  self->message = self->n_messages = 0;
}

/* Waits for packets, or for the timeout, which may complete frames. */
static GstFlowReturn
receive_packets (GstPbfUdpSrc *self)
{
  GstClockTime timeout, left;
  gint n;

  GST_OBJECT_LOCK (self);
  timeout = self->settings.timeout;
  GST_OBJECT_UNLOCK (self);
  prepare_messages (self);
  for (;;) {
    if (g_atomic_int_get (&self->unlocked))
      return GST_FLOW_FLUSHING;
    n = recvmmsg (self->fd, self->messages, MESSAGES, MSG_DONTWAIT, NULL);
    if (n > 0)
      break;
    if (errno == EAGAIN) {
      left = time_to_silence (self, timeout);
      if (left == 0) {
        note_silence (self, timeout);
        return GST_FLOW_OK;
      }
      gst_poll_wait (self->poll, left);
    } else if (errno != EINTR && errno != ECONNREFUSED) {
      GST_ELEMENT_ERROR (self, RESOURCE, READ,
          ("Cannot receive from the network: %s. Check that the interface that "
           "address selects is up.",
              g_strerror (errno)),
          (NULL));
      return GST_FLOW_ERROR;
    }
  }
  self->n_messages = n;
  self->now = running_time (self);
  if (self->settings.timestamps == GST_PBF_TIMESTAMPS_KERNEL)
    self->now_real = (GstClockTime) g_get_real_time () * GST_USECOND;
  return GST_FLOW_OK;
}

/* Numbers since the last report. */
static PbfLinkCounts
new_counts (GstPbfUdpSrc *self, const PbfLinkCounts *now)
{
  PbfLinkCounts n = *now;
  const PbfLinkCounts *r = &self->reported_counts;

  n.frames -= r->frames;
  n.lost -= r->lost;
  n.incomplete -= r->incomplete;
  n.late -= r->late;
  n.crc_errors -= r->crc_errors;
  n.rubbish -= r->rubbish;
  return n;
}

/* Posts a report of what was lost, and once in WARNING_INTERVAL a warning with the
 * likely cause. */
static void
post_losses (GstPbfUdpSrc *self, const PbfLinkCounts *n, guint64 overflow,
    GstClockTime now)
{
  GString *causes;

  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_element (GST_OBJECT_CAST (self),
          gst_structure_new ("pbfudpsrc-loss", "frames", G_TYPE_UINT64,
              n->frames, "lost", G_TYPE_UINT64, n->lost, "incomplete",
              G_TYPE_UINT64, n->incomplete, "late", G_TYPE_UINT64, n->late,
              "crc-errors", G_TYPE_UINT64, n->crc_errors, "rubbish",
              G_TYPE_UINT64, n->rubbish, "overflow", G_TYPE_UINT64, overflow,
              NULL)));
  if (self->warned != 0 && now - self->warned < WARNING_INTERVAL)
    return;
  self->warned = now;
  causes = g_string_new (NULL);
  if (overflow > 0)
    g_string_append_printf (causes,
        " The socket's buffer of %u bytes was full for %" G_GUINT64_FORMAT
        " packets: raise buffer-size and \"sysctl net.core.rmem_max\", or put "
        "a queue after pbfudpsrc.",
        self->socket_buffer_size, overflow);
  else if (n->lost > 0)
    g_string_append (causes,
        " The socket's buffer did not overflow: packets were lost on the "
        "way to it. "
        "Check the sender, its mtu, the cable and the network interface "
        "(\"ethtool -S\").");
  if (n->late > 0)
    g_string_append_printf (causes,
        " %" G_GUINT64_FORMAT
        " packets came after their frame was declared lost: raise "
        "reorder-window.",
        n->late);
  if (n->crc_errors > 0)
    g_string_append_printf (causes,
        " %" G_GUINT64_FORMAT
        " packets were damaged: check the cable and the sender.",
        n->crc_errors);
  if (n->rubbish > 0)
    g_string_append_printf (causes,
        " %" G_GUINT64_FORMAT
        " packets were not those of a camera link: check which other "
        "programs send to this port.",
        n->rubbish);
  GST_ELEMENT_WARNING (self, RESOURCE, READ,
      ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
       " frames were lost, %" G_GUINT64_FORMAT
       " of these were received in part.%s",
          n->lost, n->lost + n->frames, n->incomplete, causes->str),
      ("the property stats has all counts"));
  g_string_free (causes, TRUE);
}

/* Reports losses, at most once in REPORT_INTERVAL; @end: now, as nothing follows. */
static void
note_losses (GstPbfUdpSrc *self, gboolean end)
{
  const PbfLinkCounts *counts = pbf_assembler_get_counts (self->assembler);
  PbfLinkCounts n = new_counts (self, counts);
  GstClockTime now;

  if (n.lost + n.late + n.crc_errors + n.rubbish == 0)
    return;
  now = cvis_monotonic_ns ();
  if (self->loss_begin == 0)
    self->loss_begin = now;
  if (!end && now - self->loss_begin < REPORT_INTERVAL)
    return;
  post_losses (self, &n,
      (guint32) (self->packet_overflow - self->reported_overflow), now);
  self->reported_counts = *counts;
  self->reported_overflow = self->packet_overflow;
  self->loss_begin = 0;
}

static void
publish_counts (GstPbfUdpSrc *self)
{
  GST_OBJECT_LOCK (self);
  self->counts = *pbf_assembler_get_counts (self->assembler);
  self->overflow = self->packet_overflow;
  GST_OBJECT_UNLOCK (self);
}

static GstFlowReturn
gst_pbf_udp_src_create (
    GstBaseSrc *base, guint64 offset, guint size, GstBuffer **buffer)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);
  GstFlowReturn ret = GST_FLOW_OK;

  gst_pbf_list_src_forget (GST_PBF_LIST_SRC (self));
  if (self->last_good == 0)
    self->last_good = cvis_monotonic_ns ();
  gst_clear_object (&self->pool);
  self->pool = gst_base_src_get_buffer_pool (base);
  while (ret == GST_FLOW_OK && self->list == NULL) {
    if (self->frames_left == 0) {
      ret = GST_FLOW_EOS;
    } else {
      if (self->message == self->n_messages)
        ret = receive_packets (self);
      if (ret == GST_FLOW_OK)
        ret = use_packets (self);
      publish_counts (self);
      note_losses (self, self->silent || self->frames_left == 0);
    }
  }
  gst_clear_object (&self->pool);
  if (ret != GST_FLOW_OK)
    return ret;
  gst_pbf_list_src_hand_out (
      GST_PBF_LIST_SRC (self), g_steal_pointer (&self->list), buffer);
  return GST_FLOW_OK;
}

static gboolean
gst_pbf_udp_src_unlock (GstBaseSrc *base)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);

  g_atomic_int_set (&self->unlocked, TRUE);
  gst_poll_set_flushing (self->poll, TRUE);
  return TRUE;
}

static gboolean
gst_pbf_udp_src_unlock_stop (GstBaseSrc *base)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);

  g_atomic_int_set (&self->unlocked, FALSE);
  gst_poll_set_flushing (self->poll, FALSE);
  return TRUE;
}

/* --- negotiation ----------------------------------------------------------- */

static GstCaps *
gst_pbf_udp_src_get_caps (GstBaseSrc *base, GstCaps *filter)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);
  GstCaps *caps = gst_pad_get_pad_template_caps (base->srcpad);

  GST_OBJECT_LOCK (self);
  if (self->width > 0) {
    caps = gst_caps_make_writable (caps);
    gst_caps_set_simple (caps, "width", G_TYPE_INT, self->width, "height",
        G_TYPE_INT, self->height, NULL);
  }
  GST_OBJECT_UNLOCK (self);
  return gst_cvis_caps_filter (caps, filter);
}

static GstCaps *
gst_pbf_udp_src_fixate (GstBaseSrc *base, GstCaps *caps)
{
  caps = gst_caps_make_writable (gst_caps_truncate (caps));
  gst_structure_fixate_field_nearest_fraction (
      gst_caps_get_structure (caps, 0), "framerate", 0, 1);
  return GST_BASE_SRC_CLASS (parent_class)->fixate (base, caps);
}

/* Negotiates the caps that the first packet gives. */
static gboolean
gst_pbf_udp_src_negotiate (GstBaseSrc *base)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);
  GstCaps *wanted;

  if (self->width == 0)
    return TRUE;
  if (GST_BASE_SRC_CLASS (parent_class)->negotiate (base))
    return TRUE;
  if (GST_PAD_IS_FLUSHING (base->srcpad))
    return FALSE;
  wanted = gst_pad_peer_query_caps (base->srcpad, NULL);
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
      ("Unsupported caps: the camera sends GRAY8 of %ux%u pixels, which "
       "downstream does not accept. Put videoconvert, videoscale or videocrop "
       "after pbfudpsrc.",
          self->width, self->height),
      ("downstream requires %" GST_PTR_FORMAT, wanted));
  gst_caps_unref (wanted);
  return FALSE;
}

static gboolean
gst_pbf_udp_src_set_caps (GstBaseSrc *base, GstCaps *caps)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);
  GstClockTime duration = 0;

  if (!gst_video_info_from_caps (&self->info, caps))
    return FALSE;
  if (self->info.fps_n > 0)
    duration =
        gst_util_uint64_scale (GST_SECOND, self->info.fps_d, self->info.fps_n);
  GST_OBJECT_LOCK (self);
  self->frame_duration = duration;
  GST_OBJECT_UNLOCK (self);
  gst_element_post_message (GST_ELEMENT_CAST (self),
      gst_message_new_latency (GST_OBJECT_CAST (self)));
  return TRUE;
}

static gboolean
gst_pbf_udp_src_decide_allocation (GstBaseSrc *base, GstQuery *query)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);

  if (self->width == 0) { /* before the first packet */
    while (gst_query_get_n_allocation_pools (query) > 0)
      gst_query_remove_nth_allocation_pool (query, 0);
    return TRUE;
  }
  return gst_pbf_list_src_decide_pool (GST_PBF_LIST_SRC (self), query,
      GST_VIDEO_INFO_SIZE (&self->info),
      self->settings.reorder_window + SPARE_FRAMES);
}

/* A frame waits for those before it, at most until the window has passed them. */
static gboolean
gst_pbf_udp_src_query (GstBaseSrc *base, GstQuery *query)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);

  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY) {
    GST_OBJECT_LOCK (self);
    gst_query_set_latency (query, TRUE,
        self->frame_duration * self->settings.reorder_window,
        GST_CLOCK_TIME_NONE);
    GST_OBJECT_UNLOCK (self);
    return TRUE;
  }
  return GST_BASE_SRC_CLASS (parent_class)->query (base, query);
}

/* --- life ------------------------------------------------------------------ */

/* Sets the size of the socket's buffer; without root's privilege net.core.rmem_max
 * limits it. */
static void
set_buffer_size (GstPbfUdpSrc *self)
{
  gint wanted = self->settings.buffer_size > 0
                    ? (gint) self->settings.buffer_size
                    : AUTO_BUFFER_SIZE;
  gint got = 0;
  socklen_t size = sizeof got;

  if (setsockopt (self->fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted)
      < 0)
    setsockopt (self->fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
  getsockopt (self->fd, SOL_SOCKET, SO_RCVBUF, &got, &size);
  got /= 2; /* Linux doubles the size for its own needs */
  GST_OBJECT_LOCK (self);
  self->socket_buffer_size = got;
  GST_OBJECT_UNLOCK (self);
  if (got < wanted)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("The socket's buffer has %d bytes instead of %d: frames may be lost "
         "when the machine is busy. Raise the limit with \"sysctl -w "
         "net.core.rmem_max=%d\".",
            got, wanted, wanted),
        (NULL));
}

static gboolean
open_socket (GstPbfUdpSrc *self, GError **error)
{
  struct sockaddr_storage address;
  socklen_t size = gst_pbf_socket_resolve (
      self->settings.address, self->settings.port, &address, error);
  const gint on = 1;

  if (size == 0
      || !gst_pbf_socket_check_interface (
          self->settings.multicast_iface, error))
    return FALSE;
  self->fd = gst_pbf_socket_new (&address, error);
  if (self->fd < 0)
    return FALSE;
  if (gst_pbf_socket_is_multicast (&address)
      && !gst_pbf_socket_join (
          self->fd, &address, self->settings.multicast_iface, error))
    return FALSE;
  if (bind (self->fd, (struct sockaddr *) &address, size) < 0
      || getsockname (self->fd, (struct sockaddr *) &address, &size) < 0) {
    gst_pbf_socket_set_bind_error (error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->bound_port =
      g_ntohs (address.ss_family == AF_INET6
                   ? ((struct sockaddr_in6 *) &address)->sin6_port
                   : ((struct sockaddr_in *) &address)->sin_port);
  GST_OBJECT_UNLOCK (self);
  set_buffer_size (self);
  setsockopt (self->fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
  if (self->settings.timestamps == GST_PBF_TIMESTAMPS_KERNEL)
    setsockopt (self->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  return TRUE;
}

static void
close_socket (GstPbfUdpSrc *self)
{
  if (self->poll_fd.fd >= 0)
    gst_poll_remove_fd (self->poll, &self->poll_fd);
  gst_poll_fd_init (&self->poll_fd);
  if (self->fd >= 0)
    close (self->fd);
  self->fd = -1;
  GST_OBJECT_LOCK (self);
  self->bound_port = 0;
  GST_OBJECT_UNLOCK (self);
}

static void
make_messages (GstPbfUdpSrc *self)
{
  self->bytes = g_malloc (MESSAGES * MESSAGE);
  self->control = g_malloc0 (MESSAGES * CONTROL);
  memset (self->messages, 0, sizeof self->messages);
  for (guint i = 0; i < MESSAGES; i++) {
    self->parts[i].iov_base = self->bytes + i * MESSAGE;
    self->parts[i].iov_len = MESSAGE;
    self->messages[i].msg_hdr.msg_iov = &self->parts[i];
    self->messages[i].msg_hdr.msg_iovlen = 1;
    self->messages[i].msg_hdr.msg_control = self->control + i * CONTROL;
    self->messages[i].msg_hdr.msg_controllen = CONTROL;
  }
  self->n_messages = self->message = 0;
}

static gboolean
gst_pbf_udp_src_start (GstBaseSrc *base)
{
  static const PbfFrameFuncs funcs = { open_frame, frame_done, drop_frame };
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);
  GError *error = NULL;

  if (!gst_pbf_list_src_set_layout (
          GST_PBF_LIST_SRC (self), self->settings.signal_layout))
    return FALSE;
  if (!open_socket (self, &error)) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("Cannot receive at \"%s\", port %u: %s.", self->settings.address,
            self->settings.port, error->message),
        (NULL));
    g_error_free (error);
    close_socket (self);
    return FALSE;
  }
  self->poll_fd.fd = self->fd;
  gst_poll_add_fd (self->poll, &self->poll_fd);
  gst_poll_fd_ctl_read (self->poll, &self->poll_fd, TRUE);
  make_messages (self);
  self->assembler =
      pbf_assembler_new (self->settings.reorder_window, &funcs, self);
  self->last_good = self->loss_begin = self->warned = 0;
  self->reported_overflow = 0;
  memset (&self->reported_counts, 0, sizeof self->reported_counts);
  self->silent = self->resized = FALSE;
  self->last_pts = GST_CLOCK_TIME_NONE;
  self->sender_time = PBF_PACKET_NO_TIME;
  self->warned_of_jump = FALSE;
  /* num-buffers counts frames; the base class would count lists */
  self->frames_left =
      base->num_buffers < 0 ? G_MAXUINT64 : (guint64) base->num_buffers;
  base->num_buffers_left = -1;
  GST_OBJECT_LOCK (self);
  self->width = self->height = 0;
  self->frame_duration = 0;
  self->overflow = self->reset_overflow = self->packet_overflow = 0;
  memset (&self->counts, 0, sizeof self->counts);
  memset (&self->reset_counts, 0, sizeof self->reset_counts);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_pbf_udp_src_stop (GstBaseSrc *base)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (base);

  note_losses (self, TRUE);
  gst_pbf_list_src_forget (GST_PBF_LIST_SRC (self));
  gst_clear_buffer_list (&self->list);
  g_clear_pointer (&self->assembler, pbf_assembler_free);
  close_socket (self);
  g_clear_pointer (&self->bytes, g_free);
  g_clear_pointer (&self->control, g_free);
  return TRUE;
}

/* --- object ---------------------------------------------------------------- */

static GstStructure *
make_stats (GstPbfUdpSrc *self)
{
  const PbfLinkCounts *c = &self->counts, *r = &self->reset_counts;

  return gst_structure_new ("pbfudpsrc-stats", "frames", G_TYPE_UINT64,
      c->frames - r->frames, "lost", G_TYPE_UINT64, c->lost - r->lost,
      "incomplete", G_TYPE_UINT64, c->incomplete - r->incomplete, "packets",
      G_TYPE_UINT64, c->packets - r->packets, "bytes", G_TYPE_UINT64,
      c->bytes - r->bytes, "duplicate", G_TYPE_UINT64,
      c->duplicate - r->duplicate, "late", G_TYPE_UINT64, c->late - r->late,
      "crc-errors", G_TYPE_UINT64, c->crc_errors - r->crc_errors, "rubbish",
      G_TYPE_UINT64, c->rubbish - r->rubbish, "restarts", G_TYPE_UINT64,
      c->restarts - r->restarts, "overflow", G_TYPE_UINT64,
      (guint64) (self->overflow - self->reset_overflow), "buffer-size",
      G_TYPE_UINT, self->socket_buffer_size, NULL);
}

static void
gst_pbf_udp_src_reset_stats (GstPbfUdpSrc *self)
{
  GST_OBJECT_LOCK (self);
  self->reset_counts = self->counts;
  self->reset_overflow = self->overflow;
  GST_OBJECT_UNLOCK (self);
}

static void
gst_pbf_udp_src_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstPbfUdpSrc *self = GST_PBF_UDP_SRC (object);

  if (id != PROP_STATS)
    gst_cvis_settings_get_property (object, id, value, pspec);
  GST_OBJECT_LOCK (self);
  if (id == PROP_STATS)
    g_value_take_boxed (value, make_stats (self));
  else if (g_str_equal (pspec->name, "port") && self->bound_port > 0)
    g_value_set_uint (value, self->bound_port);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_pbf_udp_src_finalize (GObject *object)
{
  gst_poll_free (GST_PBF_UDP_SRC (object)->poll);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_pbf_udp_src_class_init (GstPbfUdpSrcClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base_class = GST_BASE_SRC_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (
      gst_pbf_udp_src_debug, "pbfudpsrc", 0, "receiver of the camera link");

  object_class->finalize = gst_pbf_udp_src_finalize;
  gst_cvis_settings_bind (object_class, PROP_SETTING, settings_table,
      G_N_ELEMENTS (settings_table), G_STRUCT_OFFSET (GstPbfUdpSrc, settings),
      &defaults);
  object_class->get_property = gst_pbf_udp_src_get_property;
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Counts of frames and packets since the start or the last "
          "\"reset-stats\"",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  /**
   * GstPbfUdpSrc::reset-stats:
   *
   * Resets the counters of #GstPbfUdpSrc:stats.
   */
  g_signal_new_class_handler ("reset-stats", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_pbf_udp_src_reset_stats), NULL, NULL, NULL, G_TYPE_NONE,
      0);

  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "UDP receiver of melt-pool frames", "Source/Network",
      "Receives grey frames with machine signals from a camera or pbfudpsink",
      "the gst-cudavision authors");

  base_class->start = gst_pbf_udp_src_start;
  base_class->stop = gst_pbf_udp_src_stop;
  base_class->unlock = gst_pbf_udp_src_unlock;
  base_class->unlock_stop = gst_pbf_udp_src_unlock_stop;
  base_class->get_caps = gst_pbf_udp_src_get_caps;
  base_class->fixate = gst_pbf_udp_src_fixate;
  base_class->negotiate = gst_pbf_udp_src_negotiate;
  base_class->set_caps = gst_pbf_udp_src_set_caps;
  base_class->decide_allocation = gst_pbf_udp_src_decide_allocation;
  base_class->query = gst_pbf_udp_src_query;
  base_class->create = gst_pbf_udp_src_create;
}

static void
gst_pbf_udp_src_init (GstPbfUdpSrc *self)
{
  gst_base_src_set_format (GST_BASE_SRC (self), GST_FORMAT_TIME);
  gst_base_src_set_live (GST_BASE_SRC (self), TRUE);
  gst_cvis_settings_init (self);
  self->fd = -1;
  /* for unlock(), which may be called in every state */
  self->poll = gst_poll_new (TRUE);
  gst_poll_fd_init (&self->poll_fd);
  gst_video_info_init (&self->info);
}
