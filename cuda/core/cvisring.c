/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cvisring.h"

struct _CvisRing {
  GMutex lock;
  GCond changed;
  gpointer *items;
  guint capacity, first, length;
  gboolean flushing;
};

CvisRing *
cvis_ring_new (guint capacity)
{
  CvisRing *ring = g_new0 (CvisRing, 1);

  g_mutex_init (&ring->lock);
  g_cond_init (&ring->changed);
  ring->capacity = MAX (capacity, 1);
  ring->items = g_new0 (gpointer, ring->capacity);
  return ring;
}

void
cvis_ring_free (CvisRing *ring)
{
  if (ring == NULL)
    return;
  g_mutex_clear (&ring->lock);
  g_cond_clear (&ring->changed);
  g_free (ring->items);
  g_free (ring);
}

gboolean
cvis_ring_push (CvisRing *ring, gpointer item)
{
  gboolean pushed;

  g_mutex_lock (&ring->lock);
  while (ring->length == ring->capacity && !ring->flushing)
    g_cond_wait (&ring->changed, &ring->lock);
  pushed = !ring->flushing;
  if (pushed) {
    ring->items[(ring->first + ring->length++) % ring->capacity] = item;
    g_cond_broadcast (&ring->changed);
  }
  g_mutex_unlock (&ring->lock);
  return pushed;
}

/* call with the lock held */
static gpointer
take_first (CvisRing *ring)
{
  gpointer item;

  if (ring->length == 0)
    return NULL;
  item = ring->items[ring->first];
  ring->first = (ring->first + 1) % ring->capacity;
  ring->length--;
  g_cond_broadcast (&ring->changed);
  return item;
}

gpointer
cvis_ring_pop (CvisRing *ring, gint64 end_time)
{
  gpointer item = NULL;

  g_mutex_lock (&ring->lock);
  while (ring->length == 0 && !ring->flushing) {
    if (end_time < 0)
      g_cond_wait (&ring->changed, &ring->lock);
    else if (!g_cond_wait_until (&ring->changed, &ring->lock, end_time))
      break;
  }
  if (!ring->flushing)
    item = take_first (ring);
  g_mutex_unlock (&ring->lock);
  return item;
}

gpointer
cvis_ring_try_pop (CvisRing *ring)
{
  gpointer item;

  g_mutex_lock (&ring->lock);
  item = take_first (ring);
  g_mutex_unlock (&ring->lock);
  return item;
}

guint
cvis_ring_get_length (CvisRing *ring)
{
  guint length;

  g_mutex_lock (&ring->lock);
  length = ring->length;
  g_mutex_unlock (&ring->lock);
  return length;
}

void
cvis_ring_set_flushing (CvisRing *ring, gboolean flushing)
{
  g_mutex_lock (&ring->lock);
  ring->flushing = flushing;
  g_cond_broadcast (&ring->changed);
  g_mutex_unlock (&ring->lock);
}
