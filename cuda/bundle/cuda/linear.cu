/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Linearisation, damping and costs: the work done once for each iteration of
 * Levenberg-Marquardt. */
#include "cuda/bundle/cuda/columns.cuh"

namespace {

const int THREADS = 128;
const int WARPS = THREADS / 32;

/* Index of element (@i, @j), i <= j, of a symmetric 9 x 9 block. */
__device__ __forceinline__ int
packed (int i, int j)
{
  return i * 9 - i * (i - 1) / 2 + j - i;
}

/* --- cameras ---------------------------------------------------------------------- */

/* Mask of J's columns that are not constant; camera 0's decide for shared
 * intrinsics. */
__device__ __forceinline__ guint
active_columns (const BundleDevice &d, guint32 camera)
{
  guint active = ~(guint) d.camera_constant[camera] & BUNDLE_CAMERA_ALL;

  if (d.shared)
    active = (active & ~BUNDLE_CAMERA_INTRINSICS)
             | (~(guint) d.camera_constant[0] & BUNDLE_CAMERA_INTRINSICS);
  return active;
}

/* The pose of @camera; x is not set. */
__device__ void
set_pose (BundlePose *pose, const double camera[9])
{
  double q[4];

  bundle_quaternion (camera + BUNDLE_CAMERA_ROTATION, q);
  /* a quaternion and its negative are the same rotation */
  for (int i = 0; i < 3; i++) {
    pose->turn[i] = q[0] < 0 ? -q[1 + i] / (1 - q[0]) : q[1 + i] / (1 + q[0]);
    pose->t[i] = camera[BUNDLE_CAMERA_TRANSLATION + i];
  }
  pose->focal = camera[BUNDLE_CAMERA_FOCAL];
  pose->k1 = camera[BUNDLE_CAMERA_K1];
  pose->k2 = camera[BUNDLE_CAMERA_K2];
}

__global__ void
prepare_cameras (BundleDevice d, const double *parameters,
    BundleRecord *records, gboolean posed)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;
  BundleConstants k;
  BundleRecord *record = &records[c];

  if (c >= d.n_cameras)
    return;
  bundle_constants (&parameters[9 * (gsize) c], &k);
  for (int i = 0; i < 9; i++)
    record->r[i] = k.r[i];
  for (int i = 0; i < 3; i++)
    record->t[i] = k.t[i];
  record->focal = k.focal;
  record->k1 = k.k1;
  record->k2 = k.k2;
  if (posed)
    set_pose (&d.poses[c], &parameters[9 * (gsize) c]);
}

/* --- blocks of J^T J ---------------------------------------------------------------- */

/* V, gradient and, if @first, scales of the points; weights of the slots.
 * One warp a slice. */
