/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CUDA backend of the denoiser, run on the CPU, against the CPU backend, to the bit:
 * frames, sizes and settings at random.
 *
 *   emulation-denoise [ROUNDS [SEED]] */
#include <cuda_runtime.h>
#include <glib.h>

#include "cuda/core/device.h"

#define cvis_context_ref(context) (context)
#define cvis_context_unref(context)
#define cvis_context_push(context, error) TRUE
#define cvis_context_pop(context)
#include "cuda/core/arena.cuh"
#include "cuda/denoise/cuda/planes.cu"
#undef THREADS
#include "cuda/denoise/cuda/temporal.cu"
#undef THREADS
#include "cuda/denoise/cuda/spatial.cu"
#undef N
#undef ROW
#include "cuda/denoise/cuda/engine.cu"

#include "denoiserounds.h"

/* --- memory ------------------------------------------------------------------------ */

void *
cvis_arena_device (CvisArena *arena, gsize size, const gchar *, GError **)
{
  void *memory = aligned_alloc (256, (size + 255) / 256 * 256);

  memset (memory, 0xa5, size);
  if (arena->items == NULL)
    arena->items = g_array_new (FALSE, FALSE, sizeof memory);
  g_array_append_val (arena->items, memory);
  return memory;
}

void *
cvis_arena_pinned (
    CvisArena *arena, gsize size, const gchar *what, GError **error)
{
  return cvis_arena_device (arena, size, what, error);
}

gboolean
cvis_arena_stream (CvisArena *, cudaStream_t *, GError **)
{
  return TRUE;
}

gboolean
cvis_arena_event (CvisArena *, cudaEvent_t *, GError **)
{
  return TRUE;
}

void
cvis_arena_clear (CvisArena *arena)
{
  for (guint i = 0; arena->items != NULL && i < arena->items->len; i++)
    free (g_array_index (arena->items, void *, i));
  if (arena->items != NULL)
    g_array_unref (arena->items);
}

int
main (int argc, char **argv)
{
  const guint rounds = argc > 1 ? (guint) atoi (argv[1]) : 60;

  denoise_rounds_run (&denoise_backend_cuda, NULL, rounds,
      argc > 2 ? (guint32) atoi (argv[2]) : 1);
  g_print ("%u rounds equal\n", rounds);
  return 0;
}
