/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Host side of the CUDA backend.
 *
 * Five streams: `up` uploads frames and prepares pictures, `ahead` computes
 * the pyramid's vectors of zonal searches, two streams search in turn,
 * `down` downloads results. Events order the streams where one needs the
 * results of another, so that the copies of a frame overlap the searches of
 * others. All memory is allocated when the backend is made.
 *
 * A search waits for the vectors of the frame before only if they affect the
 * result. Otherwise it starts from those of two frames before, and begins as
 * soon as the device has room: the last thread blocks of a search leave most
 * of it idle. */
#include <string.h>

#include "cuda/core/device/arena.cuh"
#include "cuda/core/memory.h"
#include "cuda/motion/backend.h"
#include "cuda/motion/cuda/engine.cuh"

namespace {

/* Memory of a prepared frame. */
struct Picture {
  MotionDevicePicture planes; /* device; pointers to the first samples */
  guint8 *memory;             /* device: contains the planes */
  guint8 *staged;             /* device: the frame as received */
  guint8 *pinned;             /* host: copy of a frame in pageable memory */
  cudaEvent_t staged_there, made;
};

/* Memory and events of a frame in flight. */
struct Slot {
  short2 *predicted; /* device: the pyramid's vectors of all fields */
  cudaEvent_t predicted_there;
  CvisMotionVector *vectors;        /* device; fields one after the other */
  CvisMotionBlock *blocks;          /* device; in the same order */
  guint8 *planes[2];                /* device: prediction, residual */
  CvisMotionVector *pinned_vectors; /* host; in the same order */
  CvisMotionBlock *pinned_blocks;
  gint32 *pinned_noise; /* host: of the frame; for method=field */
  guint8 *pinned_planes[2];
  cudaEvent_t done;
  MotionJob *job;
};

/* Memory and events of a search; two searches are used in turn. */
struct Search {
  cudaStream_t stream;
  cudaEvent_t kept_there, done;
  guint n_kept; /* fields with vectors */
  /* arrays over all fields, one after the other */
  CvisMotionVector *kept; /* of the last frame searched */
  MotionFound *found;
  MotionFullBlock *full_blocks; /* for the full search */
  MotionFullProgress *progress;
  MotionFieldMemory memory; /* for method=field */
};

} // namespace

struct _MotionBackend {
  MotionConfig config;
  CvisContext *context;
  CvisArena arena;
  MotionLayout layout;
  MotionTile tile; /* of the full search */
  guint columns, n_blocks, n_fields;
  guint n_pictures, n_slots;
  guint sample_size; /* bytes */
  gsize staged_size; /* bytes of a frame as it comes in or goes out */
  guint8 *whole;     /* device: a frame of another context, before sampling */
  cudaStream_t up, ahead, down;
  cudaEvent_t given; /* the work on a job's stream has finished */
  Picture *pictures;
  Slot *slots;
  Search searches[2];
  guint parity; /* index of the next frame's search */
};

