/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The order of the stream, shared by the backends: places of the pictures,
 * reference of each search, frames in flight and their state. */
#include "cuda/motion/backend.h"
#include "cuda/motion/constant.h"
#include "cuda/motion/summary.h"

typedef enum {
  FRAME_PENDING, /* waits for future frames */
  FRAME_SEARCHED,
  FRAME_FAILED, /* the search did not start; error has the cause */
} FrameState;

/* A frame in flight; its index in the ring is its slot of the backend. */
typedef struct {
  MotionTask task;
  guint64 number; /* in the stream, from 0 */
  FrameState state;
  GError *error;
} Frame;

struct _MotionEngine {
  MotionConfig config;
  const MotionBackendOps *ops;
  MotionBackend *backend;
  gboolean cuda;
  MotionConstant *constant; /* used by the waiting thread */
  guint n_slots, n_pictures;

  /* used by the submitting thread */
  guint64 loaded;   /* frames since the engine was made; gives the next place */
  guint64 frames;   /* of this stream */
  guint n_pending;  /* youngest frames in flight, waiting for future frames */
  guint n_previous; /* fields of the previous frame searched in this stream */
  gint previous[CVIS_MOTION_MAX_FIELDS]; /* distances of these */

  GMutex lock; /* protects the members below and the states of frames */
  Frame *in_flight;
  guint first, n_in_flight;
};

/* --- making and freeing ---------------------------------------------------- */

MotionEngine *
motion_engine_new_on (const MotionBackendOps *ops, const MotionConfig *config,
    CvisContext *context, GError **error)
{
  MotionEngine *engine;
  MotionBackend *backend;
  MotionConstant *constant;

  if (!motion_config_check (config, error))
    return NULL;
  backend = ops->create (config, context, error);
  if (backend == NULL)
    return NULL;
  constant = motion_constant_new (config, error);
  if (constant == NULL) {
    ops->destroy (backend);
    return NULL;
  }
  engine = g_new0 (MotionEngine, 1);
  engine->config = *config;
  engine->ops = ops;
  engine->backend = backend;
  engine->cuda = context != NULL;
  engine->constant = constant;
  engine->n_slots = motion_config_get_n_slots (config);
  engine->n_pictures = motion_config_get_n_pictures (config);
  engine->in_flight = g_new0 (Frame, engine->n_slots);
  g_mutex_init (&engine->lock);
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

void
motion_engine_free (MotionEngine *engine)
{
  MotionJob *job;

  if (engine == NULL)
    return;
  do {
    motion_engine_wait (engine, &job, NULL);
  } while (job != NULL);
  engine->ops->destroy (engine->backend);
  motion_constant_free (engine->constant);
  g_mutex_clear (&engine->lock);
  g_free (engine->in_flight);
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

static gboolean
check_job (const MotionEngine *engine, const MotionJob *job, GError **error)
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
  if (job->on_device && !engine->cuda)
    return cvis_refuse (
        error, "the luma plane is on a device, the engine computes on the CPU");
  for (guint i = 0; i < motion_config_get_n_fields (config); i++)
    if (job->fields[i].vectors == NULL || job->fields[i].blocks == NULL)
      return cvis_refuse (error, "field %u has no memory for its %s", i,
          job->fields[i].vectors == NULL ? "vectors" : "blocks");
  return TRUE;
}

/* --- starting searches ------------------------------------------------------ */

/* Frame in flight with age @age; 0 is the youngest. */
static Frame *
frame_by_age (MotionEngine *engine, guint age)
{
  return &engine->in_flight[(engine->first + engine->n_in_flight - 1 - age)
                            % engine->n_slots];
}

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
  guint slot = (guint) (frame - engine->in_flight);

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
  g_mutex_lock (&engine->lock);
  frame->state = state;
  g_mutex_unlock (&engine->lock);
}

/* The frame that has waited longest for future frames. */
static void
start_oldest_pending (MotionEngine *engine)
{
  Frame *frame;

  g_mutex_lock (&engine->lock);
  frame = frame_by_age (engine, --engine->n_pending);
  g_mutex_unlock (&engine->lock);
  start_search (engine, frame);
}

/* --- the stream ------------------------------------------------------------- */

gboolean
motion_engine_submit (MotionEngine *engine, MotionJob *job, GError **error)
{
  guint picture = (guint) (engine->loaded % engine->n_pictures);
  guint ahead = engine->config.bidirectional ? engine->config.references : 0;
  gboolean full;
  Frame *frame;

  if (!check_job (engine, job, error))
    return FALSE;
  g_mutex_lock (&engine->lock);
  full = engine->n_in_flight == engine->n_slots;
  g_mutex_unlock (&engine->lock);
  if (full)
    return cvis_refuse (error,
        "%u frames are in flight, the maximum: wait for one of them first",
        engine->n_slots);
  if (!engine->ops->load (engine->backend, picture, job, error))
    return FALSE;

  g_mutex_lock (&engine->lock);
  engine->n_in_flight++;
  frame = frame_by_age (engine, 0);
  *frame = (Frame){
    .task = { .job = job, .picture = picture },
    .number = engine->frames,
  };
  g_mutex_unlock (&engine->lock);
  engine->loaded++;
  engine->frames++;
  engine->n_pending++;
  if (engine->n_pending > ahead)
    start_oldest_pending (engine);
  return TRUE;
}

/* The oldest frame in flight if its search has started, otherwise %NULL. */
static Frame *
find_ready (MotionEngine *engine)
{
  Frame *frame = NULL;

  g_mutex_lock (&engine->lock);
  if (engine->n_in_flight > 0
      && engine->in_flight[engine->first].state != FRAME_PENDING)
    frame = &engine->in_flight[engine->first];
  g_mutex_unlock (&engine->lock);
  return frame;
}

/* Whether all samples equal those of the reference. */
static gboolean
is_unchanged (const MotionConfig *config, const MotionField *field)
{
  guint n =
      motion_config_get_columns (config) * motion_config_get_rows (config);

  for (guint i = 0; i < n; i++)
    if (field->blocks[i].zero_sad > 0)
      return FALSE;
  return TRUE;
}

static void
summarise (MotionEngine *engine, MotionJob *job)
{
  if (job->flags & CVIS_MOTION_FRAME_FIRST)
    motion_constant_restart (engine->constant);
  motion_constant_mark (engine->constant, job->fields, job->n_fields);
  for (guint i = 0; i < job->n_fields; i++) {
    motion_summarise (&engine->config, &job->fields[i]);
    if (job->fields[i].distance == -1
        && is_unchanged (&engine->config, &job->fields[i]))
      job->flags |= CVIS_MOTION_FRAME_DUPLICATE;
  }
}

gboolean
motion_engine_wait (MotionEngine *engine, MotionJob **job, GError **error)
{
  Frame *frame = find_ready (engine);
  gboolean ok = FALSE;

  *job = NULL;
  if (frame == NULL)
    return TRUE;
  *job = frame->task.job;
  if (frame->state == FRAME_FAILED)
    g_propagate_error (error, g_steal_pointer (&frame->error));
  else
    ok = engine->ops->wait (
        engine->backend, (guint) (frame - engine->in_flight), error);
  if (ok)
    summarise (engine, *job);

  g_mutex_lock (&engine->lock);
  engine->first = (engine->first + 1) % engine->n_slots;
  engine->n_in_flight--;
  g_mutex_unlock (&engine->lock);
  return ok;
}

void
motion_engine_end (MotionEngine *engine)
{
  while (engine->n_pending > 0)
    start_oldest_pending (engine);
  engine->frames = 0;
  engine->n_previous = 0;
}
