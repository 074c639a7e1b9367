/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Host side of the CUDA backend.
 * Three streams: `up` copies surfaces to the device, `work` computes, `down`
 * copies results to the host. Events order them, so that one surface is
 * uploaded while the one before is computed and the one before that is
 * downloaded. All memory is allocated when the backend is made.
 *
 * Most surfaces have no missing points, and a search for them costs a pass
 * over memory that the filter does not need. So a surface is expected to
 * have none unless the surface before it had some. If the samples are
 * transformed unconverted, a low band shows whether a point was missing
 * (cuda/lifting/finitecheck.h); otherwise the points are counted during the
 * conversion. If some were missing, the job runs again with these points
 * filled. */
#include <string.h>

#include "cuda/lifting/cuda/rowblocks.cuh"
#include "cuda/lifting/cuda/picture.cuh"
#include "cuda/lifting/cuda/smooth.cuh"
#include "cuda/core/device/bounce.cuh"
#include "cuda/lifting/finitecheck.h"

namespace {

/* Resources of a job in flight. */
struct Slot {
  LwtPicture samples; /* device: samples as received */
  LwtPicture parts[CVIS_SURFACE_N_PARTS];
  LwtFindings *findings, *pinned; /* on the device and the host */
  cudaEvent_t there, computed, done;
  LwtJob *job;
  LwtPicture input;  /* samples, or where the job has them on this device */
  gboolean in_place; /* the latter */
  LwtParts foreign;  /* components for the memory of another device */
  gboolean filled;   /* computed with missing points filled */
};

/* Larger pictures, in samples, fill the device: their spins run one after
 * the other. */
#define MOST_SAMPLES_ABREAST (4u << 20)
#define MOST_ABREAST 3

#define BOUNCE (8u << 20) /* bytes of a bounce buffer */

/* Memory of a spin of denoise, other than the first. Spins of a small
 * picture run concurrently, each on a stream of its own.
 * @free: its memory may be overwritten; @done: its picture is computed */
struct Spin {
  LwtPicture picture, bands;
  gpointer work;
  cudaStream_t stream;
  cudaEvent_t free, done;
};

/* Device memory for the surface being computed. */
struct Scratch {
  LwtPicture x;
  LwtTables tables;
  gdouble *rows; /* sums over rows, for the fit and the parameters */
  guint32 *missing;
  gpointer pyramid;
  gpointer select;
  LwtFinestAxis finest[2];
  guint8 *cells;
};

} // namespace

struct _LwtBackend {
  const LwtPlan *plan;
  CvisContext *context;
  LwtOutOfCore *
      out_of_core; /* for surfaces that do not fit into device memory, else NULL */
  cudaStream_t up, work, down;
  CvisArena arena;
  CvisBounce *in, *out;
  LwtWorkspace workspace;
  LwtDeviceSmoother smoother; /* of filters other than wavelet-decimated */
  Scratch scratch;
  Spin spins[MOST_ABREAST];
  guint n_spins;
  cudaEvent_t threshold; /* the threshold is computed */
  Slot *slots;
  gboolean several; /* there are other devices */
  gboolean same;    /* input has the type computed in and is not scaled */
  gboolean plain;   /* integers or coefficients: no missing points */
  gboolean smooths; /* a filter other than wavelet-decimated */
  gboolean low_band_tells; /* a low band shows missing points */
  gint missing;            /* atomic: the last surface had missing points */
  GMutex lock; /* orders the jobs on `work`, which share the scratch memory */
};

namespace {

gboolean
is_padded (const LwtPlan *plan)
{
  return plan->pad[0] + plan->pad[1] > 0;
}

/* Width and height of the input, in samples. */
void
get_in_size (const LwtPlan *plan, guint *width, guint *height)
{
  const gboolean inverse = plan->config.operation == LWT_OPERATION_INVERSE;

  *width = inverse ? plan->width : plan->config.width;
  *height = inverse ? plan->height : plan->config.height;
}

/* Width and height of a component. */
void
get_out_size (const LwtPlan *plan, guint part, guint *width, guint *height)
{
  *width = part == CVIS_SURFACE_PART_BANDS ? plan->width : plan->config.width;
  *height =
      part == CVIS_SURFACE_PART_BANDS ? plan->height : plan->config.height;
}

/* Whether a component is converted to integers. */
gboolean
stores (const LwtConfig *config, guint part)
{
  return config->store_bits > 0 && part == CVIS_SURFACE_PART_MEASURED;
}

/* --- memory ------------------------------------------------------------------- */

gboolean
take_slot (LwtBackend *b, Slot *s, CvisArena *arena, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  guint width, height;

  get_in_size (b->plan, &width, &height);
  s->samples.stride =
      (lwt_sample_get_size (config->sample) * width + 127) / 128 * 128;
  s->samples.data =
      cvis_arena_device (arena, s->samples.stride * height, "a surface", error);
  if (s->samples.data == NULL
      || !cvis_arena_take (
          arena, &s->findings, 1, "the results of a job", error))
    return FALSE;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++) {
    get_out_size (b->plan, i, &width, &height);
    if ((config->parts & (1u << i)) == 0)
      continue;
    s->parts[i].stride =
        (lwt_config_get_part_size (config, (CvisSurfacePart) i) * width + 127)
        / 128 * 128;
    s->parts[i].data =
        cvis_arena_device (arena, s->parts[i].stride * height, "a part", error);
    if (s->parts[i].data == NULL)
      return FALSE;
  }
  return TRUE;
}

