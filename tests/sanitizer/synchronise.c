/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Tells the thread sanitizer what GLib and GStreamer synchronise: they are not compiled
 * with it, and their locks are no pthread mutexes, so that it would report every use of
 * one as a race. Loaded before them (scripts/test --threads); each function calls the
 * one that it hides. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gst/gst.h>
#include <sanitizer/tsan_interface.h>

/* The function of this name in the library that has it */
#define NEXT(name)                                                             \
  ({                                                                           \
    static gpointer next;                                                      \
                                                                               \
    if (next == NULL)                                                          \
      next = dlsym (RTLD_NEXT, #name);                                         \
    (__typeof__ (&name)) next;                                                 \
  })

#define LOCK(name, Type)                                                       \
  void name (Type *lock)                                                       \
  {                                                                            \
    NEXT (name) (lock);                                                        \
    __tsan_acquire (lock);                                                     \
  }
#define TRYLOCK(name, Type)                                                    \
  gboolean name (Type *lock)                                                   \
  {                                                                            \
    const gboolean locked = NEXT (name) (lock);                                \
                                                                               \
    if (locked)                                                                \
      __tsan_acquire (lock);                                                   \
    return locked;                                                             \
  }
#define UNLOCK(name, Type)                                                     \
  void name (Type *lock)                                                       \
  {                                                                            \
    __tsan_release (lock);                                                     \
    NEXT (name) (lock);                                                        \
  }

LOCK (g_mutex_lock, GMutex)
TRYLOCK (g_mutex_trylock, GMutex)
UNLOCK (g_mutex_unlock, GMutex)
LOCK (g_rec_mutex_lock, GRecMutex)
TRYLOCK (g_rec_mutex_trylock, GRecMutex)
UNLOCK (g_rec_mutex_unlock, GRecMutex)
LOCK (g_rw_lock_writer_lock, GRWLock)
UNLOCK (g_rw_lock_writer_unlock, GRWLock)
LOCK (g_rw_lock_reader_lock, GRWLock)
UNLOCK (g_rw_lock_reader_unlock, GRWLock)

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  __tsan_release (mutex);
  NEXT (g_cond_wait) (cond, mutex);
  __tsan_acquire (mutex);
}

gboolean
g_cond_wait_until (GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean signalled;

  __tsan_release (mutex);
  signalled = NEXT (g_cond_wait_until) (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return signalled;
}

gboolean (g_once_init_enter) (volatile void *location)
{
  const gboolean first = NEXT (g_once_init_enter) (location);

  __tsan_acquire ((void *) location);
  return first;
}

void (g_once_init_leave) (volatile void *location, gsize result)
{
  __tsan_release ((void *) location);
  NEXT (g_once_init_leave) (location, result);
}

/* References: who frees an object comes after all who gave theirs back. */
#define UNREF(name, Type)                                                      \
  void name (Type object)                                                      \
  {                                                                            \
    __tsan_release (object);                                                   \
    __tsan_acquire (object);                                                   \
    NEXT (name) (object);                                                      \
  }

UNREF (g_object_unref, gpointer)
UNREF (gst_object_unref, gpointer)

/* Programs that are not ours, such as sh, get this library too, and have no GStreamer. */
#pragma weak _gst_buffer_list_type

/* A list frees its buffers without the function above. */
void
gst_mini_object_unref (GstMiniObject *object)
{
  __tsan_release (object);
  __tsan_acquire (object);
  if (GST_IS_BUFFER_LIST (object))
    for (guint i = 0; i < gst_buffer_list_length ((GstBufferList *) object);
         i++)
      __tsan_acquire (gst_buffer_list_get ((GstBufferList *) object, i));
  NEXT (gst_mini_object_unref) (object);
}

/* A buffer that a pool hands out again comes after its last use. */
GstFlowReturn
gst_buffer_pool_acquire_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  const GstFlowReturn flow =
      NEXT (gst_buffer_pool_acquire_buffer) (pool, buffer, params);

  if (flow == GST_FLOW_OK)
    __tsan_acquire (*buffer);
  return flow;
}

/* Queues without locks */
gboolean
gst_bus_post (GstBus *bus, GstMessage *message)
{
  __tsan_release (bus);
  return NEXT (gst_bus_post) (bus, message);
}

GstMessage *
gst_bus_timed_pop_filtered (
    GstBus *bus, GstClockTime timeout, GstMessageType types)
{
  GstMessage *message = NEXT (gst_bus_timed_pop_filtered) (bus, timeout, types);

  __tsan_acquire (bus);
  return message;
}

void
g_async_queue_push (GAsyncQueue *queue, gpointer data)
{
  __tsan_release (queue);
  NEXT (g_async_queue_push) (queue, data);
}

#define POP(name)                                                              \
  gpointer name (GAsyncQueue *queue)                                           \
  {                                                                            \
    gpointer data = NEXT (name) (queue);                                       \
                                                                               \
    __tsan_acquire (queue);                                                    \
    return data;                                                               \
  }

POP (g_async_queue_pop)
POP (g_async_queue_try_pop)

gpointer
g_async_queue_timeout_pop (GAsyncQueue *queue, guint64 timeout)
{
  gpointer data = NEXT (g_async_queue_timeout_pop) (queue, timeout);

  __tsan_acquire (queue);
  return data;
}
