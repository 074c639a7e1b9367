/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Threads that share the iterations of loops: of one that its caller waits for,
 * or of several that were started in lanes and follow one another.
 *
 * A thread that runs out of work looks for more for up to 50 us before it
 * sleeps, as waking it takes about as long; less and less if that was in vain,
 * and not at all if there are more threads than processors. An idle pool costs
 * nothing. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _CvisPool CvisPool;

/* Does the items first..first+count-1; called from several threads at once. */
typedef void (*CvisPoolFunc) (guint first, guint count, gpointer user_data);
/* The same. @thread: 0..threads-1, another one in each of them */
typedef void (*CvisPoolLaneFunc) (
    guint first, guint count, guint thread, gpointer user_data);

/* After the last item of a loop, once, in the thread that was the last. It may
 * start loops, in the same lane too. */
typedef void (*CvisPoolDone) (gpointer user_data);

/* @threads: those that work, with the one that waits, 1..; 0: one per
 * processor. With a single lane. */
CvisPool *cvis_pool_new (guint threads);
/* @lanes: how many loops may be under way at once, 1.. */
CvisPool *cvis_pool_new_with_lanes (guint threads, guint lanes);
/* Nothing may be under way. */
void cvis_pool_free (CvisPool *pool);
guint cvis_pool_get_threads (CvisPool *pool);

/* Runs @func over 0..@items-1 in chunks of @grain, in the calling thread and
 * the pool's, and returns when all is done. One caller at a time, and no other
 * loop in lane 0. */
void cvis_pool_run (CvisPool *pool, guint items, guint grain, CvisPoolFunc func,
    gpointer user_data);

/* Starts such a loop in @lane, which is free, and returns. @items: 1... A loop
 * of a single chunk is left to the thread that waits: waking another one for it
 * would take longer. Any thread may start loops in lanes of its own. */
void cvis_pool_start (CvisPool *pool, guint lane, guint items, guint grain,
    CvisPoolLaneFunc func, CvisPoolDone done, gpointer user_data);

/* Threads look for work in lane 0, then in @lane and those after it, then in
 * those before it. */
void cvis_pool_prefer (CvisPool *pool, guint lane);

/* Works along until cvis_pool_finish() was called with @flag. One thread at a
 * time. */
void cvis_pool_wait (CvisPool *pool, gint *flag);
/* Sets the atomic @flag and does not touch it any more. */
void cvis_pool_finish (CvisPool *pool, gint *flag);

G_END_DECLS
