/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Surfaces larger than the device's memory (out-of-core), in row blocks
 * (cuda/lifting/rowblocks.h), to the same bits. All else - the F-operation, missing points,
 * padding, parameters - is done on the host, where the surface is. */
#pragma once

#include "cuda/lifting/cuda/picture.cuh"
#include "cuda/lifting/cuda/stage.cuh"

G_BEGIN_DECLS

/* The engine's streams, and ways between host and device */
typedef struct {
  cudaStream_t up, work, down;
  LwtStage *in, *out;
} LwtStreams;

typedef struct _LwtOutOfCore LwtOutOfCore;

/* @whole: bytes that the surface in one piece needs; @limit: those that may be
 * used. %NULL with CVIS_ERROR_MEMORY if not even row blocks fit, CVIS_ERROR_INVALID
 * if there are none to the same bits. */
LwtOutOfCore *lwt_out_of_core_new (const LwtPlan *plan, CvisContext *context,
    const LwtStreams *streams, gsize whole, gsize limit, GError **error);
void lwt_out_of_core_free (LwtOutOfCore *out_of_core);

/* Does @job from beginning to end. */
gboolean lwt_out_of_core_run (
    LwtOutOfCore *out_of_core, LwtJob *job, GError **error);

G_END_DECLS
