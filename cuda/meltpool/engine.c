/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by both backends: names, scales, checks of the settings, and the
 * order of batches. */
#include "cuda/core/jobs.h"
#include "cuda/meltpool/backend.h"
#include "cuda/meltpool/fleet.h"

/* With a fleet only that, the window, the model and the config are set. */
struct _PbfEngine {
  PbfConfig config;
  CvisFleet *fleet;
  PbfWindow *window;

  const PbfBackendOps *ops;
  PbfBackend *backend;
  PbfModel *model;
  gboolean cuda;
  guint64 position;
  CvisJobs *batches;
};

guint
pbf_feature_scale (guint index)
{
  g_return_val_if_fail (index < CVIS_PBF_N_SPATIAL, 1);
  return (guint) pbf_scale (index);
}

void
pbf_config_init (PbfConfig *config)
{
  memset (config, 0, sizeof *config);
  config->width = config->height = 96;
  config->threshold = 100;
  config->connectivity = 4;
  config->search_radius = 4.0;
  config->roi_size = CVIS_PBF_ROI_SIDE;
  config->roi_align = 1;
  config->spatter_scope = PBF_SPATTER_SCOPE_ROI;
  config->min_spatter_area = 1;
  config->polar_inner = 0.0;
  config->polar_outer = 20.0;
  config->window = 20;
  config->window_reset = PBF_WINDOW_RESET_NONE;
  config->max_gap = 10;
  config->activation = PBF_ACTIVATION_NONE;
  config->labelling = PBF_LABELLING_AUTO;
  config->transfer = PBF_TRANSFER_AUTO;
  config->mode = PBF_MODE_BATCH;
  config->parallel_frames = 8;
  config->idle_sleep_ns = 500;
  config->spin_us = 50;
  config->lifetime_ms = 100;
  config->threads = 1;
  config->max_batch = 256;
  config->depth = 3;
}

gboolean
pbf_config_check (const PbfConfig *config, GError **error)
{
  const PbfConfig *c = config;

  if (c->roi_size < PBF_MIN_ROI || c->roi_size > PBF_MAX_ROI
      || c->roi_size % 8 != 0)
    return cvis_refuse (error,
        "size of the region of interest is %u, must be a multiple of 8 from %d "
        "to %d",
        c->roi_size, PBF_MIN_ROI, PBF_MAX_ROI);
  if (!cvis_check_range ("frame width", c->width, c->roi_size, 16384, error)
      || !cvis_check_range (
          "frame height", c->height, c->roi_size, 16384, error)
      || !cvis_check_range ("threshold", c->threshold, 1, 255, error)
      || !cvis_check_range ("search radius", c->search_radius, 0, 40, error)
      || !cvis_check_range (
          "minimal spatter area", c->min_spatter_area, 1, 65535, error)
      || !cvis_check_range ("polar outer radius", c->polar_outer, 0, 57, error)
      || !cvis_check_range (
          "polar inner radius", c->polar_inner, 0, c->polar_outer, error)
      || !cvis_check_range ("temporal window", c->window, 1, 1024, error)
      || !cvis_check_range ("maximal gap", c->max_gap, 0, 1000000, error)
      || !cvis_check_range ("parallel frames", c->parallel_frames, 1, 64, error)
      || !cvis_check_range ("lifetime", c->lifetime_ms, 1, 1000, error)
      || !cvis_check_range ("threads", c->threads, 0, 1024, error)
      || !cvis_check_range ("batch size", c->max_batch, 1, 65536, error)
      || !cvis_check_range ("batches in flight", c->depth, 2, 16, error))
    return FALSE;
  if (c->connectivity != 4 && c->connectivity != 8)
    return cvis_refuse (
        error, "connectivity is %u, must be 4 or 8", c->connectivity);
  if (c->roi_align == 0 || c->roi_align > 32
      || (c->roi_align & (c->roi_align - 1)) != 0)
    return cvis_refuse (error,
        "ROI alignment is %u, must be 1, 2, 4, 8, 16 or 32", c->roi_align);
  return TRUE;
}

