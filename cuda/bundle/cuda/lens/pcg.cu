/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Preconditioned conjugate gradients of problems with lenses. alpha, beta and the
 * stopping test stay on the device; once done is set, the kernels of queued iterations
 * return at once.
 *
 * The preconditioner is an arrow for each lens (docs/design/bundle.md). With u = B^-1 r
 * of the poses and s = r - sum of W^T u of the lens, z = T^-1 s of the lens and
 * z = u - B^-1 W z of the poses, so r . z is the sum of r . u and s . z. With rigs there is
 * one for each group of lenses. @C: columns of a lens. */
#include "cuda/bundle/cuda/lens/device.cuh"

namespace {

const int PCG_THREADS = 256;
const int PCG_WARPS = PCG_THREADS / 32;

/* Sum of column LENS_DOT_... over all blocks, the same in all threads. */
__device__ __forceinline__ double
add_lens_dots (const BundleLensDevice &d, int column)
{
  __shared__ double total;
  double sum[1] = {};

  for (guint32 i = threadIdx.x; i < d.camera_blocks + d.lens_blocks;
       i += blockDim.x)
    sum[0] += d.dots[LENS_N_DOTS * i + column];
  bundle_block_sum (sum);
  if (threadIdx.x == 0)
    total = sum[0];
  __syncthreads ();
  sum[0] = total;
  __syncthreads ();
  return sum[0];
}

/* Writes the sums of a block to columns @first.. of dots. */
template <int N>
__device__ __forceinline__ void
put_dots (const BundleLensDevice &d, int first, double (&sums)[N])
{
  bundle_block_sum (sums);
  if (threadIdx.x == 0)
    for (int e = 0; e < N; e++)
      d.dots[LENS_N_DOTS * blockIdx.x + first + e] = sums[e];
}

/* y = V^-1 W^T x of the points, from the products. One warp a slice. */
__global__ void
__launch_bounds__ (PCG_THREADS) eliminate_points (BundleLensDevice d)
{
  const guint32 number = blockIdx.x * PCG_WARPS + threadIdx.x / 32;
  const guint32 lane = threadIdx.x % 32;
  double sums[3] = {}, y[3];

  if (d.pcg->done || number >= d.n_slices)
    return;
  const BundleSlice slice = d.slices[number];

  for (guint32 j = 0; j < slice.width; j++) {
    const gsize slot = slice.slot + 32 * j + lane;

    if (d.slot_camera[slot] != BUNDLE_NONE) {
      const double2 *from =
          (const double2 *) (d.products + LENS_PRODUCT * slot);
      const double2 one = from[0], other = from[1];

      sums[0] += one.x;
      sums[1] += one.y;
      sums[2] += other.x;
    }
  }
  if (slice.n == 0)
    bundle_warp_sum (sums);
  if (slice.n > 0 ? lane >= slice.n : lane > 0)
    return;
  const guint32 p = slice.point + lane;

  bundle_multiply_3 (&d.v_inverse[6 * (gsize) p], sums[0], sums[1], sums[2], y);
  for (int i = 0; i < 3; i++)
    d.points[p].y[i] = y[i];
}

/* From the sums of segments (with rigs: cameras), those of W y - U x: @start: b = -g + the
 * sum, otherwise q = D p - the sum, and p . q. One warp a pose, then one a chunk of
 * segments, whose sums are those of the lens. */
template <int C>
__global__ void
__launch_bounds__ (PCG_THREADS)
    finish_poses (BundleLensDevice d, gboolean start)
{
  const gsize N = LENS_POSE + C;
  const guint32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  if (d.pcg->done)
    return;
  if (blockIdx.x >= d.camera_blocks) {
    const guint32 number = (blockIdx.x - d.camera_blocks) * PCG_WARPS + warp;

    if (number >= d.rows_of.n_chunks)
      return;
    const LensChunk chunk = d.rows_of.chunks[number];

#pragma unroll
    for (int e = 0; e < C; e += 16) {
      const double sum = bundle_lens_add_rows (d.rows + LENS_POSE + e, N,
          MIN (16, C - e), d.rows_of.list, chunk.begin, chunk.end, 0, 1);

      if ((int) lane < MIN (16, C - e))
        d.chunk_sums[C * (gsize) number + e + lane] = sum;
    }
    return;
  }

  double dot[1] = {};

  for (guint32 c = blockIdx.x * PCG_WARPS + warp; c < d.n_poses;
       c += d.camera_blocks * PCG_WARPS) {
    const double sum = bundle_lens_add_rows (
        d.rows, N, LENS_POSE, NULL, d.pose_rows[c], d.pose_rows[c + 1], 0, 1);

    if (lane < LENS_POSE) {
      const gsize i = LENS_POSE * (gsize) c + lane;
      const double p = d.direction[i];
      double out = start ? -d.gradient[i] + sum : d.damping[i] * p - sum;

      if (C == BUNDLE_LENS_SIZE && d.priors && !start && lane >= 3)
        for (int k = 0; k < 3; k++)
          out += d.prior_of[c].block[3 * (lane - 3) + k]
                 * d.direction[LENS_POSE * (gsize) c + 3 + k];
      if (d.camera_constant[c] >> lane & 1)
        out = 0;
      (start ? d.b : d.q)[i] = out;
      dot[0] += p * out;
    }
  }
  put_dots (d, LENS_DOT_PQ, dot);
}

/* The same of the lenses, from the sums of the chunks. Blocks are numbered after those
 * of the poses; one block a lens. */
template <int C>
__global__ void
__launch_bounds__ (PCG_THREADS)
    finish_lenses (BundleLensDevice d, gboolean start)
{
  double dot = 0;

  if (d.pcg->done)
    return;
  for (guint32 lens = blockIdx.x; lens < d.n_lenses; lens += d.lens_blocks)
#pragma unroll
    for (int e = 0; e < C; e += 16) {
      const int n = MIN (16, C - e);
      const double sum = bundle_lens_add_rows_by_block (d.chunk_sums + e, C, n,
          d.rows_of.of_lens[lens], d.rows_of.of_lens[lens + 1]);

      if ((int) threadIdx.x < n) {
        const gsize i = bundle_lens_first<C> (d, lens) + e + threadIdx.x;
        const double p = d.direction[i];
        const double out =
            start ? -d.gradient[i] + sum : d.damping[i] * p - sum;

        (start ? d.b : d.q)[i] = out;
        dot += p * out;
      }
    }

  double dots[1] = { dot };

  bundle_block_sum (dots);
  if (threadIdx.x == 0)
    d.dots[LENS_N_DOTS * (d.camera_blocks + blockIdx.x) + LENS_DOT_PQ] =
        dots[0];
}

/* x += alpha p, r -= alpha q of element @i, or x = 0, r = b. Returns: x (b + r) */
__device__ __forceinline__ double
step_element (const BundleLensDevice &d, gsize i, gboolean start, double alpha)
{
  const double b = d.b[i];
  const double x = start ? 0 : d.x[i] + alpha * d.direction[i];
  const double r = start ? b : d.r[i] - alpha * d.q[i];

  d.x[i] = x;
  d.r[i] = r;
  return x * (b + r);
}

/* The step, then u = B^-1 r and W^T u of the poses; the dots r . u and x . (b + r). One
 * warp a pose; the blocks behind: elements of lenses. */
template <int C>
__global__ void
__launch_bounds__ (PCG_THREADS)
    step_vectors (BundleLensDevice d, gboolean start, guint parity)
{
  const guint32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  double alpha = 0, dots[2] = {};

  if (d.pcg->done)
    return;
  if (!start) {
    const double curvature = add_lens_dots (d, LENS_DOT_PQ);

    alpha = d.pcg->rho[parity] / curvature;
    if (!(curvature > 0) || !isfinite (alpha)) {
      if (blockIdx.x == 0 && threadIdx.x == 0)
        d.pcg->done = 2;
      return;
    }
  }
  if (blockIdx.x >= d.camera_blocks) {
    const gsize step = d.lens_blocks * (gsize) PCG_THREADS;
    gsize i = LENS_POSE * (gsize) d.n_poses
              + (blockIdx.x - d.camera_blocks) * (gsize) PCG_THREADS
              + threadIdx.x;

    for (; i < d.n_vector; i += step)
      dots[1] += step_element (d, i, start, alpha);
    bundle_block_sum (dots);
    if (threadIdx.x == 0)
      d.dots[LENS_N_DOTS * blockIdx.x + LENS_DOT_MODEL] = dots[1];
    return;
  }
  for (guint32 p = blockIdx.x * PCG_WARPS + warp; p < d.n_poses;
       p += d.camera_blocks * PCG_WARPS) {
    const gsize first = LENS_POSE * (gsize) p;
    const double *inverse = &d.inverses[LENS_POSE * first];
    guint32 n;
    const guint32 camera = bundle_lens_cameras<C> (d, p, &n);
    const int row = (int) MIN (lane, LENS_POSE - 1);
    const int column = (int) MIN (lane, C - 1);
    double r = 0, u = 0;

    if (lane < LENS_POSE) {
      dots[1] += step_element (d, first + lane, start, alpha);
      r = d.r[first + lane];
    }
#pragma unroll
    for (int k = 0; k < LENS_POSE; k++)
      u += inverse[LENS_POSE * row + k] * __shfl_sync (0xffffffffu, r, k);
    for (guint32 i = 0; i < n; i++) {
      const gsize c = camera + i;
      const double *coupling = &d.couplings[LENS_POSE * C * c];
      double part = 0;

#pragma unroll
      for (int k = 0; k < LENS_POSE; k++)
        part += coupling[C * k + column] * __shfl_sync (0xffffffffu, u, k);
      if (lane < C)
        d.contributions[C * c + lane] = part;
    }
    if (lane < LENS_POSE) {
      d.u[first + lane] = u;
      dots[0] += r * u;
    }
  }
  put_dots (d, LENS_DOT_RZ, dots);
}

/* One warp a chunk of cameras */
template <int C>
__global__ void
__launch_bounds__ (PCG_THREADS) sum_contributions (BundleLensDevice d)
{
  const guint32 number = blockIdx.x * PCG_WARPS + threadIdx.x / 32;

  if (d.pcg->done || number >= d.cameras_of.n_chunks)
    return;
  const LensChunk chunk = d.cameras_of.chunks[number];

#pragma unroll
  for (int e = 0; e < C; e += 16) {
    const double sum = bundle_lens_add_rows (d.contributions + e, C,
        MIN (16, C - e), d.cameras_of.list, chunk.begin, chunk.end, 0, 1);

    if ((int) (threadIdx.x % 32) < MIN (16, C - e))
      d.chunk_sums[C * (gsize) number + e + threadIdx.x % 32] = sum;
  }
}

/* u = T^-1 (r - sum of W^T u) of the lenses, and its dot. One block a lens. */
__global__ void
__launch_bounds__ (PCG_THREADS) precondition_lenses (BundleLensDevice d)
{
  __shared__ double right[BUNDLE_LENS_SIZE];
  const guint32 e = threadIdx.x;
  double dots[1] = {};

  if (d.pcg->done)
    return;
  for (guint32 lens = blockIdx.x; lens < d.n_lenses; lens += d.lens_blocks) {
    const double sum = bundle_lens_add_rows_by_block (d.chunk_sums,
        BUNDLE_LENS_SIZE, BUNDLE_LENS_SIZE, d.cameras_of.of_lens[lens],
        d.cameras_of.of_lens[lens + 1]);
    const double *inverse =
        &d.lens_inverse[BUNDLE_LENS_SIZE * BUNDLE_LENS_SIZE * (gsize) lens];
    const gsize first = bundle_lens_first<BUNDLE_LENS_SIZE> (d, lens);

    if (e < BUNDLE_LENS_SIZE)
      right[e] = d.r[first + e] - sum;
    __syncthreads ();
    if (e < BUNDLE_LENS_SIZE) {
      double z = 0;

      for (int k = 0; k < BUNDLE_LENS_SIZE; k++)
        z += inverse[BUNDLE_LENS_SIZE * e + k] * right[k];
      d.u[first + e] = z;
      dots[0] += right[e] * z;
    }
  }
  bundle_block_sum (dots);
  if (e == 0)
    d.dots[LENS_N_DOTS * (d.camera_blocks + blockIdx.x) + LENS_DOT_RZ] =
        dots[0];
}

/* The stopping test, and p = z + beta p; @first: p = z. One thread an element. */
template <int C>
__global__ void
__launch_bounds__ (PCG_THREADS)
    turn_vector (BundleLensDevice d, gboolean first, guint parity)
{
  const gsize n = LENS_POSE * (gsize) d.n_poses;

  if (d.pcg->done)
    return;
  const double rho = add_lens_dots (d, LENS_DOT_RZ);
  const double beta = first ? 0 : rho / d.pcg->rho[parity];

  for (gsize i = blockIdx.x * (gsize) PCG_THREADS + threadIdx.x; i < d.n_vector;
       i += gridDim.x * (gsize) PCG_THREADS) {
    double z = d.u[i];

    if (i < n) {
      guint32 n_cameras;
      const guint32 camera =
          bundle_lens_cameras<C> (d, (guint32) (i / LENS_POSE), &n_cameras);

      for (guint32 k = 0; k < n_cameras; k++) {
        const guint32 c = camera + k;
        const double *solved =
            &d.solved[C * (LENS_POSE * (gsize) c + i % LENS_POSE)];
        const double *lens = d.u + bundle_lens_first<C> (d, d.lens_of[c]);

#pragma unroll
        for (int e = 0; e < C; e++)
          z -= solved[e] * lens[e];
      }
    }
    d.direction[i] = first ? z : z + beta * d.direction[i];
  }
  if (blockIdx.x > 0)
    return;

  const double model = add_lens_dots (d, LENS_DOT_MODEL);

  if (threadIdx.x > 0)
    return;
  BundlePcg *pcg = d.pcg;

  pcg->rho[first ? parity : 1 - parity] = rho;
  if (first) {
    pcg->model = 0;
    if (!(rho > 0) || !isfinite (rho))
      pcg->done = 1;
    return;
  }
  const guint32 iterations = pcg->iterations + 1;

  pcg->iterations = iterations;
  if (iterations * (model - pcg->model) < d.eta * model
      || iterations >= d.max_pcg || !(rho > 0) || !isfinite (rho))
    pcg->done = 1;
  pcg->model = model;
}

/* The vectors after products of the segments: b or a step, z, and the next direction */
cudaError_t
start_vectors (const BundleLensDevice &d, gboolean start, guint parity,
    cudaStream_t stream)
{
  const guint blocks = d.camera_blocks + d.lens_blocks;
  cudaError_t code = bundle_lens_fold_products (&d, start, stream);

  LENS_START (finish_poses,
      d.camera_blocks + bundle_blocks_for (d.rows_of.n_chunks, PCG_WARPS),
      PCG_THREADS, stream, d, start);
  LENS_START (finish_lenses, d.lens_blocks, PCG_THREADS, stream, d, start);
  LENS_START (step_vectors, blocks, PCG_THREADS, stream, d, start, parity);
  LENS_START (sum_contributions,
      bundle_blocks_for (d.cameras_of.n_chunks, PCG_WARPS), PCG_THREADS, stream,
      d);
  if (d.pose_cameras && code == cudaSuccess)
    code = bundle_lens_precondition_groups (&d, stream);
  else
    BUNDLE_START (precondition_lenses, d.lens_blocks, PCG_THREADS, stream, d);
  LENS_START (turn_vector, blocks, PCG_THREADS, stream, d, start, parity);
  return code == cudaSuccess ? cudaGetLastError () : code;
}

} // namespace

/* --- launches ------------------------------------------------------------------------------ */

cudaError_t
bundle_lens_pcg_start (const BundleLensDevice *device, cudaStream_t stream)
{
  const cudaError_t code = bundle_lens_multiply_backward (device, NULL, stream);

  if (code != cudaSuccess)
    return code;
  return start_vectors (*device, TRUE, 0, stream);
}

cudaError_t
bundle_lens_pcg_iterate (
    const BundleLensDevice *device, guint parity, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;
  const double *x = bundle_lens_expand (device, d.direction, TRUE, stream);
  cudaError_t code = bundle_lens_multiply_forward (device, x, TRUE, stream);

  if (code != cudaSuccess)
    return code;
  BUNDLE_START (eliminate_points, bundle_blocks_for (d.n_slices, PCG_WARPS),
      PCG_THREADS, stream, d);
  code = bundle_lens_multiply_backward (device, x, stream);
  if (code != cudaSuccess)
    return code;
  return start_vectors (d, FALSE, parity, stream);
}
