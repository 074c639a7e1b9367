/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* GstCvisMotionVectorMeta: validation of packets, access through the meta, and
 * the meta's transformation when buffers are copied and scaled. */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <math.h>
#include <string.h>

#include "motionpackets.h"

static void
assert_bad (gconstpointer data, gsize size, const gchar *what)
{
  GError *error = NULL;

  fail_if (
      gst_cvis_motion_packet_check (data, size, &error), "%s passes", what);
  fail_unless (
      g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE));
  fail_unless (
      strstr (error->message, what), "'%s' lacks '%s'", error->message, what);
  g_error_free (error);
  fail_if (gst_cvis_motion_packet_check (data, size, NULL));
}

GST_START_TEST (test_sound_packets)
{
  static const guint sizes[][3] = { { 1, 1, 8 }, { 64, 48, 16 }, { 65, 47, 32 },
    { 416, 240, 64 }, { 16384, 1, 8 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    for (guint n = 0; n <= CVIS_MOTION_MAX_FIELDS; n++) {
      CvisMotionPacket *packet =
          motion_packet_new (sizes[i][0], sizes[i][1], sizes[i][2], n);
      GError *error = NULL;

      fail_unless (gst_cvis_motion_packet_check (packet, packet->size, &error),
          "%s", error ? error->message : "");
      g_free (packet);
    }
  }
}
GST_END_TEST;

/* Sets each field of the header in turn to an invalid value. */
GST_START_TEST (test_bad_heads)
{
  CvisMotionPacket *packet = motion_packet_new (65, 33, 32, 2);
  const CvisMotionPacket sound = *packet;
  const gsize size = packet->size;

  assert_bad (NULL, 0, "0 bytes, less than the packet's header of 64 bytes");
  assert_bad (packet, 63, "63 bytes");
  assert_bad ((guint8 *) packet + 1, 64, "a multiple of");
  assert_bad (packet, size - 1, "size is");
  assert_bad (packet, 64, "but there are 64 bytes");

#define BAD(field, value, what)                                                \
  packet->field = value;                                                       \
  assert_bad (packet, size, what);                                             \
  *packet = sound
  BAD (magic[0], 'm', "does not begin with MOTV");
  BAD (version, 0, "version is 0, must be 1 to 2");
  BAD (version, CVIS_MOTION_PACKET_VERSION + 1, "version is 3, must be 1 to 2");
  BAD (size, 0, "size is 0");
  BAD (size, G_MAXUINT64, "size is 18446744073709551615");
  BAD (width, 0, "width is 0");
  BAD (width, 16385, "width is 16385");
  BAD (width, G_MAXUINT32, "width is 4294967295");
  BAD (width, 97, "columns is 3, must be 4 for a width of 97");
  BAD (height, 0, "height is 0");
  BAD (height, G_MAXUINT32, "height is 4294967295");
  BAD (height, 32, "rows is 2, must be 1 for a height of 32");
  BAD (depth, 7, "depth is 7");
  BAD (depth, 17, "depth is 17");
  BAD (block_size, 0, "block_size is 0");
  BAD (block_size, 31, "block_size is 31");
  BAD (block_size, G_MAXUINT32, "block_size is 4294967295");
  BAD (columns, 0, "columns is 0");
  BAD (columns, G_MAXUINT32, "columns is 4294967295");
  BAD (rows, G_MAXUINT32, "rows is 4294967295");
  BAD (n_fields, 1, "for 1 fields of 3 x 2 blocks");
  BAD (n_fields, 3, "for 3 fields of 3 x 2 blocks");
  BAD (n_fields, 9, "n_fields is 9");
  BAD (n_fields, G_MAXUINT32, "n_fields is 4294967295");
#undef BAD
  fail_unless (gst_cvis_motion_packet_check (packet, size, NULL));
  g_free (packet);
}
GST_END_TEST;

GST_START_TEST (test_bad_fields)
{
  CvisMotionPacket *packet = motion_packet_new (65, 33, 32, 2);
  CvisMotionPacketField *field = motion_packet_field (packet, 1);
  const CvisMotionPacketField sound = *field;
  const gdouble bad[] = { NAN, -NAN, INFINITY, -INFINITY };

#define BAD(member, value, what)                                               \
  field->member = value;                                                       \
  assert_bad (packet, packet->size, what);                                     \
  *field = sound
  BAD (distance, 0, "distance of field 1 is 0");
  BAD (distance, 5, "distance of field 1 is 5");
  BAD (distance, G_MININT32, "distance of field 1 is -2147483648");
  BAD (distance, -1, "distance -1 of field 1 is also that of another");
  BAD (reserved, 1, "reserved of field 1 is 1");
  BAD (summary.static_blocks, 7,
      "7 static and 0 intra-like blocks, but has 6 used blocks");
  BAD (summary.intra_blocks, G_MAXUINT32,
      "4294967295 intra-like blocks, but has 6 used blocks");
  BAD (summary.histogram[11], 1, "counts 7 blocks, must be 6");
  BAD (
      summary.histogram[1], G_MAXUINT32, "counts 4294967301 blocks, must be 6");
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    BAD (summary.scene_score, bad[i], "scene_score of field 1");
    BAD (summary.global_x, bad[i], "global_x of field 1");
    BAD (summary.global_y, bad[i], "global_y of field 1");
    BAD (summary.global_zoom, bad[i], "global_zoom of field 1");
    BAD (summary.global_rotation, bad[i], "global_rotation of field 1");
    BAD (summary.global_share, bad[i], "global_share of field 1");
    if (bad[i] != INFINITY) {
      BAD (summary.psnr, bad[i], "psnr of field 1");
    }
  }
#undef BAD
  fail_unless (gst_cvis_motion_packet_check (packet, packet->size, NULL));
  g_free (packet);
}
GST_END_TEST;

