/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Checks of jobs; shared by the backends. */
#include "cuda/core/jobs.h"
#include "cuda/lifting/backend.h"
#include "cuda/lifting/fleet.h"
#include "cuda/lifting/splitter.h"

/* With several devices only the plan, cuda, and either the fleet, for whole surfaces, or
 * the splitter are set. */
struct _LwtEngine {
  LwtPlan plan;
  const LwtBackendOps *ops;
  LwtBackend *backend;
  gboolean cuda;
  CvisJobs *jobs;
  CvisFleet *fleet;
  LwtSplitter *splitter;
};

LwtEngine *
lwt_engine_new_on (const LwtBackendOps *ops, const LwtConfig *config,
    CvisContext *context, GError **error)
{
  LwtEngine *engine = g_new0 (LwtEngine, 1);

  if (lwt_plan_init (&engine->plan, config, error))
    engine->backend = ops->create (&engine->plan, context, error);
  if (engine->backend == NULL) {
    g_free (engine);
    return NULL;
  }
  engine->ops = ops;
  engine->cuda = context != NULL;
  engine->jobs = cvis_jobs_new (config->depth_in_flight);
  return engine;
}

/* --- over several devices --------------------------------------------------- */

static gpointer
make_lifting (CvisContext *context, gpointer engine, GError **error)
{
  return lwt_engine_new (&((LwtEngine *) engine)->plan.config, context, error);
}

LwtEngine *
lwt_engine_new_over (const LwtConfig *config, const CvisDevices *devices,
    const CvisFleetOwner *owner, GError **error)
{
  LwtEngine *engine = g_new0 (LwtEngine, 1);
  const CvisFleetConfig fleet = { .ops = &lwt_fleet_ops,
    .what = "surfaces",
    .depth = config->depth_in_flight,
    .user_data = engine };

  engine->cuda = devices->devices[0].context != NULL;
  if (lwt_plan_init (&engine->plan, config, error)
      && lwt_splitter_new (
          &engine->splitter, &engine->plan, devices, owner, error)
      && engine->splitter == NULL)
    engine->fleet =
        cvis_devices_make_fleet (devices, owner, &fleet, make_lifting, error);
  if (engine->fleet == NULL && engine->splitter == NULL)
    g_clear_pointer (&engine, g_free);
  return engine;
}

guint
lwt_engine_get_depth (LwtEngine *engine)
{
  return engine->fleet != NULL ? cvis_fleet_get_size (engine->fleet)
                               : engine->plan.config.depth_in_flight;
}

CvisFleet *
lwt_engine_get_fleet (LwtEngine *engine)
{
  return engine->splitter != NULL ? lwt_splitter_get_fleet (engine->splitter)
                                  : engine->fleet;
}

guint
lwt_engine_count_blocks (LwtEngine *engine)
{
  return engine->splitter != NULL ? lwt_splitter_count_blocks (engine->splitter)
                                  : 1;
}

/* --- freeing ----------------------------------------------------------------- */

void
lwt_engine_free (LwtEngine *engine)
{
  LwtJob *job;

  if (engine == NULL)
    return;
  if (engine->fleet != NULL || engine->splitter != NULL) {
    cvis_fleet_free (engine->fleet);
    g_clear_pointer (&engine->splitter, lwt_splitter_free);
    g_free (engine);
    return;
  }
  do {
    lwt_engine_wait (engine, &job, NULL);
  } while (job != NULL);
  engine->ops->destroy (engine->backend);
  cvis_jobs_free (engine->jobs);
  g_free (engine);
}

/* --- checks of a job ----------------------------------------------------- */

static gboolean
check_plane (const gchar *what, gconstpointer data, gsize stride, guint width,
    gsize bytes, GError **error)
{
  if (data == NULL)
    return cvis_refuse (error, "the %s has no memory: set its address", what);
  if (stride < bytes * width)
    return cvis_refuse (error,
        "the stride of the %s is %" G_GSIZE_FORMAT
        " bytes, less than a row of %" G_GSIZE_FORMAT,
        what, stride, bytes * width);
  if (stride % bytes != 0 || GPOINTER_TO_SIZE (data) % bytes != 0)
    return cvis_refuse (error,
        "address or stride of the %s is not a multiple of its samples' "
        "%" G_GSIZE_FORMAT " bytes",
        what, bytes);
  return TRUE;
}

