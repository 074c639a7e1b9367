/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Chooses the CPU backend's functions for the processor; threads and their
 * memory. */
#include "cuda/lifting/cpu/cpu.h"


#define LINE 64 /* bytes of a cache line */

const LwtCpuKernels *
lwt_cpu_kernels (void)
{
  return CVIS_CPU_CHOOSE (lwt_cpu);
}

/* --- memory ---------------------------------------------------------------------- */

gboolean
lwt_cpu_plane_alloc (
    LwtCpuPlane *plane, guint width, guint height, gsize size, GError **error)
{
  const gsize stride = (width * size + LINE - 1) / LINE * LINE;

  *plane = (LwtCpuPlane){ .stride = stride, .step = 1 };
  plane->data = cvis_memory_new (stride * height, FALSE, error);
  return plane->data != NULL;
}

gpointer
lwt_cpu_plane_row (const LwtCpuPlane *plane, guint y)
{
  return (guint8 *) plane->data + y * plane->stride;
}

LwtCpuPlane
lwt_cpu_plane_at (const LwtCpuPlane *plane, gsize size, guint x, guint y)
{
  LwtCpuPlane at = *plane;

  at.data = (guint8 *) lwt_cpu_plane_row (plane, y) + x * size;
  return at;
}

/* --- threads --------------------------------------------------------------------- */

void
lwt_cpu_threads_init (LwtCpuThreads *threads, guint n)
{
  *threads = (LwtCpuThreads){ .pool = cvis_pool_new (n),
    .kernels = lwt_cpu_kernels () };
  g_mutex_init (&threads->lock);
  threads->n_threads = cvis_pool_get_threads (threads->pool);
  threads->n_scratch = threads->n_threads;
  threads->scratch = g_new0 (LwtCpuScratch, threads->n_scratch);
}

void
lwt_cpu_threads_clear (LwtCpuThreads *threads)
{
  cvis_pool_free (threads->pool);
  for (guint i = 0; i < threads->n_scratch; i++)
    free (threads->scratch[i].memory);
  g_free (threads->scratch);
  g_mutex_clear (&threads->lock);
}

static gboolean
alloc_scratch (
    LwtCpuScratch *scratch, gsize pitch, gsize rows, gsize wide, GError **error)
{
  guint8 *memory;

  pitch += LWT_CPU_SLACK * sizeof (gdouble);
  pitch = (pitch + LINE - 1) / LINE * LINE;
  wide = (wide * sizeof (gdouble) + LINE - 1) / LINE * LINE + 4 * LINE;
  memory = cvis_memory_new (
      pitch * (rows + 3) + wide * G_N_ELEMENTS (scratch->wide), TRUE, error);
  if (memory == NULL)
    return FALSE;
  scratch->memory = memory;
  scratch->pitch = pitch;
  scratch->line[0] = memory;
  scratch->line[1] = memory + pitch;
  scratch->zeros = memory + 2 * pitch;
  scratch->ring = memory + 3 * pitch;
  memory += pitch * (rows + 3);
  for (guint i = 0; i < G_N_ELEMENTS (scratch->wide); i++)
    scratch->wide[i] = (gdouble *) (gpointer) (memory + i * wide);
  return TRUE;
}

gboolean
lwt_cpu_threads_alloc (
    LwtCpuThreads *threads, gsize pitch, gsize rows, gsize wide, GError **error)
{
  for (guint i = 0; i < threads->n_scratch; i++)
    if (!alloc_scratch (&threads->scratch[i], pitch, rows, wide, error))
      return FALSE;
  return TRUE;
}

typedef struct {
  LwtCpuThreads *threads;
  LwtCpuRowsFunc func;
  gpointer user_data;
} Run;

static void
run_chunk (guint first, guint count, gpointer user_data)
{
  const Run *run = user_data;
  LwtCpuThreads *threads = run->threads;
  LwtCpuScratch scratch;

  g_mutex_lock (&threads->lock);
  scratch = threads->scratch[--threads->n_scratch];
  g_mutex_unlock (&threads->lock);
  run->func (first, count, &scratch, run->user_data);
  g_mutex_lock (&threads->lock);
  threads->scratch[threads->n_scratch++] = scratch;
  g_mutex_unlock (&threads->lock);
}

void
lwt_cpu_threads_run (LwtCpuThreads *threads, guint items, guint grain,
    LwtCpuRowsFunc func, gpointer user_data)
{
  Run run = { threads, func, user_data };

  cvis_pool_run (threads->pool, items, grain, run_chunk, &run);
}
