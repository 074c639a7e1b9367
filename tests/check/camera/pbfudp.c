/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* pbfudpsink and pbfudpsrc over loopback: the same frames and signals at
 * both ends; losses, repetitions, damage and invalid packets from a test
 * sender. unit-pbfpacket tests the receiver with packets in every order. */
#include <arpa/inet.h>
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>
#include <string.h>
#include <unistd.h>
#include "tests/check/common/busmessages.h"
#include "tests/check/meltpool/modelfile.h"
#include "cuda/camera/packet.h"

#define SIDE 40

/* --- a receiver and a sender ----------------------------------------------- */

typedef struct {
  GstHarness *h;
  GstElement *src;
  GstBus *bus;
  gint fd; /* connected to the receiver */
} Link;

static guint
port_of (GstElement *src)
{
  guint port;

  g_object_get (src, "port", &port, NULL);
  fail_unless (port > 0);
  return port;
}

/* A pbfudpsrc at a free port, with these properties. */
static void
link_begin (Link *link, const gchar *first, ...)
{
  struct sockaddr_in address = { .sin_family = AF_INET,
    .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  va_list rest;

  link->src = gst_element_factory_make ("pbfudpsrc", NULL);
  g_object_set (link->src, "port", 0, "address", "127.0.0.1", NULL);
  va_start (rest, first);
  g_object_set_valist (G_OBJECT (link->src), first, rest);
  va_end (rest);
  link->bus = gst_bus_new ();
  gst_element_set_bus (link->src, link->bus);
  link->h = gst_harness_new_with_element (link->src, NULL, "src");
  gst_harness_use_systemclock (link->h);
  gst_harness_play (link->h);
  address.sin_port = htons (port_of (link->src));
  link->fd = socket (AF_INET, SOCK_DGRAM, 0);
  fail_unless (
      connect (link->fd, (struct sockaddr *) &address, sizeof address) == 0);
}

static void
link_end (Link *link)
{
  close (link->fd);
  gst_harness_teardown (link->h);
  gst_element_set_bus (link->src, NULL);
  gst_object_unref (link->src);
  gst_object_unref (link->bus);
}

static guint64
count (Link *link, const gchar *field)
{
  GstStructure *stats;
  guint64 n;

  g_object_get (link->src, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, field, &n), "no %s", field);
  gst_structure_free (stats);
  return n;
}

static void
send_bytes (Link *link, gconstpointer bytes, gsize size)
{
  fail_unless_equals_int (send (link->fd, bytes, size, 0), (gint) size);
}

/* A frame with pixels of one value in one packet. @record: (nullable): 64
 * bytes */
static GBytes *
make_packet_with (guint32 counter, guint side, const guint8 *record)
{
  PbfPacket packet = { .frame_counter = counter,
    .stream = 1,
    .width = side,
    .height = side,
    .fragment_size = side * side,
    .t_ns = counter * G_GUINT64_CONSTANT (50000) };
  guint8 *frame = g_malloc (side * side), *bytes;
  gsize size;

  packet.signal = record;
  memset (frame, counter & 0xff, side * side);
  size = pbf_packet_bytes (&packet);
  bytes = g_malloc (size);
  pbf_packet_write (&packet, frame, side, bytes);
  g_free (frame);
  return g_bytes_new_take (bytes, size);
}

static GBytes *
make_packet (guint32 counter, guint side, gboolean with_signal)
{
  CvisPbfSignal signal = { .frame_counter = counter };
  guint8 record[64];

  pbf_signal_seal (&signal);
  pbf_signal_write (&signal, record);
  return make_packet_with (counter, side, with_signal ? record : NULL);
}

static void
send_frame_of (Link *link, guint32 counter, guint side, gboolean with_signal)
{
  GBytes *bytes = make_packet (counter, side, with_signal);

  send_bytes (link, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_bytes_unref (bytes);
}

static void
send_frame (Link *link, guint32 counter)
{
  send_frame_of (link, counter, SIDE, TRUE);
}

static GstBuffer *
pull_frame (Link *link, guint32 counter)
{
  GstBuffer *buffer = gst_harness_pull (link->h);
  GstCvisPbfSignalMeta *meta;
  GstMapInfo map;

  fail_unless (buffer != NULL, "frame %u did not come", counter);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  fail_unless_equals_int (map.data[0], counter & 0xff);
  fail_unless_equals_int (map.data[SIDE * SIDE - 1], counter & 0xff);
  gst_buffer_unmap (buffer, &map);
  meta = gst_cvis_buffer_get_pbf_signal_meta (buffer);
  if (meta != NULL) {
    fail_unless (pbf_signal_is_intact (&meta->signal));
    fail_unless_equals_int (meta->signal.frame_counter, counter);
  }
  return buffer;
}

static void
expect_frame (Link *link, guint32 counter)
{
  gst_buffer_unref (pull_frame (link, counter));
}

static gint
caps_width (Link *link)
{
  GstCaps *caps = gst_pad_get_current_caps (link->h->sinkpad);
  gint width = 0;

  gst_structure_get_int (gst_caps_get_structure (caps, 0), "width", &width);
  gst_caps_unref (caps);
  return width;
}

/* --- both elements --------------------------------------------------------- */

static void
expect_same_frame (GstBuffer *a, GstBuffer *b, const GstVideoInfo *info)
{
  GstCvisPbfSignalMeta *signal_a = gst_cvis_buffer_get_pbf_signal_meta (a);
  GstCvisPbfSignalMeta *signal_b = gst_cvis_buffer_get_pbf_signal_meta (b);
  GstVideoFrame frame_a, frame_b;

  fail_unless (signal_a != NULL && signal_b != NULL);
  fail_unless (memcmp (&signal_a->signal, &signal_b->signal, 64) == 0);
  fail_unless (gst_video_frame_map (&frame_a, info, a, GST_MAP_READ));
  fail_unless (gst_video_frame_map (&frame_b, info, b, GST_MAP_READ));
  for (gint y = 0; y < info->height; y++)
    fail_unless (memcmp ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame_a, 0)
                             + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame_a, 0),
                     (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame_b, 0)
                         + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame_b, 0),
                     info->width)
                 == 0);
  gst_video_frame_unmap (&frame_a);
  gst_video_frame_unmap (&frame_b);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (a), GST_BUFFER_DURATION (b));
}

