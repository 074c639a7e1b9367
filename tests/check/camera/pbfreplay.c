/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The lists of a replay: they are reused, and restored after any change. */
#include "gst/camera/gstpbfreplay.h"

#include <gst/check/gstcheck.h>
#include <gst/cudavision/cudavision.h>
#include <gst/video/gstvideometa.h>
#include <string.h>

#define LENGTH 8
#define SIZE 64

/* Frame @i: bytes of 1 + @i, and metas with the same information. */
static GstBuffer *
make_frame (guint i)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, SIZE, NULL);
  CvisPbfSignal signal = { .layer = 100 + i, .x_um = (gint) i };
  GstCvisPbfTruthMeta *truth;

  gst_buffer_memset (buffer, 0, (guint8) (1 + i), SIZE);
  gst_buffer_add_video_meta (
      buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, SIZE / 8);
  gst_cvis_buffer_add_pbf_signal_meta (buffer, &signal);
  truth = gst_cvis_buffer_add_pbf_truth_meta (buffer);
  truth->pool_area = 10 + i;
  truth->n_spatters = 2;
  truth->spatter_x[1] = (gfloat) i;
  truth->spatter_area[0] = (guint16) i;
  return buffer;
}

static GstPbfReplay *
make_replay (void)
{
  GstPbfReplay *replay = gst_pbf_replay_new (LENGTH);

  for (guint i = 0; i < LENGTH; i++)
    gst_pbf_replay_add (replay, make_frame (i));
  fail_unless_equals_int (gst_pbf_replay_get_length (replay), LENGTH);
  return replay;
}

/* Checks that @buffer, frame @i, is as if sent for the first time. */
static void
check_buffer (GstBuffer *buffer, guint i, const CvisPbfSignal *signal)
{
  GstCvisPbfTruthMeta *truth = gst_cvis_buffer_get_pbf_truth_meta (buffer);
  guint8 bytes[SIZE];

  memset (bytes, (gint) (1 + i), SIZE);
  fail_unless_equals_int (gst_buffer_get_size (buffer), SIZE);
  fail_unless_equals_int (gst_buffer_memcmp (buffer, 0, bytes, SIZE), 0);
  fail_unless_equals_int (GST_BUFFER_FLAGS (buffer), 0);
  fail_if (GST_BUFFER_DTS_IS_VALID (buffer));
  fail_unless (gst_buffer_get_video_meta (buffer) != NULL);
  fail_unless (&gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal == signal);
  fail_unless_equals_int (signal->layer, 100 + i);
  fail_unless_equals_int (signal->x_um, (gint) i);
  fail_unless_equals_int (truth->pool_area, 10 + i);
  fail_unless_equals_float (truth->spatter_x[1], i);
  fail_unless_equals_int (truth->spatter_area[0], i);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_CVIS_PBF_META_API_TYPE), 0);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_CVIS_PBF_SIGNAL_META_API_TYPE), 1);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_CVIS_PBF_TRUTH_META_API_TYPE), 1);
}

/* A list of the frames @first to @first + @n - 1. */
static GstBufferList *
send_list (GstPbfReplay *replay, guint first, guint n)
{
  GstBufferList *list;

  gst_pbf_replay_open_list (replay, first, n);
  for (guint i = 0; i < n; i++) {
    CvisPbfSignal *signal;
    GstBuffer *buffer = gst_pbf_replay_next (replay, &signal);

    check_buffer (buffer, first + i, signal);
  }
  list = gst_pbf_replay_close_list (replay);
  fail_unless_equals_int (gst_buffer_list_length (list), n);
  fail_unless (gst_buffer_list_is_writable (list));
  for (guint i = 0; i < n; i++)
    fail_unless (gst_buffer_is_writable (gst_buffer_list_get (list, i)));
  return list;
}

static GstBuffer *
send_buffer (GstPbfReplay *replay, guint i)
{
  CvisPbfSignal *signal;
  GstBuffer *buffer = gst_pbf_replay_new_buffer (replay, i, &signal);

  check_buffer (buffer, i, signal);
  fail_unless (gst_buffer_is_writable (buffer));
  return buffer;
}

