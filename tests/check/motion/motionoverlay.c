/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* motionoverlay: drawing at the right positions, in every format; frames
 * without motion and memory of other owners stay unchanged. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <string.h>

#include "tests/check/common/busmessages.h"
#include "motionpackets.h"

#define GREY 128
#define GUARD 0xa5
#define ALL_MODES "arrows+field+residue+grid+text"

typedef struct {
  guint8 r, g, b;
} Pixel;

static GstHarness *
harness (const gchar *properties, const gchar *format, gint width, gint height)
{
  gchar *line = g_strdup_printf ("motionoverlay %s", properties);
  gchar *caps = g_strdup_printf (
      "video/x-raw, format=%s, width=%d, height=%d, framerate=25/1", format,
      width, height);
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (h, caps);
  g_free (line);
  g_free (caps);
  return h;
}

/* A frame of the harness's caps, all samples grey. */
static GstBuffer *
grey_frame (GstHarness *h)
{
  GstCaps *caps = gst_pad_get_current_caps (h->srcpad);
  GstVideoInfo info;
  GstBuffer *buffer;

  gst_video_info_from_caps (&info, caps);
  gst_caps_unref (caps);
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_memset (buffer, 0, GREY, -1);
  return buffer;
}

static void
attach (GstBuffer *frame, CvisMotionPacket *packet)
{
  GstBuffer *bytes = motion_packet_buffer (packet);

  fail_unless (gst_cvis_buffer_add_motion_vector_metas (frame, bytes) > 0);
  gst_buffer_unref (bytes);
}

/* A packet with all blocks at rest and predicted exactly. */
static CvisMotionPacket *
still_packet (guint width, guint height, guint block_size, guint n_fields)
{
  CvisMotionPacket *packet =
      motion_packet_new (width, height, block_size, n_fields);
  gsize n = (gsize) packet->columns * packet->rows;

  for (guint i = 0; i < n_fields; i++) {
    memset (
        motion_packet_vectors (packet, i), 0, n * sizeof (CvisMotionVector));
    memset (motion_packet_blocks (packet, i), 0, n * sizeof (CvisMotionBlock));
  }
  return packet;
}

/* Sets block @index to have come from (@x, @y) pixels away in the frame
 * before. */
static void
move (CvisMotionPacket *packet, guint index, gint x, gint y)
{
  motion_packet_vectors (packet, 0)[index] =
      (CvisMotionVector){ (gint16) (4 * x), (gint16) (4 * y), 0 };
}

/* Reads a pixel of RGB rows of @width pixels */
static Pixel
pixel_at (GstBuffer *buffer, gint width, gint x, gint y)
{
  gsize stride = GST_ROUND_UP_4 (3 * width);
  Pixel pixel;

  gst_buffer_extract (buffer, y * stride + 3 * x, &pixel, 3);
  return pixel;
}

static gboolean
is_grey (Pixel p)
{
  return p.r == GREY && p.g == GREY && p.b == GREY;
}

#define assert_pixel(pixel, red, green, blue)                                  \
  do {                                                                         \
    Pixel p_ = pixel;                                                          \
    fail_unless (ABS (p_.r - (red)) < 4 && ABS (p_.g - (green)) < 4            \
                     && ABS (p_.b - (blue)) < 4,                               \
        "%d %d %d", p_.r, p_.g, p_.b);                                         \
  } while (0)

static gboolean
all_grey (GstBuffer *buffer)
{
  gsize size = gst_buffer_get_size (buffer);
  guint8 *wanted = g_malloc (size);
  gboolean same;

  memset (wanted, GREY, size);
  same = gst_buffer_memcmp (buffer, 0, wanted, size) == 0;
  g_free (wanted);
  return same;
}