/* r^2 in Q16, rounded such that d2 <= r^2 means d <= r for integers d2 */
static guint32
square_q16 (gdouble radius)
{
  return (guint32) (radius * radius * 65536.0);
}

void
pbf_params_init (PbfParams *params, const PbfConfig *config)
{
  gdouble inner2 = config->polar_inner * config->polar_inner * 65536.0;

  params->width = config->width;
  params->height = config->height;
  params->side = config->roi_size;
  params->threshold = config->threshold;
  params->connectivity = config->connectivity;
  params->align = config->roi_align;
  params->frame_scope = config->spatter_scope == PBF_SPATTER_SCOPE_FRAME;
  params->analyse_empty = config->analyse_empty;
  params->radius2 = square_q16 (config->search_radius);
  params->outer2 = square_q16 (config->polar_outer);
  params->inner2 = (guint32) inner2;
  if (params->inner2 < inner2)
    params->inner2++;
  params->min_area = config->min_spatter_area;
  params->window = config->window;
  params->window_reset = config->window_reset;
  params->max_gap = config->max_gap;
  params->activation = config->activation;
  params->labelling = config->labelling;
}

PbfMode
pbf_config_mode (const PbfConfig *config)
{
  gboolean fits = config->roi_size == CVIS_PBF_ROI_SIDE
                  && config->spatter_scope == PBF_SPATTER_SCOPE_ROI
                  && !config->independent;

  if (config->mode == PBF_MODE_AUTO)
    return fits && config->max_batch <= PBF_FEW_FRAMES ? PBF_MODE_PERSISTENT
                                                       : PBF_MODE_BATCH;
  return config->mode == PBF_MODE_PERSISTENT && !fits ? PBF_MODE_BATCH
                                                      : config->mode;
}

guint
pbf_choose_parallel_frames (gdouble rate)
{
  static const struct {
    gdouble up_to; /* frames/s */
    guint blocks;
  } choices[] = { { 0, 8 }, { 5e3, 1 }, { 300e3, 8 }, { 500e3, 16 },
    { 850e3, 32 } };

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    if (rate <= choices[i].up_to)
      return choices[i].blocks;
  return 64;
}

PbfEngine *
pbf_engine_new (const PbfConfig *config, PbfModel *model, CvisContext *context,
    GError **error)
{
  const PbfBackendOps *ops = &pbf_backend_cpu;
  PbfEngine *engine;
  PbfBackend *backend;
  PbfParams params;

  if (!pbf_config_check (config, error))
    return NULL;
#ifdef HAVE_CUDA
  if (context != NULL)
    ops = pbf_config_mode (config) == PBF_MODE_PERSISTENT
              ? &pbf_backend_resident
              : &pbf_backend_cuda;
#endif
  pbf_params_init (&params, config);
  backend = ops->create (config, &params, model, context, error);
  if (backend == NULL)
    return NULL;
  engine = g_new0 (PbfEngine, 1);
  engine->config = *config;
  engine->ops = ops;
  engine->backend = backend;
  engine->model = model ? pbf_model_ref (model) : NULL;
  engine->cuda = context != NULL;
  engine->batches = cvis_jobs_new (config->depth);
  return engine;
}

/* --- over several devices --------------------------------------------------- */

static gpointer
make_meltpool (CvisContext *context, gpointer engine, GError **error)
{
  PbfEngine *over = engine;

  return pbf_engine_new (&over->config, over->model, context, error);
}

static void
finish_batch (gpointer batch, gpointer engine)
{
  pbf_window_apply (((PbfEngine *) engine)->window, batch);
}

