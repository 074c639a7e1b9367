/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* Preconditioned conjugate gradients on the Schur complement or on the full
 * system. alpha, beta and the stopping test stay on the device: once done is
 * set, the kernels of queued iterations return at once. */
#include "cuda/bundle/cuda/engine.cuh"

namespace {

const int THREADS = 128;
const int WARPS = THREADS / 32;
const int VECTOR_THREADS = BUNDLE_VECTOR_THREADS;
const int VECTOR_WARPS = VECTOR_THREADS / 32;

guint
blocks_for (gsize n, guint each)
{
  return (guint) ((n + each - 1) / each);
}

/* --- access to an observation's J or W ----------------------------------- */

/* Element @e of N of observation @i of @n. */
template <typename T, int N, bool BLOCK>
__device__ __forceinline__ T *
stored_element (void *stored, gsize n, gsize i, int e)
{
  return (T *) stored + (BLOCK ? i * N + e : e * n + i);
}

/* Recomputes J. The vector's rotation is multiplied by L before, the sums'
 * rotation by L^T after. */
struct Recompute {
  static const bool LEFT = true;

  static __device__ __forceinline__ void
  to_point (const BundleDevice &d, guint32 slot, guint32 camera,
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

  static __device__ __forceinline__ void
  to_camera (const BundleDevice &d, guint32 view, const BundleConstants &c,
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
};

/* J stored, Jc before Jp. */
template <typename T, bool BLOCK> struct StoredJ {
  static const bool LEFT = false;
  typedef T Element;
  static const int N = 24;

  static __device__ __forceinline__ void
  store (void *stored, gsize n, gsize i, const double jc[18],
      const double jp[6], double weight)
  {
    weight = sqrt (weight);
    for (int e = 0; e < 18; e++)
      *stored_element<T, N, BLOCK> (stored, n, i, e) = (T) (weight * jc[e]);
    for (int e = 0; e < 6; e++)
      *stored_element<T, N, BLOCK> (stored, n, i, 18 + e) =
          (T) (weight * jp[e]);
  }

  static __device__ __forceinline__ void
  to_point (const BundleDevice &d, guint32 slot, guint32 camera,
      const BundlePoint &, double sums[3])
  {
    T j[N], y[2] = {};

    for (int e = 0; e < N; e++)
      j[e] = *stored_element<T, N, BLOCK> (d.slot_stored, d.n_slots, slot, e);
    for (int a = 0; a < 9; a++) {
      const T x = (T) d.records[camera].x[a];

      y[0] += j[a] * x;
      y[1] += j[9 + a] * x;
    }
    for (int i = 0; i < 3; i++)
      sums[i] += (double) (j[18 + i] * y[0] + j[21 + i] * y[1]);
  }

  static __device__ __forceinline__ void
  to_camera (const BundleDevice &d, guint32 view, const BundleConstants &,
      const BundlePoint &point, double sums[9])
  {
    T j[N], y[2] = {};

    for (int e = 0; e < N; e++)
      j[e] = *stored_element<T, N, BLOCK> (d.view_stored, d.n_views, view, e);
    for (int i = 0; i < 3; i++) {
      y[0] += j[18 + i] * (T) point.y[i];
      y[1] += j[21 + i] * (T) point.y[i];
    }
    for (int a = 0; a < 9; a++)
      sums[a] += (double) (j[a] * y[0] + j[9 + a] * y[1]);
  }
};

/* W = Jc^T Jp stored. */
template <typename T, bool BLOCK> struct StoredW {
  static const bool LEFT = false;
  typedef T Element;
  static const int N = 27;

  static __device__ __forceinline__ void
  store (void *stored, gsize n, gsize i, const double jc[18],
      const double jp[6], double weight)
  {
    for (int a = 0; a < 9; a++)
      for (int b = 0; b < 3; b++)
        *stored_element<T, N, BLOCK> (stored, n, i, 3 * a + b) =
            (T) (weight * (jc[a] * jp[b] + jc[9 + a] * jp[3 + b]));
  }

  static __device__ __forceinline__ void
  to_point (const BundleDevice &d, guint32 slot, guint32 camera,
      const BundlePoint &, double sums[3])
  {
    T w[3] = {};

    for (int a = 0; a < 9; a++) {
      const T x = (T) d.records[camera].x[a];

      for (int b = 0; b < 3; b++)
        w[b] += *stored_element<T, N, BLOCK> (
                    d.slot_stored, d.n_slots, slot, 3 * a + b)
                * x;
    }
    for (int b = 0; b < 3; b++)
      sums[b] += (double) w[b];
  }

  static __device__ __forceinline__ void
  to_camera (const BundleDevice &d, guint32 view, const BundleConstants &,
      const BundlePoint &point, double sums[9])
  {
    for (int a = 0; a < 9; a++) {
      T w = 0;

      for (int b = 0; b < 3; b++)
        w += *stored_element<T, N, BLOCK> (
                 d.view_stored, d.n_views, view, 3 * a + b)
             * (T) point.y[b];
      sums[a] += (double) w;
    }
  }
};

/* --- storing ---------------------------------------------------------------------------- */

template <typename Products>
__global__ void
__launch_bounds__ (THREADS) store_slots (BundleDevice d)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;

  if (number >= d.n_slices)
    return;
  const BundleSlice slice = d.slices[number];

  for (guint32 j = 0; j < slice.width; j++) {
    const guint32 slot = slice.slot + 32 * j + lane;
    const guint32 camera = d.slot_camera[slot];
    double jc[18], jp[6];

    if (camera == BUNDLE_NONE)
      continue;
    BundleConstants c = bundle_load_camera (&d.records[camera]);
    const BundlePoint point =
        bundle_load_point (&d.points[slice.point + (slice.n > 0 ? lane : 0)]);
    const BundleImage image =
        bundle_image (&c, point.x[0], point.x[1], point.x[2]);

    bundle_load_left (d, camera, &c);
    bundle_derivatives (&c, &image, jc, jp);
    Products::store (d.slot_stored, d.n_slots, slot, jc, jp,
        d.robust ? d.slot_weight[slot] : 1);
  }
}

template <typename Products>
__global__ void
__launch_bounds__ (THREADS) store_views (BundleDevice d)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;

