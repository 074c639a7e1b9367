/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* motionvectorenc: tables, rasters and flow files of the selected reference;
 * one error for anything that is not a packet. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <string.h>

#include "tests/check/common/busmessages.h"
#include "motionpackets.h"

#define HEADER                                                                 \
  "frame,block_x,block_y,mv_x_qpel,mv_y_qpel,sad,zero_sad,second_sad,intra,"   \
  "flags,confidence\n"
/* of 24 x 16 in blocks of 16, distance -1 */
#define ROWS_7                                                                 \
  "7,0,0,0,0,0,0,0,0,2,-1\n"                                                   \
  "7,16,0,4,-1,10,20,30,40,1,-1\n"
#define ROWS_7_NEXT                                                            \
  "7,0,0,1,0,1,0,0,0,2,-1\n"                                                   \
  "7,16,0,5,-1,11,20,30,40,1,-1\n"

static GstBuffer *
packet_of (guint64 frame, guint n_fields)
{
  CvisMotionPacket *packet = motion_packet_new (24, 16, 16, n_fields);
  GstBuffer *buffer;

  packet->frame = frame;
  buffer = motion_packet_buffer (packet);
  GST_BUFFER_PTS (buffer) = frame * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  g_free (packet);
  return buffer;
}

static GstHarness *
harness (const gchar *properties)
{
  gchar *line = g_strdup_printf ("motionvectorenc %s", properties);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (
      h, GST_CVIS_MOTION_VECTORS_CAPS ", framerate = (fraction) 25/1");
  g_free (line);
  return h;
}

static void
assert_bytes (GstHarness *h, gconstpointer expected, gsize size)
{
  GstBuffer *buffer = gst_harness_try_pull (h);

  fail_unless (buffer != NULL, "nothing came out");
  gst_check_buffer_data (buffer, expected, size);
  fail_unless_equals_int (gst_buffer_get_size (buffer), size);
  gst_buffer_unref (buffer);
}

static void
assert_text (GstHarness *h, const gchar *expected)
{
  assert_bytes (h, expected, strlen (expected));
}

static void
assert_caps (GstHarness *h, const gchar *expected)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  GstCaps *wanted = gst_caps_from_string (expected);

  fail_unless (caps != NULL && gst_caps_is_equal (caps, wanted),
      "caps are %" GST_PTR_FORMAT, caps);
  gst_caps_unref (wanted);
  gst_caps_unref (caps);
}

static GstBus *
give_bus (GstHarness *h)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  return bus;
}

static void
finish (GstHarness *h, GstBus *bus)
{
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_START_TEST (test_csv)
{
  GstHarness *h = harness ("");
  GstBuffer *buffer;

  /* the first frame has no reference */
  gst_harness_push (h, packet_of (6, 0));
  assert_text (h, HEADER);
  gst_harness_push (h, packet_of (7, 1));
  assert_text (h, ROWS_7);
  assert_caps (h, "text/csv, framerate = (fraction) 25/1");
  gst_harness_push (h, packet_of (8, 0));
  fail_unless (gst_harness_try_pull (h) == NULL);

  gst_harness_push (h, packet_of (9, 1));
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 360 * GST_MSECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 40 * GST_MSECOND);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_distance)
{
  GstHarness *h = harness ("distance=1");
  GstBus *bus = give_bus (h);

  gst_harness_push (h, packet_of (7, 3));
  assert_text (h, HEADER ROWS_7_NEXT);
  gst_harness_push (h, packet_of (8, 1)); /* the last frame has no next one */
  fail_unless (gst_harness_try_pull (h) == NULL);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  finish (h, bus);
}
GST_END_TEST;

GST_START_TEST (test_absent_distance)
{
  GstHarness *h = harness ("distance=-3 format=bin");
  GstBus *bus = give_bus (h);

  gst_harness_push (h, packet_of (7, 3));
  gst_harness_push (h, packet_of (8, 3));
  fail_unless (gst_harness_try_pull (h) == NULL);
  gst_harness_push_event (h, gst_event_new_eos ());
  bus_expect (bus, GST_MESSAGE_WARNING,
      "None of 2 frames has motion of distance -3: the stream has -2, "
      "-1, 1.");
  finish (h, bus);
}
GST_END_TEST;

