/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CPU backend: pictures are copied as they come; wait() searches, all
 * blocks in parallel, since no block's result depends on another's. */
#include <string.h>

#include "cuda/core/threadpool.h"
#include "cuda/motion/backend.h"
#include "cuda/motion/cpu/cpu.h"

/* Rows of a plane that a thread takes at once when it makes sums. */
#define LINES_GRAIN 64

struct _MotionBackend {
  MotionCpuParams params;
  const MotionCpuKernels *kernels;
  CvisPool *pool;
  MotionCpuPicture *pictures;
  guint n_pictures;
  MotionTask *tasks; /* of each slot */
  /* vectors of the frame that was waited for before, in its fields' order */
  CvisMotionVector *priors[CVIS_MOTION_MAX_FIELDS];
  MotionCpuField *field; /* %NULL with another method */
  MotionFieldVector *found[CVIS_MOTION_MAX_FIELDS];
  guint8 *confidences[CVIS_MOTION_MAX_FIELDS];

  GMutex lock;
  MotionCpuScratch **scratch; /* those not in use */
  guint n_scratch;
};

typedef struct {
  MotionBackend *backend;
  MotionCpuPicture *picture; /* being prepared */
  MotionCpuFrame frame;
} Work;

static void
motion_cpu_destroy (MotionBackend *backend)
{
  cvis_pool_free (backend->pool);
  for (guint i = 0; i < backend->n_pictures; i++)
    motion_cpu_picture_clear (&backend->pictures[i]);
  for (guint i = 0; i < backend->n_scratch; i++)
    motion_cpu_scratch_free (backend->scratch[i]);
  for (guint i = 0; i < CVIS_MOTION_MAX_FIELDS; i++)
    g_free (backend->priors[i]);
  for (guint i = 0; i < CVIS_MOTION_MAX_FIELDS; i++)
    g_free (backend->found[i]);
  for (guint i = 0; i < CVIS_MOTION_MAX_FIELDS; i++)
    g_free (backend->confidences[i]);
  motion_cpu_field_free (backend->field);
  motion_cpu_params_clear (&backend->params);
  g_mutex_clear (&backend->lock);
  g_free (backend->scratch);
  g_free (backend->pictures);
  g_free (backend->tasks);
  g_free (backend);
}

/* Allocates the memory that is large enough to fail. */
static gboolean
make_memory (MotionBackend *backend, GError **error)
{
  const MotionCpuParams *params = &backend->params;

  backend->scratch = g_new0 (MotionCpuScratch *, backend->n_scratch);
  for (guint i = 0; i < backend->n_scratch; i++)
    if (!(backend->scratch[i] = motion_cpu_scratch_new (params, error)))
      return FALSE;
  backend->n_pictures = motion_config_get_n_pictures (&params->config);
  backend->pictures = g_new0 (MotionCpuPicture, backend->n_pictures);
  for (guint i = 0; i < backend->n_pictures; i++)
    if (!motion_cpu_picture_init (params, &backend->pictures[i], error))
      return FALSE;
  if (params->config.method != MOTION_METHOD_FIELD)
    return TRUE;
  backend->field = motion_cpu_field_new (&params->config, error);
  return backend->field != NULL;
}

static MotionBackend *
motion_cpu_create (
    const MotionConfig *config, CvisContext *context, GError **error)
{
  MotionBackend *backend = g_new0 (MotionBackend, 1);
  gsize blocks;

  backend->pool = cvis_pool_new (config->threads);
  backend->n_scratch = cvis_pool_get_threads (backend->pool);
  motion_cpu_params_init (&backend->params, config, backend->n_scratch);
  g_mutex_init (&backend->lock);
  backend->kernels = motion_cpu_kernels ();
  backend->tasks = g_new0 (MotionTask, motion_config_get_n_slots (config));
  blocks = (gsize) backend->params.columns * (gsize) backend->params.rows;
  for (guint i = 0; i < motion_config_get_n_fields (config); i++)
    backend->priors[i] = g_new0 (CvisMotionVector, blocks);
  for (guint i = 0; i < motion_config_get_n_fields (config); i++)
    backend->found[i] = g_new (MotionFieldVector, blocks);
  for (guint i = 0; i < motion_config_get_n_fields (config); i++)
    backend->confidences[i] = g_new (guint8, blocks);
  if (!make_memory (backend, error)) {
    motion_cpu_destroy (backend);
    return NULL;
  }
  return backend;
}

/* Loads a frame of a device, which another engine did not compute because its device
 * is lost. */
static gboolean
load_from_device (MotionBackend *backend, MotionCpuPicture *picture,
    const MotionJob *job, GError **error)
{
  const MotionConfig *config = &backend->params.config;
  const gsize stride = motion_config_get_source_bytes (config);
  MotionJob here = *job;
  guint8 *luma = g_malloc (stride * motion_config_get_source_rows (config));
  const CvisDeviceRows to = { NULL, luma, stride };
  const gboolean ok = motion_job_copy_rows (config, job, &to, error);

  here.luma = luma;
  here.stride = stride;
  if (ok)
    motion_cpu_picture_load (&backend->params, picture, &here);
  g_free (luma);
  return ok;
}

