/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Host side of the CUDA batch backend.
 *
 * Each of `depth` slots has a stream, device memory and pinned memory,
 * so that the upload of one batch, the kernels of another and the download
 * of a third overlap. Batches depend on each other only through the window:
 * an event makes a batch's window kernels wait for those of the batch
 * before. All memory is allocated when the backend is made. */
#include "cuda/core/device/arena.cuh"
#include "cuda/core/memory.h"
#include "cuda/meltpool/backend.h"
#include "cuda/meltpool/cuda/engine.cuh"

namespace {

struct Slot {
  cudaStream_t stream;
  cudaEvent_t windowed; /* the window kernels have finished */
  cudaEvent_t done;
  guint8 *pixels;        /* device; max_batch frames */
  guint8 *staged_pixels; /* pinned; for frames in pageable memory */
  PbfDeviceFrame *frames, *staged_frames;
  CvisPbfResult *results, *staged_results;
  guint8 *entered;
  gint32 *row_frames, *starts;
  gint32 *pool_pixels;       /* only for frame scope */
  PbfDeviceScratch *scratch; /* of the spatial kernel */
  guint8 *wide_scratch;      /* of the kernel for ROIs of other sizes */
  CvisPbfResult *out;        /* destination of the results */
  cudaGraphExec_t graphs[2]; /* of a full batch, by parity; PBF_MODE_GRAPH */
};

} // namespace

struct _PbfBackend {
  PbfConfig config;
  PbfParams params;
  CvisContext *context;
  CvisArena arena;
  gboolean wide;       /* the ROI is not 40 x 40 */
  gboolean one_stream; /* shared: a graph cannot wait for outside events */
  guint blocks;        /* of the spatial kernel */
  guint pitch;         /* of staged frames: width rounded up to 4 */
  gsize frame_size;    /* of a staged frame, bytes */
  gsize frame_room;    /* bytes of a frame in a slot's device memory */
  Slot *slots;
  /* two states of the window: a batch reads one and writes the other; independent
   * batches all read the first, which stays empty */
  PbfDeviceWindow *windows[2];
  gint32 (*histories[2])[CVIS_PBF_N_SPATIAL];
  guint parity;
  gint last_slot; /* of the batch before; -1: none */
  PbfDeviceModel *model;
  guint8 *frame_scratch; /* of the frame kernels, for one batch at a time */
  guint frame_blocks;
};

