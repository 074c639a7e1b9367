/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* A surface whose samples have the type of the computation is cut where it lies: its row
 * blocks go to the fleet when it is submitted. If one of them finds a missing point, or
 * if the host has to prepare the surface, the thread that waits does that and then
 * submits the blocks of the prepared picture. */
#include "cuda/lifting/splitter.h"

#include <stdlib.h>

#include "cuda/core/jobs.h"
#include "cuda/lifting/cpu/cpu.h"
#include "cuda/lifting/rowblocks.h"

#define MAX_DEPTH 8

/* Row blocks of a device for each surface, if the halos are small: while one is computed,
 * others are copied, and devices need not be equally fast. */
#define BLOCKS_PER_DEVICE 4

/* Largest fraction of rows that are computed twice: with more than one block a device,
 * and at all, unless memory demands it */
#define MOST_HALO 0.125
#define MOST_HALO_AT_ALL 0.25

/* A row block's rectangles, the same in all surfaces. */
typedef struct {
  LwtRowBlock rows;
  guint n_in, n_bands;
  LwtRect in[LWT_MAX_RUNS], bands[LWT_MAX_RUNS];
  LwtRect cropped; /* of components */
} Block;

typedef struct _Surface Surface;

/* A row block of a surface, as the fleet's job. */
typedef struct {
  LwtJob job; /* for the engine of a device */
  Surface *surface;
} BlockJob;

struct _Surface {
  LwtJob *job;       /* of the caller */
  gboolean prepares; /* the host prepares it first */
  BlockJob *blocks;
  gint open;     /* atomic: blocks in the fleet */
  gint missing;  /* atomic: a block has missing points */
  GError *error; /* of the first block that failed; under the lock */
};

/* The host's part of the work; no @surface for integers. */
typedef struct {
  LwtCpuThreads threads;
  LwtCpuSurface surface;
  gboolean has_surface;
  LwtCpuPlane integers; /* padded */
  gpointer
      results[CVIS_SURFACE_N_PARTS]; /* components that are only measured */
} Host;

struct _LwtSplitter {
  const LwtPlan *plan;
  gboolean prepares; /* the host prepares every surface */
  gboolean floats;   /* surfaces may have missing points */
  LwtRowBlocks blocks;
  LwtPlan own; /* of a block */
  Block *block;
  Host *host; /* NULL: not needed */
  CvisFleet *fleet;
  CvisJobs *jobs;
  Surface surfaces[MAX_DEPTH];
  gint missing; /* atomic: the last surface had missing points */
  GMutex lock;
};

/* --- plans ------------------------------------------------------------------------ */

static gboolean
is_inverse (const LwtPlan *plan)
{
  return plan->config.operation == LWT_OPERATION_INVERSE;
}

/* Whether the host has to prepare or to complete surfaces. */
static gboolean
must_prepare (const LwtPlan *plan)
{
  static const LwtSample samples[] = { LWT_SAMPLE_F32, LWT_SAMPLE_F64,
    LWT_SAMPLE_I32 };
  const LwtConfig *config = &plan->config;

  if (config->parameters != 0)
    return TRUE;
  if (is_inverse (plan))
    return FALSE;
  if (plan->pad[0] + plan->pad[1] > 0)
    return TRUE;
  return config->type != LWT_TYPE_I32
         && (config->sample != samples[config->type] || config->z_scale != 1.0
             || config->z_offset != 0.0 || config->f_operation != LWT_F_NONE);
}

/* The row blocks of a surface, and how many a device has in flight. */
typedef struct {
  LwtRowBlocks blocks;
  guint depth;
} Cut;

/* The engine of a row block: a picture of its own, padded by the host. */
static gboolean
plan_block (const Cut *cut, LwtPlan *block, GError **error)
{
  static const LwtSample samples[] = { LWT_SAMPLE_F32, LWT_SAMPLE_F64,
    LWT_SAMPLE_I32 };
  const LwtPlan *whole = cut->blocks.plan;
  LwtConfig config = whole->config;

  config.width = whole->width;
  config.height = cut->blocks.height;
  config.depth_in_flight = cut->depth;
  if (whole->pad[0] + whole->pad[1] > 0)
    config.boundary = LWT_BOUNDARY_SYMMETRIC;
  config.parameters = 0;
  if (must_prepare (whole)) {
    config.sample = samples[config.type];
    config.f_operation = LWT_F_NONE;
    config.z_scale = 1.0;
    config.z_offset = 0.0;
  }
  return lwt_plan_init (block, &config, error);
}