static gboolean
cpu_load (MotionBackend *backend, guint picture, MotionJob *job, GError **error)
{
  MotionCpuPicture *to = &backend->pictures[picture];

  if (job->on_device)
    return load_from_device (backend, to, job, error);
  motion_cpu_picture_load (&backend->params, to, job);
  return TRUE;
}

static gboolean
cpu_search (
    MotionBackend *backend, guint slot, const MotionTask *task, GError **error)
{
  backend->tasks[slot] = *task;
  return TRUE;
}

/* --- preparing pictures ------------------------------------------------------ */

static void
do_quarter (guint first, guint count, gpointer user_data)
{
  Work *work = user_data;

  work->backend->kernels->quarter (
      &work->backend->params, work->picture, (gint32) first, (gint32) count);
}

/* Makes the planes that the method needs beside a picture's samples. */
static void
prepare_pictures (MotionBackend *backend, MotionCpuPicture *picture)
{
  const MotionCpuParams *params = &backend->params;
  Work work = { .backend = backend, .picture = picture };

  if (picture->prepared)
    return;
  if (picture->field)
    motion_cpu_field_picture_prepare (picture->field, backend->pool);
  picture->prepared = TRUE;
  if (!params->has_quarter)
    return;
  cvis_pool_run (backend->pool,
      (guint) (params->quarter_height + 2 * params->quarter_border),
      LINES_GRAIN, do_quarter, &work);
}

/* --- searching --------------------------------------------------------------- */

static MotionCpuScratch *
take_scratch (MotionBackend *backend)
{
  MotionCpuScratch *scratch;

  g_mutex_lock (&backend->lock);
  scratch = backend->scratch[--backend->n_scratch];
  g_mutex_unlock (&backend->lock);
  return scratch;
}

static void
give_back_scratch (MotionBackend *backend, MotionCpuScratch *scratch)
{
  g_mutex_lock (&backend->lock);
  backend->scratch[backend->n_scratch++] = scratch;
  g_mutex_unlock (&backend->lock);
}

static void
do_tiles (guint first, guint count, gpointer user_data)
{
  Work *work = user_data;
  MotionBackend *backend = work->backend;
  MotionCpuScratch *scratch = take_scratch (backend);

  for (guint i = first; i < first + count; i++)
    backend->kernels->search (
        &backend->params, scratch, &work->frame, (gint32) i);
  give_back_scratch (backend, scratch);
}

/* The vectors of field @i of a frame. */
static void
search_field (MotionBackend *backend, MotionCpuFrame *frame, guint i)
{
  const MotionCpuGrid *grid = &backend->field->grids[0];

  motion_cpu_field_search (backend->field, frame->current->field,
      frame->references[i]->field, backend->pool);
  frame->found[i] = backend->found[i];
  memcpy (frame->found[i], grid->vectors,
      (gsize) grid->n * sizeof (MotionFieldVector));
  frame->confidences[i] = backend->confidences[i];
  for (gint32 k = 0; k < grid->n; k++)
    frame->confidences[i][k] =
        (guint8) motion_field_confidence (&backend->field->evidence[k]);
}

static gboolean
motion_cpu_wait (MotionBackend *backend, guint slot, GError **error)
{
  const MotionCpuParams *params = &backend->params;
  const MotionTask *task = &backend->tasks[slot];
  MotionJob *job = task->job;
  gsize blocks = (gsize) params->columns * (gsize) params->rows;
  Work work = { .backend = backend };

  if (job->n_fields == 0 && !job->prediction && !job->residual)
    return TRUE;
  work.frame.job = job;
  work.frame.current = &backend->pictures[task->picture];
  prepare_pictures (backend, &backend->pictures[task->picture]);
  for (guint i = 0; i < job->n_fields; i++) {
    prepare_pictures (backend, &backend->pictures[task->reference[i]]);
    work.frame.references[i] = &backend->pictures[task->reference[i]];
    work.frame.priors[i] = task->prior[i] ? backend->priors[i] : NULL;
    if (backend->field)
      search_field (backend, &work.frame, i);
  }
  if (backend->field && job->n_fields > 0)
    job->flags |= motion_field_frame_flags (work.frame.current->field->noise);
  cvis_pool_run (backend->pool,
      (guint) (params->tiles_across * params->tiles_down), 1, do_tiles, &work);
  for (guint i = 0; i < job->n_fields; i++)
    memcpy (backend->priors[i], job->fields[i].vectors,
        blocks * sizeof (CvisMotionVector));
  return TRUE;
}

const MotionBackendOps motion_backend_cpu = { "cpu", motion_cpu_create,
  motion_cpu_destroy, cpu_load, cpu_search, motion_cpu_wait };
