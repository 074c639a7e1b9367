/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include "cuda/core/upload.cuh"

#include <string.h>

#include "cuda/core/cancel.h"

namespace {

const gsize PIECE = 2u << 20;  /* bytes; pinned memory takes 0.5 ms a MiB */
const gsize GRAIN = 32u << 10; /* bytes that a thread copies at a time */

struct Fill {
  guint8 *to;
  const guint8 *from;
  gsize size;
};

void
fill_piece (guint first, guint count, gpointer user_data)
{
  const Fill *fill = (const Fill *) user_data;
  const gsize begin = first * GRAIN;

  memcpy (fill->to + begin, fill->from + begin,
      MIN (count * GRAIN, fill->size - begin));
}

} // namespace

gboolean
cvis_upload_init (
    CvisUpload *upload, CvisArena *arena, guint threads, GError **error)
{
  for (guint i = 0; i < 2; i++)
    if (!cvis_arena_pin (arena, &upload->pieces[i], PIECE, "uploads", error)
        || !cvis_arena_event (arena, &upload->read[i], error))
      return FALSE;
  upload->pool = cvis_pool_new (threads);
  return TRUE;
}

gboolean
cvis_upload_copy (CvisUpload *upload, void *to, const void *from, gsize size,
    cudaStream_t stream, GError **error)
{
  if (upload->pool == NULL)
    return CVIS_CUDA (
        cudaMemcpyAsync (to, from, size, cudaMemcpyHostToDevice, stream),
        error);
  for (gsize at = 0; at < size; at += PIECE) {
    const guint turn = upload->next++ % 2;
    Fill fill = { upload->pieces[turn], (const guint8 *) from + at,
      MIN (PIECE, size - at) };

    if (!CVIS_CUDA (cudaEventSynchronize (upload->read[turn]), error))
      return FALSE;
    cvis_pool_run (upload->pool, (guint) ((fill.size + GRAIN - 1) / GRAIN), 1,
        fill_piece, &fill);
    /* the pool may have left out parts */
    if (cvis_cancelled ())
      return cvis_refuse_cancelled (error);
    if (!CVIS_CUDA (cudaMemcpyAsync ((guint8 *) to + at, fill.to, fill.size,
                        cudaMemcpyHostToDevice, stream),
            error)
        || !CVIS_CUDA (cudaEventRecord (upload->read[turn], stream), error))
      return FALSE;
  }
  return TRUE;
}

void
cvis_upload_clear (CvisUpload *upload)
{
  cvis_pool_free (upload->pool);
  upload->pool = NULL;
}