/* The summary counts the blocks without CVIS_MOTION_BLOCK_CONSTANT; in packets of
 * version 1, which did not have this flag, all. */
GST_START_TEST (test_constant_blocks)
{
  CvisMotionPacket *packet = motion_packet_new (65, 33, 32, 1);
  CvisMotionPacketField *field = motion_packet_field (packet, 0);

  motion_packet_blocks (packet, 0)[3].flags |= CVIS_MOTION_BLOCK_CONSTANT;
  assert_bad (packet, packet->size, "counts 6 blocks, must be 5");
  for (guint i = 0; i < CVIS_MOTION_HISTOGRAM_BINS; i++)
    if (field->summary.histogram[i] > 0) {
      field->summary.histogram[i]--;
      break;
    }
  fail_unless (gst_cvis_motion_packet_check (packet, packet->size, NULL));
  packet->version = 1;
  assert_bad (packet, packet->size, "counts 5 blocks, must be 6");
  g_free (packet);

  packet = motion_packet_new (65, 33, 32, 1);
  packet->version = 1;
  fail_unless (gst_cvis_motion_packet_check (packet, packet->size, NULL));
  g_free (packet);
}
GST_END_TEST;

/* A frame with the metas of a packet of @n_fields, without another reference */
static GstBuffer *
frame_with_metas (guint n_fields)
{
  CvisMotionPacket *packet = motion_packet_new (40, 24, 16, n_fields);
  GstBuffer *bytes = motion_packet_buffer (packet);
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 40 * 24, NULL);

  fail_unless_equals_int (
      gst_cvis_buffer_add_motion_vector_metas (frame, bytes), n_fields);
  gst_buffer_unref (bytes);
  g_free (packet);
  return frame;
}

