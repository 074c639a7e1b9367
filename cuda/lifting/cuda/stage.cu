/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/lifting/cuda/stage.cuh"

#include "cuda/core/arena.cuh"
#include "cuda/core/memory.h"
#include "cuda/core/threadpool.h"

namespace {

const guint PIECES = 4;
const gsize PIECE = 8u << 20;   /* bytes; more if a row is longer */
const gsize GRAIN = 256u << 10; /* bytes that a thread copies at a time */
const guint MAX_THREADS = 12;   /* a thread copies 6 GB/s, the bus 55 */

struct Piece {
  guint8 *memory;   /* pinned */
  cudaEvent_t free; /* the copy from or to the buffer is done */
};

/* A copy within host memory. */
struct Copy {
  guint8 *to;
  const guint8 *from;
  gsize to_stride, from_stride, bytes;
};

/* A copy to a buffer, by the threads of @pool */
struct Filling {
  Copy copy;
  CvisPool *pool;
  Piece *piece;
  guint first, n; /* rows */
  gint done;      /* atomic */
};

/* Of the pool: threads take rows of the buffer that is uploaded first. */
enum { LANE_COPY, LANE_FILL, N_LANES = LANE_FILL + 2 };

} // namespace

struct _LwtStage {
  CvisArena arena;
  gsize size; /* bytes of a buffer */
  Piece pieces[PIECES];
  guint next;
  CvisPool *pool;
};

namespace {

void
copy_rows (guint first, guint count, gpointer user_data)
{
  const Copy *copy = (const Copy *) user_data;

  cvis_memory_copy_rows (copy->to + first * copy->to_stride, copy->to_stride,
      copy->from + first * copy->from_stride, copy->from_stride, copy->bytes,
      count);
}

/* Rows that a thread copies at a time */
guint
copy_grain (const Copy *copy)
{
  return (guint) MAX (1, GRAIN / copy->bytes);
}

void
copy (LwtStage *stage, const Copy *copy, guint rows)
{
  cvis_pool_run (
      stage->pool, rows, copy_grain (copy), copy_rows, (gpointer) copy);
}

void
fill_rows (guint first, guint count, guint thread, gpointer user_data)
{
  copy_rows (first, count, &((Filling *) user_data)->copy);
}

void
end_filling (gpointer user_data)
{
  Filling *filling = (Filling *) user_data;

  cvis_pool_finish (filling->pool, &filling->done);
}

/* Stride of the rows in a buffer: that of the device, which makes one
 * contiguous copy, if the padding between rows may be overwritten. */
gsize
piece_stride (const LwtRows *rows, cudaMemcpyKind kind)
{
  return kind == cudaMemcpyHostToDevice && rows->own
                 && rows->device_stride - rows->bytes < 256
             ? rows->device_stride
             : rows->bytes;
}

guint
piece_rows (const LwtStage *stage, const LwtRows *rows, cudaMemcpyKind kind)
{
  return (guint) MIN (stage->size / piece_stride (rows, kind), rows->n);
}

gboolean
move_pinned (const LwtRows *rows, cudaMemcpyKind kind, cudaStream_t stream,
    GError **error)
{
  const gboolean up = kind == cudaMemcpyHostToDevice;
  void *to = up ? rows->device : rows->host;
  const void *from = up ? rows->host : rows->device;
  const gsize to_stride = up ? rows->device_stride : rows->host_stride;
  const gsize from_stride = up ? rows->host_stride : rows->device_stride;

  if (to_stride == from_stride && to_stride == rows->bytes)
    return CVIS_CUDA (
        cudaMemcpyAsync (to, from, rows->bytes * rows->n, kind, stream), error);
  return CVIS_CUDA (cudaMemcpy2DAsync (to, to_stride, from, from_stride,
                        rows->bytes, rows->n, kind, stream),
      error);
}

/* Waits for the next buffer. */
Piece *
take_piece (LwtStage *stage, GError **error)
{
  Piece *piece = &stage->pieces[stage->next];

  if (!CVIS_CUDA (cudaEventSynchronize (piece->free), error))
    return NULL;
  stage->next = (stage->next + 1) % PIECES;
  return piece;
}

/* Copies rows @first.. of @rows between the device and @piece. */
gboolean
move_piece (const LwtRows *rows, guint first, guint n, Piece *piece,
    cudaMemcpyKind kind, cudaStream_t stream, GError **error)
{
  const gsize stride = piece_stride (rows, kind);
  const LwtRows part = { piece->memory, stride,
    (guint8 *) rows->device + first * rows->device_stride, rows->device_stride,
    stride, n, TRUE, rows->own };

  return move_pinned (&part, kind, stream, error)
         && CVIS_CUDA (cudaEventRecord (piece->free, stream), error);
}

/* Begins to copy rows @nth * @most.. to the next buffer. */
gboolean
begin_filling (LwtStage *stage, const LwtRows *rows, guint nth, guint most,
    Filling *filling, GError **error)
{
  const guint first = nth * most;

  filling->piece = take_piece (stage, error);
  if (filling->piece == NULL)
    return FALSE;
  filling->copy = { filling->piece->memory,
    (const guint8 *) rows->host + first * rows->host_stride,
    piece_stride (rows, cudaMemcpyHostToDevice), rows->host_stride,
    rows->bytes };
  filling->pool = stage->pool;
  filling->first = first;
  filling->n = MIN (most, rows->n - first);
  filling->done = FALSE;
  cvis_pool_start (stage->pool, LANE_FILL + nth % 2, filling->n,
      copy_grain (&filling->copy), fill_rows, end_filling, filling);
  return TRUE;
}

/* Copies rows from @piece, once downloaded, to host memory. */
gboolean
empty_piece (LwtStage *stage, const LwtRows *rows, guint first, guint n,
    Piece *piece, GError **error)
{
  const Copy down = { (guint8 *) rows->host + first * rows->host_stride,
    piece->memory, rows->host_stride,
    piece_stride (rows, cudaMemcpyDeviceToHost), rows->bytes };

  if (!CVIS_CUDA (cudaEventSynchronize (piece->free), error))
    return FALSE;
  copy (stage, &down, n);
  return TRUE;
}

} // namespace

