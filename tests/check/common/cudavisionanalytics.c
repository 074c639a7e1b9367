/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* cudavisionanalytics: objects, tracks and tensors of known records and
 * vectors. */
#include <gst/analytics/analytics.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/video.h>

#include "tests/check/motion/motionpackets.h"

#define CAPS                                                                   \
  "video/x-raw, format = GRAY8, width = 96, height = 96, framerate = 25/1"

static GstHarness *
start (void)
{
  GstHarness *h = gst_harness_new ("cudavisionanalytics");

  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static GstBuffer *
make_frame (guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 96 * 96, NULL);

  GST_BUFFER_PTS (buffer) = number * GST_SECOND;
  return buffer;
}

/* If @pool a melt pool of 12x8 pixels at (40, 44), and @n_spatters spatters
 * of 9 pixels around (70, 30) */
static GstBuffer *
make_result_frame (guint number, gboolean pool, guint n_spatters)
{
  CvisPbfResult result = { .magic = CVIS_PBF_RESULT_MAGIC,
    .size = sizeof (CvisPbfResult),
    .version = CVIS_PBF_RESULT_VERSION,
    .features = { 96, 9, 1 },
    .n_outputs = 2,
    .outputs = { 0.25f, 0.75f },
    .bbox_x = pool ? 40 : 0,
    .bbox_y = pool ? 44 : 0,
    .bbox_width = pool ? 12 : 0,
    .bbox_height = pool ? 8 : 0,
    .n_spatters = n_spatters };
  GstBuffer *buffer = make_frame (number), *records;
  GstMapInfo map;

  for (guint i = 0; i < n_spatters; i++)
    result.spatters[i] =
        (CvisPbfSpatter){ .x_q8 = 70 * 256, .y_q8 = 30 * 256, .area = 9 };
  records = gst_buffer_new_memdup (&result, sizeof result);
  gst_buffer_map (records, &map, GST_MAP_READ);
  gst_cvis_buffer_add_pbf_meta (
      buffer, records, (const CvisPbfResult *) map.data, 1000);
  gst_buffer_unmap (records, &map);
  gst_buffer_unref (records);
  return buffer;
}

static void
assert_object (GstAnalyticsRelationMeta *relations, guint id, const gchar *type,
    gint x, gint y, gint width, gint height)
{
  GstAnalyticsODMtd object;
  gint at_x, at_y, w, h;
  gfloat confidence;

  fail_unless (gst_analytics_relation_meta_get_od_mtd (relations, id, &object));
  assert_equals_string (
      g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&object)), type);
  gst_analytics_od_mtd_get_location (
      &object, &at_x, &at_y, &w, &h, &confidence);
  assert_equals_int (at_x, x);
  assert_equals_int (at_y, y);
  assert_equals_int (w, width);
  assert_equals_int (h, height);
}

static guint64
get_track (GstAnalyticsRelationMeta *relations, GstClockTime *since,
    GstClockTime *until)
{
  GstAnalyticsTrackingMtd track;
  guint64 id;
  gboolean lost;

  fail_unless (
      gst_analytics_relation_meta_get_tracking_mtd (relations, 1, &track));
  fail_unless (gst_analytics_relation_meta_get_relation (relations, 0, track.id)
               == GST_ANALYTICS_REL_TYPE_RELATE_TO);
  gst_analytics_tracking_mtd_get_info (&track, &id, since, until, &lost);
  fail_if (lost);
  return id;
}

