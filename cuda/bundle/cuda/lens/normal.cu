/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Normal equations, damping, preconditioner and candidates of problems with lenses: sums
 * of what the kernels of views.cu write. */
#include "cuda/bundle/cuda/lens/device.cuh"

namespace {

const int NORMAL_THREADS = 128;
const int NORMAL_WARPS = NORMAL_THREADS / 32;

/* --- points ------------------------------------------------------------------------- */

/* The slice of this warp and the point of this lane. Returns: FALSE without a slice */
__device__ __forceinline__ gboolean
find_slice (const BundleLensDevice &d, guint32 *number, BundleSlice *slice,
    guint32 *point, gboolean *own)
{
  const guint32 lane = threadIdx.x % 32;

  *number = blockIdx.x * NORMAL_WARPS + threadIdx.x / 32;
  if (*number >= d.n_slices)
    return FALSE;
  *slice = d.slices[*number];
  *own = slice->n > 0 ? lane < slice->n : lane == 0;
  *point = slice->point + (slice->n > 0 && *own ? lane : 0);
  return TRUE;
}

/* Adds @N products, @stride apart, of the observations of each lane's point. */
template <int N>
__device__ __forceinline__ void
add_products (const BundleLensDevice &d, const BundleSlice &slice,
    guint32 stride, double (&sums)[N])
{
  for (guint32 j = 0; j < slice.width; j++) {
    const gsize slot = slice.slot + 32 * j + threadIdx.x % 32;

    if (d.slot_camera[slot] != BUNDLE_NONE)
#pragma unroll
      for (int e = 0; e < N; e++)
        sums[e] += d.products[stride * slot + e];
  }
  if (slice.n == 0)
    bundle_warp_sum (sums);
}

__device__ __forceinline__ gboolean
is_constant (const BundleLensDevice &d, guint32 point)
{
  return d.point_constant && d.point_constant[d.order[point]];
}

/* V, gradient and, if @first, scales */
__global__ void
__launch_bounds__ (NORMAL_THREADS)
    sum_points (BundleLensDevice d, gboolean first)
{
  guint32 number, p;
  BundleSlice slice;
  gboolean own;
  double sums[LENS_NORMAL] = {}, greatest = 0;

  if (!find_slice (d, &number, &slice, &p, &own))
    return;
  add_products (d, slice, LENS_NORMAL, sums);
  if (own) {
    if (is_constant (d, p))
      sums[6] = sums[7] = sums[8] = 0;
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
  if (threadIdx.x % 32 == 0)
    d.slice_sums[number] = greatest;
}

/* V^-1 with damping, and y = V^-1 g. One thread a point. */
__global__ void
damp_lens_points (BundleLensDevice d)
{
  const guint32 p = blockIdx.x * blockDim.x + threadIdx.x;
  double v[6], z[6] = {}, y[3];

  if (p >= d.n_points)
    return;
  const double *g = &d.v_gradient[3 * (gsize) p];

  for (int e = 0; e < 6; e++)
    v[e] = d.v[6 * (gsize) p + e];
  const double damping =
      bundle_damping (bundle_mean_square (v), d.v_scale[p], d.pcg->radius);

  v[0] += damping;
  v[3] += damping;
  v[5] += damping;
  if (!is_constant (d, p))
    bundle_invert_3 (v, z);
  bundle_multiply_3 (z, g[0], g[1], g[2], y);
  for (int e = 0; e < 6; e++)
    d.v_inverse[6 * (gsize) p + e] = z[e];
  for (int i = 0; i < 3; i++)
    d.points[p].y[i] = y[i];
}

/* y = -V^-1 (g + W^T x), and the squares of y and of the state */
__global__ void
__launch_bounds__ (NORMAL_THREADS) step_points (BundleLensDevice d)
{
  guint32 number, p;
  BundleSlice slice;
  gboolean own;
  double sums[3] = {}, squares[2] = {}, y[3];

  if (!find_slice (d, &number, &slice, &p, &own))
    return;
  add_products (d, slice, LENS_PRODUCT, sums);
  if (own) {
    const double *g = &d.v_gradient[3 * (gsize) p];
    const double *z = &d.v_inverse[6 * (gsize) p];

    bundle_multiply_3 (z, -g[0] - sums[0], -g[1] - sums[1], -g[2] - sums[2], y);
    for (int i = 0; i < 3; i++) {
      squares[0] += y[i] * y[i];
      squares[1] += d.points[p].x[i] * d.points[p].x[i];
      d.points[p].y[i] = y[i];
    }
  }
  bundle_warp_sum (squares);
  if (threadIdx.x % 32 == 0)
    for (int i = 0; i < 2; i++)
      d.slice_sums[2 * (gsize) number + i] = squares[i];
}

__global__ void
move_lens_points (BundleLensDevice d)
{
  const guint32 p = blockIdx.x * blockDim.x + threadIdx.x;

  if (p < d.n_points)
    for (int i = 0; i < 3; i++)
      d.points[p].x[i] += d.points[p].y[i];
}

/* --- cameras and lenses ---------------------------------------------------------------- */

__global__ void
make_constants (const double *parameters, guint32 n, BundleConstants *constants)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;

  if (c < n)
    bundle_constants (&parameters[9 * (gsize) c], &constants[c]);
}

/* Blocks, gradients and costs of the priors, in their order. One thread a camera. */
__global__ void
linearise_priors (BundleLensDevice d)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;
  double cost = 0;
  LensPrior sum = {};