  if (number >= d.n_segments)
    return;
  const BundleSegment segment = d.segments[number];
  BundleConstants c = bundle_load_camera (&d.records[segment.camera]);

  bundle_load_left (d, segment.camera, &c);
  for (guint32 i = segment.begin + threadIdx.x % 32; i < segment.end; i += 32) {
    const BundlePoint point = bundle_load_point (&d.points[d.view_point[i]]);
    const BundleImage image =
        bundle_image (&c, point.x[0], point.x[1], point.x[2]);
    double jc[18], jp[6];

    bundle_derivatives (&c, &image, jc, jp);
    Products::store (
        d.view_stored, d.n_views, i, jc, jp, d.robust ? d.view_weight[i] : 1);
  }
}

/* --- products ---------------------------------------------------------------------------- */

typedef enum {
  POINTS_REDUCE, /* y = Z W^T x */
  POINTS_FULL,   /* q = W^T x + damped V y */
  POINTS_BACK,   /* y = -Z (g + W^T x), and the squares of y and of the state */
} PointsMode;

/* W^T x, with x in the records. One warp a slice. */
template <typename Products, PointsMode MODE>
__global__ void
__launch_bounds__ (THREADS) multiply_points (BundleDevice d)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  double sums[3] = {};

  if (number >= d.n_slices || (MODE != POINTS_BACK && d.pcg->done))
    return;
  const BundleSlice slice = d.slices[number];
  const gboolean own = slice.n > 0 ? lane < (int) slice.n : lane == 0;
  const guint32 p = slice.point + (slice.n > 0 && own ? lane : 0);
  BundlePoint point = bundle_load_point (&d.points[p]);

