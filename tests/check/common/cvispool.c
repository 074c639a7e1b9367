/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The pool of pinned memory: consecutive buffers are adjacent in
 * memory, whatever the order of their release; a place is reused only after
 * its memory is freed. */
#include <gst/check/gstcheck.h>
#include <gst/video/video.h>
#include "gst/common/gstcvispool.h"

#define FRAMES 256

static GstBufferPool *
new_pool (const gchar *caps_text, guint size, guint min, guint max)
{
  GstBufferPool *pool = gst_cvis_pool_new (NULL);
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstCaps *caps = caps_text ? gst_caps_from_string (caps_text) : NULL;

  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  gst_clear_caps (&caps);
  return pool;
}

#define GRAY "video/x-raw,format=GRAY8,width=96,height=96,framerate=20000/1"

static GstBufferPool *
new_gray_pool (guint min, guint max)
{
  GstBufferPool *pool = new_pool (GRAY, 96 * 96, min, max);

  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  return pool;
}

static void
free_pool (GstBufferPool *pool)
{
  fail_unless (gst_buffer_pool_set_active (pool, FALSE));
  gst_object_unref (pool);
}

static GstBuffer *
acquire (GstBufferPool *pool)
{
  GstBuffer *buffer = NULL;

  fail_unless_equals_int (
      gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), GST_FLOW_OK);
  return buffer;
}

static guint8 *
address (GstBuffer *buffer)
{
  GstMapInfo map;
  guint8 *data;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  data = map.data;
  gst_buffer_unmap (buffer, &map); /* clears map since GStreamer 1.28 */
  return data;
}

/* Acquires a list of buffers. Returns: number of places that are not
 * contiguous */
static guint
count_breaks (GstBufferPool *pool, GstBuffer **buffers, guint n)
{
  guint breaks = 0;

  for (guint i = 0; i < n; i++) {
    buffers[i] = acquire (pool);
    if (i > 0
        && !gst_memory_is_span (gst_buffer_peek_memory (buffers[i - 1], 0),
            gst_buffer_peek_memory (buffers[i], 0), NULL))
      breaks++;
  }
  return breaks;
}

static void
release (GstBuffer **buffers, guint n)
{
  for (guint i = 0; i < n; i++)
    gst_clear_buffer (&buffers[i]);
}

GST_START_TEST (test_contiguous)
{
  GstBufferPool *pool = new_gray_pool (0, 0);
  GstBuffer *buffers[4 * FRAMES];
  gsize offset;

  for (guint round = 0; round < 3; round++) {
    for (guint i = 0; i < 4; i++)
      fail_unless_equals_int (
          count_breaks (pool, buffers + i * FRAMES, FRAMES), 0);
    fail_unless (gst_memory_is_span (gst_buffer_peek_memory (buffers[7], 0),
        gst_buffer_peek_memory (buffers[8], 0), &offset));
    fail_unless_equals_uint64 (offset, 7 * 96 * 96);
    fail_unless_equals_int (
        address (buffers[255]) - address (buffers[0]), 255 * 96 * 96);
    fail_unless (((gsize) address (buffers[0]) & 4095) == 0);
    release (buffers, 4 * FRAMES);
  }
  free_pool (pool);
}
GST_END_TEST;

/* one list of 1000 if the pool was configured for as many */
GST_START_TEST (test_contiguous_min)
{
  GstBufferPool *pool = new_gray_pool (1000, 0);
  GstBuffer *buffers[1000];

  fail_unless_equals_int (count_breaks (pool, buffers, 1000), 0);
  release (buffers, 1000);
  free_pool (pool);
}
GST_END_TEST;