/* 100 rounds of lists that are dropped in order reuse the same lists and
 * buffers. */
GST_START_TEST (test_recycled)
{
  GstPbfReplay *replay = make_replay ();
  GstBufferList *first_list[2];
  GstBuffer *first[LENGTH];

  for (guint round = 0; round < 100; round++)
    for (guint half = 0; half < 2; half++) {
      GstBufferList *list = send_list (replay, half * LENGTH / 2, LENGTH / 2);

      if (round == 0)
        first_list[half] = list;
      fail_unless (list == first_list[half]);
      for (guint i = 0; i < LENGTH / 2; i++) {
        GstBuffer *buffer = gst_buffer_list_get (list, i);

        if (round == 0)
          first[half * LENGTH / 2 + i] = buffer;
        fail_unless (buffer == first[half * LENGTH / 2 + i]);
      }
      gst_buffer_list_unref (list);
    }
  gst_pbf_replay_free (replay);
}
GST_END_TEST;

static gint n_alive; /* atomic */

static void
note_freed (gpointer unused, GstMiniObject *list)
{
  g_atomic_int_dec_and_test (&n_alive);
}

/* Some lists are held over several rounds and dropped in any order: there
 * are never more lists than in use at once. */
GST_START_TEST (test_held)
{
  GstPbfReplay *replay = make_replay ();
  GstBufferList *held[5] = { NULL };
  GHashTable *lists = g_hash_table_new (NULL, NULL);

  for (guint n = 0; n < 500; n++) {
    guint at = n % G_N_ELEMENTS (held);

    gst_clear_buffer_list (&held[at]);
    held[at] = send_list (replay, 0, LENGTH);
    if (g_hash_table_add (lists, held[at])) {
      g_atomic_int_inc (&n_alive);
      gst_mini_object_weak_ref (
          GST_MINI_OBJECT_CAST (held[at]), note_freed, NULL);
    }
    if (n % 3 == 0)
      gst_clear_buffer_list (&held[(at * 7 + 3) % G_N_ELEMENTS (held)]);
  }
  fail_unless (g_hash_table_size (lists) <= G_N_ELEMENTS (held));
  fail_unless_equals_int (
      g_atomic_int_get (&n_alive), g_hash_table_size (lists));
  gst_pbf_replay_free (replay);
  for (guint i = 0; i < G_N_ELEMENTS (held); i++)
    gst_clear_buffer_list (&held[i]);
  fail_unless_equals_int (g_atomic_int_get (&n_alive), 0);
  g_hash_table_unref (lists);
}
GST_END_TEST;

/* The end of a stream makes short lists, and a flush leaves an incomplete
 * one. */
GST_START_TEST (test_short)
{
  GstPbfReplay *replay = make_replay ();

  for (guint n = 1; n <= LENGTH; n++) {
    CvisPbfSignal *signal;

    gst_buffer_list_unref (send_list (replay, 0, n));
    gst_buffer_list_unref (send_list (replay, 0, LENGTH));
    gst_pbf_replay_open_list (replay, 0, LENGTH);
    for (guint i = 0; i < n - 1; i++)
      gst_pbf_replay_next (replay, &signal);
    gst_buffer_list_unref (gst_pbf_replay_close_list (replay));
  }
  gst_pbf_replay_free (replay);
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
  GstCvisPbfTruthMeta *truth = gst_cvis_buffer_get_pbf_truth_meta (buffer);
  CvisPbfSignal *signal = &gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal;

  memset (signal, 0xff, sizeof *signal);
  memset (&truth->regime, 0xff,
      sizeof *truth - G_STRUCT_OFFSET (GstCvisPbfTruthMeta, regime));
}

static void
change_spatter (GstBuffer *buffer)
{
  gst_cvis_buffer_get_pbf_truth_meta (buffer)->spatter_x[1] = -1;
  gst_cvis_buffer_get_pbf_truth_meta (buffer)->spatter_area[0] = 77;
}

