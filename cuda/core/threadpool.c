/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/threadpool.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/core/cancel.h"
#include "cuda/core/histogram.h"
#include "cuda/core/spin.h"

#define LINE 64 /* bytes of a cache line */

/* Time spent polling for work before sleeping: maximum, minimum after
 * unsuccessful polls, and polls between two readings of the clock. */
#define SPIN_MAX_NS 50000
#define SPIN_MIN_NS 2000
#define SPIN_LOOKS 32

/* One loop at a time. A thread that has taken a chunk may read the loop
 * until the chunk is done; before that only @left. */
typedef struct {
  gint left __attribute__ ((aligned (LINE)));   /* atomic: chunks nobody took;
                                               * -1: one for who waits */
  gint undone __attribute__ ((aligned (LINE))); /* atomic: chunks not done */
  guint items, grain, chunks;
  CvisPoolLaneFunc func;
  CvisPoolDone done;
  gpointer user_data;
} Lane;

typedef struct {
  CvisPool *pool;
  guint index;
  guint64 spin; /* polling time, ns */
  GThread *thread;
} Worker;

struct _CvisPool {
  guint n_threads, n_lanes;
  guint64 spin_max;
  const gint *cancel; /* (nullable): atomic: chunks are left out */
  Lane *lanes;
  Worker *workers; /* the first is the waiting thread */
  gint preferred;  /* atomic: a lane */
  gint quit;       /* atomic */

  gint asleep __attribute__ ((aligned (LINE))); /* atomic: threads */
  gint wait_asleep;                             /* atomic: the waiting thread */
  GMutex lock; /* closes the gap between last check and sleep */
  GCond work, finished;
};

/* --- chunks ----------------------------------------------------------------- */

static gboolean
can_take (gint left, gboolean waits)
{
  return left > 0 || (left < 0 && waits);
}

static Lane *
nth_lane (CvisPool *pool, guint nth, guint preferred)
{
  guint lane = nth;

  if (nth > 0 && preferred > 0) {
    lane = preferred + nth - 1;
    if (lane >= pool->n_lanes)
      lane -= pool->n_lanes - 1;
  }
  return &pool->lanes[lane];
}

static gboolean
has_work (CvisPool *pool, gboolean waits)
{
  for (guint i = 0; i < pool->n_lanes; i++)
    if (can_take (g_atomic_int_get (&pool->lanes[i].left), waits))
      return TRUE;
  return FALSE;
}

static gboolean
is_cancelled (CvisPool *pool)
{
  return pool->cancel && g_atomic_int_get (pool->cancel);
}

/* Takes a chunk of the lane, if any, and runs it. */
static gboolean
work_in_lane (CvisPool *pool, Lane *lane, guint thread)
{
  gint left;
  guint first;

  do {
    left = g_atomic_int_get (&lane->left);
    if (!can_take (left, thread == 0))
      return FALSE;
  } while (!g_atomic_int_compare_and_exchange (
      &lane->left, left, MAX (left, 1) - 1));

  first = (lane->chunks - (guint) ABS (left)) * lane->grain;
  if (!is_cancelled (pool))
    lane->func (
        first, MIN (lane->grain, lane->items - first), thread, lane->user_data);
  if (g_atomic_int_dec_and_test (&lane->undone))
    lane->done (lane->user_data);
  return TRUE;
}

static gboolean
work_once (CvisPool *pool, guint thread)
{
  guint preferred = (guint) g_atomic_int_get (&pool->preferred);

  for (guint i = 0; i < pool->n_lanes; i++)
    if (work_in_lane (pool, nth_lane (pool, i, preferred), thread))
      return TRUE;
  return FALSE;
}

/* --- waiting ---------------------------------------------------------------- */

/* Whether there is work for this thread. @flag: NULL except for the waiting
 * thread */
static gboolean
stirs (CvisPool *pool, gint *flag)
{
  return has_work (pool, flag != NULL)
         || g_atomic_int_get (flag != NULL ? flag : &pool->quit);
}

static gboolean
spin (CvisPool *pool, guint64 ns, gint *flag)
{
  guint64 begin;

  if (ns == 0)
    return FALSE;
  begin = cvis_monotonic_ns ();
  do {
    for (guint i = 0; i < SPIN_LOOKS; i++) {
      if (stirs (pool, flag))
        return TRUE;
      cvis_cpu_pause ();
    }
  } while (cvis_monotonic_ns () - begin < ns);
  return FALSE;
}

/* A sleeper counts itself before its last check, and a thread that starts a
 * loop checks for sleepers afterwards: one of the two sees the other. */
static void
sleep_until_it_stirs (CvisPool *pool, gint *flag)
{
  gint *asleep = flag != NULL ? &pool->wait_asleep : &pool->asleep;
  GCond *cond = flag != NULL ? &pool->finished : &pool->work;

  g_mutex_lock (&pool->lock);
  g_atomic_int_inc (asleep);
  while (!stirs (pool, flag))
    g_cond_wait (cond, &pool->lock);
  g_atomic_int_add (asleep, -1);
  g_mutex_unlock (&pool->lock);
}

/* A sleep so short that polling would have been better makes the thread poll
 * longer again. */
static void
wait_for_work (Worker *self, gint *flag)
{
  CvisPool *pool = self->pool;
  guint64 begin;

  if (spin (pool, self->spin, flag))
    return;
  begin = cvis_monotonic_ns ();
  sleep_until_it_stirs (pool, flag);
  if (pool->spin_max == 0)
    return;
  self->spin = cvis_monotonic_ns () - begin < pool->spin_max
                   ? pool->spin_max
                   : MAX (self->spin / 2, SPIN_MIN_NS);
}

