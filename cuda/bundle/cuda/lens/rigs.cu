/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Rigs: steps of the cameras from those of frames and sensors, their sums for both, and
 * the blocks of lenses that share frames. Called by normal.cu and pcg.cu.
 *
 * With A of device.cuh the columns of a camera's frame are those of the camera times A, and
 * those of its sensor are the camera's, or 0 if the sensor is constant. */
#include "cuda/bundle/cuda/lens/device.cuh"

namespace {

const int RIG_THREADS = 128;
const int RIG_WARPS = RIG_THREADS / 32;
const int GROUP_THREADS = 512;
const int GROUP_WARPS = GROUP_THREADS / 32;
const int PLACED_ROW =
    LENS_POSE + LENS_PLACED; /* columns of a camera's unknowns */

/* --- steps --------------------------------------------------------------------------- */

/* One thread a lens */
__global__ void
make_sensor_steps (BundleLensDevice d)
{
  const guint32 lens = blockIdx.x * blockDim.x + threadIdx.x;
  BundleConstants sensor;

  if (lens >= d.n_lenses)
    return;
  bundle_constants (&d.sensors[9 * (gsize) lens], &sensor);
  bundle_sensor_step (&sensor, &d.steps[36 * (gsize) lens]);
}

/* One thread a camera */
__global__ void
place_cameras (BundleLensDevice d, const double *poses, const double *sensors,
    BundleConstants *constants)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;
  BundleConstants rig, sensor;

  if (c >= d.n_cameras)
    return;
  bundle_constants (&poses[9 * (gsize) d.pose_of[c]], &rig);
  bundle_constants (&sensors[9 * (gsize) d.lens_of[c]], &sensor);
  bundle_place_sensor (&sensor, &rig, &constants[c]);
}

__device__ __forceinline__ gboolean
has_sensor (const BundleLensDevice &d, guint32 lens)
{
  return !(d.info[lens].constant >> BUNDLE_LENS_SIZE & 1);
}

/* One thread an element of the cameras' steps */
__global__ void
__launch_bounds__ (RIG_THREADS)
    expand_vector (BundleLensDevice d, const double *x, gboolean unless_done)
{
  const gsize i = blockIdx.x * (gsize) blockDim.x + threadIdx.x;
  const gsize n = LENS_POSE * (gsize) d.n_cameras;

  if ((unless_done && d.pcg->done)
      || i >= n + BUNDLE_LENS_SIZE * (gsize) d.n_lenses)
    return;
  if (i >= n) {
    const guint32 lens = (guint32) ((i - n) / BUNDLE_LENS_SIZE);

    d.expanded[i] = x[bundle_lens_first<LENS_PLACED> (d, lens)
                      + (i - n) % BUNDLE_LENS_SIZE];
    return;
  }
  const guint32 c = (guint32) (i / LENS_POSE), row = i % LENS_POSE;
  const guint32 lens = d.lens_of[c];
  const double *by = &d.steps[36 * (gsize) lens + LENS_POSE * row];
  const double *frame = &x[LENS_POSE * (gsize) d.pose_of[c]];
  double sum = x[bundle_lens_first<LENS_PLACED> (d, lens) + BUNDLE_LENS_SIZE
                 + row]; /* 0 if the sensor is constant */

#pragma unroll
  for (int k = 0; k < LENS_POSE; k++)
    sum += by[k] * frame[k];
  d.expanded[i] = sum;
}

/* --- sums of cameras ------------------------------------------------------------------ */

/* Lane i < 6: element i of A^T y; @y: that of the camera */
__device__ __forceinline__ double
fold_step (const BundleLensDevice &d, guint32 lens, double y)
{
  const double *by = &d.steps[36 * (gsize) lens + threadIdx.x % 32 % LENS_POSE];
  double sum = 0;

#pragma unroll
  for (int k = 0; k < LENS_POSE; k++)
    sum += by[LENS_POSE * k] * __shfl_sync (0xffffffffu, y, k);
  return sum;
}