__global__ void
__launch_bounds__ (THREADS) linearise_points (BundleDevice d, gboolean first)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  double sums[9] = {};
  double greatest = 0;

  if (number >= d.n_slices)
    return;
  const BundleSlice slice = d.slices[number];
  const guint32 p = slice.point + (slice.n > 0 ? lane : 0);
  const gboolean own = slice.n > 0 ? lane < (int) slice.n : lane == 0;
  const BundlePoint point =
      bundle_load_point (&d.points[slice.n > 0 && !own ? slice.point : p]);

  for (guint32 j = 0; j < slice.width; j++) {
    const guint32 slot = slice.slot + 32 * j + lane;
    const guint32 camera = d.slot_camera[slot];
    double r[2], weight, jc[18], jp[6];

    if (camera == BUNDLE_NONE)
      continue;
    const BundleConstants c = bundle_load_camera (&d.records[camera]);
    const BundleImage image =
        bundle_image (&c, point.x[0], point.x[1], point.x[2]);
    const double2 observed = d.slot_observed[slot];

    bundle_residual (&c, &image, observed.x, observed.y, &r[0], &r[1]);
    bundle_derivatives (&c, &image, jc, jp);
    bundle_loss (d.loss, d.loss_scale, r[0] * r[0] + r[1] * r[1], &weight);
    weight *= weight;
    if (d.robust)
      d.slot_weight[slot] = weight;
    for (int i = 0, e = 0; i < 3; i++) {
      for (int k = i; k < 3; k++, e++)
        sums[e] += weight * (jp[i] * jp[k] + jp[3 + i] * jp[3 + k]);
      sums[6 + i] += weight * (jp[i] * r[0] + jp[3 + i] * r[1]);
    }
  }
  if (slice.n == 0)
    bundle_warp_sum (sums);
  if (own) {
    if (d.point_constant && d.point_constant[d.order[p]])
      for (int e = 0; e < 9; e++)
        sums[e] = 0;
    for (int e = 0; e < 6; e++)
      d.v[6 * (gsize) p + e] = sums[e];
    for (int i = 0; i < 3; i++)
      d.v_gradient[3 * (gsize) p + i] = sums[6 + i];
    greatest = sqrt (sums[6] * sums[6] + sums[7] * sums[7] + sums[8] * sums[8]);
    if (first)
      d.v_scale[p] = bundle_column_scale (bundle_mean_square (sums));
  }
  for (int other = 16; other > 0; other /= 2)
    greatest = fmax (greatest, __shfl_xor_sync (0xffffffffu, greatest, other));
  if (lane == 0)
    d.slice_sums[number] = greatest;
}

/* Sums over a segment's views of Jc^T G Jc. REDUCED: G = I - Jp Z Jp^T, the
 * diagonal blocks of the Schur complement, to BUNDLE_N_BLOCK. Otherwise G =
 * I, with the gradient Jc^T r, to BUNDLE_N_LINEAR, the cost and the weights
 * of the views. One warp a segment. */
template <bool REDUCED>
__global__ void
__launch_bounds__ (THREADS) linearise_views (BundleDevice d)
{
  const int N = REDUCED ? BUNDLE_N_BLOCK : BUNDLE_N_LINEAR;
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  double sums[N] = {};
  double cost[1] = {};

  if (number >= d.n_segments)
    return;
  const BundleSegment segment = d.segments[number];
  const BundleConstants c = bundle_load_camera (&d.records[segment.camera]);

  for (guint32 i = segment.begin + lane; i < segment.end; i += 32) {
    const guint32 p = d.view_point[i];
    const BundlePoint point = bundle_load_point (&d.points[p]);
    const BundleImage image =
        bundle_image (&c, point.x[0], point.x[1], point.x[2]);
    double jc[18], jp[6], weight = 1;

    bundle_derivatives (&c, &image, jc, jp);
    if constexpr (REDUCED) {
      const double *z = &d.v_inverse[6 * (gsize) p];
      double zj[6], g00, g01, g11;

      if (d.robust)
        weight = d.view_weight[i];
      bundle_multiply_3 (z, jp[0], jp[1], jp[2], zj);
      bundle_multiply_3 (z, jp[3], jp[4], jp[5], zj + 3);
      g00 = jp[0] * zj[0] + jp[1] * zj[1] + jp[2] * zj[2];
      g01 = jp[3] * zj[0] + jp[4] * zj[1] + jp[5] * zj[2];
      g11 = jp[3] * zj[3] + jp[4] * zj[4] + jp[5] * zj[5];
      g00 = weight * (1 - weight * g00);
      g01 = -weight * weight * g01;
      g11 = weight * (1 - weight * g11);
#pragma unroll
      for (int a = 0, e = 0; a < 9; a++) {
        const double h0 = g00 * jc[a] + g01 * jc[9 + a];
        const double h1 = g01 * jc[a] + g11 * jc[9 + a];

#pragma unroll
        for (int b = a; b < 9; b++, e++)
          sums[e] += h0 * jc[b] + h1 * jc[9 + b];
      }
    } else {
      const double2 observed = d.view_observed[i];
      double r[2];

      bundle_residual (&c, &image, observed.x, observed.y, &r[0], &r[1]);
      cost[0] += bundle_loss (
          d.loss, d.loss_scale, r[0] * r[0] + r[1] * r[1], &weight);
      weight *= weight;
      if (d.robust)
        d.view_weight[i] = weight;
#pragma unroll
      for (int a = 0, e = 0; a < 9; a++) {
        const double h0 = weight * jc[a], h1 = weight * jc[9 + a];

#pragma unroll
        for (int b = a; b < 9; b++, e++)
          sums[e] += h0 * jc[b] + h1 * jc[9 + b];
        sums[BUNDLE_N_BLOCK + a] += h0 * r[0] + h1 * r[1];
      }
    }
  }
  bundle_warp_sum (sums);
  if (!REDUCED)
    bundle_warp_sum (cost);
  if (lane == 0) {
    for (int e = 0; e < N; e++)
      d.partial[(gsize) number * N + e] = sums[e];
    if (!REDUCED)
      d.segment_sums[number] = 0.5 * cost[0];
  }
}

