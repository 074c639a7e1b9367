/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The network, by one warp. */
#pragma once

#include "cuda/meltpool/cuda/engine.cuh"
#include "cuda/meltpool/cuda/warp.cuh"

#define PBF_NETWORK_ROWS 4 /* rows at a time; each weight is read once */

/* The network for up to PBF_NETWORK_ROWS rows; the sums have the order of
 * network() in cuda/meltpool/cpu/kernels.c. */
static __device__ void
pbf_run_network (const PbfParams &p, const PbfDeviceModel &model,
    CvisPbfResult *results, const gint32 *row_frames, gint32 first, gint32 rows,
    gfloat (*x)[PBF_NETWORK_ROWS])
{
  guint lane = pbf_lane (), padded = model.hidden_padded;
  gfloat sums[CVIS_PBF_MAX_OUTPUTS][PBF_NETWORK_ROWS];

  for (guint i = lane; i < CVIS_PBF_N_FEATURES; i += 32)
    for (guint q = 0; q < PBF_NETWORK_ROWS; q++)
      x[i][q] = (x[i][q] - model.mean[i]) * model.inv_std[i];
  __syncwarp ();
#pragma unroll
  for (guint k = 0; k < CVIS_PBF_MAX_OUTPUTS; k++)
#pragma unroll
    for (guint q = 0; q < PBF_NETWORK_ROWS; q++)
      sums[k][q] = 0.0f;

  for (guint j = lane; j < padded; j += 32) {
    gfloat bias = model.b1[j], h[PBF_NETWORK_ROWS] = { bias, bias, bias, bias };

#pragma unroll 8
    for (guint i = 0; i < CVIS_PBF_N_FEATURES; i++) {
      gfloat w = __ldg (&model.w1t[i * padded + j]);
      float4 xi = *(const float4 *) x[i];

      h[0] = fmaf (w, xi.x, h[0]);
      h[1] = fmaf (w, xi.y, h[1]);
      h[2] = fmaf (w, xi.z, h[2]);
      h[3] = fmaf (w, xi.w, h[3]);
    }
#pragma unroll
    for (guint k = 0; k < CVIS_PBF_MAX_OUTPUTS; k++) {
      if (k >= model.outputs)
        break;
      gfloat w = __ldg (&model.w2[k * padded + j]);
#pragma unroll
      for (guint q = 0; q < PBF_NETWORK_ROWS; q++)
        sums[k][q] = fmaf (w, h[q] > 0.0f ? h[q] : 0.0f, sums[k][q]);
    }
  }
#pragma unroll
  for (guint k = 0; k < CVIS_PBF_MAX_OUTPUTS; k++) {
    if (k >= model.outputs)
      break;
#pragma unroll
    for (guint q = 0; q < PBF_NETWORK_ROWS; q++) {
      for (int half = 16; half > 0; half /= 2)
        sums[k][q] =
            sums[k][q] + __shfl_down_sync (PBF_ALL_LANES, sums[k][q], half);
      sums[k][q] = model.b2[k] + sums[k][q];
    }
  }
  if (lane == 0) {
#pragma unroll
    for (guint q = 0; q < PBF_NETWORK_ROWS; q++) {
      gfloat out[CVIS_PBF_MAX_OUTPUTS];

      if ((gint32) q >= rows)
        break;
      CvisPbfResult *result = &results[row_frames[first + q]];
#pragma unroll
      for (guint k = 0; k < CVIS_PBF_MAX_OUTPUTS; k++)
        out[k] = k < model.outputs ? sums[k][q] : 0.0f;
      pbf_activate (out, model.outputs, p.activation);
      for (guint k = 0; k < model.outputs; k++)
        result->outputs[k] = out[k];
      result->n_outputs = model.outputs;
    }
  }
}