/* A row's columns from sums of the segments @from: frame, lens, sensor. @at: where the
 * lens's begin in both. One warp */
__device__ __forceinline__ void
put_row (const BundleLensDevice &d, guint32 c, double frame, double pose,
    const double *from, gsize stride, int at, double *to, int to_lens)
{
  const guint32 lens = d.lens_of[c], lane = threadIdx.x % 32;
  const double sum = bundle_lens_add_rows (from + at, stride, BUNDLE_LENS_SIZE,
      NULL, d.camera_segments[c], d.camera_segments[c + 1], 0, 1);

  if (lane < LENS_POSE) {
    to[lane] = frame;
    to[to_lens + BUNDLE_LENS_SIZE + lane] = has_sensor (d, lens) ? pose : 0;
  }
  if (lane < BUNDLE_LENS_SIZE)
    to[to_lens + lane] = sum;
}

/* Gradients and squares, those of the frames' columns without the squares. One warp a
 * camera. */
__global__ void
__launch_bounds__ (RIG_THREADS) fold_linear (BundleLensDevice d)
{
  const guint32 c = blockIdx.x * RIG_WARPS + threadIdx.x / 32;
  const guint32 lane = threadIdx.x % 32, e = lane % LENS_POSE;

  if (c >= d.n_cameras)
    return;
  double *to = d.rows + 2 * PLACED_ROW * (gsize) c;
  double sum = bundle_lens_add_rows (d.partial, LENS_LINEAR, 2 * LENS_POSE,
      NULL, d.camera_segments[c], d.camera_segments[c + 1], 0, 1);

  if (d.priors && e >= 3)
    sum += lane < LENS_POSE ? d.prior_of[c].gradient[e - 3]
                            : d.prior_of[c].block[4 * (e - 3)];

  const double square = __shfl_sync (0xffffffffu, sum, LENS_POSE + e);

  put_row (d, c, fold_step (d, d.lens_of[c], sum), sum, d.partial, LENS_LINEAR,
      2 * LENS_POSE, to, 2 * LENS_POSE);
  put_row (d, c, 0, square, d.partial, LENS_LINEAR, LENS_POSE + LENS_UNKNOWNS,
      to + LENS_POSE, LENS_POSE + LENS_PLACED);
}

/* Products, and those of the priors. One warp a camera. */
__global__ void
__launch_bounds__ (RIG_THREADS)
    fold_products (BundleLensDevice d, gboolean start)
{
  const guint32 c = blockIdx.x * RIG_WARPS + threadIdx.x / 32;
  const guint32 lane = threadIdx.x % 32;

  if (d.pcg->done || c >= d.n_cameras)
    return;
  double sum = bundle_lens_add_rows (d.partial, LENS_UNKNOWNS, LENS_POSE, NULL,
      d.camera_segments[c], d.camera_segments[c + 1], 0, 1);

  if (d.priors && !start && lane >= 3 && lane < LENS_POSE)
    for (int k = 0; k < 3; k++)
      sum -= d.prior_of[c].block[3 * (lane - 3) + k]
             * d.expanded[LENS_POSE * (gsize) c + 3 + k];
  put_row (d, c, fold_step (d, d.lens_of[c], sum), sum, d.partial,
      LENS_UNKNOWNS, LENS_POSE, d.rows + PLACED_ROW * (gsize) c, LENS_POSE);
}

/* Column @i of a row is element @k of the camera's pose times this, or one of the lens. */
__device__ __forceinline__ double
get_pose_factor (const BundleLensDevice &d, guint32 lens, int k, int i)
{
  if (i < LENS_POSE)
    return d.steps[36 * (gsize) lens + LENS_POSE * k + i];
  return i == LENS_UNKNOWNS + k && has_sensor (d, lens);
}

/* Triangles of pose and lens to those of frame, lens and sensor. The squares of the frames'
 * columns are also written to rows, for a linearisation. One warp a camera. */