static const struct {
  guint mtu, packets;
  const gchar *caps;
} loopbacks[] = {
  { 65535, 1, "video/x-raw,format=GRAY8,width=96,height=96,framerate=20000/1" },
  { 1500, 7, "video/x-raw,format=GRAY8,width=96,height=96,framerate=20000/1" },
  /* rows with gaps in GStreamer's memory, none on the network */
  { 1500, 2, "video/x-raw,format=GRAY8,width=50,height=42,framerate=20000/1" },
};

/* Frame by frame, so that the socket's buffer never overflows. */
GST_START_TEST (test_same_frames)
{
  enum { FRAMES = 300 };
  GstHarness *camera = gst_harness_new ("pbftestsrc"), *sink;
  GstElement *element = gst_element_factory_make ("pbfudpsink", NULL);
  GstCaps *caps = gst_caps_from_string (loopbacks[__i__].caps);
  GstStructure *stats;
  GstVideoInfo info;
  guint64 n;
  Link link;

  fail_unless (gst_video_info_from_caps (&info, caps));
  link_begin (&link, "timestamps", 2, NULL);
  g_object_set (
      element, "port", port_of (link.src), "mtu", loopbacks[__i__].mtu, NULL);
  sink = gst_harness_new_with_element (element, "sink", NULL);
  gst_harness_set_src_caps (sink, gst_caps_ref (caps));
  gst_harness_set_sink_caps (camera, caps);
  g_object_set (camera->element, "num-buffers", FRAMES, NULL);
  gst_harness_play (camera);
  for (guint i = 0; i < FRAMES; i++) {
    GstBuffer *sent = gst_harness_pull (camera), *got;

    fail_unless_equals_int (
        gst_harness_push (sink, gst_buffer_ref (sent)), GST_FLOW_OK);
    got = gst_harness_pull (link.h);
    fail_unless (got != NULL);
    expect_same_frame (sent, got, &info);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (got), i);
    gst_buffer_unref (sent);
    gst_buffer_unref (got);
  }
  g_object_get (element, "sent", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "packets", &n));
  fail_unless_equals_uint64 (n, FRAMES * loopbacks[__i__].packets);
  gst_structure_free (stats);
  fail_unless_equals_uint64 (count (&link, "packets"), n);
  fail_unless_equals_uint64 (count (&link, "frames"), FRAMES);
  fail_unless_equals_uint64 (count (&link, "lost"), 0);
  gst_harness_teardown (camera);
  gst_harness_teardown (sink);
  gst_object_unref (element);
  link_end (&link);
}
GST_END_TEST;

/* Two receivers of one multicast group, on the loopback interface. */
GST_START_TEST (test_multicast)
{
  GstElement *element = gst_element_factory_make ("pbfudpsink", NULL);
  GstHarness *receivers[2], *sink;
  guint port = 0;

  for (guint i = 0; i < 2; i++) {
    GstElement *src = gst_element_factory_make ("pbfudpsrc", NULL);

    g_object_set (src, "address", "239.255.77.1", "multicast-iface", "lo",
        "port", port, NULL);
    receivers[i] = gst_harness_new_with_element (src, NULL, "src");
    gst_harness_play (receivers[i]);
    port = port_of (src);
    gst_object_unref (src);
  }
  g_object_set (element, "host", "239.255.77.1", "multicast-iface", "lo",
      "port", port, NULL);
  sink = gst_harness_new_with_element (element, "sink", NULL);
  gst_harness_set_src_caps_str (
      sink, "video/x-raw,format=GRAY8,width=40,height=40,framerate=0/1");
  for (guint i = 0; i < 5; i++) {
    GstBuffer *sent = gst_harness_create_buffer (sink, SIDE * SIDE);

    gst_buffer_memset (sent, 0, i, -1);
    fail_unless_equals_int (gst_harness_push (sink, sent), GST_FLOW_OK);
    for (guint k = 0; k < 2; k++) {
      GstBuffer *got = gst_harness_pull (receivers[k]);
      guint8 value = 99;

      fail_unless (got != NULL);
      gst_buffer_extract (got, SIDE * SIDE - 1, &value, 1);
      fail_unless_equals_int (value, i);
      gst_buffer_unref (got);
    }
  }
  gst_harness_teardown (sink);
  gst_harness_teardown (receivers[0]);
  gst_harness_teardown (receivers[1]);
  gst_object_unref (element);
}
GST_END_TEST;

/* --- a network with all faults at once ----------------------------------- */

typedef struct {
  GRand *rand;
  GPtrArray *packets; /* in transit: GBytes */
  guint64 sent;
} Network;

/* Adds fragments of 400 bytes of a frame of one value; the network loses,
 * damages and repeats some. Returns: whether the frame can be complete */
static gboolean
network_take (Network *network, guint32 counter, gboolean spared)
{
  guint8 frame[SIDE * SIDE];
  gboolean complete = TRUE;

  memset (frame, counter & 0xff, sizeof frame);
  for (guint at = 0; at < sizeof frame; at += 400) {
    PbfPacket packet = { .frame_counter = counter,
      .stream = 1,
      .width = SIDE,
      .height = SIDE,
      .offset = at,
      .fragment_size = 400 };
    gsize size = pbf_packet_bytes (&packet);
    guint8 *bytes = g_malloc (size);
    gint fate = spared ? 99 : g_rand_int_range (network->rand, 0, 100);

    pbf_packet_write (&packet, frame, SIDE, bytes);
    if (fate < 4)
      bytes[g_rand_int_range (network->rand, 4, size)] ^= 0x10;
    if (fate < 8)
      complete = FALSE;
    if (fate >= 4 && fate < 8) {
      g_free (bytes);
      continue;
    }
    if (fate >= 8 && fate < 16)
      g_ptr_array_add (network->packets, g_bytes_new (bytes, size));
    g_ptr_array_add (network->packets, g_bytes_new_take (bytes, size));
  }
  return complete;
}

typedef struct {
  guint place;
  gpointer packet;
} Place;

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  return (gint) ((const Place *) a)->place - (gint) ((const Place *) b)->place;
}

/* Shuffles the packets; none is overtaken by one sent more than @most later. */
static void
network_shuffle (Network *network, guint most)
{
  guint n = network->packets->len;
  Place *places = g_new (Place, n);

  for (guint i = 0; i < n; i++)
    places[i] = (Place){ i + (guint) g_rand_int_range (network->rand, 0, most),
      network->packets->pdata[i] };
  qsort (places, n, sizeof *places, compare_places);
  for (guint i = 0; i < n; i++)
    network->packets->pdata[i] = places[i].packet;
  g_free (places);
}