/* u, v and the sums of a row without missing points, all doubles. */
gsize
count_tables (const LwtConfig *config)
{
  return config->f_operation == LWT_F_NONE
             ? 0
             : (gsize) config->width + config->height + 5;
}

gsize
count_rows (const LwtConfig *config)
{
  const gsize fit = config->f_operation != LWT_F_NONE ? 8 : 0;
  gsize measured = 0;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    measured += config->parameters & (1u << i) ? 6 : 0;
  return MAX (fit, measured) * config->height;
}

gboolean
take_scratch (LwtBackend *b, CvisArena *arena, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  Scratch *s = &b->scratch;
  gdouble *tables;

  if (!lwt_take_picture (arena, config->type, b->plan->width, b->plan->height,
          "a picture", &s->x, error)
      || !cvis_arena_take (
          arena, &tables, count_tables (config), "tables", error)
      || !cvis_arena_take (arena, &s->rows, count_rows (config), "sums", error))
    return FALSE;
  s->tables = { tables, tables + config->width,
    tables + config->width + config->height };
  if (!b->plain
      && (!cvis_arena_take (arena, &s->missing,
              (gsize) (config->width + 31) / 32 * config->height,
              "missing points", error)
          || (s->pyramid = cvis_arena_device (arena,
                  lwt_pyramid_get_size (
                      config->type, config->width, config->height),
                  "missing points", error))
                 == NULL))
    return FALSE;
  if (config->operation == LWT_OPERATION_DENOISE
      && ((s->select = cvis_arena_device (
               arena, lwt_select_get_size (), "a histogram", error))
              == NULL
          || !cvis_arena_take (arena, &s->cells,
              lwt_finest_count_cells (s->finest), "cells", error)))
    return FALSE;
  return lwt_workspace_init (&b->workspace, b->plan, &b->plan->parts,
      &b->plan->bands, b->plan->width, b->plan->height, arena, error);
}

/* Spins that run one after the other share the first spin's memory. */
gboolean
take_spins (LwtBackend *b, CvisArena *arena, GError **error)
{
  const LwtPlan *plan = b->plan;
  const gboolean abreast =
      (guint64) plan->width * plan->height <= MOST_SAMPLES_ABREAST;

  if (plan->config.operation != LWT_OPERATION_DENOISE)
    return TRUE;
  b->n_spins = MIN (plan->config.spins - 1, abreast ? MOST_ABREAST : 1);
  for (guint i = 0; i < b->n_spins; i++) {
    Spin *spin = &b->spins[i];

    spin->bands = b->workspace.bands;
    spin->work = b->workspace.work;
    if (!lwt_take_picture (arena, plan->config.type, plan->width, plan->height,
            "a spin", &spin->picture, error))
      return FALSE;
    if (abreast
        && (!lwt_take_picture (arena, plan->config.type, plan->width,
                plan->height, "coefficients", &spin->bands, error)
            || (spin->work = cvis_arena_device (arena,
                    lwt_transform_get_work_size (
                        &b->workspace.transform, &plan->bands),
                    "the transform", error))
                   == NULL))
      return FALSE;
  }
  return TRUE;
}

gboolean
take_all (LwtBackend *b, CvisArena *arena, GError **error)
{
  for (guint i = 0; i < b->plan->config.depth_in_flight; i++)
    if (!take_slot (b, &b->slots[i], arena, error))
      return FALSE;
  return take_scratch (b, arena, error) && take_spins (b, arena, error)
         && (!b->smooths
             || lwt_device_smoother_take (&b->smoother, arena, error));
}

/* Bytes of device memory for a surface in one piece. */
gsize
count_all (LwtBackend *b)
{
  CvisArena arena = { TRUE };

  take_all (b, &arena, NULL);
  memset (&b->workspace, 0, sizeof b->workspace);
  return arena.size;
}

gboolean
prepare_slot (LwtBackend *b, Slot *s, GError **error)
{
  return cvis_arena_pin (
             &b->arena, &s->pinned, 1, "the results of a job", error)
         && cvis_arena_event (&b->arena, &s->there, error)
         && cvis_arena_event (&b->arena, &s->computed, error)
         && cvis_arena_event (&b->arena, &s->done, error);
}

gboolean
prepare_spins (LwtBackend *b, GError **error)
{
  for (guint i = 0; i < b->n_spins; i++) {
    Spin *spin = &b->spins[i];

    spin->stream = b->work;
    if (!cvis_arena_event (&b->arena, &spin->free, error)
        || !cvis_arena_event (&b->arena, &spin->done, error)
        || (spin->work != b->workspace.work
            && !cvis_arena_stream (&b->arena, &spin->stream, error)))
      return FALSE;
  }
  return b->n_spins == 0 || cvis_arena_event (&b->arena, &b->threshold, error);
}

/* Sums over a row without missing points, in the order of
 * cuda/lifting/arithmetic.h. */
void
sum_full_row (const gdouble *u, guint width, gdouble sums[5])
{
  gdouble lanes[5][LWT_LANES] = { { 0.0 } };

  for (guint x = 0; x < width; x++) {
    const gdouble u2 = u[x] * u[x];
    const gdouble powers[5] = { 1.0, u[x], u2, u2 * u[x], u2 * u2 };

    for (guint k = 0; k < 5; k++)
      lanes[k][x % LWT_LANES] += powers[k];
  }
  for (guint k = 0; k < 5; k++)
    sums[k] = lwt_sum_lanes (lanes[k]);
}