__global__ void
__launch_bounds__ (RIG_THREADS) fold_triangles (BundleLensDevice d)
{
  /* half of the product: unknowns of camera and lens times columns */
  __shared__ double halves[RIG_WARPS][LENS_UNKNOWNS * PLACED_ROW];
  const guint32 c = blockIdx.x * RIG_WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  double *half = halves[threadIdx.x / 32];

  if (c >= d.n_cameras)
    return;
  const guint32 lens = d.lens_of[c];
  const int size = LENS_POSE + d.info[lens].size;
  const double *from = &d.triangles[LENS_TRIANGLE * (gsize) c];
  double *to = &d.folded[LENS_PACKED (PLACED_ROW) * (gsize) c];

  for (int e = lane; e < LENS_UNKNOWNS * PLACED_ROW; e += 32) {
    const int row = e / PLACED_ROW, i = e % PLACED_ROW;
    double sum = 0;

    if (row < size && i >= LENS_POSE && i < LENS_UNKNOWNS)
      sum = i < size ? from[bundle_lens_packed (LENS_UNKNOWNS, row, i)] : 0;
    else if (row < size)
      for (int k = 0; k < LENS_POSE; k++)
        sum += from[bundle_lens_packed (LENS_UNKNOWNS, row, k)]
               * get_pose_factor (d, lens, k, i);
    half[e] = sum;
  }
  __syncwarp ();
  for (int i = 0; i < PLACED_ROW; i++)
    for (int j = i + lane; j < PLACED_ROW; j += 32) {
      double sum = 0;

      if (i >= LENS_POSE && i < LENS_UNKNOWNS)
        sum = half[PLACED_ROW * i + j];
      else
        for (int k = 0; k < LENS_POSE; k++)
          sum += get_pose_factor (d, lens, k, i) * half[PLACED_ROW * k + j];
      to[bundle_lens_packed (PLACED_ROW, i, j)] = sum;
      if (i == j && i < LENS_POSE)
        d.rows[2 * PLACED_ROW * (gsize) c + LENS_POSE + i] = fmax (sum, 0.);
    }
}

/* --- preconditioner ----------------------------------------------------------------------- */

/* Sums of W^T B^-1 W of a chunk of pairs. One block a chunk. */
__global__ void
__launch_bounds__ (RIG_THREADS) sum_pairs (BundleLensDevice d)
{
  const LensChunk chunk = d.pair_chunks[blockIdx.x];
  const int size = LENS_PLACED * LENS_PLACED;

  for (int e = threadIdx.x; e < size; e += RIG_THREADS) {
    const int row = e / LENS_PLACED, column = e % LENS_PLACED;
    double sum = 0;

    for (guint32 i = chunk.begin; i < chunk.end; i++) {
      const uint2 pair = d.pairs[i];
      const double *w = d.couplings + LENS_POSE * LENS_PLACED * (gsize) pair.x;
      const double *solved =
          d.solved + LENS_POSE * LENS_PLACED * (gsize) pair.y;

#pragma unroll
      for (int k = 0; k < LENS_POSE; k++)
        sum += w[LENS_PLACED * k + row] * solved[LENS_PLACED * k + column];
    }
    d.pair_sums[size * (gsize) blockIdx.x + e] = sum;
  }
}

/* The blocks of T below and on its diagonal, column by column. One block of threads for
 * two lenses. */