GST_START_TEST (test_metas)
{
  GstBuffer *frame = frame_with_metas (3);
  static const gint distances[] = { -1, 1, -2 };
  const GstCvisMotionVectorMeta *first =
      gst_cvis_buffer_get_motion_vector_meta (frame, -1);

  for (guint i = 0; i < G_N_ELEMENTS (distances); i++) {
    const GstCvisMotionVectorMeta *meta =
        gst_cvis_buffer_get_motion_vector_meta (frame, distances[i]);

    fail_unless (meta != NULL);
    fail_unless (meta->packet == first->packet);
    fail_unless_equals_int (meta->field->distance, distances[i]);
    fail_unless_equals_int (meta->vectors[5].x, 20 + i);
    fail_unless_equals_int (meta->vectors[5].y, -5);
    fail_unless_equals_int (meta->blocks[5].sad, 50 + i);
    fail_unless (meta->scale_x == 1 && meta->scale_y == 1);
    fail_unless (meta->offset_x == 0 && meta->offset_y == 0);
  }
  fail_unless (gst_cvis_buffer_get_motion_vector_meta (frame, 2) == NULL);
  fail_unless (gst_cvis_buffer_get_motion_vector_meta (frame, 0) == NULL);
  gst_buffer_unref (frame);
}
GST_END_TEST;

/* The bytes outlive the frame and the packet's last other reference. */
GST_START_TEST (test_bytes)
{
  GstBuffer *frame = frame_with_metas (2);
  GstCvisMotionVectorMeta *meta =
      gst_cvis_buffer_get_motion_vector_meta (frame, 1);
  GBytes *vectors = gst_cvis_motion_vector_meta_get_vector_bytes (meta);
  GBytes *blocks = gst_cvis_motion_vector_meta_get_block_bytes (meta);
  gsize size;

  fail_unless (g_bytes_get_data (vectors, NULL) == meta->vectors);
  fail_unless (g_bytes_get_data (blocks, NULL) == meta->blocks);
  gst_buffer_unref (frame);
  fail_unless_equals_int (
      ((const CvisMotionVector *) g_bytes_get_data (vectors, &size))[5].x, 21);
  fail_unless_equals_int (size, 6 * sizeof (CvisMotionVector));
  g_bytes_unref (vectors);
  fail_unless_equals_int (
      ((const CvisMotionBlock *) g_bytes_get_data (blocks, &size))[5].sad, 51);
  fail_unless_equals_int (size, 6 * sizeof (CvisMotionBlock));
  g_bytes_unref (blocks);
}
GST_END_TEST;

GST_START_TEST (test_no_packet)
{
  CvisMotionPacket *packet = motion_packet_new (40, 24, 16, 1);
  GstBuffer *frame = gst_buffer_new (), *bytes;

  packet->version++;
  bytes = motion_packet_buffer (packet);
  fail_unless_equals_int (
      gst_cvis_buffer_add_motion_vector_metas (frame, bytes), 0);
  fail_unless (gst_cvis_buffer_get_motion_vector_meta (frame, -1) == NULL);
  gst_buffer_unref (bytes);
  gst_buffer_unref (frame);
  g_free (packet);
}
GST_END_TEST;

