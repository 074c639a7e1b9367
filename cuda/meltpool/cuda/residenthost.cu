/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Host side of the resident kernel: the ring, launches and end of the
 * kernel, the fallback to the batch backend. docs/design/realtime.md has the
 * protocol. */
#include <stddef.h>

#include "cuda/core/histogram.h"
#include "cuda/core/memory.h"
#include "cuda/core/spin.h"
#include "cuda/meltpool/backend.h"
#include "cuda/meltpool/cpu/cpu.h"
#include "cuda/meltpool/cuda/resident.cuh"

/* Without a new record for this time the kernel counts as stalled. */
#define STALL_NS G_GUINT64_CONSTANT (500000000)
/* The first launch may load modules, which takes longer. */
#define FIRST_STALL_NS G_GUINT64_CONSTANT (5000000000)
/* A kernel that runs for longer after the stop flag is set is given up. */
#define STOP_NS G_GUINT64_CONSTANT (2000000000)
/* Interval of the queries whether the kernel has ended. */
#define ASK_NS 20000
#define SLEEP_US 20
/* Frames of a batch that the kernel is told of at once. */
#define PUBLISHED_FRAMES 8
#define CACHE_LINE 64
#define ROI_STRIDE 48
#define ROI_BYTES ((gsize) ROI_STRIDE * CVIS_PBF_ROI_SIDE)
/* one of the words that the kernel writes last */
#define LAST_WORD (offsetof (CvisPbfResult, outputs) / 4)

namespace {

typedef guint32 Vector __attribute__ ((vector_size (16), may_alias));
typedef guint32 Unaligned
    __attribute__ ((vector_size (16), aligned (4), may_alias));

/* Position of a batch in the ring. */
struct Slot {
  guint32 first;
  guint64 position; /* frames of the stream before the batch */
};

} // namespace

/* State of the window before a frame. */
struct Track {
  guint32 row; /* of the next frame that enters */
  guint32 n;   /* rows in the window */
  gboolean started;
  PbfRow last;
};

struct _PbfBackend {
  PbfConfig config;
  PbfParams params;
  CvisContext *context;
  CvisArena arena;
  PbfModel *model;
  PbfDeviceModel device_model;
  PbfResident ring;
  PbfTagged *entries, *records; /* host pointers of those in @ring */
  guint32 *head; /* two words: the sequence of the next frame, stop */
  guint8
      *pixels; /* ROIs of frames that are not in pinned memory, one a place */
  cudaStream_t stream;
  cudaEvent_t ended;
  PbfCpuScratch *cpu_scratch; /* for work that needs the whole frame */
  Slot slots[16];

  Track track;    /* used by submit() */
  Track *before;  /* of each place: the window before its frame */
  guint32 next;   /* used by submit(): sequence of the next frame */
  guint32 undone; /* used by wait(): the first frame without a record */
  /* shared: submit() and wait() may run in two threads */
  GMutex launch_lock;
  gboolean launched, ever_done;
  guint64 may_end_ns;  /* the kernel runs at least until then */
  PbfBackend *instead; /* the batch backend, after a stall */
};