GST_START_TEST (test_bad_distance)
{
  GstElement *element = gst_element_factory_make ("motionvectorenc", NULL);
  GstBus *bus = gst_bus_new ();

  g_object_set (element, "distance", 0, NULL);
  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  bus_expect (bus, GST_MESSAGE_ERROR, "Invalid settings: distance is 0");
  g_object_set (element, "distance", 4, NULL);
  fail_unless (gst_element_set_state (element, GST_STATE_PAUSED)
               != GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}
GST_END_TEST;

GST_START_TEST (test_bin)
{
  GstHarness *h = harness ("format=bin");
  const CvisMotionVector vectors[2] = { { 0, 0, 0 }, { 4, -1, 1000 } };

  gst_harness_push (h, packet_of (6, 0));
  fail_unless (gst_harness_try_pull (h) == NULL);
  gst_harness_push (h, packet_of (7, 2));
  assert_bytes (h, vectors, sizeof (vectors));
  assert_caps (h, "application/x-motion-vector-raster, width=24, height=16, "
                  "block-size=16, columns=2, rows=1, framerate=(fraction)25/1");
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_flo)
{
  GstHarness *h = harness ("format=flo dense=false");
  const struct {
    gchar magic[4];
    gint32 width, height;
    gfloat pixels[4];
  } blocks = { { 'P', 'I', 'E', 'H' }, 2, 1, { 0, 0, 1, -0.25f } };
  struct {
    gchar magic[4];
    gint32 width, height;
    gfloat pixels[16][24][2];
  } dense = { { 'P', 'I', 'E', 'H' }, 24, 16 };

  for (guint y = 0; y < 16; y++) {
    for (guint x = 16; x < 24; x++) {
      dense.pixels[y][x][0] = 1;
      dense.pixels[y][x][1] = -0.25f;
    }
  }
  gst_harness_push (h, packet_of (7, 1));
  assert_bytes (h, &blocks, sizeof (blocks));
  assert_caps (h, "image/x-flo, width=2, height=1, framerate=(fraction)25/1");
  gst_harness_teardown (h);

  h = harness ("format=flo");
  gst_harness_push (h, packet_of (7, 1));
  assert_bytes (h, &dense, sizeof (dense));
  assert_caps (h, "image/x-flo, width=24, height=16, framerate=(fraction)25/1");
  gst_harness_teardown (h);
}
GST_END_TEST;

/* another grid in the middle of a stream */
GST_START_TEST (test_renegotiation)
{
  CvisMotionPacket *packet = motion_packet_new (8, 8, 8, 1);
  GstHarness *h = harness ("format=bin");

  gst_harness_push (h, packet_of (0, 1));
  gst_harness_push (h, motion_packet_buffer (packet));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 2);
  assert_caps (h,
      "application/x-motion-vector-raster, width=8, height=8, block-size=8, "
      "columns=1, rows=1, framerate=(fraction)25/1");
  gst_harness_set_src_caps_str (
      h, GST_CVIS_MOTION_VECTORS_CAPS ", framerate = (fraction) 50/1");
  gst_harness_push (h, motion_packet_buffer (packet));
  assert_caps (h,
      "application/x-motion-vector-raster, width=8, height=8, block-size=8, "
      "columns=1, rows=1, framerate=(fraction)50/1");
  gst_harness_teardown (h);
  g_free (packet);

  h = harness ("");
  gst_harness_push (h, packet_of (7, 1));
  gst_harness_set_src_caps_str (h, GST_CVIS_MOTION_VECTORS_CAPS);
  gst_harness_push (h, packet_of (7, 1));
  assert_text (h, HEADER ROWS_7);
  assert_text (h, ROWS_7);
  assert_caps (h, "text/csv");
  gst_harness_teardown (h);
}
GST_END_TEST;

