/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The shells of a ring: used again, and brought back to what they were whatever
 * was done to them. */
#include "gst/meltpool/gstpbfring.h"

#include <gst/check/gstcheck.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/gstvideometa.h>
#include <string.h>

#define LENGTH 8
#define SIZE 64

/* Frame @i: bytes of 1 + @i, and metas that tell as much. */
static GstBuffer *
make_frame (guint i)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, SIZE, NULL);
  PbfSignal signal = { .layer = 100 + i, .x_um = (gint) i };
  GstPbfTruthMeta *truth;

  gst_buffer_memset (buffer, 0, (guint8) (1 + i), SIZE);
  gst_buffer_add_video_meta (
      buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, SIZE / 8);
  gst_buffer_add_pbf_signal_meta (buffer, &signal);
  truth = gst_buffer_add_pbf_truth_meta (buffer);
  truth->pool_area = 10 + i;
  truth->n_spatters = 2;
  truth->spatter_x[1] = (gfloat) i;
  truth->spatter_area[0] = (guint16) i;
  return buffer;
}

static GstPbfRing *
make_ring (void)
{
  GstPbfRing *ring = gst_pbf_ring_new (LENGTH);

  for (guint i = 0; i < LENGTH; i++)
    gst_pbf_ring_add (ring, make_frame (i));
  fail_unless_equals_int (gst_pbf_ring_get_length (ring), LENGTH);
  return ring;
}

/* Shows frame @i, which has to be as if it were shown for the first time. */
static GstBuffer *
show (GstPbfRing *ring, guint i)
{
  PbfSignal *signal;
  GstBuffer *buffer = gst_pbf_ring_show (ring, i, &signal);
  GstPbfTruthMeta *truth = gst_buffer_get_pbf_truth_meta (buffer);
  guint8 bytes[SIZE];

  memset (bytes, (gint) (1 + i), SIZE);
  fail_unless (gst_buffer_is_writable (buffer));
  fail_unless_equals_int (gst_buffer_get_size (buffer), SIZE);
  fail_unless_equals_int (gst_buffer_memcmp (buffer, 0, bytes, SIZE), 0);
  fail_unless_equals_int (GST_BUFFER_FLAGS (buffer), 0);
  fail_if (GST_BUFFER_DTS_IS_VALID (buffer));
  fail_unless (gst_buffer_get_video_meta (buffer) != NULL);
  fail_unless (&gst_buffer_get_pbf_signal_meta (buffer)->signal == signal);
  fail_unless_equals_int (signal->layer, 100 + i);
  fail_unless_equals_int (signal->x_um, (gint) i);
  fail_unless_equals_int (truth->pool_area, 10 + i);
  fail_unless_equals_float (truth->spatter_x[1], i);
  fail_unless_equals_int (truth->spatter_area[0], i);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_PBF_META_API_TYPE), 0);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_PBF_SIGNAL_META_API_TYPE), 1);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_PBF_TRUTH_META_API_TYPE), 1);
  return buffer;
}

/* 100 rounds in lists that are dropped in order: the very same buffers. */
GST_START_TEST (test_recycled)
{
  GstPbfRing *ring = make_ring ();
  GstBuffer *first[LENGTH];

  for (guint round = 0; round < 100; round++) {
    GstBufferList *list = gst_buffer_list_new ();

    for (guint i = 0; i < LENGTH; i++) {
      GstBuffer *buffer = show (ring, i);

      if (round == 0)
        first[i] = buffer;
      fail_unless (buffer == first[i]);
      gst_buffer_list_add (list, buffer);
    }
    gst_buffer_list_unref (list);
  }
  fail_unless_equals_int (gst_pbf_ring_get_n_shells (ring), LENGTH);
  gst_pbf_ring_free (ring);
}
GST_END_TEST;

/* Some are held over rounds, in any order: never more shells than were in flight
 * at once. */
GST_START_TEST (test_held)
{
  GstPbfRing *ring = make_ring ();
  GstBuffer *held[5 * LENGTH] = { NULL };

  for (guint n = 0; n < 100 * LENGTH; n++) {
    guint at = n % G_N_ELEMENTS (held);

    gst_clear_buffer (&held[at]);
    held[at] = show (ring, n % LENGTH);
    if (n % 3 == 0)
      gst_clear_buffer (&held[(at * 7 + 3) % G_N_ELEMENTS (held)]);
  }
  fail_unless (gst_pbf_ring_get_n_shells (ring) <= G_N_ELEMENTS (held));
  for (guint i = 0; i < G_N_ELEMENTS (held); i++)
    gst_clear_buffer (&held[i]);
  gst_pbf_ring_free (ring);
}
GST_END_TEST;

static void
write_pixels (GstBuffer *buffer)
{
  gst_buffer_memset (buffer, 0, 0xff, -1);
}

static void
remove_memory (GstBuffer *buffer)
{
  gst_buffer_remove_all_memory (buffer);
}

static void
replace_memory (GstBuffer *buffer)
{
  gst_buffer_replace_all_memory (
      buffer, gst_allocator_alloc (NULL, 2 * SIZE, NULL));
}

static void
append_memory (GstBuffer *buffer)
{
  gst_buffer_append_memory (buffer, gst_allocator_alloc (NULL, 3, NULL));
}

static void
resize (GstBuffer *buffer)
{
  gst_buffer_resize (buffer, 3, 20);
}

static void
change_metas (GstBuffer *buffer)
{
  GstPbfTruthMeta *truth = gst_buffer_get_pbf_truth_meta (buffer);
  PbfSignal *signal = &gst_buffer_get_pbf_signal_meta (buffer)->signal;

  memset (signal, 0xff, sizeof *signal);
  memset (&truth->regime, 0xff,
      sizeof *truth - G_STRUCT_OFFSET (GstPbfTruthMeta, regime));
}