namespace {

guint
power_of_two (guint least)
{
  guint n = 1;

  while (n < least)
    n *= 2;
  return n;
}

gboolean
init_memory (PbfBackend *b, GError **error)
{
  guint places = power_of_two (b->config.depth * b->config.max_batch);
  guint n_rows = power_of_two (b->config.window + places), fit;
  CvisArena *arena = &b->arena;
  gboolean relay;

  if (!CVIS_CUDA (pbf_resident_fit (&fit), error))
    return FALSE;
  /* blocks wait for each other, so all of them and the relay have to run */
  b->config.parallel_frames =
      CLAMP (b->config.parallel_frames, 1, MAX (fit, 2) - 1);
  relay = b->config.parallel_frames > 1;
  if (!cvis_arena_stream (arena, &b->stream, error)
      || !cvis_arena_event (arena, &b->ended, error)
      || !cvis_arena_pin (
          arena, &b->entries, places * PBF_ENTRY_STRIDE, "the ring", error)
      || !cvis_arena_pin (
          arena, &b->records, places * PBF_RECORD_WORDS, "the ring", error)
      || !cvis_arena_pin (arena, &b->head, 2, "the ring", error)
      || !cvis_arena_pin (
          arena, &b->pixels, places * ROI_BYTES, "regions of interest", error)
      || !cvis_arena_take (arena, &b->ring.finished, places, "the ring", error)
      || (relay
          && (!cvis_arena_take (arena, &b->ring.relayed,
                  places * PBF_ENTRY_STRIDE, "the ring", error)
              || !cvis_arena_take (
                  arena, &b->ring.relayed_head, 1, "the ring", error)))
      || !cvis_arena_take (arena, &b->ring.rows, n_rows, "the window", error)
      || !cvis_arena_take (arena, &b->ring.scratch, b->config.parallel_frames,
          "labelling", error)
      || (b->model
          && !pbf_device_model_init (&b->device_model, arena, b->model, error)))
    return FALSE;
  memset (b->entries, 0, places * PBF_ENTRY_STRIDE * sizeof *b->entries);
  memset (b->records, 0, places * PBF_RECORD_WORDS * sizeof *b->records);
  b->head[0] = b->head[1] = 0;
  b->before = g_new0 (Track, places);
  b->ring.entries = b->entries;
  b->ring.records = b->records;
  b->ring.head = (const guint64 *) b->head;
  b->ring.places = places;
  b->ring.n_rows = n_rows;
  b->ring.lifetime_ns = (guint64) b->config.lifetime_ms * 1000000;
  b->ring.idle_sleep_ns = b->config.idle_sleep_ns;
#ifdef CVIS_TEST_HOOKS
  b->ring.stall_at = b->config.stall_at;
#endif
  return CVIS_CUDA (
             cudaMemset (b->ring.finished, 0, places * sizeof (guint32)), error)
         && (!relay
             || (CVIS_CUDA (cudaMemset (b->ring.relayed, 0,
                                places * PBF_ENTRY_STRIDE * sizeof (PbfTagged)),
                     error)
                 && CVIS_CUDA (cudaMemset (b->ring.relayed_head, 0,
                                   sizeof *b->ring.relayed_head),
                     error)))
         && CVIS_CUDA (
             cudaMemset (b->ring.rows, 0, n_rows * sizeof *b->ring.rows), error)
         && CVIS_CUDA (cudaStreamSynchronize (0), error);
}

/* --- launch and end of the kernel ---------------------------------------- */

/* In the context: whether the last launch, if any, has ended. */
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
  __atomic_store_n (&b->head[1], 0, __ATOMIC_RELEASE);
  b->ring.launch++;
  if (!CVIS_CUDA (
          pbf_launch_resident (&b->params, b->model ? &b->device_model : NULL,
              &b->ring, b->undone, b->config.parallel_frames, b->stream),
          error)
      || !CVIS_CUDA (cudaEventRecord (b->ended, b->stream), error))
    return FALSE;
  b->launched = TRUE;
  b->may_end_ns = cvis_monotonic_ns () + b->ring.lifetime_ns;
  return TRUE;
}

/* Launches the kernel if frames wait and it has ended. */
gboolean
keep_alive (PbfBackend *b, GError **error)
{
  if (b->launched && cvis_monotonic_ns () < b->may_end_ns)
    return TRUE;
  return cvis_in_context (b->context, error, [&] {
    gboolean ended;

    return kernel_has_ended (b, &ended, error)
           && (!ended || launch_kernel (b, error));
  });
}

/* Stops the kernel; FALSE if it does not end. */
gboolean
quiesce (PbfBackend *b, GError **error)
{
  return cvis_in_context (b->context, error, [&] () -> gboolean {
    guint64 end = cvis_monotonic_ns () + STOP_NS;
    gboolean ended = FALSE;

    __atomic_store_n (&b->head[1], 1, __ATOMIC_RELEASE);
    while (!ended) {
      if (!kernel_has_ended (b, &ended, error))
        return FALSE;
      if (!ended && cvis_monotonic_ns () > end) {
        g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_CUDA,
            "the resident kernel does not end: its CUDA context is unusable. "
            "Restart the process");
        return FALSE;
      }
    }
    b->launched = FALSE;
    return TRUE;
  });
}

