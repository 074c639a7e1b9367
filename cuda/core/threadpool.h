/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Threads that share the iterations of loops: of one loop that the caller
 * waits for, or of several loops started in lanes.
 *
 * A thread without work polls for up to 50 us before it sleeps, because
 * waking takes about as long. It polls less after unsuccessful polls, and
 * not at all if there are more threads than processors. An idle pool uses no
 * processor time.
 *
 * Once the flag that the creating thread watches (cuda/core/cancel.h) is set, a
 * pool skips the items that have not begun. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _CvisPool CvisPool;

/* Runs the items first..first+count-1; called from several threads at once. */
typedef void (*CvisPoolFunc) (guint first, guint count, gpointer user_data);
/* The same. @thread: 0..threads-1, different in each thread */
typedef void (*CvisPoolLaneFunc) (
    guint first, guint count, guint thread, gpointer user_data);

/* Called once after the last item of a loop, in the thread that ran it. It
 * may start loops, in the same lane too. */
typedef void (*CvisPoolDone) (gpointer user_data);

/* @threads: number of working threads, including the waiting one, >= 1; 0:
 *   one per processor. The pool has a single lane. */
CvisPool *cvis_pool_new (guint threads);
/* @lanes: loops that may run at once, >= 1. */
CvisPool *cvis_pool_new_with_lanes (guint threads, guint lanes);
/* No loop may be running. */
void cvis_pool_free (CvisPool *pool);
guint cvis_pool_get_threads (CvisPool *pool);

/* Runs @func on 0..@items-1 in chunks of @grain, in the calling thread and
 * the pool's threads, and returns when all items are done. One caller at a
 * time, and no other loop in lane 0. */
void cvis_pool_run (CvisPool *pool, guint items, guint grain, CvisPoolFunc func,
    gpointer user_data);

/* Starts such a loop in @lane, which is free, and returns. @items >= 1. A
 * loop with a single chunk is left to the waiting thread: waking another one
 * would take longer. Any thread may start loops in lanes of its own. */
void cvis_pool_start (CvisPool *pool, guint lane, guint items, guint grain,
    CvisPoolLaneFunc func, CvisPoolDone done, gpointer user_data);

/* Order in which threads look for work: lane 0, then @lane and those after
 * it, then those before it. */
void cvis_pool_prefer (CvisPool *pool, guint lane);

/* Works on loops until cvis_pool_finish() has been called with @flag. One
 * thread at a time. */
void cvis_pool_wait (CvisPool *pool, gint *flag);
/* Sets the atomic @flag and does not access it afterwards. */
void cvis_pool_finish (CvisPool *pool, gint *flag);

G_END_DECLS