  if (c >= d.n_cameras)
    return;
  for (guint32 i = d.prior_first[c]; i < d.prior_first[c + 1]; i++)
    cost += bundle_prior_linearize (
        &d.priors[i], &d.constants[c], sum.block, sum.gradient);
  d.prior_of[c] = sum;
  d.prior_sums[2 * (gsize) c] = cost;
  d.prior_sums[2 * (gsize) c + 1] = 0;
}

/* Their costs for the candidate, and the decrease of their model by the step @x. One
 * thread a camera. */
__global__ void
evaluate_priors (BundleLensDevice d, const double *x)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;
  double cost = 0, decrease = 0, weighted[3];

  if (c >= d.n_cameras)
    return;
  const LensPrior *prior = &d.prior_of[c];
  const double *v = &x[LENS_POSE * (gsize) c + 3];

  for (guint32 i = d.prior_first[c]; i < d.prior_first[c + 1]; i++)
    cost += bundle_prior_cost (&d.priors[i], &d.new_constants[c], weighted);
  for (int i = 0; i < 3; i++) {
    double product = 0;

    for (int j = 0; j < 3; j++)
      product += prior->block[3 * i + j] * v[j];
    decrease -= v[i] * (prior->gradient[i] + product / 2);
  }
  d.prior_sums[2 * (gsize) c] = cost;
  d.prior_sums[2 * (gsize) c + 1] = decrease;
}

/* Gradient and diagonal of the poses. One warp a pose. */
template <int C>
__global__ void
__launch_bounds__ (NORMAL_THREADS)
    sum_poses (BundleLensDevice d, gboolean first)
{
  const guint32 c = blockIdx.x * NORMAL_WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32, e = lane % LENS_POSE;
  double greatest = 0;

  if (c >= d.n_poses)
    return;
  double sum = bundle_lens_add_rows (d.rows, 2 * (LENS_POSE + C), 2 * LENS_POSE,
      NULL, d.pose_rows[c], d.pose_rows[c + 1], 0, 1);
  const gsize at = LENS_POSE * (gsize) c + e;

  if (C == BUNDLE_LENS_SIZE && d.priors && e >= 3)
    sum += lane < LENS_POSE ? d.prior_of[c].gradient[e - 3]
                            : d.prior_of[c].block[4 * (e - 3)];
  if (lane < LENS_POSE) {
    d.gradient[at] = d.camera_constant[c] >> e & 1 ? 0 : sum;
    greatest = fabs (d.gradient[at]);
  } else if (lane < 2 * LENS_POSE) {
    d.diagonal[at] = sum;
    if (first)
      d.scale[at] = bundle_column_scale (sum);
  }
  for (int other = 16; other > 0; other /= 2)
    greatest = fmax (greatest, __shfl_xor_sync (0xffffffffu, greatest, other));
  if (lane == 0)
    d.camera_sums[c] = greatest;
}

/* Sums of @n columns of a chunk of rows, from column @at on. One warp a chunk. */
__global__ void
__launch_bounds__ (NORMAL_THREADS) sum_chunks (LensRows rows,
    const double *values, guint32 stride, guint32 at, guint32 n, double *out)
{
  const guint32 number = blockIdx.x * NORMAL_WARPS + threadIdx.x / 32;

  if (number >= rows.n_chunks)
    return;
  const LensChunk chunk = rows.chunks[number];

  for (guint32 e = 0; e < n; e += 16) {
    const double sum = bundle_lens_add_rows (values + at + e, stride,
        (int) MIN (16, n - e), rows.list, chunk.begin, chunk.end, 0, 1);

    if (threadIdx.x % 32 < MIN (16, n - e))
      out[n * (gsize) number + e + threadIdx.x % 32] = sum;
  }
}