namespace {

gboolean
slot_init (PbfBackend *b, Slot *s, GError **error)
{
  gsize n = b->config.max_batch;
  CvisArena *arena = &b->arena;

  if (b->one_stream && s != b->slots)
    s->stream = b->slots->stream;
  else if (!cvis_arena_stream (arena, &s->stream, error))
    return FALSE;
  return cvis_arena_event (arena, &s->windowed, error)
         && cvis_arena_event (arena, &s->done, error)
         && cvis_arena_take (
             arena, &s->pixels, n * b->frame_room, "frames", error)
         && cvis_arena_pin (
             arena, &s->staged_pixels, n * b->frame_size, "frames", error)
         && cvis_arena_take (arena, &s->frames, n, "frame descriptions", error)
         && cvis_arena_pin (
             arena, &s->staged_frames, n, "frame descriptions", error)
         && cvis_arena_take (arena, &s->results, n, "results", error)
         && cvis_arena_pin (arena, &s->staged_results, n, "results", error)
         && cvis_arena_take (arena, &s->entered, n, "frame marks", error)
         && cvis_arena_take (arena, &s->row_frames, n, "window rows", error)
         && cvis_arena_take (arena, &s->starts, n + 1, "window starts", error)
         && (!b->params.frame_scope
             || cvis_arena_take (arena, &s->pool_pixels, n, "pools", error))
         && (b->wide ? cvis_arena_take (arena, &s->wide_scratch,
                 b->blocks * pbf_wide_scratch_size (&b->params), "labelling",
                 error)
                     : cvis_arena_take (arena, &s->scratch,
                         (gsize) b->blocks * PBF_SPATIAL_WARPS, "labelling",
                         error));
}

gboolean
upload_weights (CvisArena *arena, const gfloat *from, gsize n,
    const gfloat **to, GError **error)
{
  gfloat *memory = NULL;

  if (!cvis_arena_take (arena, &memory, n, "the network", error))
    return FALSE;
  *to = memory;
  return CVIS_CUDA (
      cudaMemcpy (memory, from, n * sizeof *from, cudaMemcpyHostToDevice),
      error);
}

gboolean
upload_model (PbfBackend *b, const PbfModel *m, GError **error)
{
  b->model = g_new0 (PbfDeviceModel, 1);
  return pbf_device_model_init (b->model, &b->arena, m, error);
}

/* Number of blocks of the frame kernels, limited by a share of the memory;
 * fewer if the kernels only serve as a fallback. */
gboolean
init_frame_kernels (PbfBackend *b, guint processors, GError **error)
{
  gsize each = pbf_frame_scratch_size (&b->params), free_now = 0, total = 0;
  gsize most = b->params.frame_scope ? 4 * processors : processors;

  if (!CVIS_CUDA (cudaMemGetInfo (&free_now, &total), error))
    return FALSE;
  b->frame_blocks = (guint) CLAMP (free_now / 8 / each, 1, most);
  return cvis_arena_take (&b->arena, &b->frame_scratch, b->frame_blocks * each,
      "labels of whole frames", error);
}

gboolean
init_backend (PbfBackend *b, PbfModel *model, GError **error)
{
  int processors = 0;
  gsize rows = MAX (b->config.window, 2) - 1;

  if (!CVIS_CUDA (
          cvis_cuda_get_attribute (cudaDevAttrMultiProcessorCount, &processors),
          error))
    return FALSE;
  b->blocks =
      b->wide ? MIN (4u * processors, b->config.max_batch) : 8 * processors;
  for (guint i = 0; i < 2; i++)
    if (!cvis_arena_take (&b->arena, &b->windows[i], 1, "the window", error)
        || !cvis_arena_take (
            &b->arena, &b->histories[i], rows, "the window", error)
        || !CVIS_CUDA (
            cudaMemset (b->windows[i], 0, sizeof (PbfDeviceWindow)), error))
      return FALSE;
  if (model != NULL && !upload_model (b, model, error))
    return FALSE;
  if (!init_frame_kernels (b, processors, error))
    return FALSE;
  for (guint i = 0; i < b->config.depth; i++)
    if (!slot_init (b, &b->slots[i], error))
      return FALSE;
  /* the copies and fills above use the NULL stream, which the slots' streams
   * do not wait for */
  return CVIS_CUDA (cudaStreamSynchronize (0), error);
}

void
cuda_destroy (PbfBackend *b)
{
  if (cvis_context_push (b->context, NULL)) {
    for (guint i = 0; i < b->config.depth; i++) {
      cudaStreamSynchronize (b->slots[i].stream);
      for (guint k = 0; k < 2; k++)
        if (b->slots[i].graphs[k] != NULL)
          cudaGraphExecDestroy (b->slots[i].graphs[k]);
    }
    cvis_arena_clear (&b->arena);
    cvis_context_pop (b->context);
  }
  cvis_context_unref (b->context);
  g_free (b->model);
  g_free (b->slots);
  g_free (b);
}

PbfBackend *
cuda_create (const PbfConfig *config, const PbfParams *params, PbfModel *model,
    CvisContext *context, GError **error)
{
  PbfBackend *b = g_new0 (PbfBackend, 1);

  b->config = *config;
  b->params = *params;
  b->wide = params->side != CVIS_PBF_ROI_SIDE;
  b->one_stream = config->mode == PBF_MODE_GRAPH;
  b->context = cvis_context_ref (context);
  b->pitch = (config->width + 3) & ~3u;
  b->frame_size = ((gsize) b->pitch * config->height + 15) & ~(gsize) 15;
  /* leaves room to copy frames with small gaps between them in one piece */
  b->frame_room = (b->frame_size + b->frame_size / 8 + 511) & ~(gsize) 255;
  b->slots = g_new0 (Slot, config->depth);
  b->last_slot = -1;
  if (cvis_in_context (
          context, error, [&] { return init_backend (b, model, error); }))
    return b;
  cuda_destroy (b);
  return NULL;
}

/* --- input --------------------------------------------------------------- */

gboolean
is_aligned (const guint8 *frame, guint stride)
{
  return ((gsize) frame & 3) == 0 && (stride & 3) == 0;
}

/* Whether the kernels can read the frames in place, in pinned memory. */
gboolean
can_map (const PbfBatch *batch)
{
  if (!batch->pinned)
    return FALSE;
  for (guint i = 0; i < batch->n; i++)
    if (!is_aligned (batch->frames[i], batch->strides[i]))
      return FALSE;
  return TRUE;
}

/* Whether only ROIs are read and they are less than half of the frames. The
 * bus transfers an ROI's rows in sectors of 32 bytes, some 3 KB. */
gboolean
only_rois (const PbfBackend *b, const PbfBatch *batch)
{
  if (b->params.frame_scope || b->frame_size < 8192)
    return FALSE;
  for (guint i = 0; i < batch->n; i++)
    if (batch->infos[i].entry == PBF_ENTER_IF_LIT
        || batch->infos[i].position != PBF_POSITION_GIVEN)
      return FALSE;
  return TRUE;
}

/* Bytes from the first to the last pixel of a frame. */
gsize
extent (const PbfBackend *b, guint stride)
{
  return (gsize) stride * (b->config.height - 1) + b->config.width;
}

/* Number of frames from @first on with equal strides at equal, small
 * distances. One copy moves them with the gaps between them. */
guint
run_length (const PbfBackend *b, const PbfBatch *batch, guint first)
{
  guint stride = batch->strides[first], n = 1;
  gssize distance;

  if (first + 1 == batch->n)
    return 1;
  distance = batch->frames[first + 1] - batch->frames[first];
  if (distance < (gssize) extent (b, stride)
      || distance > (gssize) b->frame_room || distance % 4 != 0)
    return 1;
  while (first + n < batch->n && batch->strides[first + n] == stride
         && batch->frames[first + n] - batch->frames[first + n - 1] == distance)
    n++;
  return n;
}

/* Copies frames to the slot's pinned memory, densely, if they are
 * pageable or their rows are not word-aligned. */
void
stage (const PbfBackend *b, Slot *s, const PbfBatch *batch)
{
  for (guint i = 0; i < batch->n; i++) {
    guint8 *to = s->staged_pixels + i * b->frame_size;

    if (batch->strides[i] == b->pitch) {
      memcpy (to, batch->frames[i], extent (b, b->pitch));
      continue;
    }
    cvis_memory_copy_rows (to, b->pitch, batch->frames[i], batch->strides[i],
        b->config.width, b->config.height);
  }
}

void
set_frame (PbfDeviceFrame *frame, const guint8 *pixels, guint stride)
{
  frame->frame = pixels;
  frame->stride = stride;
}

/* Makes the pixels accessible to the kernels and sets their addresses. */
gboolean
send_pixels (
    const PbfBackend *b, Slot *s, const PbfBatch *batch, GError **error)
{
  PbfTransfer transfer = b->config.transfer;
  PbfDeviceFrame *frames = s->staged_frames;

  if (transfer == PBF_TRANSFER_AUTO)
    transfer = only_rois (b, batch) ? PBF_TRANSFER_MAP : PBF_TRANSFER_COPY;
  if (batch->on_device || (transfer == PBF_TRANSFER_MAP && can_map (batch))) {
    for (guint i = 0; i < batch->n; i++)
      set_frame (&frames[i], batch->frames[i], batch->strides[i]);
    return TRUE;
  }

  if (!batch->pinned || (batch->strides[0] & 3) != 0) {
    stage (b, s, batch);
    for (guint i = 0; i < batch->n; i++)
      set_frame (&frames[i], s->pixels + i * b->frame_size, b->pitch);
    return CVIS_CUDA (
        cudaMemcpyAsync (s->pixels, s->staged_pixels, batch->n * b->frame_size,
            cudaMemcpyHostToDevice, s->stream),
        error);
  }

  for (guint first = 0; first < batch->n;) {
    guint n = run_length (b, batch, first), stride = batch->strides[first];
    guint8 *to = s->pixels + first * b->frame_room;
    gsize distance =
        n > 1 ? batch->frames[first + 1] - batch->frames[first] : 0;
    gboolean dense = (stride & 3) == 0 && extent (b, stride) <= b->frame_room;

    if (dense) {
      for (guint i = 0; i < n; i++)
        set_frame (&frames[first + i], to + i * distance, stride);
      if (!CVIS_CUDA (cudaMemcpyAsync (to, batch->frames[first],
                          (n - 1) * distance + extent (b, stride),
                          cudaMemcpyHostToDevice, s->stream),
              error))
        return FALSE;
    } else { /* wide rows: copied frame by frame, without padding */
      n = 1;
      set_frame (&frames[first], to, b->pitch);
      if (!CVIS_CUDA (cudaMemcpy2DAsync (to, b->pitch, batch->frames[first],
                          stride, b->config.width, b->config.height,
                          cudaMemcpyHostToDevice, s->stream),
              error))
        return FALSE;
    }
    first += n;
  }
  return TRUE;
}

/* The frame kernels' scratch memory and the window belong to one batch at a
 * time. */
gboolean
wait_for_batch_before (PbfBackend *b, Slot *s, GError **error)
{
  return b->last_slot < 0 || b->one_stream
         || CVIS_CUDA (cudaStreamWaitEvent (
                           s->stream, b->slots[b->last_slot].windowed, 0),
             error);
}

gboolean
launch (PbfBackend *b, Slot *s, guint n, gboolean any_brightest, GError **error)
{
  guint from = b->parity, to = 1 - b->parity;

  if (any_brightest
      && (!wait_for_batch_before (b, s, error)
          || !CVIS_CUDA (pbf_launch_brightest (&b->params, s->frames, n,
                             b->frame_scratch, b->frame_blocks, s->stream),
              error)))
    return FALSE;
  if (!CVIS_CUDA (
          b->wide ? pbf_launch_wide (&b->params, s->frames, n, s->results,
              s->entered, s->pool_pixels, s->wide_scratch, b->blocks, s->stream)
                  : pbf_launch_spatial (&b->params, s->frames, n, s->results,
                      s->entered, s->pool_pixels, s->scratch, b->blocks,
                      s->stream),
          error)
      || !wait_for_batch_before (b, s, error))
    return FALSE;
  if (b->params.frame_scope
      && !CVIS_CUDA (
          pbf_launch_frame_spatters (&b->params, s->frames, n, s->results,
              s->pool_pixels, b->frame_scratch, b->frame_blocks, s->stream),
          error))
    return FALSE;
  if (!CVIS_CUDA (
          pbf_launch_temporal (&b->params, b->model, s->frames, n, s->results,
              s->entered, s->row_frames, s->starts, b->windows[from],
              b->histories[from], b->windows[to], b->histories[to], s->stream),
          error))
    return FALSE;
  return b->one_stream
         || CVIS_CUDA (cudaEventRecord (s->windowed, s->stream), error);
}

/* Launches all kernels of a batch; the pixels are copied elsewhere. */
gboolean
enqueue (
    PbfBackend *b, Slot *s, guint n, gboolean any_brightest, GError **error)
{
  return CVIS_CUDA (cudaMemcpyAsync (s->frames, s->staged_frames,
                        n * sizeof (PbfDeviceFrame), cudaMemcpyHostToDevice,
                        s->stream),
             error)
         && launch (b, s, n, any_brightest, error)
         && CVIS_CUDA (
             cudaMemcpyAsync (s->out, s->results, n * sizeof (CvisPbfResult),
                 cudaMemcpyDeviceToHost, s->stream),
             error);
}

/* --- full batches as graphs --------------------------------------------------- */

/* A graph has fixed addresses: frames are read in place, by the addresses in
 * s->staged_frames, and results go to the slot's memory. */
gboolean
capture (PbfBackend *b, Slot *s, cudaGraphExec_t *exec, GError **error)
{
  cudaGraph_t graph = NULL;
  gboolean ok;

  if (!CVIS_CUDA (
          cudaStreamBeginCapture (s->stream, cudaStreamCaptureModeThreadLocal),
          error))
    return FALSE;
  ok = enqueue (b, s, b->config.max_batch, FALSE, error);
  ok = CVIS_CUDA (cudaStreamEndCapture (s->stream, &graph), ok ? error : NULL)
       && ok;
  ok = ok
       && CVIS_CUDA (cudaGraphInstantiate (exec, graph, NULL, NULL, 0), error);
  if (graph != NULL)
    cudaGraphDestroy (graph);
  return ok;
}

gboolean
submit_graph (PbfBackend *b, Slot *s, const PbfBatch *batch, GError **error)
{
  cudaGraphExec_t *graph = &s->graphs[b->parity];

  if (batch->on_device || can_map (batch)) {
    for (guint i = 0; i < batch->n; i++)
      set_frame (&s->staged_frames[i], batch->frames[i], batch->strides[i]);
  } else {
    stage (b, s, batch);
    for (guint i = 0; i < batch->n; i++)
      set_frame (
          &s->staged_frames[i], s->staged_pixels + i * b->frame_size, b->pitch);
  }
  return (*graph != NULL || capture (b, s, graph, error))
         && CVIS_CUDA (cudaGraphLaunch (*graph, s->stream), error);
}

gboolean
submit_in_context (PbfBackend *b, guint slot, PbfBatch *batch, guint64 position,
    GError **error)
{
  Slot *s = &b->slots[slot];
  gboolean any_brightest = FALSE, by_graph;

  /* a single pass over the frames: with large batches this thread is the
   * bottleneck */
  for (guint i = 0; i < batch->n; i++) {
    const PbfFrameInfo *info = &batch->infos[i];

    position += info->lost_before;
    s->staged_frames[i].info = *info;
    s->staged_frames[i].confidence = 0;
    s->staged_frames[i].position = position++;
    any_brightest |= info->position == PBF_POSITION_BRIGHTEST
                     && (info->entry != PBF_EMPTY || b->params.analyse_empty);
  }
  by_graph = b->config.mode == PBF_MODE_GRAPH && batch->n == b->config.max_batch
             && !any_brightest;
  s->out =
      batch->results_pinned && !by_graph ? batch->results : s->staged_results;
  if (!(by_graph ? submit_graph (b, s, batch, error)
                 : send_pixels (b, s, batch, error)
                       && enqueue (b, s, batch->n, any_brightest, error))
      || !CVIS_CUDA (cudaEventRecord (s->done, s->stream), error))
    return FALSE;
  b->last_slot = (gint) slot;
  if (!b->config.independent)
    b->parity = 1 - b->parity;
  return TRUE;
}

gboolean
cuda_submit (PbfBackend *b, guint slot, PbfBatch *batch, guint64 position,
    GError **error)
{
  return cvis_in_context (b->context, error, [&] {
    const gboolean ok = submit_in_context (b, slot, batch, position, error);

    /* nothing may be in flight in a slot that the caller does not wait for */
    if (!ok)
      cudaStreamSynchronize (b->slots[slot].stream);
    return ok;
  });
}

gboolean
cuda_wait (PbfBackend *b, guint slot, PbfBatch *batch, GError **error)
{
  Slot *s = &b->slots[slot];

  if (!cvis_in_context (b->context, error,
          [&] { return CVIS_CUDA (cudaEventSynchronize (s->done), error); }))
    return FALSE;
  if (s->out != batch->results)
    memcpy (batch->results, s->out, batch->n * sizeof (CvisPbfResult));
  return TRUE;
}

void
cuda_reset (PbfBackend *b)
{
  if (!cvis_context_push (b->context, NULL))
    return;
  if (b->last_slot >= 0)
    cudaStreamSynchronize (b->slots[b->last_slot].stream);
  for (guint i = 0; i < 2; i++)
    cudaMemset (b->windows[i], 0, sizeof (PbfDeviceWindow));
  cudaStreamSynchronize (0);
  b->last_slot = -1;
  cvis_context_pop (b->context);
}

} // namespace