/* for every format downstream gets stream start, caps, segment */
GST_START_TEST (test_order_of_events)
{
  static const gchar *const formats[] = { "format=csv", "format=bin",
    "format=flo" };
  static const GstEventType wanted[] = { GST_EVENT_STREAM_START, GST_EVENT_CAPS,
    GST_EVENT_SEGMENT, GST_EVENT_TAG, GST_EVENT_GAP, GST_EVENT_EOS };

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
    GstHarness *h = harness (formats[f]);

    gst_harness_push_event (h, gst_event_new_tag (gst_tag_list_new_empty ()));
    gst_harness_push (h, packet_of (0, f ? 0 : 1));
    gst_harness_push (h, packet_of (1, 0));
    gst_harness_push_event (h, gst_event_new_eos ());
    for (guint i = 0; i < G_N_ELEMENTS (wanted); i++) {
      GstEvent *event = gst_harness_pull_event (h);

      if (GST_EVENT_TYPE (event) == GST_EVENT_GAP && f) {
        gst_event_unref (event); /* including those of the frame before */
        event = gst_harness_pull_event (h);
      }
      fail_unless_equals_int (GST_EVENT_TYPE (event), wanted[i]);
      gst_event_unref (event);
    }
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

/* @what: the expected error; %NULL: only the end of the stream shows it */
static void
assert_refused (gconstpointer bytes, gsize size, const gchar *what)
{
  GstHarness *h = harness ("");
  GstBus *bus = give_bus (h);

  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_new_memdup (bytes, size)),
      what != NULL ? GST_FLOW_ERROR : GST_FLOW_OK);
  if (what == NULL)
    gst_harness_push_event (h, gst_event_new_eos ());
  bus_expect (bus, GST_MESSAGE_ERROR, what != NULL ? what : "the stream ends");
  /* at its end a table has its header row anyway */
  fail_unless_equals_int (gst_harness_buffers_received (h), what == NULL);
  finish (h, bus);
}

/* A pipeline whose source sends no frames: a table with only the header, in
 * order. With gst_check_init() each warning of GStreamer's fails the test. */