static gboolean
fits_devices (const LwtPlan *plan, const CvisDevices *devices)
{
  for (guint i = 0; i < devices->n; i++) {
    gsize needed, limit;

    /* the engine of this device reports the error */
    if (lwt_backend_get_memory (
            plan, devices->devices[i].context, &needed, &limit, NULL)
        && needed > limit)
      return FALSE;
  }
  return TRUE;
}

/* Rows computed twice, as a fraction of all. */
static gdouble
get_halo (const LwtRowBlocks *blocks)
{
  const gdouble whole = blocks->plan->height;

  return ((gdouble) blocks->n * blocks->height - whole) / whole;
}

/* At least @n row blocks, and as many as their engines need to fit into the devices'
 * memory. */
static gboolean
choose_fitting (Cut *cut, guint n, const CvisDevices *devices)
{
  LwtPlan plan;

  for (; lwt_row_blocks_cut_even (&cut->blocks, n); n += 1 + n / 16)
    if (plan_block (cut, &plan, NULL) && fits_devices (&plan, devices))
      return TRUE;
  return FALSE;
}

/* With less in flight, row blocks are higher and have smaller halos. */
static gboolean
choose_fitting_depth (Cut *best, guint n, const CvisDevices *devices)
{
  Cut cut = *best;
  gboolean found = FALSE;

  for (; cut.depth > 0; cut.depth--) {
    if (!choose_fitting (&cut, n, devices)
        || (found && get_halo (&cut.blocks) >= get_halo (&best->blocks)))
      continue;
    found = TRUE;
    *best = cut;
    if (get_halo (&cut.blocks) <= MOST_HALO_AT_ALL)
      break;
  }
  return found;
}

/* Row blocks for each device whose halos are small; 0: not even one. */
static guint
count_for_device (LwtRowBlocks *blocks, guint n_devices)
{
  for (guint each = BLOCKS_PER_DEVICE; each > 0; each--)
    if (lwt_row_blocks_cut_even (blocks, each * n_devices)
        && get_halo (blocks) <= (each > 1 ? MOST_HALO : MOST_HALO_AT_ALL))
      return each;
  return 0;
}

/* Chooses the row blocks. Returns: FALSE if the surface stays whole */
static gboolean
choose_blocks (Cut *cut, const LwtPlan *plan, const CvisDevices *devices)
{
  const LwtConfig *config = &plan->config;
  const guint64 least =
      config->split_samples > 0 ? config->split_samples : LWT_SPLIT_SAMPLES;
  gboolean fits;
  guint each;

  if (config->operation == LWT_OPERATION_DENOISE
      || !lwt_row_blocks_init (&cut->blocks, plan, NULL))
    return FALSE;
  fits = fits_devices (plan, devices);
  if (fits
      && (must_prepare (plan)
          || (guint64) config->width * config->height < least))
    return FALSE;
  cut->depth = config->depth_in_flight;
  each = count_for_device (&cut->blocks, devices->n);
  return (each > 0 || !fits)
         && choose_fitting_depth (cut, MAX (each, 1) * devices->n, devices);
}

/* --- the engine of a device ---------------------------------------------------------- */

/* On the CPU: a job with memory of its own, from which the output is copied. */
typedef struct {
  LwtJob own;
  gpointer in; /* collected input */
  gpointer out[CVIS_SURFACE_N_PARTS];
} Buffer;

typedef struct {
  const LwtSplitter *splitter;
  LwtEngine *engine;
  gboolean cuda;
  guint submitted, waited;
  BlockJob *in_flight[MAX_DEPTH];
  Buffer buffers[MAX_DEPTH];
} Worker;

static void
free_worker (gpointer user_data)
{
  Worker *worker = user_data;

  lwt_engine_free (worker->engine);
  for (guint i = 0; i < MAX_DEPTH; i++) {
    free (worker->buffers[i].in);
    for (guint k = 0; k < CVIS_SURFACE_N_PARTS; k++)
      free (worker->buffers[i].out[k]);
  }
  g_free (worker);
}