/* Gradient and diagonal of the lenses, from the sums of the chunks. One block a lens. */
template <int C>
__global__ void
__launch_bounds__ (NORMAL_THREADS)
    sum_lenses (BundleLensDevice d, gboolean first)
{
  __shared__ double gradients[C];
  const guint32 lens = blockIdx.x;
  const guint32 begin = d.rows_of.of_lens[lens];
  const guint32 end = d.rows_of.of_lens[lens + 1];

  for (int column = 0; column < C; column += 16) {
    const int n = MIN (16, C - column), e = column + (int) threadIdx.x;
    const gsize at = bundle_lens_first<C> (d, lens) + e;
    const double gradient = bundle_lens_add_rows_by_block (
        d.chunk_sums + column, 2 * C, n, begin, end);
    const double square = bundle_lens_add_rows_by_block (
        d.chunk_sums + C + column, 2 * C, n, begin, end);

    if (e >= column + n)
      continue;
    d.gradient[at] = gradient;
    d.diagonal[at] = square;
    if (first)
      d.scale[at] = bundle_column_scale (square);
    gradients[e] = fabs (gradient);
  }
  __syncthreads ();
  if (threadIdx.x == 0) {
    double greatest = 0;

    for (int i = 0; i < C; i++)
      greatest = fmax (greatest, gradients[i]);
    d.lens_sums[lens] = greatest;
  }
}

/* --- damping and preconditioner ---------------------------------------------------------- */

/* Whether element @i of a vector is of a constant parameter */
__device__ __forceinline__ gboolean
is_fixed (const BundleLensDevice &d, gsize i)
{
  const gsize n = LENS_POSE * (gsize) d.n_poses;

  if (i < n)
    return d.camera_constant[i / LENS_POSE] >> i % LENS_POSE & 1;
  i -= n;
  return d.info[i / d.columns].constant >> i % d.columns & 1;
}

__global__ void
damp_vector (BundleLensDevice d)
{
  const gsize i = blockIdx.x * (gsize) blockDim.x + threadIdx.x;

  if (i < d.n_vector)
    d.damping[i] = is_fixed (d, i) ? 0
                                   : bundle_damping (d.diagonal[i], d.scale[i],
                                       d.pcg->radius);
}

/* One warp a camera */
__global__ void
__launch_bounds__ (NORMAL_THREADS) sum_camera_triangles (BundleLensDevice d)
{
  const guint32 c = blockIdx.x * NORMAL_WARPS + threadIdx.x / 32;

  if (c >= d.n_cameras)
    return;
  for (int e = threadIdx.x % 32; e < LENS_TRIANGLE; e += 32) {
    double sum = 0;

    for (guint32 s = d.camera_segments[c]; s < d.camera_segments[c + 1]; s++)
      sum += d.partial[LENS_TRIANGLE * (gsize) s + e];
    d.triangles[LENS_TRIANGLE * (gsize) c + e] = sum;
  }
  __syncwarp ();
  if (d.priors && threadIdx.x % 32 == 0)
    for (int i = 0; i < 3; i++)
      for (int j = i; j < 3; j++)
        d.triangles[LENS_TRIANGLE * (gsize) c
                    + bundle_lens_packed (LENS_UNKNOWNS, 3 + i, 3 + j)] +=
            d.prior_of[c].block[3 * i + j];
}

/* B^-1, from the blocks of the pose's cameras. One thread a pose. */
template <int C>
__global__ void __launch_bounds__ (64) invert_poses (BundleLensDevice d)
{
  const int N = LENS_POSE + C;
  const guint32 p = blockIdx.x * blockDim.x + threadIdx.x;

  if (p >= d.n_poses)
    return;
  guint32 n;
  const guint32 first = bundle_lens_cameras<C> (d, p, &n);
  const guint constant = d.camera_constant[p];
  double a[LENS_POSE * LENS_POSE];

  for (int i = 0; i < LENS_POSE; i++)
    for (int j = 0; j < LENS_POSE; j++) {
      double sum = 0;

      for (guint32 c = first; c < first + n; c++)
        sum += d.folded[LENS_PACKED (N) * (gsize) c
                        + bundle_lens_packed (N, i, j)];
      a[LENS_POSE * i + j] =
          (constant >> i | constant >> j) & 1
              ? 0
              : sum + (i == j ? d.damping[LENS_POSE * (gsize) p + i] : 0);
    }
  bundle_invert (a, LENS_POSE, LENS_POSE);
  for (int i = 0; i < LENS_POSE * LENS_POSE; i++)
    d.inverses[LENS_POSE * LENS_POSE * (gsize) p + i] = a[i];
}