/* Operations that only the CUDA backend supports. */
static gboolean
check_device_job (const LwtEngine *engine, const LwtJob *job, GError **error)
{
  const LwtConfig *config = &engine->plan.config;
  const LwtPlane *part = &job->parts[CVIS_SURFACE_PART_MEASURED];

  if (job->n_runs > 0 && !engine->cuda)
    return cvis_refuse (error,
        "the surface is a row block, which only the CUDA backend collects");
  if (job->n_copies > LWT_MAX_COPIES || (job->n_copies > 0 && !engine->cuda))
    return cvis_refuse (error,
        "%u copies are requested, but only the CUDA backend copies",
        job->n_copies);
  if ((job->step > 1 && (!job->on_device || config->store_bits == 0))
      || (part->step > 1 && (!part->on_device || config->store_bits == 0)))
    return cvis_refuse (error, "a step between samples is supported only for "
                               "denoise of integers on a device");
  return TRUE;
}

gboolean
lwt_engine_check (LwtEngine *engine, const LwtJob *job, GError **error)
{
  static const gchar *const names[CVIS_SURFACE_N_PARTS] = { "output surface",
    "noise", "roughness", "waviness", "form", "bands" };
  const LwtPlan *plan = &engine->plan;
  const LwtConfig *config = &plan->config;
  const gboolean inverse = config->operation == LWT_OPERATION_INVERSE;

  if (job->n_runs == 0
      && !check_plane (inverse ? "bands" : "surface", job->data, job->stride,
          inverse ? plan->width : config->width,
          lwt_sample_get_size (config->sample), error))
    return FALSE;
  if (job->on_device && !engine->cuda)
    return cvis_refuse (
        error, "the surface is on a device, the engine computes on the CPU");
  if (job->measured & ~config->parameters)
    return cvis_refuse (error,
        "the engine was not configured to measure all components of 0x%x",
        job->measured);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const LwtPlane *part = &job->parts[i];

    if (part->data == NULL)
      continue;
    if ((config->parts & (1u << i)) == 0)
      return cvis_refuse (
          error, "the engine was not configured to compute the %s", names[i]);
    if (part->n_runs > 0 && !engine->cuda)
      return cvis_refuse (error,
          "the %s is of a row block, which only the CUDA backend distributes",
          names[i]);
    if (part->n_runs == 0
        && !check_plane (names[i], part->data, part->stride,
            i == CVIS_SURFACE_PART_BANDS ? plan->width : config->width,
            lwt_config_get_part_size (config, (CvisSurfacePart) i), error))
      return FALSE;
    if (part->on_device && !engine->cuda)
      return cvis_refuse (error,
          "the %s is wanted on a device, the engine computes on the CPU",
          names[i]);
  }
  return check_device_job (engine, job, error);
}

/* --- in and out ------------------------------------------------------------- */

static void
clear_results (LwtJob *job)
{
  job->missing = 0;
  job->offset = 0.0;
  job->threshold = 0.0;
  for (guint i = 0; i < G_N_ELEMENTS (job->polynomial); i++)
    job->polynomial[i] = 0.0;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    job->parameters[i] = (CvisSurfaceParameters){ 0 };
}

gboolean
lwt_engine_submit (LwtEngine *engine, LwtJob *job, GError **error)
{
  guint slot;

  if (engine->fleet != NULL)
    return cvis_fleet_submit (engine->fleet, job, error);
  if (!lwt_engine_check (engine, job, error)
      || (engine->splitter == NULL
          && !cvis_jobs_find_slot (engine->jobs, "surfaces", &slot, error)))
    return FALSE;
  clear_results (job);
  if (engine->splitter != NULL)
    return lwt_splitter_submit (engine->splitter, job, error);
  if (!engine->ops->submit (engine->backend, slot, job, error))
    return FALSE;
  cvis_jobs_push (engine->jobs, job);
  return TRUE;
}

gboolean
lwt_engine_wait (LwtEngine *engine, LwtJob **job, GError **error)
{
  guint slot;
  gboolean ok;

  if (engine->fleet != NULL) {
    gpointer done;

    ok = cvis_fleet_wait (engine->fleet, &done, error);
    *job = done;
    return ok;
  }
  if (engine->splitter != NULL)
    return lwt_splitter_wait (engine->splitter, job, error);
  *job = cvis_jobs_peek (engine->jobs, &slot);
  if (*job == NULL)
    return TRUE;
  ok = engine->ops->wait (engine->backend, slot, error);
  cvis_jobs_pop (engine->jobs);
  return ok;
}

const gchar *
lwt_engine_describe (LwtEngine *engine)
{
  if (engine->ops == NULL || engine->ops->describe == NULL)
    return NULL; /* other threads submit to the engines of a fleet */
  return engine->ops->describe (engine->backend);
}
