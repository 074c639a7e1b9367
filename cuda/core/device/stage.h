/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* CvisStage: the resources on a device of a function that computes one frame at a time: a
 * stream, memory for a frame that is uploaded, and sums that its kernels add to. On the
 * CPU there is no stage: such functions take %NULL.
 *
 *   sums = cvis_stage_begin (stage, 1, &error);      sums[0] is 0, on the device
 *   cvis_in_context (..., launch on cvis_stage_get_stream (stage) ...);
 *   results = cvis_stage_end (stage, &error);        waits; results[0] is the sum
 *
 * Sums are integers, which have no order of addition: the CPU gives the same bits. Used
 * by one thread at a time. Engines, which compute several frames at once, have streams
 * and memory of their own. */
#pragma once

#include <glib.h>

#include "cuda/core/device/device.h"

G_BEGIN_DECLS

#define CVIS_STAGE_MAX_SUMS 256

typedef struct _CvisStage CvisStage;

/* Returns: %NULL with CVIS_ERROR_MEMORY, _CUDA or _NO_DEVICE */
CvisStage *cvis_stage_new (CvisContext *context, GError **error);
/* @stage: (nullable) */
void cvis_stage_free (CvisStage *stage);
CvisContext *cvis_stage_get_context (CvisStage *stage);
/* A cudaStream_t. It follows work on the NULL stream, which frames in CUDA memory need. */
gpointer cvis_stage_get_stream (CvisStage *stage);

/* Copies @n pieces of host memory to the device, one after the other, each aligned to 256
 * bytes. They are read until cvis_stage_end().
 * @addresses: (out): where they are, until the next upload */
gboolean cvis_stage_upload (CvisStage *stage, guint n,
    const gconstpointer *pieces, const gsize *sizes, gpointer *addresses,
    GError **error);

/* @n_sums zeros on the device, at most #CVIS_STAGE_MAX_SUMS. */
guint64 *cvis_stage_begin (CvisStage *stage, guint n_sums, GError **error);
/* Waits for the stream. Returns: the sums in host memory, valid until the next
 * cvis_stage_begin(), or %NULL */
const guint64 *cvis_stage_end (CvisStage *stage, GError **error);

G_END_DECLS