GST_START_TEST (test_order_heals)
{
  GstBufferPool *pool = new_gray_pool (0, 0);
  GstBuffer *buffers[FRAMES], *swap;
  GRand *rand = g_rand_new_with_seed (1);

  count_breaks (pool, buffers, FRAMES);
  for (guint i = FRAMES - 1; i > 0; i--) {
    guint j = (guint) g_rand_int_range (rand, 0, (gint) i + 1);
    swap = buffers[i];
    buffers[i] = buffers[j];
    buffers[j] = swap;
  }
  release (buffers, FRAMES);
  fail_unless_equals_int (count_breaks (pool, buffers, FRAMES), 0);
  release (buffers, FRAMES);
  g_rand_free (rand);
  free_pool (pool);
}
GST_END_TEST;

GST_START_TEST (test_recycle)
{
  GstBufferPool *pool = new_gray_pool (0, 1);
  GstBufferPoolAcquireParams params = {
    .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
  };
  GstBuffer *buffer = acquire (pool), *none = NULL;
  guint8 *data = address (buffer);
  GstReferenceTimestampMeta *meta;
  GstCaps *reference = gst_caps_new_empty_simple ("timestamp/x-test");
  GstCaps *other = gst_caps_new_empty_simple ("timestamp/x-other");

  fail_unless_equals_int (
      gst_buffer_pool_acquire_buffer (pool, &none, &params), GST_FLOW_EOS);
  meta = gst_buffer_add_reference_timestamp_meta (buffer, reference, 1, 2);
  GST_META_FLAG_SET (meta, GST_META_FLAG_POOLED);
  gst_buffer_add_reference_timestamp_meta (buffer, other, 3, 4);
  gst_buffer_resize (buffer, 100, 17);
  GST_BUFFER_PTS (buffer) = 5;
  gst_buffer_unref (buffer);

  buffer = acquire (pool);
  fail_unless (address (buffer) == data);
  fail_unless_equals_uint64 (gst_buffer_get_size (buffer), 96 * 96);
  fail_unless (GST_BUFFER_PTS (buffer) == GST_CLOCK_TIME_NONE);
  fail_unless (gst_buffer_get_reference_timestamp_meta (buffer, reference));
  fail_if (gst_buffer_get_reference_timestamp_meta (buffer, other));
  fail_unless (gst_buffer_get_video_meta (buffer));
  gst_buffer_unref (buffer);
  gst_caps_unref (reference);
  gst_caps_unref (other);
  free_pool (pool);
}
GST_END_TEST;

/* A sub-memory outlives its buffer: nothing overwrites it. */
GST_START_TEST (test_shared_place)
{
  GstBufferPool *pool = new_gray_pool (0, 0);
  GstBuffer *buffer = acquire (pool), *buffers[3 * FRAMES];
  guint8 *data = address (buffer);
  GstMemory *share =
      gst_memory_share (gst_buffer_peek_memory (buffer, 0), 96, 96 * 4);
  gboolean again = FALSE;
  GstMapInfo map;

  fail_unless (share != NULL);
  fail_if (gst_buffer_is_all_memory_writable (buffer));
  gst_buffer_unref (buffer);
  for (guint i = 0; i < 2 * FRAMES; i++) {
    buffers[i] = acquire (pool);
    fail_if (address (buffers[i]) == data);
  }
  fail_if (gst_memory_map (share, &map, GST_MAP_WRITE));
  fail_unless (gst_memory_map (share, &map, GST_MAP_READ));
  fail_unless (map.data == data + 96 && map.size == 96 * 4);
  gst_memory_unmap (share, &map);
  release (buffers, 2 * FRAMES);

  /* and after it is freed the place is reused */
  gst_memory_unref (share);
  for (guint i = 0; i < 3 * FRAMES; i++) {
    buffers[i] = acquire (pool);
    again |= address (buffers[i]) == data;
  }
  fail_unless (again);
  release (buffers, 3 * FRAMES);
  free_pool (pool);
}
GST_END_TEST;