  for (guint32 j = 0; j < slice.width; j++) {
    const guint32 slot = slice.slot + 32 * j + lane;
    const guint32 camera = d.slot_camera[slot];

    if (camera != BUNDLE_NONE)
      Products::to_point (d, slot, camera, point, sums);
  }
  if (slice.n == 0)
    bundle_warp_sum (sums);
  if (MODE == POINTS_FULL) {
    double v[6], y[3];

    if (!own)
      return;
    if (d.point_constant && d.point_constant[d.order[p]])
      for (int i = 0; i < 3; i++)
        sums[i] = 0;
    for (int e = 0; e < 6; e++)
      v[e] = d.v[6 * (gsize) p + e];
    for (int i = 0; i < 3; i++) {
      const int e = i == 0 ? 0 : i == 1 ? 3 : 5;

      v[e] +=
          bundle_damping (v[e], d.v_scale[3 * (gsize) p + i], d.pcg->radius);
    }
    bundle_multiply_3 (v, point.y[0], point.y[1], point.y[2], y);
    for (int i = 0; i < 3; i++)
      d.pq[3 * (gsize) p + i] = sums[i] + y[i];
    return;
  }

  double squares[2] = {};

  if (own) {
    double z[6];

    for (int e = 0; e < 6; e++)
      z[e] = d.v_inverse[6 * (gsize) p + e];
    if (MODE == POINTS_BACK)
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
  if (MODE == POINTS_BACK) {
    bundle_warp_sum (squares);
    if (lane < 2)
      d.slice_sums[2 * (gsize) number + lane] = squares[lane];
  }
}

/* W y, with y in the points: partial sums of segments. One warp a segment. */
template <typename Products>
__global__ void
__launch_bounds__ (THREADS, 5) multiply_views (BundleDevice d)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  double sums[9] = {};

