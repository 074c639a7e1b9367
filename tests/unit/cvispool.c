/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cvispool.h"

typedef struct {
  guint items, grain;
  gint *done;
} Loop;

static void
count_items (guint first, guint count, gpointer data)
{
  Loop *loop = data;

  g_assert_cmpuint (count, >, 0);
  g_assert_cmpuint (first + count, <=, loop->items);
  for (guint i = first; i < first + count; i++)
    g_atomic_int_inc (&loop->done[i]);
}

static void
run_once (CvisPool *pool, guint items, guint grain)
{
  Loop loop = { items, grain, g_new0 (gint, items + 1) };

  cvis_pool_run (pool, items, grain, count_items, &loop);
  for (guint i = 0; i < items; i++)
    g_assert_cmpint (loop.done[i], ==, 1);
  g_free (loop.done);
}

/* every item once, whatever the sizes */
static void
test_sizes (void)
{
  static const guint sizes[] = { 0, 1, 2, 3, 7, 31, 32, 33, 255, 1000, 10007 };
  static const guint grains[] = { 0, 1, 2, 5, 32, 1000, 20000 };

  for (guint threads = 0; threads <= 8; threads++) {
    CvisPool *pool = cvis_pool_new (threads);

    g_assert_cmpuint (cvis_pool_get_threads (pool), ==,
        threads ? threads : g_get_num_processors ());
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (guint k = 0; k < G_N_ELEMENTS (grains); k++)
        run_once (pool, sizes[i], grains[k]);
    cvis_pool_free (pool);
  }
}

/* short rounds in close succession: no thread is left in the last one */
static void
test_rounds (void)
{
  CvisPool *pool = cvis_pool_new (4);

  for (guint i = 0; i < 3000; i++)
    run_once (pool, 1 + i % 9, 1);
  cvis_pool_free (pool);
}

static void
test_unused (void)
{
  for (guint i = 0; i < 50; i++)
    cvis_pool_free (cvis_pool_new (1 + i % 8));
  cvis_pool_free (NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/pool/sizes", test_sizes);
  g_test_add_func ("/pool/rounds", test_rounds);
  g_test_add_func ("/pool/unused", test_unused);
  return g_test_run ();
}