/* Sends with pauses and invalid packets, and waits until all of it has been
 * received, so that the socket's buffer never overflows. */
static void
network_deliver (Network *network, Link *link)
{
  for (guint i = 0; i < network->packets->len; i++) {
    GBytes *packet = g_ptr_array_index (network->packets, i);
    guint8 rubbish[100];

    send_bytes (
        link, g_bytes_get_data (packet, NULL), g_bytes_get_size (packet));
    network->sent++;
    if (g_rand_int_range (network->rand, 0, 20) == 0) {
      for (guint k = 0; k < sizeof rubbish; k++)
        rubbish[k] = (guint8) g_rand_int (network->rand);
      send_bytes (link, rubbish, sizeof rubbish);
      network->sent++;
    }
    if (g_rand_int_range (network->rand, 0, 50) == 0)
      g_usleep (
          (gulong) g_rand_int_range (network->rand, 0, 1000)); /* jitter */
  }
  g_ptr_array_set_size (network->packets, 0);
  while (count (link, "packets") < network->sent)
    g_usleep (100);
}

/* Loss, damage, repetition, reordering, invalid packets and jitter together:
 * exactly the frames with all fragments are handed out, in order, each once,
 * and all others are counted as lost. */
GST_START_TEST (test_chaos)
{
  enum { FRAMES = 1000, BATCH = 25, WINDOW = 16 };
  guint32 seed = g_random_int (), counter = 0, n_complete = 0;
  Network network = { g_rand_new_with_seed (seed),
    g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref), 0 };
  gboolean complete[FRAMES];
  Link link;

  g_test_message ("seed %u", seed);
  link_begin (
      &link, "reorder-window", WINDOW, "timeout", G_GUINT64_CONSTANT (0), NULL);
  /* the first frame comes first, because it defines the start of the count */
  complete[counter] = network_take (&network, counter, TRUE);
  network_deliver (&network, &link);
  for (counter = n_complete = 1; counter < FRAMES;) {
    for (guint i = 0; i < BATCH && counter < FRAMES; i++, counter++) {
      /* the last frames move the window past all others */
      gboolean spared = counter + WINDOW + 1 >= FRAMES;

      complete[counter] = network_take (&network, counter, spared);
      n_complete += complete[counter];
    }
    network_shuffle (&network, 20); /* 5 frames: less than the window */
    network_deliver (&network, &link);
  }
  for (guint32 i = 0; i < FRAMES; i++)
    if (complete[i])
      expect_frame (&link, i);
  fail_unless_equals_int (gst_harness_buffers_in_queue (link.h), 0);
  fail_unless_equals_uint64 (count (&link, "frames"), n_complete);
  fail_unless_equals_uint64 (count (&link, "lost"), FRAMES - n_complete);
  fail_unless (count (&link, "crc-errors") > 0);
  fail_unless (count (&link, "rubbish") > 0);
  fail_unless (count (&link, "duplicate") > 0);
  fail_unless_equals_uint64 (count (&link, "restarts"), 0);
  g_ptr_array_unref (network.packets);
  g_rand_free (network.rand);
  link_end (&link);
}
GST_END_TEST;

static gsize
resident_bytes (void)
{
  gchar *text;
  gsize pages = 0;

  fail_unless (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  sscanf (text, "%*u %" G_GSIZE_FORMAT, &pages);
  g_free (text);
  return pages * (gsize) sysconf (_SC_PAGESIZE);
}

/* Valid packets of a bad sender: frames that begin and never end, 700 MiB of
 * them, with counters that continue, jump and repeat. The memory stays that
 * of the window. */
GST_START_TEST (test_sender_that_begins_frames)
{
  enum { PACKETS = 12000, LARGE = 250 };
  static guint8 frame[LARGE * LARGE];
  gsize before;
  Link link;

  link_begin (&link, "timeout", G_GUINT64_CONSTANT (0), NULL);
  send_frame_of (&link, 0, LARGE, FALSE);
  gst_buffer_unref (gst_harness_pull (link.h));
  before = resident_bytes ();
  for (guint32 i = 1; i <= PACKETS; i++) {
    PbfPacket packet = { .frame_counter = i % 3 == 2 ? g_random_int () : i,
      .stream = i / 1000,
      .width = LARGE,
      .height = LARGE,
      .fragment_size = 256,
      .offset = 256 * (i % 7) };
    guint8 bytes[400];

    pbf_packet_write (&packet, frame, LARGE, bytes);
    send_bytes (&link, bytes, pbf_packet_bytes (&packet));
    while (i % 100 == 0 && count (&link, "packets") < i + 1)
      g_usleep (100);
  }
  fail_unless_equals_uint64 (count (&link, "frames"), 1);
  fail_unless (resident_bytes () < before + 64 * 1024 * 1024);
  link_end (&link);
}
GST_END_TEST;

/* --- the receiver ---------------------------------------------------------- */

/* Counts of a receiver that is busy while @lock is held. */
typedef struct {
  GMutex lock;
  guint longest; /* frames in a list */
  guint frames;
  GstBufferPool *pool;
  guint pool_max; /* buffers of the pool; 0: no limit */
  guint from_pool;
} Busy;

/* Answers the ALLOCATION query with the pool of @data, a Busy. */
static GstPadProbeReturn
propose_pool (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  const Busy *busy = data;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool (
      query, busy->pool, SIDE * SIDE, 0, busy->pool_max);
  return GST_PAD_PROBE_HANDLED;
}

static void
count_frame (Busy *busy, GstBuffer *frame)
{
  busy->frames++;
  busy->from_pool += frame->pool == busy->pool;
}

static GstPadProbeReturn
receive_when_free (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Busy *busy = data;

  g_mutex_lock (&busy->lock);
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST (info);

    busy->longest = MAX (busy->longest, gst_buffer_list_length (list));
    for (guint i = 0; i < gst_buffer_list_length (list); i++)
      count_frame (busy, gst_buffer_list_get (list, i));
  } else {
    count_frame (busy, GST_PAD_PROBE_INFO_BUFFER (info));
  }
  g_mutex_unlock (&busy->lock);
  return GST_PAD_PROBE_OK;
}

static const struct {
  guint pool_max, frames;
} pools[] = {
  { 0, 9 },
  /* the least for the default window, and more packets than it has buffers */
  { 32, 60 },
};

/* Frames that arrive while downstream is busy are pushed as lists, and all lie in the
 * memory of the proposed pool. */