  if (number >= d.n_segments || d.pcg->done)
    return;
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
    Products::to_camera (d, i, c, point, sums);
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
  if (!d.schur)
    for (guint32 i = threadIdx.x; i < d.point_blocks; i += blockDim.x)
      sum[0] += d.point_dots[BUNDLE_N_DOTS * i + column];
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

/* From the segments' sums W y: START: b = -g - W y, otherwise q = U p -+ W y
 * and p . q. One warp a camera; lane a has element a. */
template <bool LEFT, bool START>
__global__ void
__launch_bounds__ (VECTOR_THREADS)
    finish_product (BundleDevice d, const double *p)
{
  const int lane = threadIdx.x % 32;
  const int a = MIN (lane, 8);
  double sums[2] = {}; /* p . q; the shared intrinsics */

  if (d.pcg->done)
    return;
  for (guint32 c = blockIdx.x * VECTOR_WARPS + threadIdx.x / 32;
       c < d.n_cameras; c += gridDim.x * VECTOR_WARPS) {
    double sum = 0, out;

    for (guint32 s = d.camera_segments[c]; s < d.camera_segments[c + 1]; s++)
      sum += d.partial[9 * (gsize) s + a];
    if (LEFT) {
      const double *l = &d.left_jacobians[9 * (gsize) c];
      const double s0 = __shfl_sync (0xffffffffu, sum, 0);
      const double s1 = __shfl_sync (0xffffffffu, sum, 1);
      const double s2 = __shfl_sync (0xffffffffu, sum, 2);

      if (lane < 3)
        sum = l[lane] * s0 + l[3 + lane] * s1 + l[6 + lane] * s2;
    }
    if (START) {
      out = -d.blocks[(gsize) c * BUNDLE_N_LINEAR + BUNDLE_N_BLOCK + a];
      if (d.schur)
        out -= sum;
    } else {
      const double *row = &d.system[81 * (gsize) c + 9 * a];
      const double own = camera_element (d, p, c, a);

      out = d.schur ? -sum : sum;
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
    d.camera_dots[BUNDLE_N_DOTS * blockIdx.x + BUNDLE_DOT_PQ] = all[0];
    for (int e = 0; e < 3; e++)
      d.shared_sums[3 * blockIdx.x + e] = all[1 + e];
  }
}

/* x += alpha p, r -= alpha q, z = M^-1 r; sums of r . z, x . (b + r), r . r.
 * START: x = 0, r = b. With clusters, z and r . z are computed afterwards.
 * One warp a camera; lane a has element a. */
template <bool START>
__global__ void
__launch_bounds__ (VECTOR_THREADS)
    step_cameras (BundleDevice d, const double *p, guint parity)
{
  const int lane = threadIdx.x % 32;
  const int a = MIN (lane, 8);
  double sums[3] = {};
  double alpha = 0;

  if (d.pcg->done)
    return;
  if (!START) {
    const double curvature = add_dots (d, BUNDLE_DOT_PQ);

    alpha = d.pcg->rho[parity] / curvature;
    if (!(curvature > 0) || !isfinite (alpha)) {
      if (blockIdx.x == 0 && threadIdx.x == 0)
        d.pcg->done = 2;
      return;
    }
  }
  for (guint32 c = blockIdx.x * VECTOR_WARPS + threadIdx.x / 32;
       c < d.n_cameras; c += gridDim.x * VECTOR_WARPS) {
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
      sums[2] += r * r;
    }
  }
  bundle_block_sum (sums);
  if (threadIdx.x == 0)
    for (int e = 0; e < 3; e++)
      d.camera_dots[BUNDLE_N_DOTS * blockIdx.x + BUNDLE_DOT_RZ + e] = sums[e];
}

/* The stopping test, and p = z + beta p with the records' x, its rotation
 * multiplied by L if LEFT. FIRST: p = z. One warp a camera; lane a has
 * element a. */
template <bool LEFT, bool FIRST>
__global__ void
__launch_bounds__ (VECTOR_THREADS)
    turn_cameras (BundleDevice d, const double *p, double *next, guint parity)
{
  const int lane = threadIdx.x % 32;
  const int a = MIN (lane, 8);

  if (d.pcg->done)
    return;
  const double rho = add_dots (d, BUNDLE_DOT_RZ);
  const double beta = FIRST ? 0 : rho / d.pcg->rho[parity];

  for (guint32 c = blockIdx.x * VECTOR_WARPS + threadIdx.x / 32;
       c < d.n_cameras; c += gridDim.x * VECTOR_WARPS) {
    double value = camera_element (d, d.z, c, a);

    if (!FIRST)
      value += beta * camera_element (d, p, c, a);
    if (lane < 9 && !(d.shared && c > 0 && a >= 6))
      next[9 * (gsize) c + a] = value;
    if (LEFT) {
      const double *l = &d.left_jacobians[9 * (gsize) c + 3 * MIN (lane, 2)];
      const double v0 = __shfl_sync (0xffffffffu, value, 0);
      const double v1 = __shfl_sync (0xffffffffu, value, 1);
      const double v2 = __shfl_sync (0xffffffffu, value, 2);

      if (lane < 3)
        value = l[0] * v0 + l[1] * v1 + l[2] * v2;
    }
    if (lane < 9)
      (LEFT ? d.poses[c].x : d.records[c].x)[a] = value;
  }
  if (blockIdx.x > 0)
    return;

  const double model = -add_dots (d, BUNDLE_DOT_MODEL);
  const double norm = add_dots (d, BUNDLE_DOT_RR);

  if (threadIdx.x > 0)
    return;
  BundlePcg *pcg = d.pcg;

  pcg->rho[FIRST ? parity : 1 - parity] = rho;
  if (FIRST) {
    pcg->norm = norm;
    pcg->model = 0;
    if (!(rho > 0))
      pcg->done = 1;
    return;
  }
  const guint32 iterations = pcg->iterations + 1;

  pcg->iterations = iterations;
  if (iterations * (model - pcg->model) / model < d.eta
      || norm <= d.tolerance * d.tolerance * pcg->norm
      || iterations >= d.max_pcg || !(rho > 0))
    pcg->done = 1;
  pcg->model = model;
}

/* --- vectors of points, for the full system ------------------------------------------------- */

template <typename Work>
__device__ __forceinline__ void
for_points (const BundleDevice &d, Work work)
{
  for (guint32 i = blockIdx.x * blockDim.x + threadIdx.x; i < 3 * d.n_points;
       i += gridDim.x * blockDim.x)
    work (i);
}

/* Sums of p . q */
__global__ void
__launch_bounds__ (VECTOR_THREADS) dot_points (BundleDevice d)
{
  double sums[1] = {};

  if (d.pcg->done)
    return;
  for_points (
      d, [&] (guint32 i) { sums[0] += d.points[i / 3].y[i % 3] * d.pq[i]; });
  bundle_block_sum (sums);
  if (threadIdx.x == 0)
    d.point_dots[BUNDLE_N_DOTS * blockIdx.x + BUNDLE_DOT_PQ] = sums[0];
}

/* step_cameras() for points; b is -g, z goes to q. One thread a point. */
template <bool START>
__global__ void
__launch_bounds__ (VECTOR_THREADS) step_points (BundleDevice d, guint parity)
{
  double sums[3] = {};
  double alpha = 0;

  if (d.pcg->done)
    return;
  if (!START)
    alpha = d.pcg->rho[parity] / add_dots (d, BUNDLE_DOT_PQ);
  for (guint32 n = blockIdx.x * blockDim.x + threadIdx.x; n < d.n_points;
       n += gridDim.x * blockDim.x) {
    double r[3], z[3];

    for (int k = 0; k < 3; k++) {
      const gsize i = 3 * (gsize) n + k;
      double x = 0;

      r[k] = -d.v_gradient[i];
      if (!START) {
        x = d.px[i] + alpha * d.points[n].y[k];
        r[k] = d.pr[i] - alpha * d.pq[i];
      }
      d.px[i] = x;
      d.pr[i] = r[k];
      sums[1] += x * (r[k] - d.v_gradient[i]);
      sums[2] += r[k] * r[k];
    }
    bundle_multiply_3 (&d.v_inverse[6 * (gsize) n], r[0], r[1], r[2], z);
    for (int k = 0; k < 3; k++) {
      d.pq[3 * (gsize) n + k] = z[k];
      sums[0] += r[k] * z[k];
    }
  }
  bundle_block_sum (sums);
  if (threadIdx.x == 0)
    for (int e = 0; e < 3; e++)
      d.point_dots[BUNDLE_N_DOTS * blockIdx.x + BUNDLE_DOT_RZ + e] = sums[e];
}

/* turn_cameras() for points; runs before it. */
template <bool FIRST>
__global__ void
__launch_bounds__ (VECTOR_THREADS) turn_points (BundleDevice d, guint parity)
{
  if (d.pcg->done)
    return;
  const double beta =
      FIRST ? 0 : add_dots (d, BUNDLE_DOT_RZ) / d.pcg->rho[parity];

  for_points (d, [&] (guint32 i) {
    double *y = &d.points[i / 3].y[i % 3];

    *y = d.pq[i] + (FIRST ? 0 : beta * *y);
  });
}

/* --- the step ----------------------------------------------------------------------------- */

/* Sets the records' x from the solution x, its rotation multiplied by L if
 * LEFT. One thread a camera. */
template <bool LEFT>
__global__ void
set_records (BundleDevice d)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;
  double x[9];

