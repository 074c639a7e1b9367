/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend: threads share the frames of a batch, then the rows that its
 * valid frames add to the window; only finding those is one thread's work. */
#include "pbfbackend.h"

#include "cvispool.h"
#include "pbfcpu.h"

/* Frames, and rows of the window, that a thread takes at once. A grain of rows
 * begins by adding up the window before it. */
#define FRAMES_GRAIN 8
#define ROWS_GRAIN 64

struct _PbfBackend {
  PbfParams params;
  const PbfModel *model;
  const PbfCpuKernels *kernels;
  CvisPool *pool;
  PbfHistory history;
  PbfRows rows;
  PbfSums last_sums;
  guint64 *positions; /* of each slot's batch */

  GMutex lock; /* of the stack of scratch areas, one a thread */
  PbfCpuScratch **scratch;
  guint n_scratch;
};

typedef struct {
  PbfBackend *backend;
  PbfBatch *batch;
} Work;

static void
cpu_destroy (PbfBackend *backend)
{
  cvis_pool_free (backend->pool);
  while (backend->n_scratch > 0)
    pbf_cpu_scratch_free (backend->scratch[--backend->n_scratch]);
  g_free (backend->scratch);
  g_free (backend->positions);
  pbf_history_clear (&backend->history);
  g_free (backend->rows.frames);
  g_free (backend->rows.starts);
  g_mutex_clear (&backend->lock);
  g_free (backend);
}

static PbfBackend *
cpu_create (const PbfConfig *config, const PbfParams *params, PbfModel *model,
    CvisContext *context, GError **error)
{
  PbfBackend *backend = g_new0 (PbfBackend, 1);

  backend->params = *params;
  backend->model = model;
  backend->kernels = pbf_cpu_kernels ();
  backend->pool = cvis_pool_new (config->threads);
  backend->positions = g_new0 (guint64, config->depth);
  pbf_history_init (&backend->history, config->window);
  backend->rows.params = &backend->params;
  backend->rows.history = &backend->history;
  backend->rows.frames = g_new (gint32, config->max_batch);
  backend->rows.starts = g_new (gint32, config->max_batch);
  g_mutex_init (&backend->lock);
  backend->n_scratch = cvis_pool_get_threads (backend->pool);
  backend->scratch = g_new0 (PbfCpuScratch *, backend->n_scratch);
  for (guint i = 0; i < backend->n_scratch; i++)
    backend->scratch[i] = pbf_cpu_scratch_new (config);
  return backend;
}

static gboolean
cpu_submit (PbfBackend *backend, guint slot, PbfBatch *batch, guint64 position,
    GError **error)
{
  if (batch->on_device) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "frames in device memory, for the CPU backend");
    return FALSE;
  }
  backend->positions[slot] = position;
  return TRUE;
}

static PbfCpuScratch *
take_scratch (PbfBackend *backend)
{
  PbfCpuScratch *scratch;

  g_mutex_lock (&backend->lock);
  scratch = backend->scratch[--backend->n_scratch];
  g_mutex_unlock (&backend->lock);
  return scratch;
}

static void
give_back_scratch (PbfBackend *backend, PbfCpuScratch *scratch)
{
  g_mutex_lock (&backend->lock);
  backend->scratch[backend->n_scratch++] = scratch;
  g_mutex_unlock (&backend->lock);
}

static void
do_spatial (guint first, guint count, gpointer user_data)
{
  Work *work = user_data;
  PbfBackend *backend = work->backend;
  PbfBatch *batch = work->batch;
  PbfCpuScratch *scratch = take_scratch (backend);

  for (guint i = first; i < first + count; i++)
    backend->kernels->spatial (&backend->params, scratch, batch->frames[i],
        batch->strides[i], &batch->infos[i], &batch->results[i]);
  give_back_scratch (backend, scratch);
}

static void
do_rows (guint first, guint count, gpointer user_data)
{
  Work *work = user_data;
  PbfBackend *backend = work->backend;
  const PbfRows *rows = &backend->rows;
  gint32 end = (gint32) (first + count);
  PbfSums sums;

  pbf_rows_sum (rows, (gint32) first, &sums);
  backend->kernels->temporal (rows, (gint32) first, end, &sums);
  if (end == rows->n)
    backend->last_sums = sums;
  if (backend->model == NULL)
    return;
  for (gint32 r = (gint32) first; r < end; r++)
    backend->kernels->network (
        &backend->params, backend->model, &rows->results[rows->frames[r]]);
}

static gboolean
cpu_wait (PbfBackend *backend, guint slot, PbfBatch *batch, GError **error)
{
  Work work = { backend, batch };
  PbfRows *rows = &backend->rows;

  cvis_pool_run (backend->pool, batch->n, FRAMES_GRAIN, do_spatial, &work);
  rows->results = batch->results;
  pbf_rows_find (rows, batch->infos, batch->n, backend->positions[slot]);
  cvis_pool_run (backend->pool, (guint) rows->n, ROWS_GRAIN, do_rows, &work);
  pbf_rows_keep (rows, &backend->last_sums, &backend->history);
  return TRUE;
}

static void
cpu_reset (PbfBackend *backend)
{
  pbf_history_reset (&backend->history);
}

const PbfBackendOps pbf_backend_cpu = { "cpu", cpu_create, cpu_destroy,
  cpu_submit, cpu_wait, cpu_reset };