static gboolean
take_buffer (const LwtSplitter *splitter, Buffer *buffer, GError **error)
{
  const LwtConfig *config = &splitter->own.config;
  const gsize samples = (gsize) config->width * config->height;

  buffer->in = cvis_memory_new (
      samples * lwt_sample_get_size (config->sample), FALSE, error);
  if (buffer->in == NULL)
    return FALSE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if ((config->parts & (1u << i)) != 0
        && (buffer->out[i] = cvis_memory_new (
                samples * lwt_type_get_size (config->type), FALSE, error))
               == NULL)
      return FALSE;
  return TRUE;
}

static gpointer
make_worker (CvisContext *context, gpointer user_data, GError **error)
{
  const LwtSplitter *splitter = user_data;
  const LwtConfig *config = &splitter->own.config;
  Worker *worker = g_new0 (Worker, 1);

  worker->splitter = splitter;
  worker->cuda = context != NULL;
  worker->engine = lwt_engine_new (config, context, error);
  if (worker->engine == NULL) {
    g_free (worker);
    return NULL;
  }
  for (guint i = 0; !worker->cuda && i < config->depth_in_flight; i++)
    if (!take_buffer (splitter, &worker->buffers[i], error)) {
      free_worker (worker);
      return NULL;
    }
  return worker;
}

/* Copies a rectangle between a larger picture and a row block's. */
static void
copy_run (const LwtRect *run, gconstpointer plane, gsize stride, gpointer own,
    gsize own_stride, gsize size, gboolean to_plane)
{
  guint8 *outside = (guint8 *) plane + run->whole * stride + run->column * size;
  guint8 *inside =
      (guint8 *) own + run->own * own_stride + run->own_column * size;

  cvis_memory_copy_rows (to_plane ? outside : inside,
      to_plane ? stride : own_stride, to_plane ? inside : outside,
      to_plane ? own_stride : stride, run->width * size, run->n);
}

/* The job of the CPU engine for @job: rows that follow each other in memory are read
 * there. */
static LwtJob *
fill_buffer (const Worker *worker, Buffer *buffer, const LwtJob *job)
{
  const LwtConfig *config = &worker->splitter->own.config;
  const gsize in = lwt_sample_get_size (config->sample);
  const gsize out = lwt_type_get_size (config->type);
  LwtJob *own = &buffer->own;

  *own = *job;
  own->n_runs = 0;
  own->data = (const guint8 *) job->data + job->runs[0].whole * job->stride;
  if (job->runs[0].n < config->height || job->runs[0].width < config->width) {
    own->data = buffer->in;
    own->stride = in * config->width;
    for (guint i = 0; i < job->n_runs; i++)
      copy_run (&job->runs[i], job->data, job->stride, buffer->in, own->stride,
          in, FALSE);
  }
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (job->parts[i].data != NULL)
      own->parts[i] =
          (LwtPlane){ .data = buffer->out[i], .stride = out * config->width };
  return own;
}

static void
empty_buffer (const Worker *worker, const Buffer *buffer, LwtJob *job)
{
  const gsize size = lwt_type_get_size (worker->splitter->own.config.type);

  job->missing = buffer->own.missing;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const LwtPlane *plane = &job->parts[i];
    const LwtPlane *own = &buffer->own.parts[i];

    for (guint k = 0; plane->data != NULL && k < plane->n_runs; k++)
      copy_run (&plane->runs[k], plane->data, plane->stride, own->data,
          own->stride, size, TRUE);
  }
}

static gboolean
refuse_device_memory (const LwtJob *job, GError **error)
{
  gboolean on_device = job->on_device;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    on_device |= job->parts[i].data != NULL && job->parts[i].on_device;
  return !on_device
         || cvis_refuse (error,
             "the host has to compute a part of this surface, which is in "
             "device memory: copy it to host memory");
}

static gboolean
submit_block (gpointer user_data, gpointer job, GError **error)
{
  Worker *worker = user_data;
  BlockJob *block = job;
  const guint depth = worker->splitter->own.config.depth_in_flight;
  const guint slot = worker->submitted % depth;
  LwtJob *own = &block->job;

  if (!worker->cuda) {
    if (!refuse_device_memory (&block->job, error))
      return FALSE;
    own = fill_buffer (worker, &worker->buffers[slot], &block->job);
  }
  worker->in_flight[slot] = block;
  if (!lwt_engine_submit (worker->engine, own, error))
    return FALSE;
  worker->submitted++;
  return TRUE;
}