gboolean
fill_tables (LwtBackend *b, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  const gsize n = count_tables (config);
  gdouble *tables;
  gboolean ok;

  if (n == 0)
    return TRUE;
  tables = g_new (gdouble, n);
  for (guint x = 0; x < config->width; x++)
    tables[x] = lwt_centred (x, config->width);
  for (guint y = 0; y < config->height; y++)
    tables[config->width + y] = lwt_centred (y, config->height);
  sum_full_row (tables, config->width, tables + config->width + config->height);
  ok = CVIS_CUDA (cudaMemcpyAsync ((gpointer) b->scratch.tables.u, tables,
                      n * sizeof *tables, cudaMemcpyHostToDevice, b->work),
           error)
       && CVIS_CUDA (cudaStreamSynchronize (b->work), error);
  g_free (tables);
  return ok;
}

/* Bytes of the longest row that is copied between host and device. */
gsize
get_row_size (const LwtPlan *plan)
{
  return (gsize) plan->width
         * MAX (lwt_sample_get_size (plan->config.sample),
             lwt_type_get_size (plan->config.type));
}

gboolean
init_whole (LwtBackend *b, GError **error)
{
  const LwtConfig *config = &b->plan->config;

  if (!take_all (b, &b->arena, error) || !fill_tables (b, error)
      || (b->smooths
          && !lwt_device_smoother_fill (&b->smoother, b->work, error)))
    return FALSE;
  if (!b->smooths)
    lwt_transform_specialise (&b->workspace.transform, b->context);
  if (!prepare_spins (b, error))
    return FALSE;
  for (guint i = 0; i < config->depth_in_flight; i++)
    if (!prepare_slot (b, &b->slots[i], error))
      return FALSE;
  return config->operation != LWT_OPERATION_DENOISE
         || (CVIS_CUDA (cudaMemsetAsync (b->scratch.select, 0,
                            lwt_select_get_size (), b->work),
                 error)
             && CVIS_CUDA (cudaStreamSynchronize (b->work), error));
}

/* Bytes of device memory that may be used. */
gboolean
get_limit (const LwtConfig *config, gsize *limit, GError **error)
{
  size_t available, all;

  if (!CVIS_CUDA (cudaMemGetInfo (&available, &all), error))
    return FALSE;
  /* leaves room for the driver and for fragmentation */
  available -= MIN (available, 64u << 20);
  *limit = config->device_memory > 0 ? MIN (config->device_memory, available)
                                     : available;
  return TRUE;
}

gboolean
init_backend (LwtBackend *b, GError **error)
{
  const gsize size = count_all (b);
  /* rows are padded to 256 bytes on the device */
  const gsize bounce = MAX (BOUNCE, get_row_size (b->plan) + 256);
  LwtStreams streams;
  gsize limit;

  if (!cvis_arena_stream (&b->arena, &b->up, error)
      || !cvis_arena_stream (&b->arena, &b->work, error)
      || !cvis_arena_stream (&b->arena, &b->down, error)
      || (b->in = cvis_bounce_new (bounce, 4, 0, error)) == NULL
      || (b->out = cvis_bounce_new (bounce, 4, 0, error)) == NULL
      || !get_limit (&b->plan->config, &limit, error))
    return FALSE;
  if (size <= limit)
    return init_whole (b, error);
  streams = { b->up, b->work, b->down, b->in, b->out };
  b->out_of_core =
      lwt_out_of_core_new (b->plan, b->context, &streams, size, limit, error);
  return b->out_of_core != NULL;
}

/* Waits until nothing is in flight. Returns: FALSE, for the caller to return */
gboolean
wait_for_streams (LwtBackend *b)
{
  cudaStreamSynchronize (b->up);
  cudaStreamSynchronize (b->work);
  cudaStreamSynchronize (b->down);
  for (guint i = 0; i < b->n_spins; i++)
    cudaStreamSynchronize (b->spins[i].stream);
  return FALSE;
}

void
cuda_destroy (LwtBackend *b)
{
  if (cvis_context_push (b->context, NULL)) {
    if (b->out_of_core != NULL) {
      wait_for_streams (b);
      lwt_out_of_core_free (b->out_of_core);
    }
    cvis_arena_clear (&b->arena);
    lwt_transform_clear (&b->workspace.transform);
    lwt_device_smoother_clear (&b->smoother);
    cvis_bounce_free (b->in);
    cvis_bounce_free (b->out);
    cvis_context_pop (b->context);
  }
  cvis_context_unref (b->context);
  g_mutex_clear (&b->lock);
  g_free (b->slots);
  g_free (b);
}

void
read_config (LwtBackend *b)
{
  const LwtConfig *config = &b->plan->config;
  static const LwtSample samples[] = { LWT_SAMPLE_F32, LWT_SAMPLE_F64,
    LWT_SAMPLE_I32 };

  b->same = config->sample == samples[config->type] && config->z_scale == 1.0
            && config->z_offset == 0.0 && config->f_operation == LWT_F_NONE;
  b->plain = config->type == LWT_TYPE_I32
             || config->operation == LWT_OPERATION_INVERSE;
  b->smooths = lwt_config_is_smoothing (config);
  if (b->smooths)
    lwt_device_smoother_init (&b->smoother, b->plan);
  /* without a low band the samples are checked themselves */
  b->low_band_tells =
      b->smooths
      || (lwt_low_band_sees_all (&b->plan->wavelet, config->boundary,
              b->plan->width, config->levels[0])
          && lwt_low_band_sees_all (&b->plan->wavelet, config->boundary,
              b->plan->height, config->levels[1]));
  lwt_finest_init (b->scratch.finest, b->plan);
}