/* blocks of 16 in 40 x 24: the last column is 8 wide, the last row 8 high */
GST_START_TEST (test_blocks)
{
  GstBuffer *frame = frame_with_metas (1);
  GstCvisMotionVectorMeta *meta =
      gst_cvis_buffer_get_motion_vector_meta (frame, -1);
  GstVideoRectangle rect;
  gdouble x, y;

  fail_unless (gst_cvis_motion_vector_meta_get_block (meta, 2, 1, &rect, &x, &y)
               == &meta->blocks[5]);
  fail_unless (rect.x == 32 && rect.y == 16 && rect.w == 8 && rect.h == 8);
  fail_unless (x == 5.0 && y == -1.25);
  fail_unless (gst_cvis_motion_vector_meta_get_block (meta, 3, 0, &rect, &x, &y)
               == NULL);
  fail_unless (gst_cvis_motion_vector_meta_get_block (
                   meta, 0, G_MAXUINT, NULL, NULL, NULL)
               == NULL);
  fail_unless (
      gst_cvis_motion_vector_meta_get_block (meta, 0, 0, NULL, NULL, NULL)
      == &meta->blocks[0]);

  /* blocks of a scaled picture leave no gap or overlap */
  meta->scale_x = 1.3;
  meta->scale_y = 0.7;
  meta->offset_x = 0.4;
  for (guint row = 0, bottom = 0; row < 2; row++) {
    gint right = 0;

    for (guint column = 0; column < 3; column++) {
      gst_cvis_motion_vector_meta_get_block (meta, column, row, &rect, &x, &y);
      fail_unless_equals_int (rect.x, right);
      fail_unless_equals_int (rect.y, bottom);
      right = rect.x + rect.w;
    }
    bottom = rect.y + rect.h;
    fail_unless_equals_int (right, 52);
  }
  fail_unless (fabs (x - 5 * 1.3) < 1e-12 && fabs (y + 1.25 * 0.7) < 1e-12);
  gst_buffer_unref (frame);
}
GST_END_TEST;

GST_START_TEST (test_copies)
{
  GstBuffer *frame = frame_with_metas (2), *copy, *part, *deep;
  GstBuffer *bytes = gst_cvis_buffer_get_motion_vector_meta (frame, -1)->buffer;
  GstCvisMotionVectorMeta *meta;

  gst_cvis_buffer_get_motion_vector_meta (frame, 1)->offset_x = 7;
  copy = gst_buffer_copy (frame);
  deep = gst_buffer_copy_deep (frame);
  part = gst_buffer_copy_region (frame, GST_BUFFER_COPY_ALL, 100, 50);
  ASSERT_MINI_OBJECT_REFCOUNT (bytes, "packet", 8);
  gst_buffer_unref (frame);
  ASSERT_MINI_OBJECT_REFCOUNT (bytes, "packet", 6);
  gst_buffer_unref (copy);
  gst_buffer_unref (deep);

  /* the last reference keeps it alive */
  meta = gst_cvis_buffer_get_motion_vector_meta (part, 1);
  fail_unless (meta->offset_x == 7 && meta->scale_x == 1);
  fail_unless_equals_int (meta->vectors[5].x, 21);
  meta = gst_cvis_buffer_get_motion_vector_meta (part, -1);
  fail_unless (meta->offset_x == 0);
  fail_unless_equals_int (meta->vectors[5].x, 20);
  gst_buffer_unref (part);
}
GST_END_TEST;