static gboolean
wait_block (gpointer user_data, gpointer *job, GError **error)
{
  Worker *worker = user_data;
  const guint depth = worker->splitter->own.config.depth_in_flight;
  const guint slot = worker->waited % depth;
  LwtJob *own;
  const gboolean ok = lwt_engine_wait (worker->engine, &own, error);

  *job = NULL;
  if (own == NULL)
    return ok;
  worker->waited++;
  *job = worker->in_flight[slot];
  if (ok && !worker->cuda)
    empty_buffer (
        worker, &worker->buffers[slot], &worker->in_flight[slot]->job);
  return ok;
}

static const CvisFleetOps block_ops = {
  .submit = submit_block, .wait = wait_block, .free = free_worker
};

/* --- the host ------------------------------------------------------------------------ */

static void
free_host (Host *host)
{
  if (host == NULL)
    return;
  if (host->has_surface)
    lwt_cpu_surface_clear (&host->surface);
  if (host->threads.pool != NULL)
    lwt_cpu_threads_clear (&host->threads);
  free (host->integers.data);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    free (host->results[i]);
  g_free (host);
}

static gboolean
take_host_surface (Host *host, const LwtPlan *plan, GError **error)
{
  const LwtConfig *config = &plan->config;
  const gsize size =
      lwt_type_get_size (config->type) * config->width * config->height;

  if (config->type == LWT_TYPE_I32)
    return lwt_cpu_plane_alloc (
        &host->integers, plan->width, plan->height, sizeof (gint32), error);
  host->has_surface = TRUE;
  if (!lwt_cpu_surface_init (&host->surface, plan, &host->threads, error))
    return FALSE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if ((config->parameters & (1u << i)) != 0
        && (host->results[i] = cvis_memory_new (size, FALSE, error)) == NULL)
      return FALSE;
  return TRUE;
}

/* Memory that is never touched, as without missing points, is never committed. */
static Host *
new_host (const LwtPlan *plan, GError **error)
{
  Host *host = g_new0 (Host, 1);

  lwt_cpu_threads_init (&host->threads, plan->config.threads);
  if (lwt_cpu_threads_alloc (&host->threads, 64, 1, plan->width, error)
      && take_host_surface (host, plan, error))
    return host;
  free_host (host);
  return NULL;
}

/* --- making and freeing ---------------------------------------------------------------- */

static void
describe_blocks (LwtSplitter *splitter)
{
  const LwtRowBlocks *blocks = &splitter->blocks;
  const gboolean mallat = splitter->plan->config.layout == LWT_LAYOUT_MALLAT;
  const gboolean inverse = is_inverse (splitter->plan);

  splitter->block = g_new0 (Block, blocks->n);
  for (guint i = 0; i < blocks->n; i++) {
    Block *block = &splitter->block[i];

    lwt_row_blocks_get (blocks, i, &block->rows);
    block->n_in = lwt_row_blocks_get_runs (
        blocks, &block->rows, mallat && inverse, TRUE, block->in);
    block->n_bands = lwt_row_blocks_get_runs (
        blocks, &block->rows, mallat, FALSE, block->bands);
    block->cropped = lwt_row_blocks_get_cropped (blocks, &block->rows);
  }
}

/* Row blocks in flight: of all surfaces, and of one that the host prepares although
 * others are in flight. */
static gboolean
make_block_fleet (LwtSplitter *splitter, const CvisDevices *devices,
    const CvisFleetOwner *owner, GError **error)
{
  const guint depth = splitter->plan->config.depth_in_flight;
  const CvisFleetConfig config = { .ops = &block_ops,
    .what = "row blocks",
    .depth = splitter->own.config.depth_in_flight,
    .size = (depth + 1) * splitter->blocks.n,
    .user_data = splitter };

  splitter->jobs = cvis_jobs_new (depth);
  for (guint i = 0; i < depth; i++) {
    Surface *surface = &splitter->surfaces[i];

    surface->blocks = g_new0 (BlockJob, splitter->blocks.n);
    for (guint k = 0; k < splitter->blocks.n; k++)
      surface->blocks[k].surface = surface;
  }
  splitter->fleet =
      cvis_devices_make_fleet (devices, owner, &config, make_worker, error);
  return splitter->fleet != NULL;
}