gboolean
pbf_device_model_init (
    PbfDeviceModel *d, CvisArena *arena, const PbfModel *m, GError **error)
{
  d->hidden_padded = m->hidden_padded;
  d->outputs = m->outputs;
  return upload_weights (arena, m->mean, CVIS_PBF_N_FEATURES, &d->mean, error)
         && upload_weights (
             arena, m->inv_std, CVIS_PBF_N_FEATURES, &d->inv_std, error)
         && upload_weights (arena, m->w1t,
             (gsize) CVIS_PBF_N_FEATURES * m->hidden_padded, &d->w1t, error)
         && upload_weights (arena, m->b1, m->hidden_padded, &d->b1, error)
         && upload_weights (
             arena, m->w2, (gsize) m->outputs * m->hidden_padded, &d->w2, error)
         && upload_weights (arena, m->b2, m->outputs, &d->b2, error);
}

gboolean
pbf_cuda_set_window (PbfBackend *b, const PbfDeviceWindow *window,
    const gint32 (*rows)[CVIS_PBF_N_SPATIAL], GError **error)
{
  return cvis_in_context (b->context, error, [&] {
    return CVIS_CUDA (cudaMemcpy (b->windows[b->parity], window, sizeof *window,
                          cudaMemcpyHostToDevice),
               error)
           && (window->n == 0
               || CVIS_CUDA (
                   cudaMemcpy (b->histories[b->parity], rows,
                       window->n * sizeof *rows, cudaMemcpyHostToDevice),
                   error))
           && CVIS_CUDA (cudaStreamSynchronize (0), error);
  });
}

extern "C" const PbfBackendOps pbf_backend_cuda = { "cuda", cuda_create,
  cuda_destroy, cuda_submit, cuda_wait, cuda_reset };
