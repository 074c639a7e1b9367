/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The order of the stream, shared by the backends: which frames a result may use,
 * frames in flight and their state. */
#include "cuda/core/error.h"
#include "cuda/core/jobs.h"
#include "cuda/denoise/backend.h"

typedef enum {
  FRAME_PENDING, /* waits for later frames */
  FRAME_STARTED,
  FRAME_FAILED, /* did not start; error has the cause */
} FrameState;

/* A frame in flight, at the index of its slot of the backend */
typedef struct {
  DenoiseTask task;
  gint state; /* FrameState; atomic */
  GError *error;
} Frame;

struct _DenoiseEngine {
  DenoiseConfig config;
  const DenoiseBackendOps *ops;
  DenoiseBackend *backend;
  CvisJobs *in_flight; /* of Frame */
  Frame *frames;
  guint64 number; /* of the next frame */
  guint
      before; /* frames of the stream before it, at most those that are used */
  guint n_pending;
};

guint
denoise_config_get_n_slots (const DenoiseConfig *config)
{
  return config->depth_in_flight + denoise_config_get_after (config);
}

/* While the last frame in flight is loaded, the oldest one may still be filtered. */
guint
denoise_config_get_n_pictures (const DenoiseConfig *config)
{
  return denoise_config_get_n_slots (config)
         + denoise_config_get_before (config) + 1;
}

DenoiseEngine *
denoise_engine_new_on (const DenoiseBackendOps *ops,
    const DenoiseConfig *config, CvisContext *context, GError **error)
{
  DenoiseEngine *engine;
  DenoiseBackend *backend;

  if (!denoise_config_check (config, error))
    return NULL;
  backend = ops->create (config, context, error);
  if (backend == NULL)
    return NULL;
  engine = g_new0 (DenoiseEngine, 1);
  engine->config = *config;
  engine->ops = ops;
  engine->backend = backend;
  engine->in_flight = cvis_jobs_new (denoise_config_get_n_slots (config));
  engine->frames = g_new0 (Frame, denoise_config_get_n_slots (config));
  return engine;
}

DenoiseEngine *
denoise_engine_new (
    const DenoiseConfig *config, CvisContext *context, GError **error)
{
#ifdef HAVE_CUDA
  if (context != NULL)
    return denoise_engine_new_on (
        &denoise_backend_cuda, config, context, error);
#endif
  return denoise_engine_new_on (&denoise_backend_cpu, config, context, error);
}

void
denoise_engine_free (DenoiseEngine *engine)
{
  DenoiseJob *job;

  if (engine == NULL)
    return;
  denoise_engine_end (engine);
  do
    denoise_engine_wait (engine, &job, NULL);
  while (job != NULL);
  engine->ops->destroy (engine->backend);
  cvis_jobs_free (engine->in_flight);
  g_free (engine->frames);
  g_free (engine);
}

guint
denoise_engine_get_depth (const DenoiseEngine *engine)
{
  return denoise_config_get_n_slots (&engine->config);
}

/* Starts the frame that has waited longest. */
static void
start_oldest_pending (DenoiseEngine *engine)
{
  Frame *frame = cvis_jobs_get_recent (engine->in_flight, --engine->n_pending);
  const guint slot = (guint) (frame - engine->frames);
  gint state = FRAME_STARTED;

  frame->task.after =
      MIN (engine->n_pending, denoise_config_get_after (&engine->config));
  if (!engine->ops->filter (engine->backend, slot, &frame->task, &frame->error))
    state = FRAME_FAILED;
  g_atomic_int_set (&frame->state, state);
}

gboolean
denoise_engine_submit (DenoiseEngine *engine, DenoiseJob *job, GError **error)
{
  Frame *frame;
  guint slot;

  if (!cvis_jobs_find_slot (engine->in_flight, "frames", &slot, error)
      || !engine->ops->load (engine->backend, engine->number, job, error))
    return FALSE;
  frame = &engine->frames[slot];
  *frame = (Frame){ .task = { .job = job,
                        .number = engine->number++,
                        .before = MIN (engine->before,
                            denoise_config_get_before (&engine->config)) } };
  engine->before =
      MIN (engine->before + 1, denoise_config_get_before (&engine->config) + 1);
  cvis_jobs_push (engine->in_flight, frame);
  if (++engine->n_pending > denoise_config_get_after (&engine->config))
    start_oldest_pending (engine);
  return TRUE;
}

gboolean
denoise_engine_wait (DenoiseEngine *engine, DenoiseJob **job, GError **error)
{
  guint slot;
  Frame *frame = cvis_jobs_peek (engine->in_flight, &slot);
  gboolean ok = FALSE;

  *job = NULL;
  if (frame == NULL || g_atomic_int_get (&frame->state) == FRAME_PENDING)
    return TRUE;
  *job = frame->task.job;
  if (frame->state == FRAME_FAILED)
    g_propagate_error (error, g_steal_pointer (&frame->error));
  else
    ok = engine->ops->wait (engine->backend, slot, error);
  cvis_jobs_pop (engine->in_flight);
  return ok;
}

void
denoise_engine_end (DenoiseEngine *engine)
{
  engine->ops->end (engine->backend);
  while (engine->n_pending > 0)
    start_oldest_pending (engine);
  engine->before = 0;
}
