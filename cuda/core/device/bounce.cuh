/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Copies between host and device memory: directly if the host's is pinned, otherwise through
 * bounce buffers, pinned ones that threads fill or empty while the device reads or writes
 * others. The driver by itself takes one thread. */
#pragma once

#include "cuda/core/device/cuda.cuh"

/**
 * CvisRows: rows to copy; an array is rows of an element
 * @host, @host_stride: in host memory
 * @device, @device_stride: in device memory
 * @bytes: of a row; strides are bytes, too; @n: at least one
 * @pinned: the host memory is pinned
 * @own: the padding of the device's rows may be overwritten
 */
struct CvisRows {
  void *host;
  gsize host_stride;
  void *device;
  gsize device_stride;
  gsize bytes;
  guint n;
  gboolean pinned;
  gboolean own;
};

struct CvisBounce;

/* @n buffers (2 to 4) of @size bytes, no less than a row's. Pinned memory takes 0.5 ms a MiB.
 * @threads: at most 12; 0: one per processor. Used by one thread at a time, in the context in
 * which it was made. */
CvisBounce *cvis_bounce_new (
    gsize size, guint n, guint threads, GError **error);
/* @bounce: (nullable). No copy may be in flight. */
void cvis_bounce_free (CvisBounce *bounce);

/* Uploads rows, ordered on @stream. Rows that are not pinned have been read on return.
 * Returns: FALSE with CVIS_ERROR_CUDA or CVIS_ERROR_CANCELLED */
gboolean cvis_bounce_up (CvisBounce *bounce, const CvisRows *rows,
    cudaStream_t stream, GError **error);
/* Downloads rows. Pinned rows are ordered on @stream; for others the
 * call waits for @stream, and they have been written on return. */
gboolean cvis_bounce_down (CvisBounce *bounce, const CvisRows *rows,
    cudaStream_t stream, GError **error);
