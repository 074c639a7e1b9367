/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Surfaces larger than the device's memory (out-of-core), computed in row
 * blocks (cuda/lifting/rowblocks.h) with the same bits. The host does
 * everything except the transforms: the F-operation, missing points,
 * padding, parameters. */
#pragma once

#include "cuda/lifting/cuda/picture.cuh"
#include "cuda/core/device/bounce.cuh"

G_BEGIN_DECLS

/* The engine's streams and staging buffers */
typedef struct {
  cudaStream_t up, work, down;
  CvisBounce *in, *out;
} LwtStreams;

typedef struct _LwtOutOfCore LwtOutOfCore;

/* @whole: bytes that the surface needs in one piece; @limit: bytes that may
 *   be used. Returns: %NULL with CVIS_ERROR_MEMORY if not even row blocks
 *   fit, or CVIS_ERROR_INVALID if row blocks cannot give the same bits */
LwtOutOfCore *lwt_out_of_core_new (const LwtPlan *plan, CvisContext *context,
    const LwtStreams *streams, gsize whole, gsize limit, GError **error);
void lwt_out_of_core_free (LwtOutOfCore *out_of_core);

/* Runs @job to completion. */
gboolean lwt_out_of_core_run (
    LwtOutOfCore *out_of_core, LwtJob *job, GError **error);

G_END_DECLS