PbfEngine *
pbf_engine_new_over (const PbfConfig *config, PbfModel *model,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error)
{
  PbfEngine *engine = g_new0 (PbfEngine, 1);
  CvisFleetConfig fleet;

  engine->config = *config;
  engine->config.independent = TRUE;
  engine->model = model ? pbf_model_ref (model) : NULL;
  pbf_fleet_init (&fleet, &engine->config);
  fleet.finish = finish_batch;
  fleet.user_data = engine;
  engine->fleet =
      cvis_devices_make_fleet (devices, owner, &fleet, make_meltpool, error);
  if (engine->fleet == NULL) {
    if (engine->model)
      pbf_model_unref (engine->model);
    g_free (engine);
    return NULL;
  }
  engine->window = pbf_window_new (config, model);
  return engine;
}

guint
pbf_engine_get_depth (PbfEngine *engine)
{
  return engine->fleet != NULL ? cvis_fleet_get_size (engine->fleet)
                               : engine->config.depth;
}

CvisFleet *
pbf_engine_get_fleet (PbfEngine *engine)
{
  return engine->fleet;
}

/* --- freeing ----------------------------------------------------------------- */

void
pbf_engine_free (PbfEngine *engine)
{
  PbfBatch *batch;

  if (engine == NULL)
    return;
  if (engine->fleet != NULL) {
    cvis_fleet_free (engine->fleet);
    pbf_window_free (engine->window);
  } else {
    do {
      pbf_engine_wait (engine, &batch, NULL);
    } while (batch != NULL);
    engine->ops->destroy (engine->backend);
    cvis_jobs_free (engine->batches);
  }
  if (engine->model)
    pbf_model_unref (engine->model);
  g_free (engine);
}

gboolean
pbf_engine_check (PbfEngine *engine, const PbfBatch *batch, GError **error)
{
  if (batch->n < 1 || batch->n > engine->config.max_batch)
    return cvis_refuse (error, "a batch of %u frames, must be 1 to %u",
        batch->n, engine->config.max_batch);
  if (batch->on_device && !engine->cuda)
    return cvis_refuse (error,
        "the CPU backend does not accept frames in device memory. Use the CUDA "
        "backend, or download the frames");
  return TRUE;
}

gboolean
pbf_engine_submit (PbfEngine *engine, PbfBatch *batch, GError **error)
{
  guint slot;

  if (engine->fleet != NULL)
    return cvis_fleet_submit (engine->fleet, batch, error);
  if (!pbf_engine_check (engine, batch, error)
      || !cvis_jobs_find_slot (engine->batches, "batches", &slot, error)
      || !engine->ops->submit (
          engine->backend, slot, batch, engine->position, error))
    return FALSE;
  for (guint i = 0; i < batch->n; i++)
    engine->position += 1 + batch->infos[i].lost_before;
  cvis_jobs_push (engine->batches, batch);
  return TRUE;
}

gboolean
pbf_engine_wait (PbfEngine *engine, PbfBatch **batch, GError **error)
{
  gboolean ok;
  guint slot;

  if (engine->fleet != NULL) {
    gpointer done;

    ok = cvis_fleet_wait (engine->fleet, &done, error);
    *batch = done;
    return ok;
  }
  *batch = cvis_jobs_peek (engine->batches, &slot);
  if (*batch == NULL)
    return TRUE;
  ok = engine->ops->wait (engine->backend, slot, *batch, error);
  cvis_jobs_pop (engine->batches);
  return ok;
}

gboolean
pbf_engine_has_fallen_back (PbfEngine *engine)
{
  return engine->fleet == NULL && engine->ops->has_fallen_back != NULL
         && engine->ops->has_fallen_back (engine->backend);
}

void
pbf_engine_reset (PbfEngine *engine)
{
  if (engine->fleet != NULL) {
    cvis_fleet_end (engine->fleet);
    pbf_window_reset (engine->window);
    return;
  }
  engine->position = 0;
  engine->ops->reset (engine->backend);
}