/* W, B^-1 W and the camera's part of T = L - sum of W^T B^-1 W. One thread a camera. */
template <int C>
__global__ void __launch_bounds__ (64) couple_lenses (BundleLensDevice d)
{
  const int N = LENS_POSE + C;
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;

  if (c >= d.n_cameras)
    return;
  const guint32 p = C == BUNDLE_LENS_SIZE ? c : d.pose_of[c];
  const double *from = &d.folded[LENS_PACKED (N) * (gsize) c];
  const double *inverse = &d.inverses[LENS_POSE * LENS_POSE * (gsize) p];
  double *part = &d.parts[LENS_PACKED (C) * (gsize) c];
  const int n = C == BUNDLE_LENS_SIZE ? d.info[d.lens_of[c]].size : C;
  const guint constant = d.camera_constant[p];
  double w[LENS_POSE * C], solved[LENS_POSE * C];

  for (int i = 0; i < LENS_POSE; i++)
    for (int j = 0; j < C; j++)
      w[C * i + j] = (constant >> i & 1) || j >= n
                         ? 0
                         : from[bundle_lens_packed (N, i, LENS_POSE + j)];
  for (int i = 0; i < LENS_POSE; i++)
    for (int j = 0; j < C; j++) {
      double sum = 0;

      for (int k = 0; k < LENS_POSE; k++)
        sum += inverse[LENS_POSE * i + k] * w[C * k + j];
      solved[C * i + j] = sum;
    }
  for (int i = 0, at = 0; i < C; i++)
    for (int j = i; j < C; j++, at++) {
      double sum =
          j >= n ? 0
                 : from[bundle_lens_packed (N, LENS_POSE + i, LENS_POSE + j)];

      for (int k = 0; k < LENS_POSE; k++)
        sum -= w[C * k + i] * solved[C * k + j];
      part[at] = sum;
    }
  for (int i = 0; i < LENS_POSE * C; i++) {
    d.couplings[LENS_POSE * C * (gsize) c + i] = w[i];
    d.solved[LENS_POSE * C * (gsize) c + i] = solved[i];
  }
}

/* T^-1 from the sums of the chunks. One block a lens. */
__global__ void
__launch_bounds__ (NORMAL_THREADS) invert_lenses (BundleLensDevice d)
{
  const int PART = LENS_PACKED (BUNDLE_LENS_SIZE);
  __shared__ double a[BUNDLE_LENS_SIZE * BUNDLE_LENS_SIZE];
  __shared__ double part[PART];
  const guint32 lens = blockIdx.x;
  const guint32 begin = d.cameras_of.of_lens[lens];
  const guint32 end = d.cameras_of.of_lens[lens + 1];
  const double *damping =
      d.damping + bundle_lens_first<BUNDLE_LENS_SIZE> (d, lens);

  for (int e = 0; e < PART; e += 16) {
    const int n = MIN (16, PART - e);
    const double sum =
        bundle_lens_add_rows_by_block (d.chunk_sums + e, PART, n, begin, end);

    if ((int) threadIdx.x < n)
      part[e + threadIdx.x] = sum;
  }
  __syncthreads ();
  for (int e = threadIdx.x; e < BUNDLE_LENS_SIZE * BUNDLE_LENS_SIZE;
       e += NORMAL_THREADS) {
    const int i = e / BUNDLE_LENS_SIZE, j = e % BUNDLE_LENS_SIZE;

    a[e] = part[bundle_lens_packed (BUNDLE_LENS_SIZE, i, j)]
           + (i == j ? damping[i] : 0);
  }
  __syncthreads ();
  if (threadIdx.x == 0)
    bundle_invert (a, BUNDLE_LENS_SIZE, BUNDLE_LENS_SIZE);
  __syncthreads ();
  for (int e = threadIdx.x; e < BUNDLE_LENS_SIZE * BUNDLE_LENS_SIZE;
       e += NORMAL_THREADS)
    d.lens_inverse[BUNDLE_LENS_SIZE * BUNDLE_LENS_SIZE * (gsize) lens + e] =
        a[e];
}

/* --- candidates ---------------------------------------------------------------------------- */