GST_START_TEST (test_pool_and_spatters)
{
  GstHarness *h = start ();
  GstBuffer *out =
      gst_harness_push_and_pull (h, make_result_frame (0, TRUE, 2));
  GstAnalyticsRelationMeta *relations =
      gst_buffer_get_analytics_relation_meta (out);

  fail_unless (relations != NULL);
  assert_equals_int (gst_analytics_relation_get_length (relations), 4);
  assert_object (relations, 0, "melt-pool", 40, 44, 12, 8);
  /* 3x3 pixels around the centre cover 4x4 */
  assert_object (relations, 2, "spatter", 68, 28, 4, 4);
  assert_object (relations, 3, "spatter", 68, 28, 4, 4);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A track ends with the first frame without a melt pool. */
GST_START_TEST (test_track)
{
  static const gboolean pools[] = { TRUE, TRUE, FALSE, TRUE, TRUE };
  static const guint64 tracks[] = { 1, 1, 0, 2, 2 };
  static const guint firsts[] = { 0, 0, 0, 3, 3 };
  GstHarness *h = start ();

  for (guint i = 0; i < G_N_ELEMENTS (pools); i++) {
    GstBuffer *out =
        gst_harness_push_and_pull (h, make_result_frame (i, pools[i], 0));
    GstAnalyticsRelationMeta *relations =
        gst_buffer_get_analytics_relation_meta (out);
    GstClockTime since, until;

    fail_unless ((relations != NULL) == pools[i]);
    if (pools[i]) {
      assert_equals_uint64 (get_track (relations, &since, &until), tracks[i]);
      assert_equals_uint64 (since, firsts[i] * GST_SECOND);
      assert_equals_uint64 (until, i * GST_SECOND);
    }
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Objects follow a picture scaled to half its size. */
GST_START_TEST (test_scaled)
{
  GstHarness *h = start ();
  GstBuffer *in = make_result_frame (0, TRUE, 0), *out;
  GstCvisPbfMeta *meta = gst_cvis_buffer_get_pbf_meta (in);

  meta->scale_x = meta->scale_y = 0.5;
  out = gst_harness_push_and_pull (h, in);
  assert_object (gst_buffer_get_analytics_relation_meta (out), 0, "melt-pool",
      20, 22, 6, 4);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Regions of cudamotionest, but not of other elements; existing metas stay. */
GST_START_TEST (test_regions)
{
  GstHarness *h = start ();
  GstBuffer *in = make_frame (0), *out;
  GstAnalyticsRelationMeta *relations =
      gst_buffer_add_analytics_relation_meta (in);
  GstAnalyticsODMtd object;

  gst_analytics_relation_meta_add_od_mtd (relations,
      g_quark_from_static_string ("person"), 1, 2, 3, 4, 0.5f, &object);
  gst_buffer_add_video_region_of_interest_meta (in, "face", 1, 1, 2, 2);
  gst_buffer_add_video_region_of_interest_meta (in, "motion", 16, 32, 48, 64);
  out = gst_harness_push_and_pull (h, in);
  relations = gst_buffer_get_analytics_relation_meta (out);
  assert_equals_int (gst_analytics_relation_get_length (relations), 2);
  assert_object (relations, 0, "person", 1, 2, 3, 4);
  assert_object (relations, 1, "moving-region", 16, 32, 48, 64);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_off)
{
  GstHarness *h = start ();
  GstBuffer *out;

  g_object_set (h->element, "objects", FALSE, "tensors", FALSE, NULL);
  out = gst_harness_push_and_pull (h, make_result_frame (0, TRUE, 3));
  fail_if (gst_buffer_get_analytics_relation_meta (out) != NULL);
#if GST_CHECK_VERSION(1, 26, 0)
  fail_if (gst_buffer_get_tensor_meta (out) != NULL);
#endif
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 26, 0)
static const GstTensor *
find_tensor (GstBuffer *buffer, const gchar *id)
{
  GstTensorMeta *meta = gst_buffer_get_tensor_meta (buffer);
  gint index =
      gst_tensor_meta_get_index_from_id (meta, g_quark_from_static_string (id));

  fail_unless (index >= 0, "no tensor %s", id);
  return gst_tensor_meta_get (meta, (gsize) index);
}

static gfloat
get_value (const GstTensor *tensor, gsize i)
{
  gfloat value;

  fail_unless (tensor->data_type == GST_TENSOR_DATA_TYPE_FLOAT32);
  assert_equals_int (
      gst_buffer_extract (tensor->data, i * sizeof value, &value, sizeof value),
      sizeof value);
  return value;
}

GST_START_TEST (test_result_tensors)
{
  GstHarness *h = start ();
  GstBuffer *out =
      gst_harness_push_and_pull (h, make_result_frame (0, TRUE, 1));
  const GstTensor *features = find_tensor (out, "pbf40-v1");
  const GstTensor *outputs = find_tensor (out, "pbf-outputs");

  assert_equals_int (features->num_dims, 1);
  assert_equals_int (features->dims[0], 40);
  assert_equals_float (get_value (features, 0), 96);
  assert_equals_float (get_value (features, 1), 9);
  assert_equals_int (outputs->dims[0], 2);
  assert_equals_float (get_value (outputs, 1), 0.75);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* One tensor for each reference, in pixels */
GST_START_TEST (test_vector_tensors)
{
  GstHarness *h = start ();
  CvisMotionPacket *packet = motion_packet_new (96, 96, 32, 2);
  GstBuffer *in = make_frame (0), *held = motion_packet_buffer (packet), *out;
  const GstTensor *vectors;

  assert_equals_int (gst_cvis_buffer_add_motion_vector_metas (in, held), 2);
  gst_buffer_unref (held);
  g_free (packet);
  out = gst_harness_push_and_pull (h, in);
  assert_equals_int (gst_buffer_get_tensor_meta (out)->num_tensors, 2);
  vectors = find_tensor (out, "motion-vectors");
  assert_equals_int (vectors->num_dims, 3);
  assert_equals_int (vectors->dims[0], 3);
  assert_equals_int (vectors->dims[1], 3);
  assert_equals_int (vectors->dims[2], 2);
  /* block 5 of the first field: (20, -5) quarter pixels */
  assert_equals_float (get_value (vectors, 10), 5);
  assert_equals_float (get_value (vectors, 11), -1.25);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}
GST_END_TEST;
#endif

static Suite *
analytics_suite (void)
{
  Suite *suite = suite_create ("cudavisionanalytics");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_pool_and_spatters);
  tcase_add_test (tests, test_track);
  tcase_add_test (tests, test_scaled);
  tcase_add_test (tests, test_regions);
  tcase_add_test (tests, test_off);
#if GST_CHECK_VERSION(1, 26, 0)
  tcase_add_test (tests, test_result_tensors);
  tcase_add_test (tests, test_vector_tensors);
#endif
  return suite;
}

GST_CHECK_MAIN (analytics);
