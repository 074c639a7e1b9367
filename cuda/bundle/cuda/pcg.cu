/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Preconditioned conjugate gradients on the Schur complement. alpha, beta and the
 * stopping test stay on the device.
 *
 * Each part of an iteration is a device function: of a warp for a slice or a
 * segment, of a block for vectors of cameras. For a small problem, one kernel calls
 * them all until the stop, with a grid barrier after each part. For a large problem,
 * each part is a kernel; once done is set, the kernels of queued iterations return at
 * once. Both add in the same order. */
#include <cooperative_groups.h>

#include "cuda/bundle/cuda/engine.cuh"

namespace {

const int THREADS = 128;
const int WARPS = THREADS / 32;
const int VECTOR_THREADS = 256;
const int VECTOR_WARPS = VECTOR_THREADS / 32;

guint
blocks_for (gsize n, guint each)
{
  return (guint) ((n + each - 1) / each);
}

/* --- an observation ------------------------------------------------------- */

/* Adds Jp^T Jc x of an observation of @point by @camera, with x in the pose. J is
 * recomputed from the pose. */
__device__ __forceinline__ void
add_to_point (const BundleDevice &d, guint32 slot, guint32 camera,
    const BundlePoint &point, double sums[3])
{
  const BundlePose pose = bundle_load_pose (&d.poses[camera]);
  const BundleConstants c = bundle_unpack_pose (&pose);
  const BundleImage image =
      bundle_image (&c, point.x[0], point.x[1], point.x[2]);
  double y[2], w[3];

  bundle_forward (&c, &image, pose.x, &y[0], &y[1]);
  if (d.robust) {
    const double weight = d.slot_weight[slot];

    y[0] *= weight;
    y[1] *= weight;
  }
  bundle_backward_point (&c, &image, y[0], y[1], w);
  for (int i = 0; i < 3; i++)
    sums[i] += w[i];
}

/* Adds Jc^T Jp y of a view of @point, with y in the point. */
__device__ __forceinline__ void
add_to_camera (const BundleDevice &d, guint32 view, const BundleConstants &c,
    const BundlePoint &point, double sums[9])
{
  const BundleImage image =
      bundle_image (&c, point.x[0], point.x[1], point.x[2]);
  double y[2], w[9];

  bundle_forward_point (
      &c, &image, point.y[0], point.y[1], point.y[2], &y[0], &y[1]);
  if (d.robust) {
    const double weight = d.view_weight[view];

    y[0] *= weight;
    y[1] *= weight;
  }
  bundle_backward (&c, &image, y[0], y[1], w);
  for (int a = 0; a < 9; a++)
    sums[a] += w[a];
}

/* --- products ---------------------------------------------------------------------------- */

/* y = Z W^T x of slice @number, with x in the poses. BACK: y = -Z (g + W^T x), and the
 * squares of y and of the state. */
template <bool BACK>
__device__ __forceinline__ void
multiply_slice (const BundleDevice &d, guint32 number)
{
  const int lane = threadIdx.x % 32;
  double sums[3] = {}, squares[2] = {};
  const BundleSlice slice = d.slices[number];
  const gboolean own = slice.n > 0 ? lane < (int) slice.n : lane == 0;
  const guint32 p = slice.point + (slice.n > 0 && own ? lane : 0);
  BundlePoint point = bundle_load_point (&d.points[p]);

  for (guint32 j = 0; j < slice.width; j++) {
    const guint32 slot = slice.slot + 32 * j + lane;
    const guint32 camera = d.slot_camera[slot];

    if (camera != BUNDLE_NONE)
      add_to_point (d, slot, camera, point, sums);
  }
  if (slice.n == 0)
    bundle_warp_sum (sums);
  if (own) {
    double z[6];

    for (int e = 0; e < 6; e++)
      z[e] = d.v_inverse[6 * (gsize) p + e];
    if (BACK)
      for (int i = 0; i < 3; i++)
        sums[i] = -d.v_gradient[3 * (gsize) p + i] - sums[i];
    bundle_multiply_3 (z, sums[0], sums[1], sums[2], point.y);
    for (int i = 0; i < 3; i++) {
      squares[0] += point.y[i] * point.y[i];
      squares[1] += point.x[i] * point.x[i];
    }
    /* loads x as well, 16 bytes at a time */
    for (int i = 0; i < 3; i++)
      ((double2 *) &d.points[p])[i] = ((const double2 *) &point)[i];
  }
  if (BACK) {
    bundle_warp_sum (squares);
    if (lane < 2)
      d.slice_sums[2 * (gsize) number + lane] = squares[lane];
  }
}

/* W y of segment @number, with y in the points: a partial sum. */
__device__ __forceinline__ void
multiply_segment (const BundleDevice &d, guint32 number)
{
  const int lane = threadIdx.x % 32;
  double sums[9] = {};
  const BundleSegment segment = d.segments[number];
  const BundleConstants c = bundle_load_camera (&d.records[segment.camera]);

  guint32 i = segment.begin + lane, after = 0;
  BundlePoint next = {};

  /* values are loaded one iteration ahead, indices two */
  if (i < segment.end)
    next = bundle_load_point (&d.points[d.view_point[i]]);
  if (i + 32 < segment.end)
    after = d.view_point[i + 32];
  for (; i < segment.end; i += 32) {
    const BundlePoint point = next;

    if (i + 32 < segment.end)
      next = bundle_load_point (&d.points[after]);
    if (i + 64 < segment.end)
      after = d.view_point[i + 64];
    add_to_camera (d, i, c, point, sums);
  }
  bundle_warp_sum (sums);
  if (lane == 0)
    for (int a = 0; a < 9; a++)
      d.partial[9 * (gsize) number + a] = sums[a];
}

/* --- vectors of cameras -------------------------------------------------------------------- */

/* Element @a of vector @x of a camera; shared intrinsics come from camera 0. */
__device__ __forceinline__ double
camera_element (const BundleDevice &d, const double *x, guint32 c, int a)
{
  return x[9 * (gsize) (d.shared && a >= 6 ? 0 : c) + a];
}

/* Sum of column BUNDLE_DOT_... over all blocks, the same in all threads. */
__device__ __forceinline__ double
add_dots (const BundleDevice &d, int column)
{
  __shared__ double total;
  double sum[1] = {};

  for (guint32 i = threadIdx.x; i < d.camera_blocks; i += blockDim.x)
    sum[0] += d.camera_dots[BUNDLE_N_DOTS * i + column];
  bundle_block_sum (sum);
  if (threadIdx.x == 0)
    total = sum[0];
  __syncthreads ();
  sum[0] = total;
  __syncthreads ();
  return sum[0];
}

/* Sum that the other cameras contribute to camera 0's intrinsics. */
__device__ __forceinline__ double
add_shared_sums (const BundleDevice &d, int a)
{
  double sum = 0;

  for (guint32 i = 0; i < d.camera_blocks; i++)
    sum += d.shared_sums[3 * i + a - 6];
  return sum;
}

/* From the segments' sums W y: START: b = -g - W y, otherwise q = U p - W y
 * and p . q. One warp a camera; lane a has element a. */
template <bool START>
__device__ __forceinline__ void
finish_cameras (const BundleDevice &d, guint32 block, const double *p)
{
  const int lane = threadIdx.x % 32;
  const int a = MIN (lane, 8);
  double sums[2] = {}; /* p . q; the shared intrinsics */

  for (guint32 c = block * VECTOR_WARPS + threadIdx.x / 32; c < d.n_cameras;
       c += d.camera_blocks * VECTOR_WARPS) {
    double sum = 0, out;

    for (guint32 s = d.camera_segments[c]; s < d.camera_segments[c + 1]; s++)
      sum += d.partial[9 * (gsize) s + a];
    if (START) {
      out = -d.blocks[(gsize) c * BUNDLE_N_LINEAR + BUNDLE_N_BLOCK + a] - sum;
    } else {
      const double *row = &d.system[81 * (gsize) c + 9 * a];
      const double own = camera_element (d, p, c, a);

      out = -sum;
#pragma unroll
      for (int k = 0; k < 9; k++)
        out += row[k] * __shfl_sync (0xffffffffu, own, k);
      if (lane < 9)
        sums[0] += own * out;
    }
    if (d.shared && c > 0 && lane >= 6 && lane < 9)
      sums[1] += out;
    if (d.camera_constant[c] >> a & 1)
      out = 0;
    if (lane < 9)
      (START ? d.b : d.q)[9 * (gsize) c + a] = out;
  }

  /* the shared intrinsics, rows 6 to 8, are summed separately */
  double all[4] = { sums[0], lane == 6 ? sums[1] : 0, lane == 7 ? sums[1] : 0,
    lane == 8 ? sums[1] : 0 };

  bundle_block_sum (all);
  if (threadIdx.x == 0) {
    d.camera_dots[BUNDLE_N_DOTS * block + BUNDLE_DOT_PQ] = all[0];
    for (int e = 0; e < 3; e++)
      d.shared_sums[3 * block + e] = all[1 + e];
  }
}

/* Returns: FALSE if the direction has no positive curvature */
__device__ __forceinline__ gboolean
get_alpha (const BundleDevice &d, guint parity, double *alpha)
{
  const double curvature = add_dots (d, BUNDLE_DOT_PQ);

  *alpha = d.pcg->rho[parity] / curvature;
  return curvature > 0 && isfinite (*alpha);
}

/* x += alpha p, r -= alpha q, z = M^-1 r; sums of r . z, x . (b + r).
 * START: x = 0, r = b. With clusters, z and r . z are computed afterwards.
 * One warp a camera; lane a has element a. */
template <bool START>
__device__ __forceinline__ void
step_cameras (
    const BundleDevice &d, guint32 block, const double *p, guint parity)
{
  const int lane = threadIdx.x % 32;
  const int a = MIN (lane, 8);
  double sums[2] = {};
  double alpha = 0;

  if (!START && !get_alpha (d, parity, &alpha)) {
    if (block == 0 && threadIdx.x == 0)
      d.pcg->done = 2;
    return;
  }
  for (guint32 c = block * VECTOR_WARPS + threadIdx.x / 32; c < d.n_cameras;
       c += d.camera_blocks * VECTOR_WARPS) {
    const gsize i = 9 * (gsize) c + a;
    const gboolean sum_shared =
        d.shared && c == 0 && a >= 6 && !(d.camera_constant[0] >> a & 1);
    const double *row = &d.inverse[81 * (gsize) c + 9 * a];
    double b = d.b[i], x = 0, r, z = 0;

    if (START) {
      if (sum_shared)
        b += add_shared_sums (d, a);
      r = b;
    } else {
      double q = d.q[i];

      if (sum_shared)
        q += add_shared_sums (d, a);
      x = d.x[i] + alpha * p[i];
      r = d.r[i] - alpha * q;
    }
    if (d.n_clusters == 0) {
#pragma unroll
      for (int k = 0; k < 9; k++)
        z += row[k] * __shfl_sync (0xffffffffu, r, k);
    }
    if (lane < 9) {
      if (START)
        d.b[i] = b;
      d.x[i] = x;
      d.r[i] = r;
      d.z[i] = z;
      sums[0] += r * z;
      sums[1] += x * (b + r);
    }
  }
  bundle_block_sum (sums);
  if (threadIdx.x == 0)
    for (int e = 0; e < 2; e++)
      d.camera_dots[BUNDLE_N_DOTS * block + BUNDLE_DOT_RZ + e] = sums[e];
}

/* z = M^-1 r, and the blocks' sums of r . z. With clusters: a warp a
 * cluster. */
__device__ __forceinline__ void
precondition_clusters (const BundleDevice &d, guint32 block)
{
  const int side = BUNDLE_CLUSTER_SIDE;
  const int lane = threadIdx.x % 32;
  double sums[1] = {};

  for (guint32 c = block * VECTOR_WARPS + threadIdx.x / 32; c < d.n_clusters;
       c += d.camera_blocks * VECTOR_WARPS) {
    const BundleMembers *members = &d.members[c];
    const double *block = &d.cluster_blocks[(gsize) c * side * side];
    const int n = 9 * (int) members->n;
    double r[3] = {}, z[3] = {};

    for (int m = 0; m < 3; m++)
      if (lane + 32 * m < n)
        r[m] = d.r[9 * (gsize) members->cameras[(lane + 32 * m) / 9]
                   + (lane + 32 * m) % 9];
    for (int m = 0; m < 3; m++)
      for (int k = 0; k < 32 && 32 * m + k < n; k++) {
        const double *row = &block[(32 * m + k) * side];
        const double other = __shfl_sync (0xffffffffu, r[m], k);

        for (int e = 0; e < 3; e++)
          if (lane + 32 * e < n)
            z[e] += row[lane + 32 * e] * other;
      }
    for (int m = 0; m < 3; m++)
      if (lane + 32 * m < n) {
        d.z[9 * (gsize) members->cameras[(lane + 32 * m) / 9]
            + (lane + 32 * m) % 9] = z[m];
        sums[0] += r[m] * z[m];
      }
  }
  bundle_block_sum (sums);
  if (threadIdx.x == 0)
    d.camera_dots[BUNDLE_N_DOTS * block + BUNDLE_DOT_RZ] = sums[0];
}

/* The stopping test, and p = z + beta p, also to the x of the poses. FIRST: p = z.
 * One warp a camera; lane a has element a. */
template <bool FIRST>
__device__ __forceinline__ void
turn_cameras (const BundleDevice &d, guint32 block, const double *p,
    double *next, guint parity)
{
  const int lane = threadIdx.x % 32;
  const int a = MIN (lane, 8);
  const double rho = add_dots (d, BUNDLE_DOT_RZ);
  const double beta = FIRST ? 0 : rho / d.pcg->rho[parity];

  for (guint32 c = block * VECTOR_WARPS + threadIdx.x / 32; c < d.n_cameras;
       c += d.camera_blocks * VECTOR_WARPS) {
    double value = camera_element (d, d.z, c, a);

    if (!FIRST)
      value += beta * camera_element (d, p, c, a);
    if (lane < 9 && !(d.shared && c > 0 && a >= 6))
      next[9 * (gsize) c + a] = value;
    if (lane < 9)
      d.poses[c].x[a] = value;
  }
  if (block > 0)
    return;

  const double model = -add_dots (d, BUNDLE_DOT_MODEL);

  if (threadIdx.x > 0)
    return;
  BundlePcg *pcg = d.pcg;

  pcg->rho[FIRST ? parity : 1 - parity] = rho;
  if (FIRST) {
    pcg->model = 0;
    if (!(rho > 0))
      pcg->done = 1;
    return;
  }
  const guint32 iterations = pcg->iterations + 1;

  pcg->iterations = iterations;
  if (iterations * (model - pcg->model) / model < d.eta
      || iterations >= d.max_pcg || !(rho > 0))
    pcg->done = 1;
  pcg->model = model;
}

/* --- an iteration ------------------------------------------------------------------------- */

/* One warp a slice. */
template <bool BACK>
__global__ void
__launch_bounds__ (THREADS) multiply_points (BundleDevice d)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;

