/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A bounded first-in first-out queue of pointers between threads, which can be
 * set flushing: every wait then ends at once. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _CvisRing CvisRing;

CvisRing *cvis_ring_new (guint capacity);
/* The ring must be empty, or its items belong to somebody else. */
void cvis_ring_free (CvisRing *ring);

/* Waits for room. Returns: FALSE if the ring is or becomes flushing; @item
 * then still belongs to the caller. */
gboolean cvis_ring_push (CvisRing *ring, gpointer item);

/* Waits for an item until @end_time (of g_get_monotonic_time(); -1: for ever).
 * Returns: %NULL when flushing or at the end of the time. */
gpointer cvis_ring_pop (CvisRing *ring, gint64 end_time);

/* What is there now, without waiting, flushing or not; %NULL when empty. */
gpointer cvis_ring_try_pop (CvisRing *ring);

guint cvis_ring_get_length (CvisRing *ring);
void cvis_ring_set_flushing (CvisRing *ring, gboolean flushing);

G_END_DECLS
