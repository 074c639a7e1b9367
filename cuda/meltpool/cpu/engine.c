/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend: threads share the frames of a batch, then the rows that
 * its valid frames add to the window. One thread lists these rows while the
 * others continue with the frames of the next batch.
 *
 * The rows of a batch start when its frames are complete and the rows of the
 * batch before are listed: the later of the two events starts them. */
#include "cuda/meltpool/backend.h"

#include "cuda/core/threadpool.h"
#include "cuda/meltpool/cpu/cpu.h"

/* Frames that a thread takes at once. */
#define FRAMES_GRAIN 4
/* Up to this number of frames, one thread finishes before another has woken. */
#define FEW_FRAMES 8

#define ROWS_LANE 0
#define FIRST_LANE 1 /* lanes of the frames, one for each slot */

typedef struct {
  PbfBackend *backend;
  guint index;
  PbfBatch *batch;
  guint64 position; /* of the batch */
  gint missing;     /* atomic: events left until its rows start */
  gint done;        /* atomic */
} Slot;

struct _PbfBackend {
  PbfParams params;
  const PbfModel *model;
  gboolean independent;
  const PbfCpuKernels *kernels;
  CvisPool *pool;
  PbfCpuScratch **scratch; /* one a thread */
  Slot *slots;
  guint n_slots;

  /* of the batch whose rows are computed */
  PbfHistory history;
  PbfRows rows;
  PbfSums last_sums;
};

static void
pbf_cpu_destroy (PbfBackend *backend)
{
  for (guint i = 0; i < cvis_pool_get_threads (backend->pool); i++)
    pbf_cpu_scratch_free (backend->scratch[i]);
  cvis_pool_free (backend->pool);
  g_free (backend->scratch);
  g_free (backend->slots);
  pbf_history_clear (&backend->history);
  g_free (backend->rows.frames);
  g_free (backend->rows.starts);
  g_free (backend);
}

static PbfBackend *
pbf_cpu_create (const PbfConfig *config, const PbfParams *params,
    PbfModel *model, CvisContext *context, GError **error)
{
  PbfBackend *backend = g_new0 (PbfBackend, 1);
  guint threads;

  backend->params = *params;
  backend->model = model;
  backend->independent = config->independent;
  backend->kernels = pbf_cpu_kernels ();
  backend->pool =
      cvis_pool_new_with_lanes (config->threads, FIRST_LANE + config->depth);
  backend->n_slots = config->depth;
  backend->slots = g_new0 (Slot, config->depth);
  for (guint i = 0; i < config->depth; i++)
    backend->slots[i] = (Slot){ .backend = backend, .index = i, .missing = 2 };
  backend->slots[0].missing = 1; /* the first batch has no predecessor */
  pbf_history_init (&backend->history, config->window);
  backend->rows.params = &backend->params;
  backend->rows.history = &backend->history;
  backend->rows.frames = g_new (gint32, config->max_batch);
  backend->rows.starts = g_new (gint32, config->max_batch);
  threads = cvis_pool_get_threads (backend->pool);
  backend->scratch = g_new0 (PbfCpuScratch *, threads);
  for (guint i = 0; i < threads; i++)
    backend->scratch[i] = pbf_cpu_scratch_new ();
  return backend;
}

/* --- rows ------------------------------------------------------------------- */

static void come_to_rows (gpointer user_data);

static void
do_rows (guint first, guint count, guint thread, gpointer user_data)
{
  Slot *slot = user_data;
  PbfBackend *backend = slot->backend;
  const PbfRows *rows = &backend->rows;
  gint32 end = (gint32) (first + count);
  PbfSums sums;

  pbf_rows_compute (rows, backend->model, (gint32) first, end, &sums);
  if (end == rows->n)
    backend->last_sums = sums;
}

/* After cvis_pool_finish() the batch belongs to the caller, and is not
 * accessed any more. */
static void
finish_rows (gpointer user_data)
{
  Slot *slot = user_data;
  PbfBackend *backend = slot->backend;
  guint next = (slot->index + 1) % backend->n_slots;

  pbf_rows_keep (&backend->rows, &backend->last_sums, &backend->history);
  cvis_pool_prefer (backend->pool, FIRST_LANE + next);
  cvis_pool_finish (backend->pool, &slot->done);
  come_to_rows (&backend->slots[next]);
}

static void
begin_rows (Slot *slot)
{
  PbfBackend *backend = slot->backend;
  PbfRows *rows = &backend->rows;
  guint grain = pbf_rows_grain (&backend->params);

  g_atomic_int_set (&slot->missing, 2); /* for the next batch in the slot */
  rows->results = slot->batch->results;
  if (backend->independent)
    pbf_history_reset (&backend->history);
  pbf_rows_find (rows, slot->batch->infos, slot->batch->n, slot->position);
  if ((guint) rows->n > grain) {
    cvis_pool_start (backend->pool, ROWS_LANE, (guint) rows->n, grain, do_rows,
        finish_rows, slot);
    return;
  }
  if (rows->n > 0)
    do_rows (0, (guint) rows->n, 0, slot);
  finish_rows (slot);
}

/* Called twice for each batch: when its frames are complete, and when the
 * rows of the batch before are listed. */
static void
come_to_rows (gpointer user_data)
{
  Slot *slot = user_data;

  if (g_atomic_int_dec_and_test (&slot->missing))
    begin_rows (slot);
}

/* --- frames ----------------------------------------------------------------- */

static void
do_frames (guint first, guint count, guint thread, gpointer user_data)
{
  Slot *slot = user_data;
  PbfBackend *backend = slot->backend;
  PbfBatch *batch = slot->batch;

  for (guint i = first; i < first + count; i++)
    backend->kernels->spatial (&backend->params, backend->scratch[thread],
        batch->frames[i], batch->strides[i], &batch->infos[i],
        &batch->results[i]);
}

/* Grain of the frames; searching whole frames for spatters is much more
 * work. */
static guint
frames_grain (const PbfParams *params, guint n)
{
  if (params->frame_scope)
    return 1;
  return n <= FEW_FRAMES ? n : FRAMES_GRAIN;
}

static gboolean
cpu_submit (PbfBackend *backend, guint slot, PbfBatch *batch, guint64 position,
    GError **error)
{
  Slot *to = &backend->slots[slot];

  to->batch = batch;
  to->position = position;
  g_atomic_int_set (&to->done, FALSE);
  cvis_pool_start (backend->pool, FIRST_LANE + slot, batch->n,
      frames_grain (&backend->params, batch->n), do_frames, come_to_rows, to);
  return TRUE;
}

static gboolean
pbf_cpu_wait (PbfBackend *backend, guint slot, PbfBatch *batch, GError **error)
{
  cvis_pool_wait (backend->pool, &backend->slots[slot].done);
  return TRUE;
}

static void
cpu_reset (PbfBackend *backend)
{
  pbf_history_reset (&backend->history);
}

const PbfBackendOps pbf_backend_cpu = { "cpu", pbf_cpu_create, pbf_cpu_destroy,
  cpu_submit, pbf_cpu_wait, cpu_reset };