  if (number < d.n_slices && (BACK || !d.pcg->done))
    multiply_slice<BACK> (d, number);
}

/* One warp a segment. */
__global__ void
__launch_bounds__ (THREADS, 5) multiply_views (BundleDevice d)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;

  if (number < d.n_segments && !d.pcg->done)
    multiply_segment (d, number);
}

template <bool START>
__global__ void
__launch_bounds__ (VECTOR_THREADS)
    finish_products (BundleDevice d, const double *p)
{
  if (!d.pcg->done)
    finish_cameras<START> (d, blockIdx.x, p);
}

template <bool START>
__global__ void
__launch_bounds__ (VECTOR_THREADS)
    step_solutions (BundleDevice d, const double *p, guint parity)
{
  if (!d.pcg->done)
    step_cameras<START> (d, blockIdx.x, p, parity);
}

__global__ void
__launch_bounds__ (VECTOR_THREADS) precondition_residuals (BundleDevice d)
{
  if (!d.pcg->done)
    precondition_clusters (d, blockIdx.x);
}

template <bool FIRST>
__global__ void
__launch_bounds__ (VECTOR_THREADS) turn_directions (
    BundleDevice d, const double *p, double *next, guint parity)
{
  if (!d.pcg->done)
    turn_cameras<FIRST> (d, blockIdx.x, p, next, parity);
}

