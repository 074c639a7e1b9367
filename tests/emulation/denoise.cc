/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CUDA backend of the denoiser, run on the CPU, against the CPU backend, to the bit:
 * frames, sizes and settings at random. Then both with frames in the memory of another
 * device.
 *
 *   emulation-denoise [ROUNDS [SEED]] */
#include <cuda_runtime.h>
#include <glib.h>

#include "cuda/core/device/device.h"

#define cvis_context_ref(context) (context)
#define cvis_context_unref(context)
#define cvis_context_push(context, error) TRUE
#define cvis_context_pop(context)
#define cvis_context_get_handle(context) ((gpointer) (context))
#include "cuda/core/device/arena.cuh"
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

/* --- frames of another device -------------------------------------------------------- */

/* Never accessed */
static CvisContext *const other_device = (CvisContext *) 1;

gboolean
cvis_device_copy_rows (const CvisDeviceRows *to, const CvisDeviceRows *from,
    gsize bytes, gsize n, gpointer, GError **)
{
  g_assert_true ((to->context == other_device) != (from->context == other_device));
  for (gsize i = 0; i < n; i++)
    memcpy ((guint8 *) to->data + i * to->stride,
        (const guint8 *) from->data + i * from->stride, bytes);
  return TRUE;
}

int
main (int argc, char **argv)
{
  const guint rounds = argc > 1 ? (guint) atoi (argv[1]) : 40;
  const guint32 seed = argc > 2 ? (guint32) atoi (argv[2]) : 1;

  denoise_rounds_run (&denoise_backend_cuda, NULL, NULL, rounds, seed);
  denoise_rounds_run (
      &denoise_backend_cuda, NULL, other_device, rounds / 4, seed + 1);
  denoise_rounds_run (
      &denoise_backend_cpu, NULL, other_device, rounds / 4, seed + 2);
  g_print ("%u rounds equal\n", rounds);
  return 0;
}