GST_START_TEST (test_without_motion)
{
  GstHarness *h = harness ("mode=" ALL_MODES, "I420", 64, 48);
  GstBuffer *frame = grey_frame (h), *out;
  CvisMotionPacket *packet = motion_packet_new (64, 48, 16, 1);
  GstElement *element;

  out = gst_harness_push_and_pull (h, frame);
  fail_unless (out == frame && all_grey (out));
  gst_buffer_unref (out);

  /* nothing to draw */
  element = gst_harness_find_element (h, "motionoverlay");
  gst_util_set_object_arg (G_OBJECT (element), "mode", "");
  frame = grey_frame (h);
  attach (frame, packet);
  out = gst_harness_push_and_pull (h, frame);
  fail_unless (out == frame && all_grey (out));
  gst_buffer_unref (out);

  /* motion of other references */
  g_object_set (element, "mode", 31, "distance", 2, NULL);
  gst_object_unref (element);
  frame = grey_frame (h);
  attach (frame, packet);
  out = gst_harness_push_and_pull (h, frame);
  fail_unless (out == frame && all_grey (out));
  gst_buffer_unref (out);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_shared_memory)
{
  GstHarness *h = harness ("mode=" ALL_MODES, "NV12", 64, 48);
  GstBuffer *frame = grey_frame (h), *out;
  CvisMotionPacket *packet = motion_packet_new (64, 48, 16, 2);

  attach (frame, packet);
  out = gst_harness_push_and_pull (h, gst_buffer_ref (frame));
  fail_unless (out != frame && all_grey (frame));
  fail_if (all_grey (out));
  fail_unless (gst_cvis_buffer_get_motion_vector_meta (out, -1) != NULL);
  fail_unless (gst_cvis_buffer_get_motion_vector_meta (out, 1) != NULL);
  gst_buffer_unref (out);

  /* a sole owner's frame is drawn in place */
  out = gst_harness_push_and_pull (h, frame);
  fail_unless (out == frame);
  fail_if (all_grey (out));
  gst_buffer_unref (out);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* motion to the right is red, left cyan, up violet; half the opacity gives
 * half the red */
GST_START_TEST (test_field)
{
  GstHarness *h =
      harness ("mode=field opacity=1", "RGB, colorimetry=sRGB", 320, 160);
  CvisMotionPacket *packet = still_packet (320, 160, 32, 1);
  GstBuffer *frame = grey_frame (h);
  GstElement *element;

  move (packet, 0, -100, 0);
  move (packet, 1, 100, 0);
  move (packet, 2, 0, 100);
  move (packet, 3, -2, 0); /* of 8 for full colour: half of it */
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  assert_pixel (pixel_at (frame, 320, 0, 0), 255, 0, 0);
  assert_pixel (pixel_at (frame, 320, 31, 31), 255, 0, 0);
  assert_pixel (pixel_at (frame, 320, 32, 0), 0, 255, 255);
  assert_pixel (pixel_at (frame, 320, 64, 31), 128, 0, 255);
  assert_pixel (pixel_at (frame, 320, 100, 10), 191, 64, 64);
  fail_unless (is_grey (pixel_at (frame, 320, 128, 0)));
  fail_unless (is_grey (pixel_at (frame, 320, 0, 32)));
  /* the colour wheel, in the lower right corner */
  fail_if (is_grey (pixel_at (frame, 320, 303, 143)));
  gst_buffer_unref (frame);

  element = gst_harness_find_element (h, "motionoverlay");
  g_object_set (element, "opacity", 0.5, "min-length", 50.0, NULL);
  gst_object_unref (element);
  frame = grey_frame (h);
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  assert_pixel (pixel_at (frame, 320, 0, 0), 191, 64, 64);
  fail_unless (is_grey (pixel_at (frame, 320, 100, 10)));
  gst_buffer_unref (frame);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Sets the flag CVIS_MOTION_BLOCK_CONSTANT of block @index, and removes it from the
 * summary. */
static void
leave_out (CvisMotionPacket *packet, guint index)
{
  CvisMotionSummary *summary = &motion_packet_field (packet, 0)->summary;
  guint32 *bin = summary->histogram;

  while (*bin == 0)
    bin++;
  --*bin;
  summary->static_blocks = 0;
  motion_packet_blocks (packet, 0)[index].flags |= CVIS_MOTION_BLOCK_CONSTANT;
}

/* blocks of constant parts have neither arrow nor colour, alone and in a group
 * that shares an arrow */
GST_START_TEST (test_constant_blocks)
{
  static const guint sizes[] = { 8, 64 };

  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
    GstHarness *h = harness ("mode=arrows", "RGB, colorimetry=sRGB", 64, 64);
    CvisMotionPacket *packet = still_packet (64, 64, sizes[k], 1);
    GstElement *element = gst_harness_find_element (h, "motionoverlay");
    GstBuffer *frame = grey_frame (h);

    move (packet, 0, -40, 0);
    attach (frame, packet);
    frame = gst_harness_push_and_pull (h, frame);
    fail_if (all_grey (frame));
    gst_buffer_unref (frame);

    leave_out (packet, 0);
    for (guint mode = 0; mode < 2; mode++) {
      gst_util_set_object_arg (
          G_OBJECT (element), "mode", mode ? "text" : "arrows");
      frame = grey_frame (h);
      attach (frame, packet);
      frame = gst_harness_push_and_pull (h, frame);
      fail_unless (all_grey (frame) == (mode == 0));
      gst_buffer_unref (frame);
    }
    gst_object_unref (element);
    g_free (packet);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

/* Sets the confidence of block @index, 0 to 255. */
static void
rate (CvisMotionPacket *packet, guint index, guint confidence)
{
  motion_packet_blocks (packet, 0)[index].flags =
      CVIS_MOTION_BLOCK_RATED
      | confidence << CVIS_MOTION_BLOCK_CONFIDENCE_SHIFT;
}

/* the confidence is the opacity; below the limit nothing is drawn; vectors without a
 * confidence are always drawn */
GST_START_TEST (test_confidence_of_field)
{
  GstHarness *h =
      harness ("mode=field opacity=1", "RGB, colorimetry=sRGB", 320, 160);
  GstElement *element = gst_harness_find_element (h, "motionoverlay");
  CvisMotionPacket *packet = still_packet (320, 160, 32, 1);
  GstBuffer *frame = grey_frame (h);

  for (guint i = 0; i < 4; i++)
    move (packet, i, -100, 0);
  rate (packet, 0, 255);
  rate (packet, 1, 128);
  rate (packet, 2, 127);
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  assert_pixel (pixel_at (frame, 320, 0, 0), 255, 0, 0);
  assert_pixel (pixel_at (frame, 320, 32, 0), 191, 64, 64);
  fail_unless (is_grey (pixel_at (frame, 320, 64, 0)));
  assert_pixel (pixel_at (frame, 320, 96, 0), 255, 0, 0);
  gst_buffer_unref (frame);

  g_object_set (element, "min-confidence", 0.0, NULL);
  frame = grey_frame (h);
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  fail_if (is_grey (pixel_at (frame, 320, 64, 0)));
  gst_buffer_unref (frame);

  g_object_set (element, "min-confidence", 1.0, NULL);
  frame = grey_frame (h);
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  fail_unless (is_grey (pixel_at (frame, 320, 0, 0)));
  assert_pixel (pixel_at (frame, 320, 96, 0), 255, 0, 0);
  gst_buffer_unref (frame);
  gst_object_unref (element);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* the same for arrows, of a block and of a group of blocks: the largest difference from
 * grey */
GST_START_TEST (test_confidence_of_arrows)
{
  static const guint sizes[] = { 8, 64 };
  static const guint confidences[] = { 255, 160, 100 };

  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
    GstHarness *h = harness ("mode=arrows", "RGB, colorimetry=sRGB", 64, 64);
    CvisMotionPacket *packet = still_packet (64, 64, sizes[k], 1);
    gint strongest[G_N_ELEMENTS (confidences)] = { 0 };

    for (guint i = 0; i < packet->columns * packet->rows; i++)
      move (packet, i, -8, 0);
    for (guint c = 0; c < G_N_ELEMENTS (confidences); c++) {
      GstBuffer *frame = grey_frame (h);

      for (guint i = 0; i < packet->columns * packet->rows; i++)
        rate (packet, i, confidences[c]);
      attach (frame, packet);
      frame = gst_harness_push_and_pull (h, frame);
      for (gint i = 0; i < 64 * 64; i++)
        strongest[c] =
            MAX (strongest[c], pixel_at (frame, 64, i % 64, i / 64).r - GREY);
      gst_buffer_unref (frame);
    }
    fail_unless (strongest[0] > 100, "%d", strongest[0]);
    fail_unless (strongest[1] > 40 && strongest[1] < strongest[0] * 3 / 4,
        "%d of %d", strongest[1], strongest[0]);
    fail_unless_equals_int (strongest[2], 0);
    g_free (packet);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

GST_START_TEST (test_constant_field)
{
  GstHarness *h =
      harness ("mode=field opacity=1", "RGB, colorimetry=sRGB", 320, 160);
  CvisMotionPacket *packet = still_packet (320, 160, 32, 1);
  GstBuffer *frame = grey_frame (h);

  move (packet, 0, -100, 0);
  move (packet, 1, 100, 0);
  leave_out (packet, 0);
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  fail_unless (is_grey (pixel_at (frame, 320, 10, 10)));
  fail_if (is_grey (pixel_at (frame, 320, 40, 10)));
  gst_buffer_unref (frame);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* vectors to future frames point where things go, vectors to past frames
 * where they came from */
GST_START_TEST (test_direction_of_time)
{
  GstHarness *h = harness (
      "mode=field opacity=1 distance=1", "RGB, colorimetry=sRGB", 64, 64);
  CvisMotionPacket *packet = still_packet (64, 64, 64, 2);
  GstBuffer *frame = grey_frame (h);

  motion_packet_vectors (packet, 1)->x = 400;
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  assert_pixel (pixel_at (frame, 64, 0, 0), 255, 0, 0);
  gst_buffer_unref (frame);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_yuv_colors)
{
  static const struct {
    const gchar *caps;
    guint8 y, u, v;
  } cases[] = {
    { "I420, colorimetry=bt601", 81, 90, 240 },
    { "I420, colorimetry=bt709", 63, 102, 240 },
    { "I420, colorimetry=1:4:0:0", 76, 85, 255 },
  };
  CvisMotionPacket *packet = still_packet (64, 64, 32, 1);

  move (packet, 0, -100, 0);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = harness ("mode=field opacity=1", cases[i].caps, 64, 64);
    GstBuffer *frame = grey_frame (h);
    guint8 y, u, v, beside;

    attach (frame, packet);
    frame = gst_harness_push_and_pull (h, frame);
    gst_buffer_extract (frame, 31 * 64 + 31, &y, 1);
    gst_buffer_extract (frame, 64 * 64 + 15 * 32 + 15, &u, 1);
    gst_buffer_extract (frame, 64 * 64 + 32 * 32 + 15 * 32 + 15, &v, 1);
    gst_buffer_extract (frame, 64 * 64 + 16 * 32 + 15, &beside, 1);
    fail_unless (ABS (y - cases[i].y) < 2 && ABS (u - cases[i].u) < 2
                     && ABS (v - cases[i].v) < 2,
        "%s: %d %d %d", cases[i].caps, y, u, v);
    fail_unless_equals_int (beside, GREY);
    gst_buffer_unref (frame);
    gst_harness_teardown (h);
  }
  g_free (packet);
}
GST_END_TEST;

GST_START_TEST (test_residue)
{
  GstHarness *h =
      harness ("mode=residue opacity=1", "RGB, colorimetry=sRGB", 48, 24);
  CvisMotionPacket *packet = still_packet (48, 24, 16, 1);
  GstBuffer *frame = grey_frame (h);

  /* the same difference of samples in a whole and in half a block */
  motion_packet_blocks (packet, 0)[1].sad = 100 * 16 * 16;
  motion_packet_blocks (packet, 0)[4].sad = 100 * 16 * 8;
  motion_packet_blocks (packet, 0)[5].sad = 12 * 16 * 8;
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  assert_pixel (pixel_at (frame, 48, 16, 0), 255, 255, 190);
  assert_pixel (pixel_at (frame, 48, 31, 23), 255, 255, 190);
  assert_pixel (pixel_at (frame, 48, 32, 16), 240, 70, 70);
  fail_unless (is_grey (pixel_at (frame, 48, 15, 0)));
  fail_unless (is_grey (pixel_at (frame, 48, 32, 15)));
  gst_buffer_unref (frame);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_grid)
{
  GstHarness *h = harness ("mode=grid", "RGB, colorimetry=sRGB", 40, 24);
  CvisMotionPacket *packet = still_packet (40, 24, 16, 1);
  GstBuffer *frame = grey_frame (h);

  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  for (gint y = 0; y < 24; y++)
    for (gint x = 0; x < 40; x++)
      fail_unless_equals_int (
          is_grey (pixel_at (frame, 40, x, y)), x != 16 && x != 32 && y != 16);
  gst_buffer_unref (frame);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* from the centre of the block, as long as the motion times the scale */
GST_START_TEST (test_arrows)
{
  GstHarness *h =
      harness ("mode=arrows scale=3", "RGB, colorimetry=sRGB", 128, 128);
  CvisMotionPacket *packet = still_packet (128, 128, 64, 1);
  GstBuffer *frame = grey_frame (h);

  move (packet, 0, -10, 0); /* to the right */
  move (packet, 3, 0, 10);  /* upwards, of an unreliable block */
  motion_packet_blocks (packet, 0)[3].flags = CVIS_MOTION_BLOCK_INTRA_LIKE;
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  assert_pixel (pixel_at (frame, 128, 58, 32), 255, 241, 92);
  fail_if (is_grey (pixel_at (frame, 128, 60, 32)));
  fail_unless (is_grey (pixel_at (frame, 128, 65, 32)));
  fail_unless (is_grey (pixel_at (frame, 128, 29, 32)));
  fail_unless (is_grey (pixel_at (frame, 128, 45, 40)));
  assert_pixel (pixel_at (frame, 128, 96, 70), 255, 90, 79);
  fail_unless (is_grey (pixel_at (frame, 128, 96, 62)));
  fail_unless (is_grey (pixel_at (frame, 128, 96, 100)));
  fail_unless (is_grey (pixel_at (frame, 128, 32, 96)));
  gst_buffer_unref (frame);

  /* the masks are cleared */
  frame = grey_frame (h);
  move (packet, 0, 0, 0);
  move (packet, 3, 0, 0);
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  fail_unless (all_grey (frame));
  gst_buffer_unref (frame);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* small blocks share an arrow */
GST_START_TEST (test_grouped_arrows)
{
  GstHarness *h =
      harness ("mode=arrows scale=1", "RGB, colorimetry=sRGB", 64, 64);
  CvisMotionPacket *packet = still_packet (64, 64, 8, 1);
  GstBuffer *frame = grey_frame (h);

  move (packet, 0, -40, 0);
  move (packet, 1, -40, 0);
  attach (frame, packet); /* two blocks of four with 40 px each: mean 20 */
  frame = gst_harness_push_and_pull (h, frame);
  fail_if (is_grey (pixel_at (frame, 64, 12, 8)));
  fail_if (is_grey (pixel_at (frame, 64, 26, 8)));
  fail_unless (is_grey (pixel_at (frame, 64, 32, 8)));
  fail_unless (is_grey (pixel_at (frame, 64, 12, 3)));
  gst_buffer_unref (frame);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_text)
{
  GstHarness *h = harness ("mode=text", "RGB, colorimetry=sRGB", 480, 270);
  CvisMotionPacket *packet = still_packet (480, 270, 32, 1);
  GstBuffer *frame = grey_frame (h);
  guint bright = 0;

  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  for (gint y = 0; y < 90; y++)
    for (gint x = 0; x < 240; x++)
      bright += pixel_at (frame, 480, x, y).g > 200;
  fail_unless (bright > 300 && bright < 8000, "%u bright pixels", bright);
  assert_pixel (pixel_at (frame, 480, 7, 7), 42, 45, 49); /* the panel */
  fail_unless (is_grey (pixel_at (frame, 480, 470, 12)));
  fail_unless (is_grey (pixel_at (frame, 480, 10, 200)));
  gst_buffer_unref (frame);

  packet->flags = CVIS_MOTION_FRAME_SCENE_CUT | CVIS_MOTION_FRAME_DUPLICATE;
  frame = grey_frame (h);
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  assert_pixel (pixel_at (frame, 480, 473, 7), 205, 42, 65);
  assert_pixel (pixel_at (frame, 480, 473, 31), 151, 101, 13);
  gst_buffer_unref (frame);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* blocks and vectors of a picture that was scaled afterwards */
GST_START_TEST (test_scaled)
{
  GstHarness *h = gst_harness_new_parse (
      "videoscale ! capsfilter caps=video/x-raw,width=128,height=32 ! "
      "motionoverlay mode=field opacity=1");
  CvisMotionPacket *packet = still_packet (64, 64, 32, 1);
  GstBuffer *frame;

  gst_harness_set_src_caps_str (h,
      "video/x-raw, format=RGB, colorimetry=sRGB, width=64, height=64, "
      "framerate=25/1");
  move (packet, 1, -100, 0);
  frame = grey_frame (h);
  attach (frame, packet);
  frame = gst_harness_push_and_pull (h, frame);
  assert_pixel (pixel_at (frame, 128, 64, 0), 255, 0, 0);
  assert_pixel (pixel_at (frame, 128, 127, 15), 255, 0, 0);
  fail_unless (is_grey (pixel_at (frame, 128, 63, 0)));
  fail_unless (is_grey (pixel_at (frame, 128, 64, 16)));
  gst_buffer_unref (frame);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A frame in memory with gaps between rows and planes, which stay unchanged. */
static GstBuffer *
padded_frame (const GstVideoInfo *info, GstVideoInfo *padded)
{
  GstVideoAlignment align;
  GstBuffer *buffer;

  *padded = *info;
  gst_video_alignment_reset (&align);
  align.padding_right = 21;
  align.padding_bottom = 3;
  align.padding_left = 8;
  align.padding_top = 2;
  gst_video_info_align (padded, &align);
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (padded), NULL);
  gst_buffer_memset (buffer, 0, GUARD, -1);
  gst_buffer_add_video_meta_full (buffer, 0, GST_VIDEO_INFO_FORMAT (padded),
      GST_VIDEO_INFO_WIDTH (padded), GST_VIDEO_INFO_HEIGHT (padded),
      GST_VIDEO_INFO_N_PLANES (padded), padded->offset, padded->stride);
  return buffer;
}

/* Drawing into memory with gaps gives the same picture as into contiguous
 * memory, and changes nothing else. */
static void
check_format (const gchar *format, gint width, gint height, guint block_size)
{
  CvisMotionPacket *packet = motion_packet_new (width, height, block_size, 1);
  GstHarness *h =
      harness ("mode=" ALL_MODES " scale=50", format, width, height);
  GstCaps *caps = gst_pad_get_current_caps (h->srcpad);
  GstVideoFrame plain_frame, padded_frame_;
  GstVideoInfo info, padded_info;
  GstBuffer *plain, *padded;
  gsize changed = 0, different = 0, alpha = 0, guards = 0;

  packet->flags = CVIS_MOTION_FRAME_SCENE_CUT | CVIS_MOTION_FRAME_DUPLICATE;
  gst_video_info_from_caps (&info, caps);
  gst_caps_unref (caps);
  plain = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_memset (plain, 0, GUARD, -1);
  padded = padded_frame (&info, &padded_info);
  attach (plain, packet);
  attach (padded, packet);
  plain = gst_harness_push_and_pull (h, plain);
  padded = gst_harness_push_and_pull (h, padded);

  fail_unless (gst_video_frame_map (&plain_frame, &info, plain, GST_MAP_READ));
  fail_unless (
      gst_video_frame_map (&padded_frame_, &info, padded, GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&info); c++) {
    gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (&plain_frame, c);

    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&plain_frame, c); y++) {
      const guint8 *a =
          GST_VIDEO_FRAME_COMP_DATA (&plain_frame, c)
          + (gsize) y * GST_VIDEO_FRAME_COMP_STRIDE (&plain_frame, c);
      const guint8 *b =
          GST_VIDEO_FRAME_COMP_DATA (&padded_frame_, c)
          + (gsize) y * GST_VIDEO_FRAME_COMP_STRIDE (&padded_frame_, c);

      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&plain_frame, c); x++) {
        different += a[x * step] != b[x * step];
        changed += a[x * step] != GUARD;
        alpha += c == 3 && a[x * step] != GUARD;
      }
    }
  }
  fail_unless (different == 0, "%s: the gaps make a difference", format);
  fail_unless (alpha == 0, "%s: alpha is drawn upon", format);
  fail_unless (changed > 0 || width < 8, "%s: nothing drawn", format);
  for (gsize i = 0; i < padded_frame_.map[0].size; i++)
    guards += padded_frame_.map[0].data[i] != GUARD;
  fail_unless (guards <= changed,
      "%s: %" G_GSIZE_FORMAT " bytes drawn, "
      "%" G_GSIZE_FORMAT " changed",
      format, changed, guards);
  gst_video_frame_unmap (&plain_frame);
  gst_video_frame_unmap (&padded_frame_);
  gst_buffer_unref (plain);
  gst_buffer_unref (padded);
  gst_harness_teardown (h);
  g_free (packet);
}

/* every format of the template, at even, odd and tiny sizes */
GST_START_TEST (test_formats)
{
  static const guint sizes[][3] = { { 1, 3, 8 }, { 65, 33, 16 },
    { 130, 97, 64 } };
  GstElement *element = gst_element_factory_make ("motionoverlay", NULL);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstCaps *caps = gst_pad_get_pad_template_caps (pad);
  const GValue *formats =
      gst_structure_get_value (gst_caps_get_structure (caps, 0), "format");

  fail_unless (gst_value_list_get_size (formats) > 20);
  for (guint i = 0; i < gst_value_list_get_size (formats); i++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      check_format (g_value_get_string (gst_value_list_get_value (formats, i)),
          sizes[s][0], sizes[s][1], sizes[s][2]);
  gst_caps_unref (caps);
  gst_object_unref (pad);
  gst_object_unref (element);
}
GST_END_TEST;

/* vectors and offsets beyond any engine's output */
GST_START_TEST (test_wild_vectors)
{
  GstHarness *h = harness ("mode=" ALL_MODES " scale=100", "I420", 65, 47);
  CvisMotionPacket *packet = motion_packet_new (65, 47, 8, 1);
  GstBuffer *frame = grey_frame (h);
  GstCvisMotionVectorMeta *meta;

  for (guint i = 0; i < packet->columns * packet->rows; i++) {
    motion_packet_vectors (packet, 0)[i] =
        (CvisMotionVector){ i % 3 ? G_MININT16 : G_MAXINT16,
          i % 5 ? G_MAXINT16 : G_MININT16, 0 };
    memset (
        &motion_packet_blocks (packet, 0)[i], 0xff, sizeof (CvisMotionBlock));
    motion_packet_blocks (packet, 0)[i].flags &=
        ~(guint) CVIS_MOTION_BLOCK_CONSTANT;
  }
  attach (frame, packet);
  meta = gst_cvis_buffer_get_motion_vector_meta (frame, -1);
  meta->offset_x = -30.5;
  meta->offset_y = 1000;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

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

GST_START_TEST (test_warnings)
{
  GstHarness *h = harness ("", "I420", 64, 48);
  GstBus *bus = give_bus (h);
  CvisMotionPacket *packet = motion_packet_new (64, 48, 16, 1);
  GstBuffer *frame;

  gst_harness_push (h, grey_frame (h));
  gst_harness_push (h, grey_frame (h));
  gst_harness_push_event (h, gst_event_new_eos ());
  bus_expect (bus, GST_MESSAGE_WARNING,
      "None of 2 frames carried motion vectors. Put cudamotionest before");
  finish (h, bus);

  h = harness ("distance=-2", "I420", 64, 48);
  bus = give_bus (h);
  gst_harness_push (h, grey_frame (h));
  frame = grey_frame (h);
  attach (frame, packet);
  gst_harness_push (h, frame);
  gst_harness_push_event (h, gst_event_new_eos ());
  bus_expect (bus, GST_MESSAGE_WARNING,
      "None of 1 frames with motion vectors had them for distance -2.");
  finish (h, bus);

  /* a stream of one frame has none */
  h = harness ("", "I420", 64, 48);
  bus = give_bus (h);
  gst_harness_push (h, grey_frame (h));
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);
  finish (h, bus);
  g_free (packet);
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  static const guint8 png[32] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
  GstHarness *h = harness ("", "I420", 64, 48);
  GstBus *bus = give_bus (h);
  CvisMotionPacket *packet = motion_packet_new (64, 48, 16, 1);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 100, NULL);
  GstSegment segment;

  attach (frame, packet);
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
  bus_expect (bus, GST_MESSAGE_ERROR,
      "Cannot draw on a frame: a buffer of 100 bytes holds no writable frame "
      "of 64x48");
  finish (h, bus);

  h = gst_harness_new ("motionoverlay");
  bus = give_bus (h);
  gst_harness_play (h);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_stream_start ("no-caps"));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  fail_unless_equals_int (
      gst_pad_push (h->srcpad, gst_buffer_new ()), GST_FLOW_NOT_NEGOTIATED);
  bus_expect (bus, GST_MESSAGE_ERROR, "without caps");
  finish (h, bus);
  g_free (packet);

  /* bytes of an encoded file */
  h = gst_harness_new ("motionoverlay");
  bus = give_bus (h);
  gst_harness_play (h);
  gst_harness_push_event (h, gst_event_new_stream_start ("no-caps"));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  frame = gst_buffer_new_memdup (png, sizeof png);
  fail_unless_equals_int (
      gst_pad_push (h->srcpad, frame), GST_FLOW_NOT_NEGOTIATED);
  bus_expect (bus, GST_MESSAGE_ERROR, "its bytes are image/png");
  finish (h, bus);
}
GST_END_TEST;

/* the caps of neighbours pass, as far as the element can draw on them */
GST_START_TEST (test_caps)
{
  GstHarness *h = gst_harness_new ("motionoverlay");
  GstCaps *caps, *wanted;

  gst_harness_set_sink_caps_str (h,
      "video/x-raw, format={ NV12, P010_10LE }, width=64, height=48, "
      "framerate=25/1");
  caps = gst_pad_peer_query_caps (h->srcpad, NULL);
  wanted = gst_caps_from_string (
      "video/x-raw, format=NV12, width=64, height=48, framerate=25/1");
  fail_unless (
      gst_caps_is_equal (caps, wanted), "caps are %" GST_PTR_FORMAT, caps);
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_renegotiation_and_flush)
{
  GstHarness *h = harness ("mode=" ALL_MODES, "I420", 64, 48);
  CvisMotionPacket *small = motion_packet_new (64, 48, 16, 1);
  CvisMotionPacket *large = motion_packet_new (640, 360, 16, 1);
  GstBufferList *list = gst_buffer_list_new ();
  GstSegment segment;
  GstBuffer *frame;

  frame = grey_frame (h);
  attach (frame, small);
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  gst_harness_set_src_caps_str (
      h, "video/x-raw, format=BGRx, width=640, height=360, framerate=25/1");
  frame = grey_frame (h);
  attach (frame, large);
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 2);

  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless_equals_int (
      gst_harness_push (h, grey_frame (h)), GST_FLOW_FLUSHING);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));

  for (guint i = 0; i < 3; i++) {
    frame = grey_frame (h);
    attach (frame, large);
    gst_buffer_list_add (list, frame);
  }
  fail_unless_equals_int (gst_pad_push_list (h->srcpad, list), GST_FLOW_OK);
  gst_harness_teardown (h);
  g_free (small);
  g_free (large);
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  GstHarness *h = harness ("mode=" ALL_MODES, "NV12", 64, 48);
  CvisMotionPacket *packet = motion_packet_new (64, 48, 16, 1);
  GstCaps *caps = gst_pad_get_current_caps (h->srcpad);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint i = 0; i < 50; i++) {
    GstBuffer *frame = grey_frame (h);

    attach (frame, packet);
    fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (
        gst_element_set_state (h->element, GST_STATE_PLAYING),
        GST_STATE_CHANGE_SUCCESS);
    gst_harness_push_event (h, gst_event_new_stream_start ("states"));
    gst_harness_push_event (h, gst_event_new_caps (caps));
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    frame = gst_harness_push_and_pull (h, frame);
    fail_if (all_grey (frame));
    gst_buffer_unref (frame);
  }
  gst_caps_unref (caps);
  g_free (packet);
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
motionoverlay_suite (void)
{
  Suite *s = suite_create ("motionoverlay");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_without_motion);
  tcase_add_test (tc, test_shared_memory);
  tcase_add_test (tc, test_field);
  tcase_add_test (tc, test_constant_blocks);
  tcase_add_test (tc, test_confidence_of_field);
  tcase_add_test (tc, test_confidence_of_arrows);
  tcase_add_test (tc, test_constant_field);
  tcase_add_test (tc, test_direction_of_time);
  tcase_add_test (tc, test_yuv_colors);
  tcase_add_test (tc, test_residue);
  tcase_add_test (tc, test_grid);
  tcase_add_test (tc, test_arrows);
  tcase_add_test (tc, test_grouped_arrows);
  tcase_add_test (tc, test_text);
  tcase_add_test (tc, test_scaled);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_wild_vectors);
  tcase_add_test (tc, test_warnings);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_caps);
  tcase_add_test (tc, test_renegotiation_and_flush);
  tcase_add_test (tc, test_states);
  return s;
}

GST_CHECK_MAIN (motionoverlay);