  if (c >= d.n_cameras)
    return;
  for (int a = 0; a < 9; a++)
    x[a] = camera_element (d, d.x, c, a);
  for (int a = 0; a < 9; a++)
    d.records[c].x[a] = x[a];
  for (int a = 0; LEFT && a < 3; a++) {
    const double *l = &d.left_jacobians[9 * (gsize) c + 3 * a];

    d.records[c].x[a] = l[0] * x[0] + l[1] * x[1] + l[2] * x[2];
  }
  for (int a = 0; LEFT && a < 9; a++)
    d.poses[c].x[a] = d.records[c].x[a];
}

/* The cameras' candidate; sums of squares of step and state. One thread a
 * camera. */
__global__ void
step_parameters (BundleDevice d)
{
  const guint32 c = blockIdx.x * blockDim.x + threadIdx.x;
  double squares[2] = {};

  if (c >= d.n_cameras)
    return;
  for (int a = 0; a < 9; a++) {
    const gsize i = 9 * (gsize) c + a;
    const double x = camera_element (d, d.x, c, a);

    d.candidate[i] = d.parameters[i] + x;
    if (d.shared && c > 0 && a >= 6)
      continue;
    squares[0] += x * x;
    squares[1] += d.parameters[i] * d.parameters[i];
  }
  d.camera_sums[2 * (gsize) c] = squares[0];
  d.camera_sums[2 * (gsize) c + 1] = squares[1];
}

