/* gst-cudavision
 * Copyright (C) 2026 the gst-cudavision authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
/* The kernels over segments, compiled for each camera model; a warp handles a segment.
 * Derivatives are computed where they are used and are not stored: with A the
 * derivatives by P, those by the step of the pose are -A [P]x and A, and those by the
 * point A R. The weight rho' of the loss multiplies their products. */
#include <utility>

#include "cuda/bundle/cuda/lens/device.cuh"

namespace {

const int VIEW_THREADS = 128;
const int VIEW_WARPS = VIEW_THREADS / 32;
/* Least thread blocks on a multiprocessor, which limits the registers of a thread */
const int FORWARD_BLOCKS = 5, BACKWARD_BLOCKS = 4;

/* --- models ---------------------------------------------------------------------- */

template <int M> struct Model;
#define MODEL(name, focal, extra)                                              \
  template <> struct Model<BUNDLE_LENS_##name> {                               \
    enum {                                                                     \
      number = BUNDLE_LENS_##name,                                             \
      n_focal = focal,                                                         \
      size = focal + 2 + extra                                                 \
    };                                                                         \
  };
BUNDLE_LENS_MODELS (MODEL)
#undef MODEL

/* Calls @start with a Model, its first place in the list of segments and their number. */
template <typename Start, int... M>
void
start_models (
    const BundleLensDevice &d, Start start, std::integer_sequence<int, M...>)
{
  (void) std::initializer_list<int>{ (
      d.model_first[M + 1] > d.model_first[M] ? start (Model<M> (),
          d.model_first[M], d.model_first[M + 1] - d.model_first[M])
                                              : (void) 0,
      0)... };
}

/* Launches @kernel, with @threads, a warp for each segment. */
#define START_VIEWS(kernel, threads, stream, d, ...)                           \
  start_models (                                                               \
      d,                                                                       \
      [&] (auto model, guint32 first, guint32 n) {                             \
        const int M = decltype (model)::number;                                \
                                                                               \
        BUNDLE_START (kernel<M>, bundle_blocks_for (n, (threads) / 32),        \
            threads, stream, d, first, n, ##__VA_ARGS__);                      \
      },                                                                       \
      std::make_integer_sequence<int, BUNDLE_N_LENS_MODELS> ())

/* --- an observation ----------------------------------------------------------------- */

/* The camera and the lens of a segment */
template <int M> struct Camera {
  BundleConstants c;
  double lens[Model<M>::size];
  guint constant; /* parameters of the lens */
};

template <int M>
__device__ __forceinline__ void
load_camera (const BundleLensDevice &d, guint32 number,
    const BundleConstants *constants, const double *lenses, Camera<M> *camera)
{
  const guint32 lens = d.lens_of[number];

  for (int i = 0; i < 9; i++)
    camera->c.r[i] = constants[number].r[i];
  for (int i = 0; i < 3; i++)
    camera->c.t[i] = constants[number].t[i];
#pragma unroll
  for (int e = 0; e < Model<M>::size; e++)
    camera->lens[e] = lenses[BUNDLE_LENS_SIZE * (gsize) lens + e];
  camera->constant = d.info[lens].constant;
}

template <int M>
__device__ __forceinline__ void
see_point (const Camera<M> &camera, const double x[3], BundleSight *sight)
{
  bundle_sight ((BundleLensModel) M, Model<M>::n_focal, camera.lens, &camera.c,
      x[0], x[1], x[2], sight);
}

/* @value of parameter @e of a lens, 0 if it is constant */
template <int M>
__device__ __forceinline__ double
mask_parameter (const Camera<M> &camera, int e, double value)
{
  return camera.constant >> e & 1 ? 0 : value;
}

/* A part of a vector: of a pose and its lens */
template <int M> struct Part {
  double pose[LENS_POSE], lens[Model<M>::size];
};

template <int M>
__device__ __forceinline__ void
load_part (const BundleLensDevice &d, const double *vector, guint32 camera,
    Part<M> *part)
{
  const double *lens = bundle_lens_columns (d, vector, d.lens_of[camera]);

#pragma unroll
  for (int e = 0; e < LENS_POSE; e++)
    part->pose[e] = vector[LENS_POSE * (gsize) camera + e];
#pragma unroll
  for (int e = 0; e < Model<M>::size; e++)
    part->lens[e] = lens[e];
}

/* y = Jc v */
template <int M>
__device__ __forceinline__ void
multiply_columns (const BundleSight &s, const Part<M> &part, double y[2])
{
  const double *v = part.pose, *q = s.q;
  const double px = v[1] * q[2] - v[2] * q[1] + v[3];
  const double py = v[2] * q[0] - v[0] * q[2] + v[4];
  const double pz = v[0] * q[1] - v[1] * q[0] + v[5];

  /* of each focal length one row is 0, the rows of the principal point are 1, 0 and
   * 0, 1 */
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int focal = MIN (i, Model<M>::n_focal - 1);

    y[i] = s.a[3 * i] * px + s.a[3 * i + 1] * py + s.a[3 * i + 2] * pz
           + s.by[i][focal] * part.lens[focal]
           + part.lens[Model<M>::n_focal + i];
#pragma unroll
    for (int e = Model<M>::n_focal + 2; e < Model<M>::size; e++)
      y[i] += s.by[i][e] * part.lens[e];
  }
}

