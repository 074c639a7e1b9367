/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The order of the stream, shared by the backends: places of the pictures,
 * reference of each search, frames in flight and their state. */
#include "cuda/core/jobs.h"
#include "cuda/motion/backend.h"
#include "cuda/motion/finish.h"
#include "cuda/motion/fleet.h"

typedef enum {
  FRAME_PENDING, /* waits for future frames */
  FRAME_SEARCHED,
  FRAME_FAILED, /* the search did not start; error has the cause */
} FrameState;

/* A frame in flight, at the index of its slot of the backend */
typedef struct {
  MotionTask task;
  guint64 number; /* in the stream, from 0 */
  gint state;     /* FrameState; atomic */
  GError *error;
} Frame;

struct _MotionEngine {
  MotionConfig config;
  MotionOver *over; /* several devices: the rest is not used */
  const MotionBackendOps *ops;
  MotionBackend *backend;
  gboolean cuda;
  MotionConstant *constant; /* of the waiting thread; NULL: not used */
  guint n_pictures;
  Frame *frames_of_slots;
  CvisJobs *in_flight; /* of these frames */

  /* used by the submitting thread */
  guint64 loaded;   /* frames since the engine was made; gives the next place */
  guint64 frames;   /* of this stream */
  guint n_pending;  /* youngest frames in flight, waiting for future frames */
  guint n_after;    /* frames loaded after these */
  guint n_previous; /* fields of the previous frame searched in this stream */
  gint previous[CVIS_MOTION_MAX_FIELDS]; /* distances of these */
};

/* --- making and freeing ---------------------------------------------------- */

MotionEngine *
motion_engine_new_on (const MotionBackendOps *ops, const MotionConfig *config,
    CvisContext *context, GError **error)
{
  MotionEngine *engine;
  MotionBackend *backend;
  MotionConstant *constant = NULL;

  if (!motion_config_check (config, error))
    return NULL;
  backend = ops->create (config, context, error);
  if (backend == NULL)
    return NULL;
  if (config->chunk == 0 && !config->fields_only) {
    constant = motion_constant_new (config, error);
    if (constant == NULL) {
      ops->destroy (backend);
      return NULL;
    }
  }
  engine = g_new0 (MotionEngine, 1);
  engine->config = *config;
  engine->ops = ops;
  engine->backend = backend;
  engine->cuda = context != NULL;
  engine->constant = constant;
  engine->n_pictures = motion_config_get_n_pictures (config);
  engine->frames_of_slots = g_new0 (Frame, motion_config_get_n_slots (config));
  engine->in_flight = cvis_jobs_new (motion_config_get_n_slots (config));
  return engine;
}

MotionEngine *
motion_engine_new (
    const MotionConfig *config, CvisContext *context, GError **error)
{
  const MotionBackendOps *ops = &motion_backend_cpu;

#ifdef HAVE_CUDA
  if (context != NULL)
    ops = &motion_backend_cuda;
#endif
  return motion_engine_new_on (ops, config, context, error);
}

MotionEngine *
motion_engine_new_over (const MotionConfig *config, const CvisDevices *devices,
    const CvisFleetOwner *owner, GError **error)
{
  MotionEngine *engine;
  MotionOver *over = motion_over_new (config, devices, owner, error);

  if (over == NULL)
    return NULL;
  engine = g_new0 (MotionEngine, 1);
  engine->config = *config;
  engine->over = over;
  return engine;
}

guint
motion_engine_get_depth (MotionEngine *engine)
{
  const MotionConfig *config = &engine->config;

  if (engine->over != NULL)
    return cvis_fleet_get_size (motion_over_get_fleet (engine->over));
  return config->depth_in_flight
         + (config->bidirectional ? config->references : 0);
}

CvisFleet *
motion_engine_get_fleet (MotionEngine *engine)
{
  return engine->over != NULL ? motion_over_get_fleet (engine->over) : NULL;
}

