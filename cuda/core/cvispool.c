/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cvispool.h"

struct _CvisPool {
  guint n_threads;
  GThread **threads; /* n_threads - 1: the caller works too */

  GMutex lock;
  GCond work, done;
  guint64 round; /* guarded by lock; one more for each run */
  guint running; /* threads that have not finished the round */
  gboolean quit;

  guint items, grain;
  CvisPoolFunc func;
  gpointer user_data;
  gint next; /* atomic: the first item nobody took */
};

static void
work_off (CvisPool *pool)
{
  for (;;) {
    guint first = (guint) g_atomic_int_add (&pool->next, (gint) pool->grain);
    if (first >= pool->items)
      return;
    pool->func (first, MIN (pool->grain, pool->items - first), pool->user_data);
  }
}

static gpointer
worker (gpointer data)
{
  CvisPool *pool = data;
  guint64 seen = 0;

  g_mutex_lock (&pool->lock);
  for (;;) {
    while (pool->round == seen && !pool->quit)
      g_cond_wait (&pool->work, &pool->lock);
    if (pool->quit)
      break;
    seen = pool->round;
    g_mutex_unlock (&pool->lock);
    work_off (pool);
    g_mutex_lock (&pool->lock);
    if (--pool->running == 0)
      g_cond_signal (&pool->done);
  }
  g_mutex_unlock (&pool->lock);
  return NULL;
}

CvisPool *
cvis_pool_new (guint threads)
{
  CvisPool *pool = g_new0 (CvisPool, 1);

  pool->n_threads = threads ? threads : g_get_num_processors ();
  g_mutex_init (&pool->lock);
  g_cond_init (&pool->work);
  g_cond_init (&pool->done);
  pool->threads = g_new0 (GThread *, pool->n_threads);
  for (guint i = 0; i + 1 < pool->n_threads; i++)
    pool->threads[i] = g_thread_new ("cvis-pool", worker, pool);
  return pool;
}

void
cvis_pool_free (CvisPool *pool)
{
  if (pool == NULL)
    return;
  g_mutex_lock (&pool->lock);
  pool->quit = TRUE;
  g_cond_broadcast (&pool->work);
  g_mutex_unlock (&pool->lock);
  for (guint i = 0; i + 1 < pool->n_threads; i++)
    g_thread_join (pool->threads[i]);
  g_free (pool->threads);
  g_mutex_clear (&pool->lock);
  g_cond_clear (&pool->work);
  g_cond_clear (&pool->done);
  g_free (pool);
}

guint
cvis_pool_get_threads (CvisPool *pool)
{
  return pool->n_threads;
}

void
cvis_pool_run (CvisPool *pool, guint items, guint grain, CvisPoolFunc func,
    gpointer user_data)
{
  if (items == 0)
    return;
  grain = MAX (grain, 1);
  if (pool->n_threads == 1 || items <= grain) {
    func (0, items, user_data);
    return;
  }
  g_mutex_lock (&pool->lock);
  pool->items = items;
  pool->grain = grain;
  pool->func = func;
  pool->user_data = user_data;
  g_atomic_int_set (&pool->next, 0);
  pool->running = pool->n_threads - 1;
  pool->round++;
  g_cond_broadcast (&pool->work);
  g_mutex_unlock (&pool->lock);

  work_off (pool);

  g_mutex_lock (&pool->lock);
  while (pool->running > 0)
    g_cond_wait (&pool->done, &pool->lock);
  g_mutex_unlock (&pool->lock);
}
