/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The window and the network.
 *
 * rows_kernel (one block) lists the frames that enter the window and finds
 * the start of each one's window by two prefix scans. window_kernel gives
 * each warp four consecutive rows: lane f slides the exact sums of feature f
 * over them, so that a row costs about two reads instead of the window's
 * length, and the network reads each weight once for four rows. */
#include "cuda/meltpool/cuda/network.cuh"

#define SCAN_THREADS 1024
#define ROWS PBF_NETWORK_ROWS /* consecutive rows of a warp */
#define WARPS 8               /* of a block of window_kernel */

namespace {

/* Largest value among the threads before each thread. */
__device__ gint32
block_max_before (gint32 v, gint32 first)
{
  __shared__ gint32 of_warp[SCAN_THREADS / 32];
  gint32 top = v, before;
  guint warp = threadIdx.x / 32;

  for (int d = 1; d < 32; d *= 2) {
    gint32 other = __shfl_up_sync (PBF_ALL_LANES, top, d);
    if (pbf_lane () >= (guint) d)
      top = max (top, other);
  }
  before = __shfl_up_sync (PBF_ALL_LANES, top, 1);
  if (pbf_lane () == 0)
    before = first;
  __syncthreads ();
  if (pbf_lane () == 31)
    of_warp[warp] = top;
  __syncthreads ();
  for (guint w = 0; w < warp; w++)
    before = max (before, of_warp[w]);
  return max (before, first);
}

__device__ guint32
block_sum_before (guint32 v, guint32 *total)
{
  __shared__ guint32 of_warp[SCAN_THREADS / 32];
  guint32 before = pbf_warp_sum_before (v), warp = threadIdx.x / 32;

  if (pbf_lane () == 31)
    of_warp[warp] = before + v;
  __syncthreads ();
  *total = 0;
  for (guint w = 0; w < SCAN_THREADS / 32; w++) {
    if (w < warp)
      before += of_warp[w];
    *total += of_warp[w];
  }
  return before;
}

__device__ void
describe_row (const PbfDeviceFrame &f, PbfRow *row)
{
  row->layer = f.info.layer;
  row->vector_id = f.info.vector_id;
  row->position = f.position;
}

/* Whether the window restarts at row @r of the batch. */
__device__ bool
restarts (const PbfParams &p, const PbfDeviceFrame *frames,
    const gint32 *row_frames, gint32 r, const PbfDeviceWindow *before)
{
  PbfRow last, row;

  describe_row (frames[row_frames[r]], &row);
  if (r > 0) {
    describe_row (frames[row_frames[r - 1]], &last);
  } else {
    if (!before->started)
      return false;
    last.layer = before->layer;
    last.vector_id = before->vector_id;
    last.position = before->position;
  }
  return pbf_window_restarts (&p, &last, &row);
}

__global__ void
__launch_bounds__ (SCAN_THREADS)
    rows_kernel (const PbfParams p, const PbfDeviceFrame *frames, guint n,
        CvisPbfResult *results, const guint8 *entered, gint32 *row_frames,
        gint32 *starts, const PbfDeviceWindow *before, PbfDeviceWindow *after)
{
  guint each = (n + SCAN_THREADS - 1) / SCAN_THREADS;
  guint first = min (threadIdx.x * each, n), end = min (first + each, n);
  guint32 mine = 0, rows, row;
  gint32 last_start, history = (gint32) before->n;

  for (guint i = first; i < end; i++)
    mine += entered[i];
  row = block_sum_before (mine, &rows);
  for (guint i = first; i < end; i++)
    if (entered[i])
      row_frames[row++] = i;
  __syncthreads ();

  /* each thread handles consecutive rows: the last start among them */
  each = (rows + SCAN_THREADS - 1) / SCAN_THREADS;
  first = min (threadIdx.x * each, rows);
  end = min (first + each, rows);
  last_start = -history;
  for (guint r = first; r < end; r++) {
    starts[r] = restarts (p, frames, row_frames, r, before);
    if (starts[r]) {
      last_start = r;
      results[row_frames[r]].flags |= CVIS_PBF_RESULT_WINDOW_RESET;
    }
  }
  last_start = block_max_before (last_start, -history);
  for (guint r = first; r < end; r++) {
    if (starts[r])
      last_start = r;
    starts[r] = max (last_start, (gint32) r - p.window + 1);
  }
  __syncthreads ();

  if (threadIdx.x == 0) {
    *after = *before;
    if (rows > 0) {
      const PbfDeviceFrame &f = frames[row_frames[rows - 1]];

      after->started = 1;
      after->layer = f.info.layer;
      after->vector_id = f.info.vector_id;
      after->position = f.position;
      after->n = min ((gint32) rows - starts[rows - 1], p.window - 1);
    }
    /* window_kernel reads the number of rows after the last start */
    starts[n] = rows;
  }
}

/* Feature @f of row @r of the batch; r < 0: of the history. */
__device__ __forceinline__ gint32
raw_of (const CvisPbfResult *results, const gint32 *row_frames,
    const gint32 (*history)[CVIS_PBF_N_SPATIAL], gint32 history_n, gint32 r,
    guint f)
{
  return r >= 0 ? results[row_frames[r]].raw[f] : history[history_n + r][f];
}

/* Keeps the rows that the windows of the next batch include. */
__device__ void
keep_history (const CvisPbfResult *results, const gint32 *row_frames,
    const gint32 (*history)[CVIS_PBF_N_SPATIAL], gint32 history_n, gint32 rows,
    gint32 keep, gint32 (*remaining)[CVIS_PBF_N_SPATIAL])
{
  for (gint32 i = threadIdx.x; i < keep * CVIS_PBF_N_SPATIAL; i += blockDim.x)
    remaining[i / CVIS_PBF_N_SPATIAL][i % CVIS_PBF_N_SPATIAL] =
        raw_of (results, row_frames, history, history_n,
            rows - keep + i / CVIS_PBF_N_SPATIAL, i % CVIS_PBF_N_SPATIAL);
}

/* Variances of rows first..end-1; lane f has feature f. Writes the 40
 * features of the rows to @x, a row in each component. */
__device__ void
slide (const PbfParams &p, CvisPbfResult *results, const gint32 *row_frames,
    const gint32 *starts, const gint32 (*history)[CVIS_PBF_N_SPATIAL],
    gint32 history_n, gint32 first, gint32 end, gfloat (*x)[ROWS])
{
  guint f = pbf_lane ();
  gint32 low = starts[first];
  gint64 s1 = 0, s2 = 0;
  gdouble scale = pbf_scale (f);

  if (f < CVIS_PBF_N_SPATIAL) {
    for (gint32 r = low; r < first; r++) {
      gint64 v = raw_of (results, row_frames, history, history_n, r, f);
      s1 += v;
      s2 += v * v;
    }
    for (gint32 r = first; r < end; r++) {
      CvisPbfResult *result = &results[row_frames[r]];
      gint64 v = result->raw[f], n = r - starts[r] + 1;

      s1 += v;
      s2 += v * v;
      for (; low < starts[r]; low++) {
        gint64 u = raw_of (results, row_frames, history, history_n, low, f);
        s1 -= u;
        s2 -= u * u;
      }
      gint64 numerator = n * s2 - s1 * s1;
      gfloat variance = pbf_variance (numerator, n, scale);

      result->var_num[f] = numerator;
      result->features[CVIS_PBF_N_SPATIAL + f] = variance;
      x[f][r - first] = result->features[f];
      x[CVIS_PBF_N_SPATIAL + f][r - first] = variance;
      if (f == 0) {
        result->window_n = (guint32) n;
        if (n < p.window)
          result->flags |= CVIS_PBF_RESULT_WARMUP;
      }
    }
  }
  __syncwarp ();
}

__global__ void __launch_bounds__ (32 * WARPS) window_kernel (const PbfParams p,
    const PbfDeviceModel model, CvisPbfResult *results,
    const gint32 *row_frames, const gint32 *starts, guint n,
    const PbfDeviceWindow *before, const gint32 (*history)[CVIS_PBF_N_SPATIAL],
    const PbfDeviceWindow *after, gint32 (*remaining)[CVIS_PBF_N_SPATIAL])
{
  __shared__ alignas (16) gfloat x[WARPS][CVIS_PBF_N_FEATURES][ROWS];
  gint32 rows = starts[n], history_n = (gint32) before->n;
  guint warp = threadIdx.x / 32;
  gint32 first = (blockIdx.x * WARPS + warp) * ROWS;

  if (blockIdx.x == gridDim.x - 1) { /* one block more than the rows need */
    keep_history (results, row_frames, history, history_n, rows,
        (gint32) after->n, remaining);
    return;
  }
  if (first >= rows)
    return;
  for (guint i = pbf_lane (); i < CVIS_PBF_N_FEATURES * ROWS; i += 32)
    ((gfloat *) x[warp])[i] = 0.0f;
  __syncwarp ();
  slide (p, results, row_frames, starts, history, history_n, first,
      min (first + ROWS, rows), x[warp]);
  if (model.outputs > 0)
    pbf_run_network (p, model, results, row_frames, first,
        min (rows - first, ROWS), x[warp]);
}

} // namespace

cudaError_t
pbf_launch_temporal (const PbfParams *params, const PbfDeviceModel *model,
    const PbfDeviceFrame *frames, guint n, CvisPbfResult *results,
    const guint8 *entered, gint32 *row_frames, gint32 *starts,
    const PbfDeviceWindow *before, const gint32 (*history)[CVIS_PBF_N_SPATIAL],
    PbfDeviceWindow *after, gint32 (*remaining)[CVIS_PBF_N_SPATIAL],
    cudaStream_t stream)
{
  PbfDeviceModel none = { 0, 0, NULL, NULL, NULL, NULL, NULL, NULL };
  guint blocks = (n + WARPS * ROWS - 1) / (WARPS * ROWS);
  cudaError_t code;

  rows_kernel<<<1, SCAN_THREADS, 0, stream>>> (
      *params, frames, n, results, entered, row_frames, starts, before, after);
  code = cudaGetLastError ();
  if (code != cudaSuccess)
    return code;
  window_kernel<<<blocks + 1, 32 * WARPS, 0, stream>>> (*params,
      model ? *model : none, results, row_frames, starts, n, before, history,
      after, remaining);
  return cudaGetLastError ();
}