void
motion_engine_free (MotionEngine *engine)
{
  MotionJob *job;

  if (engine == NULL)
    return;
  if (engine->over != NULL) {
    motion_over_free (engine->over);
    g_free (engine);
    return;
  }
  do {
    motion_engine_wait (engine, &job, NULL);
  } while (job != NULL);
  engine->ops->destroy (engine->backend);
  motion_constant_free (engine->constant);
  cvis_jobs_free (engine->in_flight);
  g_free (engine->frames_of_slots);
  g_free (engine);
}

/* --- checks of a job ----------------------------------------------------- */

static gboolean
check_plane (const MotionConfig *config, const gchar *what, gconstpointer data,
    gsize stride, GError **error)
{
  gsize bytes = config->depth > 8 ? 2 : 1;

  if (data == NULL)
    return cvis_refuse (error, "the %s plane is NULL: set its address", what);
  if (stride < bytes * config->width)
    return cvis_refuse (error,
        "the stride of the %s plane is %" G_GSIZE_FORMAT
        " bytes, less than a row of %" G_GSIZE_FORMAT,
        what, stride, bytes * config->width);
  if (stride % bytes != 0 || GPOINTER_TO_SIZE (data) % bytes != 0)
    return cvis_refuse (error,
        "address or stride of the %s plane is odd, its samples have 2 bytes",
        what);
  return TRUE;
}

gboolean
motion_engine_check (MotionEngine *engine, const MotionJob *job, GError **error)
{
  const MotionConfig *config = &engine->config;
  guint largest = config->depth > 8 ? 16 - config->depth : 0;

  if (!check_plane (config, "luma", job->luma, job->stride, error))
    return FALSE;
  if (job->prediction
      && !check_plane (
          config, "prediction", job->prediction, job->prediction_stride, error))
    return FALSE;
  if (job->residual
      && !check_plane (
          config, "residual", job->residual, job->residual_stride, error))
    return FALSE;
  if (job->shift > largest)
    return cvis_refuse (error,
        "samples of %u bits are shifted by %u, must be 0 to %u", config->depth,
        job->shift, largest);
  if (job->on_device && !engine->cuda && job->context == NULL)
    return cvis_refuse (error, "the luma plane is on a device, and the engine "
                               "is not: its context is needed");
  for (guint i = 0; i < motion_config_get_n_fields (config); i++)
    if (job->fields[i].vectors == NULL || job->fields[i].blocks == NULL)
      return cvis_refuse (error, "field %u has no memory for its %s", i,
          job->fields[i].vectors == NULL ? "vectors" : "blocks");
  return TRUE;
}

/* --- starting searches ------------------------------------------------------ */

/* Adds the field of @frame with @distance, if that reference exists. */
static void
add_field (MotionEngine *engine, Frame *frame, gint distance)
{
  MotionTask *task = &frame->task;
  MotionJob *job = task->job;
  gint64 reference = (gint64) frame->number + distance;
  guint i = job->n_fields;

  if (reference < 0 || reference >= (gint64) engine->frames)
    return;
  task->reference[i] =
      (task->picture + engine->n_pictures + distance) % engine->n_pictures;
  task->prior[i] = i < engine->n_previous && engine->previous[i] == distance;
  job->fields[i].distance = distance;
  job->n_fields++;
}

/* Records the distances for the prior fields of the next frame. */
static void
remember_fields (MotionEngine *engine, const MotionJob *job)
{
  engine->n_previous = job->n_fields;
  for (guint i = 0; i < job->n_fields; i++)
    engine->previous[i] = job->fields[i].distance;
}

/* Starts the searches of a frame. A failure is stored until the caller waits
 * for the frame. */