GST_START_TEST (test_lists_from_the_pool)
{
  const guint frames = pools[__i__].frames;
  Busy busy = { .pool = gst_buffer_pool_new (),
    .pool_max = pools[__i__].pool_max };
  GstPad *pad;
  Link link;

  g_mutex_init (&busy.lock);
  link_begin (&link, "timeout", G_GUINT64_CONSTANT (0), NULL);
  pad = gst_element_get_static_pad (link.src, "src");
  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, propose_pool, &busy, NULL);
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
      receive_when_free, &busy, NULL);
  g_mutex_lock (&busy.lock);
  for (guint32 i = 0; i < frames; i++)
    send_frame (&link, i);
  g_mutex_unlock (&busy.lock);
  for (guint32 i = 0; i < frames; i++)
    expect_frame (&link, i);
  g_mutex_lock (&busy.lock);
  fail_unless_equals_int (busy.frames, frames);
  fail_unless_equals_int (busy.from_pool, frames);
  /* after the push during which downstream was busy */
  fail_unless (busy.longest >= 4, "lists of up to %u", busy.longest);
  g_mutex_unlock (&busy.lock);
  link_end (&link);
  gst_object_unref (pad);
  gst_object_unref (busy.pool);
  g_mutex_clear (&busy.lock);
}
GST_END_TEST;

static const gchar *const counters[] = { "frames", "lost", "incomplete",
  "packets", "bytes", "duplicate", "late", "crc-errors", "rubbish", "restarts",
  "overflow" };

GST_START_TEST (test_bad_network)
{
  GBytes *bytes;
  guint8 *copy;
  gsize size;
  Link link;

  link_begin (
      &link, "reorder-window", 2, "timeout", G_GUINT64_CONSTANT (0), NULL);
  send_frame (&link, 10);
  expect_frame (&link, 10);
  send_frame (&link, 12); /* out of order */
  send_frame (&link, 11);
  expect_frame (&link, 11);
  expect_frame (&link, 12);
  send_frame (&link, 12); /* repeated */
  send_bytes (&link, "rubbish", 7);
  send_bytes (&link, "", 0);
  bytes = make_packet (13, SIDE, TRUE);
  copy = g_memdup2 (
      g_bytes_get_data (bytes, NULL), size = g_bytes_get_size (bytes));
  copy[size / 2] ^= 1; /* damaged, so that 13 is lost */
  send_bytes (&link, copy, size);
  g_free (copy);
  g_bytes_unref (bytes);
  send_frame (&link, 14);
  send_frame (&link, 15);
  gst_buffer_unref (pull_frame (&link, 14));
  expect_frame (&link, 15);
  send_frame (&link, 13); /* late */
  send_frame (&link, 16);
  expect_frame (&link, 16);
  fail_unless_equals_uint64 (count (&link, "frames"), 6);
  fail_unless_equals_uint64 (count (&link, "lost"), 1);
  fail_unless_equals_uint64 (count (&link, "incomplete"), 0);
  fail_unless_equals_uint64 (count (&link, "duplicate"), 1);
  fail_unless_equals_uint64 (count (&link, "late"), 1);
  fail_unless_equals_uint64 (count (&link, "crc-errors"), 1);
  fail_unless_equals_uint64 (count (&link, "rubbish"), 2);
  fail_unless_equals_uint64 (count (&link, "packets"), 11);
  fail_unless_equals_uint64 (count (&link, "restarts"), 0);
  fail_unless_equals_uint64 (count (&link, "overflow"), 0);
  fail_unless_equals_int (gst_harness_buffers_in_queue (link.h), 0);
  g_signal_emit_by_name (link.src, "reset-stats");
  for (guint i = 0; i < G_N_ELEMENTS (counters); i++)
    fail_unless_equals_uint64 (count (&link, counters[i]), 0);
  send_frame (&link, 17);
  expect_frame (&link, 17);
  send_frame (&link, 17);
  send_frame (&link, 18);
  expect_frame (&link, 18);
  fail_unless_equals_uint64 (count (&link, "frames"), 2);
  fail_unless_equals_uint64 (count (&link, "packets"), 3);
  fail_unless_equals_uint64 (count (&link, "duplicate"), 1);
  link_end (&link);
}
GST_END_TEST;

GST_START_TEST (test_lost_frames_are_flagged)
{
  GstBuffer *buffer;
  Link link;

  link_begin (&link, "reorder-window", 1, NULL);
  send_frame (&link, 0);
  expect_frame (&link, 0);
  send_frame (&link, 5);
  buffer = pull_frame (&link, 5);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), 5);
  gst_buffer_unref (buffer);
  send_frame (&link, 6);
  buffer = pull_frame (&link, 6);
  fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
  gst_buffer_unref (buffer);
  fail_unless_equals_uint64 (count (&link, "lost"), 4);
  link_end (&link);
}
GST_END_TEST;

/* Buffers of a pool keep their metas: frames without a record must not have
 * another frame's. */
GST_START_TEST (test_frames_without_signals)
{
  Link link;

  link_begin (&link, "timeout", G_GUINT64_CONSTANT (0), NULL);
  for (guint32 i = 0; i < 100; i++) {
    GstBuffer *buffer;

    send_frame_of (&link, i, SIDE, i % 3 == 0);
    buffer = pull_frame (&link, i);
    fail_unless (
        (gst_cvis_buffer_get_pbf_signal_meta (buffer) != NULL) == (i % 3 == 0));
    gst_buffer_unref (buffer);
  }
  link_end (&link);
}
GST_END_TEST;

/* Ten frames with a user-defined vector: word 3 is the layer, word 9 the
 * power. */
GST_START_TEST (test_signal_layout)
{
  Link link;

  link_begin (&link, "signal-layout", "layer=3, power_mW=9", NULL);
  for (guint32 i = 0; i < 10; i++) {
    guint32 vector[16] = {
      [3] = GUINT32_TO_LE (700 + i), [9] = GUINT32_TO_LE (i % 2 * 1000)
    };
    GBytes *packet = make_packet_with (i, SIDE, (const guint8 *) vector);
    GstCvisPbfSignalMeta *meta;
    GstBuffer *buffer;

    send_bytes (
        &link, g_bytes_get_data (packet, NULL), g_bytes_get_size (packet));
    g_bytes_unref (packet);
    buffer = pull_frame (&link, i); /* with this counter, and valid */
    meta = gst_cvis_buffer_get_pbf_signal_meta (buffer);
    fail_unless_equals_int (meta->signal.layer, 700 + i);
    fail_unless_equals_int (meta->signal.power_mW, i % 2 * 1000);
    fail_unless_equals_int (
        meta->signal.flags, i % 2 ? CVIS_PBF_SIGNAL_LASER_ON : 0);
    fail_unless_equals_int (meta->signal.width, SIDE);
    fail_unless_equals_uint64 (meta->signal.t_ns, i * 50000);
    gst_buffer_unref (buffer);
  }
  link_end (&link);
}
GST_END_TEST;