namespace {

/* --- memory ------------------------------------------------------------------ */

gboolean
picture_init (MotionBackend *b, Picture *p, GError **error)
{
  gsize size = motion_picture_cut (&b->config, &b->layout, NULL, NULL);

  if (!cvis_arena_take (&b->arena, &p->memory, size, "a picture", error)
      || !cvis_arena_take (
          &b->arena, &p->staged, b->staged_size, "a frame", error)
      || !cvis_arena_pin (
          &b->arena, &p->pinned, b->staged_size, "a frame", error)
      || !cvis_arena_event (&b->arena, &p->staged_there, error)
      || !cvis_arena_event (&b->arena, &p->made, error))
    return FALSE;
  motion_picture_cut (&b->config, &b->layout, p->memory, &p->planes);
  return TRUE;
}

gboolean
slot_init (MotionBackend *b, Slot *s, GError **error)
{
  gsize n = (gsize) b->n_blocks * b->n_fields;
  CvisArena *arena = &b->arena;

  for (guint i = 0; i < 2; i++)
    if (!cvis_arena_take (
            arena, &s->planes[i], b->staged_size, "a plane", error)
        || !cvis_arena_pin (
            arena, &s->pinned_planes[i], b->staged_size, "a plane", error)
        /* the copy to the host includes the padding of the rows */
        || !CVIS_CUDA (
            cudaMemsetAsync (s->planes[i], 0, b->staged_size, b->down), error))
      return FALSE;
  return cvis_arena_take (
             arena, &s->predicted, n, "vectors of the pyramid", error)
         && cvis_arena_event (arena, &s->predicted_there, error)
         && cvis_arena_take (arena, &s->vectors, n, "vectors", error)
         && cvis_arena_take (arena, &s->blocks, n, "blocks", error)
         && cvis_arena_pin (arena, &s->pinned_vectors, n, "vectors", error)
         && cvis_arena_pin (arena, &s->pinned_blocks, n, "blocks", error)
         && cvis_arena_pin (arena, &s->pinned_noise, 1, "noise", error)
         && cvis_arena_event (arena, &s->done, error);
}

gboolean
is_full (const MotionConfig *config)
{
  return config->method == MOTION_METHOD_FULL
         || config->method == MOTION_METHOD_FULL_BRUTE;
}

/* Small pictures finish sooner without elimination, with the same result. */
gboolean
choose_full (MotionBackend *b, GError **error)
{
  if (!CVIS_CUDA (motion_prepare_full (&b->config, &b->tile), error))
    return FALSE;
  if (b->config.method == MOTION_METHOD_FULL_BRUTE || b->config.eliminate_all
      || motion_can_eliminate (&b->config, &b->tile))
    return TRUE;
  b->config.method = MOTION_METHOD_FULL_BRUTE;
  return CVIS_CUDA (motion_prepare_full (&b->config, &b->tile), error);
}

gboolean
field_init (MotionBackend *b, Search *s, GError **error)
{
  const gsize size =
      motion_field_memory_cut (&b->config, NULL, NULL) * b->n_fields;
  guint8 *memory;

  if (!cvis_arena_take (
          &b->arena, &memory, size, "the regularised field", error))
    return FALSE;
  motion_field_memory_cut (&b->config, memory, &s->memory);
  return CVIS_CUDA (cudaMemsetAsync (memory, 0, size, s->stream), error);
}

gboolean
search_init (MotionBackend *b, Search *s, GError **error)
{
  gsize n = (gsize) b->n_blocks * b->n_fields;

  if (!cvis_arena_stream (&b->arena, &s->stream, error)
      || !cvis_arena_event (&b->arena, &s->kept_there, error)
      || !cvis_arena_event (&b->arena, &s->done, error)
      || !cvis_arena_take (&b->arena, &s->kept, n, "prior vectors", error)
      || !cvis_arena_take (
          &b->arena, &s->found, n, "results of the search", error))
    return FALSE;
  if (b->config.method == MOTION_METHOD_FIELD)
    return field_init (b, s, error);
  return !is_full (&b->config)
         || (cvis_arena_take (&b->arena, &s->full_blocks, n,
                 "blocks of the full search", error)
             && cvis_arena_take (&b->arena, &s->progress, 1, "progress", error)
             && CVIS_CUDA (
                 motion_clear_full (s->full_blocks, s->progress, n, s->stream),
                 error));
}

gboolean
init_backend (MotionBackend *b, GError **error)
{
  if (!cvis_arena_stream (&b->arena, &b->up, error)
      || !cvis_arena_stream (&b->arena, &b->ahead, error)
      || !cvis_arena_stream (&b->arena, &b->down, error)
      || !cvis_arena_event (&b->arena, &b->given, error))
    return FALSE;
  if (is_full (&b->config) && !choose_full (b, error))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (!search_init (b, &b->searches[i], error))
      return FALSE;
  for (guint i = 0; i < b->n_pictures; i++)
    if (!picture_init (b, &b->pictures[i], error))
      return FALSE;
  for (guint i = 0; i < b->n_slots; i++)
    if (!slot_init (b, &b->slots[i], error))
      return FALSE;
  /* the searches may use the slots' planes once they are cleared */
  return CVIS_CUDA (cudaStreamSynchronize (b->down), error);
}

void
cuda_destroy (MotionBackend *b)
{
  if (cvis_context_push (b->context, NULL)) {
    cvis_arena_clear (&b->arena);
    cvis_context_pop (b->context);
  }
  cvis_context_unref (b->context);
  g_free (b->pictures);
  g_free (b->slots);
  g_free (b);
}

MotionBackend *
cuda_create (const MotionConfig *config, CvisContext *context, GError **error)
{
  MotionBackend *b = g_new0 (MotionBackend, 1);

  b->config = *config;
  if (config->method == MOTION_METHOD_FIELD)
    b->config.lambda = 0; /* the field's own smoothness instead */
  b->context = cvis_context_ref (context);
  b->columns = motion_config_get_columns (config);
  b->n_blocks = b->columns * motion_config_get_rows (config);
  b->n_fields = motion_config_get_n_fields (config);
  b->n_pictures = motion_config_get_n_pictures (config);
  b->n_slots = motion_config_get_n_slots (config);
  b->pictures = g_new0 (Picture, b->n_pictures);
  b->slots = g_new0 (Slot, b->n_slots);
  b->sample_size = config->depth > 8 ? 2 : 1;
  motion_layout_init (&b->layout, config);
  b->staged_size = (gsize) b->layout.staged_pitch * config->height;
  if (cvis_in_context (context, error, [&] { return init_backend (b, error); }))
    return b;
  cuda_destroy (b);
  return NULL;
}

/* --- input --------------------------------------------------------------- */

gboolean
copy_rows (MotionBackend *b, Picture *p, const MotionJob *job,
    cudaMemcpyKind kind, GError **error)
{
  return CVIS_CUDA (
      cudaMemcpy2DAsync (p->staged, b->layout.staged_pitch, job->luma,
          job->stride, (gsize) b->config.width * b->sample_size,
          b->config.height, kind, b->up),
      error);
}

/* The samples of a frame that are searched, to the picture's pinned memory */
void
sample_rows (const MotionBackend *b, Picture *p, const MotionJob *job)
{
  const guint n = b->config.sampling;

  for (guint y = 0; y < b->config.height; y++) {
    const guint8 *from = motion_job_get_row (&b->config, job, y);
    guint8 *to = p->pinned + (gsize) y * b->layout.staged_pitch;

    if (b->sample_size == 1)
      for (guint x = 0; x < b->config.width; x++)
        to[x] = from[(gsize) x * n];
    else
      for (guint x = 0; x < b->config.width; x++)
        ((guint16 *) to)[x] = ((const guint16 *) from)[(gsize) x * n];
  }
}

/* Copies a frame in the memory of another context, and waits until it is read. */
gboolean
take_from_context (
    MotionBackend *b, Picture *p, const MotionJob *job, GError **error)
{
  const gsize stride = motion_config_get_source_bytes (&b->config);
  MotionJob here = *job;

  /* nothing reads the former frame any more */
  if (!CVIS_CUDA (cudaEventSynchronize (p->made), error))
    return FALSE;
  if (b->config.sampling == 1) {
    const CvisDeviceRows to = { b->context, p->staged, b->layout.staged_pitch };

    return motion_job_copy_rows (&b->config, job, &to, error);
  }
  if (b->whole == NULL
      && !cvis_arena_take (&b->arena, &b->whole,
          stride * motion_config_get_source_rows (&b->config),
          "a frame of another device", error))
    return FALSE;
  here.luma = b->whole;
  here.stride = stride;
  const CvisDeviceRows to = { b->context, b->whole, stride };
  return motion_job_copy_rows (&b->config, job, &to, error)
         && CVIS_CUDA (motion_launch_sample (&b->config, &b->layout,
                           motion_job_get_row (&b->config, &here, 0),
                           here.stride, p->staged, b->up),
             error)
         && CVIS_CUDA (cudaEventRecord (p->staged_there, b->up), error)
         && CVIS_CUDA (cudaEventSynchronize (p->staged_there), error);
}

/* Copies a frame in device memory and waits until it is read. */
gboolean
take_from_device (
    MotionBackend *b, Picture *p, const MotionJob *job, GError **error)
{
  cudaStream_t stream =
      job->stream ? (cudaStream_t) job->stream : cudaStreamLegacy;

  return cvis_stream_follow (b->up, b->given, stream, error)
         && (b->config.sampling > 1
                 ? CVIS_CUDA (motion_launch_sample (&b->config, &b->layout,
                                  motion_job_get_row (&b->config, job, 0),
                                  job->stride, p->staged, b->up),
                     error)
                 : copy_rows (b, p, job, cudaMemcpyDeviceToDevice, error))
         && CVIS_CUDA (cudaEventRecord (p->staged_there, b->up), error)
         && CVIS_CUDA (cudaEventSynchronize (p->staged_there), error);
}

/* Copies a frame in pageable memory, or samples of a frame, through the picture's
 * pinned memory. */
gboolean
take_from_host (
    MotionBackend *b, Picture *p, const MotionJob *job, GError **error)
{
  if (b->config.sampling > 1)
    sample_rows (b, p, job);
  else
    cvis_memory_copy_rows (p->pinned, b->layout.staged_pitch, job->luma,
        job->stride, (gsize) b->config.width * b->sample_size,
        b->config.height);
  return CVIS_CUDA (cudaMemcpyAsync (p->staged, p->pinned, b->staged_size,
                        cudaMemcpyHostToDevice, b->up),
      error);
}

gboolean
is_foreign (const MotionBackend *b, const MotionJob *job)
{
  return job->context != NULL
         && cvis_context_get_handle (job->context)
                != cvis_context_get_handle (b->context);
}

gboolean
load_in_context (
    MotionBackend *b, Picture *p, const MotionJob *job, GError **error)
{
  gboolean ok = job->on_device ? is_foreign (b, job)
                                     ? take_from_context (b, p, job, error)
                                     : take_from_device (b, p, job, error)
                : job->pinned && b->config.sampling == 1
                    ? copy_rows (b, p, job, cudaMemcpyHostToDevice, error)
                    : take_from_host (b, p, job, error);

  return ok
         && CVIS_CUDA (motion_launch_load (&b->config, &b->layout, p->staged,
                           job->shift, &p->planes, b->up),
             error)
         && CVIS_CUDA (cudaEventRecord (p->made, b->up), error);
}

gboolean
cuda_load (MotionBackend *b, guint picture, MotionJob *job, GError **error)
{
  return cvis_in_context (b->context, error, [&] {
    const gboolean ok = load_in_context (b, &b->pictures[picture], job, error);

    /* nothing may read a frame that the caller takes back */
    if (!ok)
      cudaStreamSynchronize (b->up);
    return ok;
  });
}

/* --- the search ----------------------------------------------------------------- */

/* The prior vectors of field @i. */
const CvisMotionVector *
choose_prior (const MotionBackend *b, const MotionTask *task, guint i)
{
  const Search *own = &b->searches[b->parity];
  const Search *other = &b->searches[b->parity ^ 1];
  gsize first = (gsize) i * b->n_blocks;

  if (motion_config_needs_prior (&b->config))
    return task->prior[i] ? other->kept + first : NULL;
  return i < own->n_kept ? own->kept + first : NULL;
}

void
describe_task (
    MotionBackend *b, Slot *s, const MotionTask *task, MotionDeviceTask *t)
{
  Search *search = &b->searches[b->parity];

  memset (t, 0, sizeof *t);
  t->config = b->config;
  t->layout = b->layout;
  t->columns = b->columns;
  t->n_blocks = b->n_blocks;
  t->n_fields = task->job->n_fields;
  t->full_blocks = search->full_blocks;
  t->progress = search->progress;
  t->memory = search->memory;
  t->current = b->pictures[task->picture].planes;
  t->prediction = task->job->prediction ? s->planes[0] : NULL;
  t->residual = task->job->residual ? s->planes[1] : NULL;
  for (guint i = 0; i < t->n_fields; i++) {
    gsize first = (gsize) i * b->n_blocks;
    MotionDeviceField *f = &t->fields[i];

    f->reference = b->pictures[task->reference[i]].planes;
    f->prior = choose_prior (b, task, i);
    f->predicted = s->predicted + first;
    f->found = search->found + first;
    f->vectors = s->vectors + first;
    f->kept = search->kept + first;
    f->blocks = s->blocks + first;
  }
  search->n_kept = t->n_fields;
}

/* Makes @stream wait for the pictures. */
gboolean
await_pictures (MotionBackend *b, const MotionTask *task, cudaStream_t stream,
    GError **error)
{
  if (!CVIS_CUDA (
          cudaStreamWaitEvent (stream, b->pictures[task->picture].made, 0),
          error))
    return FALSE;
  for (guint i = 0; i < task->job->n_fields; i++)
    if (!CVIS_CUDA (cudaStreamWaitEvent (
                        stream, b->pictures[task->reference[i]].made, 0),
            error))
      return FALSE;
  return TRUE;
}

/* Makes the search's stream wait for its inputs. The pyramid has a stream of
 * its own: in this one it would wait for the measures of two frames before,
 * when the next search's thread blocks hold most of the device. */
gboolean
prepare_search (MotionBackend *b, Slot *s, const MotionTask *task,
    const MotionDeviceTask *t, cudaStream_t stream, GError **error)
{
  if (t->n_fields == 0 || !motion_predicts_ahead (&b->config))
    return await_pictures (b, task, stream, error);
  return await_pictures (b, task, b->ahead, error)
         && CVIS_CUDA (motion_launch_pyramid (t, b->ahead), error)
         && cvis_stream_follow (stream, s->predicted_there, b->ahead, error);
}

/* Where results go: directly to the job's memory if it is pinned or on the device,
 * otherwise to the slot's. */
gboolean
copy_results (MotionBackend *b, Slot *s, GError **error)
{
  for (guint i = 0; i < s->job->n_fields; i++) {
    gsize n = b->n_blocks, first = i * n;
    gboolean direct = s->job->results_pinned;

    if (!CVIS_CUDA (cudaMemcpyAsync (direct ? s->job->fields[i].vectors
                                            : s->pinned_vectors + first,
                        s->vectors + first, n * sizeof (CvisMotionVector),
                        cudaMemcpyDefault, b->down),
            error)
        || !CVIS_CUDA (cudaMemcpyAsync (direct ? s->job->fields[i].blocks
                                               : s->pinned_blocks + first,
                           s->blocks + first, n * sizeof (CvisMotionBlock),
                           cudaMemcpyDefault, b->down),
            error))
      return FALSE;
  }
  return TRUE;
}

gboolean
copy_noise (
    MotionBackend *b, Slot *s, const MotionDeviceTask *t, GError **error)
{
  return t->current.survey == NULL
         || CVIS_CUDA (
             cudaMemcpyAsync (s->pinned_noise, &t->current.survey->noise,
                 sizeof *s->pinned_noise, cudaMemcpyDeviceToHost, b->down),
             error);
}

gboolean
copy_planes (
    MotionBackend *b, Slot *s, const MotionDeviceTask *t, GError **error)
{
  guint8 *const planes[2] = { t->prediction, t->residual };

  for (guint i = 0; i < 2; i++)
    if (planes[i] != NULL
        && !CVIS_CUDA (cudaMemcpyAsync (s->pinned_planes[i], planes[i],
                           b->staged_size, cudaMemcpyDeviceToHost, b->down),
            error))
      return FALSE;
  return TRUE;
}

gboolean
search_in_context (
    MotionBackend *b, Slot *s, const MotionTask *task, GError **error)
{
  Search *own = &b->searches[b->parity], *other = &b->searches[b->parity ^ 1];
  MotionDeviceTask t;

  s->job = task->job;
  describe_task (b, s, task, &t);
  b->parity ^= 1;
  if (!prepare_search (b, s, task, &t, own->stream, error)
      || (t.n_fields > 0
          && !CVIS_CUDA (motion_launch_search (&t, &b->tile, other->kept_there,
                             own->kept_there, own->stream),
              error))
      || ((t.prediction != NULL || t.residual != NULL)
          && !CVIS_CUDA (motion_launch_predict (&t, own->stream), error)))
    return FALSE;
  return cvis_stream_follow (b->down, own->done, own->stream, error)
         && copy_results (b, s, error) && copy_noise (b, s, &t, error)
         && copy_planes (b, s, &t, error)
         && CVIS_CUDA (cudaEventRecord (s->done, b->down), error);
}

gboolean
cuda_search (
    MotionBackend *b, guint slot, const MotionTask *task, GError **error)
{
  gboolean ok;

  if (!cvis_context_push (b->context, error))
    return FALSE;
  ok = search_in_context (b, &b->slots[slot], task, error);
  /* nothing may be in flight in a slot that the caller does not wait for */
  if (!ok) {
    cudaStreamSynchronize (b->ahead);
    for (guint i = 0; i < 2; i++)
      cudaStreamSynchronize (b->searches[i].stream);
    cudaStreamSynchronize (b->down);
  }
  cvis_context_pop (b->context);
  return ok;
}

/* --- results ---------------------------------------------------------------------- */

void
store_plane (
    const MotionBackend *b, const guint8 *from, guint8 *to, gsize stride)
{
  if (to != NULL)
    cvis_memory_copy_rows (to, stride, from, b->layout.staged_pitch,
        (gsize) b->config.width * b->sample_size, b->config.height);
}

void
store_results (const MotionBackend *b, const Slot *s)
{
  MotionJob *job = s->job;

  for (guint i = 0; i < job->n_fields && !job->results_pinned; i++) {
    gsize n = b->n_blocks, first = i * n;

    memcpy (job->fields[i].vectors, s->pinned_vectors + first,
        n * sizeof (CvisMotionVector));
    memcpy (job->fields[i].blocks, s->pinned_blocks + first,
        n * sizeof (CvisMotionBlock));
  }
  if (b->config.method == MOTION_METHOD_FIELD && job->n_fields > 0)
    job->flags |= motion_field_frame_flags (*s->pinned_noise);
  store_plane (b, s->pinned_planes[0], job->prediction, job->prediction_stride);
  store_plane (b, s->pinned_planes[1], job->residual, job->residual_stride);
}

gboolean
cuda_wait (MotionBackend *b, guint slot, GError **error)
{
  Slot *s = &b->slots[slot];

  if (!cvis_in_context (b->context, error,
          [&] { return CVIS_CUDA (cudaEventSynchronize (s->done), error); }))
    return FALSE;
  store_results (b, s);
  return TRUE;
}

} // namespace

