/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rows between the host's memory and the device's: in place where they are pinned,
 * else by way of a few pinned pieces that take turns. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/core/device.h"

G_BEGIN_DECLS

/**
 * LwtRows: rows on their way
 * @host, @host_stride: in the host's memory
 * @device, @device_stride: in the device's
 * @bytes: of a row
 * @pinned: the host's memory is
 * @own: what pads the device's rows may be written
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

/* For rows of at most @bytes. Used by one thread at a time, in the context it
 * was made in. */
LwtStage *lwt_stage_new (gsize bytes, GError **error);
/* Nothing may be under way. */
void lwt_stage_free (LwtStage *stage);

/* Rows that are not pinned have been read on return; the copy is ordered on
 * @stream. */
gboolean lwt_stage_up (
    LwtStage *stage, const LwtRows *rows, cudaStream_t stream, GError **error);
/* Rows that are not pinned have been written on return, which waits for
 * @stream; pinned ones are ordered on it. */
gboolean lwt_stage_down (
    LwtStage *stage, const LwtRows *rows, cudaStream_t stream, GError **error);

G_END_DECLS