LwtBackend *
cuda_create (const LwtPlan *plan, CvisContext *context, GError **error)
{
  LwtBackend *b;

  if (!lwt_filter_has_cuda (plan->config.filter, plan->config.order)) {
    cvis_refuse (error, "this filter is computed on the CPU only");
    return NULL;
  }
  b = g_new0 (LwtBackend, 1);
  b->plan = plan;
  b->context = cvis_context_ref (context);
  b->slots = g_new0 (Slot, plan->config.depth_in_flight);
  b->several = cvis_device_count (NULL) > 1;
  g_mutex_init (&b->lock);
  read_config (b);
  if (cvis_in_context (context, error, [&] { return init_backend (b, error); }))
    return b;
  cuda_destroy (b);
  return NULL;
}

/* --- input --------------------------------------------------------------- */

/* A job's rectangle @k in larger planes; without any, the whole of @width x @height.
 * Returns: FALSE if there are no more */
gboolean
get_run (const LwtRect *runs, guint n_runs, guint k, guint width, guint height,
    LwtRect *run)
{
  *run = LwtRect{ 0, 0, height, 0, width, 0 };
  if (n_runs > 0 && k < n_runs)
    *run = runs[k];
  return k < MAX (n_runs, 1);
}

/* Rows of a rectangle that @plane, of the job, and the slot's @own have in common;
 * @width: of all of @own */
CvisRows
get_run_rows (const LwtRect *run, const LwtPlane *plane, LwtPicture own,
    gsize size, guint width)
{
  return CvisRows{ (guint8 *) plane->data + run->whole * plane->stride
                       + run->column * size,
    plane->stride,
    (guint8 *) own.data + run->own * own.stride + run->own_column * size,
    own.stride, run->width * size, run->n, plane->pinned, run->width == width };
}

/* Whether device memory is that of this device; other devices' is copied. */
gboolean
is_local (const LwtBackend *b, gconstpointer memory)
{
  cudaPointerAttributes attributes;

  return !b->several
         || (cudaPointerGetAttributes (&attributes, memory) == cudaSuccess
             && attributes.device == cvis_context_get_device_id (b->context));
}

/* Finds out whether the job's samples can be read, and its components written, where
 * they are. Waits for the job's stream if that is on another device. */
gboolean
find_places (LwtBackend *b, Slot *s, GError **error)
{
  const LwtJob *job = s->job;
  const LwtRect *run = job->runs;
  guint width, height, first = 0;

  get_in_size (b->plan, &width, &height);
  if (job->n_runs > 0)
    first = run->whole;
  s->in_place =
      job->on_device && is_local (b, job->data)
      && (job->n_runs == 0 || (run->n == height && run->width == width));
  s->input = s->samples;
  if (s->in_place)
    s->input =
        LwtPicture{ (guint8 *) job->data + first * job->stride, job->stride };
  s->foreign = 0;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (job->parts[i].data != NULL && job->parts[i].on_device
        && !is_local (b, job->parts[i].data))
      s->foreign |= 1u << i;
  if ((s->foreign != 0 && job->parts[CVIS_SURFACE_PART_MEASURED].step > 1)
      || (job->on_device && !s->in_place && job->step > 1))
    return cvis_refuse (error, "a step between samples is not supported in the "
                               "memory of another device");
  return !job->on_device || s->in_place || job->stream == NULL
         || CVIS_CUDA (
             cudaStreamSynchronize ((cudaStream_t) job->stream), error);
}

/* Copies rows between the slot's memory and that of any device. */
gboolean
copy_rows (
    const CvisRows *rows, gboolean to_slot, cudaStream_t stream, GError **error)
{
  return CVIS_CUDA (cudaMemcpy2DAsync (to_slot ? rows->device : rows->host,
                        to_slot ? rows->device_stride : rows->host_stride,
                        to_slot ? rows->host : rows->device,
                        to_slot ? rows->host_stride : rows->device_stride,
                        rows->bytes, rows->n, cudaMemcpyDefault, stream),
      error);
}

/* Copies the samples to the slot, unless they are in place, and makes `work` wait for
 * them. */
gboolean
await_samples (LwtBackend *b, Slot *s, GError **error)
{
  LwtJob *job = s->job;
  const LwtPlane plane = { (gpointer) job->data, job->stride, job->pinned };
  const gsize size = lwt_sample_get_size (b->plan->config.sample);
  cudaStream_t stream = b->up;
  guint width, height;
  LwtRect run;

  if (!find_places (b, s, error))
    return FALSE;
  get_in_size (b->plan, &width, &height);
  if (s->in_place)
    stream = job->stream ? (cudaStream_t) job->stream : cudaStreamLegacy;
  for (guint k = 0;
       !s->in_place && get_run (job->runs, job->n_runs, k, width, height, &run);
       k++) {
    const CvisRows rows = get_run_rows (&run, &plane, s->samples, size, width);

    if (!(job->on_device ? copy_rows (&rows, TRUE, b->up, error)
                         : cvis_bounce_up (b->in, &rows, b->up, error)))
      return FALSE;
  }
  return cvis_stream_follow (b->work, s->there, stream, error);
}