/* Adds the lens's part of Jc^T y to @sums. */
template <int M>
__device__ __forceinline__ void
add_lens_columns (const BundleSight &s, const double y[2], double *sums)
{
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int focal = MIN (i, Model<M>::n_focal - 1);

    sums[focal] += s.by[i][focal] * y[i];
    sums[Model<M>::n_focal + i] += y[i];
#pragma unroll
    for (int e = Model<M>::n_focal + 2; e < Model<M>::size; e++)
      sums[e] += s.by[i][e] * y[i];
  }
}

/* y = Jp u */
__device__ __forceinline__ void
multiply_point (const BundleSight &s, const BundleConstants &c,
    const double u[3], double y[2])
{
  double p[3];

#pragma unroll
  for (int i = 0; i < 3; i++)
    p[i] = c.r[3 * i] * u[0] + c.r[3 * i + 1] * u[1] + c.r[3 * i + 2] * u[2];
#pragma unroll
  for (int i = 0; i < 2; i++)
    y[i] = s.a[3 * i] * p[0] + s.a[3 * i + 1] * p[1] + s.a[3 * i + 2] * p[2];
}

/* The columns of the pose for one row @a of the derivatives by P: -a [q]x = q x a */
__device__ __forceinline__ void
get_pose_columns (const double q[3], const double a[3], double j[LENS_POSE])
{
  j[0] = q[1] * a[2] - q[2] * a[1];
  j[1] = q[2] * a[0] - q[0] * a[2];
  j[2] = q[0] * a[1] - q[1] * a[0];
  j[3] = a[0];
  j[4] = a[1];
  j[5] = a[2];
}

/* All columns of row @i */
template <int M>
__device__ __forceinline__ void
get_columns (const BundleSight &s, int i, double j[LENS_POSE + Model<M>::size])
{
  get_pose_columns (s.q, s.a + 3 * i, j);
#pragma unroll
  for (int e = 0; e < Model<M>::size; e++)
    j[LENS_POSE + e] = s.by[i][e];
}

/* Row @i of A R */
__device__ __forceinline__ void
get_point_row (
    const BundleSight &s, const BundleConstants &c, int i, double j[3])
{
#pragma unroll
  for (int k = 0; k < 3; k++)
    j[k] = s.a[3 * i] * c.r[k] + s.a[3 * i + 1] * c.r[3 + k]
           + s.a[3 * i + 2] * c.r[6 + k];
}

/* The record of a segment, common to the lanes of a warp. In registers it would halve
 * the number of warps that a multiprocessor holds. */
template <int M> struct Common {
  Camera<M> camera;
  Part<M> part;
};

/* @x: (nullable): 0. Returns: the record of this warp, filled by its lanes */
template <int M>
__device__ __forceinline__ const Common<M> &
share_segment (const BundleLensDevice &d, guint32 camera, const double *x)
{
  __shared__ Common<M> all[VIEW_WARPS];
  Common<M> *to = &all[threadIdx.x / 32];
  const guint32 lens = d.lens_of[camera], lane = threadIdx.x % 32;
  const double *constants = d.constants[camera].r; /* t follows */

  if (lane < 12)
    to->camera.c.r[lane] = constants[lane];
  if (lane < Model<M>::size) {
    to->camera.lens[lane] = d.lenses[BUNDLE_LENS_SIZE * (gsize) lens + lane];
    to->part.lens[lane] = x ? bundle_lens_columns (d, x, lens)[lane] : 0;
  }
  if (lane < LENS_POSE)
    to->part.pose[lane] = x ? x[LENS_POSE * (gsize) camera + lane] : 0;
  if (lane == 0)
    to->camera.constant = d.info[lens].constant;
  __syncwarp ();
  return *to;
}

