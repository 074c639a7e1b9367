/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/threadpool.h"

#include <time.h>

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

/* runs every item once, for all sizes */
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

/* short loops in quick succession: no thread is still in the previous one */
static void
test_rounds (void)
{
  CvisPool *pool = cvis_pool_new (4);

  for (guint i = 0; i < 3000; i++)
    run_once (pool, 1 + i % 9, 1);
  cvis_pool_free (pool);
}

/* --- lanes ------------------------------------------------------------------ */

#define LANES 5

typedef struct _Chain Chain;

/* Loops of 1, 2, 3 ... items that start each other in one lane. */
typedef struct {
  Chain *chain;
  guint lane;
  gint loops, items; /* atomic: number completed */
} Link;

struct _Chain {
  CvisPool *pool;
  Link links[LANES];
  gint busy[5];    /* atomic: of each thread */
  gint unfinished; /* atomic: lanes */
  gint finished;
};

#define LOOPS 40

/* Each thread of the pool runs one chunk at a time. */
static void
check_thread (Chain *chain, guint thread)
{
  g_assert_cmpuint (thread, <, cvis_pool_get_threads (chain->pool));
  g_assert_true (
      g_atomic_int_compare_and_exchange (&chain->busy[thread], FALSE, TRUE));
  g_thread_yield ();
  g_atomic_int_set (&chain->busy[thread], FALSE);
}

static void
link_item (guint first, guint count, guint thread, gpointer data)
{
  Link *link = data;

  check_thread (link->chain, thread);
  g_atomic_int_add (&link->items, (gint) count);
}

static void
link_done (gpointer data)
{
  Link *link = data;
  Chain *chain = link->chain;
  gint loops = g_atomic_int_add (&link->loops, 1) + 1;

  g_assert_cmpint (
      g_atomic_int_get (&link->items), ==, loops * (loops + 1) / 2);
  if (loops < LOOPS) {
    cvis_pool_prefer (chain->pool, (guint) loops % LANES);
    cvis_pool_start (chain->pool, link->lane, (guint) loops + 1, 1, link_item,
        link_done, link);
  } else if (g_atomic_int_dec_and_test (&chain->unfinished)) {
    cvis_pool_finish (chain->pool, &chain->finished);
  }
}

/* Loops run in all lanes, in any order, and all end, including those of a
 * single chunk, which wait for the waiting thread. */
static void
test_lanes (void)
{
  for (guint round = 0; round < 40; round++) {
    Chain chain = { .pool = cvis_pool_new_with_lanes (1 + round % 5, LANES),
      .unfinished = LANES };

    for (guint i = 0; i < LANES; i++) {
      chain.links[i] = (Link){ &chain, i, 0, 0 };
      cvis_pool_start (
          chain.pool, i, 1, 1, link_item, link_done, &chain.links[i]);
    }
    cvis_pool_wait (chain.pool, &chain.finished);
    for (guint i = 0; i < LANES; i++)
      g_assert_cmpint (chain.links[i].loops, ==, LOOPS);
    cvis_pool_free (chain.pool);
  }
}

/* Work is done even if nobody waits for it. */
static void
test_nobody_waits (void)
{
  Chain chain = { .pool = cvis_pool_new (2), .unfinished = 1 };
  Link *link = &chain.links[0];

  *link = (Link){ &chain, 0, LOOPS - 2, LOOPS * (LOOPS - 1) / 2 - (LOOPS - 1) };
  cvis_pool_start (chain.pool, 0, LOOPS - 1, 1, link_item, link_done, link);
  while (!g_atomic_int_get (&chain.finished))
    g_usleep (100);
  g_assert_cmpint (link->loops, ==, LOOPS);
  cvis_pool_wait (chain.pool, &chain.finished);
  cvis_pool_free (chain.pool);
}

/* --- idle ------------------------------------------------------------------- */

static void
sleep_a_little (guint first, guint count, gpointer data)
{
  g_usleep (20000);
}

/* Neither an idle pool nor threads that wait for a slow one use processor
 * time. */
static void
test_idle (void)
{
  CvisPool *pool = cvis_pool_new (0);
  clock_t begin;

  run_once (pool, 1000, 1);
  begin = clock (); /* processor time of all threads */
  g_usleep (200000);
  for (guint i = 0; i < 5; i++)
    cvis_pool_run (pool, 2, 1, sleep_a_little, NULL);
  g_assert_cmpfloat ((gdouble) (clock () - begin) / CLOCKS_PER_SEC, <, 0.04);
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
  g_test_add_func ("/pool/lanes", test_lanes);
  g_test_add_func ("/pool/nobody-waits", test_nobody_waits);
  g_test_add_func ("/pool/idle", test_idle);
  g_test_add_func ("/pool/unused", test_unused);
  return g_test_run ();
}
