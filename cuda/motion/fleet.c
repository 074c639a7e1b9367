/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/motion/fleet.h"

#include <string.h>

#include "cuda/motion/backend.h"

static gboolean
check_frame (gpointer engine, gconstpointer job, GError **error)
{
  return motion_engine_check (engine, job, error);
}

static gboolean
submit_frame (gpointer engine, gpointer job, GError **error)
{
  return motion_engine_submit (engine, job, error);
}

static gboolean
load_frame (gpointer engine, gpointer job, GError **error)
{
  return motion_engine_load (engine, job, error);
}

static void
end_frames (gpointer engine)
{
  motion_engine_end (engine);
}

static gboolean
wait_frame (gpointer engine, gpointer *job, GError **error)
{
  MotionJob *done;
  const gboolean ok = motion_engine_wait (engine, &done, error);

  *job = done;
  return ok;
}

static void
free_motion (gpointer engine)
{
  motion_engine_free (engine);
}

static const CvisFleetOps motion_fleet_ops = { .check = check_frame,
  .submit = submit_frame,
  .load = load_frame,
  .end = end_frames,
  .wait = wait_frame,
  .free = free_motion };

void
motion_fleet_init (CvisFleetConfig *fleet, const MotionConfig *config)
{
  *fleet = (CvisFleetConfig){ .ops = &motion_fleet_ops,
    .what = "frames",
    .depth = config->depth_in_flight,
    .chunk = config->chunk,
    .before = config->references,
    .after = config->bidirectional ? config->references : 0 };
}

/* --- the interface of an engine ------------------------------------------------ */

/* A frame with a luma of its own, in the memory of the frame's device or of the host */
typedef struct {
  MotionJob job;
  MotionJob *of; /* the caller's */
  guint8 *luma;
  CvisContext *device; /* %NULL: host memory */
} Copy;

struct _MotionOver {
  MotionConfig config;
  MotionConstant *constant; /* of the waiting thread */
  CvisFleet *fleet;
  CvisContext *context; /* for pinned memory; NULL: plain memory */
  gsize stride, rows;   /* of a copy */
  GAsyncQueue *spare;   /* of Copy */
  GPtrArray *copies;    /* all of them; of the submitting thread */
};

static gpointer
make_motion (CvisContext *context, gpointer over, GError **error)
{
  return motion_engine_new (&((MotionOver *) over)->config, context, error);
}

static void
finish_copy (gpointer copy, gpointer user_data)
{
  MotionOver *over = user_data;

  motion_finish (&over->config, over->constant, &((Copy *) copy)->job);
}

static void
release_copy (gpointer copy, gpointer over)
{
  g_async_queue_push (((MotionOver *) over)->spare, copy);
}

MotionOver *
motion_over_new (const MotionConfig *config, const CvisDevices *devices,
    const CvisFleetOwner *owner, GError **error)
{
  const gsize last = config->sampling - 1; /* of the samples in a square */
  MotionOver *over = g_new0 (MotionOver, 1);
  CvisFleetConfig fleet;

  over->config = *config;
  over->config.chunk = MOTION_CHUNK;
  over->context = devices->devices[0].context;
  over->rows = config->height * (last + 1);
  over->stride = (config->width * (last + 1) * (config->depth > 8 ? 2 : 1) + 63)
                 & ~(gsize) 63;
  over->spare = g_async_queue_new ();
  over->copies = g_ptr_array_new ();
  motion_fleet_init (&fleet, &over->config);
  fleet.finish = finish_copy;
  fleet.release = release_copy;
  fleet.user_data = over;
  over->constant = motion_constant_new (config, error);
  if (over->constant != NULL)
    over->fleet =
        cvis_devices_make_fleet (devices, owner, &fleet, make_motion, error);
  if (over->fleet == NULL)
    g_clear_pointer (&over, motion_over_free);
  return over;
}

/* Allocates or frees the luma of a copy, in the memory where its frame is. */
static void
free_luma (MotionOver *over, Copy *copy)
{
  if (copy->device != NULL) {
    cvis_device_free (copy->device, copy->luma);
    cvis_context_unref (copy->device);
  } else if (over->context != NULL) {
    cvis_pinned_free (over->context, copy->luma);
  } else {
    g_free (copy->luma);
  }
  copy->luma = NULL;
  copy->device = NULL;
}