extern "C" LwtStage *
lwt_stage_new (gsize bytes, GError **error)
{
  LwtStage *stage = g_new0 (LwtStage, 1);

  stage->size = MAX (PIECE, bytes + 256);
  stage->pool = cvis_pool_new_with_lanes (
      MIN (MAX_THREADS, g_get_num_processors ()), N_LANES);
  for (guint i = 0; i < PIECES; i++)
    if (!cvis_arena_pin (&stage->arena, &stage->pieces[i].memory, stage->size,
            "staging buffers of a surface", error)
        || !cvis_arena_event (&stage->arena, &stage->pieces[i].free, error)) {
      lwt_stage_free (stage);
      return NULL;
    }
  return stage;
}

extern "C" void
lwt_stage_free (LwtStage *stage)
{
  if (stage == NULL)
    return;
  cvis_arena_clear (&stage->arena);
  cvis_pool_free (stage->pool);
  g_free (stage);
}

extern "C" gboolean
lwt_stage_up (
    LwtStage *stage, const LwtRows *rows, cudaStream_t stream, GError **error)
{
  const guint most = piece_rows (stage, rows, cudaMemcpyHostToDevice);
  const guint pieces = (rows->n + most - 1) / most;
  Filling fillings[2];
  guint begun = 0;
  gboolean ok = TRUE;

  if (rows->pinned)
    return move_pinned (rows, cudaMemcpyHostToDevice, stream, error);
  /* the next buffer is being filled while one is completed and its upload begins */
  for (guint i = 0; i < begun || (ok && i < pieces); i++) {
    Filling *filling = &fillings[i % 2];

    for (; ok && begun < MIN (pieces, i + 2); begun += ok)
      ok =
          begin_filling (stage, rows, begun, most, &fillings[begun % 2], error);
    if (i == begun)
      break;
    cvis_pool_prefer (stage->pool, LANE_FILL + i % 2);
    cvis_pool_wait (stage->pool, &filling->done);
    ok = ok
         && move_piece (rows, filling->first, filling->n, filling->piece,
             cudaMemcpyHostToDevice, stream, error);
  }
  return ok;
}

/* While one buffer is copied out, the next ones are downloaded. */
extern "C" gboolean
lwt_stage_down (
    LwtStage *stage, const LwtRows *rows, cudaStream_t stream, GError **error)
{
  const guint most = piece_rows (stage, rows, cudaMemcpyDeviceToHost);
  const guint pieces = (rows->n + most - 1) / most;
  guint asked = 0;

  if (rows->pinned)
    return move_pinned (rows, cudaMemcpyDeviceToHost, stream, error);
  for (guint done = 0; done < pieces; done++) {
    for (; asked < MIN (pieces, done + PIECES); asked++)
      if (!move_piece (rows, asked * most, MIN (most, rows->n - asked * most),
              &stage->pieces[asked % PIECES], cudaMemcpyDeviceToHost, stream,
              error))
        return FALSE;
    if (!empty_piece (stage, rows, done * most,
            MIN (most, rows->n - done * most), &stage->pieces[done % PIECES],
            error))
      return FALSE;
  }
  return TRUE;
}
