/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend: threads share the frames of a batch; the window, which is
 * sequential, costs a fiftieth of the rest and runs in one thread. */
#include "pbfbackend.h"

#include "cvispool.h"
#include "pbfcpu.h"

/* frames that a thread takes at once */
#define GRAIN 8

struct _PbfBackend {
  PbfParams params;
  const PbfModel *model;
  const PbfCpuKernels *kernels;
  CvisPool *pool;
  PbfWindow window;
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
  pbf_window_clear (&backend->window);
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
  pbf_window_init (&backend->window, config->window);
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

static gboolean
entered (const PbfResult *result)
{
  return (result->flags & (PBF_RESULT_EMPTY | PBF_RESULT_EXCLUDED)) == 0;
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
do_network (guint first, guint count, gpointer user_data)
{
  Work *work = user_data;

  for (guint i = first; i < first + count; i++)
    if (entered (&work->batch->results[i]))
      work->backend->kernels->network (&work->backend->params,
          work->backend->model, &work->batch->results[i]);
}

static gboolean
cpu_wait (PbfBackend *backend, guint slot, PbfBatch *batch, GError **error)
{
  Work work = { backend, batch };
  guint64 position = backend->positions[slot];

  cvis_pool_run (backend->pool, batch->n, GRAIN, do_spatial, &work);
  for (guint i = 0; i < batch->n; i++) {
    position += batch->infos[i].lost_before;
    if (entered (&batch->results[i]))
      backend->kernels->temporal (
          &backend->params, &backend->window, position, &batch->results[i]);
    position++;
  }
  if (backend->model != NULL)
    cvis_pool_run (backend->pool, batch->n, GRAIN, do_network, &work);
  return TRUE;
}

static void
cpu_reset (PbfBackend *backend)
{
  pbf_window_reset (&backend->window);
}

const PbfBackendOps pbf_backend_cpu = { "cpu", cpu_create, cpu_destroy,
  cpu_submit, cpu_wait, cpu_reset };