/* Additional copies that the job asks for. */
gboolean
copy_beside (LwtBackend *b, const LwtJob *job, GError **error)
{
  for (guint i = 0; i < job->n_copies; i++) {
    const LwtCopy *c = &job->copies[i];

    if (!CVIS_CUDA (
            cudaMemcpy2DAsync (c->to, c->to_stride, c->from, c->from_stride,
                c->bytes, c->n, cudaMemcpyDefault, b->work),
            error))
      return FALSE;
  }
  return TRUE;
}

gboolean
is_aligned (LwtPicture picture)
{
  return (GPOINTER_TO_SIZE (picture.data) | picture.stride) % 16 == 0;
}

void
describe_surface (LwtBackend *b, const Slot *s, LwtSurfaceTask *task)
{
  const LwtConfig *config = &b->plan->config;
  const gboolean inverse = config->operation == LWT_OPERATION_INVERSE;

  memset (task, 0, sizeof *task);
  task->sample = config->sample;
  task->type = config->type;
  task->from = s->input.data;
  task->stride = s->input.stride;
  task->step = MAX (s->in_place ? s->job->step : 1, 1);
  get_in_size (b->plan, &task->width, &task->height);
  task->z_scale = config->z_scale;
  task->z_offset = config->z_offset;
  task->operation = config->f_operation;
  task->tables = b->scratch.tables;
  task->rows = b->scratch.rows;
  task->findings = s->findings;
  task->to = b->scratch.x;
  if (!inverse)
    task->to.data = (guint8 *) task->to.data + b->plan->pad[1] * task->to.stride
                    + b->plan->pad[0] * lwt_type_get_size (config->type);
}

/* Integers and coefficients to scratch.x. */
gboolean
move_plain (LwtBackend *b, const LwtSurfaceTask *task, GError **error)
{
  const LwtPicture from = { (gpointer) task->from, task->stride };

  return b->same ? lwt_workspace_copy (&b->workspace, from, task->to,
             task->width, task->height, b->work, error)
                 : CVIS_CUDA (lwt_launch_load (task, b->work), error);
}

/* Samples minus P to scratch.x; missing points are filled if s->filled. */
gboolean
make_heights (
    LwtBackend *b, const Slot *s, LwtSurfaceTask *task, GError **error)
{
  task->missing = b->scratch.missing;
  if (task->operation != LWT_F_NONE) {
    if (!CVIS_CUDA (lwt_launch_fit (task, b->work), error))
      return FALSE;
    task->fit = s->findings->polynomial;
  }
  return CVIS_CUDA (lwt_launch_load (task, b->work), error)
         && (!s->filled || b->smooths
             || CVIS_CUDA (
                 lwt_launch_fill (task->type, task->to, task->missing,
                     task->width, task->height, b->scratch.pyramid, b->work),
                 error));
}

/* Prepares the picture to transform. @as_came: it is the unconverted input,
 * which was not checked for missing points. */
gboolean
make_picture (LwtBackend *b, const Slot *s, LwtPicture *picture,
    gboolean *as_came, GError **error)
{
  const gboolean inverse = b->plan->config.operation == LWT_OPERATION_INVERSE;
  const gboolean pad = is_padded (b->plan) && !inverse;
  LwtSurfaceTask task;

  *picture = s->input;
  *as_came = b->same && !pad && is_aligned (*picture)
             && (b->plain || (b->low_band_tells && !s->filled));
  if (*as_came)
    return TRUE;
  *picture = b->scratch.x;
  describe_surface (b, s, &task);
  if (!(b->plain ? move_plain (b, &task, error)
                 : make_heights (b, s, &task, error)))
    return FALSE;
  return !pad
         || CVIS_CUDA (
             lwt_launch_pad (task.type, b->plan->config.boundary, *picture,
                 task.width, task.height, b->plan->pad, b->work),
             error);
}

/* --- the operations ---------------------------------------------------------------- */

/* Destination of a component; %NULL data: neither wanted nor measured. */
LwtPicture
get_part (const LwtBackend *b, const Slot *s, guint part)
{
  const LwtPlane *plane = &s->job->parts[part];
  LwtPicture picture = { plane->data, plane->stride };

  if (lwt_job_makes (s->job, part)
      && (plane->data == NULL || !plane->on_device || plane->n_runs > 0
          || (s->foreign & (1u << part)) != 0
          || !(is_aligned (picture) || stores (&b->plan->config, part))))
    picture = s->parts[part];
  return picture;
}

const guint32 *
get_missing (const LwtBackend *b, const Slot *s)
{
  return s->filled ? b->scratch.missing : NULL;
}

const gdouble *
get_polynomial (const LwtBackend *b, const Slot *s)
{
  return b->plan->config.f_operation != LWT_F_NONE ? s->findings->polynomial
                                                   : NULL;
}

gboolean
forward_bands (
    LwtBackend *b, const Slot *s, LwtPicture x, LwtLowBand *low, GError **error)
{
  const LwtPicture bands = get_part (b, s, CVIS_SURFACE_PART_BANDS);

  return bands.data == NULL
         || lwt_workspace_forward (&b->workspace, &b->plan->bands,
             b->plan->config.layout, x, bands, low, b->work, error);
}

