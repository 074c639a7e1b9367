/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The CUDA backend with a resident kernel, host side: the ring, the kernel's life, the
 * way back to the batch backend. docs/design/realtime.md has the protocol. */
#include "cuda/core/histogram.h"
#include "cuda/core/memory.h"
#include "cuda/meltpool/backend.h"
#include "cuda/meltpool/cpu/cpu.h"
#include "cuda/meltpool/cuda/resident.cuh"

/* Without a new record for so long the kernel is stalled. */
#define STALL_NS G_GUINT64_CONSTANT (500000000)
/* The first launch may load modules. */
#define FIRST_STALL_NS G_GUINT64_CONSTANT (5000000000)
/* The kernel ends within this time after "stop", or never. */
#define STOP_NS G_GUINT64_CONSTANT (2000000000)
/* Between two questions to CUDA whether the kernel has ended. */
#define ASK_NS 20000
#define SLEEP_US 20

namespace {

/* Frames of a batch in the ring. */
struct Slot {
  guint32 first;
  guint64 position; /* frames of the stream before the batch */
};

} // namespace

struct _PbfBackend {
  PbfConfig config;
  PbfParams params;
  CvisContext *context;
  CvisArena arena;
  PbfModel *model;
  PbfDeviceModel device_model;
  PbfResident ring;
  PbfRingEntry *entries; /* those of @ring, for the host to write */
  guint32 *done, *stop;
  PbfResult *results; /* one a place, for batches whose results are elsewhere */
  guint8 *pixels;     /* likewise, for frames */
  guint pitch;
  gsize frame_size;
  cudaStream_t stream;
  cudaEvent_t ended;
  PbfCpuScratch *cpu_scratch; /* for positions that the kernel cannot find */
  Slot slots[16];

  guint32 next;   /* of submit(): sequence of the next frame */
  guint32 undone; /* of wait(): the first frame whose record is not there */
  /* submit() and wait() may run in two threads */
  GMutex launch_lock;
  gboolean launched, ever_done;
  PbfBackend *instead; /* the batch backend, after a stall */
};

namespace {

guint
ring_places (const PbfConfig *config)
{
  guint places = 1;

  while (places < config->depth * config->max_batch)
    places *= 2;
  return places;
}

gboolean
init_memory (PbfBackend *b, GError **error)
{
  guint places = b->ring.places = ring_places (&b->config);
  CvisArena *arena = &b->arena;

  if (!cvis_arena_stream (arena, &b->stream, error)
      || !cvis_arena_event (arena, &b->ended, error)
      || !cvis_arena_pin (arena, &b->entries, places, "the ring", error)
      || !cvis_arena_pin (arena, &b->done, places, "the ring", error)
      || !cvis_arena_pin (arena, &b->stop, 1, "the ring", error)
      || !cvis_arena_pin (arena, &b->results, places, "results", error)
      || !cvis_arena_pin (
          arena, &b->pixels, places * b->frame_size, "frames", error)
      || !cvis_arena_take (arena, &b->ring.window, 1, "the window", error)
      || !cvis_arena_take (
          arena, &b->ring.rows, b->config.window, "the window", error)
      || !cvis_arena_take (arena, &b->ring.scratch, b->config.parallel_frames,
          "labelling", error)
      || (b->model
          && !pbf_device_model_init (&b->device_model, arena, b->model, error)))
    return FALSE;
  memset (b->entries, 0, places * sizeof *b->entries);
  memset (b->done, 0, places * sizeof *b->done);
  *b->stop = 0;
  b->ring.entries = b->entries;
  b->ring.done = b->done;
  b->ring.stop = b->stop;
  b->ring.lifetime_ns = (guint64) b->config.lifetime_ms * 1000000;
  b->ring.idle_sleep_ns = b->config.idle_sleep_ns;
  b->ring.stall_at = b->config.stall_at;
  return CVIS_CUDA (
             cudaMemset (b->ring.window, 0, sizeof *b->ring.window), error)
         && CVIS_CUDA (cudaStreamSynchronize (0), error);
}

/* --- the kernel's life -------------------------------------------------------- */

/* In the context. Has the last launch, if any, come to its end? */
gboolean
kernel_has_ended (PbfBackend *b, gboolean *ended, GError **error)
{
  cudaError_t code = b->launched ? cudaEventQuery (b->ended) : cudaSuccess;

  *ended = code == cudaSuccess;
  return code == cudaErrorNotReady || CVIS_CUDA (code, error);
}

gboolean
launch_kernel (PbfBackend *b, GError **error)
{
  guint32 first = b->undone;

  /* all that the last launch committed is done, but wait() may not have seen it yet */
  while (b->done[first & (b->ring.places - 1)] == first + 1)
    first++;
  __atomic_store_n (b->stop, 0, __ATOMIC_RELEASE);
  if (!CVIS_CUDA (
          pbf_launch_resident (&b->params, b->model ? &b->device_model : NULL,
              &b->ring, first, b->config.parallel_frames, b->stream),
          error)
      || !CVIS_CUDA (cudaEventRecord (b->ended, b->stream), error))
    return FALSE;
  b->launched = TRUE;
  return TRUE;
}

/* Frames wait: launches the kernel unless it runs. */
gboolean
keep_alive (PbfBackend *b, GError **error)
{
  return cvis_in_context (b->context, error, [&] {
    gboolean ended;

    return kernel_has_ended (b, &ended, error)
           && (!ended || launch_kernel (b, error));
  });
}

/* Ends the kernel; FALSE if it does not end. */
gboolean
quiesce (PbfBackend *b, GError **error)
{
  return cvis_in_context (b->context, error, [&] () -> gboolean {
    guint64 end = cvis_monotonic_ns () + STOP_NS;
    gboolean ended = FALSE;

    __atomic_store_n (b->stop, 1, __ATOMIC_RELEASE);
    while (!ended) {
      if (!kernel_has_ended (b, &ended, error))
        return FALSE;
      if (!ended && cvis_monotonic_ns () > end) {
        g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_CUDA,
            "the resident kernel does not end");
        return FALSE;
      }
    }
    b->launched = FALSE;
    return TRUE;
  });
}