GST_START_TEST (test_silence)
{
  GstMessage *message;
  guint64 timeout, frames;
  Link link;

  link_begin (&link, "timeout", 20 * GST_MSECOND, NULL);
  for (guint32 i = 0; i < 3; i++) {
    const GstStructure *s;

    send_frame (&link, i * 10);
    expect_frame (&link, i * 10); /* although the nine before it are missing */
    do { /* a busy machine may be silent before the first frame, too */
      message = gst_bus_timed_pop_filtered (
          link.bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT);
      s = gst_message_get_structure (message);
      if (gst_structure_has_name (s, "pbfudpsrc-loss")) {
        frames = 0;
        gst_message_unref (message);
        continue;
      }
      fail_unless (gst_structure_has_name (s, "pbfudpsrc-timeout"));
      fail_unless (gst_structure_get_uint64 (s, "timeout", &timeout));
      fail_unless (gst_structure_get_uint64 (s, "frames", &frames));
      gst_message_unref (message);
    } while (frames == 0);
    fail_unless_equals_uint64 (timeout, 20 * GST_MSECOND);
    fail_unless_equals_uint64 (frames, i + 1);
  }
  fail_unless_equals_uint64 (count (&link, "lost"), 18);
  send_frame (&link, 3); /* the camera was restarted */
  expect_frame (&link, 3);
  fail_unless_equals_uint64 (count (&link, "restarts"), 1);
  link_end (&link);
}
GST_END_TEST;

/* Losses post a message and a warning with counts and the cause. */
GST_START_TEST (test_losses_are_reported)
{
  const GstStructure *s;
  GstMessage *message;
  guint64 lost;
  gchar *text;
  Link link;

  /* in the network: the socket's buffer has room */
  link_begin (&link, "timeout", 50 * GST_MSECOND, NULL);
  send_frame (&link, 0);
  expect_frame (&link, 0);
  send_frame (&link, 5);
  send_bytes (&link, "not a packet", 12);
  expect_frame (&link, 5);
  do {
    message =
        gst_bus_timed_pop_filtered (link.bus, GST_SECOND, GST_MESSAGE_ELEMENT);
    fail_unless (message != NULL);
    s = gst_message_get_structure (message);
    lost = 0;
    if (gst_structure_has_name (s, "pbfudpsrc-loss"))
      fail_unless (gst_structure_get_uint64 (s, "lost", &lost));
    gst_message_unref (message);
  } while (lost == 0);
  fail_unless_equals_uint64 (lost, 4);
  text = bus_pop_text (link.bus, GST_MESSAGE_WARNING);
  fail_unless (strstr (text,
                   "4 of 6 frames were lost, 0 of these were received in part.")
                   != NULL,
      text);
  fail_unless (strstr (text, "did not overflow") != NULL, text);
  fail_unless (
      strstr (text, "1 packets were not those of a camera link") != NULL, text);
  g_free (text);
  link_end (&link);
}
GST_END_TEST;

static GstPadProbeReturn
stop_in_pad (GstPad *pad, GstPadProbeInfo *info, gpointer gate)
{
  g_mutex_lock (gate);
  g_mutex_unlock (gate);
  return GST_PAD_PROBE_OK;
}

/* A buffer that is too small is named as the cause. */
GST_START_TEST (test_overflow_is_reported)
{
  GMutex gate;
  GstPad *pad;
  gchar *text;
  Link link;

  g_mutex_init (&gate);
  link_begin (&link, "timeout", 200 * GST_MSECOND, "buffer-size", 20000, NULL);
  send_frame (&link, 0);
  expect_frame (&link, 0);
  pad = gst_element_get_static_pad (link.src, "src");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, stop_in_pad,
      &gate, NULL);
  gst_object_unref (pad);
  g_mutex_lock (&gate);
  for (guint32 i = 1; i < 400; i++)
    send_frame (&link, i);
  g_mutex_unlock (&gate);
  g_usleep (100000);
  send_frame (&link, 400);
  text = bus_pop_text (link.bus, GST_MESSAGE_WARNING);
  fail_unless (
      strstr (text, "The socket's buffer of 20000 bytes was full for") != NULL,
      text);
  fail_unless (strstr (text, "net.core.rmem_max") != NULL, text);
  g_free (text);
  link_end (&link);
  g_mutex_clear (&gate);
}
GST_END_TEST;

GST_START_TEST (test_another_size)
{
  Link link;
  GstBuffer *buffer;

  link_begin (&link, "timeout", G_GUINT64_CONSTANT (0), NULL);
  send_frame (&link, 0);
  expect_frame (&link, 0);
  fail_unless_equals_int (caps_width (&link), SIDE);
  /* both sizes arrive in one batch */
  send_frame (&link, 1);
  send_frame_of (&link, 2, 64, TRUE);
  send_frame_of (&link, 3, 64, TRUE);
  expect_frame (&link, 1);
  for (guint i = 2; i < 4; i++) {
    buffer = gst_harness_pull (link.h);
    fail_unless_equals_int (gst_buffer_get_size (buffer), 64 * 64);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (caps_width (&link), 64);
  link_end (&link);
}
GST_END_TEST;

/* The base classes post a general error after it. */
static void
expect_first_error (GstBus *bus, const gchar *words)
{
  GstMessage *message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR);
  GError *error = NULL;

  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, words) != NULL, "\"%s\" lacks \"%s\"",
      error->message, words);
  g_error_free (error);
  gst_message_unref (message);
}