/* In the full system the points' step is the solution. One warp a slice, to
 * sum the squares. */
__global__ void
__launch_bounds__ (THREADS) take_points (BundleDevice d)
{
  const guint32 number = blockIdx.x * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  double squares[2] = {};

  if (number >= d.n_slices)
    return;
  const BundleSlice slice = d.slices[number];

  if (slice.n > 0 ? lane < (int) slice.n : lane == 0) {
    BundlePoint *point = &d.points[slice.point + lane];

    for (int i = 0; i < 3; i++) {
      point->y[i] = d.px[3 * (gsize) (slice.point + lane) + i];
      squares[0] += point->y[i] * point->y[i];
      squares[1] += point->x[i] * point->x[i];
    }
  }
  bundle_warp_sum (squares);
  if (lane < 2)
    d.slice_sums[2 * (gsize) number + lane] = squares[lane];
}

__global__ void
reset_pcg (BundleDevice d, double radius)
{
  *d.pcg = {};
  d.pcg->radius = radius;
}

/* --- launches ----------------------------------------------------------------------------- */

/* Calls @work with the kind of products. */
template <typename Work>
cudaError_t
with_products (const BundleProducts *products, Work work)
{
  const gboolean block = products->layout == BUNDLE_LAYOUT_BLOCK;
  const gboolean mixed = products->precision == BUNDLE_PRECISION_MIXED;

  if (products->w_storage == BUNDLE_W_IMPLICIT) {
    if (mixed && block)
      work (StoredJ<float, true> ());
    else if (mixed)
      work (StoredJ<float, false> ());
    else if (block)
      work (StoredJ<double, true> ());
    else
      work (StoredJ<double, false> ());
  } else if (products->w_storage == BUNDLE_W_EXPLICIT) {
    if (mixed && block)
      work (StoredW<float, true> ());
    else if (mixed)
      work (StoredW<float, false> ());
    else if (block)
      work (StoredW<double, true> ());
    else
      work (StoredW<double, false> ());
  } else {
    work (Recompute ());
  }
  return cudaGetLastError ();
}

} // namespace

gsize
bundle_cuda_stored_size (const BundleProducts *products)
{
  const gsize element = products->precision == BUNDLE_PRECISION_MIXED
                            ? sizeof (float)
                            : sizeof (double);

  switch (products->w_storage) {
    case BUNDLE_W_IMPLICIT:
      return 24 * element;
    case BUNDLE_W_EXPLICIT:
      return 27 * element;
    default:
      return 0;
  }
}

cudaError_t
bundle_cuda_store (const BundleDevice *device, const BundleProducts *products,
    cudaStream_t stream)
{
  const BundleDevice &d = *device;

  return with_products (products, [&] (auto kind) {
    typedef decltype (kind) Products;

    if constexpr (!Products::LEFT) {
      const guint slices = blocks_for (d.n_slices, WARPS);
      const guint segments = blocks_for (d.n_segments, WARPS);

      store_slots<Products><<<slices, THREADS, 0, stream>>> (d);
      store_views<Products><<<segments, THREADS, 0, stream>>> (d);
    }
  });
}

