/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Shared by the kernels of the melt-pool engine and its host code. */
#pragma once

#include <cuda_runtime.h>

#include "cuda/core/device/arena.cuh"
#include "cuda/meltpool/backend.h"
#include "cuda/meltpool/bits.h"
#include "cuda/meltpool/params.h"

/* A frame as the kernels read it. */
typedef struct {
  PbfFrameInfo info;
  guint64 position;    /* frames of the stream before it, including lost ones */
  const guint8 *frame; /* device or mapped memory, 4-byte aligned */
  guint32 stride;      /* bytes, a multiple of 4 */
  guint32 confidence;  /* CvisPbfResult.position_confidence */
} PbfDeviceFrame;

/* The network in device memory; see PbfModel. */
typedef struct {
  guint hidden_padded, outputs;
  const gfloat *mean, *inv_std, *w1t, *b1, *w2, *b2;
} PbfDeviceModel;

/* Copies the network to device memory of @arena. */
gboolean pbf_device_model_init (
    PbfDeviceModel *d, CvisArena *arena, const PbfModel *m, GError **error);

/* State of the window between two batches. */
typedef struct {
  guint32 n; /* rows that may still count, <= length - 1 */
  guint32 started;
  guint32 layer, vector_id; /* of the last row */
  guint64 position;
} PbfDeviceWindow;

/* Sets the window that the next batch of the idle batch backend @b
 * continues. @rows: in host memory, the oldest first. */
gboolean pbf_cuda_set_window (PbfBackend *b, const PbfDeviceWindow *window,
    const gint32 (*rows)[CVIS_PBF_N_SPATIAL], GError **error);

/* Scratch memory of a warp of the spatial kernel, for frames with many runs. */
typedef struct {
  guint32 parents[CVIS_PBF_ROI_SIDE * CVIS_PBF_ROI_SIDE / 2];
  unsigned long long components[CVIS_PBF_ROI_SIDE * CVIS_PBF_ROI_SIDE / 2];
} PbfDeviceScratch;

#define PBF_SPATIAL_WARPS 8 /* of a block */

#define PBF_RUNS_THREADS 256 /* of a block that labels by runs */

/* Sets the position of the frames with PBF_POSITION_BRIGHTEST; call it
 * before either of the next two. @scratch: @blocks times
 * pbf_frame_scratch_size() bytes. */
cudaError_t pbf_launch_brightest (const PbfParams *params,
    PbfDeviceFrame *frames, guint n, guint8 *scratch, guint blocks,
    cudaStream_t stream);

/* All fields of @results except those of the window and the network, for
 * ROIs of 40 x 40 pixels. entered[i] is 1 for frames that enter the window.
 * @pool_pixels (only for frame scope): index of the melt pool's first pixel
 * in each frame, or -1. The grid may have up to (warps of @scratch) /
 * PBF_SPATIAL_WARPS blocks. */
cudaError_t pbf_launch_spatial (const PbfParams *params,
    const PbfDeviceFrame *frames, guint n, CvisPbfResult *results,
    guint8 *entered, gint32 *pool_pixels, PbfDeviceScratch *scratch,
    guint blocks, cudaStream_t stream);

/* The same for ROIs of any size. @scratch: @blocks times
 * pbf_wide_scratch_size() bytes. */
gsize pbf_wide_scratch_size (const PbfParams *params);
cudaError_t pbf_launch_wide (const PbfParams *params,
    const PbfDeviceFrame *frames, guint n, CvisPbfResult *results,
    guint8 *entered, gint32 *pool_pixels, guint8 *scratch, guint blocks,
    cudaStream_t stream);

/* Spatters of whole frames, from the output of one of the two calls above.
 * @scratch: @blocks times pbf_frame_scratch_size() bytes. */
gsize pbf_frame_scratch_size (const PbfParams *params);
cudaError_t pbf_launch_frame_spatters (const PbfParams *params,
    const PbfDeviceFrame *frames, guint n, CvisPbfResult *results,
    const gint32 *pool_pixels, guint8 *scratch, guint blocks,
    cudaStream_t stream);

/* The window and the network. Lists the frames of a batch that enter
 * (@row_frames), finds the first row of each one's window (@starts;
 * negative: in the history), then computes the variances and the network's
 * outputs (@model %NULL: none). @before, @history: state after the previous
 * batch; @after, @remaining: receive the state after this one. */
cudaError_t pbf_launch_temporal (const PbfParams *params,
    const PbfDeviceModel *model, const PbfDeviceFrame *frames, guint n,
    CvisPbfResult *results, const guint8 *entered, gint32 *row_frames,
    gint32 *starts, const PbfDeviceWindow *before,
    const gint32 (*history)[CVIS_PBF_N_SPATIAL], PbfDeviceWindow *after,
    gint32 (*remaining)[CVIS_PBF_N_SPATIAL], cudaStream_t stream);