/* One thread a pose */
__global__ void
move_cameras (BundleLensDevice d)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;
  double squares[2] = {}, step[9] = {};

  if (c >= d.n_poses)
    return;
  const double *camera = &d.parameters[9 * (gsize) c];

  for (int e = 0; e < LENS_POSE; e++)
    step[e] = d.x[LENS_POSE * (gsize) c + e];
  bundle_add_squares (camera, step, 9, squares);
  bundle_move_camera (camera, step, &d.candidate[9 * (gsize) c]);
  for (int i = 0; i < 2; i++)
    d.camera_sums[2 * (gsize) c + i] = squares[i];
}

/* One thread a lens */
template <int C>
__global__ void
move_lenses (BundleLensDevice d)
{
  const guint32 lens = blockIdx.x * blockDim.x + threadIdx.x;
  double squares[2] = {};

  if (lens >= d.n_lenses)
    return;
  const LensInfo info = d.info[lens];
  const double *old = &d.lenses[BUNDLE_LENS_SIZE * (gsize) lens];
  const double *step = d.x + bundle_lens_first<C> (d, lens);

  for (int e = 0; e < BUNDLE_LENS_SIZE; e++) {
    const double unit = bundle_lens_unit (info.n_focal, old, e);

    d.new_lenses[BUNDLE_LENS_SIZE * (gsize) lens + e] = old[e] + step[e];
    if (e >= info.size || (info.constant >> e & 1))
      continue;
    squares[0] += step[e] / unit * (step[e] / unit);
    squares[1] += old[e] / unit * (old[e] / unit);
  }
  if (C > BUNDLE_LENS_SIZE && !(info.constant >> BUNDLE_LENS_SIZE & 1)) {
    const double *sensor = &d.sensors[9 * (gsize) lens];
    double turn[9] = {};

    for (int e = 0; e < LENS_POSE; e++)
      turn[e] = step[BUNDLE_LENS_SIZE + e];
    bundle_add_squares (sensor, turn, LENS_POSE, squares);
    bundle_move_camera (sensor, turn, &d.new_sensors[9 * (gsize) lens]);
  }
  for (int i = 0; i < 2; i++)
    d.lens_sums[2 * (gsize) lens + i] = squares[i];
}

} // namespace

/* --- launches ------------------------------------------------------------------------------ */