static void
change_spatter (GstBuffer *buffer)
{
  gst_buffer_get_pbf_truth_meta (buffer)->spatter_x[1] = -1;
  gst_buffer_get_pbf_truth_meta (buffer)->spatter_area[0] = 77;
}

static void
remove_metas (GstBuffer *buffer)
{
  gst_buffer_remove_meta (
      buffer, (GstMeta *) gst_buffer_get_pbf_signal_meta (buffer));
  gst_buffer_remove_meta (
      buffer, (GstMeta *) gst_buffer_get_pbf_truth_meta (buffer));
}

static void
replace_metas (GstBuffer *buffer)
{
  PbfSignal none = { 0 };

  remove_metas (buffer);
  gst_buffer_add_pbf_signal_meta (buffer, &none);
  gst_buffer_add_pbf_truth_meta (buffer);
}

static void
add_result (GstBuffer *buffer)
{
  GstBuffer *records = gst_buffer_new_allocate (NULL, sizeof (PbfResult), NULL);
  GstMapInfo map;

  gst_buffer_map (records, &map, GST_MAP_READ);
  gst_buffer_add_pbf_meta (buffer, records, (PbfResult *) map.data, 0);
  gst_buffer_unmap (records, &map);
  gst_buffer_unref (records);
}

static void
set_flags (GstBuffer *buffer)
{
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  GST_BUFFER_DTS (buffer) = 7;
}

/* Whatever downstream does to a shell, the next round does not see it, and gets
 * along with the same shell. */
GST_START_TEST (test_restored)
{
  static void (*const deeds[]) (GstBuffer *) = { write_pixels, remove_memory,
    replace_memory, append_memory, resize, change_metas, change_spatter,
    remove_metas, replace_metas, add_result, set_flags };
  GstPbfRing *ring = make_ring ();

  for (guint n = 0; n < 3 * LENGTH * G_N_ELEMENTS (deeds); n++) {
    GstBuffer *buffer = show (ring, n % LENGTH);

    deeds[n % G_N_ELEMENTS (deeds)](buffer);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (gst_pbf_ring_get_n_shells (ring), LENGTH);
  gst_pbf_ring_free (ring);
}
GST_END_TEST;

/* A copy is a buffer like any other. */
GST_START_TEST (test_copies)
{
  GstPbfRing *ring = make_ring ();
  GstBuffer *buffer = show (ring, 3), *copy = gst_buffer_copy (buffer);

  gst_buffer_unref (buffer);
  for (guint i = 0; i < LENGTH; i++)
    gst_buffer_unref (show (ring, i));
  gst_pbf_ring_free (ring);
  fail_unless_equals_int (
      gst_buffer_get_pbf_signal_meta (copy)->signal.layer, 103);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (copy), 1);
  gst_buffer_unref (copy);
}
GST_END_TEST;

/* Shells in flight outlive the ring, and may be written to. */
GST_START_TEST (test_outlive)
{
  GstPbfRing *ring = make_ring ();
  GstBuffer *held[2 * LENGTH];

  for (guint i = 0; i < 2 * LENGTH; i++)
    held[i] = show (ring, i % LENGTH);
  gst_clear_buffer (&held[2]);
  gst_pbf_ring_free (ring);
  for (guint i = 0; i < 2 * LENGTH; i++) {
    if (held[i] == NULL)
      continue;
    fail_unless_equals_int (
        gst_buffer_get_pbf_signal_meta (held[i])->signal.layer,
        100 + i % LENGTH);
    write_pixels (held[i]);
    gst_buffer_unref (held[i]);
  }
}
GST_END_TEST;

static gpointer
drop_all (gpointer data)
{
  GAsyncQueue *queue = data;
  GstBuffer *buffer;

  while ((buffer = g_async_queue_pop (queue)) != GST_BUFFER_CAST (data))
    gst_buffer_unref (buffer);
  return NULL;
}

/* Three threads drop what one shows, and the ring goes while they are at it. */
GST_START_TEST (test_threads)
{
  GThread *threads[3];

  for (guint turn = 0; turn < 20; turn++) {
    GAsyncQueue *queue = g_async_queue_new ();
    GstPbfRing *ring = make_ring ();

    for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
      threads[i] = g_thread_new ("drop", drop_all, queue);
    for (guint n = 0; n < 3000; n++) {
      PbfSignal *signal;
      GstBuffer *buffer = gst_pbf_ring_show (ring, n % LENGTH, &signal);

      /* fail_unless() alone is too slow to bring the threads together */
      if (!gst_buffer_is_writable (buffer) || signal->layer != 100 + n % LENGTH)
        fail ("frame %u is not what it was", n);
      while (g_async_queue_length (queue) > 3 * LENGTH)
        g_thread_yield ();
      g_async_queue_push (queue, buffer);
    }
    gst_pbf_ring_free (ring);
    for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
      g_async_queue_push (queue, queue); /* the end */
    for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
      g_thread_join (threads[i]);
    g_async_queue_unref (queue);
  }
}
GST_END_TEST;

static Suite *
pbfring_suite (void)
{
  Suite *s = suite_create ("pbfring");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_recycled);
  tcase_add_test (tc, test_held);
  tcase_add_test (tc, test_restored);
  tcase_add_test (tc, test_copies);
  tcase_add_test (tc, test_outlive);
  tcase_add_test (tc, test_threads);
  return s;
}

GST_CHECK_MAIN (pbfring);
