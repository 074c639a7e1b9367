/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* PbfWindow: carries the temporal window from batch to batch, in the order of the stream,
 * for engines whose batches are independent of each other (PbfConfig.independent). Only
 * the first frames of a batch, fewer than the window's length, have a window that reaches
 * into the batch before. Their variances and outputs are computed again, so that all
 * records have the bits of a single engine. */
#pragma once

#include "cuda/meltpool/engine.h"

G_BEGIN_DECLS

typedef struct _PbfWindow PbfWindow;

/* @config: with the threads to use. @model: (nullable): the network; referenced */
PbfWindow *pbf_window_new (const PbfConfig *config, PbfModel *model);
/* @window: (nullable) */
void pbf_window_free (PbfWindow *window);
/* Completes the results of the next batch of the stream. */
void pbf_window_apply (PbfWindow *window, PbfBatch *batch);
/* Forgets the frames so far, for a new stream. */
void pbf_window_reset (PbfWindow *window);

G_END_DECLS