GST_START_TEST (test_refused_size)
{
  GstElement *pipeline =
      gst_parse_launch ("pbfudpsrc name=s port=0 address=127.0.0.1 ! "
                        "video/x-raw,width=96,height=96 ! fakesink async=false",
          NULL);
  Link link;
  struct sockaddr_in address = { .sin_family = AF_INET,
    .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };

  link.src = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  link.bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  address.sin_port = htons (port_of (link.src));
  link.fd = socket (AF_INET, SOCK_DGRAM, 0);
  fail_unless (
      connect (link.fd, (struct sockaddr *) &address, sizeof address) == 0);
  send_frame (&link, 0);
  expect_first_error (link.bus, "the camera sends GRAY8 of 40x40 pixels");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  close (link.fd);
  gst_object_unref (link.src);
  gst_object_unref (link.bus);
  gst_object_unref (pipeline);
}
GST_END_TEST;

GST_START_TEST (test_timestamps)
{
  GstClockTime last = 0;
  Link link;

  link_begin (&link, "timestamps", __i__, NULL);
  for (guint32 i = 0; i < 50; i++) {
    GstBuffer *buffer;

    send_frame (&link, i);
    buffer = pull_frame (&link, i);
    fail_unless (GST_BUFFER_PTS_IS_VALID (buffer));
    fail_unless (GST_BUFFER_PTS (buffer) >= last);
    if (__i__ == 2 && i > 0)
      fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), last + 50000);
    last = GST_BUFFER_PTS (buffer);
    gst_buffer_unref (buffer);
  }
  link_end (&link);
}
GST_END_TEST;

/* The sender's clock is set to another time while the camera runs: timestamps go on. */
GST_START_TEST (test_sender_clock_jumps)
{
  static const guint64 times[] = { 1000, 2000, 50 * 365 * 86400ull * GST_SECOND,
    50 * 365 * 86400ull * GST_SECOND + 1000, 7000, 8000 };
  guint8 frame[SIDE * SIDE] = { 0 };
  GstClockTime last = 0, first = 0;
  guint64 before = 0;
  Link link;

  link_begin (&link, "timestamps", 2, NULL);
  for (guint32 i = 0; i < G_N_ELEMENTS (times); i++) {
    PbfPacket packet = { .frame_counter = i,
      .stream = 1,
      .width = SIDE,
      .height = SIDE,
      .fragment_size = SIDE * SIDE,
      .t_ns = times[i] };
    guint8 bytes[SIDE * SIDE + PBF_PACKET_OVERHEAD];
    GstBuffer *buffer;

    pbf_packet_write (&packet, frame, SIDE, bytes);
    send_bytes (&link, bytes, pbf_packet_bytes (&packet));
    buffer = gst_harness_pull (link.h);
    fail_unless (buffer != NULL);
    if (i % 2 == 1) /* the step is the sender's */
      fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer) - before, 1000);
    before = GST_BUFFER_PTS (buffer);
    if (i == 0) /* the clock's time: that since the machine started */
      first = before;
    fail_unless (before >= last && before < first + 3600 * GST_SECOND);
    last = before;
    gst_buffer_unref (buffer);
  }
  bus_expect (
      link.bus, GST_MESSAGE_WARNING, "The sender's clock jumped by 1576800000");
  link_end (&link);
}
GST_END_TEST;


/* A packet that waits in the socket has the kernel's time, or the one at which
 * the element received it. */
GST_START_TEST (test_kernel_timestamps)
{
  const gboolean by_kernel = __i__ == 1;
  GstClockTime sent, released, pts;
  Busy busy = { 0 };
  GstBuffer *buffer;
  GstPad *pad;
  Link link;

  g_mutex_init (&busy.lock);
  link_begin (&link, "timestamps", __i__, NULL);
  pad = gst_element_get_static_pad (link.src, "src");
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
      receive_when_free, &busy, NULL);
  g_mutex_lock (&busy.lock);
  send_frame (&link, 0);
  while (count (&link, "frames") == 0)
    g_usleep (100);
  send_frame (&link, 1); /* received after frame 0 has been pushed */
  sent = gst_element_get_current_running_time (link.src);
  g_usleep (20000);
  released = gst_element_get_current_running_time (link.src);
  g_mutex_unlock (&busy.lock);
  expect_frame (&link, 0);
  buffer = pull_frame (&link, 1);
  pts = GST_BUFFER_PTS (buffer);
  gst_buffer_unref (buffer);
  if (by_kernel)
    fail_unless (pts < sent + 10 * GST_MSECOND);
  else
    fail_unless (pts >= released);
  link_end (&link);
  gst_object_unref (pad);
  g_mutex_clear (&busy.lock);
}
GST_END_TEST;

GST_START_TEST (test_num_buffers)
{
  Link link;

  link_begin (&link, "num-buffers", 3, NULL);
  for (guint32 i = 0; i < 5; i++)
    send_frame (&link, i);
  for (guint32 i = 0; i < 3; i++)
    expect_frame (&link, i);
  while (TRUE) {
    GstEvent *event = gst_harness_pull_event (link.h);
    gboolean eos = GST_EVENT_TYPE (event) == GST_EVENT_EOS;

    gst_event_unref (event);
    if (eos)
      break;
  }
  fail_unless_equals_int (gst_harness_buffers_in_queue (link.h), 0);
  link_end (&link);
}
GST_END_TEST;

GST_START_TEST (test_latency)
{
  GstCaps *caps = gst_caps_from_string ("video/x-raw,framerate=1000/1");
  Link link;

  link_begin (&link, "reorder-window", 5, NULL);
  send_frame (&link, 0);
  expect_frame (&link, 0);
  fail_unless_equals_uint64 (gst_harness_query_latency (link.h), 0);
  gst_harness_set_sink_caps (link.h, caps);
  gst_pad_push_event (link.h->sinkpad, gst_event_new_reconfigure ());
  send_frame (&link, 1);
  expect_frame (&link, 1);
  send_frame (&link, 2);
  expect_frame (&link, 2);
  fail_unless_equals_uint64 (
      gst_harness_query_latency (link.h), 5 * GST_MSECOND);
  link_end (&link);
}
GST_END_TEST;