/* --- after a stall --------------------------------------------------------------- */

/* In the context: the window as the batch backend keeps it. */
gboolean
read_window (PbfBackend *b, PbfDeviceWindow *window,
    gint32 (*rows)[PBF_N_SPATIAL], GError **error)
{
  guint length = b->config.window;
  gint32 (*ring)[PBF_N_SPATIAL] =
      (gint32 (*)[PBF_N_SPATIAL]) g_malloc (length * sizeof *ring);
  PbfResidentWindow w;
  gboolean ok =
      CVIS_CUDA (
          cudaMemcpy (&w, b->ring.window, sizeof w, cudaMemcpyDeviceToHost),
          error)
      && CVIS_CUDA (cudaMemcpy (ring, b->ring.rows, length * sizeof *ring,
                        cudaMemcpyDeviceToHost),
          error);

  if (ok) {
    window->n = MIN (w.n, length - 1);
    window->started = w.started;
    window->layer = w.layer;
    window->vector_id = w.vector_id;
    window->position = w.position;
    for (guint k = 0; k < window->n; k++)
      memcpy (rows[k], ring[(w.first + w.n - window->n + k) % length],
          sizeof *rows);
  }
  g_free (ring);
  return ok;
}

/* Ends the kernel and makes the batch backend that goes on in its place. */
gboolean
fall_back (PbfBackend *b, GError **error)
{
  gint32 (*rows)[PBF_N_SPATIAL];
  PbfDeviceWindow window;
  PbfBackend *instead;
  gboolean ok;

  if (!quiesce (b, error))
    return FALSE;
  instead = pbf_backend_cuda.create (
      &b->config, &b->params, b->model, b->context, error);
  if (instead == NULL)
    return FALSE;
  rows = (gint32 (*)[PBF_N_SPATIAL]) g_malloc (b->config.window * sizeof *rows);
  ok = cvis_in_context (b->context, error, [&] {
    return read_window (b, &window, rows, error);
  }) && pbf_cuda_set_window (instead, &window, rows, error);
  g_free (rows);
  if (!ok) {
    pbf_backend_cuda.destroy (instead);
    return FALSE;
  }
  __atomic_store_n (&b->instead, instead, __ATOMIC_RELEASE);
  return TRUE;
}

/* The frames of @batch from @first on by the batch backend, which has no other batch in
 * flight: later ones wait for their turn in wait(). */
