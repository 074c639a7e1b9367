/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Copies of large arrays in pageable memory to a device, for the host code of CUDA
 * engines. Threads copy a piece into pinned memory while the device reads the piece
 * before; the driver by itself takes one thread. */
#pragma once

#include "cuda/core/arena.cuh"
#include "cuda/core/threadpool.h"

/**
 * CvisUpload: pinned memory for two pieces and the threads that fill it. Zero before the
 * first use. Used by one thread at a time, with the arena's context pushed.
 */
struct CvisUpload {
  CvisPool *pool;
  guint8 *pieces[2];
  cudaEvent_t read[2]; /* of each piece, by the device */
  guint next;
};

/* Takes memory and events from @arena, and starts threads. Worth its time, some 3 ms, from
 * about 64 MB; without it cvis_upload_copy() leaves the copy to the driver.
 * @threads: 0: one per processor */
gboolean cvis_upload_init (
    CvisUpload *upload, CvisArena *arena, guint threads, GError **error);
/* Copies @size bytes on @stream. @from may be freed or changed afterwards.
 * Returns: FALSE with CVIS_ERROR_CUDA, or CVIS_ERROR_CANCELLED, and the copy is incomplete */
gboolean cvis_upload_copy (CvisUpload *upload, void *to, const void *from,
    gsize size, cudaStream_t stream, GError **error);
/* Ends the threads; the arena frees the rest. */
void cvis_upload_clear (CvisUpload *upload);
