/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Low-pass filters of surfaces on the device: the Gaussian filter of order 0 and the
 * undecimated wavelet. Used by engine.cu. */
#pragma once

#include "cuda/lifting/cuda/transform.cuh"
#include "cuda/lifting/smooth.h"

struct CvisArena;

G_BEGIN_DECLS

/* A filter's tables in device memory, in the type of the arithmetic. */
typedef struct {
  gpointer near, middle, far, inverse, tap;
  guint n_near; /* padded with zeros to a multiple of LWT_SMOOTH_PERIOD */
} LwtSmoothTables;

/**
 * LwtDeviceSmoother: tables and memory of the filters of a plan
 * @own: [k] cut-off k differs from the one before
 * @column_blocks: wavelet: thread blocks that walk down columns at once
 * @smooth: [k] the low-pass for cut-off k, kept if it is subtracted from an earlier one
 * @between: wavelet: [k] the rows of that low-pass, [3] levels on the way
 * @weighted: wavelet with missing points: [0] the points' weights, and the low-pass that
 *   is to be divided by [1], that of the weights
 * @rows, @coarse, @middle, @tall: Gaussian: small pictures of the samples and of their
 *   weights
 */
typedef struct {
  const LwtPlan *plan;
  LwtSmoothLine lines[3][2];
  LwtSmoothTables tables[3][2];
  gboolean own[3];
  gint column_blocks;
  LwtPicture smooth[3];
  LwtPicture between[4], weighted[2];
  LwtPicture rows[2], coarse[2], middle[2], tall[2];
} LwtDeviceSmoother;

/* Computes the tables of @plan. */
void lwt_device_smoother_init (
    LwtDeviceSmoother *smoother, const LwtPlan *plan);
void lwt_device_smoother_clear (LwtDeviceSmoother *smoother);
/* Takes device memory from @arena. */
gboolean lwt_device_smoother_take (
    LwtDeviceSmoother *smoother, CvisArena *arena, GError **error);
/* Copies the tables to the device and sets column_blocks. Waits for @stream. */
gboolean lwt_device_smoother_fill (
    LwtDeviceSmoother *smoother, cudaStream_t stream, GError **error);
/* Computes the components of @task; its low and at_zero are not used.
 * @not_finite: (nullable): in device memory, set to 1 if a sample of the picture is not
 *   finite; without task->missing only */
gboolean lwt_device_smoother_run (LwtDeviceSmoother *smoother,
    const LwtPartsTask *task, guint32 *not_finite, cudaStream_t stream,
    GError **error);

G_END_DECLS