static void
wake_who_waits (CvisPool *pool)
{
  if (!g_atomic_int_get (&pool->wait_asleep))
    return;
  g_mutex_lock (&pool->lock);
  g_cond_signal (&pool->finished);
  g_mutex_unlock (&pool->lock);
}

/* Wakes two sleepers, which wake others in turn: faster than one after the
 * other, and only as many as find work. */
static void
wake_workers (CvisPool *pool)
{
  if (g_atomic_int_get (&pool->asleep) == 0 || !has_work (pool, FALSE))
    return;
  g_mutex_lock (&pool->lock);
  g_cond_signal (&pool->work);
  g_cond_signal (&pool->work);
  g_mutex_unlock (&pool->lock);
}

static gpointer
worker (gpointer data)
{
  Worker *self = data;
  CvisPool *pool = self->pool;

  cvis_cancel_watch (pool->cancel);
  while (!g_atomic_int_get (&pool->quit)) {
    if (work_once (pool, self->index))
      continue;
    wait_for_work (self, NULL);
    wake_workers (pool);
  }
  return NULL;
}

/* --- API ----------------------------------------------------------------- */

static gpointer
alloc_lines (gsize size)
{
  void *memory = NULL;

  if (posix_memalign (&memory, LINE, size) != 0)
    g_error ("out of memory");
  return memset (memory, 0, size);
}

CvisPool *
cvis_pool_new (guint threads)
{
  return cvis_pool_new_with_lanes (threads, 1);
}

CvisPool *
cvis_pool_new_with_lanes (guint threads, guint lanes)
{
  CvisPool *pool = alloc_lines (sizeof *pool);

  pool->n_threads = threads ? threads : g_get_num_processors ();
  pool->n_lanes = lanes;
  pool->cancel = cvis_cancel_get_watched ();
  pool->lanes = alloc_lines (lanes * sizeof *pool->lanes);
  if (pool->n_threads <= g_get_num_processors ())
    pool->spin_max = SPIN_MAX_NS;
  g_mutex_init (&pool->lock);
  g_cond_init (&pool->work);
  g_cond_init (&pool->finished);
  pool->workers = g_new0 (Worker, pool->n_threads);
  for (guint i = 0; i < pool->n_threads; i++) {
    Worker *self = &pool->workers[i];

    *self = (Worker){ pool, i, pool->spin_max, NULL };
    if (i > 0)
      self->thread = g_thread_new ("cvis-pool", worker, self);
  }
  return pool;
}

void
cvis_pool_free (CvisPool *pool)
{
  if (pool == NULL)
    return;
  g_mutex_lock (&pool->lock);
  g_atomic_int_set (&pool->quit, TRUE);
  g_cond_broadcast (&pool->work);
  g_mutex_unlock (&pool->lock);
  for (guint i = 1; i < pool->n_threads; i++)
    g_thread_join (pool->workers[i].thread);
  g_free (pool->workers);
  g_mutex_clear (&pool->lock);
  g_cond_clear (&pool->work);
  g_cond_clear (&pool->finished);
  free (pool->lanes);
  free (pool);
}

guint
cvis_pool_get_threads (CvisPool *pool)
{
  return pool->n_threads;
}

void
cvis_pool_prefer (CvisPool *pool, guint lane)
{
  g_atomic_int_set (&pool->preferred, (gint) lane);
}

void
cvis_pool_start (CvisPool *pool, guint lane, guint items, guint grain,
    CvisPoolLaneFunc func, CvisPoolDone done, gpointer user_data)
{
  Lane *to = &pool->lanes[lane];

  to->items = items;
  to->grain = grain;
  to->chunks = (items + grain - 1) / grain;
  to->func = func;
  to->done = done;
  to->user_data = user_data;
  g_atomic_int_set (&to->undone, (gint) to->chunks);
  g_atomic_int_set (&to->left, to->chunks == 1 ? -1 : (gint) to->chunks);
  wake_workers (pool);
  wake_who_waits (pool);
}

void
cvis_pool_finish (CvisPool *pool, gint *flag)
{
  g_atomic_int_set (flag, TRUE);
  wake_who_waits (pool);
}

void
cvis_pool_wait (CvisPool *pool, gint *flag)
{
  while (!g_atomic_int_get (flag))
    if (!work_once (pool, 0))
      wait_for_work (&pool->workers[0], flag);
}

typedef struct {
  CvisPool *pool;
  CvisPoolFunc func;
  gpointer user_data;
  gint done;
} Run;

static void
run_chunk (guint first, guint count, guint thread, gpointer data)
{
  Run *run = data;

  run->func (first, count, run->user_data);
}

static void
run_done (gpointer data)
{
  Run *run = data;

  cvis_pool_finish (run->pool, &run->done);
}

void
cvis_pool_run (CvisPool *pool, guint items, guint grain, CvisPoolFunc func,
    gpointer user_data)
{
  Run run = { pool, func, user_data, FALSE };

  if (items == 0)
    return;
  grain = MAX (grain, 1);
  if (pool->n_threads == 1 || items <= grain) {
    const guint step = pool->cancel ? grain : items;

    for (guint i = 0; i < items && !is_cancelled (pool); i += step)
      func (i, MIN (step, items - i), user_data);
    return;
  }
  cvis_pool_start (pool, 0, items, grain, run_chunk, run_done, &run);
  cvis_pool_wait (pool, &run.done);
}