gboolean
compute_instead (PbfBackend *b, const Slot *slot, const PbfBatch *batch,
    guint first, GError **error)
{
  PbfBatch rest = *batch;
  guint64 position = slot->position;

  for (guint i = 0; i < first; i++)
    position += 1 + batch->infos[i].lost_before;
  rest.n -= first;
  rest.frames += first;
  rest.strides += first;
  rest.infos += first;
  rest.results += first;
  return pbf_backend_cuda.submit (b->instead, 0, &rest, position, error)
         && pbf_backend_cuda.wait (b->instead, 0, &rest, error);
}

/* --- frames into the ring ------------------------------------------------------- */

/* A position that needs the components of the whole frame comes from the CPU. */
void
find_position (
    PbfBackend *b, const guint8 *frame, guint stride, PbfFrameInfo *info)
{
  PbfResult result;

  if (info->position != PBF_POSITION_BRIGHTEST
      || (info->entry == PBF_EMPTY && !b->params.analyse_empty))
    return;
  pbf_cpu_kernels ()->spatial (
      &b->params, b->cpu_scratch, frame, stride, info, &result);
  info->position = PBF_POSITION_GIVEN;
  info->e_x_q8 = result.e_x_q8;
  info->e_y_q8 = result.e_y_q8;
}

void
fill_place (PbfBackend *b, const PbfBatch *batch, guint i, guint32 sequence,
    guint64 position)
{
  guint place = sequence & (b->ring.places - 1);
  PbfRingEntry *entry = &b->entries[place];
  const guint8 *frame = batch->frames[i];
  guint stride = batch->strides[i];

  entry->frame.info = batch->infos[i];
  entry->frame.position = position;
  find_position (b, frame, stride, &entry->frame.info);
  if (!batch->pinned || ((gsize) frame & 3) != 0 || (stride & 3) != 0) {
    guint8 *to = b->pixels + place * b->frame_size;

    cvis_memory_copy_rows (
        to, b->pitch, frame, stride, b->config.width, b->config.height);
    frame = to;
    stride = b->pitch;
  }
  entry->frame.frame = frame;
  entry->frame.stride = stride;
  entry->result =
      batch->results_pinned && ((gsize) &batch->results[i] & 15) == 0
          ? &batch->results[i]
          : &b->results[place];
  __atomic_store_n (&entry->sequence, sequence + 1, __ATOMIC_RELEASE);
}

gboolean
resident_submit (PbfBackend *b, guint slot, PbfBatch *batch, guint64 position,
    GError **error)
{
  gboolean ok = TRUE;

  if (batch->on_device) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "frames in device memory, for the resident kernel");
    return FALSE;
  }
  b->slots[slot].first = b->next;
  b->slots[slot].position = position;
  b->next += batch->n;
  if (__atomic_load_n (&b->instead, __ATOMIC_ACQUIRE) != NULL)
    return TRUE;
  for (guint i = 0; i < batch->n; i++) {
    position += batch->infos[i].lost_before;
    fill_place (b, batch, i, b->slots[slot].first + i, position++);
  }
  g_mutex_lock (&b->launch_lock);
  if (!b->launched && b->instead == NULL)
    ok = keep_alive (b, error);
  g_mutex_unlock (&b->launch_lock);
  return ok;
}

/* --- records out of the ring ------------------------------------------------------ */

/* Waits for the record of frame b->undone; *stalled: it does not come. */
gboolean
wait_for_record (PbfBackend *b, gboolean *stalled, GError **error)
{
  const guint32 *done = &b->done[b->undone & (b->ring.places - 1)];
  guint64 start = 0, asked = 0, now;
  gboolean ok = TRUE;

  *stalled = FALSE;
  for (guint polls = 0;
       __atomic_load_n (done, __ATOMIC_ACQUIRE) != b->undone + 1; polls++) {
    if (polls % 32 != 0)
      continue;
    now = cvis_monotonic_ns ();
    if (start == 0)
      start = asked = now;
    if (now - asked >= ASK_NS) {
      asked = now;
      g_mutex_lock (&b->launch_lock);
      ok = keep_alive (b, error);
      g_mutex_unlock (&b->launch_lock);
      if (!ok)
        return FALSE;
    }
    if (now - start > (b->ever_done ? STALL_NS : FIRST_STALL_NS)) {
      *stalled = TRUE;
      return TRUE;
    }
    if (now - start > (guint64) b->config.spin_us * 1000)
      g_usleep (SLEEP_US);
  }
  b->ever_done = TRUE;
  return TRUE;
}