cudaError_t
bundle_lens_prepare_cameras (
    const BundleLensDevice *device, gboolean candidate, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;

  if (d.pose_cameras)
    return bundle_lens_place_cameras (device, candidate, stream);
  BUNDLE_START (make_constants, bundle_blocks_for (d.n_cameras, 64), 64, stream,
      candidate ? d.candidate : d.parameters, d.n_cameras,
      candidate ? d.new_constants : d.constants);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_linearise (
    const BundleLensDevice *device, gboolean first, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;
  cudaError_t code = bundle_lens_linearise_views (device, stream);

  if (code != cudaSuccess)
    return code;
  launch_columns<1, false> (d, d.segment_sums, d.n_segments,
      &d.results[LENS_RESULT_STATE_COST], stream);
  BUNDLE_START (sum_points, bundle_blocks_for (d.n_slices, NORMAL_WARPS),
      NORMAL_THREADS, stream, d, first);
  launch_columns<1, true> (d, d.slice_sums, d.n_slices,
      &d.results[LENS_RESULT_POINT_GRADIENT], stream);
  if (d.priors) {
    BUNDLE_START (
        linearise_priors, bundle_blocks_for (d.n_cameras, 64), 64, stream, d);
    launch_columns<2, false> (d, d.prior_sums, d.n_cameras,
        &d.results[LENS_RESULT_PRIOR_STATE_COST], stream);
  }
  code = bundle_lens_fold_linear (device, stream);
  if (code != cudaSuccess)
    return code;
  LENS_START (sum_poses, bundle_blocks_for (d.n_poses, NORMAL_WARPS),
      NORMAL_THREADS, stream, d, first);
  launch_columns<1, true> (d, d.camera_sums, d.n_poses,
      &d.results[LENS_RESULT_CAMERA_GRADIENT], stream);
  BUNDLE_START (sum_chunks,
      bundle_blocks_for (d.rows_of.n_chunks, NORMAL_WARPS), NORMAL_THREADS,
      stream, d.rows_of, d.rows, 2 * d.row_size, 2 * LENS_POSE, 2 * d.columns,
      d.chunk_sums);
  LENS_START (sum_lenses, d.n_lenses, NORMAL_THREADS, stream, d, first);
  launch_columns<1, true> (d, d.lens_sums, d.n_lenses,
      &d.results[LENS_RESULT_LENS_GRADIENT], stream);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_add_triangles (const BundleLensDevice *device, cudaStream_t stream)
{
  BUNDLE_START (sum_camera_triangles,
      bundle_blocks_for (device->n_cameras, NORMAL_WARPS), NORMAL_THREADS,
      stream, *device);
  return bundle_lens_fold_triangles (device, stream);
}

cudaError_t
bundle_lens_damp (const BundleLensDevice *device, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;
  cudaError_t code;

  BUNDLE_START (
      damp_lens_points, bundle_blocks_for (d.n_points, 128), 128, stream, d);
  BUNDLE_START (
      damp_vector, bundle_blocks_for (d.n_vector, 128), 128, stream, d);
  code = bundle_lens_sum_triangles (device, FALSE, stream);
  if (code == cudaSuccess)
    code = bundle_lens_add_triangles (device, stream);
  if (code != cudaSuccess)
    return code;
  LENS_START (invert_poses, bundle_blocks_for (d.n_poses, 64), 64, stream, d);
  LENS_START (
      couple_lenses, bundle_blocks_for (d.n_cameras, 64), 64, stream, d);
  BUNDLE_START (sum_chunks,
      bundle_blocks_for (d.cameras_of.n_chunks, NORMAL_WARPS), NORMAL_THREADS,
      stream, d.cameras_of, d.parts, LENS_PACKED (d.columns), 0,
      LENS_PACKED (d.columns), d.chunk_sums);
  if (d.pose_cameras)
    return bundle_lens_invert_groups (device, stream);
  BUNDLE_START (invert_lenses, d.n_lenses, NORMAL_THREADS, stream, d);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_evaluate (const BundleLensDevice *device, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;
  const double *x = bundle_lens_expand (device, d.x, FALSE, stream);
  cudaError_t code = bundle_lens_multiply_forward (device, x, FALSE, stream);

  if (code != cudaSuccess)
    return code;
  BUNDLE_START (step_points, bundle_blocks_for (d.n_slices, NORMAL_WARPS),
      NORMAL_THREADS, stream, d);
  BUNDLE_START (move_cameras, bundle_blocks_for (d.n_poses, 64), 64, stream, d);
  LENS_START (move_lenses, bundle_blocks_for (d.n_lenses, 64), 64, stream, d);
  code = bundle_lens_prepare_cameras (device, TRUE, stream);
  if (code == cudaSuccess)
    code = bundle_lens_evaluate_views (device, x, stream);
  if (code != cudaSuccess)
    return code;
  if (d.priors) {
    BUNDLE_START (
        evaluate_priors, bundle_blocks_for (d.n_cameras, 64), 64, stream, d, x);
    launch_columns<2, false> (d, d.prior_sums, d.n_cameras,
        &d.results[LENS_RESULT_PRIOR_COST], stream);
  }
  launch_columns<2, false> (
      d, d.slice_sums, d.n_slices, &d.results[LENS_RESULT_POINT_STEP], stream);
  launch_columns<2, false> (
      d, d.camera_sums, d.n_poses, &d.results[LENS_RESULT_CAMERA_STEP], stream);
  launch_columns<2, false> (
      d, d.lens_sums, d.n_lenses, &d.results[LENS_RESULT_LENS_STEP], stream);
  launch_columns<2, false> (
      d, d.segment_sums, d.n_segments, &d.results[LENS_RESULT_COST], stream);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_accept (const BundleLensDevice *device, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;
  cudaError_t code = cudaMemcpyAsync (d.parameters, d.candidate,
      9 * (gsize) d.n_poses * sizeof *d.parameters, cudaMemcpyDeviceToDevice,
      stream);

  if (code == cudaSuccess)
    code = cudaMemcpyAsync (d.lenses, d.new_lenses,
        BUNDLE_LENS_SIZE * (gsize) d.n_lenses * sizeof *d.lenses,
        cudaMemcpyDeviceToDevice, stream);
  if (code == cudaSuccess && d.pose_cameras)
    code = cudaMemcpyAsync (d.sensors, d.new_sensors,
        9 * (gsize) d.n_lenses * sizeof *d.sensors, cudaMemcpyDeviceToDevice,
        stream);
  if (code != cudaSuccess)
    return code;
  BUNDLE_START (
      move_lens_points, bundle_blocks_for (d.n_points, 128), 128, stream, d);
  return bundle_lens_prepare_cameras (device, FALSE, stream);
}