/* Adds the segments of each camera. One warp a camera. */
template <int N>
__global__ void
__launch_bounds__ (THREADS) add_segments (BundleDevice d, double *out)
{
  const guint32 c = blockIdx.x * WARPS + threadIdx.x / 32;

  if (c >= d.n_cameras)
    return;
  for (int e = threadIdx.x % 32; e < N; e += 32) {
    double sum = 0;

    for (guint32 s = d.camera_segments[c]; s < d.camera_segments[c + 1]; s++)
      sum += d.partial[(gsize) s * N + e];
    out[(gsize) c * N + e] = sum;
  }
}

/* Sums the intrinsics' 6 block elements and their gradient over all cameras.
 * One block. */
__global__ void
add_shared (BundleDevice d, const double *blocks, int stride, double *out)
{
  double sums[BUNDLE_N_SHARED] = {};

  for (guint32 c = threadIdx.x; c < d.n_cameras; c += blockDim.x)
    for (int e = 0; e < (stride == BUNDLE_N_LINEAR ? 9 : 6); e++)
      sums[e] +=
          blocks[(gsize) c * stride + (e < 6 ? 39 + e : BUNDLE_N_BLOCK + e)];
  bundle_block_sum (sums);
  if (threadIdx.x == 0)
    for (int e = 0; e < BUNDLE_N_SHARED; e++)
      out[e] = sums[e];
}

/* Diagonal element @a of a camera's block. */
__device__ __forceinline__ double
camera_square (const BundleDevice &d, guint32 c, int a)
{
  if (d.shared && c == 0 && a >= 6)
    return d.shared_blocks[a == 6 ? 0 : a == 7 ? 3 : 5];
  return d.blocks[(gsize) c * BUNDLE_N_LINEAR + packed (a, a)];
}

/* The column scales if @first; the largest element of each camera's
 * gradient. */
__global__ void
scale_cameras (BundleDevice d, gboolean first)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;
  double greatest = 0;

  if (c >= d.n_cameras)
    return;
  for (int a = 0; a < 9; a++) {
    double *g = &d.blocks[(gsize) c * BUNDLE_N_LINEAR + BUNDLE_N_BLOCK + a];
    double value = *g;

    if (first)
      d.camera_scale[9 * (gsize) c + a] =
          bundle_column_scale (camera_square (d, c, a));
    if (d.shared && c == 0 && a >= 6)
      value = d.shared_blocks[a];
    if (!(d.camera_constant[c] >> a & 1))
      greatest = fmax (greatest, fabs (value));
  }
  d.camera_sums[c] = greatest;
}

/* --- damping ------------------------------------------------------------------------ */

