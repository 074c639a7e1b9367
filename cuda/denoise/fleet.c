/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/denoise/fleet.h"

static gboolean
submit_denoising (gpointer engine, gpointer job, GError **error)
{
  return denoise_engine_submit (engine, job, error);
}

static gboolean
load_neighbour (gpointer engine, gpointer job, GError **error)
{
  return denoise_engine_load (engine, job, error);
}

static void
end_denoising (gpointer engine)
{
  denoise_engine_end (engine);
}

static gboolean
wait_denoising (gpointer engine, gpointer *job, GError **error)
{
  DenoiseJob *done;
  const gboolean ok = denoise_engine_wait (engine, &done, error);

  *job = done;
  return ok;
}

static void
free_denoising (gpointer engine)
{
  denoise_engine_free (engine);
}

static const CvisFleetOps denoise_fleet_ops = { .submit = submit_denoising,
  .load = load_neighbour,
  .end = end_denoising,
  .wait = wait_denoising,
  .free = free_denoising };

void
denoise_fleet_init (CvisFleetConfig *fleet, const DenoiseConfig *config)
{
  *fleet = (CvisFleetConfig){ .ops = &denoise_fleet_ops,
    .what = "frames",
    .depth = config->depth_in_flight,
    .chunk = config->chunk,
    .before = denoise_config_get_before (config),
    .after = denoise_config_get_after (config) };
}

/* --- the interface of an engine ------------------------------------------------ */

/* A frame, until no other needs it: the caller may use its job again before */
typedef struct {
  DenoiseJob job;
  DenoiseJob *of; /* the caller's */
  gboolean held;  /* by the fleet */
} Held;

struct _DenoiseOver {
  DenoiseConfig config;
  CvisFleet *fleet;
  GAsyncQueue *spare; /* of Held */
  GPtrArray *all;     /* of the submitting thread */
};

static gpointer
make_denoising (CvisContext *context, gpointer over, GError **error)
{
  return denoise_engine_new (&((DenoiseOver *) over)->config, context, error);
}

static void
release_held (gpointer data, gpointer over)
{
  Held *held = data;

  if (held->job.release != NULL)
    held->job.release (held->job.input);
  held->held = FALSE;
  g_async_queue_push (((DenoiseOver *) over)->spare, held);
}

DenoiseOver *
denoise_over_new (const DenoiseConfig *config, const CvisDevices *devices,
    const CvisFleetOwner *owner, GError **error)
{
  DenoiseOver *over = g_new0 (DenoiseOver, 1);
  CvisFleetConfig fleet;

  over->config = *config;
  if (config->chunk == 0)
    over->config.chunk = denoise_config_get_chunk (config, FALSE);
  over->spare = g_async_queue_new ();
  over->all = g_ptr_array_new_with_free_func (g_free);
  denoise_fleet_init (&fleet, &over->config);
  /* for each device a chunk that it computes and one that comes next, and one more while a
   * device is slower: fewer than usual, because chunks are long */
  if (over->config.chunk > 1)
    fleet.size = (2 * devices->n + 1) * over->config.chunk + fleet.after;
  fleet.release = release_held;
  fleet.user_data = over;
  over->fleet =
      cvis_devices_make_fleet (devices, owner, &fleet, make_denoising, error);
  if (over->fleet == NULL)
    g_clear_pointer (&over, denoise_over_free);
  return over;
}

void
denoise_over_free (DenoiseOver *over)
{
  cvis_fleet_free (over->fleet);
  for (guint i = 0; i < over->all->len; i++) {
    Held *held = over->all->pdata[i];

    if (held->held)
      release_held (held, over);
  }
  g_async_queue_unref (over->spare);
  g_ptr_array_unref (over->all);
  g_free (over);
}

CvisFleet *
denoise_over_get_fleet (DenoiseOver *over)
{
  return over->fleet;
}

gboolean
denoise_over_submit (DenoiseOver *over, DenoiseJob *job, GError **error)
{
  Held *held = g_async_queue_try_pop (over->spare);

  if (held == NULL) {
    held = g_new0 (Held, 1);
    g_ptr_array_add (over->all, held);
  }
  *held = (Held){ .job = *job, .of = job, .held = TRUE };
  if (cvis_fleet_submit (over->fleet, held, error))
    return TRUE;
  held->held = FALSE;
  g_async_queue_push (over->spare, held);
  return FALSE;
}

gboolean
denoise_over_wait (DenoiseOver *over, DenoiseJob **job, GError **error)
{
  gpointer done;
  const gboolean ok = cvis_fleet_wait (over->fleet, &done, error);
  const Held *held = done;

  *job = held != NULL ? held->of : NULL;
  if (held == NULL)
    return ok;
  for (guint c = 0; c < 3; c++)
    (*job)->sigma[c] = held->job.sigma[c];
  (*job)->starts_scene = held->job.starts_scene;
  return ok;
}

void
denoise_over_end (DenoiseOver *over)
{
  cvis_fleet_end (over->fleet);
}
