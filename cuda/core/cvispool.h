/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A fixed set of threads that share the iterations of a loop. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _CvisPool CvisPool;

/* Does the items first..first+count-1; called from several threads at once. */
typedef void (*CvisPoolFunc) (guint first, guint count, gpointer user_data);

/* @threads: 1 runs everything in the calling thread; 0: one per processor. */
CvisPool *cvis_pool_new (guint threads);
void cvis_pool_free (CvisPool *pool);
guint cvis_pool_get_threads (CvisPool *pool);

/* Runs @func over 0..@items-1 in chunks of @grain, in the calling thread and
 * the pool's, and returns when all is done. One caller at a time. */
void cvis_pool_run (CvisPool *pool, guint items, guint grain, CvisPoolFunc func,
    gpointer user_data);

G_END_DECLS