__global__ void
__launch_bounds__ (RIG_THREADS) make_groups (BundleLensDevice d)
{
  const LensBlock block = d.blocks_of[blockIdx.x];
  const LensGroup group = d.groups[block.group];
  const gsize n = LENS_PLACED * (gsize) group.n;
  const int size = LENS_PLACED * LENS_PLACED, part = LENS_PACKED (LENS_PLACED);
  double *to = d.lens_inverse + group.inverse;

  for (int e = threadIdx.x; e < size; e += RIG_THREADS) {
    const int row = e / LENS_PLACED, column = e % LENS_PLACED;
    double sum = 0;

    if (block.row == block.column) {
      const double *from =
          d.chunk_sums + bundle_lens_packed (LENS_PLACED, row, column);

      for (guint32 i = d.cameras_of.of_lens[block.row];
           i < d.cameras_of.of_lens[block.row + 1]; i++)
        sum += from[part * (gsize) i];
      if (row == column)
        sum += d.damping[bundle_lens_first<LENS_PLACED> (d, block.row) + row];
    }
    for (guint32 i = block.begin; i < block.end; i++)
      sum -= d.pair_sums[size * (gsize) i + e];
    to[n * (LENS_PLACED * (block.column - group.first) + column)
        + LENS_PLACED * (block.row - group.first) + row] = sum;
  }
}

/* T^-1, as bundle_invert() computes it. Element i, j of L is at n j + i of T, that of its
 * inverse at n i + j of the scratch memory. One block a group. */
__global__ void
__launch_bounds__ (GROUP_THREADS) invert_groups (BundleLensDevice d)
{
  const LensGroup group = d.groups[blockIdx.x];
  const gsize n = LENS_PLACED * (gsize) group.n, thread = threadIdx.x;
  const gsize warp = thread / 32, lane = thread % 32;
  double *a = d.lens_inverse + group.inverse;
  double *l = d.scratch + group.inverse;

  for (gsize i = thread; i < n; i += GROUP_THREADS)
    l[i] = a[n * i + i]; /* the diagonal before the elimination */
  __syncthreads ();
  for (gsize j = 0; j < n; j++) {
    const double left = a[n * j + j];
    const double pivot = left > BUNDLE_PIVOT * l[j] ? left : 0;

    for (gsize i = j + 1 + thread; i < n; i += GROUP_THREADS)
      a[n * j + i] = pivot > 0 ? a[n * j + i] / pivot : 0;
    __syncthreads ();
    if (thread == 0)
      a[n * j + j] = pivot;
    for (gsize k = j + 1 + warp; k < n; k += GROUP_WARPS)
      for (gsize i = k + lane; i < n; i += 32)
        a[n * k + i] -= a[n * j + i] * a[n * j + k] * pivot;
    __syncthreads ();
  }
  for (gsize i = thread; i < n * n; i += GROUP_THREADS)
    l[i] = i / n == i % n;
  __syncthreads ();
  for (gsize k = 0; k < n; k++) {
    for (gsize i = k + 1 + warp; i < n; i += GROUP_WARPS)
      for (gsize j = lane; j <= k; j += 32)
        l[n * i + j] -= a[n * k + i] * l[n * k + j];
    __syncthreads ();
  }
  for (gsize i = thread; i < n; i += GROUP_THREADS)
    l[n * i + i] = a[n * i + i] > 0 ? 1 / a[n * i + i] : 0;
  __syncthreads ();
  for (gsize i = warp; i < n; i += GROUP_WARPS)
    for (gsize j = i + lane; j < n; j += 32) {
      double sum = (i == j ? 1 : l[n * j + i]) * l[n * j + j];

      for (gsize k = j + 1; k < n; k++)
        sum += l[n * k + i] * l[n * k + j] * l[n * k + k];
      a[n * i + j] = a[n * j + i] = sum;
    }
}

/* u = T^-1 (r - sum of W^T u) of the lenses of a group, and its dot; a warp a row. One block
 * a group. */
