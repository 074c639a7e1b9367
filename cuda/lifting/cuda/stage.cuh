/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Copies rows between host and device memory: directly if they are
 * pinned, otherwise through a few pinned staging buffers used in
 * turn. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/core/device.h"

G_BEGIN_DECLS

/**
 * LwtRows: rows to copy
 * @host, @host_stride: in host memory
 * @device, @device_stride: in device memory
 * @bytes: of a row; strides are bytes, too
 * @pinned: the host memory is pinned
 * @own: the padding of the device's rows may be overwritten
 */
typedef struct {
  void *host;
  gsize host_stride;
  void *device;
  gsize device_stride;
  gsize bytes;
  guint n;
  gboolean pinned;
  gboolean own;
} LwtRows;

typedef struct _LwtStage LwtStage;

/* For rows of at most @bytes. Used by one thread at a time, in the context
 * in which it was made. */
LwtStage *lwt_stage_new (gsize bytes, GError **error);
/* No copy may be in flight. */
void lwt_stage_free (LwtStage *stage);

/* Uploads rows, ordered on @stream. Rows that are not pinned have been
 * read on return. */
gboolean lwt_stage_up (
    LwtStage *stage, const LwtRows *rows, cudaStream_t stream, GError **error);
/* Downloads rows. Pinned rows are ordered on @stream; for others the
 * call waits for @stream, and they have been written on return. */
gboolean lwt_stage_down (
    LwtStage *stage, const LwtRows *rows, cudaStream_t stream, GError **error);

G_END_DECLS