cudaError_t
bundle_cuda_pcg_start (const BundleDevice *device,
    const BundleProducts *products, double radius, cudaStream_t stream)
{
  const BundleDevice &d = *device;

  reset_pcg<<<1, 1, 0, stream>>> (d, radius);
  return with_products (products, [&] (auto kind) {
    typedef decltype (kind) Products;
    const bool LEFT = Products::LEFT;
    const guint segments = blocks_for (d.n_segments, WARPS);

    if (d.schur)
      multiply_views<Products><<<segments, THREADS, 0, stream>>> (d);
    finish_product<LEFT, true>
        <<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, NULL);
    step_cameras<true>
        <<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, NULL, 0);
    if (d.n_clusters > 0)
      bundle_cuda_precondition (device, stream);
    if (!d.schur) {
      step_points<true><<<d.point_blocks, VECTOR_THREADS, 0, stream>>> (d, 0);
      turn_points<true><<<d.point_blocks, VECTOR_THREADS, 0, stream>>> (d, 0);
    }
    turn_cameras<LEFT, true>
        <<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, NULL, d.p[0], 0);
  });
}

cudaError_t
bundle_cuda_pcg_iterate (const BundleDevice *device,
    const BundleProducts *products, guint parity, cudaStream_t stream)
{
  const BundleDevice &d = *device;

  return with_products (products, [&] (auto kind) {
    typedef decltype (kind) Products;
    const bool LEFT = Products::LEFT;
    const guint slices = blocks_for (d.n_slices, WARPS);
    const guint segments = blocks_for (d.n_segments, WARPS);
    const double *p = d.p[parity];

    if (d.schur)
      multiply_points<Products, POINTS_REDUCE>
          <<<slices, THREADS, 0, stream>>> (d);
    else
      multiply_points<Products, POINTS_FULL>
          <<<slices, THREADS, 0, stream>>> (d);
    multiply_views<Products><<<segments, THREADS, 0, stream>>> (d);
    finish_product<LEFT, false>
        <<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, p);
    if (!d.schur)
      dot_points<<<d.point_blocks, VECTOR_THREADS, 0, stream>>> (d);
    step_cameras<false>
        <<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (d, p, parity);
    if (d.n_clusters > 0)
      bundle_cuda_precondition (device, stream);
    if (!d.schur) {
      step_points<false>
          <<<d.point_blocks, VECTOR_THREADS, 0, stream>>> (d, parity);
      turn_points<false>
          <<<d.point_blocks, VECTOR_THREADS, 0, stream>>> (d, parity);
    }
    turn_cameras<LEFT, false><<<d.camera_blocks, VECTOR_THREADS, 0, stream>>> (
        d, p, d.p[1 - parity], parity);
  });
}

cudaError_t
bundle_cuda_pcg_finish (const BundleDevice *device,
    const BundleProducts *products, cudaStream_t stream)
{
  const BundleDevice &d = *device;
  const guint slices = blocks_for (d.n_slices, WARPS);
  const guint cameras = blocks_for (d.n_cameras, 64);

  return with_products (products, [&] (auto kind) {
    typedef decltype (kind) Products;

    set_records<Products::LEFT><<<cameras, 64, 0, stream>>> (d);
    if (d.schur)
      multiply_points<Products, POINTS_BACK>
          <<<slices, THREADS, 0, stream>>> (d);
    else
      take_points<<<slices, THREADS, 0, stream>>> (d);
    /* the evaluation recomputes J */
    if (!Products::LEFT)
      set_records<true><<<cameras, 64, 0, stream>>> (d);
    step_parameters<<<cameras, 64, 0, stream>>> (d);
  });
}
