/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cvisring.h"

#define ITEMS 20000

static void
test_order (void)
{
  CvisRing *ring = cvis_ring_new (3);

  g_assert_null (cvis_ring_try_pop (ring));
  for (guint round = 0; round < 10; round++) {
    for (guint i = 1; i <= 3; i++)
      g_assert_true (cvis_ring_push (ring, GUINT_TO_POINTER (round * 3 + i)));
    g_assert_cmpuint (cvis_ring_get_length (ring), ==, 3);
    for (guint i = 1; i <= 3; i++)
      g_assert_cmpuint (
          GPOINTER_TO_UINT (cvis_ring_pop (ring, -1)), ==, round * 3 + i);
  }
  cvis_ring_free (ring);
}

static void
test_end_time (void)
{
  CvisRing *ring = cvis_ring_new (1);
  gint64 start = g_get_monotonic_time ();

  g_assert_null (cvis_ring_pop (ring, start + 20000));
  g_assert_cmpint (g_get_monotonic_time () - start, >=, 20000);
  /* what is there is had even after the time */
  cvis_ring_push (ring, &start);
  g_assert_true (cvis_ring_pop (ring, start) == &start);
  cvis_ring_free (ring);
}

typedef struct {
  CvisRing *ring;
  guint first, last;
  gint64 sum;
} Side;

static gpointer
produce (gpointer data)
{
  Side *side = data;

  for (guint i = side->first; i <= side->last; i++)
    g_assert_true (cvis_ring_push (side->ring, GUINT_TO_POINTER (i)));
  return NULL;
}

static gpointer
consume (gpointer data)
{
  Side *side = data;

  for (guint i = side->first; i <= side->last; i++)
    side->sum += GPOINTER_TO_UINT (cvis_ring_pop (side->ring, -1));
  return NULL;
}

static void
test_threads (void)
{
  for (guint capacity = 1; capacity <= 16; capacity *= 4) {
    CvisRing *ring = cvis_ring_new (capacity);
    Side in[2], out[2];
    GThread *threads[4];

    for (guint i = 0; i < 2; i++) {
      in[i] = out[i] =
          (Side){ ring, i * ITEMS / 2 + 1, (i + 1) * ITEMS / 2, 0 };
      threads[2 * i] = g_thread_new ("in", produce, &in[i]);
      threads[2 * i + 1] = g_thread_new ("out", consume, &out[i]);
    }
    for (guint i = 0; i < 4; i++)
      g_thread_join (threads[i]);
    g_assert_cmpint (
        out[0].sum + out[1].sum, ==, (gint64) ITEMS * (ITEMS + 1) / 2);
    g_assert_cmpuint (cvis_ring_get_length (ring), ==, 0);
    cvis_ring_free (ring);
  }
}

static gpointer
push_one (gpointer ring)
{
  return GINT_TO_POINTER (cvis_ring_push (ring, ring));
}

static gpointer
pop_one (gpointer ring)
{
  return cvis_ring_pop (ring, -1);
}

static void
test_flushing (void)
{
  CvisRing *ring = cvis_ring_new (1);
  GThread *thread;

  thread = g_thread_new ("pop", pop_one, ring);
  g_usleep (10000);
  cvis_ring_set_flushing (ring, TRUE);
  g_assert_null (g_thread_join (thread));
  g_assert_false (cvis_ring_push (ring, ring));

  cvis_ring_set_flushing (ring, FALSE);
  g_assert_true (cvis_ring_push (ring, ring));
  thread = g_thread_new ("push", push_one, ring);
  g_usleep (10000);
  cvis_ring_set_flushing (ring, TRUE);
  g_assert_null (g_thread_join (thread));

  /* what was in it is still there for whoever cleans up */
  g_assert_null (cvis_ring_pop (ring, -1));
  g_assert_true (cvis_ring_try_pop (ring) == ring);
  cvis_ring_free (ring);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ring/order", test_order);
  g_test_add_func ("/ring/end-time", test_end_time);
  g_test_add_func ("/ring/threads", test_threads);
  g_test_add_func ("/ring/flushing", test_flushing);
  return g_test_run ();
}