GST_START_TEST (test_scaling)
{
  GstHarness *h =
      gst_harness_new_parse ("videoscale add-borders=false ! capsfilter "
                             "caps=video/x-raw,width=80,height=12");
  GstBuffer *frame = frame_with_metas (2);
  GstCvisMotionVectorMeta *meta;
  GstVideoRectangle rect;
  gdouble x, y;

  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=40,height=24,framerate=25/1");
  frame = gst_harness_push_and_pull (h, frame);
  for (gint distance = -1; distance <= 1; distance += 2) {
    meta = gst_cvis_buffer_get_motion_vector_meta (frame, distance);
    fail_unless (meta != NULL);
    fail_unless (meta->scale_x == 2 && meta->scale_y == 0.5);
    fail_unless_equals_int (meta->packet->width, 40);
  }
  meta = gst_cvis_buffer_get_motion_vector_meta (frame, -1);
  gst_cvis_motion_vector_meta_get_block (meta, 1, 1, &rect, &x, &y);
  fail_unless (rect.x == 32 && rect.y == 8 && rect.w == 32 && rect.h == 4);
  fail_unless (x == 8.0 && y == -0.5);
  gst_buffer_unref (frame);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* An asymmetric picture with all metas that contain positions. */
static GstBuffer *
frame_with_places (void)
{
  static const CvisPbfResult result = { .flags = 0 };
  GstBuffer *frame = frame_with_metas (1), *records = gst_buffer_new ();
  GstMapInfo map;

  gst_buffer_map (frame, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8) (i % 251);
  gst_buffer_unmap (frame, &map);
  gst_cvis_buffer_add_pbf_meta (frame, records, &result, 0);
  gst_cvis_buffer_add_pbf_truth_meta (frame);
  gst_cvis_buffer_add_frame_crop_meta (frame);
  gst_buffer_unref (records);
  return frame;
}

/* Returns: whether a frame that passes keeps its metas; if the picture
 * changes they must be gone */
static gboolean
keeps_places (GstHarness *h, const gchar *what)
{
  GstBuffer *frame = frame_with_places (), *copy = gst_buffer_copy_deep (frame);
  GstMapInfo map;
  gboolean same, motion;

  frame = gst_harness_push_and_pull (h, frame);
  fail_unless (frame != NULL, "%s", what);
  gst_buffer_map (copy, &map, GST_MAP_READ);
  same = gst_buffer_get_size (frame) == map.size
         && gst_buffer_memcmp (frame, 0, map.data, map.size) == 0;
  gst_buffer_unmap (copy, &map);
  motion = gst_cvis_buffer_get_motion_vector_meta (frame, -1) != NULL;
  fail_unless_equals_int (gst_cvis_buffer_get_pbf_meta (frame) != NULL, motion);
  fail_unless_equals_int (
      gst_cvis_buffer_get_pbf_truth_meta (frame) != NULL, motion);
  fail_unless_equals_int (
      gst_cvis_buffer_get_frame_crop_meta (frame) != NULL, motion);
  fail_unless (same || !motion, "%s", what);
  gst_buffer_unref (frame);
  gst_buffer_unref (copy);
  return motion;
}

static const struct {
  const gchar *line;
  gboolean keeps;
} pictures[] = {
  { "identity", TRUE },
  { "videoflip video-direction=180", FALSE },
  { "videoflip video-direction=horiz", FALSE },
  { "videoflip video-direction=ul-lr", FALSE },
  { "videocrop left=8", FALSE },
  { "videobox left=8", FALSE },
};

GST_START_TEST (test_pictures)
{
  const gchar *line = pictures[__i__].line;
  GstHarness *h = gst_harness_new_parse (line);

  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=40,height=24,framerate=25/1");
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (keeps_places (h, line), pictures[__i__].keeps);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Sizes for frames of 40x24. */
static const struct {
  const gchar *line;
  gboolean keeps;
} scaled[] = {
  { "width=20,height=12", TRUE },
  { "width=20,height=24,pixel-aspect-ratio=2/1", TRUE },
  { "width=47,height=28,pixel-aspect-ratio=1/1", TRUE },
  { "width=80,height=24,pixel-aspect-ratio=1/1", FALSE },
  { "width=40,height=48,pixel-aspect-ratio=1/1", FALSE },
};

/* Another aspect ratio adds borders or distorts the picture. */
GST_START_TEST (test_shapes)
{
  for (guint borders = 0; borders < 2; borders++) {
    gchar *line = g_strdup_printf ("videoscale add-borders=%u ! capsfilter "
                                   "caps=video/x-raw,%s",
        borders, scaled[__i__].line);
    GstHarness *h = gst_harness_new_parse (line);
    GstBuffer *frame = frame_with_places ();

    gst_harness_set_src_caps_str (h,
        "video/x-raw,format=GRAY8,width=40,height=24,framerate=25/1,"
        "pixel-aspect-ratio=1/1");
    frame = gst_harness_push_and_pull (h, frame);
    fail_unless_equals_int (
        gst_cvis_buffer_get_motion_vector_meta (frame, -1) != NULL,
        scaled[__i__].keeps);
    fail_unless_equals_int (
        gst_cvis_buffer_get_pbf_meta (frame) != NULL, scaled[__i__].keeps);
    gst_buffer_unref (frame);
    gst_harness_teardown (h);
    g_free (line);
  }
}
GST_END_TEST;

GST_START_TEST (test_flips_while_playing)
{
  static const GstVideoOrientationMethod directions[] = {
    GST_VIDEO_ORIENTATION_IDENTITY, GST_VIDEO_ORIENTATION_180,
    GST_VIDEO_ORIENTATION_IDENTITY, GST_VIDEO_ORIENTATION_90R,
    GST_VIDEO_ORIENTATION_VERT, GST_VIDEO_ORIENTATION_IDENTITY
  };
  GstHarness *h = gst_harness_new ("videoflip");

  gst_harness_set_src_caps_str (
      h, "video/x-raw,format=GRAY8,width=40,height=24,framerate=25/1");
  for (guint i = 0; i < G_N_ELEMENTS (directions); i++) {
    g_object_set (h->element, "video-direction", directions[i], NULL);
    /* some versions copy a frame that they do not rotate, and drop metas too */
    for (guint k = 0; k < 2; k++)
      fail_if (keeps_places (h, "videoflip")
               && directions[i] != GST_VIDEO_ORIENTATION_IDENTITY);
  }
  /* GStreamer 1.22 ignores it if it is set at creation */
  g_object_set (h->element, "method", 2, NULL);
  fail_if (keeps_places (h, "videoflip method=rotate-180"));
  g_object_set (
      h->element, "video-direction", GST_VIDEO_ORIENTATION_AUTO, NULL);
  gst_harness_push_event (
      h, gst_event_new_tag (
             gst_tag_list_new (GST_TAG_IMAGE_ORIENTATION, "rotate-180", NULL)));
  fail_if (keeps_places (h, "videoflip video-direction=auto"));
  gst_harness_teardown (h);
}
GST_END_TEST;

/* The motion of rotated pictures is not computed. */
GST_START_TEST (test_other_transforms)
{
  GstBuffer *frame = frame_with_metas (1), *other = gst_buffer_new ();
  GstMeta *meta =
      (GstMeta *) gst_cvis_buffer_get_motion_vector_meta (frame, -1);

  fail_if (meta->info->transform_func (
      other, meta, frame, g_quark_from_static_string ("turned"), NULL));
  fail_unless (gst_cvis_buffer_get_motion_vector_meta (other, -1) == NULL);
  gst_buffer_unref (other);
  gst_buffer_unref (frame);
}
GST_END_TEST;

GST_START_TEST (test_tags)
{
  static const gchar *const tags[] = { GST_META_TAG_VIDEO_STR,
    GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR };

  for (guint i = 0; i < G_N_ELEMENTS (tags); i++)
    fail_unless (
        gst_meta_api_type_has_tag (GST_CVIS_MOTION_VECTOR_META_API_TYPE,
            g_quark_from_static_string (tags[i])));
}
GST_END_TEST;

static Suite *
motionmeta_suite (void)
{
  Suite *s = suite_create ("motionmeta");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_sound_packets);
  tcase_add_test (tc, test_bad_heads);
  tcase_add_test (tc, test_bad_fields);
  tcase_add_test (tc, test_constant_blocks);
  tcase_add_test (tc, test_metas);
  tcase_add_test (tc, test_bytes);
  tcase_add_test (tc, test_no_packet);
  tcase_add_test (tc, test_blocks);
  tcase_add_test (tc, test_copies);
  tcase_add_test (tc, test_scaling);
  tcase_add_loop_test (tc, test_pictures, 0, G_N_ELEMENTS (pictures));
  tcase_add_loop_test (tc, test_shapes, 0, G_N_ELEMENTS (scaled));
  tcase_add_test (tc, test_flips_while_playing);
  tcase_add_test (tc, test_other_transforms);
  tcase_add_test (tc, test_tags);
  return s;
}

GST_CHECK_MAIN (motionmeta);