/* Z, the inverse of the damped V, and y = -Z g. */
__global__ void
damp_points (BundleDevice d)
{
  const guint32 p = blockIdx.x * blockDim.x + threadIdx.x;
  double v[6], z[6] = {}, y[3];
  const double *g = &d.v_gradient[3 * (gsize) p];

  if (p >= d.n_points)
    return;
  for (int e = 0; e < 6; e++)
    v[e] = d.v[6 * (gsize) p + e];
  const double damping =
      bundle_damping (bundle_mean_square (v), d.v_scale[p], d.pcg->radius);

  v[0] += damping;
  v[3] += damping;
  v[5] += damping;
  if (!d.point_constant || !d.point_constant[d.order[p]])
    bundle_invert_3 (v, z);
  bundle_multiply_3 (z, -g[0], -g[1], -g[2], y);
  for (int e = 0; e < 6; e++)
    d.v_inverse[6 * (gsize) p + e] = z[e];
  for (int i = 0; i < 3; i++)
    d.points[p].y[i] = y[i];
}

/* Inverts the rows @active of the symmetric matrix @a, given by its upper
 * triangle; the other rows of the inverse are 0. */
__device__ void
invert_block (double a[81], guint active, double *inverse)
{
  double pivots[9];

  /* a = L D L^T below the diagonal */
  for (int k = 0; k < 9; k++) {
    double pivot = a[10 * k];

    for (int m = 0; m < k; m++)
      pivot -= a[9 * k + m] * a[9 * k + m] * pivots[m];
    if (!(active >> k & 1) || !(pivot > BUNDLE_PIVOT * a[10 * k])) {
      active &= ~(1u << k);
      pivots[k] = 0;
    } else {
      pivots[k] = pivot;
    }
    for (int i = k + 1; i < 9; i++) {
      double sum = a[9 * k + i];

      for (int m = 0; m < k; m++)
        sum -= a[9 * i + m] * a[9 * k + m] * pivots[m];
      a[9 * i + k] = pivots[k] > 0 ? sum / pivot : 0;
    }
  }
  for (int column = 0; column < 9; column++) {
    double y[9];

    for (int i = 0; i < 9; i++) {
      y[i] = i == column;
      for (int m = 0; m < i; m++)
        y[i] -= a[9 * i + m] * y[m];
    }
    for (int i = 8; i >= 0; i--) {
      y[i] = pivots[i] > 0 ? y[i] / pivots[i] : 0;
      for (int m = i + 1; m < 9; m++)
        y[i] -= a[9 * m + i] * y[m];
      if (!(active >> i & 1))
        y[i] = 0;
    }
    for (int i = 0; i < 9; i++)
      inverse[9 * i + column] = active >> column & 1 ? y[i] : 0;
  }
}

/* Damped blocks, and the inverses of these or of the Schur complement's
 * blocks; with clusters the Schur complement's blocks go to the cluster
 * blocks. One thread a camera. */
__global__ void __launch_bounds__ (64) damp_cameras (BundleDevice d)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;

  if (c >= d.n_cameras)
    return;
  const guint columns = active_columns (d, c);
  const guint unknowns = ~(guint) d.camera_constant[c] & BUNDLE_CAMERA_ALL;
  const double *block = &d.blocks[(gsize) c * BUNDLE_N_LINEAR];
  const double *reduced =
      d.reduced ? &d.schur_blocks[(gsize) c * BUNDLE_N_BLOCK] : block;
  const double *shared = d.shared_blocks + (d.reduced ? BUNDLE_N_SHARED : 0);
  double *system = &d.system[81 * (gsize) c];
  double a[81];

  for (int i = 0, e = 0; i < 9; i++)
    for (int j = i; j < 9; j++, e++) {
      double u = (columns >> i & columns >> j & 1) ? block[e] : 0;
      double m = reduced[e];

      /* shared intrinsics form a block of their own */
      if (d.shared && c == 0 && j >= 6)
        m = i >= 6 ? shared[e - 39] : 0;
      if (i == j && unknowns >> i & 1) {
        const double damping = bundle_damping (camera_square (d, c, i),
            d.camera_scale[9 * (gsize) c + i], d.pcg->radius);

        u += damping;
        m += damping;
      }
      system[9 * i + j] = system[9 * j + i] = u;
      a[9 * i + j] = (unknowns >> i & unknowns >> j & 1) ? m : 0;
    }
  if (d.n_clusters == 0) {
    invert_block (a, unknowns, &d.inverse[81 * (gsize) c]);
    return;
  }
  const int side = BUNDLE_CLUSTER_SIDE;
  double *to = &d.cluster_blocks[(gsize) d.cluster_of[c] * side * side
                                 + 9 * d.place[c] * (side + 1)];

  for (int i = 0; i < 9; i++)
    for (int j = 0; j <= i; j++)
      to[side * i + j] = a[9 * j + i];
}