gboolean
lwt_splitter_new (LwtSplitter **made, const LwtPlan *plan,
    const CvisDevices *devices, const CvisFleetOwner *owner, GError **error)
{
  LwtSplitter *splitter;
  Cut cut;

  *made = NULL;
  if (lwt_config_is_smoothing (&plan->config)
      || !choose_blocks (&cut, plan, devices))
    return TRUE;
  splitter = g_new0 (LwtSplitter, 1);
  g_mutex_init (&splitter->lock);
  splitter->plan = plan;
  splitter->blocks = cut.blocks;
  splitter->prepares = must_prepare (plan);
  splitter->floats = plan->config.type != LWT_TYPE_I32 && !is_inverse (plan);
  describe_blocks (splitter);
  if (plan_block (&cut, &splitter->own, error)
      && (!(splitter->prepares || splitter->floats)
          || (splitter->host = new_host (plan, error)) != NULL)
      && make_block_fleet (splitter, devices, owner, error)) {
    *made = splitter;
    return TRUE;
  }
  lwt_splitter_free (splitter);
  return FALSE;
}

void
lwt_splitter_free (LwtSplitter *splitter)
{
  cvis_fleet_free (splitter->fleet);
  for (guint i = 0; i < MAX_DEPTH; i++) {
    g_clear_error (&splitter->surfaces[i].error);
    g_free (splitter->surfaces[i].blocks);
  }
  cvis_jobs_free (splitter->jobs);
  free_host (splitter->host);
  g_free (splitter->block);
  g_mutex_clear (&splitter->lock);
  g_free (splitter);
}

CvisFleet *
lwt_splitter_get_fleet (LwtSplitter *splitter)
{
  return splitter->fleet;
}

guint
lwt_splitter_count_blocks (const LwtSplitter *splitter)
{
  return splitter->blocks.n;
}

/* --- row blocks of a surface -------------------------------------------------------------- */

/* Memory of a component on the host; %NULL data: neither wanted nor measured. */
static LwtPlane
get_result_plane (
    const LwtSplitter *splitter, const LwtJob *job, CvisSurfacePart part)
{
  if (job->parts[part].data != NULL || !lwt_job_makes (job, part))
    return job->parts[part];
  return (LwtPlane){ .data = splitter->host->results[part],
    .stride = splitter->plan->config.width
              * lwt_type_get_size (splitter->plan->config.type) };
}

static void
make_block (const LwtSplitter *splitter, const LwtJob *job,
    const LwtCpuPlane *prepared, const Block *block, LwtJob *own)
{
  *own = (LwtJob){ .data = job->data,
    .stride = job->stride,
    .pinned = job->pinned,
    .on_device = job->on_device,
    .n_runs = block->n_in,
    .runs = block->in };
  if (prepared != NULL) {
    own->data = prepared->data;
    own->stride = prepared->stride;
    own->pinned = own->on_device = FALSE;
  }
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const gboolean bands = i == CVIS_SURFACE_PART_BANDS;
    LwtPlane *plane = &own->parts[i];

    *plane = get_result_plane (splitter, job, (CvisSurfacePart) i);
    plane->n_runs = bands ? block->n_bands : 1;
    plane->runs = bands ? block->bands : &block->cropped;
    if (!bands && block->cropped.n == 0)
      plane->data = NULL;
  }
}

static void
fail_surface (Surface *surface, GMutex *lock, GError *error)
{
  g_mutex_lock (lock);
  if (surface->error == NULL)
    surface->error = error;
  else
    g_error_free (error);
  g_mutex_unlock (lock);
}

/* Submits the row blocks of a surface, or of its @prepared picture. If the fleet takes
 * only some of them, the surface fails when it is waited for.
 * Returns: FALSE if it takes none */
