/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by the host code of the CUDA engines: memory, streams and events
 * made with an engine and freed together, calls in its context, device
 * attributes. */
#pragma once

#include "cuda/core/device/cuda.cuh"

/**
 * CvisArena: device and pinned memory, streams and events of an engine.
 * Zero before the first use. Used by one thread at a time, with the engine's
 * context pushed.
 * @counting: only counts device memory; allocates nothing
 * @size: bytes of device memory so far, each allocation rounded up to 512
 */
struct CvisArena {
  gboolean counting;
  gsize size;
  GArray *items;
};

/* Device memory of @size bytes, not zeroed.
 * @what: its use, for the error
 * Returns: %NULL with CVIS_ERROR_MEMORY; while counting any address but
 * %NULL */
void *cvis_arena_device (
    CvisArena *arena, gsize size, const gchar *what, GError **error);
/* The same for pinned host memory. */
void *cvis_arena_pinned (
    CvisArena *arena, gsize size, const gchar *what, GError **error);
/* A stream that does not wait for the NULL stream. */
gboolean cvis_arena_stream (
    CvisArena *arena, cudaStream_t *stream, GError **error);
/* An event without timing. */
gboolean cvis_arena_event (
    CvisArena *arena, cudaEvent_t *event, GError **error);
/* Waits for the streams and frees everything. */
void cvis_arena_clear (CvisArena *arena);

/* @count elements of device memory. */
template <typename T>
static inline gboolean
cvis_arena_take (
    CvisArena *arena, T **to, gsize count, const gchar *what, GError **error)
{
  *to = (T *) cvis_arena_device (arena, count * sizeof (T), what, error);
  return *to != NULL;
}

/* @count elements of pinned memory. */
template <typename T>
static inline gboolean
cvis_arena_pin (
    CvisArena *arena, T **to, gsize count, const gchar *what, GError **error)
{
  *to = (T *) cvis_arena_pinned (arena, count * sizeof (T), what, error);
  return *to != NULL;
}

/* Makes @stream wait for the work queued on @before; other streams can wait
 * for @event too. */
static inline gboolean
cvis_stream_follow (
    cudaStream_t stream, cudaEvent_t event, cudaStream_t before, GError **error)
{
  return CVIS_CUDA (cudaEventRecord (event, before), error)
         && CVIS_CUDA (cudaStreamWaitEvent (stream, event, 0), error);
}

/* An attribute of the device of the pushed context. */
static inline cudaError_t
cvis_cuda_get_attribute (cudaDeviceAttr attribute, int *value)
{
  int device = 0;
  cudaError_t code = cudaGetDevice (&device);

  return code == cudaSuccess ? cudaDeviceGetAttribute (value, attribute, device)
                             : code;
}

/* Calls @work with @context pushed. Returns: what @work returns */
template <typename Work>
static inline gboolean
cvis_in_context (CvisContext *context, GError **error, Work work)
{
  gboolean ok;

  if (!cvis_context_push (context, error))
    return FALSE;
  ok = work ();
  cvis_context_pop (context);
  return ok;
}