/* All iterations, by a cooperative grid. Between two barriers no block reads
 * what another one writes. */
__global__ void
__launch_bounds__ (VECTOR_THREADS, 2) iterate_to_stop (BundleDevice d)
{
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid ();
  /* the longest slices come first: they go to different multiprocessors */
  const guint32 warp = threadIdx.x / 32 * gridDim.x + blockIdx.x;
  const guint32 n_warps = gridDim.x * VECTOR_WARPS;
  double *p = d.p[0], *next = d.p[1];

  for (guint parity = 0; !d.pcg->done; parity = 1 - parity) {
    for (guint32 i = warp; i < d.n_slices; i += n_warps)
      multiply_slice<false> (d, i);
    grid.sync ();
    for (guint32 i = warp; i < d.n_segments; i += n_warps)
      multiply_segment (d, i);
    grid.sync ();
    for (guint32 i = blockIdx.x; i < d.camera_blocks; i += gridDim.x)
      finish_cameras<false> (d, i, p);
    grid.sync ();
    for (guint32 i = blockIdx.x; i < d.camera_blocks; i += gridDim.x)
      step_cameras<false> (d, i, p, parity);
    grid.sync ();
    if (d.pcg->done)
      return;
    if (d.n_clusters > 0) {
      for (guint32 i = blockIdx.x; i < d.camera_blocks; i += gridDim.x)
        precondition_clusters (d, i);
      grid.sync ();
    }
    for (guint32 i = blockIdx.x; i < d.camera_blocks; i += gridDim.x)
      turn_cameras<false> (d, i, p, next, parity);
    grid.sync ();

    double *swap = p;

    p = next;
    next = swap;
  }
}