/* --- after a stall --------------------------------------------------------------- */

/* In the context: reads the window before frame b->undone into the batch
 * backend's format. */
gboolean
read_window (PbfBackend *b, PbfDeviceWindow *window,
    gint32 (*rows)[CVIS_PBF_N_SPATIAL], GError **error)
{
  const Track *track = &b->before[b->undone & (b->ring.places - 1)];

  window->n = MIN (track->n, b->config.window - 1);
  window->started = track->started;
  window->layer = track->last.layer;
  window->vector_id = track->last.vector_id;
  window->position = track->last.position;
  for (guint k = 0; k < window->n; k++) {
    guint32 row = track->row - window->n + k;
    PbfTagged words[CVIS_PBF_N_SPATIAL];

    if (!CVIS_CUDA (cudaMemcpy (words, b->ring.rows[row & (b->ring.n_rows - 1)],
                        sizeof words, cudaMemcpyDeviceToHost),
            error))
      return FALSE;
    for (guint f = 0; f < CVIS_PBF_N_SPATIAL; f++)
      rows[k][f] = (gint32) words[f];
  }
  return TRUE;
}

/* Stops the kernel and creates the batch backend that replaces it. */
gboolean
fall_back (PbfBackend *b, GError **error)
{
  gint32 (*rows)[CVIS_PBF_N_SPATIAL];
  PbfDeviceWindow window;
  PbfBackend *instead;
  gboolean ok;

  if (!quiesce (b, error))
    return FALSE;
  instead = pbf_backend_cuda.create (
      &b->config, &b->params, b->model, b->context, error);
  if (instead == NULL)
    return FALSE;
  rows = (gint32 (*)[CVIS_PBF_N_SPATIAL]) g_malloc (
      b->config.window * sizeof *rows);
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

/* Computes the frames of @batch from @first on with the batch backend. Only
 * one batch is in flight there: later ones are submitted in wait(). */
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

/* Determines classes and positions that need the whole frame on the CPU,
 * which has the frame in its own memory. */
void
classify_frame (
    PbfBackend *b, const guint8 *pixels, guint stride, PbfRingFrame *frame)
{
  PbfFrameInfo *info = &frame->info;
  gboolean unknown =
      info->entry == PBF_ENTER_IF_LIT
      || (info->position != PBF_POSITION_GIVEN
          && (info->entry != PBF_EMPTY || b->params.analyse_empty));

  if (unknown) {
    CvisPbfResult result;

    pbf_cpu_kernels ()->spatial (
        &b->params, b->cpu_scratch, pixels, stride, info, &result);
    if (info->entry == PBF_ENTER_IF_LIT)
      info->entry =
          result.flags & CVIS_PBF_RESULT_EMPTY ? PBF_EMPTY : PBF_ENTER;
    info->position = PBF_POSITION_GIVEN;
    info->e_x_q8 = result.e_x_q8;
    info->e_y_q8 = result.e_y_q8;
    info->flags |= result.flags & CVIS_PBF_RESULT_POSITION_UNSURE;
    frame->confidence = result.position_confidence;
  }
  if (info->entry == PBF_EMPTY) {
    info->flags |= CVIS_PBF_RESULT_EMPTY;
    if (b->params.analyse_empty)
      info->entry = PBF_EXCLUDE;
  }
  if (info->entry == PBF_EXCLUDE)
    info->flags |= CVIS_PBF_RESULT_EXCLUDED;
  if (info->entry != PBF_EMPTY
      && (pbf_roi_clamped (info->e_x_q8, b->params.width, CVIS_PBF_ROI_SIDE)
          || pbf_roi_clamped (
              info->e_y_q8, b->params.height, CVIS_PBF_ROI_SIDE)))
    info->flags |= CVIS_PBF_RESULT_ROI_CLAMPED;
}

/* Assigns the frame its row in the window. */
void
enter_window (PbfBackend *b, PbfRingFrame *frame, guint64 position)
{
  Track *t = &b->track;
  PbfRow row;

  if (frame->info.entry != PBF_ENTER)
    return;
  row.layer = frame->info.layer;
  row.vector_id = frame->info.vector_id;
  row.position = position;
  if (t->started && pbf_window_restarts (&b->params, &t->last, &row)) {
    frame->info.flags |= CVIS_PBF_RESULT_WINDOW_RESET;
    t->n = 0;
  }
  t->n = MIN (t->n + 1, b->config.window);
  if (t->n < b->config.window)
    frame->info.flags |= CVIS_PBF_RESULT_WARMUP;
  frame->row = t->row++;
  frame->window_n = t->n;
  t->started = TRUE;
  t->last = row;
}

void
fill_place (PbfBackend *b, const PbfBatch *batch, guint i, guint32 sequence,
    guint64 position)
{
  guint place = sequence & (b->ring.places - 1);
  PbfTagged *entry = b->entries + (gsize) place * PBF_ENTRY_STRIDE;
  PbfRingFrame frame = { batch->infos[i] };
  guint32 words[PBF_ENTRY_WORDS];
  const guint8 *roi;

  classify_frame (b, batch->frames[i], batch->strides[i], &frame);
  b->before[place] = b->track;
  enter_window (b, &frame, position);
  if (frame.info.entry != PBF_EMPTY) {
    frame.roi_x = (guint16) pbf_roi_start (
        frame.info.e_x_q8, b->params.width, CVIS_PBF_ROI_SIDE, b->params.align);
    frame.roi_y = (guint16) pbf_roi_start (
        frame.info.e_y_q8, b->params.height, CVIS_PBF_ROI_SIDE, 1);
    frame.stride = batch->strides[i];
    roi = batch->frames[i] + (gsize) frame.roi_y * frame.stride + frame.roi_x;
    if (!batch->pinned) {
      guint8 *to = b->pixels + place * ROI_BYTES;

      cvis_memory_copy_rows (to, ROI_STRIDE, roi, frame.stride,
          CVIS_PBF_ROI_SIDE, CVIS_PBF_ROI_SIDE);
      frame.stride = ROI_STRIDE;
      roi = to;
    }
    frame.roi = roi;
  }
  memcpy (words, &frame, sizeof words);
  /* orders the pixels before the tags */
  __atomic_thread_fence (__ATOMIC_RELEASE);
  for (guint k = 0; k < PBF_ENTRY_WORDS; k++)
    __atomic_store_n (
        &entry[k], (guint64) (sequence + 1) << 32 | words[k], __ATOMIC_RELAXED);
}

gboolean
resident_submit (PbfBackend *b, guint slot, PbfBatch *batch, guint64 position,
    GError **error)
{
  gboolean ok = TRUE;

  if (batch->on_device) {
    g_set_error_literal (error, CVIS_ERROR, CVIS_ERROR_INVALID,
        "the resident kernel does not accept frames in device memory. Use the "
        "batch backend");
    return FALSE;
  }
  b->slots[slot].first = b->next;
  b->slots[slot].position = position;
  if (__atomic_load_n (&b->instead, __ATOMIC_ACQUIRE) != NULL) {
    b->next += batch->n;
    return TRUE;
  }
  for (guint i = 0; i < batch->n; i++) {
    position += batch->infos[i].lost_before;
    fill_place (b, batch, i, b->next++, position++);
    if ((i + 1) % PUBLISHED_FRAMES == 0 || i + 1 == batch->n)
      __atomic_store_n (&b->head[0], b->next, __ATOMIC_RELEASE);
  }
  g_mutex_lock (&b->launch_lock);
  if (b->instead == NULL)
    ok = keep_alive (b, error);
  g_mutex_unlock (&b->launch_lock);
  return ok;
}

/* --- records out of the ring ------------------------------------------------------ */

const PbfTagged *
record_of (const PbfBackend *b, guint32 sequence)
{
  return b->records
         + (gsize) (sequence & (b->ring.places - 1)) * PBF_RECORD_WORDS;
}

/* Whether the record of frame @sequence is there, but for words that are still
 * on their way. */
gboolean
record_has_begun (const PbfBackend *b, guint32 sequence)
{
  const PbfTagged *last = record_of (b, sequence) + LAST_WORD;

  return __atomic_load_n (last, __ATOMIC_ACQUIRE) >> 32 == sequence + 1;
}

/* Loads each word together with its tag and only once: two a vector, whose
 * halves of 64 bits are each whole. Returns: FALSE if words are missing */
gboolean
copy_record (const PbfTagged *words, guint32 tag, guint32 *to)
{
  Vector wrong = { 0, 0, 0, 0 };

  for (guint k = 0; k < PBF_RECORD_WORDS; k += 4) {
    const volatile Vector *at = (const volatile Vector *) (words + k);
    Vector a = at[0], b = at[1];

    wrong |= __builtin_shuffle (a, b, Vector{ 1, 3, 5, 7 }) ^ tag;
    *(Unaligned *) (to + k) = __builtin_shuffle (a, b, Vector{ 0, 2, 4, 6 });
  }
  return (wrong[0] | wrong[1] | wrong[2] | wrong[3]) == 0;
}

/* Copies the record of frame @sequence to @result, and fetches the next one
 * into the cache if it is there. Returns: FALSE if words are missing */
gboolean
take_record (const PbfBackend *b, guint32 sequence, CvisPbfResult *result)
{
  if (!record_has_begun (b, sequence))
    return FALSE;
  if (record_has_begun (b, sequence + 1))
    for (guint k = 0; k < PBF_RECORD_WORDS;
         k += CACHE_LINE / sizeof (PbfTagged))
      __builtin_prefetch (record_of (b, sequence + 1) + k);
  return copy_record (
      record_of (b, sequence), sequence + 1, (guint32 *) result);
}

/* Waits for the record of frame b->undone. *stalled: the kernel made no
 * progress. */
gboolean
wait_for_record (
    PbfBackend *b, CvisPbfResult *result, gboolean *stalled, GError **error)
{
  guint64 start = 0, asked = 0, now;
  gboolean ok = TRUE;

  *stalled = FALSE;
  for (guint polls = 0; !take_record (b, b->undone, result); polls++) {
    cvis_cpu_pause ();
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
resident_wait (PbfBackend *b, guint index, PbfBatch *batch, GError **error)
{
  const Slot *slot = &b->slots[index];

  for (guint i = 0; i < batch->n; i++) {
    gboolean stalled = FALSE, ok;

    if (b->instead == NULL
        && !wait_for_record (b, &batch->results[i], &stalled, error))
      return FALSE;
    if (stalled) {
      g_mutex_lock (&b->launch_lock);
      ok = fall_back (b, error);
      g_mutex_unlock (&b->launch_lock);
      if (!ok)
        return FALSE;
    }
    if (b->instead != NULL)
      return compute_instead (b, slot, batch, i, error);
    b->undone++;
  }
  return TRUE;
}

/* --- the backend ---------------------------------------------------------------------- */

void
resident_destroy (PbfBackend *b)
{
  GError *error = NULL;

  if (b->launched && !quiesce (b, &error)) {
    /* the kernel may still use the ring: it is not freed */
    g_warning ("%s", error->message);
    g_clear_error (&error);
  } else if (cvis_context_push (b->context, NULL)) {
    cvis_arena_clear (&b->arena);
    cvis_context_pop (b->context);
  }
  if (b->instead)
    pbf_backend_cuda.destroy (b->instead);
  cvis_context_unref (b->context);
  pbf_cpu_scratch_free (b->cpu_scratch);
  g_free (b->before);
  g_mutex_clear (&b->launch_lock);
  g_free (b);
}

PbfBackend *
resident_create (const PbfConfig *config, const PbfParams *params,
    PbfModel *model, CvisContext *context, GError **error)
{
  PbfBackend *b = g_new0 (PbfBackend, 1);

  b->config = *config;
  b->params = *params;
  b->model = model;
  b->context = cvis_context_ref (context);
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
  b->track.n = 0;
  b->track.started = FALSE;
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