static void
remove_metas (GstBuffer *buffer)
{
  gst_buffer_remove_meta (
      buffer, (GstMeta *) gst_cvis_buffer_get_pbf_signal_meta (buffer));
  gst_buffer_remove_meta (
      buffer, (GstMeta *) gst_cvis_buffer_get_pbf_truth_meta (buffer));
}

static void
replace_metas (GstBuffer *buffer)
{
  CvisPbfSignal none = { 0 };

  remove_metas (buffer);
  gst_cvis_buffer_add_pbf_signal_meta (buffer, &none);
  gst_cvis_buffer_add_pbf_truth_meta (buffer);
}

static void
add_result (GstBuffer *buffer)
{
  GstBuffer *records =
      gst_buffer_new_allocate (NULL, sizeof (CvisPbfResult), NULL);
  GstMapInfo map;

  gst_buffer_map (records, &map, GST_MAP_READ);
  gst_cvis_buffer_add_pbf_meta (buffer, records, (CvisPbfResult *) map.data, 0);
  gst_buffer_unmap (records, &map);
  gst_buffer_unref (records);
}

static void
set_flags (GstBuffer *buffer)
{
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  GST_BUFFER_DTS (buffer) = 7;
}

/* Changes of a buffer by downstream do not show in the next round. */
GST_START_TEST (test_restored)
{
  static void (*const deeds[]) (GstBuffer *) = { write_pixels, remove_memory,
    replace_memory, append_memory, resize, change_metas, change_spatter,
    remove_metas, replace_metas, add_result, set_flags };
  GstPbfReplay *replay = make_replay ();

  for (guint n = 0; n < 3 * G_N_ELEMENTS (deeds); n++) {
    GstBufferList *list = send_list (replay, 0, LENGTH);

    for (guint i = n % 2; i < LENGTH; i += 1 + n % 3)
      deeds[(n + i) % G_N_ELEMENTS (deeds)](
          gst_buffer_list_get_writable (list, i));
    gst_buffer_list_unref (list);
  }
  gst_pbf_replay_free (replay);
}
GST_END_TEST;

/* Nor do changes of a list. */
GST_START_TEST (test_restored_list)
{
  GstPbfReplay *replay = make_replay ();

  for (guint n = 0; n < 20; n++) {
    GstBufferList *list = send_list (replay, 0, LENGTH);

    if (n % 4 == 0)
      gst_buffer_list_remove (list, n % LENGTH, 1);
    else if (n % 4 == 1)
      gst_buffer_list_insert (list, n % LENGTH, gst_buffer_new ());
    else if (n % 4 == 2)
      gst_buffer_list_remove (list, 0, LENGTH);
    gst_buffer_list_unref (list);
  }
  gst_pbf_replay_free (replay);
}
GST_END_TEST;

/* A buffer held longer than its list stays unchanged; the list is reused
 * after the buffer is released. */
GST_START_TEST (test_held_buffer)
{
  GstPbfReplay *replay = make_replay ();
  GstBufferList *first = send_list (replay, 0, LENGTH), *second;
  GstBuffer *held = gst_buffer_ref (gst_buffer_list_get (first, 3));
  GstBuffer *copy = gst_buffer_copy (gst_buffer_list_get (first, 4));

  GST_BUFFER_PTS (held) = 7;
  gst_buffer_list_unref (first);
  second = send_list (replay, 0, LENGTH);
  fail_unless (second != first);
  gst_buffer_list_unref (second);
  check_buffer (held, 3, &gst_cvis_buffer_get_pbf_signal_meta (held)->signal);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (held), 7);
  gst_buffer_unref (held);
  for (guint i = 0; i < 2; i++) {
    GstBufferList *list = send_list (replay, 0, LENGTH);

    fail_unless (list == first || list == second);
    gst_buffer_list_unref (list);
  }
  gst_pbf_replay_free (replay);
  check_buffer (copy, 4, &gst_cvis_buffer_get_pbf_signal_meta (copy)->signal);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (copy), 1);
  gst_buffer_unref (copy);
}
GST_END_TEST;

