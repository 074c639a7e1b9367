/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The order of the stream, shared by the backends: which frames a result may use,
 * frames in flight and their state. */
#include "cuda/core/error.h"
#include "cuda/core/jobs.h"
#include "cuda/denoise/backend.h"
#include "cuda/denoise/fleet.h"

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
  DenoiseOver *over; /* several devices: the rest is not used */
  const DenoiseBackendOps *ops;
  DenoiseBackend *backend;
  CvisJobs *in_flight; /* of Frame */
  Frame *frames;

  /* used by the submitting thread */
  guint64 number; /* of the next frame */
  guint64 first;  /* of this stream or chunk, whose motion is searched */
  guint before;   /* frames of the stream before it, as many as matter */
  guint n_pending;
  guint n_ahead; /* frames loaded before a chunk, which have not followed */
  guint n_after; /* frames loaded after those that are pending */
};

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

DenoiseEngine *
denoise_engine_new_over (const DenoiseConfig *config,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error)
{
  DenoiseEngine *engine;
  DenoiseOver *over = denoise_over_new (config, devices, owner, error);

  if (over == NULL)
    return NULL;
  engine = g_new0 (DenoiseEngine, 1);
  engine->config = *config;
  engine->over = over;
  return engine;
}

CvisFleet *
denoise_engine_get_fleet (DenoiseEngine *engine)
{
  return engine->over != NULL ? denoise_over_get_fleet (engine->over) : NULL;
}

void
denoise_engine_free (DenoiseEngine *engine)
{
  DenoiseJob *job;

  if (engine == NULL)
    return;
  if (engine->over != NULL) {
    denoise_over_free (engine->over);
    g_free (engine);
    return;
  }
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
  if (engine->over != NULL)
    return cvis_fleet_get_size (denoise_over_get_fleet (engine->over));
  return denoise_config_get_n_slots (&engine->config);
}

/* Starts the frame that has waited longest. */
static void
start_oldest_pending (DenoiseEngine *engine)
{
  Frame *frame = cvis_jobs_get_recent (engine->in_flight, --engine->n_pending);
  const guint slot = (guint) (frame - engine->frames);
  gint state = FRAME_STARTED;

  frame->task.after = MIN (engine->n_pending + engine->n_after,
      denoise_config_get_after (&engine->config));
  if (!engine->ops->filter (engine->backend, slot, &frame->task, &frame->error))
    state = FRAME_FAILED;
  g_atomic_int_set (&frame->state, state);
}

/* Starts the frame whose last later frame has come. */
static void
start_pending (DenoiseEngine *engine)
{
  if (engine->n_pending + engine->n_after
      > denoise_config_get_after (&engine->config))
    start_oldest_pending (engine);
}

/* Has the motion of the frames before a chunk searched. The outermost one is needed as a
 * reference only; if the stream begins later there are fewer, and none is outermost. */
static gboolean
follow_ahead (DenoiseEngine *engine, GError **error)
{
  const guint all = denoise_config_get_before (&engine->config);
  const gboolean outermost = engine->n_ahead > 0 && engine->n_ahead == all;

  if (outermost)
    engine->first++;
  for (guint i = engine->n_ahead; i > 0; i--)
    if (!engine->ops->follow (
            engine->backend, engine->number - i, outermost && i == all, error))
      return FALSE;
  engine->n_ahead = 0;
  return TRUE;
}

static void
count_before (DenoiseEngine *engine)
{
  engine->before =
      MIN (engine->before + 1, denoise_config_get_before (&engine->config) + 1);
}

gboolean
denoise_engine_submit (DenoiseEngine *engine, DenoiseJob *job, GError **error)
{
  Frame *frame;
  guint slot;

  if (engine->over != NULL)
    return denoise_over_submit (engine->over, job, error);
  if (!cvis_jobs_find_slot (engine->in_flight, "frames", &slot, error)
      || !follow_ahead (engine, error)
      || !engine->ops->load (engine->backend, engine->number, job, error)
      || !engine->ops->follow (engine->backend, engine->number, FALSE, error))
    return FALSE;
  frame = &engine->frames[slot];
  *frame = (Frame){ .task = { .job = job,
                        .number = engine->number++,
                        .first = engine->first,
                        .before = MIN (engine->before,
                            denoise_config_get_before (&engine->config)) } };
  count_before (engine);
  cvis_jobs_push (engine->in_flight, frame);
  engine->n_pending++;
  start_pending (engine);
  return TRUE;
}

gboolean
denoise_engine_load (DenoiseEngine *engine, DenoiseJob *job, GError **error)
{
  const guint after = denoise_config_get_after (&engine->config);
  const gboolean ahead = engine->before == engine->n_ahead;

  if (!engine->ops->load (engine->backend, engine->number, job, error)
      || (!ahead
          && !engine->ops->follow (engine->backend, engine->number,
              engine->n_after + 1 == after, error)))
    return FALSE;
  engine->number++;
  count_before (engine);
  if (ahead) {
    engine->n_ahead++;
  } else {
    engine->n_after++;
    start_pending (engine);
  }
  return TRUE;
}

gboolean
denoise_engine_wait (DenoiseEngine *engine, DenoiseJob **job, GError **error)
{
  guint slot;
  Frame *frame;
  gboolean ok = FALSE;

  if (engine->over != NULL)
    return denoise_over_wait (engine->over, job, error);
  frame = cvis_jobs_peek (engine->in_flight, &slot);
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
  if (engine->over != NULL) {
    denoise_over_end (engine->over);
    return;
  }
  engine->ops->end (engine->backend);
  while (engine->n_pending > 0)
    start_oldest_pending (engine);
  engine->first = engine->number;
  engine->before = engine->n_ahead = engine->n_after = 0;
}