/* While it waits for packets, and while it is paused. */
GST_START_TEST (test_states)
{
  GstElement *src = gst_element_factory_make ("pbfudpsrc", NULL);
  GstHarness *h;

  g_object_set (src, "port", 0, NULL);
  h = gst_harness_new_with_element (src, NULL, "src");
  for (guint i = 0; i < 30; i++) {
    gst_element_set_state (src, GST_STATE_PLAYING);
    gst_element_set_state (src, GST_STATE_PAUSED);
    gst_element_set_state (src, GST_STATE_PLAYING);
    fail_unless_equals_int (
        gst_element_set_state (src, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
  gst_harness_teardown (h);
  gst_object_unref (src);
}
GST_END_TEST;

static void
expect_no_start (const gchar *line, const gchar *words)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);

  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  expect_first_error (bus, words);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_refused_settings)
{
  gchar *line;
  Link link;

  expect_no_start ("pbfudpsrc address=\"\" port=0 ! fakesink",
      "Cannot receive at \"\", port 0");
  expect_no_start ("pbfudpsrc signal-layout=lazer=1 port=0 ! fakesink",
      "Invalid setting: signal-layout: no field \"lazer\"");
  expect_no_start ("pbfudpsrc address=239.1.2.3 multicast-iface=none0 port=0 ! "
                   "fakesink",
      "no network interface \"none0\"");
  expect_no_start ("fakesrc ! pbfudpsink host=239.1.2.3 multicast-iface=none0",
      "no network interface \"none0\"");
  expect_no_start ("pbfudpsrc multicast-iface=none0 port=0 ! fakesink",
      "there is no network interface \"none0\". Set multicast-iface to one of "
      "this machine: ");
  expect_no_start ("pbfudpsrc address=192.0.2.1 port=0 ! fakesink",
      "Cannot assign requested address. Set address to one of this machine");
  /* no name has two dots in a row: refused without a network lookup */
  expect_no_start ("pbfudpsrc address=bad..host port=0 ! fakesink",
      "Cannot receive at \"bad..host\", port 0: the host was not found (");
  expect_no_start ("fakesrc ! pbfudpsink host=bad..host",
      "Cannot send to \"bad..host\", port 5500: the host was not found (");
  /* a name that is too long is refused without a network lookup */
  expect_no_start ("fakesrc ! cudapbfmonitor result-host=aaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ! fakesink",
      "Cannot send results to \"aaaa");
  expect_no_start ("fakesrc ! pbfudpsink host=\"\"", "Cannot send to \"\"");
  link_begin (&link, "timeout", G_GUINT64_CONSTANT (0), NULL);
  line = g_strdup_printf (
      "pbfudpsrc address=127.0.0.1 port=%u ! fakesink", port_of (link.src));
  expect_no_start (line,
      "Address already in use. Set another port, or end the program that uses "
      "it.");
  g_free (line);
  link_end (&link);
}
GST_END_TEST;

/* Without root privileges the kernel grants at most net.core.rmem_max. */
GST_START_TEST (test_capped_buffer)
{
  GstElement *src = gst_element_factory_make ("pbfudpsrc", NULL);
  GstBus *bus = gst_bus_new ();
  gchar *text;
  guint limit;

  fail_unless (
      g_file_get_contents ("/proc/sys/net/core/rmem_max", &text, NULL, NULL));
  limit = (guint) g_ascii_strtoull (text, NULL, 10);
  g_free (text);
  if (geteuid () == 0)
    fail_unless (setuid (65534) == 0);
  gst_element_set_bus (src, bus);
  if (limit < 1 << 29) { /* otherwise the property's maximum is granted */
    g_object_set (src, "port", 0, "buffer-size", limit + 1000000, NULL);
    fail_unless_equals_int (gst_element_set_state (src, GST_STATE_PAUSED),
        GST_STATE_CHANGE_NO_PREROLL);
    bus_expect (bus, GST_MESSAGE_WARNING, "sysctl -w net.core.rmem_max=");
    gst_element_set_state (src, GST_STATE_NULL);
  }
  gst_element_set_bus (src, NULL);
  gst_object_unref (bus);
  gst_object_unref (src);
}
GST_END_TEST;

/* --- the sender ------------------------------------------------------------ */

/* Broadcasting needs a permission that the socket does not have. */
GST_START_TEST (test_network_that_fails)
{
  GstElement *sink = gst_element_factory_make ("pbfudpsink", NULL);
  GstBus *bus = gst_bus_new ();
  GstStructure *stats;
  GstHarness *h;
  guint64 n;

  g_object_set (sink, "host", "255.255.255.255", NULL);
  gst_element_set_bus (sink, bus);
  h = gst_harness_new_with_element (sink, "sink", NULL);
  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=40,height=40,framerate=0/1");
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (
        gst_harness_push (h, gst_harness_create_buffer (h, 40 * 40)),
        GST_FLOW_OK);
  bus_expect (bus, GST_MESSAGE_WARNING, "Cannot send to 255.255.255.255");
  g_object_get (sink, "sent", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "failed", &n));
  fail_unless_equals_uint64 (n, 6);
  gst_structure_free (stats);
  gst_harness_teardown (h);
  gst_element_set_bus (sink, NULL);
  gst_object_unref (sink);
  gst_object_unref (bus);
}
GST_END_TEST;

GST_START_TEST (test_short_buffer)
{
  GstElement *sink = gst_element_factory_make ("pbfudpsink", NULL);
  GstBus *bus = gst_bus_new ();
  GstHarness *h;

  gst_element_set_bus (sink, bus);
  h = gst_harness_new_with_element (sink, "sink", NULL);
  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=40,height=40,framerate=0/1");
  fail_unless_equals_int (
      gst_harness_push (h, gst_harness_create_buffer (h, 1599)),
      GST_FLOW_ERROR);
  bus_expect_error (bus, "a buffer of 1599 bytes");
  gst_harness_teardown (h);
  gst_element_set_bus (sink, NULL);
  gst_object_unref (sink);
  gst_object_unref (bus);
}
GST_END_TEST;

/* --- results back to the machine ------------------------------------------- */