gboolean
filter_surface (
    LwtBackend *b, const Slot *s, LwtPicture x, LwtLowBand *low, GError **error)
{
  LwtPartsTask task;

  memset (&task, 0, sizeof task);
  task.picture = x;
  task.missing = get_missing (b, s);
  task.polynomial = get_polynomial (b, s);
  task.pad[0] = b->plan->pad[0];
  task.pad[1] = b->plan->pad[1];
  task.width = b->plan->config.width;
  task.height = b->plan->config.height;
  for (guint i = CVIS_SURFACE_PART_NOISE; i <= CVIS_SURFACE_PART_FORM; i++)
    task.parts[i] = get_part (b, s, i);
  if (b->smooths) /* without missing points the filter looks for some */
    return lwt_device_smoother_run (
        &b->smoother, &task, &s->findings->not_finite, b->work, error);
  return lwt_workspace_filter (
             &b->workspace, &b->plan->parts, &task, low, b->work, error)
         && forward_bands (b, s, x, low, error);
}

gboolean
inverse_bands (LwtBackend *b, const Slot *s, LwtPicture bands, GError **error)
{
  const LwtPicture to = get_part (b, s, CVIS_SURFACE_PART_MEASURED);
  const gboolean pad = is_padded (b->plan);
  LwtPicture result = pad ? b->workspace.result : to;

  if (to.data == NULL)
    return TRUE;
  if (!lwt_workspace_inverse (
          &b->workspace, &b->plan->bands, bands, result, b->work, error))
    return FALSE;
  if (!pad)
    return TRUE;
  result.data = (guint8 *) result.data + b->plan->pad[1] * result.stride
                + b->plan->pad[0] * lwt_type_get_size (b->plan->config.type);
  return lwt_workspace_copy (&b->workspace, result, to, b->plan->config.width,
      b->plan->config.height, b->work, error);
}

/* The universal threshold from the finest band that is high along all axes
 * of the first level. */
gboolean
find_threshold (LwtBackend *b, const Slot *s, GError **error)
{
  const LwtType type = b->plan->config.type;
  const LwtLevel *level = &b->plan->bands.levels[0];
  const LwtFinestAxis *axes = b->scratch.finest;
  LwtSurfaceTask surface;
  LwtCountTask count;

  if (b->plan->config.threshold > 0.0 || (!level->x && !level->y))
    return TRUE;
  describe_surface (b, s, &surface);
  memset (&count, 0, sizeof count);
  count.type = type;
  count.samples = b->workspace.bands;
  count.samples.data = (guint8 *) count.samples.data
                       + axes[1].first * count.samples.stride
                       + axes[0].first * lwt_type_get_size (type);
  count.n = axes[1].n;
  memcpy (count.axes, axes, sizeof count.axes);
  count.cells = b->scratch.cells;
  count.findings = s->findings;
  if (!CVIS_CUDA (
          lwt_launch_cells (&surface, axes, b->scratch.cells, b->work), error))
    return FALSE;
  for (guint pass = 0; pass < lwt_select_get_passes (type); pass++)
    if (!CVIS_CUDA (
            lwt_launch_count (&count, pass, b->scratch.select, b->work), error)
        || !CVIS_CUDA (
            lwt_launch_pick (type, pass, b->plan->config.threshold_scale,
                b->scratch.select, s->findings, b->work),
            error))
      return FALSE;
  return TRUE;
}

/* The first spin, which is not rotated, to workspace.result. */
gboolean
run_first_spin (
    LwtBackend *b, const Slot *s, LwtPicture x, LwtLowBand *low, GError **error)
{
  LwtWorkspace *workspace = &b->workspace;

  return lwt_workspace_forward (workspace, &b->plan->bands, LWT_LAYOUT_MALLAT,
             x, workspace->bands, low, b->work, error)
         && find_threshold (b, s, error)
         && (b->n_spins == 0
             || CVIS_CUDA (cudaEventRecord (b->threshold, b->work), error))
         && lwt_workspace_shrink (workspace, &b->plan->bands, s->findings,
             workspace->bands, workspace->result, workspace->work, b->work,
             error);
}

/* Adds spin @k of x, k >= 1, to workspace.result. */
gboolean
run_spin (LwtBackend *b, const Slot *s, LwtPicture x, guint k, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  const guint sx = lwt_spin_x (k), sy = lwt_spin_y (k);
  const gdouble scale = k + 1 == config->spins ? 1.0 / config->spins : 1.0;
  Spin *spin = &b->spins[(k - 1) % b->n_spins];

  return CVIS_CUDA (cudaStreamWaitEvent (spin->stream, spin->free, 0), error)
         && CVIS_CUDA (
             lwt_launch_rotate (config->type, x, spin->picture, b->plan->width,
                 b->plan->height, sx, sy, spin->stream),
             error)
         && lwt_transform_forward (&b->workspace.transform, &b->plan->bands,
             LWT_LAYOUT_MALLAT, spin->picture, spin->bands, spin->work,
             spin->stream, error)
         && CVIS_CUDA (
             cudaStreamWaitEvent (spin->stream, b->threshold, 0), error)
         && lwt_workspace_shrink (&b->workspace, &b->plan->bands, s->findings,
             spin->bands, spin->picture, spin->work, spin->stream, error)
         && cvis_stream_follow (b->work, spin->done, spin->stream, error)
         && CVIS_CUDA (
             lwt_launch_add (config->type, spin->picture, b->workspace.result,
                 b->plan->width, b->plan->height, sx, sy, scale, b->work),
             error)
         && CVIS_CUDA (cudaEventRecord (spin->free, b->work), error);
}