static gboolean
make_luma (MotionOver *over, Copy *copy, CvisContext *device, GError **error)
{
  const gsize size = over->stride * over->rows;

  if (device != NULL)
    copy->luma = cvis_device_alloc (device, size, error);
  else if (over->context != NULL)
    copy->luma = cvis_pinned_alloc (over->context, size, error);
  else
    copy->luma = g_try_malloc (size);
  if (copy->luma != NULL)
    copy->device = device != NULL ? cvis_context_ref (device) : NULL;
  else if (device == NULL && over->context == NULL)
    g_set_error (error, CVIS_ERROR, CVIS_ERROR_MEMORY,
        "no memory for a copy of %" G_GSIZE_FORMAT " bytes", size);
  return copy->luma != NULL;
}

void
motion_over_free (MotionOver *over)
{
  cvis_fleet_free (over->fleet);
  for (guint i = 0; i < over->copies->len; i++) {
    free_luma (over, over->copies->pdata[i]);
    g_free (over->copies->pdata[i]);
  }
  g_ptr_array_unref (over->copies);
  g_async_queue_unref (over->spare);
  motion_constant_free (over->constant);
  g_free (over);
}

CvisFleet *
motion_over_get_fleet (MotionOver *over)
{
  return over->fleet;
}

/* Returns: a spare copy, or a new one, with a luma on @device; %NULL with
 * CVIS_ERROR_MEMORY or _CUDA */
static Copy *
get_copy (MotionOver *over, CvisContext *device, GError **error)
{
  Copy *copy = g_async_queue_try_pop (over->spare);

  if (copy == NULL) {
    copy = g_new0 (Copy, 1);
    g_ptr_array_add (over->copies, copy);
  }
  if (copy->luma != NULL && copy->device != device)
    free_luma (over, copy);
  if (copy->luma != NULL || make_luma (over, copy, device, error))
    return copy;
  release_copy (copy, over);
  return NULL;
}

/* Copies the rows that are searched, with all of their samples. */
static gboolean
copy_luma (
    const MotionOver *over, Copy *copy, const MotionJob *job, GError **error)
{
  const CvisDeviceRows to = { copy->device, copy->luma, over->stride };
  const guint step = over->config.sampling, middle = step / 2;
  const gsize row = motion_config_get_source_bytes (&over->config);

  if (copy->device != NULL)
    return motion_job_copy_rows (&over->config, job, &to, error);
  for (guint y = 0; y < over->config.height; y++) {
    const gsize at = (gsize) y * step + middle;

    memcpy (copy->luma + at * over->stride, job->luma + at * job->stride, row);
  }
  return TRUE;
}

gboolean
motion_over_submit (MotionOver *over, MotionJob *job, GError **error)
{
  CvisContext *device = job->on_device ? job->context : NULL;
  Copy *copy = get_copy (over, device, error);

  if (copy == NULL)
    return FALSE;
  copy->job = *job;
  copy->job.luma = copy->luma;
  copy->job.stride = over->stride;
  copy->job.pinned = device == NULL && over->context != NULL;
  copy->job.stream = NULL;
  copy->of = job;
  if (copy_luma (over, copy, job, error)
      && cvis_fleet_submit (over->fleet, copy, error))
    return TRUE;
  release_copy (copy, over);
  return FALSE;
}

gboolean
motion_over_wait (MotionOver *over, MotionJob **job, GError **error)
{
  gpointer done;
  const gboolean ok = cvis_fleet_wait (over->fleet, &done, error);
  const Copy *copy = done;

  *job = copy != NULL ? copy->of : NULL;
  if (copy == NULL || !ok)
    return ok;
  (*job)->n_fields = copy->job.n_fields;
  (*job)->flags = copy->job.flags;
  for (guint i = 0; i < copy->job.n_fields; i++)
    (*job)->fields[i] = copy->job.fields[i];
  return TRUE;
}

void
motion_over_end (MotionOver *over)
{
  cvis_fleet_end (over->fleet);
}