static void
start_search (MotionEngine *engine, Frame *frame)
{
  MotionJob *job = frame->task.job;
  FrameState state = FRAME_SEARCHED;
  guint slot = (guint) (frame - engine->frames_of_slots);

  job->flags = frame->number == 0 ? CVIS_MOTION_FRAME_FIRST : 0;
  job->n_fields = 0;
  for (gint k = 1; k <= (gint) engine->config.references; k++) {
    add_field (engine, frame, -k);
    if (engine->config.bidirectional)
      add_field (engine, frame, k);
  }
  if (engine->ops->search (
          engine->backend, slot, &frame->task, &frame->error)) {
    remember_fields (engine, job);
  } else {
    state = FRAME_FAILED;
    engine->n_previous = 0;
  }
  g_atomic_int_set (&frame->state, state);
}

/* The frame that has waited longest for future frames. */
static void
start_oldest_pending (MotionEngine *engine)
{
  start_search (
      engine, cvis_jobs_get_recent (engine->in_flight, --engine->n_pending));
}

/* Starts the frame whose last future frame has come. */
static void
start_pending (MotionEngine *engine)
{
  guint ahead = engine->config.bidirectional ? engine->config.references : 0;

  if (engine->n_pending + engine->n_after > ahead)
    start_oldest_pending (engine);
}

/* --- the stream ------------------------------------------------------------- */

gboolean
motion_engine_submit (MotionEngine *engine, MotionJob *job, GError **error)
{
  guint picture, slot;

  if (engine->over != NULL)
    return motion_engine_check (engine, job, error)
           && motion_over_submit (engine->over, job, error);
  picture = (guint) (engine->loaded % engine->n_pictures);
  if (!motion_engine_check (engine, job, error)
      || !cvis_jobs_find_slot (engine->in_flight, "frames", &slot, error)
      || !engine->ops->load (engine->backend, picture, job, error))
    return FALSE;
  engine->frames_of_slots[slot] = (Frame){
    .task = { .job = job, .picture = picture },
    .number = engine->frames,
    .state = FRAME_PENDING,
  };
  cvis_jobs_push (engine->in_flight, &engine->frames_of_slots[slot]);
  engine->loaded++;
  engine->frames++;
  engine->n_pending++;
  start_pending (engine);
  return TRUE;
}

gboolean
motion_engine_load (MotionEngine *engine, MotionJob *job, GError **error)
{
  guint picture = (guint) (engine->loaded % engine->n_pictures);

  if (!motion_engine_check (engine, job, error)
      || !engine->ops->load (engine->backend, picture, job, error))
    return FALSE;
  engine->loaded++;
  engine->frames++;
  if (engine->n_pending > 0) {
    engine->n_after++;
    start_pending (engine);
  }
  return TRUE;
}

/* The oldest frame in flight if its search has started, otherwise %NULL. */
static Frame *
find_ready (MotionEngine *engine, guint *slot)
{
  Frame *frame = cvis_jobs_peek (engine->in_flight, slot);

  return frame != NULL && g_atomic_int_get (&frame->state) != FRAME_PENDING
             ? frame
             : NULL;
}

gboolean
motion_engine_wait (MotionEngine *engine, MotionJob **job, GError **error)
{
  guint slot;
  Frame *frame;
  gboolean ok = FALSE;

  if (engine->over != NULL)
    return motion_over_wait (engine->over, job, error);
  frame = find_ready (engine, &slot);
  *job = NULL;
  if (frame == NULL)
    return TRUE;
  *job = frame->task.job;
  if (frame->state == FRAME_FAILED)
    g_propagate_error (error, g_steal_pointer (&frame->error));
  else
    ok = engine->ops->wait (engine->backend, slot, error);
  if (ok && engine->constant != NULL)
    motion_finish (&engine->config, engine->constant, *job);
  cvis_jobs_pop (engine->in_flight);
  return ok;
}

void
motion_engine_end (MotionEngine *engine)
{
  if (engine->over != NULL) {
    motion_over_end (engine->over);
    return;
  }
  while (engine->n_pending > 0)
    start_oldest_pending (engine);
  engine->frames = 0;
  engine->n_after = 0;
  engine->n_previous = 0;
}