cudaError_t
motion_launch_search (const MotionDeviceTask *task, const MotionTile *tile,
    cudaEvent_t prior_there, cudaEvent_t kept_there, cudaStream_t stream)
{
  const bool early = motion_keeps_early (&task->config);
  const MotionMethod method = task->config.method;
  cudaError_t code = cudaSuccess;

  if (method == MOTION_METHOD_FULL)
    code = motion_launch_pyramid (task, stream);
  if (code == cudaSuccess && motion_config_needs_prior (&task->config))
    code = cudaStreamWaitEvent (stream, prior_there, 0);
  if (code == cudaSuccess)
    code = method == MOTION_METHOD_STEP ? motion_launch_step (task, stream)
           : method == MOTION_METHOD_ZONAL
               ? motion_launch_zonal (task, early ? kept_there : NULL, stream)
           : method == MOTION_METHOD_FIELD
               ? motion_launch_field (task, stream)
               : motion_launch_full (task, tile, stream);
  if (code == cudaSuccess && method != MOTION_METHOD_FIELD)
    code = motion_launch_finish (task, stream);
  if (code == cudaSuccess && !early)
    code = cudaEventRecord (kept_there, stream);
  return code;
}

extern "C" const MotionBackendOps motion_backend_cuda = { "cuda", cuda_create,
  cuda_destroy, cuda_load, cuda_search, cuda_wait };