/* The point of view @i, 16 bytes at a time; y only if @STEP */
template <bool STEP>
__device__ __forceinline__ BundlePoint
load_view_point (const BundlePoint *point)
{
  BundlePoint copy;

#pragma unroll
  for (int i = 0; i < (STEP ? 3 : 2); i++)
    ((double2 *) &copy)[i] = ((const double2 *) point)[i];
  return copy;
}

/* The segment of this warp, of those of a model. Returns: FALSE without one */
__device__ __forceinline__ gboolean
find_segment (const BundleLensDevice &d, guint32 first, guint32 n,
    guint32 *number, BundleSegment *segment)
{
  const guint32 i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;

  if (i >= n)
    return FALSE;
  *number = d.segments_of.list[first + i];
  *segment = d.segments[*number];
  return TRUE;
}

/* --- kernels -------------------------------------------------------------------------- */

/* A view's slot is the observation of its point by its camera; if there are more than
 * one, they are in the same order. One warp a slice, then one a segment. */
__global__ void
list_point_slots (BundleLensDevice d, uint4 *of_point)
{
  const guint32 number = blockIdx.x * VIEW_WARPS + threadIdx.x / 32;
  const guint32 lane = threadIdx.x % 32;

  if (number >= d.n_slices)
    return;
  const BundleSlice s = d.slices[number];

  /* first slot, distance, number */
  if (s.n > 0 && lane < s.n)
    of_point[s.point + lane] = uint4{ s.slot + lane, 32, s.width, 0 };
  else if (s.n == 0 && lane == 0)
    of_point[s.point] = uint4{ s.slot, 1, 32 * s.width, 0 };
}