/* --- the candidate --------------------------------------------------------------------- */

/* Cost of the candidate and decrease of the model. The records' x is the
 * step; y is the points' step. One warp a segment. */
__global__ void
__launch_bounds__ (THREADS) evaluate_views (BundleDevice d)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  double sums[2] = {};

  if (number >= d.n_segments)
    return;
  const BundleSegment segment = d.segments[number];
  const BundleConstants old = bundle_load_camera (&d.records[segment.camera]);
  const BundleConstants fresh =
      bundle_load_camera (&d.candidates[segment.camera]);
  double x[9];

  for (int a = 0; a < 9; a++)
    x[a] = d.records[segment.camera].x[a];
  for (guint32 i = segment.begin + lane; i < segment.end; i += 32) {
    const BundlePoint point = bundle_load_point (&d.points[d.view_point[i]]);
    const double2 observed = d.view_observed[i];
    double r[2], step[2], point_step[2], weight;
    BundleImage image = bundle_image (&fresh, point.x[0] + point.y[0],
        point.x[1] + point.y[1], point.x[2] + point.y[2]);

    bundle_residual (&fresh, &image, observed.x, observed.y, &r[0], &r[1]);
    sums[0] += 0.5
               * bundle_loss (
                   d.loss, d.loss_scale, r[0] * r[0] + r[1] * r[1], &weight);
    image = bundle_image (&old, point.x[0], point.x[1], point.x[2]);
    bundle_residual (&old, &image, observed.x, observed.y, &r[0], &r[1]);
    bundle_forward (&old, &image, x, &step[0], &step[1]);
    bundle_forward_point (&old, &image, point.y[0], point.y[1], point.y[2],
        &point_step[0], &point_step[1]);
    step[0] += point_step[0];
    step[1] += point_step[1];
    weight = d.robust ? d.view_weight[i] : 1;
    sums[1] -=
        weight
        * (step[0] * (r[0] + 0.5 * step[0]) + step[1] * (r[1] + 0.5 * step[1]));
  }
  bundle_warp_sum (sums);
  if (lane == 0) {
    d.segment_sums[2 * (gsize) number] = sums[0];
    d.segment_sums[2 * (gsize) number + 1] = sums[1];
  }
}

__global__ void
accept_points (BundleDevice d)
{
  const guint32 p = blockIdx.x * blockDim.x + threadIdx.x;

  if (p < d.n_points)
    for (int i = 0; i < 3; i++)
      d.points[p].x[i] += d.points[p].y[i];
}

/* @all: points in the problem's order */
__global__ void
read_points (BundleDevice d, double *all)
{
  const guint32 p = blockIdx.x * blockDim.x + threadIdx.x;

  if (p < d.n_points)
    for (int i = 0; i < 3; i++)
      all[3 * (gsize) d.order[p] + i] = d.points[p].x[i];
}

} // namespace

cudaError_t
bundle_cuda_prepare_cameras (
    const BundleDevice *device, gboolean candidate, cudaStream_t stream)
{
  const BundleDevice &d = *device;

  prepare_cameras<<<bundle_blocks_for (d.n_cameras, 64), 64, 0, stream>>> (d,
      candidate ? d.candidate : d.parameters,
      candidate ? d.candidates : d.records, !candidate);
  return cudaGetLastError ();
}