__global__ void
__launch_bounds__ (GROUP_THREADS) precondition_groups (BundleLensDevice d)
{
  const gsize warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  double dots[1] = {};

  if (d.pcg->done)
    return;
  for (guint32 i = blockIdx.x; i < d.n_groups; i += d.lens_blocks) {
    const LensGroup group = d.groups[i];
    const gsize n = LENS_PLACED * (gsize) group.n;
    const gsize first = bundle_lens_first<LENS_PLACED> (d, group.first);
    const double *inverse = d.lens_inverse + group.inverse;
    double *right = d.right + LENS_PLACED * (gsize) group.first;

    for (gsize e = threadIdx.x; e < n; e += GROUP_THREADS) {
      const guint32 lens = group.first + (guint32) (e / LENS_PLACED);
      double sum = 0;

      for (guint32 k = d.cameras_of.of_lens[lens];
           k < d.cameras_of.of_lens[lens + 1]; k++)
        sum += d.chunk_sums[LENS_PLACED * (gsize) k + e % LENS_PLACED];
      right[e] = d.r[first + e] - sum;
    }
    __syncthreads ();
    for (gsize e = warp; e < n; e += GROUP_WARPS) {
      double z[1] = {};

#pragma unroll 4
      for (gsize k = lane; k < n; k += 32)
        z[0] += inverse[n * e + k] * right[k];
      bundle_warp_sum (z);
      if (lane == 0) {
        d.u[first + e] = z[0];
        dots[0] += right[e] * z[0];
      }
    }
  }
  bundle_block_sum (dots);
  if (threadIdx.x == 0)
    d.dots[LENS_N_DOTS * (d.camera_blocks + blockIdx.x) + LENS_DOT_RZ] =
        dots[0];
}

} // namespace

/* --- launches ------------------------------------------------------------------------------ */

cudaError_t
bundle_lens_place_cameras (
    const BundleLensDevice *device, gboolean candidate, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;

  if (!candidate)
    BUNDLE_START (
        make_sensor_steps, bundle_blocks_for (d.n_lenses, 64), 64, stream, d);
  BUNDLE_START (place_cameras, bundle_blocks_for (d.n_cameras, 64), 64, stream,
      d, candidate ? d.candidate : d.parameters,
      candidate ? d.new_sensors : d.sensors,
      candidate ? d.new_constants : d.constants);
  return cudaGetLastError ();
}

const double *
bundle_lens_expand (const BundleLensDevice *device, const double *x,
    gboolean unless_done, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;
  const gsize n =
      LENS_POSE * (gsize) d.n_cameras + BUNDLE_LENS_SIZE * (gsize) d.n_lenses;

  if (!d.pose_cameras)
    return x;
  BUNDLE_START (expand_vector, bundle_blocks_for (n, RIG_THREADS), RIG_THREADS,
      stream, d, x, unless_done);
  return d.expanded;
}

cudaError_t
bundle_lens_fold_linear (const BundleLensDevice *device, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;
  cudaError_t code;

  if (!d.pose_cameras)
    return cudaSuccess;
  BUNDLE_START (fold_linear, bundle_blocks_for (d.n_cameras, RIG_WARPS),
      RIG_THREADS, stream, d);
  code = bundle_lens_sum_triangles (device, TRUE, stream);
  return code == cudaSuccess ? bundle_lens_add_triangles (device, stream)
                             : code;
}

cudaError_t
bundle_lens_fold_products (
    const BundleLensDevice *device, gboolean start, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;

  if (!d.pose_cameras)
    return cudaSuccess;
  BUNDLE_START (fold_products, bundle_blocks_for (d.n_cameras, RIG_WARPS),
      RIG_THREADS, stream, d, start);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_fold_triangles (const BundleLensDevice *device, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;

  if (d.pose_cameras)
    BUNDLE_START (fold_triangles, bundle_blocks_for (d.n_cameras, RIG_WARPS),
        RIG_THREADS, stream, d);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_invert_groups (const BundleLensDevice *device, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;

  if (d.n_pair_chunks > 0)
    BUNDLE_START (sum_pairs, d.n_pair_chunks, RIG_THREADS, stream, d);
  BUNDLE_START (make_groups, d.n_blocks, RIG_THREADS, stream, d);
  BUNDLE_START (invert_groups, d.n_groups, GROUP_THREADS, stream, d);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_precondition_groups (
    const BundleLensDevice *device, cudaStream_t stream)
{
  BUNDLE_START (
      precondition_groups, device->lens_blocks, GROUP_THREADS, stream, *device);
  return cudaGetLastError ();
}