/* Buffers taken out of a list are writable for their owner. */
GST_START_TEST (test_taken_apart)
{
  GstPbfReplay *replay = make_replay ();

  for (guint n = 0; n < 20; n++) {
    GstBufferList *list = send_list (replay, 0, LENGTH);
    GstBuffer *buffers[LENGTH];

    for (guint i = 0; i < LENGTH; i++)
      buffers[i] = gst_buffer_ref (gst_buffer_list_get (list, i));
    gst_buffer_list_unref (list);
    for (guint i = 0; i < LENGTH; i++) {
      fail_unless (gst_buffer_is_writable (buffers[i]));
      gst_buffer_unref (buffers[i]);
    }
  }
  gst_pbf_replay_free (replay);
}
GST_END_TEST;

/* Lists and buffers in use outlive the replay and are writable. */
GST_START_TEST (test_outlive)
{
  GstPbfReplay *replay = make_replay ();
  GstBufferList *held[3] = { NULL };
  GstBuffer *single = send_buffer (replay, 5);

  for (guint i = 0; i < G_N_ELEMENTS (held); i++)
    held[i] = send_list (replay, 0, LENGTH);
  gst_clear_buffer_list (&held[1]);
  gst_pbf_replay_free (replay);
  for (guint i = 0; i < G_N_ELEMENTS (held); i++) {
    if (held[i] == NULL)
      continue;
    for (guint k = 0; k < LENGTH; k++) {
      GstBuffer *buffer = gst_buffer_list_get_writable (held[i], k);

      check_buffer (
          buffer, k, &gst_cvis_buffer_get_pbf_signal_meta (buffer)->signal);
      write_pixels (buffer);
    }
    gst_buffer_list_unref (held[i]);
  }
  check_buffer (
      single, 5, &gst_cvis_buffer_get_pbf_signal_meta (single)->signal);
  gst_buffer_unref (single);
}
GST_END_TEST;

static gpointer
drop_all (gpointer data)
{
  GAsyncQueue *queue = data;
  gpointer list;

  while ((list = g_async_queue_pop (queue)) != data)
    gst_buffer_list_unref (list);
  return NULL;
}

/* Three threads drop what one sends, and the replay is freed meanwhile. */
GST_START_TEST (test_threads)
{
  GThread *threads[3];

  for (guint turn = 0; turn < 20; turn++) {
    GAsyncQueue *queue = g_async_queue_new ();
    GstPbfReplay *replay = make_replay ();

    for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
      threads[i] = g_thread_new ("drop", drop_all, queue);
    for (guint n = 0; n < 1000; n++) {
      CvisPbfSignal *signal;

      gst_pbf_replay_open_list (replay, n % LENGTH, 1);
      /* fail_unless() alone is too slow to make the threads race */
      if (gst_pbf_replay_next (replay, &signal) == NULL
          || signal->layer != 100 + n % LENGTH)
        fail ("frame %u is not what it was", n);
      while (g_async_queue_length (queue) > 3 * LENGTH)
        g_thread_yield ();
      g_async_queue_push (queue, gst_pbf_replay_close_list (replay));
    }
    gst_pbf_replay_free (replay);
    for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
      g_async_queue_push (queue, queue); /* the end */
    for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
      g_thread_join (threads[i]);
    g_async_queue_unref (queue);
  }
}
GST_END_TEST;

static Suite *
pbfreplay_suite (void)
{
  Suite *s = suite_create ("pbfreplay");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_recycled);
  tcase_add_test (tc, test_held);
  tcase_add_test (tc, test_short);
  tcase_add_test (tc, test_restored);
  tcase_add_test (tc, test_restored_list);
  tcase_add_test (tc, test_held_buffer);
  tcase_add_test (tc, test_taken_apart);
  tcase_add_test (tc, test_outlive);
  tcase_add_test (tc, test_threads);
  return s;
}

GST_CHECK_MAIN (pbfreplay);