cudaError_t
bundle_cuda_linearise (
    const BundleDevice *device, gboolean first, cudaStream_t stream)
{
  const BundleDevice &d = *device;

  linearise_points<<<bundle_blocks_for (d.n_slices, WARPS), THREADS, 0,
      stream>>> (d, first);
  launch_columns<1, true> (d, d.slice_sums, d.n_slices,
      &d.results[BUNDLE_RESULT_POINT_GRADIENT], stream);
  linearise_views<false>
      <<<bundle_blocks_for (d.n_segments, WARPS), THREADS, 0, stream>>> (d);
  launch_columns<1, false> (d, d.segment_sums, d.n_segments,
      &d.results[BUNDLE_RESULT_STATE_COST], stream);
  add_segments<BUNDLE_N_LINEAR>
      <<<bundle_blocks_for (d.n_cameras, WARPS), THREADS, 0, stream>>> (
          d, d.blocks);
  if (d.shared)
    add_shared<<<1, 256, 0, stream>>> (
        d, d.blocks, BUNDLE_N_LINEAR, d.shared_blocks);
  scale_cameras<<<bundle_blocks_for (d.n_cameras, 64), 64, 0, stream>>> (
      d, first);
  launch_columns<1, true> (d, d.camera_sums, d.n_cameras,
      &d.results[BUNDLE_RESULT_CAMERA_GRADIENT], stream);
  return cudaGetLastError ();
}

cudaError_t
bundle_cuda_damp (const BundleDevice *device, cudaStream_t stream)
{
  const BundleDevice &d = *device;

  damp_points<<<bundle_blocks_for (d.n_points, 128), 128, 0, stream>>> (d);
  if (d.reduced) {
    linearise_views<true>
        <<<bundle_blocks_for (d.n_segments, WARPS), THREADS, 0, stream>>> (d);
    add_segments<BUNDLE_N_BLOCK>
        <<<bundle_blocks_for (d.n_cameras, WARPS), THREADS, 0, stream>>> (
            d, d.schur_blocks);
    if (d.shared)
      add_shared<<<1, 256, 0, stream>>> (
          d, d.schur_blocks, BUNDLE_N_BLOCK, d.shared_blocks + BUNDLE_N_SHARED);
  }
  if (d.n_clusters > 0) {
    const cudaError_t code = bundle_cuda_clear_clusters (device, stream);

    if (code != cudaSuccess)
      return code;
  }
  damp_cameras<<<bundle_blocks_for (d.n_cameras, 64), 64, 0, stream>>> (d);
  if (d.n_clusters > 0)
    return bundle_cuda_invert_clusters (device, stream);
  return cudaGetLastError ();
}

cudaError_t
bundle_cuda_evaluate (const BundleDevice *device, cudaStream_t stream)
{
  const BundleDevice &d = *device;

  launch_columns<2, false> (d, d.slice_sums, d.n_slices,
      &d.results[BUNDLE_RESULT_POINT_STEP], stream);
  launch_columns<2, false> (d, d.camera_sums, d.n_cameras,
      &d.results[BUNDLE_RESULT_CAMERA_STEP], stream);
  evaluate_views<<<bundle_blocks_for (d.n_segments, WARPS), THREADS, 0,
      stream>>> (d);
  launch_columns<2, false> (
      d, d.segment_sums, d.n_segments, &d.results[BUNDLE_RESULT_COST], stream);
  return cudaGetLastError ();
}

cudaError_t
bundle_cuda_accept (const BundleDevice *device, cudaStream_t stream)
{
  const BundleDevice &d = *device;
  cudaError_t code = cudaMemcpyAsync (d.parameters, d.candidate,
      9 * (gsize) d.n_cameras * sizeof *d.parameters, cudaMemcpyDeviceToDevice,
      stream);

  if (code != cudaSuccess)
    return code;
  accept_points<<<bundle_blocks_for (d.n_points, 128), 128, 0, stream>>> (d);
  return bundle_cuda_prepare_cameras (device, FALSE, stream);
}

cudaError_t
bundle_cuda_read_points (
    const BundleDevice *device, double *all, cudaStream_t stream)
{
  read_points<<<bundle_blocks_for (device->n_points, 128), 128, 0, stream>>> (
      *device, all);
  return cudaGetLastError ();
}