gboolean
denoise_surface (
    LwtBackend *b, const Slot *s, LwtPicture x, LwtLowBand *low, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  LwtDenoisedTask task;

  for (guint i = 0; i < b->n_spins; i++)
    if (!CVIS_CUDA (cudaEventRecord (b->spins[i].free, b->work), error))
      return FALSE;
  if (!run_first_spin (b, s, x, low, error))
    return FALSE;
  for (guint k = 1; k < config->spins; k++)
    if (!run_spin (b, s, x, k, error))
      return FALSE;
  memset (&task, 0, sizeof task);
  task.type = config->type;
  task.x = x;
  task.y = b->workspace.result;
  task.pad[0] = b->plan->pad[0];
  task.pad[1] = b->plan->pad[1];
  task.width = config->width;
  task.height = config->height;
  task.missing = get_missing (b, s);
  task.polynomial = get_polynomial (b, s);
  task.tables = b->scratch.tables;
  task.noise = get_part (b, s, CVIS_SURFACE_PART_NOISE);
  task.measured = get_part (b, s, CVIS_SURFACE_PART_MEASURED);
  if (config->store_bits > 0 && task.measured.data != NULL) {
    const LwtPlane *plane = &s->job->parts[CVIS_SURFACE_PART_MEASURED];

    task.store_bytes = (guint) lwt_sample_get_size (config->sample);
    task.store_step = plane->on_device ? MAX (plane->step, 1) : 1;
    task.store_factor = lwt_store_factor (config);
    task.store_max = lwt_store_max (config);
    task.store_shift = config->store_shift;
  }
  return CVIS_CUDA (lwt_launch_denoised (&task, b->work), error);
}

gboolean
measure_components (LwtBackend *b, const Slot *s, GError **error)
{
  const LwtConfig *config = &b->plan->config;
  LwtMeasureTask task;

  memset (&task, 0, sizeof task);
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (lwt_job_measures (config, s->job, i)) {
      task.surface[task.n] = get_part (b, s, i);
      task.part[task.n++] = (CvisSurfacePart) i;
    }
  if (task.n == 0)
    return TRUE;
  task.type = config->type;
  task.width = config->width;
  task.height = config->height;
  task.dx = config->dx;
  task.dy = config->dy;
  task.missing = get_missing (b, s);
  task.finite = config->operation == LWT_OPERATION_INVERSE;
  task.rows = b->scratch.rows;
  task.findings = s->findings;
  return CVIS_CUDA (lwt_launch_measure (&task, b->work), error);
}

/* Rows of rectangle @k of a component that leaves the slot's memory; FALSE if there are
 * no more. */
gboolean
get_rows (
    const LwtBackend *b, const Slot *s, guint part, guint k, CvisRows *rows)
{
  const LwtPlane *plane = &s->job->parts[part];
  guint width, height;
  LwtRect run;

  get_out_size (b->plan, part, &width, &height);
  if (plane->data == NULL || get_part (b, s, part).data != s->parts[part].data
      || !get_run (plane->runs, plane->n_runs, k, width, height, &run))
    return FALSE;
  *rows = get_run_rows (&run, plane, s->parts[part],
      lwt_config_get_part_size (&b->plan->config, (CvisSurfacePart) part),
      width);
  return TRUE;
}

/* Copies components from the slot's memory to device memory of the caller. */
gboolean
copy_to_device (LwtBackend *b, const Slot *s, GError **error)
{
  CvisRows rows;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    for (guint k = 0;
         s->job->parts[i].on_device && get_rows (b, s, i, k, &rows); k++)
      if (!copy_rows (&rows, FALSE, b->work, error))
        return FALSE;
  return TRUE;
}

gboolean
run_operation (
    LwtBackend *b, const Slot *s, LwtPicture x, LwtLowBand *low, GError **error)
{
  switch (b->plan->config.operation) {
    case LWT_OPERATION_FILTER:
      return filter_surface (b, s, x, low, error);
    case LWT_OPERATION_FORWARD:
      return forward_bands (b, s, x, low, error);
    case LWT_OPERATION_INVERSE:
      return inverse_bands (b, s, x, error);
    default:
      return denoise_surface (b, s, x, low, error);
  }
}

/* Computes a job whose samples are on their way on `work`. */
gboolean
compute_job (LwtBackend *b, Slot *s, GError **error)
{
  LwtLowBand low = { { NULL, 0 } };
  gboolean as_came, looks = FALSE;
  LwtPicture x;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    looks = looks || (b->smooths && lwt_job_makes (s->job, i));
  if (!CVIS_CUDA (
          cudaMemsetAsync (s->findings, 0, sizeof *s->findings, b->work), error)
      || !make_picture (b, s, &x, &as_came, error)
      || !run_operation (b, s, x, &low, error))
    return FALSE;
  /* low-pass filters look for missing points; without an output the samples themselves
   * are checked */
  if (low.picture.data == NULL)
    low = { x, b->plan->width, b->plan->height, 1, 1 };
  if (as_came && !b->plain && !looks
      && !CVIS_CUDA (
          lwt_launch_check (b->plan->config.type, low.picture, low.step_x,
              low.step_y, low.width, low.height, s->findings, b->work),
          error))
    return FALSE;
  return measure_components (b, s, error) && copy_to_device (b, s, error)
         && CVIS_CUDA (cudaEventRecord (s->computed, b->work), error);
}