/* @port: (out): of a socket that receives */
static gint
open_machine (guint *port)
{
  struct sockaddr_in address = { .sin_family = AF_INET,
    .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t size = sizeof address;
  gint fd = socket (AF_INET, SOCK_DGRAM, 0);

  fail_unless (bind (fd, (struct sockaddr *) &address, size) == 0);
  fail_unless (getsockname (fd, (struct sockaddr *) &address, &size) == 0);
  *port = ntohs (address.sin_port);
  return fd;
}

static guint64
stat_of (GstStructure *stats, const gchar *name)
{
  guint64 n;

  fail_unless (gst_structure_get_uint64 (stats, name, &n));
  return n;
}

/* The records of @path arrive in order, in datagrams of @n records except
 * the last. */
static void
expect_datagrams (gint fd, const gchar *path, guint frames, guint n)
{
  guint8 datagram[8 * sizeof (CvisPbfResult)];
  gchar *bytes;
  gsize length;

  fail_unless (g_file_get_contents (path, &bytes, &length, NULL));
  fail_unless_equals_uint64 (length, frames * sizeof (CvisPbfResult));
  for (guint i = 0; i < frames; i += n) {
    gsize size = MIN (n, frames - i) * sizeof (CvisPbfResult);

    fail_unless_equals_int (
        recv (fd, datagram, sizeof datagram, 0), (gint) size);
    fail_unless (
        memcmp (datagram, bytes + i * sizeof (CvisPbfResult), size) == 0);
  }
  g_free (bytes);
}

/* Sends by result-host, and by the pad and udpsink if installed: the bytes
 * of the result pad, in order. */
static const struct {
  const gchar *settings, *branch, *way;
  guint records; /* in each datagram */
} ways[] = {
  { "result-host=127.0.0.1 result-port=%u", "", "udp", 1 },
  { "", "t. ! udpsink host=127.0.0.1 port=%u async=false", "pads", 7 },
};

GST_START_TEST (test_results)
{
  enum { FRAMES = 60 };
  const gboolean by_pad = *ways[__i__].settings == '\0';
  guint64 sent = by_pad ? 0 : FRAMES;
  GstElementFactory *udpsink = gst_element_factory_find ("udpsink");
  gchar *folder = g_dir_make_tmp ("pbfudp-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "results", NULL), *line, *format;
  GstElement *pipeline, *monitor;
  GstMessage *message;
  GstStructure *stats;
  GstBus *bus;
  guint port;
  gint fd = open_machine (&port);

  if (by_pad && udpsink == NULL)
    goto done;
  format = g_strdup_printf ("pbftestsrc num-buffers=%u regime=mixed ! "
                            "cudapbfmonitor name=m backend=cpu batch-size=7 %s "
                            "! fakesink m.src_result ! tee name=t ! "
                            "filesink location=%s async=false %s",
      FRAMES, ways[__i__].settings, path, ways[__i__].branch);
  line = g_strdup_printf (format, port);
  pipeline = gst_parse_launch (line, NULL);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  monitor = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  g_object_get (monitor, "stats", &stats, NULL);
  fail_unless_equals_uint64 (stat_of (stats, "results-sent"), sent);
  fail_unless_equals_uint64 (stat_of (stats, "results-unsent"), 0);
  fail_unless_equals_string (
      gst_structure_get_string (stats, "result-way"), ways[__i__].way);
  fail_unless (stat_of (stats, "latency-p50") > 0);
  gst_structure_free (stats);
  gst_object_unref (monitor);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  expect_datagrams (fd, path, FRAMES, ways[__i__].records);
  g_unlink (path);
  g_free (line);
  g_free (format);
done:
  if (udpsink != NULL)
    gst_object_unref (udpsink);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
  close (fd);
}
GST_END_TEST;

/* The README's pipeline: camera in, prediction out. */
GST_START_TEST (test_camera_in_prediction_out)
{
  enum { FRAMES = 40 };
  gchar *model = model_file_new ("\"feature_spec\":\"pbf40-v1\"");
  GstElement *pipeline, *src, *camera;
  guint result_port, analysed = 0;
  gint fd = open_machine (&result_port);
  gchar *line = g_strdup_printf (
      "pbfudpsrc name=link address=127.0.0.1 port=0 ! cudapbfmonitor "
      "model-location=%s result-host=127.0.0.1 result-port=%u max-latency=0 ! "
      "fakesink async=false",
      model, result_port);

  pipeline = gst_parse_launch (line, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  src = gst_bin_get_by_name (GST_BIN (pipeline), "link");
  g_free (line);
  line = g_strdup_printf (
      "pbftestsrc num-buffers=%u ! pbfudpsink sync=false port=%u mtu=65535",
      FRAMES, port_of (src));
  camera = gst_parse_launch (line, NULL);
  gst_element_set_state (camera, GST_STATE_PLAYING);
  for (guint i = 0; i < FRAMES; i++) {
    guint8 bytes[2 * sizeof (CvisPbfResult)];
    CvisPbfResult result;

    fail_unless_equals_int (
        recv (fd, bytes, sizeof bytes, 0), sizeof (CvisPbfResult));
    memcpy (&result, bytes, sizeof result);
    fail_unless_equals_int (result.magic, CVIS_PBF_RESULT_MAGIC);
    fail_unless_equals_uint64 (result.frame_index, i);
    fail_unless_equals_int (
        result.n_outputs, result.flags & CVIS_PBF_RESULT_EMPTY ? 0 : 2);
    analysed += result.n_outputs > 0;
  }
  fail_unless (analysed > 0);
  gst_element_set_state (camera, GST_STATE_NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (src);
  gst_object_unref (camera);
  gst_object_unref (pipeline);
  g_unlink (model);
  g_free (model);
  g_free (line);
  close (fd);
}
GST_END_TEST;

static Suite *
pbfudp_suite (void)
{
  Suite *s = suite_create ("pbfudp");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_same_frames, 0, G_N_ELEMENTS (loopbacks));
  tcase_add_test (tc, test_multicast);
  tcase_add_test (tc, test_chaos);
  tcase_add_test (tc, test_sender_that_begins_frames);
  tcase_add_test (tc, test_bad_network);
  tcase_add_loop_test (tc, test_lists_from_the_pool, 0, G_N_ELEMENTS (pools));
  tcase_add_test (tc, test_lost_frames_are_flagged);
  tcase_add_test (tc, test_frames_without_signals);
  tcase_add_test (tc, test_signal_layout);
  tcase_add_test (tc, test_silence);
  tcase_add_test (tc, test_losses_are_reported);
  tcase_add_test (tc, test_overflow_is_reported);
  tcase_add_test (tc, test_another_size);
  tcase_add_test (tc, test_refused_size);
  if (g_getenv ("CK_FORK") == NULL) /* changes the user of its process */
    tcase_add_test (tc, test_capped_buffer);
  tcase_add_loop_test (tc, test_timestamps, 0, 3);
  tcase_add_loop_test (tc, test_kernel_timestamps, 0, 2);
  tcase_add_test (tc, test_sender_clock_jumps);
  tcase_add_test (tc, test_num_buffers);
  tcase_add_test (tc, test_latency);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_refused_settings);
  tcase_add_test (tc, test_network_that_fails);
  tcase_add_test (tc, test_short_buffer);
  tcase_add_loop_test (tc, test_results, 0, G_N_ELEMENTS (ways));
  tcase_add_test (tc, test_camera_in_prediction_out);
  return s;
}

GST_CHECK_MAIN (pbfudp);
