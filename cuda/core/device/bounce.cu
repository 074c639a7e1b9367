/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/device/bounce.cuh"

#include "cuda/core/cancel.h"
#include "cuda/core/device/arena.cuh"
#include "cuda/core/memory.h"
#include "cuda/core/threadpool.h"

namespace {

const guint MAX_PIECES = 4;
const guint GRAINS = 32;      /* of a buffer, which a thread copies at a time */
const guint MAX_THREADS = 12; /* a thread copies 6 GB/s, the bus 55 */

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

struct CvisBounce {
  CvisArena arena;
  gsize size; /* bytes of a buffer */
  Piece pieces[MAX_PIECES];
  guint n, next;
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
copy_grain (const CvisBounce *bounce, const Copy *copy)
{
  return (guint) MAX (1, bounce->size / GRAINS / copy->bytes);
}

void
copy (CvisBounce *bounce, const Copy *copy, guint rows)
{
  cvis_pool_run (bounce->pool, rows, copy_grain (bounce, copy), copy_rows,
      (gpointer) copy);
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
piece_stride (const CvisRows *rows, cudaMemcpyKind kind)
{
  return kind == cudaMemcpyHostToDevice && rows->own
                 && rows->device_stride - rows->bytes < 256
             ? rows->device_stride
             : rows->bytes;
}

guint
piece_rows (const CvisBounce *bounce, const CvisRows *rows, cudaMemcpyKind kind)
{
  return (guint) MIN (bounce->size / piece_stride (rows, kind), rows->n);
}

gboolean
move_pinned (const CvisRows *rows, cudaMemcpyKind kind, cudaStream_t stream,
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
take_piece (CvisBounce *bounce, GError **error)
{
  Piece *piece = &bounce->pieces[bounce->next];

  if (!CVIS_CUDA (cudaEventSynchronize (piece->free), error))
    return NULL;
  bounce->next = (bounce->next + 1) % bounce->n;
  return piece;
}

/* Copies rows @first.. of @rows between the device and @piece. */
gboolean
move_piece (const CvisRows *rows, guint first, guint n, Piece *piece,
    cudaMemcpyKind kind, cudaStream_t stream, GError **error)
{
  const gsize stride = piece_stride (rows, kind);
  const CvisRows part = { piece->memory, stride,
    (guint8 *) rows->device + first * rows->device_stride, rows->device_stride,
    stride, n, TRUE, rows->own };

  return move_pinned (&part, kind, stream, error)
         && CVIS_CUDA (cudaEventRecord (piece->free, stream), error);
}

/* Begins to copy rows @nth * @most.. to the next buffer. */
gboolean
begin_filling (CvisBounce *bounce, const CvisRows *rows, guint nth, guint most,
    Filling *filling, GError **error)
{
  const guint first = nth * most;

  filling->piece = take_piece (bounce, error);
  if (filling->piece == NULL)
    return FALSE;
  filling->copy = { filling->piece->memory,
    (const guint8 *) rows->host + first * rows->host_stride,
    piece_stride (rows, cudaMemcpyHostToDevice), rows->host_stride,
    rows->bytes };
  filling->pool = bounce->pool;
  filling->first = first;
  filling->n = MIN (most, rows->n - first);
  filling->done = FALSE;
  cvis_pool_start (bounce->pool, LANE_FILL + nth % 2, filling->n,
      copy_grain (bounce, &filling->copy), fill_rows, end_filling, filling);
  return TRUE;
}

/* Copies rows from @piece, once downloaded, to host memory. */
gboolean
empty_piece (CvisBounce *bounce, const CvisRows *rows, guint first, guint n,
    Piece *piece, GError **error)
{
  const Copy down = { (guint8 *) rows->host + first * rows->host_stride,
    piece->memory, rows->host_stride,
    piece_stride (rows, cudaMemcpyDeviceToHost), rows->bytes };

  if (!CVIS_CUDA (cudaEventSynchronize (piece->free), error))
    return FALSE;
  copy (bounce, &down, n);
  return TRUE;
}

} // namespace

CvisBounce *
cvis_bounce_new (gsize size, guint n, guint threads, GError **error)
{
  CvisBounce *bounce = g_new0 (CvisBounce, 1);

  bounce->size = size;
  bounce->n = MIN (n, MAX_PIECES);
  bounce->pool = cvis_pool_new_with_lanes (
      MIN (MAX_THREADS, threads > 0 ? threads : g_get_num_processors ()),
      N_LANES);
  for (guint i = 0; i < bounce->n; i++)
    if (!cvis_arena_pin (&bounce->arena, &bounce->pieces[i].memory, size,
            "bounce buffers", error)
        || !cvis_arena_event (&bounce->arena, &bounce->pieces[i].free, error)) {
      cvis_bounce_free (bounce);
      return NULL;
    }
  return bounce;
}

void
cvis_bounce_free (CvisBounce *bounce)
{
  if (bounce == NULL)
    return;
  cvis_arena_clear (&bounce->arena);
  cvis_pool_free (bounce->pool);
  g_free (bounce);
}

gboolean
cvis_bounce_up (CvisBounce *bounce, const CvisRows *rows, cudaStream_t stream,
    GError **error)
{
  const guint most = piece_rows (bounce, rows, cudaMemcpyHostToDevice);
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
      ok = begin_filling (
          bounce, rows, begun, most, &fillings[begun % 2], error);
    if (i == begun)
      break;
    cvis_pool_prefer (bounce->pool, LANE_FILL + i % 2);
    cvis_pool_wait (bounce->pool, &filling->done);
    ok = ok
         && move_piece (rows, filling->first, filling->n, filling->piece,
             cudaMemcpyHostToDevice, stream, error);
  }
  /* the pool may have left out parts */
  return ok && (!cvis_cancelled () || cvis_refuse_cancelled (error));
}

/* While one buffer is copied out, the next ones are downloaded. */
gboolean
cvis_bounce_down (CvisBounce *bounce, const CvisRows *rows, cudaStream_t stream,
    GError **error)
{
  const guint most = piece_rows (bounce, rows, cudaMemcpyDeviceToHost);
  const guint pieces = (rows->n + most - 1) / most;
  guint asked = 0;

  if (rows->pinned)
    return move_pinned (rows, cudaMemcpyDeviceToHost, stream, error);
  for (guint done = 0; done < pieces; done++) {
    for (; asked < MIN (pieces, done + bounce->n); asked++)
      if (!move_piece (rows, asked * most, MIN (most, rows->n - asked * most),
              &bounce->pieces[asked % bounce->n], cudaMemcpyDeviceToHost,
              stream, error))
        return FALSE;
    if (!empty_piece (bounce, rows, done * most,
            MIN (most, rows->n - done * most),
            &bounce->pieces[done % bounce->n], error))
      return FALSE;
  }
  return TRUE;
}