/* Buffers merged into one are copied, not aliased: their places are reused. */
GST_START_TEST (test_joined)
{
  GstBufferPool *pool = new_gray_pool (0, 0);
  GstBuffer *one = acquire (pool), *two = acquire (pool), *joined;
  guint8 *data = address (one);
  GstMapInfo map;

  gst_buffer_memset (one, 0, 11, -1);
  gst_buffer_memset (two, 0, 22, -1);
  joined = gst_buffer_append (one, two);
  fail_unless (gst_buffer_map (joined, &map, GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, 2 * 96 * 96);
  fail_unless (map.data != data);
  fail_unless (map.data[0] == 11 && map.data[2 * 96 * 96 - 1] == 22);
  gst_buffer_unmap (joined, &map);
  gst_buffer_unref (joined);
  free_pool (pool);
}
GST_END_TEST;

GST_START_TEST (test_outlives_pool)
{
  GstBufferPool *pool = new_gray_pool (0, 0);
  GstBuffer *buffer = acquire (pool);
  GstMemory *memory = gst_buffer_get_memory (buffer, 0);
  GstMapInfo map;

  gst_buffer_unref (buffer);
  free_pool (pool);
  fail_unless (gst_memory_map (memory, &map, GST_MAP_READWRITE));
  memset (map.data, 1, map.size);
  gst_memory_unmap (memory, &map);
  fail_if (gst_cvis_memory_is_pinned (memory, NULL));
  gst_memory_unref (memory);
}
GST_END_TEST;

GST_START_TEST (test_active_cycles)
{
  GstBufferPool *pool = new_pool (GRAY, 96 * 96, 3, 5);
  GstBuffer *buffer = NULL;

  fail_unless_equals_int (
      gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), GST_FLOW_FLUSHING);
  for (guint i = 0; i < 50; i++) {
    fail_unless (gst_buffer_pool_set_active (pool, TRUE));
    buffer = acquire (pool);
    /* the last buffer stops the pool in every second round */
    if (i & 1)
      gst_clear_buffer (&buffer);
    fail_unless (gst_buffer_pool_set_active (pool, FALSE));
    gst_clear_buffer (&buffer);
  }
  gst_object_unref (pool);
}
GST_END_TEST;

static gpointer
acquire_one (gpointer pool)
{
  GstBuffer *buffer = NULL;

  return GINT_TO_POINTER (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL));
}

GST_START_TEST (test_flushing_wakes)
{
  GstBufferPool *pool = new_gray_pool (0, 1);
  GstBuffer *buffer = acquire (pool);
  GThread *thread = g_thread_new ("waits", acquire_one, pool);

  g_usleep (20000);
  gst_buffer_pool_set_flushing (pool, TRUE);
  fail_unless_equals_int (
      GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_FLUSHING);
  gst_buffer_pool_set_flushing (pool, FALSE);
  gst_buffer_unref (buffer);
  buffer = acquire (pool);
  gst_buffer_unref (buffer);
  free_pool (pool);
}
GST_END_TEST;

GST_START_TEST (test_layouts)
{
  GstBufferPool *pool = gst_cvis_pool_new (NULL);
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw,format=GRAY8,width=101,height=99,framerate=1/1");
  GstAllocationParams params = { 0, 63, 5, 7 };
  GstVideoAlignment align;
  GstBuffer *one, *two;
  GstVideoMeta *meta;

  gst_video_alignment_reset (&align);
  align.padding_left = 8;
  align.padding_top = 2;
  gst_buffer_pool_config_set_params (config, caps, 1, 0, 0);
  gst_buffer_pool_config_set_allocator (config, NULL, &params);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option (
      config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  gst_buffer_pool_config_set_video_alignment (config, &align);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));

  one = acquire (pool);
  two = acquire (pool);
  meta = gst_buffer_get_video_meta (one);
  fail_unless_equals_int (meta->stride[0], 112);
  fail_unless_equals_uint64 (meta->offset[0], 2 * 112 + 8);
  fail_unless_equals_uint64 (gst_buffer_get_size (one), 112 * 101);
  fail_unless (((gsize) address (one) & 63) == 0);
  fail_unless (((gsize) address (two) & 63) == 0);
  fail_unless (address (two) - address (one) >= 112 * 101 + 64 + 7);
  gst_buffer_unref (one);
  gst_buffer_unref (two);
  gst_caps_unref (caps);
  free_pool (pool);

  /* no video: bytes */
  pool = new_pool (NULL, 898, 0, 0);
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  one = acquire (pool);
  fail_unless_equals_uint64 (gst_buffer_get_size (one), 900);
  gst_buffer_unref (one);
  free_pool (pool);
}
GST_END_TEST;

