/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/device/arena.cuh"

namespace {
typedef enum { DEVICE, PINNED, STREAM, EVENT } Kind;

struct Item {
  Kind kind;
  void *handle;
};

void
keep (CvisArena *arena, Kind kind, void *handle)
{
  const Item item = { kind, handle };

  if (arena->items == NULL)
    arena->items = g_array_new (FALSE, FALSE, sizeof item);
  g_array_append_val (arena->items, item);
}

/* Adds @memory to the arena, or sets the error. */
void *
keep_memory (CvisArena *arena, Kind kind, void *memory, gsize size,
    const gchar *what, cudaError_t code, GError **error)
{
  if (code == cudaSuccess) {
    keep (arena, kind, memory);
    return memory;
  }
  cudaGetLastError (); /* leaves no sticky error for the next caller */
  g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
      "cannot allocate %" G_GSIZE_FORMAT " bytes of %s memory for %s: %s (%s)",
      size, kind == DEVICE ? "device" : "pinned", what, cudaGetErrorName (code),
      cudaGetErrorString (code));
  return NULL;
}
} // namespace

void *
cvis_arena_device (
    CvisArena *arena, gsize size, const gchar *what, GError **error)
{
  const gsize whole = (MAX (size, 1) + 511) / 512 * 512;
  void *memory = NULL;
  cudaError_t code;

  arena->size += whole;
  if (arena->counting)
    return GSIZE_TO_POINTER (512);
  code = cudaMalloc (&memory, whole);
  return keep_memory (arena, DEVICE, memory, size, what, code, error);
}

void *
cvis_arena_pinned (
    CvisArena *arena, gsize size, const gchar *what, GError **error)
{
  void *memory = NULL;
  cudaError_t code =
      cudaHostAlloc (&memory, MAX (size, 1), cudaHostAllocPortable);

  return keep_memory (arena, PINNED, memory, size, what, code, error);
}

gboolean
cvis_arena_stream (CvisArena *arena, cudaStream_t *stream, GError **error)
{
  if (!CVIS_CUDA (
          cudaStreamCreateWithFlags (stream, cudaStreamNonBlocking), error))
    return FALSE;
  keep (arena, STREAM, *stream);
  return TRUE;
}

gboolean
cvis_arena_event (CvisArena *arena, cudaEvent_t *event, GError **error)
{
  if (!CVIS_CUDA (
          cudaEventCreateWithFlags (event, cudaEventDisableTiming), error))
    return FALSE;
  keep (arena, EVENT, *event);
  return TRUE;
}

void
cvis_arena_clear (CvisArena *arena)
{
  if (arena->items == NULL)
    return;
  for (guint i = 0; i < arena->items->len; i++) {
    const Item *item = &g_array_index (arena->items, Item, i);

    if (item->kind == STREAM)
      cudaStreamSynchronize ((cudaStream_t) item->handle);
  }
  for (guint i = arena->items->len; i > 0; i--) {
    const Item *item = &g_array_index (arena->items, Item, i - 1);

    if (item->kind == DEVICE)
      cudaFree (item->handle);
    else if (item->kind == PINNED)
      cudaFreeHost (item->handle);
    else if (item->kind == STREAM)
      cudaStreamDestroy ((cudaStream_t) item->handle);
    else
      cudaEventDestroy ((cudaEvent_t) item->handle);
  }
  g_array_unref (arena->items);
  *arena = {};
}