/* --- the step ----------------------------------------------------------------------------- */

/* Sets the x of the records and of the poses from the solution x. One thread a
 * camera. */
__global__ void
set_records (BundleDevice d)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;

  if (c >= d.n_cameras)
    return;
  for (int a = 0; a < 9; a++) {
    const double x = camera_element (d, d.x, c, a);

    d.records[c].x[a] = x;
    d.poses[c].x[a] = x;
  }
}

/* The cameras' candidate; sums of squares of step and state. One thread a
 * camera. */
__global__ void
step_parameters (BundleDevice d)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;
  double squares[2] = {}, x[9];

  if (c >= d.n_cameras)
    return;
  const double *camera = &d.parameters[9 * (gsize) c];

  for (int a = 0; a < 9; a++)
    x[a] = camera_element (d, d.x, c, a);
  bundle_add_squares (camera, x, d.shared && c > 0 ? 6 : 9, squares);
  bundle_move_camera (camera, x, &d.candidate[9 * (gsize) c]);
  d.camera_sums[2 * (gsize) c] = squares[0];
  d.camera_sums[2 * (gsize) c + 1] = squares[1];
}

} // namespace

/* --- launches ----------------------------------------------------------------------------- */

cudaError_t
bundle_cuda_pcg_start (const BundleDevice *device, cudaStream_t stream)
{
  const BundleDevice &d = *device;
  const guint segments = blocks_for (d.n_segments, WARPS);

  multiply_views<<<segments, THREADS, 0, stream>>> (d);
  finish_products<true>
      <<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, NULL);
  step_solutions<true>
      <<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, NULL, 0);
  if (d.n_clusters > 0)
    precondition_residuals<<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d);
  turn_directions<true>
      <<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, NULL, d.p[0], 0);
  return cudaGetLastError ();
}