/* Index of the first of @n ascending numbers, @apart, that is not below @value */
__device__ __forceinline__ guint32
find_first (const guint32 *numbers, guint32 apart, guint32 n, guint32 value)
{
  guint32 low = 0;

  while (low < n) {
    const guint32 middle = (low + n) / 2;

    if (numbers[apart * middle] < value)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

__global__ void
find_view_slots (BundleLensDevice d, const uint4 *of_point)
{
  const guint32 number = blockIdx.x * VIEW_WARPS + threadIdx.x / 32;

  if (number >= d.n_segments)
    return;
  const BundleSegment segment = d.segments[number];
  const guint32 begin = d.segments[d.camera_segments[segment.camera]].begin;

  for (guint32 i = segment.begin + threadIdx.x % 32; i < segment.end; i += 32) {
    const guint32 p = d.view_point[i];
    const uint4 slots = of_point[p];
    const guint32 first =
        begin + find_first (d.view_point + begin, 1, i - begin, p);
    const guint32 of_camera =
        find_first (d.slot_camera + slots.x, slots.y, slots.z, segment.camera);

    d.view_slot[i] = slots.x + slots.y * (of_camera + i - first);
  }
}

template <int M>
__global__ void
__launch_bounds__ (VIEW_THREADS)
    linearise_views (BundleLensDevice d, guint32 first, guint32 n)
{
  const int N = LENS_POSE + Model<M>::size;
  double sums[2 * N] = {}, cost[1] = {};
  Camera<M> camera;
  BundleSegment segment;
  guint32 number;

  if (!find_segment (d, first, n, &number, &segment))
    return;
  load_camera<M> (d, segment.camera, d.constants, d.lenses, &camera);
  for (guint32 i = segment.begin + threadIdx.x % 32; i < segment.end; i += 32) {
    const double2 observed = d.view_observed[i];
    double r[2], weight, p[2][3];
    BundleSight s;

    see_point<M> (camera, d.points[d.view_point[i]].x, &s);
    r[0] = s.x - observed.x;
    r[1] = s.y - observed.y;
    cost[0] +=
        bundle_loss (d.loss, d.loss_scale, r[0] * r[0] + r[1] * r[1], &weight);
    weight *= weight;
    if (d.robust)
      d.view_weight[i] = weight;
#pragma unroll
    for (int row = 0; row < 2; row++) {
      double j[N];

      get_columns<M> (s, row, j);
#pragma unroll
      for (int e = 0; e < N; e++) {
        sums[e] += weight * j[e] * r[row];
        sums[N + e] += weight * j[e] * j[e];
      }
      get_point_row (s, camera.c, row, p[row]);
    }
    double *to = d.products + LENS_NORMAL * (gsize) d.view_slot[i];

#pragma unroll
    for (int k = 0, at = 0; k < 3; k++) {
#pragma unroll
      for (int l = k; l < 3; l++, at++)
        to[at] = weight * (p[0][k] * p[0][l] + p[1][k] * p[1][l]);
      to[6 + k] = weight * (p[0][k] * r[0] + p[1][k] * r[1]);
    }
  }
  bundle_warp_sum (sums);
  bundle_warp_sum (cost);
  if (threadIdx.x % 32 > 0)
    return;
  double *to = d.partial + LENS_LINEAR * (gsize) number;

#pragma unroll
  for (int e = 0; e < LENS_POSE; e++) {
    to[e] = sums[e];
    to[LENS_POSE + e] = sums[N + e];
  }
  to += 2 * LENS_POSE;
#pragma unroll
  for (int e = 0; e < BUNDLE_LENS_SIZE; e++) {
    const bool in = e < Model<M>::size;

    to[e] = in ? mask_parameter (camera, e, sums[(LENS_POSE + e) % N]) : 0;
    to[BUNDLE_LENS_SIZE + e] =
        in ? mask_parameter (camera, e, sums[N + (LENS_POSE + e) % N]) : 0;
  }
  d.segment_sums[number] = 0.5 * cost[0];
}

/* Values are loaded one iteration ahead, indices two. */
template <int M>
__global__ void
__launch_bounds__ (VIEW_THREADS, FORWARD_BLOCKS)
    forward_views (BundleLensDevice d, guint32 first, guint32 n,
        const double *x, gboolean unless_done)
{
  BundleSegment segment;
  guint32 number, after = 0;
  BundlePoint next = {};

  if ((unless_done && d.pcg->done)
      || !find_segment (d, first, n, &number, &segment))
    return;
  const Common<M> &common = share_segment<M> (d, segment.camera, x);
  guint32 i = segment.begin + threadIdx.x % 32;

  if (i < segment.end)
    next = load_view_point<false> (&d.points[d.view_point[i]]);
  if (i + 32 < segment.end)
    after = d.view_point[i + 32];
  for (guint32 begin = segment.begin; begin < segment.end;
       begin += 32, i += 32) {
    const BundlePoint point = next;

    if (i + 32 < segment.end)
      next = load_view_point<false> (&d.points[after]);
    if (i + 64 < segment.end)
      after = d.view_point[i + 64];
    __syncwarp (); /* keeps the common record in shared memory */
    if (i < segment.end) {
      double2 *to =
          (double2 *) (d.products + LENS_PRODUCT * (gsize) d.view_slot[i]);
      const double *r = common.camera.c.r;
      const double weight = d.robust ? d.view_weight[i] : 1;
      double y[2], w[3], b[3];
      BundleSight s;

      see_point<M> (common.camera, point.x, &s);
      multiply_columns<M> (s, common.part, y);
#pragma unroll
      for (int k = 0; k < 3; k++)
        b[k] = weight * (s.a[k] * y[0] + s.a[3 + k] * y[1]);
#pragma unroll
      for (int k = 0; k < 3; k++)
        w[k] = r[k] * b[0] + r[3 + k] * b[1] + r[6 + k] * b[2];
      to[0] = double2{ w[0], w[1] };
      to[1] = double2{ w[2], 0 };
    }
  }
}

template <int M>
__global__ void
__launch_bounds__ (VIEW_THREADS, BACKWARD_BLOCKS) backward_views (
    BundleLensDevice d, guint32 first, guint32 n, const double *x)
{
  const int N = LENS_POSE + Model<M>::size;
  double sums[N] = {};
  BundleSegment segment;
  guint32 number, after = 0;
  BundlePoint next = {};

  if (d.pcg->done || !find_segment (d, first, n, &number, &segment))
    return;
  const Common<M> &common = share_segment<M> (d, segment.camera, x);
  guint32 i = segment.begin + threadIdx.x % 32;

  if (i < segment.end)
    next = load_view_point<true> (&d.points[d.view_point[i]]);
  if (i + 32 < segment.end)
    after = d.view_point[i + 32];
  for (guint32 begin = segment.begin; begin < segment.end;
       begin += 32, i += 32) {
    const BundlePoint point = next;

    if (i + 32 < segment.end)
      next = load_view_point<true> (&d.points[after]);
    if (i + 64 < segment.end)
      after = d.view_point[i + 64];
    __syncwarp ();
    if (i < segment.end) {
      const double weight = d.robust ? d.view_weight[i] : 1;
      double of_point[2], y[2], a[3], w[LENS_POSE];
      BundleSight s;

      see_point<M> (common.camera, point.x, &s);
      multiply_point (s, common.camera.c, point.y, of_point);
      multiply_columns<M> (s, common.part, y);
#pragma unroll
      for (int k = 0; k < 2; k++)
        y[k] = weight * (of_point[k] - y[k]);
#pragma unroll
      for (int k = 0; k < 3; k++)
        a[k] = s.a[k] * y[0] + s.a[3 + k] * y[1];
      get_pose_columns (s.q, a, w);
#pragma unroll
      for (int e = 0; e < LENS_POSE; e++)
        sums[e] += w[e];
      add_lens_columns<M> (s, y, sums + LENS_POSE);
    }
  }
  bundle_warp_sum (sums);
  if (threadIdx.x % 32 > 0)
    return;
  double *to = d.partial + LENS_UNKNOWNS * (gsize) number;

#pragma unroll
  for (int e = 0; e < LENS_POSE; e++)
    to[e] = sums[e];
#pragma unroll
  for (int e = 0; e < BUNDLE_LENS_SIZE; e++)
    to[LENS_POSE + e] = e < Model<M>::size ? mask_parameter (
                            common.camera, e, sums[(LENS_POSE + e) % N])
                                           : 0;
}

const int TRIANGLE_THREADS = 64;
const int COLUMN = 33; /* doubles of a column, for the banks of shared memory */

/* The lanes put the columns of 32 observations into shared memory, and each lane adds
 * elements of the triangle over the observations. */
template <int M>
__global__ void
__launch_bounds__ (TRIANGLE_THREADS) triangle_views (
    BundleLensDevice d, guint32 first, guint32 n, gboolean alone)
{
  const int N = LENS_POSE + Model<M>::size, T = N * (N + 1) / 2;
  const int EACH = (T + 31) / 32;
  /* Jc and G Jc, two rows each */
  __shared__ double columns[TRIANGLE_THREADS / 32][4 * N * COLUMN];
  double *const to = columns[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  double sums[EACH] = {};
  int rows[EACH], others[EACH];
  Camera<M> camera;
  BundleSegment segment;
  guint32 number;

  if (!find_segment (d, first, n, &number, &segment))
    return;
  load_camera<M> (d, segment.camera, d.constants, d.lenses, &camera);
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    int row = 0, left = MIN (lane + 32 * k, T - 1);

    for (; left >= N - row; row++)
      left -= N - row;
    rows[k] = row;
    others[k] = row + left;
  }
  for (guint32 begin = segment.begin; begin < segment.end; begin += 32) {
    const guint32 i = begin + lane;
    const int count = (int) MIN (32, segment.end - begin);

    if (i < segment.end) {
      const guint32 at = d.view_point[i];
      double g[3] = { 1, 0, 1 }, weight = d.robust ? d.view_weight[i] : 1;
      double j[2][N];
      BundleSight s;

      see_point<M> (camera, d.points[at].x, &s);
      get_columns<M> (s, 0, j[0]);
      get_columns<M> (s, 1, j[1]);
      if (!alone) {
        const double *inverse = d.v_inverse + 6 * (gsize) at;
        double p[2][3], z[3];

        get_point_row (s, camera.c, 0, p[0]);
        get_point_row (s, camera.c, 1, p[1]);
        bundle_multiply_3 (inverse, p[0][0], p[0][1], p[0][2], z);
        for (int k = 0; k < 3; k++) {
          g[0] -= weight * p[0][k] * z[k];
          g[1] -= weight * p[1][k] * z[k];
        }
        bundle_multiply_3 (inverse, p[1][0], p[1][1], p[1][2], z);
        for (int k = 0; k < 3; k++)
          g[2] -= weight * p[1][k] * z[k];
      }
#pragma unroll
      for (int e = 0; e < N; e++) {
        to[COLUMN * e + lane] = j[0][e];
        to[COLUMN * (N + e) + lane] = j[1][e];
        to[COLUMN * (2 * N + e) + lane] =
            weight * (g[0] * j[0][e] + g[1] * j[1][e]);
        to[COLUMN * (3 * N + e) + lane] =
            weight * (g[1] * j[0][e] + g[2] * j[1][e]);
      }
    }
    __syncwarp ();
    for (int o = 0; o < count; o++)
#pragma unroll
      for (int k = 0; k < EACH; k++)
        sums[k] +=
            to[COLUMN * (2 * N + rows[k]) + o] * to[COLUMN * others[k] + o]
            + to[COLUMN * (3 * N + rows[k]) + o]
                  * to[COLUMN * (N + others[k]) + o];
    __syncwarp ();
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const guint fixed = camera.constant << LENS_POSE;

    if (lane + 32 * k < T)
      d.partial[LENS_TRIANGLE * (gsize) number
                + bundle_lens_packed (LENS_UNKNOWNS, rows[k], others[k])] =
          (fixed >> rows[k] | fixed >> others[k]) & 1 ? 0 : sums[k];
  }
}

/* y of the points is their step, @x that of the cameras and lenses. */
template <int M>
__global__ void
__launch_bounds__ (VIEW_THREADS) evaluate_views (
    BundleLensDevice d, guint32 first, guint32 n, const double *x)
{
  double sums[2] = {};
  Camera<M> old, fresh;
  Part<M> part;
  BundleSegment segment;
  guint32 number;

  if (!find_segment (d, first, n, &number, &segment))
    return;
  load_camera<M> (d, segment.camera, d.constants, d.lenses, &old);
  load_camera<M> (d, segment.camera, d.new_constants, d.new_lenses, &fresh);
  load_part<M> (d, x, segment.camera, &part);
  for (guint32 i = segment.begin + threadIdx.x % 32; i < segment.end; i += 32) {
    const BundlePoint point = bundle_load_point (&d.points[d.view_point[i]]);
    const double2 observed = d.view_observed[i];
    const double moved[3] = { point.x[0] + point.y[0], point.x[1] + point.y[1],
      point.x[2] + point.y[2] };
    double r[2], step[2], of_point[2], weight;
    BundleSight s;

    see_point<M> (fresh, moved, &s);
    r[0] = s.x - observed.x;
    r[1] = s.y - observed.y;
    sums[0] += 0.5
               * bundle_loss (
                   d.loss, d.loss_scale, r[0] * r[0] + r[1] * r[1], &weight);
    see_point<M> (old, point.x, &s);
    multiply_columns<M> (s, part, step);
    multiply_point (s, old.c, point.y, of_point);
    weight = d.robust ? d.view_weight[i] : 1;
    r[0] = s.x - observed.x;
    r[1] = s.y - observed.y;
#pragma unroll
    for (int k = 0; k < 2; k++) {
      step[k] += of_point[k];
      sums[1] -= weight * step[k] * (r[k] + 0.5 * step[k]);
    }
  }
  bundle_warp_sum (sums);
  if (threadIdx.x % 32 == 0) {
    d.segment_sums[2 * (gsize) number] = sums[0];
    d.segment_sums[2 * (gsize) number + 1] = sums[1];
  }
}

} // namespace

/* --- launches ----------------------------------------------------------------------------- */

cudaError_t
bundle_lens_find_slots (const BundleLensDevice *device, cudaStream_t stream)
{
  const BundleLensDevice &d = *device;
  /* products are not used yet; they have room for 4 numbers of each point */
  uint4 *of_point = (uint4 *) d.products;

  BUNDLE_START (list_point_slots, bundle_blocks_for (d.n_slices, VIEW_WARPS),
      VIEW_THREADS, stream, d, of_point);
  BUNDLE_START (find_view_slots, bundle_blocks_for (d.n_segments, VIEW_WARPS),
      VIEW_THREADS, stream, d, of_point);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_linearise_views (
    const BundleLensDevice *device, cudaStream_t stream)
{
  START_VIEWS (linearise_views, VIEW_THREADS, stream, *device);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_multiply_forward (const BundleLensDevice *device, const double *x,
    gboolean unless_done, cudaStream_t stream)
{
  START_VIEWS (forward_views, VIEW_THREADS, stream, *device, x, unless_done);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_multiply_backward (
    const BundleLensDevice *device, const double *x, cudaStream_t stream)
{
  START_VIEWS (backward_views, VIEW_THREADS, stream, *device, x);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_sum_triangles (
    const BundleLensDevice *device, gboolean alone, cudaStream_t stream)
{
  START_VIEWS (triangle_views, TRIANGLE_THREADS, stream, *device, alone);
  return cudaGetLastError ();
}

cudaError_t
bundle_lens_evaluate_views (
    const BundleLensDevice *device, const double *x, cudaStream_t stream)
{
  START_VIEWS (evaluate_views, VIEW_THREADS, stream, *device, x);
  return cudaGetLastError ();
}