static gboolean
submit_blocks (LwtSplitter *splitter, Surface *surface,
    const LwtCpuPlane *prepared, GError **error)
{
  const guint n = splitter->blocks.n;
  GError *problem = NULL;

  g_atomic_int_set (&surface->missing, FALSE);
  g_atomic_int_set (&surface->open, (gint) n);
  for (guint i = 0; i < n; i++) {
    BlockJob *block = &surface->blocks[i];

    make_block (
        splitter, surface->job, prepared, &splitter->block[i], &block->job);
    if (cvis_fleet_submit (splitter->fleet, block, &problem))
      continue;
    g_atomic_int_add (&surface->open, -(gint) (n - i));
    if (i == 0) {
      g_propagate_error (error, problem);
      return FALSE;
    }
    fail_surface (surface, &splitter->lock, problem);
    return TRUE;
  }
  return TRUE;
}

/* Waits for all row blocks of @surface. Those of later surfaces may come before. */
static void
wait_blocks (LwtSplitter *splitter, Surface *surface)
{
  while (g_atomic_int_get (&surface->open) > 0) {
    GError *error = NULL;
    gpointer done;
    BlockJob *block;

    if (!cvis_fleet_wait (splitter->fleet, &done, &error)) {
      block = done;
      fail_surface (block->surface, &splitter->lock, error);
    }
    block = done;
    if (block->job.missing > 0)
      g_atomic_int_set (&block->surface->missing, TRUE);
    g_atomic_int_add (&block->surface->open, -1);
  }
}

/* --- surfaces ------------------------------------------------------------------------------ */

/* The picture to transform; in the inverse the coefficients as they are (%NULL). */
static const LwtCpuPlane *
prepare_picture (LwtSplitter *splitter, LwtJob *job)
{
  Host *host = splitter->host;

  if (is_inverse (splitter->plan))
    return NULL;
  if (host->has_surface) {
    lwt_cpu_surface_load (&host->surface, job);
    g_atomic_int_set (&splitter->missing, job->missing > 0);
    return &host->surface.x;
  }
  lwt_cpu_load_integers (&host->threads, splitter->plan, job, &host->integers);
  return &host->integers;
}

/* Computes a surface with the host, while nothing else of it is in flight. */
static gboolean
run_prepared (LwtSplitter *splitter, Surface *surface, GError **error)
{
  LwtJob *job = surface->job;
  Host *host = splitter->host;

  if (!refuse_device_memory (job, error)
      || !submit_blocks (
          splitter, surface, prepare_picture (splitter, job), error))
    return FALSE;
  wait_blocks (splitter, surface);
  if (surface->error != NULL || !host->has_surface)
    return TRUE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    const LwtPlane result =
        get_result_plane (splitter, job, (CvisSurfacePart) i);

    lwt_cpu_surface_finish (
        &host->surface, job, (CvisSurfacePart) i, &result, NULL, NULL);
  }
  return TRUE;
}

gboolean
lwt_splitter_submit (LwtSplitter *splitter, LwtJob *job, GError **error)
{
  Surface *surface;
  guint slot;

  if (job->n_copies > 0 || job->n_runs > 0)
    return cvis_refuse (error,
        "a surface that several devices share has neither additional copies "
        "nor rectangles of its own");
  if ((splitter->prepares && !refuse_device_memory (job, error))
      || !cvis_jobs_find_slot (splitter->jobs, "surfaces", &slot, error))
    return FALSE;
  surface = &splitter->surfaces[slot];
  surface->job = job;
  surface->prepares =
      splitter->prepares
      || (splitter->floats && g_atomic_int_get (&splitter->missing));
  if (!surface->prepares && !submit_blocks (splitter, surface, NULL, error))
    return FALSE;
  cvis_jobs_push (splitter->jobs, job);
  return TRUE;
}

gboolean
lwt_splitter_wait (LwtSplitter *splitter, LwtJob **job, GError **error)
{
  Surface *surface;
  gboolean ok = TRUE;
  guint slot;

  *job = cvis_jobs_peek (splitter->jobs, &slot);
  if (*job == NULL)
    return TRUE;
  surface = &splitter->surfaces[slot];
  if (!surface->prepares)
    wait_blocks (splitter, surface);
  if (surface->error == NULL
      && (surface->prepares || g_atomic_int_get (&surface->missing)))
    ok = run_prepared (splitter, surface, error);
  if (surface->error != NULL) {
    g_propagate_error (error, g_steal_pointer (&surface->error));
    ok = FALSE;
  }
  cvis_jobs_pop (splitter->jobs);
  return ok;
}