cudaError_t
bundle_cuda_pcg_iterate (
    const BundleDevice *device, guint parity, cudaStream_t stream)
{
  const BundleDevice &d = *device;
  const guint slices = blocks_for (d.n_slices, WARPS);
  const guint segments = blocks_for (d.n_segments, WARPS);
  const double *p = d.p[parity];

  multiply_points<false><<<slices, THREADS, 0, stream>>> (d);
  multiply_views<<<segments, THREADS, 0, stream>>> (d);
  finish_products<false><<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, p);
  step_solutions<false>
      <<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, p, parity);
  if (d.n_clusters > 0)
    precondition_residuals<<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d);
  turn_directions<false><<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (
      d, p, d.p[1 - parity], parity);
  return cudaGetLastError ();
}

cudaError_t
bundle_cuda_pcg_fit (const BundleDevice *device, guint *blocks)
{
  const BundleDevice &d = *device;
  const guint n = MAX (d.n_slices, d.n_segments);
  guint processors = 0, of_one = 0;
  int cooperative = 0;
  cudaError_t code =
      cvis_cuda_get_attribute (cudaDevAttrCooperativeLaunch, &cooperative);

  *blocks = 0;
  /* some CUDA 11 releases do not capture cooperative launches */
  if (code != cudaSuccess || !cooperative || CUDART_VERSION < 12000
      || n > BUNDLE_SMALL)
    return code;
  code = cvis_cuda_get_attribute (
      cudaDevAttrMultiProcessorCount, (int *) &processors);
  if (code == cudaSuccess) {
    cudaOccupancyMaxActiveBlocksPerMultiprocessor (
        (int *) &of_one, iterate_to_stop, VECTOR_THREADS, 0);
    code = cudaGetLastError ();
  }
  if (code == cudaSuccess)
    *blocks = MIN (MAX (d.camera_blocks, n),
        processors * MIN (of_one, blocks_for (n, VECTOR_WARPS * processors)));
  return code;
}

cudaError_t
bundle_cuda_pcg_iterate_to_stop (
    const BundleDevice *device, guint blocks, cudaStream_t stream)
{
  void *arguments[] = { (void *) device };

  cudaLaunchCooperativeKernel ((const void *) iterate_to_stop, blocks,
      VECTOR_THREADS, arguments, 0, stream);
  return cudaGetLastError ();
}

cudaError_t
bundle_cuda_pcg_finish (const BundleDevice *device, cudaStream_t stream)
{
  const BundleDevice &d = *device;
  const guint slices = blocks_for (d.n_slices, WARPS);
  const guint cameras = blocks_for (d.n_cameras, 64);

  set_records<<<cameras, 64, 0, stream>>> (d);
  multiply_points<true><<<slices, THREADS, 0, stream>>> (d);
  step_parameters<<<cameras, 64, 0, stream>>> (d);
  return cudaGetLastError ();
}