/* --- results: download --------------------------------------------------- */

/* Downloads the components for pinned memory of the host (@pinned) or for other memory. */
gboolean
download_parts (LwtBackend *b, const Slot *s, gboolean pinned, GError **error)
{
  CvisRows rows;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    for (guint k = 0;
         !s->job->parts[i].on_device && get_rows (b, s, i, k, &rows); k++)
      if (rows.pinned == pinned
          && !cvis_bounce_down (b->out, &rows, b->down, error))
        return FALSE;
  return TRUE;
}

gboolean
send_results (LwtBackend *b, Slot *s, GError **error)
{
  return CVIS_CUDA (cudaStreamWaitEvent (b->down, s->computed, 0), error)
         && CVIS_CUDA (
             cudaMemcpyAsync (s->pinned, s->findings, sizeof *s->findings,
                 cudaMemcpyDeviceToHost, b->down),
             error)
         && download_parts (b, s, TRUE, error)
         && CVIS_CUDA (cudaEventRecord (s->done, b->down), error);
}

/* Queues the computation and the download of a job. */
gboolean
run_job (LwtBackend *b, Slot *s, gboolean filled, GError **error)
{
  gboolean ok;

  g_mutex_lock (&b->lock);
  s->filled = filled && !b->plain;
  ok = compute_job (b, s, error) && send_results (b, s, error);
  g_mutex_unlock (&b->lock);
  return ok;
}

/* Part of a larger surface, whose size was chosen by the memory that was free. */
gboolean
is_row_block (const LwtJob *job)
{
  gboolean found = job->n_runs > 0;

  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    found |= job->parts[i].n_runs > 0;
  return found;
}

gboolean
cuda_submit (LwtBackend *b, guint slot, LwtJob *job, GError **error)
{
  Slot *s = &b->slots[slot];

  s->job = job;
  if (b->out_of_core != NULL)
    return !is_row_block (job) || CVIS_CUDA (cudaErrorMemoryAllocation, error);
  return cvis_in_context (b->context, error, [&] {
    return (await_samples (b, s, error) && copy_beside (b, job, error)
               && run_job (b, s, g_atomic_int_get (&b->missing) != 0, error))
           || wait_for_streams (b);
  });
}

/* --- results: completion ------------------------------------------------- */

/* Waits for a job. If it was computed without filling and points are
 * missing, computes it again with the points filled; a low-pass filter also
 * if it was computed with weights and none is missing. */
gboolean
finish (LwtBackend *b, Slot *s, GError **error)
{
  gboolean again;

  if (!CVIS_CUDA (cudaEventSynchronize (s->done), error))
    return FALSE;
  /* the weights of a low-pass filter are divided by another sum with missing points */
  again = s->filled ? b->smooths && s->pinned->missing == 0
                    : s->pinned->missing > 0 || s->pinned->not_finite;
  if (again && !b->plain
      && (!run_job (b, s, !s->filled, error)
          || !CVIS_CUDA (cudaEventSynchronize (s->done), error)))
    return FALSE;
  g_atomic_int_set (&b->missing, s->pinned->missing > 0);
  return download_parts (b, s, FALSE, error);
}

void
report (const LwtBackend *b, const Slot *s)
{
  const LwtConfig *config = &b->plan->config;
  const LwtFindings *findings = s->pinned;
  LwtJob *job = s->job;

  job->missing = findings->missing;
  memcpy (job->polynomial, findings->polynomial, sizeof job->polynomial);
  job->offset = job->polynomial[0];
  if (config->operation == LWT_OPERATION_DENOISE)
    job->threshold =
        config->threshold > 0.0 ? config->threshold : findings->threshold;
  for (guint i = 0; i < CVIS_SURFACE_N_PARTS; i++)
    if (lwt_job_measures (config, job, i))
      lwt_parameters (
          &findings->heights[i], &findings->shapes[i], &job->parameters[i]);
}

gboolean
cuda_wait (LwtBackend *b, guint slot, GError **error)
{
  Slot *s = &b->slots[slot];

  if (!cvis_in_context (b->context, error, [&] {
        return (b->out_of_core != NULL
                       ? lwt_out_of_core_run (b->out_of_core, s->job, error)
                       : finish (b, s, error))
               || wait_for_streams (b);
      }))
    return FALSE;
  if (b->out_of_core == NULL)
    report (b, s);
  return TRUE;
}

/* In row blocks, kernels are launched by the thread that waits, so
 * cuda_submit() has no description to report. */
const gchar *
cuda_describe (LwtBackend *b)
{
  return b->out_of_core != NULL
             ? NULL
             : lwt_transform_describe (&b->workspace.transform);
}

gboolean
cuda_get_memory (const LwtPlan *plan, CvisContext *context, gsize *needed,
    gsize *limit, GError **error)
{
  LwtBackend *b = g_new0 (LwtBackend, 1);

  b->plan = plan;
  b->slots = g_new0 (Slot, plan->config.depth_in_flight);
  read_config (b);
  *needed = count_all (b);
  lwt_device_smoother_clear (&b->smoother);
  g_free (b->slots);
  g_free (b);
  return cvis_in_context (
      context, error, [&] { return get_limit (&plan->config, limit, error); });
}

} // namespace

extern "C" const LwtBackendOps lwt_backend_cuda = { "cuda", cuda_create,
  cuda_destroy, cuda_submit, cuda_wait, cuda_describe, cuda_get_memory };