GST_START_TEST (test_bad_config)
{
  static const struct {
    const gchar *caps;
    guint size, min, max;
  } bad[] = { { NULL, 0, 0, 0 }, { NULL, G_MAXUINT, 0, 0 },
    { "video/x-raw,format=GRAY8", 100, 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstBufferPool *pool = gst_cvis_pool_new (NULL);
    GstStructure *config = gst_buffer_pool_get_config (pool);
    GstCaps *caps = bad[i].caps ? gst_caps_from_string (bad[i].caps) : NULL;

    gst_buffer_pool_config_set_params (
        config, caps, bad[i].size, bad[i].min, bad[i].max);
    fail_if (gst_buffer_pool_set_config (pool, config));
    gst_clear_caps (&caps);
    gst_object_unref (pool);
  }
}
GST_END_TEST;

#define THREADS 4

static gpointer
churn (gpointer pool)
{
  GRand *rand = g_rand_new_with_seed (GPOINTER_TO_UINT (g_thread_self ()));
  GstBuffer *buffers[32];

  for (guint round = 0; round < 400; round++) {
    guint n = (guint) g_rand_int_range (rand, 1, G_N_ELEMENTS (buffers) + 1);
    guint8 mark = (guint8) g_rand_int (rand);
    GstMemory *kept = NULL;

    for (guint i = 0; i < n; i++) {
      buffers[i] = acquire (pool);
      gst_buffer_memset (buffers[i], 0, mark, -1);
    }
    if (round % 7 == 0)
      kept = gst_memory_share (gst_buffer_peek_memory (buffers[0], 0), 0, -1);
    for (guint i = 0; i < n; i++)
      fail_unless (gst_buffer_memcmp (buffers[i], 50, &mark, 1) == 0);
    release (buffers, n);
    if (kept != NULL) {
      GstMapInfo map;
      fail_unless (gst_memory_map (kept, &map, GST_MAP_READ));
      fail_unless (map.data[0] == mark && map.data[map.size - 1] == mark);
      gst_memory_unmap (kept, &map);
      gst_memory_unref (kept);
    }
  }
  g_rand_free (rand);
  return NULL;
}

GST_START_TEST (test_stress)
{
  static const guint maximum[] = { 0, THREADS * 32, 300 };

  for (guint m = 0; m < G_N_ELEMENTS (maximum); m++) {
    GstBufferPool *pool = new_gray_pool (0, maximum[m]);
    GThread *threads[THREADS];

    for (guint i = 0; i < THREADS; i++)
      threads[i] = g_thread_new ("churn", churn, pool);
    for (guint i = 0; i < THREADS; i++)
      g_thread_join (threads[i]);
    free_pool (pool);
  }
}
GST_END_TEST;

static Suite *
cvispool_suite (void)
{
  Suite *suite = suite_create ("cvispool");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_contiguous);
  tcase_add_test (tc, test_contiguous_min);
  tcase_add_test (tc, test_order_heals);
  tcase_add_test (tc, test_recycle);
  tcase_add_test (tc, test_shared_place);
  tcase_add_test (tc, test_joined);
  tcase_add_test (tc, test_outlives_pool);
  tcase_add_test (tc, test_active_cycles);
  tcase_add_test (tc, test_flushing_wakes);
  tcase_add_test (tc, test_layouts);
  tcase_add_test (tc, test_bad_config);
  tcase_add_test (tc, test_stress);
  return suite;
}

GST_CHECK_MAIN (cvispool);