GST_START_TEST (test_empty_stream)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc num-buffers=0 ! cudamotionest backend=cpu name=m ! "
      "fakesink m.src_vectors ! queue ! motionvectorenc ! fakesink name=s",
      NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (
      bus, 10 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (
      message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  g_object_get (sink, "last-sample", &sample, NULL);
  fail_unless (sample != NULL);
  fail_unless (
      gst_buffer_memcmp (gst_sample_get_buffer (sample), 0, "frame,", 6) == 0);
  gst_sample_unref (sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* A gap before the first packet waits for the caps, which come with the
 * packet. */
GST_START_TEST (test_gap_first)
{
  GstHarness *h = gst_harness_new_parse ("motionvectorenc format=bin");
  GstEvent *event;

  gst_harness_set_src_caps_str (h, GST_CVIS_MOTION_VECTORS_CAPS);
  for (guint i = 0; i < 3; i++)
    fail_unless (gst_harness_push_event (
        h, gst_event_new_gap (i * GST_SECOND, GST_SECOND)));
  while ((event = gst_harness_try_pull_event (h)) != NULL) {
    fail_if (GST_EVENT_TYPE (event) == GST_EVENT_GAP);
    gst_event_unref (event);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_bad_packets)
{
  CvisMotionPacket *packet = motion_packet_new (24, 16, 16, 1);
  gsize size = packet->size;

  assert_refused (packet, 3, NULL);
  assert_refused (packet, size - 1, NULL);
  packet->size = 1;
  assert_refused (packet, size, "size is 1, but there are");
  packet->size = size;
  packet->version = 3;
  assert_refused (packet, size, "version is 3, must be 1 to 2.");
  packet->version = 1;
  packet->n_fields = 9;
  assert_refused (packet, size, "n_fields is 9, must be 0 to 8.");
  packet->magic[3] = 0;
  assert_refused (packet, size, "it does not begin with MOTV.");
  g_free (packet);
}
GST_END_TEST;

/* As filesrc reads a recording: chunks of any size. */
GST_START_TEST (test_pieces)
{
  static const gsize sizes[] = { 1, 7, 64, 1000, 100000 };
  GstBuffer *all = gst_buffer_append (packet_of (7, 1), packet_of (7, 1));
  gsize total = gst_buffer_get_size (all);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    GstHarness *h = harness ("");

    for (gsize at = 0; at < total; at += sizes[i])
      fail_unless_equals_int (
          gst_harness_push (
              h, gst_buffer_copy_region (all, GST_BUFFER_COPY_MEMORY, at,
                     MIN (sizes[i], total - at))),
          GST_FLOW_OK);
    fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
    assert_text (h, HEADER ROWS_7);
    assert_text (h, ROWS_7);
    fail_unless_equals_int (gst_harness_buffers_received (h), 2);
    gst_harness_teardown (h);
  }
  gst_buffer_unref (all);
}
GST_END_TEST;

/* a packet at an odd address */
GST_START_TEST (test_alignment)
{
  GstHarness *h = harness ("");
  GstBuffer *packet = packet_of (7, 1), *shifted;
  gsize size = gst_buffer_get_size (packet);

  shifted = gst_buffer_new_allocate (NULL, size + 3, NULL);
  for (gsize i = 0; i < size; i++) {
    guint8 byte;

    gst_buffer_extract (packet, i, &byte, 1);
    gst_buffer_fill (shifted, 3 + i, &byte, 1);
  }
  gst_buffer_resize (shifted, 3, size);
  fail_unless_equals_int (gst_harness_push (h, shifted), GST_FLOW_OK);
  assert_text (h, HEADER ROWS_7);
  gst_buffer_unref (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_flush_and_header)
{
  GstHarness *h = harness ("");
  GstSegment segment;
  GstBuffer *buffer;

  gst_harness_push (h, packet_of (7, 1));
  assert_text (h, HEADER ROWS_7);
  gst_harness_push (h, gst_buffer_new_memdup ("MO", 2));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless_equals_int (
      gst_harness_push (h, packet_of (7, 1)), GST_FLOW_FLUSHING);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  for (guint i = 0; i < 2; i++) {
    gst_harness_push (h, packet_of (7, 1));
    buffer = gst_harness_pull (h);
    fail_unless_equals_int (GST_BUFFER_IS_DISCONT (buffer), i == 0);
    gst_check_buffer_data (buffer, ROWS_7, strlen (ROWS_7));
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);

  /* before a packet has given the grid */
  h = harness ("format=bin");
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  gst_harness_push (h, packet_of (7, 1));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 1);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_eos)
{
  GstHarness *h = harness ("");

  /* a stream without frames gives a table without rows */
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  assert_text (h, HEADER);
  gst_harness_teardown (h);

  h = harness ("");
  gst_harness_push (h, packet_of (7, 1));
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless_equals_int (gst_harness_buffers_received (h), 1);
  gst_harness_teardown (h);

  h = harness ("format=flo");
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless_equals_int (gst_harness_buffers_received (h), 0);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Frames of MP4 begin at a composition offset; scenes count from the beginning. */
GST_START_TEST (test_scenes_in_stream_time)
{
  GstHarness *h = harness ("format=scenes-csv");
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.position = 80 * GST_MSECOND;
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  gst_harness_push (h, packet_of (2, 0));
  gst_harness_push (h, packet_of (3, 1));
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  assert_text (h, "scene,start_frame,end_frame,start_s,end_s\n"
                  "1,2,4,0.000000000,0.080000000\n");
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_scenes_for_encoders)
{
  static const gchar *const texts[][2] = {
    { "qpfile", "2 I -1\n4 I -1\n" },
    { "svt-key-frames", "2f,4f\n" },
    { "zones", "2,3,b=1.00/4,5,b=1.00\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    gchar *format = g_strdup_printf ("format=%s", texts[i][0]);
    GstHarness *h = harness (format);

    for (guint frame = 2; frame < 6; frame++) {
      GstBuffer *buffer = packet_of (frame, frame > 2);
      GstMapInfo map;

      gst_buffer_map (buffer, &map, GST_MAP_WRITE);
      if (frame == 4)
        ((CvisMotionPacket *) map.data)->flags |= CVIS_MOTION_FRAME_SCENE_CUT;
      gst_buffer_unmap (buffer, &map);
      gst_harness_push (h, buffer);
    }
    fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
    assert_text (h, texts[i][1]);
    assert_caps (h, "text/plain, framerate = (fraction) 25/1");
    gst_harness_teardown (h);
    g_free (format);
  }
}
GST_END_TEST;

GST_START_TEST (test_list)
{
  GstHarness *h = harness ("");
  GstBufferList *list = gst_buffer_list_new ();

  for (guint i = 0; i < 3; i++)
    gst_buffer_list_add (list, packet_of (7, 1));
  fail_unless_equals_int (gst_pad_push_list (h->srcpad, list), GST_FLOW_OK);
  assert_text (h, HEADER ROWS_7);
  assert_text (h, ROWS_7);
  assert_text (h, ROWS_7);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  GstHarness *h = harness ("");
  GstElement *element = gst_harness_find_element (h, "motionvectorenc");
  const CvisMotionVector vectors[2] = { { 0, 0, 0 }, { 4, -1, 1000 } };

  /* each restart begins with caps and the header row */
  for (guint i = 0; i < 50; i++) {
    GstCaps *caps = gst_caps_from_string (GST_CVIS_MOTION_VECTORS_CAPS);
    GstSegment segment;

    fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    gst_util_set_object_arg (
        G_OBJECT (element), "format", i % 2 ? "bin" : "csv");
    fail_unless_equals_int (
        gst_element_set_state (h->element, GST_STATE_PLAYING),
        GST_STATE_CHANGE_SUCCESS);
    gst_harness_push_event (h, gst_event_new_stream_start ("states"));
    gst_harness_push_event (h, gst_event_new_caps (caps));
    gst_caps_unref (caps);
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    if (i % 3 == 0)
      continue; /* with delayed events */
    fail_unless_equals_int (
        gst_harness_push (h, packet_of (7, 1)), GST_FLOW_OK);
    if (i % 2)
      assert_bytes (h, vectors, sizeof (vectors));
    else
      assert_text (h, HEADER ROWS_7);
  }
  gst_object_unref (element);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_without_caps)
{
  GstHarness *h = gst_harness_new ("motionvectorenc");
  GstBus *bus = give_bus (h);
  GstSegment segment;

  gst_harness_play (h);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_stream_start ("no-caps"));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  fail_unless_equals_int (
      gst_pad_push (h->srcpad, packet_of (7, 1)), GST_FLOW_NOT_NEGOTIATED);
  bus_expect (bus, GST_MESSAGE_ERROR, "without caps");
  finish (h, bus);
}
GST_END_TEST;

static Suite *
motionvectorenc_suite (void)
{
  Suite *s = suite_create ("motionvectorenc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_csv);
  tcase_add_test (tc, test_distance);
  tcase_add_test (tc, test_absent_distance);
  tcase_add_test (tc, test_bad_distance);
  tcase_add_test (tc, test_bin);
  tcase_add_test (tc, test_flo);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_order_of_events);
  tcase_add_test (tc, test_bad_packets);
  tcase_add_test (tc, test_pieces);
  tcase_add_test (tc, test_alignment);
  tcase_add_test (tc, test_empty_stream);
  tcase_add_test (tc, test_gap_first);
  tcase_add_test (tc, test_flush_and_header);
  tcase_add_test (tc, test_eos);
  tcase_add_test (tc, test_scenes_in_stream_time);
  tcase_add_test (tc, test_scenes_for_encoders);
  tcase_add_test (tc, test_list);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_without_caps);
  return s;
}

GST_CHECK_MAIN (motionvectorenc);