gboolean
is_done (const PbfBackend *b, guint32 sequence)
{
  return __atomic_load_n (
             &b->done[sequence & (b->ring.places - 1)], __ATOMIC_ACQUIRE)
         == sequence + 1;
}

/* Copies the record of frame @i of @batch unless the kernel has written it there. */
void
take_record (PbfBackend *b, guint32 sequence, PbfBatch *batch, guint i)
{
  guint place = sequence & (b->ring.places - 1);

  if (b->entries[place].result != &batch->results[i])
    batch->results[i] = b->results[place];
}

gboolean
resident_wait (PbfBackend *b, guint index, PbfBatch *batch, GError **error)
{
  const Slot *slot = &b->slots[index];

  for (guint i = 0; i < batch->n; i++) {
    guint32 sequence = slot->first + i;
    gboolean stalled = FALSE, ok;

    if (b->instead == NULL && !wait_for_record (b, &stalled, error))
      return FALSE;
    if (stalled) {
      g_mutex_lock (&b->launch_lock);
      ok = fall_back (b, error);
      g_mutex_unlock (&b->launch_lock);
      if (!ok)
        return FALSE;
    }
    /* after a stall some may have been done all the same, in order */
    if (b->instead != NULL && !is_done (b, sequence))
      return compute_instead (b, slot, batch, i, error);
    take_record (b, sequence, batch, i);
    b->undone++;
  }
  return TRUE;
}

/* --- the backend ---------------------------------------------------------------------- */

void
resident_destroy (PbfBackend *b)
{
  if (b->launched)
    quiesce (b, NULL);
  if (b->instead)
    pbf_backend_cuda.destroy (b->instead);
  if (cvis_context_push (b->context, NULL)) {
    cvis_arena_clear (&b->arena);
    cvis_context_pop (b->context);
  }
  cvis_context_unref (b->context);
  pbf_cpu_scratch_free (b->cpu_scratch);
  g_mutex_clear (&b->launch_lock);
  g_free (b);
}

PbfBackend *
resident_create (const PbfConfig *config, const PbfParams *params,
    PbfModel *model, CvisContext *context, GError **error)
{
  PbfBackend *b;

  if (config->roi_size != PBF_ROI_SIDE
      || config->spatter_scope != PBF_SPATTER_SCOPE_ROI) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "the persistent mode has a region of interest of 40 pixels and looks "
        "for "
        "spatters in it alone");
    return NULL;
  }
  b = g_new0 (PbfBackend, 1);
  b->config = *config;
  b->params = *params;
  b->model = model;
  b->context = cvis_context_ref (context);
  b->pitch = (config->width + 3) & ~3u;
  b->frame_size = ((gsize) b->pitch * config->height + 15) & ~(gsize) 15;
  b->cpu_scratch = pbf_cpu_scratch_new ();
  g_mutex_init (&b->launch_lock);
  if (cvis_in_context (context, error, [&] { return init_memory (b, error); }))
    return b;
  resident_destroy (b);
  return NULL;
}

void
resident_reset (PbfBackend *b)
{
  if (b->instead != NULL) {
    pbf_backend_cuda.reset (b->instead);
    return;
  }
  if (!quiesce (b, NULL) || !cvis_context_push (b->context, NULL))
    return;
  cudaMemset (b->ring.window, 0, sizeof *b->ring.window);
  cudaMemcpy (&b->ring.window->committed, &b->next, sizeof b->next,
      cudaMemcpyHostToDevice);
  cudaStreamSynchronize (0);
  cvis_context_pop (b->context);
}

gboolean
resident_has_fallen_back (PbfBackend *b)
{
  return __atomic_load_n (&b->instead, __ATOMIC_ACQUIRE) != NULL;
}

} // namespace

extern "C" const PbfBackendOps pbf_backend_resident = { "resident",
  resident_create, resident_destroy, resident_submit, resident_wait,
  resident_reset, resident_has_fallen_back };
